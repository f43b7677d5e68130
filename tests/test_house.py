"""tools/house counts what a package really has: each figure on a small package whose answer is plain."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, str(ROOT / "tools" / "house")]

FILES = {
    "__init__.py": "",
    "ground/__init__.py": "",
    "ground/file.py": "_disk = 1\n__all__ = []\nclass Report:\n    pass\nclass Once:\n    pass\nclass _Own:\n    pass\n",
    "ground/_hidden.py": "def shown(): pass\n",
    "ground/inner/__init__.py": "",
    "ground/inner/deep.py": "from house.ground.file import _disk\n",
    "middle/__init__.py": "",
    "middle/a.py": "from house.ground.file import _disk, __all__\nimport house.middle.b\nclass Report:\n    pass\n",
    "middle/b.py": "def later():\n    from house.middle import a\n    return a._mine\n",
    "middle/c.py": "from house.ground import _hidden\nfrom house.ground import file as f\nf._sync\n",
    "cli/__init__.py": "",
    "cli/record.py": "import house.middle.c\n\n@str\n@int\ndef record(a, /, b, *c, d, **e):\n    pass\n\ndef other():\n    return 1\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "house" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "house" / name).write_text(text)
    return tmp_path / "house"


@pytest.fixture
def figures(package: Path) -> dict[str, Any]:
    ran = subprocess.run([*COMMAND, "--json", str(package)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_lines_and_floors(figures: dict[str, Any]) -> None:
    """Every line counts; a floor is a folder on the longest chain of imports."""
    assert figures["modules"] == len(FILES)
    assert figures["lines"] == sum(len(text.splitlines()) for text in FILES.values())
    assert figures["folders"] == ["cli", "ground", "middle"]
    assert (figures["floors"], figures["chain"]) == (3, ["cli", "middle", "ground"])


def test_circles(figures: dict[str, Any], package: Path) -> None:
    """An import in a function closes a circle, but none that is there when modules are loaded."""
    assert figures["folder_circles"] == []
    assert figures["module_circles_loaded"] == []
    assert figures["module_circles"] == [["house.middle.a", "house.middle.b"]]
    (package / "ground" / "file.py").write_text("import house.middle.a\n")
    ran = subprocess.run([*COMMAND, "--json", str(package)], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert found["folder_circles"] == [["ground", "middle"]]
    assert found["module_circles_loaded"] == [["house.ground.file", "house.middle.a"]]
    assert found["chain"] == ["cli", "ground + middle"]


def test_private_names(figures: dict[str, Any]) -> None:
    """A folder below may use a private name, another may not; an attribute of a module counts as an import does."""
    assert figures["private_names_across_folders"] == {
        "house.ground.file._disk": ["middle/a.py:1"],
        "house.ground.file._sync": ["middle/c.py:3"],
    }
    across = figures["private_names_across_modules"]
    assert across["house.ground.file._disk"] == ["ground/inner/deep.py:1", "middle/a.py:1"]
    assert across["house.middle.a._mine"] == ["middle/b.py:3"]
    assert figures["private_modules_across_folders"] == {"house.ground._hidden": ["middle/c.py:1"]}


def test_names_and_sizes(figures: dict[str, Any]) -> None:
    """A class of the same name is named with its places; a function's lines begin with its decorators."""
    assert figures["same_class_names"] == {"Report": ["ground/file.py:3", "middle/a.py:3"]}
    assert figures["longest_of_the_cli"] == {"name": "record", "where": "cli/record.py:5", "lines": 4}
    assert figures["most_parameters"] == {"name": "record", "where": "cli/record.py:5", "parameters": 5}
    assert figures["flattest"] == {"folder": "middle", "files": 4}


@pytest.mark.exhaustive
def test_our_own_package_is_counted() -> None:
    """The text names the package's own figures; a folder without Python is refused with a way out."""
    ran = subprocess.run(COMMAND, capture_output=True, text=True, check=True)
    assert "folders on" in ran.stdout
    assert "0 circles of folders" in ran.stdout
    refused = subprocess.run(
        [*COMMAND, str(ROOT / "docs/guides")], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "Name the folder of the package" in refused.stderr


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ({"ground": 9, "middle": 9, "cli": 9}, ""),
        ({"ground": 8, "middle": 9, "cli": 9}, "ground: has 9 lines, allowed are 8"),
        ({"ground": 9, "middle": 20, "cli": 9}, "middle: has 9 lines, allowed are 20: lower"),
        ({"ground": 9, "middle": 9}, "cli: is not named"),
        ({"ground": 9, "middle": 9, "cli": 9, "gone": 1}, "gone: is not there"),
    ],
)
def test_lines_grow_with_a_reason_only(
    package: Path, tmp_path: Path, allowed: dict[str, int], said: str
) -> None:
    """The status is 1 where a folder has more than its file allows, or far less, or is not known."""
    there = {"ground": 9, "middle": 9, "cli": 9}
    for folder in there:
        for file in (package / folder).rglob("*.py"):
            file.write_text("")
        (package / folder / "__init__.py").write_text("x = 1\n" * 9)
    figures = tmp_path / "figures.toml"
    figures.write_text("[tool.house.lines]\n" + "".join(f"{name} = {n}\n" for name, n in allowed.items()))
    ran = subprocess.run(
        [*COMMAND, "--check", str(figures), str(package)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, said in ran.stderr) == (bool(said), True)
    assert ran.stderr.count("\n") == bool(said)


def test_settings_are_followed(package: Path) -> None:
    """Files that name the class, and those that take one of its fields only to hand it on.

    A field of a type that anything may have counts in files that import the settings.
    """
    (package / "ground" / "settings.py").write_text(
        "START = 1\n\n\nclass RunSettings:\n    seed: int = START\n"
    )
    passes = "def pass_on(seed: int):\n    return run(seed=seed)\n"
    (package / "middle" / "passes.py").write_text(f"from house.ground.settings import START\n{passes}")
    (package / "middle" / "draws.py").write_text(passes)
    (package / "middle" / "uses.py").write_text("def use(seed: int):\n    return run(seed + 1)\n")
    (package / "cli" / "names.py").write_text("def read(settings: RunSettings):\n    return settings\n")
    ran = subprocess.run([*COMMAND, "--json", str(package)], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["settings"] == {"RunSettings": ["cli/names.py", "middle/passes.py"]}


def test_slow_tests_have_a_limit(package: Path) -> None:
    """The seconds of the slowest tests together are compared with those that are allowed."""
    (package.parent / "tests").mkdir()
    (package.parent / "tests" / "slowest.toml").write_text('"tests/test_a.py::test_b" = 3.5\n"c" = 2\n')
    for allowed, said in ((6, ""), (5, "the 2 slowest tests take 6 s, allowed are 5: make some faster\n")):
        figures = package.parent / "allowed.toml"
        lines = "".join(f"{name} = {n}\n" for name, n in {"ground": 10, "middle": 10, "cli": 9}.items())
        figures.write_text(f"[tool.house]\nslowest_s = {allowed}\n[tool.house.lines]\n{lines}")
        ran = subprocess.run(
            [*COMMAND, "--check", str(figures), str(package)], capture_output=True, text=True
        )
        assert ran.stderr == said
