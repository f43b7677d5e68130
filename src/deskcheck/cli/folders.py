"""Commands of `runs` that write other folders: `dedup` and `export`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deskcheck.cli.common.output import Json, progress_bar, say


def dedup(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the remaining recordings; it must not exist.")
    ],
    near: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Also leave out near copies of programs: those that share at least this part of their token "
            "sequences with an earlier one (such as 0.8). By default only equal runs.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Combine recordings in one folder, without duplicate runs. Prints the reasons of omissions."""
    from deskcheck.sources.duplicates import LIST_NAME, deduplicate

    with progress_bar(as_json) as advance:
        deduplicated = deduplicate(
            folders, out, near=near, progress=lambda count, total: advance("recordings", count, total)
        )
    if as_json:
        print(json.dumps(deduplicated.to_dict()))
        return
    recordings = f"{deduplicated.kept} of {deduplicated.recordings} recordings"
    print(f"{recordings}, of {deduplicated.programs} programs, in {out}")
    for reason, count in deduplicated.dropped.items():
        print(f"left out: {count} {reason}")
    if deduplicated.dropped:
        print(f"each with its duplicate: {out / LIST_NAME}")


export = typer.Typer(
    no_args_is_help=True, help="Write recordings and lessons in the layouts of other programs."
)


@export.callback()
def _group() -> None:
    pass


@export.command("hf")
def export_hf(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings or of lessons.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the data set; it must not exist.")],
    name: Annotated[
        str | None, typer.Option(help="Its name on the card; by default the folder's name.")
    ] = None,
    validation: Annotated[
        float, typer.Option(min=0, max=1, help="Recordings: share of programs for validation.")
    ] = 0.05,
    test: Annotated[
        float, typer.Option(min=0, max=1, help="Recordings: share of programs for the test split.")
    ] = 0.05,
    any_licence: Annotated[
        bool,
        typer.Option("--any-licence", help="Also export data that is not cleared for training (train_ok)."),
    ] = False,
    events: Annotated[bool, typer.Option(help="Recordings: also write their events.")] = True,
    as_json: Json = False,
) -> None:
    """Write a folder that Hugging Face's `datasets` loads by its name: a card and Parquet files by split."""
    from deskcheck.jobs.job_folder import JobFolder
    from deskcheck.jobs.status import status
    from deskcheck.teach.lessons.dataset import export_dataset

    if JobFolder(folder).job.exists() and not (job := status(folder)).whole:
        say(f"note: {folder} is an unfinished job: it has {job.totals.programs} programs so far")
    exported = export_dataset(
        folder, out, name=name, validation=validation, test=test, any_licence=any_licence, events=events
    )
    if as_json:
        print(json.dumps(exported.to_dict()))
        return
    for table, counts in exported.rows.items():
        rows = ", ".join(f"{count:,} {split}" for split, count in counts.items())
        print(f"{out}/{table}: {rows or 'none'}")
    for what, count in exported.left_out.items():
        print(f"left out, not cleared for training: {count:,} {what}")
