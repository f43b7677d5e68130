"""Finds the global variables that code may read, by its text, and leaves others out of recordings.

A function cannot read a variable whose name does not occur in its text, not even in a string, unless it
takes all names at once (`globals`, `vars`, a computed `getattr`). A variable that cannot be read and differs
between runs is left out of the recording.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from deskcheck.recording.block import rows
from deskcheck.recording.comparison.states import Global
from deskcheck.recording.trace import Row
from deskcheck.recording.value import loads, reached
from deskcheck.sources.text.python import nodes_of

VARIES = "varies"
"""The reason in `Value.cut` for a value that is left out."""
_WORD = re.compile(r"\w+")
_ALL_NAMES = frozenset(
    {"globals", "vars", "eval", "exec", "dir", "__import__", "import_module", "__dict__", "__globals__"}
    | {"f_globals", "modules", "attrgetter", "getmembers", "getattr_static", "__builtins__"}
)


def reads_of(ran: Iterable[tuple[str, str]], source: Callable[[str], str]) -> Callable[[Global], bool]:
    """Whether functions (file, qualified name) may read a global variable. source: a file's text."""
    by_file: dict[str, set[str]] = {}
    for file, function in ran:
        by_file.setdefault(file, set()).add(function)
    plain: dict[str, set[str]] = {}
    anywhere: set[str] = set()
    """Attributes and words in strings: they can name variables of another module."""
    for file, functions in by_file.items():
        names = plain[file] = set()
        for node in nodes_of(source(file), functions):
            if _takes_all(node):
                return lambda name: True
            match node:
                case ast.Name(id=name):
                    names.add(name)
                case ast.Attribute(attr=name):
                    anywhere.add(name)
                case ast.Constant(value=str(text)):
                    anywhere.update(_WORD.findall(text))
                case ast.alias(name=name):
                    anywhere.update(name.split("."))
                case ast.Global(names=more):
                    names.update(more)
    return lambda name: name[1] in anywhere or name[1] in plain.get(name[0], ())


def _takes_all(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name in _ALL_NAMES
        case ast.Constant(value=str(text)) if "__" in text or "f_globals" in text:
            return not _ALL_NAMES.isdisjoint(_WORD.findall(text))  # '{0.__globals__}'.format(f)
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, second, *_]):
            return not (isinstance(second, ast.Constant) and isinstance(second.value, str))
        case ast.Call(func=ast.Name(id="map" | "partial"), args=[ast.Name(id="getattr"), *_]):
            return True
    return False


def without(blocks: Sequence[bytes], names: frozenset[Global]) -> Iterator[bytes]:
    """The events without the values of these variables, and without objects that only these reach."""
    reachable = _led_to(chain.from_iterable(map(rows, blocks)), names)
    types: dict[int, str] = {}
    """Types of the objects in earlier events."""
    for row in chain.from_iterable(map(rows, blocks)):
        contents: dict[str, Any] = loads(row.objects) if row.objects else {}
        types.update(
            (int(number), content["type"]) for number, content in contents.items() if _is_whole(content)
        )
        values: dict[str, Any] = loads(row.globals) if row.globals else {}
        cut = {name: _cut(value, types) for name, value in values.items() if (row.file, name) in names}
        if cut:
            row = row._replace(globals=_dumps(values | cut))
        remaining = {number: content for number, content in contents.items() if int(number) in reachable}
        if len(remaining) < len(contents):
            row = row._replace(objects=_dumps(remaining) if remaining else None)
        yield json.dumps(row).encode()


def _is_whole(content: Any) -> bool:
    """Whether the content describes an object completely, not a change of it."""
    return content is not None and "kind" in content


def _cut(encoded: Any, types: Mapping[int, str]) -> Any:
    if isinstance(encoded, dict):
        if "unbound" in encoded:
            return encoded
        if "ref" in encoded:
            return {"cut": VARIES, "type": types[encoded["ref"]]}
        plain = ("str", "int", "float", "bytes", "complex", "tuple", "frozenset", "range", "slice", "method")
        kind = next((kind for kind in plain if kind in encoded), "str" if "edit" in encoded else "object")
        return {"cut": VARIES, "type": str(encoded.get("type", kind))}
    return {"cut": VARIES, "type": type(encoded).__name__}


def _led_to(every: Iterable[Row], names: frozenset[Global]) -> set[int]:
    """Objects that are reachable at any time from anything except these variables."""
    values: list[Any] = []
    contents: dict[int, list[Any]] = {}
    """All contents of each object over time."""
    for row in every:
        values += [loads(text) for text in (row.locals, row.stack, row.caller, row.value) if text]
        if row.globals:
            names_and_values = loads(row.globals).items()
            values += [value for name, value in names_and_values if (row.file, name) not in names]
        if row.objects:
            for number, content in loads(row.objects).items():
                contents.setdefault(int(number), []).append(content)
    return reached(values, contents)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
