"""What explains the notations is true of them: its examples are what is really written."""

import itertools
import sys
from collections.abc import Callable

import pytest

from deskcheck.notation import NOTATIONS, moments, state_text
from deskcheck.notation.forms.explained import EXPLAINED, EXPLAINED_PROGRAM, TEXTS
from deskcheck.notation.forms.explained_steps import (
    _EXAMPLES,
    ANSWERS,
    explained_in,
    explained_step,
)
from deskcheck.notation.layout import program_text, step_prompt, trace_prompt
from deskcheck.recording import Recording
from deskcheck.tracer import Granularity

Record = Callable[..., Recording]


@pytest.fixture(scope="module")
def recording(record: Record) -> Recording:
    return record(EXPLAINED_PROGRAM, "f", "(1)")


@pytest.mark.parametrize("notation", ["scratchpad", "compact"])
def test_example_of_a_whole_run_is_its_rendering(recording: Recording, notation: str) -> None:
    shown = program_text(recording.program) + trace_prompt(recording.program, notation)
    assert (
        f"{shown}```\n{NOTATIONS[notation].render(recording)}\n```\n\nNow yours.\n\n" in EXPLAINED[notation]
    )


def test_examples_of_steps_are_steps(recording: Recording) -> None:
    """Three steps of the run stand in the text, laid out as prompts are."""
    states = [state_text(moment) for moment in moments(recording.trace, file="program.py")]
    lines = recording.program.code.splitlines()
    found = [
        f"{step_prompt(lines, before)}```\n{after}\n```\n" in EXPLAINED["dynamic"]
        for before, after in itertools.pairwise(states)
    ]
    assert sum(found) == 3
    assert program_text(recording.program) in EXPLAINED["dynamic"]


@pytest.mark.parametrize("notation", list(EXPLAINED))
def test_ends_where_the_program_begins(notation: str) -> None:
    assert EXPLAINED[notation].endswith("\n\nNow yours.\n\n")


@pytest.mark.parametrize("notation", ANSWERS)
@pytest.mark.parametrize("back", [False, True])
def test_examples_of_other_steps_are_steps(recording: Recording, notation: str, back: bool) -> None:
    """Each example stands in the words as the state that it jumps from, and an answer that reads back as the state that
    it leads to."""
    states = list(moments(recording.trace, file="program.py"))
    lines = recording.program.code.splitlines()
    words = explained_step(notation, instructions=False, back=back)
    for number, jump in _EXAMPLES[False, back]:
        known = state_text(states[number])
        _, asked, rest = words.partition(f"{step_prompt(lines, known, jump)}```\n")
        assert asked
        answer = rest.partition("\n```\n")[0]
        told = NOTATIONS[notation].parse(answer if notation == "dynamic" else f"{known}\n{answer}")
        assert not told.unreadable
        assert told.moments[-1] == states[number + jump]
    assert program_text(recording.program) in words
    assert ("How it is run: f(1)" in words) == back


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the example is of 3.11: would show that it is true"
)
def test_the_example_of_instructions_is_what_runs(record: Record) -> None:
    run = record(TEXTS["instructions_program"], "f", "(2)", granularity=Granularity.INSTRUCTION)
    assert f"{TEXTS['instructions_run']}\n" in NOTATIONS["dynamic_instruction"].render(run)


def test_words_are_told_apart() -> None:
    """No words begin as others do, so that a prompt says what it asks."""
    words = {
        (notation, instructions, back): explained_step(notation, instructions=instructions, back=back)
        for notation in ANSWERS
        for instructions in (False, True)
        for back in (False, True)
    }
    texts = [*words.values(), EXPLAINED["dynamic"]]
    assert sum(one.startswith(other) for one in texts for other in texts) == len(texts)
    assert all(explained_in(f"{text}1|x = 1") == key[0] for key, text in words.items())
    assert explained_in(EXPLAINED["dynamic"]) is None
    assert all(text.endswith("\n\nNow yours.\n\n") for text in texts)
