"""Commands that show a recording: `view`, `runs show`."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, say, write_text
from deskcheck.errors import InputError
from deskcheck.notation import NOTATIONS
from deskcheck.notation.bounded import VALUES
from deskcheck.settings import Setting
from deskcheck.terminal import console_out, has_browser, kept_page

MAX_VALUES = 2_000_000
"""Of all events of a text together: some ten seconds."""
Shown = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="A folder of recordings; or a run folder of `deskcheck ask` with methods that run code.",
    ),
]
Which = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]",
        help="The recording, or the sample, to show: its id, or a part that no other has; without it, all "
        "are listed.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ViewOptions:
    """How a recording is shown."""

    out: Annotated[Path | None, Setting("Write the trace page into this HTML file.")] = None
    serve: Annotated[bool, Setting("Serve the trace page on this machine: for very long traces.")] = False
    port: Annotated[int, Setting("With --serve: the port; 0: any.", min=0, max=65535)] = 0
    open_: Annotated[
        bool | None,
        Setting("Open the trace page in a browser, or print a table here.", flag="--open", off="--terminal"),
    ] = None
    max_events: Annotated[int | None, Setting("Rows of the table; 200 by default.", min=10)] = None
    beside: Annotated[
        Path | None,
        Setting(
            "A model's run beside it: from `deskcheck models step --out` (without an ID, the one that goes "
            "wrong after the most steps), a run folder of `deskcheck ask`, or a text file in a notation. For "
            "a notebook, the file itself: its stored outputs beside the fresh ones.",
            metavar="FILE",
        ),
    ] = None
    notation: Annotated[str, Setting("--beside: the notation of a text file.", short="-n")] = "scratchpad"
    model: Annotated[str | None, Setting("Which one, if a run folder has several.", short="-m")] = None
    method: Annotated[str | None, Setting("Which one, if a run folder has several.")] = None


@with_options
def view(
    folder: Shown,
    id_: Which = None,
    *,
    options: Annotated[_ViewOptions, Panel(None)],
    as_json: Json = False,
) -> None:
    """Show one recording, of a program or a notebook, or list a folder; or every attempt at a question.

    Where a person sits at a terminal and a browser can be opened, the trace page opens in it. Elsewhere,
    and with --terminal, --max-events or --json, it is the trace table, on standard output.
    """
    way = _Way(options.out, options.open_, as_json)
    if (folder / "samples.parquet").is_file():
        if options.serve or options.beside is not None:
            raise InputError(f"{folder}: is a run of `deskcheck ask`: --serve and --beside are not for it.")
        _view_attempts(folder, id_, options.model, options.method, way)
        return
    notebooks = _trajectories(folder)
    # A folder may hold both: then what is named decides, and the list is of programs.
    if notebooks and (id_ in notebooks or not _has_programs(folder)):
        if options.serve:
            raise InputError("--serve is for traces: the page of a notebook is a file, with --out.")
        _view_notebook(notebooks, folder, id_, options.beside, way)
    else:
        _view_program(folder, id_, options, way)


@dataclass(frozen=True, slots=True)
class _Way:
    """How somebody wants to see something: as a page in the file `out`, as a page in a browser (`open_`;
    None: if there is one), as JSON, else as a table here."""

    out: Path | None
    open_: bool | None
    as_json: bool

    @property
    def asks_for_page(self) -> bool:
        return self.out is not None or self.open_ is not None

    @property
    def opens(self) -> bool:
        return has_browser() if self.open_ is None else self.open_

    def show(
        self, page: Callable[[], str], facts: Callable[[], Any], table: Callable[[], RenderableType]
    ) -> None:
        """What was asked for is made, and nothing else."""
        if self.out is not None:
            write_text(self.out, page(), self.open_ is True)
        if self.as_json:
            print(json.dumps(facts()))
        elif self.out is None and self.opens:
            write_text(kept_page(), page(), True)
        elif self.out is None:
            console_out().print(table())


def _view_program(folder: Path, id_: str | None, options: _ViewOptions, way: _Way) -> None:
    """A run by itself or beside a model's, or a list."""
    from deskcheck.recording.reader import Recordings

    recordings = Recordings(folder)
    beside = options.beside
    if id_ is None and beside is not None and beside.suffix == ".json":
        from deskcheck.view.side_by_side import first_mistake

        id_ = first_mistake(beside)
    if id_ is None:
        if way.asks_for_page or options.serve or beside is not None:
            raise InputError(f"a page shows one recording: say which. deskcheck view {folder} lists them.")
        _list_recordings(recordings, as_json=way.as_json)
    elif beside is not None:
        if options.serve:
            raise InputError("--serve and --beside do not go together: the page is a file, with --out.")
        choices = {"notation": options.notation, "model": options.model, "method": options.method}
        _view_beside(recordings.named(id_), beside, choices, way)
    else:
        port = options.port if options.serve else None
        _view_recording(recordings.named(id_), way, port, options.max_events)


def _view_recording(recording: Any, way: _Way, port: int | None, max_events: int | None) -> None:
    """A run by itself. port: its page is served there."""
    from deskcheck.view.showing import MAX_EVENTS, open_page, serve_page, show_table, write_page

    if way.as_json:
        print(json.dumps(_facts(recording) | {"events": [row._asdict() for row in recording.trace.rows]}))
    elif port is not None:
        if way.out is not None:
            raise InputError("--serve and --out do not go together: one serves, the other writes a file.")
        serve_page(recording, port, way.opens)
    elif way.out is not None:
        write_page(recording, way.out, way.open_ is True)
    elif way.open_ is True or (max_events is None and way.opens):
        open_page(recording)
    else:
        show_table(recording, max_events or MAX_EVENTS)


def _list_recordings(recordings: Iterable[Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"recordings": [_facts(recording) for recording in recordings]}))
        return
    table = Table(show_edge=False, pad_edge=False)
    for name in ("id", "outcome", "events", "result"):
        table.add_column(name, overflow="ellipsis", no_wrap=True)
    for recording in recordings:
        result = recording.run_result.result or recording.run_result.detail
        table.add_row(recording.id, recording.outcome.value, str(len(recording.trace)), f"{result:.60}")
    console_out().print(table)


def _trajectories(folder: Path) -> dict[str, Path]:
    """Name of each notebook's trajectory in a folder, or of the file of one -> its file."""
    suffix = ".trajectory.parquet"
    if folder.is_file():
        return {folder.name.removesuffix(suffix): folder} if folder.name.endswith(suffix) else {}
    files = sorted(folder.rglob(f"*{suffix}"))
    return {str(path.relative_to(folder)).removesuffix(suffix): path for path in files}


def _has_programs(folder: Path) -> bool:
    return folder.is_dir() and any(
        not path.name.endswith(".trajectory.parquet") for path in folder.glob("*.parquet")
    )


def _view_notebook(
    notebooks: Mapping[str, Path], folder: Path, id_: str | None, beside: Path | None, way: _Way
) -> None:
    """The page of a notebook's trajectory, or a list."""
    from deskcheck.notebook.trajectory.file import read_trajectory
    from deskcheck.notebook.trajectory.ipynb import read_notebook
    from deskcheck.view.notebook_page import notebook_facts, notebook_page, trajectory_table

    if id_ is None and (folder.is_file() or (len(notebooks) == 1 and (way.out is not None or way.open_))):
        id_ = next(iter(notebooks))
    if id_ is None:
        if way.asks_for_page or beside is not None:
            raise InputError(f"a page shows one notebook: say which. deskcheck view {folder} lists them.")
        _list_notebooks(notebooks, as_json=way.as_json)
        return
    trajectory = read_trajectory(_named(id_, notebooks, folder))
    stored = None if beside is None else read_notebook(beside)
    way.show(
        lambda: notebook_page(trajectory, stored),
        lambda: notebook_facts(trajectory, stored),
        lambda: trajectory_table(trajectory, stored),
    )


def _list_notebooks(notebooks: Mapping[str, Path], *, as_json: bool) -> None:
    from deskcheck.notebook.trajectory.file import read_trajectory
    from deskcheck.view.notebook_page import trajectories_table

    read = {name: read_trajectory(path) for name, path in notebooks.items()}
    if as_json:
        facts = [
            {"id": name, "path": t.path, "ended": t.ended.value, "steps": len(t.steps)}
            for name, t in read.items()
        ]
        print(json.dumps({"notebooks": facts}))
    else:
        console_out().print(trajectories_table(read))


def _named(id_: str, notebooks: Mapping[str, Path], folder: Path) -> Path:
    """The file of the notebook that is meant. Raises InputError: there is none, or several."""
    if id_ not in notebooks:
        id_ = _by_own_id(id_, notebooks) or id_
    if id_ in notebooks:
        return notebooks[id_]
    matches = [name for name in notebooks if id_ in name]
    if len(matches) != 1:
        what = f"{len(matches)} notebooks have {id_!r} in their name" if matches else f"no notebook {id_!r}"
        raise InputError(f"{folder}: {what}. There are {', '.join((matches or [*notebooks])[:10])}.")
    return notebooks[matches[0]]


def _by_own_id(id_: str, notebooks: Mapping[str, Path]) -> str | None:
    """The name of the trajectory with this id, as `ask` reports it; also of a sample of it."""
    from deskcheck.notebook.trajectory.file import read_trajectory

    for name, path in notebooks.items():
        trajectory_id: str = read_trajectory(path).id
        if id_ == trajectory_id or id_.startswith(f"{trajectory_id}:"):
            return name
    return None


def _view_attempts(folder: Path, id_: str | None, model: str | None, method: str | None, way: _Way) -> None:
    """The transcripts of a sample, or a list."""
    from deskcheck.view import attempts_page as attempts

    answers = attempts.answered_in(folder, model=model, method=method)
    if id_ is None:
        if way.asks_for_page:
            raise InputError(f"a page shows one sample: say which. deskcheck view {folder} lists them.")
        if way.as_json:
            print(json.dumps(attempts.attempts_facts(answers)))
        else:
            console_out().print(attempts.attempts_list(answers))
        return
    of_one = attempts.of_sample(answers, id_)
    way.show(
        lambda: attempts.attempts_page(of_one),
        lambda: attempts.attempts_facts(of_one),
        lambda: attempts.attempts_table(of_one),
    )


def _view_beside(recording: Any, path: Path, choices: dict[str, Any], way: _Way) -> None:
    """A model's run beside a recording: as a page, or where they part, here."""
    from deskcheck.view.side_by_side import beside, beside_page, beside_table, read_told

    comparison = beside(recording, read_told(path, recording, **choices))
    way.show(lambda: beside_page(comparison), lambda: comparison.facts, lambda: beside_table(comparison))


def show(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    id_: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Its id, or a part that no other has. Not needed if there is only one."
        ),
    ] = None,
    notation: Annotated[
        str, typer.Option("--notation", "-n", help=f"One of {', '.join(NOTATIONS.own)}.")
    ] = "compact",
    max_values: Annotated[
        int,
        typer.Option(
            "--max-values",
            min=1,
            help="The text ends (`cut: values`) before its events together hold more values than this.",
        ),
    ] = MAX_VALUES,
    as_json: Json = False,
) -> None:
    """Write the trace of one recording as text, in a notation that models are taught and asked in."""
    from deskcheck.recording.reader import Recordings

    if notation not in NOTATIONS:
        raise InputError(f"there is no notation {notation!r}. Known are {', '.join(NOTATIONS)}.")
    recordings = Recordings(folder)
    if id_ is None and len(recordings) != 1:
        raise InputError(
            f"{folder} holds {len(recordings)} recordings: say which. deskcheck view {folder} lists them."
        )
    recording = recordings.named(id_) if id_ is not None else next(iter(recordings))
    text = NOTATIONS[notation].render(recording, limit=max_values)
    if text.endswith(f"cut: {VALUES}"):
        say(
            f"{recording.id}: the text ends where its events would hold more than {max_values:,} values "
            "together. --max-values N writes out more."
        )
    print(json.dumps({"id": recording.id, "notation": notation, "text": text}) if as_json else text)


def _facts(recording: Any) -> dict[str, Any]:
    run_result = recording.run_result
    return {
        "id": recording.id,
        "outcome": run_result.outcome.value,
        "detail": run_result.detail,
        "result": run_result.result,
        "n_events": sum(len(trace) for trace in recording.traces),
        "repeatable": recording.repeatable,
        "difference": recording.difference,
        "cut": run_result.cut,
    }
