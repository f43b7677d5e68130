"""The name and licence of a project and the requirements of its tests, read without running its code.

The sources are pyproject.toml, setup.cfg, pytest.ini, tox.ini, PKG-INFO, and files of requirements and of
licences. Values that a setup.py computes are not covered, nor tools with requirements elsewhere (nox, conda).
"""

import configparser
import fnmatch
import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError
from deskcheck.files import read_text

_CONVENTIONS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("conventions.toml").read_text("utf-8"))
_GROUPS: dict[str, list[str]] = _CONVENTIONS["groups"]
FIXTURES: dict[str, str] = _CONVENTIONS["fixtures"]
_TEXT_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """A licence, as an SPDX expression or in the project's own words, and the file that names it."""

    name: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFiles:
    """The facts of a project from its files."""

    folder: Path
    name: str
    version: str | None
    """None if the build computes it."""
    licence: Licence | None
    """None if no file names it."""
    python: str
    installable: bool
    """Whether pip can install the project."""
    extras: tuple[str, ...]
    """Extras with requirements of the tests."""
    groups: tuple[str, ...]
    """Dependency groups with requirements of the tests."""
    files: tuple[Path, ...]
    """Files with requirements of the tests."""
    requirements: tuple[str, ...]
    """Requirements in the groups."""
    plugins: tuple[str, ...]
    """Plugins that the settings of pytest name."""
    test_paths: tuple[Path, ...]
    """Folders where pytest looks for tests."""


def read_project(folder: Path) -> ProjectFiles:
    """Read the files of a project.

    Raises:
        InputError: the folder is missing, is not a Python project or has no tests, or a file that decides
            how the project is built or tested cannot be read.
    """
    if not folder.is_dir():
        what = "is a file: name the folder that contains it" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {what}.")
    folder = folder.resolve()
    try:
        os.listdir(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}.") from None
    toml, cfg = _toml(folder / "pyproject.toml"), _ini(folder / "setup.cfg")
    pytest = _pytest_settings(folder, toml, cfg)
    _refuse_none(folder, pytest)
    project = _table(toml, "project")
    poetry = _table(toml, "tool", "poetry")
    information = _information(folder)
    extras, groups, requirements = _of_tests(folder, toml, cfg)
    files = () if extras or groups else _files(folder)
    return ProjectFiles(
        folder=folder,
        name=str(
            project.get("name")
            or poetry.get("name")
            or cfg.get("metadata", {}).get("name")
            or information.get("Name")
            or folder.name
        ),
        version=_said(project.get("version") or poetry.get("version") or information.get("Version")),
        licence=_licence(folder, project, poetry, cfg, information),
        python=str(project.get("requires-python") or cfg.get("options", {}).get("python_requires") or ""),
        installable="project" in toml or "build-system" in toml or (folder / "setup.py").exists(),
        extras=extras,
        groups=groups,
        files=files,
        requirements=requirements,
        plugins=_plugins(pytest),
        test_paths=_test_paths(folder, pytest),
    )


def _said(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


# -- files of settings -----------------------------------------------------------------------------


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}. Correct it: it configures the tests.") from None


def _ini(path: Path) -> dict[str, dict[str, str]]:
    """The sections of a file; empty if the file does not exist."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(read_text(path), str(path))
    except FileNotFoundError:
        return {}
    except configparser.Error as error:  # its text has the line
        line_number = getattr(error, "lineno", None)
        line = "" if line_number is None else f", line {line_number}"
        what = type(error).__name__
        raise InputError(
            f"{path}{line}: is not an INI file ({what}). Correct it: it configures the tests."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}. Correct it: it configures the tests.") from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _table(tables: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table inside other tables; empty if it is missing."""
    value: Any = tables
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}


def _information(folder: Path) -> Mapping[str, str]:
    """The fields of PKG-INFO in a source distribution."""
    try:
        return dict(HeaderParser().parsestr(read_text(folder / "PKG-INFO", "replace")))
    except OSError:
        return {}


def _pytest_settings(
    folder: Path, toml: Mapping[str, Any], cfg: Mapping[str, dict[str, str]]
) -> dict[str, Any]:
    """The settings that pytest uses: those of the first file that has some, in pytest's order."""
    for name in ("pytest.ini", ".pytest.ini"):
        if settings := _ini(folder / name).get("pytest"):
            return dict(settings)
    if settings := _table(toml, "tool", "pytest", "ini_options"):
        return settings
    if (settings := _table(toml, "tool", "pytest")) and "ini_options" not in settings:
        return settings
    return dict(_ini(folder / "tox.ini").get("pytest") or cfg.get("tool:pytest") or {})


def _words(value: object) -> list[str]:
    """The words of a setting that is a list or a text."""
    if isinstance(value, list):
        return [str(word) for word in value]
    try:
        return shlex.split(str(value or ""), comments=True)
    except ValueError:
        return str(value or "").split()


# -- tests -----------------------------------------------------------------------------------------


def _refuse_none(folder: Path, pytest: Mapping[str, Any]) -> None:
    """Raise InputError if pytest has nothing to run."""
    patterns = _words(pytest.get("python_files")) or ["test_*.py", "*_test.py"]
    has_python = False
    for name in _python_files(folder):
        has_python = True
        if any(fnmatch.fnmatch(os.path.basename(name), pattern.rpartition("/")[2]) for pattern in patterns):
            return
    if "--doctest-modules" in _words(pytest.get("addopts")):
        return
    if not has_python:
        raise InputError(f"{folder}: is not a Python project: it has no Python files.")
    raise InputError(
        f"{folder}: has no tests: no file in it is named {' or '.join(patterns)}. A benchmark is made of the "
        "calls that tests make. Without tests: deskcheck record inputs:FILE.py looks for inputs itself."
    )


def _python_files(folder: Path) -> Iterator[str]:
    """Python files, without environments and hidden folders."""
    for parent, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".") and not os.path.exists(os.path.join(parent, name, "pyvenv.cfg"))
        ]
        yield from (os.path.join(parent, name) for name in files if name.endswith(".py"))


def _test_paths(folder: Path, pytest: Mapping[str, Any]) -> tuple[Path, ...]:
    named: list[Path] = []
    for pattern in _words(pytest.get("testpaths")):
        try:
            named += sorted(folder.glob(pattern))
        except (OSError, ValueError, NotImplementedError) as error:  # too long, empty, absolute
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"{folder}: testpaths of its settings: {pattern!r:.80}: {reason}.") from None
    return tuple(named) or (folder,)


def _plugins(pytest: Mapping[str, Any]) -> tuple[str, ...]:
    """The plugins that the settings of pytest name. Without them pytest does not start."""
    plugins = dict.fromkeys(_words(pytest.get("required_plugins")))
    for word in _words(pytest.get("addopts")):
        plugins |= {
            name: None
            for option, name in _CONVENTIONS["options"].items()
            if word.startswith(option) and (option != "-n" or word[2:3] in ("", *"0123456789la"))
        }
    plugins |= {
        plugin: None for name, plugin in _CONVENTIONS["settings"].items() if name in map(str.lower, pytest)
    }
    return tuple(plugins)


def _of_tests(
    folder: Path, toml: Mapping[str, Any], cfg: Mapping[str, dict[str, str]]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The extras and groups for the tests, and the requirements in these groups."""
    declared = _table(toml, "project", "optional-dependencies")
    extras = [*declared, *cfg.get("options.extras_require", {}), *_table(toml, "tool", "poetry", "extras")]
    groups = _table(toml, "dependency-groups")
    poetry = {
        name: _table(table, "dependencies")
        for name, table in _table(toml, "tool", "poetry", "group").items()
        if isinstance(table, Mapping)
    }
    if old := _table(toml, "tool", "poetry", "dev-dependencies"):
        poetry["dev"] = old
    if not extras and not declared and (folder / "setup.py").exists() and "project" not in toml:
        text = _text(folder / "setup.py")
        extras = [name for name in _GROUPS["tests"] if re.search(rf"[\"']{name}[\"']\s*[:\]]", text)]
    for names in _GROUPS.values():
        of_extras = tuple(name for name in extras if _same_name(name) in names)
        of_groups = tuple(name for name in groups if _same_name(name) in names)
        of_poetry = tuple(name for name in poetry if _same_name(name) in names)
        if of_extras or of_groups or of_poetry:
            needed = [text for name in of_groups for text in _group(groups, name, folder, ())]
            needed += [_of_poetry(*item) for name in of_poetry for item in poetry[name].items()]
            return of_extras, (*of_groups, *of_poetry), tuple(dict.fromkeys(filter(None, needed)))
    return (), (), ()


def _same_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _group(groups: Mapping[str, Any], name: str, folder: Path, inside: tuple[str, ...]) -> Iterator[str]:
    """The requirements of a dependency group and of the groups that it includes (PEP 735)."""
    listed = next((value for key, value in groups.items() if _same_name(key) == _same_name(name)), None)
    if not isinstance(listed, list) or _same_name(name) in inside:
        raise InputError(
            f"{folder / 'pyproject.toml'}: [dependency-groups] {name}: "
            + ("includes itself." if isinstance(listed, list) else "no such group.")
        )
    for entry in listed:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping) and isinstance(entry.get("include-group"), str):
            yield from _group(groups, entry["include-group"], folder, (*inside, _same_name(name)))


def _of_poetry(name: str, requirement: object) -> str:
    """A requirement of Poetry, for pip: without the version if pip cannot express it."""
    table: dict[str, Any] = {**requirement} if isinstance(requirement, Mapping) else {"version": requirement}
    if "path" in table or "git" in table or "url" in table or name == "python":
        return ""
    extras = f"[{','.join(map(str, table['extras']))}]" if table.get("extras") else ""
    version = str(table.get("version", "*"))
    if version.startswith("^"):
        return f"{name}{extras}>={version[1:]}"
    if version.startswith("~") and not version.startswith("~="):
        return f"{name}{extras}>={version[1:]}"
    if version == "*":
        return f"{name}{extras}"
    return f"{name}{extras}{version}" if version[:1] in "<>=!~" else f"{name}{extras}=={version}"


def _files(folder: Path) -> tuple[Path, ...]:
    paths = [path for name in _CONVENTIONS["requirements"]["files"] if (path := folder / name).is_file()][:1]
    general = folder / "requirements.txt"
    return tuple([general] if general.is_file() else []) + tuple(paths)


# -- the licence -----------------------------------------------------------------------------------


def _licence(
    folder: Path,
    project: Mapping[str, Any],
    poetry: Mapping[str, Any],
    cfg: Mapping[str, dict[str, str]],
    information: Mapping[str, str],
) -> Licence | None:
    """The licence that the project names, or else the licence whose text its licence file contains."""
    stated = project.get("license") or poetry.get("license")
    table = stated if isinstance(stated, Mapping) else {}
    for text, where in (
        (stated, "pyproject.toml"),
        (table.get("text"), "pyproject.toml"),
        (cfg.get("metadata", {}).get("license"), "setup.cfg"),
        (information.get("License-Expression"), "PKG-INFO"),
    ):
        if (text_said := _said(text)) and "\n" not in text_said.strip() and len(text_said) < 100:
            return Licence(name=text_said.strip(), where=where)
    files = [folder / str(table["file"])] if "file" in table else []
    for path in (*files, *_licence_files(folder)):
        if name := _recognised(_text(path)):
            return Licence(name=name, where=path.name)
    listed = project.get("classifiers")
    classifiers = [str(classifier) for classifier in listed] if isinstance(listed, list) else []
    classifiers += (cfg.get("metadata", {}).get("classifiers") or "").split("\n")
    for classifier in classifiers:
        if classifier.strip().startswith("License ::"):
            return Licence(name=classifier.rpartition("::")[2].strip(), where="its classifiers")
    if (text_said := _said(information.get("License"))) and "\n" not in text_said and len(text_said) < 100:
        return Licence(name=text_said, where="PKG-INFO")
    return next((Licence(name=path.name, where=path.name) for path in _licence_files(folder)), None)


def _licence_files(folder: Path) -> list[Path]:
    patterns = _CONVENTIONS["licences"]["files"]
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and any(fnmatch.fnmatch(path.name.lower(), pattern) for pattern in patterns)
    ]


def _recognised(text: str) -> str | None:
    """The SPDX name of a licence text."""
    plain = " ".join(text.lower().split())
    texts: list[dict[str, Any]] = _CONVENTIONS["licences"]["text"]
    return next((text["name"] for text in texts if all(part in plain for part in text["parts"])), None)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_TEXT_CHARS)
    except OSError:
        return ""
