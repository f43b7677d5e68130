"""The values of the user's variables after a cell, seen from inside the kernel, bounded in time and size.

No code of the user runs: no `repr`, `==`, `len` or property. `tracer.snapshot` captures the values. Variables
are looked at until the time for a cell is used up: first those that the cell's source names, then new ones,
then the others, from where the last look ended. Among very many variables, a change through another name may
therefore be seen only after later cells. `KernelState.unseen` counts the variables without a look.

Uses the standard library only.
"""

import gc
import hashlib
import itertools
import json
import operator
import re
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskcheck.notebook.state import tensors
from deskcheck.notebook.state.digests import attributes, summary
from deskcheck.notebook.state.objects import live_facts
from deskcheck.notebook.state.truncate import truncate
from deskcheck.recording.value import decode
from deskcheck.tracer.contents import arrays as _arrays
from deskcheck.tracer.contents.introspection import bases_of, names_of
from deskcheck.tracer.limits import TraceLimits
from deskcheck.tracer.snapshot import Snapshotter, know_enum


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLimits:
    """Bounds on the look at the variables after one cell.

    time_s: time after which no further variable is looked at.
    items, text_chars, depth: bounds on one value, as in `TraceLimits`.
    objects: maximum number of objects that are reached from one variable.
    hashed_items: maximum number of items of an array, list, set or dict for its hash. A larger one is
    sampled.
    """

    time_s: float = 0.025
    items: int = 40
    text_chars: int = 2000
    depth: int = 6
    objects: int = 150
    hashed_items: int = 20_000


Describer = Callable[[Any], dict[str, Any]]
_describers: dict[str, Describer] = dict.fromkeys(tensors.TYPES, tensors.describe)


def register(type_name: str, describe: Describer) -> None:
    """Describe the objects of a type, named like ``torch.Tensor``, with a function.

    It gets the object and returns JSON, recorded as `Variable.described`. It runs after every cell that may
    have changed such a variable, so its time and effects are yours.
    """
    _describers[type_name] = describe


_HIDDEN = re.compile(r"_+|_i+|_i?\d+|_(ih|oh|dh|exit_code)|__.*__")
"""Names that IPython assigns."""
_underscored = operator.methodcaller("startswith", "_")
_REF = re.compile(r'\{"ref":(\d+)\}')
"""A reference. It does not match inside a JSON string, where quotes are escaped."""
_WORD = re.compile(r"[^\W\d]\w*")
_MOST_WORDS = 5000
_SAMPLED_PARTS = 64
_DEFAULT_CHARS = 60
"""Characters of a parameter's value or default."""


class Capture:
    """Sees the variables of one kernel after each of its cells."""

    def __init__(self, limits: StateLimits) -> None:
        self.limits = limits
        bounds = TraceLimits(
            items=limits.items, text_chars=limits.text_chars, depth=limits.depth, objects=limits.objects
        )
        self._snap = Snapshotter(bounds, {"__main__"}, lambda frame: None)
        self._last_seen: dict[str, _LastSeen] = {}
        self._listed: list[str] = []
        self._ipython_names: set[str] = set()
        """Names in the namespace that IPython assigned."""
        self._order: list[str] = []
        self._next = 0
        """Index in `_order` where the look at the other variables continues."""
        self._forget_above = 1000

    def after_cell(self, names: Mapping[str, Any], hidden: Mapping[str, Any], source: str) -> dict[str, Any]:
        """How the variables differ from those after the last cell (docs/reference/trajectory.md).

        names: the user's namespace.
        hidden: name -> value in the namespace before the user's first cell.
        """
        # A collection of garbage would take its time here, and run the user's finalisers.
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._after_cell(names, hidden, source)
        finally:
            if collects:
                gc.enable()

    def _after_cell(self, names: Mapping[str, Any], hidden: Mapping[str, Any], source: str) -> dict[str, Any]:
        began = time.perf_counter()
        until = began + self.limits.time_s
        know_enum()
        # There may be hundreds of thousands of names: nothing here touches each of them in Python.
        listed = list(names)
        new, lost = _differences(self._listed, listed)
        self._listed = listed
        if {*map(id, map(type, new))} - {id(str)}:
            new = [name for name in new if type(name) is str]
        self._ipython_names.difference_update(lost)
        self._ipython_names.update(name for name in filter(_underscored, new) if _HIDDEN.fullmatch(name))
        not_users = {
            name for name in hidden if name in names and hidden[name] is names[name]
        } | self._ipython_names
        removed = [name for name in lost if self._last_seen.pop(name, None) is not None]
        self._order += new
        if len(self._order) > 2 * len(listed) + 100:
            self._order = [name for name in dict.fromkeys(self._order) if name in names]
        variables: dict[str, Any] = {}
        looked_at: set[str] = set()
        for name in itertools.chain(_words(source), new, self._rest()):
            if name in looked_at or name in not_users or name not in names:
                continue
            if looked_at and time.perf_counter() > until:
                break
            looked_at.add(name)
            row = self._look(name, names[name])
            if row is not None:
                variables[name] = row
        self._forget()
        count = len(listed) - len(not_users)
        state: dict[str, Any] = {"variables": variables, "count": count}
        if removed:
            state["removed"] = sorted(removed)
        if len(looked_at) < count:
            state["unseen"] = count - len(looked_at)
        state["cost_s"] = round(time.perf_counter() - began, 6)
        return state

    def _rest(self) -> Iterator[str]:
        """Every name once, from where the last look ended."""
        for _ in range(len(self._order)):
            self._next = (self._next + 1) % len(self._order)
            yield self._order[self._next]

    def _look(self, name: str, obj: Any) -> dict[str, Any] | None:
        """The row of a variable. None if it did not change since the last look."""
        snap = self._snap
        snap.begin()
        (text,), refs = snap.roots([obj])
        snap.finish()
        objects = self._objects(refs)
        group = refs[0] if refs and _REF.fullmatch(text) else None
        if type(obj) is types.ModuleType:  # it has no number, and what it keeps can change
            group = -id(obj)
        type_name = snap.type_name(type(obj))
        digest, complete = self._digest(obj, f"{type_name}:{text}", objects)
        before = self._last_seen.get(name)
        change = "added"
        if before is not None:
            if before.group == group and before.digest == digest:
                return None
            change = "mutated" if group is not None and before.group == group else "rebound"
        self._last_seen[name] = _LastSeen(group, digest, refs)
        row: dict[str, Any] = {
            "change": change,
            "type": type_name,
            "value": json.loads(text),
            "hash": digest,
        }
        if objects:
            row["objects"] = {str(number): json.loads(content) for number, content in objects.items()}
        if not complete:
            row["sampled"] = True
        size = _size(obj)
        if size is not None:
            row["size_bytes"], row["size_method"] = size
        length = _length(obj)
        if length is not None:
            row["length"] = length
        if facts := live_facts(obj, type_name, self._text):
            row["seen"] = facts
        describe = _describers.get(row["type"])
        if describe is not None:
            try:
                row["described"] = describe(obj)
            except Exception as error:  # noqa: BLE001  # the user's own function: what it raises is recorded
                row["described"] = {"error": f"{type(error).__name__}: {error}"}
        return row

    def _text(self, name: str, obj: Any) -> str:
        """The text of a default, or of a parameter of an estimator."""
        if id(type(obj)) in _ATOMS and type(obj) not in (str, bytes):
            return repr(obj)
        (text,), refs = self._snap.roots([obj])
        self._snap.finish()
        objects = {number: json.loads(content) for number, content in self._objects(refs).items()}
        return truncate(decode(json.loads(text), objects), _DEFAULT_CHARS).text

    def _objects(self, refs: Iterable[int]) -> dict[int, str]:
        """Identity number -> content of every reached object, in the order of the first look."""
        contents: dict[int, str] = {}
        todo = list(refs)
        while todo:
            number = todo.pop(0)
            if number not in contents and number in self._snap.contents:
                content = self._snap.contents[number]
                contents[number] = content.whole()
                todo += content.refs
        return contents

    def _digest(self, obj: Any, text: str, objects: dict[int, str]) -> tuple[str, bool]:
        """A hash of the content, without identity numbers, and whether it covers all of it."""
        numbers: dict[str, int] = {}

        def renumbered(match: re.Match[str]) -> str:
            return f'{{"ref":{numbers.setdefault(match[1], len(numbers))}}}'

        digest = hashlib.blake2b(_REF.sub(renumbered, text).encode(), digest_size=12)
        complete = '"cut":' not in text
        for content in objects.values():
            digest.update(_REF.sub(renumbered, content).encode())
            complete = complete and '"cut":' not in content and '"kind":"opaque"' not in content
        if not complete:
            complete = self._add_more(digest, obj)
        beside = _arrays.beside(obj)
        if beside:
            digest.update(summary(beside).encode())
        attribute_digest = attributes(obj)
        if attribute_digest is not None:
            digest.update(attribute_digest.encode())
        return digest.hexdigest(), complete

    def _add_more(self, digest: Any, obj: Any) -> bool:
        """Add the content of a large value to a hash. Returns whether all of it was added."""
        kind, limit = type(obj), self.limits.hashed_items
        if kind is str or kind is bytes:
            digest.update(obj[: 1 << 20].encode("utf-8", "surrogatepass") if kind is str else obj[: 1 << 20])
            return len(obj) <= 1 << 20
        if kind is list or kind is tuple:
            many = len(obj) > limit
            items: Sequence[Any] = obj
            if many:
                part, apart = limit // 20, len(obj) // _SAMPLED_PARTS
                items = [*obj[:part], *obj[::apart], *obj[-part:]]
            return _add_atoms(digest, items) and not many
        is_array = _arrays.is_array(bases_of(kind))
        arrays = _arrays.memory(obj) if is_array or _arrays.pandas_name(bases_of(kind)) else []
        complete = bool(arrays)
        for array in arrays:
            try:
                data, all_of_it = _arrays.sample(array, limit)
            except ValueError:
                _add_atoms(digest, _arrays.read_array(array, 1000).items)
                data, all_of_it = b"", False
            digest.update(data)
            complete = complete and all_of_it
        # `memory` does not count the labels of a table: some may be cut unnoticed.
        return complete and is_array

    def _forget(self) -> None:
        """Forget objects that no variable reaches any more, if there are many."""
        if len(self._snap.contents) > self._forget_above:
            self._snap.forget_unreachable(
                itertools.chain.from_iterable(k.refs for k in self._last_seen.values())
            )
            self._forget_above = 2 * len(self._snap.contents) + 1000


@dataclass(frozen=True, slots=True)
class _LastSeen:
    group: int | None
    digest: str
    refs: tuple[int, ...]


def _words(source: str) -> Iterator[str]:
    """The first words of a cell that may be names."""
    return (match[0] for match in itertools.islice(_WORD.finditer(source), _MOST_WORDS))


def _differences(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """The new names of a namespace, in order, and the removed ones."""
    if after[: len(before)] == before:  # new ones come in at the end, and there may be very many
        return after[len(before) :], []
    # Of the user's own types not even `__hash__` is called.
    before, after = ([name for name in names if type(name) is str] for names in (before, after))
    was_there, is_there = {*before}, {*after}
    new = [name for name in after if name not in was_there]
    return new, [name for name in before if name not in is_there]


_ATOMS = frozenset(map(id, (int, float, str, bool, bytes, type(None), complex)))


def _add_atoms(digest: Any, items: Sequence[Any]) -> bool:
    """Add the atoms among values to a hash; returns whether all are atoms."""
    all_atoms = {*map(id, map(type, items))} <= _ATOMS
    atoms = items if all_atoms else [item if id(type(item)) in _ATOMS else ... for item in items]
    digest.update(repr(atoms).encode("utf-8", "surrogatepass"))
    return all_atoms


def _size(obj: Any) -> tuple[int, str] | None:
    """Bytes and how they were counted: ``nbytes`` (items of arrays; for object columns the pointers) or
    ``shallow`` (only the object, as its builtin base counts it)."""
    bases = bases_of(type(obj))
    if _arrays.is_array(bases) or _arrays.pandas_name(bases):
        arrays = _arrays.memory(obj)
        if arrays:
            return sum(map(_arrays.size_bytes, arrays)), "nbytes"
    for base in bases:
        measure = names_of(base).get("__sizeof__")
        if measure is not None and type(measure) is _METHOD:
            return measure(obj), "shallow"
    return None


_METHOD = type(object.__dict__["__sizeof__"])
_SIZED = (str, bytes, list, tuple, dict, set, frozenset, bytearray, range)


def _length(obj: Any) -> int | None:
    """Items or characters, as the builtin base counts them; rows of a table, the first axis of an array."""
    bases = bases_of(type(obj))
    for base in _SIZED:
        if any(cls is base for cls in bases):
            return base.__len__(obj)
    if _arrays.is_array(bases):
        shape = _arrays.array_shape(obj)
        return shape[0] if shape else None
    return None
