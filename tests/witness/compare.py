"""What the witness saw against a trace at line level, and a trace at line level against one at instruction level.

Compared are the events that `sys.settrace` and a trace have in common (call, line, return, yield, raise): which frame, function
and line; at each of them the frame's variables and the globals, by value; who is whom among them; and what was returned, yielded
or raised. What the witness says nothing about, and what a trace says that it leaves out, is not compared.
"""

import ast
import json
import marshal
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any

from deskcheck.recording import Kind, Row, decode, render
from deskcheck.recording.trace import State
from tests.witness._watch import PRIVATE_UNSAID

KNOWN = {
    "comprehensions": "3.11 gives a comprehension a frame, 3.12 and 3.13 do not, and a trace has an event for each item: of the"
    " events in a statement (or header) with a comprehension, the first counts",
    "variables of comprehensions": "on 3.12 and 3.13 f_locals shows them; reading it on 3.12 binds them to None",
    "names of comprehensions": "on 3.11 they are scopes in qualified names",
    "class bodies": "f_locals of a class body lacks what it closes over; a namespace that a metaclass made is not read by the tracers",
    "resumed": "a `call` of settrace at a generator that goes on comes from 3.11 to 3.13 at different moments where something is"
    " thrown in: `resume` and `unwind` are left out",
    "the line of a module's call": "settrace says 1, a trace the line of the first statement",
    "ends of loops": "settrace tells of a StopIteration that ends a loop: this and StopAsyncIteration, GeneratorExit are left out",
    "closed generators": "f_locals keeps up to 3.12 what a variable held until it is read again, by the trace function: a generator"
    " dies, and is closed, while nothing is traced. From its GeneratorExit to its end nothing is compared there",
    "cleanup": "3.12 has `line` events of settrace at CLEANUP_THROW, which is no line",
    "the line that runs": "3.12 tells of it once more where a call returns into it and a jump may lead to the same place, some from"
    " the second run on: `x = a or f()`",
    "missed lines": "from 3.14 on settrace tells of no line behind a `for` that has come to its end where the code before that end"
    " is of the same line: the witness asks for each instruction there",
    "annotations": "from 3.14 on settrace tells of a class's own line once more, where the function is made that tells its annotations",
    "arrays": "array.append and array.insert make room before they ask the item for its number: its `__index__` sees an item that"
    " nobody has set, and so does a trace. generated.py gives them plain numbers",
    "sets": "the order of a set of objects is that of their addresses: compared by their number and the atoms among them",
}
"""How `sys.settrace` itself differs from a trace."""

CLOSED_UNSEEN = sys.version_info < (3, 13)
SILENT = {"StopIteration", "StopAsyncIteration", "GeneratorExit"}
COMPARED = frozenset({Kind.CALL, Kind.LINE, Kind.RETURN, Kind.YIELD, Kind.RAISE})
_SHOWS_STACK = frozenset({Kind.CALL, Kind.LINE, Kind.RESUME, Kind.YIELD})
_HAS_ITEMS = frozenset({"list", "dict", "set", "bytearray"})


class Different(Exception):
    """Where two sides differ, what one says and what the other."""

    def __init__(self, where: str, expected: object, actual: object) -> None:
        super().__init__(where, expected, actual)
        self.where = where
        self.expected = expected
        self.actual = actual

    def __str__(self) -> str:
        return f"{self.where}: {str(self.expected)[:400]}   BUT   {str(self.actual)[:400]}"


@dataclass(frozen=True, slots=True)
class Seen:
    """An event of the witness."""

    kind: str
    frame: int
    function: str
    line: int
    locals: dict[str, Any] | None
    globals: dict[str, Any]
    value: Any
    error: str | None
    stack: list[Any] | None
    objects: list[Any]


@dataclass
class Spans:
    """Where in a program comprehensions stand, and what their variables are called."""

    lines: dict[int, int] = field(default_factory=dict)
    """Line -> the number of the statement, or header, with a comprehension, that it belongs to."""
    names: dict[str, set[str]] = field(default_factory=dict)
    """Qualified name of a function, a class or `<module>` -> variables of comprehensions in it."""

    @classmethod
    def of(cls, text: str) -> "Spans":
        spans = cls()
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return spans
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
                continue
            names = spans.names.setdefault(_scope(node, parents), set())
            for generator in node.generators:
                names |= {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            spans._add(node, parents)
        return spans

    def _add(self, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> None:
        whole: Any = node
        while not isinstance(whole, ast.stmt | ast.ExceptHandler):
            above = parents.get(whole)
            if above is None or (isinstance(above, ast.stmt) and hasattr(above, "body")):
                break
            if not hasattr(above, "lineno"):  # a generator's `for`, arguments: no place of its own
                parents[whole] = parents[above]
                continue
            if isinstance(above, ast.Lambda):
                break
            whole = above
        for line in range(whole.lineno, whole.end_lineno + 1):
            self.lines.setdefault(line, whole.lineno)


def _scope(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> str:
    """Qualified name of the code that an expression is part of, without the scopes of comprehensions."""
    parts: list[str] = []
    while (above := parents.get(node)) is not None:
        body = getattr(above, "body", None)
        inside = body is node or (isinstance(body, list) and node in body)
        if isinstance(above, ast.GeneratorExp) and node is not above.generators[0].iter:
            parts.append("<genexpr>")
        elif isinstance(above, ast.Lambda) and inside:
            parts.append("<lambda>")
        elif isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and inside:
            parts.append(above.name)
        elif isinstance(above, ast.ClassDef) and inside:
            parts.append(f"class {above.name}")
        node = above
    name = ""
    for part in reversed(parts):
        name += part.removeprefix("class ") + ("." if part.startswith("class ") else ".<locals>.")
    return name.removesuffix(".<locals>.").removesuffix(".") or "<module>"


def first_of_each(events: Iterable[Any], spans: Spans) -> Iterator[Any]:
    """The events without the `line` events that follow another of the same statement with a comprehension."""
    last: dict[int, int | None] = {}
    for event in events:
        if event.kind == "line":
            span = spans.lines.get(event.line)
            if span is not None and last.get(event.frame) == span:
                continue
            last[event.frame] = span
        yield event


def seen(blocks: Iterable[bytes]) -> list[Seen]:
    """The events of the witness that are compared."""
    found = [Seen(*marshal.loads(block)) for block in blocks]
    kept = not_of_closed(found, lambda event: event.error)
    return [event for event in kept if event.kind != "unwind" and event.error not in SILENT]


def not_of_closed(events: Iterable[Any], raised: Callable[[Any], str | None]) -> Iterator[Any]:
    """The events without those from a GeneratorExit in a frame to the frame's end. raised: what an event of
    the kind `raise` raises."""
    closed = None
    for event in events:
        if closed is None:
            if CLOSED_UNSEEN and event.kind == "raise" and raised(event) == "GeneratorExit":
                closed = event.frame
            else:
                yield event
        elif event.frame == closed and event.kind in ("return", "unwind", "yield"):
            closed = None


def check(
    text: str, witness: Sequence[Seen], rows: Sequence[Row], *, whole: bool, stacks: bool = True
) -> int:
    """How many events were compared. Raises Different at the first that is not as the witness saw it.

    text: the program. whole: both go to the end, so that none may have more events than the other. stacks: the value stack too.
    """
    spans = Spans.of(text)
    frames: dict[int, int] = {}
    back: dict[int, int] = {}
    count = 0
    for event, told in zip_longest(first_of_each(witness, spans), first_of_each(_states(rows), spans)):
        if event is None or told is None:
            if whole:
                raise Different(
                    f"event {count}",
                    _place(event) if event else "the end",
                    _place(told.row) if told else "the end",
                )
            break
        row, state = told.row, told.state
        where = f"event {row.index}, {row.kind} in {row.function} at line {row.line}"
        same_line = event.line == row.line or spans.lines.get(event.line, 0) == spans.lines.get(row.line)
        same_line = same_line or (event.kind == "call" and event.function == "<module>")
        if (event.kind, _plain_name(event.function)) != (row.kind, row.function) or not same_line:
            raise Different(where, _place(event), _place(row))
        if (
            frames.setdefault(event.frame, row.frame) != row.frame
            or back.setdefault(row.frame, event.frame) != event.frame
        ):
            raise Different(f"{where}: frame", event.frame, row.frame)
        _Event(event, row, state, spans).check(where, stacks)
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class _Told:
    row: Row
    state: State

    @property
    def kind(self) -> str:
        return self.row.kind

    @property
    def frame(self) -> int:
        return self.row.frame

    @property
    def line(self) -> int:
        return self.row.line


def _states(rows: Sequence[Row]) -> Iterator[_Told]:
    """The events of a trace that are compared; the state is that of the moment."""
    for told in not_of_closed(_all_states(rows), lambda told: _raised(told.row, told.state)):
        if told.kind in COMPARED and not (
            told.kind == Kind.RAISE and _raised(told.row, told.state) in SILENT
        ):
            yield told


def _all_states(rows: Sequence[Row]) -> Iterator[_Told]:
    state = State()
    for row in rows:
        state = state.after(row)
        yield _Told(row, state)


def _raised(row: Row, state: State) -> str | None:
    value = json.loads(row.value) if row.value else None
    if isinstance(value, dict) and "ref" in value:
        return str(state.objects[value["ref"]]["type"]).rpartition(".")[2]
    return None


def _plain_name(function: str) -> str:
    """A qualified name without the scopes that comprehensions are on 3.11."""
    return re.sub(r"<(list|set|dict)comp>\.(<locals>\.)?", "", function)


def _place(event: Any) -> str:
    return f"{event.kind} in {event.function} at line {event.line} (frame {event.frame})"


def _steady(text: str) -> str:
    """Text without addresses and the names of temporary folders, which no two runs share."""
    return (
        re.sub(r"0x[0-9a-f]{6,}|/tmp\w+|agree-\w+", "...", text) if "0x" in text or "/tmp" in text else text
    )


def _last(name: str) -> str:
    return name.rpartition(".")[2]


class _Event:
    """One event, from both sides: the objects that were found to be one."""

    def __init__(self, event: Seen, row: Row, state: State, spans: Spans) -> None:
        self.event = event
        self.row = row
        self.state = state
        self.spans = spans
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.todo: list[tuple[str, int, int]] = []

    def check(self, where: str, stacks: bool) -> None:
        row, event = self.row, self.event
        told = self.state.globals.get(row.file, {})
        self.names(f"{where}: global", event.globals, told)
        if event.locals is not None:
            self.names(f"{where}: local", event.locals, self.state.frames[row.frame].locals)
        if row.kind in (Kind.RETURN, Kind.YIELD):
            self.pair(f"{where}: value", event.value, json.loads(row.value) if row.value else None)
        elif row.kind == Kind.RAISE and event.error != _raised(row, self.state):
            raise Different(f"{where}: raised", event.error, _raised(row, self.state))
        if stacks and row.kind in _SHOWS_STACK and event.stack is not None:
            self.stack(f"{where}: stack", event.stack, list(self.state.frames[row.frame].stack))
        self.finish()

    def finish(self) -> None:
        while self.todo:
            self.content(*self.todo.pop())

    def names(self, where: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
        other = {name: value for name, value in other.items() if not (name[:2] == "__" and name[-2:] == "__")}
        for name in {**one, **other}:
            if name in self.spans.names.get(self.row.function, ()) and (
                self.row.kind == Kind.RAISE or name not in other or name not in one
            ):
                continue
            if name not in other and one[name] is None:
                continue
            if name not in one or name not in other:
                raise Different(f"{where} {name}", one.get(name, "unbound"), other.get(name, "unbound"))
            self.pair(f"{where} {name}", one[name], other[name])

    def stack(self, where: str, slots: Sequence[Any], values: Sequence[Any]) -> None:
        """Every slot, and the values that a trace says are data. What it leaves out (`_is_left_out`) it may leave out."""
        free = self.row.line in self.spans.lines  # variables that a comprehension has put aside
        left_out = [free or self.is_left_out(slot) for slot in slots]
        ways = list(islice(_alignments([*zip(slots, left_out, strict=True)], values), 50))
        if not ways:
            raise Different(where, slots, values)
        self.finish()
        way = ways[0] if len(ways) == 1 else next(filter(self.holds, ways), None)
        if way is None:
            raise Different(where, slots, values)
        self.pairs(where, way)

    def holds(self, pairs: Sequence[tuple[Any, Any]]) -> bool:
        """Whether slots are values, and all that they refer to."""
        before = dict(self.forth), dict(self.back)
        try:
            self.pairs("", pairs)
            self.finish()
        except Different:
            return False
        finally:
            self.forth, self.back = before
            self.todo.clear()
        return True

    def pairs(self, where: str, pairs: Sequence[tuple[Any, Any]]) -> None:
        for n, (slot, value) in enumerate(pairs):
            self.pair(f"{where}[{n}]", slot, value)

    def is_left_out(self, slot: Any) -> bool:
        """Whether a slot may hold no data: nothing, where an instruction lies, the exception that was handled before."""
        if slot[0] == "at":
            return bool(self.event.objects[slot[1]][0] == "exception")
        return slot[0] == "NULL" or (slot[0] == "=" and slot[1] in ("int", "NoneType"))

    def type(self, where: str, name: str, other: Any) -> None:
        shown = self.shown(other)
        if isinstance(shown, dict):
            differs = "type" in shown and _last(shown["type"]) != name
        else:
            differs = name not in ("str", "bytes", "int")  # too long to be copied
        if differs:
            raise Different(where, name, shown)

    def pair(self, where: str, one: Any, other: Any) -> None:
        """A value of the witness and an encoded value."""
        if one is None or (isinstance(other, dict) and "cut" in other):
            return
        kind = one[0]
        if kind == "type":
            self.type(where, one[1], other)
        elif kind == "at":
            self.object(where, one[1], other)
        elif kind == "=":
            self.atom(where, one, other)
        elif kind == "method":
            if not isinstance(other, dict) or other.get("method") != one[1]:
                raise Different(where, f"method {one[1]}", other)
            self.pair(f"{where}.__self__", one[2], other["self"])
        else:
            if not isinstance(other, dict) or kind not in other:
                raise Different(where, one, other)
            if kind != "slice" and _last(other.get("type", kind)) != one[1]:
                raise Different(f"{where}: type", one[1], other.get("type", kind))
            if kind == "frozenset":
                self.unordered(where, one[2], other[kind])
            else:
                self.sequence(where, one[2], other[kind])

    def atom(self, where: str, one: Any, other: Any) -> None:
        if isinstance(other, dict) and ("ref" in other or "tuple" in other or "method" in other):
            raise Different(where, one[2], self.shown(other))
        value = decode(other, {})
        if (value.type, _steady(render(value))) != (one[1], _steady(one[2])):
            raise Different(where, one[2], render(value))

    def shown(self, other: Any) -> Any:
        """What is told of the object that a value refers to, or the value itself."""
        return self.state.objects.get(other["ref"]) if isinstance(other, dict) and "ref" in other else other

    def sequence(self, where: str, one: Sequence[Any], other: Sequence[Any]) -> None:
        if len(one) != len(other):
            raise Different(f"{where}: length {len(one)} and {len(other)}", one, other)
        for n, (x, y) in enumerate(zip(one, other, strict=True)):
            self.pair(f"{where}[{n}]", x, y)

    def unordered(self, where: str, one: Sequence[Any], other: Sequence[Any]) -> None:
        """Compared as far as it can be without an order: the number, and the atoms."""
        if len(one) != len(other):
            raise Different(f"{where}: length", len(one), len(other))
        atoms = sorted(item[2] for item in one if item is not None and item[0] == "=")
        plain = [
            item
            for item in other
            if not isinstance(item, dict) or not item.keys() & {"ref", "tuple", "frozenset", "method"}
        ]
        texts = sorted(render(decode(item, {})) for item in plain)
        if None not in one and atoms != texts:
            raise Different(f"{where}: items", atoms, texts)

    def object(self, where: str, number: int, other: Any) -> None:
        content = self.event.objects[number]
        if not isinstance(other, dict) or "ref" not in other:
            raise Different(where, content, other)
        ref = other["ref"]
        if number in self.forth or ref in self.back:
            if self.forth.get(number) != ref or self.back.get(ref) != number:
                raise Different(
                    f"{where}: identity",
                    f"the witness's object {number}: {content}",
                    f"#{ref}: {self.state.objects.get(ref)}",
                )
            return
        self.forth[number], self.back[ref] = ref, number
        self.todo.append((where, number, ref))

    def content(self, where: str, number: int, ref: int) -> None:
        kind, name, items, ordered, fields = self.event.objects[number]
        told = self.state.objects.get(ref)
        if told is None:
            raise Different(where, self.event.objects[number], f"#{ref}, of which nothing is told")
        if told["kind"] == "opaque" and not (kind in _HAS_ITEMS and kind == name):
            return
        if kind != told["kind"] and kind != "cell":
            raise Different(f"{where}: kind", kind, told)
        if kind not in ("class", "cell") and _last(told["type"]) != name:
            raise Different(f"{where}: type", name, told["type"])
        if "cut" not in told and items is not None:
            self.items(where, items, told.get("items", []), ordered)
        if len(fields) > 900:
            return
        has = told.get("fields", {})
        unsaid = PRIVATE_UNSAID in fields
        for key, value in fields.items():
            if key == PRIVATE_UNSAID:
                continue
            if key not in has:
                if kind == "cell":
                    continue
                raise Different(f"{where}.{key}", value, "no such field")
            self.pair(f"{where}.{key}", value, has[key])
        if kind in ("object", "exception"):
            for key in has:
                if (
                    key not in fields
                    and key not in ("maxlen", "default_factory")
                    and not (unsaid and key[:1] == "_")
                ):
                    raise Different(f"{where}.{key}", "no such attribute", has[key])

    def items(self, where: str, one: Sequence[Any], other: Sequence[Any], ordered: bool) -> None:
        if len(one) != len(other):
            raise Different(f"{where}: length {len(one)} and {len(other)}", one, other)
        pairs = bool(one) and one[0] is not None and not isinstance(one[0][0], str)
        if pairs and ordered:
            for n, ((k, v), (key, value)) in enumerate(zip(one, other, strict=True)):
                self.pair(f"{where}: key {n}", k, key)
                self.pair(f"{where}[{_short(k)}]", v, value)
        elif ordered:
            self.sequence(where, one, other)
        elif not pairs:
            self.unordered(where, one, other)
        else:
            self.by_key(where, one, other)

    def by_key(self, where: str, one: Sequence[Any], other: Sequence[Any]) -> None:
        """Pairs in any order, as far as their keys can be told apart by their text."""
        texts = [text for key, _ in one if (text := _key_text(key)) is not None]
        if len({*texts}) < len(one):
            return
        told = {render(decode(key, {})): value for key, value in other if "ref" not in json.dumps(key)}
        if told.keys() != {*texts}:
            raise Different(f"{where}: keys", sorted(texts), sorted(told))
        for text, (_, value) in zip(texts, one, strict=True):
            self.pair(f"{where}[{text}]", value, told[text])


def _alignments(slots: Sequence[tuple[Any, bool]], values: Sequence[Any]) -> Iterator[list[tuple[Any, Any]]]:
    """Each way in which values are those of slots, in this order. slots: with whether it may be left out."""
    if not values:
        if all(left_out for _, left_out in slots):
            yield []
        return
    if len(slots) < len(values):
        return
    (slot, left_out), *rest = slots
    if slot != ["NULL"]:
        for pairs in _alignments(rest, values[1:]):
            yield [(slot, values[0]), *pairs]
        if (
            rest and isinstance(values[0], dict) and "method" in values[0]
        ):  # of `super()`: the function, and what it is bound to
            for pairs in _alignments(rest[1:], values[1:]):
                yield [(rest[0][0], values[0]["self"]), *pairs]
    if left_out:
        yield from _alignments(rest, values)


def _key_text(key: Any) -> str | None:
    """An atom, or a tuple of them, as its `repr`; None for what has no such text."""
    if key is None or key[0] not in ("=", "tuple"):
        return None
    if key[0] == "=":
        return str(key[2])
    if key[1] != "tuple":
        return None
    parts = [_key_text(item) for item in key[2]]
    if None in parts:
        return None
    return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"


def _short(key: Any) -> str:
    return str(key[2]) if key is not None and key[0] == "=" else "..."


# -- line level against instruction level ------------------------------------------------------------


def check_levels(coarse: Sequence[Row], fine: Sequence[Row], *, whole: bool) -> int:
    """How many events two traces of a program have in common, one at line level and one at instruction level. Raises Different
    where an event, or the state at it, is not the same in both. Identity numbers are compared within each event."""
    one, two = State(), State()
    rest = iter(fine)
    count = 0
    for row in coarse:
        one = one.after(row)
        for other in rest:
            two = two.after(other)
            if other.kind != Kind.INSTRUCTION:
                break
        else:
            if whole:
                raise Different(f"event {row.index}", _place(row), "the end of instruction level")
            return count
        _Levels(one, two).check(row, other)
        count += 1
    if whole:
        for other in rest:
            if other.kind != Kind.INSTRUCTION:
                raise Different("after the end", "the end of line level", _place(other))
    return count


class _Levels:
    """One event at both levels."""

    def __init__(self, one: State, two: State) -> None:
        self.one = one
        self.two = two
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.todo: list[tuple[str, Any, Any]] = []

    def check(self, row: Row, other: Row) -> None:
        where = f"event {row.index}, {row.kind} in {row.function} at line {row.line}"
        for column in ("kind", "frame", "function", "file", "line", "offset", "left_out"):
            if getattr(row, column) != getattr(other, column):
                raise Different(f"{where}: {column}", _place(row), _place(other))
        frame = row.frame
        f, g = self.one.frames[frame], self.two.frames[frame]
        self.names(f"{where}: local", f.locals, g.locals)
        self.names(f"{where}: global", self.one.globals.get(row.file, {}), self.two.globals.get(row.file, {}))
        a, b = (json.loads(r.value) if r.value else None for r in (row, other))
        self.todo.append((f"{where}: value", a, b))
        if row.kind in _SHOWS_STACK:
            self.todo.append((f"{where}: stack", list(f.stack), list(g.stack)))
        while self.todo:
            self.pair(*self.todo.pop())

    def pair(self, where: str, a: Any, b: Any) -> None:
        if type(a) is not type(b):
            raise Different(where, a, b)
        if isinstance(a, dict):
            if "ref" in a and "ref" in b:
                self.objects(where, a["ref"], b["ref"])
                return
            self.names(where, a, b)
        elif isinstance(a, list):
            if len(a) != len(b):
                raise Different(where, a, b)
            self.todo += [(f"{where}[{n}]", x, y) for n, (x, y) in enumerate(zip(a, b, strict=True))]
        elif a != b and not (isinstance(a, str) and _steady(a) == _steady(b)):
            raise Different(where, a, b)

    def names(self, where: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
        if a.keys() != b.keys():
            raise Different(where, a, b)
        self.todo += [(f"{where}.{key}", a[key], b[key]) for key in a]

    def objects(self, where: str, m: int, n: int) -> None:
        if m in self.forth or n in self.back:
            if self.forth.get(m) != n or self.back.get(n) != m:
                raise Different(f"{where}: identity", self.one.objects.get(m), self.two.objects.get(n))
            return
        self.forth[m], self.back[n] = n, m
        contents = [dict(state.objects.get(number, {})) for state, number in ((self.one, m), (self.two, n))]
        self.names(where, *(content.pop("fields", {}) for content in contents))  # one may be called `ref`
        self.names(where, *contents)
