"""Draws of libraries that decide nothing: scikit-learn's support vector machines give libsvm a seed, which it
uses for probabilities alone.

In the kernel's process. Their `fit` is called as before, and is seen by where the generator was before and
after it. What is wrapped says so (``__wrapped__``)."""

import functools
import sys
from typing import Any

from deskcheck.notebook.kernel.chance.generators import KEPT, Position

_NAME = "numpy.random"
_NUMPY = next(kept for kept in KEPT if kept.name == _NAME)


class IdleDraws:
    """Of one cell at a time: from where to where the generator for all of numpy went by them."""

    def __init__(self) -> None:
        self._spans: list[tuple[Position, Position]] = []
        self._watched: Any = None

    def begin(self) -> None:
        """A cell begins."""
        self._spans = []
        self.watch()

    def watch(self) -> None:
        """From now on fits are seen, where scikit-learn is loaded."""
        machine = getattr(sys.modules.get("sklearn.svm._base"), "BaseLibSVM", None)
        if machine is None or machine is self._watched:
            return
        self._watched, fit, spans = machine, machine.fit, self._add

        @functools.wraps(fit)
        def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            before = _NUMPY.place()
            try:
                return fit(self, *args, **kwargs)
            finally:
                if getattr(self, "probability", None) is not True:
                    spans(before, _NUMPY.place())

        machine.fit = watched

    def _add(self, before: Position | None, after: Position | None) -> None:
        if before is not None and after is not None:
            self._spans.append((before, after))

    def after(self, name: str, then: Position) -> Position:
        """Where a generator that was there when the cell began is after the draws that decide nothing, as
        far as no other comes before them."""
        for before, after in self._spans if name == _NAME else ():
            if before == then:
                then = after
        return then
