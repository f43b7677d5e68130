"""Values with objects in them, written as text: reading them without running anything, comparing them.

The text is what `recording.render` writes: ``Class#1(attribute=value, ...)``, ``<Class #1 again>`` for an
object that was written before, ``<function NAME>``, ``<class 'NAME'>``, ``<method NAME of OBJECT>``,
``Color.RED``, ``Decimal('1.5')``. Numbers identify objects; an object without a number occurs once.
Also read: ``Class#1`` for an object that was written before, and an object that is written out again.

Not covered, because no question asks for them: iterators, generators, arrays, tables, and values that were
cut.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deskcheck.ask.answers.values import (
    MAX_CHARS,
    canonical,
    has_comment,
    is_exact,
    literal,
    parse_expression,
)

_MARK = "\N{MIDDLE DOT}"
"""Stands for the sign of a number while Python's parser reads the text: names may hold it."""
_TOKEN = re.compile(
    r"(?P<string>[bB]?(?:'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"))"
    r"|<(?P<code>function|built-in function|class|module|method) (?P<name>(?:[\w.'\" -]|<\w+>)+?)"
    r"(?: at 0x[0-9a-fA-F]+)?(?:(?P<of> of )(?!'\w+' objects)|>)"
    r"|<(?P<again>(?:[\w.]|<\w+>)+) ?#(?P<which>\d{1,9})(?: again)?>"
    r"|<(?P<bare>object)>|<(?P<member>[^\W\d][\w.]*): [^<>]*>"
    r"|(?P<scope>\.<\w+>)"
    r"|#(?P<number>\d{1,9})(?!\w)"
    r"|(?P<close>>)",
)
_CODE, _AGAIN, _METHOD = "_code_", "_again_", "_method_"
_IN_ORDER = frozenset({"OrderedDict"})
"""Classes whose items have an order that counts."""
_BUILTIN = frozenset({"set", "frozenset", "range", "slice", "bytearray", "complex", "float"})
_PLAIN = frozenset({*_BUILTIN, "list", "tuple", "dict", "str", "bytes", "int"})


class UnreadableObject(Exception):
    """The text is not such a value."""


@dataclass(eq=False, slots=True)
class Node:
    """A part of a value."""

    kind: str
    """``plain``, ``code``, ``items``, ``pairs`` or ``object``."""
    name: Any
    """For ``plain`` the value in the form of `values.canonical`; for ``items`` the type of the container."""
    items: list["Node"] = field(default_factory=list)
    """The parts inside; for ``pairs`` keys and values in turns."""
    fields: dict[str, "Node"] = field(default_factory=dict)
    number: int | None = None
    """The number of an object in the text."""

    @property
    def children(self) -> list["Node"]:
        return [*self.items, *self.fields.values()]


def read(text: str, *, max_chars: int = MAX_CHARS) -> Node:
    """The value that a text writes down. An object that occurs twice is one node. Nothing is run.

    Raises Unreadable.
    """
    return _read(text, max_chars)[0]


def _read(text: str, max_chars: int) -> tuple[Node, bool]:
    """The value, and whether a part of it is written in another way than `recording.render` writes it."""
    if len(text) > max_chars or _MARK in text:
        raise UnreadableObject("too long")
    python = _as_python(text.strip())
    node = parse_expression(python, max_chars=2 * max_chars + 100)
    if node is None:
        raise UnreadableObject("no expression")
    try:
        reader = _Reader()
        root = reader.resolved(reader.node(node))
        return root, reader.otherwise or has_comment(python)
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise UnreadableObject(str(error)) from None


def _as_python(text: str) -> str:
    """The text with names and calls in place of the parts that Python's parser does not read."""
    parts: list[str] = []
    position = methods = 0
    for token in _TOKEN.finditer(text):
        parts.append(text[position : token.start()])
        position = token.end()
        if token["string"] is not None:
            parts.append(token[0])
        elif token["code"] is not None and token["of"]:
            methods += 1
            parts.append(f"{_METHOD}({token['name']!r}, ")
        elif token["code"] is not None:
            parts.append(f"{_CODE}({token['code']!r}, {token['name']!r})")
        elif token["again"] is not None:
            parts.append(f"{_AGAIN}({token['again']!r}, {token['which']})")
        elif token["bare"] is not None:
            parts.append("object()")
        elif token["member"] is not None:
            parts.append(token["member"])
        elif token["number"] is not None:
            parts.append(_MARK + token["number"])
        elif token["close"] is not None:
            if not methods:
                raise UnreadableObject("> without <")
            methods -= 1
            parts.append(")")
    return "".join([*parts, text[position:]])


def _last(name: str) -> str:
    """A class's name without its module and the function that it is defined in."""
    return name.rpartition(".")[2]


class _Reader:
    """numbered: number -> the object that is written out with it. otherwise: a part is written otherwise than
    prompts say."""

    def __init__(self) -> None:
        self.numbered: dict[int, Node] = {}
        self.otherwise = False
        self.more: list[tuple[Node, Node]] = []
        """(An object, the same written out once more)"""

    def node(self, node: ast.expr) -> Node:
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                return Node("items", type(node).__name__.lower(), [*map(self.node, items)])
            case ast.Dict(keys=keys, values=values):
                return Node("pairs", "dict", self._pairs(keys, values))
            case ast.Call(func=function, args=args, keywords=keywords):
                return self._call(_dotted(function), args, keywords)
            case ast.Attribute() | ast.Name():
                return self._named(_dotted(node))
        return _plain(node)

    def _pairs(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> list[Node]:
        if any(key is None for key in keys):
            raise UnreadableObject("** is not a value")
        return [
            self.node(part) for pair in zip(keys, values, strict=True) for part in pair if part is not None
        ]

    def _named(self, name: str) -> Node:
        name, mark, number = name.partition(_MARK)
        if mark:
            self.otherwise = True
            return Node("again", _last(name), number=int(number))
        try:
            return _plain(ast.Name(id=name))
        except ValueError:
            return Node("code", ("name", tuple(name.split(".")[-2:])))

    def _call(self, name: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Node:
        name, mark, number = name.partition(_MARK)
        if name == _CODE:
            return Node("code", _code(*(literal(part) for part in args)))
        if name == _AGAIN:
            which, number_ = (literal(part) for part in args)
            return Node("again", _last(which), number=number_)
        if name == _METHOD:
            called, owner = args
            return Node("items", ("method", str(literal(called)).strip("'\"")), [self.node(owner)])
        if not mark and not keywords and name in ("set", "frozenset") and len(args) == 1:
            inside = self.node(args[0])
            self.otherwise |= name == "set" or inside.name != "set"
            if inside.kind == "items" and inside.name in ("set", "list", "tuple"):
                return Node("items", name, inside.items)
        if not mark and not keywords and name in _PLAIN:
            self.otherwise |= not is_exact(ast.unparse(ast.Call(ast.Name(name), [*args], [])))
            return _plain(ast.Call(func=ast.Name(id=name), args=[*args], keywords=[]))
        if any(keyword.arg is None for keyword in keywords):
            raise UnreadableObject("** is not a value")
        fields = {keyword.arg or "": self.node(keyword.value) for keyword in keywords}
        if len(fields) < len(keywords):
            raise UnreadableObject("an attribute twice")
        node_of_class = Node(
            "object", _last(name), [*map(self.node, args)], fields, int(number) if mark else None
        )
        if node_of_class.number is not None:
            first = self.numbered.setdefault(node_of_class.number, node_of_class)
            if first is not node_of_class:
                self.more.append((first, node_of_class))
                return first
        return node_of_class

    def resolved(self, root: Node) -> Node:
        """The value in which later mentions of an object are the object itself."""
        targets: dict[int, Node] = {}

        def of(node: Node) -> Node:
            if node.kind != "again":
                return node
            target = self.numbered.get(node.number or 0)
            if target is not None and target.name == node.name:
                return target
            if node.name == "object":  # it has nothing but its number
                return targets.setdefault(node.number or 0, Node("object", "object", number=node.number))
            raise UnreadableObject(f"#{node.number} is nowhere written out")

        root = of(root)
        for node in [*nodes(root), *(part for _, more in self.more for part in nodes(more))]:
            node.items = [*map(of, node.items)]
            node.fields = {name: of(part) for name, part in node.fields.items()}
        for first, more in self.more:
            if not _Comparison(()).same_content(first, more):
                raise UnreadableObject(f"#{first.number} is written out twice, not alike")
        return root


def _plain(node: ast.expr) -> Node:
    literal(node)
    canonical_value = canonical(ast.unparse(ast.fix_missing_locations(node)))
    if canonical_value is None:
        raise UnreadableObject("no value")
    return Node("plain", canonical_value)


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value)}.{name}"
    raise UnreadableObject("no name")


def _code(kind: str, name: str) -> tuple[str, str]:
    name = re.sub(r"\.<locals>", "", name.strip("'\" "))
    if kind == "class":
        return kind, _last(name)
    return kind.removeprefix("built-in "), name


def nodes(root: Node) -> Iterator[Node]:
    """Each node once, those outside first."""
    todo, visited = [root], set[int]()
    while todo:
        node = todo.pop()
        if id(node) not in visited:
            visited.add(id(node))
            yield node
            todo += node.children[::-1]


# -- comparing -----------------------------------------------------------------------------------------


def _content(node: Node, inside: tuple[int, ...] = ()) -> Any:
    """The content of a node, without the identity of objects."""
    if id(node) in inside:
        return "again", len(inside) - inside.index(id(node))
    inside = (*inside, id(node))
    items: Any = tuple(_content(item, inside) for item in node.items)
    if node.kind == "items" and node.name in ("set", "frozenset"):
        items = tuple(sorted(items, key=repr))
    elif node.kind == "pairs":
        items = tuple(sorted(zip(items[::2], items[1::2], strict=True), key=repr))
    fields = tuple(sorted((name, _content(part, inside)) for name, part in node.fields.items()))
    return node.kind, repr(node.name), items, repr(fields)


def is_clear(root: Node) -> bool:
    """Whether no set or dictionary has two objects, as items or keys, with equal text: it would be unclear
    which is which could not be told."""
    for node in nodes(root):
        keys = node.items if node.kind == "items" and node.name in ("set", "frozenset") else []
        keys = node.items[::2] if node.kind == "pairs" else keys
        if len({repr(_content(key)) for key in keys}) < len(keys):
            return False
    return True


class _Comparison:
    """Whether two values are the same, object for object. fixed: the number of an object that both have to
    name by it."""

    def __init__(self, fixed: Collection[int]) -> None:
        self.fixed = fixed
        self.partner: dict[int, Node] = {}
        self.taken: dict[int, Node] = {}
        self.otherwise = False
        """Whether the second has a number that the first does not need, or a bare name for a function."""

    def same(self, true: Node, answered: Node) -> bool:
        todo = [(true, answered)]
        while todo:
            first, second = todo.pop()
            if first.kind == "object" and second.kind == "object":
                if id(first) in self.partner or id(second) in self.taken:
                    if self.partner.get(id(first)) is not second or self.taken.get(id(second)) is not first:
                        return False
                    continue
                if self._fixed(first) != self._fixed(second):
                    return False
                self.otherwise |= second.number is not None and first.number is None
                self.partner[id(first)], self.taken[id(second)] = second, first
            self.otherwise |= second.kind == "code" and second.name[0] == "name" != first.name[0]
            inside = _pairs_of(first, second)
            if inside is None:
                return False
            todo += inside
        return True

    def same_content(self, first: Node, second: Node) -> bool:
        return bool(_content(first) == _content(second))

    def _fixed(self, node: Node) -> int | None:
        return node.number if node.number in self.fixed else None


def _pairs_of(first: Node, second: Node) -> list[tuple[Node, Node]] | None:
    """The parts of two nodes that have to be the same, in pairs; None if the nodes themselves differ."""
    if (
        first.kind != second.kind
        or not _same_name(first, second)
        or first.fields.keys() != second.fields.keys()
    ):
        return None
    fields = [(part, second.fields[name]) for name, part in first.fields.items()]
    if first.kind == "object":
        first, second = _held(first), _held(second)
    if len(first.items) != len(second.items):
        return None
    if first.kind == "items" and first.name in ("set", "frozenset"):
        by_content = {repr(_content(item)): item for item in second.items}
        matched = [(item, by_content.get(repr(_content(item)))) for item in first.items]
    elif first.kind == "pairs":
        position_of = {repr(_content(key)): n for n, key in enumerate(second.items[::2])}
        matched = []
        for n, key in enumerate(first.items[::2]):
            index = position_of.get(repr(_content(key)))
            if index is None:
                return None
            matched += [(key, second.items[2 * index]), (first.items[2 * n + 1], second.items[2 * index + 1])]
    elif (
        first.kind == "object"
        and first.name in _IN_ORDER
        and [node.kind for node in first.items] == ["pairs"]
    ):
        (mine,), (theirs,) = first.items, second.items
        if theirs.kind != "pairs" or len(mine.items) != len(theirs.items):
            return None
        matched = [*zip(mine.items, theirs.items, strict=True)]
    else:
        matched = [*zip(first.items, second.items, strict=True)]
    pairs = [(first_item, second_item) for first_item, second_item in matched if second_item is not None]
    return [*pairs, *fields] if len(pairs) == len(matched) else None


def _held(node: Node) -> Node:
    """An object of a class that extends a list or tuple, with its items as such: ``C([1, 2])`` and
    ``C((1, 2))`` are ``C(1, 2)``."""
    match node.items:
        case [Node(kind="items", name="list" | "tuple", items=items)]:
            return replace(node, items=items)
    return node


def _same_name(true: Node, answered: Node) -> bool:
    """Whether an answer names the same class or function; its name alone is enough."""
    if true.kind != "code" or answered.name[0] != "name":
        return bool(true.name == answered.name)
    return bool(true.name[1] == (answered.name[1] if true.name[0] == "name" else ".".join(answered.name[1])))


@dataclass(frozen=True, slots=True)
class ObjectAgreement:
    """right_class: whether the class, or the kind of container, is the same. right_fields: the share of the
    attributes and items of the true value that the text has right. exact: whether the text is written as
    prompts say, without numbers that are not needed."""

    same: bool
    right_class: bool
    right_fields: float
    exact: bool = True


def compare(text: str, expected: str, arguments: Sequence[int]) -> ObjectAgreement | None:
    """The agreement of a text with the expected one; None if it cannot be read. arguments: the numbers of the
    objects that the question shows. They must be the same in both texts.

    Raises Unreadable if the expected text cannot be read.
    """
    fixed = frozenset(arguments)
    true = read(expected, max_chars=max(MAX_CHARS, 2 * len(expected)))
    try:
        answered, otherwise = _read(text, max(MAX_CHARS, 2 * len(expected)))
        right_class = true.kind == answered.kind and (
            true.kind in ("plain", "code") or true.name == answered.name
        )
        comparison = _Comparison(fixed)
        if comparison.same(true, answered):
            return ObjectAgreement(True, True, 1.0, not (otherwise or comparison.otherwise))
        share = _share(true, answered, fixed) if right_class else 0.0
        return ObjectAgreement(False, right_class, share, not otherwise)
    except (UnreadableObject, RecursionError, MemoryError):
        return None


def _share(true: Node, answered: Node, fixed: Collection[int]) -> float:
    parts = [(part, answered.fields.get(name)) for name, part in true.fields.items()]
    parts += [
        (item, answered.items[n] if n < len(answered.items) else None) for n, item in enumerate(true.items)
    ]
    right = sum(
        answered_part is not None and _Comparison(fixed).same(part, answered_part)
        for part, answered_part in parts
    )
    return right / len(parts) if parts else 0.0
