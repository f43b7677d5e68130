"""What the native tracer once did to programs, each cut down from a test that another project wrote (`tests.observer.suites`)."""

import sys
from pathlib import Path

import pytest

from tests.sample import spread
from tests.tracer.process import needs_native, printed, printed_alone

pytestmark = needs_native

CHILD = """
import sys
from deskcheck.tracer import TraceLimits
from deskcheck.tracer.limits import Granularity
from deskcheck.tracer.native import NativeTracer

program = compile(sys.argv[1], "program.py", "exec")
tracer = NativeTracer({"program.py": "program.py"}, lambda block: None, limits=TraceLimits(events=int(sys.argv[2])),
                      granularity=Granularity(sys.argv[3]))
tracer.start()
try:
    exec(program, {"__name__": "__main__"})
finally:
    tracer.stop()
if tracer.failure is not None:
    raise tracer.failure
"""


def run(program: str, events: int = 10_000, granularity: str = "line", **variables: str) -> str:
    """What a program prints under the tracer, in a process of its own; the tracer must not fail."""
    return printed(CHILD, program, events, granularity, **variables)


@pytest.mark.parametrize("events", spread(range(1, 30), 9))
def test_a_limit_within_a_comprehension(events: int) -> None:
    """From 3.12 on the interpreter calls the trace function of a frame with opcode events without asking whether there is one."""
    program = "def f():\n    a = [i for i in range(3)]\n    b = [i for i in a]\n    return b\nprint(f())\n"
    assert run(program, events) == "[0, 1, 2]\n"


def test_values_made_up_for_an_event() -> None:
    """`__reduce__` of an accumulate makes a chain, of which nothing but the event knew."""
    program = """import itertools
def f():
    a = itertools.accumulate([1, 2, 3], initial=8)
    b = itertools.accumulate([None, None], lambda x, y: None)
    print(next(a))
    next(b)
    print(list(a), list(b))
f()
"""
    assert run(program) == "8\n[9, 11, 14] [None]\n"


def test_a_signal_within_the_tracer() -> None:
    """Handlers run in the program, wherever the signal arrives."""
    program = """import signal
class Stop(Exception): pass
def handler(number, frame):
    raise Stop
signal.signal(signal.SIGALRM, handler)
seen = 0
for n in range(200):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        while True:
            class Fresh:
                n = [seen]
            values = [Fresh(), {"a": iter([1, 2])}, 2.5]
    except Stop:
        seen += 1
print(seen)
"""
    assert run(program, 1_000_000) == "200\n"


def test_a_frame_that_ended_unseen() -> None:
    """A generator that throw() could not start leaves no event; another frame begins at its address."""
    program = """class E(Exception):
    def __new__(cls, *args):
        return cls
def boring():
    yield
def one(n):
    return two(n)
def two(n):
    return [n]
for n in range(20):
    gen = boring()
    try:
        gen.throw(E)
    except TypeError:
        print(one(n)[0], end=" ")
"""
    assert run(program) == "".join(f"{n} " for n in range(20))


def test_a_count_at_its_end() -> None:
    """`__reduce__` of a count that has reached the largest Py_ssize_t raises SystemError."""
    program = "import itertools, sys\nc = itertools.count(sys.maxsize - 1)\nnext(c)\nprint(next(c) == sys.maxsize)\n"
    assert run(program) == "True\n"


def test_members_that_are_no_objects() -> None:
    """C types have members such as `__vectorcalloffset__`: a number, not a slot with an object."""
    program = """import functools, operator, typing, weakref
def f():
    values = [functools.partial(int, "7"), operator.attrgetter("x"), operator.itemgetter(1),
              operator.methodcaller("y"), typing.TypeVar("T"), typing.ParamSpec("P"), functools.lru_cache(int)]
    class Part(functools.partial):
        pass
    values.append(Part(int, "8"))
    return values
print(f()[0](), f()[-1]())
"""
    assert run(program) == "7 8\n"


def test_a_partial_without_a_dict() -> None:
    """To look at a partial's attributes must not give it a dict: `functools.partial` of one that has a dict nests."""
    program = """import functools
def f():
    inner = functools.partial(int, "11")
    made = len(str(inner))
    outer = functools.partial(inner, 2)
    return outer
print(f().func is int)
"""
    assert run(program) == "True\n"


LEFT_RUNNING = """
import sys, threading
from deskcheck.tracer.native import NativeTracer

text = '''
import threading
go, begun = threading.Event(), threading.Event()
def waits():
    begun.set()
    go.wait()
thread = threading.Thread(target=waits)
thread.start()
begun.wait()
def numbers():
    yield [i for i in range(2)]
    yield [i for i in range(3)]
g = numbers()
next(g)
'''
names = {"__name__": "__main__"}
for turn in range(2):
    tracer = NativeTracer({"program.py": "program.py"}, lambda block: None)
    tracer.start()
    exec(compile(text, "program.py", "exec"), names)
    tracer.stop()
    print(next(names["g"]))
    names["threads"] = [*names.get("threads", ()), (names["thread"], names["go"])]
for thread, go in names["threads"]:
    go.set()
    thread.join()
"""


def test_a_thread_that_is_left_running() -> None:
    """To take the hook from one thread while another has it turned all events on, for frames without a hook too."""
    assert printed(LEFT_RUNNING) == "[0, 1, 2]\n[0, 1, 2]\n"


STATIC_TYPE = """
from deskcheck.tracer.native import NativeTracer

text = '''
def f():
    a = [] if first else {}
    b = a
    import xxsubtype
    for n in range(9):
        c = xxsubtype.spamlist([n, n])
    return c
values = f()
'''
for first in (True, False):
    tracer = NativeTracer({"program.py": "program.py"}, lambda block: None)
    tracer.start()
    names = {"__name__": "__main__", "first": first}
    exec(compile(text, "program.py", "exec"), names)
    tracer.stop()
    print(list(names.pop("values")))
"""


def test_a_static_type_made_ready_while_deaths_are_watched() -> None:
    """It inherits the `tp_dealloc` of list as it is at that time, and keeps it when the tracer is gone."""
    pytest.importorskip("xxsubtype")
    assert printed(STATIC_TYPE) == "[8, 8]\n[8, 8]\n"


COLLECTED = """import gc, weakref
class Thing: pass
def outer(n):
    def inner(): return n
    return inner
gc.collect()
thing = Thing()
thing.itself = thing
gone = []
seen = weakref.ref(thing, gone.append)
del thing
kept = []
while not gone:
    kept.append(outer([]))
print(len(kept))
"""


def test_the_collector_comes_no_sooner() -> None:
    """It comes after so many containers are made: what the tracer makes and keeps does not count. How many of them the interpreter
    takes from those that it has kept for reuse is another matter; at less than half of them the collector once came."""
    assert int(run(COLLECTED)) > 0.75 * int(printed_alone(COLLECTED))


ORDERED = """from collections import OrderedDict
hashed = []
class Key:
    def __init__(self, n): self.n = n
    def __hash__(self):
        hashed.append(self.n)
        return self.n
ordered = OrderedDict()
for n in range(3):
    ordered[Key(n)] = n
ordered.move_to_end(next(reversed(ordered)), last=False)
broken = OrderedDict(spam=1, ham=2)
dict.__delitem__(broken, "spam")
broken.move_to_end("ham")
dict.__setitem__(broken, "eggs", 3)
print(hashed)
"""


def test_an_ordered_dict_is_seen_without_its_keys_hashes() -> None:
    """Its iterators call the program's `__hash__`, and fail on what was removed with a method of dict."""
    assert run(ORDERED) == printed_alone(ORDERED)


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="3.12 has no strings in the form of the old interface"
)
def test_a_string_of_the_old_interface() -> None:
    """It has no characters yet until somebody asks for them."""
    pytest.importorskip("_testcapi", reason="would show that such a string is read, not taken for empty")
    program = """import warnings, _testcapi
warnings.simplefilter("ignore")
a = _testcapi.unicode_legacy_string("legacy")
b = [_testcapi.unicode_legacy_string("in a list")]
print(a, b)
"""
    assert run(program) == "legacy ['in a list']\n"


@pytest.mark.parametrize("granularity", ["line", "instruction"])
def test_a_trace_function_of_the_program_that_fails(granularity: str) -> None:
    """Its error reaches the program, and the next trace function is called where it would be: not None in frames that
    had opcode events; from 3.12 on the error was lost."""
    program = (Path(__file__).parents[1] / "programs" / "settrace_jumps.py").read_text()
    assert run(program, granularity=granularity) == printed_alone(program)


TRACED_LATER = """import sys
def own(frame, event, arg):
    seen.append((frame.f_code.co_name, event))
    return own
seen = []
def inner():
    return 1
def f():
    a = [i for i in range(3)]
    b = [i for i in a]
    sys.settrace(own)
    c = [i for i in b]
    inner()
    sys.settrace(None)
    return c
print(f(), [pair for pair in seen if pair[0] == "inner"])
"""


@pytest.mark.parametrize("granularity", ["line", "instruction"])
@pytest.mark.parametrize("events", spread([8, 1, 2, 4, 12, 10_000], 5))
def test_a_trace_function_of_the_program_after_a_limit(events: int, granularity: str) -> None:
    """Frames that the tracer has left are as it found them."""
    assert run(TRACED_LATER, events, granularity) == printed_alone(TRACED_LATER)


def test_a_generator_is_not_read_after_it_was_freed() -> None:
    """Its death was noted once more behind its finaliser. What is freed is overwritten here."""
    program = """def counts(n):
    try:
        for k in range(n):
            yield k
    finally:
        done.append(n)
done = []
for n in range(3):
    drawn = counts(n)
    next(drawn, None)
    drawn = None
print(done, sum(counts(4)))
"""
    assert run(program, PYTHONMALLOC="malloc_debug") == "[0, 1, 2, 4] 6\n"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="numpy refuses it without a tracer, too")
def test_an_array_that_is_recorded_can_be_resized() -> None:
    """numpy refuses to resize what a weak reference leads to, or one reference too many: there is none."""
    pytest.importorskip("numpy", reason="would have proved that an array can be resized while it is recorded")
    program = """import weakref
import numpy
class Buffer:
    def __init__(self):
        self.data = numpy.arange(2)
    def push(self, item):
        self.data.resize(self.data.size + 1)
        self.data[-1] = item
array = numpy.arange(4)
array.resize(6)
buffer = Buffer()
for item in range(3):
    buffer.push(item)
print(array.tolist(), buffer.data.tolist())
print([weakref.getweakrefcount(one) for one in (array, buffer, buffer.data)])
"""
    assert run(program) == "[0, 1, 2, 3, 0, 0] [0, 1, 0, 1, 2]\n[0, 0, 0]\n"
