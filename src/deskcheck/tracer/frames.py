"""Reads the fast locals and the value stack of a frame from memory.

`frame.f_locals` is not used for functions. Up to 3.12 reading it would refresh a dict that the program may
have from an earlier call of `locals()`, and so change the program (PEP 667). It also lacks the value stack
with the iterators of running `for` loops, without which the next line does not follow from the state.

The layout of `_PyInterpreterFrame` is internal and differs between versions: `LAYOUT` has the differences.
This module supports only CPython 3.11 to 3.15 on 64-bit machines.
"""

import builtins
import ctypes
import mmap
import opcode
import sys
from _thread import get_ident as _thread_ident
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import (
    AsyncGeneratorType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

from deskcheck.tracer.contents import memory
from deskcheck.tracer.contents.memory import WORD, copy, objects_at, pointer_at, pointer_to
from deskcheck.tracer.instructions import instruction_text

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_FRAME_OF_OBJECT = 3 * WORD
"""Offset of `f_frame` in PyFrameObject: after the object header and `f_back`."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Words in `_PyInterpreterFrame` (Include/internal/pycore_frame.h, pycore_interpframe_structs.h).

    stacktop: the number of filled slots, or -1 while the interpreter has it in a register. With `tagged`, a
    pointer to the first free slot, which is valid whenever other code runs.
    tagged: whether a slot is a `_PyStackRef` (pycore_stackref.h), whose two lowest bits are a tag.
    """

    function: int
    namespace: int
    stacktop: int = 8
    localsplus: int = 9
    tagged: bool = False


LAYOUTS = {
    (3, 11): _Layout(function=0, namespace=3),
    (3, 12): _Layout(function=2, namespace=5),
    (3, 13): _Layout(function=2, namespace=5),
    (3, 14): _Layout(function=2, namespace=5, localsplus=10, tagged=True),
    (3, 15): _Layout(function=2, namespace=5, localsplus=10, tagged=True),
}


LAYOUT = LAYOUTS[sys.version_info[:2]] if memory.KNOWN else None
"""The layout of this version; None if it is not known. Then `f_locals` is used, and value stacks are left
out."""
_TAGGED = LAYOUT is not None and LAYOUT.tagged
_TAGS = 3 if _TAGGED else 0
_REFERENCES = (1 << 32) - 1 if _TAGGED else -1
"""Bits of an object's first word with the reference count. From 3.14 on, flags are above it."""

_TOP = (1 << 64) - 1 if _TAGGED else (1 << 32) - 1
"""The bits of the word at `stacktop` with the number of filled slots."""

CO_OPTIMIZED = 0x1
SAVED = "saved"
"""Tag of a stack slot that holds what an inlined comprehension or a handler will put back."""
LASTI = "lasti"
"""Tag of a stack slot that holds an instruction's offset, for a handler that raises again."""
COMPREHENSION = "comprehension"
"""Tag of a stack slot that holds the function that 3.11 makes of a comprehension."""
VALUE = "value"
METHOD = "method"
"""Tag of the slot of `super().name` before its call, which uses also the slot above. One of the two has a
bound method and the other is empty (`NULL_ABOVE`). After specialisation, this slot has the function, and the
slot above has the object that it will be bound to. It is always shown as a bound method."""
KEEPS_YIELDED = sys.version_info >= (3, 14)
"""Whether the yielded value is still on the stack at the event of the yield."""
NULL_ABOVE = sys.version_info >= (3, 13)
"""Whether the empty slot of a callable is above it; in earlier versions it is below."""
EMPTY: Any = object()
"""Marks an empty slot where all slots are shown."""

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_ADDS_TO = frozenset(
    {"LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE"}
)
_PUSHES_NOTHING = ("STORE_", "DELETE_", "POP_", "RAISE_", "RERAISE", "PRINT_EXPR", "IMPORT_STAR", "RETURN_")
_KEEPS = frozenset({"JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"})  # 3.12 tests a copy instead
_TAKES_ONE = frozenset(
    "BEFORE_WITH BEFORE_ASYNC_WITH LOAD_SPECIAL UNPACK_SEQUENCE UNPACK_EX LOAD_METHOD LOAD_ATTR".split()
)
"""Instructions that replace the top of the stack by any number of values."""
_JUMPS = frozenset(opcode.hasjrel)
_HAVE_ARGUMENT = frozenset(
    getattr(opcode, "hasarg", [op for op in opcode.opmap.values() if op >= opcode.HAVE_ARGUMENT])
)
IMPLICIT_NAMES = frozenset(
    "__module__ __qualname__ __firstlineno__ __static_attributes__ __classcell__ __classdictcell__"
    " __classdict__ __class__ __annotate_func__ __conditional_annotations__".split()
)
"""Names that the compiler puts into the namespace of a class body."""


# What memory may be touched, and how:
#
# 1. A pointer and the reference to its object are taken in one step. Between two steps of ours another
#    thread, a signal handler or a destructor that the garbage collector calls may run, and free the object.
# 2. The place of a frame's data is read each time: it moves when a generator ends, which another thread
#    may run on meanwhile.
# 3. A stack slot owns its object only up to the depth that the interpreter has reached: `stacktop` where
#    that is not -1, else what the instruction that is about to run finds. Within an instruction, only what
#    lies below its operands is sure to be there, without the iterator that FOR_ITER and SEND let go of at
#    the end; while an exception empties the stack, only what its handler finds.
# 4. The operands of a call into C are let go of one after another when it has ended, which may run code
#    (`__del__` by any name, callbacks of weak references, generators that close), while the slots still hold
#    the pointers of those that are gone. Such a pointer (that iterator's too) is not followed before it is
#    known that there is memory (`_mapped`), in it a plausible count of references, and an object of a type
#    that is looked for, or at least of one that is a type. If an operand is gone, so may be the others:
#    none is looked at.
#    From 3.14 on such a slot is empty before its object is let go of, and `stacktop` always holds.
# 5. An object with a count of 0 is being freed: a reference to it would free it twice.
# 6. A generator among such operands that runs and has one reference may be closing because it is being
#    freed: its weak references were cleared before that, and one made now would outlive it.

_FrameData = ctypes.POINTER(ctypes.POINTER(ctypes.c_size_t))
_Residency = ctypes.c_char * 2


_word = (ctypes.c_size_t * 1)()
_object_of_word = objects_at(ctypes.addressof(_word))
"""The object that `_word` points to. A pointer is stored in `_word` without its tag, and the next line takes
a reference to its object. No call is between these lines, so that no other thread can run."""

_RUNNING = {
    id(GeneratorType): "gi_running",
    id(CoroutineType): "cr_running",
    id(AsyncGeneratorType): "ag_running",
}
_PAGE = mmap.PAGESIZE
_mincore = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)(
    ("mincore", ctypes.pythonapi)
)


def _mapped(address: int) -> bool:
    """Whether there is memory at the 16 bytes from an address on."""
    first = address & -_PAGE
    return bool(_mincore(first, address + 2 * WORD - first, ctypes.byref(_Residency())) == 0)


def type_at(address: int) -> int:
    """Address of the type of the object that a pointer, which may be stale, points to; 0 if it is gone."""
    if not _mapped(address) or not 0 < pointer_at(address) & _REFERENCES < 1 << 32:
        return 0  # in freed memory lies a pointer or a pattern
    return pointer_at(address + WORD)


def _bound(function: Any, owner: Any) -> Any:
    """A function bound like `super` does it, without running code of the program."""
    if type(function) in (FunctionType, MethodDescriptorType, WrapperDescriptorType):
        return type(function).__get__(function, owner, type(owner))
    return MethodType(function, owner)


def _holds_object(address: int) -> bool:
    """Whether a pointer, which may be stale, points to an object whose type is a type."""
    kind = type_at(address)
    if not kind:
        return False
    metaclass = type_at(kind)
    return metaclass == id(type) or metaclass in _metaclasses(type)


def _metaclasses(kind: type) -> set[int]:
    """Addresses of all direct and indirect subclasses of a metaclass."""
    subclasses: list[type] = type.__subclasses__(kind)
    return {id(subclass) for subclass in subclasses}.union(
        *[_metaclasses(subclass) for subclass in subclasses]
    )


class _Instruction(NamedTuple):
    offset: int
    name: str
    arg: int
    target: int | None


class _Handler(NamedTuple):
    """An entry of the exception table: offsets in bytes, `end` excluded."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW"})
_INLINES = frozenset({"CALL", "LOAD_ATTR", "BINARY_SUBSCR"})
"""Instructions with an inline cache that run Python functions in the same interpreter loop."""


def raises_handled(name: str, arg: int) -> bool:
    """Whether an instruction raises the exception that is being handled: trace functions do not see that."""
    return name == "RERAISE" or (name == "RAISE_VARARGS" and arg == 0)


class CodeFacts:
    """Facts about a code object that do not need running it, by the offset of instructions.

    before: tags of the stack slots when an instruction starts.
    folded: instructions with their EXTENDED_ARG folded in.
    handled: entries of the exception table that cover a code unit.
    """

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.instructions = list(_instructions(code))
        self.folded = _folded(self.instructions)
        self._texts: dict[int, str] = {}
        self.opname = {i.offset: i.name for i in self.instructions}
        self.arg = {i.offset: i.arg for i in self.instructions}
        self.owner = _owners(self.instructions, len(code.co_code))
        self.positions = list(code.co_positions())
        generator_start = next((i.offset for i in self.instructions if i.name == "RETURN_GENERATOR"), 0)
        resumes = [i.offset for i in self.instructions if i.name == "RESUME" and i.offset >= generator_start]
        self.first_resume = min(resumes, default=0)
        self.first_line = self._first_line()
        self.names = (
            *code.co_varnames,
            *(name for name in code.co_cellvars if name not in code.co_varnames),
            *code.co_freevars,
        )
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        self.parameters = code.co_varnames[:count]
        self.is_comprehension = code.co_name in COMPREHENSIONS
        # From 3.15 on a generator expression is given an iterable, and has its iterator before it begins.
        self.is_given_iterator = ".0" in self.parameters and sys.version_info < (3, 15)
        entries = list(_exception_entries(code))
        self.handled: dict[int, list[_Handler]] = {}
        for entry in entries:
            for offset in range(entry.start, entry.end, 2):
                self.handled.setdefault(offset, []).append(entry)
        self.before = _stack_tags(code, self.instructions, self.handled) if LAYOUT is not None else {}
        self.raises_again = self._raises_again({entry.target for entry in entries})
        self.handlers = entries
        self.comprehensions = self._inlined(entries)
        handler_ends = {target: self._handler_end(target) for *_, target in self.comprehensions}
        self._comprehension_of: dict[int, tuple[int, int, int, int] | None] = {}
        previous = None
        for instruction in self.instructions if self.comprehensions else ():
            comprehension = self._find_comprehension(instruction.offset, handler_ends)
            if comprehension is None and "JUMP" in instruction.name and instruction.name != "JUMP_FORWARD":
                comprehension = previous  # 3.13 leaves what cannot raise out of the exception table
            self._comprehension_of[instruction.offset] = previous = comprehension
        self.guarded = self._guarded(entries)
        self.reported_again = self._reported_again()
        self.missed_lines = self._missed_lines()
        self.unwritten = self._unwritten()
        self.needs_opcodes = bool(self.comprehensions or self.missed_lines)

    def _reported_again(self) -> frozenset[int]:
        """Offsets at which 3.12 reports the running line again, as in ``x = a or f()``.

        It looks for the line of the last instruction in the inline cache of a call, which has no line. Some
        lines are reported twice only from their second run on.
        """
        if sys.version_info[:2] != (3, 12):
            return frozenset()
        offsets = set()
        for before, after in pairwise(self.instructions):
            lines = {self.positions[instruction.offset // 2][0] for instruction in (before, after)}
            if before.name in _INLINES and len(lines) == 1 and None not in lines:
                offsets.add(after.offset)
        return frozenset(offsets)

    def _missed_lines(self) -> frozenset[int]:
        """Offsets at which a line begins and the interpreter from 3.14 on does not report it.

        This happens after a finished `for` if the code before its end has the same line, such as a short line
        after a loop with `break`, which the compiler writes twice. (`initialize_lines` in
        Python/instrumentation.c skips the end of a `for`, and compares the lines before and after it.)
        """
        if sys.version_info < (3, 14):
            return frozenset()
        offsets = set()
        jumps = {i.target for i in self.instructions if i.name != "FOR_ITER"}
        behind, current = None, None
        for instruction in self.instructions:
            line = self.positions[instruction.offset // 2][0]
            if instruction.name in _BEGIN_NO_LINE:
                behind = line if instruction.name == "POP_ITER" else None
                continue
            begins = behind is not None and line is not None and line != behind
            if begins and line == current and instruction.offset not in jumps:
                offsets.add(instruction.offset)
            behind, current = None, line
        return frozenset(offsets)

    def _unwritten(self) -> frozenset[int]:
        """Offsets at which the interpreter reports a line that the program does not have.

        It is at the end of a class body with annotations, where the `class` line makes a function (PEP 649).
        """
        for number, instruction in enumerate(self.instructions):
            stores = instruction.name == "STORE_NAME"
            if not stores or self.code.co_names[instruction.arg] != "__annotate_func__":
                continue
            lines = [self.positions[i.offset // 2][0] for i in self.instructions[: number + 1]]
            first = number
            while lines[first - 1] == lines[number] and self.instructions[first - 1].name not in _END_A_PART:
                first -= 1
            return frozenset({self.instructions[first].offset})
        return frozenset()

    def _raises_again(self, targets: set[int]) -> dict[int, int]:
        """Handler -> its last instruction, for handlers that raise the exception again at its origin.

        They reset the frame's instruction to the origin. These are the ends of `with` and of ``except ...
        as``, and the code after each handler for the case that it raises.
        """
        last_offsets = {}
        ordered = sorted(self.folded)
        for index, offset in enumerate(ordered):
            if offset not in targets:
                continue
            with_ends = any(self.folded[at].name == "WITH_EXCEPT_START" for at in ordered[index : index + 2])
            ends = frozenset({"RERAISE"}) if with_ends else _LEAVES  # that of `async with` awaits, and jumps
            last = next((at for at in ordered[index:] if self.folded[at].name in ends), offset)
            if self.folded[last].name == "RERAISE" and self.folded[last].arg:
                last_offsets[offset] = last
        return last_offsets

    def left_by_exception(self, offset: int) -> int:
        """The number of stack slots that certainly remain while an exception of this instruction empties the
        stack.

        Several handlers may raise it again, and each empties some slots. It is not known which of them have
        run, so this counts the slots that the last one leaves.
        """
        remain, at, visited = 0, offset, set[int]()
        while at not in visited:
            visited.add(at)
            entry = max(self.handled.get(at, ()), key=lambda entry: entry.depth, default=None)
            if entry is None:
                return 0
            remain = entry.depth
            at = self.raises_again.get(entry.target, at)
        return remain

    def _guarded(self, entries: list[_Handler]) -> list[tuple[int, int]]:
        """First and end offsets of the ranges of handlers, including those of `yield from` and `await`.

        The exception table has the latter from 3.12 on.
        """
        ranges = [(e.start, e.end) for e in entries if self.opname.get(e.target) != "CALL_INTRINSIC_1"]
        if sys.version_info < (3, 12):
            ranges += [(i.offset, i.offset + 2 * i.arg) for i in self.instructions if i.name == "SEND"]
        return ranges

    def name_at(self, offset: int) -> str:
        """Name of the instruction that begins at an offset with its EXTENDED_ARG; empty inside of one."""
        instruction = self.folded.get(offset)
        return instruction.name if instruction is not None else ""

    def instruction(self, offset: int) -> str | None:
        """Text of the instruction that begins at an offset with its EXTENDED_ARG.

        None inside of an instruction, for RESUME, and before the first RESUME, where a frame begins.
        """
        text = self._texts.get(offset)
        if text is None:
            instruction = self.folded.get(offset)
            if instruction is None or instruction.name == "RESUME" or offset <= self.first_resume:
                return None
            arg = instruction.arg if opcode.opmap[instruction.name] in _HAVE_ARGUMENT else None
            text = instruction_text(self.code, self.names, instruction.name, arg, instruction.target)
            self._texts[offset] = text
        return text

    def awaits_iterable(self, offset: int) -> bool:
        """Whether the iterable of a generator expression (3.11: or comprehension) is not on the stack yet."""
        if not self.is_given_iterator:
            return False
        loads = (at for at, i in self.folded.items() if i.name in _LOADS and self.names[i.arg] == ".0")
        return offset <= min(loads, default=-1)

    def _first_line(self) -> int:
        """The line where a frame begins: its `def`, or the first line of a module or session statement."""
        if self.code.co_name != "<module>":
            return max(self.code.co_firstlineno, 1)
        lines = (self.positions[i.offset // 2][0] for i in self.instructions if i.name != "RESUME")
        return next((line for line in lines if line), 1)

    def _inlined(self, entries: list[_Handler]) -> list[tuple[int, int, int, int]]:
        """Inlined comprehensions as (first offset, end offset, first line, handler's offset).

        PEP 709: the loop is in the enclosing code. The exception table has a range for it, whose handler
        restores the hidden variables and begins with SWAP.
        """
        if self.is_comprehension:
            return [(0, len(self.code.co_code), self.code.co_firstlineno, -1)]
        targets = sorted({entry.target for entry in entries})
        comprehensions = []
        for target in targets:
            if self.opname.get(target) != "SWAP":
                continue
            first, *continuations = sorted(entry for entry in entries if entry.target == target)
            start, end = first.start, first.end
            for entry in continuations:  # the rest of the loop; but not the handlers of loops inside it
                if not any(end <= inner_target < entry.end for inner_target in targets):
                    end = entry.end
            line = self.positions[start // 2][0] or self.code.co_firstlineno
            comprehensions.append((start, end, line, target))
        return sorted(comprehensions, key=lambda c: c[1] - c[0])

    def comprehension_at(self, offset: int) -> tuple[int, int, int, int] | None:
        """The innermost inlined comprehension at an offset, including its handler; or None."""
        return self._comprehension_of.get(offset)

    def _find_comprehension(
        self, offset: int, handler_ends: dict[int, int]
    ) -> tuple[int, int, int, int] | None:
        for entry in self.comprehensions:
            if entry[0] <= offset < entry[1] or 0 <= entry[3] <= offset <= handler_ends[entry[3]]:
                return entry
        # The end of an `async for` inside it is in another place: an error there goes to its handler, too.
        by_handler = {entry[3]: entry for entry in self.comprehensions}
        while (target := self._handler_of(offset)) is not None and target > offset:
            if target in by_handler:
                return by_handler[target]
            offset = target
        return None

    def _handler_of(self, offset: int) -> int | None:
        return next((entry.target for entry in self.handled.get(offset, ())), None)

    def _handler_end(self, start: int) -> int:
        return min((o for o, name in self.opname.items() if o >= start and name == "RERAISE"), default=start)

    def enters_comprehension(self, offset: int) -> bool:
        """Whether the instruction only prepares a comprehension: makes its function (3.11), makes the
        iterator of its outermost iterable, or saves the variables that it will hide."""
        number = next((n for n, i in enumerate(self.instructions) if i.offset == offset), None)
        if number is None:
            return False
        name = self.instructions[number].name
        if name in ("LOAD_FAST_AND_CLEAR", "MAKE_CELL") and offset > 0:
            return any(
                i.name == "LOAD_FAST_AND_CLEAR" for i in self.instructions[max(0, number - 1) : number + 1]
            )
        if name in ("GET_ITER", "GET_AITER"):
            tags = self.before.get(offset, ())
            following = self.instructions[number + 1].name
            return following == "LOAD_FAST_AND_CLEAR" or COMPREHENSION in tags[-2:-1]
        return self._makes_comprehension(number)

    def _makes_comprehension(self, number: int) -> bool:
        """Whether the instructions make a comprehension's function, and its iterable is on another line."""
        own_line = self.positions[self.instructions[number].offset // 2][0]
        while number + 1 < len(self.instructions):
            instruction = self.instructions[number]
            if instruction.name == "MAKE_FUNCTION":
                constant = self.code.co_consts[self.instructions[number - 1].arg]
                following = self.positions[self.instructions[number + 1].offset // 2][0]
                return getattr(constant, "co_name", "") in COMPREHENSIONS and following != own_line
            if instruction.name not in ("LOAD_CLOSURE", "BUILD_TUPLE", "LOAD_CONST", "EXTENDED_ARG"):
                return False
            number += 1
        return False


_CACHE_UNIT = bytes([opcode.opmap["CACHE"]])


def _instructions(code: CodeType) -> Iterator[_Instruction]:
    """Decode the bytecode. Not `dis`: a program may have broken the builtins that it would use."""
    raw, offset, extended = code.co_code, 0, 0
    while offset < len(raw):
        op, arg = raw[offset], raw[offset + 1] | extended
        name, size = opcode.opname[op], 2
        while raw[offset + size : offset + size + 1] == _CACHE_UNIT:
            size += 2
        extended = arg << 8 if name == "EXTENDED_ARG" else 0
        target = None
        if op in _JUMPS and name != "END_ASYNC_FOR":  # its argument is the start of the loop from 3.14 on
            target = offset + size + 2 * (-arg if "JUMP_BACKWARD" in name else arg)
        yield _Instruction(offset, name, arg, target)
        offset += size


def _folded(instructions: list[_Instruction]) -> dict[int, _Instruction]:
    """Instructions by the offset of their first code unit, which may be an EXTENDED_ARG."""
    folded: dict[int, _Instruction] = {}
    start = None
    for instruction in instructions:
        if start is None:
            start = instruction.offset
        if instruction.name != "EXTENDED_ARG":
            folded[start] = instruction
            start = None
    return folded


def _exception_entries(code: CodeType) -> Iterator[_Handler]:
    """Decode `co_exceptiontable` (Objects/exception_handling_notes.txt in CPython)."""
    raw = iter(code.co_exceptiontable)

    def number(first: int) -> int:
        value = first & 63
        while first & 64:
            first = next(raw)
            value = value << 6 | first & 63
        return value

    for first in raw:
        start, length, target, packed = number(first), number(next(raw)), number(next(raw)), number(next(raw))
        yield _Handler(2 * start, 2 * (start + length), 2 * target, packed >> 1, bool(packed & 1))


def _owners(instructions: list[_Instruction], size: int) -> list[int]:
    """The offset of the instruction that each code unit belongs to.

    A frame that has made an inlined call on 3.11 and 3.12 points at the last inline cache entry of
    its CALL, on 3.13 at the CALL itself.
    """
    owners = [0] * (size // 2 + 1)
    starts = {i.offset // 2 for i in instructions}
    current = 0
    for unit in range(len(owners)):
        if unit in starts:
            current = 2 * unit
        owners[unit] = current
    return owners


def _stack_tags(
    code: CodeType, instructions: list[_Instruction], handled: dict[int, list[_Handler]]
) -> dict[int, tuple[str, ...]]:
    """Tags of the stack slots before each reachable instruction: abstract interpretation."""
    index = {i.offset: n for n, i in enumerate(instructions)}
    before: dict[int, tuple[str, ...]] = {}
    todo: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    while todo:
        offset, tags = todo.pop()
        while offset in index and offset not in before:
            instruction = instructions[index[offset]]
            before[offset] = tags
            for entry in handled.get(offset, ()):
                if entry.target not in before:
                    pushed = (LASTI, VALUE) if entry.lasti else (VALUE,)
                    todo.append((entry.target, (*tags[: entry.depth], *pushed)))
            name, arg = instruction.name, instruction.arg
            if instruction.target is not None:
                todo.append((instruction.target, _after(tags, name, arg, jump=True)))
            if name in _LEAVES:
                break
            tags = _after(tags, name, arg, jump=False)
            if name == "MAKE_FUNCTION":
                constant = code.co_consts[instructions[index[offset] - 1].arg]
                if getattr(constant, "co_name", None) in COMPREHENSIONS:
                    tags = (*tags[:-1], COMPREHENSION)
            following = index[offset] + 1
            if following == len(instructions):
                break
            offset = instructions[following].offset
    return before


_END_A_PART = frozenset({"RESUME", "STORE_NAME", "STORE_DEREF"})
_BEGIN_NO_LINE = frozenset({"END_FOR", "POP_ITER", "END_SEND", "END_ASYNC_FOR", "RESUME"})

_LEAVES = frozenset(
    "RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE"
    " JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT".split()
)


def stack_effect(name: str, arg: int | None, *, jump: bool) -> int:
    if name == "PRECALL":  # 3.11 counts the arguments as gone here; they go at the CALL that follows
        return 0
    if name == "CALL" and arg is not None:
        return -(arg + 1)
    op = opcode.opmap[name]
    return opcode.stack_effect(op, arg if op >= opcode.HAVE_ARGUMENT else None, jump=jump)


def slots_left(name: str, arg: int, depth: int) -> int:
    """The number of stack slots that an instruction does not touch until it has ended."""
    if name == "PRECALL":  # 3.11 may run the whole call here
        name = "CALL"
    effect = stack_effect(name, arg, jump=False)
    if name in _TAKES_ONE:
        remaining = depth - 1
    elif name == "LOAD_SUPER_ATTR":
        remaining = depth - 3
    elif name in _KEEPS:
        remaining = depth
    elif name in _ADDS_TO or name.startswith(_PUSHES_NOTHING) or "JUMP" in name:
        remaining = depth + effect
    else:
        remaining = depth + effect - 1
    return max(0, min(remaining, depth))


def place_text(position: tuple[int | None, ...]) -> str | None:
    """A position of `co_positions` as a JSON member; None if line or column are not known."""
    line, end_line, column, end_column = position
    if line is None or column is None:
        return None
    return f'"at":[{line},{column},{end_line},{end_column}]'


def _after(tags: tuple[str, ...], name: str, arg: int | None, *, jump: bool) -> tuple[str, ...]:
    effect = stack_effect(name, arg, jump=jump)
    if name == "LOAD_FAST_AND_CLEAR":
        return (*tags, SAVED)
    if name == "LOAD_SUPER_ATTR" and arg is not None and arg & 1:
        return (*tags[:-3], METHOD, VALUE)
    if name == "PUSH_EXC_INFO":
        return (*tags[:-1], SAVED, VALUE)
    if name == "SWAP" and arg is not None and arg <= len(tags):
        swapped = list(tags)
        swapped[-1], swapped[-arg] = swapped[-arg], swapped[-1]
        return tuple(swapped)
    if effect >= 0:
        return tags + (VALUE,) * effect
    remaining = tags[: len(tags) + effect]
    return (*remaining[:-1], VALUE) if name.startswith("CALL") else remaining


_facts: dict[int, CodeFacts] = {}


def facts(code: CodeType) -> CodeFacts:
    """The facts of a code object, computed at the first use. They keep it alive, so its id is not reused."""
    code_facts = _facts.get(id(code))  # hashing a code object would hash its constants each time
    if code_facts is None:
        code_facts = _facts[id(code)] = CodeFacts(code)
    return code_facts


_LOOPED_OVER = (list, tuple, str, bytes)
"""From 3.15 on a loop over one of these types has no iterator: the stack has the sequence, and above it the
number of its next item. The loop is shown with an iterator, like in earlier versions."""
_loops: dict[int, dict[int, Any]] = {}
"""Frame -> position on its stack -> such an iterator. Between events it does not refer to its sequence."""
_attached: dict[int, list[tuple[Any, Any]]] = {}
"""Thread -> (iterator, sequence) of the iterators that refer to their sequence during an event."""
_NUMBER, _OVER = 2 * WORD, 3 * WORD
"""Offsets in an iterator of the number of its next item, and of the pointer to its sequence. The number may
be beyond the end of a list that was shortened."""
_hold = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_let_go = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_DecRef", ctypes.pythonapi))


def _loop_iterator(frame: int, position: int, over: Any, following: int) -> Any:
    new_iterator: Any = iter(over)
    places = _loops.setdefault(frame, {})
    iterator: Any = places.get(position)
    attached = _attached.setdefault(_thread_ident(), [])
    if not any(it is iterator for it, _ in attached):
        if type(iterator) is not type(new_iterator):
            iterator = places[position] = new_iterator
        else:
            _hold(over)
            copy(id(iterator) + _OVER, ctypes.byref(ctypes.c_size_t(id(over))), WORD)
        attached.append((iterator, over))
    copy(id(iterator) + _NUMBER, ctypes.byref(ctypes.c_size_t(following)), WORD)
    return iterator


def end_loops(frame: FrameType, *, over: bool) -> None:
    """Forget the iterators of loops that have ended, because the next loop there is a new one.

    The jump back to the enclosing loop is an event, so that no loop ends and begins again unnoticed.

    over: whether the frame has ended.
    """
    if id(frame) not in _loops:
        return
    places = {} if over else FrameView(frame).loops_in(_loops[id(frame)])
    if places:
        _loops[id(frame)] = places
    else:
        del _loops[id(frame)]


def detach_loops() -> None:
    """Release the sequences of this thread's loop iterators at the end of an event."""
    for iterator, over in _attached.pop(_thread_ident(), ()):
        copy(id(iterator) + _OVER, ctypes.byref(ctypes.c_size_t(0)), WORD)
        _let_go(over)


def forget_loops() -> None:
    """Forget all loop iterators at the end of a trace."""
    detach_loops()
    _loops.clear()


class FrameView:
    """A frame's variables and value stack at this moment. It keeps no reference after its end."""

    __slots__ = ("_words", "code", "facts", "frame")

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame
        self.code = frame.f_code
        self.facts = facts(self.code)
        self._words: Any = None
        if LAYOUT is not None:
            self._words = pointer_to(_FrameData, id(frame) + _FRAME_OF_OBJECT)[0]
        """The words of `_PyInterpreterFrame`. Indexing follows the frame object's pointer to it each time."""

    @property
    def offset(self) -> int:
        """Byte offset of the instruction that is running or will run next; -1 before the first."""
        lasti = self.frame.f_lasti
        return lasti if lasti < 0 else self.facts.owner[lasti // 2]

    def _slot(self, position: int) -> Any:
        """The object in a slot: fast locals, then the value stack. Raises ValueError for NULL."""
        assert LAYOUT is not None
        return self._object(LAYOUT.localsplus + position)

    def _object(self, word: int) -> Any:
        """The object that a word of the frame's data points to, or the number that is tagged as one."""
        bits = self._words[word]
        if _TAGGED and bits & _TAGS == _TAGS:
            return bits >> 2
        _word[0] = bits & ~_TAGS
        return _object_of_word[0]

    def namespace(self) -> Any:
        """The mapping with the names of a module or class body."""
        if LAYOUT is None:
            return self.frame.f_locals
        return self._object(LAYOUT.namespace)

    def locals(self) -> dict[str, Any]:
        """Bound names with their objects: parameters in order, then the others by name.

        In a class body these are the names in its namespace, if that is a dict or a subclass (as for an
        Enum). In a module they are only the hidden variables of a running comprehension, because all others
        are globals.
        """
        bound = self._fast()
        if not self.code.co_flags & CO_OPTIMIZED and self.code.co_name != "<module>":
            namespace = self.namespace()
            if issubclass(type(namespace), dict):
                for name, value in list(dict.items(namespace)):
                    if type(name) is str and name not in IMPLICIT_NAMES and not name.startswith("."):
                        bound[name] = value
        ordered = {name: bound.pop(name) for name in self.facts.parameters if name in bound}
        for name in sorted(bound):
            ordered[name] = bound[name]
        return ordered

    def _fast(self) -> dict[str, Any]:
        names = self.facts.names
        bound: dict[str, Any] = {}
        if LAYOUT is None:
            values = self.frame.f_locals if self.code.co_flags & CO_OPTIMIZED else {}
            hidden = {name for name in names if name.startswith(".")} | IMPLICIT_NAMES
            return {name: values[name] for name in names if name in values and name not in hidden}
        free_from = len(names) - len(self.code.co_freevars)
        cells = self.code.co_cellvars + self.code.co_freevars
        for position, name in enumerate(names):
            try:
                value = self._slot(position)
            except ValueError:  # a NULL slot: unbound, or a free variable not copied in yet
                if position < free_from or (self.offset >= 0 and not self._starting()):
                    continue
                value = self._closure(position - free_from)
            if type(value) is CellType and name in cells:  # else it is a variable that holds one
                try:
                    value = value.cell_contents
                except ValueError:
                    continue
            if not name.startswith(".") and name not in IMPLICIT_NAMES:
                bound[name] = value
        return bound

    def _starting(self) -> bool:
        return self.facts.opname.get(self.offset) in ("COPY_FREE_VARS", "MAKE_CELL")

    def _closure(self, position: int) -> Any:
        assert LAYOUT is not None
        function = self._object(LAYOUT.function)
        return function.__closure__[position]

    def _stacktop(self) -> int:
        """The frame's `stacktop` (`_Layout`), as a number that changes with it."""
        assert LAYOUT is not None
        return int(self._words[LAYOUT.stacktop]) & _TOP

    def _known_depth(self, top: int) -> int | None:
        """The number of filled slots of the value stack; None if the frame does not have it."""
        assert LAYOUT is not None
        if top == (0 if LAYOUT.tagged else _TOP):
            return None
        if LAYOUT.tagged:
            top = (top - pointer_at(id(self.frame) + _FRAME_OF_OBJECT)) // WORD - LAYOUT.localsplus
        return min(max(0, top - len(self.facts.names)), self.code.co_stacksize)

    def _depth(self, top: int) -> int:
        """The number of filled slots of the value stack before the next instruction."""
        depth = self._known_depth(top)
        return len(self.facts.before.get(self.offset, ())) if depth is None else depth

    def loops_in(self, places: dict[int, Any]) -> dict[int, Any]:
        """Those of these iterators (by position on the stack) whose loop still has its number on the
        stack."""
        assert LAYOUT is not None
        depth, base = self._depth(self._stacktop()), LAYOUT.localsplus + len(self.facts.names)
        return {
            position: iterator
            for position, iterator in places.items()
            if position < depth and self._words[base + position] & _TAGS == _TAGS
        }

    def stack(self, *, suspended: bool = False, yields: bool = False) -> list[Any]:
        """The data on the value stack of a frame that is at its event, or suspended.

        The outermost value is first. Empty slots, saved variables and return addresses are left out.

        suspended: the frame was suspended just now, but another thread may resume it at any time. Then the
        values end where that was noticed.
        yields: the frame is about to yield; the yielded value is left out.
        """
        if LAYOUT is None:
            return []
        top = self._stacktop()
        known_depth = self._known_depth(top)
        if suspended and known_depth is None:
            return []
        depth = self._depth(top)
        if known_depth is None and self.facts.opname.get(self.offset) == "JUMP_BACKWARD_NO_INTERRUPT":
            depth -= 1  # 3.11, after a throw that ended what the frame awaited: that is gone
        if yields and KEEPS_YIELDED:
            depth -= 1
        values = self._values(depth, self.facts.before.get(self.offset, ()), top=top)
        if self.facts.is_given_iterator:  # a generator expression's iterable, before it is loaded
            try:
                iterator = self._slot(0)
            except ValueError:
                return values
            if not any(value is iterator for value in values):
                values.append(iterator)
        return values

    def whole_stack(self) -> list[Any]:
        """All slots of the value stack before an instruction, outermost first.

        Saved variables and return addresses are included, and an empty slot is `EMPTY`. As in `stack`, the
        iterable of a generator expression is included before it has been loaded.
        """
        if LAYOUT is None:
            return []
        first = len(self.facts.names)
        values: list[Any] = []
        for position in range(first, first + self._depth(self._stacktop())):
            bits = self._words[LAYOUT.localsplus + position]
            if _TAGGED and bits & _TAGS == _TAGS and values and type(values[-1]) in _LOOPED_OVER:
                values[-1] = _loop_iterator(id(self.frame), position - first, values[-1], bits >> 2)
                values.append(EMPTY)  # as it is above any other iterator
                continue
            try:
                values.append(self._slot(position))
            except ValueError:
                values.append(EMPTY)
        for position, tag in enumerate(self.facts.before.get(self.offset, ())[: max(len(values) - 1, 0)]):
            if tag == METHOD and values[position] is not EMPTY:
                function, owner = values[position : position + 2]
                if owner is not EMPTY:  # 3.13 may leave it bound, and none beside it
                    function = _bound(function, owner)
                values[position : position + 2] = (function, EMPTY) if NULL_ABOVE else (EMPTY, function)
        if self.facts.awaits_iterable(self.offset):
            values.append(self._slot(0))
        return values

    def pending(self, *, unwinding: bool = False) -> list[Any]:
        """The values on the stack of a calling frame below the operands of its unfinished instruction.

        The operands may already be gone, if the interpreter has specialised the instruction.

        unwinding: an exception is emptying the stack, and a destructor is calling. Then only the values that
        certainly remain are returned, because freed objects are still in their slots.
        """
        offset = self.offset
        tags = self.facts.before.get(offset)
        if tags is None or LAYOUT is None:
            return []
        name, arg = self.facts.opname[offset], self.facts.arg[offset]
        if unwinding or raises_handled(name, arg):
            return self._values(self.facts.left_by_exception(offset), tags, running=True)
        return self._values(slots_left(name, arg, len(tags)), tags, running=True)

    def operands(self, kinds: frozenset[int]) -> list[Any]:
        """Callable and arguments of the CALL in progress if it runs a C function; else an empty list.

        kinds: addresses of types. Operands of other types are replaced by None.

        The list is also empty while the interpreter releases the operands, which may run code too (`__del__`,
        callbacks): freed objects are still in their slots.
        """
        first, size = self._operand_slots()
        filled = [(first + at, address) for at, address in enumerate(self._addresses(first, size)) if address]
        types = [type_at(address) for _, address in filled]
        if 0 in types:
            return []
        operands = []
        for (position, address), kind in zip(filled, types, strict=True):
            references = pointer_at(address) & _REFERENCES
            value = self._slot(position) if kind in kinds else None
            if references == 1 and kind in _RUNNING and getattr(value, _RUNNING[kind]):
                value = None
            operands.append(value)
        return operands

    def callable_address(self) -> int:
        """Address of the callable of the CALL in progress, which may be freed already; 0 without a call."""
        first, size = self._operand_slots()
        return next((address for address in self._addresses(first, size) if address), 0)

    def _operand_slots(self) -> tuple[int, int]:
        """First slot and number of the operands of a CALL that runs a C function."""
        offset = self.offset
        name, arg = self.facts.opname.get(offset, ""), self.facts.arg.get(offset)
        tags = self.facts.before.get(offset) if LAYOUT is not None else None
        if name not in ("CALL", "PRECALL", "CALL_KW") or tags is None or arg is None:
            return 0, 0
        known_depth = self._known_depth(self._stacktop())
        if known_depth is not None and known_depth < len(tags):
            return 0, 0  # the arguments have moved into the callee's frame
        size = arg + 2 + (name == "CALL_KW")
        return len(self.facts.names) + len(tags) - size, size

    def _addresses(self, first: int, count: int) -> Any:
        if LAYOUT is None:
            return []
        addresses = (ctypes.c_size_t * count)()
        data = pointer_at(id(self.frame) + _FRAME_OF_OBJECT)
        copy(addresses, data + WORD * (LAYOUT.localsplus + first), WORD * count)
        return [address & ~_TAGS for address in addresses]

    def _values(
        self, count: int, tags: tuple[str, ...], *, running: bool = False, top: int | None = None
    ) -> list[Any]:
        """Objects in the first `count` slots of the stack that are data.

        running: the frame is calling. Then objects that are freed or being freed are left out: FOR_ITER
        releases an exhausted iterator, whose destructor may be the code that runs.
        top: the frame's `stacktop`. If it changes, another thread has resumed the frame, and reading ends.
        """
        assert LAYOUT is not None
        first = len(self.facts.names)
        words, top_at = self._words, LAYOUT.stacktop
        base = LAYOUT.localsplus + first
        values: list[Any] = []
        addresses = self._addresses(first, max(count, 0)) if running else ()
        function = EMPTY
        for position in range(count):
            tag = tags[position] if position < len(tags) else VALUE
            if tag not in (VALUE, METHOD):
                continue
            below, function = function, EMPTY
            slot = base + position
            if _TAGGED and words[slot] & _TAGS == _TAGS:
                over = values[-1] if values else None
                if type(over) in _LOOPED_OVER:
                    values[-1] = _loop_iterator(id(self.frame), position, over, words[slot] >> 2)
                else:
                    values.append(self._object(slot))
                continue
            if running and not _holds_object(addresses[position]):
                continue
            try:
                # There is no call between these lines, so that no other thread can run.
                if top is not None and words[top_at] & _TOP != top:
                    break
                _word[0] = words[slot] & ~_TAGS
                value = _object_of_word[0]
            except ValueError:
                continue
            if type(value) is CoroutineType and value.cr_code.co_name in COMPREHENSIONS:
                continue  # what 3.11 makes of an asynchronous comprehension
            if below is not EMPTY:
                values[-1] = _bound(below, value)
                continue
            values.append(value)
            if tag == METHOD:
                function = value
        return values
