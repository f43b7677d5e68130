"""A folder of recordings or of lessons in the layout of Hugging Face's `datasets`.

    README.md                       the card: YAML with the files of each split, then a description
    data/SPLIT-00000.parquet        recordings or lessons
    events/SPLIT-00000.parquet      the events of recordings, as a second configuration

Rows that are not cleared for training are left out, unless the caller includes them. Every row has its
licence and `train_ok`. All rows of a program are in the same split. Use `hf upload` to publish the folder.
"""

import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deskcheck._version import __version__
from deskcheck.files import disk_errors, sync
from deskcheck.recording import InputError
from deskcheck.recording.reader import Recordings, read_groups
from deskcheck.recording.schema import EVENTS_SCHEMA, RECORDINGS_SCHEMA
from deskcheck.teach.lessons.choice import SPLITS, split_of
from deskcheck.teach.lessons.runs import if_cleared, origin
from deskcheck.teach.lessons.settings import program_sha256
from deskcheck.teach.lessons.shards import refuse_unfinished

_FILE_BYTES = 512 << 20
_GROUP_BYTES = 64 << 20
_CARD = "README.md"
_PLACES = ("first_row",)
"""Columns with places in files of the original folder."""
_HUB_LICENCES = frozenset(
    "afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 cc "
    "cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 "
    "cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 "
    "cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0 epl-1.0 epl-2.0 eupl-1.1 gfdl gpl "
    "gpl-2.0 gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 osl-3.0 pddl "
    "postgresql unlicense wtfpl zlib".split()
)
"""The licences in the hub's documentation of dataset cards."""
_SIZES = tuple(
    (f"{low}<n<{high}" if low else f"n<{high}", 1000 * 10**power)
    for power, (low, high) in enumerate(pairwise(("", "1K", "10K", "100K", "1M", "10M", "100M", "1B")))
)


@dataclass(kw_only=True)
class Exported:
    """Counts of an export."""

    what: str
    """"recordings" or "lessons"."""
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    """Rows of each split of each table."""
    origins: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """Rows of the first table by (source, licence, cleared for training)."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows of each origin that are left out."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "rows": {table: dict(counts) for table, counts in self.rows.items()},
            "origins": [
                {"source": source, "licence": licence or None, "train_ok": train_ok, "rows": count}
                for (source, licence, train_ok), count in sorted(self.origins.items())
            ],
            "left_out": dict(self.left_out),
        }


def export_dataset(
    folder: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    name: str | None = None,
    validation: float = 0.05,
    test: float = 0.05,
    any_licence: bool = False,
    events: bool = True,
) -> Exported:
    """Write a folder for ``datasets.load_dataset(OUT)``. It appears when it is complete.

    name: the title on the card. validation, test: shares of programs; lessons already have splits. events:
    include the events of recordings.

    Raises:
        InputError: nothing is cleared for training; `out` exists; the shares leave nothing for training.
        RecordingError: the folder cannot be read, or the disk fails.
    """
    source, into = Path(folder), Path(out)
    if into.exists():
        raise InputError(f"{into}: exists already. Choose another name, or delete it.")
    if validation < 0 or test < 0 or validation + test >= 1:
        raise InputError(
            f"validation={validation}, test={test}: these shares of the programs must not be negative, and "
            "leave some for training."
        )
    lessons = [path for split in SPLITS for path in sorted(source.glob(f"{split}-*.parquet"))]
    if lessons:
        refuse_unfinished(source)
    exported = Exported(what="lessons" if lessons else "recordings")
    part = into.with_name(f"{into.name}.part")
    with disk_errors(into, "write the data set"):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            if lessons:
                _write_lessons(lessons, part, exported, any_licence)
            else:
                shares = (validation, test)
                _write_recordings(Recordings(source), part, exported, shares, any_licence, events)
            if not exported.origins:
                raise InputError(f"{source}: no rows are left. {if_cleared(exported.left_out)}")
            card = part / _CARD
            card.write_text(_card(name or into.name, exported), encoding="utf-8")
            sync(card)
            os.replace(part, into)
            sync(into.parent)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return exported


class _Files:
    """The files of one table. Those of a split have about the same size."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: Counter[str] = Counter()
        self._files: dict[str, pq.ParquetWriter] = {}
        self._paths: dict[str, Path] = {}
        self._waiting: dict[str, list[Any]] = {}
        self._numbers: Counter[str] = Counter()
        folder.mkdir()

    def add(self, split: str, table: Any) -> None:
        if not table.num_rows:
            return
        table = table.replace_schema_metadata(None)
        self.rows[split] += table.num_rows
        waiting = self._waiting.setdefault(split, [])
        waiting.append(table)
        if sum(part.nbytes for part in waiting) >= _GROUP_BYTES:
            self._write(split)

    def _write(self, split: str) -> None:
        table = pa.concat_tables(self._waiting.pop(split))
        if split not in self._files:
            self._paths[split] = self.folder / f"{split}-{self._numbers[split]:05d}.parquet"
            self._numbers[split] += 1
            self._files[split] = pq.ParquetWriter(str(self._paths[split]), table.schema, compression="zstd")
        self._files[split].write_table(table, row_group_size=table.num_rows)
        if self._paths[split].stat().st_size >= _FILE_BYTES:
            self._end(split)

    def _end(self, split: str) -> None:
        self._files.pop(split).close()
        sync(self._paths[split])

    def close(self) -> None:
        for split in [*self._waiting]:
            self._write(split)
        for split in [*self._files]:
            self._end(split)


def _cleared(table: Any, exported: Exported, any_licence: bool) -> Any:
    """The rows of a table that may be exported. Counts all rows in `exported`."""
    origins = Counter(
        zip(*(table.column(name).to_pylist() for name in ("source", "licence", "train_ok")), strict=True)
    )
    for (source, licence, train_ok), count in origins.items():
        if train_ok or any_licence:
            exported.origins[source, licence or "", train_ok] += count
        else:
            exported.left_out[origin(source, licence)] += count
    return table if any_licence else table.filter(table.column("train_ok"))


def _write_lessons(paths: list[Path], part: Path, exported: Exported, any_licence: bool) -> None:
    files = _Files(part / "data")
    for path in paths:
        for table in read_groups(path):
            files.add(path.name.partition("-")[0], _cleared(table, exported, any_licence))
    files.close()
    exported.rows["data"] = files.rows


def _write_recordings(
    recordings: Recordings,
    part: Path,
    exported: Exported,
    shares: tuple[float, float],
    any_licence: bool,
    events: bool,
) -> None:
    data = _Files(part / "data")
    traces = _Files(part / "events") if events else None
    for shard in recordings.paths:
        ids: dict[str, list[str]] = {}
        for table in read_groups(shard["recordings"], RECORDINGS_SCHEMA):
            table = _cleared(table, exported, any_licence).drop_columns(list(_PLACES))
            splits = pa.array(
                [split_of(program_sha256(code), *shares) for code in table.column("code").to_pylist()]
            )
            for split in SPLITS:
                rows = table.filter(pc.equal(splits, split)) if table.num_rows else table
                ids.setdefault(split, []).extend(rows.column("id").to_pylist())
                data.add(split, rows)
        if traces is not None:
            for table in read_groups(shard["events"], EVENTS_SCHEMA):
                for split, names in ids.items():
                    in_split = pc.is_in(table.column("recording"), pa.array(names, pa.string()))
                    traces.add(split, table.filter(in_split))
    data.close()
    exported.rows["data"] = data.rows
    if traces is not None:
        traces.close()
        exported.rows["events"] = traces.rows


# -- the card ----------------------------------------------------------------------------------------


def _card(name: str, exported: Exported) -> str:
    return f"---\n{_head(name, exported)}---\n\n{_text(name, exported)}"


def _head(name: str, exported: Exported) -> str:
    """The YAML of the card. Values are JSON, which YAML can read."""
    total = exported.rows["data"].total()
    size = next((word for word, below in _SIZES if total < below), "n>1T")
    known_licences = sorted({_hub_licence(licence) for _, licence, _ in exported.origins})
    lines = [f"pretty_name: {json.dumps(name)}", f"license: {json.dumps(known_licences)}"]
    lines += [
        'language: ["code"]',
        'tags: ["deskcheck", "program-execution"]',
        f'size_categories: ["{size}"]',
    ]
    if exported.what == "lessons":
        lines.append('task_categories: ["text-generation"]')
    lines.append("configs:")
    for table, counts in exported.rows.items():
        lines.append(f"- config_name: {exported.what if table == 'data' else table}")
        if table == "data":
            lines.append("  default: true")
        lines.append("  data_files:")
        for split in SPLITS:
            if counts[split]:
                lines += [f"  - split: {split}", f'    path: "{table}/{split}-*.parquet"']
    return "\n".join(lines) + "\n"


def _hub_licence(licence: str) -> str:
    """The hub's name of a licence."""
    if not licence:
        return "unknown"
    return licence.lower() if licence.lower() in _HUB_LICENCES else "other"


_WHAT = {
    "recordings": "Runs of Python programs, recorded line by line: a row for each run, and in the "
    "configuration `events` a row for each event (`recording` is the id of its run).",
    "lessons": "Lessons that teach language models the execution of Python programs: a row for each state "
    "and the next one, or for a whole run.",
}
_COLUMNS = {"recordings": "deskcheck help format", "lessons": "deskcheck help lessons"}


def _text(name: str, exported: Exported) -> str:
    columns = _COLUMNS[exported.what]
    lines = [f"# {name}", "", _WHAT[exported.what], ""]
    lines.append(
        f"Made with [deskcheck](https://pypi.org/project/deskcheck/) {__version__}; `{columns}` describes "
        "the columns. A program is in only one split, chosen by its hash. It stays there when others are "
        "added.\n"
    )
    lines += ["| table | " + " | ".join(SPLITS) + " |", "|---|" + "---|" * len(SPLITS)]
    for table, counts in exported.rows.items():
        lines.append(f"| {table} | " + " | ".join(f"{counts[split]:,}" for split in SPLITS) + " |")
    lines += [
        *("", "## Licences", ""),
        "Each row has the licence of its program; `train_ok` says whether it is cleared for training.",
        *("", "| source | licence | cleared for training | rows |", "|---|---|---|---|"),
    ]
    for (source, licence, train_ok), count in sorted(exported.origins.items()):
        cleared = "yes" if train_ok else "no"
        lines.append(f"| {_cell(source)} | {_cell(licence) or 'none known'} | {cleared} | {count:,} |")
    if exported.left_out:
        lines += ["", "Left out, because they are not cleared for training:", ""]
        lines += [f"- {count:,} {_cell(what)}" for what, count in sorted(exported.left_out.items())]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
