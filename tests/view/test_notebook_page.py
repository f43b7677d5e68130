"""The page of a notebook in a real browser: every control once."""

from dataclasses import replace
from pathlib import Path

import pytest

from deskcheck.notebook.trajectory.file import read_trajectory
from deskcheck.notebook.trajectory.ipynb import read_notebook
from deskcheck.notebook.trajectory.trajectory import Cell, Ended, Execution, Output, Status, Trajectory
from deskcheck.sandbox.confinement import Confinement
from deskcheck.view.notebook_page import notebook_page
from tests.view.browsing import FOREIGN, MARKS, NEEDS_AXE, Keys, Page, until
from tests.view.conftest import SHARED, hostile_trajectory

pytestmark = MARKS


def at(page: Page, index: int) -> None:
    wanted = f"step {index + 1} of "
    until(lambda: page.text("#now .which").startswith(wanted), f"{wanted}, not {page.text('#now .which')}")


def variables(page: Page) -> dict[str, str]:
    script = """return Object.fromEntries([...document.querySelectorAll('.right .variable')]
        .map(e => [e.querySelector('.name').textContent, e.querySelector('pre').textContent]))"""
    return dict(page.js(script))


@pytest.mark.slow
def test_every_control(page: Page, book: Path) -> None:
    """Buttons, keys, the list and the address lead where they say; variables add up; a picture is drawn."""
    page.show(notebook_page(read_trajectory(book)), "#now .which")
    at(page, 0)
    assert variables(page)["numbers"] == "[1, 2]"
    assert page.texts(".variable.changed .name") == ["numbers", "same"]
    page.click("#do-forward")
    at(page, 1)
    assert variables(page)["numbers"] == "[1, 2, 3]"
    assert page.text(".outputs pre") == "3\n"
    page.press(Keys.ARROW_RIGHT)
    at(page, 2)
    until(lambda: page.js("return document.querySelector('.outputs img')?.naturalWidth") == 1, "the picture")
    page.press("n")
    at(page, 3)
    assert "ZeroDivisionError" in page.text(".outputs .error")
    page.press("p", Keys.ARROW_LEFT)
    at(page, 1)
    page.click("#do-failure")
    at(page, 3)
    page.press("e")
    until(lambda: "none in that direction" in page.text(".notice"), "it says so")
    page.click("#do-last")
    at(page, 4)
    assert page.text(".removed") == "gone: same"
    assert "same" not in variables(page)
    page.press("E")
    at(page, 3)
    page.click("#do-first")
    at(page, 0)
    assert page.js("return document.getElementById('do-odd').disabled")  # all repeats
    page.click("#do-cell")
    until(lambda: "none in that direction" in page.text(".notice"), "it ran once")
    page.press(Keys.END)
    at(page, 4)
    page.press(Keys.HOME)
    at(page, 0)
    page.press(Keys.PAGE_DOWN)
    at(page, 4)
    page.press(Keys.PAGE_UP)
    at(page, 0)
    page.click("#do-forward")
    page.click("#do-back")
    at(page, 0)
    page.js("document.querySelectorAll('.steps button')[2].click()")
    at(page, 2)
    page.js("location.hash = '#step=3'")
    at(page, 3)
    page.click("#do-help")
    until(lambda: page.js("return document.querySelector('dialog').open"), "open")
    page.click("dialog button")
    page.press("t")
    until(lambda: page.js("return document.documentElement.dataset.theme") == "dark", "dark")
    page.click("#do-theme")
    page.click("#do-theme")


@pytest.mark.slow
def test_a_page_that_is_drawn_listens(page: Page, work: Path) -> None:
    """A key counts from the moment when the page is there, though all that waits for a paint comes late."""
    late = {"source": "requestAnimationFrame = () => 0; setTimeout = () => 0"}
    found = page.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", late)
    try:
        page.show(notebook_page(read_trajectory(work)), "#now .which")
        page.press("n")
        at(page, 1)
    finally:
        page.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", found)


@pytest.mark.slow
def test_every_kind_of_step(page: Page, work: Path) -> None:
    """Edits, insertions, moves, deletions and restarts are told; a cell's executions are found wherever it stands."""
    page.show(notebook_page(read_trajectory(work)), "#now .which")
    said = []
    for number in range(11):
        at(page, number)
        said.append(page.text("#now").removeprefix(page.text("#now .which")).strip())
        page.press("n")
    assert [text.partition(" [")[0] for text in said] == [
        "cell 1 of 2 runs",
        "cell 2 of 2 runs",
        "a cell is inserted as 1 of 3",
        "cell 1 of 3 runs",
        "cell 3 of 3 runs",
        "cell 3 of 3 is edited",
        "cell 3 of 3 runs",
        "a cell moves to 1 of 3",
        "the kernel restarts: asked",
        "a cell is deleted",
        said[10].partition(" [")[0],
    ]
    assert said[10].startswith("cell 1 of 2 runs")
    assert "NameError" in page.text(".outputs .error")
    assert variables(page) == {}
    runs = [1, 4, 6, 10]  # of the second cell, which stood second, third and first
    for earlier in runs[-2::-1]:
        page.press(",")
        at(page, earlier)
    for later in runs[1:]:
        page.click("#do-cell")
        at(page, later)
    page.click("#do-cell-back")
    at(page, 6)
    assert variables(page) == {"total": "16"}
    page.press(".")
    at(page, 10)
    page.js("document.querySelectorAll('.steps button')[5].click()")
    at(page, 5)
    assert "total += 5" in page.text(".cm-content")
    page.click("details summary")
    assert page.text("details pre") == "total += 1"
    assert variables(page) == {"total": "11"}


@pytest.mark.slow
def test_a_published_notebook(page: Page, tmp_path: Path) -> None:
    """Of other people's: run in a real kernel, its outputs beside those that are stored."""
    path = SHARED / "notebooks" / "nbval" / "tests" / "test_coalesce.ipynb"
    if not path.exists():
        found = sorted((SHARED / "notebooks").glob("**/test_coalesce.ipynb"))
        if not found:
            pytest.skip(
                "no notebooks here (DESKCHECK_SHARED): would have proved that a published one is shown"
            )
        path = found[0]
    pytest.importorskip("ipykernel", reason="would have proved that a published notebook is shown")
    from deskcheck.notebook.kernel.replayer import SandboxKernels, replay
    from deskcheck.notebook.state.capture import StateLimits

    stored = read_notebook(path)
    replay(
        stored,
        tmp_path / "run.trajectory.parquet",
        kernels=SandboxKernels(Confinement.TRUSTED),
        state=StateLimits(time_s=60),
    )
    trajectory = read_trajectory(tmp_path / "run.trajectory.parquet")
    page.show(notebook_page(trajectory, stored), "#now .which")
    for number, execution in enumerate(trajectory.executions):
        at(page, number)
        assert execution.source.splitlines()[0] in page.text(".cm-content")
        text = "".join(output.text or "" for output in execution.outputs if output.type == "stream")
        assert text in "".join(page.texts(".sides section:last-child pre, .middle > .outputs pre"))
        page.press("n")
    assert page.text("#report") == "compared with the stored outputs: equals the stored outputs"


@pytest.mark.slow
def test_keys_reach_everything(page: Page, book: Path, book_file: Path) -> None:
    page.show(notebook_page(read_trajectory(book), read_notebook(book_file)), "#now .which")
    page.press("d")
    at(page, 1)
    assert page.beyond_keys() == []


def test_stored_and_fresh_side_by_side(page: Page, book: Path, book_file: Path) -> None:
    """With the notebook beside it, both outputs stand next to each other, with the normalisers."""
    page.show(notebook_page(read_trajectory(book), read_notebook(book_file)), "#now .which")
    assert page.text(".verdict").startswith("equal after normalisers: address")
    page.press("d")
    at(page, 1)
    assert page.texts(".sides pre") == ["4\n", "3\n"]
    assert "- 4" in page.text(".diff .minus")
    page.press("D")
    at(page, 0)


def test_a_notebook_of_text_alone_is_no_problem(page: Page) -> None:
    """Its texts stand there; one whose code was not run, or that was stopped, has a problem."""
    text, code = Cell(id="a", source="# Only text", type="markdown"), Cell(id="b", source="1")
    alone = Trajectory(id="text", source="replay", cells=(text,), steps=())
    page.show(notebook_page(alone), ".texts")
    assert page.text(".texts") == "This notebook has only text. There is no code to run.# Only text"
    assert page.texts(".problem") == []
    for other in (replace(alone, cells=(text, code)), replace(alone, ended=Ended.NO_KERNEL)):
        page.show(notebook_page(other), ".problem")
        assert page.text(".problem") == "Nothing was run in this notebook."


def test_what_an_output_does_not_show_is_said(page: Page) -> None:
    """Below the box: that there is more to scroll to, and what was left out."""
    outputs = (
        Output(type="stream", name="stdout", text="line\n" * 40),
        Output(type="stream", name="stderr", text="x" * 10, length=1010),
        Output(type="display_data", data={}, length=3000),
        Output(type="stream", name="stdout", text="short"),
    )
    step = Execution(cell="a", source="1", status=Status.OK, outputs=outputs, order=("a",))
    cells = (Cell(id="a", source="1"),)
    page.show(
        notebook_page(Trajectory(id="long", source="replay", cells=cells, steps=(step,))), "#now .which"
    )
    assert page.texts(".outputs .cut") == [
        "40 lines: scroll to see them",
        "1,000 more characters are not shown",
        "3,000 more characters are not shown",
    ]


def test_hostile_notebooks_are_text(page: Page) -> None:
    """Sources, outputs, names and values of every sort of hostility run nothing."""
    page.show(notebook_page(hostile_trajectory()), "#now .which")
    title = page.browser.title
    assert page.js(FOREIGN) == 0
    assert page.browser.title == title
    shown = page.js("return document.body.innerText")
    assert not set(shown) & set("\u202e\u200b\ud800\udc80")
    assert "more characters" in shown
    assert "also as image/svg+xml, text/html" in shown


@pytest.mark.slow
@NEEDS_AXE
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
def test_nobody_is_shut_out(page: Page, book: Path, book_file: Path, scheme: str, width: int) -> None:
    page.resize(scheme, width)
    try:
        page.show(notebook_page(read_trajectory(book), read_notebook(book_file)), "#now .which")
        for _ in range(5):
            assert page.violations() == []
            assert page.fits()
            page.press("n")
    finally:
        page.resize_back()
