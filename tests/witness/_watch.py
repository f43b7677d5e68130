"""A naive tracer: at each event of `sys.settrace` it copies what the variables hold. The standard library only.

It shares no code and no reading with the tracers of the package: nothing is remembered from one event to the next but which frames are
open, and of everything that it does not copy it says nothing. The value stack, which Python does not show, it reads from memory, every slot
up to the depth that the interpreter itself has noted. It is slow, and some of what it does a program can notice (`compare.KNOWN`).

Each event is a list, as `marshal` writes it: kind, number of the frame, function, line, locals, globals, what was returned or yielded,
the type of what was raised, the value stack (null where it is not known), and the objects that those refer to. A slot of the stack is
["NULL"], ["type", name] of an object of which no more is said, or a value. A value is

    null                        nothing is said
    ["=", type, repr]           an atom
    ["tuple", type, [value...]]
    ["method", name, value]     a bound method
    ["at", n]                   object n of this event: [kind, type, items, ordered, fields]

where items is null, or a list of values (of a dict: of pairs).
"""

import builtins
import collections
import ctypes
import functools
import marshal
import opcode
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_ITEMS = 400
"""Larger containers are not copied."""
_CHARACTERS = 5_000
_OBJECTS = 4_000
_BYTES = 30_000_000
"""Of a program's events; a trace ends there."""

_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))
_METHODS = (types.MethodType, types.BuiltinMethodType)
_MEMBERS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (bytearray, lambda obj: bytes(bytearray.__iter__(obj))),
    (bytes, lambda obj: bytes.__getitem__(obj, slice(None))),
    (float, float.__pos__),
    (int, int.__pos__),
)
_BUILTIN = (list, dict, set, frozenset, tuple, bytearray, collections.deque)
_LIBRARY = (collections.UserDict, collections.UserList, collections.UserString, collections.ChainMap)
_STEADY = (int, str, bool)
"""A set of these has the same order in every run under one hash seed."""

_bases = type.__dict__["__mro__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_names = type.__dict__["__dict__"].__get__
_is_heap_type = 1 << 9
_OPTIMIZED = 1
_OPEN = ("builtins", "collections", "types")
"""Modules of the library whose objects are looked into."""

Value = Any


def _is_one(kind: type, kinds: tuple[type, ...]) -> bool:
    """`kind in kinds` without `==`, which a metaclass may define."""
    return any(kind is known for known in kinds)


def _name(kind: type) -> str:
    name: str = _qualname(kind).rpartition(".")[2]
    return name


_FIRST_SEEN: dict[int, tuple[weakref.ref[type], bool]] = {}


def _own(kind: type) -> bool:
    """Whether a class is the program's: what it is when it is seen first, it stays."""
    known = _FIRST_SEEN.get(id(kind))
    if known is not None and known[0]() is kind:
        return known[1]
    module = _names(kind).get("__module__")
    own = type(module) is str and module == "__main__"
    _FIRST_SEEN[id(kind)] = weakref.ref(kind), own
    return own


class _Copy:
    """The variables at one event."""

    def __init__(self) -> None:
        self.objects: list[list[Any]] = []
        self.numbers: dict[int, int] = {}
        self.todo: list[tuple[int, Any]] = []
        self.too_many = False

    def names(self, namespace: Mapping[str, Any], *, modules: bool) -> dict[str, Value]:
        return {
            name: self.value(value)
            for name, value in list(namespace.items())
            if type(name) is str
            and not (name[:2] == "__" and name[-2:] == "__")
            and name[0] != "."
            and (modules or type(value) is not types.ModuleType)
        }

    def slot(self, obj: Any) -> Value:
        """An object on the value stack."""
        value = self.value(obj)
        return ["type", _name(type(obj))] if value is None else value

    def finish(self) -> None:
        """Copy what was found, and what that refers to."""
        while self.todo:
            number, obj = self.todo.pop(0)
            if len(self.objects) > _OBJECTS:
                self.too_many = True
                return
            self.objects[number] = self.content(obj)

    def value(self, obj: Any, depth: int = 0) -> Value:
        kind = type(obj)
        if _is_one(kind, _ATOMS):
            return self.atom(kind, obj)
        if depth > 20:
            return None
        if kind is slice:
            parts = [self.value(part, depth + 1) for part in (obj.start, obj.stop, obj.step)]
            return ["slice", "slice", parts]
        if kind is tuple or kind is frozenset:
            if len(obj) > _ITEMS:
                return None
            return [kind.__name__, kind.__name__, [self.value(item, depth + 1) for item in obj]]
        if _is_one(kind, _METHODS):
            return self.method(obj, depth)
        bases = _bases(kind)
        if (
            _is_one(tuple, bases)
            and type(_names(kind).get("_fields")) is tuple
            and "__slots__" in _names(kind)
        ):
            items = list(tuple.__iter__(obj))
            return ["tuple", _name(kind), [self.value(item, depth + 1) for item in items]]
        if self.silent(kind, bases, obj):
            return None
        number = self.numbers.get(id(obj))
        if number is None:
            number = self.numbers[id(obj)] = len(self.objects)
            self.objects.append([])
            self.todo.append((number, obj))
        return ["at", number]

    def atom(self, kind: type, obj: Any) -> Value:
        if _is_one(kind, (str, bytes)) and len(obj) > _CHARACTERS:
            return None
        if kind is int and obj.bit_length() > 3 * _CHARACTERS:
            return None
        try:
            return ["=", kind.__name__, repr(obj)]
        except ValueError:  # the program has narrowed sys.set_int_max_str_digits
            return None

    def method(self, obj: Any, depth: int) -> Value:
        owner = obj.__self__
        if owner is None or type(owner) is types.ModuleType:
            return None
        function = obj.__func__ if type(obj) is types.MethodType else obj
        if not _is_one(type(function), (types.FunctionType, types.BuiltinMethodType)):
            return None
        return ["method", str.__str__(function.__name__), self.value(owner, depth + 1)]

    def silent(self, kind: type, bases: tuple[type, ...], obj: Any) -> bool:
        """Whether nothing is said of an object."""
        if kind is types.FunctionType:
            return bool(obj.__globals__.get("__name__") != "__main__")
        if _is_one(type, bases):
            return not _own(obj)
        if type(kind).__name__ in ("EnumType", "EnumMeta"):
            return True
        library: Any = sys.modules.get("array")
        if library is not None and _is_one(library.array, bases):
            return True
        plain = (*_BUILTIN, *_LIBRARY, *_VIEWS, types.SimpleNamespace, types.CellType, functools.partial)
        if _is_one(kind, plain) or _is_one(kind, (collections.OrderedDict, collections.defaultdict)):
            return False
        if kind is collections.Counter or _array(kind):
            return False
        return not _own(kind) and not _is_one(BaseException, bases)

    def content(self, obj: Any) -> list[Any]:
        kind = type(obj)
        bases = _bases(kind)
        name = _name(kind)
        if kind is list or kind is bytearray:
            return [name, name, self.items(obj), True, {}]
        if kind is dict:
            return ["dict", "dict", self.pairs(obj.items()), True, {}]
        if kind is set:
            return ["set", "set", self.items(obj), _steady(obj), {}]
        if kind is types.FunctionType:
            return ["function", name, None, True, self.function(obj)]
        if kind is types.CellType:
            try:
                return ["cell", name, None, True, {"cell_contents": self.value(obj.cell_contents)}]
            except ValueError:
                return ["cell", name, None, True, {}]
        if kind is functools.partial:
            parts = {"func": obj.func, "args": obj.args, "keywords": obj.keywords}
            fields = {part: self.value(value) for part, value in parts.items()}
            return ["object", name, None, True, fields | self.attributes(obj, bases)]
        if _is_one(kind, _VIEWS):
            if kind is type({}.keys()):
                return ["object", name, self.items(obj), True, {}]
            return ["object", name, self.items(list(obj)), True, {}]
        if _array(kind):
            return ["array", name, self.items(obj.ravel().tolist()), True, {}]
        if _is_one(type, bases):
            return ["class", name, None, True, self.attributes_of_class(obj)]
        fields = self.attributes(obj, bases)
        if _is_one(BaseException, bases):
            return ["exception", name, self.items(BaseException.args.__get__(obj)), True, fields]  # type: ignore[attr-defined]
        return ["object", name, *self.inherited(obj, bases), fields]

    def inherited(self, obj: Any, bases: tuple[type, ...]) -> tuple[Any, bool]:
        """Items that an object has from a builtin class, and whether their order is known."""
        if _is_one(collections.OrderedDict, bases):
            if not all(_is_one(type(key), _STEADY) for key in dict.__iter__(obj)):
                return self.pairs(dict.items(obj)), False
            try:
                keys = list(collections.OrderedDict.__iter__(obj))
                return self.pairs([(key, dict.__getitem__(obj, key)) for key in keys]), True
            except (KeyError, RuntimeError):  # changed behind its back, with methods of dict
                return self.pairs(dict.items(obj)), False
        if _is_one(dict, bases):
            return self.pairs(dict.items(obj)), True
        for base in (list, tuple, collections.deque):
            if _is_one(base, bases):
                return self.items(list(base.__iter__(obj))), True
        for unordered in (set, frozenset):
            if _is_one(unordered, bases):
                return self.items(list(unordered.__iter__(obj))), _steady(unordered.__iter__(obj))
        for base, plain in _PLAIN:
            if _is_one(base, bases):
                value = plain(obj)
                return [self.atom(type(value), value)], True
        return None, True

    def items(self, items: Any) -> Any:
        return [self.value(item) for item in items] if len(items) <= _ITEMS else None

    def pairs(self, pairs: Any) -> Any:
        if len(pairs) > _ITEMS:
            return None
        return [[self.value(key), self.value(value)] for key, value in pairs]

    def attributes(self, obj: Any, bases: tuple[type, ...]) -> dict[str, Value]:
        """What stands in slots and in the object's own dict."""
        found: dict[str, Any] = {}
        for base in bases:
            for name, member in list(_names(base).items()):
                if (
                    type(member) is types.MemberDescriptorType
                    and base.__flags__ & _is_heap_type
                    and name != "__dict__"
                ):
                    try:
                        found.setdefault(name, member.__get__(obj))
                    except AttributeError:
                        continue
        members = [_names(base).get("__dict__") for base in bases]
        of = next(
            (m for m in members if _is_one(type(m), _MEMBERS)), None
        )  # the class may have one that lies
        own = of.__get__(obj) if of is not None else None
        if type(own) is dict:
            found.update({name: value for name, value in own.items() if type(name) is str})
        # Of a class in between, which is a library's, what is private is not looked at.
        if any(
            not _own(base) and base.__flags__ & _is_heap_type and base.__module__ not in _OPEN
            for base in bases
        ):
            found = {name: value for name, value in found.items() if name[:1] != "_"}
            return {**{name: self.value(value) for name, value in found.items()}, PRIVATE_UNSAID: None}
        return {name: self.value(value) for name, value in found.items()}

    def attributes_of_class(self, cls: type) -> dict[str, Value]:
        """Only what is plainly data."""
        found = {}
        for name, value in list(_names(cls).items()):
            if type(name) is not str or name[:2] == "__" or name[:1] == "_":
                continue
            if _is_one(type(value), (*_ATOMS, list, dict, set, tuple, bytearray)):
                found[name] = self.value(value)
        return found

    def function(self, function: types.FunctionType) -> dict[str, Value]:
        found = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            try:
                found[name] = self.value(cell.cell_contents)
            except ValueError:
                continue
        given = dict.items(function.__dict__)
        found.update({name: self.value(value) for name, value in given if type(name) is str})
        return found


def _array(kind: type) -> bool:
    """Whether it is numpy's; importing that would be the program's cost."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and kind is getattr(numpy, "ndarray", None)


def _steady(items: Any) -> bool:
    return all(_is_one(type(item), _STEADY) for item in items)


_FRAME_DATA, _STACKTOP, _SLOTS = 24, 64, 72
"""Offset in a frame object of the pointer to its data (Include/internal/pycore_frame.h); in these, of how many slots are in use, and of
the slots: variables, cells, free variables, the value stack. The same from 3.11 to 3.13. From 3.14 on (pycore_interpframe_structs.h) there is
a pointer to the first slot that is free in place of the number, the slots begin 8 bytes later, and the two lowest bits of a slot are none of
an address: both are set if it is a number, which is shifted by them (pycore_stackref.h)."""
_TAGGED = sys.version_info >= (3, 14)


def _stack(frame: types.FrameType) -> list[Any] | None:
    """What lies on the value stack, `_NULL` for nothing; None where the interpreter has not noted its depth."""
    if sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15)):
        return None
    code = frame.f_code
    variables = len({*code.co_varnames, *code.co_cellvars}) + len(code.co_freevars)
    data = ctypes.c_void_p.from_address(id(frame) + _FRAME_DATA).value
    assert data is not None
    first = data + _SLOTS + 8 * _TAGGED
    if _TAGGED:
        top = ((ctypes.c_void_p.from_address(data + _STACKTOP).value or 0) - first) // 8
    else:
        top = ctypes.c_int.from_address(data + _STACKTOP).value
    if top < variables:
        return None
    stack: list[Any] = []
    for word in [ctypes.c_uint64.from_address(first + 8 * n).value for n in range(variables, top)]:
        if _TAGGED and word & 3 == 3:
            if stack and type(stack[-1]) in (
                list,
                tuple,
                str,
                bytes,
            ):  # from 3.15 on: what a loop runs over, and where
                stack[-1] = iter(stack[-1])
                stack[-1].__setstate__(word >> 2)
            else:
                stack.append(word >> 2)
            continue
        word &= ~3 if _TAGGED else -1
        stack.append(ctypes.cast(word, ctypes.py_object).value if word else _NULL)
    if code.co_name == "<genexpr>" and sys.version_info < (
        3,
        15,
    ):  # its iterable, which a trace counts as on the stack from the beginning
        iterable = frame.f_locals.get(".0", _NULL)
        if iterable is not _NULL and not any(obj is iterable for obj in stack):
            stack.append(iterable)
    return stack


_NULL = object()
_RETURNS = ("RETURN_VALUE", "RETURN_CONST")
PRIVATE_UNSAID = "*"
"""Among an object's attributes: it may have others whose names begin with `_`."""


class Witness:
    """Copies at each event of the calling thread; `emit` gets them. scope: `co_filename` -> anything."""

    def __init__(
        self,
        scope: Mapping[str, str],
        emit: Callable[[bytes], None],
        *,
        limits: Any,
        granularity: str = "line",
    ) -> None:
        self.scope = scope
        self.emit = emit
        self.limits = limits
        self.cut: str | None = None
        self.failure: BaseException | None = None
        self._settrace = sys.settrace
        self._open: dict[int, tuple[int, types.CodeType]] = {}
        """By `id` of a frame that has begun and not ended: its number, and its code to be sure."""
        self._raised: dict[int, int] = {}
        """By `id` of a frame: at which instruction an exception came up since its last line."""
        self._at: dict[int, tuple[int, int]] = {}
        """By `id` of a frame: line and offset of its last event."""
        self._ran: dict[int, tuple[str, int | None]] = {}
        """By `id` of a frame, from 3.14 on: the instruction that ran last, and its line."""
        self._thrown_in: set[int] = set()
        """`id` of frames that have not begun and are left at once: an exception was thrown in, or they are closed."""
        self._shown: tuple[int, dict[str, Any]] = (-1, {})
        """`id` of the frame of the last event, and what `f_locals` gave for it (`_forget`)."""
        self._frames = 0
        self._events = 0
        self._bytes = 0

    def start(self) -> None:
        self._settrace(self._on_call)

    def stop(self) -> None:
        self._settrace(None)

    def wrote(self, text: str) -> None:
        """What is printed is not its business."""

    def _give_up(self, why: str) -> None:
        self.cut = self.cut or why
        self._settrace(None)

    def _on_call(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self.scope or self.cut is not None:
            return None
        self._forget(frame)
        if code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>"):
            return None
        if sys.version_info >= (3, 14):
            frame.f_trace, frame.f_trace_opcodes = self._on_event, True
        known = self._open.get(id(frame))
        if known is None or known[1] is not code or not self._has_begun(frame):
            self._open[id(frame)] = (self._frames, code)
            self._frames += 1
            if self._begins(frame):
                return self._on_event(frame, "call", arg)
            self._thrown_in.add(id(frame))
        return self._on_event(frame, "resume", arg)

    def _on_event(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if self.cut is not None:
            return None
        self._forget(frame)
        if event == "opcode" and not self._line_begins(frame):
            return self._on_event
        try:
            self._tell(frame, "line" if event == "opcode" else event, arg)
        except RecursionError:
            self._give_up("recursion")
        except Exception as error:  # noqa: BLE001 - ours, told to who compares
            self.failure = error
            self._give_up("failure")
        return self._on_event

    def _forget(self, frame: types.FrameType) -> None:
        """Up to 3.12 a frame keeps what `f_locals` gave. Of one that does not run now, nobody would let go of it."""
        if self._shown[0] == id(frame):
            return
        self._shown[1].clear()
        code = frame.f_code
        refreshed = sys.version_info < (3, 13) and code.co_flags & _OPTIMIZED
        self._shown = id(frame), frame.f_locals if refreshed else {}

    def _line_begins(self, frame: types.FrameType) -> bool:
        """Whether a `for` has come to its end, another line is about to run, and settrace told of none: see KNOWN."""
        at = frame.f_lasti
        op, line = opcode.opname[frame.f_code.co_code[at]], frame.f_lineno
        before, line_before = self._ran.get(id(frame), ("", None))
        self._ran[id(frame)] = op, line
        behind = before in ("FOR_ITER", "POP_ITER") and op != "POP_ITER"
        return behind and line not in (None, line_before) and self._at.get(id(frame)) != (line, at)

    def _begins(self, frame: types.FrameType) -> bool:
        at, code = max(frame.f_lasti, 0), frame.f_code.co_code
        return opcode.opname[code[at]] == "RESUME" and code[at + 1] & 3 == 0

    def _has_begun(self, frame: types.FrameType) -> bool:
        """Whether a frame goes on: it has run the RESUME at its beginning."""
        code = frame.f_code.co_code
        starts = range(0, max(frame.f_lasti, 0), 2)
        return any(opcode.opname[code[at]] == "RESUME" and code[at + 1] & 3 == 0 for at in starts)

    def _told_again(self, frame: types.FrameType) -> bool:
        """Whether the line is the one that runs already, and nothing but a call lies between: see KNOWN."""
        if sys.version_info[:2] != (3, 12):
            return False
        line, since = self._at.get(id(frame), (None, 0))
        units = frame.f_code.co_code
        before = frame.f_lasti - 2
        while before >= 0 and opcode.opname[units[before]] == "CACHE":
            before -= 2
        return line == frame.f_lineno and 0 <= since <= before < frame.f_lasti - 2

    def _tells_annotations(self, frame: types.FrameType) -> bool:
        """Whether the next name that is set is that of the function that the compiler makes of a class's annotations."""
        if frame.f_code.co_flags & _OPTIMIZED or self._at.get(id(frame), (0, 0))[1] <= 2:
            return False
        units = frame.f_code.co_code
        stores = (
            at for at in range(frame.f_lasti, len(units), 2) if opcode.opname[units[at]] == "STORE_NAME"
        )
        at = next(stores, None)
        return at is not None and frame.f_code.co_names[units[at + 1]] == "__annotate_func__"

    def _tell(self, frame: types.FrameType, event: str, arg: Any) -> None:
        code, at = frame.f_code, max(frame.f_lasti, 0)
        op = opcode.opname[code.co_code[at]]
        kind, given = event, False
        if event == "resume":
            self._raised.pop(id(frame), None)
            return
        if event in ("call", "line"):
            self._raised.pop(id(frame), None)
            again = event == "line" and (self._told_again(frame) or self._tells_annotations(frame))
            if op == "CLEANUP_THROW" or again:
                return
            self._at[id(frame)] = frame.f_lineno, at
        elif event == "exception":
            self._raised[id(frame)] = at
            if id(frame) in self._thrown_in:
                self._thrown_in.discard(id(frame))
                if arg[0] is not GeneratorExit:
                    self._on_event(frame, "call", None)
            kind, arg, given = "raise", arg[1], True
        elif event == "return":
            raised = self._raised.pop(id(frame), None) == at and arg is None
            if op in _RETURNS:
                given = True
            elif op in ("YIELD_VALUE", "RESUME") and not raised:
                kind, given = "yield", True
            else:
                kind = "unwind"
        number = self._open.get(id(frame), (-1, code))[0]
        if kind in ("return", "unwind"):
            self._open.pop(id(frame), None)
        self._write(frame, kind, number, code, given, arg)

    def _write(
        self, frame: types.FrameType, kind: str, number: int, code: types.CodeType, given: bool, arg: Any
    ) -> None:
        if kind == "unwind":  # who compares asks only where it is
            self._emit([kind, number, code.co_qualname, frame.f_lineno, None, {}, None, None, None, []])
            return
        copy = _Copy()
        local = None  # of a module, whose globals they are; of a class body in a mapping of its metaclass
        if code.co_name != "<module>" and (code.co_flags & _OPTIMIZED or type(frame.f_locals) is dict):
            local = dict.fromkeys(code.co_freevars) if not code.co_flags & _OPTIMIZED else {}
            local.update(copy.names(frame.f_locals, modules=True))
        values = copy.names(frame.f_globals, modules=False)
        told = copy.value(arg) if given else None
        raw = _stack(frame) if kind in ("call", "line", "yield") else None
        if raw and kind == "yield" and _TAGGED:
            raw.pop()  # what is yielded still lies there
        stack = None if raw is None else [["NULL"] if obj is _NULL else copy.slot(obj) for obj in raw]
        del raw
        copy.finish()
        if copy.too_many:
            self._give_up("size")
            return
        line = code.co_firstlineno if kind == "call" else frame.f_lineno
        error = _name(type(arg)) if kind == "raise" else None
        self._emit([kind, number, code.co_qualname, line, local, values, told, error, stack, copy.objects])

    def _emit(self, event: list[Any]) -> None:
        block = marshal.dumps(event)
        self._events += 1
        self._bytes += len(block)
        if self._events > self.limits.events or self._bytes > _BYTES:
            self._give_up("events")
            return
        self.emit(block)
