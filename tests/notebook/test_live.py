"""A trajectory that grows while somebody works: whatever is seen makes steps that can have followed each other."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.errors import RecordingError
from deskcheck.notebook import Trajectory, read_trajectory
from deskcheck.notebook.jupyter.live import Live
from deskcheck.notebook.trajectory.masking import Mask
from deskcheck.notebook.trajectory.trajectory import Cell, Restart, Status
from tests.notebook.valid import check
from tests.sample import examples

CELLS = (Cell(id="a", source="x = 1"), Cell(id="b", source="x"))


def head(cells: tuple[Cell, ...] = CELLS) -> Trajectory:
    return Trajectory(id="work", source="kernel", cells=cells, steps=())


def run(live: Live, cell: str | None, source: str, deleted: tuple[str, ...] = ()) -> str:
    id_ = live.begins(cell, source, deleted)
    live.ran(id_, source, Status.OK)
    return id_


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "work.trajectory.parquet"


def test_what_a_run_shows(path: Path) -> None:
    """A run of another source is an edit before it, of an unknown cell an insertion below the last that ran."""
    live = Live(path, head())
    run(live, "a", "x = 2")
    run(live, "new", "y")
    run(live, None, "typed at a console")
    run(live, "b", "x", deleted=("new", "unknown"))
    found = live.finish()
    check(found.cells, found.steps)
    kinds = [(step.kind, getattr(step, "cell", None)) for step in found.steps]
    assert kinds == [
        ("edit", "a"),
        ("execution", "a"),
        ("insertion", "new"),
        ("execution", "new"),
        ("insertion", "input-0"),
        ("execution", "input-0"),
        ("deletion", "new"),
        ("execution", "b"),
    ]
    assert found.steps[-1].order == ("a", "input-0", "b")
    live = Live(path, head())
    live.saved(CELLS)
    assert live.order == ("a", "input-0", "b")  # what is no cell stays when the notebook is saved
    live.close()


def test_going_on(path: Path) -> None:
    """A finished recording goes on after a restart; one whose recorder was killed after a death."""
    live = Live(path, head())
    run(live, "a", "x = 1")
    live.finish()
    live = Live(path, head(()))
    run(live, "a", "x = 2")
    live.close()  # as a kill leaves it: the steps are on disk
    live = Live(path, head(()))
    run(live, "b", "x")
    found = live.finish()
    check(found.cells, found.steps)
    assert [step.kind for step in found.steps] == "execution restart edit execution restart execution".split()
    assert [step.why for step in found.steps if isinstance(step, Restart)] == ["asked", "died"]
    assert found.cells == CELLS
    again = Live(path, head(()), fresh=False)
    assert again.steps == 6  # the same kernel: nothing has happened
    with pytest.raises(RecordingError, match="another process is recording it"):
        Live(path, head())
    again.close()
    assert len(read_trajectory(path).steps) == 6


def test_saved_while_it_runs(path: Path) -> None:
    """A cell that is changed and saved while it runs has run what it was."""
    live = Live(path, head())
    id_ = live.begins("a", "x = 1")
    live.saved((Cell(id="a", source="x = 5"),))
    live.ran(id_, "x = 1", Status.OK)
    found = live.finish()
    check(found.cells, found.steps)
    assert [step.kind for step in found.steps] == ["execution", "deletion", "edit"]


def test_files_without_ids(path: Path) -> None:
    """Before nbformat 4.5 cells are told by their sources: the front end's own ids mean nothing later."""
    cells = (
        Cell(id="cell-0", source="x = 1"),
        Cell(id="cell-1", source="x = 1"),
        Cell(id="cell-2", source="y"),
    )
    live = Live(path, head(cells))
    live.saved(cells, own_ids=False)
    assert run(live, "f1", "x = 1") == "cell-0"
    assert run(live, "f2", "x = 1") == "cell-1"
    assert run(live, "f1", "x = 2") == "cell-0"
    assert run(live, "f9", "new") == "f9"
    live.saved(
        (
            Cell(id="cell-0", source="y"),
            Cell(id="cell-1", source="x = 2"),
            Cell(id="cell-2", source="new"),
            Cell(id="cell-3", source="x = 1"),
        ),
        own_ids=False,
    )
    found = live.finish()
    check(found.cells, found.steps)
    assert [c.source for _, cells in found.notebooks() for c in cells][-4:] == ["y", "x = 2", "new", "x = 1"]
    assert {step.cell for step in found.executions} == {"cell-0", "cell-1", "f9"}


def test_masked(path: Path) -> None:
    """No file ever holds what is masked, and an unchanged source with a secret is no edit."""
    secret = Cell(id="a", source="password = 'swordfish-9'")
    live = Live(path, head((secret,)), Mask())
    run(live, "a", secret.source)
    live.saved((secret,))
    run(live, "b", "print('swordfish-9')")
    assert b"swordfish" not in live.writer.part.read_bytes()
    found = live.finish()
    check(found.cells, found.steps)
    assert [step.kind for step in found.steps] == ["execution", "insertion", "execution"]
    assert b"swordfish" not in path.read_bytes()


SOURCES = st.sampled_from(["x = 1", "x", "y = x + 1", "print(y)", ""])
IDS = st.sampled_from("abcdef")
NOTEBOOKS = st.lists(st.tuples(IDS, SOURCES), max_size=5, unique_by=lambda pair: pair[0])
ACTIONS = st.one_of(
    st.tuples(st.just("run"), st.one_of(st.none(), IDS), SOURCES, st.lists(IDS, max_size=2)),
    st.tuples(st.just("saved"), NOTEBOOKS, st.booleans()),
    st.tuples(st.just("saved during a run"), IDS, NOTEBOOKS),
    st.tuples(st.just("restarted")),
    st.tuples(st.just("resumed"), st.booleans()),
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(ACTIONS, max_size=8))
def test_any_session(tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[object, ...]]) -> None:
    """Whatever is seen, the steps can have followed each other, and after a save the notebook is the saved one."""
    path = tmp_path_factory.mktemp("live") / "work.trajectory.parquet"
    live = Live(path, head())
    ran: list[str] = []
    for kind, *given_ in actions:
        if kind == "run":
            cell, source, deleted = given_
            run(live, cell, source, tuple(deleted))  # type: ignore[arg-type]
            ran.append(source)  # type: ignore[arg-type]
        elif kind == "saved":
            cells = tuple(Cell(id=i, source=s) for i, s in given_[0])  # type: ignore[attr-defined]
            live.saved(cells, own_ids=bool(given_[1]))
            now = [live.cells[id_] for id_ in live.order if not id_.startswith("input-")]
            assert [c.source for c in now] == [c.source for c in cells]
        elif kind == "saved during a run":
            id_ = live.begins(given_[0], "during")  # type: ignore[arg-type]
            live.saved(tuple(Cell(id=i, source=s) for i, s in given_[1]))  # type: ignore[attr-defined]
            live.ran(id_, "during", Status.OK)
            ran.append("during")
        elif kind == "restarted":
            live.restarted()
        else:
            if given_[0]:
                live.finish()
            else:
                live.close()
            live = Live(path, head())
    found = live.finish()
    check(found.cells, found.steps)
    assert [step.source for step in found.executions] == ran
