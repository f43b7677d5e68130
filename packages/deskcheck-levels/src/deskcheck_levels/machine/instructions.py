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

    def act(m: "Machine", f: Frame, i: dis.Instruction) -> None:
        f.stack.append(compute(m, i, *_popped(f, count)))

    return act


def _goto(m: "Machine", f: Frame) -> None:
    target = f.body.targets[f.previous]
    if target < f.place:
        m.count_round()
    f.place = target


# ---- the stack ----


@_named("RESUME", "PRECALL", "NOP", "MAKE_CELL_DONE", "NOT_TAKEN", "COPY_FREE_VARS")
def _nothing(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    pass  # free variables are in the frame since it was made


@_named("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_CLOSURE_VALUE")
def _load(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    _push_local(f, i.argval)


def _push_local(f: Frame, name: str) -> None:
    if name in f.names:
        f.stack.append(f.names[name])
    elif name in f.cells:
        f.stack.append(f.cells[name])
    else:
        raise _unbound(f, name)


@_named("STORE_FAST")
def _store(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    _set_local(f, i.argval)


def _set_local(f: Frame, name: str) -> None:
    value = f.stack.pop()
    if value is NULL or isinstance(value, Cell):  # what a comprehension has put aside
        f.names.pop(name, None)
        f.cells.pop(name, None)
    if isinstance(value, Cell):
        f.cells[name] = value
    elif value is not NULL:
        f.names[name] = value


@_named("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
def _load_two(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    for name in i.argval:
        _push_local(f, name)


@_named("STORE_FAST_LOAD_FAST")
def _store_load(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    _set_local(f, i.argval[0])
    _push_local(f, i.argval[1])


@_named("STORE_FAST_STORE_FAST")
def _store_two(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    for name in i.argval:
        _set_local(f, name)


@_named("DELETE_FAST")
def _delete(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    if i.argval not in f.names:
        _push_local(f, i.argval)
    del f.names[i.argval]


@_named("LOAD_FAST_AND_CLEAR")
def _load_and_clear(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.after_comprehension = True
    f.stack.append(f.cells.pop(i.argval) if i.argval in f.cells else f.names.pop(i.argval, NULL))


@_named("STORE_NAME", "STORE_GLOBAL")
def _store_name(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.globals[i.argval] = f.stack.pop()


@_named("LOAD_NAME", "LOAD_GLOBAL")
def _load_name(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    value = m.named(i.argval, f.globals)
    if i.opname == "LOAD_GLOBAL" and i.arg is not None and i.arg & 1:
        f.stack.extend((NULL, value) if VERSION < (3, 13) else (value, NULL))
    else:
        f.stack.append(value)


@_named("MAKE_CELL")
def _make_cell(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.cells[i.argval] = Cell(f.names.pop(i.argval, NULL))


@_named("LOAD_CLOSURE")
def _load_cell(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.stack.append(f.cells[i.argval])


@_named("LOAD_DEREF", "LOAD_CLASSDEREF")
def _load_deref(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    value = f.cells[i.argval].value
    if value is NULL:
        raise _unbound(f, i.argval)
    f.stack.append(value)


def _unbound(f: Frame, name: str) -> ProgramRaised:
    if name in f.function.code.co_freevars:
        return ProgramRaised(
            NameError(f"cannot access free variable {name!r} {_NO_VALUE} in enclosing scope")
        )
    return unbound(name)


def unbound(name: str) -> ProgramRaised:
    """A variable of a function is read before it has a value."""
    return ProgramRaised(UnboundLocalError(f"cannot access local variable {name!r} {_NO_VALUE}"))


_NO_VALUE = "where it is not associated with a value"


@_named("DELETE_DEREF")
def _delete_deref(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    cell = f.cells[i.argval]
    if cell.value is NULL:
        raise _unbound(f, i.argval)
    cell.value = NULL


@_named("STORE_DEREF")
def _store_deref(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.cells[i.argval].value = f.stack.pop()


@_named("POP_TOP", "END_FOR")
def _pop(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.stack.pop()


@_named("POP_ITER")
def _pop_iterator(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    _popped(f, 1 + UNDER_INDEX)


@_named("COPY")
def _copy(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.stack.append(f.stack[-(i.arg or 0)])


@_named("SWAP")
def _swap(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    n = i.arg or 0
    f.stack[-1], f.stack[-n] = f.stack[-n], f.stack[-1]


# ---- operators and choices ----


def _binary(m: "Machine", i: dis.Instruction, a: Any, b: Any) -> Any:
    op = i.argrepr
    if op == "[]":
        return m.item(a, b)
    inplace = op[-1] == "="
    return m.binary(op[:-1] if inplace else op, a, b, inplace=inplace)


def _contains(m: "Machine", i: dis.Instruction, a: Any, b: Any) -> bool:
    inside = m.contains(a, b)
    return m.arithmetic.choice("not", inside) if i.arg else inside


def _common_constant(m: "Machine", i: dis.Instruction) -> Any:
    value = vars(dis)["_common_constants"][i.arg or 0]
    return BUILTINS.get(value.__name__, value) if callable(value) else value


_CONVERSIONS = (None, "str", "repr", "ascii")
_COMPUTED: dict[str, tuple[int, Callable[..., Any]]] = {
    **dict.fromkeys(("LOAD_CONST", "LOAD_SMALL_INT"), (0, lambda m, i: i.argval)),
    "LOAD_COMMON_CONSTANT": (0, _common_constant),
    "LOAD_ASSERTION_ERROR": (0, lambda m, i: AssertionError),
    "PUSH_NULL": (0, lambda m, i: NULL),
    "BINARY_OP": (2, _binary),
    "COMPARE_OP": (2, lambda m, i, a, b: m.compare(i.argval, a, b)),
    "IS_OP": (2, lambda m, i, a, b: (a is b) != bool(i.arg)),
    "CONTAINS_OP": (2, _contains),
    "UNARY_NEGATIVE": (1, lambda m, i, a: m.negated(a)),
    "UNARY_POSITIVE": (1, lambda m, i, a: m.positive(a)),
    "UNARY_INVERT": (1, lambda m, i, a: m.inverted(a)),
    "UNARY_NOT": (1, lambda m, i, a: m.arithmetic.choice("not", m.truth(a))),
    "TO_BOOL": (1, lambda m, i, a: m.truth(a)),
    "BINARY_SUBSCR": (2, lambda m, i, owner, key: m.item(owner, key)),
    "BINARY_SLICE": (3, lambda m, i, owner, start, end: m.item(owner, slice(start, end))),
    "LIST_TO_TUPLE": (1, lambda m, i, items: tuple(items)),
    "CONVERT_VALUE": (1, lambda m, i, a: m.formatted(a, _CONVERSIONS[i.arg or 0], "")),
    "FORMAT_SIMPLE": (1, lambda m, i, a: m.formatted(a, None, "")),
    "FORMAT_WITH_SPEC": (2, lambda m, i, a, spec: m.formatted(a, None, spec)),
}
"""Instruction -> how many operands it takes from the stack, and what it puts there."""
INSTRUCTIONS |= {name: _computing(*computed) for name, computed in _COMPUTED.items()}

_BUILT: dict[str, Callable[["Machine", list[Any]], Any]] = {
    "BUILD_TUPLE": lambda m, items: tuple(items),
    "BUILD_LIST": lambda m, items: items,
    "BUILD_SET": lambda m, items: m.in_memory(lambda: set(items)),
    "BUILD_STRING": lambda m, items: "".join(items),
    "BUILD_SLICE": lambda m, items: slice(*items),
}
"""Instruction -> what it makes of as many values as it says."""


@_named(*_BUILT)
def _build(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.stack.append(_BUILT[i.opname](m, _popped(f, i.arg or 0)))


_TESTED = {"FALSE": "if", "TRUE": "unless", "NONE": "unless", "NOT_NONE": "if"}
"""Test of a jump -> the choice: it jumps if the answer is no."""


@_named(*(f"POP_JUMP_{way}IF_{test}" for test in _TESTED for way in ("", "FORWARD_", "BACKWARD_")))
def _jump_if(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    test = i.opname.partition("IF_")[2]
    value = f.stack.pop()
    value = value is None if test.endswith("NONE") else m.truth(value)
    if not m.arithmetic.choice(_TESTED[test], value):
        _goto(m, f)


@_named("JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP")
def _jump_or_pop(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    choice = "if" if i.opname == "JUMP_IF_FALSE_OR_POP" else "unless"
    if not m.arithmetic.choice(choice, m.truth(f.stack[-1])):
        _goto(m, f)
    else:
        f.stack.pop()


@_named("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def _jump(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    _goto(m, f)


# ---- iteration ----


UNDER_INDEX = int(VERSION >= (3, 15))
"""Places of the stack above an iterator that belong to it: one for an index, which is not used here."""
_FOR_YIELD_FROM = 3
"""What GET_ITER has as its argument in a `yield from`, from 3.15 on."""


@_named("GET_ITER")
def _iter(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    if i.arg == _FOR_YIELD_FROM:
        _yield_from(m, f, i)
    else:
        f.stack[-1] = m.iterated(f.stack[-1])
    f.stack += [NULL] * UNDER_INDEX


@_named("FOR_ITER")
def _for_iter(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    try:
        value = m.in_memory(lambda: next(f.stack[-1 - UNDER_INDEX], NULL))
    except StopIteration:
        value = NULL
    if value is not NULL:
        f.stack.append(value)
        return
    _goto(m, f)
    if VERSION >= (3, 14):  # past END_FOR, to the POP_ITER behind it
        f.place += 1
        return
    f.stack.pop()
    if VERSION >= (3, 12):  # past END_FOR, on 3.13 past the POP_TOP behind it, too
        f.place += 1 if VERSION < (3, 13) else 2


@_named("GET_YIELD_FROM_ITER")
def _yield_from(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    if not isinstance(f.stack[-1], Generator):
        f.stack[-1] = m.iterated(f.stack[-1])


@_named("SEND")
def _send(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    sent = f.stack.pop()
    source = f.stack[-1 - UNDER_INDEX]
    try:
        if sent is not None and not isinstance(source, Generator):
            raise OutsideLanguage("send to what is no generator of the program")
        value = m.in_memory(lambda: next(source) if sent is None else source.send(sent))
    except StopIteration as ended:
        value = ended.value
        if VERSION < (3, 12):
            f.stack.pop()
        _goto(m, f)
    f.stack.append(value)


@_named("END_SEND")
def _end_send(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    del f.stack[-2 - UNDER_INDEX : -1]


@_named("UNPACK_SEQUENCE")
def _unpack(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.stack.extend(reversed(m.unpacked(f.stack.pop(), i.arg or 0)))


@_named("UNPACK_EX")
def _unpack_rest(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    before, after = (i.arg or 0) & 0xFF, (i.arg or 0) >> 8
    items = m.items_to_unpack(f.stack.pop())
    if len(items) < before + after:
        raise ProgramRaised(
            ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
        )
    end = len(items) - after
    f.stack.extend(reversed([*items[:before], items[before:end], *items[end:]]))


# ---- memory ----


@_named("BUILD_MAP")
def _map(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    items = _popped(f, 2 * (i.arg or 0))
    f.stack.append(m.in_memory(lambda: dict(zip(items[::2], items[1::2], strict=True))))


@_named("BUILD_CONST_KEY_MAP")
def _const_map(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    keys = f.stack.pop()
    f.stack.append(dict(zip(keys, _popped(f, i.arg or 0), strict=True)))


def _popped(f: Frame, count: int) -> list[Any]:
    values = f.stack[len(f.stack) - count :]
    del f.stack[len(f.stack) - count :]
    return values


_ADDED: dict[str, tuple[int, Callable[..., Any]]] = {
    "LIST_APPEND": (1, list.append),
    "SET_ADD": (1, set.add),
    "MAP_ADD": (2, dict.__setitem__),
}
"""Instruction -> how many values it takes, and what adds them to a collection further down on the stack."""


@_named(*_ADDED)
def _add(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    count, add = _ADDED[i.opname]
    values = _popped(f, count)
    m.in_memory(lambda: add(f.stack[-(i.arg or 0)], *values))


@_named("LIST_EXTEND")
def _extend(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    items = f.stack.pop()
    if not hasattr(kind_of(items), "__iter__"):
        raise ProgramRaised(TypeError(f"Value after * must be an iterable, not {kind_of(items).__name__}"))
    m.in_memory(lambda: f.stack[-(i.arg or 0)].extend(m.iterated(items)))


@_named("SET_UPDATE")
def _set_update(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    items = f.stack.pop()
    if not isinstance(items, (set, frozenset, dict)):
        items = m.iterated(items)
    m.in_memory(lambda: f.stack[-(i.arg or 0)].update(items))


@_named("DICT_UPDATE", "DICT_MERGE")
def _dict_update(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    items = f.stack.pop()
    if not isinstance(items, dict):
        raise OutsideLanguage("what is no dictionary behind **")
    before = f.stack[-(i.arg or 0)]
    if i.opname == "DICT_MERGE" and not all(isinstance(key, str) and key not in before for key in items):
        raise OutsideLanguage("a name behind ** that is no text, or stands there twice")
    before.update(items)


_STORED: dict[str, tuple[int, Callable[..., None]]] = {
    "STORE_SUBSCR": (3, lambda m, value, owner, key: m.store_item(owner, key, value)),
    "STORE_SLICE": (4, lambda m, value, owner, start, end: m.store_item(owner, slice(start, end), value)),
    "DELETE_SUBSCR": (2, lambda m, owner, key: m.in_memory(lambda: operator.delitem(owner, key))),
}
"""Instruction -> how many operands it takes, and what it does with them."""


@_named(*_STORED)
def _store_item(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    count, store = _STORED[i.opname]
    store(m, *_popped(f, count))


@_named("FORMAT_VALUE")
def _format(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    arg = i.arg or 0
    spec = f.stack.pop() if arg & 4 else ""
    f.stack.append(m.formatted(f.stack.pop(), _CONVERSIONS[arg & 3], spec))


# ---- calls ----


@_named("LOAD_METHOD", "LOAD_ATTR")
def _attribute(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    value = m.attribute(f.stack.pop(), i.argval)
    if i.opname == "LOAD_METHOD" or (VERSION >= (3, 12) and i.arg is not None and i.arg & 1):
        f.stack.extend((NULL, value) if VERSION < (3, 13) else (value, NULL))
    else:
        f.stack.append(value)


@_named("KW_NAMES")
def _keywords(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    f.keywords = f.function.code.co_consts[i.arg or 0]


@_named("CALL", "CALL_KW")
def _call(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    names = f.stack.pop() if i.opname == "CALL_KW" else f.keywords
    f.keywords = ()
    args = _popped(f, i.arg or 0)
    first, second = _popped(f, 2)
    keywords = dict(zip(names, args[len(args) - len(names) :], strict=True)) if names else None
    if first is not NULL and second is not NULL:  # a comprehension of 3.11, called with its iterator
        function, args = first, [second, *args]
    else:
        function = second if first is NULL else first
    f.stack.append(m.call(function, args[: len(args) - len(names)] if names else args, keywords))
    _returned_from(f, function)


def _returned_from(f: Frame, function: Any) -> None:
    if VERSION == (3, 12) and isinstance(function, Function) and not function.code.co_flags & GENERATOR:
        f.previous = CALLED


@_named("CALL_FUNCTION_EX")
def _call_spread(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    keywords: Any = f.stack.pop() if VERSION >= (3, 14) or (i.arg or 0) & 1 else NULL
    args = f.stack.pop()
    first, second = _popped(f, 2)
    if not hasattr(kind_of(args), "__iter__"):
        raise OutsideLanguage(f"a value of the kind {kind_of(args).__name__} behind *")
    arguments = m.in_memory(lambda: list(m.iterated(args)))
    function = second if first is NULL else first
    f.stack.append(m.call(function, arguments, None if keywords is NULL else keywords))


@_named("MAKE_FUNCTION")
def _function(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    code = f.stack.pop()
    # A comprehension, which 3.11 makes a function of and later versions do not.
    inlined = code.co_name in COMPREHENSIONS
    function = Function(code, f.globals, quiet=code.co_filename == "<call>", inlined=inlined)
    flags = (i.arg or 0) if VERSION < (3, 13) else 0
    for flag in (8, 4, 2, 1):
        if flags & flag:
            _attach(function, flag, f.stack.pop())
    f.stack.append(function)


@_named("SET_FUNCTION_ATTRIBUTE")
def _function_attribute(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    function = f.stack.pop()
    _attach(function, i.arg or 0, f.stack.pop())
    f.stack.append(function)


def _attach(function: Function, flag: int, value: Any) -> None:
    if flag == 1:
        function.defaults = value
    elif flag == 2:
        function.keywords = value
    elif flag == 8:
        function.cells = value


@_named("CALL_INTRINSIC_1")
def _intrinsic(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    if i.argrepr == "INTRINSIC_LIST_TO_TUPLE" or i.arg == 6:
        f.stack[-1] = tuple(f.stack[-1])
    elif i.arg == 5:  # unary +
        f.stack[-1] = m.positive(f.stack[-1])
    elif i.arg == 3:  # StopIteration in a generator is a RuntimeError: `Generator` makes it one
        pass
    else:
        raise OutsideLanguage(f"the instruction CALL_INTRINSIC_1 {i.arg}")


# ---- exceptions ----


@_named("RAISE_VARARGS")
def _raise(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    args = _popped(f, i.arg or 0)
    if not args:
        if not m.handling:
            raise ProgramRaised(RuntimeError("No active exception to reraise"))
        raise ProgramRaised(m.handling[-1])
    error, *cause = [m.call(argument, []) if isinstance(argument, type) else argument for argument in args]
    if not isinstance(error, BaseException):
        error = TypeError("exceptions must derive from BaseException")
    elif cause and cause[0] is not None and not isinstance(cause[0], BaseException):
        error = TypeError("exception causes must derive from BaseException")
    raise ProgramRaised(error)


@_named("PUSH_EXC_INFO")
def _push_exception(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    error = f.stack.pop()
    f.stack.extend((len(m.handling), error))
    m.handling.append(error)


@_named("POP_EXCEPT")
def _pop_exception(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    del m.handling[f.stack.pop() :]


@_named("CHECK_EXC_MATCH")
def _match_exception(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    kinds = f.stack.pop()
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(isinstance(kind, type) for kind in several):
        message = "catching classes that do not inherit from BaseException is not allowed"
        raise ProgramRaised(TypeError(message))
    f.stack.append(isinstance(f.stack[-1], several))


@_named("RERAISE")
def _reraise(m: "Machine", f: Frame, i: dis.Instruction) -> None:
    raise ProgramRaised(f.stack.pop())
