"""Finds out which instructions of a code object can change objects outside of their frame, without running
them.

Only after such an instruction must the objects of a frame be looked at again. The effect of an instruction is
a number. If the effect depends on an object, it is an `Act`: an operation on this object, whose type at run
time decides (`c/account.h`).
"""

import builtins
import math
import re
import sys
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from deskcheck.tracer.frames import NULL_ABOVE, CodeFacts, _Instruction, slots_left, stack_effect

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))


class Change(IntEnum):
    """The effect of an instruction that is not an act."""

    NOTHING = 0
    OPERANDS = 1
    """Nothing, if the operands are of builtin types that run no code of the program."""
    ANYTHING = 2
    DRAINS = 3
    """Like OPERANDS, but draws from iterators."""
    BUILDS = 4
    """Nothing, if the line ran without interruption: adds to an object that the same expression made."""
    ITERATES = 5
    """Like OPERANDS, but draws from the iterator of a loop, which the frame shows."""


IN_PLACE_LOCAL = 16
"""Effect 16 + s: an in-place operator whose result goes into fast local s. It changes nothing else if the
value of that local is of an immutable builtin type."""
ACTS = 1000
"""Effect 1000 + n: the n-th act."""


class ActKind(IntEnum):
    """An operation on an object. An in-place operator stores its result in the place of the operand."""

    SET_ATTRIBUTE = 0
    SET_ITEM = 1
    IN_PLACE = 2
    IN_PLACE_ITEM = 3
    METHOD = 4
    CALL = 5


class MethodEffect(IntEnum):
    """The effect of a method on its object and on iterators."""

    NONE = 0
    CHANGED = 1
    UNKNOWN = 2
    DRAWS = 3
    CHANGED_AND_DRAWS = 4
    APPENDS = 5


class ItemKey(IntEnum):
    """The place of the key of an item assignment, if it is known."""

    NONE = 0
    IN_SLOT = 1
    CONSTANT = 2


class Act(NamedTuple):
    """An operation on the object at a path: a fast local or a global, or an attribute of one.

    If the path is not known, the object is looked for on the value stack. The interpreter leaves pointers
    there that it has taken from it, until it puts others in their place.

    since: code unit that reads the path first; -1 if it leads to the same object throughout the line.
    slot: the fast local; -1 if the path begins at the global `name`; without either the path is not known.
    method: the called method (also for setting an item), or the attribute that is set.
    arguments: number of arguments of a call; -1 with keywords.
    on_list, on_dict, on_set: effect of the method on an object of that type.
    on_still: effect of the method on an object of an immutable type.
    key: key of the item that is set: the fast local with it, or an int.
    position: slot of the value stack with the pointer to the object, from the code unit `first` on, up to
        where the code unit `last` begins; -1 if there is none.
    """

    kind: int
    since: int
    slot: int
    name: str | None
    attribute: str | None
    method: str | None
    arguments: int
    on_list: int = MethodEffect.UNKNOWN
    on_dict: int = MethodEffect.UNKNOWN
    on_set: int = MethodEffect.UNKNOWN
    on_still: int = MethodEffect.UNKNOWN
    key_kind: int = ItemKey.NONE
    key: int = 0
    position: int = -1
    first: int = 0
    last: int = 0

    @property
    def without_path(self) -> "Act":
        return self._replace(since=-1, slot=-1, name=None, attribute=None)


PURE = frozenset(
    """
    CACHE NOP RESUME EXTENDED_ARG PRECALL KW_NAMES POP_TOP LOAD_FAST_AND_CLEAR STORE_FAST
    STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST DELETE_FAST LOAD_CLASSDEREF LOAD_CLOSURE LOAD_NAME IS_OP
    BUILD_TUPLE BUILD_LIST BUILD_SLICE BUILD_STRING JUMP_FORWARD JUMP_BACKWARD
    JUMP_BACKWARD_NO_INTERRUPT POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE
    POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE
    RETURN_VALUE RETURN_CONST END_FOR END_SEND LIST_TO_TUPLE GET_LEN MATCH_SEQUENCE MATCH_MAPPING
    RETURN_GENERATOR COPY_FREE_VARS MAKE_CELL YIELD_VALUE LOAD_ASSERTION_ERROR LOAD_COMMON_CONSTANT
    PUSH_EXC_INFO CHECK_EXC_MATCH POP_EXCEPT RERAISE NOT_TAKEN POP_ITER BUILD_INTERPOLATION BUILD_TEMPLATE
    """.split()
)
"""Instructions without a method in `_Walk` that change only their frame, whatever their operands are. An
exception is a value of the event at which it is raised."""
BY_OPERANDS = frozenset(
    """
    UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT COMPARE_OP BINARY_SLICE TO_BOOL
    POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE
    POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_FALSE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP
    FORMAT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC CONVERT_VALUE BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP
    RAISE_VARARGS
    """.split()
)
"""Instructions that change only their frame if their operands are of builtin types."""
DRAWING = frozenset({"CONTAINS_OP", "UNPACK_SEQUENCE", "UNPACK_EX"})
"""Like `BY_OPERANDS`, but they also draw from an operand that is an iterator."""
BUILDING = frozenset({"LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "LIST_APPEND", "SET_ADD", "MAP_ADD"})
"""Instructions that change an object that the same expression has made."""
_FIRST_IN_PLACE, _SUBSCRIPT = 13, 26
"""Arguments of BINARY_OP: the first in-place operator (Include/opcode.h, NB_INPLACE_ADD), and from 3.14 on
the reading of an item (NB_SUBSCR)."""

CHANGING = frozenset(
    """
    MATCH_KEYS MATCH_CLASS CHECK_EG_MATCH WITH_EXCEPT_START PREP_RERAISE_STAR BEFORE_WITH BEFORE_ASYNC_WITH
    LOAD_SPECIAL
    GET_AITER GET_ANEXT GET_AWAITABLE GET_YIELD_FROM_ITER SEND END_ASYNC_FOR ASYNC_GEN_WRAP CLEANUP_THROW
    PRINT_EXPR LOAD_BUILD_CLASS SETUP_ANNOTATIONS IMPORT_NAME IMPORT_FROM IMPORT_STAR LOAD_LOCALS
    LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF LOAD_SUPER_ATTR STORE_NAME DELETE_NAME STORE_GLOBAL
    DELETE_GLOBAL STORE_DEREF DELETE_DEREF STORE_SLICE DICT_MERGE CALL_FUNCTION_EX CALL_INTRINSIC_1
    CALL_INTRINSIC_2 EXIT_INIT_CHECK INTERPRETER_EXIT ENTER_EXECUTOR RESERVED TRACE_RECORD
    """.split()
)
"""Instructions that may change anything, or that are too rare to be examined."""


def _rows(**names: str) -> dict[str, MethodEffect]:
    """Name of a method -> its effect. names: effect -> names of methods."""
    return {
        name: MethodEffect[effect.upper()] for effect, methods in names.items() for name in methods.split()
    }


_OF_TEXTS = """
    capitalize center count endswith expandtabs find index isalnum isalpha isascii isdigit islower isspace
    istitle isupper ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex
    rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill
"""
_OF_NUMBERS = "as_integer_ratio conjugate imag real"
METHODS: dict[type, dict[str, MethodEffect]] = {
    list: _rows(
        none="index count copy",
        changed="pop insert remove clear reverse",
        changed_and_draws="extend",
        appends="append",
        unknown="sort",  # empty while it is at work
    ),
    dict: _rows(
        none="get keys values items copy",
        changed="pop popitem setdefault clear",
        changed_and_draws="update",
        draws="fromkeys",
    ),
    set: _rows(
        none="copy",
        changed="add discard remove pop clear",
        draws="union intersection difference symmetric_difference issubset issuperset isdisjoint",
        changed_and_draws="update intersection_update difference_update symmetric_difference_update",
    ),
    frozenset: _rows(
        none="copy",
        draws="union intersection difference symmetric_difference issubset issuperset isdisjoint",
    ),
    str: _rows(
        none=f"{_OF_TEXTS} casefold encode format format_map isdecimal isidentifier isnumeric isprintable",
        draws="join",
        unknown="translate",
    ),
    bytes: _rows(none=f"{_OF_TEXTS} decode fromhex hex", draws="join", unknown="translate"),
    tuple: _rows(none="index count"),
    int: _rows(
        none=f"{_OF_NUMBERS} bit_count bit_length denominator numerator is_integer to_bytes",
        draws="from_bytes",
    ),
    float: _rows(none=f"{_OF_NUMBERS} from_number fromhex hex is_integer"),
    complex: _rows(none="conjugate imag real from_number"),
}
"""Builtin type -> method -> its effect on objects that a trace shows. Each method may call back an operator
of the program's classes; the core applies its effect again at each return into it. Methods with two
underscores in their names count as unknown."""
_STILL: dict[str, MethodEffect] = {}
"""Method of an immutable type -> its effect."""
for _kind in (str, bytes, tuple, frozenset, int, float, complex):
    for _name, _effect in METHODS[_kind].items():
        _STILL[_name] = _effect if _STILL.get(_name, _effect) == _effect else MethodEffect.UNKNOWN

_KEEP_STILL = """
    len abs chr ord bin hex oct round divmod pow hash id isinstance issubclass callable repr format getattr
    hasattr int float bool complex super object slice range
"""
_DRAW = """
    sum min max sorted list tuple set frozenset dict any all enumerate zip reversed iter next print str bytes
    bytearray
"""


def _callables() -> dict[int, int]:
    """Address of a builtin callable that changes nothing by itself -> 1, or 2 if it draws from iterators.

    Plus 4 if this holds only without keywords, plus 8 if only with one argument.
    """
    kinds = {id(getattr(builtins, name)): 1 for name in _KEEP_STILL.split()}
    kinds |= {id(getattr(builtins, name)): 2 for name in _DRAW.split()}
    kinds |= {id(function): 1 for function in vars(math).values() if callable(function)}
    kinds |= {id(getattr(math, name)): 2 for name in ("fsum", "prod", "gcd", "lcm", "hypot", "dist")}
    kinds[id(type)] = 1
    for name in ("sorted", "min", "max"):
        kinds[id(getattr(builtins, name))] |= 4
    for name in ("iter", "type"):
        kinds[id(getattr(builtins, name))] |= 8
    return kinds


CALLABLES = _callables()

_LEAVES_POINTERS = sys.version_info < (3, 14)
"""Whether the interpreter leaves the pointers of operands on the value stack. From 3.14 on it clears them."""
_ATTRIBUTE_SHIFTED = sys.version_info >= (3, 12)
"""Whether the lowest bit of the argument of LOAD_ATTR says that a method is called."""


_ITERATOR_TAKES = stack_effect("GET_ITER", 0, jump=False)
"""Additional slots of a loop's iterator: from 3.15 on, the index into a sequence has a separate slot."""


class _Read(NamedTuple):
    """The origin of the value in a slot of the value stack, if it is known."""

    where: str = ""
    """``slot``, ``global``, ``item`` or ``method`` (of `base`), ``const``, ``null``, ``made``; empty if it is
    not known."""
    base: "int | str | _Read | None" = None
    attribute: str | None = None
    unit: int = -1

    @property
    def is_path(self) -> bool:
        return self.where in ("slot", "global")


_UNKNOWN = _Read()
_NULL = _Read("null")
_MADE = _Read("made")
"""A function that the line has made, for a generator expression or a comprehension."""

_LEAVE = frozenset(
    "CACHE NOP NOT_TAKEN PRECALL KW_NAMES EXTENDED_ARG RESUME POP_TOP STORE_FAST DELETE_FAST".split()
)
_TAKES = {
    **dict.fromkeys("UNARY_POSITIVE UNARY_NEGATIVE UNARY_NOT UNARY_INVERT TO_BOOL GET_ITER".split(), 1),
    **dict.fromkeys("LIST_APPEND SET_ADD FORMAT_SIMPLE CONVERT_VALUE UNPACK_SEQUENCE".split(), 1),
    **dict.fromkeys("COMPARE_OP CONTAINS_OP IS_OP LIST_EXTEND SET_UPDATE DICT_UPDATE".split(), 2),
    **dict.fromkeys("LOAD_CLOSURE LOAD_NAME LOAD_ASSERTION_ERROR LOAD_COMMON_CONSTANT".split(), 0),
    "BINARY_SLICE": 3,
    "FORMAT_WITH_SPEC": 2,
}
"""Instruction -> number of the topmost slots that it replaces. Others may do anything to the stack."""


class _Walk:
    """Walks through the instructions of a line in their order, with a stack of the known origins."""

    def __init__(self, about: CodeFacts) -> None:
        self.about = about
        self.code = about.code
        self.cells = frozenset(
            n for n, name in enumerate(about.names) if name in self.code.co_cellvars + self.code.co_freevars
        )
        self.stack: list[_Read] = []
        self.keywords = False
        self.stored: set[tuple[str, int | str]] = set()
        self.attributes: list[str] = []
        self.depth = -1
        """Slots of the value stack before the instruction; -1 if not known."""

    def pop(self, count: int) -> list[_Read]:
        """Remove and return the topmost slots, lowest first."""
        available = min(count, len(self.stack))
        top = self.stack[len(self.stack) - available :]
        del self.stack[len(self.stack) - available :]
        return [_UNKNOWN] * (count - available) + top

    def effect(self, instruction: _Instruction, following: _Instruction | None) -> int | Act:
        """The effect of an instruction, which is also applied to the stack."""
        run = getattr(self, f"_{instruction.name.lower()}", None)
        if run is not None:
            change = run(instruction.arg, instruction.offset // 2, following)
            return Change.ANYTHING if change is None else change
        self._other(instruction)
        name = instruction.name
        if name in PURE:
            return Change.NOTHING
        if name in BY_OPERANDS:
            return Change.OPERANDS
        if name == "FOR_ITER":
            return Change.ITERATES
        if name in DRAWING:
            return Change.DRAINS
        return Change.BUILDS if name in BUILDING else Change.ANYTHING

    def _other(self, instruction: _Instruction) -> None:
        name, arg = instruction.name, instruction.arg
        change = stack_effect(name, arg, jump=False)
        if name in ("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"):
            self.stored.add(("slot", arg))
        elif name == "STORE_FAST_STORE_FAST":
            self.stored |= {("slot", arg >> 4), ("slot", arg & 15)}
        elif name == "STORE_FAST_LOAD_FAST":
            self.stored.add(("slot", arg >> 4))
        elif name == "STORE_GLOBAL":
            self.stored.add(("global", self.code.co_names[arg]))
        if name == "KW_NAMES":
            self.keywords = True
        taken = 0 if name in _LEAVE and change == 0 else -change if name in _LEAVE else _TAKES.get(name, -1)
        if name in ("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"):
            taken = arg
        elif name == "BUILD_MAP":
            taken = 2 * arg
        if taken < 0:
            self.stack.clear()
        else:
            self.pop(taken)
            self.stack += [_UNKNOWN] * (change + taken)

    def _act(
        self, kind: int, read: _Read, below: int, method: str | None = None, arguments: int = 0
    ) -> Act | None:
        """An operation on a value, whose slot is so far below the top; None if nothing leads to it."""
        position = self.depth - below if self.depth >= below and _LEAVES_POINTERS else -1
        if not read.is_path:
            if position < 0:
                return None
            read = _Read()
        slot = read.base if isinstance(read.base, int) else -1
        fixed = slot >= 0 and slot not in self.cells and read.attribute is None
        return Act(
            kind,
            -1 if fixed else read.unit,
            slot,
            read.base if isinstance(read.base, str) else None,
            read.attribute,
            method,
            arguments,
            METHODS[list].get(method or "", MethodEffect.UNKNOWN),
            METHODS[dict].get(method or "", MethodEffect.UNKNOWN),
            METHODS[set].get(method or "", MethodEffect.UNKNOWN),
            _STILL.get(method or "", MethodEffect.UNKNOWN),
            position=position,
        )

    def _load_fast(self, arg: int, unit: int, _: object) -> int:
        self.stack.append(_Read("slot", arg, None, unit))
        return Change.NOTHING

    _load_fast_check = _load_fast_borrow = _load_deref = _load_fast

    def _load_fast_load_fast(self, arg: int, unit: int, _: object) -> int:
        self.stack += [_Read("slot", arg >> 4, None, unit), _Read("slot", arg & 15, None, unit)]
        return Change.NOTHING

    _load_fast_borrow_load_fast_borrow = _load_fast_load_fast

    def _load_global(self, arg: int, unit: int, _: object) -> int:
        loaded = _Read("global", self.code.co_names[arg >> 1], None, unit)
        if arg & 1:
            self.stack += [loaded, _NULL] if NULL_ABOVE else [_NULL, loaded]
        else:
            self.stack.append(loaded)
        return Change.NOTHING

    def _load_const(self, arg: int, unit: int, _: object) -> int:
        value = self.code.co_consts[arg]
        small = type(value) is int and -(1 << 30) < value < 1 << 30
        self.stack.append(_Read("const", value) if small else _UNKNOWN)
        return Change.NOTHING

    def _load_small_int(self, arg: int, unit: int, _: object) -> int:
        self.stack.append(_Read("const", arg))
        return Change.NOTHING

    def _push_null(self, arg: int, unit: int, _: object) -> int:
        self.stack.append(_NULL)
        return Change.NOTHING

    def _copy(self, arg: int, unit: int, _: object) -> int:
        self.stack.append(self.stack[-arg] if arg <= len(self.stack) else _UNKNOWN)
        return Change.NOTHING

    def _swap(self, arg: int, unit: int, _: object) -> int:
        if arg <= len(self.stack):
            self.stack[-1], self.stack[-arg] = self.stack[-arg], self.stack[-1]
        else:
            self.stack.clear()
        return Change.NOTHING

    def _load_method(self, arg: int, unit: int, _: object) -> int:
        (owner,) = self.pop(1)
        self.stack += [_Read("method", owner, self.code.co_names[arg], unit), _UNKNOWN]
        return Change.OPERANDS

    def _load_attr(self, arg: int, unit: int, following: object) -> int:
        if _ATTRIBUTE_SHIFTED and arg & 1:
            return self._load_method(arg >> 1, unit, following)
        name = self.code.co_names[arg >> 1 if _ATTRIBUTE_SHIFTED else arg]
        (owner,) = self.pop(1)
        is_plain_path = owner.is_path and owner.attribute is None
        self.stack.append(owner._replace(attribute=name) if is_plain_path else _UNKNOWN)
        return Change.OPERANDS

    def _binary_subscr(self, arg: int, unit: int, _: object) -> int:
        container, _key = self.pop(2)
        self.stack.append(_Read("item", container, None, unit))
        return Change.OPERANDS

    def _binary_op(self, arg: int, unit: int, following: _Instruction | None) -> int | Act | None:
        if arg == _SUBSCRIPT:
            return self._binary_subscr(arg, unit, following)
        operand, _other_operand = self.pop(2)
        self.stack.append(_UNKNOWN)
        if arg < _FIRST_IN_PLACE:
            return Change.OPERANDS
        if following is not None and following.name == "STORE_FAST":
            return IN_PLACE_LOCAL + following.arg
        if following is not None and following.name in ("STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"):
            return IN_PLACE_LOCAL + (following.arg >> 4)
        if operand.where == "item" and isinstance(operand.base, _Read) and operand.base.is_path:
            return self._act(ActKind.IN_PLACE_ITEM, operand.base, 2)
        return self._act(ActKind.IN_PLACE, operand, 2)

    def _store_attr(self, arg: int, unit: int, _: object) -> Act | None:
        _value, owner = self.pop(2)
        self.attributes.append(self.code.co_names[arg])
        if self.code.co_names[arg] == "__class__":
            return None  # it is another object then
        return self._act(ActKind.SET_ATTRIBUTE, owner, 1, self.code.co_names[arg])

    def _delete_attr(self, arg: int, unit: int, _: object) -> Act | None:
        (owner,) = self.pop(1)
        self.attributes += [self.code.co_names[arg]] * 2
        return self._act(ActKind.SET_ATTRIBUTE, owner, 1, self.code.co_names[arg])

    def _store_subscr(self, arg: int, unit: int, _: object) -> Act | None:
        _value, owner, key = self.pop(3)
        act = self._act(ActKind.SET_ITEM, owner, 2, "__setitem__")
        if act is None or not isinstance(key.base, int) or key.attribute is not None:
            return act
        if key.where == "const":
            return act._replace(key_kind=ItemKey.CONSTANT, key=key.base)
        if key.where == "slot" and key.base not in self.cells:
            return act._replace(key_kind=ItemKey.IN_SLOT, key=key.base)
        return act

    def _delete_subscr(self, arg: int, unit: int, _: object) -> Act | None:
        owner, _key = self.pop(2)
        return self._act(ActKind.SET_ITEM, owner, 2, "__delitem__")

    def _make_function(self, arg: int, unit: int, _: object) -> int:
        self.pop(1 + (arg.bit_count() if sys.version_info < (3, 13) else 0))
        self.stack.append(_MADE)
        return Change.NOTHING

    def _set_function_attribute(self, arg: int, unit: int, _: object) -> int:
        _value, function = self.pop(2)
        self.stack.append(function)
        return Change.BUILDS

    def _get_iter(self, arg: int, unit: int, _: object) -> int:
        self.pop(1)
        self.stack += [_UNKNOWN] * (1 + _ITERATOR_TAKES)
        return Change.OPERANDS

    def _call(self, arg: int, unit: int, _: object, above: int = 0) -> int | Act | None:
        """The callable is below the arguments, next to NULL or `self`. above: slots above the arguments."""
        first, second, *_arguments = self.pop(arg + 2)
        self.stack.append(_UNKNOWN)
        count = -1 if self.keywords else arg
        self.keywords = False
        called = second if first == _NULL else first
        if _MADE in (first, second):
            return Change.NOTHING  # it only makes a generator, or its run was recorded
        if called.where == "method" and isinstance(called.base, _Read):
            return self._act(ActKind.METHOD, called.base, arg + 1 + above, called.attribute, count)
        if called.where == "global" and called.attribute is None:
            act = self._act(ActKind.CALL, called, arg + 1 + above, None, count)
            return act if act is None or not NULL_ABOVE else act._replace(position=-1)
        if called.where == "global":  # a function of a module
            act = self._act(ActKind.METHOD, called._replace(attribute=None), 0, called.attribute, count)
            return act and act._replace(position=-1)
        return None

    def _call_kw(self, arg: int, unit: int, following: object) -> int | Act | None:
        self.pop(1)
        self.keywords = True
        return self._call(arg, unit, following, above=1)

    def holds(self, act: Act) -> bool:
        """Whether the path still leads to the same object after the line: no part of it was assigned."""
        if act.slot < 0 and act.name is None:
            return True
        base: tuple[str, int | str] = ("slot", act.slot) if act.slot >= 0 else ("global", act.name or "")
        in_place = act.kind == ActKind.IN_PLACE  # what is assigned is its result
        if base in self.stored and not (in_place and act.slot < 0 and act.attribute is None):
            return False
        return act.attribute is None or self.attributes.count(act.attribute) <= in_place


def _lines(about: CodeFacts, lines: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Each line with the indices of its instructions, in their order."""
    numbers_by_line: dict[int, list[int]] = {}
    for number, instruction in enumerate(about.instructions):
        numbers_by_line.setdefault(lines[instruction.offset // 2], []).append(number)
    yield from numbers_by_line.items()


class Effects(NamedTuple):
    """The effects of a code object, by code unit."""

    effect: list[int]
    """Effect of the instruction that begins at the unit: a `Change`, or an act."""
    then: list[int]
    """The next unit of the same line with an effect, or -1."""
    stored: list[int]
    """The fast locals that the line assigns, as bits."""
    acts: list[Act]


_PUTS_NOTHING = re.compile(
    "POP_TOP|POP_JUMP|JUMP|STORE_(FAST|NAME|GLOBAL|DEREF|SUBSCR|SLICE|ATTR)$|DELETE_|NOP$|CACHE$|RESUME|PRECALL"
    "|KW_NAMES|EXTENDED_ARG|LIST_APPEND|LIST_EXTEND|SET_ADD|SET_UPDATE|MAP_ADD|DICT_UPDATE|RETURN_|END_FOR|NOT_TAKEN"
)
"""Instructions that take slots from the value stack, or none, and put nothing there."""


def _located(about: CodeFacts, act: Act, line: list[int], number: int, targets: set[int | None]) -> Act:
    """The act with the part of its line where its object is on the value stack. line: its instructions."""
    if act.position < 0:
        return act
    position, follows = act.position, number
    first = about.instructions[number].offset // 2 + 1
    in_place = act.kind in (ActKind.IN_PLACE, ActKind.IN_PLACE_ITEM)
    for after in line[line.index(number) + 1 :]:
        instruction = about.instructions[after]
        tags = about.before.get(instruction.offset)
        if tags is None:
            continue
        depth = len(tags)
        directly = after == follows + 1 and instruction.offset not in targets
        if in_place and directly and instruction.name == "SWAP":
            ends = depth - 1, depth - instruction.arg
            if position in ends:
                position = sum(ends) - position
                first = instruction.offset // 2 + 1
            follows = after
            continue
        in_place = False
        if _PUTS_NOTHING.match(instruction.name):
            continue
        if slots_left(instruction.name, instruction.arg, depth) <= position:
            return act._replace(position=position, first=first, last=instruction.offset // 2)
    return act._replace(position=position, first=first, last=_END)


_REPEATED: tuple[int, ...] = (
    Change.NOTHING,
    Change.OPERANDS,
    Change.ITERATES,
    Change.DRAINS,
    Change.BUILDS,
    Change.ANYTHING,
)
"""Effects of instructions in a line that jumps back within itself. The last of them counts for the line."""
_END = 1 << 30
"""A code unit behind all others."""


def effects(about: CodeFacts, lines: list[int]) -> Effects:
    """The effects of the instructions of a code object. lines: the line of each unit, or 0."""
    size = len(lines)
    effect: list[int] = [Change.NOTHING] * size
    then, acts = [-1] * size, list[Act]()
    stored: dict[int, int] = {}
    targets = {i.target for i in about.instructions} | {entry.target for entry in about.handlers}
    begins = [i.offset // 2 for i in about.instructions] + [size]
    for line, numbers in _lines(about, lines):
        walk, changes = _Walk(about), list[int | Act]()
        before = -2
        for number in numbers:
            instruction = about.instructions[number]
            if number != before + 1 or instruction.offset in targets:
                walk.stack.clear()
            before = number
            after = about.instructions[number + 1] if number + 1 < len(about.instructions) else None
            tags = about.before.get(instruction.offset)
            walk.depth = -1 if tags is None else len(tags)
            does = walk.effect(instruction, after)
            changes.append(does)
        if line == 0 and any(changes):  # it may run in any line
            return Effects([Change.ANYTHING] * size, [*range(1, size), -1], [-1] * size, [])
        stored[line] = sum(
            1 << slot for kind, slot in walk.stored if kind == "slot" and isinstance(slot, int)
        )
        again = any(
            i.target is not None
            and i.target <= i.offset
            and lines[i.target // 2] == line
            and not (about.needs_opcodes and about.comprehension_at(i.offset) is not None)  # one by one
            for i in map(about.instructions.__getitem__, numbers)
        )
        if again and any(changes):  # a jump may go back to an earlier part of the line
            kinds = {does if does in _REPEATED else Change.ANYTHING for does in changes}
            kinds |= {Change.OPERANDS}
            changes = [max(kinds, key=_REPEATED.index)] * len(changes)
        following = -1
        for number, does in zip(reversed(numbers), reversed(changes), strict=True):
            if isinstance(does, Act):
                does = _located(about, does, numbers, number, targets)
                if not walk.holds(does) and does.position >= 0:
                    does = does.without_path
                if walk.holds(does) and (does.position >= 0 or does.slot >= 0 or does.name is not None):
                    if does.key_kind == ItemKey.IN_SLOT and ("slot", does.key) in walk.stored:
                        does = does._replace(key_kind=ItemKey.NONE)
                    acts.append(does)
                    does = ACTS + len(acts) - 1
                else:
                    does = Change.ANYTHING
            unit = begins[number]
            then[unit : begins[number + 1]] = [following] * (begins[number + 1] - unit)
            effect[unit] = does
            if does:
                following = unit
    stored_by_unit = [(stored.get(line, 0) | stored.get(0, 0)) & (1 << 64) - 1 for line in lines]
    return Effects(effect, then, stored_by_unit, acts)
