"""Questions about recordings, put to language models; marking; statistics.

Questions, prompts, parsing and marking are plain functions over our own rows. The models are reached through
Inspect AI (the extra ``deskcheck[ask]``), which is imported only where it is used.
"""

from deskcheck.ask.effects import Effect, effects
from deskcheck.ask.marking import Mark, mark
from deskcheck.ask.notebooks import NOTEBOOK_QUESTIONS, NotebookOptions
from deskcheck.ask.questions import QUESTIONS, Question
from deskcheck.ask.run import Marked, Result, ask, ask_suite, compare
from deskcheck.ask.sample import Sample
from deskcheck.ask.solvers import METHODS
from deskcheck.ask.statistics import Interval, mean_interval, paired_difference
from deskcheck.ask.steps import Horizon, Steps
from deskcheck.ask.suites import SUITES, Suite

__all__ = [
    "METHODS",
    "NOTEBOOK_QUESTIONS",
    "QUESTIONS",
    "SUITES",
    "Effect",
    "Horizon",
    "Interval",
    "Mark",
    "Marked",
    "NotebookOptions",
    "Question",
    "Result",
    "Sample",
    "Steps",
    "Suite",
    "ask",
    "ask_suite",
    "compare",
    "effects",
    "mark",
    "mean_interval",
    "paired_difference",
]
