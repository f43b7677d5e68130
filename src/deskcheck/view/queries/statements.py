"""The statements of a recorded program's source: which one a line belongs to, what it writes and reads."""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from deskcheck.recording.recording import Recording

Statement = ast.stmt | ast.ExceptHandler | ast.match_case
Place = tuple[int, int, int, int]
"""Line, column, end line and end column; columns in bytes of UTF-8, as in the column `caller`."""
TEXT_CHARS = 80


@dataclass(frozen=True, slots=True)
class Write:
    """A target of a statement: a name, an attribute of that name, or an item."""

    kind: str
    """``name``, ``field`` or ``item``."""
    name: str = ""


@dataclass(slots=True)
class _File:
    lines: list[str]
    by_line: dict[int, list[Statement]] = field(default_factory=dict)
    by_place: dict[Place, list[ast.AST]] = field(default_factory=dict)
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda] = field(default_factory=list)
    blocks: dict[ast.AST, tuple[ast.AST, list[ast.stmt]]] = field(default_factory=dict)
    """Statement -> the node that contains it, and the statements before it in the same block."""


class SourceStatements:
    """The statements of a recording, by file and line."""

    def __init__(self, recording: Recording) -> None:
        self._source = recording.source
        self._file: Callable[[str], _File | None] = lru_cache(64)(self._parsed)

    def _parsed(self, file: str) -> _File | None:
        text = self._source(file)
        if text is None:
            return None
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return None
        parsed = _File(re.split(r"\r\n|\r|\n", text))
        for node in ast.walk(tree):
            if isinstance(node, Statement):
                first, last = span(node)
                for line in range(first, last + 1):
                    parsed.by_line.setdefault(line, []).append(node)
            for block in _blocks(node):
                for position, statement in enumerate(block):
                    parsed.blocks[statement] = node, block[:position]
            if isinstance(node, ast.expr | ast.stmt):
                parsed.by_place.setdefault(place_of(node), []).append(node)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                parsed.functions.append(node)
        return parsed

    def at(self, file: str, line: int, writes: Write | None = None) -> Statement | None:
        """The innermost statement on a line, or the one that writes this; None if the text is unknown."""
        parsed = self._file(file)
        candidates = parsed.by_line.get(line, []) if parsed is not None else []
        if writes is not None:
            for statement in reversed(candidates):
                if targets(statement, writes):
                    return statement
        return candidates[-1] if candidates else None

    def written_before(self, file: str, line: int, statement: Statement) -> frozenset[str]:
        """The names that other statements before this one on its line write."""
        parsed = self._file(file)
        if parsed is None or not isinstance(statement, ast.stmt):
            return frozenset()
        return frozenset(
            node.id
            for other in parsed.by_line.get(line, ())
            if isinstance(other, ast.stmt)
            and other is not statement
            and other.lineno == statement.lineno
            and other.end_lineno == line
            and other.col_offset < statement.col_offset
            for node in own_nodes(other)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )

    def deciding(self, file: str, statement: Statement | None, *, at_end: bool = False) -> list[ast.AST]:
        """The conditions and loops of its function that decide whether a statement runs.

        They are around it, or before it in a block and can leave that block early. at_end: instead those that
        decide whether the end of the function is reached.
        """
        parsed = self._file(file)
        deciding: list[ast.AST] = []
        node: ast.AST | None = statement
        while parsed is not None and node is not None and node in parsed.blocks:
            node, before = parsed.blocks[node]
            for earlier in before:
                deciding += _exits(earlier)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if at_end:
                    return [part for block in _blocks(node) for inner in block for part in _exits(inner)]
                break
            if isinstance(node, _DECIDES) and not at_end:
                deciding.append(node)
        return deciding

    def guarding(self, file: str, statement: Statement | None, name: str) -> list[ast.AST]:
        """The conditions and loops in a statement's function that decide whether a name is assigned."""
        parsed = self._file(file)
        if parsed is None or statement is None:
            return []
        root: ast.AST = statement
        while root in parsed.blocks and not isinstance(root, ast.FunctionDef | ast.AsyncFunctionDef):
            root = parsed.blocks[root][0]
        guarding: list[ast.AST] = []
        for node in ast.walk(root):
            if node in parsed.blocks and targets(node, Write("name", name)):
                while node is not root:
                    node = parsed.blocks[node][0]
                    if isinstance(node, _DECIDES):
                        guarding.append(node)
        return guarding

    def nodes(self, file: str, place: Place) -> list[ast.AST]:
        """The expressions and statements at a place, outermost first."""
        parsed = self._file(file)
        return [] if parsed is None else parsed.by_place.get(place, [])

    def function(self, file: str, line: int, name: str) -> Any:
        """The definition of a function, by its qualified name and the line where its code begins; or None."""
        parsed = self._file(file)
        last = name.rpartition(".")[2]
        matches = [
            node
            for node in (parsed.functions if parsed is not None else ())
            if (last == "<lambda>") is isinstance(node, ast.Lambda)
            and (isinstance(node, ast.Lambda) or node.name == last)
            and _first_line(node) <= line <= node.lineno
        ]
        return matches[-1] if matches else None

    def text(self, file: str, node: ast.AST) -> str:
        """The source of a statement's own part, or of an expression, in one line."""
        parsed = self._file(file)
        if parsed is None:
            return ""
        if isinstance(node, Statement):
            first, last = first_line(node), span(node)[1]
            text = " ".join(line.strip() for line in parsed.lines[first - 1 : last])
            if last == first:
                text = _own_part(node, parsed.lines[first - 1]).strip()
        else:
            text = " ".join(ast.unparse(node).split())
        return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 3] + "..."

    def line(self, file: str, line: int) -> str:
        """The text of a line, without its indentation; empty if it is not known."""
        parsed = self._file(file)
        return parsed.lines[line - 1].strip() if parsed is not None and line <= len(parsed.lines) else ""


def _own_part(node: Statement, line: str) -> str:
    """The text of one of several statements on a line."""
    if not isinstance(node, ast.stmt) or hasattr(node, "body"):
        return line
    data = line.encode()
    return data[node.col_offset : node.end_col_offset].decode("utf-8", "replace")


_DECIDES = ast.If | ast.While | ast.For | ast.AsyncFor | ast.match_case


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of statements that a node contains directly."""
    names = ("body", "orelse", "finalbody", "handlers", "cases")
    parts = (getattr(node, name, None) for name in names)
    return [part for part in parts if isinstance(part, list)]


def _exits(node: ast.AST) -> list[ast.AST]:
    """The conditions in a statement with a `return`, `raise`, `break` or `continue` directly below them."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return []
    exits: list[ast.AST] = []
    leaves = ast.Return | ast.Raise | ast.Break | ast.Continue
    for block in _blocks(node):
        for statement in block:
            if isinstance(statement, leaves) and isinstance(node, ast.If | ast.match_case):
                exits.append(node)
            exits += _exits(statement)
    return exits


def place_of(node: Any) -> Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def first_line(node: Any) -> int:
    """The first line of a statement, without decorators."""
    return int(node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno)


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]))


def span(node: Any) -> tuple[int, int]:
    """First and last line of a statement's own part: without the body of an `if`, a loop or a function."""
    first = _first_line(node) if isinstance(node, ast.stmt) else first_line(node)
    parts = own_parts(node)
    if parts is None:
        return first, node.end_lineno
    return first, max([first_line(node), *(part.end_lineno for part in parts if hasattr(part, "end_lineno"))])


def own_parts(node: Any) -> list[Any] | None:
    """The expressions before the body of a compound statement; None for another statement."""
    match node:
        case ast.If() | ast.While():
            return [node.test]
        case ast.For() | ast.AsyncFor():
            return [node.target, node.iter]
        case ast.With() | ast.AsyncWith():
            return [part for item in node.items for part in (item.context_expr, item.optional_vars) if part]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            arguments = node.args
            defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
            return [*node.decorator_list, *defaults]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        case ast.Try() | ast.TryStar():
            return []
        case ast.ExceptHandler():
            return [node.type] if node.type is not None else []
        case ast.Match():
            return [node.subject]
        case ast.match_case():
            return [node.pattern, *([node.guard] if node.guard is not None else [])]
    return None


def own_nodes(node: Any) -> Iterator[ast.AST]:
    """All nodes of a statement's own part that run with it: without bodies and lambdas."""
    parts = own_parts(node)
    todo: list[Any] = [node] if parts is None else list(parts)
    while todo:
        part = todo.pop()
        yield part
        if not isinstance(part, ast.Lambda):
            todo.extend(ast.iter_child_nodes(part))


def has_inner_events(node: Any) -> bool:
    """Whether one run of a statement can make several `line` events: several lines, or a comprehension."""
    first, last = span(node)
    inner = ast.ListComp, ast.SetComp, ast.DictComp
    return first != last or any(isinstance(part, inner) for part in own_nodes(node))


def targets(node: Any, writes: Write) -> bool:
    """Whether a statement writes this itself."""
    name = writes.name
    if writes.kind == "name":
        named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler
        if isinstance(node, named) and node.name == name:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom):
            return any((a.asname or a.name.partition(".")[0]) == name or a.name == "*" for a in node.names)
    for part in own_nodes(node):
        match part:
            case ast.Name(id=written, ctx=ast.Store() | ast.Del()) if writes.kind == "name":
                if written == name:
                    return True
            case ast.MatchAs(name=written) | ast.MatchStar(name=written) if writes.kind == "name":
                if written == name:
                    return True
            case ast.Attribute(attr=written, ctx=ast.Store() | ast.Del()) if writes.kind == "field":
                if written == name:
                    return True
            case ast.Subscript(ctx=ast.Store() | ast.Del()) if writes.kind == "item":
                return True
            case _:
                pass
    return False


def sources_of(node: Any, writes: Write | None) -> list[ast.AST]:
    """The expressions that decide what a statement writes there, in the order of evaluation.

    Without `writes`, or if the statement does not write it itself: all of them.
    """
    if writes is not None and writes.kind == "name":
        for part in own_nodes(node):
            if isinstance(part, ast.NamedExpr) and part.target.id == writes.name:
                return [part.value]
    match node:
        case ast.Assign():
            for target in node.targets:
                if (value := _assigned(target, node.value, writes)) is not None:
                    return [value]
            return [node.value]
        case ast.AnnAssign():
            return [node.value] if node.value is not None else []
        case ast.AugAssign():
            return [_loaded(node.target), node.value]
        case ast.For() | ast.AsyncFor():
            return [node.iter]
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                if writes is not None and _assigned(item.optional_vars, item.context_expr, writes):
                    return [item.context_expr]
            return [item.context_expr for item in node.items]
        case ast.Return() | ast.Expr():
            return [node.value] if node.value is not None else []
        case ast.Raise():
            return [part for part in (node.exc, node.cause) if part is not None]
        case ast.Match():
            return [node.subject]
        case ast.Delete():
            return list(node.targets)
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.Pass():
            return []
    parts = own_parts(node)
    return [node] if parts is None else parts


def _assigned(target: Any, value: Any, writes: Write | None) -> Any:
    """The part of a value that an assignment gives to what is written; None if it does not write it."""
    match target:
        case ast.Tuple() | ast.List():
            elements = getattr(value, "elts", None) if isinstance(value, ast.Tuple | ast.List) else None
            pairs = elements is not None and len(elements) == len(target.elts)
            starred = any(isinstance(part, ast.Starred) for part in chain(target.elts, elements or ()))
            for position, part in enumerate(target.elts):
                inner = elements[position] if pairs and not starred and elements else value
                if (assigned := _assigned(part, inner, writes)) is not None:
                    return assigned
            return None
        case ast.Starred():
            return _assigned(target.value, value, writes)
        case ast.Name():
            matches = writes is None or (writes.kind == "name" and target.id == writes.name)
        case ast.Attribute():
            matches = writes is None or (writes.kind == "field" and target.attr == writes.name)
        case None:
            return None
        case _:
            matches = writes is None or writes.kind == "item"
    return value if matches else None


def _loaded(target: Any) -> Any:
    """The target of an augmented assignment as an expression that reads it."""
    read = copy.deepcopy(target)
    for node in ast.walk(read):
        if hasattr(node, "ctx"):
            node.ctx = ast.Load()
    return read
