"""The start of an interpreter with the folders of its packages, in two steps: first paths, then code.

`site` extends the import path by ``.pth`` files, runs their lines that begin with ``import``, and imports
`sitecustomize`. That is code by authors of packages. So a server of an environment starts with ``-S`` and
calls `add_paths`, which runs no such code. `run_code` runs it in the processes of programs, confined and
under their limits. In the caller's own interpreter, it has run already.
"""

import ctypes
import importlib.util
import site
import sys
import traceback
from typing import Any, NamedTuple


class _File(NamedTuple):
    """The lines of code in a file, and its folder. If `site` reads a file twice, it occurs twice."""

    folder: str
    name: str
    lines: list[str]


_files: list[_File] = []
_states: list[Any] = []
"""States of `site`, which from 3.15 on (PEP 829) contain the lines and have methods to run them."""
_customized = False
"""Whether `sitecustomize` exists."""


def add_paths() -> None:
    """Extend the import path like `site` at the start of an interpreter, but run no code in its folders."""
    global _customized

    if not sys.flags.no_site:
        return
    module: Any = site
    custom = module.execsitecustomize
    module.execsitecustomize = _nothing
    try:
        if sys.version_info >= (3, 15):
            _read_states(module)
        else:
            _read_files(module)
    finally:
        module.execsitecustomize = custom
    _customized = importlib.util.find_spec("sitecustomize") is not None
    _say_that_there_is_site()


def _read_files(module: Any) -> None:
    read = module.addpackage

    def addpackage(sitedir: str, name: str, known_paths: set[str] | None) -> Any:
        _files.append(_File(sitedir, name, []))
        return read(sitedir, name, known_paths)

    module.addpackage = addpackage
    module.exec = lambda line: _files[-1].lines.append(line)  # which `read` finds before the builtin
    try:
        module.main()
    finally:
        del module.exec
        module.addpackage = read
    _files[:] = [file for file in _files if file.lines]


def _read_states(module: Any) -> None:
    kind = module.StartupState
    runs = {name: getattr(kind, name) for name in _RUNS}

    def later(state: Any) -> None:
        if state._importexecs or state._entrypoints:
            _states.append(state)

    kind._exec_imports, kind._execute_start_entrypoints = later, lambda state: None
    try:
        module.main()
    finally:
        for name, method in runs.items():
            setattr(kind, name, method)


_RUNS = ("_exec_imports", "_execute_start_entrypoints")


def has_code() -> bool:
    """Whether `add_paths` has found code to run."""
    return bool(_files or _states or _customized)


def run_code() -> list[str]:
    """Run the code that `add_paths` found; return the names of modules that it loaded.

    A second call does nothing. Like in `site`, an error in a line is printed to standard error, and the later
    lines of its file are skipped.
    """
    global _customized
    if not has_code():
        return []
    modules, paths = len(sys.modules), len(sys.path)
    for file in _files:
        _run(*file)
    _files.clear()
    for state in _states:
        for name in _RUNS:
            getattr(state, name)()
    _states.clear()
    if _customized or len(sys.path) != paths:
        site.execsitecustomize()
    _customized = False
    return list(sys.modules)[modules:]


def _run(sitedir: str, name: str, lines: list[str]) -> None:
    """Run lines of a file. Lines by setuptools read `sitedir` from this frame."""
    try:
        for line in lines:
            exec(line)
    except Exception:  # noqa: BLE001 (as `site` does: the interpreter starts nevertheless)
        print(f"Error in {sitedir}/{name}, the rest of which is left out:", file=sys.stderr)
        traceback.print_exc()


def _nothing() -> None:
    pass


def _say_that_there_is_site() -> None:
    """Set `sys.flags.no_site` to 0, because `multiprocessing` and `subprocess` pass it on."""
    position = type(sys.flags).__match_args__.index("no_site")
    number = ctypes.py_object(0)
    ctypes.pythonapi.Py_IncRef(number)  # the next call takes a reference
    ctypes.pythonapi.PyStructSequence_SetItem(ctypes.py_object(sys.flags), ctypes.c_ssize_t(position), number)
