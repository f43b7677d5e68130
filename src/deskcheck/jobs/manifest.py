"""The manifest of a job: a JSON line for each complete shard, written while the job runs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.files import read_json, read_text, sha256
from deskcheck.jobs.job_folder import JobFolder, is_file, write_whole
from deskcheck.words import counts_text

FAILURES = ("harness_error", "killed", "out_of_memory", "timed_out", "output_limit")
"""Outcomes that count as failures; `deskcheck runs status` lists the programs that have one."""
WORDS = {"record": ("programs", "events"), "notebooks": ("notebooks", "cells"), "score": ("answers", "right")}
"""Kind of a job -> the words for its counts ``programs`` and ``events``. Other kinds use those of
``record``."""
Line = dict[str, Any]
"""``shard``, ``programs``, ``events``, ``outcomes``, ``not_repeatable``, ``problems``, ``bytes``, ``sha256``,
``finished``, and for a joined shard ``of``: [shard, programs] of each of its parts (docs/guides/jobs.md)."""


def read_manifest(job_folder: JobFolder) -> dict[str, Line]:
    """The valid lines by shard.

    Left out are lines that a kill cut off, lines whose files are missing or have another size, and lines of
    shards that are part of larger ones.
    """
    lines = (line for line in _parsed(_text(job_folder)) if _there(job_folder, line))
    return _outermost({line["shard"]: line for line in lines})


def _text(job_folder: JobFolder) -> str:
    """The text of the manifest; empty if there is none."""
    if not job_folder.manifest.exists():
        return ""
    with job_folder.doing("read the manifest"):
        return read_text(job_folder.manifest, "replace")


def _parsed(text: str) -> Iterator[Line]:
    """The well-formed lines, which name only files in the folder."""
    for text_line in text.splitlines():
        try:
            line = read_json(text_line)
        except ValueError:
            continue
        if is_line(line):
            yield line


def is_line(line: Any) -> bool:
    """Whether a JSON value has the fields of a line, and names only files in the folder."""
    if type(line) is not dict or not all(_is_count(line.get(name)) for name in _COUNTS):
        return False
    if not all(type(line.get(name)) is dict for name in ("bytes", "sha256", "outcomes", "problems")):
        return False
    parts = line.get("of", [[line.get("shard"), 0]])
    return (
        bool(line["bytes"])
        and all(map(_is_count, (*line["bytes"].values(), *line["outcomes"].values())))
        and all(type(text) is str for text in (*line["sha256"].values(), *line["problems"].values()))
        and type(line.get("finished")) in (int, float)
        and line["bytes"].keys() == line["sha256"].keys()
        and type(line.get("shard")) is str
        and all(is_file(f"{table}-{line['shard']}.parquet") for table in line["bytes"])
        and type(parts) is list
        and bool(parts)
        and all(type(part) is list and list(map(type, part)) == [str, int] for part in parts)
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


_COUNTS = ("programs", "events", "not_repeatable")


def _outermost(lines: dict[str, Line]) -> dict[str, Line]:
    """The lines of shards that are not part of larger ones, nor replaced by a newer one of the same parts."""
    wholes = whole_of_part(lines)
    return {
        name: line
        for name, line in lines.items()
        if name not in wholes and ("of" not in line or wholes[line["of"][0][0]] == name)
    }


def whole_of_part(lines: dict[str, Line]) -> dict[str, str]:
    """Name of a shard that was joined with others -> name of the newest shard that contains it."""
    return {name: line["shard"] for line in lines.values() for name, _ in line.get("of", ())}


def _there(job_folder: JobFolder, line: Line) -> bool:
    try:
        return all(
            job_folder.file(table, line["shard"]).stat().st_size == size
            for table, size in line["bytes"].items()
        )
    except FileNotFoundError:
        return False


def changed_files(job_folder: JobFolder) -> dict[str, list[str]]:
    """Shard -> its files that are missing or differ from the manifest. Reads every byte."""
    changed: dict[str, list[str]] = {}
    for name, line in manifest_lines(job_folder).items():
        with job_folder.doing("compare with the manifest"):
            wrong = [
                path.name
                for path, expected in _digests(job_folder, line)
                if not path.exists() or sha256(path) != expected
            ]
        if wrong:
            changed[name] = wrong
    return changed


def manifest_lines(job_folder: JobFolder) -> dict[str, Line]:
    """The lines by shard, even if their files are missing."""
    return _outermost({line["shard"]: line for line in _parsed(_text(job_folder))})


def _digests(job_folder: JobFolder, line: Line) -> list[tuple[Path, str]]:
    return [(job_folder.file(table, line["shard"]), digest) for table, digest in line["sha256"].items()]


def write_manifest(job_folder: JobFolder, lines: Iterable[Line]) -> None:
    """Replace the manifest."""
    with job_folder.doing("write the manifest"):
        write_whole(job_folder.manifest, _lines_text(lines))


def _lines_text(lines: Iterable[Line]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def add_line(job_folder: JobFolder, line: Line) -> None:
    with job_folder.doing("write the manifest"), open(job_folder.manifest, "a", encoding="ascii") as file:
        file.write(_lines_text([line]))


@dataclass(slots=True)
class Totals:
    """Sums over lines of a manifest."""

    shards: int = 0
    programs: int = 0
    events: int = 0
    size_bytes: int = 0
    by_outcome: Counter[str] = field(default_factory=Counter)
    not_repeatable: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    """Program -> a failure of deskcheck itself. None are added once there are a hundred."""

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

    def text(self, kind: str = "record") -> str:
        """The sums in words, for a kind of job."""
        items, parts = WORDS.get(kind, WORDS["record"])
        return (
            f"{self.programs} {items} in {self.shards} shards, {self.events} {parts}, "
            f"{self.size_bytes / 1e6:.1f} MB: {counts_text(self.by_outcome) or 'none yet'}"
        )

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
