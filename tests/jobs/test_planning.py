"""Shards are recorded while later programs are still being read, and what an earlier plan says is not mixed with
what this one does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace as replacing
from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.jobs import JobSummary, LocalPool, Progress
from deskcheck.jobs import job as job_module
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.plan import Shard, read_plan
from deskcheck.jobs.status import status
from deskcheck.recorder.job import record_job
from deskcheck.recording.program import Program
from tests.jobs.jobs import OPEN, sums
from tests.jobs.same import digests, order

ROOT = Path(__file__).parents[2]
DEADLINE_S = 240


def shards_there(folder: Path) -> int:
    return len([*folder.glob("recordings-*.parquet")])


def slow_after(first: int, count: int, folder: Path) -> Iterator[Program]:
    """Programs, of which those after some `first` are there only when a shard is whole."""
    yield from sums(first)
    end = time.monotonic() + DEADLINE_S
    while not shards_there(folder):
        assert time.monotonic() < end, "no shard was recorded while programs were still to come"
        time.sleep(0.01)
    yield from sums(count - first, first)


def job(programs: Iterable[Program], folder: Path, *, replace: bool = False) -> JobSummary:
    return record_job(programs, folder, runner=LocalPool(1), settings=OPEN, size=10, replace=replace)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is planned before the first shard is given out."""
    monkeypatch.setattr(job_module, "_BEFORE_S", 0.0)


@pytest.mark.slow
def test_the_first_shard_does_not_wait_for_the_plan(tmp_path: Path) -> None:
    """A source that gives its later programs only when a shard is whole comes to its end, and what is recorded is
    what is recorded of them all at once."""
    told: list[Progress] = []
    folder = tmp_path / "runs"
    record_job(
        slow_after(25, 60, folder), folder, runner=LocalPool(1), settings=OPEN, size=10, progress=told.append
    )
    assert status(folder).whole
    assert not told[-1].planning
    job(sums(60), tmp_path / "all")
    assert digests(folder) == digests(tmp_path / "all")
    assert order(folder) == order(tmp_path / "all")
    assert not (folder / ".job").exists()


JOB = """
import sys, time
from pathlib import Path
from deskcheck.recorder.job import record_job
from deskcheck.jobs import LocalPool
from deskcheck.jobs import job as job_module
from tests.jobs.jobs import OPEN, sums
from tests.jobs.test_planning import slow_after
job_module._BEFORE_S = 0.0

def programs(folder):
    yield from slow_after(35, 36, folder)
    print("waits", flush=True)
    time.sleep(1000)

folder = Path(sys.argv[1])
record_job(programs(folder), folder, runner=LocalPool(1), settings=OPEN, size=10)
"""


@pytest.fixture
def cut_short(tmp_path: Path) -> Path:
    """The folder of a job that was killed when a shard was whole and programs were still to come."""
    folder = tmp_path / "cut"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "waits\n"
        found = status(folder)
        assert found.driver is not None
        assert not found.planned
        assert not found.whole
        assert 10 < found.programs <= 36
        driver.send_signal(signal.SIGKILL)
    return folder


@pytest.mark.slow
def test_killed_while_it_plans_it_goes_on(cut_short: Path, tmp_path: Path) -> None:
    """Started again with all programs, it keeps what is whole and ends as an undisturbed job; it is not held up by
    what the earlier start had not read."""
    before = shards_there(cut_short)
    summary = job(sums(60), cut_short)
    assert summary.skipped >= 5 * before > 0
    job(sums(60), tmp_path / "all")
    assert digests(cut_short) == digests(tmp_path / "all")
    assert order(cut_short) == order(tmp_path / "all")


@pytest.mark.slow
def test_other_programs_are_refused_and_nothing_is_mixed(cut_short: Path, tmp_path: Path) -> None:
    """Started again with one of the first programs changed, nothing that the old plan does not have is recorded
    before the refusal; `--replace` takes it, and the same programs are still welcome after that refusal."""
    changed = [replacing(p, arguments="(9,)") if p.id == "sum2" else p for p in sums(60)]
    names = {path.name for path in cut_short.glob("*.parquet")}
    with pytest.raises(InputError, match="that are not in this plan"):
        job(changed, cut_short)
    assert {path.name for path in cut_short.glob("*.parquet")} == names
    assert {path.stem.partition("-")[2] for path in cut_short.glob("recordings-*.parquet")} <= {
        shard.name for shard in planned(cut_short)
    }
    job(changed, cut_short, replace=True)
    job(changed, tmp_path / "all")
    assert digests(cut_short) == digests(tmp_path / "all")


def planned(folder: Path) -> Iterator[Shard]:
    yield from read_plan(JobFolder(folder)).shards


@pytest.mark.slow
def test_a_program_at_the_end_does_not_hold_up_what_is_the_same(tmp_path: Path) -> None:
    """To a job that is whole programs are added: its own shards stay but for the last, which has to be replaced."""
    folder = tmp_path / "runs"
    job(sums(40), folder)
    with pytest.raises(InputError, match="has 1 shards that are not in this plan"):
        job(sums(60), folder)
    summary = job(sums(60), folder, replace=True)
    assert summary.skipped > 0
    job(sums(60), tmp_path / "all")
    assert digests(folder) == digests(tmp_path / "all")


@pytest.mark.slow
def test_twins_that_are_found_late(tmp_path: Path) -> None:
    """Two programs of one id, of which the second comes when a shard is whole: the job ends with a word, no shard
    that has the second is made, and without it the job goes on from what is whole."""
    folder = tmp_path / "runs"

    def programs() -> Iterator[Program]:
        yield from slow_after(35, 36, folder)
        yield from sums(1, 3)

    with pytest.raises(InputError, match="two items have the id 'sum3'"):
        job(programs(), folder)
    assert shards_there(folder) > 0
    assert not status(folder).whole
    summary = job(sums(60), folder)
    assert summary.skipped > 0
    job(sums(60), tmp_path / "all")
    assert digests(folder) == digests(tmp_path / "all")
