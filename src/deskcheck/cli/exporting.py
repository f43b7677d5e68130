"""Commands that give recordings and lessons to others: `export hf`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deskcheck.cli.output import Json, say

export = typer.Typer(no_args_is_help=True, help="Recordings and lessons in the layouts of others.")


@export.callback()
def _group() -> None:
    pass


@export.command("hf")
def export_hf(
    folder: Annotated[Path, typer.Argument(help="A folder of recordings or of lessons.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the data set; it must not exist.")],
    name: Annotated[
        str | None, typer.Option(help="What the card calls it; without, the folder's name.")
    ] = None,
    validation: Annotated[
        float, typer.Option(min=0, max=1, help="Recordings: share of the programs.")
    ] = 0.05,
    test: Annotated[float, typer.Option(min=0, max=1, help="Recordings: share of the programs.")] = 0.05,
    any_licence: Annotated[
        bool, typer.Option("--any-licence", help="Also what is not cleared for training (train_ok).")
    ] = False,
    events: Annotated[bool, typer.Option(help="Recordings: write their events too.")] = True,
    as_json: Json = False,
) -> None:
    """Write a folder that Hugging Face's `datasets` loads by its name: a card and Parquet files by split."""
    from deskcheck.scale.place import Place
    from deskcheck.scale.status import status
    from deskcheck.teach.lessons.dataset import export_dataset

    if Place(folder).job.exists() and not (found := status(folder)).whole:
        say(f"note: {folder} is a job that is not whole: {found.totals.programs} programs of it are there")
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
