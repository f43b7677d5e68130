"""The observer changes nothing, at scale: tests that others wrote come out as they do without the tracer.

    python -m tests.observer.suites stdlib [NAME...]     modules of CPython's own test suite
    python -m tests.observer.suites package FOLDER...    unpacked source distributions, by pytest

        --python EXE    the interpreter (this one); it needs the `test` package, for packages pytest
        --how HOW...    what is compared with a run without a tracer (run test):
                        "run": one tracer from before the test module is loaded to the last test
                        "test": a tracer of its own for every test
        --only-tests    trace the files with tests alone, not the library that they test
        --events N      of one tracer; after that the program runs on unrecorded (run: 200,000, test: 5,000)
        --timeout S     for one process (300)
        --malloc NAME   PYTHONMALLOC, such as debug
        --json FILE     append a row for every run to FILE

Each module runs in a process of its own, with PYTHONHASHSEED=0, once without and once with the tracer. The
outcomes of all tests and subtests are compared. Where they differ, both runs are made again: what differs
between two runs without a tracer is unsteady, what differs in one pair of runs only is shown as "once" (neither
fails the comparison); what is left must be in KNOWN, which says why it stays. The
exit status is 1 if anything else differs, a process crashes, the tracer fails or there was no test.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"

STDLIB: dict[str, str] = {
    # what the test modules are called: the library in Python that they test, traced too
    "heapq": "heapq",
    "bisect": "bisect",
    "itertools": "",
    "collections": "collections collections.abc",
    "deque": "",
    "generators": "",
    "coroutines": "",
    "asyncgen": "",
    "exceptions": "",
    "exception_group": "",
    "raise": "",
    "dataclasses": "dataclasses",
    "re": "re",
    "json": "json",
    "decimal": "_pydecimal",
    "functools": "functools",
    "contextlib": "contextlib",
    "contextlib_async": "contextlib",
    "dict": "",
    "list": "",
    "set": "",
    "tuple": "",
    "string": "string",
    "textwrap": "textwrap",
    "statistics": "statistics",
    "fractions": "fractions",
    "enum": "enum",
    "copy": "copy",
    "operator": "operator",
    "queue": "queue",
    "random": "random",
    "typing": "typing",
    "types": "types",
    "weakref": "weakref",
    "weakset": "_weakrefset",
    "with": "",
    "iter": "",
    "call": "",
    "scope": "",
    "super": "",
    "descr": "",
    "class": "",
    "metaclass": "",
    "property": "",
    "grammar": "",
    "unpack": "",
    "unpack_ex": "",
    "extcall": "",
    "genexps": "",
    "listcomps": "",
    "setcomps": "",
    "dictcomps": "",
    "named_expressions": "",
    "patma": "",
    "range": "",
    "slice": "",
    "userdict": "collections",
    "abc": "_py_abc",
    "ordered_dict": "collections",
    "graphlib": "graphlib",
    "difflib": "difflib",
    "reprlib": "reprlib",
    "pprint": "pprint",
    "shlex": "shlex",
    "keywordonlyarg": "",
    "decorators": "",
    "dynamic": "",
    "global": "",
    "format": "",
    "fstring": "",
    "sort": "",
    "traceback": "traceback",
    "inspect": "inspect",
    "threading_local": "_threading_local",
    "context": "",
    "asyncio.test_tasks": "asyncio.tasks",
    "asyncio.test_queues": "asyncio.queues",
    "asyncio.test_locks": "asyncio.locks",
    "asyncio.test_futures": "asyncio.futures",
    "asyncio.test_taskgroups": "asyncio.taskgroups asyncio.timeouts",
}

_WEAK = (
    "an object is told from a later one at its address by a weak reference, which weakref can count and list"
)

ADDRESS = re.compile(r"0x[0-9a-f]+")
"""Subtests are called by values, whose texts may tell where they lie."""

_SPECIALISED = (
    "leaves 10 calls to the limit on recursion; a trace function, one in C that does nothing too, keeps 3.11 from its specialised "
    "instructions, which take fewer"
)

KNOWN: dict[str, str] = {
    "test.test_exceptions.ExceptionTests.test_recursion_in_except_handler*": _SPECIALISED,
    "test.test_weakref.*.test_getweakref*": _WEAK,
    "test.test_weakref.MappingTestCase.test_weak_*": _WEAK,
    "tests/test_debugutils_trace.py::test_trace_*": _WEAK + "; boltons wraps it as an attribute",
    "test.test_descr.ClassPropertiesAndMethods.test_slots": "counts all objects of the process, ours among them",
}
"""Tests (patterns of their ids) that a tracer cannot leave alone, and why."""


@dataclass
class Run:
    """What came of one process."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    details: dict[str, str] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    crash: str = ""
    seconds: float = 0.0


def environment(malloc: str | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    more = {
        "PYTHONPATH": str(SOURCE),
        "PYTHONHASHSEED": "0",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return kept | more | ({"PYTHONMALLOC": malloc} if malloc else {})


def run_to_end(command: Sequence[str], timeout: float, **how: Any) -> int | None:
    """The exit status of a process, or None if its time was up; what it has started ends with it. how: as of
    `subprocess.Popen`."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **how)
    try:
        return child.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run_steadily(command: Sequence[str], timeout: float, **how: Any) -> None:
    """As `run_to_end`, with the same addresses each time: a set of classes is in their order. What it prints
    is dropped."""
    fixed = [setarch, "-R"] if (setarch := shutil.which("setarch")) else []
    run_to_end([*fixed, *command], timeout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


def run_module(python: str, request: dict[str, Any], timeout: float, malloc: str | None) -> Run:
    """One process; its working folder is a new one."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told, work = Path(folder, "request"), Path(folder, "result"), Path(folder, "work")
        asked.write_text(json.dumps(request))
        work.mkdir()
        if "pytest" in request:
            command = [*request["pytest"], "-p", "no:cacheprovider", "-o", "addopts="]
            work = Path(request["folder"])
        else:
            command = [str(HERE / "_child.py"), str(asked), str(told)]
        variables = environment(malloc) | {"OBSERVER_REQUEST": str(asked), "OBSERVER_RESULT": str(told)}
        variables["PYTHONPATH"] += "".join(os.pathsep + path for path in request.get("path", ()))
        begun = time.monotonic()
        with open(Path(folder, "said"), "w+") as said:
            status = run_to_end(
                [python, *command], timeout, cwd=work, env=variables, stdout=said, stderr=said
            )
        result = Run(seconds=time.monotonic() - begun)
        begun_test = ""
        for text in told.read_text().splitlines() if told.exists() else ():
            row = json.loads(text)
            if "outcome" in row:
                result.outcomes[ADDRESS.sub("0x-", row["id"]), ADDRESS.sub("0x-", row["outcome"])] += 1
            elif "detail" in row:
                result.details[ADDRESS.sub("0x-", row["detail"])] = row["text"]
            elif "begun" in row:
                begun_test = row["begun"]
            else:
                result.summary = row
        if "end" not in result.summary:
            tail = Path(folder, "said").read_text(errors="replace")[-3000:]
            result.crash = (
                f"ended by {'timeout' if status is None else status} in {begun_test or 'no test'}\n{tail}"
            )
        return result


def different(plain: Run, traced: Run) -> set[str]:
    """Ids of the tests that came out otherwise."""
    one, other = plain.outcomes, traced.outcomes
    return {id for id, _ in ((one - other) + (other - one))}


def known(id: str) -> str | None:
    return next((why for pattern, why in KNOWN.items() if fnmatchcase(id, pattern)), None)


def observe(python: str, name: str, request: dict[str, Any], args: argparse.Namespace) -> bool:
    """Compare the runs of one module; whether nothing differs that is not known."""

    def again(how: str) -> Run:
        limits = {"run": args.events or 200_000, "test": args.events or 5_000, "off": 0}
        return run_module(python, request | {"how": how, "events": limits[how]}, args.timeout, args.malloc)

    plain = again("off")
    fine = True
    for how in args.how:
        traced = again(how)
        found = different(plain, traced)
        unsteady: set[str] = set()
        once: set[str] = set()
        if found and not plain.crash and not traced.crash:
            second, third = again("off"), again(how)
            unsteady = different(plain, second)
            once = found - different(second, third) - unsteady
            found = found & different(second, third) - unsteady
        new = {id for id in found if known(id) is None}
        failures = traced.summary.get("failures", [])
        crashed = bool(traced.crash) != bool(plain.crash)
        good = bool(plain.outcomes) and not (new or failures or crashed)
        fine = fine and good
        row = {
            "name": name,
            "how": how,
            "tests": sum(plain.outcomes.values()),
            "different": sorted(new),
            "known": sorted(found - new),
            "unsteady": sorted(unsteady),
            "once": sorted(once),
            "plain_s": round(plain.seconds, 1),
            "traced_s": round(traced.seconds, 1),
            "bytes": traced.summary.get("bytes"),
            "starts": traced.summary.get("starts"),
            "cuts": traced.summary.get("cuts"),
            "failures": failures,
            "crash": traced.crash,
        }
        cuts = ", ".join(f"{why or 'whole'} {n}" for why, n in (row["cuts"] or {}).items())
        print(
            f"{'ok  ' if good else 'DIFF'} {name:24} {how:4} {row['tests']:6,} tests, {len(new)} different, "
            f"{len(row['known'])} known, {len(unsteady)} unsteady, {len(once)} once; {plain.seconds:.1f} s, {traced.seconds:.1f} s; "
            f"{row['bytes'] or 0:,} bytes ({cuts})",
            flush=True,
        )
        for id in sorted(new) if not traced.crash else ():
            outcomes = [sorted(o for i, o in run.outcomes if i == id) for run in (plain, traced)]
            print(f"     {id}: {outcomes[0]} without, {outcomes[1]} with")
            print("       | " + traced.details.get(id, "").replace("\n", "\n       | "))
        for failure in failures:
            print(f"     the tracer failed: {failure}")
        if (plain.crash and not traced.crash) or traced.crash:
            print(f"     without: {plain.crash or 'fine'}\n     with: {traced.crash or 'fine'}")
        if args.json:
            with open(args.json, "a") as out:
                out.write(json.dumps(row) + "\n")
    return fine


def packages(folder: Path) -> dict[str, Any]:
    """A request for the tests of a source distribution."""
    where = [folder / "src"] if (folder / "src").is_dir() else [folder]
    tests = [path for path in (folder / "tests", folder / "test") if path.is_dir()]
    lone = [path for path in folder.glob("test*.py") if path.is_file()]
    inner = [path for path in where[0].glob("*/tests") if path.is_dir() and path not in tests]
    return {
        "folder": str(folder),
        "path": [str(where[0]), str(HERE)],
        "pytest": ["-m", "pytest", "-q", "-p", "_plugin", *map(str, tests or lone or inner)],
        "files": [str(path) for path in folder.rglob("*.py")],
        "tests": [
            str(path)
            for place in (*tests, *lone, *inner)
            for path in ([place] if place.is_file() else place.rglob("*.py"))
        ],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("stdlib", "package"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--how", nargs="+", choices=("run", "test"), default=["run", "test"])
    parser.add_argument("--only-tests", action="store_true")
    parser.add_argument("--events", type=int)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--malloc")
    parser.add_argument("--json")
    args = parser.parse_args(arguments)
    fine = True
    for name in args.names or (STDLIB if args.kind == "stdlib" else ()):
        if args.kind == "stdlib":
            head, _, tail = name.rpartition(".")
            module = f"test.test_{head}.{tail}" if head else f"test.test_{name}"
            libraries = [] if args.only_tests else STDLIB.get(name, "").split()
            request: dict[str, Any] = {"module": module, "libraries": libraries}
        else:
            request = packages(Path(name).resolve())
            name = Path(name).name
            if args.only_tests:
                request["files"] = request["tests"]
        fine = observe(args.python, name, request, args) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
