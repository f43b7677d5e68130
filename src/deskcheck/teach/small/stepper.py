"""The stepper uses a model as an interpreter: it gives the model a state and receives the next one.

This is the dynamic scratchpad of Execution Tuning (arXiv:2503.05703), which keeps no history. To be cheap, it
steps many programs at once, replaces ended programs by new ones, and reads each program once (`interpreter`).
A step may skip events. The stepper takes the longest jump whose answer is likely enough, or else the one with
the most likely answer (the paper's choice by likelihood).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from deskcheck.ask.methods.ground_truth import is_end
from deskcheck.notation import NOTATIONS, Moment, moments, state_text
from deskcheck.notation.divergence import RunAgreement, Stop, compare_runs, reached
from deskcheck.notation.forms.dynamic import parse_dynamic
from deskcheck.notation.layout import program_text, step_prompt
from deskcheck.recording import InputError, Program, Recording
from deskcheck.recording.program import code_lines
from deskcheck.teach.small.interpreter import Rows, StepModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A program and its first state, in one of the notations `STEPWISE`."""

    program: Program
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedRun:
    """A model's run of a program."""

    start: Start
    states: tuple[str, ...]
    """The first state, which the model was given, and the model's states."""
    jumps: tuple[int, ...]
    """The number of events from each state to the next."""
    nll: tuple[float | None, ...]
    """Negative log probability of each step in nats; None if the model does not report it."""
    stop: Stop
    """The reason for the end of the run."""
    why: str | None = None
    """The reason why the last answer could not be read."""

    def to_dict(self) -> dict[str, Any]:
        """The run, JSON-able."""
        run = {"states": self.states, "jumps": self.jumps, "nll": self.nll}
        return {**run, "stop": self.stop.value, "why": self.why}

    def against(self, true: Iterable[Moment]) -> RunAgreement:
        """The agreement of this run with the true states, which begin with the first state of the run."""
        predicted = [parse_dynamic(text).moments[-1] for text in self.states[1:]]
        return compare_runs(predicted, reached(islice(true, 1, None), self.jumps), self.stop)


_Answer = tuple[int, str, float | None, bool]
"""The jump, the state's text, its negative log probability, whether the answer ended."""


@dataclass(slots=True)
class _Going:
    """A program that is being stepped."""

    start: Start
    code: list[str]
    states: list[str]
    answers_by_state: dict[str, _Answer] = field(default_factory=dict)
    """The model's earlier answers, so that an endless loop of states costs its first round only."""
    jumps: list[int] = field(default_factory=list)
    nll: list[float | None] = field(default_factory=list)


class Stepper:
    """Steps programs with a model.

    rows: programs at a time. budget: limit for the steps of a program. longest: tokens of a prompt with its
    answer. jumps: numbers of events that a step may have; the model must have been taught each. sure: the
    largest negative log probability, in nats, of an answer for which a jump is taken.
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
        """Steps every program to its end. Yields (number among the starts, run) when a run ends.

        note: receives the number of steps after each round.
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
        """Makes one step of each program, and returns the runs that end with it."""
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
        best = [program.answers_by_state.get(program.states[-1]) for program in going]
        new = [row for row, best_answer in enumerate(best) if best_answer is None]
        for jump in reversed(self.jumps):  # the longest first: a likely answer needs no other
            unsure = [
                row for row in new if (best_answer := best[row]) is None or _doubt(best_answer[2]) > self.sure
            ]
            if not unsure:
                break
            answers = read.ask(
                {
                    row: (step_prompt(going[row].code, going[row].states[-1], jump), going[row].states[-1])
                    for row in unsure
                }
            )
            for row, answer in answers.items():
                best_answer = best[row]
                better = best_answer is None or _doubt(answer.nll) < _doubt(best_answer[2])
                if best_answer is None or not best_answer[3] or (answer.ended and better):
                    best[row] = (jump, answer.text, answer.nll, answer.ended)
        for row in new:
            if (best_answer := best[row]) is not None:
                going[row].answers_by_state[going[row].states[-1]] = best_answer
        return [best_answer for best_answer in best if best_answer is not None]


def _doubt(nll: float | None) -> float:
    return math.inf if nll is None else nll


def start_of(recording: Recording, *, notation: str = "dynamic") -> Start:
    """The first state of a recorded run. Raises InputError for a recording without events, or without the
    instructions that the notation shows."""
    NOTATIONS[notation].refuse(recording)
    first = next(true_states(recording, notation=notation), None)
    if first is None:
        raise InputError(f"{recording.id}: has no events to step through.")
    return Start(program=recording.program, state=state_text(first))


def true_states(recording: Recording, *, notation: str = "dynamic") -> Iterator[Moment]:
    """The states of a recording that a right run of the stepper has, including the first."""
    instructions = NOTATIONS[notation].instructions
    return moments(recording.trace, file=recording.program.filename, instructions=instructions)


def exact_steps(
    model: StepModel,
    recording: Recording,
    *,
    notation: str = "dynamic",
    rows: int = 64,
    longest: int = 2048,
    limit: int | None = None,
) -> Iterator[bool]:
    """For each step of a recorded run, from the true state: whether the model gives exactly the next state.

    Greedy decoding depends only on the state. So the exact steps before the first error are also the steps of
    a run from the first state, but here many are computed at once. limit: number of steps.
    """
    code = code_lines(recording.program.code)
    read = model.read([program_text(recording.program)], longest)
    pending: list[tuple[str, str]] = []
    before: str | None = None
    for number, moment in enumerate(true_states(recording, notation=notation)):
        if limit is not None and number > limit:
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


def _run(program: _Going, stop: Stop, reason: str | None = None) -> SteppedRun:
    return SteppedRun(
        start=program.start,
        states=tuple(program.states),
        jumps=tuple(program.jumps),
        nll=tuple(program.nll),
        stop=stop,
        why=reason,
    )
