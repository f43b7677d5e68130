"""Commands about notebooks: `notebooks check`, `notebooks accept`."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskcheck.cli.assistants import serve
from deskcheck.cli.common.commands import ClickException
from deskcheck.cli.common.jobs import Work, job_progress, print_job
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, progress_reports, refuse_unwritable, says_when_interrupted
from deskcheck.errors import InputError
from deskcheck.files import write_file
from deskcheck.notebook.settings import CheckSettings
from deskcheck.settings import Setting
from deskcheck.terminal import console_out

if TYPE_CHECKING:
    from deskcheck.jobs import JobSummary
    from deskcheck.notebook.check.check import Report

notebooks = typer.Typer(no_args_is_help=True, help="Check whether notebooks reproduce.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """How outputs are compared."""

    without: Annotated[
        tuple[str, ...],
        Setting("Leave this rule out; 'all': compare the texts unchanged.", metavar="NORMALISER"),
    ] = ()
    sanitize_with: Annotated[
        tuple[Path, ...],
        Setting(
            "More rules: a file of regular expressions in nbval's format. May be given again.",
            metavar="FILE",
            parse=Path,
        ),
    ] = ()

    def normalisers(self) -> Any:
        """The rules, with those from files first. Raises InputError for an unknown one."""
        from deskcheck.notebook.check.normalise import NORMALISERS
        from deskcheck.notebook.check.sanitise import read_sanitisers

        names = [item.name for item in NORMALISERS]
        unknown = [name for name in self.without if name not in (*names, "all")]
        if unknown:
            raise InputError(f"--without {unknown[0]!r}: the normalisers are {', '.join(names)}; or all.")
        from_files = [rule for file in self.sanitize_with for rule in read_sanitisers(file)]
        twice = {rule.name for rule in from_files if sum(item.name == rule.name for item in from_files) > 1}
        if twice:
            raise InputError(f"--sanitize-with: two files have a rule {min(twice)!r}: rename one section.")
        built_in = [] if "all" in self.without else [r for r in NORMALISERS if r.name not in self.without]
        return (*from_files, *built_in)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportOptions:
    """Where to write the report, and when the check fails."""

    json_file: Annotated[
        Path | None, Setting("Write the report as JSON; '-' prints it.", flag="--json", metavar="FILE")
    ] = None
    html_file: Annotated[
        Path | None, Setting("Write the report as a page for a browser.", flag="--html", metavar="FILE")
    ] = None
    junit_file: Annotated[
        Path | None,
        Setting("Write the report as JUnit XML, a test case for each cell.", flag="--junit", metavar="FILE"),
    ] = None
    github: Annotated[
        bool,
        Setting("For GitHub Actions: annotate the notebooks, and add a table to the summary of the job."),
    ] = False
    fail_on: Annotated[
        str,
        Setting("Exit with 1 if a notebook or cell has one of these; 'none': never.", metavar="STATUS,..."),
    ] = "different,not_repeatable,confined,failed,timed_out,unreadable,no_kernel"
    out: Annotated[
        Path | None,
        Setting(
            "Keep the runs here as trajectories, or with --shards the results. After an interruption, "
            "rerun the command to resume."
        ),
    ] = None


Details = Annotated[
    bool | None,
    typer.Option(help="Show every cell that differs, with the differences.", show_default="one notebook"),
]


@notebooks.command("check")
@with_options
def check_notebooks(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Notebook files, and folders of them.")
    ],
    *,
    options: Annotated[_ReportOptions, Panel(None)],
    compared: Annotated[_Compared, Panel(None)],
    details: Details = None,
    settings: Annotated[CheckSettings, Panel("Runs")],
    work: Work,
) -> None:
    """Run notebooks again and compare with the outputs that are stored in them.

    Exit status: 0 all reproduce, 1 some do not, 2 wrong usage or a failure of deskcheck."""
    failing = _statuses(options.fail_on)
    for file in (options.json_file, options.html_file, options.junit_file):
        if file is not None and str(file) != "-":
            refuse_unwritable(file)
    settings = replace(settings, normalisers=compared.normalisers())
    with _for_github(options.github, failing) as add_report:
        report, summary = _checked(paths, settings, options.out, work)
        _tell(report, summary, options, failing, details)
        add_report(report)
    if (summary is not None and summary.totals.problems) or "harness_error" in report.statuses():
        raise typer.Exit(2)
    if failing & report.statuses():
        raise typer.Exit(1)


@notebooks.command("accept")
@with_options
def accept_outputs(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A notebook.")],
    *,
    cell: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Accept only the output of this cell. May be given again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be stored, without changing the file.")
    ] = False,
    as_json: Json = False,
    compared: Annotated[_Compared, Panel(None)],
    settings: Annotated[CheckSettings, Panel("Runs")],
) -> None:
    """Run a notebook again and store its new outputs in it, where all runs agree."""
    from deskcheck.notebook.check.accept import accept_outputs as accept
    from deskcheck.notebook.check.check import Report
    from deskcheck.view.notebooks import notebooks_table

    settings = replace(settings, normalisers=compared.normalisers())
    if not dry_run:
        refuse_unwritable(path)
    accepted = accept(path, settings, cells=cell or (), write=not dry_run)
    if as_json:
        print(json.dumps(accepted.to_dict()))
        return
    report = Report((), settings.runs, [accepted.report])
    console_out().print(notebooks_table(report, details=True))
    cells = ", ".join(map(str, accepted.written))
    stored = "would be stored" if dry_run else "are stored"
    print(f"outputs of cells {cells} {stored} in {path}" if cells else f"{path}: nothing to accept")
    if accepted.left:
        rejected = ", ".join(f"{number} ({word})" for number, word in accepted.left.items())
        print(f"not accepted: cells {rejected}")


notebooks.command("mcp", hidden=True)(serve)


def check_options(
    arguments: Sequence[str], defaults: Mapping[str, Any]
) -> tuple[CheckSettings, set[str] | None]:
    """Parse options of `notebooks check` for other ways to start the same check.

    Returns the settings, and the statuses of ``--fail-on``, or None without that option. defaults: values by
    name of option, as `configuration` reads them.

    Raises InputError for options that the command refuses, or that have no meaning here.
    """
    parsed: list[tuple[CheckSettings, set[str] | None]] = []

    def read(
        *,
        fail_on: Annotated[str | None, typer.Option()] = None,
        compared: Annotated[_Compared, Panel(None)],
        settings: Annotated[CheckSettings, Panel("Runs")],
    ) -> None:
        rules = replace(settings, normalisers=compared.normalisers())
        parsed.append((rules, None if fail_on is None else _statuses(fail_on)))

    reader = typer.Typer(add_completion=False)
    reader.command()(with_options(read))
    command = typer.main.get_command(reader)
    try:
        command.main([*arguments], "deskcheck notebooks check", standalone_mode=False, default_map=defaults)
    except ClickException as error:
        raise InputError(f"{' '.join(arguments)}: {error.format_message()}") from None
    if not parsed:
        raise InputError("--help: run `deskcheck notebooks check --help` on a command line.")
    return parsed[0]


@contextmanager
def _for_github(enabled: bool, failing: set[str]) -> Iterator[Any]:
    """Yield a function that reports to GitHub. GitHub cannot read other output in the context as commands."""
    if not enabled:
        yield lambda report: None
        return
    from deskcheck.notebook.trajectory.lines import cell_lines
    from deskcheck.view.ci.github import StoppedCommands, annotations, summary

    stopped = StoppedCommands()
    print(stopped.begin(), flush=True)

    def add(report: "Report") -> None:
        file = os.environ.get("GITHUB_STEP_SUMMARY")
        if file:
            try:
                with open(file, "a", encoding="utf-8") as stream:
                    stream.write(summary(report, failing))
            except OSError as error:
                reason = f"cannot be written: {error.strerror}."
                raise InputError(f"GITHUB_STEP_SUMMARY={file}: {reason}") from None
        print(stopped.end())
        workspace = Path(os.environ.get("GITHUB_WORKSPACE") or ".")
        for line in annotations(report, failing, workspace=workspace, lines_of=cell_lines):
            print(line)

    yield add


def _tell(
    report: "Report",
    job_summary: "JobSummary | None",
    options: _ReportOptions,
    failing: set[str],
    details: bool | None,
) -> None:
    from deskcheck.view.notebooks import notebooks_table

    if options.html_file is not None:
        from deskcheck.view.notebooks_page import notebooks_page

        write_file(options.html_file, [notebooks_page(report)])
    if options.junit_file is not None:
        from deskcheck.view.ci.junit import junit_xml

        write_file(options.junit_file, [junit_xml(report, failing)])
    if str(options.json_file) == "-":
        print(json.dumps(report.to_dict()))
        return
    if options.json_file is not None:
        write_file(options.json_file, [json.dumps(report.to_dict(), indent=1), "\n"])
    with_details = details if details is not None else len(report.notebooks) == 1
    console_out().print(notebooks_table(report, details=with_details))
    if job_summary is not None:
        print_job(job_summary)


def _checked(
    paths: list[Path], settings: CheckSettings, out: Path | None, work: Work
) -> tuple["Report", "JobSummary | None"]:
    """The report of the notebooks, and with --shards the summary of the job."""
    from deskcheck.notebook.check.check import check_notebooks

    if work.in_shards:
        from deskcheck.notebook.check.job import SIZE, check_in_shards  # with all that jobs bring

        if out is None:
            raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
        size = work.shards or SIZE
        with job_progress(out, quiet=False) as progress:
            return check_in_shards(
                paths, out, settings, runner=work.runner(), size=size, replace=work.replace, progress=progress
            )
    stopped = "interrupted: nothing was kept. --out FOLDER keeps finished runs."
    if out is not None:
        stopped = f"interrupted: finished runs are in {out}; rerun the command to resume"
    with progress_reports(quiet=False) as progress, says_when_interrupted(stopped):
        return check_notebooks(paths, settings, out=out, workers=work.workers, progress=progress), None


def _statuses(names: str) -> set[str]:
    """The statuses in a comma-separated list. Raises InputError for an unknown one."""
    from deskcheck.notebook.check.check import CellStatus, NotebookStatus

    statuses = [*dict.fromkeys([*(s.value for s in NotebookStatus), *(s.value for s in CellStatus)])]
    chosen = {name.strip() for name in names.split(",") if name.strip() != "none"}
    if not chosen <= {*statuses}:
        raise InputError(
            f"--fail-on {', '.join(sorted(chosen - {*statuses}))}: unknown. The statuses are "
            f"{', '.join(statuses)}, and none."
        )
    return chosen
