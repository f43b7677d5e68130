"""Commands of `runs` that write other folders: `push`, `pull`, `dedup` and `export`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.output import Json, progress_bar, say, says_when_interrupted

Uri = Annotated[
    str,
    typer.Argument(
        metavar="URI",
        help="As s3://bucket/runs/big, gs://..., hdfs://..., file:///...; options of S3 after a ?, as "
        "?endpoint_override=HOST:PORT&scheme=http&region=NAME.",
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify", help="Read what is already there, compare its hashes, and copy again what differs."
    ),
]


def push(
    folder: Annotated[Path, typer.Argument(help="The folder of a job: the --out of `record --shards`.")],
    uri: Uri,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Copy the finished shards of a job that are not there yet to a remote folder, even while it runs.

    Exit status: 0 all is well, 1 --verify found files that were changed, and replaced them."""
    from deskcheck.scale.remote import push

    with _progress(as_json) as tell:
        done = push(folder, uri, verify=verify, progress=tell)
    _print(done, as_json, "there")


def pull(
    uri: Uri,
    folder: Annotated[Path, typer.Argument(help="A new folder, or one with some of the same job.")],
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Copy shards of a job that are not here yet from a remote folder; the job's command can then continue.

    Exit status: 0 all is well, 1 --verify found files that were changed, and replaced them."""
    from deskcheck.scale.remote import pull

    with _progress(as_json) as tell:
        done = pull(uri, folder, verify=verify, progress=tell)
    _print(done, as_json, "here")


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int], None]]:
    stopped = "stopped: shards that were copied count; the same command goes on from there"
    with progress_bar(quiet) as advance, says_when_interrupted(stopped):
        yield lambda done, of: advance("shards", done, of)


def _print(done: Any, as_json: bool, where: str) -> None:
    if as_json:
        print(json.dumps(done.to_dict()))
    else:
        print(
            f"{done.shards} shards copied, {done.size_bytes / 1e6:.1f} MB; {done.there} were {where} already"
        )
        if done.changed:
            print(f"changed {where}, and replaced: {', '.join(done.changed)}")
        if not done.whole:
            print(f"the job is not whole {where}: {done.planned} shards are planned")
    if done.changed:
        raise typer.Exit(1)


def dedup(
    folders: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the recordings that stay; it must not exist.")
    ],
    near: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Also leave out near copies of programs: those that have this share of their token "
            "sequences in common with an earlier one (such as 0.8). Without it: only equal runs.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Combine recordings in one folder, each run once; say what was left out and why."""
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
        float, typer.Option(min=0, max=1, help="Recordings: share of the programs.")
    ] = 0.05,
    test: Annotated[float, typer.Option(min=0, max=1, help="Recordings: share of the programs.")] = 0.05,
    any_licence: Annotated[
        bool, typer.Option("--any-licence", help="Also take what is not cleared for training (train_ok).")
    ] = False,
    events: Annotated[bool, typer.Option(help="Recordings: also write their events.")] = True,
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
