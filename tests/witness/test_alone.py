"""Stored answers are those that follow from the prompt alone, also about code as people write it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from deskcheck.ask import QUESTIONS
from deskcheck.recording import Mode, Program, Recording
from tests.ask.conftest import record_here, shared
from tests.witness.agree import KINDS, compare
from tests.witness.alone import check, read

FOLDER = Path(__file__).parent / "calls"
CALLS = [
    (file, entry, arguments)
    for file, functions in json.loads((FOLDER / "calls.json").read_text()).items()
    for entry, inputs in functions.items()
    for arguments in inputs
]
WIDTHS = [None, 40, 20]


def formatted(code: str, width: int | None) -> str:
    if width is None:
        return code
    black = pytest.importorskip("black", reason="would have proved the same of code that black formats")
    mode = black.Mode(line_length=width, target_versions={black.TargetVersion.PY311})
    try:
        return str(black.format_str(code, mode=mode))
    except black.InvalidInput:
        return code


def recorded(code: str, entry: str, arguments: str) -> Recording:
    program = Program(id=f"{entry}{arguments}", code=code, mode=Mode.CALL, entry=entry, arguments=arguments)
    return record_here(program)


def agreed(code: str, entry: str, arguments: str) -> Counter[str]:
    """How many questions of each kind were compared, and are answered as they are stored."""
    said = list(compare(recorded(code, entry, arguments)))
    assert [text for _, same, text in said if not same] == []
    return Counter(kind for kind, _, _ in said)


@pytest.mark.parametrize(("file", "width"), [
    ("odd.py", None), ("fails.py", 40),
    *(pytest.param(file, width, marks=pytest.mark.slow) for file in ("orders.py", "tools.py", "odd.py", "fails.py") for width in WIDTHS),
])  # fmt: skip
def test_code_as_people_write_it(file: str, width: int | None) -> None:
    """Statements over several lines and several on one, decorators, type hints, names and texts of all kinds."""
    code = formatted((FOLDER / file).read_text(), width)
    counts: Counter[str] = Counter()
    for name, entry, arguments in CALLS:
        if name == file:
            counts += agreed(code, entry, arguments)
    assert counts.keys() >= {"visit", "path", "state", "type", "move", "next_line", "branch"}
    assert counts.total() > 150


@pytest.mark.parametrize("width", [20, pytest.param(40, marks=pytest.mark.slow)])
def test_formatted_programs_of_cruxeval(width: int) -> None:
    """Every kind still asks something, and what it asks is right."""
    path = shared("data", "cruxeval", "cruxeval_600.jsonl")
    if path is None:
        pytest.skip("no CRUXEval here (DESKCHECK_SHARED): would show that its answers follow from prompts")
    counts: Counter[str] = Counter()
    for line in path.read_text().splitlines()[::30]:
        row = json.loads(line)
        counts += agreed(formatted(row["code"], width), "f", f"({row['input']})")
    assert {*counts} >= {*KINDS} - {"calls", "exception", "alias", "changes"}
    assert counts.total() > 500


def test_a_wrong_answer_is_seen() -> None:
    """Of every kind that asks something here: the comparison is not empty."""
    code = (FOLDER / "tools.py").read_text()
    recording = recorded(code, "chunks", "([5, 12, 31, 9, 20], 2)")
    for kind in KINDS:
        for sample in QUESTIONS[kind](recording):
            wrong = {"True": "False", "False": "True", "set()": "{'n'}"}.get(sample.answer)
            wrong = wrong or {"input": "chunks([1], 1)", "calls": "{}"}.get(kind, f"[{sample.answer}, 7]")
            question = {"id": sample.id, "prompt": sample.prompt}
            (right,) = check([question | {"answer": sample.answer}])
            (said,) = check([question | {"answer": wrong}])
            assert right.came == "same" or right.came.startswith("not told"), right
            assert (said.came == right.came) == right.came.startswith("not told"), (kind, said)


def test_the_reader_of_prompts_finds_the_program() -> None:
    """Whatever it holds: fences, marks of answers, labels of prompts, numbers at the left."""
    code = (FOLDER / "odd.py").read_text()
    for kind in ("output", "state"):
        for sample in QUESTIONS[kind](recorded(code, "tags", "(2,)")):
            assert read(sample.prompt).code.rstrip("\n") == code.rstrip("\n")


def test_it_reads_nothing_of_the_package() -> None:
    """Its modules import the standard library and each other alone."""
    for name in ("alone.py", "counted.py"):
        lines = (Path(__file__).parent / name).read_text().splitlines()
        assert not [
            line for line in lines if line.lstrip().startswith(("import ", "from ")) and "deskcheck" in line
        ]
