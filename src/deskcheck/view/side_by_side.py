"""A run as a model told it beside the run that was recorded, aligned event for event.

The model's run is read from what `deskcheck models step --out` or `deskcheck ask` wrote, or from a text in
one of the notations. Each of its states is laid beside the true one of the same number; which of them is
wrong, and where the first divergence is, is decided by `notation.divergence`. After it the model goes on
from a wrong state: what differs there is shown, and says nothing.

Covers the main thread, by line. Does not look for a better alignment after a divergence in the path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from deskcheck._version import __version__
from deskcheck.ask.methods.ground_truth import ground_truth_of
from deskcheck.ask.methods.solvers import METHODS, read_trace
from deskcheck.files import read_json, read_text
from deskcheck.notation import (
    NOTATIONS,
    Moment,
    RunAgreement,
    Stop,
    compare_runs,
    compare_step,
    moments,
    state_text,
)
from deskcheck.notation.forms.dynamic import parse_dynamic
from deskcheck.notation.state import MODULE, VALUED, Frame
from deskcheck.notation.values import value_text
from deskcheck.recording import InputError, Program, Recording, render
from deskcheck.recording.value import Content, Encoded, decode
from deskcheck.view.page import page_of, visible

SHOWN_CHARS = 1000
"""Of a value."""
AHEAD = 50
"""Events that are shown after one of the runs has ended."""
TABLE_EVENTS = 20
"""Events before the first divergence that a terminal shows."""
WRONG_VARIABLES = 200
"""Variables that are listed with where they first differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A run as a model told it. states: the first `given` of them it was given. jumps: how many events each
    of the others is after the one before; None: one each. stop, why: why there are no more. program, true:
    what it was shown, and the states that are true of that. source: where it was read."""

    states: tuple[Moment, ...]
    given: int
    jumps: tuple[int, ...] | None
    stop: Stop
    why: str
    program: Program
    true: tuple[Moment, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """facts: what the page needs, JSON-able. agreement: `notation.compare_runs` of the two runs."""

    facts: dict[str, Any]
    agreement: RunAgreement


# -- reading -------------------------------------------------------------------------------------


def read_told(
    path: Path,
    recording: Recording,
    *,
    notation: str = "scratchpad",
    model: str | None = None,
    method: str | None = None,
) -> Told:
    """What a model made of a recording, from a file or a run folder.

    notation: of a file that is text. model, method: which, where a run folder has several.

    Raises:
        InputError: there is nothing of this recording in it, or more than one run, or it cannot be read.
    """
    if notation not in NOTATIONS:
        raise InputError(f"there is no notation {notation!r}. Known are {', '.join(NOTATIONS)}.")
    if path.is_dir():
        return _from_run_folder(path, recording, model, method)
    try:
        text = read_text(path, "backslashreplace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    if path.suffix == ".json":
        return _from_stepper(path, text, recording)
    return _from_text(text, notation, recording, str(path))


def first_mistake(path: Path) -> str:
    """The recording whose run in a file of `deskcheck models step` first goes wrong, after the most steps of
    all; of runs that are right throughout, the longest.

    Raises InputError where the file is none of those.
    """
    try:
        text = read_text(path, "backslashreplace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    runs = _runs(path, text)[1]
    try:
        return max(runs, key=lambda name: (runs[name]["first"] is not None, int(runs[name]["exact"])))
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: was not written by `deskcheck models step --out`: {error!r}.") from error


def _true(recording: Recording, *, instructions: bool = False) -> tuple[Moment, ...]:
    return tuple(moments(recording.trace, file=recording.program.filename, instructions=instructions))


def _from_text(text: str, notation: str, recording: Recording, source: str) -> Told:
    told = read_trace(text, notation, source=recording.program.code)
    if not told.states:
        raise InputError(f"{source}: holds no trace in the notation {notation}: {told.why or 'it is empty'}.")
    return Told(
        states=told.states,
        given=0,
        jumps=None,
        stop=told.stop,
        why=told.why,
        program=recording.program,
        true=_true(recording, instructions=NOTATIONS[notation].instructions),
        source=source,
    )


def _runs(path: Path, text: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What a file of `deskcheck models step` says, and its runs by their recordings."""
    try:
        told = read_json(text)
        return told, {run["id"]: run for run in told["runs"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: was not written by `deskcheck models step --out`: {error!r}.") from error


def _from_stepper(path: Path, text: str, recording: Recording) -> Told:
    told, runs = _runs(path, text)
    if recording.id not in runs:
        known = ", ".join(list(runs)[:5])
        raise InputError(f"{path}: has no run of {recording.id!r}. It has {len(runs)}: {known}.")
    run, true = runs[recording.id], _true(recording)
    try:
        if not true or run["states"][0] != state_text(true[0]):
            raise InputError(
                f"{path}: its run of {recording.id!r} began with another state than this recording."
            )
        parsed = [parse_dynamic(state).moments[-1] for state in run["states"]]
        jumps = tuple(int(jump) for jump in run["jumps"])
        stop, why = Stop(run["stop"]), str(run["why"] or "")
    except (KeyError, OverflowError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{path}: its run of {recording.id!r} is damaged: {error!r}.") from error
    return Told(
        states=tuple(parsed),
        given=1,
        jumps=jumps,
        stop=stop,
        why=why,
        program=recording.program,
        true=true,
        source=f"{path}, model {told['model']}" if "model" in told else str(path),
    )


def _from_run_folder(path: Path, recording: Recording, model: str | None, method: str | None) -> Told:
    from deskcheck.ask.results.logs import read_logs

    rows = {
        (row.model, row.solver): row
        for result in read_logs([path]).results
        for row in result.samples
        # A run that was begun in the middle, for one question, is not the run of the recording.
        if row.program == recording.id and row.predicted and not _partial(row.question, row.solver)
        if model in (None, row.model) and method in (None, row.solver)
    }
    if not rows:
        raise InputError(
            f"{path}: has no predicted run of {recording.id!r}. Methods that predict runs are "
            f"{', '.join(name for name, known in METHODS.items() if known.notation)}."
        )
    if len(rows) > 1:
        known = "; ".join(f"--model {model} --method {method}" for model, method in rows)
        raise InputError(f"{path}: has {len(rows)} predicted runs of {recording.id!r}. Choose one: {known}.")
    ((name, row),) = rows.items()
    truth = ground_truth_of(recording)
    if isinstance(truth, str):
        raise InputError(f"{recording.id}: cannot be laid beside a predicted run: {truth}.")
    notation = METHODS[row.solver].notation
    assert notation is not None
    told = read_trace(row.predicted, notation)
    given = 1 if notation == "dynamic" else 0
    stop = Stop.UNREADABLE if row.ended else told.stop
    return Told(
        states=told.states,
        given=given,
        jumps=None,
        stop=Stop.BUDGET if row.divergence == "budget" else stop,
        why=row.ended or told.why,
        program=truth.program,
        true=tuple(truth.states()),
        source=f"{path}, {' by '.join(name)}",
    )


def _partial(question: str, method: str) -> bool:
    return question == "next_line" and METHODS[method].notation == "dynamic"


# -- laying them side by side --------------------------------------------------------------------


def beside(recording: Recording, told: Told) -> Beside:
    """The two runs, with what agrees."""
    mine = told.states[told.given :]
    true = list(_reached(told))
    agreement = compare_runs(mine, iter(true), told.stop)
    given = [_row(state, state) for state in told.true[: told.given]]
    shown = min(max(len(true), len(mine)), min(len(true), len(mine)) + AHEAD)
    compared = islice(zip_longest(true, mine), shown)
    rows = [*given, *(_row(theirs, ours) for theirs, ours in compared)]
    first = None if agreement.first is None else told.given + agreement.exact
    program = told.program
    facts = {
        "deskcheck": __version__,
        "id": recording.id,
        "file": program.filename,
        "entry": program.entry,
        "arguments": program.arguments,
        "sources": _sources(recording, program),
        "source": told.source,
        "rows": rows,
        "given": told.given,
        "jumps": list(told.jumps) if told.jumps is not None and set(told.jumps) != {1} else None,
        "left": max(len(true), len(mine)) - shown,
        "exact": agreement.exact,
        "judged": agreement.judged,
        "first": first,
        "how": None if agreement.first is None else agreement.first.value,
        "stop": told.stop.value,
        "why": told.why,
        "variables": list(islice(_variables(rows), WRONG_VARIABLES)),
    }
    return Beside(facts=facts, agreement=agreement)


def beside_page(found: Beside) -> str:
    """The page, as HTML."""
    return page_of("beside", f"{found.facts['id']}: the model beside the truth", found.facts)


def beside_table(found: Beside) -> Group:
    """The events up to the first divergence, and what differs there, for a terminal."""
    facts = found.facts
    table = Table("event", "what was so", "what the model told", show_edge=False, pad_edge=False)
    last = len(facts["rows"]) - 1 if facts["first"] is None else min(facts["first"], len(facts["rows"]) - 1)
    start = max(0, last - TABLE_EVENTS)
    for number, row in enumerate(facts["rows"][start : last + 1], start):
        sides = [_place(row, side) for side in (0, 1)]
        table.add_row(str(number), sides[0], "the same" if row["verdict"] == "exact" else sides[1])
    parts: list[Table | Text] = [table]
    row = facts["rows"][last] if facts["rows"] else None
    if facts["first"] is None or row is None:
        parts.append(Text(f"right to the end, {facts['exact']} steps"))
        return Group(*parts)
    why = f": {visible(facts['why'])}" if facts["how"] == "unreadable" else ""
    parts.append(Text(f"first wrong: event {facts['first']}, {facts['how'].replace('_', ' ')}{why}"))
    wrong = Table("variable", "was", "the model believed", show_edge=False, pad_edge=False)
    for frame in row["frames"]:
        for name, true, told, same in frame["names"]:
            if not same:
                wrong.add_row(*(Text("-" if text is None else visible(text)) for text in (name, true, told)))
    return Group(*parts, wrong) if wrong.rows else Group(*parts)


def _place(row: Mapping[str, Any], side: int) -> Text:
    if row["kind"][side] is None:
        return Text("-")
    return Text(visible(f"{row['kind'][side]} {row['function'][side]} {row['line'][side]}"))


def _reached(told: Told) -> Iterator[Moment]:
    """The true states that the model's should be."""
    states = iter(told.true[told.given :])
    for jump in told.jumps or ():
        reached = list(islice(states, jump))
        if len(reached) < jump:
            return
        yield reached[-1]
    yield from states


def _sources(recording: Recording, program: Program) -> dict[str, str]:
    files = {row.file for row in recording.trace.rows} - {program.filename}
    found = {file: text for file in sorted(files) if (text := recording.source(file)) is not None}
    return {program.filename: program.code, **found}


def _row(true: Moment | None, told: Moment | None) -> dict[str, Any]:
    """An event of both runs: pairs are what was so, and what the model believed; None where nothing is."""
    verdict = "missing" if told is None else "beyond"
    if true is not None and told is not None:
        step = compare_step(told, true)
        verdict = "exact" if step.exact else "value" if step.place else "place"
    both = (true, told)
    stacks = zip_longest(true.frames if true else (), told.frames if told else ())
    frames = [_frames(theirs, ours, true, told) for theirs, ours in stacks]
    return {
        "verdict": verdict,
        "kind": [m and m.kind.value for m in both],
        "instruction": [m and m.instruction for m in both],
        "line": [m and m.running.line for m in both],
        "function": [m and m.running.function for m in both],
        "file": [m and m.running.file for m in both],
        "value": [_text(m.value, m.objects) if m and m.kind in VALUED else None for m in both],
        "output": [m and m.output for m in both],
        "frames": frames,
        "globals": list(_globals(*both)),
    }


def _frames(
    true: Frame | None, told: Frame | None, true_state: Moment | None, model: Moment | None
) -> dict[str, Any]:
    pair = ((true, true_state), (told, model))
    names = [_names(frame, moment) for frame, moment in pair]
    stacks = [
        {f"stack {number}": frame.stack[number] for number in range(len(frame.stack))} if frame else {}
        for frame in (true, told)
    ]
    objects = [moment.objects if moment else {} for moment in (true_state, model)]
    return {
        "function": [frame and frame.function for frame in (true, told)],
        "line": [frame and frame.line for frame in (true, told)],
        "names": [*_merged(names, objects, [true, told]), *_merged(stacks, objects, [true, told])],
    }


def _names(frame: Frame | None, moment: Moment | None) -> Mapping[str, Encoded]:
    return {} if frame is None or moment is None else moment.names(frame)


def _globals(true: Moment | None, told: Moment | None) -> Iterator[list[Any]]:
    """Globals that differ, of modules that do not run."""
    found = []
    for moment in (true, told):
        running = {frame.file for frame in moment.frames if frame.function == MODULE} if moment else set()
        known = moment.globals if moment else {}
        found.append(
            {
                name if file is None else f"{file}: {name}": value
                for file, names in known.items()
                if file not in running
                for name, value in names.items()
            }
        )
    objects = [moment.objects if moment else {} for moment in (true, told)]
    yield from (row for row in _merged(found, objects, [true, told]) if not row[3])


def _merged(
    names: Sequence[Mapping[str, Encoded]],
    objects: Sequence[Mapping[int, Content]],
    there: Sequence[object],
) -> Iterator[list[Any]]:
    """Name, its value in either run as text, whether they are the same."""
    for name in dict.fromkeys([*names[0], *names[1]]):
        texts = [
            _text(of[name], known) if name in of else None for of, known in zip(names, objects, strict=True)
        ]
        exact = [
            value_text(of[name], known) if name in of else None
            for of, known in zip(names, objects, strict=True)
        ]
        # Where one of the runs has nothing at all there is nothing to compare.
        yield [name, *texts, exact[0] == exact[1] or None in there]


def _text(value: Encoded, objects: Mapping[int, Content]) -> str:
    try:
        return render(decode(value, objects), max_chars=SHOWN_CHARS)
    except KeyError:  # after a gap what a frame refers to may not be recorded; the notation says so
        return value_text(value, objects)


def _variables(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Where each variable first differs, and in how many events of those that both runs have."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number, row in enumerate(rows):
        for frame in row["frames"]:
            function = frame["function"][0]
            if None in frame["function"] or function != frame["function"][1]:
                continue
            for name, true, told, same in frame["names"]:
                if not same:
                    known = {"name": name, "function": function, "event": number, "true": true, "told": told}
                    found.setdefault((function, name), {**known, "count": 0})["count"] += 1
    yield from found.values()
