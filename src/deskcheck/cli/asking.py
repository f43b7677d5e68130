"""The commands `ask` and `report`."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from deskcheck.ask.inspect.settings import Prices
from deskcheck.ask.results.statistics import bounds_text, few_clusters, interval_text
from deskcheck.ask.settings import AskSettings
from deskcheck.cli.common.commands import KINDS
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, messages, progress_reports, say
from deskcheck.cli.common.tables import (
    print_attempts,
    print_by_execution,
    print_steps,
    print_table,
    with_interval,
)
from deskcheck.errors import InputError
from deskcheck.settings import Setting
from deskcheck.terminal import Console, console_out, has_browser, kept_page, open_in_browser

Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="FOLDER...",
        help="Folders of recordings; or benchmarks, NAME or NAME:PATH, and files of programs of your own.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--question",
        "-q",
        help=f"{KINDS}; all: each of these; about notebooks: cell_output, next_cell, crash. A benchmark has "
        "its own.",
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        help="A model, as Inspect AI names it. deskcheck/oracle and deskcheck/guess are built in, for "
        "notebooks also deskcheck/copy and deskcheck/empty.",
    ),
]
READINGS = ("cut", "empty", "refused", "unreadable")
"""Columns for completions without an answer, which are shown only if there are any."""
_DIFFERENCE = ("difference", "95 % interval", "better", "worse")
"""Columns for the difference of two scores on the same samples."""


@with_options
def ask(
    folders: Folders,
    *,
    question: Kinds = None,
    model: Models,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the answers and logs.")] = None,
    settings: Annotated[AskSettings, Panel("Methods")],
    as_json: Json = False,
) -> None:
    """Ask models questions about recordings, or of benchmarks, and score the answers.

    A run that was stopped keeps its answers: rerun the command to resume. After a finished run the same
    command shows its results. To ask again, choose a new folder with --out.

    Exit status: 0 all were asked, 1 a model gave no text at all, 2 wrong usage, nothing to ask, or a
    failure of deskcheck or of the provider, 130 interrupted."""
    from deskcheck.ask.run import Interrupted, ask_benchmark
    from deskcheck.ask.run import ask as ask_models

    benchmarks = benchmarks_in(folders, question)
    try:
        with _live(as_json) as progress:
            options: dict[str, Any] = {
                "out": out,
                "settings": settings,
                "note": say,
                "progress": progress,
            }
            if benchmarks:
                results = ask_benchmark(benchmarks, names(model), **options)
            else:
                results = ask_models(folders, kinds_in(question), names(model), **options)
    except Interrupted as error:
        raise KeyboardInterrupt(f"interrupted: {error}") from error
    if as_json:
        _print_json(results)
    else:
        _print_results(results)
    warn_of_few((_what(r), r.effective) for r in results if r.n)
    _exit_unless_answered(results)


def _exit_unless_answered(results: Sequence[Any]) -> None:
    """Exit with 2 if nothing was asked or requests failed, with 1 if a model gave no text at all."""
    if any(r.failed for r in results):
        raise typer.Exit(2)
    silent = [r for r in results if r.n and r.refused + r.empty == r.n * r.epochs]
    for r in silent:
        counts = f"{r.refused} requests were refused, {r.empty} completions are empty"
        say(f"{_what(r)}: {r.model} gave no text at all: {counts}. Its score is meaningless.")
    if not any(r.n for r in results):
        say("nothing was asked: no recording suits these questions.")
        raise typer.Exit(2)
    if silent:
        raise typer.Exit(1)


def _what(result: Any) -> str:
    parts = [result.question, result.state, "" if result.solver == "direct" else result.solver]
    return " ".join(filter(None, parts))


def warn_of_few(clusters: Iterable[tuple[str, float]]) -> None:
    """Warn if there are few effective programs for something that was asked."""
    if few := few_clusters(clusters):
        say(f"{few} Ask about more programs.")


@contextmanager
def _live(quiet: bool) -> Iterator[Callable[[Any], None]]:
    """A progress bar on standard error while models answer; without a terminal, a line now and then."""
    is_watched = not quiet and sys.stderr.isatty()
    bar = Progress(
        BarColumn(),
        TextColumn("{task.description}", markup=False),
        console=messages,
        transient=True,
        disable=not is_watched,
        speed_estimate_period=600,
    )
    with progress_reports(quiet or is_watched) as line, bar:
        task = bar.add_task("", total=None)

        def tell(answered: Any) -> None:
            bar.update(task, completed=answered.done, total=answered.total)
            text = live_text(answered, bar.tasks[0].time_remaining)
            bar.update(task, description=text)
            line(text, answered.done)

        yield tell


def live_text(answered: Any, left_s: float | None) -> str:
    """One line about the progress of a run."""
    parts = [f"{answered.done} of {answered.total} answers"]
    if answered.input_tokens or answered.output_tokens:
        parts.append(f"{answered.input_tokens:,} tokens read, {answered.output_tokens:,} written")
    if answered.cost is not None:
        parts.append(f"${answered.cost:.2f}")
    if answered.retries:
        parts.append(f"{answered.retries} requests again")
    if left_s:
        from deskcheck.jobs.job import duration

        parts.append(f"{duration(left_s)} left")
    return ", ".join(parts)


def benchmarks_in(places: list[Path], kinds: list[str] | None) -> list[str]:
    """The benchmarks among the places: all of them or none. Raises InputError."""
    from deskcheck.ask.questions.benchmarks import benchmark_in

    benchmarks = [str(path) for path in places if benchmark_in(str(path)) is not None]
    others = [str(path) for path in places if str(path) not in benchmarks]
    if benchmarks and others:
        raise InputError(
            f"{benchmarks[0]} is a benchmark, and {others[0]} is not: ask them one after the other."
        )
    if benchmarks and kinds:
        raise InputError(f"{benchmarks[0]}: a benchmark has its own questions: leave --question out.")
    return benchmarks


def kinds_in(texts: list[str] | None) -> list[str]:
    """The kinds of question; for ``all`` those about programs. Raises InputError without any."""
    from deskcheck.ask.questions.questions import QUESTIONS

    if not texts:
        raise InputError("--question is missing: the kinds to ask. `deskcheck list questions` names them.")
    kinds = names(texts)
    return [*QUESTIONS] if kinds == ["all"] else kinds


def names(texts: list[str]) -> list[str]:
    """The names in an option that may be given again, with commas between."""
    return [name for text in texts for name in text.split(",")]


def _print_json(results: list[Any]) -> None:
    from deskcheck.ask.results.effects import effects

    rows = {
        "results": [result.to_dict() for result in results],
        "effects": [effect.to_dict() for effect in effects(results)],
    }
    print(json.dumps(rows))


def _print_results(results: list[Any]) -> None:
    """Tables of programs, then of each question about notebooks; exclusions; the folders."""
    from deskcheck.ask.results.effects import effects

    console = console_out()
    of_programs = [result for result in results if not result.state]
    if of_programs:
        _print_scores(console, of_programs)
        _print_methods(console, of_programs, effects(of_programs))
    for name in dict.fromkeys(result.question for result in results if result.state):
        of_kind = [result for result in results if result.question == name]
        models = [result.model for result in of_kind]
        of_kind.sort(key=lambda result: models.index(result.model))
        _print_notebook_scores(console, name, of_kind)
        _print_state_effects(console, name, effects(of_kind))
        _print_not_run(console, name, of_kind)
    print_excluded(console, {r.question: r.excluded for r in results})
    for folder in sorted({r.folder for r in results}):
        console.print(f"answers and logs: {folder}", markup=False)


def print_excluded(console: Console, excluded: Mapping[str, Mapping[str, int]]) -> None:
    """Print by question how many recordings are not asked about, and why."""
    for name, reasons in excluded.items():
        if reasons:
            reasons_text = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
            console.print(f"not asked for {name}: {reasons_text}", markup=False)


def _print_scores(console: Console, results: list[Any]) -> None:
    heads = ("question", "model", "method")
    named = [((r.question, r.model, r.solver), r) for r in results]
    rows = []
    for row, r in named:
        score = ("-", "-") if r.score is None else (f"{r.score:.3f}", bounds_text(r.low, r.high))
        lenient = "-" if r.lenient is None else f"{r.lenient.value:.3f}"
        counts = [str(getattr(r, name)) for name in READINGS]
        rows.append((row, [str(r.n), str(r.programs), *score, lenient, *counts]))
    numbers = ("n", "programs", "score", "95 % interval", "lenient", *READINGS)
    print_table(console, heads, numbers, rows, optional=READINGS)
    for question in dict.fromkeys(r.question for r in results if r.parts):
        of_kind = [r for r in results if r.question == question and r.parts]
        parts = list(dict.fromkeys(part for r in of_kind for part in r.parts))
        figures = [
            ((r.model, r.solver), [with_interval(r.parts.get(part), r.n) for part in parts]) for r in of_kind
        ]
        title = f"{question}: the parts of the answer"
        columns = [part.replace("_", " ") for part in parts]
        print_table(console, ("model", "method"), columns, figures, title=title)
    print_attempts(console, heads, named)


def _print_methods(console: Console, results: list[Any], effects: list[Any]) -> None:
    """The effects of methods on a score, and the runs that they predicted."""
    if effects:
        print_table(
            console,
            ("question", "model", "method", "minus"),
            (*_DIFFERENCE, "p by program"),
            [((e.question, e.model, e.solver, e.against), _difference(e)) for e in effects],
            title="the same samples by another method",
        )
    stepped = [((r.question, r.model, r.solver), r.steps) for r in results if r.steps is not None]
    if stepped:
        print_steps(console, ("question", "model", "method"), stepped)


def _difference(effect: Any) -> list[str]:
    """The numbers for the columns `_DIFFERENCE`, and a p-value."""
    counts = [str(effect.better), str(effect.worse), f"{effect.sign_flip:.2g}"]
    return [f"{effect.difference:+.3f}", interval_text(effect, form="+.3f"), *counts]


def _print_notebook_scores(console: Console, question: str, results: list[Any]) -> None:
    """The metrics by model and view of the state."""
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    rows = []
    for r in results:
        figures = [with_interval(r.metrics.get(name), r.n) for name in metrics]
        rows.append(((r.model, r.state), [str(r.n), str(r.programs), *figures]))
    print_table(console, ("model", "state"), ("n", "notebooks", *metrics), rows, title=question)
    print_by_execution(console, [(question, r) for r in results])
    for name in READINGS:
        counts = [f"{getattr(r, name)} {r.model} {r.state}" for r in results if getattr(r, name)]
        if counts:
            text = f"{question}: {name}, without an answer, and wrong: {', '.join(counts)}"
            console.print(text, markup=False)


def _print_state_effects(console: Console, question: str, effects: list[Any]) -> None:
    """Print the effects of showing the state, by model, view and metric; without any, one line."""
    changed = [e for e in effects if e.better or e.worse]
    rows = []
    for e in changed:
        mcnemar = "-" if e.mcnemar is None else f"{e.mcnemar:.2g}"
        rows.append(((e.model, e.state, e.metric), [*_difference(e), mcnemar]))
    if rows:
        numbers = (*_DIFFERENCE, "p by notebook", "p McNemar")
        title = f"{question}: with the state minus none, the same samples"
        print_table(console, ("model", "state", "metric"), numbers, rows, title=title)
    views = {(e.model, e.state) for e in changed}
    alike = dict.fromkeys(f"{e.model} {e.state}" for e in effects if (e.model, e.state) not in views)
    if alike:
        text = f"{question}: no sample scores differently with the state: {', '.join(alike)}"
        console.print(text, markup=False)


def _print_not_run(console: Console, question: str, results: list[Any]) -> None:
    """The reasons why answers are not scored by running."""
    rows = {row.id: row for r in results for row in r.samples}.values()
    reasons = Counter(row.ran for row in rows if row.by_running is None and row.ran)
    if reasons:
        reasons_text = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common(5))
        console.print(f"{question}: not scored by running: {reasons_text}", markup=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportOptions:
    """The contents of a report, and its place."""

    out: Annotated[Path | None, Setting("Write the report as a page.")] = None
    pages: Annotated[
        int,
        Setting(
            "Pages of failing examples, written into a folder beside the report. They need the recordings.",
            min=0,
        ),
    ] = 40
    open_: Annotated[
        bool | None,
        Setting("Open the page in a browser, or print tables here.", flag="--open", off="--terminal"),
    ] = None
    table: Annotated[
        str | None,
        Setting(
            "Print the tables as markdown, latex or csv. themisto: the result table of that paper, as "
            "Markdown.",
            metavar="FORMAT",
        ),
    ] = None
    by: Annotated[
        tuple[str, ...],
        Setting("Also show scores by a field of the samples. May be given again.", metavar="FIELD"),
    ] = ()
    cluster: Annotated[
        str | None,
        Setting(
            "For logs of other tasks: the field that names the cluster of a sample.",
            metavar="FIELD",
        ),
    ] = None
    power: Annotated[
        float | None,
        Setting(
            "Also show how many programs it takes to find this difference between two models.",
            metavar="DIFFERENCE",
        ),
    ] = None


Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOGS...",
        help="Run folders of `deskcheck ask`, logs of Inspect, samples of lm-evaluation-harness, or folders "
        "of them.",
    ),
]


@with_options
def report(
    logs: Logs,
    *,
    options: Annotated[_ReportOptions, Panel(None)],
    prices: Annotated[Prices, Panel("Cost")],
    as_json: Json = False,
) -> None:
    """Show scores of models, differences, failures and cost, as a page or as tables.

    Logs of Inspect and of lm-evaluation-harness may be of any task. At a terminal with a browser, the page
    opens in the browser."""
    from deskcheck.ask.results.logs import read_logs
    from deskcheck.view.report.report import report_of
    from deskcheck.view.report.themisto import themisto_sheets

    out, open_, table, power = options.out, options.open_, options.table, options.power
    if table not in (None, "markdown", "latex", "csv", "themisto"):
        raise InputError(f"--table {table}: the formats are markdown, latex, csv and themisto.")
    if power is not None and not 0 < power <= 1:
        raise InputError(f"--power {power:g}: a difference between two scores is above 0, up to 1.")
    read = read_logs(logs, cluster=options.cluster)
    if table == "themisto":
        print("\n".join(f"{s.title}\n\n{s.markdown()}\n{s.note}\n" for s in themisto_sheets(read.results)))
        return
    data = report_of(read, prices.prices, fields=options.by, difference=power)
    if out is not None:
        _write_report(data, out, options.pages, open_ is True)
    if as_json:
        print(json.dumps(data.facts))
    elif table is not None:
        print("\n".join(f"{sheet.title}\n\n{getattr(sheet, table)()}" for sheet in data.sheets), end="")
    elif out is None and (open_ is True or (open_ is None and has_browser())):
        _write_report(data, kept_page(), options.pages, True)
    elif out is None:
        _print_sheets(data)


def _write_report(data: Any, out: Path, pages: int, opened: bool) -> None:
    """Write the page and those of its failures, print what was written, and open the page if `opened`."""
    from deskcheck.view.report.report import write_report

    size, count = write_report(data, out, pages=pages)
    print(f"{out}: {size / 1e6:.1f} MB")
    if count:
        print(f"{out.with_name(out.stem + '-pages')}: {count} pages of failures, which the report links")
    if opened:
        open_in_browser(out.resolve().as_uri())


def _print_sheets(data: Any) -> None:
    from deskcheck.view.page import visible

    console = console_out()
    for sheet in data.sheets:
        table = Table(
            show_edge=False,
            pad_edge=False,
            title=escape(visible(sheet.title)),
            title_justify="left",
            title_style="bold",
        )
        for column in sheet.columns:
            table.add_column(
                escape(visible(column.name)), justify="right" if column.number else "left", overflow="fold"
            )
        for row in sheet.shown():
            table.add_row(*(escape(visible(text)) for text in row))
        console.print(table)
    for note in data.facts["notes"]:
        console.print(note, markup=False)
