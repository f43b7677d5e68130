"""Moments up to a bound on what they hold together.

Who sends a recording decides how much each of its events holds. To write out one of 80 MB of nested values
took 70 seconds, and what one event holds can be there at a million events after it.
"""

from collections.abc import Iterable, Iterator

from deskcheck.notation.lines import roots
from deskcheck.notation.state import Moment
from deskcheck.recording.value import extent

VALUES = "values"
"""The reason in the last line of a text that ends for this bound: ``cut: values``."""


def extent_of(moment: Moment, most: int) -> int:
    """How many values a moment holds (`recording.value.extent`), and objects there are; no more than `most`
    are counted."""
    return min(most, len(moment.objects) + extent(roots(moment), moment.objects, most))


class Bounded:
    """Those moments, to be gone through once, that hold no more than `most` values together; all, where that
    is None. cut: whether there are others. values: that were counted."""

    def __init__(self, moments: Iterable[Moment], most: int | None) -> None:
        self._moments = moments
        self._most = most
        self.cut = False
        self.values = 0

    def __iter__(self) -> Iterator[Moment]:
        for moment in self._moments:
            if self._most is not None:
                allowed = self._most - self.values
                count = extent_of(moment, allowed + 1)
                self.values += count
                if count > allowed:
                    self.cut = True
                    return
            yield moment
