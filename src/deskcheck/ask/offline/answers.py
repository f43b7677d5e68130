"""Answers in the files of other programs, converted to the lines that scoring reads (`lines`).

Sources are logs of Inspect AI and samples of lm-evaluation-harness, both with deskcheck's questions as tasks,
and CRUXEval's files of generations, which name questions by program.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.answers.parsing import CLOSE
from deskcheck.ask.results.harness_logs import SamplesFile, answers_in, is_samples_file, sample_of
from deskcheck.ask.results.inspect_logs import read_log
from deskcheck.files import NotJSON, read_file, read_json, write_file
from deskcheck.recording import InputError

Answer = dict[str, Any]
"""``id`` of the question, ``completion``, ``model``; ``stop_reason`` if it is known."""


def write_answers(
    path: str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    *,
    question: str = "output",
    model: str | None = None,
) -> int:
    """Write the answers in files, in their order; return their number. After an error nothing is written.

    question: the kind that CRUXEval's generations answer. model: who answered, if a file does not say; by
    default the name of the file.

    Raises:
        InputError: a file cannot be read or has no answers to deskcheck's questions, or `path` cannot be
            written.
        MissingExtra: Inspect AI, which its logs need, is not installed.
    """
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        for file in map(Path, files):
            before = count
            for answer in _answers(file, question, model):
                count += 1
                yield json.dumps(answer) + "\n"
            if count == before:
                raise InputError(f"{file}: has no answers to deskcheck's questions.")

    write_file(Path(path), lines())
    return count


def _answers(file: Path, question: str, model: str | None) -> Iterator[Answer]:
    if file.suffix == ".eval":
        yield from _of_inspect(file)
    elif is_samples_file(file):
        yield from _of_harness(file)
    else:
        yield from _of_cruxeval(file, question, model or file.stem)


def _of_inspect(file: Path) -> Iterator[Answer]:
    log = read_log(file)
    for sample in log.samples or ():
        if sample.output.choices:
            yield {
                "id": str(sample.id),
                "completion": sample.output.completion,
                "model": log.eval.model,
                "stop_reason": sample.output.stop_reason,
            }


def _of_harness(path: Path) -> Iterator[Answer]:
    file = SamplesFile(path)
    for row in file.rows():
        if (sample := sample_of(row)) is not None:
            for completion in answers_in(row):
                yield {"id": sample.id, "completion": completion, "model": file.model, "stop_reason": CLOSE}


def _content(file: Path) -> bytes:
    try:
        return read_file(file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from error


def _of_cruxeval(file: Path, question: str, model: str) -> Iterator[Answer]:
    """The answers of a file: program -> answers, each the bare value or call."""
    try:
        content = read_json(_content(file))
    except NotJSON:
        content = None
    generations = content.get("raw_generations", content) if isinstance(content, dict) else None
    if not isinstance(generations, dict) or not all(
        isinstance(listed, list) for listed in generations.values()
    ):
        raise InputError(
            f"{file}: is neither a log of Inspect's (.eval), nor samples of lm-evaluation-harness "
            "(samples_TASK_DATE.jsonl), nor generations in CRUXEval's form (program -> list of answers)."
        )
    for program, answers in generations.items():
        for answer in answers:
            yield {
                "id": f"{program}:{question}",
                "completion": f"[ANSWER]{answer}[/ANSWER]",
                "model": model,
            }
