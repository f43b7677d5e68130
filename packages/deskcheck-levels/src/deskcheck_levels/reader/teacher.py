"""The right words of a reader: the operations of a line in order, from its syntax tree, and the way to the
next line, from the indentation. Tests show that programs then run like in Python."""

import ast
from collections.abc import Generator, Sequence
from functools import lru_cache

from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.reader.text import BELOW, NUMBER, WORDS, Outline

Orders = Generator[str, bool | None, None]
"""Yields words; is sent what a test, a `keep` or a `next` found."""
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}


def orders(words: Sequence[str], again: bool) -> Orders:
    """The words that are right for a line, given as `text.SourceLine.words`. Raises OutsideLanguage for what
    a reader does not know."""
    kind = words[0]
    text = " ".join(("if", *words[1:]) if kind == "elif" else words)
    try:
        statement = ast.parse(text + " pass" if kind in ("if", "elif", "for", "while") else text).body[0]
    except SyntaxError as error:
        raise OutsideLanguage(f"a line that is not a complete statement: {error.msg}") from None
    if isinstance(statement, (ast.If, ast.While)):
        yield from _value(statement.test)
        yield "test"
    elif isinstance(statement, ast.For):
        if not again:
            yield from _value(statement.iter)
            yield "iter"
        if (yield "next"):
            yield from _stored(statement.target)
    elif isinstance(statement, ast.Return):
        if statement.value is None:
            yield "none"
        else:
            yield from _value(statement.value)
        yield "return"
        return
    elif isinstance(statement, ast.Assign):
        yield from _value(statement.value)
        for target in statement.targets[:-1]:
            yield "copy"
            yield from _stored(target)
        yield from _stored(statement.targets[-1])
    elif isinstance(statement, ast.AugAssign):
        yield from _changed(statement)
    elif isinstance(statement, ast.Expr):
        yield from _value(statement.value)
        yield "pop"
    elif not isinstance(statement, (ast.Pass, ast.Break, ast.Continue)):
        raise OutsideLanguage(f"the statement {type(statement).__name__}")
    yield "go"


@lru_cache(maxsize=4096)
def refuse(words: tuple[str, ...]) -> None:
    """Raises OutsideLanguage for a line that has a way through it that a reader does not know."""
    for again in (False, True) if words[0] == "for" else (False,):
        ways: list[tuple[bool, ...]] = [()]
        while ways:
            answers = ways.pop()
            for number in range(len(answers), _replies(orders(words, again), answers)):
                ways.append((*answers, *[True] * (number - len(answers)), False))


def _replies(giving: Orders, answers: tuple[bool, ...]) -> int:
    """How many tests are made on a way: those that are known come out so, all others true."""
    count = 0
    word = next(giving, None)
    while word is not None:
        try:
            if word in REPLIED:
                count += 1
                word = giving.send(answers[count - 1] if count <= len(answers) else True)
            else:
                word = next(giving)
        except StopIteration:
            word = None
    return count


def _stored(target: ast.expr) -> Orders:
    if isinstance(target, ast.Name):
        yield "store"
        yield target.id
    elif isinstance(target, ast.Subscript):
        yield from _value(target.value)
        yield from _value(target.slice)
        yield "setitem"
    elif isinstance(target, (ast.Tuple, ast.List)):
        yield "unpack"
        yield _count(target.elts)
        for element in target.elts:
            yield from _stored(element)
    else:
        raise OutsideLanguage(f"the target {type(target).__name__}")


def _changed(statement: ast.AugAssign) -> Orders:
    op = _BINARY.get(type(statement.op))
    if op is None:
        raise OutsideLanguage("the operator @")
    target = statement.target
    if isinstance(target, ast.Name):
        yield target.id
        yield from _value(statement.value)
        yield f"{op}="
        yield "store"
        yield target.id
    elif isinstance(target, ast.Subscript):
        yield from _value(target.value)
        yield from _value(target.slice)
        yield "both"
        yield "item"
        yield from _value(statement.value)
        yield f"{op}="
        yield "put"
    else:
        raise OutsideLanguage(f"the target {type(target).__name__}")


def _count(items: list[ast.expr]) -> str:
    if len(items) > 9 or any(isinstance(item, ast.Starred) for item in items):
        raise OutsideLanguage("a star, or more than nine items")
    return f"#{len(items)}"


def _values(items: list[ast.expr], word: str) -> Orders:
    count = _count(items)
    for item in items:
        yield from _value(item)
    yield word
    yield count


def _value(node: ast.expr) -> Orders:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        yield from _value(node.left)
        yield from _value(node.right)
        yield _BINARY[type(node.op)]
    elif isinstance(node, ast.UnaryOp):
        yield from _value(node.operand)
        yield _UNARY[type(node.op)]
    elif isinstance(node, ast.BoolOp):
        on = isinstance(node.op, ast.And)
        for operand in node.values[:-1]:
            yield from _value(operand)
            if (yield "keep") != on:
                return
            yield "drop"
        yield from _value(node.values[-1])
    elif isinstance(node, ast.Compare):
        yield from _compared(node)
    elif isinstance(node, ast.IfExp):
        yield from _value(node.test)
        yield from _value(node.body if (yield "test") else node.orelse)
    elif isinstance(node, ast.Call):
        yield from _called(node)
    elif isinstance(node, ast.Subscript):
        yield from _value(node.value)
        yield from _value(node.slice)
        yield "item"
    elif isinstance(node, ast.Slice):
        for part in (node.lower, node.upper, node.step):
            if part is None:
                yield "none"
            else:
                yield from _value(part)
        yield "slice"
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        yield from _values(node.elts, type(node).__name__.lower())
    elif isinstance(node, ast.Dict):
        if None in node.keys:
            raise OutsideLanguage("a dictionary unpacked in a dictionary display")
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield from _value(key)
            yield from _value(value)
        yield "dict"
        yield _count(node.values)
    else:
        raise OutsideLanguage(f"the expression {type(node).__name__}")


def _compared(node: ast.Compare) -> Orders:
    yield from _value(node.left)
    for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        yield from _value(right)
        if number == len(node.ops) - 1:
            yield _COMPARED[type(op)]
            return
        yield "over"
        yield _COMPARED[type(op)]
        if not (yield "keep"):
            yield "nip"
            return
        yield "drop"


def _called(node: ast.Call) -> Orders:
    if node.keywords:
        raise OutsideLanguage("a keyword argument")
    if isinstance(node.func, ast.Attribute):
        attribute = node.func
        yield from _value(attribute.value)
        yield "."
        yield attribute.attr
    else:
        yield from _value(node.func)
    yield from _values(node.args, "call")


# ---- where next ----


def way(looking: str, depth: int, seen: tuple[int, str]) -> tuple[str, ...]:
    """The words that are right for `text.where_words`."""
    at, kind = seen
    if looking == "into":
        return ("here",)
    if looking == "T":
        return _go("down", "into", depth)
    if looking == "F":
        return _go("down", "other", depth)
    if looking == "go":
        return {"continue": _go("up", "round", at), "break": _go("up", "out", at)}.get(
            kind, _go("down", "onward", at)
        )
    if looking in ("onward", "other"):
        return _down(looking, depth, at, kind)
    if at >= depth:
        return _go("up", looking, depth)
    if kind == "def":
        return ("end",)
    if kind in ("for", "while"):
        return _go("down", "onward", at) if looking == "out" else ("here",)
    return _go("down", "onward", at) if looking == "back" else _go("up", looking, at)


def _go(move: str, looking: str, depth: int) -> tuple[str, str, str]:
    return move, looking, f"I{depth}"


def _down(looking: str, depth: int, at: int, kind: str) -> tuple[str, ...]:
    """Down to the next line of a block, over the blocks in it."""
    if at < depth:
        return _go("up", "back", depth)
    if at > depth:
        return _go("down", looking, depth)
    if kind not in ("elif", "else"):
        return ("here",)
    if looking == "onward":
        return _go("down", looking, depth)
    return ("here",) if kind == "elif" else _go("down", "into", depth)


def way_from(
    outline: Outline, position: int, outcome: str
) -> Generator[tuple[str, int, tuple[int, str]], None, int | None]:
    """The questions on the way from a line to the next one.

    Returns the position of the next line; None at the end of the function.
    """
    looking, depth = outcome, outline[position][0]
    while True:
        seen = outline[position] if position < len(outline) else BELOW
        yield looking, depth, seen
        move, *target = way(looking, depth, seen)
        if move in ("here", "end"):
            return position if move == "here" else None
        position += 1 if move == "down" else -1
        looking, depth = target[0], int(target[1][1:])


# ---- as a reader ----


class Teacher:
    """A reader that is always right, and knows only the prompt."""

    def __call__(self, prompt: tuple[int, ...], written: tuple[int, ...]) -> int:
        words = [WORDS[word] for word in prompt]
        if words[0] == "where":
            looking, depth, at, kind = words[1:-1]
            return NUMBER[way(looking, int(depth[1:]), (int(at[1:]), kind))[len(written)]]
        giving = orders(words[1:-2], words[-2] == "again")
        word = next(giving)
        words_before = iter(written)
        for before in words_before:
            if NUMBER[word] != before:
                raise ValueError(f"{WORDS[before]} was written where {word} is right")
            word = giving.send(next(words_before) == NUMBER["T"]) if word in REPLIED else next(giving)
        return NUMBER[word]


REPLIED = frozenset({"test", "keep", "next"})
"""After these the machine writes ``T`` or ``F``."""


def is_right(words: Sequence[str], again: bool, written: Sequence[str]) -> bool:
    """Whether the words that were written for a line so far are the right ones. Among them are the machine's
    answers to tests; the last test may have none yet."""
    giving, remaining = orders(words, again), iter(written)
    right: str | None = next(giving)
    for word in remaining:
        if word != right:
            return False
        answer = next(remaining, None) if word in REPLIED else None
        try:
            right = next(giving) if answer is None else giving.send(answer == "T")
        except StopIteration:
            right = None
    return True
