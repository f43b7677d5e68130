"""Commands that do much in shards: the options that they share, and `runs status`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.common.options import Panel
from deskcheck.cli.common.output import (
    Json,
    counts_text,
    print_list,
    progress_bar,
    says_when_interrupted,
)
from deskcheck.errors import InputError
from deskcheck.jobs.spread import Spread

WORK = "How the work is spread"
Work = Annotated[Spread, Panel(WORK, "work that is spread")]


@contextmanager
def job_progress(out: Path, quiet: bool) -> Iterator[Callable[[Any], None]]:
    """A bar that a job's progress is told to; a word where it is stopped."""
    with progress_bar(quiet) as advance:

        def tell(now: Any) -> None:
            advance(str(now), now.done, now.of)

        with says_when_interrupted(stopped(out)):
            yield tell


def stopped(out: Path) -> str:
    """What a job that was interrupted says."""
    return f"stopped: what is whole is in {out}; the same command goes on from there"


def print_job(summary: Any) -> None:
    """What a job did beside what it was asked for."""
    if summary.skipped:
        print(f"{summary.skipped} were there already")
    if summary.changed:
        print(f"not as the manifest says, and made again: {', '.join(summary.changed)}")
    for how, count in summary.tried_again.items():
        print(f"tried again: {count}, after a process {how}")
    print_list("our own failures", summary.totals.problems)


WORDS = {"notebooks": ("notebooks", "cells"), "score": ("answers", "right")}
"""Kind of a job -> what its items are called, and what is counted of them."""


def totals_text(totals: Any, kind: str = "record") -> str:
    items, parts = WORDS.get(kind, ("programs", "events"))
    return (
        f"{totals.programs} {items} in {totals.shards} shards, {totals.events} {parts}, "
        f"{totals.size_bytes / 1e6:.1f} MB: {counts_text(totals.by_outcome) or 'none yet'}"
    )


def compact(
    folder: Annotated[
        Path, typer.Argument(help="The folder of a finished job: the --out of `record --shards`.")
    ],
    shards: Annotated[
        int | None,
        typer.Option("--shards", min=1, metavar="N", help="At least this many programs in a shard (5000)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Merge small shards of recordings into larger ones; they can be read meanwhile."""
    from deskcheck.jobs.compact import SIZE
    from deskcheck.jobs.compact import compact as put_together

    with progress_bar(as_json) as advance:
        done = put_together(
            folder, size=shards or SIZE, progress=lambda now, of: advance("programs", now, of)
        )
    if as_json:
        print(json.dumps(done.to_dict()))
    else:
        print(f"{folder}: {done.before} shards are {done.after} now: {totals_text(done.totals)}")


Failures = Annotated[
    bool, typer.Option("--failures", help="Name programs that failed, by kind: reads the shards.")
]
Verify = Annotated[
    bool, typer.Option("--verify", help="Compare every file with the manifest: reads every byte.")
]


def status(
    folder: Annotated[Path, typer.Argument(help="The --out of `record`.")],
    failed: Failures = False,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Show the progress of `record`, from its folder, whether it runs or not.

    Exit status: 0 all is well, 1 --verify found files that were changed: the job's own command makes their
    shards again."""
    from deskcheck.jobs.status import changed, failures, plain_status
    from deskcheck.jobs.status import status as read_status

    plain: Any = plain_status(folder)
    if plain is not None and verify:
        raise InputError(
            f"{folder}: --verify compares with the manifest of a job, and this was recorded without --shards."
        )
    found = None if plain is not None else read_status(folder)
    by_kind = failures(folder) if failed else {}
    wrong = changed(folder) if verify else []
    if as_json:
        told: dict[str, Any] = found.to_dict() if found is not None else plain.to_dict()
        told |= {"failures": by_kind} if failed else {}
        told |= {"changed": wrong} if verify else {}
        print(json.dumps(told))
    else:
        if found is not None:
            _print_status(found, folder)
        else:
            _print_plain(plain, folder)
        for kind, programs in by_kind.items():
            print_list(kind, programs)
        if verify:
            print("every file is as the manifest says" if not wrong else f"changed: {', '.join(wrong)}")
    if wrong:
        raise typer.Exit(1)


def _print_status(found: Any, folder: Path) -> None:
    so_far = "" if found.planned else " so far"
    items, _ = WORDS.get(found.kind, ("programs", "events"))
    planned = f"{found.programs} {items} in {found.shards} shards are planned{so_far}"
    print(f"{folder}: {planned}; whole are {totals_text(found.totals, found.kind)}")
    if found.inside:
        print(f"{found.inside} more are finished in shards that are not")
    if found.driver is not None:
        from deskcheck.jobs.job import duration

        rate = "" if found.rate is None else f": {found.rate:.3g} {items}/s"
        left = "" if found.left_s is None else f", {duration(found.left_s)} left"
        print(f"driven by {found.driver}{rate}{left}")
    elif not found.whole:
        print("nobody drives it: start its command again")


def _print_plain(found: Any, folder: Path) -> None:
    print(f"{folder}: recorded are {totals_text(found.totals)}")
    if found.waiting:
        print(f"{found.waiting} more are finished; they can be read when `record` next ends here")
    if found.writer is not None:
        print(f"written by {found.writer}")
    else:
        print("nobody writes here. How many programs there are to be is not known without --shards:")
        print("if `record` was stopped, the same command goes on from there and does only the rest.")
