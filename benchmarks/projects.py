"""`deskcheck bench` on real projects: what is in the benchmark, whether the oracle is right, what it took.

    pip download --no-deps --no-binary :all: attrs humanize boltons sqlparse -d sdists
    python benchmarks/projects.py sdists/*.tar.gz --out runs/projects

Each source distribution is unpacked in the folder, and its benchmark made beside it. A project whose
benchmark is there is read. Exit status 1 where an oracle is not right everywhere.
"""

import argparse
import subprocess
import sys
import tarfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from deskcheck.ask.results.project_benchmark import Benchmark
from deskcheck.bench.benchmark import make_benchmark
from deskcheck.errors import DeskcheckError


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sdists", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("runs/projects"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    print(subprocess.run(["nproc"], capture_output=True, text=True, check=False).stdout.strip(), "processors")
    for file in given.sdists:
        try:
            began = time.monotonic()
            found = make_benchmark(unpacked(file, given.out), given.out / f"bench-{file.name[:-7]}")
        except DeskcheckError as error:
            wrong += 1
            print(f"{file.name}: {error}")
            continue
        wrong += not found.right
        print(row(found, time.monotonic() - began))
    sys.exit(wrong > 0)


def unpacked(file: Path, out: Path) -> Path:
    """The folder of a source distribution, unpacked once."""
    folder = out / file.name.removesuffix(".tar.gz")
    if not folder.exists():
        with tarfile.open(file) as archive:
            archive.extractall(out, filter="data")
    return folder


def row(found: Benchmark, wall_s: float) -> str:
    here, there = found.public
    from_tests, made, _ = found.origins
    why_not: Counter[str] = Counter(each.why_not for each in found.functions if each.public and each.why_not)
    scores: dict[str, Any] = {
        kind.name: f"{kind.samples} ({kind.scores['oracle'].value:.3f}, {kind.scores['guess'].value:.3f})"
        for kind in found.kinds
        if kind.samples
    }
    took = (
        ""
        if found.own_s is None
        else f"; tests {found.own_s:.1f} s of CPU, recording {found.cost_s:.1f} s, "
        f"made inputs {found.inputs_s or 0:.1f} s"
    )
    said = ", ".join(f"{name} {text}" for name, text in scores.items())
    left = ", ".join(f"{count} {reason}" for reason, count in why_not.most_common())
    return (
        f"{found.name} {found.version}: {found.samples} questions about {found.clusters} functions; public: "
        f"{here} of {there}, {from_tests} from tests, {made} from made inputs\n"
        f"  questions (oracle, guess): {said}\n"
        f"  not asked about: {left or 'none'}\n  {wall_s:.0f} s{took}"
    )


if __name__ == "__main__":
    main()
