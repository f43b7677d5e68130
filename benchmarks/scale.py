"""What jobs in shards cost beside the bare recorder, and how far they go: `benchmarks/scale.py --help`.

Everything is measured in one run, in turn: the recorder into a folder, the local pool, Ray; with small calls,
or with the programs of sources. Memory is that of the driver and of the largest process under it. It
prints JSON texts, a line each; with --publish and files that hold such lines a page gets the tables of them,
and nothing is measured.
"""

import argparse
import itertools
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks._measure import peak_rss
from benchmarks._page import machine, published
from benchmarks._scale_page import BEGIN, END, page
from deskcheck.jobs import LocalPool
from deskcheck.jobs.job import TaskAnswer
from deskcheck.recorder.job import record_job
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.program import Mode, Program
from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.limits import Limits
from deskcheck.sources import programs as programs_of
from deskcheck.tracer.limits import TraceLimits
from tests.jobs.same import digests
from tests.tracer import agree


def programs(count: int) -> Iterator[Program]:
    """Small calls that all differ, a few dozen events each: what training sets are made of."""
    for n in range(count):
        body = (
            f"    found = []\n    for i in range(x):\n        found.append(i * {n})\n    return sum(found)\n"
        )
        call: dict[str, Any] = {"entry": "f", "arguments": f"({n % 9},)", "source": "benchmark"}
        yield Program(id=f"p{n}", code=f"def f(x):\n{body}", mode=Mode.CALL, **call)


SETTINGS = RecordSettings(repeat=False)
BOUNDED = RecordSettings(
    repeat=False,
    limits=Limits(cpu_s=1, wall_s=20),
    trace_limits=TraceLimits(events=20_000),
    determinism=Determinism(clock=1e9, random_seed=0),
)
"""Of programs that others wrote: some run for minutes, and some draw numbers."""


def kept(path: Path, count: int) -> Iterator[Program]:
    """Programs of a file that `keep` wrote, spread over it: the share of each source is the same."""
    with open(path, encoding="ascii") as file:
        every = max(1, sum(1 for _ in file) // count)
        file.seek(0)
        for line in itertools.islice(file, 0, every * count, every):
            yield Program.from_dict(json.loads(line))


def keep(sources: list[str], count: int, path: Path) -> int:
    """Write the programs of sources, one after another, no more than `count`, each id once; how many there
    are. What a source is slow to make is so made once for all ways to record."""
    seen: set[str] = set()
    with open(path, "w", encoding="ascii") as file:
        for source in sources:
            before = len(seen)
            for program in agree.published("p3") if source == "p3" else programs_of(source):
                if len(seen) == count:
                    break
                if program.id not in seen:
                    seen.add(program.id)
                    row = {name: getattr(program, name) for name in Program.__dataclass_fields__}
                    file.write(json.dumps(row) + "\n")
            print(json.dumps({"source": shown(source), "programs": len(seen) - before}), flush=True)
    return len(seen)


def job(given: Iterator[Program], folder: Path, where: str, workers: int, settings: RecordSettings) -> None:
    if where == "local":
        record_job(given, folder, runner=LocalPool(workers), settings=settings)
        return
    from deskcheck.jobs.ray import RayCluster

    with two_or_more(workers) if where == "nodes" else nullcontext():
        record_job(given, folder, runner=RayCluster(at_once=workers), settings=settings)


@contextmanager
def two_or_more(nodes: int) -> Iterator[None]:
    """A Ray cluster of so many nodes on this machine, on loopback alone, each with one processor."""
    import ray
    from ray.cluster_utils import Cluster

    # What is called 127.0.0.1 Ray takes for the machine's address.
    node = {"num_cpus": 1, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.2"}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**node)
        ray.init(address=cluster.address, _node_ip_address="127.0.0.2", log_to_driver=False)
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def measure(what: str, count: int, folder: Path, workers: int, given: Path | None) -> dict[str, Any]:
    """One way to record, in this process."""
    began = time.monotonic()
    items, settings = (programs(count), SETTINGS) if given is None else (kept(given, count), BOUNDED)
    if what == "recorder":
        record_programs(items, folder, settings, workers=workers)
    else:
        job(items, folder, what, workers, settings)
    took = time.monotonic() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "what": what,
        "programs": count,
        "wall_s": took,
        "per_s": count / took,
        "cpu_s": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        "driver_mb": peak_rss() / 1e6,
        "worker_mb": children.ru_maxrss / 1024,
        "size_bytes": sum(path.stat().st_size for path in folder.glob("*.parquet")),
    }


def in_its_own(
    what: str, count: int, folder: Path, workers: int, given: Path | None = None
) -> dict[str, Any]:
    """`measure` in a process of its own, so that memory is told apart."""
    asked = ["--one", what, str(count), str(folder), str(workers)]
    if given is not None:
        asked += ["--given", str(given)]
    done = subprocess.run([sys.executable, __file__, *asked], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Nobody:
    """A runner that answers at once and leaves two empty files: what is left is the driver's own work."""

    def __init__(self) -> None:
        self._answers: list[TaskAnswer] = []

    @property
    def room(self) -> int:
        return 64 - len(self._answers)

    def submit(self, number: int, task: dict[str, Any]) -> None:
        line = {"shard": task["shard"], "programs": task["stop"], "events": 0, "not_repeatable": 0}
        line |= {"outcomes": {"returned": task["stop"]}, "problems": {}, "finished": 0.0}
        line |= {name: dict.fromkeys(("recordings", "events"), 0) for name in ("bytes", "sha256")}
        for table in ("recordings", "events"):
            Path(task["folder"], f"{table}-{task['shard']}.parquet").touch()
        self._answers.append(TaskAnswer(number, result=line))

    def wait(self, timeout_s: float) -> list[TaskAnswer]:
        found, self._answers = self._answers, []
        return found

    def close(self, *, kill: bool) -> None:
        pass


def driver_alone(count: int) -> Iterator[dict[str, Any]]:
    """What a job of so many programs costs its driver, and starting it again when it is whole."""
    with tempfile.TemporaryDirectory(prefix="deskcheck-bench-") as folder:
        for what in ("driver alone", "again"):
            cpu, wall = time.process_time(), time.monotonic()
            summary = record_job(programs(count), folder, runner=Nobody(), settings=SETTINGS)
            yield {
                "what": what,
                "programs": count,
                "shards": summary.totals.shards,
                "cpu_s": time.process_time() - cpu,
                "wall_s": time.monotonic() - wall,
                "driver_mb": peak_rss() / 1e6,
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000, help="of the comparison")
    parser.add_argument("--few", type=int, default=0, help="of the smaller job for memory; 0: leave it out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--ways", default="recorder,local,ray", help="of these, and nodes: a Ray cluster of a node a worker"
    )
    parser.add_argument(
        "--sources",
        nargs="+",
        metavar="SOURCE",
        help="programs of these (p3: its puzzles), up to --programs",
    )
    parser.add_argument("--driver", type=int, metavar="COUNT", help="the driver alone, of a job of so many")
    parser.add_argument(
        "--one", nargs=4, metavar=("WHAT", "COUNT", "FOLDER", "WORKERS"), help=argparse.SUPPRESS
    )
    parser.add_argument("--given", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "--publish", type=Path, metavar="PAGE", help="write what the files of --from hold there"
    )
    parser.add_argument("--from", dest="results", nargs="+", type=Path, metavar="FILE", default=[])
    args = parser.parse_args()
    if args.publish:
        text = page([path.read_text(encoding="utf-8") for path in args.results])
        args.publish.write_text(published(text, args.publish, BEGIN, END), encoding="utf-8")
        return
    if args.one:
        what, count, folder, workers = args.one
        print(json.dumps(measure(what, int(count), Path(folder), int(workers), args.given)))
        return
    command = " ".join(["python benchmarks/scale.py", *map(shown, sys.argv[1:])])
    about: dict[str, Any] = {"command": command, "machine": machine()}
    about |= {"python": platform.python_version(), "date": f"{date.today()}", "load": os.getloadavg()}
    print(json.dumps(about), flush=True)
    if args.driver:
        for row in driver_alone(args.driver):
            print(json.dumps(row))
        return
    ways = args.ways.split(",")
    found: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory(prefix="deskcheck-bench-") as scratch:
        root, kept_in, count = Path(scratch), None, args.programs
        if args.sources:
            kept_in = root / "programs.jsonl"
            count = keep(args.sources, count, kept_in)
        for number in range(args.rounds):
            for way in ways if number % 2 == 0 else ways[::-1]:
                folder = root / way
                shutil.rmtree(folder, ignore_errors=True)
                found[way].append(in_its_own(way, count, folder, args.workers, kept_in))
                print(json.dumps(found[way][-1]), flush=True)
        print(json.dumps(compared({way: digests(root / way) for way in ways})), flush=True)
        if "local" in ways:
            print(json.dumps({"again": in_its_own("local", count, root / "local", args.workers, kept_in)}))
        if args.few:
            print(json.dumps({"few": in_its_own("local", args.few, root / "few", args.workers, kept_in)}))
    medians = {way: statistics.median(run["per_s"] for run in runs) for way, runs in found.items()}
    first = ways[0]
    ratios = {f"{way} / {first}": medians[way] / medians[first] for way in ways[1:]}
    print(json.dumps({"per_s": medians, **ratios}))


def shown(word: str) -> str:
    """A word of the command, without the folders of this machine."""
    kind, colon, path = word.rpartition(":")
    return f"{kind}{colon}{Path(path).name if '/' in path and kind else path}"


def compared(rows: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Whether all ways gave the same rows, and which programs' differ, some of them."""
    (first, expected), *others = rows.items()
    differ = {}
    for way, found in others:
        names = sorted(expected.keys() | found.keys())
        differ[f"{way}, {first}"] = [name for name in names if expected.get(name) != found.get(name)]
    return {
        "rows": len(expected),
        "differ": {ways: len(names) for ways, names in differ.items()},
        "some": {ways: names[:20] for ways, names in differ.items()},
    }


if __name__ == "__main__":
    main()
