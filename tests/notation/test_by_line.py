"""A recording by instruction, read by line, has the states and the texts of a recording by line."""

from dataclasses import replace

import pytest

from deskcheck.notation import Moment, moments
from deskcheck.notation.forms.dynamic import StateWriter
from deskcheck.recording import Kind, Trace
from deskcheck.tracer import Granularity, TraceLimits
from tests.notation.test_round_trip import PIECES
from tests.sample import spread
from tests.tracer.agree import Runner, Setting, generated, native_is_built, own_programs
from tests.tracer.conftest import FILE, run_traced

UNFINISHED = frozenset({Kind.RAISE, Kind.RETURN, Kind.UNWIND})
"""Events at which the stack of a line that did not end may differ, as `by_line` says."""
PROGRAMS = {
    program.id: program for program in own_programs() if program.id.startswith(("small_", "loop_", "list_"))
}


def texts(states: list[Moment]) -> list[str]:
    """The state at each event, without what may differ."""
    writer = StateWriter()
    return [writer.text(_finished(state) if state.kind in UNFINISHED else state) for state in states]


def _finished(state: Moment) -> Moment:
    return replace(state, frames=(*state.frames[:-1], replace(state.running, stack=())))


def states(trace: Trace, file: str) -> list[Moment]:
    return list(moments(trace, file=file))


@pytest.mark.parametrize("piece", PIECES)
def test_pieces(piece: str) -> None:
    """What a trace can hold, by the reference tracer or the native one."""
    by_line, by_instruction = (
        states(run_traced(PIECES[piece], granularity=granularity).trace, FILE) for granularity in Granularity
    )
    assert texts(by_line) == texts(by_instruction)


@pytest.mark.parametrize("name", spread(sorted(PROGRAMS), 4))
def test_programs(name: str) -> None:
    """Whole programs, natively."""
    _check(PROGRAMS[name])


def test_edited_texts() -> None:
    """Instructions of a line that edit one text several times."""
    _check(PROGRAMS["loop_edits_texts"])


@pytest.mark.slow
def test_generated_programs() -> None:
    """Programs that nobody wrote."""
    for program in generated(20, 47):
        _check(program)


def _check(program: object) -> None:
    if not native_is_built():
        pytest.skip("no native tracer: would have proved that levels agree on traces that it makes")
    found = []
    for granularity, events in ((Granularity.LINE, 400), (Granularity.INSTRUCTION, 20_000)):
        setting = Setting(limits=TraceLimits(events=events), granularity=granularity)
        with Runner("native", setting) as runner:
            rows = runner.run(program).threads.get(0, [])  # type: ignore[arg-type]
            found.append(texts(states(Trace(rows), program.filename)))  # type: ignore[attr-defined]
    by_line, by_instruction = found
    assert by_line == by_instruction[: len(by_line)]
