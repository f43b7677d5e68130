"""Hostile programs are stopped, each with the right verdict, and disturb nobody."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deskcheck.recording.outcome import Outcome
from tests.attacks.attack import Attack, attacks
from tests.attacks.runner import ROOT

LEVELS = ("strict", "standard")
USERS = ("root", "user")
NOBODY = "65534"
ATTACKS = attacks()
FAMILIES = sorted({attack.family for attack in ATTACKS})
OTHER = {"root": "user", "user": "root"}


def runs() -> list[Any]:
    """Level, user and family of each run: the full product, in which every family meets every level and every user.

    Each pair of two is met by half of the product, which `make test-all` runs; `make exhaustive` runs the rest.
    """
    found = []
    for n, family in enumerate(FAMILIES):
        for level in LEVELS:
            own = USERS[n % 2] if level == "strict" else OTHER[USERS[n % 2]]
            for user in USERS:
                mark = pytest.mark.slow if user == own else pytest.mark.exhaustive
                found.append(pytest.param(level, user, family, id=f"{level}-{user}-{family}", marks=mark))
    return found


def report(harness: str, user: str, names: Sequence[str]) -> dict[str, Any]:
    """The runner's report on these attacks, as JSON has it, `rows` by the name of the attack.

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
            [*command, "-m", "tests.attacks.runner", harness, "--json", str(path), "--only", *names],
            cwd=ROOT,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT / "src"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": tempfile.gettempdir(),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        found: dict[str, Any] = json.loads(path.read_text())
    found["rows"] = {row["attack"]: row for row in found["rows"]}
    return found


def assert_stopped(level: str, user: str, wanted: Sequence[Attack]) -> None:
    """Nothing outside is reached or changed, the verdicts are right, so are those of the programs beside them, and
    after all of them the sandbox leaves no process and no file behind."""
    found = report(level, user, [attack.name for attack in wanted])
    wrong = {}
    for attack in wanted:
        row = found["rows"][attack.name]
        # What the function raises reaches the check that called it, which takes it for a wrong answer.
        raised = {Outcome.RAISED, Outcome.OUT_OF_MEMORY}
        right = attack.verdicts | ({Outcome.WRONG} if attack.verdicts & raised else set())
        if row["breaches"] or row["word"] not in right:
            wrong[attack.name] = row
    assert wrong == {}
    assert found["left"] == []


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
        "caller crash descriptor file forge kernel memory net next other output proc process signal time".split()
    )
    for attack in ATTACKS:
        assert attack.stopped <= set(LEVELS), attack.name
        assert attack.verdicts <= {outcome.value for outcome in Outcome}, attack.name
        assert attack.verdicts.isdisjoint({Outcome.RETURNED, Outcome.HARNESS_ERROR}), attack.name


def of_family(family: str, level: str | None = None) -> list[Attack]:
    """Its attacks: those that a level of our sandbox must stop, or those that succeed without any."""
    return [
        attack
        for attack in ATTACKS
        if attack.family == family and (level in attack.stopped if level else not attack.works)
    ]


@pytest.mark.parametrize(("level", "user"), [("strict", "user"), ("standard", "root")])
def test_one_of_each_family_is_stopped(level: str, user: str) -> None:
    """The first attack of each family, at each level."""
    firsts = [next(iter(of_family(family, level)), None) for family in FAMILIES]
    assert_stopped(level, user, [attack for attack in firsts if attack is not None])


@pytest.mark.parametrize(("level", "user", "family"), runs())
def test_a_family_is_stopped(level: str, user: str, family: str) -> None:
    """Every attack of a family, at a level, of a harness that a user runs."""
    wanted = of_family(family, level)
    if not wanted:
        pytest.skip(f"{level} does not claim to stop attacks on {family}")
    assert_stopped(level, user, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("family", [family for family in FAMILIES if of_family(family)])
def test_a_family_succeeds_without_a_sandbox(family: str) -> None:
    """An attack that nothing stops gets through, and is seen to: what is stopped elsewhere was a real one."""
    wanted = of_family(family)
    rows = report("bare", "root", [attack.name for attack in wanted])["rows"]
    assert [attack.name for attack in wanted if not rows[attack.name]["breaches"]] == []
