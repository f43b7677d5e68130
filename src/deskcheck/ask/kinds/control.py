"""Kinds about control flow: which way a condition goes, how often a loop turns, what it leaves behind, which
line follows, whether a line runs at all.

After CodeSense (arXiv:2506.00750: loop iterations, branches, values after a loop), REval (arXiv:2403.16437:
coverage, next line) and CoCoNUT (arXiv:2501.16456: lines that follow one another).
"""

import ast
import bisect
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from deskcheck.ask.samples.blocks import Block, blocks, is_constant
from deskcheck.ask.samples.kind import in_turns, sample_of
from deskcheck.ask.samples.places import (
    Arrival,
    Run,
    Unfit,
    has_one_successor,
    in_function,
    is_asked_name,
    plain,
    where,
    whole_run_of,
)
from deskcheck.ask.samples.sample import Sample
from deskcheck.notation.calls import DEFINITIONS, functions
from deskcheck.recording import Kind, Recording, render

VALUE_CHARS = 200


def _interrupted(recording: Recording, run: Run) -> set[int]:
    """Arrivals after which an exception came up in their frame before it arrived anywhere else. The one that
    ends an iterator is none."""
    frames: dict[int, list[int]] = {}
    for visit in run.visits:
        frames.setdefault(visit.frame, []).append(visit.index)
    found = set()
    for row in recording.trace.rows:
        if row.kind == Kind.RAISE and row.frame in frames:
            value = recording.trace[row.index].value
            if value is None or value.type not in ("StopIteration", "StopAsyncIteration"):
                before = bisect.bisect(frames[row.frame], row.index)
                found.update(frames[row.frame][before - 1 : before])
    return found


def _blocks(recording: Recording, run: Run) -> dict[tuple[str, int], Block]:
    """(File, line) -> block, of what is shown."""
    return {
        (shown.file, line): block
        for shown in run.files
        for line, block in blocks(recording.source(shown.file) or "").items()
    }


def _at(place: Arrival, run: Run) -> str:
    return f"line {place.line}{in_function(place)}{where(run.files, place.file)}"


# -- conditions ----------------------------------------------------------------------------------------


def branch(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    known = _blocks(recording, run)
    interrupted = _interrupted(recording, run)
    taken: list[tuple[Arrival, bool]] = []
    for visit in run.visits:
        block = known.get((visit.file, visit.line))
        if block is None or block.keyword == "for" or visit.index in interrupted:
            continue
        if visit.then is not None and visit.then != "raise":
            taken.append((visit, isinstance(visit.then, int) and visit.then in block.body))
    if not taken:
        raise Unfit("no condition is tested")
    drawn = in_turns(taken, rng, lambda one: one[1], lambda one: (one[0].file, one[0].line))
    for (place, answer), _ in zip(drawn, range(per_recording), strict=False):
        keyword = known[place.file, place.line].keyword
        yield sample_of(
            recording,
            "branch",
            run.files,
            f"Condition: that of the {keyword} in {_at(place, run)}, tested for time number {place.k}",
            str(answer),
            place=f"{place.line}:{place.k}",
            data={"file": place.file, "line": place.line, "k": place.k, "event": place.index},
        )


def visit(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    visits = [one for one in run.visits if has_one_successor(one, recording, run)]
    if not visits:
        raise Unfit("no line with one clear successor")
    drawn = in_turns(visits, rng, lambda one: one.then, lambda one: (one.file, one.line))
    for place, _ in zip(drawn, range(per_recording), strict=False):
        yield sample_of(
            recording,
            "visit",
            run.files,
            f"Line: {_at(place, run)}, when it runs for time number {place.k}",
            str(place.then),
            form="line",
            place=f"{place.line}:{place.k}",
            data={"file": place.file, "line": place.line, "k": place.k, "event": place.index},
        )


# -- loops ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Loop:
    """One run of a loop, from where it is entered to where it is left."""

    block: Block
    first: Arrival
    k: int = 0
    """How often the loop was entered, this time included, in all calls."""
    passes: int = 0
    last: Arrival | None = None
    """The last arrival in it."""
    after: Arrival | None = None
    """The arrival after it, in the same frame."""


def _loops(recording: Recording, run: Run) -> list[_Loop]:
    known = {at: block for at, block in _blocks(recording, run).items() if block.loops and not block.joined}
    frames: dict[int, list[_Loop]] = {}
    """Frame -> loops that it is in, outermost first."""
    counts: Counter[tuple[str, int]] = Counter()
    found: list[_Loop] = []
    for visit in run.visits:
        inside = frames.setdefault(visit.frame, [])
        while inside and visit.line not in inside[-1].block:
            inside.pop().after = visit
        block = known.get((visit.file, visit.line))
        if block is not None and not (inside and inside[-1].block is block):
            counts[visit.file, visit.line] += 1
            inside.append(_Loop(block, visit, counts[visit.file, visit.line]))
            found.append(inside[-1])
        for loop in inside:
            loop.last = visit
        if block is not None and isinstance(visit.then, int) and visit.then in block.body:
            inside[-1].passes += 1
    return found


def _nth(loop: _Loop, run: Run) -> str:
    return f"that in {_at(loop.first, run)}, when it is entered for time number {loop.k}"


def _drawn(loops: list[_Loop], rng: random.Random) -> Iterator[_Loop]:
    return in_turns(loops, rng, lambda loop: loop.passes, lambda loop: (loop.first.file, loop.first.line))


def iterations(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    loops = _loops(recording, run)
    if not loops:
        raise Unfit("no loop runs")
    for loop, _ in zip(_drawn(loops, rng), range(per_recording), strict=False):
        place = loop.first
        yield sample_of(
            recording,
            "iterations",
            run.files,
            f"Loop: {_nth(loop, run)}",
            str(loop.passes),
            place=f"{place.line}:{loop.k}",
            data={"file": place.file, "line": place.line, "k": loop.k, "event": place.index},
        )


def after_loop(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    interrupted = _interrupted(recording, run)
    ended = [
        loop
        for loop in _loops(recording, run)
        if loop.after
        and loop.last
        and loop.last.index not in interrupted
        and loop.last.line not in run.lines[loop.last.file].leaves  # a return, before a finally
        and not loop.block.has_else
    ]
    if not ended:
        raise Unfit("no loop runs to an end that is followed by a line")
    found = 0
    for loop in _drawn(ended, rng):
        if found == per_recording:
            return
        changed = _changed(recording, loop)
        if not changed:
            continue
        found += 1
        name = rng.choice(sorted(changed))
        place = loop.first
        yield sample_of(
            recording,
            "after_loop",
            run.files,
            f"Loop: {_nth(loop, run)}\nVariable: {name}, when the loop has ended",
            changed[name],
            place=f"{place.line}:{loop.k}:{name}",
            data={
                "file": place.file,
                "line": place.line,
                "k": loop.k,
                "variable": name,
                "event": loop.after.index if loop.after else None,
            },
        )
    if not found:
        raise Unfit("no loop changes a variable with short plain data")


def _changed(recording: Recording, loop: _Loop) -> dict[str, str]:
    """Variables with another value after a loop than before it, and the value."""
    assert loop.after is not None
    before, after = recording.trace[loop.first.index].locals, recording.trace[loop.after.index].locals
    found = {}
    for name, value in after.items():
        if not is_asked_name(name, recording.source(loop.first.file) or ""):
            continue
        if not plain(value) or len(text := render(value)) > VALUE_CHARS:
            continue
        if name not in before or render(before[name]) != text:
            found[name] = text
    return found


# -- lines ---------------------------------------------------------------------------------------------

_SURE = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.For, ast.If, ast.Raise, ast.Delete)
"""Statements that have an event whenever they run, in every version of Python."""


def coverage(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    ran = {(one.file, one.line) for one in run.visits}
    called = {(row.file, row.function) for row in recording.trace.rows if row.kind == Kind.CALL}
    places: list[tuple[str, int, bool]] = []
    for shown in run.files:
        source = recording.source(shown.file) or ""
        numbers = {number for number, _ in shown.lines}
        inside = {
            line
            for name, node in functions(source)
            if (shown.file, name) in called
            for line in _own_lines(node)
        }
        for line in sorted(inside & numbers & run.lines[shown.file].plain):
            places.append((shown.file, line, (shown.file, line) in ran))
    if all(there for _, _, there in places):
        raise Unfit("every line of the functions that are called runs")
    drawn = in_turns(places, rng, lambda one: one[2], lambda one: one[:2])
    for (file, line, there), _ in zip(drawn, range(per_recording), strict=False):
        yield sample_of(
            recording,
            "coverage",
            run.files,
            f"Line: {line}{where(run.files, file)}",
            str(there),
            place=str(line),
            data={"file": file, "line": line},
        )


def _own_lines(function: ast.AST) -> set[int]:
    """Lines of a function's statements that are sure to have an event, without those of functions inside."""
    found: set[int] = set()
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, DEFINITIONS):
            continue
        if isinstance(node, _SURE) and not (isinstance(node, ast.If) and is_constant(node.test)):
            found.add(node.lineno)
        todo.extend(ast.iter_child_nodes(node))
    return found
