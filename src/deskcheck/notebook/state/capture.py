"""What the user's variables hold after a cell, seen from inside the kernel: bounded in time and size.

No code of the user's runs for it, no `repr`, `==`, `len` or property: values are taken as the tracer takes
them (`tracer.snapshot`). Every variable is looked at in turn until the time for a cell is used up: first
those that the cell's source names, then those that are new, then the rest, going on where the last cell's
look ended. So a change that was made through another name, among very many variables, may be seen cells
later; `State.unseen` says how many were not looked at. Standard library only."""

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
from deskcheck.notebook.state.names import mentioned
from deskcheck.notebook.state.objects import live_facts
from deskcheck.notebook.state.truncate import truncate
from deskcheck.recording.value import decode
from deskcheck.tracer.contents import arrays as _arrays
from deskcheck.tracer.contents.introspection import bases_of, names_of
from deskcheck.tracer.limits import TraceLimits
from deskcheck.tracer.snapshot import Snapshotter, know_enum


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLimits:
    """Bounds on what is seen of variables after one cell.

    time_s: after so long no further variable is begun. items, text_chars, depth: of one value, as in
    `TraceLimits`. objects: reached from one variable. hashed_items: of an array, or of one list, set or dict,
    that go into the content hash; with more, a sample does.
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
    """Have a function say more of the objects of a type, by its qualified name: ``torch.Tensor``.

    It gets the object and returns what JSON can hold; it is recorded as `Variable.described`. It runs after
    every cell that may have changed such a variable: whoever registers it answers for its time and for what
    it does.
    """
    _describers[type_name] = describe


_HIDDEN = re.compile(r"_+|_i+|_i?\d+|_(ih|oh|dh|exit_code)|__.*__")
"""Names that IPython itself assigns."""
_underscored = operator.methodcaller("startswith", "_")
_REF = re.compile(r'\{"ref":(\d+)\}')
"""Cannot be in a JSON string: there, quotes are escaped."""
_SAMPLED_PARTS = 64
_DEFAULT_CHARS = 60
"""Of a parameter's value or default."""


class Capture:
    """Sees the variables of one kernel after each of its cells."""

    def __init__(self, limits: StateLimits) -> None:
        self.limits = limits
        bounds = TraceLimits(
            items=limits.items, text_chars=limits.text_chars, depth=limits.depth, objects=limits.objects
        )
        self._snap = Snapshotter(bounds, {"__main__"}, lambda frame: None)
        self._known: dict[str, _Known] = {}
        self._listed: list[str] = []
        self._own: set[str] = set()
        """Names that IPython assigns."""
        self._order: list[str] = []
        self._next = 0
        """Where in `_order` the look at what no cell names goes on."""
        self._kept = 1000

    def after_cell(self, names: Mapping[str, Any], hidden: Mapping[str, Any], source: str) -> dict[str, Any]:
        """How the variables differ from those after the last cell, as docs/reference/trajectory.md describes.

        names: the user's namespace. hidden: what was in it before the user came, by name.
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
        new, gone = _differences(self._listed, listed)
        self._listed = listed
        if {*map(id, map(type, new))} - {id(str)}:
            new = [name for name in new if type(name) is str]
        self._own.difference_update(gone)
        self._own.update(name for name in filter(_underscored, new) if _HIDDEN.fullmatch(name))
        not_users = {name for name in hidden if name in names and hidden[name] is names[name]} | self._own
        removed = [name for name in gone if self._known.pop(name, None) is not None]
        self._order += new
        if len(self._order) > 2 * len(listed) + 100:
            self._order = [name for name in dict.fromkeys(self._order) if name in names]
        variables: dict[str, Any] = {}
        done: set[str] = set()
        for name in itertools.chain(mentioned(source), new, self._rest()):
            if name in done or name in not_users or name not in names:
                continue
            if done and time.perf_counter() > until:
                break
            done.add(name)
            found = self._look(name, names[name])
            if found is not None:
                variables[name] = found
        self._forget()
        count = len(listed) - len(not_users)
        state: dict[str, Any] = {"variables": variables, "count": count}
        if removed:
            state["removed"] = sorted(removed)
        if len(done) < count:
            state["unseen"] = count - len(done)
        state["cost_s"] = round(time.perf_counter() - began, 6)
        return state

    def _rest(self) -> Iterator[str]:
        """Every name once, from where the last look ended."""
        for _ in range(len(self._order)):
            self._next = (self._next + 1) % len(self._order)
            yield self._order[self._next]

    def _look(self, name: str, obj: Any) -> dict[str, Any] | None:
        """What is to be recorded of a variable; None if nothing is new since the last look."""
        snap = self._snap
        snap.begin()
        (text,), refs = snap.roots([obj])
        snap.finish()
        objects = self._objects(refs)
        group = refs[0] if refs and _REF.fullmatch(text) else None
        if type(obj) is types.ModuleType:  # it has no number, and what it keeps can change
            group = -id(obj)
        type_name = snap.type_name(type(obj))
        digest, whole = self._digest(obj, f"{type_name}:{text}", objects)
        before = self._known.get(name)
        change = "added"
        if before is not None:
            if before.group == group and before.digest == digest:
                return None
            change = "mutated" if group is not None and before.group == group else "rebound"
        self._known[name] = _Known(group, digest, refs)
        found: dict[str, Any] = {
            "change": change,
            "type": type_name,
            "value": json.loads(text),
            "hash": digest,
        }
        if objects:
            found["objects"] = {str(number): json.loads(content) for number, content in objects.items()}
        if not whole:
            found["sampled"] = True
        size = _size(obj)
        if size is not None:
            found["size_bytes"], found["size_method"] = size
        length = _length(obj)
        if length is not None:
            found["length"] = length
        if seen := live_facts(obj, type_name, self._text):
            found["seen"] = seen
        describe = _describers.get(found["type"])
        if describe is not None:
            try:
                found["described"] = describe(obj)
            except Exception as error:  # noqa: BLE001  # the user's own function: what it raises is recorded
                found["described"] = {"error": f"{type(error).__name__}: {error}"}
        return found

    def _text(self, name: str, obj: Any) -> str:
        """A default, or a parameter of an estimator."""
        if id(type(obj)) in _ATOMS and type(obj) not in (str, bytes):
            return repr(obj)
        (text,), refs = self._snap.roots([obj])
        self._snap.finish()
        objects = {number: json.loads(content) for number, content in self._objects(refs).items()}
        return truncate(decode(json.loads(text), objects), _DEFAULT_CHARS).text

    def _objects(self, refs: Iterable[int]) -> dict[int, str]:
        """Content of every object that is reached, by identity number, in order of sight."""
        found: dict[int, str] = {}
        todo = list(refs)
        while todo:
            number = todo.pop(0)
            if number not in found and number in self._snap.contents:
                content = self._snap.contents[number]
                found[number] = content.whole()
                todo += content.refs
        return found

    def _digest(self, obj: Any, text: str, objects: dict[int, str]) -> tuple[str, bool]:
        """A hash of the content, without identity numbers, and whether all of it went in."""
        numbers: dict[str, int] = {}

        def renumbered(found: re.Match[str]) -> str:
            return f'{{"ref":{numbers.setdefault(found[1], len(numbers))}}}'

        digest = hashlib.blake2b(_REF.sub(renumbered, text).encode(), digest_size=12)
        whole = '"cut":' not in text
        for content in objects.values():
            digest.update(_REF.sub(renumbered, content).encode())
            whole = whole and '"cut":' not in content and '"kind":"opaque"' not in content
        if not whole:
            whole = self._add_more(digest, obj)
        beside = _arrays.beside(obj)
        if beside:
            digest.update(summary(beside).encode())
        held = attributes(obj)
        if held is not None:
            digest.update(held.encode())
        return digest.hexdigest(), whole

    def _add_more(self, digest: Any, obj: Any) -> bool:
        """Add to a hash what a large value holds beyond what is shown; return whether that is all."""
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
        whole = bool(arrays)
        for array in arrays:
            try:
                data, all_of_it = _arrays.sample(array, limit)
            except ValueError:
                _add_atoms(digest, _arrays.read_array(array, 1000).items)
                data, all_of_it = b"", False
            digest.update(data)
            whole = whole and all_of_it
        # The labels of a table are beyond `memory`: what was cut of them is not known.
        return whole and is_array

    def _forget(self) -> None:
        """Let go of what was seen of objects that no variable reaches any more; now and then."""
        if len(self._snap.contents) > self._kept:
            self._snap.forget_unreachable(itertools.chain.from_iterable(k.refs for k in self._known.values()))
            self._kept = 2 * len(self._snap.contents) + 1000


@dataclass(frozen=True, slots=True)
class _Known:
    group: int | None
    digest: str
    refs: tuple[int, ...]


def _differences(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """What is new in the names of a namespace, in their order, and what is gone."""
    if after[: len(before)] == before:  # new ones come in at the end, and there may be very many
        return after[len(before) :], []
    # Of the user's own types not even `__hash__` is called.
    before, after = ([name for name in names if type(name) is str] for names in (before, after))
    was_there, is_there = {*before}, {*after}
    new = [name for name in after if name not in was_there]
    return new, [name for name in before if name not in is_there]


_ATOMS = frozenset(map(id, (int, float, str, bool, bytes, type(None), complex)))


def _add_atoms(digest: Any, items: Sequence[Any]) -> bool:
    """Add values to a hash, as far as they are atoms; return whether all are."""
    whole = {*map(id, map(type, items))} <= _ATOMS
    atoms = items if whole else [item if id(type(item)) in _ATOMS else ... for item in items]
    digest.update(repr(atoms).encode("utf-8", "surrogatepass"))
    return whole


def _size(obj: Any) -> tuple[int, str] | None:
    """Bytes, and how they were counted: ``nbytes`` (the items of arrays; of object columns the pointers) or
    ``shallow`` (the object alone, as its builtin base counts it)."""
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
        if any(each is base for each in bases):
            return base.__len__(obj)
    if _arrays.is_array(bases):
        shape = _arrays.array_shape(obj)
        return shape[0] if shape else None
    return None
