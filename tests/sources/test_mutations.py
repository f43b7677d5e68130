"""Wrong versions of programs. Not: whether a mutant does anything else than its original."""

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import InputError, Outcome, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.limits import Limits
from deskcheck.sources import programs
from deskcheck.sources.check import check
from deskcheck.sources.families.families import FAMILIES, Family
from deskcheck.sources.sets.mutations import KINDS, mutants
from deskcheck.tracer.limits import TraceLimits
from tests.sample import spread

CODE = '''def f(a, b):
    """Add, but only up."""
    total = 0
    for i in range(a, b):
        if i % 2 == 0 and not a:  # ä€
            total += min(a, i)
    return total
'''


def lines(kind: str) -> set[str]:
    """The changed line of every mutant of that kind."""
    changed = set()
    for mutant in mutants(CODE):
        if mutant.kind == kind:
            before, after = CODE.split("\n"), mutant.code.split("\n")
            changed |= {line.strip() for line in after if line not in before} or {"(gone)"}
    return changed


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "operator",
            {
                "if i // 2 == 0 and not a:  # ä€",
                "if i * 2 == 0 and not a:  # ä€",
                "if i % 2 == 0 or not a:  # ä€",
                "total -= min(a, i)",
                "total *= min(a, i)",
            },
        ),
        ("comparison", {"if i % 2 != 0 and not a:  # ä€"}),
        (
            "constant",
            {
                "total = 1",
                "if i % 3 == 0 and not a:  # ä€",
                "if i % 1 == 0 and not a:  # ä€",
                "if i % 2 == 1 and not a:  # ä€",
            },
        ),
        (
            "off_by_one",
            {
                "for i in range(a + 1, b):",
                "for i in range(a - 1, b):",
                "for i in range(a, b + 1):",
                "for i in range(a, b - 1):",
            },
        ),
        (
            "swapped",
            {"for i in range(b, a):", "if 2 % i == 0 and not a:  # ä€", "total += min(i, a)"},
        ),
        ("dropped", {"(gone)", "pass"}),
        ("condition", {"if not (i % 2 == 0 and not a):  # ä€"}),
    ],
)
def test_the_mistakes_of_a_kind(kind: str, expected: set[str]) -> None:
    """Every place where a kind of mistake can be made, and nothing else of the text is changed."""
    assert lines(kind) == expected


def test_another_variable() -> None:
    """A wrong variable is one of the function's own."""
    assert "return i" in lines("variable")
    assert all(
        mutant.after in ("a", "b", "i", "total") for mutant in mutants(CODE) if mutant.kind == "variable"
    )


def test_the_hash_seed_decides_nothing() -> None:
    """The same mutants, in the same order, whatever the order of a set of names is."""
    code = f"from deskcheck.sources.sets.mutations import mutants; print([m.code for m in mutants({CODE!r})])"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


@pytest.mark.parametrize("family", spread(FAMILIES.values(), 3), ids=lambda family: family.name)
def test_mutants_are_programs_and_all_different(family: Family) -> None:
    """Of every text of a family: each mutant compiles, its tree is another, and no two are the same."""
    for text in family.texts:
        found = mutants(text)
        assert len(found) > 5
        assert len({mutant.code for mutant in found} | {text}) == len(found) + 1
        for mutant in found:
            compile(mutant.code, "mutant", "exec")
            assert ast.dump(ast.parse(mutant.code)) != ast.dump(ast.parse(text))
            assert mutant.kind in KINDS


def test_every_kind_is_made() -> None:
    """Over the families' texts no kind of mistake is missing."""
    made = Counter(mutant.kind for family in FAMILIES.values() for mutant in mutants(family.texts[0]))
    assert made.keys() == KINDS.keys()


@pytest.mark.slow
def test_published_programs_have_mutants(shared: Callable[[str, str], Path]) -> None:
    """Nearly every program of CRUXEval has mutants, and none of them may be trained on."""
    file = shared("cruxeval/cruxeval_600.jsonl", "nearly every CRUXEval program has mutants")
    found = list(programs(f"mutations,each=2:cruxeval:{file}"))
    assert len({program.extra["mutation"]["of"] for program in found}) > 590
    assert not any(program.train_ok for program in found)
    assert all(program.expected is None for program in found)


def test_all_inputs_of_a_text_get_the_same_mutants(tmp_path: Path) -> None:
    """A text that is called with two inputs has the same wrong versions with both."""
    file = tmp_path / "f.jsonl"
    file.write_text(json.dumps({"code": CODE, "entry": "f", "inputs": ["0, 5", "1, 4"], "train_ok": True}))
    found = list(programs(f"mutations,each=4:{file}"))
    assert [program.id for program in found] == [f"f_1_{k}~{m}" for k in (0, 1) for m in range(4)]
    assert [program.code for program in found[:4]] == [program.code for program in found[4:]]
    assert all(program.train_ok and program.source == str(file) for program in found)
    assert len({program.extra["mutation"]["kind"] for program in found}) == 4
    assert found == list(programs(f"mutations,each=4:{file}"))
    assert found != list(programs(f"mutations,each=4,seed=1:{file}"))


def test_sessions_are_passed_over(tmp_path: Path) -> None:
    """Doctests have no text of their own to change: that is said, and nothing to record is an error."""
    (tmp_path / "m.py").write_text('"""\n>>> 1\n1\n"""\n')
    notes: list[str] = []
    with pytest.raises(InputError, match="has no mutants"):
        list(programs(f"mutations:doctests:{tmp_path / 'm.py'}", note=notes.append))
    assert any("1 doctest sessions are left out" in text for text in notes)


def test_a_mutant_of_a_call_with_arguments(tmp_path: Path) -> None:
    """FILE.py::FUNCTION keeps its arguments."""
    (tmp_path / "m.py").write_text(CODE)
    found = list(programs(f"mutations,each=2:{tmp_path / 'm.py'}::f", "(1, b=4)"))
    assert [program.arguments for program in found] == ["(1, b=4)"] * 2


@pytest.mark.slow
def test_wrong_programs_have_true_traces(tmp_path: Path) -> None:
    """Mutants are recorded however they end, one that never ends among them, and `check` finds no fault with that."""
    file = tmp_path / "f.jsonl"
    code = "def f(n):\n    while n > 0:\n        n -= 1\n    return n\n"
    file.write_text(json.dumps({"code": code, "entry": "f", "inputs": ["3"]}))
    summary = record_programs(
        programs(f"mutations,each=50:{file}"),
        tmp_path / "runs",
        RecordSettings(
            repeat=False, limits=Limits(cpu_s=0.5, wall_s=60), trace_limits=TraceLimits(events=1000)
        ),
        workers=2,
    )
    assert summary.recorded == len(mutants(code))
    assert summary.by_outcome[Outcome.TIMED_OUT] > 0
    report = check(Recordings(tmp_path / "runs"))
    assert report.wrong == {}


@pytest.mark.parametrize(
    "code", ["def f(:", "", "x", "def f():\r\n    return 1\r\n", "def f():\n\x0c    return 1\n", "\0"]
)
def test_odd_texts_have_no_mutants(code: str) -> None:
    """What does not parse, or whose lines cannot be counted, is left alone."""
    assert mutants(code) == [] or code == "x"


def test_a_program_keeps_what_it_is(tmp_path: Path) -> None:
    """All but id, text, expectation and `extra` is the original's."""
    (original,) = programs("family:gcd,inputs=1,texts=0")
    (mutant, *_) = programs("mutations:family:gcd,inputs=1,texts=0")
    assert isinstance(mutant, Program)
    kept = {"mode", "entry", "arguments", "source", "licence", "train_ok", "date"}
    assert {name: getattr(mutant, name) for name in kept} == {name: getattr(original, name) for name in kept}
    assert mutant.extra["mutation"]["of"] == original.id
