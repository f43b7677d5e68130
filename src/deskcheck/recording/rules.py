"""Checks rows of a hostile program or file: types, JSON forms, depth, references, indices.

It does not check whether the rows are true, nor whether other objects still need one that is gone. `_rows`
does the same in C, if it is built.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from deskcheck.recording.block import MAGIC
from deskcheck.recording.block import rows as block_rows
from deskcheck.recording.trace import Kind, Row

_compiled: Any
try:
    from deskcheck.recording import _rows as _compiled
except ImportError:  # not built: the same in Python
    _compiled = None

DEPTH = 250
"""Limit on nested lists and objects in a JSON column. The tracer's limit produces no more than half of it."""
THREADS = 10_000
"""Limit on thread numbers. A recording has a trace for every number up to the highest, which costs memory."""
OBJECTS = 500_000
"""Limit on the objects of a recording that exist at a time: the checker remembers each."""
EDITED_CHARS = 100_001
"""Limit on the numbers of an edit: longer texts are written whole (`EDITED_MOST` in texts.h)."""
BLOCK_EVENTS = 1 << 15
"""Limit on the events of a binary block. A tracer ends a block at this number of bytes."""
_NAME_CHARS = 100_000
"""Limit on a function's qualified name, and on the name of a file."""
NAMES_CHARS = 512 << 20
"""Limit on the names in all rows of a recording. A block contains each once, but a file in every row."""
_SHORT_NAMES = 300
"""Function and file of a row count only if they are longer than this together."""
_INT32 = 1 << 31
_NUMBERS = 1 << 53
_DIGITS = 4300
"""Limit on the digits of an int, which is that of the interpreter."""

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_ROW_BYTES = 1000
"""Limit on a row as JSON, without its strings."""

_NO_ROW = f"not the {len(Row._fields)} fields of an event"
_KINDS = frozenset(Kind)
_CONTENTS = frozenset(
    {
        *("list", "dict", "set", "bytearray", "array", "table", "object", "exception"),
        *("iterator", "generator", "function", "class", "opaque"),
    }
)
_IDENTITY = re.compile("0|[1-9][0-9]{0,15}")
_INT_TEXT = re.compile(r"-?[0-9]+")
_FLOAT_TEXT = re.compile(r"[-+]?(?:nan|inf|[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?)")
_COLUMNS = ("locals", "stack", "globals", "objects", "caller", "value", "left_out")
"""Columns with JSON."""


class _Bad(ValueError):
    """A row breaks a rule; the message does not say where."""


def _no_constant(text: str) -> Any:
    raise _Bad(f"{text} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _need(right: bool, message: str) -> None:
    if not right:
        raise _Bad(message)


def _is_int(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value < high


def _depth(text: str) -> int:
    """Depth of the lists and objects in a text, if it is valid JSON."""
    deepest = depth = at = 0
    if text.count("[") + text.count("{") <= DEPTH:
        return 0
    for match in re.finditer(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+|[\[{]|[\]}]', text, re.DOTALL):
        at = match.start()
        if text[at] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif text[at] in "]}":
            depth -= 1
    return deepest


def _parsed(text: str) -> Any:
    _need(_depth(text) <= DEPTH, f"more than {DEPTH} deep")
    try:
        value, end = _DECODER.raw_decode(text)
    except _Bad:
        raise
    except (ValueError, RecursionError):
        raise _Bad("not JSON") from None
    _need(end == len(text), "more than one JSON text")
    return value


class _Texts:
    """Checks the JSON columns of one row."""

    def __init__(self) -> None:
        self.references: list[int] = []
        """Identity numbers that the row refers to."""

    def value(self, value: Any) -> None:
        """Check an encoded value."""
        if value is None or type(value) in (bool, str):
            return
        if type(value) is int:
            _need(-(1 << 63) <= value < 1 << 63, "a number of more than 64 bits")
            return
        if type(value) is float:
            return
        _need(type(value) is dict, "a list is not an encoded value")
        known_by = next((key for key in _FORMS if key in value), None)
        _need(known_by is not None, "not an encoded value")
        required, optional, is_right = _FORMS[known_by or ""]
        keys = value.keys() - {known_by}
        _need(required <= keys <= required | optional, "not an encoded value")
        for key, part in value.items():
            self.part(key, part)
        _need(is_right(value), f"not a valid {known_by}")

    def part(self, key: str, part: Any) -> None:
        """Check the value of a key of an encoded value."""
        if key in ("tuple", "frozenset", "array", "range", "slice"):
            self.values(part)
        elif key == "self":
            self.value(part)
        elif key == "ref":
            _need(_is_int(part, 0, _NUMBERS), "not an identity number")
            self.references.append(part)
        elif key == "length":
            _need(_is_int(part, 0, 1 << 63), "not a length")
        elif key == "unbound":
            _need(part is True, "not an encoded value")
        elif key in ("names", "complex"):
            _need(type(part) is list and all(type(item) is str for item in part), "not a list of texts")
        else:
            _need(type(part) is str, f"{key} is not text")

    def values(self, values: Any) -> None:
        _need(type(values) is list, "not a list of values")
        for value in values:
            self.value(value)

    def names(self, names: Any) -> None:
        _need(type(names) is dict, "not names with values")
        for value in names.values():
            if type(value) is dict and "edit" in value:
                self.edit(value)
            else:
                self.value(value)

    def edit(self, edit: dict[str, Any]) -> None:
        """Check an edit of the text that a name has."""
        _need(edit.keys() in ({"edit"}, {"edit", "length", "cut"}), "not an edit")
        parts = edit["edit"]
        _need(type(parts) is list and len(parts) == 3, "not an edit")
        _need(all(_is_int(part, 0, EDITED_CHARS) for part in parts[:2]), "not an edit")
        self.part("str", parts[2])
        for key in edit.keys() - {"edit"}:
            self.part(key, edit[key])

    def items(self, items: Any, way: str) -> None:
        """Check the items of a container. way: ``pairs``, ``bytes``, or ``values``."""
        _need(type(items) is list, "not a list of items")
        for item in items:
            if way == "pairs":
                _need(type(item) is list and len(item) == 2, "an item of a mapping that is not a pair")
                self.values(item)
            elif way == "bytes":
                _need(_is_int(item, 0, 256), "not a byte")
            else:
                self.value(item)

    def content(self, content: Any) -> str:
        """Check the content of an object; returns the way of its items."""
        _need(content.keys() <= _CONTENT_KEYS and "type" in content, "not the content of an object")
        for key in ("kind", "type", "base", "text", "cut", "dtype"):
            _need(type(content.get(key, "")) is str, f"{key} is not text")
        _need(content["kind"] in _CONTENTS, "an object of an unknown kind")
        _need(_is_int(content.get("length", 0), 0, 1 << 63), "not a length")
        shape = content.get("shape", [])
        _need(type(shape) is list and all(_is_int(size, 0, 1 << 63) for size in shape), "not a shape")
        way = "values"
        if content["kind"] in ("dict", "table") or content.get("base") == "dict":
            way = "pairs"
        elif content["kind"] == "bytearray":
            way = "bytes"
        self.items(content.get("items", []), way)
        self.names(content.get("fields", {}))
        return way

    def change(self, change: Any, way: str) -> None:
        """Check a change of an object."""
        _need(change.keys() <= _CHANGE_KEYS, "not a change of an object")
        for key in ("cut", "text"):
            _need(type(change.get(key)) in (str, type(None)), f"{key} is not text")
        length = change.get("length")
        _need(length is None or _is_int(length, 0, 1 << 63), "not a length")
        if "splice" in change:
            splice = change["splice"]
            _need(type(splice) is list and len(splice) == 3, "not a splice")
            _need(all(_is_int(part, 0, 1 << 63) for part in splice[:2]), "not a splice")
            self.items(splice[2], way)
        self.names(change.get("fields", {}))

    def caller(self, caller: Any) -> None:
        _need(type(caller) is dict and caller.keys() <= _CALLER_KEYS, "not a caller")
        _need(_is_int(caller.get("frame"), 0, _INT32), "a caller without a frame")
        _need(_is_int(caller.get("offset"), -_INT32, _INT32), "a caller without a place")
        at = caller.get("at", [])
        _need(type(at) is list, "not a place in a line")
        _need(all(part is None or _is_int(part, -_INT32, _INT32) for part in at), "not a place in a line")
        _need(type(caller.get("via")) in (str, type(None)), "via is not text")
        if "locals" in caller:
            self.names(caller["locals"])
        if "stack" in caller:
            self.values(caller["stack"])


_CONTENT_KEYS = frozenset("kind type items fields base text length cut shape dtype".split())
_CHANGE_KEYS = frozenset("splice fields length cut text".split())
_CALLER_KEYS = frozenset("frame offset at via locals stack".split())


def _is_float(text: str) -> bool:
    return _FLOAT_TEXT.fullmatch(text) is not None


def _is_int_form(value: dict[str, Any]) -> bool:
    text = value["int"]
    return "length" in value if "cut" in value else len(text) <= _DIGITS and bool(_INT_TEXT.fullmatch(text))


class _Form(NamedTuple):
    """One form of an encoded value. required, optional: keys besides the one that identifies the form."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    is_right: Callable[[dict[str, Any]], bool] = lambda value: True


_BOUNDED = frozenset({"length", "cut"})
_TYPE = frozenset({"type"})
_FORMS = {
    "ref": _Form(),
    "tuple": _Form(optional=_BOUNDED | {"type", "names"}),
    "frozenset": _Form(optional=_BOUNDED | _TYPE),
    "array": _Form(frozenset({"dtype"}), _BOUNDED),
    "str": _Form(_BOUNDED),
    "int": _Form(optional=_BOUNDED, is_right=_is_int_form),
    "float": _Form(is_right=lambda value: _is_float(value["float"])),
    "bytes": _Form(optional=_BOUNDED, is_right=lambda value: max(value["bytes"], default="") <= "\xff"),
    "complex": _Form(
        is_right=lambda value: len(value["complex"]) == 2 and all(map(_is_float, value["complex"]))
    ),
    "range": _Form(is_right=lambda value: len(value["range"]) == 3),
    "slice": _Form(is_right=lambda value: len(value["slice"]) == 3),
    "text": _Form(_TYPE, _BOUNDED),
    "method": _Form(frozenset({"self"})),
    "unbound": _Form(),
    "cut": _Form(_TYPE),
}
"""Key that identifies a form -> the form. The first of these keys that a value has counts."""


class _Thread:
    """The state of a thread after the rows that were checked so far."""

    def __init__(self) -> None:
        self.index = 0
        self.ways: dict[int, str] = {}
        """Number of each existing object -> the way of its items."""


class _Checker:
    """`Checker`, written in Python."""

    def __init__(self, references: bool) -> None:
        self.references = references
        self._names = 0
        self._objects = 0
        self._threads: dict[int, _Thread] = {}

    def block(self, block: bytes) -> int:
        count = 0
        for row in block_rows(block):
            _need(count < BLOCK_EVENTS, "more events than a block has")
            self.row(row)
            count += 1
        return count

    def row(self, row: Row) -> None:
        _need(_is_int(row.thread, 0, THREADS), f"its thread is not in 0..{THREADS - 1}")
        _need(_is_int(row.index, 0, 1 << 63), "its index is not a number")
        _need(type(row.kind) is str and row.kind in _KINDS, "its kind is unknown")
        _need(_is_int(row.frame, 0, _INT32), "its frame is not a number")
        for name in (row.function, row.file):
            _need(type(name) is str and len(name) <= _NAME_CHARS, "it has no function, or no file")
        _need(_is_int(row.line, -_INT32, _INT32), "its line is not a number")
        _need(_is_int(row.offset, -_INT32, _INT32), "its offset is not a number")
        _need(all(type(text) in (str, type(None)) for text in row[8:]), "a column is not text")
        thread = self._threads.get(row.thread)
        if thread is None:
            thread = self._threads[row.thread] = _Thread()
        if self.references:
            _need(
                row.index == thread.index,
                f"the next event of thread {row.thread} should have index {thread.index}",
            )
        texts = _Texts()
        for column in _COLUMNS:
            text = getattr(row, column)
            if text:
                try:
                    self._column(column, _parsed(text), texts, thread)
                except _Bad as error:
                    raise _Bad(f"{column}: {error}") from None
        if self.references:
            for number in texts.references:
                _need(number in thread.ways, f"it refers to #{number}, which is unknown")
            thread.index += 1
        chars = len(row.function) + len(row.file)
        self._names += chars if chars > _SHORT_NAMES else 0
        if self._names > NAMES_CHARS:
            raise OverflowError(f"names of more than {NAMES_CHARS} characters in all rows")

    def _column(self, name: str, value: Any, texts: _Texts, thread: _Thread) -> None:
        if name in ("locals", "globals"):
            texts.names(value)
        elif name == "stack":
            texts.values(value)
        elif name == "value":
            texts.value(value)
        elif name == "caller":
            texts.caller(value)
        elif name == "left_out":
            _need(type(value) is dict, "not numbers")
            _need(all(_is_int(count, 0, 1 << 63) for count in value.values()), "not numbers")
        else:
            _need(type(value) is dict, "not objects")
            for key, change in value.items():
                _need(_IDENTITY.fullmatch(key) is not None, "not an identity number")
                self._object(int(key), change, texts, thread)

    def _object(self, number: int, change: Any, texts: _Texts, thread: _Thread) -> None:
        if change is None:
            self._objects -= thread.ways.pop(number, None) is not None
            return
        _need(type(change) is dict, "not the content of an object")
        if "kind" in change:
            way = texts.content(change)
            if self.references and number not in thread.ways:
                if self._objects >= OBJECTS:
                    raise OverflowError(f"more than {OBJECTS} objects at a time")
                self._objects += 1
            thread.ways[number] = way
        elif self.references:
            _need(number in thread.ways, "a change of an unknown object")
            texts.change(change, thread.ways[number])
        else:
            splice = change.get("splice", [])
            items = splice[2] if type(splice) is list and len(splice) == 3 else []
            pairs = type(items) is list and bool(items) and type(items[0]) is list
            texts.change(change, "pairs" if pairs else "values")


class Checker:
    """Checks rows one after another.

    references: also check indices and references. The rows must be those of a trace, complete and in order.
    """

    def __init__(self, references: bool = True) -> None:
        rows: Any = (_Checker if _compiled is None else _compiled.Checker)(references)
        self._block: Callable[[bytes], int] = rows.block
        self.row: Callable[[Row], None] = rows.row
        """Check one row. Raises as `block` does."""

    def block(self, block: bytes) -> int:
        """Check a block of events (`recording.block`); returns their number.

        Raises ValueError if it is not a block, or a row is wrong. Raises OverflowError if the trace has more
        than `OBJECTS` at a time, or names of more than `NAMES_CHARS`. Do not use it after an error.
        """
        if block.startswith(MAGIC):
            return self._block(block)
        self.row(row_of(block))
        return 1


def row_of(block: bytes) -> Row:
    """The row of a JSON block. Raises ValueError if it is not valid."""
    try:
        _need(len(_STRINGS.sub(b"", block)) <= _ROW_BYTES, "not the JSON of an event")
        fields = _parsed(block.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        raise ValueError("not JSON") from None
    _need(type(fields) is list and len(fields) == len(Row._fields), _NO_ROW)
    return Row(*fields)


def check(rows: Iterable[Row]) -> None:
    """Check rows of a file, each by itself. Raises ValueError at the first bad one."""
    checker = Checker(references=False)
    for row in rows:
        checker.row(row)


def check_value(encoded: Any, objects: dict[str, Any]) -> None:
    """Check an encoded value, and the contents of the objects that it leads to. Raises ValueError."""
    texts = _Texts()
    texts.value(encoded)
    for number, content in objects.items():
        _need(_IDENTITY.fullmatch(number) is not None, "not an identity number")
        _need(type(content) is dict and "kind" in content, "not the content of an object")
        texts.content(content)
    for reference in texts.references:
        _need(str(reference) in objects, f"it refers to #{reference}, which is unknown")
