"""The long executions of Execution Tuning, and CRUXEval, at the levels `processor` and `reader`.

    python -m benchmarks.long_executions FOLDER [--reader MODEL] [--cruxeval FILE] [--quick]

Collatz, the binary counter and iterative Fibonacci with the paper's inputs (arXiv:2503.05703: 4 of 1 to 20, 5
of 20 to 4,000, among them 3038), all texts of each; its own texts were not published. Each run starts from
its first state, and its own answers are fed back. Beside what is right: how many runs are inside of the
language that the level declares, and why the others are not. Without --reader: the models that ship.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from deskcheck_levels.processor.stepping import LevelReport, Processor, run_level
from deskcheck_levels.reader.stepping import ReaderModels
from deskcheck_levels.shipped import folder_of

from benchmarks._commands import run
from benchmarks._page import machine, table
from deskcheck.ask.results.statistics import bounds_text
from deskcheck.recording.reader import Recordings

FAMILIES = ("collatz", "binary_counter", "fibonacci")
MOST_STEPS = 1_000_000


def sources(options: argparse.Namespace) -> dict[str, str]:
    """What is recorded, by name."""
    inputs = "texts=0,inputs=2,events=300" if options.quick else "inputs=paper"
    found = {name: f"family:{name},{inputs}" for name in FAMILIES}
    if options.cruxeval is not None:
        found["cruxeval"] = f"cruxeval:{options.cruxeval}"
    return found


def line(level: str, name: str, found: LevelReport) -> list[str]:
    """A row of the table."""
    steps, of = found.steps, len(found.runs)
    if steps is None or steps.exact is None:
        return [level, name, f"0 of {of}", *["-"] * 5]
    bounds = bounds_text(steps.exact.low, steps.exact.high, form=".5f", between="-")
    exact = f"{steps.exact.value:.5f} ({bounds})"
    whole = f"{steps.whole} of {steps.runs}"
    causes = Counter(
        run.agreement.first.value
        for run in found.runs
        if run.outside is None and run.agreement.first is not None
    )
    wrong = ", ".join(f"{count} {cause}" for cause, count in causes.most_common())
    return [
        level,
        name,
        f"{steps.runs} of {of}",
        whole,
        f"{steps.judged:,}",
        exact,
        f"{steps.longest:,}",
        wrong,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", type=Path, help="folder of a model of the level reader")
    parser.add_argument("--cruxeval", type=Path, help="its file")
    parser.add_argument("--quick", action="store_true", help="two short runs of one text of each")
    options = parser.parse_args()
    levels: dict[str, Processor | ReaderModels] = {
        "processor": Processor(folder_of("nano")),
        "reader": ReaderModels(options.reader or folder_of("nano")),
    }
    rows, outside = [], []
    told: dict[str, object] = {"machine": machine()}
    for name, source in sources(options).items():
        out = options.folder / name
        if not out.exists():
            run("record", source, "--out", str(out), "--sandbox", "trusted", "--no-repeat")
        for level, model in levels.items():
            found = run_level(Recordings(out), model.machine, budget=MOST_STEPS)
            told[f"{level}, {name}"] = found.to_dict()
            rows.append(line(level, name, found))
            print(" | ".join(rows[-1]), flush=True)
            outside += [[level, name, why, str(count)] for why, count in found.outside.items()]
    head = ["level", "runs", "inside", "right to the end", "steps", "exact (95 %)", "longest", "first wrong"]
    print("\n" + table(head, rows))
    if outside:
        print("\n" + table(["level", "runs", "outside, because of", "runs that are"], outside))
    (options.folder / "figures.json").write_text(json.dumps(told, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
