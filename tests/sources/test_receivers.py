"""How an object is made for a method that is tried out, and what a call on it looks like."""

import ast
import random

import pytest

from deskcheck.sources.inputs.callables import METHOD, PROPERTY, callables
from deskcheck.sources.inputs.candidates import candidates
from deskcheck.sources.inputs.receivers import made_by, receiver_of, without_object
from deskcheck.sources.inputs.targets import function_node

TEXT = """
from elsewhere import Far

class Base:
    def __init__(self, size: int):
        self.size = size

class Own(Base):
    def __init__(self, name: str, /, size: int = 2):
        self.name = name

class Inherited(Base):
    def grow(self, by: int):
        return self.size + by

    @property
    def half(self):
        return self.size // 2

class Empty(dict):
    def first(self):
        return min(self)

class OfFar(Far):
    pass

class FarButOwn(Far):
    def __init__(self, n: int):
        self.n = n

class New:
    def __new__(cls, n):
        return n

class Circle:
    class Inner:
        def __init__(self, r: float):
            self.r = r
"""


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Base", ["size"]),
        ("Own", ["name", "size"]),
        ("Inherited", ["size"]),
        ("FarButOwn", ["n"]),
        ("Circle.Inner", ["r"]),
        ("Empty", None),
        ("OfFar", "none"),
        ("New", "none"),
        ("Missing", "none"),
    ],
)
def test_the_arguments_of_a_class_are_those_of_its_init(
    name: str, parameters: list[str] | str | None
) -> None:
    """Its own or an inherited one in the file; of a class without one none; else it cannot be made."""
    found = receiver_of(ast.parse(TEXT), name)
    if parameters == "none":
        assert found is None
        return
    assert found is not None
    assert found.name == name
    node = found.node
    assert (
        None if node is None else [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    ) == parameters


def test_calls_of_a_method_make_its_object_first() -> None:
    """Each is Python that runs as it stands, and its first argument can be told from the others."""
    node = function_node(TEXT, "Inherited.grow")
    assert node is not None
    names: dict[str, object] = {"Far": object}
    exec(compile(TEXT.replace("from elsewhere import Far", ""), "<text>", "exec"), names)
    receiver = receiver_of(ast.parse(TEXT), "Inherited")
    offered = candidates(
        TEXT,
        "Inherited.grow",
        without_object(node),
        known_inputs=(),
        ways=("hints",),
        rng=random.Random(0),
        propose=None,
        receiver=receiver,
    )
    seen = set()
    by, arguments = next(offered)
    for _ in range(30):
        assert by == "hints"
        call = ast.parse(f"Inherited.grow{arguments}", mode="eval").body
        assert isinstance(call, ast.Call)
        size, by_ = (ast.literal_eval(part) for part in (call.args[0].args[0], call.args[1]))  # type: ignore[attr-defined]  # the call of the class
        assert eval(f"Inherited.grow{arguments}", names) == size + by_
        assert eval(made_by(arguments), names).size == size
        seen.add(made_by(arguments))
        by, arguments = offered.send(True)
    assert len(seen) > 5


def test_methods_are_named_only_where_that_is_asked_for() -> None:
    tree = ast.parse(TEXT)
    plain = {each.name: each.why_not for each in callables(tree)}
    assert plain["Inherited.grow"] == plain["Inherited.half"] == METHOD
    with_methods = {each.name: each.why_not for each in callables(tree, methods=True)}
    assert with_methods["Inherited.grow"] is None
    assert with_methods["Inherited.half"] == PROPERTY
