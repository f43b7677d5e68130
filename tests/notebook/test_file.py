"""Trajectories on disk: what is written is read, and what is cut off is whole or refused."""

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.errors import InputError, RecordingError
from deskcheck.notebook.trajectory.changes import changes, matched
from deskcheck.notebook.trajectory.file import (
    TrajectoryWriter,
    read_trajectory,
    trajectories,
    write_trajectory,
)
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Ended,
    Execution,
    Insertion,
    Output,
    Restart,
    Status,
    Step,
    Trajectory,
    advance,
    from_dict,
    to_dict,
)
from tests.notebook.valid import check


def head(*cells: Cell) -> Trajectory:
    return Trajectory(id="n", source="test", cells=cells, steps=())


def ran(number: int, **more: Any) -> Execution:
    outputs = (Output(type="stream", name="stdout", text=f"{number}\n", at_s=0.5),)
    return Execution(
        cell="a", source="x", order=("a",), status=Status.OK, at=float(number), outputs=outputs, **more
    )


texts = st.text(max_size=6)
outputs = st.builds(
    Output,
    type=st.sampled_from(["stream", "display_data", "error", "clear_output"]),
    name=st.none() | st.sampled_from(["stdout", "stderr"]),
    text=st.none() | texts,
    data=st.dictionaries(
        st.sampled_from(["text/plain", "application/json"]), texts | st.integers(), max_size=2
    ),
    wait=st.none() | st.booleans(),
    at_s=st.none() | st.floats(0, 10),
)
executions = st.builds(
    Execution,
    cell=st.just("a"),
    source=texts,
    order=st.just(("a",)),
    status=st.sampled_from(Status),
    count=st.none() | st.integers(0, 99),
    cpu_s=st.none() | st.floats(0, 10),
    memory_peak=st.none() | st.integers(0, 1 << 40),
    outputs=st.lists(outputs, max_size=3).map(tuple),
    state=st.none() | st.just({"variables": {}, "count": 0, "cost_s": 0.0}),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(st.lists(executions, max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, steps: list[Execution]) -> None:
    """A trajectory comes back equal, step by step and by JSON."""
    path = tmp_path_factory.mktemp("t") / "n.trajectory.parquet"
    wanted = Trajectory(
        id="n", source="test", cells=(Cell(id="a", source="", tags=("t",)),), steps=tuple(steps)
    )
    found = write_trajectory(path, wanted)
    assert list(found.steps) == steps
    assert found.cells == wanted.cells
    assert [from_dict(json.loads(json.dumps(to_dict(step)))) for step in steps] == steps


def test_a_killed_writer_loses_one_step_at_most(tmp_path: Path) -> None:
    """However the file in the making is cut, the next writer goes on after the last whole step."""
    path = tmp_path / "n.trajectory.parquet"
    first = TrajectoryWriter(path, head(Cell(id="a", source="x")))
    for number in range(3):
        first.write(ran(number))
    whole = first.part.read_bytes()
    first.close()
    for size in range(whole.index(b"\n") + 1, len(whole), 7):
        first.part.write_bytes(whole[:size])
        with TrajectoryWriter(path, head(Cell(id="a", source="x"))) as second:
            assert second.resumed == whole[:size].count(b"\n") - 1
            assert [step.at for step in second.steps()] == [float(n) for n in range(second.resumed)]
    first.part.write_bytes(whole[:-1])
    with TrajectoryWriter(path, head(Cell(id="a", source="x"))) as last:
        last.write(ran(9))
        found = last.finish(Ended.TIMED_OUT, "late")
    assert [step.at for step in found.steps] == [0, 1, 9]
    assert (found.ended, found.detail) == (Ended.TIMED_OUT, "late")
    assert os.listdir(tmp_path) == [path.name]


def test_two_writers_and_other_notebooks_are_refused(tmp_path: Path) -> None:
    """A file in the making belongs to one process and to one notebook."""
    path = tmp_path / "n.trajectory.parquet"
    with TrajectoryWriter(path, head()) as first:
        with pytest.raises(RecordingError, match="another process"):
            TrajectoryWriter(path, head())
        first.write(Restart(order=()))
    with pytest.raises(InputError, match="another notebook"):
        TrajectoryWriter(path, head(Cell(id="b", source="")))


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """Where no more can be written the error says so, and what was written is whole."""
    code = f"""
import resource, signal
from tests_helper import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
with TrajectoryWriter({str(tmp_path / "n.trajectory.parquet")!r}, head(Cell(id="a", source="x"))) as writer:
    for number in range(1000):
        writer.write(ran(number))
"""
    (tmp_path / "tests_helper.py").write_text(Path(__file__).read_text())
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "File too large" in done.stderr
    assert "ulimit -f" in done.stderr
    with TrajectoryWriter(tmp_path / "n.trajectory.parquet", head(Cell(id="a", source="x"))) as writer:
        assert writer.resumed > 10
        found = writer.finish(Ended.STOPPED)
    assert [step.at for step in found.steps] == [float(n) for n in range(len(found.steps))]


def test_memory_is_flat(tmp_path: Path) -> None:
    """Writing and reading 3,000 executions takes as much memory as a fifth of them, which is more than what is
    written at once."""
    peaks = []
    for count in (600, 3_000):
        path = tmp_path / f"{count}.trajectory.parquet"
        tracemalloc.start()
        with TrajectoryWriter(path, head(Cell(id="a", source="x"))) as writer:
            for number in range(count):
                writer.write(ran(number, state={"text": "x" * 1000}))
            found = writer.finish()
        assert sum(1 for _ in found.steps) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.steps[count - 1].at == count - 1
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize("cut", [0, 4, 100, -9])
def test_a_cut_file_is_refused(tmp_path: Path, cut: int) -> None:
    """The error names it."""
    path = tmp_path / "n.trajectory.parquet"
    write_trajectory(path, Trajectory(id="n", source="t", cells=(), steps=(Restart(order=()),)))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(RecordingError, match=r"n\.trajectory\.parquet"):
        read_trajectory(path)


def test_an_empty_folder_says_what_was_begun(tmp_path: Path) -> None:
    """Nothing is found without a word."""
    TrajectoryWriter(tmp_path / "n.trajectory.parquet", head()).close()
    with pytest.raises(RecordingError, match="1 are unfinished"):
        trajectories(tmp_path)


versions = st.lists(st.sampled_from("abcdefg"), unique=True).flatmap(
    lambda ids: st.tuples(
        *(st.builds(Cell, id=st.just(id_), source=st.sampled_from(["1", "2"])) for id_ in ids)
    )
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(versions, versions)
def test_changes_make_the_later_of_the_earlier(before: tuple[Cell, ...], after: tuple[Cell, ...]) -> None:
    """The steps between two versions follow each other, and end in the later one."""
    steps: list[Step] = list(changes(before, after))
    check(before, steps)
    cells = {cell.id: cell for cell in before}
    for step in steps:
        advance(cells, step)
    order = steps[-1].order if steps else tuple(cell.id for cell in before)
    assert tuple(cells[id_] for id_ in order) == after


def test_one_cell_that_moved_is_one_move() -> None:
    """The others have kept their places beside each other."""
    before = [Cell(id=id_, source="") for id_ in "abcd"]
    assert [to_dict(s) for s in changes(before, [before[n] for n in (1, 2, 3, 0)])] == [
        {"kind": "move", "order": ("b", "c", "d", "a"), "cell": "a", "position": 3, "inferred": True}
    ]


def test_cells_without_ids_are_found_again() -> None:
    """Equal sources keep their id, a similar one in its place too, another text is a new cell."""
    before = [
        Cell(id="p", source="import x"),
        Cell(id="q", source="total = sum(values)"),
        Cell(id="r", source="end"),
    ]
    after = [Cell(id="", source=s) for s in ("import x", "total = sum(values) + 1", "%%timeit", "end")]
    assert [c.id for c in matched(before, after, iter("n"))] == ["p", "q", "n", "r"]


def test_steps_that_cannot_be_are_refused() -> None:
    """Doing something to a cell that is not there, or running another source than it has."""
    with pytest.raises(InputError, match=r"step 0.*not there"):
        check((), (ran(0),))
    with pytest.raises(InputError, match="there already"):
        check((Cell(id="a", source="x"),), (Insertion(cell="a", source="", position=0, order=("a",)),))
    with pytest.raises(InputError, match="an edit is missing"):
        check((Cell(id="a", source="y"),), (ran(0),))


def test_shown_is_what_the_reader_sees() -> None:
    """Streams join, clearing clears (when the next comes, if it waits), an update changes what is shown."""
    shows = [
        Output(type="stream", name="stdout", text="1"),
        Output(type="stream", name="stdout", text="2"),
        Output(type="clear_output", wait=True),
        Output(type="display_data", data={"text/plain": "3"}, display_id="d"),
        Output(type="stream", name="stderr", text="4"),
        Output(type="update_display_data", data={"text/plain": "5"}, display_id="d"),
    ]
    step = Execution(cell="a", source="", order=("a",), status=Status.OK, outputs=tuple(shows))
    assert [(o.type, o.text, o.data) for o in step.shown()] == [
        ("display_data", None, {"text/plain": "5"}),
        ("stream", "4", {}),
    ]
    assert (
        Execution(cell="a", source="", order=("a",), status=Status.OK, outputs=tuple(shows[:3]))
        .shown()[0]
        .text
        == "12"
    )


def test_an_order_that_stays_is_written_once(tmp_path: Path) -> None:
    """The order of a thousand cells does not stand in each of a thousand steps: what is written grows as the steps do."""
    order = tuple(f"cell-{number:04d}" for number in range(1000))
    other = order[::-1]
    steps = [
        Execution(
            cell="cell-0000",
            source="1",
            status=Status.OK,
            count=number,
            order=order if number < 600 else other,
        )
        for number in range(1000)
    ]
    path = tmp_path / "a.trajectory.parquet"
    given = Trajectory(
        id="a", source="replay", cells=tuple(Cell(id=name, source="1") for name in order), steps=()
    )
    with TrajectoryWriter(path, given) as writer:
        for step in steps[:700]:
            writer.write(step)
        assert writer.part.stat().st_size < 300_000
        assert list(writer.steps()) == steps[:700]
    with TrajectoryWriter(path, given) as writer:
        assert writer.resumed == 700
        for step in steps[700:]:
            writer.write(step)
        written = writer.finish()
    assert list(written.steps) == steps
    assert written.steps[650].order == other
