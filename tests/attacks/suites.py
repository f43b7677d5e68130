"""Processes of test suites that lie about their tests, or attack who records them (`deskcheck record pytest:PATH`).

A liar takes the place of the interpreter of the tests: it has the key, as a test has that searches its own process,
and says whatever it likes. `LIES` are what it says after it has told of one true call; `DEEDS` are tests of a true
pytest.
"""

import sys
import tomllib
from pathlib import Path

import deskcheck
from deskcheck.sandbox.observed.suite import ObservedTests

SOURCE = "def f(n):\n    return n\n"
_CODE = tomllib.loads(Path(__file__).with_name("suites.toml").read_text("utf-8"))
LIES: dict[str, str] = _CODE["lies"]
DEEDS: dict[str, str] = _CODE["deeds"]
TESTS: dict[str, str] = _CODE["tests"]
_TEXTS: dict[str, str] = _CODE["texts"]


def liar(folder: Path, lie: str) -> ObservedTests:
    """The tests of a project whose interpreter is a liar."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "m.py").exists():  # one that is written anew is another
        (folder / "m.py").write_text(SOURCE)
    python = folder / "python"
    packages = repr(str(Path(deskcheck.__file__).parents[1]))
    text = _TEXTS["liar"].replace("PACKAGES", packages).replace("\nLIE\n", f"\n{lie}\n")
    python.write_text(f"#!{sys.executable} -IS\n{text}")
    python.chmod(0o755)
    return ObservedTests(arguments=(str(folder),), root=folder, python=str(python))


def project(folder: Path, deed: str) -> Path:
    """A project with a test that does something."""
    (folder / "tests").mkdir(parents=True)
    (folder / "m.py").write_text(SOURCE)
    (folder / "tests" / "test_it.py").write_text(_TEXTS["project"].replace("DEED", deed) + _TEXTS["helpers"])
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = '.'\n")
    return folder
