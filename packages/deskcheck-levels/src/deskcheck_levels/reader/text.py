"""Lines of a program as a reader sees them: words, with every name and literal as a numbered slot.

A slot's content is in the machine's hands: the model says `S3` and gets what the fourth name or literal of
the line stands for. On its way to the line that comes next it goes from line to line, and sees of each the
indentation and the first word.
"""

import ast
import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from deskcheck.recording.program import code_lines
from deskcheck_levels.machine.frames import OutsideLanguage

SLOTS, DEPTHS, COUNTS = 32, 10, 10
KINDS = ("def", "if", "elif", "else", "for", "while", "break", "continue", "return", "pass")
OPERATORS = tuple("+ - * / // % ** & | ^ << >>".split())
COMPARISONS = tuple("< <= == != > >=".split())
OUTCOMES = ("T", "F", "go")
WAYS = ("into", "onward", "other", "back", "round", "out")
"""The aims on the way to the next line: the first line of a block; the line after a statement; the same after
a false test, for `elif` and `else`; the head of the block that ends; the head of the loop; the head of the
loop to leave."""
MOVES = ("up", "down", "here")
WORDS = (
    *("", "line", "where", "enter", "again", "ask", "plain", "end", *OUTCOMES, *WAYS, *MOVES),
    *KINDS,
    *("in", "not", "and", "or", "is", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "~"),
    *OPERATORS,
    *[f"{op}=" for op in OPERATORS],
    *COMPARISONS,
    *("neg", "pos", "invert", "is not", "not in", "test", "keep", "drop", "over", "nip", "none", "item"),
    *("slice", "list", "tuple", "set", "dict", "call", "store", "put", "setitem", "copy", "pop", "iter"),
    *("next", "unpack", "both"),
    *[f"S{number}" for number in range(SLOTS)],
    *[f"I{number}" for number in range(DEPTHS)],
    *[f"#{number}" for number in range(COUNTS)],
)
"""Of prompts and answers; the first fills up."""
NUMBER = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True, slots=True)
class Slot:
    """A name or a literal of a line. name: None for a literal."""

    name: str | None
    value: Any
    column: int


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a function. number: in the program's text, from 1 on; text: without its indentation."""

    number: int
    depth: int
    kind: str
    text: str
    words: tuple[str, ...]
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class ReadFunction:
    """A function as lines, its head the first of them. variables: parameters, and what lines assign."""

    name: str
    parameters: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    variables: frozenset[str]

    @property
    def outline(self) -> "Outline":
        """Depth and kind of each line."""
        return [(line.depth, line.kind) for line in self.lines]


def functions(code: str) -> dict[str, ReadFunction]:
    """The functions of a program by name. Raises OutsideLanguage for what is more than functions of lines
    that a reader knows."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise OutsideLanguage(f"a text that is not a program: {error}") from None
    texts = code_lines(code)
    by_name = {}
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            raise OutsideLanguage("a statement outside of functions")
        by_name[node.name] = _function(node, texts)
    return by_name


def _function(node: ast.FunctionDef, texts: list[str]) -> ReadFunction:
    arguments = node.args
    if arguments.defaults or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise OutsideLanguage("parameters with defaults or stars")
    if node.decorator_list or node.end_lineno is None:
        raise OutsideLanguage("a decorator")
    lines: list[SourceLine] = []
    depths: list[int] = []
    for number in range(node.lineno, node.end_lineno + 1):
        text = texts[number - 1]
        bare = text.strip()
        if not bare or bare.startswith("#"):
            continue
        indent = len(text) - len(text.lstrip())
        while depths and depths[-1] > indent:
            depths.pop()
        if not depths or depths[-1] < indent:
            depths.append(indent)
        lines.append(_line(number, len(depths) - 1, bare))
    places = {line.number: index for index, line in enumerate(lines)}
    if max(line.depth for line in lines) >= DEPTHS:
        raise OutsideLanguage("a function with blocks nested too deeply")
    statements = [statement for statement in ast.walk(node) if isinstance(statement, ast.stmt)]
    for statement in statements:
        head = (
            statement.body[0].lineno - 1
            if isinstance(statement, (ast.If, ast.For, ast.While))
            else statement.end_lineno
        )
        if statement is not node and (
            statement.lineno not in places or (head is not None and head < statement.lineno)
        ):
            raise OutsideLanguage("two statements on a line")
        if not hasattr(statement, "body") and statement.end_lineno != statement.lineno:
            raise OutsideLanguage("a statement of several lines")
    if len({statement.lineno for statement in statements}) != len(statements):
        raise OutsideLanguage("two statements on a line")
    names = tuple(statement.arg for statement in (*arguments.posonlyargs, *arguments.args))
    assigned = {
        statement.id
        for statement in ast.walk(node)
        if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store)
    }
    return ReadFunction(node.name, names, tuple(lines), frozenset(assigned.union(names)))


def _line(number: int, depth: int, text: str) -> SourceLine:
    words: list[str] = []
    slots: list[Slot] = []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        raise OutsideLanguage("a statement of several lines") from None
    for token in tokens:
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.COMMENT):
            continue
        word = token.string
        if tokenize.tok_name[token.type] == "FSTRING_START":
            raise OutsideLanguage("a text with placeholders")
        literal = word in ("True", "False", "None") or token.type in (tokenize.NUMBER, tokenize.STRING)
        if literal or (token.type == tokenize.NAME and not keyword.iskeyword(word)):
            if len(slots) == SLOTS:
                raise OutsideLanguage("a line with too many names and literals")
            words.append(f"S{len(slots)}")
            slots.append(Slot(None if literal else word, _literal(word) if literal else None, token.start[1]))
        elif word in NUMBER and word:
            words.append(word)
        else:
            raise OutsideLanguage(f"the word {word}")
    kind = words[0] if words[0] in KINDS else "plain"
    if kind == "plain" and len(words) == 1:
        raise OutsideLanguage("a line with only a name or a literal")
    return SourceLine(number, depth, kind, text, tuple(words), tuple(slots))


def _literal(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        raise OutsideLanguage("a text with placeholders") from None


def line_prompt(line: SourceLine, again: bool) -> tuple[int, ...]:
    """The question about the line that runs next. again: it is a `for` that has begun."""
    words = ("line", *line.words, "again" if again else "enter", "ask")
    return tuple([NUMBER[word] for word in words])


Outline: TypeAlias = Sequence[tuple[int, str]]
"""Depth and kind of each line of a function, its head first."""
BELOW = (0, "end")
"""Depth and kind below the last line."""


def where_words(looking: str, depth: int, seen: tuple[int, str]) -> tuple[str, ...]:
    """Words of a prompt on the way to the line that comes next, one for each line that is looked at.

    looking: at the line that has run ``T`` or ``F``, of its last test, or ``go``; then one of `WAYS`. depth:
    of the block that the way is in. seen: depth and kind of the line that is looked at. The answer is
    ``here``, ``end``, or ``up`` or ``down`` a line, with what is looked for from there, and a depth.
    """
    return ("where", looking, f"I{depth}", f"I{seen[0]}", seen[1], "ask")


def where_prompt(looking: str, depth: int, seen: tuple[int, str]) -> tuple[int, ...]:
    """As `where_words`, in numbers."""
    return tuple([NUMBER[word] for word in where_words(looking, depth, seen)])


def all_ways() -> Iterator[tuple[str, int, tuple[int, str]]]:
    """All that can be asked by `where_words`, whether or not a function can come to it."""
    for depth in range(DEPTHS):
        for kind in ("plain", *KINDS, BELOW[1]):
            for outcome in OUTCOMES:
                yield outcome, depth, (depth, kind)
            for looking in WAYS:
                for seen in range(DEPTHS):
                    yield looking, depth, (seen, kind)
