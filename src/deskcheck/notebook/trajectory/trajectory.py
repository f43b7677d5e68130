"""A trajectory: the history of a notebook as data. It has executions, and the edits, moves and restarts
between them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, ClassVar

from deskcheck.recording.program import Environment

SUFFIX = ".trajectory.parquet"
"""Suffix of a trajectory's file."""


class Status(StrEnum):
    """How the execution of a cell ended."""

    OK = "ok"
    ERROR = "error"
    """The cell raised an exception: see `Execution.error`."""
    INTERRUPTED = "interrupted"
    """The user stopped it, or the cell itself raised KeyboardInterrupt."""
    TIMED_OUT = "timed_out"
    """The limit on a cell's or the notebook's time stopped it."""
    OUT_OF_MEMORY = "out_of_memory"
    """The kernel died of the limit on memory, or the operating system ended it for lack of memory."""
    DIED = "died"
    """The kernel ended while the cell ran: it was killed, crashed, or the cell ended its process."""
    UNKNOWN = "unknown"
    """The source of the trajectory does not say."""

    @classmethod
    def of_error(cls, name: str | None) -> "Status":
        """How a cell ended that raised an exception, by the exception's class."""
        return cls.INTERRUPTED if name == "KeyboardInterrupt" else cls.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a notebook. type: ``code``, ``markdown`` or ``raw``, as in nbformat."""

    id: str
    source: str
    type: str = "code"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output message, in the words of Jupyter's messaging specification."""

    type: str
    name: str | None = None
    """The name of a stream (``stdout`` or ``stderr``), or the exception's class of an error."""
    text: str | None = None
    """The text of a stream, or the traceback of an error."""
    value: str | None = None
    """The message of an error."""
    data: dict[str, Any] = field(default_factory=dict)
    """MIME type -> data."""
    metadata: dict[str, Any] = field(default_factory=dict)
    display_id: str | None = None
    wait: bool | None = None
    """Whether a ``clear_output`` waits for the next output."""
    count: int | None = None
    """Execution count of an ``execute_result``."""
    at_s: float | None = None
    """Seconds since the execution began."""
    length: int | None = None
    """Full number of characters, if some were left out at the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event in the history of a notebook."""

    kind: ClassVar[str] = ""
    order: tuple[str, ...]
    """Ids of all cells after the step, from the top down."""
    at: float | None = None
    """Seconds since 1970 UTC, if known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Step):
    """A cell ran. `at` is its start. Unknown figures are None."""

    kind = "execution"
    cell: str
    source: str
    """The source when it ran."""
    status: Status
    count: int | None = None
    end: float | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    memory_before: int | None = None
    """Bytes resident in the kernel's process before the cell."""
    memory_after: int | None = None
    memory_peak: int | None = None
    outputs: tuple[Output, ...] = ()
    detail: str | None = None
    state: dict[str, Any] | None = None
    """The changes of variables since the execution before (docs/reference/trajectory.md)."""
    repeats: bool | None = None
    """Whether all runs in fresh kernels agree."""
    difference: str | None = None
    """The first difference between the runs."""
    confined: str | None = None
    """The rule of the sandbox that refused something."""
    drew: tuple[str, ...] = ()
    """Random generators without a seed that the cell drew from."""
    draws: int | None = None
    """A lower bound on the drawn words of 32 bits."""

    @property
    def error(self) -> Output | None:
        """The exception that the cell raised."""
        return next((output for output in self.outputs if output.type == "error"), None)

    def text(self, name: str = "stdout") -> str:
        """All text of a stream."""
        return "".join(o.text or "" for o in self.outputs if o.type == "stream" and o.name == name)

    def shown(self) -> tuple[Output, ...]:
        """The outputs that a reader sees at the end: streams are joined, ``clear_output`` and updates of
        displays are applied."""
        return tuple(shown_outputs(self.outputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion(Step):
    """A cell was inserted at `position`, from 0. inferred: it was concluded from later steps."""

    kind = "insertion"
    cell: str
    source: str
    position: int
    type: str = "code"
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Step):
    """The source or type of a cell changed."""

    kind = "edit"
    cell: str
    source: str
    type: str = "code"
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion(Step):
    kind = "deletion"
    cell: str
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move(Step):
    """A cell moved to `position`, counted from 0 in the new order."""

    kind = "move"
    cell: str
    position: int
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(Step):
    """A fresh kernel started: all variables are gone."""

    kind = "restart"
    why: str = "asked"
    """``asked`` (by the user), ``died`` (the kernel before), or ``resumed`` (a stopped recording)."""
    again: int = 0
    """Number of executions that ran again, unrecorded, to resume the recording."""


STEPS: dict[str, type[Step]] = {
    kind.kind: kind for kind in (Execution, Insertion, Edit, Deletion, Move, Restart)
}


class Ended(StrEnum):
    """How a trajectory ended."""

    WHOLE = "whole"
    """All steps were done, whatever the statuses of cells."""
    TIMED_OUT = "timed_out"
    """The limit on the notebook's time was reached. Later executions are missing."""
    NO_KERNEL = "no_kernel"
    """The notebook asks for a kernel that is not available. No cell ran."""
    STOPPED = "stopped"
    """The recorder was stopped early. The file has the steps until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """The history of a notebook."""

    id: str
    source: str
    """``ipynb``, ``june``, ``git``, ``kernel`` (`%deskcheck record`), ``jupyter`` (the server's extension) or
    ``replay``."""
    cells: tuple[Cell, ...]
    """Cells of the notebook before the first step."""
    steps: Sequence[Step]
    """Steps, perhaps read from a file when they are needed."""
    path: str | None = None
    """Path of the notebook, as the user gave it."""
    kernel: str | None = None
    """Name of the kernelspec that the notebook asks for."""
    language: str | None = None
    environment: Environment | None = None
    """Where it ran, if deskcheck ran it."""
    limits: dict[str, Any] = field(default_factory=dict)
    confinement: str | None = None
    licence: str | None = None
    ended: Ended = Ended.WHOLE
    detail: str = ""
    notes: tuple[str, ...] = ()
    """Remarks of the reader about parts that it left out or repaired."""

    @property
    def executions(self) -> Iterator[Execution]:
        return (step for step in self.steps if isinstance(step, Execution))

    def notebooks(self) -> Iterator[tuple[Step, tuple[Cell, ...]]]:
        """Every step with the cells of the notebook after it, from the top down."""
        cells = {cell.id: cell for cell in self.cells}
        for step in self.steps:
            advance(cells, step)
            yield step, tuple(cells[id_] for id_ in step.order)

    def __repr__(self) -> str:
        return f"<Trajectory {self.id}: {len(self.steps)} steps, {self.ended}>"


def advance(cells: dict[str, Cell], step: Step) -> None:
    """Apply a step to the cells, by id. Their order is `step.order`."""
    if isinstance(step, Insertion | Edit):
        cells[step.cell] = Cell(id=step.cell, source=step.source, type=step.type)
    elif isinstance(step, Deletion):
        del cells[step.cell]


def moved(order: tuple[str, ...], step: Step) -> tuple[str, ...]:
    """The order of the cells after a step, from the order before it."""
    if not isinstance(step, Insertion | Deletion | Move):
        return order
    others = [id_ for id_ in order if id_ != step.cell]
    if not isinstance(step, Deletion):
        others.insert(step.position, step.cell)
    return tuple(others)


def shown_outputs(outputs: Iterable[Output]) -> list[Output]:
    visible: list[Output] = []
    clear = False
    for output in outputs:
        if output.type == "clear_output":
            if output.wait:
                clear = True
            else:
                visible, clear = [], False
            continue
        if output.type == "update_display_data":
            for number, earlier in enumerate(visible):
                if earlier.type == "display_data" and earlier.display_id == output.display_id:
                    visible[number] = replace(earlier, data=output.data, metadata=output.metadata)
            continue
        if clear:
            visible, clear = [], False
        last = visible[-1] if visible else None
        if last is not None and output.type == "stream" == last.type and last.name == output.name:
            length = None
            if last.length is not None or output.length is not None:
                length = (last.length or len(last.text or "")) + (output.length or len(output.text or ""))
            visible[-1] = replace(last, text=(last.text or "") + (output.text or ""), length=length)
        else:
            visible.append(output)
    return visible


_BETWEEN = ", "
"""Separator between the labels of `Execution.drew` in a file."""


def to_dict(item: Any) -> dict[str, Any]:
    """A step, cell or output as JSON-able values, without fields that have their default."""
    row: dict[str, Any] = {"kind": item.kind} if isinstance(item, Step) else {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        if value == entry.default or (value in ({}, ()) and entry.name != "order"):
            continue
        if entry.name == "outputs":
            value = [to_dict(output) for output in value]
        elif entry.name == "drew":
            value = _BETWEEN.join(value)
        row[entry.name] = value
    return row


def from_dict(row: dict[str, Any]) -> Step:
    """The step that `to_dict` wrote. Raises ValueError, KeyError or TypeError."""
    values = dict(row)
    kind = STEPS[values.pop("kind")]
    names = {f.name for f in fields(kind)}
    values = {name: value for name, value in values.items() if name in names}
    values["order"] = tuple(values["order"])
    if kind is Execution:
        values["status"] = Status(values["status"])
        values["outputs"] = tuple(Output(**output) for output in values.get("outputs", ()))
        values["drew"] = tuple(label for label in (values.get("drew") or "").split(_BETWEEN) if label)
    return kind(**values)


def storable(text: str) -> str:
    """A text as files have it: UTF-8, with question marks for lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def cell_from_dict(row: dict[str, Any]) -> Cell:
    return Cell(**row | {"tags": tuple(row.get("tags", ()))})
