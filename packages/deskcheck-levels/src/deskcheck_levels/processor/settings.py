"""What decides how a model of the level `processor` is trained."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorTraining:
    """How a model of the level `processor` is trained."""

    steps: Annotated[int, Setting("Updates; with --model, without it as many as --epochs takes.", min=1)] = (
        4000
    )
    """Updates."""
    batch_size: Annotated[int, Setting("Lessons of an update.", min=1)] = 1024
    """Windows of an update."""
    again: int = 256
    """Of these, such as were wrong at the last look."""
    even: float = 0.5
    """Share of the others that is drawn evenly from all windows; the rest as often as programs and random
    operations show them."""
    learning_rate: Annotated[float, Setting("The highest learning rate.")] = 3e-3
    decay_from: float = 0.5
    """From this share of the steps on, the rate falls to nought."""
    averaged: float = 0.998
    """Weight of what was, in the exponential average of the weights."""
    width: int = 16
    """Numbers of an embedding."""
    hidden: int = 192
    """Numbers of a layer."""
    look_every: int = 250
    """Steps between two looks at all windows, at which the run is saved."""
    seed: Annotated[int, Setting("Of all that is drawn.")] = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "width", "hidden", "look_every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}={getattr(self, name)} must be at least 1.")
        if not 0 <= self.again < self.batch_size:
            raise InputError(f"again={self.again} must be at least 0 and below batch_size={self.batch_size}.")
