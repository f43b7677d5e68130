"""What decides how models of the levels `reader` and `alone` are trained."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting
from deskcheck_levels.settings import LevelTraining


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderTraining(LevelTraining):
    """How a model of the level `reader` is trained."""

    steps: Annotated[int, Setting("Updates. With --model, by default as many as --epochs takes.", min=1)] = (
        15_000
    )
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)] = 64
    layers: Annotated[
        int, Setting("Number of blocks, each of attention and a feed-forward layer.", min=1)
    ] = 4
    hidden_size: Annotated[int, Setting("Numbers per position, a multiple of 8.", min=8)] = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class AloneTraining(ReaderTraining):
    """How a model of the level `alone` is trained: longer, on fewer lessons at a time."""

    steps: Annotated[int, Setting("Updates. With --model, by default as many as --epochs takes.", min=1)] = (
        36_000
    )
    batch_size: Annotated[int, Setting("Lessons per update.", min=1)] = 32
    look_every: int = 400
