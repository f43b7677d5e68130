"""A job's folder mirrored to a remote one and back: on a disk by its URI, and in an S3 on this machine."""

import json
import logging
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as replacing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pyarrow.fs
import pytest
from typer.testing import CliRunner

from deskcheck.cli.app import app
from deskcheck.errors import InputError, RecordingError
from deskcheck.recorder.job import record_job
from deskcheck.recording.reader import Recordings
from deskcheck.scale import LocalPool
from deskcheck.scale.compact import compact
from deskcheck.scale.remote import Mirrored, pull, push
from deskcheck.scale.status import changed, status
from tests.scale.jobs import OPEN, sums
from tests.scale.same import digests, order

COUNT = 30
ROOT = Path(__file__).parents[2]
KEYS = "key:secret@"


@dataclass(frozen=True)
class Remote:
    """A remote folder, as a test looks into it and damages it."""

    uri: str

    @property
    def _opened(self) -> tuple[Any, str]:
        system, path = pyarrow.fs.FileSystem.from_uri(self.uri)
        return system, path

    def names(self) -> set[str]:
        system, path = self._opened
        while True:
            try:
                found = system.get_file_info(pyarrow.fs.FileSelector(path, allow_not_found=True))
                return {info.base_name for info in found}
            except FileNotFoundError:  # Arrow's, where the folder comes into being while it looks
                continue

    def read(self, name: str) -> bytes:
        system, path = self._opened
        with system.open_input_stream(f"{path}/{name}") as file:
            content: bytes = file.read()
            return content

    def write(self, name: str, content: bytes) -> None:
        system, path = self._opened
        with system.open_output_stream(f"{path}/{name}") as file:
            file.write(content)

    def delete(self, name: str) -> None:
        system, path = self._opened
        system.delete_file(f"{path}/{name}")

    def lines(self) -> set[str]:
        text = self.read("manifest.jsonl").decode() if "manifest.jsonl" in self.names() else ""
        return {json.loads(line)["shard"] for line in text.splitlines()}


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Host and port of an S3 with the bucket `shelf`."""
    server_of = pytest.importorskip(
        "moto.server", reason="would have proved that jobs are mirrored to and from S3 as they are to a disk"
    )
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = server_of.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with urlopen(Request(f"http://{host}:{port}/shelf", method="PUT")):
        pass
    yield f"{host}:{port}"
    server.stop()


def in_s3(address: str, folder: str, bucket: str = "shelf", keys: str = KEYS) -> str:
    return f"s3://{keys}{bucket}/{folder}?endpoint_override={address}&scheme=http&region=us-east-1"


@pytest.fixture(params=["file", "s3"])
def remote(request: pytest.FixtureRequest, tmp_path: Path) -> Remote:
    if request.param == "file":
        return Remote(f"file://{tmp_path}/remote/runs")
    return Remote(in_s3(request.getfixturevalue("s3"), f"{tmp_path.name}/runs"))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job that is whole; tests that change it take copies."""
    folder = tmp_path_factory.mktemp("job") / "runs"
    record(folder)
    return folder


def record(folder: Path, count: int = COUNT) -> Any:
    return record_job(sums(count), folder, runner=LocalPool(2), settings=OPEN, size=3)


def half_of(job: Path, folder: Path) -> Path:
    """The job as it was when half of it was whole, and its driver killed."""
    shutil.copytree(job, folder)
    lines = (folder / "manifest.jsonl").read_text().splitlines(keepends=True)
    kept = len(lines) // 2
    for line in lines[kept:]:
        for table in ("recordings", "events"):
            (folder / f"{table}-{json.loads(line)['shard']}.parquet").unlink()
    (folder / "manifest.jsonl").write_text("".join(lines[:kept]))
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def shards(folder: Path) -> int:
    return len([*folder.glob("recordings-*.parquet")])


def damage(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])


def test_there_and_back(job: Path, remote: Remote, tmp_path: Path) -> None:
    """Row for row and byte for byte; `status` tells the same; the job's own command finds all it wants; again, both
    ways, copies nothing."""
    count = shards(job)
    pushed = push(job, remote.uri)
    size = sum(path.stat().st_size for path in job.glob("*.parquet"))
    assert pushed == Mirrored(shards=count, size_bytes=size, there=0, planned=count, whole=True)
    assert remote.names() == names(job)
    back = tmp_path / "back"
    pulled = pull(remote.uri, back)
    assert (pulled.shards, pulled.size_bytes, pulled.there, pulled.whole) == (count, size, 0, True)
    assert names(back) == names(job)
    assert (digests(back), order(back)) == (digests(job), order(job))
    assert status(back) == status(job)
    assert changed(back) == []
    again = push(back, remote.uri), pull(remote.uri, back, verify=True), push(job, remote.uri, verify=True)
    assert [(one.shards, one.there, one.changed) for one in again] == [(0, count, [])] * 3
    done = record(back)
    assert (done.recorded, done.skipped) == (0, COUNT)


@pytest.mark.slow
def test_half_a_job_goes_on_elsewhere(job: Path, remote: Remote, tmp_path: Path) -> None:
    """What is whole of a job that is not is mirrored; pulled elsewhere its command makes the rest, which comes back by
    the same way."""
    here = half_of(job, tmp_path / "here")
    half = shards(here)
    assert 2 < half < shards(job)
    assert not push(here, remote.uri).whole
    pulled = pull(remote.uri, tmp_path / "elsewhere")
    assert (pulled.shards, pulled.whole) == (half, False)
    found = status(tmp_path / "elsewhere")
    assert (found.programs, found.whole) == (COUNT, False)
    assert 0 < found.totals.programs < COUNT
    done = record(tmp_path / "elsewhere")
    assert done.skipped == found.totals.programs
    assert digests(tmp_path / "elsewhere") == digests(job)
    assert push(tmp_path / "elsewhere", remote.uri).shards == shards(job) - half
    assert pull(remote.uri, here) == Mirrored(
        shards=shards(job) - half,
        size_bytes=sum(p.stat().st_size for p in (tmp_path / "elsewhere").glob("*.parquet"))
        - sum(p.stat().st_size for p in half_of(job, tmp_path / "half").glob("*.parquet")),
        there=half,
        planned=shards(job),
        whole=True,
    )
    assert (digests(here), names(here)) == (digests(job), names(job))


@pytest.mark.slow
def test_half_a_plan(job: Path, remote: Remote, tmp_path: Path) -> None:
    """A job that was still planning: what was planned is there and comes back; a plan that has come further there
    is not undone."""
    here = half_of(job, tmp_path / "here")
    told = json.loads((here / "job.json").read_text())
    some = told["shards"][: shards(here) + 2]
    (here / "job.json").write_text(json.dumps({**told, "whole": False, "shards": []}))
    (here / ".job").mkdir()
    (here / ".job" / "planned.jsonl").write_text("".join(json.dumps(shard) + "\n" for shard in some))
    pushed = push(here, remote.uri)
    assert (pushed.planned, pushed.whole) == (len(some), False)
    assert pull(remote.uri, tmp_path / "back").shards == shards(here)
    assert status(tmp_path / "back") == status(here)
    assert not status(here).planned
    assert push(job, remote.uri).whole
    before = remote.read("job.json")
    assert push(here, remote.uri).shards == 0
    assert remote.read("job.json") == before
    missing = (remote.lines() - {path.stem.partition("-")[2] for path in here.glob("recordings-*")}).pop()
    for unfinished in (f"plan/{missing}.jsonl", f"work/{missing}.0-3/.spool/0.json", "plan/other.jsonl"):
        path = here / ".job" / unfinished
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert status(here).inside == 1
    assert pull(remote.uri, here).whole
    assert (digests(here), names(here)) == (digests(job), names(job))


def command(do: str, *given: str) -> "subprocess.Popen[bytes]":
    code = f"import sys; from deskcheck.scale.remote import {do}; {do}(sys.argv[1], sys.argv[2])"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_pushed_while_it_runs(remote: Remote, job: Path, tmp_path: Path) -> None:
    """A job is pushed over and over while it is recorded: what is there is whole each time, and all of it at the
    end."""
    folder = tmp_path / "runs"
    code = (
        "import sys; from deskcheck.recorder.job import record_job; from deskcheck.scale import LocalPool; from tests.scale.jobs import OPEN, sums\n"
        f"record_job(sums({COUNT}), sys.argv[1], runner=LocalPool(1), settings=OPEN, size=3)"
    )
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    seen = []
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], env={**os.environ, "PYTHONPATH": path}
    ) as driver:
        while driver.poll() is None:
            if (folder / "job.json").exists():
                seen.append(push(folder, remote.uri).shards)
            time.sleep(0.02)
    assert driver.returncode == 0
    seen.append(push(folder, remote.uri).shards)
    assert sum(seen) == shards(job)
    assert max(seen) < shards(job), "it was never pushed while it ran"
    assert pull(remote.uri, tmp_path / "back").whole
    assert digests(tmp_path / "back") == digests(job)


@pytest.mark.slow
def test_stopped_at_any_moment_it_goes_on(job: Path, remote: Remote, tmp_path: Path) -> None:
    """Push and pull are ended in the middle, by -9 and by Ctrl-C: every line there is of files that are there, what has
    its name here is whole, and the same command goes on."""
    choose = random.Random(7)
    there: set[str] = set()
    for number in (signal.SIGKILL, signal.SIGINT):
        with command("push", str(job), remote.uri) as process:
            until = len(remote.names()) + 2
            while process.poll() is None and len(remote.names()) < min(until, len(names(job))):
                time.sleep(0.002)
            time.sleep(choose.uniform(0, 0.1))
            process.send_signal(number)
        there, lines = remote.names(), remote.lines()
        assert {f"{table}-{shard}.parquet" for table in ("recordings", "events") for shard in lines} <= there
    lines = remote.lines()
    assert len([name for name in there if name.startswith("recordings")]) >= len(lines) > 0
    done = push(job, remote.uri)
    assert (done.there, done.shards, done.whole) == (len(lines), shards(job) - len(lines), True)
    assert {name for name in remote.names() if not name.endswith(".part")} == names(job)

    back = tmp_path / "back"
    with command("pull", remote.uri, str(back)) as process:
        while process.poll() is None and not [*back.glob("recordings-*.parquet")]:
            time.sleep(0.002)
        time.sleep(choose.uniform(0, 0.05))
        process.kill()
    assert digests(back).items() <= digests(job).items()
    some = status(back).totals.shards
    assert changed(back) == []
    done = pull(remote.uri, back)
    assert (done.there, done.whole) == (some, True)
    assert (digests(back), names(back)) == (digests(job), names(job))


def test_interrupted_nothing_is_copied_twice(job: Path, remote: Remote, tmp_path: Path) -> None:
    """Ctrl-C after three shards, both ways: those count, and the same command copies the others."""

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        push(job, remote.uri, progress=stop)
    assert len(remote.lines()) == 3
    done = push(job, remote.uri)
    assert (done.there, done.shards) == (3, shards(job) - 3)
    assert remote.read("manifest.jsonl") == (job / "manifest.jsonl").read_bytes()
    back = tmp_path / "back"
    with pytest.raises(KeyboardInterrupt):
        pull(remote.uri, back, progress=stop)
    assert (shards(back), status(back).totals.shards) == (3, 3)
    done = pull(remote.uri, back)
    assert (done.there, done.shards) == (3, shards(job) - 3)
    assert (digests(back), names(back)) == (digests(job), names(job))


def test_a_damaged_file_here_is_not_pushed(job: Path, remote: Remote, tmp_path: Path) -> None:
    """A changed byte, a file cut short and one that is gone are refused by name, and so are their partners; all other
    shards are pushed. When they are right again, so are those."""
    here = shutil.copytree(job, tmp_path / "here")
    one, two, three = sorted(path.name.removeprefix("events-") for path in here.glob("events-*"))[:3]
    damage(here / f"events-{one}")
    (here / f"recordings-{two}").write_bytes(b"PAR1")
    (here / f"events-{three}").unlink()
    with pytest.raises(RecordingError, match="Nothing of their shards was copied") as refused:
        push(here, remote.uri)
    assert f"events-{one} is not what the manifest says" in str(refused.value)
    assert f"recordings-{two} is not what the manifest says" in str(refused.value)
    assert f"events-{three} is gone" in str(refused.value)
    missing = {f"{table}-{name}" for table in ("recordings", "events") for name in (one, two, three)}
    assert remote.names() == names(job) - missing
    assert len(remote.lines()) == shards(job) - 3
    assert not pull(remote.uri, tmp_path / "back").whole
    for name in missing:
        shutil.copy(job / name, here / name)
    assert push(here, remote.uri).shards == 3
    assert pull(remote.uri, tmp_path / "back").shards == 3
    assert digests(tmp_path / "back") == digests(job)


@pytest.mark.slow
def test_a_damaged_file_there_is_found(job: Path, remote: Remote, tmp_path: Path) -> None:
    """A changed byte there is refused by `pull`, by name, and never gets its name here, while all else does;
    `push --verify` finds it and copies it again. One of another size, or gone, is found without."""
    push(job, remote.uri)
    name = next(job.glob("recordings-*")).name
    whole = (job / name).read_bytes()
    remote.write(name, whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert push(job, remote.uri).shards == 0
    for _ in range(2):
        with pytest.raises(
            RecordingError, match=f"{name} is not what the manifest says. They were not taken"
        ):
            pull(remote.uri, tmp_path / "back")
        kept = names(tmp_path / "back")
        assert kept == names(job) - {name, name.replace("recordings", "events")}
    assert changed(tmp_path / "back") == []
    done = push(job, remote.uri, verify=True)
    assert (done.shards, done.changed, done.whole) == (1, [name], True)
    assert remote.read(name) == whole
    assert pull(remote.uri, tmp_path / "back").shards == 1
    assert digests(tmp_path / "back") == digests(job)

    remote.delete(name)
    other = next(path.name for path in job.glob("events-*") if path.name.partition("-")[2] not in name)
    remote.write(other, b"short")
    with pytest.raises(RecordingError, match=f"{other} is not .*{name} is gone"):
        pull(remote.uri, tmp_path / "new")
    done = push(job, remote.uri)
    assert (done.shards, done.changed) == (2, sorted([name, other]))
    assert pull(remote.uri, tmp_path / "new").whole

    damage(tmp_path / "new" / other)
    assert pull(remote.uri, tmp_path / "new").changed == []
    done = pull(remote.uri, tmp_path / "new", verify=True)
    assert (done.shards, done.changed) == (1, [other])
    assert digests(tmp_path / "new") == digests(job)


@pytest.mark.slow
def test_another_job_is_refused(job: Path, remote: Remote, tmp_path: Path) -> None:
    """There and here: a job of other programs, of another kind, files of no job; nothing is changed by that. One that
    has more of the same is none."""
    other = tmp_path / "other"
    programs = [replacing(p, arguments="(9,)") if p.id == "sum5" else p for p in sums(12)]
    record_job(programs, other, runner=LocalPool(1), settings=OPEN, size=6)
    push(job, remote.uri)
    before = {name: remote.read(name) for name in remote.names()}
    with pytest.raises(InputError, match=r"holds another job: it has \d+ shards that .*a folder of its own"):
        push(other, remote.uri)
    with pytest.raises(InputError, match=r"holds another job: it has \d+ shards that .*a folder of its own"):
        pull(remote.uri, other)
    lessons = shutil.copytree(job, tmp_path / "lessons")
    told = json.loads((lessons / "job.json").read_text())
    (lessons / "job.json").write_text(json.dumps({**told, "kind": "lessons"}))
    with pytest.raises(InputError, match="a job of another kind: record, not lessons"):
        push(lessons, remote.uri)
    with pytest.raises(InputError, match="a job of another kind: lessons, not record"):
        pull(remote.uri, lessons)
    (lessons / "job.json").unlink()
    with pytest.raises(InputError, match="holds files that are no job's"):
        pull(remote.uri, lessons)
    with pytest.raises(RecordingError, match="no job was begun here"):
        push(lessons, remote.uri)
    assert {name: remote.read(name) for name in remote.names()} == before
    remote.delete("job.json")
    with pytest.raises(InputError, match=r"holds Parquet files, but no job\.json"):
        push(job, remote.uri)
    remote.write("job.json", b'{"kind": "record"')
    with pytest.raises(RecordingError, match=r"job\.json there is damaged"):
        pull(remote.uri, tmp_path / "back")
    assert not (tmp_path / "back").exists()

    remote.write("job.json", before["job.json"])
    less = half_of(job, tmp_path / "less")
    planned = json.loads(before["job.json"])
    kept = {json.loads(line)["shard"] for line in (less / "manifest.jsonl").read_text().splitlines()}
    told = {**planned, "shards": [one for one in planned["shards"] if one[0] in kept]}
    (less / "job.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match="holds another job"):
        push(less, remote.uri)
    assert pull(remote.uri, less).shards == shards(job) - len(kept)
    remote.write("job.json", json.dumps(told).encode())
    remote.write("manifest.jsonl", b"".join(before["manifest.jsonl"].splitlines(keepends=True)[: len(kept)]))
    assert push(job, remote.uri).shards == shards(job) - len(kept)
    assert {name: remote.read(name) for name in remote.names()} == before


def test_shards_that_were_put_together(job: Path, remote: Remote, tmp_path: Path) -> None:
    """Pushed whole before, they stay as they are there. Pushed half, the larger ones take the place of their parts. The
    other way, what is here is enough, or is refused. Every recording is there once."""
    small = shutil.copytree(job, tmp_path / "small")
    half = half_of(job, tmp_path / "half")
    large = shutil.copytree(job, tmp_path / "large")
    compact(large, size=9)
    assert shards(large) < shards(small) - 3
    push(half, remote.uri)
    pushed = push(large, remote.uri)
    assert (pushed.whole, pushed.planned) == (True, shards(small))
    assert 0 < pushed.shards < shards(large)
    pull(remote.uri, tmp_path / "back")
    assert digests(tmp_path / "back") == digests(job)
    assert remote.names() == names(tmp_path / "back")
    assert status(tmp_path / "back").whole
    assert len(Recordings(tmp_path / "back")) == COUNT
    assert record(tmp_path / "back").recorded == 0
    assert push(small, remote.uri).shards == push(large, remote.uri).shards == 0
    assert pull(remote.uri, small).shards == 0
    assert digests(small) == digests(job)
    with pytest.raises(
        InputError, match=r"has some of the shards that were put together .*folder of its own"
    ):
        pull(remote.uri, half)
    (large / ".compacting").touch()
    with pytest.raises(InputError, match="are being put together"):
        push(large, remote.uri)


def test_pull_does_not_run_beside_a_job(job: Path, remote: Remote, tmp_path: Path) -> None:
    """Where a driver has the folder, `pull` is refused; `push` is not."""
    from deskcheck.scale.place import Place

    here = half_of(job, tmp_path / "here")
    push(job, remote.uri)
    lock = Place(here).lock()
    try:
        with pytest.raises(RecordingError, match="is writing here, and one writer at a time may"):
            pull(remote.uri, here)
        assert push(here, remote.uri).shards == 0
    finally:
        lock.release()
    assert pull(remote.uri, here).whole


def make_lessons(job: Path, folder: Path) -> Any:
    from deskcheck.teach.lessons.job import build_in_shards
    from deskcheck.teach.lessons.lessons import LessonSettings

    settings = LessonSettings(notations=("compact",), validation=0.2, test=0.1, budget=1200, any_licence=True)
    return build_in_shards([job], folder, settings, runner=LocalPool(1), size=8)


@pytest.fixture(scope="module")
def lessons(job: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A job of lessons that is whole, and what it said."""
    folder = tmp_path_factory.mktemp("lessons") / "lessons"
    told, _ = make_lessons(job, folder)
    assert told.lessons > 20
    return folder, told


@pytest.mark.slow
def test_lessons_there_and_back(job: Path, lessons: tuple[Path, Any], remote: Remote, tmp_path: Path) -> None:
    """A job of lessons, with what it says of all of them; its own command finds it whole. What says so is not there
    where some are missing."""
    folder, told = lessons
    push(folder, remote.uri)
    back = tmp_path / "back"
    assert pull(remote.uri, back).whole
    assert names(back) == names(folder) >= {"lessons.json"}
    for path in folder.iterdir():
        assert path.read_bytes() == (back / path.name).read_bytes(), path
    again, done = make_lessons(job, back)
    assert (again, done.recorded) == (told, 0)
    line = json.loads((folder / "manifest.jsonl").read_text().splitlines()[0])
    remote.delete(f"train-{line['shard']}.parquet")
    with pytest.raises(RecordingError, match="is gone"):
        pull(remote.uri, tmp_path / "some")
    assert not (tmp_path / "some" / "lessons.json").exists()


def test_nothing_there_is_said(job: Path, remote: Remote, tmp_path: Path) -> None:
    """No job there; nothing is left here."""
    with pytest.raises(RecordingError, match="holds no job: `deskcheck runs push FOLDER") as refused:
        pull(remote.uri, tmp_path / "back")
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "back").exists()


def test_no_bucket(s3: str, job: Path, tmp_path: Path) -> None:
    """What S3 itself refuses is one line that says what, where and what to do."""
    uri = in_s3(s3, "runs", bucket="none")
    with pytest.raises(
        RecordingError, match=r"^s3://none/runs: cannot .*make it first, or correct its name\.$"
    ):
        push(job, uri)
    with pytest.raises(
        RecordingError, match=r"^s3://none/runs: cannot .*make it first, or correct its name\.$"
    ):
        pull(uri, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_no_right(s3: str, job: Path, tmp_path: Path) -> None:
    """Where S3 does not know the key, it is the key that the message speaks of, and no secret is in it."""

    def let_in(calls: bytes) -> None:
        """Have so many calls accepted whoever makes them."""
        kind = {"Content-Type": "text/plain"}
        with urlopen(Request(f"http://{s3}/moto-api/reset-auth", data=calls, method="POST", headers=kind)):
            pass

    let_in(b"0")
    try:
        with pytest.raises(RecordingError, match="wants credentials that allow this") as refused:
            pull(in_s3(s3, "runs"), tmp_path / "back")
        with pytest.raises(RecordingError, match="wants credentials that allow this"):
            push(job, in_s3(s3, "runs"))
    finally:
        let_in(b"inf")
    assert "secret" not in str(refused.value)


def test_the_address_of_the_environment(
    s3: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the AWS tools do it: keys and address from the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{s3}")
    uri = f"s3://shelf/{tmp_path.name}/by-environment?region=us-east-1"
    assert push(job, uri).whole
    assert pull(uri, tmp_path / "back").whole


@pytest.mark.slow
def test_nobody_answers(job: Path, tmp_path: Path) -> None:
    """A port that nobody listens on ends the command within a minute, with status 2 and one line; nothing is left
    here."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = in_s3(f"127.0.0.1:{taken.getsockname()[1]}", "runs")
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "deskcheck", "runs", "pull", uri, str(tmp_path / "back")],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert time.monotonic() - began < 60
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("deskcheck: s3://shelf/runs: cannot list what is there: ")
    assert "Is the address right, and is there a way to it?" in done.stderr
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("runs/big", "is no URI of a remote folder"),
        ("floppy://a/b", "pyarrow knows no floppy://"),
        ("s3://bucket/x?colour=red", "colour"),
        ("file:///", "names no folder"),
        ("hdfs://nowhere/x", "cannot be reached"),
    ],
)
def test_what_can_be_no_place(uri: str, said: str, job: Path, tmp_path: Path) -> None:
    """Refused at once, both ways."""
    with pytest.raises((InputError, RecordingError), match=said):
        push(job, uri)
    with pytest.raises((InputError, RecordingError), match=said):
        pull(uri, tmp_path / "back")


def test_what_fsspec_knows(job: Path, tmp_path: Path) -> None:
    """A scheme that pyarrow does not know is fsspec's."""
    pytest.importorskip("fsspec", reason="would have proved that fsspec's file systems can be mirrored to")
    uri = f"memory://{tmp_path.name}/runs"
    assert push(job, uri).whole
    assert pull(uri, tmp_path / "back").whole
    assert digests(tmp_path / "back") == digests(job)


def test_the_commands(job: Path, tmp_path: Path) -> None:
    """They print what was copied; status 1 where --verify found something, 2 where it cannot be done. Where others
    want a folder, a URI is refused with the way out."""
    uri, back = f"file://{tmp_path}/remote", tmp_path / "back"

    def deskcheck(*given: object) -> Any:
        return CliRunner().invoke(app, [str(one) for one in given])

    done = deskcheck("runs", "push", job, uri)
    assert (done.exit_code, done.stdout) == (
        0,
        f"{shards(job)} shards copied, {size_text(job)}; 0 were there already\n",
    )
    assert json.loads(deskcheck("runs", "pull", uri, back, "--json").stdout)["whole"] is True
    name = next(job.glob("events-*")).name
    damage(tmp_path / "remote" / name)
    done = deskcheck("runs", "push", job, uri, "--verify")
    assert done.exit_code == 1
    assert f"changed there, and replaced: {name}" in done.stdout
    assert deskcheck("runs", "push", job, uri, "--verify").exit_code == 0
    for given in (
        ("runs", "status", uri),
        ("record", "x.jsonl", "--out", uri),
        ("lessons", back, f"--out={uri}"),
    ):
        refused = deskcheck(*given)
        assert isinstance(refused.exception, InputError)
        assert f"deskcheck runs pull {uri} FOLDER" in str(refused.exception)


def size_text(folder: Path) -> str:
    return f"{sum(path.stat().st_size for path in folder.glob('*.parquet')) / 1e6:.1f} MB"
