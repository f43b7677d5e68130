"""The trace page in a real browser: every control once, on real recordings."""

from threading import Thread

import pytest

from deskcheck.recording import Recording
from deskcheck.view.queries.opening import opening_event
from deskcheck.view.trace_page import write_trace_page
from deskcheck.view.trace_server import TraceServer
from tests.view.browsing import FOREIGN, MARKS, NEEDS_AXE, Keys, Page, ScrollOrigin, Select, until, webdriver
from tests.view.conftest import PROGRAMS, Folder

pytestmark = MARKS


def index_of(recording: Recording, kind: str, nth: int = 0) -> int:
    return [row.index for row in recording.trace.rows if row.kind == kind][nth]


def test_steps(page: Page, lines: Folder) -> None:
    """Forward, back, over, back over, out, first, last, by buttons and by keys, on a recursion."""
    recording = lines.read("recursion")
    depths = [len(event.state.active) for event in recording.trace]
    last = len(depths) - 1
    page.open(recording)
    page.is_at(0)
    page.click("#do-forward", at=1)
    page.press(Keys.ARROW_RIGHT, "n", at=3)
    page.press(Keys.ARROW_LEFT, at=2)
    page.press("p", at=1)
    page.press("n")
    page.is_at(2)  # the line that calls twice
    over = next(i for i in range(3, last + 1) if depths[i] <= depths[2])
    page.click("#do-over", at=over)
    page.click("#do-back-over", at=2)
    page.press("o", at=over)
    page.press("b", at=2)
    page.press("n", "n", "n", "n", at=6)
    page.press("u", at=next(i for i in range(7, last + 1) if depths[i] < depths[6]))
    page.press(Keys.END, at=last)
    assert page.js("return document.getElementById('do-forward').disabled")
    assert "the end: returned" in page.text(".ending")
    page.press("n")
    until(lambda: page.text(".notice") == "this is the last event", "it says that there is no more")
    page.press(Keys.HOME, at=0)
    page.press(Keys.PAGE_DOWN, at=min(100, last))
    page.click("#do-first", at=0)
    page.click("#do-last", at=last)
    page.click("#do-back", at=last - 1)
    page.press("g")
    page.press("2", Keys.ENTER, at=2)
    page.shift(Keys.ARROW_RIGHT, at=over)
    page.shift(Keys.ARROW_LEFT, at=2)
    page.press("g")
    page.press("6", Keys.ENTER, at=6)
    page.shift("u", at=next(i for i in range(5, -1, -1) if depths[i] < depths[6]))
    page.press("g")
    page.press("6", Keys.ENTER, at=6)
    page.click("#do-out", at=next(i for i in range(7, last + 1) if depths[i] < depths[6]))
    page.press(Keys.END, at=last)
    page.press(Keys.PAGE_UP, at=max(0, last - 100))


@pytest.mark.slow
def test_every_event_shows_what_the_trace_says(page: Page, lines: Folder) -> None:
    """Kind, line and plain variables of each event of a published program, or of the recursion."""
    name = "cruxeval" if "cruxeval" in lines.recordings else "recursion"
    recording = lines.read(name)
    page.open(recording)
    for event in recording.trace:
        page.is_at(event.index)
        assert page.text("#now .kind") == event.kind
        shown = page.variables()
        assert set(event.locals) <= set(shown)
        for variable, value in event.locals.items():
            if value.kind == "atom":
                assert shown[variable] == repr(value)
        assert f"line {event.line}" in page.text(".frame.current .where")
        page.press("n")


def test_frames_of_a_recursion(page: Page, lines: Folder) -> None:
    """All frames of the stack are drawn; one that waits shows its line and the call it is in."""
    recording = lines.read("recursion")
    deepest = max(recording.trace, key=lambda event: len(event.state.active)).index
    page.open(recording, f"#event={deepest}")
    page.is_at(deepest)
    assert page.texts(".frame:not(.globals) .function") == ["fib"] * len(
        recording.trace[deepest].state.active
    )
    page.press("[")
    until(lambda: page.text(".call-mark") == "fib(n - 1)", "the call is marked in its line")
    page.press("]")
    until(lambda: page.text(".call-mark") == "", "back at the running frame")
    page.click(".frame .frame-title")
    until(lambda: page.text(".call-mark") == "fib(n - 1)", "a click shows it too")


def test_a_generator_and_its_output(page: Page, lines: Folder) -> None:
    """Yielded values, the suspended frame, what was printed so far; steps to the next and the previous output."""
    recording = lines.read("generator")
    printed = [row.index for row in recording.trace.rows if row.output]
    page.open(recording, f"#event={index_of(recording, 'yield', 1)}")
    assert page.variables()["yields"] == "2"
    page.press("n")
    until(lambda: page.texts(".frame.suspended .function") == ["evens"], "the generator waits")
    page.press(Keys.HOME, at=0)
    for index in printed[:2]:
        page.press("w", at=index)
    assert page.text(".output pre") == "found 0\nfound 2\n"
    assert page.text(".output ins") == "found 2\n"
    page.click("#do-output-back", at=printed[0])
    page.click("#do-output", at=printed[1])
    page.shift("w", at=printed[0])


def test_an_exception_that_crosses_frames(page: Page, lines: Folder) -> None:
    """Every raise is come to, in both directions, marked as such, with the exception as an object."""
    recording = lines.read("exception")
    raises = [row.index for row in recording.trace.rows if row.kind == "raise"]
    assert len({recording.trace[index].frame for index in raises}) == 3
    page.open(recording)
    for index in raises:
        page.press("e", at=index)
        assert "ZeroDivisionError" in page.text("#now")
        assert page.js("return !!document.querySelector('.current-line.raise')")
    assert "ZeroDivisionError" in page.text(".card.exception")
    page.shift("e", at=raises[-2])
    page.click("#do-exception", at=raises[-1])
    page.click("#do-exception-back", at=raises[-2])


@pytest.mark.slow
def test_names_that_share_an_object(page: Page, lines: Folder) -> None:
    """Arrows run from both names to one object; what changed is marked; a watched variable's changes are found."""
    recording = lines.read("aliasing")
    last = len(recording.trace) - 1
    page.open(recording, f"#event={last}")
    page.is_at(last)
    held = page.variables()
    assert held["row"].startswith("#")
    targets = page.js("return [...document.querySelectorAll('.arrows path[data-to]')].map(e => e.dataset.to)")
    assert targets.count(held["row"][1:]) == 4  # row, twice in grid, in names
    crossed = page.js(
        "const all = [...document.querySelectorAll('.arrows path[data-to]')].map(e => e.getPointAtLength(0));"
        "const origin = document.querySelector('.arrows').getBoundingClientRect();"
        "return all.filter(({x, y}) => [...document.querySelectorAll('.frame .ref, .frame button')].some(e => {"
        "const r = e.getBoundingClientRect(); const top = r.top - origin.top, left = r.left - origin.left;"
        "return y > top && y < top + r.height && x < left + r.width; })).length"
    )
    assert crossed == 0  # arrows begin at the edge of a box, so they run through no text
    assert (
        held["grid"][1:]
        in page.js(  # grid holds itself
            "return [...document.querySelectorAll(`#object-${arguments[0]} .ref`)].map(e => e.dataset.to)",
            held["grid"][1:],
        )
    )
    assert str(2**80) in page.text(f"#object-{held['row'][1:]}")
    page.js(
        "[...document.querySelectorAll('.frame.current button.name')].find(e => e.textContent === 'row').click()"
    )
    found: list[int] = []
    for _ in range(2):
        page.shift("v")
        until(lambda: page.at() < (found[-1] if found else last), "an earlier change")
        found.append(page.at())
    assert [recording.trace[index].line for index in found] == [7, 6]
    until(lambda: page.texts(".item.changed"), "the item that changed is marked")
    page.press("v", at=found[0])
    page.click("#do-change")
    until(lambda: "does not change again" in page.text(".notice"), "it says so")
    page.click("#do-change-back", at=found[1])
    target = page.js("return document.querySelector('.ref').dataset.to")
    page.click(".ref")
    until(
        lambda: page.js("return document.querySelector('.card.flash')?.dataset.object") == target,
        "it is shown",
    )


@pytest.mark.slow
def test_visits_of_a_line(page: Page, lines: Folder) -> None:
    """The gutter, its keys and the field lead to the k-th visit; the gutter says how many there are."""
    recording = lines.read("loop")
    visits = [row.index for row in recording.trace.rows if row.kind == "line" and row.line == 4]
    page.open(recording)
    assert "3200\u00d7" in page.texts(".visits .cm-gutterElement")
    gutter = page.browser.find_elements("css selector", ".cm-lineNumbers .cm-gutterElement")
    fourth = next(element for element in gutter if element.text == "4")
    fourth.click()
    page.is_at(visits[0])
    page.press(".", ".", at=visits[2])
    page.press(",", at=visits[1])
    page.click("#do-visit", at=visits[2])
    page.click("#do-visit-back", at=visits[1])
    field = page.browser.find_element("id", "visit")
    field.clear()
    field.send_keys("1234", Keys.ENTER)
    page.is_at(visits[1233])
    webdriver.ActionChains(page.browser).key_down(Keys.SHIFT).click(fourth).key_up(Keys.SHIFT).perform()
    page.is_at(visits[1232])
    page.browser.find_elements("css selector", ".visits .cm-gutterElement")[-1].click()
    last_line = recording.program.code.count("\n")
    page.is_at(
        next(row.index for row in recording.trace.rows if row.kind == "line" and row.line == last_line)
    )
    assert page.js("return document.getElementById('line').value") == str(last_line)
    line = page.browser.find_element("id", "line")
    line.clear()
    line.send_keys("4", Keys.ENTER)
    page.is_at(visits[0])
    page.press(".", at=visits[1])
    line.clear()
    line.send_keys("1", Keys.ENTER)
    until(lambda: page.text(".notice") == "line 1 never runs", "it says so")
    page.press(Keys.ESCAPE)
    until(lambda: page.text(".notice") == "", "nothing is said")
    field = page.browser.find_element("id", "event")
    field.clear()
    field.send_keys("77", Keys.ENTER)
    page.is_at(77)


@pytest.mark.slow
def test_search(page: Page, lines: Folder) -> None:
    """What is looked for is found through all blocks; a click goes there; Escape closes."""
    recording = lines.read("loop")
    page.open(recording)
    page.press("/")
    page.press("i = 3199")
    until(lambda: len(page.texts(".found button")) == 1, "one is found")
    page.click(".found button")
    until(lambda: page.variables().get("i") == "3199", "there it is")
    assert page.fits()
    page.press(Keys.ESCAPE)
    until(lambda: not page.texts(".found"), "closed")


@pytest.mark.slow
def test_the_timeline(page: Page, lines: Folder) -> None:
    """A click goes to an event in proportion; keys and the wheel zoom; it tells where it stands."""
    recording = lines.read("loop")
    page.open(recording)
    canvas = page.browser.find_element("css selector", ".timeline")
    webdriver.ActionChains(page.browser).move_to_element(canvas).click().perform()
    until(lambda: abs(page.at() - len(recording.trace) / 2) < 60, "the middle")
    assert canvas.get_attribute("aria-valuenow") == str(page.at())
    before = page.at()
    page.press("+", "+", "+", "+", "+", "+")
    webdriver.ActionChains(page.browser).move_to_element_with_offset(canvas, 300, 0).click().perform()
    until(lambda: page.at() != before, "a click beside it")
    assert abs(page.at() - before) < 900
    near = page.at()
    page.press(*("-" * 6))
    webdriver.ActionChains(page.browser).move_to_element_with_offset(canvas, 300, 0).click().perform()
    until(lambda: page.at() > near + 900, "farther, now that all events are there again")
    wheel = ScrollOrigin.from_element(canvas)
    for _ in range(6):
        webdriver.ActionChains(page.browser).scroll_from_origin(wheel, 0, -100).perform()
    before = page.at()
    chain = webdriver.ActionChains(page.browser).move_to_element_with_offset(canvas, -300, 0)
    chain.click_and_hold().move_by_offset(200, 0).release().perform()
    until(lambda: page.at() != before, "it is dragged")
    # The wheel has brought 9,000 events down to about 1,000, about the middle.
    middle, shown = len(recording.trace) / 2, len(recording.trace) * 0.7**6
    assert abs(page.at() - middle) < shown
    assert page.at() < middle


@pytest.mark.slow
def test_instructions(page: Page, instructions: Folder) -> None:
    """Instructions with offsets and the value stack; without them a step goes to the next line."""
    recording = instructions.read("aliasing")
    rows = recording.trace.rows
    index = next(row.index for row in rows if row.instruction == "BUILD_LIST 2" and row.line == 3)
    page.open(recording, f"#event={index}")
    assert "BUILD_LIST 2" in page.text("#now")
    assert page.text(".instructions button[aria-current]").endswith("BUILD_LIST 2")
    assert len(page.texts(".frame.current .stacked")) == len(recording.trace[index].stack)
    page.press("i")
    until(
        lambda: not page.js("return document.getElementById('instructions').checked"), "without instructions"
    )
    page.press("n", at=next(row.index for row in rows[index + 1 :] if row.kind != "instruction"))
    page.click("#instructions")
    here = page.at()
    page.press("n")  # the box has the focus, and leaves the keys alone
    page.is_at(here + 1)
    first = page.text(".instructions button")
    page.click(".instructions button")
    until(lambda: page.text(".instructions button[aria-current]") == first, "its event")


def test_a_generator_by_instruction(page: Page, instructions: Folder) -> None:
    """Two frames in turn, each with its own instructions and stack; what is given back and forth."""
    recording = instructions.read("generator")
    page.open(recording, f"#event={index_of(recording, 'yield')}")
    assert page.variables()["yields"] == "0"
    assert page.text(".frame.current .function") == "evens"
    page.press("n")
    until(lambda: page.texts(".frame.suspended .function") == ["evens"], "the generator waits")
    assert page.text(".frame.current .stack-title") == "value stack, top last"


def test_what_is_large_opens(page: Page, lines: Folder) -> None:
    """Of a long text, list and dict the beginning is drawn; a click shows the rest."""
    recording = lines.read("large")
    page.open(recording, f"#event={len(recording.trace) - 1}")
    page.is_at(len(recording.trace) - 1)
    whole = {"more characters": repr("abc " * 100), "270 more": "299", "48 more": "'key 59'"}
    for label, hidden in whole.items():
        assert hidden not in page.text(".memory")
        button = next(e for e in page.browser.find_elements("css selector", "button.more") if label in e.text)
        button.click()
        until(lambda hidden=hidden: hidden in page.text(".memory"), f"{hidden} is drawn")  # type: ignore[misc]
    assert page.texts("button.more") == []


def test_threads(page: Page, lines: Folder) -> None:
    """Each thread has its events; the one that is chosen opens at its first change, and is in the address."""
    recording = lines.read("threads")
    lengths = [len(trace) for trace in recording.traces]
    assert len(lengths) == 2
    page.open(recording, "#event=3")
    page.is_at(3)
    assert page.text(".frame.current .function") == "main"
    chooser = Select(page.browser.find_element("css selector", "header select"))
    chooser.select_by_value("1")
    opens = opening_event(recording, recording.traces[1])
    page.is_at(opens)
    until(lambda: f"of {lengths[1] - 1}" in page.text("nav.tools"), "the events of the other")
    page.focus("#do-forward")
    page.press("n")
    until(lambda: page.browser.current_url.endswith(f"#event={opens + 1}&thread=1"), "the address names both")
    page.goto(page.browser.current_url.partition("#")[0] + "#event=2&thread=1")
    page.is_at(2)
    until(lambda: f"of {lengths[1] - 1}" in page.text("nav.tools"), "the thread of the address")


@pytest.mark.slow
def test_several_files(page: Page, project: Recording) -> None:
    """The source follows the running frame into its file; another can be chosen until the next step."""
    page.open(project)
    shown = Select(page.browser.find_element("css selector", ".files select"))
    assert sorted(option.text for option in shown.options) == ["inner.py", "outer.py"]
    inner = next(row.index for row in project.trace.rows if row.file == "inner.py")
    page.press("g")
    page.press(str(inner), Keys.ENTER, at=inner)
    until(lambda: "twice = number" in page.text(".cm-content"), "the file of the frame")
    assert "of inner.py" in page.text(".frame.current .where")
    shown.select_by_visible_text("outer.py")
    until(lambda: "def both" in page.text(".cm-content"), "the file that was chosen")
    page.js("document.activeElement.blur()")
    page.press("n")
    until(lambda: "twice = number" in page.text(".cm-content"), "the file of the frame again")


@pytest.mark.slow
def test_keys_reach_everything(page: Page, lines: Folder, instructions: Folder) -> None:
    """Tab comes to every control, region that scrolls, and object that is referred to."""
    for recording in (lines.read("aliasing"), instructions.read("aliasing"), lines.read("threads")):
        page.open(recording, f"#event={len(recording.trace) - 2}")
        assert page.beyond_keys() == [], recording.id


def test_hostile_content_is_text(page: Page, lines: Folder) -> None:
    """HTML, scripts, bidirectional and zero-width characters, lone surrogates, a long string: shown, and run nowhere."""
    recording = lines.read("hostile")
    page.open(recording)
    title = page.browser.title
    for _ in recording.trace:
        assert page.browser.title == title
        assert page.js(FOREIGN) == 0
        page.press("n")
    until(lambda: page.at() == len(recording.trace) - 1, "the end")
    page.goto(page.browser.current_url.partition("#")[0] + f"#event={index_of(recording, 'raise')}")
    held = page.variables()
    assert "<img src=x" in held["html"]
    assert held["bidi"] == r"'a\u202eb\u200bc\ufeff'"
    assert held["lone"] == r"'\udc80 \ud800'"
    assert "more" in held["long"]
    everything = page.js("return document.body.innerText")
    assert not set(everything) & set("\u202e\u200b\ufeff\udc80\ud800")
    assert r"\u202e" in page.text(".cm-content")
    assert page.browser.title == title


@pytest.mark.slow
def test_deep_links_and_memory_of_the_theme(page: Page, lines: Folder) -> None:
    """The address names the event, also when it is changed by hand; the theme is switched and kept."""
    recording = lines.read("recursion")
    page.open(recording, "#event=12")
    page.is_at(12)
    page.press("n")
    until(lambda: page.browser.current_url.endswith("#event=13"), "the address follows")
    page.js("location.hash = '#event=5'")
    page.is_at(5)
    until(
        lambda: page.text("#now") and "5" in page.js("return document.getElementById('event').value"), "drawn"
    )
    before = page.js("return getComputedStyle(document.body).backgroundColor")
    page.press("t")
    until(lambda: page.js("return document.documentElement.dataset.theme") == "dark", "dark")
    assert page.js("return getComputedStyle(document.body).backgroundColor") != before
    page.browser.refresh()
    until(lambda: page.js("return document.documentElement.dataset.theme") == "dark", "still dark")
    page.click("#do-theme")
    page.click("#do-theme")
    until(lambda: not page.js("return document.documentElement.dataset.theme"), "as the system has it")
    page.goto(page.browser.current_url.partition("#")[0] + "#event=99999999")
    page.is_at(len(recording.trace) - 1)
    page.goto(page.browser.current_url.partition("#")[0] + "#event=<b>")
    page.is_at(opening_event(recording, recording.trace))


def test_help(page: Page, lines: Folder) -> None:
    """? shows the keys; while it is open they do nothing; it closes."""
    page.open(lines.read("recursion"))
    page.press("?")
    until(lambda: page.js("return document.querySelector('dialog').open"), "open")
    page.press("n")
    assert page.at() == 0
    page.click("dialog button")
    until(lambda: not page.js("return document.querySelector('dialog').open"), "closed")
    page.click("#do-help")
    page.press(Keys.ESCAPE)
    until(lambda: not page.js("return document.querySelector('dialog').open"), "closed again")


@pytest.mark.slow
@NEEDS_AXE
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 500)])
def test_nobody_is_shut_out(page: Page, lines: Folder, instructions: Folder, scheme: str, width: int) -> None:
    """axe-core finds nothing, in the wide page when light and in the narrow one when dark."""
    page.resize(scheme, width)
    try:
        shown = [(lines.read(name), -1) for name in PROGRAMS]
        shown += [
            (lines.read("exception"), index_of(lines.read("exception"), "raise")),
            (instructions.read("generator"), 90),
        ]
        for recording, event in shown:
            page.open(recording, f"#event={event % len(recording.trace)}")
            assert page.violations() == [], recording.id
            assert page.fits(), recording.id
    finally:
        page.resize_back()


def test_a_served_page(page: Page, lines: Folder) -> None:
    """Served, the page reads blocks as it needs them, and says when the server has gone."""
    recording = lines.read("loop")
    last = len(recording.trace) - 1
    with TraceServer(recording) as server:
        serving = Thread(target=server.serve)
        serving.start()
        try:
            page.goto(server.url)
            page.press(Keys.END, at=last)
            assert "returns" in page.variables()
            page.press(Keys.HOME, at=0)
        finally:
            server.close()
            serving.join()
    field = page.browser.find_element("id", "event")
    field.clear()
    field.send_keys("5000", Keys.ENTER)
    until(lambda: "no longer serves" in page.text(".problem"), "it says so")
    refused = [
        entry for entry in page.browser.get_log("browser") if "ERR_CONNECTION_REFUSED" not in entry["message"]
    ]
    assert refused == []


def test_a_page_that_was_cut(page: Page, lines: Folder) -> None:
    """A file that lost its end says that it cannot be shown, or that it needs its script."""
    path = page.folder / "cut.html"
    write_trace_page(lines.read("recursion"), path)
    text = path.read_text()
    block = text.index('id="block-0-0">')
    path.write_text(text[:block] + 'id="gone">' + text[block + len('id="block-0-0">') :])
    page.browser.get(path.as_uri())
    until(lambda: "lacks its part block-0-0" in page.text(".problem"), "the missing part is named")
