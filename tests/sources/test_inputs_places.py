"""Inputs for the functions of a folder or a package: none is missed, each has its account, nothing ends it."""

import ast
import json
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest

from deskcheck.jobs.spread import Spread
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.record import record
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Outcome, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sources import programs
from deskcheck.sources.inputs import function_search as EACH
from deskcheck.sources.inputs.branches import coverable_of
from deskcheck.sources.inputs.callables import callables
from deskcheck.sources.text.python import python_files, quiet_parse, read_python

FILES = {
    "pkg/__init__.py": "from .words import shout\n",
    "pkg/words.py": '''"""Words."""
from . import helper

def shout(text: str, times: int = 1) -> str:
    if times < 0:
        raise ValueError("negative")
    return helper.upper(text) * times

async def later(n: int) -> int:
    return n + 1

def counted(n: int):
    for k in range(n % 5):
        yield k

class Box:
    def open(self):
        def inside(): return 1
        return inside()
    @staticmethod
    def size(n: int) -> int:
        return abs(n)
    @classmethod
    def of(cls, n: int) -> str:
        return cls.__name__ * (n % 3)
    class _Own:
        @staticmethod
        def hidden(): pass

def _private(x): return x
''',
    "pkg/helper.py": "def upper(text: str) -> str:\n    out = ''\n    for c in text:\n        out += c.upper()\n    return out\n",
    "pkg/tests/test_words.py": "def test_shout(): assert 1\n",
    "loose.py": """import sys
if sys.version_info < (3,):
    def either(a: int): return "old"
else:
    def either(a: int):
        return "new"
def twice(a: int): return 1
def twice(a: int):
    return a * 2
from math import floor
def floor(x: float): return 1
from math import floor
def ghost(): return 1
del ghost
if __name__ == "__main__":
    sys.exit("run as a script")
""",
    "my-script.py": "def dashed(a: int) -> int:\n    return -a\n",
    "broken.py": "def f(:\n",
    "exits.py": "def late(a: int): return a\nraise SystemExit(3)\n",
    "loops.py": "def never(a: int): return a\nwhile True: pass\n",
    "needs.py": "import no_such_module_at_all\ndef alone(a: int): return a\n",
    "empty.py": "x = 1\n",
    "leaves.py": "import os\ndef ends(a: int):\n    os._exit(a % 2)\n",
    ".hidden/seen.py": "def f(): return 1\n",
    "tests/test_all.py": "def test_it(): pass\n",
}


class Looked(NamedTuple):
    folder: Path
    accounts: list[dict[str, Any]]
    programs: list[Program]
    notes: list[str]

    def of(self, file: str) -> dict[str, dict[str, Any]]:
        path = str(self.folder / file)
        return {each["function"]: each for each in self.accounts if each["file"] == path}


def look(source: str, table: Path) -> tuple[list[dict[str, Any]], list[Program], list[str]]:
    notes: list[str] = []
    found = list(programs(source, note=notes.append))
    return [json.loads(line) for line in table.read_text().splitlines()], found, notes


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Looked:
    folder = tmp_path_factory.mktemp("project")
    table = folder.parent / "found.jsonl"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    source = f"inputs,budget=8,each=4,workers=2,sandbox=trusted,table={table}:{folder}"
    with shorter_imports():
        return Looked(folder, *look(source, table))


@contextmanager
def shorter_imports() -> Iterator[None]:
    """A module that does not end is given up sooner."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EACH, "_AT_IMPORT", Limits(cpu_s=0.4, wall_s=30.0))
        yield


def definitions(text: str) -> int:
    """How many functions a text defines: counted without deskcheck."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return 0
    return sum(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in ast.walk(tree))


def test_no_function_is_missed(looked: Looked) -> None:
    """A row for each ``def`` of each file that is neither hidden nor a test, and one for a file without any
    that can be read."""
    there = {name: text for name, text in FILES.items() if "test" not in name and not name.startswith(".")}
    rows = Counter(each["file"] for each in looked.accounts if each["function"])
    counted = {str(looked.folder / name): definitions(text) for name, text in there.items()}
    assert rows == {file: count for file, count in counted.items() if count}
    assert [each["file"] for each in looked.accounts if not each["function"]] == [
        str(looked.folder / "broken.py")
    ]


def test_why_a_function_is_not_tried(looked: Looked) -> None:
    """Each has its own reason: what the text says, and what the module holds when it has been imported."""
    assert looked.of("broken.py")[""]["why"].startswith("1:7: does not parse as Python 3")
    words = looked.of("pkg/words.py")
    assert {name: row["why"] for name, row in words.items() if not row["tried"]} == {
        "Box.open": "needs an instance",
        "Box.open.<locals>.inside": "inside a function",
        "Box._Own.hidden": "private",
        "_private": "private",
    }
    loose = [(row["function"], row["line"], row["why"]) for row in looked.accounts if "loose" in row["file"]]
    another = "its name belongs to another function after the import"
    assert loose == [
        ("either", 3, another),
        ("either", 5, ""),
        ("twice", 7, another),
        ("twice", 8, ""),
        ("floor", 11, "replaced by a compiled function"),
        ("ghost", 13, "missing after its module is imported"),
    ]
    assert looked.of("leaves.py")["ends"]["why"] == "of 8 inputs none could be kept: 8 ended the interpreter"


def test_what_cannot_be_imported_ends_nothing(looked: Looked) -> None:
    """A file that exits, does not end or lacks a module: a row that says so, and the others are looked at."""
    assert looked.of("exits.py")["late"]["why"] == (
        "its module ends the interpreter when it is imported, with status 3"
    )
    assert looked.of("loops.py")["never"]["why"] == "its module does not end when it is imported"
    assert "No module named 'no_such_module_at_all'" in looked.of("needs.py")["alone"]["why"]
    assert looked.of("my-script.py")["dashed"]["kept"]
    assert any(note.startswith("Left out: ") and "broken.py" in note for note in looked.notes)
    assert any("2 test files are left out; tests=yes includes them" in note for note in looked.notes)


def test_the_account_is_what_was_given_out(looked: Looked) -> None:
    """As many programs of each function as its row says; ids differ; coverage is within what there is."""
    given = Counter((program.entry, program.extra["line"]) for program in looked.programs)
    kept = {(row["function"], row["line"]): row["kept"] for row in looked.accounts if row["kept"]}
    assert given == kept
    assert {"shout", "later", "counted", "Box.size", "Box.of", "upper", "dashed"} <= {f for f, _ in kept}
    assert len({program.id for program in looked.programs}) == len(looked.programs)
    for row in looked.accounts:
        assert row["kept"] <= 4
        assert row["tried"] <= 8
        assert 0 <= row["lines_run"] <= row["lines"]
        assert 0 <= row["branches_run"] <= row["branches"]
        assert bool(row["why"]) == (not row["kept"])


def test_they_are_recorded_as_calls_in_their_package(looked: Looked, tmp_path: Path) -> None:
    """A module that imports relatively is run under its name; what it calls beside it is recorded too."""
    some = [
        program for program in looked.programs if program.entry in ("shout", "later", "counted", "Box.of")
    ]
    summary = record_programs(some, tmp_path, RecordSettings(sandbox=Confinement.TRUSTED), workers=2)
    assert not summary.problems
    assert not summary.not_repeatable
    recorded = {recording.id: recording for recording in Recordings(tmp_path)}
    assert recorded.keys() == {program.id for program in some}
    for program in some:
        recording = recorded[program.id]
        lines = {(row.file, row.line) for row in recording.trace.rows if row.kind == "line"}
        assert {file for file, _ in lines} == {"pkg/words.py"} | (
            {"pkg/helper.py"}
            if program.entry == "shout" and recording.run_result.outcome == "returned"
            else set()
        )
        assert recording.run_result.sources.keys() >= {file for file, _ in lines}
        if program.entry == "Box.of":
            assert recording.run_result.outcome is Outcome.RETURNED


# -- lines and branches, counted otherwise -----------------------------------------------------------

BRANCHES = """
def ifs(a: int, b: int) -> int:
    total = 0
    if a > 0 and (
        b > 0
    ):
        total += 1
    elif a == 0:
        total += 2
    if b: total += 1
    if a < -5:
        total = 9
    return total

def loops(n: int, words: list[str]):
    for word in words:
        if not word:
            continue
        for c in word:
            if c == "a":
                break
        else:
            n += 1
    while n > 3:
        n -= 2
        if n == 6:
            return "six"
    while True:
        n += 1
        if n > 10:
            return n

def matched(value: int, text: str):
    match value % 4:
        case 0:
            found = "zero"
        case 1 if text:
            found = "one"
        case 2 | 3:
            found = "more"
        case _:
            found = "none"
    match text:
        case "ab":
            return 1
        case [*_]:
            return 2
    return found

def caught(a: int, b: int):
    try:
        if a // b > 2:
            return "large"
    except ZeroDivisionError:
        if a > 0:
            a = -a
    finally:
        if a:
            b += 1
    def inner(x):
        if x > 2:
            return 1
    return [inner(each) for each in (a, b) if each]

def raising(a: int):
    if a % 2:
        raise KeyError(a)
    if __debug__:
        a += 1
    for x in iter([a, a]):
        if x == 1:
            @lambda f: f
            def g(): pass
"""


class _Counted(ast.NodeTransformer):
    """Has each condition, iterator and case body say where it went."""

    def __init__(self) -> None:
        self.all: set[tuple[int, bool]] = set()

    def _both(self, line: int) -> None:
        self.all |= {(line, True), (line, False)}

    def _counts(self, node: Any, head: ast.expr) -> bool:
        constant = isinstance(head, ast.Constant) or ast.unparse(head) == "__debug__"
        return not constant and node.body[0].lineno > (head.end_lineno or 0)

    def visit_If(self, node: ast.If | ast.While) -> Any:
        self.generic_visit(node)
        if self._counts(node, node.test):
            self._both(node.lineno)
            node.test = ast.parse(f"_hit({node.lineno}, 0)", mode="eval").body
            node.test.args[1] = self._original(node)  # type: ignore[attr-defined]
        return node

    visit_While = visit_If

    def _original(self, node: Any) -> ast.expr:
        found: ast.expr = self.tests[node.lineno]
        return found

    tests: dict[int, ast.expr]

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.body[0].lineno > (node.iter.end_lineno or 0):
            self._both(node.lineno)
            node.iter = ast.Call(ast.Name("_each", ast.Load()), [ast.Constant(node.lineno), node.iter], [])
        return node

    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)
        for case in node.cases:
            if ast.unparse(case.pattern) == "_" and case.guard is None:
                continue
            self._both(case.pattern.lineno)
            case.body.insert(0, ast.parse(f"_hit({case.pattern.lineno}, True)").body[0])
        return node


def counted_otherwise(
    text: str, calls: list[tuple[str, str]]
) -> tuple[set[tuple[int, bool]], set[tuple[int, bool]]]:
    """(branches that there are, branches that calls take), by rewriting the text; cases count when entered."""
    tree = ast.parse(text)
    rewriter = _Counted()
    rewriter.tests = {
        n.lineno: n.test for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.If, ast.While))
    }
    tree = ast.fix_missing_locations(rewriter.visit(tree))
    taken: set[tuple[int, bool]] = set()

    def hit(line: int, value: Any) -> bool:
        taken.add((line, bool(value)))
        return bool(value)

    def each(line: int, things: Any) -> Iterator[Any]:
        for thing in things:
            taken.add((line, True))
            yield thing
        taken.add((line, False))

    names: dict[str, Any] = {"_hit": hit, "_each": each}
    exec(compile(tree, "<rewritten>", "exec"), names)
    for entry, arguments in calls:
        try:
            eval(f"{entry}{arguments}", names)
        except (KeyError, ZeroDivisionError):
            continue
    return rewriter.all, taken


def lines_otherwise(text: str, calls: list[tuple[str, str]]) -> set[int]:
    """The lines of functions that calls run, by a trace function of ten lines."""
    ran: set[int] = set()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != "<plain>":
            return None
        if event == "line":
            ran.add(frame.f_lineno)
        return trace

    names: dict[str, Any] = {}
    exec(compile(text, "<plain>", "exec"), names)
    before = sys.gettrace()
    for entry, arguments in calls:
        sys.settrace(trace)
        try:
            eval(compile(f"{entry}{arguments}", "<call>", "eval"), names)
        except (KeyError, ZeroDivisionError):
            continue
        finally:
            sys.settrace(before)
    return ran


@pytest.mark.slow
def test_lines_and_branches_are_those_of_a_rewritten_program(tmp_path: Path) -> None:
    """What the account says of the kept inputs, a program whose conditions count themselves says too."""
    file, table = tmp_path / "ways.py", tmp_path / "found.jsonl"
    file.write_text(BRANCHES)
    source = f"inputs,budget=40,each=40,workers=2,sandbox=trusted,table={table}:{file}"
    accounts, found, _ = look(source, table)
    assert {row["function"] for row in accounts if row["kept"]} == {
        "ifs",
        "loops",
        "matched",
        "caught",
        "raising",
    }
    tree = ast.parse(BRANCHES)
    for row in accounts:
        if not row["kept"]:
            continue
        calls = [(p.entry or "", p.arguments or "") for p in found if p.entry == row["function"]]
        there, taken = counted_otherwise(BRANCHES, calls)
        node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == row["function"])
        own = range(node.lineno, (node.end_lineno or 0) + 1)
        there = {(line, into) for line, into in there if line in own}
        assert row["branches"] == len(there)
        patterns = {c.pattern.lineno for m in ast.walk(node) if isinstance(m, ast.Match) for c in m.cases}
        passed = {(line, into) for line, into in there if line in patterns and not into}
        ran = lines_otherwise(BRANCHES, calls) & {n for n in own if n > node.lineno}
        if not patterns:
            assert row["branches_run"] == len(taken & there)
        else:  # the rewritten program does not say that a case was passed
            assert 0 <= row["branches_run"] - len((taken & there) - passed) <= len(passed)
        assert row["lines_run"] == len(ran)
        assert row["lines"] == len(compiled_lines(node))


def compiled_lines(node: ast.FunctionDef) -> set[int]:
    """Lines for which the compiler made code in a function's own code and that of functions in it."""
    alone = ast.Module([node], [])
    (code,) = (c for c in compile(alone, "<one>", "exec").co_consts if isinstance(c, CodeType))
    waiting, lines = [code], set()
    while waiting:
        code = waiting.pop()
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]
        lines |= {line for _, _, line in code.co_lines() if line is not None and line > node.lineno}
    return lines


# -- modules, words, jobs ----------------------------------------------------------------------------


def test_an_importable_module(tmp_path: Path) -> None:
    """The standard library's, with its licence; one function of it; what is compiled is said to be."""
    table = tmp_path / "found.jsonl"
    accounts, found, notes = look(
        f"inputs,budget=5,each=2,sandbox=trusted,table={table}:statistics::mean", table
    )
    assert [row["function"] for row in accounts] == ["mean"]
    assert {program.module for program in found} == {"statistics"}
    assert all(program.train_ok and program.licence == "PSF-2.0" for program in found)
    assert re.search(r"statistics.py::mean: 5 inputs tried, \d kept; they run \d of \d lines, ", notes[0])
    assert len(notes) == 1
    accounts, found, _ = look(f"inputs,sandbox=trusted,table={table}:bisect", table)
    assert {row["why"] for row in accounts} == {"replaced by a compiled function"}
    assert found == []


def test_every_function_of_the_standard_library_is_seen() -> None:
    """As many as `ast.walk` counts, in files that nobody wrote for this; qualified names are the code's."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [*library.glob("[c-f]*.py"), *python_files(library / "asyncio")]
    assert len(files) > 50
    for file in files:
        text = read_python(file, str(file))
        found = callables(quiet_parse(text))
        assert len(found) == definitions(text), file
        waiting, names = [compile(text, "<file>", "exec", dont_inherit=True)], Counter[tuple[str, int]]()
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            names[code.co_qualname, code.co_firstlineno] += 1
        # Code under a constant condition is not compiled, nor what a function that is never made holds.
        there = [each for each in found if (each.name, each.first_line) in names]
        assert len(there) >= 0.98 * len(found), file


@pytest.mark.slow
def test_a_folder_is_recorded_in_shards(looked: Looked, tmp_path: Path) -> None:
    """As a job, in shards: the same recordings as without; the same command again finds them all there."""
    source = f"inputs,budget=8,each=4,workers=2,sandbox=trusted:{looked.folder}"
    settings = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)
    spread = Spread(workers=2, shards=5)
    with shorter_imports():
        done = record(source, out=tmp_path, settings=settings, spread=spread)
        again = record(source, out=tmp_path, settings=settings, spread=spread)
    assert done.summary.recorded == len(looked.programs)
    assert {recording.id for recording in Recordings(tmp_path)} == {program.id for program in looked.programs}
    assert again.summary.recorded == 0
    assert {recording.run_result.outcome for recording in Recordings(tmp_path)} <= {
        Outcome.RETURNED,
        Outcome.RAISED,
    }


def test_a_text_without_the_function_has_no_ways() -> None:
    """What is made at run time has no lines to count."""
    assert coverable_of("x = 1\n", None).lines == frozenset()
