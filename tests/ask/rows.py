"""Rows of answers, as logs hold them."""

from typing import Any

from deskcheck.ask.results.results import Marked

_ROW: dict[str, Any] = dict.fromkeys(
    ("program", "cluster", "question", "model", "solver", "completion", "answer", "expected", "reason"), "x"
)


def row_of(id_: str, score: float, **told: Any) -> Marked:
    """An answer to one sample; of what is not told, something."""
    return Marked(**_ROW | {"id": id_, "score": score, "data": "{}"} | told)
