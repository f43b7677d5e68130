"""`deskcheck run`: a program does with us what it does without us, and is recorded."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.recorder.run import run
from deskcheck.recorder.settings import RunSettings
from deskcheck.recording import Outcome, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.tracer.limits import TraceLimits
from tests.command import PROCESS
from tests.sample import some, spread

SCRIPTS = {
    "prints": "print('hello')\nprint('and', 'more', file=__import__('sys').stderr)",
    "names": "import sys\nprint(sys.argv, sys.path[0], __file__, __name__, __spec__, __doc__, __package__)\n"
    "print(sorted(n for n in dir()), sys.orig_argv[1:], sys.flags.safe_path)",
    "main": "import sys\nm = sys.modules['__main__']\nx = 1\nprint(m.x, vars(m) is globals(), m)",
    "beside": "import beside\nprint(beside.VALUE, open('data.txt').read())",
    "reads": "print(input('name? '), __import__('sys').stdin.read())",
    "raises": "def f(n):\n    return 1 / n\n\nf(0)",
    "chained": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('later') from e",
    "group": "raise ExceptionGroup('several', [ValueError(1), KeyError('k')])",
    "noted": "e = ValueError('x')\ne.add_note('a note')\nraise e",
    "syntax": "x = 1\nif x\n    print(2)",
    "encoding": "# -*- coding: latin-1 -*-\nprint('gr\\xfc\\xdf')",
    "exits": "import sys\nsys.exit(7)",
    "exits with text": "import sys\nsys.exit('no more')",
    "exits with an object": "raise SystemExit([1, 2])",
    "exits with none": "raise SystemExit",
    "exits hard": "import os\nprint('out', flush=True)\nos._exit(9)",
    "killed": "import os, signal\nprint('out', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "interrupted": "raise KeyboardInterrupt",
    "aborts": "import os\nos.abort()",
    "recursion": "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print(e)",
    "atexit": "import atexit\natexit.register(print, 'at exit')\nprint('end')",
    "thread": "import threading, time\ndef f():\n    time.sleep(0.05)\n    print('thread')\n"
    "threading.Thread(target=f).start()\nprint('main')",
    "failing thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()",
    "forks": "import os\npid = os.fork()\nif not pid:\n    print('child')\n    raise SystemExit(3)\n"
    "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    "spawns": "import multiprocessing as m\ndef f(n):\n    return n * n\nif __name__ == '__main__':\n"
    "    m.set_start_method('spawn')\n    with m.Pool(1) as p:\n        print(p.map(f, [1, 2, 3]))",
    "subprocess": "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(5)'], "
    "capture_output=True, text=True).stdout)",
    "argv": "import sys\nsys.argv = ['other', 'x']\nimport argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('a')\nprint(p.parse_args())",
    "usage": "import argparse\nargparse.ArgumentParser().parse_args(['--no-such'])",
    "hook": "import sys\nsys.excepthook = lambda *a: print('mine', a[0], a[2].tb_frame.f_code.co_name)\n1 / 0",
    "stdout": "import sys\nsys.stdout.write('a')\nsys.stdout.buffer.write(b'b')\nprint(type(sys.stdout), "
    "sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.mode, sys.stdout.name, sys.stdout.fileno())",
    "stdout replaced": "import io, sys, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as f:\n"
    "    print('inside')\nprint(repr(f.getvalue()))\nsys.stdout = sys.stderr\nprint('to stderr')",
    "pickle": "import pickle\nclass C:\n    def __init__(s):\n        s.x = 1\nprint(pickle.loads(pickle.dumps(C())).x)",
    "source": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), inspect.stack()[0].filename)",
    "warns": "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "asyncio": "import asyncio\nasync def f(n):\n    await asyncio.sleep(0.01)\n    return n\n"
    "async def g():\n    print(await asyncio.gather(f(1), f(2)))\nasyncio.run(g())",
    "dataclass": "from dataclasses import dataclass\nfrom typing import get_type_hints\n@dataclass\nclass P:\n"
    "    x: 'int'\nprint(P(1), get_type_hints(P), P.__module__)",
    "settrace": "import sys\nseen = []\nsys.settrace(lambda f, e, a: seen.append(e))\ndef f():\n    return 1\n"
    "f()\nsys.settrace(None)\nprint(seen[:1])",
    "descriptors": "import os\nprint(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:3])\n"
    "os.closerange(3, 100)\nprint('still here')",
    "deletes itself": "import os\nos.remove(__file__)\nprint('gone')",
    "del": "class C:\n    def __del__(self):\n        print('died')\nc = C()\nprint('end')",
    "empty": "",
    "doc": "'''words'''\nprint(__doc__)",
    "future": "from __future__ import annotations\ndef f(x: no_such) -> 1: ...\nprint(f.__annotations__)",
    "global names": "import builtins\nprint(__builtins__ is builtins, '__loader__' in globals(), type(__loader__).__name__)",
}
QUICK = (
    "prints", "names", "beside", "reads", "raises", "chained", "syntax", "exits", "exits with text",
    "exits hard", "killed", "interrupted", "atexit", "thread", "forks", "spawns", "stdout", "hook",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "beside.py").write_text("VALUE = 42\n\n\ndef twice(x):\n    return 2 * x\n")
    (tmp_path / "data.txt").write_text("words")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def standard_input(text: str) -> Iterator[None]:
    """Descriptor 0 of this process, which what it starts inherits."""
    kept = os.dup(0)
    ours, theirs = os.pipe()
    os.write(theirs, text.encode())
    os.close(theirs)
    os.dup2(ours, 0)
    os.close(ours)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def both(
    capfd: pytest.CaptureFixture[str], arguments: list[str], given: str = "one\ntwo\n", **options: Any
) -> tuple[Any, Any, Recording]:
    """What `python ARGUMENTS` gives without us and with us: status, standard output and error; the recording."""
    module = arguments[0] == "-m"
    saved = Path(arguments[0]).read_bytes() if Path(arguments[0]).is_file() else b""
    plain = subprocess.run(
        [sys.executable, *arguments], input=given, capture_output=True, text=True, check=False
    )
    if saved:
        Path(arguments[0]).write_bytes(saved)
    target, *rest = arguments[1:] if module else arguments
    capfd.readouterr()
    with standard_input(given):
        id_, status = run(target, tuple(rest), out="runs", module=module, **options)
    told = capfd.readouterr()
    (recording,) = [each for each in Recordings("runs") if each.id == id_]
    return (plain.returncode, plain.stdout, plain.stderr), (status, told.out, told.err), recording


@pytest.mark.parametrize("name", [*spread(QUICK, 2), *some([name for name in SCRIPTS if name not in QUICK])])
def test_a_program_does_the_same(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exit status, standard output and standard error, to the letter."""
    text = SCRIPTS[name] + "\n"
    (folder / "app.py").write_bytes(text.encode("latin-1" if name == "encoding" else "utf-8"))
    without, with_us, recording = both(capfd, ["app.py", "x", "--flag", "-q"])
    assert with_us == without
    assert recording.outcome is not Outcome.HARNESS_ERROR, recording.run_result
    assert recording.program.extra["argv"] == ["x", "--flag", "-q"]


WAYS = {
    "json.tool": ["-m", "json.tool", "--indent", "1"],
    "calendar": ["-m", "calendar", "2024", "5"],
    "tokenize": ["-m", "tokenize", "beside.py"],
    "package": ["-m", "pack", "a"],
    "inside": ["-m", "pack.inside"],
    "missing": ["-m", "no_such_module"],
    "missing inside": ["-m", "pack.no_such"],
    "stdin": ["-", "a", "b"],
    "below": ["pack/script.py"],
    "no py": ["script"],
    "archive": ["app.pyz", "a"],
    "archive with another name": ["app", "a"],
    "archive without a program": ["empty.zip"],
    "folder": ["pack", "a"],
}


@pytest.mark.parametrize("way", some(WAYS, "json.tool", "package", "missing", "stdin", "below", "archive"))
def test_every_way_to_name_a_program(way: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A module, a package, a program from standard input, a file in another folder, one without an ending."""
    (folder / "pack").mkdir()
    show = "import sys\nprint(__name__, __package__, sys.argv[1:], sys.path[0], __spec__ and __spec__.name)\n"
    for name in ("pack/__main__.py", "pack/inside.py", "pack/script.py", "script"):
        (folder / name).write_text(show)
    (folder / "pack" / "__init__.py").write_text("")
    archives = {"app.pyz": "__main__.py", "app": "__main__.py", "empty.zip": "other.py"}
    for name, inner in archives.items():
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr(inner, show + "import inner\nprint(inner.twice(2), __file__, __spec__.origin)\n")
            archive.writestr("inner.py", "def twice(x):\n    return 2 * x\n")
    given = '{"a": [1, 2]}' if way == "json.tool" else show
    without, with_us, _ = both(capfd, WAYS[way], given)
    assert with_us == without


def test_what_is_recorded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The file and the modules of its folder, line by line, with what was printed; not the library's."""
    (folder / "app.py").write_text(
        "import textwrap\nfrom beside import twice\n\nx = twice(4)\nprint(textwrap.dedent('  a'))\n"
    )
    _, (status, out, _), recording = both(capfd, ["app.py"])
    assert (status, out) == (0, "a\n")
    events = list(recording.trace)
    assert {event.file for event in events} == {"app.py", "beside.py"}
    assert events[-1].globals["x"].atom == 8
    assert recording.run_result.sources["beside.py"].startswith("VALUE = 42")
    assert [event.output for event in events if event.output] == ["a\n"]
    assert (recording.outcome, recording.environment.sandbox) == (Outcome.RETURNED, "trusted")


def test_limits_and_a_second_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A run that is longer than what is recorded goes on; the next run has an id of its own."""
    (folder / "app.py").write_text("n = 0\nwhile n < 1000:\n    n += 1\nprint(n)\n")
    settings = RunSettings(trace_limits=TraceLimits(events=100))
    _, (_, out, _), recording = both(capfd, ["app.py"], settings=settings)
    assert (out, len(recording.trace), recording.run_result.cut) == ("1000\n", 100, "events")
    _, _, again = both(capfd, ["app.py"])
    assert (recording.id, again.id) == ("app.py", "app.py-2")


def test_a_killed_program_is_recorded_to_its_last_line(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What it had not handed over is read from shared memory."""
    (folder / "app.py").write_text("import os\nx = 1\nx = 2\nos.kill(os.getpid(), 9)\n")
    _, (status, _, _), recording = both(capfd, ["app.py"])
    assert (status, recording.outcome) == (-signal.SIGKILL, Outcome.KILLED)
    assert [event.line for event in recording.trace][-1] == 4
    assert recording.trace[-1].globals["x"].atom == 2


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("no.py", "is not a file"),
        (".", "is a folder without a file __main__.py"),
        ("--sandbox", "is not an option of `deskcheck run`"),
    ],
)
def test_what_is_no_program_is_refused(target: str, said: str, folder: Path) -> None:
    """With what to write instead; nothing is made."""
    with pytest.raises(InputError, match=f"^{re.escape(target)}: {said}"):
        run(target, out="runs")
    assert not (folder / "runs").exists()


def test_a_module_of_the_library_is_recorded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With its text, though it lies in no folder of the user's."""
    _, _, recording = both(capfd, ["-m", "json.tool", "--compact"], '{"a": [1, 2]}')
    assert {event.file for event in recording.trace} == {"json/tool.py"}
    assert "def main" in recording.run_result.sources["json/tool.py"]


def test_a_program_from_a_pipe(folder: Path) -> None:
    """As a shell's `<(...)` gives it: it can be read once."""
    command = f"{' '.join(PROCESS)} run -q --out runs <(printf 'x = 3\\nprint(x)\\n')"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "3\n", "")
    (recording,) = Recordings(folder / "runs")
    assert recording.program.code == "x = 3\nprint(x)\n"


def test_a_reader_that_has_gone(folder: Path) -> None:
    """`| head`: the program's own error shows its own frames, with us as without."""
    (folder / "app.py").write_text("for n in range(3):\n    print('x' * 1_000_000)\n")
    told = [
        subprocess.run(
            ["bash", "-c", f"{command} app.py | head -c 3"], capture_output=True, text=True, check=False
        )
        for command in (sys.executable, f"{' '.join(PROCESS)} run -q")
    ]
    assert told[0].stderr == told[1].stderr
    assert "BrokenPipeError" in told[0].stderr


def test_its_questions_are_not_asked(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A prompt would not show the arguments, files and input that the program was given."""
    from collections import Counter

    from deskcheck.ask.questions.questions import QUESTIONS

    (folder / "app.py").write_text("import sys\nprint(len(sys.argv))\n")
    _, _, recording = both(capfd, ["app.py", "x"])
    excluded: Counter[str] = Counter()
    assert list(QUESTIONS["output"](recording, excluded=excluded)) == []
    assert [*excluded] == ["recorded by `deskcheck run`, with arguments, input and files that are not shown"]


def deskcheck_run(*arguments: str, given: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PROCESS, "run", *arguments], input=given, capture_output=True, text=True, check=False
    )


def test_the_command(folder: Path) -> None:
    """Its own options stand before the file; the page is written; one line on standard error is ours."""
    (folder / "app.py").write_text("import sys\nprint(sys.argv[1:], input())\nsys.exit(3)\n")
    ran = deskcheck_run(
        "--page", "p.html", "--out", "runs", "app.py", "--page", "x", "-q", "--", given="in\n"
    )
    assert (ran.returncode, ran.stdout) == (3, "['--page', 'x', '-q', '--'] in\n")
    assert ran.stderr.splitlines() == [
        "Recording app.py: exited SystemExit: 3, 6 events; kept in runs: deskcheck view runs app.py; page: p.html"
    ]
    assert (folder / "p.html").read_text().startswith("<!doctype html>")
    quiet = deskcheck_run("-q", "app.py", given="in\n")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (3, "[] in\n", "")
    missing = deskcheck_run("no.py")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no.py: is not a file" in missing.stderr
    nowhere = deskcheck_run("--page", "no/p.html", "app.py", given="in\n")
    assert (nowhere.returncode, nowhere.stdout) == (2, ""), "the program ran, and its page was lost"
    assert "no/p.html: cannot be written" in nowhere.stderr
    full = deskcheck_run("--page", "/dev/full", "app.py", given="in\n")
    assert (full.returncode, full.stdout) == (3, "[] in\n")
    assert "/dev/full: cannot be written" in full.stderr


def test_in_a_terminal_without_a_browser(folder: Path) -> None:
    """What the program prints, the table, and one line that says how to have the page."""
    (folder / "app.py").write_text("print('own')\n")
    mine, theirs = pty.openpty()
    bare = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    ran = subprocess.run(
        [*PROCESS, "run", "app.py"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=bare | {"COLUMNS": "100", "TERM": "dumb"},
        text=True,
        check=False,
    )
    os.close(theirs)
    shown = os.read(mine, 1 << 16).decode().splitlines()
    os.close(mine)
    assert (ran.returncode, shown[0], shown[-1]) == (0, "own", "returned")
    assert any("print('own')" in row and "return" in row for row in shown)
    assert ran.stderr.splitlines() == [
        "Recording app.py: returned, 3 events; for the page, put --page FILE.html before the program"
    ]


@pytest.mark.parametrize("number", spread([signal.SIGINT, signal.SIGTERM], 2))
def test_signals_are_the_programs_matter(number: signal.Signals, folder: Path) -> None:
    """Ctrl-C, which the whole group is sent, and SIGTERM to us alone: the program decides, and is recorded."""
    (folder / "app.py").write_text(
        textwrap.dedent("""
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *a: sys.exit(5))
        try:
            print("ready", flush=True)
            for _ in range(600):  # a signal just before a sleep is seen when that is over, without us too
                time.sleep(0.1)
        except KeyboardInterrupt:
            print("caught")
            sys.exit(4)
    """)
    )
    process = subprocess.Popen(
        [*PROCESS, "run", "-q", "--out", "runs", "app.py"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    (recording,) = Recordings(folder / "runs")
    assert recording.outcome is Outcome.EXITED
    assert (process.returncode, out) == ((4, "caught\n") if number == signal.SIGINT else (5, ""))


@pytest.mark.exhaustive
def test_published_programs_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 programs of MBPP and HumanEval as scripts that print what their tests compare."""
    shared = Path(os.environ.get("DESKCHECK_SHARED", Path(__file__).parents[3] / "shared")) / "data"
    mbpp, humaneval = shared / "mbpp" / "mbpp_730.jsonl", shared / "humaneval" / "HumanEval.jsonl"
    if not (mbpp.exists() and humaneval.exists()):
        pytest.skip("no MBPP or HumanEval in DESKCHECK_SHARED: would have proved that 300 scripts run alike")
    monkeypatch.chdir(tmp_path)
    scripts = []
    for line in mbpp.read_text("utf-8").splitlines()[:200]:
        row = json.loads(line)
        checks = [f"print({test.removeprefix('assert ')})" for test in row["test_list"]]
        scripts.append("\n".join([row["code"], row.get("test_setup_code") or "", *checks]))
    for line in humaneval.read_text("utf-8").splitlines()[:100]:
        row = json.loads(line)
        whole = row["prompt"] + row["canonical_solution"] + row["test"]
        scripts.append(f"{whole}\ncheck({row['entry_point']})\nprint({row['entry_point']}.__name__)\n")
    different = {}
    for number, text in enumerate(scripts):
        Path("app.py").write_text(text, "utf-8")
        command = [sys.executable, "-c", IN_PROCESS, "app.py"]
        plain = subprocess.run([sys.executable, "app.py"], capture_output=True, text=True, check=False)
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if (ran.returncode, ran.stdout, ran.stderr) != (plain.returncode, plain.stdout, plain.stderr):
            different[number] = (plain, ran)
    assert different == {}
    assert {each.outcome for each in Recordings("runs")} <= {Outcome.RETURNED, Outcome.RAISED}


IN_PROCESS = "import sys; from deskcheck.recorder.run import run; sys.exit(run(sys.argv[1], out='runs')[1])"


def test_the_modules_of_an_archive_are_recorded(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By their names in it, with their texts."""
    with zipfile.ZipFile(folder / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", "from pack.inner import twice\nx = twice(2)\n")
        archive.writestr("pack/__init__.py", "")
        archive.writestr("pack/inner.py", "def twice(x):\n    return 2 * x\n")
    _, _, recording = both(capfd, ["app.pyz"])
    assert recording.program.code.startswith("from pack.inner")
    assert recording.source("pack/inner.py") == "def twice(x):\n    return 2 * x\n"
    assert {event.file for event in recording.trace} >= {"__main__.py", "pack/inner.py"}


SECRET = "k3y of ann & co"


@pytest.mark.parametrize("mask", [True, False])
def test_secrets_are_taken_out(
    mask: bool, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of the environment and of .env: in values, output, arguments and the exception. The program has them."""
    monkeypatch.setenv("API_KEY", SECRET)
    monkeypatch.setenv("PWD", str(folder))
    monkeypatch.setenv("OTHER_TOKEN", "never-seen")
    (folder / ".env").write_text("DB_PWD='hunter 22'\n")
    (folder / "app.py").write_text(
        "import os, sys\nkey = os.environ['API_KEY']\ndata = open('.env').read()\n"
        "print(sys.argv[1] == key, key, os.environ['PWD'] == os.getcwd())\nraise ValueError([key])\n"
    )
    notes: list[str] = []
    settings = RunSettings(mask=mask)
    run("app.py", (SECRET, "x"), out="runs", settings=settings, note=notes.append)
    (recording,) = Recordings("runs")
    told = "".join(map(repr, recording.trace.rows)) + repr((recording.run_result, recording.program.extra))
    assert capfd.readouterr().out == f"True {SECRET} True\n"
    assert (SECRET in told, "hunter 22" in told) == (not mask, not mask)
    assert str(folder) in told
    assert recording.program.extra["argv"] == ["[masked]" if mask else SECRET, "x"]
    assert len(notes) == mask
    if mask:
        assert "API_KEY, DB_PWD are masked" in notes[0]
        assert SECRET not in notes[0]
