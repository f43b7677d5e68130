"""Trains a model of the level `alone` on answers with their working. Needs torch (extra ``[teach]``).

AdamW with a constant rate, then down to nought on a line; weights averaged exponentially. A lesson that was
answered wrongly comes once more.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from deskcheck.errors import InputError
from deskcheck.recording import Program
from deskcheck.teach.run_folder import locked_run
from deskcheck.teach.small.batches import Batch, make_batch
from deskcheck.teach.small.batches import Lessons as OfProgram
from deskcheck.teach.small.trainer import Trainer
from deskcheck.teach.small.training import loss_of_answers
from deskcheck_levels.alone.lessons import NO_PROGRAM, Lessons, Steps, numbers, programs_of
from deskcheck_levels.alone.network import AloneModel, save
from deskcheck_levels.alone.words import WORDS
from deskcheck_levels.reader.settings import AloneTraining
from deskcheck_levels.training import adamw, asked, config_of

_NO_PROGRAM = numbers(NO_PROGRAM)
_POOL = 8
"""Batches that are drawn together."""
_KEPT = 2000
"""Limit for the lessons that wait to be repeated."""
_HELD_OUT, _LOOKED_AT = 50, 768
"""One of this many programs is held out; number of lessons of an evaluation."""
_FEW = 0.4
"""Share of a batch up to which those that are wrong come again."""


def batches(drawn: Iterator[Steps], size: int, seed: object, again: list[Steps]) -> Iterator[list[Steps]]:
    """Batches of steps of several programs, with similar lengths. again: steps to repeat, which training
    adds."""
    rng = random.Random(str(seed))
    while True:
        pool, count = [], 0
        while count < _POOL * size:
            lesson = again.pop() if again else next(drawn)
            pool.append(lesson)
            count += len(lesson[1])
        parts = [(words, part) for words, steps in pool for part in _parts(steps)]
        parts.sort(key=_longest)
        packed: list[list[Steps]] = [[]]
        for part in parts:
            rows = sum(len(steps) for _, steps in packed[-1]) + len(part[1])
            if packed[-1] and rows * _longest(part) > 72 * size:
                packed.append([])
            packed[-1].append(part)
        rng.shuffle(packed)
        yield from packed


def _parts(steps: list[Any]) -> Iterator[list[Any]]:
    ordered = sorted(steps, key=_length)
    for start in range(0, len(ordered), 6):
        yield ordered[start : start + 6]


def _length(step: Any) -> int:
    return len(step[0]) + len(step[1])


def _longest(steps: Steps) -> int:
    return max(_length(step) for step in steps[1])


def batch_of(chosen: Sequence[Steps]) -> Batch:
    return make_batch([OfProgram(words, steps) for words, steps in chosen], 0)


def loss_of(model: AloneModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """The mean loss in nats over words of answers, and which lessons are right."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        context = model.read(batch.programs, batch.lengths).of(batch.owner)
        hidden, _ = model(batch.tokens, context)
    return loss_of_answers(model, hidden, batch.labels, "bf16")


def _once_more(chosen: Sequence[Steps], wrong: Tensor) -> list[Steps]:
    """The steps of a batch that were wrong, by program."""
    flags = iter(wrong.tolist())
    wrong_steps = [(words, [step for step in steps if next(flags)]) for words, steps in chosen]
    return [(words, steps) for words, steps in wrong_steps if steps]


def train(
    source: str,
    out: Path,
    training: AloneTraining,
    *,
    any_licence: bool = False,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> AloneModel:
    """Trains a model into `out` (`network.FILE`). A killed run resumes from its last evaluation.

    source: programs whose runs are the lessons. any_licence: include those that are not cleared for training.
    Raises InputError if `out` contains something else, or if no program is left.
    """
    all_programs = programs_of(source, any_licence=any_licence)
    with locked_run(out, asked("alone", asdict(training), source, any_licence)):
        return _trained(all_programs, source, out, training, note)


def _trained(
    all_programs: Sequence[Program],
    source: str,
    out: Path,
    training: AloneTraining,
    note: Callable[[dict[str, Any]], None],
) -> AloneModel:
    held_out = {program.code for program in all_programs[::_HELD_OUT]}
    taught = [program for program in all_programs if program.code not in held_out]
    if not taught:
        raise InputError(f"{source}: has too few programs: some are needed for validation.")
    torch.manual_seed(training.seed)
    config = config_of(len(WORDS), layers=training.layers, hidden_size=training.hidden_size)
    model, averaged = AloneModel(config), AloneModel(config)
    optimizer = adamw(model, training, weight_decay=0.01, fused=True)
    counts = {"lessons": 0, "operations": 0}
    trainer = Trainer(
        out, model, optimizer, averaging=training.averaged, extra={"again": [], **counts}, note=note
    )
    about = {
        "level": "alone",
        "words": list(WORDS),
        "config": asdict(config),
        "training": asdict(training),
        "steps_of": source,
    }
    unseen = _unseen([program for program in all_programs if program.code in held_out], training.seed)
    lessons = Lessons(taught)
    while trainer.step < training.steps:
        taught_wrong = _stretch(trainer, model, lessons, training)
        averaged.load_state_dict(trainer.averaged)
        row = trainer.row() | {name: trainer.extra[name] for name in counts}
        row |= {"taught_wrong": taught_wrong, **_look(averaged, unseen)}
        trainer.write(row)
        trainer.save(partial(save, averaged, out, about | row))
    averaged.load_state_dict(trainer.averaged)
    return averaged


def _stretch(trainer: Trainer, model: AloneModel, lessons: Lessons, training: AloneTraining) -> float:
    """Updates until the next look. The share of lessons that were wrong."""
    # Each stretch between two looks has lessons of its own, so that a run goes on from there.
    seed = f"{training.seed} {trainer.step}"
    extra, again, shares = trainer.extra, trainer.extra["again"], []
    for chosen in batches(lessons.drawn(seed), training.batch_size, seed, again):
        loss, right = loss_of(model, batch_of(chosen))
        trainer.update(loss, training.rate_at(trainer.step))
        shares.append((~right).float().mean())
        extra["lessons"] += len(right)
        extra["operations"] += sum(len(steps) for words, steps in chosen if words == _NO_PROGRAM)
        if shares[-1] < _FEW and len(again) < _KEPT:
            again += _once_more(chosen, ~right)
        if trainer.step % training.look_every == 0 or trainer.step == training.steps:
            break
    return float(torch.stack(shares).mean())


def _unseen(programs: Sequence[Program], seed: int) -> list[Batch]:
    lessons: list[Steps] = []
    for drawn in Lessons(programs).drawn(f"{seed} unseen", operations=0):
        lessons.append(drawn)
        if sum(len(steps) for _, steps in lessons) >= _LOOKED_AT:
            break
    return [batch_of(lessons[start : start + 16]) for start in range(0, len(lessons), 16)]


def _look(model: AloneModel, unseen: Sequence[Batch]) -> dict[str, Any]:
    """How many lessons of programs that are not taught have a wrong word."""
    with torch.inference_mode():
        right = torch.cat([loss_of(model, batch)[1] for batch in unseen])
    return {"wrong": int((~right).sum()), "of": len(right)}
