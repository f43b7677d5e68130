"""Do two tracers agree, event for event and value for value? The reference says what a trace is.

    python -m tests.tracer.agree programs                            tests/programs
    python -m tests.tracer.agree generated --count 1000 --seed 7     programs that nobody wrote
    python -m tests.tracer.agree cruxeval mbpp humaneval p3          published sets; a path may follow each
    python -m tests.tracer.agree some/file.py some/folder            files, run as scripts

Each program runs under each tracer in a process of its own (see `_agree_child`), whose rows are compared
exactly. For every disagreement the first event that differs is printed and the program saved; then the exit
status is 1. The reference's traces are kept in .agree/cache, by the program's text, the tracer's sources and
the interpreter, so that comparing again runs the other tracer alone.

Before there is a native tracer, the reference is compared with itself.
"""

import argparse
import ast
import functools
import gzip
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from deskcheck.corpus import PUBLISHED
from deskcheck.corpus import programs as corpus_programs
from deskcheck.recording import InputError, Mode, Program, Row, block
from deskcheck.tracer import TraceLimits

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("_agree_child.py")
SHARED = Path(os.environ.get("DESKCHECK_SHARED", ROOT.parent / "shared")) / "data"
KEPT = ROOT / ".agree"
"""Where traces and disagreements are kept, out of version control."""
BATCH = 50
SETS = {
    "cruxeval": "cruxeval/cruxeval_600.jsonl",
    "mbpp": "mbpp/mbpp_730.jsonl",
    "humaneval": "humaneval/HumanEval.jsonl",
    "p3": "p3/puzzles.json.gz",
}

UNSTEADY = {
    "import_pickle_main": "its dictionaries have addresses as keys",
    "locals_of_frames": "shows the trace function",
    "process_fork": "shows process ids",
    "process_fork_falls_through": "shows process ids",
    "profilers_of_the_library": "shows times",
    "settrace_checks_itself": "shows the trace function",
    "threads_errors": "threads take turns as the machine has it",
    "threads_join": "threads take turns as the machine has it",
    "threads_left_running": "threads take turns as the machine has it",
    "threads_local": "threads take turns as the machine has it",
    "threads_pool": "threads take turns as the machine has it",
    "threads_take_turns": "threads take turns as the machine has it",
}
"""Programs of tests/programs whose traces differ between two runs under one tracer, and why."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How programs are run. seconds: for one program under one tracer."""

    python: str = sys.executable
    limits: TraceLimits = field(default_factory=lambda: TraceLimits(events=20_000))
    seconds: float = 60
    hash_seed: int = 0
    cache: Path | None = None


@dataclass(frozen=True)
class Traced:
    """A program's run under one tracer.

    end: how it ended, from within; None where it left without coming back (os._exit, a signal, exec):
    events that a tracer still held are then lost. status: of the process, negative for a signal.
    """

    tracer: str
    rows: list[Row]
    end: dict[str, Any] | None
    status: int
    timed_out: bool
    stdout: bytes

    @property
    def crashed(self) -> bool:
        """Whether the interpreter died of a fault."""
        return -self.status in (4, 6, 7, 8, 11)

    @property
    def threads(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.thread, []).append(row)
        return found


@dataclass(frozen=True)
class Disagreement:
    program: Program
    tracers: tuple[str, str]
    text: str
    """The first difference, to be read."""


# -- running -----------------------------------------------------------------------------------------


def native_is_built(python: str = sys.executable) -> bool:
    """Whether that interpreter can import the native tracer from this source tree."""
    if python == sys.executable:
        return importlib.util.find_spec("deskcheck.tracer.native") is not None and _imports(python)
    return _imports(python)


@functools.cache
def _imports(python: str) -> bool:
    command = [python, "-c", "from deskcheck.tracer.native import NativeTracer"]
    return subprocess.run(command, env=_environment(0), capture_output=True, check=False).returncode == 0


def _environment(hash_seed: int) -> dict[str, str]:
    """Little, and the same for both: it can be seen by programs."""
    return {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
    }


@functools.cache
def _version(python: str) -> str:
    command = [python, "-c", "import sys; print(sys.version)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@functools.cache
def _sources() -> bytes:
    """Digest of what decides about the reference's rows: its sources and the child's."""
    digest = hashlib.sha256()
    folder = ROOT / "src" / "deskcheck" / "tracer"
    for path in [*sorted(folder.glob("*.py")), CHILD]:
        if path.name not in ("native.py", "__init__.py", "call.py"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _key(program: Program, tracer: str, setting: Setting) -> str:
    parts = [
        program.code, program.mode, program.filename, program.entry, program.arguments, tracer,
        asdict(setting.limits), setting.seconds, setting.hash_seed, _version(setting.python), _sources().hex(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _parsed(tracer: str, stream: bytes, head: dict[str, Any]) -> Traced:
    rows: list[Row] = []
    end, at = None, 0
    while at + 5 <= len(stream):
        size = int.from_bytes(stream[at + 1 : at + 5], "little")
        content = stream[at + 5 : at + 5 + size]
        if len(content) < size:
            break
        if stream[at : at + 1] == b"E":
            end = json.loads(content)
        else:
            rows += block.rows(content)
        at += 5 + size
    return Traced(tracer, rows, end, head["status"], head["timed_out"], head["stdout"].encode("latin-1"))


def trace(programs: Sequence[Program], tracer: str, setting: Setting) -> Iterator[Traced]:
    """Run a batch of programs under a tracer; the results in order. Raises RuntimeError if we fail."""
    cache = setting.cache if tracer == "reference" else None
    known: dict[int, tuple[bytes, dict[str, Any]]] = {}
    if cache is not None:
        for n, program in enumerate(programs):
            path = cache / _key(program, tracer, setting)
            if path.exists():
                head, _, stream = zlib.decompress(path.read_bytes()).partition(b"\n")
                known[n] = stream, json.loads(head)
    missing = [n for n in range(len(programs)) if n not in known]
    with tempfile.TemporaryDirectory(prefix="agree-") as folder:
        ran = _serve([programs[n] for n in missing], tracer, setting, Path(folder))
        for n, program in enumerate(programs):
            if n in known:
                yield _parsed(tracer, *known.pop(n))
                continue
            stream, head = next(ran)
            if cache is not None and not head["timed_out"]:
                cache.mkdir(parents=True, exist_ok=True)
                path = cache / _key(program, tracer, setting)
                text = zlib.compress(json.dumps(head).encode() + b"\n" + stream, 1)
                path.with_suffix(".new").write_bytes(text)
                path.with_suffix(".new").rename(path)
            yield _parsed(tracer, stream, head)


def _serve(
    programs: Sequence[Program], tracer: str, setting: Setting, folder: Path
) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The blocks of each program, and how its process ended."""
    if not programs:
        return
    job = folder / "job.json"
    job.write_text(
        json.dumps(
            {
                "tracer": tracer,
                "limits": asdict(setting.limits),
                "seconds": setting.seconds,
                "folder": str(folder),
                "programs": [program.to_dict() for program in programs],
            }
        ),
        encoding="utf-8",
    )
    command = [setting.python, str(CHILD), str(job)]
    with subprocess.Popen(
        command, env=_environment(setting.hash_seed), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=folder
    ) as server:
        assert server.stdout is not None
        try:
            for number, program in enumerate(programs):
                line = server.stdout.readline()
                if not line:
                    raise RuntimeError(f"the process that runs programs under {tracer} ended at {program.id}")
                status, timed_out = json.loads(line)
                place = folder / str(number)
                rows, out = place.with_suffix(".rows"), place.with_suffix(".out")
                if status == 99 or not rows.exists():
                    raise RuntimeError(f"{program.id} did not begin under {tracer}: status {status}")
                stdout = out.read_bytes().replace(str(folder).encode(), b"FOLDER")
                head = {"status": status, "timed_out": timed_out, "stdout": stdout.decode("latin-1")}
                yield rows.read_bytes(), head
                rows.unlink()
                out.unlink()
                shutil.rmtree(place, ignore_errors=True)
        finally:
            server.kill()


# -- comparing ---------------------------------------------------------------------------------------


def compare(program: Program, one: Traced, two: Traced) -> Disagreement | None:
    """The first difference between two runs of a program; None if they are the same."""
    text = _difference(one, two)
    return None if text is None else Disagreement(program, (one.tracer, two.tracer), text)


def _difference(one: Traced, two: Traced) -> str | None:
    names = (one.tracer, two.tracer)
    for traced in (one, two):
        if traced.end is not None and traced.end["failure"]:
            return f"the {traced.tracer} tracer failed:\n{traced.end['failure']}"
    first, second = one.threads, two.threads
    whole = one.end is not None and two.end is not None
    for thread in sorted(first.keys() | second.keys()):
        a, b = first.get(thread, []), second.get(thread, [])
        for at, (x, y) in enumerate(zip_longest(a, b)):
            if x == y or (x is not None and y is not None and _steady(x) == _steady(y)):
                continue
            if (x is None or y is None) and not whole:
                break  # the events that a tracer still held when the process went are lost
            before = a[at - 1] if at else None
            return _show_rows(names, thread, at, x, y, before) + _ends(one, two)
    if (one.end, one.status) != (two.end, two.status):
        return "the events are the same, the end is not" + _ends(one, two)
    if _neutral(one.stdout.decode("latin-1")) != _neutral(two.stdout.decode("latin-1")):
        return f"the output differs:\n  {one.stdout[-2000:]!r}\n  {two.stdout[-2000:]!r}"
    return None


def _steady(row: Row) -> tuple[Any, ...]:
    return tuple(_neutral(value) if isinstance(value, str) else value for value in row)


def _neutral(text: str) -> str:
    """Text without addresses and the names of temporary folders, which no two runs share."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    return re.sub(r"/tmp/(tmp\w{8}|agree-\w+/\d+)", "/tmp/...", text)


def _ends(one: Traced, two: Traced) -> str:
    return "".join(
        f"\n  {traced.tracer}: {len(traced.rows)} events, status {traced.status}"
        f"{' CRASHED' if traced.crashed else ''}{' TIME OUT' if traced.timed_out else ''}, {traced.end}"
        for traced in (one, two)
    )


def _show_rows(
    names: tuple[str, str], thread: int, at: int, x: Row | None, y: Row | None, before: Row | None
) -> str:
    lines = [f"event {at} of thread {thread}"]
    if before is not None:
        lines.append(f"  after        {_brief(before)}")
    if x is None or y is None:
        lines += [f"  {name:12} {_brief(row) if row else 'has ended'}" for name, row in zip(names, (x, y), strict=True)]
        return "\n".join(lines)
    same = [column for column in Row._fields if getattr(x, column) == getattr(y, column)]
    lines.append(f"  both         {', '.join(f'{c}={getattr(x, c)}' for c in same if c in _HEAD)}")
    for column in Row._fields:
        if column not in same:
            for name, value in zip(names, _around(getattr(x, column), getattr(y, column)), strict=True):
                lines.append(f"  {column:9} {name:10} {value}")
    return "\n".join(lines)


_HEAD = ("index", "kind", "frame", "function", "line", "offset")


def _brief(row: Row) -> str:
    return ", ".join(f"{column}={getattr(row, column)}" for column in _HEAD)


def _around(one: Any, two: Any) -> tuple[str, str]:
    """Two values of a column, cut to what surrounds their first difference."""
    if not (isinstance(one, str) and isinstance(two, str)):
        return str(one)[:1500], str(two)[:1500]
    at = next((n for n, (x, y) in enumerate(zip(one, two, strict=False)) if x != y), min(len(one), len(two)))
    start = max(0, at - 300) if at > 300 else 0
    lead = "..." if start else ""
    return lead + one[start : at + 500], lead + two[start : at + 500]


def disagreements(
    programs: Iterable[Program], tracers: tuple[str, str], setting: Setting, *, progress: bool = False
) -> Iterator[Disagreement | None]:
    """For each program its disagreement, or None."""
    started, count, events = time.monotonic(), 0, 0
    for batch in _batched(programs):
        # The second of two runs of the reference is a run, not a memory of the first.
        fresh = Setting(**{**_fields(setting), "cache": None})
        firsts = list(trace(batch, tracers[0], setting))
        for program, one, two in zip(batch, firsts, trace(batch, tracers[1], fresh), strict=True):
            events += len(one.rows)
            yield compare(program, one, two)
        count += len(batch)
        if progress:
            print(f"  {count} programs, {events} events, {time.monotonic() - started:.0f} s", file=sys.stderr)


def _fields(setting: Setting) -> dict[str, Any]:
    return {name: getattr(setting, name) for name in setting.__dataclass_fields__}


def _batched(programs: Iterable[Program]) -> Iterator[list[Program]]:
    batch: list[Program] = []
    for program in programs:
        batch.append(program)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


# -- where programs come from ------------------------------------------------------------------------


def own_programs() -> list[Program]:
    """Those of tests/programs that take the same course every time."""
    return [script(path) for path in sorted((ROOT / "tests" / "programs").glob("*.py")) if path.stem not in UNSTEADY]


def script(path: Path) -> Program:
    return Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)


def published(name: str, path: str | None = None) -> list[Program]:
    """The programs of a published set."""
    where = Path(path) if path is not None else SHARED / SETS[name]
    if where.is_dir():
        where /= Path(SETS[name]).name
    if name == "p3":
        return list(_puzzles(where))
    return list(corpus_programs(f"{name}:{where}"))


def _puzzles(path: Path) -> Iterator[Program]:
    """P3 (Schuster et al., 2021): solving a puzzle with its first solution, and checking that."""
    for row in json.loads(gzip.decompress(path.read_bytes())):
        if not row["sol_bodies"]:
            continue
        code = (
            f"from typing import *\n\n\n{row['sat']}\n\n\n{row['sol_header']}\n{row['sol_bodies'][0]}\n\n\n"
            "def solve():\n    return sat(sol())\n"
        )
        yield Program(id=row["name"], code=code, mode=Mode.CALL, entry="solve", arguments="()", source="P3")


def generated(count: int, seed: int) -> Iterator[Program]:
    from tests.tracer.generated import program_of_seed

    for n in range(count):
        yield Program(id=f"generated-{seed}-{n}", code=program_of_seed(f"{seed}-{n}"))


def _named(words: Sequence[str], count: int, seed: int) -> Iterator[Program]:
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "programs":
            yield from own_programs()
        elif word == "generated":
            yield from generated(count, seed)
        elif word in SETS:
            path = left.pop(0) if left and Path(left[0]).exists() and not left[0].endswith(".py") else None
            yield from published(word, path)
        elif Path(word).is_dir():
            yield from (script(path) for path in sorted(Path(word).glob("*.py")))
        else:
            yield script(Path(word))


# -- the command -------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tracer.agree", description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="+", help="programs, generated, a set [PATH], FILE.py, FOLDER")
    parser.add_argument("--tracers", help="two names; default reference,native if that is built, else reference,reference")
    parser.add_argument("--count", type=int, default=200, help="of generated programs")
    parser.add_argument("--seed", type=int, default=0, help="of generated programs")
    parser.add_argument("--only", help="programs whose name this regular expression is found in")
    parser.add_argument("--first", type=int, help="no more than so many programs")
    parser.add_argument("--every", type=int, default=1, help="each n-th program")
    parser.add_argument("--python", default=sys.executable, help="interpreter to run them under")
    parser.add_argument("--events", type=int, default=20_000, help="recorded of one program")
    parser.add_argument("--seconds", type=float, default=60, help="for one program under one tracer")
    parser.add_argument("--hash-seed", type=int, default=0)
    parser.add_argument("--no-cache", action="store_true", help="run the reference too, whatever is kept")
    parser.add_argument("--save", type=Path, default=KEPT / "disagreements", help="folder for the programs found")
    parser.add_argument("--stop-after", type=int, help="disagreements")
    given = parser.parse_args(arguments)
    if given.tracers:
        one, _, two = given.tracers.partition(",")
        tracers = one, two or one
    else:
        tracers = "reference", "native" if native_is_built(given.python) else "reference"
    setting = Setting(
        python=given.python,
        limits=TraceLimits(events=given.events),
        seconds=given.seconds,
        hash_seed=given.hash_seed,
        cache=None if given.no_cache else _cache(),
    )
    chosen = _named(given.what, given.count, given.seed)
    chosen = (program for program in chosen if not given.only or re.search(given.only, program.id))
    chosen = (program for n, program in enumerate(chosen) if n % given.every == 0 and (given.first is None or n < given.first * given.every))
    print(f"{tracers[0]} and {tracers[1]} on {_version(given.python).split()[0]}", file=sys.stderr)
    count, found = 0, []
    for disagreement in disagreements(chosen, tracers, setting, progress=True):
        count += 1
        if disagreement is not None:
            found.append(disagreement.program.id)
            print(f"\n{disagreement.program.id}: {disagreement.text}", flush=True)
            _save(disagreement, given.save)
            if given.stop_after and len(found) >= given.stop_after:
                break
    print(f"\n{count} programs, {len(found)} disagreements{': ' if found else ''}{', '.join(found)}")
    return 1 if found else 0


def _cache() -> Path:
    KEPT.mkdir(exist_ok=True)
    (KEPT / ".gitignore").write_text("*\n")
    return KEPT / "cache"


def _save(disagreement: Disagreement, folder: Path) -> None:
    """Keep a program as a script; of a call, with the call at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    program = disagreement.program
    call = f"\n{program.entry}{program.arguments}\n" if program.mode is Mode.CALL else ""
    name = re.sub(r"\W+", "_", program.id)
    (folder / f"{name}.py").write_text(program.code + call, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
