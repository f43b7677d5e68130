"""Settings of training: of a small model from random weights, or of a Hugging Face model."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting, refuse_small


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """The size of a small model. `small.model.ModelConfig.of` derives the other sizes."""

    layers: Annotated[
        int, Setting("Number of blocks, each of attention and a feed-forward layer.", min=1)
    ] = 5
    hidden_size: Annotated[int, Setting("Numbers per position, a multiple of 8.", min=8)] = 192
    shift_tokens: Annotated[
        int,
        Setting(
            "Earlier tokens that the first layer sees; 0: the model is a Llama, which other tools can run.",
            min=0,
        ),
    ] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """Settings of training from random weights, by AdamW. The learning rate rises linearly, then follows a
    cosine."""

    steps: Annotated[int, Setting("Updates. With --model, by default as many as --epochs takes.", min=1)] = (
        2000
    )
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)] = 128
    steps_per_program: Annotated[
        int, Setting("Maximum number of lessons of one program per update.", min=1)
    ] = 16
    learning_rate: Annotated[float, Setting("Peak learning rate.")] = 2e-3
    warmup_steps: int = 100
    weight_decay: float = 0.01
    """Weight decay of matrices; vectors have none."""
    max_grad_norm: float = 1.0
    """Largest L2 norm of the gradient of all weights."""
    precision: Annotated[str, Setting("bf16 or fp32; with --model also auto, bf16 where a GPU has it.")] = (
        "bf16"
    )
    """Precision of the computation; weights are fp32."""
    log_every: int = 20
    """Steps between two lines of `metrics.jsonl`."""
    eval_every: Annotated[
        int, Setting("Steps between two evaluations, at which the run is saved.", min=1)
    ] = 200
    eval_batches: int = 8
    """Batches of validation lessons of an evaluation."""
    vocab_words: Annotated[
        int, Setting("Number of words of the lessons that become tokens. 0: only bytes.", min=0)
    ] = 768
    edits: Annotated[
        bool,
        Setting("Answer a step with an edit of the state before it, not with a whole state.", off="--states"),
    ] = True
    prompt_loss_weight: float = 1.0
    """Weight of the loss on programs and prompts, relative to the loss on answers. It falls linearly to 0.
    To continue a program, a model has to find earlier uses of a name. A step needs the same, and programs
    give more examples of it."""
    seed: Annotated[int, Setting("Seed of all random draws.")] = 0

    def __post_init__(self) -> None:
        refuse_small(self, log_every=1, eval_batches=1, prompt_loss_weight=0)
        if self.precision not in ("bf16", "fp32"):
            raise InputError(f"precision={self.precision!r} must be bf16 or fp32.")
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate={self.learning_rate} must be above 0.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Settings of fine-tuning. The learning rate rises linearly, then follows a cosine."""

    steps: Annotated[int | None, Setting("Updates. By default as many as --epochs takes.", min=1)] = None
    epochs: Annotated[float, Setting("Passes over the lessons.")] = 1.0
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)] = 32
    """Number of lessons on each device."""
    per_device_batch_size: Annotated[int, Setting("Lessons that each device computes at once.", min=1)] = 8
    learning_rate: Annotated[float | None, Setting("Peak learning rate.")] = None
    """None: 1e-5, or 2e-4 for LoRA."""
    warmup_ratio: float = 0.03
    """Share of the steps."""
    weight_decay: float = 0.01
    lora: Annotated[int, Setting("Train only adapters of this rank (LoRA).", min=0)] = 0
    """0: all weights are trained."""
    precision: Annotated[str, Setting("bf16, fp32, or auto: bf16 where a GPU has it.")] = "auto"
    log_every: int = 10
    """Steps between two lines of `metrics.jsonl`."""
    eval_every: Annotated[
        int, Setting("Steps between two evaluations, at which the run is saved.", min=1)
    ] = 200
    eval_lessons: int = 256
    """Validation lessons of an evaluation; 0: no evaluation."""
    seed: Annotated[int, Setting("Seed of all random draws.")] = 0

    def __post_init__(self) -> None:
        refuse_small(self, log_every=1, eval_lessons=0)
        if not self.epochs > 0:
            raise InputError(f"epochs={self.epochs} must be above 0.")
        if self.batch_size % self.per_device_batch_size:
            raise InputError(
                f"batch_size={self.batch_size} must be a multiple of "
                f"per_device_batch_size={self.per_device_batch_size}."
            )
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise InputError(f"learning_rate={self.learning_rate} must be above 0.")
        if self.precision not in ("auto", "bf16", "fp32"):
            raise InputError(f"precision={self.precision!r} must be auto, bf16 or fp32.")
