"""Views of a kernel's state: what is chosen, that the budget holds, and that everything cut is accounted for."""

import builtins
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from deskcheck.errors import InputError
from deskcheck.notebook.settings import VIEWS
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.names import cell_names, depends_on, names_unbound
from deskcheck.notebook.state.state import KernelState, states
from deskcheck.notebook.state.views import estimate_tokens, used_names, view
from deskcheck.notebook.trajectory.trajectory import Execution, Status
from tests.sample import examples


def run(*sources: str) -> KernelState:
    """The state after cells that ran in a namespace as in a kernel."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("", names)
    hidden = dict(names)
    capture = Capture(StateLimits(time_s=60))
    steps = []
    for source in sources:
        exec(source, names)
        found = capture.after_cell(names, hidden, source)
        steps.append(Execution(cell="a", source=source, order=("a",), status=Status.OK, state=found))
    state = list(states(steps))[-1][1]
    assert state is not None
    return state


def shown(state: KernelState, kind: str, budget: int = 10_000, **more: Any) -> list[str]:
    return view(state, kind, budget=budget, **more).text.splitlines()


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("x = 1; y = x + z", "z"),
        ("x += 1", "x"),
        ("if c:\n    x = 1\nx", "c x"),
        ("if c:\n    x = 1\nelse:\n    x = 2\nx", "c"),
        ("for a in b:\n    c = a\nc", "b c"),
        ("del x\nx", "x"),
        ("df['k'] = df.y", "df"),
        ("[i * k for i in r if (w := i)]\nw", "r k"),
        ("[x for x in x]", "x"),
        ("[[a for a in row] for row in rows]", "rows"),
        ("lambda a, b=d: a + e", "d e"),
        ("f'{x:{y}}'", "x y"),
        ("with p as h:\n    t = h\nt", "p"),
        ("import a.b, c as d\na, d, c", "c"),
        ("try:\n    import a\nexcept E as e:\n    a = e\na", "E"),
        ("match v:\n    case [p, *rest]:\n        p, rest, q", "v q"),
        ("def f():\n    return z\nz = 1\nf()", ""),
        ("def f():\n    return z\nf()\nz = 1", "z"),
        ("def f(n):\n    return n * f(n - 1)", ""),
        ("def g(n):\n    global k\n    k += 1\n    def h():\n        return n + m\n    return h()", "k m"),
        ("class A(B):\n    n = q\n    def m(self):\n        return n + self.v", "B q n"),
        ("@d\ndef f():\n    return i", "d i"),
        ("%time foo(a)", "foo a"),
        ("%%timeit -n 3 -r 1\ng(b)", "g b"),
        ("%%bash\necho $x", ""),
        ("%matplotlib inline\nplt.plot(u)", "plt u"),
        ("files = !ls *.csv\nfiles, other", "other"),
        ("!echo {b} $c {d['k'] + e} {{x}} $$y", "b c d e"),
        ("n = !head -n {rows} $path\nn", "rows path"),
        ("%cd {folder}", "folder"),
        ("!awk '{print $1}' {p}", "p"),
        ("x?\n?x\ny", "y"),
        ("'%s %s' % (a,\n b)", "a b"),
        ("'a %s' \\\n   %b", "b"),
        ("x ===", "x"),
        ("-" * 500 + "x", "x"),
    ],
)
def test_what_a_cell_reads(source: str, read: str) -> None:
    """Names that are read before the cell has surely bound them; magics and broken cells are no obstacle."""
    assert set(cell_names(source).read) - {"f"} == set(read.split())


def test_reading_is_what_python_looks_up() -> None:
    """Run in a namespace that notes what is asked of it, a straight cell asks for the same names."""

    class Asked(dict[str, Any]):
        def __init__(self) -> None:
            self.asked: list[str] = []

        def __missing__(self, name: str) -> Any:
            if hasattr(builtins, name):
                raise KeyError(name)
            self.asked.append(name)
            self[name] = [3, 4]
            return self[name]

    for source in (
        "x = [a for a in b]; y = {k: v for k, v in zip(x, c)}; del x\nx, y",
        "t = u\nwith open(d[0] and '/dev/null') as h: s = h\nprint(s and t, e, file=__import__('io').StringIO())",
        "z[n1 and 0]\nimport json as j\nj, i\nfor n in m: n\no[i and 0]",
    ):
        names = Asked()
        exec(source, {}, names)
        assert [n for n in cell_names(source).read if not hasattr(builtins, n)] == names.asked


def test_names_bound() -> None:
    """Everything that may be bound at the top level, in order, and nothing of inner scopes."""
    source = "import a.b\nx, (y, *z) = 1, (2, 3)\ndef f(p):\n    q = 1\n[i for i in x if (w := i)]\nfor k in x: pass\ndel x"
    assert cell_names(source).bound == ("a", "x", "y", "z", "f", "w", "k")


def test_a_name_in_a_command_may_be_the_shells() -> None:
    """It is read if it is there, and not missed if it is not."""
    assert cell_names("!echo {b} $HOME").read == ("b", "HOME")
    assert names_unbound("!echo {b} $HOME") == ("b",)


def test_dependence_goes_through_functions_and_classes() -> None:
    """What a used function reads is used, and so on; so is what an instance's class reads."""
    cells = [
        "def f(x):\n    return x * n + g(x)",
        "def g(x):\n    return len(l)",
        "class A(Base):\n    def m(self):\n        return helper()",
        "def helper():\n    return k",
        "h = lambda q: q + n",
    ]
    every = {*"fgnlAhk", "acc", "helper", "Base"}
    assert depends_on("f(2)", every, earlier=cells) == ("f", "n", "g", "l")
    assert depends_on("acc.m()", every, earlier=cells, types={"acc": "A"}) == (
        "acc",
        "A",
        "Base",
        "helper",
        "k",
    )
    assert depends_on("h(1)", every, earlier=cells) == ("h", "n")
    assert depends_on("f(2)", every, earlier=[*cells, "g = abs"]) == ("f", "n", "g")
    assert depends_on("sum(l); list", {"list", "l"}, earlier=cells) == ("l", "list")
    assert depends_on("sum(l); list", {"l"}, earlier=cells) == ("l",)


def test_what_each_view_shows() -> None:
    """Each kind chooses its variables; aliases are said to be such; functions need no value."""
    state = run("a = 1\nb = [1]\nc = b\ndef f(): return a", "b.append(2); a = 'x'; d = {'k': b}")
    assert shown(state, "none") == []
    assert shown(state, "names") == ["d: dict", "a: str", "b: list", "c: list", "f: function"]
    assert shown(state, "changed") == [
        "d: dict = {'k': [1, 2]}",
        "a: str = 'x'",
        "b: list = [1, 2]",
        "c: list, the same object as b",
    ]
    assert shown(state, "full") == [*shown(state, "changed"), "f: function()"]
    assert shown(state, "used", names=["f", "a", "gone"]) == ["f: function()", "a: str = 'x'"]
    assert shown(state, "full", names=["a", "f"]) == ["a: str = 'x'", "f: function()"]
    state = run("a = 1; b = 2", "del a")
    assert shown(state, "changed") == ["(removed: a)"]
    many = [f"v{n:02}" for n in range(23)]
    state = run(f"{' = '.join(many)} = 1", f"del {', '.join(many)}")
    named, more = shown(state, "changed")
    assert named == f"(removed: {', '.join(many[:20])})"
    assert more == "(also removed: 3 more variables)"
    told = json.loads(view(state, "changed", budget=10_000, form="json").text)
    assert (told["removed"], told["also_removed"]) == (many[:20], "3 more variables")


def test_tables_and_arrays() -> None:
    """A table shows shape, dtypes and head by column; an array its first items."""
    pytest.importorskip("pandas", reason="would have proved what a view shows of a table")
    state = run(
        "import pandas as pd, numpy as np",
        "df = pd.DataFrame({'a': range(3), 'b': list('xyz')})\ns = df['a']\nm = np.arange(4.).reshape(2, 2)",
    )
    assert shown(state, "changed") == [
        "df: pandas.DataFrame, shape (3, 2)",
        "    a: int64 [0, 1, 2]",
        f"    b: {state.variables['df'].columns[1][1]} ['x', 'y', 'z']",
        "s: pandas.Series, shape (3,), int64, named a = [0, 1, 2]",
        "m: numpy.ndarray, shape (2, 2), float64 = [[0.0, 1.0], [2.0, 3.0]]",
    ]
    entry = json.loads(view(state, "changed", budget=10_000, form="json").text)["variables"][0]
    assert entry["shape"] == [3, 2]
    assert entry["columns"][0] == {"label": "a", "dtype": "int64", "head": "[0, 1, 2]"}


CROWDED = run(
    "big = list(range(1000))\ntext = 'é漢字\\n' * 300\nnested = {i: {'k': [i, {i}]} for i in range(50)}",
    "\n".join(f"v{i} = {i}" for i in range(60)),
    "also = big; x = 1.5\ndef f(): pass\ndel v3",
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from(VIEWS),
    budget=st.integers(0, 3000),
    form=st.sampled_from(["text", "json"]),
    names=st.lists(st.sampled_from([*CROWDED.variables, "gone"]), max_size=20),
    counter=st.sampled_from([estimate_tokens, len, lambda text: len(text.split())]),
)
@example(kind="full", budget=0, form="json", names=[], counter=len)
def test_the_budget_holds_and_the_account_is_whole(
    kind: str, budget: int, form: str, names: list[str], counter: Any
) -> None:
    """Whatever the budget and the counter: never more tokens, every variable shown or counted, the same again."""
    chosen = names if kind == "used" else None
    found = view(CROWDED, kind, budget=budget, names=chosen, form=form, count=counter)
    assert found.tokens == counter(found.text) <= budget
    whole = view(CROWDED, kind, budget=10**6, names=chosen, form=form, count=counter)
    assert whole.left_out == 0
    order = [each.name for each in whole.variables]
    assert [each.name for each in found.variables] == order[: len(found.variables)]
    assert found.left_out == len(order) - len(found.variables)
    assert list(found.left_out_names) == order[len(found.variables) :][:20]
    assert found == view(CROWDED, kind, budget=budget, names=chosen, form=form, count=counter)
    if form == "json" and found.text:
        listed = json.loads(found.text)
        assert [entry["name"] for entry in listed["variables"]] == [each.name for each in found.variables]
    json.dumps(found.account())


def test_one_large_value_leaves_room_for_the_others() -> None:
    """Names come first, then values round by round: small ones are whole before a large one takes the rest."""
    state = run("big = list(range(1000)); a = 1; b = 'two'")
    found = {each.name: each.cut for each in view(state, "full", budget=100).variables}
    assert found == {"big": "value", "a": None, "b": None}
    assert len(shown(state, "full", budget=100)) == 3


def test_what_cannot_be_asked_for() -> None:
    """Unknown kinds and forms, negative budgets and a `used` without names are refused, naming the way out."""
    state = run("a = 1")
    for wrong, said in (
        ({"kind": "all"}, "The views are none, names"),
        ({"kind": "full", "budget": -1}, "at least 0"),
        ({"kind": "full", "form": "xml"}, "text or json"),
        ({"kind": "used"}, "used_names"),
    ):
        asked: dict[str, Any] = {"budget": 10} | wrong
        with pytest.raises(InputError, match=said):
            view(state, **asked)
    assert view(None, "full", budget=10).text == ""


def test_the_estimate_of_tokens() -> None:
    """By its definition, and summed over lines."""
    for text, tokens in (
        ("", 0),
        ("word", 1),
        ("international", 2),
        ("a b", 2),
        ("a  b", 3),
        ("1234", 2),
        ("[1, 2]", 6),
        ("x_1", 3),
        ("f(x)", 4),
        ("漢字", 2),
        ("a\n\nb\n", 5),
    ):
        assert estimate_tokens(text) == tokens, text


@given(st.lists(st.text()))
def test_the_estimate_sums_over_lines(lines: list[str]) -> None:
    """So a view can add up what its lines take."""
    lines = [line.replace("\n", "").replace("\r", "") + "\n" for line in lines]
    assert estimate_tokens("".join(lines)) == sum(map(estimate_tokens, lines))


def test_used_names_of_a_state() -> None:
    """From the state itself: only what is there, the class of an instance among it."""
    cells = ["k = 3\nclass A:\n    def m(self): return k", "acc = A()"]
    assert used_names("acc.m() + gone", run(*cells), earlier=cells) == ("acc", "A", "k")
