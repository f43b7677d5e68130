"""Attacks on `deskcheck record pytest:PATH`: tests that lie about their calls, or attack who records them.

Whatever they do, the command ends with a word of its own, the true call before it is there and true, every file can be
read, what lay beside is as it was, and nothing that they started lives on. (Tests run as their owner: what that one may
do to files, they may do too.)
"""

import os
from pathlib import Path

import pytest

from deskcheck.errors import DeskcheckError, RecordingError
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite import SuiteSummary, record_suite
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox import suite
from tests.attacks.suites import DEEDS, LIES, liar
from tests.command import deskcheck
from tests.conftest import unmeasured

TRUE = "m.f(1)"
CHANNEL = "stopped: a test wrote to the recorder's channel ("
PASSED = (
    *("nothing", "a file with a long name", "a file that is a device", "a file that is a pipe", "a file that is gone"),
    *("a file that is changed in a far year", "a module that nobody told of", "needs of a module that nobody told of"),
    *("half a character", "names that are empty", "names that are words of no call", "a call that never happened"),
    *("a huge block", "a huge result", "no pytest, now", "time that goes backwards", "rows of no frame"),
    *("half a message", "a channel that is closed"),
)  # fmt: skip
"""Lies that are no more than a false word. The others are noticed, or said as they ended."""
ENDED = {
    **dict.fromkeys(LIES, CHANNEL),
    **dict.fromkeys(PASSED, "passed"),
    **dict.fromkeys(DEEDS, "passed"),
    "a number of signals": "killed by signal ",
    "SIGKILL": "killed by SIGKILL",
    "a status of pytest's": "usage error",
    "sleeps for ever": "timed out after 2 s",
    **dict.fromkeys([deed for deed in DEEDS if "without end" in deed or "long" in deed], "stopped: more than "),
    **dict.fromkeys([deed for deed in DEEDS if "its guard" in deed], "killed by SIG"),
    "stops its guard": "passed",
    **dict.fromkeys([deed for deed in DEEDS if "speak" in deed], CHANNEL),
}  # fmt: skip
REFUSED = {
    "a pipe for all output": "unwatched.txt: cannot keep what the tests write",
    "a link for all output": "unwatched.txt: cannot keep what the tests write",
    "writes over the journal": "first: somebody has written to it",
    "cuts the journal": "first: somebody has written to it",
    "takes the folder of journals away": "cannot keep what the tests write: No such file",
    "takes the folder away": "cannot keep what the tests write: No such file",
    "a file for the folder": "A file stands where a folder is needed",
    "takes its module away": "no call of a function in",
}
"""What nothing can be kept after, and what the error says."""
QUICK = (
    *("an interpreter of other fields", "a form that is none", "a file that is a device", "no pytest, now"),
    *("a call that never happened", "a number of signals", "takes its output away", "a link for all output"),
    *("writes over the journal", "kills its guard, and speaks on", "reports for its guard"),
)


@pytest.fixture(scope="module", autouse=True)
def nobody_is_watching() -> object:
    with unmeasured():
        yield


def record(folder: Path, does: str) -> SuiteSummary:
    tests = liar(folder / "project", does)
    (folder / "project" / "precious").write_text("precious")
    return record_suite(tests, folder / "runs", SuiteSettings(wall_s=2), workers=1)


def assert_nothing_lives(folder: Path) -> None:
    pids = folder / "project" / "pids"
    for pid in pids.read_text().split() if pids.exists() else ():
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        assert state in "ZX", f"{pid} lives"  # who should wait for it may not


def assert_survived(folder: Path, name: str) -> None:
    does = (LIES | DEEDS)[name]
    if name in REFUSED:
        with pytest.raises(DeskcheckError, match=REFUSED[name]):
            record(folder, does)
    else:
        summary = record(folder, does)
        assert summary.ended.startswith(ENDED[name]), summary.ended
        found = {recording.id: recording for recording in Recordings(folder / "runs")}
        assert found[TRUE].repeatable
        assert found[TRUE].run_result.result == "1"
        assert [event.kind for event in found[TRUE].trace] == ["call", "line", "return"]
        done = deskcheck("runs", "check", "runs", cwd=folder)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        if name == "a call that never happened":
            assert found["m.f(77,)"].repeatable is False
    assert (folder / "project" / "precious").read_text() == "precious"
    assert_nothing_lives(folder)


@pytest.mark.parametrize("name", QUICK)
def test_the_caller_survives(tmp_path: Path, name: str) -> None:
    assert_survived(tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LIES | DEEDS if name not in QUICK])
def test_the_caller_survives_the_others(tmp_path: Path, name: str) -> None:
    assert_survived(tmp_path, name)


def test_a_flood_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what all messages tell, which is in memory, and by what they take on the disk."""
    flood = 'for n in range(40):\n    say("test", dict(test=f"t{n}", outcome="x" * 40_000))'
    monkeypatch.setattr(suite, "SUITE_FACTS_BYTES", 1 << 20)
    assert record(tmp_path / "facts", flood).ended == f"{CHANNEL}more than a run of tests has to tell)"
    monkeypatch.undo()
    monkeypatch.setattr(suite, "SUITE_KEPT_BYTES", 1 << 20)
    events = 'for n in range(40):\n    call(line=9, slot=n, seen=str(n), blocks=[event(output="x" * 40_000)])'
    assert record(tmp_path / "events", events).ended == f"{CHANNEL}more than a run of tests has to tell)"
    assert {recording.id for recording in Recordings(tmp_path / "events" / "runs")} >= {TRUE}


# -- what lies in the folder before ------------------------------------------------------------------


def kept_of(folder: Path) -> Path:
    """The folder of journals as a recorder leaves it that was stopped: its second run of the tests breaks off."""
    with pytest.raises(RecordingError):
        record(folder, DEEDS["cuts the journal"])
    (found,) = (folder / "runs" / ".suite").glob("*/*")
    return found


def test_links_in_the_folder_are_not_followed(tmp_path: Path) -> None:
    """Who sends a folder could have had files of the user's emptied, and folders deleted."""
    kept = kept_of(tmp_path)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    for place in (kept / "first", kept / "unwatched", kept / "files.json"):
        before = place.read_bytes()
        place.unlink()
        place.symlink_to(precious / "file")
        with pytest.raises(RecordingError, match="delete it"):
            record(tmp_path, "")
        place.unlink()
        place.write_bytes(before)
    for place in (kept, kept.parent, kept.parent.parent):
        place.rename(tmp_path / "away")
        place.symlink_to(precious)
        with pytest.raises(RecordingError, match="is a link: delete it"):
            record(tmp_path, "")
        place.unlink()
        (tmp_path / "away").rename(place)
    assert (precious / "file").read_text() == "precious"
    assert [path.name for path in precious.iterdir()] == ["file"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "{", "5", "[[1], 2]", "[" * 100_000, '{"a": 1}', "\0" * 100])
@pytest.mark.parametrize("file", ["files.json", "../unchecked.json", "first", "unwatched"])
def test_what_stands_in_the_folder_is_no_error(tmp_path: Path, file: str, text: str) -> None:
    """The command begins anew, or goes on."""
    (kept_of(tmp_path) / file).write_text(text)
    assert record(tmp_path, "").ended == "passed"
    assert [recording.id for recording in Recordings(tmp_path / "runs")] == [TRUE]
    assert not os.path.exists(tmp_path / "runs" / ".suite")
