"""Doctests as sessions, measured against `doctest` itself. Not: recording them."""

import ast
import builtins
import contextlib
import doctest
import importlib
import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources import programs
from deskcheck.sources.sets.doctests import check

LIBRARY = [
    "heapq",
    "statistics",
    "textwrap",
    "json",
    "difflib",
    "collections",
    "fractions",
    "ipaddress",
    "hashlib",
]


def collect(source: str) -> tuple[list[Program], list[str]]:
    notes: list[str] = []
    return list(programs(source, note=notes.append)), notes


def outputs(program: Program, namespace: dict[str, Any]) -> list[str]:
    """Runs a session as the interactive prompt would: what each example wrote, a traceback included."""
    lines = [want["line"] for want in json.loads(program.expected or "")]
    written = [""] * len(lines)
    for statement in ast.parse(program.code).body:
        first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", []))])
        example = max(k for k, line in enumerate(lines) if line <= first)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(ast.Interactive([statement]), program.filename, "single"), namespace)
            except BaseException:  # noqa: BLE001  what a session shows, whatever it is
                out.write(traceback.format_exc())
        written[example] += out.getvalue()
    return written


class Verdicts(doctest.DocTestRunner):
    """The numbers of the examples that doctest itself calls wrong."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.wrong: list[doctest.Example] = []

    def report_failure(self, out: Any, test: Any, example: doctest.Example, got: str) -> None:
        self.wrong.append(example)

    def report_unexpected_exception(
        self, out: Any, test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        self.wrong.append(example)


def wrong_by_doctest(test: doctest.DocTest) -> list[int]:
    runner = Verdicts()
    with contextlib.redirect_stdout(io.StringIO()):
        runner.run(test, clear_globs=False)
    kept = [example for example in test.examples if not example.options.get(doctest.SKIP)]
    return [k for k, example in enumerate(kept) if example in runner.wrong]


def wrong_by_check(program: Program, written: list[str]) -> list[int]:
    names = [f"line {want['line']}" for want in json.loads(program.expected or "")]
    return [names.index(name) for name in check(program.expected or "", written)]


def module_from(text: str, name: str = "written") -> ModuleType:
    module = ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    exec(compile(text, name, "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_has_the_doctests_that_doctest_finds(name: str) -> None:
    """Reading the syntax tree finds the same docstrings, examples and lines as importing the module."""
    found, notes = collect(name)
    module = importlib.import_module(name)
    expected = {
        test.name: test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples
    }
    assert {program.id for program in found} == expected.keys()
    assert notes == []
    for program in found:
        wants = json.loads(program.expected or "")
        examples = expected[program.id].examples
        assert [(want["want"], want["exc_msg"]) for want in wants] == [(e.want, e.exc_msg) for e in examples]
        assert program.code == "\n".join(example.source for example in examples)
        lines = program.code.split("\n")
        assert [lines[w["line"] - 1] for w in wants] == [e.source.split("\n")[0] for e in examples]
        lineno = expected[program.id].lineno
        if program.id != name and lineno is not None:  # doctest does not look for a module's own docstring
            assert program.extra["line"] == lineno + 1
        assert (program.mode, program.module, program.path) == (Mode.SESSION, name, None)
        assert (program.licence, program.train_ok, program.date) == ("PSF-2.0", True, None)


@pytest.mark.parametrize("name", LIBRARY)
def test_sessions_of_the_library_are_judged_as_doctest_does(name: str) -> None:
    """Run in order in the module's namespace, the same examples are right as when doctest runs them.

    Nearly all are; textwrap.shorten and one of ipaddress name their own module, which is no name in it.
    """
    module = importlib.import_module(name)
    tests = {test.name: test for test in doctest.DocTestFinder().find(module)}
    for program in collect(name)[0]:
        written = outputs(program, dict(vars(module)))
        assert wrong_by_check(program, written) == wrong_by_doctest(tests[program.id]), program.id


MANY = '''
def f():
    r"""
    >>> 1 + 1
    2
    >>> 1 + 1
    3
    >>> print("a\\n\\nb")
    a
    <BLANKLINE>
    b
    >>> print("a   b")
    a b
    >>> print("a   b")  # doctest: +NORMALIZE_WHITESPACE
    a b
    >>> list(range(99))  # doctest: +ELLIPSIS
    [0, 1, ..., 98]
    >>> list(range(99))
    [0, 1, ..., 98]
    >>> nothing_of_this_runs()  # doctest: +SKIP
    >>> {}["k"]
    Traceback (most recent call last):
      ...
    KeyError: 'k'
    >>> {}["k"]
    Traceback (most recent call last):
    KeyError: 'other'
    >>> {}["k"]  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    package.KeyError: 'other'
    >>> {}["k"]  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ValueError: 'k'
    >>> {}["k"]
    7
    >>> 7
    Traceback (most recent call last):
    KeyError: 'k'
    >>> raise ValueError("two\\nlines")
    Traceback (most recent call last):
    ValueError: two
    lines
    >>> def g(n):
    ...     print("before")
    ...     return 1 / n
    >>> g(0)
    Traceback (most recent call last):
      File "somewhere", line 1
    ZeroDivisionError: division by zero
    >>> for n in 1, 2:
    ...     print(n)
    1
    2
    >>> try:
    ...     g(0)
    ... except ZeroDivisionError as error:
    ...     raise KeyError("second") from error
    Traceback (most recent call last):
    KeyError: 'second'
    >>> import json
    >>> json.loads("nope")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: Expecting value: ...
    >>> True
    1
    >>> None
    >>> None
    None
    >>> 1; 2
    1
    2
    >>> @staticmethod
    ... def decorated():
    ...     pass
    >>> eval("1 +")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
      ...
    SyntaxError: invalid syntax
    """
'''


def test_the_judgement_is_that_of_doctest(tmp_path: Path) -> None:
    """Whatever doctest calls right or wrong, under each option, `check` calls the same."""
    (tmp_path / "many.py").write_text(MANY)
    (program,), _ = collect(f"doctests:{tmp_path / 'many.py'}")
    module = module_from(MANY)
    (test,) = doctest.DocTestFinder().find(module, "many", module=False)
    expected = wrong_by_doctest(test)
    assert 4 < len(expected) < 16
    assert wrong_by_check(program, outputs(program, dict(vars(module)))) == expected


def test_an_exception_may_come_as_its_last_line_alone() -> None:
    """A session that shows only the exception's message is judged by it."""
    expected = json.dumps([{"line": 1, "want": "", "exc_msg": "KeyError: 'k'\n", "options": {}}])
    assert check(expected, ["KeyError: 'k'\n"]) == []
    assert check(expected, ["KeyError: 'other'\n"]) == ["line 1"]
    assert check(expected, [""]) == ["line 1"]


def test_examples_that_never_ran_have_failed() -> None:
    """A session cut short has not shown what its last examples promise, even that they are silent."""
    expected = json.dumps([{"line": n, "want": "", "exc_msg": None, "options": {}} for n in (1, 3, 5)])
    assert check(expected, [""]) == ["line 3", "line 5"]
    with pytest.raises(ValueError, match="4 outputs for 3 examples"):
        check(expected, [""] * 4)


ODD = '''
import sys
__doc__ = """
>>> "the module"
"""
story = """
>>> "in a variable"
"""
__test__ = {"here": """
>>> "in the dictionary"
""", "there": story, "f": len}

if sys:
    class A:
        r"""
        >>> A()
        """
        class Inner:
            def method(self):
                """>>> 1"""

        @property
        def value(self):
            """>>> 2"""
        @value.setter
        def value(self, new):
            """>>> 3"""

def outer():
    """
    >>> if 1:
    ...     print("x")
    ... print("y")
    SyntaxError
    >>> kept = 1
    >>> a b
    SyntaxError
    """
    def inner():
        """>>> unreachable"""

def silent():
    """No examples."""

def skipped():
    """>>> 1  # doctest: +SKIP"""

def unknown():
    """
    >>> 1  # doctest: +NO_SUCH_OPTION
    """
'''


def test_docstrings_are_found_wherever_they_stand(tmp_path: Path) -> None:
    """Nested classes, conditions, `__doc__` and `__test__`; whatever is left out is noted with its line."""
    file = tmp_path / "odd.py"
    file.write_text(ODD)
    found, notes = collect(f"doctests:{file}")
    assert [(program.id, program.extra["line"]) for program in found] == [
        ("odd.A", 15),
        ("odd.A.Inner.method", 20),
        ("odd.A.value", 24),
        ("odd.A.value#2", 27),
        ("odd.outer", 30),
        ("odd", 3),
        ("odd.__test__.here", 9),
        ("odd.__test__.there", 6),
    ]
    assert [program.code for program in found if program.id == "odd.outer"] == ["kept = 1\n"]
    assert len(notes) == 4
    assert notes[0] == f"{file}:11: a test in __test__ is not a text literal and is left out."
    assert notes[1].startswith(f"{file}:31: an example of odd.outer does not parse and is left out: ")
    assert notes[2].startswith(f"{file}:36: an example of odd.outer does not parse and is left out: ")
    assert notes[3].startswith(f"{file}:49: left out: ")
    assert "invalid option: '+NO_SUCH_OPTION'" in notes[3]


def test_half_a_surrogate_pair_can_be_kept(tmp_path: Path) -> None:
    """A docstring may promise what no file can hold as text: `expected` is written all the same."""
    file = tmp_path / "half.py"
    file.write_text('def f():\n    """\n    >>> print(chr(0xD800))\n    \\ud800\n    """\n')
    (program,), _ = collect(f"doctests:{file}")
    assert program.expected is not None
    assert program.expected.isascii()
    assert check(program.expected, ["\ud800\n"]) == []


def test_nothing_of_the_users_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the module nor the packages round it are imported to find its doctests."""
    package = tmp_path / "loud" / "inner"
    package.mkdir(parents=True)
    loud = "raise SystemExit('imported')\n"
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text(loud)
    (package / "mod.py").write_text(loud + 'def f():\n    """\n    >>> 1\n    1\n    """\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    found, _ = collect("loud.inner.mod")
    (program,) = found
    assert (program.id, program.module, program.path) == ("loud.inner.mod.f", "loud.inner.mod", str(tmp_path))
    assert (program.licence, program.train_ok) == (None, False)
    assert [p.id for p in collect(f"doctests:{package / 'mod.py'}")[0]] == ["loud.inner.mod.f"]
    assert not {"loud", "loud.inner", "loud.inner.mod"} & sys.modules.keys()


def example(number: int) -> str:
    return f'"""\n>>> {number}\n{number}\n"""\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "top.py": example(1),
        "sub/top.py": example(2),
        "pkg/__init__.py": example(3),
        "pkg/mod.py": example(4),
        "pkg/deep/__init__.py": "",
        "pkg/deep/queue.py": example(5),
        "quiet.py": "x = 1\n",
        "broken.py": "def f(:\n",
        "two.dots.py": example(6),
        "__main__.py": example(6),
        ".hidden/h.py": example(6),
        "__pycache__/c.py": example(6),
        "venv/pyvenv.cfg": "",
        "venv/lib/v.py": example(6),
        "notes.txt": "",
    }.items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Path("folder")


def test_a_folder_gives_the_doctests_of_its_files(folder: Path) -> None:
    """Every file is read under the name by which it can be imported; what is left out is said."""
    found, notes = collect("folder")
    here = str(folder.resolve())
    assert [(program.id, program.module, program.path) for program in found] == [
        ("top", "top", here),
        ("pkg", "pkg", here),
        ("pkg.mod", "pkg.mod", here),
        ("pkg.deep.queue", "pkg.deep.queue", here),
        ("sub/top", "top", f"{here}/sub"),
    ]
    assert [program.source for program in found][-1] == "folder/sub/top.py"
    assert [note.partition(":")[0] for note in notes] == ["Left out", "Left out", "Left out", "folder"]
    assert notes[0].startswith("Left out: folder/__main__.py: '__main__' cannot be imported by its name")
    assert notes[1].startswith("Left out: folder/broken.py:1:7: does not parse")
    assert notes[2].startswith("Left out: folder/two.dots.py: 'two.dots' cannot be imported")
    assert notes[3] == "folder: 2 of 10 .py files have no doctests: quiet.py, pkg/deep/__init__.py."


def test_each_file_is_importable_as_the_program_says(folder: Path) -> None:
    """With its path first, importing the module's name in a fresh interpreter gives that very file."""
    for program in collect("folder")[0]:
        code = f"import importlib; print(importlib.import_module({program.module!r}).__file__)"
        environment = {**os.environ, "PYTHONPATH": program.path or ""}
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        assert ran.stdout.strip() == program.extra["file"]


def test_a_folder_is_read_while_it_is_used(folder: Path) -> None:
    """A large folder is not read whole before its first program comes."""
    iterator = programs("folder", note=lambda _: None)
    assert next(iterator).id == "top"
    (folder / "pkg" / "mod.py").write_text(example(7))
    assert "7\n" in [program.code for program in iterator]


def test_no_doctests_is_worth_a_note(folder: Path) -> None:
    """A file or module without doctests gives no programs and says so; that is no error."""
    assert collect("doctests:folder/quiet.py") == ([], ["folder/quiet.py has no doctests."])
    found, (note,) = collect("keyword")
    assert found == []
    assert note.startswith("keyword (")
    assert note.endswith("keyword.py) has no doctests.")


def test_a_named_file_must_be_usable(folder: Path) -> None:
    """What is only a note in a folder is an error for the file that the user named."""
    for name in ("broken.py", "two.dots.py"):
        with pytest.raises(InputError, match=name):
            programs(f"doctests:folder/{name}")


def test_a_folder_without_python_is_refused(tmp_path: Path) -> None:
    """There is nothing to record in it."""
    with pytest.raises(InputError, match=r"has no \.py files"):
        programs(str(tmp_path))


def test_notes_go_to_the_log_by_default(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody who forgets to ask for the notes misses them."""
    list(programs("doctests:folder/quiet.py"))
    assert caplog.messages == ["folder/quiet.py has no doctests."]
