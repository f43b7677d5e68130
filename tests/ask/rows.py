"""Rows of answers, as logs of ours and of others hold them."""

import json
from pathlib import Path
from typing import Any

from deskcheck.ask.results.rows import ScoredSample

_ROW: dict[str, Any] = dict.fromkeys(
    ("program", "cluster", "question", "model", "solver", "completion", "answer", "expected", "reason"), "x"
)


def row_of(id_: str, score: float, **told: Any) -> ScoredSample:
    """An answer to one sample; of what is not told, something."""
    return ScoredSample(**_ROW | {"id": id_, "score": score, "data": "{}"} | told)


DATE = "2026-01-02T03-04-05.678901"


def samples_file(folder: Path, task: str, rows: list[dict[str, Any]], **told: Any) -> Path:
    """As lm-evaluation-harness names it, beside the results of the run. told: what these say."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{DATE}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / f"results_{DATE}.json").write_text(json.dumps(told))
    return path
