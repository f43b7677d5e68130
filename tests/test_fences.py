"""What stands between code fences ends them nowhere."""

import re

from hypothesis import given
from hypothesis import strategies as st

from deskcheck.fences import FENCED, fenced, fenced_texts

TEXT = st.lists(st.sampled_from(["`", "``", "```", "````", "x", " ", "\n", "python"]), max_size=12).map(
    "".join
)


@given(TEXT, st.sampled_from(["", "python"]))
def test_a_text_comes_back(text: str, language: str) -> None:
    """Whatever backticks it holds; the fences are no longer than they must be."""
    written = fenced(text, language)
    match = FENCED.fullmatch(written)
    assert match is not None
    assert match["text"] == text
    assert match["language"] == language
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    assert len(match["fence"]) == max(3, longest + 1)
    assert fenced_texts(f"before\n{written}\nafter") == [f"{text}\n"]


def test_fences_of_a_model() -> None:
    assert fenced_texts("```python\nx = 1\n```\nor\n ````\n```\n ````\n") == ["x = 1\n", "```\n"]
