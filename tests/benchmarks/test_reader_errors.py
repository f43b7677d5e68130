"""The causes by which a reader's mistakes are counted."""

from benchmarks.reader_errors import asked, cause_of_where
from deskcheck.teach.reader.teacher import Teacher
from deskcheck.teach.reader.text import NUMBER, functions

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


def test_ways_have_the_causes_that_they_are_counted_under() -> None:
    outline = [(at, line.depth, line.kind) for at, line in enumerate(functions(CODE)["f"].lines)]
    assert cause_of_where(outline, 1, "T") == ("into a block", "next to it")
    assert cause_of_where(outline, 1, "F") == ("for that is false", " 6 between")
    assert cause_of_where(outline, 2, "F") == ("if that is false", " 1 between")
    assert cause_of_where(outline, 3, "go") == ("break", " 4 between")
    assert cause_of_where(outline, 5, "go")[0] == "back to a loop"
    assert cause_of_where([(0, 0, "def"), (1, 1, "plain")], 1, "go")[0] == "the function ends"


def test_the_teacher_makes_no_mistake_and_a_mute_reader_only_mistakes() -> None:
    source = "generated:6,difficulty=5-8,inputs=1,seed=4"
    found = list(asked(Teacher(), source))
    assert len(found) > 300
    assert all(right for _, _, right in found)
    mute = list(asked(lambda prompt, written: NUMBER["ask"], source))
    assert [cause for cause, _, _ in mute] == [cause for cause, _, _ in found]
    assert not any(right for _, _, right in mute)
