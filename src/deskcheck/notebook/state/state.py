"""The values of variables after a cell, as data: read from a trajectory, and added up over its executions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deskcheck.notebook.trajectory.trajectory import Execution, Restart, Step
from deskcheck.recording.value import Value, decode, render


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable after a cell."""

    name: str
    type: str
    """Qualified name of its type, without ``builtins`` and the notebook's module."""
    hash: str
    """Hash of the content, the same in every run."""
    encoded: Any
    """The value, encoded as in docs/reference/format.md."""
    objects: Mapping[int, dict[str, Any]]
    """Identity number -> content of the objects that it refers to."""
    sampled: bool = False
    """Whether the hash is that of a sample."""
    length: int | None = None
    size_bytes: int | None = None
    size_method: str | None = None
    """``nbytes`` (items of arrays and tables; for object columns the pointers) or ``shallow`` (only the
    object)."""
    described: dict[str, Any] | None = None
    """Facts from a registered describer."""
    seen: Mapping[str, Any] = field(default_factory=dict)
    """Facts that only the object itself shows."""

    @property
    def value(self) -> Value:
        """The recorded value."""
        return decode(self.encoded, self.objects)

    @property
    def group(self) -> int | None:
        """Identity number of the object, which all its names share. None for immutable values."""
        return self.encoded.get("ref") if isinstance(self.encoded, dict) else None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of an array or table."""
        return self.value.shape

    @property
    def dtype(self) -> str | None:
        """The dtype of an array. For a table, see `columns`."""
        return self.value.dtype

    @property
    def columns(self) -> tuple[tuple[str, str | None], ...]:
        """Labels and dtypes of a table's first columns: all of them unless the value is cut."""
        value = self.value
        if value.kind != "table":
            return ()
        return tuple((label_of(label), column.dtype) for label, column in value.items)

    @property
    def head(self) -> tuple[tuple[Value, ...], ...]:
        """The recorded first rows of a table."""
        value = self.value
        if value.kind != "table":
            return ()
        return tuple(zip(*(column.items for _, column in value.items), strict=False))


def label_of(label: Value) -> str:
    """The label of a column as text."""
    return label.atom if isinstance(label.atom, str) else render(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelState:
    """All variables after an execution, and the changes by it."""

    variables: Mapping[str, Variable]
    added: tuple[str, ...]
    rebound: tuple[str, ...]
    mutated: tuple[str, ...]
    """Names of the same object with different content."""
    removed: tuple[str, ...]
    count: int
    unseen: int
    """Number of variables without a look, for lack of time. Their values are from the last look."""
    cost_s: float
    """Time of the look."""

    def aliases(self) -> list[tuple[str, ...]]:
        """Groups of two and more names of one object."""
        groups: dict[int, list[str]] = {}
        for variable in self.variables.values():
            if variable.group is not None:
                groups.setdefault(variable.group, []).append(variable.name)
        return [tuple(names) for names in groups.values() if len(names) > 1]


def states(steps: Iterable[Step]) -> Iterator[tuple[Execution, KernelState | None]]:
    """Every execution with the state after it, None if that was not recorded. A restart clears the state."""
    variables: dict[str, Variable] = {}
    for step in steps:
        if isinstance(step, Restart):
            # A resumption makes the earlier variables again.
            variables = {} if step.why != "resumed" else variables
        if not isinstance(step, Execution):
            continue
        if step.state is None:
            yield step, None
            continue
        row_of_state = step.state
        changes: dict[str, list[str]] = {"added": [], "rebound": [], "mutated": []}
        variables = {name: v for name, v in variables.items() if name not in row_of_state.get("removed", ())}
        for name, row in row_of_state["variables"].items():
            changes[row["change"]].append(name)
            variables[name] = _variable(name, row)
        yield (
            step,
            KernelState(
                variables=dict(variables),
                removed=tuple(row_of_state.get("removed", ())),
                count=row_of_state["count"],
                unseen=row_of_state.get("unseen", 0),
                cost_s=row_of_state["cost_s"],
                **{name: tuple(names) for name, names in changes.items()},
            ),
        )


_STORED = ("type", "hash", "sampled", "length", "size_bytes", "size_method", "described", "seen")
"""Fields with the same name in a trajectory."""


def _variable(name: str, row: dict[str, Any]) -> Variable:
    return Variable(
        name=name,
        encoded=row["value"],
        objects={int(number): content for number, content in row.get("objects", {}).items()},
        **{field: row[field] for field in _STORED if field in row},
    )
