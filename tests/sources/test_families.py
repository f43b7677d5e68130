"""Families of long executions. Not: what a model makes of them."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.recording.trace import Kind
from deskcheck.sources import programs
from deskcheck.sources.families.families import FAMILIES, Family, entry, line_events, paper_inputs, text_of
from tests.sample import spread


def result(code: str, arguments: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    return eval(entry(code) + arguments, namespace)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_all_texts_of_a_family_do_the_same(family: Family) -> None:
    """At least four texts, different ones, with the same result for each of twenty inputs."""
    assert len(set(family.texts)) == len(family.texts) >= 4
    inputs = {
        program.arguments
        for program in programs(f"family:{family.name},inputs=20,texts=0,seed=5")
        if program.arguments is not None
    }
    assert len(inputs) > 3
    for arguments in inputs:
        assert len({repr(result(text, arguments)) for text in family.texts}) == 1, arguments


@pytest.mark.parametrize(
    ("family", "arguments", "expected"),
    [
        ("ackermann", "(2, 3)", 9),
        ("binary_counter", "(10)", [0, 1, 0, 1]),
        ("brackets", "('([)]')", False),
        ("collatz", "(27)", 111),
        ("collatz_longest", "(30)", 27),
        ("coprime_pairs", "(6)", 11),
        ("digit_sums", "(99)", 900),
        ("fibonacci", "(30)", 832040),
        ("fibonacci_calls", "(10)", 55),
        ("gcd", "(1071, 462)", 21),
        ("gcd_by_subtraction", "(1071, 462)", 21),
        ("hanoi", "(3)", [3, 2, 1]),
        ("josephus", "(41, 3)", 31),
        ("matrix_power", "([[1, 1], [1, 0]], 5)", [[8, 5], [5, 3]]),
        ("odometer", "(1234)", [4, 3, 2, 1]),
        ("primes", "(100)", 25),
        ("random_numbers", "(0, 64)", 0),
        ("run_length", "('aaabcc')", "a3b1c2"),
        ("sieve", "(12)", [2, 3, 5, 7, 11]),
        ("stack_machine", "(['2', 'dup', 'mul', 'add', 'loop'], 3)", 12),
        ("string_rewriting", "('babab')", "aabbb"),
        ("table_sum", "(4, 5)", 60),
        ("bubble_sort", "([3, 1, 2])", [1, 2, 3]),
        ("insertion_sort", "([3, 1, 2])", [1, 2, 3]),
        ("selection_sort", "([3, 1, 2])", [1, 2, 3]),
        ("automaton", "([0, 0, 0, 0, 0, 1], 2)", [0, 0, 0, 1, 1, 1]),
    ],
)
def test_a_family_does_what_its_name_says(family: str, arguments: str, expected: Any) -> None:
    """A result that is known without the program."""
    assert result(FAMILIES[family].texts[0], arguments) == expected


def test_every_family_has_a_known_result() -> None:
    """No family is left out of the table above."""
    (mark,) = test_a_family_does_what_its_name_says.pytestmark
    assert {row[0] for row in mark.args[1]} == set(FAMILIES)


@pytest.mark.parametrize("name", ["binary_counter", "table_sum", "stack_machine", "collatz_longest"])
def test_a_run_is_as_long_as_was_asked_for(name: str) -> None:
    """About 20,000 line events: what `extra` says is what is counted, and within a factor of 1.5."""
    found = list(programs(f"family:{name},events=20000,inputs=1"))
    assert len(found) == len(FAMILIES[name].texts)
    for program in found:
        assert program.arguments is not None
        assert line_events(program.code, program.arguments) == program.extra["events"]
        assert 20000 / 1.5 <= program.extra["events"] <= 20000 * 1.5


def test_counted_events_are_recorded_events(tmp_path: Path) -> None:
    """The number of line events that a source states is that of the recording."""
    summary = record_programs(
        programs("family:hanoi,events=300,inputs=1"),
        tmp_path / "runs",
        RecordSettings(repeat=False),
        workers=1,
    )
    assert summary.recorded == 4
    for recording in Recordings(tmp_path / "runs"):
        lines = sum(row.kind == Kind.LINE for row in recording.trace.rows)
        assert lines == recording.program.extra["events"]


def test_the_paper_s_step_is_our_line_event() -> None:
    """Execution Tuning gives 619 steps for Collatz from 3038; our first text has as many line events."""
    assert line_events(FAMILIES["collatz"].texts[0], "(3038)") == 619


def test_the_inputs_of_the_paper() -> None:
    """Four in 1..20 and five in 20..4000, 3038 among them, the same ones for every text."""
    for seed in "012":
        found = paper_inputs(seed)
        assert len(set(found)) == 9
        assert all(1 <= n <= 20 for n in found[:4])
        assert all(20 <= n <= 4000 for n in found[4:])
        assert 3038 in found
    asked = list(programs("family:collatz,inputs=paper"))
    assert [program.arguments for program in asked] == [f"({n})" for n in paper_inputs()] * 5


def test_a_counter_stays_short_over_100_000_steps() -> None:
    """The counter's state is its bits: seventeen after 100,000 steps."""
    assert result(FAMILIES["binary_counter"].texts[0], "(100_000)") == [int(c) for c in f"{100_000:b}"[::-1]]


def test_the_same_source_gives_the_same_programs() -> None:
    """Another seed gives others, and every id is there once."""
    first = [program.to_dict() for program in programs("family:all,inputs=5")]
    assert first == [program.to_dict() for program in programs("family:all,inputs=5")]
    assert first != [program.to_dict() for program in programs("family:all,inputs=5,seed=1")]
    assert len({row["id"] for row in first}) == len(first)
    assert all(row["train_ok"] and row["licence"] == "Apache-2.0" for row in first)
    json.dumps(first)


def test_a_length_that_no_input_has() -> None:
    """Collatz below 10^9 has no run of 100,000 events: the nearest is named."""
    with pytest.raises(InputError, match="no input of collatz has about 100000 line events: the nearest"):
        list(programs("family:collatz,events=100000,inputs=1"))


@pytest.mark.parametrize("family", spread(FAMILIES.values(), 3), ids=lambda family: family.name)
def test_variants_do_the_same(family: Family) -> None:
    """Written otherwise, a text gives the same results; it has other names, and nearly always another tree."""
    inputs = [p.arguments for p in programs(f"family:{family.name},inputs=4,texts=0,seed=2") if p.arguments]
    made = [(number, text_of(family, number, k)) for number in range(len(family.texts)) for k in range(1, 9)]
    assert len({text for _, text in made}) > 0.95 * len(made)
    for arguments in inputs:
        expected = result(family.texts[0], arguments)
        for _, text in made:
            assert result(text, arguments) == expected, text
    shapes = {shape(text) for _, text in made}
    assert len(shapes) >= 2 * len(family.texts)


def shape(text: str) -> str:
    """A text's tree without names."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("id", "arg", "name"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, "_")
    return ast.dump(tree)


def test_variants_are_programs_of_their_own() -> None:
    """variants=0-2 gives each text three times; the number stands in `extra`, and ids differ."""
    found = list(programs("family:gcd,texts=0-1,variants=0-2,inputs=1"))
    assert [(p.extra["text"], p.extra["variant"]) for p in found] == [
        (text, k) for text in (0, 1) for k in (0, 1, 2)
    ]
    assert len({p.id for p in found}) == len({p.code for p in found}) == 6
    assert found == list(programs("family:gcd,texts=0-1,variants=0-2,inputs=1"))
