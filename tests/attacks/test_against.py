"""Attacks on `runs check FOLDER --against reference`: a folder that somebody sends, whose programs are run here.

What it says of itself decides neither how closely its programs are confined nor what they may use; whatever stands
in it, the command ends with a verdict.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recorder.verify import _MOST, _How, against_reference
from deskcheck.recording import Program, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_SCHEMA
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer import tracer_class
from tests.command import deskcheck
from tests.sample import some

pytestmark = pytest.mark.skipif(
    tracer_class().name == "reference",
    reason="the native core is not built: would have proved that forged recordings are compared",
)
CODE = "def f(n):\n    a = [n]\n    a.append(a)\n    return a\nx = f(1)\n"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of two programs."""
    folder = tmp_path_factory.mktemp("good") / "runs"
    programs = [Program(id=name, code=CODE) for name in ("forged", "true")]
    record_programs(programs, folder, RecordSettings(sandbox=Confinement.TRUSTED, repeat=False))
    return folder


def forged(good: Path, folder: Path, change: Callable[[dict[str, Any], list[dict[str, Any]]], None]) -> Path:
    """The recordings, of which the first says something else: its row, and those of its events."""
    folder.mkdir()
    recordings = pq.read_table(good / "recordings-00000.parquet").to_pylist()
    events = pq.read_table(good / "events-00000.parquet").to_pylist()
    row = next(row for row in recordings if row["id"] == "forged")
    decoded = {name: json.loads(row[name]) for name in ("environment", "extra")}
    own = events[row["first_row"] : row["first_row"] + row["n_events"]]
    row.update(decoded)
    change(row, own)
    for name in decoded:
        row[name] = row[name] if isinstance(row[name], str) else json.dumps(row[name])
    for name, table, schema in (
        ("recordings", recordings, RECORDINGS_SCHEMA),
        ("events", events, EVENTS_SCHEMA),
    ):
        pq.write_table(pa.Table.from_pylist(table, schema=schema), folder / f"{name}-00000.parquet")
    return folder


def says(**given: Any) -> Callable[[dict[str, Any], Any], None]:
    """Another environment."""
    return lambda row, events: row["environment"].update(given)


def has(**given: Any) -> Callable[[dict[str, Any], Any], None]:
    return lambda row, events: row.update(given)


def event(number: int, **columns: Any) -> Callable[[Any, list[dict[str, Any]]], None]:
    return lambda row, events: events[number].update(columns)


NO_WORD = "the settings of its run cannot be used"
DAMAGED = "damaged"
SAYS = {
    "limits that are none": (says(run_limits={"cpu_s": "x"}), NO_WORD),
    "limits that are a list": (says(run_limits=[1]), NO_WORD),
    "a limit of less than nothing": (says(run_limits={"memory_bytes": -1}), NO_WORD),
    "a limit of truth": (says(run_limits={"processes": True}), NO_WORD),
    "bounds of the trace that are none": (says(trace_limits={"events": [1]}), NO_WORD),
    "bounds that leave out nothing": (says(trace_limits={"repetitions": 0}), NO_WORD),
    "code that is no name": (says(trace_limits={"only": [5]}), NO_WORD),
    "a level that is none": (says(level="what"), NO_WORD),
    "a seed that is none": (says(hash_seed="x"), NO_WORD),
    "a seed that is too large": (says(hash_seed=2**40), NO_WORD),
    "fixed things that are none": (says(fixed={"clock": -5}), NO_WORD),
    "fixed things of other types": (says(fixed={"random_seed": [1]}), NO_WORD),
    "fixed things that are a list": (says(fixed=[]), NO_WORD),
    "an environment that is a list": (has(environment="[]"), NO_WORD),
    "an environment that is deep": (has(environment="[" * 100_000), NO_WORD),
    "an environment that is empty": (has(environment="{}"), NO_WORD),
    "more that is not an object": (has(extra="5"), NO_WORD),
    "an environment by number": (has(extra={"environment": [5]}), NO_WORD),
    "a file by number": (has(extra={"file": 5}), NO_WORD),
    "a mode that is none": (has(mode="what"), DAMAGED),
    "threads without end": (has(threads=2**31 - 1), "threads in an order that the machine decides"),
    "an environment that is not here": (has(extra={"environment": "nowhere"}), "the environment"),
    "another Python": (says(python="9.9"), "recorded with Python 9.9"),
}
"""What the folder says of how the program ran, and why it is left out."""
DIFFERS = {
    "half a value": event(3, locals="{"),
    "a deep value": event(3, locals='{"a":' + '{"tuple":[' * 9000 + "1" + "]}" * 9000 + "}"),
    "a list for names": event(3, locals="[1]"),
    "a caller that is none": event(0, caller="5"),
    "a reference to a list": event(3, locals='{"a":{"ref":[1]}}'),
    "a reference to nothing": event(3, locals='{"a":{"ref":99}}'),
    "an object of no kind": event(3, objects='{"1":{"kind":[]}}'),
    "a kind that is none": event(2, kind="what"),
    "another frame": event(3, frame=7),
    "another output": has(stdout="x" * 100_000),
    "another result": has(result="[" * 100_000),
    "other code": has(code="x = 1\n"),
    "code that does not parse": has(code="(" * 200_000),
    "code with a NUL": has(code="\0"),
    "no code": has(code=""),
}
"""What it says that happened."""
BROKEN = (
    *("half a value", "a deep value", "a list for names", "a caller that is none", "a reference to a list"),
    *("an object of no kind", "a kind that is none"),
)
"""Rows that say nothing: these are read by nobody."""


def compared(folder: Path) -> dict[str, Any]:
    done = deskcheck(
        *("runs", "check", folder, "--against", "reference", "--sample", 1, "--sandbox", "trusted", "--json"),
        *("--workers", 1),
        cwd=folder,
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode in (0, 1), said
    return dict(json.loads(done.stdout))


def assert_left_out(good: Path, tmp_path: Path, name: str) -> None:
    change, why = SAYS[name]
    found = compared(forged(good, tmp_path / "sent", change))
    assert (found["compared"], found["different"]) == (1, {})
    assert [reason.startswith(why) for reason in found["left_out"]] == [True], found["left_out"]


def assert_differs(good: Path, tmp_path: Path, name: str) -> None:
    found = compared(forged(good, tmp_path / "sent", DIFFERS[name]))
    if name in BROKEN:
        assert (found["compared"], found["different"]) == (1, {})
        assert next(iter(found["left_out"])).startswith(DAMAGED)
    else:
        assert [*found["different"]] == ["forged"], found
        assert found["compared"] == 2


@pytest.mark.parametrize(
    "name", ["limits that are none", "an environment that is deep", "a mode that is none"]
)
def test_what_cannot_be_run_so_is_left_out(good: Path, tmp_path: Path, name: str) -> None:
    assert_left_out(good, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(SAYS, *[*SAYS][1::4]))
def test_whatever_it_says_of_its_run(good: Path, tmp_path: Path, name: str) -> None:
    assert_left_out(good, tmp_path, name)


@pytest.mark.parametrize("name", ["a deep value", "other code"])
def test_what_did_not_happen_differs(good: Path, tmp_path: Path, name: str) -> None:
    assert_differs(good, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(DIFFERS, *[*DIFFERS][::4]))
def test_whatever_it_says_that_happened(good: Path, tmp_path: Path, name: str) -> None:
    assert_differs(good, tmp_path, name)


def test_a_folder_does_not_say_how_its_programs_are_confined(good: Path, tmp_path: Path) -> None:
    """One that says `trusted` runs where somebody says so, and not by itself: a program of it would do what its
    maker likes, as the user."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for level in ("trusted", "standard", "what", None, [1]):
        harm = f"open({str(precious)!r}, 'w').write('gone')\n"

        def change(row: dict[str, Any], events: Any, level: Any = level, harm: str = harm) -> None:
            row["environment"]["sandbox"] = level
            row["code"] = harm

        folder = forged(good, tmp_path / str(level), change)
        found = against_reference(Recordings(folder))
        assert found.different.keys() <= {"forged"}
        assert precious.read_text() == "precious"
    found = against_reference(Recordings(good))
    assert found.compared == 0
    assert found.left_out == {
        "recorded at the level trusted: if you trust their authors, choose the level with --sandbox": 2
    }


def test_a_folder_does_not_say_what_its_programs_may_use(good: Path) -> None:
    """A limit without end would have the check wait for ever, or fill the memory."""
    recording: Recording = next(iter(Recordings(good)))
    limits = dict.fromkeys(Limits().to_dict(), 10**14)
    asked = replace(recording, environment=replace(recording.environment, run_limits=limits))
    how = _How.of(asked).limits
    assert how.memory_bytes < 10**13
    assert replace(how, memory_bytes=0) == replace(_MOST, memory_bytes=0)
    assert _How.of(recording).limits == Limits()
