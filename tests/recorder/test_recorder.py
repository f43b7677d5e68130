"""Many programs into one folder: what differs between two runs is told apart from what does not."""

from pathlib import Path

import pytest

from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.questions.settings import Sampling
from deskcheck.errors import InputError
from deskcheck.recorder.programs import RecordSummary, record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.limits import Limits


def call(name: str, code: str, arguments: str = "()") -> Program:
    return Program(id=name, code=code, mode=Mode.CALL, entry="f", arguments=arguments)


def recorded(tmp_path: Path, *programs: Program) -> tuple[RecordSummary, Recordings]:
    summary = record_programs(programs, tmp_path / "runs", RecordSettings(limits=Limits(cpu_s=1, wall_s=60)))
    return summary, Recordings(tmp_path / "runs")


def test_the_order_of_a_set_is_no_difference_until_it_is_used(tmp_path: Path) -> None:
    """A set of strings differs in order between hash seeds: the recording is repeatable; a list made of it is not."""
    words = "{'pear', 'plum', 'fig', 'cherry', 'apple', 'quince', 'lemon'}"
    kept = call("kept", f"def f():\n    words = {words}\n    return len(words)\n")
    used = call("used", f"def f():\n    words = {words}\n    order = list(words)\n    return len(order)\n")
    summary, recordings = recorded(tmp_path, kept, used)
    assert recordings["kept"].repeatable is True
    assert recordings["used"].repeatable is False
    assert "order" in summary.not_repeatable["used"]
    assert "line 4" in summary.not_repeatable["used"]


def test_randomness_is_told_with_its_place(tmp_path: Path) -> None:
    """An unseeded random number makes a recording that says at which event the runs part."""
    program = call("dice", "import random\ndef f():\n    n = random.random()\n    return n > 2\n")
    _, recordings = recorded(tmp_path, program)
    recording = recordings["dice"]
    assert recording.repeatable is False
    assert recording.difference is not None
    assert recording.difference.startswith("event 2 (program.py line 4): n is 0.")


def test_addresses_are_not_a_difference(tmp_path: Path) -> None:
    """Objects lie elsewhere in each run; the recordings are the same."""
    code = "class P:\n    pass\ndef f():\n    a, b = P(), object()\n    g = (i for i in [1])\n    return 1\n"
    _, recordings = recorded(tmp_path, call("objects", code))
    assert recordings["objects"].repeatable is True


def test_every_ending_is_a_row(tmp_path: Path) -> None:
    """Programs that return, raise, exit, run out of time and kill themselves are recorded side by side."""
    _, recordings = recorded(
        tmp_path,
        call("returns", "def f():\n    return [1]\n"),
        call("raises", "def f():\n    return 1 / 0\n"),
        call("exits", "import sys\ndef f():\n    sys.exit(3)\n"),
        call("loops", "def f():\n    while True:\n        pass\n"),
        call("dies", "import os\ndef f():\n    os.kill(os.getpid(), 9)\n"),
        call("does not import", "import no_such_module\ndef f():\n    pass\n"),
    )
    assert {recording.id: recording.outcome for recording in recordings} == {
        "returns": Outcome.RETURNED,
        "raises": Outcome.RAISED,
        "exits": Outcome.EXITED,
        "loops": Outcome.TIMED_OUT,
        "dies": Outcome.KILLED,
        "does not import": Outcome.RAISED,
    }
    assert recordings["raises"].run_result.detail == "ZeroDivisionError: division by zero"
    assert [event.kind for event in recordings["dies"].trace] == ["call", "line"]
    assert len(recordings["loops"].trace) > 100


def test_two_programs_of_one_name_are_refused(tmp_path: Path) -> None:
    """An id twice is an error that names it; what came before is kept."""
    first = call("twin", "def f():\n    return 1\n")
    with pytest.raises(InputError, match="twin"):
        recorded(tmp_path, first, first)
    assert Recordings(tmp_path / "runs").ids == ("twin",)


def test_secrets_are_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this process's environment, and of .env beside the program; the run compares as it was."""
    monkeypatch.setenv("API_KEY", "k3y of ann")
    (tmp_path / ".env").write_text("DB_PWD=hunter22\n")
    code = "a = 'k3y of' + ' ann'\nb = {'x': 'hunter' + '22'}\nprint(a)\nraise ValueError(b['x'])\n"
    notes: list[str] = []
    for mask in (True, False):
        record_programs(
            [Program(id="p", code=code, path=str(tmp_path))],
            tmp_path / f"runs-{mask}",
            RecordSettings(mask=mask),
            note=notes.append,
        )
        (recording,) = Recordings(tmp_path / f"runs-{mask}")
        told = "".join(map(repr, recording.trace.rows)) + repr(recording.run_result)
        assert ("k3y of ann" in told, "hunter22" in told) == (not mask, not mask)
        assert recording.repeatable
    assert len(notes) == 1
    assert "API_KEY, DB_PWD are masked" in notes[0]


def test_what_was_refused_is_recorded(tmp_path: Path) -> None:
    """And told of all: the calls and paths, by program."""
    programs = [
        Program(id="refused", code="import socket\ntry:\n    socket.socket()\nexcept OSError:\n    x = 1\n"),
        Program(id="plain", code="x = 1\n"),
    ]
    summary = record_programs(programs, tmp_path)
    assert summary.refused == {"refused": {"socket": 1}}
    found = {recording.id: recording for recording in Recordings(tmp_path)}
    assert found["refused"].run_result.refused == {"socket": 1}
    assert found["refused"].doubt == "the sandbox refused it something"
    assert (found["plain"].run_result.refused, found["plain"].doubt) == ({}, None)
    for doubtful in (False, True):
        gathering = Gathering(found.values(), ["path"], sampling=Sampling(doubtful=doubtful))
        samples, _ = gathering.sets()["path", ""]
        assert {sample.program for sample in samples} == ({"plain", "refused"} if doubtful else {"plain"})
