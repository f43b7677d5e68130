"""What models are given: the program, the state, the line that it is at."""

import pytest

from deskcheck.notation.layout import current_line, program_text, step_prompt, trace_prompt
from deskcheck.recording import Mode, Program

CODE = """\
def add(a, b):
    return a + b


def f(n):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total
"""


def test_program_is_numbered_and_ended_by_an_empty_line() -> None:
    program = Program(id="p", code=CODE, mode=Mode.CALL, entry="f", arguments="(2)")
    assert program_text(program).splitlines()[:2] == ["1|def add(a, b):", "2|    return a + b"]
    assert program_text(program).endswith("9|    return total\n\n")
    assert trace_prompt(program, "compact") == "f(2)\ncompact\n"


@pytest.mark.parametrize(
    ("code", "run"),
    [
        ("def f(n):\n    yield n\n", "list(f(2))"),
        ("async def f(n):\n    return n\n", "asyncio.run(f(2))"),
        ("async def f(n):\n    yield n\n", "[value async for value in f(2)]"),
        ("def f(n):\n    return (m for m in range(n))\n", "f(2)"),
        ("def f(n):\n    def g():\n        yield n\n    return n\n", "f(2)"),
    ],
)
def test_a_call_that_only_begins_something_is_shown_with_what_runs_it(code: str, run: str) -> None:
    """The trace that is asked for has all that a generator or a coroutine does; the bare call does none of it."""
    program = Program(id="p", code=code, mode=Mode.CALL, entry="f", arguments="(2)")
    assert trace_prompt(program, "compact") == f"{run}\ncompact\n"


def test_step_repeats_the_line_that_goes_on() -> None:
    state = "globals: def add, def f\nf 7: n=2, total=0"
    assert step_prompt(CODE.splitlines(), state, 2) == f"{state}\n7|    for i in range(n):\n+2\n"


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ("f 7: n=2", 7),
        ("call f 5: n=2", 5),
        ("return f 9: n=2 -> 1", None),
        ("frame f 8: n=2, total=0\nreturn add 2 from 8:16-29: a=0, b=0 -> 0", 8),
        ("frame f 8: n=2\ncall '<lambda>' 3 from 8:1-2 via sorted: a=1", 3),
        ("frame f 8\nraise add 2 from 8:16-29: a=0 ! KeyError('k')", 2),
        ("g of 'other.py' 3: x=1", None),
        ("instruction f 7@14 'LOAD_FAST n': n=2 | 3", 7),
        ("", None),
        ("nonsense", None),
        ("f twelve: n=2", None),
    ],
)
def test_current_line(state: str, line: int | None) -> None:
    assert current_line(state) == line
