"""States as edits of the states before."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deskcheck.notation import NOTATIONS
from deskcheck.notation.edits import assigned, edit_text, edited, names_of

RANGE = "f 2: n=4 | 1, <range_iterator left=range(5, 9, 2)>"
LINE = "f 2: n=4, xs=[1, 2] | <list_iterator over=#1, next=1>"
UNDER = "globals: def f, def g\nframe f 2: n=4, xs=#1=[1]\ng 5 from 2:8-12: ys=#1"

pieces = st.sampled_from(
    [
        *("f 2", "g 5 from 2:8-12", "return f 3", "frame f 1", "instruction f 2@4 'POP_TOP'", "globals: k=1"),
        *("x=1", "for x=1", "s='a, b: c | d'", "#1=[1]", "del x", "def f", "<f at: x>", "5", "'", "(", "]"),
        *(": ", ", ", " | 1, 2", " -> 3", " ! ", " prints 'a'", "= ", "> ", "< ", "\n", "\n@1 ", "\n@9 "),
        *("", "\u2028", "\ud800"),
    ]
)
texts = st.lists(pieces, max_size=12).map("".join) | st.text()


@given(texts, texts)
@example("f 2", "")
@example("", "f 2")
def test_any_two_texts(before: str, after: str) -> None:
    """An edit gives exactly the text that it was made for, whatever the two are."""
    assert edited(before, edit_text(before, after)) == after


@given(texts, texts)
def test_any_edit(before: str, edit: str) -> None:
    """A model may say anything: it gives some text."""
    assert isinstance(edited(before, edit), str)


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        (LINE, LINE.replace("f 2", "f 3"), "3"),
        (LINE, LINE.replace("f 2", "f 3").replace("[1, 2]", "[1, 2, 5]"), "3: xs[]=5"),
        (LINE, LINE.replace("f 2", "f 1").replace("next=1", "next=2"), "1 | +"),
        (LINE, LINE.replace("next=1", "next=3"), "2 | <list_iterator over=#1, next=3>"),
        (RANGE, RANGE.replace("5, 9", "7, 9").replace("f 2", "f 3"), "3 | +"),
        (RANGE, RANGE.replace("5, 9", "6, 9"), "2 | 1, <range_iterator left=range(6, 9, 2)>"),
        ("f 2 | <list_iterator over=[1], next=1>", "f 2 | 7", "2 | 7"),
        (LINE, "f 4: n=4, xs=[1, 2]", "4 |"),
        (LINE, "f 4: xs=[1, 2], y='a, b'", "4: y='a, b', del n |"),
        (LINE, "return " + LINE + " -> {1: 'b'}", "return 2 -> {1: 'b'}"),
        ("return f 2: n=4 -> 5", "f 2: n=4", "2"),
        (
            "globals: def f, def g\nf 2: n=4",
            "globals: def f, def g\nframe f 2: n=4\ncall g 4 from 2:8-12: ys=4",
            "> call g 4 from 2:8-12: ys=4",
        ),
        (
            "globals: def f, def g\nf 2: n=4, xs=[1]",
            "globals: def f, def g\nframe f 2: n=4, xs=#1=[1]\ncall g 4 from 2:8-12: ys=#1",
            "> call g 4 from 2:8-12: ys=#1\n@1 2: xs=#1=",
        ),
        (UNDER, UNDER.replace("[1]", "[1, 2]").replace("g 5", "g 6"), "6\n@1 2: xs[]=2"),
        (UNDER, "globals: def f, def g\nf 3: n=4, xs=[1], y=2", "< 3: xs=#=, y=2"),
        (UNDER, UNDER.replace("def g", "def g, k=1"), "= " + UNDER.replace("def g", "def g, k=1")),
        ("f 2: #1=[4]", "f 3: x=#1, #1=[4, 5]", "3: x=#1, #1[]=5"),
        ("f 2: x=[1, 2, 3]", "f 2: x=[3, 2, 1]", "2: x=[3, 2, 1]"),
        ("f 2: x=[10, 20, 30]", "f 2: x=[10, 25, 30]", "2: x[1]=25"),
        ("f 2: x=[10, [20, 30]]", "f 2: x=[10, [20]]", "2: x[1]=[20]"),
        ("f 2: x=[10, 20, 30]", "f 2: x=[10, 20]", "2: del x[-1]"),
        ("f 2: x=[10, 20, 30]", "f 2: x=[20, 30]", "2: x=[20, 30]"),
        ("f 2: x={'a': 1, 'b': 2}", "f 2: x={'a': 1, 'b': 3}", "2: x['b']=3"),
        ("f 2: x={'a': 1, 'b': 2}", "f 2: x={'b': 2, 'c': 1}", "2: x={'b': 2, 'c': 1}"),
        ("f 2: x={'a=': 1, 'b': 2}", "f 2: x={'a=': 2, 'b': 2}", "2: x={'a=': 2, 'b': 2}"),
        ("f 2: x={'a': 11, 'b': 2}", "f 2: x={'a': 11}", "2: del x['b']"),
        ("f 2: x=[100, 200, 400]", "f 2: x=[110, 200, 400, 300]", "2: x[0]=110, x[]=300"),
        ("f 2: n=1, x=[10, 20]", "return f 3: n=1, x=#1=[10, 20] -> #1", "return 3: x=#1= -> #1"),
        ("f 2: x=#1=[10, 20], y=#1", "f 2: x=[10, 20], y=2", "2: x=#=, y=2"),
        ("f 2: x=#1={'a': 1}, y=#1", "f 2: x=#2={'a': 1}, y=#2", "2: x=#2=, y=#2"),
        ("f 2: x=[10, 20]", "f 2: x=#1=[10, 25], y=#1", "2: x=#1=[10, 25], y=#1"),
        ("f 2: x=[10]", "f 2: x={10: 1}", "2: x={10: 1}"),
        ("f 2: x=[10, 20]", "f 2: x=[10, 20, 30, 40]", "2: x=[10, 20, 30, 40]"),
        ("f 2: x=[]", "f 2: x=[1000]", "2: x[]=1000"),
        ("f 2: x=[1000]", "f 2: x=[]", "2: del x[-1]"),
        ("f 2: x=(10, 20)", "f 2: x=(10, 25)", "2: x=(10, 25)"),
        ("f 2: x=[1, ... 9 more]", "f 2: x=[2, ... 9 more]", "2: x=[2, ... 9 more]"),
        ("f 2: x={10, 20, 30}", "f 2: x={10, 20, 35}", "2: x={10, 20, 35}"),
    ],
)
def test_what_an_edit_says(before: str, after: str, edit: str) -> None:
    """What is left alone is not said."""
    assert edit_text(before, after) == edit
    assert edited(before, edit) == after


def test_whole_values_where_parts_were_not_taught() -> None:
    after = LINE.replace("f 2", "f 3").replace("[1, 2]", "[1, 2, 5]").replace("next=1", "next=2")
    edit = edit_text(LINE, after, parts=False)
    assert edit == "3: xs=[1, 2, 5] | <list_iterator over=#1, next=2>"
    assert edited(LINE, edit) == after
    assert names_of(LINE, "2|    xs[0] + n", parts=False) == "xs=[1, 2], n=4"


@pytest.mark.parametrize(
    "edit",
    ["x[3]=2", "x[2]=2", "del x[0]", "del x[1]", "x[-1]=2", "x['a']=2", "t[0]=2", "y[0]=2", "x[0]['b']=1"],
)
def test_an_item_that_is_not_there(edit: str) -> None:
    """What was said stands in the state, which no notation can read: nothing is passed over."""
    made = edited("f 2: x=[1, 2], t=(1,)", f"3: {edit}")
    assert edit in made
    assert NOTATIONS["dynamic"].parse(made).unreadable


@pytest.mark.parametrize(
    ("state", "line", "found"),
    [
        ("f 4: n=3, total=10 | <x>", "4|    total += n * total", "total=10, n=3"),
        ("globals: def f, k=7, n=1\nf 4: n=3", "4|    f(k) + n + x", "k=7, n=3"),
        ("frame f 4: n=3\nreturn g 4 from 3:1-4: n=5 -> 3", "4|    total = g(n)", "n=3"),
        ("return f 4: n=3 -> 3", "", ""),
        (f"f 4: n={'1' * 100}, k=[1, (2, 'n')]", "4|    n + k", "k=[1, (2, 'n')]"),
        ("<module> 2: def f, for x=1", "2|[x for x in f]", ""),
        ("f 3: n=3, x=1, y=2", "3|    x = y = n - x", "n=3, x=1"),
        ("f 3: n=3, x=1, y=2", "3|    y = n", "n=3"),
        ("f 3: n=3, x=1 | <it>", "3|    for x in range(n):", "n=3 | <it>"),
        ("f 3: n=3, x=1", "3|    for x, n in ((n, x),):", "n=3, x=1"),
        (
            "f 3 | 1, <range_iterator left=range(5, 9, 2)>",
            "3|    for x in y:",
            " | 1, <range_iterator left=range(5, 9, 2)> next 5",
        ),
        (
            "f 3 | <range_iterator left=range(-2, -2)>",
            "3|    for x in y:",
            " | <range_iterator left=range(-2, -2)> ended",
        ),
        (
            "f 3 | <range_iterator left=range(1, 0, -1)>",
            "3|    for x in y:",
            " | <range_iterator left=range(1, 0, -1)> next 1",
        ),
        (
            "f 3 | <range_iterator left=range(0, 0, -1)>",
            "3|    for x in y:",
            " | <range_iterator left=range(0, 0, -1)> ended",
        ),
        (
            LINE.replace("xs=", "xs=#1="),
            "3|    for x in xs:",
            "xs=#1=[1, 2] | <list_iterator over=#1, next=1> next 2",
        ),
        (
            "f 3 | <tuple_iterator over=((1, 2),), next=0>",
            "3|    for x in y:",
            " | <tuple_iterator over=((1, 2),), next=0> next (1, 2)",
        ),
        (
            "f 3 | <list_iterator over=[1], next=1>",
            "3|    for x in y:",
            " | <list_iterator over=[1], next=1> ended",
        ),
        (
            "f 3 | <str_ascii_iterator over='xy', next=1>",
            "3|    for x in y:",
            " | <str_ascii_iterator over='xy', next=1> next 'y'",
        ),
        (
            f"f 3: y=#1={[*range(60)]} | <list_iterator over=#1, next=8>, <list_iterator over=#1, next=9>",
            "3|    for x in y:",
            " | <list_iterator over=#1, next=8>, <list_iterator over=#1, next=9> next 9",
        ),
        (
            f"f 3: y=#1={[*range(60)]} | {'1, ' * 30}<list_iterator over=#1, next=9>",
            "3|    for x in y:",
            " | next 9",
        ),
        ("f 3 | <list_iterator over=#1, next=0>", "3|    for x in y:", " | <list_iterator over=#1, next=0>"),
        (
            "f 3 | <list_iterator over=[1, ... 9 more], next=0>",
            "3|    for x in y:",
            " | <list_iterator over=[1, ... 9 more], next=0>",
        ),
        ("", "1|n", ""),
        ("f 3: i=1, x=[4, 5], k=0", "3|    k = x[i] + k", "i=1, k=0, x[i]=5"),
        ("f 3: i=2, x=[4, 5]", "3|    while x[i] > x[-1]:", "x=[4, 5], i=2, x[-1]=5"),
        ("f 3: i=1, x=[4, 5]", "3|    x[i] = x[i - 1] + len(x)", "i=1, x=[4, 5], x[i]=5"),
        (
            "f 3: i='a', x={'a': (1, 2)}, t=(7,)",
            "3|    x[i][0] + x['a'] + t[0]",
            "i='a', x[i]=(1, 2), x['a']=(1, 2), t[0]=7",
        ),
        ("f 3: i=1, s='it\\'s'", "3|    s[i] + s[2]", "i=1, s[i]='t', s[2]=\"'\""),
        ("frame f 2: a=#1=[3]\ng 3 from 2:4-9: x=#1", "3|    x[0]", "x[0]=3"),
        ("globals: x=#1, #1=[3]\ng 3: i=0", "3|    x[i]", "i=0, x[i]=3"),
        ("f 3: i=1, x=[4, ... 9 more]", "3|    x[i]", "x=[4, ... 9 more], i=1"),
    ],
)
def test_names_of_a_line(state: str, line: str, found: str) -> None:
    """What the frame that goes on calls so, then the globals; nothing that is long or a definition."""
    assert names_of(state, line) == found


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("4|    total += n * total", ["total"]),
        ("a = b = c", ["a", "b"]),
        ("7|x >>= 2", ["x"]),
        ("a == b", []),
        ("x[0] = 1", []),
        ("for i in x:", []),
        ("12|    total: int = 4", []),
        ("", []),
    ],
)
def test_what_a_line_assigns(line: str, names: list[str]) -> None:
    assert assigned(line) == names


@given(texts, texts, st.sampled_from(["3|    n = 4", "n += 1", "n"]))
def test_what_a_line_assigns_is_told(before: str, after: str, line: str) -> None:
    """It does not change what an edit gives."""
    assert edited(before, edit_text(before, after, line)) == after
    assert edit_text("f 3: n=4, k=1", "f 4: n=4, k=1", "3|    n = 4") == "4: n=4"


@given(texts, texts)
def test_names_of_any_texts(state: str, line: str) -> None:
    assert isinstance(names_of(state, line), str)
