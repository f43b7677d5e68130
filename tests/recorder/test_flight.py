"""`--last` and `--from`: the kept events and states are those of the whole recording."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deskcheck.recorder.filters.flight import FlightRecorder
from deskcheck.recorder.filters.selection import Flight
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Program, Recording
from deskcheck.recording.block import packed
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.reader import Recordings
from deskcheck.recording.trace import EARLIER, Row, State, Trace, fingerprint
from deskcheck.recording.value import render
from deskcheck.sandbox.confinement import Confinement
from deskcheck.view.queries.why import why
from tests.sample import spread

SETTINGS = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)
PROGRAMS = Path(__file__).parents[1] / "programs"
CODE = """
import threading
class Node:
    def __init__(self, n):
        self.n, self.items, self.table = n, [], {}
def count(k):
    for i in range(k):
        got = yield i
def walk(node, depth):
    if depth:
        node.table[depth] = [depth]
        walk(node, depth - 1)
    del node.items[:1]
log, node, steps = [], Node(3), count(10 ** 9)
def work(n):
    def inner(x):
        nonlocal total
        total += x
    total = 0
    for i in range(n):
        inner(i)
        node.items.append({"i": i})
        if i % 3 == 0:
            next(steps)
            temporary = [node.items]
            del temporary
        node.n = (node.n, i) if i % 5 else 0
        log.append(node.items[-1:])
        if len(log) > 4:
            log[:3] = []
        walk(node, i % 3)
    print(total)
    return total // (n - n)
other = threading.Thread(target=walk, args=(Node(1), 4))
other.start()
other.join()
work(30)
"""


def recorded(folder: Path, code: str, flight: Flight | None = None) -> Recording:
    settings = SETTINGS if flight is None else replace(SETTINGS, flight=flight)
    record_programs([Program(id="it", code=code)], folder, settings)
    return Recordings(folder)["it"]


def everything(state: State) -> object:
    """A state with suspended frames, without identity numbers."""
    frames = sorted((f.number, f.function, f.file, f.line, sorted(f.locals)) for f in state.frames.values())
    return fingerprint(state), frames, len(state.objects)


def agree(whole: Recording, part: Recording, dropped: dict[int, int]) -> None:
    """The kept events of a part are those of the whole run, with equal states."""
    for number, trace in enumerate(part.traces):
        starts = [row for row in trace.rows if row.left_out and EARLIER in row.left_out]
        kept = [*trace.rows[len(starts) :]]
        before = whole.traces[number]
        dropped[number] = len(before) - len(kept)
        for row, original in zip(kept, before.rows[dropped[number] :], strict=True):
            assert row._replace(index=0) == original._replace(index=0)
        for index in range(len(kept)):
            ours, theirs = trace.state(len(starts) + index), before.state(dropped[number] + index)
            assert everything(ours) == everything(theirs), (number, index)
        assert {row.left_out for row in starts} <= {f'{{"{EARLIER}": {dropped[number]}}}'}


@pytest.mark.parametrize("last", spread([1, 2, 10, 137, 400, 5000], 3))
def test_the_last_events(last: int, tmp_path: Path) -> None:
    whole = recorded(tmp_path / "whole", CODE)
    part = recorded(tmp_path / "part", CODE, Flight(last=last))
    dropped: dict[int, int] = {}
    agree(whole, part, dropped)
    assert sum(dropped.values()) == max(whole.events - last, 0)
    assert part.run_result.stdout == whole.run_result.stdout == "435\n"
    assert part.environment.limits == {"last": last}


@pytest.mark.parametrize("name", spread(sorted(p.name for p in PROGRAMS.glob("*.py")), 10, 4))
def test_programs(name: str, tmp_path: Path) -> None:
    """The events of one run, in blocks of 7, kept from one of three places on."""
    whole = recorded(tmp_path, (PROGRAMS / name).read_text())
    rows = [row for trace in whole.traces for row in trace.rows]
    for last in {1, len(rows) // 2 + 1, max(len(rows) - 3, 1)} if rows else ():
        recorder, blocks = FlightRecorder(Flight(last=last), 1), list[bytes]()
        for at in range(0, len(rows), 7):
            recorder.write(packed(rows[at : at + 7]))
        recorder.finish(blocks.append)
        kept = [signed(row) for block in blocks for row in block_rows(block)]
        traces = [Trace([row for row in kept if row.thread == n]) for n in range(len(whole.traces))]
        agree(whole, replace(whole, traces=tuple(traces)), {})


def signed(row: Row) -> Row:
    """A row of a block, which has numbers modulo 2**32."""
    line, offset = (value - (1 << 32) if value >= 1 << 31 else value for value in (row.line, row.offset))
    return row._replace(line=line, offset=offset)


def test_from_a_function(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "whole", CODE)
    part = recorded(tmp_path / "part", CODE, Flight(begin="work"))
    agree(whole, part, {})
    first = next(row for row in part.trace.rows if not row.left_out)
    assert (first.kind, first.function) == ("call", "work")
    both = recorded(tmp_path / "both", CODE, Flight(begin="work", last=20))
    assert [row.line for row in both.trace.rows[-20:]] == [row.line for row in whole.trace.rows[-20:]]
    never = recorded(tmp_path / "never", CODE, Flight(begin="nothing"))
    assert all(row.left_out for row in never.trace.rows)
    settings = replace(SETTINGS.trace_limits, events=100)
    record_programs(
        [Program(id="it", code=CODE)],
        tmp_path / "cut",
        replace(SETTINGS, flight=Flight(begin="work"), trace_limits=settings),
    )
    cut = Recordings(tmp_path / "cut")["it"]
    assert cut.run_result.cut == "events"
    assert sum(not row.left_out for row in cut.trace.rows) == 100


def test_questions_stop_at_the_start(tmp_path: Path) -> None:
    part = recorded(tmp_path, CODE, Flight(last=60))
    (step,) = why(part, "n").steps
    assert step.value == "30"
    assert re.fullmatch(r"it is older than event \d, the start of the recording", step.unknown or "")
    assert RecordSettings.from_dict(replace(SETTINGS, flight=Flight(last=3)).to_dict()).flight.last == 3
    assert "flight" not in SETTINGS.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("command", [["run", "-q"], ["record", "--sandbox", "trusted", "--no-repeat"]])
def test_memory_is_bounded(command: list[str], tmp_path: Path) -> None:
    """Ten times the events take as much memory and disk."""
    (tmp_path / "long.py").write_text(
        "import sys\ntotal, kept = 0, []\nfor i in range(LOOPS):\n    total += i\n    kept.append(i)\n    del kept[:-9]\n"
    )
    peaks, sizes = [], []
    for loops in (20_000, 200_000):
        file = tmp_path / f"long{loops}.py"
        file.write_text((tmp_path / "long.py").read_text().replace("LOOPS", str(loops)))
        measured = (
            "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
        )
        out = tmp_path / f"runs{loops}"
        words = [sys.executable, "-m", "deskcheck", *command, "--last", "1000", "--out", str(out), str(file)]
        done = subprocess.run(
            [sys.executable, "-c", measured, *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.split()[-1]))
        sizes.append(sum(path.stat().st_size for path in out.rglob("*") if path.is_file()))
        (recording,) = Recordings(out)
        assert sum(not row.left_out for row in recording.trace.rows) == 1000
        assert render(recording.trace[-1].globals["i"]) == str(loops - 1)
    assert peaks[1] < 1.3 * peaks[0]
    assert sizes[1] < 1.3 * sizes[0]


def test_a_number_that_is_too_small(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deskcheck", "run", "--last", "0", "x.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "--last" in done.stderr
