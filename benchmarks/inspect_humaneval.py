"""HumanEval as inspect_evals scores it, in a sandbox of ours: references must pass, broken answers must fail.

    python benchmarks/inspect_humaneval.py HumanEval.jsonl [--sandbox deskcheck:strict] [--limit 40]

The task's own scorer runs, with answers that a mock model gives: the references, then bodies that only raise.
Needs `pip install inspect_evals` beside deskcheck[ask]; the rows come from the file, so no network.
"""

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_evals.humaneval.humaneval import verify

from deskcheck.ask.inspect.tasks import count_offline


def scores(rows: list[dict[str, Any]], answers: list[str], sandbox: str) -> tuple[list[str], float]:
    """The score of each answer, and seconds."""
    kind, _, config = sandbox.partition(":")
    samples = [
        Sample(
            id=row["task_id"],
            input=row["prompt"],
            metadata={"prompt": row["prompt"], "test": row["test"], "entry_point": row["entry_point"]},
        )
        for row in rows
    ]
    model = get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", text) for text in answers]
    )
    count_offline(model)
    task = Task(dataset=samples, scorer=verify(), sandbox=(kind, config) if config else kind)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as logs:
        # One sample at a time: the mock model gives its answers in order.
        (log,) = inspect_eval(
            task, model=model, log_dir=logs, display="none", max_samples=1, max_connections=1
        )
        if log.status != "success" or log.samples is None:
            raise SystemExit(f"the evaluation ended with {log.status}: {log.error}")
        found = {sample.id: sample.scores["verify"].value for sample in log.samples if sample.scores}
    return [str(found[row["task_id"]]) for row in rows], time.monotonic() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sandbox", default="deskcheck:strict")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    opened = gzip.open if given.file.suffix == ".gz" else open
    with opened(given.file, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream][: given.limit]
    for what, answers in (
        ("references", [row["canonical_solution"] for row in rows]),
        ("broken", ["    raise NotImplementedError\n" for _ in rows]),
    ):
        given_scores, seconds = scores(rows, answers, given.sandbox)
        passed = given_scores.count("C")
        print(f"{given.sandbox}: {what}: {passed} of {len(rows)} pass, {seconds:.1f} s")
        if what == "references":
            failing = [row["task_id"] for row, score in zip(rows, given_scores, strict=True) if score != "C"]
            print("  fail:", ", ".join(failing) or "none")


if __name__ == "__main__":
    main()
