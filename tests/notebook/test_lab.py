"""A real JupyterLab in a real browser: what a person does is what is recorded, step for step."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notebook import Execution, Status, Trajectory, read_trajectory
from deskcheck.notebook.trajectory.trajectory import Restart, Step
from tests.notebook.jupyter import Server, content, until
from tests.notebook.valid import check

PROVED = "would have proved that a session of JupyterLab is recorded step for step"
pytest.importorskip("jupyterlab", reason=PROVED)
webdriver = pytest.importorskip("selenium.webdriver", reason=PROVED)

from selenium.common.exceptions import WebDriverException  # noqa: E402  # after the skip

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=f"no chromium and chromedriver here: {PROVED}"),
]

FLAGS = """--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-quic --disable-dev-shm-usage --window-size=1200,1000""".split()
CELLS = [("aaaa", "x = 1"), ("bbbb", "x + 1"), ("cccc", "print(x)")]


def start(home: Path, *options: str) -> Server:
    """JupyterLab, with settings and folders below `home`."""
    settings = home / "lab" / "@jupyterlab" / "docmanager-extension" / "plugin.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"autosave": false}')  # nothing is saved but by the person at the keys
    environment = {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "lab"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }
    return Server(home, *options, program="jupyterlab", root=home / "work", environment=environment)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError:
        return None


class Person:
    """Somebody at a browser who works on one notebook, by mouse and keys."""

    def __init__(self, driver: Any, server: Server, path: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self.driver, self.keys = driver, Keys
        self.file = server.home / "work" / path
        driver.get(f"{server.url}lab/tree/{path}?token=token")
        until(lambda: self.status() == "Idle", "the notebook has a kernel")

    def found(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def script(self, text: str, *given: Any) -> Any:
        return self.driver.execute_script(text, *given)

    def status(self) -> str:
        """Of the kernel, as the status bar shows it: Idle, Busy, Connecting, ..."""
        shown = self.found("#jp-main-statusbar")
        return str(shown[0].text).partition(" | ")[2].partition("\n")[0] if shown else ""

    def press(self, *keys: str, holding: str = "") -> None:
        chain = webdriver.ActionChains(self.driver)
        for key in holding:
            chain = chain.key_down(key)
        chain = chain.send_keys(*keys)
        for key in holding:
            chain = chain.key_up(key)
        chain.perform()

    def enter(self, cell: int) -> None:
        """Begin to edit a cell."""

        def editing() -> bool:
            return bool(
                self.script(
                    "return document.activeElement.closest('.jp-Cell') === arguments[0] && "
                    "document.activeElement.classList.contains('cm-content')",
                    self.cell(cell),
                )
            )

        def click() -> bool:
            self.script("arguments[0].scrollIntoView({block: 'center'})", self.cell(cell))
            try:
                self.cell(cell).find_element("css selector", ".cm-content").click()
            except WebDriverException:  # the page is still making it, or something lies on it
                return False
            return editing()

        until(click, f"cell {cell} is edited")

    def leave(self) -> None:
        """To command mode."""
        self.press(self.keys.ESCAPE)
        until(lambda: self.found(".jp-Notebook.jp-mod-commandMode"), "command mode")

    def cell(self, number: int) -> Any:
        return until(lambda: self.found(".jp-Notebook .jp-Cell")[number:][:1], f"cell {number} is there")[0]

    def type(self, cell: int, source: str) -> None:
        self.enter(cell)
        self.press("a", holding=self.keys.CONTROL)
        self.press(source)
        self.stands(cell, source)

    def stands(self, cell: int, source: str) -> None:
        """Wait until a cell has this source."""
        until(lambda: self.source(cell) == source, f"cell {cell} is {source!r}")

    def source(self, cell: int) -> str:
        return str(self.script("return arguments[0].querySelector('.cm-content').innerText", self.cell(cell)))

    def prompt(self, cell: int) -> str:
        return str(
            self.script("return arguments[0].querySelector('.jp-InputPrompt').innerText", self.cell(cell))
        )

    def run(self, cell: int, count: int | None) -> None:
        """Run a cell, and wait for its count."""
        self.enter(cell)
        self.press(self.keys.ENTER, holding=self.keys.CONTROL)
        if count is not None:
            until(lambda: self.prompt(cell) == f"[{count}]:", f"cell {cell} has run as {count}")

    def save(self) -> None:
        before = self.file.stat().st_mtime_ns
        self.press("s", holding=self.keys.CONTROL)
        until(lambda: self.file.stat().st_mtime_ns != before and _json(self.file), "the notebook is saved")

    def accept(self) -> None:
        """Agree to what a dialog asks."""
        until(lambda: self.found(".jp-Dialog .jp-mod-accept"), "a dialog")
        self.script("document.querySelector('.jp-Dialog .jp-mod-accept').click()")
        until(lambda: not self.found(".jp-Dialog"), "the dialog is gone")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in FLAGS:  # the profile is chromedriver's: in one that is named Chromium 150 cut JupyterLab off
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=str(DRIVER)))
    try:
        yield driver
        driver.save_screenshot(str(tmp_path / "page.png"))  # as it stood at the end, or at a failure
    finally:
        driver.quit()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "analysis.ipynb").write_text(json.dumps(content(CELLS)))
    return tmp_path


def told(steps: Any) -> list[tuple[Any, ...]]:
    """The steps in the words of the person who did them."""

    def one(step: Step) -> tuple[Any, ...]:
        if isinstance(step, Execution):
            # Whether a dying kernel still tells the count is chance.
            count = None if step.status is Status.DIED else step.count
            return ("run", step.cell, step.source, step.status.value, count)
        if isinstance(step, Restart):
            return ("restart", step.why)
        facts = (getattr(step, name) for name in ("source", "position") if hasattr(step, name))
        return (step.kind, getattr(step, "cell", None), *facts)

    return [one(step) for step in steps]


def recorded(home: Path) -> Trajectory:
    found = read_trajectory(home / "rec" / "analysis.trajectory.parquet")
    check(found.cells, found.steps)
    return found


def test_a_session(home: Path, browser: Any) -> None:
    """Run, edit, run out of order, insert, an error, an interrupt, move, delete, restart, a kernel's death: each
    is a step, in its place, with its cell, its outputs and how it ended."""
    server = start(home, f"--Deskcheck.folder={home / 'rec'}")
    try:
        person = Person(browser, server, "analysis.ipynb")
        person.run(0, 1)
        person.run(1, 2)
        person.type(0, "x = 10")
        person.run(0, 3)
        person.run(2, 4)  # not the one below
        person.leave()
        person.press("b")  # a cell below
        person.type(3, "1/0")
        person.save()
        added = json.loads(person.file.read_text())["cells"][3]["id"]
        person.run(3, 5)
        person.type(3, "while True: pass")
        person.run(3, None)
        until(lambda: person.status() == "Busy", "the loop runs")
        person.leave()
        person.press("ii")
        until(lambda: person.prompt(3) == "[6]:", "the loop was interrupted")
        # By two: of two neighbours that change places a save cannot tell which was moved.
        for place in (2, 1):
            person.press(person.keys.ARROW_UP, holding=person.keys.CONTROL + person.keys.SHIFT)
            person.stands(place, "while True: pass")
        person.save()
        person.enter(2)
        person.leave()
        person.press("dd")
        until(lambda: len(person.found(".jp-Notebook .jp-Cell")) == 3, "the cell is gone")
        person.run(2, 7)
        person.leave()
        person.press("00")
        person.accept()
        person.run(2, 1)
        person.type(0, "import os; os._exit(1)")
        person.run(0, None)
        person.accept()  # that the kernel has died
        person.type(1, "x = 3")
        person.run(1, 1)
    finally:
        server.stop()
    found = recorded(home)
    assert [(cell.id, cell.source) for cell in found.cells] == CELLS
    assert told(found.steps) == [
        ("run", "aaaa", "x = 1", "ok", 1),
        ("run", "bbbb", "x + 1", "ok", 2),
        ("edit", "aaaa", "x = 10"),
        ("run", "aaaa", "x = 10", "ok", 3),
        ("run", "cccc", "print(x)", "ok", 4),
        ("insertion", added, "1/0", 3),
        ("run", added, "1/0", "error", 5),
        ("edit", added, "while True: pass"),
        ("run", added, "while True: pass", "interrupted", 6),
        ("move", added, 1),
        ("deletion", "bbbb"),
        ("run", "cccc", "print(x)", "ok", 7),
        ("restart", "asked"),
        ("run", "cccc", "print(x)", "error", 1),
        ("edit", "aaaa", "import os; os._exit(1)"),
        ("run", "aaaa", "import os; os._exit(1)", "died", None),
        ("restart", "died"),
        ("edit", added, "x = 3"),
        ("run", added, "x = 3", "ok", 1),
    ]
    ran = list(found.executions)
    assert ran[1].outputs[0].data["text/plain"] == "2"
    assert ran[3].text() == "10\n"
    assert ran[4].error is not None
    assert ran[4].error.name == "ZeroDivisionError"
    assert ran[7].error is not None
    assert ran[7].error.name == "NameError"
    assert found.steps[-1].order == ("aaaa", added, "cccc")
    assert all(one.at is not None and one.end is not None and one.at <= one.end for one in ran)
    assert found.kernel == "python3"


def test_nothing_without_the_users_word(home: Path, browser: Any) -> None:
    """With the extension, and no folder named, a session leaves no recording anywhere below its home."""
    server = start(home)
    try:
        person = Person(browser, server, "analysis.ipynb")
        person.run(0, 1)
        assert "deskcheck | extension was successfully loaded" in server.log
    finally:
        server.stop()
    assert list(home.rglob("*trajectory*")) == []
