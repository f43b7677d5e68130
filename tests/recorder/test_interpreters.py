"""Programs and tests are recorded with any CPython from 3.11 on, and it needs none of deskcheck's packages."""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from deskcheck.errors import InputError
from deskcheck.jobs.spread import Spread
from deskcheck.recorder.programs import SLOW, SLOW_THERE, slow
from deskcheck.recorder.record import record
from deskcheck.recorder.settings import RecordSettings, SuiteSettings
from deskcheck.recording.reader import Recordings
from deskcheck.recording.recording import Recording
from deskcheck.recording.trace import Kind
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.environments import of_interpreter

SCRIPT = """import sys
from collections import Counter


def tally(text, n=2):
    found = []
    for letter, times in sorted(Counter(text).items()):
        if times >= n:
            found.append((letter, times))
    return found


print(sys.version_info[:2], sys.prefix == sys.base_prefix, tally("abracadabra"))
"""
ROOT = Path(__file__).parents[2]
OTHERS = [
    found
    for version in ("3.11", "3.12", "3.13")
    if version != f"{sys.version_info.major}.{sys.version_info.minor}"
    for found in subprocess.run(
        [str(ROOT / "tools" / "find-python"), version], capture_output=True, text=True, check=False
    ).stdout.split()
]
"""Pythons of other versions that are on this machine."""


def bare(folder: Path, python: str = sys.executable) -> str:
    """An environment with nothing in it."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    path = str(folder / "bin" / "python")
    assert subprocess.run([path, "-c", "import pyarrow"], capture_output=True, check=False).returncode
    return path


def plain(python: str, script: Path) -> str:
    return subprocess.run([python, str(script)], capture_output=True, text=True, check=True).stdout


def recorded(out: Path, script: Path, python: str | None, sandbox: Confinement) -> dict[str, Recording]:
    settings = RecordSettings(python=python, sandbox=sandbox)
    done = record(
        str(script), f"{script}::tally", "('banana', 1)", out=out, settings=settings, spread=Spread(workers=1)
    )
    assert not done.to_dict()["problems"]
    return {recording.id: recording for recording in Recordings(out)}


def lines(recording: Recording) -> list[tuple[str, int]]:
    return [(row.function, row.line) for row in recording.trace.rows if row.kind == Kind.LINE]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    return file


@pytest.mark.parametrize(
    "level", [Confinement.STRICT, pytest.param(Confinement.TRUSTED, marks=pytest.mark.slow)]
)
def test_an_environment_with_nothing_in_it(tmp_path: Path, script: Path, level: Confinement) -> None:
    """Records a script and a call as this interpreter does, event for event; the script prints what it prints
    by itself."""
    python = bare(tmp_path / "bare")
    there = recorded(tmp_path / "there", script, python, level)
    here = recorded(tmp_path / "here", script, None, level)
    assert there.keys() == here.keys()
    for name, recording in there.items():
        assert list(recording.trace.rows) == list(here[name].trace.rows)
        assert recording.program.extra["python"] == python
        assert recording.environment.installed == {}
        assert recording.environment.python == platform.python_version()
        assert recording.repeatable
    assert there[str(script)].run_result.stdout == plain(python, script)


def test_an_interpreter_in_a_tree_of_its_own(tmp_path: Path, script: Path) -> None:
    """As the root of an unpacked image has it, under another name than python."""
    root = tmp_path / "image" / "usr" / "local"
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copy2(os.path.realpath(sys.executable), root / "bin" / version)
    (root / "lib" / version).symlink_to(sysconfig.get_path("stdlib"))
    python = str(root / "bin" / version)
    found = recorded(tmp_path / "there", script, python, Confinement.STRICT)
    assert found[str(script)].run_result.stdout == plain(python, script)
    assert found[str(script)].environment.name == python


@pytest.mark.skipif(not OTHERS, reason="no other Python here: would have proved that others record, too")
@pytest.mark.slow
def test_other_versions(tmp_path: Path, script: Path) -> None:
    """Each version's own interpreter runs the program; lines are the same; a sentence says where the
    reference tracer records."""
    here = recorded(tmp_path / "here", script, None, Confinement.STRICT)
    for number, other in enumerate(OTHERS):
        python = bare(tmp_path / f"bare{number}", other)
        notes: list[str] = []
        settings = RecordSettings(python=python)
        out = tmp_path / f"out{number}"
        record(str(script), out=out, settings=settings, note=notes.append)
        (recording,) = Recordings(out)
        assert recording.run_result.stdout == plain(python, script)
        assert recording.environment.python == of_interpreter(python).python_version
        assert lines(recording) == lines(here[str(script)])
        told = [note for note in notes if SLOW_THERE in note]
        assert bool(told) == (recording.environment.tracer == "reference")
        assert all(python in note for note in told)


@pytest.mark.slow
def test_the_tests_of_a_project(tmp_path: Path) -> None:
    """An environment that has pytest, and nothing of deskcheck's, runs them."""
    python = bare(tmp_path / "bare")
    # The environment's own packages: pytest and what it needs, by links.
    site = next((tmp_path / "bare" / "lib").glob("python*")) / "site-packages"
    ours = Path(pytest.__file__).parents[1]
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py"):
        (site / name).symlink_to(ours / name)
    for described in ours.glob("plug*.dist-info"):
        (site / described.name).symlink_to(described)
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[project]\nname = 'calc'\n")
    (project / "calc.py").write_text("def twice(n):\n    m = n + n\n    return m\n")
    (project / "tests" / "test_calc.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nimport calc\ndef test_it(): assert calc.twice(4) == 8\n"
    )
    out = tmp_path / "out"
    record(f"pytest:{project}", out=out, settings=SuiteSettings(python=python))
    (recording,) = Recordings(out)
    assert recording.program.entry == "twice"
    assert recording.run_result.result == "8"
    assert lines(recording) == [("twice", 2), ("twice", 3)]
    without = bare(tmp_path / "without")
    with pytest.raises(InputError, match=f"{without} has no pytest. Install it with"):
        record(f"pytest:{project}", out=tmp_path / "none", settings=SuiteSettings(python=without))


@pytest.mark.slow
def test_in_shards(tmp_path: Path, script: Path) -> None:
    """Shards are recorded with it; the same command finds them; without it they are other recordings."""
    settings = RecordSettings(python=bare(tmp_path / "bare"), sandbox=Confinement.TRUSTED)
    spread = Spread(workers=1, shards=2)
    out = tmp_path / "out"
    done = record(str(script), "generated:3", out=out, settings=settings, spread=spread)
    assert done.summary.recorded == 10
    assert {recording.environment.installed_sha256 for recording in Recordings(out)} != {None}
    assert record(str(script), "generated:3", out=out, settings=settings, spread=spread).summary.recorded == 0
    with pytest.raises(InputError):
        record(
            str(script),
            "generated:3",
            out=out,
            settings=RecordSettings(sandbox=Confinement.TRUSTED),
            spread=spread,
        )


@pytest.mark.slow
def test_what_differs_is_explained_there(tmp_path: Path) -> None:
    """The runs that find out why recordings differ are that interpreter's, too."""
    file = tmp_path / "draws.py"
    file.write_text("import random\ndef draw(): return random.random()\n")
    settings = RecordSettings(python=bare(tmp_path / "bare"), sandbox=Confinement.TRUSTED)
    done = record(f"{file}::draw", "()", out=tmp_path / "out", settings=settings)
    assert done.to_dict()["causes"] == {"randomness": 1}


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("no-such-python", "--python no-such-python: is not a program that can be started"),
        ("/bin/ls", "--python /bin/ls: is not a Python that can be started"),
    ],
)
def test_what_is_no_interpreter_is_refused(tmp_path: Path, script: Path, python: str, message: str) -> None:
    """With what was given, before anything runs."""
    for source, settings in (
        (str(script), RecordSettings(python=python)),
        (f"pytest:{tmp_path}", SuiteSettings(python=python)),
    ):
        with pytest.raises(InputError, match=message):
            record(source, out=tmp_path / "out", settings=settings)


def test_what_is_installed_there_is_told() -> None:
    """As `importlib.metadata` tells it, names and versions; of a module, whose it is."""
    known = of_interpreter(sys.executable)
    names = {
        re.sub("[-_.]+", "-", each.metadata["Name"]).lower(): each.version
        for each in metadata.distributions()
    }
    assert known.installed == names
    assert known.versions(["pytest", "_pytest", "os"]) == {"pytest": pytest.__version__}


def test_an_environment_has_its_own() -> None:
    """Both are not asked for together. The words about the slow tracer are those of the interpreter."""
    with pytest.raises(InputError, match="An environment already has an interpreter"):
        RecordSettings(python=sys.executable, environment="maths")
    assert slow(None) == SLOW
    assert platform.python_version() in slow(sys.executable)
