"""The model of the level `processor`: a feed-forward network over a window of six words, run by numpy (as the
neural language model of Bengio et al. 2003 is one over the words before).

An embedding of each word at each place, a layer, a second one added to what it is given, and logits:

    h = silu(A x + a);  h = h + silu(B h + b);  logits = C h + c

Weights are kept in 16 bits and computed with in 32.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskcheck_levels import weights as files
from deskcheck_levels.levels import Level
from deskcheck_levels.paper.cells import SIZE, WORDS, Window

FILE = "processor.npz"
_WEIGHTS = ("embedding", "first", "first_bias", "second", "second_bias", "output", "output_bias")


class FeedForwardNetwork:
    """A network that answers windows. about: the description in its file.

    remember: each window is computed once. Then `computed` counts distinct windows, and `shown` all.
    """

    def __init__(
        self, weights: dict[str, NDArray[Any]], about: dict[str, Any], *, remember: bool = True
    ) -> None:
        self.about = about
        self.remember = remember
        self.computed = 0
        self.shown = 0
        self._words: dict[Window, int] = {}
        arrays = {name: weights[name].astype(np.float32) for name in _WEIGHTS}
        self.parameters = sum(weight.size for weight in arrays.values())
        width = arrays["embedding"].shape[1]
        # A product with the embedding of a word at a place is the same each time.
        by_place = arrays["first"].reshape(-1, SIZE, width).transpose(1, 2, 0)
        embedding = arrays["embedding"].reshape(SIZE, len(WORDS), width)
        self._first: NDArray[np.float32] = np.matmul(embedding, by_place)
        self._first_bias, self._second_bias = arrays["first_bias"], arrays["second_bias"]
        self._second, self._output = arrays["second"].T.copy(), arrays["output"].T.copy()
        self._output_bias = arrays["output_bias"]
        self._places = np.arange(SIZE)

    def logits(self, windows: "Sequence[Window] | NDArray[np.int64]") -> NDArray[np.float32]:
        """[windows, SIZE] -> [windows, words]."""
        inputs = np.asarray(windows, dtype=np.int64)
        h = _silu(self._first[self._places, inputs].sum(1) + self._first_bias)
        h = h + _silu(h @ self._second + self._second_bias)
        logits: NDArray[np.float32] = h @ self._output + self._output_bias
        return logits

    def __call__(self, window: Window) -> int:
        """The most likely word."""
        self.shown += 1
        word = self._words.get(window)
        if word is None:
            self.computed += 1
            word = int(self.logits([window]).argmax())
            if self.remember:
                self._words[window] = word
        return word

    def fill(self, windows: Sequence[Window], batch: int = 4096) -> None:
        """Compute and remember windows, `batch` at a time."""
        for start in range(0, len(windows), batch):
            part = windows[start : start + batch]
            self.computed += len(part)
            words = self.logits(part).argmax(1).tolist()
            self._words.update(zip(part, words, strict=True))


def _silu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        activated: NDArray[np.float32] = x / (1 + np.exp(-x))
    return activated


def save(file: Path, weights: dict[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write the weights of a network, and what is said of them."""
    files.save(file, {name: weights[name] for name in _WEIGHTS}, about)


def load(file: Path, *, remember: bool = True) -> FeedForwardNetwork:
    """The network of a file that `save` wrote. Raises InputError for any other."""
    weights, about = files.load(file, Level.PROCESSOR, WORDS, _WEIGHTS)
    return FeedForwardNetwork(weights, about, remember=remember)
