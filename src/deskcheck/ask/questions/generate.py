"""The questions about many recordings, one recording at a time."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from deskcheck.ask.questions.alike import Alike
from deskcheck.ask.questions.questions import kind_of
from deskcheck.ask.questions.settings import Sampling
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.errors import own_failures
from deskcheck.recording import InputError, Recording, RecordingError

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


def of_each(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    sampling: Sampling,
    steps: StepOptions | None = None,
    excluded: Mapping[str, Counter[str]],
    beside: Callable[[Recording], tuple[_T, str | None]],
) -> Iterator[tuple[str, list[Sample], _T]]:
    """(question, samples of a recording, the first value of `beside`), for all samples that are asked.

    Memory holds one recording at a time. Samples of recordings of tests stay until the end, as far as
    `alike` says, and come last. beside: from a recording that has samples to a value that is returned with
    them, and None or the reason why it is not asked about. steps: how `step` asks.

    Raises InputError if two recordings have one id, because their samples would have one, too.
    """
    from deskcheck.jobs.key_set import KeySet, key_of

    ids, alike = KeySet(), Alike[_T](sampling.seed)
    kinds = {name: kind_of(name, steps) for name in questions}
    for recording in recordings:
        if not ids.add(key_of(recording.id)):
            raise InputError(
                f"two recordings have the id {recording.id!r}. Ask about their folders one at a time, or "
                f"record the programs again into one folder."
            )
        if sampling.doubtful:
            run_result = replace(recording.run_result, refused=None)
            recording = replace(recording, repeatable=None, run_result=run_result)
        by_kind: dict[str, list[Sample]] = {}
        failures: list[str] = []
        try:
            with own_failures(failures.append):
                for name, kind in kinds.items():
                    samples_of_kind = kind(
                        recording,
                        seed=sampling.seed,
                        per_recording=sampling.per_recording,
                        excluded=excluded[name],
                    )
                    by_kind[name] = list(samples_of_kind)
            reason = "deskcheck failed on it"
        except RecordingError as error:
            failures, reason = [str(error)], "its rows are damaged"
        if failures:
            _log.warning("%s is left out: %s", recording.id, failures[0])
            for name in questions:
                excluded[name][reason] += 1
            continue
        by_kind = {name: samples for name, samples in by_kind.items() if samples}
        if not by_kind:
            continue
        with_it, why_not = beside(recording)
        if why_not is not None:
            for name in by_kind:
                excluded[name][why_not] += 1
        elif alike.concerns(recording):
            alike.hold(recording, by_kind, with_it)
        else:
            for name, samples in by_kind.items():
                yield name, samples, with_it
    yield from alike.chosen(excluded)


def check_questions(names: Sequence[str], available: Iterable[str]) -> None:
    if not names:
        raise InputError(f"no question is named. The questions are {', '.join(available)}.")
    for name in names:
        if name not in available:
            raise InputError(f"unknown question {name!r}. The questions are {', '.join(available)}.")
