"""Published sets of execution prediction as benchmarks: rows in the published form, made here, become questions; answers
are scored as the set scores them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask import BENCHMARKS, score_answer
from deskcheck.ask.answers.values import same_as_one, same_text
from deskcheck.ask.baselines import guess
from deskcheck.ask.questions.lines import write_benchmark_questions
from deskcheck.ask.questions.predicted import PREDICTED_BENCHMARKS
from deskcheck.ask.samples.sample import Sample
from deskcheck.recording import InputError, Recording
from deskcheck.sources import programs
from tests.ask.conftest import record_here
from tests.sources.test_predicted import ROWS, SUFFIX, write, write_reval

TEST_OUTPUT = {
    "question_title": "Halves",
    "question_content": "Return half of each number, rounded down.",
    "question_id": "2900",
    "contest_id": "weekly-1",
    "contest_date": "2023-08-01T00:00:00",
    "difficulty": "easy",
    "test": json.dumps([{"input": "[5, 3]\ntrue", "output": "[2, 1.0, null]", "testtype": "functional"}]),
    "starter_code": "class Solution:\n    def halves(self, xs: List[int], all: bool) -> List[int]:\n        ",
    "function_name": "halves",
    "test_id": 1,
}
IO = {
    "index": 0,
    "idx": 0,
    "code": "def shout(word, n=1):\n    return word.upper() * n",
    "input": "'ab', n=2",
    "output": "'ABAB'",
    "category": "Low",
}
STATEMENT = {
    "Programming Language": "Python",
    "Statement Type": "API",
    "Source Code": IO["code"],
    "Selected Statement": "return word.upper() * n",
    "Function Input": {"word": "'ab'"},
    "Variable Values Before Statement": {"word": "'ab'", "n": "2"},
    "Value After Statement Execution": "'ABAB'",
    "Variable States During Runtime": {},
    "Program Information": "Project Name: made",
    "idx": 3,
}
BLOCK = {**STATEMENT, "Block_Size": 1}
LINE = {
    "idx": 0,
    "Source Code": "1.def f(x):\n2.    if x:\n3.        return 1\n4.    return 2",
    "question": 'Is line 3, "return 1" executed when "f(0)" is called?',
    "answer": "No",
}
LOOP = {
    "idx": 0,
    "scratchpad_format": "",
    "loop_code": "1: def f(n):\n2:     for i in range(n):\n3:         x = i\n4:     return x\n5:\n6: f(3)",
    "question": "How many times will the loop on line 2 execute when 'f(3)' is called?",
    "answer": "3",
}
ALL: dict[str, dict[str, Any]] = {
    "livecodebench_execution": ROWS["livecodebench"],
    "livecodebench_test_output": TEST_OUTPUT,
    "cruxeval_x_output": ROWS["cruxeval_x"],
    "cruxeval_x_input": ROWS["cruxeval_x"],
    "codesense_output": IO,
    "codesense_input": IO,
    "codesense_statement": STATEMENT,
    "codesense_block": BLOCK,
    "codesense_line": LINE,
    "codesense_loop": LOOP,
    "coconut_path": ROWS["coconut"],
    "surge_output": ROWS["surge"],
}


def told(text: str) -> None:
    """Nothing is told where nothing is left out."""
    raise AssertionError(text)


def read(folder: Path, name: str, *rows: dict[str, Any]) -> list[Sample]:
    path = write(folder / f"rows{SUFFIX.get(name.partition('_')[0], '.jsonl')}", *(rows or (ALL[name],)))
    return list(BENCHMARKS[name].samples(str(path), note=told))


def score(sample: Sample, answer: str) -> float:
    return score_answer(sample, f"[ANSWER]{answer}[/ANSWER]", run=record_here_ending).score


def record_here_ending(program: Any) -> Any:
    return record_here(program).run_result


def test_every_suite_has_its_row_here() -> None:
    """So that all tests below ask each."""
    assert {benchmark.name for benchmark in PREDICTED_BENCHMARKS} == {*ALL}


@pytest.mark.parametrize("name", ALL)
def test_the_published_answer_is_right(tmp_path: Path, name: str) -> None:
    """And another one is wrong, and so is none; the answer does not stand in the question."""
    (sample,) = read(tmp_path, name)
    assert score(sample, sample.answer) == 1
    assert score(sample, "[5, 5]") == 0
    assert score_answer(sample, "I think so").score == 0
    assert sample.answer not in sample.parts.get("question", "") or name == "codesense_loop"
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))) == sample


@pytest.mark.parametrize("name", ALL)
def test_the_guess_answers_each_set(tmp_path: Path, name: str) -> None:
    """In the form that is asked for, from what the prompt shows."""
    (sample,) = read(tmp_path, name)
    answer = guess.completion(sample.prompt)
    assert answer.startswith("[ANSWER]")
    assert score_answer(sample, answer, run=record_here_ending).readable
    assert answer != "[ANSWER][/ANSWER]"


NEEDED = {
    "livecodebench_execution": 6,
    "livecodebench_test_output": 6,
    "codesense_statement": 6,
    "surge_output": 3,
}
"""Fields that a row must have; 4 in all other sets."""


@pytest.mark.parametrize("name", ALL)
def test_a_field_that_is_missing(tmp_path: Path, name: str) -> None:
    """The error names file, row and field; without a file it says where the set is from."""
    refused = []
    for key in ALL[name]:
        try:
            read(tmp_path, name, {k: v for k, v in ALL[name].items() if k != key})
        except InputError as error:
            refused += re.findall(rf"rows\S*(?: row )?1: the row lacks '({key})'", str(error))
    assert len(refused) == NEEDED.get(name, 4)
    with pytest.raises(InputError, match=r"is not fetched: write .*:PATH with your copy"):
        list(BENCHMARKS[name].samples())


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("livecodebench_test_output", {"test": "[]"}, "1: 'test' is not the JSON text of a list of tests"),
        ("livecodebench_test_output", {"test": "["}, "1: 'test': is not JSON"),
        ("livecodebench_test_output", {"test": '[{"input": "1"}]'}, "1: 'test': the row lacks 'output'"),
        ("livecodebench_test_output", {"test": '[{"input": "1", "output": "[2"}]'}, "'output': is not JSON"),
        ("livecodebench_test_output", {"test_id": "1"}, "1: 'test_id' is a string, not a whole number"),
        ("codesense_statement", {"Variable Values Before Statement": "x"}, "is a string, not an object"),
        ("codesense_loop", {"question": "Why?"}, r"1: 'question' is not about a loop: Why\?"),
        ("coconut_path", {"ExecutedLines": "[]"}, "row 1: 'ExecutedLines' is empty"),
        ("surge_output", {"custom_features": {}}, "row 1: 'custom_features.language' is null"),
        ("surge_output", {"custom_categoey": 6}, "row 1: 'custom_category' is 6: of SURGE only"),
        ("cruxeval_x_input", {"code": "x"}, "1: 'code' has no"),
    ],
)
def test_a_row_that_is_none_of_the_set(tmp_path: Path, name: str, row: dict[str, Any], message: str) -> None:
    """The error says what is wrong, and where."""
    with pytest.raises(InputError, match=message):
        read(tmp_path, name, {**ALL[name], **row})


@pytest.mark.parametrize(
    ("name", "answer", "right"),
    [
        ("livecodebench_execution", "1.0", True),
        ("livecodebench_execution", "assert pairs(words = ['a', 'b', 'a']) == 1", False),
        ("livecodebench_test_output", "[2, 1, None]", True),
        ("livecodebench_test_output", "[2, 1, null]", False),
        ("cruxeval_x_output", "[2, 1]", True),
        ("cruxeval_x_output", "(2, 1)", False),
        ("cruxeval_x_input", "f(1, 2.0)", True),
        ("cruxeval_x_input", "f(b=2, a=1)", True),
        ("cruxeval_x_input", "f(2, 1)", False),
        ("codesense_output", "abab", True),
        ("codesense_output", '"ABAB"', True),
        ("codesense_output", "'AB AB'", False),
        ("codesense_input", "'ab',  N=2", True),
        ("codesense_input", "'ab',n=2", False),
        ("codesense_statement", "'ABAB';", True),
        ("codesense_line", "no", True),
        ("codesense_line", "False", False),
        ("coconut_path", "[2, 2, 3, 3, 4]", True),
        ("coconut_path", "1, 2, 3, 4", False),
        ("surge_output", "0 x \n1 x\n", True),
        ("surge_output", "0 x 1 x", False),
    ],
)
def test_answers_are_scored_as_the_set_scores(tmp_path: Path, name: str, answer: str, right: bool) -> None:
    """By equality, as text without regard to case and quotes, or line by line."""
    (sample,) = read(tmp_path, name)
    assert score(sample, answer) == right


def test_what_scoring_by_value_would_give(tmp_path: Path) -> None:
    """Where a set compares texts, a column of its own says it."""
    (sample,) = read(tmp_path, "codesense_output", {**IO, "output": "[1, 'a']"})
    for answer, by_text, by_value in [("[1, 'A']", 1, 0), ("[1,'a']", 0, 1), ("[1.0, 'a']", 0, 1)]:
        found = score_answer(sample, f"[ANSWER]{answer}[/ANSWER]")
        assert (found.score, found.metrics["by_value"]) == (by_text, by_value)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many times will the loop on line 2 execute when 'f(3)' is called?", "iterations"),
        ("What is the value of ' i ' in line '2' after '3' th iteration when 'f(3)' is executed?", "state"),
        (
            "What is the final value of 'x' after the loop (lines 2-3) completes when 'f(3)' is executed?",
            "after_loop",
        ),
        ("What is the value of 'x' in line 4 after executing 'f(3)'?", "after_loop"),
    ],
)
def test_the_four_files_about_loops(tmp_path: Path, question: str, kind: str) -> None:
    """What a row asks says of which file it is; rows of two files have ids of their own."""
    (sample,) = read(tmp_path, "codesense_loop", {**LOOP, "question": question})
    assert sample.question == kind
    assert question in sample.prompt
    assert sample.id.startswith("codesense_loop_")


def test_a_test_s_input_is_shown_as_a_call(tmp_path: Path) -> None:
    """Lines are arguments."""
    (sample,) = read(tmp_path, "livecodebench_test_output")
    assert sample.parts["question"] == "Call: halves([5, 3], true)"
    assert [*sample.parts] == ["task", "problem", "program", "question"]
    assert sample.answer == "[2, 1.0, None]"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("3", True),
        (" 3 ", True),
        ("3.0", True),
        ("True", False),
        ("[1, 2.0]", True),
        ("(1, 2)", False),
        ("2.5000001", True),
        ("2.51", False),
        ("Nil", False),
    ],
)
def test_reval_compares_class_and_value(text: str, right: bool) -> None:
    """One of the right values has the class of the answer, and one is equal, as the set's own code has it;
    inside of values classes do not count. Floats may differ by less than 1e-6."""
    assert same_as_one(text, ["3", "[1, 2]", "2.5"]) is right
    assert not same_as_one("3.0", ["3", "[1, 2]"])


def test_codesense_compares_texts() -> None:
    """Each of what is not regarded, alone."""
    assert all(same_text(text, "'A b'") for text in ("'a B'", '"a b"', " a  b ", "'A b';", "'a\nb'"))
    assert not same_text("ab", "a b")


def test_suites_as_a_file_of_questions(tmp_path: Path) -> None:
    """Several benchmarks go into one file, each drawn by itself; they are found by NAME:PATH."""
    paths = {
        name: write(tmp_path / f"{name}.jsonl", ALL[name]) for name in ("codesense_line", "codesense_block")
    }
    out = tmp_path / "q.jsonl"
    written = write_benchmark_questions(out, [f"{name}:{path}" for name, path in paths.items()])
    assert written == {"codesense_line": 1, "codesense_block": 1}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["question"] for row in rows} == {"coverage", "state"}
    for row in rows:
        assert score(Sample(**{key: row[key] for key in row if key != "prompt"}), row["answer"]) == 1


# -- REval, of recordings ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reval(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    """The set's programs, recorded."""
    path = write_reval(tmp_path_factory.mktemp("reval"))
    return {one.id: record_here(one) for one in programs(f"reval:{path}")}


def ask_reval(
    monkeypatch: pytest.MonkeyPatch,
    recordings: list[Recording],
    task: str,
    note: Callable[[str], None] = told,
) -> dict[str, Sample]:
    monkeypatch.setattr("deskcheck.ask.questions.reval.load", lambda path: iter(recordings))
    return {sample.id: sample for sample in BENCHMARKS[f"reval_{task}"].samples("folder", note=note)}


def test_reval_s_tasks(reval: dict[str, Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``setUp`` does before the test does not count; every value and every successor is right."""
    right = {
        task: {
            key: sample.data["right"]
            for key, sample in ask_reval(monkeypatch, [*reval.values()], task).items()
        }
        for task in ("coverage", "path", "state")
    }
    assert right["coverage"] == {
        "DREval/0/1:coverage:0": ["False"],
        "DREval/0/1:coverage:1": ["True"],
        "DREval/0/0:coverage:0": ["True"],
        "DREval/1/1:coverage:0": ["False"],
        "DREval/1/1:coverage:1": ["False"],
        "DREval/1/1:coverage:2": ["True"],
    }
    assert [*right["path"].values()] == [["-1"], ["-1"], ["4"], ["-1"], ["-1"], ["8", "10"]]
    assert [*right["state"].values()] == [["Nil"], ["4"], ["8"], ["Nil"], ["Nil"], ["3", "1"]]


def test_reval_s_answers_are_scored(reval: dict[str, Recording], monkeypatch: pytest.MonkeyPatch) -> None:
    """Any of the right ones counts; Nil and -1 are answers."""
    whole = [*reval.values()]
    path = ask_reval(monkeypatch, whole, "path")
    line = path["DREval/1/1:path:2"]
    assert [score(line, text) for text in ("8", "10", "line 10", "9", "-1")] == [1, 1, 0, 0, 0]
    assert score_answer(line, "[ANSWER]line 10[/ANSWER]").metrics["lenient"] == 1
    assert score_answer(line, "[ANSWER]return[/ANSWER]").answer is None
    assert [score(path["DREval/0/1:path:0"], text) for text in ("-1", "4")] == [1, 0]
    state = ask_reval(monkeypatch, whole, "state")
    assert [score(state["DREval/1/1:state:2"], text) for text in ("1", "3", "2", "1.0", "Nil")] == [
        1,
        1,
        0,
        0,
        0,
    ]
    assert [score(state["DREval/0/1:state:0"], text) for text in ("Nil", "None")] == [1, 0]
    covered = ask_reval(monkeypatch, whole, "coverage")["DREval/0/1:coverage:0"]
    assert [score(covered, text) for text in ("False", "True", "0")] == [1, 0, 0]
    assert "Call: half(4, 2)\nLine: 3" in covered.prompt
    assert len({sample.cluster for sample in state.values()}) == 2, "one for each program, whatever runs it"


def test_reval_says_what_it_does_not_ask(
    reval: dict[str, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that raise, and variables that are no plain data."""
    from dataclasses import replace

    program = reval["DREval/0/1"].program
    raising = record_here(replace(program, arguments="(1, 0)"))
    notes: list[str] = []
    assert ask_reval(monkeypatch, [raising], "coverage", notes.append) == {}
    assert notes == ["reval_coverage: 2 questions of the set are not asked: 2 ended otherwise: raised"]
    plain = replace(
        program, code="def half(n, by):\n    n = [n]\n    n = n\n    return n\n", arguments="(object(), 0)"
    )
    notes.clear()
    assert ask_reval(monkeypatch, [record_here(plain)], "state", notes.append) == {}
    assert notes == ["reval_state: 2 questions of the set are not asked: 2 the variable is not plain data"]


def test_reval_is_asked_about_its_own_recordings(
    reval: dict[str, Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are refused, and so is no folder."""
    from dataclasses import replace

    other = record_here(replace(reval["DREval/0/0"].program, extra={}))
    with pytest.raises(InputError, match="DREval/0/0 was not recorded from reval:PATH"):
        ask_reval(monkeypatch, [other], "path")
    with pytest.raises(InputError, match=r"reval_path: is asked about recordings: `deskcheck record reval:"):
        list(BENCHMARKS["reval_path"].samples())
