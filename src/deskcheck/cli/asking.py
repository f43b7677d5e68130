"""Commands that ask models and tell how they did: `ask`, `report`."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from deskcheck.cli.output import Json, console_out
from deskcheck.cli.pages import has_browser, kept_page, write_text
from deskcheck.cli.steps import of_methods, print_steps, with_interval
from deskcheck.recording.errors import InputError

Folders = Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of recordings.")]
Kinds = Annotated[
    list[str],
    typer.Option(
        "--question",
        "-q",
        help="output, input, next_line, state, path; about notebooks: cell_output, next_cell.",
    ),
]
HistoryTokens = Annotated[
    int, typer.Option("--history-tokens", min=0, help="Notebooks: estimated tokens for the cells before.")
]
StateTokens = Annotated[
    int, typer.Option("--state-tokens", min=0, help="Notebooks: estimated tokens for the variables.")
]
Unchecked = Annotated[
    bool,
    typer.Option(
        "--unchecked", help="Notebooks: ask for outputs too of which it is not known whether they repeat."
    ),
]
PerRecording = Annotated[
    int | None, typer.Option("--per-recording", min=1, help="Samples of each kind from one recording.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Samples of each kind in all.")]
Seed = Annotated[int, typer.Option(help="Which samples are drawn.")]


def ask(
    folders: Folders,
    question: Kinds,
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
    history_tokens: HistoryTokens = 4000,
    state_tokens: StateTokens = 2000,
    unchecked: Unchecked = False,
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
    per_recording: PerRecording = None,
    limit: Limit = None,
    seed: Seed = 0,
    max_connections: Annotated[int | None, typer.Option("--max-connections", min=1)] = None,
    as_json: Json = False,
) -> None:
    """Put questions about recordings to models and mark the answers."""
    from deskcheck.ask.notebooks import NotebookOptions
    from deskcheck.ask.run import ask as ask_models

    results = ask_models(
        list(folders),
        names(question),
        names(model),
        out=out,
        seed=seed,
        per_recording=per_recording,
        limit=limit,
        notebooks=NotebookOptions(
            state=tuple(names(state or ["none"])),
            history_tokens=history_tokens,
            state_tokens=state_tokens,
            unchecked=unchecked,
            run_cells=run_cells,
        ),
        methods=names(method or ["direct"]),
        explain=explain,
        max_steps=max_steps,
        max_tokens=max_tokens,
        temperature=temperature,
        model_args=_named(model_arg or []),
        max_connections=max_connections,
    )
    if as_json:
        _print_json(results)
    else:
        _print_results(results)


def names(texts: list[str]) -> list[str]:
    """Of an option that may be given again, with several names each time."""
    return [name for text in texts for name in text.split(",")]


def _print_json(results: list[Any]) -> None:
    from deskcheck.ask.effects import effects

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
        console.print(f"answers and logs: {place}")


def print_excluded(console: Console, excluded: Mapping[str, Mapping[str, int]]) -> None:
    """By question, how many recordings are not asked about, and why."""
    for name, reasons in excluded.items():
        if reasons:
            why = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
            console.print(f"not asked for {name}: {why}")


def _print_notebook_scores(console: Console, results: list[Any]) -> None:
    """The metrics of a question about notebooks by model and view of the state, then what the views do."""
    question = results[0].question
    metrics = list(dict.fromkeys(name for result in results for name in result.metrics))
    results = sorted(results, key=lambda result: [r.model for r in results].index(result.model))
    _print_metrics(console, question, metrics, results)
    _print_state_effects(console, question, results)
    _print_not_run(console, question, results)


def _print_metrics(console: Console, question: str, metrics: list[str], results: list[Any]) -> None:
    table = Table(show_edge=False, pad_edge=False, title=question, title_justify="left", title_style="bold")
    table.add_column("model", overflow="fold")
    table.add_column("state", no_wrap=True)
    for name in ("n", "notebooks", *metrics):
        table.add_column(name, justify="right", no_wrap=True)
    for r in results:
        shown = [with_interval(r.metrics.get(name), r.n) for name in metrics]
        table.add_row(r.model, r.state, str(r.n), str(r.programs), *shown)
    console.print(table)
    unreadable = [f"{r.unreadable} {r.model} {r.state}" for r in results if r.unreadable]
    if unreadable:
        console.print(f"{question}: answers that cannot be read, and count as wrong: {', '.join(unreadable)}")


def _print_state_effects(console: Console, question: str, results: list[Any]) -> None:
    """What showing the state does, by model, view and metric; where it does nothing, in one line."""
    from deskcheck.ask.effects import effects

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


def _print_not_run(console: Console, question: str, results: list[Any]) -> None:
    """Why answers are not marked by running, where they are not."""
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
        table = of_methods("the same samples by another method")
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
        print_steps(console, ("question", "model", "method"), stepped)


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
        write_text(out, report_page(found), open_ is True)
    if as_json:
        print(json.dumps(found.facts))
    elif table is not None:
        print("\n".join(f"{sheet.title}\n\n{getattr(sheet, table)()}" for sheet in found.sheets), end="")
    elif out is None and (open_ is True or (open_ is None and has_browser())):
        write_text(kept_page(), report_page(found), True)
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

    console = console_out()
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
