"""A step as a lesson: what is asked, and the answer with its working, from the rules of the levels below.

The operations of a line are those of `reader.teacher`, in the order of `reader.reading.run_line`; the way to
the next line is the reader's; what an operation writes is the paper's. So nothing here says what Python
means. `step` also gives the next state.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from deskcheck_levels.alone.text import (
    AloneProgram,
    AloneState,
    Left,
    edit_words,
    left_words,
)
from deskcheck_levels.alone.words import BUILTINS, NUMBER, Words, value_words
from deskcheck_levels.alone.working import Working, absolute
from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.reader.reading import Activation, name_in, run_line
from deskcheck_levels.reader.teacher import Teacher, way, way_from
from deskcheck_levels.reader.text import COMPARISONS, OPERATORS, SourceLine

_CHANGES = frozenset(f"{op}=" for op in OPERATORS)


class _Function:
    """A builtin on the stack: nothing but its name."""

    def __init__(self, name: str) -> None:
        self.name = name


class Writer:
    """Does the operations of one line, and writes them down."""

    def __init__(self) -> None:
        self.working = Working()
        self.program: AloneProgram
        self.range_left: Left | None = None
        self.stored: list[str] = []
        self._next_word = lru_cache(200_000)(Teacher().__call__)

    def step(self, program: AloneProgram, state: AloneState) -> tuple[Words, AloneState]:
        """The answer to a state, and the state after it. Raises OutsideLanguage."""
        self.program, self.range_left, self.stored = program, state.range_left, []
        self.working.words = []
        function = program.function
        activation = Activation(function, dict(state.names), 0)
        activation.place, activation.again = program.line(state.line), state.range_left is not None
        line = function.lines[activation.place]
        words = self.working.words
        words += [*program.line_words(line)[:-1], ";"]
        if state.event == "call":
            activation.outcome, activation.place, ended = "T", 0, False
        else:
            ended = run_line(self._next_word, activation, line, self._do)
        after = None if ended else self._walked(activation, words)
        if after is None:
            value = activation.stack.pop() if ended else None
            next_state = AloneState("return", state.line, activation.names, self.range_left, value)
        else:
            next_state = AloneState("line", after, activation.names, self.range_left)
        words += edit_words(program, state, next_state, self.stored)
        if any(word not in NUMBER for word in words):
            raise OutsideLanguage("an expression with too many values at a time")
        return words, next_state

    def _walked(self, activation: Activation, words: Words) -> int | None:
        """The number of the next line; None at the end of the function."""
        lines = self.program.function.lines
        words.append(f"out {activation.outcome}")
        number = lines[activation.place].number
        move = ""
        for question in way_from(activation.function.outline, activation.place, activation.outcome):
            if move:
                number += -1 if move == "up" else 1
                index = next((at for at, line in enumerate(lines) if line.number == number), None)
                if index is None and number != lines[-1].number + 1:
                    raise OutsideLanguage("an empty line between others")
                head = ["I0", "end"] if index is None else self.program.line_words(lines[index])[1:3]
                words += [f"L{number}", *head]
            move, *target = way(*question)
            words += [f"{move}:{target[0]}", target[1]] if target else [move]
            if question[0] == "out" and question[2][1] == "for" and move == "down":
                self.range_left = None  # the loop that is left takes its iterator with it
        return None if move == "end" else number

    # ---- operations ----

    def _do(
        self, activation: Activation, line: SourceLine, word: str, more: Callable[[], str]
    ) -> bool | None:
        stack, working = activation.stack, self.working
        words, last = working.words, len(stack) - 1
        top = f"V{last}"
        if word[:1] == "S" and word[1:].isdigit():
            self._push(activation, line, word)
        elif word == "none":
            words.append("none")
            stack.append(working.result(f"V{last + 1}", None))
        elif word in OPERATORS or word in _CHANGES or word in COMPARISONS:
            op = word if word in COMPARISONS else word.removesuffix("=")
            b, a = stack.pop(), stack.pop()
            stack.append(working.binary(op, a, b, (f"V{last - 1}", top)))
        elif word in ("neg", "not", "invert"):
            stack.append(working.unary("~" if word == "invert" else word, stack.pop(), top))
        elif word in ("test", "keep"):
            value = bool(stack[-1])
            words += [word, "T" if value else "F"]
            if word == "test":
                stack.pop()
            return value
        elif word == "next":
            return self._next_of_range(activation)
        elif word == "store":
            target = more()
            name = name_in(line, target)
            words += ["store", target, top, self.program.names[name], *value_words(stack[-1])]
            self.stored.append(name)
            activation.names[name] = stack.pop()
        elif word in ("call", "tuple", "unpack"):
            self._of_many(stack, word, more())
        elif word == "iter":
            value = stack.pop()
            if not isinstance(value, range):
                raise OutsideLanguage("a loop over something other than a range")
            if value and value[-1] + value.step != value.stop:  # Python has another stop in its iterator
                raise OutsideLanguage("a range that ends between two steps")
            words.append("iter")
            self.range_left = (value.start, value.stop, value.step)
        else:
            self._shuffled(stack, word)
        return None

    def _push(self, activation: Activation, line: SourceLine, word: str) -> None:
        stack, words = activation.stack, self.working.words
        slot = line.slots[int(word[1:])]
        at = f"V{len(stack)}"
        words.append(word)
        if slot.name in BUILTINS and slot.name not in activation.names:
            words += [at, slot.name]
            stack.append(_Function(slot.name))
            return
        if slot.name is not None:
            if slot.name not in activation.names:
                raise OutsideLanguage(f"the name {slot.name}")
            words.append(self.program.names[slot.name])
        value = slot.value if slot.name is None else activation.names[slot.name]
        stack.append(self.working.result(at, value))

    def _next_of_range(self, activation: Activation) -> bool:
        """Whether the loop continues: then its next item is on the stack, and the range is one shorter."""
        if self.range_left is None:
            raise OutsideLanguage("a loop that has not started")
        working = self.working
        start, stop, step = self.range_left
        more = working.paper("<" if step > 0 else ">", start, stop, ("Rs", "Re"))
        working.words += ["next", "T" if more else "F"]
        if not more:
            self.range_left = None
            return False
        working.words.append("Rs")
        activation.stack.append(working.result(f"V{len(activation.stack)}", start))
        after = int(working.paper("+", start, step, ("Rs", "#1" if step == 1 else "Rp")))
        self.range_left = (after, stop, step)
        working.words += left_words(self.range_left)
        return True

    def _of_many(self, stack: list[Any], word: str, count: str) -> None:
        working, number = self.working, int(count[1:])
        if word == "tuple":
            items = [stack.pop() for _ in range(number)][::-1]
            working.words += ["tuple", count]
            stack.append(tuple(items))
            return
        if word == "unpack":
            items = stack.pop()
            if not isinstance(items, tuple) or len(items) != number:
                raise OutsideLanguage("unpacking of something other than a tuple of the same length")
            working.words += ["unpack", count]
            first, spare = len(stack), f"V{len(stack) + number}"
            for low in range(number // 2):
                high = number - 1 - low
                working.moved(f"V{first + high}", spare, items[high])
                working.moved(f"V{first + low}", f"V{first + high}", items[low])
                working.moved(spare, f"V{first + low}", items[high])
            stack.extend(reversed(items))
            return
        arguments = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        function = stack.pop()
        working.words += ["call", count]
        if not isinstance(function, _Function):
            raise OutsideLanguage("a call of something other than a builtin")
        if not all(isinstance(argument, int) for argument in arguments):
            raise OutsideLanguage("a builtin with arguments other than whole numbers")
        stack.append(self._called(function.name, list(arguments), len(stack)))

    def _called(self, name: str, arguments: list[int], base: int) -> Any:
        """base: place of the function on the stack; its arguments are behind it."""
        working, at, count = self.working, f"V{base}", len(arguments)
        first = f"V{base + 1}"
        if name == "range" and 1 <= count <= 3:
            start, stop, step = (0, arguments[0], 1) if count == 1 else (*arguments, 1)[:3]
            if not step:
                raise OutsideLanguage("a range with step zero")
            start_words = ["Rs", "0"] if count == 1 else [first, "Rs", *value_words(int(start))]
            working.words += [*start_words, f"V{base + min(count, 2)}", "Re", *value_words(int(stop))]
            if count == 3 and step != 1:
                working.words += [f"V{base + 3}", "Rp", *value_words(int(step))]
            return range(start, stop, step)
        if (
            name in ("min", "max")
            and count > 1
            and not any(isinstance(argument, bool) for argument in arguments)
        ):
            return working.least(name, arguments, base + 1, at)
        if name == "divmod" and count == 2:
            return working.divmod(arguments[0], arguments[1], base + 1, at)
        if name in ("abs", "int", "round") and count == 1:
            words = absolute(arguments[0]) if name == "abs" else value_words(int(arguments[0]))
            working.words += [first, at, *words]
            return abs(int(arguments[0])) if name == "abs" else int(arguments[0])
        raise OutsideLanguage(f"{name} of {count} values, or of truth values")

    def _shuffled(self, stack: list[Any], word: str) -> None:
        working, last = self.working, len(stack) - 1
        working.words.append(word)
        if word == "drop":
            stack.pop()
        elif word == "copy":
            working.moved(f"V{last}", f"V{last + 1}", stack[-1])
            stack.append(stack[-1])
        elif word == "nip":
            working.moved(f"V{last}", f"V{last - 1}", stack[-1])
            del stack[-2]
        elif word == "over":
            a, b = stack[-2:]
            working.moved(f"V{last}", f"V{last + 1}", b)
            working.moved(f"V{last - 1}", f"V{last}", a)
            working.moved(f"V{last + 1}", f"V{last - 1}", b)
            stack.insert(-2, b)
        else:
            raise OutsideLanguage(f"the order {word}")
