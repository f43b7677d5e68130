"""Methods that put programs together, let roles work, simulate, or look ahead: what they ask for, in which order, and
what comes of it. Models are scripted; the sandbox is the real one."""

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deskcheck_methods import examples as exemplars
from deskcheck_methods.bench import Bench, Request, solved
from deskcheck_methods.call_graph import bottom_up, call_graph, functions_of, with_function
from deskcheck_methods.decompose import common_parts
from deskcheck_methods.lookahead import cell_in
from deskcheck_methods.place import TRIED, ProgramRunner
from deskcheck_methods.registry import scaffold_of
from deskcheck_methods.visible import AskedQuestions
from tests.methods.scripted import Scripted, by, coding, in_turn, puzzle, said

from deskcheck.ask.samples.prompts import NOW, YOURS
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import Judge
from deskcheck.ask.scoring.sandbox import LIMITS
from deskcheck.ask.scoring.score import score_answer
from deskcheck.recording import InputError, Program, RunResult
from deskcheck.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2, limits=LIMITS) as place:
        yield place


def asking(form: str, prompt: str, answer: str, **data: Any) -> Sample:
    return Sample(
        id="q",
        question=form,
        program="q",
        cluster="q",
        parts={"p": prompt},
        answer=answer,
        data={"form": form, **data},
    )


def score(sample: Sample, bench: Bench, sandbox: Sandbox) -> float:
    assert bench.answer is not None
    return score_answer(sample, bench.answer.text, judge=Judge(sandbox)).score


# -- decompose -----------------------------------------------------------------------------------------

CHAIN = """\
def low(x):
    return x + 2


def middle(x):
    def inner(y):
        return low(y)
    return inner(x) * 10


def other(x):
    return low(low(x))


def f(x):
    return middle(x) + other(x)
"""
FIXED = CHAIN.replace("x + 2", "x + 1")
TASK: dict[str, Any] = {
    "prompt": "Give (x + 1) * 10 + x + 2.",
    "visible_tests": ("assert f(1) == 23",),
    "tests": ("assert f(5) == 67",),
    "reference": FIXED,
}


def test_the_call_graph_is_that_of_the_recording(sandbox: Sandbox) -> None:
    """Which function called which, through one inside of a function, and what the calls came to."""
    graph = call_graph(
        ProgramRunner(sandbox).recorded(puzzle(coding(**TASK)), CHAIN + "\ndef never(): f(1)\n", "(1)")
    )
    assert {name: each.callees for name, each in graph.items()} == {
        "f": ["middle", "other"],
        "middle": ["low"],
        "low": [],
        "other": ["low"],
    }
    assert graph["low"].calls == ["low(x=1) -> 3", "low(x=1) -> 3", "low(x=3) -> 5"]
    assert graph["f"].calls == ["f(x=1) -> 35"]
    assert bottom_up(graph) == ["low", "middle", "other", "f"]
    again = "def f(n):\n    return g(n - 1) if n else h()\ndef g(n):\n    return f(n)\ndef h():\n    raise KeyError\n"
    graph = call_graph(ProgramRunner(sandbox).recorded(puzzle(coding()), again, "(9)"))
    assert bottom_up(graph) == ["g", "h", "f"]
    assert graph["f"].count == 10
    assert len(graph["f"].calls) == 4
    assert graph["h"].calls == ["h() is left by an exception"]


def test_a_function_is_replaced_with_its_decorators() -> None:
    code = "import functools\n\n@functools.cache\ndef a(x):\n    return x\n\ndef b():\n    return a(1)\n"
    changed = with_function(code, "a", "import math\n\ndef a(x):\n    return math.floor(x)\n")
    assert (
        changed
        == "import functools\n\nimport math\n\ndef a(x):\n    return math.floor(x)\n\ndef b():\n    return a(1)"
    )
    assert with_function(code, "a", "def c(): pass") == code
    assert with_function(code, "z", "def z(): pass") == code
    assert [*functions_of("def")] == []


def function_asked(prompt: str) -> str | None:
    found = prompt.partition("Look at the function ")[2]
    return found.partition(" alone")[0] or None


def test_bottom_up_repairs_the_function_whose_recorded_call_is_wrong(sandbox: Sandbox) -> None:
    """Callees come first; a scripted repairer that looks at the recorded calls alone finds the fault at the first
    function, and no other is asked about."""

    def script(prompt: str, request: Request) -> str:
        name = function_asked(prompt)
        if name == "low" and "low(x=1) -> 3" in prompt:
            return said("def low(x):\n    return x + 1")
        return said(CHAIN) if name is None else said(f"def {name}(x):\n    return None")

    bench = by("decompose", coding(**TASK), Scripted(script), sandbox)
    assert score(coding(**TASK), bench, sandbox) == 1
    assert [each.step for each in bench.attempts if each.kind == "call"] == ["draft", "function low"]
    assert bench.ended == "passes the visible tests"
    (graph,) = [each for each in bench.attempts if each.kind == "trace"]
    assert graph.verdict == "f: middle, other; middle: low; low: calls none; other: low"


def test_bottom_up_keeps_what_does_no_harm(sandbox: Sandbox) -> None:
    """Two faults: the first repair changes no verdict and is kept, so that the second one passes. What makes it
    worse, or is no function, is not kept. The order is bottom up."""
    two = CHAIN.replace("* 10", "* 9")
    order = []

    def script(prompt: str, request: Request) -> str:
        name = function_asked(prompt)
        if name is None:
            return said(two)
        order.append(name)
        return {
            "low": said("def low(x):\n    return x + 1"),
            "middle": said("def middle(x):\n    return low(x) * 10"),
        }.get(name, "it is right")

    bench = by("decompose", coding(**TASK), Scripted(script), sandbox)
    assert score(coding(**TASK), bench, sandbox) == 1
    assert order == ["low", "middle"]


def test_a_program_of_one_function_is_split_first(sandbox: Sandbox) -> None:
    model = Scripted(
        in_turn(
            said("def f(x):\n    return (x + 2) * 10 + x + 2"),
            said(CHAIN),
            said("def low(x):\n    return x + 1"),
        )
    )
    bench = by("decompose", coding(**TASK), model, sandbox)
    assert [each.step for each in bench.attempts if each.kind == "call"] == ["draft", "split", "function low"]
    assert score(coding(**TASK), bench, sandbox) == 1


def test_the_code_of_the_task_is_where_it_begins(sandbox: Sandbox) -> None:
    sample = coding(**TASK, task="repair", code=CHAIN)
    model = Scripted(in_turn(said("def low(x):\n    return x + 1")))
    bench = by("decompose", sample, model, sandbox, start="given")
    assert (bench.calls, score(sample, bench, sandbox)) == (1, 1)


def test_combinations_are_searched_those_nearest_first(sandbox: Sandbox) -> None:
    """Two functions are wrong; each has a right version among others. The combination that is found passes the hidden
    tests, and the runs are those of a count by hand."""
    wrong = "def a(x):\n    return x\n\n\ndef b(x):\n    return x\n\n\ndef f(x):\n    return b(a(x))\n"
    task: dict[str, Any] = {
        "prompt": "x + 1, times 3.",
        "visible_tests": ("assert f(1) == 6",),
        "tests": ("assert f(4) == 15",),
        "reference": None,
    }
    versions = {
        "a": ["return x - 1", "return x + 1"],
        "b": ["return x * 2", "return x * 3"],
        "f": ["return b(a(x))", "return b(a(x))"],
    }
    asked = {name: iter(texts) for name, texts in versions.items()}

    def script(prompt: str, request: Request) -> str:
        name = prompt.partition("Write the function ")[2].partition(" anew")[0]
        return said(f"def {name}(x):\n    {next(asked[name])}") if name else said(wrong)

    bench = by("decompose", coding(**task), Scripted(script), sandbox, how="combinations", samples=2)
    assert score(coding(**task), bench, sandbox) == 1
    assert [each.step for each in bench.attempts if each.kind == "call"] == [
        "draft",
        *(f"function {n}, version {k}" for n in "abf" for k in (1, 2)),
    ]
    changed = sorted(itertools.product(range(3), range(3)), key=lambda each: sum(map(bool, each)))
    assert bench.ended == f"combination {changed.index((2, 2))} passes the visible tests"


def test_modules_show_the_parts_that_programs_share(sandbox: Sandbox) -> None:
    helper = "def clean(text):\n    return text.strip().lower()"
    alike = "def tidy(text):\n    return text.strip().lower() "
    odd = "def weigh(a, b, c):\n    total = 0\n    while a:\n        total += b ** c\n        a -= 1\n    return total"
    codes = [
        f"{helper}\n\ndef f(x):\n    return x",
        f"{odd}\n\ndef f(x):\n    return x",
        f"{alike}\n\ndef f(x):\n    return x",
    ]
    assert common_parts(codes, "f", 1) == [helper]
    assert common_parts(codes, "f", 5) == [helper, odd]

    def script(prompt: str, request: Request) -> str:
        return said("def f(x):\n    return x / 2") if helper in prompt else said(codes[request.draw % 3])

    bench = by("decompose", coding(), Scripted(script), sandbox, how="modules")
    assert score(coding(), bench, sandbox) == 1
    assert bench.calls == 4
    assert bench.ended == "a program of round 2 passes the visible tests"


# -- roles ---------------------------------------------------------------------------------------------

RIGHT, WRONG = said("def f(x):\n    return x / 2"), said("def f(x):\n    return x")


@pytest.mark.parametrize(
    ("team", "steps"),
    [
        ("agentcoder", ["test_design", "draft", "repair"]),
        ("self_collaboration", ["plan", "draft", "test_report", "repair"]),
        ("mapcoder", ["recalled", "plan", "draft", "repair"]),
    ],
)
def test_the_roles_of_a_team_work_in_their_order(team: str, steps: list[str], sandbox: Sandbox) -> None:
    """Each is told who it is; the one that repairs is told what came of the tests."""

    def script(prompt: str, request: Request) -> str:
        role = request.messages[0].text
        if "test designer" in role:
            return "```python\nassert f(2) == 1\n```"
        if "0 of" in prompt or "report: it forgets to halve" in prompt:
            return "report: it forgets to halve" if "tester of" in role else RIGHT
        return WRONG if "program" in role or "coder" in role else "a plan"

    model = Scripted(script)
    bench = by("roles", coding(), model, sandbox, team=team)
    assert score(coding(), bench, sandbox) == 1
    assert [each.step.partition(", ")[2] for each in bench.attempts if each.kind == "call"] == steps
    assert all([each.role for each in request.messages] == ["system", "user"] for request in model.asked)
    tests = [each.of for each in bench.attempts if each.kind == "tests"]
    assert tests == ([2, 2] if team == "agentcoder" else [1, 1])


def test_tests_of_a_role_are_not_the_verdict(sandbox: Sandbox) -> None:
    """A tester who is wrong costs rounds; the hidden tests decide all the same."""
    bench = by(
        "roles",
        coding(),
        Scripted(lambda prompt, r: "assert f(2) == 77" if "test designer" in r.messages[0].text else RIGHT),
        sandbox,
    )
    assert score(coding(), bench, sandbox) == 1
    assert bench.ended == "4 rounds, and no program that passes the tests"


def test_a_team_of_ones_own(sandbox: Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[pair]\nrounds = 2\n[[pair.step]]\nname = "note"\nrole = "friend"\nprompt = "Look: {question} {unknown thing}"\n[[pair.step]]\nname = "it"\nrole = "programmer"\ngives = "code"\nprompt = "{note}|{report}"\n'
    )
    model = Scripted(in_turn("a {note}", WRONG, "b", RIGHT))
    bench = by("roles", coding(), model, sandbox, team="pair", file=str(file))
    assert model.prompts[0] == f"Look: {coding().prompt} {{unknown thing}}"
    assert model.prompts[1] == "a {note}|(nothing yet)"
    assert model.prompts[3].startswith(
        "b|0 of 1 tests pass. The first that does not: test 1 of 1: AssertionError"
    )
    assert score(coding(), bench, sandbox) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pair", "is not TOML"),
        ("[other]\n", "unknown team 'pair' in .*It has other"),
        ("[pair]\nrounds = 0\n", "a team needs rounds, at least 1, and steps"),
        ('[[pair.step]]\nname = "a"\nrole = "b"\n', "step 1: a step needs name, role and prompt"),
        ('[[pair.step]]\nname = "a"\nrole = "b"\nprompt = 3\n', "step 1: 'prompt' must be text"),
        (
            '[[pair.step]]\nname = "a"\nrole = "b"\nprompt = "c"\ngives = "cake"\n',
            "gives is one of text, code, tests",
        ),
        ('[[pair.step]]\nname = "code"\nrole = "b"\nprompt = "c"\n', "the name 'code' is taken"),
        ('[[pair.step]]\nname = "a"\nrole = "b"\nprompt = "{later}"\n', "{later} is not an earlier step"),
        ('[[pair.step]]\nname = "a"\nrole = "b"\nprompt = "c"\n', "no step has gives = 'code'"),
    ],
)
def test_a_file_of_teams_is_checked(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        scaffold_of("roles", {"team": "pair", "file": str(file)})
    with pytest.raises(InputError, match=r"gone.toml: cannot be read"):
        scaffold_of("roles", {"file": str(tmp_path / "gone.toml")})


# -- emulate, program_of_thought ---------------------------------------------------------------------------


def test_emulate_writes_one_program_for_all_questions(sandbox: Sandbox) -> None:
    """However many questions of a kind there are, and at once; no question, but for what all have in common, is in
    the prompt that asks for it."""
    kept: dict[str, str] = {}
    locks: dict[str, asyncio.Lock] = {}

    async def share(key: str, work: Any) -> str:
        async with locks.setdefault(key, asyncio.Lock()):
            if key not in kept:
                kept[key] = await work()
        return kept[key]

    def script(prompt: str, request: Request) -> str:
        if "Answer no question yet" in prompt:
            return "1. double the number"
        number = int(prompt.partition("Number: ")[2].split()[0])
        return f"I double it.\n[ANSWER]{number * 2}[/ANSWER]" if "1. double the number" in prompt else "?"

    model = Scripted(script)
    scaffold, options = scaffold_of("emulate", {})
    samples = [
        asking("value", f"Double a number.\n\n{YOURS}\n\nNumber: {n} .", str(2 * n), strict=True)
        for n in range(8)
    ]

    async def all_of_them() -> list[Bench]:
        benches = [
            Bench(puzzle(each), model, ProgramRunner(sandbox), options, share=share) for each in samples
        ]
        return [*await asyncio.gather(*(solved(bench, scaffold.solve) for bench in benches))]

    benches = asyncio.run(all_of_them())
    assert [score(sample, bench, sandbox) for sample, bench in zip(samples, benches, strict=True)] == [
        1.0
    ] * 8
    thought = [prompt for prompt in model.prompts if "Answer no question yet" in prompt]
    assert len(thought) == 1
    assert "Number:" not in thought[0]
    assert "Double a number." in thought[0]
    assert sum(bench.calls for bench in benches) == 9
    assert all(any(each.trace == "1. double the number" for each in bench.attempts) for bench in benches)


def test_what_the_program_prints_is_the_answer(sandbox: Sandbox) -> None:
    sample = asking("value", "What is the sum of the first 100 squares?", "338350", strict=True)
    model = Scripted(
        in_turn(
            "338350?",
            said("print(1 / 0)"),
            said("import sys\nprint(sum(i * i for i in range(101)))\nsys.exit(0)"),
        )
    )
    bench = by("program_of_thought", sample, model, sandbox, tries=3)
    assert score(sample, bench, sandbox) == 1
    assert "Your last answer held no program" in model.prompts[1]
    assert "ZeroDivisionError: division by zero" in model.prompts[2]
    assert [each.kind for each in bench.attempts] == ["call", "call", "script", "call", "script"]


@pytest.mark.parametrize(
    "code",
    [
        "pass",
        "print()",
        "while True: pass",
        "print('x' * 10_000_000)",
        "import os\nos.abort()",
        "print(5)\nraise SystemExit(3)",
        "input()",
        "open('/etc/passwd').read()",
    ],
)
def test_a_program_that_gives_nothing_is_no_answer(code: str, sandbox: Sandbox) -> None:
    sample = asking("value", "What?", "''", strict=True)
    bench = by("program_of_thought", sample, Scripted(in_turn(said(code))), sandbox, tries=1)
    assert bench.ended == "no program printed an answer"
    assert score(sample, bench, sandbox) == 0


def test_a_program_that_prints_too_much_and_ends_is_no_answer(sandbox: Sandbox) -> None:
    """Some of these end by themselves, with status 0, before they are ended for what they print."""
    sample = asking("value", "What?", "''", strict=True)
    code = said(f"print('x' * {TRIED.output_bytes + 2})")
    for _ in range(50):
        bench = by("program_of_thought", sample, Scripted(in_turn(code)), sandbox, tries=1)
        assert bench.ended == "no program printed an answer"


@pytest.mark.parametrize("name", ["majority", "emulate", "program_of_thought", "lookahead"])
def test_the_expected_answer_reaches_neither_a_process_nor_a_prompt(name: str) -> None:
    secret = "3735928559"
    given: list[str] = []

    class Watched(Sandbox):
        def run_one(self, program: Program, **more: Any) -> RunResult:
            given.append(json.dumps(program.to_dict()))
            return super().run_one(program, **more)

    sample = cell("rows", "cell_output", answer=secret)
    model = Scripted(in_turn(said("print(1)"), "[ANSWER][1][/ANSWER]"))
    with Watched(workers=1, limits=LIMITS) as place:
        bench = by(name, sample, model, place)
    assert given or name in ("majority", "emulate")
    assert secret in sample.answer + str(sample.data)
    for text in (
        *given,
        *(turn.text for request in model.asked for turn in request.messages),
        str(bench.to_dict()),
    ):
        assert secret not in text


# -- examples ------------------------------------------------------------------------------------------

WORDS = "Reverse a list of numbers and drop the largest of them; where two are largest, drop the first"


def own_answers(folder: Path, rows: list[dict[str, Any]]) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    base = {
        "cluster": "",
        "question": "value",
        "model": "me",
        "solver": "direct",
        "score": 1.0,
        "completion": "ok",
        "data": '{"form": "value"}',
    }
    pq.write_table(pa.Table.from_pylist([base | row for row in rows]), folder / "samples.parquet")
    return str(folder)


def prompt(text: str) -> str:
    return f"The kind.\n\n{YOURS}\n\n{text}"


def test_exemplars_are_own_right_answers_and_nothing_that_is_asked(tmp_path: Path, sandbox: Sandbox) -> None:
    """Not wrong ones, another model's, another kind's, another method's, those of the test split, of its clusters, or
    nearly copies of what is asked. The nearest stands next to the question."""
    folder = own_answers(
        tmp_path,
        [
            {
                "id": "fit",
                "prompt": prompt(
                    "Sort words by their length and then by their letters, in one pass over them"
                ),
            },
            {
                "id": "nearest",
                "prompt": prompt(
                    "Reverse a list of words and count the longest of them; where there is none, give zero at once"
                ),
            },
            {"id": "wrong", "score": 0.0, "prompt": prompt("a")},
            {"id": "other model", "model": "you", "prompt": prompt("b")},
            {"id": "other kind", "question": "path", "data": '{"form": "path"}', "prompt": prompt("c")},
            {"id": "other method", "solver": "majority", "prompt": prompt("d")},
            {"id": "asked", "prompt": prompt("e")},
            {"id": "cluster", "cluster": "same", "prompt": prompt("f")},
            {"id": "copy", "prompt": prompt(WORDS + ", please")},
        ],
    )
    asked = AskedQuestions([("asked", "x", prompt("e")), ("q", "same", prompt(WORDS))])
    scaffold, options = scaffold_of("examples", {"answers": folder, "count": 2})
    model = Scripted(in_turn("[ANSWER]1[/ANSWER]"))
    bench = Bench(
        puzzle(asking("value", prompt(WORDS), "1")),
        model,
        ProgramRunner(sandbox),
        options,
        model_name="me",
        run_questions=asked,
    )
    asyncio.run(solved(bench, scaffold.solve))
    (request,) = model.asked
    assert [each.role for each in request.messages] == ["user", "assistant"] * 2 + ["user"]
    assert "Sort words" in request.messages[0].text
    assert "count the longest" in request.messages[2].text
    assert request.messages[-1].text == prompt(WORDS)
    assert (
        bench.attempts[0].verdict == "2 of 2 right answers; 3 are too similar to the question: fit, nearest"
    )


def test_exemplars_are_drawn_by_the_seed(tmp_path: Path) -> None:
    known = [exemplars.Exemplar(str(n), "", prompt(str(n)), "") for n in range(20)]
    drawn = []
    for seed in (0, 0, 1):
        options = exemplars.ExamplesOptions(choice="random", seed=seed, count=3)
        drawn.append([each.id for each in exemplars.chosen(known, prompt("x"), options, "q")])
    assert drawn[0] == drawn[1] != drawn[2]
    assert exemplars.chosen([], prompt("x"), exemplars.ExamplesOptions(), "q") == []
    with pytest.raises(InputError, match="is not a finished run folder"):
        scaffold_of("examples", {"answers": str(tmp_path)})
    with pytest.raises(InputError, match="is not a finished run folder"):
        scaffold_of("examples", {})


# -- lookahead -----------------------------------------------------------------------------------------


def cell(source: str, form: str = "cell_output", answer: str = "") -> Sample:
    return asking(
        form,
        f"What does this cell show?\n\n{YOURS}\n\nBefore: rows came from a file.\n\n{NOW} In [3], cell 7:\n```python\n{source}\n```",
        answer,
        value=answer,
        kind="stream",
    )


def fills(**values: str) -> Scripted:
    def script(prompt: str, request: Request) -> str:
        for name, text in values.items():
            if f"The {'module' if name[0] == '_' else 'name'} {name.lstrip('_')} is not defined" in prompt:
                return f"[ANSWER]{text}[/ANSWER]"
        return "[ANSWER]I asked myself[/ANSWER]"

    return Scripted(script)


def test_what_is_not_defined_is_filled_in_and_the_cell_goes_on(sandbox: Sandbox) -> None:
    """Names and modules, in the order in which the run meets them; the last expression is shown."""
    source = "import shop\ntotal = sum(rows)\nprint('sum', total)\nif total > limit:\n    shop.warn(total)\nshop.name.upper(\n)  # last"
    model = fills(rows="[1, 2, 3]", limit="10", _shop="__import__('types').SimpleNamespace(name='k')")
    bench = by("lookahead", cell(source), model, sandbox)
    assert bench.answer is not None
    assert bench.answer.text == "[ANSWER]sum 6\n'K'\n[/ANSWER]"
    assert [each.step for each in bench.attempts if each.kind == "call"] == [
        "value of module shop",
        "value of rows",
        "value of limit",
    ]
    runs = [each.trace.partition("\n")[0] for each in bench.attempts if each.kind == "trace"]
    assert runs == ["1 of 6 lines ran", "2 of 6 lines ran", "4 of 6 lines ran", "5 of 6 lines ran"]
    assert bench.ended == "the cell ran with 3 names filled in"


@pytest.mark.parametrize(
    ("source", "form", "answer"),
    [
        ("x = 1 / n", "crash", "ZeroDivisionError"),
        ("x = n", "crash", "None"),
        ("print('a')\n1 / n", "cell_output", "a\nZeroDivisionError: division by zero"),
        ("n;", "cell_output", ""),
        ("'\u00e9', n", "cell_output", "('\u00e9', 0)\n"),
        ("def g():\n    return n\ng() + 1", "cell_output", "1\n"),
    ],
)
def test_what_the_cell_then_does_is_the_answer(source: str, form: str, answer: str, sandbox: Sandbox) -> None:
    bench = by("lookahead", cell(source, form), fills(n="0"), sandbox)
    assert bench.answer is not None
    assert bench.answer.text == f"[ANSWER]{answer}[/ANSWER]"


@pytest.mark.parametrize("source", ["%time x", "n", "while True: pass", "import os\nos._exit(3)", "x +"])
def test_where_it_does_not_run_the_model_is_asked_itself(source: str, sandbox: Sandbox) -> None:
    """A magic, a value that cannot be made or is none, a cell without end."""
    for model in (fills(n="1 / 0"), fills(n="((("), Scripted(in_turn("nothing"))):
        bench = by("lookahead", cell(source), model, sandbox)
        assert bench.answer is not None
        assert model.prompts[-1] == cell(source).prompt
        json.dumps(bench.to_dict())
    assert cell_in("no cell") is None
