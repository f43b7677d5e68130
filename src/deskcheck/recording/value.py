"""The values of variables, as data: of bounded size, with identity numbers, without addresses.

A `Value` is read from its encoded form (JSON, see docs/reference/format.md) and rendered as text. This module
never sees live objects: the tracer takes snapshots of them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from deskcheck.errors import DamagedRows

Encoded = Any
"""A decoded JSON value in the form that docs/reference/format.md calls an encoded value."""
Content = dict[str, Any]
"""The decoded JSON content of an object that has an identity: kind, type, items, fields, ..."""

_CONTAINERS = frozenset({"list", "dict", "set", "bytearray"})


@dataclass(frozen=True, slots=True)
class Value:
    """A snapshot of one Python value."""

    kind: str
    """``atom`` (`atom` is the value itself), ``text`` (immutable, `text` is its repr), ``tuple``,
    ``frozenset``, ``range``, ``slice``, ``list``, ``dict``, ``set``, ``bytearray``, ``array`` (of numpy, a
    pandas Series or Index, a column of a table), ``table``, ``object``, ``exception``, ``iterator``,
    ``generator``, ``function``, ``method``, ``class``, ``opaque`` (only the type is known), ``ref`` (a cycle:
    an enclosing value again), ``unbound`` (no value)."""
    type: str
    atom: Any = None
    text: str | None = None
    id: int | None = None
    """Identity number, in order of first sight within a trace; None for immutable values. Two names with the
    same number are aliases."""
    items: tuple[Any, ...] = ()
    """Items of a container, in iteration order; pairs (key, value) for a dict; the first items of an array,
    with the last index fastest; pairs (label, column) for a table."""
    fields: tuple[tuple[str, "Value"], ...] = ()
    """Attributes, or the parts of an iterator, function or generator, by name."""
    names: tuple[str, ...] = ()
    length: int | None = None
    """True number of items or characters."""
    cut: str | None = None
    """Why a part of this value is left out: ``long``, ``deep``, ``many``, ``masked`` (a secret), ``varies``
    (differs between two runs, which do not read it). None if nothing is. `whole` also covers all values
    inside."""
    shape: tuple[int, ...] | None = None
    """Shape of an array or table."""
    dtype: str | None = None
    """dtype of an array or table."""

    def __repr__(self) -> str:
        return render(self)

    def __getitem__(self, name: str) -> "Value":
        """The field of that name. Raises KeyError if there is none."""
        for key, value in self.fields:
            if key == name:
                return value
        raise KeyError(name)

    def children(self) -> list["Value"]:
        """The values directly inside: items (keys and values of a dict), then fields."""
        flat: list[Value] = []
        for item in self.items:
            flat.extend(item if isinstance(item, tuple) else (item,))
        flat.extend(value for _, value in self.fields)
        return flat

    def walk(self) -> Iterator["Value"]:
        """This value and all values inside it, each once."""
        todo, visited = [self], set()
        while todo:
            value = todo.pop()
            if id(value) not in visited:
                visited.add(id(value))
                yield value
                todo.extend(value.children())

    @property
    def whole(self) -> bool:
        """Whether nothing was left out of this value or of anything inside it."""
        return not any(value.cut is not None or value.kind == "opaque" for value in self.walk())

    @property
    def bare(self) -> bool:
        """Whether it is an instance without visible contents, such as some instances of foreign classes."""
        has_contents = self.fields or self.items or self.names or self.text is not None
        return self.kind == "object" and not has_contents

    @property
    def builtin(self) -> bool:
        """Whether this is whole and consists only of builtin data, so that its rendering is its repr."""
        return all(value.cut is None and value._plain for value in self.walk()) and not self._comes_again

    @property
    def _comes_again(self) -> bool:
        """Whether a tuple may contain itself through a container.

        `repr` stops at the tuple, ``(...)``. A tuple has no identity here, so the rendering stops later.
        """
        if not any(value.kind == "ref" for value in self.walk()):
            return False
        tuples = [value for value in self.walk() if value.kind == "tuple"]
        return any(
            outer._same == inner._same
            for outer in tuples
            for inner in outer.walk()
            if inner is not outer
            and inner.kind == "tuple"
            and any(value_inside.kind == "ref" for value_inside in inner.walk())
        )

    @property
    def _same(self) -> object:
        """Equal for two values that may be one object."""
        if self.id is not None:
            return self.id
        return self.type, repr(self.atom), tuple(item._same for item in self.items)

    @property
    def _plain(self) -> bool:
        """Whether this value is builtin data, not counting the values inside it."""
        if self.kind == "text":
            return self.type in ("ellipsis", "NotImplementedType")
        if self.kind in ("tuple", "frozenset", *_CONTAINERS):
            return self.type == self.kind
        return self.kind in ("atom", "range", "slice", "ref")


UNBOUND = Value("unbound", "unbound")


def decode(encoded: Encoded, objects: Mapping[int, Content]) -> Value:
    """The `Value` that an encoded value represents; `objects` maps identity numbers to contents.

    Values deeper than `DEPTH` are cut: a chain of lists can be as long as a trace.

    Raises ValueError if it is not an encoded value, and DamagedRows (a KeyError) if an object is missing.
    """
    return _Decoder(objects).value(encoded)


EXTENT_CHARS = 64


def extent(roots: Iterable[Encoded], objects: Mapping[int, Content], max_count: int) -> int:
    """The number of encoded values in these roots and in all objects that they lead to, up to `max_count`.

    Each object counts once. `EXTENT_CHARS` characters of text count as a value.
    """
    count = 0
    visited: set[int] = set()
    todo = [*islice(roots, max_count)]
    while todo and count < max_count:
        part = todo.pop()
        count += 1
        if isinstance(part, str):
            count += len(part) // EXTENT_CHARS
        elif isinstance(part, dict):
            count += sum(map(len, part)) // EXTENT_CHARS
            number = part.get("ref")
            if isinstance(number, int) and number not in visited:
                visited.add(number)
                todo.append(objects.get(number))
            todo += part.values()
        elif isinstance(part, list):
            todo += part
    return min(count + len(todo), max_count)


def reached(value: Any, objects: Mapping[int, Any]) -> set[int]:
    """Identity numbers of the objects that an encoded value, or a content, leads to."""
    numbers: set[int] = set()
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            number = part.get("ref")
            if isinstance(number, int) and number in objects and number not in numbers:
                numbers.add(number)
                todo.append(objects[number])
            todo += part.values()
    return numbers


DEPTH = 100
"""Limit on nested values. The tracer nests up to 60 at one event."""
_MADE_ANEW = 2_000
"""Number of objects after which a decoded object in a cycle is reused, wherever the cycle was cut: a dense
graph has too many paths."""


class _Decoder:
    def __init__(self, objects: Mapping[int, Content]) -> None:
        self.objects = objects
        self.decoded: dict[int, Value] = {}
        self.open: set[int] = set()
        self.cycles = 0
        """How often the decoder met an object that it was still decoding, or that was too deep."""
        self.objects_decoded = 0
        self.depth = 0

    def value(self, encoded: Encoded) -> Value:
        if encoded is None or isinstance(encoded, (bool, int, float, str)):
            return Value("atom", type(encoded).__name__, atom=encoded)
        if not isinstance(encoded, dict) or not encoded:
            raise ValueError(f"not an encoded value: {encoded!r:.80}")
        if "ref" in encoded:
            return self.object(encoded["ref"])
        for kind, read in _READERS.items():
            if kind in encoded:
                if self.depth >= DEPTH:
                    self.cycles += 1
                    return Value("opaque", encoded.get("type", kind), cut="deep")
                self.depth += 1
                value = read(self, kind, encoded)
                self.depth -= 1
                return value
        raise ValueError(f"not an encoded value: {encoded!r:.80}")

    def object(self, number: int) -> Value:
        if number in self.decoded:
            return self.decoded[number]
        content = self.objects.get(number)
        if content is None:
            raise DamagedRows(f"a value refers to object #{number}, which is missing")
        kind, type_ = content["kind"], content["type"]
        if number in self.open:
            self.cycles += 1
            return Value("ref", type_, text=kind, id=number)
        if self.depth >= DEPTH:
            self.cycles += 1
            return Value("opaque", type_, id=number, cut="deep")
        self.depth += 1
        self.open.add(number)
        self.objects_decoded += 1
        cycles = self.cycles
        items: tuple[Any, ...]
        if kind in ("dict", "table") or content.get("base") == "dict":
            items = tuple((self.value(k), self.value(v)) for k, v in content.get("items", ()))
        else:
            items = tuple(self.value(item) for item in content.get("items", ()))
        value = Value(
            kind,
            type_,
            text=content.get("text"),
            id=number,
            items=items,
            fields=tuple((name, self.value(v)) for name, v in content.get("fields", {}).items()),
            length=content.get("length"),
            cut=content.get("cut"),
            names=(content["base"],) if "base" in content else (),
            shape=tuple(content["shape"]) if "shape" in content else None,
            dtype=content.get("dtype"),
        )
        self.open.discard(number)
        self.depth -= 1
        # The cut in a cycle depends on where it was entered: such a value cannot be reused elsewhere.
        if self.cycles == cycles or self.objects_decoded > _MADE_ANEW:
            self.decoded[number] = value
        return value

    def _number_or_text(self, kind: str, encoded: Encoded) -> Value:
        length, cut = encoded.get("length"), encoded.get("cut")
        if kind == "int" and cut is not None:
            return Value("atom", "int", text=encoded["int"], length=length, cut=cut)
        return Value("atom", kind, atom=_ATOMS[kind](encoded[kind]), length=length, cut=cut)

    def _sequence(self, kind: str, encoded: Encoded) -> Value:
        items = tuple(map(self.value, encoded[kind]))
        length, is_column = encoded.get("length"), kind == "array"
        return Value(
            kind,
            "column" if is_column else encoded.get("type", kind),
            items=items,
            names=tuple(encoded.get("names", ())),
            length=length,
            cut=encoded.get("cut"),
            shape=(len(items) if length is None else length,) if is_column else None,
            dtype=encoded.get("dtype"),
        )

    def _text(self, kind: str, encoded: Encoded) -> Value:
        text, type_ = encoded["text"], encoded["type"]
        if type_ == "str" and "cut" not in encoded and text[:1] in ("'", '"') and text[-1:] == text[:1]:
            return Value("atom", "str", atom=_unescaped(text[1:-1]))
        return Value("text", type_, text=text, cut=encoded.get("cut"))

    def _method(self, kind: str, encoded: Encoded) -> Value:
        owner = self.value(encoded["self"])
        return Value("method", "method", text=encoded["method"], fields=(("self", owner),))

    def _cut(self, kind: str, encoded: Encoded) -> Value:
        return UNBOUND if kind == "unbound" else Value("opaque", encoded["type"], cut=encoded["cut"])


_ATOMS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bytes": lambda text: text.encode("latin-1"),
    "complex": lambda parts: complex(*map(float, parts)),
}


def _unescaped(text: str) -> str:
    """The characters of a str, given the text between the quotes of its `repr`."""
    return text.encode("ascii", "backslashreplace").decode("unicode_escape", "replace")


_READERS: dict[str, Callable[[_Decoder, str, Encoded], Value]] = {
    **dict.fromkeys(("tuple", "array"), _Decoder._sequence),
    **dict.fromkeys(_ATOMS, _Decoder._number_or_text),
    **dict.fromkeys(("frozenset", "range", "slice"), _Decoder._sequence),
    "text": _Decoder._text,
    "method": _Decoder._method,
    **dict.fromkeys(("unbound", "cut"), _Decoder._cut),
}
"""The key that identifies the form of an encoded value -> the method that reads it."""


def render(value: Value, *, max_chars: int | None = None, ids: bool = False) -> str:
    """The value as text: its `repr` if it is whole and consists of builtins.

    Other values are shown in angle brackets or as ``Type(field=...)``, with identity numbers instead of
    addresses, and ``...`` with a count instead of omitted items.

    max_chars: a longer text loses its middle, visibly.
    ids: show the identity numbers of containers too, as ``#3[1, 2]``, so that aliases are visible.
    """
    text = _Renderer(ids, 4 * max_chars if max_chars else None).text(value)
    if max_chars is not None and len(text) > max_chars:
        head = max_chars * 2 // 3
        text = f"{text[:head]} ... {text[-(max_chars - head) :]}"
    return text


class _Renderer:
    def __init__(self, ids: bool, budget: int | None) -> None:
        self.ids = ids
        self.budget = budget
        self.spent = 0
        self.open: set[int] = set()

    def text(self, value: Value) -> str:
        if self.budget is not None and self.spent > self.budget:
            return "..."
        text = self._text(value)
        self.spent += len(text) if not value.items and not value.fields else 2
        return text

    def _text(self, value: Value) -> str:
        kind = value.kind
        if kind == "atom":
            return _atom_text(value)
        if kind == "text":
            return value.text or ""
        if kind == "unbound":
            return "<unbound>"
        if kind in ("range", "slice"):
            return range_text(value, [self.text(item) for item in value.items])
        if kind == "ref":
            brackets = {"list": "[...]", "dict": "{...}"}
            again = brackets.get(value.text or "") if value.type == value.text else None
            return again if again and not self.ids else f"<{value.type} #{value.id} again>"
        if kind == "method":
            return f"<method {value.text} of {self.text(value['self'])}>"
        if kind == "opaque":
            return f"<{value.type}{_number(value)}{' ' + value.cut if value.cut else ''}>"
        mark = f"#{value.id}" if self.ids and value.id is not None else ""
        if kind in ("tuple", "frozenset", *_CONTAINERS):
            return mark + self._container(value)
        if kind in ("array", "table"):
            return self._array(value)
        return self._object(value)

    def _array(self, value: Value) -> str:
        if value.kind == "table":
            parts = [f"{self.text(label)}: {self.text(column)}" for label, column in value.items]
            parts += [f"... {value.length - len(value.items)} more columns"] if value.length else []
            parts.append(f"shape={value.shape}")
        elif value.type == "column":
            return f"[{self._items(value)}] {value.dtype}"
        else:
            parts = [f"[{self._items(value)}]"]
            parts += [f"shape={value.shape}"] if value.shape is not None and len(value.shape) != 1 else []
            parts.append(f"dtype={value.dtype}")
        parts += [f"{name}={self.text(field)}" for name, field in value.fields]
        return f"{value.type}{_number(value)}({', '.join(parts)})"

    def _items(self, value: Value) -> str:
        if value.kind == "dict" or value.names == ("dict",):
            texts = [f"{self.text(k)}: {self.text(v)}" for k, v in value.items]
        else:
            texts = [self.text(item) for item in value.items]
        if value.cut is not None:
            omitted = f" {value.length - len(value.items)} more" if value.length is not None else ""
            texts.append(f"...{omitted}")
        return ", ".join(texts)

    def _container(self, value: Value) -> str:
        inside, kind = self._items(value), value.kind
        if value.names and kind == "tuple":
            pairs = zip(value.names, value.items, strict=False)
            return f"{value.type}({', '.join(f'{n}={self.text(v)}' for n, v in pairs)})"
        if kind == "bytearray":
            text = repr(bytearray(item.atom for item in value.items))  # quotes differ from those of bytes
            return f"{text[:-1]}, ...)" if value.cut else text
        return bracketed(value, inside)

    def _object(self, value: Value) -> str:
        parts = [self._items(value)] if value.items or value.cut else []
        parts += [f"{name}={self.text(field)}" for name, field in value.fields]
        if value.kind == "exception":
            return f"{value.type}({', '.join(parts)})"
        if value.text is not None and not parts:
            return f"<{value.text}{_number(value)}>"
        head = value.text if value.text is not None else value.type
        if value.kind == "object":
            if value.names:  # a subclass of a builtin container
                opening, closing = ("{", "}") if value.names[0] in ("dict", "set") else ("[", "]")
                parts = [
                    f"{opening}{self._items(value)}{closing}",
                    *parts[1 if value.items or value.cut else 0 :],
                ]
            return f"{head}{_number(value)}({', '.join(parts)})"
        return f"<{head}{_number(value)}{' ' if parts else ''}{', '.join(parts)}>"


def bracketed(value: Value, inside: str) -> str:
    """A list, tuple, dict, set or frozenset, given the text of its items."""
    kind = value.kind
    if kind == "list":
        text = f"[{inside}]"
    elif kind == "tuple":
        text = f"({inside},)" if len(value.items) == 1 and not value.cut else f"({inside})"
    elif kind == "frozenset":
        return f"{value.type}({{{inside}}})" if inside else f"{value.type}()"
    else:
        text = f"{{{inside}}}" if inside or kind == "dict" else "set()"
    return text if value.type == kind else f"{value.type}({text})"


def _number(value: Value) -> str:
    return f"#{value.id}" if value.id is not None else ""


def _atom_text(value: Value) -> str:
    if value.cut is None:
        return repr(value.atom)
    if value.type == "int":
        return f"<int of {value.length} bits>"
    return f"<{value.type} of {value.length}: {value.atom!r}...>"


def range_text(value: Value, parts: list[str]) -> str:
    if value.kind == "range" and parts[2:] == ["1"]:
        parts = parts[:2]
    return f"{value.kind}({', '.join(parts)})"


_scan: Callable[[str, int], tuple[Encoded, int]] = vars(json.JSONDecoder())["scan_once"]


def loads(text: str) -> Encoded:
    """Decode one JSON text."""
    try:
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    except StopIteration:
        pass
    return json.loads(text)  # slower, but its error says what is wrong with the text
