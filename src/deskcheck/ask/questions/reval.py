"""REval's own questions, about recordings of its programs (``deskcheck record reval:PATH``).

The set's file of tasks says which lines and variables are asked about. The answers come from the recording,
in the way in which the set takes them from a run (``dynamics.py`` of its repository). A run is the lines of
the code under test in the order in which they run; a line that runs several times in a row counts once.

    coverage  does the line run?
    path      which line comes after it? each that ever does is right; -1 where it does not run, or is last
    state     what is the variable after it? each value that it ever has then is right; Nil for none

Under CPython up to 3.11, comprehensions have separate frames, whose lines and variables the set counts. Here
they belong to the function around them.
"""

import ast
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.answers.values import read_value
from deskcheck.ask.questions.load import load
from deskcheck.ask.questions.reader import BenchmarkReader, Note, Read, cluster_of_text, shown
from deskcheck.ask.samples.guessing import guesses, held_before, labelled, numbered_lines
from deskcheck.ask.samples.places import Unfit, plain
from deskcheck.ask.samples.prompts import TASKS, how_run, own_parts
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import InputError, Kind, Mode, Outcome, Recording, Value, render
from deskcheck.recording.program import code_lines

STATE_CHARS = 1000
NIL = "Nil"
_STOPS = frozenset({Kind.LINE, Kind.RETURN, Kind.YIELD, Kind.RAISE, Kind.UNWIND})
_LEFT_OUT = frozenset({"function", "iterator", "generator"})
"""Kinds of value that the set does not look at."""


@dataclass(slots=True)
class _Stop:
    """One stay at a line. event: the last line event there, or None."""

    line: int
    event: int | None = None


def _stops(recording: Recording) -> list[_Stop]:
    """The run of the code under test. For a test it is the run of its method, without ``setUp``."""
    program = recording.program
    last_line, begun = len(code_lines(program.code)), program.mode is Mode.CALL
    last_tested_line = program.extra["reval"]["of"]
    stops: list[_Stop] = []
    for row in recording.trace.rows:
        if row.file != program.filename:
            continue
        begun = begun or (row.function == "<module>" and row.line == last_line)
        if not begun or row.line > last_tested_line or row.kind not in _STOPS:
            continue
        if not stops or stops[-1].line != row.line:
            stops.append(_Stop(row.line))
        if row.kind == Kind.LINE:
            stops[-1].event = row.index
    return stops


# -- the three tasks ---------------------------------------------------------------------------------------


def _coverage(recording: Recording, stops: list[_Stop], line: int, name: str) -> list[str]:
    return [str(any(stop.line == line for stop in stops))]


def _path(recording: Recording, stops: list[_Stop], line: int, name: str) -> list[str]:
    following = [*(stop.line for stop in stops[1:]), -1]
    successors = (
        {then for stop, then in zip(stops, following, strict=True) if stop.line == line} if stops else set()
    )
    return [str(then) for then in sorted(successors)] or ["-1"]


def _state(recording: Recording, stops: list[_Stop], line: int, name: str) -> list[str]:
    after = [stops[min(k + 1, len(stops) - 1)] for k, stop in enumerate(stops) if stop.line == line]
    states = [{} if stop.event is None else recording.trace[stop.event].locals for stop in after]
    try:
        node = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError):
        raise InputError(f"{recording.id}: 'var' is not Python: {name:.80}") from None
    values = _values(node, states) if after else []
    texts = dict.fromkeys(map(_text, values))
    return [*texts] or [NIL]


def _text(value: Any) -> str:
    if isinstance(value, Value):
        if not plain(value):
            raise Unfit("the variable is not plain data")
        value = _python(value)
    text = repr(value)
    if len(text) > STATE_CHARS:
        raise Unfit("the value is too long")
    return text


def _python(value: Value) -> Any:
    readable, result = read_value(render(value))
    if not readable:
        raise Unfit("the variable is not plain data")
    return result


def _values(node: ast.expr, states: list[Any]) -> list[Any]:
    """The values of an expression over all states. For items these are all containers with all indexes, as in
    the set. Values that are not plain data stay values of the recording."""
    match node:
        case ast.Constant(value=value):
            return [value]
        case ast.Name(id=name):
            values = [state[name] for state in states if name in state]
            values = [value for value in values if value.kind not in _LEFT_OUT | {"unbound"}]
            return [_python(value) if plain(value) else value for value in values]
        case ast.Attribute(value=inner, attr=name):
            return [_attribute(value, name) for value in _values(inner, states)]
        case ast.Subscript(value=inner, slice=index):
            pairs = itertools.product(_values(inner, states), _values(index, states))
            return [item for of, at in pairs for item in _item(of, at)]
        case ast.Tuple(elts=parts):
            return list(itertools.product(*(_values(part, states) for part in parts)))
    raise Unfit("an index that is an expression")  # the set's own code comes to Nil there, whatever ran


def _attribute(container: Any, name: str) -> Any:
    if not isinstance(container, Value):
        raise Unfit("an attribute of something other than an object of the program")
    for key, value in container.fields:
        if key == name:
            return _python(value) if plain(value) else value
    raise Unfit("an attribute that is not recorded")


def _item(container: Any, index: Any) -> list[Any]:
    if isinstance(container, Value) or isinstance(index, Value):
        raise Unfit("an item that is not plain data")
    try:
        return [container[index]]
    except (TypeError, KeyError, IndexError):
        return []


# -- samples -----------------------------------------------------------------------------------------------

_RIGHT: dict[str, Callable[[Recording, list[_Stop], int, str], list[str]]] = {
    "coverage": _coverage,
    "path": _path,
    "state": _state,
}
_KINDS = {"coverage": "coverage", "path": "visit", "state": "state"}
"""Task of the set -> the kind of question that it is nearest to."""


def _reader(name: str, task: str) -> Read:
    def read(path: str | None, note: Note) -> Iterator[Sample]:
        """Every question of the set about every recording of a folder, in order.

        note: gets at the end the number of questions that are not asked, and the reasons. Raises InputError
        if no folder is named, or if it has a recording of something else.
        """
        if path is None:
            raise InputError(
                f"{name}: is asked about recordings: `deskcheck record reval:DREval_data.jsonl --out "
                f"FOLDER`, then {name}:FOLDER."
            )
        excluded: Counter[str] = Counter()
        for recording in load(path):
            if "reval" not in recording.program.extra:
                raise InputError(f"{path}: {recording.id} was not recorded from reval:PATH.")
            questions = recording.program.extra["reval"]["tasks"]
            unfit = _unfit(recording)
            if unfit is not None:
                excluded[unfit] += len(questions)
                continue
            stops = _stops(recording)
            for number, question in enumerate(questions):
                try:
                    yield _sample(task, recording, stops, number, question)
                except Unfit as reason:
                    excluded[str(reason)] += 1
        if excluded:
            reasons_text = "; ".join(f"{count} {reason}" for reason, count in excluded.most_common())
            note(f"{name}: {excluded.total()} questions of the set are not asked: {reasons_text}")

    return read


def _sample(
    task: str, recording: Recording, stops: list[_Stop], number: int, question: dict[str, Any]
) -> Sample:
    program, line, name = recording.program, question["lineno"], question["var"]
    right = _RIGHT[task](recording, stops, line, name)
    lines = code_lines(program.code)
    call = how_run(program) if program.mode is Mode.CALL else f"{lines[-1]} in line {len(lines)}"
    about = f"\nVariable: {name}, after line {line}" if task == "state" else f"\nLine: {line}"
    return Sample(
        id=f"{recording.id}:{task}:{number}",
        question=_KINDS[task],
        program=recording.id,
        # Tests of one class are no independent observations.
        cluster=cluster_of_text("\n".join(lines[: program.extra["reval"]["of"]])),
        parts=own_parts(TASKS[f"reval_{task}"], shown(lines), f"Call: {call}{about}", numbered=True),
        answer=right[0],
        data={
            "form": "one_of",
            "of": "line" if task == "path" else "value",
            "right": right,
            "line": line,
        },
    )


def _unfit(recording: Recording) -> str | None:
    if recording.outcome is not Outcome.RETURNED:
        return f"ended otherwise: {recording.outcome}"
    if recording.run_result.cut or any(trace.cut for trace in recording.traces):
        return "the recording is cut"
    return recording.doubt


@guesses("reval_path")
def _guessed_path(prompt: str) -> str:
    line, numbers = int(labelled(prompt, "Line") or 0), [number for number, _ in numbered_lines(prompt)]
    return str(next((number for number in numbers if number > line), -1))


@guesses("reval_state")
def _guessed_state(prompt: str) -> str:
    match = re.search(r"\nVariable: (\S+), after line (\d+)", prompt)
    return held_before(prompt, match[1], int(match[2]) + 1, "Call") if match else "0"


REVAL_BENCHMARKS = [
    BenchmarkReader(f"reval_{task}", f"REval: {about} of recordings", _reader(f"reval_{task}", task))
    for task, about in {
        "coverage": "does a line run?",
        "path": "which line runs after another?",
        "state": "what is a variable after a line?",
    }.items()
]
