"""What other packages add: the example package, installed beside deskcheck, is found and used."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from deskcheck.errors import InputError
from deskcheck.extensions import Registry

EXAMPLE = Path(__file__).parents[1] / "examples" / "extension"
PROGRAM = "def grow(n):\n    out = []\n    for i in range(n):\n        out.append(i)\n    return out\n"
Command = Callable[..., "subprocess.CompletedProcess[str]"]
needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="no deskcheck[ask]: would show that models answer own questions"
)


def installed(folder: Path, name: str, entry_points: dict[str, dict[str, str]]) -> Path:
    """What an installer leaves of a package beside its code."""
    about = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items())
        for group, names in entry_points.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return folder


def with_path(folder: Path, *more: Path) -> Command:
    """deskcheck in a process that finds these folders."""

    def run(*arguments: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
        path = os.pathsep.join(map(str, [folder, *more]))
        return subprocess.run(
            [sys.executable, "-m", "deskcheck", *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def command(tmp_path: Path) -> Command:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    return with_path(EXAMPLE, installed(tmp_path / "installed", project["name"], project["entry-points"]))


@needs_inspect
@pytest.mark.slow
def test_the_example_runs_through_record_ask_list_and_report(command: Command, tmp_path: Path) -> None:
    """Its source is recorded, its questions are asked by its method of its model, and the report has them."""
    (tmp_path / "cells.txt").write_text("x = [1, 2]\nx.append(3)\n# %%\ny = 1\n")
    recorded = command("record", "cells:cells.txt", "--sandbox", "trusted", "--out", "runs", cwd=tmp_path)
    assert (recorded.returncode, recorded.stderr) == (0, "")
    assert "recorded 2 programs" in recorded.stdout

    asked = command(
        "ask", "runs", "-q", "longest,about_how_many,output", "--method", "direct,as_interpreter",
        "-m", "deskcheck/oracle", "-m", "deskcheck/seven", "--json", "--out", "asked", cwd=tmp_path,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    found = {
        (each["question"], each["model"], each["solver"]): each
        for each in json.loads(asked.stdout)["results"]
    }
    oracle = [
        each["score"] for (_, model, _), each in found.items() if model == "deskcheck/oracle" and each["n"]
    ]
    assert oracle == [1.0] * 4
    longest = found["longest", "deskcheck/seven", "as_interpreter"]
    assert (longest["n"], longest["score"]) == (1, 0.0)
    assert longest["excluded"] == {"has no list": 1}
    about = found["about_how_many", "deskcheck/seven", "direct"]
    assert about["n"] == 2
    assert 0 < about["score"] < 1

    named = json.loads(command("list", "--json", cwd=tmp_path).stdout)
    for sort, name in (
        ("questions", "longest"),
        ("methods", "as_interpreter"),
        ("models", "deskcheck/seven"),
        ("sources", "cells:..."),
        ("notations", "lines"),
    ):
        assert name in named[sort]
    reported = command("report", "asked", "--out", "report.html", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "report.html").stat().st_size > 100_000
    tables = command("report", "asked", "--table", "markdown", cwd=tmp_path)
    assert "about_how_many" in tables.stdout.replace("\\", ""), tables.stderr
    shown = command("runs", "show", "runs", "cell-0", "--notation", "lines", cwd=tmp_path)
    assert shown.stdout.split() == ["1", "1", "2", "2"], shown.stderr


@needs_inspect
@pytest.mark.slow
def test_answers_given_elsewhere_are_scored(command: Command, tmp_path: Path) -> None:
    """Also in the processes that score."""
    (tmp_path / "cells.txt").write_text("x = [1, 2]\nx.append(3)\n")
    command("record", "cells:cells.txt", "--sandbox", "trusted", "--out", "runs", cwd=tmp_path)
    made = command("offline", "questions", "runs", "-q", "about_how_many", "--out", "q.jsonl", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (line,) = map(json.loads, (tmp_path / "q.jsonl").read_text().splitlines())
    answer = {"id": line["id"], "completion": "[ANSWER]2[/ANSWER]"}
    (tmp_path / "a.jsonl").write_text(json.dumps(answer) + "\n")
    scored = command(
        "offline", "score", "q.jsonl", "a.jsonl", "--out", "s", "--json", "--sandbox", "trusted", cwd=tmp_path
    )
    assert scored.returncode == 0, scored.stderr
    (score,) = json.loads(scored.stdout)["scores"]
    assert 0 < score["score"] < 1


BROKEN = {
    "missing": ("no_such_module:thing", "ModuleNotFoundError"),
    "raises": ("broken:raises", "ZeroDivisionError"),
    "other": ("json:dumps", "must lead to a Question"),
}


@pytest.mark.slow
def test_broken_packages_are_named_and_passed_over(tmp_path: Path) -> None:
    """`list` goes on with a warning for each; asked for by name, the error says which package and why."""
    (tmp_path / "broken.py").write_text("1 / 0\n")
    for name, (value, _) in BROKEN.items():
        installed(tmp_path / "i", f"package-{name}", {"deskcheck.questions": {name: value}})
    run = with_path(tmp_path, tmp_path / "i")
    listed = run("list", "--json", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert not BROKEN.keys() & json.loads(listed.stdout)["questions"]
    (tmp_path / "double.py").write_text(PROGRAM)
    run("record", "double.py::grow", "(3,)", "--sandbox", "trusted", "--out", "runs", cwd=tmp_path)
    for name, (_, said) in BROKEN.items():
        (warned,) = (line for line in listed.stderr.splitlines() if f"package-{name}" in line)
        assert said in warned
        asked = run("offline", "questions", "runs", "-q", name, "--out", "q.jsonl", cwd=tmp_path)
        assert asked.returncode == 2
        assert said in asked.stderr
        assert "Traceback" not in asked.stderr


class Thing:
    def __init__(self, name: str) -> None:
        self.name = name


def test_a_name_is_taken_once() -> None:
    """What is there keeps its name; the same thing may come again."""
    own = Thing("own")
    registry: Registry[Any] = Registry("things", Thing, [own])
    mine = registry.register(Thing("mine"))
    assert registry.register(mine) is mine
    assert [*registry] == ["own", "mine"]
    for name in ("own", "mine"):
        with pytest.raises(InputError, match=f"the name '{name}' is already taken"):
            registry.register(Thing(name))
    with pytest.raises(KeyError):
        registry["other"]


def test_an_entry_point_cannot_take_our_name(tmp_path: Path) -> None:
    """`output` stays what it is."""
    (tmp_path / "evil.py").write_text("raise SystemExit('evil was loaded')\n")
    run = with_path(
        tmp_path, installed(tmp_path / "i", "evil", {"deskcheck.questions": {"output": "evil:x"}})
    )
    listed = run("list", "questions", "--json", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "what does the call return" in json.loads(listed.stdout)["questions"]["output"]
