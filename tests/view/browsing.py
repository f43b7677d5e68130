"""A person with a mouse and keys before a page in headless Chromium."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording import Recording
from deskcheck.view.trace_page import write_trace_page

PROVED = "would have proved that the pages work in a browser"
webdriver = pytest.importorskip("selenium.webdriver", reason=PROVED)

from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: E402  # after the skip
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402

__all__ = [
    "FOREIGN",
    "MARKS",
    "NEEDS_AXE",
    "Keys",
    "Page",
    "ScrollOrigin",
    "Select",
    "chromium",
    "until",
    "webdriver",
]

REPOSITORY = Path(__file__).parents[2]
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
MISSING = "" if CHROMIUM and DRIVER else f"no chromium and chromedriver here: {PROVED}"
MARKS = [pytest.mark.skipif(bool(MISSING), reason=MISSING)]
NEEDS_AXE = pytest.mark.skipif(
    not AXE.exists(), reason="no axe-core in web/node_modules: would have proved accessibility"
)
WAIT_S = 60.0
VARIABLES = """return Object.fromEntries([...document.querySelectorAll('.frame.current .variable')]
    .map(e => [e.querySelector('.name').textContent, e.querySelector('.held').textContent]))"""
FOREIGN = "return document.querySelectorAll('img:not(.cm-widgetBuffer), main script, main b').length"
TABBING = """window.visited = new Set();
window.usable = () => [...document.querySelectorAll('button, input, select, summary, textarea, a[href], [tabindex="0"]')]
    .filter(e => !e.disabled && e.checkVisibility());
addEventListener('focusin', e => visited.add(e.target));
document.activeElement.blur();"""
FLAGS = """--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-quic --disable-dev-shm-usage --window-size=1400,950""".split()


def until(true: Callable[[], Any], what: str) -> Any:
    """What `true` gives as soon as it gives something."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {WAIT_S:g} s: {what}")


class Page:
    """A person with a mouse and keys before the page of a recording."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        self.folder = folder

    def open(self, recording: Recording, fragment: str = "#event=0", *, name: str = "page") -> None:
        path = self.folder / f"{name}.html"
        write_trace_page(recording, path)
        self.goto(path.as_uri() + fragment)

    def goto(self, address: str, drawn: str = "#now .kind") -> None:
        """Open an address, and wait until there is something of that selector."""
        self.browser.get("about:blank")
        self.browser.get(address)
        until(lambda: self.js("return !!document.querySelector(arguments[0])", drawn), "the page is drawn")

    def show(self, text: str, drawn: str) -> None:
        """Open a page that is given as HTML."""
        path = self.folder / "page.html"
        path.write_text(text, encoding="utf-8")
        self.goto(path.as_uri(), drawn)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return list(self.js(script, selector))

    def click(self, selector: str, *, at: int | None = None) -> None:
        """Click something; with `at`, wait until that event is drawn. So do `press` and `shift`."""
        self.browser.find_element("css selector", selector).click()
        self._arrive(at)

    def press(self, *keys: str, at: int | None = None) -> None:
        webdriver.ActionChains(self.browser).send_keys(*keys).perform()
        self._arrive(at)

    def shift(self, key: str, *, at: int | None = None) -> None:
        chain = webdriver.ActionChains(self.browser)
        chain.key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()
        self._arrive(at)

    def _arrive(self, at: int | None) -> None:
        if at is not None:
            self.is_at(at)

    def focus(self, selector: str) -> None:
        self.js("document.querySelector(arguments[0]).focus()", selector)

    def beyond_keys(self) -> list[str]:
        """What can be used and Tab does not come to, from the top of the page until it has gone round."""
        self.js(TABBING)
        for _ in range(self.js("return usable().length") + 20):
            self.press(Keys.TAB)
        return list(
            self.js("return usable().filter(e => !visited.has(e)).map(e => e.outerHTML.slice(0, 120))")
        )

    def at(self) -> int:
        """The event that is drawn."""
        return int(self.js("return document.getElementById('event').value"))

    def is_at(self, index: int) -> None:
        until(lambda: self.at() == index, f"event {index}; it is {self.at()}")

    def variables(self) -> dict[str, str]:
        """Names and values of the running frame."""
        return dict(self.js(VARIABLES))

    def resize(self, scheme: str, width: int) -> None:
        """Light or dark, and so wide; `resize_back` undoes it."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def resize_back(self) -> None:
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def violations(self) -> list[tuple[str, list[str]]]:
        """What axe-core finds."""
        self.js(AXE.read_text())
        found = self.browser.execute_async_script("axe.run().then(arguments[0])")
        return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found["violations"]]

    def fits(self) -> bool:
        """Whether the page is not wider than its window."""
        return bool(self.js("return document.documentElement.scrollWidth <= innerWidth"))


def chromium(profile: Path) -> Any:
    """A browser that asks nobody anything, and keeps what it says."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(WAIT_S)
    return driver
