"""Attacks on `deskcheck record pytest:PATH`: tests that lie about their calls, or attack who records them.

Whatever they do, the command ends with a word of its own, the true call before it is there and true, every file can be
read, what lay beside is as it was, and nothing that they started lives on. (Tests run as their owner: what that one may
do to files, they may do too.)
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from deskcheck.errors import DeskcheckError, RecordingError
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite import SuiteSummary, record_suite
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.observed import suite
from tests.attacks.suites import DEEDS, LIES, TESTS, liar, project
from tests.command import PROCESS, deskcheck
from tests.conftest import unmeasured
from tests.sample import some, spread

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
    "a pipe for all output": "unwatched.txt: cannot save the output of the tests",
    "a link for all output": "unwatched.txt: cannot save the output of the tests",
    "writes over the journal": "first: was changed by another process",
    "cuts the journal": "first: was changed by another process",
    "takes the folder of journals away": "cannot save the output of the tests: No such file",
    "takes the folder away": "cannot save the output of the tests: No such file",
    "a file for the folder": "There is a file in the place of a folder",
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
    with unmeasured(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


def record(folder: Path, does: str) -> SuiteSummary:
    tests = liar(folder / "project", does)
    (folder / "project" / "precious").write_text("precious")
    return record_suite(tests, folder / "runs", SuiteSettings(wall_s=2), workers=1)


def alive(folder: Path) -> list[str]:
    """Of the processes that it started, those that live."""
    pids, found = folder / "project" / "pids", []
    for pid in pids.read_text().split() if pids.exists() else ():
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state not in "ZX":  # who should wait for it may not
            found.append(pid)
    return found


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
    assert not alive(folder)


@pytest.mark.parametrize("name", spread(QUICK, 2))
def test_the_caller_survives(tmp_path: Path, name: str) -> None:
    assert_survived(tmp_path, name)


OTHERS = [name for name in LIES | DEEDS if name not in QUICK]


@pytest.mark.slow
@pytest.mark.parametrize("name", some(OTHERS, *OTHERS[::6]))
def test_the_caller_survives_the_others(tmp_path: Path, name: str) -> None:
    assert_survived(tmp_path, name)


def test_a_flood_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what all messages tell, which is in memory, and by what they take on the disk."""
    flood = 'for n in range(40):\n    say("test", dict(test=f"t{n}", outcome="x" * 40_000))'
    monkeypatch.setattr(suite, "SUITE_FACTS_BYTES", 1 << 20)
    assert record(tmp_path / "facts", flood).ended == f"{CHANNEL}more messages than a run of tests has)"
    monkeypatch.undo()
    monkeypatch.setattr(suite, "SUITE_KEPT_BYTES", 1 << 20)
    events = 'for n in range(40):\n    call(line=9, slot=n, seen=str(n), blocks=[event(output="x" * 40_000)])'
    assert record(tmp_path / "events", events).ended == f"{CHANNEL}more messages than a run of tests has)"
    assert {recording.id for recording in Recordings(tmp_path / "events" / "runs")} >= {TRUE}


# -- a true pytest -----------------------------------------------------------------------------------


SAID = {
    "a trace function of its own": "passed",
    "closes what it has": "failed",
    "writes to what it has": "failed",
    "another json": CHANNEL.removesuffix("("),
    "another write": "exit status 0 before the last test had ended",
    "another len": "failed",
    "ends": "exit status 0 before the last test had ended",
    "ends its process group": "killed by SIGKILL",
    "no output": "failed",
    "objects that run": "internal error",
}


def assert_recorded(folder: Path, name: str) -> None:
    """The call before it is there, and how the tests ended is said."""
    project(folder, TESTS[name])
    done = deskcheck("record", "pytest:tests", "--out", "runs", "--no-repeat", "--suite-s", 20, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"the tests {SAID.get(name, 'passed')}" in done.stdout, done.stdout
    found = {recording.id: recording for recording in Recordings(folder / "runs")}
    assert found[TRUE].run_result.result == "1"
    assert {"m.f(1)"} <= {*found} <= {"m.f(1)", "m.f(2)"} or name in (
        "deep values",
        "huge values",
        "objects that run",
    )
    assert deskcheck("runs", "check", "runs", cwd=folder).returncode == 0


@pytest.mark.parametrize("name", ["a trace function of its own", "ends"])
def test_a_true_pytest(tmp_path: Path, name: str) -> None:
    assert_recorded(tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(TESTS, *[*TESTS][2::3]))
def test_a_true_pytest_with_others(tmp_path: Path, name: str) -> None:
    assert_recorded(tmp_path, name)


_KILLS = """
    if not os.path.exists("killed"):
        open("killed", "w").write(f"{os.getpid()} {os.getppid()}")
        caller = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1]
        os.kill(int(caller), signal.SIGKILL)
        time.sleep(1000)
"""


@pytest.mark.slow
def test_whoever_kills_the_recorder_ends_with_it(tmp_path: Path) -> None:
    """The same command again goes on."""
    project(tmp_path, _KILLS.strip())
    command = [*PROCESS, "record", "pytest:tests", "--out", "runs", "--no-repeat"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=100, check=False)
    assert done.returncode == -signal.SIGKILL
    (tmp_path / "project").mkdir()
    (tmp_path / "killed").rename(tmp_path / "project" / "pids")
    until = time.monotonic() + 60
    while alive(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(tmp_path)
    (tmp_path / "killed").touch()
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert {recording.id for recording in Recordings(tmp_path / "runs")} == {"m.f(1)", "m.f(2)"}


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


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", ["", "{", "5", "[[1], 2]", "[" * 100_000, '{"a": 1}', "\0" * 100])
@pytest.mark.parametrize("file", ["files.json", "../unchecked.json", "first", "unwatched"])
def test_what_stands_in_the_folder_is_no_error(tmp_path: Path, file: str, text: str) -> None:
    """The command begins anew, or goes on."""
    (kept_of(tmp_path) / file).write_text(text)
    assert record(tmp_path, "").ended == "passed"
    assert [recording.id for recording in Recordings(tmp_path / "runs")] == [TRUE]
    assert not os.path.exists(tmp_path / "runs" / ".suite")
