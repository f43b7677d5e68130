"""`deskcheck help`: pages of the documentation from the package."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deskcheck.cli.pages import SORTS, folder, pages
from tests.command import deskcheck
from tests.pages import ROOT


def test_pages_are_listed_by_sort(tmp_path: Path) -> None:
    """Each page of docs/ once, under the heading of its folder, by a name that no other page has."""
    listed = deskcheck("help", cwd=tmp_path).stdout
    files = [file for sort in SORTS for file in (ROOT / "docs" / sort).glob("*.md")]
    assert len(files) > 20
    assert len({file.stem for file in files}) == len(files)
    assert [file.stem for file in files if f"deskcheck help {file.stem} " not in listed] == []
    assert [listed.index(f"{heading}:") for heading in SORTS.values()] == sorted(
        listed.index(f"{heading}:") for heading in SORTS.values()
    )
    assert set(json.loads(deskcheck("help", "--json", cwd=tmp_path).stdout)) == set(pages())


def test_a_page_is_printed_with_names_for_its_links(tmp_path: Path) -> None:
    printed = deskcheck("help", "statistics", cwd=tmp_path).stdout
    assert printed.startswith("# The statistics\n")
    sources = deskcheck("help", "docs/reference/sources.md", cwd=tmp_path).stdout
    assert "record your own tests (`deskcheck help tests`)" in sources
    assert "](" not in sources
    as_json = json.loads(deskcheck("help", "statistics", "--json", cwd=tmp_path).stdout)
    assert as_json == {"page": "statistics", "title": "The statistics", "markdown": printed}


def test_every_page_names_pages_that_exist() -> None:
    """Each `deskcheck help NAME` in docs, help texts and errors is a page."""
    found = set(pages())
    for file in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "src").rglob("*.py")]:
        for name in re.findall(r"deskcheck help ([a-z-]+)", file.read_text(encoding="utf-8")):
            assert name in found, (file, name)


def test_an_unknown_page_is_refused_with_the_pages(tmp_path: Path) -> None:
    done = deskcheck("help", "sourcs", cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown page 'sourcs'. Did you mean sources?" in done.stderr
    assert "kubernetes" in done.stderr


@pytest.mark.slow
def test_the_wheel_holds_the_pages(tmp_path: Path) -> None:
    """What setup.py puts into a built package are the pages of docs/, byte for byte; the checkout has them once."""
    built = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "built")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    inside = tmp_path / "built" / "deskcheck" / "pages"
    found = {path.relative_to(inside): path.read_bytes() for path in inside.rglob("*.md")}
    assert found == {
        path.relative_to(ROOT / "docs"): path.read_bytes() for path in (ROOT / "docs").glob("*/*.md")
    }
    assert folder() == ROOT / "docs"


@pytest.mark.slow
def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    """Without a warning, with a page for every command and every public name, and nothing from elsewhere."""
    for needed in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(needed, reason="would have proved that the documentation is built: make docs")
    done = subprocess.run(
        [sys.executable, "tools/docs", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    html = tmp_path / "html"
    assert "deskcheck runs export hf" in (html / "reference" / "cli.html").read_text()
    assert "check_notebooks" in (html / "reference" / "api.html").read_text()
    for page in html.rglob("*.html"):
        assert 'src="http' not in page.read_text(), page
