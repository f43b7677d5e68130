"""Our scoring as a scorer of Inspect's.

Its metrics are means and a standard error clustered by program: a metric that raises on part of a set ends
the run. Intervals are computed afterwards, from the log.
"""

import math
import os
from functools import cache

import anyio
from anyio.to_thread import run_sync
from inspect_ai.model import ChatMessageAssistant, ContentText
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import TaskState

from deskcheck.ask.inspect.solvers import sample_of
from deskcheck.ask.scoring.sandbox import score_in, shared
from deskcheck.ask.scoring.score import RUN_FORMS, Reading, score_answer


@cache
def _at_once() -> anyio.CapacityLimiter:
    # One event loop at a time: Inspect makes a new one per eval, and a limiter holds nothing between them.
    return anyio.CapacityLimiter(os.cpu_count() or 1)


def _stop_reason(state: TaskState) -> str | None:
    """The reason why the completion ended; None if a limit of Inspect's came before the first completion."""
    if not state.output.choices:
        return None
    return "refusal" if _refuses(state.output.message) else state.output.stop_reason


def _refuses(message: ChatMessageAssistant) -> bool:
    """Whether it is the provider's refusal instead of an answer."""
    parts = message.content if isinstance(message.content, list) else []
    return any(isinstance(part, ContentText) and bool(part.refusal) for part in parts)


@metric
def lenient() -> Metric:
    """The mean of the scores as a person would read the answers (`score.METRICS`)."""

    def mean_of(scores: list[SampleScore]) -> float:
        figures = [(each.score.metadata or {}).get("metrics", {}).get("lenient") for each in scores]
        values = [float(figure) for figure in figures if figure is not None]
        return sum(values) / len(values) if values else math.nan

    return mean_of


@metric
def unreadable() -> Metric:
    """The share of answers that are not in the form that was asked for."""

    def share(scores: list[SampleScore]) -> float:
        matches = [(each.score.metadata or {}).get("reading") == Reading.UNREADABLE for each in scores]
        return sum(matches) / len(matches) if matches else math.nan

    return share


@scorer(metrics=[mean(), stderr(cluster="cluster"), lenient(), unreadable()], name="scored")
def scored() -> Scorer:
    """The score of an answer. An answer that cannot be read scores 0 and stays in n."""

    async def score(state: TaskState, target: Target) -> Score:
        if "unfit" in state.metadata:
            return Score.unscored(explanation=state.metadata["unfit"])
        sample, completion, reason = sample_of(state), state.output.completion, _stop_reason(state)
        if sample.data["form"] in RUN_FORMS:  # starts a process and waits for it
            scored = await run_sync(
                lambda: score_in(shared(), sample, completion, stop_reason=reason), limiter=_at_once()
            )
        else:
            scored = score_answer(sample, completion, stop_reason=reason)
        return Score(
            value=scored.score,
            answer=scored.answer,
            explanation=scored.reason or None,
            metadata={
                "metrics": dict(scored.metrics),
                "reading": scored.reading.value,
                "stop_reason": reason,
            },
        )

    return score
