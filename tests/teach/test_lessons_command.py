"""`deskcheck lessons`, as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deskcheck.recording import MissingExtra
from deskcheck.teach.lessons.tokens import open_tokenizer
from tests.command import PROCESS, deskcheck
from tests.teach.conftest import Recorded, call, rows_of

LOOP = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n"


def test_lessons_are_made_once_and_told_of(record: Recorded, tmp_path: Path) -> None:
    """What is printed is what is there; a second call does nothing; as JSON it is the summary in the folder."""
    record(call("a", LOOP, "(4)"), call("b", LOOP, "(9)"), call("c", LOOP, "(2)", train_ok=False))
    arguments = (
        "lessons",
        "runs",
        "--out",
        "out",
        "-n",
        "dynamic,compact",
        "--test",
        "0",
        "--validation",
        "0",
    )
    ran = deskcheck(*arguments, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    rows = rows_of(tmp_path / "out")
    assert f"{len(rows)} lessons in out, of 1 programs (3 recordings, " in ran.stdout
    assert "left out, recordings: 1 not cleared for training" in ran.stdout
    assert "1 from ours (MIT)" in ran.stderr
    made = (tmp_path / "out" / "train-00000.parquet").stat()
    again = deskcheck(*arguments, "--json", cwd=tmp_path)
    assert json.loads(again.stdout) == json.loads((tmp_path / "out" / "lessons.json").read_text())["summary"]
    assert (tmp_path / "out" / "train-00000.parquet").stat() == made


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("runs", "--out", "out", "-n", "dynamc"), "unknown notation 'dynamc'. The notations are direct,"),
        (("runs", "--out", "out", "--jump", "1,x"), "--jump '1,x': give numbers separated by commas"),
        (("runs", "--out", "out", "--jump", "0"), "each must be at least 1"),
        (("runs", "--out", "out", "--test", "0.7", "--validation", "0.3"), "leave some for training"),
        (("runs", "--out", "out", "--without", "nothing.jsonl"), "nothing.jsonl"),
        (("nowhere", "--out", "out"), "nowhere: does not exist"),
        (("empty", "--out", "out"), "empty: has no recordings"),
    ],
)
def test_wrong_calls(arguments: tuple[str, ...], message: str, record: Recorded, tmp_path: Path) -> None:
    """One line that says what is wrong, status 2, and no folder."""
    record(call("a", LOOP, "(4)"))
    (tmp_path / "empty").mkdir()
    ran = deskcheck("lessons", *arguments, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_interrupted_it_goes_on(record: Recorded, tmp_path: Path) -> None:
    """Ctrl-C in the middle: status 130, a word on how to go on, and going on gives the whole."""
    record(*[call(f"p{n}", LOOP.replace("s = 0", f"s = {n}"), "(400)") for n in range(12)])
    command = [*PROCESS, "lessons", "runs", "--out", "out", "--test", "0"]
    # A shell that starts it in the background may have SIGINT ignored, and children inherit that.
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "out" / "lessons.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    assert "rerun the command to resume" in told
    assert json.loads((tmp_path / "out" / "lessons.json").read_text())["complete"] is False
    ran = deskcheck("lessons", "runs", "--out", "out", "--test", "0", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(rows_of(tmp_path / "out")) > 12 * 800


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer that is not ours asks for it by name."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"deskcheck\[teach\]"):
        open_tokenizer("gpt2")
