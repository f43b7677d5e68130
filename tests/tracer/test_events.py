"""Which events small programs make, and what they show. The expectations are written by hand; a tracer of a
few lines on `sys.settrace` that shares no code with ours says the same of lines.

Not: values in themselves (test_snapshot), generated programs (test_replay), other interpreters.
"""

import ast
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from deskcheck.recording import Event, Kind, Trace, Value
from deskcheck.tracer import ReferenceTracer, tracer_class

EVENTS = {
    "call_line_return": (
        """
        def f(a):
            b = a + 1
            return b
        f(1)
        """,
        """
        <module>: call 1, line 1, line 4
        f: call 1, line 2, line 3, return 3
        <module>: return 4
        """,
    ),
    "generator_send_throw_close": (
        """
        def g():
            got = yield 1
            try:
                yield got
            except KeyError:
                yield 5
            finally:
                print(7)
        h = g()
        next(h)
        h.send(10)
        h.throw(KeyError)
        h.close()
        """,
        """
        <module>: call 1, line 1, line 9, line 10
        g: call 1, line 2, yield 2
        <module>: line 11
        g: resume 2, line 3, line 4, yield 4
        <module>: line 12
        g: resume 4, raise 4, line 5, line 6, yield 6
        <module>: line 13
        g: resume 6, raise 6, line 8, unwind 8
        <module>: return 13
        """,
    ),
    "yield_from": (
        """
        def inner():
            x = yield 2
            return x
        def outer():
            y = yield from inner()
            print(y)
        z = outer()
        next(z)
        try:
            z.send(10)
        except StopIteration:
            print(12)
        """,
        """
        <module>: call 1, line 1, line 4, line 7, line 8
        outer: call 4, line 5
        inner: call 1, line 2, yield 2
        outer: yield 5
        <module>: line 9, line 10
        outer: resume 5
        inner: resume 2, line 3, return 3
        outer: line 6, return 6
        <module>: raise 10, line 11, line 12, return 12
        """,
    ),
    "exception_passes_frames": (
        """
        def f():
            g()
        def g():
            1 / 0
        try:
            f()
        except ZeroDivisionError:
            print(8)
        """,
        """
        <module>: call 1, line 1, line 3, line 5, line 6
        f: call 1, line 2
        g: call 3, line 4, raise 4, unwind 4
        f: raise 2, unwind 2
        <module>: raise 6, line 7, line 8, return 8
        """,
    ),
    "await_that_finishes_at_once": (
        """
        async def leaf():
            return 2
        async def main():
            a = await leaf()
            return a
        try:
            main().send(None)
        except StopIteration as end:
            print(end.value)
        """,
        """
        <module>: call 1, line 1, line 3, line 6, line 7
        main: call 3, line 4
        leaf: call 1, line 2, return 2
        main: line 5, return 5
        <module>: raise 7, line 8, line 9, return 9
        """,
    ),
    "async_for_and_with": (
        """
        class A:
            def __init__(self):
                self.n = 0
            def __aiter__(self):
                return self
            async def __anext__(self):
                if self.n == 1:
                    raise StopAsyncIteration
                self.n += 1
                return self.n
            async def __aenter__(self):
                return 12
            async def __aexit__(self, *args):
                return False
        async def main():
            async with A() as a:
                async for i in A():
                    print(a, i)
        try:
            main().send(None)
        except StopIteration:
            pass
        """,
        """
        <module>: call 1, line 1
        A: call 1, line 1, line 2, line 4, line 6, line 11, line 13, return 13
        <module>: line 15, line 19, line 20
        main: call 15, line 16
        A.__init__: call 2, line 3, return 3
        A.__aenter__: call 11, line 12, return 12
        main: line 17
        A.__init__: call 2, line 3, return 3
        A.__aiter__: call 4, line 5, return 5
        A.__anext__: call 6, line 7, line 9, line 10, return 10
        main: line 18, line 17
        A.__anext__: call 6, line 7, line 8, raise 8, unwind 8
        main: line 16
        A.__aexit__: call 13, line 14, return 14
        main: return 16
        <module>: raise 20, line 21, line 22, return 22
        """,
    ),
    "closure": (
        """
        def counter():
            n = 0
            def step():
                nonlocal n
                n += 1
                return n
            return step
        s = counter()
        s()
        """,
        """
        <module>: call 1, line 1, line 8
        counter: call 1, line 2, line 3, line 7, return 7
        <module>: line 9
        counter.<locals>.step: call 3, line 5, line 6, return 6
        <module>: return 9
        """,
    ),
    "class_body": (
        """
        class C:
            x = 2
            def m(self):
                return self.x
        C().m()
        """,
        """
        <module>: call 1, line 1
        C: call 1, line 1, line 2, line 3, return 3
        <module>: line 5
        C.m: call 3, line 4, return 4
        <module>: return 5
        """,
    ),
    "recursion": (
        """
        def fact(n):
            if n == 0:
                return 1
            return n * fact(n - 1)
        fact(1)
        """,
        """
        <module>: call 1, line 1, line 5
        fact: call 1, line 2, line 4, call 1, line 2, line 3, return 3, return 4
        <module>: return 5
        """,
    ),
    "return_in_try_with_finally": (
        """
        def f():
            try:
                return 3
            finally:
                print(5)
        f()
        """,
        """
        <module>: call 1, line 1, line 6
        f: call 1, line 2, line 3, line 5, return 5
        <module>: return 6
        """,
    ),
    "with_that_swallows": (
        """
        class M:
            def __enter__(self):
                return 3
            def __exit__(self, *args):
                return True
        with M() as m:
            raise ValueError
        print(8)
        """,
        """
        <module>: call 1, line 1
        M: call 1, line 1, line 2, line 4, return 4
        <module>: line 6
        M.__enter__: call 2, line 3, return 3
        <module>: line 7, raise 7, line 6
        M.__exit__: call 4, line 5, return 5
        <module>: line 8, return 8
        """,
    ),
    "nested_loops": (
        """
        for i in range(2):
            for j in "a":
                pass
        """,
        """
        <module>: call 1, line 1, line 2, line 3, line 2, line 1, line 2, line 3, line 2, line 1, return 1
        """,
    ),
    "comprehension": (
        """
        def f(n):
            a = [i * n for i in range(3)]
            return a
        f(2)
        """,
        """
        <module>: call 1, line 1, line 4
        f: call 1, line 2, line 2, line 2, line 2, line 3, return 3
        <module>: return 4
        """,
    ),
    "exception_uncaught_through_finally": (
        """
        def f():
            raise KeyError
        def g():
            try:
                f()
            finally:
                print(7)
        g()
        """,
        """
        <module>: call 1, line 1, line 3, line 8
        g: call 3, line 4, line 5
        f: call 1, line 2, raise 2, unwind 2
        g: raise 5, line 7, unwind 7
        <module>: raise 8, unwind 8
        """,
    ),
    "generator_expression": (
        """
        def f():
            s = sum(i for i in (1, 2))
            return s
        f()
        """,
        """
        <module>: call 1, line 1, line 4
        f: call 1, line 2
        f.<locals>.<genexpr>: call 2, line 2, yield 2, resume 2, line 2, yield 2, resume 2, line 2, return 2
        f: line 3, return 3
        <module>: return 4
        """,
    ),
    "loop_left_by_break": (
        """
        while True:
            break
        else:
            print(4)
        """,
        """
        <module>: call 1, line 1, line 2, return 2
        """,
    ),
}
"""Program, and its events: a line for each stretch of one function's events, ``function: kind line, ...``."""


def told(trace: Trace) -> str:
    """The events of a trace in the form of `EVENTS`."""
    stretches: list[str] = []
    before = None
    for event in trace:
        step = f"{event.kind} {event.line}"
        if event.function == before:
            stretches[-1] += f", {step}"
        else:
            stretches.append(f"{event.function}: {step}")
        before = event.function
    return "\n".join(stretches)


@pytest.mark.parametrize("name", EVENTS)
def test_events_are_those_written_by_hand(name: str, traced: Callable[..., Any]) -> None:
    """Each program makes exactly the events that its reader would write down, in that order."""
    source, expected = EVENTS[name]
    assert told(traced(source).trace) == textwrap.dedent(expected).strip()


def settrace_lines(source: str) -> list[tuple[str, int]]:
    """Function and line of every `line` event that `sys.settrace` reports for a program."""
    code = compile(textwrap.dedent(source).lstrip("\n"), "<oracle>", "exec", dont_inherit=True)
    seen: list[tuple[str, int]] = []

    def watch(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code.co_filename != "<oracle>":
            return None
        if event == "line":
            seen.append((frame.f_code.co_qualname, frame.f_lineno))
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        exec(code, {"__name__": "oracle"})
    except Exception:  # noqa: BLE001 - what leaves the program is not the question
        pass
    finally:
        sys.settrace(before)
    return seen


@pytest.mark.parametrize("name", [name for name in EVENTS if name != "comprehension"])
def test_lines_are_those_of_settrace(
    name: str, traced: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without comprehensions the `line` events are those that the interpreter itself reports."""
    source, _ = EVENTS[name]
    lines = [(e.function, e.line) for e in traced(source).trace if e.kind == "line"]
    assert lines == settrace_lines(source)
    assert lines


def at_line(trace: Trace, line: int) -> list[Event]:
    """The `line` events of that line, each with a state of its own."""
    return [trace[e.index] for e in trace if e.kind == "line" and e.line == line]


def test_a_call_shows_where_it_comes_from(traced: Callable[..., Any]) -> None:
    """A call knows the calling frame and the expression in it, and C code that it comes through."""
    trace = traced(
        """
        def f(n):
            return n
        a = f(1) + f(2)
        b = list(map(f, [3]))
        """
    ).trace
    calls = [trace[e.index] for e in trace if e.kind == "call" and e.function == "f"]
    callers = [call.state.frames[call.frame].caller for call in calls]
    assert [c and c["at"] for c in callers] == [[3, 4, 3, 8], [3, 11, 3, 15], [4, 4, 4, 21]]
    assert [c and c.get("via") for c in callers] == [None, None, "list"]
    module = [list(call.state.frames[0].stack) for call in calls]
    assert module[:2] == [[], [1]]  # what f(1) gave waits for f(2)
    assert [call.locals["n"].atom for call in calls] == [1, 2, 3]


def test_values_of_events(traced: Callable[..., Any]) -> None:
    """Return, yield, resume and raise carry what was returned, yielded, sent in and raised."""
    trace = traced(
        """
        def g():
            got = yield "out"
            raise ValueError(got)
        h = g()
        next(h)
        try:
            h.send("in")
        except ValueError:
            pass
        """
    ).trace
    values = {(e.kind.value, e.function): repr(e.value) for e in trace if e.value is not None}
    assert values == {
        ("yield", "g"): "'out'",
        ("resume", "g"): "'in'",
        ("raise", "g"): "ValueError('in')",
        ("raise", "<module>"): "ValueError('in')",
        ("return", "<module>"): "None",
    }


def test_live_iterators_are_on_the_stack(traced: Callable[..., Any]) -> None:
    """Inside nested loops the stack shows each loop's iterator with its position, the outermost first."""
    trace = traced(
        """
        for i in [10, 20]:
            for c in "ab":
                for n in range(2):
                    a = 4
        b = 5
        """
    ).trace

    def position(iterator: Value) -> str:
        fields = dict(iterator.fields)
        return f"next {fields['next']!r}" if "next" in fields else f"left {fields['left']!r}"

    stacks = [[position(iterator) for iterator in e.stack] for e in at_line(trace, 4)]
    assert stacks == [
        [f"next {i}", f"next {j}", f"left range({n}, 2)"] for i in (1, 2) for j in (1, 2) for n in (1, 2)
    ]
    kinds = [iterator.type for iterator in at_line(trace, 4)[0].stack]
    assert kinds[0] == "tuple_iterator"
    assert kinds[-1] == "range_iterator"
    assert at_line(trace, 5)[0].stack == []


def test_the_iterator_of_a_loop_that_stores_is_on_the_stack(traced: Callable[..., Any]) -> None:
    """A destructor that a loop's assignment runs is called from a frame whose stack still holds the loop."""
    trace = traced(
        """
        class D:
            def __del__(self):
                a = 3
        def f():
            for x in [D(), 1]:
                pass
        f()
        """
    ).trace
    call = next(trace[e.index] for e in trace if e.kind == "call" and e.function == "D.__del__")
    (caller,) = [frame for frame in call.state.frames.values() if frame.function == "f"]
    assert len(caller.stack) == (sys.version_info < (3, 15))  # 3.15 lets go of it at the end of the loop


def test_a_comprehension_is_part_of_its_frame(traced: Callable[..., Any]) -> None:
    """Every item of a comprehension after the first is a line of the enclosing frame; its variable is there
    while it runs and gone afterwards, and one of the same name has its old value."""
    trace = traced(
        """
        def f(n):
            i = "outer"
            a = [i * n for i in range(3)]
            return a
        f(2)
        """
    ).trace
    inside = at_line(trace, 3)
    assert {e.function for e in inside} == {"f"}
    assert [repr(e.locals["i"]) for e in inside] == ["'outer'", "0", "1", "2"]
    after = at_line(trace, 4)[0]
    assert set(after.locals) == {"n", "a", "i"}
    assert repr(after.locals["i"]) == "'outer'"
    assert repr(after.locals["a"]) == "[0, 2, 4]"


def test_a_long_comprehension(traced: Callable[..., Any]) -> None:
    """A comprehension whose jumps need an extended argument has an event for each further item too."""
    source = f"def f():\n    return [{' + '.join(['q'] * 300)} for q in range(3)]\nf()\n"
    lines = [row.line for row in traced(source).trace.rows if row.function == "f" and row.kind == "line"]
    assert lines == [2] * 4


def test_variables_of_a_comprehension_are_gone_afterwards(traced: Callable[..., Any]) -> None:
    """A comprehension of the module has its variable while it runs, and leaves none behind."""
    trace = traced(
        """
        a = {k: [v for v in k] for k in ("xy", "z")}
        b = 2
        """
    ).trace
    frames = [trace[e.index].state.frames[0].locals for e in trace if e.kind == "line" and e.line == 1]
    assert "k" in frames[-1]
    last = at_line(trace, 2)[0]
    assert last.state.frames[0].locals == {}
    assert list(last.locals) == ["a"]


_TWO = {("i", "0"), ("i", "1"), ("j", "0"), ("j", "1")}
COMPREHENSIONS = {
    "module": ("pairs = [[(i, j) for j in range(2)] for i in range(2)]", _TWO),
    "module_hides": (
        "i = j = 7\npairs = [{j for j in (i, 3)} for i in range(2)]",
        _TWO | {("i", "7"), ("j", "7")} | {("j", "3")},
    ),
    "class": ("class C:\n    pairs = [[(i, j) for j in range(2)] for i in range(2)]", _TWO),
    "function": ("def f():\n    return [[(i, j) for j in range(2)] for i in range(2)]\nf()", _TWO),
    "lambda": ("calls = [(lambda: [(i, j) for j in range(2)])() for i in range(2)]", _TWO),
    "generator": ("sums = [sum((i, j)[1] for j in range(2)) for i in range(2)]", _TWO),
}


@pytest.mark.parametrize("tracer_class", [ReferenceTracer, tracer_class()])
@pytest.mark.parametrize("name", COMPREHENSIONS)
def test_a_running_comprehension_has_its_variables(
    name: str, tracer_class: Any, traced: Callable[..., Any]
) -> None:
    """Wherever a comprehension stands, what its variables are bound to is seen among the locals while it runs;
    afterwards they are gone, and the variables that they hid have their values."""
    source, values = COMPREHENSIONS[name]
    trace = traced(source, tracer_class=tracer_class).trace
    seen = [{(n, repr(v)) for n, v in e.locals.items() if n in ("i", "j")} for e in trace]
    assert set().union(*seen) == values
    assert seen[-1] == ({("i", "7"), ("j", "7")} if name == "module_hides" else set())


def test_aliases_have_one_number(traced: Callable[..., Any]) -> None:
    """Two names of one list have one identity number; two lists that are equal have two."""
    last = list(traced("a = b = []\nc = []\nd = (a, a, c)\ne = 4\n").trace)[-1].locals
    assert last["a"].id == last["b"].id
    assert last["a"].id != last["c"].id
    assert [item.id for item in last["d"].items] == [last["a"].id, last["a"].id, last["c"].id]


def test_an_object_keeps_its_number_when_a_call_ends(traced: Callable[..., Any]) -> None:
    """What a constructor made and what a call gives back is the same object in the frame that called, also where
    code in C held it meanwhile."""
    trace = traced(
        """
        class P:
            def __init__(self, x):
                self.x = x
            def moved(self):
                other = P(self.x + 1)
                return other
        p = P(1)
        q = p.moved()
        many = list(map(P, [7, 8]))
        end = True
        """
    ).trace
    made, given, last = [], [], {}
    for event in trace:
        if event.kind is Kind.CALL and event.function == "P.__init__":
            made.append(event.locals["self"].id)
        if event.kind is Kind.RETURN and event.function == "P.moved":
            given.append(event.value.id)
        last = event.globals
    assert [last["p"].id, last["q"].id, *(item.id for item in last["many"].items)] == made
    assert given == [made[1]]
    assert len(set(made)) == 4


def test_objects_made_at_one_address_are_not_taken_for_one(traced: Callable[..., Any]) -> None:
    """The deque lets go of each before the next one is made, often at the same address."""
    trace = traced(
        """
        import collections
        class S:
            __slots__ = ("a", "b")
        collections.deque((S() for _ in range(4)), maxlen=0)
        """
    ).trace
    events = list(trace)
    assert len({event.value.id for event in events if event.kind is Kind.YIELD}) == 4


def test_mutation_is_seen_through_every_alias(traced: Callable[..., Any]) -> None:
    """What a callee does to a list shows in every name, attribute and container that holds it, and at the
    line where it happens."""
    trace = traced(
        """
        class Box:
            pass
        def add(to):
            to.append(4)
            to[0] = [5]
        a = [0]
        box = Box()
        box.items = a
        nest = {"deep": [a]}
        add(a)
        end = 11
        """
    ).trace
    before, after = at_line(trace, 10)[0].locals, at_line(trace, 11)[0].locals
    assert repr(before["a"]) == "[0]"
    assert repr(after["a"]) == repr(after["box"]["items"]) == "[[5], 4]"
    assert repr(after["nest"]) == "{'deep': [[[5], 4]]}"
    assert before["a"].id == after["a"].id
    assert repr(at_line(trace, 5)[0].locals["to"]) == "[0, 4]"
    assert repr(at_line(trace, 5)[0].globals["nest"]) == "{'deep': [[0, 4]]}"


def test_a_name_that_is_deleted_is_gone(traced: Callable[..., Any]) -> None:
    """After `del`, and after an except clause, the name is not among the locals."""
    trace = traced(
        """
        def f():
            a = 2
            del a
            try:
                1 / 0
            except ZeroDivisionError as error:
                b = 7
            return
        f()
        """
    ).trace
    assert [list(at_line(trace, line)[0].locals) for line in (3, 4, 7, 8)] == [["a"], [], ["error"], ["b"]]
    assert at_line(trace, 4)[0].changed == {"a"}


def test_output_goes_with_the_next_event(traced: Callable[..., Any]) -> None:
    """What a line prints stands at the next event, and all of it together is what was printed."""
    ran = traced("print(1)\nprint(2, end='')\na = 3\n")
    assert [(e.line, e.output) for e in ran.trace if e.output] == [(2, "1\n"), (3, "2")]
    assert "".join(e.output for e in ran.trace) == ran.output


PRINTS_ITSELF = """
def show(line, **names):
    print(line, sorted(names.items()))
def f(n, *rest, k=1):
    for i in range(n):
        show(5, i=i, k=k, n=n, rest=rest)
        k = {"k": k} if i else [k, i]
    try:
        show(8, i=i, k=k, n=n, rest=rest)
        n = rest[5]
    except IndexError:
        show(11, i=i, k=k, n=n, rest=rest)
    while n:
        n, s = n - 1, {n}
        show(14, i=i, k=k, n=n, rest=rest, s=s)
    def inner(x, acc=[]):
        acc.append(x)
        return show(17, acc=acc, n=n, x=x) or n
    a = [inner(y) for y in "ab"]
    show(19, a=a, i=i, k=k, n=n, rest=rest, s=s)
f(3, "r", None)
"""


def test_locals_are_what_the_program_prints(traced: Callable[..., Any]) -> None:
    """Where a program prints its own variables, the trace shows the same values at that line."""
    ran = traced("\n" + PRINTS_ITSELF)
    assert ran.error is None
    printed = [line.partition(" ") for line in ran.output.splitlines()]
    lines = {int(line) for line, _, _ in printed}
    events = [e for e in _with_state(ran.trace) if e.kind == "line" and e.line in lines]
    events = [e for e in events if e.function not in ("show", "<module>")]
    assert len(events) == len(printed) > 10
    for event, (line, _, names) in zip(events, printed, strict=True):
        shown = {name: repr(value) for name, value in event.locals.items() if name != "inner"}
        assert event.line == int(line)
        assert shown == {name: repr(value) for name, value in ast.literal_eval(names)}


def _with_state(trace: Trace) -> Iterator[Event]:
    return (trace[index] for index in range(len(trace)))


def test_the_limit_on_events_cuts_the_trace_and_not_the_program(traced: Callable[..., Any]) -> None:
    """After the limit on events the program runs on to its end, and the trace says that it is cut."""
    from deskcheck.tracer import TraceLimits

    ran = traced("for i in range(9):\n    a = i\nprint(a)\n", TraceLimits(events=5))
    assert (len(ran.trace), ran.cut, ran.output) == (5, "events", "8\n")


CALLS_INTO_ITS_LINE = """
def twice(n):
    return 2 * n
class Word:
    @property
    def text(self):
        return str(self)
    def __getitem__(self, at):
        return twice(at)
def f(word, n):
    a = n or twice(n)
    b = not n and word.text
    c = n or word[n]
    while n < 3 and twice(n + 1): n += twice(1) or twice(2)
    return n or twice(n)
for n in range(3):
    f(Word(), n)
"""


def test_a_call_that_returns_into_its_line_is_no_new_line(traced: Callable[..., Any]) -> None:
    """3.12 tells of a line again after a call in it that a jump may pass, often from its second run on."""
    ran = traced("\n" + CALLS_INTO_ITS_LINE)
    lines = [event.line for event in ran.trace if event.kind == "line" and event.function == "f"]
    back = [13] * (sys.version_info >= (3, 14))  # as sys.settrace on 3.11, 3.13; 3.14 tells of each jump back
    assert lines == [10, 11, 12, 13, 13, *back, 14, *(2 * [10, 11, 12, 13, *back, 14])]
