"""Moments up to a limit on the values in all of them.

A recording from elsewhere can have large events. An event with 80 MB of nested values took 70 seconds to
write, and a million later events may contain the same values.
"""

from collections.abc import Iterable, Iterator

from deskcheck.notation.lines import roots
from deskcheck.notation.state import Moment
from deskcheck.recording.value import extent

VALUES = "values"
"""The reason in the last line of a text that this limit ends: ``cut: values``."""


def extent_of(moment: Moment, limit: int) -> int:
    """The number of values (`recording.value.extent`) and objects in a moment, counted up to `limit`."""
    return min(limit, len(moment.objects) + extent(roots(moment), moment.objects, limit))


class Bounded:
    """The first moments, with up to `limit` values in total. None: all moments. Can be iterated once.

    cut: whether moments were left out. values: number of the counted values.
    """

    def __init__(self, moments: Iterable[Moment], limit: int | None) -> None:
        self._moments = moments
        self._limit = limit
        self.cut = False
        self.values = 0

    def __iter__(self) -> Iterator[Moment]:
        for moment in self._moments:
            if self._limit is not None:
                allowed = self._limit - self.values
                count = extent_of(moment, allowed + 1)
                self.values += count
                if count > allowed:
                    self.cut = True
                    return
            yield moment
