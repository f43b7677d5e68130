"""The variables after a cell: what is seen, what is said to have changed, and that nothing of the user's runs."""

import gc
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.notebook.state.capture import Capture, StateLimits, _differences, register
from deskcheck.notebook.state.state import KernelState, states
from deskcheck.notebook.trajectory.trajectory import Execution, Restart, Status

PATIENT = StateLimits(time_s=60)


class Cells:
    """Runs cells in a namespace as a kernel would, and keeps the trajectory."""

    def __init__(self, limits: StateLimits = PATIENT) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        exec("", self.names)
        self.hidden = dict(self.names)
        self.capture = Capture(limits)
        self.steps: list[Any] = []

    def run(self, source: str) -> KernelState:
        exec(source, self.names)
        found = self.capture.after_cell(self.names, self.hidden, source)
        self.steps.append(Execution(cell="a", source=source, order=("a",), status=Status.OK, state=found))
        state = list(states(self.steps))[-1][1]
        assert state is not None
        return state


def test_what_a_cell_changed() -> None:
    """Added, bound anew, changed in place (under every name) and removed are told apart."""
    cells = Cells()
    state = cells.run("x = [1]; y = x; z = 3; t = (1, [2])")
    assert state.added == ("x", "y", "z", "t")
    assert state.aliases() == [("x", "y")]
    assert cells.run("y.append(2)").mutated == ("y", "x")
    assert cells.run("z = 3").rebound == ()
    assert cells.run("z = 4").rebound == ("z",)
    state = cells.run("x = [1, 2]; del z")
    assert (state.rebound, state.removed) == (("x",), ("z",))
    assert state.aliases() == []
    assert cells.run("t[1].append(5)").rebound == ("t",)
    assert repr(state.variables["x"].value) == "[1, 2]"
    assert state.count == 3
    assert cells.run("1").variables.keys() == {"x", "y", "t"}


def test_a_restart_clears_the_state() -> None:
    """What was there before it is gone; after a resumption it is there again."""
    cells = Cells()
    cells.run("x = 1")
    for why, left in (("asked", ["y"]), ("resumed", ["x", "y"])):
        steps = [cells.steps[0], Restart(order=("a",), why=why)]
        again = Cells()
        again.run("y = 2")
        state = list(states([*steps, *again.steps]))[-1][1]
        assert state is not None
        assert sorted(state.variables) == left


HOSTILE = """
class Trap(type):
    def __getattribute__(cls, name): raise SystemExit('metaclass')
class Hostile:
    def boom(self, *args): raise SystemExit('ran')
    __repr__ = __eq__ = __hash__ = __len__ = __iter__ = __sizeof__ = __getattribute__ = __bool__ = boom
    __reduce_ex__ = __dir__ = __class__ = property(boom)
class Items(list):
    __iter__ = __len__ = __getitem__ = __repr__ = lambda *a: 1/0
class Text(str):
    __hash__ = str.__hash__
    __eq__ = lambda *a: 1/0
class Finalised:
    def __del__(self): print('finalised')
class Meta(metaclass=Trap): pass
h, items, text, meta = Hostile(), Items([1, 2]), Text('t'), Meta
cycle = Finalised(); cycle.me = cycle; del cycle
"""


def test_nothing_of_the_user_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Objects whose every method raises are described; garbage is not collected meanwhile."""
    gc.collect()
    cells = Cells()
    exec(HOSTILE, cells.names)
    found = cells.capture.after_cell(cells.names, cells.hidden, HOSTILE)
    assert capsys.readouterr().out == ""
    assert {"h", "items", "text", "meta"} <= found["variables"].keys()
    assert found["variables"]["items"]["length"] == 2
    assert found["variables"]["h"]["type"] == "Hostile"
    assert gc.isenabled()
    gc.collect()


@pytest.mark.parametrize(
    ("make", "name", "change"),
    [
        ("big = list(range(10**6))", "big", "big[3] = -1"),
        ("big = list(range(10**6))", "big", "big.append(1)"),
        ("big = dict.fromkeys(range(10**6))", "big", "big[0] = 1"),
        ("big = set(range(10**6))", "big", "big.add(-7)"),
        ("big = 'x' * 10**6", "big", "big += 'y'"),
        (
            "nodes = [[] for _ in range(10**5)]\nfor i, n in enumerate(nodes): n.append(nodes[i - 1])",
            "nodes",
            "nodes.pop()",
        ),
    ],
)
def test_large_values_are_cut_and_hashed(make: str, name: str, change: str) -> None:
    """What is recorded of a large value is small, says that it is cut, and tells a change that it can see."""
    cells = Cells()
    state = cells.run(make)
    variable = state.variables[name]
    assert variable.value.whole is False
    assert len(str(cells.steps[-1].state)) < 100_000
    assert cells.run(change).variables[name].hash != variable.hash


def test_few_of_very_many_variables_are_seen() -> None:
    """Those that a cell names and those that are new come first, the others in turn; the rest is counted."""
    cells = Cells(StateLimits(time_s=0.0))
    state = cells.run("globals().update({f'v{n}': n for n in range(2000)})")
    assert (state.count, state.unseen) == (2000, 1999)
    assert cells.run("v7 = 'seven'").added == ("v7",)
    assert len(cells.run("1").variables) == 3
    assert cells.run("del v7").removed == ("v7",)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(st.integers(0, 300), st.integers(0, 1 << 30), st.integers(0, 250), st.integers(0, 5))
def test_differences_of_names(size: int, seed: int, deleted: int, again: int) -> None:
    """New and removed names are those that sets give, however many."""
    choose = random.Random(seed)
    before = [f"n{n}" for n in range(size)]
    gone = choose.sample(before, min(size, deleted))
    back = gone[: min(again, len(gone))]
    after = [name for name in before if name not in gone] + back + ["m1", "m2"]
    new, removed = _differences(before, after)
    assert new == ["m1", "m2"]
    assert {*removed} == {*gone} - {*back}


def test_hidden_names_are_not_variables() -> None:
    """What IPython put there, its numbered outputs and inputs; but the user's own underscores are."""
    cells = Cells()
    cells.hidden["exit"] = cells.names["exit"] = object()
    assert cells.run("_ = __ = _12 = _i3 = _ih = 1; _mine = 2").variables.keys() == {"_mine"}
    assert cells.run("exit = 3").variables.keys() == {"_mine", "exit"}


def test_a_registered_describer_says_more() -> None:
    """What it returns is recorded; what it raises too."""
    register("Box", lambda box: {"side": box.side})
    cells = Cells()
    state = cells.run("class Box: pass\nb = Box(); b.side = 3; c = Box()")
    assert state.variables["b"].described == {"side": 3}
    assert state.variables["c"].described == {"error": "AttributeError: 'Box' object has no attribute 'side'"}


def test_frames_and_arrays() -> None:
    """Shape, dtypes, columns, head and size; a change in the middle of a small one, and at the ends of a large."""
    pytest.importorskip("pandas", reason="would have proved that frames are described")
    cells = Cells()
    state = cells.run(
        "import pandas, numpy\nframe = pandas.DataFrame({'a': numpy.arange(10**6), 'b': 1.5})\n"
        "array = numpy.zeros((10, 20), 'i4'); view = array[1:]; text = pandas.Series(['x', 'y'])"
    )
    frame, array = state.variables["frame"], state.variables["array"]
    assert (frame.shape, frame.columns) == ((10**6, 2), (("a", "int64"), ("b", "float64")))
    assert [repr(item) for item in frame.head[1]] == ["1", "1.5"]
    assert (frame.size_bytes, frame.size_method, frame.sampled) == (16 * 10**6, "nbytes", True)
    assert (array.shape, array.dtype, array.size_bytes, array.sampled) == ((10, 20), "int32", 800, False)
    assert cells.run("array[9, 19] = 1").mutated == ("array", "view")
    assert cells.run("frame.loc[10**6 - 1, 'a'] = 0").mutated == ("frame",)


def test_the_same_content_has_the_same_hash() -> None:
    """In another kernel, at other addresses, after another history."""
    one, two = Cells(), Cells()
    two.run("a = [[1], {'k': (2, [3])}]; b = list(a)")
    source = "class P: pass\nx = [[1], {'k': (2, [3])}, P()]; x.append(x); y = {1.5: 'é'}"
    hashes = [{n: s.run(source).variables[n].hash for n in "xy"} for s in (one, two)]
    assert hashes[0] == hashes[1]


LIBRARY = """
import random, string, numpy as np, pandas as pd
from fractions import Fraction
template = string.Template("a")
frame = pd.DataFrame({"a": [1, 2]})
series = pd.Series([1])
masked = np.ma.array([1, 2])
rng = np.random.default_rng(1)
own = random.Random(1)
"""
CHANGES = [
    ("template.template = 'b'", "template"),
    ("random.seed(3)", "random"),
    ("random.random()", "random"),
    ("np.random.seed(3)", "np"),
    ("frame.index.name = 'q'", "frame"),
    ("frame.columns.name = 'z'", "frame"),
    ("frame.attrs['unit'] = 'm'", "frame"),
    ("series.attrs['unit'] = 'm'", "series"),
    ("series.index.name = 'i'", "series"),
    ("masked[0] = np.ma.masked", "masked"),
    ("rng.random()", "rng"),
    ("own.random()", "own"),
]


def test_what_is_beside_values_changes_too() -> None:
    """Attributes of a library's objects, where generators stand, names of axes, `attrs` and masks: who looks
    at the state sees that the cell changed them, and nothing else."""
    pytest.importorskip("pandas", reason="would have proved that axes' names, attrs and masks are seen")
    kept = random.getstate()
    cells = Cells()
    try:
        cells.run(LIBRARY)
        for source, name in CHANGES:
            assert cells.run(source).mutated == (name,), source
            assert cells.run("1").mutated == ()
    finally:
        random.setstate(kept)


def test_equal_content_has_equal_hashes_still() -> None:
    """Names of axes count, and in another kernel they count the same."""
    pytest.importorskip("pandas", reason="would have proved that hashes of tables agree")
    source = "import pandas as pd; frame = pd.DataFrame({'a': [1]}); frame.index.name = 'q'"
    one, other = (Cells().run(source).variables["frame"].hash for _ in range(2))
    assert one == other != Cells().run(source.replace("'q'", "'r'")).variables["frame"].hash
