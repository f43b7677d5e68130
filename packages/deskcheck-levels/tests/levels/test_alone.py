"""The level `alone` with its working: what is asked holds the program and one state; what is answered is worked
out by the rules of the levels below, and is what Python does."""

import operator
import random
from collections import Counter
from itertools import islice, pairwise
from typing import Any

import pytest
from deskcheck_levels.alone.lesson import Writer
from deskcheck_levels.alone.lessons import Lessons, mixed_names
from deskcheck_levels.alone.text import AloneState, edit_text, read_program, read_state, state_words
from deskcheck_levels.alone.words import NUMBER, WORDS, value_text, value_words
from deskcheck_levels.machine.frames import OutsideLanguage

from deskcheck.notation import state_text
from deskcheck.notation.edits import edited
from deskcheck.recording import Recording
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from deskcheck.teach.small.stepper import true_states
from tests.teach.conftest import Recorded, call

CODE = """\
def f(a, b):
    low, high = min(a, b), max(a, b, 12)
    half, rest = divmod(high, 7)
    share = a / 2
    for i in range(high, low, -3):
        if i % 4 == 0 or not b:
            continue
        elif 1 < i <= 9 and half != rest:
            half = rest = half - 2 * i
        else:
            break
    else:
        half = -~abs(low)
    while rest < (40 if b else 10):
        rest += (rest & 6) + 5
        if rest ** 2 > 900:
            break
    low = (rest ^ 21 | 2) >> 1
    b = low << 2
    low, high, rest = rest // -7, low % -5, high
    return low - round(b)
"""


PYTHON = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "/": operator.truediv,
    "<": operator.lt,
    "!=": operator.ne,
}


def steps(recording: Recording) -> list[tuple[str, str]]:
    states = [state_text(moment) for moment in true_states(recording)]
    return list(pairwise(states))


@pytest.mark.slow
def test_answers_by_the_rules_are_what_is_recorded(record: Recorded) -> None:
    """The states come from the tracer; the answers from paper, reader and this level's words."""
    own = [call(f"own-{a}-{b}", CODE, f"({a}, {b})") for a, b in ((3, 20), (-8, 0), (17, True), (140, -6))]
    drawn = "generated:150,difficulty=1-3,seed=72,inputs=1", "generated:60,difficulty=1-10,seed=73,inputs=1"
    runs = record(*own, *[program for source in drawn for program in programs(source)])
    writer, known, outside = Writer(), 0, Counter[str]()
    for recording in Recordings(runs):
        try:
            program = read_program(recording.program.code)
        except OutsideLanguage:
            continue
        for before, after in steps(recording):
            try:
                words, state = writer.step(program, read_state(before))
            except OutsideLanguage as error:
                outside[str(error)] += 1
                continue
            assert edited(before, edit_text(program, words)) == after, (recording.id, before)
            assert state.event == "return" or state == read_state(after)
            known += 1
    assert known > 1500
    assert outside.total() < 0.02 * known, outside


def test_what_is_asked_is_the_program_and_the_state() -> None:
    """Nothing is looked up: the line that runs is a number, and its names are nowhere but in the program."""
    program = read_program("def f(n, m):\n    n = m - 47\n    return n\n")
    state = read_state("globals: def f\nf 2: n=120, m=-5")
    assert " ".join(program.words()) == (
        "L1 I0 def S0 N0 ( S1 N1 , S2 N2 ) : nl L2 I1 S0 N1 = S1 N2 - S2 7 4 nl L3 I1 return S0 N1 nl L4 I0 end"
    )
    assert " ".join(state_words(program, state)) == "state @2 N1 0 2 1 N2 minus 5 ask"
    words, after = Writer().step(program, state)
    assert " ".join(words) == (
        "L2 I1 S0 N1 = S1 N2 - S2 7 4 ; S1 N2 V0 minus 5 S2 V1 7 4 "
        "- V0 A minus 5 V1 B 7 4 : p add 2'1 5'0 p negative V0 minus 2 5 store S0 V0 N1 minus 2 5 "
        "out go down:onward I1 L3 I1 return here so @3 N1 minus 2 5 stop"
    )
    assert after == AloneState("line", 3, {"n": -52, "m": -5})


@pytest.mark.parametrize("op", PYTHON)
def test_results_are_those_of_python(op: str) -> None:
    true = PYTHON[op]
    chance, writer = random.Random(5), Writer()
    program = read_program(f"def f(a, b):\n    c = a {op} b\n    return c\n")
    known = 0
    for _ in range(150):
        a, b = chance.choice((chance.randrange(20), chance.randrange(-999, 1999))), chance.randrange(-3, 12)
        try:
            words, after = writer.step(program, AloneState("line", 2, {"a": a, "b": b}))
        except OutsideLanguage:
            continue
        known += 1
        result = after.names["c"]
        assert (type(result), repr(result)) == (type(true(a, b)), repr(true(a, b)))
        told = words[words.index("store") + 4 : words.index("out go")]
        assert value_text(told) == repr(result)
        assert all(word in NUMBER for word in words)
    assert known > 30


def test_values_come_back_from_their_words() -> None:
    for value in (0, 7, -120, 10**9, True, False, None, 0.5, -12.25):
        assert value_text(value_words(value)) == repr(value)
    other: Any
    for other in ("x", (1, 2), 1e100, float("nan"), 10**12, [3]):
        with pytest.raises(OutsideLanguage):
            value_words(other)
    for words in ([], ["minus"], ["0", "0"], ["1", "0"], ["T", "1"], ["minus", "T"], [".", "1"]):
        with pytest.raises(ValueError, match="not a value"):
            value_text(words)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def f(n):\n    return g(n)\ndef g(n):\n    return n\n", "one function"),
        ("def f(n):\n    return 'n' + n\n", "kind str"),
        ("def f(n):\n    x = n; return x\n", "the word ;"),
        ("def f(n):\n    return [n]\n", "the order list|words"),
        ("def f(n):\n    for i in range(0, n, 2):\n        n += i\n", "between two steps"),
        ("def f(n):\n    return n // 0\n", "by zero"),
        (
            "def f(n):\n    for i in range(n):\n        if i:\n            for j in range(i):\n                n += j\n",
            "nested loops",
        ),
        ("def f(n):\n    return n, n\n", "kind tuple"),
        ("def f(n):\n    return min(n)\n", "min of 1"),
    ],
)
def test_what_is_outside_is_refused(code: str, why: str) -> None:
    with pytest.raises(OutsideLanguage, match=why):
        Writer().step(read_program(code), AloneState("line", 2, {"n": 3}))


@pytest.mark.parametrize(
    "state",
    [
        "globals: def f\nf 2: n='a'",
        "globals: k=1\nf 2: n=1",
        "globals: def f\nframe f 2: n=1\nf 2: n=0",
        "globals: def f\nreturn f 2: n=1 -> 3",
        "globals: def f\nf 2: n=1 | <list_iterator over=[1], next=1>",
        "",
    ],
)
def test_states_of_more_than_numbers_are_refused(state: str) -> None:
    with pytest.raises(OutsideLanguage, match="a state with more"):
        read_state(state)


@pytest.mark.parametrize("words", ["so", "@2 stop", "so @2 N9 1 stop", "so @2 N1 0 1 x stop", "so here stop"])
def test_what_is_no_answer_is_no_edit(words: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        edit_text(read_program("def f(n):\n    return n\n"), words.split())


def test_names_are_any_words() -> None:
    """Which word a name has says nothing; the answer goes back into the program's own names."""
    program = read_program(CODE)
    state = AloneState("line", 3, {"a": 5, "b": 2, "low": 2, "high": 12})
    text = edit_text(program, Writer().step(program, state)[0])
    other = mixed_names(program, random.Random(3))
    assert other.names != program.names
    assert edit_text(other, Writer().step(other, state)[0]) == text == "4: half=1, rest=5"


def test_lessons_are_drawn_by_the_seed() -> None:
    known = list(programs("generated:30,difficulty=1-3,seed=9,inputs=1"))
    first, again, other = (list(islice(Lessons(known).drawn(seed), 12)) for seed in (1, 1, 2))
    assert first == again != other
    kinds = set()
    for words, steps in first:
        kinds.add(len(words) == 3)
        ends = ":" if len(words) == 3 else "ask"
        assert WORDS[words[0]] == "L1"
        assert all(WORDS[asked[-1]] == ends and WORDS[answer[-1]] == "stop" for asked, answer in steps)
    assert kinds == {True, False}
    assert all(len(words) > 3 for words, _ in islice(Lessons(known).drawn(1, operations=0), 12))
