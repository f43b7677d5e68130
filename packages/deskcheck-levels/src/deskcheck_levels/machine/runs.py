"""Compares the runs of a machine with recordings.

It compares every line event with its variables, then the returned value, or the class and the message of the
exception, and the output. Values are compared as text, sets by their items, and containers of values without
a text item by item. Functions, iterators, exceptions and cut values have no complete text; only their
presence is compared. Shared objects are a matter of the machine's memory and are not compared.
"""

import ast
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.notation import Divergence, RunAgreement
from deskcheck.recording import Mode, Outcome, Recording, Value
from deskcheck_levels.machine.builtins import is_plain
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised, StepsSpent
from deskcheck_levels.machine.machine import Machine, OnLine
from deskcheck_levels.paper.working import UnreadableWorking


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineRun:
    """A recorded run in a machine.

    agreement: of its line events, and the end as one step more. outside: why the program, or this run of it,
    is not of the declared language; None where it is. result: what it returned or raised, as text; None where
    it came to no end. right: that this is what the recording has. first: of the first step that is wrong,
    what the machine had and what is true.
    """

    id: str
    agreement: RunAgreement
    outside: str | None
    result: str | None
    right: bool
    first: tuple[str, str] | None
    seconds: float


class _Differs(Exception):
    """A step is not the true one."""


class _Judge:
    """Told of the machine's line events; goes through the recording's beside them."""

    def __init__(self, recording: Recording) -> None:
        self.true = _lines(recording)
        self.cut = recording.trace.cut is not None
        self.exact = 0
        self.first: tuple[str, str] | None = None
        self.kind: Divergence | None = None
        self._frames: dict[int, int] = {}

    def line(self, frame: int, line: int, names: Mapping[str, Any]) -> None:
        """Raises _Differs at the first step that is wrong."""
        true = next(self.true, None)
        if true is None and self.cut:
            raise StepsSpent  # all that was recorded
        if true is None:
            self._wrong(Divergence.NEXT_LINE, f"line {line}", "the end")
        else:
            frame = self._frames.setdefault(frame, len(self._frames))
            if (frame, line) != true[:2]:
                self._wrong(Divergence.NEXT_LINE, f"line {line} of frame {frame}", _told(*true))
            if not _same(names, true[2]):
                texts = {name: text_of(value) or "..." for name, value in names.items()}
                self._wrong(Divergence.VALUE, _told(frame, line, texts), _told(*true))
        self.exact += 1

    def _wrong(self, kind: Divergence, mine: str, true: str) -> None:
        self.kind, self.first = kind, (mine, true)
        raise _Differs

    def end(self, end: "_End", printed: str, true: str) -> None:
        """After the last line. printed: what the machine wrote to standard output; true: what is recorded."""
        ahead = next(self.true, None)
        if ahead is not None:
            self.kind, self.first = Divergence.NEXT_LINE, ("the end", _told(*ahead))
        elif not end.right:
            self.kind, self.first = Divergence.VALUE, (end.actual, end.true)
        elif printed != true:
            self.kind, self.first = Divergence.VALUE, (f"prints {printed!r}", f"prints {true!r}")
        else:
            self.exact += 1

    def agreement(self) -> RunAgreement:
        wrong = self.kind is not None and self.kind is not Divergence.BUDGET
        return RunAgreement(
            exact=self.exact,
            judged=self.exact + wrong,
            places=self.exact + (self.kind is Divergence.VALUE),
            values=self.exact,
            first=self.kind,
        )


def _told(frame: int, line: int, names: Mapping[str, Any]) -> str:
    return f"line {line} of frame {frame}: " + ", ".join(f"{name}={text}" for name, text in names.items())


def _lines(recording: Recording) -> Iterator[tuple[int, int, Mapping[str, Value]]]:
    """Of each line event: its frame, numbered by the first one, its line, and its variables."""
    frames: dict[int, int] = {}
    for event in recording.trace:
        if event.kind == "line":
            frame = frames.setdefault(event.frame, len(frames))
            yield frame, event.line, event.locals


def text_of(value: Any) -> str | None:
    """A value of the machine as in a recording; None if it has no complete text."""
    return repr(value) if is_plain(value) else None


def _same(names: Mapping[str, Any], true: Mapping[str, Value]) -> bool:
    if names.keys() != true.keys():
        return False
    return all(not true[name].whole or _same_value(value, true[name]) for name, value in names.items())


def _same_value(mine: Any, true: Value) -> bool:
    """Whether a value of the machine is the recorded one.

    Values without a complete text agree if neither is of a plain kind. Containers of them are compared item
    by item.
    """
    text = text_of(mine)
    if text is not None and (_same_text(text, repr(true)) or not _holds_itself(mine)):
        return _same_text(text, repr(true))
    if true.kind == "ref":  # a container that holds this one, and is compared already
        return True
    if not isinstance(mine, _CONTAINERS):
        return true.kind not in _PLAIN and not (true.kind == "text" and (true.text or "")[:1] != "<")
    if true.kind != type(mine).__name__ or len(true.items) != len(mine):
        return False
    if isinstance(mine, dict):
        pairs = zip(mine.items(), true.items, strict=True)
        return all(_same_value(a, c) and _same_value(b, d) for (a, b), (c, d) in pairs)
    if isinstance(mine, (set, frozenset)):
        return True  # whose items have no order that says which is which
    return all(_same_value(a, b) for a, b in zip(mine, true.items, strict=True))


def _holds_itself(value: Any, around: tuple[int, ...] = ()) -> bool:
    """Whether its text ends with dots somewhere: the recording's text may end elsewhere than Python's."""
    if not isinstance(value, _CONTAINERS):
        return False
    if id(value) in around:
        return True
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    return any(_holds_itself(part, (*around, id(value))) for part in parts)


_CONTAINERS = (list, tuple, dict, set, frozenset)
_PLAIN = ("atom", "tuple", "frozenset", "range", "list", "dict", "set")


def _same_text(mine: str, true: str) -> bool:
    if mine == true:
        return True
    # The order of a set is that of its hashes, which another process draws anew.
    return "{" in mine and "{" in true and _literal(mine) == _literal(true) is not None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def run_recorded(
    recording: Recording,
    machine: Callable[[OnLine], Machine],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> MachineRun:
    """Runs a recorded program from its start in a new machine, up to the first wrong step."""
    program, judge, started = recording.program, _Judge(recording), clock()
    outside: str | None = None
    end: _End | None = None
    runner = machine(judge.line)
    try:
        if program.mode is not Mode.CALL or program.entry is None:
            raise OutsideLanguage("a program that is not a call of a function")
        value = runner.call_program(program.code, program.entry, program.arguments or "()")
        end = _returned(recording, value)
    except ProgramRaised as raised:
        end = _raised(recording, raised.error)
    except OutsideLanguage as error:
        outside, judge.kind = str(error), Divergence.BUDGET
    except StepsSpent:
        judge.kind = Divergence.BUDGET
    except UnreadableWorking as error:
        judge.kind, judge.first = Divergence.UNREADABLE, (str(error), "")
    except _Differs:
        pass
    if end is not None:
        judge.end(end, "".join(runner.output), recording.run_result.stdout)
    return MachineRun(
        id=recording.id,
        agreement=judge.agreement(),
        outside=outside,
        result=None if end is None else end.actual,
        right=end is not None and end.right and judge.kind is None,
        first=judge.first,
        seconds=clock() - started,
    )


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the machine's run, the recorded one, and whether they are the same."""

    actual: str
    true: str
    right: bool


def _raised(recording: Recording, error: BaseException) -> _End:
    """The class, and the message: of that what the recording has."""
    message_told, true = f"{type(error).__name__}: {error}", recording.run_result
    message = true.detail.removeprefix(f"{true.exception}").removeprefix(": ")
    right = recording.outcome is Outcome.RAISED and true.exception == type(error).__name__
    if is_plain(error.args):  # else the message may hold an address
        right = right and str(error).startswith(message)
    return _End(message_told, true.detail or str(true.exception), right)


def _returned(recording: Recording, result: Any) -> _End:
    text, true = text_of(result), recording.result
    text_or_kind = text or f"a {type(result).__name__}"
    if recording.outcome is not Outcome.RETURNED or true is None:
        return _End(text_or_kind, str(recording.run_result.exception), False)
    if text is not None and (_same_text(text, true) or not _holds_itself(result)):
        return _End(text_or_kind, true, _same_text(text, true))
    value = recording.result_value
    if value is None or not value.whole:
        return _End(text_or_kind, true, text is None)
    return _End(text_or_kind, true, _same_value(result, value))
