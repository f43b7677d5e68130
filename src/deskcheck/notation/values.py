"""Values as text, and back. Complete values of builtins have Python's `repr`, all others these forms:

    #1=[1, 2]                            a value that occurs again elsewhere in the state ...
    #1                                   ... where this stands for it; this shows cycles and aliases
    [1, 2, ... 98 more]                  cut: 98 more items are not recorded (with a reason, if not number)
    KeyError('k')  P(x=1, y=2)           an exception with its arguments; a named tuple
    <list_iterator over=#1, next=2>      an iterator, with its iterable and the next index
    <Account balance=3, owner='me'>      an instance, with its attributes
    <function f>  <class Account>        of the program
    <generator g (line)=8, n=2>          the line of a generator; names in parentheses are not variables
    <text Decimal "Decimal('1.5')">      an immutable value that its text fully describes, after its type
    <cut deep list>  <opaque socket>     not recorded, with the reason; a type that is not looked into
    <str 'the first' 50000 long>         cut: the beginning of a str of 50000 characters

Anything else: ``<KIND TYPE [items], field=value, :key=JSON>``, the parts of an object's content
(docs/reference/format.md).
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple

from deskcheck.notation.state import UNKNOWN, fields_of
from deskcheck.recording.value import Content, Encoded

INLINE_DEPTH = 20
"""An object that is nested this deep is written separately, to limit the nesting of texts."""
READ_DEPTH = 150
"""Limit for the nesting of values that are read: the sum of `INLINE_DEPTH` and the tracer's limit."""

INT_DIGITS = 4300
"""Limit for the digits that CPython converts to an int by default. Recordings have no longer ones."""

KINDS = frozenset(
    "list dict set bytearray array table object exception iterator generator function class opaque".split()
)
_INLINE = frozenset("text method cut str bytes int column unbound tuple frozenset".split())
_RESERVED = KINDS | _INLINE
_BARE = {("Ellipsis", "ellipsis"): "Ellipsis", ("NotImplemented", "NotImplementedType"): "NotImplemented"}
_ITERATORS = frozenset(
    "list_iterator tuple_iterator str_iterator str_ascii_iterator bytes_iterator bytearray_iterator "
    "range_iterator longrange_iterator list_reverseiterator dict_keyiterator dict_valueiterator "
    "dict_itemiterator set_iterator enumerate zip map filter reversed".split()
)
"""Types for which the kind is left out."""
_CALLED = frozenset("set frozenset bytearray range slice complex".split())
_TITLED = frozenset({"function", "class", "generator"})
"""Kinds whose text is the kind's word and a name."""
_TYPE_OF = {"function": "function", "class": "type", "generator": "generator"}

_NAME = re.compile(r"\.\d+|[^\W\d]\w*")
_FIELD = re.compile(r"\(\w+\)|[^\W\d]\w*")
_DOTTED = re.compile(r"(?:<\w+>|\w|\.(?!\.))+")
_STRING = re.compile(r"[bB]?(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_COMPLEX = re.compile(
    r"\((-?(?:inf|nan|[\d.]+(?:e[+-]?\d+)?))([+-](?:inf|nan|[\d.]+(?:e[+-]?\d+)?))j\)"
    r"|(-?(?:inf|nan|[\d.]+(?:e[+-]?\d+)?))j(?!\w)",
    re.ASCII,
)
_NUMBER = re.compile(
    r"-?(?:inf|nan)\b|-?(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?(?!\w)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_SMALL = re.compile(r" *(-?(?:0|[1-9][0-9]{0,17}))(?=[],)}:>]|$)")
"""The most frequent values, which one match reads."""
_WORDS = {"None": None, "True": True, "False": False}
_LABEL = re.compile(r"#(\d{1,9})(?!\w)")
_MORE = re.compile(r"\.\.\.(?: (\d{1,18}) more)?(?: ([a-z]+))?")
_JSON = json.JSONDecoder()


def name_text(name: str, pattern: re.Pattern[str] = _NAME) -> str:
    """A name before ``=``, quoted if it is ambiguous."""
    return name if pattern.fullmatch(name) and not iskeyword(name) else repr(name)


def title_text(name: str, reserved: frozenset[str] = _RESERVED) -> str:
    """A type's or function's qualified name, quoted if it is ambiguous."""
    return name if _DOTTED.fullmatch(name) and name not in reserved else repr(name)


# -- writing -------------------------------------------------------------------------------------


_MARK = "\0"
"""The mark around a hole while a text is made. `repr`, JSON and other parts never contain it."""


class Hole(NamedTuple):
    """The place of an object in a text: its identity, and its depth inside other values.

    head: the text before it. name: the variable's name, if ``def`` or ``class`` may replace both.
    """

    number: int
    depth: int
    head: str = ""
    name: str | None = None


Pieces = list[str | Hole]
"""A text that does not depend on the state around it, with a hole for each object that it refers to."""


class _Body(NamedTuple):
    """An object's content: as a text, or in pieces if it refers to other objects.

    numbers: the objects that it refers to. deepest: the depth of the deepest of them.
    """

    content: Content
    text: str | None
    pieces: Pieces
    numbers: list[int]
    deepest: int


Bodies = dict[int, _Body]
"""Contents of objects as text, by identity. `ValueWriter` makes a text again if the content has changed."""


class ValueWriter:
    """Writes the values of one state: the text of each value, with labels or contents in its holes.

    objects: contents by identity. roots: all values of the state. pieces: the results of `pieces_of` for the
    roots, if the caller has them. labels: labels by identity; an object with several uses receives one when
    it is first written, and retains it. Give the same dict for all states of a history, and an empty dict for
    a single state. bodies: give the same dict for all states of a run.
    """

    def __init__(
        self,
        objects: Mapping[int, Content],
        roots: Iterable[Encoded],
        labels: dict[int, int],
        *,
        bodies: Bodies | None = None,
        pieces: Pieces | None = None,
    ) -> None:
        self.objects = objects
        self.labels = labels
        self._bodies = {} if bodies is None else bodies
        if pieces is None:
            roots = list(roots)
            pieces = [piece for root in roots for piece in pieces_of(root)]
        self.labelled = self._labelled([piece for piece in pieces if not isinstance(piece, str)], roots)
        """Identities of the objects of this state that have a label."""
        self.pending: set[int] = set()
        """Objects whose content is not written yet, at their first use or by `left`."""

    def _labelled(self, holes: Sequence[Hole], roots: Iterable[Encoded]) -> set[int]:
        met, again = set[int](), set[int]()
        level, depth = [hole.number for hole in holes], max([hole.depth for hole in holes], default=0)
        while level:
            below: list[int] = []
            deepest = 0
            for number in level:
                if number in met:
                    again.add(number)
                    continue
                met.add(number)
                body = self._body(number)
                below += body.numbers
                deepest = max(deepest, body.deepest)
            level, depth = below, depth + deepest
        if depth > INLINE_DEPTH:
            return self._labelled_by_depth(roots)
        return again | (met & self.labels.keys())

    def _labelled_by_depth(self, roots: Iterable[Encoded]) -> set[int]:
        """The result of `_labelled` if objects may be nested so deep that they are written separately."""
        count: dict[int, int] = {}
        parent: dict[int, int | None] = {}
        todo: list[tuple[Encoded, int | None]] = [(root, None) for root in roots]
        for value, inside in todo:  # level by level: a parent comes before its children
            if isinstance(value, dict):
                number = value.get("ref")
                if number is None:
                    todo += [(v, inside) for v in value.values() if isinstance(v, (dict, list))]
                    continue
                count[number] = count.get(number, 0) + 1
                if count[number] == 1:
                    parent[number] = inside
                    content = self.objects.get(number, {})
                    todo += [(v, number) for v in content.get("items", ()) if isinstance(v, (dict, list))]
                    todo += [(v, number) for v in fields_of(content).values() if isinstance(v, (dict, list))]
            elif isinstance(value, list):
                todo += [(v, inside) for v in value if isinstance(v, (dict, list))]
        labelled: set[int] = set()
        depth: dict[int, int] = {}
        for number, inside in parent.items():
            depth[number] = 0 if inside is None or inside in labelled else depth[inside] + 1
            if count[number] > 1 or number in self.labels or depth[number] > INLINE_DEPTH:
                labelled.add(number)
        return labelled

    def label(self, number: int) -> int:
        return self.labels.setdefault(number, len(self.labels) + 1)

    def left(self) -> list[str]:
        """The pending objects, each as ``#1=...``."""
        parts = []
        while self.pending:
            number = min(self.pending, key=self.label)
            self.pending.discard(number)
            parts.append(f"#{self.label(number)}={self.content(number)}")
        return parts

    def text(self, value: Encoded) -> str:
        return self.fill(pieces_of(value))

    def content(self, number: int) -> str:
        """The content of an object, without its label."""
        return self.fill(self._body(number).pieces)

    def fill(self, pieces: Pieces) -> str:
        """The text of pieces, with their holes filled."""
        texts: list[str] = []
        self._fill(pieces, 0, texts)
        return "".join(texts)

    def _body(self, number: int) -> _Body:
        content = self.objects.get(number, UNKNOWN)
        body = self._bodies.get(number)
        if body is None or body.content is not content:
            pieces = _pieces(_content_text(content))
            holes = [piece for piece in pieces if not isinstance(piece, str)]
            body = self._bodies[number] = _Body(
                content,
                None if holes else "".join(map(str, pieces)),
                pieces,
                [hole.number for hole in holes],
                max([hole.depth for hole in holes], default=0),
            )
        return body

    def _fill(self, pieces: Pieces, depth: int, texts: list[str]) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            number, inside, head, name = piece
            body = self._body(number)
            if number in self.labelled:
                texts.append(f"{head}#{self.label(number)}")
                if number not in self.pending or depth + inside >= INLINE_DEPTH:
                    continue
                self.pending.discard(number)
                texts.append("=")
            elif name is not None and body.text in (f"<function {name}>", f"<class {name}>"):
                texts.append(f"{'def' if body.text[1] == 'f' else 'class'} {name}")
                continue
            else:
                texts.append(head)
            if body.text is None:
                self._fill(body.pieces, depth + inside, texts)
            else:
                texts.append(body.text)


def pieces_of(value: Encoded) -> Pieces:
    """A value as text with holes."""
    return _pieces(_text(value, 0))


def _pieces(text: str) -> Pieces:
    if _MARK not in text:
        return [text]
    pieces: Pieces = []
    for at, part in enumerate(text.split(_MARK)):
        if at % 2:
            number, _, depth = part.partition(" ")
            pieces.append(Hole(int(number), int(depth)))
        elif part:
            pieces.append(part)
    return pieces


def _text(value: Encoded, depth: int) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if not isinstance(value, dict):
        raise ValueError(f"not an encoded value: {value!r:.80}")
    number = value.get("ref")
    return _inline_text(value, depth) if number is None else f"{_MARK}{number} {depth}{_MARK}"


def _items_text(content: Mapping[str, Any], items: list[Encoded], depth: int) -> str:
    parts = [_text(item, depth + 1) for item in items]
    return ", ".join(parts + _more(content, len(items)))


def _pairs_text(content: Mapping[str, Any]) -> str:
    items = content.get("items", ())
    parts = [f"{_text(k, 1)}: {_text(v, 1)}" for k, v in items]
    return ", ".join(parts + _more(content, len(items)))


def _field_texts(fields: Mapping[str, Encoded]) -> list[str]:
    return [f"{name_text(name, _FIELD)}={_text(v, 1)}" for name, v in fields.items()]


def _content_text(content: Content) -> str:
    kind, type_, items = content["kind"], content["type"], content.get("items", [])
    if type_ == kind and content.keys() <= {"kind", "type", "items", "length", "cut"}:
        if kind == "list":
            return f"[{_items_text(content, items, 0)}]"
        if kind == "dict" and (items or not content.get("cut")):
            return f"{{{_pairs_text(content)}}}"
        if kind == "set" and (items or not content.get("cut")):
            return f"{{{_items_text(content, items, 0)}}}" if items else "set()"
        if kind == "bytearray" and all(type(item) is int and 0 <= item < 256 for item in items):
            parts = [repr(bytes(items)), *_more(content, len(items))]
            return f"bytearray({', '.join(parts)})"
    fields = fields_of(content)
    if (
        kind == "exception"
        and (items or not fields)
        and content.keys() <= {"kind", "type", "items", "fields"}
        and _DOTTED.fullmatch(type_)
        and type_ not in _CALLED
    ):
        parts = [_text(item, 1) for item in items] + _field_texts(fields)
        return f"{type_}({', '.join(parts)})"
    return _object_text(content, fields)


def _object_text(content: Content, fields: Mapping[str, Encoded]) -> str:
    kind, type_ = content["kind"], content["type"]
    title = content.get("text")
    other_keys = {"text", "base", "shape", "dtype", *content} - {"kind", "type", "items", "fields"}
    head, parts = [kind], []
    if kind in _TITLED and type_ == _TYPE_OF[kind] and title and title.startswith(f"{kind} "):
        head.append(title_text(title[len(kind) + 1 :], frozenset()))
        other_keys.discard("text")
    elif kind in _TITLED:
        other_keys.add("type")
    else:
        head.append(title_text(type_))
        if kind == "object" or (kind == "iterator" and type_ in _ITERATORS):
            head.pop(0)
    if content.get("items"):
        pairs = kind in ("dict", "table") or content.get("base") == "dict"
        if pairs:
            parts.append(f"{{{_pairs_text(content)}}}")
        else:
            parts.append(f"[{_items_text(content, content['items'], 0)}]")
        other_keys -= {"length", "cut"} if content.get("cut") else set()
    parts += _field_texts(fields)
    # ASCII: a lone surrogate stays an escape, and the decoder gives the same back.
    parts += [
        f":{key}={json.dumps(content[key])}" for key in sorted(other_keys) if content.get(key) is not None
    ]
    return f"<{' '.join(head)}{' ' if parts else ''}{', '.join(parts)}>"


def _inline_text(value: dict[str, Any], depth: int) -> str:
    if "tuple" in value:
        return _tuple_text(value, depth)
    if "frozenset" in value:
        items, type_ = value["frozenset"], value.get("type", "frozenset")
        inside = f"{{{_items_text(value, items, depth)}}}"
        if type_ == "frozenset":
            return f"frozenset({inside if items or 'cut' in value else ''})"
        return f"<frozenset {title_text(type_)} {inside}>"
    if "array" in value:
        return f"<column {value['dtype']!r} [{_items_text(value, value['array'], depth)}]>"
    if "int" in value:
        return f"<int {value['length']} bits {value['cut']}>" if "cut" in value else value["int"]
    if "float" in value:
        return repr(float(value["float"]))
    if "complex" in value:
        real, imaginary = (float(part) for part in value["complex"])
        return repr(complex(real, imaginary))
    if "str" in value:
        return f"<str {value['str']!r} {value['length']} {value['cut']}>"
    if "bytes" in value:
        text = repr(value["bytes"].encode("latin-1"))
        return f"<bytes {text} {value['length']} {value['cut']}>" if "cut" in value else text
    if "range" in value or "slice" in value:
        kind = "range" if "range" in value else "slice"
        parts = [_text(part, depth + 1) for part in value[kind]]
        return f"{kind}({', '.join(parts[:2] if kind == 'range' and parts[2] == '1' else parts)})"
    if "text" in value:
        bare = _BARE.get((value["text"], value["type"]))
        cut = f" {value['cut']}" if "cut" in value else ""
        return bare or f"<text {title_text(value['type'])} {value['text']!r}{cut}>"
    if "method" in value:
        name = title_text(value["method"], frozenset())
        return f"<method {name} of {_text(value['self'], depth + 1)}>"
    if "unbound" in value:
        return "<unbound>"
    if "cut" in value:
        return f"<cut {value['cut']} {title_text(value['type'])}>"
    raise ValueError(f"not an encoded value: {value!r:.80}")


def _tuple_text(value: dict[str, Any], depth: int) -> str:
    items, type_, names = value["tuple"], value.get("type", "tuple"), value.get("names", [])
    if type_ == "tuple" and not names:
        inside = _items_text(value, items, depth)
        return f"({inside},)" if len(items) == 1 and "cut" not in value else f"({inside})"
    plain = (
        bool(names)
        and len(names) == len(items)
        and "cut" not in value
        and _DOTTED.fullmatch(type_)
        and type_ not in _CALLED
        and all(name_text(name) == name for name in names)
    )
    if plain:
        pairs = zip(names, items, strict=True)
        return f"{type_}({', '.join([f'{name}={_text(v, depth + 1)}' for name, v in pairs])})"
    listed = f" :names={json.dumps(names)}" if names else ""
    return f"<tuple {title_text(type_)} ({_items_text(value, items, depth)}){listed}>"


def _more(content: Mapping[str, Any], written: int) -> list[str]:
    cut, length = content.get("cut"), content.get("length")
    if cut is None:
        return []
    more = f" {length - written} more" if length is not None else ""
    return [f"...{more}{'' if cut == 'long' else f' {cut}'}"]


# -- reading -------------------------------------------------------------------------------------


class Unread(Exception):
    """A text is not in the notation. at: the place of the error. why: what was expected, or is wrong."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at
        self.why = why


class Objects:
    """The objects in the texts that were read: contents by identity, and identities by label."""

    def __init__(self) -> None:
        self.contents: dict[int, Content] = {}
        self.labels: dict[int, int] = {}
        self._of_labels: set[int] = set()
        self._last = 0

    def new(self) -> int:
        self._last += 1
        return self._last

    def labelled(self, label: int) -> int:
        if label not in self.labels:
            self.labels[label] = self.new()
            self._of_labels.add(self.labels[label])
        return self.labels[label]

    def has_label(self, number: int) -> bool:
        return number in self._of_labels

    def missing(self) -> int | None:
        """A label that is used but has no content, or None."""
        return next((label for label, n in self.labels.items() if n not in self.contents), None)


class Reader:
    """Reads one line of text from `at`. Raises Unread, and nothing else, for text outside the notation."""

    def __init__(self, text: str, objects: Objects) -> None:
        self.line = text
        self.at = 0
        self.objects = objects
        self.depth = 0

    # ---- pieces ----

    def fail(self, message: str) -> Unread:
        return Unread(self.at, message)

    def skip(self) -> None:
        while self.line.startswith(" ", self.at):
            self.at += 1

    def take(self, word: str) -> bool:
        """Whether `word` follows, after spaces. If so, it is skipped."""
        self.skip()
        if not self.line.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def word(self, word: str) -> bool:
        """The same as `take`, for a whole word."""
        start = self.at
        if self.take(word) and not re.match(r"[\w.'\"=<]", self.line[self.at : self.at + 1]):
            return True
        self.at = start
        return False

    def need(self, word: str) -> None:
        if not self.take(word):
            raise self.fail(f"expected {word!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        matched = pattern.match(self.line, self.at)
        if matched:
            self.at = matched.end()
        return matched

    def integer(self) -> int:
        digits = self.match(_INTEGER)
        if not digits or len(digits[0]) > 18:
            raise self.fail("expected a number")
        return int(digits[0])

    def string(self) -> str:
        start = self.at
        quoted = self.match(_STRING)
        text = self._literal(quoted[0]) if quoted else None
        if not isinstance(text, str):
            self.at = start
            raise self.fail("expected a quoted text")
        return text

    def _literal(self, token: str) -> str | bytes:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "invalid escape sequence": the text's own
                value = ast.literal_eval(token)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise self.fail(f"not a text that Python can read: {error}") from None
        assert isinstance(value, (str, bytes))
        return value

    def name(self, pattern: re.Pattern[str] = _NAME) -> str:
        bare = self.match(pattern)
        if bare:
            return bare[0]
        if self.line[self.at : self.at + 1] in ("'", '"'):
            return self.string()
        raise self.fail("expected a name")

    def title(self) -> str:
        """A type's or function's name."""
        return self.name(_DOTTED)

    def _json(self) -> Any:
        try:
            value, self.at = _JSON.raw_decode(self.line, self.at)
        except (ValueError, RecursionError):
            raise self.fail("expected JSON") from None
        return value

    # ---- values ----

    def value(self) -> Encoded:
        """The value that begins here."""
        plain = _SMALL.match(self.line, self.at)
        if plain:
            self.at = plain.end()
            return int(plain[1])
        if self.depth >= READ_DEPTH:
            raise self.fail("nested too deeply")
        self.depth += 1
        try:
            return self._value()
        finally:
            self.depth -= 1

    def _value(self) -> Encoded:
        self.skip()
        first = self.line[self.at : self.at + 1]
        if first in ("'", '"') or (
            first in ("b", "B") and self.line[self.at + 1 : self.at + 2] in ("'", '"')
        ):
            return self._text()
        if first == "[":
            self.at += 1
            items, more = self._until("]")
            return self._made("list", items, more)
        if first == "{":
            return self._braces()
        if first == "#":
            return self._labelled()
        if first == "<":
            self.at += 1
            return self._angle()
        token = self.match(_COMPLEX)
        if token:
            return self._complex(token)
        if first == "(":
            self.at += 1
            return self._tuple()
        token = self.match(_NUMBER)
        if token:
            return self._number(token[0], token.start())
        start = self.at
        token = self.match(_DOTTED)
        if not token:
            raise self.fail("expected a value")
        if self.line.startswith("(", self.at):
            self.at += 1
            return self._called(token[0])
        if token[0] in _WORDS:
            return _WORDS[token[0]]
        for (text, type_), bare in _BARE.items():
            if bare == token[0]:
                return {"text": text, "type": type_}
        self.at = start
        raise self.fail(f"{token[0]:.40} is not a value")

    def _text(self) -> Encoded:
        start = self.at
        quoted = self.match(_STRING)
        if not quoted:
            raise self.fail("an unterminated text")
        self.at, end = start, quoted.end()
        value = self._literal(quoted[0])
        self.at = end
        return value if isinstance(value, str) else {"bytes": value.decode("latin-1")}

    def _complex(self, token: re.Match[str]) -> Encoded:
        try:
            real, imaginary = (float(token[1]), float(token[2])) if token[1] else (0.0, float(token[3]))
        except ValueError:
            self.at = token.start()
            raise self.fail("not a number") from None
        return {"complex": [repr(real), repr(imaginary)]}

    def _number(self, text: str, start: int) -> Encoded:
        if _INTEGER.fullmatch(text):
            if len(text) > INT_DIGITS:
                self.at = start
                raise self.fail("a number too long to be read")
            return int(text) if len(text) < 19 else {"int": text}
        if text.isdigit() or text[1:].isdigit():
            self.at = start
            raise self.fail("a number that begins with 0")
        number = float(text)
        return number if math.isfinite(number) else {"float": repr(number)}

    def _labelled(self) -> Encoded:
        start = self.at
        label = self.match(_LABEL)
        if not label:
            raise self.fail("expected a number after #")
        number = self.objects.labelled(int(label[1]))
        if not self.line.startswith("=", self.at):
            return {"ref": number}
        self.at += 1
        value = self.value()
        new_number = value.get("ref") if isinstance(value, dict) else None
        if new_number is None or self.objects.has_label(new_number):
            self.at = start
            raise self.fail("a # belongs before a list, a dictionary, an object: something with an identity")
        self.objects.contents[number] = self.objects.contents.pop(new_number)
        return {"ref": number}

    def _made(self, kind: str, items: list[Any], more: dict[str, Any]) -> Encoded:
        return self._new({"kind": kind, "type": kind, "items": items, **more})

    def _new(self, content: Content) -> Encoded:
        number = self.objects.new()
        self.objects.contents[number] = content
        return {"ref": number}

    def _until(self, close: str) -> tuple[list[Encoded], dict[str, Any]]:
        """Items up to a bracket, and the description of missing items."""
        items: list[Encoded] = []
        while not self.take(close):
            if items:
                self.need(",")
                if self.take(close):
                    break
            more = self._missing(len(items))
            if more:
                self.need(close)
                return items, more
            items.append(self.value())
        return items, {}

    def _missing(self, written: int) -> dict[str, Any]:
        ellipsis = self.match(_MORE)
        if not ellipsis:
            return {}
        length = {} if ellipsis[1] is None else {"length": written + int(ellipsis[1])}
        return {**length, "cut": ellipsis[2] or "long"}

    def _braces(self) -> Encoded:
        self.need("{")
        if self.take("}"):
            return self._made("dict", [], {})
        items: list[Any] = []
        pairs: bool | None = None
        while True:
            more = self._missing(len(items))
            if more:
                self.need("}")
                break
            item = self.value()
            if pairs is None:
                pairs = self.take(":")
            elif pairs:
                self.need(":")
            items.append([item, self.value()] if pairs else item)
            more = {}
            if self.take("}"):
                break
            self.need(",")
            if self.take("}"):
                break
        if not items:  # nothing of it is shown: whether it is a set, the length does not say
            raise self.fail("cut before its first item")
        return self._made("dict" if pairs else "set", items, more)

    def _tuple(self) -> Encoded:
        items, more = self._until(")")
        if len(items) == 1 and not more and not self.line[: self.at - 1].rstrip().endswith(","):
            raise self.fail("a tuple of one item has a comma after it")
        return {"tuple": items, **more}

    def _called(self, name: str) -> Encoded:
        """The value whose text begins with ``name(``."""
        start = self.at
        if name in ("set", "frozenset"):
            if self.take(")"):
                return self._made("set", [], {}) if name == "set" else {"frozenset": []}
            inside = self._braces_or_list()
            self.need(")")
            return self._made("set", *inside) if name == "set" else {"frozenset": inside[0], **inside[1]}
        if name == "bytearray":
            text = self._text() if not self.line.startswith(")", self.at) else {"bytes": ""}
            if not isinstance(text, dict):
                raise self.fail("expected bytes")
            items: list[Any] = list(text["bytes"].encode("latin-1"))
            more = self._missing(len(items)) if self.take(",") else {}
            self.need(")")
            return self._made("bytearray", items, more)
        if name in ("range", "slice"):
            parts, more = self._until(")")
            if name == "range" and len(parts) == 2:
                parts.append(1)
            if len(parts) != 3 or more:
                self.at = start
                raise self.fail(f"a {name} has a start, a stop and a step")
            return {name: parts}
        values: list[Encoded] = []
        fields = self._arguments(values, ")")
        if fields and not values:
            return {"tuple": list(fields.values()), "type": name, "names": list(fields)}
        return self._new(
            {"kind": "exception", "type": name, "items": values, **({"fields": fields} if fields else {})}
        )

    def _braces_or_list(self) -> tuple[list[Encoded], dict[str, Any]]:
        if self.take("{") or self.take("("):
            return self._until("}" if self.line[self.at - 1] == "{" else ")")
        self.need("[")
        return self._until("]")

    def _arguments(self, values: list[Encoded], close: str) -> dict[str, Encoded]:
        """Values, then fields, up to `close`."""
        fields: dict[str, Encoded] = {}
        begun = False
        while not self.take(close):
            if begun:
                self.need(",")
            begun = True
            name = self._field_name()
            if name is not None:
                fields[name] = self.value()
            elif fields:
                raise self.fail("expected a name and =")
            else:
                values.append(self.value())
        return fields

    def _field_name(self) -> str | None:
        """The name before a ``=``, which is skipped; None without a name."""
        start = self.at
        if self.match(_FIELD):
            name = self.line[start : self.at].strip()
        elif self.line[self.at : self.at + 1] in ("'", '"') and (quoted := self.match(_STRING)):
            text = self._literal(quoted[0])
            name = text if isinstance(text, str) else ""
        else:
            return None
        if self.take("="):
            return name
        self.at = start
        return None

    def _angle(self) -> Encoded:
        self.skip()
        quoted = self.line[self.at : self.at + 1] in ("'", '"')
        head = self.title()
        if not quoted and head in _INLINE:
            value = self._inline(head)
            self.need(">")
            return value
        content: Content = {"kind": "object", "type": head}
        if not quoted and head in KINDS:
            content["kind"] = head
            word = self._type_word()
            if head in _TITLED and word is not None:
                content |= {"type": _TYPE_OF[head], "text": f"{head} {word}"}
            else:
                content["type"] = word or head
        elif not quoted and head in _ITERATORS:
            content["kind"] = "iterator"
        self._parts(content)
        return self._new(content)

    def _type_word(self) -> str | None:
        """A title, unless what follows is a field, an item or the end."""
        start = self.at
        self.skip()
        if self.line[self.at : self.at + 1] in ("'", '"', "") or _DOTTED.match(self.line, self.at):
            word = self.title()
            if not self.take("="):
                return word
        self.at = start
        return None

    def _parts(self, content: Content) -> None:
        fields: dict[str, Encoded] = {}
        begun = False
        while not self.take(">"):
            if begun:
                self.need(",")
                self.skip()
            if self.take(":"):
                key = self.name()
                self.need("=")
                self.skip()
                value = self._json()
                if key not in _PLAIN or not _PLAIN[key](value):
                    raise self.fail(f"no such part: {key:.40}")
                content[key] = value
            elif not begun and self.take("["):
                content["items"], more = self._until("]")
                content |= more
            elif not begun and self.line.startswith("{", self.at):
                new_content = self.objects.contents.pop(self._braces()["ref"])
                if new_content["kind"] != "dict":
                    raise self.fail("expected pairs")
                content |= {key: new_content[key] for key in ("items", "length", "cut") if key in new_content}
            else:
                name = self._field_name()
                if name is None:
                    raise self.fail("expected a name and =")
                fields[name] = self.value()
            begun = True
        if fields:
            content["fields"] = fields

    def _inline(self, head: str) -> Encoded:
        match head:
            case "unbound":
                return {"unbound": True}
            case "cut":
                return {"cut": self.name(), "type": self.title()}
            case "text":
                type_ = self.title()
                text: dict[str, Any] = {"text": self.string(), "type": type_}
                return text if self.line.startswith(">", self.at) else {**text, "cut": self.name()}
            case "str":
                return {"str": self.string(), "length": self.integer(), "cut": self.name()}
            case "bytes":
                self.skip()
                bytes_value = self._text()
                if not isinstance(bytes_value, dict):
                    raise self.fail("expected bytes")
                return {**bytes_value, "length": self.integer(), "cut": self.name()}
            case "int":
                length = self.integer()
                self.need("bits")
                return {"int": "", "length": length, "cut": self.name()}
            case "method":
                name = self.title()
                self.need("of ")
                return {"method": name, "self": self.value()}
            case "column":
                dtype = self.string()
                self.need("[")
                items, more = self._until("]")
                return {"array": items, "dtype": dtype, **more}
            case "frozenset":
                type_ = self.title()
                self.need("{")
                items, more = self._until("}")
                return {"frozenset": items, "type": type_, **more}
        type_ = self.title()
        self.need("(")
        items, more = self._until(")")
        names: Any = None
        if self.take(":names="):
            names = self._json()
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise self.fail("expected a list of names")
        return {"tuple": items, "type": type_, **({"names": names} if names else {}), **more}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and all(_is_length(item) for item in value)


_PLAIN = {
    "type": _is_text,
    "text": _is_text,
    "base": _is_text,
    "cut": _is_text,
    "dtype": _is_text,
    "length": _is_length,
    "shape": _is_shape,
}
"""Parts of a content that are plain data, and the check of each."""


# -- one value by itself -------------------------------------------------------------------------


def value_text(value: Encoded, objects: Mapping[int, Content]) -> str:
    """The text of a single value."""
    writer = ValueWriter(objects, [value], {})
    writer.pending = set(writer.labelled)
    text = writer.text(value)
    return ", ".join([text, *writer.left()])


def read_value(reader: "Reader") -> tuple[Encoded, dict[int, Content]]:
    """Reads a text by `value_text`: the value, and the contents of the objects that it refers to.

    Raises Unread.
    """
    start, outer = reader.at, reader.objects
    reader.objects = Objects()
    try:
        value = reader.value()
        while (label := reader.objects.missing()) is not None:
            if not (reader.take(",") and reader.take("#")):
                reader.at = start
                raise reader.fail(f"#{label} is used but never defined")
            reader.at -= 1
            reader.value()
        return value, reader.objects.contents
    finally:
        reader.objects = outer
