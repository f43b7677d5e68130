"""Do two tracers agree, event for event and value for value? The reference says what a trace is.

    python -m tests.tracer.agree programs                            tests/programs
    python -m tests.tracer.agree generated --count 1000 --seed 7     programs that nobody wrote
    python -m tests.tracer.agree cruxeval mbpp humaneval p3          published sets; a path may follow each
    python -m tests.tracer.agree some/file.py some/folder            files, run as scripts
    python -m tests.tracer.agree mbpp --layout as-is,black40,broken  programs in other layouts (see `layouts`)

Each program runs under each tracer in a process of its own (see `_agree_child`), whose rows are compared
exactly; only the numbers of objects may differ, within bounds (see
`deskcheck.recording.comparison.tracers`; `--exact`). For every disagreement the first event that differs is printed and the program saved; then the exit
status is 1. The reference's traces are kept in .agree/cache (not those of generated programs, which are seldom compared twice), by the program's text, the tracer's sources and
the interpreter, so that comparing again runs the other tracer alone; `--keep` makes them, in its own time, and compares nothing.
A trace that ended with the time for it is kept too, and compared as far as it goes.

Before there is a native tracer, the reference is compared with itself.
"""

import argparse
import functools
import gzip
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from deskcheck.recording import Mode, Program, Row, block
from deskcheck.recording.comparison.tracers import Different, check
from deskcheck.sources import programs as programs_of
from deskcheck.tracer import TraceLimits
from deskcheck.tracer.limits import Granularity
from tests.tracer._reduce import reduced
from tests.tracer._templates import PRELOADED
from tests.tracer.layouts import LAYOUTS, laid_out, layouts_of

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("_agree_child.py")
SHARED = Path(os.environ.get("DESKCHECK_SHARED", ROOT.parent / "shared")) / "data"
KEPT = ROOT / ".agree"
"""Where traces and disagreements are kept, out of version control."""
SETS = {
    "cruxeval": "cruxeval/cruxeval_600.jsonl",
    "mbpp": "mbpp/mbpp_730.jsonl",
    "humaneval": "humaneval/HumanEval.jsonl",
    "p3": "p3/puzzles.json.gz",
}

UNSTEADY = {
    "gc_callbacks": "shows what the collector finds",
    "import_pickle_main": "its dictionaries have addresses as keys",
    "locals_of_frames": "shows the trace function",
    "process_fork": "shows process ids",
    "process_fork_falls_through": "shows process ids",
    "profilers_of_the_library": "shows times",
    "settrace_checks_itself": "shows the trace function",
    "setprofile_user": "threads run in an order that the machine decides",
    "threads_errors": "threads run in an order that the machine decides",
    "threads_join": "threads run in an order that the machine decides",
    "threads_left_running": "threads run in an order that the machine decides",
    "threads_local": "threads run in an order that the machine decides",
    "threads_pool": "threads run in an order that the machine decides",
    "threads_take_turns": "threads run in an order that the machine decides",
}
if sys.version_info >= (3, 14):
    UNSTEADY["audit_hook"] = "hears the calls of ctypes that the reference makes, which 3.14 announces"
    UNSTEADY["values_cycles"] = "shows how much of the stack is used"
"""Programs of tests/programs whose traces differ between two runs under one tracer, and why."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How programs are run. seconds: for one program under one tracer. variables: more of the environment. imports: modules that are
    imported once, before any program, if they are installed: a program that imports them itself spends half of its time on that."""

    python: str = sys.executable
    limits: TraceLimits = field(default_factory=lambda: TraceLimits(events=20_000))
    granularity: Granularity = Granularity.LINE
    seconds: float = 60
    hash_seed: int = 0
    cache: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[str, ...] = ()

    @property
    def address_space_bytes(self) -> int | None:
        """AddressSanitizer reserves terabytes that it does not use."""
        return None if "ASAN_OPTIONS" in self.variables else 4 << 30


@dataclass
class Traced:
    """A program's run under one tracer.

    bad: why a block of it cannot be read. end: how it ended, from within; None where it left without coming back (os._exit, a signal, exec):
    events that a tracer still held are then lost. status: of the process, negative for a signal.
    """

    tracer: str
    rows: list[Row]
    end: dict[str, Any] | None
    status: int
    timed_out: bool
    stdout: bytes
    bad: str | None = None

    @property
    def crashed(self) -> bool:
        """Whether the interpreter died of a fault."""
        return -self.status in (4, 6, 7, 8, 11)

    @functools.cached_property
    def threads(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.thread, []).append(row)
        return found


@dataclass
class Tally:
    """What was compared. events: of the shorter of a program's two traces, summed. partly: programs whose time was up under a
    tracer, or near whose limit on recursion the reference lost tracing, compared as far as both traces go. crashed: under both tracers."""

    programs: int = 0
    events: int = 0
    partly: int = 0
    crashed: int = 0

    def add(self, one: Traced, two: Traced) -> None:
        self.programs += 1
        self.events += min(len(one.rows), len(two.rows))
        self.crashed += one.crashed and two.crashed
        self.partly += any(traced.timed_out or _stopped(traced) for traced in (one, two))

    def __str__(self) -> str:
        partly = f" ({self.partly} of them not to their end)" if self.partly else ""
        crashed = f" ({self.crashed} of them died of a fault under both)" if self.crashed else ""
        return f"{self.programs:,} programs{partly}{crashed}, {self.events:,} events"


@dataclass(frozen=True)
class Disagreement:
    """text: the first difference, to be read. numbers: it is one of identity numbers only
    (`deskcheck.recording.comparison.tracers`)."""

    program: Program
    tracers: tuple[str, str]
    text: str
    numbers: bool = False


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
        "OPENBLAS_NUM_THREADS": "1",  # a process with threads forks less safely
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
        asdict(setting.limits), setting.granularity, setting.seconds, setting.hash_seed, _version(setting.python), _sources().hex(), *setting.imports,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _parsed(tracer: str, stream: bytes, head: dict[str, Any]) -> Traced:
    rows: list[Row] = []
    end, at, bad = None, 0, None
    while at + 5 <= len(stream):
        size = int.from_bytes(stream[at + 1 : at + 5], "little")
        content = stream[at + 5 : at + 5 + size]
        if len(content) < size:
            break
        if stream[at : at + 1] == b"E":
            end = json.loads(content)
        else:
            try:
                rows += block.rows(content)
            except ValueError as error:
                bad = bad or f"after {len(rows)} events a block cannot be read ({error}): {content[:500]!r}"
        at += 5 + size
    return Traced(tracer, rows, end, head["status"], head["timed_out"], head["stdout"].encode("latin-1"), bad)


class Runner:
    """A process that runs programs under a tracer, one after another. Use as a context."""

    def __init__(self, tracer: str, setting: Setting) -> None:
        self.tracer = tracer
        self.setting = setting
        self._folder = tempfile.TemporaryDirectory(prefix="agree-", ignore_cleanup_errors=True)
        job = {
            "tracer": tracer,
            "limits": asdict(setting.limits),
            "granularity": setting.granularity,
            "seconds": setting.seconds,
            "address_space_bytes": setting.address_space_bytes,
            "folder": self._folder.name,
            "imports": setting.imports,
        }
        self._process = subprocess.Popen(
            [setting.python, str(CHILD), json.dumps(job)],
            env=_environment(setting.hash_seed) | dict(setting.variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
        )

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def run(self, program: Program) -> Traced:
        """Raises RuntimeError if we fail, and not the program."""
        cache = self.setting.cache if self.tracer == "reference" else None
        if cache is None:
            return _parsed(self.tracer, *self._run(program))
        head, _, stream = zlib.decompress(self.kept(program, cache).read_bytes()).partition(b"\n")
        return _parsed(self.tracer, stream, json.loads(head))

    def kept(self, program: Program, cache: Path) -> Path:
        """Where the trace of a program lies; it is run if there is none yet."""
        path = cache / _key(program, self.tracer, self.setting)
        if not path.exists():
            stream, facts = self._run(program)
            cache.mkdir(parents=True, exist_ok=True)
            new = path.with_suffix(f".{os.getpid()}")
            new.write_bytes(zlib.compress(json.dumps(facts).encode() + b"\n" + stream, 1))
            new.rename(path)
        return path

    def _run(self, program: Program) -> tuple[bytes, dict[str, Any]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        folder = Path(self._folder.name)
        rows, out = folder / "rows", folder / "out"
        rows.unlink(missing_ok=True)
        try:
            self._process.stdin.write(json.dumps(program.to_dict()).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that runs programs under {self.tracer} ended at {program.id}")
        status, timed_out = json.loads(line)
        if status == 99 or not rows.exists():
            raise RuntimeError(f"{program.id} did not begin under {self.tracer}: status {status}")
        facts = {"status": status, "timed_out": timed_out, "stdout": out.read_bytes().decode("latin-1")}
        return rows.read_bytes(), facts


# -- comparing ---------------------------------------------------------------------------------------


def compare(program: Program, one: Traced, two: Traced) -> Disagreement | None:
    """The first difference between two runs of a program; None if they are the same."""
    found = _difference(one, two)
    return None if found is None else Disagreement(program, (one.tracer, two.tracer), *found)


def _difference(one: Traced, two: Traced) -> tuple[str, bool] | None:
    """The first difference as text, and whether it is one of numbers only."""
    for traced in (one, two):
        if traced.end is not None and traced.end["failure"]:
            return f"the {traced.tracer} tracer failed:\n{traced.end['failure']}", False
        if traced.bad:
            return f"{traced.tracer}: {traced.bad}", False
    if one.crashed != two.crashed:
        return "one has crashed" + _ends(one, two), False
    found = None
    for thread in sorted(one.threads.keys() | two.threads.keys()):
        found = found or _first_difference(one, two, thread)
    if found is not None:
        text = found + _ends(one, two)
        try:
            for thread in one.threads.keys() | two.threads.keys():
                a, b = one.threads.get(thread, []), two.threads.get(thread, [])
                if len(a) != len(b) and not _may_be_short(one, two, len(a) < len(b)):
                    return text, False
                check(a, b)
        except Different as difference:
            return f"{text}\n  so that: {difference}", False
        return text, True
    if one.timed_out or two.timed_out:
        return None
    if one.end != two.end and not _stopped(one) and not _stopped(two):
        return "the events are the same, the end is not" + _ends(one, two), False
    if one.status != two.status:
        return "the events are the same, the status is not" + _ends(one, two), False
    if _neutral(one.stdout.decode("latin-1")) != _neutral(two.stdout.decode("latin-1")):
        return f"the output differs:\n  {one.stdout[-2000:]!r}\n  {two.stdout[-2000:]!r}", False
    return None


def _stopped(traced: Traced) -> bool:
    """Whether the reference has lost tracing, near the limit on recursion: a bound of its own."""
    return traced.tracer == "reference" and traced.end is not None and traced.end["cut"] == "recursion"


def _may_be_short(one: Traced, two: Traced, first_is_shorter: bool) -> bool:
    """Whether a trace may end before the other's: events that a tracer still holds are lost where the process
    is left without coming back."""
    return one.end is None or two.end is None or _stopped(one if first_is_shorter else two)


def _first_difference(one: Traced, two: Traced, thread: int) -> str | None:
    a, b = one.threads.get(thread, []), two.threads.get(thread, [])
    for at, (x, y) in enumerate(zip_longest(a, b)):
        if x == y or (x is not None and y is not None and _steady(x) == _steady(y)):
            continue
        if (x is None or y is None) and _may_be_short(one, two, x is None):
            return None
        return _show_rows((one.tracer, two.tracer), thread, at, x, y, a[at - 1] if at else None)
    return None


def _steady(row: Row) -> tuple[Any, ...]:
    return tuple(_neutral(value) if isinstance(value, str) else value for value in row)


def _neutral(text: str) -> str:
    """Text without addresses and the names of temporary folders, which no two runs share."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    ours = re.escape(tempfile.gettempdir())  # a program that is told nothing uses /tmp
    return re.sub(rf"({ours}|/tmp)/(tmp\w{{8}}|agree-\w+)", "/tmp/...", text)


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
        lines += [
            f"  {name:12} {_brief(row) if row else 'has ended'}"
            for name, row in zip(names, (x, y), strict=True)
        ]
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
    programs: Iterable[Program], tracers: tuple[str, str], setting: Setting, tally: Tally | None = None
) -> Iterator[Disagreement | None]:
    """For each program its disagreement, or None; all that is compared is added to the tally."""
    # The second of two runs of the reference is a run, not a memory of the first.
    with Runner(tracers[0], setting) as first, Runner(tracers[1], replace(setting, cache=None)) as second:
        for program in programs:
            one, two = first.run(program), second.run(program)
            if tally is not None:
                tally.add(one, two)
            yield compare(program, one, two)


def keep(programs: Iterable[Program], setting: Setting, cache: Path) -> None:
    """Make the reference's traces that are not kept yet."""
    started = time.monotonic()
    with Runner("reference", setting) as reference:
        for count, program in enumerate(programs, 1):
            reference.kept(program, cache)
            if count % 100 == 0:
                print(f"  {count} kept, {time.monotonic() - started:.0f} s", file=sys.stderr)


# -- where programs come from ------------------------------------------------------------------------


def own_programs() -> list[Program]:
    """Those of tests/programs that take the same course every time."""
    return [
        script(path)
        for path in sorted((ROOT / "tests" / "programs").glob("*.py"))
        if path.stem not in UNSTEADY
    ]


def script(path: Path) -> Program:
    return Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)


def published(name: str, path: str | None = None) -> list[Program]:
    """The programs of a published set."""
    where = Path(path) if path is not None else SHARED / SETS[name]
    if where.is_dir():
        where /= Path(SETS[name]).name
    if name == "p3":
        return list(_puzzles(where))
    return list(programs_of(f"{name}:{where}"))


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


def generated(count: int, seed: int, budget: int | None = None) -> Iterator[Program]:
    from tests.tracer.generated import program_of_seed

    for n in range(count):
        yield Program(id=f"generated-{seed}-{n}", code=program_of_seed(f"{seed}-{n}", budget))


def _named(words: Sequence[str], count: int, seed: int, budget: int | None) -> Iterator[Program]:
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "programs":
            yield from own_programs()
        elif word == "generated":
            yield from generated(count, seed, budget)
        elif word in SETS:
            path = left.pop(0) if left and Path(left[0]).exists() and not left[0].endswith(".py") else None
            yield from published(word, path)
        elif Path(word).is_dir():
            yield from (script(path) for path in sorted(Path(word).glob("*.py")))
        else:
            yield script(Path(word))


# -- the command -------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tracer.agree", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("what", nargs="+", help="programs, generated, a set [PATH], FILE.py, FOLDER")
    parser.add_argument(
        "--tracers", help="two names; default reference,native if that is built, else reference,reference"
    )
    parser.add_argument("--count", type=int, default=200, help="of generated programs")
    parser.add_argument("--seed", type=int, default=0, help="of generated programs")
    parser.add_argument(
        "--budget", type=int, help="about how many events each of them makes; default 60 to 1000"
    )
    parser.add_argument("--only", help="programs whose name this regular expression is found in")
    parser.add_argument(
        "--layout",
        type=layouts_of,
        default=("as-is",),
        help=f"of programs: any of {','.join(LAYOUTS)}; or all",
    )
    parser.add_argument("--first", type=int, help="no more than so many programs")
    parser.add_argument("--every", type=int, default=1, help="each n-th program")
    parser.add_argument("--python", default=sys.executable, help="interpreter to run them under")
    parser.add_argument("--events", type=int, default=20_000, help="recorded of one program")
    parser.add_argument("--limits", type=json.loads, default={}, help="more of them, as a JSON object")
    parser.add_argument("--seconds", type=float, default=60, help="for one program under one tracer")
    parser.add_argument("--granularity", choices=list(Granularity), default=Granularity.LINE)
    parser.add_argument("--hash-seed", type=int, default=0)
    parser.add_argument(
        "--variable", action="append", default=[], help="NAME=VALUE of the environment that programs run in"
    )
    parser.add_argument("--no-cache", action="store_true", help="run the reference too, whatever is kept")
    parser.add_argument("--keep", action="store_true", help="run the reference alone, and keep its traces")
    parser.add_argument(
        "--save", type=Path, default=KEPT / "disagreements", help="folder for the programs found"
    )
    parser.add_argument("--exact", action="store_true", help="numbers of objects must be the same too")
    parser.add_argument("--reduce", action="store_true", help="cut each program found down first")
    parser.add_argument("--stop-after", type=int, help="disagreements")
    given = parser.parse_intermixed_args(arguments)
    if given.tracers:
        one, _, two = given.tracers.partition(",")
        tracers = one, two or one
    else:
        tracers = "reference", "native" if native_is_built(given.python) else "reference"
    only_generated, cache = given.what == ["generated"], _cache()
    setting = Setting(
        python=given.python,
        limits=TraceLimits(events=given.events, **given.limits),
        granularity=Granularity(given.granularity),
        seconds=given.seconds,
        hash_seed=given.hash_seed,
        cache=None if given.no_cache or only_generated else cache,
        variables=dict(text.split("=", 1) for text in given.variable),
        imports=PRELOADED if only_generated else (),
    )
    chosen = _named(given.what, given.count, given.seed, given.budget)
    chosen = (program for program in chosen if not given.only or re.search(given.only, program.id))
    chosen = (
        program
        for n, program in enumerate(chosen)
        if n % given.every == 0 and (given.first is None or n < given.first * given.every)
    )
    chosen = laid_out(chosen, given.layout)
    if given.keep:
        keep(chosen, setting, cache)
        return 0
    print(f"{tracers[0]} and {tracers[1]} on {_version(given.python).split()[0]}", file=sys.stderr)
    started = time.monotonic()
    tally, found, numbers = Tally(), [], []
    for disagreement in disagreements(chosen, tracers, setting, tally):
        if tally.programs % 100 == 0:
            print(f"  {tally}, {time.monotonic() - started:.0f} s", file=sys.stderr)
        if disagreement is None:
            continue
        if disagreement.numbers and not given.exact:
            numbers.append(disagreement.program.id)
            continue
        found.append(disagreement.program.id)
        print(f"\n{disagreement.program.id}: {disagreement.text}", flush=True)
        if given.reduce:
            disagreement = replace(disagreement, program=smaller(disagreement, setting))
            print(f"\nreduced:\n{disagreement.program.code}", flush=True)
        _save(disagreement, given.save)
        if given.stop_after and len(found) >= given.stop_after:
            break
    print(f"\n{tally}, {len(found)} disagreements{': ' if found else ''}{', '.join(found)}")
    if numbers:
        print(f"{len(numbers)} more differ in the numbers of objects alone: {', '.join(numbers)}")
    return 1 if found else 0


def _cache() -> Path:
    KEPT.mkdir(exist_ok=True)
    (KEPT / ".gitignore").write_text("*\n")
    return KEPT / "cache"


def smaller(disagreement: Disagreement, setting: Setting, *, seconds: float = 120) -> Program:
    """The program cut down as long as the two tracers disagree about it in a like manner."""
    program, (one, two) = disagreement.program, disagreement.tracers
    setting = replace(setting, cache=None, seconds=min(setting.seconds, 5))
    with Runner(one, setting) as first, Runner(two, setting) as second:

        def shows(text: str) -> bool:
            candidate = replace(program, code=text)
            found = _difference(first.run(candidate), second.run(candidate))
            if found is None:
                return False
            return found[1] == disagreement.numbers and _like(found[0]) == _like(disagreement.text)

        return replace(program, code=reduced(program.code, shows, seconds=seconds))


def _like(text: str) -> str:
    """What kind of difference a text tells of."""
    found = re.search(
        r"^  (\w+) +(reference|native)|failed|cannot be read|has ended|the end is not|output", text, re.M
    )
    return found[0] if found else ""


def _save(disagreement: Disagreement, folder: Path) -> None:
    """Keep a program as a script; of a call, with the call at its end."""
    folder.mkdir(parents=True, exist_ok=True)
    program = disagreement.program
    call = f"\n{program.entry}{program.arguments}\n" if program.mode is Mode.CALL else ""
    name = re.sub(r"\W+", "_", program.id)
    (folder / f"{name}.py").write_text(program.code + call, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
