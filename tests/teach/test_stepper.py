"""The stepper over a network that knows programs by heart, so that what it does is known too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deskcheck.notation import state_text
from deskcheck.notation.divergence import Divergence, Stop
from deskcheck.notation.layout import program_text, step_prompt
from deskcheck.recording import InputError, Mode, Program, Recording
from deskcheck.teach.lessons.tokens import Bytes
from deskcheck.teach.small.checkpoints import Checkpoint
from deskcheck.teach.small.interpreter import Floats, ModelRows, Numbers
from deskcheck.teach.small.stepper import Start, SteppedRun, Stepper, exact_steps, start_of, true_states
from deskcheck.tracer import Granularity
from tests.ask.conftest import record_here

CODE = """\
def add(a, b):
    return a + b


def f(n):
    rows = []
    for i in range(n):
        rows.append(add(i, 10))
    return rows
"""


class ByHeart:
    """A network whose keys are the tokens themselves: it reads from them what it was asked, and knows the
    answer. doubt: prompt -> probability that it gives to each token of the answer, 1 where none is said."""

    layers, heads, head, shift_tokens = 1, 1, 1, 0
    dtype = np.dtype(np.float32)

    def __init__(self, answers: Mapping[str, str], doubt: Mapping[str, float] | None = None) -> None:
        self.following: dict[str, tuple[int, float]] = {}
        for asked, told in answers.items():
            known = list(Bytes().encode(asked))
            for token in [*Bytes().encode(told), Bytes.end]:
                self.following[_key(known)] = token, (doubt or {}).get(asked, 1.0)
                known.append(token)

    def run(
        self, tokens: Numbers, keys: Sequence[Floats], values: Sequence[Floats], lengths: Numbers
    ) -> tuple[NDArray[np.float32], Sequence[Floats], Sequence[Floats]]:
        assert (keys[0] == values[0]).all()
        logs = np.full((*tokens.shape, Bytes.size), -50.0, dtype=np.float32)
        for row in range(len(tokens)):
            known = [int(token) for token in keys[0][row, 0, : lengths[row], 0]]
            for place, token in enumerate(tokens[row]):
                known.append(int(token))
                following, sure = self.following.get(_key(known), (63, 1.0))
                logs[row, place, following] = np.log(sure)
        new = tokens[:, None, :, None].astype(np.float32)
        return logs, [new], [new]


def _key(tokens: Sequence[int]) -> str:
    return "".join([chr(token) for token in tokens])


def program(code: str = CODE, arguments: str = "(3)") -> Program:
    return Program(id="p", code=code, mode=Mode.CALL, entry="f", arguments=arguments, train_ok=True)


def texts(recording: Recording) -> list[str]:
    return [state_text(moment) for moment in true_states(recording)]


def known_by_heart(recordings: Sequence[Recording], jumps: Sequence[int] = (1,)) -> dict[str, str]:
    answers = {}
    for recording in recordings:
        states, head = texts(recording), program_text(recording.program)
        for jump in jumps:
            for before, after in zip(states, states[jump:], strict=False):
                asked = head + step_prompt(recording.program.code.splitlines(), before, jump)
                answers[asked] = after
    return answers


def run_all(network: Any, recordings: Sequence[Recording], **options: Any) -> list[SteppedRun]:
    found = dict(
        Stepper(Checkpoint(network, Bytes(), {}), **options).run(
            [start_of(recording) for recording in recordings]
        )
    )
    return [found[number] for number in range(len(recordings))]


@pytest.fixture
def three() -> list[Recording]:
    return [
        record_here(replace(program(arguments=f"({n})"), id=f"p{n}"), Granularity.LINE) for n in (0, 2, 3)
    ]


@pytest.mark.parametrize("rows", [1, 2, 64])
def test_a_model_that_knows_steps_every_program_to_its_end(three: list[Recording], rows: int) -> None:
    """Of different lengths, so that some leave while others go on; with room for one at a time, too."""
    runs = run_all(ByHeart(known_by_heart(three)), three, rows=rows)
    for run, recording in zip(runs, three, strict=True):
        assert list(run.states) == texts(recording)
        assert run.stop is Stop.END
        agreement = run.against(true_states(recording))
        assert (agreement.first, agreement.exact) == (None, len(run.states) - 1)


def test_first_mistake_is_found_and_named(three: list[Recording]) -> None:
    recording = three[2]
    states = texts(recording)
    wrong_value, wrong_line = dict(known_by_heart([recording])), dict(known_by_heart([recording]))
    head, code = program_text(recording.program), CODE.splitlines()
    asked = head + step_prompt(code, states[5])
    wrong_value[asked] = states[6].replace("10", "11")
    wrong_line[asked] = states[4]
    for answers, kind in [(wrong_value, Divergence.VALUE), (wrong_line, Divergence.NEXT_LINE)]:
        (run,) = run_all(ByHeart(answers), [recording], budget=12)
        agreement = run.against(true_states(recording))
        assert (agreement.first, agreement.exact) == (kind, 5)


def test_unreadable_answers_and_budgets_end_a_run(three: list[Recording]) -> None:
    recording = three[2]
    answers = known_by_heart([recording])
    asked = program_text(recording.program) + step_prompt(CODE.splitlines(), texts(recording)[3])
    (run,) = run_all(ByHeart({**answers, asked: "I would rather not say"}), [recording])
    assert (run.stop, len(run.states)) == (Stop.UNREADABLE, 4)
    assert "I would rather not say" in (run.why or "")
    (run,) = run_all(ByHeart(answers), [recording], budget=4)
    assert (run.stop, len(run.jumps)) == (Stop.BUDGET, 4)
    assert run.against(true_states(recording)).first is Divergence.BUDGET
    (run,) = run_all(ByHeart({}), [recording], longest=90)
    assert run.stop is Stop.UNREADABLE
    assert (run.why or "").startswith("the answer did not end: '???")


def test_far_jumps_are_taken_where_the_model_is_sure(three: list[Recording]) -> None:
    """Unsure of one jump: a step is made there, and the jumps go on after it."""
    recording = three[2]
    states, head = texts(recording), program_text(recording.program)
    unsure = head + step_prompt(CODE.splitlines(), states[3], 3)
    network = ByHeart(known_by_heart([recording], (1, 3)), {unsure: 0.5})
    (run,) = run_all(network, [recording], jumps=(1, 3))
    assert run.jumps[:3] == (3, 1, 3)
    assert run.stop is Stop.END
    assert sum(run.jumps) == len(states) - 1
    assert run.against(true_states(recording)).first is None


def test_guessing_spares_most_passes(three: list[Recording]) -> None:
    """Every token of every answer is found with far fewer passes than tokens."""
    network = ByHeart(known_by_heart(three))
    recording = three[2]
    rows = ModelRows(network, Bytes(), [program_text(recording.program)])
    states = texts(recording)
    answers = [rows.ask({0: (step_prompt(CODE.splitlines(), before), before)})[0] for before in states[:-1]]
    assert [answer.text for answer in answers] == states[1:]
    assert sum(answer.passes for answer in answers) < sum(answer.tokens for answer in answers) / 4


def test_steps_judged_one_by_one_are_those_of_the_stepper(three: list[Recording]) -> None:
    recording = three[2]
    answers = known_by_heart([recording])
    states = texts(recording)
    asked = program_text(recording.program) + step_prompt(CODE.splitlines(), states[7])
    network = ByHeart({**answers, asked: states[1]})
    found = list(exact_steps(Checkpoint(network, Bytes(), {}), recording, rows=4))
    assert found == [number != 7 for number in range(len(states) - 1)]
    (run,) = run_all(network, [recording], budget=9)
    assert run.against(true_states(recording)).exact == found.index(False)


def test_a_run_that_goes_round_asks_once(three: list[Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    """From state 7 back to state 1, until the budget ends; beside it, one that goes on to its end."""
    recording = three[2]
    states = texts(recording)
    round_ = program_text(recording.program) + step_prompt(CODE.splitlines(), states[7])
    network = ByHeart({**known_by_heart([three[1], recording]), round_: states[1]})
    asked: list[str] = []
    ask = ModelRows.ask

    def counted(self: ModelRows, prompts: Mapping[int, tuple[str, str]]) -> Any:
        asked.extend(before for _, before in prompts.values())
        return ask(self, prompts)

    monkeypatch.setattr(ModelRows, "ask", counted)
    other, run = run_all(network, [three[1], recording], budget=40)
    assert other.stop is Stop.END
    assert (run.stop, len(run.jumps), len(run.nll)) == (Stop.BUDGET, 40, 40)
    assert list(run.states) == [*states[:8], *(states[1:8] * 5)][:41]
    assert len(asked) == 8 + len(other.jumps)


def test_jumps_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Stepper(Checkpoint(ByHeart({}), Bytes(), {}), jumps=(0, 1))


def test_nothing_to_step_gives_nothing() -> None:
    starts: list[Start] = []
    assert list(Stepper(Checkpoint(ByHeart({}), Bytes(), {})).run(starts)) == []


def test_steps_of_instructions() -> None:
    """A recording by instruction, in the notation that shows instructions; one by line is refused."""
    recording = record_here(program(arguments="(2)"), Granularity.INSTRUCTION)
    true = list(true_states(recording, notation="dynamic_instruction"))
    assert len(true) > 2 * len(texts(recording))
    states, code = [state_text(moment) for moment in true], CODE.splitlines()
    head = program_text(recording.program)
    answers = {head + step_prompt(code, a): b for a, b in pairwise(states)}
    stepper = Stepper(Checkpoint(ByHeart(answers), Bytes(), {}))
    ((_, run),) = stepper.run([start_of(recording, notation="dynamic_instruction")])
    assert list(run.states) == states
    assert run.against(true).first is None
    by_line = record_here(program(), Granularity.LINE)
    with pytest.raises(InputError, match="recorded by line"):
        start_of(by_line, notation="dynamic_instruction")


def test_notation_that_a_model_was_taught() -> None:
    """It decides how the model is asked; nothing is known of folders that do not name it."""
    network = ByHeart({})
    for notations, expected in [
        (["compact", "dynamic_instruction"], "dynamic_instruction"),
        (["dynamic"], "dynamic"),
        (["compact"], "compact"),
        (["inline"], None),
    ]:
        checkpoint = Checkpoint(network, Bytes(), {"taught": {"notations": notations}})
        assert checkpoint.step_notation == expected
    assert Checkpoint(network, Bytes(), {}).step_notation is None
