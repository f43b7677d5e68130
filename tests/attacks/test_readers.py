"""Attacks on readers: folders that somebody sends, in which one thing is not what a reader takes it for.

Each column of a recording and of an event, each part of what a job and its marks say of themselves: deep, huge,
of another type, out of its range. Every command goes on: it ends with a status of its own, and no error of ours
is shown as a traceback.
"""

import json
import random
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_JSON, RECORDINGS_SCHEMA
from tests.command import deskcheck
from tests.recording.test_damaged import folder_of

WILD = {
    "deep": "[" * 100_000,
    "deep and whole": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "a number": "5",
    "a fraction": "1.5",
    "less than nothing": "-1",
    "beyond 64 bits": str(2**70),
    "a long number": "9" * 5000,
    "not a number": "NaN",
    "infinite": "1e999",
    "a list": '[1, "x", []]',
    "an object": '{"x": [{"y": null}]}',
    "nothing": "null",
    "true": "true",
    "a text": '"x"',
    "half a character": '"\\ud800"',
    "a path": '"../../x"',
    "a long text": '"' + "x" * (1 << 20) + '"',
    "many lists": '{"a":[' + "[]," * 50_000 + "[]]}",
    "no JSON": "{",
}
NUMBERS = {"less than nothing": -1, "the largest": None, "another": 7}
TEXTS = {
    "empty": "",
    "controls": "\0\x1b[31m\n\r",
    "long": "x" * (1 << 20),
    "a path": "../../x",
    "markup": "</script>",
}


def values(table: str, field: pa.Field) -> dict[str, Any]:
    """What stands in a column, by name."""
    if field.name in RECORDINGS_JSON or (table == "events" and field.name in _JSON):
        return dict(WILD)
    if field.type == pa.string():
        return dict(TEXTS)
    if field.type == pa.float64():
        return {"not a number": float("nan"), "infinite": float("inf")}
    if field.type in (pa.int32(), pa.int64()):
        return {**NUMBERS, "the largest": 2**31 - 1 if field.type == pa.int32() else 2**63 - 1}
    return {}


_JSON = ("locals", "stack", "globals", "objects", "caller", "value", "left_out")
COLUMNS = [
    (table, field.name, name, value)
    for table, schema in (("recordings", RECORDINGS_SCHEMA), ("events", EVENTS_SCHEMA))
    for field in schema
    for name, value in values(table, field).items()
]
COMMANDS = (
    ("runs", "check", "runs"),
    ("runs", "show", "runs", "two"),
    ("view", "runs"),
    ("view", "runs", "two", "--out", "page.html"),
    ("offline", "questions", "runs", "-q", "all", "--out", "questions.jsonl"),
    ("lessons", "runs", "--any-licence", "--notation", "dynamic", "--out", "lessons"),
    ("runs", "dedup", "runs", "--out", "once"),
)


def assert_survives(folder: Path, commands: Iterable[tuple[str, ...]], what: str) -> None:
    for command in commands:
        began = time.monotonic()
        try:
            done = deskcheck(*command, cwd=folder)
        except Exception as error:
            raise AssertionError(f"{what}: {' '.join(command)}: {error!r}") from error
        said = done.stdout + done.stderr
        assert "Traceback" not in said, f"{what}: {' '.join(command)}: {said}"
        assert done.returncode in (0, 1, 2), f"{what}: {' '.join(command)}: {said}"
        assert time.monotonic() - began < 120, f"{what}: {' '.join(command)}"


def damaged(folder: Path, table: str, column: str, value: Any) -> None:
    changed = {column: value}
    events = {2: changed} if table == "events" else None
    folder_of(folder / "runs", events=events, recording=None if table == "events" else changed)


@pytest.mark.parametrize(
    ("table", "column", "name"),
    [
        ("recordings", "code", "empty"),
        ("events", "line", "less than nothing"),
        pytest.param("events", "objects", "deep", marks=pytest.mark.slow),
        pytest.param("recordings", "extra", "an object", marks=pytest.mark.slow),
    ],
)
def test_a_column(tmp_path: Path, table: str, column: str, name: str) -> None:
    value = next(value for *at, value in COLUMNS if at == [table, column, name])
    damaged(tmp_path, table, column, value)
    assert_survives(tmp_path, COMMANDS, f"{table}.{column}: {name}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("column", dict.fromkeys((table, column) for table, column, *_ in COLUMNS))
def test_every_column(tmp_path: Path, column: tuple[str, str]) -> None:
    for *at, name, value in COLUMNS:
        if tuple(at) == column:
            folder = tmp_path / name.replace(" ", "-")
            damaged(folder, *column, value)
            assert_survives(folder, COMMANDS, f"{column}: {name}")


# -- what lies beside recordings ---------------------------------------------------------------------


RECORD = ("record", "generated:2", "--out", "runs", "--no-repeat", "--sandbox", "trusted", "--shards", "2")
SCORE = ("offline", "score", "q.jsonl", "a.jsonl", "--out", "marks", "--sandbox", "trusted")
OF_JOB = (
    ("runs", "status", "runs"),
    ("runs", "check", "runs"),
    ("runs", "compact", "runs"),
    ("view", "runs"),
)
OF_MARKS = (("report", "marks"), ("runs", "status", "marks"), SCORE)
FILES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "runs/manifest.jsonl": OF_JOB,
    "runs/job.json": OF_JOB,
    "marks/manifest.jsonl": OF_MARKS,
    "marks/job.json": OF_MARKS,
    "marks/questions.json": OF_MARKS,
    "q.jsonl": (SCORE,),
    "a.jsonl": (SCORE,),
}
_HERE = "@@here@@"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a job, questions about it, answers, and their marks."""
    folder = tmp_path_factory.mktemp("job")
    assert deskcheck(*RECORD, cwd=folder).returncode == 0
    done = deskcheck("offline", "questions", "runs", "-q", "output,state", "--out", "q.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    asked = [json.loads(line)["id"] for line in (folder / "q.jsonl").read_text().splitlines()]
    answers = [json.dumps({"id": id_, "completion": "1", "model": "m"}) + "\n" for id_ in asked[:3]]
    (folder / "a.jsonl").write_text("".join(answers))
    assert deskcheck(*SCORE, cwd=folder).returncode == 0
    return folder


def _parts(told: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON value; of a list, its first."""
    yield at
    if isinstance(told, dict | list):
        for key in told if isinstance(told, dict) else range(min(len(told), 1)):
            yield from _parts(told[key], (*at, key))


def _with(text: str, at: tuple[Any, ...], there: str) -> str:
    """A JSON text with another text at a place."""
    if not at:
        return there
    told = part = json.loads(text)
    for key in at[:-1]:
        part = part[key]
    part[at[-1]] = _HERE
    return json.dumps(told).replace(json.dumps(_HERE), there)


def changes(text: str) -> list[tuple[str, str]]:
    """Each part of a JSON text replaced by each of `WILD`, and left out: what, and the text."""
    return [
        (f"{'.'.join(map(str, at))} is {name}", _with(text, at, there))
        for at in _parts(json.loads(text))
        for name, there in WILD.items()
    ]


def assert_file_survives(job: Path, tmp_path: Path, file: str, wanted: Iterable[str], most: int) -> None:
    first, *others = (job / file).read_text().splitlines()
    found = [(what, text) for what, text in changes(first) if not wanted or what in wanted]
    assert len(found) >= len([*wanted]), f"{file}: {wanted}"
    random.Random(file).shuffle(found)
    for what, text in found[:most]:
        folder = tmp_path / "each"
        shutil.copytree(job, folder)
        (folder / file).write_text("\n".join([text, *others]) + "\n")
        assert_survives(folder, FILES[file], f"{file}: {what}")
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("runs/manifest.jsonl", ("events is deep", "outcomes is a list", "outcomes.returned is a path")),
        ("runs/job.json", ("settings.trace_limits is deep", "kind is a list")),
        ("marks/job.json", ("started is deep", "kind is a list")),
        ("marks/manifest.jsonl", ("shard is a path",)),
        pytest.param(
            "marks/manifest.jsonl",
            ("programs is deep", "shard is a path", " is nothing"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_file_beside(job: Path, tmp_path: Path, file: str, what: tuple[str, ...]) -> None:
    assert_file_survives(job, tmp_path, file, what, len(what))


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", FILES)
def test_every_part_of_a_file_beside(job: Path, tmp_path: Path, file: str) -> None:
    assert_file_survives(job, tmp_path, file, (), 200)


def test_marks_that_are_not_whole_are_no_marks(job: Path, tmp_path: Path) -> None:
    """A line that is gone from the manifest does not turn answers into questions that were not answered."""
    shutil.copytree(job, tmp_path / "each")
    (tmp_path / "each" / "marks" / "manifest.jsonl").write_text("")
    done = deskcheck("report", "marks", cwd=tmp_path / "each")
    assert done.returncode == 2
    assert "its scores are incomplete" in done.stderr
