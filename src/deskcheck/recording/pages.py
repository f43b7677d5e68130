"""Sequences that are read from a file as their items are asked for, a page at a time."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Pages(Sequence[T]):
    """Items of which the page that was read last is kept. count: how many there are. of, items: what they
    belong to and what they are called, for messages."""

    def __init__(self, count: int, of: str, items: str) -> None:
        self._count = count
        self._called = of, items
        self._page: tuple[int, Sequence[T]] = 0, ()

    @abstractmethod
    def _read(self, index: int) -> tuple[int, Sequence[T]]:
        """The page that holds the item at an index, with the index of its first item."""

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
                of, items = self._called
                raise IndexError(f"{of} has {self._count} {items}; there is none at {index}")
            first, page = self._page = self._read(index)
        return page[index - first]

    def __iter__(self) -> Iterator[T]:
        index = 0
        while index < self._count:
            self._page = 0, ()  # two pages are not held at once
            first, page = self._page = self._read(index)
            yield from page[index - first :]
            index = first + len(page)
            del page
