"""The command line: parse, call, print. Results go to standard output, everything else to standard error.

Exit status: 0 all is well, 1 a check found something, 2 a wrong call or an error of ours, 130 interrupted.
"""

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from deskcheck import __version__
from deskcheck.notation import NOTATIONS
from deskcheck.recording.errors import DeskcheckError, InputError, MissingExtra
from deskcheck.sandbox.confinement import Confinement
from deskcheck.tracer.limits import Level, TraceLimits

app = typer.Typer(
    name="deskcheck",
    help="Records what Python programs really do, asks language models about it, and marks the answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_messages = Console(stderr=True, highlight=False)


class Where(StrEnum):
    """Where the shards of a job are recorded."""

    LOCAL = "local"
    RAY = "ray"


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def _say(text: str) -> None:
    """One message on standard error, above a progress bar if there is one."""
    _messages.print(text, markup=False, soft_wrap=True)


def _version(value: bool) -> None:
    if value:
        print(f"deskcheck {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
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
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="For many programs: plan them all first and record them in shards of about N, each whole or "
            "absent (docs/scale.md). Not for pytest.",
        ),
    ] = None,
    on: Annotated[
        Where | None,
        typer.Option("--on", help="Where shards are recorded: in --workers processes here, or by Ray."),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="--on ray: the cluster, if not that of this machine."),
    ] = None,
    replace_shards: Annotated[
        bool,
        typer.Option(
            "--replace", help="Shards of other programs or limits in the folder go when the new are whole."
        ),
    ] = False,
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
    from deskcheck.sandbox.determinism import Determinism
    from deskcheck.sandbox.limits import Limits
    from deskcheck.sandbox.recorder import dumps, record_all

    in_shards = shards is not None or on is not None or ray_address is not None or replace_shards
    if in_shards and any(_are_notebooks(s) or s.startswith("pytest:") for s in sources):
        raise InputError("--shards, --on, --ray-address, --replace: not for notebooks and pytest.")
    if any(_are_notebooks(source) for source in sources):
        from deskcheck.notebook.replayer import ReplayLimits

        _record_notebooks(
            sources,
            out,
            {
                "limits": ReplayLimits(cell_s=cell_s, notebook_s=notebook_s),
                "confinement": sandbox,
                "order": cell_order,
                "runs": runs if repeat else 1,
                "workers": workers,
            },
            as_json=as_json,
        )
        return
    asked = _sources(sources)
    asked_limits: dict[str, Any] = {
        "only": tuple(only or ()),
        "call_depth": call_depth,
        "repetitions": max_repetitions,
    }
    options: dict[str, Any] = {
        "workers": workers,
        "repeat": repeat,
        "runs": runs,
        "fixed": Determinism(
            clock=None if clock is None else clock.replace(tzinfo=UTC).timestamp(),
            tick_s=tick_s,
            random_seed=random_seed,
            turns=turns or None,
        ),
        "limits": Limits(cpu_s=cpu_s, wall_s=max(60.0, 3 * cpu_s)),
        "trace_limits": TraceLimits(**asked_limits, events=max_events or 1_000_000),
        "level": level,
        "confinement": sandbox,
        "environment": environment,
    }
    if any(source.startswith("pytest:") for source, _ in asked):
        if options.pop("environment") is not None:
            raise InputError(
                f"--environment {environment}: tests run with an interpreter that is named by its path: "
                "use --python. (Where each environment has it: deskcheck environments list.)"
            )
        options |= {"calls": calls, "per_function": per_function, "wall_s": suite_s}
        _record_suite(
            sources, out, options, max_events, packages=package or [], python=python, as_json=as_json
        )
        return
    if in_shards and out is None:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    if out is None:
        _record_and_show(asked, options, as_json=as_json)
        return

    def programs() -> Iterator[Any]:
        for source, arguments in asked:
            yield from _programs(source, arguments)

    if in_shards:
        if ray_address is not None and on is Where.LOCAL:
            raise InputError(f"--ray-address {ray_address}: goes with --on ray.")
        on_ray = on is Where.RAY or ray_address is not None
        _record_in_shards(
            programs(),
            out,
            options,
            size=shards,
            cluster=(ray_address,) if on_ray else None,
            replace_shards=replace_shards,
            as_json=as_json,
        )
        return
    with _progress(as_json) as advance:
        try:
            summary = record_all(
                programs(), out, progress=lambda program, ending: advance(program.id), **options
            )
        except KeyboardInterrupt:
            _messages.print(
                f"interrupted: what was finished is in {out}; the same command goes on from there"
            )
            raise
    if as_json:
        print(dumps(summary))
    else:
        ends = ", ".join(f"{n} {outcome}" for outcome, n in sorted(summary.by_outcome.items()))
        print(f"recorded {summary.recorded} programs in {out}" + (f": {ends}" if ends else ""))
        if summary.skipped:
            print(f"{summary.skipped} were there already")
        _list("not repeatable", summary.not_repeatable)
        _list("our own failures", summary.problems)
    if summary.problems:
        raise typer.Exit(2)


def _record_in_shards(
    programs: Iterator[Any],
    out: Path,
    options: dict[str, Any],
    *,
    size: int | None,
    cluster: tuple[str | None] | None,
    replace_shards: bool,
    as_json: bool,
) -> None:
    """cluster: the address of Ray's, or None for this machine."""
    from deskcheck.sandbox.recorder import RecordSettings
    from deskcheck.scale import LocalPool, Progress, Runner, record_job
    from deskcheck.scale.plan import SIZE
    from deskcheck.scale.status import FAILURES

    workers = options.pop("workers")
    runner: Runner
    if cluster is None:
        runner = LocalPool(workers)
    else:
        from deskcheck.scale.ray import RayCluster

        runner = RayCluster(*cluster)
    with _progress(as_json) as advance:

        def tell(now: Progress) -> None:
            if now.planning:
                advance(f"{now.done} programs planned", now.done, 0)
                return
            left = "" if now.left_s is None else f", {_duration(now.left_s)} left"
            rate = "" if now.rate is None else f"{now.rate:.3g}/s{left}"
            failed = sum(now.by_outcome[kind] for kind in FAILURES)
            advance(rate + (f", {failed} failed" if failed else ""), now.done, now.of)

        try:
            summary = record_job(
                programs,
                out,
                runner=runner,
                settings=RecordSettings(**options),
                size=size or SIZE,
                replace=replace_shards,
                progress=tell,
            )
        except (KeyboardInterrupt, SystemExit):
            _say(f"stopped: what is whole is in {out}; the same command goes on from there")
            raise
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        print(f"recorded {summary.recorded} programs in {out}, which holds {_totals(summary.totals)}")
        if summary.skipped:
            print(f"{summary.skipped} were there already")
        for how, count in summary.tried_again.items():
            print(f"tried again: {count}, after a process {how}")
        _list("our own failures", summary.totals.problems)
    if summary.totals.problems:
        raise typer.Exit(2)


def _totals(totals: Any) -> str:
    ends = ", ".join(f"{n} {outcome}" for outcome, n in sorted(totals.by_outcome.items()))
    return (
        f"{totals.programs} programs in {totals.shards} shards, {totals.events} events, "
        f"{totals.size_bytes / 1e6:.1f} MB: {ends or 'none yet'}"
    )


def _duration(seconds: float) -> str:
    """As hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _are_notebooks(source: str) -> bool:
    return source.endswith(".ipynb") or source.startswith(("notebooks:", "history:", "june:"))


def _record_notebooks(
    sources: list[str],
    out: Path | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from deskcheck.notebook.capture import StateLimits
    from deskcheck.notebook.record import record_notebooks

    others = [source for source in sources if not _are_notebooks(source)]
    if others:
        raise InputError(f"{others[0]}: is no notebook, and those are recorded by themselves.")
    if out is None:
        raise InputError(f"{sources[0]}: recordings of notebooks need a folder: add --out FOLDER.")
    with _progress(as_json) as advance:
        try:
            summary = record_notebooks(
                sources,
                out,
                state=StateLimits(),
                progress=lambda name: advance(name),
                **options,
            )
        except KeyboardInterrupt:
            _messages.print(
                f"interrupted: what was recorded is in {out}; the same command goes on from there"
            )
            raise
    if as_json:
        print(json.dumps(summary.to_dict()))
    else:
        ends, cells = (
            ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
            for counts in (summary.by_ending, summary.cells)
        )
        print(f"recorded {summary.recorded} notebooks in {out}: {ends or 'none'}; cells: {cells or 'none'}")
        if summary.skipped:
            print(f"{summary.skipped} were there already")
        _list("not repeatable", summary.not_repeatable)
        _list("notebooks that could not be run", summary.problems)
        _list("noted", summary.notes)
    if summary.problems:
        raise typer.Exit(1)


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
    from deskcheck.corpus.suite import LIMITS, find_suite, record_suite

    if len(sources) != 1:
        raise InputError(
            f"{sources[0]}: the tests of a project are recorded by themselves: name one pytest:PATH."
        )
    if out is None:
        raise InputError(f"{sources[0]}: recordings of a project's calls need a folder: add --out FOLDER.")
    suite = find_suite(sources[0], packages=packages, python=python)
    if options.pop("level") is not Level.LINE:
        raise InputError(f"{sources[0]}: calls in tests are recorded at line level: leave --level out.")
    if options.pop("fixed").said or options.pop("runs") != 2:
        raise InputError(
            f"{sources[0]}: the tests run as their owner runs them: "
            "leave out --clock, --random-seed, --turns and --runs."
        )
    del options["confinement"]  # the tests run as their owner runs them
    asked: TraceLimits = options["trace_limits"]
    options["trace_limits"] = replace(LIMITS, events=max_events or LIMITS.events, **asked.leaving_out)
    with _progress(as_json) as advance:
        try:
            summary = record_suite(
                suite, out, progress=lambda what, done, of: advance(what, done, of), **options
            )
        except KeyboardInterrupt:
            _messages.print(f"interrupted: what was recorded is in {out}")
            raise
    if as_json:
        print(json.dumps(summary.to_dict()))
        return
    ends = ", ".join(f"{n} {outcome}" for outcome, n in sorted(summary.by_outcome.items()))
    tests = ", ".join(f"{n} {outcome}" for outcome, n in sorted(summary.tests.items()))
    print(
        f"recorded {summary.recorded} calls of {summary.functions} functions in {out}"
        + (f": {ends}" if ends else "")
    )
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    print(f"the tests {summary.ended}: {tests}; what they wrote is in {summary.output}")
    print(f"{summary.literal} with literal arguments, {summary.alone} do the same without their test")
    _list("not repeatable", summary.not_repeatable)
    _list("tests that come out otherwise when they are watched", summary.otherwise)
    for what, left_out in (("calls", summary.left_out), ("functions", summary.functions_left_out)):
        if left_out:
            print(f"{what} left out: " + ", ".join(f"{n} {why}" for why, n in left_out.items()))


def _sources(texts: list[str]) -> list[tuple[str, str | None]]:
    """Sources with their argument lists: an argument list follows the call it belongs to."""
    asked: list[tuple[str, str | None]] = []
    for text in texts:
        if text.lstrip().startswith("(") and asked and "::" in asked[-1][0] and asked[-1][1] is None:
            asked[-1] = (asked[-1][0], text)
        else:
            asked.append((text, None))
    return asked


def _programs(source: str, arguments: str | None) -> Iterator[Any]:
    from deskcheck import corpus

    yield from corpus.programs(source, arguments, note=lambda text: _say(f"note: {text}"))


def _record_and_show(asked: list[tuple[str, str | None]], options: dict[str, Any], *, as_json: bool) -> None:
    from deskcheck.recording.file import Recordings
    from deskcheck.sandbox.recorder import dumps, record_all

    if len(asked) != 1 or "::" not in asked[0][0] or re.match(r"(inputs|mutations)[,:]", asked[0][0]):
        raise InputError(
            "recordings of more than one call need a folder: add --out FOLDER. "
            "(One call, FILE.py::FUNCTION '(ARGUMENTS)', is shown without it.)"
        )
    with tempfile.TemporaryDirectory(prefix="deskcheck-") as folder:
        summary = record_all(_programs(*asked[0]), folder, **options)
        summary.files = []
        if as_json:
            print(dumps(summary))
            return
        _show(next(iter(Recordings(folder))))


def _list(what: str, found: dict[str, str]) -> None:
    if found:
        print(f"{what}: {len(found)}")
        for name, why in list(found.items())[:10]:
            print(f"  {name}: {why}")
        if len(found) > 10:
            print(f"  ... and {len(found) - 10} more")


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    """A bar on standard error while it lasts; only where someone is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda text, done=None, of=None: None
        return
    columns = (TextColumn("{task.fields[what]:<32}"), BarColumn(pulse_style="cyan"), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=_messages, transient=True) as bar:
        task = bar.add_task("record", total=None, what="")

        def advance(text: str, done: int | None = None, of: int | None = None) -> None:
            """One more is done; or so many, of so many."""
            if done is None:
                bar.update(task, advance=1, what=text[:32])
            else:
                bar.update(task, completed=done, total=of or None, what=text[:32])

        yield advance


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The recording to show; without it, all are listed.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the trace page into this HTML file."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the trace page on this machine: for very long traces.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="With --serve; 0: any.")] = 0,
    open_: Annotated[
        bool | None,
        typer.Option("--open/--terminal", help="The trace page in a browser, or a table here."),
    ] = None,
    max_events: Annotated[
        int | None, typer.Option("--max-events", min=10, help="Rows of the table; 200 if not said.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A model's run beside it: from `deskcheck step --out` (without an ID that which goes wrong "
            "after the most steps), a run folder of `deskcheck ask`, or a text file in a notation. Of a "
            "notebook the file itself: its stored outputs beside the fresh.",
        ),
    ] = None,
    notation: Annotated[
        str, typer.Option("--notation", "-n", help="--beside: that of a text file.")
    ] = "scratchpad",
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="--beside: which, where a run folder has several.")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="--beside: which, where a run folder has several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show one recording, of a program or a notebook, or list a folder.

    Where a person sits at a terminal and a browser can be opened, the trace page opens in it. Elsewhere,
    and with --terminal, --max-events or --json, it is the trace table, on standard output.
    """
    from deskcheck.recording.file import Recordings

    notebooks = _trajectories(folder)
    # A folder may hold both: then what is named decides, and the list is of programs.
    if notebooks and (id_ in notebooks or not _has_programs(folder)):
        if serve:
            raise InputError("--serve is for traces: the page of a notebook is a file, with --out.")
        _view_notebook(notebooks, folder, id_, beside, out, open_, as_json=as_json)
        return
    recordings = Recordings(folder)
    if id_ is None and beside is not None and beside.suffix == ".json":
        from deskcheck.view.beside import first_mistake

        id_ = first_mistake(beside)
    if id_ is not None:
        recording = recordings[id_]
        if beside is not None:
            if serve:
                raise InputError("--serve and --beside do not go together: the page is a file, with --out.")
            given = {"notation": notation, "model": model, "method": method}
            _view_beside(recording, beside, given, out, open_, as_json=as_json)
        elif as_json:
            print(json.dumps(_facts(recording) | {"events": [row._asdict() for row in recording.trace.rows]}))
        elif serve:
            if out is not None:
                raise InputError("--serve and --out do not go together: one serves, the other writes a file.")
            _serve_page(recording, port, open_ is True or (open_ is None and _has_browser()))
        elif out is not None:
            _write_page(recording, out, open_ is True)
        elif open_ is True or (open_ is None and max_events is None and _has_browser()):
            _open_page(recording)
        else:
            _show(recording, max_events or 200)
        return
    if out is not None or serve or open_ is not None or beside is not None:
        raise InputError(f"a page shows one recording: say which. deskcheck view {folder} lists them.")
    if as_json:
        print(json.dumps({"recordings": [_facts(recording) for recording in recordings]}))
        return
    table = Table(show_edge=False, pad_edge=False)
    for name in ("id", "outcome", "events", "result"):
        table.add_column(name, overflow="ellipsis", no_wrap=True)
    for recording in recordings:
        result = recording.ending.result or recording.ending.detail
        table.add_row(recording.id, recording.outcome.value, str(len(recording.trace)), f"{result:.60}")
    _console().print(table)


def _trajectories(folder: Path) -> dict[str, Path]:
    """Name of each notebook's trajectory in a folder, or of the file of one -> its file."""
    suffix = ".trajectory.parquet"
    if folder.is_file():
        return {folder.name.removesuffix(suffix): folder} if folder.name.endswith(suffix) else {}
    found = sorted(folder.rglob(f"*{suffix}"))
    return {str(path.relative_to(folder)).removesuffix(suffix): path for path in found}


def _has_programs(folder: Path) -> bool:
    return folder.is_dir() and any(
        not path.name.endswith(".trajectory.parquet") for path in folder.glob("*.parquet")
    )


def _view_notebook(
    notebooks: dict[str, Path],
    folder: Path,
    id_: str | None,
    beside: Path | None,
    out: Path | None,
    open_: bool | None,
    *,
    as_json: bool,
) -> None:
    """The page of a notebook's trajectory, or a list."""
    from deskcheck.notebook.file import read_trajectory
    from deskcheck.notebook.ipynb import read_notebook
    from deskcheck.view.notebook_page import (
        notebook_facts,
        notebook_page,
        trajectories_table,
        trajectory_table,
    )

    if id_ is None and (folder.is_file() or (len(notebooks) == 1 and (out is not None or open_))):
        id_ = next(iter(notebooks))
    if id_ is None:
        if out is not None or open_ is not None or beside is not None:
            raise InputError(f"a page shows one notebook: say which. deskcheck view {folder} lists them.")
        read = {name: read_trajectory(path) for name, path in notebooks.items()}
        if as_json:
            facts = [
                {"id": name, "path": t.path, "ended": t.ended.value, "steps": len(t.steps)}
                for name, t in read.items()
            ]
            print(json.dumps({"notebooks": facts}))
        else:
            _console().print(trajectories_table(read))
        return
    if id_ not in notebooks:
        raise InputError(f"{folder}: no notebook {id_!r}. There are {', '.join(list(notebooks)[:10])}.")
    trajectory = read_trajectory(notebooks[id_])
    stored = None if beside is None else read_notebook(beside)
    if out is not None:
        _write_text(out, notebook_page(trajectory, stored), open_ is True)
    if as_json:
        print(json.dumps(notebook_facts(trajectory, stored)))
    elif out is None and (open_ is True or (open_ is None and _has_browser())):
        _write_text(_kept_page(), notebook_page(trajectory, stored), True)
    elif out is None:
        _console().print(trajectory_table(trajectory, stored))


def _view_beside(
    recording: Any, path: Path, given: dict[str, Any], out: Path | None, open_: bool | None, *, as_json: bool
) -> None:
    """A model's run beside a recording: as a page, or where they part, here."""
    from deskcheck.view.beside import beside, beside_page, beside_table, read_told

    found = beside(recording, read_told(path, recording, **given))
    if out is not None:
        _write_text(out, beside_page(found), open_ is True)
    if as_json:
        print(json.dumps(found.facts))
    elif out is None and (open_ is True or (open_ is None and _has_browser())):
        _write_text(_kept_page(), beside_page(found), True)
    elif out is None:
        _console().print(beside_table(found))


def _has_browser() -> bool:
    """Whether someone sits at a terminal from which a browser with windows can be opened."""
    import webbrowser

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if sys.platform == "linux" and not any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY")):
        return False  # what would be found is a browser for the terminal
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def _open_in_browser(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        _say(f"no browser could be opened. The page is at {url}")


def _write_page(recording: Any, out: Path, opened: bool) -> None:
    from deskcheck.view.trace_page import LARGE_EVENTS, write_trace_page

    size = write_trace_page(recording, out)
    print(f"{out}: {size / 1e6:.1f} MB")
    events = sum(len(trace) for trace in recording.traces)
    if events > LARGE_EVENTS:
        _say(f"{events:,} events are a lot for one file; --serve gives the page only what it shows.")
    if opened:
        _open_in_browser(out.resolve().as_uri())


def _open_page(recording: Any) -> None:
    from deskcheck.view.trace_page import LARGE_EVENTS

    if sum(len(trace) for trace in recording.traces) > LARGE_EVENTS:
        _serve_page(recording, 0, True)
        return
    _write_page(recording, _kept_page(), True)


def _serve_page(recording: Any, port: int, opened: bool) -> None:
    from deskcheck.view.trace_page import TraceServer

    events = sum(len(trace) for trace in recording.traces)
    if events > 100_000:
        _say(f"reading {events:,} events ...")
    with TraceServer(recording, port=port) as server:
        print(server.url, flush=True)
        _say("Ctrl-C ends it.")
        if opened:
            _open_in_browser(server.url)
        try:
            server.serve()
        except KeyboardInterrupt:
            _say("no longer served")


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The recording; may be left out of one.")
    ] = None,
    notation: Annotated[
        str, typer.Option("--notation", "-n", help=f"One of {', '.join(NOTATIONS)}.")
    ] = "compact",
    as_json: Json = False,
) -> None:
    """Write the trace of one recording as text, in a notation that models are taught and asked in."""
    from deskcheck.recording.file import Recordings

    if notation not in NOTATIONS:
        raise InputError(f"there is no notation {notation!r}. Known are {', '.join(NOTATIONS)}.")
    recordings = Recordings(folder)
    if id_ is None and len(recordings) != 1:
        raise InputError(
            f"{folder} holds {len(recordings)} recordings: say which. deskcheck view {folder} lists them."
        )
    recording = recordings[id_] if id_ is not None else next(iter(recordings))
    text = NOTATIONS[notation].render(recording)
    print(json.dumps({"id": recording.id, "notation": notation, "text": text}) if as_json else text)


@app.command()
def lessons(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the lessons.")],
    notation: Annotated[
        str, typer.Option("--notation", "-n", help=f"Which, with commas: {', '.join(NOTATIONS)}.")
    ] = "dynamic",
    jump: Annotated[
        str,
        typer.Option("--jump", help="How many events a step leads on, with commas: one is drawn for each."),
    ] = "1",
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", help="bytes, or a Hugging Face tokenizer: its name or folder.")
    ] = "bytes",
    ids: Annotated[bool, typer.Option(help="Write the tokens and labels too, not the text alone.")] = True,
    budget: Annotated[
        int, typer.Option(min=2, help="Tokens of a whole lesson; longer ones are left out and counted.")
    ] = 8_000,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Steps drawn of one program, from all its runs; without it, all are taken."),
    ] = None,
    validation: Annotated[float, typer.Option(min=0, max=1, help="Share of the programs.")] = 0.05,
    test: Annotated[float, typer.Option(min=0, max=1, help="Share of the programs.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    any_licence: Annotated[
        bool,
        typer.Option(
            "--any-licence", help="Take also recordings that are not cleared for training (train_ok)."
        ),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="Leave out programs of this set, and near copies: cruxeval:PATH, or any other source that "
            "`deskcheck record` takes. May be given again.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write recordings out as lessons: Parquet rows with prompt, completion, tokens and labels."""
    from deskcheck.teach.lessons import LessonSettings, build

    settings = LessonSettings(
        notations=_words(notation),
        jumps=_numbers("--jump", jump),
        tokenizer=tokenizer,
        ids=ids,
        budget=budget,
        steps=steps,
        validation=validation,
        test=test,
        seed=seed,
        any_licence=any_licence,
        without=tuple(without or ()),
    )
    with _progress(as_json) as advance:
        try:
            summary = build(
                runs, out, settings, progress=lambda done, of: advance("recordings", done, of), note=_say
            )
        except KeyboardInterrupt:
            _say(f"interrupted: the shards that are whole are in {out}; the same command goes on from there")
            raise
    if as_json:
        print(json.dumps(summary.to_dict()))
        return
    _show_lessons(out, summary)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in _words(text))
    except ValueError:
        raise InputError(f"{option} {text!r}: give numbers with commas between, as 1,2,4.") from None


def _show_lessons(out: Path, summary: Any) -> None:
    print(
        f"{summary.lessons} lessons in {out}, of {summary.programs} programs "
        f"({summary.recordings} recordings, {summary.events} events)"
    )
    table = Table(show_edge=False, pad_edge=False)
    for name in ("split", "notation", "lessons", "tokens", "trained tokens"):
        table.add_column(name, justify="left" if name in ("split", "notation") else "right")
    for split, notations in sorted(summary.kept.items()):
        for notation, counts in sorted(notations.items()):
            numbers = (counts["lessons"], counts["tokens"], counts["trained_tokens"])
            table.add_row(split, notation, *(f"{number:,}" for number in numbers))
    _console().print(table)
    for what, reasons in sorted(summary.left_out.items()):
        found = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        print(f"left out, {what}: {found}")


def _facts(recording: Any) -> dict[str, Any]:
    ending = recording.ending
    return {
        "id": recording.id,
        "outcome": ending.outcome.value,
        "detail": ending.detail,
        "result": ending.result,
        "n_events": sum(len(trace) for trace in recording.traces),
        "repeatable": recording.repeatable,
        "difference": recording.difference,
        "cut": ending.cut,
    }


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else 130, highlight=False)


def _show(recording: Any, max_events: int = 200) -> None:
    from deskcheck.view import trace_table

    _console().print(trace_table(recording, max_events=max_events))


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(help="Of a job: what `record --shards` was given as --out.")],
    failed: Annotated[
        bool, typer.Option("--failures", help="Name programs that failed, by kind: reads the shards.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every file with the manifest: reads every byte.")
    ] = False,
    as_json: Json = False,
) -> None:
    """How far a job is: read from its folder, whether the job runs or not.

    Exit status: 0 all is well, 1 --verify found files that were changed."""
    from deskcheck.scale.status import changed, failures
    from deskcheck.scale.status import status as read_status

    found = read_status(folder)
    by_kind = failures(folder) if failed else {}
    wrong = changed(folder) if verify else []
    if as_json:
        told = found.to_dict()
        told |= {"failures": by_kind} if failed else {}
        told |= {"changed": wrong} if verify else {}
        print(json.dumps(told))
    else:
        planned = f"{found.programs} programs in {found.shards} shards are planned"
        print(f"{folder}: {planned}; whole are {_totals(found.totals)}")
        if found.inside:
            print(f"{found.inside} more are finished in shards that are not")
        if found.driver is not None:
            rate = "" if found.rate is None else f": {found.rate:.3g} programs/s"
            left = "" if found.left_s is None else f", {_duration(found.left_s)} left"
            print(f"driven by {found.driver}{rate}{left}")
        elif not found.whole:
            print("nobody drives it: start its command again")
        for kind, programs in by_kind.items():
            _list(kind, programs)
        if verify:
            print("every file is as the manifest says" if not wrong else f"changed: {', '.join(wrong)}")
    if wrong:
        raise typer.Exit(1)


@app.command()
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


@app.command()
def ask(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of recordings.")],
    question: Annotated[
        list[str],
        typer.Option(
            "--question",
            "-q",
            help="output, input, next_line, state, path; about notebooks: cell_output, next_cell.",
        ),
    ],
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            help="As Inspect AI names it; deskcheck/oracle and deskcheck/guess are built in, for notebooks "
            "also deskcheck/copy and deskcheck/empty.",
        ),
    ],
    state: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            help="Notebooks: what is shown of the kernel's variables: none, names, used, changed, full. With "
            "none among them the effect of the others is told.",
        ),
    ] = None,
    history_tokens: Annotated[
        int, typer.Option("--history-tokens", min=0, help="Notebooks: estimated tokens for the cells before.")
    ] = 4000,
    state_tokens: Annotated[
        int, typer.Option("--state-tokens", min=0, help="Notebooks: estimated tokens for the variables.")
    ] = 2000,
    unchecked: Annotated[
        bool,
        typer.Option(
            "--unchecked", help="Notebooks: ask for outputs too of which it is not known whether they repeat."
        ),
    ] = False,
    run_cells: Annotated[
        bool,
        typer.Option(
            "--run-cells", help="Notebooks: mark next cells by running them too, in forks of the state."
        ),
    ] = False,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            help="How the model answers: direct, chain_of_thought, or from a run that it predicts: "
            "scratchpad, compact, dynamic_scratchpad. Of several, the same samples are asked; all are "
            "compared with the first.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(help="Explain the notation in prompts for runs. Without: prompts as in lessons."),
    ] = True,
    max_steps: Annotated[
        int, typer.Option("--max-steps", min=1, help="dynamic_scratchpad: states asked for at most in a run.")
    ] = 2000,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Tokens of a completion, at most.")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, help="0: the likeliest token each time. Without: the provider's own."),
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option(
            "-M", metavar="NAME=VALUE", help="An argument of the models' provider, as Inspect has them."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the answers and logs.")] = None,
    per_recording: Annotated[
        int | None, typer.Option("--per-recording", min=1, help="Samples of each kind from one recording.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Samples of each kind in all.")] = None,
    seed: Annotated[int, typer.Option(help="Which samples are drawn.")] = 0,
    max_connections: Annotated[int | None, typer.Option("--max-connections", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Put questions about recordings to models and mark the answers."""
    from deskcheck.ask.effects import effects
    from deskcheck.ask.notebooks import NotebookOptions
    from deskcheck.ask.run import ask as ask_models

    results = ask_models(
        list(folders),
        [name for text in question for name in text.split(",")],
        [name for text in model for name in text.split(",")],
        out=out,
        seed=seed,
        per_recording=per_recording,
        limit=limit,
        notebooks=NotebookOptions(
            state=tuple(name for text in state or ["none"] for name in text.split(",")),
            history_tokens=history_tokens,
            state_tokens=state_tokens,
            unchecked=unchecked,
            run_cells=run_cells,
        ),
        methods=[name for text in method or ["direct"] for name in text.split(",")],
        explain=explain,
        max_steps=max_steps,
        max_tokens=max_tokens,
        temperature=temperature,
        model_args=_named(model_arg or []),
        max_connections=max_connections,
    )
    if as_json:
        print(
            json.dumps(
                {
                    "results": [result.to_dict() for result in results],
                    "effects": [effect.to_dict() for effect in effects(results)],
                }
            )
        )
        return
    console = _console()
    of_programs = [result for result in results if not result.state]
    if of_programs:
        _print_scores(console, of_programs)
        _print_methods(console, of_programs)
    for name in dict.fromkeys(result.question for result in results if result.state):
        _print_notebook_scores(console, [r for r in results if r.question == name])
    for name, excluded in {r.question: r.excluded for r in results}.items():
        if excluded:
            why = ", ".join(f"{n} {reason}" for reason, n in excluded.items())
            console.print(f"not asked for {name}: {why}")
    for place in sorted({r.folder for r in results}):
        console.print(f"answers and logs: {place}")


def _print_notebook_scores(console: Console, results: list[Any]) -> None:
    """The metrics of a question about notebooks by model and view of the state, then what the views do."""
    from deskcheck.ask.effects import effects

    question = results[0].question
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    results = sorted(results, key=lambda result: [r.model for r in results].index(result.model))
    table = Table(show_edge=False, pad_edge=False, title=question, title_justify="left", title_style="bold")
    table.add_column("model", overflow="fold")
    table.add_column("state", no_wrap=True)
    for name in ("n", "notebooks", *metrics):
        table.add_column(name, justify="right", no_wrap=True)
    for r in results:
        shown = [_with_interval(r.metrics.get(name), r.n) for name in metrics]
        table.add_row(r.model, r.state, str(r.n), str(r.programs), *shown)
    console.print(table)
    unreadable = [f"{r.unreadable} {r.model} {r.state}" for r in results if r.unreadable]
    if unreadable:
        console.print(f"{question}: answers that cannot be read, and count as wrong: {', '.join(unreadable)}")
    found = effects(results)
    changed = [e for e in found if e.better or e.worse]
    alike = dict.fromkeys((e.model, e.state) for e in found)
    for e in changed:
        alike.pop((e.model, e.state), None)
    if changed:
        table = Table(
            *("model", "state", "metric"),
            show_edge=False,
            pad_edge=False,
            title=f"{question}: with the state minus none, the same samples",
            title_justify="left",
            title_style="bold",
        )
        for name in ("difference", "95 % interval", "better", "worse", "p by notebook", "p McNemar"):
            table.add_column(name, justify="right")
        for e in changed:
            table.add_row(
                *(e.model, e.state, e.metric),
                f"{e.difference:+.3f}",
                f"{e.low:+.3f} to {e.high:+.3f}",
                *(str(e.better), str(e.worse)),
                f"{e.sign_flip:.2g}",
                "-" if e.mcnemar is None else f"{e.mcnemar:.2g}",
            )
        console.print(table)
    if alike:
        said = ", ".join(f"{model} {state}" for model, state in alike)
        console.print(f"{question}: with the state every sample scores as with none: {said}")
    why_not = Counter(
        row.ran
        for row in {row.id: row for r in results for row in r.samples}.values()
        if row.by_running is None
    )
    why_not.pop("", None)
    if why_not:
        said = ", ".join(f"{n} {why}" for why, n in why_not.most_common(5))
        console.print(f"{question}: not marked by running: {said}")


def _named(texts: list[str]) -> dict[str, Any]:
    """NAME=VALUE texts; values that are JSON are read as such."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"-M {text}: give NAME=VALUE.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _print_methods(console: Console, results: list[Any]) -> None:
    """What methods do to a score, and how the runs that were predicted went."""
    from deskcheck.ask.effects import effects

    found = effects(results)
    if found:
        table = _of_methods("the same samples by another method")
        table.add_column("minus", no_wrap=True)
        for name in ("difference", "95 % interval", "better", "worse", "p by program"):
            table.add_column(name, justify="right")
        for e in found:
            table.add_row(
                *(e.question, e.model, e.solver, e.against),
                f"{e.difference:+.3f}",
                f"{e.low:+.3f} to {e.high:+.3f}",
                *(str(e.better), str(e.worse)),
                f"{e.sign_flip:.2g}",
            )
        console.print(table)
    stepped = [((r.question, r.model, r.solver), r.steps) for r in results if r.steps is not None]
    if stepped:
        _print_steps(console, ("question", "model", "method"), stepped)


def _print_steps(console: Console, names: Sequence[str], found: Sequence[tuple[Sequence[str], Any]]) -> None:
    """One row for the `Steps` of each."""
    table = Table(
        *names,
        show_edge=False,
        pad_edge=False,
        title="steps of the runs that were predicted, up to where each first goes wrong",
        title_justify="left",
        title_style="bold",
    )
    for name in ("runs", "right", "steps", "state", "next line", "values", "longest", "half after"):
        table.add_column(name, justify="right")
    table.add_column("first wrong")
    for named, s in found:
        shares = ["-" if i is None else f"{i.value:.4f}" for i in (s.exact, s.places, s.values)]
        first = "\n".join(f"{n} {kind}" for kind, n in s.divergences.items())
        row = (*named, str(s.runs), str(s.whole), str(s.judged), *shares)
        table.add_row(*row, str(s.longest), _half_after(s.horizon), first)
    console.print(table)


def _of_methods(title: str) -> Table:
    table = Table(show_edge=False, pad_edge=False, title=title, title_justify="left", title_style="bold")
    table.add_column("question")
    table.add_column("model", overflow="fold")
    table.add_column("method", no_wrap=True)
    return table


def _half_after(horizon: Any) -> str:
    """The half-success horizon with its interval, in steps."""
    if horizon is None:
        return "-"
    value, low, high = ("oo" if h is None else f"{h:.0f}" for h in (horizon.value, horizon.low, horizon.high))
    return f"{value} ({low}-{high})"


def _with_interval(found: Any, n: int) -> str:
    if found is None:
        return "-"
    of = f" n={found.n}" if found.n != n else ""
    return f"{found.value:.3f} ({found.low:.2f}-{found.high:.2f}){of}"


def _print_scores(console: Console, results: list[Any]) -> None:
    table = Table(show_edge=False, pad_edge=False)
    for name in ("question", "model", "solver", "n", "programs", "score", "95 % interval", "unreadable"):
        table.add_column(
            name, justify="right" if name in ("n", "programs", "score", "unreadable") else "left"
        )
    for r in results:
        score = "-" if r.score is None else f"{r.score:.3f}"
        interval = "-" if r.low is None or r.high is None else f"{r.low:.3f} to {r.high:.3f}"
        row = (r.question, r.model, r.solver, str(r.n), str(r.programs), score, interval, str(r.unreadable))
        table.add_row(*row)
    console.print(table)


@app.command()
def report(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOGS...", help="Run folders of `deskcheck ask`, logs of Inspect's, or folders of them."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Write the report as a page.")] = None,
    open_: Annotated[
        bool | None, typer.Option("--open/--terminal", help="The page in a browser, or tables here.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="FORMAT", help="Print the tables as markdown, latex or csv."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=IN,OUT",
            help="US dollars for a million tokens, read and written. May be given again.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """What one or several models' answers come to: scores, differences, failures, cost; a page or tables.

    Where a person sits at a terminal and a browser can be opened, the page opens in it."""
    from deskcheck.ask.logs import read_logs
    from deskcheck.view.report import report_of, report_page

    if table not in (None, "markdown", "latex", "csv"):
        raise InputError(f"--table {table}: the formats are markdown, latex and csv.")
    found = report_of(read_logs(logs), _prices(price or []))
    if out is not None:
        _write_text(out, report_page(found), open_ is True)
    if as_json:
        print(json.dumps(found.facts))
    elif table is not None:
        print("\n".join(f"{sheet.title}\n\n{getattr(sheet, table)()}" for sheet in found.sheets), end="")
    elif out is None and (open_ is True or (open_ is None and _has_browser())):
        _write_text(_kept_page(), report_page(found), True)
    elif out is None:
        _print_sheets(found)


def _prices(texts: list[str]) -> dict[str, tuple[float, float]]:
    found = {}
    for text in texts:
        model, _, pair = text.rpartition("=")
        read, _, written = pair.partition(",")
        try:
            found[model] = (float(read), float(written))
        except ValueError:
            raise InputError(
                f"--price {text}: give MODEL=IN,OUT, as openai/gpt-4o-mini=0.15,0.60: dollars for a million "
                "tokens read, and written."
            ) from None
    return found


def _print_sheets(found: Any) -> None:
    from deskcheck.view._page import visible

    console = _console()
    for sheet in found.sheets:
        table = Table(
            show_edge=False, pad_edge=False, title=sheet.title, title_justify="left", title_style="bold"
        )
        for column in sheet.columns:
            table.add_column(column.name, justify="right" if column.number else "left", overflow="fold")
        for row in sheet.shown():
            table.add_row(*(escape(visible(text)) for text in row))
        console.print(table)
    for note in found.facts["notes"]:
        console.print(note, markup=False)


def _write_text(out: Path, text: str, opened: bool) -> None:
    """A page into a file, and into a browser."""
    from deskcheck.view._page import write_page

    size = write_page([text], out)
    print(f"{out}: {size / 1e6:.1f} MB")
    if opened:
        _open_in_browser(out.resolve().as_uri())


def _kept_page() -> Path:
    """A file for a page that is opened. It stays: the browser reads it after this command has ended."""
    with tempfile.NamedTemporaryFile(prefix="deskcheck-", suffix=".html", delete=False) as file:
        return Path(file.name)


@app.command()
def teach(
    lessons: Annotated[Path, typer.Argument(metavar="LESSONS", help="A folder that `lessons` made.")],
    out: Annotated[
        Path,
        typer.Option("--out", help="Folder for the model, its curve and what to go on from after an end."),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A Hugging Face model to train further: a folder, or a name on the hub. Without: a small "
            "model from nothing.",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Updates; with --model, without it as many as --epochs takes.")
    ] = None,
    epochs: Annotated[float, typer.Option(help="--model: passes over the lessons.")] = 1.0,
    rows: Annotated[int | None, typer.Option(min=1, help="Lessons of an update.")] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, help="--model: lessons computed at a time, on each device.")
    ] = 8,
    each: Annotated[
        int | None,
        typer.Option(min=1, help="From nothing: lessons of an update that may share a program (16)."),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option(
            min=0, help="From nothing: words of the lessons that become a token each (768); 0: bytes alone."
        ),
    ] = None,
    edits: Annotated[
        bool | None,
        typer.Option(
            "--edits/--states",
            help="From nothing: whether the answer to a step is an edit of the state before (it is) "
            "or as a whole state.",
        ),
    ] = None,
    layers: Annotated[int | None, typer.Option(min=1, help="From nothing: layers (5).")] = None,
    width: Annotated[
        int | None, typer.Option(min=8, help="From nothing: width of the model (192), a multiple of 8.")
    ] = None,
    behind: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="From nothing: tokens before each that the first layer knows (3); 0: the model is a Llama, "
            "which others can run.",
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="The highest learning rate.")] = None,
    lora: Annotated[int, typer.Option(min=0, help="--model: train adapters of this rank alone (LoRA).")] = 0,
    check: Annotated[
        int, typer.Option(min=1, help="Steps between two checks, at which the run is saved.")
    ] = 200,
    precision: Annotated[
        str | None, typer.Option(help="bf16 or fp32; with --model also auto, bf16 where a GPU has it.")
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where a model from nothing is trained: cpu, cuda, cuda:1.")
    ] = "cpu",
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
) -> None:
    """Train a model on lessons. A run that was ended goes on when the same command is given again."""
    given: dict[str, Any] = {"steps": steps, "rows": rows, "rate": rate, "precision": precision}
    given = {name: value for name, value in given.items() if value is not None}
    given |= {"check": check, "seed": seed}
    alone = {"each": each, "words": words, "edits": edits, "layers": layers, "width": width, "behind": behind}
    alone = {name: value for name, value in alone.items() if value is not None}
    try:
        if model is not None:
            if alone:
                raise InputError(f"--{', --'.join(alone)}: for a model from nothing, without --model.")
            from deskcheck.teach.sft import Tuning, tune

            tuning = Tuning(epochs=epochs, at_once=at_once, lora=lora, **given)
            tune(lessons, model, out, tuning=tuning, note=_tell_step)
        else:
            _teach_from_nothing(lessons, out, given | alone, device)
    except KeyboardInterrupt:
        _messages.print(f"interrupted: the same command goes on from what was last saved in {out}")
        raise
    print(f"trained: {out}")


def _teach_from_nothing(lessons: Path, out: Path, given: dict[str, Any], device: str) -> None:
    try:
        from deskcheck.teach.model import Shape
        from deskcheck.teach.training import Training
        from deskcheck.teach.training import teach as train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    sizes = {name: given.pop(name) for name in ("layers", "width", "behind") if name in given}
    shape = Shape.of(**sizes)
    train(lessons, out, shape=shape, training=Training(**given), device=device, note=_tell_step)


def _tell_step(row: dict[str, Any]) -> None:
    """A line of a training's curve, on standard error."""
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
    _say("  ".join(f"{name} {value}" for name, value in shown.items()))


@app.command()
def step(
    runs: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One of them, shown state by state; without it, all.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Folder of a model that `teach` made, or `nano`, our own.")
    ] = "nano",
    budget: Annotated[int, typer.Option(min=1, help="Steps of a program at most.")] = 1000,
    rows: Annotated[int, typer.Option(min=1, help="Programs that are stepped at once.")] = 64,
    jump: Annotated[
        str,
        typer.Option("--jump", help="How many events a step may lead on, with commas: the model chooses."),
    ] = "1",
    each: Annotated[
        int | None,
        typer.Option(min=1, help="Also ask for so many steps of every recording from its true states."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the runs into this JSON file: for `deskcheck view --beside`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run recorded programs in a model, state by state, and show where it first goes wrong."""
    from deskcheck.recording.file import Recordings

    if out is not None and out.suffix != ".json":
        raise InputError(f"{out}: the runs are written as JSON: name a file that ends in .json.")

    recordings = Recordings(runs)
    chosen = [recordings[id_]] if id_ is not None else [r for r in recordings if len(r.trace)]
    if not chosen:
        raise InputError(f"{runs}: has no recording with events to step through.")
    try:
        from deskcheck.teach.checkpoints import open_checkpoint
        from deskcheck.teach.evaluation import report as evaluated
        from deskcheck.teach.evaluation import run_all
    except ImportError as error:
        raise MissingExtra(str(error.name), "nano", "Stepping a model") from error
    checkpoint = open_checkpoint(model)
    jumps = _numbers("--jump", jump)
    done = 0
    with _progress(as_json) as progress:

        def note(steps: int) -> None:
            nonlocal done
            done += steps
            progress(model, done, len(chosen) * budget)

        stepped = list(run_all(checkpoint, chosen, rows=rows, budget=budget, jumps=jumps, note=note))
    found = evaluated(checkpoint, stepped, each=each, rows=rows)
    runs_told = [{"id": s.recording.id, **s.run.to_dict(), **asdict(s.agreement)} for s in stepped]
    told = {"model": model, "steps": found.steps.to_dict(), "each": found.each and asdict(found.each)}
    if out is not None:
        _write(out, json.dumps({**told, "runs": runs_told}) + "\n")
    if as_json:
        print(json.dumps({**told, "runs": runs_told}))
        return
    if id_ is not None:
        _print_run(stepped[0])
    _print_steps(_console(), ("model",), [((model,), found.steps)])
    if found.each is not None:
        s = found.each
        print(f"each step from its true state: {s.value:.4f} ({s.low:.4f}-{s.high:.4f})")


def _print_run(one: Any) -> None:
    """The steps of a run up to the first that is wrong, that one beside the truth."""
    from itertools import islice

    from deskcheck.notation import state_text
    from deskcheck.teach.stepper import reached, true_states

    told, exact = one.run.states, one.agreement.exact
    for number, text in enumerate(told[: exact + 1]):
        print(f"{number:6} {text.splitlines()[-1]}")
    if one.agreement.first is None:
        print(f"right to the end, {exact} steps")
        return
    print(f"\nfirst wrong: step {exact + 1}, {one.agreement.first.value}")
    if len(told) > exact + 1:
        print("model:\n" + "\n".join([f"    {line}" for line in told[exact + 1].splitlines()]))
    elif one.run.why:
        print(f"model: {one.run.why}")
    jumps = (*one.run.jumps, *[1] * (exact + 1))
    for moment in islice(reached(true_states(one.recording), jumps), exact, exact + 1):
        print("true:\n" + "\n".join([f"    {line}" for line in state_text(moment).splitlines()]))


_notebooks = typer.Typer(no_args_is_help=True, help="Notebooks and the outputs that are stored in them.")
app.add_typer(_notebooks, name="notebooks")


@_notebooks.command("check")
def check_notebooks(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Notebook files, and folders of them.")
    ],
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; '-' prints it.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page for a browser.")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="STATUS,...",
            help="Exit with 1 if a notebook or cell has one of these; 'none': never.",
        ),
    ] = "different,not_repeatable,failed,timed_out,unreadable,no_kernel",
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NORMALISER", help="Leave this rule out; 'all': compare as it is."),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, help="Fresh runs of a notebook that gives something else than is stored.")
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the runs here as trajectories; the same command goes on from there."),
    ] = None,
    details: Annotated[
        bool | None,
        typer.Option(
            help="Show every cell that is not the same, with what differs.", show_default="one notebook"
        ),
    ] = None,
    cell_s: Annotated[float, typer.Option("--cell-s", min=0.1, help="Seconds that a cell may take.")] = 60.0,
    notebook_s: Annotated[
        float, typer.Option("--notebook-s", min=0.1, help="Seconds that all cells of a notebook may take.")
    ] = 600.0,
    cell_order: Annotated[
        str, typer.Option("--cell-order", help="From the 'top' down, or by execution 'count'.")
    ] = "top",
    workers: Annotated[int, typer.Option(min=1, help="Notebooks that run at once.")] = os.cpu_count() or 1,
    sandbox: Annotated[
        Confinement, typer.Option(help="How closely notebooks are confined ('trusted': your own).")
    ] = Confinement.STRICT,
) -> None:
    """Run notebooks again and compare with the outputs stored in them.

    Exit status: 0 all reproduce, 1 some do not, 2 a wrong call or an error of ours."""
    from deskcheck.notebook.check import CellStatus, NotebookStatus
    from deskcheck.notebook.check import check_notebooks as run_check
    from deskcheck.notebook.replayer import ReplayLimits
    from deskcheck.view import notebooks_page, notebooks_table

    known = [*dict.fromkeys([*(s.value for s in NotebookStatus), *(s.value for s in CellStatus)])]
    failing = {name.strip() for name in fail_on.split(",") if name.strip() != "none"}
    if not failing <= {*known}:
        raise InputError(
            f"--fail-on {', '.join(sorted(failing - {*known}))}: known are {', '.join(known)}, and none."
        )
    for file in (json_file, html_file):
        if file is not None and str(file) != "-" and not file.parent.is_dir():
            raise InputError(f"{file}: there is no folder {file.parent}.")
    with _progress(quiet=False) as advance:
        try:
            report = run_check(
                paths,
                out=out,
                limits=ReplayLimits(cell_s=cell_s, notebook_s=notebook_s),
                confinement=sandbox,
                order=cell_order,
                runs=runs,
                normalisers=_normalisers(without or []),
                workers=workers,
                progress=lambda name: advance(name),
            )
        except KeyboardInterrupt:
            if out is not None:
                _say(f"interrupted: the runs are in {out}; the same command goes on from there")
            raise
    if html_file is not None:
        _write(html_file, notebooks_page(report))
    if json_file is not None and str(json_file) != "-":
        _write(json_file, json.dumps(report.to_dict(), indent=1) + "\n")
    if str(json_file) == "-":
        print(json.dumps(report.to_dict()))
    else:
        shown = details if details is not None else len(report.notebooks) == 1
        _console().print(notebooks_table(report, details=shown))
    if failing & report.statuses():
        raise typer.Exit(1)


def _normalisers(without: list[str]) -> Any:
    from deskcheck.notebook.normalise import NORMALISERS

    names = [each.name for each in NORMALISERS]
    unknown = [name for name in without if name not in (*names, "all")]
    if unknown:
        raise InputError(f"--without {unknown[0]!r}: the normalisers are {', '.join(names)}; or all.")
    return [each for each in NORMALISERS if each.name not in without and "all" not in without]


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}.") from error


_environments = typer.Typer(
    no_args_is_help=True, help="Named sets of pinned packages that programs run with."
)
app.add_typer(_environments, name="environments")


@_environments.command("build")
def build_environments(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What is to be in each: a TOML file (name, python, packages, modules), or a requirements "
            "file, whose stem is the name. Every package is pinned.",
        ),
    ],
    wheels: Annotated[
        Path | None, typer.Option(help="A folder of wheels to install from, without a package index.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Install environments with venv and pip, once; what is built already is found."""
    from deskcheck.sandbox.environments import EnvironmentSpec, build

    specs = [EnvironmentSpec.read(file) for file in files]
    _show_environments([build(spec, wheels=wheels, note=_say) for spec in specs], as_json)


@_environments.command("list")
def list_environments(as_json: Json = False) -> None:
    """The environments that are built."""
    from deskcheck.sandbox.environments import environments

    _show_environments(environments(), as_json)


@_environments.command("freeze")
def freeze_environment(name: Annotated[str, typer.Argument(help="An environment that is built.")]) -> None:
    """All that is installed in an environment, as pins: a requirements file that leaves nothing open."""
    from deskcheck.sandbox.environments import find

    print(find(name).freeze(), end="")


@_environments.command("remove")
def remove_environments(names: Annotated[list[str], typer.Argument(metavar="NAME...")]) -> None:
    """Remove environments. Recordings that were made with them keep their names and digests."""
    from deskcheck.sandbox.environments import remove

    for name in names:
        remove(name)


def _show_environments(built: list[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"environments": [environment.to_dict() for environment in built]}))
        return
    table = Table(show_edge=False, pad_edge=False)
    for title in ("name", "Python", "packages", "installed", "interpreter"):
        table.add_column(title, overflow="fold")
    for environment in built:
        row = (environment.name, environment.python_version, " ".join(environment.packages))
        table.add_row(*row, str(len(environment.installed)), environment.python)
    _console().print(table)


@app.command("list")
def list_names(
    sort: Annotated[
        str | None,
        typer.Argument(metavar="[SORT]", help="questions, suites, notations, methods, models or sources."),
    ] = None,
    as_json: Json = False,
) -> None:
    """What can be named: question kinds, suites, notations, methods, models, sources of programs."""
    from deskcheck.view.catalogue import catalogue, catalogue_table

    found = catalogue()
    if sort is not None:
        if sort not in found:
            raise InputError(f"there is no list of {sort!r}. There are {', '.join(found)}.")
        found = {sort: found[sort]}
    if as_json:
        print(json.dumps({name: dict(names) for name, names in found.items()}))
    else:
        _console().print(catalogue_table(found))


@app.command()
def doctor(as_json: Json = False) -> None:
    """What this kernel gives to confine programs with, what is missing, and what that means."""
    from deskcheck.sandbox.layers import layers, refusals

    found, why_not = layers(), refusals()
    if as_json:
        print(json.dumps({"layers": [asdict(layer) for layer in found], "levels": why_not}))
    else:
        table = Table(show_edge=False, pad_edge=False)
        for name in ("layer", "here", "found", "used by", "without it"):
            table.add_column(name)
        for layer in found:
            row = (layer.name, "yes" if layer.there else "no", layer.found, ", ".join(layer.levels))
            table.add_row(*row, "" if layer.there else layer.missing)
        console = _console()
        console.print(table)
        for level, refusal in why_not.items():
            console.print(f"{level.value}: {refusal or 'can be had'}", markup=False)
    if why_not[Confinement.STRICT]:
        raise typer.Exit(1)


def main() -> None:
    """The console script. Turns our errors into one line on standard error and exit status 2."""
    try:
        app()
    except DeskcheckError as error:
        print(f"deskcheck: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("deskcheck: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
