"""The page of a benchmark of a project, built from `web/src/bench.tsx`."""

import shlex
from datetime import UTC, datetime
from typing import Any

from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.results.project_benchmark import QUESTIONS_FILE, RECORDINGS, Benchmark, BenchmarkKind
from deskcheck.ask.results.statistics import bounds_text, few_clusters
from deskcheck.view.page import page_of

_FAILING, _FAILING_CHARS = 100, 600
"""Maximum number of failed tests on the page, and of characters in the reason of each."""


def bench_page(benchmark: Benchmark) -> str:
    """The page as HTML: contents of the benchmark, omissions with reasons, and how it was made."""
    facts = bench_facts(benchmark)
    return page_of("bench", facts["title"], facts, bundle="document")


def bench_facts(benchmark: Benchmark) -> dict[str, Any]:
    """The data of the page, JSON-able."""
    folder = benchmark.folder
    recordings = shlex.quote(f"{folder}/{RECORDINGS}")
    questions = shlex.quote(f"{folder}/{QUESTIONS_FILE}")
    version = f" {benchmark.version}" if benchmark.version else ""
    created = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC · deskcheck {benchmark.deskcheck}"
    oracle = [(kind.name, score) for kind in benchmark.kinds if (score := kind.scores.get("oracle"))]
    failing = list(benchmark.failing.items())
    return benchmark.to_dict() | {
        "title": f"A benchmark of {benchmark.name}{version}",
        "facts": f"{created} · Python {benchmark.interpreter.version} · {_licence_text(benchmark)}",
        "ask": f"deskcheck ask {recordings} --question all --model MODEL",
        "offline_score": f"deskcheck offline score {questions} ANSWERS --out {folder}/scores",
        "questions_file": QUESTIONS_FILE,
        "kinds": [_kind_facts(kind) for kind in benchmark.kinds],
        "few_clusters": few_clusters((name, score.effective) for name, score in oracle),
        "failing": {test: reason.strip()[:_FAILING_CHARS] for test, reason in failing[:_FAILING]},
        "failing_more": max(0, len(failing) - _FAILING),
    }


def _licence_text(benchmark: Benchmark) -> str:
    if benchmark.licence is None:
        return "no licence is stated: without one, the code may not be passed on"
    return f"licence: {benchmark.licence['name']}, as {benchmark.licence['where']} says"


def _kind_facts(kind: BenchmarkKind) -> dict[str, Any]:
    oracle, guess = kind.scores.get("oracle"), kind.scores.get("guess")
    return {
        "name": kind.name,
        "about": QUESTIONS[kind.name].about,
        "samples": kind.samples,
        "functions": kind.functions,
        "oracle": oracle and oracle.value,
        "guess": guess and guess.value,
        "guess_bounds": guess and bounds_text(guess.low, guess.high, form=".2f", between="–"),  # noqa: RUF001
        "excluded": dict(kind.excluded),
    }
