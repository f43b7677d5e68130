"""Questions about notebooks: what does this cell show, does it raise, and which cell is executed next?

Samples come from trajectories (trajectory.md), each in several views of the kernel's state before the
target: the same sample id, the same history, another part ``state``, so that what runtime information does is
a paired difference. After Themisto (Grotov and Titov 2025, arXiv:2504.12365), with its filters: at least 5
actions before the target, nothing empty, nothing longer than the 0.99 quantile of the set that is asked; and
further: no output that did not repeat in a fresh kernel. Everything left out is counted with its reason.
`crash` is deskcheck's: it takes from each notebook as many cells that raise nothing as cells that raise.

Markdown cells are not shown. Not covered: pictures and other MIME types than text.
"""

import ast
import difflib
import functools
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.questions.load import Folder
from deskcheck.ask.questions.notebook_past import need, past_view
from deskcheck.ask.questions.settings import NotebookOptions
from deskcheck.ask.samples.prompts import notebook_parts
from deskcheck.ask.samples.sample import Sample
from deskcheck.errors import DamagedRows
from deskcheck.fences import fenced
from deskcheck.notebook.settings import PAST_VIEWS
from deskcheck.notebook.state.names import cell_names, parse
from deskcheck.notebook.state.state import KernelState, states
from deskcheck.notebook.state.views import estimate_tokens, used_names, view
from deskcheck.notebook.trajectory.markers import is_own
from deskcheck.notebook.trajectory.trajectory import Execution, Output, Restart, Status, Step, Trajectory
from deskcheck.recording import InputError, Value, render

NOTEBOOK_QUESTIONS: Mapping[str, str] = {
    "cell_output": "what does this cell of a notebook show?",
    "next_cell": "which cell of a notebook is executed next?",
    "crash": "does this cell of a notebook raise an exception, and which one?",
}
"""Kind of question about notebooks -> its description."""


def trajectory_files(folders: Sequence[Folder]) -> list[Path]:
    """The files of all trajectories below some folders, by name. Raises InputError if there are none."""
    from deskcheck.notebook.trajectory.trajectory import SUFFIX

    files = [path for folder in folders for path in sorted(Path(folder).rglob(f"*{SUFFIX}"))]
    if not files:
        raise InputError(
            f"{', '.join(map(str, folders))}: no trajectories of notebooks. Make them with: deskcheck record "
            "notebooks:FOLDER --out RUNS"
        )
    return files


def notebook_samples(
    files: Sequence[Path],
    questions: Sequence[str],
    options: NotebookOptions,
    *,
    seed: int = 0,
    per_recording: int | None = None,
) -> dict[tuple[str, str], tuple[list[Sample], Counter[str]]]:
    """(question, state) -> its samples and what was excluded. The files are read twice: for the quantile of
    the lengths, and for the samples.

    per_recording: how many targets of a kind are drawn from one trajectory, with the seed; None: all.

    Raises:
        InputError: two trajectories have one id, so their samples would have one, too.
        RecordingError: a file is damaged.
    """
    from deskcheck.notebook.trajectory.file import read_trajectory

    longest = _longest(files, questions, options)
    excluded = {question: Counter[str]() for question in questions}
    samples: dict[tuple[str, str], list[Sample]] = {
        (question, state): [] for question in questions for state in options.state
    }
    with_state = not set(options.state) <= {"none", "time", "memory"}
    for path in files:
        trajectory = read_trajectory(path)
        chosen = {
            question: _drawn(numbers, per_recording, f"{seed}:{trajectory.id}:{question}")
            for question, numbers in _targets(trajectory, options, longest, excluded, seed).items()
        }
        for moment in _moments(trajectory, with_state=with_state) if any(chosen.values()) else ():
            for question in questions:
                if moment.number not in chosen[question]:
                    continue
                if moment.before is None and with_state:
                    excluded[question]["the state before it was not recorded"] += 1
                    continue
                try:
                    by_state = _samples(question, moment, options, path, trajectory)
                except (DamagedRows, ValueError):
                    excluded[question]["the state before it cannot be read"] += 1
                    continue
                for state, sample in by_state.items():
                    samples[question, state].append(sample)
    return {key: (of_view, Counter(excluded[key[0]])) for key, of_view in samples.items()}


def _longest(files: Sequence[Path], questions: Sequence[str], options: NotebookOptions) -> dict[str, int]:
    """Question -> the length of a target that a share `options.quantile` of all does not exceed."""
    from deskcheck.notebook.trajectory.file import read_trajectory

    lengths: dict[str, list[int]] = {question: [] for question in questions}
    path_of: dict[str, Path] = {}
    for path in files:
        trajectory = read_trajectory(path)
        if trajectory.id in path_of:
            raise InputError(
                f"{path} and {path_of[trajectory.id]}: both have the id {trajectory.id!r}. Ask about their "
                "folders one at a time, or delete one."
            )
        path_of[trajectory.id] = path
        for moment in _moments(trajectory, with_state=False):
            for question in questions:
                if _unfit(question, moment, options) is None:
                    lengths[question].append(len(_target(question, moment)))
    return {question: _quantile(of_question, options.quantile) for question, of_question in lengths.items()}


def _targets(
    trajectory: Trajectory,
    options: NotebookOptions,
    longest: Mapping[str, int],
    excluded: Mapping[str, Counter[str]],
    seed: int,
) -> dict[str, list[int]]:
    """Question -> numbers of the executions that it can be asked about. Reasons are added to `excluded`."""
    numbers: dict[str, list[int]] = {question: [] for question in longest}
    raised: set[int] = set()
    for moment in _moments(trajectory, with_state=False):
        if moment.execution.status is Status.ERROR:
            raised.add(moment.number)
        for question, max_chars in longest.items():
            reason = _unfit(question, moment, options)
            if reason is None and len(_target(question, moment)) > max_chars:
                reason = f"longer than the {options.quantile} quantile ({max_chars} characters)"
            if reason is None:
                numbers[question].append(moment.number)
            else:
                excluded[question][reason] += 1
    if "crash" in numbers:
        balanced = _as_many(numbers["crash"], raised, f"{seed}:{trajectory.id}:crash")
        excluded["crash"][MORE_THAN_RAISE] += len(numbers["crash"]) - len(balanced)
        numbers["crash"] = balanced
    return numbers


def _quantile(lengths: Sequence[int], share: float) -> int:
    """The nearest rank: the smallest length that so large a share of the targets does not exceed."""
    return sorted(lengths)[math.ceil(share * len(lengths)) - 1] if lengths else 0


def _drawn(numbers: list[int], count: int | None, seed: str) -> frozenset[int]:
    if count is None or count >= len(numbers):
        return frozenset(numbers)
    return frozenset(random.Random(seed).sample(numbers, count))


MORE_THAN_RAISE = "left out so that as many cells raise as do not"
NO_EXCEPTION = "None"
"""The answer to `crash` where a cell raises nothing."""


def _as_many(numbers: list[int], raised: set[int], seed: str) -> list[int]:
    """The cells that raise, and as many others, drawn: or that none raises would be right too often."""
    these = [number for number in numbers if number in raised]
    others = [number for number in numbers if number not in raised]
    return sorted([*these, *_drawn(others, len(these), seed)])


# -- moments -------------------------------------------------------------------------------------------

_KEPT_CHARS = 20_000
"""The part of an earlier cell's source and output that is kept, to copy from."""


@dataclass(slots=True)
class _Past:
    """An execution before the target, as far as a prompt or a baseline may need it."""

    label: str
    cell: str
    source: str
    output: str
    raised: str
    after_restart: bool
    wall_s: float | None
    memory: tuple[int | None, int | None]
    """Resident bytes before and after it."""
    state: KernelState | None

    @property
    def heading(self) -> str:
        return f"{self.label}, cell {self.cell}"


@dataclass(slots=True)
class _Moment:
    """An execution with its history. number: the number of its step in the trajectory."""

    execution: Execution
    number: int
    actions: int
    past: list[_Past]
    sources: list[str]
    """The sources of the executions since the last restart."""
    restarted: bool
    """Whether the kernel was restarted since the execution before."""
    before: KernelState | None
    after: KernelState | None


_NOTHING = KernelState(
    variables={}, added=(), rebound=(), mutated=(), removed=(), count=0, unseen=0, cost_s=0.0
)


@dataclass(slots=True)
class _Walk:
    """Counts the steps between executions while their states are read."""

    number: int = -1
    actions: int = 0
    restarted: bool = False
    sources: list[str] = field(default_factory=list)
    before: KernelState | None = _NOTHING

    def through(self, steps: Sequence[Step]) -> Iterator[Step]:
        for self.number, step in enumerate(steps):
            if isinstance(step, Restart) and step.why != "resumed":
                self.restarted = True
                self.sources, self.before = [], _NOTHING
            yield step
            self.actions += not isinstance(step, Restart) or step.why == "asked"


def _moments(trajectory: Trajectory, *, with_state: bool) -> Iterator[_Moment]:
    """Every execution in order. All moments share the list `past`, which grows: copy it to keep it."""
    walk = _Walk()
    past: list[_Past] = []
    steps = walk.through(trajectory.steps)
    executions = states(steps) if with_state else ((s, None) for s in steps if isinstance(s, Execution))
    for execution, after in executions:
        yield _Moment(
            execution, walk.number, walk.actions, past, walk.sources, walk.restarted, walk.before, after
        )
        output, _ = shown_text(execution)
        past.append(
            _Past(
                _label(execution),
                execution.cell,
                execution.source[:_KEPT_CHARS],
                output[:_KEPT_CHARS],
                _raised(execution),
                walk.restarted,
                execution.wall_s,
                (execution.memory_before, execution.memory_after),
                after,
            )
        )
        walk.sources.append(execution.source)
        walk.before, walk.restarted = after, False


def shown_text(execution: Execution) -> tuple[str, str]:
    """The text that a cell shows, and of what kind it is: ``stream``, ``result``, ``error``, joined by ``+``.

    It has, each on separate lines, all of standard output, then the ``text/plain`` of each result and display
    that is not a picture, then the exception's class and message. A syntax error comes without its place,
    which names the cell by a hash. Standard error does not count.
    """
    outputs = execution.shown()
    texts = {"stream": "".join(o.text or "" for o in outputs if o.type == "stream" and o.name == "stdout")}
    plain = [text for o in outputs if (text := _plain(o)) is not None]
    texts["result"] = "\n".join(plain)
    # Where it ended well, an exception left nothing: its traceback was shown by a command.
    leaves = (o for o in outputs if o.type == "error" and execution.status is not Status.OK)
    error = next(leaves, None)
    texts["error"] = _last_line(error) if error is not None else ""
    parts = {kind: text.rstrip("\n") for kind, text in texts.items() if text.strip()}
    return "\n".join(parts.values()), "+".join(parts)


_NO_PYTHON = ("SyntaxError", "IndentationError", "TabError", "_IncompleteInputError")
_PLACE = re.compile(r" \([^()\n]*, line \d+\)\Z")
"""The end of the message of such an exception: ``(3257131231.py, line 1)``."""


def _last_line(error: Output) -> str:
    """Class and message of an exception, as the last line of its traceback has them."""
    message = error.value or ""
    return f"{error.name}: {_PLACE.sub('', message) if error.name in _NO_PYTHON else message}"


def _raised(execution: Execution) -> str:
    """The class of the exception that left a cell, without its module; ``None`` if none did."""
    if execution.status is not Status.ERROR:
        return NO_EXCEPTION
    error = next((output for output in execution.shown() if output.type == "error"), None)
    return (error.name or "").rpartition(".")[2] if error is not None else ""


def _plain(output: Output) -> str | None:
    if output.type not in ("execute_result", "display_data"):
        return None
    if any(kind.startswith(("image/", "video/", "audio/")) for kind in output.data):
        return None
    text = output.data.get("text/plain")
    return None if text is None else str(text)


def _target(question: str, moment: _Moment) -> str:
    match question:
        case "cell_output":
            return shown_text(moment.execution)[0]
        case "crash":
            return _raised(moment.execution)
        case _:
            return moment.execution.source.strip()


REPLAY = "deskcheck record NAME.trajectory.parquet --out FOLDER runs it again; ask about the result"
"""The advice for a live recording, or a log."""


def _unfit(question: str, moment: _Moment, options: NotebookOptions) -> str | None:
    """The reason why a moment cannot be asked about; None if it can."""
    if moment.actions < options.actions:
        return f"fewer than {options.actions} actions before it"
    target = _target(question, moment)
    execution = moment.execution
    if is_own(execution.source):
        return "a command of deskcheck"
    if question == "crash" and not execution.source.strip():
        return "empty"
    if question == "crash" and _raises_plainly(execution.source):
        return "it has a raise statement"
    if question in ("cell_output", "crash"):
        if execution.status not in (Status.OK, Status.ERROR):
            return f"ended otherwise: {execution.status}"
        if not target.strip():
            return "shows no text"
        if question == "cell_output" and any(output.length is not None for output in execution.outputs):
            return "its output is cut"
        if execution.confined is not None:
            return f"the sandbox refused it something: {execution.confined}"
        if any(output.type == "error" and output.name == _NO_INPUT for output in execution.outputs):
            return "it asks the user for input"
        if execution.repeats is False:
            return "its output does not repeat"
        if execution.repeats is None and not options.unchecked:
            return f"its output was not checked for repeatability: {REPLAY}"
    elif not target:
        return "empty"
    if OPEN in target or CLOSE in target:
        return "the answer contains the marks that enclose answers"
    return None


_NO_INPUT = "StdinNotImplementedError"
"""The exception of `input` if no user can answer."""


def _raises_plainly(source: str) -> bool:
    """Whether a statement at the top level of a cell raises an exception by name: the cell says so itself."""
    tree = parse(source)
    return tree is not None and any(isinstance(statement, ast.Raise) for statement in tree.body)


# -- samples -------------------------------------------------------------------------------------------


def _samples(
    question: str, moment: _Moment, options: NotebookOptions, path: Path, trajectory: Trajectory
) -> dict[str, Sample]:
    """The sample in every view of the state."""
    execution = moment.execution
    history, account = _history(moment, options.history_tokens)
    again = next((past for past in reversed(moment.past) if past.cell == execution.cell), None)
    output, kind = shown_text(execution)
    data: dict[str, Any] = {
        "form": question,
        "trajectory": str(path),
        "step": moment.number,
        "cell": execution.cell,
        "near_duplicate": _seen_before(question, moment, output),
        "history": account,
        "drew": [*execution.drew],
    }
    # The order of the keys is part of the digest by which a run is resumed.
    if question == "cell_output":
        data |= {"kind": kind, "copy": _copied(question, again), "value": _value(moment, kind)}
    else:
        data["copy"] = _copied(question, again)
    if moment.before is not None and set(options.state) != {"none"}:
        shown = history if question == "next_cell" else f"{history}\n{execution.source}"
        data["need"] = need(_target(question, moment), shown, moment.before)
    label, source = "", ""
    if question != "next_cell":
        label, source = f"{_label(execution)}, cell {execution.cell}", execution.source
    samples = {}
    for state in options.state:
        names = None
        if state == "used":
            names = _used_lately(moment) if question == "next_cell" else _used_by(moment, source)
        if state in PAST_VIEWS:
            shown_state = past_view(state, moment.past[account["left_out"] :], options.state_tokens)
        else:
            shown_state = view(moment.before, state, budget=options.state_tokens, names=names)
        samples[state] = Sample(
            id=f"{trajectory.id}:{question}:{moment.number}",
            question=question,
            program=trajectory.id,
            cluster=trajectory.id,
            parts=notebook_parts(
                question, history, state, shown_state.text, label, source, restarted=moment.restarted
            ),
            answer=_target(question, moment),
            data=data | {"state": shown_state.account()},
        )
    return samples


def _copied(question: str, again: _Past | None) -> str:
    """The answer that the same cell had when it was last executed."""
    if again is None:
        return NO_EXCEPTION if question == "crash" else ""
    return {"cell_output": again.output, "crash": again.raised}.get(question, again.source)


def _label(execution: Execution) -> str:
    return f"In [{execution.count if execution.count is not None else ' '}]"


_SOURCE_CHARS, _SHOWN_CHARS = 4000, 1000
"""The limits of one earlier cell in the history; the middle of longer texts is left out."""


def _history(moment: _Moment, budget: int) -> tuple[str, dict[str, Any]]:
    """The executions before, oldest first, as many of the newest as fit; and an account of what was cut."""
    entries: list[str] = []
    tokens = cut = 0
    for past in reversed(moment.past):
        source, output = _middle_out(past.source, _SOURCE_CHARS), _middle_out(past.output, _SHOWN_CHARS)
        entry = "(The kernel was restarted: all variables were gone.)\n" if past.after_restart else ""
        entry += f"{past.heading}:\n{fenced(source, 'python')}\n"
        entry += f"It showed:\n{fenced(output)}\n" if output else ""
        if tokens + estimate_tokens(entry) > budget:
            break
        tokens += estimate_tokens(entry)
        cut += (source, output) != (past.source, past.output)
        entries.append(entry)
    omitted = len(moment.past) - len(entries)
    account = {
        "budget": budget,
        "tokens": tokens,
        "cells": len(entries),
        "left_out": omitted,
        "shortened": cut,
    }
    head = f"({omitted} cells that were executed before these are not shown.)\n" if omitted else ""
    return head + "\n".join(reversed(entries)), account


def _middle_out(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    return f"{text[: chars * 2 // 3]}\n... ({len(text) - chars} characters left out)\n{text[-(chars // 3) :]}"


def _used_by(moment: _Moment, source: str) -> list[str]:
    assert moment.before is not None
    return list(dict.fromkeys(used_names(source, moment.before, earlier=moment.sources)))


_LATELY = 3


def _used_lately(moment: _Moment) -> list[str]:
    """The variables in the view ``used`` for a next cell, whose source must not leak. They are those that the
    last three executions since the restart read or bound, the newest execution first."""
    assert moment.before is not None
    names: list[str] = []
    for source in reversed(moment.sources[-_LATELY:]):
        names += _used_by(moment, source)
        names += (name for name in cell_names(source).bound if name in moment.before.variables)
    return list(dict.fromkeys(names))


NEAR = 0.9


def _seen_before(question: str, moment: _Moment, output: str) -> bool:
    """Whether the history has a near-duplicate of the target, shown or not.

    That is a source whose syntax tree as text is at least 0.9 similar by difflib's ratio. Of a source that
    cannot be parsed, its lines without white space at the ends are compared. For an output, the earlier cell
    must also have shown the same.
    """
    source = normalised(moment.execution.source)
    return any(
        _similar(normalised(past.source), source)
        for past in moment.past
        if question == "next_cell" or past.output == output[:_KEPT_CHARS]
    )


@functools.lru_cache(maxsize=4096)
def normalised(source: str) -> str:
    """A cell's source without comments and layout, as far as it can be parsed."""
    tree = parse(source)
    if tree is not None and tree.body:
        return ast.unparse(tree)
    return "\n".join(line.strip() for line in source.strip().splitlines())


def _similar(first: str, second: str) -> bool:
    if first == second:
        return True
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    # From the cheapest bound to the ratio itself.
    return all(ratio() >= NEAR for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def _value(moment: _Moment, kind: str) -> str | None:
    """The recorded value that a cell shows, as a Python literal. The last line of the cell must be a
    variable's name, and the cell must show nothing else.

    An array becomes nested lists, a Series a dict by its index, a table a dict of its columns; an index that
    only counts from 0 is left out. None if the value is not recorded or not shown in full, or if two items
    would have one label."""
    tree = parse(moment.execution.source)
    last = tree.body[-1] if tree is not None and tree.body else None
    if kind != "result" or not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Name):
        return None
    if sum(_plain(output) is not None for output in moment.execution.shown()) != 1:
        return None
    variable = moment.after.variables.get(last.value.id) if moment.after is not None else None
    if variable is None or variable.sampled:
        return None
    return _literal(variable.value)


def _literal(value: Value) -> str | None:
    if value.builtin:
        return render(value)
    if not value.whole:
        return None
    index = dict(value.fields).get("index")
    counted = index is None or (
        index.dtype == "range" and all(label.atom == number for number, label in enumerate(index.items))
    )
    if value.kind == "array" and counted:
        return _nested(list(value.items), value.shape if value.shape is not None else (len(value.items),))
    if value.kind == "array" and index is not None:
        return _by_label(zip(index.items, map(render, value.items), strict=True))
    if value.kind == "table" and counted and (value.items or value.shape in (None, (0, 0))):
        return _by_label((label, _nested(list(c.items), (len(c.items),))) for label, c in value.items)
    return None


def _by_label(items: Iterable[tuple[Value, str | None]]) -> str | None:
    """A dict as a literal; None if a label occurs twice."""
    pairs = [(render(label), item) for label, item in items]
    if len(dict(pairs)) < len(pairs):
        return None
    return "{" + ", ".join(f"{label}: {item}" for label, item in pairs) + "}"


def _nested(items: list[Value], shape: tuple[int, ...]) -> str | None:
    if not shape:
        return render(items[0]) if items else None
    size = len(items) // shape[0] if shape[0] else 0
    rows = [items[size * n : size * (n + 1)] for n in range(shape[0])]
    return f"[{', '.join(_nested(row, shape[1:]) or '' for row in rows)}]"
