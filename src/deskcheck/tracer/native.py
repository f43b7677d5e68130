"""The native tracer: records the same traces as `reference.py`, but much faster.

Its core is in C (`c/`). This module has the rare cases, and the facts that are computed once for a code
object or a type. Importing it raises ImportError if the core was not built.
"""

import builtins
import opcode
import sys
import types
import weakref
from collections.abc import Iterable, Mapping
from enum import IntEnum
from types import CodeType, FrameType
from typing import Any

from deskcheck.tracer._native import Core, setup
from deskcheck.tracer.base import (
    C_NAMES,
    HIDDEN_GLOBALS,
    KEEPS_ROOTS,
    OPERAND_TYPES,
    FrameCallback,
    Guest,
    Local,
    c_name,
)
from deskcheck.tracer.contents import arrays, iterators
from deskcheck.tracer.contents.c_state import FILES, POINTERS, is_zone_info
from deskcheck.tracer.contents.introspection import bases_of, ids, inherits, made_by_code, module_of, names_of
from deskcheck.tracer.frames import (
    CO_OPTIMIZED,
    IMPLICIT_NAMES,
    METHOD,
    VALUE,
    CodeFacts,
    facts,
    place_text,
    raises_handled,
    slots_left,
)
from deskcheck.tracer.instructions import ASKS_NEXT, GOES_ON, LOOP_ENDS, RETURNS, YIELDS
from deskcheck.tracer.limits import Granularity, TraceLimits
from deskcheck.tracer.mutation_effects import CALLABLES, effects
from deskcheck.tracer.snapshot import (
    ATOMS,
    BASES,
    CONTENTS,
    DICT_DESCRIPTORS,
    PLAIN_CONTAINERS,
    TEXT_TYPES,
    Snapshotter,
    is_enum,
    is_path,
    is_record_tuple,
    qualified_name,
    reader_of,
)

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))


class _Initialised:
    """A class with an `__init__` in Python, which is called in the usual way."""

    def __init__(self) -> None: ...


setup(HIDDEN_GLOBALS, IMPLICIT_NAMES, OPERAND_TYPES, CALLABLES, _Initialised)

_BLOCK_BYTES = 1 << 16
_TOOL = 4
"""Our tool number in `sys.monitoring` (`OWN_TOOL` in deaths.h), which has no predefined meaning."""


class _Op(IntEnum):
    """Properties of instructions, as bits for the core (`OP_...` in c/state.h)."""

    RETURNS = 1
    NO_LINE = 2
    LOOP_ENDS = 4
    GOES_ON = 8
    ASKS_NEXT = 16
    STARTING = 32
    NO_INTERRUPT = 64
    RERAISE = 128
    CLEANUP_THROW = 256
    JUMPS_BACK = 512
    YIELD_POINT = 1024
    CALLS = 2048
    RAISES_AGAIN = 4096
    ASYNC_ENDS = 8192
    TOLD_AGAIN = 16384
    LINE_MISSED = 32768


class _Mode(IntEnum):
    """The way in which the core writes values of a type (`M_...` in c/heap.h)."""

    INLINE = 0
    CONTENT = 1
    INSTANCE = 2
    OPAQUE = 3
    EXCEPTION = 4
    POINTERS = 5
    ARRAY = 6


_OPS = {
    _Op.RETURNS: RETURNS,
    _Op.LOOP_ENDS: LOOP_ENDS,
    _Op.GOES_ON: GOES_ON,
    _Op.STARTING: {"COPY_FREE_VARS", "MAKE_CELL"},
    _Op.NO_INTERRUPT: {"JUMP_BACKWARD_NO_INTERRUPT"},
    _Op.CLEANUP_THROW: {"CLEANUP_THROW"},
    _Op.JUMPS_BACK: {"FOR_ITER", "JUMP_BACKWARD"},
    _Op.YIELD_POINT: YIELDS,
    _Op.CALLS: {"CALL", "CALL_KW"},
    _Op.ASYNC_ENDS: {"END_ASYNC_FOR"},
}
"""Bit -> names of the instructions that have it."""
_BITS = {name: sum(bit for bit, names in _OPS.items() if name in names) for name in opcode.opname}
_TAGS = {VALUE: 1, METHOD: 2}
"""Tags of stack slots for the core. Slots with other tags are not shown."""


def _left_by_line(about: CodeFacts, lines: list[int], slots_kept: list[int]) -> list[int]:
    """The number of slots of the value stack that do not change from a code unit to the end of its line.

    Instructions without a line may run in any line.
    """
    slots_by_unit = [0] * len(lines)
    lowest: dict[int, int] = {}
    every = (1 << 31) - 1  # a C int
    for instruction in reversed(about.instructions):
        unit = instruction.offset // 2
        tags = about.before.get(instruction.offset)
        if tags is None:
            continue
        slots = len(tags) - instruction.arg if instruction.name == "SWAP" else slots_kept[unit]
        line = lines[unit]
        lowest[line] = min(lowest.get(line, every), slots)
        back = instruction.target is not None and instruction.target <= instruction.offset
        if back and instruction.target is not None and lines[instruction.target // 2] == line:
            lowest[line] = 0
        slots_by_unit[unit] = lowest[line]
    owners = (about.owner[unit] // 2 for unit in range(len(lines)))
    return [min(slots_by_unit[owner], lowest.get(0, every)) for owner in owners]


def _place_texts(positions: Iterable[tuple[int | None, ...]]) -> list[str | None]:
    """The text of the position of each code unit, and None at the end."""
    texts: list[str | None] = []
    last, text = None, None
    for position in positions:
        if position != last:
            member = place_text(position)
            last, text = position, member and f",{member}"
        texts.append(text)
    return [*texts, None]


_code_facts: dict[int, dict[str, Any]] = {}
"""Address of a code object, which `facts` keeps alive -> its facts. A test suite has a tracer for each
call."""


def code_facts(code: CodeType) -> dict[str, Any]:
    """Facts about a code object for the core; lists are by code unit (two bytes)."""
    cached = _code_facts.get(id(code))
    if cached is None:
        cached = _code_facts[id(code)] = _new_code_facts(code)
    return cached


def _instruction_bits(about: CodeFacts, units: int) -> list[int]:
    """The properties of the instructions (`_Op`), by code unit."""
    bits = [0] * units
    for offset, name in about.opname.items():
        bits[offset // 2] = _BITS[name]
        if raises_handled(name, about.arg[offset]):
            bits[offset // 2] |= _Op.RERAISE
    asks_next = {offset for offset, instruction in about.folded.items() if instruction.name in ASKS_NEXT}
    for bit, offsets in (
        (_Op.ASKS_NEXT, asks_next),
        (_Op.RAISES_AGAIN, about.raises_again),
        (_Op.TOLD_AGAIN, about.reported_again),
        (_Op.LINE_MISSED, about.missed_lines),
        (_Op.NO_LINE, about.unwritten),
    ):
        for offset in offsets:
            bits[offset // 2] |= bit
    return bits


def _new_code_facts(code: CodeType) -> dict[str, Any]:
    about: CodeFacts = facts(code)
    units = len(code.co_code) // 2 + 1
    depth, tags, slots_kept, caught, operands, comprehension, lines = ([0] * units for _ in range(7))
    pool, places = bytearray(), {}
    for unit in range(units):
        offset = 2 * unit
        name = about.opname.get(offset)
        before = about.before.get(offset)
        depth[unit] = -1 if before is None else len(before)
        inside = about.comprehension_at(offset)
        comprehension[unit] = inside[2] if inside is not None else 0
        lines[unit] = about.positions[unit][0] or 0 if unit < len(about.positions) else 0
        if name is None:
            continue
        arg = about.arg[offset]
        if before is None:
            continue
        if before not in places:
            places[before] = len(pool)
            pool += bytes(_TAGS.get(tag, 0) for tag in before)
        tags[unit] = places[before]
        slots_kept[unit] = slots_left(name, arg, len(before))
        caught[unit] = about.left_by_exception(offset)
        if name in ("CALL", "PRECALL", "CALL_KW"):
            operands[unit] = arg + 2 + (name == "CALL_KW")
    names = about.names
    count = len(about.parameters)
    changes = effects(about, lines)
    return {
        "facts": about,
        "function": qualified_name(code.co_qualname),
        "optimized": bool(code.co_flags & CO_OPTIMIZED),
        "iterates": about.is_given_iterator,
        "is_module": code.co_name == "<module>",
        "is_comprehension": about.is_comprehension,
        "needs_opcodes": about.needs_opcodes,
        "is_lambda": code.co_name == "<lambda>",
        "is_del": code.co_name == "__del__",
        "keeps_roots": bool(code.co_flags & KEEPS_ROOTS),
        "first_line": about.first_line,
        "first_resume": about.first_resume,
        "nparams": count,
        "free_from": len(names) - len(code.co_freevars),
        "names": names,
        "hidden": [int(name.startswith(".") or name in IMPLICIT_NAMES) for name in names],
        "order": [*range(count), *sorted(range(count, len(names)), key=names.__getitem__)],
        "owner": about.owner,
        "op": _instruction_bits(about, units),
        "depth": depth,
        "tags": tags,
        "pool": bytes(pool),
        "kept": slots_kept,
        "caught": caught,
        "operands": operands,
        "left": _left_by_line(about, lines, slots_kept),
        "lines": lines,
        "effect": changes.effect,
        "then": changes.then,
        "stored": changes.stored,
        "acts": changes.acts,
        "awaits": max((o for o in range(0, 2 * units, 2) if about.awaits_iterable(o)), default=-1)
        if about.is_given_iterator
        else -2,
        "comprehension": comprehension,
        "guarded": [offset for covered in about.guarded for offset in covered],
        "at": _place_texts(about.positions),
    }


class _Fallback(Snapshotter):
    """The Python functions that the core calls, for rare values and contents, and for facts about types.

    The core encodes the values inside, so that there is one set of identity numbers.
    """

    def __init__(self, core: Core, limits: TraceLimits, modules: set[str], files: Mapping[str, str]) -> None:
        self._core = core
        super().__init__(limits, modules, core.frame_number)
        self.value = core.value  # type: ignore[method-assign, assignment]
        self.files = files
        self.qualified = qualified_name

    def is_recorded(self, code: CodeType) -> bool:
        file = self.files.get(code.co_filename)
        return file is not None and self.limits.chooses(file, qualified_name(code.co_qualname))

    def code_facts(self, code: CodeType) -> dict[str, Any] | None:
        """The facts of a code object; None for code of a recorded file that is not recorded itself."""
        return code_facts(code) if self.is_recorded(code) else None

    @property
    def _depth(self) -> int:
        return self._core.depth

    @_depth.setter
    def _depth(self, depth: int) -> None:
        self._core.depth = depth

    def inline(self, obj: Any) -> str | None:
        """Text of a value that is not an atom; None for a value with an identity."""
        return self._inline(type(obj), obj)

    def big(self, obj: Any) -> str:
        """Text of an atom that the core does not write itself."""
        return ATOMS[id(type(obj))](self, obj)

    def content(self, obj: Any) -> tuple[str, list[str] | None, dict[str, str], str]:
        content = self._content(obj)
        return content.head, content.items, content.fields, content.tail

    def place(self, obj: Any) -> tuple[int, float] | None:
        """Position of an iterator, if that distinguishes it from others."""
        return iterators.place_of(obj)

    def via(self, callable_: Any, address: int) -> str | None:
        """Name of the C function that is being called, given as an object or as an address."""
        return c_name(callable_) if address == 0 and callable_ is not None else C_NAMES.get(address)

    def type_facts(
        self, kind: type
    ) -> tuple[int, str | None, tuple[Any, ...], bool, frozenset[str], bool, bool]:
        """The encoding of the values of a type (`TypeInfo` in heap.h).

        It has the mode, the head, the slots, whether there is a dict, the hidden attributes, whether a
        position distinguishes two values, and whether an operator may run code without events.
        """
        bases = bases_of(kind)
        mode = self._mode(kind, bases)
        head: str | None = "iterator" if id(kind) in iterators.FIELDS else None
        slots: tuple[Any, ...] = ()
        has_dict, hidden, unseen = False, frozenset[str](), False
        if mode in (_Mode.EXCEPTION, _Mode.INSTANCE):
            slots, has_dict = self._layout(bases)
            unseen = self._runs_unseen(kind)
        if mode is _Mode.EXCEPTION:
            head = self._head("exception", kind)
        elif mode is _Mode.INSTANCE:
            head, hidden = self.object_head(kind), self.hidden_fields(bases)
        elif mode is _Mode.POINTERS:
            unseen = kind is weakref.ref  # which no event tells of
        elif mode is _Mode.OPAQUE:
            unseen = not _has_no_operators(kind, bases)
        return mode, head, slots, has_dict, hidden, id(kind) in iterators.PLACES, unseen

    def _mode(self, kind: type, bases: tuple[type, ...]) -> _Mode:
        if kind is types.FunctionType:
            return _Mode.INLINE  # a library's: the core knows the program's own
        if id(kind) in iterators.FIELDS or id(kind) in CONTENTS:
            return _Mode.CONTENT
        if _is_inline(kind, bases):
            return _Mode.INLINE
        if inherits(bases, BaseException):
            return _Mode.CONTENT if inherits(bases, OSError) else _Mode.EXCEPTION
        if arrays.is_array_like(bases):
            return _Mode.ARRAY if arrays.is_array(bases) and not made_by_code(kind) else _Mode.CONTENT
        if not self.shows(kind) or id(kind) in FILES:
            return _Mode.OPAQUE
        if id(kind) in POINTERS:
            return _Mode.POINTERS
        read_by_python = reader_of(kind) or any(map(is_path, bases)) or id(kind) in PLAIN_CONTAINERS
        if read_by_python or any(inherits(bases, base) for base, _ in BASES):
            return _Mode.CONTENT
        return _Mode.INSTANCE

    def _runs_unseen(self, kind: type) -> bool:
        for base in bases_of(kind):
            module = module_of(base)
            if module in _QUIET_MODULES:
                continue
            if not self.is_own(base):
                return True
            if any(self._is_unseen(base, name, value) for name, value in names_of(base).items()):
                return True
        return False

    def _is_unseen(self, cls: type, name: str, value: Any) -> bool:
        """Whether an operator or the reading of an attribute runs this member of a class without an event."""
        kind = type(value)
        if kind is types.FunctionType:
            is_operator = name.startswith("__") and name.endswith("__") and name not in _NO_OPERATORS
            return is_operator and not (self.is_recorded(value.__code__) or _is_quiet(cls, value))
        if kind is property:
            getter = value.fget
            plain = getter is None or type(getter) is types.FunctionType
            return not plain or (getter is not None and not self.is_recorded(getter.__code__))
        if id(kind) in _PLAIN_DESCRIPTORS:
            return False
        for base in bases_of(kind):
            if "__get__" in names_of(base):
                get = names_of(base)["__get__"]
                return not (type(get) is types.FunctionType and self.is_recorded(get.__code__))
        return False

    @staticmethod
    def _layout(bases: tuple[type, ...]) -> tuple[tuple[Any, ...], bool]:
        """The slots of a type's instances, and whether they have a dict."""
        slots, has_dict = [], False
        for base in bases:
            for name, descriptor in names_of(base).items():
                member = type(descriptor) is types.MemberDescriptorType
                if member and made_by_code(base):
                    slots.append((name, descriptor))
                elif name == "__dict__" and id(type(descriptor)) in DICT_DESCRIPTORS:
                    has_dict = True
        return tuple(slots), has_dict


_INLINE = TEXT_TYPES | ids(
    types.ModuleType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType
)


def _is_inline(kind: type, bases: tuple[type, ...]) -> bool:
    """Whether `Snapshotter` writes values of a type as text, if their text is complete."""
    return (
        id(kind) in _INLINE
        or inherits(bases, type)
        or is_enum(kind)
        or is_record_tuple(kind, bases)
        or arrays.is_scalar(kind)
        or is_zone_info(kind)
        or is_path(kind)
    )


_QUIET_MODULES = frozenset({"builtins", "abc", "typing", "fractions"})
"""Modules with classes whose operators change nothing."""
_NO_OPERATORS = frozenset(
    "__init__ __new__ __init_subclass__ __class_getitem__ __set_name__ __post_init__ __subclasshook__".split()
)
"""Methods that run only at a call of something unknown, which counts as any change, or with a new class."""
_PLAIN_DESCRIPTORS = ids(
    staticmethod,
    classmethod,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.BuiltinFunctionType,
)


_NO_CODE = _NO_OPERATORS | frozenset(
    """
    __doc__ __module__ __dict__ __weakref__ __slots__ __getstate__ __setstate__ __reduce__ __reduce_ex__
    __copy__ __deepcopy__ __enter__ __exit__ __firstlineno__ __static_attributes__ __annotations__
    __qualname__
    """.split()
)
"""Names of classes that no operator, and no reading of an attribute, runs."""
_METHODS = ids(
    types.FunctionType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.BuiltinFunctionType,
    staticmethod,
    classmethod,
    *(str, int, float, bool, bytes, tuple, frozenset, type(None)),
)
"""Types of what a class has whose reading runs no code."""


def _has_no_operators(kind: type, bases: tuple[type, ...]) -> bool:
    """Whether operators, and the reading of attributes, run no code of the classes of a value."""
    return type(kind) is type and all(
        name in _NO_CODE if name.startswith("__") else id(type(value)) in _METHODS
        for base in bases
        if base is not object
        for name, value in names_of(base).items()
    )


def _is_quiet(cls: type, function: types.FunctionType) -> bool:
    """Whether it is a generated method that changes nothing, such as those of data classes and orderings."""
    if function.__globals__.get("__name__") in ("abc", "dataclasses", "functools", "reprlib", "typing"):
        return True
    return "__dataclass_fields__" in names_of(cls) and function.__code__.co_filename == "<string>"


_OURS = (__file__, Guest.start.__code__.co_filename)


class NativeTracer(Guest):
    """A tracer like `ReferenceTracer`, but `emit` gets blocks of many events: each when it is full, and the
    last one when the tracer stops."""

    name = "native"

    def _set_up(self) -> None:
        bounds = self.limits
        self._core = Core(
            self,
            self.scope,
            self.modules,
            bounds.events,
            bounds.items,
            bounds.text_chars,
            bounds.objects,
            bounds.depth,
            _BLOCK_BYTES,
            self.granularity is Granularity.INSTRUCTION,
            bounds.call_depth or 0,
            bounds.repetitions or 0,
            bool(bounds.only),
            self.hidden,
        )
        self.wrote = self._core.wrote  # type: ignore[method-assign, assignment]  # no frame, which a profiler would see
        self._threads = 0
        self._monitors = False

    def _attach(self) -> None:
        self._use_local_events()
        self._attach_thread()

    def _follow(self, frame: FrameType, notify: FrameCallback) -> None:
        self._core.follow(frame, notify)

    def _use_local_events(self) -> None:
        """From 3.12 on, trace only code in the scope, so that other code runs at full speed."""
        if sys.version_info < (3, 12):
            return
        monitoring = sys.monitoring
        if monitoring.get_tool(_TOOL) is not None:
            return  # another tool has this number: all code is traced, as on 3.11
        monitoring.use_tool_id(_TOOL, "deskcheck")
        for event in (monitoring.events.PY_START, monitoring.events.PY_RESUME):
            monitoring.register_callback(_TOOL, event, self._core.begins)
        monitoring.restart_events()  # report code again that an earlier tracer has seen
        self._core.local_events(monitoring.set_events, monitoring.set_local_events, monitoring.DISABLE)
        self._monitors = True

    def _free_tool(self) -> None:
        if sys.version_info >= (3, 12) and self._monitors:
            self._monitors = False
            sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_START, None)
            sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_RESUME, None)
            sys.monitoring.free_tool_id(_TOOL)

    def _is_on_here(self) -> bool:
        return self._core.is_on_here()

    def _give_back(self, function: Any) -> None:
        self._core.detach()
        super()._give_back(function)

    def _close(self) -> None:
        self._core.stop()
        self._core.flush()
        self._core.clear()
        self._free_tool()

    def mirror(self, descriptor: int, size: int) -> None:
        """Copy the unfinished block to shared memory, so that the last events of a killed process are not
        lost.

        `recording.block.mirrored` reads it from a mapping of the descriptor.
        """
        self._core.mirror(descriptor, size)

    def forget_thread(self) -> None:
        self._core.drop()
        super().forget_thread()

    def counts(self) -> dict[str, int]:
        """The work so far: ``events``, ``looked_at`` (objects whose content was compared), and ``anything``
        (events at which any object may have changed)."""
        return self._core.counts()

    def wrote(self, text: str) -> None:
        self._core.wrote(text)

    def give_up(self, reason: str, failure: BaseException | None = None) -> None:
        super().give_up(reason, failure)
        self._core.cut()
        self._core.flush()
        # From 3.12 on the interpreter would call NULL for a frame with opcode events whose trace function was
        # removed. So the hook stays until `stop`; code without our events does not call it.
        if sys.version_info < (3, 12) and self.user_function is None:
            self._real[0](None)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, RecursionError):
            self.give_up("recursion")
        else:
            self.give_up("failure", error)

    def _attach_thread(self) -> None:
        with self._lock:
            number, self._threads = self._threads, self._threads + 1
        fallback = _Fallback(self._core, self.limits, self.modules, self.scope)
        self._core.attach(fallback, number)

    def _thread_started(self, frame: FrameType, event: str, arg: Any) -> Local | None:
        self._attach_thread()
        self._user.function = self._user_thread_function
        self._core.user(self.user_function is not None)
        self._core.widen(self.user_function is not None)
        self._core.event(frame)
        return None

    # -- the program's own trace function ------------------------------------------------------------

    def _user_settrace(self, function: Any) -> None:
        if self._is_on_here():
            self._user.function = function
            self._user.locals = {}
            self._core.user(function is not None)
            self._core.widen(function is not None)
        else:
            self._real[0](function)

    def _user_event(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code.co_filename in _OURS:  # replaces a C function, which has no events
            return
        local_functions: dict[int, Any] = self._user.__dict__.setdefault("locals", {})
        if event == "call":
            if self.user_function is not None:
                local_functions[id(frame)] = frame.f_trace = self.user_function(frame, event, arg)
            return
        local = local_functions.get(id(frame))
        if local is not None and event != "opcode":
            local_functions[id(frame)] = frame.f_trace = local(frame, event, arg)
        if event == "return":
            local_functions.pop(id(frame), None)
