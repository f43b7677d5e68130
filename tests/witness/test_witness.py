"""Native tracer, reference, and a third witness that shares nothing with them tell the same of every program; and each tracer tells
the same at line level as at instruction level.

`python -m tests.witness` asks the same of more programs, and cuts down those that it finds.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import Program, Row
from deskcheck.tracer import TraceLimits
from tests.sample import spread
from tests.tracer import agree
from tests.tracer._templates import PRELOADED
from tests.tracer.layouts import laid_out
from tests.witness import mutators
from tests.witness.__main__ import made, mutated
from tests.witness.compare import Different, check, check_levels
from tests.witness.run import Judges, skipped

SETTING = agree.Setting(limits=TraceLimits(events=500), seconds=30, imports=PRELOADED)
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))

pytestmark = pytest.mark.skipif(
    not agree.native_is_built(),
    reason="the native tracer is not built here (python setup.py build_ext --inplace): nothing to compare",
)

TRUE_DEATHS = pytest.mark.skipif(
    sys.version_info < (3, 13),
    reason="`f_locals`, which the witness reads, keeps generators alive up to 3.12",
)


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges(SETTING) as found:
        yield found


def assert_agreed(programs: Iterable[Program], judges: Judges) -> int:
    """All tell the same of every program; the number of events that the witness saw too."""
    events = 0
    for program in programs:
        for finding in judges.judge(program):
            pytest.fail(f"{program.id}: {finding.who}: {finding.text}\n\n{program.code}", pytrace=False)
        events += judges.events
    return events


@pytest.mark.parametrize("path", spread(PROGRAMS, 3), ids=lambda path: path.stem)
def test_what_was_found_before(path: Path, judges: Judges) -> None:
    """Programs that were told wrongly once, and others like them."""
    if path.stem.startswith("numpy"):
        pytest.importorskip("numpy", reason="would have proved that memory shared with an array is told of")
    assert_agreed([agree.script(path)], judges)


@pytest.mark.parametrize("program", spread(agree.own_programs(), 60, 20), ids=lambda program: program.id)
def test_programs_of_ours(program: Program, judges: Judges) -> None:
    """Programs of tests/programs that take the same course every time."""
    assert_agreed([program], judges)
    if (why := skipped(program)) is not None:
        pytest.skip(f"the tracers agree; no witness: {why}")


@pytest.mark.parametrize(("start", "every"), [(0, 1000), pytest.param(1, 400, marks=pytest.mark.slow)])
def test_mutators(start: int, every: int, judges: Judges) -> None:
    """Every mutator of every builtin type, on every kind of argument and of alias: each a small program."""
    some = list(mutated(every, start))
    assert assert_agreed(some, judges) > 20 * len(some)


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(40))
def test_all_mutators(start: int, judges: Judges) -> None:
    """The whole of them."""
    assert assert_agreed(mutated(40, start), judges)


def test_no_mutator_is_left_out() -> None:
    """Each name that `dir` gives for one of the types is known to change an object or known not to."""
    assert mutators.left_out() == {}


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 2),
        pytest.param(2, 10, marks=pytest.mark.slow),
        *(pytest.param(seed, 20, marks=[pytest.mark.exhaustive, TRUE_DEATHS]) for seed in range(3, 14)),
    ],
)
def test_programs_that_nobody_wrote(seed: int, count: int, judges: Judges) -> None:
    """Programs of what a line can change without an instruction for it."""
    assert assert_agreed(made(count, seed), judges)


@pytest.mark.parametrize(
    "count", [pytest.param(2, marks=pytest.mark.slow), pytest.param(60, marks=pytest.mark.exhaustive)]
)
def test_programs_of_the_tracers_grammar(judges: Judges, count: int) -> None:
    """Those that the two tracers are compared with."""
    assert assert_agreed(agree.generated(count, seed=5), judges)


@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("cruxeval", 60),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in [("cruxeval", 40), ("humaneval", 48), ("p3", 1600)]
        ),
        *(
            pytest.param(*row, marks=pytest.mark.exhaustive)
            for row in [("cruxeval", 1), ("mbpp", 1), ("humaneval", 1), ("p3", 1)]
        ),
    ],
)
def test_published_sets(name: str, every: int, judges: Judges) -> None:
    """A sample of the sets that recordings are made of."""
    if not (agree.SHARED / agree.SETS[name]).exists():
        pytest.skip(f"no {name} here (DESKCHECK_SHARED): would show that three agree on published programs")
    assert assert_agreed(agree.published(name)[::every], judges)


@pytest.mark.parametrize(
    ("start", "every"),
    [
        (7, 160),
        pytest.param(40, 80, marks=pytest.mark.slow),
        pytest.param(0, 1, marks=pytest.mark.exhaustive),
    ],
)
def test_other_layouts(start: int, every: int, judges: Judges) -> None:
    """The same programs with their expressions over several lines, and with their displays and calls starred."""
    assert_agreed(laid_out(agree.own_programs()[start::every], ("broken", "black40", "stars")), judges)


def test_the_stack_is_compared(judges: Judges) -> None:
    """A trace whose value stack has the value before a line, not the one at it, is seen to be false."""
    program = Program(id="p", code="def f(x):\n    return max(\n        -\n        x,\n        0)\nf(5)\n")
    saw, rows = judges.witness.saw(program), judges.coarse["native"].run(program).rows
    assert check(program.code, saw.events, rows, whole=True) == len(rows)
    wrong = [row._replace(stack=row.stack and row.stack.replace("-5", "5")) for row in rows]
    assert wrong != rows
    with pytest.raises(Different, match="stack"):
        check(program.code, saw.events, wrong, whole=True)


def _texts(row: Row) -> dict[str, Any]:
    return {name: text for name in ("locals", "globals", "objects") if (text := getattr(row, name))}


def test_a_difference_is_seen(judges: Judges) -> None:
    """The comparison tells apart: a value changed, an event lost, one object taken for two and two for one, another end."""
    program = Program(
        id="p", code="def f(a, b):\n    c = [a, b]\n    return c\nx = [1]\ny = f(x, [1])\nz = f(x, x)\n"
    )
    assert skipped(program) is None
    saw = judges.witness.saw(program)
    rows = judges.coarse["native"].run(program).rows
    assert saw.whole
    assert check(program.code, saw.events, rows, whole=True) == len(saw.events) == len(rows) == 14
    assert check_levels(rows, judges.fine["native"].run(program).rows, whole=True) == 14

    def changed(old: str, new: str) -> None:
        at, column = next(
            (n, column)
            for n, row in enumerate(rows)
            for column in ("objects", "globals", "locals", "value")
            if old in (getattr(row, column) or "")
        )
        wrong = [*rows]
        wrong[at] = rows[at]._replace(**{column: getattr(rows[at], column).replace(old, new, 1)})
        with pytest.raises(Different):
            check(program.code, saw.events, wrong, whole=True)
        with pytest.raises(Different):
            check_levels(rows, wrong, whole=True)

    def told_wrongly(code: str, old: str, new: str) -> None:
        program = Program(id="p", code=code)
        saw, rows = judges.witness.saw(program), judges.coarse["native"].run(program).rows
        assert check(code, saw.events, rows, whole=True)
        wrong = [
            row._replace(**{name: text.replace(old, new) for name, text in _texts(row).items()})
            for row in rows
        ]
        assert wrong != rows
        with pytest.raises(Different):
            check(code, saw.events, wrong, whole=True)

    told_wrongly("def f():\n    i = 1\n    return i\nf()\ny = [i for i in [2]]\n", '"i":1', '"h":1')
    ordered = "from collections import OrderedDict\nd = OrderedDict()\nd[1, 2] = 3\nd[None] = 4\nx = 1\n"
    told_wrongly(ordered, "4]", "5]")
    told_wrongly("xs = [1, 2]\nx = 1\n", '"kind":"list"', '"kind":"opaque"')
    changed('"items":[1]', '"items":[2]')
    changed('"b":{"ref":3}', '"b":{"ref":2}')
    changed('"x":{"ref":', '"w":{"ref":')
    for wrong in (rows[:-1], rows[1:], [*rows[:5], *rows[6:]], [*rows, rows[-1]]):
        with pytest.raises(Different):
            check(program.code, saw.events, wrong, whole=True)
        with pytest.raises(Different):
            check_levels(rows, wrong, whole=True)


def test_the_witness_reads_nothing_of_ours() -> None:
    """What the witness is written in imports the standard library alone."""
    text = (Path(__file__).parent / "_watch.py").read_text()
    imported = {
        line.split()[1].partition(".")[0]
        for line in text.splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
