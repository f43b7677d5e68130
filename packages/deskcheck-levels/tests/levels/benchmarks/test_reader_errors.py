"""The causes by which a reader's mistakes are counted."""

from benchmarks.reader_errors import asked, ways_of
from deskcheck_levels.reader.teacher import Teacher
from deskcheck_levels.reader.text import NUMBER, functions

CODE = """\
def f(n):
    for i in range(n):
        if i > 3:
            break
        elif i > 2:
            n = 1
        else:
            n = 2
    return n
"""


def test_ways_of_a_function() -> None:
    """Each line with each outcome of its test: what is seen from there on."""
    asked = list(ways_of(functions(CODE)["f"].outline))
    assert asked[:2] == [("T", 1, (1, "for")), ("into", 1, (2, "if"))]
    assert [one[0] for one in asked].count("F") == 3
    after_break = asked.index(("go", 3, (3, "break")))
    assert asked[after_break + 1 : after_break + 4] == [
        ("out", 3, (2, "if")),
        ("out", 2, (1, "for")),
        ("onward", 1, (2, "if")),
    ]


def test_the_teacher_makes_no_mistake_and_a_mute_reader_only_mistakes() -> None:
    source = "generated:6,difficulty=5-8,inputs=1,seed=4"
    found = list(asked(Teacher(), source))
    assert len(found) > 300
    assert all(right for _, _, right in found)
    mute = list(asked(lambda prompt, written: NUMBER["ask"], source))
    assert [cause for cause, _, _ in mute] == [cause for cause, _, _ in found]
    assert not any(right for _, _, right in mute)
