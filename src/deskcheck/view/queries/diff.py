"""Where two runs of a program part: the first event that differs, and the values that differ there.

Events are compared by what happens, the function, and the text of the line, so that a line that moved in
another version of the program is the same line. Events that only one of the runs has are skipped.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Row
from deskcheck.recording.value import decode, loads, render
from deskcheck.view.queries.statements import SourceStatements
from deskcheck.view.queries.threads import trace_of

PARTINGS = 10
VALUE_CHARS = 60
_NUMBER = re.compile(r"#\d+")
_AGREE = 4
"""Number of equal events after which two runs are together again."""
_WINDOW = 400
"""Largest number of events that one run may have more, at one place."""


@dataclass(frozen=True, slots=True)
class Side:
    """A place in one of the runs."""

    event: int
    file: str
    line: int
    function: str
    kind: str
    text: str

    @property
    def words(self) -> str:
        """The place for the terminal."""
        what = "" if self.kind == "line" else f"{self.kind} in "
        return f"event {self.event}, {what}line {self.line} of {self.file}: `{self.text}`"


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where two runs differ."""

    how: str
    """``values``: the same line with other values. ``events``: other lines. ``end``: one run has ended."""
    a: Side | None
    b: Side | None
    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name -> its values in both runs; ``(no value)`` where it has none."""
    more_a: int = 0
    """Number of events that only the first run has, before the runs are together again."""
    more_b: int = 0
    together: bool = True
    """Whether the runs are together again afterwards."""


@dataclass(frozen=True, slots=True)
class RunsDifference:
    """The answer to `diff`."""

    a: str
    b: str
    partings: tuple[Parting, ...]
    same_events: int
    """Number of events before the first parting."""
    endings: tuple[str, str]
    """How each run ended."""

    def lines(self) -> Iterator[str]:
        """Sentences for the terminal."""
        if not self.partings:
            yield f"no difference in {self.same_events:,} events"
        for number, parting in enumerate(self.partings):
            yield from _parting_lines(parting, first=number == 0, same=self.same_events)
        if self.endings[0] != self.endings[1]:
            yield f"A ended: {self.endings[0]}"
            yield f"B ended: {self.endings[1]}"

    def to_dict(self) -> dict[str, Any]:
        """The fields as values for JSON."""
        return asdict(self)


def _parting_lines(parting: Parting, *, first: bool, same: int) -> Iterator[str]:
    head = f"after {same:,} equal events" if first else "then"
    match parting.how:
        case "values":
            yield f"{head}, other values at the same line"
        case "end":
            yield f"{head}, {'A' if parting.a is None else 'B'} has ended"
        case _:
            yield f"{head}, other lines run"
    for letter, side in (("A", parting.a), ("B", parting.b)):
        if side is not None:
            yield f"  {letter} {side.words}"
    for name, (left, right) in parting.values.items():
        yield f"    {name}: A {left}, B {right}"
    if parting.how == "events" and not parting.together:
        yield f"  they do not come together again within {_WINDOW} events"
    elif parting.more_a or parting.more_b:
        yield f"  until they are together again, A has {parting.more_a} events and B has {parting.more_b}"


class _Run:
    def __init__(self, recording: Recording, thread: int) -> None:
        self.trace = trace_of(recording, thread)
        self.rows = self.trace.rows
        self.statements = SourceStatements(recording)
        self._texts: dict[tuple[str, int], str] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def key(self, index: int) -> tuple[str, str, str]:
        """What happens at an event, without values and line numbers."""
        row = self.rows[index]
        return row.kind, row.function, self.text(row)

    def text(self, row: Row) -> str:
        position = row.file, row.line
        if position not in self._texts:
            self._texts[position] = self.statements.line(*position) or f"line {row.line}"
        return self._texts[position]

    def side(self, index: int) -> Side | None:
        if index >= len(self.rows):
            return None
        row = self.rows[index]
        return Side(row.index, row.file, row.line, row.function, row.kind, self.text(row))

    def changes(self, index: int) -> tuple[str | None, ...]:
        """The stored changes of values at an event."""
        row = self.rows[index]
        return row.locals, row.globals, row.objects, row.value, row.output

    def values(self, index: int) -> dict[str, str]:
        """Name -> value of all names at an event, without identity numbers; and what it returns or prints."""
        if index >= len(self.rows):
            return {}
        event = self.trace[index]
        values = {**event.globals, **event.locals}
        texts = {name: _text(value) for name, value in values.items()}
        row = self.rows[index]
        if row.value is not None:
            texts[f"({row.kind})"] = _text(decode(loads(row.value), event.state.objects))
        if row.output:
            texts["(output)"] = repr(row.output)
        return texts


def _text(value: Any) -> str:
    return _without_numbers(render(value))


def _without_numbers(text: str) -> str:
    """A rendered value without the identity numbers, which count all objects of a run."""
    return _NUMBER.sub("", text)


def diff(a: Recording, b: Recording, *, max_partings: int = PARTINGS, thread: int = 0) -> RunsDifference:
    """Where two runs part: the first event that differs, then up to `max_partings` places.

    After a place with other lines the runs are aligned again, at the nearest events from which both continue
    in the same way.

    Raises InputError if a recording does not have the thread.
    """
    left, right = _Run(a, thread), _Run(b, thread)
    partings: list[Parting] = []
    left_index = right_index = 0
    same: int | None = None
    differing: dict[str, tuple[str, str]] = {}
    exact = True
    """Whether the stored changes of both runs were equal up to here, so that all values are."""
    while len(partings) < max_partings and (left_index < len(left) or right_index < len(right)):
        if left_index >= len(left) or right_index >= len(right):
            same = left_index if same is None else same
            remaining = len(left) - left_index, len(right) - right_index
            partings.append(
                Parting(
                    "end",
                    left.side(left_index),
                    right.side(right_index),
                    {},
                    remaining[0],
                    remaining[1],
                    together=False,
                )
            )
            break
        if left.key(left_index) == right.key(right_index):
            if not (exact and left.changes(left_index) == right.changes(right_index)):
                exact = False
                changed = left.changes(left_index) != (None,) * 5 or right.changes(right_index) != (None,) * 5
                differences = _differing(left, right, left_index, right_index) if changed else differing
                if {*differences.items()} - {*differing.items()}:
                    same = left_index if same is None else same
                    new = {name: pair for name, pair in differences.items() if differing.get(name) != pair}
                    partings.append(Parting("values", left.side(left_index), right.side(right_index), new))
                differing = differences
            left_index, right_index = left_index + 1, right_index + 1
            continue
        same = left_index if same is None else same
        more_a, more_b, together = _aligned(left, right, left_index, right_index)
        values = _differing(left, right, left_index, right_index)
        new = {name: pair for name, pair in values.items() if differing.get(name) != pair}
        partings.append(
            Parting(
                "events",
                left.side(left_index),
                right.side(right_index),
                new or values,
                more_a,
                more_b,
                together=together,
            )
        )
        exact = False
        differing = values
        if not together:
            break
        left_index, right_index = left_index + more_a, right_index + more_b
    endings = tuple(f"{run.outcome} {run.run_result.detail}".strip() for run in (a, b))
    return RunsDifference(a.id, b.id, tuple(partings), left_index if same is None else same, endings)  # type: ignore[arg-type]


def _differing(left: _Run, right: _Run, left_index: int, right_index: int) -> dict[str, tuple[str, str]]:
    ours, theirs = left.values(left_index), right.values(right_index)
    none = "(no value)"
    return {
        name: (_short(ours.get(name, none)), _short(theirs.get(name, none)))
        for name in [*ours, *(name for name in theirs if name not in ours)]
        if ours.get(name) != theirs.get(name)
    }


def _short(text: str) -> str:
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 3]}..."


def _aligned(left: _Run, right: _Run, left_index: int, right_index: int) -> tuple[int, int, bool]:
    """The fewest events to skip in both runs, after which they continue in the same way."""
    keys_a = [left.key(n) for n in range(left_index, min(left_index + _WINDOW + _AGREE, len(left)))]
    keys_b = [right.key(n) for n in range(right_index, min(right_index + _WINDOW + _AGREE, len(right)))]
    for total in range(1, len(keys_a) + len(keys_b)):
        for skip in range(max(0, total - len(keys_b)), min(total, len(keys_a)) + 1):
            ours, theirs = keys_a[skip : skip + _AGREE], keys_b[total - skip : total - skip + _AGREE]
            if ours and ours == theirs:
                return skip, total - skip, True
    return len(left) - left_index, len(right) - right_index, False
