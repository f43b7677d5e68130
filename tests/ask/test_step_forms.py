"""Other forms of the kind `step`: several events on, back, by instructions, and in three notations."""

import dis
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from typer.testing import CliRunner

from deskcheck.ask import QUESTIONS, AnswerScore, Sample, StepOptions, score_answer
from deskcheck.ask.answers.parsing import written
from deskcheck.ask.baselines import guess, oracle
from deskcheck.ask.kinds.step import AGAIN, BY_LINE, NONE, OTHERWISE
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import read_state
from deskcheck.ask.questions.lines import sample_in, write_questions
from deskcheck.ask.questions.questions import kind_of
from deskcheck.notation import Moment, state_text
from deskcheck.notation.layout import asked_state, step_prompt
from deskcheck.recording import InputError, Kind, Mode, Program, Recording, render
from deskcheck.recording.value import decode
from deskcheck.sources.generated.source import generated
from deskcheck.tracer import Granularity
from tests.ask.conftest import Record, record_here
from tests.ask.test_step import ROWS

PROGRAMS = Path(__file__).parent.parent / "programs"
NOTATIONS = ("dynamic", "scratchpad", "compact")
HIDDEN = "def g(x):\n    return x\n\ndef f():\n    return sorted([0, 0, 0], key=g)\n"
"""How far `sorted` has come stands in no state."""


def asked(recording: Recording, many: int = 1000, **options: Any) -> list[Sample]:
    return list(kind_of("step", StepOptions(**options))(recording, per_recording=many))


def reasons(recording: Recording, **options: Any) -> Counter[str]:
    excluded: Counter[str] = Counter()
    list(kind_of("step", StepOptions(**options))(recording, per_recording=1000, excluded=excluded))
    return excluded


def scored(sample: Sample, answer: str) -> AnswerScore:
    return score_answer(sample, written("step", answer))


def answered(sample: Sample) -> Moment:
    """The state that an answer is."""
    found = read_state(sample.answer, notation=sample.data["notation"], previous=sample.data.get("known", ""))
    assert not isinstance(found, str)
    return found


@pytest.fixture(scope="module")
def rows(record: Record) -> Recording:
    return record(ROWS, "f", "(2)", granularity=Granularity.INSTRUCTION)


JUMPS = (1, 2, 5, -1, -3)
FORMS = [(detail, notation) for detail in ("line", "instruction") for notation in NOTATIONS]
Forms = dict[tuple[str, str], list[Sample]]


@pytest.fixture(scope="module")
def forms(rows: Recording) -> Forms:
    """All questions about a run, in each form, in a drawn order."""
    return {(detail, told): asked(rows, detail=detail, jump=JUMPS, notation=told) for detail, told in FORMS}


def test_the_state_so_many_events_on_or_back(rows: Recording, forms: Forms) -> None:
    """The answers are the states of the run, in each notation; and each scores 1."""
    truth = ground_truth_of(rows)
    assert isinstance(truth, GroundTruth)
    for detail in ("line", "instruction"):
        states = list(truth.states(instructions=detail == "instruction"))
        texts = [state_text(moment) for moment in states]
        for notation in NOTATIONS:
            samples = forms[detail, notation]
            assert len(samples) == sum(len(states) - abs(jump) for jump in JUMPS)
            for number, sample in enumerate(samples):
                at, jump = sample.data["state"], sample.data["jump"]
                assert sample.parts["question"] == step_prompt(truth.lines, texts[at], jump)
                assert sample.answer == texts[at + jump] or notation != "dynamic"
                if number % 3 == 0:
                    assert answered(sample) == states[at + jump]
                    assert scored(sample, sample.answer).score == 1
                    found = score_answer(sample, f"It is:\n```text\n{sample.answer}\n```\n")
                    assert (found.score, found.metrics["lenient"]) == (0, 1)


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("detail", ["line", "instruction"])
def test_what_is_not_the_state_scores_nothing(forms: Forms, detail: str, notation: str) -> None:
    """Neighbours of the state, the state that is shown, the way to it, another value or line, a line too much."""
    every = {(one.data["state"], one.data["jump"]): one for one in forms[detail, notation]}
    tried = 0
    for sample in forms[detail, notation][:20]:
        number, jump = sample.data["state"], sample.data["jump"]
        right, last = sample.answer, answered(sample).running.line
        shown = asked_state(sample.parts["question"])
        assert shown is not None
        wrong = [shown, f"{shown}\n{right}", f"{right}\n{right}", f"{right} ]", "", "cut: memory", "open 0"]
        for other in {1, 2, -1} - {jump}:
            if (number, other) in every:
                near = every[number, other].answer
                wrong += [near, f"{near}\n{right}"]
        lines = right.split("\n")
        wrong.append("\n".join([*lines[:-1], lines[-1].replace(str(last), str(last + 1), 1)]))
        wrong += [right.replace(f"={value}", f"={value}1") for value in (0, 1, 2) if f"={value}" in right]
        for text in wrong:
            assert scored(sample, text).score == 0, (sample.id, text)
        tried += len(wrong)
    assert tried > 200


def test_place_and_values_are_told_apart(forms: Forms) -> None:
    for notation in NOTATIONS:
        sample = next(
            one
            for one in forms["line", notation]
            if one.data["jump"] == 5 and answered(one).kind is Kind.LINE and "i=1" in one.answer
        )
        line = answered(sample).running.line
        lines = sample.answer.split("\n")
        elsewhere = "\n".join([*lines[:-1], lines[-1].replace(str(line), str(line + 1), 1)])
        for text, expected in (
            (sample.answer.replace("i=1", "i=2"), (0, 1, 0)),
            (elsewhere, (0, 0, 1)),
        ):
            found = scored(sample, text)
            assert (found.score, found.metrics["right_place"], found.metrics["right_values"]) == expected


def test_one_event_on_is_the_same_question_whatever_else_is_asked(rows: Recording, forms: Forms) -> None:
    plain = {one.id: one for one in QUESTIONS["step"](rows, per_recording=1000)}
    mixed = [one for one in forms["line", "dynamic"] if one.data["jump"] == 1]
    assert {one.id: one for one in mixed} == plain
    ids = [one.id for samples in forms.values() for one in samples]
    assert len(set(ids)) == len(ids)


def test_jumps_take_turns(forms: Forms) -> None:
    for samples in forms.values():
        for first in (samples[:5], samples[5:10]):
            assert {one.data["jump"] for one in first} == set(JUMPS)
        assert all((one.data["direction"] == "on") == (one.data["jump"] > 0) for one in samples)


def test_the_way_back_is_asked_with_the_run(forms: Forms, record: Record) -> None:
    """What was overwritten cannot be read off the state: two runs that meet in one state come from different ones, and
    their prompts differ by how the program is run alone."""
    code = "def f(x):\n    x = 7\n    return x\n"
    found = []
    for arguments in ("(1)", "(2)"):
        samples = asked(record(code, "f", arguments), jump=(-1,))
        found.append(
            next(one for one in samples if answered(one).running.line == 2 and one.data["line"] == 3)
        )
    one, other = found
    assert one.parts["question"] == other.parts["question"]
    assert one.answer != other.answer
    assert (one.parts["run"], other.parts["run"]) == ("How it is run: f(1)", "How it is run: f(2)")
    assert one.prompt.count("How it is run: f(1)") == 2  # in the examples, too
    assert not one.data["kept"]
    python = "Python: {}.{}".format(*sys.version_info)
    for (detail, _), samples in forms.items():
        for sample in samples:
            told = [python] * (detail == "instruction") + ["How it is run: f(2)"] * (sample.data["jump"] < 0)
            assert sample.parts.get("run", "") == "\n".join(told)


def test_whether_the_answer_stands_in_the_state_that_is_shown(record: Record) -> None:
    code = "def f(n):\n    a = [n]\n    b = a\n    a.append(2)\n    b = 0\n    return b\n"
    back = {
        one.data["line"]: one.data["kept"]
        for one in asked(record(code, "f", "(1)"), jump=(-1,))
        if one.data["state"] < 6
    }
    # a was not there before line 3, b not before 4; in 5 the list has grown, in 6 b is another.
    assert back == {2: True, 3: True, 4: True, 5: False, 6: False}


def test_states_that_hide_something_are_left_out_and_counted(record: Record) -> None:
    """A run that ends meets no state twice, unless something decides that none of them shows."""
    run = record(HIDDEN, "f", "()")
    for jump, left_out in ((1, 3), (2, 5), (-1, 3)):
        assert reasons(run, jump=(jump,))[AGAIN] == left_out
    assert reasons(record(ROWS, "f", "(3)"), jump=(1, 2, -1)) == Counter()


def test_instructions_must_be_recorded(record: Record) -> None:
    assert reasons(record(ROWS, "f", "(3)"), detail="instruction") == Counter({BY_LINE: 1})
    assert "--granularity instruction" in BY_LINE
    test = "def f(n):\n    return n\n\nassert f(3) == 3\n"
    extra = {"assert": "assert f(3) == 3", "entry": "f"}
    shown = record(test, granularity=Granularity.INSTRUCTION, extra=extra)
    assert reasons(shown, detail="instruction") == Counter({OTHERWISE: 1})
    assert asked(shown)
    assert reasons(record("x = 1\n"), jump=(50,)) == Counter({NONE: 1})


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"jump": (0,)}, "jump=0"),
        ({"jump": ()}, "jump=''"),
        ({"jump": (2, 2)}, "once"),
        ({"jump": (-1001,)}, "jump=-1001"),
        ({"detail": "opcode"}, "line, instruction"),
        ({"notation": "cwm"}, "dynamic, scratchpad, compact"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        StepOptions(**options)


def test_models_without_a_network(forms: Forms) -> None:
    """The oracle is right, the one with faults as often as it is told to be, and the guess is a state in each notation."""
    samples = [one for found in forms.values() for one in found[:60]]
    oracle.remember(samples)
    try:
        assert all(score_answer(one, oracle.completion(one.prompt)).score == 1 for one in samples)
        erring = [score_answer(one, oracle.erring(one.prompt, rate=0.05, seed=1)).score for one in samples]
    finally:
        oracle.forget(samples)
    assert abs(sum(erring) / len(erring) - 0.95) < 0.035, (sum(erring), len(erring))
    guessed = [(one, score_answer(one, guess.completion(one.prompt))) for one in samples]
    assert all(found.readable for _, found in guessed)
    for direction in ("on", "back"):
        right = [found.score for one, found in guessed if one.data["direction"] == direction]
        assert 0 < sum(right) < len(right) / 2


def test_they_are_written_and_scored_elsewhere(rows: Recording, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    steps = StepOptions(detail="instruction", jump=(2, -1), notation="compact")
    written, _ = write_questions(path, [rows], ["step"], steps=steps)
    assert written["step"] == 4
    for line in path.read_bytes().splitlines():
        sample = sample_in(line)
        assert sample.id.endswith(f":instruction:{sample.data['jump']:+d}:compact")
        assert scored(sample, sample.answer).score == 1


def test_from_the_command_line(calls: Path, tmp_path: Path) -> None:
    from deskcheck.cli.app import app

    out = tmp_path / "q.jsonl"
    told = [
        "offline",
        "questions",
        str(calls),
        "-q",
        "step",
        "--jump",
        "-1,2",
        "--notation",
        "scratchpad",
        "--out",
        str(out),
    ]
    ran = CliRunner().invoke(app, told, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    data = [json.loads(line)["data"] for line in out.read_text().splitlines()]
    assert {(one["jump"], one["notation"], one["detail"]) for one in data} == {
        (-1, "scratchpad", "line"),
        (2, "scratchpad", "line"),
    }


@pytest.fixture
def calls(record: Record, tmp_path: Path) -> Path:
    from deskcheck.recording.writer import save_recording

    save_recording(record(ROWS, "f", "(3)"), tmp_path / "runs")
    return tmp_path / "runs"


# -- witnesses -----------------------------------------------------------------------------------------


def naive(recording: Recording) -> list[tuple[str, int, dict[str, str]]]:
    """(Event, line, variables as repr) as `sys.settrace` reports a call of a program: no code of ours."""
    program = recording.program
    names: dict[str, Any] = {}
    exec(compile(program.code, "naive", "exec", dont_inherit=True), names)
    found: list[tuple[str, int, dict[str, str]]] = []

    def watch(frame: FrameType, event: str, value: Any) -> Any:
        if frame.f_code.co_filename != "naive":
            return None
        variables = {k: repr(v) for k, v in frame.f_locals.items() if k.isidentifier()}
        found.append((event, frame.f_lineno, variables))
        return watch

    call = compile(f"{program.entry}{program.arguments}", "call", "eval")
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        eval(call, names)
    finally:
        sys.settrace(before)
    return found


EVENTS = {Kind.YIELD: "return", Kind.RESUME: "call"}


def same_as(state: Moment, event: str, line: int, variables: dict[str, str], id_: str) -> None:
    """A state is what a trace function of Python's saw. Texts with addresses are left out."""
    assert (EVENTS.get(state.kind, str(state.kind)), state.running.line) == (event, line), id_
    mine = {
        name: render(decode(value, state.objects))
        for name, value in state.running.locals.items()
        if name.isidentifier()
    }
    assert mine.keys() == variables.keys(), id_
    assert {n: t for n, t in mine.items() if " at 0x" not in variables[n]} == {
        n: t for n, t in variables.items() if " at 0x" not in t
    }, id_


@pytest.mark.parametrize(
    ("every", "many", "jumps", "notation"),
    [(1, 1000, (1,), "dynamic"), (3, 8, (2, 5, 10, -1), "compact")],
)
def test_the_state_is_the_one_that_python_has_then(
    cruxeval: list[Recording], every: int, many: int, jumps: tuple[int, ...], notation: str
) -> None:
    """Event, line and every variable of the answer, so many events on or back, against `sys.settrace`."""
    compared: Counter[int] = Counter()
    for recording in cruxeval[::every]:
        found = naive(recording)
        if len(found) != len(recording.trace):
            continue  # of exceptions the two do not report the same number of events
        for sample in asked(recording, many, jump=jumps, notation=notation):
            event, line, variables = found[sample.data["state"] + sample.data["jump"]]
            same_as(answered(sample), event, line, variables, sample.id)
            compared[sample.data["jump"]] += 1
    assert min(compared[jump] for jump in jumps) > 10, compared
    assert compared[1] > 400 or jumps != (1,)


def naive_instructions(program: Program) -> list[tuple[str, int, int, str, dict[str, str]]]:
    """(Event, line, offset, name of the instruction, variables as repr) as `sys.settrace` and `dis` have them."""
    names: dict[str, Any] = {}
    exec(compile(program.code, "naive", "exec", dont_inherit=True), names)
    found: list[tuple[str, int, int, str, dict[str, str]]] = []
    listed: dict[CodeType, dict[int, str]] = {}

    def watch(frame: FrameType, event: str, value: Any) -> Any:
        code = frame.f_code
        if code.co_filename != "naive":
            return None
        frame.f_trace_opcodes = True
        if code not in listed:
            listed[code] = {one.offset: one.opname for one in dis.get_instructions(code)}
        variables = {k: repr(v) for k, v in frame.f_locals.items() if k.isidentifier()}
        found.append((event, frame.f_lineno, frame.f_lasti, listed[code][frame.f_lasti], variables))
        return watch

    call = compile(f"{program.entry}{program.arguments}", "call", "eval")
    before = sys.gettrace()
    own = sys._getframe()
    own.f_trace_opcodes = True  # 3.12 reports no instructions at all without one that asks before
    sys.settrace(watch)
    try:
        eval(call, names)
    finally:
        sys.settrace(before)
    return found


LOOPS = """\
def half(n, seen):
    seen.append(n)
    return n // 2

def f(n):
    seen, k = [], 0
    while n > 1:
        n = half(n, seen) if n % 2 == 0 else n * 3 + 1
        k += 1
    for one in seen:
        k -= one
    return k, seen
"""


def test_at_each_instruction_too(record: Record) -> None:
    """Event, line, offset, the instruction's name and every variable, against `sys.settrace` with `f_trace_opcodes` and `dis`."""
    recording = record(LOOPS, "f", "(6)", granularity=Granularity.INSTRUCTION)
    found = naive_instructions(recording.program)
    assert len(found) == len(recording.trace)
    samples = asked(recording, 10_000, detail="instruction", jump=(1, 7, -1))
    assert len(samples) > 2.5 * len(found)
    for sample in samples:
        event, line, offset, name, variables = found[sample.data["state"] + sample.data["jump"]]
        state = answered(sample)
        if event == "opcode":
            assert (state.kind, str(state.instruction).split()[0]) == (Kind.INSTRUCTION, name), sample.id
            state = replace(state, kind=Kind.LINE)
            event = "line"
        assert state.running.offset == offset, sample.id
        same_as(state, event, line, variables, sample.id)


@pytest.mark.exhaustive
def test_of_all_kinds_of_programs_each_answer_is_right_and_read() -> None:
    """The programs of the tests that neither hang nor need a process of their own, and generated ones."""
    names = (
        "alias",
        "assignment",
        "class_m",
        "class_s",
        "comprehension",
        "control",
        "exception_f",
        "generator_",
        "loop",
    )
    programs = [
        Program(id=path.name, code=path.read_text(), mode=Mode.MODULE)
        for path in sorted(PROGRAMS.glob("*.py"))
        if path.name.startswith(names)
    ]
    programs += [*generated("generated:20,difficulty=1-9,inputs=1,seed=5")]
    right: Counter[tuple[str, int]] = Counter()
    for number, program in enumerate(programs):
        recording = record_here(program, Granularity.INSTRUCTION)
        if len(recording.trace) > 1500:
            continue
        notation = NOTATIONS[number % 3]
        for detail in ("line", "instruction"):
            for sample in asked(recording, 12, detail=detail, jump=(1, 2, 10, 50, -1, -5), notation=notation):
                assert scored(sample, sample.answer).score == 1, sample.id
                right[detail, sample.data["jump"]] += 1
    assert len(right) == 12, right
    assert min(right.values()) > 20, right
