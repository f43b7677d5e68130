"""Python source as text: reading it, parsing it, saying where it is wrong, and what names it defines.

Nothing here runs the code: what it defines is read from its syntax tree, so a name made at run time
(`globals()["f"] = ...`, `from m import *`) cannot be seen.
"""

import ast
import difflib
import functools
import io
import os
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from deskcheck.files import read_file
from deskcheck.recording import InputError
from deskcheck.recording.program import code_lines

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_OWN_SCOPE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_DECLARE = "Save it as UTF-8, or declare its encoding in its first line: # -*- coding: latin-1 -*-"
_INTERPRETER = f"Python {sys.version_info.major}.{sys.version_info.minor}"


def read_python(path: Path, shown: str) -> str:
    """Text of a source file in the encoding that it declares (PEP 263), lines ended by ``\\n``.

    `shown` is the path as the user wrote it, for messages.
    """
    try:
        data = read_file(path)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}: is not {error.encoding} at byte {error.start}. {_DECLARE}") from error
    except SyntaxError as error:  # its first two lines are not UTF-8, or declare an encoding that is unknown
        raise InputError(f"{shown}: {error.msg.partition(':')[0]}. {_DECLARE}") from error
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror or error}") from error


def python_files(folder: Path) -> Iterator[Path]:
    """Every .py file below a folder, in the order of their paths; hidden folders, ``__pycache__`` and virtual
    environments are not entered."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name != "__pycache__"
            and not Path(here, name, "pyvenv.cfg").exists()
        )
        yield from (Path(here, name) for name in sorted(names) if name.endswith(".py"))


def absolute(path: Path) -> Path:
    """Absolute, without ``..``; a link as the last part keeps its own name, which is what is imported."""
    return path.parent.resolve() / path.name


def modified(path: Path) -> str | None:
    """Date of the file's last change, in UTC, as ``2026-01-31``. None where it is in no year of four
    figures: anybody can set it."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    except (ValueError, OverflowError):
        return None


def parse(code: str, place: str) -> ast.Module:
    """Syntax tree of a module.

    Raises:
        InputError: the code does not parse; the message starts ``place:line:column`` and shows the line, but
            not that of a file to which a link leads: it may be anybody's.
    """
    try:
        return quiet_parse(code)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        lines = code_lines(code)
        text = lines[line - 1] if line <= len(lines) else ""
        message = f"{place}:{line}:{column}: does not parse as {_INTERPRETER}: {error.msg}"
        raise InputError(
            message if os.path.islink(place) else f"{message}\n{pointed(text, column)}"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting too deep for the parser
        raise InputError(
            f"{place}: does not parse as {_INTERPRETER}: {str(error) or 'nested too deeply'}"
        ) from error


def unparsed(code: str) -> str:
    """A program without comments and layout, a statement on each line; as it is where it cannot be parsed."""
    try:
        return ast.unparse(quiet_parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code


def quiet_parse(code: str) -> ast.Module:
    """`ast.parse` without the SyntaxWarnings that it prints about somebody else's code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def unix_lines(code: str) -> str:
    """The code without the Windows line ends of published sets, which would show in a recording."""
    return code.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def imported_modules(tree: ast.AST) -> list[str]:
    """Top-level packages that code imports by full names, in functions too, each once."""
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names[node.module.partition(".")[0]] = None
    return list(names)


_LONG_NUMBER = re.compile(r"\d{4301,}")


def short_numbers(code: str) -> str:
    """The text with a 1 for each number of so many digits that Python refuses to read it, unless told to
    (`sys.set_int_max_str_digits`). To be parsed, not run."""
    return _LONG_NUMBER.sub("1", code)


_SHOWN_CHARS = 200
"""Of a line that does not parse: it can have megabytes."""


def pointed(line: str, column: int) -> str:
    """The line, indented, with a caret under its column (counted from 1)."""
    first = max(0, column - _SHOWN_CHARS // 2) if len(line) > _SHOWN_CHARS else 0
    shown, column = line.expandtabs(1)[first : first + _SHOWN_CHARS], column - first
    return f"    {shown}\n    {' ' * (min(column, len(shown) + 1) - 1)}^"


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of this scope, in source order: into if, for, try, ..., not into definitions."""
    for statement in body:
        yield statement
        if not isinstance(statement, _Definition):
            yield from statements(_inner(statement))


def _inner(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.excepthandler, ast.match_case)):
            yield from _inner(child)


def defined(body: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """Names that the scope binds, each with the last statement that does; ``*`` stands for a star import."""
    names: dict[str, ast.stmt] = {}
    for statement in statements(body):
        if isinstance(statement, _Definition):
            names[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                names[alias.asname or alias.name.partition(".")[0]] = statement
        else:
            names.update((name, statement) for name in _stored(statement))
    return names


def _stored(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif not isinstance(child, (ast.stmt, *_OWN_SCOPE)):
            yield from _stored(child)


def check_entry(tree: ast.Module, entry: str, place: str) -> None:
    """Refuse an entry that the code does not define, or that cannot be called without an instance.

    Raises:
        InputError: names what is close to `entry` and can be called.
    """
    scope = defined(tree.body)
    first, *rest = entry.split(".")
    if first not in scope:
        if "*" not in scope:
            raise InputError(f"{place}: defines no {entry}.{_instead(tree, entry)}")
        return
    node = scope[first]
    for name in rest:
        if not isinstance(node, ast.ClassDef):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                raise InputError(f"{place}: {node.name} is a function, not a class.{_instead(tree, entry)}")
            return  # an assigned or imported name: what it holds is known only when the code runs
        members = defined(node.body)
        if name not in members:
            if not node.bases:
                raise InputError(f"{place}: class {node.name} defines no {name}.{_instead(tree, entry)}")
            return  # it may be inherited
        node = members[name]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _needs_no_instance(node):
            raise InputError(
                f"{place}:{node.lineno}: {entry} needs an instance to be called on. "
                "Write a function that makes the instance and calls the method, and name that function."
                + _instead(tree, entry)
            )


def _needs_no_instance(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = {node.id for node in function.decorator_list if isinstance(node, ast.Name)}
    return bool(decorators & {"staticmethod", "classmethod"})


def _instead(tree: ast.Module, entry: str) -> str:
    callables = list(_callables(tree.body))
    close = difflib.get_close_matches(entry, callables, n=3, cutoff=0.5)
    if close:
        return f" Did you mean {' or '.join(close)}?"
    if callables:
        more = f" and {len(callables) - 10} more" if len(callables) > 10 else ""
        return f" It defines {', '.join(callables[:10])}{more}."
    return " It defines no functions."


def _callables(body: Iterable[ast.stmt]) -> Iterator[str]:
    for name, statement in defined(body).items():
        if isinstance(statement, _Definition):
            yield name
        if isinstance(statement, ast.ClassDef):
            for member, function in defined(statement.body).items():
                if isinstance(function, ast.FunctionDef) and _needs_no_instance(function):
                    yield f"{name}.{member}"


def nodes_of(source: str, functions: set[str]) -> Iterator[ast.AST]:
    """Every node of functions, by qualified name, with what is inside of them.

    Of the whole file where a function is not there; the name ``globals`` where the source does not parse.
    """
    parsed = _parsed(source)
    if parsed is None:
        return iter([ast.Name("globals")])
    tree, nodes_by_name = parsed
    outer = {function.partition(".<locals>")[0] for function in functions}
    nodes = [node for name in outer for node in nodes_by_name.get(name, [])]
    return chain.from_iterable(map(ast.walk, nodes if outer <= nodes_by_name.keys() else [tree]))


@functools.lru_cache(32)  # a project's calls run the same files again and again
def _parsed(source: str) -> tuple[ast.Module, dict[str, list[ast.AST]]] | None:
    """The syntax tree, and its functions by qualified name; None where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    nodes_by_name: dict[str, list[ast.AST]] = {}
    _collect(tree, "", nodes_by_name)
    return tree, nodes_by_name


def _collect(node: ast.AST, prefix: str, nodes_by_name: dict[str, list[ast.AST]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            nodes_by_name.setdefault(prefix + child.name, []).append(child)
        else:
            inner = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            _collect(child, inner, nodes_by_name)
