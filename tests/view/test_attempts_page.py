"""The page of what a method did, in a real browser: light and dark, narrow and wide, with hostile texts."""

from pathlib import Path

import pytest

from deskcheck.view.attempts_page import answered_in, attempts_page, of_sample
from tests.view.browsing import MARKS, Page
from tests.view.test_attempts import TOLD, write_run

pytestmark = MARKS


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_page_is_read_on_any_screen(page: Page, tmp_path: Path, scheme: str, width: int) -> None:
    """It fits, also with all its parts open; hostile text is text; each attempt has its line, and its tone."""
    page.resize(scheme, width)
    try:
        page.show(attempts_page(of_sample(answered_in(write_run(tmp_path)), "half")), "h1")
        page.js("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert page.js("return document.documentElement.scrollWidth <= innerWidth")
        assert page.js("return document.querySelectorAll('main img, main script, main b').length") == 0
        assert len(page.texts("li")) == len(TOLD["attempts"])
        assert len(page.texts("li.wrong")) == len(page.texts("li.right")) == 1
        assert "raise 3 ! ValueError" in page.text("main")
        assert page.text("li.wrong .outcome-line").startswith("0 of 2 pass; test 1 of 2:")
    finally:
        page.resize_back()
