"""Hostile programs are stopped, each with the right verdict, and disturb nobody."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from deskcheck.recording.outcome import Outcome
from tests.attacks.attack import FAMILIES, Attack, attacks, must_stop
from tests.attacks.runner import ROOT
from tests.attacks.table import BEGIN, CIRCUMSTANCES, END, LEVELS, reported
from tests.circumstances import as_container, as_nobody

USERS = ("root", "user")
ATTACKS = attacks()
OTHER = {"root": "user", "user": "root"}
EVERY = 10
"""One in so many of the attacks of a family is a sample of them."""


def runs() -> list[Any]:
    """Level, user and family of each run: the full product, in which every family meets every level and every user.

    Each pair of two is met by half of the product, of which `make test-all` runs one attack in `EVERY`, others at
    each level; `make exhaustive` runs all.
    """
    found = []
    for n, family in enumerate(FAMILIES):
        for place, level in enumerate(LEVELS):
            own = USERS[n % 2] if level == "strict" else OTHER[USERS[n % 2]]
            for user in USERS:
                name = f"{level}-{user}-{family}"
                whole = pytest.param(level, user, family, slice(None), id=name, marks=pytest.mark.exhaustive)
                found.append(whole)
                if user == own:
                    some = slice(place, None, EVERY)
                    found.append(
                        pytest.param(level, user, family, some, id=f"{name}-some", marks=pytest.mark.slow)
                    )
    return found


def report(harness: str, user: str, names: Sequence[str]) -> dict[str, Any]:
    """The runner's report on these attacks, as JSON has it, `rows` by the name of the attack.

    user: root; user: whoever runs the tests, nobody where that is root; container: root with the privileges
    that a container gives.
    """
    command = [sys.executable]
    if os.geteuid() != 0 and user == "root":
        pytest.skip("not root: would have proved that the attacks are stopped where the harness runs as root")
    if os.geteuid() == 0 and user == "user":
        command = as_nobody()
    if user == "container":
        command = as_container()
    found: dict[str, Any] = reported(command, harness, names, limit_s=1500)
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


def test_the_suite_covers_the_field() -> None:
    """There are enough attacks of every family, and what they say of themselves can be read."""
    assert len(ATTACKS) >= 255
    assert {attack.family for attack in ATTACKS} == FAMILIES.keys()
    for attack in ATTACKS:
        assert attack.stopped <= set(LEVELS), attack.name
        assert attack.verdicts <= {outcome.value for outcome in Outcome}, attack.name
        assert attack.verdicts.isdisjoint({Outcome.RETURNED, Outcome.HARNESS_ERROR}), attack.name


def test_the_page_is_of_this_suite() -> None:
    """The block that `python -m tests.attacks` writes has every family, at each level in every circumstance, and
    names each attack that the suite does not claim to be stopped and that got through."""
    page = (ROOT / "docs" / "explanation" / "sandbox.md").read_text(encoding="utf-8")
    block = page.partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines() if "|" in line]
    for level in LEVELS:
        start = next(n for n, row in enumerate(rows) if row[0] == f"`{level}`")
        assert rows[start][2:] == [each.name for each in CIRCUMSTANCES if level in each.levels]
        families = [tuple(row[:2]) for row in rows[start + 2 : start + 2 + len(FAMILIES)]]
        assert families == list(FAMILIES.items())
        for row in rows[start + 2 : start + 2 + len(FAMILIES)]:
            assert all(int(cell.split(" of ")[1]) > 0 for cell in row[2:]), row
    assert "Got through, and must not" not in block
    for attack in ATTACKS:
        if not attack.stopped:
            assert f"`{attack.name}`" in page.replace(block, ""), f"{attack.name} is not named as not stopped"


def of_family(family: str, level: str | None = None) -> list[Attack]:
    """Its attacks: those that a level of our sandbox must stop, or those that succeed without any."""
    return [
        attack
        for attack in ATTACKS
        if attack.family == family and (level in attack.stopped if level else not attack.works)
    ]


@pytest.mark.parametrize(
    ("level", "user"), [("strict", "user"), pytest.param("standard", "root", marks=pytest.mark.slow)]
)
def test_one_of_each_family_is_stopped(level: str, user: str) -> None:
    """The first attack of each family, at each level."""
    firsts = [next(iter(of_family(family, level)), None) for family in FAMILIES]
    assert_stopped(level, user, [attack for attack in firsts if attack is not None])


@pytest.mark.parametrize(("level", "user", "family", "which"), runs())
def test_a_family_is_stopped(level: str, user: str, family: str, which: slice) -> None:
    """The attacks of a family, at a level, of a harness that a user runs."""
    wanted = of_family(family, level)[which]
    if not wanted:
        pytest.skip(f"{level} does not claim to stop attacks on {family}")
    assert_stopped(level, user, wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harness", "user"),
    [("strict-abi2", "user"), ("standard-abi5", "user"), ("strict", "container"), ("standard", "container")],
)
def test_what_older_kernels_and_containers_lack_lets_nothing_through(harness: str, user: str) -> None:
    """Every third attack on what Landlock or privileges would keep is stopped where these are less."""
    names = (
        "file_truncate file_write file_read_secret signal_ other_priority other_ptrace net_tcp net_unix "
        "kernel_become_root proc_memory_of_other process_daemon"
    ).split()
    wanted = [a for a in ATTACKS if a.name.startswith(tuple(names)) and must_stop(a, harness)]
    assert_stopped(harness, user, wanted[::3])


@pytest.mark.exhaustive
@pytest.mark.parametrize("harness", ["strict-abi2", "strict-abi5", "standard-abi3", "standard-abi5"])
def test_with_an_older_landlock_nothing_gets_through(harness: str) -> None:
    """Every attack that a level must stop, of a user's harness, on what an older kernel would give."""
    assert_stopped(harness, "user", [attack for attack in ATTACKS if must_stop(attack, harness)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("level", LEVELS)
def test_in_a_container_nothing_gets_through(level: str) -> None:
    """Every attack that a level must stop, of a harness that a container's root runs."""
    assert_stopped(level, "container", [attack for attack in ATTACKS if level in attack.stopped])


@pytest.mark.parametrize("family", [family for family in FAMILIES if of_family(family)])
@pytest.mark.parametrize(
    "which",
    [
        pytest.param(slice(None, None, EVERY), marks=pytest.mark.slow, id="some"),
        pytest.param(slice(None), marks=pytest.mark.exhaustive, id="all"),
    ],
)
def test_a_family_succeeds_without_a_sandbox(family: str, which: slice) -> None:
    """An attack that nothing stops gets through, and is seen to: what is stopped elsewhere was a real one."""
    wanted = of_family(family)[which]
    rows = report("bare", "root", [attack.name for attack in wanted])["rows"]
    assert [attack.name for attack in wanted if not rows[attack.name]["breaches"]] == []
