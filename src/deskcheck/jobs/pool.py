"""A pool of worker processes on this machine, each with its own sandbox."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from deskcheck import errors
from deskcheck.files import read_json
from deskcheck.jobs.job import TaskAnswer
from deskcheck.recording.outcome import signal_name

_EXIT_WAIT_S = 10.0
_ANSWER_BYTES = 64 << 20
_UNREADABLE_ANSWER = "sent an unreadable answer"
_PR_SET_PDEATHSIG = 1
# The kernel kills a worker when its driver ends, in whatever way. Ctrl-C at the terminal reaches only the
# driver, because a worker has its own session.
_WORKER = f"""
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl({_PR_SET_PDEATHSIG}, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit(0)
sys.path.insert(0, sys.argv[2])
from deskcheck.jobs.work import main
main()
"""


class _Worker:
    def __init__(self) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        home = str(Path(errors.__file__).parents[1])
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(os.getpid()), home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        self.number: int | None = None
        self.tasks = 0
        """Number of tasks so far. An answer begins with this number, which shows its task."""

    def send(self, number: int, task: dict[str, Any]) -> None:
        self.number = number
        self.tasks += 1
        try:
            self.input.write(json.dumps(task).encode() + b"\n")
            self.input.flush()
        except BrokenPipeError:  # the worker is dead: `LocalPool._answer` finds no answer and says why
            pass

    def cause_of_end(self) -> str:
        status = self.process.wait(_EXIT_WAIT_S)
        if status < 0:
            return f"killed by {signal_name(-status)}"
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 4000))
        text = self.errors.read().decode("utf-8", "replace")
        if "Timeout (" in text:  # faulthandler.dump_traceback_later
            return "hung"
        last = (text.strip().splitlines() or [""])[-1]
        return f"exited with status {status}" + (f": {last[:300]}" if last else "")

    def close(self, kill: bool) -> None:
        if kill:
            self.process.kill()
        try:
            self.input.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(_EXIT_WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()
        self.errors.close()


class LocalPool:
    """Runs tasks in `workers` processes. A process that dies is replaced. All end with this process."""

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers} must be at least 1")
        self.workers = workers
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    @property
    def room(self) -> int:
        return self.workers - len(self._busy)

    @property
    def pids(self) -> list[int]:
        """Ids of the processes that have tasks."""
        return [worker.process.pid for worker in self._busy]

    def submit(self, number: int, task: dict[str, Any]) -> None:
        worker = self._idle.pop() if self._idle else _Worker()
        self._busy.append(worker)
        self._selector.register(worker.output, selectors.EVENT_READ, worker)
        worker.send(number, task)

    def wait(self, timeout_s: float) -> list[TaskAnswer]:
        return [self._answer(key.data) for key, _ in self._selector.select(timeout_s)]

    def _answer(self, worker: _Worker) -> TaskAnswer:
        line = worker.output.readline(_ANSWER_BYTES)
        self._selector.unregister(worker.output)
        self._busy.remove(worker)
        assert worker.number is not None
        if not line.endswith(b"\n"):
            death = worker.cause_of_end()
            worker.close(kill=True)
            return TaskAnswer(worker.number, death=death)
        try:
            tasks, answer = read_json(line)
        except (ValueError, TypeError):
            tasks, answer = None, None
        if tasks != worker.tasks:  # a recorded program may have written to the pipe
            worker.close(kill=True)
            return TaskAnswer(worker.number, death=_UNREADABLE_ANSWER)
        self._idle.append(worker)
        return answer_of(worker.number, answer)

    def close(self, *, kill: bool = False) -> None:
        workers, self._idle, self._busy = self._idle + self._busy, [], []
        for worker in workers:
            worker.close(kill)
        self._selector.close()


def answer_of(number: int, answer: Any) -> TaskAnswer:
    """The return value of `work.run_task` as a TaskAnswer. Any other value counts as a death."""
    match answer:
        case {"refused": str(text), "error": "InputError" | "SandboxError" | "RecordingError" as error}:
            return TaskAnswer(number, refused=getattr(errors, error)(text))
        case {"failed": str(text)}:
            return TaskAnswer(number, death=text)
        case {"done": result}:
            return TaskAnswer(number, result)
    return TaskAnswer(number, death=_UNREADABLE_ANSWER)
