"""Inputs for functions that have none: what is tried, what is kept, and that it is run in the sandbox alone."""

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import Mode, Outcome, Program
from deskcheck.sandbox import Limits, Sandbox
from deskcheck.sources import programs
from deskcheck.sources.inputs.candidates import change, maker_of, proposal_prompt, proposed
from deskcheck.sources.inputs.search import find_inputs

CLASSIFY = """def classify(n: int, limit: int = 10) -> str:
    if n < 0:
        return "negative"
    if n == 0:
        return "zero"
    if n > limit:
        raise ValueError("too large")
    if n % 2:
        return "odd"
    return "even"
"""
PARSE = """def parse(text):
    out = {}
    for part in text.split(","):
        key, eq, value = part.partition("=")
        if not eq:
            continue
        out[key] = value
    return out
"""


def call(code: str, entry: str) -> Program:
    return Program(id=entry, code=code, mode=Mode.CALL, entry=entry, arguments="()")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox("trusted", workers=1, limits=Limits(cpu_s=0.3, wall_s=60)) as opened:
        yield opened


def test_every_line_is_reached(sandbox: Sandbox) -> None:
    """Type hints suffice for a function of branches: all its lines run, its exception is among the endings."""
    search = find_inputs(call(CLASSIFY, "classify"), sandbox=sandbox, budget=60)
    assert search.lines_run == search.lines == 9
    assert {found.outcome for found in search.inputs} == {Outcome.RETURNED, Outcome.RAISED}
    assert len({found.arguments for found in search.inputs}) == len(search.inputs) <= 10
    assert search.tried <= 60


def test_each_kept_input_is_for_something(sandbox: Sandbox) -> None:
    """What is kept for lines or branches runs, alone, something that those kept before it together do not."""
    search = find_inputs(call(CLASSIFY, "classify"), sandbox=sandbox, per_function=50)
    assert search.inputs[0].new[:2] == ("lines", "branches")
    assert {"ending", "result"} & {name for found in search.inputs for name in found.new}
    results = [found for found in search.inputs if found.new == ("result",)]
    assert search.inputs[-len(results) :] == tuple(results) or not results


def test_types_are_found_out(sandbox: Sandbox) -> None:
    """Without hints, inputs of the wrong type are tried and dropped."""
    search = find_inputs(call(PARSE, "parse"), sandbox=sandbox, budget=80)
    assert search.inputs
    assert all(isinstance(ast.literal_eval(found.arguments), str) for found in search.inputs)


def test_known_inputs_come_first_and_are_changed(sandbox: Sandbox) -> None:
    """A known input leads to others near it."""
    search = find_inputs(
        call(PARSE, "parse"), ["('a=1,b')"], sandbox=sandbox, ways=("known",), per_function=50
    )
    assert search.inputs[0].arguments == "('a=1,b')"
    assert search.lines_run == search.lines
    assert len(search.inputs) > 5
    assert {found.way for found in search.inputs} == {"known"}


def test_the_same_seed_finds_the_same(sandbox: Sandbox) -> None:
    """The search is decided by its random numbers."""
    found = [
        find_inputs(call(CLASSIFY, "classify"), sandbox=sandbox, budget=20, rng=random.Random(seed)).inputs
        for seed in ("1", "1", "2")
    ]
    assert found[0] == found[1] != found[2]


def test_a_function_that_does_not_end_is_given_up(sandbox: Sandbox) -> None:
    """Three inputs that a limit stopped are enough."""
    search = find_inputs(call("def f(n: int):\n    while True:\n        pass\n", "f"), sandbox=sandbox)
    assert (search.inputs, search.tried, search.stopped) == ((), 3, 3)


def test_a_model_may_propose(sandbox: Sandbox) -> None:
    """What a model answers is read as far as it can be, and tried like anything else."""
    asked = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "Sure!\n1. `classify(7777, limit=(9000))` # odd\n- classify(0,\nclassify)(\n```\nclassify(-5)\n```"

    search = find_inputs(call(CLASSIFY, "classify"), sandbox=sandbox, ways=(), propose=answer)
    assert [(found.arguments, found.way) for found in search.inputs] == [
        ("(7777, limit=(9000))", "model"),
        ("(-5)", "model"),
    ]
    assert asked == [proposal_prompt(CLASSIFY, "classify")]
    assert list(proposed("nothing of use", "classify")) == []


@pytest.mark.parametrize(
    ("annotation", "check"),
    [
        ("int", lambda v: type(v) is int),
        ("list[int]", lambda v: isinstance(v, list) and all(type(x) is int for x in v)),
        ("dict[str, list[bool]]", lambda v: all(isinstance(x, list) for x in v.values())),
        ("tuple[int, str]", lambda v: isinstance(v, tuple) and len(v) == 2 and isinstance(v[1], str)),
        ("tuple[float, ...]", lambda v: isinstance(v, tuple) and all(isinstance(x, float) for x in v)),
        ("Optional[str]", lambda v: v is None or isinstance(v, str)),
        ("int | None", lambda v: v is None or isinstance(v, int)),
        ("typing.Sequence[str]", lambda v: isinstance(v, list)),
        ("Literal['a', 'b']", lambda v: v in ("a", "b")),
        ("'set[int]'", lambda v: isinstance(v, set)),
    ],
)
def test_values_are_of_their_type(annotation: str, check: Any) -> None:
    """A value is of the annotated type, and a literal writes it."""
    maker = maker_of(ast.parse(annotation, mode="eval").body)
    assert maker is not None
    numbers = random.Random(1)
    made = [maker(numbers) for _ in range(200)]
    assert all(check(value) for value in made)
    assert all(repr(value) == "set()" or ast.literal_eval(repr(value)) == value for value in made)
    assert len({repr(value) for value in made}) > 1


@pytest.mark.parametrize("annotation", ["Point", "list[Point]", "Callable[[int], int]", "Literal[()]"])
def test_what_no_literal_writes_is_not_made_up(annotation: str) -> None:
    """A type that is not known has no maker."""
    assert maker_of(ast.parse(annotation, mode="eval").body) is None


@pytest.mark.parametrize(
    "value", [3, -1.5, True, "text", b"by", [1, [2]], (1, "a"), {"k": [1]}, {1, 2}, [], "", {}, None]
)
def test_a_changed_value_keeps_its_type(value: Any) -> None:
    """However often it is changed; and most changes make another value of it."""
    numbers = random.Random(3)
    now = value
    for _ in range(200):
        now = change(now, numbers)
        assert type(now) is type(value)
        now = value if len(repr(now)) > 100 else now
    assert sum(change(value, numbers) != value for _ in range(200)) > 120 or value is None


def test_a_file_of_functions(tmp_path: Path) -> None:
    """Every public function of a file gets inputs, which are found in the strict sandbox; the note says how many."""
    file = tmp_path / "app.py"
    file.write_text(f"{CLASSIFY}\n\ndef _own(x):\n    return x\n\n\ndef three():\n    return 3\n")
    notes: list[str] = []
    found = list(programs(f"inputs,each=3,budget=25,sandbox=standard:{file}", note=notes.append))
    assert [program.entry for program in found] == ["classify"] * 3 + ["three"]
    assert all(program.extra["input"]["by"] == "hints" and program.path == str(tmp_path) for program in found)
    assert len({program.id for program in found}) == 4
    assert notes[0].startswith(f"{file}::classify: 25 inputs tried, 3 kept; they run ")
    assert notes[-1] == "2 functions: 26 inputs tried, 4 kept"


def test_functions_with_inputs_get_more(tmp_path: Path) -> None:
    """Rows of functions with inputs keep theirs, and what else the row says."""
    file = tmp_path / "f.jsonl"
    row = {"code": PARSE, "entry": "parse", "inputs": ["'a=1'"], "licence": "MIT", "train_ok": True}
    file.write_text(json.dumps(row))
    found = list(programs(f"inputs,each=4,sandbox=trusted,by=known:{file}"))
    assert found[0].arguments == "('a=1')"
    assert len(found) == 4
    assert all(program.train_ok and program.licence == "MIT" for program in found)


def test_hypothesis_draws_by_the_hints(tmp_path: Path) -> None:
    """Hypothesis's values for the annotated types, written as keywords; nothing of the program is run for it."""
    pytest.importorskip("hypothesis", reason="would have proved that Hypothesis gives inputs")
    file = tmp_path / "app.py"
    file.write_text(
        "class Own: ...\ndef f(a: int, b: 'list[str]', c=0):\n    return a\n\ndef g(x: Own):\n    return x\n"
    )
    found = list(programs(f"inputs,by=hypothesis,budget=10,sandbox=trusted:{file}"))
    assert found
    assert {program.entry for program in found} == {"f"}
    assert all(program.arguments is not None and "b=[" in program.arguments for program in found)
