"""Training a small model from nothing, on lessons.

A run is a folder (`run_folder`) with `resume.pt`, from which the same command goes on where it was ended, by
whatever. On a CPU the losses of a run that was ended and went on are those of one that was not.

Needs torch (the extra ``[teach]``).
"""

import hashlib
import json
import math
import os
import pickle
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import Tensor, nn

from deskcheck.files import disk_errors, read_json
from deskcheck.recording import InputError
from deskcheck.teach.lessons.ids import IGNORED
from deskcheck.teach.lessons.shards import taught_as
from deskcheck.teach.lessons.tokens import EDITS, Edits, Tokenizer, Words
from deskcheck.teach.run_folder import METRICS, begin_run, damaged, lock_run
from deskcheck.teach.settings import Training
from deskcheck.teach.small.batches import Batch, Batches, shards, some_texts
from deskcheck.teach.small.model import Model, ModelConfig

RESUME = "resume.pt"


def learning_rate_at(training: Training, step: int) -> float:
    """The learning rate of a step, from 0: linear up to `warmup_steps`, then half a cosine to 1 %."""
    if step < training.warmup_steps:
        return training.learning_rate * (step + 1) / training.warmup_steps
    done = (step - training.warmup_steps) / max(1, training.steps - training.warmup_steps)
    return training.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))


def loss_of(model: Model, batch: Batch, precision: str = "fp32") -> tuple[Tensor, Tensor]:
    """The mean loss in nats over the trained tokens, and for each row whether every one of them is the most
    likely: [rows]."""
    with _precision(precision, batch.tokens.device):
        context = model.read(batch.programs, batch.lengths).of(batch.owner)
        known, _ = model(batch.tokens, context, batch.before(model.config.shift_tokens))
    return _loss_of_answers(model, batch, known, precision)


def losses_of(model: Model, batch: Batch, precision: str = "fp32") -> tuple[Tensor, Tensor]:
    """The mean loss in nats over the trained tokens, as `loss_of`, and that over the tokens of programs and
    prompts."""
    with _precision(precision, batch.tokens.device):
        read, context = model(batch.programs)
        context = replace(context, lengths=batch.lengths).of(batch.owner)
        known, _ = model(batch.tokens, context, batch.before(model.config.shift_tokens))
        given = batch.programs_next != IGNORED, batch.prompts_next != IGNORED
        logits = model.logits(torch.cat([read[given[0]], known[given[1]]])).float()
    labels = torch.cat([batch.programs_next[given[0]], batch.prompts_next[given[1]]])
    answers, _ = _loss_of_answers(model, batch, known, precision)
    return answers, nn.functional.cross_entropy(logits, labels)


def _loss_of_answers(model: Model, batch: Batch, known: Tensor, precision: str) -> tuple[Tensor, Tensor]:
    trained = batch.labels != IGNORED
    with _precision(precision, batch.tokens.device):
        logits = model.logits(known[trained]).float()
    labels = batch.labels[trained]
    wrong = torch.zeros(len(batch.labels), dtype=torch.long, device=labels.device)
    rows = trained.nonzero()[:, 0]
    wrong.index_add_(0, rows, (logits.argmax(-1) != labels).long())
    return nn.functional.cross_entropy(logits, labels), wrong == 0


def teach(
    lessons: Path,
    out: Path,
    *,
    config: ModelConfig | None = None,
    training: Training | None = None,
    device: str = "cpu",
    until: Callable[[], bool] = lambda: False,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Model:
    """Trains a model on a folder of lessons, or goes on with the run that `out` holds.

    config: its `vocab_size` is the tokenizer's, whatever it says.

    until: asked after each step; once true the run is saved and ends early. note: is given each line of
    `metrics.jsonl`.

    Raises:
        InputError: there are no lessons, or not all of them; `out` holds something else than this run; there
            is no such device.
        RecordingError: another process trains there; a file of the run is damaged; the disk refuses.
    """
    files = shards(lessons)
    target = open_device(device)
    lock = lock_run(out)
    try:
        return _taught(files, out, config, training or Training(), target, until, note)
    finally:
        lock.release()


def open_device(name: str) -> torch.device:
    """A device that can be computed on. Raises InputError for any other."""
    try:
        return torch.empty(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {name!r}: {str(error).strip().splitlines()[0]}") from error


def _taught(
    files: list[Path],
    out: Path,
    config: ModelConfig | None,
    training: Training,
    target: torch.device,
    until: Callable[[], bool],
    note: Callable[[dict[str, Any]], None],
) -> Model:
    words = Words.learned(some_texts(files), training.vocab_words)
    tokenizer = Edits(words) if training.edits else words
    config = replace(config or ModelConfig(vocab_size=0), vocab_size=words.size)
    asked = {
        "config": asdict(config),
        "training": asdict(training),
        "tokenizer": {"words": list(words.words), "edits": EDITS if training.edits else 0},
        "lessons": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    }
    about = {"tokenizer": asked["tokenizer"], "taught": taught_as(files[0].parent), "run": asked}
    begin_run(out, asked)
    run = _Run(out, config, training, target, about)
    if run.step >= training.steps:  # ended: its model is written once more, should it be gone or damaged
        run.save(run.seconds)
        return run.model.to(target)
    run.to_device()
    held_out = _validation(files, training, tokenizer)
    started = time.perf_counter() - run.seconds
    batches = Batches(
        files,
        tokenizer,
        rows=training.batch_size,
        each=training.steps_per_program,
        seed=training.seed,
    )
    with (out / METRICS).open("a", encoding="utf-8") as metrics:
        for batch in islice(batches, run.step, None):  # those before a run that goes on has seen already
            run.update(batch)
            ending = run.step >= training.steps or until()
            checking = run.step % training.eval_every == 0 or ending
            if run.step % training.log_every == 0 or checking:
                row = run.row(time.perf_counter() - started)
                if checking:
                    row |= check(run.model, held_out, training.precision)
                with disk_errors(out / METRICS, "write the curve"):
                    _write(metrics, row)
                note(row)
            if checking:
                run.save(time.perf_counter() - started)
            if ending:
                break
    return run.model


class _Run:
    """A model in training, from its beginning or from where `resume.pt` left it."""

    def __init__(
        self, out: Path, config: ModelConfig, training: Training, device: torch.device, about: dict[str, Any]
    ) -> None:
        self.out, self.training, self.device, self.about = out, training, device, about
        resumed = _resumed(out)
        torch.manual_seed(training.seed)
        self.model = Model(config)
        self.optimizer = torch.optim.AdamW(
            _groups(self.model, training.weight_decay),
            lr=training.learning_rate,
            betas=(0.9, 0.98),
            fused=device.type == "cpu",
        )
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        """Updates so far; tokens that were trained in them; the time that they took before this start."""
        self.losses: list[Tensor] = []
        """Of the updates since the last line of the curve."""
        if resumed is not None:
            self.model.load_state_dict(resumed["model"])
            self.optimizer.load_state_dict(resumed["optimizer"])
            self.step, self.tokens, self.seconds = resumed["step"], resumed["tokens"], resumed["seconds"]

    def to_device(self) -> None:
        self.model.to(self.device)
        for state in self.optimizer.state.values():
            for name, value in state.items():
                state[name] = value.to(self.device) if isinstance(value, Tensor) and value.dim() else value

    def update(self, batch: Batch) -> None:
        """One step of the optimizer."""
        training, model = self.training, self.model
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate_at(training, self.step)
        moved = batch.to(self.device)
        prompt_weight = training.prompt_loss_weight * (1 - self.step / training.steps)
        if prompt_weight:
            loss, given = losses_of(model, moved, training.precision)
            (loss + prompt_weight * given).backward()
        else:
            loss, _ = loss_of(model, moved, training.precision)
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), training.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.losses.append(loss.detach())
        self.step += 1
        self.tokens += int((batch.labels != IGNORED).sum())

    def row(self, seconds: float) -> dict[str, Any]:
        """A line of the curve, with the mean loss since the last one."""
        losses, self.losses = self.losses, []
        return {
            "step": self.step,
            "loss": float(torch.stack(losses).mean()),
            "learning_rate": learning_rate_at(self.training, self.step - 1),
            "tokens": self.tokens,
            "seconds": round(seconds, 3),
        }

    def save(self, seconds: float) -> None:
        """The model, and what the run goes on from."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "tokens": self.tokens,
            "seconds": seconds,
        }
        with disk_errors(self.out, "save the model"):
            self.model.save(self.out, {**self.about, "step": self.step})
            part = self.out / (RESUME + ".part")
            with part.open("wb") as file:
                torch.save(state, file)
            os.replace(part, self.out / RESUME)


def check(model: Model, held_out: list[Batch], precision: str) -> dict[str, float]:
    """Loss on lessons that were not trained, and the share of them answered exactly."""
    if not held_out:
        return {}
    device = model.embed_tokens.weight.device
    losses, right, n = 0.0, 0, 0
    model.eval()
    with torch.inference_mode():
        for batch in held_out:
            loss, exact = loss_of(model, batch.to(device), precision)
            losses += float(loss)
            right += int(exact.sum())
            n += len(exact)
    model.train()
    return {"validation_loss": losses / len(held_out), "exact": right / n, "n": n}


def _validation(files: list[Path], training: Training, tokenizer: Tokenizer) -> list[Batch]:
    batches = Batches(
        files,
        tokenizer,
        rows=training.batch_size,
        each=training.steps_per_program,
        seed=training.seed,
        split="validation",
    )
    found: list[Batch] = []
    try:
        for batch in batches:
            found.append(batch)
            if len(found) == training.eval_batches:
                break
    except InputError:
        return []  # a folder of lessons may have none to spare
    return found


def _precision(precision: str, device: torch.device) -> Any:
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def _groups(model: Model, decay: float) -> list[dict[str, Any]]:
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]


def _resumed(out: Path) -> dict[str, Any] | None:
    """What the run in `out` has come to; None for one that begins."""
    if not (out / RESUME).exists():
        (out / METRICS).unlink(missing_ok=True)
        return None
    try:
        resumed: dict[str, Any] = torch.load(out / RESUME, map_location="cpu", weights_only=True)
        last = resumed["step"]
    except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
        raise damaged(out / RESUME, error, "Delete it to begin this run anew") from error
    # Lines that were written after what is gone on from are written again.
    lines = (out / METRICS).read_text().splitlines() if (out / METRICS).exists() else []
    kept = [line for line in lines if _step(line) <= last]
    _replace(out / METRICS, "".join([line + "\n" for line in kept]).encode())
    return resumed


def _step(line: str) -> float:
    try:
        return float(read_json(line)["step"])
    except (ValueError, KeyError):
        return math.inf  # cut off while it was written


def _replace(file: Path, data: bytes) -> None:
    part = file.with_name(file.name + ".part")
    part.write_bytes(data)
    os.replace(part, file)


def _write(file: TextIO, row: dict[str, Any]) -> None:
    file.write(json.dumps(row) + "\n")
    file.flush()
