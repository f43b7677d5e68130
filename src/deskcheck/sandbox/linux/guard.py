"""Starts a process, and ends all its descendants once the process or its caller has ended in any way.

The guard adopts orphaned descendants (PR_SET_CHILD_SUBREAPER). A closed pipe tells it that its caller has
ended. If the process ends the guard, the caller finds the other processes by the guard's mark (`orphans`).
Standard library only.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from deskcheck.sandbox.linux import kernel, orphans
from deskcheck.sandbox.linux.processes import descendants

_START = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from deskcheck.sandbox.linux.guard import main
main()
"""


_PATIENCE_S = 30.0
"""Seconds to wait for killed processes to disappear."""


@dataclass(frozen=True, slots=True)
class End:
    """The ending of a guarded process."""

    status: int
    """Exit status, as in `subprocess.Popen`."""
    cpu_s: float
    """CPU time of the process and its descendants."""


class Guarded:
    """A process under a guard. `end` ends it, if it still runs, and all its descendants.

    Raises OSError if the guard cannot be started, for example in a missing folder. Only `end` reports that
    the command could not be started.
    """

    def __init__(
        self,
        command: list[str],
        *,
        folder: Path,
        output: IO[bytes] | int,
        descriptors: tuple[int, ...],
        environment: dict[str, str],
    ) -> None:
        life_read, self._life = os.pipe()
        self._report, report_write = os.pipe()
        try:
            self._guard = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", "-c", _START),
                    *map(str, (life_read, report_write, *descriptors)),
                    *("--", *command),
                ],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(life_read, report_write, *descriptors),
                env=environment,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._life)
            os.close(self._report)
            raise
        finally:
            os.close(life_read)
            os.close(report_write)

    def has_ended(self) -> bool:
        self._guard.send_signal(signal.SIGCONT)  # what it guards may have stopped it
        return self._guard.poll() is not None

    def end(self) -> End:
        """End the process. Raises OSError if the command could not be started."""
        os.close(self._life)
        until = time.monotonic() + 2 * _PATIENCE_S
        while not self.has_ended():
            if time.monotonic() > until:
                self._guard.kill()
            try:
                self._guard.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        status = self._guard.returncode
        if status:  # somebody has ended the guard: what it started carries its mark
            orphans.sweep()
        os.set_blocking(self._report, False)  # who else holds the other end may live
        try:
            report = os.read(self._report, 1 << 12)
        except BlockingIOError:
            report = b""
        finally:
            os.close(self._report)
        return End(status, 0.0) if status else _read(report)


def _read(report_text: bytes) -> End:
    """The report of a guard. The guarded process may have forged it. Raises OSError."""
    try:
        report = json.loads(report_text)
    except ValueError:
        report = None
    match report:
        case {"errno": int(number)}:
            raise OSError(number, os.strerror(number))
        case {"status": int(status), "cpu_s": int(cpu_s) | float(cpu_s)}:
            return End(status, float(cpu_s))
    return End(-signal.SIGKILL, 0.0)


def main() -> None:
    """Be the guard.

    Its arguments are the descriptor that shows the caller's end, the one for the report, those for the
    command, ``--``, and the command.
    """
    try:
        orphans.carry(orphans.new_mark(os.getpid()))
    except (OSError, ValueError):
        pass  # it is part of a sandbox itself, and carries the mark of that
    position = sys.argv.index("--")
    life, report, *descriptors = map(int, sys.argv[1:position])
    report_facts = _Guard(life, descriptors, sys.argv[position + 1 :]).run()
    with os.fdopen(report, "wb") as stream:
        stream.write(json.dumps(report_facts).encode())


class _Asked(Exception):
    """A signal asks the guard to end."""


class _Guard:
    def __init__(self, life: int, descriptors: list[int], command: list[str]) -> None:
        self.life = life
        self.descriptors = descriptors
        self.command = command
        self.pid = 0
        self.status: int | None = None

    def run(self) -> dict[str, Any]:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _ask)
        try:
            # A signal to its group, which tests send, must not reach the guard.
            self.pid = subprocess.Popen(
                self.command,
                pass_fds=self.descriptors,
                start_new_session=True,
                preexec_fn=_die_with_the_guard,
            ).pid
        except OSError as error:
            return {"errno": error.errno}
        for descriptor in self.descriptors:
            os.close(descriptor)
        try:
            self._wait(woken)
        except _Asked:
            pass
        finally:
            self._end_all()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = -signal.SIGKILL if self.status is None else self.status
        return {"status": status, "cpu_s": used.ru_utime + used.ru_stime}

    def _wait(self, woken: int) -> None:
        poll = select.poll()
        poll.register(self.life, select.POLLIN)
        poll.register(woken, select.POLLIN)
        while True:
            self._reap()
            if self.status is not None:
                return
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self.life in ready:
                return
            os.read(woken, 1 << 12)

    def _reap(self) -> bool:
        """Wait for children that have ended. Returns whether other children remain."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def _end_all(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            for pid in descendants(os.getpid()):
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):  # it has ended, or is another user's by now
                    continue
            if not self._reap():
                return
            time.sleep(0.01)


def _ask(number: int, frame: Any) -> None:
    raise _Asked


def _die_with_the_guard() -> None:
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
