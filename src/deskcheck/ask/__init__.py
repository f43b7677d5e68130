"""Questions about recordings for language models, with scoring and statistics.

Questions, prompts, parsing and scoring are plain functions over deskcheck's rows. Models are reached through
Inspect AI (the extra ``deskcheck[ask]``), which is imported only where it is used.
"""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily

__all__ = [
    "BASELINES",
    "BENCHMARKS",
    "METHODS",
    "NOTEBOOK_QUESTIONS",
    "QUESTIONS",
    "AnswerScore",
    "AskSettings",
    "Baseline",
    "BenchmarkReader",
    "Effect",
    "Generation",
    "Horizon",
    "Interval",
    "Method",
    "NotebookOptions",
    "Question",
    "Result",
    "Sample",
    "Sampling",
    "ScoredSample",
    "StepOptions",
    "Steps",
    "Unfit",
    "ask",
    "ask_benchmark",
    "baseline",
    "compare",
    "effects",
    "mean_interval",
    "method",
    "paired_difference",
    "question",
    "sample_about",
    "score_answer",
]

if TYPE_CHECKING:
    from deskcheck.ask.baselines.stand_ins import BASELINES, Baseline, baseline
    from deskcheck.ask.inspect.settings import Generation
    from deskcheck.ask.methods.solvers import METHODS, Method, method
    from deskcheck.ask.questions.benchmarks import BENCHMARKS
    from deskcheck.ask.questions.notebooks import NOTEBOOK_QUESTIONS
    from deskcheck.ask.questions.questions import QUESTIONS, question
    from deskcheck.ask.questions.reader import BenchmarkReader
    from deskcheck.ask.questions.settings import NotebookOptions, Sampling
    from deskcheck.ask.results.effects import Effect, effects
    from deskcheck.ask.results.results import Result
    from deskcheck.ask.results.rows import ScoredSample
    from deskcheck.ask.results.statistics import Interval, mean_interval, paired_difference
    from deskcheck.ask.results.steps import Horizon, Steps
    from deskcheck.ask.run import ask, ask_benchmark, compare
    from deskcheck.ask.samples.kind import Question, sample_about
    from deskcheck.ask.samples.places import Unfit
    from deskcheck.ask.samples.sample import Sample
    from deskcheck.ask.samples.steps import StepOptions
    from deskcheck.ask.scoring.score import AnswerScore, score_answer
    from deskcheck.ask.settings import AskSettings

__getattr__, __dir__ = lazily(
    __name__,
    {
        "baselines.stand_ins": ("BASELINES", "Baseline", "baseline"),
        "inspect.settings": ("Generation",),
        "methods.solvers": ("METHODS", "Method", "method"),
        "questions.notebooks": ("NOTEBOOK_QUESTIONS",),
        "questions.questions": ("QUESTIONS", "question"),
        "questions.settings": ("NotebookOptions", "Sampling"),
        "questions.benchmarks": ("BENCHMARKS",),
        "questions.reader": ("BenchmarkReader",),
        "results.effects": ("Effect", "effects"),
        "results.results": ("Result",),
        "results.rows": ("ScoredSample",),
        "results.statistics": ("Interval", "mean_interval", "paired_difference"),
        "results.steps": ("Horizon", "Steps"),
        "run": ("ask", "ask_benchmark", "compare"),
        "samples.kind": ("Question", "sample_about"),
        "samples.places": ("Unfit",),
        "samples.sample": ("Sample",),
        "samples.steps": ("StepOptions",),
        "scoring.score": ("AnswerScore", "score_answer"),
        "settings": ("AskSettings",),
    },
)
