"""What the tests of notations share: whether a text tells the same as the trace that it was written from."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from deskcheck.notation import (
    NOTATIONS,
    Moment,
    Parsed,
    RunningTexts,
    claims,
    cwm_kept,
    ending,
    inline_claims,
    moments,
    state_text,
)
from deskcheck.recording import Row, Trace

BY_LINE = [name for name, notation in NOTATIONS.items() if not notation.instructions]


def differs(name: str, states: Sequence[Moment], source: str) -> str:
    """Where what a notation keeps of the states is not what is read from its text; empty where it is."""
    notation = NOTATIONS[name]
    text = notation.write(iter(states), source)
    told = notation.parse(text, source)
    if name == "cwm":
        states, told = _but_open(states, told)
    if told.unreadable:
        return f"{name}: cannot be read: {told.unreadable[0]}"
    kept, found = _kept(name, states, told)
    if len(kept) != len(found):
        return f"{name}: {len(kept)} are kept and {len(found)} were read"
    for at, (one, two) in enumerate(zip(kept, found, strict=True)):
        if one != two:
            shown = [m.canonical() if isinstance(m, Moment) else str(m) for m in (one, two)]
            return f"{name}: number {at}:\n{shown[0]}\n{shown[1]}"
    return ""


OPEN = "the line could be any of "
"""What is said of a frame whose line the text does not decide."""


def _but_open(states: Sequence[Moment], told: Parsed) -> tuple[Sequence[Moment], Parsed]:
    """Without the frames whose line is one of several, as their text says: the true one among them."""
    left = [place for place in told.unreadable if place.why.startswith(OPEN)]
    if not left or len(left) != len(told.unreadable):
        return states, told
    kept, read = [], iter([*told.moments, None])
    now = next(read)
    for state, one in zip(states, cwm_kept(states), strict=True):
        if now is not None and one == now:
            kept.append(state)
            now = next(read)
        elif left and state.running.line in ast.literal_eval(left[0].why.removeprefix(OPEN)):
            left.pop(0)
        else:
            kept.append(state)  # and `differs` says what is there instead
    return kept, replace(told, unreadable=tuple(left))


def _kept(name: str, states: Sequence[Moment], told: Parsed) -> tuple[list[object], list[object]]:
    match name:
        case "direct":
            last = ending(states)
            return ([] if last is None else [last]), list(told.moments)
        case "cwm":
            return list(cwm_kept(states)), list(told.moments)
        case "inline":
            return list(inline_claims(states)), list(told.claims)
        case "monologue":
            return list(claims(states)), list(told.claims)
    return list(states), list(told.moments)


def kept_up(rows: Sequence[Row], file: str, *, instructions: bool = False, every: int = 1) -> str:
    """Where the kept-up texts are not those of `state_text`; only every n-th is asked for. Empty where they are."""
    running, found = RunningTexts(file=file, instructions=instructions), []
    advanced = (row for row in rows if running.advance(row))
    for at, _ in enumerate(advanced):
        if at % every == 0:
            found.append((running.text(), running.depth))
    wanted = [
        (state_text(moment), len(moment.frames))
        for number, moment in enumerate(moments(Trace(rows), file=file, instructions=instructions))
        if number % every == 0
    ]
    if len(found) != len(wanted):
        return f"{len(found)} texts, not {len(wanted)}"
    for number, (one, two) in enumerate(zip(found, wanted, strict=True)):
        if one != two:
            return f"state {number * every}:\n{one}\n{two}"
    return ""
