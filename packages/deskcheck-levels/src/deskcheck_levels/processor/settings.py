"""What decides how a model of the level `processor` is trained."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting
from deskcheck_levels.settings import LevelTraining


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorTraining(LevelTraining):
    """How a model of the level `processor` is trained."""

    steps: Annotated[int, Setting("Updates. With --model, by default as many as --epochs takes.", min=1)] = (
        4000
    )
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)] = 1024
    again: int = 256
    """Of these, such as were wrong at the last look."""
    even: float = 0.5
    """Share of the others that is drawn evenly from all windows; the rest as often as programs and random
    operations show them."""
    warmup_steps: int = 100
    decay_from: float = 0.5
    width: int = 16
    """Numbers of an embedding."""
    hidden: int = 192
    """Numbers of a layer."""
    look_every: int = 250

    def __post_init__(self) -> None:
        super(ProcessorTraining, self).__post_init__()
        if not 0 <= self.again < self.batch_size:
            raise InputError(f"again={self.again} must be at least 0 and below batch_size={self.batch_size}.")
