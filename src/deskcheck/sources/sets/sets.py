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
    """A published set, with `to_programs` or `reader`. shipped/sets.toml explains the fields."""

    title: str
    hub: HubFiles | None = None
    home: str = ""
    licence: str | None = None
    date: str
    required: Mapping[str, type]
    to_programs: ToPrograms | None = None
    reader: Reader | None = None
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


def published_from(
    facts: Mapping[str, Any], to_programs: ToPrograms | None, reader: Reader | None
) -> PublishedSet:
    fields, hub = facts["fields"], facts.get("hub")
    if hub is not None:
        files = tuple(HubFile(name=file["name"], sha256=file.get("sha256")) for file in hub["files"])
        hub = HubFiles(repo=hub["repo"], revision=hub["revision"], files=files)
    other_facts = {name: value for name, value in facts.items() if name not in ("fields", "hub")}
    return PublishedSet(
        required=fields_of(fields), hub=hub, to_programs=to_programs, reader=reader, **other_facts
    )
