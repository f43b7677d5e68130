"""The report: what is read of runs, what is computed of it, the tables as text, the page in a browser."""

import contextlib
import csv
import io
import itertools
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deskcheck.ask import mean_interval
from deskcheck.ask.results.logs import Logs
from deskcheck.ask.results.results import Result, result_of
from deskcheck.cli.asking import _print_results, _print_sheets
from deskcheck.recording import DeskcheckError, InputError
from deskcheck.view.report.report import report_of
from deskcheck.view.report.sheets import Column, Sheet
from tests.ask.rows import row_of
from tests.sample import examples

SHEET = Sheet(
    name="s",
    title="Scores",
    columns=(Column(name="model_name"), Column(name="score", format=".3f")),
    rows=[("a|b & 50 %_{x}\n<b>", 1 / 3), ("=1+1", None)],
)


def test_a_table_as_markdown() -> None:
    """What would end a cell or begin markup is escaped, a line break is none."""
    assert SHEET.markdown().splitlines() == [
        "| model\\_name | score |",
        "| --- | ---: |",
        "| a\\|b & 50 %\\_{x} \\<b\\> | 0.333 |",
        "| =1+1 | - |",
    ]


def test_a_table_as_latex() -> None:
    """TeX's own characters are text."""
    text = SHEET.latex()
    assert "\\begin{tabular}{lr}" in text
    assert "a|b \\& 50 \\%\\_\\{x\\} <b> & 0.333 \\\\" in text
    assert "model\\_name & score \\\\" in text


def test_a_table_as_csv() -> None:
    """All digits, nothing for what is not known, and no formula for a spreadsheet."""
    rows = list(csv.reader(io.StringIO(SHEET.csv())))
    assert rows == [["model_name", "score"], ["a|b & 50 %_{x}\n<b>", str(1 / 3)], ["'=1+1", ""]]


def test_the_report_says_what_the_runs_said(runs: Mapping[str, Path]) -> None:
    """Scores and intervals are those of the runs; every sample has its length and depth; failures have examples."""
    from deskcheck.ask.results.logs import read_logs
    from deskcheck.view.report.report import report_of

    report = report_of(read_logs([runs["both"], runs["runs"]]), {"deskcheck/guess": (1.0, 2.0)})
    told = json.loads((runs["both"] / "results.json").read_text())["results"]
    told += json.loads((runs["runs"] / "results.json").read_text())["results"]
    keys = ("question", "model", "solver", "n", "programs", "score", "low", "high", "unreadable")
    scores, known = (
        sorted([[row[key] for key in keys] for row in rows], key=str)
        for rows in (report.facts["scores"], told)
    )
    assert scores == known
    assert report.facts["models"] == ["deskcheck/oracle", "deskcheck/guess", "deskcheck/erring"]
    sheets = {sheet.name: sheet for sheet in report.sheets}
    assert {"scores", "models", "methods", "steps", "lengths", "failures", "usage"} <= set(sheets)
    assert "state" not in [column.name for column in sheets["scores"].columns], "no notebook, no view"
    for axis in ("events", "depth"):
        rows = [row for row in report.facts["lengths"] if row["axis"] == axis and row["solver"] == "direct"]
        for score in report.facts["scores"]:
            own = [
                row for row in rows if (row["question"], row["model"]) == (score["question"], score["model"])
            ]
            assert sum(row["n"] for row in own) == (
                score["n"] if score["solver"] == "direct" else sum(row["n"] for row in own)
            )
    deep = [row for row in report.facts["lengths"] if row["axis"] == "depth" and row["range"] == "5 to 9"]
    assert deep, "fib(6) calls itself six deep"
    wrong = [failure for failure in report.facts["failures"] if failure["model"] == "deskcheck/guess"]
    assert wrong
    assert all(0 < len(failure["examples"]) <= failure["count"] <= failure["n"] for failure in wrong)
    texts = {name for failure in wrong for example in failure["examples"] for name, *_ in example["texts"]}
    assert {"question", "right answer", "completion"} <= texts
    assert not [failure for failure in report.facts["failures"] if failure["model"] == "deskcheck/oracle"]
    assert any("not all models were asked the same samples" in note for note in report.facts["notes"])


def test_logs_of_inspect_say_the_same_as_the_tables(runs: Mapping[str, Path], tmp_path: Path) -> None:
    """Without our tables the logs alone give the same scores."""
    from deskcheck.ask.results.logs import read_logs

    for log in runs["both"].rglob("*.eval"):
        (tmp_path / log.name).write_bytes(log.read_bytes())
    known = {(r.question, r.model): (r.n, r.score, r.low) for r in read_logs([runs["both"]]).results}
    assert {(r.question, r.model): (r.n, r.score, r.low) for r in read_logs([tmp_path]).results} == known


def test_what_cannot_be_reported_says_why(runs: Mapping[str, Path], tmp_path: Path) -> None:
    """A folder without a run, nothing at all, a damaged file."""
    from deskcheck.ask.results.logs import read_logs

    with pytest.raises(InputError, match="has no run"):
        read_logs([tmp_path])
    with pytest.raises(InputError, match="no such file"):
        read_logs([tmp_path / "nowhere"])
    (tmp_path / "samples.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"samples\.parquet: cannot be read"):
        read_logs([tmp_path])


def test_ranges_hold_every_length() -> None:
    """Each number lies in the range that is named after it."""
    from deskcheck.view.report.slicing import DEPTHS, LENGTHS, range_of

    assert [range_of(value, LENGTHS)[1] for value in (0, 1, 9, 10, 29, 100_000)] == [
        *("below 1", "1 to 9", "1 to 9", "10 to 29", "10 to 29", "100,000 and more")
    ]
    assert [range_of(value, LENGTHS, integers=False)[1] for value in (0.5, 1, 9.9, 1e5)] == [
        *("below 1", "1 to below 10", "1 to below 10", "100,000 and more")
    ]
    assert [range_of(value, DEPTHS)[1] for value in (1, 4, 5, 9, 10)] == [
        "1",
        "4",
        "5 to 9",
        "5 to 9",
        "10 to 29",
    ]


def test_several_answers_to_a_sample_are_one_observation() -> None:
    """Scores by length and by field count samples, as the score itself does; the page counts answers."""
    from deskcheck.ask.results.logs import Logs
    from deskcheck.ask.results.results import result_of
    from deskcheck.view.report.report import report_of

    rows = [
        row_of(
            f"s{n}",
            float(n % 3 == 0 and epoch != 2),
            cluster=f"p{n}",
            data=json.dumps({"events": 5 if n < 6 else 50, "half": n % 2}),
            epoch=epoch,
        )
        for n in range(12)
        for epoch in (1, 2, 3)
    ]
    result = result_of("output", "", "direct", "m", tuple(rows), {}, Path("r"))
    report = report_of(Logs(results=(result,), notes=()), fields=["half"])
    slices = next(sheet for sheet in report.sheets if sheet.name == "slices")
    assert [row[-5:] for row in slices.rows] == [
        (found.value, found.low, found.high, found.n, found.clusters)
        for found in (mean_interval([2 / 3, 2 / 3, *[0] * 4], [*"abcdef"]) for _ in range(2))
    ]
    told = [(row["value"], row["n"], row["clusters"]) for row in report.facts["lengths"]]
    assert told == [(pytest.approx(2 / 9), 6, 6)] * 2
    assert (report.facts["samples"], result.n) == (36, 12)


def notebook_results() -> list[Result]:
    """Two views of four notebooks, six executions of each."""
    return [
        result_of(
            "next_cell",
            state,
            "direct",
            "m",
            tuple(
                row_of(f"s{n}", float(n % share == 0), cluster=f"book{n % 4}", exact=float(n % share == 0))
                for n in range(24)
            ),
            {},
            Path("r"),
        )
        for state, share in (("none", 3), ("full", 2))
    ]


def test_too_few_notebooks_have_an_interval_by_execution() -> None:
    """Every form of the tables says so, JSON has null; the second interval has its label, and what is wrong with it."""
    results = notebook_results()
    alone = mean_interval([1.0] * 8 + [0.0] * 16, [str(n) for n in range(24)])
    report = report_of(Logs(results=tuple(results), notes=()))
    sheets = {sheet.name: sheet for sheet in report.sheets}
    assert [row[3:7] for row in sheets["metrics"].rows][:2] == [
        ("exact", 1 / 3, None, None),
        ("exact, by execution", 1 / 3, alone.low, alone.high),
    ]
    assert [row[4] for row in sheets["views"].rows] == ["exact", "exact, by execution"]
    for name in ("scores", "metrics", "views"):
        for text in (sheets[name].markdown(), sheets[name].latex(), str(sheets[name].to_dict()["rows"])):
            assert "too few programs for an interval" in text, name
        assert "too few" not in sheets[name].csv()
    for name in ("metrics", "views"):
        assert "by execution, not by notebook: too narrow" in sheets[name].note
    assert [(score["low"], score["high"]) for score in report.facts["scores"]] == [(None, None)] * 2
    assert [(view["low"], view["high"]) for view in report.facts["views"]] == [(None, None)]
    assert report.facts["notes"][-1].startswith("fewer than 10 effective programs (next_cell: 4)")
    told = json.loads(json.dumps([result.to_dict() for result in results]))
    assert told[0]["metrics"]["exact"]["low"] is None
    assert told[0]["metrics"]["exact"]["by_execution"] == [alone.low, alone.high]


def test_a_terminal_says_what_an_interval_by_execution_is(capsys: pytest.CaptureFixture[str]) -> None:
    _print_results(notebook_results())
    printed = " ".join(capsys.readouterr().out.split())
    assert "0.333 (0.18-0.53 by execution)" in printed
    assert "too few programs for an interval; by execution, not by notebook: too narrow" in printed
    assert re.search(r"-0\.\d{3} to \+0\.\d{3} by execution", printed)
    rows = tuple(row_of(f"s{n}", 1.0) for n in range(9))
    _print_results([result_of("output", "", "direct", "m", rows, {}, Path("r"))])
    assert "too few programs for an interval" in capsys.readouterr().out


NAMES = st.sampled_from(
    [
        *(
            "state",
            "model",
            "mean",
            "n",
            "question",
            "method",
            "low",
            "score",
            "a, state: b",
            "a",
            "b",
            "",
            " ",
        ),
        *(
            "\u200b",
            "\u202eab",
            "\u00e9",
            "\u540d\u524d",
            "[bold]",
            "[/]",
            "[2ex]",
            "*",
            "a|b",
            "=1+1",
            "\x1b[31m",
            "%{}\\",
        ),
    ]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(NAMES, min_size=2, max_size=3, unique=True),
    st.lists(NAMES, min_size=2, max_size=2, unique=True),
    st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=2, unique=True),
    NAMES,
)
@example(["state", "mean"], ["model", "n"], [("direct", "")], "question")
@example(["a", "a, state: b"], ["m", "[bold]"], [("direct", ""), ("direct", "b")], "state")
@example(["[2ex]", "method"], ["[2ex]", "*"], [("state", "method")], "score")
def test_no_name_loses_a_score(
    questions: list[str], models: list[str], ways: list[tuple[str, str]], field: str
) -> None:
    """Whatever questions, models, methods, views and fields are called, each score is in every form of every table
    that has it, below the name of its column."""
    asked = list(itertools.product(questions, models, ways))
    scores = {one: (101 + number) / 1000 for number, one in enumerate(asked)}
    results = [
        result_of(
            question,
            state,
            solver,
            model,
            tuple(
                row_of(f"s{n}", scores[question, model, (solver, state)], data=json.dumps({field: n}))
                for n in range(2)
            ),
            {},
            Path("r"),
        )
        for question, model, (solver, state) in asked
    ]
    report = report_of(Logs(results=tuple(results), notes=()), fields=[field])
    shown = {f"{score:.3f}" for score in scores.values()}
    sheets = {sheet.name: sheet for sheet in report.sheets}
    for name in ("scores", "leaderboard", "slices"):
        sheet, width = sheets[name], len(sheets[name].columns)
        of_page = next(one for one in json.loads(json.dumps(report.facts))["sheets"] if one["name"] == name)
        of_markdown = [re.split(r" (?<!\\)\| ", f" {line} ")[1:-1] for line in sheet.markdown().splitlines()]
        body = sheet.latex().partition("\\midrule\n")[2].partition("\n\\bottomrule")[0]
        of_latex = [re.split(r"(?<!\\)&", line.removesuffix("\\\\")) for line in body.splitlines()]
        assert not re.search(r"(\\\\|rule)\s*[\[*]", sheet.latex())
        of_csv = list(csv.reader(io.StringIO(sheet.csv(), newline="")))
        for rows in (of_page["rows"], of_markdown, of_latex, of_csv):
            assert {len(row) for row in rows} == {width}, rows
        for rows in (of_page["rows"], of_markdown, of_latex):
            assert shown <= {text.strip() for row in rows for text in row}
        assert {str(score) for score in scores.values()} <= {text for row in of_csv for text in row}
        assert len(of_page["heads"]) == width
    heads = [column.name for column in sheets["leaderboard"].columns][2:]
    assert len(heads) == len(questions) * len(ways)
    if len(ways) == 1:
        assert heads == questions
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), mock.patch.dict(os.environ, {"COLUMNS": "500"}):
        _print_sheets(report)
    tables = re.split(r"^(?=Scores$|All questions|Scores by )", printed.getvalue(), flags=re.MULTILINE)
    assert sum(shown <= set(re.findall(r"\d\.\d{3}", text)) for text in tables) >= 3


def test_a_run_that_is_named_twice_is_read_once(runs: Mapping[str, Path]) -> None:
    """By its folder and by one above it: no answer is newer than itself."""
    from deskcheck.ask.results.logs import read_logs

    once, twice = read_logs([runs["both"]]), read_logs([runs["both"], runs["both"].parent, runs["both"]])
    both = {(r.question, r.solver, r.model): r.n for r in once.results}
    assert both.items() <= {(r.question, r.solver, r.model): r.n for r in twice.results}.items()
    assert not [note for note in twice.notes if "newer answers" in note]


def test_an_interval_of_one_sample_is_pythons(runs: Mapping[str, Path]) -> None:
    """The figures of the page are those of `ask.statistics`."""
    from deskcheck.ask.results.logs import read_logs
    from deskcheck.view.report.report import report_of

    logs = read_logs([runs["both"]])
    lengths = report_of(logs).facts["lengths"]
    for row in lengths:
        result = next(r for r in logs.results if (r.question, r.model) == (row["question"], row["model"]))
        if row["n"] == result.n:
            known = mean_interval([s.score for s in result.samples], [s.cluster for s in result.samples])
            assert (row["value"], row["low"], row["high"]) == (known.value, known.low, known.high)
            return
    pytest.fail("no range holds all samples of a question")


def test_the_command(runs: Mapping[str, Path], tmp_path: Path) -> None:
    """Tables in the terminal, as text to copy, as JSON and as a page; wrong options are said."""
    from typer.testing import CliRunner

    from deskcheck.cli import app

    def report(*arguments: object) -> str:
        result = CliRunner().invoke(app, ["report", *map(str, arguments)], catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    shown = report(runs["both"], runs["runs"])
    assert "Scores" in shown
    assert "Effect of the method" in shown
    assert "| question | method | model | score |" in report(runs["runs"], "--table", "markdown")
    assert json.loads(report(runs["both"], "--json"))["models"] == ["deskcheck/oracle", "deskcheck/guess"]
    report(runs["both"], "--out", tmp_path / "page.html")
    assert "Content-Security-Policy" in (tmp_path / "page.html").read_text()
    for wrong, message in (
        (["--table", "word"], "markdown, latex, csv and themisto"),
        (["--out", str(tmp_path / "no" / "page.html")], "cannot be written"),
    ):
        with pytest.raises(DeskcheckError, match=message):
            CliRunner().invoke(app, ["report", str(runs["both"]), *wrong], catch_exceptions=False)
    wrong_price = CliRunner().invoke(app, ["report", str(runs["both"]), "--price", "mine=1"])
    assert wrong_price.exit_code == 2
    assert "MODEL=IN,OUT" in wrong_price.output
