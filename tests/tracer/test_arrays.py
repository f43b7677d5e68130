"""numpy arrays and pandas tables as values: what they hold is seen, changes in place too, without running code of
the program and without copying what is big. Expectations are computed by the libraries themselves.
"""

import re
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from deskcheck.recording import Program
from deskcheck.recording.value import Value, decode, render
from deskcheck.tracer import Granularity, ReferenceTracer, TraceLimits, tracer_class
from deskcheck.tracer.result import snapshot
from tests.tracer import agree
from tests.tracer.process import needs_native
from tests.tracer.test_native import assert_agreed

numpy = pytest.importorskip(
    "numpy", reason="would have proved that arrays are recorded with shape, dtype and items"
)
TRACERS = list({ReferenceTracer.name: ReferenceTracer, tracer_class().name: tracer_class()}.values())
each_tracer = pytest.mark.parametrize("tracer", TRACERS, ids=lambda tracer: tracer.name)

ARRAYS = {
    "empty": lambda: numpy.zeros((0, 3)),
    "no_axis": lambda: numpy.array(5),
    "matrix": lambda: numpy.arange(6).reshape(2, 3),
    "columns_first": lambda: numpy.asfortranarray(numpy.arange(6).reshape(2, 3)),
    "every_other_backwards": lambda: numpy.arange(10)[::-2],
    "float32": lambda: numpy.array([0.5, numpy.inf], dtype="f4"),
    "complex": lambda: numpy.array([1 + 2j]),
    "bool": lambda: numpy.array([True, False]),
    "big_endian": lambda: numpy.array([1, 2], dtype=">i4"),
    "text": lambda: numpy.array(["a", "bcd"]),
    "records": lambda: numpy.zeros(2, dtype=[("a", int), ("b", float)]),
    "read_only": lambda: numpy.broadcast_to(numpy.arange(3), (2, 3)),
}


def taken(obj: Any, items: int = 1000) -> Value:
    return decode(*snapshot(obj, TraceLimits(items=items)))


def plain(value: Value) -> Any:
    return tuple(map(plain, value.items)) if value.kind == "tuple" else value.atom


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_what_numpy_says(name: str) -> None:
    """Shape, and the items in C order, are those that numpy gives."""
    array = ARRAYS[name]()
    value = taken(array)
    assert (value.kind, value.type, value.shape) == ("array", "numpy.ndarray", array.shape)
    assert [plain(item) for item in value.items] == array.ravel().tolist()
    assert value.whole


def test_the_dtype_says_how_items_lie() -> None:
    """By name where the machine has it so, else as numpy writes it."""
    dtypes = [
        "int64",
        "float32",
        "bool",
        "complex128",
        "object",
        ">i4",
        "<U3",
        "datetime64[ns]",
        "timedelta64[D]",
    ]
    assert [taken(numpy.empty(0, dtype=dtype)).dtype for dtype in dtypes] == dtypes


def test_times_are_exact() -> None:
    """As text, to the nanosecond, which Python's own times do not have."""
    value = taken(numpy.array(["2020-01-02T03:04:05.123456789", "NaT"], dtype="M8[ns]"))
    assert [item.atom for item in value.items] == ["2020-01-02T03:04:05.123456789", "NaT"]


@pytest.mark.parametrize("unit", ["ns", "us", "s", "25s", "D", "M", "as"])
def test_durations_are_whole(unit: str) -> None:
    """As numpy writes each by itself; as an array of texts it would cut them to 21 characters."""
    array = numpy.array([86_400_000_000, -(2**62) // 25, 1, "NaT"], dtype=f"m8[{unit}]")
    assert [item.atom for item in taken(array).items] == [str(item) for item in array]
    assert taken(array.reshape(2, 2)[:, 1]).items[0].atom == str(array[1])


@each_tracer
def test_what_a_mask_hides_is_not_shown(tracer: Any, traced: Callable[..., Any]) -> None:
    """None, as in numpy's own list of a masked array, also where it is masked in place; another class's own
    `_mask` hides nothing."""
    for array in (
        numpy.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]),
        numpy.ma.array([1.5, 2.5]),
        numpy.ma.masked_all(3),
        numpy.ma.array(["2020", "2021"], dtype="M8[Y]", mask=[True, False]),
    ):
        expected = numpy.where(numpy.ma.getmaskarray(array), None, array.data.astype(str)).ravel().tolist()
        shown = [item.atom if item.atom is None else str(item.atom) for item in taken(array).items]
        assert shown == expected
    kind = type("Other", (numpy.ndarray,), {})
    other = numpy.arange(2).view(kind)
    other._mask = numpy.array([True, True])
    assert [item.atom for item in taken(other).items] == [0, 1]
    code = """
        import numpy
        def main():
            held = numpy.ma.array([1, 2, 3])
            held[1] = numpy.ma.masked
            held.mask = False
            return held
        main()
    """
    run = traced(code, limits=TraceLimits(only=("main",)), tracer_class=tracer)
    seen = [
        [item.atom for item in event.locals["held"].items] for event in run.trace if "held" in event.locals
    ]
    assert [1, 2, 3] == seen[0] == seen[-1]
    assert [1, None, 3] in seen


def test_objects_in_an_array_are_values_of_their_own() -> None:
    """With identity: the list in the array is the list beside it."""
    inner: list[int] = [1]
    value = taken([inner, numpy.array([inner, None], dtype=object)])
    assert value.items[0].id == value.items[1].items[0].id


def test_scalars_are_their_text() -> None:
    """As numpy shows them; they cannot change."""
    for scalar in (
        numpy.int64(5),
        numpy.float32(0.1),
        numpy.bool_(True),
        numpy.str_("x"),
        numpy.datetime64("2020"),
    ):
        value = taken(scalar)
        assert (value.kind, value.text, value.id) == ("text", repr(scalar), None)


def test_a_big_array_is_cut_and_not_copied() -> None:
    """80 MB: the first ten items are taken, with the true length, in a few kilobytes."""
    array = numpy.zeros((1000, 10_000))
    tracemalloc.start()
    try:
        value = taken(array, items=10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(value.items), value.length, value.cut) == (10, 10_000_000, "long")
    assert peak < 1_000_000
    assert "... 9999990 more" in render(value)


HOSTILE = """
    import numpy
    class Hostile(numpy.ndarray):
        def called(self, *arguments, **named):
            print("called")
        __array_finalize__ = __getitem__ = __iter__ = __len__ = __repr__ = __str__ = called
        __array_function__ = __array_ufunc__ = __getattr__ = __array_wrap__ = __eq__ = called
        shape = dtype = flat = size = base = property(called)
    class Lies:
        __class__ = numpy.ndarray
        _mgr = property(lambda self: print("called"))
    def main():
        held = numpy.ndarray.__new__(Hostile, 3, int, bytearray(24))
        numpy.ndarray.fill(held, 7)
        lies = Lies()
        return None
    print("begins")
    main()
"""


@each_tracer
def test_nothing_of_a_subclass_is_called(tracer: Any, traced: Callable[..., Any]) -> None:
    """An array of a class that overrides everything is read all the same, and none of that runs."""
    command = [sys.executable, "-c", textwrap.dedent(HOSTILE)]
    unwatched = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    run = traced(HOSTILE, limits=TraceLimits(only=("main",)), tracer_class=tracer)
    assert (run.error, run.output) == (None, unwatched)
    held = run.trace[-1].locals["held"]
    assert (held.kind, held.shape, [item.atom for item in held.items]) == ("array", (3,), [7, 7, 7])


CHANGES = """
    import numpy
    def main():
        a = numpy.array([[0, 1, 2], [3, 4, 5]])
        row = a[1]
        row[:] = 7
        a += 1
        numpy.multiply(a, 2, out=a)
        a[:, ::-1].sort(axis=1)
        a.resize((3, 2), refcheck=False)
        for turn in range(3):
            a[turn, 0] = -turn
        return a
    main()
"""


@each_tracer
def test_changes_in_place_are_seen(tracer: Any, traced: Callable[..., Any]) -> None:
    """Through the array, through a view of it, by an operator, a method, an attribute: at the next event."""
    trace = traced(CHANGES, limits=TraceLimits(only=("main",)), tracer_class=tracer).trace
    seen = []
    for event in trace:
        if "a" in event.locals:
            value = event.locals["a"]
            seen.append((event.line, value.shape, [item.atom for item in value.items]))
    assert seen == [
        (4, (2, 3), [0, 1, 2, 3, 4, 5]),
        (5, (2, 3), [0, 1, 2, 3, 4, 5]),
        (6, (2, 3), [0, 1, 2, 7, 7, 7]),
        (7, (2, 3), [1, 2, 3, 8, 8, 8]),
        (8, (2, 3), [2, 4, 6, 16, 16, 16]),
        (9, (2, 3), [6, 4, 2, 16, 16, 16]),
        (10, (3, 2), [6, 4, 2, 16, 16, 16]),
        (11, (3, 2), [6, 4, 2, 16, 16, 16]),
        (10, (3, 2), [0, 4, 2, 16, 16, 16]),
        (11, (3, 2), [0, 4, 2, 16, 16, 16]),
        (10, (3, 2), [0, 4, -1, 16, 16, 16]),
        (11, (3, 2), [0, 4, -1, 16, 16, 16]),
        (10, (3, 2), [0, 4, -1, 16, -2, 16]),
        (12, (3, 2), [0, 4, -1, 16, -2, 16]),
        (12, (3, 2), [0, 4, -1, 16, -2, 16]),
    ]


def test_a_view_names_the_array_that_it_shows() -> None:
    """So that a reader knows that one changes with the other."""
    whole = numpy.arange(4)
    value = taken([whole, whole[1:]])
    assert value.items[1]["base"].id == value.items[0].id


def test_no_array_makes_us_import_numpy() -> None:
    """Neither library is there after `import deskcheck` and a recording of a program without them."""
    script = (
        "import sys, deskcheck\nfrom deskcheck.tracer import tracer_class\ndef f():\n    return [1]\n"
        "assert deskcheck.trace(f).run_result.result == '[1]'\n"
        "print([name for name in ('numpy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def frames() -> dict[str, Any]:
    pandas = pytest.importorskip(
        "pandas", reason="would have proved that tables are recorded with their columns, index and dtypes"
    )
    return {
        "plain": pandas.DataFrame({"a": [1, 2], "b": [0.5, None], "c": [1, 3]}, index=[5, 6]),
        "objects": pandas.DataFrame({"a": numpy.array([1, "x"], dtype=object)}),
        "nullable": pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")}),
        "unsigned": pandas.DataFrame({"a": pandas.array([1, None], dtype="UInt8")}),
        "texts": pandas.DataFrame({"a": ["x", "yz"]}),
        "categories": pandas.DataFrame({"a": pandas.Categorical(["u", "v", None])}),
        "twice_the_same_label": pandas.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]),
        "numbers_for_labels": pandas.DataFrame([[1, 2], [3, 4]]),
        "empty": pandas.DataFrame(),
        "split": pandas.DataFrame({"a": [1, 2]}).assign(b=3.5).assign(c=7),
    }


def same_item(value: Value, item: Any) -> bool:
    if item is None or str(item) in ("nan", "<NA>"):
        return value.atom is None or value.atom != value.atom
    return bool(value.atom == item)


def test_a_table_is_what_pandas_says() -> None:
    """Labels, dtypes, cells and index of each column are those that pandas gives."""
    for name, frame in frames().items():
        value = taken(frame)
        assert (value.kind, value.type, value.shape) == ("table", "pandas.DataFrame", frame.shape), name
        assert [label.atom for label, _ in value.items] == frame.columns.tolist(), name
        dtypes = [re.sub(r"^category\[.*", "category", column.dtype or "") for _, column in value.items]
        assert dtypes == list(map(str, frame.dtypes)), name
        for place, (_, column) in enumerate(value.items):
            cells = frame.iloc[:, place].tolist()
            assert all(map(same_item, column.items, cells)), name
            assert len(column.items) == len(cells), name
        assert [item.atom for item in value["index"].items] == frame.index.tolist(), name
        assert value.whole, name


def test_a_series_and_an_index() -> None:
    """A series has its index and its name."""
    series = frames()["plain"]["b"]
    value = taken(series)
    assert (value.kind, value.type, value.shape, value.dtype) == ("array", "pandas.Series", (2,), "float64")
    assert ([item.atom for item in value["index"].items], value["name"].atom) == ([5, 6], "b")
    assert [item.atom for item in taken(series.index).items] == [5, 6]


def test_what_of_a_table_is_not_read_is_marked() -> None:
    """Columns and rows beyond the limit are left out, and the value is not whole."""
    wide = type(frames()["plain"])(numpy.zeros((50, 40)))
    value = taken(wide, items=10)
    assert (len(value.items), value.length, value.cut) == (10, 40, "long")
    assert [(len(column.items), column.length) for _, column in value.items] == [(1, 50)] * 10
    assert not value.whole


def test_a_hierarchical_index_has_tuples() -> None:
    """As labels of rows and of columns, missing ones too; the names of its levels are a tuple."""
    frames()
    import pandas

    labels = [("x", 1), ("x", None), ("y", 1)]
    index = pandas.MultiIndex.from_tuples(labels, names=["a", None])
    frame = pandas.DataFrame({("u", 1): [1, 2, 3]}, index=index)
    value = taken(frame)
    assert value.whole
    assert [plain(label) for label, _ in value.items] == [("u", 1)]
    assert [plain(label) for label in value["index"].items] == labels
    assert plain(value["index_name"]) == ("a", None)
    assert [plain(label) for label in taken(index).items] == labels
    assert taken(index, items=2).cut == "long"


def test_an_array_of_pandas_is_what_pandas_says() -> None:
    """Its items, what is missing among them too; of one that is not read, that it is there."""
    frames()
    import pandas

    shown: dict[str, tuple[Any, list[Any]]] = {
        "category['a', 'b']": (pandas.Categorical(["b", "a", None, "b"]), ["b", "a", None, "b"]),
        "category['b' < 'a']": (pandas.Categorical(["b"], ["b", "a"], ordered=True), ["b"]),
        "Int64": (pandas.array([1, None]), [1, None]),
        "Float64": (pandas.array([1.5, None]), [1.5, None]),
        "boolean": (pandas.array([True, None]), [True, None]),
        "int64": (pandas.Series([3, 4]).array, [3, 4]),
        "datetime64[ns]": (
            pandas.to_datetime(["2020-01-01"]).as_unit("ns").array,
            ["2020-01-01T00:00:00.000000000"],
        ),
        "period[D] as ordinals": (pandas.period_range("1970-01-02", periods=2).array, [1, 2]),
        "interval[int64, right]": (pandas.interval_range(0, 2).array, [(0, 1), (1, 2)]),
    }
    for dtype, (array, items) in shown.items():
        value = taken(array)
        assert (value.kind, value.dtype, value.shape, value.whole) == ("array", dtype, (len(array),), True)
        assert [plain(item) for item in value.items] == items, dtype
        assert taken(pandas.Series(array)).dtype == dtype
    assert taken(pandas.arrays.SparseArray([0, 1])).kind == "opaque"


CATEGORIES = """
    import pandas
    def main():
        kinds = pandas.Categorical(["a", "b", "a"])
        counts = pandas.array([1, 2, None])
        kinds[0] = "b"
        counts[2] = 7
        kinds[1:] = None
        return kinds.codes.tolist(), int(counts.sum())
    main()
"""


@each_tracer
def test_changes_of_an_array_of_pandas_in_place_are_seen(tracer: Any, traced: Callable[..., Any]) -> None:
    frames()
    trace = traced(CATEGORIES, limits=TraceLimits(only=("main",)), tracer_class=tracer).trace
    seen = [
        [[item.atom for item in event.locals[name].items] for name in ("kinds", "counts")]
        for event in trace
        if event.line in (6, 7, 8)
    ]
    assert seen[0] == [["b", "b", "a"], [1, 2, None]]
    assert seen[1] == [["b", "b", "a"], [1, 2, 7]]
    assert seen[2] == [["b", None, None], [1, 2, 7]]


TABLES = """
    import pandas
    def main():
        frame = pandas.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"]})
        frame["c"] = frame["a"] * 2.5
        frame.loc[1, "a"] = 9
        frame.insert(0, "n", [7, 8, 9])
        column = frame["c"]
        del frame["b"]
        frame.iloc[0, 0] = -1
        return frame.sum().tolist(), column.iloc[0]
    main()
"""


@each_tracer
def test_changes_of_a_table_in_place_are_seen(tracer: Any, traced: Callable[..., Any]) -> None:
    """A new column, a cell, a column before the others, a column less: at the next event."""
    frames()
    trace = traced(TABLES, limits=TraceLimits(only=("main",)), tracer_class=tracer).trace
    seen = []
    for event in trace:
        if "frame" in event.locals and event.line in (5, 6, 7, 9, 10):
            value = event.locals["frame"]
            seen.append({label.atom: [cell.atom for cell in column.items] for label, column in value.items})
    assert seen[0]["c"] == [7.5, 2.5, 5.0]
    assert seen[1]["a"] == [3, 9, 2]
    assert [list(columns) for columns in seen[2:4]] == [["n", "a", "b", "c"], ["n", "a", "c"]]
    assert (seen[3]["n"], seen[4]["n"]) == ([7, 8, 9], [-1, 8, 9])


@needs_native
def test_the_tracers_agree_about_arrays_and_tables() -> None:
    """Row for row."""
    frames()
    programs = [
        Program(id=f"arrays-{n}", code=textwrap.dedent(text))
        for n, text in enumerate((CHANGES, HOSTILE, TABLES, CATEGORIES))
    ]
    setting = agree.Setting(limits=TraceLimits(events=5_000, only=("main",)), seconds=60)
    assert assert_agreed(programs, setting) == 4


CHANGED = """
import array
import numpy as np


def main():

    a = np.arange(6.0)
    v = a[2:5]
    v[0] = 99
    w = a.reshape(2, 3)
    w[1, 2] = -1
    f = np.asfortranarray(w)
    f[0, 1] = 7
    t = w.T
    t[0, 0] = 5
    s = a[::2]
    s[1] = 11
    a.shape = (3, 2)
    a.dtype = "i8"
    b = np.zeros(3, dtype=[("x", "i4"), ("y", "f4")])
    b.dtype.names = ("p", "q")
    b["p"][1] = 3
    o = np.array([[1], None], dtype=object)
    o[0].append(2)
    d = np.array(["2020-01-01"], dtype="M8[D]")
    d[0] += 3
    c = np.arange(2)
    c.resize(4, refcheck=False)
    c[3] = 8
    big = np.zeros(20000)
    big[3] = 1
    big[19999] = 2
    u = np.array(["abc", "de"])
    u[1] = "xyz"
    z = np.array(3)
    z[()] = 4
    e = np.zeros((0, 3))
    ba = bytearray(b"abcd")
    fb = np.frombuffer(ba, dtype="u1")
    ba[0] = 1
    fb[1] = 2
    c.flags.writeable = False
    bb = np.broadcast_to(np.arange(3), (2, 3))
    ar = array.array("d", [1, 2])
    na = np.frombuffer(ar)
    na[0] = 5
    class Sub(np.ndarray):
        pass
    q = np.arange(3).view(Sub)
    q.note = [1]
    q.note.append(2)
    q[0] = 9
    m = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    m[0] = 5
    m.mask[1] = False
    h = np.float16([1.5, 2])
    h *= 2
    x = np.array([3, 1, 2])
    x.sort()
    np.add(x, 1, out=x)
    x.byteswap(inplace=True)
    history = []
    for i in range(4):
        x = x + i
        history.append(x.copy())
        history[0][0] = i
        history[-1].fill(i)
    x.setflags(write=False)
    x.setflags(write=True)
    arr2 = x
    arr2 += 1
    del arr2
    mem = memoryview(x)
    mem[0] = 77
    k = np.array([b"ab", b"c"])
    k[1] = b"zz"
    l = np.ones(2, dtype=">i2")
    l[0] = 258
    l.dtype = l.dtype.newbyteorder("<")
    back = np.arange(3)
    back.dtype = "M8[s]"
    back.dtype = "i8"
    back.dtype = "M8[D]"
    back[0] += 1
    back.dtype = "i8"


main()
"""


@needs_native
@pytest.mark.parametrize("granularity", Granularity)
def test_the_tracers_agree_about_arrays_that_change(granularity: Granularity) -> None:
    """Memory, shape, type, names of fields, bases, large arrays, and objects in arrays change in place."""
    setting = replace(agree.Setting(), granularity=granularity)
    program = Program(id="changed", code=CHANGED)
    subprocess.run([sys.executable, "-c", CHANGED], check=True, timeout=120)
    assert assert_agreed([program], setting) == 1
