"""The column `what changed` of the table in the terminal, against the program's own copies of its variables."""

import copy
import io
import re
import sys
from types import FrameType
from typing import Any

from rich.console import Console

from deskcheck.recording import Mode, Program
from deskcheck.view.table import trace_table
from tests.ask.conftest import record_here

CODE = """\
total = 0
seen = {}
def add(ys, n):
    ys[0].append(n)
    seen[n] = 1
def f(xs, grid):
    global total
    x = xs.pop()
    grid[0][1] = x
    total += x
    y, xs[0] = x, 9
    add(grid, 4)
    z = grid
    for row in grid:
        row.append(y)
    del x
    return xs
"""
CALL = "([1, 2, 3], [[0, 0], [1]])"


def copies() -> list[tuple[int, set[str]]]:
    """Line of each event after the first of a frame -> names whose value is another than at the event before; a
    new name of something is another value, too."""
    names: dict[str, Any] = {}
    exec(compile(CODE, "program.py", "exec"), names)
    told: list[tuple[int, set[str]]] = []
    frames: dict[FrameType, dict[str, Any]] = {}

    def watch(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename != "program.py":
            return None
        now = dict(frame.f_locals)
        now |= {f"global {name}": names[name] for name in ("total", "seen")}
        if event == "call":
            frames[frame] = copy.deepcopy(now)
            return watch
        before = frames[frame]
        changed = {
            name for name in {*now, *before} if (name in now) != (name in before) or now[name] != before[name]
        }
        told.append((frame.f_lineno, changed))
        for seen in frames:  # what a callee changed is told in its own rows
            there = dict(seen.f_locals) | {f"global {name}": names[name] for name in ("total", "seen")}
            frames[seen] = copy.deepcopy(there)
        return watch

    sys.settrace(watch)
    try:
        eval(f"f{CALL}", names)
    finally:
        sys.settrace(None)
    return told


def test_the_table_tells_every_change() -> None:
    """Also what changed in place: beside a variable that is bound, deep inside another object, in a global variable."""
    recording = record_here(Program(id="p", code=CODE, mode=Mode.CALL, entry="f", arguments=CALL))
    console = Console(width=190, record=True, file=io.StringIO())
    console.print(trace_table(recording))
    rows = re.findall(r"^ *\d+ │ (\w+) *│ *(\d+) │.*│ (.*)$", console.export_text(), re.M)
    told = [
        (int(line), {*re.findall(r"((?:global )?\b[a-z]+)(?= = | gone)", text)})
        for kind, line, text in rows
        if kind != "call"
    ]
    assert told == copies()
    assert (9, {"xs", "x"}) in told
