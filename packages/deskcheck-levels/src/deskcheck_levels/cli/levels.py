"""`models step --level processor`, `teach --steps-of`: a machine that leaves operations to a model.

The entry points ``deskcheck.levels`` lead here. Networks and machines are loaded when they are used.
"""

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.cli.common.output import progress_bar, say, say_row
from deskcheck.cli.common.tables import print_steps
from deskcheck.errors import InputError, MissingExtra
from deskcheck.recording import Recording
from deskcheck.teach.levels import HelpLevel
from deskcheck.terminal import console_out
from deskcheck_levels.levels import Level
from deskcheck_levels.processor.settings import ProcessorTraining
from deskcheck_levels.reader.settings import AloneTraining, ReaderTraining

if TYPE_CHECKING:
    from deskcheck.teach.small.interpreter import StepModel


def step_at(
    level: Level,
    model: str,
    recordings: Sequence[Recording],
    budget: int | None,
    *,
    one: bool,
    as_json: bool,
) -> None:
    """Run recordings at a level, print how well; of a single one where it first goes wrong."""
    from deskcheck_levels.processor.stepping import MOST, Processor, run_level
    from deskcheck_levels.reader.stepping import ReaderModels
    from deskcheck_levels.shipped import folder_of

    folder = folder_of(model)
    processor = Processor(folder) if level is Level.PROCESSOR else ReaderModels(folder)
    finished = 0
    with progress_bar(as_json) as progress:

        def note(_: int) -> None:
            nonlocal finished
            finished += 1
            progress(model, finished, len(recordings))

        report = run_level(recordings, processor.machine, budget=budget or MOST, note=note)
    counts = processor.counts()
    if as_json:
        print(json.dumps({"model": model, "level": level.value, "asked": counts, **report.to_dict()}))
        return
    if one:
        _print_run(report.runs[0])
    if report.steps is not None:
        print_steps(console_out(), ("model", "level"), [((model, level.value), report.steps)])
    print(
        f"{counts['operations']:,} operations, {counts['worked']:,} of them worked out, in "
        f"{counts['words']:,} words; {counts['windows']:,} distinct windows were computed; "
        f"{report.seconds:.1f} s"
    )
    if "prompts" in counts:
        print(f"{counts['prompts']:,} distinct prompts were read")
    if report.outside:
        number = sum(report.outside.values())
        print(f"outside of the declared language, not counted: {number} of {len(report.runs)}")
        for reason, count in report.outside.items():
            print(f"  {count:4}  {reason}")


def _print_run(run: Any) -> None:
    if run.outside is not None:
        print(f"{run.id}: right for {run.agreement.exact} steps, then outside of the language: {run.outside}")
    elif run.first is not None:
        mine, true = run.first
        print(f"{run.id}: first wrong: step {run.agreement.judged}\nmodel: {mine}\ntrue:  {true}")
    elif run.agreement.first is None:
        print(f"{run.id}: right to the end, {run.agreement.exact} steps: {run.result}")
    else:
        print(f"{run.id}: right for {run.agreement.exact} steps, then the budget was used up")


def teach_steps_of(source: str, out: Path, training: ProcessorTraining, *, any_licence: bool) -> None:
    """Train a model of the level `processor` on random operations and on those of a source of programs."""
    try:
        from deskcheck_levels.processor.training import train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    from deskcheck.sources import programs
    from deskcheck_levels.processor import lessons

    wrong = list(lessons.spot_check(lessons.CHECKED, training.seed))
    if wrong:
        raise InputError(
            f"{len(wrong)} of {lessons.CHECKED} lessons are not what Python computes: {wrong[0]}"
        )
    allowed = (program for program in programs(source) if program.train_ok or any_licence)
    windows, taken = lessons.lessons_of(allowed)
    if not taken:
        raise InputError(
            f"{source}: has no program of the declared language that is cleared for training (train_ok). "
            f"--any-licence also uses those that are not cleared."
        )
    drawn = lessons.random_lessons(lessons.OPERATIONS_DRAWN, training.seed)
    about = {
        "level": Level.PROCESSOR.value,
        "steps_of": source,
        "programs": taken,
        "operations": lessons.OPERATIONS_DRAWN,
    }
    say(
        f"{taken} programs show {len(windows):,} windows, {lessons.OPERATIONS_DRAWN:,} random operations "
        f"{len(drawn):,}; {lessons.CHECKED:,} of these operations were checked against Python: 0 differ"
    )
    train(Counter(windows) + Counter(drawn), out, training, about=about, note=say_row)


def _teach(module: str, source: str, out: Path, training: ReaderTraining, *, any_licence: bool) -> None:
    """Train a model of the level `reader` or `alone` by the module's `train`, on programs of a source."""
    try:
        train = import_module(module).train
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    train(source, out, training, any_licence=any_licence, note=say_row)


def open_alone(folder: Path) -> "StepModel":
    """The model of a folder that was trained at the level `alone`."""
    try:
        from deskcheck_levels.alone.stepping import AloneModels
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", f"Running the model in {folder}") from error
    return AloneModels(folder)


PROCESSOR = HelpLevel(
    name=Level.PROCESSOR.value,
    settings=ProcessorTraining,
    teach=teach_steps_of,
    step=partial(step_at, Level.PROCESSOR),
)
READER = HelpLevel(
    name=Level.READER.value,
    settings=ReaderTraining,
    teach=partial(_teach, "deskcheck_levels.reader.training"),
    step=partial(step_at, Level.READER),
)
ALONE = HelpLevel(
    name=Level.ALONE.value,
    settings=AloneTraining,
    teach=partial(_teach, "deskcheck_levels.alone.training"),
    open_model=open_alone,
)
