"""The start of an interpreter with its packages' folders, in two halves: first paths, then code.

`site` extends the import path by ``.pth`` files, runs their lines that begin with ``import``, and imports
`sitecustomize`: code of whoever wrote a package. So a server of an environment starts with ``-S`` and calls
`add_paths`, which runs nothing; `run_code` runs where programs run, confined and under their limits. In the
caller's own interpreter all of it has run already.
"""

import ctypes
import importlib.util
import site
import sys
import traceback
from typing import Any, NamedTuple


class _File(NamedTuple):
    """Lines of code in a file, and its folder. `site` may look at one twice: then there are two."""

    folder: str
    name: str
    lines: list[str]


_files: list[_File] = []
_states: list[Any] = []
"""From 3.15 on (PEP 829) `site` keeps what it has read in a state of its own, whose methods run it."""
_customized = False
"""Whether there is a `sitecustomize` to import."""


def add_paths() -> None:
    """Do what `site` does when an interpreter starts, but run nothing of what lies in its folders."""
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
    """Whether `add_paths` has left something to run."""
    return bool(_files or _states or _customized)


def run_code() -> list[str]:
    """Run what `add_paths` has left; return the names of modules that this brought. A second call does none.

    As in `site`, what goes wrong in a line is told on standard error, and the rest of its file is left out.
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
    """Run lines of a file. Those that setuptools wrote look for `sitedir` in the frame that calls them."""
    try:
        for line in lines:
            exec(line)
    except Exception:  # noqa: BLE001 (as `site` does: the interpreter starts nevertheless)
        print(f"Error in {sitedir}/{name}, the rest of which is left out:", file=sys.stderr)
        traceback.print_exc()


def _nothing() -> None:
    pass


def _say_that_there_is_site() -> None:
    """Have `sys.flags` say what is so again. `multiprocessing` and `subprocess` hand on what it says."""
    position = type(sys.flags).__match_args__.index("no_site")
    number = ctypes.py_object(0)
    ctypes.pythonapi.Py_IncRef(number)  # the next call takes a reference
    ctypes.pythonapi.PyStructSequence_SetItem(ctypes.py_object(sys.flags), ctypes.c_ssize_t(position), number)
