"""The house: a folder imports those above it in the list, never those below."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "deskcheck"
ORDER = [
    "errors",
    "files",
    "recording",
    "tracer",
    "sandbox",
    "scale",
    "corpus",
    "notebook",
    "notation",
    "ask",
    "teach",
    "view",
    "cli",
]
GUEST = {"recording", "tracer"}
"""What runs inside the watched process: standard library only, but for the file of recordings."""


def imports(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


FILES = [
    path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py" or path.parent != PACKAGE
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    """No file imports a folder that stands below its own."""
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    named = {name.split(".")[1] for name in imports(path) if name.startswith("deskcheck.")}
    assert {name for name in named if ORDER.index(name) > ORDER.index(own)} == set()


def test_the_guest_brings_only_the_standard_library() -> None:
    """Tracer and recording import nothing from outside, but for pyarrow in what reads and writes files."""
    foreign = {
        (path.name, name.partition(".")[0])
        for path in FILES
        if path.relative_to(PACKAGE).parts[0] in GUEST
        for name in imports(path)
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "deskcheck"}
    }
    assert foreign == {(name, "pyarrow") for name in ("schema.py", "spool.py", "writer.py", "reader.py")}
