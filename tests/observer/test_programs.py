"""Programs as people write them do the same in plain Python, under `deskcheck run` and under `deskcheck record`.

Compared: standard output and error, exit status, and the files that a program leaves (under `record` it prints
what it has written: the sandbox empties its folder). Not: the folder, which is another, and so is left out of texts.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from deskcheck.recorder.run import run as run_program
from deskcheck.recording import Program
from deskcheck.sandbox import Confinement, Sandbox, Tracing
from deskcheck.sandbox.server import _environment
from tests.sample import spread

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


class Seen(NamedTuple):
    """What a run shows to whoever started it."""

    stdout: str
    stderr: str
    exit_status: int | None
    files: dict[str, bytes]


def _text(data: bytes, folder: Path) -> str:
    text = data.decode("utf-8", "replace").replace(f"{folder}/", "").replace("/scratch/program/", "")
    return re.sub(r"0x[0-9a-f]{6,}", "0x-", text)


def _files(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, but for compiled modules and for recordings."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and "runs" not in path.parts
    }


@contextmanager
def _streams(folder: Path) -> Iterator[None]:
    """The descriptors 0 to 2 of this process, which what it starts inherits: nothing, and two files."""
    saved = [os.dup(number) for number in range(3)]
    opened = [
        os.open(os.devnull, os.O_RDONLY),
        *(os.open(folder.parent / name, os.O_RDWR | os.O_CREAT) for name in ("stdout", "stderr")),
    ]
    for number, descriptor in enumerate(opened):
        os.dup2(descriptor, number)
        os.close(descriptor)
    try:
        yield
    finally:
        for number, descriptor in enumerate(saved):
            os.dup2(descriptor, number)
            os.close(descriptor)


def plainly(path: Path, folder: Path) -> Seen:
    done = subprocess.run(
        [sys.executable, path.name], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return Seen(_text(done.stdout, folder), _text(done.stderr, folder), done.returncode, _files(folder))


def run_by_us(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    monkeypatch.chdir(folder)
    with _streams(folder):
        _, status = run_program(path.name, out=folder / "runs")
    stdout, stderr = ((folder.parent / name).read_bytes() for name in ("stdout", "stderr"))
    return Seen(_text(stdout, folder), _text(stderr, folder), status, _files(folder))


def recorded(path: Path, sandbox: Sandbox) -> Seen:
    program = Program(id=path.stem, code=path.read_text(encoding="utf-8"), filename=path.name)
    blocks: list[bytes] = []
    found = sandbox.run_one(program, tracing=Tracing(blocks.append))
    assert blocks
    stdout, stderr = (
        _text(text.encode("utf-8", "replace"), Path("/nowhere")) for text in (found.stdout, found.stderr)
    )
    return Seen(stdout, stderr, found.exit_status, {})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Confinement.STANDARD, workers=1) as opened:
        yield opened


@pytest.mark.parametrize("path", spread(PROGRAMS, 25, 5), ids=lambda path: path.stem)
def test_a_program_does_the_same(
    path: Path, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the letter, three times."""
    for name, value in _environment(str(tmp_path), 0).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen = []
    for name in ("plain", "run"):
        folder = tmp_path / name / "folder"
        folder.mkdir(parents=True)
        (folder / path.name).write_bytes(path.read_bytes())
        seen.append(plainly(path, folder) if name == "plain" else run_by_us(path, folder, monkeypatch))
    plain, run = seen
    assert run == plain, "deskcheck run"
    assert recorded(path, sandbox) == plain._replace(files={}), "deskcheck record"
