"""What each instruction of CPython 3.11 to 3.15 does to a frame, by its name in `dis`."""

import dis
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from deskcheck_levels.machine.attributes import kind_of
from deskcheck_levels.machine.builtins import BUILTINS
from deskcheck_levels.machine.frames import (
    CALLED,
    COMPREHENSIONS,
    GENERATOR,
    NULL,
    VERSION,
    Cell,
    Frame,
    Function,
    OutsideLanguage,
    ProgramRaised,
)
from deskcheck_levels.machine.iterators import Generator

if TYPE_CHECKING:
    from deskcheck_levels.machine.machine import Machine

Act: TypeAlias = "Callable[[Machine, Frame, dis.Instruction], None]"
INSTRUCTIONS: dict[str, Act] = {}


def _named(*names: str) -> Callable[[Act], Act]:
    """Makes a function the act of instructions."""

    def keep(act: Act) -> Act:
        INSTRUCTIONS.update(dict.fromkeys(names, act))
        return act

    return keep


def _computing(count: int, compute: Callable[..., Any]) -> Act:
    """The act that replaces `count` operands by `compute(machine, instruction, *operands)`."""

    def act(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
        frame.stack.append(compute(machine, instruction, *_popped(frame, count)))

    return act


def _goto(machine: "Machine", frame: Frame) -> None:
    target = frame.body.targets[frame.previous]
    if target < frame.place:
        machine.count_round()
    frame.place = target


# ---- the stack ----


@_named("RESUME", "PRECALL", "NOP", "MAKE_CELL_DONE", "NOT_TAKEN", "COPY_FREE_VARS")
def _nothing(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    pass  # free variables are in the frame since it was made


@_named("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_CLOSURE_VALUE")
def _load(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    _push_local(frame, instruction.argval)


def _push_local(frame: Frame, name: str) -> None:
    if name in frame.names:
        frame.stack.append(frame.names[name])
    elif name in frame.cells:
        frame.stack.append(frame.cells[name])
    else:
        raise _unbound(frame, name)


@_named("STORE_FAST")
def _store(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    _set_local(frame, instruction.argval)


def _set_local(frame: Frame, name: str) -> None:
    value = frame.stack.pop()
    if value is NULL or isinstance(value, Cell):  # what a comprehension has put aside
        frame.names.pop(name, None)
        frame.cells.pop(name, None)
    if isinstance(value, Cell):
        frame.cells[name] = value
    elif value is not NULL:
        frame.names[name] = value


@_named("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
def _load_two(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    for name in instruction.argval:
        _push_local(frame, name)


@_named("STORE_FAST_LOAD_FAST")
def _store_load(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    _set_local(frame, instruction.argval[0])
    _push_local(frame, instruction.argval[1])


@_named("STORE_FAST_STORE_FAST")
def _store_two(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    for name in instruction.argval:
        _set_local(frame, name)


@_named("DELETE_FAST")
def _delete(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    if instruction.argval not in frame.names:
        _push_local(frame, instruction.argval)
    del frame.names[instruction.argval]


@_named("LOAD_FAST_AND_CLEAR")
def _load_and_clear(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.after_comprehension = True
    frame.stack.append(
        frame.cells.pop(instruction.argval)
        if instruction.argval in frame.cells
        else frame.names.pop(instruction.argval, NULL)
    )


@_named("STORE_NAME", "STORE_GLOBAL")
def _store_name(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.globals[instruction.argval] = frame.stack.pop()


@_named("LOAD_NAME", "LOAD_GLOBAL")
def _load_name(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    value = machine.named(instruction.argval, frame.globals)
    if instruction.opname == "LOAD_GLOBAL" and instruction.arg is not None and instruction.arg & 1:
        frame.stack.extend((NULL, value) if VERSION < (3, 13) else (value, NULL))
    else:
        frame.stack.append(value)


@_named("MAKE_CELL")
def _make_cell(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.cells[instruction.argval] = Cell(frame.names.pop(instruction.argval, NULL))


@_named("LOAD_CLOSURE")
def _load_cell(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.stack.append(frame.cells[instruction.argval])


@_named("LOAD_DEREF", "LOAD_CLASSDEREF")
def _load_deref(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    value = frame.cells[instruction.argval].value
    if value is NULL:
        raise _unbound(frame, instruction.argval)
    frame.stack.append(value)


def _unbound(frame: Frame, name: str) -> ProgramRaised:
    if name in frame.function.code.co_freevars:
        return ProgramRaised(
            NameError(f"cannot access free variable {name!r} {_NO_VALUE} in enclosing scope")
        )
    return unbound(name)


def unbound(name: str) -> ProgramRaised:
    """A variable of a function is read before it has a value."""
    return ProgramRaised(UnboundLocalError(f"cannot access local variable {name!r} {_NO_VALUE}"))


_NO_VALUE = "where it is not associated with a value"


@_named("DELETE_DEREF")
def _delete_deref(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    cell = frame.cells[instruction.argval]
    if cell.value is NULL:
        raise _unbound(frame, instruction.argval)
    cell.value = NULL


@_named("STORE_DEREF")
def _store_deref(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.cells[instruction.argval].value = frame.stack.pop()


@_named("POP_TOP", "END_FOR")
def _pop(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.stack.pop()


@_named("POP_ITER")
def _pop_iterator(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    _popped(frame, 1 + UNDER_INDEX)


@_named("COPY")
def _copy(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.stack.append(frame.stack[-(instruction.arg or 0)])


@_named("SWAP")
def _swap(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    n = instruction.arg or 0
    frame.stack[-1], frame.stack[-n] = frame.stack[-n], frame.stack[-1]


# ---- operators and choices ----


def _binary(machine: "Machine", instruction: dis.Instruction, a: Any, b: Any) -> Any:
    op = instruction.argrepr
    if op == "[]":
        return machine.item(a, b)
    inplace = op[-1] == "="
    return machine.binary(op[:-1] if inplace else op, a, b, inplace=inplace)


def _contains(machine: "Machine", instruction: dis.Instruction, a: Any, b: Any) -> bool:
    inside = machine.contains(a, b)
    return machine.arithmetic.choice("not", inside) if instruction.arg else inside


def _common_constant(machine: "Machine", instruction: dis.Instruction) -> Any:
    value = vars(dis)["_common_constants"][instruction.arg or 0]
    return BUILTINS.get(value.__name__, value) if callable(value) else value


_CONVERSIONS = (None, "str", "repr", "ascii")
_COMPUTED: dict[str, tuple[int, Callable[..., Any]]] = {
    **dict.fromkeys(("LOAD_CONST", "LOAD_SMALL_INT"), (0, lambda machine, instruction: instruction.argval)),
    "LOAD_COMMON_CONSTANT": (0, _common_constant),
    "LOAD_ASSERTION_ERROR": (0, lambda machine, instruction: AssertionError),
    "PUSH_NULL": (0, lambda machine, instruction: NULL),
    "BINARY_OP": (2, _binary),
    "COMPARE_OP": (2, lambda machine, instruction, a, b: machine.compare(instruction.argval, a, b)),
    "IS_OP": (2, lambda machine, instruction, a, b: (a is b) != bool(instruction.arg)),
    "CONTAINS_OP": (2, _contains),
    "UNARY_NEGATIVE": (1, lambda machine, instruction, a: machine.negated(a)),
    "UNARY_POSITIVE": (1, lambda machine, instruction, a: machine.positive(a)),
    "UNARY_INVERT": (1, lambda machine, instruction, a: machine.inverted(a)),
    "UNARY_NOT": (1, lambda machine, instruction, a: machine.arithmetic.choice("not", machine.truth(a))),
    "TO_BOOL": (1, lambda machine, instruction, a: machine.truth(a)),
    "BINARY_SUBSCR": (2, lambda machine, instruction, owner, key: machine.item(owner, key)),
    "BINARY_SLICE": (
        3,
        lambda machine, instruction, owner, start, end: machine.item(owner, slice(start, end)),
    ),
    "LIST_TO_TUPLE": (1, lambda machine, instruction, items: tuple(items)),
    "CONVERT_VALUE": (
        1,
        lambda machine, instruction, a: machine.formatted(a, _CONVERSIONS[instruction.arg or 0], ""),
    ),
    "FORMAT_SIMPLE": (1, lambda machine, instruction, a: machine.formatted(a, None, "")),
    "FORMAT_WITH_SPEC": (2, lambda machine, instruction, a, spec: machine.formatted(a, None, spec)),
}
"""Instruction -> how many operands it takes from the stack, and what it puts there."""
INSTRUCTIONS |= {name: _computing(*computed) for name, computed in _COMPUTED.items()}

_BUILT: dict[str, Callable[["Machine", list[Any]], Any]] = {
    "BUILD_TUPLE": lambda machine, items: tuple(items),
    "BUILD_LIST": lambda machine, items: items,
    "BUILD_SET": lambda machine, items: machine.in_memory(lambda: set(items)),
    "BUILD_STRING": lambda machine, items: "".join(items),
    "BUILD_SLICE": lambda machine, items: slice(*items),
}
"""Instruction -> what it makes of as many values as it says."""


@_named(*_BUILT)
def _build(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.stack.append(_BUILT[instruction.opname](machine, _popped(frame, instruction.arg or 0)))


_TESTED = {"FALSE": "if", "TRUE": "unless", "NONE": "unless", "NOT_NONE": "if"}
"""Test of a jump -> the choice: it jumps if the answer is no."""


@_named(*(f"POP_JUMP_{way}IF_{test}" for test in _TESTED for way in ("", "FORWARD_", "BACKWARD_")))
def _jump_if(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    test = instruction.opname.partition("IF_")[2]
    value = frame.stack.pop()
    value = value is None if test.endswith("NONE") else machine.truth(value)
    if not machine.arithmetic.choice(_TESTED[test], value):
        _goto(machine, frame)


@_named("JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP")
def _jump_or_pop(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    choice = "if" if instruction.opname == "JUMP_IF_FALSE_OR_POP" else "unless"
    if not machine.arithmetic.choice(choice, machine.truth(frame.stack[-1])):
        _goto(machine, frame)
    else:
        frame.stack.pop()


@_named("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def _jump(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    _goto(machine, frame)


# ---- iteration ----


UNDER_INDEX = int(VERSION >= (3, 15))
"""Places of the stack above an iterator that belong to it: one for an index, which is not used here."""
_FOR_YIELD_FROM = 3
"""What GET_ITER has as its argument in a `yield from`, from 3.15 on."""


@_named("GET_ITER")
def _iter(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    if instruction.arg == _FOR_YIELD_FROM:
        _yield_from(machine, frame, instruction)
    else:
        frame.stack[-1] = machine.iterated(frame.stack[-1])
    frame.stack += [NULL] * UNDER_INDEX


@_named("FOR_ITER")
def _for_iter(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    try:
        value = machine.in_memory(lambda: next(frame.stack[-1 - UNDER_INDEX], NULL))
    except StopIteration:
        value = NULL
    if value is not NULL:
        frame.stack.append(value)
        return
    _goto(machine, frame)
    if VERSION >= (3, 14):  # past END_FOR, to the POP_ITER behind it
        frame.place += 1
        return
    frame.stack.pop()
    if VERSION >= (3, 12):  # past END_FOR, on 3.13 past the POP_TOP behind it, too
        frame.place += 1 if VERSION < (3, 13) else 2


@_named("GET_YIELD_FROM_ITER")
def _yield_from(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    if not isinstance(frame.stack[-1], Generator):
        frame.stack[-1] = machine.iterated(frame.stack[-1])


@_named("SEND")
def _send(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    sent = frame.stack.pop()
    source = frame.stack[-1 - UNDER_INDEX]
    try:
        if sent is not None and not isinstance(source, Generator):
            raise OutsideLanguage("send to something other than a generator of the program")
        value = machine.in_memory(lambda: next(source) if sent is None else source.send(sent))
    except StopIteration as ended:
        value = ended.value
        if VERSION < (3, 12):
            frame.stack.pop()
        _goto(machine, frame)
    frame.stack.append(value)


@_named("END_SEND")
def _end_send(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    del frame.stack[-2 - UNDER_INDEX : -1]


@_named("UNPACK_SEQUENCE")
def _unpack(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.stack.extend(reversed(machine.unpacked(frame.stack.pop(), instruction.arg or 0)))


@_named("UNPACK_EX")
def _unpack_rest(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    before, after = (instruction.arg or 0) & 0xFF, (instruction.arg or 0) >> 8
    items = machine.items_to_unpack(frame.stack.pop())
    if len(items) < before + after:
        raise ProgramRaised(
            ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
        )
    end = len(items) - after
    frame.stack.extend(reversed([*items[:before], items[before:end], *items[end:]]))


# ---- memory ----


@_named("BUILD_MAP")
def _map(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    items = _popped(frame, 2 * (instruction.arg or 0))
    frame.stack.append(machine.in_memory(lambda: dict(zip(items[::2], items[1::2], strict=True))))


@_named("BUILD_CONST_KEY_MAP")
def _const_map(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    keys = frame.stack.pop()
    frame.stack.append(dict(zip(keys, _popped(frame, instruction.arg or 0), strict=True)))


def _popped(frame: Frame, count: int) -> list[Any]:
    values = frame.stack[len(frame.stack) - count :]
    del frame.stack[len(frame.stack) - count :]
    return values


_ADDED: dict[str, tuple[int, Callable[..., Any]]] = {
    "LIST_APPEND": (1, list.append),
    "SET_ADD": (1, set.add),
    "MAP_ADD": (2, dict.__setitem__),
}
"""Instruction -> how many values it takes, and what adds them to a collection further down on the stack."""


@_named(*_ADDED)
def _add(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    count, add = _ADDED[instruction.opname]
    values = _popped(frame, count)
    machine.in_memory(lambda: add(frame.stack[-(instruction.arg or 0)], *values))


@_named("LIST_EXTEND")
def _extend(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    items = frame.stack.pop()
    if not hasattr(kind_of(items), "__iter__"):
        raise ProgramRaised(TypeError(f"Value after * must be an iterable, not {kind_of(items).__name__}"))
    machine.in_memory(lambda: frame.stack[-(instruction.arg or 0)].extend(machine.iterated(items)))


@_named("SET_UPDATE")
def _set_update(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    items = frame.stack.pop()
    if not isinstance(items, (set, frozenset, dict)):
        items = machine.iterated(items)
    machine.in_memory(lambda: frame.stack[-(instruction.arg or 0)].update(items))


@_named("DICT_UPDATE", "DICT_MERGE")
def _dict_update(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    items = frame.stack.pop()
    if not isinstance(items, dict):
        raise OutsideLanguage("something other than a dictionary after **")
    before = frame.stack[-(instruction.arg or 0)]
    if instruction.opname == "DICT_MERGE" and not all(
        isinstance(key, str) and key not in before for key in items
    ):
        raise OutsideLanguage("a name after ** that is not text, or occurs twice")
    before.update(items)


_STORED: dict[str, tuple[int, Callable[..., None]]] = {
    "STORE_SUBSCR": (3, lambda machine, value, owner, key: machine.store_item(owner, key, value)),
    "STORE_SLICE": (
        4,
        lambda machine, value, owner, start, end: machine.store_item(owner, slice(start, end), value),
    ),
    "DELETE_SUBSCR": (2, lambda machine, owner, key: machine.in_memory(lambda: operator.delitem(owner, key))),
}
"""Instruction -> how many operands it takes, and what it does with them."""


@_named(*_STORED)
def _store_item(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    count, store = _STORED[instruction.opname]
    store(machine, *_popped(frame, count))


@_named("FORMAT_VALUE")
def _format(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    arg = instruction.arg or 0
    spec = frame.stack.pop() if arg & 4 else ""
    frame.stack.append(machine.formatted(frame.stack.pop(), _CONVERSIONS[arg & 3], spec))


# ---- calls ----


@_named("LOAD_METHOD", "LOAD_ATTR")
def _attribute(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    value = machine.attribute(frame.stack.pop(), instruction.argval)
    if instruction.opname == "LOAD_METHOD" or (
        VERSION >= (3, 12) and instruction.arg is not None and instruction.arg & 1
    ):
        frame.stack.extend((NULL, value) if VERSION < (3, 13) else (value, NULL))
    else:
        frame.stack.append(value)


@_named("KW_NAMES")
def _keywords(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    frame.keywords = frame.function.code.co_consts[instruction.arg or 0]


@_named("CALL", "CALL_KW")
def _call(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    names = frame.stack.pop() if instruction.opname == "CALL_KW" else frame.keywords
    frame.keywords = ()
    args = _popped(frame, instruction.arg or 0)
    first, second = _popped(frame, 2)
    keywords = dict(zip(names, args[len(args) - len(names) :], strict=True)) if names else None
    if first is not NULL and second is not NULL:  # a comprehension of 3.11, called with its iterator
        function, args = first, [second, *args]
    else:
        function = second if first is NULL else first
    frame.stack.append(machine.call(function, args[: len(args) - len(names)] if names else args, keywords))
    _returned_from(frame, function)


def _returned_from(frame: Frame, function: Any) -> None:
    if VERSION == (3, 12) and isinstance(function, Function) and not function.code.co_flags & GENERATOR:
        frame.previous = CALLED


@_named("CALL_FUNCTION_EX")
def _call_spread(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    keywords: Any = frame.stack.pop() if VERSION >= (3, 14) or (instruction.arg or 0) & 1 else NULL
    args = frame.stack.pop()
    first, second = _popped(frame, 2)
    if not hasattr(kind_of(args), "__iter__"):
        raise OutsideLanguage(f"a value of the kind {kind_of(args).__name__} after *")
    arguments = machine.in_memory(lambda: list(machine.iterated(args)))
    function = second if first is NULL else first
    frame.stack.append(machine.call(function, arguments, None if keywords is NULL else keywords))


@_named("MAKE_FUNCTION")
def _function(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    code = frame.stack.pop()
    # A comprehension, which 3.11 makes a function of and later versions do not.
    inlined = code.co_name in COMPREHENSIONS
    function = Function(code, frame.globals, quiet=code.co_filename == "<call>", inlined=inlined)
    flags = (instruction.arg or 0) if VERSION < (3, 13) else 0
    for flag in (8, 4, 2, 1):
        if flags & flag:
            _attach(function, flag, frame.stack.pop())
    frame.stack.append(function)


@_named("SET_FUNCTION_ATTRIBUTE")
def _function_attribute(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    function = frame.stack.pop()
    _attach(function, instruction.arg or 0, frame.stack.pop())
    frame.stack.append(function)


def _attach(function: Function, flag: int, value: Any) -> None:
    if flag == 1:
        function.defaults = value
    elif flag == 2:
        function.keywords = value
    elif flag == 8:
        function.cells = value


@_named("CALL_INTRINSIC_1")
def _intrinsic(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    if instruction.argrepr == "INTRINSIC_LIST_TO_TUPLE" or instruction.arg == 6:
        frame.stack[-1] = tuple(frame.stack[-1])
    elif instruction.arg == 5:  # unary +
        frame.stack[-1] = machine.positive(frame.stack[-1])
    elif instruction.arg == 3:  # StopIteration in a generator is a RuntimeError: `Generator` makes it one
        pass
    else:
        raise OutsideLanguage(f"the instruction CALL_INTRINSIC_1 {instruction.arg}")


# ---- exceptions ----


@_named("RAISE_VARARGS")
def _raise(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    args = _popped(frame, instruction.arg or 0)
    if not args:
        if not machine.handling:
            raise ProgramRaised(RuntimeError("No active exception to reraise"))
        raise ProgramRaised(machine.handling[-1])
    error, *cause = [
        machine.call(argument, []) if isinstance(argument, type) else argument for argument in args
    ]
    if not isinstance(error, BaseException):
        error = TypeError("exceptions must derive from BaseException")
    elif cause and cause[0] is not None and not isinstance(cause[0], BaseException):
        error = TypeError("exception causes must derive from BaseException")
    raise ProgramRaised(error)


@_named("PUSH_EXC_INFO")
def _push_exception(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    error = frame.stack.pop()
    frame.stack.extend((len(machine.handling), error))
    machine.handling.append(error)


@_named("POP_EXCEPT")
def _pop_exception(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    del machine.handling[frame.stack.pop() :]


@_named("CHECK_EXC_MATCH")
def _match_exception(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    kinds = frame.stack.pop()
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(isinstance(kind, type) for kind in several):
        message = "catching classes that do not inherit from BaseException is not allowed"
        raise ProgramRaised(TypeError(message))
    frame.stack.append(isinstance(frame.stack[-1], several))


@_named("RERAISE")
def _reraise(machine: "Machine", frame: Frame, instruction: dis.Instruction) -> None:
    raise ProgramRaised(frame.stack.pop())
