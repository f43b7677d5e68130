"""The samples of recordings and trajectories, for `ask`, files of questions and Inspect's tasks."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deskcheck.ask.questions.generate import check_questions, of_each
from deskcheck.ask.questions.load import Folder, by_folder, folder_of
from deskcheck.ask.questions.notebooks import NOTEBOOK_QUESTIONS, notebook_samples, trajectory_files
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.settings import NotebookOptions, Sampling
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.files import read_file
from deskcheck.recording import InputError, Recording

Source = Folder | Iterable[Folder] | Iterable[Recording]
SampleSets = dict[tuple[str, str], tuple[list[Sample], Counter[str]]]
"""Question or benchmark, and view of the state -> samples, and reasons to exclude recordings."""
Beside = Callable[[Recording], tuple[Any, str | None]]


class Contents:
    """A digest of recordings that does not depend on their order or files: of program, outcome, result,
    output and number of events."""

    def __init__(self) -> None:
        self._content_digests: list[bytes] = []

    def through(self, recordings: Iterable[Recording]) -> Iterator[Recording]:
        """The same recordings, which are added as they pass."""
        for recording in recordings:
            run_result = recording.run_result
            facts = [
                recording.program.to_dict(),
                *(run_result.outcome, run_result.result, run_result.stdout),
                [len(trace) for trace in recording.traces],
            ]
            text = json.dumps(facts, sort_keys=True, default=str)
            self._content_digests.append(hashlib.sha256(text.encode()).digest())
            yield recording

    def add_files(self, paths: Iterable[Path]) -> None:
        """Trajectories, by their bytes."""
        self._content_digests += (hashlib.sha256(read_file(path)).digest() for path in paths)

    def digest(self) -> str:
        return hashlib.sha256(b"".join(sorted(self._content_digests))).hexdigest()


class Gathered(NamedTuple):
    """Samples of one kind and view, of a recording or of all trajectories.

    beside: the first value that `Gathering.parts` was asked to add; None for trajectories.
    """

    question: str
    view: str
    samples: list[Sample]
    beside: Any


def _nothing(recording: Recording) -> tuple[None, None]:
    return None, None


class Gathering:
    """Gathers the samples of kinds of question from a folder, several, or recordings.

    contents: gets what is read.

    Raises InputError: an unknown question, or one about notebooks without a folder.
    """

    def __init__(
        self,
        source: Source,
        questions: Sequence[str],
        *,
        sampling: Sampling | None = None,
        steps: StepOptions | None = None,
        notebooks: NotebookOptions | None = None,
        contents: Contents | None = None,
    ) -> None:
        check_questions(questions, [*QUESTIONS, *NOTEBOOK_QUESTIONS])
        source = [source] if isinstance(source, (str, os.PathLike)) else source
        items: list[Any] = list(source) if isinstance(source, (list, tuple)) else []
        self._source = items or source
        self.places: list[Folder] = [] if items and isinstance(items[0], Recording) else items
        """The folders, if the source is folders."""
        self.of_programs = [name for name in questions if name in QUESTIONS]
        self.of_notebooks = [name for name in questions if name in NOTEBOOK_QUESTIONS]
        if self.of_notebooks and not self.places:
            raise InputError(f"{self.of_notebooks[0]}: is asked about trajectories: give their folders.")
        self._sampling = sampling or Sampling()
        self._steps = steps
        self._options = notebooks or NotebookOptions()
        self.excluded = {name: Counter[str]() for name in questions}
        """Question -> the reasons why recordings are not asked about."""
        self.folders: dict[str, int] = {}
        """Program or notebook -> number of its folder."""
        self._contents = contents

    def parts(self, beside: Beside = _nothing) -> Iterator[Gathered]:
        """All samples, those of recordings one recording at a time (`of_each`).

        Raises:
            InputError: two recordings or trajectories have one id; there are no trajectories.
            RecordingError: a folder cannot be read.
        """
        sampling = self._sampling
        if self.of_programs:
            recordings = by_folder(self._source, self.folders)
            for question, samples, value in of_each(
                self._contents.through(recordings) if self._contents else recordings,
                self.of_programs,
                sampling=sampling,
                steps=self._steps,
                excluded=self.excluded,
                beside=beside,
            ):
                yield Gathered(question, "", samples, value)
        if self.of_notebooks:
            files = trajectory_files(self.places)
            if self._contents is not None:
                self._contents.add_files(files)
            by_view = notebook_samples(
                files,
                self.of_notebooks,
                self._options,
                seed=sampling.seed,
                per_recording=sampling.per_recording,
            )
            for (question, view), (samples, reasons) in by_view.items():
                self.excluded[question] = Counter(reasons)  # the same in all views
                for sample in samples:
                    folder = folder_of(sample.data["trajectory"], self.places)
                    self.folders.setdefault(sample.program, folder)
                yield Gathered(question, view, samples, None)

    def sets(self, beside: Beside = _nothing, take: Callable[[Any], None] = lambda value: None) -> SampleSets:
        """All samples by kind and view. take: gets the values of `beside`."""
        keys = [(name, "") for name in self.of_programs]
        keys += [(name, view) for name in self.of_notebooks for view in self._options.state]
        samples: dict[tuple[str, str], list[Sample]] = {key: [] for key in keys}
        for part in self.parts(beside):
            samples[part.question, part.view] += part.samples
            if part.view == "":
                take(part.beside)
        return {key: (of_key, Counter(self.excluded[key[0]])) for key, of_key in samples.items()}
