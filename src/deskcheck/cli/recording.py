"""Commands that record, and check what was recorded: `record`, `runs check`."""

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.jobs import WORK, Work, print_job, stopped, totals_text
from deskcheck.cli.common.options import Panel, refuse_others, with_options
from deskcheck.cli.common.output import (
    Json,
    counted,
    counts_text,
    print_list,
    progress_bar,
    progress_told,
    say,
    says_when_interrupted,
)
from deskcheck.errors import InputError
from deskcheck.jobs.spread import Spread
from deskcheck.notebook.settings import NotebookSettings
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.settings import Setting

PROGRAMS, NOTEBOOKS, TESTS = "Programs", "Notebooks", "Tests of a project (pytest:PATH)"
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="What to record: FILE.py, a script; FILE.py::FUNCTION '(ARGUMENTS)', one call; doctests of "
        "a MODULE, a FOLDER or doctests:FILE.py; FUNCTIONS.jsonl; a published set: cruxeval[:PATH], "
        "humaneval[:PATH], mbpp[:PATH]; generated programs: generated:COUNT, family:NAME, "
        "mutations:SOURCE, inputs:FILE.py, inputs:PACKAGE (`deskcheck help sources`); calls that the "
        "tests of a project make: pytest:PATH; notebooks: FILE.ipynb, notebooks:FOLDER, "
        "history:FILE.ipynb (its git history), june:LOG.csv; a live recording: FILE.trajectory.parquet.",
    ),
]
InputsBy = Annotated[
    str | None,
    typer.Option(
        "--inputs-by",
        metavar="MODEL",
        help="inputs: also ask this model (any that Inspect reaches) for inputs of each function.",
        rich_help_panel=PROGRAMS,
    ),
]


@with_options
def record(
    sources: Sources,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the recordings. Without it one program is shown instead."),
    ] = None,
    programs: Annotated[RecordSettings, Panel(PROGRAMS, "programs")],
    notebooks: Annotated[NotebookSettings, Panel(NOTEBOOKS, "notebooks")],
    tests: Annotated[SuiteSettings, Panel(TESTS, "pytest:PATH")],
    work: Work,
    inputs_by: InputsBy = None,
    as_json: Json = False,
) -> None:
    """Run programs in a sandbox and keep every line with the state of its variables.

    Exit status: 0 all is well, 1 nothing was recorded or some recordings differ from the reference tracer's,
    2 a wrong call or an error of ours, 130 interrupted."""
    from deskcheck.recorder.record import SourceKind, kind_of

    if inputs_by is not None and not any(map(_LOOKS_FOR_INPUTS.match, sources)):
        raise InputError(f"--inputs-by {inputs_by}: goes with a source inputs:FILE.py.")
    kind = kind_of(sources)
    if programs.wall_s is None:
        programs = replace(programs, limits=_with_wall_time(programs.limits))
    panel, settings = {
        SourceKind.PROGRAMS: (PROGRAMS, programs),
        SourceKind.TESTS: (TESTS, replace(tests, limits=_with_wall_time(tests.limits))),
        SourceKind.NOTEBOOKS: (NOTEBOOKS, notebooks),
    }[kind]
    refuse_others(panel, WORK)
    if out is not None:
        _record_in_folder(sources, out, settings, work, inputs_by, as_json=as_json)
    elif work.in_shards:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    elif kind is SourceKind.PROGRAMS:
        _record_and_show(sources, programs, as_json=as_json)
    else:
        raise InputError(f"{sources[0]}: recordings of {kind} need a folder: add --out FOLDER.")


_LOOKS_FOR_INPUTS = re.compile(r"inputs[,:]")


def _with_wall_time(limits: Limits) -> Limits:
    """With time on the clock for the CPU time that may be used."""
    return replace(limits, wall_s=3 * limits.cpu_s)


def _note(text: str) -> None:
    say(f"note: {text}")


# -- into a folder ---------------------------------------------------------------------------------


def _record_in_folder(
    sources: list[str], out: Path, settings: Any, work: Spread, inputs_by: str | None, *, as_json: bool
) -> None:
    from deskcheck.recorder.record import record as record_sources

    said = f"interrupted: what was recorded is in {out}; the same command goes on from there"
    with ExitStack() as stack:
        propose = None if inputs_by is None else stack.enter_context(_proposer(inputs_by))
        advance = stack.enter_context(progress_told(as_json))
        stack.enter_context(says_when_interrupted(stopped(out) if work.in_shards else said))
        done = record_sources(
            *sources, out=out, settings=settings, spread=work, propose=propose, progress=advance, note=_note
        )
    if as_json:
        print(json.dumps(done.to_dict()))
    else:
        _print_done(done, out, in_shards=work.in_shards)
    if status := _status(done):
        raise typer.Exit(status)


def _proposer(model: str) -> AbstractContextManager[Callable[[str], str]]:
    from deskcheck.ask.proposals import proposer

    return proposer(model)


def _status(done: Any) -> int:
    """The exit status of a recording."""
    from deskcheck.recorder.record import SourceKind

    summary = done.summary
    if done.kind is SourceKind.TESTS:
        return 0
    if done.kind is SourceKind.NOTEBOOKS:
        return 1 if summary.problems else 0
    problems, there = (
        (summary.totals.problems, summary.totals.programs)
        if hasattr(summary, "totals")
        else (summary.problems, summary.recorded + summary.skipped)
    )
    if problems or done.unusable:
        return 2
    return 0 if there and not (done.agreement is not None and done.agreement.different) else 1


def _print_done(done: Any, out: Path, *, in_shards: bool) -> None:
    from deskcheck.recorder.record import SourceKind

    if done.kind is SourceKind.NOTEBOOKS:
        _print_notebooks(done.summary, out)
    elif done.kind is SourceKind.TESTS:
        _print_suite(done.summary, out)
    elif in_shards:
        recorded = counted(done.summary.recorded, "program")
        print(f"recorded {recorded} in {out}, which holds {totals_text(done.summary.totals)}")
        print_job(done.summary)
    else:
        _print_programs(done.summary, out)
    unusable = {place: why.removeprefix(f"{place}: ") for place, why in done.unusable.items()}
    print_list("sources and rows that cannot be used", unusable)
    if done.agreement is not None:
        _print_agreement(done.agreement)


# -- one program, shown -----------------------------------------------------------------------------


def _record_and_show(sources: list[str], settings: RecordSettings, *, as_json: bool) -> None:
    from deskcheck.recorder.programs import record_programs
    from deskcheck.recording.reader import Recordings
    from deskcheck.view.showing import show_table

    program = _only_program(sources)
    said = "interrupted: nothing was kept; with --out FOLDER, what is finished is"
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as folder, says_when_interrupted(said):
        summary = record_programs([program], folder, settings, note=_note)
        summary.files = []
        if as_json:
            print(json.dumps(summary.to_dict()))
        else:
            show_table(next(iter(Recordings(folder))))
    if summary.problems:
        raise typer.Exit(2)


def _only_program(sources: list[str]) -> Any:
    """The one program that the sources name. Raises InputError where there are more, or none."""
    from deskcheck.recorder.record import programs_of
    from deskcheck.sources import PUBLISHED

    several = InputError(
        "recordings of more than one program need a folder: add --out FOLDER. "
        "(One program, FILE.py or FILE.py::FUNCTION '(ARGUMENTS)', is shown without it.)"
    )
    if any(source in PUBLISHED for source in sources):  # it would be fetched first
        raise several
    programs = programs_of(sources, note=_note)
    if any(map(_LOOKS_FOR_INPUTS.match, sources)):  # it would be looked for first
        raise several
    found = list(islice(programs, 2))
    if not found:
        raise InputError(f"{' '.join(sources)}: has no programs, so nothing was run.")
    if len(found) > 1:
        raise several
    return found[0]


# -- what was done, in words ------------------------------------------------------------------------


def _print_programs(summary: Any, out: Path) -> None:
    ends = counts_text(summary.by_outcome)
    print(f"recorded {counted(summary.recorded, 'program')} in {out}" + (f": {ends}" if ends else ""))
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    elif not summary.recorded and not summary.problems:
        say("the sources have no programs, so nothing was run")
    _print_differing(summary)
    if summary.refused:
        print_refused(summary.refused, summary.recorded)
    print_list("our own failures", summary.problems)


def print_refused(refused: dict[str, dict[str, int]], of: int) -> None:
    """What the sandbox refused programs, and the way out."""
    from deskcheck.recording.recording import refused_text

    programs = Counter(name for names in refused.values() for name in names)
    verb = "were" if len(refused) > 1 else "was"
    print(
        f"{len(refused)} of {counted(of, 'program')} {verb} refused something by the sandbox: "
        f"{', '.join(name for name, _ in programs.most_common(5))}. They are not asked about. If you trust "
        "them, --sandbox trusted runs them."
    )
    print_list("refused", {id_: refused_text(names) for id_, names in refused.items()})


def _print_differing(summary: Any) -> None:
    print_list("not repeatable", summary.not_repeatable)
    print_list("changed by the tracer: they end differently without it", summary.untraced)


def _print_notebooks(summary: Any, out: Path) -> None:
    ends, cells = counts_text(summary.by_ending), counts_text(summary.cells)
    recorded = counted(summary.recorded, "notebook")
    print(f"recorded {recorded} in {out}: {ends or 'none'}; cells: {cells or 'none'}")
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    print_list("not repeatable", summary.not_repeatable)
    print_list("notebooks that could not be run", summary.problems)
    print_list("noted", summary.notes)


def _print_suite(summary: Any, out: Path) -> None:
    ends = counts_text(summary.by_outcome)
    print(
        f"recorded {counted(summary.recorded, 'call')} of {counted(summary.functions, 'function')} in {out}"
        + (f": {ends}" if ends else "")
    )
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    tests = counts_text(summary.tests)
    print(f"the tests {summary.ended}: {tests}; what they wrote is in {summary.output}")
    print(f"{summary.literal} with literal arguments, {summary.alone} do the same without their test")
    if summary.not_alone:
        print(f"{summary.not_alone} more were not tried: the time was spent (--suite-times for more)")
    if summary.cost_s is not None:
        share = summary.cost_s / summary.tests_s
        print(
            f"the tests take {summary.tests_s:.1f} s of CPU time; recording took {summary.cost_s:.1f} s, "
            f"{share:.0f} times as much"
        )
    _print_differing(summary)
    if summary.varies:
        print(
            "recorded without global variables that differ between two runs and that the call does not read: "
            + counts_text(summary.varies)
        )
    print_list("tests that come out otherwise when they are watched", summary.otherwise)
    for what, left_out in (("calls", summary.left_out), ("functions", summary.functions_left_out)):
        if left_out:
            print(f"{what} left out: " + ", ".join(f"{n} {why}" for why, n in left_out.items()))


# -- checking --------------------------------------------------------------------------------------


class Against(StrEnum):
    """What recordings are compared with."""

    REFERENCE = "reference"
    """Only the comparison."""
    NOTHING = "nothing"
    """No comparison: no program runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """Which recordings are made again, and how."""

    against: Annotated[
        Against | None,
        Setting(
            "reference: compare with the reference tracer and check nothing else. nothing: run no program. "
            "By default both checks are made."
        ),
    ] = None
    sample: Annotated[
        float | None, Setting("--against reference: share of the recordings (0.02).", metavar="SHARE")
    ] = None
    compare_s: Annotated[
        float, Setting("Seconds for the comparison of a folder of more than 200 recordings.", min=0.0)
    ] = 10.0
    seed: Annotated[int | None, Setting("Another number draws other recordings to compare.")] = None
    workers: Annotated[int, Setting("Programs that run at once for the comparison.", min=1)] = (
        os.cpu_count() or 1
    )
    sandbox: Annotated[
        Confinement | None,
        Setting(
            "How closely programs are confined for the comparison. By default only those that were "
            "recorded at strict run, at strict."
        ),
    ] = None


@with_options
def check(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    *,
    again: Annotated[_Again, Panel(None)],
    as_json: Json = False,
) -> None:
    """Check recordings against their source, and record them again with the reference tracer to compare.

    Programs run in the sandbox: all of a folder of up to 200 recordings, else as many as --compare-s allows.
    Also looks for addresses and ambiguous states. Exit status: 0 all is well, 1 something was found, or with
    --against reference nothing could be compared."""
    from deskcheck.recorder.verify import compare_folder
    from deskcheck.recording.reader import Recordings
    from deskcheck.sources.check import check as check_recordings
    from deskcheck.sources.check import summary

    if again.against is Against.REFERENCE:
        _check_against(folder, again, as_json=as_json)
        return
    if again.sample is not None:
        raise InputError(f"--sample {again.sample}: goes with --against reference.")
    report = check_recordings(Recordings(folder))
    agreement = None
    if again.against is None:
        with progress_bar(as_json) as advance:
            agreement = compare_folder(
                Recordings(folder),
                seconds=again.compare_s,
                seed=again.seed or 0,
                workers=again.workers,
                confinement=again.sandbox,
                progress=advance,
            )
    if as_json:
        compared = {} if agreement is None else {"against_reference": agreement.to_dict()}
        print(json.dumps(report.to_dict() | compared))
    else:
        print(summary(report))
        if agreement is not None:
            _print_agreement(agreement)
    differs = agreement is not None and bool(agreement.different)
    if report.wrong or report.addresses or report.ambiguous or report.damaged or differs:
        raise typer.Exit(1)


def _check_against(folder: Path, again: _Again, *, as_json: bool) -> None:
    from deskcheck.recorder.verify import against_reference
    from deskcheck.recording.reader import Recordings

    share = 0.02 if again.sample is None else again.sample
    if not 0 < share <= 1:
        raise InputError(f"--sample {share}: is a share: more than 0 and at most 1.")
    with progress_bar(as_json) as advance:
        found = against_reference(
            Recordings(folder),
            share=share,
            seed=again.seed or 0,
            workers=again.workers,
            confinement=again.sandbox,
            progress=advance,
        )
    if as_json:
        print(json.dumps(found.to_dict()))
    else:
        _print_agreement(found)
    if found.different or not found.compared:
        raise typer.Exit(1)


def _print_agreement(found: Any) -> None:
    partly = f", {found.partly} of them as far as a limit let both go" if found.partly else ""
    result = f"{len(found.different)} differ" if found.different else "all the same"
    print(
        f"recorded again by the reference tracer: {found.drawn} of {found.recordings} recordings, drawn with "
        f"seed {found.seed}; compared: {found.compared}{partly}"
        + (f", {found.events} events: {result}" if found.compared else "")
    )
    print_list("first difference of each", {name: str(where) for name, where in found.different.items()})
    for why, count in found.left_out.items():
        print(f"not compared: {count}, {why}")
