"""Tries arguments of a function in the sandbox, and keeps those that are worth recording.

An input is kept if it runs a new line, steps between two lines for the first time, or ends in a new way: with
another outcome, exception, type or size of result. If fewer than the wanted number are kept, inputs with
another result follow. An input that runs no line of the function is dropped.

Not covered: data that a function reads besides its arguments, and branches that very few arguments
reach, say one number in a thousand.
"""

import ast
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deskcheck.recording import InputError, Outcome, Program, RunResult
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import Tracing
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.sources.inputs.branches import EXIT, Arc, Coverable, arcs_of, coverable_of
from deskcheck.sources.inputs.candidates import candidates, parameters
from deskcheck.sources.inputs.targets import Target, function_node
from deskcheck.tracer.limits import TraceLimits

WAYS = ("known", "hints", "hypothesis")
_ENDLESS = 3
"""The search for a function ends after this many inputs that a limit stopped."""
_EVENTS = 3000
_WRONG_TYPE = ("TypeError", "AttributeError")


@dataclass(frozen=True, slots=True)
class FoundInput:
    """An input that was kept."""

    arguments: str
    """As source text, with parentheses."""
    way: str
    """The way in which it was made: one of `WAYS`, or ``model``."""
    new: tuple[str, ...]
    """The reasons for keeping it: new ``lines``, ``branches`` or ``ending``; otherwise a new ``result``."""
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Search:
    """Inputs for a function, and the numbers of lines and branches that they run."""

    inputs: tuple[FoundInput, ...]
    tried: int
    stopped: int
    """Number of tried inputs that a limit stopped."""
    lines_run: int
    lines: int
    branches_run: int
    branches: int
    dropped: Counter[str]
    """Reason -> number of tried inputs that could not be kept."""
    files: tuple[str, ...]
    """Names, as in events, of the files whose code the kept inputs ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The effort of a search for one function."""

    per_function: int = 10
    """The largest number of inputs to keep."""
    budget: int = 60
    """The largest number of runs."""
    ways: tuple[str, ...] = ("known", "hints")
    """Some of `WAYS`."""


Watch = Callable[[Program], tuple[RunResult, frozenset[Arc]]]
"""Runs a call, and returns its result and its steps in recorded files."""


def find_inputs(
    program: Program,
    known_inputs: Sequence[str] = (),
    *,
    sandbox: Sandbox,
    per_function: int = 10,
    budget: int = 60,
    ways: Sequence[str] = ("known", "hints"),
    rng: random.Random | None = None,
    propose: Callable[[str], str] | None = None,
) -> Search:
    """Inputs for the function that a program calls. The program's arguments are ignored.

    If the function has parameters without type hints, an input that ends in TypeError or AttributeError
    counts as one of the wrong type, and is dropped.

    known_inputs: argument lists as source text, such as ``(1, 2)``, tried first. per_function: the largest
    number of inputs to keep. budget: the largest number of runs.
    propose: asks a model once, prompt -> answer.

    Raises:
        InputError: a call could not be run because of the sandbox.
    """
    assert program.entry is not None
    node = function_node(program.code, program.entry)
    target = Target(program.source, program, program.code, program.filename, node, tuple(known_inputs))
    effort = Effort(per_function=per_function, budget=budget, ways=tuple(ways))

    def watch(program: Program) -> tuple[RunResult, frozenset[Arc]]:
        run_result, blocks = run_watched(sandbox, program)
        return run_result, frozenset(arcs_of(blocks))

    return search(target, effort, watch, rng or random.Random("0"), propose)


def run_watched(
    sandbox: Sandbox,
    program: Program,
    limits: Limits | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[RunResult, list[bytes]]:
    """Run a call, and return its result and the encoded blocks of its first events, about 3,000."""
    blocks: list[bytes] = []
    tracing = Tracing(blocks.append, TraceLimits(events=_EVENTS))
    run_result = sandbox.run_one(program, tracing=tracing, limits=limits, cancelled=cancelled)
    return run_result, blocks


def search(
    target: Target,
    effort: Effort,
    watch: Watch,
    rng: random.Random,
    propose: Callable[[str], str] | None = None,
    *,
    go_on: Callable[[], bool] = lambda: True,
) -> Search:
    """Inputs for a function, like `find_inputs`. go_on: called before each run; the search ends if it is
    false."""
    entry = target.program.entry or ""
    offered = candidates(
        target.text,
        entry,
        target.node,
        known_inputs=target.known_inputs,
        ways=effort.ways,
        rng=rng,
        propose=propose,
        receiver=target.receiver,
    )
    judge = _Judge(target, coverable_of(target.text, target.node))
    tried: set[str] = set()
    offer = next(offered, None)
    while offer is not None and len(tried) < effort.budget and judge.stopped < _ENDLESS and go_on():
        way, arguments = offer
        returned = False
        if arguments not in tried:
            tried.add(arguments)
            run_result, steps = watch(replace(target.program, arguments=arguments))
            if run_result.outcome is Outcome.HARNESS_ERROR:
                raise InputError(f"{entry}{arguments:.80}: could not be run: {run_result.detail}")
            returned = run_result.outcome is Outcome.RETURNED
            judge.take(arguments, way, run_result, steps)
        try:
            # Candidates vary arguments with which the function returned.
            offer = offered.send(returned)
        except StopIteration:
            break
    return judge.verdict(len(tried), effort.per_function)


class _Judge:
    """Decides which inputs are kept, one after the other."""

    def __init__(self, target: Target, coverable: Coverable) -> None:
        node = target.node
        self.file, self.coverable = target.file, coverable
        self.typed = node is not None and all(
            parameter.annotation is not None for parameter in parameters(node)
        )
        self.lines: set[tuple[str, int]] = set()
        self.steps: set[Arc] = set()
        self.endings: set[tuple[str, ...]] = set()
        self.chosen: list[tuple[FoundInput, frozenset[Arc]]] = []
        self.others: dict[str, tuple[FoundInput, frozenset[Arc]]] = {}
        self.dropped: Counter[str] = Counter()
        self.stopped = 0

    def take(self, arguments: str, way: str, run_result: RunResult, steps: frozenset[Arc]) -> None:
        reason = self._why_not(run_result, steps)
        if reason is not None:
            self.dropped[reason] += 1
            return
        seen_now: dict[str, tuple[set[Any], set[Any]]] = {
            "lines": ({(step.file, step.line) for step in steps if step.line != EXIT}, self.lines),
            "branches": ({*steps}, self.steps),
            "ending": ({_class_of(run_result)}, self.endings),
        }
        new = tuple(name for name, (values, before) in seen_now.items() if not values <= before)
        if new:
            for values, before in seen_now.values():
                before |= values
            self.chosen.append((FoundInput(arguments, way, new, run_result.outcome), steps))
        elif run_result.outcome is Outcome.RETURNED and run_result.result is not None:
            self.others.setdefault(
                run_result.result, (FoundInput(arguments, way, ("result",), run_result.outcome), steps)
            )

    def _why_not(self, run_result: RunResult, steps: frozenset[Arc]) -> str | None:
        match run_result.outcome:
            case Outcome.RAISED if not self.typed and run_result.exception in _WRONG_TYPE:
                return "of the wrong type"
            case Outcome.RETURNED | Outcome.RAISED:
                ran_own_line = any(
                    step.file == self.file and step.line in self.coverable.lines for step in steps
                )
                return None if ran_own_line or not self.coverable.lines else "ran none of its lines"
            case Outcome.EXITED:
                return "ended the interpreter"
        self.stopped += 1
        return "stopped by a limit"

    def verdict(self, tried: int, per_function: int) -> Search:
        # Inputs that run new code come first, then those that end in a new way, then those with a new result.
        chosen = sorted(
            self.chosen, key=lambda pair: "lines" not in pair[0].new and "branches" not in pair[0].new
        )
        chosen = [*chosen, *self.others.values()][:per_function]
        steps = {step for _, its_steps in chosen for step in its_steps}
        lines, branches = self.coverable.covered_by(steps, self.file)
        return Search(
            tuple(kept_input for kept_input, _ in chosen),
            tried,
            self.stopped,
            len(lines),
            len(self.coverable.lines),
            len(branches),
            len(self.coverable.branches),
            self.dropped,
            tuple(sorted({step.file for step in steps})),
        )


def _class_of(run_result: RunResult) -> tuple[str, ...]:
    """The class of an ending: outcome, exception, type of the result, and its approximate size."""
    if run_result.result is None:
        return run_result.outcome, run_result.exception or ""
    try:
        value = ast.literal_eval(run_result.result)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return run_result.outcome, re.match(r"\W*\w*", run_result.result)[0]  # type: ignore[index]  # always matches
    size = ""
    if isinstance(value, bool) or value is None:
        size = str(value)
    elif isinstance(value, (int, float)) and math.isfinite(value):
        size = f"{(value > 0) - (value < 0)}{len(str(int(abs(value))))}"
    elif isinstance(value, (str, bytes, list, tuple, dict, set)):
        size = str(len(value).bit_length())
    return run_result.outcome, type(value).__name__, size
