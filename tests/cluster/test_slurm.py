"""What docs/guides/slurm.md shows, as far as one machine can: Slurm's variables are set here, and its signals sent."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskcheck.jobs.status import status
from tests.jobs.same import digests

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "cluster" / "deskcheck.sbatch"
SOURCE = ("generated:60,inputs=1,difficulty=1", "--shards", "5", "--no-repeat")


class Slurm:
    """The script's surroundings: variables, a folder, `aws`, and `scontrol`, of which is kept what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked"
        commands = folder / "bin"
        commands.mkdir()
        scontrol = commands / "scontrol"
        scontrol.write_text(f'#!/bin/sh\necho "$@" >> {self.asked}\n')
        scontrol.chmod(0o755)
        aws = commands / "aws"  # between folders, as `aws s3 sync FROM TO --exclude .lock`
        aws.write_text('#!/bin/sh\nmkdir -p "$4" && cp -a "$3"/. "$4" && rm -f "$4"/.lock\n')
        aws.chmod(0o755)
        self.variables = {
            **os.environ,
            "PATH": f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "SLURM_JOB_ID": "4711",
            "SLURM_CPUS_PER_TASK": "2",
        }

    def start(self, runs: Path, **variables: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", str(SCRIPT), str(runs), *SOURCE],
            cwd=self.folder,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self, runs: Path, **variables: str) -> str:
        """Start it, and send SIGTERM to the script alone when a shard is whole; what it said."""
        with self.start(runs, **variables) as script:
            while not (runs / "manifest.jsonl").exists() and script.poll() is None:
                time.sleep(0.01)
            script.send_signal(signal.SIGTERM)
            said, _ = script.communicate()
        assert script.returncode == 143, said
        return said

    def finish(self, runs: Path, **variables: str) -> str:
        with self.start(runs, **variables) as script:
            said, _ = script.communicate()
        assert script.returncode == 0, said
        return said


@pytest.mark.exhaustive
@pytest.mark.level("strict")
def test_a_job_whose_time_is_up_goes_back_into_the_queue_and_on(tmp_path: Path) -> None:
    """At SIGTERM what is whole stays and the job is queued again; started again, also on a node with an empty disk,
    it does the rest. The result is that of a job that nothing happened to."""
    slurm, remote = Slurm(tmp_path), str(tmp_path / "remote")
    first, second = tmp_path / "node1", tmp_path / "node2"
    said = slurm.stop(first, DESKCHECK_REMOTE=remote)
    assert slurm.asked.read_text() == "requeue 4711\n"
    assert "back into the queue" in said
    stopped = status(first)
    assert 0 < stopped.totals.programs < 60
    assert stopped.driver is None

    slurm.finish(second, DESKCHECK_REMOTE=remote)
    assert slurm.asked.read_text() == "requeue 4711\n"
    assert status(second).whole
    assert 0 < len(digests(first)) < len(digests(second)) == 60
    slurm.finish(tmp_path / "undisturbed")
    assert digests(second) == digests(tmp_path / "undisturbed")
    assert digests(tmp_path / "remote") == digests(second)


def test_an_error_is_not_queued_again(tmp_path: Path) -> None:
    """Where the job itself fails, its status is the script's, and it would fail again."""
    slurm = Slurm(tmp_path)
    (tmp_path / "runs").write_text("no folder")
    with slurm.start(tmp_path / "runs") as script:
        said, _ = script.communicate()
    assert script.returncode == 2, said
    assert not slurm.asked.exists()


def test_the_page_shows_the_script() -> None:
    """Each line of the script that the page quotes is in it, and files that it names are there."""
    page, script = (ROOT / "docs" / "guides" / "slurm.md").read_text(), SCRIPT.read_text()
    quoted = re.findall(r"`(#SBATCH [^`]*)`", page)
    assert quoted
    assert [line for line in quoted if line not in script] == []
    for path in re.findall(r"\]\(([^)#:]+)\)", page):
        assert (ROOT / "docs" / "guides" / path).exists(), path
