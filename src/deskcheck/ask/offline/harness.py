"""Our questions as tasks of EleutherAI's lm-evaluation-harness, scored by us.

A folder of tasks has for each kind of question ``deskcheck_KIND.yaml`` and ``KIND.jsonl``, a group
``deskcheck.yaml`` of all, and ``deskcheck_tasks.py``, through which the harness loads the questions and
has answers scored. It needs deskcheck in the harness's environment, and moves as a whole. Not: kinds whose
answers are run.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.questions.lines import Questions, lines_of, sample_in
from deskcheck.ask.scoring.score import METRICS, PROGRAM_FORMS, score_answer
from deskcheck.recording import InputError

MAX_TOKENS = 2048
"""Of an answer, where the harness is not told otherwise (``--gen_kwargs max_gen_toks=...``)."""
_RUN = {"input", *PROGRAM_FORMS}
"""Kinds whose answers are run."""

_TASK = """\
task: deskcheck_{kind}
tag: deskcheck
custom_dataset: !function deskcheck_tasks.load
dataset_kwargs:
  kind: {kind}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{answer}}}}"
process_results: !function deskcheck_tasks.score
generation_kwargs:
  until: ["[/ANSWER]"]
  do_sample: false
  max_gen_toks: {tokens}
metric_list:
{metrics}
metadata:
  version: 1.0
"""
_METRIC = """\
  - metric: {name}
    aggregation: mean
    higher_is_better: true"""
_GROUP = """\
group: deskcheck
task:
{tasks}
aggregate_metric_list:
  - metric: score
    aggregation: mean
    weight_by_size: false
"""
_MODULE = '''\
"""What lm-evaluation-harness calls: loads the questions beside this file, and has answers scored."""

from pathlib import Path

import datasets

from deskcheck.ask.offline.harness import documents, score

__all__ = ["load", "score"]


def load(kind, **metadata):
    return {"test": datasets.Dataset.from_list(documents(Path(__file__).parent / f"{kind}.jsonl"))}
'''


def write_tasks(
    questions: str | os.PathLike[str], out: str | os.PathLike[str]
) -> tuple[Counter[str], Counter[str]]:
    """Write a file of questions as tasks into a folder. Return how many of each kind are in it, and how
    many of kinds that cannot be. In a file of several views of the state, each view is a kind of its own.

    Raises InputError: the questions cannot be read, or none of them can be a task; the folder has other
    files, or cannot be written.
    """
    path, folder = Path(questions), Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not an empty folder. Choose another one for the tasks.")
    lines: dict[str, list[bytes]] = {}
    forms: dict[str, set[str]] = {}
    left: Counter[str] = Counter()
    asked = Questions(path).names
    several = len({name for name, _ in asked}) < len(asked)
    for line in lines_of(path):
        try:
            sample = sample_in(line.raw)
        except ValueError as error:
            raise InputError(f"{path} line {line.number}: {error}.") from None
        if sample.question in _RUN:
            left[sample.question] += 1
        else:
            name = "_".join(filter(None, (sample.question, sample.view if several else "")))
            lines.setdefault(name, []).append(line.raw.rstrip(b"\n") + b"\n")
            forms.setdefault(name, set()).add(sample.data["form"])
    if not lines:
        raise InputError(
            f"{path}: none of its questions can be a task: answers of {', '.join(left)} are run."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, some in lines.items():
            (folder / f"{kind}.jsonl").write_bytes(b"".join(some))
            names = ["score", *dict.fromkeys(name for form in forms[kind] for name in METRICS.get(form, ()))]
            metrics = "\n".join(_METRIC.format(name=name) for name in names)
            task = _TASK.format(kind=kind, tokens=MAX_TOKENS, metrics=metrics)
            (folder / f"deskcheck_{kind}.yaml").write_text(task, encoding="utf-8")
        tasks = "\n".join(f"  - deskcheck_{kind}" for kind in lines)
        (folder / "deskcheck.yaml").write_text(_GROUP.format(tasks=tasks), encoding="utf-8")
        (folder / "deskcheck_tasks.py").write_text(_MODULE, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}.") from error
    return Counter({kind: len(some) for kind, some in lines.items()}), left


def documents(path: Path) -> list[dict[str, str]]:
    """The questions of a file as documents of the harness: ``sample`` is all that scoring needs."""
    found = []
    for line in lines_of(path):
        sample = sample_in(line.raw)
        row = {"id": sample.id, "prompt": sample.prompt, "answer": sample.answer}
        found.append(row | {"sample": json.dumps(sample.to_dict())})
    return found


def score(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """``process_results`` of the tasks: the score of an answer, and the metrics of its kind."""
    found = score_answer(sample_in(doc["sample"].encode()), results[0])
    return {"score": found.score, **found.metrics}
