"""A benchmark as a reader of samples, made of the rows of a published set or of its programs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from deskcheck.ask.answers.allowed import Refused
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import ShownSource
from deskcheck.recording import InputError
from deskcheck.sources.text.rows import Row, check_fields, read_rows

Note = Callable[[str], None]
Read = Callable[[str | None, Note], Iterator[Sample]]


def _quiet(text: str) -> None:
    """Does not report what is fetched."""


@dataclass(frozen=True, slots=True)
class BenchmarkReader:
    """A set of questions that is read from a file."""

    name: str
    about: str
    """A description: the question and the set."""
    read: Read
    """From a file (None: fetch the set) and a function for messages about fetching to the samples."""

    def samples(self, path: str | None = None, *, note: Note = _quiet) -> Iterator[Sample]:
        """The samples in the order of the set, from a file of it, or (None) fetched from its public home.

        Raises: InputError: the file is missing or not a file of the set, a row has no answer, or its input
            cannot be
                an answer; the set cannot be fetched.
        """
        return self.read(path, note)


def of_rows(
    name: str, about: str, home: str, required: Mapping[str, type], sample: Callable[[Row, int, str], Sample]
) -> BenchmarkReader:
    """The reader of a set whose rows are questions, and which is not fetched.

    home: where the set is published. required: field of a row -> its type. sample: from a row, its number
    from 1 and its place for messages to the question.
    """

    def read(path: str | None, note: Note) -> Iterator[Sample]:
        if path is None:
            raise InputError(f"{name}: is not fetched: write {name}:PATH with your copy, from {home}.")
        fields = f"A row has {', '.join(required)}."
        for number, (where, row) in enumerate(read_rows(Path(path).expanduser(), path, fields), 1):
            check_fields(row, required, where, fields)
            yield sample(row, number, where)

    return BenchmarkReader(name, about, read)


def of_calls(
    name: str,
    about: str,
    source: str,
    sample: Callable[..., Sample],
    lines: Callable[[str], list[str]] = lambda code: code.split("\n"),
) -> BenchmarkReader:
    """A set of calls with their results, scored by ``==``. source: its name among the sources of programs."""

    def read(path: str | None, note: Note) -> Iterator[Sample]:
        from deskcheck.sources import programs

        for program in programs(source if path is None else f"{source}:{path}", note=note):
            if program.expected is None:
                raise InputError(
                    f"{program.id}: has no published answer; CRUXEval has it in the key 'output'."
                )
            try:
                yield sample(program, shown(lines(program.code)), program.expected, strict=False)
            except Refused as reason:
                raise InputError(
                    f"{name}: {program.id}: its published input is not an allowed answer: {reason}"
                ) from None

    return BenchmarkReader(name, about, read)


def shown(lines: list[str]) -> tuple[ShownSource, ...]:
    """All lines of a program, as a prompt shows them."""
    return (ShownSource("program.py", tuple(enumerate(lines, 1)), True),)


def cluster_of_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
