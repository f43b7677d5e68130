"""The normalised trace of a program is the same on every supported Python, but for what is named here.

Each program runs under every CPython of 3.11, 3.12 and 3.13 that is found. Compared are all columns of
all events but `offset`, `caller.offset` and `caller.at`, which count bytecode; and the numbers of objects.
"""

import functools
import itertools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from deskcheck import tracer
from deskcheck.recording import Row, block
from deskcheck.recording.comparison import tracers
from deskcheck.recording.program import Mode, Program
from deskcheck.sandbox import Tracing, run
from deskcheck.sources import programs
from tests.sample import spread

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "programs").glob("*.py"))
SHARED = Path(os.environ.get("DESKCHECK_SHARED", ROOT.parent / "shared")) / "data"
CRUXEVAL = SHARED / "cruxeval" / "cruxeval_600.jsonl"

LINES = "3.12 and 3.13 give other lines to parts of conditions, `with` and calls that go over several lines"
GENERATORS = "3.13 gives the `for` of a generator expression over several lines the line it stands on"
MESSAGES = "the text of an exception was changed"
LIBRARY = "a library module, its docstrings or its internals differ"
CLASS_BODIES = "3.13 puts __firstlineno__ and __static_attributes__ into the namespace of a class"
THROWN_IN = "3.11 takes what is awaited off the value stack when an exception is thrown in"
EXCEPT_STAR = "what `except*` keeps on the value stack (gh-99153 and later)"
F_STRINGS = "PEP 701: f-strings are compiled in other steps, with other positions"
SORTS = "3.13 compares in another order when it sorts (gh-116554)"
KEPT_FRAMES = "3.13 finalises what a kept frame holds at another moment (PEP 667)"
RECURSION = "how many frames fit under the recursion limit, at which the reference tracer ends"
PROPERTY_NAMES = "properties have a __name__ from 3.13 on, which class methods around them copy"
MONITORING = "sys.monitoring is there from 3.12 on"
HOOKS = "the program shows our trace function, or what a profiler sees of comprehensions (PEP 709)"
OUTSIDE = "clocks, process ids, threads, the collector or paths decide: no two runs are the same"

LONG = {"limits_crossed"}
"""Takes half a minute on three Pythons."""
DIFFERENCES = {
    "threads_left_running": OUTSIDE,
    "threads_errors": OUTSIDE,
    "process_signals": OUTSIDE,
    "process_multiprocessing": OUTSIDE,
    "process_closes_descriptors": OUTSIDE,
    "process_changes_directory": OUTSIDE,
    "coroutine_asyncio_queue": OUTSIDE,
    "callback_changes_container": SORTS,
    "class_abstract": MESSAGES,
    "class_body_namespaces": CLASS_BODIES,
    "class_metaclass": CLASS_BODIES,
    "class_slots": MESSAGES,
    "class_with_library_code": LIBRARY,
    "comprehension_class_body": CLASS_BODIES,
    "context_classes": LINES,
    "control_conditions": LINES,
    "coroutine_async_generators": THROWN_IN,
    "coroutine_asyncio": LIBRARY,
    "coroutine_asyncio_errors": THROWN_IN,
    "coroutine_by_hand": THROWN_IN,
    "exception_groups": EXCEPT_STAR,
    "exception_uncaught_chain": LIBRARY,
    "exec_and_eval": LIBRARY,
    "exit_syntax_error_inside": MESSAGES,
    "frame_kept": KEPT_FRAMES,
    "fstrings": F_STRINGS,
    "function_decorators": LIBRARY,
    "function_functools": LIBRARY,
    "function_recursion_limit": RECURSION,
    "function_recursion_limit_low": RECURSION,
    "gc_callbacks": OUTSIDE,
    "generator_closed_in_yield_from": THROWN_IN,
    "generator_yield_from_throw": THROWN_IN,
    "import_pickle_main": OUTSIDE,
    "import_runpy": LIBRARY,
    "library_generator_calls_back": LIBRARY,
    "library_unittest": LIBRARY,
    "lines_chained_calls": LINES,
    "lines_many_expressions": F_STRINGS,
    "locals_of_frames": HOOKS,
    "modules_forgotten": LIBRARY,
    "monitoring_user": MONITORING,
    "process_fork": OUTSIDE,
    "process_fork_falls_through": OUTSIDE,
    "process_subprocess": OUTSIDE,
    "profilers_of_the_library": OUTSIDE,
    "repr_hostile": RECURSION,
    "scope_class_bodies": CLASS_BODIES,
    "setprofile_user": HOOKS,
    "settrace_checks_itself": HOOKS,
    "subclass_descriptors_hostile": PROPERTY_NAMES,
    "threads_join": OUTSIDE,
    "threads_local": OUTSIDE,
    "threads_pool": OUTSIDE,
    "threads_take_turns": OUTSIDE,
    "weakref_callbacks": OUTSIDE,
}
"""Programs whose traces differ between versions, each with the interpreter's change behind it."""

CRUXEVAL_DIFFERENCES = {"sample_727": GENERATORS}
"""The rows of CRUXEval whose traces differ."""

JSON_COLUMNS = ("locals", "stack", "globals", "objects", "caller", "value")

UNSTEADY = frozenset({MONITORING, HOOKS, OUTSIDE, RECURSION, KEPT_FRAMES})
"""Reasons under which two versions may agree by chance, or for want of one of them."""


@functools.cache
def pythons() -> list[str]:
    """Interpreters of the supported versions that this machine has."""
    found = []
    for version in ("3.11", "3.12", "3.13"):
        ran = subprocess.run(
            [ROOT / "tools" / "find-python", version], capture_output=True, text=True, check=False
        )
        if ran.returncode == 0:
            found.append(ran.stdout.strip())
    return found


@functools.cache
def has_core(python: str) -> bool:
    """Whether the native core is built for an interpreter."""
    ask = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    suffix = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    return (Path(tracer.__file__).parent / f"_native{suffix}").exists()


def normalised(row: Row) -> Row:
    """An event without what counts bytecode."""
    columns = {name: json.loads(text) if (text := getattr(row, name)) else None for name in JSON_COLUMNS}
    if columns["caller"] is not None:
        columns["caller"]["offset"] = 0
        columns["caller"].pop("at", None)
    texts: dict[str, Any] = {
        name: re.sub(r"/(tmp|scratch)/[A-Za-z0-9_./-]+", "/tmp/...", json.dumps(column))
        for name, column in columns.items()
        if column is not None
    }
    return row._replace(offset=0, **texts)


def trace(program: Program, python: str) -> dict[int, list[Row]]:
    """Events by thread."""
    blocks: list[bytes] = []
    run(program, tracing=Tracing(blocks.append), python=python)
    found: dict[int, list[Row]] = {}
    for row in itertools.chain.from_iterable(map(block.rows, blocks)):
        found.setdefault(row.thread, []).append(normalised(row))
    return found


def first_difference(program: Program) -> str | None:
    """Where a trace first differs from that of the first version; None if all are the same. Numbers of objects may
    differ: where the native core is not built, objects have new ones after a call (docs/reference/format.md)."""
    first, *others = [trace(program, python) for python in pythons()]
    assert first, "a trace is empty"
    for python, other in zip(pythons()[1:], others, strict=True):
        may_split = not has_core(python)
        for thread in sorted(first.keys() | other.keys()):
            one, two = first.get(thread, []), other.get(thread, [])
            found = tracers.first_difference(one, two, may_split=may_split)
            if found is not None:
                return f"thread {thread}: {found}"
    return None


@pytest.fixture(autouse=True)
def _several_versions() -> None:
    if len(pythons()) < 2:
        pytest.skip("only one CPython here: would have proved that traces are the same on all")


@pytest.mark.parametrize(
    "path",
    [
        *spread([path for path in PROGRAMS if path.stem not in LONG], 120, 18),
        *(pytest.param(path, marks=pytest.mark.exhaustive) for path in PROGRAMS if path.stem in LONG),
    ],
    ids=lambda path: path.stem,
)
def test_a_program_has_one_trace(path: Path) -> None:
    """The trace is the same on every version; or the table says why not, and it is really not."""
    program = Program(id=path.stem, code=path.read_text(), mode=Mode.MODULE, filename=path.name)
    found = first_difference(program)
    if path.stem in DIFFERENCES and len(pythons()) == 3:
        assert found is not None or DIFFERENCES[path.stem] in UNSTEADY, (
            "no longer differs: take it from the table"
        )
    elif path.stem not in DIFFERENCES:
        assert found is None, found


@pytest.mark.parametrize(
    "every", [pytest.param(60, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)]
)
def test_cruxeval_has_one_trace(every: int) -> None:
    """Rows of CRUXEval have the same trace on every version, and those that are named have not."""
    if not CRUXEVAL.exists():
        pytest.skip("no CRUXEval in DESKCHECK_SHARED or ../shared: would have proved its traces the same")
    some = [
        program
        for number, program in enumerate(programs(f"cruxeval:{CRUXEVAL}"))
        if number % every == 0 or program.id in CRUXEVAL_DIFFERENCES
    ]
    found = {program.id: first_difference(program) for program in some}
    different = {name: where for name, where in found.items() if where is not None}
    expected = {name for name in CRUXEVAL_DIFFERENCES if name in found} if len(pythons()) == 3 else set()
    assert set(different) == expected, different
