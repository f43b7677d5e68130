"""Answers that are programs, judged by hidden tests, or by the output of a script.

Tests run in another process and call the answer from there (`sandbox.checked`). The answer knows its
arguments but not the expected result, and nothing that it prints, patches or exits with is a verdict. A
script gets its input and is judged by the output of its process, which does not have the expected text. Test
classes that must run in the process of the answer are in `inside`.
"""

import json
import re
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from deskcheck.ask.answers.code import imported_in
from deskcheck.ask.answers.similarity import lines_of
from deskcheck.ask.scoring.inside import DRIVER, RUNNER, twins
from deskcheck.ask.scoring.judge import InstructionCount, Judge
from deskcheck.files import NotJSON, read_json
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.sandbox import Checked
from deskcheck.sandbox.environments import find
from deskcheck.sources.sets.coding import classes_with_tests, functions_in, names_of_tests


@dataclass(frozen=True, slots=True)
class Tested:
    """The outcome of the tests of an answer."""

    passed: int
    of: int
    reason: str
    """The reason why the answer is wrong; empty if it is right."""
    missing: str | None = None
    """A module that the answer or its tests import, and that is not installed."""
    parts: Mapping[str, bool] = field(default_factory=dict)
    """Name of a part (`CodingTask.parts`) -> whether it is right."""
    failed: int | None = None
    """The first test that did not pass, from 0; None if all did, or none could begin."""

    @property
    def right(self) -> bool:
        return not self.reason


def _not_installed(passed: int, total: int, module: str) -> Tested:
    return Tested(passed, total, f"the module {module} is not installed here", module)


def run_tests(
    data: Mapping[str, Any], answer: str, judge: Judge, *, count: InstructionCount | None = None
) -> Tested:
    """The outcome of an answer. data: `Sample.data`. count: gets the instructions of the answer in its tests.
    Raises SandboxError."""
    missing = missing_module(data["modules"], data.get("environment"))
    if missing is not None:
        return _not_installed(0, tests_in(data), missing)
    if data["cases"]:
        return _of_script(data, answer, judge, count)
    if data.get("checker"):
        return _of_checked_script(data, answer, judge)
    if data.get("unittest"):
        return _of_classes(data, answer, judge)
    result = _of_function(data, answer, judge, count=count)
    if not data["parts"] or result.missing is not None:
        return result
    right = {
        name: result.right or _of_function(data, answer, judge, instead=code).right
        for name, code in data["parts"].items()
    }
    return Tested(result.passed, result.of, result.reason, None, right)


def tests_in(data: Mapping[str, Any]) -> int:
    """The number of tests, or cases, for answers to a sample with this data."""
    classes = names_of_tests(data.get("unittest", ""))
    return len(data["tests"]) + len(data["cases"]) + len(classes) + bool(data.get("checker"))


def missing_module(names: Iterable[str], environment: str | None = None) -> str | None:
    """The first module that is not installed in an environment, or here. Raises InputError: the environment
    is not built."""
    return next((name for name in names if not _installed(name, environment)), None)


def _installed(name: str, environment: str | None) -> bool:
    root = name.partition(".")[0]
    if environment is not None:
        return root in sys.stdlib_module_names or root in _modules_of(environment)
    try:
        return root in sys.stdlib_module_names or find_spec(root) is not None
    except (ImportError, ValueError):
        return False


@lru_cache(16)
def _modules_of(environment: str) -> frozenset[str]:
    return frozenset(find(environment).distributions)


# -- functions and classes ---------------------------------------------------------------------------

_START = """\
import sys
__name__ = "answer"
sys.modules[__name__] = sys.modules["__main__"]
del sys
"""
"""The answer is imported: code under ``if __name__ == "__main__"`` does not run."""


def _pieces(*texts: str) -> str:
    """Code that runs the texts that are not empty, one after the other, as the file of the answer."""
    return "".join(f"exec(compile({text!r}, 'answer.py', 'exec'))\n" for text in texts if text)


def _program(data: Mapping[str, Any], code: str) -> Program:
    """The code of an answer as a program, in the environment of its task."""
    environment = data.get("environment")
    extra = {} if environment is None else {"environment": environment}
    return Program(id="answer", code=code, filename="answer.py", extra=extra)


_WATCH = """\
def _watch():
    import os, site, sys, sysconfig
    others = ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen",
              "ctypes.dlopen", "cpython.PyInterpreterState_New")
    digits = frozenset("0123456789 .,+-*/%()[]")
    paths = sysconfig.get_paths()
    places = ("stdlib", "platstdlib", "purelib", "platlib")
    installed = [*(paths[name] for name in places), site.getusersitepackages()]
    roots = tuple(os.path.join(os.path.realpath(path), "") for path in installed)
    makers = {os.path.join(paths["stdlib"], *name) for name in (
        ("ast.py",), ("dataclasses.py",), ("collections", "__init__.py"))}
    realpath, frame_of = os.path.realpath, sys._getframe
    def from_library(frame):
        path = frame.f_locals.get("bytecode_path") or frame.f_locals.get("path")
        return isinstance(path, str) and realpath(path).startswith(roots)
    def watch(event, args):
        if event.startswith("gc.get_"):
            raise RuntimeError("what runs while the recorder is looked for is not counted")
        if event in others:
            raise RuntimeError("what another process or C code does is not counted")
        if event != "compile" and event != "code.__new__" and event != "marshal.loads":
            return
        if event == "compile" and args[1] == "answer.py":  # that is counted
            return
        frame = frame_of(1)
        caller = frame.f_code.co_filename
        if caller == "<frozen importlib._bootstrap>":
            if event == "marshal.loads":  # a module that is in the interpreter
                return
            if event == "compile" and isinstance(args[1], str) and realpath(args[1]).startswith(roots):
                return
        if caller == "<frozen importlib._bootstrap_external>":
            if from_library(frame):
                return
        elif caller in makers:
            if frame.f_back is not None and (frame.f_code.co_name in ("parse", "namedtuple")
                    or frame.f_back.f_code.co_filename == caller):
                return
        source = args[0] if event == "compile" else None
        if isinstance(source, (bytes, str)):
            text = source.decode("latin-1") if isinstance(source, bytes) else source
            if digits.issuperset(text):
                return
        raise RuntimeError("what code does that is made at run time is not counted")
    sys.addaudithook(watch)
_watch()
del _watch
"""
"""Instructions are counted only in the file of the answer. So everything that could do its work elsewhere is
refused: code that is made at run time (except by the library's makers of classes), modules that are not
installed, other processes and interpreters."""
_WATCHED = f"exec(compile({_WATCH!r}, 'watch.py', 'exec'))\n"


ONLY_REPORT = """\
def only_report():
    import io, sys

    class Nowhere(io.TextIOBase):
        def write(self, text):
            return len(text)

    report, sys.stdout, sys.stderr = sys.stdout, Nowhere(), Nowhere()
    sys.set_int_max_str_digits(0)
    return report
"""
"""Standard output for the report of a check; everything else that is printed is dropped."""

_TESTS = """\
def _run_tests(told, functions):
    import json, random

    report = only_report()
    random.seed(0)
    scope = {"__name__": "tests", **functions}

    def run(text, name):
        try:
            exec(compile(text, name, "exec", dont_inherit=True), scope)
        except BaseException as error:
            try:
                said = f"{type(error).__name__}: {error}"
            except Exception:
                said = type(error).__name__
            return said[:300]
        return ""

    def tell(what, said):
        report.write(json.dumps([what, said]) + "\\n")
        report.flush()

    said = run(told["setup"], "setup.py") or run(told["test_setup"], "setup.py")
    if said:
        return tell("setup", said)
    scope |= functions
    first = True
    for number, text in enumerate(told["tests"]):
        said = run(text, f"test {number + 1}")
        tell("test", said if first else said and "failed")  # many long texts would be too much output
        first = first and not said
    tell("end", "")
"""


def _of_function(
    data: Mapping[str, Any],
    answer: str,
    judge: Judge,
    *,
    instead: str = "",
    count: InstructionCount | None = None,
) -> Tested:
    """instead: code that replaces definitions of the answer."""
    names = dict.fromkeys([data["entry_point"], *functions_in(data["driver"])])
    code = _WATCHED if count is not None else ""
    code += _START + _pieces(data["setup"], answer, instead, data["driver"])
    task = json.dumps({name: data[name] for name in ("setup", "test_setup", "tests")})
    functions = ", ".join(f"{name!r}: {name}" for name in names)
    check = f"{ONLY_REPORT}\n{_TESTS}\n_run_tests(__import__('json').loads({task!r}), {{{functions}}})\n"
    run_result, printed = judge.check(Checked(_program(data, code), check, tuple(names)), count)
    return _read(run_result, printed, len(data["tests"]), answer, data.get("environment"))


def reports(printed: str, parts: int) -> list[list[Any]]:
    """The lists of this length in the report of a check: it writes only these."""
    rows = []
    for line in printed.splitlines():
        try:
            row = read_json(line)
        except NotJSON:
            continue
        if isinstance(row, list) and len(row) == parts:
            rows.append(row)
    return rows


def _read(run_result: RunResult, printed: str, total: int, answer: str, environment: str | None) -> Tested:
    """The outcome by the report of the check, and the end of the answer's process."""
    lines = reports(printed, 2)
    setup = next((message for what, message in lines if what == "setup"), None)
    if setup is not None:
        return Tested(0, total, f"the tests cannot begin: {setup}", _missing(setup, None, environment))
    messages = [message for what, message in lines if what == "test"]
    passed = messages.count("")
    if run_result.outcome is Outcome.RETURNED and passed == total == len(messages):
        return Tested(passed, total, "")
    number, reason = next(((n, text) for n, text in enumerate(messages, 1) if text), (len(messages) + 1, ""))
    if not reason or (run_result.outcome in _ITS_OWN and reason.startswith(_GONE)):
        finished = run_result.outcome is Outcome.RETURNED
        reason = "the tests did not come to their end" if finished else _ended(run_result)
    missing = _missing(reason, answer, environment)
    if missing is not None:
        return _not_installed(passed, total, missing)
    prefix = f"test {number} of {total}: " if messages or run_result.outcome not in _ITS_OWN else ""
    return Tested(min(passed, total), total, f"{prefix}{reason}", failed=min(number, total) - 1)


_GONE = "EOFError: the program is gone"
_ITS_OWN = frozenset({*Outcome} - {Outcome.RETURNED, Outcome.WRONG, Outcome.NOT_COMPARED})
"""Outcomes of an answer's process that ended before the tests were over."""


def _ended(run_result: RunResult) -> str:
    if run_result.outcome is Outcome.RAISED:
        return f"{run_result.exception}: {run_result.detail}"
    return f"{run_result.outcome}: {run_result.detail}" if run_result.detail else str(run_result.outcome)


_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^'.]*)")


def _missing(message: str, answer: str | None, environment: str | None) -> str | None:
    """The module that a message says is not there; of an answer, only one that it imports."""
    match = _NO_MODULE.search(message)
    if match is None or (answer is not None and match[1] not in imported_in(answer)):
        return None
    return None if _installed(match[1], environment) else match[1]


# -- test classes in the answer's process ------------------------------------------------------------

_CLASSES = """\
def _run_classes(told, run):
    import json
    try:
        came = run(told["text"], told["classes"])
    except EOFError:  # the answer's process is gone
        raise
    except Exception as error:
        print(json.dumps(["setup", f"{type(error).__name__}: {error}"[:300]]))
        return
    others = [said for name, said in came.items() if name not in told["names"]]
    for name in told["names"]:
        print(json.dumps(["test", came.get(name, "; ".join(["it did not run", *others])[:300])]))
"""


def _of_classes(data: Mapping[str, Any], answer: str, judge: Judge) -> Tested:
    """The tests, and of an answer that passes them all the twins, in another process."""
    run_result, printed = _run_classes(data, answer, data["unittest"], judge)
    tested = _read(run_result, printed, tests_in(data), answer, data.get("environment"))
    if not tested.right:
        return tested
    word = secrets.token_hex(8)
    _, printed = _run_classes(data, answer, twins(data["unittest"], word), judge)
    holds = [message == f"AssertionError: {word}" for _, message in reports(printed, 2)]
    if len(holds) == tested.of and all(holds):
        return tested
    number = holds.index(False) + 1 if False in holds else len(holds) + 1
    reason = (
        f"test {number} of {tested.of}: does not fail where it must: asserts, their runner or what they "
        "compare is changed"
    )
    return Tested(holds.count(True), tested.of, reason)


def _run_classes(data: Mapping[str, Any], answer: str, text: str, judge: Judge) -> tuple[RunResult, str]:
    code = _START + _pieces(data["setup"], answer, data["driver"], DRIVER)
    task = json.dumps({"text": text, "classes": [*classes_with_tests(text)], "names": names_of_tests(text)})
    check = f"{_CLASSES}\n_run_classes(__import__('json').loads({task!r}), {RUNNER})\n"
    return judge.check(Checked(_program(data, code), check, (RUNNER,)))


# -- scripts -----------------------------------------------------------------------------------------

_STDIN = """\
def _read_from(text):
    import os, sys
    left = text.encode("utf-8", "surrogatepass")
    file = os.open(".stdin", os.O_RDWR | os.O_CREAT, 0o600)
    while left:
        left = left[os.write(file, left):]
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0)
    os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
"""


def _run_script(
    data: Mapping[str, Any], answer: str, stdin: str, judge: Judge, count: InstructionCount | None = None
) -> tuple[RunResult, str]:
    """The result of a script, and the reason why it failed; empty if it did not."""
    begin = f"{_STDIN}_read_from({stdin!r})\ndel _read_from\n{'' if count is None else _WATCHED}"
    run_result = judge.script(_program(data, begin + _pieces(answer)), count)
    exited = run_result.outcome is Outcome.EXITED and run_result.exit_status == 0
    return run_result, "" if run_result.outcome is Outcome.RETURNED or exited else _ended(run_result)


def _of_script(data: Mapping[str, Any], answer: str, judge: Judge, count: InstructionCount | None) -> Tested:
    """The outcome of a script in its cases, each a run. After a run that hits a limit the others are
    skipped."""
    cases: Sequence[Mapping[str, str]] = data["cases"]
    passed, reason, missing = 0, "", None
    for number, case in enumerate(cases, 1):
        run_result, failure = _run_script(data, answer, case["stdin"], judge, count)
        if not failure and lines_of(run_result.stdout) == lines_of(case["stdout"]):
            passed += 1
            continue
        missing = missing or _missing(failure, answer, data.get("environment"))
        reason = reason or f"case {number} of {len(cases)}: {failure or 'another text'}"
        if run_result.outcome in (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT):
            break
    if missing is not None:
        return _not_installed(passed, len(cases), missing)
    return Tested(passed, len(cases), reason)


def _of_checked_script(data: Mapping[str, Any], answer: str, judge: Judge) -> Tested:
    """A script, and its output judged by the task's own check, in another process."""
    run_result, failure = _run_script(data, answer, "", judge)
    if failure:
        missing = _missing(failure, answer, data.get("environment"))
        return Tested(0, 1, failure) if missing is None else _not_installed(0, 1, missing)
    checked = judge.script(_program(data, f"printed = {run_result.stdout!r}\n{data['checker']}"))
    if checked.outcome is Outcome.RETURNED:
        return Tested(1, 1, "")
    return Tested(0, 1, f"the check of what it printed: {_ended(checked)}")
