"""Lenient readings: the answer that a person would see in a text that is not in the form that was asked for.

`said_in` finds it in a completion. An answer is read in one way only, by the first rules of `RULES` that fit;
whether it is right is then decided as for any other answer. Texts that say two things, or say one with a
doubt, are not read.
"""

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deskcheck.ask.answers.objects import UnreadableObject
from deskcheck.ask.answers.objects import read as read_object
from deskcheck.ask.answers.parsing import (
    CLOSE,
    FORMS,
    OPEN,
    asserted_in,
    lines_in,
    next_line_in,
    unfenced,
    without_thinking,
)
from deskcheck.ask.answers.values import dotted, is_exact, parse_expression, read_value
from deskcheck.fences import fenced_texts
from deskcheck.files import read_json
from deskcheck.notation.extract import trace_in

MAX_CHARS = 10_000
"""Longer texts are not read: rules look at a text many times."""


ANSWERS: dict[str, str] = {}
"""Kind of question -> ``count`` or ``truth``, if its answers are numbers of times or truth values."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Facts about the question that decide how an answer is read.

    form: the form of the answer (`Sample.data`). right: the right answer; only its type counts, not its
    value. variable: the variable that the question is about, if any. marked: whether the answer stands
    between marks, so that all of it is meant as the answer.
    """

    form: str
    right: str = ""
    variable: str | None = None
    question: str = ""
    marked: bool = False

    def exact(self, text: str) -> str | None:
        """The text in the form that was asked for, perhaps by a rule that respells it; None if it is not an
        answer as it stands."""
        if self.is_exact(text):
            return text
        for rule in rules_for(self.form):
            if rule.respells and (read := rule.read(text, self)) is not None and self.is_exact(read):
                return read
        return None

    def reads(self, text: str) -> bool:
        """Whether a text is an answer as it stands."""
        return self.exact(text) is not None

    def is_exact(self, text: str) -> bool:
        """Whether a text is in the form that was asked for."""
        match self.form:
            case "one_of" if next_line_in(self.right) is not None:
                return next_line_in(text) is not None
            case "value" | "one_of":
                return is_exact(text)
            case "arguments":
                return dotted_call(text) == self.entry
            case "object":
                return _is_object(text)
            case form if form in FORMS:
                return FORMS[form].read(text) is not None
        return self.form in FREE

    @property
    def entry(self) -> str:
        """The name of the function that a call is asked of."""
        return self.right.partition("(")[0]

    @property
    def kind(self) -> type | None:
        """The class of the right value."""
        readable, value = read_value(self.right)
        return type(value) if readable else None


@dataclass(frozen=True, slots=True)
class Rule:
    """A way in which answers are written, and how to read it."""

    name: str
    example: tuple[str, str]
    """An answer, and the text that it is read as."""
    read: Callable[[str, Expected], str | None]
    """From an answer to a text that is nearer to the form that was asked for; None if it does not fit."""
    forms: tuple[str, ...] = ()
    """The forms of answers that the rule applies to; empty: all forms that can be read leniently."""
    at_once: bool = False
    """Whether the rule comes first, even if the text can be read already, because that reading is wrong."""
    respells: bool = False
    """Whether it reads all of an answer in another spelling; such a rule applies within others, too."""


def read_leniently(text: str, expected: Expected) -> str | None:
    """The one reading of an answer, in the form that was asked for; None if it has none."""
    text = text.strip()
    if len(text) > MAX_CHARS:
        return None
    rules = [*rules_for(expected.form)]
    for _ in range(_DEPTH):
        for rule in rules:
            if rule.at_once and (read := rule.read(text, expected)):
                text = read.strip()
                if expected.form in FREE:  # what is inside is the text
                    return text
        if (exact := expected.exact(text)) is not None:
            return exact
        nearer = next(
            (
                nearer_text.strip()
                for rule in rules
                if (nearer_text := rule.read(text, expected)) is not None and nearer_text.strip() != text
            ),
            None,
        )
        if nearer is None:
            return None
        text = nearer
    return None


_DEPTH = 8
"""Rules that one answer may need."""
FREE = frozenset({"stdout", "text", "cell_output", "next_cell", "own"})
"""Forms of answers that are any text."""


def dotted_call(text: str) -> str | None:
    """The name of the function that an expression calls."""
    node = parse_expression(text)
    return dotted(node.func) if isinstance(node, ast.Call) else None


def _is_object(text: str) -> bool:
    try:
        read_object(text)
    except (UnreadableObject, RecursionError, MemoryError):
        return False
    return True


# -- where the answer is ---------------------------------------------------------------------------

_NEW_QUESTION = re.compile(
    r"^(?:Now yours\.|An example\.|Program:|File [^\n]*:$|Call: |How it is run: |Function: "
    r"|(?:Variable|Loop|Condition|About to run|Stopped|Command|Returned|Arguments): "
    r"|Executed (?:now|before),|(?:(?:Another|New|Next) )?[Qq]uestion(?: \d+)?: "
    r"|You see (?:a Python program|cells of)|(?:User|Human): "
    r"|#+ (?i:(?:your|another|next|new) )?(?i:task|question|problem|exercise|example)\b)"
    r"|<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>",
    re.MULTILINE,
)
"""The beginning of one of deskcheck's questions, or of a turn of a chat. A model invents what follows it."""
_MARKS = re.compile(r"\\?[\[<{]{1,2}(?P<ends>\s*[/\\]\s*)?\s*answer\s*(?:\\?[\]>}]{1,2}|\Z)", re.IGNORECASE)
_SAYS_AGAIN = re.compile(
    r"^\W*(?:(?:my|the)\s+)?(?:final\s+)?answer\W*[:\uff1a]\s*\S", re.IGNORECASE | re.MULTILINE
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|hmm|correction|on second thought|not sure|not certain|mistake|i was wrong|could be|actually"
    r"|reconsider)\b",
    re.IGNORECASE,
)
PLACES = (
    ("last answer", "[ANSWER]9[/ANSWER] No: [ANSWER]10[/ANSWER]", "10"),
    ("new question", "[ANSWER]10[/ANSWER]\n\nNow yours.\n[ANSWER]7[/ANSWER]", "10"),
    ("other marks", "<answer>10</answer>", "10"),
    ("mark not closed", "[ANSWER]10", "10"),
    ("mark opened twice", "[ANSWER]10[ANSWER]", "10"),
    ("closing mark alone", "10[/ANSWER]", "10"),
    ("said again", "[ANSWER]9[/ANSWER]\nFinal answer: 10", "Final answer: 10"),
    ("taken back", "[ANSWER]10[/ANSWER] Wait, I am not sure.", ""),
    ("no marks", "It is 10.", "It is 10."),
)
"""Where a person finds the answer: what it is called, a completion, and the text of its answer."""


def said_in(completion: str, *, complete: bool = True) -> str | None:
    """The text of the answer in a completion as a person would find it (`PLACES`). complete: False if the
    completion is known to be cut; then its end closes nothing. The time is linear in the length."""
    speech, thinks = without_thinking(completion)
    complete = complete and not thinks
    text = _between(_MARKS.sub(_mark, speech), complete=complete)
    if text is None and complete and OPEN not in speech:
        return speech.partition(CLOSE)[0].strip() or None
    return text


def is_marked(completion: str) -> bool:
    """Whether a completion has marks of an answer."""
    return _MARKS.search(completion) is not None


def _mark(match: re.Match[str]) -> str:
    return CLOSE if match["ends"] else OPEN


def _between(speech: str, *, complete: bool) -> str | None:
    """The text between the last marks before a new question."""
    new = _NEW_QUESTION.search(speech)
    if new and OPEN in speech[: new.start()] and CLOSE not in speech[: new.start()]:
        return speech[: new.start()].partition(OPEN)[2].strip() or None
    close = speech.find(CLOSE)
    start = speech.rfind(OPEN, 0, close) if close >= 0 else -1
    while close >= 0 and start < 0:  # it closes nothing
        begins = close + len(CLOSE)
        close = speech.find(CLOSE, begins)
        start = speech.rfind(OPEN, begins, close) if close >= 0 else -1
    if start < 0:
        if speech.count(OPEN) == 2 and CLOSE not in speech:
            return speech.split(OPEN)[1].strip() or None
        if complete and CLOSE not in speech and speech.count(OPEN) == 1:
            return speech.partition(OPEN)[2].strip() or None
        return None
    new = _NEW_QUESTION.search(speech, close)
    end = new.start() if new else len(speech)
    close = speech.rfind(CLOSE, close, end)
    start = speech.rfind(OPEN, 0, close)
    if again := _SAYS_AGAIN.search(speech, close, end):
        return speech[again.start() : end].strip()
    if _TAKEN_BACK.search(speech, close, end):
        return ""
    return speech[start + len(OPEN) : close].strip()


# -- other spellings of the whole answer -----------------------------------------------------------


def _asserted(text: str, expected: Expected) -> str | None:
    return asserted_in(text, call=expected.form == "arguments")


_TYPOGRAPHIC = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
"""Typographic quotation marks."""


def _respelled(text: str, expected: Expected) -> str | None:
    """``set([1])``, ``float('inf')``, ``1, 2``, ``(10)``, ``10  # all``; other quotation marks"""
    readable, value = read_value(text)
    if not readable:
        readable, value = read_value(text.translate(_TYPOGRAPHIC))
    try:
        return repr(value) if readable else None
    except (ValueError, RecursionError):  # a number too long to be written
        return None


_LABELLED = re.compile(r"(?:line\s*)?0*(\d{1,9})(?:\s*[:|].*|\.)?", re.IGNORECASE)
_LEAVES = {"return": "return", "returns": "return", "raise": "raise", "raises": "raise"}


def _labelled(text: str, expected: Expected) -> str | None:
    """``line 7``, ``7: x = 3``, ``7.``, ``'return'``"""
    text = text.strip("'\"[]()").strip()
    if text.lower() in _LEAVES:
        return _LEAVES[text.lower()]
    match = _LABELLED.fullmatch(text) if len(text) <= 1000 else None
    return match[1] if match else None


_SEPARATORS = re.compile(r"[\s,;\[\](){}→>.-]+|lines?\b|\band\b", re.IGNORECASE)


def _separated(text: str, expected: Expected) -> str | None:
    """Numbers with whatever separates them, and the word line."""
    words = _SEPARATORS.sub(" ", text).split()
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        return None
    return f"[{', '.join(str(int(word)) for word in words)}]"


_OF_MODULE = re.compile(r"(?:<class ['\"])?(?:[^\W\d]\w*\.)*(?P<name>[^\W\d]\w*)(?:['\"]>)?")


def _of_module(text: str, expected: Expected) -> str | None:
    """``<class 'int'>``, ``'int'``, ``builtins.int``"""
    match = _OF_MODULE.fullmatch(text.strip("'\"")) if len(text) < 1000 else None
    return match["name"] if match else None


_NAMED, _SAYING = r"(?P<name>[^\W\d][\w.]*)\s*", r"\s*(?::\s*(?P<said>.*))?"
_PLACED = (
    re.compile(rf"(?:line\s+)?(?P<line>\d{{1,9}})\s*[:,]\s*{_NAMED}{_SAYING}", re.IGNORECASE | re.DOTALL),
    re.compile(rf"{_NAMED}(?:,|at|on|in)?\s*line\s+(?P<line>\d{{1,9}}){_SAYING}", re.IGNORECASE | re.DOTALL),
)


def _placed(text: str, expected: Expected) -> str | None:
    """``line 7: ValueError: no``, ``ValueError at line 7``; the first line of the message."""
    for form in _PLACED:
        if match := form.fullmatch(text):
            message = (match["said"] or "").partition("\n")[0]
            return f"{int(match['line'])}: {match['name'].rpartition('.')[2]}: {message}"
    return None


def _in_parentheses(text: str, expected: Expected) -> str | None:
    """The call of what the text says between its parentheses; ``(1, 2)`` is one tuple."""
    is_whole_call = f"{expected.entry}(" in text or dotted_call(f"f({text}\n)") != "f"
    return None if is_whole_call else f"{expected.entry}({text})"


def _state(text: str, expected: Expected) -> str | None:
    """The last state in a text, between fences or as it stands."""
    state = trace_in(text).partition("\n\n")[0].strip("\n")
    return f"```\n{state}\n```" if state.strip() else None


# -- what stands around an answer ------------------------------------------------------------------

_AROUND = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"\*\*(?P<t>[^*]+)\*\*",
        r"\*(?P<t>[^*]+)\*",
        r"`+(?P<t>[^`]+)`+",
        r"\$\$?(?P<t>[^$]+)\$\$?",
        r"\\\((?P<t>.+)\\\)",
        r"\\\[(?P<t>.+)\\\]",
        r"\\boxed\{(?P<t>.+)\}",
    )
)


_FONTS = re.compile(r"\\(?:text|texttt|textbf|mathrm|mathtt|mathbf|operatorname)\{([^{}]*)\}")


def _latex(text: str, expected: Expected) -> str | None:
    """The text without LaTeX's fonts, escaped braces, and dollars around them."""
    plain = re.sub(r"\\([{}_%#&])", r"\1", _FONTS.sub(r"\1", text)) if _FONTS.search(text) else text
    return re.sub(r"\$\$?([^$]+)\$\$?", r"\1", plain) if plain != text else None


def _boxed(text: str, expected: Expected) -> str | None:
    """The only text in a box (``\\boxed``) in a sentence."""
    boxes = {*_boxes(text)}
    return boxes.pop() if len(boxes) == 1 else None


def _boxes(text: str) -> Iterator[str]:
    for box in itertools.islice(re.finditer(r"\\boxed\{", text), _PARTS):
        depth = 1
        for end in re.finditer(r"[{}]", text[box.end() :]):
            depth += 1 if end[0] == "{" else -1
            if not depth:
                yield text[box.end() : box.end() + end.start()]
                break


_KEYS = ("answer", "final_answer", "result", "output", "value")


def _json(text: str, expected: Expected) -> str | None:
    """The value of the key that says that it is the answer; of the variable or the kind of question."""
    if not text.startswith("{"):
        return None
    try:
        fields = read_json(text)
    except ValueError:
        fields = read_value(text)[1] if expected.kind is not dict else None
    if not isinstance(fields, dict) or (expected.kind is dict and [*fields] != ["answer"]):
        return None
    keys = [key for key in (*_KEYS, expected.variable, expected.question) if key in fields]
    if len(keys) != 1:
        return None
    value = fields[keys[0]]
    return value if isinstance(value, str) and expected.form not in _VALUES else repr(value)


_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")


def _emphasised(text: str, expected: Expected) -> str | None:
    """The only answer that a longer text has in bold."""
    if _BOLD.fullmatch(text) or "'*" in text or '"*' in text:
        return None
    ways: tuple[Callable[[str, Expected], str | None], ...] = (lambda span, expected: span, _yes_or_no, _said)
    read = [(way(span.strip(" ."), expected) for way in ways) for span in _BOLD.findall(text)]
    values = {reading for readings in read for reading in readings if reading and expected.reads(reading)}
    return values.pop() if len(values) == 1 else None


_ARROW = re.compile(r".*(?:->|=>|→|⇒)\s*(?P<t>[^→⇒]+?)\.?", re.DOTALL)


def _points_to(text: str, expected: Expected) -> str | None:
    """The text after the last arrow of a sentence."""
    match = _ARROW.fullmatch(text) if expected.kind not in (list, dict) else None
    return match["t"] if match and expected.reads(match["t"]) else None


_NOUN = re.compile(
    r"(?:an?|the)\s+(?:[^\W\d]\w*\s+)?(?:list|tuple|set|dict(?:ionary)?|str(?:ing)?|text|number|integer|int|float"
    r"|bool(?:ean)?|value)\s+(?:of\s+)?(?P<t>[^\s].*)",
    re.IGNORECASE,
)


def _headless(text: str, expected: Expected) -> str | None:
    """The text without headings, and without a first line or words that only announce the answer."""
    if match := _NOUN.fullmatch(text):
        return match["t"] if expected.reads(match["t"]) else None
    lines = [line for line in text.splitlines() if not re.match(r"#+\s", line)]
    if len(lines) > 1 and re.fullmatch(r".*[A-Za-z*][^'\"\[({]*:\**", lines[0].strip()):
        lines = lines[1:]
    body = "\n".join(lines).strip()
    return body if body and body != text else None


def _unwrapped(text: str, expected: Expected) -> str | None:
    for form in _AROUND:
        if match := form.fullmatch(text):
            return match["t"]
    bare = text.replace("**", "")
    return bare if bare != text and "'" not in text and '"' not in text else None


def _around(text: str, expected: Expected) -> str | None:
    """The text between asterisks."""
    match = _AROUND[0].fullmatch(text)
    return match["t"] if match else None


def _quoted(text: str, expected: Expected) -> str | None:
    match = re.fullmatch(r"`([^`\n]+)`", text)
    return match[1] if match else None


def _unlabelled(text: str, expected: Expected) -> str | None:
    """The text that a cell shows, without the label that Jupyter shows beside a result."""
    bare = re.sub(r"^Out ?\[\d*\]:[ \n]?", "", text, flags=re.MULTILINE)
    return bare if bare != text else None


def _text_in_fence(text: str, expected: Expected) -> str | None:
    """The text in a fence around all of it, or in the only fence of an answer."""
    bare = unfenced(text)
    return bare if bare != text else _fenced(text, expected)


def _fenced(text: str, expected: Expected) -> str | None:
    blocks = [block for block in fenced_texts(text) if block.strip()] if "```" in text else []
    return blocks[0] if len(blocks) == 1 else None


def _punctuated(text: str, expected: Expected) -> str | None:
    return text[:-1] if text[-1:] in ".;" else None


def _whole_number(text: str, expected: Expected) -> str | None:
    """``10.`` is a float in Python."""
    return text[:-1] if expected.kind is int and re.fullmatch(r"[-+]?\d+\.", text) else None


def _thousands(text: str, expected: Expected) -> str | None:
    """Python would read a tuple."""
    number = expected.kind in (int, float) and re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
    return text.replace(",", "") if number else None


def _constant(text: str, expected: Expected) -> str | None:
    """``true``, ``null``; also inside of containers that are written as JSON."""
    spellings = {"true": "True", "false": "False", "none": "None", "null": "None"}
    if expected.kind in (bool, type(None)):
        return spellings.get(text.lower()) if text not in spellings.values() else None
    if expected.kind not in (list, dict, tuple) or expected.reads(text):
        return None
    named = re.sub(r"(?<![\w'\"])(?:true|false|null)(?![\w'\"])", lambda match: spellings[match[0]], text)
    return named if named != text and expected.reads(named) else None


# -- sentences -------------------------------------------------------------------------------------

_SAYS = re.compile(
    r"->|=>|→|⇒|⟹|:|\uff1a|(?<![-!<>=+*/%&|^@~≠])={1,2}|\bwith (?:the|a) (?:return )?value(?: of)?\b"
    r"|\b(?:is now|is|are|was|will be|would be|returns?|returned|prints?|gives?"
    r"|yields?|outputs?|equals?|becomes|holds|contains"
    r"|takes (?:on )?the values?|evaluates to|raises?|runs|of type|class)\b"
    r"|\b(?:it|that|this|which|answer|result|value)['\u2019]s\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|no|nor|isn't|doesn't|won't|if|unless|than|instead|wrong|maybe|perhaps|either|or|but|and|could"
    r"|might|may|probably|until|before)\b|!=|[<>]=|≠",
    re.IGNORECASE,
)
_COMPARES = re.compile(r"!=|[<>]=|≠|\b(?:not )?in\b")
"""Signs of a condition, where the question is whether it holds."""
_MOMENT = re.compile(
    r"^(?:(?:so|then|thus|therefore|hence|finally),?\s+)?(?:just |right |immediately )?"
    r"(?:before|when|after|once|at|by|by the time|with|for|since|because|as)\b[^`:=\[\](){}'\"]*?,\s+",
    re.IGNORECASE,
)
"""The beginning of a sentence that says when, or why."""
_AT_LINE = re.compile(
    r"(?:just |right |immediately )?before line \d+(?: (?:runs|is executed))?"
    r"(?: (?:for|the) [\w ]{3,20} time)?",
    re.IGNORECASE,
)
"""When it is, in the words of the question."""
_ADVERBS = re.compile(
    r"^(?:just|only|simply|exactly|therefore|thus|now|still|then|also|always|indeed|again)\s+", re.IGNORECASE
)
_SO = re.compile(
    r",?\s+(?:so|which|and so|i\.e\.|that is|hence|therefore|at (?:this|that) (?:point|moment)|when"
    r"|and (?:it )?(?:also )?prints|I (?:believe|think))\b"
    r"|,?\s+and\s+(?:it|the|then|this)\b(?=[^\d'\"\[({]*\Z)"
)
"""The words between an answer and a conclusion from it."""
_REFERS_BACK = re.compile(r"\breturns? (?:it|this|that)\W*\Z", re.IGNORECASE)
"""A conclusion that only repeats the answer before it."""
_IS_RETURNED = re.compile(
    r"(?P<head>(?:so|thus|therefore|then|hence|finally),?\s+)?(?P<t>.+?)\s+(?:is|are|was|will be|would be)"
    r"\s+(?:then |finally )?(?:returned|printed"
    r"|(?:the|my) (?:final |correct |return(?:ed)? )*(?:answer|result|output|value))\b[.!]?",
    re.IGNORECASE,
)
"""A sentence that begins with the answer."""
_AND_RETURNS = re.compile(r",?\s+and (?:then |finally )?(?:it )?(?=returns\b)", re.IGNORECASE)
_DOES_ELSE = re.compile(r"\b(?:returns?|not|never|n't|if|or|maybe|may|might|could)\b", re.IGNORECASE)
"""Words that a clause before "and returns" does not have, such as in "it prints 2"."""
_PARTS = 12
"""The number of parts of a sentence that may be followed by the answer."""
_NAME = re.compile(r"[^\W\d]\w*")
_SHOWN = re.compile(r"`([^`\n]+)`|(?<!\w)((['\"])(?:[^'\"\\\n]|\\.)*\3)(?!\w)")
"""Code, and text in quotation marks."""


def _said(text: str, expected: Expected) -> str | None:
    """``The answer is 10``, ``t = 10``, ``f(5) -> 10``."""
    if "\n" in text or expected.question == "changes" or len(_statements(text)) > 1:
        return None
    if isinstance(parse_expression(text), ast.Lambda):  # an expression, not a sentence that ends in one
        return None
    text = _AT_LINE.sub("", _MOMENT.sub("", text))
    if value := _IS_RETURNED.fullmatch(text):
        text = f"{value['head'] or ''} is {value['t']}"
    word = None if _REFERS_BACK.search(text) else _SO.search(text)
    value_text = text[word.end() :].strip() if word else ""
    if (conclusion := value_text.rstrip(".!")) and expected.reads(conclusion):
        return conclusion
    if _RESULT.match(value_text.removeprefix("the ")):
        text = value_text
    if len(clauses := _AND_RETURNS.split(text)) == 2 and not _DOES_ELSE.search(clauses[0]):
        text = clauses[1]
    for says in itertools.islice(_SAYS.finditer(text), _PARTS):
        head, tail = text[: says.start()].strip(), text[says.end() :].strip().rstrip(".!")
        if _DOUBT.search(_COMPARES.sub("", head) if expected.kind is bool else head):
            return None
        if says[0][0] in ":=" and _of_another(head, expected):
            return None
        if expected.form == "line" and says[0].lower().startswith(("return", "raise")):
            continue
        tail = _ADVERBS.sub("", tail)
        if expected.form in _NAMES:
            tail = re.sub(r"^(?:an?|the)\s+", "", tail)
        for part in (tail, *_before_reasons(tail)):
            bare = part.strip("`*$ ")
            for reading in (
                part,
                bare,
                *(form(bare, expected) for form in _OF_FORM.get(expected.form, ())),
                _described(part, expected),
            ):
                if reading and expected.reads(reading):
                    return reading
    return None


def _before_reasons(text: str) -> Iterator[str]:
    """An answer without the conclusion or the reason after it."""
    for form in (_WHY, _SO, _ASIDE):
        if match := form.search(text):
            yield text[: match.start()].rstrip(" ,;-\u2013\u2014.")


_ARTICLE = re.compile(r"(?:an?|the)\s+(?:[^\W\d]\w*[ -]+){1,3}\(?\Z", re.IGNORECASE)


def _described(text: str, expected: Expected) -> str | None:
    """``the empty string ''``, ``a string (`str`)``."""
    quotations = [*_SHOWN.finditer(text)]
    if len(quotations) != 1 or not _ARTICLE.fullmatch(text[: quotations[0].start()]):
        return None
    return (
        (quotations[0][1] or quotations[0][2]) if text[quotations[0].end() :].strip() in ("", ")") else None
    )


_BUT = re.compile(r".*\b(?:not|[a-z]+n't)\b[^.;]*?\bbut (?:rather )?(?P<t>[^,;]+?)\.?", re.IGNORECASE)


def _not_but(text: str, expected: Expected) -> str | None:
    """``It is not line 4 that runs next, but line 6.``"""
    match = _BUT.fullmatch(text)
    if not match:
        return None
    read = (match["t"], *(form(match["t"], expected) for form in _OF_FORM.get(expected.form, ())))
    return next((reading for reading in read if reading and expected.reads(reading)), None)


_RUNS = re.compile(
    r"\b(?:(?P<no>not|never|[a-z]+n't)\s+(?:(?:even|ever|be|get|actually)\s+)*)?"
    r"(?:(?P<skipped>skipped)|runs?|met|satisfied|fulfilled|executed?|executes|reached|entered|taken)\b",
    re.IGNORECASE,
)


_SOMETHING = re.compile(r"\b(?:line|body|block|branch|condition|it|statement|loop)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:if|or|maybe|perhaps|might|may|could|whether|which|decide|unable|unclear|cannot|I)\b|\?",
    re.IGNORECASE,
)


def _runs_or_not(text: str, expected: Expected) -> str | None:
    """Whether a sentence says that something runs."""
    if ANSWERS.get(expected.question) != "truth" or not _SOMETHING.search(text) or _OPEN.search(text):
        return None
    verdicts = {bool(match["no"]) == bool(match["skipped"]) for match in _RUNS.finditer(text)}
    return str(verdicts.pop()) if len(verdicts) == 1 else None


_NAMES = ("name", "crash")
_GENERAL = frozenset("answer result output value values type class ans res ret returned".split())


_ONE_OF_SEVERAL = re.compile(r"[=:][^=:]*[,;]\s*(?P<name>[^\W\d][\w.]*)\Z")
"""The beginning of another assignment in one line, up to its sign."""


def _of_another(head: str, expected: Expected) -> bool:
    """Whether a value is assigned to another name than that of the question, or to one name of several."""
    name = head.strip("`*")
    if several := _ONE_OF_SEVERAL.search(head):
        name = several["name"]
        again = len(re.findall(rf"\b{re.escape(name)}\b", head)) > 1
        return again or (name != expected.variable and name.lower() not in _GENERAL)
    is_other_name = name != expected.variable and name.lower() not in _GENERAL
    return is_other_name and expected.variable is not None and _NAME.fullmatch(name) is not None


_WHY = re.compile(r"\b(?:because|since|as the|which|due to|so that)\b", re.IGNORECASE)
_AFTER_DASH = re.compile(r"\s[-\u2013\u2014]\s+(?=[^\W\d])")
_ASIDE = re.compile(r"\s\([^()]*[^\W\d]{2}[^()]*(?:\([^()]*\)[^()]*)?\)\Z")


def _explained(text: str, expected: Expected) -> str | None:
    """``10, because ...``, ``10 (the sum of all)``; ``string (str)``."""
    inside = re.fullmatch(r"[^\W\d][^()\n]*\((?P<t>[^()\n]+)\)", text) if expected.form == "name" else None
    if inside and expected.reads(inside["t"].strip("`*")):
        return inside["t"].strip("`*")
    first, *others = _statements(text) or [""]
    if others and "\n" not in text and expected.is_exact(first[:-1]):
        rest = " ".join(others)
        return None if _DOUBT.search(rest) or _TAKEN_BACK.search(rest) else first[:-1]
    if "\n" in text:
        return None
    reason = _WHY.search(text) or _ASIDE.search(text)
    if reason is None and parse_expression(text) is None:
        after = [match for form in (_SO, _AFTER_DASH) if (match := form.search(text)) and match.start()]
        reason = next((match for match in after if expected.reads(text[: match.start()])), None)
    answer = text[: reason.start()].rstrip(" ,;(-\u2013\u2014") if reason else ""
    if reason and not expected.reads(answer) and expected.reads(reason[0].strip()):  # a tuple, no aside
        return None
    return answer if answer and not _DOUBT.search(answer) else None


_ENDS_SENTENCE = re.compile(
    r"`[^`\n]*`"
    r"|(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w)"
    r"|(?<!\w)\"(?:[^\"\\\n]|\\.)*\""
    r"|(?P<end>(?<!\b\w)(?<!^\d\d)[.!?](?=\**\s+\S))"
)
"""Code and quotations, which are skipped, or the end of a sentence: not of ``i.e.``, ``1.`` or ``10.``."""


def _statements(text: str) -> list[str]:
    """The lines of a text, and of each its sentences. None ends inside of quotation marks."""
    sentences: list[str] = []
    for line in text.splitlines():
        position = 0
        for end in _ENDS_SENTENCE.finditer(line):
            if end["end"]:
                sentences.append(line[position : end.end()])
                position = end.end()
        sentences.append(line[position:])
    return [sentence.strip() for sentence in sentences if sentence.strip()]


_CONCLUDES = re.compile(
    r"\W*(?:so|therefore|thus|hence|finally|in conclusion|(?:the |my )?(?:final |correct |return(?:ed)? )*"
    r"(?:answer|result|output|value))\b.*",
    re.IGNORECASE,
)


def _conclusion(text: str, expected: Expected) -> str | None:
    """The last of several lines, if it says that it is the answer; or the last sentence."""
    before, _, last = text.rpartition("\n")
    if (
        before
        and (heading := re.fullmatch(r"(?:#+|[^\W\d_]{4,20}\s*[:\uff1a])\s*(?P<t>.+)", last))
        and expected.reads(heading["t"])
    ):
        return heading["t"]
    if before and _CONCLUDES.fullmatch(last):
        return last
    bare = [line for line in text.splitlines() if expected.reads(line)]
    if before and bare == [last]:
        return last
    *others, last = _statements(text)
    return _of_statement(last, expected) if others and _CONCLUDES.fullmatch(last) else None


def _only_statement(text: str, expected: Expected) -> str | None:
    """The only one of several lines and sentences that can be read."""
    statements = _statements(text)
    if len(statements) < 2 or expected.question == "changes":
        return None
    readings = [
        (statement, read)
        for statement in statements
        if (read := _of_statement(statement, expected)) is not None
    ]
    values = {read for _, read in readings}
    if len(values) > 1:
        variable = re.compile(rf"\b{re.escape(expected.variable)}\b") if expected.variable else None
        values = {
            read
            for statement, read in readings
            if _CONCLUDES.fullmatch(statement)
            or _RESULT.search(statement)
            or (variable and variable.search(statement))
        }
    return values.pop() if len(values) == 1 else None


_RESULT = re.compile(
    r"\b(?:function|call|program|method)\b[^.]*\b(?:returns?|prints?|gives?|yields?|evaluates)\b"
    r"|\b(?:answer|result|output)\b",
    re.IGNORECASE,
)


def _of_statement(text: str, expected: Expected) -> str | None:
    """A line or a sentence, read as a separate answer."""
    for read in (_itself, _unwrapped, _said, _not_but, _runs_or_not, _commented, _only_code):
        reading = read(text if read in (_itself, _unwrapped) else text.replace("**", ""), expected)
        if reading and expected.reads(reading):
            return reading
    return None


def _commented(text: str, expected: Expected) -> str | None:
    """``print(t)  # 10``"""
    match = re.fullmatch(r"\S[^#'\"]*\s#\s*(?:->|=>|=|prints|returns)?\s*(?P<t>[^#]+)", text)
    return match["t"] if match and expected.form in _VALUES else None


def _assigned(text: str, expected: Expected) -> str | None:
    """The value of the only statement of a program, over several lines, too."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if expected.question == "changes" or len(body) != 1:
        return None
    match body[0]:
        case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if not _of_another(name, expected):
            return ast.get_source_segment(text, value)
        case ast.Return(value=ast.expr() as value):
            return ast.get_source_segment(text, value)
    return None


def _itself(text: str, expected: Expected) -> str | None:
    return text


# -- by the form of the answer ---------------------------------------------------------------------

_WORDS = {
    word: str(number)
    for number, words in enumerate(
        (
            "zero",
            "one once",
            "two twice",
            "three thrice",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
        )
    )
    for word in words.split()
}
_UNIT = re.compile(
    rf"[$`*]*(?P<t>\d+|{'|'.join(_WORDS)})[$`*]*\s+"
    r"(?:times?|iterations?|passes|pass|loops?|runs?|rounds?)(?:\s+in\s+total)?|(?P<w>once|twice|thrice)",
    re.IGNORECASE,
)


def _counted(text: str, expected: Expected) -> str | None:
    if ANSWERS.get(expected.question) != "count":
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    match = _UNIT.fullmatch(text) or re.fullmatch(r"(['\"])(?P<t>\d+)(?P<w>)\1", text)
    return _number(match) if match else None


def _number(match: re.Match[str]) -> str:
    word = (match["t"] or match["w"]).lower()
    return _WORDS.get(word, word)


def _only_count(text: str, expected: Expected) -> str | None:
    """The only number of times that a sentence names."""
    text = re.split(r"[:;]\s", text)[0]
    if ANSWERS.get(expected.question) != "count" or _DOUBT.search(text):
        return None
    numbers = {_number(match) for match in _UNIT.finditer(text)}
    return numbers.pop() if len(numbers) == 1 else None


def _yes_or_no(text: str, expected: Expected) -> str | None:
    match = (
        re.match(r"\W*(yes|no)\b(?!\s+(?:idea|one))", text, re.IGNORECASE) if expected.kind is bool else None
    )
    return {"yes": "True", "no": "False"}[match[1].lower()] if match else None


_GOES = re.compile(
    r"\b(?:proceeds?|goes(?: on)?|moves?|jumps?|stops?|continues?|control passes)\b[^.\d]{0,30}"
    r"\bline (\d{1,9})\b",
    re.IGNORECASE,
)


def _only_number_of_line(text: str, expected: Expected) -> str | None:
    """The only line that a sentence names, or the end of the frame if it names none."""
    goes = _GOES.findall(text.replace("*", ""))
    if goes and not re.search(r"\bor\b|\bnot\b|n't\b", text):
        return str(goes[-1])
    numbers = {*re.findall(r"\b(?:line\s*|L)(\d{1,9})\b", text)}
    doubt = _DOUBT.search(re.sub(r"\bjust before\b", "at", text)) or re.search(
        r"\b(?:returns?|raises?)\b", text
    )
    if not re.search(r"\d", text):
        ends = {(match[1] or "raise").lower() for match in _ENDING.finditer(text)}
        return ends.pop() if len(ends) == 1 and not _DOUBT.search(text) else None
    return numbers.pop() if len(numbers) == 1 and not doubt else None


_ENDING = re.compile(r"\b(return|raise)(?:s|d|ed)?\b|\bexception\b", re.IGNORECASE)
_CODE = re.compile(r"`([^`\n]+)`")


def _only_code(text: str, expected: Expected) -> str | None:
    """The only value that a sentence shows as code."""
    if _DOUBT.search(_CODE.sub("", text)) or expected.question == "changes":
        return None
    values = {span for span in _CODE.findall(text) if span != expected.variable and expected.reads(span)}
    return values.pop() if len(values) == 1 else None


_QUOTED = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_LITERAL = re.compile(
    rf"(?<!\w)[bB]?(?:{_QUOTED})(?!\w)|(?P<open>[\[({{])"
    r"|(?<![\w.])(?:[-+]?\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?|True|False|None)(?!\w)"
)
_BRACKET = re.compile(rf"{_QUOTED}|[\[({{\])}}]")
_HOLE = "\N{WHITE SQUARE}"
_NO_ANSWER = re.compile(
    rf"[-+*/%<>!&|^~]=?\s*{_HOLE}|{_HOLE}\s*[-+*/%<>!&|^~]|\.\.\.|…"
    rf"|\b(?:about|around|roughly|approximately|nearly|almost|least|most|over|under|up to)\s+{_HOLE}"
    rf"|\b(?:lines?|steps?|index|iterations?|pass|calls?|time)\s+(?:number\s+)?{_HOLE}",
    re.IGNORECASE,
)
"""A sentence about a literal that is part of an expression, or counts something else."""
_IS_ASSIGNED = re.compile(rf"(?P<head>.*[^\W\d]\w*[`*]*)\s*[:=]\s*[`*]*{_HOLE}", re.DOTALL)


def _only_value(text: str, expected: Expected) -> str | None:
    """The only literal of a sentence between the marks, apart from those in parentheses."""
    if not expected.marked or expected.question == "changes" or len(text) > _SENTENCE_CHARS:
        return None
    literals, remainder, position = set(), "", 0
    while match := _LITERAL.search(text, position):
        remainder += text[position : match.start()]
        end = _bracketed_end(text, match.start()) if match["open"] else match.end()
        literal, position = text[match.start() : end], end
        if is_exact(literal):
            literals.add(literal)
            remainder += _HOLE
        elif match["open"] != "(":  # parentheses hold arguments, or an aside
            return None
    remainder += text[position:]
    assigned = _IS_ASSIGNED.match(remainder)
    if len(literals) != 1 or any(form.search(remainder) for form in (_DOUBT, _OPEN, _NO_ANSWER)):
        return None
    if _UNIT.search(text) or (assigned and _of_another(assigned["head"].split()[-1], expected)):
        return None
    return literals.pop()


_SENTENCE_CHARS = 1000


def _bracketed_end(text: str, start: int) -> int:
    """The position after the bracket that closes the one at the start; the end, if none does."""
    depth = 0
    for match in _BRACKET.finditer(text, start):
        depth += (match[0] in "[({") - (match[0] in "])}")
        if not depth:
            return match.end()
    return len(text)


def _only_call(text: str, expected: Expected) -> str | None:
    """The only call that a sentence has, of the function that is asked about; the call of an assertion, or
    after assignments, whose values it takes."""
    if call := _with_values(text, expected.entry):
        return call
    if parse_expression(text) is not None and not text.startswith("print("):
        return None  # it is all of the answer
    name = expected.entry
    calls = {text[at:end] for at in _places(text, f"{name}(") if (end := _closed(text, at))}
    return calls.pop() if len(calls) == 1 else None


def _with_values(text: str, entry: str) -> str | None:
    """``n = 4; f(n)`` as one call: ``f(4)``."""
    try:
        *assignments, last = ast.parse(text).body or [ast.Pass()]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    values: dict[str, ast.expr] = {}
    for statement in assignments:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in values:
                values[name] = value
            case _:
                return None
    call = last.value if isinstance(last, (ast.Expr, ast.Assign)) else None
    if not values or not isinstance(call, ast.Call) or dotted(call.func) != entry:
        return None
    call.args = [values.get(dotted(node) or "", node) for node in call.args]
    for keyword in call.keywords:
        keyword.value = values.get(dotted(keyword.value) or "", keyword.value)
    return ast.unparse(call)


def _places(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        if position == 0 or not (text[position - 1].isalnum() or text[position - 1] in "_."):
            yield position
        position = text.find(word, position + 1)


def _closed(text: str, position: int) -> int | None:
    """The end of a call that begins at a position."""
    for end in itertools.islice((match.end() for match in re.finditer(r"\)", text[position:])), 20):
        if parse_expression(text[position : position + end]) is not None:
            return position + end
    return None


_LINE = re.compile(
    r"(?:the\s+)?(?:next\s+)?(?:line\s*)?(?:number|no\.?|nr\.?|#|L)?\s*[`'*]*(?P<t>\d{1,9})[`'*]*"
    r"(?:\s*[:|(].*|\s*[,\u2013\u2014-]\s*[^\d]*)?",
    re.IGNORECASE | re.DOTALL,
)
_ENDS = re.compile(r"(?:(?:it|the (?:function|frame|call))\s+)?(?P<t>return|raise)s?\b[^\d]*", re.IGNORECASE)


def _line(text: str, expected: Expected) -> str | None:
    match = _LINE.fullmatch(text) or _ENDS.fullmatch(text)
    return match["t"].lower() if match and not re.search(r"\bor\b", text) else None


_NUMBERED = re.compile(r"(?P<n>\d+)[.)]\s+(?P<t>\S.*)")
_BULLET = re.compile(r"[-*•]\s+(?P<t>\S.*)")
_WITH_CODE = re.compile(r"\W*(?:line|L)?\s*(?P<t>\d{1,9})\s*[:|]\s*\S.*", re.IGNORECASE)


def _listed(text: str) -> list[str] | None:
    """The items of a list that is written in lines, or with arrows between them."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        numbered = [_NUMBERED.fullmatch(line) for line in lines]
        if [match and int(match["n"]) for match in numbered] == [*range(1, len(lines) + 1)]:
            return [match["t"] for match in numbered if match]
        bullets = [_BULLET.fullmatch(line) for line in lines]
        return [match["t"] for match in bullets if match] if all(bullets) else None
    parts = re.split(r"\s*(?:->|=>|→|⇒|,?\s+then\b)\s*", text)
    return parts if len(parts) > 1 else None


def _bracketed(text: str, expected: Expected) -> str | None:
    """The items of a list or a dictionary without its brackets; Python would read a tuple, or nothing."""
    if expected.kind is dict:
        return f"{{{text}}}" if not text.startswith("{") and is_exact(f"{{{text}}}") and ":" in text else None
    lines = text.splitlines() if expected.question == "history" else []
    if len(lines) > 1 and all(read_value(line)[0] and not _BULLET.fullmatch(line) for line in lines):
        return f"[{', '.join(lines)}]"
    bare = (
        expected.question == "history" and isinstance(read_value(text)[1], tuple) and not text.startswith("(")
    )
    return f"[{text}]" if bare else None


def _list(text: str, expected: Expected) -> str | None:
    items = _listed(text) if expected.kind is list else None
    return f"[{', '.join(items)}]" if items and all(read_value(item)[0] for item in items) else None


def _numbered(text: str, expected: Expected) -> str | None:
    items = _listed(text) if "\n" in text else None
    numbers = [_labelled(item, expected) for item in items or ()]
    return _list_of(numbers) if items else None


def _list_of(numbers: Sequence[str | None]) -> str | None:
    return f"[{', '.join(number for number in numbers if number)}]" if all(numbers) else None


_AND_ENDS = re.compile(r"\s*(?:->|=>|→|⇒)\s*(?:it\s+)?(?:returns?|raises?)\b[^\n]*\Z", re.IGNORECASE)


def _path(text: str, expected: Expected) -> str | None:
    text = _AND_ENDS.sub("", text)
    if lines_in(text) is not None:
        return text
    lines = [line for line in text.splitlines() if line.strip()]
    with_code = [_WITH_CODE.fullmatch(line) for line in lines]
    if len(lines) > 1 and all(with_code):
        return _list_of([match["t"] for match in with_code if match])
    items = _listed(text) or re.split(r"[,\s]+", text.partition(":")[2] or text)
    if only := re.match(r"only line (\d{1,9}) (?:runs|is executed|executes)\b", text, re.IGNORECASE):
        return f"[{only[1]}]"
    numbers = [
        re.fullmatch(r"(?:lines?\s*|L|#)?0*(\d{1,9})", item.strip("`*[]. '\""), re.IGNORECASE)
        for item in items
    ]
    return _list_of([match and match[1] for match in numbers])


_CHANGE = re.compile(
    r"(?:.*\b(?:changes|changed) (?:is|are)\s+)?\W*?(?P<name>[^\W\d][\w.]*)[`'\"*]*\s*"
    r"(?:,?\s*(?:which\s+)?(?:is now|becomes|changes (?:from .+? )?to)|->|→|:|=)\s*(?P<value>.+?)[.,;]?",
    re.IGNORECASE,
)


def _changes(text: str, expected: Expected) -> str | None:
    if expected.question != "changes":
        return None
    matches = [_CHANGE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    pairs = [(match["name"], match["value"].strip("`")) for match in matches if match]
    if not pairs or len(pairs) < len(matches) or not all(read_value(value)[0] for _, value in pairs):
        return None
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in pairs) + "}"


_RAISED = re.compile(
    r"\b(?:[^\W\d]\w*\.)*(?P<name>[^\W\d]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning))\b"
)
_AT = re.compile(r"\bline[\s:]*(?:number\s*)?(?P<line>\d{1,9})\b|\A\W*L?(?P<first>\d{1,9})\b", re.IGNORECASE)
_IN_FILE = re.compile(r'^\s*File "[^"]*", line (\d+)', re.MULTILINE)


def _exception(text: str, expected: Expected) -> str | None:
    """A class, a line and a message in another order; a whole traceback."""
    frames = _IN_FILE.findall(text)
    if frames:
        last = text.rstrip().splitlines()[-1].strip().strip("`")
        name, _, message = last.partition(":")
        return f"{frames[-1]}: {name.strip()}: {message.strip()}"
    text = re.sub(r"[*`]|^[-•]\s*", "", text, flags=re.MULTILINE)
    text = ", ".join(text.splitlines()) if text.count("\n") < 4 else text
    names = {match["name"] for match in _RAISED.finditer(text)}
    places = {match["line"] or match["first"] for match in _AT.finditer(text)}
    if len(names) != 1 or len(places) != 1 or "\n" in text or re.search(r"\bor (?:line )?\d", text):
        return None
    after = text[next(_RAISED.finditer(text)).end() :]
    message_match = re.match(r"\s*:\s*(?P<t>.*)|\((?P<q>['\"])(?P<r>.*)(?P=q)\)", after)
    message = (message_match["t"] or message_match["r"] or "") if message_match else ""
    message = re.sub(r"[\s,(\[]*(?:at|on|in|from)?\s*line\s*\d+[)\]]?\.?$", "", message, flags=re.IGNORECASE)
    return f"{places.pop()}: {names.pop()}: {message}"


def _no_exception(text: str, expected: Expected) -> str | None:
    none = re.fullmatch(
        r"(?:no|without an?) (?:exception|error)s?(?: (?:is|are) raised)?", text, re.IGNORECASE
    )
    return "None" if none else None


def _prompted(text: str, expected: Expected) -> str | None:
    """The output in an interpreter session: the line after ``>>> f(5)``."""
    printed = [line for line in text.splitlines() if not line.startswith((">>>", "..."))]
    return "\n".join(printed) if text.startswith(">>>") and printed else None


def _tuple(text: str, expected: Expected) -> str | None:
    """``(4,)`` and ``(4, 5)``, as a program would keep the arguments."""
    if not isinstance(parse_expression(text), ast.Tuple) or not text.startswith("("):
        return None
    match = re.fullmatch(r"\((?P<t>.+),\s*\)", text, re.DOTALL)
    return f"{expected.entry}({match['t'] if match else text[1:-1]})"


def _as_arguments(text: str, expected: Expected) -> str | None:
    """What stands between the parentheses of a call, or of a tuple."""
    node = parse_expression(text) if expected.question == "input" else None
    if isinstance(node, ast.Call) and text.endswith(")"):
        return text.partition("(")[2][:-1]
    return text[1:-1] if isinstance(node, ast.Tuple) and text.startswith("(") else None


def _names(text: str, expected: Expected) -> str | None:
    """Names without quotation marks, in a set or as keys."""
    if expected.question not in ("alias", "changes"):
        return None
    text = _ADVERBS.sub("", text)
    match parse_expression(text if text.startswith("{") else f"{{{text}}}"):
        case ast.Set(elts=names):
            items = [repr(dotted(name)) for name in names if dotted(name)]
        case ast.Dict(keys=names, values=values):
            items = [
                f"{dotted(name)!r}: {ast.unparse(value)}"
                for name, value in zip(names, values, strict=True)
                if name is not None and dotted(name)
            ]
        case _:
            return None
    return f"{{{', '.join(items)}}}" if items and len(items) == len(names) else None


def _with_message(text: str, expected: Expected) -> str | None:
    """The class of ``KeyError: 'a'``, also behind a yes."""
    match = re.fullmatch(
        r"(?:yes\W+)?(?P<t>[^\W\d]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning))"
        r"(?:: [^\n]*|\.)?",
        text,
        re.IGNORECASE,
    )
    if text.lower().rstrip(".") in ("none", "no"):
        return "None"
    return match["t"] if match else None


_OF_FORM: dict[str, tuple[Callable[[str, Expected], str | None], ...]] = {
    "value": (_counted, _constant, _list),
    "line": (_line,),
    "path": (_path,),
}
"""Forms whose answer may be the end of a sentence."""
_VALUES = ("value", "one_of")
_DATA = (*_VALUES, "arguments")
_TEXTS = (*sorted(FREE),)
RULES = (
    Rule("thousands", ("10,000", "10000"), _thousands, _VALUES, at_once=True),
    Rule("whole number", ("10.", "10"), _whole_number, _VALUES, at_once=True),
    Rule("brackets", ("0, 4", "[0, 4]"), _bracketed, _VALUES, at_once=True),
    Rule("tuple of arguments", ("(4,)", "f(4)"), _tuple, ("arguments",), at_once=True),
    Rule("text in a fence", ("It prints:\n```\n10\n```", "10"), _text_in_fence, _TEXTS, at_once=True),
    Rule("text in marks", ("**10**", "10"), _around, ("text", "own"), at_once=True),
    Rule("text in backticks", ("`10`", "10"), _quoted, _TEXTS, at_once=True),
    Rule("label of a result", ("Out[3]: 10", "10"), _unlabelled, ("cell_output",), at_once=True),
    Rule("arguments in parentheses", ("f(4, 'a')", "4, 'a'"), _as_arguments, ("text",), at_once=True),
    Rule("numbered list", ("1. 2\n2. 3\n3. 4", "[2, 3, 4]"), _numbered, ("path",), at_once=True),
    Rule("JSON", ('{"answer": 10}', "10"), _json, at_once=True),
    Rule("assertion", ("f(5) == 10", "10"), _asserted, (*_VALUES, "arguments"), respells=True),
    Rule("other spelling", ("set([10])", "{10}"), _respelled, _VALUES, respells=True),
    Rule("arguments alone", ("4, 'a'", "f(4, 'a')"), _in_parentheses, ("arguments",), respells=True),
    Rule("line and its text", ("4: t += i", "4"), _labelled, ("line", "one_of"), respells=True),
    Rule("lines alone", ("2, 3", "[2, 3]"), _separated, ("path",), respells=True),
    Rule("class", ("<class 'int'>", "int"), _of_module, _NAMES, respells=True),
    Rule(
        "place and class",
        ("line 7: ValueError: no", "7: ValueError: no"),
        _placed,
        ("exception",),
        respells=True,
    ),
    Rule("state", ("It is:\n```\nf 7: n=2\n```", "```\nf 7: n=2\n```"), _state, ("step",), respells=True),
    Rule("call", ("With n = 4, i.e. f(4), it is 10.", "f(4)"), _only_call, ("arguments",)),
    Rule("interpreter", (">>> f(5)\n10", "10"), _prompted, _VALUES),
    Rule("assignment", ("t = [0,\n     1]", "[0, 1]"), _assigned, (*_VALUES, "object")),
    Rule("code fence", ("It is:\n```python\n10\n```", "10"), _fenced),
    Rule("bold", ("It runs to the end: **10**, as said", "10"), _emphasised),
    Rule("yes or no", ("Yes, the line runs once.", "True"), _yes_or_no, _VALUES),
    Rule("emphasis, LaTeX", ("**\\boxed{10}**", "10"), _unwrapped),
    Rule("LaTeX", ("$\\text{10}$", "10"), _latex),
    Rule("constant", ("true", "True"), _constant, _VALUES),
    Rule("unit", ("5 times", "5"), _counted, _VALUES),
    Rule("list", ("0 -> 1 -> 2", "[0, 1, 2]"), _list, _VALUES),
    Rule("changes", ("xs is now [0, 1]", "{'xs': [0, 1]}"), _changes, _VALUES),
    Rule("line", ("line number 4", "4"), _line, ("line", "one_of")),
    Rule("path", ("L2 -> L3 -> L4", "[2, 3, 4]"), _path, ("path",)),
    Rule("names", ("{xs, ys}", "{'xs', 'ys'}"), _names, _VALUES),
    Rule("class and message", ("KeyError: 'a'", "KeyError"), _with_message, ("crash",), at_once=True),
    Rule("no exception", ("no exception is raised", "None"), _no_exception, ("crash",)),
    Rule("explanation", ("10, because all are added", "10"), _explained, (*_DATA, "line", "path", *_NAMES)),
    Rule("arrow", ("it is executed, so → 10", "10"), _points_to, (*_VALUES, "line")),
    Rule(
        "conclusion",
        ("t = 0\nt = 1\nTherefore f(5) = 1", "1"),
        _conclusion,
        (*_DATA, "object", "line", "path", "exception", *_NAMES),
    ),
    Rule("exception", ("ValueError: no (line 7)", "7: ValueError: no"), _exception, ("exception",)),
    Rule("comment", ("print(f(5))  # 10", "10"), _commented, _VALUES),
    Rule("box", ("So it is $\\boxed{10}$.", "10"), _boxed),
    Rule("heading", ("The answer is:\n10", "10"), _headless),
    Rule(
        "sentence",
        ("The function returns 10", "10"),
        _said,
        (*_DATA, "object", "line", "path", "exception", *_NAMES),
    ),
    Rule("full stop", ("True.", "True"), _punctuated),
    Rule("whether it runs", ("Line 4 is never reached.", "False"), _runs_or_not, _VALUES),
    Rule("not but", ("It is not 5 but 10", "10"), _not_but, (*_VALUES, "line", *_NAMES)),
    Rule(
        "only sentence",
        ("All numbers are added. With that, t is 10.", "10"),
        _only_statement,
        (*_DATA, "line", "path", "exception", *_NAMES),
    ),
    Rule("only count", ("The body runs twice.", "2"), _only_count, _VALUES),
    Rule("only line number", ("It stops just before line 4.", "4"), _only_number_of_line, ("line",)),
    Rule("only value", ("After it the list holds 10 (n is 5)", "10"), _only_value, _VALUES),
    Rule("only code", ("With n = 5 the list holds `10` there", "10"), _only_code, (*_VALUES, *_NAMES)),
)
"""Tried in this order, again and again, until a text is in the form that was asked for."""


def rules_for(form: str) -> Iterator[Rule]:
    """Those that apply to a form of answers."""
    return (rule for rule in RULES if form in rule.forms or (not rule.forms and form not in FREE))
