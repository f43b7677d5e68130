"""`deskcheck.record`: any source into a folder, from Python."""

from pathlib import Path

import pytest

import deskcheck
from deskcheck.recorder.record import SourceKind, kind_of, with_arguments
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.sandbox.confinement import Confinement

OPEN = RecordSettings(sandbox=Confinement.TRUSTED, repeat=False)
DOUBLE = 'def double(x):\n    """\n    >>> double(2)\n    4\n    """\n    return x + x\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "double.py"
    path.write_text(DOUBLE)
    return path


def test_several_sources_into_one_folder(file: Path, tmp_path: Path) -> None:
    """A call with its arguments, doctests; told one by one; there is nothing to do a second time."""
    told: list[str] = []
    sources = (f"{file}::double", "(21,)", f"doctests:{file}")
    done = deskcheck.record(
        *sources, out=tmp_path / "runs", settings=OPEN, progress=lambda what, *_: told.append(what)
    )
    assert (done.kind, done.summary.recorded, done.agreement) == (SourceKind.PROGRAMS, 2, None)
    found = {r.program.arguments: r.result for r in deskcheck.Recordings(tmp_path / "runs")}
    assert found.pop("(21,)") == "42"
    assert len(found) == 1
    assert len(told) == 2
    again = deskcheck.record(*sources, out=tmp_path / "runs", settings=OPEN)
    assert (again.summary.recorded, again.summary.in_folder) == (0, 2)


def test_settings_must_go_with_the_sources(file: Path, tmp_path: Path) -> None:
    """Settings of another kind of source are refused before anything is made."""
    with pytest.raises(deskcheck.InputError, match="SuiteSettings: these sources take RecordSettings"):
        deskcheck.record(str(file), out=tmp_path / "runs", settings=SuiteSettings())
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("sources", "kind"),
    [
        (["a.py", "mbpp"], SourceKind.PROGRAMS),
        (["a.ipynb", "june:log.csv"], SourceKind.NOTEBOOKS),
        (["pytest:."], SourceKind.TESTS),
        (["a.py", "b.ipynb"], "a.py: is not a notebook"),
        (["pytest:.", "a.ipynb"], "pytest:.: is not a notebook"),
        (["pytest:a", "pytest:b"], "with a separate command"),
        (["a.py", "pytest:b"], "with a separate command"),
    ],
)
def test_sources_are_of_one_kind(sources: list[str], kind: SourceKind | str) -> None:
    if isinstance(kind, SourceKind):
        assert kind_of(sources) is kind
    else:
        with pytest.raises(deskcheck.InputError, match=kind):
            kind_of(sources)


def test_an_argument_list_follows_its_call() -> None:
    """Also one that is wrongly written; what may be a source is one."""
    assert with_arguments(["a.py::f", "(1, 2)", "b.py::g", "heapq", "c.py::h", "[1"]) == [
        ("a.py::f", "(1, 2)"),
        ("b.py::g", None),
        ("heapq", None),
        ("c.py::h", "[1"),
    ]
