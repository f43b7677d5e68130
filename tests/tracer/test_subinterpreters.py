"""A program that makes another interpreter runs as without a tracer, which says that it ends there."""

import json

import pytest

from tests.tracer.process import needs_native, printed

CHILD = """
import json, sys
from deskcheck.recording import block
from deskcheck.tracer import ReferenceTracer, tracer_class

program = compile(sys.argv[1], "program.py", "exec")
blocks = []
tracer = None
if sys.argv[2] != "none":
    kind = ReferenceTracer if sys.argv[2] == "reference" else tracer_class()
    assert kind.name == sys.argv[2]
    tracer = kind({"program.py": "program.py"}, blocks.append)
    tracer.start()
exec(program, {"__name__": "__main__"})
if tracer is not None:
    tracer.stop()
    if tracer.failure is not None:
        raise tracer.failure
    lines = [row.line for each in blocks for row in block.rows(each) if row.kind == "line"]
    print(json.dumps([tracer.cut, lines]))
"""

BEGIN = """\
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import threading
a = 6
"""
MADE_AND_USED = """\
one = interpreters.create()
b = 8
interpreters.run_string(one, "x = [[n] for n in range(1000)]; del x; print('inside', flush=True)")
interpreters.destroy(one)
print("outside", a, b)
"""
AT_WORK_IN_A_THREAD = """\
one = interpreters.create()
work = "for n in range(20000): x = [[n], {n: n}, (n,), iter([n])]"
thread = threading.Thread(target=interpreters.run_string, args=(one, work))
thread.start()
total = 0
for n in range(2000):
    pairs = [[n], [n + 1]]
    total += len(pairs)
thread.join()
interpreters.destroy(one)
print("outside", a, total)
"""
LEFT_ALIVE = """\
def f():
    b = interpreters.create()
    return b, 9
print("outside", f()[1])
"""


def run(program: str, tracer: str) -> list[str]:
    """The lines that a process of its own prints."""
    return printed(CHILD, program, tracer).splitlines()


@pytest.mark.parametrize("tracer", ["reference", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize(
    ("rest", "made"),
    [(MADE_AND_USED, 7), (AT_WORK_IN_A_THREAD, 7), (LEFT_ALIVE, 8)],
    ids=["used", "thread", "left"],
)
def test_the_trace_ends_where_another_interpreter_begins(tracer: str, rest: str, made: int) -> None:
    """The last event is that of the line that makes it; the reason is told; the output is that without a tracer."""
    program = BEGIN + rest
    *output, ending = run(program, tracer)
    cut, lines = json.loads(ending)
    assert (cut, lines[-1]) == ("subinterpreters", made)
    assert output == run(program, "none")
    assert any(line.startswith("outside") for line in output)
