"""Do the tracers and the witness agree on real code? Packages run their own tests, each test under a tracer.

    python -m tests.observer.packages FOLDER...      unpacked source distributions

        --python EXE    the interpreter (this one), which has what the tests need
        --modules N     the N largest modules of each package, one after the other (1)
        --events N      recorded of a test, at most (150)
        --objects N     an event goes into at most so many (100)
        --timeout S     for one process (300)
        --json FILE     append a row for every module; one that has a row there is not run again

The tests run four times, with PYTHONHASHSEED=0 and the same addresses: under the reference, native, the witness,
and those that differ under the reference again: what differs then is unsteady (the time, an address) and is only counted. Compared are
native with reference, event for event, and native with the witness. The exit status is 1 if there is a disagreement.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.recording import Row, block
from deskcheck.recording.trace import Kind
from tests.observer.calls import difference
from tests.observer.suites import HERE, environment, run_steadily
from tests.witness.compare import Different, check, seen


@dataclass(frozen=True)
class Traced:
    """A test under a tracer. blocks: of events. whole: whether they go to its end."""

    blocks: list[bytes]
    whole: bool

    @property
    def rows(self) -> list[Row]:
        return [row for part in self.blocks for row in block.rows(part)]


def run(
    folder: Path, module: Path, tracer: str, args: argparse.Namespace, tests: Sequence[str]
) -> dict[str, Traced]:
    """The tests of a package under a tracer, by their names."""
    with tempfile.TemporaryDirectory() as place:
        result = Path(place, "result")
        limits = {"events": args.events, "objects": args.objects}
        request = {"tracer": tracer, "module": str(module), "limits": limits, "result": str(result)}
        variables = environment("pymalloc") | {"TRACED_REQUEST": json.dumps(request)}
        source = folder / "src" if (folder / "src").is_dir() else folder
        variables["PYTHONPATH"] = os.pathsep.join([str(HERE), variables["PYTHONPATH"], str(source)])
        plain = "-p no:cacheprovider -p no:randomly -o addopts= -q --continue-on-collection-errors".split()
        command = [args.python, "-m", "pytest", "-p", "_traced", *plain, *tests]
        run_steadily(command, args.timeout, cwd=folder, env=variables)
        return read(result.read_bytes() if result.exists() else b"")


def read(stream: bytes) -> dict[str, Traced]:
    found, at = {}, 0
    while at + 4 <= len(stream):
        size = int.from_bytes(stream[at : at + 4], "little")
        head = json.loads(stream[at + 4 : at + 4 + size])
        at += 4 + size
        blocks = []
        for length in head["sizes"]:
            blocks.append(stream[at : at + length])
            at += length
        found[head["test"]] = Traced(blocks, head["cut"] is None)
    return found


def tests_of(folder: Path) -> list[str]:
    places = [place for place in (folder / "tests", folder / "test") if place.is_dir()]
    return [str(place) for place in places or folder.glob("test*.py")]


def modules_of(folder: Path) -> list[Path]:
    """The modules of the package, the largest first."""
    source = folder / "src" if (folder / "src").is_dir() else folder
    packages = [
        path.parent
        for path in source.glob("*/__init__.py")
        if path.parent.name not in ("tests", "test", "docs")
    ]
    found = [path for package in packages for path in package.rglob("*.py") if "test" not in path.name]
    return sorted(found, key=lambda path: -path.stat().st_size)


def compare(folder: Path, module: Path, args: argparse.Namespace) -> dict[str, Any]:
    """A row about one module."""
    tests = tests_of(folder)
    reference, native, witness = (
        run(folder, module, tracer, args, tests) for tracer in ("reference", "native", "witness")
    )
    both = reference.keys() & native.keys()
    different = {
        test: text
        for test in sorted(both)
        if (text := difference(reference[test].rows, native[test].rows)) is not None
    }
    again: Mapping[str, Traced] = {}
    if different:
        again = run(folder, module, "reference", args, [*different])
    unsteady = {
        test
        for test in different
        if test in again and difference(reference[test].rows, again[test].rows) is not None
    }
    text = module.read_text("utf-8")
    unlike, events = {}, 0
    for test in sorted(both & witness.keys() - different.keys()):
        try:
            events += check(
                text,
                seen(witness[test].blocks),
                [row for row in native[test].rows if not row.thread],
                whole=False,
            )
        except Different as otherwise:
            unlike[test] = str(otherwise)
    return {
        "module": f"{folder.name} {module.name}",
        "python": args.version,
        "tests": len(both),
        "calls": sum(row.kind == Kind.CALL for test in both for row in native[test].rows),
        "events": sum(len(native[test].rows) for test in both),
        "with witness": events,
        "unsteady": len(unsteady),
        "different": {test: text for test, text in different.items() if test not in unsteady},
        "unlike witness": unlike,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--modules", type=int, default=1)
    parser.add_argument("--events", type=int, default=150)
    parser.add_argument("--objects", type=int, default=100)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(arguments)
    asked = [args.python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]
    args.version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    lines = args.json.read_text().splitlines() if args.json and args.json.exists() else []
    rows = {row["module"]: row for row in map(json.loads, lines) if row["python"] == args.version}
    for folder in args.folders:
        for module in modules_of(folder.resolve())[: args.modules]:
            if f"{folder.resolve().name} {module.name}" in rows:
                continue
            row = compare(folder.resolve(), module, args)
            rows[row["module"]] = row
            if args.json:
                with args.json.open("a") as out:
                    out.write(json.dumps(row) + "\n")
            counts = ", ".join(
                f"{row[what]:,} {what}" for what in ("tests", "calls", "events", "with witness", "unsteady")
            )
            wrong = {
                **row["different"],
                **{f"{test} (witness)": text for test, text in row["unlike witness"].items()},
            }
            print(
                f"{'DIFF' if wrong else 'ok  '} {row['module']:32} {counts}, {len(wrong)} different",
                flush=True,
            )
            for test, text in [*wrong.items()][:4]:
                print(f"     {test}: {text[:400]}")
    total = sum(row["calls"] for row in rows.values())
    count = sum(len(row["different"]) + len(row["unlike witness"]) for row in rows.values())
    print(f"{total:,} calls on {args.version}, {count} different")
    return 1 if count or not total else 0


if __name__ == "__main__":
    sys.exit(main())
