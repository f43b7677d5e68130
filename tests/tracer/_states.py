"""Two traces compared by what they say, whatever numbers they give to objects.

The reference knows an object by its address. A list that dies within a line, and a new one made where it
lay, are one list to it; a tracer that sees deaths gives the new one a new number. So numbers may be split
where an object of a type without weak references has gone, and nowhere else; and they may never be joined.
"""

from collections.abc import Sequence
from typing import Any

from deskcheck.recording.trace import Row, State
from deskcheck.recording.value import loads

_HEAD = ("thread", "index", "kind", "frame", "function", "file", "line", "offset", "output", "instruction")
_SEEN_TO_DIE = frozenset({"set", "function", "class", "generator"})
"""Kinds all of whose types have weak references."""


class Different(Exception):
    """What differs."""


def check(reference: Sequence[Row], other: Sequence[Row]) -> None:
    """Raises Different where one thread's traces, up to the shorter one's end, tell of different states."""
    one, two = State(), State()
    same = True
    known: dict[int, int] = {}
    taken: set[int] = set()
    for at, (x, y) in enumerate(zip(reference, other, strict=False)):
        if same and x == y:
            one.apply(x)
            continue
        if same:
            same, two = False, one.copy()
            known.update((number, number) for number in one.objects)
            taken.update(known)
        for column in _HEAD:
            if getattr(x, column) != getattr(y, column):
                raise Different(f"event {at}: {column} is {getattr(x, column)!r} and {getattr(y, column)!r}")
        one.apply(x)
        try:
            two.apply(y)
        except (KeyError, IndexError, TypeError) as error:
            raise Different(f"event {at}: its changes cannot be applied: {error!r}") from error
        _Walk(one, two, known, taken, at).compare(x, y)


class _Walk:
    """The graphs of objects of two states, side by side."""

    def __init__(self, one: State, two: State, known: dict[int, int], taken: set[int], at: int) -> None:
        self.one = one
        self.two = two
        self.known = known
        """Number in the other trace -> number in the reference, over the whole of the traces."""
        self.taken = taken
        """Numbers of the reference that something in the other trace has had."""
        self.at = at
        self.forth: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.todo: list[tuple[str, Any, Any]] = []

    def compare(self, x: Row, y: Row) -> None:
        push = self.todo.append
        if x.value or y.value:
            push(("value", loads(x.value or "0"), loads(y.value or "0")))
        numbers = [x.frame]
        callers = [loads(row.caller) if row.caller else {} for row in (x, y)]
        if callers[0] or callers[1]:
            plain = [{k: v for k, v in c.items() if k not in ("locals", "stack")} for c in callers]
            push(("caller", plain[0], plain[1]))
            numbers.append(callers[0].get("frame", x.frame))
        for number in numbers:
            f, g = self.one.frames[number], self.two.frames[number]
            push((f"locals of frame {number}", f.locals, g.locals))
            push((f"stack of frame {number}", f.stack, g.stack))
        push(("globals", self.one.globals.get(x.file, {}), self.two.globals.get(x.file, {})))
        while self.todo:
            self.pair(*self.todo.pop())

    def fail(self, where: str, a: object, b: object) -> None:
        raise Different(f"event {self.at}: {where}: {str(a)[:300]} and {str(b)[:300]}")

    def pair(self, where: str, a: Any, b: Any) -> None:
        if type(a) is not type(b):
            self.fail(where, a, b)
        elif isinstance(a, dict):
            if "ref" in a and "ref" in b:
                self.objects(where, a["ref"], b["ref"])
                return
            if a.keys() != b.keys():
                self.fail(where, a, b)
            self.todo += [(f"{where}.{key}", a[key], b[key]) for key in a]
        elif isinstance(a, list):
            if len(a) != len(b):
                self.fail(where, a, b)
            self.todo += [(f"{where}[{n}]", x, y) for n, (x, y) in enumerate(zip(a, b, strict=True))]
        elif a != b:
            self.fail(where, a, b)

    def objects(self, where: str, m: int, n: int) -> None:
        if m in self.forth or n in self.back:
            if self.forth.get(m) != n or self.back.get(n) != m:
                self.fail(where, f"the same object elsewhere, #{m}", f"another, #{n}")
            return
        self.forth[m], self.back[n] = n, m
        a, b = self.one.objects.get(m, {}), self.two.objects.get(n, {})
        if n not in self.known and m in self.taken and b.get("kind") in _SEEN_TO_DIE:
            self.fail(where, f"an old object, #{m}", f"a new one, #{n}: {b}")
        self.taken.add(m)
        if self.known.setdefault(n, m) != m:
            self.fail(where, f"a new object, #{m}", f"an old one, #{n}")
        self.todo.append((f"{where} #{m}/#{n}", a, b))
