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


def table(program: Program) -> list[tuple[str, int, str]]:
    """Event, line and `what changed` of each row."""
    console = Console(width=190, record=True, file=io.StringIO())
    console.print(trace_table(record_here(program)))
    rows = re.findall(r"^ *\d+ │ (\w+) *│ *(\d+) │.*│ (.*)$", console.export_text(), re.M)
    return [(kind, int(line), text.strip()) for kind, line, text in rows]


UNFINISHED = """\
def look(v):
    return v * 10
rows = [look(item) for item in (1, 2)]
class Table:
    cells = [look(cell) for cell in (3, 4)]
def inner(xs):
    ys = [look(elem) for elem in (5, 6)]
    look(xs.append(7))
    return ys
inner([])
"""


def test_the_table_tells_what_an_unfinished_line_changed() -> None:
    """A variable of a comprehension whose item makes a call, or a list that an argument has changed, is in the row
    of the call; when the variable is gone, it has been there."""
    rows = table(Program(id="p", code=UNFINISHED))
    calls = [text for kind, _, text in rows if kind == "call" and text.startswith("v = ")]
    assert calls == [
        *("v = 1  caller item = 1", "v = 2  caller item = 2"),
        *("v = 3  caller cell = 3", "v = 4  caller cell = 4"),
        *("v = 5  caller elem = 5", "v = 6  caller elem = 6"),
        "v = None  caller xs = [7]",
    ]
    gone = {name for _, _, text in rows for name in re.findall(r"(\w+) gone", text)}
    assert gone == {"item", "cell", "elem"}


DATES = """\
import datetime, re
from decimal import Decimal
def f():
    day = datetime.date(2024, 1, 1)
    price, made, pattern = Decimal("1.50"), Decimal, re.compile("a")
    return day
f()
"""


def test_the_table_tells_values_that_are_text() -> None:
    """A date, a number or a pattern of the library is data; a class or a function is not."""
    rows = [text for _, line, text in table(Program(id="p", code=DATES)) if line in (5, 6) and " = " in text]
    assert rows == ["day = datetime.date(2024, 1, 1)", "pattern = re.compile('a')  price = Decimal('1.50')"]


def test_the_table_tells_every_change() -> None:
    """Also what changed in place: beside a variable that is bound, deep inside another object, in a global variable."""
    told = [
        (line, {*re.findall(r"((?:global )?\b[a-z]+)(?= = | gone)", text)})
        for kind, line, text in table(Program(id="p", code=CODE, mode=Mode.CALL, entry="f", arguments=CALL))
        if kind != "call"
    ]
    assert told == copies()
    assert (9, {"xs", "x"}) in told
