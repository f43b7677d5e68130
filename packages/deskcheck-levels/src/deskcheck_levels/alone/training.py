"""Trains a model of the level `alone` on answers with their working. Needs torch (extra ``[teach]``).

AdamW with a constant rate, then down to nought on a line; weights averaged exponentially. A lesson that was
answered wrongly comes once more.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.errors import InputError
from deskcheck.files import disk_errors, read_json
from deskcheck.recording import Program
from deskcheck.teach.lessons.ids import IGNORED
from deskcheck.teach.run_folder import METRICS, begin_run, damaged, lock_run
from deskcheck.teach.small.batches import Batch, make_batch
from deskcheck.teach.small.batches import Lessons as OfProgram
from deskcheck.teach.small.model import ModelConfig
from deskcheck_levels.alone.lessons import NO_PROGRAM, Lessons, Steps, numbers, programs_of
from deskcheck_levels.alone.network import AloneModel, save
from deskcheck_levels.alone.settings import AloneTraining
from deskcheck_levels.alone.words import WORDS

RESUME = "resume.pt"
_NO_PROGRAM = numbers(NO_PROGRAM)
_POOL = 8
"""Batches that are drawn together."""
_KEPT = 2000
"""Lessons to be given once more, at most."""
_HELD_OUT, _LOOKED_AT = 50, 768
"""Of so many programs one is not taught; lessons of a look."""
_FEW = 0.4
"""Share of a batch up to which those that are wrong come again."""


def batches(given: Iterator[Steps], size: int, seed: object, again: list[Steps]) -> Iterator[list[Steps]]:
    """Steps of several programs each, about as long as one another. again: what is to come once more, which
    grows as training goes on."""
    chance = random.Random(str(seed))
    while True:
        pool, count = [], 0
        while count < _POOL * size:
            one = again.pop() if again else next(given)
            pool.append(one)
            count += len(one[1])
        parts = [(words, part) for words, steps in pool for part in _parts(steps)]
        parts.sort(key=_longest)
        packed: list[list[Steps]] = [[]]
        for part in parts:
            rows = sum(len(steps) for _, steps in packed[-1]) + len(part[1])
            if packed[-1] and rows * _longest(part) > 72 * size:
                packed.append([])
            packed[-1].append(part)
        chance.shuffle(packed)
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
    """The mean loss in nats over words of answers, and which lessons have a wrong word."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        context = model.read(batch.programs, batch.lengths).of(batch.owner)
        known, _ = model(batch.tokens, context)
        at = batch.labels != IGNORED
        logits = model.logits(known[at])
    labels = batch.labels[at]
    wrong = torch.zeros(batch.labels.shape, dtype=torch.bool)
    wrong[at] = logits.argmax(-1) != labels
    return nn.functional.cross_entropy(logits.float(), labels), wrong.any(1)


def _once_more(chosen: Sequence[Steps], wrong: Tensor) -> list[Steps]:
    """The steps of a batch that were wrong, by program."""
    left = iter(wrong.tolist())
    found = [(words, [step for step in steps if next(left)]) for words, steps in chosen]
    return [(words, steps) for words, steps in found if steps]


def train(
    source: str,
    out: Path,
    training: AloneTraining,
    *,
    any_licence: bool = False,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> AloneModel:
    """A model, trained into `out` (`network.FILE`); a run that was killed goes on from its last look.

    source: programs whose runs are the lessons. any_licence: also those that are not cleared for training.
    Raises InputError where `out` holds something else, and where no program is left.
    """
    known = programs_of(source, any_licence=any_licence)
    lock = lock_run(out)
    try:
        told = {"any_licence": True} if any_licence else {}
        begin_run(out, {"alone": asdict(training), "source": source, **told})
        return _Run(known, source, out, training, note).train()
    finally:
        lock.release()


class _Run:
    """A model in training, from its beginning or from its last look."""

    def __init__(
        self,
        known: Sequence[Program],
        source: str,
        out: Path,
        training: AloneTraining,
        note: Callable[[dict[str, Any]], None],
    ) -> None:
        self.out, self.training, self.note = out, training, note
        held = {one.code for number, one in enumerate(known) if number % _HELD_OUT == 0}
        self.known = [one for one in known if one.code not in held]
        if not self.known:
            raise InputError(f"{source}: has too few programs: some are kept for validation.")
        torch.manual_seed(training.seed)
        self.config = ModelConfig(
            vocab_size=len(WORDS),
            layers=training.layers,
            hidden_size=training.hidden_size,
            heads=max(1, training.hidden_size // 32),
            intermediate_size=-(-training.hidden_size * 8 // 3 // 32) * 32,
            shift_tokens=2,
        )
        self.model = AloneModel(self.config)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=training.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.01,
            fused=True,
        )
        self.averaged = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        self.step, self.lessons, self.operations, self.seconds = 0, 0, 0, 0.0
        """Updates; lessons in them, and how many of these were single operations; the time that they took."""
        self.again: list[Steps] = []
        self._resume()
        self.about = {
            "level": "alone",
            "words": list(WORDS),
            "config": asdict(self.config),
            "training": asdict(training),
            "steps_of": source,
        }
        self.unseen = self._unseen([one for one in known if one.code in held])

    def _unseen(self, held: Sequence[Program]) -> list[Batch]:
        found, count = [], 0
        for one in Lessons(held).drawn(f"{self.training.seed} unseen", operations=0):
            found.append(one)
            count += len(one[1])
            if count >= _LOOKED_AT:
                break
        return [batch_of(found[start : start + 16]) for start in range(0, len(found), 16)]

    def _resume(self) -> None:
        if not (self.out / RESUME).exists():
            (self.out / METRICS).unlink(missing_ok=True)
            return
        try:
            found = torch.load(self.out / RESUME, weights_only=True)
            self.model.load_state_dict(found["model"])
            self.optimizer.load_state_dict(found["optimizer"])
            self.averaged, self.again = found["averaged"], found["again"]
            self.step, self.seconds = found["step"], found["seconds"]
            self.lessons, self.operations = found["lessons"], found["operations"]
        except (RuntimeError, EOFError, KeyError, ValueError) as error:
            raise damaged(self.out / RESUME, error, "Delete it to begin this run anew") from error

    def train(self) -> AloneModel:
        training = self.training
        started = time.perf_counter() - self.seconds
        kept, lessons = AloneModel(self.config), Lessons(self.known)
        while self.step < training.steps:
            # Each stretch between two looks has lessons of its own, so that a run goes on from there.
            seed = f"{training.seed} {self.step}"
            given = batches(lessons.drawn(seed), training.batch_size, seed, self.again)
            losses, wrongs = [], []
            for chosen in given:
                loss, wrong = self._update(batch_of(chosen))
                losses.append(loss)
                wrongs.append(wrong.float().mean())
                self.lessons += len(wrong)
                self.operations += sum(len(steps) for words, steps in chosen if words == _NO_PROGRAM)
                if wrong.float().mean() < _FEW and len(self.again) < _KEPT:
                    self.again += _once_more(chosen, wrong)
                if self.step % training.look_every == 0 or self.step == training.steps:
                    break
            kept.load_state_dict(self.averaged)
            row: dict[str, Any] = {"step": self.step, "lessons": self.lessons}
            row["operations"] = self.operations
            row |= {
                "loss": float(torch.stack(losses).mean()),
                "taught_wrong": float(torch.stack(wrongs).mean()),
            }
            row |= self._look(kept)
            row["seconds"] = round(time.perf_counter() - started, 1)
            self._save(kept, row)
            self.note(row)
        kept.load_state_dict(self.averaged)
        return kept

    def _update(self, batch: Batch) -> tuple[Tensor, Tensor]:
        training, model = self.training, self.model
        fall = min(1.0, (1 - self.step / training.steps) / (1 - training.decay_from))
        for group in self.optimizer.param_groups:
            group["lr"] = training.learning_rate * min(1.0, (self.step + 1) / training.warmup_steps) * fall
        loss, wrong = loss_of(model, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        self.optimizer.step()
        weight = 1 - min(training.averaged, self.step / (self.step + 10))
        with torch.no_grad():
            for name, value in model.state_dict().items():
                self.averaged[name].lerp_(value, weight)
        self.step += 1
        return loss.detach(), wrong

    def _look(self, model: AloneModel) -> dict[str, Any]:
        """How many lessons of programs that are not taught have a wrong word."""
        model.eval()
        with torch.inference_mode():
            wrong = torch.cat([loss_of(model, batch)[1] for batch in self.unseen])
        return {"wrong": int(wrong.sum()), "of": len(wrong)}

    def _save(self, kept: AloneModel, row: dict[str, Any]) -> None:
        with disk_errors(self.out, "save the model"):
            save(kept, self.out, self.about | row)
            state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
            state |= {"averaged": self.averaged, "again": self.again, "step": self.step}
            part = self.out / (RESUME + ".part")
            state |= {name: row[name] for name in ("lessons", "operations", "seconds")}
            torch.save(state, part)
            lines = (self.out / METRICS).read_text().splitlines() if (self.out / METRICS).exists() else []
            before = [line for line in lines if read_json(line)["step"] < row["step"]]
            (self.out / METRICS).write_text("\n".join([*before, json.dumps(row)]) + "\n")
            part.replace(self.out / RESUME)
