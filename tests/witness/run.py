"""Runs a program under the witness and under the tracers, and says where they disagree."""

import ast
import json
import re
import sys
from dataclasses import dataclass, replace
from types import TracebackType

from deskcheck.recording import Mode, Program, Row
from deskcheck.tracer.limits import Granularity
from tests.tracer import agree
from tests.tracer.layouts import shows_tracer
from tests.witness.compare import Different, Seen, check, check_levels, seen

SKIPPED = {
    "class_metaclass": "its namespace counts how it is read; f_locals reads it on 3.12",
    "settrace_bdb": "the program debugs itself",
    "coroutine_async_generators": "f_locals keeps up to 3.12 the generator `h` of a function that is left: asyncio"
    " closes it at its end (GeneratorExit), and not by a task that it cancels then (CancelledError)",
}
"""Programs that the witness is not asked about, and why."""

NOTICED = {
    "__del__": "f_locals keeps up to 3.12 what a variable held until it is read again: objects die later",
    "finalize": "as __del__",
    "WeakValueDictionary": "as __del__",
    "WeakSet": "as __del__",
    "ref": "as __del__: a weak reference",
    "locals": "f_locals, which the witness reads, refreshes up to 3.12 what locals() gave",
    "settrace": "the program sets a trace function",
    "setprofile": "the program sets a profiler",
    "set_trace": "the program is debugged",
    "_getframe": "the program looks at frames",
    "currentframe": "the program looks at frames",
    "tb_frame": "the program looks at frames",
    "gi_frame": "the program looks at frames",
    "monitoring": "the program has monitors",
    "getrefcount": "the witness holds references while it copies",
    "get_referrers": "the witness holds references while it copies",
    "get_objects": "the witness is among them",
    "addaudithook": "the witness reads the value stack with ctypes, which the program hears of",
    "setrecursionlimit": "how many frames fit below the limit is the tracer's doing",
    "Thread": "the witness follows the main thread alone",
    "fork": "the witness follows one process",
    "_exit": "what a tracer holds is lost then",
    "execv": "what a tracer holds is lost then",
    "kill": "what a tracer holds is lost then",
}
"""Names in a program by which it notices how it is watched, or is not watched, and why it is then left out."""


_ASKS_FOR_LOCALS = {"vars": 0, "dir": 0, "exec": 1, "eval": 1}
"""Functions that look at the locals of their caller, if they are given so few arguments."""


def skipped(program: Program) -> str | None:
    """Why the witness is not asked about a program; None if it is."""
    name = program.id.partition(" ")[0]  # after it, the layout
    if name in SKIPPED:
        return SKIPPED[name]
    if name in agree.UNSTEADY:
        return agree.UNSTEADY[name]
    try:
        tree = ast.parse(program.code)
    except (SyntaxError, ValueError):
        return "it is no program"
    for node in ast.walk(tree):
        used = next((getattr(node, key) for key in ("id", "attr", "name") if hasattr(node, key)), None)
        if used in NOTICED:
            return f"{used}: {NOTICED[used]}"
        if isinstance(node, ast.Call) and _asks_for_locals(node):
            return NOTICED["locals"]
        if (
            sys.version_info[:2] == (3, 12)
            and isinstance(node, ast.ClassDef)
            and _has_long_comprehension(node)
        ):
            return (
                "f_locals of a class body, read on 3.12 within a comprehension, binds its variables to None"
            )
    return None


def _has_long_comprehension(scope: ast.AST) -> bool:
    """Whether there is a comprehension over several lines among a class's own statements."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp) and node.lineno < (
            node.end_lineno or 0
        ):
            return True
        if not isinstance(node, _SCOPES) and _has_long_comprehension(node):
            return True
    return False


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)


def _asks_for_locals(call: ast.Call) -> bool:
    function = call.func
    return isinstance(function, ast.Name) and len(call.args) <= _ASKS_FOR_LOCALS.get(function.id, -1)


class WitnessRunner(agree.Runner):
    """A process that runs programs under the witness."""

    def __init__(self, setting: agree.Setting) -> None:
        super().__init__("witness", replace(setting, cache=None))

    def saw(self, program: Program) -> "Saw":
        stream, facts = self._run(program)
        blocks, end, at = [], None, 0
        while at + 5 <= len(stream):
            size = int.from_bytes(stream[at + 1 : at + 5], "little")
            content = stream[at + 5 : at + 5 + size]
            if stream[at : at + 1] == b"E":
                end = json.loads(content)
            elif len(content) == size:
                blocks.append(content)
            at += 5 + size
        if end is not None and end["failure"]:
            raise RuntimeError(f"the witness failed at {program.id}:\n{end['failure']}")
        return Saw(
            seen(blocks), end is not None and end["cut"] is None and not facts["timed_out"], facts["status"]
        )


@dataclass(frozen=True)
class Saw:
    """What the witness saw of a program. whole: up to its end."""

    events: list[Seen]
    whole: bool
    status: int


@dataclass(frozen=True)
class Finding:
    """A disagreement. who: which two. text: where, what the one says and what the other."""

    program: Program
    who: str
    text: str

    @property
    def like(self) -> str:
        """What kind of disagreement it is, as far as a machine can say."""
        kind = re.search(r"event \d+, (\w+) in", self.text)
        what = re.search(r"(local|global|value|stack|the end|frame|raised|locals of|globals)", self.text)
        how = re.search(r"(identity|length|kind|type|items|no such \w+|nothing is told|unbound)", self.text)
        mutator, colon, _ = self.program.id.partition(": ")
        parts = [found[1] for found in (kind, what, how) if found] + [mutator] * bool(colon)
        return f"{self.who}: {', '.join(parts)}"


class Judges:
    """The witness and the tracers. Use as a context. levels: whether at instruction level too."""

    def __init__(
        self, setting: agree.Setting, names: tuple[str, ...] = ("reference", "native"), *, levels: bool = True
    ) -> None:
        limits = replace(setting.limits, events=12 * setting.limits.events)
        fine = replace(setting, granularity=Granularity.INSTRUCTION, limits=limits)
        self.witness = WitnessRunner(setting)
        self.coarse = {name: agree.Runner(name, setting) for name in names}
        self.fine = {name: agree.Runner(name, fine) for name in names} if levels else {}
        self.events = 0
        """How many events of the last program were compared with the witness."""

    def __enter__(self) -> "Judges":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for runner in (self.witness, *self.coarse.values(), *self.fine.values()):
            runner.__exit__(kind, error, traceback)

    def judge(self, program: Program) -> list[Finding]:
        """Where they disagree about a program: at most one finding for each two of them. The witness is left out where
        it is of no use (`skipped`)."""
        found: list[Finding] = []
        self.events = 0
        text = program.code
        if program.mode is Mode.CALL:
            text = f"{program.code}\n{program.entry}{program.arguments}"
        own = shows_tracer(program)
        saw = None if skipped(program) else self.witness.saw(program)
        coarse = {name: runner.run(program) for name, runner in self.coarse.items()}
        for name, traced in _distinct(coarse).items():
            if saw is None:
                break
            whole = saw.whole and _whole(traced)
            try:
                self.events += check(text, saw.events, _main_thread(traced), whole=whole, stacks=not own)
            except Different as otherwise:
                found.append(Finding(program, f"{name} against witness", str(otherwise)))
        fine = {name: runner.run(program) for name, runner in self.fine.items()}
        for traces, granularity in ((coarse, ""), (fine, ", instruction level")):
            if "native" in traces and "reference" in traces:
                difference = agree.compare(program, traces["reference"], traces["native"])
                if difference is not None and not difference.numbers and not (granularity and own):
                    found.append(Finding(program, f"native against reference{granularity}", difference.text))
        for name, traced in _distinct(coarse, fine).items():
            whole = _whole(coarse[name]) and _whole(traced)
            try:
                check_levels(_main_thread(coarse[name]), _main_thread(traced), whole=whole)
            except Different as different:
                found.append(Finding(program, f"{name}: line against instruction level", str(different)))
        for name, traced in coarse.items():
            if traced.crashed and saw is not None and saw.status != traced.status:
                found.append(Finding(program, f"{name} against witness", f"it died: status {traced.status}"))
        return found


def _distinct(*levels: dict[str, agree.Traced]) -> dict[str, agree.Traced]:
    """The tracers' traces of the last level, without one that is to the byte, at every level, another's."""
    found: dict[str, agree.Traced] = {}
    for name, traced in levels[-1].items():
        if not any(all(_same(traces[name], traces[other]) for traces in levels) for other in found):
            found[name] = traced
    return found


def _same(one: agree.Traced, two: agree.Traced) -> bool:
    return (one.rows, one.end, one.timed_out) == (two.rows, two.end, two.timed_out)


def _main_thread(traced: agree.Traced) -> list[Row]:
    return [row for row in traced.rows if row.thread == 0]


def _whole(traced: agree.Traced) -> bool:
    """Whether a trace goes to the program's end. It may fail where it says so, or has lost what it held."""
    return traced.end is not None and traced.end["cut"] is None and not traced.timed_out
