"""Questions about recordings, put to language models; marking; statistics.

Questions, prompts, parsing and marking are plain functions over our own rows. The models are reached through
Inspect AI (the extra ``deskcheck[ask]``), which is imported only where it is used.
"""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily

__all__ = [
    "BASELINES",
    "METHODS",
    "NOTEBOOK_QUESTIONS",
    "QUESTIONS",
    "SUITES",
    "AskSettings",
    "Baseline",
    "Effect",
    "Generation",
    "Horizon",
    "Interval",
    "Mark",
    "Marked",
    "Method",
    "NotebookOptions",
    "Question",
    "Result",
    "Sample",
    "Sampling",
    "StepOptions",
    "Steps",
    "Suite",
    "Unfit",
    "ask",
    "ask_suite",
    "baseline",
    "compare",
    "effects",
    "mark",
    "mean_interval",
    "method",
    "paired_difference",
    "question",
    "sample_about",
]

if TYPE_CHECKING:
    from deskcheck.ask.baselines.stand_ins import BASELINES, Baseline, baseline
    from deskcheck.ask.inspect.settings import Generation
    from deskcheck.ask.methods.solvers import METHODS, Method, method
    from deskcheck.ask.questions.notebooks import NOTEBOOK_QUESTIONS
    from deskcheck.ask.questions.questions import QUESTIONS, question
    from deskcheck.ask.questions.settings import NotebookOptions, Sampling
    from deskcheck.ask.questions.suites import SUITES, Suite
    from deskcheck.ask.results.effects import Effect, effects
    from deskcheck.ask.results.results import Marked, Result
    from deskcheck.ask.results.statistics import Interval, mean_interval, paired_difference
    from deskcheck.ask.results.steps import Horizon, Steps
    from deskcheck.ask.run import ask, ask_suite, compare
    from deskcheck.ask.samples.kind import Question, sample_about
    from deskcheck.ask.samples.places import Unfit
    from deskcheck.ask.samples.sample import Sample
    from deskcheck.ask.samples.steps import StepOptions
    from deskcheck.ask.scoring.marking import Mark, mark
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
        "questions.suites": ("SUITES", "Suite"),
        "results.effects": ("Effect", "effects"),
        "results.results": ("Marked", "Result"),
        "results.statistics": ("Interval", "mean_interval", "paired_difference"),
        "results.steps": ("Horizon", "Steps"),
        "run": ("ask", "ask_suite", "compare"),
        "samples.kind": ("Question", "sample_about"),
        "samples.places": ("Unfit",),
        "samples.sample": ("Sample",),
        "samples.steps": ("StepOptions",),
        "scoring.marking": ("Mark", "mark"),
        "settings": ("AskSettings",),
    },
)
