"""`models step --level processor`, `teach --steps-of`: a machine that leaves operations to a model."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from deskcheck.cli.common.output import progress_bar, say
from deskcheck.cli.common.tables import print_steps
from deskcheck.errors import InputError, MissingExtra
from deskcheck.recording import Recording
from deskcheck.teach.alone.settings import AloneTraining
from deskcheck.teach.levels import Level
from deskcheck.teach.processor.settings import ProcessorTraining
from deskcheck.teach.reader.settings import ReaderTraining
from deskcheck.terminal import console_out


def step_at(
    level: Level, model: str, recordings: list[Recording], budget: int | None, *, one: bool, as_json: bool
) -> None:
    """Run recordings at a level, print how well; of a single one where it first goes wrong."""
    from deskcheck.teach.processor.stepping import MOST, Processor, run_level
    from deskcheck.teach.reader.stepping import ReaderModels
    from deskcheck.teach.small.checkpoints import folder_of

    folder = folder_of(model)
    processor = Processor(folder) if level is Level.PROCESSOR else ReaderModels(folder)
    done = 0
    with progress_bar(as_json) as progress:

        def note(_: int) -> None:
            nonlocal done
            done += 1
            progress(model, done, len(recordings))

        found = run_level(recordings, processor.machine, budget=budget or MOST, note=note)
    counts = processor.counts()
    if as_json:
        print(json.dumps({"model": model, "level": level.value, "asked": counts, **found.to_dict()}))
        return
    if one:
        _print_run(found.runs[0])
    if found.steps is not None:
        print_steps(console_out(), ("model", "level"), [((model, level.value), found.steps)])
    print(
        f"{counts['operations']:,} operations, {counts['worked']:,} of them worked out, in "
        f"{counts['words']:,} words; {counts['windows']:,} distinct windows were computed; "
        f"{found.seconds:.1f} s"
    )
    if "prompts" in counts:
        print(f"{counts['prompts']:,} distinct prompts were read")
    if found.outside:
        number = sum(found.outside.values())
        print(f"outside of the declared language, and not counted: {number} of {len(found.runs)}")
        for why, count in found.outside.items():
            print(f"  {count:4}  {why}")


def _print_run(run: Any) -> None:
    if run.outside is not None:
        print(f"{run.id}: right for {run.agreement.exact} steps, then outside of the language: {run.outside}")
    elif run.first is not None:
        mine, true = run.first
        print(f"{run.id}: first wrong: step {run.agreement.judged}\nmodel: {mine}\ntrue:  {true}")
    elif run.agreement.first is None:
        print(f"{run.id}: right to the end, {run.agreement.exact} steps: {run.result}")
    else:
        print(f"{run.id}: right for {run.agreement.exact} steps, then the budget was spent")


def teach_steps_of(source: str, out: Path, training: ProcessorTraining, *, any_licence: bool) -> None:
    """Train a model of the level `processor` on random operations and on those of a source of programs."""
    try:
        from deskcheck.teach.processor.training import train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    from deskcheck.corpus import programs
    from deskcheck.teach.processor import lessons

    wrong = list(lessons.spot_check(lessons.CHECKED, training.seed))
    if wrong:
        raise InputError(
            f"{len(wrong)} of {lessons.CHECKED} lessons are not what Python computes: {wrong[0]}"
        )
    kept = (program for program in programs(source) if program.train_ok or any_licence)
    shown, taken = lessons.lessons_of(kept)
    if not taken:
        raise InputError(
            f"{source}: has no program of the declared language that is cleared for training (train_ok). "
            "--any-licence takes also those that are not cleared."
        )
    drawn = lessons.random_lessons(lessons.OPERATIONS_DRAWN, training.seed)
    about = {
        "level": Level.PROCESSOR.value,
        "steps_of": source,
        "programs": taken,
        "operations": lessons.OPERATIONS_DRAWN,
    }
    say(
        f"{taken} programs show {len(shown):,} windows, {lessons.OPERATIONS_DRAWN:,} random operations "
        f"{len(drawn):,}; {lessons.CHECKED:,} of these operations were held against Python: 0 differ"
    )
    train(Counter(shown) + Counter(drawn), out, training, about=about, note=tell_row)


def teach_reader(source: str, out: Path, training: ReaderTraining, *, any_licence: bool) -> None:
    """Train a model of the level `reader` on lines that are drawn, and on those of a source of programs."""
    try:
        from deskcheck.teach.reader.training import train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    train(source, out, training, any_licence=any_licence, note=tell_row)


def teach_alone(source: str, out: Path, training: AloneTraining, *, any_licence: bool) -> None:
    """Train a model of the level `alone` on steps of a source of programs, each with its working."""
    try:
        from deskcheck.teach.alone.training import train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    train(source, out, training, any_licence=any_licence, note=tell_row)


def tell_row(row: dict[str, Any]) -> None:
    """A line of a training's curve, on standard error."""
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()}
    say("  ".join(f"{name} {value}" for name, value in shown.items()))
