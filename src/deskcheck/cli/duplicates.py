"""Commands that leave out what is there already: `dedup`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from deskcheck.cli.output import Json, progress_bar


def dedup(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for those that are left; it must not exist.")],
    near: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Leave out near copies of programs too: those that have this share of their runs of tokens "
            "in common with one before them (0.8, say). Without: equal runs alone.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put recordings together in one folder, each run once; say what was left out and why."""
    from deskcheck.corpus.duplicates import LIST_NAME, deduplicate

    with progress_bar(as_json) as advance:
        found = deduplicate(
            folders, out, near=near, progress=lambda done, of: advance("recordings", done, of)
        )
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    print(f"{found.kept} of {found.recordings} recordings, of {found.programs} programs, in {out}")
    for why, count in found.dropped.items():
        print(f"left out: {count} {why}")
    if found.dropped:
        print(f"each with what it is the same as: {out / LIST_NAME}")
