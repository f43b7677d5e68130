"""Commands that record, and check what was recorded: `record`, `check`."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
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
    counts_text,
    print_list,
    progress_bar,
    say,
    says_when_interrupted,
    show_trace,
)
from deskcheck.recording.errors import InputError
from deskcheck.sandbox.confinement import Confinement
from deskcheck.tracer.limits import Level, TraceLimits


def record(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="What to record: FILE.py::FUNCTION '(ARGUMENTS)', a module or a FILE.py (their doctests), "
            "FUNCTIONS.jsonl, a published set: cruxeval[:PATH], humaneval[:PATH], mbpp[:PATH], programs that "
            "are made: generated:COUNT, family:NAME, mutations:SOURCE, inputs:FILE.py (docs/programs.md), "
            "calls that the tests of a project make: pytest:PATH, notebooks: FILE.ipynb, notebooks:FOLDER, "
            "history:FILE.ipynb (its git history), june:LOG.csv.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the recordings; one call without it is shown instead."),
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
    sandbox: Annotated[
        Confinement,
        typer.Option(help="How closely programs are confined ('trusted': your own code). Not for pytest."),
    ] = Confinement.STRICT,
    environment: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The environment (`deskcheck environments`) of programs that name none. Not for pytest.",
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
        options |= {"calls": calls, "per_function": per_function, "wall_s": suite_s}
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
        if text.lstrip().startswith("(") and asked and "::" in asked[-1][0] and asked[-1][1] is None:
            asked[-1] = (asked[-1][0], text)
        else:
            asked.append((text, None))
    return asked


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
    """Those of all sources. inputs_by: the model that is asked for inputs too."""
    from deskcheck import corpus

    with nullcontext() if inputs_by is None else _proposer(inputs_by) as propose:
        for source, arguments in asked:
            yield from corpus.programs(
                source, arguments, note=lambda text: say(f"note: {text}"), propose=propose
            )


def _proposer(model: str) -> AbstractContextManager[Callable[[str], str]]:
    from deskcheck.ask.proposals import proposer

    return proposer(model)


def _record_in_folder(programs: Iterator[Any], out: Path, options: dict[str, Any], *, as_json: bool) -> None:
    from deskcheck.sandbox.recorder import dumps, record_all

    stopped = f"interrupted: what was finished is in {out}; the same command goes on from there"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = record_all(programs, out, progress=lambda program, ending: advance(program.id), **options)
    if as_json:
        print(dumps(summary))
    else:
        _print_programs(summary, out)
    if summary.problems:
        raise typer.Exit(2)


def _print_programs(summary: Any, out: Path) -> None:
    ends = counts_text(summary.by_outcome)
    print(f"recorded {summary.recorded} programs in {out}" + (f": {ends}" if ends else ""))
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    print_list("not repeatable", summary.not_repeatable)
    print_list("our own failures", summary.problems)


def _record_in_shards(
    programs: Iterator[Any], out: Path | None, options: dict[str, Any], asked: AskedShards, *, as_json: bool
) -> None:
    from deskcheck.sandbox.recorder import RecordSettings
    from deskcheck.scale import record_job

    if out is None:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    runner = asked.runner(options.pop("workers"))
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
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        print(f"recorded {summary.recorded} programs in {out}, which holds {totals_text(summary.totals)}")
        print_job(summary)
    if summary.totals.problems:
        raise typer.Exit(2)


def _record_and_show(asked: list[tuple[str, str | None]], options: dict[str, Any], *, as_json: bool) -> None:
    from deskcheck.recording.file import Recordings
    from deskcheck.sandbox.recorder import dumps, record_all

    if len(asked) != 1 or "::" not in asked[0][0] or re.match(r"(inputs|mutations)[,:]", asked[0][0]):
        raise InputError(
            "recordings of more than one call need a folder: add --out FOLDER. "
            "(One call, FILE.py::FUNCTION '(ARGUMENTS)', is shown without it.)"
        )
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as folder:
        summary = record_all(_programs(asked), folder, **options)
        summary.files = []
        if as_json:
            print(dumps(summary))
            return
        show_trace(next(iter(Recordings(folder))))


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
    from deskcheck.notebook.capture import StateLimits
    from deskcheck.notebook.record import record_notebooks
    from deskcheck.notebook.replayer import ReplayLimits

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
    print(f"recorded {summary.recorded} notebooks in {out}: {ends or 'none'}; cells: {cells or 'none'}")
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
    from deskcheck.corpus.suite import find_suite, record_suite

    _refuse_environment(options["environment"])
    if len(sources) != 1:
        raise InputError(
            f"{sources[0]}: the tests of a project are recorded by themselves: name one pytest:PATH."
        )
    if out is None:
        raise InputError(f"{sources[0]}: recordings of a project's calls need a folder: add --out FOLDER.")
    suite = find_suite(sources[0], packages=packages, python=python)
    options = _suite_options(sources[0], options, max_events)
    stopped = f"interrupted: what was recorded is in {out}"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = record_suite(suite, out, progress=lambda what, done, of: advance(what, done, of), **options)
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        _print_suite(summary, out)


def _refuse_environment(name: str | None) -> None:
    if name is not None:
        raise InputError(
            f"--environment {name}: tests run with an interpreter that is named by its path: "
            "use --python. (Where each environment has it: deskcheck environments list.)"
        )


def _suite_options(source: str, given: dict[str, Any], max_events: int | None) -> dict[str, Any]:
    """Those that go with tests, which run as their owner runs them; events are bounded as tests' are."""
    from deskcheck.corpus.suite import LIMITS

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
        f"recorded {summary.recorded} calls of {summary.functions} functions in {out}"
        + (f": {ends}" if ends else "")
    )
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    tests = counts_text(summary.tests)
    print(f"the tests {summary.ended}: {tests}; what they wrote is in {summary.output}")
    print(f"{summary.literal} with literal arguments, {summary.alone} do the same without their test")
    print_list("not repeatable", summary.not_repeatable)
    print_list("tests that come out otherwise when they are watched", summary.otherwise)
    for what, left_out in (("calls", summary.left_out), ("functions", summary.functions_left_out)):
        if left_out:
            print(f"{what} left out: " + ", ".join(f"{n} {why}" for why, n in left_out.items()))


# -- checking --------------------------------------------------------------------------------------


def check(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    as_json: Json = False,
) -> None:
    """Check recordings against what their source says; look for addresses and ambiguous states."""
    from deskcheck.corpus.check import check as check_recordings
    from deskcheck.corpus.check import summary
    from deskcheck.recording.file import Recordings

    report = check_recordings(Recordings(folder))
    print(json.dumps(report.to_dict()) if as_json else summary(report))
    if report.wrong or report.addresses or report.ambiguous:
        raise typer.Exit(1)
