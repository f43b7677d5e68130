"""Normalisers: each removes what it is named for, and nothing else."""

import itertools
import pprint
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.notebook.check.normalise import NORMALISERS, same_after
from deskcheck.notebook.kernel.repeats import Text
from tests.sample import examples

RULES = {each.name: each for each in NORMALISERS}


def shown(text: str) -> Text:
    return Text("", (text,), None)


def after(one: str, other: str) -> tuple[str, ...] | None:
    """Of a text that is shown; what is printed goes the same way."""
    found = same_after(shown(one), shown(other))
    assert found == same_after(Text(one, (), None), Text(other, (), None))
    return found


TIMEIT = "{} per loop (mean ± std. dev. of 7 runs, {} loops each)"
SAME: list[tuple[str, str, tuple[str, ...]]] = [
    ("<zip at 0x7f7d303bdb80>", "<zip at 0x7F7D303BD280>", ("address",)),
    ("[<A at 0x7f01>, <B at 0x7f02>]", "[<A at 0x7f02>, <B at 0x7f01>]", ("address",)),
    ("<Figure size 432x288 with 1 Axes>", "<Figure size 640x480 with 1 Axes>", ("figure size",)),
    (
        "<matplotlib.figure.Figure at 0x25bd4927e10>",
        "<Figure size 640x480 with 1 Axes>",
        ("matplotlib repr",),
    ),
    (
        "array([[<matplotlib.axes._subplots.AxesSubplot object at 0x02A1F3DE>]], dtype=object)",
        "array([[<Axes: title={'center': 'Temp'}>]], dtype=object)",
        ("matplotlib repr",),
    ),
    ("<AxesSubplot:xlabel='x'>", "<Axes: xlabel='x'>", ("matplotlib repr",)),
    ("<matplotlib.text.Text at 0x2a1f6742c88>", "Text(0.5, 1.0, 'it\\'s (a) title')", ("matplotlib repr",)),
    ("0.5", "np.float64(0.5)", ("numpy 2 scalars",)),
    (
        "(3, True, 'a', (1+2j))",
        "(np.int64(3), np.True_, np.str_('a'), np.complex128(1+2j))",
        ("numpy 2 scalars",),
    ),
    ("array([0, ..., 9])", "array([0, ..., 9], shape=(1000,))", ("numpy array shape",)),
    ("a    1\ndtype: int64", "a    1\nName: count, dtype: int64", ("pandas count name",)),
    (
        TIMEIT.format("1.4 µs ± 3 ns", "1000").replace("runs, ", "runs,\n    "),
        TIMEIT.format("1.5 µs ± 3 ns", "1,000"),
        ("timing",),
    ),
    (
        "CPU times: user 1.4 s, sys: 7 ms, total: 1.4 s\nWall time: 1.45 s\nyes",
        "CPU times: user 3 µs, sys: 0 ns, total: 3 µs\nWall time: 1min 7s\nyes",
        ("timing",),
    ),
    ("Compiler : 239 ms\nCPU times: user 1 s", "CPU times: user 2 s", ("timing",)),
    (TIMEIT.format("3.62 ms ± 38.6 μs", "100"), TIMEIT.format("1min 2s ± 3 s", "1"), ("timing",)),
    ("1000 loops, best of 3: 2.3 ms per loop", "10000 loops, best of 3: 91.9 µs per loop", ("timing",)),
    ("1000 loops, best of 3: 2.3 ms per loop", TIMEIT.format("2.3 ms ± 1 µs", "100"), ("timing",)),
    ("Ran 2 tests in 0.001s\n\nOK", "Ran 2 tests in 1.2s\n\nOK", ("timing",)),
    ("fit took 111.291 milliseconds", "fit took 3 milliseconds", ("timing",)),
    (
        "fit: 100%|██████████| 8/8 [00:01<00:00,  6.20it/s, loss=0.5]\n",
        "fit: 100%|####| 8/8 [1:02:03<00:00, 31.00s/it, loss=0.5]\n",
        ("progress bars",),
    ),
    ("50%|███  | 1.0k/2.0k [00:01<?, ?it/s]", "50%|█ | 1.0k/2.0k [00:02<00:02, 500B/s]", ("progress bars",)),
    ("12it [00:00, 95.21it/s]", "12it [00:01, 10.10it/s]", ("progress bars",)),
    (
        "Epoch 1/2\n8/8 [==============================] - 1s 90ms/step - loss: 0.5",
        "Epoch 1/2\n8/8 ━━━━━━━━━━━━━━━━━━━━ 12s 2s/step - loss: 0.5",
        ("progress bars",),
    ),
    ("0.30000000000000004", "0.3", ("last digits of floats",)),
    ("0.00015958597615453273", "0.0001595859761545308", ("last digits of floats",)),
    ("{'b', 'a', 'c'}", "{'c', 'a', 'b'}", ("order of sets",)),
    ("f({(1, 2), (0, 1)}) and", "f({(0, 1), (1, 2)}) and", ("order of sets",)),
    ("{'args': {1: 2, 0: 3}, 'op': sin}", "{'op': sin, 'args': {0: 3, 1: 2}}", ("order of dicts",)),
    ("[ 1.   1.2\n  1.4]", "[1.  1.2 1.4]", ("line breaks in brackets",)),
    ("a   b \n\n", "a b", ("white space",)),
    ("10%\r50%\rdone\n", "done\n", ("terminal codes",)),
    ("\x1b[31mred\x1b[0m", "red", ("terminal codes",)),
    (
        "invalid syntax (<ipython-input-3-5c2b1a>, line 2)",
        "invalid syntax (4219528267.py, line 2)",
        ("name of the cell",),
    ),
    (
        "0.00015958597615453273",
        "np.float64(0.0001595859761545308)",
        ("numpy 2 scalars", "last digits of floats"),
    ),
    (
        "[0, 1, 1]",
        "[np.int64(0),\n np.int64(1),\n np.int64(1)]",
        ("numpy 2 scalars", "line breaks in brackets"),
    ),
]


@pytest.mark.parametrize(
    ("one", "other", "names"), SAME, ids=[" ".join(n) + f"-{i}" for i, (_, _, n) in enumerate(SAME)]
)
def test_what_is_the_same_after_them(one: str, other: str, names: tuple[str, ...]) -> None:
    """Both ways, by exactly the rules that it takes."""
    assert after(one, other) == names
    assert after(other, one) == names


DIFFERENT = [
    ("invalid syntax (3.py, line 1)", "invalid syntax (3.py, line 2)"),
    ("invalid syntax (a.py, line 1)", "invalid syntax (b.py, line 1)"),
    ("0x7f7d303bdb80", "0x7f7d303bd280"),
    ("[<A at 0x7f01>, <A at 0x7f01>]", "[<A at 0x7f01>, <A at 0x7f02>]"),
    ("<A at 0x7f01>", "<B at 0x7f01>"),
    ("<Figure size 432x288 with 1 Axes>", "<Figure size 432x288 with 2 Axes>"),
    ("Text(0.5, 1.0, 'sun')", "Text(0.5, 1.0, 'moon')"),
    ("<Axes: title={'center': 'sun'}>", "<Axes: title={'center': 'moon'}>"),
    ("<matplotlib.text.Text at 0x2a1f6742c88>", "<Figure size 640x480 with 1 Axes>"),
    ("np.float64(1.0)", "np.float32(1.0)"),
    ("np.float64(1.5)", "1.4"),
    ("np.True_", "False"),
    ("array([0], shape=(1,))", "array([0], shape=(2,))"),
    ("Name: count, dtype: int64", "Name: fruit, dtype: int64"),
    ("Name: count, dtype: int64", "Name: proportion, dtype: int64"),
    ("CPU times: user 1 s\nyes", "CPU times: user 1 s\nno"),
    ("CPU time limit: 3 s", "CPU time limit: 4 s"),
    ("Wall time: about 3", "Wall time: about 4"),
    ("Ran 2 tests in 0.1s", "Ran 3 tests in 0.1s"),
    ("=== 1 passed in 0.1s ===", "=== 2 passed in 0.1s ==="),
    ("it falls for 3.2 seconds", "it falls for 3.3 seconds"),
    ("took 3 s/km", "took 4 s/km"),
    ("fit took 3 milliseconds", "fit took 3 kilometres"),
    ("took 3 steps", "took 4 steps"),
    ("100%|██| 8/8 [00:01<00:00, 6.2it/s]", "100%|██| 9/9 [00:01<00:00, 6.2it/s]"),
    ("50%|█ | 4/8 [00:01<00:00, 6.2it/s]", "62%|█ | 4/8 [00:01<00:00, 6.2it/s]"),
    ("100%|█| 8/8 [00:01<00:00, 6.2it/s, loss=1]", "100%|█| 8/8 [00:01<00:00, 6.2it/s, loss=2]"),
    ("a: 100%|█| 8/8 [00:01<00:00, 6.2it/s]", "b: 100%|█| 8/8 [00:01<00:00, 6.2it/s]"),
    ("100%|a| b/c [00:01]", "100%|a| b/c [00:02]"),
    ("12it [00:00, 95.21it/s]", "13it [00:00, 95.21it/s]"),
    ("12km [00:10]", "12km [00:11]"),
    ("8/8 [=====] - 1s 90ms/step - loss: 0.5", "8/8 [=====] - 1s 90ms/step - loss: 0.6"),
    ("8/8 [=====] - 1s", "7/7 [=====] - 1s"),
    ("8/8 [2] - 1s", "8/8 [2] - 2s"),
    ("0.3000001", "0.3"),
    ("0.12345678901234", "0.12345678911234"),
    ("1.0000000000000.1", "1.0000000000000.2"),
    ("12345678901234567", "12345678901234568"),
    ("{1, 2}", "{1, 2, 2}"),
    ("{1, 2}", "{1, 3}"),
    ("{'a', 'b'}", "{'a, b'}"),
    ("[1, 2]", "[2, 1]"),
    ("(1, 2)", "(2, 1)"),
    ("x_{2,1}", "x_{1,2}"),
    ("{'a': 1, 'b': 2}", "{'a': 2, 'b': 1}"),
    ("OrderedDict([('a', 1), ('b', 2)])", "OrderedDict([('b', 2), ('a', 1)])"),
    ("['a  b']", "['a b']"),
    ("a b", "ab"),
    ("1\n2", "1 2"),
    ("[1 2", "[1\n2"),
    ("a\rbc\n", "ad\rbd\n"),
    ("", "something"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_stays_different(one: str, other: str) -> None:
    """Things that look like what a rule is for, and others that it must keep."""
    assert after(one, other) is None


def test_what_has_no_counterpart_is_different() -> None:
    """A text more, an exception more or of another class; their messages go by the rules."""
    assert same_after(shown(""), Text("", (), None)) is None
    assert same_after(Text("", (), ("E", "x")), Text("", (), None)) is None
    assert same_after(Text("", (), ("E", "x")), Text("", (), ("F", "x"))) is None
    one, other = (Text("", (), ("E", f"<A at 0x7f0{n}>")) for n in (1, 2))
    assert same_after(one, other) == ("address",)


def test_rules_can_be_left_out() -> None:
    """Without the one that it takes, a difference is one."""
    left = [each for each in NORMALISERS if each.name != "address"]
    assert same_after(shown("<A at 0x7f01>"), shown("<A at 0x7f02>"), left) is None


@pytest.mark.parametrize("each", NORMALISERS, ids=lambda each: each.name)
@settings(max_examples=examples(40), deadline=None)  # the machine may be busy
@given(text=st.text("ab01.,:'\"()[]{} \n\r\t\\-np=<>x#", max_size=40) | st.text(max_size=30))
def test_rules_are_used_once(each: Any, text: str) -> None:
    """On any text: what a rule has made stays under it."""
    once = each.rule(text)
    assert each.rule(once) == once


WORDS = st.lists(
    st.text("abcdefxyz", min_size=1, max_size=6) | st.integers(-(10**6), 10**6).map(str), max_size=8
)


@settings(max_examples=examples(40), deadline=None)  # the machine may be busy
@given(st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_words_and_numbers_are_never_lost(one: list[list[str]], other: list[list[str]]) -> None:
    """Lines of words and numbers that differ stay different, whatever rules there are."""
    texts = ["\n".join(" ".join(line) for line in lines).strip("\n") for lines in (one, other)]
    assert (after(*texts) is None) == (texts[0].strip() != texts[1].strip())


VALUES = st.recursive(
    st.integers() | st.text("ab ,:'\"{}[", max_size=4) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(VALUES, VALUES, st.integers(4, 80))
def test_values_stay_what_they_are(one: Any, other: Any, width: int) -> None:
    """However they are broken into lines, equal values are the same and others are not; bool and int are told apart."""
    found = after(repr(one), pprint.pformat(other, width=width, sort_dicts=False))
    if any(re.search(r"'.*\n.*'", pprint.pformat(v, width=width)) for v in (one, other)):
        return  # pformat breaks long strings in two
    assert (found is not None) == (_typed(one) == _typed(other))


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    return type(value), value


@settings(max_examples=examples(40), deadline=None)  # the machine may be busy
@given(st.sets(st.text("abc ,'", max_size=3) | st.integers(), max_size=5), st.randoms())
def test_sets_in_any_order(members: set[Any], random: Any) -> None:
    """The same set in another order is the same; with a member less it is not."""
    texts = [repr(member) for member in members]
    one = "{" + ", ".join(texts) + "}"
    random.shuffle(texts)
    assert after(one, "{" + ", ".join(texts) + "}") in ((), ("order of sets",))
    if len(texts) > 1:
        assert after(one, "{" + ", ".join(texts[1:]) + "}") is None


@settings(max_examples=examples(40), deadline=None)  # the machine may be busy
@given(st.floats(1e-9, 1e9), st.integers(-9, 9))
def test_last_digits(number: float, digit: int) -> None:
    """A float that differs from the 10th digit on up is another."""
    near, far = number * (1 + 1e-15 * digit), number * (1 + 1e-8 * digit)
    assert (after(repr(number), repr(far)) is None) == (repr(number) != repr(far))
    if len(repr(number)) > 17 < len(repr(near)) and "e" not in repr(number) + repr(near):
        close = after(repr(number), repr(near))
        # Rounding can part two that are as near as you like.
        assert close is not None or f"{number:.10e}" != f"{near:.10e}"


def test_the_fewest_are_named() -> None:
    """No smaller set makes them equal, and of equally small ones it is the first in the order of the rules."""
    one, other, _ = SAME[-2]
    names = after(one, other)
    assert names is not None
    for size in range(len(names) + 1):
        for chosen in itertools.combinations(NORMALISERS, size):
            found = same_after(shown(one), shown(other), chosen)
            if found is not None:
                assert found == tuple(each.name for each in chosen) == names
                return


def test_long_texts() -> None:
    """None of the rules that are named for them can be left out."""
    lines = "{{'b': 0.30000000000000004, 'a': [{}]}} <A at 0x7f0{}>  \n"
    one = "".join(lines.format("1, 2", n) for n in range(1000, 2000))
    other = "".join(f"{{'a': [1,\n 2], 'b': 0.3}} <A at 0x8f0{n}>\n" for n in range(1000, 2000))
    names = after(one, other)
    assert names == (
        "address",
        "last digits of floats",
        "order of dicts",
        "line breaks in brackets",
        "white space",
    )
    for name in names:
        left = [each for each in NORMALISERS if each.name in names and each.name != name]
        assert same_after(shown(one), shown(other), left) is None


def test_the_documentation_names_them() -> None:
    """Every rule, in the order of their use."""
    text = (Path(__file__).parents[2] / "docs" / "guides" / "notebooks.md").read_text()
    table = text[text.index("## Normalisers") :]
    places = {each.name: table.find(f"`{each.name}`") for each in NORMALISERS}
    missing = [name for name, place in places.items() if place < 0]
    assert not missing, f"docs/guides/notebooks.md, the table under Normalisers: it lacks {missing}"
    ordered = sorted(places, key=places.__getitem__)
    assert [*places] == ordered, "docs/guides/notebooks.md: the table is not in the order of NORMALISERS"


def test_every_rule_is_shown() -> None:
    """Each makes some pair of `SAME` equal by itself, so that a rule without an example is noticed."""
    alone = {names[0] for _, _, names in SAME if len(names) == 1}
    missing = [name for name in RULES if name not in alone]
    assert not missing, f"tests/notebook/test_normalise.py: SAME has no pair that takes {missing} alone"


def test_no_rule_is_tried_on_a_text_that_no_run_can_have() -> None:
    """Megabytes of stored output are compared as they are, at once."""
    long = "0x7f3c00 1.23456789012345678\n" * 200_000
    assert after(long, "") is None
    assert after(long, long) == ()
