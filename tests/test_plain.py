"""tools/plain counts what a project is written like: each figure on a small project whose answer is plain."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "plain"
MODULE = '''"""What is read is kept here, of which nobody knows anything at all."""


class Report:
    def __init__(self, found: int, rows: list[int]) -> None:
        self.told = found
        self.ok = [a for a in rows]
'''
"""Four patterns in 12 words; 2 vague names of 5 bindings; one short name outside of a comprehension."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(MODULE)
    (package / "data").mkdir()
    (package / "data" / "program.py").write_text("found = 1\n")
    (package / "b.py").write_text("class Report:\n    pass\n")
    (tmp_path / "README.md").write_text("A page of ten words, `is no code`, that goes on.\n")
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, text=True)


def test_figures(project: Path) -> None:
    """Each is what one counts by hand."""
    lines = run(str(project)).stdout.splitlines()
    assert lines[:5] == [
        "vague names: 33.3 for 100 of 6",
        "short names: 1",
        "class names: 1",
        "patterns in src: 2307.7 for 10,000 of 13",
        "patterns in docs: 1111.1 for 10,000 of 9",
    ]


def test_places(project: Path) -> None:
    """A place has file, line and text."""
    shown = run(str(project), "--places", "9").stdout
    assert "    src/package/a.py:6: told\n" in shown
    assert "    Report: src/package/a.py:4, src/package/b.py:1\n" in shown
    assert "    README.md:1: A page of ten words, , that goes on.\n" in shown


def test_ceilings_hold_both_ways(project: Path) -> None:
    """What is above its ceiling is refused, and so is a ceiling that is far above."""
    names = ["vague names", "short names", "class names", "patterns in src", "patterns in docs", "subjects"]
    ceilings = dict(zip(names, [33.3, 0, 1, 9000, 1111.1, 0], strict=True))
    rows = "".join(f'"{name}" = {figure}\n' for name, figure in ceilings.items())
    (project / "ceilings.toml").write_text(f"[tool.plain.ceilings]\n{rows}")
    ran = run(str(project), "--check", str(project / "ceilings.toml"))
    assert ran.returncode == 1
    assert ran.stderr.splitlines() == [
        "short names: 1, allowed are 0 (tools/plain --places 20)",
        "patterns in src: 2307.7, allowed are 9000: lower the ceiling",
    ]


def test_a_folder_without_a_project(tmp_path: Path) -> None:
    assert "has no Python files below src" in run(str(tmp_path)).stderr
