"""benchmarks/scale.py: a small measurement from end to end, and the page of what it printed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def scale(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "benchmarks/scale.py", *arguments]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.exhaustive
def test_recorder_and_pool_are_compared_and_published(tmp_path: Path) -> None:
    """Programs of a source, both ways: no row differs; the job again does nothing; the tables go between the marks."""
    ran = scale("--programs", "8", "--few", "4", "--ways", "recorder,local", "--sources", "generated:3")
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert rows[0]["command"].startswith("python benchmarks/scale.py --programs 8")
    assert rows[1]["source"] == "generated:3"
    compared = next(row for row in rows if "differ" in row)
    assert compared["rows"] == rows[1]["programs"] <= 8
    assert compared["differ"] == {"local, recorder": 0}
    assert {row["what"] for row in rows if "wall_s" in row} == {"recorder", "local"}

    printed, page = tmp_path / "printed.txt", tmp_path / "page.md"
    printed.write_text(f"{ran.stdout}Ray writes between them\n")
    done = scale("--publish", str(page), "--from", str(printed))
    assert done.returncode == 1
    page.write_text(
        "before\n<!-- scale: written by benchmarks/scale.py -->\nold\n<!-- end of scale -->\nafter\n"
    )
    done = scale("--publish", str(page), "--from", str(printed))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "local, recorder: 0." in text
    assert f"Programs: generated:3 {rows[1]['programs']}." in text
    assert "recorder, two threads" in text
    assert "4 of them, local pool" in text
