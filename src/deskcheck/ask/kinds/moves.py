"""The next stop of a debugger: the commands ``step``, ``until`` and ``return`` of ``pdb``, by statements.
Its ``next`` is the kind `next_line`.
"""

import ast
import itertools
import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from deskcheck.ask.kinds.runs import following, guessed_next_line, shown_state
from deskcheck.ask.samples.guessing import guesses, last_return, literal_of, numbered_lines, tree_of
from deskcheck.ask.samples.kind import in_turns, kind, sample_at
from deskcheck.ask.samples.places import Arrival, Run, Unfit, line_text, plain, whole_run_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import names_used
from deskcheck.recording import Kind, Mode, Recording, render

VALUE_CHARS = 200
_COMMANDS = {
    "step": "step: where does it stop?",
    "until": "until: where does it stop?",
    "return": "return: which value is returned?",
}


class _Move(NamedTuple):
    """A command that is given at a line, and where it ends."""

    arrival: Arrival
    command: str
    answer: str
    jumps: bool
    """Whether it does not end at the next line of the text."""


@kind(
    "move",
    "where does a debugger go by step, until or return?",
    4,
    of_raised=True,
    shows_globals=True,
    none="no state that can be shown completely",
)
def move(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    if recording.program.mode is Mode.SESSION:
        raise Unfit("every statement is a separate program")
    moves = [*_moves(recording, run)]
    if not moves:
        raise Unfit("no line from which a command leads to another")
    drawn = in_turns(
        moves,
        rng,
        lambda move: (move.command, move.jumps),
        lambda move: (move.arrival.file, move.arrival.line, move.command, move.answer),
    )
    for arrival, command, answer, _ in drawn:
        used = names_used(recording.source(arrival.file) or "", arrival.line)
        state = shown_state(recording.trace[arrival.index], used)
        if state is None:
            continue
        question = (
            f"Stopped: just before {line_text(arrival, run)} runs for time number {arrival.k}\n{state}\n"
            f"Command: {_COMMANDS[command]}"
        )
        form = "value" if command == "return" else "line"
        yield sample_at(recording, "move", run, arrival, question, answer, form=form, command=command)


@guesses("move")
def _guessed_move(prompt: str) -> str:
    """Like the guess for `next_line`; for ``return`` the last one of the function: a literal, or the value
    that the prompt shows for a variable."""
    if "\nCommand: return" not in prompt:
        return guessed_next_line(prompt)
    within = re.search(r"\nStopped: just before line \d+ of (\S+)", prompt)
    tree = tree_of("\n".join(text for _, text in numbered_lines(prompt)))
    returned = last_return(tree, within[1].rpartition(".")[2] if within else "")
    value_line = re.search(rf"\n    {returned.id} = (.*)", prompt) if isinstance(returned, ast.Name) else None
    return value_line[1] if value_line else literal_of(returned) or "None"


def _moves(recording: Recording, run: Run) -> Iterator[_Move]:
    frames: dict[int, list[Arrival]] = {}
    for visit in run.visits:
        frames.setdefault(visit.frame, []).append(visit)
    further = {arrival.index: after for visits in frames.values() for arrival, after in _further_down(visits)}
    halted, ends = set(), {}
    for row in recording.trace.rows:
        if row.kind == Kind.YIELD:
            halted.add(row.frame)
        elif row.kind in (Kind.RETURN, Kind.UNWIND):
            ends[row.frame] = row
    follows = {source.file: following(source) for source in run.files}

    def to_line(arrival: Arrival, command: str, answer: str) -> _Move:
        jumps = answer != str(follows[arrival.file].get(arrival.line))
        return _Move(arrival, command, answer, jumps)

    for arrival, then in itertools.zip_longest(run.visits, run.visits[1:]):
        if not _is_stop(arrival, run):
            continue
        if then is not None and then.file == arrival.file and _is_stop(then, run):
            yield to_line(arrival, "step", str(then.line))
        end = ends.get(arrival.frame)
        if end is None or arrival.frame in halted:
            continue
        after = further[arrival.index]
        if after is None:
            answer = "return" if end.kind == Kind.RETURN else "raise"
            if answer == "raise" or arrival.line not in run.lines[arrival.file].leaves:
                yield to_line(arrival, "until", answer)
        elif _is_stop(after, run):
            yield to_line(arrival, "until", str(after.line))
        if end.kind == Kind.RETURN and arrival.function != "<module>":
            value = recording.trace[end.index].value
            text = render(value) if value is not None and plain(value) else "None"
            if text != "None" and len(text) <= VALUE_CHARS:
                yield _Move(arrival, "return", text, False)


def _further_down(visits: list[Arrival]) -> Iterator[tuple[Arrival, Arrival | None]]:
    """Each arrival of a frame with the first after it at a line further down in the text."""
    waiting: list[Arrival] = []
    for visit in visits:
        while waiting and waiting[-1].line < visit.line:
            yield waiting.pop(), visit
        waiting.append(visit)
    for arrival in waiting:
        yield arrival, None


def _is_stop(arrival: Arrival, run: Run) -> bool:
    """Whether a debugger stops there and nowhere else on the line, in every version of Python."""
    lines = run.lines[arrival.file]
    name = arrival.function.rpartition(".")[2]
    if name.startswith("<") and name != "<module>":
        return False  # a comprehension or a lambda
    return (
        arrival.line in lines.plain
        and arrival.line not in lines.classes
        and name not in lines.classes.values()
    )
