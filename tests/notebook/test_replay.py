"""Replays: the whole road from a notebook to its trajectory, in real kernels."""

import json
import os
import site
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notebook.kernel.kernel import Surroundings
from deskcheck.notebook.kernel.replayer import SandboxKernels, packages, replay
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.state.capture import StateLimits
from deskcheck.notebook.state.state import states
from deskcheck.notebook.trajectory.file import read_trajectory, trajectories
from deskcheck.notebook.trajectory.ipynb import parse_notebook
from deskcheck.notebook.trajectory.trajectory import Ended, Execution, Restart, Status, Trajectory
from deskcheck.sandbox.confinement import Confinement
from tests.notebook.books import book, code
from tests.notebook.valid import check

pytest.importorskip("ipykernel", reason="would have proved that notebooks are replayed")
SHARED = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "notebooks"


def notebook(*sources: str, **metadata: Any) -> bytes:
    cells = [code(source, count=n + 1, id=f"c{n}") for n, source in enumerate(sources)]
    return json.dumps(book(*cells, metadata=metadata)).encode()


def run(path: Path, *sources: str, **more: Any) -> Trajectory:
    return replay(parse_notebook(notebook(*sources), name="n.ipynb"), path / "n.trajectory.parquet", **more)


def test_a_death_and_what_goes_on(tmp_path: Path) -> None:
    """After a kernel that died comes a restart, and the later cells run without the earlier ones' variables."""
    found = run(tmp_path, "x = 1", "import os; os._exit(1)", "", "x", "1 + 1", state=StateLimits(time_s=60))
    assert [step.kind for step in found.steps] == "execution execution restart execution execution".split()
    assert [e.status for e in found.executions] == ["ok", "died", "error", "ok"]
    counts = [e.count for e in found.executions]
    assert counts[1] in (2, None)  # a kernel that dies at once may not have said it
    assert counts[:1] + counts[2:] == [1, 1, 2]
    assert isinstance(found.steps[2], Restart)
    assert found.steps[2].why == "died"
    assert found.ended is Ended.WHOLE
    assert found.environment is not None
    assert "ipykernel" in found.environment.packages
    check(found.cells, found.steps)
    after = [state for _, state in states(found.steps)]
    assert after[0] is not None
    assert after[0].added == ("x",)
    assert after[2] is not None
    assert after[2].variables == {}


@pytest.mark.exhaustive
def test_the_notebook_limit_leaves_a_partial_record(tmp_path: Path) -> None:
    """What ran is there with its outputs; the rest is not, and the trajectory says so."""
    endless = "print('begun')\nwhile True: pass"
    found = run(tmp_path, "1", endless, "2", limits=ReplayLimits(notebook_s=10, cell_s=60))
    assert (found.ended, len(found.steps)) == (Ended.TIMED_OUT, 2)
    assert [e.status for e in found.executions] == ["ok", "timed_out"]
    assert list(found.executions)[1].text() == "begun\n"


def test_a_stopped_replay_goes_on(tmp_path: Path) -> None:
    """The cells that were done are run again for their variables and stand in the record once."""
    sources = ("n = 1", "n += 1", "n += 1", "n")
    part = tmp_path / "n.trajectory.parquet.part"
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, *sources, interrupted=lambda: part.read_text().count("\n") == 3)
    found = run(tmp_path, *sources)
    assert [e.source for e in found.executions] == list(sources)
    assert list(found.executions)[-1].outputs[0].data == {"text/plain": "3"}
    (restart,) = (step for step in found.steps if isinstance(step, Restart))
    assert (restart.why, restart.again) == ("resumed", 2)
    assert run(tmp_path, *sources).steps == found.steps


def test_restarts_and_edits_are_honoured(tmp_path: Path) -> None:
    """Steps between executions stand where they were, and a restart is one."""
    given = parse_notebook(notebook("x = 1", "x"), name="n.ipynb")
    first, second = given.executions
    steps = (first, second, Restart(order=second.order), second)
    made = Trajectory(id="n", source="test", cells=given.cells, steps=steps)
    found = replay(made, tmp_path / "n.trajectory.parquet")
    assert [step.kind for step in found.steps] == ["execution", "execution", "restart", "execution"]
    assert [e.status for e in found.executions] == ["ok", "ok", "error"]


def test_the_folder_around_a_notebook(tmp_path: Path) -> None:
    """It reads the files beside it and can write; what it writes stays in its copy."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "data.txt").write_text("17")
    sources = (
        "print(open('../data.txt').read())",
        "open('new.txt', 'w').write('x')\nopen('../data.txt', 'w').write('y')",
    )
    given = parse_notebook(notebook(*sources), name=str(tmp_path / "in" / "sub" / "n.ipynb"))
    found = replay(
        given, tmp_path / "n.trajectory.parquet", kernels=SandboxKernels(around=Surroundings(tmp_path / "in"))
    )
    assert [e.status for e in found.executions] == ["ok", "ok"]
    assert next(found.executions).text() == "17\n"
    assert (tmp_path / "in" / "data.txt").read_text() == "17"
    assert os.listdir(tmp_path / "in" / "sub") == []


def test_another_language_has_no_kernel(tmp_path: Path) -> None:
    """It is said, and nothing is run."""
    given = parse_notebook(notebook("1", kernelspec={"name": "ir", "language": "R"}), name="n.ipynb")
    found = replay(given, tmp_path / "n.trajectory.parquet")
    assert (found.ended, len(found.steps)) == (Ended.NO_KERNEL, 0)
    assert "for R (kernel 'ir')" in found.detail


def test_a_folder_from_the_command_line(tmp_path: Path) -> None:
    """One notebook that is cut off does not keep the others from being recorded; the exit status tells."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.ipynb").write_bytes(notebook("print(3)", "1/0"))
    (tmp_path / "in" / "cut.ipynb").write_bytes(notebook("print(3)")[:50])
    command = [
        "record",
        f"notebooks:{tmp_path / 'in'}",
        "--out",
        str(tmp_path / "out"),
        "--json",
        "--workers",
        "1",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    summary = json.loads(done.stdout)
    assert summary["cells"] == {"ok": 1, "error": 1}
    assert list(summary["problems"]) == ["cut"]
    (found,) = trajectories(tmp_path / "out")
    assert next(found.executions).text() == "3\n"
    assert json.loads(CliRunner().invoke(app, command).stdout)["skipped"] == 1


WIDGETS = (
    """from comm import create_comm
def captures(widget, on):
    request = get_ipython().kernel.get_parent()["header"]["msg_id"] if on else ""
    widget.send({"method": "update", "state": {"msg_id": request}})
model = {"_model_module": "@jupyter-widgets/output", "_model_name": "OutputModel"}
state = {"state": {**model, "outputs": [], "msg_id": ""}}
out, inner = (create_comm(target_name="jupyter.widget", data=state) for _ in range(2))""",
    "print('before')\ncaptures(out, True); print('in the widget'); display(5); captures(out, False)\n6",
    "captures(out, True); captures(inner, True); captures(inner, False); print('in it'); captures(out, False)",
    "old = display('old', display_id=True)\ncaptures(out, True); clear_output(); old.update('new')",
    "print('the next request is not captured')",
)
"""What an Output widget shows is not an output of the cell."""


def test_the_same_outputs_as_nbclient(tmp_path: Path) -> None:
    """What nbclient keeps of a cell's outputs, and what a reader sees of ours, are the same."""
    nbformat = pytest.importorskip("nbformat", reason="would have proved that outputs are those of nbclient")
    nbclient = pytest.importorskip("nbclient", reason="would have proved that outputs are those of nbclient")
    text = notebook(
        "print('a'); print('b')\n1",
        "import sys\nsys.stderr.write('e')\nfrom IPython.display import display, clear_output, HTML",
        "print('gone'); clear_output(); display(HTML('<b>x</b>'))",
        "d = display('old', display_id='k'); d.update('new')\n[1] * 3",
        "clear_output(wait=True); print('left')",
        "{}['key']",
        *WIDGETS,
    )
    book = nbformat.reads(text.decode(), as_version=4)
    nbclient.NotebookClient(book, allow_errors=True, kernel_name="python3", timeout=60).execute()
    found = replay(
        parse_notebook(text, name="n"),
        tmp_path / "n.trajectory.parquet",
        kernels=SandboxKernels(Confinement.TRUSTED),
    )
    theirs = parse_notebook(nbformat.writes(book).encode(), name="n")
    for ours, other in zip(found.executions, theirs.executions, strict=True):
        assert [_facts(o) for o in ours.shown()] == [_facts(o) for o in other.shown()]


def _facts(output: Any) -> Any:
    text = output.text if output.type == "stream" else None
    return output.type, output.name, text, output.value, output.data, output.count


@pytest.mark.slow
def test_fixtures_of_nbclient_end_as_they_say(tmp_path: Path) -> None:
    """Statuses of small notebooks that were made to misbehave; the one without end has 2 s a cell."""
    folder = SHARED / "nbclient" / "tests" / "files"
    if not folder.is_dir():
        pytest.skip(
            "no notebooks in DESKCHECK_SHARED or ../shared: would have proved the statuses of nbclient's"
        )
    expected = {
        "Interrupt": [Status.TIMED_OUT, Status.OK],
        "Disable Stdin": [Status.ERROR],
        "Skip Exceptions": [Status.ERROR, Status.OK],
        "Clear Output": [Status.OK] * 12,
        "update-display-id": [Status.OK] * 6,
    }
    for name, statuses in expected.items():
        given = parse_notebook((folder / f"{name}.ipynb").read_bytes(), name=name)
        limits = ReplayLimits(cell_s=5 if name == "Interrupt" else 300)
        found = replay(given, tmp_path / f"{name}.trajectory.parquet", limits=limits)
        assert [e.status for e in found.executions] == statuses, name
        assert read_trajectory(tmp_path / f"{name}.trajectory.parquet").steps == found.steps
        assert all(isinstance(step, Execution) for step in found.steps)


def test_packages_are_those_of_importlib() -> None:
    """Their names and versions, which importlib reads from the whole metadata."""
    paths = [path for path in sys.path if path in {*site.getsitepackages()}]
    theirs = {each.metadata["Name"]: each.version for each in metadata.distributions(path=paths)}
    assert packages() == theirs
