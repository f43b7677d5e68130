"""Processes of test suites that lie about their tests, or attack who records them (`deskcheck record pytest:PATH`).

A liar takes the place of the interpreter of the tests: it has the key, as a test has that searches its own process,
and says whatever it likes. `LIES` are what it says after it has told of one true call; `DEEDS` are tests of a true
pytest.
"""

import sys
from pathlib import Path

import deskcheck
from deskcheck.sandbox.observed.suite import ObservedTests

SOURCE = "def f(n):\n    return n\n"
LIAR = f"""#!{sys.executable} -IS
import json, os, signal, sys, time
sys.path.insert(0, {str(Path(deskcheck.__file__).parents[1])!r})
from deskcheck.sandbox.inside.channel import sender
if not sys.argv[1].endswith("suite_child.py"):
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
HERE = os.path.dirname(os.path.abspath(__file__))
with os.fdopen(int(sys.argv[2]), "rb") as stream:
    job = json.loads(stream.read())
raw = sender(job["channel"], bytes.fromhex(job["key"]))
MODULE = {{"name": "m", "file": HERE + "/m.py", "label": "m.py"}}
MAGIC = b"\\xdcK\\x01"
EVENT = [0, 0, "call", 0, "f", "m.py", 1, 1, '{{"n":1}}', None, None, None, None, None, None, None, None]
CALL = dict(module="m", function="f", file=MODULE["file"], line=1, arguments="(1)", functions={{}}, numbers=None,
            needs={{}}, form="in part", test="t", seen="s", time=1, slot=0, own=["m"], stdout="", outcome="returned",
            result="1", result_builtin=True)
COLLECTED = dict(tests=1, packages={{}}, cpu_s=0.1, interpreter=dict(
    python="3.11.7", implementation="cpython", platform="linux", tracer="native"))
TESTED = dict(test="t", cpu_s=0.1, left_out={{}}, functions=[["m", "f", 1, 1, ["s"], [1, 0, 0, 0]]])
def event(index=0, kind="call", **changes):
    names = "thread index kind frame function file line offset locals stack globals objects caller value output".split()
    row = [*EVENT]
    row[1], row[2] = index, kind
    for name, value in changes.items():
        row[names.index(name)] = value
    return json.dumps(row).encode()
BLOCKS = [event(), event(1, "line", line=2, locals=None), event(2, "return", line=2, locals=None, value="1")]
def say(kind, facts, blocks=()):
    head = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    raw(b"".join([f"{{kind}} {{len(head)}}\\n".encode(), head, *(len(b).to_bytes(4, "big") + b for b in blocks)]))
def call(blocks=BLOCKS, **changes):
    say("call", {{**CALL, **changes}}, blocks)
def number(value):
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
def stay(then="pass"):
    pipe, tell = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with open(HERE + "/pids", "a") as pids:
                pids.write(f"{{os.getpid()}}\\n")
            os.write(tell, b"x")
            exec(then)
            time.sleep(1000)
        os._exit(0)
    os.wait()
    os.read(pipe, 1)
say("collected", COLLECTED)
say("module", MODULE)
call()
say("test", dict(test="t", outcome="passed"))
say("tested", TESTED)
{{lie}}
"""

_OTHER = 'call(module="m", function="g", line=2, test="t", seen="g", time=1, '
LIES = {
    "nothing": "",
    "an interpreter of other fields": 'say("collected", {**COLLECTED, "interpreter": {"x": "y"}})',
    "an interpreter that names our fields": 'COLLECTED["interpreter"]["deskcheck"] = "9"\nsay("collected", COLLECTED)',
    "a form that is none": f'{_OTHER} form="what")',
    "a file without a name": f'{_OTHER} file="")',
    "a file with a NUL": f'{_OTHER} file="/x\\0y.py")',
    "a file with a long name": f'{_OTHER} file="/" + "x" * 5000 + ".py")',
    "a file that is a device": f'say("module", dict(name="z", file="/dev/zero", label="z.py"))\n'
    f'{_OTHER} blocks=[event(file="z.py")])',
    "a file that is a pipe": f'os.path.exists(HERE + "/pipe.py") or os.mkfifo(HERE + "/pipe.py")\n'
    f'say("module", dict(name="z", file=HERE + "/pipe.py", label="z.py"))\n{_OTHER} blocks=[event(file="z.py")])',
    "a file that is gone": f'say("module", dict(name="z", file=HERE + "/gone.py", label="z.py"))\n'
    f'{_OTHER} blocks=[event(file="z.py")])',
    "a file that is a folder": f'say("module", dict(name="z", file="/", label="z.py"))\n'
    f'{_OTHER} blocks=[event(file="z.py")])',
    "a file that is changed in a far year": f'open(HERE + "/far.py", "w").close()\n'
    f'os.utime(HERE + "/far.py", (1, 10**12))\n{_OTHER} file=HERE + "/far.py")',
    "a module that nobody told of": f'{_OTHER} blocks=[event(file="x.py")])',
    "needs of a module that nobody told of": f'{_OTHER} needs={{"x.py": ["y"]}})',
    "half a character in an id": f'{_OTHER} arguments="(\\udc80" + "x" * 1000 + ")")',
    "half a character": f'{_OTHER} result="\\ud800", stdout="\\udfff", own=["\\ud800"])',
    "names that are empty": f'{_OTHER[: _OTHER.index("module")]}module="", function="", line=0, slot=9)',
    "names that are words of no call": 'call(module="m", function="f)(", line=7, form="literal", arguments="(", slot=1)',
    "a call that never happened": 'call(form="literal", arguments="(77,)", result="5", time=2, slot=1, seen="x")',
    "values of no kind": f'{_OTHER} blocks=[event(locals=\'{{"n":{{"what":1}}}}\')])',
    "deep values": f'{_OTHER} blocks=[event(locals=\'{{"n":\' + \'{{"tuple":[\' * 5000 + "1" + "]}}" * 5000 + "}}")])',
    "a block that is cut": f'{_OTHER} blocks=[BLOCKS[0][:-3]])',
    "blocks that end too early": 'head = json.dumps(CALL).encode()\n'
    'raw(b"call %d\\n" % len(head) + head + (99).to_bytes(4, "big") + b"x")',
    "a huge block": f'{_OTHER} blocks=[event(output="x" * 30_000_000)])',
    "a huge result": f'{_OTHER} result="x" * 20_000_000, stdout="y" * 9_000_000)',
    "deep facts": 'say("test", b\'{"test":\' + b"[" * 90_000)',
    "many facts": 'say("tested", b\'{"test":"t","cpu_s":0,"left_out":{},"functions":[\' + b"[]," * 2_000_000 + b"[]]}")',
    "facts of other types": 'say("test", dict(test=[1], outcome={}))',
    "a message of no kind": 'say("what", {})',
    "an end of its own": 'say("ended", dict(ended="passed"))',
    "no pytest, now": 'say("no pytest", {})',
    "time that goes backwards": 'say("tested", {**TESTED, "test": "u", "cpu_s": -1e17})\nsay("collected", {**COLLECTED, "cpu_s": 1e17})',
    "events of a thread without end": f'{_OTHER} blocks=[event(thread=2**31 - 1), event(thread=5)])',
    "rows that do not add up": f'{_OTHER} blocks=[event(), event(1, "return", value=\'{{"ref":5}}\'), event(2, "resume", frame=7)])',
    "rows of no frame": f'{_OTHER} blocks=[event(0, "unwind")])',
    "without the key": 'os.write(job["channel"], b"x" * 100_000)',
    "half a message": 'os.write(job["channel"], (100).to_bytes(4, "big"))',
    "a channel that is closed": 'os.close(job["channel"])',
    "a number of signals": "os.kill(os.getpid(), signal.SIGRTMIN + 3)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "a status of pytest's": "os._exit(4)",
}  # fmt: skip
"""What the liar says or does beside: statements. Each name of a function `g` is a call beside the true one."""


def liar(folder: Path, lie: str) -> ObservedTests:
    """The tests of a project whose interpreter is a liar."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "m.py").exists():  # one that is written anew is another
        (folder / "m.py").write_text(SOURCE)
    python = folder / "python"
    python.write_text(LIAR.replace("{lie}", lie))
    python.chmod(0o755)
    return ObservedTests(arguments=(str(folder),), root=folder, python=str(python))


_FOLDER = "HERE + '/../runs/.suite/*/*/"
_ALL = "import glob\nfor path in glob.glob(" + _FOLDER + "{}'):\n    "
DEEDS = {
    "sleeps for ever": "time.sleep(1000)",
    "writes without end": "while True:\n    os.write(1, b'x' * 100_000)",
    "makes its output long": "os.ftruncate(1, 1 << 40)\ntime.sleep(1000)",
    "makes its output long and ends": "os.ftruncate(1, 1 << 40)",
    "takes its output away": _ALL.format("*.written") + "os.unlink(path)",
    "a pipe for its output": _ALL.format("*.written") + "os.unlink(path); os.mkfifo(path)",
    "a pipe for all output": _ALL.format("*.written")
    + "path = path.removesuffix('.written') + '.txt'\n    os.path.exists(path) and os.unlink(path)\n    os.mkfifo(path)",
    "a link for all output": _ALL.format("*.written")
    + "path = path.removesuffix('.written') + '.txt'\n    os.path.exists(path) and os.unlink(path)\n"
    "    os.symlink(HERE + '/precious', path)",
    "a link where the output is kept": "at = HERE + '/../runs/pytest-output.txt'\n"
    "os.path.lexists(at) or os.symlink(HERE + '/precious', at)",
    "writes over the journal": _ALL.format("first") + "open(path, 'r+b').write(bytes(100_000))",
    "cuts the journal": _ALL.format("first") + "os.truncate(path, 0)",
    "takes the journal away": _ALL.format("first") + "os.unlink(path)",
    "takes the folder of journals away": "import shutil\nshutil.rmtree(HERE + '/../runs/.suite')",
    "takes the folder away": "import shutil\nshutil.rmtree(HERE + '/../runs')",
    "a file for the folder": "import shutil\nshutil.rmtree(HERE + '/../runs')\nopen(HERE + '/../runs', 'w').close()",
    "shards that are none": "open(HERE + '/../runs/recordings-00000.parquet', 'w').write('x')\n"
    "open(HERE + '/../runs/events-00000.parquet', 'w').write('x')",
    "stops its guard": "os.kill(os.getppid(), signal.SIGSTOP)",
    "asks its guard to end": "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(1000)",
    "interrupts its guard": "os.kill(os.getppid(), signal.SIGINT)\ntime.sleep(1000)",
    "kills its guard": "stay()\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1000)",
    "kills its guard, and speaks on": "stay('while True: os.write(job[\"channel\"], bytes(100))')\n"
    "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1000)",
    "reports for its guard": "for n in os.listdir(f'/proc/{os.getppid()}/fd'):\n"
    # No file: libffi keeps its own open, and as root this would write into it.
    "    if not os.readlink(f'/proc/{os.getppid()}/fd/{n}').startswith('pipe:'):\n        continue\n    try:\n"
    "        at = os.open(f'/proc/{os.getppid()}/fd/{n}', os.O_WRONLY | os.O_NONBLOCK)\n"
    "        os.write(at, b'{\"status\": [], \"cpu_s\": 1}')\n    except OSError:\n        pass",
    "leaves children": "stay()\nstay()",
    "leaves children that speak": "stay('os.write(job[\"channel\"], b\"x\" * 100)')",
    "closes what it has": "os.closerange(0, 4096)\ntime.sleep(0.2)",
    "changes its module": "open(HERE + '/m.py', 'w').write('def f(n): return 5')",
    "takes its module away": "os.unlink(HERE + '/m.py')",
}  # fmt: skip
"""What the liar does after it has told the truth. `stay` starts a daemon."""
PROJECT = """
import atexit, builtins, gc, io, json, os, signal, sys, threading, time
import m

def test_first():
    assert m.f(1) == 1

def test_deed():
    {deed}

def test_last():
    assert m.f(2) == 2
"""
TESTS = {
    "a trace function of its own": "sys.settrace(lambda *given: None)",
    "no trace function": "real = sys.settrace; real(None); sys.settrace = lambda function: None",
    "a profile function of its own": "sys.setprofile(lambda *given: None); threading.setprofile(lambda *given: None)",
    "no tools of monitoring": "[sys.monitoring.free_tool_id(n) for n in range(6)] if hasattr(sys, 'monitoring') else None",
    "events of monitoring": "[sys.monitoring.set_events(n, 0) for n in range(6) if hasattr(sys, 'monitoring') "
    "and sys.monitoring.get_tool(n)]",
    "closes what it has": "os.closerange(3, 70000)",
    "writes to what it has": "[os.write(n, b'x' * 1000) for n in range(3, 2000) if _is_open(n)]",
    "another json": "json.dumps = lambda *given, **named: 'x'; json.JSONEncoder.default = None",
    "another write": "os.write = lambda *given: 0; os.getpid = lambda: 1; time.monotonic = lambda: 'x'",
    "another len": "builtins.len = None; builtins.type = None; builtins.dict = None",
    "ends": "os._exit(0)",
    "ends its process group": "os.killpg(0, signal.SIGKILL)",
    "forks and goes on": "os.fork()",
    "forks and holds all": "os.fork() or time.sleep(1000)",
    "little recursion": "sys.setrecursionlimit(60 + sum(1 for _ in _frames()))",
    "threads that call": "[threading.Thread(target=_calls, daemon=True).start() for _ in range(9)]",
    "a module that is none": "sys.modules['m'] = sys.modules['m.x'] = type('M', (), {'__getattr__': None})()",
    "other code": "g = m.f; g.__code__ = (lambda n: n).__code__.replace(co_filename='/dev/zero', co_firstlineno=9**9)",
    "names that are others": "m.f.__code__ = m.f.__code__.replace(co_qualname='\\x00<', co_name='x' * 99999)",
    "deep values": "x = []\n    for _ in range(100_000): x = [x]\n    m.f(x)",
    "huge values": "m.f('x' * 10**7); m.f([[0] * 1000] * 1000); m.f({n: {n} for n in range(10**5)}); m.f(10**10**5)",
    "no output": "sys.stdout.close(); sys.stderr = None",
    "objects that run": "m.f(type('X', (), dict.fromkeys(('__repr__', '__eq__', '__hash__', '__del__', "
    "'__getattribute__', '__class__', '__len__'), lambda *given: os._exit(3)))())",
}  # fmt: skip
"""Tests of a true pytest, between two that are innocent."""
_HELPERS = """
def _is_open(n):
    try:
        return bool(os.fstat(n))
    except OSError:
        return False

def _frames():
    frame = sys._getframe()
    while frame := frame.f_back:
        yield frame

def _calls():
    while True:
        m.f(0)
"""


def project(folder: Path, deed: str) -> Path:
    """A project with a test that does something."""
    (folder / "tests").mkdir(parents=True)
    (folder / "m.py").write_text(SOURCE)
    (folder / "tests" / "test_it.py").write_text(PROJECT.replace("{deed}", deed) + _HELPERS)
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = '.'\n")
    return folder
