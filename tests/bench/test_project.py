"""What a project's files say: its licence, what its tests need; which interpreter they run with."""

import sys
from pathlib import Path

import pytest

from deskcheck.bench.interpreter import interpreter_of
from deskcheck.bench.inventory import public_functions
from deskcheck.bench.project import ProjectFiles, read_project
from deskcheck.errors import InputError
from deskcheck.recorder.suite import SuiteAccount

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software, provided that
the above copyright notice and this permission notice shall be included in all copies."""


def read(folder: Path, **files: str) -> ProjectFiles:
    """A project of these files (``a__b_toml`` is ``a/b.toml``), and one test."""
    for name, text in {"test_it.py": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_project(folder)


@pytest.mark.parametrize(
    ("files", "name", "where"),
    [
        ({"pyproject.toml": '[project]\nname = "a"\nlicense = "MIT OR Apache-2.0"'}, "MIT OR Apache-2.0", "pyproject.toml"),
        ({"pyproject.toml": '[project]\nname = "a"\nlicense = {text = "Zlib"}'}, "Zlib", "pyproject.toml"),
        ({"pyproject.toml": '[project]\nname = "a"\nlicense = {file = "T"}', "T": MIT}, "MIT", "T"),
        ({"setup.cfg": "[metadata]\nlicense = ISC"}, "ISC", "setup.cfg"),
        ({"PKG-INFO": "Name: a\nLicense-Expression: BSD-2-Clause\n\ntext"}, "BSD-2-Clause", "PKG-INFO"),
        ({"LICENCE": MIT}, "MIT", "LICENCE"),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007"}, "GPL-3.0", "COPYING"),
        ({"LICENSE.txt": "Ask me."}, "LICENSE.txt", "LICENSE.txt"),
        (
            {"pyproject.toml": '[project]\nname = "a"\nclassifiers = ["License :: OSI Approved :: MIT License"]'},
            "MIT License",
            "its classifiers",
        ),
    ],
)  # fmt: skip
def test_the_licence_is_what_the_project_says(
    tmp_path: Path, files: dict[str, str], name: str, where: str
) -> None:
    licence = read(tmp_path, **files).licence
    assert licence is not None
    assert (licence.name, licence.where) == (name, where)


def test_a_project_without_a_licence_has_none(tmp_path: Path) -> None:
    assert read(tmp_path).licence is None


def test_what_tests_need_is_read(tmp_path: Path) -> None:
    """Groups, with those that they include; an extra; plugins that options and settings name; where tests are."""
    (tmp_path / "checks").mkdir()
    found = read(
        tmp_path,
        **{
            "pyproject.toml": """
[project]
name = "a"
[project.optional-dependencies]
tests = ["freezegun"]
docs = ["sphinx"]
[dependency-groups]
base = ["hypothesis"]
test = [{include-group = "base"}, "pytest>=8"]
[tool.pytest.ini_options]
addopts = "-ra --cov=a -n auto"
asyncio_mode = "auto"
required_plugins = ["pytest-mock>=3"]
testpaths = ["checks", "gone"]
"""
        },
    )
    assert (found.extras, found.groups, found.requirements) == (
        ("tests",),
        ("test",),
        ("hypothesis", "pytest>=8"),
    )
    assert set(found.plugins) == {"pytest-mock>=3", "pytest-cov", "pytest-xdist", "pytest-asyncio"}
    assert found.test_paths == (tmp_path / "checks",)
    assert found.installable


def test_older_ways_to_say_what_tests_need(tmp_path: Path) -> None:
    """A file of requirements; an extra of setup.cfg; a group of Poetry's; an extra of setup.py."""
    found = read(tmp_path / "a", **{"requirements-test.txt": "six", "requirements.txt": "idna"})
    assert ([path.name for path in found.files], found.installable) == (
        ["requirements.txt", "requirements-test.txt"],
        False,
    )
    found = read(
        tmp_path / "b", **{"setup.cfg": "[metadata]\nname = b\n[options.extras_require]\ntesting = six"}
    )
    assert found.extras == ("testing",)
    poetry = "[tool.poetry]\nname = 'c'\n[tool.poetry.group.dev.dependencies]\nsix = '^1.2'\nidna = '*'\nmine = {path = 'x'}"
    assert read(tmp_path / "c", **{"pyproject.toml": poetry}).requirements == ("six>=1.2", "idna")
    found = read(tmp_path / "d", **{"setup.py": "setup(extras_require={'test': ['six']})"})
    assert (found.extras, found.installable) == (("test",), True)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"pyproject.toml": "[dependency-groups]\ntest = [{include-group = 'test'}]"},
            "test: includes itself",
        ),
        (
            {"pyproject.toml": "[dependency-groups]\ntest = [{include-group = 'x'}]"},
            "x: no such group",
        ),
        ({"setup.cfg": "[metadata\nname"}, "setup.cfg, line 1: is not an INI file"),
        ({"tox.ini": "nothing"}, "tox.ini, line 1: is not an INI file"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, **files)


def test_public_functions_are_those_that_users_call(tmp_path: Path) -> None:
    """No private name, test, overload, stub or function in a function; of modules that no test imports, too."""
    text = """
from typing import overload
def one(): return 1
def _two(): return 2
@overload
def three(x: int) -> int: ...
if True:
    async def four(): yield 4
class Five:
    def six(self):
        def seven(): pass
        return seven
    def __len__(self): return 5
    class Eight:
        def nine(self): pass
class _Ten:
    def eleven(self): pass
"""
    for name in ("pack/__init__.py", "pack/a.py", "pack/b.py", "pack/tests/test_a.py", "other.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text if name == "pack/a.py" else "def extra(): return 0\n")
    found = public_functions(
        tmp_path, {"pack.a": str(tmp_path / "pack/a.py"), "other": str(tmp_path / "other.py")}
    )
    assert {one.key for one in found} == {
        *(f"pack.a:{name}" for name in ("one", "four", "Five.six", "Five.Eight.nine")),
        *("pack:extra", "pack.b:extra", "other:extra"),
    }
    assert {(one.file, one.line) for one in found if one.name == "one"} == {("pack/a.py", 3)}


def test_the_interpreter_is_the_one_that_is_named(tmp_path: Path) -> None:
    """If it has pytest; none that is gone, and none that is no Python."""
    project = read(tmp_path / "shop")
    found = interpreter_of(project, tmp_path / "environment", python=sys.executable)
    assert (found.path, found.made) == (sys.executable, False)
    for python, said in (("no-such-python", "is not a program"), ("true", "is not a Python")):
        with pytest.raises(InputError, match=said):
            interpreter_of(project, tmp_path / "environment", python=python)
    assert not (tmp_path / "environment").exists()


def test_the_projects_own_environment_is_found(tmp_path: Path) -> None:
    project = read(tmp_path / "shop")
    place = project.folder / ".venv" / "bin" / "python"
    place.parent.mkdir(parents=True)
    place.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    place.chmod(0o755)
    found = interpreter_of(project, tmp_path / "environment")
    assert (found.path, found.how) == (str(place), "the project's own environment, .venv")


def test_what_cannot_be_installed_is_told_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the environment is left."""
    for name in ("PIP_NO_INDEX", "UV_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    (tmp_path / "wheels").mkdir()
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.setenv(name, str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    project = read(tmp_path / "shop")
    with pytest.raises(
        InputError, match=r"what its tests need, cannot be installed[\s\S]*no-such-package-of-ours"
    ):
        interpreter_of(project, tmp_path / "environment", more=["no-such-package-of-ours"])
    assert not (tmp_path / "environment").exists()


def test_the_slow_tracer_is_told_of() -> None:
    account = SuiteAccount(
        tests={}, why={}, modules={}, called={}, not_recorded={}, packages={},
        interpreter={"python": "3.12.1", "tracer": "reference"},
    )  # fmt: skip
    assert str(account.slow).startswith("Python 3.12.1: the tracer's C core is not built")
