"""Generated programs: the same everywhere, right by construction, with the whole of their language."""

import ast
import hashlib
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from deskcheck.notation import moments, state_text
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Kind
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from deskcheck.sources.generated import HIGHEST, Made, program_text
from tests.sample import spread
from tests.sources.constructs import LANGUAGE, constructs, nestings

DIGEST = "e78c8f8a565c4826"


def texts(level: int, count: int = 200, seed: str = "t") -> Iterator[Made]:
    return (program_text(random.Random(f"{seed}:{k}"), level) for k in range(count))


def test_the_same_on_every_python() -> None:
    """Texts and arguments of a seed are what they were, whatever the version: one digest for all."""
    made = [(program.code, program.arguments) for program in programs("generated:500,seed=11")]
    assert hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16] == DIGEST


def test_a_text_does_not_depend_on_how_many_are_asked_for() -> None:
    """Text k of a seed is the same text in a longer list; another seed gives others."""
    few = [program.code for program in programs("generated:5")]
    assert [program.code for program in programs("generated:20")][: len(few)] == few
    assert [program.code for program in programs("generated:5,seed=1")] != few


@pytest.mark.parametrize("level", spread(LANGUAGE, 3))
def test_programs_end_well_and_values_stay_small(level: int) -> None:
    """Every call returns, below the level of exceptions; numbers, texts and containers keep their bounds."""
    raised = calls = 0
    for made in texts(level):
        for arguments in made.arguments:
            calls += 1
            raised += watched(made, arguments)
    assert raised == 0 if level < 10 else 0 < raised < 0.15 * calls


def watched(made: Made, arguments: str) -> bool:
    """Run a call and look at every variable at every line; whether it was left by an exception."""
    namespace: dict[str, Any] = {}
    exec(compile(made.code, "<generated>", "exec"), namespace)
    call = eval(f"lambda: {made.entry}{arguments}", namespace)
    lines = 0

    def look(value: object) -> None:
        match value:
            case int():
                assert abs(value) <= 20_000
            case str():
                assert len(value) <= 40
            case list() | tuple() | set():
                assert len(value) <= 10
                for item in value:
                    look(item)
            case dict():
                assert len(value) <= 8
                for item in value.values():
                    look(item)

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        for value in frame.f_locals.values():
            look(value)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: local if frame.f_code.co_filename == "<generated>" else None)
    try:
        call()
    except (ZeroDivisionError, IndexError, KeyError, RuntimeError, ValueError, AssertionError):
        return True
    finally:
        sys.settrace(before)
        assert lines < 1000
    return False


@pytest.mark.parametrize("level", spread(LANGUAGE, 9))
def test_a_level_has_its_language_and_no_more(level: int) -> None:
    """What a level declares appears among some hundreds of its programs, and nothing of a higher one does."""
    codes = [made.code for made in texts(level, 1000)]
    trees = [*map(ast.parse, codes)]
    names = {name.replace(" ", "-") for tree in trees for name in constructs(tree)}
    seen = {name for name in names if not name.endswith("-literal")}
    known = frozenset[str]().union(*(LANGUAGE[own] for own in range(1, level + 1)))
    assert LANGUAGE[level] <= seen
    assert seen <= known
    loops = {("For", "For"), ("For", "While"), ("While", "For"), ("While", "While")}
    assert any(loops.intersection(nestings(tree)) for tree in trees) == (level >= 4)
    assert max(code.count("\n") for code in codes) <= 30


def test_every_program_has_something_of_its_level() -> None:
    """Where the text shows it: branches, loops, calls and recursion are there at their levels."""
    for level in (2, 3, 8, 9):
        for made in texts(level, 100):
            own = {name.replace(" ", "-") for name in constructs(ast.parse(made.code))}
            assert own & LANGUAGE[level], made.code


def test_levels_are_drawn_in_equal_parts() -> None:
    """difficulty=4 means one to four, level=4-4 four alone."""
    drawn = [program.extra["difficulty"] for program in programs("generated:400,difficulty=4,inputs=1")]
    assert {level: 60 < drawn.count(level) < 140 for level in set(drawn)} == dict.fromkeys((1, 2, 3, 4), True)
    assert {program.extra["difficulty"] for program in programs("generated:20,difficulty=4-4")} == {4}
    assert {program.extra["difficulty"] for program in programs("generated:200")} == set(
        range(1, HIGHEST + 1)
    )


def test_programs_are_all_different() -> None:
    """Of a thousand texts nearly all are there once; so are all ids, and a text's argument lists."""
    found = list(programs("generated:1000"))
    assert len({program.code for program in found}) > 950
    assert (
        len({program.id for program in found})
        == len(found)
        == len({(program.extra["text"], program.arguments) for program in found})
    )
    assert all(program.train_ok and program.licence for program in found)


def test_states_are_short(tmp_path: Path) -> None:
    """Recorded, most states of the notation `dynamic` are texts of at most 150 characters, and runs are short."""
    record_programs(
        programs("generated:40,seed=2,inputs=1"), tmp_path / "runs", RecordSettings(repeat=False), workers=2
    )
    recordings = list(Recordings(tmp_path / "runs"))
    assert len(recordings) == 40
    states = [
        len(state_text(moment))
        for recording in recordings
        for moment in moments(recording.trace, file=recording.program.filename)
    ]
    assert sum(length <= 150 for length in states) > 0.7 * len(states)
    lengths = sorted(sum(row.kind == Kind.LINE for row in recording.trace.rows) for recording in recordings)
    assert 3 <= lengths[len(lengths) // 2] <= 40
