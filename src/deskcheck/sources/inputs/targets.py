"""The functions to find inputs for: those of a file, a folder or a package, or functions that have some
inputs.

The contents of a module after its import are examined in the sandbox, once for each file. Importing a file
may end the interpreter, may not end, may need something that is missing, and may replace a function.
"""

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, Mode, Outcome, Program, RunResult
from deskcheck.sources.inputs.callables import PRIVATE, Callable_, Definition, callables
from deskcheck.sources.inputs.receivers import Constructor, is_method, receiver_of, without_object
from deskcheck.sources.text.modules import (
    Origin,
    find_source,
    import_name_in,
    origin_of_file,
    origin_of_module,
)
from deskcheck.sources.text.python import (
    absolute,
    check_entry,
    defined,
    imported_modules,
    modified,
    parse,
    python_files,
    read_python,
)
from deskcheck.sources.text.shipped import shipped

Run = Callable[[Program], RunResult]
_CALL = "<call>"


@dataclass(frozen=True, slots=True)
class Target:
    """A function to find inputs for."""

    display_path: str
    """The file that defines it, as the user wrote it."""
    program: Program
    """A call of the function with any arguments."""
    text: str
    """The text of the file."""
    file: str
    """The name of the file in events."""
    node: Definition | None
    """Its definition; without the first parameter for a method."""
    known_inputs: tuple[str, ...] = ()
    """Argument lists that are tried first."""
    receiver: Constructor | None = None
    """For a method, the constructor of its object."""

    @property
    def function(self) -> str:
        """Its qualified name."""
        return self.program.entry or ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A function that is not tried, and the reason. Without a name, a file that has no functions to try."""

    file: str
    function: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class File:
    """A file whose functions are tried."""

    display_path: str
    """The path as the user wrote it."""
    first: Program
    """A program that has the names of the file, without a call."""
    label: str
    """The name of the file in events."""
    path: Path
    only: str | None = None
    """The only function to try; None for all."""
    text: str | None = None
    """None if the file cannot be read."""
    tree: ast.Module | None = None
    reason: str = ""
    """The reason why the file cannot be read."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The functions that a source names."""

    files: Iterator[File] = field(default_factory=lambda: iter(()))
    targets: Iterator[Target] | None = None
    """Functions with inputs, instead of files."""
    tests: int = 0
    """Number of skipped files of tests."""
    several: bool = True
    """Whether there may be many functions."""


# -- where functions are ---------------------------------------------------------------------------


def scope_of(
    inner: str, programs: Callable[[str], Iterator[Program]], *, is_set: Callable[[str], bool], tests: bool
) -> SearchScope:
    """The functions that the text after ``inputs:`` names.

    programs: reads sources that already have inputs. is_set: whether a word is the name of such a source.
    tests: whether files of tests are included.

    Raises:
        InputError: the text names nothing, or there is nothing to call.
    """
    name, colons, entry = inner.rpartition("::") if "::" in inner else (inner, "", "")
    path = Path(name)
    if path.suffix == ".py":
        return _one_file(inner, name, entry if colons else None)
    if name and not is_set(name):
        if os.path.isdir(path):
            if colons:
                raise InputError(f"inputs:{inner}: {name} is a folder. Name a file: {name}/FILE.py::{entry}")
            return _folder(name, tests=tests)
        if not os.path.exists(path) and _is_module(name):
            return _module(name, entry if colons else None, tests=tests)
    return SearchScope(targets=_with_known(programs(inner), inner))


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split(".")) and not name.endswith((".jsonl", ".json"))


def _one_file(inner: str, file: str, entry: str | None) -> SearchScope:
    path = Path(file)
    if not path.is_file():
        raise InputError(f"inputs:{inner}: {file} is not a file.")
    text = read_python(path, file)
    tree = parse(text, file)
    if entry is not None:
        check_entry(tree, entry, file)
    elif not any(function.why_not is None for function in callables(tree)):
        raise InputError(f"inputs:{inner}: {file} defines no functions at its top level.")
    first = Program(
        id=f"{file}::",
        code=text,
        filename=path.name,
        path=str(absolute(path).parent),
        source=file,
        date=modified(path),
        extra={"file": str(absolute(path))},
    )
    target_file = File(file, first, path.name, path, entry, text, tree)
    return SearchScope(iter([target_file]), several=False)


def _folder(folder: str, *, tests: bool) -> SearchScope:
    files, left_out = _without_tests(Path(folder), tests=tests)
    if not files:
        reason = (
            f"has only test files. inputs,tests=yes:{folder} includes them."
            if left_out
            else "has no .py files."
        )
        raise InputError(f"inputs:{folder}: {reason}")
    return SearchScope(_files(Path(folder), files), tests=left_out)


def _without_tests(folder: Path, *, tests: bool) -> tuple[list[Path], int]:
    """The Python files below a folder, and the number of files of tests that are left out."""
    files = list(python_files(folder))
    taken = [file for file in files if tests or not _is_test(file.relative_to(folder))]
    return taken, len(files) - len(taken)


def _files(folder: Path, files: list[Path]) -> Iterator[File]:
    names: set[str] = set()
    for file in files:
        module, root, name = import_name_in(folder, file)
        if name in names:  # pkg.py beside pkg/__init__.py
            name = str(file.relative_to(folder))
        names.add(name)
        yield module_file(file, str(file), module, name, origin_of_file(file, str(file), root))


def _module(name: str, entry: str | None, *, tests: bool) -> SearchScope:
    try:
        file = find_source(name, [])
    except InputError as error:
        raise InputError(f"inputs:{error}") from None
    if file.name != "__init__.py" or entry is not None:
        target_file = replace(
            module_file(file, str(file), name, name, origin_of_module(name, file)), only=entry
        )
        if entry is not None and target_file.tree is not None:
            check_entry(target_file.tree, entry, str(file))
        return SearchScope(iter([target_file]), several=entry is None)
    top = file.parent
    files, left_out = _without_tests(top, tests=tests)

    def all_of() -> Iterator[File]:
        for member in files:
            below = member.relative_to(top).with_suffix("").parts
            module = ".".join([name, *(below[:-1] if below[-1] == "__init__" else below)])
            yield module_file(member, str(member), module, module, origin_of_module(module, member))

    return SearchScope(all_of(), tests=left_out)


def _is_test(file: Path) -> bool:
    stem = file.stem
    return (
        bool({"test", "tests"} & set(file.parts[:-1]))
        or stem.startswith("test_")
        or stem.endswith("_test")
        or stem in ("conftest", "tests")
    )


def module_file(file: Path, display_path: str, module: str, name: str, origin: Origin) -> File:
    """A file that is imported by its module name, or by its path if it is not in a package."""
    extra = dict(origin.extra)
    if "." in module:
        extra.pop("file", None)
    first = Program(
        id=f"{name}.",
        code="",
        filename=_CALL,
        module=module,
        path=origin.path,
        source=origin.source,
        licence=origin.licence,
        train_ok=origin.train_ok,
        date=origin.date,
        extra=extra,
    )
    label = module.replace(".", "/") + ".py"
    result = File(display_path, first, label, file)
    try:
        text = read_python(file, display_path)
        tree = parse(text, display_path)
    except InputError as error:
        return replace(result, reason=str(error).splitlines()[0].removeprefix(f"{display_path}:").strip())
    own_modules = [module.partition(".")[0], *_siblings(tree, origin.path)]
    extra |= {"arguments": "literal", "alone": True, "own": own_modules}
    return replace(result, text=text, tree=tree, first=replace(first, extra=extra))


def _siblings(tree: ast.Module, root: str | None) -> list[str]:
    """Modules beside a file that it imports."""
    if root is None:
        return []
    return [
        name
        for name in imported_modules(tree)
        if name not in sys.stdlib_module_names
        and (Path(root, f"{name}.py").is_file() or Path(root, name, "__init__.py").is_file())
    ]


def _with_known(known_programs: Iterator[Program], inner: str) -> Iterator[Target]:
    any_calls = False
    for (code, entry), calls in groupby(known_programs, key=lambda program: (program.code, program.entry)):
        group = [program for program in calls if program.mode is Mode.CALL]
        if group and code and entry:
            any_calls = True
            first = replace(group[0], expected=None)
            known_inputs = tuple(program.arguments for program in group if program.arguments is not None)
            yield Target(first.source, first, code, first.filename, function_node(code, entry), known_inputs)
    if not any_calls:
        raise InputError(f"inputs:{inner}: has no calls of functions.")


def function_node(code: str, entry: str) -> Definition | None:
    """The definition of an entry, which may be ``Class.method``; None if it is made at run time."""
    body = parse(code, entry).body
    statement: ast.stmt | None = None
    for name in entry.split("."):
        statement = defined(body).get(name)
        body = statement.body if isinstance(statement, ast.ClassDef) else []
    return statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


# -- the contents of a module after its import --------------------------------------------------------

_NOTHING = "_deskcheck_imported"


def imported(file: File) -> Program:
    """A program that only imports a file."""
    code = f"{file.first.code}\n\ndef {_NOTHING}():\n    return None\n"
    return replace(file.first, code=code, mode=Mode.CALL, entry=_NOTHING, arguments="()")


_WHY = {
    "absent": "missing after its module is imported",
    "compiled": "replaced by a compiled function",
    "frozen": "frozen into the interpreter, which does not show its lines",
}


def targets_in(file: File, run: Run, *, methods: bool = False) -> list[Target | Passed]:
    """The functions of a file, in the order of the text, as targets or with a reason for not trying them.

    run: runs a program in the sandbox. methods: whether methods are tried, too, if a class of the file can
    make their object.
    """
    if file.text is None or file.tree is None:
        return [Passed(file.display_path, "", 0, file.reason)]
    try:
        functions = callables(file.tree, methods=methods)
    except RecursionError:
        return [Passed(file.display_path, "", 0, "statements are nested too deeply")]
    if file.only is not None:
        functions = [
            replace(function, why_not=None if function.why_not == PRIVATE else function.why_not)
            for function in functions
            if function.name == file.only
        ]
        if not functions:
            return [_made_at_run_time(file, file.only, run)]
    names = list(dict.fromkeys(function.name for function in functions if function.why_not is None))
    contents: Mapping[str, tuple[str, int]] | str = {}
    if names:
        contents = _there(file, names, run)
    return [_target(file, function, functions, contents) for function in functions]


def _made_at_run_time(file: File, entry: str, run: Run) -> Target | Passed:
    """An entry without a ``def`` in the text, such as a star import or an inherited method."""
    contents = _there(file, [entry], run)
    if isinstance(contents, str):
        return Passed(file.display_path, entry, 0, f"its module {contents}")
    kind, _ = contents[entry]
    if kind in _WHY:
        return Passed(file.display_path, entry, 0, _WHY[kind])
    return Target(file.display_path, _call(file, entry), file.text or "", file.label, None)


def _call(file: File, entry: str) -> Program:
    return replace(file.first, id=f"{file.first.id}{entry}", mode=Mode.CALL, entry=entry, arguments="()")


def _target(
    file: File, function: Callable_, functions: list[Callable_], contents: Mapping[str, tuple[str, int]] | str
) -> Target | Passed:
    def passed(reason: str) -> Passed:
        return Passed(file.display_path, function.name, function.node.lineno, reason)

    if function.why_not is not None:
        return passed(function.why_not)
    if isinstance(contents, str):
        return passed(f"its module {contents}")
    kind, line = contents[function.name]
    if kind in _WHY:
        return passed(_WHY[kind])
    same = [candidate for candidate in functions if candidate.name == function.name]
    meant = next(
        (candidate for candidate in same if kind == "function" and candidate.first_line == line), same[-1]
    )
    if function is not meant:
        return passed("its name belongs to another function after the import")
    program = _call(file, function.name)
    if file.first.module is not None:
        program = replace(program, extra={**program.extra, "line": function.node.lineno})
    if is_method(function):
        assert file.tree is not None
        receiver = receiver_of(file.tree, function.name.rpartition(".")[0])
        if receiver is None:
            return passed("its object is not made by code in its file")
        if not (function.node.args.posonlyargs or function.node.args.args):
            return passed("its first parameter is not its object")
        node = without_object(function.node)
        return Target(file.display_path, program, file.text or "", file.label, node, receiver=receiver)
    return Target(file.display_path, program, file.text or "", file.label, function.node)


def _there(file: File, names: list[str], run: Run) -> Mapping[str, tuple[str, int]] | str:
    """Name -> its kind (``function``, ``callable`` or one of `_WHY`) and line.

    If the module cannot be imported, the reason as a text.
    """
    ask = replace(
        file.first,
        code=f"{file.first.code}\n\n\n{shipped('imported.py')}",
        mode=Mode.CALL,
        entry="_deskcheck_there",
        arguments=f"({names!r},)",
    )
    run_result = run(ask)
    if run_result.outcome is not Outcome.RETURNED:
        return why_not_imported(run_result)
    try:
        where, kinds = ast.literal_eval(run_result.result or "")
        contents = {str(name): (str(kind), int(line)) for name, (kind, line) in kinds.items()}
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError):
        return "cannot be inspected"
    if not contents.keys() >= {*names}:
        return "cannot be inspected"
    if file.first.module is not None and not _same(where, file.path):
        return f"is hidden by another module with its name: {where}"
    return contents


def _same(where: Any, path: Path) -> bool:
    try:
        return isinstance(where, str) and os.path.samefile(where, path)
    except (OSError, ValueError):
        return False


def why_not_imported(run_result: RunResult) -> str:
    """The reason why a module cannot be imported, as the end of a sentence that begins with "its module"."""
    detail = " ".join(run_result.detail.split())[:200]
    match run_result.outcome:
        case Outcome.RAISED:
            return f"cannot be imported: {detail or run_result.exception}"
        case Outcome.EXITED:
            return f"ends the interpreter when it is imported, with status {run_result.exit_status}"
        case Outcome.TIMED_OUT:
            return "does not end when it is imported"
    return f"cannot be imported: {run_result.outcome.value}: {detail}".rstrip(": ")
