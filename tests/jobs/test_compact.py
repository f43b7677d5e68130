"""Small shards become larger ones: nothing is lost or there twice, whenever it is stopped and whoever reads."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace as replacing
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError, RecordingError
from deskcheck.jobs import LocalPool
from deskcheck.jobs.compact import compact
from deskcheck.jobs.manifest import add_line
from deskcheck.jobs.status import changed, status
from deskcheck.recorder.job import record_job
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import COMPACTING_NAME
from tests.command import deskcheck
from tests.jobs.jobs import OPEN, sums
from tests.jobs.same import digests, order

COUNT = 24
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job of many small shards; tests take copies."""
    folder = tmp_path_factory.mktemp("job") / "small"
    record_job(sums(COUNT), folder, runner=LocalPool(2), settings=OPEN, size=3)
    return folder


@pytest.fixture
def folder(small: Path, tmp_path: Path) -> Path:
    return shutil.copytree(small, tmp_path / "runs")


def read(recordings: Recordings) -> dict[str, list[Any]]:
    """All of them, with their events."""
    found = {recording.id: [*recording.trace.rows] for recording in recordings}
    assert all(found.values())
    return found


def test_the_folder_holds_the_same_in_larger_shards(small: Path, folder: Path) -> None:
    """Row for row and event for event, programs in order; manifest and status tell what is there; the job's own
    command finds all; a second call, and one for still larger shards, do what is left to do."""
    done = compact(folder, size=10)
    assert (done.before, done.after) == (len(order(small)), len(order(folder)))
    assert 1 < done.after < done.before
    assert digests(folder) == digests(small)
    assert read(Recordings(folder)) == read(Recordings(small))
    numbers = [[int(name[3:]) for name in shard] for shard in order(folder)]
    assert all(shard == [*range(shard[0], shard[0] + len(shard))] for shard in numbers)
    left = {path.name.partition("-")[0] for path in folder.iterdir()}
    assert left == {"recordings", "events", "job.json", "manifest.jsonl"}
    assert (status(folder).whole, status(folder).totals.programs) == (True, COUNT)
    assert changed(folder) == []
    again = record_job(sums(COUNT), folder, runner=LocalPool(1), settings=OPEN, size=3)
    assert (again.recorded, again.skipped, again.totals.shards) == (0, COUNT, done.after)
    times = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}
    assert compact(folder, size=10).after == done.after
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")} == times
    assert compact(folder, size=1000).after == 1
    assert digests(folder) == digests(small)
    assert record_job(sums(COUNT), folder, runner=LocalPool(1), settings=OPEN, size=3).recorded == 0


class _Stopped(BaseException):
    """Stands for what ends a process in the middle."""


def stop_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process end before its so many-th change of a name."""
    left = [number]

    def counted(function: Any) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise _Stopped
            return function(*given, **more)

        return call

    monkeypatch.setattr(os, "replace", counted(os.replace))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr("deskcheck.jobs.compact.add_line", counted(add_line))


@pytest.mark.slow
def test_stopped_before_any_change_it_leaves_a_whole_folder(small: Path, tmp_path: Path) -> None:
    """Before each single renaming and deletion: all recordings are read, once; status counts them once; the job's
    command does not mix itself in; called again, for shards of another size too, it comes to the same end."""
    expected = read(Recordings(small))
    larger = shutil.copytree(small, tmp_path / "larger")
    compact(larger, size=4)
    assert len(order(larger)) > 3
    stops = 0
    for number in range(200):
        folder = shutil.copytree(larger, tmp_path / "runs")
        with pytest.MonkeyPatch.context() as patch:
            stop_at(number, patch)
            try:
                compact(folder, size=10)
                ended = True
            except _Stopped:
                ended = False
        assert read(Recordings(folder)) == expected
        assert status(folder).totals.programs == COUNT
        if ended:
            break
        stops += 1
        if (folder / COMPACTING_NAME).exists():
            with pytest.raises(InputError, match="compact` was stopped here"):
                record_job(sums(COUNT), folder, runner=LocalPool(1), settings=OPEN, size=3)
        compact(folder, size=10 if number % 2 else 15)
        assert digests(folder) == digests(small)
        assert not (folder / COMPACTING_NAME).exists()
        assert changed(folder) == []
        shutil.rmtree(folder)
    assert stops > 8


def test_who_has_it_open_reads_on(small: Path, folder: Path) -> None:
    """A reader, and recordings taken from it, that were opened before find everything where it is now, also when
    that was put together twice."""
    before = Recordings(folder)
    held = [next(iter(before)), before["sum20"]]
    compact(folder, size=7)
    between = Recordings(folder)
    compact(folder, size=1000)
    expected = read(Recordings(small))
    assert {recording.id: [*recording.trace.rows] for recording in held} == {
        recording.id: expected[recording.id] for recording in held
    }
    assert read(before) == expected
    assert read(between) == expected
    assert before.ids == tuple(recording.id for recording in before)
    assert [(name, code) for *_, name, code in before.columns("id", "code")] == [
        (recording.id, recording.program.code) for recording in before
    ]


def test_who_opens_it_meanwhile_sees_all(small: Path, folder: Path) -> None:
    """Opened over and over while shards are put together, the folder always holds every recording once."""
    expected = set(digests(small))
    over = threading.Event()
    seen: list[Any] = []

    def look() -> None:
        while not over.is_set():
            try:
                seen.append([recording.id for recording in Recordings(folder)])
            except RecordingError as error:
                seen.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for size in (4, 8, 16, 32):
            compact(folder, size=size)
    finally:
        over.set()
        thread.join()
    assert seen
    assert all(isinstance(ids, list) and len(ids) == COUNT and set(ids) == expected for ids in seen), seen


@pytest.mark.slow
def test_it_is_killed(small: Path, folder: Path) -> None:
    """By -9, at several moments: the same."""
    code = (
        "import sys; from deskcheck.jobs.compact import compact; compact(sys.argv[1], size=int(sys.argv[2]))"
    )
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    for size in (4, 9, 20, 50):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(size)], env={**os.environ, "PYTHONPATH": path}
        ) as process:
            while not (folder / COMPACTING_NAME).exists() and process.poll() is None:
                time.sleep(0.001)
            time.sleep(0.004 * size)
            process.send_signal(signal.SIGKILL)
        assert read(Recordings(folder)) == read(Recordings(small))
    compact(folder, size=50)
    assert digests(folder) == digests(small)


def test_what_cannot_be_put_together_is_refused(folder: Path, tmp_path: Path) -> None:
    """No job, one that is not whole, one that runs; and of a folder that was put together, another plan."""
    with pytest.raises(RecordingError, match="no job was started here"):
        compact(tmp_path / "nothing")
    with pytest.raises(InputError, match="must be at least 1"):
        compact(folder, size=0)
    lines = (folder / "manifest.jsonl").read_text().splitlines(keepends=True)
    (folder / "manifest.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(InputError, match="not complete"):
        compact(folder)
    assert record_job(sums(COUNT), folder, runner=LocalPool(1), settings=OPEN, size=3).recorded == 0
    compact(folder, size=10)
    names = sorted(path.name for path in folder.iterdir())
    other = [replacing(p, arguments="(9,)") if p.id == "sum5" else p for p in sums(COUNT)]
    for replace in (False, True):
        with pytest.raises(InputError, match=r"joined .*Choose another folder"):
            record_job(other, folder, runner=LocalPool(1), settings=OPEN, size=3, replace=replace)
    assert sorted(path.name for path in folder.iterdir()) == names


def test_the_command(folder: Path) -> None:
    """`deskcheck runs compact` says what there was and what there is."""
    told = json.loads(deskcheck("runs", "compact", folder, "--shards", "10", "--json", cwd=folder).stdout)
    assert told["after"] == len(order(folder)) < told["before"]
    assert told["programs"] == COUNT
