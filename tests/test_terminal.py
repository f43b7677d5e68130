"""Nothing that a program, a model or a file name says can command the terminal that a command is read on."""

import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from deskcheck.terminal import Console, visible
from tests.command import PROCESS, deskcheck

TITLE = "\x1b]0;owned\x07"
HOSTILE = f"{TITLE}\x1b[2J\x9b31m\rover\u202edrow\u2066\x7f\x08\u2028"
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)


def test_what_a_terminal_obeys_is_written_out() -> None:
    """Escape sequences, carriage returns, deletions, direction marks, tags, halves of surrogate pairs; nothing
    else."""
    assert visible("a\x1b[31mb\rc\u202ed\x9be\udcff\U000e0041") == (
        "a\\x1b[31mb\\rc\\u202ed\\x9be\\udcff\\U000e0041"
    )
    plain = "tab\tline\nümläut 漢字 👩‍👩‍👧 שלום \\x1b"
    assert visible(plain) == plain
    assert not RAW.search(visible("".join(map(chr, [*range(0x3000), 0xD800, 0xDFFF, 0xE0001]))))


def test_a_console_keeps_its_own_colours() -> None:
    """In texts, in cells of tables, in titles: of a terminal's commands only those of rich's own styles are left."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard", width=200)
    table = Table(title=Text(HOSTILE))
    table.add_column(Text(HOSTILE))
    table.add_row(Text(HOSTILE, style="red"))
    console.print(table)
    console.print(HOSTILE, markup=False)
    written = file.getvalue()
    assert "\x1b[31m" in written
    assert not RAW.search(re.sub(r"\x1b\[[0-9;]*m", "", written))
    assert "\\x1b]0;owned\\x07" in written or "\\x1b]0;owned" in written


PROGRAM = f"""\
class Hostile(Exception):
    pass
Hostile.__qualname__ = Hostile.__name__ = {HOSTILE!r}
name = {HOSTILE!r}
print(name)
raise Hostile(name)
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / f"a{TITLE}.py").write_text(PROGRAM)
    ran = deskcheck("record", f"a{TITLE}.py", "--out", "runs", "--sandbox", "trusted", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("record", f"a{TITLE}.py", "--sandbox", "trusted"),
        ("record", f"none{TITLE}.py", "--out", f"out{TITLE}"),
        ("view", "runs"),
        ("view", "runs", f"a{TITLE}.py"),
        ("view", "runs", f"none{TITLE}"),
        ("runs", "show", "runs"),
        ("runs", "check", "runs"),
        ("runs", "status", f"none{TITLE}"),
        (f"no{TITLE}",),
        ("view", f"--no{TITLE}"),
    ],
    ids=lambda arguments: "-".join(arguments).replace(TITLE, "!"),
)
def test_no_command_hands_it_on(hostile: Path, arguments: tuple[str, ...]) -> None:
    """File names, ids, names and texts of exceptions, output, arguments: on both streams."""
    ran = deskcheck(*arguments, cwd=hostile)
    shown = ran.stdout + ran.stderr
    assert shown
    assert not RAW.search(shown), ascii(shown)


def test_json_is_as_it_was(hostile: Path) -> None:
    """Its own escapes hold the same texts."""
    listed = json.loads(deskcheck("view", "runs", "--json", cwd=hostile).stdout)["recordings"]
    assert [item["id"] for item in listed] == [f"a{TITLE}.py"]


@pytest.mark.slow
def test_streams_that_are_closed_or_full(tmp_path: Path) -> None:
    """A stream that is closed leads nowhere; one that cannot take what is written is an error, in a line."""
    for closed in (">&-", "<&- >&- 2>&-"):
        command = f'exec "$@" list {closed}'
        ran = subprocess.run(
            ["sh", "-c", command, "sh", *PROCESS], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, ""), closed
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            failed = subprocess.run(
                [*PROCESS, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert failed.returncode == 2
        assert failed.stderr == "deskcheck: standard output cannot be written: No space left on device.\n"
