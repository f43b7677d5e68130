"""What a recording in Python can do for people: `view`, `save`, `to_html`, a page in notebooks, its `repr`."""

import html
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deskcheck
from deskcheck.recording.reader import Recordings
from deskcheck.view.inline import INLINE_CHARS, INLINE_EVENTS


def mean(numbers: list[float]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total / len(numbers)


def large(count: int) -> int:
    texts = [chr(65 + i % 26) * 9000 + str(i) for i in range(count)]
    return len(texts)


def test_repr_says_what_came_of_it() -> None:
    """The result or the exception, the number of events, and why events are missing."""
    name = "test_shown.py::mean"
    assert repr(deskcheck.trace(mean, [4.0])) == f"<Recording {name}: returned 4.0, 7 events>"
    raised = "raised ZeroDivisionError: (float )?division by zero"
    assert re.match(f"<Recording {name}: {raised}, 6 events>", repr(deskcheck.trace(mean, [])))
    short = deskcheck.TraceLimits(events=3, repetitions=2)
    missing = "returned 4.0, 3 events, the rest is missing: the limit on events was reached, repetitions=2"
    assert repr(deskcheck.trace(mean, [4.0], trace_limits=short)) == f"<Recording {name}: {missing}>"
    assert "\\n" in repr(deskcheck.trace(lambda: int("a\n")))


def test_saves_add_up(tmp_path: Path) -> None:
    """Three saves are three recordings, read back with the same rows; a taken id and a file are refused."""
    first, second = deskcheck.trace(mean, [4.0]), deskcheck.trace(mean, [])
    folder = tmp_path / "runs"
    ids = [first.save(folder), second.save(folder), first.save(folder, id="chosen")]
    assert ids == ["test_shown.py::mean", "test_shown.py::mean-2", "chosen"]
    read = Recordings(folder)
    assert [list(read[name].trace.rows) for name in ids] == [
        list(r.trace.rows) for r in (first, second, first)
    ]
    assert (read[ids[1]].run_result, read["chosen"].environment.tracer) == (
        second.run_result,
        first.environment.tracer,
    )
    with pytest.raises(deskcheck.InputError, match="'chosen' already"):
        first.save(folder, id="chosen")
    for path in (tmp_path / "run.html", Path(__file__)):
        with pytest.raises(deskcheck.InputError, match="name one"):
            first.save(path)


def test_arguments_that_are_objects_are_told_apart() -> None:
    """`ask` puts questions about arguments that their text makes again."""
    assert deskcheck.trace(mean, [4.0]).program.extra == {"arguments": "literal"}
    assert deskcheck.trace(max_of, Holder()).program.extra["arguments"] != "literal"


class Holder:
    value = 3


def max_of(holder: Holder) -> int:
    return holder.value


def test_view_is_that_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no browser is, the same table; `to_html` writes the page that the command writes."""
    recording = deskcheck.trace(mean, [4.0])
    recording.save(tmp_path / "runs")
    recording.view()
    shown = capsys.readouterr().out
    ran = subprocess.run(
        [sys.executable, "-m", "deskcheck", "view", str(tmp_path / "runs"), "test_shown.py::mean"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == shown
    assert recording.to_html(tmp_path / "page.html") == tmp_path / "page.html"
    plain = re.sub(r'nonce[=-]"?[\w-]+', "", recording.to_html())
    assert plain == re.sub(r'nonce[=-]"?[\w-]+', "", (tmp_path / "page.html").read_text())


def test_a_page_in_a_notebook_is_bounded() -> None:
    """It is small, of a long trace the beginning, of values too large fewer events, and it says so."""
    short, long, wide = (
        deskcheck.trace(mean, [4.0]),
        deskcheck.trace(mean, [1.0] * 5000),
        deskcheck.trace(large, 900),
    )
    assert len(short._repr_html_()) < 300_000
    assert f"first {INLINE_EVENTS:,} events" in long._repr_html_()
    shown = wide._repr_html_()
    assert len(shown) < 1.2 * INLINE_CHARS
    for each in (short, long, wide):
        assert html.escape(repr(each)) in each._repr_html_()


def test_what_a_call_gave_already_is_refused() -> None:
    """A coroutine or generator object: give the function."""

    async def later(x: int) -> int:
        return x

    made: Any = later(3)
    with pytest.raises(deskcheck.InputError, match=r"deskcheck\.trace\(later, \.\.\.\)"):
        deskcheck.trace(made)


def test_the_page_in_a_frame(page: Any) -> None:
    """In a browser the frame draws the page, steps, and cannot reach the page around it."""
    page.show(f"<html><body>{deskcheck.trace(mean, [4.0, 5.0])._repr_html_()}</body></html>", "iframe")
    page.browser.switch_to.frame(0)
    try:
        from tests.view.browsing import Keys, until

        until(lambda: page.text("#now .kind") == "line", "the page in the frame is drawn, at a change")
        page.focus("#do-forward")
        page.press(Keys.HOME)
        until(lambda: page.text("#now .kind") == "call", "the first event")
        page.click("#do-forward")
        until(lambda: page.text("#now .kind") == "line", "it steps")
        reach = "try { return String(parent.document.title) } catch (error) { return error.name }"
        assert page.js(reach) == "SecurityError"
    finally:
        page.browser.switch_to.default_content()
