"""What the README and the tutorials show is what happens; what the other pages name exists."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from deskcheck.cli import app
from tests.command import deskcheck
from tests.pages import PAGES, README, ROOT, blocks, rows, said_commands

TUTORIALS = ROOT / "docs" / "tutorials"
COMPANIONS = sorted((ROOT / "packages").rglob("*.md"))
GENERATED = {"cli.md", "api.md"}
"""Pages that tools/docs writes."""

SMALLER = {
    "generated:2000": "generated:40",
    "generated:1000": "generated:5",
    "--steps 2000": "--steps 6",
    "--steps 1000": "--steps 6",
    "-m taught/small": "--max-steps 20 -m taught/small",
}
"""Training as it is shown takes minutes."""

PLACES = {
    " ARGUMENTS": "",
    "PROJECT": "project",
    "cruxeval:FILE": "cruxeval:cruxeval.jsonl",
    "FOLDER": "examples/notebooks",
}
"""What the reader puts into the commands of the table."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with what the commands of README take for given."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "app.py").write_text(
        "def main(a, name=''):\n    return name * a\n\nif __name__ == '__main__':\n    print(main(2, name='x'))\n"
    )
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "own.py").write_text("def twice(n):\n    m = n + n\n    return m\n")
    (tmp_path / "project" / "test_own.py").write_text(
        "from own import twice\n\ndef test_twice():\n    assert twice(4) == 8\n"
    )
    (tmp_path / "cruxeval.jsonl").write_text(
        '{"id": "sample_0", "code": "def f(n):\\n    return n + 1", "input": "4", "output": "5"}\n'
    )
    return tmp_path


def run(script: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Shell text as a user pastes it, with the deskcheck and the python of this environment; no desktop."""
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "COLUMNS": "160", "TMPDIR": str(place)}
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=place,
        env=bare | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def commands_do_what_the_page_says(page: Path, place: Path, compared: bool = True) -> None:
    """Each block of commands, in order, ends well and prints each line that is shown under it."""
    for block in blocks(page):
        if block.language != "sh":
            continue
        lines = [line for line in block.text.splitlines() if not line.startswith("pip install")]
        script = "\n".join(lines)
        shortened = script
        for shown, small in SMALLER.items():
            shortened = shortened.replace(shown, small)
        done = run(shortened, place)
        wanted = 1 if "notebooks check" in script else 0  # a check that found something
        assert done.returncode == wanted, f"{script}\n{done.stdout}{done.stderr}"
        trained = "taught/" in script and "taught/nano" not in script  # by less than what the page shows
        if compared and shortened == script and not trained:
            printed = rows(done.stdout + done.stderr)
            assert [row for row in rows(block.printed) if row not in printed] == []


@pytest.mark.slow
@pytest.mark.level("strict")
def test_readme_from_top_to_bottom(place: Path) -> None:
    for needed in ("inspect_ai", "onnxruntime", "torch", "ipykernel"):
        pytest.importorskip(needed, reason="would have proved that the commands of README do what it says")
    commands_do_what_the_page_says(README, place)


@pytest.mark.slow
@pytest.mark.level("strict")
def test_the_table_of_readme(place: Path) -> None:
    """Each command in the table of what can be recorded."""
    pytest.importorskip("ipykernel", reason="would have proved that the commands of README's table run")
    table = README.read_text().partition("## What you can record")[2].partition("\n## ")[0]
    said = re.findall(r"`(deskcheck [^`]+)`", table)
    assert len(said) >= 7
    for command in said:
        for shown, put in (SMALLER | PLACES).items():
            command = command.replace(shown, put)
        done = run(command, place)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.level("strict")
@pytest.mark.slow
def test_the_first_tutorial(place: Path) -> None:
    commands_do_what_the_page_says(TUTORIALS / "first-recording.md", place)


@pytest.mark.exhaustive
@pytest.mark.level("strict")
def test_the_second_tutorial(place: Path) -> None:
    """Numbers are compared on 3.11 alone: other versions of the library have other doctests."""
    pytest.importorskip("inspect_ai", reason="would have proved that the commands of the tutorial run")
    commands_do_what_the_page_says(TUTORIALS / "first-evaluation.md", place, sys.version_info[:2] == (3, 11))


@pytest.mark.exhaustive
@pytest.mark.level("strict")
def test_the_third_tutorial(place: Path) -> None:
    for needed in ("inspect_ai", "torch"):
        pytest.importorskip(needed, reason="would have proved that the commands of the tutorial run")
    commands_do_what_the_page_says(TUTORIALS / "train.md", place)


def test_the_example_in_python_prints_what_is_shown(tmp_path: Path) -> None:
    """Run as a file, it prints exactly the output that stands under it."""
    shown = next(b for b in blocks(TUTORIALS / "first-recording.md") if b.language == "python")
    (tmp_path / "example.py").write_text(shown.text)
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == shown.printed


def test_the_table_of_the_script_is_true(tmp_path: Path) -> None:
    """What README shows as printed by `deskcheck record`: its lines, and what changed before each."""
    script = next(block for block in blocks(README) if "count.py" in block.text)
    (tmp_path / "count.py").write_text(script.text.partition("<<'END'\n")[2].partition("END\n")[0])
    recorded = deskcheck("record", "count.py", "--sandbox", "trusted", cwd=tmp_path)
    wanted = rows(script.printed)
    assert len(wanted) > 4
    assert [row for row in wanted if row not in rows(recorded.stdout)] == []


def test_readme_is_short() -> None:
    """Two minutes of reading."""
    assert len(README.read_text().splitlines()) <= 150


def test_prose_is_not_wide() -> None:
    """At most 100 characters a line, but in tables, code and headings."""
    places = [
        *PAGES,
        *ROOT.glob("*.md"),
        *(ROOT / "src").rglob("*.md"),
        *COMPANIONS,
        ROOT / "lab" / "2026-11.md",
    ]
    wide = []
    for page in places:
        prose = re.sub(r"(?ms)^( *)```.*?^\1```$", lambda code: "\n" * code[0].count("\n"), page.read_text())
        for number, line in enumerate(prose.splitlines(), 1):
            if len(line) > 100 and not line.lstrip().startswith(("|", "#")) and not line.startswith("    "):
                wide.append(f"{page.relative_to(ROOT)}:{number}")
    assert wide == [], "lines of prose have at most 100 characters"


def test_every_command_can_be_given() -> None:
    """Each that a page shows exists, and so does each of its options; values have the right type."""
    tree = get_command(app)
    wrong, count = [], 0
    for page in [*PAGES, *COMPANIONS]:
        for words in said_commands(page):
            count += 1
            command: Any = tree
            rest = [re.sub(r"^N$", "3", word.strip("[]")) for word in words if word not in ("...", "...]")]
            while hasattr(command, "commands") and rest and rest[0] in command.commands:
                command = command.commands[rest.pop(0)]
            try:
                if hasattr(command, "commands"):
                    raise LookupError("no such command")
                command.make_context(command.name, rest)
            except Exception as error:  # noqa: BLE001  whatever the parser has against it
                wrong.append(f"{page.name}: {' '.join(words)}: {getattr(error, 'message', error)}")
    assert wrong == []
    assert count > 100


def test_commands_in_sentences_exist() -> None:
    tree = get_command(app)
    unknown = []
    for page in [*PAGES, *COMPANIONS]:
        for said in re.findall(r"`deskcheck ((?:[a-z]+ ?){1,3})", page.read_text()):
            group: Any = tree
            for word in said.split():
                if not hasattr(group, "commands"):
                    break
                if word not in group.commands:
                    unknown.append(f"{page.name}: deskcheck {said}")
                    break
                group = group.commands[word]
    assert unknown == []


def test_every_linked_file_exists() -> None:
    """No link between pages leads nowhere. `make docs` checks headings, too."""
    for page in [*PAGES, *COMPANIONS, *(ROOT / "lab").rglob("*.md"), ROOT / "CONTRIBUTING.md"]:
        targets = re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text())
        wanted = [t for t in targets if ":" not in t and Path(t).name not in GENERATED]
        assert [t for t in wanted if not (page.parent / t).exists()] == [], page


def test_no_marks_of_a_merge_are_left() -> None:
    """Neither in a text nor in a program."""
    places = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "lab").glob("*.md")]
    places += [path for name in ("src", "tests", "tools", "packages") for path in (ROOT / name).rglob("*.py")]
    assert [
        path for path in places if re.search(r"(?m)^(<{7}|>{7}) ", path.read_text("utf-8", "replace"))
    ] == []
