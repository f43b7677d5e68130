"""Outputs of every command, frozen, so that a change that means to leave them alone can show that it does.

    python -m tests.frozen make       run every command; write the digests, and whole outputs into .frozen/
    python -m tests.frozen compare    run every command; name each item that has another digest, with a diff

        --more          also the large sets
        --only STEP     these steps alone, and those before them whose outputs they read: names, with commas
        --diffs N       diffs shown of each step (3)

The digests are those of CPython 3.11. On another version `make` writes instead the list of items that differ there,
and `compare` accepts these. The exit status of `compare` is 1 if anything differs, an item is new or missing.
"""

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from tests.frozen.commands import STEPS, Share, Step
from tests.frozen.items import RENAMED, Renamed
from tests.frozen.run import folder, missing, run
from tests.frozen.store import EXACT, Store


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__.splitlines()[0])
    parser.add_argument("act", choices=("make", "compare"))
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--only", default="*")
    parser.add_argument("--diffs", type=int, default=3)
    options = parser.parse_args()
    chosen = chosen_steps(options.only, options.more)
    store, different, used, cpu_s = Store(), 0, set[Renamed](), 0.0
    with folder() as work:
        lacking = left_out(chosen, work)
        for step in chosen:
            if step.name in lacking:
                print(f"{step.name}: left out, {lacking[step.name]}", file=sys.stderr)
                continue
            if step.same_bytecode and not EXACT:
                continue
            ran = run(step, work)
            used |= ran.used
            cpu_s += ran.cpu_s
            print(
                f"{step.name}: {len(ran.items)} items, {ran.cpu_s:.1f} s of CPU time",
                file=sys.stderr,
                flush=True,
            )
            if options.act == "make" and not ran.well:
                sys.exit(
                    f"{step.name}: not the exit status {step.status}; nothing is frozen of it\n{ran.items}"
                )
            if options.act == "make":
                store.make(step.name, ran.items)
            else:
                different += store.compare(step.name, ran.items, options.diffs)
    print(f"{cpu_s:.0f} s of CPU time", file=sys.stderr)
    for renamed in set(RENAMED) - used if options.only == "*" else ():
        print(
            f"no output has the key {renamed.new!r} in {renamed.where}: take it from RENAMED", file=sys.stderr
        )
    if options.act == "compare":
        print(f"{different} items differ" if different else "nothing differs")
    return int(different > 0)


def chosen_steps(only: str, more: bool) -> list[Step]:
    """The steps that one of the names meets, patterns with commas between, and those before them that write what they
    read; in order.

    Raises SystemExit where a name meets none.
    """
    names = only.split(",")
    known = [step for step in STEPS if more or step.share is not Share.MORE]
    if strange := [name for name in names if not any(fnmatchcase(step.name, name) for step in known)]:
        there = ", ".join(step.name for step in known)
        sys.exit(
            f"--only: no step is called {', '.join(strange)}. There are {there}{'' if more else '; more with --more'}."
        )
    found: list[Step] = []
    read: set[str] = set()
    for step in reversed(known):
        if any(fnmatchcase(step.name, name) for name in names) or not read.isdisjoint(_writes(step)):
            found.append(step)
            read.update(step.arguments)
    return found[::-1]


def left_out(steps: Sequence[Step], work: Path) -> dict[str, str]:
    """Step that cannot be run in the folder of the run -> what it lacks: a module, a file, or what a step before it
    would have written that is left out itself."""
    found: dict[str, str] = {}
    unwritten: set[str] = set()
    for step in steps:
        unread = sorted(unwritten.intersection(step.arguments))
        if why := missing(step, work) or (f"nothing wrote {', '.join(unread)}" if unread else None):
            found[step.name] = why
            unwritten |= _writes(step)
    return found


def _writes(step: Step) -> set[str]:
    """What a step makes or changes, as the arguments of later steps name it."""
    after_out = {value for option, value in pairwise(step.arguments) if option == "--out"}
    return after_out | {output.files.partition("/")[0] for output in step.outputs}


if __name__ == "__main__":
    sys.exit(main())
