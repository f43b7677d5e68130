"""Answers that are programs, judged by running them: hidden tests beside them, or what a script prints.

Tests run in another process and call the answer from there (`sandbox.checked`). The answer knows what it was
called with and not what is expected, and nothing that it prints, patches or exits with is a verdict. A script
is given its input and judged by what its process wrote; the expected text is not in that process. Test
classes that must run in the answer's own process are another matter: see `inside`.
"""

import json
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

from deskcheck.ask.answers.code import imported_in
from deskcheck.ask.answers.similarity import lines_of
from deskcheck.ask.scoring.inside import DRIVER, RUNNER, twins
from deskcheck.files import NotJSON, read_json
from deskcheck.recording import Outcome, Program, RunResult
from deskcheck.recording.rules import Checker
from deskcheck.recording.spool import instructions_in
from deskcheck.sandbox import Checked
from deskcheck.sandbox.environments import find
from deskcheck.sources.sets.coding import classes_with_tests, functions_in, names_of_tests


class InstructionCount:
    """How many instructions the programs that were counted ran. whole: whether none was left out."""

    def __init__(self) -> None:
        self.instructions = 0
        self.whole = True
        self._checker = Checker(references=False)

    def add(self, block: bytes) -> None:
        """Count the instructions of a block."""
        self._checker.block(block)
        self.instructions += instructions_in(block)

    def close(self, run_result: RunResult) -> RunResult:
        """Note how a program ended. One that is ended while it waits for a call has told all."""
        self.whole = self.whole and run_result.cut in (None, "ended")
        return run_result


class Judge(Protocol):
    """A place where answers are run. Both raise SandboxError where that place failed; with a `count` the
    program is traced, and may take longer."""

    def check(self, checked: Checked, count: InstructionCount | None = None) -> tuple[RunResult, str]:
        """Score a program by a check; with what the check printed."""

    def script(self, program: Program, count: InstructionCount | None = None) -> RunResult:
        """Run a program by itself."""


@dataclass(frozen=True, slots=True)
class Tested:
    """passed, of: tests. reason: why it is not right; empty if it is. missing: a module that the answer or
    its tests import, and that is not installed here. parts: of `CodingTask.parts`, which pass. failed: the
    first test that did not pass, from 0; None where all did, or none could begin."""

    passed: int
    of: int
    reason: str
    missing: str | None = None
    parts: Mapping[str, bool] = field(default_factory=dict)
    failed: int | None = None

    @property
    def right(self) -> bool:
        return not self.reason


def run_tests(
    data: Mapping[str, Any], answer: str, judge: Judge, *, count: InstructionCount | None = None
) -> Tested:
    """What comes of an answer. data: of its sample. count: of the instructions of the answer while it is
    tested. Raises SandboxError."""
    missing = missing_module(data["modules"], data.get("environment"))
    if missing is not None:
        return Tested(0, tests_in(data), f"the module {missing} is not installed here", missing)
    if data["cases"]:
        return _of_script(data, answer, judge, count)
    if data.get("checker"):
        return _of_checked_script(data, answer, judge)
    if data.get("unittest"):
        return _of_classes(data, answer, judge)
    whole = _of_function(data, answer, judge, count=count)
    if not data["parts"] or whole.missing is not None:
        return whole
    right = {
        name: whole.right or _of_function(data, answer, judge, instead=code).right
        for name, code in data["parts"].items()
    }
    return Tested(whole.passed, whole.of, whole.reason, None, right)


def tests_in(data: Mapping[str, Any]) -> int:
    """How many tests, or cases, the answers to a sample have. data: of the sample."""
    classes = names_of_tests(data.get("unittest", ""))
    return len(data["tests"]) + len(data["cases"]) + len(classes) + bool(data.get("checker"))


def missing_module(names: Iterable[str], environment: str | None = None) -> str | None:
    """The first of some modules that is not installed in an environment, or (None) here. Raises InputError:
    the environment is not built."""
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
"""It is imported, not run as a script: what stands under ``if __name__ == "__main__"`` does not run."""


def _program(data: Mapping[str, Any], code: str) -> Program:
    """An answer with what runs it, in the environment of its task."""
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
"""Instructions are counted in the file of the answer alone, so what would do its work elsewhere is refused:
code that is made at run time, but for what the library's own makers of classes make, modules that are not
installed ones, other processes and interpreters."""
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
"""For a check: standard output for what it tells, and what else is printed there goes nowhere."""

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
    """instead: code that replaces some of what the answer defines."""
    names = dict.fromkeys([data["entry_point"], *functions_in(data["driver"])])
    pieces = [data["setup"], answer, instead, data["driver"]]
    code = _WATCHED if count is not None else ""
    code += _START + "".join(f"exec(compile({text!r}, 'answer.py', 'exec'))\n" for text in pieces if text)
    told = json.dumps({name: data[name] for name in ("setup", "test_setup", "tests")})
    functions = ", ".join(f"{name!r}: {name}" for name in names)
    check = f"{ONLY_REPORT}\n{_TESTS}\n_run_tests(__import__('json').loads({told!r}), {{{functions}}})\n"
    run_result, printed = judge.check(Checked(_program(data, code), check, tuple(names)), count)
    return _read(run_result, printed, len(data["tests"]), answer, data.get("environment"))


def reports(printed: str, parts: int) -> list[list[Any]]:
    """The lines of a check's report that are lists of so many parts: the check itself writes nothing else."""
    found = []
    for line in printed.splitlines():
        if line.endswith("]"):
            try:
                row = read_json(line)
            except NotJSON:
                continue
            if isinstance(row, list) and len(row) == parts:
                found.append(row)
    return found


def _read(run_result: RunResult, printed: str, count: int, answer: str, environment: str | None) -> Tested:
    """What the check told, and how the answer's process ended."""
    lines = reports(printed, 2)
    setup = next((said for what, said in lines if what == "setup"), None)
    if setup is not None:
        return Tested(0, count, f"the tests cannot begin: {setup}", _missing(setup, None, environment))
    said = [said for what, said in lines if what == "test"]
    passed = said.count("")
    if run_result.outcome is Outcome.RETURNED and passed == count == len(said):
        return Tested(passed, count, "")
    ended = _ended(run_result)
    number, why = next(((n, text) for n, text in enumerate(said, 1) if text), (len(said) + 1, ""))
    if not why or (run_result.outcome in _ITS_OWN and why.startswith(_GONE)):
        finished = run_result.outcome is Outcome.RETURNED
        why = "the tests did not come to their end" if finished else ended
    missing = _missing(why, answer, environment)
    if missing is not None:
        return Tested(passed, count, f"the module {missing} is not installed here", missing)
    place = f"test {number} of {count}: " if said or run_result.outcome not in _ITS_OWN else ""
    return Tested(min(passed, count), count, f"{place}{why}", failed=min(number, count) - 1)


_GONE = "EOFError: the program is gone"
_ITS_OWN = frozenset({*Outcome} - {Outcome.RETURNED, Outcome.WRONG, Outcome.NOT_COMPARED})
"""Endings that the answer's process came to before the tests were over."""


def _ended(run_result: RunResult) -> str:
    if run_result.outcome is Outcome.RAISED:
        return f"{run_result.exception}: {run_result.detail}"
    return f"{run_result.outcome}: {run_result.detail}" if run_result.detail else str(run_result.outcome)


_NO_MODULE = "ModuleNotFoundError: No module named "


def _missing(said: str, answer: str | None, environment: str | None) -> str | None:
    """The module that is not there, if that is what was said; of an answer, if it imports that."""
    _, there, rest = said.partition(_NO_MODULE)
    if not there or not rest.startswith("'"):
        return None
    name = rest[1:].partition("'")[0].partition(".")[0]
    mine = answer is None or name in imported_in(answer)
    return name if mine and not _installed(name, environment) else None


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
    """The tests, and of an answer that passes them all the twins, in a process of their own."""
    run_result, printed = _run_classes(data, answer, data["unittest"], judge)
    found = _read(run_result, printed, tests_in(data), answer, data.get("environment"))
    if not found.right:
        return found
    word = secrets.token_hex(8)
    _, printed = _run_classes(data, answer, twins(data["unittest"], word), judge)
    came = [said for _, said in reports(printed, 2)]
    holds = [said == f"AssertionError: {word}" for said in came]
    if len(came) == found.of and all(holds):
        return found
    number = holds.index(False) + 1 if False in holds else len(came) + 1
    why = (
        f"test {number} of {found.of}: does not fail where it must: asserts, their runner or what they "
        "compare is changed"
    )
    return Tested(holds.count(True), found.of, why)


def _run_classes(data: Mapping[str, Any], answer: str, text: str, judge: Judge) -> tuple[RunResult, str]:
    pieces = [data["setup"], answer, data["driver"], DRIVER]
    code = _START + "".join(f"exec(compile({piece!r}, 'answer.py', 'exec'))\n" for piece in pieces if piece)
    told = json.dumps({"text": text, "classes": [*classes_with_tests(text)], "names": names_of_tests(text)})
    check = f"{_CLASSES}\n_run_classes(__import__('json').loads({told!r}), {RUNNER})\n"
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


def _of_script(data: Mapping[str, Any], answer: str, judge: Judge, count: InstructionCount | None) -> Tested:
    """Each case is a run of its own. After one that met a limit the others are not run."""
    cases: Sequence[Mapping[str, str]] = data["cases"]
    environment = data.get("environment")
    passed, reason, missing = 0, "", None
    for number, case in enumerate(cases, 1):
        begin = f"{_STDIN}_read_from({case['stdin']!r})\ndel _read_from\n{'' if count is None else _WATCHED}"
        code = f"{begin}exec(compile({answer!r}, 'answer.py', 'exec'))\n"
        run_result = judge.script(_program(data, code), count)
        well = _ended_well(run_result)
        if well and lines_of(run_result.stdout) == lines_of(case["stdout"]):
            passed += 1
            continue
        why = "another text" if well else _ended(run_result)
        missing = missing or _missing(why, answer, environment)
        reason = reason or f"case {number} of {len(cases)}: {why}"
        if run_result.outcome in (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.OUTPUT_LIMIT):
            break
    if missing is not None:
        reason = f"the module {missing} is not installed here"
    return Tested(passed, len(cases), reason, missing)


def _ended_well(run_result: RunResult) -> bool:
    exited = run_result.outcome is Outcome.EXITED and run_result.exit_status == 0
    return run_result.outcome is Outcome.RETURNED or exited


def _of_checked_script(data: Mapping[str, Any], answer: str, judge: Judge) -> Tested:
    """A script, and what it printed judged by the task's own check, in a process of its own."""
    environment = data.get("environment")
    code = f"{_STDIN}_read_from('')\ndel _read_from\nexec(compile({answer!r}, 'answer.py', 'exec'))\n"
    run_result = judge.script(_program(data, code))
    if not _ended_well(run_result):
        why = _ended(run_result)
        missing = _missing(why, answer, environment)
        return Tested(
            0, 1, why if missing is None else f"the module {missing} is not installed here", missing
        )
    checked = judge.script(_program(data, f"printed = {run_result.stdout!r}\n{data['checker']}"))
    if checked.outcome is Outcome.RETURNED:
        return Tested(1, 1, "")
    return Tested(0, 1, f"the check of what it printed: {_ended(checked)}")
