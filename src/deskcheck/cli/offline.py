"""The commands `offline`, for models that answer elsewhere."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from deskcheck.ask.questions.settings import NotebookOptions, Sampling
from deskcheck.ask.results.statistics import bounds_text
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.ask.settings import ScoreSettings
from deskcheck.cli.asking import (
    READINGS,
    Folders,
    Kinds,
    benchmarks_in,
    kinds_in,
    print_excluded,
    warn_of_few,
)
from deskcheck.cli.common.jobs import Work, job_progress, print_job
from deskcheck.cli.common.options import Panel, with_options
from deskcheck.cli.common.output import Json, say
from deskcheck.cli.common.tables import print_attempts, print_by_execution, print_table, with_interval
from deskcheck.terminal import console_out
from deskcheck.words import counts_text

QuestionsFile = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="What `deskcheck offline questions` wrote.")
]
Answers = Annotated[
    list[Path],
    typer.Argument(
        metavar="ANSWERS...",
        help='JSON lines: {"id": of the question, "completion": text}; "model" and other keys are kept.',
    ),
]


@with_options
def questions(
    folders: Folders,
    *,
    question: Kinds = None,
    out: Annotated[Path, typer.Option("--out", help="File for the questions: JSON lines.")],
    sampling: Annotated[Sampling, Panel("Samples")],
    steps: Annotated[StepOptions, Panel("Steps")],
    notebooks: Annotated[NotebookOptions, Panel("Notebooks")],
    as_json: Json = False,
) -> None:
    """Write the questions that `ask` would ask, for models that answer elsewhere.

    Each line has an id, the prompt, and fields that `offline score` needs, such as the right answer."""
    from deskcheck.ask.questions.lines import write_benchmark_questions, write_questions

    excluded: Mapping[str, Mapping[str, int]] = {}
    if benchmarks := benchmarks_in(folders, question):
        written = write_benchmark_questions(out, benchmarks, sampling=sampling, note=say)
    else:
        written, excluded = write_questions(
            out, folders, kinds_in(question), sampling=sampling, steps=steps, notebooks=notebooks
        )
    if as_json:
        print(json.dumps({"questions": dict(written), "excluded": {k: dict(v) for k, v in excluded.items()}}))
        return
    print(f"{out}: {written.total()} questions: {counts_text(written)}")
    print_excluded(console_out(), excluded)


@with_options
def tasks(
    questions_file: QuestionsFile,
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder for the tasks.")],
    as_json: Json = False,
) -> None:
    """Write questions as tasks for lm-evaluation-harness, which then scores answers like `ask`.

    Run them with `lm_eval run --include_path FOLDER --tasks deskcheck`, where deskcheck is installed, too."""
    from deskcheck.ask.offline.harness import write_tasks

    written, left_out = write_tasks(questions_file, out)
    if as_json:
        print(json.dumps({"tasks": dict(written), "left_out": dict(left_out)}))
        return
    print(f"{out}: {len(written)} tasks: {counts_text(written)}")
    for kind, count in left_out.items():
        say(f"left out: {count} {kind}: their answers are run, which lm-evaluation-harness does not confine")
    print(f"lm_eval run --include_path {out} --tasks deskcheck --log_samples --output_path ...")


@with_options
def answers(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...",
            help="Logs of Inspect (.eval), samples of lm-evaluation-harness, CRUXEval's generations.",
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="File for the answers: JSON lines.")],
    question: Annotated[
        str, typer.Option(metavar="KIND", help="The kind of question that CRUXEval's generations answer.")
    ] = "output",
    model: Annotated[
        str | None,
        typer.Option(help="The model that answered, if a file does not say. [default: the file's name]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert answers in files of other programs for `offline score`."""
    from deskcheck.ask.offline.answers import write_answers

    count = write_answers(out, files, question=question, model=model)
    print(json.dumps({"answers": count}) if as_json else f"{out}: {count} answers")


@with_options
def score(
    questions_file: QuestionsFile,
    answers: Answers,
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder for the scores.")],
    settings: Annotated[ScoreSettings, Panel(None)],
    work: Work,
    as_json: Json = False,
) -> None:
    """Score answers that models gave elsewhere, like `ask`; arguments and programs are run.

    A score is over all questions of its kind: unanswered ones count as wrong.

    Exit status: 0 all were scored, 1 some lines have no answer that can be scored, 2 wrong usage or
    a failure of deskcheck."""
    from deskcheck.ask.job import SIZE, score_in_shards

    with job_progress(out, as_json) as show_progress:
        scores, summary = score_in_shards(
            questions_file,
            answers,
            out,
            settings,
            runner=work.runner(),
            size=work.shards or SIZE,
            replace=work.replace,
            progress=show_progress,
        )
    if as_json:
        print(json.dumps({**scores.to_dict(), "job": summary.to_dict()}))
    else:
        _print_scores(scores)
        print_job(summary)
        print(f"scores: {out}")
    if summary.totals.problems:
        raise typer.Exit(2)
    if scores.not_used:
        raise typer.Exit(1)


def _print_scores(result: Any) -> None:
    console = console_out()
    named = [(_named(score), score) for score in result.scores]
    metrics = list(dict.fromkeys(name for score in result.scores for name in score.metrics))
    rows = []
    for row, s in named:
        figures = [str(s.n), str(s.programs), f"{s.score:.3f}", bounds_text(s.low, s.high)]
        figures += [str(s.unanswered), *(str(getattr(s, name)) for name in READINGS)]
        figures += [with_interval(s.metrics.get(name), s.n) for name in metrics]
        rows.append((row, figures))
    if rows:
        numbers = ("n", "programs", "score", "95 % interval", "not answered", *READINGS, *metrics)
        print_table(console, ("question", "model"), numbers, rows, optional=("not answered", *READINGS))
    print_by_execution(console, [(question, score) for (question, _), score in named])
    print_attempts(console, ("question", "model"), named)
    for (question, _), s in named:
        if s.unanswered:
            who = "" if s.model is None else f" by {s.model}"
            text = f"{question}: {s.unanswered} of {s.n} questions are not answered{who}"
            console.print(f"{text}; they count as wrong", markup=False)
    warn_of_few((s.question, s.effective) for s in result.scores)
    others = {name.replace("_", " "): n for name, n in result.statuses.items() if name != "scored"}
    if others:
        print(f"not scored: {counts_text(others)}")
    for text in result.not_used[:10]:
        console.print(f"  {text}", markup=False)
    if len(result.not_used) > 10:
        print("  ... and more: the rows whose status is not scored")


def _named(score: Any) -> tuple[str, str]:
    """The question, with the view of the state, and the model."""
    question = f"{score.question} ({score.state})" if score.state else score.question
    return question, "-" if score.model is None else score.model
