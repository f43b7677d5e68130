"""What a run of tests has told outlives whoever kept it."""

import os
from pathlib import Path

import pytest

from deskcheck.errors import RecordingError
from deskcheck.sandbox.journal import Journal


def kept(path: Path) -> list[bytes]:
    journal = Journal(path)
    found = [message for _, message in journal.messages()]
    journal.close()
    return found


def test_messages_are_there_again(tmp_path: Path) -> None:
    """In their order, up to the first that is not whole; the next is added behind them."""
    journal = Journal(tmp_path / "a" / "run")
    places = [journal.add(message) for message in (b"one", b"", b"three")]
    assert journal.read(places[2], 5) == b"three"
    journal.close()
    with (tmp_path / "a/run").open("ab") as file:
        file.write(b"half")
    journal = Journal(tmp_path / "a" / "run")
    assert [*journal.messages()] == list(zip(places, (b"one", b"", b"three"), strict=True))
    journal.add(b"four")
    journal.close()
    assert kept(tmp_path / "a/run") == [b"one", b"", b"three", b"four"]


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
    (tmp_path / "run").symlink_to("/dev/full")
    journal = Journal(tmp_path / "run")
    with pytest.raises(RecordingError, match="run: cannot keep what the tests tell: No space left on device"):
        journal.add(b"message")
    journal.close()
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="A file stands where a folder is needed"):
        Journal(tmp_path / "file" / "run")
