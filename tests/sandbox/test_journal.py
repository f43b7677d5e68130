"""What a run of tests has told outlives whoever kept it."""

import os
from pathlib import Path

import pytest

from deskcheck.errors import RecordingError
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.observed.journal import Journal
from tests.attacks.suites import project
from tests.command import deskcheck
from tests.conftest import unmeasured


def kept(path: Path) -> list[bytes]:
    journal = Journal(path)
    found = [message for _, message in journal.messages()]
    journal.close()
    return found


def test_messages_are_there_again(tmp_path: Path) -> None:
    """In their order, up to the first that is not whole; the next is added behind them."""
    journal = Journal(tmp_path / "a" / "run")
    places = [journal.add(message) for message in (b"one", b"2", b"three")]
    assert journal.read(places[2], 5) == b"three"
    journal.close()
    with (tmp_path / "a/run").open("ab") as file:
        file.write(b"half")
    journal = Journal(tmp_path / "a" / "run")
    assert [*journal.messages()] == list(zip(places, (b"one", b"2", b"three"), strict=True))
    journal.add(b"four")
    journal.close()
    assert kept(tmp_path / "a/run") == [b"one", b"2", b"three", b"four"]


def test_a_message_that_was_interrupted_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after it is found where it was said to be."""
    journal = Journal(tmp_path / "run")
    pwrite = os.pwrite

    def interrupted(file: int, what: bytes, at: int) -> int:
        pwrite(file, what, at)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.pwrite", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.add(b"interrupted, and long")
    at = journal.add(b"next")
    assert journal.read(at, 4) == b"next"
    journal.close()
    assert kept(tmp_path / "run") == [b"next"]


def test_a_full_disk_is_told_with_the_way_out(tmp_path: Path) -> None:
    """Also of a file that cannot be made; closing it is no second error."""
    journal = Journal(tmp_path / "run")
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), journal._file)
    with pytest.raises(
        RecordingError, match="run: cannot save the messages of the tests: No space left on device"
    ):
        journal.add(b"message")
    journal.close()
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="There is a file in the place of a folder"):
        Journal(tmp_path / "file" / "run")


def test_a_journal_above_the_project(tmp_path: Path) -> None:
    """Recordings may go to a folder that is named by its way from the project."""
    folder = project(tmp_path / "project", "pass")
    with unmeasured():
        done = deskcheck("record", "pytest:tests", "--out", "../runs", "--no-repeat", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert {recording.id for recording in Recordings(tmp_path / "runs")} == {"m.f(1)", "m.f(2)"}


def test_what_is_no_message_is_dropped(tmp_path: Path) -> None:
    """Zeros, as where the machine stopped; a length beyond all messages. A link or a pipe in its place is refused."""
    path = tmp_path / "run"
    for rest in (bytes(100), b"\xff" * 100):
        journal = Journal(path, 1000)
        journal.add(b"message")
        journal.close()
        path.write_bytes(path.read_bytes() + rest)
        journal = Journal(path, 1000)
        assert [message for _, message in journal.messages()] == [b"message"]
        assert path.stat().st_size == 15
        journal.close()
        path.unlink()
    (tmp_path / "precious").write_bytes(b"precious")
    for kind in ("link", "pipe", "folder"):
        if kind == "link":
            path.symlink_to(tmp_path / "precious")
        else:
            os.mkfifo(path) if kind == "pipe" else path.mkdir()
        with pytest.raises(RecordingError, match=r"delete it|directory"):
            Journal(path)
        path.rmdir() if path.is_dir() else path.unlink()
    assert (tmp_path / "precious").read_bytes() == b"precious"
