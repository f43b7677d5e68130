"""Fine-tunes a Hugging Face causal language model on lessons by TRL's SFTTrainer: all weights, or LoRA.

The training uses the lessons' tokens and labels: TRL does not tokenise, truncate or pack, so only completions
and their ends have a loss. accelerate provides several GPUs, FSDP and DeepSpeed:

    accelerate launch -m deskcheck teach LESSONS --model MODEL --out FOLDER

A run is a folder (`run_folder`) with the model (for LoRA, the adapter), its tokenizer, and `checkpoints`.
Rerun the command to resume from the last checkpoint. Needs torch, transformers, trl, peft and datasets (the
extra ``[teach]``).
"""

import pickle
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deskcheck.files import FolderLock, disk_errors, read_file, read_json, sha256
from deskcheck.recording import InputError, MissingExtra
from deskcheck.teach.lessons.shards import refuse_unfinished
from deskcheck.teach.lessons.tokens import Pretrained
from deskcheck.teach.run_folder import CHECKPOINTS, RUN, Curve, begin_run, damaged, lock_run, write_json
from deskcheck.teach.settings import Tuning

AS_IT_IS = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
"""Chat template of a trained model, which keeps the layout of lessons. transformers' tokenizers add the token
that begins a text."""
SERVED = "served.jinja"
"""File of the template for servers, which add no tokens to a template."""
_COLUMNS = ["prefix", "prompt", "completion", "input_ids"]
_LOOKED_AT = 200
"""Lessons of each split whose tokens are compared with the model's tokenizer."""


def tune(
    lessons: Path,
    model: str,
    out: Path,
    *,
    tuning: Tuning | None = None,
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> None:
    """Trains a model (a folder or a name on the hub) on a folder of lessons, or resumes the run in `out`.

    note: receives each line of `metrics.jsonl`.

    Raises:
        InputError: some or all lessons are missing; lessons have no tokens, tokens of another tokenizer, or
            more tokens than the model can read; the model cannot be loaded; `out` contains something other
            than this run.
        RecordingError: another process uses `out`; a file of the run is damaged; the disk fails.
        MissingExtra: a package is not installed.
    """
    tuning = tuning or Tuning()
    try:
        import peft  # noqa: F401 (what LoRA needs, missed before hours are spent)
        import trl  # noqa: F401
        from accelerate import PartialState
        from safetensors import SafetensorError
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", "Training a model") from error
    files, count = _checked(Path(lessons), model)
    state = PartialState()
    settings = {
        "model": model,
        "tuning": asdict(tuning),
        "lessons": {f.name: sha256(f) for split in files.values() for f in split},
    }
    lock: FolderLock | None = None
    try:
        with state.main_process_first():
            if state.is_main_process:
                lock = lock_run(out)
                _open(out, settings)
        tokenizer = AutoTokenizer.from_pretrained(model)
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        trainer = _trainer(files, model, tokenizer, out, tuning, _Metrics(out, note, state.is_main_process))
        if state.is_main_process:
            write_json(
                out / RUN,
                settings
                | {
                    "count": count,
                    "processes": state.num_processes,
                    "versions": {name: version(name) for name in ("torch", "transformers", "trl", "peft")},
                    "config": trainer.args.to_sanitized_dict(),
                },
            )
        last = _last_checkpoint(out)
        try:
            trainer.train(resume_from_checkpoint=str(last) if last is not None else None)
        except (SafetensorError, EOFError, pickle.UnpicklingError) as error:
            if last is None:
                raise
            raise damaged(last, error, "Delete it to resume from the previous one") from error
        with disk_errors(out, "save the model"):
            trainer.save_model(str(out))
        if state.is_main_process:
            tokenizer.chat_template = AS_IT_IS
            with disk_errors(out, "save the tokenizer"):
                tokenizer.save_pretrained(str(out))
                (out / SERVED).write_text(served_template(Pretrained(model)))
            (out / "training_args.bin").unlink(missing_ok=True)  # a pickle of what run.json says in words
            shutil.rmtree(out / CHECKPOINTS / "lessons", ignore_errors=True)  # the lessons as Arrow, mapped
    finally:
        if lock is not None:
            lock.release()


def served_template(tokenizer: Pretrained) -> str:
    """The chat template by which a server gives a model the tokens of lessons."""
    return ("{{ bos_token }}" if tokenizer.begin else "") + AS_IT_IS


# -- what is refused -------------------------------------------------------------------------------


def _checked(lessons: Path, model: str) -> tuple[dict[str, list[Path]], int]:
    """The files of each split, and the number of training lessons.

    Raises InputError if the model cannot be trained on them.
    """
    refuse_unfinished(lessons)
    files = {split: sorted(lessons.glob(f"{split}-*.parquet")) for split in ("train", "validation")}
    count, longest = _check_files(lessons, files["train"])
    context = context_of(model)
    tokenizer = Pretrained(model)
    for split_files in files.values():
        _check_tokens(tokenizer, split_files)
    if context is not None and longest > context:
        raise InputError(
            f"{lessons}: the longest lesson has {longest} tokens, and {model} reads {context}. Build them "
            f"with --budget {context}."
        )
    return files, count


def _check_files(lessons: Path, files: list[Path]) -> tuple[int, int]:
    """The number of training lessons, and the tokens of the longest."""
    if not files:
        raise InputError(
            f"{lessons}: has no lessons to train on. `deskcheck lessons RECORDINGS --out {lessons}` makes "
            "them."
        )
    count = longest = 0
    for file in files:
        try:
            shard = pq.ParquetFile(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: cannot be read as lessons ({error}).") from error
        missing = [name for name in [*_COLUMNS, "labels", "tokens"] if name not in shard.schema_arrow.names]
        if missing:
            raise InputError(
                f"{file}: has no {' and no '.join(missing)}. Build lessons with tokens by the model's "
                "tokenizer: `deskcheck lessons ... --tokenizer MODEL`."
            )
        count += shard.metadata.num_rows
        for batch in shard.iter_batches(columns=["tokens"]):
            longest = max([longest, *batch.column(0).to_pylist()])
    if not count:
        raise InputError(f"{lessons}: its files for training are empty.")
    return count, longest


def context_of(model: str) -> int | None:
    """The largest number of tokens that a model (a folder or a name on the hub) can read.

    None if its configuration does not say. Raises InputError if the model does not exist.
    """
    from transformers import AutoConfig

    try:
        return getattr(AutoConfig.from_pretrained(model), "max_position_embeddings", None)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{model}: is not a model that can be loaded: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _check_tokens(tokenizer: Pretrained, files: list[Path]) -> None:
    """Raises InputError if the lessons' tokens differ from those of the tokenizer."""
    for file in files[:: max(1, len(files) // 4)]:
        rows = next(pq.ParquetFile(file).iter_batches(_LOOKED_AT, columns=_COLUMNS), None)
        lesson_rows = [] if rows is None else rows.to_pylist()
        for row in lesson_rows:
            prompt = row["prefix"] + row["prompt"]
            texts = [prompt + row["completion"]] if prompt.endswith("\n") else [prompt, row["completion"]]
            tokens = [token for text in tokenizer.encode_all(texts) for token in text]
            if row["input_ids"] != [*tokenizer.begin, *tokens, tokenizer.end]:
                raise InputError(
                    f"{file}: was built with a different tokenizer. That of {tokenizer.name} gives other "
                    f"tokens for the lesson that ends in {row['completion'][-60:]!r}. "
                    f"Build lessons with --tokenizer {tokenizer.name}."
                )


# -- the run ---------------------------------------------------------------------------------------


def _trainer(
    files: dict[str, list[Path]], model: str, tokenizer: Any, out: Path, tuning: Tuning, metrics: "_Metrics"
) -> Any:
    import torch
    from datasets import Dataset
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, PrinterCallback, TrainerCallback
    from trl import SFTTrainer

    def dataset(split: str) -> Any:
        return Dataset.from_parquet(
            [str(file) for file in files[split]],
            columns=["input_ids", "labels"],
            cache_dir=str(out / CHECKPOINTS / "lessons"),
        )

    held_out = None
    if files["validation"] and tuning.eval_lessons:
        lessons = dataset("validation").shuffle(seed=tuning.seed)
        held_out = lessons.select(range(min(len(lessons), tuning.eval_lessons))) if len(lessons) else None
    gpu = torch.cuda.is_available()
    bf16 = tuning.precision == "bf16" or (
        tuning.precision == "auto" and gpu and torch.cuda.is_bf16_supported()
    )
    config = _config(out, tuning, bf16=bf16, gpu=gpu, evaluates=held_out is not None)
    try:
        # Weights are kept in fp32 where they are trained; those under adapters stand still.
        network = AutoModelForCausalLM.from_pretrained(
            str(Path(model).resolve()) if Path(model).is_dir() else model,  # adapters say where their base is
            dtype=torch.bfloat16 if bf16 and tuning.lora else torch.float32,
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(f"{model}: cannot be loaded: {_first_line(error)}") from error
    adapters = None
    if tuning.lora:
        from peft import LoraConfig

        adapters = LoraConfig(
            r=tuning.lora, lora_alpha=2 * tuning.lora, target_modules="all-linear", task_type="CAUSAL_LM"
        )

    class Callback(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            metrics.begin(state.global_step)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            metrics.take(state.global_step, logs or {})

    trainer = SFTTrainer(
        model=network,
        args=config,
        train_dataset=dataset("train"),
        eval_dataset=held_out,
        processing_class=tokenizer,
        peft_config=adapters,
        callbacks=[Callback()],
    )
    trainer.remove_callback(PrinterCallback)  # it prints to standard output what `note` is told
    return trainer


def _config(out: Path, tuning: Tuning, *, bf16: bool, gpu: bool, evaluates: bool) -> Any:
    from trl import SFTConfig

    rate = tuning.learning_rate or (2e-4 if tuning.lora else 1e-5)
    # transformers renames it, and takes the older name until 6.0.
    checkpointing = next(
        name
        for name in ("activation_checkpointing", "gradient_checkpointing")
        if name in SFTConfig.__dataclass_fields__
    )
    return SFTConfig(
        output_dir=str(out / CHECKPOINTS),
        max_steps=tuning.steps or -1,
        num_train_epochs=tuning.epochs,
        per_device_train_batch_size=tuning.per_device_batch_size,
        per_device_eval_batch_size=tuning.per_device_batch_size,
        gradient_accumulation_steps=tuning.batch_size // tuning.per_device_batch_size,
        learning_rate=rate,
        lr_scheduler_type="cosine",
        warmup_steps=tuning.warmup_ratio,
        weight_decay=tuning.weight_decay,
        logging_steps=tuning.log_every,
        logging_first_step=True,
        logging_nan_inf_filter=False,
        save_steps=tuning.eval_every,
        save_total_limit=2,
        eval_strategy="steps" if evaluates else "no",
        eval_steps=tuning.eval_every,
        seed=tuning.seed,
        bf16=bf16,
        use_cpu=not gpu,
        max_length=None,
        packing=False,
        report_to="none",
        disable_tqdm=True,
        dataset_kwargs={"skip_prepare_dataset": True},
        **{checkpointing: gpu},
    )


class _Metrics:
    """Writes `metrics.jsonl` with the names of `training`: step, loss, learning_rate, tokens (all that were
    read) and seconds, and after an evaluation validation_loss."""

    def __init__(self, out: Path, note: Callable[[dict[str, Any]], None], writes: bool) -> None:
        self.curve = Curve(out, note)
        self.writes = writes
        self.tokens = 0
        self.began = time.perf_counter()

    def begin(self, step: int) -> None:
        """Begins a run, or continues it from a step."""
        if not self.writes:
            return
        rows = [row for row in self.curve.resume(step) if "loss" in row]
        self.tokens = rows[-1]["tokens"] if rows else 0
        self.began = time.perf_counter() - (rows[-1]["seconds"] if rows else 0.0)

    def take(self, step: int, logs: dict[str, Any]) -> None:
        """Receives a report of the trainer."""
        row: dict[str, Any] = {"step": step}
        if "loss" in logs:
            row |= {"loss": float(logs["loss"]), "learning_rate": float(logs["learning_rate"])}
            row["tokens"] = self.tokens + int(logs.get("num_tokens", 0))
            row["seconds"] = round(time.perf_counter() - self.began, 3)
        elif "eval_loss" in logs:
            row["validation_loss"] = float(logs["eval_loss"])
        else:
            return
        if self.writes:
            self.curve.write(row)


def _open(out: Path, settings: dict[str, Any]) -> None:
    """Opens the folder of a run. Raises InputError if it contains a different run."""
    begin_run(out, settings)
    for folder in _checkpoints(out):
        if not _is_whole(folder):  # the run was ended while it was written
            shutil.rmtree(folder)


def _checkpoints(out: Path) -> list[Path]:
    folders = (out / CHECKPOINTS).glob("checkpoint-*")
    return sorted(folders, key=lambda folder: int(folder.name.rpartition("-")[2]))


def _is_whole(folder: Path) -> bool:
    """Whether a checkpoint is complete: the trainer's state is written last."""
    try:
        read_json(read_file(folder / "trainer_state.json"))
    except (OSError, ValueError):
        return False
    return True


def _last_checkpoint(out: Path) -> Path | None:
    folders = _checkpoints(out)
    return folders[-1] if folders else None
