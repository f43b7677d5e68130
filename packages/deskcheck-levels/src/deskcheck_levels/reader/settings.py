"""What decides how a model of the level `reader` is trained."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderTraining:
    """How a model of the level `reader` is trained."""

    steps: Annotated[int, Setting("Updates; with --model, without it as many as --epochs takes.", min=1)] = (
        15_000
    )
    """Updates."""
    batch_size: Annotated[int, Setting("Lessons of an update.", min=1)] = 64
    """Lessons of an update."""
    learning_rate: Annotated[float, Setting("The highest learning rate.")] = 3e-3
    warmup_steps: int = 200
    decay_from: float = 0.6
    """From this share of the steps on, the rate falls to nought."""
    averaged: float = 0.998
    """Weight of what was, in the exponential average of the weights."""
    layers: Annotated[int, Setting("Blocks of attention and feed-forward layer.", min=1)] = 4
    hidden_size: Annotated[int, Setting("Numbers per position, a multiple of 8.", min=8)] = 128
    look_every: int = 500
    """Steps between two looks at lessons that are not trained, at which the run is saved."""
    seed: Annotated[int, Setting("Of all that is drawn.")] = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "layers", "hidden_size", "look_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name)} must be at least 1.")
