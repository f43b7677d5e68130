"""How the call of a program is run, as one phrase, from the source of the function."""

import ast
import functools

from deskcheck.recording import Mode, Program

SOURCES = 128
"""Number of parsed sources in the cache: recordings of a project have the same files."""

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@functools.lru_cache(SOURCES)
def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a source, which must not be changed; None if it cannot be parsed."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


@functools.lru_cache(SOURCES)
def functions(source: str) -> tuple[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef], ...]:
    """(qualified name, as in events, node) of every function of a source, outer functions first.

    A name that is defined twice occurs twice.
    """
    functions_by_name: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    todo: list[tuple[str, ast.AST]] = [("", parsed(source) or ast.Module([], []))]
    while todo:
        prefix, outer = todo.pop(0)
        everywhere = {name for node in ast.walk(outer) if isinstance(node, ast.Global) for name in node.names}
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, DEFINITIONS):
                name = node.name if node.name in everywhere else f"{prefix}{node.name}"
                if isinstance(node, ast.ClassDef):
                    todo.append((f"{name}.", node))
                else:
                    functions_by_name.append((name, node))
                    todo.append((f"{name}.<locals>.", node))
            else:
                todo.append((prefix, node))
    return tuple(functions_by_name)


@functools.lru_cache(4096)
def begins(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The object that a call of a function returns instead of running it, or an empty text.

    It is ``coroutine``, ``generator`` or ``async generator``.
    """
    todo: list[ast.AST] = list(node.body)
    draws = False
    while todo and not draws:
        inner = todo.pop()
        draws = isinstance(inner, (ast.Yield, ast.YieldFrom))
        if not isinstance(inner, (*DEFINITIONS, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(inner))
    if isinstance(node, ast.AsyncFunctionDef):
        return "async generator" if draws else "coroutine"
    return "generator" if draws else ""


_OF_METHODS = ("staticmethod", "classmethod")


def begun_by(program: Program, source: str | None = None) -> str:
    """The object that the program's call returned (see `begins`) and deskcheck ran to its end.

    ``decorated``: such a function has decorators, which may run the object. source: the module with the
    function, if it is not the program.
    """
    code = program.code if source is None else source
    nodes = [node for name, node in functions(code) if name == program.entry]
    if program.mode is not Mode.CALL or not nodes:
        return ""
    begun = begins(nodes[-1])
    under = any(ast.unparse(decorator) not in _OF_METHODS for decorator in nodes[-1].decorator_list)
    return "decorated" if begun and under else begun


_RUN_BY = {
    "coroutine": "asyncio.run({})",
    "generator": "list({})",
    "async generator": "[value async for value in {}]",
}
"""Expressions that run the objects of `begins` to their ends."""


def called(program: Program, source: str | None = None) -> str:
    """The call of a program, inside the expression that runs it to its end, such as ``list(gen(3))``.

    source: see `begun_by`."""
    return _RUN_BY.get(begun_by(program, source), "{}").replace("{}", f"{program.entry}{program.arguments}")
