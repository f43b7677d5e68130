"""Notebooks checked in shards: the report of `check_notebooks`, resumed, disturbed, refused."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.errors import InputError
from deskcheck.jobs import JobSummary, LocalPool
from deskcheck.jobs.status import changed, failures, status
from deskcheck.notebook.check.check import (
    NotebookReport,
    NotebookStatus,
    Report,
    check_notebooks,
)
from deskcheck.notebook.check.job import check_in_shards
from deskcheck.notebook.check.normalise import NORMALISERS
from deskcheck.notebook.settings import CheckSettings
from deskcheck.sandbox.confinement import Confinement
from tests.conftest import skip_without_ray
from tests.jobs.jobs import KILL_THE_WORKER
from tests.notebook.books import cell, printed, save, shown

ROOT = Path(__file__).parents[2]


def some(folder: Path) -> Path:
    """One notebook in each way to end that takes no time, and files around them."""
    (folder / "sub").mkdir(parents=True)
    (folder / "data.txt").write_text("17")
    save(folder / "sub" / "good.ipynb", cell("print(open('../data.txt').read())", printed("17\n")))
    save(folder / "other.ipynb", cell("'a'", shown("'\ud800'")), cell("print('a  b')", printed("a b\n")))
    save(folder / "r.ipynb", cell("1"), kernelspec={"name": "ir", "language": "R"})
    (folder / "cut.ipynb").write_text('{"nbformat": 4')
    return folder


def in_shards(folder: Path, out: Path, *, size: int = 2, **more: Any) -> tuple[Report, JobSummary]:
    return check_in_shards([folder], out, runner=LocalPool(2), size=size, **more)


def timeless(report: Report) -> tuple[Report, dict[str, Any]]:
    """All of a report but times."""

    def no_times(found: NotebookReport) -> NotebookReport:
        return replace(found, seconds=0, cells=tuple(replace(each, wall_s=None) for each in found.cells))

    told = replace(report, notebooks=[no_times(found) for found in report.notebooks])
    return told, told.to_dict()


class TestRuns:
    @pytest.fixture(autouse=True)
    def kernels(self) -> None:
        pytest.importorskip("ipykernel", reason="would have proved that notebooks are checked in shards")

    @pytest.mark.slow
    def test_the_report_is_that_of_check(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Notebook for notebook and cell for cell, under the names that were given; only what is to stay stays. Again
        does nothing; one notebook more makes its shard and no other; one that is changed is not mixed with what is
        there; other settings are refused."""
        folder = some(tmp_path / "in")
        monkeypatch.chdir(tmp_path)
        plain = check_notebooks(["in"])
        report, done = check_in_shards(["in"], tmp_path / "out", runner=LocalPool(2), size=1)
        assert timeless(report) == timeless(plain)
        assert plain.fired == {"white space": 1}
        assert plain.environment is not None
        assert {found.status for found in report.notebooks} == {
            NotebookStatus.UNREADABLE,
            NotebookStatus.DIFFERENT,
            NotebookStatus.NO_KERNEL,
            NotebookStatus.SAME,
        }
        assert [found.path for found in report.notebooks] == [
            f"in/{name}.ipynb" for name in ("cut", "other", "r", "sub/good")
        ]
        assert (done.recorded, done.totals.programs, done.totals.events) == (4, 4, 3)
        assert done.totals.shards > 2
        left = {path.name.partition("-")[0] for path in (tmp_path / "out").iterdir()}
        assert left == {"notebooks", "job.json", "manifest.jsonl"}
        of_job = status(tmp_path / "out")
        assert (of_job.kind, of_job.whole, of_job.totals.by_outcome["same"]) == ("notebooks", True, 1)
        assert changed(tmp_path / "out") == []

        times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")}
        again, done = in_shards(folder, tmp_path / "out", size=1)
        assert (done.recorded, done.skipped) == (0, 4)
        assert [found.path for found in again.notebooks] == [str(tmp_path / n.path) for n in report.notebooks]
        assert again.notebooks[0].detail.startswith(f"{folder}/cut.ipynb: ")
        (folder / "z.ipynb").write_text("[]")
        more, done = in_shards(folder, tmp_path / "out", size=1)
        assert (done.recorded, done.skipped) == (1, 4)
        assert [found.status.value for found in more.notebooks][-1] == "unreadable"
        assert {path: path.stat().st_mtime_ns for path in times} == times

        save(folder / "r.ipynb", cell("2"), kernelspec={"name": "ir", "language": "R"})
        with pytest.raises(InputError, match=r"has 1 shards that are not in this plan.*--replace"):
            in_shards(folder, tmp_path / "out", size=1)
        _, done = in_shards(folder, tmp_path / "out", size=1, replace=True)
        assert (done.recorded, done.skipped) == (1, 4)
        with pytest.raises(InputError, match="shards that are not in this plan"):
            in_shards(folder, tmp_path / "out", size=1, settings=CheckSettings(runs=1))
        with pytest.raises(InputError, match=r"is the folder of a job.*--shards"):
            check_notebooks([folder], out=tmp_path / "out")

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_the_driver_is_killed(self, tmp_path: Path, number: int) -> None:
        """What is whole stays and is not run again; started again the report is that of a job that nothing happened
        to."""
        folder = tmp_path / "in"
        folder.mkdir()
        for n in range(6):
            save(
                folder / f"{n}.ipynb",
                cell("import time; time.sleep(0.2)"),
                cell(f"print({n})", printed("3\n")),
            )
        undisturbed, _ = in_shards(folder, tmp_path / "undisturbed", size=1)
        out = tmp_path / "out"
        command = [sys.executable, "-m", "deskcheck", "notebooks", "check", str(folder)]
        command += ["--shards", "1", "--workers", "1", "--out", str(out)]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as driver:
            while not any(out.glob("notebooks-*.parquet")) and driver.poll() is None:
                time.sleep(0.01)
            driver.send_signal(number)
        assert driver.returncode == (-number if number == signal.SIGKILL else 128 + number)
        whole = {path: path.stat().st_mtime_ns for path in out.glob("notebooks-*.parquet")}
        report, done = in_shards(folder, out, size=1)
        assert timeless(report) == timeless(undisturbed)
        assert report.by_status == {NotebookStatus.SAME: 1, NotebookStatus.DIFFERENT: 5}
        assert 0 < done.skipped < 6
        assert {path: path.stat().st_mtime_ns for path in whole} == whole
        assert not (out / ".job").exists()

    @pytest.mark.slow
    def test_a_notebook_that_ends_its_worker_stands_alone(self, tmp_path: Path) -> None:
        """It is named with how that was, and the notebook beside it in its shard is as without it; the command ends
        with status 2."""
        folder = tmp_path / "in"
        folder.mkdir()
        save(folder / "a.ipynb", cell("1", shown("1")))
        save(folder / "deadly.ipynb", cell(f"{KILL_THE_WORKER}\nf(9)"))
        command = ["notebooks", "check", str(folder), "--shards", "4", "--out", str(tmp_path / "out")]
        command += ["--sandbox", "trusted", "--workers", "1", "--json", str(tmp_path / "report.json")]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2, done.output
        report = json.loads((tmp_path / "report.json").read_text())
        assert report["by_status"] == {"same": 1, "harness_error": 1}
        deadly = next(found for found in report["notebooks"] if found["status"] == "harness_error")
        assert "killed by SIGKILL (3 times)" in deadly["detail"]
        assert "failures of deskcheck" in done.stdout
        assert failures(tmp_path / "out") == {
            "harness_error": {str(folder / "deadly.ipynb"): deadly["detail"]}
        }
        told = CliRunner().invoke(app, ["runs", "status", str(tmp_path / "out")]).stdout
        assert "2 notebooks in 1 shards are planned; complete: 2 notebooks in 1 shards, 1 cells" in told
        assert CliRunner().invoke(app, command).exit_code == 2

    @pytest.mark.slow
    def test_what_a_killed_worker_had_run_is_not_run_again(self, tmp_path: Path) -> None:
        """A worker that is killed in its second notebook: the first was run once, and both are as without that."""
        folder = tmp_path / "in"
        folder.mkdir()
        out = tmp_path / "count"
        save(folder / "a.ipynb", cell(f"print('x', file=open({str(out)!r}, 'a'))", count=None))
        once = f"import os\nif not os.path.exists({str(out)!r} + '2'):\n    open({str(out)!r} + '2', 'w')\n    f(9)"
        save(folder / "b.ipynb", cell(f"{KILL_THE_WORKER}\n{once}", count=None), cell("1", shown("1")))
        settings = CheckSettings(sandbox=Confinement.TRUSTED)
        report, done = check_in_shards([folder], tmp_path / "out", settings, runner=LocalPool(1), size=4)
        assert done.tried_again == {"killed by SIGKILL": 1}
        assert out.read_text() == "x\n"
        assert [found.status.value for found in report.notebooks] == ["no_stored_output", "same"]
        assert report.environment is not None

    @pytest.mark.exhaustive
    @pytest.mark.usefixtures("one_ray_at_a_time")
    @pytest.mark.skipif(
        find_spec("ray") is None,
        reason="needs the extra [scale]: would have proved that Ray finds what the pool finds",
    )
    def test_on_ray(self, tmp_path: Path) -> None:
        """`deskcheck notebooks check --on ray` reports what `deskcheck notebooks check` does; the pool, which goes on with
        that job, finds nothing to do."""
        some(tmp_path / "in")
        path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
        found = []
        for more in ((), ("--on", "ray", "--shards", "1")):
            command = ["notebooks", "check", "in", "--out", f"out{len(more)}", "--json", "report.json", *more]
            ran = subprocess.run(
                [sys.executable, "-m", "deskcheck", *command],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": path, "RAY_ADDRESS": "local"},
                capture_output=True,
                text=True,
                timeout=1500,
                check=False,
            )
            skip_without_ray(ran.stderr, "Ray finds what the pool finds")
            assert ran.returncode == 1, ran.stderr[-3000:]
            text = (tmp_path / "report.json").read_text()
            found.append(re.sub(r'("wall_s"|"seconds"): [0-9.e-]+', "", text))
        assert found[0] == found[1]
        assert len([*(tmp_path / "out4").glob("notebooks-*.parquet")]) > 2
        report, done = in_shards(tmp_path / "in", tmp_path / "out4", size=1)
        assert (done.recorded, done.skipped, len(report.notebooks)) == (0, 4, 4)


def test_rows_are_read_as_they_are(tmp_path: Path) -> None:
    """A shard is a table that others read, too; what UTF-8 has not is a question mark there and whole in the report."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.ipynb").write_text("{")
    os.rename(folder / "a.ipynb", os.fsencode(folder) + b"/\xff.ipynb")
    report, _ = in_shards(folder, tmp_path / "out")
    (row,) = pq.read_table(next((tmp_path / "out").glob("notebooks-*.parquet"))).to_pylist()
    assert (row["path"], row["status"], row["cells"]) == (f"{folder}/?.ipynb", "unreadable", 0)
    assert timeless(report) == timeless(check_notebooks([folder]))
    assert report.notebooks[0].path == f"{folder}/\udcff.ipynb"


def test_wrong_calls(tmp_path: Path) -> None:
    """Are refused before anything is made."""
    save(tmp_path / "a.ipynb", cell("1"))
    for arguments, said in (
        (["--shards", "2"], "need a folder: add --out"),
        (["--on", "ray"], "need a folder: add --out"),
        (["--on", "local", "--ray-address", "a:1", "--out", "x"], "needs --on ray"),
    ):
        found = CliRunner().invoke(app, ["notebooks", "check", str(tmp_path), *arguments])
        assert said in str(found.exception)
    with pytest.raises(InputError, match=r"has no \.ipynb files"):
        in_shards(ROOT / "src" / "deskcheck" / "jobs", tmp_path / "out")
    mine = replace(NORMALISERS[0], name="mine")
    with pytest.raises(ValueError, match=r"\['mine'\]: a job takes only those of NORMALISERS and sanitisers"):
        in_shards(tmp_path, tmp_path / "out", settings=CheckSettings(normalisers=(mine,)))
    assert not (tmp_path / "out").exists()
