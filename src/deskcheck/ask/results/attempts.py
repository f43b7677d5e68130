"""Measures of several answers of one model to one question: pass@k, the majority's answer, consistency.

Answers are equal as `answers.values.same` compares them.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from deskcheck.ask.answers.values import canonical

KS = (1, 2, 5, 10, 20, 50, 100)
"""The k of pass@k, as far as every question has that many answers."""


class Attempt(NamedTuple):
    """The score of one answer, and its vote; None if nothing could be read."""

    score: float
    vote: Hashable


def vote_of(answer: str | None) -> Hashable:
    """Equal for answers with the same value, or else the same text up to white space."""
    if answer is None:
        return None
    value = canonical(answer)
    return (" ".join(answer.split()),) if value is None else value


def pass_at(k: int, n: int, right: int) -> float:
    """The chance that at least one of k answers is right, if they are drawn from n with that number of right
    ones (Chen et al. 2021, arXiv:2107.03374, equation 1). Raises ValueError for impossible numbers."""
    if not (1 <= k <= n and 0 <= right <= n):
        raise ValueError(f"pass@{k} of {n} answers, {right} of them right: impossible numbers")
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def majority(attempts: Sequence[Attempt]) -> float:
    """The score of the most frequent answer; the mean, if several are. Unreadable answers have no vote; 0
    without any vote."""
    groups: dict[Hashable, list[float]] = {}
    for score, vote in attempts:
        if vote is not None:
            groups.setdefault(vote, []).append(score)
    if not groups:
        return 0.0
    votes = max(map(len, groups.values()))
    first = [sum(scores) / votes for scores in groups.values() if len(scores) == votes]
    return sum(first) / len(first)


def consistency(attempts: Sequence[Attempt]) -> float:
    """The share of equal pairs of answers. An unreadable answer equals none."""
    counts: dict[Hashable, int] = {}
    for _, vote in attempts:
        if vote is not None:
            counts[vote] = counts.get(vote, 0) + 1
    total = len(attempts)
    return sum(count * (count - 1) for count in counts.values()) / (total * (total - 1))


def measured(questions: Mapping[str, Sequence[Attempt]]) -> dict[str, dict[str, float]]:
    """Measure -> question -> its value. Empty unless every question has at least two answers."""
    fewest = min(map(len, questions.values()), default=0)
    if fewest < 2:
        return {}
    counts = {id_: (len(scores), sum(score >= 1 for score, _ in scores)) for id_, scores in questions.items()}
    measures = {
        f"pass@{k}": {id_: pass_at(k, n, right) for id_, (n, right) in counts.items()}
        for k in sorted({*(k for k in KS if k <= fewest), fewest})
    }
    measures["majority"] = {id_: majority(attempts) for id_, attempts in questions.items()}
    measures["consistency"] = {id_: consistency(attempts) for id_, attempts in questions.items()}
    return measures


def by_question(rows: Iterable[tuple[str, float, str | None]]) -> dict[str, list[Attempt]]:
    """Question -> its attempts, from (question, score, answer)."""
    attempts: dict[str, list[Attempt]] = {}
    for id_, score, answer in rows:
        attempts.setdefault(id_, []).append(Attempt(score, vote_of(answer)))
    return attempts
