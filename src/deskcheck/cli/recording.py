"""Commands that record, and check what was recorded: `record`, `runs check`."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.jobs import (
    AskedShards,
    On,
    RayAddress,
    ReplaceShards,
    Shards,
    asked_shards,
    job_progress,
    print_job,
    totals_text,
)
from deskcheck.cli.output import (
    Json,
    counted,
    counts_text,
    print_list,
    progress_bar,
    progress_told,
    say,
    says_when_interrupted,
    show_trace,
)
from deskcheck.errors import InputError
from deskcheck.sandbox.confinement import Confinement
from deskcheck.tracer import tracer_class
from deskcheck.tracer.limits import Level, TraceLimits


def record(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="What to record: FILE.py, a script; FILE.py::FUNCTION '(ARGUMENTS)', one call; doctests of "
            "a MODULE, a FOLDER or doctests:FILE.py; FUNCTIONS.jsonl; a published set: cruxeval[:PATH], "
            "humaneval[:PATH], mbpp[:PATH]; programs that are made: generated:COUNT, family:NAME, "
            "mutations:SOURCE, inputs:FILE.py (docs/programs.md); calls that the tests of a project make: "
            "pytest:PATH; notebooks: FILE.ipynb, notebooks:FOLDER, history:FILE.ipynb (its git history), "
            "june:LOG.csv.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the recordings; one program without it is shown instead."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Programs that run at once.")] = os.cpu_count() or 1,
    repeat: Annotated[
        bool,
        typer.Option(
            help="Run programs again under another hash seed, notebooks in another kernel; say where they "
            "differ, of programs also why."
        ),
    ] = True,
    runs: Annotated[
        int,
        typer.Option(
            min=2, help="Runs of each program or notebook that are compared, each under another hash seed."
        ),
    ] = 2,
    clock: Annotated[
        datetime | None,
        typer.Option(help="All clocks start from this moment (UTC) and advance by --tick-s at each reading."),
    ] = None,
    tick_s: Annotated[float, typer.Option("--tick-s", min=0, help="0: --clock stands still.")] = 0.001,
    random_seed: Annotated[
        int | None, typer.Option("--random-seed", help="Of random, os.urandom, secrets, uuid4 and numpy.")
    ] = None,
    turns: Annotated[bool, typer.Option("--turns", help="Threads take turns only where one waits.")] = False,
    level: Annotated[
        Level, typer.Option(help="Record every line, or before every instruction too.")
    ] = Level.LINE,
    cpu_s: Annotated[float, typer.Option("--cpu-s", min=0.1, help="CPU time a run may use.")] = 20.0,
    max_events: Annotated[
        int | None,
        typer.Option(
            "--max-events",
            min=1,
            help="Events recorded of each thread: 1,000,000; of a call in a test 5,000.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Record this alone, of what would be: a function or class (with what is inside it), "
            "MODULE, MODULE.FUNCTION, FILE.py or FILE.py::FUNCTION. May be given again.",
        ),
    ] = None,
    call_depth: Annotated[
        int | None,
        typer.Option(
            "--call-depth", min=1, help="Calls inside one another that are recorded; deeper ones are counted."
        ),
    ] = None,
    max_repetitions: Annotated[
        int | None,
        typer.Option(
            "--max-repetitions",
            min=1,
            help="How often a line of a frame is recorded; what a loop does beyond that is counted.",
        ),
    ] = None,
    calls: Annotated[int, typer.Option(min=1, help="pytest: calls kept in all.")] = 1000,
    per_function: Annotated[
        int, typer.Option("--per-function", min=1, help="pytest: calls kept of one function.")
    ] = 10,
    package: Annotated[
        list[str] | None,
        typer.Option(help="pytest: a package whose functions are recorded, instead of the project's folder."),
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="pytest: the interpreter that has what the tests need.")
    ] = None,
    suite_s: Annotated[
        float, typer.Option("--suite-s", min=1, help="pytest: seconds that the tests may take.")
    ] = 1800.0,
    suite_times: Annotated[
        float,
        typer.Option(
            "--suite-times",
            min=3,
            metavar="N",
            help="pytest: recording may take N times the CPU time that the tests take by themselves.",
        ),
    ] = 20.0,
    mask: Annotated[
        bool, typer.Option(help="pytest: take environment variables out of what is recorded.")
    ] = True,
    sandbox: Annotated[
        Confinement,
        typer.Option(help="How closely programs are confined ('trusted': your own code). Not for pytest."),
    ] = Confinement.STRICT,
    environment: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The environment (`deskcheck env`) of programs that name none. Not for pytest.",
        ),
    ] = None,
    shards: Shards = None,
    on: On = None,
    ray_address: RayAddress = None,
    replace_shards: ReplaceShards = False,
    inputs_by: Annotated[
        str | None,
        typer.Option(
            "--inputs-by",
            metavar="MODEL",
            help="inputs: also ask this model, any that Inspect reaches, for inputs of each function.",
        ),
    ] = None,
    cell_s: Annotated[
        float, typer.Option("--cell-s", min=0.1, help="Notebooks: seconds that a cell may take.")
    ] = 60.0,
    notebook_s: Annotated[
        float, typer.Option("--notebook-s", min=0.1, help="Notebooks: seconds that all its cells may take.")
    ] = 600.0,
    cell_order: Annotated[
        str,
        typer.Option("--cell-order", help="Notebooks: run from the 'top' down, or by execution 'count'."),
    ] = "top",
    as_json: Json = False,
) -> None:
    """Run programs in a sandbox and keep every line with the state of its variables."""
    _refuse_inputs_by(inputs_by, sources)
    shards_of = asked_shards(shards, on, ray_address, replace_shards)
    if shards_of is not None:
        _refuse_shards(sources)
    if any(_are_notebooks(source) for source in sources):
        options: dict[str, Any] = {
            "confinement": sandbox,
            "order": cell_order,
            "runs": runs if repeat else 1,
            "workers": workers,
        }
        _record_notebooks(sources, out, options, cell_s=cell_s, notebook_s=notebook_s, as_json=as_json)
        return
    asked = _sources(sources)
    options = {
        "workers": workers,
        "repeat": repeat,
        "runs": runs,
        "fixed": _fixed(clock, tick_s, random_seed, turns),
        "limits": _limits(cpu_s),
        "trace_limits": TraceLimits(
            events=max_events or 1_000_000,
            only=tuple(only or ()),
            call_depth=call_depth,
            repetitions=max_repetitions,
        ),
        "level": level,
        "confinement": sandbox,
        "environment": environment,
    }
    if any(_is_suite(source) for source, _ in asked):
        options |= {
            "calls": calls,
            "per_function": per_function,
            "wall_s": suite_s,
            "times": suite_times,
            "mask": mask,
        }
        _record_suite(
            sources, out, options, max_events, packages=package or [], python=python, as_json=as_json
        )
    elif shards_of is not None:
        _record_in_shards(_programs(asked, inputs_by), out, options, shards_of, as_json=as_json)
    elif out is not None:
        _record_in_folder(_programs(asked, inputs_by), out, options, as_json=as_json)
    else:
        _record_and_show(asked, options, as_json=as_json)


# -- what goes together ----------------------------------------------------------------------------


_LOOKS_FOR_INPUTS = re.compile(r"inputs[,:]")


def _refuse_inputs_by(model: str | None, sources: list[str]) -> None:
    if model is not None and not any(_LOOKS_FOR_INPUTS.match(source) for source in sources):
        raise InputError(f"--inputs-by {model}: goes with a source inputs:FILE.py.")


def _refuse_shards(sources: list[str]) -> None:
    if any(_are_notebooks(source) or _is_suite(source) for source in sources):
        raise InputError("--shards, --on, --ray-address, --replace: not for notebooks and pytest.")


def _are_notebooks(source: str) -> bool:
    return source.endswith(".ipynb") or source.startswith(("notebooks:", "history:", "june:"))


def _is_suite(source: str) -> bool:
    return source.startswith("pytest:")


def _sources(texts: list[str]) -> list[tuple[str, str | None]]:
    """Sources with their argument lists: an argument list follows the call it belongs to."""
    asked: list[tuple[str, str | None]] = []
    for text in texts:
        if asked and "::" in asked[-1][0] and asked[-1][1] is None and not _may_be_source(text):
            asked[-1] = (asked[-1][0], text)
        else:
            asked.append((text, None))
    return asked


def _may_be_source(text: str) -> bool:
    """Whether a word after a call is not meant as its arguments, however wrongly written."""
    if text.lstrip().startswith("("):
        return False
    named = re.match(r"[\w+-]+(,[\w=+-]+)*:", text) or "::" in text or text.endswith((".py", ".jsonl", ".gz"))
    return bool(named) or text.replace(".", "_").isidentifier() or os.path.exists(text)


def _fixed(clock: datetime | None, tick_s: float, random_seed: int | None, turns: bool) -> Any:
    from deskcheck.sandbox.determinism import Determinism

    if clock is not None and clock.year < 1970:
        raise InputError(f"--clock {clock:%Y-%m-%d}: lies before 1970-01-01, where clocks begin.")
    return Determinism(
        clock=None if clock is None else clock.replace(tzinfo=UTC).timestamp(),
        tick_s=tick_s,
        random_seed=random_seed,
        turns=turns or None,
    )


def _limits(cpu_s: float) -> Any:
    from deskcheck.sandbox.limits import Limits

    return Limits(cpu_s=cpu_s, wall_s=max(60.0, 3 * cpu_s))


# -- programs --------------------------------------------------------------------------------------


def _programs(asked: list[tuple[str, str | None]], inputs_by: str | None = None) -> Iterator[Any]:
    """Those of all sources, each of which is looked up before the first program is given out. inputs_by: the
    model that is asked for inputs too."""
    from deskcheck import corpus

    with ExitStack() as stack:
        propose = None if inputs_by is None else stack.enter_context(_proposer(inputs_by))
        found = [
            corpus.programs(source, arguments, note=_note, propose=propose) for source, arguments in asked
        ]
        return _all_of(found, stack.pop_all())


def _note(text: str) -> None:
    say(f"note: {text}")


def _all_of(found: list[Iterator[Any]], held: ExitStack) -> Iterator[Any]:
    with held:
        for programs in found:
            yield from programs


def _proposer(model: str) -> AbstractContextManager[Callable[[str], str]]:
    from deskcheck.ask.proposals import proposer

    return proposer(model)


def _record_in_folder(programs: Iterator[Any], out: Path, options: dict[str, Any], *, as_json: bool) -> None:
    from deskcheck.sandbox.record.recorder import record_all

    stopped = f"interrupted: what was finished is in {out}; the same command goes on from there"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = record_all(
            programs, out, progress=lambda program, ending: advance(program.id), note=_note, **options
        )
        agreement = _compare_some(summary.recorded, out, options["workers"], as_json)
    if as_json:
        print(json.dumps(summary.to_dict() | _told_of(agreement)))
    else:
        _print_programs(summary, out)
        if agreement is not None:
            _print_agreement(agreement)
    if summary.problems:
        raise typer.Exit(2)
    if not (summary.recorded or summary.skipped) or (agreement is not None and agreement.different):
        raise typer.Exit(1)


def _told_of(agreement: Any) -> dict[str, Any]:
    return {} if agreement is None else {"against_reference": agreement.to_dict()}


def _print_programs(summary: Any, out: Path) -> None:
    ends = counts_text(summary.by_outcome)
    print(f"recorded {counted(summary.recorded, 'program')} in {out}" + (f": {ends}" if ends else ""))
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    elif not summary.recorded and not summary.problems:
        say("the sources have no programs, so nothing was run")
    print_list("not repeatable", summary.not_repeatable)
    print_list("our own failures", summary.problems)


def _record_in_shards(
    programs: Iterator[Any], out: Path | None, options: dict[str, Any], asked: AskedShards, *, as_json: bool
) -> None:
    from deskcheck.sandbox.record.recorder import SLOW, RecordSettings
    from deskcheck.scale import record_job

    if out is None:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    workers = options.pop("workers")
    runner = asked.runner(workers)
    if tracer_class().name == "reference":
        _note(SLOW)
    with job_progress(out, as_json) as tell:
        summary = record_job(
            programs,
            out,
            runner=runner,
            settings=RecordSettings(**options),
            size=asked.size,
            replace=asked.replace,
            progress=tell,
        )
    agreement = _compare_some(summary.recorded, out, workers, as_json)
    if as_json:
        print(json.dumps(summary.to_dict() | _told_of(agreement)))
    else:
        recorded = counted(summary.recorded, "program")
        print(f"recorded {recorded} in {out}, which holds {totals_text(summary.totals)}")
        print_job(summary)
        if agreement is not None:
            _print_agreement(agreement)
    if summary.totals.problems:
        raise typer.Exit(2)
    if not summary.totals.programs or (agreement is not None and agreement.different):
        raise typer.Exit(1)


def _record_and_show(asked: list[tuple[str, str | None]], options: dict[str, Any], *, as_json: bool) -> None:
    from deskcheck.recording.reader import Recordings
    from deskcheck.sandbox.record.recorder import record_all

    program = _only_program(asked)
    stopped = "interrupted: nothing was kept; with --out FOLDER, what is finished is"
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as folder, says_when_interrupted(stopped):
        summary = record_all([program], folder, note=_note, **options)
        summary.files = []
        if as_json:
            print(json.dumps(summary.to_dict()))
        else:
            show_trace(next(iter(Recordings(folder))))
    if summary.problems:
        raise typer.Exit(2)


def _only_program(asked: list[tuple[str, str | None]]) -> Any:
    """The one program that the sources name. Raises InputError where there are more, or none."""
    from deskcheck.corpus import PUBLISHED

    several = InputError(
        "recordings of more than one program need a folder: add --out FOLDER. "
        "(One program, FILE.py or FILE.py::FUNCTION '(ARGUMENTS)', is shown without it.)"
    )
    if any(source in PUBLISHED for source, _ in asked):  # it would be fetched first
        raise several
    programs = _programs(asked)
    if any(_LOOKS_FOR_INPUTS.match(source) for source, _ in asked):  # it would be looked for first
        raise several
    found = list(islice(programs, 2))
    if not found:
        raise InputError(f"{' '.join(source for source, _ in asked)}: has no programs, so nothing was run.")
    if len(found) > 1:
        raise several
    return found[0]


# -- notebooks -------------------------------------------------------------------------------------


def _record_notebooks(
    sources: list[str],
    out: Path | None,
    options: dict[str, Any],
    *,
    cell_s: float,
    notebook_s: float,
    as_json: bool,
) -> None:
    from deskcheck.notebook.kernel.record import record_notebooks
    from deskcheck.notebook.kernel.replayer import ReplayLimits
    from deskcheck.notebook.state.capture import StateLimits

    others = [source for source in sources if not _are_notebooks(source)]
    if others:
        raise InputError(f"{others[0]}: is no notebook, and those are recorded by themselves.")
    if out is None:
        raise InputError(f"{sources[0]}: recordings of notebooks need a folder: add --out FOLDER.")
    stopped = f"interrupted: what was recorded is in {out}; the same command goes on from there"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = record_notebooks(
            sources,
            out,
            limits=ReplayLimits(cell_s=cell_s, notebook_s=notebook_s),
            state=StateLimits(),
            progress=lambda name: advance(name),
            **options,
        )
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        _print_notebooks(summary, out)
    if summary.problems:
        raise typer.Exit(1)


def _print_notebooks(summary: Any, out: Path) -> None:
    ends, cells = counts_text(summary.by_ending), counts_text(summary.cells)
    recorded = counted(summary.recorded, "notebook")
    print(f"recorded {recorded} in {out}: {ends or 'none'}; cells: {cells or 'none'}")
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    print_list("not repeatable", summary.not_repeatable)
    print_list("notebooks that could not be run", summary.problems)
    print_list("noted", summary.notes)


# -- tests of a project ----------------------------------------------------------------------------


def _record_suite(
    sources: list[str],
    out: Path | None,
    options: dict[str, Any],
    max_events: int | None,
    *,
    packages: list[str],
    python: str | None,
    as_json: bool,
) -> None:
    from deskcheck.corpus.suite.suite import find_suite, record_suite

    _refuse_environment(options["environment"])
    if len(sources) != 1:
        raise InputError(
            f"{sources[0]}: the tests of a project are recorded by themselves: name one pytest:PATH."
        )
    if out is None:
        raise InputError(f"{sources[0]}: recordings of a project's calls need a folder: add --out FOLDER.")
    suite = find_suite(sources[0], packages=packages, python=python)
    options = _suite_options(sources[0], options, max_events)
    stopped = f"interrupted: what was recorded is in {out}; the same command goes on from there"
    with progress_told(as_json) as advance, says_when_interrupted(stopped):
        summary = record_suite(suite, out, progress=advance, **options)
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        _print_suite(summary, out)


def _refuse_environment(name: str | None) -> None:
    if name is not None:
        raise InputError(
            f"--environment {name}: tests run with an interpreter that is named by its path: "
            "use --python. (Where each environment has it: deskcheck env list.)"
        )


def _suite_options(source: str, given: dict[str, Any], max_events: int | None) -> dict[str, Any]:
    """Those that go with tests, which run as their owner runs them; events are bounded as tests' are."""
    from deskcheck.corpus.suite.suite import LIMITS

    if given["level"] is not Level.LINE:
        raise InputError(f"{source}: calls in tests are recorded at line level: leave --level out.")
    if given["fixed"].said or given["runs"] != 2:
        raise InputError(
            f"{source}: the tests run as their owner runs them: "
            "leave out --clock, --random-seed, --turns and --runs."
        )
    of_programs = ("level", "fixed", "runs", "confinement", "environment")
    options = {name: value for name, value in given.items() if name not in of_programs}
    asked: TraceLimits = given["trace_limits"]
    options["trace_limits"] = replace(LIMITS, events=max_events or LIMITS.events, **asked.leaving_out)
    return options


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
    print_list("not repeatable", summary.not_repeatable)
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


def check(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    against: Annotated[
        Against | None,
        typer.Option(
            "--against",
            help="Instead, record some of them again by the reference tracer and compare event for event.",
        ),
    ] = None,
    sample: Annotated[
        float | None,
        typer.Option(
            "--sample", metavar="SHARE", help="--against: share of the recordings; 0.02 if not said."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="--against: another number, others.")] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="--against: programs that run at once.")
    ] = os.cpu_count() or 1,
    sandbox: Annotated[
        Confinement | None,
        typer.Option(help="--against: how closely programs are confined; if not said, as when recorded."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check recordings against what their source says; look for addresses and ambiguous states.

    Exit status: 0 all is well, 1 something was found, or with --against nothing could be compared."""
    from deskcheck.corpus.check import check as check_recordings
    from deskcheck.corpus.check import summary
    from deskcheck.recording.reader import Recordings

    if against is not None:
        share = 0.02 if sample is None else sample
        if not 0 < share <= 1:
            raise InputError(f"--sample {share}: is a share: more than 0 and at most 1.")
        _check_against(folder, share, seed or 0, workers, sandbox, as_json=as_json)
        return
    for name, value in (("--sample", sample), ("--seed", seed), ("--sandbox", sandbox)):
        if value is not None:
            raise InputError(f"{name} {value}: goes with --against reference.")
    report = check_recordings(Recordings(folder))
    print(json.dumps(report.to_dict()) if as_json else summary(report))
    if report.wrong or report.addresses or report.ambiguous or report.damaged:
        raise typer.Exit(1)


def _check_against(
    folder: Path, share: float, seed: int, workers: int, sandbox: Confinement | None, *, as_json: bool
) -> None:
    from deskcheck.recording.reader import Recordings
    from deskcheck.sandbox.record.against import against_reference

    with progress_bar(as_json) as advance:
        found = against_reference(
            Recordings(folder), share=share, seed=seed, workers=workers, confinement=sandbox, progress=advance
        )
    if as_json:
        print(json.dumps(found.to_dict()))
    else:
        _print_agreement(found)
    if found.different or not found.compared:
        raise typer.Exit(1)


_MANY, _SOME = 1000, 20
"""Of more new recordings than the first, so many are recorded again by the reference tracer."""


def _compare_some(new: int, out: Path, workers: int, as_json: bool) -> Any:
    """What `against_reference` finds of some recordings, where many were made. None where they were not, or
    by the reference itself."""
    from deskcheck.recording.reader import Recordings
    from deskcheck.sandbox.record.against import REFERENCE, against_reference

    if new <= _MANY or tracer_class().name == REFERENCE:
        return None
    with progress_bar(as_json) as advance:
        return against_reference(Recordings(out), most=_SOME, workers=workers, progress=advance)


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
