"""Whether cells repeat in fresh kernels: what counts as a difference, and what is written down."""

from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.kernel.repeats import difference, marked
from deskcheck.notebook.kernel.replayer import Reruns, replay
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.file import write_trajectory
from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import (
    Cell,
    Ended,
    Execution,
    Output,
    Restart,
    Status,
    Step,
    Trajectory,
)


def ran(*outputs: Output, status: Status = Status.OK) -> Execution:
    return Execution(cell="a", source="x", order=("a",), status=status, outputs=outputs)


def said(text: str, name: str = "stdout") -> Output:
    return Output(type="stream", name=name, text=text)


def shown(text: str, **more: Any) -> Output:
    return Output(type="execute_result", data={"text/plain": text}, **more)


def raised(value: str, text: str = "") -> Output:
    return Output(type="error", name="KeyError", value=value, text=text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([said("a\n"), said("b\n")], [said("a\nb\n")]),
        ([said("a"), said("w", "stderr"), said("b")], [said("ab"), said("v", "stderr")]),
        ([shown("1", count=1)], [shown("1", count=5, at_s=2.0)]),
        ([raised("x", "line 3")], [raised("x", "line 4")]),
        ([said("old"), Output(type="clear_output", wait=False), said("new")], [said("new")]),
        ([Output(type="display_data", data={"image/png": "a"})], []),
        ([shown("a", length=9)], [shown("a", length=8)]),
        ([said("w", "stderr")], [Output(type="stream", name="stderr", text="w", length=9)]),
    ],
)
def test_what_is_not_compared(one: list[Output], other: list[Output]) -> None:
    """How text was split, the order between streams, counts, times, tracebacks, what was cleared, how
    large a picture is that was left out."""
    assert difference(ran(*one), ran(*other)) is None


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [
        ([said("a 1\n")], [said("a 2\n")], r"stdout: '1\n' and '2\n' at character 2"),
        ([shown("1")], [shown("1 ")], "text/plain: '' and ' ' at character 1"),
        ([shown("1")], [], "shown: 1 texts and 0"),
        ([shown("1"), shown("2")], [shown("2"), shown("1")], "text/plain: '1' and '2' at character 0"),
        ([raised("x")], [raised("y")], "exception: KeyError: x and KeyError: y"),
        ([raised("x")], [], "exception: KeyError: x and none"),
        (
            [Output(type="stream", name="stdout", text="a", length=9)],
            [Output(type="stream", name="stdout", text="a", length=8)],
            "length of the omitted output",
        ),
        (
            [Output(type="execute_result", data={}, length=9)],
            [Output(type="execute_result", data={}, length=8)],
            "length of the omitted output",
        ),
    ],
)
def test_where_two_differ(one: list[Output], other: list[Output], where: str) -> None:
    """The first difference is named with its text."""
    assert difference(ran(*one), ran(*other)) == where


def test_ends_are_compared() -> None:
    """A cell that timed out once is not the same, whatever it printed."""
    assert difference(ran(), ran(status=Status.TIMED_OUT)) == "status: ok and timed_out"


def test_what_another_run_did_not_come_to_is_not_checked() -> None:
    """Three runs: one difference anywhere is a difference; a run that ended early says nothing."""
    restart = Restart(order=("a",), why="died")
    runs: list[list[Step]] = [
        [ran(said("1")), ran(said("2")), restart, ran(said("3"))],
        [ran(said("1")), ran(said("2")), ran(said("4"))],
        [ran(said("1"))],
    ]
    steps = list(marked(runs[0], runs[1:]))
    assert [step.kind for step in steps] == ["execution", "execution", "restart", "execution"]
    found = [(step.repeats, step.difference) for step in steps if isinstance(step, Execution)]
    assert found == [(True, None), (None, None), (False, "stdout: '3' and '4' at character 0")]


@pytest.mark.parametrize("status", [Status.TIMED_OUT, Status.OUT_OF_MEMORY])
def test_a_limit_that_one_run_met_says_nothing_of_the_notebook(status: Status) -> None:
    """How busy the machine is decides that: neither the cell nor what follows is compared with that run."""
    first = [ran(said("1")), ran(said("2")), ran(said("3"))]
    other = [ran(said("1")), ran(status=status), ran(raised("x"), status=Status.ERROR)]
    for one, two in ((first, other), (other, first)):
        found = [step.repeats for step in marked(one, [two]) if isinstance(step, Execution)]
        assert found == [True, None, None]
    found = [step.repeats for step in marked(first, [other, first]) if isinstance(step, Execution)]
    assert found == [True, None, None], "one of two others says nothing"


def test_repeats_is_kept_in_the_file(tmp_path: Path) -> None:
    """All three of its values, and where the difference is."""
    steps = tuple(
        Execution(cell="a", source="x", order=("a",), status=Status.OK, repeats=repeats, difference=where)
        for repeats, where in ((True, None), (False, "here"), (None, None))
    )
    made = Trajectory(id="n", source="test", cells=(Cell(id="a", source="x"),), steps=steps)
    found = write_trajectory(tmp_path / "n.trajectory.parquet", made)
    assert [(e.repeats, e.difference) for e in found.executions] == [
        (True, None),
        (False, "here"),
        (None, None),
    ]


SOURCES = (
    "import random, os; print('fixed')",
    "random.random()",
    "{'one', 'two', 'three', 'four', 'five', 'six'}",
    "list({'one', 'two', 'three', 'four', 'five', 'six'})",
    "object()",
    "os._exit(1)",
    "1/0",
)


class TestRuns:
    @pytest.mark.slow
    def test_fresh_kernels_are_compared(self, tmp_path: Path) -> None:
        """Random numbers, the order of a set that was made a list and addresses differ; a death repeats.
        Nothing but the trajectory stays, and runs that were interrupted go on where they were."""
        pytest.importorskip("ipykernel", reason="would have proved that fresh kernels are compared")
        from tests.notebook.test_replay import notebook

        given = parse_notebook(notebook(*SOURCES), name="n.ipynb")
        path = tmp_path / "n.trajectory.parquet"
        second = tmp_path / "n.trajectory.parquet.run2.part"

        def in_the_second() -> bool:
            return second.exists() and second.read_text().count("\n") >= 3

        with pytest.raises(KeyboardInterrupt):
            replay(given, path, reruns=Reruns(2), interrupted=in_the_second)
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "n.trajectory.parquet.run1",
            "n.trajectory.parquet.run2.part",
        ]
        found = replay(given, path, reruns=Reruns(2))
        assert [e.repeats for e in found.executions] == [True, False, True, False, False, True, True]
        assert [p.name for p in tmp_path.iterdir()] == [path.name]
        assert found.limits["runs"] == 2
        assert found.environment is not None
        differences = [e.difference for e in found.executions if e.difference]
        assert all(where.startswith("text/plain: ") for where in differences)

    def test_one_run_says_nothing(self, tmp_path: Path) -> None:
        """Nor does a cell that the second run, whose time was up, did not come to."""
        pytest.importorskip("ipykernel", reason="would have proved what one run says")
        from tests.notebook.test_replay import notebook

        given = parse_notebook(notebook("1", "import time; time.sleep(60)", "2"), name="n.ipynb")
        limits = ReplayLimits(cell_s=0.5, notebook_s=8)
        found = replay(given, tmp_path / "one.trajectory.parquet", limits=limits)
        assert {e.repeats for e in found.executions} == {None}
        assert found.ended in (Ended.WHOLE, Ended.TIMED_OUT)
        with pytest.raises(ValueError, match="runs=0"):
            Reruns(0)
