"""Kinds about control flow: the result of a condition, the number of iterations of a loop, values after a
loop, the line that follows, whether a line runs at all.

After CodeSense (arXiv:2506.00750: loop iterations, branches, values after a loop), REval (arXiv:2403.16437:
coverage, next line) and CoCoNUT (arXiv:2501.16456: lines that follow one another).
"""

import ast
import bisect
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from deskcheck.ask.samples.blocks import Block, blocks, is_constant
from deskcheck.ask.samples.guessing import (
    call_in,
    guesses,
    held_before,
    is_literal,
    labelled,
    numbered_lines,
)
from deskcheck.ask.samples.kind import in_turns, kind, sample_at, sample_of
from deskcheck.ask.samples.places import (
    Arrival,
    Run,
    Unfit,
    has_one_successor,
    is_asked_name,
    line_text,
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
    interrupted = set()
    for row in recording.trace.rows:
        if row.kind == Kind.RAISE and row.frame in frames:
            value = recording.trace[row.index].value
            if value is None or value.type not in ("StopIteration", "StopAsyncIteration"):
                before = bisect.bisect(frames[row.frame], row.index)
                interrupted.update(frames[row.frame][before - 1 : before])
    return interrupted


def _blocks(recording: Recording, run: Run) -> dict[tuple[str, int], Block]:
    """(File, line) -> block, for the sources that are shown."""
    return {
        (source.file, line): block
        for source in run.files
        for line, block in blocks(recording.source(source.file) or "").items()
    }


# -- conditions ----------------------------------------------------------------------------------------


@kind(
    "branch",
    "which way does a condition go, the k-th time?",
    2,
    of_raised=True,
    none="no condition is tested",
    answers="truth",
)
def branch(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    blocks_at = _blocks(recording, run)
    interrupted = _interrupted(recording, run)
    tests: list[tuple[Arrival, Block, bool]] = []
    for visit in run.visits:
        block = blocks_at.get((visit.file, visit.line))
        if block is None or block.keyword == "for" or visit.index in interrupted:
            continue
        if visit.then is not None and visit.then != "raise":
            tests.append((visit, block, visit.then in block.body))
    drawn = in_turns(tests, rng, lambda test: test[2], lambda test: (test[0].file, test[0].line))
    for arrival, block, goes_in in drawn:
        question = (
            f"Condition: that of the {block.keyword} in {line_text(arrival, run)}, "
            f"tested for time number {arrival.k}"
        )
        yield sample_at(recording, "branch", run, arrival, question, str(goes_in))


@kind(
    "visit",
    "which line runs after a line, the k-th time?",
    4,
    of_raised=True,
    none="no line with one clear successor",
)
def visit(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    visits = [visit for visit in run.visits if has_one_successor(visit, recording, run)]
    for arrival in in_turns(visits, rng, lambda visit: visit.then, lambda visit: (visit.file, visit.line)):
        question = f"Line: {line_text(arrival, run)}, when it runs for time number {arrival.k}"
        yield sample_at(recording, "visit", run, arrival, question, str(arrival.then), form="line")


# -- loops ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Loop:
    """One run of a loop, from its entry to its exit."""

    block: Block
    entered: Arrival
    """The arrival at its header. `k` counts the runs of the loop in all calls."""
    passes: int = 0
    last: Arrival | None = None
    """The last arrival in it."""
    after: Arrival | None = None
    """The arrival after it, in the same frame."""


def _loops(recording: Recording, run: Run) -> list[_Loop]:
    loop_at = {at: block for at, block in _blocks(recording, run).items() if block.loops and not block.joined}
    frames: dict[int, list[_Loop]] = {}
    """Frame -> loops that it is in, outermost first."""
    counts: Counter[tuple[str, int]] = Counter()
    loops: list[_Loop] = []
    for visit in run.visits:
        inside = frames.setdefault(visit.frame, [])
        while inside and visit.line not in inside[-1].block:
            inside.pop().after = visit
        block = loop_at.get((visit.file, visit.line))
        if block is not None and not (inside and inside[-1].block is block):
            counts[visit.file, visit.line] += 1
            inside.append(_Loop(block, replace(visit, k=counts[visit.file, visit.line])))
            loops.append(inside[-1])
        for loop in inside:
            loop.last = visit
        if block is not None and visit.then in block.body:
            inside[-1].passes += 1
    return loops


def _loop_text(loop: _Loop, run: Run) -> str:
    return (
        f"Loop: that in {line_text(loop.entered, run)}, when it is entered for time number {loop.entered.k}"
    )


def _drawn(loops: list[_Loop], rng: random.Random) -> Iterator[_Loop]:
    return in_turns(loops, rng, lambda loop: loop.passes, lambda loop: (loop.entered.file, loop.entered.line))


@kind(
    "iterations",
    "how many times does the body of a loop run?",
    2,
    of_raised=True,
    none="no loop runs",
    answers="count",
)
def iterations(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    for loop in _drawn(_loops(recording, run), rng):
        question = _loop_text(loop, run)
        yield sample_at(recording, "iterations", run, loop.entered, question, str(loop.passes))


@guesses("iterations")
def _guessed_iterations(prompt: str) -> str:
    """N of ``range(N)``; else how many items the first argument of the call has; else one."""
    loop = re.search(r"\nLoop: that in line (\d+)", prompt)
    text = dict(numbered_lines(prompt)).get(int(loop[1]), "") if loop else ""
    if match := re.search(r"\brange\((\d+)\)", text):
        return match[1]
    call = call_in(labelled(prompt, "How it is run"))
    for argument in call.args if call else []:
        if is_literal(ast.unparse(argument)):
            value = ast.literal_eval(argument)
            if isinstance(value, (str, list, tuple, dict, set)):
                return str(len(value))
    return "1"


@kind(
    "after_loop",
    "what is a variable when a loop has ended?",
    2,
    of_raised=True,
    none="no loop changes a variable with short plain data",
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
    for loop in _drawn(ended, rng):
        changed = _changed(recording, loop)
        if changed and loop.after:
            name = rng.choice(sorted(changed))
            question = f"{_loop_text(loop, run)}\nVariable: {name}, when the loop has ended"
            sample = sample_at(
                recording, "after_loop", run, loop.entered, question, changed[name], variable=name
            )
            yield replace(sample, data=sample.data | {"event": loop.after.index})


@guesses("after_loop")
def _guessed_after_loop(prompt: str) -> str:
    """Like the guess for `state`, at the beginning of the loop."""
    loop, name = re.search(r"\nLoop: that in line (\d+)", prompt), re.search(r"\nVariable: (\w+),", prompt)
    return held_before(prompt, name[1], int(loop[1])) if loop and name else "0"


def _changed(recording: Recording, loop: _Loop) -> dict[str, str]:
    """Variables with another value after a loop than before it, and the value."""
    assert loop.after is not None
    before, after = recording.trace[loop.entered.index].locals, recording.trace[loop.after.index].locals
    changed = {}
    for name, value in after.items():
        if not is_asked_name(name, recording.source(loop.entered.file) or ""):
            continue
        if not plain(value) or len(text := render(value)) > VALUE_CHARS:
            continue
        if name not in before or render(before[name]) != text:
            changed[name] = text
    return changed


# -- lines ---------------------------------------------------------------------------------------------

_SURE = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr, ast.For, ast.If, ast.Raise, ast.Delete)
"""Statements that have an event whenever they run, in every version of Python."""


@kind(
    "coverage",
    "does a line run at all?",
    2,
    of_raised=True,
    answers="truth",
)
def coverage(recording: Recording, rng: random.Random, per_recording: int) -> Iterator[Sample]:
    run = whole_run_of(recording)
    ran = {(visit.file, visit.line) for visit in run.visits}
    called = {(row.file, row.function) for row in recording.trace.rows if row.kind == Kind.CALL}
    places: list[tuple[str, int]] = []
    for source in run.files:
        inside = {
            line
            for name, node in functions(recording.source(source.file) or "")
            if (source.file, name) in called
            for line in _own_lines(node)
        }
        sure = inside & {number for number, _ in source.lines} & run.lines[source.file].plain
        places += [(source.file, line) for line in sorted(sure)]
    if ran.issuperset(places):
        raise Unfit("every line of the functions that are called runs")
    for file, line in in_turns(places, rng, lambda at: at in ran, lambda at: at):
        yield sample_of(
            recording,
            "coverage",
            run.files,
            f"Line: {line}{where(run.files, file)}",
            str((file, line) in ran),
            id_part=str(line),
            data={"file": file, "line": line},
        )


def _own_lines(function: ast.AST) -> set[int]:
    """Lines of a function's statements that are sure to have an event, without those of functions inside."""
    lines: set[int] = set()
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, DEFINITIONS):
            continue
        if isinstance(node, _SURE) and not (isinstance(node, ast.If) and is_constant(node.test)):
            lines.add(node.lineno)
        todo.extend(ast.iter_child_nodes(node))
    return lines
