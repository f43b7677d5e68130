"""Every character of Python's, and every pair of surrogates, is recorded as the program has it."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.recording import Value
from deskcheck.tracer import ReferenceTracer, TraceLimits
from tests.tracer import agree
from tests.tracer.conftest import run_traced

TRACERS: list[Any] = [ReferenceTracer]
if agree.native_is_built():
    from deskcheck.tracer.native import NativeTracer

    TRACERS.append(NativeTracer)

LIMITS = TraceLimits(text_chars=1 << 17, items=1 << 12)
HALVES = [0xD7FF, 0xD800, 0xD801, 0xDABC, 0xDBFF, 0xDC00, 0xDC01, 0xDEAD, 0xDFFF, 0xE000]


def returned(made: str, tracer: Any, limits: TraceLimits = LIMITS) -> Value:
    """The value of an expression, as a function's `return` event has it after a journey through a file's UTF-8."""
    run = run_traced(f"def f():\n    return {made}\nf()\n", limits, tracer_class=tracer)
    event = next(event for event in run.trace if event.kind == "return" and event.function == "f")
    text = event.row.value
    assert text is not None
    text.encode("utf-8")
    assert json.loads(text) is not None
    value = event.value
    assert value is not None
    return value


@pytest.mark.parametrize("tracer", TRACERS)
def test_every_character(tracer: Any) -> None:
    """The text of all code points, in blocks."""
    many = sys.maxunicode + 1
    made = f"[''.join(map(chr, range(at, at + 65536))) for at in range(0, {many}, 65536)]"
    recorded = returned(made, tracer)
    assert recorded.whole
    assert repr(recorded) == repr(eval(made))


@pytest.mark.parametrize("tracer", TRACERS)
def test_every_pair_of_characters_around_the_surrogates(tracer: Any) -> None:
    """A high surrogate before a low one is two characters; the character that JSON would make of them is one."""
    pairs = [chr(one) + chr(other) for one in HALVES for other in HALVES]
    values = [*pairs, *(f"'{pair}\"\n\\\U0001f600é" for pair in pairs), "\U00010000", "\\ud800\\udc00"]
    recorded = returned(ascii(values), tracer)
    assert repr(recorded) == repr(values)
    assert [item.atom for item in recorded.items] == values
    assert recorded.builtin


@pytest.mark.parametrize("tracer", TRACERS)
def test_every_pair_of_surrogates_beside_one_another(tracer: Any) -> None:
    """Each 32nd high surrogate before every low one: 32,768 pairs in 32 texts. Nothing of the program's is traced for them."""
    made = "[''.join(map(''.join, zip(chr(high) * 1024, map(chr, range(0xdc00, 0xe000))))) for high in range(0xd800, 0xdc00, 32)]"
    assert repr(returned(made, tracer)) == repr(eval(made))


@pytest.mark.parametrize("tracer", TRACERS)
def test_a_long_text_is_cut_before_a_low_surrogate(tracer: Any) -> None:
    """What is recorded of a text that is too long is its beginning, and says how long the text is."""
    recorded = returned("'ab\\ud800' + '\\udfff' * 40", tracer, TraceLimits(text_chars=10))
    assert (recorded.atom, recorded.length, recorded.cut) == ("ab\ud800", 43, "long")
    recorded = returned("'ab' * 20 + '\\ud800' + '\\udfff'", tracer, TraceLimits(text_chars=10))
    assert (recorded.atom, recorded.length, recorded.cut) == ("ab" * 5, 42, "long")


@given(st.lists(st.text(st.sampled_from([*map(chr, HALVES), "'", '"', "\\", "u", "\n", "é", "\U0001f600"]))))
def test_both_tracers_record_the_text_that_is_there(values: list[str]) -> None:
    """Any text of these characters, alone and as a key."""
    told = {text: [text, (text,)] for text in values}
    for tracer in TRACERS:
        assert repr(returned(ascii(told), tracer)) == repr(told)
