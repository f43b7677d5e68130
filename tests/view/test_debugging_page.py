"""Guides about debugging: commands print what a page shows, to the letter; VS Code's task reads tracebacks."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import blocks

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PAGE = GUIDES / "debugging.md"


@pytest.mark.slow
def test_the_transcripts_of_the_guide(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    transcripts = [block for block in blocks(PAGE) if block.language == "sh"]
    assert len(transcripts) == 5
    for block in transcripts:
        ran = subprocess.run(
            ["bash", "-c", block.text],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.stdout + ran.stderr == block.printed, block.text


def test_the_task_for_vs_code_finds_the_lines_of_a_traceback(tmp_path: Path) -> None:
    """Its pattern, in the words of JavaScript that Python has too, reads what `deskcheck run` prints of an error."""
    (task,) = (
        json.loads(block.text) for block in blocks(GUIDES / "trace-page.md") if block.language == "json"
    )
    (task,) = task["tasks"]
    program = tmp_path / "my program.py"
    program.write_text("def half(n):\n    return n / 0\n\n\nhalf(3)\n")
    words = [word.replace("${file}", str(program)) for word in task["args"] if word != "--open"]
    command = Path(sys.executable).parent / task["command"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # for the page, which stays
    ran = subprocess.run(
        [command, *words], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 1
    pattern = task["problemMatcher"]["pattern"]
    matches = [match for line in ran.stderr.splitlines() if (match := re.match(pattern["regexp"], line))]
    places = [tuple(match[pattern[name]] for name in ("file", "line", "message")) for match in matches]
    assert places == [(str(program), "5", "<module>"), (str(program), "2", "half")]
