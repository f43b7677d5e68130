"""The user's file: a call of one of its functions (``path/file.py::function`` with ``(3, seed=1)``), or a
script.

The code is the whole file. The file's folder is on the import path, and the program finds the other files of
the folder beside it when it runs (`Program.path`). A file with relative imports (``from . import x``) needs
its package, which a program does not include, so it fails when it runs.
"""

import ast
import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path

from deskcheck.recording import InputError, Mode, Program
from deskcheck.recording.program import FILES_BESIDE
from deskcheck.sandbox.inside.main_module import CONTAINED, MODULE
from deskcheck.sandbox.inside.readable_files import is_private
from deskcheck.sources.sets.doctests import Note, has_doctests
from deskcheck.sources.text.archive import MAIN
from deskcheck.sources.text.arguments import argument_list
from deskcheck.sources.text.modules import find_source, is_module_name
from deskcheck.sources.text.python import absolute, check_entry, defined, modified, parse, read_python

_LONGEST_ID = 120


def function_in_file(file: str, entry: str, arguments: str | None, note: Note) -> Program:
    """The call ``entry(arguments)``. entry: a function of the file, or a static or class method,
    ``Class.method``.

    note: takes a sentence if the program cannot find the files beside it.

    Raises:
        InputError: the file does not parse or does not define the function, or the arguments are not an
            argument list.
    """
    path = Path(file)
    if path.suffix != ".py" or not os.path.isfile(path):
        reason = "is not a .py file" if os.path.exists(path) else "no such file"
        raise InputError(f"{file}::{entry}: {file}: {reason}. Write it as path/file.py::function.")
    code = read_python(path, file)
    tree = parse(code, file)
    check_entry(tree, entry, file)
    if arguments is None:
        raise InputError(
            f"{file}::{entry} needs its arguments{_signature(tree, entry)}. "
            "Give them as one word of text: '(3, seed=1)', or '()' for none."
        )
    arguments = argument_list(arguments, f"arguments of {file}::{entry}")
    _note_what_is_not_found(path, note)
    program = _program(file, code, f"{file}::{entry}{arguments}")
    return replace(program, mode=Mode.CALL, entry=entry, arguments=arguments)


def _program(file: str, code: str, identifier: str) -> Program:
    path = Path(file)
    return Program(
        id=short_id(identifier),
        code=code,
        filename=path.name,
        path=str(absolute(path).parent),
        source=file,
        date=modified(path),
        extra={"file": str(absolute(path))},
    )


def script(file: str, note: Note) -> Program:
    """The file as a script, run as ``__main__`` and without arguments.

    note: takes a sentence if the file has doctests, which are another source, and if the program cannot find
    the files beside it.

    Raises:
        InputError: the file does not parse.
    """
    path = Path(file)
    code = read_python(path, file)
    tree = parse(code, file)
    if has_doctests(tree):
        note(f"{file} is run as a script. For its doctests, write doctests:{file}")
    _note_what_is_not_found(path, note)
    program = _program(file, code, file)
    return replace(program, extra={**program.extra, "script": True})


def archived(file: str, modules: dict[str, str]) -> Program:
    """The ``__main__.py`` of an archive, run as a script. It can import the other modules.

    Raises:
        InputError: it is missing or does not parse.
    """
    if MAIN not in modules:
        raise InputError(f"{file}: is an archive without a file {MAIN}, so there is nothing to run.")
    parse(modules[MAIN], f"{file}/{MAIN}")
    program = _program(file, modules[MAIN], file)
    path = program.extra["file"]
    extra = {"file": path, "script": True, "run": CONTAINED}
    return replace(program, filename=MAIN, path=path, extra=extra)


def main_module(name: str) -> Program:
    """The module as ``python -m`` runs it in the working directory. No module is imported to find it.

    Raises:
        InputError: it does not exist, has no Python source, or is a package without a ``__main__``.
    """
    folder = Path.cwd()
    if not is_module_name(name):
        raise InputError(f"-m {name}: is not the name of a module. Write it as in an import: package.module.")
    path = [str(folder), *sys.path]
    try:
        file = find_source(f"{name}.__main__", [], path)
    except InputError:
        file = find_source(name, [entry.stem for entry in folder.glob("*.py")], path)
        if file.name == "__init__.py":
            raise InputError(
                f"-m {name}: is a package without a module {name}.__main__, so there is nothing to run. Name "
                f"one of its modules: -m {name}.MODULE."
            ) from None
    label = name.replace(".", "/") + ("/__main__.py" if file.name == MAIN else ".py")
    return Program(
        id=f"-m {name}",
        code=read_python(file, str(file)),
        filename=label,
        path=str(folder),
        source=name,
        date=modified(file),
        extra={"file": str(absolute(file)), "script": True, "run": MODULE},
    )


def _note_what_is_not_found(path: Path, note: Note) -> None:
    folder = absolute(path).parent
    if not os.access(folder, os.R_OK):
        return
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries]
    secret = sorted(
        name for name in names if is_private(name) and not name.startswith(".") and name != path.name
    )
    if secret:
        listed = ", ".join(secret[:5]) + (", ..." if len(secret) > 5 else "")
        note(f"{folder}: not available to the program, because their names look like secrets: {listed}")
    if len(names) > FILES_BESIDE:
        note(
            f"{folder} has more than {FILES_BESIDE} entries, so the program finds none of them by a relative "
            "path. If it reads files, put it with them into a separate folder."
        )


def _signature(tree: ast.Module, entry: str) -> str:
    function = defined(tree.body).get(entry)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f": it is defined as {entry}({ast.unparse(function.args)})"
    return ""


def short_id(identifier: str) -> str:
    """An id of limited length that differs for different identifiers: a long one ends with its digest."""
    one_line = " ".join(identifier.split())
    if len(one_line) <= _LONGEST_ID:
        return one_line
    digest = hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{one_line[:_LONGEST_ID]}...{digest[:8]}"
