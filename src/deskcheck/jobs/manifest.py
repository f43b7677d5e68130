"""The manifest of a job: what is whole, a JSON line for each shard. It is written as the job goes on."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.files import read_json, read_text, sha256
from deskcheck.jobs.job_folder import Place, is_file, write_whole

FAILURES = ("harness_error", "killed", "out_of_memory", "timed_out", "output_limit")
"""Outcomes that a reader may want to know the programs of."""
Line = dict[str, Any]
"""``shard``, ``programs``, ``events``, ``outcomes``, ``not_repeatable``, ``problems``, ``bytes``, ``sha256``,
``finished``: docs/guides/jobs.md."""


def read_manifest(place: Place) -> dict[str, Line]:
    """The lines by shard. One that was cut off by a kill, or whose files are gone or of another size, is not
    there: that shard is looked at again. One of a shard that is part of a larger one is not there, either."""
    lines = (line for line in _parsed(_text(place)) if _there(place, line))
    return _outermost({line["shard"]: line for line in lines})


def _text(place: Place) -> str:
    """As it is; nothing where there is none."""
    if not place.manifest.exists():
        return ""
    with place.doing("read the manifest"):
        return read_text(place.manifest, "replace")


def _parsed(text: str) -> Iterator[Line]:
    """The lines that are one: not what was cut off, nor what would name files outside of the folder."""
    for one in text.splitlines():
        try:
            line = read_json(one)
        except ValueError:
            continue
        if is_line(line):
            yield line


def is_line(line: Any) -> bool:
    """Whether it says all that a line says, in the right types, of files in the folder."""
    if type(line) is not dict or not all(_is_count(line.get(name)) for name in _COUNTS):
        return False
    if not all(type(line.get(name)) is dict for name in ("bytes", "sha256", "outcomes", "problems")):
        return False
    of = line.get("of", [[line.get("shard"), 0]])
    return (
        bool(line["bytes"])
        and all(map(_is_count, (*line["bytes"].values(), *line["outcomes"].values())))
        and all(type(text) is str for text in (*line["sha256"].values(), *line["problems"].values()))
        and type(line.get("finished")) in (int, float)
        and line["bytes"].keys() == line["sha256"].keys()
        and type(line.get("shard")) is str
        and all(is_file(f"{table}-{line['shard']}.parquet") for table in line["bytes"])
        and type(of) is list
        and bool(of)
        and all(type(part) is list and list(map(type, part)) == [str, int] for part in of)
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


_COUNTS = ("programs", "events", "not_repeatable")


def _outermost(lines: dict[str, Line]) -> dict[str, Line]:
    """Without those of shards that are part of larger ones."""
    parts = parts_of(lines)
    return {
        name: line
        for name, line in lines.items()
        if name not in parts and ("of" not in line or parts[line["of"][0][0]] == name)
    }


def parts_of(lines: dict[str, Line]) -> dict[str, str]:
    """Shards of the plan that are part of larger ones -> of which, the last that was made."""
    return {name: line["shard"] for line in lines.values() for name, _ in line.get("of", ())}


def _there(place: Place, line: Line) -> bool:
    try:
        return all(
            place.file(table, line["shard"]).stat().st_size == size for table, size in line["bytes"].items()
        )
    except FileNotFoundError:
        return False


def changed_files(place: Place) -> dict[str, list[str]]:
    """Shards of which files are not what the manifest says, or are gone: the names of these. Reads every byte
    that the manifest speaks of."""
    found: dict[str, list[str]] = {}
    for name, line in claims(place).items():
        with place.doing("compare with the manifest"):
            wrong = [
                path.name for path, told in _told(place, line) if not path.exists() or sha256(path) != told
            ]
        if wrong:
            found[name] = wrong
    return found


def claims(place: Place) -> dict[str, Line]:
    """The lines by shard, whether their files are there or not."""
    return _outermost({line["shard"]: line for line in _parsed(_text(place))})


def _told(place: Place, line: Line) -> list[tuple[Path, str]]:
    return [(place.file(table, line["shard"]), told) for table, told in line["sha256"].items()]


def write_manifest(place: Place, lines: Iterable[Line]) -> None:
    """Write it anew."""
    with place.doing("write the manifest"):
        write_whole(place.manifest, _lines_text(lines))


def _lines_text(lines: Iterable[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def add_line(place: Place, line: Line) -> None:
    with place.doing("write the manifest"), open(place.manifest, "a", encoding="ascii") as file:
        file.write(_lines_text([line]))


@dataclass(slots=True)
class Totals:
    """Sums over lines of a manifest. size_bytes: of the files. problems: some, by program, of our own
    failures."""

    shards: int = 0
    programs: int = 0
    events: int = 0
    size_bytes: int = 0
    by_outcome: Counter[str] = field(default_factory=Counter)
    not_repeatable: int = 0
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        self.shards += 1
        self.programs += line["programs"]
        self.events += line["events"]
        self.size_bytes += sum(line["bytes"].values())
        self.by_outcome.update(line["outcomes"])
        self.not_repeatable += line["not_repeatable"]
        if len(self.problems) < 100:
            self.problems.update(line["problems"])

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Totals":
        totals = cls()
        for line in lines:
            totals.add(line)
        return totals

    def to_dict(self) -> dict[str, Any]:
        return {
            "shards": self.shards,
            "programs": self.programs,
            "events": self.events,
            "size_bytes": self.size_bytes,
            "by_outcome": dict(sorted(self.by_outcome.items())),
            "not_repeatable": self.not_repeatable,
            "problems": self.problems,
        }
