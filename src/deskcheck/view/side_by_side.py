"""Compares a run that a model predicted with the recorded one, event by event.

The prediction comes from `deskcheck models step --out`, from `deskcheck ask`, or from a text in a notation.
Each of its states is compared with the true one of the same number (`notation.divergence`). After the first
divergence the model continues from a wrong state, so later differences say nothing.

Covers the main thread, by line. Does not search for a better alignment after a divergence in the path.
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
from deskcheck.ask.methods.solvers import METHODS, named, read_trace
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
from deskcheck.notation.divergence import reached
from deskcheck.notation.forms.dynamic import parse_dynamic
from deskcheck.notation.layout import STEPWISE
from deskcheck.notation.state import MODULE, VALUED, Frame
from deskcheck.notation.values import value_text
from deskcheck.recording import InputError, Program, Recording, render
from deskcheck.recording.value import Content, Encoded, decode
from deskcheck.view.page import page_of, visible

SHOWN_CHARS = 1000
"""Maximum length of a value."""
AHEAD = 50
"""Number of events that are shown after one of the runs has ended."""
TABLE_EVENTS = 20
"""Number of events before the first divergence in the table for a terminal."""
WRONG_VARIABLES = 200
"""Maximum number of variables in the list of first differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A run that a model predicted."""

    states: tuple[Moment, ...]
    initial: int
    """Number of states that the model was given."""
    jumps: tuple[int, ...] | None
    """Events from each predicted state to the next; None: one each."""
    stop: Stop
    stop_reason: str
    program: Program
    true: tuple[Moment, ...]
    """The true states."""
    source: str
    """The file or run folder of the prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """Two runs side by side, as JSON-able facts for the page, and their `notation.compare_runs`."""

    facts: dict[str, Any]
    agreement: RunAgreement


# -- reading -------------------------------------------------------------------------------------


def read_prediction(
    path: Path,
    recording: Recording,
    *,
    notation: str = "scratchpad",
    model: str | None = None,
    method: str | None = None,
) -> Prediction:
    """Read the prediction of a recording from a file or a run folder.

    notation: notation of a text file. model, method: choice in a run folder with several.

    Raises:
        InputError: the file has no run of this recording, or several, or cannot be read.
    """
    if notation not in NOTATIONS:
        raise InputError(f"unknown notation {notation!r}. The notations are {', '.join(NOTATIONS)}.")
    if path.is_dir():
        return _from_run_folder(path, recording, model, method)
    text = _text_of(path)
    if path.suffix == ".json":
        return _from_stepper(path, text, recording)
    return _from_text(text, notation, recording, str(path))


def _text_of(path: Path) -> str:
    try:
        return read_text(path, "backslashreplace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def first_mistake(path: Path) -> str:
    """The id of the recording in a file of `deskcheck models step` that goes wrong after the most steps.

    If all runs are right, it is the longest. Raises InputError for files of another kind.
    """
    _, runs = _runs(path, _text_of(path))
    try:
        return max(runs, key=lambda name: (runs[name]["first"] is not None, int(runs[name]["exact"])))
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is not a file of `deskcheck models step --out`: {error!r}.") from error


def _true(recording: Recording, *, instructions: bool = False) -> tuple[Moment, ...]:
    return tuple(moments(recording.trace, file=recording.program.filename, instructions=instructions))


def _from_text(text: str, notation: str, recording: Recording, source: str) -> Prediction:
    trace = read_trace(text, notation, source=recording.program.code)
    if not trace.states:
        raise InputError(
            f"{source}: does not contain a trace in the notation {notation}: {trace.why or 'it is empty'}."
        )
    return Prediction(
        states=trace.states,
        initial=0,
        jumps=None,
        stop=trace.stop,
        stop_reason=trace.why,
        program=recording.program,
        true=_true(recording, instructions=NOTATIONS[notation].instructions),
        source=source,
    )


def _runs(path: Path, text: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The contents of a file of `deskcheck models step`, and its runs by recording."""
    try:
        stepped = read_json(text)
        return stepped, {run["id"]: run for run in stepped["runs"]}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not a file of `deskcheck models step --out`: {error!r}.") from error


def _by_instruction(stepped: Mapping[str, Any]) -> bool:
    """Whether the runs have a state at each instruction. Files of earlier versions do not name a notation."""
    notation = stepped.get("notation", "dynamic")
    return notation in NOTATIONS and NOTATIONS[notation].instructions


def _from_stepper(path: Path, text: str, recording: Recording) -> Prediction:
    stepped, runs = _runs(path, text)
    if recording.id not in runs:
        ids = ", ".join(list(runs)[:5])
        raise InputError(f"{path}: has no run of {recording.id!r}. It has {len(runs)}: {ids}.")
    run = runs[recording.id]
    true = _true(recording, instructions=_by_instruction(stepped))
    try:
        if not true or run["states"][0] != state_text(true[0]):
            raise InputError(
                f"{path}: its run of {recording.id!r} does not begin with the first state of this recording."
            )
        parsed = [parse_dynamic(state).moments[-1] for state in run["states"]]
        jumps = tuple(int(jump) for jump in run["jumps"])
        stop, reason = Stop(run["stop"]), str(run["why"] or "")
    except (KeyError, OverflowError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"{path}: its run of {recording.id!r} is damaged: {error!r}.") from error
    return Prediction(
        states=tuple(parsed),
        initial=1,
        jumps=jumps,
        stop=stop,
        stop_reason=reason,
        program=recording.program,
        true=true,
        source=f"{path}, model {stepped['model']}" if "model" in stepped else str(path),
    )


def _from_run_folder(path: Path, recording: Recording, model: str | None, method: str | None) -> Prediction:
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
            f"{', '.join(name for name, choices in METHODS.items() if choices.notation)}."
        )
    if len(rows) > 1:
        choices = "; ".join(f"--model {model} --method {method}" for model, method in rows)
        raise InputError(
            f"{path}: has {len(rows)} predicted runs of {recording.id!r}. Choose one: {choices}."
        )
    ((name, row),) = rows.items()
    truth = ground_truth_of(recording)
    if isinstance(truth, str):
        raise InputError(f"{recording.id}: cannot be compared with a predicted run: {truth}.")
    definition, options = named(row.solver)
    if options:
        raise InputError(
            f"{path}: {row.solver} predicted {recording.id!r} in steps of several events, which cannot be "
            "shown beside it."
        )
    notation = definition.notation
    assert notation is not None
    trace = read_trace(row.predicted, notation)
    initial = 1 if notation in STEPWISE else 0
    stop = Stop.UNREADABLE if row.ended else trace.stop
    return Prediction(
        states=trace.states,
        initial=initial,
        jumps=None,
        stop=Stop.BUDGET if row.divergence == "budget" else stop,
        stop_reason=row.ended or trace.why,
        program=truth.program,
        true=tuple(truth.states(instructions=NOTATIONS[notation].instructions)),
        source=f"{path}, {' by '.join(name)}",
    )


def _partial(question: str, method: str) -> bool:
    return question == "next_line" and named(method)[0].notation in STEPWISE


# -- laying them side by side --------------------------------------------------------------------


def beside(recording: Recording, predicted: Prediction) -> SideBySide:
    """The two runs side by side."""
    mine = predicted.states[predicted.initial :]
    true = list(reached(predicted.true[predicted.initial :], predicted.jumps or ()))
    agreement = compare_runs(mine, iter(true), predicted.stop)
    initial_rows = [_row(state, state) for state in predicted.true[: predicted.initial]]
    row_count = min(max(len(true), len(mine)), min(len(true), len(mine)) + AHEAD)
    compared = islice(zip_longest(true, mine), row_count)
    rows = [*initial_rows, *(_row(theirs, ours) for theirs, ours in compared)]
    first = None if agreement.first is None else predicted.initial + agreement.exact
    program = predicted.program
    facts = {
        "deskcheck": __version__,
        "id": recording.id,
        "file": program.filename,
        "entry": program.entry,
        "arguments": program.arguments,
        "sources": _sources(recording, program),
        "source": predicted.source,
        "rows": rows,
        "given": predicted.initial,
        "jumps": list(predicted.jumps)
        if predicted.jumps is not None and set(predicted.jumps) != {1}
        else None,
        "left": max(len(true), len(mine)) - row_count,
        "exact": agreement.exact,
        "judged": agreement.judged,
        "first": first,
        "how": None if agreement.first is None else agreement.first.value,
        "stop": predicted.stop.value,
        "why": predicted.stop_reason,
        "variables": list(islice(_variables(rows), WRONG_VARIABLES)),
    }
    return SideBySide(facts=facts, agreement=agreement)


def beside_page(comparison: SideBySide, *, packed: bool = False) -> str:
    """The page, as HTML. packed: whether its script is deflated."""
    title = f"{comparison.facts['id']}: recorded and model side by side"
    return page_of("beside", title, comparison.facts, packed=packed)


def beside_table(comparison: SideBySide) -> Group:
    """A table for a terminal: the events up to the first divergence, and the differences there."""
    facts = comparison.facts
    table = Table("event", "recorded", "model", show_edge=False, pad_edge=False)
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
    reason = f": {visible(facts['why'])}" if facts["how"] == "unreadable" else ""
    parts.append(Text(f"first wrong: event {facts['first']}, {facts['how'].replace('_', ' ')}{reason}"))
    wrong = Table("variable", "recorded", "model", show_edge=False, pad_edge=False)
    for frame in row["frames"]:
        for name, true, predicted, same in frame["names"]:
            if not same:
                wrong.add_row(
                    *(Text("-" if text is None else visible(text)) for text in (name, true, predicted))
                )
    return Group(*parts, wrong) if wrong.rows else Group(*parts)


def _place(row: Mapping[str, Any], side: int) -> Text:
    if row["kind"][side] is None:
        return Text("-")
    return Text(visible(f"{row['kind'][side]} {row['function'][side]} {row['line'][side]}"))


def _sources(recording: Recording, program: Program) -> dict[str, str]:
    files = {row.file for row in recording.trace.rows} - {program.filename}
    other_sources = {file: text for file in sorted(files) if (text := recording.source(file)) is not None}
    return {program.filename: program.code, **other_sources}


def _row(true: Moment | None, predicted: Moment | None) -> dict[str, Any]:
    """An event of both runs. Pairs have the true value first, and None for a run without this event."""
    verdict = "missing" if predicted is None else "beyond"
    if true is not None and predicted is not None:
        step = compare_step(predicted, true)
        verdict = "exact" if step.exact else "value" if step.place else "place"
    both = (true, predicted)
    stacks = zip_longest(true.frames if true else (), predicted.frames if predicted else ())
    frames = [_frames(theirs, ours, true, predicted) for theirs, ours in stacks]
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
    true: Frame | None, predicted: Frame | None, true_state: Moment | None, model: Moment | None
) -> dict[str, Any]:
    pair = ((true, true_state), (predicted, model))
    names = [_names(frame, moment) for frame, moment in pair]
    stacks = [
        {f"stack {number}": frame.stack[number] for number in range(len(frame.stack))} if frame else {}
        for frame in (true, predicted)
    ]
    objects = [moment.objects if moment else {} for moment in (true_state, model)]
    return {
        "function": [frame and frame.function for frame in (true, predicted)],
        "line": [frame and frame.line for frame in (true, predicted)],
        "names": [*_merged(names, objects, [true, predicted]), *_merged(stacks, objects, [true, predicted])],
    }


def _names(frame: Frame | None, moment: Moment | None) -> Mapping[str, Encoded]:
    return {} if frame is None or moment is None else moment.names(frame)


def _globals(true: Moment | None, predicted: Moment | None) -> Iterator[list[Any]]:
    """Globals that differ, except those of running modules."""
    globals_of_both = []
    for moment in (true, predicted):
        running = {frame.file for frame in moment.frames if frame.function == MODULE} if moment else set()
        module_names = moment.globals if moment else {}
        globals_of_both.append(
            {
                name if file is None else f"{file}: {name}": value
                for file, names in module_names.items()
                if file not in running
                for name, value in names.items()
            }
        )
    objects = [moment.objects if moment else {} for moment in (true, predicted)]
    yield from (row for row in _merged(globals_of_both, objects, [true, predicted]) if not row[3])


def _merged(
    names: Sequence[Mapping[str, Encoded]],
    objects: Sequence[Mapping[int, Content]],
    frames: Sequence[object],
) -> Iterator[list[Any]]:
    """Name, the texts of its two values, and whether they are the same."""
    for name in dict.fromkeys([*names[0], *names[1]]):
        texts = [
            _text(of[name], of_run) if name in of else None for of, of_run in zip(names, objects, strict=True)
        ]
        exact = [
            value_text(of[name], of_run) if name in of else None
            for of, of_run in zip(names, objects, strict=True)
        ]
        # Where one of the runs has nothing at all there is nothing to compare.
        yield [name, *texts, exact[0] == exact[1] or None in frames]


def _text(value: Encoded, objects: Mapping[int, Content]) -> str:
    try:
        return render(decode(value, objects), max_chars=SHOWN_CHARS)
    except KeyError:  # after a gap what a frame refers to may not be recorded; the notation says so
        return value_text(value, objects)


def _variables(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The first difference of each variable, and the number of common events in which it differs."""
    variables: dict[tuple[str, str], dict[str, Any]] = {}
    for number, row in enumerate(rows):
        for frame in row["frames"]:
            function = frame["function"][0]
            if None in frame["function"] or function != frame["function"][1]:
                continue
            for name, true, predicted, same in frame["names"]:
                if not same:
                    facts = {
                        "name": name,
                        "function": function,
                        "event": number,
                        "true": true,
                        "told": predicted,
                    }
                    variables.setdefault((function, name), {**facts, "count": 0})["count"] += 1
    yield from variables.values()
