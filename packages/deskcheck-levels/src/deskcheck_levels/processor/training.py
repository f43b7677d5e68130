"""Trains the network of the level `processor`. Needs torch (the extra ``[teach]``).

AdamW with a constant rate, then down to nought on a line; weights averaged exponentially; what is still wrong
comes once more. It is through when every window that there is gets the right word, from the weights as they
are kept, in 16 bits: `wrong` of its last line says how many do not.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from deskcheck.teach.run_folder import locked_run
from deskcheck.teach.small.trainer import Trainer
from deskcheck_levels.paper.cells import SIZE, WORDS, Window
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.processor import network
from deskcheck_levels.processor.settings import ProcessorTraining
from deskcheck_levels.training import adamw


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
    by_name = {"embedding": weights["embedding"].numpy()}
    for name in ("first", "second", "output"):
        by_name[name] = weights[f"{name}.weight"].numpy()
        by_name[f"{name}_bias"] = weights[f"{name}.bias"].numpy()
    return {name: value.astype(np.float16) for name, value in by_name.items()}


def train(
    window_counts: "Counter[Window]",
    out: Path,
    training: ProcessorTraining,
    *,
    about: dict[str, Any],
    note: Callable[[dict[str, Any]], None] = lambda row: None,
) -> network.FeedForwardNetwork:
    """Trains a network into `out` (`network.FILE`). A killed run resumes from its last evaluation.

    window_counts: number of occurrences of each window in programs and random operations. about: description
    for the file. Raises InputError if `out` contains something else.
    """
    with locked_run(out, {"processor": asdict(training), "about": about}):
        return _trained(window_counts, out, training, about, note)


def _trained(
    window_counts: "Counter[Window]",
    out: Path,
    training: ProcessorTraining,
    about: dict[str, Any],
    note: Callable[[dict[str, Any]], None],
) -> network.FeedForwardNetwork:
    right = all_windows()
    windows: Sequence[Window] = list(right)
    x, y = torch.tensor(windows), torch.tensor(list(right.values()))
    often = torch.tensor([float(window_counts[window]) for window in windows])
    torch.manual_seed(training.seed)
    net = _Net(training.width, training.hidden)
    optimizer = adamw(net, training, weight_decay=0.0)
    drawing = torch.Generator().manual_seed(training.seed)
    extra = {"drawing": drawing.get_state(), "wrong": torch.zeros(0, dtype=torch.long)}
    trainer = Trainer(out, net, optimizer, averaging=training.averaged, extra=extra, note=note)
    drawing.set_state(trainer.extra["drawing"])
    about = {**about, "words": list(WORDS), "training": asdict(training)}
    while trainer.step < training.steps:
        rows = _chosen(training, drawing, trainer.extra["wrong"], often)
        trainer.update(nn.functional.cross_entropy(net(x[rows]), y[rows]), training.rate_at(trainer.step))
        if trainer.step % training.look_every and trainer.step != training.steps:
            continue
        weights = _as_kept(trainer.averaged)
        averaged = network.FeedForwardNetwork(weights, about)
        with torch.no_grad():
            wrong = net(x).argmax(1) != y
        wrong |= torch.from_numpy(averaged.logits(windows).argmax(1) != y.numpy())
        trainer.extra |= {"wrong": wrong.nonzero()[:, 0], "drawing": drawing.get_state()}
        row = trainer.row() | look(averaged, windows, y.numpy())
        trainer.write(row)
        trainer.save(partial(network.save, out / network.FILE, weights, about | row))
    return network.load(out / network.FILE)


def _chosen(training: ProcessorTraining, drawing: torch.Generator, wrong: Tensor, often: Tensor) -> Tensor:
    """The windows of an update, by number. wrong: those that were at the last look."""
    again = training.again if len(wrong) else 0
    fresh = training.batch_size - again
    even = int(fresh * training.even)
    chosen = [torch.randint(len(often), (even,), generator=drawing)]
    chosen.append(torch.multinomial(often + 1e-3, fresh - even, replacement=True, generator=drawing))
    if again:
        chosen.append(wrong[torch.randint(len(wrong), (again,), generator=drawing)])
    return torch.cat(chosen)


def look(
    trained: network.FeedForwardNetwork, windows: Sequence[Window], right: NDArray[Any]
) -> dict[str, Any]:
    """All windows at once: how many get a wrong word, and by how much the right one leads at least."""
    logits = trained.logits(windows)
    rows = np.arange(len(right))
    of_right = logits[rows, right].copy()
    logits[rows, right] = -np.inf
    lead = of_right - logits.max(1)
    return {"windows": len(right), "wrong": int((lead <= 0).sum()), "least_lead": round(float(lead.min()), 3)}
