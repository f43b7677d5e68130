"""Recordings without the global variables that nothing in them reads."""

import json
from typing import Any

import pytest

from deskcheck.recorder.reads import reads_of, without
from deskcheck.recording import Kind
from deskcheck.recording.block import rows
from deskcheck.recording.trace import Row


def row(index: int, **columns: Any) -> bytes:
    texts: dict[str, Any] = {name: json.dumps(value) for name, value in columns.items()}
    empty = Row(0, index, Kind.LINE, 0, "f", "a.py", index + 1, 0, *[None] * 9)
    return json.dumps(empty._replace(**texts)).encode()


LIST = {"kind": "list", "type": "list", "items": [{"ref": 2}]}
INSTANCE = {"kind": "object", "type": "Thing", "fields": {"x": 1}}


def test_what_is_left_of_a_value_is_its_type() -> None:
    """Of an object that a number stands for, too, whenever its content was told."""
    blocks = [
        row(0, globals={"A": {"ref": 1}, "B": 7, "KEPT": {"ref": 3}}, objects={"1": LIST, "2": INSTANCE, "3": LIST}),
        row(1, globals={"A": {"ref": 2}, "B": {"int": "9" * 30}}, objects={"1": {"splice": [0, 1, []]}}),
        row(2, globals={"A": {"tuple": [{"ref": 1}]}, "B": {"unbound": True}}, objects={"3": None}),
        row(3, globals={"A": {"method": "append", "self": {"ref": 1}}, "B": None}),
    ]  # fmt: skip
    left = [
        each for block in without(blocks, frozenset({("a.py", "A"), ("a.py", "B")})) for each in rows(block)
    ]
    seen = [json.loads(each.globals or "{}") for each in left]
    types = [{name: each[name].get("type") for name in "AB"} for each in seen]
    assert [each["A"] for each in types] == ["list", "Thing", "tuple", "method"]
    assert [each["B"] for each in types] == ["int", "int", None, "NoneType"]
    assert all(each["A"]["cut"] == "varies" for each in seen)
    assert (seen[0]["KEPT"], seen[2]["B"]) == ({"ref": 3}, {"unbound": True})


def test_objects_stay_that_anything_else_leads_to() -> None:
    """At any time, and through others; the rest goes with the variable."""
    blocks = [
        row(0, globals={"A": {"ref": 1}}, objects={"1": LIST, "2": INSTANCE, "4": LIST, "5": INSTANCE}),
        row(1, locals={"x": {"ref": 4}}, objects={"4": {"splice": [0, 1, [{"ref": 5}]]}}),
    ]
    first, second = (each for block in without(blocks, frozenset({("a.py", "A")})) for each in rows(block))
    assert set(json.loads(first.objects or "{}")) == {"2", "4", "5"}
    assert set(json.loads(second.objects or "{}")) == {"4"}


READERS = """
import os
A = B = C = D = F = 1

def plain():
    return A + other.B

def named():
    return lookup("C")

def computed(name):
    return globals()[name]

class Held:
    def method(self):
        def inner():
            return D
        return inner()

F
"""


@pytest.mark.parametrize(
    ("functions", "read"),
    [
        (["plain"], "AB"),
        (["named"], "C"),
        (["plain", "named"], "ABC"),
        (["computed"], "ABCDF"),
        (["plain", "computed"], "ABCDF"),
        (["Held.method"], "D"),
        (["Held.method.<locals>.inner"], "D"),
        (["plain", "not here"], "ABCDF"),
        ([], ""),
    ],
)
def test_what_functions_may_read_is_told_by_their_text(functions: list[str], read: str) -> None:
    """Names, attributes and words in texts; everything where a function takes all names or is not found."""
    may = reads_of([("a.py", function) for function in functions], lambda file: READERS)
    assert "".join(name for name in "ABCDF" if may(("a.py", name))) == read


@pytest.mark.parametrize(("function", "read"), [("plain", "B"), ("named", "C"), ("computed", "ABCDF")])
def test_another_module_is_read_by_attributes_and_texts_alone(function: str, read: str) -> None:
    """A plain name is its own module's."""
    may = reads_of([("a.py", function)], lambda file: READERS)
    assert "".join(name for name in "ABCDF" if may(("b.py", name))) == read


def test_what_does_not_parse_may_read_anything() -> None:
    """Its text tells nothing."""
    assert reads_of([("a.py", "f")], lambda file: "def f(:\n")(("b.py", "A"))
