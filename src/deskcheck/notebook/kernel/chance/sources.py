"""Where that comes from which is another in each run and is drawn by no generator: clocks, numbers of
processes, names of files, files and commands that give random numbers.

In the kernel's process. Nothing is called."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck.notebook.trajectory.chance import ChanceSource, drawn_from, shown

_CLOCKS = {
    "time": (
        *("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"),
        *("process_time", "process_time_ns", "thread_time", "thread_time_ns"),
    ),
}
_DATES = {"time": ("ctime", "asctime", "localtime", "gmtime", "strftime")}
"""Module -> functions that tell the time unless they are given one (of `strftime`, beside the format)."""
NOW = frozenset({"now", "today", "utcnow"})
"""Methods of classes of dates."""
_PROCESSES = {"os": ("getpid", "getppid"), "threading": ("get_ident", "get_native_id")}
_FILES = {"tempfile": ("mkdtemp", "mkstemp", "mktemp", "NamedTemporaryFile", "TemporaryDirectory")}
FILE = shown("the name of a temporary file")
_FILE_TIMES = {
    "posixpath": ("getmtime", "getctime", "getatime"),
    "ntpath": ("getmtime", "getctime", "getatime"),
}
TIMES_OF_FILES = re.compile(r"st_(?:[acm]|birth)time(?:_ns)?")
"""Attributes of `os.stat_result`."""
FILE_TIME = shown("the time of a file")
_LABELS = (
    (_CLOCKS, shown("the clock")),
    (_FILE_TIMES, FILE_TIME),
    (_PROCESSES, shown("the number of a process")),
    (_FILES, FILE),
)
DEVICE = drawn_from("/dev/urandom")
DEVICES = frozenset({DEVICE.label, "/dev/random", "/dev/hwrng", "/proc/sys/kernel/random/uuid"})
"""Files that give something else whenever they are read."""
OPENING = frozenset({"open", "fdopen", "FileIO", "fromfile", "memmap", "read_bytes", "read_text"})
"""Functions and methods that open a file, or read it."""
READING = frozenset({"read", "pread", "readv", "preadv", "fromfile", "read_bytes", "read_text"})
_COMMANDS = frozenset({"run", "check_output", "getoutput", "getstatusoutput", "Popen", "system", "popen"})
"""Functions of `subprocess` and `os` that run a command."""
QUERIES = frozenset({"execute", "sql", "query", "read_sql", "read_sql_query"})
"""Functions and methods that run a query of a database."""
_RANDOM_QUERY = re.compile(r"\bselect\b.*\b(?:random|rand|newid|gen_random_uuid)\s*\(\s*\)", re.I | re.S)
_SHELL = re.compile(
    r"\$\W*RANDOM\b|\b(?:shuf|sort\s+(?:-\w*R|--random-sort))\b(?![^|;\n]*--random-source)|\bsrand\(\s*\)"
    r"|\buuidgen\b|\bmktemp\b|/dev/u?random\b|\bdate\b[^|;\n]*%N"
    r"|\bpython[\d.]*\s+-c\b(?=.*\b(?:random|uuid[14]|secrets|urandom)\b)(?!.*\bseed\b)"
)
_SHELL_SEED = re.compile(r"(?<![\w$])RANDOM=\d+\b")
"""From there on, what the shell draws is the same in each run."""
_IN_SHELL = re.compile(r"\A\s*%%(?:bash|sh|script|!)|^\s*(?:\w+\s*=\s*)?(?:!|%sx\b|%system\b)", re.MULTILINE)
_MAY_COME = re.compile(
    r"\btime|[acmh]time|clock|perf_counter|monotonic|\bnow\b|today|getpid|getppid|get_ident|\bid\(|\bhash\b|__hash__|execute|sql|query|temp|mk"
    r"|repr|\bstr\(|\bformat|\bf['\"]|%[sr]|open|/dev/|popen|system|subprocess|\bset\b|\{|frozenset|\blist\(|\btuple\(|\biter\(|join|pop"
)
SHELL = shown("the random numbers of a command")
QUERY = shown("the random numbers of a query")
CLOCK, TIME = shown("the clock"), shown("the time")


@dataclass(frozen=True, slots=True)
class ChanceOrigin:
    """Where a value comes from: source. fine: it is chance what a comparison with it gives; else only its
    digits are. clock: what it is less another is a duration. inside: its text does not tell it: a model, by
    its weights. index: it was sorted, and its index alone is another. keyed: its items are found by their
    keys, and only their order is another: a data frame that is made of a dict. parts: of what is so in part
    (a dict, a data frame), each key with where its item comes from."""

    source: ChanceSource
    fine: bool = True
    clock: bool = False
    inside: bool = False
    index: bool = False
    keyed: bool = False
    parts: tuple[tuple[object, "ChanceOrigin | None"], ...] = ()


def may_come(code: str) -> bool:
    """Whether a cell has a word for something that is another in each run."""
    return _MAY_COME.search(code) is not None


def of_shell(code: str) -> bool:
    """Whether a cell has a command for the shell that shows random numbers."""
    if _IN_SHELL.search(code) is None:
        return False
    seeded = _SHELL_SEED.search(code)
    if seeded is not None:
        code = code[: seeded.start()] + code[seeded.end() :].replace("RANDOM", "")
    return _SHELL.search(code) is not None


def telling_functions() -> dict[int, ChanceOrigin]:
    """`id` of each function that is loaded and tells something that is another in each run."""
    found: dict[int, ChanceOrigin] = {}
    for table, label in _LABELS:
        clock = table in (_CLOCKS, _FILE_TIMES)
        for function in _loaded(table):
            found[id(function)] = ChanceOrigin(label, fine=table is _FILES, clock=clock)
    for function in _loaded(_DATES):
        found[id(function)] = ChanceOrigin(TIME, fine=False, clock=True)
    return found


def _loaded(table: Mapping[str, tuple[str, ...]]) -> Iterator[Any]:
    for module, names in table.items():
        there = sys.modules.get(module)
        yield from (vars(there)[name] for name in names if there is not None and name in vars(there))


def runs_random(function: Any, node: ast.Call) -> bool:
    """Whether a call runs a command that is written there and shows random numbers."""
    if getattr(function, "__name__", "") not in _COMMANDS:
        return False
    words = []
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            words.append(each.value)
        elif isinstance(each, ast.Attribute) and each.attr == "executable":  # of `sys`
            words.append("python")
    return _SHELL.search(" ".join(words)) is not None


def is_random_query(node: ast.expr) -> bool:
    """Whether it is the text of a query that draws random numbers."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and _RANDOM_QUERY.search(text) is not None
