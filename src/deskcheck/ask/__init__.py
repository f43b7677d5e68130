"""Questions about recordings, put to language models; marking; statistics.

Questions, prompts, parsing and marking are plain functions over our own rows. The models are reached through
Inspect AI (the extra ``deskcheck[ask]``), which is imported only where it is used.
"""

from typing import TYPE_CHECKING, Any

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
    from deskcheck.ask.questions.questions import QUESTIONS, Question, Unfit, question, sample_about
    from deskcheck.ask.questions.sample import Sample
    from deskcheck.ask.questions.settings import NotebookOptions, Sampling
    from deskcheck.ask.questions.suites import SUITES, Suite
    from deskcheck.ask.results.effects import Effect, effects
    from deskcheck.ask.results.results import Marked, Result
    from deskcheck.ask.results.statistics import Interval, mean_interval, paired_difference
    from deskcheck.ask.results.steps import Horizon, Steps
    from deskcheck.ask.run import ask, ask_suite, compare
    from deskcheck.ask.scoring.marking import Mark, mark
    from deskcheck.ask.settings import AskSettings

_HOMES = {
    **dict.fromkeys(("BASELINES", "Baseline", "baseline"), "baselines.stand_ins"),
    **dict.fromkeys(("METHODS", "Method", "method"), "methods.solvers"),
    "NOTEBOOK_QUESTIONS": "questions.notebooks",
    **dict.fromkeys(("QUESTIONS", "Question", "Unfit", "question", "sample_about"), "questions.questions"),
    "Sample": "questions.sample",
    **dict.fromkeys(("SUITES", "Suite"), "questions.suites"),
    **dict.fromkeys(("Effect", "effects"), "results.effects"),
    **dict.fromkeys(("Marked", "Result"), "results.results"),
    **dict.fromkeys(("Interval", "mean_interval", "paired_difference"), "results.statistics"),
    **dict.fromkeys(("Horizon", "Steps"), "results.steps"),
    **dict.fromkeys(("ask", "ask_suite", "compare"), "run"),
    **dict.fromkeys(("Mark", "mark"), "scoring.marking"),
    "AskSettings": "settings",
    "Generation": "inspect.settings",
    **dict.fromkeys(("NotebookOptions", "Sampling"), "questions.settings"),
}


def __getattr__(name: str) -> Any:
    # On first use: settings are read by every command, and the models' library is large.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
