"""Trains the network of the level `processor`. Needs torch (the extra ``[teach]``).

AdamW with a constant rate, then down to nought on a line; weights averaged exponentially; what is still wrong
comes once more. It is through when every window that there is gets the right word, from the weights as they
are kept, in 16 bits: `wrong` of its last line says how many do not.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deskcheck.files import disk_errors, read_json
from deskcheck.teach.run_folder import METRICS, begin_run, damaged, lock_run
from deskcheck_levels.paper.cells import SIZE, WORDS, Window
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.processor import network
from deskcheck_levels.processor.settings import ProcessorTraining

RESUME = "resume.pt"


class _Net(nn.Module):
    """`network.FeedForwardNetwork`, to be trained."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(SIZE * len(WORDS), width) * 0.5)
        self.first = nn.Linear(SIZE * width, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.output = nn.Linear(hidden, len(WORDS))
        self.register_buffer("places", torch.arange(SIZE) * len(WORDS), persistent=False)

    def forward(self, windows: Tensor) -> Tensor:
        x = self.embedding[windows + self.places].flatten(1)
        h = nn.functional.silu(self.first(x))
        h = h + nn.functional.silu(self.second(h))
        out: Tensor = self.output(h)
        return out


def _as_kept(weights: dict[str, Tensor]) -> dict[str, NDArray[Any]]:
    """By the names of `network`."""
    found = {"embedding": weights["embedding"].numpy()}
    for name in ("first", "second", "output"):
        found[name] = weights[f"{name}.weight"].numpy()
        found[f"{name}_bias"] = weights[f"{name}.bias"].numpy()
    return {name: value.astype(np.float16) for name, value in found.items()}


@dataclass(slots=True)
class _Run:
    """What training has come to, all that a killed run goes on from."""

    net: _Net
    averaged: dict[str, Tensor]
    optimizer: torch.optim.Optimizer
    drawing: torch.Generator
    wrong: Tensor
    step: int = 0
    seconds: float = 0.0

    def state(self) -> dict[str, Any]:
        return {
            "net": self.net.state_dict(),
            "averaged": self.averaged,
            "optimizer": self.optimizer.state_dict(),
            "drawing": self.drawing.get_state(),
            "wrong": self.wrong,
            "step": self.step,
            "seconds": self.seconds,
        }

    def resume(self, found: dict[str, Any]) -> None:
        self.net.load_state_dict(found["net"])
        self.averaged = found["averaged"]
        self.optimizer.load_state_dict(found["optimizer"])
        self.drawing.set_state(found["drawing"])
        self.wrong, self.step, self.seconds = found["wrong"], found["step"], found["seconds"]


def train(
    shown: "Counter[Window]",
    out: Path,
    training: ProcessorTraining,
    *,
    about: dict[str, Any],
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> network.FeedForwardNetwork:
    """A network, trained into `out` (`network.FILE`); a run that was killed goes on from its last look.

    shown: how often programs and random operations show each window. about: what is said of them in the file.
    Raises InputError where `out` holds something else.
    """
    lock = lock_run(out)
    try:
        begin_run(out, {"processor": asdict(training), "about": about})
        return _trained(shown, out, training, about, note)
    finally:
        lock.release()


def _trained(
    shown: "Counter[Window]",
    out: Path,
    training: ProcessorTraining,
    about: dict[str, Any],
    note: Callable[[dict[str, Any]], None],
) -> network.FeedForwardNetwork:
    right = all_windows()
    windows: Sequence[Window] = list(right)
    x, y = torch.tensor(windows), torch.tensor(list(right.values()))
    often = torch.tensor([float(shown[window]) for window in windows])
    torch.manual_seed(training.seed)
    net = _Net(training.width, training.hidden)
    optimizer = torch.optim.AdamW(
        net.parameters(), lr=training.learning_rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    averaged = {name: value.detach().clone() for name, value in net.state_dict().items()}
    drawing = torch.Generator().manual_seed(training.seed)
    run = _Run(net, averaged, optimizer, drawing, torch.zeros(0, dtype=torch.long))
    if (out / RESUME).exists():
        try:
            run.resume(torch.load(out / RESUME, weights_only=True))
        except (RuntimeError, EOFError, KeyError, ValueError) as error:
            raise damaged(out / RESUME, error, "Delete it to begin this run anew") from error
    started = time.perf_counter() - run.seconds
    losses: list[Tensor] = []
    while run.step < training.steps:
        losses.append(_update(run, training, x, y, often))
        run.step += 1
        if run.step % training.look_every == 0 or run.step == training.steps:
            kept = network.FeedForwardNetwork(_as_kept(run.averaged), about)
            with torch.no_grad():
                wrong = net(x).argmax(1) != y
            run.wrong = (wrong | torch.from_numpy(kept.logits(windows).argmax(1) != y.numpy())).nonzero()[
                :, 0
            ]
            row = {
                "step": run.step,
                "loss": float(torch.stack(losses).mean()),
                **look(kept, windows, y.numpy()),
                "seconds": round(time.perf_counter() - started, 1),
            }
            losses, run.seconds = [], time.perf_counter() - started
            _save(out, run, {**about, "words": list(WORDS), "training": asdict(training), **row}, row)
            note(row)
    return network.load(out / network.FILE)


def _update(run: _Run, training: ProcessorTraining, x: Tensor, y: Tensor, often: Tensor) -> Tensor:
    past = run.step / training.steps
    fall = min(1.0, (1 - past) / (1 - training.decay_from)) if training.decay_from < 1 else 1.0
    rate = training.learning_rate * min(1.0, (run.step + 1) / 100) * fall
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    again = training.again if len(run.wrong) else 0
    fresh = training.batch_size - again
    even = int(fresh * training.even)
    chosen = [torch.randint(len(x), (even,), generator=run.drawing)]
    chosen.append(torch.multinomial(often + 1e-3, fresh - even, replacement=True, generator=run.drawing))
    if again:
        chosen.append(run.wrong[torch.randint(len(run.wrong), (again,), generator=run.drawing)])
    rows = torch.cat(chosen)
    loss = nn.functional.cross_entropy(run.net(x[rows]), y[rows])
    run.optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(run.net.parameters(), 1.0)
    run.optimizer.step()
    # An average that starts at what is random would keep it for long.
    kept = min(training.averaged, run.step / (run.step + 10))
    with torch.no_grad():
        for name, value in run.net.state_dict().items():
            run.averaged[name].lerp_(value, 1 - kept)
    return loss.detach()


def look(kept: network.FeedForwardNetwork, windows: Sequence[Window], right: NDArray[Any]) -> dict[str, Any]:
    """All windows at once: how many get a wrong word, and by how much the right one leads at least."""
    logits = kept.logits(windows)
    rows = np.arange(len(right))
    of_right = logits[rows, right].copy()
    logits[rows, right] = -np.inf
    lead = of_right - logits.max(1)
    return {"windows": len(right), "wrong": int((lead <= 0).sum()), "least_lead": round(float(lead.min()), 3)}


def _save(out: Path, run: _Run, about: dict[str, Any], row: dict[str, Any]) -> None:
    network.save(out / network.FILE, _as_kept(run.averaged), about)
    with disk_errors(out, "save the model"):
        part = out / (RESUME + ".part")
        torch.save(run.state(), part)
        lines = (out / METRICS).read_text().splitlines() if (out / METRICS).exists() else []
        before = [line for line in lines if read_json(line)["step"] < row["step"]]
        (out / METRICS).write_text("\n".join([*before, json.dumps(row)]) + "\n")
        part.replace(out / RESUME)
