"""Snapshots of live objects, taken by type and without running code of the program.

For an object of a type that the program may have defined, only C-level methods of the builtin base of its
real type (`type(x)`) are called. After the event no reference to an object remains, not even a weak one,
which a program could notice. Objects are remembered by address, and the native core says whether the object
at an address is still the same.

A snapshot is JSON text as described in docs/reference/format.md. Two snapshots differ if and only if their
texts differ.
"""

import builtins
import collections
import datetime
import decimal
import functools
import itertools
import re
import struct
import sys
import types
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring as quote  # C-accelerated, keeps non-ASCII
from json.encoder import encode_basestring_ascii as quote_ascii
from typing import Any

from deskcheck.tracer.contents import arrays as _arrays
from deskcheck.tracer.contents import c_state as _c_state
from deskcheck.tracer.contents import iterators as _iterators
from deskcheck.tracer.contents.introspection import (
    HEAP,
    bases_of,
    by_id,
    dict_offset_of,
    flags_of,
    ids,
    inherits,
    made_by_code,
    module_names,
    module_of,
    names_of,
    names_of_module,
    qualname_of,
)
from deskcheck.tracer.contents.memory import KNOWN, pointer_at
from deskcheck.tracer.frames import FrameView
from deskcheck.tracer.limits import TraceLimits

_native: Any
try:
    from deskcheck.tracer import _native
except ImportError:  # not built: a freed list and a new one at its address in the same line look like one
    _native = None

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

exception_args = BaseException.__dict__["args"].__get__
_FILE_NAMES = [(name, OSError.__dict__[name].__get__) for name in ("filename", "filename2")]

UNBOUND = '{"unbound":true}'
_OPAQUE = ',"cut":"opaque"'
_FROM_OUTSIDE = frozenset({"__orig_class__"})
"""Attributes that `Generic` sets in its classes."""


SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two characters in Python that JSON cannot express: readers make one character of both escapes."""


def text_of(string: str) -> str:
    """The string as a JSON string; in ASCII if it has lone surrogates, which UTF-8 cannot express."""
    quoted: str = quote(string)
    try:
        quoted.encode()
    except UnicodeEncodeError:
        return quote_ascii(string)
    return quoted


_COMPREHENSION_SCOPE = re.compile(r"<(?:list|set|dict)comp>\.(?:<locals>\.)?")


def exact(text: str) -> str:
    """The same text as a plain `str`. A name may be of a class of the program, whose methods must not run."""
    return text if type(text) is str else str.__str__(text)


def qualified_name(qualname: str) -> str:
    """A qualified name without comprehensions, which 3.12+ does not show as scopes (PEP 709)."""
    qualname = exact(qualname)
    return _COMPREHENSION_SCOPE.sub("", qualname) if "comp>" in qualname else qualname


def _in_its_order(ordered: Any, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs of an OrderedDict, sorted from the order of its dict into its own order.

    Its iterators would call code of the program for hashes of the keys, and fail if methods of dict have
    changed it. Without the native core the order of the dict remains, which move_to_end does not change,
    unless all keys are strings.
    """
    if _native is not None:
        keys = _native.ordered_keys(ordered)
    elif all(type(key) is str for key, _ in pairs):
        try:
            keys = list(collections.OrderedDict.keys(ordered))
        except (KeyError, RuntimeError):
            return pairs
    else:
        return pairs
    pairs_by_id = {id(key): (key, value) for key, value in pairs}
    in_order = [pairs_by_id.pop(id(key)) for key in keys if id(key) in pairs_by_id]
    return in_order + list(pairs_by_id.values())


_INT = ids(int)
_STR = ids(str)
_PREFIX = by_id({types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"})
_SUSPENDING = frozenset(_PREFIX)


_WAITS = frozenset({"YIELD_VALUE", "RESUME", "SEND", "ASYNC_GEN_WRAP"})
"""Instructions at which a generator that has begun is suspended."""


_MEMBER = re.compile(r',"(length|cut)":([^,]+)')
"""Members of the tail of a content."""


class Content:
    """The content of an object with an identity, as JSON pieces."""

    __slots__ = ("fields", "head", "items", "refs", "tail")

    def __init__(self, head: str, items: list[str] | None, fields: dict[str, str], tail: str) -> None:
        self.head = head
        self.items = items
        self.fields = fields
        self.tail = tail
        self.refs: tuple[int, ...] = ()

    def whole(self) -> str:
        """The full content as a JSON object."""
        parts = [self.head]
        if self.items is not None:
            parts.append(f'"items":[{",".join(self.items)}]')
        if self.fields:
            parts.append(f'"fields":{json_object(self.fields)}')
        return "{" + ",".join(parts) + self.tail + "}"

    def change_to(self, new: "Content") -> str | None:
        """The JSON object that turns this content into the new one; None if nothing changed."""
        if self.head != new.head or (self.items is None) != (new.items is None):
            return new.whole()
        stay = [name for name in self.fields if name in new.fields]
        if stay != list(new.fields)[: len(stay)]:  # a reader puts new fields behind the old ones
            return new.whole()
        parts = []
        if self.items != new.items and self.items is not None and new.items is not None:
            parts.append(_splice(self.items, new.items))
        if self.fields != new.fields:
            changed = {k: v for k, v in new.fields.items() if self.fields.get(k) != v}
            changed.update({k: UNBOUND for k in self.fields if k not in new.fields})
            parts.append(f'"fields":{json_object(changed)}')
        if self.tail != new.tail:
            parts += _tail_changes(self.tail, new.tail)
        return "{" + ",".join(parts) + "}" if parts else None


def _tail_changes(old: str, new: str) -> list[str]:
    """The members of the new tail that differ from the old one; null for a member that is gone."""
    before, after = dict(_MEMBER.findall(old)), dict(_MEMBER.findall(new))
    members = {**dict.fromkeys(before, "null"), **after}
    return [f'"{name}":{value}' for name, value in members.items() if before.get(name) != value]


def json_object(fields: dict[str, str]) -> str:
    return "{" + ",".join([f"{text_of(name)}:{value}" for name, value in fields.items()]) + "}"


def _splice(old: list[str], new: list[str]) -> str:
    """``"splice":[at, removed, items]`` with the longest common head, then the longest common tail."""
    short = min(len(old), len(new))
    head = 0
    while head < short and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < short - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return f'"splice":[{head},{len(old) - head - tail},[{",".join(new[head : len(new) - tail])}]]'


class Snapshotter:
    """Encodes the objects that the events of one thread can reach, and their changes since the last event.

    For each event: `begin`, then `value` for every root, then `finish`. Identity numbers are given in order
    of first sight. An object keeps its number while recorded variables can reach it.
    """

    def __init__(
        self, limits: TraceLimits, modules: set[str], frame_number: Callable[[Any], int | None]
    ) -> None:
        self.limits = limits
        self.modules = modules
        """Names of the program's modules."""
        self.frame_number = frame_number
        self.numbers: dict[int, tuple[int, int, int, tuple[int, float] | None]] = {}
        """Address of an object -> number, address of the type (a reference would keep the program's classes
        alive), life, and the position of an iterator."""
        self._life: Callable[[Any], int] = _native.Lives().of if _native is not None else lambda obj: 0
        """A unique number of an object from the first call until its death. 0 if its death is not noticed:
        then a later object at its address cannot be distinguished from it."""
        self.addresses: dict[int, int] = {}
        self.die_unseen: set[int] = set()
        """Numbers of objects whose death is not noticed. A later object may have the same address."""
        self.contents: dict[int, Content] = {}
        self._next = 1
        self._refs: list[int] = []
        self._depth = 0
        self._modules: dict[int, tuple[int, str | None]] = {}
        """id of a class that was made at run time -> life, module."""
        self._private: dict[int, tuple[int, frozenset[str]]] = {}
        """id of a library class -> life, private attributes that it uses."""
        self._visited: set[int] = set()
        self._replaced: list[int] = []
        """Numbers of dead objects whose address was reused."""
        self._queue: collections.deque[tuple[int, Any, int]] = collections.deque()

    # -- one event ---------------------------------------------------------------------------------

    def begin(self) -> None:
        self._visited.clear()
        self._queue.clear()
        self._depth = 0

    def roots(self, objects: Iterable[Any]) -> tuple[list[str], tuple[int, ...]]:
        """The encoded values and the identity numbers that they refer to directly."""
        self._refs = []
        texts = [self.value(obj) for obj in objects]
        return texts, tuple(self._refs)

    def finish(self) -> dict[int, str]:
        """Follow all references from the roots; returns the changes by identity number."""
        changes: dict[int, str] = {}
        while self._queue:
            number, obj, self._depth = self._queue.popleft()
            self._refs = []
            new = self._content(obj)
            new.refs = tuple(self._refs)
            old = self.contents.get(number)
            change = new.whole() if old is None else old.change_to(new)
            if change is not None:
                changes[number] = change
            if change is not None or (old is not None and old.refs != new.refs):
                self.contents[number] = new
        return changes

    def forget_unreachable(self, roots: Iterable[int]) -> list[int]:
        """Drop all objects that the roots do not reach; returns their numbers."""
        alive = self._reached(roots)
        dead = [number for number in self.contents if number not in alive]
        for number in dead:
            self._forget(number)
        dead += self._replaced
        self._replaced.clear()
        return dead

    def forget_unsure(self, roots: Iterable[int]) -> list[int]:
        """Drop objects whose death is not noticed and that the roots do not reach; returns their numbers."""
        dead = [*self.die_unseen - self._reached(roots)]
        for number in dead:
            self._forget(number)
        return dead

    def _reached(self, roots: Iterable[int]) -> set[int]:
        reached: set[int] = set()
        todo = list(roots)
        while todo:
            number = todo.pop()
            if number not in reached and number in self.contents:
                reached.add(number)
                todo.extend(self.contents[number].refs)
        return reached

    def _forget(self, number: int) -> None:
        self.contents.pop(number, None)
        self.die_unseen.discard(number)
        address = self.addresses.pop(number, None)
        if address is not None and self.numbers.get(address, (0,))[0] == number:
            del self.numbers[address]

    def clear(self) -> None:
        """Forget all objects, because the snapshotter may outlive them."""
        self.numbers.clear()
        self.addresses.clear()
        self.contents.clear()

    # -- values ------------------------------------------------------------------------------------

    def value(self, obj: Any) -> str:
        """The encoded value as JSON text. Objects with an identity are queued for `finish`."""
        kind = type(obj)
        encode = ATOMS.get(id(kind))
        if encode is not None:
            return encode(self, obj)
        if kind is tuple:
            return self._tuple(obj)
        if kind is types.FunctionType and self._own_function(obj):
            return self._reference(kind, obj)
        inline = self._inline(kind, obj)
        return self._reference(kind, obj) if inline is None else inline

    def _reference(self, kind: type, obj: Any) -> str:
        address = id(obj)
        entry = self.numbers.get(address)
        if entry is not None:
            number, known_type, known_life, position = entry
            same = known_life == self._life(obj)
            if same and known_type == id(kind) and _iterators.goes_on(obj, position):
                if position is not None:
                    self.numbers[address] = (number, id(kind), known_life, _iterators.place_of(obj))
                self._refs.append(number)
                if number not in self._visited:
                    self._visited.add(number)
                    if kind is not types.FunctionType or not self._inert(number, obj):
                        self._queue.append((number, obj, self._depth + 1))
                return f'{{"ref":{number}}}'
            if not same:
                del self.numbers[address]  # it is dead: its number ends with the last reference to it
            else:
                self._forget(number)
                self._replaced.append(number)
        if self._depth >= self.limits.depth:
            return self._cut("deep", kind)
        if len(self._visited) >= self.limits.objects:
            return self._cut("many", kind)
        number = self._next
        self._next += 1
        position = _iterators.place_of(obj)
        its_life = self._life(obj)
        self.numbers[address] = (number, id(kind), its_life, position)
        if not its_life:
            self.die_unseen.add(number)
        self.addresses[number] = address
        self._refs.append(number)
        self._visited.add(number)
        self._queue.append((number, obj, self._depth + 1))
        return f'{{"ref":{number}}}'

    def _inert(self, number: int, function: types.FunctionType) -> bool:
        """Whether a known function has no state that could have changed."""
        content = self.contents.get(number)
        return (
            content is not None
            and not content.fields
            and function.__closure__ is None
            and not dict.__len__(function.__dict__)
            and not _defaults(function)
        )

    def _cut(self, reason: str, kind: type) -> str:
        return f'{{"cut":"{reason}","type":{text_of(self.type_name(kind))}}}'

    def type_name(self, kind: type) -> str:
        """Qualified name of a type, with its module unless that is builtins or of the program."""
        name = qualified_name(qualname_of(kind))
        module = self._module(kind)
        if module is not None and module != "builtins" and module not in self.modules:
            name = f"{module.removeprefix('_').removesuffix('._local')}.{name}"
        return name

    def _str(self, obj: str) -> str:
        head = obj[: self.limits.text_chars]
        halves = None if head.isascii() else SURROGATE_PAIR.search(head)
        if len(obj) > len(head):
            head = head[: halves.start() + 1] if halves else head
            return f'{{"str":{text_of(head)},"length":{len(obj)},"cut":"long"}}'
        return self._text(str, str.__repr__(obj)) if halves else text_of(obj)

    def _int(self, obj: int) -> str:
        if -(1 << 63) <= obj < 1 << 63:
            return int.__repr__(obj)
        if obj.bit_length() <= self.limits.int_digits * 3.33:  # more than log2(10)
            try:
                text = int.__repr__(obj)
            except ValueError:  # the program has narrowed sys.set_int_max_str_digits
                text = ""
            if 0 < len(text) - (obj < 0) <= self.limits.int_digits:
                return f'{{"int":"{text}"}}'
        return f'{{"int":"","length":{obj.bit_length()},"cut":"long"}}'

    def _float(self, obj: float) -> str:
        if obj - obj == 0:
            return float.__repr__(obj)
        return f'{{"float":"{float.__repr__(obj)}"}}'

    def _bytes(self, obj: bytes) -> str:
        limit = self.limits.text_chars
        text = quote_ascii(obj[:limit].decode("latin-1"))
        if len(obj) <= limit:
            return f'{{"bytes":{text}}}'
        return f'{{"bytes":{text},"length":{len(obj)},"cut":"long"}}'

    def _complex(self, obj: complex) -> str:
        return f'{{"complex":["{obj.real!r}","{obj.imag!r}"]}}'

    def _range(self, obj: range) -> str:
        return f'{{"range":[{self._int(obj.start)},{self._int(obj.stop)},{self._int(obj.step)}]}}'

    def _slice(self, obj: slice) -> str:
        return f'{{"slice":[{self.value(obj.start)},{self.value(obj.stop)},{self.value(obj.step)}]}}'

    def _tuple(self, obj: tuple[Any, ...], extra: str = "") -> str:
        return self._inline_items("tuple", tuple.__iter__(obj), tuple.__len__(obj), extra)

    def _frozenset(self, obj: frozenset[Any]) -> str:
        return self._inline_items("frozenset", frozenset.__iter__(obj), frozenset.__len__(obj), "")

    def _inline_items(self, key: str, items: Iterable[Any], length: int, extra: str) -> str:
        if self._depth >= self.limits.depth:
            return f'{{"cut":"deep","type":"{key}"}}'
        self._depth += 1
        limit = self.limits.items
        texts = [self.value(item) for item in (items if length <= limit else itertools.islice(items, limit))]
        self._depth -= 1
        tail = f',"length":{length},"cut":"long"' if length > limit else ""
        return f'{{"{key}":[{",".join(texts)}]{extra}{tail}}}'

    def _text(self, kind: type, text: str) -> str:
        return f'{{"text":{text_of(text)},"type":{text_of(self.type_name(kind))}}}'

    def _inline(self, kind: type, obj: Any) -> str | None:
        """Encoded value of an immutable object that is not an atom but has a complete text; else None."""
        if kind is types.ModuleType:
            name = module_names(obj).get("__name__")
            return self._text(kind, f"<module {name!r}>" if type(name) is str else "<module>")
        if kind is types.BuiltinFunctionType:
            owner = obj.__self__
            if owner is None or type(owner) is types.ModuleType:
                return self._text(kind, f"<built-in function {obj.__name__}>")
            return self._method(obj.__name__, owner)
        if kind is types.MethodType:
            name = exact(obj.__func__.__name__) if type(obj.__func__) is types.FunctionType else "?"
            return self._method(name, obj.__self__)
        if kind is types.MethodWrapperType:
            return self._method(obj.__name__, obj.__self__)
        if id(kind) in _C_REPR:
            return self._text(kind, _C_REPR[id(kind)](obj))
        if id(kind) in _C_TEXT:
            text = _C_TEXT[id(kind)](self, obj)
            return None if text is None else self._bounded_text(kind, text)
        if id(kind) in _DESCRIPTORS:
            return self._text(kind, f"<method {obj.__name__!r} of {qualname_of(obj.__objclass__)!r} objects>")
        if kind is types.FunctionType and not self._own_function(obj):
            return self._text(kind, f"<function {exact(obj.__qualname__)}>")
        bases = bases_of(kind)
        if inherits(bases, type):
            return self._class(obj)
        if is_record_tuple(kind, bases):
            listed = ",".join(text_of(name) for name in _tuple_names(kind, bases))
            hidden = _OPAQUE if _hides_items(kind) else ""
            return self._tuple(obj, f',"type":{text_of(self.type_name(kind))},"names":[{listed}]{hidden}')
        if is_enum(kind):
            return self._member(kind, fields_of(obj, bases))
        text = _arrays.scalar_text(kind, obj)
        if text is not None:
            return self._bounded_text(kind, text)
        if _c_state.is_zone_info(kind):
            text = _c_state.text_of_zone(obj)
        elif is_path(kind):
            text = self._path(kind, obj)
        return None if text is None else self._bounded_text(kind, text)

    def _member(self, kind: type, fields: dict[str, Any]) -> str:
        """The name of a member of an enumeration; the number of flags without a name."""
        name, value = fields.get("_name_"), fields.get("_value_")
        if type(name) is str:
            return self._text(kind, f"{qualname_of(kind)}.{name}")
        if type(value) is int:
            return self._text(kind, f"{qualname_of(kind)}({value})")
        return self._cut("opaque", kind)

    def _path(self, kind: type, obj: Any) -> str | None:
        """The `repr` of a path of pathlib, from the attributes that it was made with.

        A Windows path is shown as the parts that it was made with.
        """
        fields = fields_of(obj, bases_of(kind))
        parts = fields.get("_parts") if sys.version_info < (3, 12) else fields.get("_raw_paths")
        if type(parts) is not list or not all(type(part) is str for part in parts):
            return None
        if "Windows" in qualname_of(kind):
            return f"{qualname_of(kind)}({', '.join(map(repr, parts))})"
        joined = ""
        for part in parts:
            if part.startswith("/"):
                joined = part
            else:
                joined += part if not joined or joined.endswith("/") else f"/{part}"
        slashes = len(joined) - len(joined.lstrip("/"))
        root = "" if not slashes else "//" if slashes == 2 else "/"
        text = root + "/".join(part for part in joined.split("/") if part not in ("", ".")) or "."
        return f"{qualname_of(kind)}({text!r})"

    def _bounded_text(self, kind: type, text: str) -> str:
        limit = self.limits.text_chars
        if len(text) <= limit:
            return self._text(kind, text)
        return f'{{"text":{text_of(text[:limit])},"type":{text_of(self.type_name(kind))},"cut":"long"}}'

    def _method(self, name: str, owner: Any) -> str:
        self._depth += 1
        text = f'{{"method":{text_of(name)},"self":{self.value(owner)}}}'
        self._depth -= 1
        return text

    def _own_function(self, function: types.FunctionType) -> bool:
        """Whether a function belongs to the program. Then its closure and attributes are state."""
        return function.__globals__.get("__name__") in self.modules

    def is_own(self, cls: type) -> bool:
        """Whether a class belongs to the program."""
        return self._module(cls) in self.modules

    def _module(self, cls: type) -> str | None:
        """The module of a class when it was seen first. The class may change it later, as `namedtuple`
        does."""
        entry = self._modules.get(id(cls))
        if not flags_of(cls) & HEAP:
            return module_of(cls)
        its_life = self._life(cls)
        if entry is None or entry[0] != its_life:
            entry = self._modules[id(cls)] = its_life, module_of(cls)
        return entry[1]

    def _class(self, cls: type) -> str | None:
        if self.is_own(cls):
            return None
        module, name = self._module(cls), qualname_of(cls)
        return self._text(type(cls), f"<class '{name if module == 'builtins' else f'{module}.{name}'}'>")

    # -- contents ----------------------------------------------------------------------------------

    def _content(self, obj: Any) -> Content:
        kind = type(obj)
        read = CONTENTS.get(id(kind))
        if read is not None:
            return read(self, obj)
        bases = bases_of(kind)
        if id(kind) in _c_state.READERS:
            shows_dict = dict_offset_of(kind) and id(kind) not in _c_state.FILES
            fields = self._named(fields_of(obj, bases)) if shows_dict else {}
            return self._part(kind, _c_state.READERS[id(kind)](obj), fields, left_out=False)
        if inherits(bases, type):
            return self._class_content(obj)
        if inherits(bases, BaseException):
            named = fields_of(obj, bases)
            if inherits(bases, OSError):
                named |= {name: value for name, read in _FILE_NAMES if (value := read(obj)) is not None}
            return self._items_content("exception", kind, list(exception_args(obj)), self._named(named))
        if id(kind) in _iterators.FIELDS:
            return self._iterator(kind, obj)
        if _arrays.is_array(bases):
            return self._array(kind, obj, bases)
        if _arrays.is_void(bases):
            instance_fields = self._named(fields_of(obj, bases) if self._transparent(kind) else {})
            return self._array_content(kind, _arrays.read_void(obj), (), instance_fields)
        plain_array = _arrays.plain_array(bases)
        if plain_array is not None:
            column = _arrays.read_plain_array(obj, plain_array, self.limits.items)
            instance_fields = self._named(fields_of(obj, bases) if self._transparent(kind) else {})
            return self._array_content(kind, column, (column.length,), instance_fields)
        name = _arrays.pandas_name(bases)
        if name is not None:
            return self._pandas(kind, obj, name)
        if not self.shows(kind):
            return Content(self._head("opaque", kind), None, {}, "")
        attributes = fields_of(obj, bases)
        hidden = self.hidden_fields(bases)
        fields = self._named({name: value for name, value in attributes.items() if name not in hidden})
        left_out = any(name in hidden and name not in _FROM_OUTSIDE for name in attributes)
        read_part = reader_of(kind)
        if read_part is not None:
            return self._part(kind, read_part(obj), fields, left_out)
        if (path := next((base for base in bases if is_path(base)), None)) is not None:
            text = self._path(path, obj)
            if text is not None:  # its private attributes contain only the same, and caches
                head = self._head("object", kind) + ',"base":"atom"'
                return Content(head, [self._bounded_text(path, text)], fields, "")
        has_known_state = is_known(kind)
        for base, name in BASES:
            if inherits(bases, base):
                extra = "" if has_known_state and not left_out else _OPAQUE
                return self._subclass_content(kind, obj, base, name, fields, extra)
        return Content(self.object_head(kind), None, fields, _OPAQUE if has_known_state and left_out else "")

    def shows(self, kind: type) -> bool:
        """Whether anything but the type of an instance is shown."""
        return self._transparent(kind) or (reader_of(kind) is not None and not made_by_code(kind))

    def object_head(self, kind: type) -> str:
        """The beginning of the content of an instance that shows only attributes."""
        return self._head("object", kind) + ("" if is_known(kind) else _OPAQUE)

    def _part(self, kind: type, part: "_c_state.Part", fields: dict[str, str], left_out: bool) -> Content:
        """The contents of an object's C structure, and its attributes."""
        extra = "" if part.complete and not left_out else _OPAQUE
        fields = {**self._named(dict(part.fields)), **fields}
        if part.keys:
            return self._pairs_content("object", kind, list(part.items), fields, ',"base":"dict"' + extra)
        if made_by_code(kind) and part.items:
            extra = ',"base":"atom"' + extra
        if part.items:
            return self._items_content("object", kind, list(part.items), fields, extra)
        return Content(self._head("object", kind) + extra, None, fields, "")

    def _array(self, kind: type, obj: Any, bases: tuple[type, ...]) -> Content:
        """A numpy array: the first items, and the array whose memory it uses."""
        column = _arrays.read_array(obj, self.limits.items)
        attributes = fields_of(obj, bases) if self._transparent(kind) else {}
        base, fill = _arrays.array_base(obj), _arrays.fill_value(obj)
        attributes = attributes if base is None else {**attributes, "base": base}
        fields = self._named(attributes if fill is None else {**attributes, "fill_value": fill})
        return self._array_content(kind, column, _arrays.array_shape(obj), fields)

    def _array_content(
        self, kind: type, column: _arrays.ArrayColumn, shape: tuple[int, ...], fields: dict[str, str]
    ) -> Content:
        sizes = ",".join(map(str, shape))
        head = f'{self._head("array", kind)},"shape":[{sizes}],"dtype":{text_of(column.dtype)}'
        tail = f',"length":{column.length},"cut":"{column.cut}"' if column.cut else ""
        return Content(head, self._values(column.items), fields, tail)

    def _pandas(self, kind: type, obj: Any, name: str) -> Content:
        limit = self.limits.items
        if name == "ExtensionArray":
            array = _arrays.read_extension(obj, limit)
            if array is not None:
                return self._array_content(kind, array, (array.length,), {})
        if name == "Index":
            column = _arrays.read_index(obj, limit)
            rule = _arrays.frequency(obj)
            fields = {"name": self.value(_arrays.index_name(obj))}
            fields |= {} if rule is None else {"freq": self.value(rule)}
            return self._array_content(kind, column, (column.length,), fields)
        if name == "Series":
            series = _arrays.read_series(obj, limit)
            if series is not None:
                column, index, label = series
                fields = {"index": self._column(index), "name": self.value(label)}
                fields |= self._named(_arrays.besides(obj))
                return self._array_content(kind, column, (column.length,), fields)
        table = _arrays.read_table(obj, limit) if name == "DataFrame" else None
        if table is None:
            return Content(self._head("opaque", kind), None, {}, "")
        labels = [self.value(label) for label in table.labels.items]
        items = [
            f"[{label},{self._column(column)}]" for label, column in zip(labels, table.columns, strict=True)
        ]
        rows, width = table.shape
        head = f'{self._head("table", kind)},"shape":[{rows},{width}]'
        cut = "opaque" if table.labels.cut == "opaque" else "long"
        tail = f',"length":{width},"cut":"{cut}"' if width > len(items) else ""
        fields = {"index": self._column(table.row_labels)}
        for name, axis_name in zip(("index_name", "columns_name"), table.names, strict=True):
            fields |= {} if axis_name is None else {name: self.value(axis_name)}
        return Content(head, items, fields | self._named(_arrays.besides(obj)), tail)

    def _column(self, column: _arrays.ArrayColumn) -> str:
        """The encoded value of a column, which has no identity."""
        tail = f',"length":{column.length},"cut":"{column.cut}"' if column.cut else ""
        texts = ",".join(self._values(column.items))
        return f'{{"array":[{texts}],"dtype":{text_of(column.dtype)}{tail}}}'

    def _head(self, kind: str, type_: type) -> str:
        return f'"kind":"{kind}","type":{text_of(self.type_name(type_))}'

    def _transparent(self, kind: type) -> bool:
        """Whether the fields of instances are shown.

        This is so for classes of the program, plain data of the standard library, and library classes whose
        instances are only their attributes. Others (threads, loops, parsers) are opaque.
        """
        if self.is_own(kind) or module_of(kind) in _DATA_MODULES or id(kind) in PLAIN_CONTAINERS:
            return True
        return _is_record(kind)

    def hidden_fields(self, bases: tuple[type, ...]) -> frozenset[str]:
        """Names of private attributes that library classes among `bases` use.

        If a class of the program derives from a library class, the attributes of the program are shown.
        """
        hidden: set[str] = set()
        for base in bases:
            if self._transparent(base) or module_of(base) == "builtins":
                hidden |= _FROM_OUTSIDE if module_of(base) == "typing" else set()
                continue
            entry = self._private.get(id(base))
            if entry is None or entry[0] != self._life(base):
                entry = self._private[id(base)] = self._life(base), _private_names(base)
            hidden |= entry[1]
        return frozenset(hidden)

    def _named(self, fields: dict[str, Any]) -> dict[str, str]:
        limit = self.limits.items
        return {name: self.value(fields[name]) for name in itertools.islice(fields, limit)}

    def _values(self, items: list[Any]) -> list[str]:
        """Encoded values of the items. Lists of one plain type, which are common, are fast."""
        kinds = {*map(id, map(type, items))}
        if kinds == _INT and min(items) >= -(1 << 63) and max(items) < 1 << 63:
            return list(map(int.__repr__, items))
        if kinds == _STR and len(items) > 4:
            joined = "".join(items)
            if joined.isascii() and len(joined) <= self.limits.text_chars:
                return list(map(quote, items))
        return [self.value(item) for item in items]

    def _items_content(
        self,
        kind: str,
        type_: type,
        items: list[Any],
        fields: dict[str, str] | None = None,
        extra: str = "",
        length: int | None = None,
    ) -> Content:
        """length: of the container, where `items` are only its first."""
        limit = self.limits.items
        length = len(items) if length is None else length
        tail = _long(length, extra) if length > limit else ""
        texts = self._values(items[:limit])
        return Content(self._head(kind, type_) + extra, texts, fields or {}, tail)

    def _pairs_content(
        self,
        kind: str,
        type_: type,
        pairs: list[Any],
        fields: dict[str, str] | None = None,
        extra: str = "",
        length: int | None = None,
    ) -> Content:
        """length: of the mapping, where `pairs` are only its first."""
        limit = self.limits.items
        length = len(pairs) if length is None else length
        tail = _long(length, extra) if length > limit else ""
        keys, values = (
            self._values([k for k, _ in pairs[:limit]]),
            self._values([v for _, v in pairs[:limit]]),
        )
        texts = [f"[{key},{value}]" for key, value in zip(keys, values, strict=True)]
        return Content(self._head(kind, type_) + extra, texts, fields or {}, tail)

    def _list(self, obj: list[Any]) -> Content:
        return self._items_content("list", list, obj)

    def _dict(self, obj: dict[Any, Any]) -> Content:
        # Copy only the items that are shown, because the dict or set may be large.
        pairs = list(itertools.islice(obj.items(), self.limits.items))
        return self._pairs_content("dict", dict, pairs, length=len(obj))

    def _set(self, obj: set[Any]) -> Content:
        items = list(itertools.islice(obj, self.limits.items))
        return self._items_content("set", set, items, length=len(obj))

    def _bytearray(self, obj: bytearray) -> Content:
        items = list(obj[: self.limits.items])
        return self._items_content("bytearray", bytearray, items, length=len(obj))

    def _subclass_content(
        self, kind: type, obj: Any, base: type, name: str, fields: dict[str, str], extra: str
    ) -> Content:
        extra = f',"base":"{name}"{extra}'
        if base is collections.deque:
            maxlen = collections.deque.__dict__["maxlen"].__get__(obj)
            if maxlen is not None:
                fields = {"maxlen": self.value(maxlen), **fields}
            return self._items_content("object", kind, _all(collections.deque, obj), fields, extra)
        if base is dict:
            if inherits(bases_of(kind), collections.defaultdict):
                factory = collections.defaultdict.__dict__["default_factory"].__get__(obj)
                fields = {"default_factory": self.value(factory), **fields}
            if inherits(bases_of(kind), collections.OrderedDict):
                pairs = _in_its_order(obj, list(dict.items(obj)))
            else:
                pairs = list(itertools.islice(dict.items(obj), self.limits.items))
            return self._pairs_content("object", kind, pairs, fields, extra, dict.__len__(obj))
        if base in (list, tuple, set, frozenset):
            iterate, length = base.__dict__["__iter__"], base.__dict__["__len__"](obj)
            items = list(itertools.islice(iterate(obj), self.limits.items))
            return self._items_content("object", kind, items, fields, extra, length)
        if base in _VIEWS:
            return self._items_content("object", kind, _view_items(obj, base), fields, extra)
        plain: Any = _PLAIN_OF[base](obj)
        return self._items_content("object", kind, [plain], fields, extra)

    def _class_content(self, cls: type) -> Content:
        hidden = ("__", "_abc_", "_") if type(cls) is _ENUM else ("__", "_abc_")
        data = {
            name: value
            for name, value in list(names_of(cls).items())
            if type(name) is str and not name.startswith(hidden) and _is_data(value)
        }
        text = f',"text":{text_of("class " + self.type_name(cls))}'
        return Content(self._head("class", type(cls)) + text, None, self._named(data), "")

    def _function(self, function: types.FunctionType) -> Content:
        fields: dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):  # noqa: B905  # 3.13: not set yet
            try:
                fields[name] = cell.cell_contents
            except ValueError:
                continue
        fields |= _defaults(function)
        fields |= {name: value for name, value in dict.items(function.__dict__) if type(name) is str}
        text = f',"text":{text_of("function " + qualified_name(function.__qualname__))}'
        return Content(self._head("function", types.FunctionType) + text, None, self._named(fields), "")

    def _cached(self, obj: Any) -> Content:
        cache = type(obj).__dict__["cache_info"](obj)
        fields = {name: cache[i] for i, name in enumerate(("hits", "misses", "maxsize", "currsize"))}
        name = dict.get(obj.__dict__, "__qualname__")
        text = f',"text":{text_of("cached function " + name)}' if type(name) is str else ""
        tail = _OPAQUE if cache[3] else ""  # the results that it holds are not shown
        return Content(self._head("function", type(obj)) + text, None, self._named(fields), tail)

    def _generator(self, obj: Any) -> Content:
        kind = type(obj)
        prefix = _PREFIX[id(kind)]
        frame = getattr(obj, f"{prefix}_frame")
        text = f',"text":{text_of(f"{kind.__name__} {exact(obj.__qualname__)}")}'
        fields: dict[str, str] = {}
        if frame is None:
            state = "finished"
        elif getattr(obj, f"{prefix}_running"):
            state = "running"
        else:
            view = FrameView(frame)
            started = view.facts.opname.get(view.offset) in _WAITS
            if prefix != "ag":  # 3.11 has no ag_suspended
                started = getattr(obj, f"{prefix}_suspended")
            state = "suspended" if started else "created"
            if self.is_recorded(view.code):
                fields["(line)"] = self.value(frame.f_lineno if started else view.code.co_firstlineno)
                number = self.frame_number(frame) if started else None
                if number is not None:
                    fields["(frame)"] = self.value(number)
                for name, value in view.locals().items():
                    fields[name] = self.value(value)
                if started:
                    fields["(stack)"] = self._tuple(tuple(view.stack(suspended=True)))
        fields["(state)"] = self.value(state)
        hidden = state in ("created", "suspended") and "(line)" not in fields
        return Content(
            self._head("generator", kind) + text, None, fields, ',"cut":"opaque"' if hidden else ""
        )

    def is_recorded(self, code: types.CodeType) -> bool:
        """Whether this code is recorded. The lines of generators with other code are not shown."""
        return False

    def _iterator(self, kind: type, obj: Any) -> Content:
        fields = self._named(_iterators.FIELDS[id(kind)](obj))
        return Content(self._head("iterator", kind), None, fields, "")


def has_text(kind: type) -> bool:
    """Whether a Python class among the bases, of the program or of a library, defines `__str__`."""
    return any("__str__" in names_of(base) for base in bases_of(kind) if flags_of(base) & HEAP)


def fields_of(obj: Any, bases: tuple[type, ...]) -> dict[str, Any]:
    """Instance attributes: the values of `__slots__`, then those in the instance's dict."""
    fields: dict[str, Any] = {}
    names = None
    for base in bases:
        for name, descriptor in list(names_of(base).items()):
            if type(descriptor) is types.MemberDescriptorType and made_by_code(base):
                try:
                    fields.setdefault(name, descriptor.__get__(obj, base))
                except AttributeError:
                    continue
            elif name == "__dict__" and id(type(descriptor)) in DICT_DESCRIPTORS and names is None:
                # Reading `__dict__` may create it; `functools.partial` can notice that its argument has one.
                offset = dict_offset_of(bases[0])
                has_dict = not KNOWN or offset <= 0 or pointer_at(id(obj) + offset)
                names = descriptor.__get__(obj) if has_dict else {}
    if names is None and inherits(bases, BaseException):
        names = BaseException.__dict__["__dict__"].__get__(obj)
    if type(names) is dict:
        fields.update((name, value) for name, value in list(names.items()) if type(name) is str)
    return fields


def _private_names(library: type) -> frozenset[str]:
    """Names with a leading underscore in a class's slots and in the code of its functions.

    They are attributes, or strings for `setattr`. `Generic` sets one in its classes.
    """
    names, codes = {"__orig_class__"}, []
    for name, value in list(names_of(library).items()):
        if type(value) is types.MemberDescriptorType and type(name) is str:
            names.add(name)
        parts = [value]
        if type(value) is property:
            parts = [value.fget, value.fset, value.fdel]
        elif type(value) is staticmethod or type(value) is classmethod:
            parts = [value.__func__]
        codes += [part.__code__ for part in parts if type(part) is types.FunctionType]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        consts = list(code.co_consts)
        while consts:
            const = consts.pop()
            if type(const) is str:
                names.add(const)
            elif type(const) is tuple or type(const) is frozenset:
                consts += const
            elif type(const) is types.CodeType:
                codes.append(const)
    return frozenset(name for name in names if name.startswith("_"))


def _mapping_of(proxy: Any) -> "_c_state.Part":
    return _c_state.Part((), {"mapping": _iterators.part(proxy, 0)})


if KNOWN:
    _c_state.READERS[id(types.MappingProxyType)] = _mapping_of


def reader_of(kind: type) -> "Callable[[Any], _c_state.Part] | None":
    """The reader for the C structure of a type's instances; None if they have no structure, or no reader."""
    holder = _c_state.holder(kind)
    return None if holder is None else _c_state.READERS.get(id(holder))


def is_known(kind: type) -> bool:
    """Whether the shown attributes and items are the full state of instances, with nothing else in C."""
    holder = _c_state.holder(kind)
    return holder is None or id(holder) in _HOLDERS or id(holder) in _c_state.READERS


def _is_record(kind: type) -> bool:
    """Whether it is a Python class without public methods, whose instances are only their attributes."""
    if not made_by_code(kind) or _c_state.holder(kind) is not None:
        return False
    for base in bases_of(kind):
        if base is object:
            continue
        for name, value in list(names_of(base).items()):
            if type(name) is str and not name.startswith("_") and id(type(value)) in _METHODS:
                return False
    return True


def is_record_tuple(kind: type, bases: tuple[type, ...]) -> bool:
    """Whether instances are only tuples with named items: named tuples, or struct sequences of C code."""
    if not inherits(bases, tuple) or kind is tuple or dict_offset_of(kind):
        return False
    return not made_by_code(kind) or any(type(names_of(base).get("_fields")) is tuple for base in bases)


def _tuple_names(kind: type, bases: tuple[type, ...]) -> list[str]:
    """Names of the items; empty if not all items have one."""
    for base in bases:
        names = names_of(base).get("_fields")
        if type(names) is tuple:
            return [name for name in names if type(name) is str]
    names = names_of(kind).get("__match_args__", ())
    return list(names) if len(names) == names_of(kind).get("n_sequence_fields") else []


def _hides_items(kind: type) -> bool:
    """Whether a struct sequence of C code has more values than items."""
    names = names_of(kind)
    return bool(names.get("n_fields", 0) > names.get("n_sequence_fields", 0))


def _long(length: int, extra: str) -> str:
    return f',"length":{length}' + ("" if '"cut"' in extra else ',"cut":"long"')


def _view_items(view: Any, base: type) -> list[Any]:
    """The items of a dict's view. Iterating over that of an OrderedDict would run code of the program."""
    if not KNOWN or not any(type(view) is kind for kind in _ORDERED_VIEWS):
        return list(view)
    ordered = _iterators.part(view, 0)
    pairs = _in_its_order(ordered, list(dict.items(ordered)))
    which = _VIEWS.index(base)
    return pairs if which == 2 else [pair[which] for pair in pairs]


DICT_DESCRIPTORS = ids(types.GetSetDescriptorType, types.MemberDescriptorType)  # of SimpleNamespace


def _is_data(value: Any) -> bool:
    """Whether a member of a class is state and not behaviour."""
    kind = type(value)
    if id(kind) in _BEHAVIOUR or inherits(bases_of(kind), type):
        return False
    return id(kind) in _STATE_TYPES or not any("__get__" in names_of(base) for base in bases_of(kind))


def _defaults(function: types.FunctionType) -> dict[str, Any]:
    """Defaults that can change: those of a mutable type."""
    values, named = function.__defaults__ or (), function.__kwdefaults__
    if not values and named is None:
        return {}
    code = function.__code__
    defaults: dict[str, Any] = {}
    if named is not None:  # what was assigned to it may be of a class of the program, with any keys
        defaults.update((name, value) for name, value in dict.items(named) if type(name) is str)
    names = code.co_varnames[: code.co_argcount]
    count = min(len(names), len(values))  # `f.__defaults__` may be given more than there are parameters
    defaults.update(zip(names[len(names) - count :], values[len(values) - count :], strict=True))
    return {name: value for name, value in defaults.items() if type(value) in (list, dict, set, bytearray)}


def _all(kind: Any, obj: Any) -> list[Any]:
    """The items of a container, by its base's iterator. No other thread can change it meanwhile."""
    return list(itertools.chain.from_iterable(map(kind.__iter__, (obj,))))


def is_iterator(obj: Any) -> bool:
    """Whether it is an iterator or generator whose position we can read."""
    return id(type(obj)) in ITERATOR_TYPES


def runs_in(obj: Any, frame: Any) -> bool:
    """Whether it is the generator that runs in a frame.

    It may be about to be freed. Its weak references were cleared before, and a new one would never be
    cleared.
    """
    kind = type(obj)
    if id(kind) not in _SUSPENDING:
        return False
    return getattr(obj, f"{_PREFIX[id(kind)]}_frame") is frame


def unwrapped(value: Any) -> Any:
    """The value that an async generator yielded, without the interpreter's wrapper."""
    wrapped = KNOWN and type(value).__name__ == "async_generator_wrapped_value"
    return _iterators.part(value, 0) if wrapped else value


ITERATOR_TYPES = frozenset(_iterators.FIELDS) | _SUSPENDING

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))

ATOMS: dict[int, Callable[[Snapshotter, Any], str]] = by_id(
    {
        type(None): lambda self, obj: "null",
        bool: lambda self, obj: "true" if obj else "false",
        int: Snapshotter._int,
        str: Snapshotter._str,
        float: Snapshotter._float,
        bytes: Snapshotter._bytes,
        complex: Snapshotter._complex,
        range: Snapshotter._range,
        slice: Snapshotter._slice,
        frozenset: Snapshotter._frozenset,
        type(...): lambda self, obj: '{"text":"Ellipsis","type":"ellipsis"}',
        type(NotImplemented): lambda self, obj: '{"text":"NotImplemented","type":"NotImplementedType"}',
    }
)

CONTENTS: dict[int, Callable[[Snapshotter, Any], Content]] = by_id(
    {
        list: Snapshotter._list,
        dict: Snapshotter._dict,
        set: Snapshotter._set,
        bytearray: Snapshotter._bytearray,
        types.FunctionType: Snapshotter._function,
        **dict.fromkeys(
            (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType), Snapshotter._generator
        ),
        type(functools.lru_cache(int)): Snapshotter._cached,
    }
)

_C_REPR: dict[int, Callable[[Any], str]] = by_id(
    {kind: kind.__repr__ for kind in (decimal.Decimal, datetime.date, datetime.timedelta)}
)
"""Immutable types with a complete `repr` in C that shows no address."""


def _dated(kind: Any) -> Callable[["Snapshotter", Any], str | None]:
    return lambda self, obj: kind.__repr__(obj) if _c_state.has_known_zone(obj) else None


def _made_of_classes(self: "Snapshotter", alias: Any) -> str | None:
    """``list[int]`` or ``int | str``; None if a part is a class of the program or has a text made by other
    code.

    The text would not distinguish a class of the program from others with the same name.
    """
    kind: Any = type(alias)
    for part in _c_state.READERS[id(kind)](alias).items:
        if type(part) in (types.GenericAlias, types.UnionType):
            plain = _made_of_classes(self, part) is not None
        else:
            plain = part is ... or part is None or (type(part) is type and not self.is_own(part))
        if not plain:
            return None
    return str(kind.__repr__(alias))


_C_TEXT: dict[int, Callable[["Snapshotter", Any], str | None]] = by_id(
    {
        datetime.datetime: _dated(datetime.datetime),
        datetime.time: _dated(datetime.time),
        datetime.timezone: lambda self, obj: _c_state.text_of_zone(obj),
        re.Pattern: lambda self, obj: _c_state.text_of_pattern(obj),
        re.Match: lambda self, obj: _c_state.text_of_match(obj, self.limits.text_chars),
        struct.Struct: lambda self, obj: f"struct.Struct({struct.Struct.format.__get__(obj)!r})",
        types.GenericAlias: _made_of_classes,
        types.UnionType: _made_of_classes,
    }
)
"""Types with such a text only for some instances: functions that return the text, or None."""

_DESCRIPTORS = ids(types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)

TEXT_TYPES = frozenset(_C_REPR) | frozenset(_C_TEXT) | _DESCRIPTORS
"""Types whose values are written as text, by address."""

BASES: tuple[tuple[type, str], ...] = (
    (collections.deque, "list"),
    (dict, "dict"),
    (list, "list"),
    (set, "set"),
    (frozenset, "set"),
    (tuple, "list"),
    *((view, "list") for view in _VIEWS),
    (bytearray, "list"),
    (str, "atom"),
    (bytes, "atom"),
    (float, "atom"),
    (complex, "atom"),
    (int, "atom"),
)

_PLAIN_OF: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: lambda obj: bytes.__add__(obj, b""),
    float: float.__pos__,
    complex: complex.__pos__,
    int: int.__pos__,
    bytearray: lambda obj: bytes(bytearray.__iter__(obj)),
}

_ORDERED_VIEWS: tuple[type, ...] = tuple(
    type(view(collections.OrderedDict()))
    for view in (collections.OrderedDict.keys, collections.OrderedDict.values, collections.OrderedDict.items)
)
PLAIN_CONTAINERS = ids(collections.deque, *_VIEWS, *_ORDERED_VIEWS, types.SimpleNamespace)
_HOLDERS = ids(
    *(base for base, _ in BASES),
    *(collections.defaultdict, collections.OrderedDict, functools.partial),
    *(types.FunctionType, types.ModuleType),
)
"""Types written in C whose full state is shown."""
_DATA_MODULES = frozenset(
    "collections fractions statistics types uuid string textwrap ipaddress graphlib copy datetime".split()
)
_BEHAVIOUR = ids(
    *(types.FunctionType, types.BuiltinFunctionType, property, staticmethod, classmethod),
    *(types.MemberDescriptorType, types.GetSetDescriptorType),
)
_METHODS = ids(
    *(types.FunctionType, property, staticmethod, classmethod, functools.cached_property),
    *(types.BuiltinFunctionType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
)
_STATE_TYPES = ids(
    *(type(None), bool, int, float, complex, str, bytes, tuple, frozenset, list, dict, set, bytearray),
    collections.deque,
)
_PATHS = ("PosixPath", "PurePosixPath", "PureWindowsPath")
_ENUM: type | None = None


def is_path(kind: type) -> bool:
    """Whether it is a class of pathlib whose instances are text."""
    names = names_of_module("pathlib")
    is_named = any(names.get(name) is kind for name in _PATHS)
    return is_named and module_of(kind) in ("pathlib", "pathlib._local")


def is_enum(kind: type) -> bool:
    """Whether it is an enumeration, whose members are shown by name."""
    return _ENUM is not None and type(kind) is _ENUM


def know_enum() -> None:
    """Find `enum` if the program has imported it. We do not import it ourselves, which would take time."""
    global _ENUM
    module = sys.modules.get("enum")
    if module is not None:
        _ENUM = getattr(module, "EnumType", None)


know_enum()
