"""Sequences that are read from a file lazily, a page at a time."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Pages(Sequence[T]):
    """A sequence that keeps only the page that was read last in memory.

    count: the number of items. owner, items: what the items belong to and what they are called, for messages.
    """

    def __init__(self, count: int, owner: str, items: str) -> None:
        self._count = count
        self._called = owner, items
        self._page: tuple[int, Sequence[T]] = 0, ()

    @abstractmethod
    def _read(self, index: int) -> tuple[int, Sequence[T]]:
        """The page with the item at an index, and the index of the page's first item."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if index < 0:
            index += self._count
        first, page = self._page
        if not 0 <= index - first < len(page):
            if not 0 <= index < self._count:
                owner, items = self._called
                raise IndexError(f"{owner} has {self._count} {items}; there is none at {index}")
            first, page = self._page = self._read(index)
        return page[index - first]

    def __iter__(self) -> Iterator[T]:
        index = 0
        while index < self._count:
            self._page = 0, ()  # free one page before reading the next
            first, page = self._page = self._read(index)
            yield from page[index - first :]
            index = first + len(page)
            del page
