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
"""Values in all events of a text: writing them takes some ten seconds."""
Shown = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="A folder of recordings, or a run folder of `deskcheck ask` with methods that run code.",
    ),
]
Which = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]",
        help="The recording or sample to show: its id, or a part that no other id contains. Without it, "
        "list all.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ViewOptions:
    """How a recording is shown."""

    out: Annotated[Path | None, Setting("Write the trace page to this HTML file.")] = None
    serve: Annotated[bool, Setting("Serve the trace page on this machine: for very long traces.")] = False
    port: Annotated[int, Setting("The port for --serve; 0 takes any free one.", min=0, max=65535)] = 0
    open_: Annotated[
        bool | None,
        Setting("Open the trace page in a browser, or print a table here.", flag="--open", off="--terminal"),
    ] = None
    max_events: Annotated[int | None, Setting("Rows of the table; 200 by default.", min=10)] = None
    beside: Annotated[
        Path | None,
        Setting(
            "Compare with a model's run: a file from `deskcheck models step --out` (without an ID, its run "
            "that goes wrong after the most steps), a run folder of `deskcheck ask`, or a text file in a "
            "notation. For a notebook, its .ipynb file: compares the stored outputs with the new ones.",
            metavar="FILE",
        ),
    ] = None
    notation: Annotated[str, Setting("The notation of a text file for --beside.", short="-n")] = "scratchpad"
    model: Annotated[str | None, Setting("The model to show, if a run folder has several.", short="-m")] = (
        None
    )
    method: Annotated[str | None, Setting("The method to show, if a run folder has several.")] = None


@with_options
def view(
    folder: Shown,
    recording_id: Which = None,
    *,
    options: Annotated[_ViewOptions, Panel(None)],
    as_json: Json = False,
) -> None:
    """Show the recording of a program or notebook, show all attempts at a question, or list a folder.

    In a terminal from which a browser can be opened, the trace page opens in the browser. Elsewhere,
    and with --terminal, --max-events or --json, the trace table is printed.
    """
    way = _Way(options.out, options.open_, as_json)
    if (folder / "samples.parquet").is_file():
        if options.serve or options.beside is not None:
            raise InputError(
                f"{folder}: is a run of `deskcheck ask`, which cannot be shown with --serve or --beside."
            )
        _view_attempts(folder, recording_id, options.model, options.method, way)
        return
    notebooks = _trajectories(folder)
    # A folder may hold both: then what is named decides, and the list is of programs.
    if notebooks and (recording_id in notebooks or not _has_programs(folder)):
        if options.serve:
            raise InputError("--serve is only for programs. For the page of a notebook give --out FILE.")
        _view_notebook(notebooks, folder, recording_id, options.beside, way)
    else:
        _view_program(folder, recording_id, options, way)


@dataclass(frozen=True, slots=True)
class _Way:
    """Whether to show a page, JSON, or a table in the terminal."""

    out: Path | None
    """File for the page."""
    open_: bool | None
    """Whether to open the page in a browser; None: if there is a browser."""
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
        """Make the page, the JSON or the table, whichever is to be shown."""
        if self.out is not None:
            write_text(self.out, page(), self.open_ is True)
        if self.as_json:
            print(json.dumps(facts()))
        elif self.out is None and self.opens:
            write_text(kept_page(), page(), True)
        elif self.out is None:
            console_out().print(table())


def _view_program(folder: Path, recording_id: str | None, options: _ViewOptions, way: _Way) -> None:
    """Show a run, alone or compared with a model's, or list the folder."""
    from deskcheck.recording.reader import Recordings

    recordings = Recordings(folder)
    beside = options.beside
    if recording_id is None and beside is not None and beside.suffix == ".json":
        from deskcheck.view.side_by_side import first_mistake

        recording_id = first_mistake(beside)
    if recording_id is None:
        if way.asks_for_page or options.serve or beside is not None:
            raise InputError(f"a page shows one recording: give its ID. deskcheck view {folder} lists them.")
        _list_recordings(recordings, as_json=way.as_json)
    elif beside is not None:
        if options.serve:
            raise InputError(
                "--serve and --beside cannot be combined. For a page with --beside give --out FILE."
            )
        choices = {"notation": options.notation, "model": options.model, "method": options.method}
        _view_beside(recordings.named(recording_id), beside, choices, way)
    else:
        port = options.port if options.serve else None
        _view_recording(recordings.named(recording_id), way, port, options.max_events)


def _view_recording(recording: Any, way: _Way, port: int | None, max_events: int | None) -> None:
    """Show a run. port: where to serve its page, if it is to be served."""
    from deskcheck.view.showing import MAX_EVENTS, open_page, serve_page, show_table, write_page

    if way.as_json:
        print(json.dumps(_facts(recording) | {"events": [row._asdict() for row in recording.trace.rows]}))
    elif port is not None:
        if way.out is not None:
            raise InputError(
                "--serve and --out cannot be combined: one serves the page, the other writes it to a file."
            )
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
    """Name -> file of each notebook trajectory in a folder, or of the one in a file."""
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
    notebooks: Mapping[str, Path], folder: Path, name: str | None, beside: Path | None, way: _Way
) -> None:
    """Show a notebook's trajectory, or list the folder."""
    from deskcheck.notebook.trajectory.file import read_trajectory
    from deskcheck.notebook.trajectory.ipynb import read_notebook
    from deskcheck.view.notebook_page import notebook_facts, notebook_page, trajectory_table

    if name is None and (folder.is_file() or (len(notebooks) == 1 and (way.out is not None or way.open_))):
        name = next(iter(notebooks))
    if name is None:
        if way.asks_for_page or beside is not None:
            raise InputError(f"a page shows one notebook: give its ID. deskcheck view {folder} lists them.")
        _list_notebooks(notebooks, as_json=way.as_json)
        return
    trajectory = read_trajectory(_named(name, notebooks, folder))
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


def _named(part: str, notebooks: Mapping[str, Path], folder: Path) -> Path:
    """The file of the one notebook with this name or part of a name. Raises InputError."""
    if part not in notebooks:
        part = _by_own_id(part, notebooks) or part
    if part in notebooks:
        return notebooks[part]
    matches = [name for name in notebooks if part in name]
    if len(matches) != 1:
        what = f"{len(matches)} notebooks have {part!r} in their name" if matches else f"no notebook {part!r}"
        raise InputError(f"{folder}: {what}. The notebooks are: {', '.join((matches or [*notebooks])[:10])}.")
    return notebooks[matches[0]]


def _by_own_id(searched_id: str, notebooks: Mapping[str, Path]) -> str | None:
    """The name of the trajectory with this id, or with a sample of this id, as `ask` reports them."""
    from deskcheck.notebook.trajectory.file import read_trajectory

    for name, path in notebooks.items():
        trajectory_id: str = read_trajectory(path).id
        if searched_id == trajectory_id or searched_id.startswith(f"{trajectory_id}:"):
            return name
    return None


def _view_attempts(
    folder: Path, sample_id: str | None, model: str | None, method: str | None, way: _Way
) -> None:
    """Show the transcripts of a sample, or list all samples."""
    from deskcheck.view import attempts_page as attempts

    answers = attempts.answered_in(folder, model=model, method=method)
    if sample_id is None:
        if way.asks_for_page:
            raise InputError(f"a page shows one sample: give its ID. deskcheck view {folder} lists them.")
        if way.as_json:
            print(json.dumps(attempts.attempts_facts(answers)))
        else:
            console_out().print(attempts.attempts_list(answers))
        return
    of_one = attempts.of_sample(answers, sample_id)
    way.show(
        lambda: attempts.attempts_page(of_one),
        lambda: attempts.attempts_facts(of_one),
        lambda: attempts.attempts_table(of_one),
    )


def _view_beside(recording: Any, path: Path, choices: dict[str, Any], way: _Way) -> None:
    """Compare a model's run with a recording: as a page, or up to the first difference in the terminal."""
    from deskcheck.view.side_by_side import beside, beside_page, beside_table, read_prediction

    comparison = beside(recording, read_prediction(path, recording, **choices))
    way.show(lambda: beside_page(comparison), lambda: comparison.facts, lambda: beside_table(comparison))


def show(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    recording_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Id of the recording, or a part that no other id contains. Not needed if there is only one.",
        ),
    ] = None,
    notation: Annotated[
        str, typer.Option("--notation", "-n", help=f"One of {', '.join(NOTATIONS.built_in)}.")
    ] = "compact",
    max_values: Annotated[
        int,
        typer.Option(
            "--max-values",
            min=1,
            help="Maximum number of values in the text, which ends there with `cut: values`.",
        ),
    ] = MAX_VALUES,
    as_json: Json = False,
) -> None:
    """Print the trace of one recording in a notation that models are trained on and answer in."""
    from deskcheck.recording.reader import Recordings

    if notation not in NOTATIONS:
        raise InputError(f"unknown notation {notation!r}. The notations are {', '.join(NOTATIONS)}.")
    recordings = Recordings(folder)
    if recording_id is None and len(recordings) != 1:
        raise InputError(
            f"{folder}: has {len(recordings)} recordings: give an ID. deskcheck view {folder} lists them."
        )
    recording = recordings.named(recording_id) if recording_id is not None else next(iter(recordings))
    text = NOTATIONS[notation].render(recording, limit=max_values)
    if text.endswith(f"cut: {VALUES}"):
        say(f"{recording.id}: the text ends after {max_values:,} values. For more give --max-values N.")
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
