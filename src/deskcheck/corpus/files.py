"""One call of a function that stands in a file: ``path/file.py::function`` with ``(3, seed=1)``.

The code is the whole file; the file's folder comes first on the import path, so that it finds its
neighbours. A file that imports relatively (``from . import x``) needs its package, which a program
does not carry: it fails when it runs.
"""

import ast
import hashlib
import os
from pathlib import Path

from deskcheck.corpus._arguments import argument_list
from deskcheck.corpus._python import absolute, check_entry, defined, modified, parse, read_python
from deskcheck.recording import InputError, Mode, Program

_LONGEST_ID = 120


def function_in_file(file: str, entry: str, arguments: str | None) -> Program:
    """The call ``entry(arguments)``, where entry is a function of the file, or ``Class.method`` if
    that is a static or a class method.

    Raises:
        InputError: the file does not parse, defines no such function, or the arguments are no
            argument list.
    """
    path = Path(file)
    if path.suffix != ".py" or not os.path.isfile(path):
        raise InputError(
            f"{file}::{entry}: {file} is not a .py file here. Write it as path/file.py::function."
        )
    code = read_python(path, file)
    tree = parse(code, file)
    check_entry(tree, entry, file)
    if arguments is None:
        raise InputError(
            f"{file}::{entry} needs its arguments{_signature(tree, entry)}. "
            "Give them as one word of text: '(3, seed=1)', or '()' for none."
        )
    arguments = argument_list(arguments, f"arguments of {file}::{entry}")
    return Program(
        id=short_id(f"{file}::{entry}{arguments}"),
        code=code,
        mode=Mode.CALL,
        filename=path.name,
        entry=entry,
        arguments=arguments,
        path=str(absolute(path).parent),
        source=file,
        date=modified(path),
        extra={"file": str(absolute(path))},
    )


def _signature(tree: ast.Module, entry: str) -> str:
    found = defined(tree.body).get(entry)
    if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f": it is defined as {entry}({ast.unparse(found.args)})"
    return ""


def short_id(identifier: str) -> str:
    """Two calls of one function differ in their arguments alone, so an id tells those apart, however long."""
    one_line = " ".join(identifier.split())
    if len(one_line) <= _LONGEST_ID:
        return one_line
    return f"{one_line[:_LONGEST_ID]}...{hashlib.sha256(identifier.encode()).hexdigest()[:8]}"
