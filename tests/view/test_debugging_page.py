"""The guide `debugging.md`: its commands print what it shows, to the letter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import blocks

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "debugging.md"


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
