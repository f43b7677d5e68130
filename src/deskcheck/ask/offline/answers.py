"""Answers in the files of other programs, as the lines that scoring reads (`lines`).

Read are logs of Inspect AI, samples of lm-evaluation-harness, both of tasks made of our questions, and
CRUXEval's files of generations, whose questions are named by program.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.results.harness_logs import SamplesFile, answers_in, is_samples_file, sample_of
from deskcheck.ask.results.inspect_logs import read_log
from deskcheck.files import NotJSON, read_file, read_json
from deskcheck.recording import InputError

Answer = dict[str, Any]
"""``id`` of the question, ``completion``, ``model``; ``stop_reason`` where it is known."""


def write_answers(
    path: str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    *,
    question: str = "output",
    model: str | None = None,
) -> int:
    """Write the answers in files of others, in their order, whole or not at all; return how many there are.

    question: the kind that CRUXEval's generations answer. model: who answered, where a file does not tell;
    without it the name of the file.

    Raises:
        InputError: a file cannot be read or holds no answers to questions of ours; `path` cannot be written.
        MissingExtra: a log of Inspect's, and Inspect AI is not installed.
    """
    path = Path(path)
    made = path.with_name(f".{path.name}.{os.getpid()}")
    count = 0
    try:
        try:
            with open(made, "w", encoding="utf-8") as out:
                for file in map(Path, files):
                    before = count
                    for answer in _answers(file, question, model):
                        out.write(json.dumps(answer) + "\n")
                        count += 1
                    if count == before:
                        raise InputError(f"{file}: holds no answers to questions of ours.")
            os.replace(made, path)
        finally:
            made.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{error.filename or path}: {error.strerror}.") from error
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
                yield {"id": sample.id, "completion": completion, "model": file.model}


def _of_cruxeval(file: Path, question: str, model: str) -> Iterator[Answer]:
    """Program -> its answers, each the bare value or call."""
    try:
        told = read_json(read_file(file))
    except NotJSON:
        told = None
    told = told.get("raw_generations", told) if isinstance(told, dict) else None
    if not isinstance(told, dict) or not all(isinstance(found, list) for found in told.values()):
        raise InputError(
            f"{file}: is neither a log of Inspect's (.eval), nor samples of lm-evaluation-harness "
            "(samples_TASK_DATE.jsonl), nor generations in CRUXEval's form (program -> list of answers)."
        )
    for program, answers in told.items():
        for answer in answers:
            yield {
                "id": f"{program}:{question}",
                "completion": f"[ANSWER]{answer}[/ANSWER]",
                "model": model,
            }
