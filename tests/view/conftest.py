"""Real recordings for the page: each program is made to show one thing."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.tracer import Granularity
from tests.conftest import unmeasured

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("DESKCHECK_SHARED") or REPOSITORY.parent / "shared") / "data"

HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"

PROGRAMS = {
    "recursion": (
        "fib",
        "(6)",
        "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n",
    ),
    "generator": (
        "total",
        "(7)",
        (
            "def evens(limit):\n    for number in range(limit):\n        if number % 2 == 0:\n            yield number\n\n\n"
            "def total(limit):\n    found = 0\n    for number in evens(limit):\n        found += number\n"
            "        print('found', found)\n    return found\n"
        ),
    ),
    "exception": (
        "outer",
        "([4, 2, 0])",
        (
            "def inner(n):\n    return 8 // n\n\n\ndef middle(numbers):\n    return [inner(n) for n in numbers]\n\n\n"
            "def outer(numbers):\n    try:\n        return middle(numbers)\n    except ZeroDivisionError as error:\n"
            "        kept = error\n        return str(kept)\n"
        ),
    ),
    "aliasing": (
        "share",
        "()",
        (
            "def share():\n    row = [0, 0]\n    grid = [row, row]\n    names = {'row': row, 'set': {1, 2}}\n    row[0] = 1.0\n"
            "    row.append(2**80)\n    grid.append(grid)\n    del names['set']\n    return grid\n"
        ),
    ),
    "loop": (
        "count",
        "(3200)",
        (
            "def count(n):\n    seen = []\n    for i in range(n):\n        seen.append(i)\n        if len(seen) > 9:\n"
            "            seen = seen[5:]\n    return seen\n"
        ),
    ),
    "threads": (
        "main",
        "()",
        (
            "import threading\n\n\ndef work(number, into):\n    for i in range(3):\n        into.append(i * number)\n\n\n"
            "def main():\n    found = []\n    other = threading.Thread(target=work, args=(7, found))\n"
            "    other.start()\n    other.join()\n    return found\n"
        ),
    ),
    "large": (
        "fill",
        "()",
        (
            "def fill():\n    text = 'abc ' * 100\n    row = list(range(300))\n    names = {f'key {i}': i for i in range(60)}\n"
            "    return len(text) + len(row) + len(names)\n"
        ),
    ),
    "closure": (
        "outer",
        "(3)",
        (
            "def outer(n):\n    calls = []\n\n    def index():\n        calls.append(n)\n        return len(calls) - 1\n\n"
            "    values = [n, n]\n    values[index()] += 100\n    return values\n"
        ),
    ),
    "texts": (
        "build",
        "()",
        (
            "class Note:\n    pass\n\n\ndef last(text):\n    return text[-1]\n\n\ndef build():\n    note = Note()\n"
            "    note.text = text = 'ab' * 40\n    for part in 'c\\N{SNOWMAN}\\N{GRINNING FACE}d':\n        text += part\n"
            "        text = part + text[:50] + text[51:]\n        note.text = part + note.text\n"
            "        last(text := text + part)\n    text *= 200\n    return text[:-1]\n"
        ),
    ),
    "hostile": (
        "f",
        "()",
        (
            f"def f():\n    html = {HOSTILE!r}\n    bidi = 'a\\u202eb\\u200bc\\ufeff'\n    lone = '\\udc80 \\ud800'\n    long = '<b>' * 500_000\n"
            "    held = {html: bidi, '__proto__': [1], 'constructor': 2}\n    namespace = {}\n"
            "    exec('def g():\\n    locals()\\n', namespace)\n    print(html, bidi, lone.encode('ascii', 'replace'))\n"
            "    raise ValueError(html)\n# \u202e</script><!-- \u200b\n"
        ),
    ),
}


def _program(name: str) -> Program:
    entry, arguments, code = PROGRAMS[name]
    return Program(
        id=name,
        code=code,
        mode=Mode.CALL,
        filename=f"{name}.py",
        entry=entry,
        arguments=arguments,
        source="test",
    )


def _cruxeval() -> list[Program]:
    path = SHARED / "cruxeval" / "cruxeval_600.jsonl"
    if not path.exists():
        return []
    row = json.loads(path.read_text().splitlines()[0])
    return [
        Program(
            id="cruxeval",
            code=row["code"],
            mode=Mode.CALL,
            filename="crux.py",
            entry="f",
            arguments=f"({row['input']})",
            source="cruxeval",
        )
    ]


class Folder:
    """A folder of recordings, one by the name of each program; `read` skips where the shared set is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recordings = Recordings(path)

    def read(self, name: str) -> Recording:
        if name not in self.recordings:
            pytest.skip(
                "no CRUXEval here (DESKCHECK_SHARED): would have proved that a published program is shown"
            )
        return self.recordings[name]


def _recorded(folder: Path, programs: list[Program], granularity: Granularity) -> Folder:
    record_programs(
        programs,
        folder,
        RecordSettings(granularity=granularity, repeat=False, sandbox=Confinement.TRUSTED),
        workers=1,
    )
    return Folder(folder)


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Every program, and one of CRUXEval, line by line."""
    programs = [*map(_program, PROGRAMS), *_cruxeval()]
    return _recorded(tmp_path_factory.mktemp("lines"), programs, Granularity.LINE)


@pytest.fixture(scope="session")
def instructions(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Some of them, instruction by instruction."""
    programs = [_program("generator"), _program("aliasing")]
    return _recorded(tmp_path_factory.mktemp("instructions"), programs, Granularity.INSTRUCTION)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A call that goes through two files, recorded while a project's tests make it."""
    from deskcheck.recorder.settings import SuiteSettings
    from deskcheck.recorder.suite import find_suite, record_suite

    folder = tmp_path_factory.mktemp("project")
    (folder / "pyproject.toml").write_text("")
    (folder / "inner.py").write_text("def double(number):\n    twice = number * 2\n    return twice\n")
    (folder / "outer.py").write_text(
        "from inner import double\n\n\ndef both(one, other):\n    first = double(one)\n    return first + double(other)\n"
    )
    (folder / "test_outer.py").write_text(
        "from outer import both\n\n\ndef test_both():\n    assert both(1, 2) == 6\n"
    )
    out = folder / "runs"
    with unmeasured():
        record_suite(find_suite(f"pytest:{folder}"), out, SuiteSettings(repeat=False), workers=1)
    return next(one for one in Recordings(out) if one.program.entry == "both")


@pytest.fixture(scope="session")
def runs(lines: Folder, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Two run folders: two models asked the same, one of them by a method that predicts the run."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that runs are reported")
    from deskcheck.ask import AskSettings, ask

    folder = tmp_path_factory.mktemp("asked")
    recordings = [lines.read(name) for name in ("recursion", "generator", "loop")]
    questions = ["output", "state", "input"]
    ask(recordings, questions, ["deskcheck/oracle", "deskcheck/guess"], out=folder / "both")
    ask(
        recordings[:2],
        ["output", "state"],
        ["deskcheck/erring"],
        out=folder / "runs",
        settings=AskSettings(methods=("direct", "compact"), model_args={"rate": 0.2}),
    )
    return {"both": folder / "both", "runs": folder / "runs", "all": folder}


def hostile_logs() -> Any:
    """A run whose every text is hostile."""
    from deskcheck.ask.results.logs import Logs
    from deskcheck.ask.results.results import result_of
    from deskcheck.ask.results.rows import ScoredSample

    text = f"{HOSTILE}\u202e\u200b\ud800" + "<b>" * 400_000
    rows = tuple(
        ScoredSample(
            id=f"{HOSTILE}{number}\udc80",
            program=HOSTILE,
            cluster=str(number),
            question="output",
            model=f"model/{HOSTILE}\u202e",
            solver="direct",
            completion=text,
            answer=text,
            expected=text,
            score=0.0,
            reason=HOSTILE,
            data='{"form": "value", "events": 3, "depth": 1}',
            prompt=text,
        )
        for number in range(3)
    )
    result = result_of("output", "", "direct", rows[0].model, rows, {HOSTILE: 2}, Path(HOSTILE))
    return Logs(results=(result,), notes=(HOSTILE,))


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one pixel, as PNG."""


@pytest.fixture(scope="session")
def book_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with stored outputs, some of which a fresh run does not give."""
    plain = {"output_type": "execute_result", "metadata": {}, "execution_count": 1}
    cells: list[tuple[str, str, list[dict[str, Any]]]] = [
        (
            "code",
            "numbers = same = [1, 2]\nobject()",
            [{**plain, "data": {"text/plain": "<object at 0x7f0000000010>"}}],
        ),
        (
            "code",
            "numbers.append(3)\nprint(len(numbers))",
            [{"output_type": "stream", "name": "stdout", "text": "4\n"}],
        ),
        ("markdown", "# between", []),
        (
            "code",
            (
                "from IPython.display import Image, display\nimport base64\n"
                f"display(Image(base64.b64decode({PIXEL!r})))\ndel Image, display, base64"
            ),
            [
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": PIXEL, "text/plain": "<IPython.core.display.Image object>"},
                }
            ],
        ),
        ("code", "1 / 0", [{**plain, "data": {"text/plain": "1"}}]),
        ("code", "del same", []),
    ]
    told = [
        {
            "cell_type": kind,
            "id": f"c{number}",
            "source": source,
            "metadata": {},
            **({"outputs": outputs, "execution_count": number + 1} if kind == "code" else {}),
        }
        for number, (kind, source, outputs) in enumerate(cells)
    ]
    path = tmp_path_factory.mktemp("notebook") / "book.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": told}))
    return path


@pytest.fixture(scope="session")
def book(book_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trajectory of that notebook, run in a real kernel."""
    pytest.importorskip("ipykernel", reason="would have proved that a run of a notebook is shown")
    from deskcheck.notebook.kernel.replayer import SandboxKernels, replay
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.trajectory.ipynb import read_notebook

    path = tmp_path_factory.mktemp("books") / "book.trajectory.parquet"
    replay(
        read_notebook(book_file),
        path,
        kernels=SandboxKernels(Confinement.TRUSTED),
        state=StateLimits(time_s=60),
    )
    return path


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trajectory with every kind of step, its executions made in a real kernel."""
    pytest.importorskip("ipykernel", reason="would have proved that edits and restarts are shown")
    from deskcheck.notebook.kernel.replayer import SandboxKernels, replay
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.trajectory.trajectory import (
        Cell,
        Deletion,
        Edit,
        Execution,
        Insertion,
        Move,
        Restart,
        Status,
        Trajectory,
    )

    def runs(order: tuple[str, ...], cell: str, source: str) -> Execution:
        return Execution(order=order, cell=cell, source=source, status=Status.UNKNOWN)

    steps = (
        runs(("a", "b"), "a", "total = 1"),
        runs(("a", "b"), "b", "total += 1"),
        Insertion(order=("c", "a", "b"), cell="c", source="total = 10", position=0),
        runs(("c", "a", "b"), "c", "total = 10"),
        runs(("c", "a", "b"), "b", "total += 1"),
        Edit(order=("c", "a", "b"), cell="b", source="total += 5"),
        runs(("c", "a", "b"), "b", "total += 5"),
        Move(order=("b", "c", "a"), cell="b", position=0),
        Restart(order=("b", "c", "a")),
        Deletion(order=("b", "c"), cell="a"),
        runs(("b", "c"), "b", "total += 5"),
    )
    trajectory = Trajectory(
        id="work",
        source="kernel",
        cells=(Cell(id="a", source="total = 1"), Cell(id="b", source="total += 1")),
        steps=steps,
    )
    path = tmp_path_factory.mktemp("work") / "work.trajectory.parquet"
    replay(trajectory, path, kernels=SandboxKernels(Confinement.TRUSTED), state=StateLimits(time_s=60))
    return path


def hostile_trajectory() -> Any:
    """A notebook whose every text is hostile."""
    from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Output, Status, Trajectory

    text = f"{HOSTILE}\u202e\u200b\ud800" + "<b>" * 300_000
    outputs = (
        Output(type="stream", name="stdout", text=text),
        Output(type="error", name=HOSTILE, value=HOSTILE, text="\x1b[31m" + HOSTILE),
        Output(
            type="display_data",
            data={"text/html": HOSTILE, "text/plain": HOSTILE, "image/svg+xml": "<svg onload='1'/>"},
        ),
    )
    state = {
        "variables": {
            f"{HOSTILE}\u202e": {"change": "added", "type": HOSTILE, "hash": "0", "value": HOSTILE},
            "__proto__": {"change": "added", "type": "int", "hash": "0", "value": 1},
        },
        "removed": [HOSTILE],
        "count": 2,
        "cost_s": 0.0,
    }
    step = Execution(
        order=("a",), cell="a", source=text, status=Status.ERROR, outputs=outputs, state=state, detail=HOSTILE
    )
    cells = (Cell(id="a", source=text),)
    return Trajectory(
        id=HOSTILE, source="kernel", cells=cells, steps=(step,), path=f"{HOSTILE}\u200b", notes=(HOSTILE,)
    )


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.view.browsing import MISSING, chromium

    if MISSING:
        pytest.skip(MISSING)
    driver = chromium(tmp_path_factory.mktemp("profile"))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page (`browsing.Page`) whose browser has nothing to say: no error, no refused request."""
    from tests.view.browsing import Page

    browser.get_log("browser")
    yield Page(browser, tmp_path)
    said = [entry["message"] for entry in browser.get_log("browser")]
    assert said == []
