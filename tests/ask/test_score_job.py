"""Answers that were given elsewhere: the scores of `ask`, in shards, whatever stands in the files."""

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from deskcheck.ask import AskSettings, NotebookOptions, Sample, Sampling, ask, effects, score_answer
from deskcheck.ask import job as scoring
from deskcheck.ask.job import MEASURED, AnswerStatus, OfflineScores, score_in_shards
from deskcheck.ask.offline.harness import write_tasks
from deskcheck.ask.questions.lines import LINE_BYTES, Questions, sample_in, write_questions
from deskcheck.ask.results.logs import read_logs
from deskcheck.ask.results.offline_scores import NOT_ANSWERED
from deskcheck.ask.results.results import Result
from deskcheck.ask.results.tables import utf8
from deskcheck.ask.scoring import sandbox as answers_run
from deskcheck.ask.settings import ScoreSettings
from deskcheck.cli import app
from deskcheck.jobs import JobSummary, LocalPool
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.plan import read_plan
from deskcheck.jobs.status import status
from deskcheck.recording import InputError, Mode, Program, Recording
from deskcheck.sandbox.confinement import Confinement
from tests.ask.conftest import OF_RETURNS
from tests.ask.test_notebooks import ANALYSIS, run
from tests.conftest import skip_without_ray
from tests.jobs.jobs import KILL_THE_WORKER
from tests.sample import spread

Record = Callable[..., Recording]
ROOT = Path(__file__).parents[2]
CODE = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i * i\n    return total\n"
OTHER = "def g(words):\n    return [word.upper() for word in words if word]\n"


@pytest.fixture(scope="module")
def recordings(record: Record) -> list[Recording]:
    squares = [record(CODE, "f", f"({n},)", id=f"squares/{n}") for n in range(3, 6)]
    return [*squares, record(OTHER, "g", "(['a', ''],)", id="upper"), record("print('a b')\n", id="prints")]


@pytest.fixture(scope="module")
def questions(recordings: list[Recording], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "questions.jsonl"
    write_questions(path, recordings, OF_RETURNS)
    return path


def samples_of(path: Path) -> dict[str, Sample]:
    found = [sample_in(line) for line in path.read_bytes().splitlines()]
    return {sample.id: sample for sample in found}


def said(answer: object) -> str:
    return f"Let me see.\n[ANSWER]{answer}[/ANSWER]\n"


def write(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def scored(
    questions: Path,
    answers: list[Path],
    out: Path,
    *,
    size: int = 3,
    workers: int = 1,
    replace: bool = False,
    **settings: Any,
) -> tuple[list[dict[str, Any]], OfflineScores, JobSummary]:
    chosen = ScoreSettings(**settings)
    found, done = score_in_shards(
        questions, answers, out, chosen, runner=LocalPool(workers), size=size, replace=replace
    )
    return rows_of(out), found, done


def command(*arguments: object) -> Any:
    """`deskcheck offline score`, in this process."""
    return CliRunner().invoke(app, ["offline", "score", *map(str, arguments)])


def rows_of(out: Path) -> list[dict[str, Any]]:
    """In the order of the plan, which is that of the lines."""
    place = JobFolder(out)
    return [
        row
        for shard in read_plan(place).shards
        for row in pq.read_table(place.file("scores", shard.name)).to_pylist()
    ]


def same_as_asked(results: list[Result], rows: list[dict[str, Any]], found: OfflineScores) -> None:
    """Row for row, and score for score with its interval."""
    of_ask = {(row.id, row.model): row for result in results for row in result.samples}
    of_score = {(row["id"], row["model"]): row for row in rows}
    assert of_ask.keys() == of_score.keys()
    assert len(rows) == len(of_score)
    for key, theirs in of_ask.items():
        for name in ("score", "answer", "reason", "question", "program", "cluster", *MEASURED):
            assert of_score[key][name] == utf8(getattr(theirs, name)), (key, name)
        assert (of_score[key]["status"], of_score[key]["attempt"]) == ("scored", 1)
    scores = {(score.question, score.model): score for score in found.scores}
    assert scores.keys() == {(r.question, r.model) for r in results}
    for result in results:
        score = scores[result.question, result.model]
        for name in ("n", "programs", "cut", "empty", "refused", "unreadable"):
            assert getattr(score, name) == getattr(result, name)
        for name in ("score", "low", "high", "effective"):
            assert getattr(score, name) == pytest.approx(getattr(result, name), abs=1e-12)
        assert score.metrics.keys() == result.metrics.keys()
        for name, interval in result.metrics.items():
            for field, value in asdict(interval).items():
                assert getattr(score.metrics[name], field) == pytest.approx(value, abs=1e-12), (name, field)


@pytest.mark.slow
@pytest.mark.level("strict")
def test_scores_are_those_of_ask(recordings: list[Recording], questions: Path, tmp_path: Path) -> None:
    """Completions of the oracle, of one with faults and of a guess, out of the log of `ask`, are scored as it scored
    them, answers to `input` by running; and so are the scores and their intervals."""
    pytest.importorskip("inspect_ai", reason="would have proved that `score` and `ask` score alike")
    models = [f"deskcheck/{name}" for name in ("oracle", "guess", "erring")]
    settings = AskSettings(model_args={"rate": 0.5})
    results = ask(recordings, OF_RETURNS, models, out=tmp_path / "run", settings=settings)
    asked = [row for result in results for row in result.samples]
    given = [{"id": row.id, "completion": row.completion, "model": row.model} for row in reversed(asked)]
    for model in models:
        path = write(tmp_path / "a.jsonl", [row for row in given if row["model"] == model])
        rows, scores, _ = scored(questions, [path], tmp_path / "scores" / model, size=50)
        same_as_asked([result for result in results if result.model == model], rows, scores)
        assert {row["score"] for row in rows} == ({1.0} if model == models[0] else {0.0, 1.0})


@pytest.mark.parametrize("samples", spread([True, False], 2))
def test_scores_can_be_reported(questions: Path, tmp_path: Path, samples: bool) -> None:
    """`report` has the scores and intervals of `offline score`: what is not answered counts as wrong there, too."""
    asked = {id_: sample for id_, sample in samples_of(questions).items() if sample.question != "input"}
    rows = map(json.loads, questions.read_text().splitlines())
    path = write(tmp_path / "questions.jsonl", [row for row in rows if row["question"] != "input"])
    given = [
        {"id": id_, "completion": said(sample.answer if (at + k) % 3 else 7), "model": model}
        for model, count in (("one", 2), (None, 1))
        for at, (id_, sample) in enumerate([*asked.items()][:-count])
        for k in range(count if samples else 1)
    ]
    given[3]["completion"] = "I do not know"
    given.append({"id": "nobody's", "completion": said(1), "model": "one"})
    _, scores, _ = scored(path, [write(tmp_path / "a.jsonl", given)], tmp_path / "out", samples=samples)
    logs = read_logs([tmp_path / "out"])
    results = {(r.question, r.model): r for r in logs.results}
    assert len(results) == len(scores.scores)
    assert len(logs.notes) == sum(score.unanswered > 0 for score in scores.scores)
    for score in scores.scores:
        result = results[score.question, score.model or "(no name)"]
        for name in ("n", "programs", "cut", "empty", "refused", "unreadable"):
            assert getattr(score, name) == getattr(result, name), (score.question, name)
        for name in ("score", "low", "high", "effective"):
            assert getattr(score, name) == pytest.approx(getattr(result, name), abs=1e-12)
        assert sum(row.reading == NOT_ANSWERED for row in result.samples) == score.unanswered
        if score.unanswered == 0:
            assert score.metrics.keys() == result.metrics.keys()
            assert score.attempts.keys() == result.attempts.keys()
    assert sum(score.unanswered for score in scores.scores) > 0

    read_logs([tmp_path])  # a folder above does, too
    (moved := tmp_path / "moved").mkdir()  # its questions may go with it
    path.rename(moved / path.name)
    (tmp_path / "out").rename(moved / "out")
    assert len(read_logs([moved / "out"]).results) == len(results)
    (moved / path.name).rename(path)
    (moved / "out").rename(tmp_path / "out")
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="are missing"):
        read_logs([tmp_path / "out"])
    lines = (tmp_path / "elsewhere").read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    with pytest.raises(InputError, match="has other questions"):
        read_logs([tmp_path / "out"])
    (tmp_path / "out" / "questions.json").unlink()
    with pytest.raises(InputError, match="are incomplete"):
        read_logs([tmp_path / "out"])


@pytest.mark.slow
def test_cells_are_scored_as_by_ask(tmp_path: Path) -> None:
    """Questions about notebooks have all metrics of `ask`, in a view of the state."""
    pytest.importorskip("inspect_ai", reason="would have proved that `score` and `ask` score alike")
    run(tmp_path, "analysis", ANALYSIS)
    kinds = ["cell_output", "next_cell"]
    options = NotebookOptions(state=("used",))
    results = ask(
        [tmp_path],
        kinds,
        ["deskcheck/copy", "deskcheck/guess"],
        out=tmp_path / "run",
        settings=AskSettings(notebooks=options),
    )
    write_questions(tmp_path / "q.jsonl", tmp_path, kinds, notebooks=options)
    for model in ("deskcheck/copy", "deskcheck/guess"):
        mine = [result for result in results if result.model == model]
        answered = [row for result in mine for row in result.samples]
        given = [{"id": row.id, "completion": row.completion, "model": row.model} for row in answered]
        path = write(tmp_path / "a.jsonl", given)
        rows, scores, _ = scored(tmp_path / "q.jsonl", [path], tmp_path / "scores" / model)
        same_as_asked(mine, rows, scores)
        assert {row["by_value"] is None for row in rows if row["question"] == "cell_output"} == {False}


def test_several_views_go_into_one_file(tmp_path: Path) -> None:
    """The same questions are drawn in each view. Each view has its score, and the report the paired effect of the
    state; a task of lm-evaluation-harness asks in one view."""
    run(tmp_path, "analysis", ANALYSIS)
    options = NotebookOptions(state=("none", "used"))
    path, sampling = tmp_path / "two.jsonl", Sampling(limit=3)
    written, excluded = write_questions(path, tmp_path, ["cell_output"], notebooks=options, sampling=sampling)
    asked = [*samples_of(path).values()]
    ids = {view: [s.id_in_all_views for s in asked if s.view == view] for view in options.state}
    assert written == {"cell_output": 6}
    assert ids["none"] == ids["used"]
    assert {s.id for s in asked} == {f"{id_}:{view}" for view in options.state for id_ in ids[view]}
    alone = NotebookOptions(state=("used",))
    single = tmp_path / "one.jsonl"
    counts = write_questions(single, tmp_path, ["cell_output"], notebooks=alone, sampling=sampling)
    assert counts == ({"cell_output": 3}, excluded)
    assert [s.id for s in samples_of(single).values()] == ids["used"]
    assert [s.prompt for s in samples_of(single).values()] == [s.prompt for s in asked if s.view == "used"]

    right = [s for s in asked if s.view == "used" or s.id_in_all_views == ids["none"][0]]
    given = [{"id": s.id, "completion": said(s.answer if s in right else "no"), "model": "m"} for s in asked]
    rows, scores, _ = scored(path, [write(tmp_path / "a.jsonl", given)], tmp_path / "out")
    assert [row["state"] for row in rows] == [s.view for s in asked]
    assert {score.state: (score.n, score.score) for score in scores.scores} == {
        "none": (3, pytest.approx(1 / 3)),
        "used": (3, 1.0),
    }
    results = read_logs([tmp_path / "out"]).results
    (effect, *_) = [each for each in effects(results) if each.metric == "score"] or effects(results)
    assert (effect.state, effect.against, effect.n) == ("used", "none", 3)
    tasks, _ = write_tasks(path, tmp_path / "tasks")
    assert tasks == {"cell_output_none": 3, "cell_output_used": 3}


HOSTILE = [
    "",
    "no answer",
    "[ANSWER]" * 50_000,
    said("x" * 3_000_000),
    said("[" * 100_000),
    said("-" * 19_000 + "77"),
    said("(" * 90 + ")" * 90),
    said("__import__('os')._exit(3)"),
    said("__import__('os').kill(1, 9)"),
    said("\udfff\ud800"),
    said("\x00\x1b[2J\u2028"),
    said("9" * 5000),
    said("1e999999"),
    said("(lambda: 0)()"),
    said("{[]: 1}"),
    said('"' * 1001),
]


def test_no_completion_is_too_hostile(questions: Path, tmp_path: Path) -> None:
    """To every kind of question each is a row that is wrong, as `score` has it; the row that comes after is right."""
    first = {sample.question: sample for sample in samples_of(questions).values()}
    given = [(sample, text) for sample in first.values() for text in [*HOSTILE, said(sample.answer)]]
    path = write(tmp_path / "a.jsonl", [{"id": sample.id, "completion": text} for sample, text in given])
    rows, scores, done = scored(
        questions, [path], tmp_path / "out", size=40, samples=True, sandbox=Confinement.TRUSTED
    )
    assert scores.statuses == {"scored": len(given)}
    assert not done.tried_again
    with closing(answers_run.for_many(Confinement.TRUSTED)) as sandbox:
        right = [score_answer(sample, text, run=sandbox.run_one) for sample, text in given]
    for row, (sample, text), should in zip(rows, given, right, strict=True):
        assert (row["id"], row["score"], row["reason"]) == (sample.id, should.score, utf8(should.reason))
        assert row["answer"] == utf8(should.answer)
        assert row["score"] == (text == said(sample.answer)), (sample.question, text[:50])


def some(questions: Path, path: Path) -> Path:
    """Several answers to some questions, right and wrong, of two models, not in the order of the questions."""
    rows = []
    for number, sample in enumerate(reversed([*samples_of(questions).values()])):
        if sample.question != "input":
            rows.append({"id": sample.id, "completion": said(sample.answer), "model": "a", "logprob": number})
            rows.append({"id": sample.id, "completion": said("nothing"), "model": "b"})
    return write(path, rows[::2] + rows[1::2])


@pytest.mark.slow
def test_in_shards_of_any_size(questions: Path, tmp_path: Path) -> None:
    """The rows are the same, in the order of the lines, with attempts numbered and other keys kept. Again does
    nothing; one shard less is made again, byte for byte; answers added at the end make what they change."""
    path = some(questions, tmp_path / "a.jsonl")
    rows, scores, done = scored(questions, [path], tmp_path / "many", size=2, workers=2)
    assert done.totals.shards > 5
    whole, marks_whole, _ = scored(questions, [path], tmp_path / "one", size=1000)
    assert rows == whole
    assert scores == marks_whole
    given = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["id"], row["model"]) for row in rows] == [(row["id"], row["model"]) for row in given]
    assert [row["attempt"] for row in rows] == [1 if row["model"] == "a" else 2 for row in rows]
    assert [json.loads(row["extra"] or "{}").get("logprob") for row in rows] == [
        row.get("logprob") for row in given
    ]
    assert {row["score"] for row in rows if row["model"] == "a"} == {1.0}
    assert {row["score"] for row in rows if row["model"] == "b"} == {0.0}
    assert [s.model for s in scores.scores if s.question == "path"] == ["a", "b"]
    left = {file.name.partition("-")[0] for file in (tmp_path / "many").iterdir()}
    assert left == {"scores", "questions.json", "job.json", "manifest.jsonl"}
    told = status(tmp_path / "many")
    assert (told.kind, told.whole) == ("score", True)
    assert told.totals.by_outcome == {"right": len(rows) // 2, "wrong": len(rows) // 2}

    lost = sorted((tmp_path / "many").glob("scores-*"))[1]
    before = lost.read_bytes()
    count = pq.read_metadata(lost).num_rows
    lost.unlink()
    again, marks_again, done = scored(questions, [path], tmp_path / "many", size=2)
    assert (done.recorded, done.skipped) == (count, len(rows) - count)
    assert (again, marks_again, lost.read_bytes()) == (rows, scores, before)

    more = write(tmp_path / "b.jsonl", given[:1])
    with pytest.raises(InputError, match=r"has 1 shards that are not in this plan.*--replace"):
        scored(questions, [path, more], tmp_path / "one", size=1000, samples=True)
    longer, _, _ = scored(questions, [path, more], tmp_path / "one", size=1000, replace=True, samples=True)
    assert (longer[:-1], longer[-1]["attempt"]) == (rows, 3)


UNKNOWN = "no question has the id"


def test_every_line_gives_a_row(questions: Path, tmp_path: Path) -> None:
    """Lines that hold no answer say so with file and line; none of them costs another line its score, and none is in
    the score. The command ends with status 1."""
    sample = next(s for s in samples_of(questions).values() if s.question == "output")

    def line(**fields: Any) -> bytes:
        return json.dumps({"id": sample.id, **fields}).encode()

    right = line(completion=said(sample.answer))
    lines = [
        (right, "scored", ""),
        (b'{"id": "x', "damaged", "line 2: is not JSON at column "),
        (b"[" * 200_000, "damaged", "line 3: is nested too deeply"),
        (b"[1]", "damaged", "line 4: is not a JSON object"),
        (b'{"id": 7, "completion": ""}', "damaged", 'line 5: has no "id" that is text'),
        (line(completion=["x"]), "damaged", 'line 6: its "completion" is not text'),
        (b'{"id": "\xff"}', "damaged", "line 7: is not UTF-8"),
        (b'{"n": ' + b"9" * 5000 + b"}", "damaged", "line 8: has a whole number of more than"),
        (b'{"id": "who?", "completion": "x"}', "unknown_question", f"line 9: {UNKNOWN} 'who?'"),
        (b'{"id": "\\ud800"}', "unknown_question", f"line 10: {UNKNOWN} '\\ud800'"),
        (line(completion=None), "no_completion", "line 11: has no completion"),
        (line(), "no_completion", "line 12: has no completion"),
        (b'{"id": "' + b"x" * LINE_BYTES + b'"}', "damaged", "line 13: is longer than"),
        (b" ", "empty", "line 14: is empty"),
        (b"", "empty", "line 15: is empty"),
        (right + b"\r", "scored", ""),
        (right, "scored", ""),
    ]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"\n".join(line for line, _, _ in lines))
    rows, scores, done = scored(questions, [path], tmp_path / "out", size=4, samples=True)
    for row, (_, said_status, why) in zip(rows, lines, strict=True):
        assert row["status"] == said_status
        assert row["score"] == (1.0 if said_status == "scored" else None)
        start = f"{path} {why}" if why else ""
        assert row["reason"].startswith(start) if why else row["reason"] == ""
    assert [row["attempt"] for row in rows if row["attempt"]] == [1, 2, 3, 4, 5]
    counted = {s.question: (s.n, s.unanswered, s.answers, s.score) for s in scores.scores}
    assert counted["output"] == (5, 4, 3, 1 / 5)
    assert len(scores.not_used) == 14
    assert done.totals.by_outcome == {
        "right": 3, "damaged": 8, "unknown_question": 2, "no_completion": 2, "empty": 2,
    }  # fmt: skip
    assert done.totals.programs == len(lines)
    ran = command(questions, path, "--out", tmp_path / "out", "--shards", 4, "--samples")
    assert ran.exit_code == 1, ran.output
    assert "not scored: 8 damaged, 2 empty, 2 no completion, 2 unknown question" in ran.stdout
    assert "and more" in ran.stdout


def outputs(questions: Path) -> list[Sample]:
    return [sample for sample in samples_of(questions).values() if sample.question == "output"]


def test_the_denominator_is_the_questions(questions: Path, tmp_path: Path) -> None:
    """What is not answered is wrong, for each model by itself, and is said; a line without a completion is no answer."""
    asked = outputs(questions)
    rows: list[dict[str, Any]] = [{"id": asked[0].id, "completion": said(asked[0].answer), "model": "a"}]
    rows += [{"id": sample.id, "completion": said(sample.answer), "model": "b"} for sample in asked[:3]]
    rows += [{"id": asked[4].id, "completion": None, "model": "b"}]
    path = write(tmp_path / "a.jsonl", rows)
    _, found, _ = scored(questions, [path], tmp_path / "out")
    scores = {(s.question, s.model): s for s in found.scores}
    n = len(asked)
    assert n == 5
    assert [(scores["output", m].n, scores["output", m].unanswered) for m in "ab"] == [(5, 4), (5, 2)]
    assert [scores["output", m].score for m in "ab"] == [1 / 5, 3 / 5]
    assert scores["output", "a"].programs == 3
    path_score = scores["path", "a"]
    assert path_score.score == path_score.answers == 0
    assert path_score.unanswered == path_score.n
    ran = command(questions, path, "--out", tmp_path / "again")
    assert ran.exit_code == 1, "a line has no completion"
    assert "output: 4 of 5 questions are not answered by a; they count as wrong" in ran.stdout


def test_two_answers_of_a_model_are_samples_or_an_error(questions: Path, tmp_path: Path) -> None:
    """Refused with the place of the second; as samples their mean counts, so that no question weighs more."""
    first, second, *_ = outputs(questions)
    rows = [{"id": first.id, "completion": said(first.answer)}] * 3
    rows += [
        {"id": first.id, "completion": said("nothing")},
        {"id": second.id, "completion": said("nothing")},
    ]
    path = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(InputError, match=r"a\.jsonl line 2: is a second answer to '.*'\. Remove .*--samples"):
        scored(questions, [path], tmp_path / "out")
    both = [write(tmp_path / name, rows[:1]) for name in ("c.jsonl", "b.jsonl")]
    with pytest.raises(InputError, match=r"b\.jsonl line 1: is a second answer"):
        scored(questions, both, tmp_path)
    for size in (2, 100):
        _, scores, _ = scored(questions, [path], tmp_path / str(size), size=size, samples=True)
        (score,) = (s for s in scores.scores if s.question == "output")
        assert (score.n, score.unanswered, score.answers) == (5, 3, 5)
        assert score.score == pytest.approx(0.75 / 5)


def test_why_a_completion_ended_is_read_from_its_line(questions: Path, tmp_path: Path) -> None:
    """In the words of OpenAI, vLLM and Anthropic: one that was cut has no answer; one that a stop word ended has."""
    asked = outputs(questions)
    whole = [f"[ANSWER]{sample.answer}" for sample in asked]
    told: list[dict[str, Any]] = [
        {"finish_reason": "length"},
        {"finish_reason": "stop", "stop_reason": "[/ANSWER]"},
        {"stop_reason": "[/ANSWER]"},
        {"stop_reason": "max_tokens"},
        {},
    ]
    rows = [
        {"id": sample.id, "completion": text, **more}
        for sample, text, more in zip(asked, whole, told, strict=True)
    ]
    found, scores, _ = scored(questions, [write(tmp_path / "a.jsonl", rows)], tmp_path / "out")
    assert [(row["score"], row["reading"], row["stop_reason"]) for row in found] == [
        (0.0, "cut", "length"),
        (1.0, "answered", "[/ANSWER]"),
        (1.0, "answered", "[/ANSWER]"),
        (0.0, "cut", "max_tokens"),
        (0.0, "unreadable", None),
    ]
    (score,) = (s for s in scores.scores if s.question == "output")
    assert (score.cut, score.empty, score.refused, score.unreadable, score.score) == (2, 0, 0, 1, 2 / 5)


def test_wrong_files_are_refused(questions: Path, tmp_path: Path) -> None:
    """With their place, before anything is scored."""
    answers = write(tmp_path / "a.jsonl", [{"id": "x", "completion": "y"}])
    first, second = questions.read_text().splitlines()[:2]
    for text, said_why in (
        (f"{first}\n\n{second}\n{first}\n", r"q\.jsonl: lines 1 and 4 have the id '.*:output'"),
        (f"{first}\n{{}}\n", r"q\.jsonl line 2: is not a question that .*: 'id'"),
        (f"{first}\n{second[:-3]}\n", r"q\.jsonl line 2: is not JSON"),
        ("\n", r"q\.jsonl: has no questions"),
    ):
        (tmp_path / "q.jsonl").write_text(text)
        with pytest.raises(InputError, match=said_why):
            scored(tmp_path / "q.jsonl", [answers], tmp_path / "out")
    for paths, said_why in (
        ([tmp_path / "no.jsonl"], r"no\.jsonl: no such file"),
        ([tmp_path], "is not a file"),
        ([write(tmp_path / "empty.jsonl", [])], r"empty\.jsonl: no answers"),
    ):
        with pytest.raises(InputError, match=said_why):
            scored(questions, paths, tmp_path / "out")
    assert not list(tmp_path.glob("out/*.parquet"))
    with pytest.raises(InputError, match=r"no questions: 1 it is not a call"):
        write_questions(tmp_path / "none.jsonl", [_printing()], ["input"])
    with pytest.raises(InputError, match="cannot be written"):
        write_questions(tmp_path / "no" / "q.jsonl", [_printing()], ["output"])
    with pytest.raises(InputError, match="unknown question 'outputs'"):
        write_questions(tmp_path / "none.jsonl", [_printing()], ["outputs"])
    assert not list(tmp_path.glob("*none*"))


def _printing() -> Recording:
    from tests.ask.conftest import record_here

    return record_here(Program(id="p", code="print(1)\n"))


def test_files_that_change_meanwhile_are_refused(questions: Path, tmp_path: Path) -> None:
    """A worker sees that the line is another than was planned."""
    path = some(questions, tmp_path / "a.jsonl")

    class Late(LocalPool):
        def submit(self, number: int, task: dict[str, Any]) -> None:
            path.write_text(path.read_text().replace("nothing", "another"))
            super().submit(number, task)

    with pytest.raises(InputError, match=r"a\.jsonl: was changed while the job ran"):
        score_in_shards(questions, [path], tmp_path / "out", runner=Late(1), size=1000)


KILLS_THE_SANDBOX = """\
import os

def f(n):
    if n == 9:
        os.kill(os.getppid(), 9)
        os._exit(0)
    return n
"""


def deadly(code: str, name: str) -> dict[str, Any]:
    """A question whose function ends something if it is called with 9."""
    return run_question(code, name).to_dict()


def run_question(code: str, name: str, expected: str = "1") -> Sample:
    """A question whose right answers are the arguments with which `f` gives `expected`."""
    program = Program(id=name, code=code, mode=Mode.CALL, entry="f", arguments="(1,)")
    data = {"form": "arguments", "strict": True, "program": program.to_dict(), "entry": "f", "sources": []}
    parts = {"question": "for what n?"}
    names = {"id": f"{name}:input", "question": "input", "program": name, "cluster": name}
    return Sample(**names, parts=parts, answer="f(1)", data={**data, "expected": expected})


@pytest.mark.exhaustive
def test_what_kills_the_worker_stands_alone(questions: Path, tmp_path: Path) -> None:
    """Unconfined, an answer whose run kills the process that scores it, and one whose run kills the sandbox's: each has
    no score, says how it was and is named; all others are scored as without them. The command ends with status 2."""
    lines = KILL_THE_WORKER.replace(
        "def f(number):\n", "def f(number):\n    if number != 9:\n        return number\n"
    )
    both = [deadly(lines, "worker"), deadly(KILLS_THE_SANDBOX, "sandbox")]
    asked = tmp_path / "q.jsonl"
    asked.write_text(questions.read_text() + "".join(json.dumps(row) + "\n" for row in both))
    others = [json.loads(line) for line in some(questions, tmp_path / "a.jsonl").read_text().splitlines()[:2]]
    tried = [{"id": row["id"], "completion": said(f"f({n})")} for row in both for n in (1, 9, 2)]
    path = write(tmp_path / "a.jsonl", others[:1] + tried + others[1:])
    options = ("--sandbox", "trusted", "--workers", 1, "--shards", 20, "--samples")
    ran = command(asked, path, "--out", tmp_path / "out", *options)
    assert ran.exit_code == 2, ran.output
    rows = rows_of(tmp_path / "out")
    tested = [(row["id"], row["status"], row["score"]) for row in rows[1:-1]]
    assert tested == [
        ("worker:input", "scored", 1.0),
        ("worker:input", "harness_error", None),
        ("worker:input", "scored", 0.0),
        ("sandbox:input", "scored", 1.0),
        ("sandbox:input", "harness_error", None),
        ("sandbox:input", "scored", 0.0),
    ]
    assert "killed by SIGKILL (3 times)" in rows[2]["reason"]
    assert "the sandbox failed: " in rows[5]["reason"]
    assert "failures of deskcheck: 2" in ran.stdout
    assert "worker:input#2: the process that had it ended 3 times" in ran.stdout
    reasons = [dict(result.excluded) for result in read_logs([tmp_path / "out"]).results]
    assert sum(why.get("an answer could not be scored", 0) for why in reasons) == 2
    without, _, _ = scored(asked, [write(tmp_path / "b.jsonl", others)], tmp_path / "without")
    assert rows[:1] + rows[-1:] == without
    told = CliRunner().invoke(app, ["runs", "status", str(tmp_path / "out"), "--failures", "--verify"]).stdout
    assert "8 answers in 1 shards are planned" in told
    assert "harness_error: 2" in told
    assert "all files match the manifest" in told


def test_files_are_read_as_streams(questions: Path, tmp_path: Path) -> None:
    """Of 2,000 questions the index holds less than 50 bytes of each; planning 10 MB of answers to them takes a small
    part of that."""
    sample = json.loads(questions.read_text().splitlines()[0])
    asked = write(tmp_path / "q.jsonl", ({**sample, "id": f"q{n}"} for n in range(2000)))
    path = write(
        tmp_path / "a.jsonl",
        ({"id": f"q{(n * 37) % 2000}", "completion": "x" * 2000} for n in range(5000)),
    )
    known = Questions(asked)
    held = [known.offsets, known._keys, known._order]
    size = sum(len(each) * each.itemsize for each in held) + len(known._digests)
    assert size < 50 * len(known) == 100_000
    assert known.find("q77") == 77
    assert known.find("q") is None
    tracemalloc.start()
    try:
        count = sum(1 for _ in scoring._items(known, [path], samples=True))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 5000
    assert peak < 500_000 < path.stat().st_size / 15


@pytest.mark.exhaustive
@pytest.mark.usefixtures("one_ray_at_a_time")
@pytest.mark.skipif(
    find_spec("ray") is None,
    reason="needs the extra [scale]: would have proved that Ray scores as the pool does",
)
def test_on_ray(questions: Path, tmp_path: Path) -> None:
    """`deskcheck offline score --on ray` gives the rows that the pool gives, which finds nothing to do in its folder."""
    path = some(questions, tmp_path / "a.jsonl")
    rows, scores, _ = scored(questions, [path], tmp_path / "pool", size=8)
    arguments = [questions, path, "--on", "ray", "--shards", 8, "--out", tmp_path / "ray", "--json"]
    python_path = os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)])
    ran = subprocess.run(
        [sys.executable, "-m", "deskcheck", "offline", "score", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": python_path, "RAY_ADDRESS": "local"},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    skip_without_ray(ran.stderr, "Ray scores as the pool does")
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout)
    assert (told["scores"], told["statuses"]) == (
        scores.to_dict()["scores"],
        {AnswerStatus.SCORED: len(rows)},
    )
    assert rows_of(tmp_path / "ray") == rows
    _, _, done = scored(questions, [path], tmp_path / "ray", size=8)
    assert (done.recorded, done.skipped) == (0, len(rows))
