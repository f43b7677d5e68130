"""Answers to questions from the text of their prompts alone.

    python -m tests.witness.alone questions.jsonl ...      # as `deskcheck offline questions` writes them

reads program, call and question out of each prompt, runs the program by itself (`counted`: rewritten, without a
tracer), works out the answer by the rules that the prompt states, and prints how many stored answers are the same.
Nothing of it comes from the package: no recording, no line table, no reader of values, no scoring.

Nothing is said (`NotTold`) of: prompts with several files, with objects among the arguments (`tests/ask/prompt_alone.py`
makes those of `returned` and `made`), single steps, programs that are written, notebooks.
"""

import ast
import builtins
import contextlib
import inspect
import io
import json
import multiprocessing
import re
import resource
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.witness.counted import UNKNOWN, Counted, Moment, Names, Refused, counted

SECONDS = 30
KINDS = {
    "What does this call return?": "output",
    "What does this program print?": "stdout",
    "Which arguments make the function return this value?": "input",
    "Which line runs next?": "next_line",
    "What is the value of this variable?": "state",
    "Which values does this variable hold?": "history",
    "Which lines run, in order?": "path",
    "Which exception leaves this program, and where is it raised?": "exception",
    "Which way does this condition go?": "branch",
    "How many times does the body of this loop run?": "iterations",
    "What is the value of this variable after the loop?": "after_loop",
    "Which line runs after this one?": "visit",
    "Where does the debugger go?": "move",
    "Does this line run?": "coverage",
    "Which functions call which, and how often?": "calls",
    "What does this call change?": "changes",
    "Which variables are the same object?": "alias",
    "Of which class is the value of this variable?": "type",
}
NUMBERED = re.compile(r" *(\d*) \|(?: (.*))?", re.DOTALL)
LABEL = re.compile(r"\n(?=[A-Z][A-Za-z ,]*?:(?: |\n|$))")
NO_MESSAGE = "Message: not asked for. Answer LINE: CLASS."


class NotTold(Exception):
    """Nothing is said of this question, and why."""


@dataclass(slots=True)
class Asked:
    """A prompt, read. lines: of the labels of the question, to what stands behind them."""

    kind: str
    code: str
    labels: dict[str, str]
    cut: bool = False
    """Whether a part of the program is left out."""
    notes: list[str] = field(default_factory=list)

    @property
    def call(self) -> str | None:
        said = self.labels.get("How it is run", self.labels.get("Call", ""))
        if said in ("as a script", ""):
            return None
        if said.startswith("as typed at the interactive prompt"):
            raise NotTold("a session")
        if re.search(r"#\d+|<", said):
            raise NotTold("objects among the arguments")
        return said

    @property
    def globals(self) -> dict[str, Any]:
        """Variables that the prompt adds."""
        found: dict[str, Any] = {"__builtins__": Names(vars(builtins))} if self.cut else {}
        for line in self.labels.get("Globals when the call is made", "").split("\n"):
            name, _, value = line.strip().partition(" = ")
            if name:
                found[name] = eval(value, {"nan": float("nan"), "inf": float("inf")})
        return found


def read(prompt: str) -> Asked:
    """Raises NotTold."""
    title = prompt.partition("\n")[0]
    if title not in KINDS:
        raise NotTold(f"another kind: {title[:60]}")
    own = prompt.partition("\n\nNow yours.\n\n")[2]
    head, _, rest = own.partition("\n")
    assert re.fullmatch(r"(?:Program|File .+?)(?: \(what does not matter here is left out\))?:", head), head
    fence, _, rest = rest.partition("python\n")
    assert set(fence) == {"`"}, own[:200]
    code, ended, question = rest.partition(f"\n{fence}\n\n")
    assert ended, own[:200]
    if question.startswith("File "):
        raise NotTold("several files")
    kind = KINDS[title]
    if kind not in ("output", "stdout", "input", "calls", "changes"):
        code = without_numbers(code)
    elif "left out" in head:
        code = re.sub(r"^\.\.\.$", "", code, flags=re.MULTILINE)
    labels: dict[str, str] = {}
    notes = []
    for part in LABEL.split(question):
        label, _, said = part.partition(":")
        labels.setdefault(label, said.removeprefix(" "))
        notes.append(part)
    return Asked(kind, code + "\n", labels, "left out" in head, notes)


def without_numbers(text: str) -> str:
    """The program of a listing with line numbers. What is left out becomes empty lines."""
    lines: dict[int, str] = {}
    for line in text.split("\n"):
        match = NUMBERED.fullmatch(line)
        assert match is not None, line
        if match[1]:
            lines[int(match[1])] = match[2] or ""
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


# -- answers ----------------------------------------------------------------------------------------------------


class Run:
    """A program of prompts, and what its runs said: kept, as many prompts ask of one run."""

    def __init__(self) -> None:
        self.key: Any = None
        self.counted: Counted | Refused | None = None
        self.error: Any = None

    def of(self, asked: Asked) -> Counted:
        key = asked.code, asked.call, repr(asked.globals)
        if key != self.key:
            self.key = key
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    self.counted, self.error = counted(asked.code, asked.call, **asked.globals)
                except Refused as reason:
                    self.counted = reason
        if isinstance(self.counted, Refused):
            raise NotTold(f"not rewritten: {self.counted}")
        assert self.counted is not None
        return self.counted


def answer(asked: Asked, run: Run) -> Any:
    """The answer in the form that the prompt asks for. Raises NotTold."""
    return globals()[f"_{asked.kind}"](asked, run)


def _space(asked: Asked) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__"} | asked.globals
    exec(compile(asked.code, "program.py", "exec", dont_inherit=True), space)
    space.update(asked.globals)
    return space


def _output(asked: Asked, run: Run) -> str:
    call = asked.call
    assert call is not None
    return repr(eval(call, _space(asked)))


def _stdout(asked: Asked, run: Run) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        _space(asked)
    return printed.getvalue()


def _input(asked: Asked, run: Run) -> str:
    return asked.labels["Returned"]


def _where(asked: Asked, label: str, pattern: str) -> re.Match[str]:
    match = re.fullmatch(pattern, asked.labels[label].partition("\n")[0])
    assert match is not None, asked.labels
    return match


_AT = r"line (?P<line>\d+)(?: of (?P<function>\S+?)|, at the top level)?"


def _moment(asked: Asked, run: Run) -> tuple[str, Moment]:
    match = _where(
        asked, "Variable", r"(?P<name>\S+), just before line (?P<line>\d+) runs for time number (?P<k>\d+)"
    )
    place = int(match["line"]), int(match["k"])
    moments = [one for one in run.of(asked).moments if (one.line, one.k) == place]
    if not moments:
        return match["name"], Moment(0, "", *place, {})
    return match["name"], moments[0]


def _known(value: Any) -> Any:
    if value is UNKNOWN:
        raise NotTold("no plain data")
    return value


def _state(asked: Asked, run: Run) -> Any:
    name, moment = _moment(asked, run)
    return _known(moment.values.get(name, "it has none"))


def _type(asked: Asked, run: Run) -> Any:
    name, moment = _moment(asked, run)
    return run.of(asked).types.get((moment.line, moment.k), {}).get(name, "it has none")


def _alias(asked: Asked, run: Run) -> Any:
    name, moment = _moment(asked, run)
    same = run.of(asked).same.get((moment.line, moment.k), {}).get(name)
    if same is None:
        return "it has none"
    return "{" + ", ".join(map(repr, sorted(same))) + "}" if same else "set()"


def _history(asked: Asked, run: Run) -> Any:
    match = _where(asked, "Variable", r"(?P<name>\S+), in call number (?P<k>\d+) of (?P<function>\S+)")
    found = run.of(asked)
    frames = found.begun[match["function"]]
    if len(frames) < int(match["k"]):
        return "no such call"
    frame = frames[int(match["k"]) - 1]
    states = [one.values for one in found.moments if one.frame == frame]
    states += [found.left[frame][1]] if frame in found.left else []
    values = [values[match["name"]] for values in states if match["name"] in values]
    return "[" + ", ".join(str(_known(text)) for text, _ in groupby(values)) + "]"


def _branch(asked: Asked, run: Run) -> Any:
    match = _where(
        asked, "Condition", rf"that of the (?:if|while) in {_AT}, tested for time number (?P<k>\d+)"
    )
    return str(run.of(asked).branches.get((int(match["line"]), int(match["k"]))))


def _loop(asked: Asked) -> tuple[int, int]:
    match = _where(asked, "Loop", rf"that in {_AT}, when it is entered for time number (?P<k>\d+)")
    return int(match["line"]), int(match["k"])


def _iterations(asked: Asked, run: Run) -> Any:
    found, place = run.of(asked), _loop(asked)
    return str(found.passes[place]) if place[1] <= found.entered[place[0]] else "never entered"


def _after_loop(asked: Asked, run: Run) -> Any:
    name = _where(asked, "Variable", r"(?P<name>\S+), when the loop has ended")["name"]
    return run.of(asked).after.get(_loop(asked), {}).get(name, "it has none")


def _visit(asked: Asked, run: Run) -> Any:
    match = _where(asked, "Line", rf"{_AT}, when it runs for time number (?P<k>\d+)")
    return str(run.of(asked).then.get((int(match["line"]), int(match["k"]))))


def _coverage(asked: Asked, run: Run) -> Any:
    return str(run.of(asked).runs[int(asked.labels["Line"])] > 0)


def _calls(asked: Asked, run: Run) -> Any:
    return str({pair: n for pair, n in sorted(run.of(asked).calls.items()) if pair[0] != "<caller>"})


def _next_line(asked: Asked, run: Run) -> Any:
    """Of all moments that look as the prompt shows; several answers are no answer."""
    match = _where(asked, "About to run", _AT)
    found = run.of(asked)
    shown = _shown(asked)
    function = match["function"] or "<module>"
    answers = set()
    for one in found.moments:
        plain = {name for name, value in one.values.items() if value is not UNKNOWN and name[:2] != "__"}
        if (one.line, one.function) != (int(match["line"]), function):
            continue
        if function != "<module>" and not plain <= shown.keys():
            continue
        if all(_looks(one.values.get(name, UNKNOWN), text) for name, text in shown.items()):
            answers.add(str(found.then.get((one.line, one.k))))
    if None in shown.values() or "Live iterators, outermost first" in asked.labels or len(answers) == 1:
        return answers
    return f"no one answer: {answers}"


def _looks(value: Any, text: str | None) -> bool:
    """Whether a variable may be the one that a prompt shows. One that is not told of may be."""
    return value is UNKNOWN or text is None or value == text or _same_value(value, text)


def _shown(asked: Asked) -> dict[str, str | None]:
    """Variables that a prompt shows; the text of those that are literals."""
    found: dict[str, str | None] = {}
    for line in asked.labels.get("Values", "").split("\n"):
        name, _, value = line.strip().partition(" = ")
        if name and value:
            found[name] = None
            with contextlib.suppress(ValueError, SyntaxError):
                ast.literal_eval(value)
                found[name] = value
    return found


def _path(asked: Asked, run: Run) -> Any:
    lines = [line for line, _ in groupby(_without_returns(run.of(asked).moments))]
    most = asked.labels.get("How many", "")
    return str(lines[: int(most.removeprefix("the first "))] if most else lines)


def _without_returns(moments: list[Moment]) -> Iterator[int]:
    """The line of each moment, but where a frame is at that line already."""
    at: dict[int, int] = {}
    for one in moments:
        if at.get(one.frame) != one.line:
            yield one.line
        at[one.frame] = one.line


def _first_lines(code: str) -> dict[int, int]:
    """Line -> first line of the statement whose own text, without those inside of it, it belongs to."""
    found: dict[int, int] = {}
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, (ast.stmt, ast.ExceptHandler))]
    for node in sorted(nodes, key=lambda node: (node.lineno, -(node.end_lineno or 0))):
        inside = [part for part in ast.walk(node) if isinstance(part, ast.stmt) and part is not node]
        begins = [
            min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", []))]) for one in inside
        ]
        last = min(begins, default=(node.end_lineno or node.lineno) + 1)
        for line in range(node.lineno, max(last, node.lineno + 1)):
            found[line] = node.lineno
    return found


def _exception(asked: Asked, run: Run) -> Any:
    first = _first_lines(asked.code)
    space: dict[str, Any] = {"__name__": "__main__"} | asked.globals
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(asked.code, "program.py", "exec", dont_inherit=True), space)
            if asked.call is not None:
                eval(asked.call, space)
    except BaseException as error:  # noqa: BLE001 (the program's, whatever it is)
        frames = traceback.extract_tb(error.__traceback__)
        line = [frame.lineno or 0 for frame in frames if frame.filename == "program.py"][-1]
        shown = traceback.format_exception_only(error)[-1 - len(getattr(error, "__notes__", ()))]
        _, _, message = shown.partition(": ")
        name = type(error).__qualname__.rpartition(".")[2]
        told = f"{first.get(line, line)}: {name}"
        message = " ".join(message.strip().partition("\n")[0].split())
        return told if NO_MESSAGE in asked.notes or not message else f"{told}: {message}"
    return "no exception"


def _move(asked: Asked, run: Run) -> Any:
    match = _where(asked, "Stopped", rf"just before {_AT} runs for time number (?P<k>\d+)")
    found = run.of(asked)
    place = int(match["line"]), int(match["k"])
    at = next((n for n, one in enumerate(found.moments) if (one.line, one.k) == place), None)
    if at is None:
        return "never"
    here, later = found.moments[at], found.moments[at + 1 :]
    match asked.labels["Command"].partition(":")[0]:
        case "step":
            return str(later[0].line) if later else "the end"
        case "until":
            further = [one.line for one in later if one.frame == here.frame and one.line > here.line]
            return str(further[0]) if further else found.left.get(here.frame, ("return",))[0]
        case _:
            return _known(found.values.get(here.frame, "None"))


def _changes(asked: Asked, run: Run) -> Any:
    call = asked.call
    assert call is not None
    space = _space(asked)
    tree: Any = ast.parse(call, mode="eval").body
    function = eval(ast.unparse(tree.func), space)
    args = [eval(ast.unparse(one), space) for one in tree.args]
    named = {one.arg: eval(ast.unparse(one.value), space) for one in tree.keywords}
    bound = inspect.signature(function).bind(*args, **named)
    before = {name: repr(value) for name, value in bound.arguments.items()}
    function(*args, **named)
    after = {
        name: repr(value)
        for name, value in bound.arguments.items()
        if isinstance(value, (list, dict, set, bytearray))
    }
    changed = {name: text for name, text in sorted(after.items()) if text != before[name]}
    return "{" + ", ".join(f"{name!r}: {text}" for name, text in changed.items()) + "}"


# -- comparison -------------------------------------------------------------------------------------------------


def same(asked: Asked, told: Any, stored: str) -> bool:
    if asked.kind == "input":
        return _same_value(repr(eval(stored, _space(asked))), told)
    if isinstance(told, set):
        return stored in told
    if asked.kind == "stdout":
        return [line.rstrip() for line in told.rstrip().split("\n")] == [
            line.rstrip() for line in stored.rstrip().split("\n")
        ]
    if asked.kind == "exception":
        return re.sub("0x[0-9a-f]+", "0x0", str(told))[:150] == re.sub("0x[0-9a-f]+", "0x0", stored)[:150]
    return told == stored or _same_value(told, stored)


def _same_value(one: Any, other: str) -> bool:
    """Whether two texts are one value, sets and dictionaries in any order; of the same types."""

    def shape(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value).__name__, [shape(item) for item in value]
        if isinstance(value, (set, frozenset)):
            return type(value).__name__, sorted(map(repr, map(shape, value)))
        if isinstance(value, dict):
            return "dict", sorted((repr(shape(key)), repr(shape(item))) for key, item in value.items())
        return type(value).__name__, repr(value)

    names = {
        "nan": float("nan"),
        "inf": float("inf"),
        "__builtins__": {
            "set": set,
            "frozenset": frozenset,
            "range": range,
            "bytearray": bytearray,
            "Ellipsis": ...,
            "slice": slice,
        },
    }
    try:
        return bool(shape(eval(str(one), dict(names))) == shape(eval(other, dict(names))))
    except Exception:  # noqa: BLE001 (texts of programs)
        return False


@dataclass(slots=True)
class Said:
    """What is said of a question: ``same``, ``another: ...``, ``not told: ...``."""

    id: str
    kind: str
    came: str


def check(questions: Iterable[dict[str, Any]]) -> Iterator[Said]:
    """questions: with ``id``, ``prompt`` and ``answer``; those of one program should follow each other."""
    run = Run()
    for question in questions:
        kind = KINDS.get(question["prompt"].partition("\n")[0], "other")
        try:
            asked = read(question["prompt"])
            told = answer(asked, run)
            came = "same" if same(asked, told, question["answer"]) else f"another: {told}"
        except NotTold as reason:
            came = f"not told: {reason}"
        except BaseException as error:  # noqa: BLE001 (the program's, whatever it is)
            came = f"failed: {type(error).__name__}: {error}"
        yield Said(question["id"], kind, came)


def _child(questions: list[dict[str, Any]], pipe: Any) -> None:
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    sys.stdout = sys.stderr = io.StringIO()
    sys.argv = ["program.py"]
    for said in check(questions):
        pipe.send(said)
    pipe.close()


def check_apart(questions: list[dict[str, Any]]) -> Iterator[Said]:
    """`check` in a process of its own, as nobody knows what a program does to it."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(questions, theirs))
    process.start()
    theirs.close()
    told = 0
    with contextlib.suppress(EOFError):
        while True:
            yield mine.recv()
            told += 1
    process.join()
    for question in questions[told:]:
        kind = KINDS.get(question["prompt"].partition("\n")[0], "other")
        yield Said(question["id"], kind, "not told: takes long, or ends the process")


def main(paths: list[str]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    for path in paths:
        with Path(path).open() as lines:
            questions = [json.loads(line) for line in lines]
        questions.sort(key=lambda one: one["program"])
        for _, some in groupby(questions, lambda one: one["program"]):
            group = list(some)
            answers = {one["id"]: one["answer"] for one in group}
            for said in check_apart(group):
                what = said.came.partition(":")[0]
                counts[said.kind, what] += 1
                if what == "not told":
                    reasons[said.came[:80]] += 1
                elif what != "same":
                    print(f"{path} {said.id}: {answers[said.id][:300]!r}, {said.came[:300]}")
    for kind in sorted({kind for kind, _ in counts}):
        print(
            f"{kind:12} " + ", ".join(f"{n} {what}" for (of, what), n in sorted(counts.items()) if of == kind)
        )
    print(
        {
            what: sum(n for (_, of), n in counts.items() if of == what)
            for what in sorted({w for _, w in counts})
        }
    )
    print(dict(reasons.most_common(12)))


if __name__ == "__main__":
    main(sys.argv[1:])
