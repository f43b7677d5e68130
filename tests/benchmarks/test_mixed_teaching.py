"""One model for steps and results, or one for each: the programs, the measure of steps, and all of it with little."""

import ast
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="no torch: would show how models of several notations are compared")

from benchmarks import mixed_teaching, tuning_cost
from deskcheck.notation import NOTATIONS, moments
from deskcheck.notation.layout import program_text, trace_prompt
from deskcheck.recording import Mode, Program, Recording
from deskcheck.teach.lessons.tokens import Bytes
from deskcheck.teach.small.checkpoints import Checkpoint
from deskcheck.tracer import Granularity
from tests.ask.conftest import record_here
from tests.teach.test_stepper import ByHeart, _key


def recorded(code: str, arguments: str = "(1, 2, 3)") -> Recording:
    program = Program(id="flow0_2_0", code=code, mode=Mode.CALL, entry="f", arguments=arguments)
    return record_here(program, Granularity.LINE)


def test_programs_have_the_lines_that_they_are_counted_under(tmp_path: Path) -> None:
    """And none is asked about that is taught."""
    chance = random.Random(1)
    for _ in range(50):
        code, count = mixed_teaching.flow_program(chance)
        (function,) = ast.parse(code).body
        assert isinstance(function, ast.FunctionDef)
        assert len(function.body) == count + 1
    taught = mixed_teaching.write_programs(tmp_path / "taught.jsonl", 300, 1, set())
    asked = mixed_teaching.write_programs(tmp_path / "asked.jsonl", 100, 2, taught)
    assert (len(taught), len(asked)) == (300, 100)
    assert not taught & asked


@pytest.mark.parametrize("notation", ["scratchpad", "compact"])
def test_a_step_is_right_if_each_of_its_tokens_is_the_first_choice(notation: str) -> None:
    """Of a model that knows a trace by heart but for one token: that step is wrong, and no other."""
    one = recorded("def f(a, b, c):\n    a, b = b, a\n    c = a\n    return c\n")
    text = NOTATIONS[notation].render(one)
    true = list(moments(one.trace, file=one.program.filename))
    parts = mixed_teaching.parts_of(true, mixed_teaching.TRACES[notation])
    assert "\n".join(parts) == text
    assert len(parts) == len(true) == 5
    asked = program_text(one.program) + trace_prompt(one.program, notation)
    network = ByHeart({asked: text})
    assert mixed_teaching.steps_after_truth(Checkpoint(network, Bytes(), {}), one, notation) == [True] * 4
    at = asked + "\n".join(parts[:2]) + "\n" + parts[2][:3]
    network.following[_key(list(Bytes().encode(at)))] = (ord("!"), 1.0)
    found = mixed_teaching.steps_after_truth(Checkpoint(network, Bytes(), {}), one, notation)
    assert found == [True, False, True, True]


def test_cost_counts_what_batches_are_filled_up_with() -> None:
    assert tuning_cost.operations_per_token(8e9, full=False) == 48e9
    assert tuning_cost.operations_per_token(8e9, full=True) == 64e9
    assert tuning_cost.filled_up([10, 20, 30], 3) == 90
    assert tuning_cost.filled_up([10, 20, 30], 1) == 60
    assert 60 < tuning_cost.filled_up([10, 20, 30], 2) <= 90


@pytest.mark.exhaustive
def test_all_of_it_with_little(tmp_path: Path) -> None:
    """Recorded, taught, asked and shown, by the command."""
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    command = [sys.executable, "-m", "benchmarks.mixed_teaching", str(tmp_path / "out"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "| results right, said at once" in done.stdout
    assert "both - direct, longer" in done.stdout
