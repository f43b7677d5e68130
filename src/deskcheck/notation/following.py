"""The lines that may follow a line, according to the program's text.

    1|def f(n):              2
    2|    while n > 1:       3, 4      into the body, or past it
    3|        n -= 2         2
    4|    return n                     out of the function

They are lines of the running frame; the lines of a call come between them. Exceptions, and the lines inside
of an expression, are left out.
"""

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

Lines = tuple[int, ...]
_Loop = tuple[Lines, Lines]
"""The lines after `continue`, and the lines after `break`."""
_WithBody = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=256)
def following(code: str) -> Mapping[int, Lines]:
    """The lines that may follow each line with a statement, those of its body first.

    Empty if the text is not Python.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MappingProxyType({})
    next_lines: dict[int, Lines] = {}
    _block(body, (), None, next_lines)
    return MappingProxyType(next_lines)  # the next who asks gets the same


def _block(body: Sequence[ast.stmt], after: Lines, loop: _Loop | None, next_lines: dict[int, Lines]) -> None:
    """Adds the statements of a block. after: the lines that follow its last one."""
    run = [statement for statement in body if _runs(statement)]
    successors = [*[(_line(statement),) for statement in run[1:]], after]
    for statement, successor in zip(run, successors, strict=False):
        _statement(statement, successor, loop, next_lines)


def _statement(statement: ast.stmt, after: Lines, loop: _Loop | None, next_lines: dict[int, Lines]) -> None:
    first = _line(statement)
    successors = after
    match statement:
        case ast.If(body=body, orelse=orelse):
            successors = (*_first(body, after), *_first(orelse, after))
            _block(body, after, loop, next_lines)
            _block(orelse, after, loop, next_lines)
        case ast.While(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            past = _first(orelse, after)
            successors = (*_first(body, (first,)), *past)
            if (
                isinstance(statement, ast.While)
                and isinstance(statement.test, ast.Constant)
                and statement.test.value
            ):
                successors = _first(body, (first,))
            _block(body, (first,), ((first,), after), next_lines)
            _block(orelse, after, loop, next_lines)
        case ast.AsyncFor(body=body, orelse=orelse):
            successors = (*_first(body, (first,)), *_first(orelse, after))
            _block(body, (first,), ((first,), after), next_lines)
            _block(orelse, after, loop, next_lines)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            successors = (*_first(body, (first,)), *after)  # it is left through its first line
            _block(body, (first,), loop, next_lines)
        case ast.Try() | ast.TryStar():
            successors = _try(statement, after, loop, next_lines)
        case ast.Match(cases=cases):
            below = [case.pattern.lineno for case in cases]
            successors = (below[0],)
            for case, otherwise in zip(cases, [*[(line,) for line in below[1:]], after], strict=True):
                next_lines[case.pattern.lineno] = (*_first(case.body, after), *otherwise)
                _block(case.body, after, loop, next_lines)
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
            successors = (*_first(body, ()), *after)
            _block(body, (), None, next_lines)
        case ast.Break() if loop is not None:
            successors = loop[1]
        case ast.Continue() if loop is not None:
            successors = loop[0]
        case ast.Return() | ast.Raise():
            successors = ()
    # Of several statements in a line the first tells whether it is left; the last, where to.
    next_lines[first] = tuple(dict.fromkeys(successors))


def _try(
    statement: ast.Try | ast.TryStar, after: Lines, loop: _Loop | None, next_lines: dict[int, Lines]
) -> Lines:
    past = _first(statement.finalbody, after)
    _block(statement.body, _first(statement.orelse, past), loop, next_lines)
    _block(statement.orelse, past, loop, next_lines)
    _block(statement.finalbody, after, loop, next_lines)
    others = [*[(handler.lineno,) for handler in statement.handlers[1:]], ()]
    for handler, otherwise in zip(statement.handlers, others, strict=False):
        next_lines[handler.lineno] = (*_first(handler.body, past), *otherwise)
        _block(handler.body, past, loop, next_lines)
    return _first(statement.body, past)


def _first(body: Sequence[ast.stmt], otherwise: Lines) -> Lines:
    """The first line of a block, or `otherwise` if no statement of it runs."""
    return next(((_line(statement),) for statement in body if _runs(statement)), otherwise)


def _line(statement: ast.stmt) -> int:
    """The line of the first event of a statement."""
    if isinstance(statement, _WithBody) and statement.decorator_list:
        return statement.decorator_list[0].lineno
    return statement.lineno


def _runs(statement: ast.stmt) -> bool:
    """Whether the interpreter stops at a statement. It does not stop at docstrings and declarations."""
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not constant and not isinstance(statement, ast.Global | ast.Nonlocal)
