"""Commands that teach models and run programs in them: `lessons`, `teach`, `models step`."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deskcheck.ask.settings import named
from deskcheck.cli.common.jobs import Work, job_progress, print_job
from deskcheck.cli.common.options import Panel, refuse_others, settings_from_options, with_options
from deskcheck.cli.common.output import (
    Json,
    progress_bar,
    refuse_unwritable,
    say,
    say_row,
    says_when_interrupted,
)
from deskcheck.cli.common.tables import print_steps, with_interval
from deskcheck.errors import InputError, MissingExtra, RecordingError
from deskcheck.files import write_file
from deskcheck.jobs.spread import Spread
from deskcheck.settings import Setting
from deskcheck.teach.lessons.settings import LessonSettings
from deskcheck.teach.levels.registry import ALONE, level_of, step_at
from deskcheck.teach.settings import ModelSize, Training, Tuning
from deskcheck.terminal import console_out

NOTHING, FURTHER = "From nothing", "Further, with --model"
STEPS_OF = "Single steps, with --steps-of"
DEFAULT_LEVEL = "processor"


@with_options
def lessons(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of recordings.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="Folder for the lessons.")],
    settings: Annotated[LessonSettings, Panel("Lessons")],
    work: Work,
    as_json: Json = False,
) -> None:
    """Write recordings out as lessons: Parquet rows with prompt, completion, tokens and labels."""
    from deskcheck.teach.lessons.lessons import build

    if work.in_shards:
        _lessons_in_shards(runs, out, settings, work, as_json=as_json)
        return
    stopped = f"interrupted: the shards that are whole are in {out}; the same command goes on from there"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = build(
            runs, out, settings, progress=lambda done, of: advance("recordings", done, of), note=say
        )
    if as_json:
        print(json.dumps(summary.to_dict()))
        return
    _show_lessons(out, summary)


def _lessons_in_shards(runs: list[Path], out: Path, settings: Any, work: Spread, *, as_json: bool) -> None:
    from deskcheck.jobs.plan import SIZE
    from deskcheck.teach.lessons.job import build_in_shards

    with job_progress(out, as_json) as progress:
        summary, job_summary = build_in_shards(
            runs,
            out,
            settings,
            runner=work.runner(),
            size=work.shards or SIZE,
            replace=work.replace,
            progress=progress,
            note=say,
        )
    if as_json:
        print(json.dumps({**summary.to_dict(), "job": job_summary.to_dict()}))
    else:
        _show_lessons(out, summary)
        print_job(job_summary)
    if job_summary.totals.problems:
        raise typer.Exit(2)


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(",") if word.strip())
    except ValueError:
        raise InputError(f"{option} {text!r}: give numbers with commas between, as 1,2,4.") from None


def _show_lessons(out: Path, summary: Any) -> None:
    print(
        f"{summary.lessons} lessons in {out}, of {summary.programs} programs "
        f"({summary.recordings} recordings, {summary.events} events)"
    )
    table = Table(show_edge=False, pad_edge=False)
    for name in ("split", "notation", "lessons", "tokens", "trained tokens"):
        table.add_column(name, justify="left" if name in ("split", "notation") else "right")
    for split, notations in sorted(summary.kept.items()):
        for notation, counts in sorted(notations.items()):
            numbers = (counts["lessons"], counts["tokens"], counts["trained_tokens"])
            table.add_row(split, notation, *(f"{number:,}" for number in numbers))
    console_out().print(table)
    for what, reasons in sorted(summary.left_out.items()):
        counts_text = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        print(f"left out, {what}: {counts_text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _FromNothing:
    """A model from nothing: how it is trained, how large it is, and where."""

    training: Training = field(default_factory=Training)
    size: ModelSize = field(default_factory=ModelSize)
    device: Annotated[str | None, Setting("Where it is trained: cpu, cuda, cuda:1 (cpu).")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TeachOptions:
    """What is trained, and on what."""

    model: Annotated[
        str | None,
        Setting(
            "A Hugging Face model to train further: a folder, or a name on the hub. Without: a small model "
            "from nothing.",
            short="-m",
        ),
    ] = None
    steps_of: Annotated[
        str | None,
        Setting(
            "Instead of LESSONS: computed single operations, as often as they occur in the programs of this "
            "source, and random ones. Trains a model of the level processor, or of another --level. Needs "
            "the package deskcheck-levels.",
            metavar="GENERATOR",
        ),
    ] = None
    any_licence: Annotated[
        bool,
        Setting("With recordings: also take those that are not cleared for training (train_ok)."),
    ] = False


Lessons = Annotated[
    Path | None,
    typer.Argument(
        metavar="[LESSONS]",
        help="A folder that `lessons` made; or recordings, whose lessons are first made in OUT/lessons.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", help="Folder for the model, its metrics, and the state to continue from.")
]
TaughtLevel = Annotated[
    str, typer.Option(help="With --steps-of: processor, reader or alone.", rich_help_panel=STEPS_OF)
]


@with_options
def teach(
    lessons: Lessons = None,
    *,
    out: Out,
    nothing: Annotated[Callable[[], _FromNothing], Panel(NOTHING, "a model from nothing, without --model")],
    tuning: Annotated[Callable[[], Tuning], Panel(FURTHER, "training a model further; name it with --model")],
    options: Annotated[_TeachOptions, Panel(None)],
    level: TaughtLevel = DEFAULT_LEVEL,
) -> None:
    """Train a model on lessons. To continue a run that was stopped, give the same command again."""
    # OpenMP reads it when torch is imported. Threads that spin while they wait take the time of other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if options.steps_of is not None:
        if lessons is not None or options.model is not None:
            raise InputError("--steps-of: makes its own lessons and model: leave LESSONS and --model out.")
        taught = level_of(level)
        training = settings_from_options(taught.settings)
        taught.teach(options.steps_of, out, training, any_licence=options.any_licence)
    else:
        folder = _named(lessons, level)
        refuse_others(NOTHING if options.model is None else FURTHER)
        _teach_on(folder, out, options, nothing if options.model is None else tuning)
    print(f"trained: {out}")


def _named(lessons: Path | None, level: str) -> Path:
    """The folder that was named. Raises InputError where none was, and for a level that needs none."""
    if lessons is None:
        raise InputError("LESSONS is missing: name a folder of lessons or recordings, or give --steps-of.")
    if level not in (DEFAULT_LEVEL, ALONE):
        raise InputError(f"--level {level}: goes with --steps-of GENERATOR, which makes its lessons.")
    return lessons


def _teach_on(
    lessons: Path, out: Path, options: _TeachOptions, how: Callable[[], _FromNothing | Tuning]
) -> None:
    """Train on a folder of lessons, or of recordings. how: makes the settings of the training."""
    recordings = any(lessons.glob("recordings-*.parquet"))
    if options.any_licence and not recordings:
        raise InputError(f"--any-licence: {lessons} holds no recordings; it is said when lessons are made.")

    def made(budget: int | None) -> Path:
        return _lessons_of(lessons, out, options, budget) if recordings else lessons

    try:
        settings = how()
        if isinstance(settings, _FromNothing):
            _teach_from_nothing(made, out, settings)
        else:
            assert options.model is not None
            _teach_further(made, options.model, out, settings)
    except KeyboardInterrupt as error:
        saved = any(path.name != ".lock" for path in out.iterdir()) if out.is_dir() else False
        goes_on = f"goes on from what was last saved in {out}" if saved else "begins anew, nothing was saved"
        raise KeyboardInterrupt(f"interrupted: the same command {goes_on}") from error


def _lessons_of(folder: Path, out: Path, options: _TeachOptions, budget: int | None) -> Path:
    """The lessons of recordings, in the notation `dynamic`. budget: tokens that the model reads."""
    from deskcheck.teach.lessons.lessons import build
    from deskcheck.teach.run_folder import LESSONS

    lessons = out / LESSONS
    settings = LessonSettings(
        tokenizer=options.model or "bytes",
        ids=options.model is not None,
        budget=min(budget or LessonSettings().budget, LessonSettings().budget),
        any_licence=options.any_licence,
    )
    with progress_bar(False) as advance:
        summary = build(
            [folder], lessons, settings, progress=lambda done, of: advance("recordings", done, of), note=say
        )
    _show_lessons(lessons, summary)
    return lessons


def _teach_further(lessons: Callable[[int | None], Path], model: str, out: Path, tuning: Tuning) -> None:
    """lessons: makes them, or says where they are; called when all else is known to be right."""
    from deskcheck.teach import run_folder
    from deskcheck.teach.sft import context_of, tune

    run_folder.refuse_others(out, {"model": model, "tuning": asdict(tuning)})
    try:
        context = context_of(model)
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    tune(lessons(context), model, out, tuning=tuning, note=say_row)


def _teach_from_nothing(lessons: Callable[[int | None], Path], out: Path, settings: _FromNothing) -> None:
    """lessons: as for `_teach_further`."""
    try:
        from deskcheck.teach import run_folder
        from deskcheck.teach.small.model import ModelConfig
        from deskcheck.teach.small.training import open_device
        from deskcheck.teach.small.training import teach as train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    training, device = settings.training, settings.device or "cpu"
    config = ModelConfig.of(settings.size)
    open_device(device)
    run_folder.refuse_others(out, {"training": asdict(training)})
    train(lessons(None), out, config=config, training=training, device=device, note=say_row)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StepSettings:
    """Which model runs the programs, and how."""

    model: Annotated[
        str,
        Setting(
            "Folder of a model that `teach` made; `nano`, the built-in one; hf/NAME, of Hugging Face; or "
            "PROVIDER/NAME, as for `ask`: a server.",
            short="-m",
        ),
    ] = "nano"
    model_args: Annotated[
        Mapping[str, Any],
        Setting(
            "Of hf/: device, dtype. Of a provider: as in Inspect. May be given again.",
            flag="--model-arg",
            short="-M",
            metavar="NAME=VALUE",
            parse=named,
        ),
    ] = field(default_factory=dict)
    explain: Annotated[
        bool, Setting("Explain the notation in each prompt: for models that were not taught it.")
    ] = False
    level: Annotated[
        str,
        Setting(
            "How much a machine does for the model (`deskcheck help levels`): alone; processor and reader "
            "need the package deskcheck-levels."
        ),
    ] = ALONE
    budget: Annotated[
        int | None, Setting("Steps of a program, at most (1000; 10,000,000 at the other levels).", min=1)
    ] = None
    batch_size: Annotated[int, Setting("Programs that run at once.", min=1)] = 64
    jump: Annotated[
        str, Setting("How many events a step may advance, separated by commas: the model chooses.")
    ] = "1"
    each: Annotated[
        int | None,
        Setting("Also ask for this many steps of every recording, from its true states.", min=1),
    ] = None
    out: Annotated[
        Path | None, Setting("Write the runs into this JSON file, for `deskcheck view --beside`.")
    ] = None


@with_options
def step(
    runs: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="One of them, shown state by state; without it, all.")
    ] = None,
    *,
    settings: Annotated[_StepSettings, Panel(None)],
    as_json: Json = False,
) -> None:
    """Run recorded programs in a model, state by state, and show where it first goes wrong."""
    from deskcheck.recording.reader import Recordings

    out, level = settings.out, settings.level
    if out is not None:
        if out.suffix != ".json":
            raise InputError(f"{out}: the runs are written as JSON: name a file that ends in .json.")
        refuse_unwritable(out)
    recordings = Recordings(runs)
    chosen = [recordings[id_]] if id_ is not None else list(_with_states(recordings))
    if not chosen:
        raise InputError(f"{runs}: has no recording with events to step through.")
    if level == ALONE:
        _step_alone(chosen, settings, one=id_ is not None, as_json=as_json)
        return
    alone = (out, settings.each, settings.jump, settings.explain, settings.model_args)
    if alone != (None, None, "1", False, {}):
        raise InputError(
            f"--out, --each, --jump, --explain and --model-arg: are for --level alone, not for {level}."
        )
    step_at(level, settings.model, chosen, settings.budget, one=id_ is not None, as_json=as_json)


def _step_alone(chosen: list[Any], settings: _StepSettings, *, one: bool, as_json: bool) -> None:
    """The model writes each state by itself."""
    try:
        from deskcheck.teach.pretrained.opening import step_model
        from deskcheck.teach.small.evaluation import report as evaluated
        from deskcheck.teach.small.evaluation import run_all
    except ImportError as error:
        raise MissingExtra(str(error.name), "nano", "Stepping a model") from error
    model, rows, budget = settings.model, settings.batch_size, settings.budget or 1000
    jumps = _numbers("--jump", settings.jump)
    steps_made = 0
    opening = step_model(model, explain=settings.explain, arguments=settings.model_args)
    with opening as opened, progress_bar(as_json) as progress:
        opened.refuse_untaught("dynamic", jumps)

        def note(steps: int) -> None:
            nonlocal steps_made
            steps_made += steps
            progress(model, steps_made, len(chosen) * budget)

        stepped = list(run_all(opened, chosen, rows=rows, budget=budget, jumps=jumps, note=note))
        evaluation = evaluated(opened, stepped, steps_each=settings.each, rows=rows)
    results: dict[str, Any] = {
        "model": model,
        "steps": evaluation.steps.to_dict(),
        "each": evaluation.from_true_states and asdict(evaluation.from_true_states),
        "runs": [{"id": s.recording.id, **s.run.to_dict(), **asdict(s.agreement)} for s in stepped],
    }
    if settings.out is not None:
        write_file(settings.out, [json.dumps(results), "\n"])
    if as_json:
        print(json.dumps(results))
        return
    if one:
        _print_run(stepped[0])
    print_steps(console_out(), ("model",), [((model,), evaluation.steps)])
    if evaluation.from_true_states is not None:
        each = with_interval(evaluation.from_true_states, evaluation.from_true_states.n, ".4f", ".4f")
        print(f"each step from its true state: {each}")


def _with_states(recordings: Iterable[Any]) -> Iterator[Any]:
    """Those with events; one that is damaged is named on standard error and left out."""
    for recording in recordings:
        try:
            events = sum(1 for _ in recording.trace)
        except RecordingError as error:
            say(f"left out: {recording.id}: {error}")
        else:
            if events:
                yield recording


def _print_run(one: Any) -> None:
    """The steps of a run up to the first that is wrong, that one beside the truth."""
    from itertools import islice

    from deskcheck.notation import state_text
    from deskcheck.teach.small.stepper import reached, true_states

    texts, exact = one.run.states, one.agreement.exact
    for number, text in enumerate(texts[: exact + 1]):
        print(f"{number:6} {text.splitlines()[-1]}")
    if one.agreement.first is None:
        print(f"right to the end, {exact} steps")
        return
    print(f"\nfirst wrong: step {exact + 1}, {one.agreement.first.value}")
    if len(texts) > exact + 1:
        print("model:\n" + "\n".join([f"    {line}" for line in texts[exact + 1].splitlines()]))
    elif one.run.why:
        print(f"model: {one.run.why}")
    jumps = (*one.run.jumps, *[1] * (exact + 1))
    for moment in islice(reached(true_states(one.recording), jumps), exact, exact + 1):
        print("true:\n" + "\n".join([f"    {line}" for line in state_text(moment).splitlines()]))
