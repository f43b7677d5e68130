"""The native tracer is safe: no crash beside other threads and signal handlers, nothing kept or lost by a trace.

The programs run in a process of their own; most with `PYTHONMALLOC=debug`, which overwrites what is freed.
"""

import pytest

from tests.sample import spread
from tests.tracer.process import needs_native, printed

pytestmark = needs_native

VALUES = """
import collections, decimal, signal, sys, threading

class C:
    def __init__(self, n):
        self.a = n
        self.t = (n, decimal.Decimal(n))

class S:
    __slots__ = ("x", "y")

shared = {"list": [], "dict": {}, "obj": C(0), "s": S(), "tuple": ()}

def values(n):
    def inner():
        return n
    return [decimal.Decimal(n), C, len, inner, (n, C(n), (decimal.Decimal(n),)), frozenset([n, str(n)]), 1 << 70,
            b"x" * n, range(n), type("T", (), {"q": n}), collections.deque([n]), sys, C(n).__init__]
"""
THREADS = (
    VALUES
    + """
sys.setswitchinterval(1e-6)

def work():
    for n in range(30):
        shared["list"] = values(n)
        shared["list"].clear()
        shared["obj"] = C(n)
        shared["obj"].z = values(n)
        shared["obj"].__dict__ = {}
        shared["s"].x = values(n)
        shared["s"].y = tuple(values(n))
        globals()["g%d" % (n % 3)] = tuple(values(n))
        globals().pop("g%d" % (n % 3), None)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
)

LEFT_RUNNING = (
    VALUES
    + """
sys.setswitchinterval(1e-6)

def work():
    for n in range(1 << 40):
        x = [C(n), values(n % 9), type("T", (), {"n": n})()]

for _ in range(3): threading.Thread(target=work, daemon=True).start()
for _ in range(20): x = [decimal.Decimal(1)]
"""
)
SIGNALS = (
    VALUES
    + """
def handler(number, frame):
    shared["list"].clear()
    shared["dict"].clear()
    shared["obj"].__dict__ = {}
    shared["s"].x = None
    shared["obj"] = C(1)
    shared["tuple"] = ()
    globals().pop("g", None)

signal.signal(signal.SIGALRM, handler)
for n in range(100):
    signal.setitimer(signal.ITIMER_REAL, 0.0002 + n % 7 * 0.0003)
    shared["list"] = values(n % 10)
    shared["dict"] = {str(i): v for i, v in enumerate(values(n % 10))}
    shared["obj"] = C(n)
    shared["obj"].z = values(n % 10)
    shared["s"].x = values(n % 10)
    shared["tuple"] = tuple(values(n % 10))
    g = tuple(values(3))
signal.setitimer(signal.ITIMER_REAL, 0)
"""
)
LOOP = "def f(n):\n    t = [i for i in range(n)]\n    for i in t: t[0] += i\n    return t\nfor n in range(60): f(n)\n"
FORK = LOOP + "import os\nif os.fork() == 0:\n    f(50)\n    os._exit(0)\nassert os.wait()[1] == 0\n"

RUN = """
import sys
from deskcheck.tracer.limits import Granularity, TraceLimits
from deskcheck.tracer.native import NativeTracer
code = compile(sys.argv[1], "program.py", "exec")
tracer = NativeTracer({"program.py": "program.py"}, lambda block: None, granularity=Granularity(sys.argv[2]),
                      limits=TraceLimits(events=int(sys.argv[3])))
import os
os.register_at_fork(after_in_child=tracer.forget_thread)
tracer.start()
try:
    exec(code, {"__name__": "__main__"})
finally:
    tracer.stop()
assert tracer.failure is None, repr(tracer.failure)
sys.stdout.flush()
os._exit(0)
"""


def run(code: str, *arguments: str, malloc: str = "debug") -> str:
    """Run code in a process; what it printed. Fails if it does not end well."""
    return printed(code, *arguments, PYTHONMALLOC=malloc)


@pytest.mark.parametrize("granularity", spread(["line", "instruction"], 2))
@pytest.mark.parametrize(
    ("program", "events"),
    [
        (THREADS, 3_000),
        (LEFT_RUNNING, 3_000),
        (SIGNALS, 3_000),
        (LOOP, 100),
        (LOOP, 101),
        (FORK, 500),
        (FORK, 50_000),
    ],
    ids=["threads", "left running", "signals", "cut", "cut elsewhere", "cut and forked", "forked"],
)
def test_it_does_not_crash(program: str, events: int, granularity: str) -> None:
    """Other code changes what the tracer is looking at, or the trace ends before the program."""
    run(RUN, program, granularity, str(events))


def test_a_signal_handler_interrupts_the_program() -> None:
    """What a handler raises reaches the program, even if the tracer was at work when the signal came."""
    program = (
        VALUES
        + "class Alarm(Exception): pass\n"
        + "def handler(number, frame): raise Alarm\n"
        + "signal.signal(signal.SIGALRM, handler)\ncaught = 0\n"
        + "for n in range(100):\n    try:\n        signal.setitimer(signal.ITIMER_REAL, 0.0005)\n"
        + "        while True: x = values(n % 5)\n    except Alarm:\n        caught += 1\nassert caught == 100\n"
    )
    run(RUN, program, "line", "1000000")


REUSED = """
from deskcheck.recording import block
from deskcheck.tracer.native import NativeTracer
lines = ["def g():", "    yield [1, 2, 3, 4, 5, 6, 7, 8, 9, len([1]), len([2])]"]
for n in range(40):
    lines += [f"def f{n}({', '.join(f'v{n}_{k}' for k in range(1 + n % 20))}):", "    return 0"]
for n in range(40):
    lines += ["it = g()", "next(it)", "it = None", f"f{n}(*range({1 + n % 20}))"]
blocks = []
tracer = NativeTracer({"program.py": "program.py"}, blocks.append)
code = compile("\\n".join(lines), "program.py", "exec")
tracer.start()
try:
    exec(code, {"__name__": "__main__"})
finally:
    tracer.stop()
called = [row.function for each in blocks for row in block.rows(each) if row.kind == "call" and row.function != "g"]
assert called == ["<module>", *(f"f{n}" for n in range(40))], called
"""


def test_a_frame_at_the_address_of_a_generators() -> None:
    """A suspended generator is freed without an event; the next function's frame may lie where its frame lay."""
    run(REUSED, malloc="pymalloc")


LEAKS = """
import ctypes, gc, sys, types
from deskcheck.tracer.limits import Granularity
from deskcheck.tracer.native import NativeTracer
PROGRAMS = [compile(text, "program.py", "exec") for text in (
    "x = [i for i in range(9)]\\ny = {'a': x}\\nx.append(y)\\ndel x",
    "def g(n):\\n    for i in range(n): yield [i]\\nz = g(3)\\nnext(z)\\nw = list(g(4))",
    "class C:\\n    def __init__(self): self.a = self\\nclass S:\\n    __slots__ = ('p',)\\nc = C()\\ns = S()\\ns.p = c\\ndel c",
    "import threading\\ndef w(): q = [1]; r = {2: q}\\nt = threading.Thread(target=w)\\nt.start()\\nt.join()",
    "def f(n):\\n    if n: return f(n - 1) + [n]\\n    raise KeyError(n)\\ntry: f(4)\\nexcept KeyError as e: k = [e]",
    "import decimal, collections, functools\\nd = decimal.Decimal(2)\\nq = collections.deque([d])\\np = functools.partial(print, q)",
)]
probes = [KeyError, list, dict, PROGRAMS[0], PROGRAMS[1], PROGRAMS[0].co_names, sys.modules, sys.modules["decimal"]
          if "decimal" in sys.modules else sys, object(), sys.settrace, types.FunctionType]
class Mallinfo(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo
def used():
    m = libc.mallinfo2()
    return m.uordblks + m.hblkhd
def once(k):
    tracer = NativeTracer({"program.py": "program.py"}, lambda block: None,
                          granularity=Granularity.INSTRUCTION if k % 5 == 4 else Granularity.LINE)
    names = {"__name__": "__main__", "probe": probes[8]}
    tracer.start()
    try:
        exec(PROGRAMS[k % len(PROGRAMS)], names)
    finally:
        tracer.stop()
    assert tracer.failure is None, repr(tracer.failure)
    names.clear()
def measure():
    gc.collect()
    return [sys.getrefcount(p) for p in probes], len(gc.get_objects()), used()
for k in range(300): once(k)
first = measure()
for k in range(600): once(k)
last = measure()
print([b - a for a, b in zip(first[0], last[0])], last[1] - first[1], last[2] - first[2])
"""


def test_a_trace_leaves_nothing_behind() -> None:
    """After many traces: the same counts of references, of objects, and the same memory."""
    references, objects, memory = run_leaks()
    assert not any(references), references
    assert objects <= 5
    assert memory < 180_000, (
        "300 bytes for each of 600 traces: blocks that malloc keeps to use again count too"
    )


def run_leaks() -> tuple[list[int], int, int]:
    found, _, rest = run(LEAKS, malloc="malloc").partition("] ")
    objects, memory = rest.split()
    return [int(n) for n in found[1:].split(",")], int(objects), int(memory)
