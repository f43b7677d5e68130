"""An interpreter whose memory is not known: a later version, or one without a GIL. This one stands for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

NOT_KNOWN = "import sys, sysconfig\nsysconfig.get_config_vars()\nsys.abiflags = 't'\nsys.modules['deskcheck.tracer.native'] = None\n"
FAILS = (
    "import sys\nsys.modules['deskcheck.tracer.native'] = None\nfrom deskcheck.tracer import frames\n"
    "def fails(self, frame): raise RuntimeError('no frame can be read')\nframes.FrameView.__init__ = fails\n"
)
PROGRAM = """
import collections, sys, threading, types


class Order:
    size: int = 3

    def double(self):
        return self.size * 2


def total(items, *, start=0):
    pairs = {item: item * 2 for item in items}
    walked = iter(items)
    next(walked)
    proxy = types.MappingProxyType(pairs)
    views = collections.OrderedDict(pairs).items()

    def add(value):
        nonlocal start
        start += value
        return start

    for value in (pair for pair in proxy.values()):
        add(value)
        if value > 3:
            break
    try:
        1 / 0
    except ZeroDivisionError as error:
        seen = str(error)
    return start, seen, sum(1 for _ in views)


thread = threading.Thread(target=total, args=([5],))
thread.start()
thread.join()
print(total([1, 2, 3]), Order().double())
sys.exit(3)
"""
EVENTS = """
import json, sys
from deskcheck.recording.reader import Recordings
(recording,) = Recordings(sys.argv[1])
print(json.dumps([[e.kind.value, e.line, e.function, sorted(e.locals), len(e.stack)] for e in recording.trace]))
"""


def ran(folder: Path, customize: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A command of ours, under an interpreter that begins with these lines."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(customize)
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": paths},
    )


def events(tmp_path: Path, name: str, customize: str) -> tuple[list[list[object]], str]:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = ran(tmp_path / name, customize, "-m", "deskcheck", "run", "--out", f"{name}-runs", "program.py")
    assert done.returncode == 3, done.stderr
    assert done.stdout == "(6, 'division by zero', 3) 6\n"
    read = ran(tmp_path / name, "", "-c", EVENTS, f"{name}-runs")
    assert read.returncode == 0, read.stderr
    found: list[list[object]] = json.loads(read.stdout)
    return found, done.stderr


def test_what_python_tells_is_recorded(tmp_path: Path) -> None:
    """Lines and variables are those of an interpreter that is known; the value stack is left out, and the
    one line of ours says so and gives no advice."""
    found, said = events(tmp_path, "unknown", NOT_KNOWN)
    known, _ = events(tmp_path, "known", "")
    assert said.count("\n") == 2
    assert "deskcheck supports CPython" in said
    assert "C compiler" not in said
    assert {stack for *_, stack in found} == {0}
    assert len(found) > 40
    assert [event[:4] for event in found] == [event[:4] for event in known]


def test_a_failure_of_the_tracer_leaves_the_program(tmp_path: Path) -> None:
    """The exit status and output are the program's, and the last line says that nothing was recorded."""
    (tmp_path / "program.py").write_text(PROGRAM)
    done = ran(tmp_path / "fails", FAILS, "-m", "deskcheck", "run", "program.py")
    assert done.returncode == 3, done.stderr
    assert "division by zero" in done.stdout
    last = done.stderr.rstrip("\n").rpartition("\n")[2]
    assert last.startswith("nothing was recorded: the tracer failed: "), done.stderr
    assert "no frame can be read" in last
    assert not list(tmp_path.glob("*.html"))
