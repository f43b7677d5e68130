"""Which variables a notebook's later cells read: by the names in their sources, so that more may be said than
is read, and as far as can be helped not less.

Any function that an earlier cell defined may be called later. Where code is run or namespaces are read by a
name (``eval``, ``globals``), every variable counts. What a library does by itself with the user's namespace
is not seen."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deskcheck.notebook.state.dependencies import _Reader, parse, reader_of

_EVERYTHING = frozenset(("eval", "exec", "globals", "locals", "who", "whos", "who_ls", "reset", "store"))
"""Builtins and magics through which any variable may be read. ``dir()`` and ``vars()`` read names."""
_WORD = re.compile(r"[^\W\d]\w*")
_IN_TEXT = re.compile(r"@([^\W\d]\w*)")
"""In ``DataFrame.query("x > @limit")`` a variable."""
_MAGIC = re.compile(r"\s*[%!?].*|.*=\s*[%!].*")


@dataclass(frozen=True, slots=True)
class Later:
    """Names that are read later; everything: any may be."""

    names: frozenset[str]
    everything: bool = False

    def __contains__(self, name: object) -> bool:
        return self.everything or name in self.names


@dataclass(frozen=True, slots=True)
class Reads:
    """Of a cell. first: names that it reads before it has surely bound them. called: what its functions and
    classes read, when they are called. bound: names that it has surely bound in the end. named: all that it
    reads, those too that it has bound before."""

    first: frozenset[str]
    called: frozenset[str]
    bound: frozenset[str]
    named: frozenset[str]


def read_later(sources: Iterable[str], before: Iterable[str] = ()) -> Later:
    """What cells read of the state before the first of them. before: the cells that ran earlier."""
    read = {name for source in before for name in reads(source).called}
    bound: set[str] = set()
    for source in sources:
        found = reads(source)
        read |= (found.first - bound) | found.called
        bound |= found.bound
    return Later(frozenset(read), everything=bool(read & _EVERYTHING))


@functools.lru_cache(4096)
def reads(source: str) -> Reads:
    """Of one cell. What is not Python even without magics: every word in it is read."""
    tree = parse(source)
    if tree is None:
        words = frozenset(_WORD.findall(source))
        return Reads(words, frozenset(), frozenset(), words)
    lines = source.split("\n")
    magic = lines if source.lstrip().startswith("%%") else [line for line in lines if _MAGIC.fullmatch(line)]
    extra = {word for line in magic for word in _WORD.findall(line)}
    named = set(extra)
    called: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            named.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            extra.update(_IN_TEXT.findall(node.value))
    for function in _functions(tree):
        called.update(reader_of(function).read)
    reader = _Reader()
    reader.block(tree.body)
    bound = reader.bound - extra
    return Reads(
        frozenset({*reader.read, *extra}), frozenset(called), frozenset(bound), frozenset(named | extra)
    )


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Those that are not inside of another."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
        else:
            todo += ast.iter_child_nodes(node)
