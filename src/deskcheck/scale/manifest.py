"""The manifest of a job: what is whole, a JSON line for each shard. It is written as the job goes on."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from deskcheck.scale.place import Place, write_whole

Line = dict[str, Any]
"""``shard``, ``programs``, ``events``, ``outcomes``, ``not_repeatable``, ``problems``, ``bytes``, ``sha256``,
``finished``: docs/scale.md."""


def read_manifest(place: Place, *, believed: bool = False) -> dict[str, Line]:
    """The lines by shard. One that was cut off by a kill, or, unless they are `believed`, whose files are
    gone or of another size, is not there: that shard is looked at again. One of a shard that is part of a
    larger one is not there, either."""
    lines: dict[str, Line] = {}
    if not place.manifest.exists():
        return lines
    with place.doing("read the manifest"):
        texts = place.manifest.read_text(encoding="ascii", errors="replace").splitlines()
    for text in texts:
        try:
            line = json.loads(text)
            if (believed and "of" not in line) or _there(place, line):
                lines[line["shard"]] = line
        except (ValueError, KeyError, TypeError):
            continue
    parts = parts_of(lines)
    inside = [
        name
        for name, line in lines.items()
        if name in parts or ("of" in line and parts[line["of"][0][0]] != name)
    ]
    for name in inside:
        del lines[name]
    return lines


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


def write_manifest(place: Place, lines: Iterable[Line]) -> None:
    """Write it anew."""
    with place.doing("write the manifest"):
        write_whole(place.manifest, "".join(json.dumps(line) + "\n" for line in lines))


def add_line(place: Place, line: Line) -> None:
    with place.doing("write the manifest"), open(place.manifest, "a", encoding="ascii") as file:
        file.write(json.dumps(line) + "\n")


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
