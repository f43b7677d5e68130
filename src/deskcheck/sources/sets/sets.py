"""What a published set is: where it is published, and how a row of it becomes programs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.sources.sets.hub import HubFiles
from deskcheck.sources.text.rows import Row

ToPrograms = Callable[[Row, str], Iterator[dict[str, Any]]]
"""(row, place for messages) -> the fields of each program that depend on the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A published set.

    hub: where it is fetched from; None for a set that deskcheck does not fetch: the user has a copy. home: of
    such a set, the address of its own repository. licence: None where it says none. date: when its paper or
    its repository appeared, which is the earliest day a model can have seen it in full. reader: for a set
    whose rows do not say all, from the path of a file, and how the user wrote it, to what takes the place of
    `to_programs` for this file. by_equality: the set scores an answer by Python's ``==``, so that ``1`` is
    right for ``1.0``.
    """

    title: str
    hub: HubFiles | None = None
    home: str = ""
    licence: str | None
    date: str
    required: Mapping[str, type]
    to_programs: ToPrograms | None = None
    reader: Callable[[Path, str], ToPrograms] | None = None
    by_equality: bool = False

    @property
    def holds(self) -> str:
        return f"A row of {self.title} has {', '.join(self.required)}."

    @property
    def address(self) -> str:
        """What the `source` of its programs begins with."""
        return self.hub.home if self.hub is not None else self.home
