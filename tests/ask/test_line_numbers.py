"""Line numbers in prompts, notations and tables are the interpreter's, whatever characters a program holds."""

import io
import re
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from deskcheck.ask import QUESTIONS
from deskcheck.errors import InputError
from deskcheck.notation import NOTATIONS, moments
from deskcheck.notation.forms.cwm import cwm_prompt
from deskcheck.notation.layout import numbered_text
from deskcheck.recording.program import code_lines
from deskcheck.sources.text.python import parse
from deskcheck.view.table import trace_table
from tests.ask.conftest import Record

ODD = "\f\v\x1c\x1d\x1e\x85\u2028\u2029"
"""What `str.splitlines` ends a line at, and the interpreter does not."""
END = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(st.text(ODD + " a", max_size=4), END, st.booleans()), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
def test_lines_are_those_of_the_interpreter(parts: list[tuple[str, str, bool]]) -> None:
    """The compiler's own numbers of statements, between comments and texts with odd characters."""
    texts = [
        f"v{n} = {n}  #{odd}{end}" if plain else f"v{n} = '''{odd}'''{end}"
        for n, (odd, end, plain) in enumerate(parts)
    ]
    code = "".join(texts)
    lines = code_lines(code)
    numbers = [line for _, _, line in compile(code, "p", "exec").co_lines() if line]
    assert {*numbers} == {*range(1, len(parts) + 1)}
    assert [line.partition(" ")[0] for line in lines] == [f"v{n}" for n in range(len(parts))]


CODE = (
    "def double(n):\n    word = 'a\u2028b'  # \x85\n    return n + n\n\f\n"
    "def f(n):  # \x1c\n    total = 0\n    for i in range(n):\n        if i % 2:\n"
    "            total = double(i) + total\n        else:\n            total += 1\n    return total\n"
)


@pytest.mark.parametrize("kind", [name for name, each in QUESTIONS.items() if name != "input"])
def test_every_prompt(record: Record, kind: str) -> None:
    """Each numbered line in the prompts of each kind is that line of the program."""
    recording = record(CODE, "f", "(4)")
    lines = {n: line.rstrip() for n, line in enumerate(CODE.split("\n"), 1)}
    excluded: Counter[str] = Counter()
    samples = [*QUESTIONS[kind](recording, excluded=excluded)]
    assert samples or excluded
    seen: Counter[int] = Counter()
    for sample in samples:
        own = sample.prompt.rpartition("Now yours.")[2]
        for number, text in re.findall(r"^ *(\d+) \|(?: (.*))?$", own.replace("\r", ""), re.M):
            assert text.rstrip() == lines[int(number)], (sample.id, number)
            seen[int(number)] += 1
    assert not seen or seen[9] == seen[12] == len(samples), "the lines behind the form feed are shown"


def test_notations_and_the_table(record: Record) -> None:
    recording = record(CODE, "f", "(4)")
    shown = numbered_text(CODE).split("\n")
    assert shown[11] == "12|    return total"
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(trace_table(recording))
    said = console.export_text()
    assert re.search(r"12 .* return total  ", said), said
    assert re.search(r" 3 .* return n \+ n  ", said), said


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_notations_with_the_text(record: Record, end: str) -> None:
    """inline and cwm say the same of a program however its lines end, and read it back."""
    code = "def f(n):\n    total = 1\n    for i in range(n):\n        total += i\n    return total\n"
    odd = code.replace("\n", end)
    for name in ("inline", "cwm"):
        notation = NOTATIONS[name]
        texts = [
            notation.write([*moments(record(each, "f", "(3)").trace, file="program.py")], each)
            for each in (code, odd)
        ]
        assert texts[1] == texts[0]
        assert not notation.parse(texts[1], odd).unreadable
    assert cwm_prompt(odd, 3) == cwm_prompt(code, 3)
    with pytest.raises(InputError, match=r"here.py:3:9: .*\n {8}x = = 1\n"):
        parse(f"if 1:{end}    pass{end}    x = = 1{end}", "here.py")


def test_white_space_at_the_end_of_a_line(record: Record) -> None:
    """Where it belongs to a string, what is asked depends on it: a prompt shows it, with line numbers, too."""
    code = "def f(n):\n    text = '''ab  \n \n\t\n'''\n    size = len(text)\n    return size + n\n"
    recording = record(code, "f", "(4)")
    for kind in ("state", "output"):
        for sample in QUESTIONS[kind](recording, per_recording=9):
            shown = sample.prompt.rpartition("```python\n")[2].partition("\n```")[0].split("\n")
            lines = [re.sub(r"^ *\d+ \|( |$)", "", line) for line in shown]
            assert "\n".join(lines) + "\n" == code, sample.id


DECORATED = """\
def same(c):
    return c
@same
class A:
    x = 1
    y = x + 1
class B:
    z = 3
print(A.y)
"""


def test_the_body_of_a_decorated_class(record: Record) -> None:
    """Its frame begins on the decorator's line, which does not run for that; the decorator is called afterwards."""
    (sample,) = QUESTIONS["path"](record(DECORATED))
    assert sample.answer == "[1, 3, 4, 5, 6, 3, 2, 4, 7, 8, 9]"
    assert "decorators run again" in sample.prompt.rpartition("Now yours.")[2]
    (sample,) = QUESTIONS["path"](record("x = 1\ny = 2\n"))
    assert "decorators run again" not in sample.prompt


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are new in Python 3.12")
def test_type_parameters_run_no_line(record: Record) -> None:
    """Python evaluates them in a frame of their own, on the line of def, which runs once."""
    code = "def f[T](x: T) -> T:\n    return x\nclass A[T]:\n    y = 1\n    z = 2\nf(1)\nprint(A.z)\n"
    asked = {
        (s.data["line"], s.data["k"]): s.answer for s in QUESTIONS["visit"](record(code), per_recording=99)
    }
    assert asked == {(1, 1): "3", (3, 1): "6", (4, 1): "5", (5, 1): "return", (6, 1): "7", (7, 1): "return"}


FENCES = (
    "def f(n):\n    text = '''\n```python\nx = 1\n```\n````\n'''\n    size = len(text)\n    return size + n\n"
)


@pytest.mark.parametrize("kind", ["output", "state", "next_line", "path"])
def test_a_program_with_fences(record: Record, kind: str) -> None:
    """The fence around the program is longer than any in it: a reader of Markdown sees the whole program."""
    (sample, *_) = QUESTIONS[kind](record(FENCES, "f", "(4)"))
    own = sample.prompt.rpartition("Now yours.")[2]
    shown = re.search(r"^(`{3,})python\n(.*?)\n\1$", own, re.M | re.S)
    assert shown is not None
    lines = [re.sub(r"^ *\d+ \| ?", "", line) for line in shown[2].split("\n")]
    assert "\n".join(lines) + "\n" == FENCES
    assert shown[1] == "`````"
