"""The level `reader`: programs told line by line, by a teacher that sees what a model sees and nothing more."""

import functools
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from deskcheck.corpus import programs
from deskcheck.errors import InputError
from deskcheck.recording.reader import Recordings
from deskcheck.teach.machine.frames import OutsideLanguage
from deskcheck.teach.machine.runs import run_recorded
from deskcheck.teach.paper.arithmetic import Arithmetic
from deskcheck.teach.paper.windows import all_windows
from deskcheck.teach.paper.working import UnreadableWorking
from deskcheck.teach.processor.stepping import run_level
from deskcheck.teach.reader import lessons, network
from deskcheck.teach.reader.reading import ReadingMachine
from deskcheck.teach.reader.stepping import ReaderModels
from deskcheck.teach.reader.teacher import Teacher
from deskcheck.teach.reader.text import NUMBER, WORDS, functions, line_prompt, where_prompt
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
    where = [WORDS[word] for word in where_prompt(read, 5, "go")]
    assert where[:12] == ["where", "L5", "I3", "continue", "go", "in", "L0", "I0", "def", "L2", "I1", "for"]
    assert WORDS[Teacher()(where_prompt(read, 5, "go"), ())] == "L2"


@pytest.mark.parametrize(
    "word", ["go", "S9", "S31", "store", "setitem", "next", "call", "#3", "L5", "test", "+", "return"]
)
def test_nonsense_is_unreadable(word: str) -> None:
    """A reader that writes one word for ever: an error that says so, never an endless line, never a crash."""
    machine = ReadingMachine(lambda prompt, written: NUMBER[word], by_rules(), steps=100)
    with pytest.raises(UnreadableWorking):
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
    ("line", "why"),
    [
        ("try:\n        a = 1\n    except ValueError:\n        pass", "try"),
        ("a = [b for b in a]", "ListComp"),
        ("a = f'{b}'", "values in it"),
        ("a.x = 1", "Attribute"),
        ("a = (b +\n        1)", "several lines"),
        ("if a: b = 1", "on a line"),
        ("a = g(x=1)", "by name"),
    ],
)
def test_what_is_outside_is_said(line: str, why: str) -> None:
    code = f"def f(a, b):\n    {line}\n    return a\n"
    with pytest.raises(OutsideLanguage, match=why):
        ReadingMachine(Teacher(), by_rules()).call_program(code, "f", "(1, 2)")


def test_lessons_are_what_the_teacher_writes() -> None:
    """Word for word, drawn lines and outlines as well as those of programs; a lesson fits its slots."""
    teacher = Teacher()
    some = [*islice(lessons.drawn(3), 300), *lessons.of_programs("generated:20,difficulty=1-10,seed=8", 3)]
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


def test_nano_has_no_reader() -> None:
    from deskcheck.teach.small.checkpoints import folder_of

    with pytest.raises(InputError, match="nano brings none"):
        ReaderModels(folder_of("nano"))


def test_programs_that_are_not_cleared_are_not_trained_on(tmp_path: Path) -> None:
    """Somebody's own file is not, unless that is said; where nothing is left that is an error."""
    (tmp_path / "own.jsonl").write_text(
        json.dumps({"id": "own", "code": CODE, "entry": "f", "inputs": ["([3, 1], 4)"]}) + "\n"
    )
    own = str(tmp_path / "own.jsonl")
    assert list(lessons.of_programs(own, 1)) == []
    assert len(list(lessons.of_programs(own, 1, any_licence=True))) > 5
    pytest.importorskip("torch", reason="no torch: would have proved that this is said before training")
    from deskcheck.teach.reader import training
    from deskcheck.teach.reader.settings import ReaderTraining

    with pytest.raises(InputError, match="--any-licence takes also those"):
        training.train(own, tmp_path / "out", ReaderTraining())
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_training_goes_on_and_runs_without_torch(tmp_path: Path) -> None:
    """A run that was ended goes on with the same losses; numpy computes what torch does, word by word."""
    torch = pytest.importorskip("torch", reason="no torch: would have proved that a reader is trained")
    from deskcheck.teach.reader import training
    from deskcheck.teach.reader.settings import ReaderTraining

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
