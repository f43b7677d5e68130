"""Scoring cells by running, on real notebooks: does it tell the same from nearly the same, and how fast?

    python benchmarks/trials.py FOLDER [--cells 200] [--each 4] [--seconds 15] [--seed 0] [--out trials.jsonl]

FOLDER is searched for notebooks; where it has files MANIFEST.tsv with a column `seconds`, those that took
longer than --seconds are left out. Of each notebook up to --each cells are drawn; it goes on until --cells
could be scored that do not raise. Each one is scored against itself, rewritten (`rewrites`) and nearly
rewritten. What scores otherwise than expected is printed: whether near misses that score 1 really do the same
is for a reader to see. In a cell that raises, all do that change what it does not come to; these are counted
apart.
"""

import argparse
import csv
import json
import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.rewrites import EQUIVALENT, NEAR, equivalents, near_misses
from deskcheck.errors import DeskcheckError
from deskcheck.notebook import Execution, TrialLimits, Trials, read_notebook


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--each", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    notebooks = [
        path for path in sorted(given.folder.rglob("*.ipynb")) if took(path, given.folder) <= given.seconds
    ]
    random.Random(given.seed).shuffle(notebooks)
    found: list[dict[str, Any]] = []
    done = 0
    for path in notebooks:
        if done >= given.cells:
            break
        found += cells_of(path, given.each, given.seed)
        done = sum(row["status"] == "ok" for row in found)
        print(f"{done} of {len(found)} cells: {path}", flush=True)
        if given.out is not None:
            given.out.write_text("".join(json.dumps(row) + "\n" for row in found))
    report(found)


def took(path: Path, folder: Path) -> float:
    """Seconds of a notebook's trial run, as a MANIFEST.tsv above it says; 0 where none does."""
    for above in path.parents:
        manifest = above / "MANIFEST.tsv"
        if manifest.exists():
            with manifest.open(newline="") as stream:
                for row in csv.DictReader(stream, delimiter="\t"):
                    if row["path"] == str(path.relative_to(above)):
                        return float(row["seconds"] or 0)
        if above == folder:
            break
    return 0.0


def cells_of(path: Path, each: int, seed: int) -> list[dict[str, Any]]:
    """A row for each cell that was drawn from a notebook."""
    found: list[dict[str, Any]] = []
    try:
        trajectory = read_notebook(path)
        steps = [
            n
            for n, step in enumerate(trajectory.steps)
            if isinstance(step, Execution) and step.source.strip()
        ]
        drawn = sorted(random.Random(f"{seed} {path.name}").sample(steps, min(each, len(steps))))
        with Trials(trajectory, folder=path.parent, limits=TrialLimits(trial_s=10)) as trials:
            for step in drawn:
                began = time.perf_counter()
                place = trials.at(step)
                source = place.execution.source
                row: dict[str, Any] = {"notebook": str(path), "step": step, "source": source, "scores": []}
                row["refusal"] = place.refusal
                row["status"] = None if row["refusal"] else place.true.status
                found.append(row)
                if row["refusal"] is None:
                    rewritten = [
                        ("itself", source),
                        *equivalents(source, place.later),
                        *near_misses(source),
                    ]
                    for kind, candidate in rewritten:
                        since = time.perf_counter()
                        scored = place.score(candidate)
                        row["scores"].append(
                            {
                                "kind": kind,
                                "source": candidate,
                                "score": scored.score,
                                "why": [[d.kind, d.name, d.detail] for d in scored.why],
                                "seconds": time.perf_counter() - since,
                            }
                        )
                row["seconds"] = time.perf_counter() - began
    except DeskcheckError as error:
        print(f"{path}: {error}")
    return found


def report(found: list[dict[str, Any]]) -> None:
    """Print how cells and their rewrites were scored."""
    scored = [row for row in found if row["refusal"] is None]
    notebooks = len({row["notebook"] for row in found})
    print(f"\n{notebooks} notebooks, {len(found)} cells drawn, {len(scored)} can be scored")
    for why, count in Counter(_kind(row["refusal"]) for row in found if row["refusal"]).most_common():
        print(f"  {count:4}  {why}")
    for status, what in (("ok", "cells that end well"), ("error", "cells that raise")):
        rows = [row for row in scored if row["status"] == status]
        scores = Counter((score["kind"], score["score"]) for row in rows for score in row["scores"])
        print(f"\n{what}: {len(rows)}\nkind              n  score 1  score 0  not told")
        for kind in (*EQUIVALENT, *NEAR):
            by = [scores[kind, score] for score in (1, 0, None)]
            print(f"{kind:14} {sum(by):4} {by[0]:8} {by[1]:8} {by[2]:9}")
        for what, kinds, right in (("a rewrite", EQUIVALENT[1:], 1), ("a near miss", NEAR, 0)):
            tried = [[m["score"] for m in row["scores"] if m["kind"] in kinds] for row in rows]
            every = sum(bool(each) and {*each} == {right} for each in tried)
            print(
                f"cells with {what}: {sum(map(bool, tried))}; where one scores {right}: "
                f"{sum(right in each for each in tried)}; where all do: {every}"
            )
    seconds = [score["seconds"] for row in scored for score in row["scores"]]
    if seconds:
        median, mean = 1000 * statistics.median(seconds), 1000 * statistics.mean(seconds)
        print(f"\na score: median {median:.1f} ms, mean {mean:.1f} ms")
    for row in scored:
        for score in row["scores"]:
            if row["status"] == "ok" and score["score"] != (score["kind"] in EQUIVALENT):
                print(f"\n--- {row['notebook']} step {row['step']}: {score['kind']}, score {score['score']}")
                print(score["why"], row["source"], "---", score["source"], sep="\n")


def _kind(refusal: str) -> str:
    return (
        refusal if refusal.startswith("the true cell does") else refusal.partition(":")[0].partition("(")[0]
    )


if __name__ == "__main__":
    main()
