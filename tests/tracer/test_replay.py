"""What a trace adds up to, for programs that nobody wrote: the state replayed from the changes is the state that
a tracer of ten lines saw, which knows nothing of ours and calls `repr` at every line.

Not: values that are not built of builtins (test_snapshot), events in themselves (test_events).
"""

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from deskcheck.recording import Event, Kind, Trace, render
from tests.sample import examples

PROPERTY = settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

# -- programs ------------------------------------------------------------------------------------

HEADER = ["a, b, c, s = 1, n, 3, 'x'", "xs, ys, ds, us = [a, b], [], {'k': [1]}, {2}"]
SIMPLE = [
    "a = (a + b * c) % 97",
    "b = c - a",
    "c = a // b",
    "c = a % (b or 1)",
    "a, b = b, a",
    "s = s + str(a)",
    "s = s[::-1][:5]",
    "xs.append(a)",
    "xs = [*xs[:4], b]",
    "xs += ys[:2]",
    "ys = xs",
    "ys = xs[1:3]",
    "xs[a % 3] = c",
    "a = xs[b % 4]",
    "b = xs.pop()",
    "del xs[:1]",
    "xs.sort()",
    "ds[a] = xs",
    "ds[s] = (a, [b])",
    "ds.setdefault('k', []).append(c)",
    "b = len(ds.pop(c, ''))",
    "ds = {q: ds[q] for q in list(ds)[:3]}  # comprehension",
    "us.add(a)",
    "us = us | {b}",
    "ys = [q + a for q in xs[:3] if q != b]  # comprehension",
    "ys = [[q, r] for q in range(2) for r in xs[:2]]  # comprehension",
    "us = {q % 5 for q in xs}  # comprehension",
    "ys = [shift(q) for q in xs[:3]]  # comprehension",
    "a = sum(p * p for p in xs[:3])",
    "c = (lambda p: p + a)(b)",
    "a = max(xs[:3], key=lambda p: p % 3)",
    "del a; a = 5",
    "assert a != 4",
    "raise ValueError(a)",
    "a = int(s)",
]
PLAIN = [line for line in SIMPLE if "# comprehension" not in line]
"""For the module itself: on 3.12 its comprehensions see None in a variable once a trace function has read
f_locals there."""
RESUMING = ("ys = list(counted(3, {y}))", "{x} = next(counted(2, {y}))")
"""What the helper may call: by its own name it would recurse to the limit."""
names = st.sampled_from("abc")


@st.composite
def blocks(draw: st.DrawFn, depth: int, calls: tuple[str, ...], *, loop: bool = False) -> list[str]:
    """Lines of a block that every name of `HEADER` is bound in."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        lines += draw(statements(depth, calls, loop=loop))
    return lines


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def statements(draw: st.DrawFn, depth: int, calls: tuple[str, ...], *, loop: bool) -> list[str]:
    shape = draw(
        st.sampled_from(["simple"] * 4 + ["call", "if", "for", "while", "try", "finally", "closure", "leave"])
    )
    x, y = draw(names), draw(names)
    if shape == "leave" and loop:
        return [f"if {x} > {y}:", draw(st.sampled_from(["    break", "    continue"]))]
    if shape in ("simple", "leave") or (depth == 0 and shape not in ("call", "closure")):
        return [draw(st.sampled_from(SIMPLE))]
    if shape == "call":
        return [draw(st.sampled_from(calls)).format(x=x, y=y)]
    if shape == "closure":
        return [
            "def inner(d=[]):",
            f"    nonlocal {x}",
            f"    {x} += 1",
            "    d.append(b)",
            f"    return d, {y}",
            "inner()",
        ]
    inside = blocks(depth - 1, calls, loop=loop or shape in ("for", "while"))
    body = indented(draw(inside))
    if shape == "if":
        return [f"if {x} < {y}:", *body, "else:", *indented(draw(inside))]
    if shape == "for":
        over = draw(
            st.sampled_from(
                ["i in range(2)", "i in xs[:2]", "k, v in list(ds.items())[:2]", "i in counted(2, a)"]
            )
        )
        return [f"for {over}:", *body, *draw(st.sampled_from([[], ["else:", "    c += 1"]]))]
    if shape == "while":
        count = f"n{depth}"
        return [f"{count} = 2", f"while {count}:", f"    {count} -= 1", *body]
    if shape == "try":
        caught = draw(
            st.sampled_from(["Exception as error", "(ValueError, IndexError)", "ZeroDivisionError"])
        )
        return [
            "try:",
            *body,
            f"except {caught}:",
            "    b = 7",
            *draw(st.sampled_from([[], ["else:", "    c = 1"]])),
        ]
    return ["try:", *body, "finally:", *indented(draw(blocks(0, calls)))]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program: a helper, a generator, functions that call those before them, and a main part that
    catches what they raise."""
    lines = [
        "def shift(n):",
        "    return n + 1",
        "def helper(n):",
        *indented([*HEADER, *draw(blocks(0, RESUMING)), "return a"]),
    ]
    handler = draw(st.sampled_from([[], ["try:"], ["try:"]]))
    body = ["a = yield n", "n += 1 if a is None else a"]
    if handler:
        body = ["try:", *indented(body), "finally:", "    c = n"]
    lines += ["def counted(times, n):", *indented(["for i in range(times):", *indented(body), "return n"])]
    calls: tuple[str, ...] = ("{x} = helper({y})", *RESUMING)
    functions = range(draw(st.integers(1, 3)))
    for k in functions:
        lines += [
            f"def f{k}(n, *rest, key=None):",
            *indented([*HEADER, *draw(blocks(2, calls)), "return a, xs"]),
        ]
        calls = (*calls, f"{{x}} = f{k}({{y}})[0]", f"xs = f{k}({{y}}, {{x}}, key=s)[1][:4]")
    for k in functions:
        lines += ["try:", f"    result = f{k}({draw(st.integers(0, 4))})"]
        lines += ["except Exception as error:", "    print(type(error).__name__)", "print(result := 0)"]
    lines += ["n = 1", *HEADER, draw(st.sampled_from(PLAIN)), draw(st.sampled_from(PLAIN))]
    return "\n".join(lines) + "\n"


# -- the oracle ----------------------------------------------------------------------------------

BUILTIN = (type(None), bool, int, float, str, list, tuple, dict, set, frozenset)
LINES_AT_MOST = 2_000


class TooLong(BaseException):
    """A generated program that runs for too long to be an example."""


def is_builtin(value: Any) -> bool:
    kind = type(value)
    if kind not in BUILTIN:
        return False
    if kind is dict:
        return all(is_builtin(k) and is_builtin(v) for k, v in value.items())
    return kind not in (list, tuple, set, frozenset) or all(is_builtin(item) for item in value)


COMPREHENDED = frozenset({"q", "r", ".0"})
"""Variables of comprehensions: a trace function that reads f_locals binds them to None on 3.12."""

Step = tuple[str, int, dict[str, str]]
"""A `line` event: function, line, and what `repr` gives for the locals that are built of builtins."""


def naive(source: str) -> list[Step]:
    """What `sys.settrace` and `repr` show, without the frames that 3.11 gives comprehensions."""
    steps: list[Step] = []

    def watch(frame: FrameType, event: str, arg: object) -> Any:
        name = frame.f_code.co_qualname
        if frame.f_code.co_filename != "<naive>" or name.endswith("comp>"):
            return None
        if event == "line":
            names = {k: v for k, v in frame.f_locals.items() if k[:2] != "__" and k not in COMPREHENDED}
            seen = {name: repr(value) for name, value in names.items() if is_builtin(value)}
            steps.append((name, frame.f_lineno, seen))
            if len(steps) > LINES_AT_MOST:
                raise TooLong
        return watch

    code = compile(source, "<naive>", "exec", dont_inherit=True)
    before, stdout = sys.gettrace(), sys.stdout
    sys.stdout = None  # print does nothing then
    sys.settrace(watch)
    try:
        with warnings.catch_warnings(action="ignore"):  # 3.12 warns of what COMPREHENDED is about
            exec(code, {"__name__": "__main__"})
    except Exception:  # noqa: BLE001 - what leaves the program is not the question
        pass
    except TooLong:
        assume(False)
    finally:
        sys.settrace(before)
        sys.stdout = stdout
    return steps


def once_per_comprehension(steps: list[Step], source: str) -> list[Step]:
    """The steps without those that a comprehension makes of its further items, which interpreters do
    differently: of steps on its line that follow one another in a function, the first."""
    marked = {n for n, line in enumerate(source.splitlines(), 1) if "# comprehension" in line}
    kept: list[Step] = []
    last: dict[str, int] = {}
    for step in steps:
        function, line, _ = step
        if line not in marked or last.get(function) != line:
            kept.append(step)
        last[function] = line
    return kept


def replayed(trace: Trace) -> list[Step]:
    """The `line` events of a trace with the locals that are built of builtins."""
    return [
        (
            e.function,
            e.line,
            {k: render(v) for k, v in e.locals.items() if v.builtin and k not in COMPREHENDED},
        )
        for e in trace
        if e.kind is Kind.LINE
    ]


# -- properties ----------------------------------------------------------------------------------


@PROPERTY
@given(source=programs())
def test_the_replayed_state_is_what_a_naive_tracer_saw(source: str, traced: Callable[..., Any]) -> None:
    """At every line of a generated program the state that the trace adds up to has the names and values
    that `repr` gave there."""
    note(source)
    expected = once_per_comprehension(naive(source), source)
    ran = traced(source)
    assert ran.cut is None
    found = once_per_comprehension(replayed(ran.trace), source)
    for step, (told, seen) in enumerate(zip(found, expected, strict=False)):
        assert told == seen, f"step {step}"
    assert len(found) == len(expected)


@PROPERTY
@given(source=programs())
def test_every_frame_that_opened_has_closed(source: str, traced: Callable[..., Any]) -> None:
    """In a finished run every frame has one call and then one return or unwind, between which it is resumed
    exactly as often as it yields; only a generator that was dropped ends at a yield, and the module is last."""
    note(source)
    naive(source)
    ran = traced(source)
    histories: dict[int, list[Kind]] = {}
    for event in ran.trace:
        histories.setdefault(event.frame, []).append(event.kind)
    for number, kinds in histories.items():
        assert kinds[0] is Kind.CALL, number
        steps = [k for k in kinds if k not in (Kind.LINE, Kind.RAISE)]
        assert steps[-1] in (Kind.RETURN, Kind.UNWIND, Kind.YIELD)
        assert steps[1:-1] == [Kind.YIELD, Kind.RESUME] * ((len(steps) - 2) // 2)
        if steps[-1] is Kind.YIELD:
            assert ran.trace[_last(ran.trace, number)].function == "counted"
    assert histories[0][-1] is (Kind.RETURN if ran.error is None else Kind.UNWIND)
    assert ran.trace[len(ran.trace) - 1].frame == 0


def _last(trace: Trace, frame: int) -> int:
    return max(row.index for row in trace.rows if row.frame == frame)


@PROPERTY
@given(source=programs())
def test_an_exception_is_handled_or_leaves(source: str, traced: Callable[..., Any]) -> None:
    """After a raise its frame either goes on at a line (a handler) or is unwound, and then the exception is
    raised in the frame that called it."""
    note(source)
    naive(source)
    trace = traced(source).trace
    rows = list(trace.rows)
    for row in rows:
        if row.kind == Kind.RAISE:
            following = next(r for r in rows[row.index + 1 :] if r.frame == row.frame)
            assert following.kind in (Kind.LINE, Kind.UNWIND, Kind.RETURN)
        elif row.kind == Kind.UNWIND and row.frame != 0:
            before = trace.state(row.index)
            value = trace[max(r.index for r in rows[: row.index] if r.kind == Kind.RAISE)].value
            caller = before.active[-2]
            following = rows[row.index + 1]
            if value is not None and value.type != "GeneratorExit":  # which ends with its generator
                assert (following.kind, following.frame) == (Kind.RAISE, caller)


@PROPERTY
@given(source=programs(), data=st.data())
def test_any_event_is_the_same_by_index_and_in_order(
    source: str, data: st.DataObject, traced: Callable[..., Any]
) -> None:
    """An event looked up by its index, in any order, has the state that it has when the trace is read."""
    note(source)
    naive(source)
    trace = traced(source).trace

    def told(event: Event) -> tuple[Any, ...]:
        globals_ = {name: render(value, ids=True) for name, value in event.globals.items()}
        locals_ = {name: render(value, ids=True) for name, value in event.locals.items()}
        stack = [render(value, ids=True) for value in event.stack]
        return (
            event.kind,
            event.frame,
            event.line,
            locals_,
            globals_,
            stack,
            repr(event.value),
            list(event.state.active),
        )

    in_order = [told(event) for event in trace]
    for index in data.draw(st.lists(st.integers(0, len(trace) - 1), min_size=1, max_size=12)):
        assert told(trace[index]) == in_order[index]
    assert told(trace[-1]) == in_order[-1]


@pytest.mark.slow
def test_state_by_index_beyond_the_checkpoints(traced: Callable[..., Any]) -> None:
    """In a trace of thousands of events the state by index is right on both sides of every checkpoint."""
    trace = traced("total, seen = 0, []\nfor i in range(520):\n    total += i\n    seen.append(i)\n").trace
    assert len(trace) > 1_538
    totals = [repr(e.locals.get("total")) for e in trace]
    for index in (len(trace) - 1, 1537, 513, 512, 511, 1024, 1023, 0, 1536, 1025):
        assert repr(trace[index].locals.get("total")) == totals[index]
        seen = trace[index].locals.get("seen")
        assert seen is None or [item.atom for item in seen.items] == list(range(len(seen.items)))
