"""Programs to make faster: the count of instructions is that of a tracer of ten lines, and the same under load."""

import subprocess
import sys
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.scoring.score import AnswerScore, score_answer
from deskcheck.ask.scoring.speed import Fast, run_fast
from deskcheck.sources.sets.coding import CodingTask, StdinCase
from tests.ask.conftest import Quick, table

SLOW = "def f(n):\n    t = 0\n    for i in range(n):\n        t += i * i\n    return t\n"
FAST = "def f(n):\n    return (n - 1) * n * (2 * n - 1) // 6\n"
TASK = CodingTask(
    id="squares",
    prompt="Sum of squares below n.",
    task="speed",
    code=SLOW,
    entry_point="f",
    tests=("assert f(10) == 285", "assert f(2000) == 2664667000"),
    reference=FAST,
)
SAMPLE = program_sample(TASK)


def fast(code: str, judge: Quick, task: CodingTask = TASK) -> Fast:
    return run_fast(program_sample(task).data, code, judge)


def scored(code: str, judge: Quick, task: CodingTask = TASK) -> AnswerScore:
    return score_answer(program_sample(task), f"{OPEN}{code}{CLOSE}", judge=judge)


def counted(code: str) -> int:
    """Instructions of a code and of f(10) and f(2000), by a trace function of our own."""
    found = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal found
        if frame.f_code.co_filename != "counted.py":
            return None
        frame.f_trace_opcodes = True
        found += event == "opcode"
        return trace

    scope: dict[str, Any] = {}
    before = sys.gettrace()
    sys.settrace(trace)
    exec(compile("a = 1", "counted.py", "exec"), {})  # 3.12 looks at f_trace_opcodes when a function is set
    found = 0
    sys.settrace(trace)
    try:
        exec(compile(code, "counted.py", "exec"), scope)
        scope["f"](10)
        scope["f"](2000)
    finally:
        sys.settrace(before)
    return found


ANSWERS = [
    SLOW,
    FAST,
    "def g(i):\n    return i * i\ndef f(n):\n    return sum(g(i) for i in range(n))\n",
    "def f(n):\n    t = i = 0\n    while i < n:\n        t, i = t + i * i, i + 1\n    return t\n",
]


def test_the_count_is_that_of_another_tracer(judge: Quick) -> None:
    """But for the few instructions of what starts the answer, which are the same for all."""
    ours = [fast(code, judge).instructions for code in ANSWERS]
    theirs = [counted(code) for code in ANSWERS]
    assert all(events is not None for events in ours)
    assert len({(events or 0) - other for events, other in zip(ours, theirs, strict=True)}) == 1
    assert 0 < (ours[1] or 0) - theirs[1] < 60


def test_how_a_program_is_laid_out_does_not_count(judge: Quick) -> None:
    one_line = "def f(n):\n    t = 0\n    for i in range(n): t += i * i\n    return t\n"
    apart = SLOW.replace("i * i", "(\n            i\n            *\n            i\n        )")
    assert len({fast(code, judge).instructions for code in (SLOW, one_line, apart)}) == 1


def test_the_same_figure_twice_and_beside_busy_processes(judge: Quick) -> None:
    alone = [fast(code, judge).instructions for code in ANSWERS[:2]]
    busy = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(4)]
    try:
        beside = [fast(code, judge).instructions for code in ANSWERS[:2]]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert alone == beside


def test_scores(judge: Quick) -> None:
    """Faster is right; as fast, slower or wrong is not. What is wrong costs what the slow program does."""
    good = scored(FAST, judge)
    assert (good.score, good.reason, good.metrics["correct"]) == (1, "", 1)
    assert 0 < good.metrics["cost"] < 0.01
    same = scored(SLOW, judge)
    assert (same.score, same.metrics["correct"], same.metrics["cost"]) == (0, 1, 1)
    assert same.reason.startswith("right, but not faster: ")
    wrong = scored("def f(n):\n    return 285", judge)
    assert (wrong.score, wrong.metrics["correct"], wrong.metrics["cost"]) == (0, 0, 1)
    assert wrong.metrics["tests_passed"] == 0.5
    for none in (score_answer(SAMPLE, "", judge=judge), scored("def g(): pass", judge)):
        assert (none.score, none.metrics["correct"], none.metrics["cost"]) == (0, 0, 1)
    assert SAMPLE.question == "speed"
    assert "This code is right, and slow." in SAMPLE.prompt
    assert SAMPLE.data["known_bad"] == [SLOW]


HIDDEN = table("attacks/speed")


@pytest.mark.parametrize("name", HIDDEN)
def test_what_would_not_be_counted_is_refused(name: str, judge: Quick) -> None:
    found = fast(HIDDEN[name], judge)
    assert not found.tested.right
    # From 3.14 on an interpreter's shell shows the error of the refusal, and goes on.
    assert "is not counted" in found.reason or "KeyError: 'x'" in found.reason


IN_A_THREAD = (
    f"import threading\n{SLOW}slow = f\ndef f(n):\n    found = []\n"
    "    thread = threading.Thread(target=lambda: found.append(slow(n)))\n    thread.start()\n"
    "    thread.join()\n    return found[0]\n"
)


def test_work_that_is_hidden_is_counted(judge: Quick) -> None:
    """By a trace function taken away, in a thread, in a generator; what the library makes is no answer's."""
    for code in (
        f"import sys, threading\nsys.settrace(None)\nsys.setprofile(None)\nthreading.settrace(None)\n{SLOW}",
        IN_A_THREAD,
        "def g(n):\n    for i in range(n):\n        yield i * i\ndef f(n):\n    return sum(t for t in g(n))\n",
    ):
        found = fast(code, judge)
        assert found.tested.right, found
        assert found.reason.startswith("right, but not faster")
        assert (found.instructions or 0) > 4000
    library = (
        "from collections import namedtuple\nfrom dataclasses import dataclass\nimport ast, decimal, enum, statistics\n"
        "P = namedtuple('P', 'a b')\nx = eval('(1 + 2) * 3')\ny = ast.literal_eval('[1, {2: 3}]')\n"
        "import runpy, ntpath, importlib.util, json, re, typing, fractions\n@dataclass(order=True, frozen=True)\nclass D:\n    a: int\n    b: list = None\nassert D(1) < D(2)\n"
        "class C(enum.Enum):\n    A = 1\n"
    )
    assert fast(library + FAST, judge).reason == ""


def test_a_script(judge: Quick) -> None:
    slow = "n = int(input())\nt = 0\nwhile n:\n    t += n\n    n -= 1\nprint(t)\n"
    quick = "n = int(input())\nprint(n * (n + 1) // 2)\n"
    cases = (StdinCase(stdin="1000\n", stdout="500500"), StdinCase(stdin="5", stdout="15"))
    task = replace(TASK, code=slow, entry_point=None, tests=(), cases=cases, reference=quick)
    found = fast(quick, judge, task)
    assert (found.reason, found.slow) == ("", fast(slow, judge, task).instructions)
    more = (found.slow or 0) - (found.instructions or 0)
    assert 8 * (1000 + 5) < more < 20 * (1000 + 5), found
