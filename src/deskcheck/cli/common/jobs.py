"""Options of commands that work in shards, and the commands `runs status` and `runs compact`."""

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
Work = Annotated[Spread, Panel(WORK, "work in shards")]


@contextmanager
def job_progress(out: Path, quiet: bool) -> Iterator[Callable[[Any], None]]:
    """Yield a function that shows a job's progress in a bar. An interruption prints how to resume."""
    with progress_bar(quiet) as advance:

        def report(now: Any) -> None:
            advance(str(now), now.finished, now.total)

        with says_when_interrupted(stopped(out)):
            yield report


def stopped(out: Path) -> str:
    """The message of a job that was interrupted."""
    return f"interrupted: complete shards are in {out}; rerun the command to resume"


def print_job(summary: "JobSummary") -> None:
    """Print the notes of a job."""
    print_lines(summary.notes())


def compact(
    folder: Annotated[
        Path, typer.Argument(help="The folder of a finished job: the --out of `record --shards`.")
    ],
    shards: Annotated[
        int | None,
        typer.Option("--shards", min=1, metavar="N", help="Minimum number of programs in a shard (5000)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Merge small shards of recordings into larger ones. The recordings can be read meanwhile."""
    from deskcheck.jobs.compact import SIZE
    from deskcheck.jobs.compact import compact as put_together

    with progress_bar(as_json) as advance:
        compacted = put_together(
            folder, size=shards or SIZE, progress=lambda now, of: advance("programs", now, of)
        )
    if as_json:
        print(json.dumps(compacted.to_dict()))
    else:
        print(f"{folder}: merged {compacted.before} shards into {compacted.after}: {compacted.totals.text()}")


Failures = Annotated[bool, typer.Option("--failures", help="List failed programs by kind. Reads the shards.")]
Verify = Annotated[
    bool, typer.Option("--verify", help="Compare every file with the manifest. Reads every byte.")
]


def status(
    folder: Annotated[Path, typer.Argument(help="The --out of `record`.")],
    failed: Failures = False,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Show how far `record` has come in a folder, whether it still runs or not.

    Exit status: 0 success, 1 --verify found changed files. Rerun the command of the job to make their
    shards again."""
    from deskcheck.jobs.status import changed, failures
    from deskcheck.jobs.status import status as read_status

    now = read_status(folder)
    if now.planned is None and verify:
        raise InputError(
            f"{folder}: --verify needs the manifest of a job, but this was recorded without --shards."
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
            print("all files match the manifest" if not wrong else f"changed: {', '.join(wrong)}")
    if wrong:
        raise typer.Exit(1)
