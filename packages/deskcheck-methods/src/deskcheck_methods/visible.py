"""The visible part of a question: everything the model sees, and nothing that decides the score.

Hidden parts are the reference answer, tests, cases, the driver and the code before the tests. Visible tests
are those in a task and the examples in doctests of its text. They may only call the entry point.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.ask.samples.prompts import YOURS
from deskcheck.sources.near import HeldOut
from deskcheck.sources.text.python import quiet_parse, short_numbers, unparsed

MOST_TESTS = 20
"""Limit for the visible tests of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """The visible part of a question, for a method.

    form: the form of the answer. prompt: everything the model sees. entry_point: the function that a program
    must define; None for scripts and other answers. code: the code to complete, repair or edit, or an empty
    text. setup: code that runs before the answer. tests: the visible tests that can run. left_out: number of
    those that cannot. modules: modules that the answer may import.
    """

    id: str
    question: str
    form: str
    prompt: str
    entry_point: str | None = None
    task: str = ""
    code: str = ""
    setup: str = ""
    tests: tuple[str, ...] = ()
    left_out: int = 0
    modules: tuple[str, ...] = ()


class AskedQuestions:
    """The questions of a run. None may help with another. questions: (id, cluster, prompt) of each."""

    def __init__(self, questions: Iterable[tuple[str, str, str]] = ()) -> None:
        listed = [*questions]
        self.ids = frozenset(id_ for id_, _, _ in listed)
        self.clusters = frozenset(cluster for _, cluster, _ in listed)
        texts = [own_text(prompt) for _, _, prompt in listed]
        lines = Counter(line for text in texts for line in {*text.splitlines()})
        self._common = {line for line, count in lines.items() if count > max(1, len(texts) / 2)}
        self._texts = texts
        self._held_out: HeldOut | None = None

    def near(self, prompt: str) -> bool:
        """Whether a question is nearly one of these, apart from the text that most of these share."""
        if self._held_out is None:
            self._held_out = HeldOut()
            for text in self._texts:
                self._held_out.add("the questions", self._without_common(text))
        return self._held_out.near(self._without_common(own_text(prompt))) is not None

    def _without_common(self, text: str) -> str:
        return "\n".join(line for line in text.splitlines() if line not in self._common)


def own_text(prompt: str) -> str:
    """The part of a prompt after the part that all questions of its kind share."""
    return prompt.rpartition(YOURS)[2].strip()


def puzzle_of(id_: str, question: str, data: Mapping[str, Any], prompt: str) -> Puzzle:
    """The visible part of a sample. data: the sample's data, whose hidden parts are not read."""
    entry = data.get("entry_point")
    if entry is None:
        return Puzzle(id=id_, question=question, form=data["form"], prompt=prompt)
    setup, visible = data["setup"], [*data.get("visible_tests", ())]
    known_tests = set(map(unparsed, visible))
    visible += [test for test in examples_in(prompt, entry) if test not in known_tests]
    tests = [test for test in visible if _stands_alone(test, entry, setup)]
    return Puzzle(
        id=id_,
        question=question,
        form=data["form"],
        prompt=prompt,
        entry_point=entry,
        task=data["task"],
        code=data.get("code", ""),
        setup=setup,
        tests=tuple(tests[:MOST_TESTS]),
        left_out=len(visible) - len(tests[:MOST_TESTS]),
        modules=tuple(data["modules"]),
    )


_EXAMPLE = re.compile(
    r"^(?P<indent>[ \t]*)>>> (?P<source>[^\n]*(?:\n(?P=indent)\.\.\. [^\n]*)*)\n"
    r"(?P=indent)(?P<want>(?!>>>|\.\.\.|\"\"\"|'''|```)[^\s][^\n]*)$",
    re.MULTILINE,
)
"""A doctest's example with a result in one line. (Python's parser of doctests refuses a whole text if one
line has an unexpected indent, such as the end of a docstring.)"""


_GIVES = re.compile(r"\s*(?:#\s*)?(?:==>|==|=>|➞|→|->|=|(?:should |must |will )?returns?)\s*")
_MOST_CHARS = 300
"""Limit for the text of a value in an example."""


def examples_in(text: str, entry: str) -> list[str]:
    """Examples in a text as asserts, without duplicates.

    They are calls of the function with literals, in doctests or followed by ``==``, an arrow or ``returns``,
    that show a literal as the result.
    """
    return [*dict.fromkeys([*_doctests(text, entry), *_said(text, entry)])]


def _doctests(text: str, entry: str) -> Iterator[str]:
    for example in _EXAMPLE.finditer(text):
        source = re.sub(r"\n[ \t]*\.\.\. ", "\n", example["source"]).strip()
        want = example["want"].strip()
        try:
            (statement,) = quiet_parse(source).body
            value = ast.literal_eval(want)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(statement, ast.Expr) and calls_in(source, entry) and not _prints(statement.value):
            yield f"assert {ast.unparse(statement.value)} == {value!r}"


def _said(text: str, entry: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.lstrip().startswith(("def ", "assert ", ">>>")):
            continue
        for begin in re.finditer(rf"(?<![\w.]){re.escape(entry)}\(", line):
            call = _shortest_call(line[begin.start() : begin.start() + _MOST_CHARS])
            if call is None:
                continue
            after_call = line[begin.start() + len(call) :]
            gives = _GIVES.match(after_call)
            value = _longest_literal(after_call[gives.end() :][:_MOST_CHARS]) if gives else None
            if value is not None and calls_in(call, entry):
                yield f"assert {ast.unparse(quiet_parse(call))} == {value}"


def _shortest_call(text: str) -> str | None:
    """The shortest beginning of a text that is a complete call."""
    for end in (parenthesis.end() for parenthesis in re.finditer(r"\)", text)):
        try:
            quiet_parse(text[:end])
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        return text[:end]
    return None


def _longest_literal(text: str) -> str | None:
    """The longest beginning of a text that is a literal, written like by `repr`."""
    for end in range(len(text), 0, -1):
        if text[end - 1].isspace() or text[end - 1] == ",":
            continue
        try:
            value = ast.literal_eval(text[:end].strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            continue
        # "1 + 9 = 10", and a string that goes on, write down more than that.
        if not isinstance(value, tuple) or text.strip().startswith("("):  # a comma goes on with the sentence
            return repr(value) if _ENDS.match(text, end) else None
    return None


_ENDS = re.compile(r"\s*$|\s+[^\s+*/%=<>&|-]|\s*[.,;:#)]")
"""What may follow a value in an example."""


def _prints(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def asserts_in(code: str, entry: str, setup: str) -> tuple[str, ...]:
    """The asserts at the top level of a text that a model wrote, as tests.

    They may only call the entry point and some builtins, and compare. They run in the process that decides
    whether the program passes, so a model's code must not be able to end it or to write its result.
    """
    try:
        body = quiet_parse(code).body
        asserts = [node for node in body if isinstance(node, ast.Assert) and _only_compares(node, entry)]
        texts = dict.fromkeys(map(ast.unparse, asserts))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()
    return tuple(text for text in texts if _stands_alone(text, entry, setup))[:MOST_TESTS]


_BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "round"}
    | {"set", "sorted", "str", "sum", "tuple", "type"}
)
_NODES = (
    *(ast.Assert, ast.BoolOp, ast.boolop, ast.Call, ast.Compare, ast.cmpop, ast.Constant, ast.Dict),
    *(ast.expr_context, ast.keyword, ast.List, ast.Name, ast.Set, ast.Subscript, ast.Slice, ast.Tuple),
    *(ast.UnaryOp, ast.unaryop, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div),
)


def _only_compares(test: ast.Assert, entry: str) -> bool:
    return all(
        isinstance(node, _NODES)
        and (not isinstance(node, ast.Name) or node.id == entry or node.id in _BUILTINS)
        for node in ast.walk(test)
    )


def _stands_alone(test: str, entry: str, setup: str) -> bool:
    """Whether a test calls the entry point, and uses no names of the answer or of a hidden text."""
    try:
        tree, before = quiet_parse(short_numbers(test)), quiet_parse(short_numbers(setup))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    bound = {entry, *vars(builtins), *_bound(tree), *_bound(before)}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return entry in used and used <= bound


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg


def calls_in(text: str, entry: str) -> list[str]:
    """Argument lists of the calls of a function in a text, if they are literals."""
    try:
        tree = quiet_parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return [
        ast.unparse(node)[len(entry) :]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry
        if all(map(_literal, [*node.args, *(keyword.value for keyword in node.keywords)]))
    ]


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


def literal_arguments(lists: Iterable[str]) -> list[str]:
    """The argument lists that are literals, without duplicates."""
    return [*dict.fromkeys(text for text in lists if calls_in(f"f{text}", "f"))]
