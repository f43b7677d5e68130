"""Which variables a notebook's later cells read: by the names in their sources, so that more may be said than
is read, and as far as can be helped not less.

Where code is run or namespaces are read by a name (``eval``, ``globals``), every variable counts. What a
library does by itself with the user's namespace is not seen.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

_MAGIC_CALLS = ("run_line_magic", "run_cell_magic", "system", "getoutput")
_EVERYTHING = frozenset(("eval", "exec", "globals", "locals", "who", "whos", "who_ls", "reset", "store"))
"""Builtins and magics through which any variable may be read. ``dir()`` and ``vars()`` read names."""
_IN_TEXT = re.compile(r"@([^\W\d]\w*)")
"""In ``DataFrame.query("x > @limit")`` a variable."""


@dataclass(slots=True)
class Reads:
    """Of a cell, or of cells in their order. read: names whose value from before may be read. written: names
    that have another value in the end, whatever happens. inside: names read in bodies of functions, at the
    time when these are called. named: all that are read at all, those too that were written before."""

    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)


@functools.lru_cache(4096)
def reads(source: str) -> Reads:
    """Of one cell. What is not Python even for IPython: every word in it counts as read."""
    found = Reads()
    tree = parse(source)
    if tree is None:
        found.read |= {*re.findall(r"[^\W\d]\w*", source)}
        found.named |= found.read
        return found
    _Walk(found).block(tree.body)
    return found


def read_later(sources: Sequence[str], before: Iterable[str] = ()) -> "Later":
    """What cells read of the state before the first of them.

    before: the cells that were run earlier, whose functions may be called.
    """
    read: set[str] = set()
    written: set[str] = set()
    inside: set[str] = set()
    for source in before:
        inside |= reads(source).inside
    for source in sources:
        found = reads(source)
        read |= found.read - written
        inside |= found.inside
        written |= found.written
    names = frozenset(read | inside)
    return Later(names, everything=bool(names & _EVERYTHING))


@dataclass(frozen=True, slots=True)
class Later:
    """Names that are read later; everything: any may be."""

    names: frozenset[str]
    everything: bool = False

    def __contains__(self, name: object) -> bool:
        return self.everything or name in self.names


def parse(source: str) -> ast.Module | None:
    """The tree of a cell, its magics as calls; None for what is not Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        cell: str = TransformerManager().transform_cell(source)
        return ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Walk:
    """Goes through statements in their order. What stands under a condition may be read, and is not taken
    as written."""

    def __init__(self, found: Reads) -> None:
        self.found = found

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def maybe(self, *bodies: list[ast.stmt], written: Iterable[str] = ()) -> None:
        """Bodies of which any may not run to its end; what each one writes holds inside of it alone."""
        for body in bodies:
            inner = _Walk(Reads(written={*self.found.written, *written}))
            inner.block(body)
            self.found.read |= inner.found.read
            self.found.named |= inner.found.named
            self.found.inside |= inner.found.inside

    def statement(self, node: ast.stmt) -> None:
        found = self.found
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                arguments = node.args
                for each in (*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)):
                    self.expression(each)
                self.function(node.body, arguments)
                found.written.add(node.name)
            case ast.ClassDef():
                for each in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
                    self.expression(each)
                self.maybe(node.body)
                found.written.add(node.name)
            case ast.Assign():
                self.expression(node.value)
                for target in node.targets:
                    self.target(target)
            case ast.AnnAssign():
                if node.value is not None:
                    self.expression(node.value)
                    self.target(node.target)
            case ast.AugAssign():
                self.expression(node.value)
                if isinstance(node.target, ast.Name):
                    self.name(node.target.id)
                self.target(node.target)
            case ast.For() | ast.AsyncFor():
                self.expression(node.iter)
                bound = [*_names(node.target)]
                self.inside_of_target(node.target)
                self.maybe(node.body, node.orelse, written=bound)
            case ast.While():
                self.expression(node.test)
                self.maybe(node.body, node.orelse)
            case ast.If():
                self.expression(node.test)
                both = [_written(body, found.written) for body in (node.body, node.orelse)]
                self.maybe(node.body, node.orelse)
                found.written |= both[0] & both[1]
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.expression(item.context_expr)
                    if item.optional_vars is not None:
                        self.target(item.optional_vars)
                # An exception may be caught by the manager.
                self.maybe(node.body)
            case ast.Try() | ast.TryStar():
                self.maybe(node.body)
                for handler in node.handlers:
                    if handler.type is not None:
                        self.expression(handler.type)
                    self.maybe(handler.body, written=[handler.name] if handler.name else [])
                self.maybe([*node.body, *node.orelse])
                self.block(node.finalbody)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = (alias.asname or alias.name).partition(".")[0]
                    if name == "*":
                        continue
                    found.written.add(name)
            case ast.Delete():
                for target in node.targets:
                    self.inside_of_target(target)
                    found.written.update(_names(target))
            case ast.Match():
                self.expression(node.subject)
                for case in node.cases:
                    bound = [n.name for n in ast.walk(case.pattern) if isinstance(n, ast.MatchAs) and n.name]
                    for part in ast.walk(case.pattern):
                        if isinstance(part, ast.expr):
                            self.expression(part)
                    guard = [] if case.guard is None else [ast.Expr(case.guard)]
                    self.maybe([*guard, *case.body], written=bound)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.expression(child)

    def target(self, target: ast.expr) -> None:
        self.inside_of_target(target)
        self.found.written.update(_names(target))

    def inside_of_target(self, target: ast.expr) -> None:
        """What assigning to ``a[i]`` or ``a.b`` reads."""
        match target:
            case ast.Name():
                return
            case ast.Tuple() | ast.List():
                for each in target.elts:
                    self.inside_of_target(each)
            case ast.Starred():
                self.inside_of_target(target.value)
            case _:
                self.expression(target)

    def name(self, name: str) -> None:
        found = self.found
        found.named.add(name)
        if name not in found.written:
            found.read.add(name)

    def expression(self, node: ast.expr, bound: frozenset[str] = frozenset()) -> None:
        match node:
            case ast.Name():
                if node.id not in bound:
                    self.name(node.id)
                return
            case ast.NamedExpr():
                self.expression(node.value, bound)
                return
            case ast.Lambda():
                for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    self.expression(each, bound)
                self.function([ast.Expr(node.body)], node.args, bound)
                return
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                own = bound | {name for made in node.generators for name in _names(made.target)}
                self.expression(node.generators[0].iter, bound)
                rest = [each for made in node.generators for each in (made.target, made.iter, *made.ifs)]
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                for each in (*rest, *parts):
                    self.expression(each, own)
                return
            case ast.Constant():
                if isinstance(node.value, str):
                    for name in _IN_TEXT.findall(node.value):
                        self.name(name)
                return
            case ast.Call(func=ast.Attribute(attr=magic)) if magic in _MAGIC_CALLS:
                for each in node.args:
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        self.magic(each.value)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child, bound)
            elif isinstance(child, ast.keyword):
                self.expression(child.value, bound)

    def magic(self, text: str) -> None:
        """The line or the body of a magic: code, or text with names in it."""
        for name in re.findall(r"[^\W\d]\w*", text):
            self.name(name)

    def function(
        self, body: list[ast.stmt], arguments: ast.arguments, bound: frozenset[str] = frozenset()
    ) -> None:
        """The body of a function: read when it is called."""
        inner = _Walk(Reads())
        inner.block(body)
        given = {
            each.arg
            for each in (
                *arguments.posonlyargs,
                *arguments.args,
                *arguments.kwonlyargs,
                *filter(None, (arguments.vararg, arguments.kwarg)),
            )
        }
        local = given | bound
        shared: set[str] = set()
        for node in (each for statement in body for each in ast.walk(statement)):
            if isinstance(node, ast.Global):
                shared.update(node.names)
        local |= {name for statement in body for name in _bound(statement)} - shared
        found = (inner.found.named | inner.found.inside) - local
        self.found.inside |= found
        self.found.named |= found


def _names(target: ast.expr) -> Iterator[str]:
    """Names that an assignment binds."""
    match target:
        case ast.Name():
            yield target.id
        case ast.Tuple() | ast.List():
            for each in target.elts:
                yield from _names(each)
        case ast.Starred():
            yield from _names(target.value)


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement of a function's body makes local, not those of functions inside."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            return
        case ast.Lambda():
            return
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.alias():
            yield (node.asname or node.name).partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _written(body: list[ast.stmt], before: set[str]) -> set[str]:
    inner = _Walk(Reads(written={*before}))
    inner.block(body)
    return inner.found.written
