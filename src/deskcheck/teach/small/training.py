"""Trains a small model from random weights, on lessons.

A run is a folder (`run_folder`). Rerun the command to resume an interrupted run from `resume.pt`. On a CPU,
resuming does not change the losses.

Needs torch (the extra ``[teach]``).
"""

import hashlib
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.files import disk_errors
from deskcheck.recording import InputError
from deskcheck.teach.lessons.ids import IGNORED
from deskcheck.teach.lessons.shards import taught_as
from deskcheck.teach.lessons.tokens import EDITS, Edits, Tokenizer, Words
from deskcheck.teach.run_folder import begin_run, lock_run
from deskcheck.teach.settings import Training
from deskcheck.teach.small.batches import Batch, Batches, shards, some_texts
from deskcheck.teach.small.model import Model, ModelConfig
from deskcheck.teach.small.trainer import Trainer


def learning_rate_at(training: Training, step: int) -> float:
    """The learning rate of a step: linear from 0 up to `warmup_steps`, then half a cosine down to 1 %."""
    if step < training.warmup_steps:
        return training.learning_rate * (step + 1) / training.warmup_steps
    progress = (step - training.warmup_steps) / max(1, training.steps - training.warmup_steps)
    return training.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))


def loss_of(model: Model, batch: Batch, precision: str = "fp32") -> tuple[Tensor, Tensor]:
    """The mean loss in nats over the trained tokens, and whether all tokens of a row are right, [rows]."""
    with _precision(precision, batch.tokens.device):
        context = model.read(batch.programs, batch.lengths).of(batch.owner)
        hidden, _ = model(batch.tokens, context, batch.before(model.config.shift_tokens))
    return loss_of_answers(model, hidden, batch.labels, precision)


def losses_of(model: Model, batch: Batch, precision: str = "fp32") -> tuple[Tensor, Tensor]:
    """The mean losses in nats: over the trained tokens (`loss_of`), and over programs and prompts."""
    with _precision(precision, batch.tokens.device):
        read, context = model(batch.programs)
        context = replace(context, lengths=batch.lengths).of(batch.owner)
        hidden, _ = model(batch.tokens, context, batch.before(model.config.shift_tokens))
        masks = batch.programs_next != IGNORED, batch.prompts_next != IGNORED
        logits = model.logits(torch.cat([read[masks[0]], hidden[masks[1]]])).float()
    labels = torch.cat([batch.programs_next[masks[0]], batch.prompts_next[masks[1]]])
    answers, _ = loss_of_answers(model, hidden, batch.labels, precision)
    return answers, nn.functional.cross_entropy(logits, labels)


def loss_of_answers(model: Model, hidden: Tensor, labels: Tensor, precision: str) -> tuple[Tensor, Tensor]:
    """The results of `loss_of`, from hidden states, [rows, length, width], and labels."""
    trained = labels != IGNORED
    with _precision(precision, labels.device):
        logits = model.logits(hidden[trained]).float()
    wrong = torch.zeros(labels.shape, dtype=torch.bool, device=labels.device)
    wrong[trained] = logits.argmax(-1) != labels[trained]
    return nn.functional.cross_entropy(logits, labels[trained]), ~wrong.any(1)


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
    """Trains a model on a folder of lessons, or resumes the run in `out`.

    config: `vocab_size` is ignored, the tokenizer decides it. until: called after each step; when it returns
    True, the run is saved and ends early. note: receives each line of `metrics.jsonl`.

    Raises:
        InputError: some or all lessons are missing; `out` contains something other than this run; the device
            does not exist.
        RecordingError: another process uses `out`; a file of the run is damaged; the disk fails.
    """
    files = shards(lessons)
    target = open_device(device)
    lock = lock_run(out)
    try:
        return _taught(files, out, config, training or Training(), target, until, note)
    finally:
        lock.release()


def open_device(name: str) -> torch.device:
    """A device that can compute. Raises InputError for any other."""
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
    settings = {
        "config": asdict(config),
        "training": asdict(training),
        "tokenizer": {"words": list(words.words), "edits": EDITS if training.edits else 0},
        "lessons": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    }
    about = {"tokenizer": settings["tokenizer"], "taught": taught_as(files[0].parent), "run": settings}
    begin_run(out, settings)
    torch.manual_seed(training.seed)
    model = Model(config)
    optimizer = torch.optim.AdamW(
        _groups(model, training.weight_decay),
        lr=training.learning_rate,
        betas=(0.9, 0.98),
        fused=target.type == "cpu",
    )
    trainer = Trainer(out, model, optimizer, extra={"tokens": 0}, note=note)

    def write_model() -> None:
        model.save(out, {**about, "step": trainer.step})

    if trainer.step >= training.steps:  # ended: its model is written once more, should it be gone or damaged
        with disk_errors(out, "save the model"):
            write_model()
        return model.to(target)
    trainer.to(target)
    held_out = _validation(files, training, tokenizer)
    batches = Batches(
        files,
        tokenizer,
        rows=training.batch_size,
        per_program=training.steps_per_program,
        seed=training.seed,
    )
    for batch in islice(batches, trainer.step, None):  # a run that goes on has seen those before already
        _update(trainer, model, training, batch.to(target))
        trainer.extra["tokens"] += int((batch.labels != IGNORED).sum())
        ending = trainer.step >= training.steps or until()
        checking = trainer.step % training.eval_every == 0 or ending
        if trainer.step % training.log_every == 0 or checking:
            row = trainer.row()
            row["learning_rate"] = learning_rate_at(training, trainer.step - 1)
            row |= trainer.extra
            if checking:
                row |= check(model, held_out, training.precision)
            trainer.write(row)
        if checking:
            trainer.save(write_model)
        if ending:
            break
    return model


def _update(trainer: Trainer, model: Model, training: Training, batch: Batch) -> None:
    prompt_weight = training.prompt_loss_weight * (1 - trainer.step / training.steps)
    rate = learning_rate_at(training, trainer.step)
    if prompt_weight:
        loss, of_prompts = losses_of(model, batch, training.precision)
        total = loss + prompt_weight * of_prompts
    else:
        loss, _ = loss_of(model, batch, training.precision)
        total = loss
    trainer.update(total, rate, reported=loss, max_norm=training.max_grad_norm)


def check(model: Model, held_out: list[Batch], precision: str) -> dict[str, float]:
    """The loss on held-out lessons, and the share of them that are answered exactly."""
    if not held_out:
        return {}
    device = model.embed_tokens.weight.device
    losses, right, count = 0.0, 0, 0
    model.eval()
    with torch.inference_mode():
        for batch in held_out:
            loss, exact = loss_of(model, batch.to(device), precision)
            losses += float(loss)
            right += int(exact.sum())
            count += len(exact)
    model.train()
    return {"validation_loss": losses / len(held_out), "exact": right / count, "n": count}


def _validation(files: list[Path], training: Training, tokenizer: Tokenizer) -> list[Batch]:
    batches = Batches(
        files,
        tokenizer,
        rows=training.batch_size,
        per_program=training.steps_per_program,
        seed=training.seed,
        split="validation",
    )
    held_out: list[Batch] = []
    try:
        for batch in batches:
            held_out.append(batch)
            if len(held_out) == training.eval_batches:
                break
    except InputError:
        return []  # a folder of lessons may have none to spare
    return held_out


def _precision(precision: str, device: torch.device) -> Any:
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def _groups(model: Model, decay: float) -> list[dict[str, Any]]:
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
