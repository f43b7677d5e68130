"""Commands about notebooks: `notebooks check`."""

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.cli.jobs import On, RayAddress, ReplaceShards, asked_shards, job_progress, print_job
from deskcheck.cli.output import console_out, progress_bar, says_when_interrupted
from deskcheck.errors import InputError
from deskcheck.files import write_file
from deskcheck.sandbox.confinement import Confinement

notebooks = typer.Typer(no_args_is_help=True, help="Notebooks and the outputs that are stored in them.")


@notebooks.command("check")
def check_notebooks(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Notebook files, and folders of them.")
    ],
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; '-' prints it.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page for a browser.")
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="STATUS,...",
            help="Exit with 1 if a notebook or cell has one of these; 'none': never.",
        ),
    ] = "different,not_repeatable,failed,timed_out,unreadable,no_kernel",
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NORMALISER", help="Leave this rule out; 'all': compare as it is."),
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, help="Fresh runs of a notebook that gives something else than is stored.")
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Keep the runs here as trajectories, or with --shards what was found; the same command "
            "goes on from there."
        ),
    ] = None,
    details: Annotated[
        bool | None,
        typer.Option(
            help="Show every cell that is not the same, with what differs.", show_default="one notebook"
        ),
    ] = None,
    cell_s: Annotated[float, typer.Option("--cell-s", min=0.1, help="Seconds that a cell may take.")] = 60.0,
    notebook_s: Annotated[
        float, typer.Option("--notebook-s", min=0.1, help="Seconds that all cells of a notebook may take.")
    ] = 600.0,
    cell_order: Annotated[
        str, typer.Option("--cell-order", help="From the 'top' down, or by execution 'count'.")
    ] = "top",
    workers: Annotated[int, typer.Option(min=1, help="Notebooks that run at once.")] = os.cpu_count() or 1,
    sandbox: Annotated[
        Confinement, typer.Option(help="How closely notebooks are confined ('trusted': your own).")
    ] = Confinement.STRICT,
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            min=1,
            metavar="N",
            help="For many notebooks: as a job in shards of about N, each whole or absent (docs/scale.md).",
        ),
    ] = None,
    on: On = None,
    ray_address: RayAddress = None,
    replace_shards: ReplaceShards = False,
) -> None:
    """Run notebooks again and compare with the outputs stored in them.

    Exit status: 0 all reproduce, 1 some do not, 2 a wrong call or an error of ours."""
    from deskcheck.notebook.check.check import CellStatus, CheckSettings, NotebookStatus
    from deskcheck.notebook.check.check import check_notebooks as run_check
    from deskcheck.notebook.check.job import SIZE, check_in_shards
    from deskcheck.notebook.kernel.replayer import ReplayLimits
    from deskcheck.view import notebooks_page, notebooks_table

    known = [*dict.fromkeys([*(s.value for s in NotebookStatus), *(s.value for s in CellStatus)])]
    failing = {name.strip() for name in fail_on.split(",") if name.strip() != "none"}
    if not failing <= {*known}:
        raise InputError(
            f"--fail-on {', '.join(sorted(failing - {*known}))}: known are {', '.join(known)}, and none."
        )
    for file in (json_file, html_file):
        if file is not None and str(file) != "-" and not file.parent.is_dir():
            raise InputError(f"{file}: there is no folder {file.parent}.")
    asked = asked_shards(shards, on, ray_address, replace_shards, size=SIZE)
    if asked is not None and out is None:
        raise InputError("--shards, --on, --ray-address, --replace need a folder: add --out FOLDER.")
    settings = CheckSettings(
        limits=ReplayLimits(cell_s=cell_s, notebook_s=notebook_s),
        confinement=sandbox,
        order=cell_order,
        runs=runs,
        normalisers=_normalisers(without or []),
    )
    done = None
    if asked is not None and out is not None:
        with job_progress(out, quiet=False) as tell:
            report, done = check_in_shards(
                paths,
                out,
                settings,
                runner=asked.runner(workers),
                size=asked.size,
                replace=asked.replace,
                progress=tell,
            )
    else:
        stopped = "interrupted: nothing was kept; with --out FOLDER, finished runs are"
        if out is not None:
            stopped = f"interrupted: the runs are in {out}; the same command goes on from there"
        with progress_bar(quiet=False) as advance, says_when_interrupted(stopped):
            report = run_check(
                paths,
                out=out,
                **{each.name: getattr(settings, each.name) for each in fields(settings)},
                workers=workers,
                progress=lambda name: advance(name),
            )
    if html_file is not None:
        write_file(html_file, [notebooks_page(report)])
    if json_file is not None and str(json_file) != "-":
        write_file(json_file, [json.dumps(report.to_dict(), indent=1), "\n"])
    if str(json_file) == "-":
        print(json.dumps(report.to_dict()))
    else:
        shown = details if details is not None else len(report.notebooks) == 1
        console_out().print(notebooks_table(report, details=shown))
        if done is not None:
            print_job(done)
    if done is not None and done.totals.problems:
        raise typer.Exit(2)
    if failing & report.statuses():
        raise typer.Exit(1)


def _normalisers(without: list[str]) -> Any:
    from deskcheck.notebook.check.normalise import NORMALISERS

    names = [each.name for each in NORMALISERS]
    unknown = [name for name in without if name not in (*names, "all")]
    if unknown:
        raise InputError(f"--without {unknown[0]!r}: the normalisers are {', '.join(names)}; or all.")
    return tuple(each for each in NORMALISERS if each.name not in without and "all" not in without)
