"""Argument lists as text. Not: what a call does with them."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.recording import InputError
from deskcheck.sources.text.arguments import argument_list, parenthesised


def called(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What Python itself makes of the text behind a function's name."""
    got: tuple[tuple[Any, ...], dict[str, Any]] = eval(
        f"f{text}", {"f": lambda *args, **kwargs: (args, kwargs)}
    )
    return got


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("(3, seed=1)", (3,), {"seed": 1}),
        ("3, seed=1", (3,), {"seed": 1}),
        ("()", (), {}),
        ("", (), {}),
        ("(3, 4)", (3, 4), {}),
        ("((3, 4),)", ((3, 4),), {}),
        ("(3, 4), 5", ((3, 4), 5), {}),
        ("(1) if 0 else (2)", (2,), {}),
        ("(1, 2)[0]", (1,), {}),
        ("(n for n in ()) and 3, 4", None, {}),
        (" (\n  1,\n  2,\n) ", (1, 2), {}),
        ("*[1, 2], **{'a': 3}", (1, 2), {"a": 3}),
        ("')', \"(\"", (")", "("), {}),
    ],
)
def test_outer_parentheses_may_be_left_out(
    text: str, args: tuple[Any, ...] | None, kwargs: dict[str, Any]
) -> None:
    """The text means what it means behind a function's name, whether or not it brings the parentheses."""
    got = called(argument_list(text, "here"))
    assert got[1] == kwargs
    assert args is None or got[0] == args


texts = st.text(max_size=8)
literals = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(literals, max_size=4))
def test_literals_arrive(values: list[Any]) -> None:
    """Arguments written as literals arrive as they are, with parentheses and without."""
    bare = ", ".join(map(repr, values))
    assert called(argument_list(f"({bare})", "here")) == (tuple(values), {})
    assert called(parenthesised(bare, "here")) == (tuple(values), {})
    if len(values) != 1:  # (1, 2) alone reads as the call's own parentheses
        assert called(argument_list(bare, "here")) == (tuple(values), {})


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")  # of escapes in the text
@given(st.text("(),=1af[]{}+ \n'#\\:*;\t\0"))
def test_whatever_is_written_is_one_call_or_refused(text: str) -> None:
    """No text gets out of the call's parentheses, and none makes anything but an InputError."""
    try:
        accepted = argument_list(text, "here")
    except InputError:
        return
    body = ast.parse(f"f{accepted}", mode="eval").body
    assert isinstance(body, ast.Call)
    assert isinstance(body.func, ast.Name)


@pytest.mark.parametrize(
    ("text", "line", "caret"),
    [
        ("(3, 4", "(3, 4", 0),
        ("3, 4 5", "3, 4 5", 3),
        ("(3, = 4)", "(3, = 4)", 4),
        ("1), (2", "1), (2", 1),
        ("1) + f(2", "1) + f(2", 1),
        ("f(f(", "f(f(", 1),
        ("(1,\n 2 3)", " 2 3)", 1),
    ],
)
def test_a_caret_shows_where(text: str, line: str, caret: int) -> None:
    """The error shows the user's own line, and the caret stands under the place in it."""
    with pytest.raises(InputError) as caught:
        argument_list(text, "here")
    shown = str(caught.value).split("\n")
    assert shown[1:3] == [f"    {line}", f"    {' ' * caret}^"]
    assert "(3, seed=1)" in shown[3]


@pytest.mark.parametrize("text", ["a=1, a=2", "yield 3", "x := ", "1\0", "(" * 300, "import os", "1; 2"])
def test_what_no_call_accepts_is_refused(text: str) -> None:
    """What only the compiler refuses, and what the parser gives up on, is refused too."""
    with pytest.raises(InputError):
        argument_list(text, "here")
