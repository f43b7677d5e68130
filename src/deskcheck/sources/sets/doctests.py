"""Doctests as programs: one session per docstring that has examples.

Docstrings are read from the syntax tree, so no code is imported or run. They are those that `doctest` finds
by importing, except docstrings made at run time and functions of other modules. If a name is defined several
times, each definition with examples is a program.

A session's `code` is the source of the examples in order, with blank lines between them. Its `expected` is a
JSON list with one object per example: "line" (its first line in `code`, from 1), "want", "exc_msg" and
"options" (by name), as in `doctest.Example`. Examples marked ``+SKIP``, and those that do not parse, are left
out.
"""

import ast
import doctest
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from deskcheck.files import read_json
from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources.text.modules import (
    Origin,
    find_source,
    import_name,
    import_name_in,
    origin_of_file,
    origin_of_module,
)
from deskcheck.sources.text.python import parse, python_files, read_python, statements

Note = Callable[[str], None]
"""Takes a sentence about what was left out; nothing is left out silently."""

_OPTION_NAMES = {flag: name for name, flag in doctest.OPTIONFLAGS_BY_NAME.items()}
_TRACEBACK = re.compile(r"^Traceback \((?:most recent call last|innermost last)\):\s*$", re.MULTILINE)


def doctests_in_module(module: str, near: list[str], note: Note) -> list[Program]:
    """The doctests of an importable module, with ids like ``heapq.merge``. near: see `find_source`.

    Raises:
        InputError: the module does not exist, or has no Python source.
    """
    file = find_source(module, near)
    programs = _programs(file, str(file), module, module, origin_of_module(module, file), note)
    if not programs:
        note(f"{module} ({file}) has no doctests.")
    return programs


def doctests_in_file(file: str, note: Note) -> list[Program]:
    """The doctests of a file that can be imported by its name.

    Raises:
        InputError: the file does not parse, or its name cannot be imported.
    """
    module, root = import_name(Path(file))
    programs = _in_file(Path(file), file, module, root, module, note)
    if not programs:
        note(f"{file} has no doctests.")
    return programs


def doctests_in_folder(folder: str, note: Note) -> Iterator[Program]:
    """The doctests of all files of `python_files`, with module names in their ids.

    A file in a subfolder that is not a package has the subfolder before its name. A file that cannot be used
    is left out, with a note.

    Raises:
        InputError: the folder has no .py files.
    """
    files = list(python_files(Path(folder)))
    if not files:
        raise InputError(f"{folder}: has no .py files.")
    return _in_folder(Path(folder), files, note)


def has_doctests(tree: ast.Module) -> bool:
    """Whether a docstring of a module has an example."""
    return any(">>> " in docstring.text for docstring in _docstrings(tree, ""))


def _in_folder(folder: Path, files: list[Path], note: Note) -> Iterator[Program]:
    without = []
    for file in files:
        module, root, name = import_name_in(folder, file)
        try:
            programs = _in_file(file, str(file), module, root, name, note)
        except InputError as error:
            note(f"Left out: {error}")
            continue
        if not programs:
            without.append(file.relative_to(folder).as_posix())
        yield from programs
    if without:
        note(f"{folder}: {len(without)} of {len(files)} .py files have no doctests: {', '.join(without)}.")


def _in_file(file: Path, display_path: str, module: str, root: Path, name: str, note: Note) -> list[Program]:
    if "." in file.stem or module == "__main__":
        raise InputError(
            f"{display_path}: {file.stem!r} cannot be imported by its name, so its doctests cannot run."
        )
    return _programs(file, display_path, module, name, origin_of_file(file, display_path, root), note)


@dataclass(frozen=True, slots=True)
class _Docstring:
    name: str
    text: str
    line: int


def _programs(
    file: Path, display_path: str, module: str, name: str, origin: Origin, note: Note
) -> list[Program]:
    """The doctests of a file. name: the module's name in ids."""
    tree = parse(read_python(file, display_path), display_path)
    programs: list[Program] = []
    times: dict[str, int] = {}
    for docstring in (*_docstrings(tree, name), *_assigned_docstrings(tree, name, display_path, note)):
        examples = list(_usable(docstring, display_path, note))
        if not examples:
            continue
        times[docstring.name] = times.get(docstring.name, 0) + 1
        again = f"#{times[docstring.name]}" if times[docstring.name] > 1 else ""
        code, expected = _session(examples)
        programs.append(
            Program(
                id=docstring.name + again,
                code=code,
                mode=Mode.SESSION,
                filename=f"<doctest {docstring.name}{again}>",
                module=module,
                path=origin.path,
                expected=expected,
                source=origin.source,
                licence=origin.licence,
                train_ok=origin.train_ok,
                date=origin.date,
                extra={**origin.extra, "line": docstring.line},
            )
        )
    return programs


def _docstrings(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[_Docstring]:
    """Docstrings in source order, except those of functions inside functions, which cannot be imported."""
    text = ast.get_docstring(node, clean=False)
    if text is not None:
        yield _Docstring(name, text, node.body[0].lineno)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for statement in statements(node.body):
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _docstrings(statement, f"{name}.{statement.name}")


def _assigned_docstrings(tree: ast.Module, name: str, display_path: str, note: Note) -> Iterator[_Docstring]:
    """The texts of ``__doc__ = text`` and ``__test__ = {"name": text}``. A text may be in another
    variable."""
    assigned = {
        target.id: statement.value
        for statement in statements(tree.body)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    match assigned.get("__doc__"):
        case ast.Constant(value=str(text), lineno=line):
            yield _Docstring(name, text, line)
    match assigned.get("__test__"):
        case None:
            return
        case ast.Dict(keys=keys, values=values):
            pass
        case expression:
            note(f"{display_path}:{expression.lineno}: __test__ is not a dictionary display and is left out.")
            return
    for key, value in zip(keys, values, strict=True):
        match key, assigned.get(value.id) if isinstance(value, ast.Name) else value:
            case ast.Constant(value=str(label)), ast.Constant(value=str(text), lineno=line):
                yield _Docstring(f"{name}.__test__.{label}", text, line)
            case _:
                note(
                    f"{display_path}:{value.lineno}: a test in __test__ is not a text literal and is left "
                    f"out."
                )


def _usable(docstring: _Docstring, display_path: str, note: Note) -> Iterator[doctest.Example]:
    try:
        examples = doctest.DocTestParser().get_examples(docstring.text, docstring.name)
    except ValueError as error:  # an unknown option, a prompt without a space after it
        note(f"{display_path}:{docstring.line}: left out: {error}")
        return
    for example in examples:
        if example.options.get(doctest.SKIP):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(example.source, mode="single")  # one statement, as at the prompt
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = docstring.line + example.lineno
            note(
                f"{display_path}:{line}: an example of {docstring.name} does not parse and is left out: "
                f"{error}"
            )
            continue
        yield example


def _session(examples: Iterable[doctest.Example]) -> tuple[str, str]:
    """(code, expected)"""
    sources: list[str] = []
    wants = []
    line = 1
    for example in examples:
        options = {_OPTION_NAMES[flag]: value for flag, value in example.options.items()}
        wants.append({"line": line, "want": example.want, "exc_msg": example.exc_msg, "options": options})
        sources.append(example.source)
        line += example.source.count("\n") + 1
    return "\n".join(sources), json.dumps(wants)


def check(expected: str, outputs: Sequence[str]) -> list[str]:
    """The examples whose outputs differ from their docstring, by their first lines, such as ``line 7``.

    outputs: the output of each example in order; for an exception, its traceback or last line. Missing
    outputs mean that the session ended early. Outputs are compared like in `doctest.DocTestRunner`, with the
    options of each example.

    Raises:
        ValueError: there are more outputs than examples.
    """
    wants = read_json(expected, "expected")
    if len(outputs) > len(wants):
        raise ValueError(f"{len(outputs)} outputs for {len(wants)} examples")
    return [
        f"line {want['line']}"
        for want, output in zip_longest(wants, outputs)
        if output is None or not _holds(want["want"], want["exc_msg"], want["options"], output)
    ]


def _holds(want: str, exc_msg: str | None, options: dict[str, bool], output: str) -> bool:
    flags = sum(doctest.OPTIONFLAGS_BY_NAME[name] for name, value in options.items() if value)
    compare = doctest.OutputChecker().check_output
    if exc_msg is None:
        return compare(want, output, flags)
    message = _message(output)
    if compare(exc_msg, message, flags):
        return True
    return bool(flags & doctest.IGNORE_EXCEPTION_DETAIL) and compare(
        _exception_name(exc_msg), _exception_name(message), flags
    )


def _message(output: str) -> str:
    """The line of the exception and those after it, which `doctest` compares, without earlier output."""
    headers = list(_TRACEBACK.finditer(output))
    if not headers:
        return output
    after = output[headers[-1].end() :]
    message = re.search(r"^\w+.*", after, re.MULTILINE | re.DOTALL)
    return message.group() if message else ""


def _exception_name(message: str) -> str:
    """``KeyError`` of ``package.KeyError: 'x'``."""
    return re.split(r"[:\n]", message, maxsplit=1)[0].rpartition(".")[2]
