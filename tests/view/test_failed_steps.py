"""From a report to the step where an answer went wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from deskcheck.ask.results.logs import Logs, read_logs
from deskcheck.ask.results.results import result_of
from deskcheck.ask.results.rows import ScoredSample
from deskcheck.view.report.report import ReportPage, report_of, report_page, write_report
from tests.view.browsing import FOREIGN, MISSING, NEEDS_AXE, Page, until
from tests.view.conftest import Folder

needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture(scope="module")
def run_folder(lines: Folder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that were asked about the recordings of a folder, one of them by a method that predicts runs."""
    pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that a report leads to the step")
    from deskcheck.ask import AskSettings, ask

    out = tmp_path_factory.mktemp("runs")
    questions, models = ["state", "output"], ["deskcheck/oracle", "deskcheck/guess"]
    ask([lines.path], questions, models, out=out / "direct")
    predicting = AskSettings(methods=("compact",), model_args={"rate": 0.2})
    ask([lines.path], ["output"], ["deskcheck/erring"], out=out / "compact", settings=predicting)
    return out


@pytest.fixture(scope="module")
def report(run_folder: Path) -> ReportPage:
    return report_of(read_logs([run_folder]))


def test_the_title_is_the_verdict(run_folder: Path, report: ReportPage) -> None:
    """The two best models with their right answers, counted here from the rows of the runs."""
    right: dict[str, list[bool]] = {}
    for result in read_logs([run_folder]).results:
        right.setdefault(result.model, []).extend(row.score == 1 for row in result.samples)
    count = len(right["deskcheck/oracle"])
    assert all(right["deskcheck/oracle"])
    verdict = report.facts["verdict"]
    assert verdict.startswith(f"deskcheck/oracle answers {count} of {count} right (100%), deskcheck/")
    second = max(
        (model for model in right if model != "deskcheck/oracle"), key=lambda m: sum(right[m]) / len(right[m])
    )
    assert f", {second} {sum(right[second])} of {len(right[second])} (" in verdict
    assert verdict.endswith(", and 1 more model") == (len(right) > 2)


def test_kinds_of_line(report: ReportPage, lines: Folder) -> None:
    """Each sample about a line counts for the statement of that line, read here from the source's first word."""
    (sheet,) = (sheet for sheet in report.sheets if sheet.name == "lines")
    (column,) = (number for number, column in enumerate(sheet.columns) if column.name == "line")
    guessed = [row for row in sheet.rows if "deskcheck/guess" in row]
    assert guessed
    assert not [row for row in sheet.rows if "deskcheck/oracle" in row]  # it has no wrong answers
    predicted = [row for row in sheet.rows if "deskcheck/erring" in row]
    assert predicted
    assert {row[column + 2] for row in predicted} == {None}
    words = {"for": "for", "if": "if", "return": "return", "def": "def", "with": "with", "try": "try"}
    counts: dict[str, int] = {}
    for result in report_rows(report):
        code = lines.read(result["program"]).program.code.splitlines()
        first = re.match(r"\s*(\w+)", code[result["line"] - 1])
        assert first is not None
        kind = words.get(first[1])
        if kind is not None:
            counts[kind] = counts.get(kind, 0) + 1
    assert {row[column]: row[column + 2] for row in guessed if row[column] in words} == counts


def report_rows(report: ReportPage) -> list[dict[str, Any]]:
    """Program and line of the samples of `guess` about lines."""
    logs = read_logs([folder for folder in report.facts["folders"] if folder.endswith("direct")])
    rows = [row for result in logs.results if result.model == "deskcheck/guess" for row in result.samples]
    return [
        {"program": row.program, **json.loads(row.data)} for row in rows if "line" in json.loads(row.data)
    ]


def test_pages_of_failures(report: ReportPage, run_folder: Path, tmp_path: Path) -> None:
    """Each example has its page, at the event of its sample; without the recordings there are none."""
    _, count = write_report(report, tmp_path / "report.html", pages=40)
    files = {file.name for file in (tmp_path / "report-pages").iterdir()}
    assert len(files) == count > 0
    examples = [example for failure in report.facts["failures"] for example in failure["examples"]]
    assert all(
        example["page"].partition("#")[0].removeprefix("report-pages/") in files for example in examples
    )
    about_states = [example for example in examples if ":state" in example["id"]]
    assert about_states
    assert all(example["page"].endswith(f"#event={example['event']}") for example in about_states)
    few = report_of(read_logs([run_folder]))
    assert write_report(few, tmp_path / "few.html", pages=2)[1] == 2
    card = json.loads((run_folder / "direct" / "run.json").read_text())
    card["folders"] = [str(tmp_path / "moved")]
    moved = tmp_path / "direct"
    moved.mkdir()
    for file in (run_folder / "direct").glob("*.parquet"):
        (moved / file.name).write_bytes(file.read_bytes())
    (moved / "results.json").write_bytes((run_folder / "direct" / "results.json").read_bytes())
    (moved / "run.json").write_text(json.dumps(card))
    alone = report_of(read_logs([moved]))
    assert write_report(alone, tmp_path / "alone.html", pages=40)[1] == 0
    assert not (tmp_path / "alone-pages").exists()
    assert "lines" not in {sheet.name for sheet in alone.sheets}


@needs_browser
def test_one_click_leads_to_the_step(page: Page, report: ReportPage, tmp_path: Path) -> None:
    """From the line of a failure to the event: of a state in the recording, of a predicted run at the divergence."""
    write_report(report, tmp_path / "report.html", pages=40)
    address = (tmp_path / "report.html").as_uri()
    page.goto(address, ".failure")
    assert page.text("h1") == report.facts["verdict"]
    assert page.js("return document.querySelectorAll('meter').length") == 0
    assert page.js("return document.querySelectorAll('.with-step > .step').length") == len(
        report.facts["failures"]
    )
    state = next(
        failure
        for failure in report.facts["failures"]
        if failure["question"] == "state" and failure["model"] == "deskcheck/guess"
    )
    place = report.facts["failures"].index(state)
    page.js("document.querySelectorAll('.with-step > .step')[arguments[0]].click()", place)
    until(lambda: page.js("return !!document.querySelector('#now .kind')"), "the page of the recording")
    page.is_at(state["examples"][0]["event"])
    run = next(failure for failure in report.facts["failures"] if failure["model"] == "deskcheck/erring")
    page.goto(address, ".failure")
    page.js(
        "document.querySelectorAll('.with-step > .step')[arguments[0]].click()",
        report.facts["failures"].index(run),
    )
    until(lambda: "the first divergence" in page.text("#now"), "the step at which the model went wrong")
    assert page.js(FOREIGN) == 0


@needs_browser
@NEEDS_AXE
@pytest.mark.parametrize("width", [1440, 360])
def test_links_and_a_wide_leaderboard_are_for_everybody(
    page: Page, report: ReportPage, tmp_path: Path, width: int
) -> None:
    """axe-core finds nothing; for 20 models and 18 questions the models' names stay in view."""
    page.resize("light", width)
    try:
        write_report(report, tmp_path / "report.html", pages=40)
        page.goto((tmp_path / "report.html").as_uri(), ".failure")
        page.js("document.querySelector('.failure').open = true")
        assert page.violations() == []
        assert page.fits()
        page.show(report_page(report_of(many_models())), "#sheet-leaderboard table")
        assert page.violations() == []
        assert page.fits()
        scroller = "document.querySelector('#sheet-leaderboard .scrolled')"
        places = page.js(
            f"const s = {scroller}; s.scrollLeft = 1e6;"
            "return [s.getBoundingClientRect().left, s.querySelector('td').getBoundingClientRect().left]"
        )
        assert abs(places[0] - places[1]) <= 1
        if width == 1440:
            assert page.js(f"const s = {scroller}; return s.scrollWidth - s.clientWidth") == 0
    finally:
        page.resize_back()


def many_models() -> Logs:
    """Two answers of each of 20 models to each of 18 questions."""
    results = [
        result_of(
            f"a_long_question_{question}",
            "",
            "direct",
            f"provider/model-{model}",
            tuple(
                ScoredSample(
                    id=f"{question}-{number}",
                    program=f"p{number}",
                    cluster=str(number),
                    question=f"a_long_question_{question}",
                    model=f"provider/model-{model}",
                    solver="direct",
                    completion="",
                    answer="",
                    expected="1",
                    score=float((model + question + number) % 2),
                    reason="",
                    data="{}",
                )
                for number in range(2)
            ),
            {},
            Path("runs"),
        )
        for question in range(18)
        for model in range(20)
    ]
    return Logs(results=tuple(results), notes=())
