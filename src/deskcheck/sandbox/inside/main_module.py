"""The main module of a program that is a module, archive or folder: ``python -m``, ``python app.pyz``.

`deskcheck run` and the sandbox start it by the same function. Standard library only.
"""

import runpy
from collections.abc import Callable, Mapping
from typing import Any

from deskcheck.tracer import outermost

MODULE, CONTAINED = "module", "contained"
"""Forms of a program, in ``Program.extra["run"]``: a module by its name; the ``__main__.py`` in an archive or
folder."""

WITH_MODULES = "with_modules"
"""Key of `Program.extra` for a script that is recorded with the modules of its folder."""


def is_main_module(extra: Mapping[str, Any]) -> bool:
    """Whether a program with this `Program.extra` is started by `run_main_module`."""
    return extra.get("run") in (MODULE, CONTAINED)


def run_main_module(name: str | None, start: Callable[[str], None]) -> None:
    """Run a module as `python -m` does, or for None the ``__main__`` in the first entry of the import path.

    start: called with the main module's file when that has been found, so imports of its parent packages are
    not recorded.
    """
    finder = "_get_main_module_details" if name is None else "_get_module_details"
    find = getattr(runpy, finder)

    def find_and_start(*args: Any) -> Any:
        setattr(runpy, finder, find)
        details = find(*args)
        start(details[2].co_filename)
        return details

    setattr(runpy, finder, find_and_start)
    arguments = ("__main__", False) if name is None else (name,)
    outermost.call(None, runpy._run_module_as_main, *arguments)  # type: ignore[attr-defined]
