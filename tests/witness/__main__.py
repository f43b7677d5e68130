"""What programs do, by three who share little: the native tracer, the reference, and a witness that knows nothing of either.

    python -m tests.witness programs cruxeval mbpp humaneval p3      tests/programs, published sets
    python -m tests.witness mutators --every 10                      each mutator of each builtin type, small
    python -m tests.witness generated --count 1000 --seed 7          programs that nobody wrote
    python -m tests.witness disagreements some/file.py some/folder   those that once differed; files
    python -m tests.witness mbpp --layout as-is,black40,broken       programs in other layouts (tests/tracer/layouts.py)

Each program runs five times: under the witness, and under both tracers at line level and at instruction level. Compared are each
tracer with the witness, native with reference, and each tracer's two levels. Every disagreement is printed, with the program
cut down as long as it shows it (`--no-reduce`: not), and the exit status is 1.

What has been compared without a disagreement is noted in .agree/witness-*, by the program's text, the interpreter and the sources of
tracers and witness, and not run again: a run that was stopped goes on where it was (`--again`: it does not). `--minutes` bounds it.
"""

import argparse
import hashlib
import itertools
import json
import re
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from deskcheck.recording import Program
from deskcheck.tracer import TraceLimits
from tests.tracer import agree
from tests.tracer._reduce import reduced
from tests.tracer._templates import PRELOADED
from tests.tracer.layouts import LAYOUTS, laid_out, layouts_of
from tests.witness import generated, mutators
from tests.witness.run import Finding, Judges, skipped

DISAGREEMENTS = agree.ROOT / "tests" / "witness" / "programs"


def named(words: Sequence[str], count: int, seed: int) -> Iterator[Program]:
    """The programs that words of the command stand for."""
    for word in words:
        if word == "programs":
            yield from agree.own_programs()
        elif word == "mutators":
            yield from mutated()
        elif word == "generated":
            yield from made(count, seed)
        elif word == "grammar":
            yield from agree.generated(count, seed)
        elif word == "disagreements":
            yield from map(agree.script, sorted(DISAGREEMENTS.glob("*.py")))
        elif word in agree.SETS:
            path = agree.SHARED / agree.SETS[word]
            if path.exists():
                yield from agree.published(word)
            else:
                print(f"no {word} here: {path} (DESKCHECK_SHARED)", file=sys.stderr)
        elif Path(word).is_dir():
            yield from map(agree.script, sorted(Path(word).glob("*.py")))
        else:
            yield agree.script(Path(word))


def mutated(every: int = 1, start: int = 0) -> Iterator[Program]:
    for name, text in mutators.programs(every, start):
        yield Program(id=name, code=text)


def made(count: int, seed: int) -> Iterator[Program]:
    for n in range(count):
        yield Program(id=f"witness-{seed}-{n}", code=generated.program_of_seed(f"{seed}-{n}"))


_CORE = f"{sysconfig.get_config_var('EXT_SUFFIX')}"


class _Done:
    """What has been compared already."""

    def __init__(self, setting: agree.Setting, judges: str) -> None:
        sources = hashlib.sha256()
        package = agree.ROOT / "src" / "deskcheck"
        tracer = (package / "tracer", package / "tracer" / "c", package / "recording")
        for folder in (*tracer, *(agree.ROOT / "tests" / name for name in ("witness", "tracer"))):
            for path in sorted(folder.glob("*.*")):
                if path.suffix in (".py", ".c", ".h") or path.name.endswith(_CORE):
                    sources.update(path.name.encode() + b"\0" + path.read_bytes())
        key = [sources.hexdigest(), sys.version, setting.limits.events, judges]
        agree._cache()
        self.path = agree.KEPT / f"witness-{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]}"
        self.known = set(self.path.read_text().split()) if self.path.exists() else set()
        self.file = self.path.open("a")

    @staticmethod
    def _name(program: Program) -> str:
        text = f"{program.code}\0{program.entry}\0{program.arguments}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]

    def __contains__(self, program: Program) -> bool:
        return self._name(program) in self.known

    def add(self, program: Program) -> None:
        self.file.write(self._name(program) + "\n")
        self.file.flush()


def smaller(finding: Finding, judges: Judges, seconds: float) -> str:
    """The program cut down as long as it shows a finding of the same kind."""

    def shows(text: str) -> bool:
        found = judges.judge(Program(id=finding.program.id, code=text, filename=finding.program.filename))
        return any(other.like == finding.like for other in found)

    call = f"\n{finding.program.entry}{finding.program.arguments}\n" if finding.program.entry else ""
    text = finding.program.code + call
    with warnings.catch_warnings(action="ignore"):  # of what reduced programs look like
        return reduced(text, shows, seconds=seconds) if shows(text) else text


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.witness", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "what",
        nargs="+",
        help="programs, mutators, generated, grammar, disagreements, a set, FILE.py, FOLDER",
    )
    parser.add_argument("--count", type=int, default=200, help="of generated programs")
    parser.add_argument("--seed", type=int, default=0, help="of generated programs")
    parser.add_argument(
        "--layout",
        type=layouts_of,
        default=("as-is",),
        help=f"of programs: any of {','.join(LAYOUTS)}; or all",
    )
    parser.add_argument("--every", type=int, default=1, help="each n-th program")
    parser.add_argument("--start", type=int, default=0, help="the first of those")
    parser.add_argument("--only", help="programs whose name this regular expression is found in")
    parser.add_argument(
        "--minutes", type=float, default=60, help="after these it ends, and says how far it came"
    )
    parser.add_argument("--events", type=int, default=3_000, help="recorded of one program")
    parser.add_argument("--seconds", type=float, default=20, help="for one program under one tracer")
    parser.add_argument("--judges", default="reference,native", help="the tracers")
    parser.add_argument("--lines-only", action="store_true", help="nothing at instruction level")
    parser.add_argument("--stop-after", type=int, help="kinds of disagreement")
    parser.add_argument("--no-reduce", action="store_true", help="print programs as they are")
    parser.add_argument("--again", action="store_true", help="what has been compared too")
    parser.add_argument(
        "--save", type=Path, default=agree.KEPT / "witness", help="folder for the programs found"
    )
    given = parser.parse_args(arguments)
    imports = PRELOADED if {"generated", "grammar"} & {*given.what} else ()
    setting = agree.Setting(limits=TraceLimits(events=given.events), seconds=given.seconds, imports=imports)
    names = tuple(given.judges.split(","))
    done = _Done(setting, f"{names} {given.lines_only}")
    until = time.monotonic() + 60 * given.minutes
    kinds: dict[str, int] = {}
    count = silent = events = 0
    with Judges(setting, names, levels=not given.lines_only) as judges:
        chosen = _chosen(named(given.what, given.count, given.seed), given.only)
        chosen = itertools.islice(chosen, given.start, None, given.every)
        for program in laid_out(chosen, given.layout):
            if program in done and not given.again:
                continue
            if time.monotonic() > until:
                print(
                    f"  {given.minutes:g} minutes are over at {program.id}; start it again to go on",
                    file=sys.stderr,
                )
                break
            found = judges.judge(program)
            count += 1
            silent += skipped(program) is not None
            events += judges.events
            if count % 100 == 0:
                print(
                    f"  {count:,} programs, {events:,} events, {sum(kinds.values())} disagreements",
                    file=sys.stderr,
                )
            if not found:
                done.add(program)
            for finding in found:
                new = finding.like not in kinds
                kinds[finding.like] = kinds.get(finding.like, 0) + 1
                print(f"\n{program.id}: {finding.who}: {finding.text}", flush=True)
                if new:
                    text = program.code if given.no_reduce else smaller(finding, judges, 60)
                    print(f"---\n{text}---", flush=True)
                    _save(given.save, finding, text)
            if given.stop_after and len(kinds) >= given.stop_after:
                break
    print(
        f"\n{count:,} programs, {events:,} events compared, {silent} programs without the witness, {sum(kinds.values())} disagreements"
    )
    if not count and not done.known:
        print("there was no program to run", file=sys.stderr)
        return 2
    for like, number in sorted(kinds.items(), key=lambda item: -item[1]):
        print(f"  {number:6} {like}")
    return 1 if kinds else 0


def _chosen(programs: Iterable[Program], only: str | None) -> Iterator[Program]:
    return (program for program in programs if only is None or re.search(only, program.id))


def _save(folder: Path, finding: Finding, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", f"{finding.who}_{finding.program.id}")[:100]
    (folder / f"{name}.py").write_text(text, encoding="utf-8", errors="surrogatepass")


if __name__ == "__main__":
    sys.exit(main())
