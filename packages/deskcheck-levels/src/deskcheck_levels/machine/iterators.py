"""The iterators of programs: generators, `range` in a loop, `enumerate`, `map`, `filter`.

The machine runs them and asks the model for their operations. They have Python's names, which occur in the
messages of TypeErrors.
"""

from collections.abc import Iterator
from typing import Any

from deskcheck_levels.machine.frames import Frame, OutsideLanguage, ProgramRaised, called

DEEPEST = 900
"""Calls within calls; Python's own limit is 1000, which programs of the language do not come to."""


@called("generator")
class Generator:
    """A generator of the program: its frame runs while the next value is asked for."""

    def __init__(self, machine: Any, frame: Frame) -> None:
        self.machine, self.frame, self.started, self.running = machine, frame, False, False

    def __iter__(self) -> "Iterator[Any]":
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, sent: Any) -> Any:
        """Go on, with what the `yield` gives. Raises StopIteration with what the generator returns."""
        if self.running:
            raise ProgramRaised(ValueError("generator already executing"))
        if self.frame.ended:
            raise StopIteration
        if not self.started and sent is not None:
            raise ProgramRaised(TypeError("can't send non-None value to a just-started generator"))
        if self.machine.depth >= DEEPEST:
            raise OutsideLanguage("too deep a recursion")
        if self.started:
            self.frame.stack.append(sent)
        self.started = self.running = True
        self.machine.depth += 1
        try:
            value = self.machine.run(self.frame)
        except ProgramRaised as raised:
            if isinstance(raised.error, StopIteration):
                raise ProgramRaised(RuntimeError("generator raised StopIteration")) from None
            raise
        finally:
            self.machine.depth -= 1
            self.running = False
        if self.frame.ended:
            raise StopIteration if value is None else StopIteration(value)
        return value


@called("range_iterator")
class Counting:
    """`range` in a loop: what it gives next is asked of the model, and whether there is more."""

    __slots__ = ("machine", "more", "next_value", "step", "stop")

    def __init__(self, machine: Any, start: int, stop: int, step: int) -> None:
        self.machine, self.next_value, self.stop, self.step = machine, start, stop, step
        self.more = "<" if step > 0 else ">"

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        value, machine = self.next_value, self.machine
        if not machine.arithmetic.binary(self.more, value, self.stop):
            raise StopIteration
        self.next_value = machine.arithmetic.binary("+", value, self.step)
        return value


@called("enumerate")
class Enumerated:
    """`enumerate`: the next number is asked of the model."""

    def __init__(self, machine: Any, items: Iterator[Any], start: Any) -> None:
        self.machine, self.items, self.count = machine, items, start

    def __iter__(self) -> "Enumerated":
        return self

    def __next__(self) -> Any:
        item = next(self.items)
        count = self.count
        self.count = self.machine.binary("+", count, 1)
        return count, item


@called("map")
class Mapped:
    """`map`: continues after a call that raised."""

    def __init__(self, machine: Any, function: Any, several: list[Iterator[Any]]) -> None:
        self.machine, self.function, self.several = machine, function, several

    def __iter__(self) -> "Mapped":
        return self

    def __next__(self) -> Any:
        return _stopped(self.machine, self.function, [next(iterator) for iterator in self.several])


@called("filter")
class Filtered:
    """`filter`: continues after a call that raised. function: None takes true items."""

    def __init__(self, machine: Any, function: Any, items: Iterator[Any]) -> None:
        self.machine, self.function, self.items = machine, function, items

    def __iter__(self) -> "Filtered":
        return self

    def __next__(self) -> Any:
        for item in self.items:
            test = item if self.function is None else _stopped(self.machine, self.function, [item])
            if self.machine.truth(test):
                return item
        raise StopIteration


def _stopped(machine: Any, function: Any, args: list[Any]) -> Any:
    """The result of the function. Its StopIteration ends the iterator that calls it, like in C."""
    try:
        return machine.call(function, args)
    except ProgramRaised as raised:
        if isinstance(raised.error, StopIteration):
            raise StopIteration from None
        raise
