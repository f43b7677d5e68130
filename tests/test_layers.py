"""The house: a folder imports those above it in the list, never those below."""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "deskcheck"
ORDER = [
    "_version",
    "errors",
    "files",
    "fences",
    "lazy",
    "settings",
    "extensions",
    "terminal",
    "words",
    "recording",
    "tracer",
    "sandbox",
    "jobs",
    "sources",
    "notebook",
    "recorder",
    "notation",
    "ask",
    "teach",
    "bench",
    "view",
    "cli",
    "pytest_plugin",
]
COMPANIONS = sorted((ROOT / "packages").glob("*/src/*/"))
"""Packages of distributions in packages/."""
GUEST = {"recording", "tracer"}
"""What runs inside the watched process: standard library only, but for the file of recordings."""


@functools.cache
def statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Those of a file that import, wherever in it."""
    tree = ast.walk(ast.parse(path.read_text()))
    return [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports."""
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module is not None:
            yield node.module


ENTRANCES = PACKAGE / "__init__.py", PACKAGE / "__main__.py"
"""What a user imports and what `python -m` runs: they lead to every folder."""
FILES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path not in ENTRANCES and (path.parent / "__init__.py").exists()  # elsewhere Python is data
]


def test_imports_run_one_way() -> None:
    """No file imports a folder that stands below its own."""
    below = {}
    for path in FILES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        named = {name.split(".")[1] for name in imports(path) if name.startswith("deskcheck.")}
        if wrong := {name for name in named if ORDER.index(name) > ORDER.index(own)}:
            below[str(path.relative_to(PACKAGE))] = wrong
    assert below == {}


def test_deskcheck_imports_no_companion() -> None:
    """Packages in packages/ import deskcheck; neither deskcheck nor another of them imports one."""
    names = {package.name for package in COMPANIONS}
    assert "deskcheck_levels" in names
    wrong = {
        (str(path.relative_to(ROOT)), name)
        for package in (PACKAGE, *COMPANIONS)
        for path in package.rglob("*.py")
        for name in imports(path)
        if name.partition(".")[0] in names - {package.name}
    }
    assert wrong == set()


def test_the_guest_brings_only_the_standard_library() -> None:
    """Tracer and recording import nothing from outside, but for pyarrow in what reads and writes files."""
    foreign = {
        (path.name, name.partition(".")[0])
        for path in FILES
        if path.relative_to(PACKAGE).parts[0] in GUEST
        for name in imports(path)
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "deskcheck"}
    }
    assert foreign == {
        (name, "pyarrow") for name in ("schema.py", "spool.py", "states.py", "writer.py", "reader.py")
    }


def rooms(package: Path) -> dict[str, dict[str, set[str]]]:
    """Folders of a package, each with the folders that its files import, and by which file of ours."""
    found: dict[str, dict[str, set[str]]] = {}
    files = [path for path in sorted(package.rglob("*.py")) if path not in ENTRANCES]
    modules = {".".join(path.relative_to(package).with_suffix("").parts) for path in files}
    for path in files:
        if path.name == "__init__.py":  # the front of a concept hands out what its rooms hold
            continue
        own = ".".join(path.relative_to(package).parts[:-1])
        for node in statements(path):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(f"{package.name}."):
                continue
            base = (node.module or "").removeprefix(f"{package.name}.")
            for name in {f"{base}.{alias.name}" for alias in node.names}:
                module = name if name in modules else base
                room = module.rpartition(".")[0] if module in modules else module
                if room != own:
                    found.setdefault(own, {}).setdefault(room, set()).add(f"{path.name} -> {module}")
    return found


@pytest.mark.parametrize("package", [PACKAGE, *COMPANIONS], ids=lambda package: package.name)
def test_no_two_rooms_import_each_other(package: Path) -> None:
    found = rooms(package)
    assert [
        (one, other, found[one][other], found[other][one])
        for one in found
        for other in found[one]
        if one < other and one in found.get(other, {})
    ] == []


def test_every_folder_is_on_the_map() -> None:
    """The list that docs/explanation/how-it-works.md begins with names each."""
    folders = {path.parent.relative_to(PACKAGE).parts[-1] for path in FILES if path.parent != PACKAGE}
    text = (ROOT / "docs" / "explanation" / "how-it-works.md").read_text().split("\n## ")[0]
    assert folders == set(re.findall(r"(\w+)/(?=\s)", text)) - {"src"}


_FILE_OR_FOLDER = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|[ch]|md)|(?:[\w-]+/)+[\w-]*)`")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/how-it-works.md"])
def test_what_the_map_names_is_there(page: str) -> None:
    """Each file and folder in code marks, from the package, from the repository, or as the end of a path."""
    known = {
        f"/{path.relative_to(ROOT)}"
        for top in ("src", "tests", "docs", "packages")
        for path in (ROOT / top).rglob("*")
    }
    named = {name.rstrip("/") for name in _FILE_OR_FOLDER.findall((ROOT / page).read_text())}
    named = {name for name in named if not name.startswith("deskcheck/")}  # names of models and tasks
    assert len(named) > 20
    lost = {name for name in named if not any(path.endswith(f"/{name}") for path in known)}
    assert {name for name in lost if not (ROOT / name).exists()} == set()


def test_no_text_names_a_module_by_a_name_that_it_had() -> None:
    """`_x` in code marks is a name of the file itself, or a module that is called so."""
    modules = {path.stem for path in FILES}
    lost = [
        f"{path.relative_to(PACKAGE)}: {name}, which is {name[1:]}"
        for path in FILES
        for name in re.findall(r"(?<!`)`(_[a-z]\w*)[.\w]*`(?!`)", path.read_text())
        if name not in modules
        and name[1:] in modules
        and not re.search(rf"(?<![`\w]){name}\b", path.read_text())
    ]
    assert lost == []


def test_no_folder_is_a_heap() -> None:
    """At most so many files lie in one, fronts not counted."""
    heaps = {str(folder.relative_to(PACKAGE)): count for folder, count in sizes().items() if count > 15}
    assert heaps == {}


def sizes() -> dict[Path, int]:
    counts: dict[Path, int] = {}
    for path in FILES:
        if path.name != "__init__.py":
            counts[path.parent] = counts.get(path.parent, 0) + 1
    return counts
