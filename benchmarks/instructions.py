"""Instructions of the processor for one event of the native tracer, counted by callgrind.

    python benchmarks/instructions.py PYTHON... [--passes 300]

Each PYTHON is an interpreter for which the tracer is built in this checkout; the first is what the others are
compared with. Four small functions are recorded with a number of passes of their loop and with three times as
many; the difference of instructions, by that of events, is what one more event takes, with the program's own
work. Counts do not depend on how busy the machine is. Needs valgrind.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

_SRC = Path(__file__).resolve().parents[1] / "src"

PROGRAMS = {
    "numbers": """
def f(n):
    total = 0
    for i in range(n):
        x = i * 3 % 7
        if x > 3:
            total += x
        else:
            total -= 1
    return total
""",
    "containers": """
def f(n):
    seen = {}
    kept = []
    for i in range(n):
        key = i % 5
        seen[key] = seen.get(key, 0) + 1
        if len(kept) > 6:
            kept.pop()
        kept.append(key)
    return seen, kept
""",
    "calls": """
class A:
    def __init__(self, v):
        self.v = v
    def add(self, k):
        self.v += k
        return self.v
def g(a, k):
    return a.add(k) + 1
def f(n):
    a = A(1)
    out = 0
    for i in range(n):
        out = g(a, i)
    return out
""",
    "strings": """
def f(n):
    words = ["ab", "c", "def"]
    text = ""
    count = 0
    while count < n:
        for w in words:
            text = w.upper() + str(count)
            count += 1
    return [w + text for w in words]
""",
}

_RECORDED = """
import sys
from deskcheck.recording import block
from deskcheck.tracer.native import NativeTracer
namespace, blocks = {}, []
exec(compile(sys.argv[1], "prog.py", "exec"), namespace)
tracer = NativeTracer({"prog.py": "prog.py"}, blocks.append)
tracer.start()
namespace["f"](int(sys.argv[2]))
tracer.stop()
if sys.argv[3] == "count":
    print(sum(1 for each in blocks for _ in block.rows(each)))
"""


def events(python: str, code: str, passes: int) -> int:
    """Of a recording."""
    return int(_run([python, "-S", "-c", _RECORDED, code, str(passes), "count"]).stdout)


def instructions(python: str, code: str, passes: int) -> int:
    """Of a whole process that records."""
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = _run([*counted, python, "-S", "-c", _RECORDED, code, str(passes), ""])
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"callgrind counted nothing: {done.stderr[-500:]}")
    return int(found[1])


def per_event(python: str, code: str, passes: int) -> float:
    """Instructions that one more event takes."""
    more = instructions(python, code, 3 * passes) - instructions(python, code, passes)
    return more / (events(python, code, 3 * passes) - events(python, code, passes))


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(_SRC)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    parser.add_argument("--passes", type=int, default=300)
    given = parser.parse_args()
    for name, code in PROGRAMS.items():
        first = 0.0
        for python in given.pythons:
            found = per_event(python, code, given.passes)
            first = first or found
            print(f"{name:12} {python:12} {found:8.0f} instructions an event, {found / first:.2f} times")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
