"""All recordings for lessons, by program, and the lessons of some of them.

Splits, duplicates, shares and held-out programs depend only on the program. So all runs of a program are
made into lessons together, by one process or by several.
"""

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deskcheck.jobs.plan import Item
from deskcheck.recording import InputError, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.sources.near import HeldOut
from deskcheck.teach.lessons.making import Maker
from deskcheck.teach.lessons.runs import Choice, if_cleared, known_by, origin
from deskcheck.teach.lessons.settings import LessonSettings, LessonSummary, program_sha256
from deskcheck.teach.lessons.shards import LessonShard
from deskcheck.teach.lessons.tokens import AnyTokenizer

Place = tuple[int, str, int]
"""Folder, shard and row of a recording."""
_DIGEST = 16
_SOME = 1 << 16


class _Stretch(NamedTuple):
    """Consecutive recordings of one shard. first: number of its first among all recordings."""

    first: int
    folder: int
    shard: str


@dataclass
class Census:
    """All recordings, in about forty bytes of memory each."""

    folders: list[Recordings]
    stretches: list[_Stretch] = field(default_factory=list)
    programs: "array[int]" = field(default_factory=lambda: array("Q"))
    """64 bits of the hash of each recording's program."""
    known_by: bytearray = field(default_factory=bytearray)
    """Digests that distinguish the recordings."""
    not_cleared: Counter[str] = field(default_factory=Counter)
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.programs)

    def items(self) -> Iterator[Item]:
        """Each program as an item of a job, in the order of their first runs."""
        for places in self.runs():
            number = places[0]
            digests = (self.known_by[_DIGEST * run : _DIGEST * (run + 1)] for run in places)
            yield Item(
                f"{self.programs[number]:016x}",
                json.dumps([self.place(run) for run in places]),
                b"".join(digests).hex(),
            )

    def runs(self) -> Iterator[list[int]]:
        """The numbers of the runs of each program, in the order of their first runs."""
        column = pa.Array.from_buffers(pa.uint64(), len(self.programs), [None, pa.py_buffer(self.programs)])
        codes = column.dictionary_encode().indices
        order = pc.array_sort_indices(codes)  # stable: runs of a program stay in order
        places = (
            (code, number)
            for at in range(0, len(order), _SOME)
            for code, number in zip(
                codes.take(order.slice(at, _SOME)).to_pylist(),
                order.slice(at, _SOME).to_pylist(),
                strict=True,
            )
        )
        for _, group in groupby(places, key=lambda pair: pair[0]):
            yield [number for _, number in group]

    def place(self, number: int) -> tuple[int, str, int]:
        """Folder, shard and row of a recording."""
        low, high = 0, len(self.stretches)
        while high - low > 1:
            middle = (low + high) // 2
            if self.stretches[middle].first <= number:
                low = middle
            else:
                high = middle
        stretch = self.stretches[low]
        return stretch.folder, stretch.shard, number - stretch.first


def census_of(folders: list[Recordings], settings: LessonSettings) -> Census:
    """Reads all recordings once.

    Raises InputError if none is cleared for training, unless the settings allow any licence.
    """
    census = Census(folders)
    sha256 = hashlib.sha256()
    columns = ("id", "code", "n_events", "threads", "train_ok", "source", "licence")
    for number, folder in enumerate(folders):
        for shard, row, id_, code, events, threads, train_ok, source, licence in folder.columns(*columns):
            if row == 0:
                census.stretches.append(_Stretch(len(census.programs), number, shard))
            if threads > 1:
                events = len(folder.at(shard, row).trace)
            program = program_sha256(code)
            identity = known_by(id_, program, events)
            sha256.update(identity)
            census.programs.append(int(program[:16], 16))
            census.known_by += hashlib.blake2b(identity, digest_size=_DIGEST).digest()
            if not train_ok and not settings.any_licence:
                census.not_cleared[origin(source, licence)] += 1
    census.sha256 = sha256.hexdigest()
    count = len(census.programs)
    if census.not_cleared.total() == count:
        raise InputError(f"none of {count} recordings gives lessons. {if_cleared(census.not_cleared)}")
    return census


class PlacedRecordings:
    """The recordings at some places, in the order of all recordings."""

    def __init__(self, folders: Sequence[str | Path], places: Iterable[Place]) -> None:
        self.where = sorted(places, key=lambda place: (place[0], len(place[1]), *place[1:]))
        shards: dict[int, set[str]] = {}
        for folder, shard, _ in self.where:
            shards.setdefault(folder, set()).add(shard)
        self.folders = {number: Recordings(folders[number], shards=names) for number, names in shards.items()}

    def __iter__(self) -> Iterator[Recording]:
        for folder, shard, row in self.where:
            yield self.folders[folder].at(shard, row)


def make_lessons(
    recordings: Iterable[Recording],
    shard: LessonShard,
    settings: LessonSettings,
    tokenizer: AnyTokenizer,
    held_out: HeldOut,
    after: Callable[[Maker], None] = lambda maker: None,
) -> LessonSummary:
    """Make the lessons of recordings, which have all runs of their programs, and write them to a shard.

    recordings: are read twice, in the same order. after: called after each recording.
    """
    choice = Choice(recordings, settings, tokenizer, held_out)
    maker = Maker(settings, tokenizer, choice)
    maker.summary.programs = choice.usable
    try:
        for number, recording in enumerate(recordings):
            maker.add(number, recording, shard)
            maker.finished(number, recording)
            after(maker)
        maker.flush(shard)
        shard.finish()
    except BaseException:
        shard.abandon()
        raise
    return maker.summary
