"""What docs/reference/notation.md shows is what the notations write."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deskcheck.notation import NOTATIONS
from deskcheck.tracer import Granularity

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "notation.md").read_text("utf-8")
SHOWN = dict(re.findall(r"^## (\w+)\n.*?^```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("name", NOTATIONS)
def test_the_page_shows_what_is_written(record: Any, name: str) -> None:
    """Each notation's block is the beginning of the example's text in it (of the longest, a part)."""
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    notation = NOTATIONS[name]
    if notation.instructions and sys.version_info[:2] != (3, 12):
        pytest.skip("the instructions shown are those of 3.12")
    recording = record(
        found[1], "f", "(2)", Granularity.INSTRUCTION if notation.instructions else Granularity.LINE
    )
    if notation.instructions:
        recording = replace(recording, environment=replace(recording.environment, granularity="instruction"))
    shown, text = SHOWN[name].strip("\n"), notation.render(recording)
    if name == "cwm":
        text = text.replace("<|frame_sep|>", "<|frame_sep|>\n")
    if notation.instructions:
        assert f"\n{shown}\n" in text
    else:
        assert f"{text}\n".startswith(f"{shown}\n")
        assert shown == text.strip() or "The beginning" in PAGE
