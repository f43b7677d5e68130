"""Single steps of the lessons of the level `processor`, each against a recording of the same step.

    python -m benchmarks.lesson_steps FOLDER [--steps 10000] [--seed 7]

The steps are the lines of the programs whose operations are taught, half of all at most; the others are
operations as the lessons draw them, each made a line of a program. The lessons' side comes from the rules of
the paper, word by word; the recording from `deskcheck record`, that is, from this Python and the native
tracer. The command fails where one of them differs.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from deskcheck_levels.machine.machine import Machine
from deskcheck_levels.machine.runs import run_recorded
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.paper.working import DivisionByNought
from deskcheck_levels.processor.lessons import random_operation

from benchmarks._commands import run
from deskcheck.recording.reader import Recordings

TAUGHT = "generated:300,difficulty=1-10,seed=1,inputs=1"
"""The programs whose operations are taught."""
TOGETHER = 25
"""Operations of a recorded call."""
_PROGRAM = """def f(pairs):
    for a, b in pairs:
        try:
            r = a {op} b
        except ZeroDivisionError:
            r = None
    return r
"""


def record_steps(folder: Path, steps: int, seed: int) -> None:
    """Recordings of the steps; those that are there are not made again."""
    chance = random.Random(seed)
    drawn: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for _ in range(steps):
        op, a, b = random_operation(chance)
        drawn[op].append((a, b))
    rows = []
    for op, pairs in drawn.items():
        groups = [pairs[first : first + TOGETHER] for first in range(0, len(pairs), TOGETHER)]
        inputs = [f"({group!r},)" for group in groups]
        rows.append({"code": _PROGRAM.format(op=op), "entry": "f", "inputs": inputs, "op": op})
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "operations.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for source, name in ((str(file), "operations"), (TAUGHT, "programs")):
        run("record", source, "--out", str(folder / name), "--sandbox", "trusted", "--no-repeat")


def operations(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Of each recorded operation: what it is, its result by the lessons, and the recorded one."""
    arithmetic = Arithmetic(all_windows().__getitem__, remember=False)
    for recording in Recordings(folder / "operations"):
        op = str(recording.program.extra["op"])
        after = [event.locals for event in recording.trace if event.kind == "line" and event.line == 2][1:]
        for names in after:
            a, b = int(repr(names["a"])), int(repr(names["b"]))
            try:
                told = repr(arithmetic.binary(op, a, b))
            except DivisionByNought:
                told = "None"
            yield f"{a} {op} {b}", told, repr(names["r"])


def lines(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Of each line of the taught programs: the step, `right`, and that it is, or what is true."""
    arithmetic = Arithmetic(all_windows().__getitem__)
    for recording in Recordings(folder / "programs"):
        ran = run_recorded(recording, lambda line: Machine(arithmetic, line=line))
        if ran.outside is not None:
            continue
        for step in range(ran.agreement.exact):
            yield f"{recording.id}, step {step + 1}", "right", "right"
        if ran.first is not None:
            yield f"{recording.id}, step {ran.agreement.judged}", *ran.first


def compared(folder: Path, steps: int) -> tuple[int, int, list[tuple[str, str, str]]]:
    """How many operations and how many lines were compared, and the steps that differ."""
    of_lines = list(islice(lines(folder), steps // 2))
    of_operations = list(islice(operations(folder), steps - len(of_lines)))
    wrong = [step for step in (*of_operations, *of_lines) if step[1] != step[2]]
    return len(of_operations), len(of_lines), wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    record_steps(options.folder, options.steps, options.seed)
    of_operations, of_lines, wrong = compared(options.folder, options.steps)
    print(f"{of_operations:,} operations and {of_lines:,} lines held against recordings: {len(wrong)} differ")
    for what, told, true in wrong[:20]:
        print(f"{what}: by the lessons {told}, recorded {true}")
    if wrong or of_operations + of_lines < options.steps:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
