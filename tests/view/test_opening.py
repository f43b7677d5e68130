"""Where a page opens: by hand for each way in which a run can end."""

from pathlib import Path

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from deskcheck.view.queries.opening import opening_event
from deskcheck.view.queries.why import why
from tests.view.browsing import MISSING, NEEDS_AXE, Keys, Page, until

CAUGHT = """import os


class Shop:
    pass


def find(names):
    try:
        return names["x"]
    except KeyError:
        return 3


value = find({})
print(value)
"""
RAISED = """def inner(n):
    try:
        return 8 // n
    finally:
        n = 5


def outer(numbers):
    try:
        inner(1)
        raise KeyError("first")
    except KeyError:
        pass
    return [inner(n) for n in numbers]


outer([4, 0])
"""
EXITS = "import sys\n\n\ndef main():\n    count = 2\n    return count - {}\n\n\nsys.exit(main())\n"
PROGRAMS = {
    "returns": ("values = [1]\nvalues.append(2)\n", "line", 2),
    "imports": (CAUGHT, "call", 8),
    "raises": (RAISED, "raise", 3),
    "exits well": (EXITS.format(2), "line", 6),
    "exits badly": (EXITS.format(1), "raise", 9),
    "recursion": (
        "def down(n):\n    if n:\n        down(n - 1)\n    return 1 / n\n\n\ndown(300)\n",
        "raise",
        4,
    ),
    "never ends": ("total = 0\nwhile True:\n    total += 1\n", "line", 0),
    "does nothing": ("pass\n", "line", 1),
}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    programs = [
        Program(id=name, code=code, mode=Mode.MODULE, filename="program.py", source="test")
        for name, (code, _, _) in PROGRAMS.items()
    ]
    folder: Path = tmp_path_factory.mktemp("opening")
    settings = RecordSettings(repeat=False, sandbox=Confinement.TRUSTED, wall_s=3)
    record_programs(programs, folder, settings, workers=1)
    return Recordings(folder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_page_opens_where_something_happens(recordings: Recordings, name: str) -> None:
    """At the line that raised what ended the run, else at the first change of a variable, else at the end."""
    _, kind, line = PROGRAMS[name]
    recording = recordings[name]
    row = recording.trace.rows[opening_event(recording, recording.trace)]
    if line:
        assert (row.kind, row.line) == (kind, line)
    else:
        assert row.index == len(recording.trace) - 1


needs_browser = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@needs_browser
def test_the_first_screen_of_a_run_that_failed(page: Page, recordings: Recordings) -> None:
    """It says what this is and what to press, and shows the line that raised, marked, without scrolling the page."""
    for width in (1440, 768, 360):
        page.resize("light", width)
        page.open(recordings["raises"], "")
        until(lambda: page.text(".current-line .note-now") == "raised here", "the line is marked")
        assert "a recorded run" in page.text(".about")
        assert "raised in line 3" in page.text(".about")
        assert page.text("#do-back") == "← Back"
        assert page.text("#do-forward") == "Next →"
        assert page.text(".current-line").startswith("        return 8 // n")
        seen = page.js(
            "const e = document.querySelector('.note-now').getBoundingClientRect(); return [scrollY, e.top, e.bottom]"
        )
        assert seen[0] == 0
        assert 0 < seen[1] < seen[2] < 900
        assert page.fits()
    page.resize_back()
    page.click("#do-first", at=0)
    page.click(".about .jump")
    until(lambda: page.text(".current-line .note-now") == "raised here", "the link goes there")


@needs_browser
def test_what_just_ran_and_what_runs_next(page: Page, recordings: Recordings) -> None:
    """Both lines are marked, and the values that lines wrote are beside them."""
    page.open(recordings["returns"], "")
    until(lambda: page.text(".note-values") == "values = [1]", "the value is beside its line")
    assert page.text(".note-before") == "just ran"
    assert page.js("return document.querySelector('.note-before').parentElement.textContent").startswith(
        "values = [1]"
    )
    assert page.text(".current-line .note-now") == "runs next"
    page.press("n")
    until(lambda: page.text(".note-values") == "values = [1, 2]", "the line that changed it has it now")
    assert page.js("return document.querySelector('.note-values').parentElement.textContent").startswith(
        "values.append(2)"
    )
    last = len(recordings["returns"].trace) - 1
    page.press(Keys.END, at=last)
    assert f"of {last}" in page.text("nav.tools")


@needs_browser
def test_imports_are_few_words(page: Page, recordings: Recordings) -> None:
    """Functions, classes and imported names are listed below the variables of the module."""
    recording = recordings["imports"]
    page.open(recording, f"#event={len(recording.trace) - 1}")
    until(lambda: page.texts(".globals .variable .name") == ["value"], "only the variable")
    assert page.texts(".globals .defined") == ["def find", "class Shop"]
    assert page.js("return document.getElementById('visit').value") == "1"


@needs_browser
@NEEDS_AXE
def test_a_click_on_a_value_says_why(page: Page, recordings: Recordings) -> None:
    """The page's steps are the lines of `deskcheck why`; their links go to the events; Escape closes."""
    recording = recordings["exits well"]
    last = len(recording.trace) - 1
    page.open(recording, f"#event={last}")
    page.is_at(last)
    count = next(row.index for row in recording.trace.rows if row.locals and '"count"' in row.locals)
    page.press("g")
    page.press(str(count), Keys.ENTER, at=count)
    page.click(".frame.current .variable .held")
    lines = list(why(recording, "count", at=count).lines())
    until(lambda: page.texts(".why .step"), "the answer")
    shown = [text.strip().removesuffix(" show") for text in page.texts(".why .step")]
    assert shown == [line.strip().replace("`count`", "count", 1) for line in lines]
    assert page.violations() == []
    page.press("n", at=count + 1)
    assert page.texts(".why .step")
    page.click(".why .jump", at=count)
    page.press(Keys.ESCAPE)
    until(lambda: not page.texts(".why"), "it is closed")
    page.js("document.querySelector('.frame.current .ask').focus()")
    page.press(Keys.ENTER)
    until(lambda: page.texts(".why .step"), "the answer, by keyboard")


@needs_browser
def test_a_long_trace_names_the_command(page: Page, recordings: Recordings) -> None:
    """A page without answers says which command has them."""
    recording = recordings["never ends"]
    page.open(recording, "")
    page.click(".globals .variable .held")
    until(lambda: "deskcheck why FOLDER 'total' --recording 'never ends'" in page.text(".why"), "the command")
