"""Answers that were written from the prompts alone, and judged by them and by a person; the forms that prompts
ask for."""

import re
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.ask import Sample
from deskcheck.ask.answers.lenient import PLACES, read_leniently, said_in
from deskcheck.ask.answers.lenient import Expected as ExpectedAnswer
from deskcheck.ask.answers.parsing import CLOSE, FORMS, AnswerForm, answer_in, closed, without_thinking
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.samples.prompts import TASKS
from deskcheck.ask.scoring.sandbox import score_in, shared
from deskcheck.ask.scoring.score import score_answer
from deskcheck.files import read_json
from deskcheck.notation.forms.explained_steps import explained_step
from deskcheck.sources.sets.coding import CodingTask
from tests.ask.conftest import HERE
from tests.ask.test_lenient import code

GUIDE = HERE.parents[1] / "docs" / "reference" / "questions.md"
LENIENT_WRONG = 0.02
"""The share of answers that may be read otherwise than the person did."""


def lines_of(name: str) -> list[dict[str, Any]]:
    return [read_json(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def samples() -> dict[str, Sample]:
    by_name = {
        row["name"]: Sample(
            id=row["id"],
            question=row["question"],
            program="p",
            cluster="c",
            parts={},
            answer=row["answer"],
            data=row["data"],
        )
        for row in lines_of("judged_questions.jsonl")
    }
    task = CodingTask(
        id="double", prompt="Give twice a number.", entry_point="double", tests=("assert double(2) == 4",)
    )
    return by_name | {"program": program_sample(task)}


def test_verdicts_are_those_of_the_judge() -> None:
    """Strict: what the prompt asked for, in each of 618 answers. Lenient: what a person accepts, but for 2 in 100."""
    by_name, strict_wrong, lenient_wrong = samples(), [], []
    rows = lines_of("judged.jsonl")
    for row in rows:
        sample, reason = by_name[row["question"]], row.get("stop_reason", "stop")
        scored = score_in(shared(), sample, row["completion"], stop_reason=reason)
        if scored.score != row["strict"]:
            strict_wrong.append((row, scored.reason))
        if scored.metrics["lenient"] != row["lenient"]:
            lenient_wrong.append((row, scored.reason))
    assert strict_wrong == []
    assert len(lenient_wrong) <= LENIENT_WRONG * len(rows), lenient_wrong
    assert {row["question"] for row in rows} == {*by_name}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_what_a_prompt_asks_for(name: str) -> None:
    """Its sentences are in prompts, and the reference page has its examples."""
    form: AnswerForm = FORMS[name]
    prompts = [*map(plain, TASKS.values())]
    for sentence in form.asked:
        assert any(sentence in prompt for prompt in prompts), sentence
    assert [text for text in form.accepts if form.read(text) is None] == []
    assert [text for text in form.refuses if form.read(text) is not None] == []
    accepts, refuses = (", ".join(map(code, texts)) for texts in (form.accepts, form.refuses))
    assert f"| {accepts} | {refuses} |" in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize("notation", ["dynamic", "scratchpad", "compact"])
@pytest.mark.parametrize("back", [False, True])
def test_every_prompt_of_a_step_asks_for_the_fence(notation: str, back: bool) -> None:
    (sentence,) = FORMS["step"].asked
    assert sentence in explained_step(notation, instructions=False, back=back)


def test_a_fence_does_not_count_where_the_prompt_says_so() -> None:
    said = "A code fence around it does not count."
    assert {form for form, task in TASKS.items() if said in task} == {"program", "cell_output", "next_cell"}


@pytest.mark.parametrize(
    "name", [name for name, form in FORMS.items() if form.refuses and name != "arguments"]
)
def test_a_text_in_the_form_is_read_as_it_is(name: str) -> None:
    """Lenient adds readings, and changes none."""
    right = {"one_of": "4", "value": "[0]", "path": "[2]", "step": ""}.get(name, "")
    for text in FORMS[name].accepts:
        assert read_leniently(text, ExpectedAnswer(name, right)) == text


@pytest.mark.parametrize(("name", "completion", "read"), PLACES)
def test_where_a_person_finds_the_answer(name: str, completion: str, read: str) -> None:
    assert said_in(completion) == read
    shown, found = (text.replace("\n", "⏎") for text in (completion, read))
    assert f"| {name} | `{shown}` | {f'`{found}`' if found else 'none'} |" in GUIDE.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("[ANSWER]10", "10"),
        ("So: [ANSWER]10\n", "10"),
        ("[ANSWER]9[/ANSWER] [ANSWER]10", "9"),
        ("10", None),
        ("<think>[ANSWER]10", None),
        ("<think>[ANSWER]9</think>[ANSWER]10", "10"),
    ],
)
def test_the_stop_word_closes_the_answer(completion: str, answer: str | None) -> None:
    """Where it was sent with the request, and only there."""
    speech, _ = without_thinking(completion)
    assert answer_in(closed(speech)) == answer
    sample = samples()["state_number"]
    right = replace(sample, answer=answer or "10")
    assert score_answer(right, completion, stop_reason=CLOSE).score == float(answer is not None)
    alone = answer_in(completion)
    assert score_answer(right, completion, stop_reason="stop").score == float(alone is not None)


def test_prompts_in_other_words_may_ask_for_an_assertion() -> None:
    """As those of CRUXEval do."""
    sample = samples()["output_float"]
    own = replace(sample, data={**sample.data, "own_words": True})
    completion = "[ANSWER]\nassert pick({'x': 5}, 'x') == 2.5\n[/ANSWER]"
    assert score_answer(sample, completion).score == 0
    assert score_answer(own, completion).score == 1
    assert score_answer(own, "[ANSWER]2.5[/ANSWER]").score == 1


def test_chain_of_thought_asks_for_the_state_between_marks() -> None:
    sample = samples()["step"]
    between = f"It goes on.\n[ANSWER]\n```\n{sample.answer}\n```\n[/ANSWER]"
    assert score_answer(sample, between).score == 0
    assert score_answer(replace(sample, data={**sample.data, "marks": True}), between).score == 1
    assert score_answer(sample, between).metrics["lenient"] == 1
