"""The answer in a completion, the raw text of a model.

`lenient` reads answers that are not in the form that was asked for."""

import ast
import re

from deskcheck.ask.answers.values import parse_expression

OPEN, CLOSE = "[ANSWER]", "[/ANSWER]"

_FENCE = re.compile(r"\A(`{3,})[\w+-]*[ \t]*\n(.*?)\n?[ \t]*\1\Z", re.DOTALL)
_THOUGHT = re.compile(
    r"<(?P<ends>/?)(?P<name>think|thinking|thought|thoughts|reasoning|reflection)>|\[ANSWER\]", re.IGNORECASE
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>(.*?)(?=<\|(?:end|return|start|call)\|>|\Z)", re.DOTALL
)
_PLAIN_CHANNELS = re.compile(r"\Aanalysis(?=[A-Z]).*assistantfinal", re.DOTALL)
"""The names of channels in a text that has lost the marks around them."""
_NEW_QUESTION = re.compile(
    r"^(?:Now yours\.|An example\.|Program:|File [^\n]*:$|Call: |How it is run: |Function: "
    r"|(?:Variable|Loop|Condition|About to run|Stopped|Command|Returned|Arguments): "
    r"|Executed (?:now|before),|Question: |You see (?:a Python program|cells of)|(?:User|Human): "
    r"|#+ (?i:(?:your|another|next|new) )?(?i:task|question|problem|exercise|example)\b)"
    r"|<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>",
    re.MULTILINE,
)
"""The beginning of one of deskcheck's questions, or of a turn of a chat. A model invents what follows it."""


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


def answer_in(
    completion: str, *, complete: bool = True, wrapped: bool = False, lenient: bool = False
) -> str | None:
    """The text between the first [ANSWER] and [/ANSWER] of a completion; None without these marks.

    The end of the completion closes a single [ANSWER] without any [/ANSWER], because a server whose stop word
    is [/ANSWER] does not send it. complete: False if the completion is known to be cut, for example at a
    limit of tokens; then its end closes nothing.

    Thoughts (`without_thinking`), white space around the answer, and a code fence or a pair of backticks
    around all of it are removed. wrapped: keep fence and backticks, for programs that print them. lenient:
    take the last answer before a new question, and accept marks in other letters and brackets, too; without
    marks, take the whole text. The time is linear in the length of the completion.
    """
    speech, thinks = without_thinking(completion)
    text = _between(
        _MARKS.sub(_mark, speech) if lenient else speech, complete=complete and not thinks, last=lenient
    )
    if text is None and lenient and complete and not thinks and OPEN not in speech:
        text = speech.partition(CLOSE)[0].strip() or None
    if text is None or wrapped:
        return text
    if text.startswith("```") and text.endswith("```") and (fenced := _FENCE.match(text)):
        return fenced[2].strip()
    if len(text) > 1 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        return text[1:-1].strip()
    return text


_MARKS = re.compile(r"\\?[\[<{]{1,2}(?P<ends>\s*/\s*)?\s*answer\s*\\?[\]>}]{1,2}", re.IGNORECASE)
_SAYS_AGAIN = re.compile(
    r"^\W*(?:(?:my|the)\s+)?(?:final\s+)?answer\W*[:\uff1a]\s*\S", re.IGNORECASE | re.MULTILINE
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|hmm|correction|on second thought|not sure|not certain|mistake|i was wrong|could be|actually"
    r"|reconsider)\b",
    re.IGNORECASE,
)


def _mark(match: re.Match[str]) -> str:
    return CLOSE if match["ends"] else OPEN


def _between(speech: str, *, complete: bool, last: bool) -> str | None:
    """The text between the first marks; last: between the last marks before a new question."""
    if (
        last
        and (new := _NEW_QUESTION.search(speech))
        and OPEN in speech[: new.start()]
        and CLOSE not in speech[: new.start()]
    ):
        return speech[: new.start()].partition(OPEN)[2].strip() or None
    close = speech.find(CLOSE)
    start = speech.rfind(OPEN, 0, close) if close >= 0 else -1
    while close >= 0 and start < 0:  # it closes nothing
        begins = close + len(CLOSE)
        close = speech.find(CLOSE, begins)
        start = speech.rfind(OPEN, begins, close) if close >= 0 else -1
    if start < 0:
        if last and speech.count(OPEN) == 2 and CLOSE not in speech:
            return speech.split(OPEN)[1].strip() or None
        if complete and CLOSE not in speech and speech.count(OPEN) == 1:
            return speech.partition(OPEN)[2].strip() or None
        return None
    if last:
        new = _NEW_QUESTION.search(speech, close)
        end = new.start() if new else len(speech)
        close = speech.rfind(CLOSE, close, end)
        start = speech.rfind(OPEN, 0, close)
        if again := _SAYS_AGAIN.search(speech, close, end):
            return speech[again.start() : end].strip()
        if _TAKEN_BACK.search(speech, close, end):
            return ""
    start += len(OPEN)
    return speech[start : speech.find(CLOSE, start)].strip()


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
    match = _LINE.fullmatch(text)
    return str(int(match[1])) if match else None


def next_line_in(answer: str) -> str | None:
    """Like `line_in`, but only ``-1`` stands for no line."""
    if answer.strip() == "-1":
        return "-1"
    line = line_in(answer)
    return line if line is not None and line.isdigit() else None


_CLASS = re.compile(r"(?:<class ['\"])?(?:[^\W\d]\w*\.)*(?P<name>[^\W\d]\w*)(?:['\"]>)?")


def name_in(answer: str) -> str | None:
    """The name of a class, without its module; ``<class 'int'>`` and ``'int'`` are ``int``."""
    text = answer.strip().strip("'\"")
    match = _CLASS.fullmatch(text) if len(text) < 1000 else None
    return match["name"] if match else None


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
        if match := form.fullmatch(text):
            return int(match["line"]), match["name"].rpartition(".")[2], match["said"] or ""
    return None


_BETWEEN = re.compile(r"[\s,;\[\](){}→>.-]+|lines?\b", re.IGNORECASE)


def lines_in(answer: str) -> list[int] | None:
    """Line numbers in order; None if the text has anything but numbers, separators and the word line."""
    if len(answer) > 20_000:
        return None
    words = _BETWEEN.sub(" ", answer).split()
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        return None
    return [int(word) for word in words]
