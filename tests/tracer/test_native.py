"""The native tracer agrees with the reference, event for event and value for value, on programs of every kind.

`python -m tests.tracer.agree` asks the same of more programs, and cuts down those that it finds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from deskcheck.recording import Program, Row
from deskcheck.tracer import TraceLimits
from tests.sample import examples, spread
from tests.tracer import agree, generated
from tests.tracer._templates import PRELOADED
from tests.tracer.process import needs_native

TRACERS = ("reference", "native")
SETTING = agree.Setting(limits=TraceLimits(events=5_000), seconds=30)
OF_GENERATED = replace(SETTING, imports=PRELOADED)
CUT_ELSEWHERE = {
    "generator_yield_from_throw": "of generators in one another, deeper than the limit, the reference lets the"
    " innermost go while an exception is thrown in"
}
FOUND = sorted((Path(__file__).parent / "disagreements").glob("*.py"))

pytestmark = needs_native


def assert_agreed(programs: Iterable[Program], setting: agree.Setting = SETTING) -> int:
    """Both tracers tell the same of every program; the number of programs."""
    count = 0
    for found in agree.disagreements(programs, TRACERS, setting):
        count += 1
        if found is not None and not found.numbers:
            pytest.fail(f"{found.program.id}: {found.text}\n\n{found.program.code}", pytrace=False)
    return count


@pytest.fixture(scope="module")
def runners() -> Iterator[tuple[agree.Runner, agree.Runner]]:
    with agree.Runner("reference", SETTING) as first, agree.Runner("native", SETTING) as second:
        yield first, second


def assert_agrees(program: Program, runners: tuple[agree.Runner, agree.Runner]) -> None:
    found = agree.compare(program, runners[0].run(program), runners[1].run(program))
    if found is not None and not found.numbers:
        pytest.fail(found.text, pytrace=False)


# The reference needs ten seconds for that one.
OURS = [
    pytest.param(program, id=program.id, marks=[pytest.mark.exhaustive] * (program.id == "limits_crossed"))
    for program in agree.own_programs()
]


@pytest.mark.parametrize("program", spread(OURS, 5))
def test_programs_of_ours(program: Program, runners: tuple[agree.Runner, agree.Runner]) -> None:
    """Every program of tests/programs that takes the same course every time."""
    assert_agrees(program, runners)


@pytest.mark.parametrize("path", spread(FOUND, 3), ids=lambda path: path.stem)
def test_what_was_found_before(path: Path, runners: tuple[agree.Runner, agree.Runner]) -> None:
    """Each program in disagreements/ was told differently once."""
    assert_agrees(agree.script(path), runners)


@pytest.mark.exhaustive
@settings(
    max_examples=examples(60),
    deadline=None,
    database=None,
    phases=[
        Phase.generate
    ],  # to shrink what it finds takes minutes; `--reduce` of the command does it better
    suppress_health_check=list(HealthCheck),
)
@given(code=generated.programs())
def test_small_programs_that_nobody_wrote(code: str, runners: tuple[agree.Runner, agree.Runner]) -> None:
    """Whatever Hypothesis makes of the grammar, small."""
    assert_agrees(Program(id="generated", code=code), runners)


@pytest.mark.parametrize("every", spread([12, 4], 2))
@pytest.mark.parametrize(
    "limits",
    [
        replace(SETTING.limits, depth=3),
        pytest.param(replace(SETTING.limits, items=2), marks=pytest.mark.exhaustive),
        replace(SETTING.limits, items=3, text_chars=3),
    ],
    ids=["depth", "items", "text"],
)
def test_what_is_cut_is_cut_alike(limits: TraceLimits, every: int) -> None:
    """Small limits on values, on programs of each kind: what goes beyond them and comes back."""
    programs = [program for program in agree.own_programs()[::every] if program.id not in CUT_ELSEWHERE]
    assert assert_agreed(programs, replace(SETTING, limits=limits)) > 160 / every


@pytest.mark.parametrize("count", spread([1, 4], 2))
@pytest.mark.exhaustive
def test_programs_that_nobody_wrote(count: int) -> None:
    """Longer programs of the same grammar."""
    assert assert_agreed(agree.generated(count, seed=1), OF_GENERATED) == count


@pytest.mark.exhaustive
def test_many_programs_that_nobody_wrote() -> None:
    assert assert_agreed(agree.generated(40, seed=2), OF_GENERATED) == 40


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("cruxeval", 20),
        ("mbpp", 100),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in [("cruxeval", 12), ("mbpp", 60), ("humaneval", 24), ("p3", 1200)]
        ),
        *(
            pytest.param(*row, marks=pytest.mark.exhaustive)
            for row in [("cruxeval", 1), ("mbpp", 1), ("humaneval", 1), ("p3", 1)]
        ),
    ],
)
def test_published_sets(name: str, every: int) -> None:
    """A sample of the sets that recordings are made of."""
    if not (agree.SHARED / agree.SETS[name]).exists():
        pytest.skip(
            f"no {name} here (DESKCHECK_SHARED): would show that the tracers agree on published programs"
        )
    assert assert_agreed(agree.published(name)[::every])


def test_a_difference_is_seen() -> None:
    """The comparison tells apart: an event changed, an event lost, a number given to two objects."""
    program = Program(id="two_lists", code="a = [1]\nb = [2]\nc = [a, b]\nprint(c)\n")
    with agree.Runner("reference", SETTING) as runner:
        one, two = runner.run(program), runner.run(program)
    assert agree.compare(program, one, two) is None
    last = two.rows[-1]

    def compared(rows: list[Row]) -> agree.Disagreement | None:
        return agree.compare(program, one, replace(two, tracer="other", rows=rows))

    changed = compared([*two.rows[:-1], last._replace(line=last.line + 1)])
    assert changed is not None
    assert not changed.numbers
    assert "line" in changed.text
    lost = compared(two.rows[:-1])
    assert lost is not None
    assert not lost.numbers
    assert "has ended" in lost.text
    at, row = next((n, row) for n, row in enumerate(two.rows) if row.globals and '"b"' in row.globals)
    assert row.globals is not None
    aliased = row._replace(globals=row.globals.replace('"b":{"ref":2}', '"b":{"ref":1}'))
    assert aliased != row
    joined = compared([*two.rows[:at], aliased, *two.rows[at + 1 :]])
    assert joined is not None
    assert not joined.numbers
