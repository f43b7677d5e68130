"""Reading values as text, and telling whether two are the same."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask.answers.values import read_value, same
from tests.ask.conftest import soon

_atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.just(...)
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3))
)
_keys = st.integers() | st.text(max_size=3) | st.booleans() | st.tuples(st.integers(), st.text(max_size=2))
_values = st.recursive(
    _atoms,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.tuples(inner)
        | st.dictionaries(_keys, inner, max_size=4)
        | st.sets(_keys, max_size=4)
        | st.frozensets(_keys, max_size=4)
        | st.binary(max_size=4).map(bytearray)
    ),
    max_leaves=12,
)


@given(_values)
def test_repr_is_read_back(value: object) -> None:
    """What repr writes of builtin data is read, and is the same as itself, strict or not."""
    known, read = read_value(repr(value))
    assert known
    assert type(read) is type(value)
    assert repr(read) == repr(value) or isinstance(value, (set, frozenset, list, tuple, dict))
    assert same(" " + repr(value) + "\n", repr(value))
    assert same(f"({value!r})", repr(value))
    assert same(f"({value!r})", repr(value), strict=False)


@given(_values, _values)
def test_strict_sameness_is_sameness_of_repr(left: object, right: object) -> None:
    """For data without sets and dicts, strictly the same means the same repr; both ways round."""
    assert same(repr(left), repr(right)) == same(repr(right), repr(left))
    if not any(mark in repr(left) + repr(right) for mark in "{}") and "nan" not in repr(left):
        assert same(repr(left), repr(right)) == (repr(left) == repr(right))


@pytest.mark.parametrize(
    ("left", "right", "strict", "loose"),
    [
        ("1", "True", False, True),
        ("1", "1.0", False, True),
        ("0.0", "-0.0", False, True),
        ("[1]", "(1,)", False, False),
        ("{1, 2}", "{2, 1}", True, True),
        ("{1, 2}", "frozenset({1, 2})", False, True),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", True, True),
        ("[1, 2]", "[2, 1]", False, False),
        ("{1: True}", "{1: 1}", False, True),
        ("nan", "nan", True, True),
        ("float('nan')", "nan", True, True),
        ("{nan, nan}", "{nan}", False, False),
        ("{nan, nan, 1}", "{1, nan, float('nan')}", True, True),
        ("{nan: 1, nan: 1}", "{nan: 1}", False, False),
        ("[(-0-1j)]", "[(0-1j)]", False, True),
        ("[-1j]", "[complex(0, -1)]", True, True),
        ("[(-0-0j)]", "[complex(-0.0, -0.0)]", True, True),
        ("[nan]", "[float('nan')]", True, True),
        ("float('-inf')", "-inf", True, True),
        ("1e400", "inf", True, True),
        ("set()", "{}", False, False),
        ("set([])", "set()", True, True),
        ("'abc'", '"abc"', True, True),
        ("'a' 'bc'", "'abc'", True, True),
        ("abc", "'abc'", False, False),
        ("range(3)", "range(0, 3)", True, True),
        ("range(0)", "range(5, 5)", False, True),
        ("b'x'", "'x'", False, False),
        ("1j", "(0+1j)", True, True),
        ("(-0-1j)", "(-0-1j)", True, True),
        ("Ellipsis", "...", True, True),
        ("0x10", "16", True, True),
        ("{1: 2, 1: 3}", "{1: 3}", True, True),
        ("1 + 1", "2", False, False),
        ("2 ** 3", "8", False, False),
        ("'a' + 'b'", "'ab'", False, False),
        ("str(3)", "'3'", False, False),
        ("{[1]}", "{1}", False, False),
        ("", "''", False, False),
    ],
)
def test_pairs(left: str, right: str, strict: bool, loose: bool) -> None:
    """1, 1.0 and True are three values where it is strict and one where it is Python's ==."""
    assert same(left, right) is strict
    assert same(left, right, strict=False) is loose


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "(" * 5_000 + ")" * 5_000,
        "-" * 15_000 + "1",
        "not " * 4_000 + "1",
        "1" + "+1" * 9_000,
        "9" * 19_000,
        "'" + "a" * 10_000_000 + "'",
        "{" * 90 + "}" * 90,
        "lambda: " * 2_000 + "0",
        "f'{' + '{1}' * 1000 + '}'",
        "range(" + "9" * 400 + ")",
        "complex('(" + "9" * 400 + ")')",
        "frozenset(range(10**9))",
        "__import__('os')._exit(0)",
        "[x for x in range(10**9)]",
        "\x00",
        "\ud800",
        "'\\N{nothing}'",
        "1 is 1",
        "slice([1], {}, 3)",
        "bytearray(10**12)",
        "bytes(99999999999)",
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_excess_is_no_match_and_takes_no_time(text: str) -> None:
    """No text makes reading raise, run anything or take long."""
    with soon():
        assert not same(text, "1")
        assert not same(text, "[[1]]", strict=False)


def test_long_expected_values_are_compared_as_values() -> None:
    """The bound on length follows what is expected: a long right answer in other spelling is right."""
    long = list(range(20_000))
    assert same(repr(long).replace(" ", ""), repr(long))
    assert not same(repr([*long[:-1], 0]), repr(long))


def test_complex_keeps_the_signs_of_its_zeros() -> None:
    """(-0-1j) is what repr writes for a negative zero real part, where adding would lose it."""
    known, value = read_value("(-0.0-0j)")
    assert known
    assert math.copysign(1, value.real) == -1
    assert math.copysign(1, value.imag) == -1
