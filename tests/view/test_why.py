"""`why` against answers that a person read off the programs (`slices`)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
