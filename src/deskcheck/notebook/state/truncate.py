"""A value as text of about a number of characters: texts are cut at their end, containers between their
elements, numbers never. Identity numbers are not shown."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from deskcheck.recording.value import Value, bracketed, range_text

T = TypeVar("T")

DIGITS = 6
"""Significant digits of a rounded number."""
_SHORTEST = 12
"""Minimum number of characters for an element."""
_SHARES = 4
"""Number of elements that share the remaining room."""
_MORE = 12
"""Characters for the number of left-out elements."""
_LONGEST_NUMBER = 40
"""Maximum number of characters of a number that is not rounded."""
_WORD = 24
"""Number of characters by which a text may be cut earlier, to end with a word."""


@dataclass(frozen=True, slots=True)
class Truncated:
    """A value as text. cut: whether more was recorded. rounded: whether numbers are rounded to `DIGITS`."""

    text: str
    cut: bool = False
    rounded: bool = False


def truncate(value: Value, chars: int) -> Truncated:
    """The value in about `chars` characters; more only for a single number or name.

    If not everything fits, the floats of a container are rounded; then elements are replaced by their number.
    Arrays are lists, in lists for several dimensions.
    """
    is_array = value.kind == "array"
    value = nested(value) if is_array else value
    writer = _Writer(exact=True, in_order=is_array)
    text = writer.text(value, chars)
    if not writer.cut and len(text) <= max(chars, _LONGEST_NUMBER):
        return Truncated(text, rounded=writer.rounded)
    if value.kind != "atom":
        writer = _Writer(exact=False, in_order=is_array)
        text = writer.text(value, chars)
    return Truncated(text, writer.cut or writer.rounded, writer.rounded)


def nested(array: Value) -> Value:
    """An array as a list, or as lists in lists."""
    if array.shape is None or len(array.shape) < 2:
        return Value("list", "list", items=array.items, length=array.length, cut=array.cut)
    return _rows(array.items, array.shape)


def _rows(items: Sequence[Value], shape: Sequence[int]) -> Value:
    inside = math.prod(shape[1:])
    rows: tuple[Value, ...] = tuple(items)
    if len(shape) > 1 and inside:
        rows = tuple(_rows(items[at : at + inside], shape[1:]) for at in range(0, len(items), inside))
    cut = "long" if len(rows) < shape[0] else None
    return Value("list", "list", items=rows, length=shape[0] if cut else None, cut=cut)


def short_text(text: str, chars: int) -> str:
    """The beginning of a text, to the end of a word."""
    if len(text) <= chars:
        return text
    end = chars
    while end > max(chars - _WORD, 1) and _in_word(text[end - 1]) and _in_word(text[end]):
        end -= 1
    return text[: end if end > max(chars - _WORD, 1) else chars].rstrip()


def _in_word(char: str) -> bool:
    return char.isalnum() or char in "._"


def fitting(texts: Iterable[T], room: int, size: Callable[[T], int]) -> list[T]:
    """The first items that there is room for."""
    fits: list[T] = []
    for text in texts:
        room -= size(text)
        if room < 0:
            break
        fits.append(text)
    return fits


def with_rest(texts: list[str], total: int) -> list[str]:
    """The texts, and the number of the others."""
    return texts if len(texts) == total else [*texts, f"... {total - len(texts)} more"]


class _Writer:
    """Writes values in limited room.

    exact: do not round floats.
    in_order: the first elements take the room that they need. Else each of a few elements gets a share.
    """

    def __init__(self, *, exact: bool, in_order: bool) -> None:
        self.exact = exact
        self.in_order = in_order
        self.cut = False
        self.rounded = False

    def text(self, value: Value, room: int) -> str:
        kind = value.kind
        if kind == "atom":
            return self._atom(value, room)
        if kind in ("text", "range", "slice", "method"):
            return self._named(value, room)
        if kind == "ref":
            brackets = {"list": "[...]", "dict": "{...}"}
            return brackets.get(value.type, f"<{value.type} again>")
        if kind == "opaque":
            return "[masked]" if value.cut == "masked" else f"<{value.type}>"
        if kind == "unbound":
            return "<unbound>"
        if kind in ("function", "class"):
            return f"<{value.text or value.type}>"
        if kind == "array":
            return self._array(value, room)
        if kind == "table":
            return f"<{value.type} of shape {value.shape}>"
        if kind in ("list", "tuple", "set", "frozenset", "dict", "bytearray"):
            return self._container(value, room)
        return self._object(value, room)

    def _atom(self, value: Value, room: int) -> str:
        atom = value.atom
        if value.type == "int":
            return self._int(value, room)
        if isinstance(atom, float) and not self.exact:
            return self._rounded(atom, f"{atom:.{DIGITS}g}")
        if isinstance(atom, complex) and not self.exact:
            return self._rounded(atom, f"({atom:.{DIGITS}g})")
        if not isinstance(atom, str | bytes):
            return repr(atom)
        literal = repr(atom)
        if value.cut == "masked" or (value.cut is None and len(literal) <= max(room, _WORD)):
            return literal
        keep = max(room, _WORD) - 5
        if len(atom) > keep:
            self.cut = True
            atom = short_text(atom, keep) if isinstance(atom, str) else atom[:keep]
        return f"{atom!r}..."

    def _int(self, value: Value, room: int) -> str:
        if value.cut is not None:
            return f"<int of {value.length} bits>"
        try:
            text = repr(value.atom)
        except ValueError:  # more digits than Python writes
            return f"<int of {int(value.atom).bit_length()} bits>"
        if len(text) <= max(room, _LONGEST_NUMBER):
            return text
        self.cut = self.rounded = True
        return f"{Decimal(value.atom):.{DIGITS - 1}e}"

    def _rounded(self, number: float | complex, text: str) -> str:
        if len(text) >= len(repr(number)) or type(number)(text) == number:
            return repr(number)
        self.rounded = True
        return text

    def _named(self, value: Value, room: int) -> str:
        if value.kind == "method":
            return f"<method {value.text} of {value['self'].type}>"
        if value.kind in ("range", "slice"):
            return range_text(value, [self.text(item, room) for item in value.items])
        text = value.text or ""
        if len(text) <= max(room, 2 * _LONGEST_NUMBER):
            return text
        self.cut = True
        return f"{short_text(text, max(room, _SHORTEST))} ..."

    def _array(self, value: Value, room: int) -> str:
        text = self.text(nested(value), room)
        return text if value.type == "column" else f"{value.type.rpartition('.')[2]}({text})"

    def _container(self, value: Value, room: int) -> str:
        kind = value.kind
        if kind == "bytearray":
            atom = bytes(item.atom for item in value.items)
            as_bytes = Value("atom", "bytes", atom=atom, length=value.length, cut=value.cut)
            return f"bytearray({self._atom(as_bytes, room)})"
        if value.names and kind == "tuple":
            fields = [*zip(value.names, value.items, strict=False)]
            return f"{value.type}({', '.join(self._fields(fields, room))})"
        room -= 2 if value.type == kind else len(value.type) + 4
        return bracketed(value, ", ".join(self._items(value, room)))

    def _object(self, value: Value, room: int) -> str:
        head = value.text if value.text is not None else value.type
        room -= len(head) + 2
        parts: list[str] = []
        if value.names:  # a subclass of a builtin container
            opening, closing = "{}" if value.names[0] in ("dict", "set") else "[]"
            parts.append(f"{opening}{', '.join(self._items(value, room - 2))}{closing}")
        elif value.items or value.cut:
            parts += self._items(value, room)
        parts += self._fields(value.fields, room - sum(map(len, parts)))
        if value.text is not None or (value.kind == "object" and not parts):
            return f"<{head}{' ' if parts else ''}{', '.join(parts)}>"
        return f"{head}({', '.join(parts)})"

    def _items(self, value: Value, room: int) -> list[str]:
        pairs = value.kind == "dict" or value.names == ("dict",)
        total = len(value.items) if value.length is None or value.cut is None else value.length
        texts = [*self._fitting(value.items, room, pairs=pairs, total=total)]
        if len(texts) < len(value.items):
            self.cut = True
        if len(texts) == total and value.cut is not None and value.length is None:
            return [*texts, "..."]
        return with_rest(texts, total)

    def _fitting(self, items: Sequence[Any], room: int, *, pairs: bool, total: int) -> Iterator[str]:
        for number, item in enumerate(items):
            share = max(room // min(len(items) - number, _SHARES), _SHORTEST)
            before = self.cut, self.rounded
            in_order = not pairs and (self.in_order or total > _SHARES)
            if in_order and not number:
                share = max(room - (_MORE if total > 1 else 0), _SHORTEST)
            text = self._item(item, share, room // 2, pairs=pairs)
            if number and in_order and self.cut and not before[0]:
                self.rounded = before[1]
                return
            # The last one needs no room for how many more there are.
            needed = len(text) if number + 1 == total else len(text) + _MORE
            if needed > room and (number or len(text) > 2 * max(room, _SHORTEST)):
                self.cut, self.rounded = before
                return
            room -= len(text) + 2
            yield text

    def _item(self, item: Any, share: int, limit: int, *, pairs: bool) -> str:
        """An element, whole if it takes up to `limit` characters, else cut to its share."""
        if pairs:
            label = self.text(item[0], share)
            return (
                f"{label}: {self._item(item[1], max(share - len(label) - 2, _SHORTEST), limit, pairs=False)}"
            )
        before = self.cut, self.rounded
        text = self.text(item, limit)
        if len(text) <= limit and (self.cut == before[0]):
            return text
        self.cut, self.rounded = before
        return self.text(item, share)

    def _fields(self, fields: Sequence[tuple[str, Value]], room: int) -> list[str]:
        texts: list[str] = []
        ordered = sorted(fields, key=lambda field: field[0].startswith("_"))
        for number, (name, value) in enumerate(ordered):
            share = max(room // min(len(fields) - number, _SHARES), _SHORTEST)
            text = f"{name}={self.text(value, max(share - len(name) - 1, _SHORTEST))}"
            if number and len(text) > room:
                self.cut = True
                break
            room -= len(text) + 2
            texts.append(text)
        return with_rest(texts, len(fields))
