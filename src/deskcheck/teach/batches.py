"""Lessons as batches of token numbers, in which the lessons of one program stand together.

Needs torch (the extra ``[teach]``).
"""

import random
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from keyword import iskeyword
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import torch
from torch import Tensor

from deskcheck.recording import InputError
from deskcheck.teach._ids import IGNORED
from deskcheck.teach.tokens import Tokenizer

COLUMNS = ["prefix", "prompt", "completion", "split"]


class Lesson(NamedTuple):
    """prompt, completion: tokens, the latter with the token that ends it. kind: of the line that a step is
    about, its names and constants left out; empty for what is no step."""

    prompt: Sequence[int]
    completion: Sequence[int]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons about one program, as tokens. program: that all begin with."""

    program: Sequence[int]
    each: Sequence[Lesson]


@dataclass(frozen=True, slots=True)
class Batch:
    """programs: [programs, length], filled up at the ends; lengths: [programs]; owner: [rows], the number of
    each row's program. tokens, labels: [rows, length]; a label is the token that follows, `IGNORED` where it
    is not part of an answer. programs_next, prompts_next: as large as `programs` and `tokens`, the token that
    follows within a program, within a prompt; `IGNORED` elsewhere. kinds: of each row's lesson."""

    programs: Tensor
    lengths: Tensor
    owner: Tensor
    tokens: Tensor
    labels: Tensor
    programs_next: Tensor
    prompts_next: Tensor
    kinds: Sequence[str] = ()

    def before(self, count: int) -> Tensor | None:
        """The last `count` tokens of each row's program, [rows, count], -1 where it has fewer; None of
        none."""
        if not count:
            return None
        places = self.lengths[:, None] - torch.arange(count, 0, -1, device=self.lengths.device)
        found = self.programs.gather(1, places.clamp(min=0))
        return torch.where(places < 0, -1, found)[self.owner]

    def to(self, device: torch.device) -> "Batch":
        return Batch(
            self.programs.to(device),
            self.lengths.to(device),
            self.owner.to(device),
            self.tokens.to(device),
            self.labels.to(device),
            self.programs_next.to(device),
            self.prompts_next.to(device),
            self.kinds,
        )


def shards(folder: Path) -> list[Path]:
    """The files of a folder of lessons. Raises InputError where it has none."""
    found = sorted(folder.glob("*.parquet"))
    if not found:
        raise InputError(
            f"{folder}: holds no lessons. `deskcheck lessons RECORDINGS --out {folder}` makes them."
        )
    return found


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
        found = list(read_texts(file, "train"))
        for lesson in found[:: -(-len(found) // most) or 1]:
            yield from lesson


def read_lessons(files: Sequence[Path], split: str, tokenizer: Tokenizer) -> Iterator[Lessons]:
    """The lessons of a split, those that stand together in a file and share a program as one.

    Raises InputError for a file that holds no lessons.
    """
    for file in files:
        prefix: str | None = None
        each: list[Lesson] = []
        for begin, prompt, completion in read_texts(file, split):
            if begin != prefix:
                if prefix is not None:
                    yield Lessons(tokenizer.encode(prefix), each)
                prefix, each = begin, []
            answer = [*tokenizer.encode_answer(prompt, completion), tokenizer.end]
            asked = array("i", tokenizer.encode_prompt(prompt, begin))
            each.append(Lesson(asked, array("i", answer), kind_of_line(prompt)))
        if prefix is not None:
            yield Lessons(tokenizer.encode(prefix), each)


@lru_cache(maxsize=1 << 14)
def _kind(line: str) -> str:
    return _VALUES.sub(_shape, line).strip()


def kind_of_line(prompt: str) -> str:
    """The line that a step is about, without names and constants: ``v = v // 0``. Empty for what is no
    step."""
    found = _STEP_LINE.search(prompt)
    return _kind(found[1]) if found else ""


def _shape(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] in "\"'":
        return "''"
    if text[0].isdigit():
        return "0"
    return text if iskeyword(text) or text[-1] == "(" else "v"


_STEP_LINE = re.compile(r"\n[0-9]+\|([^\n]*)\n\+[0-9]+\n\Z")
_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|[^\W\d]\w*\(?|[0-9][\w.]*")


class Focus:
    """Which lessons are given less often, since they are known: those about kinds of lines that come out
    right.

    Selective training as in "Accelerating Deep Learning by Focusing on the Biggest Losers" (Jiang et al.
    2019, arXiv:1910.00762), but by what a lesson is about, so that what is left out need not be computed.
    wrong: kind -> share of its lessons that came out wrong lately, 1 before there were any.
    """

    least = 0.1
    """Share of lessons of a kind that is always right."""
    _memory = 50
    """Lessons that count."""

    def __init__(self, wrong: Mapping[str, float] | None = None) -> None:
        self.wrong = dict(wrong or {})

    def take(self, kinds: Sequence[str], right: Sequence[bool]) -> None:
        """Learn how lessons came out."""
        for kind, exact in zip(kinds, right, strict=True):
            before = self.wrong.get(kind, 1.0)
            self.wrong[kind] = before + ((not exact) - before) / self._memory

    def keeps(self, kind: str) -> float:
        """The share of lessons of a kind that are given."""
        return max(self.least, self.wrong.get(kind, 1.0))


def make_batch(chosen: Sequence[Lessons], padding: int) -> Batch:
    """One batch of all lessons of these programs."""
    rows = [
        (number, lesson.prompt, lesson.completion)
        for number, lessons in enumerate(chosen)
        for lesson in lessons.each
    ]
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
        whole = torch.tensor([*prompt, *completion])
        tokens[row, : len(whole) - 1] = whole[:-1]
        labels[row, len(prompt) - 1 : len(whole) - 1] = whole[len(prompt) :]
        prompts_next[row, : len(prompt) - 1] = whole[1 : len(prompt)]
    return Batch(
        programs,
        torch.tensor([len(lessons.program) for lessons in chosen]),
        torch.tensor([number for number, *_ in rows]),
        tokens,
        labels,
        programs_next,
        prompts_next,
        [lesson.kind for lessons in chosen for lesson in lessons.each],
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where an order of batches is: how often it went through all, and in this pass the file and the part of
    its lessons from which so many batches were taken. wrong: what `Focus` knew when those were chosen."""

    passed: int = 0
    file: int = 0
    part: int = 0
    taken: int = 0
    wrong: Mapping[str, float] = field(default_factory=dict)


class Batches:
    """Batches of lessons for ever, in an order that the seed decides, and `focus`.

    rows: lessons in a batch; each: so many at most that stand together there because they share a program and
    are about as long as one another. A pass gives every lesson once, or, with a focus, as many of each kind
    as that keeps. Of the files `open_files` are held in memory at a time and mixed. place: where to go on
    (`Batches.place` after a batch).
    """

    def __init__(
        self,
        files: Sequence[Path],
        tokenizer: Tokenizer,
        *,
        padding: int,
        rows: int = 128,
        each: int = 16,
        open_files: int = 8,
        seed: int = 0,
        split: str = "train",
        focus: Focus | None = None,
        place: Place | None = None,
    ) -> None:
        self.files = list(files)
        self.tokenizer = tokenizer
        self.padding = padding
        self.rows = rows
        self.each = min(each, rows)
        self.open_files = open_files
        self.seed = seed
        self.split = split
        self.focus = focus
        self.place = place or Place()

    def __iter__(self) -> Iterator[Batch]:
        number = self.place.passed
        while True:
            self._lessons = 0
            for chosen in self._one_pass(number):
                yield make_batch(chosen, self.padding)
            if not self._lessons:
                raise InputError(f"{self.files[0].parent}: has no lessons in the split {self.split!r}.")
            number += 1
            self.place = Place(number)

    def _one_pass(self, number: int) -> Iterator[list[Lessons]]:
        files = random.Random(f"{self.seed} {number}").sample(self.files, len(self.files))
        began = self.place
        for start in range(began.file, len(files), self.open_files):
            draw = random.Random(f"{self.seed} {number} {start}")
            held = list(read_lessons(files[start : start + self.open_files], self.split, self.tokenizer))
            parts = [part for lessons in held for part in _parts(lessons, self.each, draw)]
            draw.shuffle(parts)
            self._lessons += len(parts)
            # Programs of about one length stand together: what is filled up is computed for nothing.
            window = 64 * max(1, self.rows // self.each)
            first = began.part if start == began.file else 0
            for at in range(first, len(parts), window):
                going_on = (start, at) == (began.file, began.part)
                wrong: Mapping[str, float] | None = None
                if self.focus is not None:
                    wrong = began.wrong if going_on and began.taken else dict(self.focus.wrong)
                chance = random.Random(f"{self.seed} {number} {start} {at}")
                near = _kept(parts[at : at + window], wrong, chance)
                batches = list(_packed(sorted(near, key=_size), self.rows))
                chance.shuffle(batches)
                for taken, batch in enumerate(batches[began.taken if going_on else 0 :], 1):
                    before = began.taken if going_on else 0
                    self.place = Place(number, start, at, before + taken, wrong or {})
                    yield batch


def _kept(
    parts: Sequence[Lessons], wrong: Mapping[str, float] | None, chance: random.Random
) -> list[Lessons]:
    """The lessons of these that a focus keeps."""
    if wrong is None:
        return list(parts)
    focus = Focus(wrong)
    found = [
        Lessons(part.program, [one for one in part.each if chance.random() < focus.keeps(one.kind)])
        for part in parts
    ]
    return [part for part in found if part.each]


def _parts(lessons: Lessons, each: int, draw: random.Random) -> Iterator[Lessons]:
    """Lessons of one program, `each` together: the shortest, the next ones, ... Where a part begins is drawn,
    so that not always the same stand together."""
    by_length = sorted(draw.sample(lessons.each, len(lessons.each)), key=_length)
    start = draw.randrange(-each + 1, 1) if len(by_length) > each else 0
    for first in range(start, len(by_length), each):
        yield Lessons(lessons.program, by_length[max(0, first) : first + each])


def _length(lesson: Lesson) -> int:
    return len(lesson.prompt) + len(lesson.completion)


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
