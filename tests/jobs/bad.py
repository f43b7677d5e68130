"""A job of which one program in so many is bad, each in its way: all others as without them, the bad ones named:

    python -m tests.jobs.bad --programs 20000 --every 1000

Two jobs: programs that crash, fill the memory, loop, fork or print without end, in the sandbox (`HOSTILE`); and programs
that kill the process that records them, where the sandbox lets them. The suite does the same with few; this is to be
run by hand.
"""

import argparse
import itertools
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from deskcheck.jobs import LocalPool
from deskcheck.jobs.status import failures
from deskcheck.recorder.job import record_job
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording.outcome import Outcome
from deskcheck.recording.program import Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.limits import Limits
from tests.jobs.jobs import HOSTILE, OPEN, hostile, killer, sums
from tests.jobs.same import digests

CLOSED = RecordSettings(repeat=False, limits=Limits(cpu_s=1, wall_s=10))
SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)


def among(good: Iterator[Program], bad: Iterator[Program], every: int) -> Iterator[Program]:
    """Good programs; after every `every` - 1 of them a bad one."""
    while some := [*itertools.islice(good, every - 1)]:
        yield from some
        if len(some) == every - 1:
            yield next(bad)


def in_the_sandbox() -> Iterator[Program]:
    for number, kind in enumerate(itertools.cycle(HOSTILE)):
        yield hostile(kind, f"{kind}-{number}")


def at_the_worker() -> Iterator[Program]:
    for number, what in enumerate(itertools.cycle(SIGNALS)):
        yield killer(f"{what.name}-{number}", what)


def run(
    what: str, root: Path, bad: Iterator[Program], settings: RecordSettings, count: int, every: int
) -> None:
    """Record good programs with bad ones among them and without, compare, and print what became of the bad ones."""
    with_them, without = root / f"{what} with", root / f"{what} without"
    good = count - count // every
    began = time.monotonic()
    summary = record_job(
        among(sums(good), bad, every), with_them, runner=LocalPool(2), settings=settings, size=500
    )
    took = time.monotonic() - began
    record_job(sums(good), without, runner=LocalPool(2), settings=settings, size=500)
    found, expected = digests(with_them), digests(without)
    assert len(found) == count
    assert {name: found[name] for name in expected} == expected
    ended = {r.id: r.outcome for r in Recordings(with_them) if r.id not in expected}
    assert len(ended) == count // every
    named = failures(with_them, limit=count)
    told = {name for programs in named.values() for name in programs}
    kinds = Counter((name.partition("-")[0], end.value) for name, end in ended.items())
    for name, outcome in ended.items():
        kind = name.partition("-")[0]
        expected_outcome = HOSTILE[kind][1] if kind in HOSTILE else Outcome.HARNESS_ERROR
        assert outcome is not Outcome.RETURNED, name
        assert expected_outcome in (None, outcome), f"{name}: {outcome}"
        assert expected_outcome is None or name in told, f"{name} is not named"
    print(f"{what}: {count} programs in {took:.0f} s, the {good} good ones as without the bad ones")
    for (kind, end), times in sorted(kinds.items()):
        print(f"  {times:4d} {kind}: {end}")
    print(f"  given out again: {dict(summary.tried_again)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=1000)
    args = parser.parse_args()
    if not 1 < args.every <= args.programs:
        sys.exit("--every must be at least 2, and no more than --programs")
    with tempfile.TemporaryDirectory(prefix="deskcheck-bad-") as scratch:
        for what, bad, settings in (
            ("in the sandbox", in_the_sandbox(), CLOSED),
            ("at the worker", at_the_worker(), OPEN),
        ):
            run(what, Path(scratch), bad, settings, args.programs, args.every)


if __name__ == "__main__":
    main()
