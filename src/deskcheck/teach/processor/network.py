"""The model of the level `processor`: a feed-forward network over a window of six words, run by numpy (as the
neural language model of Bengio et al. 2003 is one over the words before).

An embedding of each word at each place, a layer, a second one added to what it is given, and logits:

    h = silu(A x + a);  h = h + silu(B h + b);  logits = C h + c

Weights are kept in 16 bits and computed with in 32.
"""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskcheck.errors import InputError
from deskcheck.files import disk_errors
from deskcheck.teach.paper.cells import SIZE, WORDS, Window

FILE = "processor.npz"
_WEIGHTS = ("embedding", "first", "first_bias", "second", "second_bias", "output", "output_bias")


class Network:
    """Weights that answer windows. about: what was said of them when they were written.

    remember: each window is computed once. Then `computed` counts distinct windows, and `shown` all.
    """

    def __init__(
        self, weights: dict[str, NDArray[Any]], about: dict[str, Any], *, remember: bool = True
    ) -> None:
        self.about = about
        self.remember = remember
        self.computed = 0
        self.shown = 0
        self._known: dict[Window, int] = {}
        whole = {name: weights[name].astype(np.float32) for name in _WEIGHTS}
        self.parameters = sum(weight.size for weight in whole.values())
        width = whole["embedding"].shape[1]
        # A product with the embedding of a word at a place is the same each time.
        by_place = whole["first"].reshape(-1, SIZE, width).transpose(1, 2, 0)
        embedding = whole["embedding"].reshape(SIZE, len(WORDS), width)
        self._first: NDArray[np.float32] = np.matmul(embedding, by_place)
        self._first_bias, self._second_bias = whole["first_bias"], whole["second_bias"]
        self._second, self._output = whole["second"].T.copy(), whole["output"].T.copy()
        self._output_bias = whole["output_bias"]
        self._places = np.arange(SIZE)

    def logits(self, windows: "Sequence[Window] | NDArray[np.int64]") -> NDArray[np.float32]:
        """[windows, SIZE] -> [windows, words]."""
        given = np.asarray(windows, dtype=np.int64)
        h = _silu(self._first[self._places, given].sum(1) + self._first_bias)
        h = h + _silu(h @ self._second + self._second_bias)
        found: NDArray[np.float32] = h @ self._output + self._output_bias
        return found

    def __call__(self, window: Window) -> int:
        """The most likely word."""
        self.shown += 1
        word = self._known.get(window)
        if word is None:
            self.computed += 1
            word = int(self.logits([window]).argmax())
            if self.remember:
                self._known[window] = word
        return word

    def fill(self, windows: Sequence[Window], batch: int = 4096) -> None:
        """Compute so many windows at a time, to be remembered."""
        for start in range(0, len(windows), batch):
            some = windows[start : start + batch]
            self.computed += len(some)
            words = self.logits(some).argmax(1).tolist()
            self._known.update(zip(some, words, strict=True))


def _silu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        found: NDArray[np.float32] = x / (1 + np.exp(-x))
    return found


def save(file: Path, weights: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write weights, in 16 bits, and what is said of them."""
    part = file.with_name(file.name + ".part")
    with disk_errors(file, "save the model"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            kept: dict[str, Any] = {name: weights[name].astype(np.float16) for name in _WEIGHTS}
            np.savez_compressed(out, about=np.array(json.dumps(about)), **kept)
        part.replace(file)


def load(file: Path, *, remember: bool = True) -> Network:
    """The network of a file that `save` wrote. Raises InputError for any other."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            about = json.loads(str(found["about"]))
            weights = {name: found[name] for name in _WEIGHTS}
        words = about["words"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{file}: holds no model of the level processor ({type(error).__name__}: {error}). "
            "`deskcheck teach --steps-of GENERATOR --out FOLDER` makes one."
        ) from error
    if words != list(WORDS):
        raise InputError(f"{file}: was trained with other words than this deskcheck has. Train it anew.")
    return Network(weights, about, remember=remember)
