"""tools/messages lists the texts that users read: on a small project, whose list is written here by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "messages"
MODULE = '''"""A docstring is not listed."""
import re, warnings
from package.options import Setting


class Unreadable(Exception):
    """Nor is this one."""


class Damaged(Unreadable):
    pass


def main(path, table, rows):
    table.add_column("runs")
    if path == "not a message":
        raise Unreadable(f"{path}: cannot be read. " f"Choose {'another one' if rows else 'one'}.")
    warnings.warn("the file is old", stacklevel=2)
    rows.append(Damaged.at(path, "cut off after a row"))
    print(f"{len(rows)} rows in {path}")
    re.sub("a  pattern", "its replacement text", path)
    return Setting("Rows to read.", name="rows"), "reads no rows at all"
'''
PAGE = """// a comment: this is not a text
export function View({ rows }: { rows: string[] }): JSX.Element {
    const title = rows ? `all ${rows.length} rows` : "none";
    return <p class="large" title={title}>
        read from {rows[0]}, and not from a cache
    </p>;
}
"""
C = 'PyErr_Format(PyExc_ValueError, "the row ends at byte %zd "\n    "of %zd", at, size);\n'
LISTED = """\
src/package/a.py:15: head: runs
src/package/a.py:17: error Unreadable: {path}: cannot be read. Choose {'another one' if rows else 'one'}.
src/package/a.py:17: error Unreadable: another one
src/package/a.py:18: warning: the file is old
src/package/a.py:19: error Damaged: cut off after a row
src/package/a.py:20: print: {len(rows)} rows in {path}
src/package/a.py:21: text: its replacement text
src/package/a.py:22: help: Rows to read.
src/package/a.py:22: text: reads no rows at all
web/src/view.tsx:3: page: all {rows.length} rows
web/src/view.tsx:5: page: read from
web/src/view.tsx:5: page: , and not from a cache
src/package/rows.c:1: error ValueError: the row ends at byte %zd of %zd
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {
        "src/package/__init__.py": "",
        "src/package/a.py": MODULE,
        "src/package/rows.c": C,
        "src/package/data/program.py": "print('a program of others')\n",
        "web/src/view.tsx": PAGE,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), *arguments], capture_output=True, text=True)


def test_list(project: Path) -> None:
    """Every text is there once, with its placeholders, and code, comments and docstrings are not."""
    assert run(str(project)).stdout == LISTED


def test_a_kind(project: Path) -> None:
    """The kind may be given in part: all errors, in Python and in C."""
    lines = run(str(project), "--kind", "error").stdout.splitlines()
    assert lines == [line for line in LISTED.splitlines() if ": error " in line]


def test_doubles(project: Path) -> None:
    """Texts with the same words in other forms are a group; a text that is repeated is not."""
    (project / "src/package/a.py").write_text(
        "a = f'{path}: cannot read the rows'\n"
        "b = f'cannot read the row {number}'\n"
        "c = 'no rows in the file'\n"
        "d = 'no rows in the file'\n"
        "e = 'nothing like the others'\n"
    )
    assert run(str(project), "--doubles").stdout.splitlines() == [
        "src/package/a.py:1: text: {path}: cannot read the rows",
        "src/package/a.py:2: text: cannot read the row {number}",
    ]


def test_a_folder_without_a_project(tmp_path: Path) -> None:
    assert "has no texts below src" in run(str(tmp_path)).stderr
