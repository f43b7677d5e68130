"""Lessons as batches of token numbers, in which the lessons of one program stand together.

Needs torch (the extra ``[teach]``).
"""

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import torch
from torch import Tensor

from deskcheck.recording import InputError
from deskcheck.teach.lessons.ids import IGNORED
from deskcheck.teach.lessons.shards import refuse_unfinished
from deskcheck.teach.lessons.tokens import Bytes, Tokenizer

COLUMNS = ["prefix", "prompt", "completion", "split"]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons about one program, as tokens. program: that all begin with; each: (prompt, completion with the
    token that ends it)."""

    program: Sequence[int]
    each: Sequence[tuple[Sequence[int], Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Batch:
    """programs: [programs, length], filled up at the ends; lengths: [programs]; owner: [rows], the number of
    each row's program. tokens, labels: [rows, length]; a label is the token that follows, `IGNORED` where it
    is not part of an answer. programs_next, prompts_next: as large as `programs` and `tokens`, the token that
    follows within a program, within a prompt; `IGNORED` elsewhere."""

    programs: Tensor
    lengths: Tensor
    owner: Tensor
    tokens: Tensor
    labels: Tensor
    programs_next: Tensor
    prompts_next: Tensor

    def before(self, count: int) -> Tensor | None:
        """The last `count` tokens of each row's program, [rows, count], -1 where it has fewer; None of
        none."""
        if not count:
            return None
        places = self.lengths[:, None] - torch.arange(count, 0, -1, device=self.lengths.device)
        last_tokens = self.programs.gather(1, places.clamp(min=0))
        return torch.where(places < 0, -1, last_tokens)[self.owner]

    def to(self, device: torch.device) -> "Batch":
        return Batch(
            self.programs.to(device),
            self.lengths.to(device),
            self.owner.to(device),
            self.tokens.to(device),
            self.labels.to(device),
            self.programs_next.to(device),
            self.prompts_next.to(device),
        )


def shards(folder: Path) -> list[Path]:
    """The files of a folder of lessons. Raises InputError where it has none, or not all of them."""
    refuse_unfinished(folder)
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise InputError(
            f"{folder}: holds no lessons. Name a folder of recordings, as `deskcheck record SOURCE --out "
            "FOLDER` makes it, or of lessons, as `deskcheck lessons RECORDINGS --out FOLDER` does."
        )
    return files


def read_texts(file: Path, split: str) -> Iterator[tuple[str, str, str]]:
    """Prefix, prompt and completion of the lessons of a split, as they stand in a file.

    Raises InputError for a file that holds no lessons.
    """
    try:
        table = pq.read_table(file, columns=COLUMNS, filters=[("split", "==", split)])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{file}: cannot be read as lessons ({error}).") from error
    return zip(*(table[name].to_pylist() for name in COLUMNS[:3]), strict=True)


def some_texts(files: Sequence[Path], most: int = 2_000) -> Iterator[str]:
    """The texts of about `most` lessons of each file's training split, evenly from its beginning to its end:
    lessons of one source stand together."""
    for file in files:
        lessons = list(read_texts(file, "train"))
        for lesson in lessons[:: -(-len(lessons) // most) or 1]:
            yield from lesson


def read_lessons(files: Sequence[Path], split: str, tokenizer: Tokenizer) -> Iterator[Lessons]:
    """The lessons of a split, those that stand together in a file and share a program as one.

    Raises InputError for a file that holds no lessons.
    """
    for file in files:
        prefix: str | None = None
        pairs: list[tuple[Sequence[int], Sequence[int]]] = []
        for begin, prompt, completion in read_texts(file, split):
            if begin != prefix:
                if prefix is not None:
                    yield Lessons(tokenizer.encode(prefix), pairs)
                prefix, pairs = begin, []
            answer = [*tokenizer.encode_answer(prompt, completion), tokenizer.end]
            pairs.append((array("i", tokenizer.encode_prompt(prompt, begin)), array("i", answer)))
        if prefix is not None:
            yield Lessons(tokenizer.encode(prefix), pairs)


def make_batch(chosen: Sequence[Lessons], padding: int) -> Batch:
    """One batch of all lessons of these programs."""
    rows = [(number, *lesson) for number, lessons in enumerate(chosen) for lesson in lessons.each]
    longest = max(len(lessons.program) for lessons in chosen)
    programs = torch.full((len(chosen), longest), padding)
    programs_next = torch.full((len(chosen), longest), IGNORED)
    for number, lessons in enumerate(chosen):
        program = torch.tensor(lessons.program)
        programs[number, : len(program)] = program
        programs_next[number, : len(program) - 1] = program[1:]
    size = max(len(prompt) + len(completion) for _, prompt, completion in rows) - 1
    tokens = torch.full((len(rows), size), padding)
    labels = torch.full((len(rows), size), IGNORED)
    prompts_next = torch.full((len(rows), size), IGNORED)
    for row, (_, prompt, completion) in enumerate(rows):
        sequence = torch.tensor([*prompt, *completion])
        tokens[row, : len(sequence) - 1] = sequence[:-1]
        labels[row, len(prompt) - 1 : len(sequence) - 1] = sequence[len(prompt) :]
        prompts_next[row, : len(prompt) - 1] = sequence[1 : len(prompt)]
    return Batch(
        programs,
        torch.tensor([len(lessons.program) for lessons in chosen]),
        torch.tensor([number for number, *_ in rows]),
        tokens,
        labels,
        programs_next,
        prompts_next,
    )


_OPEN_FILES = 8
"""Files of lessons that are held in memory at a time and mixed."""


class Batches:
    """Endless batches of lessons, in an order that only the seed decides.

    rows: lessons in a batch; each: so many at most that stand together there because they share a program and
    are about as long as one another. A pass gives every lesson once. Of the files `_OPEN_FILES` are held in
    memory at a time and mixed.
    """

    def __init__(
        self,
        files: Sequence[Path],
        tokenizer: Tokenizer,
        *,
        rows: int = 128,
        each: int = 16,
        seed: int = 0,
        split: str = "train",
    ) -> None:
        self.files = list(files)
        self.tokenizer = tokenizer
        self.rows = rows
        self.each = min(each, rows)
        self.seed = seed
        self.split = split

    def __iter__(self) -> Iterator[Batch]:
        passes = 0
        while True:
            any_batch = False
            for chosen in self._one_pass(random.Random(f"{self.seed} {passes}")):
                any_batch = True
                yield make_batch(chosen, Bytes.padding)
            if not any_batch:
                raise InputError(f"{self.files[0].parent}: has no lessons in the split {self.split!r}.")
            passes += 1

    def _one_pass(self, draw: random.Random) -> Iterator[list[Lessons]]:
        files = draw.sample(self.files, len(self.files))
        for start in range(0, len(files), _OPEN_FILES):
            loaded = list(read_lessons(files[start : start + _OPEN_FILES], self.split, self.tokenizer))
            parts = [part for lessons in loaded for part in _parts(lessons, self.each, draw)]
            draw.shuffle(parts)
            # Programs of about one length stand together: what is filled up is computed for nothing.
            window = 64 * max(1, self.rows // self.each)
            batches = []
            for first in range(0, len(parts), window):
                near = sorted(parts[first : first + window], key=_size)
                batches += list(_packed(near, self.rows))
            draw.shuffle(batches)
            yield from batches


def _parts(lessons: Lessons, each: int, draw: random.Random) -> Iterator[Lessons]:
    """Lessons of one program, `each` together: the shortest, the next ones, ... Where a part begins is drawn,
    so that not always the same stand together."""
    by_length = sorted(draw.sample(lessons.each, len(lessons.each)), key=_length)
    start = draw.randrange(-each + 1, 1) if len(by_length) > each else 0
    for first in range(start, len(by_length), each):
        yield Lessons(lessons.program, by_length[max(0, first) : first + each])


def _length(lesson: tuple[Sequence[int], Sequence[int]]) -> int:
    return len(lesson[0]) + len(lesson[1])


def _size(lessons: Lessons) -> int:
    return max(map(_length, lessons.each))


def _packed(parts: Sequence[Lessons], rows: int) -> Iterator[list[Lessons]]:
    chosen: list[Lessons] = []
    for part in parts:
        if chosen and sum(len(lessons.each) for lessons in chosen) + len(part.each) > rows:
            yield chosen
            chosen = []
        chosen.append(part)
    if chosen:
        yield chosen
