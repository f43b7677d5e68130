"""What explains the notations is true of them: its examples are what is really written."""

import itertools
from collections.abc import Callable

import pytest

from deskcheck.notation import NOTATIONS, moments, state_text
from deskcheck.notation.forms.explained import EXPLAINED, EXPLAINED_PROGRAM
from deskcheck.notation.layout import program_text, step_prompt, trace_prompt
from deskcheck.recording import Recording

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
