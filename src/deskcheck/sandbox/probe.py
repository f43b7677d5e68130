"""Tests a level of confinement with a program that must run and one that must reach nothing.

The targets of the second one are watched from outside: files, listeners on loopback, and another process.
"""

import os
import secrets
import select
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.sandbox import Sandbox

_LIMITS = Limits(cpu_s=10, wall_s=30, memory_bytes=1 << 30, processes=32)
_PLAIN = """
import json, subprocess, sys, threading
with open("mine", "w") as file:
    json.dump([1, 2, 3], file)
thread = threading.Thread(target=print, args=("thread",))
thread.start()
thread.join()
print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout.strip())
"""
_PRINTED = "thread\n42\n"
_ATTACK = """
import os, signal, socket
def tries(what):
    try:
        what()
    except OSError:
        pass
def read():
    with open(SECRET) as file:
        print(file.read())
def write():
    with open(CANARY, "w") as file:
        file.write("changed")
def connect():
    with socket.create_connection(("127.0.0.1", PORT), 2) as connection:
        connection.sendall(b"x")
def send():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"x"], [], 0, DATAGRAM)
for what in (read, write, lambda: os.truncate(CANARY, 0), lambda: os.chmod(CANARY, 0), connect, send,
             lambda: os.kill(VICTIM, signal.SIGTERM), lambda: os.setpriority(os.PRIO_PROCESS, VICTIM, 19)):
    tries(what)
"""


def fault(level: Confinement) -> str:
    """The fault of a level in a sentence; empty if there is none.

    Raises SandboxError if the level cannot be started.
    """
    with Sandbox(level, workers=1, limits=_LIMITS) as sandbox:
        run_result = sandbox.run_one(Program(id="plain", code=_PLAIN))
        if run_result.outcome is not Outcome.RETURNED or run_result.stdout != _PRINTED:
            reason = run_result.detail or run_result.stderr.strip()[-300:]
            return f"a plain program does not run: {run_result.outcome.value}: {reason}"
        if level is Confinement.TRUSTED:
            return ""
        with _targets() as (names, reached):
            text = "".join(f"{name} = {value!r}\n" for name, value in names.items())
            run_result = sandbox.run_one(Program(id="attack", code=text + _ATTACK))
            got = reached(run_result.stdout)
    return f"a program reached something forbidden: {', '.join(got)}" if got else ""


@contextmanager
def _targets() -> Iterator[tuple[dict[str, object], Callable[[str], list[str]]]]:
    """Targets by name, and a function that takes the printed text and names the targets that were reached."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        secret, canary = folder / "secret", folder / "canary"
        secret.write_text(secrets.token_hex(16))
        secret.chmod(0o600)
        canary.write_text("canary")
        canary.chmod(0o666)
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(folder / "datagrams"))
        (folder / "datagrams").chmod(0o777)
        victim = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        mode = canary.stat().st_mode

        def reached(printed: str) -> list[str]:
            hits = {
                "a private file": secret.read_text() in printed,
                "a file outside, which it changed": canary.stat().st_mode != mode
                or canary.read_text() != "canary",
                "a TCP listener": _is_readable(listener),
                "a UNIX socket": _is_readable(datagrams),
                "a process of yours": victim.poll() is not None or _nice(victim.pid) != _nice(0),
            }
            return [target for target, hit in hits.items() if hit]

        names: dict[str, object] = {
            "SECRET": str(secret),
            "CANARY": str(canary),
            "PORT": listener.getsockname()[1],
            "DATAGRAM": str(folder / "datagrams"),
            "VICTIM": victim.pid,
        }
        yield names, reached


def _nice(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def _is_readable(listener: socket.socket) -> bool:
    return bool(select.select([listener], [], [], 0)[0])
