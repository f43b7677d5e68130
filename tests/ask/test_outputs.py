"""Outputs by value: what says the same is right however it is spelled, a near miss is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask.answers.outputs import same_output

FRAME = "     name  score\n0   Alice   1.50\n1     Bob   2.25\n\n[2 rows x 2 columns]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", "3\n"),
        ("1.0000001", "1.0"),
        ("0.1", "0.1000000000000000055"),
        ("{'b': 2.0, 'a': [1, None]}", "{'a': [1, None],\n 'b': 2.0}"),
        ("[1, 2,\n 3]", "[1, 2, 3]"),
        ("np.float64(1.4)", "1.4"),
        ("[1.5, 2.0]", "[np.float64(1.5), np.float64(2.0)]"),
        ("array([1., 2.])", "array([1.0, 2.0])"),
        ("[1. 2.]", "array([1., 2.])"),
        ("array([[1, 2],\n       [3, 4]])", "[[1 2]\n [3 4]]"),
        ("array([1, 2], dtype=int32)", "array([1, 2])"),
        ("array([ True, False])", "[ True False]"),
        ("[nan 1.]", "array([nan,  1.])"),
        ("    name score\n0  Alice   1.5\n1    Bob  2.25\n[2 rows x 2 columns]", FRAME),
        ("mean: 0.3333333333, n = 3", "mean:  0.33333334, n = 3"),
        ("1e-16", "0.0"),
    ],
)
def test_the_same(text: str, expected: str) -> None:
    """Numbers by value, layout aside."""
    assert same_output(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "3"),
        ("4", "3"),
        ("1.01", "1.0"),
        ("0.14", "0.1"),
        ("5e-12", "1e-12x"),
        ("1000001", "1000000"),
        ("-1", "1"),
        ("'a'", "a"),
        ("True", "1"),
        ("None", "0"),
        ("[1, 2, 3]", "[1, 2]"),
        ("[[1, 2, 3, 4]]", "[[1, 2], [3, 4]]"),
        ("(1, 2)", "[1, 2]"),
        ("{'a': 1}", "{'a': 1, 'b': 2}"),
        ("array([1., 2.1])", "array([1., 2.])"),
        ("array([True, True])", "array([True, False])"),
        ("array([1, 2])", "array([1, 2"),
        (FRAME.replace("Bob", "Rob"), FRAME),
        (FRAME.replace("2.25", "2.26"), FRAME),
        (FRAME.replace("name  score", "score  name"), FRAME),
        ("2020-01-1", "2020-01-01"),
        ("12:5", "12:05"),
        ("x1", "x2"),
        ("ValueError: a", "KeyError: a"),
        ("3\n3", "3"),
        ("__import__('os').system('true')", "0"),
        ("9" * 5000, "8" * 5000),
        ("[" * 100_000, "[" * 99_999),
    ],
)
def test_a_near_miss(text: str, expected: str) -> None:
    """Other numbers, signs, types, shapes, words, lengths; and what would have to be run."""
    assert not same_output(text, expected)


def test_the_recorded_value() -> None:
    """What a cell shows may be written out as Python or as an array, where its value is recorded whole."""
    columns = "{'name': ['Alice', 'Bob'], 'score': [1.5, 2.25]}"
    assert same_output("{'score': [1.5, 2.25], 'name': ['Alice', 'Bob']}", FRAME, columns)
    assert not same_output("{'score': [1.5, 2.26], 'name': ['Alice', 'Bob']}", FRAME, columns)
    assert same_output("[[0 1]\n [2 3]]", "<a text of its own>", "[[0, 1], [2, 3]]")
    assert not same_output("", FRAME, columns)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_the_same_as_itself(text: str, other: str) -> None:
    """And whatever a model writes is judged without an error, the same both ways but for the empty answer."""
    assert same_output(text, text)
    if text.strip() and other.strip():
        assert same_output(text, other) == same_output(other, text)
