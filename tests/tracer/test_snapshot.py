"""Snapshots of values: exactly `repr` for what is built of builtins, and none of the program's code run.

Not: how values change between events (test_events, test_replay).
"""

import abc
import array
import collections
import dataclasses
import enum
import fractions
import functools
import gc
import itertools
import json
import operator
import pathlib
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import deskcheck
from deskcheck.recording import Value, decode, render
from deskcheck.tracer import TraceLimits
from deskcheck.tracer.result import WHOLE, snapshot
from tests.sample import examples

PROPERTY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def value_of(obj: object, limits: TraceLimits = WHOLE) -> Value:
    """The value of an object, after its encoded form has been through JSON text."""
    encoded, objects = snapshot(obj, limits)
    encoded, contents = json.loads(json.dumps([encoded, list(objects.items())]))
    return decode(encoded, dict(contents))


def text_strategy() -> st.SearchStrategy[str]:
    """Text of any code points, lone surrogates and emoji among them."""
    return st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
        ["\ud800", "\udcff\ud83d", "\U0001f600", "e\u0301", "'", '"', "'\"", "\\n\n\t\x00", "\u2028"]
    )


ints = (
    st.integers() | st.integers(-(1 << 300), 1 << 300) | st.sampled_from([1 << 63, -(1 << 63), (1 << 63) - 1])
)
floats = st.floats() | st.sampled_from([-0.0, 1e16, 1e-5, 5e-324, float("nan"), float("inf"), -float("inf")])
atoms = (
    st.none()
    | st.booleans()
    | ints
    | floats
    | st.complex_numbers()
    | text_strategy()
    | st.binary(max_size=12)
    | st.sampled_from([complex(-0.0, float("nan")), complex(0.0, -0.0), complex(float("inf"), -1.5)])
)
ranges = st.builds(range, ints, ints, ints.filter(bool)) | st.builds(range, st.integers(-5, 5))
slices = st.builds(slice, atoms, atoms, atoms)
constants = st.sampled_from([..., NotImplemented])
leaves = atoms | ranges | slices | constants
hashable = st.recursive(
    atoms | ranges | constants,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
        | st.frozensets(hashable, max_size=4)
        | st.binary(max_size=6).map(bytearray)
        | inner.map(lambda shared: [shared, (shared,), {0: shared}])
    )


builtins_values = st.recursive(leaves, containers, max_leaves=12)


@PROPERTY
@given(builtins_values)
@example([])
@example(())
@example((1,))
@example(set())
@example(frozenset())
@example({1: {}})
@example(bytearray())
@example([frozenset({frozenset()})])
@example({"a": ..., (): NotImplemented})
@example([-0.0, 1e400, True, 1, 1.0])
@example("x" * 20_000)
@example(list(range(2_000)))
def test_builtins_render_as_repr(obj: object) -> None:
    """Whatever is built of builtins renders as its repr, and says so."""
    value = value_of(obj)
    assert render(value) == repr(obj)
    assert value.builtin
    assert value.whole


@st.composite
def graphs(draw: st.DrawFn) -> list[Any]:
    """Lists and dicts that hold one another, themselves, and leaves."""
    nodes: list[Any] = [
        [] if is_list else {} for is_list in draw(st.lists(st.booleans(), min_size=1, max_size=5))
    ]
    for node in nodes:
        for key in range(draw(st.integers(0, 3))):
            item = draw(
                st.sampled_from(nodes) | leaves | st.sampled_from(nodes).map(lambda inner: (inner, inner))
            )
            if isinstance(node, list):
                node.append(item)
            else:
                node[key] = item
    return nodes


def _ring(*items: int) -> list[Any]:
    """Two dicts that hold one another, and a third that holds both."""
    nodes: list[Any] = [{}, {}, {}]
    for (node, key), item in zip(((0, 0), (1, 0), (2, 0), (2, 1)), items, strict=True):
        nodes[node][key] = nodes[item]
    return nodes


def test_a_dense_graph_is_decoded_in_bounded_time() -> None:
    """There are more ways through 40 lists that all hold all of them than anyone could follow."""
    nodes: list[Any] = [[] for _ in range(40)]
    for node in nodes:
        node.extend(nodes)
    assert value_of(nodes[0]).whole


@PROPERTY
@given(graphs())
@example(_ring(1, 0, 0, 1))
def test_cycles_render_as_repr(nodes: list[Any]) -> None:
    """A list or dict that holds itself, however deep, renders as its repr: with `[...]` and `{...}`. Of two equal
    tuples, one in the other, it is not known whether they are one."""
    held = [each for node in nodes for each in (node if isinstance(node, list) else node.values())]
    pairs = [id(each[0]) for each in held if isinstance(each, tuple)]
    for node in nodes:
        value = value_of(node)
        assert render(value) == repr(node)
        assert value.builtin or len({*pairs}) < len(pairs)


def test_a_tuple_that_holds_itself_is_not_rendered_as_its_repr() -> None:
    """Python writes ``(...)`` where the tuple comes again, the rendering goes on to the list: it is not said to
    be the repr. Of a list that holds itself by way of a tuple it is."""
    inner: list[Any] = [1]
    inner.append((2, inner))
    around = inner[1]
    for obj in (around, [around], {"k": around}):
        value = value_of(obj)
        assert render(value) != repr(obj)
        assert not value.builtin
    assert render(value_of(inner)) == repr(inner)
    assert value_of(inner).builtin
    assert value_of(([inner], [2])).builtin


def test_the_largest_int_has_a_text() -> None:
    """An int of 4300 digits is whole; one more digit and its length is all that is kept, as for `repr`."""
    for largest in (10**4299 + 7, 10**4300 - 1, 1 - 10**4300):
        whole = value_of(largest)
        assert (render(whole), whole.whole) == (repr(largest), True)
    for larger in (10**4300, -(10**4300), 10**9999):
        cut = value_of(larger)
        assert (cut.cut, cut.length, cut.whole) == ("long", larger.bit_length(), False)


def test_an_int_that_the_interpreter_may_not_write_out_is_cut() -> None:
    """Where the program has narrowed what an int may be written as, a longer one is cut and not an error."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert value_of(10**700).cut == "long"
    finally:
        sys.set_int_max_str_digits(before)


# -- the program's code --------------------------------------------------------------------------

CALLED: collections.Counter[str] = collections.Counter()


def _counting(name: str, result: Any = None) -> Callable[..., Any]:
    def hook(*args: Any, **kwargs: Any) -> Any:
        CALLED[name] += 1
        if isinstance(result, type) and issubclass(result, BaseException):
            raise result(name)
        return result

    return hook


HOOKS: dict[str, Any] = {
    "__repr__": "hostile",
    "__str__": "hostile",
    "__format__": "hostile",
    "__eq__": True,
    "__ne__": True,
    "__lt__": True,
    "__hash__": 7,
    "__bool__": False,
    "__len__": 3,
    "__length_hint__": 3,
    "__iter__": TypeError,
    "__next__": StopIteration,
    "__reversed__": TypeError,
    "__contains__": True,
    "__getitem__": TypeError,
    "__missing__": 0,
    "__call__": None,
    "__getattr__": AttributeError,
    "__dir__": [],
    "__del__": None,
    "__index__": 1,
    "__int__": 1,
    "__float__": 1.0,
    "__bytes__": b"",
    "__sizeof__": 0,
    "__reduce__": TypeError,
    "__reduce_ex__": TypeError,
    "__getstate__": TypeError,
    "__copy__": None,
    "__deepcopy__": None,
    "keys": [],
    "values": [],
    "items": [],
}
META_HOOKS = (
    "__repr__",
    "__eq__",
    "__hash__",
    "__iter__",
    "__len__",
    "__bool__",
    "__getattr__",
    "__instancecheck__",
)


class Meta(type):
    """A metaclass whose every hook counts."""

    def __getattribute__(cls, name: str) -> Any:
        CALLED["meta __getattribute__"] += 1
        return super().__getattribute__(name)

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        CALLED["meta __name__"] += 1
        return "not the name"

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        CALLED["meta __module__"] += 1
        return "not the module"

    def mro(cls) -> list[type]:
        return super().mro()


for _hook in META_HOOKS:
    setattr(Meta, _hook, _counting(f"meta {_hook}", AttributeError if _hook == "__getattr__" else 0))


class Property:
    """A descriptor that counts."""

    def __get__(self, instance: Any, owner: Any) -> str:
        CALLED["__get__"] += 1
        return "computed"

    def __set__(self, instance: Any, value: Any) -> None:
        CALLED["__set__"] += 1


def _getattribute(self: Any, name: str) -> Any:
    CALLED["__getattribute__"] += 1
    return object.__getattribute__(self, name)


def hostile_class(base: type) -> Any:
    """A class on a builtin whose every special method, property and metaclass hook counts."""
    namespace: dict[str, Any] = {name: _counting(name, result) for name, result in HOOKS.items()}
    namespace.update(
        __getattribute__=_getattribute,
        __module__="__main__",
        __class__=property(_counting("__class__", int)),
        computed=property(_counting("property", 1)),
        described=Property(),
    )
    return Meta("Hostile", (base,), namespace)


CONTENTS: dict[type, Any] = {
    object: None,
    list: [1, [2]],
    dict: {"k": [1]},
    set: {1, "b"},
    frozenset: {1},
    tuple: (1, [2]),
    str: "text",
    bytes: b"bytes",
    bytearray: b"array",
    int: 5,
    float: 2.5,
    complex: 1j,
    collections.deque: [1, 2],
    collections.OrderedDict: {"o": 1},
    ValueError: "message",
    types.SimpleNamespace: None,
}


@pytest.fixture(scope="module")
def few_objects_to_collect() -> Iterator[None]:
    """Whatever else this process has made is none of the collector's business for a while: each look at it takes long."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects_to_collect")
@pytest.mark.parametrize("base", CONTENTS, ids=lambda base: base.__name__)
def test_no_code_of_the_program_runs(base: type) -> None:
    """A snapshot of an instance of a class that overrides everything calls none of it, alone, in containers,
    as a key, with attributes; and neither do decoding and rendering."""
    cls = hostile_class(base)
    contents = CONTENTS[base]
    obj = cls() if contents is None else cls(contents)
    if base not in (str, bytes, int):
        object.__setattr__(obj, "field", [obj])
    world = [obj, (obj,), {"k": obj}, types.SimpleNamespace(a=obj), cls]
    if cls.__hash__ is not None:
        world.append({obj: 1})
        world.append(frozenset({obj}))
    gc.collect()  # objects of the cases before this one
    CALLED.clear()
    texts = [render(value_of(each)) for each in world] + [render(value_of(world))]
    assert CALLED == {}
    for text in texts:
        assert "Hostile" in text
        assert "hostile" not in text


def test_an_ordered_dict_shows_its_own_order() -> None:
    """As moved, not as inserted; and whole where methods of dict have changed it behind its back."""
    ordered = collections.OrderedDict(a=1, b=2, c=3)
    ordered.move_to_end("c", last=False)
    ordered.move_to_end("a")
    assert render(value_of(ordered)).endswith("({'c': 3, 'b': 2, 'a': 1})")
    dict.__delitem__(ordered, "a")
    dict.__setitem__(ordered, "d", 4)
    text = render(value_of(ordered))
    assert all(pair in text for pair in ("'c': 3", "'b': 2", "'d': 4"))
    assert "'a'" not in text


def test_an_iterator_of_the_program_is_not_advanced() -> None:
    """An iterator or generator that the program wrote stands where it stood."""

    class Countdown:
        def __init__(self) -> None:
            self.n = 3

        def __iter__(self) -> "Countdown":
            return self

        def __next__(self) -> int:
            self.n -= 1
            if self.n < 0:
                raise StopIteration
            return self.n

    def generator() -> Iterator[int]:
        yield from range(3)

    for make in (Countdown, generator):
        one, other = make(), make()
        next(one), next(other)
        value_of([one])
        assert list(one) == list(other)


ITERATORS: dict[str, Callable[[], Iterator[Any]]] = {
    "list": lambda: iter([1, 2, 3]),
    "reversed list": lambda: reversed([1, 2, 3]),
    "tuple": lambda: iter((1, 2, 3)),
    "str": lambda: iter("abc"),
    "wide str": lambda: iter("äbç"),
    "bytes": lambda: iter(b"abc"),
    "bytearray": lambda: iter(bytearray(b"abc")),
    "range": lambda: iter(range(3)),
    "long range": lambda: iter(range(1 << 70, (1 << 70) + 3)),
    "dict": lambda: iter({1: 2, 3: 4, 5: 6}),
    "items": lambda: iter({1: 2, 3: 4, 5: 6}.items()),
    "values": lambda: iter({1: 2, 3: 4, 5: 6}.values()),
    "reversed dict": lambda: reversed({1: 2, 3: 4, 5: 6}),
    "set": lambda: iter({1, 2, 3}),
    "deque": lambda: iter(collections.deque([1, 2, 3])),
    "zip": lambda: zip([1, 2, 3], "abc", strict=True),
    "enumerate": lambda: enumerate("abc"),
    "map": lambda: map(str, [1, 2, 3]),
    "filter": lambda: filter(None, [1, 0, 2, 3]),
    "callable": lambda: iter(iter([1, 2, 3, 4]).__next__, 4),
    "count": lambda: itertools.islice(itertools.count(5), 3),
    "cycle": lambda: itertools.islice(itertools.cycle([1, 2]), 5),
    "chain": lambda: itertools.chain([1], [2, 3]),
    "accumulate": lambda: itertools.accumulate([1, 2, 3]),
    "compress": lambda: itertools.compress("abcd", [1, 0, 1, 1]),
    "takewhile": lambda: itertools.takewhile(bool, [1, 2, 3, 0]),
    "dropwhile": lambda: itertools.dropwhile(lambda n: n < 1, [0, 1, 2, 3]),
    "filterfalse": lambda: itertools.filterfalse(bool, [0, 0, 1, 0]),
    "starmap": lambda: itertools.starmap(max, [(1, 2), (3, 4), (5, 6)]),
    "zip_longest": lambda: itertools.zip_longest([1], [1, 2, 3]),
    "product": lambda: itertools.product([1, 2], [3, 4]),
    "permutations": lambda: itertools.permutations([1, 2, 3]),
    "combinations": lambda: itertools.combinations([1, 2, 3], 2),
    "groupby": lambda: map(next, map(operator.itemgetter(1), itertools.groupby([1, 1, 2, 3]))),
    "pairwise": lambda: itertools.pairwise([1, 2, 3, 4]),
    "repeat": lambda: itertools.repeat("x", 3),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_an_iterator_is_not_advanced_and_shows_where_it_stands(name: str) -> None:
    """After any number of steps a snapshot leaves the rest of an iterator as it is, shows another place than
    after the step before, and no address."""
    for steps in range(4):
        one, other = ITERATORS[name](), ITERATORS[name]()
        for _ in range(steps):
            next(one), next(other)
        here = render(value_of(one))
        assert "0x" not in here
        before = value_of(one)
        try:
            next(one), next(other)
        except StopIteration:
            pass
        else:
            assert value_of(one) != before
        assert list(one) == list(other)
        value_of(one)  # exhausted


# -- limits --------------------------------------------------------------------------------------

SMALL = TraceLimits(items=3, text_chars=5, int_digits=10, depth=3, objects=6)


@pytest.mark.parametrize(
    ("obj", "why"),
    [
        ("x" * 6, "long"),
        (b"x" * 6, "long"),
        (10**12, "whole"),
        (10**40, "long"),
        ([1, 2, 3, 4], "long"),
        ((1, 2, 3, 4), "long"),
        ({1, 2, 3, 4}, "long"),
        (frozenset({1, 2, 3, 4}), "long"),
        ({1: 1, 2: 2, 3: 3, 4: 4}, "long"),
        (bytearray(b"abcd"), "long"),
        (collections.deque([1, 2, 3, 4]), "long"),
        ([[[[[]]]]], "deep"),
        ((((((),),),),), "deep"),
        ([{"a": ([[1]],)}], "deep"),
        ([[[], [], []], [[], [], []]], "many"),
        ("xxxxx", "whole"),
        ([1, 2, 3], "whole"),
        ([[[1]]], "whole"),
    ],
    ids=repr,
)
def test_what_is_left_out_is_marked(obj: object, why: str) -> None:
    """A value beyond a limit is not whole, and says where and why: long, deep, many."""
    value = value_of(obj, SMALL)
    cuts, todo = set(), [value]
    while todo:
        inner = todo.pop()
        cuts.add(inner.cut)
        todo.extend(inner.children())
    assert cuts - {None} == ({why} - {"whole"})
    assert value.whole == value.builtin == (why == "whole")
    if why == "whole":
        assert render(value) == repr(obj)
    else:
        assert render(value) != repr(obj)


@PROPERTY
@given(builtins_values)
def test_a_value_is_whole_exactly_if_it_renders_as_repr(obj: object) -> None:
    """Under narrow limits a value either is whole and renders as its repr, or says that it is not."""
    value = value_of(obj, SMALL)
    if value.whole:
        assert render(value) == repr(obj)
    else:
        assert not value.builtin


def test_length_of_what_is_cut_is_the_true_one() -> None:
    """A cut value keeps its first items, and its length is the real one."""
    value = value_of(list(range(50)), SMALL)
    assert (len(value.items), value.length) == (3, 50)
    text = value_of("abcdefgh", SMALL)
    assert (text.atom, text.length) == ("abcde", 8)


# -- everything else -----------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: list[int]


class Colour(enum.Enum):
    RED = 1


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = [1]


Pair = collections.namedtuple("Pair", "left right")


Item = TypeVar("Item")


class Stack(abc.ABC, Generic[Item]):
    def __init__(self) -> None:
        self._items = [1]
        self.__own = 2


class Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="worker")
        self._number = 3


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (Stack, {"_items": "[1]", "_Stack__own": "2"}),
        (Stack[int], {"_items": "[1]", "_Stack__own": "2"}),
        (Worker, {"_number": "3"}),
        (lambda: fractions.Fraction(1, 3), {"_denominator": "3", "_numerator": "1"}),
    ],
)
def test_private_attributes_are_shown_unless_a_library_uses_them(
    make: Callable[[], object], shown: dict[str, str]
) -> None:
    """A thread's `_target` is hidden; `_items` of a class that derives from `abc.ABC` is not."""

    def program(made: object) -> object:
        return made

    *_, last = deskcheck.trace(program, make()).trace
    assert {name: str(value) for name, value in last.locals["made"].fields} == shown


_parts = st.lists(st.text(st.sampled_from("/.ab é'"), max_size=6), max_size=4)


@PROPERTY
@given(parts=_parts, kind=st.sampled_from([pathlib.PurePosixPath, pathlib.PosixPath]))
@example(parts=[], kind=pathlib.PosixPath)
@example(parts=["///a", "//b", "./c/."], kind=pathlib.PurePosixPath)
def test_paths_render_as_repr(parts: list[str], kind: type[pathlib.PurePosixPath]) -> None:
    path = kind(*parts)
    for made in (path, path.parent, path / "x", kind("/r") / path):
        assert render(value_of(made)) == repr(made)


def test_a_path_of_odd_parts_is_not_asked() -> None:
    """What is no plain text has code of its own, which does not run."""

    class Loud(str):
        def startswith(self, *_: Any) -> bool:
            raise AssertionError("it was called")

    made = pathlib.PurePosixPath(Loud("a"))
    assert render(value_of(made)) in ("<pathlib.PurePosixPath#1>", "PurePosixPath('a')")


@pytest.mark.parametrize(
    ("made", "dtype"),
    [
        (array.array("b", [-1, 2]), "int8"),
        (array.array("H", [1, 65535]), "uint16"),
        (array.array("q", [-(1 << 63)]), "int64"),
        (array.array("f", [0.5]), "float32"),
        (array.array("d"), "float64"),
    ],
)
def test_an_array_of_the_library_shows_its_numbers(made: Any, dtype: str) -> None:
    value = value_of(made)
    assert (value.kind, value.dtype, [item.atom for item in value.items]) == ("array", dtype, list(made))
    assert value_of(array.array("i", range(5)), TraceLimits(items=3)).length == 5


def _world() -> list[Any]:
    point = Point(1, [2])

    def closure() -> Any:
        return point

    return [
        point,
        Point,
        Colour.RED,
        Colour,
        Slotted(),
        Pair(1, [2]),
        closure,
        lambda: 0,
        point.__eq__,
        [].append,
        len,
        int,
        object(),
        type,
        Ellipsis,
        sys,
        re.compile("a"),
        open,
        Exception("e"),
        ExceptionGroup("g", [OSError(2, "x")]),
        collections.defaultdict(list, a=[1]),
        collections.Counter("aab"),
        collections.ChainMap({1: 2}),
        types.MappingProxyType({1: 2}),
        {}.keys(),
        {1: 2}.items(),
        memoryview(b"x"),
        itertools.count(),
        iter([]),
        (n for n in "a"),
        property(),
        staticmethod(len),
        functools.partial(print, Point, sep=Slotted()),
        sys.stdout,
        sys.flags,
        types.SimpleNamespace(a=1),
        collections.UserDict(a=1),
        super(Point),
        Point.__eq__,
        str.join,
        int.__add__,
        (1).__add__,
        types.CellType(1),
        Colour,
        enum.IntFlag("Bits", "A B")(1),  # type: ignore[operator]  # mypy knows only the class statement
        sys._getframe(),
        closure.__code__,
        NotImplemented,
        collections.abc.Mapping,
        list[int],
        int | None,
    ]


def test_no_address_ever() -> None:
    """No value of any kind shows an address."""
    for obj in _world():
        assert not re.search(r"0x[0-9a-fA-F]{5,}", render(value_of(obj), ids=True)), type(obj)
        assert str(id(obj)) not in json.dumps(snapshot(obj)[1])


@PROPERTY
@given(st.lists(builtins_values, max_size=3), st.integers(0, 3))
def test_a_snapshot_is_of_its_moment(values: list[Any], more: int) -> None:
    """What happens to an object after its snapshot does not show in it."""
    before = repr(values)
    value = value_of(values)
    values.extend([more, values])
    assert render(value) == before


@PROPERTY
@given(builtins_values)
def test_equal_text_for_equal_state(obj: object) -> None:
    """Two snapshots of one object that has not changed are the same, to the last byte."""
    assert json.dumps(snapshot(obj)) == json.dumps(snapshot(obj))


def test_shared_objects_have_one_number() -> None:
    """An object that is reached twice has one number; equal objects that are two have two."""
    shared: list[int] = []
    value = value_of([shared, shared, []])
    one, again, other = value.items
    assert one.id == again.id != other.id
