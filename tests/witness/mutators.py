"""Every mutator of every builtin type, on every kind of argument and alias: one small program each.

A mutator is written in C and may call the program's code several times (`__eq__` for each item, a key function, a
generator) before it changes the object: no instruction of the program changes it after the last of those events.
"""

import array
import collections
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CLASSES = {
    "Eq": """\
class Eq:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == (other.n if isinstance(other, Eq) else other)
    def __lt__(self, other):
        return self.n < other.n
    def __hash__(self):
        return 1
    def __add__(self, other):
        return Eq(self.n + 1)
""",
    "Hash": """\
class Hash(str):
    def __hash__(self):
        size = len(self)
        return size
    def __eq__(self, other):
        same = str.__eq__(self, other)
        return same
""",
    "Index": """\
class Index:
    def __init__(self, n):
        self.n = n
    def __index__(self):
        n = self.n
        return n
""",
    "Iter": """\
class Iter:
    def __init__(self, *items):
        self.items = items
        self.at = 0
    def __iter__(self):
        return self
    def __next__(self):
        if self.at >= len(self.items):
            raise StopIteration
        self.at += 1
        return self.items[self.at - 1]
""",
    "Seq": """\
class Seq:
    def __init__(self, *items):
        self.items = items
    def __len__(self):
        return len(self.items)
    def __getitem__(self, at):
        found = self.items[at]
        return found
""",
    "Mapping": """\
class Mapping:
    def __init__(self, **pairs):
        self.pairs = pairs
    def keys(self):
        return list(self.pairs)
    def __getitem__(self, key):
        found = self.pairs[key]
        return found
""",
    "gen": """\
def gen(*items):
    for item in items:
        yield item
""",
    "twice": """\
def twice(item):
    return item + item
""",
    "key": """\
def key(item):
    found = -item if isinstance(item, int) else -item.n
    return found
""",
    "Key": """\
class Key:
    def __call__(self, item):
        self.last = item
        return key(item)
""",
    "made": """\
def made():
    fresh = [0]
    return fresh
""",
    "Holder": """\
class Holder:
    pass
""",
}
"""Definitions, each put into the programs that name it."""

NUMBERS = {
    "v": ["7", "Eq(2)"],
    "i": ["1", "Index(1)"],
    "n": ["2", "Index(2)"],
    "it": [
        "[8, 9]", "Iter(8, 9)", "(i for i in (8, 9))", "gen(8, 9)", "map(twice, (4, 5))", "Seq(8, 9)", "{x}",
        "zip(gen(8, 9), gen(1, 2))",
    ],
    "f": ["None", "key", "Key()", "(lambda item: key(item) * 2)"],
}  # fmt: skip
"""Kind of argument -> expressions: plain, and such as run the program's code."""
BYTES = {**NUMBERS, "v": ["7", "Index(7)"]}
KEYS = {
    **NUMBERS,
    "k": ["'a'", "'z'", "Hash('a')", "Hash('z')"],
    "ps": [
        "{'a': 8, 'c': 9}", "[('c', 8), ('d', 9)]", "((c, 1) for c in 'cd')", "gen(('a', 8), ('c', 9))", "Mapping(a=8, c=9)",
        "Iter(Seq('c', 8))", "{Hash('a'): 8, Hash('c'): 9}", "zip(gen('a', 'c'), gen(1, 2))",
    ],
    "ks": ["'ab'", "gen('a', 'c')", "(Hash(c) for c in 'ac')", "Seq('a', 'c')"],
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """A type with its mutators.

    contents: expressions that make one. mutators: name in `dir` -> statements; `{x}` is the object, `{v}` and so on an argument of
    that kind. arguments: those. held: a method that is bound and kept.
    """

    type: type
    contents: tuple[str, ...]
    mutators: dict[str, list[str]]
    arguments: dict[str, list[str]]
    held: str


_SEQUENCE = {
    "append": ["{x}.append({v})"],
    "extend": ["{x}.extend({it})"],
    "insert": ["{x}.insert({i}, {v})"],
    "remove": ["{x}.remove({v})"],
    "pop": ["{x}.pop({i})", "r = {x}.pop()"],
    "reverse": ["{x}.reverse()"],
    "__setitem__": [
        "{x}[{i}] = {v}",
        "{x}[{i}:] = {it}",
        "{x}[::2] = {it}",
        "{x}[{i}] += {v}",
        "for {x}[0] in {it}: pass",
    ],
    "__delitem__": ["del {x}[{i}]", "del {x}[{i}:]"],
    "__iadd__": ["{x} += {it}", "y = {x}.__iadd__({it})"],
    "__imul__": ["{x} *= {n}"],
    "__init__": ["{x}.__init__({it})"],
}
_LIST = {
    **_SEQUENCE,
    "clear": ["{x}.clear()"],
    "sort": ["{x}.sort(key={f})", "{x}.sort()", "{x}.sort(key={f}, reverse=True)"],
}
_BYTEARRAY = {**_SEQUENCE, "clear": ["{x}.clear()"]}
if hasattr(bytearray, "take_bytes"):  # 3.15
    _BYTEARRAY["take_bytes"] = ["r = {x}.take_bytes()", "r = {x}.take_bytes(1)"]
    _COUNTER_XOR = {"__ixor__": ["{x} ^= collections.Counter({ks})"]}
else:
    _COUNTER_XOR = {}
if hasattr(bytearray, "resize"):  # 3.14
    _BYTEARRAY["resize"] = ["{x}.resize({n})", "{x}.resize(1)"]
_ARRAY = {name: found for name, found in _SEQUENCE.items() if name != "__init__"} | {
    "fromlist": ["{x}.fromlist([8, 9])"],
    "frombytes": ["{x}.frombytes(bytes(8))"],
    "fromfile": [],
    "fromunicode": ["{x}.fromunicode('a')"],
    "byteswap": ["{x}.byteswap()"],
    "clear": ["{x}.clear()"],
}
_DEQUE = _SEQUENCE | {
    "__setitem__": ["{x}[{i}] = {v}", "{x}[{i}] += {v}"],
    "__delitem__": ["del {x}[{i}]"],
    "pop": ["{x}.pop()"],
    "appendleft": ["{x}.appendleft({v})"],
    "extendleft": ["{x}.extendleft({it})"],
    "popleft": ["r = {x}.popleft()"],
    "rotate": ["{x}.rotate({n})"],
    "clear": ["{x}.clear()"],
}
_DICT = {
    "__setitem__": ["{x}[{k}] = {v}", "{x}[{k}] += 1", "for {x}[{k}] in {it}: pass"],
    "__delitem__": ["del {x}[{k}]"],
    "pop": ["{x}.pop({k}, None)", "r = {x}.pop({k})"],
    "popitem": ["r = {x}.popitem()"],
    "setdefault": ["{x}.setdefault({k}, {v})", "r = {x}.setdefault({k}, [])"],
    "update": ["{x}.update({ps})", "{x}.update({ps}, b={v})"],
    "__ior__": ["{x} |= {ps}"],
    "__init__": ["{x}.__init__({ps})"],
    "clear": ["{x}.clear()"],
}
_ORDERED = {**_DICT, "move_to_end": ["{x}.move_to_end({k})", "{x}.move_to_end({k}, last=False)"]}
_DEFAULT = {
    **_DICT,
    "__init__": ["{x}.__init__(made, {ps})"],
    "__missing__": ["r = {x}[{k}]", "{x}[{k}].append({v})"],
}
_DEFAULT = {
    **_DEFAULT,
    "__setitem__": ["{x}[{k}] = {v}", "{x}[{k}] += {it}"],
    "default_factory": ["{x}.default_factory = made"],
}
_COUNTER = {
    **_DICT,
    "update": ["{x}.update({ks})", "{x}.update({{'a': 5}})"],
    "subtract": ["{x}.subtract({ks})"],
    "__iadd__": ["{x} += collections.Counter({ks})"],
    "__isub__": ["{x} -= collections.Counter({ks})"],
    "__iand__": ["{x} &= collections.Counter({ks})"],
    "__ior__": ["{x} |= collections.Counter({ks})"],
    **_COUNTER_XOR,
    "__init__": ["{x}.__init__({ks})"],
    "_keep_positive": ["{x}._keep_positive()"],
}
_SET = {
    "add": ["{x}.add({k})"],
    "remove": ["{x}.remove({k})"],
    "discard": ["{x}.discard({k})"],
    "pop": ["r = len(str({x}.pop()))"],
    "clear": ["{x}.clear()"],
    "update": ["{x}.update({ks})", "{x}.update({ks}, [{v}])"],
    "difference_update": ["{x}.difference_update({ks})"],
    "intersection_update": ["{x}.intersection_update({ks})"],
    "symmetric_difference_update": ["{x}.symmetric_difference_update({ks})"],
    "__iand__": ["{x} &= set({ks})"],
    "__ior__": ["{x} |= set({ks})"],
    "__isub__": ["{x} -= set({ks})"],
    "__ixor__": ["{x} ^= set({ks})"],
    "__init__": ["{x}.__init__({ks})"],
}
_MEMORYVIEW = {
    "__setitem__": ["{x}[{i}] = {v}", "{x}[{i}:3] = bytes({n})", "{x}[{i}] += 1", "for {x}[0] in {it}: pass"],
    "__delitem__": ["del {x}[{i}]"],
    "release": ["{x}.release()"],
    "__exit__": ["with {x} as r: r[{i}] = {v}"],
}

TYPES = {
    "list": Type(list, ("[3, 1, 2]", "[Eq(3), Eq(1), Eq(2)]"), _LIST, NUMBERS, "append"),
    "bytearray": Type(bytearray, ("bytearray(b'\\x03\\x01\\x02')",), _BYTEARRAY, BYTES, "append"),
    "array": Type(array.array, ("array.array('q', [3, 1, 2])",), _ARRAY, BYTES, "append"),
    "deque": Type(
        collections.deque, ("collections.deque([3, 1, 2])", "collections.deque([Eq(3), Eq(1)], maxlen=3)"), _DEQUE, NUMBERS, "append"
    ),
    "dict": Type(dict, ("{'a': 1, 'b': 2}", "{Hash('a'): 1, Hash('b'): 2}"), _DICT, KEYS, "get"),
    "OrderedDict": Type(
        collections.OrderedDict, ("collections.OrderedDict(a=1, b=2)", "collections.OrderedDict({Hash('a'): 1, Hash('b'): 2})"),
        _ORDERED, KEYS, "get",
    ),
    "defaultdict": Type(
        collections.defaultdict, ("collections.defaultdict(list, a=[1], b=[2])", "collections.defaultdict(made, {Hash('b'): [2]})"),
        _DEFAULT, KEYS, "get",
    ),
    "Counter": Type(collections.Counter, ("collections.Counter(a=1, b=2)", "collections.Counter({Hash('a'): 1})"), _COUNTER, KEYS, "get"),
    "set": Type(set, ("{'a', 'b'}", "{Hash('a'), Hash('b')}"), _SET, KEYS, "add"),
    "memoryview": Type(memoryview, ("memoryview(kept)",), _MEMORYVIEW, BYTES, "tolist"),
}  # fmt: skip

READERS = {
    "list": {"copy", "count", "index", "__reversed__", "__class_getitem__"},
    "bytearray": {
        "__alloc__", "__mod__", "__rmod__", "capitalize", "center", "copy", "count", "decode", "endswith", "expandtabs", "find",
        "fromhex", "hex", "index", "isalnum", "isalpha", "isascii", "isdigit", "islower", "isspace", "istitle", "isupper", "join",
        "ljust", "lower", "lstrip", "maketrans", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex",
        "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "translate",
        "upper", "zfill", "__buffer__", "__release_buffer__",
    },
    "array": {
        "buffer_info", "count", "index", "itemsize", "tobytes", "tofile", "tolist", "tounicode", "typecode", "__copy__",
        "__deepcopy__", "__class_getitem__", "__buffer__", "__release_buffer__", "__module__",
    },
    "deque": {"copy", "count", "index", "maxlen", "__copy__", "__reversed__", "__class_getitem__", "__module__"},
    "dict": {"copy", "fromkeys", "get", "items", "keys", "values", "__or__", "__ror__", "__reversed__", "__class_getitem__"},
    "set": {
        "copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference", "union", "__and__",
        "__rand__", "__or__", "__ror__", "__sub__", "__rsub__", "__xor__", "__rxor__", "__class_getitem__",
    },
    "memoryview": {
        "__enter__", "c_contiguous", "cast", "contiguous", "f_contiguous", "format", "hex", "itemsize", "nbytes", "ndim", "obj",
        "readonly", "shape", "strides", "suboffsets", "tobytes", "tolist", "toreadonly", "_from_flags", "__buffer__",
        "__release_buffer__", "count", "index", "__class_getitem__",
    },
}  # fmt: skip
"""The rest of `dir`, beyond what every sequence or object has."""
READERS["OrderedDict"] = READERS["dict"] | {"__dict__"}
READERS["defaultdict"] = READERS["dict"] | {"__copy__", "__module__"}
READERS["Counter"] = READERS["dict"] | {
    "most_common", "elements", "total", "__add__", "__sub__", "__and__", "__xor__", "__pos__", "__neg__", "__dict__", "__module__",
    "__missing__", "__weakref__", "__static_attributes__", "__firstlineno__",
}  # fmt: skip
COMMON = frozenset(dir(object)) | frozenset(
    "__len__ __getitem__ __iter__ __contains__ __add__ __mul__ __rmul__".split()
)

ALIASES = (
    "none",
    "variable",
    "list",
    "attribute",
    "view",
    "method",
    "by method",
    "cell",
    "inner",
    "global",
    "memory",
    "argument",
)
"""How else the object can be reached: not; by a second variable; from a list; as an attribute; dict views of it are held; a method
of it is held; the mutator is called through a bound method; a function that closes over it; that function changes it; it is a global;
a memoryview of it is held; it is the argument of the function that changes it."""


def _named(text: str) -> list[str]:
    """The definitions that a program needs."""
    needed: set[str] = set()
    todo = [text]
    while todo:
        found = {name for name in CLASSES.keys() - needed if re.search(rf"\b{name}\b(?! = )", todo[-1])}
        todo.pop()
        needed |= found
        todo += [CLASSES[name] for name in found]
    return [CLASSES[name] for name in CLASSES if name in needed]


def statements(kind: Type, template: str) -> Iterator[str]:
    """A template with every choice of arguments."""
    slots = [slot for slot in kind.arguments if f"{{{slot}}}" in template]
    for chosen in itertools.product(*(kind.arguments[slot] for slot in slots)):
        text = template
        for slot, argument in zip(slots, chosen, strict=True):
            text = text.replace(f"{{{slot}}}", argument)
        yield text.replace("{x}", "x").replace("{{", "{").replace("}}", "}")


def _through_method(statement: str) -> list[str] | None:
    """The statement with its call made through a bound method that is kept."""
    head, dot, rest = statement.partition("x.")
    name, bracket, _ = rest.partition("(")
    if not dot or not bracket or head not in ("", "r = ", "y = ") or not name.isidentifier():
        return None
    return [f"call = x.{name}", statement.replace(f"x.{name}(", "call(", 1)]


def program(kind: Type, content: str, statement: str, alias: str) -> str | None:
    """The text of a program; None where the alias does not fit."""
    make, body, module = [f"x = {content}"], [statement], list[str]()
    if "kept" in content:
        make.insert(0, "kept = bytearray(b'abcdef')")
    if alias == "variable":
        make.append("y = x" if not statement.startswith("y = ") else "z = x")
    elif alias == "list":
        make.append("box = [0, x]")
    elif alias == "attribute":
        make += ["o = Holder()", "o.kept = x"]
    elif alias == "view":
        if not issubclass(kind.type, dict):
            return None
        make += ["ks = x.keys()", "vs = x.values()", "both = x.items()"]
    elif alias == "method":
        make.append(f"m = x.{kind.held}")
    elif alias == "by method":
        through = _through_method(statement)
        if through is None:
            return None
        make.append(through[0])
        body = [through[1]]
    elif alias == "cell":
        make += ["def look():", "    return x"]
    elif alias == "memory":
        if kind.type not in (bytearray, array.array):
            return None
        make.append("view = memoryview(x)")
    elif alias == "global":
        make.insert(0, "global x")
    body = [
        "try:",
        *(f"    {line}" for line in body),
        "except Exception as error:",
        "    failed = type(error).__name__",
        "after = 1",
    ]
    if alias == "inner":
        make += ["def change():", "    nonlocal x", *(f"    {line}" for line in body)]
        body = ["change()"]
    elif alias == "argument":
        module = ["def change(x):", *(f"    {line}" for line in body), "    return after"]
        body = ["change(x)"]
    lines = ["def main():", *(f"    {line}" for line in [*make, *body, "last = 2", "return last"])]
    text = "\n".join([*module, *lines, "main()", "end = 3"]) + "\n"
    imports = [f"import {name}\n" for name in ("array", "collections") if f"{name}." in text]
    return "".join([*imports, *_named(text), text])


def programs(every: int = 1, start: int = 0) -> Iterator[tuple[str, str]]:
    """Name and text of each n-th program, in one order always."""
    chosen = (choice for n, choice in enumerate(_choices()) if n % every == start)
    for method, kind, statement, content, alias in chosen:
        text = program(kind, content, statement, alias)
        if text is not None:
            yield f"{method}: {statement} of {content} ({alias})", text


def _choices() -> Iterator[tuple[str, Type, str, str, str]]:
    for name, kind in TYPES.items():
        for method, templates in kind.mutators.items():
            for template in templates:
                for statement in statements(kind, template):
                    for content, alias in itertools.product(kind.contents, ALIASES):
                        yield f"{name}.{method}", kind, statement, content, alias


def left_out() -> dict[str, set[str]]:
    """Names in `dir` of the types that are neither known to change the object nor known not to."""
    known: dict[str, Any] = {
        name: set(kind.mutators) | READERS[name] | COMMON for name, kind in TYPES.items()
    }
    return {
        name: set(dir(kind.type)) - known[name]
        for name, kind in TYPES.items()
        if set(dir(kind.type)) - known[name]
    }
