"""Python source as text: reading and parsing it, locating its errors, and finding the names that it defines.

The code is not run. Its names are read from its syntax tree, so names that are made at run time
(`globals()["f"] = ...`, `from m import *`) are not found.
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


def read_python(path: Path, display_path: str) -> str:
    """Text of a source file in the encoding that it declares (PEP 263), lines ended by ``\\n``.

    display_path: the path as the user wrote it, for messages.
    """
    try:
        data = read_file(path)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{display_path}: is not {error.encoding} at byte {error.start}. {_DECLARE}"
        ) from error
    except SyntaxError as error:  # its first two lines are not UTF-8, or declare an encoding that is unknown
        raise InputError(f"{display_path}: {error.msg.partition(':')[0]}. {_DECLARE}") from error
    except OSError as error:
        raise InputError(f"{display_path}: cannot be read: {error.strerror or error}") from error


def python_files(folder: Path) -> Iterator[Path]:
    """All .py files below a folder, ordered by path, except in hidden folders, ``__pycache__`` and virtual
    environments."""
    for current_folder, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name != "__pycache__"
            and not Path(current_folder, name, "pyvenv.cfg").exists()
        )
        yield from (Path(current_folder, name) for name in sorted(names) if name.endswith(".py"))


def absolute(path: Path) -> Path:
    """The absolute path without ``..``. A link as the last part keeps its name, which is what is imported."""
    return path.parent.resolve() / path.name


def modified(path: Path) -> str | None:
    """Date of the file's last change, in UTC, such as ``2026-01-31``. None if its year has not four digits,
    because the date can be set to anything."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    except (ValueError, OverflowError):
        return None


def parse(code: str, location: str) -> ast.Module:
    """Syntax tree of a module.

    Raises:
        InputError: the code does not parse. The message starts with ``location:line:column`` and shows the
            line, except for a link to a file, which may belong to somebody else.
    """
    try:
        return quiet_parse(code)
    except SyntaxError as error:
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        lines = code_lines(code)
        text = lines[line - 1] if line <= len(lines) else ""
        message = f"{location}:{line}:{column}: does not parse as {_INTERPRETER}: {error.msg}"
        raise InputError(
            message if os.path.islink(location) else f"{message}\n{pointed(text, column)}"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting too deep for the parser
        raise InputError(
            f"{location}: does not parse as {_INTERPRETER}: {str(error) or 'nested too deeply'}"
        ) from error


def unparsed(code: str) -> str:
    """A program without comments and layout, one statement a line. Code that does not parse is unchanged."""
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
    """The text with a 1 for each number that has too many digits for Python (`sys.set_int_max_str_digits`).

    The result can be parsed, but must not be run.
    """
    return _LONG_NUMBER.sub("1", code)


_SHOWN_CHARS = 200
"""Number of characters shown from a line that does not parse, which can have megabytes."""


def pointed(line: str, column: int) -> str:
    """The line, indented, with a caret under its column (counted from 1)."""
    first = max(0, column - _SHOWN_CHARS // 2) if len(line) > _SHOWN_CHARS else 0
    excerpt, column = line.expandtabs(1)[first : first + _SHOWN_CHARS], column - first
    return f"    {excerpt}\n    {' ' * (min(column, len(excerpt) + 1) - 1)}^"


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of this scope, in source order, also those inside of if, for, try, ..."""
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
    """Names that the scope binds, each with the last statement that binds it. ``*`` is a star import."""
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


def check_entry(tree: ast.Module, entry: str, location: str) -> None:
    """Check that the code defines an entry that can be called without an instance.

    Raises:
        InputError: it does not. The message names similar functions.
    """
    scope = defined(tree.body)
    first, *member_names = entry.split(".")
    if first not in scope:
        if "*" not in scope:
            raise InputError(f"{location}: defines no {entry}.{_instead(tree, entry)}")
        return
    node = scope[first]
    for name in member_names:
        if not isinstance(node, ast.ClassDef):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                raise InputError(
                    f"{location}: {node.name} is a function, not a class.{_instead(tree, entry)}"
                )
            return  # an assigned or imported name: its value is known only when the code runs
        members = defined(node.body)
        if name not in members:
            if not node.bases:
                raise InputError(f"{location}: class {node.name} defines no {name}.{_instead(tree, entry)}")
            return  # it may be inherited
        node = members[name]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _needs_no_instance(node):
            raise InputError(
                f"{location}:{node.lineno}: {entry} needs an instance to be called on. "
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
    """All nodes of the functions with these qualified names.

    All nodes of the file if a function is missing; the name ``globals`` if the source does not parse.
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
    """The syntax tree, and its functions by qualified name; None if the source does not parse."""
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
