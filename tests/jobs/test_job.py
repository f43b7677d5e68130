"""A job on this machine: whole, resumed, disturbed, refused. What comes out is always the same."""

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace as replacing
from pathlib import Path

import pytest

from deskcheck.errors import InputError, RecordingError
from deskcheck.jobs import JobSummary, LocalPool
from deskcheck.jobs.status import changed, failures, status
from deskcheck.recorder.job import record_job
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from tests.jobs.jobs import HOSTILE, OPEN, hostile, killer, sums
from tests.jobs.same import digests, order

JOB = """
import sys
from deskcheck.recorder.job import record_job
from deskcheck.jobs import LocalPool
from tests.jobs.jobs import OPEN, sums
record_job(sums(int(sys.argv[2])), sys.argv[1], runner=LocalPool(2), settings=OPEN, size=10)
"""
ROOT = Path(__file__).parents[2]


def job(
    programs: Iterable[Program], folder: Path, settings: RecordSettings = OPEN, *, replace: bool = False
) -> JobSummary:
    return record_job(programs, folder, runner=LocalPool(2), settings=settings, size=10, replace=replace)


def start(folder: Path, count: int) -> "subprocess.Popen[bytes]":
    """The same job in a process of its own."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder), str(count)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_until_recorded(folder: Path, driver: "subprocess.Popen[bytes]") -> None:
    """Until a program is finished in a shard that is not, or the driver ends."""
    while not any(folder.glob(".job/work/*/.spool/*.json")) and driver.poll() is None:
        time.sleep(0.01)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job of 60 programs that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    job(sums(60), folder)
    return folder


def test_a_job_records_what_the_recorder_records(tmp_path: Path, undisturbed: Path) -> None:
    """Row for row and event for event the shards hold what `record_programs` writes; only what is to stay stays."""
    record_programs(
        sums(60),
        tmp_path / "plain",
        RecordSettings(repeat=False, sandbox=Confinement.TRUSTED, limits=OPEN.limits),
    )
    assert digests(undisturbed) == digests(tmp_path / "plain")
    assert len(Recordings(undisturbed)) == 60
    left = Counter(path.name.partition("-")[0] for path in undisturbed.iterdir())
    shards = len(order(undisturbed))
    assert left == {"recordings": shards, "events": shards, "job.json": 1, "manifest.jsonl": 1}
    assert shards > 2


def test_the_manifest_tells_what_is_there(undisturbed: Path) -> None:
    """Counts and hashes are those of the files; a byte that is changed is found."""
    found = status(undisturbed)
    assert found.whole
    assert (found.totals.programs, found.programs, found.driver) == (60, 60, None)
    assert found.totals.by_outcome == {"returned": 60}
    assert found.totals.events == sum(len(r.trace) for r in Recordings(undisturbed))
    assert changed(undisturbed) == []
    path = next(undisturbed.glob("events-*.parquet"))
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
        assert changed(undisturbed) == [path.name]
    finally:
        path.write_bytes(whole)


def test_what_was_changed_is_made_again(tmp_path: Path, undisturbed: Path) -> None:
    """A byte that is another, a file that is cut, one that is gone, one of each table: the same job makes these
    shards again, and no others, and says which; then every file is as the manifest says."""
    folder = tmp_path / "runs"
    shutil.copytree(undisturbed, folder)
    events, recordings = sorted(folder.glob("events-*")), sorted(folder.glob("recordings-*"))
    whole = events[0].read_bytes()
    events[0].write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    recordings[1].write_bytes(recordings[1].read_bytes()[:-9])
    events[2].unlink()
    wrong = sorted(path.name for path in (events[0], recordings[1], events[2]))
    assert changed(folder) == wrong
    others = {path.name: path.stat().st_mtime_ns for path in (*events[3:], *recordings[3:])}
    again = job(sums(60), folder)
    assert again.changed == wrong
    assert again.recorded + again.skipped == 60
    assert again.recorded == sum(len(shard) for shard in order(undisturbed)[:3])
    assert changed(folder) == []
    assert {name: (folder / name).stat().st_mtime_ns for name in others} == others
    assert digests(folder) == digests(undisturbed)
    assert job(sums(60), folder).recorded == 0


def test_what_was_changed_and_is_of_no_plan_is_not_deleted(tmp_path: Path, undisturbed: Path) -> None:
    """Another job on the folder is refused, as where nothing was changed."""
    folder = tmp_path / "runs"
    shutil.copytree(undisturbed, folder)
    for path in folder.glob("recordings-*"):
        path.write_bytes(b"changed")
    before = {path.name for path in folder.iterdir()}
    with pytest.raises(InputError, match="shards that are not in this plan"):
        job(sums(12, 100), folder)
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.slow
def test_again_does_nothing_and_one_change_redoes_one_shard(tmp_path: Path) -> None:
    """The same job again records nothing; with one program changed, only its shard; it must be said that the old
    one may go."""
    folder = tmp_path / "runs"
    job(sums(60), folder)
    names = {path.name for path in folder.iterdir()}
    again = job(sums(60), folder)
    assert (again.recorded, again.skipped) == (0, 60)
    assert {path.name for path in folder.iterdir()} == names

    changed_one = [replacing(p, arguments="(7,)") if p.id == "sum30" else p for p in sums(60)]
    with pytest.raises(InputError, match=r"has 1 shards that are not in this plan.*--replace"):
        job(changed_one, folder)
    assert {path.name for path in folder.iterdir()} == names
    redone = job(changed_one, folder, replace=True)
    assert 0 < redone.recorded <= 20
    assert redone.recorded + redone.skipped == 60
    assert Recordings(folder)["sum30"].run_result.result == str(30 + sum(range(7)))
    job(changed_one, tmp_path / "anew")
    assert digests(folder) == digests(tmp_path / "anew")
    with pytest.raises(InputError, match="shards that are not in this plan"):
        job(sums(60), folder, replacing(OPEN, limits=Limits(cpu_s=6, wall_s=100)))


@pytest.mark.exhaustive
def test_what_kills_its_worker_stands_alone(tmp_path: Path) -> None:
    """Programs that kill the process that records them, each time: their rows say so and how, all others are
    as without them, in the same order."""
    bad = [killer("segfaults", signal.SIGSEGV), killer("is killed", signal.SIGKILL)]
    programs = [*sums(25), bad[0], *sums(9, 25), bad[1], *sums(6, 34)]
    summary = job(programs, tmp_path / "runs")
    recordings = Recordings(tmp_path / "runs")
    assert sorted(recordings.ids) == sorted(program.id for program in programs)
    assert set(summary.tried_again) == {"killed by SIGSEGV", "killed by SIGKILL"}
    for name, signal_name in (("segfaults", "SIGSEGV"), ("is killed", "SIGKILL")):
        assert recordings[name].outcome is Outcome.HARNESS_ERROR
        assert f"killed by {signal_name} (3 times)" in recordings[name].run_result.detail
        assert failures(tmp_path / "runs")["harness_error"][name] == recordings[name].run_result.detail
    job(sums(40), tmp_path / "without")
    without, found = digests(tmp_path / "without"), digests(tmp_path / "runs")
    assert {name: found[name] for name in without} == without
    in_shards = [name for shard in order(tmp_path / "runs") for name in shard]
    place = {program.id: n for n, program in enumerate(programs)}
    for shard in order(tmp_path / "runs"):
        assert [place[name] for name in shard] == sorted(place[name] for name in shard)
    assert len(in_shards) == len(programs)


@pytest.mark.slow
def test_every_way_to_fail_is_named(tmp_path: Path) -> None:
    """Programs that crash, fill the memory, loop, fork without end and write without end are rows with their kind."""
    bad = [hostile(kind, kind) for kind in HOSTILE]
    settings = RecordSettings(repeat=False, limits=Limits(cpu_s=1, wall_s=60))
    summary = job([*sums(12), *bad, *sums(4, 12)], tmp_path / "runs", settings)
    found = {r.id: r.outcome for r in Recordings(tmp_path / "runs")}
    assert len(found) == 21
    for name, (_, outcome) in HOSTILE.items():
        if outcome is None:
            assert found[name] is not Outcome.RETURNED
        else:
            assert found[name] is outcome, name
    assert summary.tried_again == {}
    named = failures(tmp_path / "runs")
    assert {"segfault", "memory", "loop", "output"} <= {name for kind in named.values() for name in kind}


@pytest.mark.slow
def test_the_driver_is_killed(tmp_path: Path, undisturbed: Path) -> None:
    """Killed at random moments, by -9 and as a batch scheduler does, and started again: the result is that of an
    undisturbed job, nothing twice, nothing missing, and nobody is left who writes there."""
    choose = random.Random(5)
    for number in (signal.SIGKILL, signal.SIGTERM):
        folder = tmp_path / f"runs{choose.random()}"
        for latest_s in (0.0, 0.6):  # in the middle of a shard at first
            with start(folder, 60) as driver:
                wait_until_recorded(folder, driver)
                time.sleep(choose.uniform(0, latest_s))
                driver.send_signal(number)
                _, said = driver.communicate()
            # Ended by the signal itself: it came before the job began.
            assert driver.returncode in (0, -number, 128 + number), said
        assert status(folder).driver is None
        job(sums(60), folder)
        assert digests(folder) == digests(undisturbed)
        assert order(folder) == order(undisturbed)
        assert not (folder / ".job").exists()


@pytest.mark.slow
def test_workers_are_killed(tmp_path: Path, undisturbed: Path) -> None:
    """With workers killed at random moments the result is that of an undisturbed job."""
    choose = random.Random(6)
    over = threading.Event()
    pool = LocalPool(2)
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < 6 and not over.wait(choose.uniform(0.2, 0.8)):
            for pid in pool.pids[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        summary = record_job(sums(60), tmp_path / "runs", runner=pool, settings=OPEN, size=10)
    finally:
        over.set()
        thread.join()
    assert summary.tried_again
    assert digests(tmp_path / "runs") == digests(undisturbed)
    assert order(tmp_path / "runs") == order(undisturbed)


def test_a_second_job_is_refused(tmp_path: Path) -> None:
    """While a job drives a folder another is refused with a word, and `status` tells who drives it."""
    folder = tmp_path / "runs"
    with start(folder, 400) as driver:
        try:
            wait_until_recorded(folder, driver)
            with pytest.raises(RecordingError, match=rf"process {driver.pid} on .* is writing here"):
                job(sums(400), folder)
            found = status(folder)
            assert found.driver is not None
            assert found.driver.startswith(f"process {driver.pid} ")
            assert not found.whole
        finally:
            driver.kill()
            driver.communicate()


@pytest.mark.slow
def test_a_full_disk_is_said_and_what_is_whole_is_kept(tmp_path: Path, undisturbed: Path) -> None:
    """Where files cannot grow the job ends with the reason; started again with room it ends as an undisturbed one."""
    folder = tmp_path / "runs"
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2500, resource.RLIM_INFINITY))
{JOB}"""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    full = subprocess.run(
        [sys.executable, "-c", code, str(folder), "60"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 1
    assert "RecordingError" in full.stderr
    assert "raise it (ulimit -f) and rerun the command" in full.stderr
    job(sums(60), folder)
    assert digests(folder) == digests(undisturbed)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY


def test_one_folder_one_way(tmp_path: Path, undisturbed: Path) -> None:
    """A folder that was recorded into without shards takes no job, and the other way round; neither changes it."""
    record_programs(sums(3), tmp_path / "plain", RecordSettings(repeat=False, sandbox=Confinement.TRUSTED))
    before = sorted(path.name for path in (tmp_path / "plain").iterdir())
    for allowed in (False, True):
        with pytest.raises(InputError, match="made without --shards"):
            job(sums(3), tmp_path / "plain", replace=allowed)
    assert sorted(path.name for path in (tmp_path / "plain").iterdir()) == before
    with pytest.raises(InputError, match="contains the shards of a job"):
        Writer(undisturbed)


def test_what_cannot_be_recorded_is_refused(tmp_path: Path) -> None:
    """Two programs of one id, no program, what is not JSON: refused before anything runs, and nothing is left."""
    twins = [*sums(30), *sums(1, 7)]
    with pytest.raises(InputError, match="two items have the id 'sum7'"):
        job(twins, tmp_path / "runs")
    with pytest.raises(InputError, match="no program"):
        job([], tmp_path / "runs")
    odd = Program(id="odd", code="", mode=Mode.MODULE, source="t", extra={"what": object()})
    with pytest.raises(InputError, match="'odd': cannot be saved as JSON"):
        job([odd], tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []
    with pytest.raises(RecordingError, match="no job was started here"):
        status(tmp_path / "runs")


@pytest.mark.slow
def test_a_line_of_the_manifest_that_was_lost_is_written_again(tmp_path: Path, undisturbed: Path) -> None:
    """A driver that died between a shard and its line: the shard is looked at, not made again."""
    folder = tmp_path / "runs"
    job(sums(60), folder)
    lines = (folder / "manifest.jsonl").read_text().splitlines(keepends=True)
    (folder / "manifest.jsonl").write_text("".join(lines[:-1]) + lines[-1][:40])
    times = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    again = job(sums(60), folder)
    assert again.recorded == 0
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")} == times
    assert [json.loads(line) for line in lines] == [
        json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()
    ]


def test_asking_lets_go_of_nothing(tmp_path: Path) -> None:
    """`status` may be asked in the process that drives the job: the folder stays its own."""
    folder = tmp_path / "runs"
    drivers = []

    def ask(_: object) -> None:
        if (folder / "job.json").exists():
            drivers.append(status(folder).driver)
            with start(folder, 40) as other:
                _, said = other.communicate()
            assert b"is writing here" in said

    record_job(sums(6), folder, runner=LocalPool(1), settings=OPEN, size=10, progress=ask)
    assert drivers
    assert all(driver and driver.startswith(f"process {os.getpid()} ") for driver in drivers)


@pytest.mark.exhaustive
def test_what_hangs_its_worker_stands_alone(tmp_path: Path) -> None:
    """A program whose recording does not come to an end: the process ends itself, and its row says that it hung."""
    sleeper = Program(id="sleeps", code="import time\ntime.sleep(60)\n", source="t")
    summary = record_job(
        [*sums(2), sleeper], tmp_path / "runs", runner=LocalPool(1), settings=OPEN, size=2, patience_s=5.0
    )
    assert set(summary.tried_again) == {"hung"}
    found = {r.id: r.run_result for r in Recordings(tmp_path / "runs")}
    assert [found[name].outcome for name in ("sum0", "sum1")] == [Outcome.RETURNED] * 2
    assert found["sleeps"].outcome is Outcome.HARNESS_ERROR
    assert "hung (3 times)" in found["sleeps"].detail
