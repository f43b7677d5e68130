"""What is kept of tests that were being recorded when the command ended early."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from deskcheck.files import FolderLock
from deskcheck.recorder.suite_cache import SETTINGS, SuiteCache
from deskcheck.recording import Environment, Outcome, Program, RunResult
from deskcheck.recording.reader import Recordings
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.observed.suite import ObservedTests

ENVIRONMENT = Environment.here(tracer="none", hash_seed=None, packages={})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text("x = 1\n")
    return tmp_path / "project"


def kept(root: Path, **settings: object) -> SuiteCache:
    return SuiteCache(root.parent / "runs", ObservedTests(arguments=(str(root),), root=root), settings)


def write(writer: Writer, ids: Iterable[str]) -> None:
    for id_ in ids:
        with writer.begin(Program(id=id_, code="")) as spool:
            spool.write(EVENT)
            spool.finish(RunResult(outcome=Outcome.RETURNED), ENVIRONMENT)


EVENT = '[0,0,"line",0,"f","a.py",1,0,null,null,null,null,null,null,null,null,null]'


def interrupted(root: Path, **settings: object) -> SuiteCache:
    """Two recordings are checked, three are not. A run of the tests has been kept."""
    told = kept(root, **settings)
    with Writer(told.recordings, prepare=told.begin) as writer:
        told.run("first").write_text("what the tests told")
        write(writer, ("checked", "too"))
        writer.flush()
        told.unchecked(["a", "b", "c"])
        write(writer, ("a", "b", "c"))
    return told


def found(folder: Path) -> list[str]:
    return sorted(recording.id for recording in Recordings(folder))


def test_the_same_command_goes_on(root: Path) -> None:
    """What the tests told is there; what was not checked is deleted, and nothing else."""
    told = interrupted(root)
    assert found(told.recordings) == ["a", "b", "c", "checked", "too"]
    again = kept(root)
    with Writer(told.recordings, prepare=again.begin) as writer:
        assert writer.done == {"checked", "too"}
        assert again.run("first").read_text() == "what the tests told"
        again.remove()
    assert found(told.recordings) == ["checked", "too"]
    assert {path.suffix for path in told.recordings.iterdir()} == {".parquet"}


def test_another_command_of_the_project_begins_anew(root: Path, tmp_path: Path) -> None:
    """What was not checked is deleted then, too, and nothing is left of what tests told; what
    another project has left stays."""
    told = interrupted(root, calls=1)
    other = SuiteCache(told.recordings, ObservedTests(arguments=("b",), root=tmp_path / "b"), {})
    with Writer(told.recordings, prepare=other.begin) as writer:
        assert "a" in writer.done
    again = kept(root, calls=2)
    with Writer(told.recordings, prepare=again.begin) as writer:
        assert writer.done == {"checked", "too"}
        assert not told.folder.exists()
        assert other.folder.exists()
        again.remove()
    assert other.folder.exists()


def test_what_was_not_checked_when_the_command_was_killed_is_deleted(root: Path) -> None:
    """It waits for a shard; it goes before the writer finds it."""
    told = kept(root)
    with Writer(told.recordings, prepare=told.begin) as writer:
        write(writer, ["checked"])
        told.unchecked(["a", "b"])
        write(writer, ["a"])
        killed = shutil.copytree(told.recordings, root.parent / "killed" / "runs")
    again = SuiteCache(killed, ObservedTests(arguments=("",), root=root), {})
    with Writer(killed, prepare=again.begin) as writer:
        assert writer.done == {"checked"}
    assert found(killed) == ["checked"]


def test_a_deletion_that_was_cut_short_is_done_again(root: Path) -> None:
    """Of a shard one file is gone, the other not; the list of what is to be deleted is half written
    anew."""
    told = interrupted(root)
    (told.recordings / "recordings-00001.parquet").unlink()
    (told.project / "unchecked.part").touch()
    with Writer(told.recordings, prepare=kept(root).begin) as writer:
        assert writer.done == {"checked", "too"}
    assert found(told.recordings) == ["checked", "too"]
    assert not (told.project / "unchecked.part").exists()


@pytest.mark.parametrize("what", ["changed", "gone", "new", *SETTINGS])
def test_other_files_are_other_tests(root: Path, what: str) -> None:
    """A Python file, or one of settings, that has changed, is gone, or is new: all begins anew."""
    told = interrupted(root)
    match what:
        case "changed":
            os.utime(root / "a.py", ns=(1, 1))
        case "gone":
            (root / "a.py").unlink()
        case "new":
            (root / "tests").mkdir()
            (root / "tests/conftest.py").touch()
        case settings:
            (root / settings).touch()
    for there in (False, True):
        again = kept(root)
        with Writer(told.recordings, prepare=again.begin):
            assert again.run("first").exists() == there
            again.run("first").touch()


def test_the_folder_is_ours_while_it_is_made_ready(root: Path) -> None:
    """Nobody else writes there meanwhile, and nobody does between that and the recordings."""
    told = kept(root)
    held = []

    def prepare() -> None:
        held.append(FolderLock.held_here(told.recordings))
        told.begin()

    with Writer(told.recordings, prepare=prepare):
        pass
    assert held == [True]
