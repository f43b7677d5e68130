"""Reports of what other programs asked: any task of Inspect AI, samples of lm-evaluation-harness."""

import json
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.results.harness_logs import runs_in_samples
from deskcheck.ask.results.inspect_logs import _last_solver
from deskcheck.ask.results.logs import Logs, read_logs
from deskcheck.ask.results.results import Result, result_of
from deskcheck.recording import InputError
from deskcheck.view.report.comparing import consistency_sheet, leaderboard_sheet
from deskcheck.view.report.report import report_of
from deskcheck.view.report.sheets import Sheet
from tests.ask.rows import DATE, row_of, samples_file
from tests.command import deskcheck as command_line


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks by two models, with scorers of every kind: words, numbers, several values, text."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that any log is read")
    from inspect_ai import Epochs, Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelAPI, ModelOutput, modelapi
    from inspect_ai.scorer import Score, accuracy, includes, mean, scorer
    from inspect_ai.solver import chain_of_thought, generate

    @modelapi(name="said")
    class Said(ModelAPI):
        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
            number = int(input[-1].text.partition(" ")[0])
            right = number % 2 == 0 or self.model_name == "good"
            return ModelOutput.from_content(self.model_name, "yes, so it is" if right else "never")

    @scorer(metrics={"kind": [mean()], "tone": [mean()]})
    def parts() -> Any:
        async def score(state: Any, target: Any) -> Score:
            return Score(value={"kind": state.sample_id != 1, "tone": 0.25}, answer="parts")

        return score

    @scorer(metrics=[accuracy()])
    def grade() -> Any:
        async def score(state: Any, target: Any) -> Score:
            return Score(value="P" if state.sample_id == 1 else "I")

        return score

    @scorer(metrics=[])
    def opinion() -> Any:
        async def score(state: Any, target: Any) -> Score:
            return Score(value="rather good" if state.sample_id == 1 else 7)

        return score

    samples = [
        Sample(
            input=f"{n} is?", target="yes", id=n, metadata={"problem": f"p{n // 2}", "when": f"2024-0{n}-01"}
        )
        for n in range(1, 7)
    ]
    folder = tmp_path_factory.mktemp("logs")
    tasks = [
        Task(name="plain", dataset=samples, solver=generate(), scorer=includes()),
        Task(
            name="several",
            dataset=samples,
            solver=[chain_of_thought(), generate()],
            scorer=[includes(), parts(), grade(), opinion()],
            epochs=Epochs(2, "mean"),
        ),
    ]
    models = ["said/good", "said/poor"]
    logs = eval(tasks, model=models, log_dir=str(folder), display="none", log_level="critical")
    assert {log.status for log in logs} == {"success"}
    return folder


def scored(logs: Logs) -> dict[tuple[str, str], Result]:
    return {(result.question, result.model): result for result in logs.results}


def rows_of(sheet: Sheet) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns."""
    names = [column.name for column in sheet.columns]
    return [dict(zip(names, row, strict=True)) for row in sheet.rows]


@pytest.mark.parametrize(
    ("solver", "passed", "named"),
    [
        ("deskcheck/direct", {}, "direct"),
        ("deskcheck/scratchpad", {"explain": False}, "scratchpad"),
        ("deskcheck/no_such_method", {"trace": True, "rounds": 2}, "no_such_method:trace=true:rounds=2"),
        ("other/solver", {"rounds": 2}, "other/solver"),
    ],
)
def test_a_method_keeps_its_options_where_its_package_is_missing(
    solver: str, passed: dict[str, Any], named: str
) -> None:
    """In the name under which its answers are reported; those of other packages never had them there."""
    log = pytest.importorskip("inspect_ai.log", reason="no deskcheck[ask]: would show how methods are named")
    assert _last_solver([log.EvalPlanStep(solver=solver, params=passed, params_passed=passed)]) == named


def test_scores_are_those_of_inspect(inspect_logs: Path) -> None:
    """Every scorer and every part of it, over all epochs; each is the mean that Inspect itself gives."""
    from inspect_ai.log import read_eval_log

    found = scored(read_logs([inspect_logs]))
    known = {}
    for path in inspect_logs.glob("*.eval"):
        log = read_eval_log(str(path))
        assert log.results is not None
        several = len({score.scorer for score in log.results.scores}) > 1
        for score in log.results.scores:
            named = [
                log.eval.task,
                score.scorer if several else "",
                score.name if score.scorer == "parts" else "",
            ]
            metric = score.metrics.get("accuracy") or score.metrics.get("mean")
            if metric is not None:
                known["/".join(filter(None, named)), log.eval.model] = metric.value
    assert len(known) == 10
    assert {key: result.score for key, result in found.items()} == pytest.approx(known)
    result = found["several/includes", "said/poor"]
    assert (result.solver, result.n, result.epochs, result.programs) == ("chain_of_thought", 6, 2, 6)
    assert {row.expected for row in result.samples} == {"yes"}
    assert {row.completion for row in result.samples} == {"yes, so it is", "never"}
    assert found["several/parts/tone", "said/good"].samples[0].answer == "parts"


def test_what_is_left_out_is_said(inspect_logs: Path) -> None:
    """Values that are not scores, as notes; what an answer took is counted once, by however many it is scored."""
    logs = read_logs([inspect_logs])
    odd = [note for note in logs.notes if "several/opinion" in note]
    assert len(odd) == 2
    assert all("12 values" in note for note in odd)
    used = [result for result in logs.results if result.usage and result.question.startswith("several")]
    assert len(used) == 2


def test_samples_that_belong_together_are_clusters(inspect_logs: Path) -> None:
    """By a field of their metadata; a field that there is not is an error that names those there are."""
    result = scored(read_logs([inspect_logs], cluster="problem"))["plain", "said/poor"]
    assert (result.n, result.programs) == (6, 4)
    with pytest.raises(InputError, match=r"has no 'topic': it has problem, when"):
        read_logs([inspect_logs], cluster="topic")


def test_a_report_of_other_tasks(inspect_logs: Path, tmp_path: Path) -> None:
    """Leaderboard, differences with Holm's p, slices by a date and by a text, what a difference would take."""
    page = tmp_path / "report.html"
    options = ("--by", "when", "--by", "problem", "--power", "0.1", "--out", page, "--json")
    done = command_line("report", inspect_logs, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "said/good" in page.read_text()
    report = report_of(read_logs([inspect_logs]), fields=["when", "problem"], difference=0.1)
    sheets = {sheet.name: sheet for sheet in report.sheets}
    board = sheets["leaderboard"]
    assert [row[0] for row in board.rows] == ["said/good", "said/poor"]
    assert [column.name for column in board.columns[:3]] == ["model", "mean", "plain"]
    (plain,) = (row for row in rows_of(sheets["models"]) if row["question"] == "plain")
    assert (plain["minus"], plain["model"], plain["difference"]) == ("said/good", "said/poor", -0.5)
    assert (plain["p"], plain["p, Holm"]) == (0.25, 1.0)
    slices = [
        row for row in rows_of(sheets["slices"]) if (row["question"], row["model"]) == ("plain", "said/poor")
    ]
    assert [row["is"] for row in slices] == [*(f"2024-0{n}" for n in range(1, 7)), "p0", "p1", "p2", "p3"]
    assert [row["score"] for row in slices][:4] == [0.0, 1.0, 0.0, 1.0]
    assert sheets["power"].rows
    with pytest.raises(
        InputError, match=r"--by wher: no sample has this field\. The fields are problem, when"
    ):
        report_of(read_logs([inspect_logs]), fields=["wher"])


def harness_row(number: int, kind: str, filter_: str, **metrics: float | list[float]) -> dict[str, Any]:
    """A line as lm-evaluation-harness 0.4 writes it."""
    return {
        "doc_id": number,
        "doc": {"q": f"{number}?", "kind": kind},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"{number}?", "arg_1": {"until": ["\n"]}}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": filter_,
        "metrics": list(metrics),
        "doc_hash": "0",
        "prompt_hash": "0",
        "target_hash": "0",
        **metrics,
    }


def test_samples_of_the_harness(tmp_path: Path) -> None:
    """A question for each metric and filter; the model as its arguments name it; perplexities are left out."""
    rows = [
        harness_row(number, "sum", filter_, exact_match=float(number < 3), word_perplexity=[-1.5, 2])
        for number in range(12)
        for filter_ in ("strict", "loose")
    ]
    told = {
        "config": {"model": "hf", "model_args": "pretrained=some/model,dtype=float16"},
        "higher_is_better": {"arith": {"exact_match": True, "word_perplexity": False}},
    }
    samples_file(tmp_path / "a", "arith", rows, **told)
    logs = read_logs([tmp_path])
    found = scored(logs)
    assert set(found) == {("arith/strict", "some/model"), ("arith/loose", "some/model")}
    result = found["arith/loose", "some/model"]
    assert (result.n, result.score) == (12, 0.25)
    row = result.samples[0]
    assert (row.prompt, row.expected, row.completion, row.answer) == ("0?", "4", "4", "4")
    assert any("24 values of word_perplexity" in note for note in logs.notes)
    assert scored(read_logs([tmp_path], cluster="kind"))["arith/loose", "some/model"].programs == 1
    notes = report_of(logs).facts["notes"]
    assert any("one answer, '4', is right for 12 of 12" in note for note in notes)


def test_samples_of_earlier_versions(tmp_path: Path) -> None:
    """Without the names of metrics and of the filter, and with arguments in lists."""
    rows = [harness_row(number, "sum", "none", acc=1.0, acc_norm=0.0) for number in range(2)]
    for row in rows:
        del row["filter"], row["metrics"]
        row["arguments"] = [["prompt", " a"], ["prompt", " b"]]
        row["resps"] = [[[-1.0, False]], [[-2.0, False]]]
    samples_file(tmp_path / "model", "choose", rows)
    (tmp_path / "model" / f"results_{DATE}.json").unlink()
    found = scored(read_logs([tmp_path]))
    assert {key: result.score for key, result in found.items()} == {
        ("choose/acc", "model"): 1.0,
        ("choose/acc_norm", "model"): 0.0,
    }
    assert found["choose/acc", "model"].samples[0].prompt == "prompt"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]\n", "line 1: is not a JSON object"),
        ('{"doc_id": 1}\n', "line 1: is not a sample of lm-evaluation-harness: it has no 'doc'"),
        (json.dumps(harness_row(0, "sum", "none", acc=1.0)) + "\n{", "line 2: is not JSON at column 2"),
    ],
)
def test_a_damaged_file_of_samples_is_named(tmp_path: Path, text: str, said: str) -> None:
    """With its line."""
    path = samples_file(tmp_path, "arith", [])
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        [*runs_in_samples(path, None, [])]


def test_a_summary_has_no_samples(tmp_path: Path) -> None:
    """Of lm-evaluation-harness, without `--log_samples`."""
    (tmp_path / f"results_{DATE}.json").write_text("{}")
    with pytest.raises(InputError, match=r"has no samples\. Run lm_eval with --log_samples"):
        read_logs([tmp_path / f"results_{DATE}.json"])


def test_answers_about_one_run_go_together() -> None:
    """REval's own example: the first two of four right, in its order, is a quarter; one right after a wrong is 0."""
    rights = {"a": (1, 1, 0, 0), "b": (1, 1, 1, 1), "c": (0, 1, 1, 1), "d": (1, 1, 1, 0), "e": (1, 0, 0, 0)}
    kinds = ("coverage", "state", "next_line", "output")
    results = [
        result_of(
            kind,
            "",
            "x",
            "x",
            tuple(
                row_of(program, float(right[place]), program=program, cluster=program)
                for program, right in rights.items()
            ),
            {},
            Path("run"),
        )
        for place, kind in enumerate(kinds)
    ]
    (row,) = consistency_sheet(results).rows
    assert (row[2], row[8]) == (0.2, 5)
    assert row[5] == pytest.approx((0.25 + 1 + 0 + 0.5 + 0.125) / 5)
    assert consistency_sheet(results[:3]).rows == []
    assert leaderboard_sheet(results).rows == [], "of one model"
