"""Recordings compared with the reference tracer, whose word counts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recorder import record as composer
from deskcheck.recorder import verify as composer_of_comparison
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recorder.verify import ReferenceAgreement, against_reference, compare_folder
from deskcheck.recording import Program, Row
from deskcheck.recording.reader import Recordings
from deskcheck.recording.writer import Writer
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.tracer import tracer_class
from deskcheck.tracer.limits import TraceLimits
from tests.command import deskcheck

pytestmark = pytest.mark.skipif(
    tracer_class().name == "reference",
    reason="the native core is not built: would have proved that its recordings are compared",
)
LOOP = """\
def f(n):
    xs = []
    for i in range(n):
        xs.append(i)
    return xs
print(f({n}))
"""


def against(recordings: Recordings, **options: Any) -> ReferenceAgreement:
    """They were recorded without confinement, and are ours."""
    return against_reference(recordings, confinement=Confinement.TRUSTED, **options)


def programs(count: int) -> list[Program]:
    return [Program(id=f"p{n}", code=LOOP.format(n=n)) for n in range(count)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five recordings, made with limits that are not the usual ones."""
    folder = tmp_path_factory.mktemp("against") / "runs"
    limits = TraceLimits(items=3, repetitions=2)
    settings = RecordSettings(
        sandbox=Confinement.TRUSTED, repeat=False, limits=Limits(cpu_s=11.0), trace_limits=limits
    )
    record_programs(programs(5), folder, settings)
    return folder


Change = Callable[[list[Row]], Sequence[Row]]


def changed(
    folder: Path, into: Path, changes: Mapping[str, Change], *, cut: str | None = None, tracer: str = ""
) -> Path:
    """The recordings with other events in some of them; those are cut by this. tracer: what they say that they
    were recorded by."""
    with Writer(into) as writer:
        for recording in Recordings(folder):
            rows = list(recording.trace.rows)
            with writer.begin(recording.program) as spool:
                for row in changes[recording.id](rows) if recording.id in changes else rows:
                    spool.write(json.dumps(row))
                run_result = (
                    replace(recording.run_result, cut=cut)
                    if recording.id in changes
                    else recording.run_result
                )
                environment = replace(recording.environment, tracer=tracer or recording.environment.tracer)
                spool.finish(run_result, environment, repeatable=recording.repeatable)
    return into


def test_what_was_recorded_is_what_the_reference_says(runs: Path) -> None:
    """Under the limits that the recordings were made with; the recordings say which those were."""
    environment = next(iter(Recordings(runs))).environment
    assert environment.run_limits["cpu_s"] == 11.0
    assert (environment.trace_limits["items"], environment.sandbox) == (3, "trusted")
    found = against(Recordings(runs), workers=2)
    assert (found.recordings, found.drawn, found.compared, found.partly) == (5, 5, 5, 0)
    assert found.events == sum(len(recording.trace) for recording in Recordings(runs))
    assert (found.different, found.left_out) == ({}, {})


@pytest.mark.slow
def test_a_share_is_drawn_by_the_seed(runs: Path) -> None:
    """The same share for the same seed, another for another, at least one, and no more than asked for."""

    def drawn(**options: Any) -> set[str]:
        seen: set[str] = set()
        found = against(Recordings(runs), progress=seen.add, **options)
        assert found.drawn == found.compared == len(seen)
        return seen

    assert drawn(share=0.4, seed=1) == drawn(share=0.4, seed=1)
    assert len(drawn(share=0.4, seed=1)) == 2
    assert len({frozenset(drawn(share=0.01, seed=seed)) for seed in range(4)}) > 1
    assert len(drawn(share=1.0, max_count=3)) == 3


def at(index: int, **columns: Any) -> Change:
    return lambda rows: [row._replace(**columns) if row.index == index else row for row in rows]


def test_differences_are_found_where_they_are(runs: Path, tmp_path: Path) -> None:
    """Recordings that tell something else than the reference are named, with the event and the field."""
    changes: dict[str, Change] = {
        "p0": at(2, line=4),
        "p1": at(6, locals='{"i":7}'),
        "p2": lambda rows: rows[:-1],
        "p3": at(11, output="3\n"),
    }
    wrong = changed(runs, tmp_path / "wrong", changes)
    found = against(Recordings(wrong), workers=2)
    assert {name: (where.event, where.field) for name, where in found.different.items()} == {
        "p0": (2, "line"),
        "p1": (6, "locals of frame 1.i"),
        "p2": (11, "event"),
        "p3": (11, "output"),
    }
    assert (found.compared, found.left_out) == (5, {})
    ran = deskcheck(
        "runs",
        "check",
        "wrong",
        "--against",
        "reference",
        "--sample",
        1,
        "--sandbox",
        "trusted",
        cwd=tmp_path,
    )
    assert ran.returncode == 1
    assert "events: 4 differ\nfirst difference of each: 4\n" in ran.stdout
    assert "  p1: event 6: locals of frame 1.i: 0 and 7\n" in ran.stdout


def test_what_the_reference_recorded_is_not_compared_with_it(runs: Path, tmp_path: Path) -> None:
    """That it agrees with itself says nothing."""
    found = against(Recordings(changed(runs, tmp_path / "runs", {}, tracer="reference")))
    assert (found.drawn, found.compared, found.events) == (0, 0, 0)
    assert found.left_out == {"recorded by the reference": 5}


def test_the_events_that_count_are_those_that_were_compared(runs: Path, tmp_path: Path) -> None:
    """Of a run that a limit ended, as far as both go; one without any is not compared; of one that differs, up to
    there."""
    events = {recording.id: len(recording.trace) for recording in Recordings(runs)}
    few: dict[str, Change] = {"p0": lambda rows: rows[:3], "p1": lambda rows: []}
    found = against(Recordings(changed(runs, tmp_path / "few", few, cut="events")), workers=2)
    assert (found.compared, found.partly, found.different) == (4, 1, {})
    assert found.left_out == {"a limit ended one of the runs before its first event": 1}
    assert found.events == 3 + events["p2"] + events["p3"] + events["p4"]
    wrong = changed(runs, tmp_path / "wrong", {"p4": at(2, line=4)})
    assert against(Recordings(wrong)).events == sum(events.values()) - events["p4"] + 3


def test_what_cannot_be_compared_is_counted(tmp_path: Path) -> None:
    """A program that does not repeat is no difference of tracers, known to repeat or not; where a limit ends a
    run, both are compared as far as they go; an interpreter of another version is not this one's."""
    given = [
        Program(id="endless", code="i = 0\nwhile True:\n    i += 1\n"),
        Program(id="random", code="import random\nx = random.random()\n"),
        Program(id="address", code="x = id(object())\n"),
        Program(id="folder", code="import os\nx = os.getcwd()\n"),
        Program(id="fine", code="x = 1\n"),
    ]
    record_programs(given, tmp_path / "runs", RecordSettings(sandbox=Confinement.TRUSTED, repeat=False, limits=Limits(cpu_s=0.5), trace_limits=TraceLimits(repetitions=50)))  # fmt: skip
    found = against(Recordings(tmp_path / "runs"), workers=2)
    assert (found.compared, found.partly, found.different) == (2, 1, {})
    assert found.left_out == {"not repeatable": 3}
    with Writer(tmp_path / "other") as writer:
        for recording in Recordings(tmp_path / "runs"):
            with writer.begin(recording.program) as spool:
                for row in recording.trace.rows:
                    spool.write(json.dumps(row))
                spool.finish(recording.run_result, replace(recording.environment, python="2.7.18"))
    found = against(Recordings(tmp_path / "other"))
    assert (found.compared, found.left_out) == (0, {"recorded with Python 2.7.18": 5})
    ran = deskcheck("runs", "check", "other", "--against", "reference", "--sandbox", "trusted", cwd=tmp_path)
    assert ran.returncode == 1
    assert "not compared: 1, recorded with Python 2.7.18" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sample", "0.5"], "--sample 0.5: is only for --against reference"),
        (["--against", "reference", "--sample", "2"], "give a share above 0 and up to 1"),
    ],
)
def test_what_does_not_go_together(runs: Path, arguments: list[str], said: str) -> None:
    """Is refused with the reason."""
    ran = deskcheck("runs", "check", "runs", *arguments, cwd=runs.parent)
    assert ran.returncode == 2
    assert said in ran.stderr


def test_a_check_compares_by_default(tmp_path: Path) -> None:
    """All of a small folder; a recording that tells of another run than happens fails the check, and programs
    run only where that is wanted."""
    settings = RecordSettings(sandbox=Confinement.STRICT, repeat=False)
    record_programs(programs(3), tmp_path / "runs", settings)
    ran = deskcheck("runs", "check", "runs", cwd=tmp_path)
    assert ran.returncode == 0
    assert "by the reference tracer: 3 of 3 recordings, drawn with seed 0; compared: 3," in ran.stdout

    def wrong(rows: list[Row]) -> list[Row]:
        return [r._replace(locals=r.locals and r.locals.replace('"i":1', '"i":7')) for r in rows]

    changed(tmp_path / "runs", tmp_path / "false", {"p2": wrong})
    ran = deskcheck("runs", "check", "false", "--json", cwd=tmp_path)
    assert ran.returncode == 1
    assert [*json.loads(ran.stdout)["against_reference"]["different"]] == ["p2"]
    ran = deskcheck("runs", "check", "false", "--against", "nothing", "--json", cwd=tmp_path)
    assert ran.returncode == 0
    assert "against_reference" not in json.loads(ran.stdout)


def test_of_a_large_folder_a_sample_is_compared(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the time allows; the others are counted."""
    trusted = Confinement.TRUSTED
    assert compare_folder(Recordings(runs), seconds=0, confinement=trusted).compared == 5
    monkeypatch.setattr(composer_of_comparison, "FEW", 4)
    found = compare_folder(Recordings(runs), seconds=0, confinement=trusted)
    assert (found.drawn, found.compared) == (0, 0)
    assert found.left_out == {"the time for the comparison was spent": 5}
    assert compare_folder(Recordings(runs), seconds=600, confinement=trusted).compared == 5
    some = against(Recordings(runs), max_count=2)
    assert (some.compared, some.left_out) == (2, {"not drawn": 3})


@pytest.mark.parametrize("shards", [[], pytest.param(["--shards", "4"], marks=pytest.mark.slow)])
def test_of_many_some_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: list[str]
) -> None:
    """`record` of many programs records some again by itself and says what it found; of few it does not."""
    monkeypatch.setattr(composer, "_MANY", 5)
    monkeypatch.setattr(composer, "_SOME", 2)
    made = ["--no-repeat", "--sandbox", "trusted", "--out", "runs", *shards]
    few = deskcheck("record", "generated:5,inputs=1", *made, cwd=tmp_path)
    assert (few.returncode, few.stderr) == (0, "")
    assert "reference" not in few.stdout
    many = deskcheck(
        "record", "generated:12,inputs=1", *made, "--replace" if shards else "--json", cwd=tmp_path
    )
    assert (many.returncode, many.stderr) == (0, "")
    if shards:
        assert (
            "again by the reference tracer: 2 of 12 recordings, drawn with seed 0; compared: 2,"
            in many.stdout
        )
        assert "events: all are equal" in many.stdout
    else:
        told = json.loads(many.stdout)["against_reference"]
        assert (told["recordings"], told["compared"], told["different"]) == (12, 2, {})


@pytest.mark.exhaustive
def test_of_more_than_a_thousand_some_are_compared(tmp_path: Path) -> None:
    """With the numbers that are shipped."""
    options = ("--no-repeat", "--sandbox", "trusted", "--out", "runs")
    ran = deskcheck("record", "generated:1001,difficulty=1-2,inputs=1", *options, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "again by the reference tracer: 20 of 1001 recordings" in ran.stdout
    assert "events: all are equal" in ran.stdout
