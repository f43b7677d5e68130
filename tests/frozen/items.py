"""What commands print and leave in files, as items: a name and a text that is the same wherever it was made.

Masked are versions, times, durations, paths of the run, facts of the machine and what Inspect draws for a run; ids,
prompts, answers, scores, events and the words of what is printed stay.
"""

import base64
import functools
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow.parquet

from tests.frozen.commands import Output

MASK = "<masked>"
COUNTED = "bytecode"
"""Name of the item with what counts bytecode."""


@dataclass(frozen=True)
class Renamed:
    """A key of JSON or a column that has another name than when the digests were made."""

    old: str
    new: str
    where: str = "*"
    """Pattern of the names of items in which it has."""


RENAMED: tuple[Renamed, ...] = ()
"""Applied before comparison. Empty: every key is called what it was."""

MASKED = frozenset(
    """
    accounts base_url cost cost_s cpu_s created deskcheck duration elapsed finished first_row implementation inspect_ai
    installed kernel log logs mtime platform python recordings_sha256 run seconds started tests_s time_s updated
    versions wall_s
    """.split()
)
"""Keys whose values are facts of a run or of a machine. Old names, as in all that follows."""
MASKED_IN = {
    "*notebook*": frozenset(
        {"at", "at_s", "end", "cost_s", "memory_before", "memory_after", "memory_peak", "packages"}
    ),
    "ask*": frozenset({"key", "folder", "folders", "recordings", "notebooks", "packages"}),
    "report*": frozenset({"key", "folder", "folders", "recordings", "notebooks", "packages"}),
    "step": frozenset({"nll"}),
    "doctor*": frozenset({"found", "there"}),
    "job": frozenset({"size_bytes"}),
    "compact": frozenset({"size_bytes"}),
    "pu[sl]*": frozenset({"size_bytes"}),
    "status*": frozenset({"size_bytes"}),
}
"""More of them, in the steps that a pattern meets."""
USAGE = {"name": "usage"}
"""What the table of a report holds that tells how long models took: of it the name alone is kept."""
LIMITS = "run_limits"
"""The key under which the names of times are those of limits: nothing is masked there."""
BYTECODE = frozenset({"offset", "at"})
"""Keys that count bytecode."""
LIKE_JSON = re.compile(r"^\s*[\[{].*[\]}]\s*$", re.DOTALL)

TEXTS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d(\.\d+)?)?([+-]\d\d[:-]\d\d|Z| UTC)?"), "<time>"),
    (re.compile(r"([│|]) +\d+\.\d +([│|]) +\d+\.\d{3}(?=( \|)?$)", re.MULTILINE), r"\1 <amount> \2 <amount>"),
    (re.compile(r"\b0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"/(tmp|scratch)/[A-Za-z0-9_./-]+"), "<temporary>"),
    (re.compile(r"/[\w./-]*/(lib|lib64)/python3\.\d+/"), "<library>/"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|min|minutes?|seconds?|KB|MB|kB)\b"), "<amount>"),
    (re.compile(r"\b(CPython|Python) 3\.\d+(\.\d+)?\b"), r"\1 <version>"),
)
DRAWN = (
    (re.compile(r"\d*\.?\d{7,}(\.\d+)?"), "<drawn>"),
    (re.compile(r"'[^']*' and '[^']*' at character \d+"), "<two texts>"),
    (re.compile(r"│ +\d+\.\d$", re.MULTILINE), "│ <amount>"),
)
OF_DRAWN = frozenset({"notebooks-check", "not-repeatable"})
"""Steps of programs and notebooks that show random numbers and times."""


@dataclass
class Items:
    """Texts by name, of one step."""

    step: str
    work: Path
    texts: dict[str, list[str]] = field(default_factory=dict)
    bytecode: dict[str, list[Any]] = field(default_factory=dict)
    """Of each item what counts bytecode, in order: kept apart, since each version of CPython has its own."""
    used: set[Renamed] = field(default_factory=set)

    def __post_init__(self) -> None:
        more = [keys for pattern, keys in MASKED_IN.items() if fnmatchcase(self.step, pattern)]
        self.masked = MASKED.union(*more)

    def add(self, name: str, *lines: str) -> None:
        self.texts.setdefault(f"{self.step}/{name}", []).extend(lines)

    def counted(self) -> None:
        """What counts bytecode, as an item of its own: a digest for each item that has any."""
        for name, counts in sorted(self.bytecode.items()):
            if counts:
                self.add(COUNTED, f"{name} {hashlib.sha256(json.dumps(counts).encode()).hexdigest()[:12]}")

    def printed(self, name: str, text: str) -> None:
        """Standard output or error: as JSON where it is that."""
        if not text:
            return
        try:
            value = json.loads(text)
        except ValueError:
            told = "\n".join(line.rstrip() for line in text.splitlines())
            if str(self.work) in text:  # how wide a table is depends on the length of its paths
                told = re.sub(r" {2,}|━{2,}", " ", told)
            self.add(name, *self._text(told).splitlines())
        else:
            self._whole(name, value)

    def read(self, output: Output) -> None:
        """The items of the files that an output's pattern meets; a file that is not there is an item too."""
        files = sorted(self.work.glob(output.files))
        if not files:
            self.add(output.files, "there is no such file")
        rows: dict[str, list[dict[str, Any]]] = {}
        for path in files:
            name = str(path.relative_to(self.work))
            if path.suffix in (".parquet", ".jsonl"):
                for row in _table(path):
                    item = "|".join(str(row[column]) for column in output.key) or name
                    rows.setdefault(item, []).append(row)
            elif path.suffix == ".html":
                for part, value in _parts(path.read_text("utf-8")):
                    self._whole(f"{name}#{part}", value)
            else:
                self.printed(name, path.read_text("utf-8"))
        self._rows(output, rows)

    def _rows(self, output: Output, rows: dict[str, list[dict[str, Any]]]) -> None:
        table = output.files.rpartition("/")[2].partition(".")[0].strip("-*") or "row"
        for name, found in sorted(rows.items()):
            for row in sorted(found, key=lambda row: [str(row[column]).zfill(12) for column in output.order]):
                told = {column: value for column, value in row.items() if value is not None}
                self.add(name, f"{table} {json.dumps(self._masked(name, told), sort_keys=True)}")

    def _whole(self, name: str, value: Any) -> None:
        self.add(name, *json.dumps(self._masked(name, value), sort_keys=True, indent=1).splitlines())

    def _masked(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            old = {self._old(name, key): inner for key, inner in value.items()}
            if len(old) != len(value):
                raise ValueError(
                    f"{self.step}/{name}: two keys of {sorted(value)} have one old name (RENAMED)"
                )
            if USAGE.items() <= old.items():
                return USAGE
            told = {key: self._of_key(name, key, inner) for key, inner in old.items()}
            counts = BYTECODE & told.keys() - self.masked
            self.bytecode.setdefault(name, []).extend(told[key] for key in sorted(counts))
            return {key: inner for key, inner in told.items() if key not in counts}
        if isinstance(value, list):
            return [self._masked(name, inner) for inner in value]
        if isinstance(value, str):
            if LIKE_JSON.match(value):
                try:
                    return self._masked(name, json.loads(value))
                except ValueError:
                    pass  # it is a text that looks like JSON
            return self._text(value)
        return value

    def _of_key(self, name: str, key: str, value: Any) -> Any:
        if key == LIMITS:
            return value
        return MASK if key in self.masked else self._masked(name, value)

    def _old(self, name: str, key: str) -> str:
        for renamed in RENAMED:
            if renamed.new == key and fnmatchcase(f"{self.step}/{name}", renamed.where):
                self.used.add(renamed)
                return renamed.old
        return self._text(key)

    def _text(self, text: str) -> str:
        return _without_facts(text.replace(str(self.work), "<work>"), self.step in OF_DRAWN)


@functools.lru_cache(1 << 16)
def _without_facts(text: str, drawn: bool) -> str:
    """A text with what is masked in it. Most texts of events come many times."""
    for pattern, instead in (*TEXTS, *(DRAWN if drawn else ())):
        text = pattern.sub(instead, text)
    return text


def _table(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
        return rows
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _parts(page: str) -> Iterator[tuple[str, Any]]:
    """The data of a page, by name: scripts of plain text, packed."""
    for name, packed in re.findall(r'<script type="text/plain" id="([\w-]+)">([^<]*)</script>', page):
        data = zlib.decompress(base64.b64decode(packed))
        try:
            yield name, json.loads(data)
        except ValueError:
            yield name, data.decode("latin-1").splitlines()  # blocks of events, and where each begins
