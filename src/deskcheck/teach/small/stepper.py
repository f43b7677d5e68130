"""The stepper: a model run as an interpreter. A state goes in, the next comes out; no history is kept.

The dynamic scratchpad of Execution Tuning (arXiv:2503.05703) with what makes it cheap: many programs at once,
those that have ended make room for others, each program is read once (`interpreter`). A step may lead several
events on: of the jumps that are allowed, the furthest is taken whose answer the model is sure enough of, else
the one that it is surest of (the paper's choice by likelihood).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskcheck.ask.methods.ground_truth import is_end
from deskcheck.notation import Moment, moments, state_text
from deskcheck.notation.divergence import RunAgreement, Stop, compare_runs
from deskcheck.notation.forms.dynamic import parse_dynamic
from deskcheck.notation.layout import program_text, step_prompt
from deskcheck.recording import InputError, Program, Recording
from deskcheck.recording.program import code_lines
from deskcheck.teach.small.interpreter import Rows, StepModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A program and the state that it is stepped from, in the notation `dynamic`."""

    program: Program
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedRun:
    """What a model made of a program. states: texts, the first of which it was given; jumps: how many events
    each other one is after the one before; nll: of each step, in nats, None where nobody tells. stop: why it
    ended; why: what could not be read."""

    start: Start
    states: tuple[str, ...]
    jumps: tuple[int, ...]
    nll: tuple[float | None, ...]
    stop: Stop
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The run, JSON-able."""
        run = {"states": self.states, "jumps": self.jumps, "nll": self.nll}
        return {**run, "stop": self.stop.value, "why": self.why}

    def against(self, true: Iterable[Moment]) -> RunAgreement:
        """This run against the true states, the first of which is the one that it was given."""
        predicted = [parse_dynamic(text).moments[-1] for text in self.states[1:]]
        return compare_runs(predicted, reached(true, self.jumps), self.stop)


_Answer = tuple[int, str, float | None, bool]
"""The jump, the state's text, its negative log probability, whether the answer ended."""


@dataclass(slots=True)
class _Going:
    """known: what the model said to the states before; the same, if one comes again: where it goes round for
    ever, only once does it cost anything."""

    start: Start
    code: list[str]
    states: list[str]
    known: dict[str, _Answer] = field(default_factory=dict)
    jumps: list[int] = field(default_factory=list)
    nll: list[float | None] = field(default_factory=list)


class Stepper:
    """Steps programs with a model.

    rows: programs at once. budget: steps of a program at most. longest: tokens of a prompt with its answer.
    jumps: numbers of events that a step may lead on; the model must have been taught each. sure: a jump is
    taken if its answer's negative log probability is at most so many nats.
    """

    def __init__(
        self,
        model: StepModel,
        *,
        rows: int = 64,
        budget: int = 1000,
        longest: int = 2048,
        jumps: Sequence[int] = (1,),
        sure: float = 0.05,
    ) -> None:
        if not jumps or min(jumps) < 1:
            raise InputError(f"jumps={list(jumps)} must be numbers of events, each at least 1.")
        self.model = model
        self.rows = rows
        self.budget = budget
        self.longest = longest
        self.jumps = sorted(set(jumps))
        self.sure = sure

    def run(
        self, starts: Iterable[Start], note: Callable[[int], None] = lambda steps: None
    ) -> Iterator[tuple[int, SteppedRun]]:
        """Steps every program to its end, and gives (its number among the starts, its run) as they end.

        note: is told how many steps were made, after each round.
        """
        waiting = iter(enumerate(starts))
        going: list[tuple[int, _Going]] = []
        read: Rows | None = None
        while True:
            fresh: list[tuple[int, _Going]] = []
            while len(going) + len(fresh) < self.rows:
                number, start = next(waiting, (-1, None))
                if start is None:
                    break
                fresh.append((number, _Going(start, code_lines(start.program.code), [start.state])))
            if fresh:
                texts = [program_text(program.start.program) for _, program in fresh]
                rows = self.model.read(texts, self.longest)
                if read is None:
                    read = rows
                else:
                    read.add(rows)
                going += fresh
            if not going or read is None:
                return
            ended = self._round(going, read)
            note(len(going))
            yield from ended
            ended_numbers = {number for number, _ in ended}
            if ended_numbers:
                rows_left = [row for row, (number, _) in enumerate(going) if number not in ended_numbers]
                going = [going[row] for row in rows_left]
                read.keep(rows_left)

    def _round(self, going: list[tuple[int, _Going]], read: Rows) -> list[tuple[int, SteppedRun]]:
        """One step of each; the runs that end with it."""
        chosen = self._choose([program for _, program in going], read)
        ended = []
        for (number, program), (jump, text, nll, complete) in zip(going, chosen, strict=True):
            parsed = parse_dynamic(text)
            if not complete or parsed.unreadable or len(parsed.moments) != 1:
                reason = parsed.unreadable[0].why if parsed.unreadable else "not exactly one state"
                reason = reason if complete else "the answer did not end"
                ended.append((number, _run(program, Stop.UNREADABLE, f"{reason}: {text[:200]!r}")))
                continue
            program.states.append(text)
            program.jumps.append(jump)
            program.nll.append(nll)
            if is_end(parsed.moments[0]):
                ended.append((number, _run(program, Stop.END)))
            elif len(program.jumps) >= self.budget:
                ended.append((number, _run(program, Stop.BUDGET)))
        return ended

    def _choose(self, going: Sequence[_Going], read: Rows) -> list[_Answer]:
        """The model's answer to the last state of each."""
        best = [program.known.get(program.states[-1]) for program in going]
        new = [row for row, found in enumerate(best) if found is None]
        for jump in reversed(self.jumps):  # the furthest first; those that are sure ask no other
            unsure = [row for row in new if (found := best[row]) is None or _doubt(found[2]) > self.sure]
            if not unsure:
                break
            answers = read.ask(
                {
                    row: (step_prompt(going[row].code, going[row].states[-1], jump), going[row].states[-1])
                    for row in unsure
                }
            )
            for row, answer in answers.items():
                found = best[row]
                better = found is None or _doubt(answer.nll) < _doubt(found[2])
                if found is None or not found[3] or (answer.ended and better):
                    best[row] = (jump, answer.text, answer.nll, answer.ended)
        for row in new:
            if (found := best[row]) is not None:
                going[row].known[going[row].states[-1]] = found
        return [found for found in best if found is not None]


def _doubt(nll: float | None) -> float:
    return math.inf if nll is None else nll


def start_of(recording: Recording) -> Start:
    """Where a recorded run begins. Raises InputError for a recording without events."""
    first = next(true_states(recording), None)
    if first is None:
        raise InputError(f"{recording.id}: has no events to step through.")
    return Start(program=recording.program, state=state_text(first))


def true_states(recording: Recording) -> Iterator[Moment]:
    """The states of a recording that a stepper is to give, the one that it starts from first."""
    return moments(recording.trace, file=recording.program.filename)


def exact_steps(
    model: StepModel, recording: Recording, *, rows: int = 64, longest: int = 2048, most: int | None = None
) -> Iterator[bool]:
    """For each step of a recorded run, from the true state: whether the model gives exactly the next one.

    Greedy decoding looks at nothing but the state, so the leading steps that are exact are those that the
    stepper would make from the first state; here many are computed at once. most: that many steps.
    """
    code = code_lines(recording.program.code)
    read = model.read([program_text(recording.program)], longest)
    pending: list[tuple[str, str]] = []
    before: str | None = None
    for number, moment in enumerate(true_states(recording)):
        if most is not None and number > most:
            break
        text = state_text(moment)
        if before is not None:
            pending.append((step_prompt(code, before), text))
        before = text
        if len(pending) == rows:
            yield from read.exact([0] * len(pending), pending)
            pending = []
    if pending:
        yield from read.exact([0] * len(pending), pending)


def _run(one: _Going, stop: Stop, why: str | None = None) -> SteppedRun:
    return SteppedRun(
        start=one.start,
        states=tuple(one.states),
        jumps=tuple(one.jumps),
        nll=tuple(one.nll),
        stop=stop,
        why=why,
    )


def reached(true: Iterable[Moment], jumps: Sequence[int]) -> Iterator[Moment]:
    """Of the true states after the first: those that so long jumps should have reached, then, to tell whether
    there is an end, what is left."""
    states = iter(true)
    next(states, None)
    for jump in jumps:
        for ahead in range(jump):
            moment = next(states, None)
            if moment is None:
                return
            if ahead == jump - 1:
                yield moment
    yield from states
