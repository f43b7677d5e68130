"""Lines of a program as a reader sees them: words, with every name and literal as a numbered slot.

A slot's content is in the machine's hands: the model says `S3` and gets what the fourth name or literal of
the line stands for. Of the other lines of the function it sees the indentation and the first word.
"""

import ast
import io
import keyword
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from deskcheck.recording.program import code_lines
from deskcheck.teach.machine.frames import OutsideLanguage

SLOTS, LINES, DEPTHS, COUNTS = 32, 64, 10, 10
KINDS = ("def", "if", "elif", "else", "for", "while", "break", "continue", "return", "pass")
OPERATORS = tuple("+ - * / // % ** & | ^ << >>".split())
COMPARISONS = tuple("< <= == != > >=".split())
WORDS = (
    *("", "line", "where", "enter", "again", "ask", "at", "plain", "go", "end", "T", "F"),
    *KINDS,
    *("in", "not", "and", "or", "is", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=", "~"),
    *OPERATORS,
    *[f"{op}=" for op in OPERATORS],
    *COMPARISONS,
    *("neg", "pos", "invert", "is not", "not in", "test", "keep", "drop", "over", "nip", "none", "item"),
    *("slice", "list", "tuple", "set", "dict", "call", "store", "put", "setitem", "copy", "pop", "iter"),
    *("next", "unpack", "both"),
    *[f"S{number}" for number in range(SLOTS)],
    *[f"L{number}" for number in range(LINES)],
    *[f"I{number}" for number in range(DEPTHS)],
    *[f"#{number}" for number in range(COUNTS)],
)
"""Of prompts and answers; the first fills up."""
NUMBER = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True, slots=True)
class Slot:
    """What a name or a literal of a line is. name: None for a literal."""

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
    """A function as lines, its head the first of them."""

    name: str
    parameters: tuple[str, ...]
    lines: tuple[SourceLine, ...]
    places: dict[int, int]
    """Number of a line in the text -> its place in `lines`."""


def functions(code: str) -> dict[str, ReadFunction]:
    """The functions of a program by name. Raises OutsideLanguage for what is more than functions of lines
    that a reader knows."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise OutsideLanguage(f"a text that is no program: {error}") from None
    texts = code_lines(code)
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            raise OutsideLanguage("what is no function, outside of functions")
        found[node.name] = _function(node, texts)
    return found


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
    places = {line.number: place for place, line in enumerate(lines)}
    if len(lines) > LINES or max(line.depth for line in lines) >= DEPTHS:
        raise OutsideLanguage("a function of too many lines, or too deep")
    statements = [one for one in ast.walk(node) if isinstance(one, ast.stmt)]
    for one in statements:
        head = one.body[0].lineno - 1 if isinstance(one, (ast.If, ast.For, ast.While)) else one.end_lineno
        if one is not node and (one.lineno not in places or (head is not None and head < one.lineno)):
            raise OutsideLanguage("two statements on a line")
        if not hasattr(one, "body") and one.end_lineno != one.lineno:
            raise OutsideLanguage("a statement of several lines")
    if len({one.lineno for one in statements}) != len(statements):
        raise OutsideLanguage("two statements on a line")
    names = tuple(one.arg for one in (*arguments.posonlyargs, *arguments.args))
    return ReadFunction(node.name, names, tuple(lines), places)


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
            raise OutsideLanguage("a text with values in it")
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
        raise OutsideLanguage("a line that is a name or a literal alone")
    return SourceLine(number, depth, kind, text, tuple(words), tuple(slots))


def _literal(word: str) -> Any:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        raise OutsideLanguage("a text with values in it") from None


def line_prompt(line: SourceLine, again: bool) -> tuple[int, ...]:
    """What is asked about a line that is to run. again: it is a `for` that is under way."""
    words = ("line", *line.words, "again" if again else "enter", "ask")
    return tuple([NUMBER[word] for word in words])


Outline: TypeAlias = Sequence[tuple[int, int, str]]
"""Place, depth and kind of lines of a function, the head of the function first."""


def where_words(outline: Outline, place: int, outcome: str) -> list[str]:
    """Words of a prompt about where a function goes on after a line: the heads of the blocks that it is in,
    the line itself, and all lines after it. outcome: ``T`` or ``F`` of its last test, else ``go``."""
    (number,) = [number for number, line in enumerate(outline) if line[0] == place]
    depth = outline[number][1]
    heads: list[tuple[int, int, str]] = []
    for line in reversed(outline[:number]):
        if line[1] < depth:
            depth = line[1]
            heads.insert(0, line)
    words = ["where", f"L{place}", f"I{outline[number][1]}", outline[number][2], outcome]
    for shown, lines in (("in", heads), ("at", outline[number:])):
        words.append(shown)
        for line in lines:
            words += [f"L{line[0]}", f"I{line[1]}", line[2]]
    return [*words, "ask"]


def where_prompt(function: ReadFunction, place: int, outcome: str) -> tuple[int, ...]:
    """As `where_words`, of a function that is read."""
    outline = [(number, line.depth, line.kind) for number, line in enumerate(function.lines)]
    return tuple([NUMBER[word] for word in where_words(outline, place, outcome)])
