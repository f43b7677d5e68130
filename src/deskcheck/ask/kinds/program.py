"""Questions whose answer is a program: written, completed, repaired or edited, and judged by hidden tests.

They are made of tasks (`sources.sets.coding`), not of recordings. `scoring.programs` scores the answers.
"""

import re
from dataclasses import asdict

from deskcheck.ask.samples.guessing import guesses, labelled
from deskcheck.ask.samples.prompts import WORK_ON, program_parts
from deskcheck.ask.samples.sample import Sample
from deskcheck.sources.sets.coding import CodingTask

PROGRAM, SELF_INVOKING, SPEED = "program", "self_invoking", "speed"
"""Kinds of question. The second scores both parts of an answer separately; the third counts its events."""

FORMS = frozenset({PROGRAM, SELF_INVOKING, SPEED})
"""Forms of their answers."""

ABOUT = {
    PROGRAM: "a function, class or script that passes hidden tests",
    SELF_INVOKING: "two functions, one of which uses the other; each part is scored separately",
    SPEED: "a program that does the same in fewer steps",
}


def program_sample(task: CodingTask) -> Sample:
    """A task as a question. Of a task without a reference the oracle has no answer, and scores 0."""
    fast = task.task == "speed"
    kind = SPEED if fast else SELF_INVOKING if task.parts else PROGRAM
    return Sample(
        id=f"{task.id}:{kind}",
        question=kind,
        program=task.id,
        cluster=task.family or task.id,
        parts=program_parts(task),
        answer=task.reference or "",
        data={
            "form": kind,
            "task": task.task,
            "code": task.code,
            "visible_tests": list(task.visible_tests),
            "entry_point": task.entry_point,
            "setup": task.setup,
            "driver": task.driver,
            "test_setup": task.test_setup,
            "tests": list(task.tests),
            "cases": [asdict(case) for case in task.cases],
            "modules": list(task.modules),
            "parts": dict(task.parts),
            "known_bad": [*task.known_bad, *([task.code] if fast else [])],
            **({"slow": task.code} if fast else {}),
            **({"unittest": task.unittest} if task.unittest else {}),
            **({"checker": task.checker} if task.checker else {}),
            **({"environment": task.environment} if task.environment else {}),
        },
    )


_SHOWN_CODE = re.compile(
    rf"^(?:{WORK_ON['repair']}|{WORK_ON['edit']}):\n(`{{3,}})python\n(.*?)\n\1$", re.DOTALL | re.MULTILINE
)


@guesses("program")
def _guessed_program(prompt: str) -> str:
    """The code to repair or edit, unchanged; else a function that returns None, or an empty script."""
    if block := _SHOWN_CODE.search(prompt):
        return block[2]
    name = labelled(prompt, "Name to define")
    return f"def {name}(*args, **kwargs):\n    return None" if name else "pass"
