"""Attacks on the driver of a job: programs that speak for the worker that records them, and files that are changed on
the way from one to the other.

At `trusted` a program can write where its worker answers. The job ends, the rows of all others are what they are without
it, and the one that did it is named.
"""

from pathlib import Path
from typing import Any

import pytest

from deskcheck.jobs import LocalPool
from deskcheck.jobs.job import TaskAnswer
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import changed_files
from deskcheck.jobs.pool import answer_of
from deskcheck.recorder.job import record_job
from deskcheck.recording import Outcome
from deskcheck.recording.program import Mode, Program
from deskcheck.recording.reader import Recordings
from tests.command import deskcheck
from tests.jobs.jobs import OPEN, sums
from tests.jobs.same import digests
from tests.sample import some

LINE = {"shard": "s", "programs": 3, "events": 1, "outcomes": {}, "not_repeatable": 0, "problems": {},
        "bytes": {"recordings": 1}, "sha256": {"recordings": "x"}, "finished": 1}  # fmt: skip
SPEAKS = """
import os, stat

def f(text):
    pid = os.getpid()
    while pid > 1:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"deskcheck.jobs.work" in file.read():
                break
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    for n in os.listdir(f"/proc/{pid}/fd"):
        if n not in "012" and stat.S_ISFIFO(os.stat(f"/proc/{pid}/fd/{n}").st_mode):
            at = os.open(f"/proc/{pid}/fd/{n}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(at, text.encode())
            os.close(at)
"""
WORDS = {
    "no JSON": "x\n",
    "a number": "5\n",
    "deep": "[" * 30_000 + "\n",
    "no task's": '[77, {"done": {}}]\n',
    "nothing done": '[1, {"done": null}]\n',
    "another shard's": f'[1, {{"done": {str(LINE).replace(chr(39), chr(34))}}}]\n',
    "a class that is no error": '[1, {"refused": "x", "error": "annotations"}]\n',
    "half a line": "x" * 1000,
    "many lines": '[1, {"failed": "x"}]\n' * 100,
}


def speaker(text: str) -> Program:
    arguments = f"({text!r},)"
    return Program(id="speaks", code=SPEAKS, mode=Mode.CALL, entry="f", arguments=arguments, source="t")


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("without")
    record_job(sums(6), folder, runner=LocalPool(1), settings=OPEN, size=3)
    return digests(folder)


def assert_goes_on(folder: Path, without: dict[str, Any], word: str) -> None:
    """A word that comes before the shard is whole is noticed, and the program named that says it each time."""
    summary = record_job(
        [*sums(3), speaker(word), *sums(3, 3)], folder, runner=LocalPool(2), settings=OPEN, size=4
    )
    found = digests(folder)
    assert {name: found[name] for name in without} == without
    assert summary.tried_again
    ended = Recordings(folder)["speaks"]
    # Where it stood alone at last, the shard may have been whole before the word was read.
    assert ended.outcome in (Outcome.HARNESS_ERROR, Outcome.RETURNED)
    assert deskcheck("runs", "check", folder, cwd=folder).returncode in (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(WORDS, "no JSON", "another shard's", "many lines"))
def test_a_program_that_answers_for_its_worker(tmp_path: Path, without: dict[str, Any], name: str) -> None:
    assert_goes_on(tmp_path, without, WORDS[name])


def test_what_is_no_answer_is_a_death() -> None:
    """On Ray too, where a node may have another version."""
    wrong: list[Any] = [None, 5, [], "done", {}, {"failed": 5}, {"refused": "x"}, {"x": 1}]
    for said in [*wrong, {"refused": "x", "error": "Path"}]:
        assert answer_of(3, said) == TaskAnswer(3, death="sent an unreadable answer")
    assert answer_of(3, {"failed": "x"}) == TaskAnswer(3, death="x")
    assert answer_of(3, {"done": None}) == TaskAnswer(3)


def test_files_that_are_changed_are_made_again(tmp_path: Path) -> None:
    """Between a worker and whoever reads: bytes that differ, a file that has gone, one of another shard."""
    record_job(sums(6), tmp_path, runner=LocalPool(1), settings=OPEN, size=2)
    before, place = digests(tmp_path), JobFolder(tmp_path)
    assert changed_files(place) == {}
    one, two, three, *_ = sorted(tmp_path.glob("recordings-*.parquet"))
    one.write_bytes(one.read_bytes()[:-9] + bytes(9))
    two.write_bytes(three.read_bytes())
    three.unlink()
    assert len(changed_files(place)) == 3
    summary = record_job(sums(6), tmp_path, runner=LocalPool(1), settings=OPEN, size=2)
    assert len(summary.changed) == 3
    assert changed_files(place) == {}
    assert digests(tmp_path) == before
