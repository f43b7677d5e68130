"""What the trace page is given is what the recording says."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from deskcheck.recording import InputError, Kind, Recording, Row, Trace
from deskcheck.view.flame import spans_of
from deskcheck.view.queries.causes import CAUSES_EVENTS, causes
from deskcheck.view.queries.why import why
from deskcheck.view.trace_data import KINDS, OUTPUT_CHARS, PRINTS, TraceData, page_facts, state_json
from deskcheck.view.trace_page import trace_page, write_trace_page
from deskcheck.view.trace_server import TraceServer
from tests.view.conftest import HOSTILE, PROGRAMS, REPOSITORY, Folder

WEB = REPOSITORY / "web"
BUILT = (WEB / "node_modules" / "esbuild").exists() and shutil.which("node") is not None


def same(a: Any, b: Any) -> bool:
    return json.dumps(a) == json.dumps(b)


@pytest.mark.parametrize("name", [*PROGRAMS, "cruxeval"])
def test_blocks_and_columns_hold_every_event(lines: Folder, name: str) -> None:
    """Kinds, frames, lines and depths of all events, and the state before each block, are those of the trace."""
    trace = lines.read(name).trace
    told = TraceData(trace)
    assert [KINDS[number & 15] for number in told.kinds] == [row.kind for row in trace.rows]
    assert list(told.frames) == [row.frame for row in trace.rows]
    assert list(told.lines) == [row.line for row in trace.rows]
    assert list(told.depths) == [len(event.state.active) for event in trace]
    assert [bool(number & PRINTS) for number in told.kinds] == [bool(row.output) for row in trace.rows]
    assert len(told.columns()) == 17 * len(trace)
    blocks = [json.loads(block) for block in told.blocks()]
    assert sum(len(block["rows"]) for block in blocks) == len(trace)
    for start, block in zip(told.starts[1:], blocks[1:], strict=True):
        assert same(block["state"], state_json(trace.state(start - 1)))


def test_numbers_that_javascript_would_change_are_text(lines: Folder) -> None:
    """1.0 stays a float and 2**80 whole: neither is a plain number in the page."""
    block = next(TraceData(lines.read("aliasing").trace).blocks()).decode()
    assert '{"float":"1.0"}' in block
    assert str(2**80) in block
    assert not re.search(r"(?<![\"\d.])\d+\.\d", block)


def test_output_before_a_block_is_bounded() -> None:
    """A block carries the last characters of what was printed before it, and how many there were."""
    rows = [
        Row(0, i, "line", 0, "f", "f.py", 1, 0, None, None, None, None, None, None, "x" * 100, None)
        for i in range(600)
    ]
    told = TraceData(Trace(rows))
    block = json.loads(told.block(1))
    assert block["output"] == {"length": 51_200, "tail": "x" * OUTPUT_CHARS}


def test_a_trace_without_events(lines: Folder) -> None:
    """Nothing was recorded: no blocks, empty columns, and facts that say so."""
    told = TraceData(Trace([]))
    assert (told.columns(), list(told.blocks()), told.facts()["events"]) == (b"", [], 0)
    with pytest.raises(IndexError):
        told.block(0)
    recording = lines.read("recursion")
    assert page_facts(recording, [told])["traces"][0]["events"] == 0


def test_nothing_of_a_recording_is_html(lines: Folder) -> None:
    """A page of a hostile program holds none of its text as it is; its policy lets nothing else run."""
    page = "".join(trace_page(lines.read("hostile")))
    assert HOSTILE not in page
    assert "<img" not in page
    assert "\u202e</script>" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert page.count("<script>") == 1


def test_ten_thousand_events_are_small(lines: Folder, tmp_path: Path) -> None:
    """A page of ten thousand events is at most 2 MB."""
    recording = lines.read("loop")
    size = write_trace_page(recording, tmp_path / "page.html")
    assert len(recording.trace) >= 10_000
    assert size <= 2_000_000


def test_a_file_that_cannot_be_written(lines: Folder, tmp_path: Path) -> None:
    """The error names the file and the reason."""
    with pytest.raises(InputError, match=r"no/page\.html: cannot be written: No such file"):
        write_trace_page(lines.read("recursion"), tmp_path / "no" / "page.html")


def _get(url: str, host: str | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_the_server_gives_the_same_data_to_those_who_know_its_address(lines: Folder) -> None:
    """Facts, columns and blocks are those of the trace; without the secret, under another host or number: 404."""
    recording = lines.read("loop")
    told = TraceData(recording.trace)
    with TraceServer(recording) as server:
        serving = Thread(target=server.serve)
        serving.start()
        try:
            assert _get(server.url)[0] == 200
            assert json.loads(_get(server.url + "facts")[1]) == json.loads(
                json.dumps(page_facts(recording, [told]))
            )
            assert _get(server.url + "columns/0")[1] == told.columns()
            assert _get(server.url + "block/0/1")[1] == told.block(1)
            for wrong in (
                "block/0/99999",
                "block/0/-1",
                "block/1/0",
                "block/0/x",
                "..",
                "columns/9",
                "trace.js",
            ):
                assert _get(server.url + wrong)[0] == 404
            assert _get(f"http://127.0.0.1:{server.port}/")[0] == 404
            assert _get(f"http://127.0.0.1:{server.port}/facts")[0] == 404
            assert _get(server.url, host="evil.example")[0] == 404
            with pytest.raises(InputError, match="cannot be used"):
                TraceServer(recording, port=server.port)
        finally:
            server.close()
            serving.join()


def _node(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["node", *map(str, arguments)],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


@pytest.mark.skipif(
    not BUILT, reason="no Node with web/node_modules: would have proved that static/ is what web/src gives"
)
def test_the_page_in_the_package_is_what_its_sources_give() -> None:
    """Built anew, the page is byte for byte what is committed."""
    ran = _node("build.mjs", "--check")
    assert (ran.returncode, ran.stderr) == (0, "")


def _parts(recording: Recording) -> dict[str, Any]:
    told = TraceData(recording.trace)
    return {
        "facts": page_facts(recording, [told]),
        "columns": told.columns().hex(),
        "blocks": [block.decode() for block in told.blocks()],
        "states": [state_json(recording.trace.state(index)) for index in _asked(recording)],
        "asked": _asked(recording),
        "changes": _changes(recording),
        "spans": [[span.start, span.end, span.depth] for span in spans_of(recording.trace.rows)],
        "causes": causes(recording, recording.trace),
        "why": [*_answers(recording)] if len(recording.trace) <= CAUSES_EVENTS else [],
    }


def _answers(recording: Recording) -> Iterator[tuple[int, str, int | None, str, list[str]]]:
    """Event, name, frame or file of it, and the lines of `deskcheck why`, for names at every third event."""
    for event in list(recording.trace)[1::3]:
        state = event.state
        local = state.frames[event.frame].locals
        shared = state.globals.get(event.file, {})
        for name in [*local, *(name for name in shared if name not in local)]:
            try:
                answer = why(recording, name, at=event.index)
            except InputError:  # a name that is no expression, such as that of a hidden variable
                continue
            frame = event.frame if name in local else None
            yield event.index, name, frame, event.file, list(answer.lines())


def _asked(recording: Recording) -> list[int]:
    length = len(recording.trace)
    return [*range(length)] if length < 400 else [*range(0, length, 37), 511, 512, 513, length - 1, 3]


def _changes(recording: Recording) -> list[int]:
    """Where the first variable of the outermost frame is bound, by the rows themselves."""
    rows = recording.trace.rows
    name = next((n for row in rows if row.frame == 0 and row.locals for n in json.loads(row.locals)), "")
    return [row.index for row in rows if row.frame == 0 and row.locals and name in json.loads(row.locals)]


@pytest.mark.skipif(
    not BUILT,
    reason="no Node with web/node_modules: would have proved that the page reaches the states of the trace",
)
def test_the_page_reaches_the_same_states(lines: Folder, instructions: Folder, tmp_path: Path) -> None:
    """State, steps, visits and search in TypeScript are those of `Trace`, on every program, asked in any order."""
    recordings = [lines.read(name) for name in PROGRAMS]
    recordings += [instructions.read("generator"), instructions.read("aliasing")]
    recordings += [lines.read("cruxeval")] if "cruxeval" in lines.recordings else []
    (tmp_path / "parts.json").write_text(json.dumps([_parts(recording) for recording in recordings]))
    assert _node("build.mjs", "tests", str(tmp_path)).returncode == 0
    ran = _node(
        "--test",
        tmp_path,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "PARTS": str(tmp_path / "parts.json")},
    )
    assert ran.returncode == 0, ran.stdout
    assert "# skipped 0" in ran.stdout or "skipped 0" in ran.stdout


def test_the_columns_know_every_kind() -> None:
    """Numbers of kinds leave room for what is added to them."""
    assert len(KINDS) == len(Kind) <= PRINTS
