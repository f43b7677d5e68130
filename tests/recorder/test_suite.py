"""``pytest:PATH``: a small project with tests of every kind, recorded while they run."""

import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from deskcheck.ask import score_answer
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.fences import fenced
from deskcheck.files import FolderLock
from deskcheck.notation import moments, state_text
from deskcheck.recorder.settings import SuiteSettings
from deskcheck.recorder.suite import SuiteSummary, _SuiteRecorder, find_suite, record_suite
from deskcheck.recorder.suite_cache import SuiteCache
from deskcheck.recording import InputError, Kind, Outcome, Recording, RecordingError, SandboxError, render
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.observed.suite import ObservedTests, Observing, observe
from deskcheck.tracer.limits import TraceLimits
from tests.command import PROCESS, deskcheck
from tests.conftest import unmeasured

WORDS = """
import functools

from shop.tools import keep, LIMIT

SIGN = "!"


def shout(words, mark=None, *, loud=True):
    out = []
    for word in words:
        if keep(word):
            out.append((word.upper() if loud else word) + (mark or SIGN))
    return out


def total(first, /, *others, start=0, **more):
    result = first + start
    for number in [*others, *more.values()]:
        result += number
    return result


def countdown(n):
    while n:
        yield n
        n -= 1


def divide(a, b):
    return a // b


def same(x):
    return x


def order(names):
    first = list(set(names))
    return len(first)


@functools.lru_cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def twice(function, x):
    def again(y):
        return function(y)
    return again(function(x))


def spin(n):
    for i in range(n):
        pass
    return n


async def later():
    return 1


def stage():
    return "a-stage-of-somebody"
"""

STACK = """
class Stack:
    def __init__(self, items=()):
        self.items = list(items)

    def push(self, item):
        self.items.append(item)
        print("pushed", item)
        return len(self.items)

    @property
    def top(self):
        return self.items[-1]

    @staticmethod
    def depth(items):
        n = 0
        for _ in items:
            n += 1
        return n

    @classmethod
    def of(cls, items):
        stack = cls()
        stack.items += items
        return stack


class Other(Stack):
    pass
"""

TESTS = """
import asyncio
import os
import sys
import threading

import pytest
from helper import helped
from shop import words
from shop.stack import Other, Stack
from shop.words import countdown, divide, fibonacci, later, order, same, shout, spin, total, twice


@pytest.mark.parametrize("given", [["a"], ["a", "_b"], [], ["b"]])
def test_shout(given):
    assert isinstance(shout(given), list)
    shout(given, "?", loud=False)


def test_again():
    shout(["a"])
    shout(["a"])


def test_total():
    assert total(1, 2, start=4, x=3) == 10
    assert total(1) == 1


def test_wrong():
    assert total(5) == 6


def test_error(missing):
    pass


@pytest.mark.skip
def test_skipped():
    pass


@pytest.mark.xfail
def test_known():
    divide(1, 0)


def test_divide():
    with pytest.raises(ZeroDivisionError):
        divide(2, 0)


def test_patched(monkeypatch):
    monkeypatch.setattr(words, "SIGN", "#")
    assert shout(["patched"]) == ["PATCHED#"]


@pytest.fixture
def stack():
    return Stack([1])


def test_stack(stack, capsys):
    assert stack.push(3) == 2
    assert capsys.readouterr().out == "pushed 3\\n"
    assert stack.top == 3
    assert Stack.depth([1, 2]) == 2
    assert Stack.of([4]).items == [4]
    assert Other.of([5]).items == [5]


def test_generators():
    assert list(countdown(3)) == [3, 2, 1]
    assert asyncio.run(later()) == 1


def test_nobody_is_watching():
    assert sys.gettrace() is None
    assert same("watched") == "watched"
    assert sys.gettrace() is None
    seen = []
    sys.settrace(lambda *args: seen.append(args))
    same("traced")
    sys.settrace(None)
    assert len(seen) == 1


def test_fork():
    child = os.fork()
    if child == 0:
        os._exit(same(7))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_thread():
    thread = threading.Thread(target=same, args=("elsewhere",))
    thread.start()
    thread.join()


def test_orders():
    assert order(["pear", "plum", "fig", "apple", "quince", "cherry"]) == 6


def test_deep():
    def endless(n):
        return endless(n + 1)
    with pytest.raises(RecursionError):
        twice(endless, 1)


def test_others(tmp_path):
    assert fibonacci(5) == 5
    assert twice(lambda x: x + 1, 1) == 3
    assert same(float("nan")) != 1
    assert same(tmp_path).exists()
    assert same("x" * 3000)
    assert helped(1) == 1
    assert spin(2000) == 2000
    words.stage()
"""


def project(folder: Path, tests: str = TESTS) -> Path:
    """A project with its sources in src/ and things that are not its own lying about."""
    for name, text in {
        "pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\n",
        "src/shop/__init__.py": "",
        "src/shop/words.py": WORDS,
        "src/shop/stack.py": STACK,
        "src/shop/tools.py": "LIMIT = 3\n\n\ndef keep(word):\n    return word[:1] != '_'\n",
        "tests/helper.py": "def helped(x):\n    return x\n",
        "tests/test_shop.py": tests,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    return folder


def record(path: object, out: Path, **options: Any) -> SuiteSummary:
    """options: of `SuiteSettings`, or ``progress``."""
    told = {"progress": options.pop("progress")} if "progress" in options else {}
    settings = SuiteSettings(**{"trace_limits": TraceLimits(events=1000)} | options)
    return record_suite(find_suite(f"pytest:{path}"), out, settings, workers=1, **told)


def plain(folder: Path, *arguments: str) -> dict[str, str]:
    """Outcome of every test as pytest itself tells it."""
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONHASHSEED": "0"}
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    _, _, lines = ran.stdout.rpartition("short test summary info")
    told = [line.split()[:2] for line in lines.splitlines() if "::" in line.partition(" - ")[0]]
    skipped = {"tests/test_shop.py::test_skipped": "skipped"} if "1 skipped" in ran.stdout else {}
    return {words[1]: words[0].lower().replace("xfail", "xfailed") for words in told} | skipped


@pytest.fixture(scope="module", autouse=True)
def only_what_pytest_brings() -> Iterator[None]:
    """The suites here need no plugin, and those that are installed take more time than the suites."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="module", autouse=True)
def nobody_is_watching() -> Iterator[None]:
    """As `test_nobody_is_watching` above expects, and the recorder: it leaves out what is traced by others."""
    with unmeasured():
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("shop"))


def test_a_relative_folder_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests run in the project's folder, and leave nothing of ours there."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "own.py").write_text("def twice(n):\n    return n + n\n")
    (there / "test_own.py").write_text("from own import twice\n\ndef test():\n    assert twice(2) == 4\n")
    monkeypatch.chdir(tmp_path)
    assert record("there", Path("runs")).recorded == 1
    assert {path.name for path in there.iterdir()} - {"__pycache__"} == {"own.py", "test_own.py"}


@pytest.fixture(scope="module")
def recorded(shop: Path) -> tuple[SuiteSummary, dict[str, Recording]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOP_STAGE", "a-stage-of-somebody")
        summary = record(shop, shop / "runs")
    return summary, {recording.id: recording for recording in Recordings(shop / "runs")}


def lines(recording: Recording) -> list[int]:
    return [row.line for row in recording.trace.rows if row.kind == Kind.LINE]


def test_a_call_is_recorded_where_it_happens(recorded: tuple[SuiteSummary, dict[str, Recording]]) -> None:
    """Inputs, events in both modules and the result; where it came from; what the source is."""
    recording = recorded[1]["shop.words.shout(['a', '_b'])"]
    assert (recording.run_result.result, recording.run_result.result_builtin) == ("['A!']", True)
    assert {row.file for row in recording.trace.rows} == {"shop/words.py", "shop/tools.py"}
    assert recording.source("shop/words.py") == WORDS
    assert recording.trace[0].locals["words"].items[1].atom == "_b"
    assert (recording.trace[0].kind, recording.trace.rows[-1].kind) == (Kind.CALL, Kind.RETURN)
    program = recording.program
    assert (program.module, program.entry, program.source) == ("shop.words", "shout", "src/shop/words.py")
    assert program.extra["test"] == "tests/test_shop.py::test_shout[given1]"
    assert recording.environment.hash_seed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "form"),
    [
        ("words.shout(['a'], '?', loud=False)", "literal"),
        ("words.total(1, 2, start=4, x=3)", "literal"),
        ("words.total(1)", "literal"),
        ("words.fibonacci(5)", "shown"),  # another call of it may answer from the cache
        ("words.twice(<function test_others.<locals>.<lambda>#1>, 1)", "shown"),
        ("words.same(nan)", "shown"),
        ("words.same('watched')", "literal"),
        ("stack.Stack.push(Stack#1(items=[1]), 3)", "shown"),
        ("stack.Stack.top(Stack#1(items=[1, 3]))", "shown"),
        ("stack.Stack.depth([1, 2])", "literal"),
        ("stack.Stack.of([4])", "literal"),
        ("stack.Stack.of(<class Other#1>, [5])", "shown"),  # of the program
        ("stack.Stack.__init__(Stack#1(), [1])", "shown"),  # there is nothing in it yet
    ],
)
def test_arguments_are_written_as_in_a_call(
    recorded: tuple[SuiteSummary, dict[str, Recording]], call: str, form: str
) -> None:
    """Defaults are left out, objects are shown, and what can be evaluated again is told apart."""
    assert f"shop.{call}" in recorded[1]
    assert recorded[1][f"shop.{call}"].program.extra["arguments"] == form


def test_functions_among_arguments_are_shown(recorded: tuple[SuiteSummary, dict[str, Recording]]) -> None:
    call = "shop.words.twice(<function test_others.<locals>.<lambda>#1>, 1)"
    recording = recorded[1][call]
    assert recording.program.extra["functions"] == {"test_others.<locals>.<lambda>": "lambda x: x + 1"}
    (sample,) = QUESTIONS["output"](recording)
    assert f"{call.removeprefix('shop.words.')}\n" in sample.parts["question"]
    assert "<lambda>>:\n```python\nlambda x: x + 1\n```" in sample.parts["question"]
    assert sample.answer == "3"


def test_steps_go_through_several_files(recorded: tuple[SuiteSummary, dict[str, Recording]]) -> None:
    """Each answer is what the recording says, and a frame of another file names it."""
    several = next(r for r in recorded[1].values() if len({row.file for row in r.trace.rows}) > 1)
    own = several.trace.rows[0].file
    (other,) = {row.file for row in several.trace.rows} - {own}
    samples = list(QUESTIONS["step"](several, per_recording=1000))
    texts = [state_text(moment) for moment in moments(several.trace, file=own)]
    assert samples
    for sample in samples:
        assert f"File {own}" in sample.parts["program"]
        assert f"File {other}" in sample.parts["program"]
        assert sample.parts["question"].startswith(texts[sample.data["state"]])
        assert sample.parts["question"].endswith("+1\n")
        assert sample.answer == texts[sample.data["state"] + 1]
        assert score_answer(sample, fenced(sample.answer)).score == 1
    assert any(other in sample.answer for sample in samples)


def test_what_is_not_recorded_is_counted(recorded: tuple[SuiteSummary, dict[str, Recording]]) -> None:
    """Each reason with its number: nothing is dropped in silence."""
    summary, recordings = recorded
    assert summary.left_out["the same arguments again"] >= 2
    assert summary.left_out.get("in another thread", 0) == (
        sys.version_info >= (3, 12)
    )  # 3.11 does not see it
    assert summary.left_out["arguments of more than 2000 characters"] == 1
    assert summary.left_out["more than 1000 events"] == 1  # spin(2000)
    assert summary.left_out["inside a recorded call"] > 10
    assert summary.functions_left_out == {"a generator or coroutine": 2, "inside a function": 1}
    assert not any("helped" in name or "test_" in name.partition("(")[0] for name in recordings)
    assert not any("elsewhere" in name for name in recordings)


def test_what_a_call_wrote_and_raised_is_part_of_it(
    recorded: tuple[SuiteSummary, dict[str, Recording]],
) -> None:
    """Output goes with its event although pytest captures it; an exception is an ending."""
    pushed = recorded[1]["shop.stack.Stack.push(Stack#1(items=[1]), 3)"]
    assert pushed.run_result.stdout == "pushed 3\n"
    assert "".join(row.output or "" for row in pushed.trace.rows) == "pushed 3\n"
    divided = recorded[1]["shop.words.divide(2, 0)"]
    assert divided.outcome is Outcome.RAISED
    assert (divided.run_result.exception, divided.run_result.result) == ("ZeroDivisionError", None)


def test_a_recording_is_true_without_its_test_or_says_that_it_is_not(
    recorded: tuple[SuiteSummary, dict[str, Recording]],
) -> None:
    """What depends on the test's patches, on the order of a set, or on a path that differs each time, is told."""
    recordings = recorded[1]
    assert recordings["shop.words.shout(['a'])"].program.extra["alone"] is True
    assert recordings["shop.words.shout(['a'])"].repeatable is True
    patched = recordings["shop.words.shout(['patched'])"]
    assert patched.repeatable is False
    assert (patched.difference or "").startswith("alone, without its test: ")
    ordered = next(r for name, r in recordings.items() if name.startswith("shop.words.order("))
    assert ordered.repeatable is False
    assert "first is" in (ordered.difference or "")


def test_what_the_environment_holds_is_masked_alone_too(
    recorded: tuple[SuiteSummary, dict[str, Recording]],
) -> None:
    """A call that gives the value of an environment variable is the same without its test."""
    stage = recorded[1]["shop.words.stage()"]
    assert stage.program.extra["alone"] is True
    assert stage.run_result.result == "'[masked]'"


def test_the_tests_come_out_as_without_us(shop: Path, tmp_path: Path) -> None:
    """Every test has the outcome that it has when nobody watches, the one about trace functions too."""
    expected = plain(shop)
    with observe(
        find_suite(f"pytest:{shop}"),
        Observing(per_function=20, budget=1000, trace_limits=TraceLimits(events=1000), wall_s=600),
        hash_seed=0,
        journal_path=tmp_path / "run",
    ) as observed:
        assert observed.ended == "failed"
        assert observed.tests == expected
    assert Counter(expected.values()) == Counter(passed=16, failed=1, error=1, skipped=1, xfailed=1)


@pytest.mark.slow
def test_a_budget_is_shared_fairly(shop: Path, tmp_path: Path) -> None:
    """Every function gets its first recording before any gets its second; ways through the code come first."""
    summary = record(f"{shop}/tests/test_shop.py::test_shout", tmp_path / "a", per_function=2, repeat=False)
    kept = [recording for recording in Recordings(tmp_path / "a") if recording.program.entry == "shout"]
    assert len(kept) == len({tuple(lines(recording)) for recording in kept}) == 2
    summary = record(shop, tmp_path / "b", calls=6, repeat=False)
    assert (summary.recorded, summary.functions) == (6, 6)
    assert summary.left_out["recorded, but over the budget"] > 10
    assert all(recording.repeatable is None for recording in Recordings(tmp_path / "b"))


@pytest.mark.slow
def test_the_same_command_again_records_nothing(shop: Path, tmp_path: Path) -> None:
    """What the folder holds is skipped."""
    target = f"{shop}/tests/test_shop.py::test_total"
    assert record(target, tmp_path / "runs").recorded == 2
    again = record(target, tmp_path / "runs")
    assert (again.recorded, again.skipped) == (0, 2)


@pytest.mark.slow
def test_a_suite_that_breaks_off_leaves_what_it_had(tmp_path: Path) -> None:
    """A process that kills itself, and one that takes too long: the calls until then are recordings."""
    broken = "import os\nfrom shop.words import same\n\ndef test_a():\n    same(1)\n\ndef test_b():\n    {}\n"
    crash = record(project(tmp_path / "a", broken.format("os.kill(os.getpid(), 11)")), tmp_path / "runs")
    assert (crash.ended, crash.recorded, crash.tests) == ("killed by SIGSEGV", 1, {"passed": 1})
    endless = project(tmp_path / "b", broken.format("while True: pass"))
    slow = record(endless, tmp_path / "runs2", wall_s=12, repeat=False)
    assert (slow.ended, slow.recorded) == ("timed out after 12 s", 1)


@pytest.mark.slow
def test_a_file_that_does_not_parse_is_one_test_less(tmp_path: Path) -> None:
    """The others run, and it is told which was not collected."""
    folder = project(tmp_path, "from shop.words import same\n\ndef test_a():\n    assert same(1) == 1\n")
    (folder / "tests/test_broken.py").write_text("def test_b(:\n")
    summary = record(folder, tmp_path / "runs")
    assert (summary.recorded, summary.tests) == (1, {"passed": 1, "not collected": 1})
    assert "SyntaxError" in Path(summary.output).read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "options", "message"),
    [
        ("x = 1\n", {}, "pytest finds no tests there"),
        ("def test_a():\n    pass\n", {}, "1 tests ran, but no call of a function in"),
        ("import nowhere_to_be_found\n", {}, "no test finished"),
        (
            "from shop.words import same\ndef test_a():\n    same(1)\n",
            {"packages": ["other"]},
            "packages other",
        ),
    ],
)
def test_nothing_to_record_is_an_error_that_says_why(
    tmp_path: Path, tests: str, options: dict[str, Sequence[str]], message: str
) -> None:
    """No tests, no own functions called, tests that cannot be imported, another package."""
    suite = find_suite(f"pytest:{project(tmp_path, tests)}", **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        record_suite(suite, tmp_path / "runs")


@pytest.mark.slow
def test_a_package_can_be_named(tmp_path: Path) -> None:
    """--package: the functions of what is imported under that name, wherever it lies."""
    folder = project(tmp_path, "import textwrap\n\ndef test_a():\n    assert textwrap.dedent('  a') == 'a'\n")
    suite = find_suite(f"pytest:{folder}", packages=["textwrap"])
    summary = record_suite(suite, tmp_path / "runs", workers=1)
    assert (summary.recorded, summary.alone) == (1, 1)


@pytest.mark.slow
def test_an_interpreter_without_pytest_is_told_how_to_get_it(shop: Path, tmp_path: Path) -> None:
    """--python: the error holds the command for exactly that interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare/bin/python"
    with pytest.raises(InputError, match=f"has no pytest. Install it with: {python} -m pip install pytest"):
        record_suite(find_suite(f"pytest:{shop}", python=str(python)), tmp_path / "runs")
    assert not (tmp_path / "runs/.suite").exists(), "the next start would hear of the missing pytest again"
    with pytest.raises(InputError, match="is not a program that can be started"):
        find_suite(f"pytest:{shop}", python="no-such-python")
    with pytest.raises(InputError, match="no such file or folder"):
        find_suite("pytest:nowhere/tests")


STOPPING = """
import os, time
import pytest
from shop.words import divide, same

def test_a():
    with open("began", "a") as log:
        log.write("a")
    same(1)

def test_b():
    same(2)
    runs = len(open("began").read())
    if runs == int(os.environ["STOP_IN"]):
        with open("pid.part", "w") as out:
            out.write(str(os.getpid()))
        os.rename("pid.part", "pid")
        while True:
            time.sleep(0.1)

def test_c():
    divide(3, 1)
"""
"""Its second test never ends in the run of the tests that has the number STOP_IN: without watching, recording, the
same again."""


@pytest.mark.parametrize(
    ("number", "stop_in"),
    [
        pytest.param(number, stop_in, marks=pytest.mark.slow if slow else pytest.mark.exhaustive)
        for number, stop_in, slow in [
            (signal.SIGINT, 1, True),
            (signal.SIGINT, 2, False),
            (signal.SIGTERM, 2, False),
            (signal.SIGTERM, 3, False),
            (signal.SIGKILL, 2, False),
            (signal.SIGKILL, 3, True),
        ]
    ],
)
def test_what_is_stopped_goes_on_where_it_was(
    tmp_path: Path, number: signal.Signals, stop_in: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it ends: the tests end with it, what was recorded is there, and the same command does the rest."""
    folder = project(tmp_path, STOPPING)
    command = [*PROCESS, "record", f"pytest:{folder}", "--out", str(tmp_path / "runs")]
    # Where the tests run in the background, Ctrl-C is ignored, and so it would be in what they start.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    monkeypatch.setenv("STOP_IN", str(stop_in))
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=listening)
    wait_for(lambda: (folder / "pid").exists() or process.poll() is not None)
    pid = int((folder / "pid").read_text())
    if number == signal.SIGKILL:  # it gets no time to keep what it has been told
        wait_for(lambda: is_idle(process.pid))
    process.send_signal(number)
    _, said = process.communicate(timeout=LIMIT_S)
    wait_for(lambda: not runs(pid))
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert "rerun the command to resume" in said
        if stop_in > 1:
            kept = {recording.id: recording.repeatable for recording in Recordings(tmp_path / "runs")}
            assert kept == dict.fromkeys(EXPECTED[: 2 if stop_in == 2 else 3])
    monkeypatch.setenv("STOP_IN", "0")
    done = deskcheck("record", f"pytest:{folder}", "--out", tmp_path / "runs", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["recorded"], summary["tests"]) == (0, 3, {"passed": 3})
    kept = {recording.id: recording.repeatable for recording in Recordings(tmp_path / "runs")}
    assert kept == dict.fromkeys(EXPECTED, True)
    assert (folder / "began").read_text() == "aaa", "a test that had ended was run again"
    dropped = "output after this point was discarded" in Path(summary["output"]).read_text()
    assert dropped == ((number, stop_in) == (signal.SIGKILL, 2)), "unmasked output, or none that could be"
    assert {path.name for path in (tmp_path / "runs").iterdir() if path.suffix != ".parquet"} == {
        "pytest-output.txt"
    }


MANY = """
import os
import time
from shop.stack import Stack
from shop.words import divide, order, same, spin

def test_a():
    with open("began", "a") as log:
        log.write("a")
    for k in range(260):
        same(k)
        divide(k, 1)
        order([str(k)])
        Stack([k]).push(k)

def test_b():
    for k in range(300, 340):
        same(k)
    if len(open("began").read()) == int(os.environ["STOP_IN"]):
        open("pid", "w").close()
        while True:
            time.sleep(0.1)
    for k in range(300, 340):
        divide(k, 1)

def test_c():
    for k in range(400, 700):
        same(k)
        spin(k)
"""


@pytest.mark.slow
def test_what_goes_on_draws_the_same_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many calls of few functions, in tests before, in and after the one in which it was killed."""
    folder = project(tmp_path, MANY)
    chosen = ("--per-function", "6", "--calls", "12", "--no-repeat")
    monkeypatch.setenv("STOP_IN", "1")
    command = [*PROCESS, "record", f"pytest:{folder}", "--out", str(tmp_path / "stopped"), *chosen]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    wait_for(lambda: (folder / "pid").exists() or process.poll() is not None)
    assert process.poll() is None
    wait_for(lambda: is_idle(process.pid))
    process.kill()
    process.communicate()
    monkeypatch.setenv("STOP_IN", "0")
    kept = []
    for out in ("stopped", "whole"):
        done = deskcheck(*command[3:5], "--out", tmp_path / out, *chosen, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        kept.append(Recordings(tmp_path / out).ids)
    assert (folder / "began").read_text() == "aa", "the test that had ended was not run again"
    assert len(kept[0]) == 12
    assert kept[0] == kept[1]


LIMIT_S = 300
EXPECTED = ["shop.words.same(1)", "shop.words.same(2)", "shop.words.divide(3, 1)"]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_idle(pid: int) -> bool:
    """Whether a process does next to nothing for half a second."""

    def ticks() -> int:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return int(user) + int(system)

    before = ticks()
    time.sleep(0.5)
    return ticks() - before < 2


def runs(pid: int) -> bool:
    """Whether there is such a process; one that has ended and that nobody waited for is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_changed_tests_are_run_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an interrupted command had recorded of a file that is another now is not used."""
    folder = project(tmp_path, STOPPING)
    monkeypatch.setenv("STOP_IN", "2")
    command = [*PROCESS, "record", f"pytest:{folder}", "--out", str(tmp_path / "runs")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_for(lambda: (folder / "pid").exists() or process.poll() is not None)
    process.kill()
    process.wait()
    (folder / "src/shop/words.py").write_text(WORDS.replace("return x", "y = x\n    return y"))
    monkeypatch.setenv("STOP_IN", "0")
    record(folder, tmp_path / "runs")
    recordings = {recording.id: recording for recording in Recordings(tmp_path / "runs")}
    assert sorted(recordings) == sorted(EXPECTED)
    assert "y" in recordings["shop.words.same(1)"].trace[-1].locals
    assert (folder / "began").read_text() == "aaaaa"


TELLING = """
import os
from shop.words import divide, same

def test_a(capsys):
    same(os.environ.get("MARKER_TOKEN"))
    with capsys.disabled():
        print("the token is", os.environ.get("MARKER_TOKEN"))

def test_b():
    divide(2, 1)
"""


@pytest.mark.slow
def test_another_environment_does_not_tell_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the command goes on without a variable, its value is in nothing that is kept of before.

    It ends as a folder stands where the output goes: that is told as what a full disk is.
    """
    folder = project(tmp_path, TELLING)
    monkeypatch.setenv("MARKER_TOKEN", "sk-hunter2hunter2")
    (tmp_path / "runs/pytest-output.txt").mkdir(parents=True)
    with pytest.raises(RecordingError, match="cannot save the output of the tests: Is a dir"):
        record(folder, tmp_path / "runs")
    for path in (path for path in (tmp_path / "runs").rglob("*") if path.is_file()):
        assert b"hunter2" not in path.read_bytes()
    (tmp_path / "runs/pytest-output.txt").rmdir()
    monkeypatch.delenv("MARKER_TOKEN")
    summary = record(folder, tmp_path / "runs")
    assert summary.recorded == 2
    told = json.dumps(summary.to_dict()) + str(
        [without_sources(t) for t in (tmp_path / "runs").glob("*.parquet")]
    )
    assert "hunter2" not in told
    assert "shop.words.same('[masked]')" in told
    assert "the token is [masked]" in Path(summary.output).read_text()


@pytest.mark.slow
def test_a_second_interrupt_leaves_nothing_unchecked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it comes, and also where the next command has another option."""
    folder = project(tmp_path, TELLING)
    keep, times = _SuiteRecorder.write, []

    def stop(*arguments: Any, **options: Any) -> None:
        times.append(1)
        if len(times) == 3:
            raise KeyboardInterrupt
        keep(*arguments, **options)

    def interrupt(what: str, done: int, of: int) -> None:
        if what == "tests, again" and not times:
            times.append(1)
            raise KeyboardInterrupt

    monkeypatch.setattr(_SuiteRecorder, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        record(folder, tmp_path / "runs", progress=interrupt)
    assert [recording.repeatable for recording in Recordings(tmp_path / "runs")] == [None]
    monkeypatch.setattr(_SuiteRecorder, "write", keep)
    remove, held = SuiteCache.remove, []

    def watched(kept: SuiteCache) -> None:
        held.append(FolderLock.held_here(tmp_path / "runs"))
        remove(kept)

    monkeypatch.setattr(SuiteCache, "remove", watched)
    summary = record(folder, tmp_path / "runs", per_function=7)
    assert (summary.recorded, summary.skipped) == (2, 0)
    assert [recording.repeatable for recording in Recordings(tmp_path / "runs")] == [True, True]
    assert not (tmp_path / "runs/.suite").exists()
    assert held == [True], "somebody else could have begun there meanwhile"


def test_an_interpreter_that_cannot_be_started_is_our_error(tmp_path: Path) -> None:
    """Here: as its folder is gone."""
    suite = ObservedTests(arguments=("tests",), root=tmp_path / "gone")
    how = Observing(per_function=1, budget=1, trace_limits=TraceLimits(), wall_s=600)
    look = observe(suite, how, hash_seed=0, journal_path=tmp_path / "run")
    with pytest.raises(SandboxError, match=r"cannot start .* in .*gone: No such file"), look:
        pass


BUSY = """
import time
from shop.words import total

def test_many():
    for n in range(3000):
        total(n, *range(400))
"""


@pytest.mark.exhaustive
def test_recording_takes_a_multiple_of_what_the_tests_take(tmp_path: Path) -> None:
    """Where every call would cost hundreds of times as much recorded, fewer are; that is said."""
    folder = project(tmp_path, BUSY)
    few = record(folder, tmp_path / "few", times=4, calls=1000, per_function=1000)
    many = record(folder, tmp_path / "many", times=12, calls=1000, per_function=1000)
    assert 0 < few.recorded < many.recorded
    assert few.left_out["recording had used up its time"] > 0
    for summary, times in ((few, 4), (many, 12)):
        assert summary.cost_s is not None
        assert summary.tests_s is not None
        assert summary.cost_s < 2.5 * times * summary.tests_s


VARYING = """
TAG = hash("another one in each run")
TABLE = {TAG: [TAG]}


class Thing:
    pass


SAME = Thing()
SAME.number = 1
NAMES = {"a": 1, "b": [SAME]}


def plain(x):
    return x + 1


def direct(x):
    return x if TAG else x


def by_string(x):
    return getattr(x, "TAG") and 1


def computed(x, name):
    return getattr(x, name) and 1


def all_of_them(x):
    return len(globals()) and x


def inner(x):
    return [y for y in x if (lambda: TABLE)()]


def aliased(x):
    return SAME is x
"""
OTHER = """
from shop import varying

LATER = {hash("again another")}


def by_module(x):
    return x if varying.TAG else x


def through(x):
    return varying.direct(x)


def untouched(x):
    return varying.plain(x)
"""
VARYING_TESTS = """
from shop import other, varying

def test_a():
    varying.plain(1)
    varying.direct(2)
    varying.by_string(varying)
    varying.computed(varying, "T" + "AG")
    varying.all_of_them(3)
    varying.inner([4])
    varying.aliased(varying.SAME)
    other.by_module(5)
    other.through(6)
    other.untouched(7)
"""


@pytest.mark.slow
def test_what_a_call_cannot_read_does_not_make_it_unrepeatable(tmp_path: Path) -> None:
    """A global variable that differs in each run is taken out where nothing that ran can read it, and is told;
    where something might, the recording is not repeatable."""
    folder = project(tmp_path, VARYING_TESTS)
    (folder / "src/shop/varying.py").write_text(VARYING)
    (folder / "src/shop/other.py").write_text(OTHER)
    summary = record(folder, tmp_path / "runs")
    recordings = {recording.program.entry: recording for recording in Recordings(tmp_path / "runs")}
    # A module of which nothing runs is not part of a recording.
    expected = {"plain", "aliased", "untouched", "by_module"}
    assert {name for name, each in recordings.items() if each.repeatable} == expected
    assert set(recordings) - expected == {
        *("direct", "by_string", "computed", "all_of_them", "inner", "through")
    }
    both = ["shop.varying.TABLE", "shop.varying.TAG"]
    for name, varies in (
        ("plain", both),
        ("aliased", both),
        ("untouched", ["shop.other.LATER", *both]),
        ("by_module", ["shop.other.LATER"]),
    ):
        recording = recordings[name]
        assert recording.program.extra["varies"] == varies
        for event in recording.trace:
            cut = {name for name, value in event.globals.items() if value.cut == "varies"}
            assert cut == {v.rpartition(".")[2] for v in varies if v.split(".")[1] == event.file[5:-3]}
    assert summary.varies == Counter({**dict.fromkeys(both, 3), "shop.other.LATER": 2})
    # Objects that something else leads to are still there, the others are not.
    seen = recordings["aliased"].trace[0].globals
    assert (seen["SAME"]["number"].atom, render(seen["NAMES"])[:21]) == (1, "{'a': 1, 'b': [Thing#")
    tag = str(recordings["direct"].trace[0].globals["TAG"].atom)
    assert any(tag in (row.objects or "") for row in recordings["direct"].trace.rows)
    assert not any(tag in str(row) for row in recordings["plain"].trace.rows)
    checked = deskcheck("runs", "check", tmp_path / "runs", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


LOOKING = """
import os


def whole():
    found = os.environ
    return len(found)


def copied():
    return dict(os.environ)


def listed():
    lines = [f"{name}={value}" for name, value in os.environ.items()]
    print("\\n".join(lines))
    return lines


def given(environment):
    value = environment["MARKER_PLACE"]
    short = environment["MARKER_SHORT"]
    return value + short


def own():
    return os.environ["OF_THE_TEST"]


def quiet(n):
    return "a-stage-of-somebody"


def loud(n):
    print("a-stage-of-somebody")


def key():
    return os.environ["MARKER_KEY"]
"""
LOOKING_TESTS = """
import os
from shop.looking import copied, given, key, listed, loud, own, quiet, whole

def test_a(monkeypatch, capsys):
    monkeypatch.setenv("OF_THE_TEST", "set by the test")
    whole(), copied(), listed(), own()
    given(os.environ)
    given(dict(os.environ))
    given({"MARKER_PLACE": "elsewhere", "MARKER_SHORT": "x"})
    quiet(1), loud(1), key()
    with capsys.disabled():
        print(key())
"""
KEY = "-----BEGIN KEY-----\nits second line\n-----END KEY-----"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["--no-mask"]])
def test_environment_variables_are_masked(
    tmp_path: Path, flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the user's own environment neither values nor names with values are in what is kept; --no-mask keeps them.
    What the test has set itself is shown."""
    monkeypatch.setenv("MARKER_PLACE", "a place that is not to be told")
    monkeypatch.setenv("MARKER_SHORT", "q7z")
    monkeypatch.setenv("MARKER_STAGE", "a-stage-of-somebody")
    monkeypatch.setenv("MARKER_KEY", KEY)
    folder = project(tmp_path, LOOKING_TESTS)
    (folder / "src/shop/looking.py").write_text(LOOKING)
    done = deskcheck("record", f"pytest:{folder}", "--out", tmp_path / "runs", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tables = list((tmp_path / "runs").glob("*.parquet"))
    found = [(row.get("recording", row.get("id")), row) for table in tables for row in without_sources(table)]
    everything = done.stdout + "".join(json.dumps(row, default=str) for _, row in found)
    everything += (tmp_path / "runs/pytest-output.txt").read_text()
    for value in ("a place that is not to be told", "a-stage-of-somebody", "its second line"):
        assert (value in everything) == bool(flags)
    # A short value is masked where its name stands by it; by itself it could be anything.
    pairs = [str(row) for id_, row in found if str(id_).endswith(("whole()", "copied()"))]
    assert any("q7z" in row for row in pairs) == bool(flags)
    if not flags:
        for name, value in os.environ.items():
            assert not value or f"{name}={value}" not in everything
            assert len(value) < 12 or f'"{value}"' not in everything
    assert "set by the test" in everything
    recordings = {recording.program.entry: recording for recording in Recordings(tmp_path / "runs")}
    assert recordings["own"].run_result.result == "'set by the test'"
    assert recordings["whole"].trace[-1].locals["found"].type.endswith("_Environ")
    # What holds such a value by itself is the same again, and alone.
    assert {name for name in ("quiet", "loud") if recordings[name].program.extra.get("alone")} == {
        "quiet",
        "loud",
    }
    plain = [r for r in Recordings(tmp_path / "runs") if "elsewhere" in r.id]
    assert [(r.run_result.result, r.program.extra["arguments"]) for r in plain] == [
        ("'elsewherex'", "literal")
    ]


PARAMETRISED = """
import os
import pytest
from shop.words import same

@pytest.mark.parametrize("given", [os.environ["MARKER_TOKEN"], "x" + os.environ["MARKER_TOKEN"], "plain"])
@pytest.mark.parametrize("times", [1, 2])
def test_a(given, times):
    same(times)

@pytest.mark.parametrize("given", [os.environ["MARKER_TOKEN"].upper(), "a", "b"])
def test_b(given):
    same(given[0])
"""


def test_parameters_in_the_ids_of_tests_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment variable that is a parameter stands in a test's id: it is taken out, tests stay apart, and
    the next run knows them again."""
    monkeypatch.setenv("MARKER_TOKEN", "tk-0123456789abcdef")
    summary = record(project(tmp_path, PARAMETRISED), tmp_path / "runs")
    assert summary.tests == {"passed": 9}
    everything = (
        "".join(str(without_sources(table)) for table in (tmp_path / "runs").glob("*.parquet"))
        + (tmp_path / "runs/pytest-output.txt").read_text()
    )
    assert "tk-0123456789abcdef" not in everything
    tests = {recording.program.extra["test"] for recording in Recordings(tmp_path / "runs")}
    assert any("[masked]" in test for test in tests)
    assert all(recording.repeatable for recording in Recordings(tmp_path / "runs"))


def without_sources(table: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k != "sources"} for row in pq.read_table(table).to_pylist()]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="other code is told of once there, and costs nothing")
def test_a_test_that_runs_much_other_code_is_not_watched_to_its_end(tmp_path: Path) -> None:
    """After very many calls of code that is not the project's; that is counted, and the next test is watched."""
    tests = """
        from shop.words import same

        def nothing():
            pass

        def test_a():
            same("early")
            for _ in range(300_000):
                nothing()
            same("late")

        def test_b():
            same("in the next")
        """
    summary = record(project(tmp_path, tests), tmp_path / "runs")
    assert [recording.id for recording in Recordings(tmp_path / "runs")] == [
        "shop.words.same('early')",
        "shop.words.same('in the next')",
    ]
    assert summary.left_out == {"not seen: after 200,000 calls in a test, none of them drawn": 1}


@pytest.mark.slow
def test_the_functions_of_a_property_are_two(tmp_path: Path) -> None:
    """Getter and setter have one name; neither takes the place of the other."""
    folder = project(
        tmp_path,
        "from shop.both import Both\n\n"
        "def test_a():\n    both = Both()\n    both.value = 3\n    assert both.value == 3\n",
    )
    (folder / "src/shop/both.py").write_text(
        "class Both:\n    @property\n    def value(self):\n        return self.x\n\n"
        "    @value.setter\n    def value(self, x):\n        self.x = x\n"
    )
    summary = record(folder, tmp_path / "runs", per_function=1)
    assert (summary.recorded, summary.functions) == (2, 2)


@pytest.mark.slow
def test_on_the_command_line(shop: Path, tmp_path: Path) -> None:
    """--json tells everything; a folder is needed; it is recorded by itself."""
    command = [
        sys.executable,
        "-m",
        "deskcheck",
        "record",
        f"pytest:{shop}/tests/test_shop.py::test_wrong",
    ]
    ran = subprocess.run(
        [*command, "--out", "runs", "--json"], cwd=tmp_path, capture_output=True, check=False
    )
    said = json.loads(ran.stdout)
    assert ran.returncode == 0
    assert (said["recorded"], said["ended"], said["tests"]) == (1, "failed", {"failed": 1})
    assert said["by_outcome"] == {"returned": 1}
    without = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (without.returncode, "add --out FOLDER" in without.stderr) == (2, True)
    two = subprocess.run(
        [*command, "heapq", "--out", "b"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (two.returncode, "with a separate command" in two.stderr) == (2, True)


@pytest.mark.slow
def test_the_recordings_can_be_asked_about(
    shop: Path, recorded: tuple[SuiteSummary, dict[str, Recording]], tmp_path: Path
) -> None:
    """Every kind of question has samples, and the truth scores 1."""
    pytest.importorskip("inspect_ai")
    from deskcheck.ask.run import ask

    kinds = ["output", "input", "next_line", "state", "path"]
    results = ask([shop / "runs"], kinds, ["deskcheck/oracle", "deskcheck/guess"], out=tmp_path / "asked")
    oracle = {result.question: result for result in results if result.model == "deskcheck/oracle"}
    assert all(result.score == 1.0 for result in oracle.values())
    assert all(result.n > 5 for result in oracle.values())
    with_objects = [row for row in oracle["output"].samples if "Stack#1(" in row.program]
    assert with_objects
    assert all("Stack#1(" in row.prompt for row in with_objects), "all of the object stands in the question"
    assert any("Stack#1" in row.program for row in oracle["next_line"].samples)
    assert not any("patched" in row.program for row in oracle["path"].samples)
    with_class = [row for row in oracle["path"].samples if "<class Other" in row.program]
    assert all("class Other(Stack):" in row.prompt for row in with_class)


@pytest.mark.slow
def test_a_test_that_notices_is_left_out(tmp_path: Path) -> None:
    """A test that looks for a tracer comes out otherwise: its calls are not kept, and it is named."""
    tests = """
        import sys
        from shop.stack import Stack
        from shop.words import same, twice

        def test_afterwards():
            stack = Stack([1])
            same(stack)
            stack.push(2)
            assert sys.gettrace() is None

        def test_does_not():
            assert same(2) == 2

        def test_during():
            seen = []
            twice(lambda stack: seen.append(type(sys.settrace) is type(len)) or stack, Stack())
            assert seen == [True, True]
        """
    summary = record(project(tmp_path, tests), tmp_path / "runs", repeat=True)
    assert summary.otherwise == {"tests/test_shop.py::test_during": "passed, then failed"}
    assert summary.left_out["in a test whose outcome changes when it is recorded"] > 0
    kept = {recording.program.extra["test"] for recording in Recordings(tmp_path / "runs")}
    assert kept == {"tests/test_shop.py::test_afterwards", "tests/test_shop.py::test_does_not"}
