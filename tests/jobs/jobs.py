"""Jobs that the tests run: programs that do something, and programs that kill whoever records them."""

from collections.abc import Iterator

from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from tests.attacks.attack import ASKED, attacks

OPEN = RecordSettings(repeat=False, sandbox=Confinement.TRUSTED, limits=Limits(cpu_s=5, wall_s=100))
"""Programs that can reach the process that records them."""

STRICT = RecordSettings(repeat=False, limits=Limits(cpu_s=2, wall_s=10))
"""Programs that can reach nothing but who reads what they say."""

HOSTILE = {
    "segfault": ("import ctypes\nctypes.string_at(0)", Outcome.KILLED),
    "memory": ("held = bytearray(1 << 40)", Outcome.OUT_OF_MEMORY),
    "loop": ("while True:\n    pass", Outcome.TIMED_OUT),
    "output": ("while True:\n    print('x' * 1000)", Outcome.OUTPUT_LIMIT),
    "forks": ("import os\nwhile True:\n    os.fork()", None),
}
"""Ways to fail, and how each ends. Which bound a fork bomb meets first is the kernel's affair."""

KILL_THE_WORKER = """
import os, signal

def f(number):
    pid = os.getpid()
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
        if b"deskcheck.jobs.work" in command or command.startswith(b"ray::"):
            os.kill(pid, number)
            signal.pause()
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
"""


def sums(count: int, first: int = 0) -> Iterator[Program]:
    """Programs that all differ."""
    for n in range(first, first + count):
        code = f"def f(x):\n    total = {n}\n    for i in range(x):\n        total += i\n    return total\n"
        yield Program(id=f"sum{n}", code=code, mode=Mode.CALL, entry="f", arguments=f"({n % 5},)", source="t")


def killer(name: str, number: int) -> Program:
    """A program that ends the process that records it by a signal."""
    return Program(
        id=name, code=KILL_THE_WORKER, mode=Mode.CALL, entry="f", arguments=f"({number},)", source="t"
    )


def hostile(kind: str, name: str) -> Program:
    """A program of a kind in `HOSTILE`."""
    return Program(id=name, code=HOSTILE[kind][0], source="t")


def attackers() -> list[Program]:
    """Attacks on who reads what a program says and on its verdict: the two that need nothing of the world outside."""
    facts = {"token": "", "comm": "hostile", "asked": ASKED, "harness_modules": [], "outside": "/nowhere"}
    return [
        Program(
            id=attack.name,
            code=attack.source({**facts, "secret_sha256": ""}, 77),
            mode=Mode.CALL,
            entry="solve",
            arguments=f"({ASKED},)",
            source="t",
        )
        for attack in attacks()
        if attack.family in ("caller", "forge")
    ]
