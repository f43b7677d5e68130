"""Makes a program smaller as long as something stays true of it."""

import ast
import copy
import functools
import time
from collections.abc import Callable, Iterator

from tests.tracer.layouts import between_items, broken


def reduced(text: str, shows: Callable[[str], bool], *, seconds: float = 120) -> str:
    """A smaller program that still shows the trouble, after at most so long. Its comments go, and so does its layout: in place of it
    comes the first of `_LAYOUTS` that shows the trouble."""
    until = time.monotonic() + seconds
    plain = ast.unparse(ast.parse(text))
    lay_out = next((lay_out for lay_out in _LAYOUTS if shows(lay_out(plain))), None)
    if lay_out is None:
        return text
    return lay_out(_reduced(plain, lambda candidate: shows(lay_out(candidate)), until))


_LAYOUTS: tuple[Callable[[str], str], ...] = (str, functools.partial(broken, ends=between_items), broken)


def _reduced(text: str, shows: Callable[[str], bool], until: float) -> str:
    for smaller in (
        _fewer_statements,
        _unwrapped_statements,
        _fewer_statements,
        _simpler_expressions,
        _fewer_statements,
    ):
        skip = changed = 0
        while time.monotonic() < until:
            for number, candidate in enumerate(smaller(ast.parse(text))):
                if time.monotonic() > until:
                    break
                if number >= skip and candidate != text and shows(candidate):
                    text, skip, changed = candidate, number, 1
                    break
            else:
                if not changed:
                    break
                skip = changed = 0
    return text


def _lists(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    return [
        (node, field)
        for node in ast.walk(tree)
        for field in ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list")
        if isinstance(getattr(node, field, None), list)
    ]


def _fewer_statements(tree: ast.Module) -> Iterator[str]:
    """Programs without some neighbouring statements, many first, from the end."""
    lists = _lists(tree)
    for at, (node, field) in enumerate(lists):
        size = length = len(getattr(node, field))
        while length:
            for end in range(size, 0, -length):
                yield from _without(tree, lists, at, max(0, end - length), end)
            length //= 2


def _unwrapped_statements(tree: ast.Module) -> Iterator[str]:
    """A compound statement replaced by what is in it."""
    for node, field in _lists(tree):
        statements = getattr(node, field)
        for n, statement in enumerate(statements):
            for inner in ("body", "orelse", "finalbody"):
                content = getattr(statement, inner, None)
                if isinstance(content, list) and content and all(isinstance(c, ast.stmt) for c in content):
                    yield from _with(tree, node, field, [*statements[:n], *content, *statements[n + 1 :]])


def _without(
    tree: ast.Module, lists: list[tuple[ast.AST, str]], at: int, start: int, end: int
) -> Iterator[str]:
    node, field = lists[at]
    kept = getattr(node, field)
    less = kept[:start] + kept[end:]
    if not less and field == "body" and not isinstance(node, ast.Module):
        if len(kept) == 1 and isinstance(kept[0], ast.Pass):
            return
        less = [ast.Pass()]
    yield from _with(tree, node, field, less)


def _with(tree: ast.Module, node: ast.AST, field: str, value: object) -> Iterator[str]:
    """The program with one field replaced, if that is a program."""
    before = getattr(node, field)
    setattr(node, field, value)
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "program.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return
    finally:
        setattr(node, field, before)
    yield text


def _simpler_expressions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(node, ast.JoinedStr | ast.FormattedValue):
                for instead in _instead(value):
                    yield from _with(tree, node, field, instead)
            elif (
                isinstance(value, list)
                and value
                and isinstance(value[0], ast.expr | ast.keyword | ast.comprehension | ast.withitem)
            ):
                for n in range(len(value)):
                    if len(value) > 1 or not isinstance(value[0], ast.comprehension | ast.withitem):
                        yield from _with(tree, node, field, value[:n] + value[n + 1 :])
                    if isinstance(value[n], ast.expr):
                        for instead in _instead(value[n]):
                            yield from _with(tree, node, field, [*value[:n], instead, *value[n + 1 :]])


def _instead(value: ast.expr) -> list[ast.expr]:
    """Expressions that may do in place of one: its parts, and 0."""
    if isinstance(value, ast.Constant | ast.Name):
        return []
    parts = [copy.deepcopy(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr)]
    return [ast.Constant(0), *parts]
