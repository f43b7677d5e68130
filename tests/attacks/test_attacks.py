"""Hostile programs are stopped, each with the right verdict, and disturb nobody."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording.outcome import Outcome
from tests.attacks.attack import Attack, attacks
from tests.attacks.runner import ROOT

LEVELS = ("strict", "standard")
NOBODY = "65534"
ATTACKS = attacks()
# One report serves all tests of its group, so one worker runs them all.
ALL = [
    pytest.param(level, user, id=f"{level}-{user}", marks=pytest.mark.xdist_group(f"{level}-{user}"))
    for level in LEVELS
    for user in ("root", "user")
]
RUNS = [
    pytest.param(*run.values, attack, id=f"{run.id}-{attack.name}", marks=run.marks)
    for run in ALL
    for attack in ATTACKS
    if run.values[0] in attack.stopped
]


@functools.cache
def report(harness: str, user: str, *only: str) -> dict[str, Any]:
    """The runner's report on all attacks, or on some, as JSON has it, `rows` by the name of the attack.

    user: root, or user: whoever runs the tests, nobody where that is root.
    """
    command = [sys.executable]
    if os.geteuid() != 0 and user == "root":
        pytest.skip("not root: would have proved that the attacks are stopped where the harness runs as root")
    if os.geteuid() == 0 and user == "user":
        command = as_nobody()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "report.json"
        done = subprocess.run(
            [*command, "-m", "tests.attacks.runner", harness, "--json", str(path), "--only", *only],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        found: dict[str, Any] = json.loads(path.read_text())
    found["rows"] = {row["attack"]: row for row in found["rows"]}
    return found


@functools.cache
def as_nobody() -> list[str]:
    """A command that runs an interpreter as nobody: this one, or the system's where nobody may come to this."""
    setpriv = shutil.which("setpriv")
    if setpriv is not None:
        drop = [setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
        names = [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]
        for python in names:
            needs = (
                "import subprocess, sys; assert sys.version_info >= (3, 11); "
                "subprocess.run([sys.executable, '-c', ''], check=True); "  # nobody's, and not with a privilege that is left
                f"sys.path.insert(0, {str(ROOT / 'src')!r}); import deskcheck.sandbox.process"
            )
            tried = subprocess.run([*drop, python, "-c", needs], capture_output=True, cwd="/", check=False)
            if tried.returncode == 0:
                return [*drop, python]
    pytest.skip(
        "no setpriv, or no interpreter that nobody may run: would have proved that the attacks are stopped "
        "where the harness runs as an ordinary user"
    )


def test_the_suite_covers_the_field() -> None:
    """There are enough attacks of every family, and what they say of themselves can be read."""
    assert len(ATTACKS) >= 60
    families = {attack.family for attack in ATTACKS}
    assert families == set(
        "crash descriptor file forge kernel memory net next other output proc process signal time".split()
    )
    for attack in ATTACKS:
        assert attack.stopped <= set(LEVELS), attack.name
        assert attack.verdicts <= {outcome.value for outcome in Outcome}, attack.name
        assert attack.verdicts.isdisjoint({Outcome.RETURNED, Outcome.HARNESS_ERROR}), attack.name


@pytest.mark.slow
@pytest.mark.xdist_group("bare")
@pytest.mark.parametrize("attack", [a for a in ATTACKS if not a.works], ids=lambda attack: attack.name)
def test_it_succeeds_without_a_sandbox(attack: Attack) -> None:
    """An attack that nothing stops gets through, and is seen to: what is stopped elsewhere was a real one."""
    found = report("bare", "root")["rows"][attack.name]
    if not found["breaches"]:  # on a busy machine its time may have been up before: once more, alone
        found = report("bare", "root", attack.name)["rows"][attack.name]
    assert found["breaches"], found


@pytest.mark.slow
@pytest.mark.parametrize(("level", "user", "attack"), RUNS)
def test_it_is_stopped(level: str, user: str, attack: Attack) -> None:
    """Nothing outside is reached or changed, the verdict is right, and so are those of the programs beside it."""
    row = report(level, user)["rows"][attack.name]
    assert row["breaches"] == []
    # What the function raises reaches the check that called it, which takes it for a wrong answer.
    raised = {Outcome.RAISED, Outcome.OUT_OF_MEMORY}
    right = attack.verdicts | ({Outcome.WRONG} if attack.verdicts & raised else set())
    assert row["word"] in right, row["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "user"), ALL)
def test_nothing_is_left(level: str, user: str) -> None:
    """After all attacks the sandbox leaves no process and no file behind."""
    assert report(level, user)["left"] == []
