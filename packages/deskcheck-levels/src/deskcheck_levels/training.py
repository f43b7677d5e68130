"""What the trainings of the levels share. Needs torch (the extra ``[teach]``)."""

from typing import Any

import torch
from torch import nn

from deskcheck.teach.small.model import ModelConfig
from deskcheck_levels.settings import LevelTraining


def config_of(words: int, *, layers: int, hidden_size: int) -> ModelConfig:
    """The sizes of a model over so many words."""
    return ModelConfig(
        vocab_size=words,
        layers=layers,
        hidden_size=hidden_size,
        heads=max(1, hidden_size // 32),
        intermediate_size=-(-hidden_size * 8 // 3 // 32) * 32,
        shift_tokens=2,
    )


def adamw(
    model: nn.Module, training: LevelTraining, weight_decay: float, *, fused: bool = False
) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        model.parameters(),
        lr=training.learning_rate,
        betas=(0.9, 0.98),
        weight_decay=weight_decay,
        fused=fused,
    )


def asked(level: str, settings: dict[str, Any], source: str, any_licence: bool) -> dict[str, Any]:
    """What a run is asked, as its folder keeps it."""
    licence = {"any_licence": True} if any_licence else {}
    return {level: settings, "source": source, **licence}
