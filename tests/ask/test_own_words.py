"""Prompts in the words of the user, and prompts with examples, in a file of questions as in a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask import Sampling, score_answer
from deskcheck.ask.questions.lines import write_questions
from deskcheck.ask.questions.own_words import fields_of, in_own_words, own_words
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.recording import InputError, Recording
from tests.ask.conftest import Record

CODE = "def f(n, by=2):\n    total = 0\n    for i in range(n):\n        total += i | by\n    return total\n"
PUBLISHED = """\
You get a function and an assertion. Complete it with a literal.

[PYTHON]
def f(d):
    return {1: d}
assert f({}) == ??
[/PYTHON]
[ANSWER]
assert f({}) == {1: {}}
[/ANSWER]

[PYTHON]
{{code}}
assert {{ call }} == ??
[/PYTHON]
[ANSWER]
"""


def test_a_published_prompt_of_its_own_words(record: Record) -> None:
    """Nothing of ours is in it; single braces stay as they are."""
    (sample,) = QUESTIONS["output"](record(CODE, "f", "(3,)"))
    (asked,) = in_own_words([sample], PUBLISHED)
    before, _, _ = PUBLISHED.partition("{{code}}")
    assert asked.prompt == f"{before}{CODE.strip()}\nassert f(3,) == ??\n[/PYTHON]\n[ANSWER]"
    assert (asked.id, asked.answer) == (sample.id, sample.answer)
    assert asked.data == {**sample.data, "own_words": True}
    assert score_answer(asked, "[ANSWER]\nassert f(3,) == 7\n[/ANSWER]").score == 1
    assert score_answer(sample, "[ANSWER]\nassert f(3,) == 7\n[/ANSWER]").score == 0


def test_places_that_questions_have(record: Record) -> None:
    """Each line of a question by its label, and the code without the numbers of its lines."""
    recording = record(CODE, "f", "(3,)")
    by_kind = {
        kind: next(iter(QUESTIONS[kind](recording))) for kind in ("input", "next_line", "state", "path")
    }
    fields = {kind: fields_of(sample) for kind, sample in by_kind.items()}
    assert (fields["input"]["function"], fields["input"]["returned"]) == ("f", "7")
    assert fields["next_line"]["about_to_run"].startswith("line ")
    assert "n = 3" in fields["next_line"]["values"]
    assert fields["state"]["variable"].partition(",")[0] in ("n", "by", "total", "i")
    assert all(there["code"] == CODE.strip() for there in fields.values())


def test_a_place_that_a_question_does_not_have(record: Record) -> None:
    (sample,) = QUESTIONS["output"](record(CODE, "f", "(3,)"))
    with pytest.raises(InputError, match=r":output has no \{\{variable\}\}\. It has task, .*call"):
        in_own_words([sample], "{{code}} {{variable}}")


def test_which_kinds_a_file_is_for(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("one {{call}}")
    other.write_text("other {{code}}")
    words = Sampling(prompt=(str(one), f"state={other}"))
    assert own_words(words, ["output", "state"]) == {"output": "one {{call}}", "state": "other {{code}}"}
    assert own_words(Sampling(prompt=(f"state={other}",)), ["output", "state"]) == {"state": "other {{code}}"}
    assert own_words(Sampling(), ["output"]) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prompt": ("path=one.txt",)}, "path is not one of the questions: output"),
        ({"prompt": ("nowhere.txt",)}, "nowhere.txt: No such file"),
        ({"prompt": ("single.txt",)}, r"single.txt: has no place .* \{\{code\}\}.* with two braces"),
        ({"prompt": ("one.txt",), "shots": 2}, "exclude each other"),
    ],
)
def test_what_cannot_be_worded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.txt").write_text("{{code}}")
    Path("single.txt").write_text("{code} {call}")
    with pytest.raises(InputError, match=said):
        own_words(Sampling(**given), ["output"])


def test_a_file_of_questions_has_them_too(cruxeval: list[Recording], tmp_path: Path) -> None:
    """Words of the user, and so many examples as are asked for."""
    words = tmp_path / "words.txt"
    words.write_text("What is {{call}}?\n{{code}}\n")
    path = tmp_path / "questions.jsonl"
    write_questions(path, cruxeval, ["output"], sampling=Sampling(prompt=(str(words),)))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows
    assert all(row["prompt"].startswith("What is f(") for row in rows)
    write_questions(path, cruxeval, ["output"], sampling=Sampling(shots=2))
    shown = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in shown] == [row["id"] for row in rows]
    assert {row["prompt"].count("An example.") for row in shown} == {2}
