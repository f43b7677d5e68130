"""The page of recorded and model side by side in a real browser: every control once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.notation import Moment
from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sources import programs
from deskcheck.view.side_by_side import AHEAD, SideBySide, beside, beside_page, read_prediction
from tests.view.browsing import FOREIGN, MARKS, NEEDS_AXE, Keys, Page, until
from tests.view.conftest import Folder
from tests.view.test_beside import changed, scratchpad, stepped, true_states, with_local

pytestmark = MARKS


@pytest.fixture
def wrong(lines: Folder, tmp_path: Path) -> SideBySide:
    """A run that errs in a value, and later in a line."""
    recording = lines.read("recursion")

    def lie(told: list[Moment]) -> None:
        told[12] = with_local(told[12], n=987)
        frame = told[20].running
        told[20] = replace(told[20], frames=(*told[20].frames[:-1], replace(frame, line=frame.line + 1)))

    return changed(recording, tmp_path / "told.txt", lie)


def at(page: Page, index: int) -> None:
    until(
        lambda: page.text("#now .which") == f"event {index}", f"event {index}, not {page.text('#now .which')}"
    )


@pytest.mark.slow
def test_every_control(page: Page, wrong: SideBySide) -> None:
    """It opens at the first divergence; buttons, keys, the slider, the list and the variables lead where they say."""
    last = len(wrong.facts["rows"]) - 1
    page.show(beside_page(wrong), "#now .which")
    at(page, 12)
    assert "first wrong: event 12, a value" in page.text("#verdict")
    assert "the first divergence" in page.text("#now")
    differs = page.js("return [...document.querySelectorAll('.state .differs')].map(e => e.innerText)")
    assert len(differs) == 1
    assert "987" in differs[0]
    page.click("#do-difference")
    at(page, 20)
    page.click("#do-difference-back")
    at(page, 12)
    page.press("e")
    at(page, 20)
    assert "later differences mean nothing" in page.text("#now")
    assert page.js("return document.querySelectorAll('.cm-content .other-line').length") >= 1
    page.press("E")
    at(page, 12)
    page.press("E")
    until(lambda: "none in that direction" in page.text(".notice"), "it says so")
    page.press(Keys.ARROW_RIGHT, "n")
    at(page, 14)
    page.press(Keys.ARROW_LEFT, "p")
    at(page, 12)
    page.click("#do-last")
    at(page, last)
    page.click("#do-first")
    at(page, 0)
    page.click("#do-forward")
    at(page, 1)
    page.click("#do-back")
    at(page, 0)
    page.press(Keys.END)
    at(page, last)
    page.press("d")
    at(page, 12)
    page.press(Keys.HOME)
    at(page, 0)
    page.click("#do-divergence")
    at(page, 12)
    page.js("document.querySelector('.events button').click()")
    at(page, 0)
    page.click(".variables button")
    at(page, 12)
    page.js("document.getElementById('event').focus()")
    page.press(Keys.ARROW_RIGHT)
    at(page, 13)
    page.press("d")  # letters are no keys of a slider
    at(page, 12)
    page.press(Keys.HOME)
    at(page, 0)
    page.js("document.activeElement.blur()")
    page.press(Keys.PAGE_DOWN)
    at(page, min(100, last))
    page.press(Keys.PAGE_UP)
    at(page, max(0, min(100, last) - 100))
    page.js("location.hash = '#event=3'")
    at(page, 3)
    page.js("document.activeElement.blur()")
    page.press("?")
    until(lambda: page.js("return document.querySelector('dialog').open"), "open")
    page.press("n")
    at(page, 3)
    page.click("dialog button")
    page.click("#do-help")
    page.press(Keys.ESCAPE)
    until(lambda: not page.js("return document.querySelector('dialog').open"), "closed")
    page.press("t")
    until(lambda: page.js("return document.documentElement.dataset.theme") == "dark", "dark")
    page.click("#do-theme")
    page.click("#do-theme")


def test_a_steppers_run_that_is_right(page: Page, lines: Folder, tmp_path: Path) -> None:
    recording = lines.read("generator")
    path = tmp_path / "run.json"
    path.write_text(json.dumps(stepped(recording, true_states(recording), "end")))
    page.show(beside_page(beside(recording, read_prediction(path, recording))), "#now .which")
    assert "right to the end" in page.text("#verdict")
    for name in ("divergence", "difference", "difference-back"):
        assert page.js("return document.getElementById(arguments[0]).disabled", f"do-{name}")
    assert "given to the model" in page.text("#now")


def test_a_model_that_does_not_stop(page: Page, lines: Folder, tmp_path: Path) -> None:
    """Of a run that goes on after the program's end the next events are shown, and how many more there are."""
    recording = lines.read("generator")
    true = true_states(recording)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(stepped(recording, [*true, *[true[1]] * (AHEAD + 30)], "budget")))
    found = beside(recording, read_prediction(path, recording))
    assert len(found.facts["rows"]) == len(true) + AHEAD
    page.show(beside_page(found), "#now .which")
    page.press(Keys.END)
    at(page, len(true) + AHEAD - 1)
    assert "the run has ended" in page.text("#now")
    assert "the model continues for 30 more events, which are not shown" in page.text("#now")


@pytest.mark.slow
def test_keys_reach_everything(page: Page, wrong: SideBySide) -> None:
    page.show(beside_page(wrong), "#now .which")
    assert page.beyond_keys() == []


@pytest.mark.slow
def test_a_run_of_nano(page: Page, tmp_path: Path) -> None:
    """The model that the package brings steps programs that it has not seen; the file is opened at the run whose first
    mistake comes last, or at one that is right, and says which."""
    pytest.importorskip(
        "onnxruntime",
        reason="no ONNX Runtime: would have proved that a page shows what nano makes of a program",
    )
    unseen = list(programs("generated:12,difficulty=1-3,inputs=1,seed=9002"))
    record_programs(
        unseen, tmp_path / "runs", RecordSettings(repeat=False, sandbox=Confinement.TRUSTED), workers=1
    )
    run, html = tmp_path / "nano.json", tmp_path / "mistake.html"
    recorded = str(tmp_path / "runs")
    for arguments in (
        ["models", "step", recorded, "--out", str(run)],
        ["view", recorded, "--beside", str(run), "--out", str(html)],
    ):
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert done.exit_code == 0
    told = json.loads(run.read_text())
    runs = {one["id"]: one for one in told["runs"]}
    wrong = [one for one in runs.values() if one["first"] is not None]
    page.show(html.read_text(), "#now .which")
    shown = next(one for name, one in runs.items() if name in page.text("header"))
    if wrong:
        assert shown["exact"] == max(one["exact"] for one in wrong)
        at(page, shown["exact"] + 1)
        assert "the first divergence" in page.text("#now")
    else:
        assert "right to the end" in page.text("#verdict")
    page.press(Keys.HOME)
    at(page, 0)
    assert "given to the model" in page.text("#now")
    page.press(Keys.ARROW_RIGHT)
    at(page, 1)


def test_hostile_values_are_text(page: Page, lines: Folder, tmp_path: Path) -> None:
    """A hostile program beside a run whose values are hostile too."""
    recording = lines.read("hostile")
    text = scratchpad(recording).replace("bidi=", "bidi='\u202e<img src=x>' + ", 1)
    (tmp_path / "told.txt").write_text(text, errors="backslashreplace")
    found = beside(recording, read_prediction(tmp_path / "told.txt", recording))
    page.show(beside_page(found), "#now .which")
    title = page.browser.title
    page.press(Keys.END)
    assert page.js(FOREIGN) == 0
    assert page.browser.title == title
    assert not set(page.js("return document.body.innerText")) & set("\u202e\u200b\ufeff\udc80\ud800")


@pytest.mark.slow
@NEEDS_AXE
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
def test_nobody_is_shut_out(page: Page, wrong: SideBySide, scheme: str, width: int) -> None:
    page.resize(scheme, width)
    try:
        page.show(beside_page(wrong), "#now .which")
        assert page.texts(".legend b") == ["recorded", "model"]
        assert page.texts(".legend span")[:2] == ["the same", "a different value"]
        assert page.violations() == []
        assert page.fits()
        page.press("?")
        assert page.violations() == []
    finally:
        page.resize_back()
