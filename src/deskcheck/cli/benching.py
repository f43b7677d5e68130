"""Commands for who makes benchmarks: `bench`, of a project's tests, and `selfcheck`, of a benchmark."""

import json
import os
import shlex
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.bench.settings import BenchSettings
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, counted, counts_text, progress_told, say, says_when_interrupted
from deskcheck.terminal import open_in_browser


@with_options
def bench(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="A project's folder, with its tests.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the benchmark; bench-NAME by default.")
    ] = None,
    settings: Annotated[BenchSettings, Panel("Benchmark")],
    workers: Annotated[int, typer.Option(min=1, help="Calls that are checked at once.")] = os.cpu_count()
    or 1,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: Json = False,
) -> None:
    """Make a private benchmark of a project: run its tests, record the calls of its own functions, ask.

    The tests run as you run them, not confined. What they need is found in the project's own environment, or
    installed into one that is made. The same command goes on where it was stopped.

    Exit status: 0 all is well, 1 the oracle is not right everywhere, 2 a wrong call or an error of ours, 130
    interrupted."""
    from deskcheck.bench.benchmark import PAGE, make_benchmark
    from deskcheck.files import write_file
    from deskcheck.view.bench_page import bench_page

    place = out or Path(f"bench-{project.resolve().name}")
    said = f"interrupted: what was finished is in {place}; the same command goes on from there"
    with says_when_interrupted(said), progress_told(as_json) as advance:
        found = make_benchmark(project, place, settings, workers=workers, progress=advance, note=say)
    page = place / PAGE
    write_file(page, [bench_page(found)])
    if as_json:
        print(json.dumps(found.to_dict()))
    else:
        _print(found, place, page)
    if open_:
        open_in_browser(page.resolve().as_uri())
    if not found.right:
        raise typer.Exit(1)


def _print(found: Any, place: Path, page: Path) -> None:
    asked_about, public = found.public
    print(
        f"{found.name}: {counted(found.samples, 'question')} about {counted(found.clusters, 'function')}, "
        f"in {place}"
    )
    share = f" ({100 * asked_about / public:.0f} %)" if public else ""
    print(f"public functions asked about: {asked_about} of {public}{share}")
    from_tests, made, left_out = found.origins
    print(f"  {from_tests} from tests, {made} from made inputs, {left_out} left out")
    if found.made_failed:
        print(f"  no inputs were made: {found.made_failed}")
    why_not = Counter(each.why_not for each in found.functions if each.public and each.why_not)
    for reason, count in why_not.most_common(5):
        print(f"  not asked about: {count}, {reason}")
    for kind in found.kinds:
        scores = ", ".join(f"{name} {score.value:.3f}" for name, score in kind.scores.items())
        about = f"{counted(kind.samples, 'question')} about {counted(kind.functions, 'function')}"
        print(f"  {kind.name}: {about}" + (f": {scores}" if scores else ""))
    licence = found.licence
    print(f"licence: {licence['name']}, as {licence['where']} says" if licence else "licence: none is stated")
    print(f"tests: {counts_text(found.tests)}; with {found.interpreter.how}")
    for test, why in list(found.failing.items())[:5]:
        print(f"  {test}: {why.strip().splitlines()[0][:160] if why.strip() else found.tests}")
    if len(found.failing) > 5:
        print(f"  ... and {len(found.failing) - 5} more, on the page")
    if found.network:
        print(f"not passed for want of a network: {counted(len(found.network), 'test')}")
    for each in found.missing:
        said = f"missing: {each.what}, for {counted(each.tests, 'test')}"
        print(said + (f": add it by --replace --with-package {each.package}" if each.package else ""))
    print(f"page: {page}")
    recordings = shlex.quote(str(place / "recordings"))
    print(f"ask a model: deskcheck ask {recordings} --question all --model MODEL")


@with_options
def selfcheck(
    benchmark: Annotated[
        str,
        typer.Argument(metavar="BENCHMARK", help="NAME or NAME:PATH, or a file of programs of your own."),
    ],
    *,
    workers: Annotated[int, typer.Option(min=1, help="Answers that are run at once.")] = os.cpu_count() or 1,
    as_json: Json = False,
) -> None:
    """Check a benchmark: every reference must be right, every answer that is known to be bad must be wrong.

    They are run and scored as a model's answers are.

    Exit status: 0 all holds, 1 something does not, 2 a wrong call or an error of ours."""
    from deskcheck.ask.questions.benchmarks import benchmark_samples
    from deskcheck.ask.scoring.selfcheck import self_check

    ((name, samples),) = benchmark_samples([benchmark], note=say).items()
    with progress_told(as_json) as advance:
        found = self_check(
            samples,
            workers=workers,
            progress=lambda done: advance(f"{done} of {len(samples)} tasks", done),
        )
    if as_json:
        print(json.dumps({"benchmark": name, "tasks": len(samples), **asdict(found)}))
    else:
        _print_selfcheck(name, len(samples), found)
    if not found.holds:
        raise typer.Exit(1)


def _print_selfcheck(name: str, tasks: int, found: Any) -> None:
    for finding in found.findings:
        print(finding)
    print(f"{name}: {counted(tasks, 'task')}, {counted(found.tests, 'test')}")
    print(f"references that are right: {found.good_right} of {found.good}")
    print(f"answers known to be bad that are wrong: {found.bad - found.bad_right} of {found.bad}")
    if found.no_reference:
        print(f"without a reference: {found.no_reference}")
    for module, count in found.not_run.items():
        print(f"not run, as the module {module} is not installed here: {count}")
