"""What an assistant is told of a kernel: numbers whole or rounded, signatures, estimators, graphs, imports,
missing names. What knows the answers: `inspect`, networkx, scikit-learn, torch, Python itself."""

import builtins
import inspect
import json
import math
import re
import statistics
import textwrap
import traceback
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.context import context
from deskcheck.notebook.state.names import names_unbound
from deskcheck.notebook.state.signatures import parameters
from deskcheck.notebook.state.truncate import DIGITS, truncate
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.recording.value import Value, decode
from tests.sample import examples

FUNCTIONS = [
    each
    for module in (inspect, json, re, statistics, textwrap, traceback)
    for each in vars(module).values()
    if inspect.isfunction(each)
    and "__text_signature__" not in vars(each)  # which tells `inspect` another one
]


def seen(obj: Any) -> Value:
    """As a kernel's state has it."""
    row = Capture(StateLimits(time_s=60)).after_cell({"it": obj}, {}, "")["variables"]["it"]
    return decode(row["value"], {int(number): each for number, each in row.get("objects", {}).items()})


def asked(source: str, names: list[str] | None = None, **given: Any) -> list[str]:
    """The context of a namespace in which a source ran, line by line."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(source, space)
    here = {"context": context, "names": names, "given": {"time_s": 60, **given}}
    return str(eval("context(names, **given)", space, here)).splitlines()


# -- values ----------------------------------------------------------------------------------------

_NUMBERS = st.floats() | st.integers() | st.complex_numbers()
_NUMBER = re.compile(r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|inf|nan)j?")


def numbers_of(obj: Any) -> set[str]:
    """All texts that numbers in it may have: whole, and rounded."""
    if isinstance(obj, dict):
        return {text for pair in obj.items() for each in pair for text in numbers_of(each)}
    if isinstance(obj, list | tuple):
        return {text for each in obj for text in numbers_of(each)}
    if isinstance(obj, str):
        return set()
    if isinstance(obj, int):
        return {repr(obj), f"{Decimal(obj):.{DIGITS - 1}e}"}
    return {repr(obj).strip("()"), f"{obj:.{DIGITS}g}"}


@settings(max_examples=examples(200), deadline=None)
@given(
    obj=st.recursive(
        _NUMBERS,
        lambda inner: st.lists(inner, max_size=60) | st.tuples(inner) | st.dictionaries(st.integers(), inner),
        max_leaves=80,
    ),
    chars=st.integers(0, 300),
)
@example(obj=[3.141592653589793 * n for n in range(1000)], chars=60)
@example(obj={"pi": 3.141592653589793, "many": [1 / 3] * 50}, chars=30)
@example(obj=2**200, chars=60)
def test_no_number_is_cut(obj: Any, chars: int) -> None:
    """Whatever the room, each number that is shown is one of the value's, whole or rounded; that numbers are
    rounded is said."""
    found = truncate(seen(obj), chars)
    known = {each for text in numbers_of(obj) for each in _NUMBER.findall(text)}
    shown = re.sub(r"\.\.\. \d+ more|<int of \d+ bits>|\.\.\.|'\w*'", "", found.text)
    assert set(_NUMBER.findall(shown)) <= known
    if not found.rounded and not found.cut and not isinstance(obj, int):
        assert found.text == repr(obj)


def test_what_is_cut_is_cut_between_elements() -> None:
    """As many elements as there is room for, and how many others there are; texts at the end of a word."""
    assert truncate(seen(list(range(1000))), 30).text == "[0, 1, 2, 3, 4, 5, ... 994 more]"
    assert truncate(seen([1 / 3] * 9), 60).text == "[0.333333, 0.333333, 0.333333, 0.333333, ... 5 more]"
    assert truncate(seen({"a": list(range(50)), "b": 1}), 40).text == "{'a': [0, ... 49 more], 'b': 1}"
    assert truncate(seen("a long text with pi, 3.14159265, in it"), 30).text == "'a long text with pi,'..."
    assert truncate(seen(10**80), 60).text == "1.00000e+80"
    assert truncate(seen(3.141592653589793), 5).text == "3.141592653589793"


def test_rounding_is_said() -> None:
    """Of numbers in a list that has no room for all their digits, and of no others."""
    source = "import math\nvals = [math.pi * i for i in range(1000)]\npi = math.pi\nfew = [math.pi]"
    lines = asked(source, ["vals", "pi", "few"], budget=150)
    assert lines[0].startswith("vals: list, length 1000 = [0.0, 3.14159, 6.28319, ")
    assert lines[0].endswith(" more] (rounded to 6 digits)")
    assert lines[1:] == ["pi: float = 3.141592653589793", "few: list = [3.141592653589793]"]


def test_objects_have_no_numbers_of_identity() -> None:
    """Instances, cycles, functions in containers: without the numbers that tell aliases apart elsewhere."""
    source = (
        "class Node:\n    def __init__(self, next): self.next = next; self.f = len; self.g = lambda: 0\n"
        "ring = Node(None); ring.next = ring\nlists = [[], []]; lists.append(lists)\nnodes = {1: Node(ring)}"
    )
    assert not [line for line in asked(source, budget=2000) if re.search(r"#\d", line)]


def test_similar_columns_are_one() -> None:
    """Numbered columns of one type in a row; the names of all others stand before any value."""
    pytest.importorskip("pandas", reason="would have proved what is told of tables")
    source = (
        "import pandas as pd\nwide = pd.DataFrame({f'p{i}': [i / 3] for i in range(30)} | {'label': ['x']})\n"
        "days = pd.Series([1.5, 2.5], index=pd.date_range('2024-01-01', periods=2), name='price')\n"
        "many = pd.DataFrame({c: [1.5] * 9 for c in 'abcdefgh'})"
    )
    assert asked(source, ["wide", "days"], budget=300) == [
        "wide: pandas.DataFrame, shape (1, 31)",
        "    p0 to p29, 30 columns: float64 p0 = [0.0]",
        "    label: str ['x']",
        "days: pandas.Series, shape (2,), float64, named price, index ['2024-01-01', '2024-01-02'] = [1.5, 2.5]",
    ]
    names = ", ".join(f"{c} (float64)" for c in "abcdefgh")
    assert asked(source, ["many"], budget=60)[1] == f"    columns: {names}"


# -- functions and classes -------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__qualname__)
def test_parameters_are_those_of_inspect(function: Any) -> None:
    """Of functions of the standard library, as `inspect.signature` writes them."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    assert parameters(function, lambda name, value: repr(value)) == str(inspect.signature(function))


def test_functions_and_classes() -> None:
    """Signature, first line of the docstring, public methods; decorated ones by what is inside."""
    source = textwrap.dedent('''
        import dataclasses, enum, functools
        from typing import Callable, Optional
        def area(r: float, *, unit: str = "cm", scale: Optional[int] = None) -> float:
            """
            Area of a circle.

            More of it."""
        def deco(f):
            @functools.wraps(f)
            def inner(*a, **k): return f(*a, **k)
            return inner
        @deco
        def greet(name, /, *args, loud=False, **rest): "Say hello."
        @functools.cache
        def fib(n): return n
        async def fetch(url, cb: Callable[[int], str] = print): ...
        class Loader(list):
            """Loads batches."""
            def __init__(self, path, batch=[1, 2]): ...
            def load(self, n: int) -> list[int]: ...
            @property
            def total(self): ...
            @classmethod
            def of(cls, path): ...
            @staticmethod
            def helper(x): ...
            def _private(self): ...
            def __call__(self, key): ...
        @dataclasses.dataclass
        class Point:
            x: int
            y: float = 0.5
        class Color(enum.Enum):
            RED = 1
            BLUE = 2
        @functools.lru_cache(None)
        @dataclasses.dataclass(frozen=True)
        class Tile:
            letter: str
    ''')
    names = ["area", "greet", "fib", "fetch", "Loader", "Point", "Color", "Tile"]
    assert asked(source, names, budget=1000) == [
        "area: function(r: float, *, unit: str = 'cm', scale: int | None = None) -> float, \"Area of a circle.\"",
        'greet: function(name, /, *args, loud=False, **rest), "Say hello."',
        "fib: function(n)",
        "fetch: async function(url, cb: Callable[[int], str] = <built-in function print>)",
        'Loader: class(path, batch=[1, 2]), extends list, "Loads batches."',
        "    methods: load(n: int) -> list[int], total, of(path), helper(x), __call__(key)",
        "Point: class(x: int, y: float = 0.5)",
        "Color: class, extends enum.Enum",
        "    members: RED, BLUE",
        "Tile: class(letter: str)",
    ]


def test_nothing_of_the_users_runs() -> None:
    """Whatever a metaclass, a default, an estimator or a graph of the user's defines, it does not run."""
    source = textwrap.dedent("""
        def ran(*given, **named): raise SystemExit("it ran")
        class Meta(type):
            __repr__ = __getattribute__ = __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = ran
        class Loud:
            __repr__ = __str__ = __eq__ = __hash__ = __len__ = __bool__ = __getattribute__ = ran
            def __init__(self, alpha=1): ...
            def get_params(self): ran()
            number_of_nodes = number_of_edges = is_directed = ran
        class Odd(metaclass=Meta): ...
        loud = Loud()
        def f(a: Loud, b: Odd = loud, *, c: "list[Odd]" = [loud]) -> Odd: ...
        odd = object.__new__(Odd)
        class Child(Loud, metaclass=Meta):
            coef_ = 3
        child = object.__new__(Child)
        globals()[3] = 4
    """)
    lines = asked(source, budget=2000)
    assert {"odd", "child", "Child", "Meta", "loud"} <= {re.split(r"\W", line)[0] for line in lines}
    assert next(line for line in lines if line.startswith("f: ")).startswith(
        "f: function(a: Loud, b: Odd = <Loud>"
    )
    assert any(line.startswith("loud: Loud") for line in lines)


def test_secrets_in_what_is_told() -> None:
    """Defaults of parameters with such names, and texts that look like secrets, are taken out."""
    source = "def log_in(user, password='swordfish-9'): 'Bearer abcdefghijklmnop'\ncopy = ['swordfish-9']"
    text = "\n".join(asked(source))
    assert (
        text
        == "copy: list, length 1 = ['[masked]']\nlog_in: function(user, password='[masked]'), \"Bearer [masked]\""
    )
    assert "swordfish-9" in asked(source, ["log_in"], mask=False)[0]


# -- objects of libraries --------------------------------------------------------------------------

_RIDGE = textwrap.dedent("""
    class Ridge:
        def __init__(self, alpha=1.0, fit_intercept=True, tol=float("nan")):
            self.alpha, self.fit_intercept, self.tol = alpha, fit_intercept, tol
        def get_params(self, deep=True): return vars(self)
        def fit(self): self.coef_ = [1.5]; return self
""")


def test_estimators() -> None:
    """Fitted or not, and the parameters that differ from the defaults; of a class of the user's that nothing
    was learned by is not said, as it may be elsewhere."""
    source = f"{_RIDGE}\nfresh = Ridge(alpha=0.5)\nfitted = Ridge(fit_intercept=False).fit()\nplain = Ridge().fit()"
    fresh, fitted, plain = asked(source, ["fresh", "fitted", "plain"])
    assert fresh.startswith("fresh: Ridge, alpha=0.5 = ")
    assert fitted.startswith("fitted: Ridge, fitted, fit_intercept=False = ")
    assert plain.startswith("plain: Ridge, fitted = ")


@pytest.mark.slow
def test_estimators_of_scikit_learn() -> None:
    """As `check_is_fitted` and scikit-learn's own printer say."""
    learn: Any = pytest.importorskip("sklearn", reason="would have proved what is told of estimators")
    printing: Any = pytest.importorskip("sklearn.utils._pprint")
    validation: Any = pytest.importorskip("sklearn.utils.validation")
    from deskcheck.notebook.state.objects import held_by, is_fitted

    def says(estimator: Any) -> bool | None:
        try:
            if not learn.utils.get_tags(estimator).requires_fit and not any(
                n.endswith("_") for n in vars(estimator)
            ):
                return None
            validation.check_is_fitted(estimator)
        except (
            learn.exceptions.NotFittedError,
            AttributeError,
        ):  # the latter asks another, which it was not given
            return False
        return True

    rows, labels = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 5, [0, 1, 1, 0] * 5
    every = [kind for _, kind in learn.utils.all_estimators()]
    nothing = inspect.Parameter.empty
    made = [
        kind()
        for kind in every
        if all(each.default is not nothing for each in inspect.signature(kind).parameters.values())
    ]
    told = 0
    for each in made:
        assert is_fitted(each) == says(each), each
        try:
            each.fit(rows, labels)
        except Exception:  # noqa: BLE001  # of another kind of data
            continue
        told += 1
        assert is_fitted(each) == says(each), each
    assert told > 50
    svc = learn.svm.SVC(C=0.1, kernel="linear", random_state=None)
    found = held_by(svc, lambda name, value: repr(value))
    assert found is not None
    assert found["parameters"].keys() == printing._changed_params(svc).keys()
    steps = learn.pipeline.make_pipeline(learn.preprocessing.StandardScaler(), svc).fit(rows, labels)
    found = held_by(steps, lambda name, value: repr(value))
    assert found == {
        "fitted": True,
        "parameters": {
            "steps": "[('standardscaler', StandardScaler()), ('svc', SVC(C=0.1, kernel='linear'))]"
        },
    }


def test_graphs() -> None:
    """Nodes, edges and direction, as networkx counts them, with loops and several edges between two nodes."""
    networkx: Any = pytest.importorskip("networkx", reason="would have proved what is told of graphs")
    from deskcheck.notebook.state.objects import held_by

    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph):
        for edges in ([], [(1, 2), (2, 3)], [(1, 1), (1, 2), (1, 2), ((0, 1), (0, 1)), ("a", "a")]):
            graph = kind(edges)
            graph.add_node("alone")
            assert held_by(graph, lambda name, value: "") == {
                "nodes": graph.number_of_nodes(),
                "edges": graph.number_of_edges(),
                "directed": graph.is_directed(),
            }
    assert asked("import networkx as nx\nclub = nx.karate_club_graph()") == [
        "imports: nx = networkx",
        "club: networkx.Graph, 34 nodes, 78 edges, undirected",
    ]


def test_networks() -> None:
    """Layers, weights as torch counts them (shared ones once), and the mode."""
    torch: Any = pytest.importorskip("torch", reason="would have proved what is told of torch's networks")
    from deskcheck.notebook.state.objects import held_by

    shared = torch.nn.Linear(3, 3)
    network = torch.nn.Sequential(shared, torch.nn.ReLU(), shared, torch.nn.Linear(3, 2)).eval()
    assert held_by(network, lambda name, value: "") == {
        "weights": sum(each.numel() for each in network.parameters()),
        "layers": ["0: Linear", "1: ReLU", "2: Linear", "3: Linear"],
        "mode": "evaluation",
    }


# -- imports and missing names ---------------------------------------------------------------------


def test_imports_are_one_line() -> None:
    """Modules, and what libraries' modules have under the same name; not deskcheck; not the user's own."""
    source = (
        "from __future__ import division\nimport math, os.path, json as j, deskcheck\nfrom os.path import exists\nfrom operator import add\nfrom deskcheck import context\nfrom itertools import chain, product\n"
        "from collections import OrderedDict as OD\nfrom typing import *\nfrom random import randint\nx = 1\nList2 = list"
    )
    first, *others = asked(source, budget=1000)
    assert first.startswith(
        "imports: math, os, j = json, List2 = list, __future__: division, os.path: exists, operator: add, itertools: chain, product, collections: OD = OrderedDict, "
    )
    assert re.search(r"\b\d+ names of typing", first)
    assert "random: randint" in first
    assert "deskcheck" not in first
    assert others == ["x: int = 1"]
    assert asked(source, ["math", "x"]) == ["imports: math", "x: int = 1"]
    told = json.loads("".join(asked(source, ["j", "x"], form="json")))
    assert told["imports"] == ["j = json"]
    assert [row["name"] for row in told["variables"]] == ["x"]
    assert asked(source, ["chain"])[0].startswith("chain: class")


@pytest.mark.parametrize("module", ["math", "cmath", "numpy", "sympy"])
def test_all_names_of_a_module(module: str) -> None:
    """`import *` brings constants, objects and modules, too; what a cell gives such a name is its own again,
    and so is a constant of which the module's other names are not there."""
    pytest.importorskip(module, reason=f"would have proved what is told of all names of {module}")
    imports, *others = asked(f"from {module} import *\nx = 1\ne = 3", budget=1000)
    assert re.fullmatch(rf"imports: \d+ names of {module}", imports)
    assert sorted(others) == ["e: int = 3", "x: int = 1"]
    assert asked(f"from {module} import *\nx = pi", ["pi"])[0].startswith("pi: ")


def test_some_names_of_a_module() -> None:
    assert asked("from math import sqrt, pi\nx = 1") == [
        "imports: math: sqrt",
        "x: int = 1",
        f"pi: float = {math.pi}",
    ]
    numpy: Any = pytest.importorskip("numpy", reason="would have proved that numpy's functions are imports")
    assert asked(f"from {numpy.__name__}.linalg import norm") == ["imports: numpy.linalg: norm"]


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("a = b + len(c)", "b c"),
        ("x = x + 1", "x"),
        ("for i in range(3):\n    t = i\nprint(t)", ""),
        ("if here:\n    y = 1\ny", "here"),
        ("try:\n    import m\nexcept ImportError:\n    m = None\nm", ""),
        ("def f():\n    return z\nf()", "z"),
        ("def f():\n    return z\nz = 1\nf()", ""),
        ("from nowhere import *\nw", ""),
        ("%time go(q)", "go q"),
        ("!ls $q", ""),
        ("x = (", ""),
        ("del k\nk", "k"),
        ("[v for v in vs]\n__name__, print, here", "vs"),
        ("@d\nclass A(B):\n    n = q\n    def m(self): return self.p", "d B q"),
    ],
)
def test_names_that_the_kernel_lacks(code: str, missing: str) -> None:
    """Those that the code reads and nothing binds before; builtins and names of the kernel exist."""
    lines = asked("here = 1", code=code)
    said = [line for line in lines if line.startswith("(not in the kernel")]
    assert set(" ".join(said).removeprefix("(not in the kernel: ").rstrip(")").split(", ")) - {""} == {
        *missing.split()
    } - {"here"}


@pytest.mark.parametrize(
    "code",
    [
        "a = len(b)\nc",
        "x = 1\ndel x\nx",
        "def f():\n    return z\nf()",
        "[i for i in j]\nk",
        "import os\nos, p",
    ],
)
def test_the_first_missing_name_is_the_one_that_python_misses(code: str) -> None:
    """As the `NameError` has it that running the code raises."""
    with pytest.raises(NameError) as raised:
        exec(code, {})
    assert next(name for name in names_unbound(code) if not hasattr(builtins, name)) == raised.value.name


def test_long_parameters_leave_room_for_names() -> None:
    """Where there is no room for values, a long signature is not told, and it is where there is."""
    source = f"def f({', '.join(f'parameter_{n}={n}' for n in range(20))}): ...\nx = 1\ny = 2"
    assert asked(source, ["f", "x", "y"], budget=40) == ["f: function(...)", "x: int = 1", "y: int = 2"]
    assert asked(source, ["f"], budget=300)[0].endswith("parameter_19=19)")


@pytest.mark.parametrize("budget", [0, 5, 20, 60, 200, 1000])
def test_the_budget_holds(budget: int) -> None:
    """With imports, missing names and all that is told of functions and classes."""
    source = "import math, json, re, os, sys\nfrom itertools import *\n" + "\n".join(
        f"class C{n}:\n    'Holds {n}.'\n    def get(self, k={n}): ...\ndef f{n}(a, b={n / 7}): 'Doc.'"
        for n in range(40)
    )
    for form in ("text", "json"):
        for code in (None, " + ".join(f"f{n}({m})" for n in range(40) for m in ("gone", f"lost{n}"))):
            assert (
                estimate_tokens("\n".join(asked(source, budget=budget, form=form, code=code)) + "\n")
                <= budget + 1
            )
