"""Settings of training that the models of all levels have."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting, refuse_small


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTraining:
    """How a model of a level is trained: at a constant rate, then down to nought on a line."""

    steps: Annotated[int, Setting("Updates. With --model, by default as many as --epochs takes.", min=1)]
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)]
    learning_rate: Annotated[float, Setting("Peak learning rate.")] = 3e-3
    warmup_steps: int = 200
    decay_from: float = 0.6
    """From this share of the steps on, the rate falls to nought."""
    averaged: float = 0.998
    """Weight of what was, in the exponential average of the weights."""
    look_every: int = 500
    """Steps between two looks at lessons that are not trained, at which the run is saved."""
    seed: Annotated[int, Setting("Seed of all random draws.")] = 0

    def __post_init__(self) -> None:
        refuse_small(self, look_every=1, width=1, hidden=1)

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, from 0."""
        share_left = 1 - step / self.steps
        fall = min(1.0, share_left / (1 - self.decay_from)) if self.decay_from < 1 else 1.0
        return self.learning_rate * min(1.0, (step + 1) / self.warmup_steps) * fall
