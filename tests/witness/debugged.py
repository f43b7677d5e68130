"""Where Python's own debugger goes: a `bdb.Bdb` that stops where a question of the kind ``move`` stops, and is given
its command. It reads the prompt alone, and shares nothing with the recording.

    python -m tests.witness.debugged cruxeval|mbpp|humaneval

prints how many questions were compared, and how often the two disagree. Sets are read from the folder of shared data
(`DESKCHECK_SHARED`).
"""

import ast
import bdb
import contextlib
import dis
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any

from deskcheck.ask import QUESTIONS, Sample
from deskcheck.recording import Mode, Program, Recording
from tests.ask.conftest import record_here, shared
from tests.witness.alone import NotTold, read
from tests.witness.asked import of_humaneval, of_mbpp


def headers(source: str) -> dict[int, int]:
    """Line -> first line of the statement whose own text, without those inside of it, it belongs to."""
    found: dict[int, int] = {}
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    for node in sorted(nodes, key=lambda node: (node.lineno, -(node.end_lineno or 0))):
        inside = [part for part in ast.walk(node) if isinstance(part, ast.stmt) and part is not node]
        last = min((part.lineno for part in inside), default=(node.end_lineno or node.lineno) + 1)
        for line in range(node.lineno, max(last, node.lineno + 1)):
            found[line] = node.lineno
    return found


class Debugger(bdb.Bdb):
    """Stops at the k-th run of a line, obeys one command, and tells where it comes to a halt."""

    def __init__(self, file: str, lines: dict[int, int], line: int, k: int, command: str) -> None:
        super().__init__()
        self.file, self.lines, self.line, self.k, self.command = file, lines, line, k, command
        self.at: dict[FrameType, int] = {}
        self.stopped: FrameType | None = None
        self.answer: Any = None
        self.ended = False

    def _arrives(self, frame: FrameType) -> bool:
        """Whether another statement of a frame of the program begins."""
        if frame.f_code.co_filename != self.file:
            return False
        line = self.lines.get(frame.f_lineno, frame.f_lineno)
        before = self.at.get(frame)
        self.at[frame] = line
        return before != line

    def user_line(self, frame: FrameType) -> None:
        arrives = self._arrives(frame)
        if self.stopped is None:
            self.set_step()
            if arrives and self.at[frame] == self.line:
                self.k -= 1
                if self.k == 0:
                    self._obey(frame)
        elif not arrives:
            self._again(frame)
        else:
            self._end(self.at[frame])

    def _obey(self, frame: FrameType) -> None:
        self.stopped = frame
        if self.command == "return":
            self.set_return(frame)
        else:
            self._again(frame)

    def _again(self, frame: FrameType) -> None:
        if self.command == "until":
            self.set_until(frame, self.line + 1)
        else:
            self.set_step()

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        if frame is not self.stopped or self.command == "step":
            if self.stopped is None or self.command == "step":
                self.set_step()
            return
        if self.command == "return":
            self._end(return_value)
        else:
            # Of a call that an exception leaves the debugger tells the same, but it stands at no return then.
            ran = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            self._end("return" if ran.startswith("RETURN") else "raise")

    def _end(self, answer: Any) -> None:
        self.answer, self.ended = answer, True
        self.set_quit()


def where(prompt: str) -> str | None:
    """The debugger's answer to a question; None if it never came to its place.

    Raises NotTold: the prompt does not write its arguments as Python.
    """
    asked = read(prompt)
    call = asked.call
    stopped = re.search(
        r"line (\d+) .*runs for time number (\d+)$", asked.labels["Stopped"].partition("\n")[0]
    )
    assert stopped is not None, asked.labels
    command = asked.labels["Command"].partition(":")[0]
    debugger = Debugger("program.py", headers(asked.code), int(stopped[1]), int(stopped[2]), command)
    names: dict[str, Any] = {"__name__": "__main__"}
    code: Any = compile(asked.code, "program.py", "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        if call is not None:
            exec(code, names)
            code = compile(call, "call", "eval")
        with contextlib.suppress(bdb.BdbQuit):
            debugger.run(code, names, names)
    if not debugger.ended:
        return None
    return repr(debugger.answer) if command == "return" else str(debugger.answer)


def compare(recording: Recording, number: int = 1000) -> Iterator[tuple[Sample, str | None]]:
    """Questions about a run, each with the debugger's answer. Without those whose arguments are objects."""
    for sample in QUESTIONS["move"](recording, per_recording=number):
        with contextlib.suppress(NotTold):
            yield sample, where(sample.prompt)


def programs_of(name: str) -> Iterator[Program]:
    """Programs of a published set that is here."""
    if name != "cruxeval":
        for id_, code in {"mbpp": of_mbpp, "humaneval": of_humaneval}[name]():
            yield Program(id=id_, code=code, mode=Mode.MODULE)
        return
    path = shared("data", "cruxeval", "cruxeval_600.jsonl")
    for line in path.read_text().splitlines() if path else []:
        row = json.loads(line)
        yield Program(
            id=row["id"], code=row["code"], mode=Mode.CALL, entry="f", arguments=f"({row['input']})"
        )


def main(name: str, number: int = 12) -> None:
    counts: Counter[tuple[str, bool]] = Counter()
    for program in programs_of(name):
        recording = record_here(program)
        for sample, answer in compare(recording, number):
            same = answer == sample.answer
            counts[sample.data["command"], same] += 1
            if not same:
                print(f"{sample.id}: {sample.answer} and {answer}")
    for (command, same), count in sorted(counts.items()):
        print(f"{command:8} {'the same' if same else 'not the same'} {count}")


if __name__ == "__main__":
    main(sys.argv[1])
