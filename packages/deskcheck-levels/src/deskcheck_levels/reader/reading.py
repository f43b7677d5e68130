"""A machine that follows the words of a reader: it has the memory, makes frames, and does what the reader
writes. It asks the processor for numbers and choices."""

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.machine.instructions import unbound
from deskcheck_levels.machine.machine import Machine, OnLine, read_arguments
from deskcheck_levels.machine.unfolding import refuse_literals
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.working import UnreadableWorking
from deskcheck_levels.reader.teacher import is_right, refuse
from deskcheck_levels.reader.text import (
    BELOW,
    COMPARISONS,
    DEPTHS,
    MOVES,
    NUMBER,
    OPERATORS,
    WAYS,
    WORDS,
    ReadFunction,
    SourceLine,
    functions,
    line_prompt,
    where_prompt,
)

Reader: TypeAlias = Callable[[tuple[int, ...], tuple[int, ...]], int]
"""(prompt, what was written so far) -> the next word."""
_MOST = 160
"""Words to a line."""
_DEEPEST = 400
"""Calls inside one another."""
_DEPTHS = {f"I{depth}": depth for depth in range(DEPTHS)}
_CHANGES = frozenset(f"{op}=" for op in OPERATORS)


class Activation:
    """A call of a function that is read."""

    def __init__(self, function: ReadFunction, names: dict[str, Any], number: int) -> None:
        self.function, self.names, self.number = function, names, number
        self.place, self.again = 1, False
        self.stack: list[Any] = []
        self.iterators: dict[int, Any] = {}
        self.outcome = "go"


Do: TypeAlias = Callable[[Activation, SourceLine, str, Callable[[], str]], bool | None]
"""(activation, line, order, what gives the next word) does the order: what a test found, None for others."""


def run_line(reader: Reader, activation: Activation, line: SourceLine, do: Do) -> bool:
    """Does what the reader writes about a line, order by order; whether the function returns."""
    again = activation.again and line.kind == "for"
    prompt = line_prompt(line, again)
    written: list[int] = []
    activation.outcome = "go"

    def next_word() -> str:
        word = reader(prompt, tuple(written))
        written.append(word)
        return WORDS[word]

    while len(written) < _MOST:
        word = next_word()
        if word in ("go", "return"):
            if len(activation.stack) != (word == "return"):
                raise UnreadableWorking("a line that leaves values over, or has none to return")
            return word == "return"
        try:
            answer = do(activation, line, word, next_word)
        except (IndexError, KeyError) as error:  # a slot, an operand or an iterator that is not there
            raise UnreadableWorking(f"{word}: {error}") from None
        except OutsideLanguage as error:
            # What the model misreads may be something that the machine does not have.
            if is_right(line.words, again, [WORDS[number] for number in written]):
                raise
            raise UnreadableWorking(f"{word}: {error}") from None
        if answer is not None:
            outcome = "T" if answer else "F"
            written.append(NUMBER[outcome])
            if line.kind in ("if", "elif", "while", "for"):
                activation.outcome = outcome
    raise UnreadableWorking("a line without end")


def name_in(line: SourceLine, word: str) -> str:
    """The name that a slot of a line stands for."""
    name = line.slots[int(word[1:])].name if word[:1] == "S" else None
    if name is None:
        raise UnreadableWorking(f"{word}: not a name")
    return name


class ReadingMachine(Machine):
    """Runs functions of a program by what `reader` writes; else as `Machine`."""

    def __init__(
        self,
        reader: Reader,
        arithmetic: Arithmetic,
        *,
        line: OnLine | None = None,
        steps: int | None = None,
    ) -> None:
        super().__init__(arithmetic, line=line, steps=steps)
        self.reader = reader
        self.prompts = 0
        """Prompts that were put; the reader may remember what it wrote to one."""
        self._functions: dict[str, ReadFunction] = {}

    def call_program(self, code: str, entry: str, arguments: str) -> Any:
        self._functions = functions(code)
        tree = ast.parse(code)
        refuse_literals(tree)
        if any(isinstance(node, ast.FunctionDef) and node not in tree.body for node in ast.walk(tree)):
            raise OutsideLanguage("a function inside of a function")
        for function in self._functions.values():
            for line in function.lines[1:]:
                if line.kind != "else":
                    refuse(line.words)
        try:
            args, keywords = read_arguments(arguments)
            refuse_literals(ast.parse(f"f{arguments}"))
        except (SyntaxError, ValueError) as error:
            raise OutsideLanguage(f"arguments that cannot be read ({type(error).__name__})") from None
        if entry not in self._functions or keywords:
            raise OutsideLanguage(f"{entry} is not a function, or has keyword arguments")
        deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(max(deepest, 20_000))
        try:
            return self.call(self._functions[entry], args)
        finally:
            sys.setrecursionlimit(deepest)

    def call(self, function: Any, args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
        if not isinstance(function, ReadFunction):
            return super().call(function, args, keywords)
        if len(args) != len(function.parameters):
            raise OutsideLanguage(f"arguments that do not fit {function.name}")
        if self.depth >= _DEEPEST:
            raise OutsideLanguage("too deep a recursion")
        names = dict(zip(function.parameters, args, strict=True))
        activation = Activation(function, names, self.frames)
        self.frames += 1
        self.depth += 1
        try:
            while True:
                line = function.lines[activation.place]
                self._at(activation, line)
                if self._run_line(activation, line):
                    return activation.stack.pop()
                if self._go_on(activation):
                    return None
        finally:
            self.depth -= 1

    def _at(self, activation: Activation, line: SourceLine) -> None:
        self.at_line(activation.number, line.number, activation.names)

    def _run_line(self, activation: Activation, line: SourceLine) -> bool:
        """Do what the reader writes about a line; whether the function returns."""
        self.prompts += 1
        return run_line(self.reader, activation, line, self._do)

    def _go_on(self, activation: Activation) -> bool:
        """Go where the reader says, line by line; whether the function has ended."""
        lines, index = activation.function.lines, activation.place
        looking, depth = activation.outcome, lines[index].depth
        for _ in range(2 * DEPTHS * (len(lines) + 1)):
            if not 0 <= index <= len(lines):
                raise UnreadableWorking("a jump out of the function")
            line_seen = (lines[index].depth, lines[index].kind) if index < len(lines) else BELOW
            prompt = where_prompt(looking, depth, line_seen)
            self.prompts += 1
            word = self.reader(prompt, ())
            move = WORDS[word]
            if move == "end":
                return True
            if move == "here":
                if not 0 < index < len(lines):
                    raise UnreadableWorking("no line to continue at")
                activation.again = index <= activation.place
                activation.place = index
                return False
            looking_word = self.reader(prompt, (word,))
            depth_word = WORDS[self.reader(prompt, (word, looking_word))]
            looking = WORDS[looking_word]
            if move not in MOVES or looking not in WAYS or depth_word not in _DEPTHS:
                raise UnreadableWorking(f"{move} {looking} {depth_word}: no way to continue")
            depth = _DEPTHS[depth_word]
            index += 1 if move == "down" else -1
        raise UnreadableWorking("an endless way")

    def _do(
        self, activation: Activation, line: SourceLine, word: str, more: Callable[[], str]
    ) -> bool | None:
        """One order; what a test found, None for others."""
        stack = activation.stack
        if word[:1] == "S" and word[1:].isdigit():
            stack.append(self._content(activation, line, word))
        elif word in OPERATORS or word in _CHANGES:
            b, a = stack.pop(), stack.pop()
            stack.append(self.binary(word.removesuffix("="), a, b, inplace=word in _CHANGES))
        elif word in COMPARISONS:
            b, a = stack.pop(), stack.pop()
            stack.append(self.compare(word, a, b))
        elif word == "test":
            return self.arithmetic.choice("if", self.truth(stack.pop()))
        elif word == "keep":
            return self.arithmetic.choice("if", self.truth(stack[-1]))
        elif word == "next":
            return self._next_value(activation)
        elif word == "store":
            activation.names[name_in(line, more())] = stack.pop()
        elif word in _SHUFFLES:
            _SHUFFLES[word](stack)
        elif word in _COUNTED:
            self._counted(stack, word, more())
        elif word == ".":
            name = name_in(line, more())
            stack.append(self.attribute(stack.pop(), name))
        elif word == "iter":
            activation.iterators[activation.place] = self.iterated(stack.pop())
        else:
            self._in_place(stack, word)
        return None

    def _in_place(self, stack: list[Any], word: str) -> None:
        """Does orders that only use the stack."""
        if word == "item":
            key = stack.pop()
            stack.append(self.item(stack.pop(), key))
        elif word in ("setitem", "put"):
            a, b, c = stack.pop(), stack.pop(), stack.pop()
            key, owner, value = (a, b, c) if word == "setitem" else (b, c, a)
            self.store_item(owner, key, value)
        elif word == "neg":
            stack.append(self.negated(stack.pop()))
        elif word == "not":
            stack.append(self.arithmetic.choice("not", self.truth(stack.pop())))
        elif word == "invert":
            stack.append(self.inverted(stack.pop()))
        elif word == "pos":
            stack.append(self.positive(stack.pop()))
        elif word in ("is", "is not"):
            b, a = stack.pop(), stack.pop()
            stack.append((a is b) == (word == "is"))
        elif word in ("in", "not in"):
            b, a = stack.pop(), stack.pop()
            inside = self.contains(a, b)
            stack.append(inside if word == "in" else self.arithmetic.choice("not", inside))
        else:
            raise UnreadableWorking(f"{word}: not an order")

    def _counted(self, stack: list[Any], word: str, count: str) -> None:
        if count[:1] != "#":
            raise UnreadableWorking(f"{word} {count}: not a count")
        number = int(count[1:]) * (2 if word == "dict" else 1)
        if word == "unpack":
            stack.extend(reversed(self.unpacked(stack.pop(), number)))
            return
        if number > len(stack):
            raise UnreadableWorking(f"{word} {count}: too few values")
        items = stack[len(stack) - number :]
        del stack[len(stack) - number :]
        if word == "list":
            stack.append(items)
        elif word == "tuple":
            stack.append(tuple(items))
        elif word == "set":
            stack.append(self.in_memory(lambda: set(items)))
        elif word == "dict":
            stack.append(self.in_memory(lambda: dict(zip(items[::2], items[1::2], strict=True))))
        else:
            stack.append(self.call(stack.pop(), items))

    def _next_value(self, activation: Activation) -> bool:
        iterator = activation.iterators[activation.place]
        try:
            activation.stack.append(self.in_memory(lambda: next(iterator)))
        except StopIteration:
            del activation.iterators[activation.place]
            return False
        return True

    def _content(self, activation: Activation, line: SourceLine, word: str) -> Any:
        slot = line.slots[int(word[1:])]
        if slot.name is None:
            return slot.value
        if slot.name in activation.names:
            return activation.names[slot.name]
        if slot.name in activation.function.variables:
            raise unbound(slot.name)
        if slot.name in self._functions:
            return self._functions[slot.name]
        return self.named(slot.name, {})


def _over(stack: list[Any]) -> None:
    stack.insert(-2, stack[-1])


def _both(stack: list[Any]) -> None:
    stack.extend(stack[-2:])


def _slice(stack: list[Any]) -> None:
    stack[-3:] = [slice(*stack[-3:])]


_SHUFFLES: dict[str, Callable[[list[Any]], None]] = {
    "drop": lambda stack: stack.__delitem__(-1),
    "pop": lambda stack: stack.__delitem__(-1),
    "nip": lambda stack: stack.__delitem__(-2),
    "copy": lambda stack: stack.append(stack[-1]),
    "none": lambda stack: stack.append(None),
    "over": _over,
    "both": _both,
    "slice": _slice,
}
_COUNTED = ("list", "tuple", "set", "dict", "call", "unpack")
