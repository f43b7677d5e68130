"""Trains the model of the level `reader`: a small Llama over words of lines. Needs torch (extra ``[teach]``).

AdamW has a constant rate, which then falls linearly to nought; weights are averaged exponentially. Of eight
lessons, three are lines of generated programs, three are drawn lines, never the same twice, and two are ways
to the next line, whose number is finite.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from deskcheck.errors import InputError
from deskcheck.teach.lessons.ids import IGNORED
from deskcheck.teach.run_folder import locked_run
from deskcheck.teach.small.model import Model
from deskcheck.teach.small.trainer import Trainer
from deskcheck.teach.small.training import loss_of_answers
from deskcheck_levels import weights as files
from deskcheck_levels.reader import network
from deskcheck_levels.reader.lessons import Lesson, drawn, of_programs, way_lessons
from deskcheck_levels.reader.settings import ReaderTraining
from deskcheck_levels.reader.text import WORDS
from deskcheck_levels.training import adamw, asked, config_of

_POOL = 16
"""Batches that are drawn together."""


def batches(
    program_lessons: Sequence[Lesson], batch_size: int, seed: int, wrong: Mapping[int, Sequence[int]]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Words [lessons, length], and what is to be written after each, -100 where nothing is taught. Lessons of
    one length or so stand together.

    program_lessons: the lines of programs. wrong: of each look, by its step, which ways were wrong. It grows
    in training; those of the last look come again.
    """
    rng = random.Random(seed)
    fresh, ways = drawn(seed), way_lessons()
    for step in count(0, _POOL):
        last_look = max((look for look in wrong if look <= step), default=None)
        again = [] if last_look is None else [ways[way] for way in wrong[last_look]]
        pool: list[Lesson] = []
        for number in range(_POOL * batch_size):
            if number % 8 < 3:
                pool.append(next(fresh))
            elif number % 8 < 6:
                pool.append(rng.choice(program_lessons))
            else:
                pool.append(rng.choice(again if again and number % 8 == 7 else ways))
        pool.sort(key=lambda lesson: len(lesson[0]))
        groups = [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
        rng.shuffle(groups)
        for group in groups:
            yield batch_of(group)


def batch_of(lessons: list[Lesson]) -> tuple[Tensor, Tensor]:
    """As `batches`."""
    width = max(len(words) for words, _ in lessons)
    words = torch.zeros(len(lessons), width, dtype=torch.long)
    labels = torch.full((len(lessons), width), IGNORED)
    for row, (text, taught) in enumerate(lessons):
        words[row, : len(text)] = torch.tensor(text)
        row_labels = [word if mine else IGNORED for word, mine in zip(text, taught, strict=True)]
        labels[row, : len(text) - 1] = torch.tensor(row_labels[1:])
    return words, labels


def train(
    source: str,
    out: Path,
    training: ReaderTraining,
    *,
    any_licence: bool = False,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Model:
    """Trains a model into `out` (`network.FILE`). A killed run resumes from its last evaluation.

    source: programs whose texts are half of the lessons. any_licence: include those that are not cleared for
    training. Raises InputError if `out` contains something else, or if no program is left.
    """
    program_lessons = list(of_programs(source, training.seed, any_licence=any_licence))
    if not program_lessons:
        raise InputError(
            f"{source}: has no program that a reader knows and that is cleared for training (train_ok). "
            f"--any-licence also uses those that are not cleared."
        )
    with locked_run(out, asked("reader", asdict(training), source, any_licence)):
        return _trained(source, program_lessons, out, training, note)


def _trained(
    source: str,
    program_lessons: Sequence[Lesson],
    out: Path,
    training: ReaderTraining,
    note: Callable[[dict[str, Any]], None],
) -> Model:
    torch.manual_seed(training.seed)
    config = config_of(len(WORDS), layers=training.layers, hidden_size=training.hidden_size)
    model, averaged = Model(config), Model(config)
    optimizer = adamw(model, training, weight_decay=0.01)
    wrong_ways: dict[int, list[int]] = {}
    trainer = Trainer(
        out, model, optimizer, averaging=training.averaged, extra={"wrong": wrong_ways}, note=note
    )
    wrong_ways = trainer.extra["wrong"]
    about = {
        "level": "reader",
        "words": list(WORDS),
        "config": asdict(config),
        "training": asdict(training),
        "steps_of": source,
    }
    unseen = batch_of(list(islice(drawn(training.seed + 10**6), 512)))
    ways = batch_of(way_lessons())
    drawn_batches = batches(program_lessons, training.batch_size, training.seed, wrong_ways)
    for words, labels in islice(drawn_batches, trainer.step, None):
        if trainer.step >= training.steps:
            break
        trainer.update(_loss(model, words, labels)[0], training.rate_at(trainer.step))
        if trainer.step % training.look_every and trainer.step != training.steps:
            continue
        averaged.load_state_dict(trainer.averaged)
        wrong_lines = _wrong(averaged, unseen)
        wrong_ways[trainer.step] = _wrong(averaged, ways)
        row = trainer.row() | {"wrong": len(wrong_lines), "of": len(unseen[0])}
        row |= {"wrong_ways": len(wrong_ways[trainer.step]), "ways": len(ways[0])}
        trainer.write(row)
        weights = {name: value.numpy() for name, value in trainer.averaged.items()}
        trainer.save(partial(files.save, out / network.FILE, weights, about | row))
    averaged.load_state_dict(trainer.averaged)
    return averaged


def _loss(model: Model, words: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The mean loss over the words that are taught, and which lessons are right."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden, _ = model(words)
    return loss_of_answers(model, hidden, labels, "bf16")


def _wrong(model: Model, batch: tuple[Tensor, Tensor]) -> list[int]:
    """Which lessons of a batch are wrong."""
    with torch.inference_mode():
        _, right = _loss(model, *batch)
    return [int(index) for index in (~right).nonzero().flatten()]
