"""What is ours is not said of a notebook: limits and rules of the sandbox that stand in a cell's way."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook.check.check import CellReport, CellStatus, NotebookStatus, check_notebooks
from deskcheck.notebook.kernel.refusals import RULES, of_commands
from deskcheck.notebook.settings import CheckSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import machine_memory_bytes
from tests.notebook.books import cell, checked, limits, printed, raised, save, shown, statuses

pytest.importorskip("ipykernel", reason="would have proved that our limits are not the notebook's failures")

MET = {
    "disk": "open('big', 'wb').write(bytes(200 << 20))",
    "memory": "big = bytearray(3 << 30)",
    "open files": "kept = [open('/dev/null') for _ in range(3000)]",
    "sockets": "import socket; socket.create_server(('127.0.0.1', 0))",
    "network": "import urllib.request; urllib.request.urlopen('http://example.invalid/data.csv')",
    "input": "name = input('name? ')",
    "system calls": "import os; os.chroot('.')",
    "files outside": "open('../outside.txt').read()",
    "output": "print('x' * 3000)",
}
FOLLOW = {
    "memory": "big[0]",
    "network": "print(open('data.csv').read())",
    "input": "name",
}
QUIET = """\
try:
    urllib.request.urlopen('http://example.invalid/')
except OSError:
    print('offline')
"""


def cells_of(path: Path, **settings: Any) -> tuple[CellReport, ...]:
    return checked(path, runs=1, **settings).cells


def all_checked(folder: Path, notebooks: dict[str, list[dict[str, Any]]]) -> dict[str, list[CellReport]]:
    """The cells of several notebooks, by the notebook's name: one server starts the kernels of all."""
    paths = {save(folder / f"{n:02}.ipynb", *notebooks[name]): name for n, name in enumerate(notebooks)}
    report = check_notebooks(paths, CheckSettings(sandbox=Confinement.STRICT, runs=1))
    return {name: [*found.cells] for name, found in zip(paths.values(), report.notebooks, strict=True)}


def test_each_rule_is_named(tmp_path: Path) -> None:
    """A cell that meets a limit or rule is `confined`, with its name; so is one that needs what that cell
    would have given. A cell that catches the refusal and shows something else is, too."""
    (tmp_path / "books").mkdir()
    (tmp_path / "outside.txt").write_text("there")
    (tmp_path / "books" / "here").write_text("")
    sources = [*MET.values(), *FOLLOW.values(), QUIET, "print('own')", "1 / 0", "open('nowhere')"]
    path = save(tmp_path / "books" / "a.ipynb", *(cell(source, printed("stored\n")) for source in sources))
    found = cells_of(path, memory_bytes=2 << 30, disk_bytes=100 << 20, output_chars=2000)
    expected = [*MET, *FOLLOW, "network"]
    assert limits(found) == [*expected, None, None, None]
    assert statuses(found) == [*["confined"] * len(expected), "different", "failed", "failed"]
    assert [each.follows for each in found if each.follows] == [3, 6, 7]
    assert {each.limit for each in found if each.limit} <= {*RULES}
    assert "MemoryError" in str(found[1].message)


@pytest.mark.parametrize(
    "level", [Confinement.STRICT, pytest.param(Confinement.TRUSTED, marks=pytest.mark.slow)]
)
def test_limits_can_be_raised(tmp_path: Path, level: Confinement) -> None:
    """Memory and disk are what the machine has, as far as nobody says less; a limit that is raised is not
    met."""
    sources = (MET["disk"], "import mmap; room = mmap.mmap(-1, 5 << 30)", MET["open files"])
    path = save(tmp_path / "a.ipynb", *(cell(source, count=None) for source in sources))
    wanted = CellStatus.NO_STORED_OUTPUT
    if machine_memory_bytes() < 8 << 30:
        pytest.skip("would have proved that a kernel may fill more than 4 GiB: needs a machine with 8 GiB")
    assert [each.status for each in cells_of(path, sandbox=level, open_files=4096)] == [wanted] * 3


def test_processes_work_together(tmp_path: Path) -> None:
    """Pools, queues and shared memory, at `strict`; what is left of them counts as the notebook's files."""
    source = """\
import multiprocessing
from multiprocessing import shared_memory
with multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
block = shared_memory.SharedMemory(create=True, size=1000)
block.buf[0] = 7
print(block.buf[0])
block.close()
block.unlink()
"""
    path = save(tmp_path / "a.ipynb", cell(source, printed("[1, 2]\n7\n")))
    assert statuses(cells_of(path)) == ["same"]


def test_no_more_processes(tmp_path: Path) -> None:
    """A command that cannot be started because too many threads run is no failure of its cell."""
    sources = (
        "import subprocess, threading; stop = threading.Event()",
        "while True: threading.Thread(target=stop.wait).start()",
        "subprocess.run(['true'])",
        "!true",
        "stop.set()",
    )
    path = save(tmp_path / "a.ipynb", *map(cell, sources))
    found = cells_of(path, processes=30)
    assert limits(found) == [None, *["processes"] * 3, None]


INSTALLS = {
    "%%bash\npip install pytest": None,
    "!pip install pytest": None,
    "%pip install pytest": None,
    "!pip install -q --retries 0 nosuchthing": "network",
    "!pip install --retries 0 pytest nosuchthing": "network",
    "%pip install --retries 0 nosuchthing": "network",
    "import nosuchthing": "network",
}


@pytest.mark.slow
def test_what_is_not_installed_needs_the_network(tmp_path: Path) -> None:
    """A package that pip could not fetch is not missing for the notebook's fault. Where all is installed pip was
    refused nothing, although it shows other paths than those that are stored."""
    installed = "Requirement already satisfied: pytest in /elsewhere (0.1)\n"
    path = save(tmp_path / "a.ipynb", *(cell(command, printed(installed)) for command in INSTALLS))
    found = dict(zip(INSTALLS, cells_of(path), strict=True))
    assert {command: each.limit for command, each in found.items()} == INSTALLS
    assert {*statuses(found.values())} == {"different", "confined"}


@pytest.mark.skipif(os.getuid() != 0, reason="would have proved that a user without a name is ours")
def test_a_user_without_a_name(tmp_path: Path) -> None:
    cells = [cell("import getpass; getpass.getuser()", shown("'me'")), cell("!whoami", printed("me\n"))]
    found = cells_of(save(tmp_path / "a.ipynb", *cells))
    assert [(each.status.value, each.limit) for each in found] == [("confined", "user")] * 2


_GET = "urllib.request.urlopen('http://example.invalid/a').read()"
HIDDEN = {
    "a command that prints nothing": ("", "!wget -q http://example.invalid/a.csv", "open('a.csv').read()"),
    "a script of a shell": ("", "%%bash\ncurl -s -O http://example.invalid/a.csv", "open('a.csv').read()"),
    "an item": ("table = {}", f"table['b'] = {_GET}", "table['b']"),
    "an attribute": ("class C: pass\nc = C()", f"c.data = {_GET}", "c.data"),
    "a method": ("rows = []", f"rows.append({_GET})", "rows[0]"),
    "a global name": (f"def fetch():\n    global v\n    v = {_GET}", "fetch()", "v"),
    "what was caught": ("", f"try:\n    data = {_GET}\nexcept OSError:\n    data = None", "len(data)"),
    "what came of it": (
        "",
        f"try:\n    data = {_GET}\nexcept OSError:\n    data = ''\nn = len(data)",
        "n",
    ),
    "a variable of the environment": (
        "import os",
        f"os.environ['V'] = {_GET}.decode()",
        "os.environ['V']",
        "os.getenv('V') + ''",
        "%env V",
        '!test -n "$V" && echo 7',
    ),
    "several variables of the environment": (
        "import os",
        f"os.environ.update({{'V': {_GET}}}, W='1')",
        "os.environ['V']",
        "os.environ['W']",
    ),
    "all of a module": (
        "",
        "urllib.request.urlretrieve('http://example.invalid/shapes.py', 'shapes.py')",
        "from shapes import *",
        "square(3)",
    ),
}
OWN_FAULTS = {
    "given again": (f"mu = {_GET}", "mu = 178; mu"),
    "another cell gave it": (f"mu = {_GET}", "mu = 178", "mu"),
    "a module": (f"import json\ndata = {_GET}", "json.dumps({1, 2})"),
    "another variable": (f"import os\nos.environ['V'] = {_GET}", "os.environ['W']"),
    "the variable given again": (f"import os\nos.environ['V'] = {_GET}", "%env V=3", "os.environ['V']"),
    "a letter": (f"mu = {_GET}; kind = 'a'", "open('/nowhere/a')"),
    "a name of its own": (f"mu = {_GET}", "mu = 3\n1 / 0"),
}


@pytest.mark.slow
def test_what_a_refused_cell_would_have_changed(tmp_path: Path) -> None:
    """It is no failure of the notebook's, however the cell would have changed it, and whatever it showed."""
    notebooks = {}
    for name, (before, refused, *others) in HIDDEN.items():
        quiet = [cell(source, count=None) for source in (f"import urllib.request\n{before}", refused)]
        notebooks[name] = [*quiet, *(cell(source, shown("7")) for source in others)]
    for name, found in all_checked(tmp_path, notebooks).items():
        assert found[1].status.value in ("confined", "no_stored_output"), name
        confined = [("confined", "network")] * (len(HIDDEN[name]) - 2)
        assert [(each.status.value, each.limit) for each in found[2:]] == confined, name


@pytest.mark.slow
def test_what_a_refusal_has_no_hand_in(tmp_path: Path) -> None:
    """A cell that gives its names something itself is told as any other."""
    notebooks = {
        name: [cell(source, shown("7")) for source in ("import urllib.request", *sources)]
        for name, sources in OWN_FAULTS.items()
    }
    for name, found in all_checked(tmp_path, notebooks).items():
        assert (found[0].status.value, found[1].limit) == ("different", "network"), name
        assert (found[-1].limit, found[-1].status.value in ("different", "failed")) == (None, True), name


def test_what_commands_and_new_files_were_refused(tmp_path: Path) -> None:
    """Told by their standard error, where the file that they name is there and could be read outside; so is
    what a command for the network says. So is a new file for a folder that is there, a database too. Not what
    the notebook itself prints, and no file that is nowhere."""
    (tmp_path / "books").mkdir()
    (tmp_path / "outside.txt").write_text("there")
    (tmp_path / "outside.db").touch()
    (tmp_path / "data").mkdir()
    outside, nowhere = f"{tmp_path}/outside.txt", f"{tmp_path}/nowhere.txt"
    run = "import subprocess\nsubprocess.run(['cat', '{}'], check=True)"
    offline = "!python -c \"import urllib.request as u; u.urlopen('http://example.invalid')\""
    cases = {
        f"!cat {outside}": "files outside",
        f"%%bash\ncat {outside}": "files outside",
        run.format(outside): "files outside",
        offline: "network",
        f"import sqlite3; sqlite3.connect('{tmp_path}/outside.db').execute('select 1')": "files outside",
        f"import sqlite3; sqlite3.connect('{tmp_path}/new.db').execute('select 1')": "files outside",
        f"import sqlite3; sqlite3.connect('{tmp_path}/nowhere/base.db').execute('select 1')": None,
        f"open('here.txt', 'w').close()\nopen('{tmp_path}/new.txt', 'w')": "files outside",
        f"import sqlite3; sqlite3.connect('{tmp_path}/data/new.db').execute('select 1')": "files outside",
        f"open('here.txt', 'w').close()\nopen('{tmp_path}/data/new.txt', 'w')": "files outside",
        f"open('{tmp_path}/data/absent.csv')": None,
        f"open('{tmp_path}/nowhere/made.txt', 'w')": None,
        f"open('{nowhere}')": None,
        "open('nowhere/other.txt', 'w')": None,
        f"!cat {nowhere}": None,
        run.format(nowhere): None,
        "!cat nowhere.txt": None,
        f"import sys; print('cat: {outside}: No such file or directory', file=sys.stderr)": None,
    }
    path = save(tmp_path / "books" / "a.ipynb", *(cell(source, printed("there")) for source in cases))
    found = cells_of(path)
    assert limits(found) == [*cases.values()]
    assert {*statuses(found)} == {"confined", "different", "failed"}


@pytest.mark.skipif(
    not Path("/etc/alternatives/awk").exists(), reason="no Debian: would show that its names of commands run"
)
def test_commands_by_their_names_on_debian(tmp_path: Path) -> None:
    """Such as awk, which is a link to a link: they run in kernels, too."""
    path = save(tmp_path / "a.ipynb", cell("!awk 'BEGIN { print 6 * 7 }'", printed("42\r\n")))
    assert statuses(cells_of(path)) == ["same"]


def test_the_words_of_tools(tmp_path: Path) -> None:
    """Each of these names the file that it does not find in a way that is understood: once it is there, it was
    refused."""
    path = tmp_path / "folder" / "file"
    named = ("cat", "ls", "find", "head", "sort", "wc", "grep a", "bash", f"{sys.executable}")
    tools = [
        *(f"{tool} {path}" for tool in named),
        f"cp {path} .",
        f"bash -c '. {path}'",
        f"tail -n 1 {path}",
    ]
    said = [
        subprocess.run(
            tool,
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        ).stderr
        for tool in tools
    ]
    assert [of_commands(text) for text in said] == [None] * len(tools)
    path.parent.mkdir()
    path.touch()
    assert {tool: of_commands(text) for tool, text in zip(tools, said, strict=True)} == dict.fromkeys(
        tools, "files outside"
    )


def test_what_follows_from_a_refusal(tmp_path: Path) -> None:
    """A file that could not be fetched, in the words of numpy and pandas, and a name that a function of the
    notebook needs, are not missing for the notebook's fault. A name that its own failure left out is, also in
    a cell that needs more."""
    sources = (
        "import urllib.request as u\nu.urlretrieve('http://example.invalid/graph.txt.gz')\ndecorate = print",
        "raise FileNotFoundError('graph.txt.gz not found.')",
        "raise FileNotFoundError('File other.hdf does not exist')",
        "def plot(x):\n    decorate(x)",
        "plot(1)",
        "import nosuchthing\nfitted = 1",
        "fitted, decorate",
    )
    found = cells_of(save(tmp_path / "a.ipynb", *map(cell, sources)))
    confined, failed = ("confined", "network", None), ("failed", None)
    assert [(each.status.value, each.limit, each.missing) for each in found] == [
        confined,
        confined,
        (*failed, "other.hdf"),
        ("no_stored_output", None, None),
        confined,
        (*failed, "nosuchthing"),
        (*failed, None),
    ]
    assert [each.follows for each in found] == [None, 2, None, None, 2, None, 7]


def test_modules_beside_a_notebook(tmp_path: Path) -> None:
    """They can be imported, also those that a cell writes; one of the standard library with the same name comes
    first, as in Jupyter's kernels. The kernel's own folder has no modules."""
    (tmp_path / "in").mkdir()
    for name in ("helper", "json"):
        (tmp_path / "in" / f"{name}.py").write_text("value = 'beside'\n")
    cells = (
        cell("import helper; print(helper.value)", printed("beside\n")),
        cell("open('made.py', 'w').write('value = 3'); import made; print(made.value)", printed("3\n")),
        cell("import json; print(json.dumps(1))", printed("1\n")),
        cell(
            "import os, sys; print('' in sys.path, os.path.dirname(os.getcwd()) in sys.path)",
            printed("True False\n"),
        ),
    )
    path = save(tmp_path / "in" / "a.ipynb", *cells)
    assert statuses(cells_of(path)) == ["same"] * 4


def test_files_that_only_their_owner_may_read(tmp_path: Path) -> None:
    """Where notebooks run as another user than the caller, such a file or module is not said to be missing."""
    if os.geteuid() != 0:
        pytest.skip("would have proved what is said of root's private files: needs root")
    (tmp_path / "books").mkdir()
    for name in ("helper.py", "data.csv"):
        (tmp_path / "books" / name).touch(mode=0o600)
    sources = ("import helper", "open('data.csv')", "import nowhere", "open('nowhere.csv')")
    path = save(tmp_path / "books" / "a.ipynb", *map(cell, sources))
    outside = ("confined", "files outside")
    found = [(each.status.value, each.limit) for each in cells_of(path)]
    assert found == [outside, outside, ("failed", None), ("failed", None)]


def test_commands_find_the_interpreter(tmp_path: Path) -> None:
    """``!python`` is the Python of the kernel, with its packages."""
    source = "import sys\n!python -c 'import sys, IPython; print(sys.prefix)'\nprint(sys.prefix)"
    path = save(tmp_path / "a.ipynb", cell(source, printed(f"{sys.prefix}\r\n{sys.prefix}\n")))
    assert statuses(cells_of(path)) == ["same"]


def test_shared_memory_is_of_one_kernel(tmp_path: Path) -> None:
    """What one kernel leaves in /dev/shm the next does not find, nor does the machine; it is bounded."""
    leave = "open('/dev/shm/deskcheck-left', 'w').write('x'); import os; print(os.listdir('/dev/shm'))"
    fill = "open('/dev/shm/full', 'wb').write(bytes(300 << 20))"
    path = save(tmp_path / "a.ipynb", cell(leave, printed("['deskcheck-left']\n")), cell(fill))
    look = cell("import os; print(os.listdir('/dev/shm'))", printed("[]\n"))
    other = save(tmp_path / "b.ipynb", look)
    found = [each for book in (path, other) for each in cells_of(book, disk_bytes=100 << 20)]
    assert statuses(found) == ["same", "confined", "same"]
    assert found[1].limit == "disk"
    assert not Path("/dev/shm/deskcheck-left").exists()


def test_a_notebook_without_other_faults_is_confined(tmp_path: Path) -> None:
    """The notebook has that status, below every fault of its own."""
    path = save(tmp_path / "a.ipynb", cell(MET["network"]), cell("print(1)", printed("1\n")))
    assert checked(path, runs=1).status is NotebookStatus.CONFINED


def test_commands_as_stock_kernels_show_them(tmp_path: Path) -> None:
    """Standard error comes with standard output, in the order in which it was written, and lines end as on a
    terminal. What it gave is in ``_exit_code``, and variables go into the line."""
    word = "import sys; print(1); print(2, file=sys.stderr); print(3)"
    cells = [
        cell("!echo plain", printed("plain\r\n")),
        cell("!echo problem 1>&2; exit 3", printed("problem\r\n")),
        cell("_exit_code", shown("3")),
        cell(f"!python -c '{word}'", printed("1\r\n2\r\n3\r\n")),
        cell("b = 7\ndef f(c):\n    !echo {b + 1} $c $$HOME_IS_UNSET\nf('x')", printed("8 x\r\n")),
        cell("files = !echo one; echo two\nfiles", shown("['one', 'two']")),
        cell("!sleep 1 &", raised("OSError", "Background processes not supported.")),
    ]
    found = cells_of(save(tmp_path / "a.ipynb", *cells))
    assert [(each.status.value, each.difference) for each in found] == [("same", None)] * 7


@pytest.mark.parametrize(
    ("command", "limit"),
    [
        ("git init -q a; git clone a b", None),
        ("git clone file:///nowhere/a b", None),
        ("git clone https://example.invalid/a.git", "network"),
        ("git clone git@example.invalid:a/b.git", "network"),
    ],
)
def test_a_clone_of_what_is_here_needs_no_network(tmp_path: Path, command: str, limit: str | None) -> None:
    """What stands in the way of it is no rule of ours."""
    path = save(tmp_path / "a.ipynb", cell(f"!{command}", printed("other\r\n")))
    (found,) = cells_of(path)
    assert (found.status.value, found.limit) == ("different" if limit is None else "confined", limit)
