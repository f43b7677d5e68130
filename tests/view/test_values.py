"""Large values on the page: folded, in grids, and short where nothing is lost."""

from pathlib import Path

import pytest

from deskcheck.recorder.programs import record_programs
from deskcheck.recorder.settings import RecordSettings
from deskcheck.recording import Mode, Program, Recording
from deskcheck.recording.reader import Recordings
from deskcheck.sandbox.confinement import Confinement
from tests.view.browsing import MARKS, Page, until

pytestmark = MARKS
CODE = """import numpy as np
import pandas as pd

dates = pd.date_range("2026-01-01", periods=40, freq="3D")
shops = ["north side", "south side", "east", "a shop with a long name"] * 10
frame = pd.DataFrame({"date": dates, "shop": shops, "share": np.arange(40) / 7})
matrix = np.arange(600.0).reshape(30, 20) / 3
result = [len(frame), 7]
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    pytest.importorskip("pandas", reason="would have proved that frames are folded")
    folder: Path = tmp_path_factory.mktemp("values")
    program = Program(id="frame", code=CODE, mode=Mode.MODULE, filename="frame.py", source="test")
    settings = RecordSettings(repeat=False, sandbox=Confinement.TRUSTED)
    record_programs([program], folder, settings, workers=1)
    return Recordings(folder)["frame"]


def test_a_frame_of_forty_rows_is_folded(page: Page, recording: Recording) -> None:
    """Its first and last rows are drawn, each on one line, and the rest on a click; the result stays in view."""
    page.open(recording, f"#event={len(recording.trace) - 1}")
    card = "document.querySelector('.card.table')"
    until(lambda: page.js(f"return !!{card}"), "the frame")
    rows = page.js(
        f"return [...{card}.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert len(rows) == 6 + 1 + 2
    assert rows[1] == ["1", "2026-01-04", "'south side'", "0.142857"]
    assert rows[6] == ["… 32 more rows"]
    assert rows[8] == ["39", "2026-04-28", "'a shop with a long name'", "5.57143"]
    heights = page.js(f"return [...{card}.querySelectorAll('tbody tr')].map(r => r.offsetHeight)")
    assert max(heights) < 30
    assert page.js(f"return [...{card}.querySelectorAll('td .number')].at(-1).title") == repr(39 / 7)
    page.js(f"{card}.querySelector('.more').click()")
    until(lambda: page.js(f"return {card}.querySelectorAll('tbody tr').length") == 40, "all rows")


def test_a_matrix_is_folded_in_both_directions(page: Page, recording: Recording) -> None:
    """Of 30 rows and 20 columns, the first ones; a click shows all."""
    page.open(recording, f"#event={len(recording.trace) - 1}")
    matrix = "[...document.querySelectorAll('.card')].find(c => c.textContent.includes('30 \\u00d7 20'))"
    until(lambda: page.js(f"return !!({matrix})"), "the matrix")
    shape = f"const c = {matrix}; return [c.querySelectorAll('tbody tr').length, c.querySelectorAll('thead th').length]"
    assert page.js(shape) == [9, 12]
    assert "22 more rows and 8 more columns" in page.js(
        f"return ({matrix}).querySelector('.more').textContent"
    )
    page.js(f"({matrix}).querySelector('.more').click()")
    until(lambda: page.js(shape) == [30, 20], "all of it")
    assert page.fits()
