"""Kills jobs at random moments until they are whole and compares with one that nothing happened to, row for row:

    python -m tests.jobs.kills --rounds 30 --programs 200 worker driver sigterm disk node

The suite does the same with few rounds; this is to be run by hand. `disk`: the folder is on a disk of its own that
fills up (a tmpfs, where one can be mounted, as root; else the size of files is bounded). `node` needs the extra [scale].
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from deskcheck.jobs import LocalPool
from deskcheck.jobs.status import status
from deskcheck.recorder.job import record_job
from tests.jobs.jobs import OPEN, sums
from tests.jobs.same import digests, order

JOB = """
import resource, sys
from deskcheck.recorder.job import record_job
from deskcheck.jobs import LocalPool
from tests.jobs.jobs import OPEN, sums
most = int(sys.argv[3])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
record_job(sums(int(sys.argv[2])), sys.argv[1], runner=LocalPool(2), settings=OPEN, size=10)
"""


def start(folder: Path, programs: int, file_bytes: int = 0) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder), str(programs), str(file_bytes)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, ["", *sys.path]))},
    )


def workers_of(driver: int) -> list[int]:
    with open(f"/proc/{driver}/task/{driver}/children") as file:
        return [int(pid) for pid in file.read().split()]


def kill_driver(choose: random.Random, folder: Path, programs: int, number: int = signal.SIGKILL) -> str:
    with start(folder, programs) as driver:
        time.sleep(choose.uniform(0.5, 6))
        driver.send_signal(number)
        driver.communicate()
    return f"driver ended with {driver.returncode}, {status_of(folder)}"


def terminate(choose: random.Random, folder: Path, programs: int) -> str:
    return kill_driver(choose, folder, programs, signal.SIGTERM)


def kill_worker(choose: random.Random, folder: Path, programs: int) -> str:
    with start(folder, programs) as driver:
        time.sleep(choose.uniform(1, 6))
        found = workers_of(driver.pid) if driver.poll() is None else []
        for pid in found[:1]:
            os.kill(pid, signal.SIGKILL)
        driver.communicate()
    assert driver.returncode == 0, driver.returncode
    return f"killed {len(found[:1])} of {len(found)} workers"


def fill_disk(choose: random.Random, folder: Path, programs: int) -> str:
    size = choose.randrange(40_000, 400_000)
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        with start(folder, programs, file_bytes=choose.randrange(500, 9000)) as driver:
            _, said = driver.communicate()
        return f"files bounded: {driver.returncode}: {last(said)}"
    try:
        with start(folder, programs) as driver:
            _, said = driver.communicate()
        subprocess.run(["mount", "-o", "remount,size=64m", str(folder)], check=True)
        record_job(sums(programs), folder, runner=LocalPool(2), settings=OPEN, size=10)
        shutil.copytree(folder, folder.with_suffix(".kept"))
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()
    folder.with_suffix(".kept").rename(folder)
    return f"disk of {size} bytes: {driver.returncode}: {last(said)}"


def last(said: bytes) -> str:
    return (said.decode("utf-8", "replace").strip().splitlines() or ["nothing was said"])[-1][-120:]


def status_of(folder: Path) -> str:
    if not (folder / "job.json").exists():
        return "before the plan was written"
    found = status(folder)
    return f"with {found.totals.programs} of {found.programs} whole"


def lose_node(choose: random.Random, folder: Path, programs: int) -> str:
    """One of two nodes of a Ray cluster goes away without a word, and another comes."""
    after = choose.uniform(0.0, 5.0)
    command = [sys.executable, "-m", "tests.jobs.on_ray", str(folder), str(programs), "--lose", str(after)]
    path = os.pathsep.join(filter(None, ["", *sys.path]))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    return f"lost after {after:.1f} of {told['wall_s']:.1f} s, given out again: {told['tried_again']}"


KINDS: dict[str, Callable[[random.Random, Path, int], str]] = {
    "worker": kill_worker,
    "driver": kill_driver,
    "sigterm": terminate,
    "disk": fill_disk,
    "node": lose_node,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS) + "; all without any")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    choose = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="deskcheck-kills-") as scratch:
        whole = Path(scratch) / "undisturbed"
        record_job(sums(args.programs), whole, runner=LocalPool(2), settings=OPEN, size=10)
        expected = digests(whole), order(whole)
        for kind in args.kinds or KINDS:
            for number in range(args.rounds):
                folder = Path(scratch) / f"{kind}{number}"
                said = KINDS[kind](choose, folder, args.programs)
                record_job(sums(args.programs), folder, runner=LocalPool(2), settings=OPEN, size=10)
                assert (digests(folder), order(folder)) == expected, folder
                assert not (folder / ".job").exists()
                print(f"{kind} {number}: {said}; started again: equal", flush=True)
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
