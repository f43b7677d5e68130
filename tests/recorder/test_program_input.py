"""`record` and `run` of programs as people have them: arguments, standard input, modules, archives."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deskcheck import Recordings
from deskcheck.recording.recording import Recording

COMMAND = [sys.executable, "-m", "deskcheck"]
APP = """import argparse
import sys

parser = argparse.ArgumentParser()
parser.add_argument("factor", type=int)
parser.add_argument("--loud", action="store_true")
given = parser.parse_args()
total = 0
for line in sys.stdin:
    total += int(line) * given.factor
print(str(total) + "!" * given.loud, sys.stdin.isatty())
sys.exit(total % 5)
"""
MAIN = """import sys
from pack.core import double

print(double(2), sys.argv[1:], sys.argv[0].rpartition("/")[2], __spec__.name, __package__)
"""
CORE = """def double(count):
    numbers = []
    for number in range(count):
        numbers.append(number * 2)
    return numbers
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(APP)
    Path("numbers.txt").write_text("1\n2\n")
    Path("pack").mkdir()
    Path("pack/__init__.py").write_text("")
    Path("pack/__main__.py").write_text(MAIN)
    Path("pack/core.py").write_text(CORE)
    return tmp_path


def command(*words: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    """A command with this file's text as standard input, or with none."""
    with open(os.devnull if given is None else given, "rb") as stdin:
        return subprocess.run(
            [*COMMAND, *words], stdin=stdin, capture_output=True, text=True, check=False, timeout=120
        )


def python(*words: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    with open(os.devnull if given is None else given, "rb") as stdin:
        return subprocess.run(
            [sys.executable, *words], stdin=stdin, capture_output=True, text=True, check=False
        )


def only(folder: str) -> Recording:
    (recording,) = Recordings(folder)
    return recording


def test_arguments_and_standard_input(folder: Path) -> None:
    """Every run gets them, the recording contains them, and the program does what it does without us."""
    words = ["3", "--loud"]
    plain = python("app.py", *words, given="numbers.txt")
    ran = command("record", "app.py", "--out", "runs", "--", *words, given="numbers.txt")
    assert ran.returncode == 0, ran.stderr
    recording = only("runs")
    assert recording.run_result.stdout == plain.stdout == "9! False\n"
    assert recording.run_result.exit_status == plain.returncode == 4
    assert recording.repeatable is True, recording.difference
    assert recording.program.extra["argv"] == words
    assert recording.program.extra["stdin"] == "1\n2\n"
    assert recording.id.startswith("app.py 3 --loud < ")
    totals = {str(event.locals["total"]) for event in recording.trace if "total" in event.locals}
    assert totals == {"0", "3", "9"}
    other = command("record", "app.py", "--out", "runs", "--", "4", given="numbers.txt")
    assert other.returncode == 0
    assert len(Recordings("runs")) == 2, "other arguments are another program"


def test_run_takes_the_same_words(folder: Path) -> None:
    """Also with -- before the arguments. Redirected standard input is stored, and the program has read it."""
    for words in (["app.py", "--", "3", "--loud"], ["app.py", "3", "--loud"]):
        ran = command("run", "--out", "runs", *words, given="numbers.txt")
        assert (ran.returncode, ran.stdout) == (4, "9! False\n"), ran.stderr
    for recording in Recordings("runs"):
        assert recording.program.extra["argv"] == ["3", "--loud"]
        assert recording.program.extra["stdin"] == "1\n2\n"


def test_input_that_is_not_text(folder: Path) -> None:
    Path("app.py").write_text("import sys\ndata = sys.stdin.buffer.read()\nprint(list(data))\n")
    Path("data").write_bytes(b"\xff\x00\r\n")
    assert command("record", "app.py", "--out", "runs", given="data").returncode == 0
    recording = only("runs")
    assert recording.run_result.stdout == "[255, 0, 13, 10]\n"
    assert (
        recording.program.extra["stdin"].encode(recording.program.extra["stdin_encoding"]) == b"\xff\x00\r\n"
    )


def test_the_input_of_a_child_process(folder: Path) -> None:
    Path("app.py").write_text("import subprocess\nsubprocess.run(['cat'], check=True)\n")
    assert command("record", "app.py", "--out", "runs", given="numbers.txt").returncode == 0
    assert only("runs").run_result.stdout == "1\n2\n"


def test_secrets_are_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In arguments, standard input and the id; the program gets the values themselves."""
    secret = "s3cr3t-0123456789"
    monkeypatch.setenv("API_TOKEN", secret)
    Path("app.py").write_text(
        f"import sys\nprint(sys.argv[1] == sys.stdin.read().strip() == {secret[::-1]!r}[::-1])\n"
    )
    Path("key").write_text(secret + "\n")
    assert command("record", "app.py", "--out", "runs", "--", secret, given="key").returncode == 0
    recording = only("runs")
    assert recording.run_result.stdout == "True\n"
    assert secret not in repr((recording.program, recording.run_result, recording.trace.rows))
    assert recording.program.extra["argv"] == ["[masked]"]


def test_a_module(folder: Path) -> None:
    """The package's modules are recorded, with their text."""
    plain = python("-m", "pack", "a", "--b")
    ran = command("record", "-m", "pack", "--out", "runs", "--", "a", "--b")
    assert ran.returncode == 0, ran.stderr
    recording = only("runs")
    assert recording.run_result.stdout == plain.stdout
    assert {event.file for event in recording.trace} == {"pack/__main__.py", "pack/core.py"}
    assert recording.source("pack/__main__.py") == MAIN
    assert recording.source("pack/core.py") == CORE
    checked = command("runs", "check", "runs")
    assert checked.returncode == 0, checked.stdout


def test_an_archive(folder: Path) -> None:
    with zipfile.ZipFile("app.pyz", "w") as archive:
        archive.writestr("__main__.py", MAIN)
        archive.writestr("pack/__init__.py", "")
        archive.writestr("pack/core.py", CORE)
    plain = python("app.pyz", "a")
    assert command("record", "app.pyz", "--out", "runs", "--", "a").returncode == 0
    recording = only("runs")
    assert recording.run_result.stdout == plain.stdout.replace(str(folder / "app.pyz"), "app.pyz")
    assert {event.file for event in recording.trace} == {"__main__.py", "pack/__init__.py", "pack/core.py"}
    assert recording.source("pack/core.py") == CORE


def test_an_installed_module(folder: Path) -> None:
    Path("data.json").write_text('{"a": [1]}')
    plain = python("-m", "json.tool", "--indent", "1", given="data.json")
    assert (
        command(
            "record", "-m", "json.tool", "--out", "runs", "--", "--indent", "1", given="data.json"
        ).returncode
        == 0
    )
    recording = only("runs")
    assert recording.run_result.stdout == plain.stdout
    assert {event.file for event in recording.trace} == {"json/tool.py"}


REFUSED = {
    "an option of the script": (["record", "app.py", "--loud"], "Options of a script go after --"),
    "an argument of the script": (["record", "app.py", "3"], "deskcheck record app.py -- 3"),
    "an argument of a module": (["record", "-m", "pack", "a"], "deskcheck record -m pack -- a"),
    "two scripts": (["record", "app.py", "pack/core.py", "--out", "r", "--", "3"], "are for one program"),
    "a source without arguments": (["record", "heapq", "--", "3"], "takes no arguments after --"),
    "no module": (["record", "-m", "no_such_module"], "no_such_module: no module"),
    "not a name": (["record", "-m", "pack/core.py"], "is not the name of a module"),
    "a package alone": (["record", "-m", "email"], "without a module email.__main__"),
    "shards": (
        ["record", "app.py", "--out", "r", "--shards", "1", "--", "3"],
        "cannot be recorded in shards",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded(folder: Path, name: str) -> None:
    words, message = REFUSED[name]
    ran = command(*words)
    assert ran.returncode == 2
    assert message in " ".join(ran.stderr.replace("│", " ").split())
    assert not Path("r").exists()


def test_input_that_is_too_long(folder: Path) -> None:
    with open("long", "wb") as stream:
        stream.truncate((16 << 20) + 1)
    ran = command("record", "app.py", "--out", "runs", "--", "3", given="long")
    assert ran.returncode == 2
    assert "longer than 16 MiB" in ran.stderr


def test_a_pipe_that_stays_open(folder: Path) -> None:
    """The user learns what is waited for, and what ends the wait."""
    process = subprocess.Popen(
        [*COMMAND, "record", "app.py", "--out", "runs", "--", "3"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    assert "waiting for the end of standard input" in process.stderr.readline()
    process.communicate("5\n", timeout=120)
    assert process.returncode == 0
    assert only("runs").run_result.stdout == "15 False\n"


def test_the_exit_status_survives_a_page_that_cannot_be_written(folder: Path) -> None:
    Path("pages").mkdir()
    Path("app.py").write_text("import os, sys\nos.rmdir('pages')\nsys.exit(7)\n")
    ran = command("run", "--page", "pages/p.html", "app.py")
    assert ran.returncode == 7
    assert "pages/p.html" in ran.stderr


def test_a_missing_module_says_what_to_do(folder: Path) -> None:
    Path("app.py").write_text("import no_such_module\n")
    ran = command("record", "app.py", "--out", "runs")
    assert "--python names an interpreter that has it" in ran.stdout
    assert "No module named 'no_such_module'" in ran.stdout


def test_help_comes_in_two_lengths() -> None:
    short, long = command("record", "--help"), command("record", "--help-all")
    assert "deskcheck record app.py" in " ".join(short.stdout.split())
    assert "--cpu-s" in short.stdout
    assert "--kernel-cpu-s" not in short.stdout
    assert "--kernel-cpu-s" in long.stdout
    assert short.stdout.count("│ --") < 25 < long.stdout.count("│ --")


def test_addresses_among_the_arguments_are_the_programs(folder: Path) -> None:
    """A URI is refused as a folder of deskcheck, and not as an argument of a program."""
    Path("app.py").write_text("import sys\nprint(sys.argv[1])\n")
    assert command("run", "--page", "page.html", "app.py", "s3://bucket/x").stdout == "s3://bucket/x\n"
    assert command("record", "app.py", "--out", "runs", "--", "s3://bucket/x").returncode == 0
    assert only("runs").run_result.stdout == "s3://bucket/x\n"
