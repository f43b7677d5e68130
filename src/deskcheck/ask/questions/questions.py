"""Questions: functions from a recording to samples, each with its answer. `QUESTIONS` names them.

A recording is asked about only if its run returned or, by the kinds in `ABOUT_RAISED`, an exception left it,
if it is recorded whole and is not known to differ between two runs. Whatever is not asked about is counted
with its reason in `excluded`. Which places of a recording are asked about is drawn from a generator seeded
with the text ``seed:recording:kind``: the choice depends on nothing else, and not on what else is asked.

Not covered: other threads than the main one; questions about notebooks.
"""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

from deskcheck.ask.answers.allowed import Refused, arguments_in, names_of
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.questions.prompts import how_run, own_parts, parts_of
from deskcheck.ask.questions.sample import Sample
from deskcheck.ask.questions.source import (
    ShownSource,
    Statements,
    asserted_call,
    cluster_of,
    names_used,
    returns_values,
    shown_files,
    statements,
    with_lines,
)
from deskcheck.ask.questions.tables import draws_random, filled_elsewhere
from deskcheck.extensions import Registry
from deskcheck.notation.state import BEGINS, ENDS
from deskcheck.recording import Event, Kind, Mode, Outcome, Program, Recording, Row, Trace, Value, render

ANSWER_CHARS = 1000
STATE_CHARS = 200
SHOWN_VALUE_CHARS, SHOWN_STATE_CHARS = 400, 3000
PATH_EVENTS = 60
STATE_EVENTS = 2000
SCANNED_EVENTS = 100_000
_DEFINITIONS = frozenset({"function", "class", "method"})


class Unfit(Exception):
    """The recording cannot be asked this; the message is the reason that is counted."""


class Ask(Protocol):
    """Yields samples of a recording, at most so many. Raises Unfit for one that cannot be asked."""

    def __call__(
        self, recording: Recording, rng: random.Random, per_recording: int, /
    ) -> Iterator[Sample]: ...


Score = Callable[[Sample, str], float]
"""From a sample and an answer, what stands between the marks, to a score from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kind of question. few: samples of a recording where nobody says how many. about: what is asked, in a
    sentence. score: marks answers whose form is ``own``; it must not run them, nor raise for whatever a model
    wrote."""

    name: str
    ask: Ask
    few: int
    about: str
    score: Score | None = None

    def __call__(
        self,
        recording: Recording,
        *,
        seed: int = 0,
        per_recording: int | None = None,
        excluded: Counter[str] | None = None,
    ) -> Iterator[Sample]:
        """Samples of a recording, at most `per_recording`; reasons for none are added to `excluded`."""
        count = self.few if per_recording is None else per_recording
        if count < 1:
            raise ValueError(
                f"per_recording={count} must be at least one. To leave a question out, do not ask it."
            )
        rng = random.Random(f"{seed}:{recording.id}:{self.name}")
        try:
            _check(recording, raised=self.name in ABOUT_RAISED)
            tables = _tables(recording) if self.name in _WITHOUT_STATE else ""
            size = None
            for sample in self.ask(recording, rng, count):
                if tables:
                    question = sample.parts["question"] + tables
                    sample = replace(sample, parts=sample.parts | {"question": question})
                if OPEN in sample.answer or CLOSE in sample.answer:
                    raise Unfit("the answer holds the marks that answers stand between")
                size = size or _size(recording.trace)
                yield replace(sample, data=sample.data | size)
        except Unfit as reason:
            if excluded is not None:
                excluded[str(reason)] += 1


_sizes: WeakKeyDictionary[Trace, dict[str, int]] = WeakKeyDictionary()


def _size(trace: Trace) -> dict[str, int]:
    """How many events the trace has, and, unless that are very many, frames inside one another at most."""
    if trace not in _sizes:
        size = _sizes[trace] = {"events": len(trace)}
        if len(trace) <= SCANNED_EVENTS:
            depth = deepest = 0
            for row in trace.rows:
                depth += (row.kind in BEGINS) - (row.kind in ENDS)
                deepest = max(deepest, depth + (row.kind in ENDS))
            size["depth"] = deepest
    return _sizes[trace]


ABOUT_RAISED = frozenset({"state", "next_line", "path", "exception"})
"""Kinds that are also asked about runs that an exception left."""


def _check(recording: Recording, *, raised: bool) -> None:
    fit = {Outcome.RETURNED, Outcome.RAISED} if raised else {Outcome.RETURNED}
    if recording.outcome not in fit:
        raise Unfit(f"ended otherwise: {recording.outcome}")
    if recording.ending.cut or any(trace.cut for trace in recording.traces):
        raise Unfit("the recording is cut")
    if recording.repeatable is False:
        raise Unfit("not repeatable")
    if "run" in recording.program.extra:
        raise Unfit("run by its user, with arguments, input and files that are not shown")
    if _kept(_random, recording, draws_random):
        raise Unfit("it draws random numbers, which the tests have seeded")


T = TypeVar("T")
_random: WeakKeyDictionary[Trace, bool] = WeakKeyDictionary()
_filled: WeakKeyDictionary[Trace, dict[tuple[str, str], Value]] = WeakKeyDictionary()


def _kept(known: WeakKeyDictionary[Trace, T], recording: Recording, find: Callable[[Recording], T]) -> T:
    """What is found in a recording, found once: each kind of question asks for it."""
    if recording.trace not in known:
        known[recording.trace] = find(recording)
    return known[recording.trace]


_WITHOUT_STATE = frozenset({"output", "input", "state", "path", "exception"})
"""Kinds whose prompts show no variables."""


def _tables(recording: Recording) -> str:
    """What a prompt has to say of global variables that do not hold what the source gives them."""
    shown = []
    several = len({row.file for row in recording.trace.rows}) > 1
    for (file, name), value in _kept(_filled, recording, filled_elsewhere).items():
        if not _plain(value) or len(text := render(value)) > SHOWN_VALUE_CHARS:
            raise Unfit("a global variable that was filled elsewhere cannot be shown")
        shown.append(f"    {name} = {text}" + (f" in {file}" if several else ""))
    return "\nGlobals when the call is made:\n" + "\n".join(shown) if shown else ""


def _check_all_recorded(recording: Recording) -> None:
    if recording.environment.limits:
        raise Unfit("parts of the run are not recorded")


# -- output and input ----------------------------------------------------------------------------------


def output_sample(
    program: Program, files: Sequence[ShownSource], result: str, *, strict: bool = True
) -> Sample:
    """What does the call return? `result` is the repr of what it returned."""
    task = f"Call: {how_run(program)}"
    return _value_sample(program, files, task, result, strict)


def _value_sample(
    program: Program, files: Sequence[ShownSource], task: str, result: str, strict: bool = True
) -> Sample:
    return Sample(
        id=f"{program.id}:output",
        question="output",
        program=program.id,
        cluster=cluster_of(program),
        parts=parts_of("output", files, task),
        answer=result,
        data={"form": "value", "strict": strict},
    )


def input_sample(
    program: Program, files: Sequence[ShownSource], result: str, *, strict: bool = True
) -> Sample:
    """Which arguments give this result? The reference answer is the call as it was made.

    Raises Refused (a ValueError) if the call itself would not pass the gate that answers must pass.
    """
    assert program.entry is not None
    reference = f"{program.entry}{program.arguments}"
    sources = [program.code, *("\n".join(line for _, line in shown.lines) for shown in files)]
    arguments_in(reference, program.entry, names_of(*sources))
    return Sample(
        id=f"{program.id}:input",
        question="input",
        program=program.id,
        cluster=cluster_of(program),
        parts=parts_of("input", files, f"Function: {program.entry}\nReturned: {result}"),
        answer=reference,
        data={
            "form": "arguments",
            "strict": strict,
            "program": program.to_dict(),
            "entry": program.entry,
            "sources": sources[1:],
            "expected": result,
        },
    )


def _check_arguments(program: Program, *fit: str) -> None:
    """Calls that a test suite made were not given as text: how much of them the text says is in `extra`."""
    if program.extra.get("arguments", "literal") not in fit:
        raise Unfit("the arguments are objects")


def _strict(program: Program) -> bool:
    """Whether `repr` decides if a result is right. Calls of a published set are marked as the set marks."""
    from deskcheck.corpus.readers.published import marked_by_equality

    return not marked_by_equality(program)


def _output(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    program = recording.program
    _check_arguments(program, "literal")
    if program.mode is Mode.CALL:
        yield output_sample(program, _files(recording), _result(recording), strict=_strict(program))
    elif program.mode is Mode.MODULE and program.extra.get("assert") is not None:
        files, call = _files(recording), asserted_call(program)
        yield _value_sample(program, files, f"Call: {call}", _asserted_result(recording))
    else:
        printed = recording.ending.stdout
        if not printed.strip():
            raise Unfit("prints nothing")
        if len(printed) > ANSWER_CHARS:
            raise Unfit("the answer is long")
        task = f"How it is run: {how_run(program)}"
        yield Sample(
            id=f"{program.id}:output",
            question="output",
            program=program.id,
            cluster=cluster_of(program),
            parts=parts_of("stdout", _files(recording), task),
            answer=printed,
            data={"form": "stdout"},
        )


def _result(recording: Recording) -> str:
    if recording.ending.result == "None" and not returns_values(recording):
        raise Unfit("returns nothing but None")
    if not recording.ending.result_builtin or recording.ending.result is None:
        raise Unfit("the result is no plain data")
    if len(recording.ending.result) > ANSWER_CHARS:
        raise Unfit("the answer is long")
    return recording.ending.result


def _asserted_result(recording: Recording) -> str:
    """What the last call of the function under test returned that the module itself made."""
    _check_all_recorded(recording)
    entry = recording.program.extra["entry"]
    wanted: set[int] = set()
    returned: int | None = None
    for row in recording.trace.rows:
        if row.function == entry and row.file == recording.program.filename:
            if row.kind == Kind.CALL and row.caller:
                caller = json.loads(row.caller)
                if caller["frame"] == 0 and "via" not in caller:
                    wanted.add(row.frame)
            elif row.kind == Kind.RETURN and row.frame in wanted:
                returned = row.index
    if returned is None:
        raise Unfit("the module does not call the function under test")
    value = recording.trace[returned].value
    if value is None or not _plain(value):
        raise Unfit("the result is no plain data")
    text = render(value)
    if len(text) > ANSWER_CHARS:
        raise Unfit("the answer is long")
    return text


def _input(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if recording.program.mode is not Mode.CALL:
        raise Unfit("is no call")
    _check_arguments(recording.program, "literal")
    if "own" in recording.program.extra and not recording.program.extra.get("alone"):
        raise Unfit("the call is not known to do the same without its test")
    if "python" in recording.program.extra:
        raise Unfit("it needs another interpreter")
    try:
        program = recording.program
        files = _files(recording, all_methods=True)
        yield input_sample(program, files, _result(recording), strict=_strict(program))
    except Refused:
        raise Unfit("the arguments cannot be written as an answer may be") from None


# -- lines ---------------------------------------------------------------------------------------------


class Visit(Protocol):
    """What `arrivals` needs of an event: a `Row` has it, and so has an event of a predicted run."""

    @property
    def kind(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def frame(self) -> int: ...
    @property
    def function(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Arrival:
    """A statement begins to run: a line event of a frame that was not at that statement before.

    line: first line of the statement. k: how often the line was arrived at, this time included.
    then: what the frame arrives at next: a line, ``return``, ``raise``, or None: it is not known.
    """

    index: int
    file: str
    line: int
    frame: int
    function: str
    k: int
    then: int | str | None


def arrivals(events: Iterable[Visit], lines: Mapping[str, Statements]) -> list[Arrival]:
    """Every arrival at a statement of the files in `lines`, in order."""
    at: dict[int, int] = {}
    """Frame -> statement that it is at."""
    open_: dict[int, Arrival] = {}
    counts: Counter[tuple[str, int]] = Counter()
    found: list[Arrival] = []
    then: dict[int, int | str] = {}
    resumed: dict[int, int] = {}
    for row in itertools.islice(events, SCANNED_EVENTS):
        known = lines.get(row.file)
        if known is None:
            continue
        if row.kind == Kind.LINE:
            line = known.first.get(row.line, row.line)
            if at.get(row.frame) == line:
                continue
            at[row.frame] = line
            if row.frame in open_:
                then[open_[row.frame].index] = line
            counts[row.file, line] += 1
            k = counts[row.file, line]
            open_[row.frame] = Arrival(row.index, row.file, line, row.frame, row.function, k, None)
            found.append(open_[row.frame])
        elif row.frame in open_ and row.kind == Kind.RESUME:
            resumed[row.frame] = open_[row.frame].index
        elif row.frame in open_ and row.kind == Kind.RETURN:
            then[open_[row.frame].index] = "return"
        elif (
            row.frame in open_
            and row.kind == Kind.UNWIND
            and resumed.get(row.frame) != open_[row.frame].index
        ):
            then[open_[row.frame].index] = "raise"  # what is thrown into a generator is not told beforehand
    return [Arrival(a.index, a.file, a.line, a.frame, a.function, a.k, then.get(a.index)) for a in found]


def _rows(recording: Recording) -> Iterator[Row]:
    """The events of the main thread that there are at every level: instructions are left out."""
    return (row for row in recording.trace.rows if row.kind != Kind.INSTRUCTION)


def _lines(recording: Recording, files: Sequence[ShownSource]) -> dict[str, Statements]:
    """The statements of every file that is shown."""
    found = {}
    if len(recording.traces) > 1:
        raise Unfit("runs in several threads")
    _check_all_recorded(recording)
    for shown in files:
        source = recording.source(shown.file)
        known = statements(source) if source is not None else None
        if known is None:
            raise Unfit("a source cannot be parsed")
        found[shown.file] = known
    return found


def _files(recording: Recording, *, all_methods: bool = False) -> tuple[ShownSource, ...]:
    files = shown_files(recording, all_methods=all_methods)
    if isinstance(files, str):
        raise Unfit(files)
    return files


def _where(files: Sequence[ShownSource], file: str) -> str:
    """Which file, where several are shown."""
    return f" in {file}" if len(files) > 1 else ""


def _next_line(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    files = _files(recording)
    lines = _lines(recording, files)
    places = [a for a in arrivals(_rows(recording), lines) if _can_ask_next(a, lines[a.file])]
    if recording.program.mode is Mode.SESSION:  # every statement of it has a frame of its own
        places = [a for a in places if a.function != "<module>"]
    if not places:
        raise Unfit("no line with one clear successor")
    following = {shown.file: _following(shown) for shown in files}
    found = 0
    for place in _mixed(places, following, rng):
        if found == per_recording:
            return
        event = recording.trace[place.index]
        state = _state_text(event, names_used(recording.source(place.file) or "", place.line))
        if state is None:
            continue
        found += 1
        task = (
            f"How it is run: {how_run(recording.program)}\n"
            f"About to run: line {place.line}{_in_function(place)}{_where(files, place.file)}\n{state}"
        )
        yield Sample(
            id=f"{recording.id}:next_line:{place.index}",
            question="next_line",
            program=recording.id,
            cluster=cluster_of(recording.program),
            parts=parts_of("next_line", files, task),
            answer=str(place.then),
            data={
                "form": "line",
                "file": place.file,
                "line": place.line,
                "k": place.k,
                "event": place.index,
                "frame": place.frame,
                "function": place.function,
                "falls_through": place.then == following[place.file].get(place.line),
            },
        )
    if not found:
        raise Unfit("no state that can be shown whole")


def _in_function(place: Arrival) -> str:
    return ", at the top level" if place.function == "<module>" else f" of {place.function}"


def _can_ask_next(place: Arrival, lines: Statements) -> bool:
    if place.line not in lines.plain or place.then is None:
        return False
    if place.line in lines.leaves and place.then == "return":
        return False  # the line says so itself
    return isinstance(place.then, str) or place.then in lines.plain


def _following(shown: ShownSource) -> dict[int, int]:
    """Line -> the next line in the text that is neither empty nor a comment."""
    numbers = [
        n for n, line in shown.lines if n is not None and line.strip() and not line.lstrip().startswith("#")
    ]
    return dict(pairwise(numbers))


def _mixed(
    places: list[Arrival], following: Mapping[str, Mapping[int, int]], rng: random.Random
) -> Iterator[Arrival]:
    """The places in a drawn order in which those where the run goes on at the next line of the text and those
    where it goes elsewhere take turns, lest the text alone answer most of them. A place (line and
    successor) that was drawn already comes after all others.
    """
    shuffled = rng.sample(places, len(places))
    seen: set[tuple[str, int, int | str | None]] = set()
    fresh: list[Arrival] = []
    again: list[Arrival] = []
    for place in shuffled:
        key = (place.file, place.line, place.then)
        (again if key in seen else fresh).append(place)
        seen.add(key)
    for group in (fresh, again):
        falls = [p for p in group if p.then == following[p.file].get(p.line)]
        jumps = [p for p in group if p.then != following[p.file].get(p.line)]
        first, second = (falls, jumps) if rng.random() < 0.5 else (jumps, falls)
        while first or second:
            if first:
                yield first.pop()
            first, second = second, first


def _state_text(event: Event, used: frozenset[str]) -> str | None:
    """A frame's values and live iterators as text; None if they cannot be shown whole and short.

    Of globals those that the frame's code names. Functions and classes are left out: they stand in the
    source, or are the library's.
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
    shown = [f"    {name} = {render(value)}" for name, value in values.items()]
    text = "Values:\n" + "\n".join(shown) if shown else "Values: none yet"
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
    return value.whole and not any(one.bare for one in value.walk())


def _plain(value: Value) -> bool:
    """Whole and of builtins, and no cycle in it: ``[[...]]`` is also how a list of an Ellipsis reads."""
    return value.builtin and all(one.kind != "ref" for one in value.walk())


def _state(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if len(recording.trace) > STATE_EVENTS and any(
        True for _ in itertools.islice(_rows(recording), STATE_EVENTS, None)
    ):
        raise Unfit("the run is long")
    _check_arguments(recording.program, "literal", "shown")
    files = _files(recording)
    lines = _lines(recording, files)
    names, called = _names_at(recording), _parameters(recording)
    visits = [a for a in arrivals(_rows(recording), lines) if a.line in lines[a.file].plain]
    places = [(a, name) for a in visits for name in sorted(names[a.index])]
    found = 0
    for place, name in _fresh_first(rng.sample(places, len(places))):
        if found == per_recording:
            return
        value = recording.trace[place.index].locals.get(name)
        if value is None or not _plain(value) or len(text := render(value)) > STATE_CHARS:
            continue
        if called.get(place.frame, {}).get(name) == text:
            continue  # a parameter as it was passed: nothing to work out
        found += 1
        yield _state_sample(recording, files, place, name, text)
    if not found:
        raise Unfit("no variable with short plain data of its own")


def _fresh_first(places: list[tuple[Arrival, str]]) -> list[tuple[Arrival, str]]:
    """The same places; those whose line and variable stood earlier in the list come after all others."""
    seen: set[tuple[str, int, str]] = set()
    fresh: list[tuple[Arrival, str]] = []
    again: list[tuple[Arrival, str]] = []
    for place, name in places:
        key = (place.file, place.line, name)
        (again if key in seen else fresh).append((place, name))
        seen.add(key)
    return fresh + again


def _state_sample(
    recording: Recording, files: Sequence[ShownSource], place: Arrival, name: str, text: str
) -> Sample:
    task = (
        f"How it is run: {how_run(recording.program)}\n"
        f"Variable: {name}, just before line {place.line}{_where(files, place.file)} "
        f"runs for time number {place.k}"
    )
    where = f"{place.line}:{place.k}:{name}"
    if place.file != recording.program.filename:
        where = f"{place.file}:{where}"
    return Sample(
        id=f"{recording.id}:state:{where}",
        question="state",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts=parts_of("state", files, task),
        answer=text,
        data={
            "form": "value",
            "strict": True,
            "file": place.file,
            "line": place.line,
            "k": place.k,
            "variable": name,
            "event": place.index,
        },
    )


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


def _path(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    _check_arguments(recording.program, "literal", "shown")
    files = _files(recording)
    lines = _lines(recording, files)
    ran = Counter(row.file for row in recording.trace.rows if row.kind == Kind.LINE and row.file in lines)
    if not ran:
        raise Unfit("no line runs")
    most = max(ran.values())
    file = next(shown.file for shown in files if ran[shown.file] == most)
    if most > 10 * PATH_EVENTS:
        raise Unfit("the path is long")
    known = lines[file]
    visited = [row.line for row in recording.trace.rows if row.kind == Kind.LINE and row.file == file]
    path = path_of(visited, known.first, known.silent)
    if len(path) > PATH_EVENTS:
        raise Unfit("the path is long")
    if not path:
        raise Unfit("no line runs")
    task = f"How it is run: {how_run(recording.program)}"
    if len(files) > 1:
        task += f"\nLines: those of {file} only"
    shown_lines = {line for shown in files if shown.file == file for line, _ in shown.lines}
    if not shown_lines.isdisjoint(with_lines(recording.source(file) or "")):
        task += "\nNote: the line of a with statement runs again when its block is left."
    yield Sample(
        id=f"{recording.id}:path",
        question="path",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts=parts_of("path", files, task),
        answer=str(path),
        data={
            "form": "lines",
            "file": file,
            "first": {str(line): first for line, first in known.first.items() if line != first},
            "silent": sorted(known.silent),
        },
    )


def path_of(lines: Sequence[int], first: Mapping[int, int], silent: frozenset[int]) -> list[int]:
    """Lines in order, each as the first line of its statement, silent ones left out, repeats on end once.

    The answer of a model goes through the same function as the recording.
    """
    path: list[int] = []
    for line in lines:
        line = first.get(line, line)
        if line not in silent and (not path or path[-1] != line):
            path.append(line)
    return path


# -- exceptions ------------------------------------------------------------------------------------------

_BY_DEPTH = frozenset({"RecursionError", "MemoryError"})
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
MESSAGE_CHARS = 200


def message_of(text: str) -> str:
    """What is compared of an exception's message: its first line, no addresses, white space as one space."""
    line = text.strip().partition("\n")[0]
    return " ".join(_ADDRESS.sub("0x0", line).split())[:MESSAGE_CHARS]


def _exception(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if recording.outcome is not Outcome.RAISED or recording.ending.exception is None:
        raise Unfit("no exception leaves it")
    if recording.ending.exception in _BY_DEPTH:
        raise Unfit("how deep the stack may be is not the program's doing")
    _check_arguments(recording.program, "literal", "shown")
    files = _files(recording)
    lines = _lines(recording, files)
    file, line = _raised_at(recording)
    shown = {number for each in files if each.file == file for number, _ in each.lines}
    if file not in lines or line not in shown:
        raise Unfit("it is raised in code that is not shown")
    line = lines[file].first.get(line, line)
    name = recording.ending.exception.rpartition(".")[2]
    message = message_of(recording.ending.detail.partition(": ")[2])
    task = f"How it is run: {how_run(recording.program)}"
    if len(files) > 1:
        task += f"\nLine: one of {file}"
    yield Sample(
        id=f"{recording.id}:exception",
        question="exception",
        program=recording.id,
        cluster=cluster_of(recording.program),
        parts=parts_of("exception", files, task),
        answer=f"{line}: {name}: {message}" if message else f"{line}: {name}",
        data={"form": "exception", "file": file, "line": line, "exception": name, "message": message},
    )


def _raised_at(recording: Recording) -> tuple[str, int]:
    """File and line where the exception that left the run came up: the last recorded line of its traceback.

    An exception in flight has no number that outlives a frame, and one that is raised again by a bare
    ``raise`` has no event. So it is followed back: from the frame that it left to its first event there, and,
    where that comes right after a callee was left by one of this class, on in the callee.
    """
    rows = recording.trace.rows
    raises: dict[int, list[tuple[int, Value]]] = {}
    for row in rows:
        if row.kind == Kind.RAISE and (value := recording.trace[row.index].value) is not None:
            raises.setdefault(row.frame, []).append((row.index, value))
    leaves = [row.index for row in rows if row.kind == Kind.UNWIND and row.frame == rows[0].frame]
    if not leaves:
        raise Unfit("where it is raised is not recorded")
    found: int | None = None
    frame, before, name = rows[0].frame, leaves[-1], recording.ending.exception
    while True:
        here = [(at, value) for at, value in raises.get(frame, ()) if at <= before]
        last = next((value for _, value in reversed(here) if _class(value.type) == _class(name)), None)
        if last is None:
            break
        found = next(
            at for at, value in here if value is last or (last.id is not None and value.id == last.id)
        )
        name, left = last.type, rows[found - 1]
        if left.kind != Kind.UNWIND or left.frame == frame:
            break
        frame, before = left.frame, left.index
    if found is None:
        raise Unfit("where it is raised is not recorded")
    return rows[found].file, rows[found].line


def _class(name: str | None) -> str:
    return (name or "").rpartition(".")[2]


QUESTIONS = Registry(
    "questions",
    Question,
    [
        Question("output", _output, 1, "what does the call return, or the program print?"),
        Question("input", _input, 1, "which arguments make the function return this value? answers are run"),
        Question("next_line", _next_line, 4, "which line of the frame runs next?"),
        Question(
            "state", _state, 4, "what is the value of a variable just before a line runs for the k-th time?"
        ),
        Question("path", _path, 1, "which lines run, in order?"),
        Question("exception", _exception, 1, "which exception leaves the run, and which line raises it?"),
    ],
)
"""Kind of question -> the function that asks it of a recording."""


def question(
    name: str, *, about: str, per_recording: int = 1, score: Score | None = None
) -> Callable[[Ask], Question]:
    """Make a kind of question of a function that asks it.

        @question("events", about="how many events does the run have?")
        def events(recording, rng, per_recording):
            yield sample_about(
                recording, "events", task="How many events does this run have?",
                asked=f"How it is run: {how_run(recording.program)}", answer=str(len(recording.trace)),
            )

    The function is given the recording, a generator that is seeded for it, and how many samples are wanted at
    most. It raises `Unfit` for a recording that it does not ask about. about: what is asked, in a sentence.
    score: see `Question`.
    """
    return lambda ask: QUESTIONS.register(Question(name, ask, per_recording, about, score))


def sample_about(
    recording: Recording,
    name: str,
    *,
    task: str,
    asked: str,
    answer: str,
    form: str = "value",
    numbered: bool = False,
    place: str = "",
    data: Mapping[str, Any] | None = None,
) -> Sample:
    """A sample of a kind of one's own. The prompt is the task, the program and the question.

    task: what is to be done; that the answer stands between marks is added. asked: this question. answer: the
    right one, at most 1,000 characters. form: how answers are compared: ``value``, as values of Python;
    ``stdout``, as printed text; ``line``, as a line number; ``own``, by the question's `score`. numbered:
    show line numbers. place: tells several samples of a recording apart. data: for `score`, JSON-able.

    Raises Unfit for an answer that is too long.
    """
    if len(answer) > ANSWER_CHARS:
        raise Unfit("the answer is long")
    program = recording.program
    return Sample(
        id=":".join(filter(None, (program.id, name, place))),
        question=name,
        program=program.id,
        cluster=cluster_of(program),
        parts=own_parts(task, _files(recording), asked, numbered=numbered),
        answer=answer,
        data={"form": form, **({"strict": True} if form == "value" else {}), **(data or {})},
    )
