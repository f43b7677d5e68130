"""Questions and answers as JSON lines, for models that answer elsewhere. Read one line at a time.

    {"id": ..., "prompt": ..., ...}                  a question: what a model is to be given, and a `Sample`
    {"id": ..., "completion": ..., "model": ...}     an answer: id of the question, the model's raw text

What scoring holds of a file of questions in memory is some 55 bytes of each (`Questions`): answers come in
any order. Not: compressed files and pipes; a line is found again by its place.
"""

import hashlib
import itertools
import json
import os
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deskcheck.ask.answers.parsing import CLOSE
from deskcheck.ask.questions.benchmarks import benchmark_samples
from deskcheck.ask.questions.gathering import Gathering, Source
from deskcheck.ask.questions.own_words import in_own_words, own_words
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import NotebookOptions, Sampling
from deskcheck.ask.questions.shots import with_shots
from deskcheck.ask.samples.sample import Sample, line_of
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.files import open_file, read_json
from deskcheck.jobs.key_set import key_of
from deskcheck.recording import InputError

LINE_BYTES = 1 << 26
"""Longer lines are not read."""
_DIGEST = 16


def write_questions(
    path: str | os.PathLike[str],
    recordings: Source,
    questions: Sequence[str],
    *,
    sampling: Sampling | None = None,
    steps: StepOptions | None = None,
    notebooks: NotebookOptions | None = None,
    extra: Callable[[Sample], Mapping[str, object]] = lambda sample: {},
) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Write the questions that `run.ask` would ask, in the order of `sampling.drawn`. After an error nothing
    is written. Return the number of questions of each kind, and by kind the reasons for exclusions.

    Memory holds one recording at a time, and the names of all samples; for recordings of tests also the
    samples that may be asked (`alike`), for notebooks all samples.

    recordings: as for `run.ask`. steps: how `step` asks. notebooks: with several views of the state, each
    question is written once for each view; all views have the same questions, and an id ends with its view.
    extra: more fields for the line of a sample, which deskcheck does not read.

    Raises:
        InputError: an unknown question; nothing can be asked; the file cannot be written.
        RecordingError: a folder cannot be read.
    """
    sampling = sampling or Sampling()
    options = notebooks or NotebookOptions()
    gathering = Gathering(recordings, questions, sampling=sampling, steps=steps, notebooks=options)

    def samples() -> Iterator[tuple[str, Sample]]:
        for question, view, of_part, _ in gathering.parts():
            several = view and len(options.state) > 1
            for sample in of_part:
                yield question, replace(sample, id=f"{sample.id}:{view}") if several else sample

    excluded = gathering.excluded
    written = _write(Path(path), samples(), questions, sampling, gathering.folders, excluded, extra)
    return written, excluded


def write_benchmark_questions(
    path: str | os.PathLike[str],
    benchmarks: Sequence[str],
    *,
    sampling: Sampling | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Counter[str]:
    """Like `write_questions`, for benchmarks in the form that `benchmark_samples` takes. Return the number of
    questions of each."""
    by_benchmark = benchmark_samples(benchmarks, note=note)
    samples = ((name, sample) for name, of_benchmark in by_benchmark.items() for sample in of_benchmark)
    return _write(Path(path), samples, [*by_benchmark], sampling or Sampling(), None, {})


def _write(
    path: Path,
    samples: Iterator[tuple[str, Sample]],
    names: Sequence[str],
    sampling: Sampling,
    folders: Mapping[str, int] | None,
    excluded: Mapping[str, Counter[str]],
    extra: Callable[[Sample], Mapping[str, object]] = lambda sample: {},
) -> Counter[str]:
    """Write samples, each with the name that those are drawn by which belong together."""
    written: Counter[str] = Counter()
    texts = own_words(sampling, names)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    everything = path.with_name(f".{path.name}.{os.getpid()}.all")
    kinds: dict[str, dict[str, list[_Written]]] = {name: {} for name in names}
    try:
        try:
            with open(everything, "w+b") as all_, open(unfinished, "wb") as file:
                for name, sample in samples:
                    if name in texts:
                        (sample,) = in_own_words([sample], texts[name])
                    sample_at = _Written(sample.id_in_all_views, sample.program, sample.cluster, all_.tell())
                    kinds[name].setdefault(sample.view, []).append(sample_at)
                    all_.write(line_of(sample, extra(sample)).encode("ascii"))
                for kind, of_view in (
                    (kind, of_view) for kind, views in kinds.items() for of_view in views.values()
                ):
                    chosen = drawn(of_view, seed=sampling.seed, limit=sampling.limit, folders=folders)
                    lines = (_line_at(all_, place_of_line.offset) for place_of_line in chosen)
                    if sampling.shots is not None:
                        with_examples = with_shots(
                            [sample_in(line) for line in lines],
                            sampling.shots,
                            seed=sampling.seed,
                            excluded=excluded.get(kind, Counter()),
                        )
                        lines = (line_of(sample, extra(sample)).encode("ascii") for sample in with_examples)
                    for line in lines:
                        file.write(line)
                        written[kind] += 1
            written = +written
            if not written:
                every = (f"{n} {reason}" for reasons in excluded.values() for reason, n in reasons.items())
                reasons_text = "; ".join(every)
                raise InputError(f"no questions: {reasons_text or 'no recordings'}.")
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
            everything.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from error
    return written


def _line_at(file: IO[bytes], offset: int) -> bytes:
    file.seek(offset)
    return file.readline()


class _Written(NamedTuple):
    """The place of a question's line, and the fields that drawing needs. id: the same in all views."""

    id: str
    program: str
    cluster: str
    offset: int


class Line(NamedTuple):
    """number: from 1. offset: in bytes. raw: with its end; of one that is longer than LINE_BYTES, its
    beginning."""

    number: int
    offset: int
    raw: bytes


def lines_of(path: Path, *, empty: bool = False) -> Iterator[Line]:
    """The lines of a file. empty: also lines that have only white space. Raises InputError if the file cannot
    be read."""
    if not path.is_file():
        raise InputError(f"{path}: no such file." if not path.exists() else f"{path}: is not a file.")
    try:
        with open_file(path) as file:
            offset = 0
            for number in itertools.count(1):
                raw = read_line(file, offset)
                if not raw:
                    return
                if empty or not raw.isspace():
                    yield Line(number, offset, raw)
                chunk = raw
                while len(raw) > LINE_BYTES and chunk and not chunk.endswith(b"\n"):
                    chunk = file.readline(1 << 20)
                offset = file.tell()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def read_line(file: IO[bytes], offset: int) -> bytes:
    """The line that begins there."""
    if file.tell() != offset:
        file.seek(offset)
    return file.readline(LINE_BYTES + 1)


def digest_of(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_DIGEST).digest()


def _object(raw: bytes) -> dict[str, object]:
    """The JSON object in a line. Raises ValueError if the line is something else."""
    if len(raw) > LINE_BYTES:
        raise ValueError(f"is longer than {LINE_BYTES} bytes")
    row = read_json(raw)
    if not isinstance(row, dict):
        raise ValueError("is not a JSON object")
    return row


# -- questions ---------------------------------------------------------------------------------------

_KINDS: dict[str, type] = {
    "id": str,
    "question": str,
    "program": str,
    "cluster": str,
    "parts": dict,
    "answer": str,
    "data": dict,
}


def sample_in(raw: bytes) -> Sample:
    """The sample in a line. Raises ValueError with the reason if there is none."""
    row = _object(raw)
    for name, kind in _KINDS.items():
        if not isinstance(row.get(name), kind):
            raise ValueError(
                f"is not a question that `deskcheck offline questions` wrote: {name!r} is missing or wrong"
            )
    sample = Sample.from_dict({name: row[name] for name in _KINDS})
    if not isinstance(sample.data.get("form"), str):
        raise ValueError("is not a question that `deskcheck offline questions` wrote: 'data' has no form")
    return sample


class Questions:
    """The places of the questions in a file, by id. Reads the whole file once.

    Raises InputError, with file and line: a damaged line; an id that occurs twice; no question.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offsets = array("Q")
        self.names: list[tuple[str, str]] = []
        """The kinds of question that there are, each with the view of the state (`Sample.view`)."""
        self.forms: set[str] = set()
        """The forms of answers that there are."""
        self._kinds = array("I")
        self._clusters = array("Q")
        self._digests = bytearray()
        keys = array("Q")
        for line in lines_of(path):
            try:
                sample = sample_in(line.raw)
            except ValueError as error:
                raise InputError(f"{path} line {line.number}: {error}.") from None
            self.offsets.append(line.offset)
            self._digests += digest_of(line.raw)
            self.forms.add(sample.data["form"])
            name = sample.question, sample.view
            if name not in self.names:
                self.names.append(name)
            self._kinds.append(self.names.index(name))
            self._clusters.append(key_of(sample.cluster))
            keys.append(key_of(sample.id))
        if not keys:
            raise InputError(f"{path}: has no questions.")
        column = pa.Array.from_buffers(pa.uint64(), len(keys), [None, pa.py_buffer(keys)])
        order = pc.array_sort_indices(column)
        self._order = array("Q", order.buffers()[1].to_pybytes()[: 8 * len(keys)])
        """Places in the file, by key."""
        self._keys = array("Q", (keys[position] for position in self._order))
        for at in range(1, len(keys)):
            if self._keys[at - 1] == self._keys[at]:
                self._refuse_twice(*sorted((self._order[at - 1], self._order[at])))

    def __len__(self) -> int:
        return len(self.offsets)

    def find(self, question_id: str) -> int | None:
        """Place of the question that has this id (or, one in 10^19, the same hash: see its line)."""
        key = key_of(question_id)
        index = bisect_left(self._keys, key)
        return self._order[index] if index < len(self._keys) and self._keys[index] == key else None

    def read(self, position: int) -> Sample:
        """The question at a place. Raises InputError: the file cannot be read, or its line is another now."""
        try:
            with open(self.path, "rb") as file:
                raw = read_line(file, self.offsets[position])
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}.") from error
        if digest_of(raw) != self.digest(position):
            raise InputError(f"{self.path}: was changed after it was read. Read it again.")
        return sample_in(raw)

    def of_kind(self, name: tuple[str, str]) -> Counter[int]:
        """The number of questions of one of `names` in each cluster, by `key_of` the cluster's name."""
        number = self.names.index(name)
        kinds_and_clusters = zip(self._kinds, self._clusters, strict=True)
        return Counter(cluster for kind, cluster in kinds_and_clusters if kind == number)

    def digest_of_all(self) -> str:
        """The digest of all lines in order."""
        return digest_of(bytes(self._digests)).hex()

    def digest(self, position: int) -> bytes:
        """The digest of a line."""
        return bytes(self._digests[_DIGEST * position : _DIGEST * (position + 1)])

    def _refuse_twice(self, first: int, second: int) -> None:
        offsets = (self.offsets[first], self.offsets[second])
        lines = [line for line in lines_of(self.path) if line.offset in offsets]
        repeated = sample_in(lines[0].raw).id
        numbers = " and ".join(str(line.number) for line in lines)
        raise InputError(f"{self.path}: lines {numbers} have the id {repeated!r}. Give each a different id.")


# -- answers -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Given:
    """The answer in a line of a file."""

    id: str
    completion: str | None
    """None if the line has no completion."""
    model: str | None
    extra: str | None
    """The other fields of the line, as JSON."""
    stop_reason: str | None = None
    """The reason why the completion ended, for `score.reading_of`; None if unknown."""


def answer_in_line(raw: bytes) -> Given:
    """The answer in a line. Raises ValueError with the reason if there is none."""
    row = _object(raw)
    question_id, completion = row.pop("id", None), row.pop("completion", None)
    if not isinstance(question_id, str):
        raise ValueError('has no "id" that is text')
    if completion is not None and not isinstance(completion, str):
        raise ValueError('its "completion" is not text')
    model = row.get("model")
    if isinstance(model, str):
        del row["model"]
    try:
        extra = json.dumps(row) if row else None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    return Given(question_id, completion, model if isinstance(model, str) else None, extra, _stop_reason(row))


def _stop_reason(row: dict[str, object]) -> str | None:
    """The reason why the completion ended. OpenAI and vLLM give it in ``finish_reason``, Anthropic and
    Inspect in ``stop_reason``. vLLM may give the stop word or token there; [/ANSWER] closes the answer. A
    refusal of OpenAI's is in ``refusal``."""
    finish, stop = row.get("finish_reason"), row.get("stop_reason")
    if row.get("refusal"):
        return "refusal"
    if stop == CLOSE:
        return CLOSE
    if isinstance(finish, str):
        return finish
    if isinstance(stop, str):
        return stop if stop.isascii() and stop.replace("_", "").isalpha() else "stop"
    return "stop" if isinstance(stop, int) else None
