"""Levels of help that packages add: one of another package is used by its name, one that is missing says where it is."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.command import deskcheck
from tests.teach.conftest import Recorded, call
from tests.test_extensions import installed, with_path

CODE = "def f(n):\n    return n + 1\n"
LEVEL = """
import json
from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting
from deskcheck.teach.levels import HelpLevel


@dataclass(frozen=True, kw_only=True)
class Settings:
    steps: Annotated[int, Setting("Updates.")] = 7
    seed: Annotated[int, Setting("Seed of all random draws.")] = 3
    inner: int = 5


def teach(source, out, settings, *, any_licence):
    print(json.dumps([source, str(out), settings.steps, settings.seed, settings.inner, any_licence]))


def step(model, recordings, budget, *, one, as_json):
    print(json.dumps([model, [recording.id for recording in recordings], budget, one, as_json]))


AIDE = HelpLevel(name="aide", settings=Settings, teach=teach, step=step)
SILENT = HelpLevel(name="silent", settings=Settings, teach=teach)
"""


def test_a_level_of_another_package(record: Recorded, tmp_path: Path) -> None:
    """`models step` and `teach` hand it what was asked for; options that it lacks are refused."""
    runs = record(call("a", CODE, "(1)"))
    (tmp_path / "aides.py").write_text(LEVEL)
    names = {name.lower(): f"aides:{name}" for name in ("AIDE", "SILENT")}
    run = with_path(tmp_path, installed(tmp_path / "i", "aides", {"deskcheck.levels": names}))
    stepped = run("models", "step", runs, "--level", "aide", "--budget", 9, cwd=tmp_path)
    assert (stepped.returncode, stepped.stderr) == (0, "")
    assert json.loads(stepped.stdout) == ["nano", ["a"], 9, False, False]

    steps_of = ("teach", "--steps-of", "generated:3", "--level", "aide", "--out", "m")
    taught = run(*steps_of, "--seed", 0, cwd=tmp_path)
    assert json.loads(taught.stdout.splitlines()[0]) == ["generated:3", "m", 7, 0, 5, False], taught.stderr
    (tmp_path / "pyproject.toml").write_text("[tool.deskcheck.teach]\nsteps = 40\n")
    taught = run(*steps_of, "--any-licence", cwd=tmp_path)
    assert json.loads(taught.stdout.splitlines()[0]) == ["generated:3", "m", 40, 3, 5, True]

    for arguments, said in (
        ((*steps_of, "--layers", 2), "--layers: is for a model from nothing, without --model. Leave it out."),
        (("models", "step", runs, "--level", "silent"), "--level silent: only trains models"),
        (("models", "step", runs, "--level", "no"), "unknown level. Installed are alone, "),
    ):
        refused = run(*arguments, cwd=tmp_path)
        assert refused.returncode == 2
        assert said in refused.stderr


@pytest.mark.skipif(
    find_spec("deskcheck_levels") is not None,
    reason="deskcheck-levels is installed: would show that deskcheck says how to install it",
)
@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("models step runs --level processor", "The level processor"),
        ("models step runs --level reader --model nano", "The level reader"),
        ("teach --steps-of generated:3 --out model", "The level processor"),
        ("teach --steps-of generated:3 --level alone --out model", "The level alone"),
        ("models step runs --model trained", "The model in trained"),
        ("ask runs -q output --method direct -m processor/nano", "The model processor/nano"),
        ("ask runs -q output --method direct -m alone/trained", "The model alone/trained"),
    ],
)
def test_a_level_that_is_not_installed(command: str, what: str, record: Recorded, tmp_path: Path) -> None:
    """One sentence says which package has it, another how to install that."""
    if command.startswith("ask"):
        pytest.importorskip(
            "inspect_ai", reason="no inspect_ai: would show how a missing provider is installed"
        )
    record(call("a", CODE, "(1)"))
    (tmp_path / "trained").mkdir()
    (tmp_path / "trained" / "alone.npz").touch()
    ran = deskcheck(*command.split(), cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == (
        f"deskcheck: {what} needs the package deskcheck-levels, which is not installed. "
        "Install it from a checkout of deskcheck: pip install ./packages/deskcheck-levels\n"
    )
