"""Displays over several lines, in every place that a display may have, beside the values of plain Python."""

import contextlib
from collections.abc import Iterator

import pytest

from deskcheck.recording import Program, decode, render
from deskcheck.recording.trace import State
from deskcheck.recording.value import loads
from deskcheck.tracer import TraceLimits
from tests.tracer import agree, displays

SETTING = agree.Setting(limits=TraceLimits(events=3_000), seconds=30)


@pytest.fixture(scope="module")
def tracers() -> Iterator[dict[str, agree.Runner]]:
    with agree.Runner("reference", SETTING) as one, contextlib.ExitStack() as stack:
        runners = {"reference": one}
        if agree.native_is_built():
            runners["native"] = stack.enter_context(agree.Runner("native", SETTING))
        yield runners


def _states(traced: agree.Traced) -> Iterator[State]:
    state = State()
    for row in traced.rows:
        state = state.after(row)
        yield state


def _shown(encoded: object, state: State) -> str:
    return render(decode(encoded, state.objects))


def _recorded(program: Program, traced: agree.Traced) -> str:
    """What a recording shows of `y` at the line `done = 1`."""
    line = next(n for n, text in enumerate(program.code.split("\n"), 1) if text.strip() == displays.ENDS)
    for state in _states(traced):
        if state.last is not None and (state.last.kind, state.last.line) == ("line", line):
            names = {**state.globals.get(state.last.file, {}), **state.frames[state.last.frame].locals}
            return _shown(names["y"], state)
    raise AssertionError(f"no event at line {line}")


@pytest.mark.parametrize(
    ("start", "every"),
    [(0, 29), pytest.param(14, 29, marks=pytest.mark.slow)],
)
def test_displays_are_recorded_as_they_are(start: int, every: int, tracers: dict[str, agree.Runner]) -> None:
    """A display over several lines, in every place that a display may have, has the value that plain Python gives it."""
    false = _false_displays(list(displays.programs())[start::every], tracers)
    assert not false, "\n\n".join(false)


@pytest.mark.exhaustive
def test_all_displays_are_recorded_as_they_are(tracers: dict[str, agree.Runner]) -> None:
    assert not _false_displays(list(displays.programs()), tracers)


def _false_displays(programs: list[Program], tracers: dict[str, agree.Runner]) -> list[str]:
    assert len(programs) > 50
    return [
        f"{program.id}, {name}: {recorded} is recorded of {truth}\n{program.code}"
        for program in programs
        for truth in [displays.value_of(program)]
        for name, runner in tracers.items()
        if (recorded := _recorded(program, runner.run(program))) != truth
    ]


def _begun(traced: agree.Traced) -> dict[int, str]:
    """By line of a call of `look`: the displays on the value stack there."""
    lines: dict[int, list[str]] = {}
    for state in _states(traced):
        row = state.last
        if row is not None and row.kind == "call" and row.function == "look":
            assert row.caller is not None
            caller = loads(row.caller)
            values = [decode(value, state.objects) for value in state.frames[caller["frame"]].stack]
            shown = [render(value) for value in values if value.kind in ("list", "set", "dict")]
            lines.setdefault(caller["at"][0], []).extend(shown)
    return {line: " ".join(shown) for line, shown in lines.items()}


@pytest.mark.parametrize("program", displays.HALF, ids=lambda program: program.id)
def test_half_of_a_display_is_seen(program: Program, tracers: dict[str, agree.Runner]) -> None:
    """A function that is called from within a display sees, on the caller's value stack, what there is of it by then."""
    expected = {
        line: text.partition("# half: ")[2]
        for line, text in enumerate(program.code.split("\n"), 1)
        if "# half: " in text
    }
    assert expected
    for name, runner in tracers.items():
        begun = _begun(runner.run(program))
        assert {line: begun.get(line) for line in expected} == expected, name
