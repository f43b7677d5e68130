"""The level `reader`: programs told line by line, by a teacher that sees what a model sees and nothing more."""

import functools
import itertools
import json
import random
import sys
from collections.abc import Generator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from deskcheck_levels.machine.frames import OutsideLanguage, ProgramRaised, StepsSpent
from deskcheck_levels.machine.runs import run_recorded
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.paper.working import UnreadableWorking
from deskcheck_levels.processor.stepping import run_level
from deskcheck_levels.reader import lessons, network
from deskcheck_levels.reader.reading import ReadingMachine
from deskcheck_levels.reader.stepping import ReaderModels
from deskcheck_levels.reader.teacher import Teacher, way, way_from
from deskcheck_levels.reader.text import (
    DEPTHS,
    NUMBER,
    WORDS,
    Outline,
    all_ways,
    functions,
    line_prompt,
    where_prompt,
)
from deskcheck_levels.shipped import folder_of

from deskcheck.errors import InputError
from deskcheck.notation import Divergence
from deskcheck.recording.reader import Recordings
from deskcheck.sources import programs
from tests.teach.conftest import Recorded, call

CODE = """\
def f(a, b):
    kept = []
    for place in range(len(a)):
        x = a[place] * 2 + b if place < 3 and a else -b
        if x % 3 == 0:
            continue
        elif 1 < x <= 9:
            kept.append(x)
        else:
            kept[-1:] = [x, 'y']
            while x > 4:
                x //= 2
                if not x - 5:
                    break
    return kept, {b: g(b)}

def g(n):
    return 1 if n < 2 else n * g(n - 1)
"""


def by_rules() -> Arithmetic:
    return Arithmetic(all_windows().__getitem__)


def test_programs_as_the_teacher_reads_them(record: Recorded) -> None:
    """From prompts alone, in which no name and no literal stands, every step comes out right."""
    runs = record(
        call("own", CODE, "([3, 1, 5, 8, 2], 4)"),
        *programs("generated:60,difficulty=1-10,seed=71,inputs=1"),
        *programs("family:gcd,inputs=1,seed=4,size=500"),
        *programs("family:sieve,inputs=1,seed=4,size=20"),
    )
    teacher, arithmetic = functools.cache(Teacher().__call__), by_rules()
    found = run_level(Recordings(runs), lambda line, steps: ReadingMachine(teacher, arithmetic, line=line))
    assert found.steps is not None
    assert found.steps.whole == found.steps.runs > 40
    assert next(run for run in found.runs if run.id == "own").outside is None


def test_prompts_hold_no_names() -> None:
    read = functions(CODE)["f"]
    line = read.lines[3]
    words = [WORDS[word] for word in line_prompt(line, again=False)]
    assert " ".join(words) == ("line S0 = S1 [ S2 ] * S3 + S4 if S5 < S6 and S7 else - S8 enter ask")
    where = [WORDS[word] for word in where_prompt("go", 3, read.outline[5])]
    assert where == ["where", "go", "I3", "I3", "continue", "ask"]


def drawn_outline(chance: random.Random) -> Outline:
    """Depth and kind of the lines of a function that nobody wrote."""
    found = [(0, "def")]
    most = chance.randint(3, 26)

    def block(depth: int, in_loop: bool) -> None:
        for number in range(chance.choice((1, 1, 2, 2, 3, 4))):
            if number and len(found) >= most:
                return
            kind = chance.random()
            if kind < 0.5 or depth >= DEPTHS - 3 or len(found) >= most:
                ends = ["break", "continue"] if in_loop and chance.random() < 0.4 else ["return", "pass"]
                found.append((depth, chance.choice(ends) if chance.random() < 0.25 else "plain"))
                if found[-1][1] in ("break", "continue", "return"):
                    return
            elif kind < 0.75:
                found.append((depth, "if"))
                block(depth + 1, in_loop)
                for _ in range(chance.choice((0, 0, 1, 2))):
                    found.append((depth, "elif"))
                    block(depth + 1, in_loop)
                if chance.random() < 0.4:
                    found.append((depth, "else"))
                    block(depth + 1, in_loop)
            else:
                found.append((depth, chance.choice(("for", "while"))))
                block(depth + 1, True)
                if chance.random() < 0.15:
                    found.append((depth, "else"))
                    block(depth + 1, in_loop)

    while len(found) < most:
        block(1, False)
    return found


def compiled(outline: Outline) -> dict[tuple[int, str], int | None]:
    """Where CPython goes on after each line, with each outcome: the ways of a program with such an outline,
    watched while tests come out by chance. Place and outcome -> place of the next line, None for the end."""
    lines = []
    for place, (depth, kind) in enumerate(outline):
        told = {
            "def": "def f():",
            "if": f"if test({place}):",
            "elif": f"elif test({place}):",
            "while": f"while test({place}):",
            "for": f"for x in items({place}):",
            "else": "else:",
            "plain": "seen()",
        }.get(kind, kind)
        lines.append("    " * depth + told)
    found: dict[tuple[int, str], int | None] = {}
    chance = random.Random(len(lines))
    said: dict[int, str] = {}
    last: list[int] = []

    def ran(place: int) -> None:
        if last:
            found[last[0], said.pop(last[0], "go")] = place
        last[:] = [place]

    def test(place: int) -> bool:
        said[place] = chance.choice("TF")
        return said[place] == "T"

    class Items:
        def __init__(self, place: int) -> None:
            self.place = place

        def __iter__(self) -> "Items":
            return self

        def __next__(self) -> None:
            if not test(self.place):
                raise StopIteration

    def watch(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_name != "f":
            return None
        # From 3.14 on no event tells of some lines behind a loop (`CodeFacts.missed_lines`).
        frame.f_trace_opcodes = sys.version_info >= (3, 14)
        if event == "line" or (event == "opcode" and last and last[0] != frame.f_lineno - 1):
            if next(events) > 400:
                raise _Enough
            ran(frame.f_lineno - 1)
        return watch

    names: dict[str, object] = {"test": test, "items": Items, "seen": lambda: None}
    exec(compile("\n".join(lines), "<outline>", "exec"), names)
    for _ in range(60):
        events = itertools.count()
        last.clear()
        said.clear()
        before = sys.gettrace()
        sys.settrace(watch)
        try:
            names["f"]()  # type: ignore[operator]
        except _Enough:
            continue
        finally:
            sys.settrace(before)
        if outline[last[0]][1] != "return":
            found[last[0], said.pop(last[0], "go")] = None
    return found


class _Enough(Exception):
    pass


def end_of(way: Generator[object, None, int | None]) -> int | None:
    while True:
        try:
            next(way)
        except StopIteration as ended:
            place: int | None = ended.value
            return place


def test_ways_are_those_of_python() -> None:
    """The way to the next line, a line at a time, ends where CPython goes on."""
    chance, compared = random.Random(5), 0
    for _ in range(60):
        outline = drawn_outline(chance)
        for (place, outcome), after in compiled(outline).items():
            assert end_of(way_from(outline, place, outcome)) == after, (outline, place, outcome)
            compared += 1
    assert compared > 600


def test_every_way_is_a_lesson() -> None:
    """What can be asked on the way to the next line is finite, so that a model can be held against all of it."""
    asked = [tuple(words[: words.index(NUMBER["ask"]) + 1]) for words, _ in lessons.way_lessons()]
    assert len(asked) == len(set(asked)) == DEPTHS * 12 * (3 + 6 * DEPTHS)
    outline = functions(CODE)["f"].outline
    seen: list[tuple[int, ...]] = []
    teacher = Teacher()

    def watched(prompt: tuple[int, ...], written: tuple[int, ...]) -> int:
        seen.append(prompt)
        return teacher(prompt, written)

    ReadingMachine(watched, by_rules()).call_program(CODE, "f", "([3, 1, 5, 8, 2], 4)")
    ways = {prompt for prompt in seen if WORDS[prompt[0]] == "where"}
    assert len(ways) > len(outline)
    assert ways <= set(asked)


@pytest.mark.parametrize(
    "word", ["go", "S9", "S31", "store", "setitem", "next", "call", "#3", "I5", "test", "+", "return"]
)
def test_nonsense_is_unreadable(word: str) -> None:
    """A reader that writes one word for ever: an error that says so, never an endless line, never a crash."""
    machine = ReadingMachine(lambda prompt, written: NUMBER[word], by_rules(), steps=100)
    with pytest.raises(UnreadableWorking):
        machine.call_program(CODE, "f", "([3, 1], 4)")


@pytest.mark.parametrize(
    "words", [("up",), ("down",), ("here",), ("down", "onward", "I3"), ("up", "back", "I0")]
)
def test_ways_that_lead_nowhere_are_unreadable(words: tuple[str, ...]) -> None:
    """Above the function, below it, where it is, round and round: an error that says so."""
    teacher = Teacher()

    def reader(prompt: tuple[int, ...], written: tuple[int, ...]) -> int:
        if WORDS[prompt[0]] != "where":
            return teacher(prompt, written)
        return NUMBER[words[len(written) % len(words)]]

    machine = ReadingMachine(reader, by_rules(), steps=50)
    with pytest.raises((UnreadableWorking, StepsSpent)):
        machine.call_program(CODE, "f", "([3, 1], 4)")


def test_a_wrong_order_is_found(record: Recorded) -> None:
    """``-`` written for ``+``: the run is wrong at the step after that line."""
    (recording,) = Recordings(record(call("own", CODE, "([3, 1, 5, 8, 2], 4)")))
    teacher, arithmetic = Teacher(), by_rules()

    def reader(prompt: tuple[int, ...], written: tuple[int, ...]) -> int:
        word = teacher(prompt, tuple(NUMBER["+"] if one == NUMBER["-"] else one for one in written))
        return NUMBER["-"] if word == NUMBER["+"] else word

    run = run_recorded(recording, lambda line: ReadingMachine(reader, arithmetic, line=line))
    assert run.first is not None
    assert "x=2" in run.first[0]
    assert "x=10" in run.first[1]
    assert run.agreement.exact == 3


@pytest.mark.parametrize(
    ("line", "written", "outside"),
    [
        ("return len(a)", "S0 S1 item", None),
        ("return g(a, a)", "S0 S1 call #1", None),
        ("return bin(a) + a", "S0 S1 call #1 S2 + go", "the builtin bin"),
    ],
)
def test_what_a_reader_misreads_is_not_outside(
    line: str, written: str, outside: str | None, record: Recorded
) -> None:
    """The machine has no item of a function, and no call that lacks an argument; but the reader asks for these, not
    the program. What right words ask for, before a wrong one, is outside."""
    code = f"def f(a):\n    {line}\n\ndef g(a, b):\n    return a\n"
    (recording,) = Recordings(record(call("own", code, "('x',)" if "len" in line else "(1,)")))

    def reader(prompt: tuple[int, ...], before: tuple[int, ...]) -> int:
        return NUMBER[written.split()[len(before)]]

    run = run_recorded(recording, lambda line: ReadingMachine(reader, by_rules(), line=line))
    assert run.outside == outside
    assert run.agreement.first is (Divergence.UNREADABLE if outside is None else Divergence.BUDGET)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("try:\n        a = 1\n    except ValueError:\n        pass", "try"),
        ("a = [b for b in a]", "ListComp"),
        ("a = f'{b}'", "with placeholders"),
        ("a.x = 1", "Attribute"),
        ("a = (b +\n        1)", "several lines"),
        ("if a: b = 1", "on a line"),
        ("a = g(x=1)", "a keyword argument"),
        ("def g():\n        return a", "a function inside of a function"),
        ("a = b'1'", "a literal of the kind bytes"),
        ("a = 1j", "a literal of the kind complex"),
        ("a = ...", "the word"),
        ("a = 'x' 'y'", "not a complete statement: invalid syntax$"),
        ("'a text'", "only a name or a literal"),
        ("assert a", "assert"),
        ("global c\n    c = a", "global"),
        ("a: int = 1", "AnnAssign"),
        ("a = (b := 1)", ":="),
        ("print(*[a])", "a star"),
        ("match a:\n        case 1:\n            b = 2", "several lines"),
        ("b = 1\n\nLIMIT = 3\n\ndef g(a):\n    a = a", "outside of functions"),
        ("g(a)\n    return b\n\ndef g(a, b):\n    a = b", "arguments that do not fit g$"),
    ],
)
def test_what_is_outside_is_said(line: str, why: str) -> None:
    code = f"def f(a, b):\n    {line}\n    return a\n"
    with pytest.raises(OutsideLanguage, match=why):
        ReadingMachine(Teacher(), by_rules()).call_program(code, "f", "(1, 2)")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [("([b'1'], 4)", "a literal of the kind bytes"), ("([10 ** 3], 4)", "arguments that cannot be read")],
)
def test_arguments_that_are_outside(arguments: str, why: str) -> None:
    with pytest.raises(OutsideLanguage, match=why):
        ReadingMachine(Teacher(), by_rules()).call_program(CODE, "f", arguments)


def test_recursion_goes_to_400_calls() -> None:
    code = "def f(n):\n    if n > 1:\n        return 1 + f(n - 1)\n    return 1\n"
    machine = ReadingMachine(functools.cache(Teacher().__call__), by_rules())
    assert machine.call_program(code, "f", "(400,)") == 400
    with pytest.raises(OutsideLanguage, match=r"^too deep a recursion$"):
        machine.call_program(code, "f", "(401,)")


@pytest.mark.parametrize("name", ["b", "len", "f"])
def test_a_variable_that_has_no_value_yet(name: str) -> None:
    """Also one that has the name of a builtin, or of a function of the program."""
    code = f"def f(a):\n    if a:\n        {name} = a\n    return {name}\n"
    machine = ReadingMachine(Teacher(), by_rules())
    assert machine.call_program(code, "f", "(1,)") == 1
    with pytest.raises(ProgramRaised) as raised:
        machine.call_program(code, "f", "(0,)")
    assert repr(raised.value.error) == (
        f'UnboundLocalError("cannot access local variable {name!r} where it is not associated with a value")'
    )


def test_lessons_are_what_the_teacher_writes() -> None:
    """Word for word, drawn lines and ways as well as lines of programs; a lesson fits its slots."""
    teacher = Teacher()
    ways = lessons.way_lessons()[::40]
    some = [
        *ways,
        *islice(lessons.drawn(3), 300),
        *lessons.of_programs("generated:20,difficulty=1-10,seed=8", 3),
    ]
    asks = 0
    for words, taught in some:
        start = words.index(NUMBER["ask"]) + 1
        for place in range(start, len(words)):
            if taught[place]:
                assert teacher(tuple(words[:start]), tuple(words[start:place])) == words[place]
                asks += 1
            else:
                assert WORDS[words[place]] in ("T", "F")
        assert sum(word == NUMBER["ask"] for word in words) == 1
    assert asks > 1000


@pytest.mark.exhaustive
def test_nano_is_right_at_every_way() -> None:
    """The reader that ships, at all that it can be asked about where to go on."""
    reader = network.load(folder_of("nano") / network.FILE)
    wrong = 0
    for asked in all_ways():
        prompt, right = where_prompt(*asked), [NUMBER[word] for word in way(*asked)]
        wrong += any(reader(prompt, tuple(right[:n])) != word for n, word in enumerate(right))
    assert wrong == 0


@pytest.mark.slow
def test_nano_reads_programs(record: Recorded) -> None:
    """Programs that it was not taught, its own answers fed back. `CODE` among them."""
    runs = record(
        call("own", CODE, "([3, 1, 5, 8, 2], 4)"),
        *programs("generated:60,difficulty=1-3,seed=9001,inputs=1"),
        *programs("family:collatz,inputs=1,seed=4,texts=1"),
    )
    models = ReaderModels(folder_of("nano"))
    found = run_level(Recordings(runs), models.machine)
    assert found.steps is not None
    assert found.steps.runs > 50
    assert found.steps.whole >= found.steps.runs - 2
    assert models.counts()["prompts"] > 100


def test_a_folder_without_a_reader(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no model of the level reader"):
        ReaderModels(tmp_path)


def test_programs_that_are_not_cleared_are_not_trained_on(tmp_path: Path) -> None:
    """Somebody's own file is not, unless that is said; where nothing is left that is an error."""
    (tmp_path / "own.jsonl").write_text(
        json.dumps({"id": "own", "code": CODE, "entry": "f", "inputs": ["([3, 1], 4)"]}) + "\n"
    )
    own = str(tmp_path / "own.jsonl")
    assert list(lessons.of_programs(own, 1)) == []
    assert len(list(lessons.of_programs(own, 1, any_licence=True))) > 5
    pytest.importorskip("torch", reason="no torch: would have proved that this is said before training")
    from deskcheck_levels.reader import training
    from deskcheck_levels.reader.settings import ReaderTraining

    with pytest.raises(InputError, match="--any-licence also uses those"):
        training.train(own, tmp_path / "out", ReaderTraining())
    assert not (tmp_path / "out").exists()


def test_ways_that_are_wrong_come_again() -> None:
    """From the batches on that are drawn after a look, an eighth of the lessons."""
    pytest.importorskip("torch", reason="no torch: would have proved that mistakes are repeated")
    from deskcheck_levels.reader.training import batches

    lines = list(islice(lessons.drawn(1), 20))
    place = 4000
    words = lessons.way_lessons()[place][0]
    given = batches(lines, 32, 3, {40: [place]})
    shares = []
    for _ in range(6):
        rows = [row.tolist() for texts, _ in islice(given, 16) for row in texts]
        shares.append(sum(row[: len(words)] == words for row in rows) / len(rows))
        assert len(rows) == 512
    assert max(shares[:3]) < 0.02
    assert min(shares[3:]) > 0.1


@pytest.mark.slow
def test_training_goes_on_and_runs_without_torch(tmp_path: Path) -> None:
    """A run that was ended goes on with the same losses; numpy computes what torch does, word by word."""
    torch = pytest.importorskip("torch", reason="no torch: would have proved that a reader is trained")
    from deskcheck_levels.reader import training
    from deskcheck_levels.reader.settings import ReaderTraining

    settings = ReaderTraining(steps=4, batch_size=8, layers=2, hidden_size=32, look_every=2)
    source = "generated:20,difficulty=1-4,seed=1,inputs=1"

    class Ended(Exception):
        pass

    def end(row: dict[str, object]) -> None:
        raise Ended

    model = training.train(source, tmp_path / "whole", settings)
    with pytest.raises(Ended):
        training.train(source, tmp_path / "ended", settings, note=end)
    training.train(source, tmp_path / "ended", settings)
    rows = [
        [
            {name: value for name, value in json.loads(line).items() if name != "seconds"}
            for line in (tmp_path / folder / "metrics.jsonl").read_text().splitlines()
        ]
        for folder in ("whole", "ended")
    ]
    assert rows[0] == rows[1]
    net = network.load(tmp_path / "whole" / network.FILE)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half().float())
        for words, _ in islice(lessons.drawn(9), 20):
            known, _ = model(torch.tensor([words]))
            true = model.logits(known)[0].numpy()
            for end_ in (len(words) // 2, len(words)):  # the second goes on from what is kept of the first
                assert np.allclose(net._logits(words[:end_]), true[end_ - 1], atol=2e-4)
