"""Which lines may come after a line: the ways that a program's text leaves open.

    1|def f(n):              2
    2|    while n > 1:       3, 4      into the body, or past it
    3|        n -= 2         2
    4|    return n                     out of the function

Of the frame that is running; a call's own lines come between. Where an exception goes, and what a line of an
expression over several lines does, is left out.
"""

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

Lines = tuple[int, ...]
_Loop = tuple[Lines, Lines]
"""Where `continue` goes, and where `break` does."""
_WithBody = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=256)
def following(code: str) -> Mapping[int, Lines]:
    """The lines after each line of a program that begins a statement, ways into a body before those past it.
    Empty for what is no Python."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MappingProxyType({})
    found: dict[int, Lines] = {}
    _block(body, (), None, found)
    return MappingProxyType(found)  # the next who asks gets the same


def _block(body: Sequence[ast.stmt], after: Lines, loop: _Loop | None, found: dict[int, Lines]) -> None:
    """Adds the statements of a block. after: the lines that come after its last one."""
    run = [one for one in body if _runs(one)]
    ways = [*[(_line(one),) for one in run[1:]], after]
    for one, way in zip(run, ways, strict=False):
        _statement(one, way, loop, found)


def _statement(one: ast.stmt, after: Lines, loop: _Loop | None, found: dict[int, Lines]) -> None:
    here = _line(one)
    ways = after
    match one:
        case ast.If(body=body, orelse=orelse):
            ways = (*_first(body, after), *_first(orelse, after))
            _block(body, after, loop, found)
            _block(orelse, after, loop, found)
        case ast.While(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            past = _first(orelse, after)
            ways = (*_first(body, (here,)), *past)
            if isinstance(one, ast.While) and isinstance(one.test, ast.Constant) and one.test.value:
                ways = _first(body, (here,))
            _block(body, (here,), ((here,), after), found)
            _block(orelse, after, loop, found)
        case ast.AsyncFor(body=body, orelse=orelse):
            ways = (*_first(body, (here,)), *_first(orelse, after))
            _block(body, (here,), ((here,), after), found)
            _block(orelse, after, loop, found)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            ways = (*_first(body, (here,)), *after)  # it is left through its first line
            _block(body, (here,), loop, found)
        case ast.Try() | ast.TryStar():
            ways = _try(one, after, loop, found)
        case ast.Match(cases=cases):
            below = [case.pattern.lineno for case in cases]
            ways = (below[0],)
            for case, other in zip(cases, [*[(line,) for line in below[1:]], after], strict=True):
                found[case.pattern.lineno] = (*_first(case.body, after), *other)
                _block(case.body, after, loop, found)
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
            ways = (*_first(body, ()), *after)
            _block(body, (), None, found)
        case ast.Break() if loop is not None:
            ways = loop[1]
        case ast.Continue() if loop is not None:
            ways = loop[0]
        case ast.Return() | ast.Raise():
            ways = ()
    # Of several statements in a line the first tells whether it is left; the last, where to.
    found[here] = tuple(dict.fromkeys(ways))


def _try(one: ast.Try | ast.TryStar, after: Lines, loop: _Loop | None, found: dict[int, Lines]) -> Lines:
    past = _first(one.finalbody, after)
    _block(one.body, _first(one.orelse, past), loop, found)
    _block(one.orelse, past, loop, found)
    _block(one.finalbody, after, loop, found)
    others = [*[(handler.lineno,) for handler in one.handlers[1:]], ()]
    for handler, other in zip(one.handlers, others, strict=False):
        found[handler.lineno] = (*_first(handler.body, past), *other)
        _block(handler.body, past, loop, found)
    return _first(one.body, past)


def _first(body: Sequence[ast.stmt], otherwise: Lines) -> Lines:
    """Where a block begins; where there is none, what comes instead."""
    return next(((_line(one),) for one in body if _runs(one)), otherwise)


def _line(one: ast.stmt) -> int:
    """The line at which a statement is seen to begin."""
    if isinstance(one, _WithBody) and one.decorator_list:
        return one.decorator_list[0].lineno
    return one.lineno


def _runs(one: ast.stmt) -> bool:
    """Whether the interpreter stops at a statement: not at a docstring, nor at what only declares."""
    constant = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    return not constant and not isinstance(one, ast.Global | ast.Nonlocal)
