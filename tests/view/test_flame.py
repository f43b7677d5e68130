"""The calls of a recording, as flame charts of the page and of other programs."""

import base64
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deskcheck.cli import app
from deskcheck.view.flame import perfetto, spans_of, speedscope
from tests.view.browsing import MISSING, REPOSITORY, Page, until
from tests.view.conftest import PROGRAMS, Folder

SPEEDSCOPE = REPOSITORY / "web" / "node_modules" / "speedscope" / "dist" / "release"
needs_speedscope = pytest.mark.skipif(
    bool(MISSING) or not SPEEDSCOPE.exists(),
    reason="no Chromium or no web/node_modules: would have proved that speedscope reads the file",
)


def test_the_calls_of_a_recursion(lines: Folder) -> None:
    """fib(6) makes 25 calls, as anybody can count; each lies inside the one that made it."""
    spans = spans_of(lines.read("recursion").trace.rows)
    assert len(spans) == 25
    assert {span.function for span in spans} == {"fib"}
    assert (spans[0].start, spans[0].end, spans[0].depth) == (0, len(lines.read("recursion").trace), 0)
    for span in spans[1:]:
        around = [one for one in spans if one.start < span.start and span.end < one.end]
        assert len(around) == span.depth


def test_a_generator_is_a_call_for_each_time_it_runs(lines: Folder) -> None:
    """It yields 0, 2, 4 and 6 and then ends: five stretches of the generator inside one call of the loop."""
    spans = spans_of(lines.read("generator").trace.rows)
    assert [span.function for span in spans] == ["total"] + 5 * ["evens"]
    assert [span.depth for span in spans] == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_schema_of_speedscope(lines: Folder, name: str) -> None:
    """Files follow the schema that speedscope publishes; begins and ends are nested and in order."""
    profile = json.loads(json.dumps(speedscope(lines.read(name))))
    for one in profile["profiles"]:
        stack: list[int] = []
        at = 0
        for event in one["events"]:
            assert event["at"] >= at
            at = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert stack == []
    schema = SPEEDSCOPE / "file-format-schema.json"
    if schema.exists():
        jsonschema = pytest.importorskip("jsonschema", reason="would have proved that the schema holds")
        jsonschema.validate(profile, json.loads(schema.read_text()))


@needs_speedscope
@pytest.mark.parametrize("form", ["speedscope", "perfetto"])
def test_speedscope_shows_the_files(page: Page, lines: Folder, tmp_path: Path, form: str) -> None:
    """speedscope itself opens both: its own format and the trace events that Perfetto reads."""
    written = tmp_path / "profile.json"
    ran = CliRunner().invoke(
        app,
        ["runs", "export", form, str(lines.path), "threads", "--out", str(written)],
        catch_exceptions=False,
    )
    assert ran.exit_code == 0
    text = base64.b64encode(written.read_bytes()).decode()
    (tmp_path / "profile.js").write_text(f"speedscope.loadFileFromBase64('profile.json', '{text}')")
    address = (SPEEDSCOPE / "index.html").as_uri() + f"#localProfilePath={tmp_path / 'profile.js'}"
    page.browser.get("about:blank")
    page.browser.get(address)
    until(lambda: "thread 0" in page.js("return document.body.innerText"), "the profile of the main thread")
    until(lambda: "speedscope" in page.browser.title, "its title")
    shown = page.js("return document.body.innerText")
    assert "Failed to load" not in shown
    said = page.browser.get_log("browser")  # speedscope says how long it took
    assert [entry for entry in said if entry["level"] == "SEVERE"] == []


def test_trace_events(lines: Folder) -> None:
    """A complete event for each call, an instant event for each exception and output, a track for each thread."""
    recording = lines.read("generator")
    events = perfetto(recording)["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 6
    printed = [row.index for row in recording.trace.rows if row.output]
    assert [event["ts"] for event in events if event.get("cat") == "output"] == printed
    threads = perfetto(lines.read("threads"))["traceEvents"]
    assert [event["args"]["name"] for event in threads if event["name"] == "thread_name"] == [
        "thread 0",
        "thread 1",
    ]
    raised = perfetto(lines.read("exception"))["traceEvents"]
    assert [event["args"]["line"] for event in raised if event.get("cat") == "exception"] == [2, 6, 11]
