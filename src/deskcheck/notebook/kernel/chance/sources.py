"""What functions, methods and attributes tell by their names: where that comes from which is another in each
run and is drawn by no generator (clocks, numbers of processes, names of files, files and commands that give
random numbers); and what of a value they keep, what they do with its order, and what they tell of it but its
items.

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
READS = re.compile(r"read|load|open|file|connect|scan|parse", re.IGNORECASE)
"""Names of functions and methods that may read a file."""
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


# -- builtins ----------------------------------------------------------------------------------------------

TEXTS = frozenset({"str", "repr", "ascii", "format"})
"""They give a text of what they are given."""
ORDERED = frozenset({"list", "tuple", "iter", "enumerate", "next"})
"""They keep the order of a set."""
_NUMBERS = frozenset({"int", "float", "round", "abs", "bool", "bytes", "reversed"})
KEEPING = TEXTS | ORDERED | _NUMBERS | {"hex", "bin", "oct", "divmod", "ord", "chr"}
"""Their result is another where what they are given is."""
FORMING = _NUMBERS | (ORDERED - {"next"}) | {"complex", "zip", "map", "bytearray", "dict"}
"""Their result has the form of what they are given."""
KEEPING_DRAWN = frozenset({"any", "all", "sum", "max", "min"})
"""They keep what was drawn, whatever its order."""
OF_ITEMS = KEEPING_DRAWN | {"len", "sorted", "set", "frozenset"}
"""Their result does not depend on the order of what they are given."""

# -- methods of arrays, data frames and sets, and functions of numpy ----------------------------------------

OF_ANY_ORDER = frozenset(
    {"count", "sum", "min", "max", "mean", "median", "any", "all", "nunique", "prod", "std", "var", "size"}
)
"""Their result does not depend on the order, but for last digits."""
SORTING = OF_ANY_ORDER | {"sort", "unique", "amax", "amin"}
"""Functions of numpy of which the same is true."""
TYPES = frozenset({"dtype", "ndim", "columns", "requires_grad", "device"})
"""Attributes that follow from the form of a value, and that few computations change."""
FORMS = TYPES | {"shape", "size", "dtypes", "nbytes", "itemsize"}
"""Attributes that follow from the form of a value."""
MEASURES = frozenset({"numel", "dim", "size", "element_size", "stride", "info"})
"""Methods that do."""
NO_VALUES = FORMS | MEASURES | {"strides", "flags", "index", "keys", "name", "names", "tzinfo"}
"""Attributes and methods that do not tell the values."""
WHOLE = frozenset({"iloc", "loc", "iat", "at", "values", "T"})
"""Attributes of a data frame that have all of its columns."""
SAME_FORM = WHOLE | {"data", "real", "imag", "flat"}
"""Attributes whose form is that of the whole, or follows from it."""
WITH_INDEX = frozenset({"copy", "to_frame", "to_dict", "items", "to_string", "head", "tail", "rename"})
"""Methods of a series whose result has its index."""
TAKING_IN = frozenset({"map", "replace", "assign", "fillna", "join", "merge"})
"""Methods of pandas whose result has what they are given."""
CHOOSING = frozenset(
    {"unique", "nonzero", "where", "argwhere", "flatnonzero", "compress", "extract", "query", "filter"}
    | {"isin", "dropna", "drop_duplicates", "value_counts", "groupby", "masked_select", "trim_zeros"}
    | {"bincount", "intersect1d", "setdiff1d", "union1d", "unique_consecutive", "split", "strip", "replace"}
    | {"findall", "groups", "merge", "get_dummies", "pivot", "pivot_table", "crosstab", "mode", "resize"}
    | {"repeat", "repeat_interleave", "arange", "zeros", "ones", "full", "empty", "linspace", "eye", "cut"}
    | {"qcut", "index_select", "tabulate", "fit_transform", "fit_predict", "find_peaks", "drop", "explode"}
    | {"head", "tail"}
)
"""Functions and methods that choose by the values, or whose result is as long as what they are given says."""

# -- collections -------------------------------------------------------------------------------------------

ORDERED_INSIDE = frozenset({"Counter", "OrderedDict", "deque", "fromkeys"})
"""Classes and methods that keep the order of a set, and whose own text a normaliser can sort."""
GROWING_IN_ORDER = frozenset({"append", "extend", "insert", "appendleft"})
"""Methods that put what they are given at a place of a list."""
GROWING = GROWING_IN_ORDER | {"add", "update"}
"""Methods that put what they are given into a list, set or dict."""
CHANGING = GROWING | {"pop", "remove", "sort", "reverse", "clear", "discard", "setdefault"}
"""Methods that change what they are of."""
GIVING_NONE = CHANGING - {"pop", "setdefault"}
"""Those of lists, sets and dicts that return None."""

# -- generators, and packages ------------------------------------------------------------------------------

CHOICES = frozenset({"choice", "choices", "sample"})
"""They draw some of what they are given: by its order, with a seed too."""
PERMUTING = frozenset({"permutation", "permuted", "randperm"})
"""They draw an order."""
ARRAYS = frozenset({"numpy", "pandas", "torch", "scipy", "sklearn"})
"""Packages whose functions give something of the form of what they are given, but for `CHOOSING`."""
OF_VALUES = (
    ARRAYS
    | {"math", "cmath", "statistics", "fractions", "decimal", "operator", "_operator", "posixpath", "json"}
    | {"hashlib", "_hashlib", "zlib", "base64", "binascii", "struct", "_struct"}
)
"""Packages whose functions and classes give something else where what they are given is."""
