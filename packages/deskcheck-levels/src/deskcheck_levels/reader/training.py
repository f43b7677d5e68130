"""Trains the model of the level `reader`: a small Llama over words of lines. Needs torch (extra ``[teach]``).

AdamW with a constant rate, then down to nought on a line; weights averaged exponentially. Of eight lessons
three are lines of generated programs, three are lines that are drawn, never the same twice, and two are ways
to the next line, of which there is a finite number.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count, islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.errors import InputError
from deskcheck.files import disk_errors, read_json
from deskcheck.teach.run_folder import METRICS, begin_run, damaged, lock_run
from deskcheck.teach.small.model import Model, ModelConfig
from deskcheck_levels import weights as files
from deskcheck_levels.reader import network
from deskcheck_levels.reader.lessons import Lesson, drawn, of_programs, way_lessons
from deskcheck_levels.reader.settings import ReaderTraining
from deskcheck_levels.reader.text import WORDS

RESUME = "resume.pt"
_POOL = 16
"""Batches that are drawn together."""
_IGNORED = -100


def batches(
    known: Sequence[Lesson], batch_size: int, seed: int, wrong: Mapping[int, Sequence[int]]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Words [lessons, length], and what is to be written after each, -100 where nothing is taught. Lessons of
    one length or so stand together.

    known: the lines of programs. wrong: of each look, by its step, which ways were wrong; it grows as
    training goes on. Those of the last look come again.
    """
    chance = random.Random(seed)
    fresh, ways = drawn(seed), way_lessons()
    for step in count(0, _POOL):
        seen = max((look for look in wrong if look <= step), default=None)
        again = [] if seen is None else [ways[place] for place in wrong[seen]]
        pool: list[Lesson] = []
        for number in range(_POOL * batch_size):
            if number % 8 < 3:
                pool.append(next(fresh))
            elif number % 8 < 6:
                pool.append(chance.choice(known))
            else:
                pool.append(chance.choice(again if again and number % 8 == 7 else ways))
        pool.sort(key=lambda lesson: len(lesson[0]))
        groups = [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
        chance.shuffle(groups)
        for group in groups:
            yield batch_of(group)


def batch_of(lessons: list[Lesson]) -> tuple[Tensor, Tensor]:
    """As `batches`."""
    width = max(len(words) for words, _ in lessons)
    words = torch.zeros(len(lessons), width, dtype=torch.long)
    labels = torch.full((len(lessons), width), _IGNORED)
    for row, (text, taught) in enumerate(lessons):
        words[row, : len(text)] = torch.tensor(text)
        wanted = [word if mine else _IGNORED for word, mine in zip(text, taught, strict=True)]
        labels[row, : len(text) - 1] = torch.tensor(wanted[1:])
    return words, labels


def train(
    source: str,
    out: Path,
    training: ReaderTraining,
    *,
    any_licence: bool = False,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Model:
    """A model, trained into `out` (`network.FILE`); a run that was killed goes on from its last look, with
    the same lessons.

    source: programs whose texts are half of the lessons. any_licence: also of those that are not cleared for
    training. Raises InputError where `out` holds something else, and where no program is left.
    """
    known = list(of_programs(source, training.seed, any_licence=any_licence))
    if not known:
        raise InputError(
            f"{source}: has no program that a reader knows and that is cleared for training (train_ok). "
            "--any-licence takes also those that are not cleared."
        )
    lock = lock_run(out)
    try:
        told = {"any_licence": True} if any_licence else {}
        begin_run(out, {"reader": asdict(training), "source": source, **told})
        return _trained(source, known, out, training, note)
    finally:
        lock.release()


def _trained(
    source: str,
    known: Sequence[Lesson],
    out: Path,
    training: ReaderTraining,
    note: Callable[[dict[str, Any]], None],
) -> Model:
    torch.manual_seed(training.seed)
    config = ModelConfig(
        vocab_size=len(WORDS),
        layers=training.layers,
        hidden_size=training.hidden_size,
        heads=max(1, training.hidden_size // 32),
        intermediate_size=-(-training.hidden_size * 8 // 3 // 32) * 32,
        shift_tokens=2,
    )
    model = Model(config)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=training.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    averaged = {name: value.detach().clone() for name, value in model.state_dict().items()}
    step, seconds = 0, 0.0
    wrong: dict[int, list[int]] = {}
    if (out / RESUME).exists():
        try:
            found = torch.load(out / RESUME, weights_only=True)
            model.load_state_dict(found["model"])
            optimizer.load_state_dict(found["optimizer"])
            averaged, step, seconds = found["averaged"], found["step"], found["seconds"]
            wrong = found["wrong"]
        except (RuntimeError, EOFError, KeyError, ValueError) as error:
            raise damaged(out / RESUME, error, "Delete it to begin this run anew") from error
    about = {
        "level": "reader",
        "words": list(WORDS),
        "config": asdict(config),
        "training": asdict(training),
        "steps_of": source,
    }
    kept = Model(config)
    unseen = batch_of(list(islice(drawn(training.seed + 10**6), 512)))
    ways = batch_of(way_lessons())
    started, losses = time.perf_counter() - seconds, []
    given = batches(known, training.batch_size, training.seed, wrong)
    for words, labels in islice(given, step, None):
        if step >= training.steps:
            break
        loss = _loss(model, words, labels)[0]
        fall = min(1.0, (1 - step / training.steps) / (1 - training.decay_from))
        for group in optimizer.param_groups:
            group["lr"] = training.learning_rate * min(1.0, (step + 1) / training.warmup_steps) * fall
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        weight = 1 - min(training.averaged, step / (step + 10))
        with torch.no_grad():
            for name, value in model.state_dict().items():
                averaged[name].lerp_(value, weight)
        losses.append(loss.detach())
        step += 1
        if step % training.look_every == 0 or step == training.steps:
            kept.load_state_dict(averaged)
            row: dict[str, Any] = {"step": step, "loss": float(torch.stack(losses).mean())}
            lines, wrong[step] = _wrong(kept, unseen), _wrong(kept, ways)
            row |= {"wrong": len(lines), "of": len(unseen[0])}
            row |= {"wrong_ways": len(wrong[step]), "ways": len(ways[0])}
            row["seconds"] = round(time.perf_counter() - started, 1)
            losses = []
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "averaged": averaged}
            state["wrong"] = wrong
            weights = {name: value.numpy() for name, value in averaged.items()}
            files.save(out / network.FILE, weights, about | row)
            _save(out, {**state, "step": step, "seconds": row["seconds"]}, row)
            note(row)
    kept.load_state_dict(averaged)
    return kept


def _loss(model: Model, words: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        known, _ = model(words)
        at = labels != _IGNORED
        logits = model.logits(known[at])
    loss = nn.functional.cross_entropy(logits.float(), labels[at])
    wrong = torch.zeros(labels.shape, dtype=torch.bool)
    wrong[at] = logits.argmax(-1) != labels[at]
    return loss, wrong.any(1)


def _wrong(model: Model, batch: tuple[Tensor, Tensor]) -> list[int]:
    """Which lessons of a batch are wrong."""
    model.eval()
    with torch.inference_mode():
        _, wrong = _loss(model, *batch)
    model.train()
    return [int(place) for place in wrong.nonzero().flatten()]


def _save(out: Path, state: dict[str, Any], row: dict[str, Any]) -> None:
    with disk_errors(out, "save the model"):
        part = out / (RESUME + ".part")
        torch.save(state, part)
        lines = (out / METRICS).read_text().splitlines() if (out / METRICS).exists() else []
        before = [line for line in lines if read_json(line)["step"] < row["step"]]
        (out / METRICS).write_text("\n".join([*before, json.dumps(row)]) + "\n")
        part.replace(out / RESUME)
