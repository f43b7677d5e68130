"""The program's text in a recording of a call in this process: that of the code that ran, or none."""

import dataclasses
import importlib.util
import linecache
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.recording import Kind

CODE = """\
def double(n):
    m = n + n
    return m

def f(n):
    return double(n) + 1
"""


def imported(path: Path) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = module.f
    return function


def changed(path: Path, text: str) -> None:
    """The file as an editor leaves it some time after it was imported."""
    path.write_text(text)
    os.utime(path, (path.stat().st_mtime + 10,) * 2)


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (CODE, True),
        (CODE + "\n\nx = 1\n", True),
        ("# one line more\n" + CODE, False),
        (CODE.replace("m = n + n\n", "m = n\n    m += n\n"), False),
        (CODE.partition("def f")[0] + "f = print\n", False),
        ("", False),
    ],
)
def test_a_file_that_was_changed_after_it_was_imported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, after: str, shown: bool
) -> None:
    """Lines of a recording are those of the code that ran: another text would show other lines under their numbers."""
    path = tmp_path / "some.py"
    path.write_text(CODE)
    f = imported(path)
    changed(path, after)
    recording = deskcheck.trace(f, 2)
    assert recording.run_result.result == "5"
    assert recording.program.code == (after if shown else "")
    assert ("does not match the code that ran" in caplog.text) is (not shown and bool(after))


def test_two_texts_with_one_file_name(caplog: pytest.LogCaptureFixture) -> None:
    """`dataclass` makes methods in a file <string>; since 3.13 `python -c` shows its own text under that name."""

    @dataclasses.dataclass
    class Point:
        x: int

    code = "\n\n\ndef f(n):\n    return Point(n).x\n"
    names: dict[str, Any] = {"Point": Point, "__name__": __name__}
    exec(compile(code, "<string>", "exec"), names)
    linecache.cache["<string>"] = (len(code), None, code.splitlines(keepends=True), "<string>")
    try:
        recording = deskcheck.trace(names["f"], 3)
    finally:
        del linecache.cache["<string>"]
    called = [row.function for row in recording.trace.rows if row.kind == Kind.CALL]
    assert called[0] == "f"
    assert "__init__" in called[1]
    assert recording.program.code == ""
    assert "<string>: the recording lacks its text" in caplog.text


def test_nothing_of_deskcheck_is_recorded() -> None:
    """A function whose file is <string> shares that name with whatever named tuples are made of."""
    names: dict[str, Any] = {}
    exec("def f(n):\n    return n + 1\n", names)
    recording = deskcheck.trace(names["f"], 3)
    assert {row.function for row in recording.trace.rows} == {"f"}
