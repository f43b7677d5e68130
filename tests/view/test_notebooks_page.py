"""The page of a check of notebooks in a real browser: every control once."""

import json

import pytest

from deskcheck.notebook.check.check import (
    CellReport,
    CellStatus,
    NotebookReport,
    NotebookStatus,
    Report,
    check_notebooks,
)
from deskcheck.notebook.settings import CheckSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.view.notebooks_page import notebooks_page
from tests.view.browsing import FOREIGN, MARKS, NEEDS_AXE, Keys, Page, until
from tests.view.conftest import HOSTILE, SHARED

pytestmark = MARKS
NAMES = ("exceptions", "test-stream-fail-missingoutput")
DRAWS = {
    "cell_type": "code",
    "execution_count": 1,
    "id": "draws",
    "metadata": {},
    "outputs": [
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "0.5"}}
    ],
    "source": "import random\nrandom.random()",
}


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three notebooks: one repeats, one gives something else, one something else each time."""
    pytest.importorskip("ipykernel", reason="would have proved that a check of notebooks is shown")
    found = [
        path for name in NAMES for path in sorted((SHARED / "notebooks").glob(f"nb*/**/{name}.ipynb"))[:1]
    ]
    if len(found) != len(NAMES):
        pytest.skip("no notebooks here (DESKCHECK_SHARED): would have proved that a check of them is shown")
    draws = tmp_path_factory.mktemp("notebooks") / "draws.ipynb"
    draws.write_text(json.dumps({"cells": [DRAWS], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return notebooks_page(check_notebooks([*found, draws], CheckSettings(sandbox=Confinement.TRUSTED)))


def shown(page: Page) -> int:
    return sum(page.js("return [...document.querySelectorAll('details.nb')].map(e => e.checkVisibility())"))


@pytest.mark.slow
def test_every_control(page: Page, html: str) -> None:
    """A status is taken away and comes back; a notebook opens, and in it a cell's source."""
    page.show(html, "h1")
    assert page.text("h1") == "1 of 3 notebooks reproduce"
    assert shown(page) == 3
    left = 3
    for status in ("same", "different"):
        page.click(f"#f-{status}")
        left -= 1
        until(lambda left=left: shown(page) == left, f"without {status}")  # type: ignore[misc]
    page.focus("#f-same")
    page.press(Keys.SPACE)
    until(lambda: shown(page) == 2, "by keyboard")
    page.click("#f-different")
    until(lambda: shown(page) == 3, "all again")
    page.focus("details.s-different > summary")
    page.press(Keys.ENTER)
    until(lambda: page.js("return document.querySelector('details.s-different').open"), "open")
    assert page.texts("details.s-different .diff .minus, details.s-different .diff .plus")
    page.click("details.s-different details summary")
    until(
        lambda: page.js("return document.querySelector('.s-different details pre').checkVisibility()"),
        "the source",
    )
    assert page.beyond_keys() == []


def test_hostile_notebooks_are_text(page: Page) -> None:
    """Paths, sources, messages and notes run nothing and turn nothing around, and no style but the page's own counts."""
    text = f"{HOSTILE}\u202e\u200b\ud800"
    cell = CellReport(
        id="a", number=1, source=text, status=CellStatus.FAILED, category=text, message=text, missing=text
    )
    report = NotebookReport(
        path=f"/x/{text}", status=NotebookStatus.FAILED, detail=text, cells=(cell,), notes=(text,)
    )
    page.show(notebooks_page(Report(("address",), 2, [report])), "h1")
    title = page.browser.title
    page.js("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.js(FOREIGN) == 0
    assert page.browser.title == title == "0 of 1 notebooks reproduce"
    told = page.js("return document.body.innerText")
    assert HOSTILE in told
    assert r"\u202e\u200b\ud800" in told
    assert not set(told) & set("\u202e\u200b\ud800")
    page.js(
        "document.querySelector('h1').insertAdjacentHTML('beforeend', '<i style=\"color: rgb(1, 2, 3)\">x</i>')"
    )
    assert page.js("return getComputedStyle(document.querySelector('h1 i')).color") != "rgb(1, 2, 3)"
    assert "Content Security Policy" in page.browser.get_log("browser")[0]["message"]


@pytest.mark.slow
@NEEDS_AXE
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
def test_nobody_is_shut_out(page: Page, html: str, scheme: str, width: int) -> None:
    page.resize(scheme, width)
    try:
        page.show(html, "h1")
        assert page.violations() == []
        page.js("for (const d of document.querySelectorAll('details')) d.open = true")
        assert page.violations() == []
        assert page.fits()
    finally:
        page.resize_back()


@pytest.mark.slow
def test_long_names_fit(page: Page) -> None:
    """Folders, paths, categories and messages without a space are broken where the window ends."""
    name = "n" * 300
    cell = CellReport(
        id="a", number=1, source=name, status=CellStatus.FAILED, category=name, message=name, missing=name
    )
    report = NotebookReport(
        path=f"/{name}/{name}", status=NotebookStatus.FAILED, detail=name, cells=(cell,), notes=(name,)
    )
    page.resize("light", 420)
    try:
        page.show(notebooks_page(Report(("address",), 2, [report])), "h1")
        page.js("for (const d of document.querySelectorAll('details')) d.open = true")
        assert page.fits()
    finally:
        page.resize_back()
