"""Commands that do much in shards: the options that they share, and `runs status`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskcheck.cli.common.options import Panel
from deskcheck.cli.common.output import Json, print_lines, progress_bar, says_when_interrupted
from deskcheck.errors import InputError
from deskcheck.jobs.spread import Spread
from deskcheck.words import list_lines

if TYPE_CHECKING:
    from deskcheck.jobs import JobSummary

WORK = "How the work is spread"
Work = Annotated[Spread, Panel(WORK, "work that is spread")]


@contextmanager
def job_progress(out: Path, quiet: bool) -> Iterator[Callable[[Any], None]]:
    """A bar that a job's progress is told to; a word where it is stopped."""
    with progress_bar(quiet) as advance:

        def tell(now: Any) -> None:
            advance(str(now), now.finished, now.total)

        with says_when_interrupted(stopped(out)):
            yield tell


def stopped(out: Path) -> str:
    """What a job that was interrupted says."""
    return f"stopped: what is whole is in {out}; the same command goes on from there"


def print_job(summary: "JobSummary") -> None:
    """What a job did beside what it was asked for."""
    print_lines(summary.notes())


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
        compacted = put_together(
            folder, size=shards or SIZE, progress=lambda now, of: advance("programs", now, of)
        )
    if as_json:
        print(json.dumps(compacted.to_dict()))
    else:
        print(f"{folder}: {compacted.before} shards are {compacted.after} now: {compacted.totals.text()}")


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
    from deskcheck.jobs.status import changed, failures
    from deskcheck.jobs.status import status as read_status

    now = read_status(folder)
    if now.planned is None and verify:
        raise InputError(
            f"{folder}: --verify compares with the manifest of a job, and this was recorded without --shards."
        )
    by_kind = failures(folder) if failed else {}
    wrong = changed(folder) if verify else []
    if as_json:
        facts = now.to_dict()
        facts |= {"failures": by_kind} if failed else {}
        facts |= {"changed": wrong} if verify else {}
        print(json.dumps(facts))
    else:
        print_lines(now.lines(folder))
        for kind, programs in by_kind.items():
            print_lines(list_lines(kind, programs))
        if verify:
            print("every file is as the manifest says" if not wrong else f"changed: {', '.join(wrong)}")
    if wrong:
        raise typer.Exit(1)
