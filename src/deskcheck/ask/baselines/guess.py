"""The model ``deskcheck/guess``, which answers without working anything out. A score means little until it is
well above this.

It sees only the prompt. Each kind of question has its own guess (`samples.guessing`).
"""

import deskcheck.ask.kinds.cells  # adds its guesses
import deskcheck.ask.questions.benchmarks  # adds its guesses
import deskcheck.ask.questions.questions  # noqa: F401  # adds its guesses
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.kinds.step import guessed_step
from deskcheck.ask.methods.solvers import completion_of
from deskcheck.ask.samples.guessing import GUESSES
from deskcheck.ask.samples.prompts import TASKS, YOURS
from deskcheck.notation.forms.explained_steps import explained_in


def completion(prompt: str) -> str:
    """The guess for a prompt; a word without an answer if the prompt is not deskcheck's."""
    form = next((form for form, task in TASKS.items() if prompt.startswith(task)), None)
    notation = "dynamic" if form is not None else explained_in(prompt)
    above, marker, question = prompt.partition(f"\n\n{YOURS}\n\n")
    if notation is None:
        return "I cannot even guess."
    if not marker:  # there is no example
        question = above
    if form in (None, "step"):
        return completion_of(prompt, "step", guessed_step(question, notation))
    return completion_of(prompt, form, GUESSES[form](question))


def nothing(prompt: str) -> str:
    """The model ``deskcheck/empty``: an answer that is read, and is empty."""
    return f"{OPEN}{CLOSE}"
