"""Our questions as tasks of EleutherAI's lm-evaluation-harness, scored by us.

A folder of tasks has for each kind of question ``deskcheck_KIND.yaml`` and ``KIND.jsonl``, a group
``deskcheck.yaml`` of all, and ``deskcheck_tasks.py``, by which the harness loads questions and has answers
scored. The harness needs deskcheck in its environment. Kinds whose answers are run are left out.
"""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskcheck.ask.answers.parsing import CLOSE
from deskcheck.ask.questions.lines import Questions, lines_of, sample_in
from deskcheck.ask.scoring.score import METRICS, RUN_FORMS, score_answer
from deskcheck.recording import InputError

MAX_TOKENS = 2048
"""The limit of an answer without ``--gen_kwargs max_gen_toks=...``."""

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
    """Write a file of questions as tasks into a folder. Return by kind how many are in it, and how many are
    left out. In a file of several views of the state, each view is a kind.

    Raises InputError: the questions cannot be read, or none of them can be a task; the folder has other
    files, or cannot be written.
    """
    path, folder = Path(questions), Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is not an empty folder. Choose another one for the tasks.")
    lines: dict[str, list[bytes]] = {}
    metrics: dict[str, dict[str, None]] = {}
    left_out: Counter[str] = Counter()
    kinds = Questions(path).names
    several = len({kind for kind, _ in kinds}) < len(kinds)
    for line in lines_of(path):
        sample = sample_in(line.raw)
        form = sample.data["form"]
        if form in RUN_FORMS:
            left_out[sample.question] += 1
            continue
        name = "_".join(filter(None, (sample.question, sample.view if several else "")))
        lines.setdefault(name, []).append(line.raw.rstrip(b"\n") + b"\n")
        metrics.setdefault(name, {"score": None}).update(dict.fromkeys(METRICS.get(form, ())))
    if not lines:
        raise InputError(
            f"{path}: none of its questions can be a task: answers of {', '.join(left_out)} are run."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, lines_of_kind in lines.items():
            (folder / f"{kind}.jsonl").write_bytes(b"".join(lines_of_kind))
            metric_list = "\n".join(_METRIC.format(name=name) for name in metrics[kind])
            task = _TASK.format(kind=kind, tokens=MAX_TOKENS, metrics=metric_list)
            (folder / f"deskcheck_{kind}.yaml").write_text(task, encoding="utf-8")
        tasks = "\n".join(f"  - deskcheck_{kind}" for kind in lines)
        (folder / "deskcheck.yaml").write_text(_GROUP.format(tasks=tasks), encoding="utf-8")
        (folder / "deskcheck_tasks.py").write_text(_MODULE, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}.") from error
    return Counter({kind: len(lines_of_kind) for kind, lines_of_kind in lines.items()}), left_out


def documents(path: Path) -> list[dict[str, str]]:
    """The questions of a file as documents of the harness, each with the ``sample`` for scoring."""
    samples = [sample_in(line.raw) for line in lines_of(path)]
    return [
        {
            "id": sample.id,
            "prompt": sample.prompt,
            "answer": sample.answer,
            "sample": json.dumps(sample.to_dict()),
        }
        for sample in samples
    ]


def score(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """``process_results`` of the tasks: the score of an answer, and the metrics of its kind. The tasks end an
    answer at [/ANSWER], which the harness removes."""
    scored = score_answer(sample_in(doc["sample"].encode()), results[0], stop_reason=CLOSE)
    return {"score": scored.score, **scored.metrics}
