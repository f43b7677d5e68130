"""Rewards a second of processor time, by kind of question: of right, wrong and unreadable answers.

    deskcheck record cruxeval:cruxeval_600.jsonl --out runs/crux --no-repeat
    deskcheck offline questions runs/crux --question output,input,state,path --limit 200 --out questions.jsonl
    python -m benchmarks.rewards questions.jsonl

Each question gets a group of completions, as a trainer makes them. Processor time is that of this process and
of the sandbox's processes.
"""

import argparse
import json
import os
import platform
import resource
import time
from collections.abc import Sequence
from pathlib import Path

import deskcheck

GROUP = 8


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the machine, and a row for each kind and for all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--workers", type=int, default=2, help="answers that are run at once")
    given = parser.parse_args(arguments)
    print(f"{processor()}, {os.cpu_count()} processors, CPython {platform.python_version()}")
    print(f"{'kind':<14} {'rewards':>8} {'right':>7} {'a CPU second':>13} {'a second':>9}")
    rows = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()]
    for kind in sorted({row["question"] for row in rows}):
        asked = [row for row in rows if row["question"] == kind]
        print_kind(given.questions, kind, asked, given.workers)


def print_kind(questions: Path, kind: str, asked: list[dict[str, str]], workers: int) -> None:
    ids = [row["id"] for row in asked for _ in range(GROUP)]
    texts = [
        text for at, row in enumerate(asked) for text in completions(row["answer"], asked[at - 1]["answer"])
    ]
    rewarded = deskcheck.reward(questions, workers=workers)
    started, used = time.perf_counter(), cpu_s()
    with rewarded:
        got = [
            reward
            for at in range(0, len(ids), GROUP)
            for reward in rewarded(completions=texts[at : at + GROUP], id=ids[at : at + GROUP])
        ]
    spent, took = cpu_s() - used, time.perf_counter() - started
    right = sum(map(bool, got)) / len(got)
    print(f"{kind:<14} {len(got):>8} {right:>7.1%} {len(got) / spent:>13.0f} {len(got) / took:>9.0f}")


def completions(answer: str, other: str) -> list[str]:
    """A group: four right, with words before them; two of another question; two without an answer."""
    words = "Let me go through it line by line. " * 20
    right, wrong = f"{words}\n[ANSWER]{answer}[/ANSWER]", f"{words}\n[ANSWER]{other}[/ANSWER]"
    return [*[right] * 4, *[wrong] * 2, words, ""]


def cpu_s() -> float:
    """Of this process and of those that it started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def processor() -> str:
    """Its model, as the kernel names it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next(
        (line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine()
    )


if __name__ == "__main__":
    main()
