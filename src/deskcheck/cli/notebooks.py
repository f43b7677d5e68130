"""Commands about notebooks: `notebooks check`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskcheck.cli.common.jobs import Work, job_progress, print_job
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import progress_bar, says_when_interrupted
from deskcheck.errors import InputError
from deskcheck.files import write_file
from deskcheck.notebook.settings import CheckSettings
from deskcheck.settings import Setting
from deskcheck.terminal import console_out

if TYPE_CHECKING:
    from deskcheck.notebook.check.check import Report
    from deskcheck.scale import JobSummary

notebooks = typer.Typer(no_args_is_help=True, help="Notebooks and the outputs that are stored in them.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportOptions:
    """What is compared, where the report goes, and when the check has failed."""

    json_file: Annotated[
        Path | None, Setting("Write the report as JSON; '-' prints it.", flag="--json", metavar="FILE")
    ] = None
    html_file: Annotated[
        Path | None, Setting("Write the report as a page for a browser.", flag="--html", metavar="FILE")
    ] = None
    fail_on: Annotated[
        str,
        Setting("Exit with 1 if a notebook or cell has one of these; 'none': never.", metavar="STATUS,..."),
    ] = "different,not_repeatable,confined,failed,timed_out,unreadable,no_kernel"
    without: Annotated[
        tuple[str, ...],
        Setting("Leave this rule out; 'all': compare the texts as they are.", metavar="NORMALISER"),
    ] = ()
    out: Annotated[
        Path | None,
        Setting(
            "Keep the runs here as trajectories, or with --shards the results; the same command continues "
            "from there."
        ),
    ] = None


Details = Annotated[
    bool | None,
    typer.Option(
        help="Show every cell that is not the same, with the differences.", show_default="one notebook"
    ),
]


@notebooks.command("check")
@with_options
def check_notebooks(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Notebook files, and folders of them.")
    ],
    *,
    options: Annotated[_ReportOptions, Panel(None)],
    details: Details = None,
    settings: Annotated[CheckSettings, Panel("Runs")],
    work: Work,
) -> None:
    """Run notebooks again and compare with the outputs that are stored in them.

    Exit status: 0 all reproduce, 1 some do not, 2 a wrong call or an error of ours."""
    failing = _statuses(options.fail_on)
    for file in (options.json_file, options.html_file):
        if file is not None and str(file) != "-" and not file.parent.is_dir():
            raise InputError(f"{file}: there is no folder {file.parent}.")
    settings = replace(settings, normalisers=_normalisers(options.without))
    report, done = _checked(paths, settings, options.out, work)
    _tell(report, done, options, details)
    if done is not None and done.totals.problems:
        raise typer.Exit(2)
    if failing & report.statuses():
        raise typer.Exit(1)


def _tell(report: "Report", done: "JobSummary | None", options: _ReportOptions, details: bool | None) -> None:
    from deskcheck.view.notebooks import notebooks_table
    from deskcheck.view.notebooks_page import notebooks_page

    if options.html_file is not None:
        write_file(options.html_file, [notebooks_page(report)])
    if str(options.json_file) == "-":
        print(json.dumps(report.to_dict()))
        return
    if options.json_file is not None:
        write_file(options.json_file, [json.dumps(report.to_dict(), indent=1), "\n"])
    shown = details if details is not None else len(report.notebooks) == 1
    console_out().print(notebooks_table(report, details=shown))
    if done is not None:
        print_job(done)


def _checked(
    paths: list[Path], settings: CheckSettings, out: Path | None, work: Work
) -> tuple["Report", "JobSummary | None"]:
    """What came of the notebooks, and of the job, where it is one in shards."""
    from deskcheck.notebook.check.check import check_notebooks
    from deskcheck.notebook.check.job import SIZE, check_in_shards

    if work.in_shards:
        if out is None:
            raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
        size = work.shards or SIZE
        with job_progress(out, quiet=False) as tell:
            return check_in_shards(
                paths, out, settings, runner=work.runner(), size=size, replace=work.replace, progress=tell
            )
    stopped = "interrupted: nothing was kept; with --out FOLDER, finished runs are"
    if out is not None:
        stopped = f"interrupted: the runs are in {out}; the same command goes on from there"
    with progress_bar(quiet=False) as advance, says_when_interrupted(stopped):
        return check_notebooks(
            paths, settings, out=out, workers=work.workers, progress=lambda name: advance(name)
        ), None


def _statuses(names: str) -> set[str]:
    """The statuses of a list with commas. Raises InputError for one that there is not."""
    from deskcheck.notebook.check.check import CellStatus, NotebookStatus

    known = [*dict.fromkeys([*(s.value for s in NotebookStatus), *(s.value for s in CellStatus)])]
    found = {name.strip() for name in names.split(",") if name.strip() != "none"}
    if not found <= {*known}:
        raise InputError(
            f"--fail-on {', '.join(sorted(found - {*known}))}: known are {', '.join(known)}, and none."
        )
    return found


def _normalisers(without: Sequence[str]) -> Any:
    from deskcheck.notebook.check.normalise import NORMALISERS

    names = [each.name for each in NORMALISERS]
    unknown = [name for name in without if name not in (*names, "all")]
    if unknown:
        raise InputError(f"--without {unknown[0]!r}: the normalisers are {', '.join(names)}; or all.")
    return tuple(each for each in NORMALISERS if each.name not in without and "all" not in without)
