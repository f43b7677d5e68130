"""Instruction level: an event before each instruction, with the whole value stack, and everything of line level as
it is without.

Instructions differ between versions: what is checked by hand here is what they have in common, or says its version.
Not: values in themselves (test_snapshot).
"""

import ast
import dis
import json
import opcode
import re
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deskcheck import Recordings, trace
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Event, Kind, Mode, Outcome, Program, Trace, Value, block, render
from deskcheck.sandbox import Tracing, run
from deskcheck.tracer import Granularity
from deskcheck.tracer.frames import _LEAVES, CodeFacts, _after
from deskcheck.tracer.instructions import constant_text
from tests.sample import spread

SMALL = "LOAD_SMALL_INT" if sys.version_info >= (3, 14) else "LOAD_CONST"
NO_DIVISION = "division by zero" if sys.version_info >= (3, 14) else "integer division or modulo by zero"

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))

Steps = list[tuple[str, list[str]]]


@pytest.fixture
def steps(traced: Callable[..., Any]) -> Callable[..., Steps]:
    """The instructions of one function of a program, each with the value stack before it."""

    def of(source: str, function: str) -> Steps:
        trace = traced(source, granularity=Granularity.INSTRUCTION).trace
        return [
            (event.instruction, [plain(value) for value in event.stack])
            for event in trace
            if event.kind is Kind.INSTRUCTION and event.function == function
        ]

    return of


# -- programs checked by hand --------------------------------------------------------------------


def test_a_sum(steps: Callable[..., Steps]) -> None:
    """Operands lie on the stack before the operation and its result after it."""
    found = steps("def f(a, b):\n    c = a * 10 + b\n    return c\nf(4, 2)\n", "f")
    at = [text for text, _ in found]
    assert dict(found)["BINARY_OP *"] == ["4", "10"]
    assert found[at.index("BINARY_OP +")][1] == ["40", "2"]
    stored = at.index("BINARY_OP +") + 1
    assert found[stored][1] == ["42"]
    assert found[-1] == ("RETURN_VALUE", ["42"])
    if sys.version_info < (3, 13):
        assert at == [
            "LOAD_FAST a",
            "LOAD_CONST 10",
            "BINARY_OP *",
            "LOAD_FAST b",
            "BINARY_OP +",
            "STORE_FAST c",
            "LOAD_FAST c",
            "RETURN_VALUE",
        ]


def test_a_call_of_a_c_function(steps: Callable[..., Steps]) -> None:
    """What a C function is and is given lies on the stack at the CALL; what it gives on top of it at the next."""
    found = steps("def f(xs):\n    return 1 + sum(xs, 3)\nf([4, 5])\n", "f")
    at = next(i for i, (text, _) in enumerate(found) if text == "CALL 2")
    before = found[at][1]
    assert before[0] == "1"
    assert set(before[1:3]) == {"<unbound>", "<built-in function sum>"}
    assert before[3:] == ["[4, 5]", "3"]
    assert found[at + 1] == ("BINARY_OP +", ["1", "12"])


def test_a_method_of_a_c_type(steps: Callable[..., Steps]) -> None:
    """The method and the object that it is called on lie below the arguments; the object has changed after it."""
    found = steps("def f(xs):\n    xs.append(7)\nf([4])\n", "f")
    at = next(i for i, (text, _) in enumerate(found) if text == "CALL 1")
    assert found[at][1] == ["<method 'append' of 'list' objects>", "[4]", "7"]
    assert found[at + 1][1] == ["None"]


def test_keyword_and_starred_calls(steps: Callable[..., Steps]) -> None:
    """The names of keyword arguments are in the KW_NAMES before the CALL, or on the stack (3.13)."""
    found = steps("def f(xs):\n    a = sorted(xs, reverse=True)\n    return max(*a)\nf((1, 2))\n", "f")
    if sys.version_info >= (3, 13):
        assert dict(found)["CALL_KW 2"][-3:] == ["(1, 2)", "True", "('reverse',)"]
    else:
        assert dict(found)["KW_NAMES ('reverse',)"][-2:] == ["(1, 2)", "True"]
    starred = next(stack for text, stack in found if text.startswith("CALL_FUNCTION_EX"))
    assert "<built-in function max>" in starred
    if sys.version_info >= (3, 14):  # there is always room for keyword arguments
        assert starred.pop() == "<unbound>"
    assert starred[-1] == "[2, 1]"


def test_a_jump(traced: Callable[..., Any]) -> None:
    """A jump says where it may go, and the next instruction that runs stands there or follows it."""
    source = "def f(n):\n    while n:\n        n -= 1\n    return n\nf(2)\n"
    trace = traced(source, granularity=Granularity.INSTRUCTION).trace
    found = [trace[e.index] for e in trace if e.kind is Kind.INSTRUCTION and e.function == "f"]
    jumps = 0
    for event, after in pairwise(found):
        text = event.instruction or ""
        if " to " in text:
            jumps += 1
            target = int(text.rpartition(" ")[2])
            condition = event.stack[0].atom if event.stack else None
            jumped = "_IF_" not in text or bool(condition) is ("IF_TRUE" in text)
            assert (after.offset == target) is jumped
    assert jumps >= 3


def test_a_line_comes_before_its_first_instruction(traced: Callable[..., Any]) -> None:
    """Where a line begins, `line` is first and then the instruction at the same place, with the line's number."""
    trace = traced("a = 1\nb = a + 1\n", granularity=Granularity.INSTRUCTION).trace
    rows = [(row.kind, row.line, row.instruction) for row in trace.rows]
    assert rows[:5] == [
        ("call", 1, None),
        ("line", 1, None),
        ("instruction", 1, f"{SMALL} 1"),
        ("instruction", 1, "STORE_NAME a"),
        ("line", 2, None),
    ]


def test_an_exception(traced: Callable[..., Any]) -> None:
    """After a raise the next instruction is that of the handler, with the exception and what was handled before
    on the stack; what lay there for the loop is still there."""
    source = """
        def f(xs):
            for x in xs:
                try:
                    x = 1 // x
                except ZeroDivisionError as e:
                    x = 9
            return x
        f(iter([0]))
    """
    trace = traced(source, granularity=Granularity.INSTRUCTION).trace
    rows = [e for e in trace if e.function == "f"]
    raised = next(i for i, e in enumerate(rows) if e.kind is Kind.RAISE)
    assert rows[raised - 1].instruction == "BINARY_OP //"
    assert [render(v) for v in trace[rows[raised - 1].index].stack][-2:] == ["1", "0"]
    handler = [trace[e.index] for e in rows[raised + 1 :] if e.kind is Kind.INSTRUCTION]
    assert handler[0].instruction == "PUSH_EXC_INFO"
    iterator, *_empty, exception = handler[0].stack
    assert (iterator.kind, exception.type) == ("iterator", "ZeroDivisionError")
    assert [value.type for value in handler[1].stack][-2:] == ["NoneType", "ZeroDivisionError"]
    assert handler[1].stack[0].kind == "iterator"


def test_the_place_of_an_exception_that_is_raised_again(steps: Callable[..., Steps]) -> None:
    """In a cleanup the offset that the exception came from lies on the stack, as an int."""
    source = """
        def f():
            try:
                1 // 0
            finally:
                a = 1
        try:
            f()
        except ZeroDivisionError:
            pass
    """
    found = steps(source, "f")
    texts = [text for text, _ in found]
    assert texts[-1] == "RERAISE 1"
    cleanup = found[texts.index("COPY 3")][1]
    assert (cleanup[0], cleanup[2]) == ("None", f"ZeroDivisionError({NO_DIVISION!r})")
    assert int(cleanup[1]) > 0


def test_a_generator(steps: Callable[..., Steps]) -> None:
    """What is yielded is on top at the YIELD_VALUE, and what was sent in at the instruction after it."""
    source = """
        def g():
            a = yield 5
            return a
        it = g()
        next(it)
        try:
            it.send(6)
        except StopIteration:
            pass
    """
    found = steps(source, "g")
    at = next(i for i, (text, _) in enumerate(found) if text.startswith("YIELD_VALUE"))
    assert found[at][1] == ["5"]
    assert found[at + 1] == ("STORE_FAST a", ["6"])
    assert not [text for text, _ in found if text.startswith(("RESUME", "RETURN_GENERATOR"))]


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="from 3.15 on it is on the stack as that of any loop")
def test_a_generator_expression_has_its_iterable(steps: Callable[..., Steps]) -> None:
    """The iterable of a generator expression is on the stack from its call on, before it is loaded."""
    found = steps("xs = list(q for q in (3, 4))\n", "<genexpr>")
    assert found[0][0] == "LOAD_FAST .0"
    assert found[0][1] == found[1][1] == ["<tuple_iterator over=(3, 4), next=0>"]
    assert [stack for _, stack in found][-1] in ([], ["None"])


def test_a_comprehension(traced: Callable[..., Any]) -> None:
    """The instructions of a comprehension are events of the frame it stands in, with what lies below it there."""
    trace = traced(
        "def f(k):\n    return k + sum([q * q for q in (2, 3)])\nf(1)\n", granularity=Granularity.INSTRUCTION
    ).trace
    found = [e for e in trace if e.kind is Kind.INSTRUCTION and e.instruction == "BINARY_OP *"]
    assert [e.function for e in found] == ["f", "f"]
    assert len({row.frame for row in trace.rows}) == 2
    stacks = [[render(v) for v in trace[e.index].stack] for e in found]
    assert [stack[-2:] for stack in stacks] == [["2", "2"], ["3", "3"]]
    assert all(stack[0] == "1" and "<built-in function sum>" in stack for stack in stacks)
    assert "[]" in stacks[0]
    assert "[4]" in stacks[1]


@pytest.mark.slow
def test_an_extended_argument_is_part_of_its_instruction(traced: Callable[..., Any]) -> None:
    """An argument beyond 255 makes no event of its own, and a jump that needs one goes where it says."""
    lines = [f"    x{n} = {n} + a" for n in range(300)]
    source = "\n".join(
        ["def f(a):", "    while a:", *(f"    {line}" for line in lines), "        a -= 1", "f(2)"]
    )
    trace = traced(source, granularity=Granularity.INSTRUCTION).trace
    found = [row for row in trace.rows if row.kind == Kind.INSTRUCTION and row.function == "f"]
    texts = [row.instruction or "" for row in found]
    assert not [text for text in texts if "EXTENDED" in text]
    assert texts.count("STORE_FAST x299") == 2
    assert texts.count("LOAD_CONST 299") == 2
    back = texts.index(next(t for t in texts if "BACKWARD" in t))
    assert found[back + 1].offset == int(texts[back].rpartition(" ")[2])


def test_an_instruction_without_a_line_has_that_of_the_event_before(traced: Callable[..., Any]) -> None:
    """Lines are never 0; instructions that the compiler adds belong to where the frame is."""
    source = "def f():\n    with open('/dev/null') as g:\n        1 // 0\ntry:\n    f()\nexcept Exception:\n    pass\n"
    rows = traced(source, granularity=Granularity.INSTRUCTION).trace.rows
    assert all(row.line > 0 for row in rows)


# -- level ---------------------------------------------------------------------------------------


def plain(value: Value) -> str:
    """The rendering without identity numbers."""
    return re.sub(r"#\d+", "", render(value))


def same_at_line_level(trace: Trace, fine: Trace) -> None:
    """The events of a fine trace that are no instructions are those of the coarse one."""

    def told(event: Event) -> tuple[Any, ...]:
        names = {name: plain(value) for name, value in event.locals.items()}
        stack = [plain(value) for value in event.stack] if event.kind in SHOW_STACK else None
        value = plain(event.value) if event.value is not None else None
        caller = json.loads(event.row.caller) if event.row.caller else {}
        where = [caller.get(key) for key in ("frame", "offset", "at", "via")]
        return (event.kind, event.frame, event.function, event.line, event.offset, names, stack, value, where)

    SHOW_STACK = (Kind.CALL, Kind.LINE, Kind.RESUME, Kind.YIELD)
    coarse = [told(event) for event in trace]
    rest = [told(event) for event in fine if event.kind is not Kind.INSTRUCTION]
    for index, (one, other) in enumerate(zip(coarse, rest, strict=False)):
        assert other == one, index
    assert len(rest) == len(coarse)
    output = [event.output for event in trace]
    assert "".join(event.output for event in fine) == "".join(output)


SAME = [
    "class_methods",
    "comprehension_kinds",
    "comprehension_raises",
    "context_classes",
    "coroutine_async_generators",
    "coroutine_by_hand",
    "exception_all_paths",
    "exception_finally",
    "fstrings",
    "generator_pipeline",
    "generator_throw_close",
    "generator_yield_from",
    "loop_hidden_state",
    "loop_on_one_line",
    "scope_class_bodies",
    "settrace_jumps",
    "small_bank",
    "small_queens",
]


@pytest.mark.parametrize(
    "path", spread([p for p in PROGRAMS if p.stem in SAME], 9), ids=lambda path: path.stem
)
def test_line_level_is_the_rest(path: Path) -> None:
    """A program's trace at instruction level without its instructions says what its trace at line level says: kinds,
    frames, places, locals, stacks, values, callers, output."""
    program = Program(id=path.stem, code=path.read_text(), filename=path.name)
    traces = []
    for granularity in Granularity:
        blocks: list[bytes] = []
        run_result = run(program, tracing=Tracing(blocks.append, granularity=granularity))
        assert run_result.outcome is not Outcome.HARNESS_ERROR, run_result.detail
        traces.append(trace_of(blocks))
    same_at_line_level(*traces)
    assert len(traces[1]) > 2 * len(traces[0])


def trace_of(blocks: list[bytes]) -> Trace:
    rows = [row for each in blocks for row in block.rows(each)]
    return Trace([row for row in rows if row.thread == 0])


def test_a_recording_says_its_level(tmp_path: Path) -> None:
    """The level stands in the environment of a recording, in memory and in a file; a line's is `line`."""

    program = Program(
        id="p", code="def f(x):\n    return x + 1\n", mode=Mode.CALL, entry="f", arguments="(1,)"
    )
    summary = record_programs(
        [program], tmp_path, RecordSettings(granularity=Granularity.INSTRUCTION), workers=1
    )
    assert (summary.problems, summary.not_repeatable) == ({}, {})
    (recording,) = Recordings(tmp_path)
    assert recording.environment.granularity == "instruction"
    texts = [event.instruction for event in recording.trace if event.kind is Kind.INSTRUCTION]
    assert texts[-1] == "RETURN_VALUE"
    assert (
        trace(textwrap.dedent, "  a", granularity=Granularity.INSTRUCTION).environment.granularity
        == "instruction"
    )
    assert trace(textwrap.dedent, "  a").environment.granularity == "line"


# -- text ----------------------------------------------------------------------------------------

LIBRARY = [Path(module.__file__ or "") for module in (ast, dis, json.decoder, textwrap, types, pytest)]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def library() -> Iterator[types.CodeType]:
    for path in [*LIBRARY, *PROGRAMS]:
        with warnings.catch_warnings(action="ignore"):
            code = compile(path.read_text(encoding="utf-8"), path.name, "exec", dont_inherit=True)
        yield from codes(code)


def test_the_text_is_what_dis_says() -> None:
    """Name and argument of every instruction of some modules are those that `dis` gives; but targets are offsets,
    constants are bounded, and an argument that dis says nothing of is its number."""
    seen = 0
    for code in library():
        about = CodeFacts(code)
        starts = {i.offset: start for start, i in about.folded.items()}
        for known in dis.get_instructions(code):
            if known.opname in ("EXTENDED_ARG", "RESUME") or starts[known.offset] <= about.first_resume:
                continue
            said = known.argrepr
            if known.opname == "END_ASYNC_FOR":
                said = ""
            elif known.opcode in opcode.hasjrel:
                said = f"to {known.argval}"
            elif known.opcode in opcode.hasconst:
                said = constant_text(code.co_consts[known.arg or 0])
            expected = known.opname if known.arg is None else f"{known.opname} {said or known.arg}"
            assert about.instruction(starts[known.offset]) == expected
            seen += 1
    assert seen > 10_000


def test_the_depth_of_the_stack_is_one() -> None:
    """Whichever way an instruction is reached, the stack that is worked out for it is as high, and never higher
    than the compiler says."""
    for code in library():
        about = CodeFacts(code)
        for number, instruction in enumerate(about.instructions):
            tags = about.before.get(instruction.offset)
            if tags is None:
                continue
            assert len(tags) <= code.co_stacksize
            name, arg = instruction.name, instruction.arg
            after = []
            if instruction.target is not None:
                after.append((instruction.target, len(_after(tags, name, arg, jump=True))))
            if name not in _LEAVES and number + 1 < len(about.instructions):
                after.append(
                    (about.instructions[number + 1].offset, len(_after(tags, name, arg, jump=False)))
                )
            for entry in about.handlers:
                if entry.start <= instruction.offset < entry.end:
                    after.append((entry.target, entry.depth + 1 + entry.lasti))
            for offset, depth in after:
                assert len(about.before[offset]) == depth, (code.co_qualname, instruction, offset)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (..., "Ellipsis"),
        (-0.0, "-0.0"),
        (2j, "2j"),
        ("a\n\udc80", r"'a\n\udc80'"),
        ("x" * 100, "'" + "x" * 60 + "'..."),
        (b"\x00", r"b'\x00'"),
        (1 << 255, str(1 << 255)),
        (-1 << 300, "<int of 301 bits>"),
        ((), "()"),
        ((1,), "(1,)"),
        ((1, ("a", None)), "(1, ('a', None))"),
        (tuple(range(12)), "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...)"),
        (frozenset(), "frozenset()"),
        (frozenset({"c", "a", "b"}), "frozenset({'a', 'b', 'c'})"),
        (constant_text.__code__, "<code constant_text>"),
        (object(), "<constant>"),
    ],
)
def test_constants(value: Any, text: str) -> None:
    """Constants are bounded, show no address and do not depend on the hash seed."""
    assert constant_text(value) == text
