"""Answers with objects in them: by value, who is whom, the order of attributes aside."""

import pytest

from deskcheck.ask.answers.objects import UnreadableObject, compare, read
from deskcheck.ask.samples.prompts import TASKS


def same(text: str, expected: str, *arguments: int) -> bool | None:
    found = compare(text, expected, arguments)
    return None if found is None else found.same


POINT = "Point(x=2, y=[1, {'a': (3,)}])"


@pytest.mark.parametrize(
    "text",
    [
        POINT,
        "Point(y=[1, {'a': (3,)}], x=2)",
        "Point#7(x=2, y=[1, {'a': (3,)}])",
        'shapes.Point(x = 2, y=[1,{"a":(3,)}])',
        "test_it.<locals>.Point(x=2, y=[1, {'a': (3,)}])",
    ],
)
def test_one_object_in_other_words(text: str) -> None:
    assert same(text, POINT) is True


@pytest.mark.parametrize(
    ("text", "right_class", "right_fields"),
    [
        ("Point(x=3, y=[1, {'a': (3,)}])", True, 0.5),
        ("Point(x=True, y=[2])", True, 0.0),
        ("Point(x=2.0, y=[1, {'a': (3,)}])", True, 0.5),
        ("Point(x=2)", True, 0.5),
        ("Point(x=2, y=[1, {'a': (3,)}], z=0)", True, 1.0),
        ("Pixel(x=2, y=[1, {'a': (3,)}])", False, 0.0),
        ("Point(x=2, y=[1, {'a': [3]}])", True, 0.5),
        ("Point(2, [1, {'a': (3,)}])", True, 0.0),
        ("{'x': 2, 'y': [1, {'a': (3,)}]}", False, 0.0),
        ("None", False, 0.0),
        ("Point", False, 0.0),
    ],
)
def test_near_misses_score_0(text: str, right_class: bool, right_fields: float) -> None:
    found = compare(text, POINT, ())
    assert found is not None
    assert (found.same, found.right_class, found.right_fields) == (False, right_class, right_fields)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "wrong(",
            "Point(x=2",
            "Point#1",
            "<Point #3 again>",
            "Point(**{'x': 2})",
            "[P#1(x=1), P#1(x=2)]",
        ),
        *(
            "Point(x=1 + f())",
            "Point(x=lambda: 2)",
            "Point(x=2) > 3",
            "(" * 5000,
            "[" * 20_000,
            "Point·1(x=2)",
        ),
        *("Point(x=2).y", "f'{x}'", "Point(x=1, x=1)", "<method a of >", "{1: 2, **x}", "x" * 50_000),
    ],
)
def test_what_cannot_be_read(text: str) -> None:
    """Nothing is run, nothing is raised."""
    assert same(text, POINT) in (None, False)


def test_an_object_of_the_question_is_written_whole() -> None:
    """Once, changed or not: a reference alone is no value, and the prompt says so."""
    right = "Box(held=Point#2(x=1), again=<Point #2 again>)"
    assert same(right, right, 2) is True
    assert same("Box(held=<Point #2 again>, again=<Point #2 again>)", right, 2) is not True
    assert "is written whole where it comes first, as Class#1(...), changed or not" in TASKS["returned"]


def test_who_is_whom() -> None:
    """An object that the question shows is named by its number; of others it counts who is whom."""
    two, one = "[P(x=1), P(x=1)]", "[P#2(x=1), <P #2 again>]"
    assert same(two, two) is same(one, one) is True
    assert same(two, one) is same(one, two) is False
    for other in ("[P#9(x=1), <P #9 again>]", "[P#2(x=1), P#2(x=1)]", "[P#2(x=1), P#2]", "[P#2, P#2(x=1)]"):
        assert same(other, one) is True
    assert same("[P#3(x=1), P#4(x=1)]", two) is True
    assert same("[P#1(x=1), P(x=1)]", "[P#1(x=1), P(x=1)]", 1) is True
    for other in ("[P(x=1), P(x=1)]", "[P#2(x=1), P(x=1)]", "[P(x=1), P#1(x=1)]", "[P#1(x=1), <P #1 again>]"):
        assert same(other, "[P#1(x=1), P(x=1)]", 1) is False
    assert same("P#1(x=1)", "P(x=1)", 1) is False, "a new one that reads as one of the arguments"


def test_circles() -> None:
    ring = "Node#2(n=0, next=Node#3(n=1, next=<Node #2 again>))"
    assert same(ring, ring) is True
    assert same(ring.replace("#2", "#8").replace("#3", ""), ring) is True
    assert same("Node#2(n=0, next=Node#3(n=1, next=<Node #3 again>))", ring) is False
    unrolled = "Node#2(n=0, next=Node#3(n=1, next=Node#4(n=0, next=<Node #3 again>)))"
    assert same(unrolled, ring) is False


def test_sets_dictionaries_and_their_order() -> None:
    assert same("C(s={P(x=1), P(x=2)})", "C(s={P(x=2), P(x=1)})") is True
    assert same("C(s={P(x=1), P(x=3)})", "C(s={P(x=2), P(x=1)})") is False
    assert same("C(d={'b': 1, 'a': P()})", "C(d={'a': P(), 'b': 1})") is True
    assert same("D({'b': 1, 'a': 2}, n=1)", "D({'a': 2, 'b': 1}, n=1)") is True
    ordered = "collections.OrderedDict({'a': 1, 'b': 2})"
    assert same("OrderedDict({'a': 1, 'b': 2})", ordered) is True
    assert same("OrderedDict({'b': 2, 'a': 1})", ordered) is False
    assert same("frozenset({P(x=1)})", "{P(x=1)}") is False


@pytest.mark.parametrize(
    ("text", "expected", "right"),
    [
        ("<function f at 0x7f00>", "<function f>", True),
        ("f", "<function f>", True),
        ("<function g>", "<function f>", False),
        ("<function outer.<locals>.inner>", "<function outer.<locals>.inner>", True),
        ("<function inner>", "<function outer.<locals>.inner>", False),
        ("<function outer.<locals>.<lambda>>", "<function outer.<locals>.<lambda>>", True),
        ("int", "<class 'int'>", True),
        ("<class 'm.C'>", "<class 'C'>", True),
        ("<class 'D'>", "<class 'C'>", False),
        ("(1, <class 'int'>)", "(1, <class 'float'>)", False),
        ("<method append of [1, 2]>", "<method append of [1, 2]>", True),
        ("<method append of [1, 3]>", "<method append of [1, 2]>", False),
        (
            "<method top of P#1(x=<method low of P(x=2)>)>",
            "<method top of P(x=<method low of P(x=2)>)>",
            True,
        ),
        ("<Color.RED: 1>", "Color.RED", True),
        ("Color.BLUE", "Color.RED", False),
        ("Decimal('1.50')", "Decimal('1.50')", True),
        ("Decimal('1.5')", "Decimal('1.50')", False),
        ("ValueError('x')", "ValueError('x')", True),
        ("C(text='a > b #1( <class int>')", "C(text='a > b #1( <class int>')", True),
        ("C(text='a > b #2(')", "C(text='a > b #1(')", False),
        ("C(n=-0.0)", "C(n=0.0)", False),
        ("C(n=nan)", "C(n=nan)", True),
        ("[<object>, <object>]", "[<object>, <object>]", True),
        ("[<object#4>, <object#4>]", "[<object>, <object>]", False),
    ],
)
def test_other_values(text: str, expected: str, right: bool) -> None:
    assert same(text, expected) is right


def test_the_expected_text_must_be_one() -> None:
    with pytest.raises(UnreadableObject):
        compare("1", "<generator g>", ())
    assert read("C#1(x=<C #1 again>)").fields["x"].number == 1
