"""Questions about recordings of tests that would ask the same once more.

Tests call one function with many arguments: a tenth of a project's functions may give half of its
recordings, and most of those go the same way to the same answer.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import cluster_of
from deskcheck.recording import Kind, Recording

MOST = 2
REASON = f"its function already has {MOST} questions on this path, or with this answer"
AMBIGUOUS = "a call with the same text has a different answer"

_T = TypeVar("_T")
_Lot = tuple[int, str]


class _Drawn(NamedTuple, Generic[_T]):
    """Samples of a recording by one kind of question, and the value that belongs to them."""

    lot: _Lot
    samples: list[Sample]
    beside: _T


class Alike(Generic[_T]):
    """Holds samples of recordings of tests until all are known, and gives back those that ask
    something new.

    Of each kind of question at most `MOST` recordings of a function that ran the same lines are
    asked, and of these at most `MOST` samples about the same place in it with the same answer. Lots
    decide, which depend only on the seed and the ids, and not on the order in which the recordings
    come. Samples of `MOST` recordings are held for each kind, function and path, and no recording.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._along: dict[tuple[str, str, bytes], list[_Drawn[_T]]] = {}
        """Kind of question, function and path -> its recordings."""
        self._recordings: Counter[str] = Counter()
        """Kind of question -> how many recordings have samples."""
        self._answers: dict[bytes, bytes] = {}
        """Prompt -> its answer, both as digests."""
        self._ambiguous: set[bytes] = set()
        """Prompts that occurred with different answers, which depend on something that they do not show."""

    @staticmethod
    def concerns(recording: Recording) -> bool:
        """Whether it is one of a call that a test made."""
        return "own" in recording.program.extra

    def hold(self, recording: Recording, samples: Mapping[str, list[Sample]], beside: _T) -> None:
        """Add the samples of a recording, by question, with a value that is returned with them."""
        function, path = cluster_of(recording.program), _path(recording)
        for question, of_question in samples.items():
            self._recordings[question] += 1
            for sample in of_question:
                if sample.data["form"] != "arguments":  # of which several are right
                    prompt, answer = _digest(sample.prompt), _digest(sample.answer)
                    if self._answers.setdefault(prompt, answer) != answer:
                        self._ambiguous.add(prompt)
            along = self._along.setdefault((question, function, path), [])
            along.append(_Drawn(self._lot(recording.id), of_question, beside))
            along.sort(key=lambda drawn: drawn.lot)
            del along[MOST:]

    def chosen(self, excluded: Mapping[str, Counter[str]]) -> Iterator[tuple[str, list[Sample], _T]]:
        """(question, samples of a recording, their value); reasons for exclusion are added to `excluded`."""
        lots: dict[tuple[Any, ...], list[_Lot]] = {}
        for (question, function, _), along in self._along.items():
            for sample in (sample for drawn in along for sample in drawn.samples):
                lots.setdefault(_asks(question, function, sample), []).append(self._lot(sample.id))
        first = {key: sorted(of_key)[:MOST] for key, of_key in lots.items()}
        for (question, function, _), along in self._along.items():
            for drawn in along:
                clear = [sample for sample in drawn.samples if _digest(sample.prompt) not in self._ambiguous]
                new = [
                    sample
                    for sample in clear
                    if self._lot(sample.id) in first[_asks(question, function, sample)]
                ]
                if not clear:
                    excluded[question][AMBIGUOUS] += 1
                if new:
                    yield question, new, drawn.beside
                if new or not clear:
                    self._recordings[question] -= 1
        for question, left_out in self._recordings.items():
            if left_out:
                excluded[question][REASON] += left_out

    def _lot(self, recording_id: str) -> _Lot:
        from deskcheck.jobs.key_set import key_of

        return key_of(f"{self._seed}:{recording_id}"), recording_id


def _asks(question: str, function: str, sample: Sample) -> tuple[Any, ...]:
    data = sample.data
    return question, function, data.get("file"), data.get("line"), data.get("variable"), sample.answer


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _path(recording: Recording) -> bytes:
    """A digest of the lines that ran, in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for row in recording.trace.rows:
        if row.kind == Kind.LINE:
            digest.update(f"{row.file}:{row.line};".encode("utf-8", "surrogatepass"))
    return digest.digest()
