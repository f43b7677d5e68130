"""Models whose every answer is decided by a test, and the question, place and loop that methods work with."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deskcheck_methods.bench import Bench, Completion, Request, solved
from deskcheck_methods.place import TRIED, ProgramRunner
from deskcheck_methods.registry import scaffold_of
from deskcheck_methods.visible import Puzzle, puzzle_of

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.samples.sample import Sample
from deskcheck.fences import fenced_code
from deskcheck.sandbox import Sandbox
from deskcheck.sources.sets.coding import CodingTask

QUICK = replace(TRIED, cpu_s=0.5)
"""What a test can wait for."""
Script = Callable[[str, Request], str]
"""From the last message, and all of what is asked, to a completion."""


def said(code: str) -> str:
    """A program as a completion."""
    return f"{OPEN}\n{fenced_code(code)}\n{CLOSE}"


def coding(id_: str = "half", **fields: Any) -> Sample:
    """A sample of a task: by default half of a number, with a visible and a hidden test."""
    given: dict[str, Any] = {
        "prompt": "Give half of a number.",
        "entry_point": "f",
        "visible_tests": ("assert f(8) == 4",),
        "tests": ("assert f(6) == 3", "assert f(10) == 5"),
        "reference": "def f(x):\n    return x / 2\n",
    }
    return program_sample(CodingTask(id=id_, **(given | fields)))


def puzzle(sample: Sample) -> Puzzle:
    return puzzle_of(sample.id, sample.question, sample.data, sample.prompt)


class Scripted:
    """A model. asked: what it was asked, in order."""

    def __init__(self, script: Script, *, tokens: tuple[int, int] = (100, 20)) -> None:
        self.script = script
        self.tokens = tokens
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Completion:
        self.asked.append(request)
        text = self.script(request.messages[-1].text, request)
        return Completion(
            text=text, stop_reason="stop", input_tokens=self.tokens[0], output_tokens=self.tokens[1]
        )

    @property
    def prompts(self) -> list[str]:
        return [request.messages[-1].text for request in self.asked]


def in_turn(*completions: str) -> Script:
    """These, one after the other; the last again and again."""
    left = [*completions]
    return lambda prompt, request: left.pop(0) if len(left) > 1 else left[0]


def by(name: str, sample: Sample, model: Scripted, place: Sandbox | ProgramRunner, **options: Any) -> Bench:
    """A question answered by a method."""
    scaffold, chosen = scaffold_of(name, options)
    bench = Bench(
        puzzle(sample), model, ProgramRunner(place, QUICK) if isinstance(place, Sandbox) else place, chosen
    )
    return asyncio.run(solved(bench, scaffold.solve))


def drawn(seed: str, right: str, wrong: list[str], share: float) -> Script:
    """A right program with the chance `share`, else one of the wrong ones, each as likely."""
    rng = random.Random(seed)
    return lambda prompt, request: said(right if rng.random() < share else rng.choice(wrong))
