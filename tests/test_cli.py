"""The command line, as a user meets it: arguments, output, messages and a status."""

import functools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deskcheck as deskcheck_package
from deskcheck.cli.common.jobs import job_progress
from deskcheck.recording import Kind
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.linux.processes import children
from tests.command import PROCESS, deskcheck
from tests.sample import spread

ENDLESS = (
    '{"code": "def f(n):\\n    while True:\\n        n += 1\\n", "entry": "f", "inputs": ["(1)", "(2)"]}\n'
)


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of deskcheck, written as in a shell."""
    return deskcheck(*shlex.split(line), cwd=folder)


def write_sources(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(
        "def double(x, times=1):\n    for _ in range(times):\n        x = x + x\n    return x\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "unpinned.txt").write_text("six==1.16.0\nnumpy>=1\n")
    (tmp_path / "no_code.jsonl").write_text('{"entry": "f", "inputs": ["1"]}\n')
    (tmp_path / "mine.jsonl").write_text(
        '{"id": "add", "code": "def f(a, b):\\n    return a + b\\n", "entry": "f", "inputs": ["(1, 2)", "(3, 4)"]}\n'
        '{"id": "fail", "code": "def f(a):\\n    return 1 // a\\n", "entry": "f", "inputs": ["(0)"]}\n'
    )
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_sources(tmp_path)


ONE = "'good.py::double(3)'"
"""The id of the recording in `one`, as a word of a shell."""


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recording in `runs`, which no test changes."""
    folder = write_sources(tmp_path_factory.mktemp("one"))
    ran = run("record good.py::double '(3)' --out runs --sandbox trusted --no-repeat", folder)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recordings of mine.jsonl in `runs`, which no test changes."""
    folder = write_sources(tmp_path_factory.mktemp("mine"))
    ran = run("record mine.jsonl --out runs --sandbox trusted --no-repeat", folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_one_call_is_shown_as_a_table(folder: Path) -> None:
    """Without --out, a call's trace stands on standard output, nothing on standard error."""
    ran = deskcheck("record", "good.py::double", "(3, times=2)", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "x = 6" in ran.stdout
    assert "x = 12" in ran.stdout
    assert "returned -> 12" in ran.stdout


SCRIPT = """\
import sys
from pathlib import Path

import helper

if __name__ == "__main__":
    print(sum(int(line) for line in open("data.txt")), helper.NAME, sys.argv)
    print(Path(__file__).with_name("more").joinpath("inner.txt").read_text())
    Path("made.txt").write_text("made")
"""


@pytest.mark.parametrize("sandbox", spread(["strict", "standard", "trusted"], 3))
def test_a_script_is_run_as_it_stands(folder: Path, sandbox: str) -> None:
    """`record FILE.py` runs it and shows its trace. What lies beside it is found by relative paths and can be
    imported; what it writes does not get there."""
    (folder / "here").mkdir()
    here = {
        "script.py": SCRIPT,
        "data.txt": "1\n20\n",
        "helper.py": "NAME = 'helper'\n",
        "random.py": "1 / 0\n",
    }
    for name, text in here.items():
        (folder / "here" / name).write_text(text)
    (folder / "here" / "more").mkdir()
    (folder / "here" / "more" / "inner.txt").write_text("inside")
    for each in (folder, folder / "here"):
        each.chmod(0o755)
    ran = deskcheck("record", "here/script.py", "--out", "runs", "--sandbox", sandbox, cwd=folder)
    if sandbox != "trusted" and "cannot be had here" in ran.stderr:
        pytest.skip(f"the kernel does not give {sandbox}")
    assert (ran.returncode, ran.stderr) == (0, "")
    (recording,) = Recordings(folder / "runs")
    assert recording.run_result.stdout == "21 helper ['script.py']\ninside\n", recording.run_result.stderr
    assert (recording.id, recording.outcome.value, recording.repeatable) == (
        "here/script.py",
        "returned",
        True,
    )
    there = {path.name for path in (folder / "here").iterdir()} - {"__pycache__"}
    assert there == {*here, "more"}
    assert deskcheck("runs", "check", "runs", cwd=folder).returncode == 0


def test_a_script_is_shown(folder: Path) -> None:
    """Without --out its trace stands on standard output; a script that fails was recorded all the same."""
    (folder / "fails.py").write_text("x = 3\nraise ValueError(x)\n")
    ran = deskcheck("record", "fails.py", "--sandbox", "trusted", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "x = 3" in ran.stdout
    assert "ValueError: 3" in ran.stdout


def test_arguments_need_no_parentheses(folder: Path) -> None:
    """What follows a call and names no source is its arguments."""
    ran = deskcheck("record", "good.py::double", "3, times=2", "--sandbox", "trusted", cwd=folder)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "returned -> 12" in ran.stdout


@pytest.mark.slow
def test_the_slow_tracer_is_named(folder: Path) -> None:
    """Where the tracer's C core is missing, `record` and `doctor` say that the slow one is used; with --json,
    too, on standard error."""
    package = Path(deskcheck_package.__file__).parent
    shutil.copytree(
        package, folder / "src" / "deskcheck", ignore=shutil.ignore_patterns("*.so", "__pycache__", "nano")
    )
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}

    def in_copy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*PROCESS, *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    call = ("record", "good.py::double", "(3)", "--sandbox", "trusted", "--no-repeat")
    for ran in (in_copy(*call), in_copy(*call, "--json"), in_copy(*call, "--shards", "2", "--out", "runs")):
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr.startswith("note: the tracer's C core is not built for this Python")
        assert len(ran.stderr.splitlines()) == 1
    assert "tracer: reference: the tracer's C core is not built" in " ".join(in_copy("doctor").stdout.split())


def test_nothing_recorded_is_not_well(folder: Path) -> None:
    """A source without programs leaves a status of its own, with a folder, too."""
    ran = deskcheck("record", "doctests:good.py", "--out", "runs", cwd=folder)
    assert ran.returncode == 1
    assert "recorded 0 programs" in ran.stdout
    assert "good.py has no doctests" in ran.stderr


GENERATORS = """\
import asyncio

async def one(x):
    await asyncio.sleep(0)
    return x + 1

def squares(n):
    for i in range(n):
        yield i * i
    return "over"

async def several(n):
    for i in range(n):
        yield await one(i)

def for_ever():
    i = 0
    try:
        while True:
            yield i
            i += 1
    finally:
        print("closed")

def given(generator):
    return generator

async def fails():
    raise KeyError("inside")
"""


def test_what_a_call_only_begins_is_run_to_its_end(folder: Path) -> None:
    """Coroutines are awaited, generators of the called function drawn, at most to a thousand values; a generator
    that the function only handed on is a result like any other."""
    (folder / "later.py").write_text(GENERATORS)
    calls = {
        "one": "(3)",
        "squares": "(3)",
        "several": "(2)",
        "for_ever": "()",
        "given": "(i for i in range(3))",
        "fails": "()",
    }
    named = [word for name, text in calls.items() for word in (f"later.py::{name}", text)]
    assert deskcheck("record", *named, "--out", "runs", cwd=folder).returncode == 0
    found = {recording.program.entry: recording for recording in Recordings(folder / "runs")}
    told = {
        name: (r.run_result.result, r.run_result.result_builtin, r.run_result.detail)
        for name, r in found.items()
    }
    for_ever = told.pop("for_ever")
    assert for_ever[0] == str([*range(1000)])
    assert for_ever[1:] == (False, "its generator was closed after 1000 values")
    assert found["for_ever"].run_result.stdout == "closed\n"
    given = told.pop("given")
    assert "generator" in str(given[0])
    assert told == {
        "one": ("4", True, ""),
        "squares": ("[0, 1, 4]", False, ""),
        "several": ("[1, 2]", False, ""),
        "fails": (None, False, "KeyError: 'inside'"),
    }
    assert found["one"].result_value is not None
    assert found["squares"].result_value is None
    assert [str(event.kind) for event in found["squares"].trace][-1] == "return"
    assert [
        event.value.atom for event in found["squares"].trace if event.kind == "yield" and event.value
    ] == [0, 1, 4]
    assert found["fails"].run_result.exception == "KeyError"
    assert "_whole_call" not in found["fails"].run_result.stderr
    for recording in found.values():
        kinds = [event.kind for event in recording.trace]
        assert kinds.count(Kind.CALL) == sum(kind in (Kind.RETURN, Kind.UNWIND) for kind in kinds)


@pytest.mark.slow
def test_less_is_recorded_where_less_is_asked_for(folder: Path) -> None:
    """--only and --call-depth reach the tracer, and the recording says what was asked."""
    (folder / "deep.py").write_text(
        "def down(n):\n    return up(n) and down(n - 1)\n\ndef up(n):\n    return n\n"
    )
    options = ("--only", "down", "--call-depth", "2", "--max-repetitions", "9", "--out", "runs")
    assert deskcheck("record", "deep.py::down", "(5)", *options, cwd=folder).returncode == 0
    (recording,) = Recordings(folder / "runs")
    assert recording.environment.limits == {"only": ["down"], "call_depth": 2, "repetitions": 9}
    assert {event.function for event in recording.trace} == {"down"}
    assert [event.left_out for event in recording.trace if event.left_out] == [{"deep": 4}]
    assert deskcheck("runs", "check", "runs", cwd=folder).returncode == 0
    shown = deskcheck("record", "deep.py::down", "(5)", *options[:4], cwd=folder).stdout
    assert "left out: 4 deeper calls" in shown


def test_record_counts_what_happened(folder: Path) -> None:
    """--json prints one object that says how many programs ended how, and where they are. The same command again
    records nothing and says so."""
    ran = run("record mine.jsonl --out runs --json", folder)
    said = json.loads(ran.stdout)
    assert ran.returncode == 0
    assert said["recorded"] == 3
    assert said["by_outcome"] == {"returned": 2, "raised": 1}
    assert said["not_repeatable"] == {}
    assert sorted(Path(file).name for file in said["files"]) == [
        "events-00000.parquet",
        "recordings-00000.parquet",
    ]
    said = json.loads(run("record mine.jsonl --out runs --json", folder).stdout)
    assert (said["recorded"], said["skipped"]) == (0, 3)


def test_a_recording_is_viewed_by_its_id(mine: Path) -> None:
    """view lists a folder, shows one recording, and names the folder if there is no such id."""
    listed = json.loads(run("view runs --json", mine).stdout)["recordings"]
    name = next(item["id"] for item in listed if item["result"] == "7")
    assert "returned -> 7" in run(f"view runs {name}", mine).stdout
    wrong = run("view runs nobody", mine)
    assert wrong.returncode == 2
    assert "no recording 'nobody'" in wrong.stderr
    assert repr(listed[0]["id"]) in wrong.stderr, "an id as it is written"


def without_a_reader(command: list[str], folder: Path) -> tuple[int, str]:
    """Status and standard error of a command whose standard output nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as closed:
        ran = subprocess.run(
            command, cwd=folder, stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    return ran.returncode, ran.stderr


def test_a_reader_that_has_seen_enough_ends_it_well(one: Path) -> None:
    """As of `deskcheck view runs | head -1`: status 0, and nothing is said; of text and of tables."""
    for line in (f"view runs {ONE}", "view runs", "runs show runs", "view runs --json"):
        command = [*PROCESS, *shlex.split(line)]
        assert without_a_reader(command, one) == (0, ""), line


def test_a_reader_that_has_gone_does_not_move_the_status(one: Path) -> None:
    """A command whose reader has gone ends as it would have: with the status of what it found."""
    for prints in ("print('found')", "console_out().print('found')"):
        code = (
            "import typer, deskcheck.sources.check as check\n"
            "from deskcheck.terminal import console_out\n"
            f"def found(*_):\n    {prints}\n    raise typer.Exit(1)\n"
            "check.check = found\n"
            "from deskcheck.cli import main\n"
            "main()"
        )
        command = [sys.executable, "-c", code, "runs", "check", "runs"]
        assert without_a_reader(command, one) == (1, ""), prints


def test_a_pipe_of_its_own_that_breaks_is_told_of(one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has died is an error of ours: a message and status 2, and no success."""

    def to_a_dead_worker(*_: object) -> None:
        reads, writes = os.pipe()
        os.close(reads)
        try:
            os.write(writes, b"work")
        finally:
            os.close(writes)

    monkeypatch.setattr("deskcheck.sources.check.check", to_a_dead_worker)
    ran = run("runs check runs", one)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "deskcheck: a process or connection that this command writes to has ended: Broken pipe. "
        "Run the command again.\n"
    )


def test_part_of_an_id_is_enough(mine: Path) -> None:
    """view and show take a part that one id alone has; of several they list the ids."""
    for command in ("view", "runs show"):
        assert run(f"{command} runs fail", mine).stdout == run(f"{command} runs fail_2_0", mine).stdout
        several = run(f"{command} runs add", mine)
        assert several.returncode == 2
        assert "2 recordings have 'add' in their id:\n    add_1_0\n    add_1_1\n" in several.stderr


def _until_it_runs(pid: int) -> None:
    """Wait until a server below a process, which any of its threads may have started, has a program."""
    deadline = time.monotonic() + 300
    while not any(children(server) for server in children(pid)):
        assert time.monotonic() < deadline, "no program ran"
        time.sleep(0.05)


def test_a_recording_is_written_as_a_page(one: Path, tmp_path: Path) -> None:
    """--out writes one file and says so; what makes no sense is refused; without a terminal there is a table."""
    page = tmp_path / "page.html"
    ran = run(f"view runs {ONE} --out {page}", one)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"{page}: ")
    assert "Content-Security-Policy" in page.read_text()
    assert "returned -> 6" in run(f"view runs {ONE} --terminal", one).stdout
    for wrong, why in [
        (f"{ONE} --out no/page.html", "cannot be written"),
        (f"{ONE} --out page.html --serve", "cannot be combined"),
        ("--out page.html", "give its ID"),
    ]:
        ran = run(f"view runs {wrong}", one)
        assert ran.returncode == 2
        assert why in ran.stderr


def test_a_page_is_served_until_it_is_interrupted(one: Path) -> None:
    """--serve prints the address, answers there, and ends in order."""
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import deskcheck.cli; deskcheck.cli.main()"
    command = [sys.executable, "-c", code, "view", "runs", shlex.split(ONE)[0], "--serve"]
    with subprocess.Popen(
        command, cwd=one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        try:
            address = served.stdout.readline().strip()
            with urllib.request.urlopen(address + "facts", timeout=300) as response:
                assert json.load(response)["id"] == shlex.split(ONE)[0]
            served.send_signal(signal.SIGINT)
            _, said = served.communicate(timeout=300)
        finally:
            served.kill()
    assert served.returncode == 0
    assert "no longer served" in said


def test_a_trace_is_shown_in_a_notation(mine: Path) -> None:
    """`show` writes one recording as text; an unknown notation, or one that needs instructions, has a way out."""
    shown = run("runs show runs add_1_1", mine)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines()[-2:] == ["2", "return 2 -> 7"]
    direct = run("runs show runs add_1_1 --notation direct --json", mine)
    assert json.loads(direct.stdout) == {"id": "add_1_1", "notation": "direct", "text": "return 7"}
    for arguments, said in [
        ("add_1_1 --notation prose", "The notations are direct, scratchpad"),
        ("add_1_1 --notation dynamic_instruction", "--granularity instruction"),
        ("", "give an ID"),
    ]:
        failed = run(f"runs show runs {arguments}", mine)
        assert (failed.returncode, failed.stdout) == (2, "")
        assert said in failed.stderr


def test_a_check_that_finds_something_has_a_status_of_its_own(folder: Path) -> None:
    """check exits with 0 when all is well and with 1, not 2, when a recording is not what its source says."""
    deskcheck("record", "good.py::double", "(3)", "--out", "well", cwd=folder)
    assert deskcheck("runs", "check", "well", cwd=folder).returncode == 0
    (folder / "set.jsonl").write_text(
        '{"code": "def f(x):\\n    return x", "input": "1", "output": "2", "id": "sample_0"}\n'
    )
    deskcheck("record", "cruxeval:set.jsonl", "--out", "ill", cwd=folder)
    ran = deskcheck("runs", "check", "ill", "--json", cwd=folder)
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["wrong"] == {"sample_0": "returned '1', not '2'"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record", "broken.py::f", "(1)"], "broken.py:1:7"),
        (["record", "good.py::treble", "(1)"], "defines no treble"),
        (["record", "good.py::double", "(1, ]"], "not an argument list"),
        (["record", "heapqq", "--out", "o"], "Did you mean heapq"),
        (["record", "who:where", "--out", "o"], "cruxeval[:PATH]"),
        (["record", "generated", "--out", "o"], "Did you mean generated:COUNT"),
        (["record", "mine.jsonl"], "--out FOLDER"),
        (["record", "nosuch.py"], "nosuch.py: no such file or folder"),
        (["record", "nosuch"], "no module, file or folder has the name nosuch"),
        (["record", "foo:bar"], "unknown source 'foo'"),
        (["record", "cruxeval"], "--out FOLDER"),
        (["record", "broken.py"], "broken.py:1:7"),
        (["record", "good.py::double", "[3"], "arguments of good.py::double: not an argument list"),
        (["record", "good.py::double", "3 times 2"], "Write it as in a call: '(3, seed=1)'"),
        (
            ["record", "good.py::double"],
            "good.py::double needs its arguments: it is defined as double(x, times=1)",
        ),
        (["record", "good.py::double", "(1)", "good.py::double", "(2)"], "--out FOLDER"),
        (["record", "doctests:good.py"], "doctests:good.py: contains no programs, so nothing was run"),
        (["record", "mine.jsonl", "--out", "good.py"], "There is a file in the place of a folder"),
        (["record", "nosuch.py::double", "(1)"], "nosuch.py: no such file"),
        (["record", "mine.jsonl::double", "(1)"], "mine.jsonl: is not a .py file"),
        (["view", "nowhere"], "nowhere"),
        (["view", "good.py"], "good.py: is a file; `deskcheck record SOURCE --out FOLDER`"),
        (["runs", "check", "nowhere"], "nowhere"),
        (["record", "--bogus"], "No such option"),
        (["record", "good.py::double", "(1)", "--clock", "1960-01-01"], "is before 1970-01-01"),
        (["record", "pytest:.", "--out", "o", "--environment", "x"], "--environment: is for programs"),
        (["env", "build", "unpinned.txt"], "'numpy>=1' is not pinned"),
    ],
)
def test_bad_input_gets_a_place_and_a_way_out(folder: Path, arguments: list[str], said: str) -> None:
    """What cannot be used is named on standard error, with status 2 and no traceback."""
    ran = deskcheck(*arguments, cwd=folder)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("sources", "recorded", "why"),
    [
        (["no_code.jsonl"], 0, "no_code.jsonl:1: the row lacks 'code'"),
        (["mine.jsonl", "nosuch.py"], 3, "nosuch.py: no such file or folder"),
        (["broken.py", "mine.jsonl"], 3, "broken.py:1:7"),
    ],
)
def test_a_source_that_cannot_be_used_costs_itself(
    folder: Path, sources: list[str], recorded: int, why: str
) -> None:
    """The others are recorded. It is named with the reason, and the status is 2."""
    ran = deskcheck("record", *sources, "--out", "o", "--sandbox", "trusted", "--no-repeat", cwd=folder)
    assert ran.returncode == 2
    assert f"recorded {recorded} programs" in ran.stdout
    assert why in ran.stdout
    assert "Traceback" not in ran.stderr


def test_rows_before_a_bad_one_are_kept(folder: Path) -> None:
    """A bad row ends the command with status 2; what was recorded before it is whole and is not made again."""
    good, _ = (folder / "mine.jsonl").read_text().splitlines()
    (folder / "half.jsonl").write_text(good + "\n{not json\n")
    ran = deskcheck("record", "half.jsonl", "--out", "runs", cwd=folder)
    assert ran.returncode == 2
    assert "half.jsonl:2" in ran.stderr
    (folder / "half.jsonl").write_text(good + "\n")
    said = json.loads(deskcheck("record", "half.jsonl", "--out", "runs", "--json", cwd=folder).stdout)
    assert (said["recorded"], said["skipped"]) == (0, 2)


def test_an_interrupt_keeps_what_was_finished(folder: Path) -> None:
    """Ctrl-C stops running programs at once, says where things are, and exits with 130."""
    (folder / "long.jsonl").write_text((folder / "mine.jsonl").read_text() + ENDLESS)
    command = [*PROCESS, "record", "long.jsonl", "--out", "runs", "--workers", "1"]
    # A shell starts what it puts in the background with SIGINT ignored, and that is inherited.
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=listening
    ) as process:
        deadline = time.monotonic() + 120
        while len([*folder.glob("runs/.spool/*.json")]) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "rerun the command to resume" in said
    listed = json.loads(deskcheck("view", "runs", "--json", cwd=folder).stdout)["recordings"]
    assert {item["id"] for item in listed} == {"add_1_0", "add_1_1", "fail_2_0"}


@pytest.mark.parametrize("out", spread([True, False], 2))
def test_an_interrupted_program_is_told_of(folder: Path, out: bool) -> None:
    """Ctrl-C in a single program, shown or kept, says what became of it; `status` reads the folder."""
    (folder / "endless.py").write_text("def f():\n    while True: pass\n")
    command = [*PROCESS, *shlex.split("record endless.py::f '()' --sandbox trusted")]
    command += ["--out", "runs"] if out else []
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=listening
    ) as process:
        try:
            _until_it_runs(process.pid)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert said.startswith("interrupted: ")
    assert len(said.splitlines()) == 1


def test_an_interrupt_is_told_of_everywhere(mine: Path) -> None:
    """A command that has nothing to say of an interrupt is told to be interrupted, once, with status 130."""
    code = (
        "import sys, deskcheck.sources.check as check\n"
        "def interrupted(*_): raise KeyboardInterrupt\n"
        "check.check = interrupted\n"
        "from deskcheck.cli import main\n"
        "main()"
    )
    command = [sys.executable, "-c", code, "runs", "check", "runs"]
    ran = subprocess.run(command, cwd=mine, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "interrupted\n")


def test_what_is_kept_of_a_job_is_said_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SIGTERM while a job is made: one sentence."""
    with pytest.raises(SystemExit), job_progress(folder / "runs", quiet=True):
        sys.exit(143)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_status_of_a_folder_without_a_job(folder: Path) -> None:
    """A plain `record`, stopped or not, is told of: what is there, what failed, who writes, what to do."""
    deskcheck("record", "mine.jsonl", "--out", "runs", "--sandbox", "trusted", "--no-repeat", cwd=folder)
    shown = deskcheck("runs", "status", "runs", "--failures", cwd=folder)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "runs: recorded 3 programs in 1 shards" in shown.stdout
    assert "1 raised, 2 returned" in shown.stdout
    assert "rerun the command to record the remaining programs" in shown.stdout
    # A writer that is killed leaves what it finished in its spool, and a lock that nobody holds.
    code = (
        "import os, sys\n"
        "from deskcheck.recording import RunResult, Environment, Outcome, Program\n"
        "from deskcheck.recording.writer import Writer\n"
        "spool = Writer('killed').begin(Program(id='p', code=''))\n"
        "here = Environment.here(tracer='none', hash_seed=0, packages={})\n"
        "spool.finish(RunResult(outcome=Outcome.RETURNED), here)\n"
        "print('written', flush=True)\n"
        "sys.stdin.read()\n"
        "os._exit(1)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        assert f"written by process {writer.pid}" in deskcheck("runs", "status", "killed", cwd=folder).stdout
        writer.communicate("", timeout=120)
    shown = deskcheck("runs", "status", "killed", cwd=folder)
    assert "recorded 0 programs in 0 shards" in shown.stdout
    assert "1 more are finished" in shown.stdout
    assert "no process is writing here" in shown.stdout
    told = json.loads(deskcheck("runs", "status", "killed", "--json", cwd=folder).stdout)
    assert (told["inside"], told["driver"], told["planned"]) == (1, None, None)
    refused = deskcheck("runs", "status", "runs", "--verify", cwd=folder)
    assert refused.returncode == 2
    assert "recorded without --shards" in refused.stderr


def test_environments_are_built_listed_named_and_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file becomes an environment, programs run in it by its name, and it can be removed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "bare.toml").write_text("packages = []\n")
    built = deskcheck("env", "build", "bare.toml", "--json", cwd=folder)
    assert built.returncode == 0, built.stderr
    assert built.stderr.startswith("building bare with Python 3.")
    listed = deskcheck("env", "list", "--json", cwd=folder)
    assert json.loads(listed.stdout) == json.loads(built.stdout)
    assert json.loads(listed.stdout)["environments"][0]["installed"] == {}
    ran = deskcheck("record", "good.py::double", "(3)", "--environment", "bare", "--out", "runs", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert next(iter(Recordings(folder / "runs"))).environment.name == "bare"
    assert deskcheck("env", "remove", "bare", cwd=folder).returncode == 0
    again = deskcheck("record", "good.py::double", "(3)", "--environment", "bare", cwd=folder)
    assert again.returncode == 2
    assert "unknown environment 'bare'. Built are: none" in again.stderr


def test_ask_scores_the_oracle_right(folder: Path) -> None:
    """ask --json gives one result for each question and model, and the oracle scores 1. The same command prints a
    table of it, without asking again, and a report reads it."""
    pytest.importorskip("inspect_ai", reason="would have proved that `deskcheck ask` runs and scores")
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    asked = "ask runs -q output,input -m deskcheck/oracle,deskcheck/guess"
    ran = run(f"{asked} --json", folder)
    results = json.loads(ran.stdout)["results"]
    assert [(r["question"], r["model"]) for r in results] == [
        ("output", "deskcheck/oracle"),
        ("output", "deskcheck/guess"),
        ("input", "deskcheck/oracle"),
        ("input", "deskcheck/guess"),
    ]
    for result in results:
        assert {"n", "score", "low", "high", "excluded", "solver"} <= result.keys()
        assert result["model"] == "deskcheck/guess" or (result["n"], result["score"]) == (2, 1.0)
        assert sum(result["excluded"].values()) == 1
    again = run(asked, folder)
    assert again.returncode == 0, again.stderr
    assert "these questions were asked before" in again.stderr
    rows = [line.split() for line in again.stdout.splitlines() if "deskcheck/oracle" in line]
    assert [row[0] for row in rows] == ["output", "input"]
    assert all("1.000" in row for row in rows)
    assert "not asked for output: 1 ended otherwise: raised" in again.stdout
    report = deskcheck("report", "runs/ask", "--table", "markdown", cwd=folder)
    assert report.returncode == 0, report.stderr
    assert "| output | deskcheck/oracle |" in report.stdout


def test_answers_given_elsewhere_are_scored(folder: Path) -> None:
    """`questions` writes what `ask` would put and says what it leaves out; `score` prints the scores of the answers, again
    without scoring anything; an id that no question has gives status 1; `status` reads the folder."""
    deskcheck("record", "mine.jsonl", "--out", "runs", cwd=folder)
    wrote = run("offline questions runs -q output,state -q input --out q.jsonl", folder)
    assert (wrote.returncode, wrote.stderr) == (0, "")
    assert "q.jsonl: 4 questions: 2 input, 2 output" in wrote.stdout
    assert "not asked for output: 1 ended otherwise: raised" in wrote.stdout
    told = json.loads(run("offline questions runs -q output --out o.jsonl --limit 1 --json", folder).stdout)
    assert told == {"questions": {"output": 1}, "excluded": {"output": {"ended otherwise: raised": 1}}}
    asked = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert all("def f(a, b)" in row["prompt"] for row in asked)

    answers = [{"id": row["id"], "completion": f"[ANSWER]{row['answer']}[/ANSWER]"} for row in asked]
    answers.append({"id": asked[0]["id"], "completion": "4?"})
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    command = "offline score q.jsonl a.jsonl --out scores --workers 1 --sandbox standard"
    twice = run(command, folder)
    assert twice.returncode == 2
    assert "a.jsonl line 5: is a second answer" in twice.stderr
    first = run(f"{command} --samples", folder)
    assert first.returncode == 0
    assert first.stderr.startswith("fewer than 10 effective programs (input: 1, output: 1)"), first.stderr
    assert [line.split("│")[0].strip() for line in first.stdout.splitlines()[2:4]] == ["input", "output"]
    again = json.loads(run(f"{command} --samples --json", folder).stdout)
    keys = ("question", "n", "answers", "unanswered", "unreadable", "score")
    assert [tuple(score[key] for key in keys) for score in again["scores"]] == [
        ("input", 2, 2, 0, 0, 1.0),
        ("output", 2, 3, 0, 1, 0.75),
    ]
    assert (again["job"]["recorded"], again["job"]["skipped"]) == (0, 5)
    shown = deskcheck("runs", "status", "scores", "--verify", cwd=folder)
    assert "complete: 5 answers in 1 shards, 4 right" in shown.stdout

    (folder / "b.jsonl").write_text('{"id": "none", "completion": ""}\n')
    odd = deskcheck("offline", "score", "q.jsonl", "b.jsonl", "--out", "odd", cwd=folder)
    assert odd.returncode == 1
    assert "b.jsonl line 1: no question has the id 'none'" in odd.stdout
    for arguments, said in (
        ("b.jsonl a.jsonl --out x", "is not a question that `deskcheck offline questions` wrote"),
        ("q.jsonl b.jsonl --out runs", "Choose another folder"),
    ):
        refused = run(f"offline score {arguments}", folder)
        assert refused.returncode == 2
        assert said in refused.stderr, refused.stderr


def test_without_the_extra_ask_names_it(mine: Path) -> None:
    """Where Inspect AI is not installed, ask says which extra to install."""
    code = "import sys; sys.modules['inspect_ai'] = None; sys.argv[1:] = sys.argv[1:]; from deskcheck.cli import main; main()"
    arguments = ["ask", "runs", "-q", "output", "-m", "deskcheck/oracle"]
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=mine, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "deskcheck[ask]" in ran.stderr


def test_list_has_every_name_of_the_registries(folder: Path) -> None:
    """`deskcheck list` is read from what the commands themselves look names up in."""
    from deskcheck.ask import BENCHMARKS, METHODS, NOTEBOOK_QUESTIONS, QUESTIONS
    from deskcheck.notation import NOTATIONS
    from deskcheck.sources import SOURCES

    shown = deskcheck("list", cwd=folder)
    assert shown.returncode == 0
    words = shown.stdout.split()
    for names in (QUESTIONS, NOTEBOOK_QUESTIONS, BENCHMARKS, NOTATIONS, METHODS):
        assert set(names) <= set(words)
    assert all(name in shown.stdout for name in SOURCES)
    told = json.loads(deskcheck("list", "models", "--json", cwd=folder).stdout)
    assert list(told) == ["models"]
    assert {"deskcheck/oracle", "deskcheck/erring"} <= set(told["models"])
    wrong = deskcheck("list", "colours", cwd=folder)
    assert wrong.returncode == 2
    assert "questions, benchmarks, notations" in wrong.stderr


WITHOUT_JSON = {
    "run": "what it prints is the program's",
    "teach": "trains, and prints how it goes",
    "notebooks check": "--json FILE: its report, '-' prints it",
    "mcp": "serves, and speaks JSON-RPC",
    "notebooks mcp": "is another name of it",
    "env freeze": "prints a requirements file",
    "runs export speedscope": "writes JSON",
    "runs export perfetto": "writes JSON",
    "env remove": "prints nothing",
}


def test_the_commands_that_print_a_result_take_json() -> None:
    """All but these, of which the page of the commands says so."""
    from typer.main import get_command

    from deskcheck.cli import app

    def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
        for name, found in group.commands.items():
            if hasattr(found, "commands"):
                yield from commands(found, f"{above}{name} ")
            else:
                yield above + name, found

    flags = {
        name: [p for p in found.params if "--json" in p.opts and p.is_flag]
        for name, found in commands(get_command(app))
    }
    assert {name for name, found in flags.items() if not found} == set(WITHOUT_JSON)
    said = " ".join(Path(__file__).parents[1].joinpath("docs/reference/commands.md").read_text().split())
    assert "Every command that prints a result takes `--json`" in said
    assert all(f"`{name}`" in said for name in WITHOUT_JSON)


@pytest.mark.level("strict")
def test_a_job_in_shards(folder: Path) -> None:
    """`record --shards` plans and records; again it does nothing; `status` reads the folder; what does not go together is refused with the way out."""
    first = deskcheck("record", "mine.jsonl", "--shards", 2, "--workers", 1, "--out", "runs", cwd=folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert "recorded 3 programs in runs, which now has 3 programs in " in first.stdout
    assert "1 raised, 2 returned" in first.stdout
    again = deskcheck("record", "mine.jsonl", "--shards", 2, "--out", "runs", "--json", cwd=folder)
    told = json.loads(again.stdout)
    assert (told["recorded"], told["skipped"]) == (0, 3)
    assert sorted(Recordings(folder / "runs").ids) == sorted(r.id for r in Recordings(folder / "runs"))

    shown = json.loads(run("runs status runs --json --verify --failures", folder).stdout)
    assert (shown["whole"], shown["driver"], shown["changed"], shown["failures"]) == (True, None, [], {})
    path = next((folder / "runs").glob("recordings-*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"0")
    verified = deskcheck("runs", "status", "runs", "--verify", cwd=folder)
    assert verified.returncode == 1
    assert f"changed: {path.name}" in verified.stdout

    for arguments, said in (
        ("record mine.jsonl --shards 2", "need a folder: add --out"),
        ("record pytest:. --shards 2 --out x", "not for notebooks and pytest"),
        ("record mine.jsonl --on local --ray-address a:1 --out x", "needs --on ray"),
        ("record mine.jsonl --out runs", "contains the shards of a job"),
        ("runs status .", "no job was started here"),
    ):
        refused = run(arguments, folder)
        assert refused.returncode == 2
        assert said in refused.stderr, refused.stderr
