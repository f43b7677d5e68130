"""Batches of lessons as token numbers. The lessons of one program share a batch.

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
    """Lessons about one program, as tokens."""

    program: Sequence[int]
    """The tokens that all of them begin with."""
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]]
    """(prompt, completion with the token that ends it) of each lesson."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Lessons of several programs as tensors, padded at the ends."""

    programs: Tensor
    """Tokens of the programs, [programs, length]."""
    lengths: Tensor
    """Tokens of each program, [programs]."""
    owner: Tensor
    """Number of the program of each row, [rows]."""
    tokens: Tensor
    """Tokens of prompts and completions, [rows, length]."""
    labels: Tensor
    """The token after each of `tokens`; `IGNORED` if it is not part of an answer."""
    programs_next: Tensor
    """The token after each of `programs`; `IGNORED` at the end of a program."""
    prompts_next: Tensor
    """The token after each of `tokens`; `IGNORED` outside of prompts."""

    def before(self, count: int) -> Tensor | None:
        """The last `count` tokens of each row's program, [rows, count], filled with -1 at the front.

        None if `count` is 0.
        """
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
    """The files of a folder of lessons. Raises InputError if some or all of them are missing."""
    refuse_unfinished(folder)
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise InputError(
            f"{folder}: has no lessons. Name a folder that `deskcheck record SOURCE --out FOLDER` or "
            "`deskcheck lessons RECORDINGS --out FOLDER` has written."
        )
    return files


def read_texts(file: Path, split: str) -> Iterator[tuple[str, str, str]]:
    """Prefix, prompt and completion of the lessons of a split, in the order of the file.

    Raises InputError for a file without lessons.
    """
    try:
        table = pq.read_table(file, columns=COLUMNS, filters=[("split", "==", split)])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{file}: cannot be read as lessons ({error}).") from error
    return zip(*(table[name].to_pylist() for name in COLUMNS[:3]), strict=True)


def some_texts(files: Sequence[Path], count: int = 2_000) -> Iterator[str]:
    """The texts of about `count` training lessons of each file, taken at equal distances.

    Neighbours in a file come from the same source, so the first lessons would not represent it.
    """
    for file in files:
        lessons = list(read_texts(file, "train"))
        for lesson in lessons[:: -(-len(lessons) // count) or 1]:
            yield from lesson


def read_lessons(files: Sequence[Path], split: str, tokenizer: Tokenizer) -> Iterator[Lessons]:
    """The lessons of a split. Neighbours in a file that share a program are joined.

    Raises InputError for a file without lessons.
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
    """A batch of all lessons of these programs."""
    rows = [(number, *lesson) for number, lessons in enumerate(chosen) for lesson in lessons.pairs]
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
"""Files of lessons that are in memory at a time and mixed."""


class Batches:
    """Endless batches of lessons, in an order that only the seed decides. A pass gives every lesson once.

    rows: lessons in a batch. per_program: up to how many of them share a program; their lengths are similar.
    """

    def __init__(
        self,
        files: Sequence[Path],
        tokenizer: Tokenizer,
        *,
        rows: int = 128,
        per_program: int = 16,
        seed: int = 0,
        split: str = "train",
    ) -> None:
        self.files = list(files)
        self.tokenizer = tokenizer
        self.rows = rows
        self.per_program = min(per_program, rows)
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

    def _one_pass(self, rng: random.Random) -> Iterator[list[Lessons]]:
        files = rng.sample(self.files, len(self.files))
        for start in range(0, len(files), _OPEN_FILES):
            loaded = list(read_lessons(files[start : start + _OPEN_FILES], self.split, self.tokenizer))
            parts = [part for lessons in loaded for part in _parts(lessons, self.per_program, rng)]
            rng.shuffle(parts)
            # Programs of similar length share a batch: the network computes padding for nothing.
            window = 64 * max(1, self.rows // self.per_program)
            batches = []
            for first in range(0, len(parts), window):
                near = sorted(parts[first : first + window], key=_size)
                batches += list(_packed(near, self.rows))
            rng.shuffle(batches)
            yield from batches


def _parts(lessons: Lessons, count: int, rng: random.Random) -> Iterator[Lessons]:
    """The lessons of one program in parts of `count`, the shortest first.

    The size of the first part is random, so that a lesson has different neighbours in each pass.
    """
    by_length = sorted(rng.sample(lessons.pairs, len(lessons.pairs)), key=_length)
    start = rng.randrange(-count + 1, 1) if len(by_length) > count else 0
    for first in range(start, len(by_length), count):
        yield Lessons(lessons.program, by_length[max(0, first) : first + count])


def _length(lesson: tuple[Sequence[int], Sequence[int]]) -> int:
    return len(lesson[0]) + len(lesson[1])


def _size(lessons: Lessons) -> int:
    return max(map(_length, lessons.pairs))


def _packed(parts: Sequence[Lessons], rows: int) -> Iterator[list[Lessons]]:
    chosen: list[Lessons] = []
    for part in parts:
        if chosen and sum(len(lessons.pairs) for lessons in chosen) + len(part.pairs) > rows:
            yield chosen
            chosen = []
        chosen.append(part)
    if chosen:
        yield chosen
