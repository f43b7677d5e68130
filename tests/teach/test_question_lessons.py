"""Lessons of questions are what `ask` asks; other data has the share that is wanted."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.scoring.score import score_answer
from deskcheck.notation.layout import divided
from deskcheck.recording import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.teach.lessons.lessons import LessonSettings, build
from deskcheck.teach.lessons.shards import MIXED, refuse_unfinished, taught_as
from deskcheck.teach.lessons.tokens import Bytes, Edits
from tests.ask.conftest import record_here
from tests.teach.conftest import Recorded, call, rows_of

LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"
MUCH = """
def twice(n):
    if n > 100:
        return 0
    return n * 2

def f(items):
    total = 0
    same = items
    for item in items:
        if item % 2:
            total += twice(item)
        else:
            total -= 1
    same.append(total)
    try:
        same[99]
    except IndexError:
        total += 1
    return total
"""
CHAT = {"messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]}
PAIR = {"prompt": "Write g.\n\nNow:\n", "completion": "def g(): ...", "train_ok": True, "licence": "MIT"}
TEXT = {"text": "Once upon a time"}


def settings(**more: Any) -> LessonSettings:
    return LessonSettings(**{"validation": 0, "test": 0} | more)


def mixed(tmp_path: Path, *examples: dict[str, Any]) -> Path:
    file = tmp_path / "other.jsonl"
    file.write_text("\n".join([json.dumps(example) for example in examples]) + "\n\n")
    return file


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_lesson_is_a_question_with_its_answer(record: Recorded, tmp_path: Path, question: str) -> None:
    """The prompt is that of `ask` with the same seed; the completion scores 1, another sample's does not always."""
    runs = record(call("a", MUCH, "([3, 5])"), call("b", MUCH.replace("2", "4"), "([12, 1, 8, 5])"))
    if question == "exception":
        runs = record(call("a", "def f(n):\n    return 1 // n\n", "(0)"), folder="raises")
    summary = build([runs], tmp_path / "out", settings(questions=(question,), seed=5))
    rows = rows_of(tmp_path / "out")
    samples = [sample for one in Recordings(runs) for sample in QUESTIONS[question](one, seed=5)]
    assert [row["prefix"] + row["prompt"] for row in rows] == [sample.prompt for sample in samples]
    assert rows
    for row, sample in zip(rows, samples, strict=True):
        assert (row["prefix"], row["prompt"]) == divided(sample.prompt)
        assert score_answer(sample, row["completion"], run=lambda p: record_here(p).run_result).score == 1
        assert row["input_ids"] == [
            *Bytes().encode(row["prefix"]),
            *Bytes().encode(row["prompt"]),
            *Bytes().encode(row["completion"]),
            Bytes.end,
        ]
        assert Edits(Bytes()).encode_answer(row["prompt"], row["completion"]) == Bytes().encode(
            row["completion"]
        )
        assert (row["notation"], row["jump"]) == (question, None)
    assert summary.lessons == len(rows)
    assert taught_as(tmp_path / "out")["notations"] == []


def test_forward_and_backward_beside_a_notation(record: Recorded, tmp_path: Path) -> None:
    """Notations that are named stay; `input` asks for arguments, and `step` with a negative jump for the past."""
    runs = record(call("a", LOOP, "(3)"))
    build([runs], tmp_path / "out", settings(questions=("output", "input"), notations=("dynamic",)))
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(tmp_path / "out"):
        by_kind.setdefault(row["notation"], []).append(row)
    assert {kind: len(rows) for kind, rows in by_kind.items()} == {"dynamic": 10, "output": 1, "input": 1}
    assert [by_kind[kind][0]["completion"] for kind in ("output", "input")] == [
        "[ANSWER]3[/ANSWER]",
        "[ANSWER]f(3)[/ANSWER]",
    ]
    build([runs], tmp_path / "back", settings(questions=("step",), jumps=(-1,)))
    for row in rows_of(tmp_path / "back"):
        assert row["prompt"].rstrip().endswith("-1")


def test_reasons_are_counted(record: Recorded, tmp_path: Path) -> None:
    """A run that nothing can be asked about is counted by kind."""
    runs = record(call("a", "def f():\n    return [].pop()\n"), call("b", LOOP, "(2)"))
    summary = build([runs], tmp_path / "out", settings(questions=("output",)))
    assert summary.left_out == {"output": {"ended otherwise: raised": 1}}
    with pytest.raises(InputError, match="unknown question 'outptu'"):
        build([runs], tmp_path / "no", settings(questions=("outptu",)))


def test_other_data_has_its_share(record: Recorded, tmp_path: Path) -> None:
    """So many examples that they are the share of all; drawn by the seed; each form as it is to be continued."""
    runs = record(call("a", LOOP, "(20)"))
    examples = [{"prompt": f"{n}?\n", "completion": str(n * n)} for n in range(100)]
    file = mixed(tmp_path, *examples)
    for seed in (0, 0, 1):
        build([runs], tmp_path / str(seed), settings(mix=(f"{file}:0.3",), seed=seed))
    rows = {seed: [row for row in rows_of(tmp_path / seed) if row["notation"] == "mix"] for seed in "01"}
    count = len(rows_of(tmp_path / "0"))
    assert round(0.3 * count) == len(rows["0"]) == len(rows["1"])
    assert {row["prompt"] for row in rows["0"]} != {row["prompt"] for row in rows["1"]}
    for row in rows["0"]:
        question = row["prefix"] + row["prompt"]
        assert row["completion"] == str(int(question.rstrip("?\n")) ** 2)
        assert (row["split"], row["train_ok"]) == ("train", False)
    state = json.loads((tmp_path / "0" / "lessons.json").read_text())
    assert state["summary"]["kept"]["train"]["mix"]["lessons"] == len(rows["0"])


def test_the_forms_of_other_data(record: Recorded, tmp_path: Path) -> None:
    runs = record(call("a", LOOP, "(2)"))
    notes: list[str] = []
    mix = (f"{mixed(tmp_path, CHAT, PAIR, TEXT)}:0.5",)
    build([runs], tmp_path / "out", settings(mix=mix), note=notes.append)
    rows = [row for row in rows_of(tmp_path / "out") if row["notation"] == "mix"]
    assert {(row["prefix"] + row["prompt"], row["completion"], row["train_ok"]) for row in rows} == {
        ("2 + 2?", "4", False),
        ("Write g.\n\nNow:\n", "def g(): ...", True),
        ("\n\n", "Once upon a time", False),
    }
    assert any("has 3 examples; a share of 0.5 would be 8" in note for note in notes)
    # A folder whose other data is not there yet is not complete; the same command makes it.
    (tmp_path / "out" / MIXED).unlink()
    with pytest.raises(InputError, match="incomplete"):
        refuse_unfinished(tmp_path / "out")
    build([runs], tmp_path / "out", settings(mix=mix))
    refuse_unfinished(tmp_path / "out")
    assert len(rows_of(tmp_path / "out")) == 8 + 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "line 1: is not an example"),
        ('{"messages": [{"role": "user", "content": "a"}]}', "is not an example"),
        (
            '{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}',
            "is not an example",
        ),
        ('{"prompt": "a", "completion": ""}', "is not an example"),
        ('{"prompt": 1, "completion": "a"}', "is not an example"),
        ("[1]", "is not an example"),
        ("nonsense", "is not JSON"),
        ("", "no example is left"),
    ],
)
def test_lines_that_are_not_examples(record: Recorded, tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        build([record(call("a", LOOP, "(2)"))], tmp_path / "out", settings(mix=(f"{file}:0.5",)))


@pytest.mark.parametrize(
    "mix", ["other.jsonl", "other.jsonl:0", "other.jsonl:1", "other.jsonl:x", "none.jsonl:0.5"]
)
def test_wrong_mixes(record: Recorded, tmp_path: Path, mix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.jsonl").write_text("")
    with pytest.raises(InputError, match="--mix"):
        build([record(call("a", LOOP, "(2)"))], tmp_path / "out", settings(mix=(mix,)))
