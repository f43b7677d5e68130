"""`%deskcheck` in a real kernel, driven as a front end drives it."""

import signal
from pathlib import Path

import pytest

from deskcheck.notebook import Trajectory, read_trajectory, states
from deskcheck.notebook.trajectory.file import begun
from deskcheck.notebook.trajectory.trajectory import Restart
from tests.notebook.front_end import WAIT_S, Kernel
from tests.notebook.valid import check

pytest.importorskip("jupyter_client", reason="would have proved what %deskcheck records in a kernel")
pytest.importorskip("ipykernel", reason="would have proved what %deskcheck records in a kernel")


def recorded(path: Path) -> Trajectory:
    found = read_trajectory(path)
    check(found.cells, found.steps)
    return found


def test_a_session(kernel: Kernel, tmp_path: Path) -> None:
    """Runs, edits, deletions, outputs in order, errors and variables; no silent, empty or nested run; nothing
    before `record` and nothing after `stop`."""
    path = tmp_path / "rec" / "work.trajectory.parquet"
    kernel.run("before = 1", "a")
    assert "from the next cell" in kernel.run(f"%deskcheck record {path} --state-s 60", "a").said["stdout"]
    shows = (
        "import sys\nkept = [1]\nprint('one')\nsys.stdout.flush()\ndisplay(2)\nprint('three', file=sys.stderr)\n"
        "sys.stderr.flush()\nget_ipython().run_cell('inner = 4')\nkept"
    )
    kernel.run(shows, "b")
    kernel.run("viewer = 1", silent=True)
    kernel.run("viewer = 2", store_history=False)
    kernel.run("", "c")
    kernel.run("1/0", "c")
    kernel.run("kept.append(before); del before", "b", deleted=("c", "never-seen"))
    kernel.run("(", "d")
    kernel.run("raise KeyboardInterrupt", "d")
    kernel.run("7", None)
    assert "8 executions" not in kernel.run("%deskcheck status", "d").said["stdout"]
    assert kernel.run("%deskcheck stop", "d").said["stdout"].startswith(f"Written: {path}")
    kernel.run("after = 1", "a")
    found = recorded(path)
    ran = list(found.executions)
    assert [(one.cell, one.status.value) for one in ran] == [
        ("b", "ok"),
        ("c", "error"),
        ("b", "ok"),
        ("d", "error"),
        ("d", "interrupted"),
        ("input-0", "ok"),
        ("d", "ok"),
    ]
    assert [step.kind for step in found.steps[:5]] == [
        "insertion",
        "execution",
        "insertion",
        "execution",
        "deletion",
    ]
    assert [(o.type, o.name, o.text, o.data.get("text/plain")) for o in ran[0].outputs[:3]] == [
        ("stream", "stdout", "one\n", None),
        ("display_data", None, None, "2"),
        ("stream", "stderr", "three\n", None),
    ]
    assert ran[0].outputs[-1].type == "execute_result"
    assert ran[0].source == shows
    assert ran[1].error is not None
    assert ran[1].error.value == "division by zero"
    assert ran[1].count == ran[0].count + 1  # type: ignore[operator]  # neither silent nor inner runs are counted
    assert all(one.wall_s is not None and one.memory_after for one in ran)
    after = [state for _, state in states(found.steps)]
    assert after[0] is not None
    assert {"kept", "before", "inner"} <= {*after[0].variables}
    assert after[2] is not None
    assert (after[2].mutated, after[2].removed) == (("kept",), ("before",))
    assert found.environment is not None
    assert "ipykernel" in found.environment.packages


def test_masking_and_going_on(kernel: Kernel, tmp_path: Path) -> None:
    """Masked, secrets are in no file; the same file goes on in the same kernel as if nothing had been."""
    kernel.run("%deskcheck record . --mask --mask-name iban")
    kernel.run("password = 'swordfish-9'; my_iban = 'DE00000001'\nprint(password, my_iban)", "a")
    (part,) = tmp_path.glob("*.part")
    assert b"swordfish" not in part.read_bytes()
    assert b"DE0000" not in part.read_bytes()
    assert "secrets are masked" in kernel.run("%deskcheck status").said["stdout"]
    kernel.run("%deskcheck stop")
    path = part.with_suffix("")
    steps = len(recorded(path).steps)
    kernel.run("%deskcheck record . --mask --mask-name iban")
    kernel.run("x = 1", "b")
    kernel.close()  # an ordinary end makes the file
    found = recorded(path)
    assert len(found.steps) > steps
    assert not [step for step in found.steps if isinstance(step, Restart)]
    assert b"swordfish" not in path.read_bytes()


@pytest.mark.slow
def test_a_late_interrupt(kernel: Kernel, tmp_path: Path) -> None:
    """An interrupt that comes after the cell, while its variables are looked at, changes nothing."""
    kernel.run(f"%deskcheck record {tmp_path}")
    kernel.run(
        "import os, signal\nfrom deskcheck.notebook import register\nclass Probe: pass\n"
        "register('Probe', lambda probe: os.kill(os.getpid(), signal.SIGINT) or {'seen': True})"
    )
    assert kernel.run("probe = Probe()", "b").reply["status"] == "ok"
    assert kernel.run("raise KeyboardInterrupt", "b").reply["ename"] == "KeyboardInterrupt"
    kernel.run("%deskcheck stop")
    (path,) = tmp_path.glob("*.parquet")
    found = [pair for pair in states(recorded(path).steps) if pair[0].cell == "b"]
    assert [one.status.value for one, _ in found] == ["ok", "interrupted"]
    assert found[0][1] is not None
    assert found[0][1].variables["probe"].described == {"seen": True}


@pytest.mark.slow
def test_a_killed_kernel(kernel: Kernel, tmp_path: Path) -> None:
    """What was recorded survives a kill, and the next kernel goes on from there, after a death."""
    path = tmp_path / "work.trajectory.parquet"
    kernel.run(f"%deskcheck record {path} --no-state")
    kernel.run("x = 1", "a")
    kernel.manager.signal_kernel(signal.SIGKILL)
    kernel.manager.provisioner.process.wait(WAIT_S)
    assert begun(path) is not None
    (tmp_path / "second").mkdir()
    second = Kernel(tmp_path / "second")
    try:
        second.run("%load_ext deskcheck")
        second.run(f"%deskcheck record {path}")
        second.run("x", "a")
    finally:
        second.close()
    found = recorded(path)
    assert [step.kind for step in found.steps] == ["insertion", "execution", "restart", "edit", "execution"]
    assert [one.status.value for one in found.executions] == ["ok", "error"]
    assert [step.why for step in found.steps if isinstance(step, Restart)] == ["died"]


def test_wrong_words(kernel: Kernel, tmp_path: Path) -> None:
    """Each mistake is a line that says what to do; the cell is none of an error's."""
    for line, said in [
        ("", "the following arguments are required"),
        ("sing", "invalid choice: 'sing'"),
        ("stop", "Nothing is recorded. To begin"),
        ("record", "the following arguments are required: path"),
        ("record work.ipynb", "name a folder, or a file that ends in .trajectory.parquet"),
        ("record . --mask-text (", "is not a regular expression"),
        ("record 'x", "No closing quotation"),
        ("record /proc/here", "/proc/here"),
        ("context nothing", "unknown variable 'nothing'"),
    ]:
        ran = kernel.run(f"%deskcheck {line}")
        assert (line, ran.reply["status"]) == (line, "ok")
        assert said in ran.said["stderr"], line
        assert "Traceback" not in ran.said["stderr"], line
    assert "Nothing is recorded" in kernel.run("%deskcheck status").said["stdout"]
    assert list(tmp_path.rglob("*trajectory*")) == []


def test_a_failing_disk(kernel: Kernel, tmp_path: Path) -> None:
    """Where the file cannot be written any more the recording stops and says so; the cells go on."""
    kernel.run(f"%deskcheck record {tmp_path}")
    kernel.run("x = 1", "a")
    kernel.run("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))", "b")
    ran = kernel.run("x + 1", "c")
    assert ran.reply["status"] == "ok"
    assert "execute_result" in ran.kinds
    assert "has stopped" in kernel.run("%deskcheck status").said["stdout"]
    assert kernel.run("x").reply["status"] == "ok"


def test_context(kernel: Kernel) -> None:
    """The variables that code depends on, through functions of earlier cells; all; some; without secrets;
    and no code of the user's runs."""
    kernel.run(
        "class Loud:\n    def __repr__(self): raise SystemExit('shown')\nloud = Loud()\nrate = 3\nother = 4"
    )
    kernel.run("def scaled(x):\n    return x * rate\napi_key = 'not-for-models'\nhistory = [api_key]")
    said = kernel.run("%%deskcheck context --time-s 60 --budget 200\nscaled(5)").said["stdout"]
    assert "rate: int = 3" in said
    assert "scaled: function" in said
    assert "other" not in said
    said = kernel.run("%deskcheck context --time-s 60").said["stdout"]
    assert "loud: Loud" in said
    assert "not-for-models" not in said
    assert "not-for-models" in kernel.run("%deskcheck context history --no-mask").said["stdout"]
    said = kernel.run("import deskcheck; print(deskcheck.context(['rate'], form='json', budget=100))").said[
        "stdout"
    ]
    assert '"name": "rate"' in said
    assert kernel.run("%deskcheck context --budget 0").said.get("stdout", "") == ""


@pytest.mark.slow
def test_notebooks_of_one_name_in_one_folder(kernel: Kernel, tmp_path: Path) -> None:
    """A kernel that is not told its notebook's name goes by its own; one of the same name as an earlier one,
    in another folder, has a file of its own; the same notebook again has the same."""
    out = tmp_path / "rec"
    written = []
    for told in (None, "/home/one/x.ipynb", "/home/two/x.ipynb", "/home/one/x.ipynb"):
        kernel.run(f"__session__ = {told!r}")
        kernel.run(f"%deskcheck record {out}")
        kernel.run(f"print({told!r})", "a")
        kernel.run("%deskcheck stop")
        written.append({path.name for path in out.iterdir()})
    (first,) = written[0]
    assert first.startswith("kernel-")
    assert "x.trajectory.parquet" in written[1]
    assert len(written[2]) == 3
    assert written[3] == written[2]
    said = [one.text().strip() for one in recorded(out / "x.trajectory.parquet").executions]
    assert [text for text in said if text] == ["/home/one/x.ipynb"] * 2


def test_the_peak_of_memory(kernel: Kernel, tmp_path: Path) -> None:
    """A cell that fills memory and gives it back shows it, and the next one does not."""
    path = tmp_path / "m.trajectory.parquet"
    kernel.run(f"%deskcheck record {path}")
    kernel.run("len(bytearray(b'x') * (80 << 20))", "a")
    kernel.run("1", "b")
    kernel.run("%deskcheck stop", "c")
    first, second = list(recorded(path).executions)[:2]
    if first.memory_peak is None or first.memory_after is None or second.memory_peak is None:
        pytest.skip("would have proved that peaks are measured: this system does not reset them")
    assert first.memory_peak > first.memory_after + (60 << 20)
    assert second.memory_peak < first.memory_peak - (60 << 20)
