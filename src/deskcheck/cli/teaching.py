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
    stopped = f"interrupted: complete shards are in {out}; rerun the command to resume"
    with progress_bar(as_json) as advance, says_when_interrupted(stopped):
        summary = build(
            runs, out, settings, progress=lambda count, total: advance("recordings", count, total), note=say
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
        raise InputError(f"{option} {text!r}: give numbers separated by commas, such as 1,2,4.") from None


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
    """Training, size and device of a new model."""

    training: Training = field(default_factory=Training)
    size: ModelSize = field(default_factory=ModelSize)
    device: Annotated[str | None, Setting("Device for the training: cpu, cuda, cuda:1 (cpu).")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TeachOptions:
    """The model to train, and the lessons."""

    model: Annotated[
        str | None,
        Setting(
            "A Hugging Face model to train further: a folder, or a name on the hub. Without it, train a new "
            "small model.",
            short="-m",
        ),
    ] = None
    steps_of: Annotated[
        str | None,
        Setting(
            "Instead of LESSONS: single operations, drawn as they occur in the programs of this source, and "
            "random ones. Trains a model of the level processor, or of another --level. Needs the package "
            "deskcheck-levels.",
            metavar="GENERATOR",
        ),
    ] = None
    any_licence: Annotated[
        bool,
        Setting("Also use recordings that are not cleared for training (train_ok)."),
    ] = False


Lessons = Annotated[
    Path | None,
    typer.Argument(
        metavar="[LESSONS]",
        help="A folder from `lessons`; or a folder of recordings, to make lessons of in OUT/lessons first.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", help="Folder for the model, its metrics, and the state to continue from.")
]
TaughtLevel = Annotated[
    str,
    typer.Option(help="With --steps-of: one of processor, reader, alone.", rich_help_panel=STEPS_OF),
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
    """Train a model on lessons. After an interruption, rerun the command to resume."""
    # OpenMP reads it when torch is imported. Threads that spin while they wait take the time of other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if options.steps_of is not None:
        if lessons is not None or options.model is not None:
            raise InputError("--steps-of makes its own lessons and model: leave out LESSONS and --model.")
        taught = level_of(level)
        training = settings_from_options(taught.settings)
        taught.teach(options.steps_of, out, training, any_licence=options.any_licence)
    else:
        folder = _named(lessons, level)
        refuse_others(NOTHING if options.model is None else FURTHER)
        _teach_on(folder, out, options, nothing if options.model is None else tuning)
    print(f"trained: {out}")


def _named(lessons: Path | None, level: str) -> Path:
    """The folder of lessons. Raises InputError if it is missing, and for a level that takes none."""
    if lessons is None:
        raise InputError("LESSONS is missing: name a folder of lessons or recordings, or give --steps-of.")
    if level not in (DEFAULT_LEVEL, ALONE):
        raise InputError(f"--level {level}: needs --steps-of GENERATOR, which makes its lessons.")
    return lessons


def _teach_on(
    lessons: Path, out: Path, options: _TeachOptions, how: Callable[[], _FromNothing | Tuning]
) -> None:
    """Train on a folder of lessons or recordings. how: makes the settings of the training."""
    recordings = any(lessons.glob("recordings-*.parquet"))
    if options.any_licence and not recordings:
        raise InputError(f"--any-licence: {lessons} has no recordings. Give the option to `lessons` instead.")

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
        way_out = f"rerun the command to resume from the last save in {out}" if saved else "nothing was saved"
        raise KeyboardInterrupt(f"interrupted: {way_out}") from error


def _lessons_of(folder: Path, out: Path, options: _TeachOptions, budget: int | None) -> Path:
    """Make lessons of recordings, in the notation `dynamic`. budget: the tokens that the model can read."""
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
            [folder],
            lessons,
            settings,
            progress=lambda count, total: advance("recordings", count, total),
            note=say,
        )
    _show_lessons(lessons, summary)
    return lessons


def _teach_further(lessons: Callable[[int | None], Path], model: str, out: Path, tuning: Tuning) -> None:
    """Train a pretrained model further.

    lessons: returns the folder of lessons, and makes them if necessary. It is called after all other checks.
    """
    from deskcheck.teach import run_folder
    from deskcheck.teach.sft import context_of, tune

    run_folder.refuse_others(out, {"model": model, "tuning": asdict(tuning)})
    try:
        context = context_of(model)
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    tune(lessons(context), model, out, tuning=tuning, note=say_row)


def _teach_from_nothing(lessons: Callable[[int | None], Path], out: Path, settings: _FromNothing) -> None:
    """Train a new model. lessons: as for `_teach_further`."""
    try:
        import safetensors.torch  # noqa: F401 (missed before the training, not at its first save)

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
    """The model that runs the programs, and its options."""

    model: Annotated[
        str,
        Setting(
            "A folder from `teach`; `nano`, the built-in model; hf/NAME, from Hugging Face; or "
            "PROVIDER/NAME, a server, as for `ask`.",
            short="-m",
        ),
    ] = "nano"
    model_args: Annotated[
        Mapping[str, Any],
        Setting(
            "Arguments of the model: for hf/ device and dtype, for a provider those of Inspect. May be "
            "given again.",
            flag="--model-arg",
            short="-M",
            metavar="NAME=VALUE",
            parse=named,
        ),
    ] = field(default_factory=dict)
    explain: Annotated[
        bool, Setting("Explain the notation in each prompt, for models that were not trained on it.")
    ] = False
    level: Annotated[
        str,
        Setting(
            "Help that a machine gives to the model (`deskcheck help levels`): alone, processor or reader. "
            "The last two need the package deskcheck-levels."
        ),
    ] = ALONE
    notation: Annotated[
        str | None,
        Setting(
            "The notation of the run: dynamic, dynamic_instruction for recordings by instruction; scratchpad "
            "or compact, one answer for the whole run. By default the one that the model was taught."
        ),
    ] = None
    budget: Annotated[
        int | None, Setting("Maximum steps of a program (1000; 10,000,000 at the other levels).", min=1)
    ] = None
    batch_size: Annotated[int, Setting("Programs that run at once.", min=1)] = 64
    jump: Annotated[
        str, Setting("Events that a step may advance, separated by commas; the model chooses one.")
    ] = "1"
    single_steps: Annotated[
        int | None,
        Setting(
            "Also ask for this many steps of every recording, each from its true state, or after the true "
            "text before it.",
            flag="--each",
            min=1,
        ),
    ] = None
    out: Annotated[
        Path | None, Setting("Write the runs to this JSON file, for `deskcheck view --beside`.")
    ] = None


@with_options
def step(
    runs: Annotated[Path, typer.Argument(help="A folder of recordings.")],
    recording_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="The recording to show state by state. Without it, run all."),
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
            raise InputError(f"{out}: is not a .json file. The runs are written as JSON: name such a file.")
        refuse_unwritable(out)
    recordings = Recordings(runs)
    chosen = [recordings[recording_id]] if recording_id is not None else list(_with_states(recordings))
    if not chosen:
        raise InputError(f"{runs}: has no recordings with events.")
    if level == ALONE:
        _step_alone(chosen, settings, only_one=recording_id is not None, as_json=as_json)
        return
    alone = (
        out,
        settings.single_steps,
        settings.notation,
        settings.jump,
        settings.explain,
        settings.model_args,
    )
    if alone != (None, None, None, "1", False, {}):
        raise InputError(
            f"--out, --each, --notation, --jump, --explain and --model-arg cannot be used with --level "
            f"{level}: they need --level {ALONE}."
        )
    step_at(level, settings.model, chosen, settings.budget, one=recording_id is not None, as_json=as_json)


def _step_alone(chosen: list[Any], settings: _StepSettings, *, only_one: bool, as_json: bool) -> None:
    """Run programs in a model that writes each state without help."""
    try:
        from deskcheck.notation.layout import STEPWISE
        from deskcheck.teach.pretrained.opening import step_model
        from deskcheck.teach.small.evaluation import report as evaluated
        from deskcheck.teach.small.evaluation import run_all
        from deskcheck.teach.small.traces import TRACES
    except ImportError as error:
        raise MissingExtra(str(error.name), "nano", "Stepping a model") from error
    model, rows, budget = settings.model, settings.batch_size, settings.budget or 1000
    jumps = _numbers("--jump", settings.jump)
    if settings.notation not in (None, *STEPWISE, *TRACES):
        known = ", ".join((*STEPWISE, *TRACES))
        raise InputError(f"--notation {settings.notation}: the notations of runs are {known}.")
    steps_made = 0
    opening = step_model(model, explain=settings.explain, arguments=settings.model_args)
    with opening as opened, progress_bar(as_json) as progress:
        notation = settings.notation or opened.step_notation or STEPWISE[0]
        opened.refuse_untaught(notation, jumps)
        if notation in TRACES and jumps != (1,):
            raise InputError(f"--jump: {notation} writes every event. Leave --jump out.")

        def note(steps: int) -> None:
            nonlocal steps_made
            steps_made += steps
            progress(model, steps_made, len(chosen) * budget)

        runs = run_all(opened, chosen, rows=rows, budget=budget, jumps=jumps, notation=notation, note=note)
        stepped = list(runs)
        evaluation = evaluated(
            opened, stepped, steps_each=settings.single_steps, notation=notation, rows=rows
        )
    results: dict[str, Any] = {
        "model": model,
        "notation": notation,
        "steps": evaluation.steps.to_dict(),
        "each": evaluation.from_true_states and asdict(evaluation.from_true_states),
        "runs": [{"id": s.recording.id, **s.run.to_dict(), **asdict(s.agreement)} for s in stepped],
    }
    if settings.out is not None:
        write_file(settings.out, [json.dumps(results), "\n"])
    if as_json:
        print(json.dumps(results))
        return
    if only_one:
        _print_run(stepped[0], notation)
    print_steps(console_out(), ("model",), [((model,), evaluation.steps)])
    if evaluation.from_true_states is not None:
        each = with_interval(evaluation.from_true_states, evaluation.from_true_states.n, ".4f", ".4f")
        print(f"each step from its true {'past' if notation in TRACES else 'state'}: {each}")


def _with_states(recordings: Iterable[Any]) -> Iterator[Any]:
    """The recordings with events. A damaged one is left out, with a message on standard error."""
    for recording in recordings:
        try:
            events = sum(1 for _ in recording.trace)
        except RecordingError as error:
            say(f"left out: {recording.id}: {error}")
        else:
            if events:
                yield recording


def _print_run(stepped: Any, notation: str) -> None:
    """Print the steps of a run up to the first wrong one, and the true state for that one."""
    from itertools import islice

    from deskcheck.notation import state_text
    from deskcheck.notation.divergence import reached
    from deskcheck.teach.small.stepper import true_states

    texts, exact = stepped.run.states, stepped.agreement.exact
    for number, text in enumerate(texts[: exact + 1]):
        print(f"{number:6} {text.splitlines()[-1]}")
    if stepped.agreement.first is None:
        print(f"right to the end, {exact} steps")
        return
    print(f"\nfirst wrong: step {exact + 1}, {stepped.agreement.first.value}")
    if len(texts) > exact + 1:
        print("model:\n" + "\n".join([f"    {line}" for line in texts[exact + 1].splitlines()]))
    elif stepped.run.why:
        print(f"model: {stepped.run.why}")
    jumps = (*stepped.run.jumps, *[1] * (exact + 1))
    true = islice(true_states(stepped.recording, notation=notation), 1, None)
    for moment in islice(reached(true, jumps), exact, exact + 1):
        print("true:\n" + "\n".join([f"    {line}" for line in state_text(moment).splitlines()]))
