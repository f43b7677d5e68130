"""A folder with rows that nobody's tracer wrote is read around them, and they are named."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deskcheck.recording import Environment, Mode, Outcome, Program, RecordingError, Row, RunResult
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_SCHEMA
from deskcheck.recording.writer import Writer
from tests.command import deskcheck
from tests.sample import spread

_CODE = "def f(n):\n    a = [n]\n    return a\n"
_HERE = Environment(
    python="3.12.1", implementation="cpython", platform="linux", hash_seed=0, deskcheck="0", tracer="native"
)


def _row(index: int, kind: str, line: int, **columns: Any) -> Row:
    plain = Row(0, index, kind, 0, "f", "program.py", line, 4, *[None] * 9)
    return plain._replace(**columns)


_ROWS = [
    _row(0, "call", 1, locals='{"n":1}'),
    _row(1, "line", 2),
    _row(2, "line", 3, locals='{"a":{"ref":1}}', objects='{"1":{"kind":"list","type":"list","items":[1]}}'),
    _row(3, "return", 3, value='{"ref":1}'),
]

EVENTS: dict[str, dict[int, dict[str, Any]]] = {
    "no JSON": {2: {"locals": "{"}},
    "deep": {2: {"locals": "[" * 100_000 + "]" * 100_000}},
    "deep values": {2: {"locals": '{"a":' + '{"tuple":[' * 5000 + "1" + "]}" * 5000 + "}"}},
    "a list": {2: {"locals": "[]"}},
    "an unknown form": {2: {"stack": '[{"what":1}]'}},
    "a reference to nothing": {3: {"value": '{"ref":77}'}},
    "a change of nothing": {2: {"objects": '{"1":{"splice":[0,0,[1]]}}'}},
    "an object of no kind": {2: {"objects": '{"1":{"kind":"x","type":"list"}}'}},
    "a wild caller": {0: {"caller": '{"frame":[1],"offset":{}}'}},
    "a wild gap": {1: {"left_out": "5"}},
    "a kind that is none": {1: {"kind": "loop"}},
    "another index": {1: {"index": 9}},
}
RECORDINGS: dict[str, dict[str, str]] = {
    "extra: no JSON": {"extra": "{"},
    "extra: deep": {"extra": "[" * 100_000},
    "extra: a number": {"extra": "5"},
    "sources: numbers": {"sources": '{"a.py": 5}'},
    "environment: a list": {"environment": "[]"},
    "environment: empty": {"environment": "{}"},
    "mode": {"mode": "what"},
    "outcome": {"outcome": "forged"},
    "refused: a list": {"refused": "[]"},
    "refused: a text": {"refused": '{"socket": "x"}'},
}


def folder_of(
    path: Path, *, events: dict[int, dict[str, Any]] | None = None, recording: dict[str, str] | None = None
) -> Path:
    """Three recordings, the second of which was changed."""
    with Writer(path) as writer:
        for name in ("one", "two", "three"):
            spool = writer.begin(
                Program(id=name, code=_CODE, mode=Mode.CALL, entry="f", arguments="(1,)", train_ok=True)
            )
            for row in _ROWS:
                spool.write(json.dumps(row))
            run_result = RunResult(outcome=Outcome.RETURNED, result="[1]", result_builtin=True)
            spool.finish(run_result, _HERE, repeatable=True)
    for table, schema, changes in (
        ("events", EVENTS_SCHEMA, {len(_ROWS) + n: change for n, change in (events or {}).items()}),
        ("recordings", RECORDINGS_SCHEMA, {1: recording or {}}),
    ):
        file = path / f"{table}-00000.parquet"
        rows = pq.read_table(file).to_pylist()
        for number, change in changes.items():
            rows[number] |= change
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return path


COMMANDS = (
    ("runs", "check"),
    ("offline", "questions", "-q", "output,state,next_line,path", "--out", "questions.jsonl"),
    ("view",),
    ("view", "--json"),
    ("view", "two"),
    ("view", "two", "--json"),
    ("view", "two", "--out", "page.html"),
    ("runs", "show", "two"),
    ("runs", "show", "one"),
    ("view", "three"),
    ("lessons", "--any-licence", "--notation", "dynamic,compact,direct", "--out", "lessons"),
    ("runs", "export", "hf", "--any-licence", "--out", "set"),
    ("runs", "dedup", "--out", "each-once"),
)
WORDS = {"runs": 2, "offline": 2}
"""Of a command's name, where it is in a group; `export` has one more."""


@pytest.mark.parametrize("name", spread([*EVENTS, *RECORDINGS], 8))
def test_commands_go_on(tmp_path: Path, name: str) -> None:
    """None ends with a traceback; what is whole is there; what is not is named."""
    folder = folder_of(tmp_path / "runs", events=EVENTS.get(name), recording=RECORDINGS.get(name))
    for command in COMMANDS:
        words = WORDS.get(command[0], 1) + (command[1:2] == ("export",))
        done = deskcheck(*command[:words], folder, *command[words:], cwd=tmp_path)
        said = done.stdout + done.stderr
        assert "Traceback" not in said
        assert done.returncode in (0, 1, 2), said
        if "one" in command or "three" in command:
            assert done.returncode == 0, said
        if command == ("runs", "check"):
            assert done.returncode == 1, said
            assert "two" in said


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_event_is_whole_or_named(tmp_path: Path, name: str) -> None:
    """Whoever goes through the states of such a recording gets our own error, which says which it is."""
    folder = folder_of(tmp_path / "runs", events=EVENTS[name])
    whole, said = [], {}
    for recording in Recordings(folder):
        try:
            for event in recording.trace:
                repr((event.locals, event.stack, event.globals, event.value, event.state, event.left_out))
            whole.append(recording.id)
        except RecordingError as error:
            said[recording.id] = str(error)
    assert whole == ["one", "three"]
    assert [*said] == ["two"]
    assert any(word in said["two"] for word in ("'two'", "event", "object"))


# -- the spool ---------------------------------------------------------------------------------------


def _spooled(folder: Path) -> Path:
    """A folder as a killed recorder leaves it, with three recordings in the spool: the row of the second."""
    writer = Writer(folder)
    for name in ("one", "two", "three"):
        spool = writer.begin(Program(id=name, code=_CODE, mode=Mode.CALL, entry="f", arguments="(1,)"))
        for row in _ROWS:
            spool.write(json.dumps(row))
        spool.finish(RunResult(outcome=Outcome.RETURNED), _HERE, repeatable=True)
    dead = folder.with_name("killed")
    shutil.copytree(folder, dead)
    writer.close()
    return sorted((dead / ".spool").glob("*.json"))[1]


def _with(**changes: Any) -> Callable[[Path], None]:
    return lambda row: _put(row, json.dumps(json.loads(row.read_text()) | changes))


def _put(path: Path, text: str) -> None:
    path.write_text(text)


def _replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


SPOOLS: dict[str, Callable[[Path], None]] = {
    "id: a list": _with(id=[1]),
    "id: none": _with(id=None),
    "id: a surrogate": _with(id="\ud800"),
    "events: text": _with(n_events="4"),
    "events: fewer than none": _with(n_events=-1),
    "events: yes": _with(n_events=True),
    "events: no end": _with(n_events=10**30),
    "code: a number": _with(code=5),
    "code: lacking": lambda row: _put(row, row.read_text().replace('"code"', '"cod"')),
    "outcome: a list": _with(outcome=[]),
    "no JSON": lambda row: _put(row, "{"),
    "deep": lambda row: _put(row, "[" * 200_000),
    "a list": lambda row: _put(row, "[]"),
    "a folder": lambda row: _replaced(row, Path.mkdir),
    "a pipe": lambda row: _replaced(row, os.mkfifo),
    "a device": lambda row: _replaced(row, lambda path: path.symlink_to("/dev/zero")),
    "a link to itself": lambda row: _replaced(row, lambda path: path.symlink_to(path)),
    "events: a pipe": lambda row: _replaced(row.with_suffix(".blocks"), os.mkfifo),
    "events: a device": lambda row: _replaced(
        row.with_suffix(".blocks"), lambda p: p.symlink_to("/dev/zero")
    ),
    "events: a folder": lambda row: _replaced(row.with_suffix(".blocks"), Path.mkdir),
    "strange names": lambda row: _put(row.with_name("x²\uff13.json"), row.read_text()),
}


@pytest.mark.parametrize("name", SPOOLS)
def test_what_is_no_recording_in_the_spool_is_passed_over(tmp_path: Path, name: str) -> None:
    """A recorder that was killed leaves files there, and who sends a folder may put others: the next one takes
    what is whole, records the rest again, and waits for nothing."""
    row = _spooled(tmp_path / "runs")
    SPOOLS[name](row)
    folder = row.parent.parent
    with Writer(folder) as writer:
        assert writer.done - {"two"} == {"one", "three"}
        if "two" not in writer.done:
            with writer.begin(Program(id="two", code=_CODE)) as spool:
                spool.finish(RunResult(outcome=Outcome.RETURNED), _HERE)
    assert sorted(recording.id for recording in Recordings(folder)) == ["one", "three", "two"]


def test_changed_bytes_in_the_spool_are_noticed(tmp_path: Path) -> None:
    """Every change is noticed where the shard is written: each frame has a checksum."""
    row = _spooled(tmp_path / "runs")
    for seed in range(60):
        folder = tmp_path / str(seed)
        shutil.copytree(row.parent.parent, folder)
        numbers = random.Random(seed)
        file = folder / ".spool" / row.with_suffix(".blocks").name
        content = bytearray(file.read_bytes())
        for _ in range(numbers.choice((1, 1, 2, 8))):
            content[numbers.randrange(len(content))] ^= numbers.randrange(1, 256)
        file.write_bytes(content)
        with pytest.raises(RecordingError, match=r"'two' are damaged.*Delete"):
            Writer(folder).close()
