"""What several answers of one model to one question say: pass@k, the majority's answer, consistency.

Answers are compared as `answers.values.same` compares them: two that write down one value are one answer.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from deskcheck.ask.answers.parsing import value_in
from deskcheck.ask.answers.values import canonical

KS = (1, 2, 5, 10, 20, 50, 100)
"""The k of pass@k that are told, as far as every question has so many answers."""


class Attempt(NamedTuple):
    """One answer: its score, and its vote; None where nothing could be read."""

    score: float
    vote: Hashable


def vote_of(answer: str | None) -> Hashable:
    """Equal for answers that write down the same value, or else the same text up to white space."""
    if answer is None:
        return None
    found = canonical(value_in(answer))
    return (" ".join(answer.split()),) if found is None else found


def pass_at(k: int, n: int, right: int) -> float:
    """The chance that of k answers, drawn from n of which so many are right, at least one is.

    The unbiased estimate of Chen et al. 2021 (arXiv:2107.03374, equation 1): 1 - C(n - right, k) / C(n, k).
    Raises ValueError unless 1 <= k <= n and 0 <= right <= n.
    """
    if not (1 <= k <= n and 0 <= right <= n):
        raise ValueError(f"pass@{k} of {n} answers, {right} of them right: there is no such thing")
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def majority(attempts: Sequence[Attempt]) -> float:
    """The score of the answer that was given most often; where several were, the mean of theirs. What could
    not be read has no vote; 0 where nothing could."""
    groups: dict[Hashable, list[float]] = {}
    for score, vote in attempts:
        if vote is not None:
            groups.setdefault(vote, []).append(score)
    if not groups:
        return 0.0
    most = max(map(len, groups.values()))
    first = [sum(scores) / most for scores in groups.values() if len(scores) == most]
    return sum(first) / len(first)


def consistency(attempts: Sequence[Attempt]) -> float:
    """The share of pairs of answers that are the same. What could not be read equals nothing."""
    counts: dict[Hashable, int] = {}
    for _, vote in attempts:
        if vote is not None:
            counts[vote] = counts.get(vote, 0) + 1
    n = len(attempts)
    return sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))


def measured(questions: Mapping[str, Sequence[Attempt]]) -> dict[str, dict[str, float]]:
    """Name of a measure -> question -> its value. Empty unless every question has at least two answers.

    An answer is right that scores 1.
    """
    least = min(map(len, questions.values()), default=0)
    if least < 2:
        return {}
    found = {
        f"pass@{k}": {
            id_: pass_at(k, len(given), sum(score >= 1 for score, _ in given))
            for id_, given in questions.items()
        }
        for k in sorted({*(k for k in KS if k <= least), least})
    }
    found["majority"] = {id_: majority(given) for id_, given in questions.items()}
    found["consistency"] = {id_: consistency(given) for id_, given in questions.items()}
    return found


def by_question(rows: Iterable[tuple[str, float, str | None]]) -> dict[str, list[Attempt]]:
    """Question -> its answers, from (question, score, answer)."""
    found: dict[str, list[Attempt]] = {}
    for id_, score, answer in rows:
        found.setdefault(id_, []).append(Attempt(score, vote_of(answer)))
    return found
