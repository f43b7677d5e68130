"""The command line: parse, call, print. Results go to standard output, everything else to standard error.

Exit status: 0 all is well, 1 a check found something, 2 a wrong call or an error of ours, 130 interrupted.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from deskcheck import __version__
from deskcheck.notation import NOTATIONS
from deskcheck.recording.errors import DeskcheckError, InputError
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
            "FUNCTIONS.jsonl, a published set: cruxeval[:PATH], humaneval[:PATH], mbpp[:PATH], the calls "
            "that the tests of a project make: pytest:PATH, or notebooks: FILE.ipynb, notebooks:FOLDER, "
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
    if out is None:
        _record_and_show(asked, options, as_json=as_json)
        return
    with _progress(as_json) as advance:

        def programs() -> Iterator[Any]:
            for source, arguments in asked:
                yield from _programs(source, arguments)

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

    if len(asked) != 1 or "::" not in asked[0][0]:
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
    max_events: Annotated[int, typer.Option("--max-events", min=10, help="Rows to show.")] = 200,
    as_json: Json = False,
) -> None:
    """Show the trace table of one recording, or list a folder."""
    from deskcheck.recording.file import Recordings

    recordings = Recordings(folder)
    if id_ is not None:
        recording = recordings[id_]
        if as_json:
            print(json.dumps(_facts(recording) | {"events": [row._asdict() for row in recording.trace.rows]}))
        else:
            _show(recording, max_events)
        return
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
