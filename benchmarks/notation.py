"""How long traces are in each notation, in characters, and how many fit a budget of tokens.

    deskcheck record cruxeval:cruxeval_600.jsonl --out runs/crux --no-repeat
    python -m benchmarks.notation runs/crux

A token counts as three characters: no tokenizer comes with deskcheck. Recordings whose trace is cut are left
out and counted.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from deskcheck.notation import NOTATIONS
from deskcheck.recording.reader import Recordings

CHARS_A_TOKEN = 3
BUDGETS = (2_000, 8_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each notation that the recordings can be written in."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    lengths: dict[str, list[int]] = {}
    unread = cut = 0
    for recording in Recordings(given.folder):
        if recording.trace.cut or recording.run_result.cut:
            cut += 1
            continue
        for name, notation in NOTATIONS.items():
            if notation.instructions and recording.environment.granularity != "instruction":
                continue
            text = notation.render(recording)
            lengths.setdefault(name, []).append(len(text))
            unread += bool(notation.parse(text).unreadable)
    print(f"{given.folder}: {cut} cut and left out; {unread} texts that could not be read back")
    print(f"{'notation':<20} {'n':>5} {'mean':>8} {'median':>7} {'p90':>7} {'p99':>8} {'max':>9}", end="")
    print(f"  fit {BUDGETS} tokens")
    for name, chars in lengths.items():
        found = sorted(chars)
        p90, p99 = (found[min(len(found) - 1, len(found) * part // 100)] for part in (90, 99))
        fit = "  ".join(
            f"{sum(n <= budget * CHARS_A_TOKEN for n in chars) / len(chars):.1%}" for budget in BUDGETS
        )
        mean, median = statistics.mean(chars), statistics.median(chars)
        print(
            f"{name:<20} {len(chars):>5} {mean:>8.0f} {median:>7.0f} {p90:>7} {p99:>8} {found[-1]:>9}  {fit}"
        )


if __name__ == "__main__":
    main()
