"""Digests of what objects of library classes hold."""

import string
import types
from decimal import Decimal
from typing import Any

import pytest

from deskcheck.notebook.state.digests import attributes


class Library:
    """Of a module that is not the notebook's."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__ = fields


SAME = [
    (Library(a=1, b="x"), Library(b="x", a=1)),
    (Library(a=[1, (2.0, None)]), Library(a=[1, (2.0, None)])),
    (Library(a=1, _private=1), Library(a=1, _private=2)),
    (Library(a="0" * 32), Library(a="1" * 32)),
    (Library(a=Library(b=1)), Library(a=Library(b=1))),
]
OTHER = [
    (Library(a=1), Library(a=2)),
    (Library(a=1), Library(a=True)),
    (Library(a=1), Library(b=1)),
    (Library(a=[1]), Library(a=[1, 1])),
    (Library(a={1: 2}), Library(a={1: 3})),
    (Library(a=Library(b=1)), Library(a=Library(b=2))),
    (string.Template("a"), string.Template("b")),
]


@pytest.mark.parametrize("pair", SAME)
def test_equal_attributes(pair: tuple[Any, Any]) -> None:
    """Order, private ones and drawn ids do not matter."""
    assert attributes(pair[0]) == attributes(pair[1]) is not None


@pytest.mark.parametrize("pair", OTHER)
def test_other_attributes(pair: tuple[Any, Any]) -> None:
    """Names, values and what lies inside of them do."""
    assert attributes(pair[0]) != attributes(pair[1])


def test_what_has_none() -> None:
    """Builtins, modules, functions, classes, and objects that keep everything to themselves."""
    for obj in (1, [Library()], string, attributes, Library, Decimal(1), types.SimpleNamespace(a=1)):
        assert attributes(obj) is None


def test_what_refers_to_itself_ends() -> None:
    """And so does what is too large."""
    endless = Library(a=[])
    endless.__dict__["a"] += [endless, [[[[[[1]]]]]], list(range(100_000))]
    assert attributes(endless) is not None


def test_arrays_in_an_object() -> None:
    """They count by their items, numpy's scalars by their value."""
    numpy = pytest.importorskip("numpy", reason="would have proved that what an estimator has learnt counts")
    one, other = numpy.arange(3.0), numpy.array([0.0, 1.0, 2.5])
    assert attributes(Library(a=one)) == attributes(Library(a=one.copy()))
    assert attributes(Library(a=one)) != attributes(Library(a=other))
    assert attributes(Library(a=one[1])) != attributes(Library(a=other[2]))
    assert attributes(Library(a=numpy.array([{}]))) is not None
