"""Commands that ask models and tell how they did: `ask`, `report`."""

import json
import sys
import time
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
from deskcheck.ask.settings import AskSettings
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, messages, progress_told, say, write_text
from deskcheck.cli.common.tables import (
    print_attempts,
    print_by_execution,
    print_steps,
    print_table,
    with_interval,
)
from deskcheck.errors import InputError
from deskcheck.settings import Setting
from deskcheck.terminal import Console, console_out, has_browser, kept_page

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
        help="output, input, next_line, state, history, path, exception, step, branch, iterations, "
        "after_loop, visit, move, coverage, calls, changes, alias, type; all: each of these; about "
        "notebooks: cell_output, next_cell, crash. A benchmark has its own.",
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
"""Columns for completions without an answer. They are shown where there are any."""
DIFFERENCE = ("difference", "95 % interval", "better", "worse")
"""Columns for the scores of one against another on the same samples."""


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

    A run that was stopped keeps its answers: the same command goes on with it. Of a finished run the same
    command shows the answers; --out NEW_FOLDER asks again.

    Exit status: 0 all were asked, 1 a model gave no text at all, 2 a wrong call, nothing to ask, or an error
    of ours or of the provider, 130 interrupted."""
    from deskcheck.ask.run import Interrupted, ask_benchmark
    from deskcheck.ask.run import ask as ask_models

    benchmarks = benchmarks_in(folders, question)
    with _says_what_is_kept(Interrupted), _live(as_json) as tell:
        told: dict[str, Any] = {"out": out, "settings": settings, "note": say, "progress": tell}
        if benchmarks:
            results = ask_benchmark(benchmarks, names(model), **told)
        else:
            results = ask_models(folders, kinds_in(question), names(model), **told)
    if as_json:
        _print_json(results)
    else:
        _print_results(results)
    for text in few_programs((_what(r), r.effective) for r in results if r.n):
        say(text)
    _exit_unless_answered(results)


def _exit_unless_answered(results: Sequence[Any]) -> None:
    """Exit with 2 where nothing was asked or requests failed, with 1 where a model gave no text at all; all
    of it is said."""
    if any(r.failed for r in results):
        raise typer.Exit(2)
    silent = [r for r in results if r.n and r.refused + r.empty == r.n * r.epochs]
    for r in silent:
        said = f"{r.refused} requests were refused, {r.empty} completions are empty"
        say(f"{_what(r)}: {r.model} gave no text at all: {said}. The score says nothing about it.")
    if not any(r.n for r in results):
        say("nothing was asked: no recording here gives such a question.")
        raise typer.Exit(2)
    if silent:
        raise typer.Exit(1)


@contextmanager
def _says_what_is_kept(interrupted: type[BaseException]) -> Iterator[None]:
    try:
        yield
    except interrupted as error:
        raise KeyboardInterrupt(f"interrupted: {error}") from error


def _what(result: Any) -> str:
    parts = [result.question, result.state, "" if result.solver == "direct" else result.solver]
    return " ".join(filter(None, parts))


def few_programs(asked: Iterable[tuple[str, float]]) -> Iterator[str]:
    """A warning, where there is reason for one. asked: what was asked, and of how many effective programs."""
    from deskcheck.ask.results.statistics import few_clusters

    if few := few_clusters(asked):
        yield f"{few} Ask about more programs."


@contextmanager
def _live(quiet: bool) -> Iterator[Callable[[Any], None]]:
    """A bar on standard error while models answer; where nobody watches, as in a batch job, a line now and
    then."""
    remaining = Remaining()

    def text_of(answered: Any) -> str:
        return live_text(answered, remaining.seconds(answered, time.monotonic()))

    if quiet or not sys.stderr.isatty():
        with progress_told(quiet) as line:
            yield lambda answered: line(text_of(answered), answered.done)
        return
    columns = (BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=messages, transient=True) as bar:
        task = bar.add_task("", total=None)

        def tell(answered: Any) -> None:
            bar.update(task, completed=answered.done, total=answered.total, description=text_of(answered))

        yield tell


class Remaining:
    """The time that a run will still take, once two answers in a row predict nearly the same end."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._done = 0
        self._end: float | None = None
        """That the last answer predicts."""
        self._steady = False

    def seconds(self, answered: Any, now: float) -> float | None:
        """Of a run that is so far at a time; None: it cannot be told yet."""
        self._began = now if self._began is None else self._began
        new = answered.done - answered.before
        if new and new != self._done:
            self._done = new
            end = now + (now - self._began) / new * (answered.total - answered.done)
            self._steady = self._end is not None and abs(end - self._end) <= max(5.0, (end - now) / 4)
            self._end = end
        known = self._steady and self._end is not None and answered.done < answered.total
        return max(0.0, self._end - now) if known and self._end is not None else None


def live_text(answered: Any, left_s: float | None) -> str:
    """How far a run is, in one line."""
    parts = [f"{answered.done} of {answered.total} answers"]
    if answered.input_tokens or answered.output_tokens:
        parts.append(f"{answered.input_tokens:,} tokens read, {answered.output_tokens:,} written")
    if answered.cost is not None:
        parts.append(f"${answered.cost:.2f}")
    if answered.retries:
        parts.append(f"{answered.retries} requests again")
    if left_s is not None:
        from deskcheck.jobs.job import duration

        parts.append(f"{duration(left_s)} left")
    return ", ".join(parts)


def benchmarks_in(places: list[Path], kinds: list[str] | None) -> list[str]:
    """The benchmarks among what is asked about: all of it or nothing. Raises InputError."""
    from deskcheck.ask.questions.benchmarks import benchmark_in

    found = [str(place) for place in places if benchmark_in(str(place)) is not None]
    others = [str(place) for place in places if str(place) not in found]
    if found and others:
        raise InputError(f"{found[0]} is a benchmark, and {others[0]} is none: ask them one after the other.")
    if found and kinds:
        raise InputError(f"{found[0]}: a benchmark has its own questions: leave --question out.")
    return found


def kinds_in(texts: list[str] | None) -> list[str]:
    """The kinds of question that are named; all about programs for ``all``. Raises InputError for none."""
    from deskcheck.ask.questions.questions import QUESTIONS

    if not texts:
        raise InputError("--question is missing: the kinds to ask. `deskcheck list questions` names them.")
    found = names(texts)
    return [*QUESTIONS] if found == ["all"] else found


def names(texts: list[str]) -> list[str]:
    """Of an option that may be given again, with several names each time."""
    return [name for text in texts for name in text.split(",")]


def _print_json(results: list[Any]) -> None:
    from deskcheck.ask.results.effects import effects

    found = {
        "results": [result.to_dict() for result in results],
        "effects": [effect.to_dict() for effect in effects(results)],
    }
    print(json.dumps(found))


def _print_results(results: list[Any]) -> None:
    """Tables of programs, then of each question about notebooks; what was not asked; where it all is."""
    console = console_out()
    of_programs = [result for result in results if not result.state]
    if of_programs:
        _print_scores(console, of_programs)
        _print_methods(console, of_programs)
    for name in dict.fromkeys(result.question for result in results if result.state):
        _print_notebook_scores(console, [r for r in results if r.question == name])
    print_excluded(console, {r.question: r.excluded for r in results})
    for place in sorted({r.folder for r in results}):
        console.print(f"answers and logs: {place}", markup=False)


def print_excluded(console: Console, excluded: Mapping[str, Mapping[str, int]]) -> None:
    """By question, how many recordings are not asked about, and why."""
    for name, reasons in excluded.items():
        if reasons:
            why = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
            console.print(f"not asked for {name}: {why}", markup=False)


def _print_notebook_scores(console: Console, results: list[Any]) -> None:
    """The metrics of a question about notebooks by model and view of the state, then what the views do."""
    question = results[0].question
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    results = sorted(results, key=lambda result: [r.model for r in results].index(result.model))
    _print_metrics(console, question, metrics, results)
    _print_state_effects(console, question, results)
    _print_not_run(console, question, results)


def _print_metrics(console: Console, question: str, metrics: list[str], results: list[Any]) -> None:
    rows = []
    for r in results:
        shown = [with_interval(r.metrics.get(name), r.n) for name in metrics]
        rows.append(((r.model, r.state), [str(r.n), str(r.programs), *shown]))
    print_table(console, ("model", "state"), ("n", "notebooks", *metrics), rows, title=question)
    print_by_execution(console, [(question, r) for r in results])
    for name in READINGS:
        found = [f"{getattr(r, name)} {r.model} {r.state}" for r in results if getattr(r, name)]
        if found:
            console.print(
                f"{question}: {name}, without an answer, and wrong: {', '.join(found)}", markup=False
            )


def _print_state_effects(console: Console, question: str, results: list[Any]) -> None:
    """What showing the state does, by model, view and metric; where it does nothing, in one line."""
    from deskcheck.ask.results.effects import effects

    found = effects(results)
    changed = [e for e in found if e.better or e.worse]
    alike = dict.fromkeys((e.model, e.state) for e in found)
    for e in changed:
        alike.pop((e.model, e.state), None)
    if changed:
        rows = []
        for e in changed:
            mcnemar = "-" if e.mcnemar is None else f"{e.mcnemar:.2g}"
            rows.append(((e.model, e.state, e.metric), [*_difference(e), mcnemar]))
        print_table(
            console,
            ("model", "state", "metric"),
            (*DIFFERENCE, "p by notebook", "p McNemar"),
            rows,
            title=f"{question}: with the state minus none, the same samples",
        )
    if alike:
        said = ", ".join(f"{model} {state}" for model, state in alike)
        console.print(f"{question}: with the state every sample scores as with none: {said}", markup=False)


def _print_not_run(console: Console, question: str, results: list[Any]) -> None:
    """Why answers are not scored by running, where they are not."""
    why_not = Counter(
        row.ran
        for row in {row.id: row for r in results for row in r.samples}.values()
        if row.by_running is None
    )
    why_not.pop("", None)
    if why_not:
        said = ", ".join(f"{n} {why}" for why, n in why_not.most_common(5))
        console.print(f"{question}: not scored by running: {said}", markup=False)


def _print_methods(console: Console, results: list[Any]) -> None:
    """What methods do to a score, and how the runs that were predicted went."""
    from deskcheck.ask.results.effects import effects

    found = effects(results)
    if found:
        print_table(
            console,
            ("question", "model", "method", "minus"),
            (*DIFFERENCE, "p by program"),
            [((e.question, e.model, e.solver, e.against), _difference(e)) for e in found],
            title="the same samples by another method",
        )
    stepped = [((r.question, r.model, r.solver), r.steps) for r in results if r.steps is not None]
    if stepped:
        print_steps(console, ("question", "model", "method"), stepped)


def _difference(effect: Any) -> list[str]:
    """The numbers below `DIFFERENCE`, and a p value."""
    from deskcheck.ask.results.statistics import interval_text

    counts = [str(effect.better), str(effect.worse), f"{effect.sign_flip:.2g}"]
    return [f"{effect.difference:+.3f}", interval_text(effect, form="+.3f"), *counts]


def _print_scores(console: Console, results: list[Any]) -> None:
    from deskcheck.ask.results.statistics import bounds_text

    rows = []
    for r in results:
        score = "-" if r.score is None else f"{r.score:.3f}"
        interval = "-" if r.score is None else bounds_text(r.low, r.high)
        lenient = "-" if r.lenient is None else f"{r.lenient.value:.3f}"
        counts = [str(getattr(r, name)) for name in READINGS]
        shown = [str(r.n), str(r.programs), score, interval, lenient, *counts]
        rows.append(((r.question, r.model, r.solver), shown))
    numbers = ("n", "programs", "score", "95 % interval", "lenient", *READINGS)
    print_table(console, ("question", "model", "method"), numbers, rows, optional=READINGS)
    for name in dict.fromkeys(r.question for r in results if r.parts):
        _print_parts(console, name, [r for r in results if r.question == name and r.parts])

    named = [((r.question, r.model, r.solver), r) for r in results]
    print_attempts(console, ("question", "model", "method"), named)


def _print_parts(console: Console, question: str, results: list[Any]) -> None:
    """How right each part of an answer is, where parts are told apart."""
    parts = list(dict.fromkeys(part for r in results for part in r.parts))
    rows = [((r.model, r.solver), [with_interval(r.parts.get(part), r.n) for part in parts]) for r in results]
    heads = [part.replace("_", " ") for part in parts]
    print_table(console, ("model", "method"), heads, rows, title=f"{question}: the parts of the answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportOptions:
    """What a report holds, and where it goes."""

    out: Annotated[Path | None, Setting("Write the report as a page.")] = None
    open_: Annotated[
        bool | None,
        Setting("Open the page in a browser, or print tables here.", flag="--open", off="--terminal"),
    ] = None
    table: Annotated[str | None, Setting("Print the tables as markdown, latex or csv.", metavar="FORMAT")] = (
        None
    )
    by: Annotated[
        tuple[str, ...],
        Setting("Also scores by a field of the samples. May be given again.", metavar="FIELD"),
    ] = ()
    cluster: Annotated[
        str | None,
        Setting(
            "For logs of other tasks: the field of the samples by which they belong together.",
            metavar="FIELD",
        ),
    ] = None
    power: Annotated[
        float | None,
        Setting(
            "How many programs are needed to find such a difference between two models.",
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

    Logs of Inspect and of lm-evaluation-harness may be of any task. Where a person sits at a terminal and
    a browser can be opened, the page opens in it."""
    from deskcheck.ask.results.logs import read_logs
    from deskcheck.view.report.report import report_of, report_page

    out, open_, table, power = options.out, options.open_, options.table, options.power
    if table not in (None, "markdown", "latex", "csv"):
        raise InputError(f"--table {table}: the formats are markdown, latex and csv.")
    if power is not None and not 0 < power <= 1:
        raise InputError(f"--power {power:g}: a difference between two scores lies above 0, up to 1.")
    read = read_logs(logs, cluster=options.cluster)
    found = report_of(read, prices.prices, by=options.by, difference=power)
    if out is not None:
        write_text(out, report_page(found), open_ is True)
    if as_json:
        print(json.dumps(found.facts))
    elif table is not None:
        print("\n".join(f"{sheet.title}\n\n{getattr(sheet, table)()}" for sheet in found.sheets), end="")
    elif out is None and (open_ is True or (open_ is None and has_browser())):
        write_text(kept_page(), report_page(found), True)
    elif out is None:
        _print_sheets(found)


def _print_sheets(found: Any) -> None:
    from deskcheck.view.page import visible

    console = console_out()
    for sheet in found.sheets:
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
    for note in found.facts["notes"]:
        console.print(note, markup=False)
