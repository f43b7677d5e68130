"""Methods that ask a model several times and run what it wrote. Models are scripted, so that what must come of a
method is known; the sandbox is the real one."""

import functools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from typing import Any

import pytest
from deskcheck_methods.bench import Bench, Turn
from deskcheck_methods.place import CallResult, ProgramRunner
from deskcheck_methods.registry import SCAFFOLDS, scaffold_of
from deskcheck_methods.traces import within
from deskcheck_methods.visible import Puzzle, asserts_in, examples_in
from tests.methods.scripted import Scripted, by, coding, drawn, in_turn, puzzle, said

from deskcheck.ask.methods.solvers import METHODS, check_answers, check_methods
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import Judge
from deskcheck.ask.scoring.sandbox import LIMITS
from deskcheck.ask.scoring.score import score_answer
from deskcheck.notation import NOTATIONS
from deskcheck.recording import InputError, Program, RunResult
from deskcheck.sandbox import Checked, Sandbox
from tests.pages import ROOT
from tests.sample import spread

ENTRY_POINTS = distribution("deskcheck-methods").entry_points
RIGHT = "def f(x):\n    return x / 2"
WRONG = "def f(x):\n    return x / 3"
RAISES = "def f(x):\n    y = x - x\n    return x / y"


class Watched(Sandbox):
    """Keeps every text that is given to a process."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.given: list[str] = []

    def run_one(self, program: Program, **more: Any) -> RunResult:
        self.given.append(json.dumps(program.to_dict()))
        return super().run_one(program, **more)

    def check_one(self, checked: Checked, **more: Any) -> RunResult:
        self.given += [json.dumps(checked.program.to_dict()), checked.check]
        return super().check_one(checked, **more)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Watched]:
    place = Watched(workers=2, limits=LIMITS)
    with place:
        yield place


def score(sample: Sample, bench: Bench, sandbox: Sandbox) -> float:
    """The score of a method's answer, by the hidden tests."""
    assert bench.answer is not None
    return score_answer(sample, bench.answer.text, judge=Judge(sandbox)).score


# -- what a method is ----------------------------------------------------------------------------------


def test_every_method_that_runs_code_is_named_and_described() -> None:
    """And deskcheck finds it by its entry point."""
    assert set(SCAFFOLDS) == {entry.name for entry in ENTRY_POINTS.select(group="deskcheck.methods")}
    for name, scaffold in SCAFFOLDS.items():
        assert (scaffold.name, scaffold.about) == (name, METHODS[name].about)
        for option, (text, default) in scaffold.options.described().items():
            assert text.endswith("."), option
            assert default is not None, option


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "repair",
            {"rouns": "1"},
            "repair: unknown option 'rouns'. The options are calls, tokens, runs, rounds",
        ),
        ("repair", {"trace": "maybe"}, "trace=maybe: give one of none, true, predicted"),
        ("repair", {"explain": "perhaps"}, "explain=perhaps: give true or false"),
        ("majority", {"samples": "0"}, "samples=0: give a whole number, at least 1"),
        ("majority", {"samples": "many"}, "samples=many: give a whole number"),
        ("rerank", {"calls": "0"}, "calls=0: give a whole number, at least 1. Maximum number of completions"),
        ("rerank", {"tokens": "-5"}, "tokens=-5"),
        ("rerank", {"runs": "-1"}, "runs=-1: give a whole number, at least 0"),
    ],
)
def test_wrong_options_are_refused(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        scaffold_of(name, given)


def test_what_a_method_cannot_answer_is_refused() -> None:
    check_methods(("majority", "repair:rounds=1"), ["mine"])
    check_answers(("majority", "repair:rounds=1"), {"mine": [coding()]})
    other = Sample(
        id="x", question="output", program="x", cluster="x", parts={}, answer="", data={"form": "value"}
    )
    check_answers(("majority", "direct"), {"output": [other]})
    with pytest.raises(
        InputError, match="repair cannot answer output: that asks for value, but it gives program or self"
    ):
        check_answers(("repair",), {"output": [other]})
    with pytest.raises(InputError, match="repair: unknown option 'rouns'"):
        check_methods(("repair:rouns=1",), ["mine"])
    with pytest.raises(InputError, match="answers=: is not a finished run folder"):
        check_methods(("examples",), ["mine"])


# -- majority ------------------------------------------------------------------------------------------


def test_majority_gives_what_most_samples_say(sandbox: Sandbox) -> None:
    """One value is one answer however it is written; what cannot be read has no vote; the calls are counted."""
    sample = Sample(
        id="v",
        question="output",
        program="v",
        cluster="v",
        parts={"q": "What?"},
        answer="{1, 2}",
        data={"form": "value", "strict": True},
    )
    model = Scripted(
        in_turn(
            "no answer",
            "[ANSWER]3[/ANSWER]",
            "[ANSWER]{1, 2}[/ANSWER]",
            "[ANSWER]4[/ANSWER]",
            "[ANSWER]{2,1}[/ANSWER]",
        )
    )
    bench = by("majority", sample, model, sandbox)
    assert model.prompts == ["What?"] * 5
    assert [request.draw for request in model.asked] == [0, 1, 2, 3, 4]
    assert bench.answer is not None
    assert bench.answer.text == "[ANSWER]{1, 2}[/ANSWER]"
    assert bench.attempts[-1].verdict == "2 of 5 samples agree, of 3 different answers"
    assert (bench.calls, bench.runs, bench.tokens) == (5, 0, 600)


def test_majority_of_programs_is_by_their_text(sandbox: Sandbox) -> None:
    model = Scripted(in_turn(said(WRONG), said(RIGHT), said(RIGHT + "  # half"), said("def g(): pass")))
    bench = by("majority", coding(), model, sandbox, samples=4)
    assert bench.answer is not None
    assert bench.answer.text == said(RIGHT)


# -- rerank --------------------------------------------------------------------------------------------


def test_rerank_order_and_number_of_calls(sandbox: Sandbox) -> None:
    """Samples, then the filter, then one run for each different program; the largest group answers. That a wrong
    program passes the visible test does not help it."""
    lucky = "def f(x):\n    return 4"
    another = "def f(x):\n    return x * 0.5"
    model = Scripted(in_turn(said(lucky), said(WRONG), said(RIGHT), "nothing", said(another), said(RIGHT)))
    bench = by("rerank", coding(), model, sandbox, samples=6)
    assert [each.kind for each in bench.attempts] == ["call"] * 6 + ["tests"] * 5 + ["choice"] + [
        "calls"
    ] * 3 + ["choice"]
    assert (bench.calls, bench.runs) == (6, 4 + 3)  # a program that was tested is not tested again
    assert bench.answer is not None
    assert bench.answer.text == said(RIGHT)
    assert bench.attempts[-1].verdict == "3 of 4 programs return the same, of 2 groups"
    assert score(coding(), bench, sandbox) == 1


def test_rerank_asks_for_inputs(sandbox: Sandbox) -> None:
    """The model proposes, too; what is no literal is not run."""
    sample = coding(visible_tests=(), entry_point="g")
    right = "def g(**words):\n    return sorted(words)"
    wrong = "def g(**words):\n    return [*words]"
    script = in_turn(
        said(wrong), said(right), said(right), "g(b=1, a=2)\ng(__import__('os').abort())\nprint(g())\ng(a=1)"
    )
    model = Scripted(script)
    bench = by("rerank", sample, model, sandbox, samples=3, propose=True)
    assert bench.calls == 4
    assert "one a line" in model.prompts[-1]
    runs = [each for each in bench.attempts if each.kind == "calls"]
    assert len(runs) == 2
    assert "abort" not in runs[0].verdict
    assert bench.answer is not None
    assert bench.answer.text == said(right)


def test_a_group_that_only_raises_comes_last(sandbox: Sandbox) -> None:
    sample = coding(visible_tests=("assert f('') is None",))
    model = Scripted(
        in_turn(
            said("def f(x):\n    raise ValueError"), said("def f(x):\n    raise ValueError(1)"), said(RIGHT)
        )
    )
    bench = by("rerank", sample, model, sandbox, samples=3)
    assert bench.answer is not None
    assert bench.answer.text == said(RIGHT)


def test_iterators_are_compared_by_what_they_give(sandbox: Sandbox) -> None:
    texts = ["yield x\n    yield 2", "return iter([x, 2])", "yield x", "return lambda: x", "return lambda: 1"]
    codes = [f"def f(x):\n    {text}" for text in texts]
    place = ProgramRunner(sandbox)
    found = [place.returned(puzzle(coding()), code, ["(5)"])[0].vote for code in codes]
    assert found[0] == found[1] != found[2]
    assert found[3] == found[4]


def plurality(rng: random.Random, samples: int, share: float, wrong: int) -> float:
    """The chance that the right answer is the one that most give, simulated without any program: ties count for
    what came first."""
    tries, right = 20_000, 0
    for _ in range(tries):
        draws = [0 if rng.random() < share else rng.randrange(1, wrong + 1) for _ in range(samples)]
        right += Counter(draws).most_common(1)[0][0] == 0
    return right / tries


class Once(ProgramRunner):
    """Runs every program once, however often it is drawn: the same comes of it."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox)
        self.tested = functools.cache(super().tested)  # type: ignore[method-assign]
        self._returned = functools.cache(super().returned)

    def returned(self, puzzle: Puzzle, code: str, inputs: Sequence[str]) -> tuple[CallResult, ...]:
        return self._returned(puzzle, code, tuple(inputs))


@pytest.mark.parametrize("share", spread([0.5, 0.3, 0.7], 3))
def test_the_gain_of_rerank_is_the_simulated_one(share: float, sandbox: Sandbox) -> None:
    """Of samples that are right with a chance, and else wrong in one of four ways: the share of questions that are
    answered right lies inside the 99 % interval of a simulation that runs nothing."""
    wrong = [f"def f(x):\n    return x / 2 + {k}" for k in (1, 2, 3, 4)]
    questions, samples = 200, 5
    expected = plurality(random.Random(7), samples, share, len(wrong))
    assert expected > share + 0.03
    found, place = 0, Once(sandbox)
    sample = coding(visible_tests=("assert f(8) is not None",))
    for number in range(questions):
        model = Scripted(drawn(f"{share}:{number}", RIGHT, wrong, share))
        bench = by("rerank", sample, model, place, samples=samples, inputs=2)
        assert bench.answer is not None
        found += bench.answer.text == said(RIGHT)
    assert abs(found / questions - expected) <= 2.58 * math.sqrt(expected * (1 - expected) / questions)


# -- repair --------------------------------------------------------------------------------------------


def sees(needle: str) -> Scripted:
    """Repairs only where a text stands in the prompt."""
    return Scripted(lambda prompt, request: said(RIGHT if needle in prompt else RAISES))


@pytest.mark.parametrize(
    ("notation", "needle"),
    [
        ("compact", "raise 3 ! ZeroDivisionError('division by zero')"),
        ("scratchpad", "3: x=8, y=0\nraise 3: x=8, y=0 ! ZeroDivisionError"),
        ("inline", "return x / y  # (2)"),
        ("dynamic", "raise f 3: x=8, y=0 ! ZeroDivisionError"),
        ("monologue", "sets y to 0"),
        ("cwm", "ZeroDivisionError"),
    ],
)
def test_repair_succeeds_with_the_true_trace_and_not_without(
    notation: str, needle: str, sandbox: Sandbox
) -> None:
    """The line that fails, as it ran, stands in the prompt with a true trace, in every notation, and in no other."""
    with_trace = by("repair", coding(), sees(needle), sandbox, trace="true", notation=notation)
    assert score(coding(), with_trace, sandbox) == 1
    assert with_trace.ended == "passes the visible tests after 1 repairs"
    assert [each.kind for each in with_trace.attempts] == ["call", "tests", "trace", "call", "tests"]
    if notation != "cwm":  # the verdict names the class, too
        without = by("repair", coding(), sees(needle), sandbox)
        assert score(coding(), without, sandbox) == 0
        assert without.ended == "3 repairs, and no program that passes the visible tests"
        assert [each.kind for each in without.attempts] == ["call", "tests"] * 4
        assert without.runs == 1  # the same program again is not run again


def test_repair_with_a_trace_that_the_model_predicts(sandbox: Sandbox) -> None:
    """The sandbox is asked for no trace; what the model wrote stands in the next prompt."""

    def script(prompt: str, request: Any) -> str:
        if prompt.endswith("f(8)\ncompact\n"):
            return "2: y=0, so I divide by zero"
        return said(RIGHT if "so I divide by zero" in prompt else RAISES)

    model = Scripted(script)
    bench = by("repair", coding(), model, sandbox, trace="predicted", notation="compact")
    assert score(coding(), bench, sandbox) == 1
    assert [each.step for each in bench.attempts if each.kind == "call"] == [
        "draft",
        "predicted trace",
        "repair 1",
    ]
    assert bench.runs == 2


def test_repair_explains_criticises_and_converses(sandbox: Sandbox) -> None:
    def script(prompt: str, request: Any) -> str:
        if "Explain what the program does" in prompt:
            return "y is always 0."
        if "Which kind of bug" in prompt:
            return "Wrong logic, line 2." if "y is always 0." in prompt else "none"
        done = [m.text for m in request.messages if m.role == "assistant"]
        return said(RIGHT if "Wrong logic, line 2." in prompt and len(done) == 2 else RAISES)

    model = Scripted(script)
    bench = by("repair", coding(), model, sandbox, explain=True, critique=True, conversation=True)
    assert score(coding(), bench, sandbox) == 1
    last = model.asked[-1].messages
    assert [each.role for each in last] == ["user", "assistant"] * 2 + ["user"]
    assert last[0] == Turn("user", coding().prompt)


def test_repair_begins_with_the_code_of_the_task(sandbox: Sandbox) -> None:
    """No draft is asked for; where nothing helps, the answer is the code that was given."""
    sample = coding(task="repair", code=RAISES, visible_tests=(), prompt="Half:\n>>> f(8)\n4.0\n")
    bench = by("repair", sample, sees("ZeroDivisionError"), sandbox, start="given")
    assert (bench.calls, score(sample, bench, sandbox)) == (1, 1)
    helpless = by("repair", sample, Scripted(in_turn("sorry")), sandbox, start="given", conversation=True)
    assert helpless.answer is not None
    assert RAISES in helpless.answer.text
    assert "There was no program in your last answer" in helpless.attempts[-1].prompt


def test_repair_keeps_what_passes_most(sandbox: Sandbox) -> None:
    """A repair that makes it worse is not the answer."""
    sample = coding(visible_tests=("assert f(0) == 0", "assert f(8) == 4"))
    bench = by("repair", sample, Scripted(in_turn(said(WRONG), said(RAISES))), sandbox, rounds=2)
    assert bench.answer is not None
    assert bench.answer.text == said(WRONG)


def test_tests_that_the_model_writes(sandbox: Sandbox) -> None:
    """They are run beside the visible ones; what is no assert of the function is not."""
    sample = coding(visible_tests=())
    tests = "```python\nimport os\nassert f(8) == 4\nassert os.system('x') == 0\nassert g(1)\nprint(1)\n```"

    def script(prompt: str, request: Any) -> str:
        if "Write no program. Write up to five tests" in prompt:
            return tests
        return said(RIGHT if "assert f(8) == 4" in prompt else WRONG)

    bench = by("repair", sample, Scripted(script), sandbox, tests="written")
    assert [each.of for each in bench.attempts if each.kind == "tests"] == [1, 1]
    assert score(sample, bench, sandbox) == 1


@pytest.mark.parametrize(
    "test",
    [
        "assert f(1) == __import__('os')._exit(3)",
        "assert [open('x', 'w') for _ in [1]] and f(1)",
        "assert f(1) == (lambda: exit())()",
        "assert f(1) == f.__globals__",
        "assert print(f(1)) is None",
        "assert f(1) == eval('1')",
        "assert 10 ** 10 ** 10 == f(1)",
        "assert f'{f(1)}' == '1'",
        "assert (x := f(1)) == 1",
    ],
)
def test_tests_of_a_model_can_only_compare(test: str) -> None:
    """They run in the process that says whether a program passes."""
    assert asserts_in(f"{test}\nassert f([1], k=-2) == sorted({{1: 'a'}}) + [2 / 1]", "f", "") == (
        "assert f([1], k=-2) == sorted({1: 'a'}) + [2 / 1]",
    )


def test_a_notation_that_cannot_be_had_is_refused(sandbox: Sandbox) -> None:
    for notation, message in (
        ("deep", "unknown notation 'deep'"),
        ("dynamic_instruction", "shows instructions"),
    ):
        with pytest.raises(InputError, match=message):
            by("repair", coding(), Scripted(in_turn("")), sandbox, trace="true", notation=notation)


def test_a_trace_keeps_to_its_tokens(sandbox: Sandbox) -> None:
    """Its beginning and its end are kept, and what is left out is said."""
    from deskcheck.notebook.state.views import estimate_tokens

    lines = [f"{n}: total={n * n}" for n in range(1000)]
    text = ""
    for tokens in (20, 100, 1000):
        text = within("\n".join(lines), tokens)
        assert estimate_tokens(text) <= tokens + 2
        assert text.endswith(lines[-1]) or tokens == 20
    assert text.startswith(lines[0])
    assert "\n[some lines are left out here]\n" in text
    assert within("short", 20) == "short"
    slow = "def f(x):\n    for i in range(2000):\n        x += 1\n    return x"
    bench = by(
        "repair",
        coding(),
        Scripted(in_turn(said(slow))),
        sandbox,
        trace="true",
        notation="compact",
        trace_tokens=200,
        rounds=1,
    )
    (trace,) = [each.trace for each in bench.attempts if each.kind == "trace"]
    assert estimate_tokens(trace) <= 202
    assert trace.endswith("return 4 -> 2008")


# -- what is hidden stays hidden -----------------------------------------------------------------------

SECRET = "3735928559"
HIDDEN: dict[str, Any] = {
    "tests": (f"assert f({SECRET}) == {SECRET} / 2",),
    "test_setup": f"secret = {SECRET}",
    "driver": f"def case_1():\n    return f({SECRET})",
    "reference": f"{RIGHT}  # {SECRET}",
    "known_bad": (f"{WRONG}  # {SECRET}",),
}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("majority", {}),
    ("rerank", {"samples": 3, "propose": True}),
    (
        "repair",
        {"trace": "true", "explain": True, "critique": True, "conversation": True, "tests": "written"},
    ),
    ("repair", {"trace": "predicted"}),
    ("decompose", {}),
    ("decompose", {"how": "combinations"}),
    ("decompose", {"how": "modules"}),
    ("roles", {}),
    ("roles", {"team": "self_collaboration"}),
    ("roles", {"team": "mapcoder"}),
]


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_hidden_tests_reach_neither_a_process_nor_a_prompt(
    name: str, options: dict[str, Any], sandbox: Watched
) -> None:
    """Nothing that decides the score is in any text that the model or a process of the sandbox is given."""
    sandbox.given.clear()
    model = Scripted(in_turn(said(RAISES), said(WRONG), said("def f(x):\n    return 4 if x == 8 else x")))
    bench = by(name, coding(**HIDDEN), model, sandbox, **options)
    assert bench.answer is not None
    assert sandbox.given or name == "majority"
    assert model.asked
    for text in (
        *sandbox.given,
        *(m.text for r in model.asked for m in r.messages),
        json.dumps(bench.to_dict()),
    ):
        assert SECRET not in text
        assert hex(int(SECRET)) not in text
    assert score(coding(**HIDDEN), bench, sandbox) == 0  # and there it is used


def test_a_visible_test_that_needs_what_is_hidden_is_left_out(sandbox: Sandbox) -> None:
    """It names what only the hidden setup, or the answer, defines."""
    sample = coding(
        visible_tests=(
            "assert f(8) == limit",
            "assert f(Thing()) == 1",
            "assert math.isclose(f(8), 4)",
            "import math\nassert math.isclose(f(8), 4)",
            "assert g(1)",
            "assert f(",
        ),
        test_setup="limit = 4",
    )
    made = puzzle(sample)
    assert made.tests == ("import math\nassert math.isclose(f(8), 4)",)
    assert made.left_out == 5
    assert by("repair", sample, Scripted(in_turn(said(RIGHT))), sandbox).to_dict()["left_out"] == 5


def test_examples_in_a_docstring_are_visible_tests() -> None:
    head = 'def f(x):\n    """Half.\n\n    >>> f(8)\n    4.0\n    >>> f([])\n    Traceback (most recent call last):\n    TypeError\n    >>> print(f(2))\n    1.0\n    >>> x = f(2)\n    """\n'
    made = puzzle(coding(visible_tests=(), task="complete", code=head))
    assert made.tests == ("assert f(8) == 4.0",)
    split = ">>> f(\n...   2)\n1.0\n>>> f(8)\n  4.0\n >>>f(1)\n4\n>>> f(8) # x\n4.0\n```\n"
    assert puzzle(coding(visible_tests=(), prompt=split)).tests == (
        "assert f(2) == 1.0",
        "assert f(8) == 4.0",
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("f(8) == 4", ["assert f(8) == 4"]),
        ("* for f([1, 2], k='a)') ==> ('x',), see there", ["assert f([1, 2], k='a)') == ('x',)"]),
        ("f(1) => 2, f(2)=> 3", ["assert f(1) == 2", "assert f(2) == 3"]),
        ("`f('a')` returns `b`", []),
        ("f(0) should return None if it is 0", ["assert f(0) == None"]),
        ("f({}) -> True.", ["assert f({}) == True"]),
        ("f(2) # returns 'two' (a word)", ["assert f(2) == 'two'"]),
        ("f(2) = 1 + (2 / 2) = 2", []),
        ('f(2) == ""aa"', []),
        ("def f(x) -> 3", []),
        ("assert f(1) == -1, -6", []),
        ("xf(1) == 2; o.f(1) == 2; f(x) == 2; f(1) == x", []),
        ("f(1 == 2", []),
        ("f(" * 2000 + " == 3", []),
    ],
)
def test_examples_in_words_are_visible_tests(line: str, found: list[str]) -> None:
    """A call with literals and what it gives, where the line writes down no more than that."""
    assert examples_in(f"Some text.\n  {line}\n", "f") == found


# -- budgets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), SETTINGS)
@pytest.mark.parametrize(
    "budget",
    [
        {"calls": 1},
        {"calls": 2},
        {"tokens": 1},
        {"tokens": 1000},
        {"runs": 0},
        {"runs": 1},
        {"calls": 3, "runs": 2},
    ],
)
def test_a_budget_is_kept(
    name: str, options: dict[str, Any], budget: dict[str, int], sandbox: Watched
) -> None:
    """Never more calls or runs; no call that begins with the tokens spent; what there is by then is the answer."""
    sandbox.given.clear()
    model = Scripted(in_turn(said(RAISES), said(WRONG), said(RAISES + "\n")))
    bench = by(name, coding(), model, sandbox, **(options | budget))
    assert len(model.asked) == bench.calls <= budget.get("calls", 20)
    started = len({text for text in sandbox.given if '"code"' in text})
    assert started <= bench.runs <= budget.get("runs", 100)
    if "tokens" in budget:
        assert bench.tokens - 120 < budget["tokens"]
    if budget == {"tokens": 1}:
        assert (bench.calls, bench.answer) == (0, None)
        assert bench.ended == "the budget of tokens is used up"
    else:  # a team may have spent its calls before anybody writes a program
        assert bench.answer is not None or name == "roles"


def test_a_transcript_is_bounded(sandbox: Sandbox) -> None:
    """Its lines all stand there, the later ones without their texts."""
    long = "[ANSWER]" + "x" * 30_000 + "[/ANSWER]"
    options = {"samples": 80, "calls": 100, "tokens": 10**9}
    told = by("majority", coding(), Scripted(in_turn(long)), sandbox, **options).to_dict()
    assert len(told["attempts"]) == 81
    assert len(json.dumps(told)) < 1_100_000
    assert told["attempts"][0]["completion"].endswith("x\n[cut]")
    assert told["attempts"][79]["completion"] == "[left out: the transcript is long; the log has it]"


# -- whatever a model writes ---------------------------------------------------------------------------

ODD = {
    "nothing": "",
    "words": "I would rather not.",
    "open": "[ANSWER]\n```python\ndef f(x):",
    "two programs": "```python\ndef f(x):\n    return 1\n```\nor\n```python\ndef f(x):\n    return 2\n```",
    "another name": said("def g(x):\n    return x"),
    "no Python": said("function f(x) { return x }"),
    "long": said("def f(x):\n    return " + "(" * 300 + "x" + ")" * 300),
    "much": "[ANSWER]" + "x = 1\n" * 60_000 + "[/ANSWER]",
    "null": said("def f(x):\n    return '\0'"),
    "surrogate": said("def f(x):\n    return '\ud800'"),
    "class": said("class f:\n    pass"),
    "a value": said("f = 3"),
}
BAD = {
    "exits": "import sys\ndef f(x):\n    sys.exit(0)",
    "ends at once": "import os\nos._exit(0)\ndef f(x):\n    pass",
    "prints the verdict": (
        'import json, os\nfor n in range(1, 10):\n    for text in (\'["test", ""]\', \'["returned", "4", 1]\', \'["end", ""]\'):\n'
        "        try: os.write(n, (text + '\\n').encode())\n        except OSError: pass\n"
        'print(\'["test", ""]\', flush=True)\ndef f(x):\n    return 0'
    ),
    "equal to all": "class E:\n    def __eq__(s, o): return True\n    def __repr__(s): return '4.0'\ndef f(x):\n    return E()",
    "reads files": (
        "import glob, os\nfound = ''\nfor top in ('.', '..', '/tmp', '/proc/self', f'/proc/{os.getppid()}'):\n"
        "    for name in glob.glob(top + '/*')[:200] + [top + '/environ', top + '/cmdline', top + '/maps']:\n"
        "        try: found += open(name, errors='replace').read(100_000)\n        except OSError: pass\n"
        f"def f(x):\n    return x / 2 if '{SECRET[:5]}' + '{SECRET[5:]}' in found else None"
    ),
    "writes without end": "def f(x):\n    while True: print('x' * 10_000)",
    "fills memory": "def f(x):\n    return [0] * (1 << 40)",
    "returns much": "def f(x):\n    return 'x' * 3_000_000",
    "patches": "import builtins\nbuiltins.repr = builtins.eval = lambda *a: '4.0'\ndef f(x):\n    return None",
    "raises at import": "1 / 0\ndef f(x):\n    pass",
    "an exception of its own": "class AssertionError(BaseException): pass\ndef f(x):\n    raise AssertionError",
    "generator": "def f(x):\n    yield x",
}


@pytest.mark.parametrize(
    ("name", "options"),
    spread([pytest.param(*SETTINGS[number]) for number in (1, 4, 2, 7)], 2),
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_text_of_a_model_breaks_a_method(
    name: str, options: dict[str, Any], text: str, sandbox: Sandbox
) -> None:
    bench = by(name, coding(**HIDDEN), Scripted(in_turn(text)), sandbox, **options)
    assert bench.answer is not None
    assert score(coding(**HIDDEN), bench, sandbox) == 0
    json.dumps(bench.to_dict())


@pytest.mark.parametrize("code", BAD.values(), ids=BAD)
def test_no_program_of_a_model_breaks_a_method(code: str, sandbox: Sandbox) -> None:
    """None of them passes a visible test, in `rerank` none wins against two that return the same, and the repairer is
    told what came of it."""
    bench = by(
        "rerank",
        coding(**HIDDEN),
        Scripted(in_turn(said(code), said(RIGHT), said(RIGHT))),
        sandbox,
        samples=3,
    )
    assert bench.answer is not None
    assert bench.answer.text == said(RIGHT)
    assert [each.passed for each in bench.attempts if each.kind == "tests"] == [0, 1, 1]
    model = Scripted(in_turn(said(code), said(RIGHT)))
    bench = by("repair", coding(**HIDDEN), model, sandbox, trace="true", rounds=1)
    assert bench.answer is not None
    assert bench.answer.text == said(RIGHT)
    assert "What came of it: " in model.prompts[-1]


@pytest.mark.slow
@pytest.mark.parametrize("notation", [name for name, known in NOTATIONS.items() if not known.instructions])
def test_the_run_of_any_program_is_written_in_any_notation(notation: str, sandbox: Sandbox) -> None:
    """Also of those that end their process, are cut, or hold what cannot be shown."""
    more = [
        "class C:\n    pass\ndef f(x):\n    c = C()\n    c.c = c\n    return [c, f, iter([c])]",
        "async def f(x):\n    return 1",
    ]
    for code in [*BAD.values(), *more]:
        bench = by(
            "repair",
            coding(),
            Scripted(in_turn(said(code))),
            sandbox,
            trace="true",
            notation=notation,
            rounds=1,
        )
        assert [each.kind for each in bench.attempts][:3] == ["call", "tests", "trace"]


# -- the page ------------------------------------------------------------------------------------------


def test_the_page_has_every_option_with_its_default() -> None:
    text = (ROOT / "docs" / "reference" / "scaffolds.md").read_text(encoding="utf-8")
    budget = text.partition("## The budget")[2].partition("## ")[0]
    for name, scaffold in SCAFFOLDS.items():
        assert f"| `{name}` |" in text
        own = text.partition(f"### {name}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
        found = dict(re.findall(r"^\| `(\w+)` \| ?(.*?) ?\|", budget + own, re.MULTILINE))
        expected = {option: default for option, (_, default) in scaffold.options.described().items()}
        assert found == {
            option: str(default).lower() if isinstance(default, bool) else str(default)
            for option, default in expected.items()
        }
