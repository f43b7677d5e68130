"""`why` against answers that a person read off the programs (`slices`)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.view.queries.why import Answer, ValueCause, why
from tests.view.slices import SLICES

TRUSTED = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)


def recorded(folder: Path, *programs: tuple[str, str]) -> Recordings:
    """Recordings of scripts: id and text."""
    record_programs([Program(id=id_, code=code) for id_, code in programs], folder, TRUSTED)
    return Recordings(folder)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    folder = tmp_path_factory.mktemp("slices")
    return recorded(folder, *((each.name, each.program) for each in SLICES))


def tree(answer: Answer) -> Iterator[str]:
    """An answer in the notation of `slices`."""
    children: dict[int | None, list[ValueCause]] = {}
    for step in answer.steps:
        children.setdefault(step.parent, []).append(step)

    def lines(parent: int | None, depth: int) -> Iterator[str]:
        for step in children.get(parent, ()):
            yield f"{'  ' * depth}{step.expression}: {step.line}{'?' * bool(step.unknown)}"
            yield from lines(step.number, depth + 1)

    yield from lines(None, 0)


@pytest.mark.parametrize("name", [each.name for each in SLICES])
def test_slices_that_a_person_made(name: str, recordings: Recordings) -> None:
    """The whole chain: values, their order, and the lines that made them."""
    (expected,) = [each for each in SLICES if each.name == name]
    answer = why(recordings[name], expected.expression, steps=100)
    assert list(tree(answer)) == expected.answer.splitlines()
    assert answer.more == 0


CONDITIONS = """
def first_negative(numbers):
    for number in numbers:
        if number < 0:
            return number

def close(numbers, threshold):
    for i, a in enumerate(numbers):
        for b in numbers[i + 1:]:
            if a - b < threshold:
                return True
    return False

def count(numbers):
    total = 0
    for number in numbers:
        if number > 9:
            total += 1
    return total

def grid(size):
    row = [0] * size
    return [row] * size

negative = first_negative([3, 4])
near = close([1, 8], 2)
big = count([5, 7])
cells = grid(2)
cells[0][1] = 5
"""
"""A person read off which conditions and earlier changes the values depend on."""
SLICES_WITH_CONDITIONS = {
    "negative": ["first_negative([3, 4]): 3", "number < 0: 4"],
    "near": ["close([1, 8], 2): 11", "a - b < threshold: 10", "numbers[i + 1:]: 9", "enumerate(numbers): 8"],
    "big": ["count([5, 7]): 19", "total: 15", "number > 9: 17", "numbers: 16"],
    "cells": ["cells: 29", "cells: 28", "grid(2): 23", "row: 22"],
}


@pytest.mark.parametrize("name", SLICES_WITH_CONDITIONS)
def test_conditions(name: str, tmp_path: Path) -> None:
    recording = recorded(tmp_path, ("it", CONDITIONS))["it"]
    plain = {f"{step.expression}: {step.line}" for step in why(recording, name, steps=100).steps}
    answer = why(recording, name, steps=100, conditions=True)
    steps = {f"{step.expression}: {step.line}" for step in answer.steps}
    assert {*SLICES_WITH_CONDITIONS[name]} <= steps
    assert plain < steps


def test_the_ending_and_the_result_of_an_event(tmp_path: Path) -> None:
    code = "def f(x):\n    return x + 1\n\ny = f(2)\nassert f(3) == 5\n"
    recording = recorded(tmp_path, ("it", code))["it"]
    last = why(recording, None)
    assert [(step.expression, step.value, step.line) for step in last.steps[:2]] == [
        ("the exception", "AssertionError()", 5),
        ("f(3)", "4", 2),
    ]
    (first,) = [row.index for row in recording.trace.rows if row.kind == "return" and row.value == "3"]
    result = why(recording, None, at=first)
    assert [(step.expression, step.value, step.line) for step in result.steps[:2]] == [
        ("f(...)", "3", 2),
        ("x", "2", 4),
    ]
    with pytest.raises(InputError, match=r"event 0: returns and raises nothing\. Name a value\."):
        why(recording, None, at=0)
