"""Whatever a variable holds, its state can be recorded, read, shown and masked."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deskcheck.notebook.settings import VIEWS
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.context import context
from deskcheck.notebook.state.state import states
from deskcheck.notebook.state.views import estimate_tokens, view
from deskcheck.notebook.trajectory.masking import Mask
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from deskcheck.recording.rules import check_value
from deskcheck.recording.value import render

np = pytest.importorskip("numpy", reason="would have proved that arrays of any type are recorded")
pd = pytest.importorskip("pandas", reason="would have proved that tables of any type are recorded")

_SHAPES = st.sampled_from([(), (0,), (1,), (3,), (41,), (200,), (2, 3), (0, 2), (2, 2, 2)])
_SIMPLE = st.sampled_from("? b H i4 >i8 f2 f4 f8 g F D S3 U2 M8[ns] M8[D] m8[h] O V5".split())
_FIELDS = st.recursive(
    _SIMPLE,
    lambda inner: st.lists(
        st.tuples(inner, st.sampled_from([(), (2,), (3, 1), (0,)])), min_size=1, max_size=3
    ).map(lambda parts: [(f"f{n}", kind, shape) for n, (kind, shape) in enumerate(parts)]),
    max_leaves=4,
)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    array = np.zeros(draw(_SHAPES), np.dtype(draw(_FIELDS)))
    form = draw(st.sampled_from(["plain", "masked", "record", "first", "view", "matrix"]))
    if form == "masked":
        mask = draw(st.booleans())
        with np.errstate(over="ignore"):  # numpy's own value for what is masked is too large for float16
            return np.ma.masked_array(array, mask=mask)
    if form == "record":
        return array.view(np.recarray)
    if form == "first" and array.size:
        return array.flat[0]
    if form == "view":
        return array[..., ::-1] if array.ndim else array
    if form == "matrix" and array.ndim == 2 and not array.dtype.names:
        return array.view(np.matrix)
    return array


_LABELS = st.sampled_from(["a", "b", 1, 2.5, None, ("x", 1), True, b"c", float("nan")])


def _columns(rows: int) -> st.SearchStrategy[Any]:
    times = pd.date_range("2020", periods=rows, tz="Europe/Paris")
    made = [
        list(range(rows)),
        pd.array([None] * rows, dtype="Int64"),
        pd.array([True, None] * rows, dtype="boolean")[:rows],
        pd.array(["x", None] * rows, dtype="string")[:rows],
        pd.Categorical(["x", None] * rows)[:rows],
        pd.arrays.SparseArray([0, 1] * rows)[:rows],
        times,
        pd.period_range("2020", periods=rows, freq="M"),
        pd.interval_range(0, rows) if rows else [],
        pd.timedelta_range("1h", periods=rows),
        [[n] for n in range(rows)],
        [1 + 2j] * rows,
        [float("nan")] * rows,
        [pd.NaT] * rows,
    ]
    return st.sampled_from(made)


@st.composite
def tables(draw: st.DrawFn) -> Any:
    rows = draw(st.sampled_from([0, 1, 3, 50]))
    labels = draw(st.lists(_LABELS, max_size=5))
    frame = pd.DataFrame(
        {n: pd.Series(draw(_columns(rows)), index=range(rows)) for n, _ in enumerate(labels)},
        index=range(rows),
    )
    if labels:
        frame.columns = pd.Index(labels, dtype=object, tupleize_cols=draw(st.booleans()))
    if draw(st.booleans()) and rows:
        frame.index = pd.MultiIndex.from_arrays([range(rows), ["k"] * rows], names=["n", None])
    form = draw(st.sampled_from(["frame", "series", "index", "array", "groups", "wide", "inside"]))
    if form == "series" and frame.shape[1]:
        return frame.iloc[:, 0]
    if form == "index":
        return frame.index
    if form == "array" and frame.shape[1]:
        return frame.iloc[:, 0].array
    if form == "groups" and frame.shape[1]:
        return frame.groupby(level=0)
    if form == "wide":
        return pd.DataFrame(np.zeros((2, 100)))
    return {"inside": [frame]} if form == "inside" else frame


@settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck])
@given(st.lists(st.one_of(arrays(), tables()), min_size=1, max_size=3))
def test_every_value_is_recorded_and_shown(values: list[Any]) -> None:
    """Two looks, the second after a change: valid rows, decoded, rendered, masked, in every view."""
    names = {f"v{n}": value for n, value in enumerate(values)}
    capture = Capture(StateLimits(time_s=60))
    rows = [capture.after_cell(names, {}, "")]
    names["v0"] = [names["v0"], 1]
    rows.append(capture.after_cell(names, {}, ""))
    rows = json.loads(json.dumps([*rows, Mask().state(rows[0])]))
    for row in rows:
        for variable in row["variables"].values():
            objects = {int(number): content for number, content in variable.get("objects", {}).items()}
            check_value(variable["value"], {str(n): c for n, c in objects.items()})
    steps = [Execution(cell="a", source="", status=Status.OK, order=("a",), state=row) for row in rows]
    for _, state in states(steps):
        assert state is not None
        for variable in state.variables.values():
            assert render(variable.value)
            assert variable.columns is not None
            assert variable.head is not None
        for kind in VIEWS:
            text = view(state, kind, budget=300, names=[*names] if kind == "used" else None)
            assert text.tokens <= 300
    space = {"context": context, **names}
    for budget in (100, 3000):
        exec(f"said = context(budget={budget}, time_s=60)", space)
        assert estimate_tokens(space["said"]) <= budget


def test_a_subarray_field() -> None:
    """The structured dtype that once failed, with its item and a field of it as names of their own."""
    array = np.zeros(2, [("x", np.int64, 3), ("y", np.int32)])
    row = Capture(StateLimits(time_s=60)).after_cell({"a": array, "b": array[0], "c": array["x"]}, {}, "")
    step = Execution(cell="a", source="", status=Status.OK, order=("a",), state=json.loads(json.dumps(row)))
    ((_, state),) = states([step])
    assert state is not None
    assert state.variables["a"].value.whole
