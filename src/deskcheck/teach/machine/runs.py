"""Recorded runs, run by a machine and held against the recording: every line event with its variables, then
the value that is returned, or the class of what is raised.

Values are compared as text, sets by their items. Of functions, iterators and exceptions, which have no text
that says all, and of values that the recording has cut, only that there is one is compared. Which variables
are one object is the machine's memory, and is not compared.
"""

import ast
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.notation import Divergence, RunAgreement
from deskcheck.recording import Mode, Outcome, Recording
from deskcheck.teach.machine.builtins import is_plain
from deskcheck.teach.machine.frames import OutsideLanguage, Raised, StepsSpent
from deskcheck.teach.machine.machine import Line, Machine
from deskcheck.teach.paper.working import UnreadableWorking


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


CUT = "<cut>"
"""Stands for a value of which the recording has a part."""


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
                shown = {name: text_of(value) or "..." for name, value in names.items()}
                self._wrong(Divergence.VALUE, _told(frame, line, shown), _told(*true))
        self.exact += 1

    def _wrong(self, kind: Divergence, mine: str, true: str) -> None:
        self.kind, self.first = kind, (mine, true)
        raise _Differs

    def agreement(self) -> RunAgreement:
        wrong = self.kind is not None and self.kind is not Divergence.BUDGET
        return RunAgreement(
            exact=self.exact,
            judged=self.exact + wrong,
            places=self.exact + (self.kind is Divergence.VALUE),
            values=self.exact,
            first=self.kind,
        )


def _told(frame: int, line: int, names: Mapping[str, str]) -> str:
    return f"line {line} of frame {frame}: " + ", ".join(f"{name}={text}" for name, text in names.items())


def _lines(recording: Recording) -> Iterator[tuple[int, int, dict[str, str]]]:
    """Of each line event: its frame, numbered by the first one, its line, and its variables as text."""
    frames: dict[int, int] = {}
    for event in recording.trace:
        if event.kind == "line":
            frame = frames.setdefault(event.frame, len(frames))
            names = event.locals.items()
            yield frame, event.line, {name: repr(value) if value.whole else CUT for name, value in names}


def text_of(value: Any) -> str | None:
    """A value of the machine as a recording tells it; None where no text says all of it."""
    return repr(value) if is_plain(value) else None


def _same(names: Mapping[str, Any], true: Mapping[str, str]) -> bool:
    if names.keys() != true.keys():
        return False
    return all(true[name] == CUT or _same_text(text_of(value), true[name]) for name, value in names.items())


def _same_text(mine: str | None, true: str) -> bool:
    if mine == true:
        return True
    if mine is None:
        return true[0] not in "[({'\"0123456789-"
    # The order of a set is that of its hashes, which another process draws anew.
    return "{" in mine and "{" in true and _literal(mine) == _literal(true) is not None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def run_recorded(
    recording: Recording,
    machine: Callable[[Line], Machine],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> MachineRun:
    """A recorded run from its start, with the machine that is made for it; ends at the first wrong step."""
    program, judge, started = recording.program, _Judge(recording), clock()
    outside = result = None
    right = False
    try:
        if program.mode is not Mode.CALL or program.entry is None:
            raise OutsideLanguage("a program that is no call of a function")
        told = machine(judge.line).call_program(program.code, program.entry, program.arguments or "()")
        result, right = _ended(recording, told, None)
    except Raised as raised:
        result, right = _ended(recording, None, raised.error)
    except OutsideLanguage as error:
        outside, judge.kind = str(error), Divergence.BUDGET
    except StepsSpent:
        judge.kind = Divergence.BUDGET
    except UnreadableWorking as error:
        judge.kind, judge.first = Divergence.UNREADABLE, (str(error), "")
    except _Differs:
        pass
    if result is not None:
        ahead = next(judge.true, None)
        if ahead is not None:
            judge.kind, judge.first, right = Divergence.NEXT_LINE, ("the end", _told(*ahead)), False
        elif not right:
            true = (
                recording.result
                if recording.run_result.exception is None
                else str(recording.run_result.exception)
            )
            judge.kind, judge.first = Divergence.VALUE, (result, str(true))
        else:
            judge.exact += 1
    return MachineRun(
        id=recording.id,
        agreement=judge.agreement(),
        outside=outside,
        result=result,
        right=right,
        first=judge.first,
        seconds=clock() - started,
    )


def _ended(recording: Recording, told: Any, error: BaseException | None) -> tuple[str, bool]:
    """What the machine has in the end, and whether that is what the recording has."""
    if error is not None:
        name = type(error).__name__
        true = recording.run_result
        return f"{name}: {error}", recording.outcome is Outcome.RAISED and true.exception == name
    text = text_of(told)
    same = recording.result is not None and _same_text(text, recording.result)
    return text or f"a {type(told).__name__}", recording.outcome is Outcome.RETURNED and same
