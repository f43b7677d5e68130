"""Answers that are read from a run that a model predicted: prompts, reading, scoring, steps."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.ask import QUESTIONS, AskSettings, Sample, ask, score_answer
from deskcheck.ask.baselines import oracle
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import (
    METHODS,
    READABLE,
    Predicted,
    PromptedRun,
    agreement,
    answer_of,
    check_answers,
    check_methods,
    read_state,
    read_trace,
    trace_question,
    unfit,
)
from deskcheck.ask.methods.solvers import method as method_of
from deskcheck.ask.questions.gathering import Gathering
from deskcheck.ask.results.statistics import Interval
from deskcheck.ask.results.steps import PredictedRun, horizon, steps_of
from deskcheck.ask.run import truth_of
from deskcheck.notation import NOTATIONS, Divergence, Moment, RunAgreement, Stop, state_text
from deskcheck.notation.extract import trace_in
from deskcheck.notation.layout import STEPWISE, program_text, step_prompt, trace_prompt
from deskcheck.recording import InputError, Recording
from deskcheck.tracer import Granularity
from tests.sample import examples, spread

Record = Callable[..., Recording]
OWN = list(METHODS.built_in)
BY_INSTRUCTION = "dynamic_instruction"
PREDICTING = [name for name, method in METHODS.built_in.items() if method.notation]

SQUARES = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"
TWO = "def g(x):\n    return x * x\ndef f(x):\n    return x + 1\n"
PROGRAMS: dict[str, tuple[str, str | None, str | None]] = {
    "loop": (SQUARES, "f", "(4)"),
    "recursion": (
        "def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n",
        "fib",
        "(4)",
    ),
    "exceptions": (
        (
            "def g(d, k):\n    return d[k]\ndef f(keys):\n    found = []\n    for k in keys:\n        try:\n"
            "            found.append(g({'a': 1}, k))\n        except KeyError as error:\n"
            "            found.append(str(error))\n        finally:\n            n = len(found)\n    return found, n\n"
        ),
        "f",
        "(['a', 'b'],)",
    ),
    "generators": (
        (
            "def count(n):\n    while n:\n        yield n\n        n -= 1\ndef f(n):\n    pairs = []\n"
            "    for a, b in zip(count(n), count(2 * n)):\n        pairs.append((a, b))\n    return pairs\n"
        ),
        "f",
        "(3)",
    ),
    "aliases": (
        "def f(n):\n    a = b = []\n    for i in range(n):\n        b.append(i)\n    return a, b\n",
        "f",
        "(2)",
    ),
    "printing": (
        "def f(n):\n    for i in range(n):\n        x = i * 2\n        y = x\nf(3)\ntotal = 5\n",
        None,
        None,
    ),
}


@pytest.fixture(scope="module")
def recordings(record: Record) -> list[Recording]:
    return _recorded(record, Granularity.LINE)


@pytest.fixture(scope="module")
def by_instruction(record: Record) -> list[Recording]:
    """The same programs. All methods can be asked about these."""
    return _recorded(record, Granularity.INSTRUCTION)


def _recorded(record: Record, granularity: Granularity) -> list[Recording]:
    level = {"granularity": granularity}
    programs = [
        record(code, entry, arguments, id=name, **level)
        for name, (code, entry, arguments) in PROGRAMS.items()
    ]
    test = "assert f(3) == 5"
    asserted = {"assert": test, "entry": "f"}
    return [*programs, record(f"{SQUARES}{test}\n", id="asserted", extra=asserted, **level)]


def _truth(recording: Recording) -> GroundTruth:
    truth = ground_truth_of(recording)
    assert isinstance(truth, GroundTruth), truth
    return truth


def predict(
    truth: GroundTruth,
    method: str,
    model: Callable[[str], str] = oracle.completion,
    *,
    explain: bool = True,
    until: Sample | None = None,
    budget: int = 2000,
) -> Predicted:
    """What a solver does, with a function for a model."""
    notation = METHODS[method].notation
    assert notation is not None
    if notation not in STEPWISE:
        return read_trace(model(trace_question(truth, notation, explain=explain)), notation)
    level = {"instructions": NOTATIONS[notation].instructions}
    first = truth.states(**level) if until is None else truth.states_from(until.data["event"], **level)
    machine = PromptedRun(truth, next(first), budget=budget, until=until, **level)
    while machine.stop is None:
        machine.take(model(machine.prompt(explain=explain)))
    return machine.predicted()


def wrongly_answered(recordings: Sequence[Recording], method: str) -> tuple[list[str], int]:
    """Samples whose answer, read from the run that the oracle told, is not scored right; how many there were."""
    wrong, n = [], 0
    level = {"instructions": NOTATIONS[str(METHODS[method].notation)].instructions}
    for recording in recordings:
        truth = ground_truth_of(recording)
        if unfit(truth, method) is not None:
            continue
        assert isinstance(truth, GroundTruth)
        oracle.remember_truth(truth)
        run = predict(truth, method)
        found = agreement(truth, run, **level)
        if found.first is not None:
            wrong.append(f"{recording.id}: {found}")
        for kind in sorted(READABLE):
            for sample in QUESTIONS[kind](recording):
                told, event = run, None
                if kind == "next_line" and run.given:
                    told, event = predict(truth, method, until=sample), sample.data["event"]
                    if agreement(truth, told, event=event, **level).first is not None:
                        wrong.append(f"{sample.id}: steps")
                answer = answer_of(sample, truth, told)
                n += 1
                if score_answer(sample, f"[ANSWER]{answer}[/ANSWER]").score != 1:
                    wrong.append(sample.id)
        oracle.forget_truth(truth)
    return wrong, n


@pytest.mark.parametrize("method", PREDICTING)
def test_every_answer_stands_in_the_true_run(
    recordings: list[Recording], by_instruction: list[Recording], method: str
) -> None:
    """Loops, recursion, exceptions, generators that take turns, aliases, scripts, asserts: all kinds of question."""
    if method == BY_INSTRUCTION:
        assert {unfit(ground_truth_of(recording), method) for recording in recordings} == {
            "was recorded by line, not by instruction"
        }
        recordings = by_instruction
    assert all(unfit(ground_truth_of(recording), method) is None for recording in recordings)
    wrong, n = wrongly_answered(recordings, method)
    assert wrong == []
    assert n > 40


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in PREDICTING if name != BY_INSTRUCTION])
def test_every_answer_stands_in_the_true_run_of_cruxeval(cruxeval: list[Recording], method: str) -> None:
    wrong, n = wrongly_answered(cruxeval[:60], method)
    assert wrong == []
    assert n > 300


def test_prompts_without_explanation_are_those_of_lessons(recordings: list[Recording]) -> None:
    truth = _truth(recordings[0])
    program = recordings[0].program
    assert trace_question(truth, "compact", explain=False) == program_text(program) + trace_prompt(
        program, "compact"
    )
    machine = PromptedRun(truth, next(truth.states()), budget=5)
    expected = program_text(program) + step_prompt(program.code.splitlines(), "globals: def f\ncall f 1: n=4")
    assert machine.prompt(explain=False) == expected
    assert machine.prompt(explain=True).endswith(expected)


def test_what_is_shown_does_not_tell_the_answer(record: Record, recordings: list[Recording]) -> None:
    """An assert gives way to its call; docstrings with doctests to empty lines; lines keep their numbers."""
    asserted = _truth(recordings[-1])
    assert asserted.text.splitlines()[5] == "6|f(3)"
    assert next(m.running.at for m in asserted.states() if len(m.frames) == 2) == (6, 0, 6, 4)
    told = record('def f(n):\n    """\n    >>> f(1)\n    2\n    """\n    return n + 1\n', "f", "(1)")
    assert _truth(told).text == "1|def f(n):\n2|\n3|\n4|\n5|\n6|    return n + 1\n\n"


def test_runs_that_cannot_be_predicted_say_why(record: Record) -> None:
    twice = "assert f(1) == f(2) or True"
    many = record(f"{SQUARES}{twice}\n", extra={"assert": twice, "entry": "f"})
    assert ground_truth_of(many) == "the assert does not contain exactly one call"
    more = "assert f(len(str(g(2)))) == g(0)"
    other = record(f"{SQUARES}def g(n):\n    return n\n{more}\n", extra={"assert": more, "entry": "f"})
    assert ground_truth_of(other) == "the assert calls more than the function"
    frames = record(TWO, "f", "(g(2))")
    assert unfit(ground_truth_of(frames), "dynamic_scratchpad") is not None
    assert unfit(ground_truth_of(frames), "compact") is None
    assert unfit("any reason", "direct") is None


# -- reading -------------------------------------------------------------------------------------

STATE = "globals: def f\nframe f 3: n=2\ncall g 1 from 3:4-8: x='```'"


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```\n{}\n```",
        "The next state is:\n\n```text\n{}\n```\nas the call returns.",
        "First I thought\n```\nf 1: n=1\n```\nbut it is\n```\n{}\n```",
        "Sure! Here it is:\n{}\nThat is all.",
        "{}\n\nf 4: n=3",
        "{}\n\n9|    more\n+1\n",
        "```\n{}",
    ],
)
def test_a_state_is_found_among_words(around: str) -> None:
    read = read_state(around.format(STATE))
    assert isinstance(read, Moment), read
    assert state_text(read) == STATE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I do not know.",
        "```\n```",
        f"```\n{STATE} ]\n```",
        f"```\nwords inside\n{STATE}\n```",
        f"{STATE}\n{STATE}",
        "globals: def f\nframe f 3: n=\ncall g 1 from 3:4-8: x='y'",
        "frame f 3: n=2",
        "call g 1: x=#1",
        "return the value of x",
    ],
)
def test_what_is_not_exactly_one_state_is_none(text: str) -> None:
    read = read_state(text)
    assert isinstance(read, str)
    assert read


@settings(deadline=None, max_examples=examples(80))
@given(text=st.one_of(st.text(), st.text(alphabet="f 1:n=#[]'`\n|->call", max_size=60)))
def test_reading_never_raises(text: str) -> None:
    trace_in(text)
    read_state(text)
    for notation in ("scratchpad", "compact"):
        read_trace(text, notation)
        read_trace(text, notation, truncated=True)


def test_a_trace_ends_at_the_first_line_that_cannot_be_read(recordings: list[Recording]) -> None:
    """What stands before counts; what stands after, readable or not, does not. Cut at the limit it is a budget."""
    truth = _truth(recordings[0])
    oracle.remember_truth(truth)
    text = oracle.completion(trace_question(truth, "compact", explain=False))
    oracle.forget_truth(truth)
    lines = trace_in(text).split("\n")
    lines[4] = "what comes now?"
    broken = read_trace("\n".join(lines), "compact")
    assert (broken.stop, len(broken.states), broken.asked) == (Stop.UNREADABLE, 3, 4)
    found = agreement(truth, broken)
    assert (found.exact, found.judged, found.first) == (3, 4, Divergence.UNREADABLE)
    cut = read_trace(text[:60], "compact", truncated=True)
    assert cut.stop is Stop.BUDGET
    assert agreement(truth, cut).first is Divergence.BUDGET
    ended = read_trace("\n".join(trace_in(text).split("\n")[:4]), "compact")
    assert agreement(truth, ended).first is Divergence.NEXT_LINE


# -- the interpreter -----------------------------------------------------------------------------


def test_interpreter_stops(recordings: list[Recording]) -> None:
    """At the outermost return, at what is no state, at the budget; of a wrong state the next is asked all the same."""
    truth = _truth(recordings[0])
    states = [state_text(moment) for moment in truth.states()]
    whole = PromptedRun(truth, next(truth.states()), budget=100)
    for state in states[1:]:
        assert whole.stop is None
        whole.take(state)
    assert whole.stop is Stop.END
    assert agreement(truth, whole.predicted()).first is None
    short = PromptedRun(truth, next(truth.states()), budget=3)
    for state in states[1:4]:
        assert short.stop is None
        short.take(state)
    assert short.stop is Stop.BUDGET
    assert agreement(truth, short.predicted()).first is Divergence.BUDGET
    lost = PromptedRun(truth, next(truth.states()), budget=100)
    lost.take("f 99: n=4")
    assert lost.stop is None
    lost.take("nonsense")
    assert lost.stop is Stop.UNREADABLE
    run = lost.predicted()
    assert (run.asked, run.why) == (2, "the completion has no state")
    found = agreement(truth, run)
    assert (found.exact, found.judged, found.first) == (0, 1, Divergence.NEXT_LINE)


def test_no_answer_where_the_run_does_not_come_to_it(recordings: list[Recording]) -> None:
    """A run that broke off answers questions about what came before, and none about what would have come."""
    recording = recordings[0]
    truth = _truth(recording)
    states = tuple(truth.states())
    (output,) = QUESTIONS["output"](recording)
    (path,) = QUESTIONS["path"](recording)
    broken = Predicted(states=states[:-1], stop=Stop.UNREADABLE)
    assert answer_of(output, truth, broken) is None
    assert answer_of(path, truth, broken) is None
    samples = [s for s in QUESTIONS["state"](recording) if s.data["k"] < 3]
    assert samples
    for sample in samples:
        assert answer_of(sample, truth, broken) == sample.answer


# -- a model that errs at a known rate -------------------------------------------------------------


@pytest.mark.parametrize("method", PREDICTING)
@pytest.mark.parametrize("rate", spread([0.02, 0.1], 2))
def test_accuracy_of_a_step_is_the_one_that_was_given(record: Record, method: str, rate: float) -> None:
    """Many runs of the erring model: 1 - rate lies within three standard errors, and faults are of all kinds."""
    runs = []
    instructions = NOTATIONS[str(METHODS[method].notation)].instructions
    granularity = Granularity.INSTRUCTION if instructions else Granularity.LINE
    for n in range(60):
        truth = _truth(record(SQUARES, "f", f"({8 + n % 7})", id=f"{n}", granularity=granularity))
        oracle.remember_truth(truth)

        def erring(prompt: str, n: int = n) -> str:
            return oracle.erring(prompt, rate=rate, seed=n)

        run = predict(truth, method, erring)
        oracle.forget_truth(truth)
        runs.append(
            (
                PredictedRun(
                    key=str(n), asked=run.asked, agreement=agreement(truth, run, instructions=instructions)
                ),
                str(n),
            )
        )
    steps = steps_of(runs)
    assert steps is not None
    assert steps.exact is not None
    error = (rate * (1 - rate) / steps.judged) ** 0.5
    assert abs(steps.exact.value - (1 - rate)) < 3 * error
    assert steps.exact.low is not None
    assert steps.exact.high is not None
    assert steps.exact.low < 1 - rate < steps.exact.high
    assert set(steps.divergences) == {"value", "next_line", "unreadable"}
    assert steps.whole + sum(steps.divergences.values()) == steps.runs == 60
    assert steps.horizon is not None
    assert steps.horizon.low is not None
    assert steps.horizon.high is not None
    true = 0.6931 / rate
    assert steps.horizon.low < true < steps.horizon.high


def test_oracle_is_the_erring_model_with_rate_0(by_instruction: list[Recording]) -> None:
    truth = _truth(by_instruction[1])
    oracle.remember_truth(truth)
    for method in PREDICTING:
        run = predict(truth, method, lambda prompt: oracle.erring(prompt, rate=0.0, seed=1))
        assert agreement(truth, run, instructions=method == BY_INSTRUCTION).first is None
    oracle.forget_truth(truth)


# -- statistics of steps -----------------------------------------------------------------------------


def _ran(key: str, exact: int, wrong: int, first: Divergence | None) -> PredictedRun:
    judged = RunAgreement(exact=exact, judged=exact + wrong, places=exact, values=exact + wrong, first=first)
    return PredictedRun(key=key, asked=exact + wrong, agreement=judged)


def test_steps_count_each_run_once() -> None:
    first, second = _ran("a", 9, 1, Divergence.NEXT_LINE), _ran("b", 10, 0, None)
    found = steps_of([(first, "x"), (first, "x"), (second, "y")])
    assert found is not None
    assert (found.runs, found.whole, found.judged, found.longest) == (2, 1, 20, 10)
    assert found.exact is not None
    assert found.exact.value == 19 / 20
    assert found.values is not None
    assert found.values.value == 1
    assert found.divergences == {"next_line": 1}
    assert steps_of([]) is None
    assert PredictedRun.from_dict(json.loads(json.dumps(first.to_dict()))) == first


def test_horizon_is_ln_half_over_ln_p() -> None:
    """The figures of the paper's per-step accuracies: 86.4 % -> 5 steps, 96.3 % -> 18, 98.8 % -> 57."""
    made = horizon(Interval(value=0.963, low=0.864, high=0.988, n=1000, clusters=1000, effective=1000))
    assert [round(x or 0) for x in (made.low, made.value, made.high)] == [5, 18, 57]
    sure = horizon(Interval(value=1.0, low=0.0, high=1.0, n=1, clusters=1, effective=1))
    assert (sure.low, sure.value, sure.high) == (0.0, None, None)
    few = horizon(Interval(value=0.5, low=None, high=None, n=9, clusters=1, effective=1))
    assert (few.low, few.value, few.high) == (None, 1.0, None)


# -- through Inspect ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_methods_are_asked_the_same_samples_and_compared(
    inspect: Any, by_instruction: list[Recording], tmp_path: Path
) -> None:
    """The oracle scores 1 by every method; rows and results have the steps; differences are those of effects."""
    import pyarrow.parquet as pq

    kinds = ["output", "state", "next_line", "path"]
    results = ask(
        by_instruction,
        kinds,
        ["deskcheck/oracle"],
        settings=AskSettings(methods=tuple(OWN)),
        out=tmp_path / "run",
    )
    assert [(r.question, r.solver) for r in results] == [(k, m) for k in kinds for m in OWN]
    assert {r.score for r in results} == {1.0}
    for kind in kinds:
        asked = {tuple(sorted(row.id for row in r.samples)) for r in results if r.question == kind}
        assert len(asked) == 1
    assert all((r.steps is not None) == (r.solver in PREDICTING) for r in results)
    rows = pq.read_table(tmp_path / "run" / "samples.parquet").to_pylist()
    stepped = [row for row in rows if row["solver"] in PREDICTING]
    assert all(row["steps_exact"] == row["steps_judged"] == row["steps_asked"] > 0 for row in stepped)
    assert all(row["divergence"] == "" for row in rows)
    compared = json.loads((tmp_path / "run" / "effects.json").read_text())
    assert {(e["solver"], e["against"], e["difference"]) for e in compared} == {
        (m, "direct", 0.0) for m in OWN if m != "direct"
    }
    assert len(compared) == len(kinds) * (len(OWN) - 1)


@pytest.mark.slow
def test_erring_model_scores_less_the_longer_the_run(inspect: Any, record: Record, tmp_path: Path) -> None:
    """Its steps err at the stated rate, its answers to the question itself too: a run of n steps is right with
    (1 - rate)^n. What went wrong is said of each sample."""
    runs = [record(SQUARES, "f", f"({n})", id=f"{n}") for n in range(10, 30)]
    direct, stepwise = ask(
        runs,
        ["output"],
        ["deskcheck/erring"],
        settings=AskSettings(methods=("direct", "dynamic_scratchpad"), model_args={"rate": 0.05, "seed": 1}),
        out=tmp_path / "run",
    )
    assert direct.score is not None
    assert stepwise.score is not None
    assert direct.score > 0.6
    assert stepwise.score < 0.4
    assert stepwise.steps is not None
    assert stepwise.steps.exact is not None
    assert stepwise.steps.exact.value == pytest.approx(0.95, abs=0.02)
    assert stepwise.steps.exact.low is None, "all of one program"
    wrong = [row for row in stepwise.samples if row.divergence]
    assert len(wrong) >= 12
    # An error need not show in the answer; without one the answer is right.
    assert all(row.score == 1 for row in stepwise.samples if not row.divergence)


@pytest.mark.slow
def test_solvers_are_registered_in_inspect(inspect: Any, record: Record, tmp_path: Path) -> None:
    """`inspect eval deskcheck/output --solver deskcheck/dynamic_scratchpad`: a run that has no truth is not scored."""
    from inspect_ai import eval as inspect_eval

    import deskcheck.ask.inspect.registry as registered
    from deskcheck.ask.inspect.context import run_context
    from deskcheck.ask.inspect.tasks import task_of

    runs = [
        record(SQUARES, "f", "(3)", id="good", granularity=Granularity.INSTRUCTION),
        record(TWO, "f", "(g(2))", id="frames", granularity=Granularity.INSTRUCTION),
    ]
    keys = {run.id: run_context().add_run(run) for run in runs}
    samples = [sample for run in runs for sample in QUESTIONS["output"](run)]
    assert len(samples) == 2
    for name in OWN:
        (log,) = inspect_eval(
            task_of("output", samples, runs=keys),
            model="deskcheck/oracle",
            solver=getattr(registered, name)(),
            log_dir=str(tmp_path / "logs"),
            display="none",
            score_display=False,
            ctl_server=False,
        )
        assert log.status == "success", log.error
        values = {s.id: (s.scores or {})["scored"].value for s in log.samples or ()}
        assert values["good:output"] == 1.0
        if METHODS[name].notation in STEPWISE:
            assert values["frames:output"] != values["frames:output"]  # not a number: not scored
        else:
            assert values["frames:output"] == 1.0


@pytest.mark.parametrize(
    ("methods", "questions", "message"),
    [
        ([], ["output"], "no method is named"),
        (["deep"], ["output"], "unknown method 'deep'"),
        (["direct", "direct"], ["output"], "named twice"),
        (["direct:rounds"], ["program"], "write options as direct:OPTION=VALUE"),
        (["direct:rounds=1:rounds=2"], ["program"], "each once"),
        (["direct:rounds=1"], ["program"], "the method direct has no options"),
        (["compact"], ["input"], "compact cannot answer input"),
        (["direct", "scratchpad"], ["cell_output"], "scratchpad cannot answer cell_output"),
    ],
)
def test_wrong_methods_are_refused(methods: list[str], questions: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_methods(methods, questions)
    check_methods(["direct", "chain_of_thought"], ["input", "cell_output"])


def test_a_method_of_another_package_checks_its_options_and_its_samples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before a model is asked: the method itself says what it has no option for, and what it cannot answer."""
    monkeypatch.setattr(METHODS, "_things", dict(METHODS.built_in))

    def check(options: Mapping[str, str]) -> None:
        if unknown := options.keys() - {"times"}:
            raise InputError(f"again has no option {min(unknown)!r}.")

    def refuses(sample: Sample) -> str | None:
        return None if sample.data["form"] == "value" else "its answer is no value"

    @method_of("again", about="the question again", check_options=check, refuses=refuses)
    def again(times: str = "2") -> Any:
        raise NotImplementedError

    value, line = (
        Sample(id=form, question="q", program="p", cluster="p", parts={}, answer="", data={"form": form})
        for form in ("value", "line")
    )
    check_methods(["direct", "again", "again:times=3"], ["q"])
    check_answers(["direct", "again:times=3"], {"q": [value]})
    with pytest.raises(InputError, match="again has no option 'twice'"):
        check_methods(["again:twice=3"], ["q"])
    with pytest.raises(InputError, match="again cannot answer q: its answer is no value"):
        check_answers(["again"], {"q": [value, line]})


def test_a_solver_of_another_package_has_a_name_and_options_in_inspect(
    inspect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`inspect eval ... --solver deskcheck/again -S times=3`: each option has its default; `ask` makes it, too."""
    from inspect_ai._util.registry import registry_info, registry_lookup, registry_params

    from deskcheck.ask.inspect.solvers import direct, registered, solver_of

    options: list[dict[str, Any]] = []

    def made(**given: Any) -> Any:
        options.append(given)
        return direct()

    again = registered("again", {"times": 2, "aloud": False}, made)
    solver = again(times=3)
    assert registry_info(solver).name == "deskcheck/again"
    assert registry_lookup("solver", "deskcheck/again") is again
    assert registry_params(solver) == {"times": 3}
    assert {name: one.default for name, one in signature(again).parameters.items()} == {
        "times": 2,
        "aloud": False,
    }
    monkeypatch.setattr(METHODS, "_things", dict(METHODS.built_in))
    method_of("again", about="the question again")(again)
    assert solver_of("again:times=4", explain=True, max_steps=1) is not None
    assert options == [{"times": 3}, {"times": "4"}]


@pytest.mark.skipif(
    find_spec("deskcheck_methods") is not None,
    reason="deskcheck-methods is installed: would have proved that deskcheck says how to install it",
)
def test_an_unknown_method_may_be_in_the_package_that_is_not_installed() -> None:
    with pytest.raises(InputError, match=r"unknown method 'repair'.*pip install 'deskcheck\[methods\]'"):
        check_methods(["repair:trace=true"], ["program"])


def test_what_one_method_cannot_predict_no_method_is_asked(record: Record) -> None:
    """And it is counted with its reason."""
    runs = [
        record(SQUARES, "f", "(3)", id="good"),
        record(TWO, "f", "(g(2))", id="frames"),
    ]
    truths: list[GroundTruth] = []
    of_methods = partial(truth_of, methods=["direct", "dynamic_scratchpad"])
    samples, excluded = Gathering(runs, ["output"]).sets(of_methods, truths.append)["output", ""]
    assert [sample.program for sample in samples] == ["good"]
    assert [truth.recording.id for truth in truths] == ["good"]
    assert sum(excluded.values()) == 1
    samples, excluded = Gathering(runs, ["output"]).sets()["output", ""]
    assert len(samples) == 2
