"""Questions as tasks of lm-evaluation-harness, and answers in the files of other programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.answers.parsing import written
from deskcheck.ask.offline.answers import write_answers
from deskcheck.ask.offline.harness import documents, score, write_tasks
from deskcheck.ask.questions.lines import write_questions
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.results.logs import read_logs
from deskcheck.recording import InputError, Recording
from tests.ask.rows import samples_file
from tests.command import deskcheck as command_line

CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"
KINDS = ["output", "input", "state", "path", "step"]


@pytest.fixture(scope="module")
def questions(record: Callable[..., Recording], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    write_questions(path, [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in (3, 4)], KINDS)
    return path


def test_a_folder_of_tasks(questions: Path, tmp_path: Path) -> None:
    """A task for each kind whose answers are not run; each names its file, its metrics and who scores."""
    done = command_line("offline", "tasks", questions, "--out", tmp_path / "tasks", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: 2 input" in done.stderr
    yaml: Any = pytest.importorskip("yaml", reason="would show that the tasks are YAML that says so")
    loader = type("Loader", (yaml.SafeLoader,), {})
    yaml.add_constructor("!function", lambda _, node: f"calls {node.value}", loader)
    told = {path.stem: yaml.load(path.read_text(), loader) for path in (tmp_path / "tasks").glob("*.yaml")}
    assert told["deskcheck"]["task"] == [f"deskcheck_{kind}" for kind in KINDS if kind != "input"]
    step = told["deskcheck_step"]
    assert [metric["metric"] for metric in step["metric_list"]] == [
        *("score", "lenient", "right_place", "right_values")
    ]
    assert (step["dataset_kwargs"], step["process_results"]) == (
        {"kind": "step"},
        "calls deskcheck_tasks.score",
    )
    compile((tmp_path / "tasks/deskcheck_tasks.py").read_text(), "deskcheck_tasks.py", "exec")
    for kind in told["deskcheck"]["task"]:
        for doc in documents(tmp_path / "tasks" / f"{kind.removeprefix('deskcheck_')}.jsonl"):
            right = written(json.loads(doc["sample"])["data"]["form"], doc["answer"])
            for said in (right, right.removesuffix("[/ANSWER]")):  # the stop word
                assert set(score(doc, [said]).values()) == {1.0}, doc["id"]
            assert score(doc, ["[ANSWER]nonsense[/ANSWER]"])["score"] == 0.0
            assert doc["prompt"].startswith(json.loads(doc["sample"])["parts"]["task"])


def test_what_can_be_no_task(questions: Path, tmp_path: Path) -> None:
    """Answers that are run, a folder with something in it, lines that are no questions."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    with pytest.raises(InputError, match="not an empty folder"):
        write_tasks(questions, tmp_path / "full")
    rows = questions.read_text().splitlines(keepends=True)
    only = tmp_path / "input.jsonl"
    only.write_text("".join(row for row in rows if json.loads(row)["question"] == "input"))
    with pytest.raises(InputError, match="answers of input are run"):
        write_tasks(only, tmp_path / "tasks")
    only.write_text(rows[0] + "{}\n")
    with pytest.raises(InputError, match="line 2: is not a question"):
        write_tasks(only, tmp_path / "tasks")
    assert not (tmp_path / "tasks").exists()


def answers_of_the_harness(questions: Path, folder: Path) -> Path:
    """What the harness writes of two answers to each of our questions: the first right, the second not."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(questions.read_text().splitlines()):
        sample = json.loads(line)
        prompt = sample.pop("prompt")
        doc = {"id": sample["id"], "prompt": prompt, "answer": sample["answer"], "sample": json.dumps(sample)}
        said = [written(sample["data"]["form"], sample["answer"]), "[ANSWER]nonsense[/ANSWER]"]
        row = {"doc_id": number, "doc": doc, "target": sample["answer"], "resps": [said], "filter": "none"}
        if sample["question"] != "input":
            rows.append(row | {"filtered_resps": said[:1], "metrics": ["score"], "score": 1.0})
    return samples_file(
        folder, "deskcheck_all", rows, config={"model": "hf", "model_args": {"pretrained": "m"}}
    )


def test_its_answers_to_our_questions_are_ours(questions: Path, tmp_path: Path) -> None:
    """In a report, scored anew, with their clusters and all answers; as lines, for `offline score`."""
    path = answers_of_the_harness(questions, tmp_path / "ran")
    found = {result.question: result for result in read_logs([path]).results}
    assert set(found) == set(KINDS) - {"input"}
    output = found["output"]
    assert (output.model, output.n, output.programs, output.epochs, output.score) == ("m", 2, 1, 2, 0.5)
    assert {row.program for row in output.samples} == {"squares/3", "squares/4"}
    assert found["step"].metrics["right_place"].value == 0.5
    done = command_line("offline", "answers", path, "--out", tmp_path / "answers.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    scored = command_line(
        *("offline", "score", questions, tmp_path / "answers.jsonl", "--samples"),
        *("--out", tmp_path / "scores", "--sandbox", "trusted", "--json"),
        cwd=tmp_path,
    )
    assert scored.returncode == 0, scored.stderr
    scores = {row["question"]: row["score"] for row in json.loads(scored.stdout)["scores"]}
    assert scores == {kind: 0.0 if kind == "input" else 0.5 for kind in KINDS}


def test_a_file_that_cannot_be_made(tmp_path: Path) -> None:
    """The message is of the file that was named, also where what was begun cannot be removed either."""
    long = tmp_path / f"{'q' * 250}.jsonl"
    with pytest.raises(InputError, match=r"q\.jsonl: cannot be written: File name too long"):
        write_questions(long, [], KINDS)


def test_generations_in_cruxevals_form(questions: Path, tmp_path: Path) -> None:
    """Bare values by program, several of each; also those of a scored file."""
    given = {"squares/3": ["5", "6"], "squares/4": ["14", "14"]}
    for name, told in {"generations": given, "scored": {"raw_generations": given, "pass_at_1": 75.0}}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(told))
        assert write_answers(tmp_path / "answers.jsonl", [path]) == 4
        rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
        assert rows[0] == {"id": "squares/3:output", "completion": "[ANSWER]5[/ANSWER]", "model": name}
        out = tmp_path / f"scores-{name}"
        done = command_line(
            *(
                "offline",
                "score",
                questions,
                tmp_path / "answers.jsonl",
                "--samples",
                "--out",
                out,
                "--json",
            ),
            cwd=tmp_path,
        )
        scores = {row["question"]: row["score"] for row in json.loads(done.stdout)["scores"]}
        assert scores["output"] == 0.75


def test_answers_in_a_log_of_inspect(
    questions: Path, record: Callable[..., Recording], tmp_path: Path
) -> None:
    """A run of our own tasks by Inspect, scored again without it, has the same score."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that its logs are read")
    from deskcheck.ask import ask

    recordings = [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in (3, 4)]
    (result,) = ask(recordings, ["output"], ["deskcheck/guess"], out=tmp_path / "run")
    count = write_answers(tmp_path / "answers.jsonl", [*(tmp_path / "run/logs").glob("*.eval")])
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert count == len(rows) == result.n
    assert {(row["id"], row["completion"], row["model"]) for row in rows} == {
        (row.id, row.completion, row.model) for row in result.samples
    }


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "[1]", "nor generations in CRUXEval's form"),
        ("a.jsonl", '{"id": "x"}\n{}\n', "nor generations in CRUXEval's form"),
        ("a.json", '{"x": "y"}', "nor generations in CRUXEval's form"),
        ("a.json", "{}", "has no answers"),
        ("a.eval", "PK", "is not a log of Inspect's"),
        ("none.json", None, r"none\.json: No such file"),
    ],
)
def test_what_holds_no_answers_is_named(name: str, text: str | None, said: str, tmp_path: Path) -> None:
    """And nothing is written."""
    if name.endswith(".eval"):
        pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that a damaged log is named")
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        write_answers(tmp_path / "answers.jsonl", [tmp_path / name])
    assert [path.name for path in tmp_path.iterdir()] == [name][: text is not None]


def test_figures_of_inspect_and_the_harness_are_ours(
    record: Callable[..., Recording], tmp_path: Path
) -> None:
    """Strict and lenient, in every kind that each exports, of answers that a model phrases in its own ways."""
    pytest.importorskip("inspect_ai", reason="would show that Inspect's figures are ours")
    from inspect_ai.log import read_eval_log

    from deskcheck.ask import ask, baseline
    from deskcheck.ask.baselines import guess, oracle

    ways = ("{}", "**{}**", "the answer is {}", "<think>{}</think> no", "\n{}\n")

    def phrased(prompt: str) -> str:
        number = sum(prompt.encode())
        said = (oracle.completion if number % 3 else guess.completion)(prompt)
        inside = said.removeprefix("[ANSWER]").removesuffix("[/ANSWER]")
        return f"[ANSWER]{ways[number % 5].format(inside)}[/ANSWER]"

    name = f"phrased_{tmp_path.name}"
    baseline(name, about="phrases answers")(phrased)
    kinds = [kind for kind in QUESTIONS if kind not in ("exception", "alias")]
    recordings = [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in (3, 4, 5)]
    results = ask(recordings, kinds, [f"deskcheck/{name}"], out=tmp_path / "run")
    logs: list[Any] = [read_eval_log(str(path)) for path in (tmp_path / "run" / "logs").glob("*.eval")]
    by_question = {log.eval.metadata["question"]: log.results.scores[0].metrics for log in logs}
    found: dict[str, Any] = {result.question: result for result in results if result.n}
    assert set(found) == set(by_question)
    assert len(found) > 10
    assert any(result.lenient.value > result.score for result in found.values())
    for question, result in found.items():
        metrics = {name: metric.value for name, metric in by_question[question].items()}
        assert metrics["mean"] == pytest.approx(result.score), question
        assert metrics["lenient"] == pytest.approx(result.lenient.value), question
        assert metrics["unreadable"] == pytest.approx(result.unreadable / result.n), question
    write_questions(tmp_path / "questions.jsonl", recordings, kinds)
    write_tasks(tmp_path / "questions.jsonl", tmp_path / "tasks")
    docs = {doc["id"]: doc for path in (tmp_path / "tasks").glob("*.jsonl") for doc in documents(path)}
    for result in found.values():
        for row in result.samples if result.question != "input" else ():
            scored = score(docs[row.id], [row.completion])
            assert (scored["score"], scored["lenient"]) == (row.score, row.lenient), row.id
