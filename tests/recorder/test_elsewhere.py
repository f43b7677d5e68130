"""A second run on another machine and another day: what depends on them is not called repeatable.

`kinds/depends.py` has functions that depend on something, `kinds/steady.py` functions that do not.
"""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import Recording
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.elsewhere import Elsewhere
from deskcheck.sandbox.surroundings.elsewhere import other_moment

KINDS = Path(__file__).parent / "kinds"
FEW = {
    "depends": ("weekend", "variable_not_set", "address", "order_of_threads"),
    "steady": ("logs", "locked"),
}


def functions(name: str) -> list[str]:
    tree = ast.parse((KINDS / f"{name}.py").read_text("utf-8"))
    return [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def recorded(place: Path, name: str, entries: Sequence[str]) -> dict[str, Recording]:
    code = (KINDS / f"{name}.py").read_text("utf-8")
    programs = [
        Program(id=entry, code=code, mode=Mode.CALL, filename=f"{name}.py", entry=entry, arguments="()")
        for entry in entries
    ]
    record_programs(programs, place, RecordSettings(), explain=False)
    return {recording.id: recording for recording in Recordings(place)}


def test_some_kinds(tmp_path: Path) -> None:
    """A day, a variable that is not set, an address and an order of threads; and two that depend on nothing."""
    depends = recorded(tmp_path / "depends", "depends", FEW["depends"])
    assert [name for name, one in depends.items() if one.repeatable is not False] == []
    assert depends["variable_not_set"].difference == (
        "reads the environment: DEBUG, not set here (cause: environment)"
    )
    steady = recorded(tmp_path / "steady", "steady", FEW["steady"])
    assert {name: one.difference for name, one in steady.items()} == dict.fromkeys(FEW["steady"])


@pytest.mark.slow
def test_no_run_that_depends_on_something_is_called_repeatable(tmp_path: Path) -> None:
    """Every kind is noticed; none of the functions fails for want of something else."""
    entries = functions("depends")
    assert len(entries) >= 60
    depends = recorded(tmp_path, "depends", entries)
    assert [name for name, one in depends.items() if one.repeatable is not False] == []


@pytest.mark.slow
def test_runs_that_depend_on_nothing_stay_repeatable(tmp_path: Path) -> None:
    entries = functions("steady")
    assert len(entries) >= 30
    steady = recorded(tmp_path, "steady", entries)
    assert {name: one.difference for name, one in steady.items() if one.repeatable is not True} == {}


@pytest.mark.parametrize("now", [1_700_000_000.0, 1_735_689_599.0, 1_709_208_000.0, 1_767_312_000.0])
def test_the_other_moment_differs_in_what_programs_ask_for(now: float) -> None:
    """A weekday becomes a day of a weekend and the other way around, another year, another half of the day."""
    from datetime import UTC, datetime

    here, there = (datetime.fromtimestamp(each, UTC) for each in (now, other_moment(now)))
    assert (here.weekday() > 4) != (there.weekday() > 4)
    assert here.year != there.year
    assert (here.hour < 12) != (there.hour < 12)
    assert here.minute != there.minute
    assert here.second != there.second


def test_what_the_user_has_fixed_stays_so() -> None:
    fixed = Determinism(clock=0.0, addresses=True)
    assert Elsewhere().job(fixed, strict=True) == {
        "seed": 0,
        "names": True,
        "strict": True,
        "clock_s": None,
        "addresses": False,
    }
