"""A training run: updates, the curve, and saves. Rerun the command to resume from the last save.

Needs torch (the extra ``[teach]``).
"""

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from deskcheck.files import disk_errors
from deskcheck.teach.run_folder import Curve, damaged

RESUME = "resume.pt"


class Trainer:
    """A model in training, new or from the last save in `out`.

    averaging: weight of the past in the exponential average of the weights; 0: no average. extra: further
    values to save, with their first values. note: receives each line of `metrics.jsonl`.

    Raises RecordingError for a damaged save.
    """

    def __init__(
        self,
        out: Path,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        averaging: float = 0.0,
        extra: dict[str, Any] | None = None,
        note: Callable[[dict[str, Any]], None] = lambda row: None,
    ) -> None:
        self.out, self.model, self.optimizer = out, model, optimizer
        self.averaging = averaging
        self.averaged: dict[str, Tensor] = {}
        """The average of the weights, by name."""
        if averaging:
            self.averaged = {name: value.detach().clone() for name, value in model.state_dict().items()}
        self.extra = dict(extra or {})
        self.step = 0
        """Updates so far."""
        self._curve = Curve(out, note)
        self._losses: list[Tensor] = []
        self._began = time.perf_counter()
        self._resume()

    def _resume(self) -> None:
        if not (self.out / RESUME).exists():
            self._curve.resume(0)
            return
        try:
            state = torch.load(self.out / RESUME, map_location="cpu", weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.averaged = state["averaged"] if self.averaging else {}
            self.extra = {name: state[name] for name in self.extra}
            self.step = state["step"]
            self._began -= state["seconds"]
        except (RuntimeError, pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
            raise damaged(self.out / RESUME, error, "Delete it to start this run again") from error
        self._curve.resume(self.step)

    def to(self, device: torch.device) -> None:
        """Moves the model and the optimizer to a device."""
        self.model.to(device)
        for state in self.optimizer.state.values():
            for name, value in state.items():
                state[name] = value.to(device) if isinstance(value, Tensor) and value.dim() else value

    def update(
        self, loss: Tensor, rate: float, *, reported: Tensor | None = None, max_norm: float = 1.0
    ) -> None:
        """One step of the optimizer. reported: the loss for the curve, if it differs from `loss`."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)
        self.optimizer.step()
        if self.averaging:
            # An average that starts at random weights would retain them for long.
            weight = 1 - min(self.averaging, self.step / (self.step + 10))
            with torch.no_grad():
                for name, value in self.model.state_dict().items():
                    self.averaged[name].lerp_(value, weight)
        self._losses.append((loss if reported is None else reported).detach())
        self.step += 1

    def row(self) -> dict[str, Any]:
        """The first values of a line of the curve: the step, and the mean loss since the last line."""
        losses, self._losses = self._losses, []
        return {"step": self.step, "loss": float(torch.stack(losses).mean())}

    def write(self, row: dict[str, Any]) -> None:
        """Adds a line to the curve, with the duration of the run in seconds."""
        row["seconds"] = round(time.perf_counter() - self._began, 3)
        self._curve.write(row)

    def save(self, write_model: Callable[[], None]) -> None:
        """Saves the state of the run, and the model by `write_model`."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "seconds": time.perf_counter() - self._began,
            **({"averaged": self.averaged} if self.averaging else {}),
            **self.extra,
        }
        with disk_errors(self.out, "save the model"):
            write_model()
            part = self.out / (RESUME + ".part")
            with part.open("wb") as file:
                torch.save(state, file)
            os.replace(part, self.out / RESUME)
