"""Reading what a model wrote: it never raises, and says what it could not read and where. Values come back exactly."""

import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskcheck.notation import NOTATIONS, Claim, Moment, Parsed, What, claims, moments, parse_cwm, untrue
from deskcheck.notation.forms.cwm import cwm_text
from deskcheck.notation.values import Objects, Reader, read_value, value_text
from deskcheck.recording.value import decode, render
from deskcheck.tracer.result import snapshot
from tests.sample import examples
from tests.tracer.conftest import FILE, run_traced

CODE = """\
class A:
    pass
def f(words, n):
    kept = []
    for word in words:
        if len(word) > n:
            kept.append(word.upper())
    return kept
a = b = f(['red', 'of'], 2)
o = A(); o.me = o
try:
    {}['k']
except KeyError as error:
    print(error)
g = (x for x in a)
next(g)
"""
STATES = list(moments(run_traced(CODE).trace, file=FILE))
TEXTS = {name: notation.write(iter(STATES), CODE) for name, notation in NOTATIONS.items()}


def can_be_used(told: Parsed) -> None:
    """Every state that was read can be compared and its values decoded and shown; every place can be pointed to."""
    for state in told.moments:
        assert state == state
        for frame in state.frames:
            for value in [*frame.locals.values(), *frame.stack, state.value]:
                render(decode(value, state.objects))
    assert len(told.lines) == len(told.moments)
    for place in told.unreadable:
        assert place.line >= 1
        assert place.column >= 1
        assert place.why


@settings(deadline=None, max_examples=examples(40))
@given(text=st.text())
@example(text="4: a=" + "[" * 5000)
@example(text="4: a=" + "9" * 5000)
@example(text="f 4: a=#1, b=#1=#1")
@example(text="f 4: a=#1=(1,)")
@example(text="f 4: a={{}: 1}, b={1: 2, 3}")
@example(text="f 4: a=<array x, :shape={}>")
@example(text="return f 1 -> <tuple set (1), :names=[1]>")
@example(text="f 1\nreturn 1 -> 1\n2\n3")
@example(text="in 5: a=1\nopen 7\nframe 3\nglobals 'a: b=1")
@example(text="  # (1) a\n1 |   # (1) a=\n1 | # (1\n2 |   # (1) f=1; ...; ")
@example(text="Step 1.\nStep 1 (line 2) sets x to [.\nStep 9 runs line .")
@example(text="<|call_sep|>{<|action_sep|>1:<|frame_sep|><|line_sep|>[]<|action_sep|><|frame_sep|>")
@example(text="a=b'\\xe9'\x85x\u20281")
def test_any_text(text: str) -> None:
    """Whatever the text, parsing ends with states or reasons."""
    for notation in NOTATIONS.values():
        can_be_used(notation.parse(text))
    can_be_used(parse_cwm(text, CODE))


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_true_texts_cut_and_changed(data: st.DataObject) -> None:
    """A rendering that is cut off, or in which characters were replaced, is read as far as it can be."""
    name = data.draw(st.sampled_from(sorted(TEXTS)))
    text = TEXTS[name]
    at = data.draw(st.integers(0, len(text)))
    if data.draw(st.booleans()):
        text = text[:at]
    else:
        put = data.draw(st.text("#=<>[](){},:|'\"\\.-1a \n", max_size=3))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 4)) :]
    can_be_used(NOTATIONS[name].parse(text))


@pytest.mark.parametrize("name", ["scratchpad", "compact", "dynamic", "cwm"])
def test_states_before_a_mistake_are_kept(name: str) -> None:
    """What stands before a line that cannot be read is what it would be without it, and the place is told."""
    text = (
        TEXTS[name]
        .replace("kept=['RED']", "kept=['RED'")
        .replace('"kept": "[\'RED\']"', '"kept": "[\'RED\'"')
    )
    told = NOTATIONS[name].parse(text)
    assert told.unreadable
    first = told.unreadable[0]
    whole = NOTATIONS[name].parse(TEXTS[name])
    if name != "cwm":
        assert text.split("\n")[first.line - 1] == first.text
        before = sum(line < first.line for line in whole.lines)
        assert before > 10
        assert told.moments[:before] == whole.moments[:before]


@pytest.mark.parametrize("wrong", ["f 1: a=#3", "frame g 7: b=2\nf 1: a=", "globals: c=1\ncall f 1: a=1 2"])
def test_a_state_by_itself_has_nothing_of_a_wrong_one(wrong: str) -> None:
    """After a state that could not be read, the next one begins from nothing."""
    told = NOTATIONS["dynamic"].parse(f"{wrong}\nf 2: b=1")
    assert len(told.unreadable) == 1
    assert list(told.moments) == list(NOTATIONS["dynamic"].parse("f 2: b=1").moments)


def test_it_says_what_is_wrong() -> None:
    """The reason names what was expected, and the column where."""
    for text, column, why in [
        ("f 1: a=[1, 2", 13, "expected ','"),
        ("f 1: a=2 b=3", 10, "expected the end of the line"),
        ("f 1: a=007", 8, "a number that begins with 0"),
        ("f 1: a=b", 8, "b is not a value"),
        ("f 1: a=#3", 10, "#3 is used but never defined"),
        ("f 1: a=(1)", 11, "a tuple of one item has a comma after it"),
        ("1: a=1", 2, "no frame is open: expected a function"),
        ("return f 1", 11, "expected '->'"),
    ]:
        told = NOTATIONS["compact"].parse(text)
        assert [(place.line, place.column, place.why) for place in told.unreadable] == [(1, column, why)]
        assert told.moments == ()


def test_equality_is_of_states() -> None:
    """Numbers of identities and the order of names do not count; sharing, types, lines and kinds do."""

    def only(text: str) -> Moment:
        told = NOTATIONS["dynamic"].parse(text)
        assert told.unreadable == ()
        return told.moments[0]

    assert only("f 1: a=#7=[1], b=#7") == only("f 1: b=#1=[1], a=#1")
    apart = [
        "f 1: a=[1], b=[1]",
        "f 1: a=#1=[1], b=#1",
        "f 1: a=[True], b=[1]",
        "f 1: a=[1.0], b=[1]",
        "f 1: a=(1,), b=[1]",
    ]
    apart += [
        "f 2: a=[1], b=[1]",
        "g 1: a=[1], b=[1]",
        "call f 1: a=[1], b=[1]",
        "f 1: a=[1], b=[1] | 1",
        "f 1: a={1}, b=[1]",
    ]
    apart += [
        "f 1: a=-0.0",
        "f 1: a=0.0",
        "f 1: a=[1, ...], b=[1]",
        "globals: a=1\nf 1",
        "f 1 from 1:2-3",
        "f 1 via sorted",
    ]
    assert len({only(text).canonical() for text in apart}) == len(apart)


atoms = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
)
builtins = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(atoms, inner, max_size=3),
        st.sets(atoms, max_size=3),
        st.frozensets(atoms, max_size=3),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(value=builtins)
@example(value=[math.nan, math.inf, -math.inf, -0.0, complex(-0.0, -0.0), 10**18, -(10**19)])
@example(value=["\ud800", "'\"", "\\", "\x85\u2028", b"'\""])
@example(
    value=[(), (1,), [], {}, set(), frozenset(), bytearray(b"a"), range(3), range(1, 9, 2), slice(None, 1)]
)
def test_values_of_builtins(value: Any) -> None:
    """The text of a value made of builtins is its repr, and is read as the same value."""
    encoded, objects = snapshot(value)
    text = value_text(encoded, objects)
    assert text == repr(value)
    reader = Reader(text, Objects())
    found, contents = read_value(reader)
    assert reader.at == len(text)
    assert render(decode(found, contents)) == text
    assert value_text(found, contents) == text


def test_equal_lines_are_told_apart_by_the_way() -> None:
    """A line's number is found where only one of the equal lines can come next; else both are named."""
    code = "def f(n):\n    n += 1\n    n += 2\n    n += 1\n    return n\nf(1)\n"
    states = [s for s in moments(run_traced(code).trace, file=FILE) if s.running.function == "f"]
    text = cwm_text(states, code)
    told = parse_cwm(text, code)
    assert [state.running.line for state in told.moments] == [1, 2, 3, 4, 5, 5]
    assert told.unreadable == ()
    assert {place.why for place in parse_cwm(text).unreadable} == {"the line is not in the source"}
    numbered = parse_cwm(cwm_text(states, code, numbers=True))
    assert list(numbered.moments) == list(told.moments)
    code = "def f(n):\n    if n:\n        n = 0\n    else:\n        n = 0\n    return n\nf(1)\n"
    states = [s for s in moments(run_traced(code).trace, file=FILE) if s.running.function == "f"]
    told = parse_cwm(cwm_text(states, code), code)
    assert [state.running.line for state in told.moments] == [1, 2, 6, 6]
    assert [place.why for place in told.unreadable] == ["the line could be any of [3, 5]"]
    assert parse_cwm("", "").moments == parse_cwm("<|call_sep|>", "def (").moments == ()


def test_a_false_claim_is_found() -> None:
    """Of claims, those that the run does not bear out are told apart, whatever the claim is about."""
    true = list(claims(STATES))
    assert {claim.what for claim in true} >= set(What) - {What.GAP, What.LEAVES}
    assert untrue(true, STATES) == []
    said = (
        NOTATIONS["monologue"]
        .parse("Step 4 runs line 12.\nStep 5 (line 4) sets kept to [] and sets kept to [1].")
        .claims
    )
    at = next(claim for claim in true if claim.name == "kept" and claim.what is What.SETS)
    wrong = [
        Claim(at.step + 1, at.line, at.what, at.name, at.value),
        Claim(at.step, at.line, at.what, at.name, "[1]"),
    ]
    assert untrue([at, *wrong], STATES) == wrong
    assert len(said) == 3
