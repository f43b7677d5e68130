"""Commands that make and check recordings: `record`, `runs check`."""

import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.jobs import WORK, Work, stopped
from deskcheck.cli.common.options import Panel, refuse_others, with_options
from deskcheck.cli.common.output import (
    Json,
    print_lines,
    progress_bar,
    progress_reports,
    say,
    says_when_interrupted,
)
from deskcheck.cli.common.script import PROGRAMS, help_all
from deskcheck.errors import InputError
from deskcheck.jobs.spread import Spread
from deskcheck.notebook.settings import NotebookSettings
from deskcheck.recorder.program_input import ProgramInput, read_input
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.settings import Setting

INPUTS, NOTEBOOKS, TESTS = "Inputs", "Notebooks", "Tests of a project (pytest:PATH)"
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
        rich_help_panel=INPUTS,
    ),
]


@with_options
def record(
    sources: Sources,
    *,
    module: Annotated[
        bool, typer.Option("-m", help="SOURCE is the name of a module to run, as for python -m.")
    ] = False,
    arguments: Annotated[list[str] | None, typer.Option("--arguments", hidden=True)] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the recordings. Without it, show the run of one program."),
    ] = None,
    programs: Annotated[RecordSettings, Panel(PROGRAMS, "programs")],
    notebooks: Annotated[NotebookSettings, Panel(NOTEBOOKS, "notebooks")],
    tests: Annotated[SuiteSettings, Panel(TESTS, "pytest:PATH")],
    work: Work,
    inputs_by: InputsBy = None,
    as_json: Json = False,
    all_options: Annotated[
        bool,
        typer.Option(
            "--help-all",
            callback=help_all,
            is_eager=True,
            help="Show this message with the options for tests, notebooks and large jobs.",
        ),
    ] = False,
) -> None:
    """Run programs in a sandbox and record every executed line with the state of the variables.

    Arguments of a script follow `--`, and it gets the standard input:
    deskcheck record app.py --out runs -- --fast 3 < data.txt

    Exit status: 0 success, 1 nothing was recorded or some recordings differ from the reference tracer's,
    2 wrong usage or a failure of deskcheck, 130 interrupted."""
    from deskcheck.recorder.record import SourceKind, kind_of

    if inputs_by is not None and not any(map(_LOOKS_FOR_INPUTS.match, sources)):
        raise InputError(f"--inputs-by {inputs_by}: is only for a source inputs:FILE.py.")
    program_input = _program_input(sources, module, arguments)
    kind = SourceKind.PROGRAMS if program_input else kind_of(sources)
    if programs.wall_s is None:
        programs = replace(programs, limits=_with_wall_time(programs.limits))
    panel, settings = {
        SourceKind.PROGRAMS: (PROGRAMS, programs),
        SourceKind.TESTS: (TESTS, replace(tests, limits=_with_wall_time(tests.limits))),
        SourceKind.NOTEBOOKS: (NOTEBOOKS, notebooks),
    }[kind]
    refuse_others(panel, WORK)
    if out is not None:
        _record_in_folder(sources, out, settings, work, inputs_by, program_input, as_json=as_json)
    elif work.in_shards:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    elif kind is SourceKind.PROGRAMS:
        _record_and_show(sources, programs, program_input, as_json=as_json)
    else:
        raise InputError(f"{sources[0]}: recordings of {kind} need a folder: add --out FOLDER.")


def _program_input(sources: list[str], module: bool, arguments: list[str] | None) -> ProgramInput:
    """The arguments after ``--`` and the standard input, which only a single script or module gets."""
    from deskcheck.recorder.record import may_be_source
    from deskcheck.sources.sources import is_script

    if arguments is None and (module or is_script(sources[0])):
        words = [word for word in sources[1:] if module or not may_be_source(word)]
        if words:
            form = f"{'-m ' if module else ''}{sources[0]}"
            raise InputError(
                f"{words[0]!r}: is not a source. Arguments of a program go after --: "
                f"deskcheck record {form} -- {shlex.join(words)}"
            )
    takes_input = len(sources) == 1 and (module or is_script(sources[0]))
    stdin = read_input(_note) if takes_input else None
    return ProgramInput(module=module, arguments=tuple(arguments or ()), stdin=stdin)


_LOOKS_FOR_INPUTS = re.compile(r"inputs[,:]")


def _with_wall_time(limits: Limits) -> Limits:
    """The limits with a wall time in proportion to the CPU time."""
    return replace(limits, wall_s=3 * limits.cpu_s)


def _note(text: str) -> None:
    say(f"note: {text}")


# -- into a folder ---------------------------------------------------------------------------------


def _record_in_folder(
    sources: list[str],
    out: Path,
    settings: Any,
    work: Spread,
    inputs_by: str | None,
    program_input: ProgramInput,
    *,
    as_json: bool,
) -> None:
    from deskcheck.recorder.record import SourceKind
    from deskcheck.recorder.record import record as record_sources

    interruption = f"interrupted: finished recordings are in {out}; rerun the command to resume"
    with ExitStack() as stack:
        propose = None if inputs_by is None else stack.enter_context(_proposer(inputs_by))
        advance = stack.enter_context(progress_reports(as_json))
        stack.enter_context(says_when_interrupted(stopped(out) if work.in_shards else interruption))
        result = record_sources(
            *sources,
            out=out,
            settings=settings,
            spread=work,
            propose=propose,
            program_input=program_input,
            progress=advance,
            note=_note,
        )
    if as_json:
        print(json.dumps(result.to_dict()))
    else:
        print_lines(result.lines(out))
        if result.kind is SourceKind.PROGRAMS and not (result.summary.in_folder or result.summary.problems):
            say("the sources contain no programs, so nothing was run")
    if result.exit_status:
        raise typer.Exit(result.exit_status)


def _proposer(model: str) -> AbstractContextManager[Callable[[str], str]]:
    from deskcheck.ask.proposals import proposer

    return proposer(model)


# -- one program, shown -----------------------------------------------------------------------------


def _record_and_show(
    sources: list[str], settings: RecordSettings, program_input: ProgramInput, *, as_json: bool
) -> None:
    from deskcheck.recorder.programs import record_programs
    from deskcheck.recorder.record import script_of
    from deskcheck.recording.reader import Recordings
    from deskcheck.view.showing import show_table

    program = script_of(sources, program_input, _note) if program_input else _only_program(sources)
    interruption = "interrupted: nothing was kept. --out FOLDER keeps finished recordings."
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as folder, says_when_interrupted(interruption):
        summary = record_programs([program], folder, settings, note=_note)
        summary.files = []
        if as_json:
            print(json.dumps(summary.to_dict()))
        else:
            show_table(next(iter(Recordings(folder))))
    if summary.problems:
        raise typer.Exit(2)


def _only_program(sources: list[str]) -> Any:
    """The one program that the sources name. Raises InputError for several programs, or none."""
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
    first_two = list(islice(programs, 2))
    if not first_two:
        raise InputError(f"{' '.join(sources)}: contains no programs, so nothing was run.")
    if len(first_two) > 1:
        raise several
    return first_two[0]


# -- checking --------------------------------------------------------------------------------------


class Against(StrEnum):
    """The reference for a comparison of recordings."""

    REFERENCE = "reference"
    """Only the comparison."""
    NOTHING = "nothing"
    """No comparison: no program runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """Which recordings to make again, and how."""

    against: Annotated[
        Against | None,
        Setting(
            "reference: only compare with the reference tracer. nothing: only check the recordings, without "
            "running programs. By default both."
        ),
    ] = None
    sample: Annotated[
        float | None, Setting("--against reference: share of the recordings (0.02).", metavar="SHARE")
    ] = None
    compare_s: Annotated[
        float, Setting("Seconds for the comparison, in folders of more than 200 recordings.", min=0.0)
    ] = 10.0
    seed: Annotated[int | None, Setting("Seed for the choice of recordings to compare (0).")] = None
    workers: Annotated[int, Setting("Programs that run at once for the comparison.", min=1)] = (
        os.cpu_count() or 1
    )
    sandbox: Annotated[
        Confinement | None,
        Setting(
            "Confinement of programs in the comparison. By default it is strict, and only recordings made "
            "at strict are compared."
        ),
    ] = None


@with_options
def check(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    *,
    again: Annotated[_Again, Panel(None)],
    as_json: Json = False,
) -> None:
    """Check recordings against their source, and compare them with new ones by the reference tracer.

    Programs run in the sandbox: all in a folder of up to 200 recordings, else as many as --compare-s allows.
    Also looks for addresses and ambiguous states.

    Exit status: 0 all is well, 1 a problem was found, or with --against reference nothing could be
    compared."""
    from deskcheck.recorder.verify import compare_folder
    from deskcheck.recording.reader import Recordings
    from deskcheck.sources.check import check as check_recordings
    from deskcheck.sources.check import summary

    if again.against is Against.REFERENCE:
        _check_against(folder, again, as_json=as_json)
        return
    if again.sample is not None:
        raise InputError(f"--sample {again.sample}: is only for --against reference.")
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
            print_lines(agreement.lines())
    differs = agreement is not None and bool(agreement.different)
    if report.wrong or report.addresses or report.ambiguous or report.damaged or differs:
        raise typer.Exit(1)


def _check_against(folder: Path, again: _Again, *, as_json: bool) -> None:
    from deskcheck.recorder.verify import against_reference
    from deskcheck.recording.reader import Recordings

    share = 0.02 if again.sample is None else again.sample
    if not 0 < share <= 1:
        raise InputError(f"--sample {share}: give a share above 0 and up to 1.")
    with progress_bar(as_json) as advance:
        agreement = against_reference(
            Recordings(folder),
            share=share,
            seed=again.seed or 0,
            workers=again.workers,
            confinement=again.sandbox,
            progress=advance,
        )
    if as_json:
        print(json.dumps(agreement.to_dict()))
    else:
        print_lines(agreement.lines())
    if agreement.different or not agreement.compared:
        raise typer.Exit(1)
