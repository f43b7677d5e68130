"""From a completion, a model's raw text, to its answer."""

import ast
import re

from deskcheck.ask.answers.values import parse_expression

OPEN, CLOSE = "[ANSWER]", "[/ANSWER]"

_FENCE = re.compile(r"\A(`{3,})[\w+-]*[ \t]*\n(.*?)\n?[ \t]*\1\Z", re.DOTALL)


def answer_in(completion: str, *, whole: bool = True, wrapped: bool = False) -> str | None:
    """What stands between the last [ANSWER] that is closed and its [/ANSWER]; None if there is none.

    A single [ANSWER] without any [/ANSWER] is closed by the end of the completion: a server that has
    [/ANSWER] as its stop word does not send it. whole: False where the completion is known to be cut,
    at a limit of tokens for example. What was cut has not said what it meant: that end closes nothing.

    Taken off: white space around it, a code fence or a pair of backticks around all of it. wrapped: fence and
    backticks stay, as where a program prints them. Time is linear in the length of the completion.
    """
    close = completion.rfind(CLOSE)
    start = completion.rfind(OPEN, 0, close) if close >= 0 else -1
    if start >= 0:
        start += len(OPEN)
        text = completion[start : completion.find(CLOSE, start)].strip()
    elif whole and close < 0 and completion.count(OPEN) == 1:
        text = completion.partition(OPEN)[2].strip()
        if not text:
            return None
    else:
        return None
    if wrapped:
        return text
    if text.startswith("```") and text.endswith("```") and (fenced := _FENCE.match(text)):
        return fenced[2].strip()
    if len(text) > 1 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        return text[1:-1].strip()
    return text


def value_in(answer: str) -> str:
    """The value in an answer that may be a whole assertion: of ``f(3) == 7``, ``assert f(3) == 7``: ``7``."""
    text = answer.removeprefix("assert ").strip()
    if "==" not in text:
        return text
    node = parse_expression(text)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return ast.get_source_segment(text, node.comparators[0]) or text
    if text.startswith("==") and parse_expression(text[2:]) is not None:
        return text[2:].strip()
    return text


_FLAGS = re.IGNORECASE | re.DOTALL
_LINE = re.compile(r"(?:line\s*)?(\d{1,9})(?:\s*[:|].*|\.)?", re.IGNORECASE)
_LEAVES = {"return": "return", "returns": "return", "raise": "raise", "raises": "raise"}


def line_in(answer: str) -> str | None:
    """A line number, ``return`` or ``raise``, or None. ``line 7`` and ``7: x = 3`` are 7."""
    text = answer.strip().strip("'\"").strip()
    if text.lower() in _LEAVES:
        return _LEAVES[text.lower()]
    if len(text) > 1000:
        return None
    found = _LINE.fullmatch(text)
    return str(int(found[1])) if found else None


def next_line_in(answer: str) -> str | None:
    """As `line_in`, where ``-1`` means that there is none, and nothing else does."""
    if answer.strip() == "-1":
        return "-1"
    line = line_in(answer)
    return line if line is not None and line.isdigit() else None


_CLASS = re.compile(r"(?:<class ['\"])?(?:[^\W\d]\w*\.)*(?P<name>[^\W\d]\w*)(?:['\"]>)?")


def name_in(answer: str) -> str | None:
    """The name of a class, without its module; ``<class 'int'>`` and ``'int'`` are ``int``."""
    text = answer.strip().strip("'\"")
    found = _CLASS.fullmatch(text) if len(text) < 1000 else None
    return found["name"] if found else None


_NAME, _SAID = r"(?P<name>[^\W\d][\w.]*)\s*", r"\s*(?::\s*(?P<said>.*))?"
_RAISED = (
    re.compile(rf"(?:line\s+)?(?P<line>\d{{1,9}})\s*[:,]\s*{_NAME}{_SAID}", _FLAGS),
    re.compile(rf"{_NAME}(?:,|at|on|in)?\s*line\s+(?P<line>\d{{1,9}}){_SAID}", _FLAGS),
)


def exception_in(answer: str) -> tuple[int, str, str] | None:
    """Line, class without its module, and message (empty if there is none) of ``7: ValueError: no number``;
    ``line 7: ...`` and ``ValueError at line 7: ...`` are the same."""
    text = answer.strip()
    if len(text) > 20_000:
        return None
    for form in _RAISED:
        if found := form.fullmatch(text):
            return int(found["line"]), found["name"].rpartition(".")[2], found["said"] or ""
    return None


_BETWEEN = re.compile(r"[\s,;\[\](){}→>.-]+|lines?\b", re.IGNORECASE)


def lines_in(answer: str) -> list[int] | None:
    """Line numbers in order; None if anything but numbers, separators and the word line stands there."""
    if len(answer) > 20_000:
        return None
    words = _BETWEEN.sub(" ", answer).split()
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        return None
    return [int(word) for word in words]
