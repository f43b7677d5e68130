"""Writes into a page what the attacks show: what is stopped, at which level, in which circumstance, by which layer.

    python -m tests.attacks --table docs/explanation/sandbox.md [--every N]

To be run as root: it goes on as others. A circumstance that this machine cannot give is named and left out. It
ends with status 1 where an attack got through that must not.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks._page import machine, published, table
from deskcheck.sandbox.linux import cgroup, landlock
from tests.attacks.attack import FAMILIES, Attack, attacks, must_stop
from tests.attacks.runner import ROOT
from tests.circumstances import NOBODY, as_container, as_nobody

BEGIN, END = "<!-- attacks: written by python -m tests.attacks -->", "<!-- end of the attacks -->"
LEVELS = ("strict", "standard")
WIDTH = 100
Rows = dict[str, dict[str, Any]]


@contextmanager
def delegated() -> Iterator[list[str]]:
    """A command before others that has them run in control groups which belong to nobody, as systemd gives a
    user. Raises Unavailable."""
    folders = []
    with ExitStack() as stack:
        for folder in {place.folder for place in cgroup.places().values()}:
            group = tempfile.mkdtemp(prefix="attacks-", dir=folder)
            stack.callback(cgroup.remove, group)
            for path in (group, f"{group}/cgroup.procs"):
                os.chown(path, int(NOBODY), int(NOBODY))
            folders.append(group)
        join = 'for each in $0; do echo $$ > "$each/cgroup.procs" || exit 1; done; exec "$@"'
        yield ["sh", "-c", join, " ".join(folders)]


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Where a harness runs. command: begins with an interpreter's. after: what follows a level in the name of the
    harness. levels: that can be had there. groups: whether control groups are given to it."""

    name: str
    command: Callable[[], list[str]]
    after: str = ""
    levels: tuple[str, ...] = LEVELS
    groups: bool = False


def as_root() -> list[str]:
    return [sys.executable]


CIRCUMSTANCES = (
    Circumstance("root", as_root),
    Circumstance("user, control groups", as_nobody, groups=True),
    Circumstance("user", as_nobody),
    Circumstance("user, Landlock ABI 2", as_nobody, "-abi2", ("strict",)),
    Circumstance("user, Landlock ABI 5", as_nobody, "-abi5"),
    Circumstance("container's root", as_container),
)
LAYERS = (
    Circumstance("no filter", as_root, "-without-filter"),
    Circumstance("no Landlock", as_root, "-without-Landlock"),
    Circumstance("no user of its own", as_root, "-without-user"),
)
"""The harness is root's, and one layer is taken away."""
_COUNTED = """
from deskcheck.sandbox.linux import cgroup
try:
    print(*cgroup.places(), sep=", ")
except cgroup.Unavailable:
    print("nothing")
"""


@dataclass(frozen=True, slots=True)
class Column:
    """What came of the attacks that were run at a level in a circumstance. counted: by control groups there."""

    level: str
    circumstance: Circumstance
    rows: Rows
    counted: str

    @property
    def harness(self) -> str:
        return self.level + self.circumstance.after

    def of(self, family: str) -> list[dict[str, Any]]:
        return [row for name, row in self.rows.items() if name.startswith(f"{family}_")]


def environment() -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": tempfile.gettempdir(),
    }


def reported(command: list[str], harness: str, names: Sequence[str], limit_s: float | None = None) -> Any:
    """The runner's report on these attacks, as JSON has it, `rows` by the name of the attack. Raises
    AssertionError with what it said where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "report.json"
        done = subprocess.run(
            [*command, "-m", "tests.attacks.runner", harness, "--json", str(path), "--only", *names],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        found = json.loads(path.read_text())
    found["rows"] = {row["attack"]: row for row in found["rows"]}
    return found


def drawn(suite: Sequence[Attack], every: int, shift: int) -> list[str]:
    """One in so many of the attacks, others for another shift; of each family at least one."""
    names = []
    for family in FAMILIES:
        of_family = [attack.name for attack in suite if attack.family == family]
        names += of_family[shift % every :: every] or of_family[:1]
    return names


def measured(level: str, circumstance: Circumstance, names: Sequence[str]) -> Column:
    """Run attacks there. Raises pytest's Skipped, and Unavailable, where the machine cannot give that."""
    with ExitStack() as stack:
        command = circumstance.command()
        if circumstance.groups:
            command = [*stack.enter_context(delegated()), *command]
        counted = subprocess.run(
            [*command, "-c", _COUNTED], env=environment(), capture_output=True, text=True, check=True
        ).stdout.strip()
        rows = reported(command, level + circumstance.after, names)["rows"]
    print(f"{level}, {circumstance.name}: {len(rows)} attacks", file=sys.stderr, flush=True)
    return Column(level, circumstance, rows, counted)


def measure(suite: Sequence[Attack], every: int) -> tuple[list[Column], list[str]]:
    """Every column that this machine gives, and what it does not give.

    Two at a time, of which one is nobody's: all that nobody runs has one quota of processes.
    """
    wanted = [(level, each) for each in (*CIRCUMSTANCES, *LAYERS) for level in each.levels]
    found: dict[tuple[str, str], Column] = {}
    missing = []

    def run(nobodys: bool) -> None:
        for shift, (level, each) in enumerate(wanted):
            if (each.command is as_nobody) is nobodys:
                try:
                    found[level, each.name] = measured(level, each, drawn(suite, every, shift))
                except (cgroup.Unavailable, pytest.skip.Exception) as error:
                    missing.append(f"`{level}`, {each.name}: {error}")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, (True, False)))
    return [found[level, each.name] for level, each in wanted if (level, each.name) in found], missing


def through(columns: Sequence[Column], suite: Sequence[Attack], *, wrongly: bool) -> list[str]:
    """A line for each attack that got through: those that must be stopped there, or the others."""
    lines = []
    for attack in suite:
        places = [
            f"`{column.level}`, {column.circumstance.name}"
            for column in columns
            if column.rows.get(attack.name, {}).get("breaches")
            and must_stop(attack, column.harness) is wrongly
        ]
        if places:
            lines.append(_item(f"`{attack.name}`: {attack.tries} ({'; '.join(places)})"))
    return lines


def _item(text: str) -> str:
    """An item of a list, in the lines of a page."""
    return textwrap.fill(f"- {text}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _stopped(column: Column | None, family: str) -> str:
    rows = [] if column is None else column.of(family)
    return f"{sum(not row['breaches'] for row in rows)} of {len(rows)}" if rows else ""


def page(columns: Sequence[Column], missing: Sequence[str], suite: Sequence[Attack], command: str) -> str:
    """What stands between the marks of the page."""
    found = {(column.level, column.circumstance.name): column for column in columns}
    usual = [column for column in columns if column.circumstance in CIRCUMSTANCES]
    runs = sum(len(column.rows) for column in columns)
    text = [
        textwrap.fill(
            f"Run {datetime.date.today()} by `{command}`: {len(suite)} attacks, {runs} runs.",
            WIDTH,
            break_on_hyphens=False,
        ),
        f"Machine: {machine()}; Landlock ABI {landlock.abi()}.",
        "How many were stopped, of those that were run:",
    ]
    for level in LEVELS:
        heads = [each for each in CIRCUMSTANCES if level in each.levels]
        cells = [
            [family, aim, *(_stopped(found.get((level, each.name)), family) for each in heads)]
            for family, aim in FAMILIES.items()
        ]
        text.append(table([f"`{level}`", "aimed at", *(each.name for each in heads)], cells, texts=2))
    counted = {column.circumstance.name: column.counted for column in usual}
    for title, lines in (
        ("Control groups count there:", [_item(f"{name}: {what}") for name, what in counted.items()]),
        ("Got through, and this page says so:", through(usual, suite, wrongly=False)),
        ("Got through, and must not:", through(usual, suite, wrongly=True)),
        ("Not run:", [_item(line) for line in missing]),
    ):
        if lines:
            text += [title, "\n".join(lines)]
    text += [
        "What got through where one layer was taken away, and the harness was root's:",
        _by(found, suite),
    ]
    return "\n\n".join(text) + "\n"


def _by(found: dict[tuple[str, str], Column], suite: Sequence[Attack]) -> str:
    """For each layer and level, the attacks that it alone stops, of those that were run."""
    cells = [
        [each.name, f"`{level}`", str(len(column.rows)), ", ".join(_only_by(column, suite)) or "none"]
        for each in LAYERS
        for level in LEVELS
        if (column := found.get((level, each.name))) is not None
    ]
    return table(["layer", "level", "run", "got through"], cells, texts=4)


def _only_by(column: Column, suite: Sequence[Attack]) -> list[str]:
    return [
        f"`{attack.name}`"
        for attack in suite
        if column.level in attack.stopped and column.rows.get(attack.name, {}).get("breaches")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, required=True, metavar="FILE", help="the page")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="run one attack in N in each circumstance"
    )
    given = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("it goes on as other users: run it as root")
    published("", given.table, BEGIN, END)  # finds out now whether it can be done in the end
    suite = attacks()
    columns, missing = measure(suite, given.every)
    command = f"python -m tests.attacks --table {given.table} --every {given.every}"
    text = page(columns, missing, suite, command)
    given.table.write_text(published(text, given.table, BEGIN, END), encoding="utf-8")
    usual = [column for column in columns if column.circumstance in CIRCUMSTANCES]
    wrong = through(usual, suite, wrongly=True)
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))
