"""Commands that mirror a job's folder: `push` to a remote one, `pull` from it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.output import Json, progress_bar, says_when_interrupted

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
        "--verify", help="Read what is there already, compare it with its hashes, copy again what differs."
    ),
]


def push(
    folder: Annotated[Path, typer.Argument(help="Of a job: what `record --shards` was given as --out.")],
    uri: Uri,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Copy to a remote folder what of a job is whole and not there yet; also while the job runs.

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
    """Copy from a remote folder what of a job is not here yet; its own command then goes on from it.

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
