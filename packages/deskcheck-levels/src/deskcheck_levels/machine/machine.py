"""A machine that runs the bytecode of this Python without computing: it asks an `Arithmetic`, that is, a
model, for every operation on numbers and for every choice.

The machine compiles, fetches instructions and operands, stores variables, the stack and memory (items,
slices, keys, concatenation, lengths), makes frames, finds handlers of exceptions, and follows the model's T
or F. Instead of Python's functions in C, it runs functions of `prelude`.

The declared language: functions with loops, branches, calls, recursion, closures, comprehensions, generators,
exceptions; whole numbers of any length, halves and the like where they are exact (`halves`), booleans, None,
ASCII text, lists, tuples, dictionaries, sets, ranges.
It excludes other numbers with a point, classes, imports, `with`, `match` of sequences, `yield` inside of
`try`, comprehensions of several lines, and input and output except `print`.
"""

import ast
import builtins
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from deskcheck.errors import InputError
from deskcheck_levels.machine.builtins import BUILTINS, Builtins
from deskcheck_levels.machine.frames import (
    ASYNC,
    FIRST,
    GENERATOR,
    STAR,
    STAR_STAR,
    VERSION,
    Bound,
    Builtin,
    Frame,
    Function,
    OutsideLanguage,
    ProgramRaised,
    StepsSpent,
)
from deskcheck_levels.machine.instructions import INSTRUCTIONS
from deskcheck_levels.machine.iterators import DEEPEST, Generator
from deskcheck_levels.machine.unfolding import refuse_literals, unfolded
from deskcheck_levels.paper.arithmetic import Arithmetic

OnLine = Callable[[int, int, Mapping[str, Any]], None]
"""Called before a line runs: (number of the frame, line, variables)."""


MOST_ROUNDS = 1_000_000
"""Of loops between two line events."""


class Machine(Builtins):
    """Runs programs by what `arithmetic` says.

    line: receives every line event. steps: the most line events.
    """

    def __init__(
        self, arithmetic: Arithmetic, *, line: OnLine | None = None, steps: int | None = None
    ) -> None:
        if VERSION > (3, 15):
            version = ".".join(map(str, VERSION))
            raise InputError(f"a level runs bytecode of CPython 3.11 to 3.15; this is {version}")
        self.arithmetic = arithmetic
        self.line = line
        self.steps = steps
        self.line_events = 0
        """Line events so far."""
        self.rounds = 0
        """Of loops, since the last line event."""
        self.output: list[str] = []
        self.frames = 0
        self.depth = 0
        self.loading = False
        """Whether the text that defines the functions is running; calls in it are not steps."""
        self.handling: list[BaseException] = []
        self.active: list[Frame] = []
        """The frames that run, the innermost last."""

    def call_program(self, code: str, entry: str, arguments: str) -> Any:
        """What `entry` of a program returns for arguments, a text such as ``(3, 'a')``.

        Raises:
            ProgramRaised: the program raised.
            OutsideLanguage: it is not of the declared language.
            StepsSpent, UnreadableWorking: it came to no end.
        """
        names: dict[str, Any] = {"__name__": "__main__"}
        try:
            with warnings.catch_warnings(action="ignore"):  # of the program's text; it is not ours
                module = compile(unfolded(code, names), "<program>", "exec", dont_inherit=True)
                call = ast.parse(f"__result__ = {entry}{arguments}")
                refuse_literals(call)
                called = compile(call, "<call>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise OutsideLanguage(f"a text or arguments that cannot be read: {error}") from None
        deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(max(deepest, 20_000))
        try:
            for text, self.loading in ((module, True), (called, False)):
                self.run(Frame(Function(text, names, quiet=True), names, -1, quiet=True))
            return names["__result__"]
        except RecursionError:
            raise OutsideLanguage("too deep a recursion") from None
        finally:
            sys.setrecursionlimit(deepest)

    # ---- calls ----

    def call(self, function: Any, args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
        """The result of a callable of the program, of the prelude or a builtin."""
        if isinstance(function, Function):
            frame = self._frame(function, args, keywords or {})
            if function.code.co_flags & GENERATOR:
                self.run(frame)  # to RETURN_GENERATOR
                return Generator(self, frame)
            if function.code.co_flags & ASYNC:
                raise OutsideLanguage("an async function")
            if self.depth >= DEEPEST:
                raise OutsideLanguage("too deep a recursion")
            self.depth += 1
            try:
                return self.run(frame)
            finally:
                self.depth -= 1
        if isinstance(function, Builtin):
            return self.builtin(function.name, args, keywords or {})
        if isinstance(function, Bound):
            return self.method(function.owner, function.name, args, keywords or {})
        if isinstance(function, type) and issubclass(function, BaseException):
            return self.in_memory(lambda: function(*args, **(keywords or {})))
        if callable(function):
            raise OutsideLanguage(f"a call of {function!r}")
        return self.in_memory(lambda: function(*args))

    def _frame(self, function: Function, args: list[Any], keywords: dict[str, Any]) -> Frame:
        code = function.code
        count, only = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames
        values: dict[str, Any] = dict(zip(names[:count], args, strict=False))
        if len(args) > count and not code.co_flags & STAR:
            self._misfit(function, args, keywords)
        index = count + only
        if code.co_flags & STAR:
            values[names[index]] = tuple(args[count:])
            index += 1
        more = {}
        for name, value in keywords.items():
            if name in names[code.co_posonlyargcount : count + only] and name not in values:
                values[name] = value
            elif code.co_flags & STAR_STAR and name not in values:
                more[name] = value
            else:
                self._misfit(function, args, keywords)
        if code.co_flags & STAR_STAR:
            values[names[index]] = more
        first = count - len(function.defaults)
        for number, name in enumerate(names[: count + only]):
            if name not in values:
                if first <= number < count:
                    values[name] = function.defaults[number - first]
                elif name in function.keywords:
                    values[name] = function.keywords[name]
                else:
                    self._misfit(function, args, keywords)
        ordered = {name: values[name] for name in names if name in values}
        if function.inlined and not self.active[-1].quiet:
            frame = Frame(function, ordered, self.active[-1].number, quiet=False)
            frame.around = self.active[-1]
            frame.around.after_comprehension = True
        elif function.quiet or function.inlined:
            frame = Frame(function, ordered, -1, quiet=True)
        else:
            frame = Frame(function, ordered, self.frames, quiet=False)
            self.frames += 1
        for name, cell in zip(code.co_freevars, function.cells, strict=True):
            frame.cells[name] = cell
        return frame

    def _misfit(self, function: Function, args: list[Any], keywords: dict[str, Any]) -> None:
        raise OutsideLanguage(f"arguments that do not fit {function.code.co_name}")

    # ---- running ----

    def run(self, frame: Frame) -> Any:
        """Run a frame until it returns, yields, or is made a generator (then it has not `ended`)."""
        self.active.append(frame)
        try:
            return self._run(frame)
        finally:
            self.active.pop()

    def _run(self, frame: Frame) -> Any:
        read = frame.body
        operations, instructions = read.operations, read.instructions
        while True:
            place = frame.place
            name = operations[place]
            if frame.entered and not frame.quiet and read.fires(place, frame.previous):
                self._fire(frame, place)
            frame.previous = place
            if not frame.entered and name == "RESUME" and not instructions[place].arg:
                # (From 3.15 on, what a generator expression does before it is a generator has a RESUME 4.)
                # The first line of a function is an event, of a comprehension only where it is another line.
                frame.entered, frame.previous = True, FIRST if frame.around is None else place
            frame.place = place + 1
            if name == "RETURN_VALUE":
                frame.ended = True
                return frame.stack.pop()
            if name == "RETURN_CONST":
                frame.ended = True
                return instructions[place].argval
            if name == "RETURN_GENERATOR":
                frame.stack.append(None)  # what follows pops it
                return None
            if name == "YIELD_VALUE":
                if read.watched[place]:
                    raise OutsideLanguage("a yield inside try")
                return frame.stack.pop()
            act = INSTRUCTIONS.get(name)
            if act is None:
                raise OutsideLanguage(f"the instruction {name}")
            try:
                act(self, frame, instructions[place])
            except ProgramRaised as raised:
                handler = read.caught[place]
                if handler is None:
                    frame.ended = True
                    raise
                target, depth, pushes = handler
                del frame.stack[depth:]
                if pushes:
                    frame.stack.append(place)
                frame.stack.append(raised.error)
                frame.place = target

    def _fire(self, frame: Frame, place: int) -> None:
        """A line event, unless it is the first one behind a comprehension and tells its line again."""
        line = frame.body.lines[place] or 0
        if frame.after_comprehension and frame.around is None:
            jumped = frame.body.operations[place] in ("FOR_ITER", "JUMP_BACKWARD")
            frame.after_comprehension = jumped
            last_line, last_place = frame.last_event
            if VERSION >= (3, 12):
                last_place = frame.previous
            if line == last_line and not jumped and place >= last_place:
                return
        self.at_line(frame.number, line, frame.locals() if self.line else {})
        frame.last_event = line, place
        if frame.around is not None:
            frame.around.last_event = line, -1

    def at_line(self, frame: int, line: int, names: Mapping[str, Any]) -> None:
        """A step: a line is about to run. Raises StepsSpent beyond the most that are allowed."""
        if self.loading:
            return
        if self.steps is not None and self.line_events >= self.steps:
            raise StepsSpent
        self.line_events += 1
        self.rounds = 0
        if self.line is not None:
            self.line(frame, line, names)

    def count_round(self) -> None:
        """Counts a round of a loop. Raises StepsSpent if a loop of the prelude does not end.

        Loops of the prelude have no steps, and a model that computes wrongly may never leave them.
        """
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            raise StepsSpent

    def named(self, name: str, names: Mapping[str, Any]) -> Any:
        """A global variable or a builtin."""
        if name in names:
            return names[name]
        if name in BUILTINS:
            return BUILTINS[name]
        if hasattr(builtins, name):
            raise OutsideLanguage(f"the builtin {name}")
        raise ProgramRaised(NameError(f"name {name!r} is not defined"))


def read_arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of a call, such as ``(3, key='a')``. Raises ValueError and SyntaxError for no literals."""
    called = ast.parse(f"f{text}", mode="eval").body
    if not isinstance(called, ast.Call):
        raise ValueError(f"no arguments: {text}")
    named = {node.arg: ast.literal_eval(node.value) for node in called.keywords if node.arg is not None}
    return [ast.literal_eval(node) for node in called.args], named
