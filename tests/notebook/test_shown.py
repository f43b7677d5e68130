"""What a cell shows that is another in each run is found in its source; what only looks so is not."""

import datetime
import json
import os
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deskcheck.notebook.kernel.chance.shown import ShownChance
from deskcheck.notebook.kernel.chance.sources import may_come, of_shell
from deskcheck.notebook.state.dependencies import parse
from tests.notebook.words import words

CLOCK, PID, ADDRESS = "the clock", "the number of a process", "the address of an object"
FILE, HASH, ORDER = "the name of a temporary file", "the hash of text", "the order of a set"
PERHAPS = "perhaps the order of a set"
COMMAND = "the random numbers of a command"

CELLS: list[tuple[str, tuple[str, ...]]] = [
    ("1 + 1", ()),
    ("time.time_ns() % 2", (CLOCK,)),
    ("time.time_ns() % 2 == 0", (CLOCK,)),
    ("time.time() > 0", ()),
    ("t = time.time()", ()),
    ("t", (CLOCK,)),
    ("t;", ()),
    ("%timeit t", ()),
    ("%time t", (CLOCK,)),
    ("time.time() - t", ()),
    ("print(f'took {time.time() - t:.1f} s')", ()),
    ("int(t * 1e6)", (CLOCK,)),
    ("t = 3", ()),
    ("t", ()),
    ("now = datetime.datetime.now()", ()),
    ("now.year > 2020, datetime.datetime(2020, 1, 1)", ()),
    ("print(now)", (CLOCK,)),
    ("now.strftime('%H')", (CLOCK,)),
    ("now.microsecond % 2 == 0", (CLOCK,)),
    ("time.strftime('%Y', time.gmtime(0)); time.gmtime(0).tm_year", ()),
    ("time.ctime()", ("the time",)),
    ("os.getpid() % 3", (PID,)),
    ("os.getpid() > 0", ()),
    ("threading.get_ident() // 64 % 2", (PID,)),
    ("id(t)", (ADDRESS,)),
    ("id(t) == id(t)", ()),
    ("id(t) is None", ()),
    ("tempfile.mkdtemp()", (FILE,)),
    ("d = tempfile.TemporaryDirectory()", ()),
    ("d.name[-1] < 'm'", (FILE,)),
    ("x = d.cleanup()", ()),
    ("os.path.isdir(tempfile.gettempdir())", ()),
    ("hash('a') % 2", (HASH,)),
    ("hash('a') == hash('a'), hash(3)", ()),
    ("made = object()", ()),
    ("hash(made) // 16 % 2", (ADDRESS,)),
    ("s = {'a', 'b', 'c'}", ()),
    ("list(s)[0]", (ORDER,)),
    ("next(iter(s))", (ORDER,)),
    ("sorted(s), len(s), 'a' in s, s == {'a'}, max(s), len(list(s))", ()),
    ("[each for each in s]", (ORDER,)),
    ("','.join(s)", (ORDER,)),
    ("','.join(sorted(s))", ()),
    ("[*s][0]", (ORDER,)),
    ("for each in s:\n    print(each)", (ORDER,)),
    ("for each in sorted(s):\n    print(each)", ()),
    ("n = 0\nfor each in s:\n    n += len(each)\nn", ()),
    ("print(s)", ()),  # a normaliser's
    ("json.dumps(list(s)), json.dumps(sorted(s))", (ORDER,)),
    ("Counter(s)", (PERHAPS,)),
    ("Counter(s).most_common(1)", (ORDER,)),
    ("c = Counter(s); c['a'], sorted(c), dict.fromkeys(sorted(s))", (PERHAPS,)),
    ("unknown = [eval('each') for each in s]", (PERHAPS,)),
    ("eval('s'), len(s), 'a' in s", ()),
    ("list({1, 2}), list({'a'}), list({'a': 1, 'b': 2})", ()),
    ("set('ab').pop()", (ORDER,)),
    ("h = hash('a') % 2 == 0", ()),
    ("if h:\n    print('yes')", (HASH,)),
    ("'yes' if h else 'no'", (HASH,)),
    ("hash(object()) // 16 % 2", (ADDRESS,)),
    ("hash(len) % 2, hash(3)", (ADDRESS,)),
    ("object().__hash__() % 2", (ADDRESS,)),
    ("hash('A'.lower()) % 2", (HASH,)),
    ("hash(frozenset('ab')) % 2", (HASH,)),
    ("hash((1, 2.5)), hash(frozenset((1, 2)))", ()),
    ("time.ctime(os.path.getmtime('/'))", ("the time of a file",)),
    ("os.stat('/').st_mtime_ns % 7, os.stat('/').st_size > 0", ("the time of a file",)),
    ("changed = os.stat('/').st_mtime", ()),
    ("datetime.datetime.fromtimestamp(changed)", ("the time of a file",)),
    ("os.path.getmtime('/') > 0, os.stat('/').st_mode", ()),
    ("names = ['ann', 'bob', 'cid']\nnames.sort(key=hash)", ()),
    ("names[0]", (HASH,)),
    ("len(names), sorted(names)", ()),
    ("max(['ann', 'bob'], key=lambda name: hash(name) % 7)", (HASH,)),
    ("[*map(hash, ['ann'])][0] % 2, max([3, 5], key=hash)", (HASH,)),
    ("max([3, 5], key=hash), sorted([(1, 2), (0, 5)], key=hash)", ()),
    ("con.execute('select random() > 0').fetchone()[0]", ("the random numbers of a query",)),
    ("con.execute('select abs(-3)').fetchone()[0]", ()),
    ("hash = len\nhash('a')", ()),
    ("with mock.patch('time.time', return_value=5.0):\n    print(time.time())", ()),
    ("with mock.patch.object(time, 'time', return_value=5.0):\n    print(time.time())", ()),
    ("with mock.patch('time.sleep'):\n    print(time.time())", (CLOCK,)),
    ("subprocess.run(['python', '-c', 'import random; print(random.random())']).stdout", (COMMAND,)),
    ("subprocess.run([sys.executable, '-c', 'import random; print(random.random())']).stdout", (COMMAND,)),
    ("subprocess.run(['echo', 'random'])", ()),
    ("def f():\n    return time.time()\nprint('f')", ()),
    ("f(), f() > 0", (CLOCK,)),
    ("f() - f() < 100", ()),
    ("def number():\n    import os\n    if os:\n        return os.getpid()", ()),
    ("number()", (PID,)),
    ("number() > 0", ()),
    ("def again(n):\n    return again(n - 1) if n else number()", ()),
    ("again(2)", (PID,)),
    ("def one(t):\n    return t\ndef make():\n    def inner():\n        return number()\n    return 3", ()),
    ("now = time.time()", ()),
    ("one(2), make()", ()),
    ("one(now)", (CLOCK,)),
    ("number = len", ()),
    ("number('ab')", ()),
]


def test_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells in their order, with the variables that they leave."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    namespace: dict[str, Any] = {
        module.__name__: module for module in (time, datetime, os, threading, tempfile, subprocess, json)
    }
    namespace |= {"Counter": Counter, "mock": mock}
    shown = ShownChance()
    wrong = []
    with closing(sqlite3.connect(":memory:")) as namespace["con"]:
        for source, expected in CELLS:
            tree = parse(source)
            assert tree is not None
            if not source.startswith(("subprocess", "%")):
                exec(source, namespace)  # cells of our own
            found = words(shown.of(tree, namespace, lambda call: None, source))
            if found != expected:
                wrong.append((source, found))
            assert not expected or shown.names or may_come(source), source
    assert wrong == []


@pytest.mark.parametrize(
    ("source", "random"),
    [
        ("!echo $RANDOM", True),
        ("!echo $((RANDOM % 2))", True),
        ("%%bash\nshuf -n 1 words", True),
        ("x = !uuidgen", True),
        ("!python -c 'import random; print(random.random())'", True),
        ("!python -c 'import random; random.seed(1); print(random.random())'", False),
        ("!ls random", False),
        ("%%bash\nRANDOM=5\necho $RANDOM", False),
        ("%%bash\necho $RANDOM\nRANDOM=5", True),
        ("%%bash\nRANDOM=$(date +%N)\necho $RANDOM", True),
        ("!seq 9 | shuf --random-source=/dev/zero", False),
        ("!seq 9 | shuf --random-source=/dev/urandom", True),
        ("!seq 9 | sort -R", True),
        ("!seq 9 | sort -r", False),
        ("!awk 'BEGIN {srand(); print rand()}'", True),
        ("!awk 'BEGIN {srand(5); print rand()}'", False),
        ("text = '$RANDOM'", False),
    ],
)
def test_commands(source: str, random: bool) -> None:
    """Of a command for the shell its text is looked at."""
    assert of_shell(source) == random
