"""Questions about calls that tests made: none twice, and none whose answer is not to be seen."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.ask.questions.alike import MOST, REASON, _path
from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import Sampling
from deskcheck.ask.run import truth_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import shown_file
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings
from deskcheck.recording.writer import Writer
from tests.conftest import unmeasured
from tests.recorder.test_suite import project
from tests.recorder.test_suite import record as record_tests

Record = Callable[..., Recording]

TABLES = """
prices = {}
names = dict()
counted = 0
limit = 3
kinds = {"a", "b"}


def price(name):
    return prices[name]


def named(number):
    return names[number]


def count(step):
    return counted + step


def below(number):
    if number < limit:
        return "yes"
    return "no"


def kind(name):
    return name in kinds


def parity(number):
    if number % 2:
        return "odd"
    return "even"


def double(number):
    return number * 2
"""
FILLING = """
from shop import tables

tables.prices.update(apple=3, pear=5)
tables.names.update((n, "name number %d" % n) for n in range(100))
tables.counted = 7
"""
DUTY = """
rate = 0


def duty(number):
    return number * rate
"""
SALES = """
from shop.duty import duty

rate = 0


def sale(number):
    return number * rate + duty(number)
"""
GENS = """
step = 0


def numbers():
    yield 0
    yield step


running = numbers()
next(running)
"""
DICE = """
import random as chance
from random import randrange

private = chance.Random(5)


def thrown(sides):
    return randrange(sides)


def privately(sides):
    return private.randrange(sides)


def perhaps(sides):
    if sides > 100:
        return chance.randrange(sides)
    return 0


if True:
    def nested(number):
        return number + OFFSET

    def unused(number):
        return number


OFFSET = BASE = 2
"""
DRAWN = """
from shop.duty import duty
from shop.gens import running


def draw(number):
    return next(running) + number + duty(0)
"""
TESTS = """
from shop import duty, filling, gens, sales
from shop.dice import nested, perhaps, privately, thrown
from shop.drawn import draw
from shop.tables import below, count, double, kind, named, parity, price

def test_a():
    price("pear")
    named(7)
    count(1)
    below(2)
    kind("a")
    for n in range(8):
        parity(n)
        double(n)
    sales.rate, duty.rate = 3, 9
    sales.sale(1)
    gens.step = 4
    draw(1)
    import random
    random.seed(3)
    thrown(6)
    privately(6)
    perhaps(6)
    nested(6)
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sample], dict[str, Counter[str]]]:
    folder = project(tmp_path_factory.mktemp("tables"), TESTS)
    (folder / "src/shop/tables.py").write_text(TABLES)
    (folder / "src/shop/filling.py").write_text(FILLING)
    for name, text in (("duty", DUTY), ("sales", SALES), ("gens", GENS), ("drawn", DRAWN), ("dice", DICE)):
        (folder / f"src/shop/{name}.py").write_text(text)
    with unmeasured():
        record_tests(folder, folder / "runs", repeat=False)
    found = Gathering(folder / "runs", ["output", "path", "next_line"]).sets()
    samples = [sample for asked, _ in found.values() for sample in asked]
    return samples, {kind: excluded for (kind, _), (_, excluded) in found.items()}


@pytest.mark.slow
def test_what_was_filled_elsewhere_is_shown_or_not_asked(
    asked: tuple[list[Sample], dict[str, Counter[str]]],
) -> None:
    """A small table and a number stand in the prompt as they are; a large one is a reason not to ask. What holds
    what the source says is not told again."""
    samples, excluded = asked
    outputs = {s.program.partition("(")[0]: s for s in samples if s.question == "output"}
    told = "Globals when the call is made:\n    "
    assert outputs["shop.tables.price"].prompt.endswith(f"{told}prices = {{'apple': 3, 'pear': 5}}")
    assert outputs["shop.tables.count"].prompt.endswith(f"{told}counted = 7")
    assert "shop.tables.named" not in outputs
    assert excluded["output"]["a global variable that other code filled cannot be shown"] == 1
    for name in ("below", "kind", "double"):
        assert "Globals when" not in outputs[f"shop.tables.{name}"].prompt


def test_what_draws_random_numbers_is_not_asked(
    asked: tuple[list[Sample], dict[str, Counter[str]]],
) -> None:
    """The test has seeded them: the call repeats, and a prompt cannot say what comes. What could draw and
    does not is asked."""
    samples, excluded = asked
    asked_of = {s.program.partition("(")[0] for s in samples}
    assert not asked_of & {"shop.dice.thrown", "shop.dice.privately"}
    assert {"shop.dice.perhaps", "shop.dice.nested"} <= asked_of
    for kind in ("output", "path"):
        assert excluded[kind]["it draws random numbers, which the tests have seeded"] == 2


def test_what_a_long_file_is_cut_down_to() -> None:
    """The definitions that ran, also those under a condition; what binds the names that are used there, and in
    that again; what a statement of the module has called."""
    text = (
        DICE
        + "\n\ndef made(n):\n    return [n]\n\n\nTABLE = made(BASE)\n\n\ndef first():\n    return TABLE[0]\n"
    )
    text += "# long\n" * 300

    def shown(*ran: str) -> str:
        return shown_file("dice.py", text, frozenset(ran), True).text(numbered=False)

    nested = shown("nested")
    assert "def nested" in nested
    assert "OFFSET = BASE = 2" in nested
    assert "def unused" not in nested
    assert "import" not in nested
    first = shown("first")
    assert [line for line in first.splitlines() if line.strip() and "..." not in line] == [
        *("OFFSET = BASE = 2", "def made(n):", "    return [n]", "TABLE = made(BASE)"),
        *("def first():", "    return TABLE[0]"),
    ]


def test_methods_that_are_left_out_leave_one_mark() -> None:
    """However many there are one after another, and whatever empty lines stand between them."""
    methods = [f"    def m{k}(self):\n        pass\n\n" for k in range(120)]
    text = "class C:\n    x = 1\n\n" + "".join(methods)
    shown = shown_file("c.py", text, frozenset({"C"}), True, frozenset({"C.m50"}))
    assert (
        shown.text(numbered=False).split("\n")
        == [
            *("class C:", "    x = 1", "", "    ..."),
            *("    def m50(self):", "        pass", "", "    ..."),
        ][:-1]
    )
    assert [number for number, _ in shown.lines] == [1, 2, 3, None, 154, 155, 156]


def test_globals_are_told_by_file(asked: tuple[list[Sample], dict[str, Counter[str]]]) -> None:
    """Two files have a variable of the same name, with values of their own. A generator that began
    before the call is shown, with the variables of its file, though no call of it was recorded."""
    samples, _ = asked
    outputs = {s.program.partition("(")[0]: s for s in samples if s.question == "output"}
    told = "Globals when the call is made:\n    "
    assert outputs["shop.sales.sale"].answer == "12"
    assert outputs["shop.sales.sale"].prompt.endswith(
        f"{told}rate = 3 in shop/sales.py\n    rate = 9 in shop/duty.py"
    )
    assert outputs["shop.drawn.draw"].answer == "5"
    assert "File shop/gens.py:" in outputs["shop.drawn.draw"].prompt
    assert outputs["shop.drawn.draw"].prompt.endswith(
        f"{told}step = 4 in shop/gens.py\n    rate = 9 in shop/duty.py"
    )


def test_a_function_is_asked_a_few_times_along_a_path(
    asked: tuple[list[Sample], dict[str, Counter[str]]],
) -> None:
    """Of eight calls along two paths, and of eight along one, two of each path; the rest is counted."""
    samples, excluded = asked
    by_function = Counter(s.program.partition("(")[0] for s in samples if s.question == "output")
    assert by_function["shop.tables.parity"] == 2 * MOST
    assert by_function["shop.tables.double"] == MOST
    assert excluded["output"][REASON] == (8 - 2 * MOST) + (8 - MOST)
    answers = Counter(s.answer for s in samples if s.question == "output" and "parity" in s.program)
    assert answers == {"'odd'": MOST, "'even'": MOST}


def of_tests(record: Record, *more: int) -> list[Recording]:
    """Calls along one path, each with an answer of its own."""
    return [
        record("def f(n):\n    return n + 1\n", "f", f"({n},)", id=f"f({n})", extra={"own": ["f.py"]})
        for n in (1, 2, 3, 4, *more)
    ]


def drawn_from(order: Iterable[Recording], seed: int) -> tuple[list[Sample], Counter[str]]:
    return Gathering(order, ["output"], sampling=Sampling(seed=seed)).sets()["output", ""]


def test_the_order_of_the_recordings_does_not_count(record: Record) -> None:
    """Of four alike recordings the same two are asked in all orders; a seed may draw others."""
    recordings = of_tests(record)

    def ids(order: Iterable[Recording], seed: int) -> frozenset[str]:
        (samples, excluded) = drawn_from(order, seed)
        assert excluded == {REASON: len(recordings) - MOST}
        return frozenset(sample.id for sample in samples)

    pairs = [{ids(order, seed) for order in permutations(recordings)} for seed in range(8)]
    assert {len(found) for found in pairs} == {1}
    assert {len(pair) for found in pairs for pair in found} == {MOST}
    assert len(set.union(*pairs)) > 1


def _branches(n: int) -> int:
    if n > 0:
        n = 1
    else:
        n = 2
    return 3


def test_the_path_is_that_of_lines() -> None:
    """Another branch of the same call is another path, another value on the way is not."""
    once, again, other = (_path(deskcheck.trace(_branches, n)) for n in (1, 5, -1))
    assert once == again
    assert once != other


def test_of_answers_alike_the_same_are_asked(record: Record) -> None:
    """Calls along four paths with one answer: two of them, the same in every order."""
    code = "def f(n):\n    if n > 2:\n        n -= 2\n    if n > 1:\n        n -= 1\n    return n\n"
    recordings = [record(code, "f", f"({n},)", id=f"f({n})", extra={"own": ["f.py"]}) for n in range(1, 5)]
    found = {frozenset(sample.id for sample in drawn_from(order, 0)[0]) for order in permutations(recordings)}
    assert [len(ids) for ids in found] == [MOST]


def test_what_cannot_be_predicted_takes_no_place(record: Record) -> None:
    """What a method is not asked about leaves its place to others along the same path."""
    recordings = of_tests(record, 5, 6)
    whole = {"f(3)", "f(5)", "f(6)"}
    cut = [
        recording
        if recording.id in whole
        else replace(recording, environment=replace(recording.environment, limits={"events": 1}))
        for recording in recordings
    ]
    for seed in range(8):
        states: list[Any] = []
        of_methods = partial(truth_of, methods=["dynamic_scratchpad"])
        gathering = Gathering(cut, ["output"], sampling=Sampling(seed=seed))
        samples, excluded = gathering.sets(of_methods, states.append)["output", ""]
        truths = {truth.recording.id for truth in states}
        assert {sample.program for sample in samples} == truths
        assert len(truths) == MOST
        assert truths < whole
        assert excluded == {"parts of the run are not recorded": 3, REASON: 1}


def test_inspects_tasks_ask_the_same(record: Record, tmp_path: Path) -> None:
    """`inspect eval deskcheck/output -T path=FOLDER` asks what `ask` asks, in the same order."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that its tasks ask the same")
    from deskcheck.ask.inspect.registry import OF_RECORDINGS

    with Writer(tmp_path) as writer:
        for recording in of_tests(record):
            spool = writer.begin(recording.program)
            for row in recording.trace.rows:
                spool.write(json.dumps(row))
            spool.finish(recording.run_result, recording.environment)
    for seed in range(4):
        asked, _ = drawn_from(Recordings(tmp_path), seed)
        task = OF_RECORDINGS["output"](path=str(tmp_path), seed=seed)
        assert [sample.id for sample in task.dataset] == [s.id for s in drawn(asked, seed=seed)]
        assert task.metadata is not None
        assert task.metadata["excluded"] == {REASON: 4 - MOST}
