"""The words of a question. Every prompt asks for the answer between [ANSWER] and [/ANSWER] and has one worked
example, like the direct prompts of CRUXEval (Gu et al. 2024, arXiv:2401.03065, appendix C), but in other
words. If a question asks for line numbers, the prompt shows them, because lines with equal text are
ambiguous.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

from deskcheck.ask.samples.source import ShownSource
from deskcheck.fences import fenced, fenced_code
from deskcheck.notation.calls import called
from deskcheck.notation.forms.explained import EXPLAINED
from deskcheck.recording import Mode, Program
from deskcheck.sources.sets.coding import CodingTask

EXAMPLE, YOURS = "An example.", "Now yours."
STATE = "Variables of the kernel at this moment"
"""The beginning of the part with the variables, in every view."""
BEFORE = "Executed before, oldest first:"
NOW = "Executed now,"


@dataclass(frozen=True, slots=True)
class PromptWords:
    """The texts of a form of question that are the same in every prompt (``prompts.toml``)."""

    task: str
    """The task in a prompt."""
    example: str
    """The question and the answer of a worked example."""
    code: str
    """The program of the example."""
    numbered: bool
    """Whether programs are shown with line numbers."""


_SECTIONS = tomllib.loads(resources.files(__package__).joinpath("prompts.toml").read_text("utf-8"))
_SHARED: dict[str, str] = _SECTIONS.pop("shared")


def _words(task: str, example: str = "", code: str = _SHARED["code"], numbered: bool = True) -> PromptWords:
    task, example = (Template(text).substitute(_SHARED) for text in (task, example))
    return PromptWords(task, example, code, numbered)


WORDS = {form: _words(**section) for form, section in _SECTIONS.items()}
"""Form of a question -> its words."""
TASKS = {form: words.task for form, words in WORDS.items()}
TASKS["step"] = EXPLAINED["dynamic"].removesuffix("\n\n")
"""Form of a question -> the text with which its prompts begin."""


def add_words(form: str, section: Mapping[str, Any]) -> None:
    """Add the words of a form of question that its own file has. section: as those of ``prompts.toml``."""
    WORDS[form] = _words(**section)
    TASKS[form] = WORDS[form].task


def files_text(files: Sequence[ShownSource], *, numbered: bool) -> str:
    """The sources in fences. A single file needs no name."""
    texts = []
    for source in files:
        head = "Program:" if len(files) == 1 and source.is_complete else f"File {source.file}:"
        left_out = "" if source.is_complete else " (what does not matter here is left out)"
        texts.append(f"{head[:-1]}{left_out}:\n{fenced(source.text(numbered=numbered), 'python')}")
    return "\n\n".join(texts)


OBJECTS = (
    "Objects are written Class#number(attribute=value, ...), as they are when the call is made. Objects "
    "with one "
    "number are one object."
)
"""Stands below a call with objects as arguments."""


def functions_text(program: Program) -> str:
    """Stands below a call with functions, or objects of classes of the tests, among its arguments."""
    text_by_name = program.extra.get("functions")
    if not isinstance(text_by_name, dict) or not text_by_name:
        return ""
    texts = [
        f"<{'class' if text.startswith('class ') else 'function'} {name}>:\n{fenced(text, 'python')}"
        for name, text in text_by_name.items()
    ]
    return "\nFunctions and classes of the arguments, and what these use:\n" + "\n".join(texts)


def how_run(program: Program, source: str | None = None) -> str:
    """A phrase that says how a program is run. source: the text with the called function, if that is not the
    program's."""
    if program.mode is Mode.CALL:
        return called(program, source)
    if program.mode is Mode.SESSION:
        return "as typed at the interactive prompt, where the value of an expression is shown"
    return "as a script"


def parts_of(form: str, files: Sequence[ShownSource], question: str) -> dict[str, str]:
    """The parts of a prompt: the task, an example, the program, and this question."""
    words = WORDS[form]
    code = words.code
    if words.numbered:
        code = "\n".join(f"{number} | {line}" for number, line in enumerate(code.splitlines(), 1))
    return {
        "task": words.task,
        "example": f"{EXAMPLE}\n\nProgram:\n{fenced(code, 'python')}\n{words.example}",
        "program": f"{YOURS}\n\n{files_text(files, numbered=words.numbered)}",
        "question": question,
    }


def own_parts(task: str, files: Sequence[ShownSource], question: str, *, numbered: bool) -> dict[str, str]:
    """The parts of a prompt without an example, for a task that does not say where to write the answer."""
    return {
        "task": f"{task}\n{_SHARED['tags']}",
        "program": files_text(files, numbered=numbered),
        "question": question,
    }


WORK_ON = {
    "write": "",
    "complete": "Complete this code",
    "repair": "This code is wrong. Repair it",
    "edit": "Edit this code",
    "speed": "This code is right, and slow. Write one that does the same in fewer steps of Python",
}
"""Sentences about the code that a task gives, by `coding.WORK`."""


def program_parts(task: CodingTask) -> dict[str, str]:
    """The parts of a prompt that asks for a program: the work in general, this task, its code, its form."""
    work = TASKS["program"]
    if task.unittest:
        work = work.replace("the tests run outside of it", "the tests run in that process, too")
    parts = {"task": work, "program": task.prompt.rstrip()}
    if task.history:
        earlier = "\n\n".join(fenced_code(code) for code in task.history)
        parts["history"] = f"Earlier versions of the code, oldest first:\n{earlier}"
    if task.code:
        parts["code"] = f"{WORK_ON[task.task] or 'Code that is there'}:\n{fenced_code(task.code)}"
    if task.visible_tests:
        parts["tests"] = "Some of the tests:\n" + fenced_code("\n".join(task.visible_tests))
    modules = ", ".join(["the standard library", *task.modules])
    kind_of_program = (
        "A script: it reads standard input and prints to standard output."
        if task.entry_point is None
        else f"Name to define: {task.entry_point}"
    )
    return parts | {"question": f"Modules that are there: {modules}\n{kind_of_program}"}


def _of_view(view: str, form: str) -> str:
    """The sentence of a prompt that says which variables a view shows, and how they are written."""
    match view:
        case "names":
            return f"{STATE}, as name: type:"
        case "used" if form == "next_cell":
            which = " that the last cells read or bound"
        case "used":
            which = " that the cell depends on"
        case "time":
            return "Seconds that these cells took:"
        case "memory":
            return "Memory of the kernel after each of these cells:"
        case "history":
            return f"{STATE}, and after each of these cells those that it added, bound again or changed:"
        case "changed":
            which = " that the last cell added, bound again or changed"
        case _:
            which = ""
    return f"{STATE}{which}, as name: type = value:"


def notebook_parts(
    form: str, history: str, view: str, state: str, label: str, source: str, *, restarted: bool
) -> dict[str, str]:
    """The parts of a prompt about a notebook: the task, the cells before, the variables, the question.

    view: one of `VIEWS` or `PAST_VIEWS` of notebooks; with ``none`` the part with the variables is missing.
    state: the text of that view. label, source: of the cell that is executed now; empty if the question asks
    for it.
    """
    parts = {
        "task": TASKS[form],
        "history": f"{BEFORE}\n\n{history.rstrip()}",
    }
    if view != "none":
        state_text = state.rstrip() or "(none)"
        parts["state"] = f"{_of_view(view, form)}\n{fenced(state_text)}"
    question = "The kernel was restarted: all variables are gone.\n" if restarted else ""
    if form in ("cell_output", "crash"):
        question += f"{NOW} {label}:\n{fenced(source, 'python')}"
    else:
        question += "The next cell:"
    return parts | {"question": question}
