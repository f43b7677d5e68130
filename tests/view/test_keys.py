"""What the browser and the keyboard do: Back, search, keys that are switched off, print, damaged files."""

import base64
import re

import pytest

from deskcheck.view.trace_page import write_trace_page
from tests.view.browsing import MARKS, Keys, Page, until
from tests.view.conftest import Folder

pytestmark = MARKS


def test_back_leads_to_the_event_before_a_jump(page: Page, lines: Folder) -> None:
    """Steps do not fill the browser's history; jumps do."""
    recording = lines.read("recursion")
    last = len(recording.trace) - 1
    page.open(recording, "#event=2")
    page.is_at(2)
    page.press("n", at=3)
    until(lambda: page.browser.current_url.endswith("#event=3"), "the address follows")
    page.press(Keys.END, at=last)
    until(lambda: page.browser.current_url.endswith(f"#event={last}"), "the address follows")
    page.browser.back()
    page.is_at(3)
    page.browser.forward()
    page.is_at(last)


def test_keys_go_through_what_was_found(page: Page, lines: Folder) -> None:
    """Enter and the arrows lead from result to result, and round."""
    recording = lines.read("recursion")
    page.open(recording)
    page.press("/")
    page.press("call fib")
    until(lambda: len(page.texts(".found button")) == 25, "25 calls")
    calls = [row.index for row in recording.trace.rows if row.kind == "call"]
    page.press(Keys.ENTER, at=calls[0])
    page.press(Keys.ENTER, at=calls[1])
    page.press(Keys.ARROW_DOWN, at=calls[2])
    page.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP, at=calls[-1])
    assert page.js("return document.activeElement.id") == "search"
    assert page.texts(".found [aria-current]") == [page.texts(".found button")[-1]]


def test_keys_of_one_character_can_be_switched_off(page: Page, lines: Folder) -> None:
    """Then n does nothing, the arrows still step, and the page remembers it."""
    page.open(lines.read("recursion"))
    page.press("?")
    page.click("#keys")
    page.press(Keys.ESCAPE)
    try:
        page.press("n")
        page.press(Keys.ARROW_RIGHT, at=1)
        page.browser.refresh()
        until(lambda: page.text("#now .kind"), "drawn again")
        page.press("n")
        page.press(Keys.ARROW_RIGHT)
        until(lambda: page.at() > 0, "a step")
        assert page.at() in (1, 2)
        assert page.js("return document.documentElement.hasAttribute('data-no-keys')")
    finally:
        page.click("#do-help")
        page.click("#keys")
        page.press(Keys.ESCAPE)
    here = page.at()
    page.press("n", at=here + 1)


def test_numbers_of_six_digits_fit(page: Page, lines: Folder) -> None:
    page.open(lines.read("recursion"))
    for field in ("event", "visit"):
        widths = page.js(
            "const f = document.getElementById(arguments[0]); f.value = '888888';"
            "return [f.scrollWidth, f.clientWidth]",
            field,
        )
        assert widths[0] <= widths[1]


def test_print_shows_source_and_variables(page: Page, lines: Folder) -> None:
    """A PDF of the page has the program, the variables and the event, on paper that is not cut."""
    page.open(lines.read("exception"), "#event=6")
    page.is_at(6)
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not page.js("return document.querySelector('.tools').checkVisibility()")
        assert page.js("return document.querySelector('.memory').checkVisibility()")
        for selector in (".right", ".cm-scroller"):
            hidden = page.js(
                "const e = document.querySelector(arguments[0]); return e.scrollHeight - e.clientHeight",
                selector,
            )
            assert hidden <= 1, selector
        made = page.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        assert base64.b64decode(made["data"]).startswith(b"%PDF")
    finally:
        page.resize_back()


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_page_says_so(page: Page, lines: Folder, damage: str) -> None:
    """A file that lost its end, or whose data was changed."""
    path = page.folder / "damaged.html"
    write_trace_page(lines.read("recursion"), path)
    text = path.read_text()
    if damage == "cut":
        path.write_text(text[: text.index('id="block-0-0">') + 100])
        words = "the file is damaged"
    else:
        path.write_text(re.sub(r'(id="columns-0">.{8}).{12}', r"\1AAAAAAAAAAAA", text))
        words = "columns-0 is damaged"
    page.browser.get(path.as_uri())
    until(lambda: words in page.text("body"), "it says so")
