"""Answers that are programs: hidden tests beside them decide, and nothing that an answer does to its process."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.answers.code import code_in, code_said
from deskcheck.ask.answers.parsing import CLOSE, OPEN
from deskcheck.ask.baselines import guess, oracle
from deskcheck.ask.job import score_in_shards
from deskcheck.ask.kinds.program import program_sample
from deskcheck.ask.questions.benchmarks import benchmark_in, benchmark_samples
from deskcheck.ask.questions.lines import write_benchmark_questions
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.score import AnswerScore, Reading, score_answer
from deskcheck.ask.scoring.selfcheck import self_check
from deskcheck.ask.settings import ScoreSettings
from deskcheck.jobs import LocalPool
from deskcheck.recording import InputError
from deskcheck.sandbox import Confinement, Sandbox
from deskcheck.sources.sets.coding import CodingTask, StdinCase
from tests.ask.conftest import Quick, table
from tests.command import deskcheck

RIGHT = "def f(x):\n    return [x, x + 1]\n"
TASK = CodingTask(
    id="pair",
    prompt="Give a number and the one after it.",
    entry_point="f",
    tests=("assert f(1) == [1, 2]", "assert f(716253849) == [716253849, 716253850]", "assert f(5) != [5]"),
    visible_tests=("assert f(1) == [1, 2]",),
    reference=RIGHT,
    known_bad=("def f(x):\n    return [x]\n",),
)
SAMPLE = program_sample(TASK)


class Patient(Quick):
    """For references, which may take their time."""

    limits = replace(Quick.limits, cpu_s=4)


def said(answer: str) -> str:
    return f"{OPEN}\n```python\n{answer}\n```\n{CLOSE}"


ATTACKS = table("attacks/programs")


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_scores_nothing(judge: Quick, name: str) -> None:
    """Whatever it does, a program that does not do the task is wrong, with a reason, and nothing is raised."""
    found = score_answer(SAMPLE, said(ATTACKS[name]), judge=judge)
    assert found.score == 0, found
    assert found.reason
    assert found.reading is Reading.ANSWERED


def test_right_answers_and_how_many_tests_pass(judge: Quick) -> None:
    """The reference passes all; a wrong answer keeps what it passes; the judge goes on after all attacks."""
    assert score_answer(SAMPLE, said(RIGHT), judge=judge) == AnswerScore(
        1.0, RIGHT.strip(), "", {"lenient": 1.0, "tests_passed": 1.0, "missing_module": 0.0}
    )
    lucky = score_answer(SAMPLE, said("def f(x):\n    return [1, 2]"), judge=judge)
    assert (lucky.score, lucky.metrics["tests_passed"]) == (0, 2 / 3)
    assert lucky.reason == "test 2 of 3: AssertionError: "
    late = score_answer(SAMPLE, said("def f(x):\n    while x > 9: pass\n    return [x, x + 1]"), judge=judge)
    assert (late.score, late.metrics["tests_passed"]) == (0, 1 / 3)
    assert late.reason == "test 2 of 3: timed_out: more than 1 s of CPU time"
    main = "if __name__ == '__main__':\n    print(f(int(input())))"
    assert score_answer(SAMPLE, said(f"{RIGHT}\n{main}"), judge=judge).score == 1
    future = f"from __future__ import annotations\nimport dataclasses\n{RIGHT}\n@dataclasses.dataclass\nclass A:\n    x: int\n"
    assert score_answer(SAMPLE, said(future), judge=judge).score == 1


def test_a_module_that_is_not_installed_is_told_apart(judge: Quick) -> None:
    """Named, in a column of its own, wrong and in n; a module that is only said to be missing is not."""
    for answer in ("import no_such_module_here\n" + RIGHT, "def f(x):\n    import no_such_module_here.a"):
        found = score_answer(SAMPLE, said(answer), judge=judge)
        assert (found.score, found.metrics["missing_module"]) == (0, 1)
        assert found.reason == "the module no_such_module_here is not installed here"
    lie = "def f(x):\n    raise ModuleNotFoundError(\"No module named 'numpy'\")"
    assert score_answer(SAMPLE, said(lie), judge=judge).metrics["missing_module"] == 0
    needs = program_sample(replace(TASK, modules=("no_such_module_here",)))
    assert score_answer(needs, said(RIGHT), judge=judge).metrics["missing_module"] == 1


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("", "the completion is empty"),
        ("I cannot.", "no program between [ANSWER] and [/ANSWER]"),
        (f"{OPEN}{CLOSE}", "no code"),
        (f"{OPEN}# later{CLOSE}", "no code"),
        (said("def f(x: return"), "syntax error in line 1:"),
        (said("def g(x): return [x, x + 1]"), "does not define f"),
        (said("f\0 = 1"), ("no Python text that can be compiled: ValueError", "syntax error")),
        (said("def f(x): return '\ud800'"), None),
        (said("\x7fELF\x02\x01\x01" * 50), "syntax error"),
        (said("x = 1\n" * 100_000), "the answer is longer than 200000 characters"),
        (said("f = " + "(" * 5000 + ")" * 5000), ("syntax error", "no Python text")),
        (said("f = " + "-" * 50_000 + "1"), ("syntax error", "no Python text")),
        (
            "```python\ndef f(x): pass\n```\nor\n```\ndef f(x): return x\n```",
            "no program between [ANSWER] and [/ANSWER]",
        ),
        (f"{OPEN}\nFirst:\n```\na = 1\n```\n```\nb = 1\n```\n{CLOSE}", "syntax error in line 1"),
    ],
)
def test_what_is_no_program_is_said_so(
    completion: str, why: str | tuple[str, ...] | None, judge: Quick
) -> None:
    """No code, two programs, no Python, another name: score 0, never an exception."""
    found = score_answer(SAMPLE, completion, judge=judge)
    assert found.score == 0
    assert why is None or found.reason.startswith(why), found.reason


@pytest.mark.parametrize(
    ("completion", "strict"),
    [
        (f"{OPEN}{RIGHT}{CLOSE}", True),
        (f"{OPEN}{RIGHT}{CLOSE}".replace("x + 1", "x + 1 if x > -1" + "0" * 5000 + " else 0"), True),
        (said(RIGHT), True),
        (f"Here it is:\n```python\n{RIGHT}```\nIt adds one.", False),
        (f"```py\n{RIGHT}```\nRun it so:\n```\nprint(f(3))\n```", False),
        (f"{OPEN}Of course:\n```python\n{RIGHT}```\n{CLOSE}", False),
        (f"{OPEN}{RIGHT}", False),
        (f"{OPEN}def f(x):\n    '''Text:\n```\nf(1)\n```\n    '''\n    return [x, x + 1]{CLOSE}", True),
    ],
)
def test_where_the_program_is_found(completion: str, strict: bool) -> None:
    """Strictly, between the marks; a person finds it also in a fence, or in the one that defines the name."""
    assert (code_in(completion, "f").code is not None) == strict
    found = code_said(completion, "f")
    assert found.code is not None, found
    scope: dict[str, Any] = {}
    exec(found.code.replace("0" * 5000, ""), scope)
    assert scope["f"](3) == [3, 4]


def test_a_script_is_judged_by_what_it_prints(judge: Quick) -> None:
    """Standard input by whichever way it is read; sys.exit(0) is no failure, another status is."""
    cases = (StdinCase(stdin="3 4\n", stdout="7\n"), StdinCase(stdin="20 5\n", stdout="25"))
    sample = program_sample(replace(TASK, entry_point=None, tests=(), cases=cases))
    for read in (
        "input()",
        "sys.stdin.read()",
        "sys.stdin.buffer.read().decode()",
        "os.read(0, 99)",
        "open(0).read()",
    ):
        code = f"import os, sys\nprint(sum(map(int, {read}.split())), ' ')\nsys.exit(0)"
        assert score_answer(sample, said(code), judge=judge).score == 1, read
    for code, passed in [
        ("print(7)", 0.5),
        ("print(7 if input()[0] == '3' else 25)\nimport sys\nsys.exit(1)", 0),
        ("print(int(input()))", 0),
        ("import os\nos._exit(0)", 0),
    ]:
        found = score_answer(sample, said(code), judge=judge)
        assert (found.score, found.metrics["tests_passed"]) == (0, passed), code


def test_a_script_is_judged_by_a_check_of_what_it_prints(judge: Quick) -> None:
    """In another process: what the script does to its own is nothing to the check."""
    check = "import json\na, b = json.loads(printed)\nassert a * b == 91 and a > 1 < b, 'no factors'"
    sample = program_sample(replace(TASK, entry_point=None, tests=(), checker=check))
    for code, why in [
        ("print([7, 13])", ""),
        ("import sys\nprint([13, 7])\nsys.exit(0)", ""),
        ("print([1, 91])", "the check of what it printed: AssertionError: AssertionError: no factors"),
        ("print('none')", "the check of what it printed: JSONDecodeError"),
        ("import os\nos._exit(0)", "the check of what it printed: JSONDecodeError"),
        ("import builtins, json\nbuiltins.AssertionError = json.loads = None\nprint([1, 2])", "the check of"),
        ("import no_such_module_here", "the module no_such_module_here is not installed here"),
        ("while True: pass", "timed_out"),
    ]:
        found = score_answer(sample, said(code), judge=judge)
        assert found.reason.startswith(why), (code, found)
        assert found.score == (not why), (code, found)


def test_a_class_is_tested_through_a_driver(judge: Quick) -> None:
    """The driver runs beside the answer, and what it returns is compared out of reach."""
    task = replace(
        TASK,
        entry_point="Stack",
        driver="def run(items):\n    s = Stack()\n    for i in items: s.push(i)\n    return [s.pop() for _ in items]",
        tests=("assert run([1, 2]) == [2, 1]",),
    )
    good = "class Stack(list):\n    push = list.append"
    assert score_answer(program_sample(task), said(good), judge=judge).score == 1
    lies = "class E(int):\n    def __eq__(s, o): return True\nclass Stack:\n    def push(s, i): pass\n    def pop(s): return E()"
    assert score_answer(program_sample(task), said(lies), judge=judge).score == 0


def test_both_parts_of_two_functions_are_told_apart(judge: Quick) -> None:
    """Each part with the reference's other part, where the whole is wrong."""
    base, new = "def g(x):\n    return x + 1\n", "def f(x):\n    return [x, g(x)]\n"
    sample = program_sample(replace(TASK, reference=base + new, parts={"base_right": new, "new_right": base}))
    assert sample.question == "self_invoking"
    for answer, expected in [
        (base + new, (1, 1, 1)),
        ("def g(x):\n    return x\n" + new, (0, 0, 1)),
        (base + "def f(x):\n    return [g(x)]", (0, 1, 0)),
        ("def g(x): pass\ndef f(x): pass", (0, 0, 0)),
    ]:
        found = score_answer(sample, said(answer), judge=judge)
        assert (found.score, found.metrics["base_right"], found.metrics["new_right"]) == expected


def test_baselines(judge: Quick) -> None:
    """The oracle is right, the others are honestly wrong; erring says what it always says of its faults."""
    repair = program_sample(replace(TASK, id="repair", task="repair", code=TASK.known_bad[0]))
    for sample in (SAMPLE, repair):
        oracle.remember([sample])
        assert score_answer(sample, oracle.completion(sample.prompt), judge=judge).score == 1
        for completion in (
            guess.completion(sample.prompt),
            guess.nothing(sample.prompt),
            oracle.erring(sample.prompt, rate=1, seed=0),
        ):
            assert score_answer(sample, completion, judge=judge).score == 0
        oracle.forget([sample])
    assert TASK.known_bad[0].strip() in guess.completion(repair.prompt)


# -- files of one's own ------------------------------------------------------------------------------


def rows(path: Path, *tasks: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return path


ROW = {
    "id": "pair",
    "prompt": TASK.prompt,
    "entry_point": "f",
    "tests": list(TASK.tests),
    "reference": RIGHT,
    "known_bad": list(TASK.known_bad),
}
SCRIPT = {"id": "sum", "prompt": "Add.", "cases": [{"stdin": "1 2", "stdout": "3"}], "reference": "print(3)"}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return rows(tmp_path / "tasks.jsonl", ROW, SCRIPT)


def test_a_suite_holds_or_says_what_does_not(tasks: Path, tmp_path: Path) -> None:
    """References that fail and known-bad answers that pass, each by id and field."""
    found = self_check(benchmark_samples([str(tasks)])["program"])
    assert (found.good, found.good_right, found.bad, found.bad_right, found.tests) == (2, 2, 1, 0, 4)
    assert found.holds
    wrong = rows(
        tmp_path / "wrong.jsonl",
        {**ROW, "reference": "def f(x): return x", "known_bad": [RIGHT]},
        {**ROW, "id": "b", "modules": ["no_such_module_here"]},
        {**ROW, "id": "c", "reference": None, "known_bad": []},
    )
    ran = deskcheck("selfcheck", "wrong.jsonl", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("pair:program: reference: is not right: test 1 of 3")
    assert lines[1] == "pair:program: known_bad[0]: passes all tests"
    assert "without a reference: 1" in lines
    assert "not run, because the module no_such_module_here is not installed here: 1" in lines
    assert wrong.exists()


@pytest.mark.slow
def test_asked_scored_and_reported(tasks: Path, tmp_path: Path) -> None:
    """By `ask`, and as questions and answers in files, with several samples of each: one and the same score."""
    asked = ["ask", tasks, "-m", "deskcheck/oracle,deskcheck/guess", "--out", tmp_path / "run", "--json"]
    ran = deskcheck(*asked, "--epochs", "2", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    first, second = json.loads(ran.stdout)["results"]
    assert (first["n"], first["score"], second["score"]) == (2, 1, 0)
    assert first["attempts"]["pass@2"]["value"] == 1
    questions, answers = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    assert write_benchmark_questions(questions, [str(tasks)]) == {"program": 2}
    lines = []
    for number in range(2):
        for id_, text in (
            ("pair:program", RIGHT if number else "def f(x): pass"),
            ("sum:program", "print(3)"),
        ):
            lines.append(json.dumps({"id": id_, "completion": said(text), "model": "m"}))
    answers.write_text("\n".join(lines))
    scores, _ = score_in_shards(
        questions, [answers], tmp_path / "scores", ScoreSettings(samples=True), runner=LocalPool(2), size=2
    )
    (score,) = scores.scores
    assert (score.question, score.n, score.score, score.attempts["pass@2"].value) == ("program", 2, 0.75, 1.0)
    assert score.metrics["tests_passed"].value == pytest.approx((1 / 6 + 0.5) / 2 + 0.5, abs=0.2)
    shown = deskcheck("report", tmp_path / "run", tmp_path / "scores", "--terminal", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "pass@2" in shown.stdout


@pytest.mark.slow
def test_inspect_asks_a_benchmark(tasks: Path, tmp_path: Path) -> None:
    """`inspect eval deskcheck/program` has answers run and scored, from any folder."""
    pytest.importorskip("inspect_ai", reason="asks a benchmark by Inspect's own command")
    command = [
        *(sys.executable, "-m", "inspect_ai", "eval", "deskcheck/program", "-T", f"path={tasks}"),
        *("--model", "deskcheck/oracle", "--log-dir", str(tmp_path / "logs"), "--display", "plain"),
    ]
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    from inspect_ai.log import read_eval_log

    (log,) = (tmp_path / "logs").glob("*.eval")
    read = read_eval_log(str(log))
    assert [sample.scores["scored"].value for sample in read.samples or () if sample.scores] == [1, 1]


PUBLISHED = {
    "humaneval": ("humaneval/HumanEval.jsonl", 20),
    "humanevalfix": ("humanevalfix/humanevalpack_python.jsonl.gz", 20),
    "mbpp": ("mbpp/mbpp_730.jsonl", 20),
    "humaneval_pro": ("code_eval_pro/humaneval_pro.json.gz", 10),
    "mbpp_pro": ("code_eval_pro/mbpp_pro.json.gz", 10),
    "p3": ("p3/puzzles.json.gz", 30),
}


@pytest.mark.exhaustive
def test_published_sets_hold() -> None:
    """Of each set all rows are read, and of some the references are right and the bugs wrong."""
    folder = os.environ.get("DESKCHECK_SHARED")
    shared = Path(folder) if folder else Path(__file__).parents[3] / "shared"
    if not (shared / "data" / "humaneval").is_dir():
        pytest.skip("would have checked that references of published sets pass: the sets are not here")
    rng = random.Random(0)
    with Sandbox(Confinement.STRICT, workers=1) as sandbox:
        patient = Patient(sandbox)
        for name, (file, count) in PUBLISHED.items():
            samples = benchmark_samples([f"{name}:{shared / 'data' / file}"])[name]
            for sample in rng.sample(samples, count):
                given = score_answer(sample, said(sample.answer), judge=patient)
                assert given.score == 1, (sample.id, given)
                for bad in sample.data["known_bad"]:
                    assert score_answer(sample, said(bad), judge=patient).score == 0, sample.id


def test_what_names_a_benchmark(tasks: Path, tmp_path: Path) -> None:
    """A name, a name with a path, a path; a folder of recordings names none."""
    assert benchmark_in("humaneval") is not None
    assert benchmark_in("humaneval:x.jsonl") is not None
    assert benchmark_in(str(tasks)) is not None
    assert benchmark_in(str(tmp_path)) is None
    both = deskcheck("ask", tasks, tmp_path, "-m", "deskcheck/oracle", cwd=tmp_path)
    assert both.returncode == 2
    assert "one after the other" in both.stderr
    kinds = deskcheck("ask", tasks, "-q", "output", "-m", "deskcheck/oracle", cwd=tmp_path)
    assert kinds.returncode == 2
    assert "has its own questions" in kinds.stderr
    for name in ("recordings-00000.parquet", "a.trajectory.parquet"):
        with pytest.raises(InputError, match=f"a file of recordings. Name its folder: {tmp_path}"):
            benchmark_in(str(tmp_path / name))
    none = deskcheck("ask", tmp_path, "-m", "deskcheck/oracle", cwd=tmp_path)
    assert none.returncode == 2
    assert "--question is missing" in none.stderr
    with pytest.raises(InputError, match=r"give your file as program:PATH"):
        benchmark_samples(["program"])
    with pytest.raises(InputError, match="humanevalfix: give its file"):
        benchmark_samples(["humanevalfix"])


def test_samples_travel(judge: Quick) -> None:
    """What a file of questions holds of a sample is all that scoring needs."""
    again = Sample.from_dict(json.loads(json.dumps(SAMPLE.to_dict())))
    assert score_answer(again, said(RIGHT), judge=judge).score == 1
    with pytest.raises(ValueError, match="give judge="):
        score_answer(again, said(RIGHT))
    assert sys.getsizeof(again.data) > 0
