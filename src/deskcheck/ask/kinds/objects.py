"""Kinds about calls and objects: callers and callees, names of one object, types of variables.

Types of variables are those of PYInfer (arXiv:2106.14316), but at run time. Calls are those of a profile.
"""

import ast
import json
import random
from collections import Counter
from collections.abc import Iterator

from deskcheck.ask.kinds.runs import guessed_state
from deskcheck.ask.samples.guessing import called_name, code_in, functions_in, guesses, is_literal, tree_of
from deskcheck.ask.samples.kind import in_turns, kind, sample_of, sample_of_variable
from deskcheck.ask.samples.places import Arrival, Run, Unfit, is_asked_name, whole_run_of
from deskcheck.ask.samples.sample import Sample
from deskcheck.notation.calls import begins, functions, parsed
from deskcheck.recording import Event, Kind, Recording, Value

SCANNED_STATES = 400
"""Places of a run whose variables are looked at: a state of a long run takes time to restore."""
MOST_PAIRS = 12
"""Pairs of caller and callee in one answer."""
_SHARED = frozenset({"list", "dict", "set", "bytearray", "object"})
"""Kinds of values that a program can change, so that it matters whether two names are one of them."""
_NO_DATA = frozenset({"function", "class", "method", "unbound", "opaque"})


# -- calls ---------------------------------------------------------------------------------------------


@kind("calls", "which functions call which, and how often?", of_raised=True)
def calls(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    counts = _calls(recording, run)
    if sum(counts.values()) < 2:
        raise Unfit("it makes fewer than two calls of the program's functions")
    if len(counts) > MOST_PAIRS:
        raise Unfit("the answer is too long")
    answer = dict(sorted(counts.items()))
    question = "Count: every call of a function of the program by a function of the program"
    yield sample_of(recording, "calls", run.files, question, str(answer))


def _calls(recording: Recording, run: Run) -> Counter[tuple[str, str]]:
    """(Caller, callee) -> how often."""
    names: dict[str, set[str]] = {}
    for source in run.files:
        defined = functions(recording.source(source.file) or "")
        names[source.file] = {name for name, _ in defined}
        lazy = {name for name, node in defined if begins(node)}
        if any(row.file == source.file and row.function in lazy for row in recording.trace.rows):
            raise Unfit("it runs generators or coroutines")
    several = Counter(name for file in run.files for name, _ in functions(recording.source(file.file) or ""))
    if any(count > 1 for count in several.values()):
        raise Unfit("two functions have one name")
    frames: dict[int, str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for row in recording.trace.rows:
        if row.kind not in (Kind.CALL, Kind.RESUME):
            continue
        caller = frames.get(json.loads(row.caller)["frame"]) if row.caller else None
        frames[row.frame] = _holder(row.function, names.get(row.file, set()))
        if row.kind == Kind.CALL and row.function in names.get(row.file, ()) and caller is not None:
            counts[caller, frames[row.frame]] += 1
    return counts


@guesses("calls")
def _guessed_calls(prompt: str) -> str:
    """Once for each place in the text where a function of the program calls one by its name."""
    defined = functions_in(tree_of(code_in(prompt)))
    names = {node.name for node in defined}
    counts: Counter[tuple[str, str]] = Counter()
    for caller in defined:
        for node in ast.walk(caller):
            if isinstance(node, ast.Call) and (name := called_name(node)) in names:
                counts[caller.name, name] += 1
    return str(dict(counts))


def _holder(function: str, names: set[str]) -> str:
    """The function whose text holds a frame's code, as answers write it (``outer.inner``): for a
    comprehension, a lambda or the body of a class the one around it."""
    while function not in names:
        if "." not in function:
            return "<module>"
        function = function.rpartition(".")[0].removesuffix(".<locals>")
    return function.replace(".<locals>", "")


# -- one object, several names -------------------------------------------------------------------------


def _states(recording: Recording, run: Run, rng: random.Random) -> list[Arrival]:
    """Places of functions and of the top level whose state is looked at, in the order of the run."""
    functions_shown = {
        (source.file, name)
        for source in run.files
        for name in ("<module>", *(name for name, _ in functions(recording.source(source.file) or "")))
    }
    places = [
        visit
        for visit in run.visits
        if visit.line in run.lines[visit.file].plain and (visit.file, visit.function) in functions_shown
    ]
    if len(places) > SCANNED_STATES:
        places = sorted(rng.sample(places, SCANNED_STATES), key=lambda visit: visit.index)
    return places


def _variables(event: Event) -> dict[str, Value]:
    return {
        name: value
        for name, value in event.locals.items()
        if name.isidentifier() and value.kind not in _NO_DATA and not name.startswith("__")
    }


@kind("alias", "which variables are the same object?", 2, of_raised=True)
def alias(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    places: list[tuple[Arrival, str, frozenset[str]]] = []
    for arrival in _states(recording, run, rng):
        event = recording.trace[arrival.index]
        if event.function == "<module>":
            continue
        shared = {
            name: value
            for name, value in _variables(event).items()
            if value.kind in _SHARED and value.id is not None
        }
        for name, value in shared.items():
            others = {
                variable for variable in shared if variable != name and shared[variable].type == value.type
            }
            if others and is_asked_name(name, recording.source(arrival.file) or ""):
                same = frozenset(variable for variable in others if shared[variable].id == value.id)
                places.append((arrival, name, same))
    if not places:
        raise Unfit("no function has two variables with objects of one type")
    if not any(same for _, _, same in places):
        raise Unfit("no two variables of a function are the same object")
    drawn = in_turns(
        places,
        rng,
        lambda candidate: bool(candidate[2]),
        lambda candidate: (candidate[0].file, candidate[0].line, candidate[1]),
    )
    for arrival, name, same in drawn:
        answer = "{" + ", ".join(map(repr, sorted(same))) + "}" if same else "set()"
        yield sample_of_variable(recording, "alias", run, arrival, name, answer)


@guesses("alias")
def _guessed_alias(prompt: str) -> str:
    return "set()"


# -- types ---------------------------------------------------------------------------------------------


@kind(
    "type",
    "what is the class of a variable's value?",
    4,
    of_raised=True,
    none="no variable whose value a function made",
)
def type_(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if any(map(_renames, (recording.program.code, *recording.run_result.sources.values()))):
        raise Unfit("it renames a class")
    run = whole_run_of(recording)
    began: dict[int, dict[str, str]] = {}
    for visit in run.visits:
        if visit.frame not in began:
            variables = _variables(recording.trace[visit.index])
            began[visit.frame] = {name: value.type for name, value in variables.items()}
    places = [
        (arrival, name, value.type)
        for arrival in _states(recording, run, rng)
        for name, value in _variables(recording.trace[arrival.index]).items()
        if is_asked_name(name, recording.source(arrival.file) or "")
        if began[arrival.frame].get(name) != value.type  # a parameter as it was passed: nothing to work out
    ]
    drawn = in_turns(
        places,
        rng,
        lambda candidate: candidate[2],
        lambda candidate: (candidate[0].file, candidate[0].line, candidate[1]),
    )
    for arrival, name, class_ in drawn:
        answer = class_.rpartition(".")[2]
        yield sample_of_variable(recording, "type", run, arrival, name, answer, form="name")


@guesses("type")
def _guessed_type(prompt: str) -> str:
    """The class of the value that is guessed for `state`."""
    value = guessed_state(prompt)
    return type(ast.literal_eval(value)).__name__ if is_literal(value) else "int"


def _renames(source: str) -> bool:
    """Whether ``__name__`` or ``__qualname__`` of something is assigned: recordings have only the second."""
    if "__name__" not in source and "__qualname__" not in source:
        return False
    tree = parsed(source)
    return tree is not None and any(
        isinstance(node, ast.Attribute)
        and node.attr in ("__name__", "__qualname__")
        and isinstance(node.ctx, ast.Store)
        for node in ast.walk(tree)
    )
