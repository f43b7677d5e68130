"""Where the source of a cell stands in its file: against a search for the text itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deskcheck.notebook.trajectory.lines import cell_lines

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


@st.composite
def notebooks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Cells with a source that begins with their own mark; outputs that look like cells."""
    cells = []
    for number in range(draw(st.integers(0, 5))):
        lines = [f"MARK-{number}-{draw(TEXTS)}", *draw(st.lists(TEXTS, max_size=2))]
        source: Any = [f"{line}\n" for line in lines] if draw(st.booleans()) else "\n".join(lines)
        fake = {"source": '"source": ["'}
        output = {"output_type": "stream", "text": draw(TEXTS), "cells": [fake]}
        cell = {
            "cell_type": draw(st.sampled_from(["code", "markdown"])),
            "metadata": {"source": ["{"]},
            "source": source,
        }
        cells.append(cell | {"outputs": [output] * draw(st.integers(0, 2))})
        if draw(st.booleans()):
            cells[-1] = dict(reversed(cells[-1].items()))
    return cells


@settings(max_examples=50)
@given(
    notebooks(),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_lines_are_those_of_the_text(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[dict[str, Any]],
    indent: int | None,
    escaped: bool,
    encoding: str,
) -> None:
    book = {"metadata": {"cells": [1]}, "cells": cells, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(book, indent=indent, ensure_ascii=escaped)
    path = tmp_path_factory.getbasetemp() / "lines.ipynb"
    path.write_bytes(text.encode(encoding))
    by_search = tuple(text[: text.index(f"MARK-{number}-")].count("\n") + 1 for number in range(len(cells)))
    assert cell_lines(path) == by_search


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "not JSON",
        '{"cells": {}}',
        '{"cells": [{"source"',
        '{"worksheets": []}',
        "[" * 5000,
        '{"cells": [3]}',
    ],
)
def test_another_file_has_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.ipynb").write_text(text)
    assert cell_lines(tmp_path / "other.ipynb") == ()
    assert cell_lines(tmp_path / "none.ipynb") == ()
