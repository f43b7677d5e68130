"""Lines and variables of a run: the next line, the values of a variable now and before, the lines that
run."""

import ast
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deskcheck.ask.samples.guessing import (
    call_in,
    called_name,
    function_named,
    functions_in,
    guesses,
    held_before,
    is_literal,
    labelled,
    numbered_lines,
    tree_of,
)
from deskcheck.ask.samples.kind import (
    SHOWN_VALUE_CHARS,
    first_and_repeated,
    kind,
    sample_of,
    sample_of_variable,
)
from deskcheck.ask.samples.places import (
    Arrival,
    Run,
    Unfit,
    check_arguments,
    has_one_successor,
    is_asked_name,
    line_text,
    lines_of_path,
    plain,
    rows_of,
    run_of,
    where,
    whole_run_of,
)
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.source import ShownSource, decorator_lines, names_used, with_lines
from deskcheck.notation.calls import begins, functions
from deskcheck.recording import Event, Kind, Recording, Value, render

STATE_CHARS = 200
SHOWN_STATE_CHARS = 3000
PATH_EVENTS = 60
HISTORY_VALUES = 12
HISTORY_CHARS = 400
STATE_EVENTS = 2000
COMPARED = 200
"""Moments at one line that are compared with the one that is asked about."""
_DEFINITIONS = frozenset({"function", "class", "method"})


@kind(
    "next_line",
    "which line of the frame runs next?",
    4,
    of_raised=True,
    shows_globals=True,
    none="no state that can be shown completely",
)
def next_line(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = run_of(recording)
    places = [visit for visit in run.visits if has_one_successor(visit, recording, run)]
    if not places:
        raise Unfit("no line with one clear successor")
    follows = {source.file: following(source) for source in run.files}
    visits: dict[tuple[str, int, str], list[Arrival]] = {}
    for visit in run.visits:
        visits.setdefault((visit.file, visit.line, visit.function), []).append(visit)

    def looks_the_same(arrival: Arrival, state: str) -> bool:
        """Whether another line runs after a moment at the same line that looks the same in a prompt.

        Something unseen decides then, so that the question has no answer.
        """
        at_line = visits[arrival.file, arrival.line, arrival.function][:COMPARED]
        others = (visit for visit in at_line if visit.then != arrival.then)
        return any(_state_at(recording, alternative) == state for alternative in others)

    for arrival in _mixed(places, follows, rng):
        state = _state_at(recording, arrival)
        if state is None or looks_the_same(arrival, state):
            continue
        yield sample_of(
            recording,
            "next_line",
            run.files,
            f"About to run: {line_text(arrival, run)}\n{state}",
            str(arrival.then),
            form="line",
            id_part=str(arrival.index),
            data={
                "file": arrival.file,
                "line": arrival.line,
                "k": arrival.k,
                "event": arrival.index,
                "frame": arrival.frame,
                "function": arrival.function,
                "falls_through": arrival.then == follows[arrival.file].get(arrival.line),
            },
        )


@guesses("next_line", "visit")
def guessed_next_line(prompt: str) -> str:
    """The next line of the text that is neither empty nor a comment; ``return`` after the last."""
    match = re.search(r"\n(?:About to run|Line|Stopped): (?:just before )?line (\d+)", prompt)
    line = int(match[1]) if match else 0
    numbers = [number for number, _ in numbered_lines(prompt)]
    after = numbers[numbers.index(line) + 1 :] if line in numbers else []
    return str(after[0]) if after else "return"


def _state_at(recording: Recording, arrival: Arrival) -> str | None:
    used = names_used(recording.source(arrival.file) or "", arrival.line)
    return shown_state(recording.trace[arrival.index], used)


def following(source: ShownSource) -> dict[int, int]:
    """Line -> the next line in the text that is neither empty nor a comment."""
    numbers = [
        n for n, line in source.lines if n is not None and line.strip() and not line.lstrip().startswith("#")
    ]
    return dict(pairwise(numbers))


def _mixed(
    places: list[Arrival], following: Mapping[str, Mapping[int, int]], rng: random.Random
) -> Iterator[Arrival]:
    """The places in a drawn order. Those where the next line of the text runs take turns with the others:
    otherwise the text alone would answer most of them. A place (line and successor) that was drawn already
    comes after all others.
    """
    shuffled = rng.sample(places, len(places))
    for group in first_and_repeated(shuffled, lambda arrival: (arrival.file, arrival.line, arrival.then)):
        falls = [p for p in group if p.then == following[p.file].get(p.line)]
        jumps = [p for p in group if p.then != following[p.file].get(p.line)]
        first, second = (falls, jumps) if rng.random() < 0.5 else (jumps, falls)
        while first or second:
            if first:
                yield first.pop()
            first, second = second, first


def shown_state(event: Event, used: frozenset[str]) -> str | None:
    """A frame's values and live iterators as text; None if they cannot be shown whole and short.

    Only globals that the frame's code names are shown. Functions and classes are left out: the source shows
    them, or the library has them.
    """
    values = {n: v for n, v in event.locals.items() if v.kind not in _DEFINITIONS and n.isidentifier()}
    outer = {n: v for n, v in event.globals.items() if v.kind not in _DEFINITIONS and n not in values}
    outer = {n: v for n, v in outer.items() if n in used and not _is_foreign(v)}
    if event.function == "<module>":
        values, outer = {n: v for n, v in values.items() if n in used and not _is_foreign(v)}, {}
    iterators = [value for value in event.stack if value.kind in ("iterator", "generator")]
    if not all(map(_telling, [*values.values(), *outer.values(), *iterators])):
        return None
    texts = [*map(render, [*values.values(), *outer.values(), *iterators])]
    if any(len(text) > SHOWN_VALUE_CHARS for text in texts) or sum(map(len, texts)) > SHOWN_STATE_CHARS:
        return None
    lines = [f"    {name} = {render(value)}" for name, value in values.items()]
    text = "Values:\n" + "\n".join(lines) if lines else "Values: none yet"
    if not lines and event.locals and event.function != "<module>":
        text = "Values: functions and classes alone"
    if outer:
        text += "\nGlobals:\n" + "\n".join(f"    {name} = {render(value)}" for name, value in outer.items())
    if iterators:
        text += "\nLive iterators, outermost first:\n"
        text += "\n".join(f"    {render(value)}" for value in iterators)
    return text


def _is_foreign(value: Value) -> bool:
    """A builtin function, or a class of the library: ``<class 'decimal.Decimal'>``."""
    return value.kind == "text" and (value.text or "").startswith(("<class ", "<built-in ", "<function "))


def _telling(value: Value) -> bool:
    """Whole, and no object in it that shows nothing of itself, as those of foreign classes do."""
    return value.whole and not any(part.bare for part in value.walk())


def _short_run_of(recording: Recording) -> Run:
    """The whole run, if its variables can be looked at in reasonable time."""
    if next(itertools.islice(rows_of(recording), STATE_EVENTS, None), None) is not None:
        raise Unfit("the run is too long")
    return whole_run_of(recording)


@kind(
    "state",
    "what is the value of a variable just before a line runs for the k-th time?",
    4,
    of_raised=True,
    none="no variable with short plain data",
)
def state(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = _short_run_of(recording)
    names, called = _names_at(recording), _parameters(recording)
    places = [
        (visit, name)
        for visit in run.visits
        if visit.line in run.lines[visit.file].plain
        for name in sorted(names[visit.index])
        if is_asked_name(name, recording.source(visit.file) or "")
    ]
    shuffled = rng.sample(places, len(places))
    first, repeated = first_and_repeated(
        shuffled, lambda candidate: (candidate[0].file, candidate[0].line, candidate[1])
    )
    for arrival, name in first + repeated:
        value = recording.trace[arrival.index].locals.get(name)
        if value is None or not plain(value) or len(text := render(value)) > STATE_CHARS:
            continue
        if (
            called.get(arrival.frame, {}).get(name) != text
        ):  # a parameter as it was passed: nothing to work out
            yield sample_of_variable(recording, "state", run, arrival, name, text)


@guesses("state")
def guessed_state(prompt: str) -> str:
    """The last literal assigned to the variable in a line above; the argument passed for it; else 0."""
    match = re.search(r"\nVariable: (\w+), just before line (\d+)", prompt)
    return held_before(prompt, match[1], int(match[2])) if match else "0"


def _names_at(recording: Recording) -> dict[int, frozenset[str]]:
    """Event -> names that its frame has bound by then."""
    names_at: dict[int, frozenset[str]] = {}
    by_frame: dict[int, set[str]] = {}
    by_file: dict[str, set[str]] = {}
    for row in recording.trace.rows:
        module = by_file.setdefault(row.file, set())
        module.update(_bound(row.globals))
        names = by_frame.setdefault(row.frame, set())
        names.update(_bound(row.locals))
        names_at[row.index] = frozenset(module if row.function == "<module>" else names)
    return names_at


def _bound(changes: str | None) -> list[str]:
    """Names that the changes of an event bind."""
    if not changes:
        return []
    return [
        name
        for name, value in json.loads(changes).items()
        if name.isidentifier() and not (isinstance(value, dict) and "unbound" in value)
    ]


@kind(
    "history",
    "which values does a variable hold during a call?",
    2,
    of_raised=True,
    none="no variable of a function has several values that are short plain data",
)
def history(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = _short_run_of(recording)
    histories = [*_histories(recording, run)]
    for call, name, values in rng.sample(histories, len(histories)):
        yield sample_of(
            recording,
            "history",
            run.files,
            f"Variable: {name}, in call number {call.k} of {call.function}{where(run.files, call.file)}",
            f"[{', '.join(values)}]",
            id_part=f"{call.function}:{call.k}:{name}",
            data={"file": call.file, "function": call.function, "k": call.k, "variable": name},
        )


@guesses("history")
def _guessed_history(prompt: str) -> str:
    """The argument passed for the variable, then the literals that the text assigns to it, in its order."""
    named = re.search(r"\nVariable: (\w+), in call number", prompt)
    name = named[1] if named else ""
    assigned = [
        match[1]
        for _, text in numbered_lines(prompt)
        if (match := re.fullmatch(rf"\s*{name}\s*=\s*(.+)", text)) and is_literal(match[1])
    ]
    passed = held_before(prompt, name, 0)
    return f"[{', '.join([*([passed] if passed != '0' else []), *assigned])}]"


@dataclass(frozen=True, slots=True)
class _Call:
    """The k-th call of a function."""

    file: str
    function: str
    k: int


def _histories(recording: Recording, run: Run) -> Iterator[tuple[_Call, str, list[str]]]:
    """Variables of calls, each with all its values in order. They are read at the lines of the call and at
    its end. So a call is left out if one of its lines is not one moment (`Statements.plain`)."""
    calls = _calls_of(recording, run)
    moments = {visit.index: visit.frame for visit in run.visits}
    odd = {visit.frame for visit in run.visits if visit.line not in run.lines[visit.file].plain}
    by_frame: dict[int, dict[str, list[Value | None]]] = {}
    for event in recording.trace:
        ends = event.kind in (Kind.RETURN, Kind.UNWIND)
        if event.frame in calls and event.frame not in odd and (ends or event.index in moments):
            histories = by_frame.setdefault(event.frame, {})
            for name in [
                *histories,
                *(name for name in event.locals if name not in histories),
            ]:
                histories.setdefault(name, []).append(event.locals.get(name))
    for frame, variables in by_frame.items():
        for name, values in variables.items():
            if not is_asked_name(name, recording.source(calls[frame].file) or ""):
                continue
            if not all(value is not None and plain(value) for value in values):
                continue
            texts = [
                text for text, _ in itertools.groupby(render(value) for value in values if value is not None)
            ]
            if 2 <= len(texts) <= HISTORY_VALUES and sum(map(len, texts)) <= HISTORY_CHARS:
                yield calls[frame], name, texts


def _calls_of(recording: Recording, run: Run) -> dict[int, _Call]:
    """Frame -> its function and the number of its call, of functions that their call runs."""
    run_by_call: set[tuple[str, str]] = set()
    for source in run.files:
        defined = functions(recording.source(source.file) or "")
        times = Counter(name for name, _ in defined)
        run_by_call |= {
            (source.file, name) for name, node in defined if times[name] == 1 and not begins(node)
        }
    counts: Counter[tuple[str, str]] = Counter()
    calls: dict[int, _Call] = {}
    for row in recording.trace.rows:
        if row.kind == Kind.CALL and (row.file, row.function) in run_by_call:
            counts[row.file, row.function] += 1
            calls[row.frame] = _Call(row.file, row.function, counts[row.file, row.function])
    return calls


def _parameters(recording: Recording) -> dict[int, dict[str, str]]:
    """Frame -> rendering of the values that it was called with, by name; of a module, that it began with."""
    called: dict[int, dict[str, str]] = {}
    modules: dict[str, dict[str, str]] = {}
    for event in recording.trace:
        if event.kind is Kind.CALL:
            if event.function == "<module>" and event.file in modules:
                called[event.frame] = modules[event.file]
                continue
            called[event.frame] = {name: render(value) for name, value in event.locals.items()}
            if event.function == "<module>":
                modules[event.file] = called[event.frame]
    return called


@kind("path", "which lines run, in order?", of_raised=True)
def path(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    check_arguments(recording.program, "literal", "shown")
    run = run_of(recording)
    files = run.files
    ran = Counter(row.file for row in rows_of(recording) if row.kind == Kind.LINE and row.file in run.lines)
    if not ran:
        raise Unfit("no line runs")
    longest = max(ran.values())
    file = next(source.file for source in files if ran[source.file] == longest)
    statements = run.lines[file]
    lines = lines_of_path(run.visits, file)
    if not statements.shared.isdisjoint(lines):
        raise Unfit("a statement begins on a line on which another ends")
    path = path_of(lines, statements.first, statements.silent)
    if not path:
        raise Unfit("no line runs")
    notes = [f"Lines: those of {file} only"] if len(files) > 1 else []
    cut = len(path) > PATH_EVENTS
    if cut:
        path = path[:PATH_EVENTS]
        notes.append(f"How many: the first {PATH_EVENTS}")
    elif longest > 100 * PATH_EVENTS:
        raise Unfit("the path is too long")  # few lines, each many times on end
    shown_lines = {line for source in files if source.file == file for line, _ in source.lines}
    if not shown_lines.isdisjoint(with_lines(recording.source(file) or "")):
        notes.append("Note: the line of a with statement runs again when its block is left.")
    if not shown_lines.isdisjoint(decorator_lines(recording.source(file) or "")):
        notes.append(
            "Note: when a function or class has been made, the lines of its decorators run again, the last "
            "one first, and then its def or class line."
        )
    yield sample_of(
        recording,
        "path",
        files,
        "\n".join(notes),
        str(path),
        form="path",
        data={
            "file": file,
            "first": {str(line): first for line, first in statements.first.items() if line != first},
            "silent": sorted(statements.silent),
            **({"most": PATH_EVENTS} if cut else {}),
        },
    )


def path_of(lines: Sequence[int], first: Mapping[int, int], silent: frozenset[int]) -> list[int]:
    """Lines in order, each as the first line of its statement, without silent lines and direct repeats.

    The answer of a model goes through the same function as the recording.
    """
    path: list[int] = []
    for line in lines:
        line = first.get(line, line)
        if line not in silent and (not path or path[-1] != line):
            path.append(line)
    return path


@guesses("path")
def _guessed_path(prompt: str) -> str:
    """Every statement of the function that is called, in the order of the text; of a script those of its top
    level, then those of its functions."""
    numbered = numbered_lines(prompt)
    text = [""] * (numbered[-1][0] if numbered else 0)
    for number, line in numbered:
        text[number - 1] = line
    tree = tree_of("\n".join(text))
    function = function_named(tree, called_name(call_in(labelled(prompt, "How it is run"))))
    if function is not None:
        return str(sorted(_statement_lines(function.body)))
    nested = {line for node in functions_in(tree) for line in _statement_lines(node.body)}
    return str(sorted(_statement_lines([tree]) - nested) + sorted(nested))


def _statement_lines(nodes: Sequence[ast.AST]) -> set[int]:
    return {part.lineno for node in nodes for part in ast.walk(node) if isinstance(part, ast.stmt)}
