"""A trajectory: how a notebook came about, cell execution by cell execution, as data.

What a cell printed and showed, how it ended, what stood in the notebook when it ran, and what was changed,
inserted, deleted, moved and restarted in between. Files of it: `file`. The variables after an execution:
`state`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, ClassVar

from deskcheck.recording.program import Environment

SUFFIX = ".trajectory.parquet"
"""What the name of a trajectory's file ends in."""


class Status(StrEnum):
    """How the execution of a cell ended, decided by whoever ran it. Every execution has exactly one."""

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
    """A cell as it stands in a notebook. type: ``code``, ``markdown`` or ``raw``, as in nbformat."""

    id: str
    source: str
    type: str = "code"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output message, in the words of Jupyter's messaging specification.

    type: ``stream``, ``execute_result``, ``display_data``, ``update_display_data``, ``clear_output`` or
    ``error``. text: of a stream; of an error its traceback, joined. data: by MIME type what else was shown:
    text, or what JSON is. name: of a stream ``stdout`` or ``stderr``, of an error the exception's class.
    at_s: seconds since the execution began, None where that is not known. length: characters that there
    really were, where something was left out at the limit."""

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
    """One thing that happened. order: ids of all cells after it, from the top of the notebook down. at: when,
    seconds since 1970 UTC, None where that is not known."""

    kind: ClassVar[str] = ""
    order: tuple[str, ...]
    at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Step):
    """A cell ran. `at` is its start.

    source: as it was then. count: the execution count. cpu_s: of the kernel's process. memory_*: bytes
    resident in the kernel's process, before and after the cell, and the most in between. state: how the
    variables differ from those after the execution before (`state.State`), in the form of
    docs/reference/trajectory.md. detail: what `status` leaves open. repeats: whether every run of the
    trajectory in a fresh kernel gave the same text (`repeats`), and difference: where not; None if there was
    one run alone. confined: the rule of the sandbox that stood in its way (`kernel.refusals.RULES`). drew:
    the random generators without a seed that it drew from. draws: words of 32 bits that it drew from them, or
    more. A figure that was not taken is None."""

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
        """The outputs as a reader of the notebook sees them in the end: streams joined with their neighbour,
        ``clear_output`` done, displays updated where they stand."""
        return tuple(shown_outputs(self.outputs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion(Step):
    """A cell came to be at `position`, counted from 0. inferred: nobody saw it, but it was there later."""

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
    """A fresh kernel: every variable is gone. why: ``asked``, ``died``, or ``resumed``: a recording that was
    stopped went on, for which `again` executions since the last restart were run once more, unrecorded."""

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

    cells: what stood in it before the first step. source: where it was read or seen, as ``ipynb``, ``june``,
    ``git``, ``kernel`` (`%deskcheck record`), ``jupyter`` (the extension of Jupyter Server),
    ``replay``. notes: what the reader had to leave out or repair, a sentence each. steps may be read from
    a file as they are asked for.
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
    left = [id_ for id_ in order if id_ != step.cell]
    if not isinstance(step, Deletion):
        left.insert(step.position, step.cell)
    return tuple(left)


def shown_outputs(outputs: Iterable[Output]) -> list[Output]:
    found: list[Output] = []
    clear = False
    for output in outputs:
        if output.type == "clear_output":
            if output.wait:
                clear = True
            else:
                found, clear = [], False
            continue
        if output.type == "update_display_data":
            for place, earlier in enumerate(found):
                if earlier.type == "display_data" and earlier.display_id == output.display_id:
                    found[place] = replace(earlier, data=output.data, metadata=output.metadata)
            continue
        if clear:
            found, clear = [], False
        last = found[-1] if found else None
        if last is not None and output.type == "stream" == last.type and last.name == output.name:
            length = None
            if last.length is not None or output.length is not None:
                length = (last.length or len(last.text or "")) + (output.length or len(output.text or ""))
            found[-1] = replace(last, text=(last.text or "") + (output.text or ""), length=length)
        else:
            found.append(output)
    return found


_BETWEEN = ", "
"""Between the labels of `Execution.drew` in a file."""


def to_dict(item: Any) -> dict[str, Any]:
    """A step, cell or output as JSON-able values, without what has its default; `from_dict` reads a step."""
    row: dict[str, Any] = {"kind": item.kind} if isinstance(item, Step) else {}
    for each in fields(item):
        value = getattr(item, each.name)
        if value == each.default or (value in ({}, ()) and each.name != "order"):
            continue
        if each.name == "outputs":
            value = [to_dict(output) for output in value]
        elif each.name == "drew":
            value = _BETWEEN.join(value)
        row[each.name] = value
    return row


def from_dict(row: dict[str, Any]) -> Step:
    """The step that `to_dict` wrote. Raises ValueError, KeyError or TypeError on what is none."""
    given = dict(row)
    kind = STEPS[given.pop("kind")]
    known = {f.name for f in fields(kind)}
    given = {name: value for name, value in given.items() if name in known}
    given["order"] = tuple(given["order"])
    if kind is Execution:
        given["status"] = Status(given["status"])
        given["outputs"] = tuple(Output(**output) for output in given.get("outputs", ()))
        given["drew"] = tuple(label for label in (given.get("drew") or "").split(_BETWEEN) if label)
    return kind(**given)


def storable(text: str) -> str:
    """A text as files have it: with question marks for lone surrogates, which UTF-8 has not."""
    return text.encode("utf-8", "replace").decode()


def cell_from_dict(row: dict[str, Any]) -> Cell:
    return Cell(**row | {"tags": tuple(row.get("tags", ()))})
