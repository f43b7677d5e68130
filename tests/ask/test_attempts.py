"""Several answers to one question: pass@k, the majority, consistency; online by epochs, offline by samples."""

import itertools
import json
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskcheck.ask.results.attempts import (
    Attempt,
    by_question,
    consistency,
    majority,
    measured,
    pass_at,
    vote_of,
)
from tests.command import deskcheck

answers = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from(["1", "2", "[1]", None])), min_size=2, max_size=7
)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_subsets(case: tuple[int, int, int]) -> None:
    """Counted over every choice of k of the answers: the definition, not the formula."""
    n, right, k = case
    choices = list(itertools.combinations(range(n), k))
    share = Fraction(sum(any(one < right for one in chosen) for chosen in choices), len(choices))
    assert pass_at(k, n, right) == pytest.approx(float(share), abs=1e-12)


@pytest.mark.parametrize("case", [(0, 3, 1), (4, 3, 1), (1, 3, 4), (1, 3, -1)])
def test_what_there_is_no_pass_at_k_of(case: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="impossible numbers"):
        pass_at(*case)


def test_answers_are_one_by_value() -> None:
    for one, other in (
        ("[1,2]", "[1, 2]"),
        ("{'b': 1, 'a': 2}", '{"a": 2, "b": 1}'),
        ("a  b", "a b"),
    ):
        assert vote_of(one) == vote_of(other)
    for one, other in (("1", "1.0"), ("1", "True"), ("[1, 2]", "[2, 1]"), ("a b", "ab"), ("'1'", "1")):
        assert vote_of(one) != vote_of(other)
    assert vote_of(None) is None
    assert vote_of("") is not None
    assert vote_of("[" * 100_000) == vote_of("[" * 100_000 + " ")


def test_the_majority_and_its_ties() -> None:
    right, wrong, other, none = Attempt(1, "a"), Attempt(0, "b"), Attempt(0, "c"), Attempt(0, None)
    assert majority([right, right, wrong]) == 1
    assert majority([right, wrong, wrong]) == 0
    assert majority([right, wrong]) == 0.5
    assert majority([right, wrong, other, none, none]) == pytest.approx(1 / 3)
    assert majority([none, none]) == 0


@given(answers)
def test_consistency_is_the_share_of_equal_pairs(found: list[tuple[float, str | None]]) -> None:
    tries = [Attempt(score, vote_of(answer)) for score, answer in found]
    pairs = list(itertools.combinations([answer for _, answer in found], 2))
    assert consistency(tries) == pytest.approx(fmean(a == b is not None for a, b in pairs))


def test_one_answer_to_some_is_no_sample_of_several() -> None:
    rows: list[tuple[str, float, str | None]] = [("a", 1.0, "1"), ("a", 0.0, "2"), ("b", 1.0, "1")]
    assert measured(by_question(rows)) == {}
    told = measured(by_question([*rows, ("b", 1.0, "1"), ("a", 0.0, None)]))
    assert told == {
        "pass@1": {"a": pytest.approx(1 / 3), "b": 1.0},
        "pass@2": {"a": pytest.approx(2 / 3), "b": 1.0},
        "majority": {"a": 0.5, "b": 1.0},
        "consistency": {"a": 0.0, "b": 1.0},
    }


CODE = "def f(x):\n    y = x * 2\n    return [y, x]\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("several")
    rows = [
        {"id": f"p{n}", "code": CODE.replace("2", str(n)), "entry": "f", "inputs": [f"({n},)"]}
        for n in range(2, 5)
    ]
    (place / "programs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = deskcheck("record", "programs.jsonl", "--out", "runs", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


def test_offline_and_online_say_the_same(folder: Path) -> None:
    """Four answers to each of three questions: the command's numbers are those of the definitions."""
    asked = deskcheck("offline", "questions", "runs", "--out", "q.jsonl", "-q", "output", cwd=folder)
    assert asked.returncode == 0, asked.stderr
    questions = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    wrong = ["[0, 0]", "[0,0]", "[9, 9]"]
    right_of = {
        question["id"]: number for number, question in enumerate(questions, 1)
    }  # 1, 2, 3 of 4 are right
    with open(folder / "a.jsonl", "w") as file:
        for question in questions:
            right = right_of[question["id"]]
            for answer in [question["answer"]] * right + wrong[: 4 - right]:
                file.write(
                    json.dumps({"id": question["id"], "completion": f"[ANSWER]{answer}[/ANSWER]"}) + "\n"
                )
    done = deskcheck(
        "offline", "score", "q.jsonl", "a.jsonl", "--out", "scores", "--samples", "--json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    (score,) = json.loads(done.stdout)["scores"]
    found = {name: interval["value"] for name, interval in score["attempts"].items()}
    assert found == {
        "pass@1": pytest.approx((1 / 4 + 2 / 4 + 3 / 4) / 3),
        "pass@2": pytest.approx((pass_at(2, 4, 1) + pass_at(2, 4, 2) + pass_at(2, 4, 3)) / 3),
        "pass@4": 1.0,
        "majority": pytest.approx((0 + 0.5 + 1) / 3),
        "consistency": pytest.approx((1 / 6 + 2 / 6 + 3 / 6) / 3),
    }
    assert score["score"] == pytest.approx(found["pass@1"])
    shown = deskcheck("offline", "score", "q.jsonl", "a.jsonl", "--out", "scores", "--samples", cwd=folder)
    assert "several answers to each sample" in shown.stdout
    assert "pass@4" in shown.stdout


@pytest.mark.slow
def test_epochs_are_attempts(folder: Path) -> None:
    """`ask --epochs`: a model that is wrong at times, the same in every epoch or not."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show pass@k of an online run")
    command = ("ask", "runs", "-q", "state,output", "-m", "deskcheck/oracle,deskcheck/guess", "--epochs", "3")
    done = deskcheck(*command, "--out", "several", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    for result in results:
        found = result["attempts"]
        assert set(found) == {"pass@1", "pass@2", "pass@3", "majority", "consistency"}
        assert found["pass@1"]["value"] == pytest.approx(result["score"])
        assert found["consistency"]["value"] == 1, "the built-in models always say the same"
        assert found["majority"]["value"] == found["pass@3"]["value"] == pytest.approx(result["score"])
    report = deskcheck("report", "several", cwd=folder)
    assert report.returncode == 0, report.stderr
    assert "pass@3" in report.stdout
    once = deskcheck(
        "ask", "runs", "-q", "output", "-m", "deskcheck/oracle", "--out", "once", "--json", cwd=folder
    )
    assert json.loads(once.stdout)["results"][0]["attempts"] == {}
