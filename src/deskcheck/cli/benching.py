"""Commands for authors of benchmarks: `bench` makes one of a project's tests, `selfcheck` checks one."""

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
from deskcheck.cli.common.output import Json, progress_reports, say, says_when_interrupted
from deskcheck.terminal import open_in_browser
from deskcheck.words import counted, counts_text


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
    """Make a private benchmark of a project: run its tests, record calls of its functions, write questions.

    The tests run without a sandbox, as you run them, in the project's environment if it has one. Otherwise
    their packages are installed into a new environment. After an interruption, rerun the command to resume.

    Exit status: 0 success, 1 the oracle fails a question, 2 wrong usage or a failure of deskcheck, 130
    interrupted."""
    from deskcheck.bench.benchmark import PAGE, make_benchmark
    from deskcheck.files import write_file
    from deskcheck.view.bench_page import bench_page

    folder = out or Path(f"bench-{project.resolve().name}")
    interruption = f"interrupted: finished work is in {folder}; rerun the command to resume"
    with says_when_interrupted(interruption), progress_reports(as_json) as advance:
        benchmark = make_benchmark(project, folder, settings, workers=workers, progress=advance, note=say)
    page = folder / PAGE
    write_file(page, [bench_page(benchmark)])
    if as_json:
        print(json.dumps(benchmark.to_dict()))
    else:
        _print(benchmark, folder, page)
    if open_:
        open_in_browser(page.resolve().as_uri())
    if not benchmark.right:
        raise typer.Exit(1)


def _print(benchmark: Any, folder: Path, page: Path) -> None:
    asked_about, public = benchmark.public
    questions, functions = counted(benchmark.samples, "question"), counted(benchmark.clusters, "function")
    print(f"{benchmark.name}: {questions} about {functions}, in {folder}")
    share = f" ({100 * asked_about / public:.0f} %)" if public else ""
    print(f"public functions asked about: {asked_about} of {public}{share}")
    from_tests, from_made, left_out = benchmark.origins
    print(f"  {from_tests} from tests, {from_made} from made inputs, {left_out} left out")
    if benchmark.made_failed:
        print(f"  no made inputs: {benchmark.made_failed}")
    why_not = Counter(
        function.why_not for function in benchmark.functions if function.public and function.why_not
    )
    for reason, count in why_not.most_common(5):
        print(f"  not asked about: {count}, {reason}")
    for kind in benchmark.kinds:
        scores = ", ".join(f"{name} {score.value:.3f}" for name, score in kind.scores.items())
        about = f"{counted(kind.samples, 'question')} about {counted(kind.functions, 'function')}"
        print(f"  {kind.name}: {about}" + (f": {scores}" if scores else ""))
    licence = benchmark.licence
    print(f"licence: {licence['name']}, from {licence['where']}" if licence else "licence: not stated")
    print(f"tests: {counts_text(benchmark.tests)}; with {benchmark.interpreter.how}")
    for test, reason in list(benchmark.failing.items())[:5]:
        print(f"  {test}: {reason.strip().splitlines()[0][:160] if reason.strip() else benchmark.tests}")
    if len(benchmark.failing) > 5:
        print(f"  ... and {len(benchmark.failing) - 5} more, on the page")
    if benchmark.network:
        print(f"failed for lack of a network: {counted(len(benchmark.network), 'test')}")
    for missing in benchmark.missing:
        text = f"missing: {missing.what}, for {counted(missing.tests, 'test')}"
        print(text + (f": add it with --replace --with-package {missing.package}" if missing.package else ""))
    print(f"page: {page}")
    recordings = shlex.quote(str(folder / "recordings"))
    print(f"ask a model: deskcheck ask {recordings} --question all --model MODEL")


@with_options
def selfcheck(
    benchmark: Annotated[
        str,
        typer.Argument(metavar="BENCHMARK", help="NAME or NAME:PATH, or a file with your own programs."),
    ],
    *,
    workers: Annotated[int, typer.Option(min=1, help="Answers that are run at once.")] = os.cpu_count() or 1,
    as_json: Json = False,
) -> None:
    """Check a benchmark: every reference must score as right, and every known bad answer as wrong.

    These answers are run and scored like those of a model.

    Exit status: 0 all score as they must, 1 some do not, 2 wrong usage or a failure of deskcheck."""
    from deskcheck.ask.questions.benchmarks import benchmark_samples
    from deskcheck.ask.scoring.selfcheck import self_check

    ((name, samples),) = benchmark_samples([benchmark], note=say).items()
    with progress_reports(as_json) as advance:
        result = self_check(
            samples,
            workers=workers,
            progress=lambda count: advance(f"{count} of {len(samples)} tasks", count),
        )
    if as_json:
        print(json.dumps({"benchmark": name, "tasks": len(samples), **asdict(result)}))
    else:
        _print_selfcheck(name, len(samples), result)
    if not result.holds:
        raise typer.Exit(1)


def _print_selfcheck(name: str, tasks: int, result: Any) -> None:
    for finding in result.findings:
        print(finding)
    print(f"{name}: {counted(tasks, 'task')}, {counted(result.tests, 'test')}")
    print(f"references that are right: {result.good_right} of {result.good}")
    print(f"known bad answers that are wrong: {result.bad - result.bad_right} of {result.bad}")
    if result.no_reference:
        print(f"without a reference: {result.no_reference}")
    for module, count in result.not_run.items():
        print(f"not run, because the module {module} is not installed here: {count}")
