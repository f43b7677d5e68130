"""Calls made again from the text of their prompts alone have the answer that was recorded."""

import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from deskcheck.ask import QUESTIONS, Sample, score_answer
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox import Confinement
from tests.ask.conftest import Record
from tests.conftest import unmeasured
from tests.recorder.test_suite import record

FILES = {
    "pyproject.toml": "[project]\nname = 'depot'\nversion = '1'\n",
    "src/depot/__init__.py": "",
    "src/depot/shelves.py": '''
import collections
from depot.labels import Label, same

class Full(Exception):
    pass

class Shelf:
    """What stands on it, oldest first."""
    __slots__ = ("items", "most", "label", "next", "__dict__")

    def __init__(self, most, label=None, *, weigh=None):
        self.items = collections.OrderedDict()
        self.most = most
        self.label = label
        self.next = self
        if weigh is not None:
            self.weigh = weigh

    def put(self, name, count=1):
        if len(self.items) >= self.most:
            raise Full(name)
        self.items[name] = self.items.get(name, 0) + count
        self.items.move_to_end(name, last=False)
        return self

    def beside(self, other):
        other.next, self.next = self.next, other
        return other

    def pair(self):
        return (self, Label("pair"), {"next": self.next, "again": self.label})

    def copy(self):
        made = type(self)(self.most, self.label)
        made.items.update(self.items)
        return made

    def weight(self, factor):
        return sum(self.weigh(name) * count for name, count in self.items.items()) * factor

    def maker(self):
        return type(self), same, self.put

class Tin(dict):
    def with_lid(self, lid):
        made = Tin(self)
        made.lid = lid
        return made

def both(a, b):
    return [a, b, a] if same(a, b) else (a, b)

def first(things, otherwise=None):
    for thing in things:
        if thing.fits(3):
            return thing
    return otherwise

def numbered(kind, count):
    return [kind(n) for n in range(count)]

def apply(thing, *args):
    return thing(*args)

def known(thing):
    return type(thing).limit, thing.name(), isinstance(thing, Label)
''',
    "src/depot/labels.py": """
class Label:
    def __init__(self, text):
        self.text = text

    def name(self):
        return self.text.title()

def same(a, b):
    return a is b
""",
    "tests/test_depot.py": '''
import math
import pytest
from depot.labels import Label
from depot.shelves import Full, Shelf, Tin, apply, both, first, known, numbered

STEP = 3

class Box:
    """A box."""
    limit = 4
    sizes = [1, 2]

    def __init__(self, size):
        self.size = size
        self.seen = 0

    def fits(self, n):
        self.seen += 1
        return n <= self.size + STEP - 3

    @property
    def half(self):
        return self.size // 2

    @staticmethod
    def of(n):
        return Box(n)

class Crate(Box):
    limit = Box.limit + 3

    def fits(self, n):
        return super().fits(n) and self.half > 0

class Tag(Label):
    limit = math.inf

    def name(self):
        return super().name() + "!"

def ounces(name, unit=STEP):
    return len(name) * unit

class Counted(Shelf):
    def __init__(self, most, label=None, weigh=ounces):
        super().__init__(most, label, weigh=weigh)
        self.puts = 0

    def put(self, name, count=1):
        self.puts += 1
        return super().put(name, count)

class Odd(type):
    pass

class Strange(metaclass=Odd):
    limit = 1

    def name(self):
        return "strange"

@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", [Shelf, Counted])
def test_shelves(kind, most):
    shelf = kind(most, Label(f"l{most}"))
    other = kind(2, shelf.label)
    shelf.put("jam").beside(other).put("tea", 2)
    for _ in range(most - 1):
        shelf.put(f"rice{most}")
    assert shelf.pair()[0] is shelf and other.pair()[2]["again"] is shelf.label
    assert shelf.copy() is not shelf
    both(shelf, shelf), both(shelf, other), both(other.next, other)
    shelf.maker()
    with pytest.raises(Full):
        kind(0).put("x")

@pytest.mark.parametrize("factor", [1, 2])
def test_weight(factor):
    shelf = Counted(4)
    shelf.put("a", 3).put("bcd")
    assert shelf.weight(factor) == 18 * factor
    other = Shelf(3, weigh=lambda name: factor)
    assert other.put("x").weight(2) == 2 * factor

@pytest.mark.parametrize("sizes", [(1, 2), (5, 2), (2, 6, 7), ()])
@pytest.mark.parametrize("kind", [Box, Crate])
def test_boxes(kind, sizes):
    boxes = [kind(size) for size in sizes]
    first(boxes)
    first([*boxes, Crate(3)], Label("none"))
    both(boxes, boxes[:1])

@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("kind", [Box, Crate, Label, Tag])
def test_numbered(kind, count):
    assert len(numbered(kind, count)) == count

def test_others():
    tin = Tin(a=1)
    tin.with_lid(Label("lid")).with_lid(tin)
    for thing in (Tag("one"), Tag("two")):
        known(thing)
    apply(Box, 3), apply(Tag, "x"), apply(Box.of, 4), apply(Box(5).fits, 4), apply(ounces, "ab")
    apply(lambda x: [x, x], Label("m"))
    with pytest.raises(AttributeError):
        known(Label("no limit"))
    with pytest.raises(AttributeError):
        known(Strange())
    Strange.limit = 2
    assert isinstance(Strange(), Strange)
    apply(Strange)
''',
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sample], Counter[str]]:
    folder = tmp_path_factory.mktemp("depot")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.lstrip())
    with unmeasured():
        record(folder, folder / "runs", per_function=40)
    excluded: Counter[str] = Counter()
    found = [
        sample
        for recording in Recordings(folder / "runs")
        for sample in QUESTIONS["output"](recording, excluded=excluded)
    ]
    return found, excluded


@pytest.mark.slow
def test_calls_made_again_from_the_text_of_their_prompts(asked: tuple[list[Sample], Counter[str]]) -> None:
    samples, _ = asked
    questions = "".join(
        json.dumps({"id": each.id, "prompt": each.prompt, "answer": each.answer}) + "\n" for each in samples
    )
    again = Path(__file__).with_name("prompt_alone.py")
    command = [sys.executable, "-I", str(again)]
    told = subprocess.run(command, input=questions, capture_output=True, text=True, check=True).stdout
    came = {line["id"]: line["came"] for line in map(json.loads, told.splitlines())}
    assert len(came) == len(samples) > 60
    assert {id_: what for id_, what in came.items() if what != "same"} == {}


@pytest.mark.slow
def test_answers_are_scored(asked: tuple[list[Sample], Counter[str]]) -> None:
    """The recorded answer scores 1, that of any other question about the same function 0, or it is the same;
    no prompt shows an address."""
    samples, _ = asked
    objects = [each for each in samples if each.data["form"] == "object"]
    assert len(objects) > 40
    for sample in objects:
        assert score_answer(sample, f"[ANSWER]{sample.answer}[/ANSWER]").score == 1, sample.id
        assert " at 0x" not in sample.prompt
        near = f"[{sample.answer}]"
        found = score_answer(sample, f"[ANSWER]{near}[/ANSWER]")
        assert found.score == 0, (sample.id, near)
    for sample, other in pairwise(objects):
        if sample.answer != other.answer:
            assert score_answer(sample, f"[ANSWER]{other.answer}[/ANSWER]").score == 0, (
                sample.id,
                other.answer,
            )


def test_a_program_that_is_cut_down_keeps_its_future(record: Record) -> None:
    """``from __future__ import annotations`` decides whether the classes that are shown can be made."""
    code = (
        '"""Text."""\nfrom __future__ import annotations\nclass A:\n    def same(self) -> A:\n        return self\n'
        + "".join(f"def g{n}():\n    return {n}\n" for n in range(200))
        + "def f(n):\n    return [A().same() is not None, n]\n"
    )
    (sample,) = QUESTIONS["output"](record(code, "f", "(3,)"))
    shown = sample.prompt.rpartition("```python\n")[2].partition("\n```")[0]
    assert "g199" not in shown
    assert "from __future__ import annotations" in shown


MANY = "".join(f"def g{n}():\n    return {n}\n" for n in range(200))
"""Definitions that make a module so long that only a part of it is shown."""
CUT = (
    "class Base(ValueError):\n    n = 1\n    def text(self):\n        return g1()\n"
    "class Own(Base):\n    '''Raised.'''\n    def __str__(self):\n        return 'own'\n"
    "def heapify(x):\n    return x\n"
    f"{MANY}"
    "def f(x):\n    try:\n        heapify(x)\n        raise Own(x)\n    except ValueError as error:\n        return Base.n\n"
    "try:\n    from _heapq import *\nexcept ImportError:\n    pass\n"
)


def test_what_is_only_named_is_shown_without_its_methods(record: Record) -> None:
    """Of a class what it extends decides which handler takes it; a star may bind a function anew."""
    (sample,) = QUESTIONS["output"](record(CUT, "f", "([3, 1],)"))
    assert sample.answer == "1"
    shown = sample.prompt.rpartition("```python\n")[2].partition("\n```")[0]
    assert "class Own(Base):\n    '''Raised.'''" in shown
    assert "class Base(ValueError):\n    n = 1" in shown
    assert "from _heapq import *" in shown
    for left_out in ("def __str__", "def text", "def g1", "def heapify"):
        assert left_out not in shown


def test_a_generator_of_a_module_is_said_to_be_run(tmp_path: Path) -> None:
    """The call alone runs no line: what runs it to its end stands in the prompt, also where the text of the
    function is a module's."""
    program = Program(
        id="merge", code="", mode=Mode.CALL, entry="merge", arguments="([3], [1])", module="heapq"
    )
    record_programs([program], tmp_path / "runs", RecordSettings(sandbox=Confinement.TRUSTED, repeat=False))
    (recording,) = Recordings(tmp_path / "runs")
    for kind in ("path", "state", "output"):
        (sample, *_) = QUESTIONS[kind](recording)
        assert "list(merge([3], [1]))" in sample.prompt, kind
    excluded: Counter[str] = Counter()
    for kind in ("changes", "input"):
        assert not [*QUESTIONS[kind](recording, excluded=excluded)]
    assert excluded == {"the call only begins a generator or coroutine": 2}
