"""Published sets: where a set is published, and how its rows become programs."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deskcheck.sources.sets.hub import HubFile, HubFiles
from deskcheck.sources.text.rows import Row
from deskcheck.sources.text.shipped import shipped

ToPrograms = Callable[[Row, str], Iterator[dict[str, Any]]]
"""(row, location for messages) -> the fields of each program that depend on the row."""
Reader = Callable[[Path, str], ToPrograms]
"""(path of a file, path as the user wrote it) -> a reader of its rows that needs more than a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A published set. shipped/sets.toml explains the fields."""

    title: str
    hub: HubFiles | None = None
    home: str = ""
    licence: str | None = None
    date: str
    required: Mapping[str, type]
    reader: Reader
    by_equality: bool = False

    @property
    def holds(self) -> str:
        return f"A row of {self.title} has {', '.join(self.required)}."

    @property
    def address(self) -> str:
        """The beginning of the `source` of its programs."""
        return self.hub.home if self.hub is not None else self.home


def facts_of_sets(kind: str) -> dict[str, Any]:
    """A table of sets.toml: name -> facts of the sets whose rows are ``programs`` or ``tasks``, or
    another."""
    facts: dict[str, Any] = _tables()[kind]
    return facts


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(shipped("sets.toml"))


def fields_of(names: Mapping[str, str]) -> dict[str, type]:
    types: dict[str, type] = {"str": str, "int": int, "list": list, "dict": dict}
    return {field: types[name] for field, name in names.items()}


_READERS: dict[str, Reader] = {}


def reader_of(name: str) -> Callable[[Reader], Reader]:
    """Make a function the reader of a set's files."""

    def add(reader: Reader) -> Reader:
        _READERS[name] = reader
        return reader

    return add


def rows_of(name: str) -> Callable[[ToPrograms], ToPrograms]:
    """Make a function of a row the reader of a set whose rows need nothing else."""

    def add(to_programs: ToPrograms) -> ToPrograms:
        _READERS[name] = lambda path, display_path: to_programs
        return to_programs

    return add


def published_sets() -> dict[str, PublishedSet]:
    """The sets of sets.toml whose rows are programs, by name, with the readers that were decorated before.

    Raises RuntimeError for a set without a reader, and for a reader without a set.
    """
    facts = facts_of_sets("programs")
    for name in facts.keys() - _READERS.keys():
        raise RuntimeError(
            f"sources/shipped/sets.toml has the set {name!r}, and no function reads it: decorate one with "
            f'@rows_of("{name}") or @reader_of("{name}"), in sources/sets/published.py or predicted.py.'
        )
    for name in _READERS.keys() - facts.keys():
        raise RuntimeError(
            f"a function reads the published set {name!r}, and sources/shipped/sets.toml has no table "
            f"[programs.{name}]: add it there, or correct the name in the decorator."
        )
    return {name: published_from(of_set, _READERS[name]) for name, of_set in facts.items()}


def published_from(facts: Mapping[str, Any], reader: Reader) -> PublishedSet:
    fields, hub = facts["fields"], facts.get("hub")
    if hub is not None:
        files = tuple(HubFile(name=file["name"], sha256=file.get("sha256")) for file in hub["files"])
        hub = HubFiles(repo=hub["repo"], revision=hub["revision"], files=files)
    other_facts = {name: value for name, value in facts.items() if name not in ("fields", "hub")}
    return PublishedSet(required=fields_of(fields), hub=hub, reader=reader, **other_facts)
