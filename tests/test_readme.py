"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.main import get_command

from deskcheck.cli import app
from tests.command import deskcheck

README = Path(__file__).parents[1] / "README.md"


def test_the_ten_lines_print_what_the_readme_says(tmp_path: Path) -> None:
    """The example in the README, run as a file, prints exactly the output that is shown under it."""
    text = README.read_text()
    match = re.search(r"```python\n(import deskcheck\n.*?)```.*?```\n(.*?)```", text, re.DOTALL)
    assert match is not None
    code, shown = match.groups()
    (tmp_path / "example.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == shown


def test_the_script_is_recorded_as_the_readme_shows(tmp_path: Path) -> None:
    """Its lines, and what changed before each, are those of the table, which leaves out the lines between columns."""
    match = re.search(
        r"```python\n(words = .*?)```.*?```\n #.*?\n(.*?) \.\.\.\n```", README.read_text(), re.DOTALL
    )
    assert match is not None
    code, table = match.groups()
    (tmp_path / "script.py").write_text(code)
    recorded = deskcheck("record", "script.py", "--sandbox", "trusted", cwd=tmp_path)
    shown = [" ".join(line.replace("│", " ").split()) for line in recorded.stdout.splitlines()]
    rows = [" ".join(line.replace("│", " ").split()) for line in table.splitlines()]
    assert len(rows) > 3
    assert [row for row in rows if row not in shown] == []


def test_every_command_that_is_shown_exists() -> None:
    """Of the README and the docs, but for the log, whose commands are those of their time."""
    tree = get_command(app)
    unknown = []
    for page in (README, *sorted((README.parent / "docs").rglob("*.md"))):
        if page.name == "log.md":
            continue
        for said in re.findall(r"(?:^ *|`)deskcheck ((?:[a-z]+ ?){1,3})", page.read_text(), re.MULTILINE):
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
    """No link of the README or of the list of commands leads nowhere."""
    for page in (README, README.parent / "docs" / "commands.md"):
        targets = re.findall(r"\]\(([^)]+)\)", page.read_text())
        assert [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()] == []
