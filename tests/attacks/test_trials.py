"""Attacks on trials: answers to "which cell comes next" that forge what is said of them, or attack who listens.

A cell shares its process with what looks at it (`notebook.trial`), so it can say whatever it likes. The caller
goes on and does not grow, the cell does not score, and the true cell scores after it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from deskcheck.notebook.trial.trial import TrialLimits, TrialPlace
from tests.notebook.trying import tried

pytest.importorskip("IPython", reason="would have proved that hostile cells are marked")

_SAY = """
import json
real = json.dumps
def say(told, change):
    text = change(told) if isinstance(told, dict) and "state" in told else None
    return real(told) if text is None else text
"""


def _says(text: str) -> str:
    """A cell whose report is another text."""
    return f"{_SAY}json.dumps = lambda told, **_: say(told, lambda told: {text})\n"


def _changes(statement: str) -> str:
    """A cell whose report `t` is changed before it is told."""
    return f"{_SAY}def change(t):\n    {statement}\njson.dumps = lambda told, **_: say(told, change)\n"


def _files(text: str) -> str:
    """A cell that writes a file, and lies about its content."""
    return f"{_SAY}json.dumps = lambda told, **_: real(told) if 'state' in told else {text}\nopen('f', 'w').write('1')\n"


_ON_SOCKETS = """
import os, stat
def on_sockets(do):
    for n in range(3, 4096):
        try:
            if stat.S_ISSOCK(os.fstat(n).st_mode):
                do(n)
        except OSError:
            continue
"""
_OUTPUT = "t['outputs'] = [{'type': 'stream', 'name': 'stdout', %s}]"
CELLS = {
    "a report that is deep": _says("'[' * 100_000"),
    "a report of a million lists": _says("'[' + '[],' * 1_300_000 + '[]]'"),
    "a long report": _says("' ' * 7_000_000 + '{}'"),
    "a report that is no JSON": _says("'x'"),
    "a number": _says("'5'"),
    "a long number": _says("'1' * 5000"),
    "half a character": _says("'\"' + chr(0xD800) + '\"'"),
    "another key": _changes("t['more'] = 1"),
    "no state": _changes("t['state'] = None"),
    "unseen: infinity": _changes("t['state']['unseen'] = float('inf')"),
    "unseen: text": _changes("t['state']['unseen'] = 'x'"),
    "unseen: less than none": _changes("t['state']['unseen'] = -1"),
    "an output that is none": _changes("t['outputs'] = [5]"),
    "an output of no type": _changes("t['outputs'] = [{'type': 5}]"),
    "an output's text": _changes(_OUTPUT % "'text': 5"),
    "an output's texts": _changes(_OUTPUT % "'text': ['x']"),
    "an output's length": _changes(_OUTPUT % "'text': 'x', 'length': 'y'"),
    "an output's count": _changes(_OUTPUT % "'text': 'x', 'count': {}"),
    "an output's own field": _changes(_OUTPUT % "'text': 'x', 'more': 1"),
    "an output's data": _changes("t['outputs'] = [{'type': 'execute_result', 'data': 5}]"),
    "an output's id": _changes("t['outputs'] = [{'type': 'display_data', 'data': {}, 'display_id': [1]}]"),
    "an error": _changes("t['outputs'] = [{'type': 'error', 'name': 5, 'value': []}]; t['status'] = 'error'"),
    "a picture": _changes("t['outputs'] = [{'type': 'execute_result', 'data': {'image/png': 5}}]"),
    "a variable's digest": _changes("t['state']['variables'] = {'x': {'hash': [1], 'type': {}, 'change': 'mutated'}}"),
    "a variable's change": _changes("t['state']['variables'] = {'x': {'hash': '1', 'type': 'list'}}"),
    "variables": _changes("t['state']['variables'] = []"),
    "removed: lists": _changes("t['state']['removed'] = [[1]]"),
    "removed: numbers": _changes("t['state']['removed'] = [1, 'x']"),
    "inside: a number": _changes("t['inside'] = {'x': 5}"),
    "inside: lists": _changes("t['inside'] = {'x': [[[]]]}"),
    "aliases: lists": _changes("t['aliases'] = [[[1]]]"),
    "aliases: numbers": _changes("t['aliases'] = [['x', 5]]"),
    "settings": _changes("t['settings'] = {'a': [[], 0, 0]}"),
    "a status that is none": _changes("t['status'] = 'x'"),
    "a status of ours": _changes("t['status'] = 'killed'"),
    "late": _changes("t['late'] = []"),
    "digests of files: lists": _files("real({'f': [[]]})"),
    "digests of files: deep": _files("'{\"a\":' * 50_000"),
    "digests of files: a list": _files("'[1]'"),
    "closes what it has open": "import os\nos.closerange(3, 4096)",
    "closes its output": "import os\nos.close(1)\nos.close(2)",
    "writes frames": _ON_SOCKETS + "on_sockets(lambda n: os.write(n, b'x' * 100_000))",
    "writes a length": _ON_SOCKETS + "on_sockets(lambda n: os.write(n, b'\\xff' * 4))",
    "a thread that writes": _ON_SOCKETS
    + "import threading, time\ndef go():\n    while True:\n        on_sockets(lambda n: os.write(n, b'x' * 1000))\n"
    "threading.Thread(target=go, daemon=True).start()\ntime.sleep(0.3)",
    "many threads": "import threading, time\nfor _ in range(200):\n    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",
    "ends without a word": "import os\nos._exit(0)",
    "no more files": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
    "fills memory": "x = [b'x' * (1 << 26) for _ in range(100)]",
    "stops": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
}  # fmt: skip
QUICK = ("a report that is deep", "a report of a million lists", "an output's id", "removed: lists", "variables",
         "unseen: infinity", "writes frames", "digests of files: deep")  # fmt: skip
_GROWN_KIB = 40_000


@pytest.fixture(scope="module")
def place() -> Iterator[TrialPlace]:
    with tried(
        "x = [1]",
        "x.append(2)\nprint(x)",
        "x",
        at=1,
        limits=TrialLimits(trial_s=4, memory_bytes=1 << 30),
    ) as found:
        yield found


def _filled() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def assert_marked(place: TrialPlace, names: Iterable[str]) -> None:
    for name in names:
        before = _begin_to_count()
        marked = place.score(CELLS[name])
        grown = _filled() - before
        assert marked.score == 0, f"{name}: {marked}"
        assert grown <= _GROWN_KIB, f"{name}: {grown} KiB"
        assert place.score("x += [2]\nprint([1, 2])").score == 1, name


def _begin_to_count() -> int:
    """KiB that this process fills; the most it fills is counted from here (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")
    return _filled()


def test_a_forged_report_is_no_error_of_ours(place: TrialPlace) -> None:
    assert_marked(place, QUICK)


@pytest.mark.exhaustive
def test_whatever_a_cell_says_or_does(place: TrialPlace) -> None:
    assert_marked(place, [name for name in CELLS if name not in QUICK])


def test_what_a_cell_may_say_is_taken(place: TrialPlace) -> None:
    """Of an honest one: numbers that are none in JSON, an id of a display that is a number."""
    shown = "from IPython.display import display\ndisplay({'application/json': {'a': float('nan')}}, raw=True, display_id=5)"
    trial = place.run(shown)
    assert trial.status == "ok", trial.detail
    assert trial.outputs[0].display_id == "5"
    assert str(trial.outputs[0].data["application/json"]["a"]) == "nan"
