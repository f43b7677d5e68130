"""Calls and tokens in which an assistant sees a faulty line: `deskcheck mcp`, a debugger, a printed trace.

    python benchmarks/assistant.py [--folder /path/to/data] [--first TASK] [--json]

Ten programs of bugs.toml and ten of HumanEvalFix, every sixteenth task. A scripted client that does not know
the faults asks up to three questions. It stops when the answers name a faulty line with the values that the
line read. Only this file can know that, so the figures do not say whether a model would recognise the fault.
Tokens are characters of answers, divided by four.

- deskcheck: records the script or test, asks `why` the last exception was raised, and then again with more
  steps. Without an exception it asks `find` where the wrong text was printed, and `why` of the printed name.
- pdb: begins at the failing statement (HumanEvalFix), the first line of the test or of the script. Each call
  is `step`, with the locals of the frame. Frames of libraries are left by `return`. It ends, too, when a
  faulty line has run and its result is shown.
- trace: everything at once: each line that ran in the program's files, with the names that changed.
"""

import argparse
import difflib
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

MARK = "  # fault"
EVERY, TASKS = 16, 10
MAX_CALLS, MAX_STEPS = 3, 5000
PROMPT = "(Pdb) "
LOCALS = "p {k: v for k, v in locals().items() if k[:2] != '__'}"
TRACE = r"""
import linecache, os, runpy, sys
root, before = os.getcwd() + os.sep, {}
def trace(frame, event, arg):
    file = frame.f_code.co_filename
    if not file.startswith(root):
        return None
    names = {k: repr(v) for k, v in frame.f_locals.items() if k[:2] != "__"}
    old = before.get(id(frame), {})
    changed = ", ".join(f"{k} = {v}" for k, v in names.items() if old.get(k) != v)
    before[id(frame)] = names
    code = linecache.getline(file, frame.f_lineno).strip()
    result = f" {arg!r}" if event in ("return", "exception") else ""
    OUT.write(f"{file[len(root):]}:{frame.f_lineno} {event}{result} {code} | {changed}\n")
    return trace
OUT = open(os.environ["TRACE_OUT"], "w")
sys.path.insert(0, os.getcwd())
sys.settrace(trace)
try:
    runpy.run_path(sys.argv[1], run_name="__main__")
finally:
    sys.settrace(None)
"""


@dataclass
class Bug:
    """A program with a fault."""

    name: str
    files: dict[str, str]
    run: str
    """A script, or the id of a test."""
    faults: set[tuple[str, int]]
    """File and number of the faulty lines."""
    wrong: str | None = None
    """The wrong text that it prints, if it raises nothing."""
    start: tuple[str, int] = ("", 0)
    """Where a debugger stops first."""

    def write(self, folder: Path) -> None:
        """Write the files, and a script that runs the test without pytest."""
        folder.mkdir()
        for name, text in self.files.items():
            (folder / name).write_text(text)
        file, _, test = self.run.partition("::")
        if test:
            (folder / "run.py").write_text(f"from {file.removesuffix('.py')} import {test}\n\n{test}()\n")


@dataclass
class Cost:
    """The price of one way to see a faulty line."""

    calls: int = 0
    tokens: int = 0
    seen: bool = False
    lines: int = 0
    """Lines of the program that the answers name."""
    texts: list[str] = field(default_factory=list, repr=False)

    def add(self, text: str) -> None:
        self.calls += 1
        self.tokens += -(-len(text) // 4)
        self.texts.append(text)


# -- the programs ------------------------------------------------------------------------------------


def own_bugs() -> Iterator[Bug]:
    for name, row in tomllib.loads((Path(__file__).parent / "bugs.toml").read_text()).items():
        faults = {
            (file, number)
            for file, text in row["files"].items()
            for number, line in enumerate(text.splitlines(), 1)
            if line.endswith(MARK)
        }
        files = {file: text.replace(MARK, "") for file, text in row["files"].items()}
        file, _, test = row["run"].partition("::")
        lines = files[file].splitlines()
        start = 1 + (lines.index(f"def {test}():") + 1 if test else 0)
        yield Bug(name, files, row["run"], faults, row.get("wrong"), (file, start))


def humanevalfix(folder: Path, first: int) -> Iterator[Bug]:
    """Every sixteenth task, from the first on, but for those that do not end."""
    text = gzip.decompress((folder / "humanevalfix" / "humanevalpack_python.jsonl.gz").read_bytes())
    count = 0
    for row in list(map(json.loads, text.splitlines()))[first::EVERY]:
        buggy, right = (row["declaration"] + row[key] for key in ("buggy_solution", "canonical_solution"))
        code = f"{buggy}\n{row['test'].strip()}\n"
        if count == TASKS or not _ends(code):
            continue
        count += 1
        name = row["task_id"].replace("/", "_").lower()
        matcher = difflib.SequenceMatcher(None, buggy.splitlines(), right.splitlines(), False)
        faults = set()
        for tag, first, last, _, _ in matcher.get_opcodes():
            if tag == "insert":  # the lines between which something is missing
                faults |= {("main.py", first), ("main.py", first + 1)}
            elif tag != "equal":
                faults |= {("main.py", number + 1) for number in range(first, last)}
        yield Bug(name, {"main.py": code}, "main.py", faults)


def _ends(code: str) -> bool:
    try:
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=10)
    except subprocess.TimeoutExpired:
        return False
    return True


# -- deskcheck ---------------------------------------------------------------------------------------


def named(texts: list[str]) -> set[tuple[str, int]]:
    """The lines that answers name."""
    pairs = {(file, line) for text in texts for line, file in re.findall(r"line (\d+) of ([\w/]+\.py)", text)}
    pairs |= {match for text in texts for match in re.findall(r"([\w/]+\.py):(\d+)", text)}
    return {(file.rpartition("/")[2], int(line)) for file, line in pairs}


async def by_deskcheck(bug: Bug, folder: Path, client: Any) -> Cost:
    cost = Cost()

    async def ask(tool: str, **arguments: Any) -> str:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        text: str = result.content[0].text
        cost.add(text)
        lines = named(cost.texts)
        cost.lines = len(lines)
        cost.seen = bool(lines & bug.faults)
        return text

    where = f"{folder.name}/{bug.run}"
    if "::" in bug.run:
        text = await ask("record_test", test=where)
    else:
        text = await ask("record_script", program=where)
    match = re.search(r"Recording (r\d+):", text)
    assert match is not None, text
    id_ = match[1]
    if cost.seen:
        return cost
    if bug.wrong is None:
        await ask("why", recording=id_)
        if not cost.seen:
            await ask("why", recording=id_, steps=40, tokens=3000)
        return cost
    text = await ask("find", recording=id_, output=bug.wrong)
    match = re.search(r"line (\d+) of (\S+\.py)", text)
    assert match is not None, text
    line = bug.files[match[2].rpartition("/")[2]].splitlines()[int(match[1]) - 1]
    await ask("why", recording=id_, expression=re.findall(r"\w+", line)[-1])
    return cost


# -- pdb ---------------------------------------------------------------------------------------------


class Debugger:
    """A process of pdb. `ask` sends a command and returns the answer."""

    def __init__(self, script: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "pdb", script],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.answer()

    def answer(self) -> str:
        assert self.process.stdout is not None
        text = ""
        while not text.endswith(PROMPT):
            part = self.process.stdout.read(1)
            if not part:
                break
            text += part
        return text.removesuffix(PROMPT)

    def ask(self, command: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def by_pdb(bug: Bug, folder: Path) -> tuple[Cost, Cost]:
    """The costs up to the first faulty line that ran, and up to the failure."""
    cost = Cost()
    first: Cost | None = None
    script = "run.py" if "::" in bug.run else bug.run
    file, line = bug.start
    if not line:
        run = subprocess.run(
            [sys.executable, script], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
        cost.add(run.stderr)  # it names the failing statement
        (line,) = {int(n) for n in re.findall(r'main\.py", line (\d+), in check', run.stderr)}
        file = script
    debugger = Debugger(script, folder)
    try:
        if (file, line) != (script, 1):
            cost.add(debugger.ask(f"b {file}:{line}") + debugger.ask("c"))
        ran = False
        for _ in range(MAX_STEPS):
            text = debugger.ask("s")
            place = re.search(r"> (.+?)\((\d+)\)", text)
            if place is None or "will be restarted" in text:
                cost.add(text)
                break
            if Path(place[1]).parent != folder:
                text += debugger.ask("r")
                cost.add(text)
                if "will be restarted" in text:
                    break
                continue
            cost.add(text + debugger.ask(LOCALS))
            if ran and not cost.seen:
                cost.seen, first = True, replace(cost, seen=True)
            ran = (Path(place[1]).name, int(place[2])) in bug.faults
            if re.match(r"\w+Error\b", text) and Path(place[1]).name == file:
                break
    finally:
        debugger.close()
    return first or cost, cost


# -- the whole trace ---------------------------------------------------------------------------------


def by_trace(bug: Bug, folder: Path) -> Cost:
    cost = Cost()
    script = "run.py" if "::" in bug.run else bug.run
    out = folder / "trace.txt"
    subprocess.run(
        [sys.executable, "-c", TRACE, str(folder / script)],
        cwd=folder,
        env={**os.environ, "TRACE_OUT": str(out)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    cost.add(out.read_text())
    cost.seen = any(f"{file}:{line} " in cost.texts[0] for file, line in bug.faults)
    return cost


# -- all ---------------------------------------------------------------------------------------------


async def measured(bugs: list[Bug]) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        root.chmod(0o755)  # for the programs in the sandbox
        for bug in bugs:
            bug.write(root / bug.name)
        server = [sys.executable, "-m", "deskcheck", "mcp"]
        parameters = StdioServerParameters(
            command=server[0], args=server[1:], env={**os.environ}, cwd=str(root)
        )
        async with Client(stdio_client(parameters)) as client:
            for bug in bugs:
                folder = root / bug.name
                first, whole = by_pdb(bug, folder)
                asked = await by_deskcheck(bug, folder, client)
                costs = {"deskcheck": asked, "to fault": first, "pdb": whole, "trace": by_trace(bug, folder)}
                rows.append({"name": bug.name} | costs)
    return rows


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    ways = ("deskcheck", "to fault", "pdb", "trace")
    yield "program".ljust(14) + "".join(f"{way + ' calls':>17}{'tokens':>8}{'seen':>6}" for way in ways)
    for row in rows:
        costs = [row[way] for way in ways]
        yield row["name"].ljust(14) + "".join(
            f"{c.calls:17}{c.tokens:8}{'yes' if c.seen else 'no':>6}" for c in costs
        )
    for what, of in (("sum", sum), ("median", statistics.median)):
        cells = (
            f"{of(row[w].calls for row in rows):17g}{of(row[w].tokens for row in rows):8g}      "
            for w in ways
        )
        yield what.ljust(14) + "".join(cells)
    for way in ways:
        yield f"{way}: {sum(row[way].seen for row in rows)} of {len(rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(os.environ.get("DESKCHECK_SHARED", ".")) / "data")
    parser.add_argument("--first", type=int, default=0, help="first task of HumanEvalFix")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", metavar="NAME", help="print the answers about one program")
    options = parser.parse_args()
    bugs = [*own_bugs(), *humanevalfix(options.folder, options.first)]
    if options.show:
        bugs = [bug for bug in bugs if bug.name == options.show]
    rows = anyio.run(measured, bugs)
    if options.show:
        print(bugs[0].faults, *rows[0]["deskcheck"].texts, sep="\n")
    if options.json:
        print(
            json.dumps(rows, default=lambda cost: {k: getattr(cost, k) for k in ("calls", "tokens", "seen")})
        )
    else:
        print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()
