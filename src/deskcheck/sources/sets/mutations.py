"""Wrong versions of programs: ``mutations:SOURCE``, ``mutations,each=5,seed=1:SOURCE``.

A mutant is a program with one small mistake, of the kinds that people make. Its execution is as real as that
of the original, and traces of wrong programs are good data (Nye et al. 2021, arXiv:2112.00114). A mutant runs
with the same arguments. It parses, differs from the original and its other mutants, and keeps the original's
source, licence and `train_ok`.

Not checked: whether a mutant behaves differently from the original, and whether it ends, which the sandbox
limits. Sessions of the interactive prompt (doctests) are skipped.
"""

import ast
import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise, zip_longest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.recording.program import code_lines
from deskcheck.sources.text.edits import Places, TextEdit, edited
from deskcheck.sources.text.options import whole_number, with_options

PREFIX = "mutations"
_OPTIONS = {"each": "mutants of each text, 3 by default", "seed": "another number, other mutants"}

_OPERATORS: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {
    ast.Add: ("+", ("-", "*")),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("+", "//")),
    ast.Div: ("/", ("*", "//")),
    ast.FloorDiv: ("//", ("*", "%")),
    ast.Mod: ("%", ("//", "*")),
    ast.Pow: ("**", ("*",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitXor: ("^", ("|",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
}
_NOTHING: tuple[str, tuple[str, ...]] = ("", ())
_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text with one mistake."""

    code: str
    kind: str
    """One of `KINDS`."""
    line: int
    """Line of the mistake, from 1."""
    before: str
    """The original text at that position."""
    after: str
    """The new text."""


def mutations(
    source: str,
    programs: Callable[[str], Iterator[Program]],
    *,
    note: Callable[[str], None],
) -> Iterator[Program]:
    """Mutants of the programs of another source.

    `extra` has `mutation`: the id of the original, the kind and line of the mistake, and the text before and
    after.

    programs: reads the other source. note: takes a sentence about skipped programs.

    Raises:
        InputError: an option, or the other source, cannot be used.
    """
    head, colon, inner = source.partition(":")
    _, options = with_options(head, _OPTIONS, source)
    if not colon or not inner:
        raise InputError(
            f"{source}: names no programs. Write mutations:SOURCE, such as mutations:examples/queue.py"
        )
    per_text = whole_number(options.get("each", "3"), "each", source, maximum=1000)
    seed = whole_number(options.get("seed", "0"), "seed", source, minimum=0)
    return _programs(programs(inner), per_text, seed, source, note)


def _programs(
    originals: Iterator[Program], per_text: int, seed: int, source: str, note: Callable[[str], None]
) -> Iterator[Program]:
    chosen: dict[str, list[Mutant]] = {}
    passed_over = without = count = 0
    for program in originals:
        if program.mode is Mode.SESSION:
            passed_over += 1
            continue
        digest = hashlib.sha256(program.code.encode("utf-8", "surrogatepass")).hexdigest()
        if digest not in chosen:
            if (
                len(chosen) > 10_000
            ):  # programs with the same text come one after another, so older texts are not needed
                chosen.clear()
            chosen[digest] = choose(mutants(program.code), per_text, random.Random(f"{seed}:{digest}"))
        without += not chosen[digest]
        for k, mutant in enumerate(chosen[digest]):
            count += 1
            about = {
                "of": program.id,
                "kind": mutant.kind,
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
            }
            yield replace(
                program,
                id=f"{program.id}~{k}",
                code=mutant.code,
                expected=None,
                extra={**program.extra, "mutation": about},
            )
    if passed_over:
        note(f"{source}: {passed_over} doctest sessions are left out: they have no code to change")
    if without:
        note(f"{source}: {without} programs are left out: no mistake fits into them")
    if not count:
        raise InputError(f"{source}: has no mutants.")


def choose(candidates: list[Mutant], limit: int, rng: random.Random) -> list[Mutant]:
    """Up to `limit` mutants, chosen at random: one of every kind before a second of any kind."""
    by_kind: dict[str, list[tuple[float, int, Mutant]]] = {}
    for k, mutant in enumerate(candidates):
        by_kind.setdefault(mutant.kind, []).append((rng.random(), k, mutant))
    # Only random() is used, because its sequence is the same on every Python.
    queues = [sorted(queue)[:limit] for _, queue in sorted((rng.random(), q) for q in by_kind.values())]
    return [entry[2] for turn in zip_longest(*queues) for entry in turn if entry is not None][:limit]


def mutants(code: str) -> list[Mutant]:
    """All mutants of a text, by line. A text that does not parse has none."""
    try:
        places = Places(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not places.exact:
        return []
    original = ast.dump(places.tree)
    texts = {code}
    result = []
    for kind, find in KINDS.items():
        for line, edits in chain.from_iterable(find(places, node) for node in ast.walk(places.tree)):
            text = edited(code, *edits)
            if text in texts:
                continue
            texts.add(text)
            if _differs(text, original):
                first = min(edits, key=lambda edit: edit.start)
                before = (
                    code[first.start : first.end] if len(edits) == 1 else code_lines(code)[line - 1].strip()
                )
                after = first.text if len(edits) == 1 else code_lines(text)[line - 1].strip()
                result.append(Mutant(text, kind, line, before, after))
    return sorted(result, key=lambda mutant: mutant.line)


def _differs(text: str, original: str) -> bool:
    try:
        tree = ast.parse(text)
        compile(
            tree, "<mutant>", "exec", dont_inherit=True
        )  # `break` outside of a loop, which the parser allows
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return ast.dump(tree) != original


_ONE_WAY = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_UNDIVIDED = (ast.Name, ast.Constant, ast.Subscript, ast.Call, ast.Attribute)
"""Expressions that need no parentheses on either side of an operator."""

_Found = Iterator[tuple[int, tuple[TextEdit, ...]]]


def _operators(places: Places, node: ast.AST) -> _Found:
    if isinstance(node, ast.BinOp) and not _is_text(node):
        yield from _replaced(places, node.left, node.right, *_OPERATORS.get(type(node.op), _NOTHING))
    elif isinstance(node, ast.AugAssign) and not _is_text(node.value):
        old, news = _OPERATORS.get(type(node.op), _NOTHING)
        yield from _replaced(places, node.target, node.value, f"{old}=", tuple(f"{new}=" for new in news))
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield from _replaced(places, left, right, old, (new,))


def _replaced(places: Places, left: ast.expr, right: ast.expr, old: str, news: tuple[str, ...]) -> _Found:
    for new in news:
        edit = places.between(left, right, old, new)
        if edit is not None:
            yield left.lineno, (edit,)


def _is_text(node: ast.expr) -> bool:
    """Whether an operand is clearly a text or list, for which operators other than + raise TypeError."""
    return any(
        isinstance(part, (ast.JoinedStr, ast.List, ast.ListComp))
        or (isinstance(part, ast.Constant) and isinstance(part.value, (str, bytes)))
        for part in (node, *ast.iter_child_nodes(node))
    )


def _comparisons(places: Places, node: ast.AST) -> _Found:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for operator, (left, right) in zip(node.ops, pairwise(operands), strict=True):
            yield from _replaced(places, left, right, *_COMPARISONS[type(operator)])


def _constants(places: Places, node: ast.AST) -> _Found:
    if not isinstance(node, ast.Constant) or _is_docstring(places, node) or _in_pattern(places, node):
        return
    value = node.value
    if isinstance(value, bool):
        yield node.lineno, (places.replace(node, str(not value)),)
    elif isinstance(value, int) and abs(value) < 10**9:
        for new in (value + 1, value - 1) if value > 0 else (1,):
            yield node.lineno, (places.replace(node, str(new)),)
    elif (
        isinstance(value, str)
        and 0 < len(value) <= 40
        and not isinstance(places.parents[node], ast.JoinedStr)
    ):
        yield node.lineno, (places.replace(node, repr(value[:-1])),)


def _in_pattern(places: Places, node: ast.AST) -> bool:
    return any(isinstance(above, ast.pattern) for above in places.above(node))


def _is_docstring(places: Places, node: ast.AST) -> bool:
    return isinstance(places.parents[node], ast.Expr)


def _off_by_one(places: Places, node: ast.AST) -> _Found:
    """The ends of ranges, indices and slices, plus or minus one."""
    ends: list[ast.expr] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        ends = node.args[:2]
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        ends = [end for end in (node.slice.lower, node.slice.upper) if end is not None]
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.BinOp, ast.Name)):
        ends = [node.slice]
    for end in ends:
        if isinstance(end, (ast.Starred, ast.Constant)):  # `_constants` changes constants
            continue
        text = places.text(end)
        if (
            isinstance(end, (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp))
            and "\n" not in text
        ):
            yield end.lineno, (places.replace(end, f"{text} + 1"),)
            yield end.lineno, (places.replace(end, f"{text} - 1"),)


def _swapped(places: Places, node: ast.AST) -> _Found:
    """Arguments of a call, or operands of an operator that is not commutative, in the wrong order."""
    if isinstance(node, ast.Call) and len(node.args) >= 2:
        pair = node.args[0], node.args[1]
        if any(isinstance(part, ast.Starred) for part in pair):
            return
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _ONE_WAY):
        pair = node.left, node.right
        if not all(isinstance(part, _UNDIVIDED) for part in pair):
            return
    else:
        return
    first, second = (places.text(part) for part in pair)
    yield node.lineno, (places.replace(pair[0], second), places.replace(pair[1], first))


def _dropped(places: Places, node: ast.AST) -> _Found:
    """A statement that was forgotten."""
    simple = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue, ast.Delete, ast.Raise)
    if not isinstance(node, simple) or isinstance(places.parents[node], (ast.Module, ast.ClassDef)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    start, end = places.start(node), places.end(node)
    line_start = places.code.rfind("\n", 0, start) + 1
    line_end = places.code.find("\n", end)
    line_end = len(places.code) if line_end < 0 else line_end
    alone = not places.code[line_start:start].strip() and not places.code[end:line_end].strip()
    siblings = _siblings(places, node)
    if alone and len(siblings) > 1:
        yield node.lineno, (TextEdit(line_start, min(line_end + 1, len(places.code)), ""),)
    else:
        yield node.lineno, (TextEdit(start, end, "pass"),)


def _siblings(places: Places, node: ast.stmt) -> list[ast.stmt]:
    for _, value in ast.iter_fields(places.parents[node]):
        if isinstance(value, list) and node in value:
            return [part for part in value if isinstance(part, ast.stmt)]
    return []


def _conditions(places: Places, node: ast.AST) -> _Found:
    """A negated condition."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        test = node.test
        if isinstance(test, ast.Constant):
            return
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield test.lineno, (places.replace(test, places.text(test.operand)),)
        elif not isinstance(test, (ast.Compare, ast.NamedExpr)):  # other kinds negate comparisons
            yield test.lineno, (places.replace(test, f"not ({places.text(test)})"),)


def _variables(places: Places, function: ast.AST) -> _Found:
    """Another variable of the same function."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    names += [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    variables = list(dict.fromkeys(names))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in variables:
            position = variables.index(node.id)
            for replacement in sorted(
                {variables[position - 1], variables[(position + 1) % len(variables)]} - {node.id}
            ):
                yield node.lineno, (places.replace(node, replacement),)


KINDS: dict[str, Callable[[Places, ast.AST], _Found]] = {
    "operator": _operators,
    "comparison": _comparisons,
    "constant": _constants,
    "off_by_one": _off_by_one,
    "swapped": _swapped,
    "dropped": _dropped,
    "condition": _conditions,
    "variable": _variables,
}
"""Kind of mistake -> a function that finds its edits at a node."""
