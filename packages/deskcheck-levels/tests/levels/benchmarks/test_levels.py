"""The command that renews what ships at the level `processor`, with little; and the card that ships."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deskcheck_levels.levels import table
from deskcheck_levels.processor import network
from deskcheck_levels.reader import network as reader_network

from benchmarks import lesson_steps, levels


def run_levels(*arguments: str, status: int = 0) -> str:
    """What the command printed."""
    command = [sys.executable, "-m", "benchmarks.levels", *arguments]
    env = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_the_card_is_of_the_model_that_ships(tmp_path: Path) -> None:
    """Shipped once more with the tables that it has, the card stays as it is: its text tells this model's
    figures. Another model's are put into their places."""
    reader = levels.NANO / reader_network.FILE
    for name in (levels.CARD, network.FILE, reader_network.FILE):
        shutil.copy(levels.NANO / name, tmp_path / name)
    card = (tmp_path / levels.CARD).read_text("utf-8")
    figures = card.split(levels.BEGIN)[1].split(levels.END)[0]
    page = figures.removeprefix(f"\n\n{table()}\n\n").strip()
    levels.ship(levels.NANO / network.FILE, reader, tmp_path, page)
    assert (tmp_path / levels.CARD).read_text("utf-8") == card
    assert levels.sets_in_card(tmp_path) == {"cruxeval"}
    (tmp_path / levels.CARD).write_text(card.replace("<!-- windows -->", "<!-- windows -->9"), "utf-8")
    levels.ship(levels.NANO / network.FILE, reader, tmp_path, page)
    assert (tmp_path / levels.CARD).read_text("utf-8") == card


@pytest.mark.exhaustive
def test_all_of_it_with_little(tmp_path: Path) -> None:
    """Checked, trained, recorded, measured and shipped, into a copy of the folder; a training of 300
    updates is wrong often, and its workings are."""
    pytest.importorskip("torch", reason="no torch: would show that the command renews what ships")
    nano = tmp_path / "nano"
    shutil.copytree(levels.NANO, nano)
    told = run_levels(str(tmp_path / "out"), "--quick", "--ship", str(nano))
    assert "400 steps of the lessons held against recordings: 0 differ" in told
    assert (nano / network.FILE).read_bytes() == (tmp_path / "out" / "seed-0" / network.FILE).read_bytes()
    read = tmp_path / "out" / "reader" / reader_network.FILE
    assert (nano / reader_network.FILE).read_bytes() == read.read_bytes()
    card = (nano / levels.CARD).read_text("utf-8")
    about = network.load(nano / network.FILE).about
    assert about["wrong"] > 0
    assert f"<!-- wrong -->{about['wrong']:,}<!-- / -->" in card
    assert f"<!-- wrong ways -->{reader_network.load(read).about['wrong_ways']:,}<!-- / -->" in card
    assert re.search(rf"\| 0 +\| +{about['wrong']} of {about['windows']:,} \|", card)
    assert levels.sets_in_card(nano) == set()
    measured = json.loads((tmp_path / "out" / "figures.json").read_text())
    asked = [measured[name]["asked"] for name in levels.QUICK_SOURCES]
    assert all(one["lucky"] <= one["wrong_workings"] <= one["worked"] for one in asked)
    assert sum(one["wrong_workings"] for one in asked) > 0
    assert all(one["against_rules"] == 0 for one in asked)


def test_a_model_of_little_is_not_shipped(tmp_path: Path) -> None:
    told = run_levels(str(tmp_path), "--quick", "--ship", status=2)
    assert "not one to ship" in told
    told = run_levels(str(tmp_path), "--ship", status=2)
    assert "the card has figures of cruxeval: give --set cruxeval=FILE" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_lessons_against_the_tracer(tmp_path: Path) -> None:
    """10,000 single steps, each recorded by the tracer."""
    lesson_steps.record_steps(tmp_path, 10_000, seed=7)
    of_operations, of_lines, wrong = lesson_steps.compared(tmp_path, 10_000)
    assert of_operations + of_lines == 10_000
    assert of_lines > 4_000
    assert wrong == []
