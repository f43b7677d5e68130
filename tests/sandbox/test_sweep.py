"""Folders of servers that were killed together with their callers are removed, and nothing else is."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox import Sandbox, server
from deskcheck.sandbox.server import sweep
from deskcheck.sandbox.surroundings import scratch


def leftover(among: Path, name: str) -> Path:
    folder = among / f"deskcheck-sandbox-{name}"
    (folder / "program" / "made").mkdir(parents=True)
    (folder / "program" / "program.py").write_text("1")
    return folder


def folders(removed: tuple[str, ...]) -> list[str]:
    """Without control groups: those of other tests that were killed may go at the same time."""
    return [each for each in removed if not each.startswith("/")]


def test_what_nobody_holds_is_removed(tmp_path: Path) -> None:
    """A folder whose lock is free goes with all that is in it."""
    folder = leftover(tmp_path, "left")
    assert folders(sweep(str(tmp_path))) == [folder.name]
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    """A folder that a server or its caller holds is left alone."""
    folder = leftover(tmp_path, "held")
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        assert folders(sweep(str(tmp_path))) == []
    finally:
        os.close(held)
    assert (folder / "program" / "program.py").exists()


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither a link of such a name nor one inside a folder leads out of it; files and other names stay."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("1")
    among = tmp_path / "among"
    among.mkdir()
    (among / "deskcheck-sandbox-link").symlink_to(outside)
    (among / "deskcheck-sandbox-file").write_text("1")
    (among / "deskcheck-suite-other").mkdir()
    folder = leftover(among, "left")
    (folder / "program" / "way").symlink_to(outside)
    assert folders(sweep(str(among))) == [folder.name]
    assert (outside / "kept").exists()
    assert {path.name for path in among.iterdir()} == {
        "deskcheck-sandbox-link",
        "deskcheck-sandbox-file",
        "deskcheck-suite-other",
    }


@pytest.mark.parametrize("before", ["it is opened", "it is locked"])
def test_another_may_sweep_before_the_lock(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that another process removes before this one holds it is made again."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    taken: list[Path] = []
    owner, name = {"it is opened": (os, "open"), "it is locked": (fcntl, "flock")}[before]
    done = getattr(owner, name)

    def late(*arguments: object, **options: object) -> object:
        if not taken:
            taken.extend(tmp_path.iterdir())
            taken[0].rmdir()
        return done(*arguments, **options)

    monkeypatch.setattr(owner, name, late)
    folder, lock = server._locked_folder()
    try:
        assert [str(each) != folder for each in taken] == [True]
        assert os.path.samestat(os.stat(folder), os.fstat(lock))
    finally:
        os.close(lock)
        os.rmdir(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: would have proved that another user's folder stays")
def test_what_is_anothers_stays(tmp_path: Path) -> None:
    """A folder of another user is not touched, though root could."""
    folder = leftover(tmp_path, "theirs")
    os.chown(folder, 65534, 65534)
    assert folders(sweep(str(tmp_path))) == []
    assert folder.exists()


@pytest.mark.parametrize("level", ["strict", "standard", "trusted"])
def test_a_server_s_folder_is_held_while_it_runs(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox in use survives a sweep of where its folders are, and leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    with Sandbox(level=level, workers=1) as sandbox:
        assert len(list(tmp_path.iterdir())) == 1
        sweep.cache_clear()
        assert folders(sweep(str(tmp_path))) == []
        run_result = sandbox.run_one(Program(id="p", code="print(open(__file__).read())"))
        assert run_result.outcome is Outcome.RETURNED, run_result
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_mode_cannot_be_changed_is_listed_all_the_same() -> None:
    """As one of another user; those of /proc change for nobody."""
    assert str(os.getpid()) in scratch._names("/proc/self/task")
