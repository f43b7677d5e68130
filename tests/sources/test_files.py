"""One call of a function in a file. Not: running it."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deskcheck.recording import InputError, Mode, Program
from deskcheck.sources import programs
from deskcheck.sources.sets.files import script
from deskcheck.sources.text.python import parse

SORTING = '''\
"""Sorting."""
from math import floor

def bubble(items, reverse=False):
    return sorted(items, reverse=reverse)

async def later(): ...

if True:
    def conditional(): ...

half = lambda n: n / 2

class Stack:
    def push(self, item): ...

    @staticmethod
    def empty(): return []

    @classmethod
    def of(cls, *items): return cls()
'''


@pytest.fixture
def sorting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("sorting.py").write_text(SORTING)
    return "sorting.py"


def only(source: str, arguments: str | None = None) -> Program:
    (program,) = programs(source, arguments)
    return program


def test_a_call_carries_all_that_it_needs(sorting: str, tmp_path: Path) -> None:
    """The program is the file's text, the function, the arguments, and the folder of its neighbours."""
    program = only("sorting.py::bubble", "([3, 1], reverse=True)")
    assert program == Program(
        id="sorting.py::bubble([3, 1], reverse=True)",
        code=SORTING,
        mode=Mode.CALL,
        filename="sorting.py",
        entry="bubble",
        arguments="([3, 1], reverse=True)",
        path=str(tmp_path),
        source="sorting.py",
        licence=None,
        train_ok=False,
        date=datetime.fromtimestamp(Path(sorting).stat().st_mtime, UTC).date().isoformat(),
        extra={"file": str(tmp_path / "sorting.py")},
    )


@pytest.mark.parametrize(
    "entry", ["bubble", "later", "conditional", "half", "floor", "Stack", "Stack.empty", "Stack.of"]
)
def test_what_can_be_called_is_accepted(sorting: str, entry: str) -> None:
    """Functions however defined, classes, and methods that need no instance."""
    program = only(f"{sorting}::{entry}", "()")
    namespace: dict[str, object] = {}
    exec(program.code, namespace)
    assert callable(eval(entry, namespace))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("buble", "sorting.py: defines no buble. Did you mean bubble?"),
        ("zzz", "It defines bubble, later, conditional, Stack, Stack.empty, Stack.of."),
        ("Stack.pop", "class Stack defines no pop."),
        ("Stack.empti", "Did you mean Stack.empty"),
        ("Stack.push", "sorting.py:15: Stack.push needs an instance"),
        ("bubble.x", "bubble is a function, not a class."),
        ("", "defines no ."),
    ],
)
def test_an_entry_that_cannot_be_called_is_refused(sorting: str, entry: str, message: str) -> None:
    """The error says what the file has instead."""
    with pytest.raises(InputError) as caught:
        programs(f"{sorting}::{entry}", "()")
    assert message in str(caught.value)


def test_names_that_only_running_would_show_are_trusted(tmp_path: Path) -> None:
    """After a star import, in a subclass and through a variable, an entry may exist: running will tell."""
    file = tmp_path / "m.py"
    file.write_text("from os.path import *\nclass A(dict): ...\nb = A()\n")
    for entry in ("basename", "A.fromkeys", "b.keys"):
        assert only(f"{file}::{entry}", "()").entry == entry


def test_arguments_are_asked_for_with_the_signature(sorting: str) -> None:
    """Without arguments the error shows what the function takes."""
    with pytest.raises(InputError, match=r"it is defined as bubble\(items, reverse=False\)"):
        programs(f"{sorting}::bubble")


def test_bad_arguments_are_shown_with_a_caret(sorting: str) -> None:
    """The place of the mistake is shown under the user's own text."""
    with pytest.raises(InputError) as caught:
        programs(f"{sorting}::bubble", "([3, 1)")
    first, *rest = str(caught.value).split("\n")
    assert first.startswith("arguments of sorting.py::bubble: not an argument list: closing parenthesis")
    assert rest[:2] == ["    ([3, 1)", "          ^"]


def test_a_file_that_does_not_parse_is_shown(tmp_path: Path) -> None:
    """The error starts file:line:column and shows the line."""
    file = tmp_path / "bad.py"
    file.write_text("a = 1\ndef f(:\n    pass\n")
    with pytest.raises(InputError) as caught:
        programs(f"{file}::f", "()")
    first, line, caret = str(caught.value).split("\n")
    assert first.startswith(f"{file}:2:7: does not parse as Python 3.")
    assert (line, caret) == ("    def f(:", "          ^")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x = '\xff'\n", "invalid or missing encoding declaration. Save it as UTF-8"),
        (b"\n\n" + b"x = 1\n" * 9999 + b"'\xff'", "is not utf-8 at byte"),
        (b"# -*- coding: klingon -*-\n", "unknown encoding. Save it"),
        (b"x = 1\0\n", "null byte"),
        (b"x = " + b"(" * 1000, "does not parse"),
    ],
)
def test_a_file_that_is_not_python_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """Other encodings, null bytes and endless nesting are the file's fault, and the error says so."""
    file = tmp_path / "odd.py"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        programs(f"{file}::f", "()")


def test_a_declared_encoding_is_respected(tmp_path: Path) -> None:
    """Latin-1 text and Windows line ends arrive as Python would read them."""
    file = tmp_path / "latin.py"
    file.write_bytes("# -*- coding: latin-1 -*-\r\ndef f(): return 'é'\r\n".encode("latin-1"))
    assert only(f"{file}::f", "()").code == "# -*- coding: latin-1 -*-\ndef f(): return 'é'\n"


def test_ids_tell_long_arguments_apart(sorting: str) -> None:
    """Arguments too long for an id still make two calls two."""
    long = [only("sorting.py::bubble", f"([{'1, ' * 200}{last}])").id for last in (1, 2)]
    assert long[0] != long[1]
    assert max(map(len, long)) < 140


@pytest.mark.parametrize("source", ["absent.py::f", "::f", "sorting.txt::f", ".::f"])
def test_only_a_python_file_has_functions(sorting: str, source: str) -> None:
    """Anything else before the two colons is refused with the form to write."""
    with pytest.raises(InputError, match=r"path/file\.py::function"):
        programs(source, "()")


def test_no_line_is_shown_of_a_file_that_a_link_leads_to(tmp_path: Path) -> None:
    """A folder of somebody else's can have a link to any file of the user's: an error does not print it."""
    (tmp_path / "shadow").write_text("root:$6$S3CR3T:19000:\n")
    (tmp_path / "program.py").symlink_to("shadow")
    with pytest.raises(InputError, match="does not parse") as caught:
        script(str(tmp_path / "program.py"), lambda text: None)
    assert "S3CR3T" not in str(caught.value)
    with pytest.raises(InputError, match="S3CR3T"):
        parse("root:$6$S3CR3T:19000:\n", "mine.py")


def test_a_long_line_that_does_not_parse_is_shown_around_its_place() -> None:
    """A megabyte in one line does not become a megabyte of message."""
    with pytest.raises(InputError) as caught:
        parse("x = '" + "a" * 1_000_000 + "' $ 1\n", "program.py")
    assert len(str(caught.value)) < 700
    assert "' $ 1" in str(caught.value)


def test_an_archive_is_its_main_module(tmp_path: Path) -> None:
    """Which imports the others; an archive without one, or with one that is no Python, is refused."""
    path = tmp_path / "app.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", "import inner\n")
        archive.writestr("inner.py", "")
    (program,) = programs(str(path))
    assert (program.code, program.path, program.filename) == ("import inner\n", str(path), "__main__.py")
    for texts in ({"inner.py": ""}, {"__main__.py": "if"}):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
        with pytest.raises(InputError, match="__main__"):
            programs(str(path))
