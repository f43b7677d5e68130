"""The report page in a real browser: every control once."""

import csv
import io
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from deskcheck.ask.results.logs import read_logs
from deskcheck.view.report.report import report_of, report_page
from tests.ask.test_notebooks import ANALYSIS, asked
from tests.ask.test_notebooks import run as run_notebook
from tests.view.browsing import FOREIGN, MARKS, NEEDS_AXE, Keys, Page, Select, until
from tests.view.conftest import hostile_logs

pytestmark = MARKS


@pytest.fixture(scope="module")
def html(runs: Mapping[str, Path]) -> str:
    return report_page(report_of(read_logs([runs["all"]]), fields=["form"], difference=0.1))


def test_every_table_is_on_the_page(page: Page, runs: Mapping[str, Path], html: str) -> None:
    """With its title; none is left out because the page does not know it."""
    report = report_of(read_logs([runs["all"]]), fields=["form"], difference=0.1)
    assert {"leaderboard", "power", "slices"} <= {sheet.name for sheet in report.sheets}
    page.show(html, "#figure-scores svg")
    headings = page.texts("main h2")
    assert [sheet.title for sheet in report.sheets if sheet.title not in headings] == []


def downloaded(folder: Path, name: str) -> bytes:
    # Chromium makes an empty file of the name before it moves what it has loaded there.
    until(lambda: (folder / name).exists() and (folder / name).stat().st_size, f"{name} is downloaded")
    return (folder / name).read_bytes()


@pytest.mark.slow
def test_figures_and_their_files(page: Page, html: str, tmp_path: Path) -> None:
    """Each figure has its points, and can be had as SVG and as PNG."""
    page.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.show(html, "#figure-scores svg")
    titles = page.texts("#figure-scores circle title")
    assert len(titles) == 10
    assert any(title.startswith("deskcheck/oracle: 1.000") for title in titles)
    for name in ("scores", "over-events", "over-depth"):
        assert page.js(
            "return document.querySelector(arguments[0]).getAttribute('role')", f"#figure-{name} svg"
        )
        page.click(f"#figure-{name} button:nth-of-type(1)")
        svg = downloaded(tmp_path, f"{name}.svg").decode()
        assert svg.startswith("<svg")
        assert "deskcheck/oracle" in svg
        page.click(f"#figure-{name} button:nth-of-type(2)")
        assert downloaded(tmp_path, f"{name}.png").startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def about_notebooks(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of questions about three notebooks, each in three views of the variables."""
    books, out = tmp_path_factory.mktemp("books"), tmp_path_factory.mktemp("asked-books")
    for number in range(3):
        cells = [(one[0], one[1].replace("99", f"{90 + number}")) for one in ANALYSIS if one is not None]
        run_notebook(books, f"n{number}", cells)
    asked(books, out, "deskcheck/oracle,deskcheck/guess")
    return report_page(report_of(read_logs([out])))


@pytest.mark.slow
def test_what_runtime_information_does(page: Page, about_notebooks: str, tmp_path: Path) -> None:
    """A figure with an interval for each model, question and view; the table has every metric."""
    page.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    page.show(about_notebooks, "#figure-views svg")
    titles = page.texts("#figure-views circle title")
    assert len(titles) == 2 * 2 * 2  # models, questions, views beside none; the first metric of each question
    assert sum(title.startswith("deskcheck/guess: 0.500 ") for title in titles) >= 1, titles
    rows = page.texts("#sheet-views tbody tr")
    assert len(rows) > len(titles)
    assert any(row.startswith("cell_outputuseddeskcheck/guessnoneexact+0.500") for row in rows)
    page.click("#figure-views button:nth-of-type(1)")
    svg = downloaded(tmp_path, "views.svg").decode()
    assert "used minus none" in svg
    page.click("#sheet-views .copy-csv")
    until(lambda: page.js("return document.querySelector('dialog').open"), "open")
    assert len(page.js("return document.querySelector('textarea').value").strip().splitlines()) == 1 + len(
        rows
    )


def test_tables_are_copied(page: Page, html: str) -> None:
    """By keyboard too: each format opens as text, which is chosen whole."""
    page.show(html, "#sheet-scores table")
    for format_, begins in (
        ("markdown", "| question |"),
        ("latex", "\\begin{tabular}"),
        ("csv", "question,"),
    ):
        page.js("document.querySelector(arguments[0]).focus()", f"#sheet-scores .copy-{format_}")
        page.press(Keys.ENTER)
        until(lambda: page.js("return document.querySelector('dialog').open"), "open")
        text = page.js("return document.querySelector('textarea').value")
        assert text.startswith(begins)
        until(lambda: page.js("return getSelection().toString().length || 1"), "chosen")
        page.click("#do-copy")
        until(lambda: page.text("dialog [role=status]"), "it says what came of it")
        page.press(Keys.ESCAPE)
        until(lambda: not page.js("return document.querySelector('dialog').open"), "closed")


def test_failures_open(page: Page, html: str) -> None:
    """Kinds are chosen by model and question; an example shows question, answers and completion."""
    page.show(html, ".failure")
    everything = len(page.texts(".failure"))
    page.js(
        "const s = document.getElementById('failures-model'); s.value = 'deskcheck/guess';"
        "s.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    until(lambda: 0 < len(page.texts(".failure")) < everything, "only one model's")
    assert all("deskcheck/guess" in text for text in page.texts(".failure summary"))
    page.js("document.querySelector('.failure summary').focus()")
    page.press(Keys.ENTER)
    until(lambda: page.js("return document.querySelector('.failure').open"), "open")
    assert {"question", "right answer"} <= set(page.texts(".failure[open] h4"))


@pytest.mark.slow
def test_choices_and_tables(page: Page, html: str) -> None:
    """Failures are chosen by question too; the tables below the figures open; every table can be had as text."""
    page.show(html, ".failure")
    everything = len(page.texts(".failure"))
    Select(page.browser.find_element("id", "failures-question")).select_by_visible_text("output")
    until(lambda: 0 < len(page.texts(".failure")) < everything, "only one question's")
    assert all(text.endswith(", output") for text in page.texts(".failure summary"))
    Select(page.browser.find_element("id", "failures-question")).select_by_visible_text("all")
    until(lambda: len(page.texts(".failure")) == everything, "all again")
    for name in ("lengths", "failures"):
        assert not page.js("return document.querySelector(arguments[0]).checkVisibility()", f"#sheet-{name}")
        page.js(
            "document.querySelector(arguments[0]).closest('details').querySelector('summary').click()",
            f"#sheet-{name}",
        )
        until(
            lambda name=name: page.js(
                "return document.querySelector(arguments[0]).checkVisibility()", f"#sheet-{name}"
            ),  # type: ignore[misc]
            f"{name} open",
        )
    for number, title in enumerate(page.texts(".sheet .copy-csv")):
        page.js("document.querySelectorAll('.copy-csv')[arguments[0]].click()", number)
        assert page.text("#copy-title") == f"{title.partition(' of ')[2]}: CSV"
        heads = page.js(
            "return [...document.querySelectorAll('.sheet')[arguments[0]].querySelectorAll('thead th')].map(e => e.textContent)",
            number,
        )
        text = page.js("return document.querySelector('textarea').value")
        assert next(csv.reader(io.StringIO(text))) == heads
        page.click("dialog [type=submit]")
        until(lambda: not page.js("return document.querySelector('dialog').open"), "closed")


@pytest.mark.slow
def test_keys_reach_everything(page: Page, html: str) -> None:
    page.show(html, ".failure")
    page.js("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.beyond_keys() == []


def test_hostile_text_is_text(page: Page) -> None:
    """Markup, scripts, bidirectional and hidden characters, lone surrogates and a megabyte stay text."""
    made = report_page(report_of(hostile_logs()))
    assert len(made) < 2_000_000
    page.show(made, ".failure")
    title = page.browser.title
    page.js("for (const d of document.querySelectorAll('details')) d.open = true")
    time.sleep(0.2)
    assert page.js(FOREIGN) == 0
    assert page.browser.title == title
    shown = page.js("return document.body.innerText")
    assert not set(shown) & set("\u202e\u200b\ud800\udc80")
    assert "\\u202e" in shown
    assert "more characters" in shown
    assert page.js("return document.querySelectorAll('#figure-scores circle').length") == 1


@pytest.mark.slow
@NEEDS_AXE
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
def test_nobody_is_shut_out(page: Page, html: str, scheme: str, width: int) -> None:
    """axe-core finds nothing, closed and open; nothing is wider than the window; t changes the theme."""
    page.resize(scheme, width)
    try:
        page.show(html, "#figure-scores svg")
        page.js("document.querySelector('.failure').open = true")
        assert page.violations() == []
        assert page.fits()
        page.press("t")
        until(lambda: page.js("return document.documentElement.dataset.theme") == "dark", "dark")
        page.click("#do-theme")
        page.click("#do-theme")
        until(lambda: not page.js("return document.documentElement.dataset.theme"), "as the system has it")
        page.click(".copy-csv")
        assert page.violations() == []
    finally:
        page.resize_back()
