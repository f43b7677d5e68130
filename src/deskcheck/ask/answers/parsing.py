"""The answer in a completion, exactly as the prompts ask for it.

Each form of answers has one grammar here, beside the sentences of the prompts (`samples/prompts.toml`) that
ask for it: `FORMS`. The strict score takes nothing else. `lenient` has the rules by which a person reads
other texts.
"""

import ast
import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass

from deskcheck.ask.answers.values import (
    MAX_CHARS,
    dotted,
    has_comment,
    is_exact,
    literal,
    parse_expression,
)

OPEN, CLOSE = "[ANSWER]", "[/ANSWER]"

_THOUGHT = re.compile(
    r"<(?P<ends>/?)(?P<name>think|thinking|thought|thoughts|reasoning|reflection)>|\[ANSWER\]", re.IGNORECASE
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>(.*?)(?=<\|(?:end|return|start|call)\|>|\Z)", re.DOTALL
)
_PLAIN_CHANNELS = re.compile(r"\Aanalysis(?=[A-Z]).*assistantfinal", re.DOTALL)
"""The names of channels in a text that has lost the marks around them."""


def without_thinking(completion: str) -> tuple[str, bool]:
    """A completion without the model's thoughts, and whether it ends in a thought.

    Thoughts are between ``<think>`` and ``</think>`` or similar tags, before a ``</think>`` without an
    opening tag (the prompt may have opened it), and in Harmony's channels other than ``final``. A text
    between [ANSWER] and [/ANSWER] is never a thought.
    """
    channels = _CHANNEL.findall(completion) if "<|channel|>" in completion else []
    if channels:
        final = [text for channel, text in channels if channel == "final"]
        return (final[-1], False) if final else ("", True)
    if plain := _PLAIN_CHANNELS.match(completion):
        return completion[plain.end() :], False
    parts: list[str] = []
    position, last_close = 0, completion.rfind(CLOSE)
    lower = completion.lower()
    while match := _THOUGHT.search(completion, position):
        parts.append(completion[position : match.start()])
        position = match.end()
        if match["name"] is None:
            close = completion.find(CLOSE, position) if position <= last_close else -1
            end = position if close < 0 else close + len(CLOSE)
            parts.append(completion[match.start() : end])
            position = end
        elif match["ends"]:
            parts.clear()
        else:
            mark = f"</{match['name'].lower()}>"
            end = (
                lower.find(mark, position)
                if len(lower) == len(completion)
                else completion.find(mark, position)
            )
            if end < 0:
                return "".join(parts), True
            position = end + len(mark)
    return "".join(parts) + completion[position:], False


def closed(completion: str) -> str:
    """A completion that ended at the stop word [/ANSWER], with that word, which servers do not send."""
    return completion + CLOSE if completion.rfind(OPEN) > completion.rfind(CLOSE) else completion


def answer_in(completion: str) -> str | None:
    """The text of the first complete answer: between the first [/ANSWER] that closes an [ANSWER] and that
    [ANSWER]; None without one. Thoughts (`without_thinking`) and white space around the answer are removed.
    The time is linear in the length of the completion."""
    speech, _ = without_thinking(completion)
    first = speech.find(OPEN)
    close = speech.find(CLOSE, first) if first >= 0 else -1
    return speech[speech.rfind(OPEN, first, close) + len(OPEN) : close].strip() if close >= 0 else None


def written(form: str, answer: str) -> str:
    """A completion that is an answer in the form that the prompts ask for."""
    return f"```\n{answer}\n```" if form == "step" else f"{OPEN}{answer}{CLOSE}"


# -- the grammar of each form ----------------------------------------------------------------------

_NUMBER = r"(?:0|[1-9]\d{0,8})"
_LINE = re.compile(rf"{_NUMBER}|return|raise", re.ASCII)
_NEXT_LINE = re.compile(rf"{_NUMBER}|-1", re.ASCII)
_LINES = re.compile(rf"\[\s*(?:{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*,?\s*)?\]", re.ASCII)
_CLASS = re.compile(r"[^\W\d]\w*")
_EXCEPTION = re.compile(rf"({_NUMBER}):[ \t]*([^\W\d]\w*)(?::(?:[ \t]+([^\n]*))?)?")
_STATE = re.compile(r"```\n(.*)\n```", re.DOTALL)
_FENCE = re.compile(r"(`{3,})[\w+-]*[ \t]*\n(.*?)\n?[ \t]*\1", re.DOTALL)


def value_in(answer: str, *, max_chars: int = MAX_CHARS) -> str | None:
    """The text of one value as ``repr`` writes it (`values.is_exact`)."""
    return answer if is_exact(answer, max_chars=max_chars) else None


def asserted_in(answer: str, *, call: bool = False) -> str | None:
    """The value of ``f(3) == 7``, ``assert f(3) == 7`` or ``== 7``, as CRUXEval's own prompts ask for it.
    call: the call instead."""
    text = answer.removeprefix("assert ").strip()
    if "==" not in text:
        return None
    node = parse_expression(text)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return ast.get_source_segment(text, node.left if call else node.comparators[0])
    return text[2:].strip() if text.startswith("==") and not call else None


def line_in(answer: str) -> str | None:
    """A line number, ``return`` or ``raise``."""
    return answer if _LINE.fullmatch(answer) else None


def next_line_in(answer: str) -> str | None:
    """A line number, or ``-1``."""
    return answer if _NEXT_LINE.fullmatch(answer) else None


def lines_in(answer: str) -> list[int] | None:
    """The numbers of a list."""
    if len(answer) > MAX_CHARS or not _LINES.fullmatch(answer):
        return None
    return [int(number) for number in re.findall(r"\d+", answer)]


def name_in(answer: str) -> str | None:
    """The name of a class, without its module."""
    return answer if len(answer) < 1000 and _CLASS.fullmatch(answer) else None


def exception_in(answer: str) -> tuple[int, str, str] | None:
    """Line, class and message of ``LINE: CLASS: MESSAGE``. The message is empty if there is none, as in the
    last line of a traceback."""
    match = _EXCEPTION.fullmatch(answer) if len(answer) <= MAX_CHARS else None
    return (int(match[1]), match[2], match[3] or "") if match else None


def call_in(answer: str, entry: str) -> str | None:
    """A call of a function, with its arguments written out: literals, and calls and names of what the program
    has, as in ``f(Point(1, 2), Color.RED)``."""
    node = parse_expression(answer)
    if not isinstance(node, ast.Call) or dotted(node.func) != entry or has_comment(answer):
        return None
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    try:
        whole = all(map(_written_out, parts)) and all(keyword.arg for keyword in node.keywords)
    except RecursionError:
        return None
    return answer if whole else None


def _written_out(node: ast.expr) -> bool:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return all(map(_written_out, parts))
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _written_out(key) for key in keys) and all(
                map(_written_out, values)
            )
        case ast.Name() | ast.Attribute(value=ast.Name()) | ast.Lambda():
            return True
        case ast.Call(func=ast.Name(id=name)) if name in _BUILTINS:
            return _is_literal(node)
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name()), args=args, keywords=keywords):
            return all(map(_written_out, args)) and all(
                keyword.arg is not None and _written_out(keyword.value) for keyword in keywords
            )
    return _is_literal(node)


def _is_literal(node: ast.expr) -> bool:
    try:
        literal(node)
    except (ValueError, TypeError, OverflowError, MemoryError):
        return False
    return True


_BUILTINS = frozenset(dir(builtins))


def state_in(answer: str) -> str | None:
    """The state between two lines of backticks."""
    match = _STATE.fullmatch(answer)
    return match[1] if match and "\n```" not in f"\n{match[1]}" else None


def unfenced(answer: str) -> str:
    """A text without a code fence around all of it."""
    match = _FENCE.fullmatch(answer)
    return match[2].strip() if match else answer


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The grammar of one form of answers."""

    asked: tuple[str, ...]
    """Sentences of the prompts that ask for it."""
    read: Callable[[str], object]
    """None for a text that is not in the form."""
    accepts: tuple[str, ...]
    refuses: tuple[str, ...]


FORMS = {
    "value": AnswerForm(
        (
            "written as Python's repr writes it",
            "worked out: a literal, no expression.",
            "Give True if the body of the statement runs after this test, False if it does not.",
            "Give how many times the body of a loop begins",
            "Give a dictionary from pairs (caller, callee) to the number of calls.",
        ),
        value_in,
        ("[0, 1]", '["a",0x1]', "{'a': (1,)}", "set()", "range(0, 3)", "inf", "(1+2j)"),
        ("f(5) == 10", "0, 1", "(10)", "10 # all", "2 * 5", "set([1])", "float('inf')", "5 times", "true"),
    ),
    "arguments": AnswerForm(
        ("Give a call of that function that returns the value", "Write the arguments out as literals."),
        lambda answer: call_in(answer, "f"),
        ("f([1], 'a')", "f(n=-4)", "f(Point(1, 2), Color.RED)", "f(lambda x: x)"),
        ("[1], 'a'", "f(2 * 3)", "f(list(range(3)))", "f('a b'.split())", "f(4) == 16", "f(4)  # or 5"),
    ),
    "line": AnswerForm(
        (
            "Give the number of the line that runs",
            "answer return, or raise if an exception leaves it.",
        ),
        line_in,
        ("4", "return", "raise"),
        ("Line 4", "L4", "4.", "4: t += i", "'return'", "Return"),
    ),
    "one_of": AnswerForm(
        ("Give the number of the line of the code under test", "Give -1 if the line does not run"),
        next_line_in,
        ("4", "-1"),
        ("line 4", "return"),
    ),
    "path": AnswerForm(
        ("Give the numbers of the lines that run, in order", "as a list."),
        lines_in,
        ("[2, 3, 4]", "[2,3,4]", "[]"),
        ("2, 3, 4", "2 -> 3", "(2, 3)", "[L2, L3]"),
    ),
    "exception": AnswerForm(
        ("as LINE: CLASS: MESSAGE.", "without the module; of a message of several lines, give the first."),
        exception_in,
        ("7: ValueError: no number", "7: KeyboardInterrupt"),
        ("line 7: ValueError: no", "7: builtins.ValueError: no", "7: ValueError('no')", "ValueError: no"),
    ),
    "name": AnswerForm(
        ("as type(x).__name__ gives it: int, list, NoneType.",),
        name_in,
        ("int", "NoneType"),
        ("<class 'int'>", "'int'", "builtins.int", "list[int]"),
    ),
    "crash": AnswerForm(
        ("Give the class of the exception that leaves the cell, as its traceback names it, or None",),
        name_in,
        ("KeyError", "None"),
        ("KeyError: 'a'", "no exception"),
    ),
    "step": AnswerForm(
        ("between two lines of ```, and nothing else.",),
        state_in,
        ("```\nf 7: n=2\n```",),
        ("f 7: n=2", "It is:\n```\nf 7: n=2\n```", "```python\nf 7: n=2\n```", "```\nf 7: n=2"),
    ),
}
"""Form of answers -> its grammar. A text that is printed or shown is any text; `objects` reads objects,
`code` programs. A fence around a program, a cell or its output does not count (`unfenced`): their prompts say
so."""
