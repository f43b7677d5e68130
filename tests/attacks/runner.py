"""Runs every attack against a harness, innocent programs beside it, and says what got through.

    python -m tests.attacks.runner HARNESS [--python INTERPRETER] [--only NAME ...] [--json FILE]

What an attack has reached is observed from outside (`stage.py`), never taken from its own word, but for
one thing: a program that gives the right answer, which it does where what it got cannot be seen otherwise.
The harness is a process of its own (`host.py`), started again where an attack has brought it down.
"""

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.attacks.attack import ASKED, Attack, attacks
from tests.attacks.stage import PEAK, Census, Stage, adopt_orphans, kill_children, state_of

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = {"bare": 90.0}
"""How long a batch may take: more than the time that the harness gives a program."""
_OTHERS_PATIENCE_S = 45.0
_STOPPED_S = 2.0
"""A harness that has been stopped (SIGSTOP) for so long gives no answer."""
_FLOOD_BYTES = 1 << 20
GROWN_BYTES = 40_000_000
"""That a harness may fill beside any program."""
HEIRS = 8
RIGHT = 137
"""Any number that the attacks do not know. A small one, of which CPython keeps one object."""

# io.open: a peer takes the builtin away from innocent programs too.
_WORK = """
import io
def solve(n):
    kept = sorted({pow(7, i, 1009): str(i) for i in range(3000)}.items())
    with io.open("mine.txt", "w") as file:
        file.write(repr(kept))
    with io.open("mine.txt") as file:
        again = eval(file.read())
    return n + %d if again == kept else 0
"""
_SLEEPS = "import time\ntime.sleep(0.15)\n" + _WORK
_RAISES = "def solve(n):\n    raise KeyError(n)\n"


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one attack. breaches: how it got through, empty where it was stopped."""

    attack: str
    word: str
    detail: str
    breaches: list[str]
    seconds: float


@dataclass(slots=True)
class Report:
    """left: what was there when the harness had been closed: processes, files."""

    harness: str
    rows: list[Row] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def table(self) -> str:
        width = max(len(row.attack) for row in self.rows)
        lines = [
            f"{row.attack:{width}}  {row.word:14.14}  {'; '.join(row.breaches) or '-'}" for row in self.rows
        ]
        through = sum(bool(row.breaches) for row in self.rows)
        return "\n".join([*lines, f"{through} of {len(self.rows)} got through", *self.left])


class Down(Exception):
    """The harness is dead, says nothing, or says what is none of its words."""


class Host:
    """A harness in a process of its own."""

    def __init__(self, harness: str, python: str, stage: Stage) -> None:
        self.patience_s = PATIENCE_S.get(harness, _OTHERS_PATIENCE_S)
        self.output = stage.folder / "output"
        self.output.touch()
        written = os.open(stage.inherited, os.O_WRONLY | os.O_APPEND)
        read = os.open(stage.secret_file, os.O_RDONLY)
        try:
            self.process = subprocess.Popen(
                [python, "-m", "tests.attacks.host", harness],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(written, read),
                cwd=ROOT,
                env={
                    "PATH": os.environ.get("PATH", os.defpath),
                    "HOME": str(stage.folder),
                    "TMPDIR": str(stage.temporary),
                    "PYTHONPATH": str(ROOT / "src"),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "ATTACKS_OUTPUT": str(self.output),
                    "ATTACKED": stage.secret,
                },
                start_new_session=True,
            )
        finally:
            os.close(written)
            os.close(read)
        self._read = b""
        about = self._line()
        self.facts = {
            "host": about["pid"],
            "asked": ASKED,
            "harness_modules": about["modules"],
            "harness_files": about["files"],
        }
        self.path: list[str] = about["path"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def verdicts(self, sources: list[str], answers: int | None = None) -> list[tuple[bool, str, str]]:
        """passed, word and detail of each. answers: the place of an attack that is seen by its answer. Raises Down."""
        cases = [
            {"source": source, "asked": ASKED, "right": RIGHT, "answers": n == answers}
            for n, source in enumerate(sources)
        ]
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(cases).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Down("the harness is dead") from None
        answer = self._line()
        if not isinstance(answer, list) or len(answer) != len(sources):
            raise Down("it wrote to the harness's own answers")
        return [(bool(passed), str(word), str(detail)) for passed, word, detail in answer]

    def memory(self) -> int:
        """Bytes that the harness's process fills; the most it fills is counted from here (proc(5), clear_refs).
        Raises Down."""
        try:
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        except OSError:  # where it is dead
            raise Down("the harness is dead") from None
        return self._status("VmRSS")

    def grown(self, before: int) -> int:
        """Bytes that it filled beyond that, at most. Raises Down."""
        return self._status("VmHWM") - before

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        for line in lines:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise Down("the harness is dead")  # it fills nothing then

    def flooded(self) -> bool:
        """Whether the harness's own output has grown by more than a megabyte; it is emptied."""
        size = self.output.stat().st_size
        os.truncate(self.output, 0)
        return size > _FLOOD_BYTES

    def _line(self) -> Any:
        assert self.process.stdout is not None
        deadline = time.monotonic() + self.patience_s
        runs = time.monotonic()
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self._read:
            ready, _, _ = select.select([descriptor], [], [], 0.2)
            if not ready:
                # Its children may hold the pipe open, so that its end does not show there.
                if self.process.poll() is not None:
                    raise Down(f"the harness is dead (status {self.process.returncode})")
                if not state_of(self.process.pid).startswith(("t", "T")):
                    runs = time.monotonic()
                if time.monotonic() > runs + _STOPPED_S:
                    raise Down("the harness is stopped")
                if time.monotonic() > deadline:
                    raise Down(f"the harness gives no answer in {self.patience_s:g} s")
                continue
            data = os.read(descriptor, 1 << 16)
            if not data:
                said = self.output.read_bytes()[-600:].decode("utf-8", "replace").strip()
                raise Down(
                    f"the harness is dead (status {self.process.wait()}) {said.rpartition(chr(10))[2]}"
                )
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError:
            raise Down("it wrote to the harness's own answers") from None

    def close(self) -> None:
        """Let the harness end as it wants to; kill it where it does not."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()

    def kill(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.kill()
        self.process.wait()


def run(
    harness: str, wanted: Iterable[Attack], *, python: str = sys.executable, verbose: bool = False
) -> Report:
    """Run attacks, one after the other, against a harness of `host.HARNESSES`.

    python: the interpreter that the harness runs under. This process adopts what the harness and its
    programs leave behind, and kills all its children but its own when it is done: it wants a process of
    its own (`main`).

    Raises Down where the harness fails before any attack.
    """
    adopt_orphans()
    report = Report(harness)
    with Stage() as stage:
        host = Host(harness, python, stage)
        _check_innocents(host)
        for attack in wanted:
            known = stage.temporary_files()
            began = time.monotonic()
            word, detail, breaches, lives = _one(host, stage, attack)
            breaches += stage.breaches()
            if lives and "scratch folder" in attack.seen and (stays := stage.stays(known)):
                breaches.append(f"{len(stays)} of its folders stay")
            if not lives:
                host.kill()
                kill_children(lambda pid: pid == stage.victim.pid)
                host = Host(harness, python, stage)
                _check_innocents(host)
            row = Row(attack.name, word, detail, breaches, round(time.monotonic() - began, 2))
            report.rows.append(row)
            if verbose:
                print(
                    f"{row.attack:34} {row.word:13.13} {row.seconds:5.1f} s  {'; '.join(breaches) or '-'}  [{detail[:70]}]",
                    flush=True,
                )
            stage.sweep(host.path)
        host.close()
        time.sleep(0.1)
        report.left = [f"process left: {name}" for name in kill_children(lambda pid: pid == stage.victim.pid)]
        report.left += [f"file left: {path.name}" for path in stage.temporary.iterdir()]
    return report


def _innocents() -> tuple[list[str], list[bool]]:
    """Programs that run beside an attack, and whether each passes."""
    right, wrong = _WORK % (RIGHT - ASKED), _WORK % 1
    return [right, _SLEEPS % (RIGHT - ASKED), wrong, _RAISES, right], [True, True, False, False, True]


def _check_innocents(host: Host) -> None:
    sources, passes = _innocents()
    got = host.verdicts(sources)
    if [passed for passed, _, _ in got] != passes:
        raise Down(f"innocent programs are judged wrongly before any attack: {got}")


def _one(host: Host, stage: Stage, attack: Attack) -> tuple[str, str, list[str], bool]:
    """Verdict, its detail, how it got through as far as the harness shows it, and whether the harness lives."""
    facts = stage.facts | host.facts
    innocents, passes = _innocents()
    breaches: list[str] = []
    try:
        before = host.memory()
        with Census(stage) as census:
            sources = [innocents[0], attack.source(facts, RIGHT), *innocents[1:]]
            got = host.verdicts(sources, 1 if attack.seen.startswith("an answer") else None)
        grown = host.grown(before)
        if attack.family == "caller" and grown > GROWN_BYTES:
            breaches.append(f"the harness has grown by {grown >> 20} MB")
        if census.peak > PEAK:
            breaches.append(f"{census.peak} processes at once")
        passed, word, detail = got.pop(1)
        if passed:
            breaches.append("it passed")
        if word == "harness_error":
            breaches.append("the harness blames itself")
        if [one[0] for one in got] != passes:
            wrong = [
                f"{one[1]} {one[2]}"[:80] for one, right in zip(got, passes, strict=True) if one[0] != right
            ]
            breaches.append(f"programs beside it have other verdicts: {', '.join(wrong)}")
        if host.flooded():
            breaches.append("it wrote into the harness's output")
        # So many that one of them comes to where the attack was.
        if attack.has_heir and any(one[0] for one in host.verdicts([attack.heir(facts, RIGHT)] * HEIRS)):
            breaches.append("the next program finds it")
    except Down as error:
        return "", "", [*breaches, str(error)], False
    return word, detail, breaches, True


def chosen(suite: list[Attack], words: list[str]) -> list[Attack]:
    """The attacks of these names; where a word is no name, those whose names begin with it. No words: all."""
    names = {attack.name for attack in suite}
    begins = tuple(word for word in words if word not in names)
    return [a for a in suite if not words or a.name in words or a.name.startswith(begins)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("harness")
    parser.add_argument("--python", default=sys.executable, help="interpreter that the harness runs under")
    parser.add_argument("--only", nargs="*", default=[], help="attacks, or the first words of their names")
    parser.add_argument("--json", type=argparse.FileType("w"), help="where the report goes as JSON")
    given = parser.parse_args()
    wanted = chosen(attacks(), given.only)
    report = run(given.harness, wanted, python=given.python, verbose=True)
    if given.json:
        json.dump(asdict(report), given.json)
    through = [row for row in report.rows if row.breaches]
    print(f"{len(through)} of {len(report.rows)} got through", *report.left, sep="\n")


if __name__ == "__main__":
    main()
