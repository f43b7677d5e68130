"""What the variables held after a cell, as data: read from a trajectory, added up over its executions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deskcheck.notebook.trajectory.trajectory import Execution, Restart, Step
from deskcheck.recording.value import Value, decode, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable after a cell.

    type: qualified, without ``builtins`` and without the module of the notebook itself. size_bytes is
    counted as size_method says: ``nbytes`` (the items of arrays and tables; of columns of objects the
    pointers) or ``shallow`` (the object alone). length: items, characters, rows. hash: of the content, the
    same in every run; of a sample of it and what is shown where `sampled`. described: what a registered
    describer said. seen: what only the object itself tells: of functions, classes, estimators, graphs."""

    name: str
    type: str
    hash: str
    encoded: Any
    """The value, as docs/reference/format.md encodes it."""
    objects: Mapping[int, dict[str, Any]]
    """Content of the objects that it refers to, by identity number."""
    sampled: bool = False
    length: int | None = None
    size_bytes: int | None = None
    size_method: str | None = None
    described: dict[str, Any] | None = None
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> Value:
        """What it held, as far as that was recorded."""
        return decode(self.encoded, self.objects)

    @property
    def group(self) -> int | None:
        """Identity number: variables with the same are names of one object. None for immutable values."""
        return self.encoded.get("ref") if isinstance(self.encoded, dict) else None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of arrays and tables."""
        return self.value.shape

    @property
    def dtype(self) -> str | None:
        """Of arrays; those of a table's columns stand in `columns`."""
        return self.value.dtype

    @property
    def columns(self) -> tuple[tuple[str, str | None], ...]:
        """Of a table the first columns' labels, as text, and dtypes: all of them unless the value is cut."""
        value = self.value
        if value.kind != "table":
            return ()
        return tuple((label_of(label), column.dtype) for label, column in value.items)

    @property
    def head(self) -> tuple[tuple[Value, ...], ...]:
        """Of a table the first rows, as far as they were recorded."""
        value = self.value
        if value.kind != "table":
            return ()
        return tuple(zip(*(column.items for _, column in value.items), strict=False))


def label_of(label: Value) -> str:
    """Of a column, as text."""
    return label.atom if isinstance(label.atom, str) else render(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelState:
    """All variables after an execution, and what it changed.

    added, rebound, mutated, removed: names; `mutated` are names of the same object as before, whose content
    is another. count: variables that there are. unseen: how many of those were not looked at after this
    cell, for lack of time: they stand here as they were last seen, if they were. cost_s: what looking took.
    """

    variables: Mapping[str, Variable]
    added: tuple[str, ...]
    rebound: tuple[str, ...]
    mutated: tuple[str, ...]
    removed: tuple[str, ...]
    count: int
    unseen: int
    cost_s: float

    def aliases(self) -> list[tuple[str, ...]]:
        """Groups of names of one object, those with two and more."""
        groups: dict[int, list[str]] = {}
        for variable in self.variables.values():
            if variable.group is not None:
                groups.setdefault(variable.group, []).append(variable.name)
        return [tuple(names) for names in groups.values() if len(names) > 1]


def states(steps: Iterable[Step]) -> Iterator[tuple[Execution, KernelState | None]]:
    """Every execution with the state after it, None where that was not recorded. A restart clears it."""
    variables: dict[str, Variable] = {}
    for step in steps:
        if isinstance(step, Restart):
            # After a resumption everything that was there has been made again.
            variables = {} if step.why != "resumed" else variables
        if not isinstance(step, Execution):
            continue
        if step.state is None:
            yield step, None
            continue
        found = step.state
        changes: dict[str, list[str]] = {"added": [], "rebound": [], "mutated": []}
        variables = {name: v for name, v in variables.items() if name not in found.get("removed", ())}
        for name, row in found["variables"].items():
            changes[row["change"]].append(name)
            variables[name] = _variable(name, row)
        yield (
            step,
            KernelState(
                variables=dict(variables),
                removed=tuple(found.get("removed", ())),
                count=found["count"],
                unseen=found.get("unseen", 0),
                cost_s=found["cost_s"],
                **{name: tuple(names) for name, names in changes.items()},
            ),
        )


_STORED = ("type", "hash", "sampled", "length", "size_bytes", "size_method", "described", "seen")
"""Fields that have the same name in a trajectory; one that is not there has its default."""


def _variable(name: str, row: dict[str, Any]) -> Variable:
    return Variable(
        name=name,
        encoded=row["value"],
        objects={int(number): content for number, content in row.get("objects", {}).items()},
        **{field: row[field] for field in _STORED if field in row},
    )
