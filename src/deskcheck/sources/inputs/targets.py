"""The functions that inputs are looked for: of a file, of a folder, of a package, or those that have some.

What a module holds when it has been imported is asked in the sandbox, once for each file: a file may end the
interpreter, may not end, may need what is not there, and may have put something else in a function's place.
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
    import_name,
    origin_of_file,
    origin_of_module,
)
from deskcheck.sources.text.python import (
    absolute,
    check_entry,
    defined,
    modified,
    parse,
    python_files,
    read_python,
)

Run = Callable[[Program], RunResult]
_CALL = "<call>"


@dataclass(frozen=True, slots=True)
class Target:
    """A function to find inputs for. shown: the file that defines it, as the user knows it. program: calls
    it, its arguments are not decided. text: of the file. file: its name in events. node: its definition, of a
    method without its object. known: inputs to begin with. receiver: of a method, how its object is made."""

    shown: str
    program: Program
    text: str
    file: str
    node: Definition | None
    known: tuple[str, ...] = ()
    receiver: Constructor | None = None

    @property
    def function(self) -> str:
        """Its qualified name."""
        return self.program.entry or ""


@dataclass(frozen=True, slots=True)
class Passed:
    """A function that is not tried, or with no name a file that has none to try; and why."""

    file: str
    function: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class File:
    """A file whose functions are looked at. shown: as the user wrote it. first: a program that has the file's
    names and calls nothing yet. label: the file's name in events. only: one function of it. text: None where
    it cannot be read, `why` says why."""

    shown: str
    first: Program
    label: str
    path: Path
    only: str | None = None
    text: str | None = None
    tree: ast.Module | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What a source names. files: one after the other. known: functions with inputs, in the place of files.
    tests: how many files of tests were passed over. several: whether there may be many functions."""

    files: Iterator[File] = field(default_factory=lambda: iter(()))
    known: Iterator[Target] | None = None
    tests: int = 0
    several: bool = True


# -- where functions are ---------------------------------------------------------------------------


def scope_of(
    inner: str, programs: Callable[[str], Iterator[Program]], *, is_set: Callable[[str], bool], tests: bool
) -> SearchScope:
    """What stands behind ``inputs:``. programs: reads sources that have inputs to begin with. is_set: whether
    a word is the name of such a source. tests: whether files of tests are looked at, too.

    Raises:
        InputError: there is no such thing, or nothing in it that could be called.
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
    return SearchScope(known=_with_known(programs(inner), inner))


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split(".")) and not name.endswith((".jsonl", ".json"))


def _one_file(inner: str, file: str, entry: str | None) -> SearchScope:
    path = Path(file)
    if not path.is_file():
        raise InputError(f"inputs:{inner}: {file} is no file here.")
    text = read_python(path, file)
    tree = parse(text, file)
    if entry is not None:
        check_entry(tree, entry, file)
    elif not any(each.why_not is None for each in callables(tree)):
        raise InputError(f"inputs:{inner}: {file} defines no functions at its top that could be called.")
    first = Program(
        id=f"{file}::",
        code=text,
        filename=path.name,
        path=str(absolute(path).parent),
        source=file,
        date=modified(path),
        extra={"file": str(absolute(path))},
    )
    found = File(file, first, path.name, path, entry, text, tree)
    return SearchScope(iter([found]), several=False)


def _folder(folder: str, *, tests: bool) -> SearchScope:
    files = list(python_files(Path(folder)))
    if not files:
        raise InputError(f"inputs:{folder}: holds no .py files.")
    taken = [file for file in files if tests or not _is_test(file.relative_to(folder))]
    if not taken:
        raise InputError(f"inputs:{folder}: holds files of tests only. inputs,tests=yes:{folder} takes them.")
    return SearchScope(_files(Path(folder), taken), tests=len(files) - len(taken))


def _files(folder: Path, files: list[Path]) -> Iterator[File]:
    seen: set[str] = set()
    for file in files:
        module, root = import_name(file)
        below = os.path.relpath(root, folder.resolve())
        name = module if below.startswith(".") else f"{Path(below).as_posix()}/{module}"
        if name in seen:  # pkg.py beside pkg/__init__.py
            name = str(file.relative_to(folder))
        seen.add(name)
        yield module_file(file, str(file), module, name, origin_of_file(file, str(file), root))


def _module(name: str, entry: str | None, *, tests: bool) -> SearchScope:
    try:
        file = find_source(name, [])
    except InputError as error:
        raise InputError(f"inputs:{error}") from None
    if file.name != "__init__.py" or entry is not None:
        found = replace(module_file(file, str(file), name, name, origin_of_module(name, file)), only=entry)
        if entry is not None and found.tree is not None:
            check_entry(found.tree, entry, str(file))
        return SearchScope(iter([found]), several=entry is None)
    top = file.parent
    files = [each for each in python_files(top) if tests or not _is_test(each.relative_to(top))]
    skipped = sum(1 for _ in python_files(top)) - len(files)

    def all_of() -> Iterator[File]:
        for each in files:
            below = each.relative_to(top).with_suffix("").parts
            module = ".".join([name, *(below[:-1] if below[-1] == "__init__" else below)])
            yield module_file(each, str(each), module, module, origin_of_module(module, each))

    return SearchScope(all_of(), tests=skipped)


def _is_test(file: Path) -> bool:
    stem = file.stem
    return (
        bool({"test", "tests"} & set(file.parts[:-1]))
        or stem.startswith("test_")
        or stem.endswith("_test")
        or stem in ("conftest", "tests")
    )


def module_file(file: Path, shown: str, module: str, name: str, origin: Origin) -> File:
    """A file that is imported by its name, or by its path where it is in no package."""
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
    found = File(shown, first, label, file)
    try:
        text = read_python(file, shown)
        tree = parse(text, shown)
    except InputError as error:
        return replace(found, why=str(error).splitlines()[0].removeprefix(f"{shown}:").strip())
    own = [module.partition(".")[0], *_siblings(tree, origin.path)]
    extra |= {"arguments": "literal", "alone": True, "own": own}
    return replace(found, text=text, tree=tree, first=replace(first, extra=extra))


def _siblings(tree: ast.Module, root: str | None) -> list[str]:
    """Modules that a file imports and that stand beside it."""
    if root is None:
        return []
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(dict.fromkeys(alias.name.partition(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names[node.module.partition(".")[0]] = None
    return [
        name
        for name in names
        if name not in sys.stdlib_module_names
        and (Path(root, f"{name}.py").is_file() or Path(root, name, "__init__.py").is_file())
    ]


def _with_known(found: Iterator[Program], inner: str) -> Iterator[Target]:
    some = False
    for (code, entry), calls in groupby(found, key=lambda program: (program.code, program.entry)):
        group = [program for program in calls if program.mode is Mode.CALL]
        if group and code and entry:
            some = True
            first = replace(group[0], expected=None)
            known = tuple(program.arguments for program in group if program.arguments is not None)
            yield Target(first.source, first, code, first.filename, function_node(code, entry), known)
    if not some:
        raise InputError(f"inputs:{inner}: has no calls of functions.")


def function_node(code: str, entry: str) -> Definition | None:
    """The definition that an entry names, ``Class.method`` too; None where it is made at run time."""
    body = parse(code, entry).body
    found: ast.stmt | None = None
    for name in entry.split("."):
        found = defined(body).get(name)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


# -- what a module holds when it has been imported ----------------------------------------------------

_ASK = """


def _deskcheck_there(names):
    import builtins as b
    import types as t

    here, found = b.globals(), {}
    for name in names:
        first, *rest = name.split(".")
        value = here.get(first, b)
        for part in rest:
            value = b.getattr(value, part, b)
        for _ in b.range(20):
            inner = b.getattr(value, "__wrapped__", None) or b.getattr(value, "__func__", None)
            if inner is None:
                break
            value = inner
        code = b.getattr(value, "__code__", None)
        if value is b or not b.callable(value):
            found[name] = ("absent", 0)
        elif b.isinstance(code, t.CodeType):
            kind = "frozen" if code.co_filename.startswith("<frozen") else "function"
            found[name] = (kind, code.co_firstlineno)
        elif b.isinstance(value, (t.BuiltinFunctionType, t.MethodDescriptorType)):
            found[name] = ("compiled", 0)
        else:
            found[name] = ("callable", 0)
    return here.get("__file__"), found
"""
_NOTHING = "_deskcheck_imported"


def imported(file: File) -> Program:
    """A program that only imports a file."""
    code = f"{file.first.code}\n\ndef {_NOTHING}():\n    return None\n"
    return replace(file.first, code=code, mode=Mode.CALL, entry=_NOTHING, arguments="()")


_WHY = {
    "absent": "not there when its module is imported",
    "compiled": "a compiled function has taken its place",
    "frozen": "frozen into the interpreter, which does not show its lines",
}


def targets_in(file: File, run: Run, *, methods: bool = False) -> list[Target | Passed]:
    """The functions of a file, in the order of the text, each to be tried or passed. run: in the sandbox.
    methods: whether they are tried, too: those whose object can be made by a class of the file."""
    if file.text is None or file.tree is None:
        return [Passed(file.shown, "", 0, file.why)]
    try:
        found = callables(file.tree, methods=methods)
    except RecursionError:
        return [Passed(file.shown, "", 0, "statements are nested too deeply")]
    if file.only is not None:
        found = [
            replace(each, why_not=None if each.why_not == PRIVATE else each.why_not)
            for each in found
            if each.name == file.only
        ]
        if not found:
            return [_made_at_run_time(file, file.only, run)]
    names = list(dict.fromkeys(each.name for each in found if each.why_not is None))
    there: Mapping[str, tuple[str, int]] | str = {}
    if names:
        there = _there(file, names, run)
    return [_target(file, each, found, there) for each in found]


def _made_at_run_time(file: File, entry: str, run: Run) -> Target | Passed:
    """An entry that no ``def`` of the text has: a star import, an inherited method."""
    there = _there(file, [entry], run)
    if isinstance(there, str):
        return Passed(file.shown, entry, 0, f"its module {there}")
    kind, _ = there[entry]
    if kind in _WHY:
        return Passed(file.shown, entry, 0, _WHY[kind])
    return Target(file.shown, _call(file, entry), file.text or "", file.label, None)


def _call(file: File, entry: str) -> Program:
    return replace(file.first, id=f"{file.first.id}{entry}", mode=Mode.CALL, entry=entry, arguments="()")


def _target(
    file: File, one: Callable_, found: list[Callable_], there: Mapping[str, tuple[str, int]] | str
) -> Target | Passed:
    def passed(why: str) -> Passed:
        return Passed(file.shown, one.name, one.node.lineno, why)

    if one.why_not is not None:
        return passed(one.why_not)
    if isinstance(there, str):
        return passed(f"its module {there}")
    kind, line = there[one.name]
    if kind in _WHY:
        return passed(_WHY[kind])
    same = [each for each in found if each.name == one.name]
    meant = next((each for each in same if kind == "function" and each.first_line == line), same[-1])
    if one is not meant:
        return passed("its name is another function's when its module is imported")
    program = _call(file, one.name)
    if file.first.module is not None:
        program = replace(program, extra={**program.extra, "line": one.node.lineno})
    if is_method(one):
        assert file.tree is not None
        receiver = receiver_of(file.tree, one.name.rpartition(".")[0])
        if receiver is None:
            return passed("its object is not made by code of its file")
        if not (one.node.args.posonlyargs or one.node.args.args):
            return passed("its first parameter is not its object")
        node = without_object(one.node)
        return Target(file.shown, program, file.text or "", file.label, node, receiver=receiver)
    return Target(file.shown, program, file.text or "", file.label, one.node)


def _there(file: File, names: list[str], run: Run) -> Mapping[str, tuple[str, int]] | str:
    """What each name holds: ``function`` and its line, ``callable``, or one of `_WHY`. A text, the reason,
    where the module cannot be imported."""
    ask = replace(
        file.first,
        code=file.first.code + _ASK,
        mode=Mode.CALL,
        entry="_deskcheck_there",
        arguments=f"({names!r},)",
    )
    run_result = run(ask)
    if run_result.outcome is not Outcome.RETURNED:
        return why_not_imported(run_result)
    try:
        where, found = ast.literal_eval(run_result.result or "")
        said = {str(name): (str(kind), int(line)) for name, (kind, line) in found.items()}
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError):
        return "does not let itself be looked at"
    if not said.keys() >= {*names}:
        return "does not let itself be looked at"
    if file.first.module is not None and not _same(where, file.path):
        return f"is hidden by another of its name: {where}"
    return said


def _same(where: Any, path: Path) -> bool:
    try:
        return isinstance(where, str) and os.path.samefile(where, path)
    except (OSError, ValueError):
        return False


def why_not_imported(run_result: RunResult) -> str:
    """In words, after "its module"."""
    said = " ".join(run_result.detail.split())[:200]
    match run_result.outcome:
        case Outcome.RAISED:
            return f"cannot be imported: {said or run_result.exception}"
        case Outcome.EXITED:
            return f"ends the interpreter when it is imported, with status {run_result.exit_status}"
        case Outcome.TIMED_OUT:
            return "does not end when it is imported"
    return f"cannot be imported: {run_result.outcome.value}: {said}".rstrip(": ")
