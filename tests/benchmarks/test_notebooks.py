"""benchmarks/notebooks.py: that it measures what it says. Not: how fast anything is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
PAGE = "before\n{}after\n".format(
    "".join(
        f"<!-- notebooks, {part}: written by benchmarks/notebooks.py -->\nwhat was there\n"
        f"<!-- end of notebooks, {part} -->\n"
        for part in ("replay", "long")
    )
)


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, TOP / "benchmarks" / "notebooks.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.exhaustive
def test_replay_and_a_long_trajectory(tmp_path: Path) -> None:
    """Only the notebook that repeats is compared, all executions of the long one count, the page has the tables."""
    pytest.importorskip("nbclient", reason="would have proved that replay is compared with nbclient")
    pytest.importorskip("ipykernel", reason="would have proved that replay is compared with nbclient")
    (tmp_path / "in").mkdir()
    for name, source in (("good", "1 + 1"), ("chance", "import random; random.random()")):
        cell: dict[str, Any] = {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        book = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell] * 3}
        (tmp_path / "in" / f"{name}.ipynb").write_text(json.dumps(book))
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    options: list[str | Path] = [
        "--parts",
        "replay,long",
        "--executions",
        "40",
        "--reps",
        "1",
        "--publish",
        page,
    ]
    done = run("--folder", tmp_path / "in", *options)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "what was there" not in text
    rows = {
        line.split("|")[1].strip(): line.split("|")[2].strip()
        for line in text.splitlines()
        if line.startswith("|")
    }
    assert rows["notebooks, cells"] == "1, 3"
    assert float(rows["ratio of the totals"]) > 0
    assert rows["the last cell counts"] == "40"
    assert 20 <= int(rows["stopped after"]) < 40
    assert rows["run again, unrecorded, to go on"] == rows["stopped after"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--parts", "replay"], "replay needs --folder"),
        (["--parts", "all"], "known are replay, check, state, long"),
        (["--parts", "long", "--publish", "page.md"], "it has no lines"),
    ],
)
def test_wrong_calls(arguments: list[str], said: str, tmp_path: Path) -> None:
    """Are refused before anything is measured."""
    (tmp_path / "page.md").write_text("no place")
    given = [tmp_path / each if each == "page.md" else each for each in arguments]
    done = run(*given)
    assert done.returncode != 0
    assert said in done.stderr
