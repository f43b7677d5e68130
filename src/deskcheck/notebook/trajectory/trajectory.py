"""A trajectory: how a notebook came about, as data: executions, and the edits, moves and restarts between
them."""

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
    """An exception left the cell: `Execution.error` has it."""
    INTERRUPTED = "interrupted"
    """The user stopped it, or the cell itself raised KeyboardInterrupt."""
    TIMED_OUT = "timed_out"
    """The limit on a cell's or the notebook's time stopped it."""
    OUT_OF_MEMORY = "out_of_memory"
    """The kernel died of the limit on memory, or the operating system ended it for lack of memory."""
    DIED = "died"
    """The kernel ended while the cell ran: it was killed, crashed, or the cell ended its process."""
    UNKNOWN = "unknown"
    """The source of the trajectory does not tell."""

    @classmethod
    def of_error(cls, name: str | None) -> "Status":
        """How a cell ended that an exception left, by the exception's class."""
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
    """One output message, in the words of Jupyter's messaging specification.

    text: of a stream, or the traceback of an error. data: by MIME type. name: of a stream ``stdout`` or
    ``stderr``; of an error the exception's class. at_s: seconds since the execution began. length: number of
    characters, if some were left out at the limit.
    """

    type: str
    name: str | None = None
    text: str | None = None
    value: str | None = None
    """The message of an error."""
    data: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    display_id: str | None = None
    wait: bool | None = None
    """Of a ``clear_output``: whether it waits for the next output."""
    count: int | None = None
    """Execution count of an ``execute_result``."""
    at_s: float | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happened. order: ids of all cells after it, from the top down. at: seconds since 1970
    UTC, if known."""

    kind: ClassVar[str] = ""
    order: tuple[str, ...]
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Step):
    """A cell ran. `at` is its start. Figures that are not known are None.

    source: as it was then. memory_*: bytes resident in the kernel's process before and after the cell, and
    their peak. state: how the variables differ from those after the execution before
    (docs/reference/trajectory.md). repeats: whether all runs in fresh kernels gave the same; difference:
    where not. confined: the rule of the sandbox that it met. drew: random generators without a seed that it
    drew from; draws: words of 32 bits, or more.
    """

    kind = "execution"
    cell: str
    source: str
    status: Status
    count: int | None = None
    end: float | None = None
    wall_s: float | None = None
    cpu_s: float | None = None
    memory_before: int | None = None
    memory_after: int | None = None
    memory_peak: int | None = None
    outputs: tuple[Output, ...] = ()
    detail: str | None = None
    state: dict[str, Any] | None = None
    repeats: bool | None = None
    difference: str | None = None
    confined: str | None = None
    drew: tuple[str, ...] = ()
    draws: int | None = None

    @property
    def error(self) -> Output | None:
        """The exception that left the cell."""
        return next((output for output in self.outputs if output.type == "error"), None)

    def text(self, name: str = "stdout") -> str:
        """All that was written to a stream, joined."""
        return "".join(o.text or "" for o in self.outputs if o.type == "stream" and o.name == name)

    def shown(self) -> tuple[Output, ...]:
        """The outputs as a reader sees them in the end: streams joined, ``clear_output`` and updates of
        displays done."""
        return tuple(shown_outputs(self.outputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion(Step):
    """A cell was inserted at `position`, from 0. inferred: not observed, but later steps show it."""

    kind = "insertion"
    cell: str
    source: str
    position: int
    type: str = "code"
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Step):
    """A cell got another source, or another type."""

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
    """A cell went to `position`, counted from 0 in the new order."""

    kind = "move"
    cell: str
    position: int
    inferred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(Step):
    """A fresh kernel: all variables are gone. why: ``asked``, ``died``, or ``resumed``: a stopped recording
    continued, for which `again` executions ran once more, unrecorded."""

    kind = "restart"
    why: str = "asked"
    again: int = 0


STEPS: dict[str, type[Step]] = {
    kind.kind: kind for kind in (Execution, Insertion, Edit, Deletion, Move, Restart)
}


class Ended(StrEnum):
    """How a trajectory ended."""

    WHOLE = "whole"
    """Everything that was to be done was done, whatever the cells' statuses."""
    TIMED_OUT = "timed_out"
    """The limit on the notebook's time was reached: what was not run is not there."""
    NO_KERNEL = "no_kernel"
    """The notebook wants a kernel that cannot be had: nothing was run."""
    STOPPED = "stopped"
    """The recorder was stopped before its end; the file has what was done until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """How a notebook came about.

    cells: of the notebook before the first step. source: ``ipynb``, ``june``, ``git``, ``kernel``
    (`%deskcheck record`), ``jupyter`` (the server's extension) or ``replay``. notes: what the reader left out
    or repaired. steps may be read from a file when they are needed.
    """

    id: str
    source: str
    cells: tuple[Cell, ...]
    steps: Sequence[Step]
    path: str | None = None
    """The notebook, as it was named."""
    kernel: str | None = None
    """Name of the kernelspec that the notebook asks for."""
    language: str | None = None
    environment: Environment | None = None
    """Where it ran, as far as we ran it."""
    limits: dict[str, Any] = field(default_factory=dict)
    confinement: str | None = None
    licence: str | None = None
    ended: Ended = Ended.WHOLE
    detail: str = ""
    notes: tuple[str, ...] = ()

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
    """Change the cells, by id, to what they are after a step. Their order is `step.order`."""
    if isinstance(step, Insertion | Edit):
        cells[step.cell] = Cell(id=step.cell, source=step.source, type=step.type)
    elif isinstance(step, Deletion):
        del cells[step.cell]


def moved(order: tuple[str, ...], step: Step) -> tuple[str, ...]:
    """The order of the cells after a step, from that before."""
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
"""Between the labels of `Execution.drew` in a file."""


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
