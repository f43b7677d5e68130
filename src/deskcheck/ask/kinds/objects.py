"""Kinds about calls and objects: who calls whom, which names are one object, of which type a variable is.

Types of variables after PYInfer (arXiv:2106.14316), but as they are at run time; calls as in a profile.
"""

import ast
import json
import random
from collections import Counter
from collections.abc import Iterator

from deskcheck.ask.samples.kind import in_turns, sample_of
from deskcheck.ask.samples.places import (
    Arrival,
    Run,
    Unfit,
    is_asked_name,
    variable_at,
    variable_data,
    whole_run_of,
)
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


def calls(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    counts = _calls(recording, run)
    if sum(counts.values()) < 2:
        raise Unfit("it makes fewer than two calls of its own functions")
    if len(counts) > MOST_PAIRS:
        raise Unfit("the answer is long")
    answer = dict(sorted(counts.items()))
    asked = "Count: every call of a function of the program by a function of the program"
    yield sample_of(recording, "calls", run.files, asked, str(answer))


def _calls(recording: Recording, run: Run) -> Counter[tuple[str, str]]:
    """(Caller, callee) -> how often."""
    names: dict[str, set[str]] = {}
    for shown in run.files:
        known = functions(recording.source(shown.file) or "")
        names[shown.file] = {name for name, _ in known}
        lazy = {name for name, node in known if begins(node)}
        if any(row.file == shown.file and row.function in lazy for row in recording.trace.rows):
            raise Unfit("it runs generators or coroutines, whose calls are no calls")
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
    known = {
        (shown.file, name)
        for shown in run.files
        for name in ("<module>", *(name for name, _ in functions(recording.source(shown.file) or "")))
    }
    places = [
        one
        for one in run.visits
        if one.line in run.lines[one.file].plain and (one.file, one.function) in known
    ]
    if len(places) > SCANNED_STATES:
        places = sorted(rng.sample(places, SCANNED_STATES), key=lambda one: one.index)
    return places


def _variables(event: Event) -> dict[str, Value]:
    return {
        name: value
        for name, value in event.locals.items()
        if name.isidentifier() and value.kind not in _NO_DATA and not name.startswith("__")
    }


def alias(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    found: list[tuple[Arrival, str, frozenset[str]]] = []
    for place in _states(recording, run, rng):
        event = recording.trace[place.index]
        if event.function == "<module>":
            continue
        shared = {
            name: value
            for name, value in _variables(event).items()
            if value.kind in _SHARED and value.id is not None
        }
        for name, value in shared.items():
            if not is_asked_name(name, recording.source(place.file) or ""):
                continue
            others = {other for other in shared if other != name}
            if any(shared[other].type == value.type for other in others):
                same = frozenset(other for other in others if shared[other].id == value.id)
                found.append((place, name, same))
    if not found:
        raise Unfit("no function has two variables with objects of one type")
    if not any(same for _, _, same in found):
        raise Unfit("no two variables of a function are the same object")
    drawn = in_turns(found, rng, lambda one: bool(one[2]), lambda one: (one[0].file, one[0].line, one[1]))
    for (place, name, same), _ in zip(drawn, range(per_recording), strict=False):
        yield sample_of(
            recording,
            "alias",
            run.files,
            variable_at(place, name, run),
            "{" + ", ".join(map(repr, sorted(same))) + "}" if same else "set()",
            place=f"{place.line}:{place.k}:{name}",
            data=variable_data(place, name),
        )


# -- types ---------------------------------------------------------------------------------------------


def type_(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    if any(map(_renames, (recording.program.code, *recording.run_result.sources.values()))):
        raise Unfit("it gives a class another name")
    run = whole_run_of(recording)
    began: dict[int, dict[str, str]] = {}
    for visit in run.visits:
        if visit.frame not in began:
            variables = _variables(recording.trace[visit.index])
            began[visit.frame] = {name: value.type for name, value in variables.items()}
    found = [
        (place, name, value.type)
        for place in _states(recording, run, rng)
        for name, value in _variables(recording.trace[place.index]).items()
        if is_asked_name(name, recording.source(place.file) or "")
        if began[place.frame].get(name) != value.type  # a parameter as it was passed: nothing to work out
    ]
    if not found:
        raise Unfit("no variable that a function has made itself")
    drawn = in_turns(found, rng, lambda one: one[2], lambda one: (one[0].file, one[0].line, one[1]))
    for (place, name, answer), _ in zip(drawn, range(per_recording), strict=False):
        yield sample_of(
            recording,
            "type",
            run.files,
            variable_at(place, name, run),
            answer.rpartition(".")[2],
            form="name",
            place=f"{place.line}:{place.k}:{name}",
            data=variable_data(place, name),
        )


def _renames(source: str) -> bool:
    """Whether ``__name__`` or ``__qualname__`` of something is assigned: recordings have the second alone."""
    if "__name__" not in source and "__qualname__" not in source:
        return False
    tree = parsed(source)
    return tree is not None and any(
        isinstance(node, ast.Attribute)
        and node.attr in ("__name__", "__qualname__")
        and isinstance(node.ctx, ast.Store)
        for node in ast.walk(tree)
    )
