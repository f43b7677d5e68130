"""A folder of everything that goes wrong: each a clear status or error, the rest goes on, nothing recorded is lost."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notebook.kernel.record import record_notebooks
from deskcheck.notebook.kernel.replayer import replay
from deskcheck.notebook.settings import ReplayLimits
from deskcheck.notebook.trajectory.file import read_trajectory
from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Restart, Status, Trajectory
from deskcheck.recording import InputError
from tests.notebook import books
from tests.notebook.books import code

pytest.importorskip(
    "ipykernel", reason="would have proved that bad notebooks do not keep others from running"
)


def book(*sources: str, **more: Any) -> dict[str, Any]:
    return books.book(*map(code, sources), minor=4, **more)


OLD_CELL = {
    "cell_type": "code",
    "input": "1 + 1",
    "language": "python",
    "outputs": [],
    "collapsed": False,
    "metadata": {},
}
OLD = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": [OLD_CELL]}]}
NOT_INSTALLED = {"kernelspec": {"name": "my-old-env", "language": "python", "display_name": "x"}}
R = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}}
FORK = "import os\nchild = os.fork()\nif child: _ = os.waitpid(child, 0)"
BOOKS: dict[str, tuple[Any, list[str] | str]] = {
    "clears": (book("from IPython.display import *\nprint(1); clear_output(); d = display(1, display_id=True); d.update(2)"), ["ok"]),
    "cut": (json.dumps(book("1"))[:70], "cut off after 70 bytes"),
    "dies": (book("print(1)", "import os; os.kill(os.getpid(), 9)", "print(2)"), ["ok", "died", "ok"]),
    "empty": ("", "cut off"),
    "endless": (book("print('begun')\nwhile True: pass", "print(2)"), ["timed_out", "ok"]),
    "floods": (book("for _ in range(100): print('x' * 1_000_000)", "print(2)"), ["ok", "ok"]),
    "forks": (book(FORK, "print(2)"), ["ok", "ok"]),
    "inputs": (book("input('name? ')", "print(2)"), ["error", "ok"]),
    "no_kernelspec": (book("1"), ["ok"]),
    "not_installed": (book("1", metadata=NOT_INSTALLED), ["ok"]),
    "other_language": (book("cat(1)", metadata=R), "for R (kernel 'ir')"),
    "poems": (book(cells=[{"cell_type": "poem", "source": "rose", "metadata": {}}, code("1")]), ["ok"]),
    "surrogates": (book("x = '\ud800'", "print(2)"), ["error", "ok"]),
    "version_3": (OLD, ["ok"]),
}  # fmt: skip


@pytest.mark.slow
def test_a_folder_of_bad_notebooks(tmp_path: Path) -> None:
    """Every notebook ends as it must, by its name; the others are whole."""
    (tmp_path / "in").mkdir()
    for name, (content, _) in BOOKS.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "in" / f"{name}.ipynb").write_text(text)
    command = [
        "record",
        f"notebooks:{tmp_path / 'in'}",
        "--out",
        str(tmp_path / "out"),
        "--no-repeat",
        "--json",
    ]
    done = CliRunner().invoke(app, [*command, "--cell-s", "3", "--workers", "2"])
    assert done.exit_code == 1, done.output
    summary = json.loads(done.stdout)
    for name, (_, expected) in BOOKS.items():
        if isinstance(expected, str):
            assert expected in summary["problems"].pop(name)
        else:
            found = read_trajectory(tmp_path / "out" / f"{name}.trajectory.parquet")
            assert [step.status for step in found.executions] == expected, name
    assert summary["problems"] == {}
    flood = next(read_trajectory(tmp_path / "out" / "floods.trajectory.parquet").executions)
    assert sum(each.length or 0 for each in flood.outputs) == 100_000_100
    assert (tmp_path / "out" / "floods.trajectory.parquet").stat().st_size < 5_000_000
    for name, said in (("version_3", "converted from nbformat 3"), ("poems", "unknown type 'poem'")):
        assert said in summary["notes"][name]


FULL = """
set -u
mount -t tmpfs -o size=300k none "$OUT" || exit 99
"$PYTHON" -m deskcheck record "$IN" --out "$OUT" --no-repeat --sandbox trusted; echo "first $?"
mount -o remount,size=50m "$OUT"
"$PYTHON" -m deskcheck record "$IN" --out "$OUT" --no-repeat --sandbox trusted; echo "second $?"
cp "$OUT"/*.parquet "$KEPT"
"""


@pytest.mark.exhaustive
def test_a_full_disk(tmp_path: Path) -> None:
    """A recording on a disk that fills up says so; with space again it goes on, and has every cell once."""
    for name in ("in", "out", "kept"):
        (tmp_path / name).mkdir()
    noise = "import random\nprint(''.join(random.choices('0123456789abcdef', k=20_000)), {})"
    sources = [noise.format(number) for number in range(40)]
    (tmp_path / "in" / "n.ipynb").write_text(json.dumps(book(*sources)))
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: would have proved what happens on a full disk")
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", FULL],
        env={
            **os.environ,
            "PYTHON": sys.executable,
            "IN": str(tmp_path / "in" / "n.ipynb"),
            "OUT": str(tmp_path / "out"),
            "KEPT": str(tmp_path / "kept"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"no mounts here: would have proved what happens on a full disk: {done.stderr}")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(("first", "second"))] == [
        "first 2",
        "second 0",
    ]
    found = read_trajectory(tmp_path / "kept" / "n.trajectory.parquet")
    assert [step.source for step in found.executions] == sources
    assert all(len(step.text()) > 20_000 for step in found.executions)
    (restart,) = (step for step in found.steps if isinstance(step, Restart))
    assert restart.why == "resumed"
    assert 3 < restart.again < 40


@pytest.mark.slow
def test_an_interrupt_that_is_said_once(tmp_path: Path) -> None:
    """Stops the replay for good: the cell that was stopped is not in the record, and is run when it goes on."""
    cells = tuple(
        Cell(id=f"c{n}", source=s) for n, s in enumerate(("1", "import time; time.sleep(4); 2", "3"))
    )
    order = tuple(cell.id for cell in cells)
    steps = tuple(Execution(cell=c.id, source=c.source, order=order, status=Status.UNKNOWN) for c in cells)
    given = Trajectory(id="n", source="test", cells=cells, steps=steps)
    path = tmp_path / "n.trajectory.parquet"
    part = path.with_name(path.name + ".part")
    said: list[bool] = []

    def once() -> bool:
        if said or part.read_text().count("\n") < 2:
            return False
        said.append(True)
        return True

    with pytest.raises(KeyboardInterrupt):
        replay(given, path, limits=ReplayLimits(cell_s=60), interrupted=once)
    assert part.read_text().count("\n") == 2
    found = replay(given, path, limits=ReplayLimits(cell_s=60))
    assert [step.status for step in found.executions] == ["ok"] * 3


def test_a_notebook_is_named_with_or_without_its_word(tmp_path: Path) -> None:
    """`notebooks:FILE.ipynb` records that notebook, as `FILE.ipynb` does; what is not there is said."""
    (tmp_path / "k.ipynb").write_text(json.dumps(book("x = 1")))
    options = ["--out", str(tmp_path / "out"), "--no-repeat", "--sandbox", "trusted"]
    done = CliRunner().invoke(app, ["record", f"notebooks:{tmp_path / 'k.ipynb'}", *options])
    assert done.exit_code == 0, done.output
    assert "recorded 1 notebook" in done.stdout
    again = CliRunner().invoke(app, ["record", str(tmp_path / "k.ipynb"), *options])
    assert "skipped 1, already in the folder" in again.stdout
    with pytest.raises(InputError, match=r"notebooks:no\.ipynb: no such file: no\.ipynb"):
        record_notebooks(["notebooks:no.ipynb"], tmp_path / "out")
