"""What a package index and an installation show of us; what `make wheels` makes is tried by `tools/wheels` itself."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from deskcheck.extensions import COMPANIONS
from tests.command import PROCESS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_links_on_the_page_of_an_index_are_whole() -> None:
    """No link or picture of the long description leads to a file beside it; there are as many as in the README."""
    text = metadata.metadata("deskcheck").json["description"]
    assert isinstance(text, str)
    links = re.compile(r"\]\(([^)\s]+)\)")
    found = links.findall(text)
    assert [link for link in found if not re.match(r"https?://|#", link)] == []
    assert len(found) >= 10
    source = PROJECT["urls"]["Source"]
    for link in links.findall((ROOT / "README.md").read_text("utf-8")):
        if not re.match(r"[a-z]+:|#", link):
            path = link.partition("#")[0]
            assert (ROOT / path).exists(), link
    assert f"{source}/blob/main/" in text


def test_addresses_are_there_and_licences_are_shipped() -> None:
    about = metadata.metadata("deskcheck")
    urls = dict(each.split(", ", 1) for each in about.get_all("Project-URL") or [])
    assert urls == PROJECT["urls"]
    assert about["License-Expression"] == "Apache-2.0"


def test_the_source_distribution_has_what_its_tests_read() -> None:
    """Every folder that is tracked is named in MANIFEST.in, or is packed by setuptools itself."""
    named = set(
        re.findall(r"^(?:graft|recursive-include) (\S+)", (ROOT / "MANIFEST.in").read_text(), re.MULTILINE)
    )
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    ours = {"tests", "docs", "examples", "benchmarks", "tools", "src", "packages"}
    assert ours <= named
    assert {name for name in folders if not re.match(r"\.|build|dist|runs|__pycache__", name)} - named <= {
        "jupyter-config"
    }


def test_every_package_beside_deskcheck_is_known_to_the_tools() -> None:
    """Its folder is named where `make` installs and tests it, where pytest and mypy look for modules, and in the hint
    for those who lack it; it depends on deskcheck and ships its licence."""
    folders = {path.parent.name: path.parent for path in (ROOT / "packages").glob("*/pyproject.toml")}
    assert "deskcheck-levels" in folders
    named = re.search(r"^PACKAGES = (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert named is not None
    assert sorted(named[1].split()) == sorted(folders)
    assert folders.keys() == COMPANIONS.keys()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    for name, folder in folders.items():
        assert f"packages/{name}" in settings["pytest"]["ini_options"]["pythonpath"]
        assert {f"packages/{name}", f"packages/{name}/src"} <= {*settings["mypy"]["mypy_path"]}
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        assert project["name"] == name
        assert "deskcheck" in project["dependencies"]
        assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("deskcheck_methods") is None,
    reason="deskcheck-methods is not installed: would have proved that its tests run beside those of deskcheck",
)
def test_tests_of_packages_are_found_beside_those_of_deskcheck() -> None:
    """Whichever come first: all are of one namespace, and use each other's helpers."""
    folders = ["tests/recording", "packages/deskcheck-methods/tests"]
    for order in (folders, folders[::-1]):
        collected = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *order],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert collected.returncode == 0, collected.stdout


@pytest.fixture(scope="module")
def without_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is where nothing could be compiled."""
    folder = tmp_path_factory.mktemp("without_c")
    left_out = shutil.ignore_patterns("*.so", "__pycache__", "nano")
    shutil.copytree(ROOT / "src" / "deskcheck", folder / "deskcheck", ignore=left_out)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--no-open", "--page", "page.html", "a.py"],
        pytest.param(["record", "a.py", "--sandbox", "trusted", "--out", "runs"], marks=pytest.mark.slow),
        pytest.param(["record", "pytest:.", "--out", "runs"], marks=pytest.mark.slow),
        pytest.param(["bench", ".", "--python", sys.executable, "--out", "bench"], marks=pytest.mark.slow),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_without_the_c_core_a_command_says_so_once(
    command: list[str], without_c: Path, tmp_path: Path
) -> None:
    """And why, and what to do; it does its work all the same."""
    (tmp_path / "a.py").write_text("def add(a, b):\n    c = a + b\n    return c\n")
    (tmp_path / "test_a.py").write_text("from a import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    ran = subprocess.run(
        [*PROCESS, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(without_c)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = " ".join(ran.stderr.split())
    assert said.count("the tracer's C core is not built for this Python") == 1
    assert "install a C compiler, then deskcheck again" in said
