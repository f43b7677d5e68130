"""The energy of the machine, from powercap's files: made ones, and the machine's own where they can be read."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deskcheck.ask.results.energy import EVERY_S, PLACE, POWERCAP, Meter, metered

RANGE = 262_143_328_850


def zone(place: Path, number: str, name: str, energy_uj: int, range_uj: int = RANGE) -> Path:
    """A zone as the kernel shows it."""
    folder = place / f"intel-rapl:{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    return folder


def count(folder: Path, energy_uj: int) -> None:
    """Whole or not at all, as a counter of the kernel's is read."""
    (folder / "new").write_text(f"{energy_uj}\n")
    (folder / "new").replace(folder / "energy_uj")


def test_packages_and_memory_are_added_up(tmp_path: Path) -> None:
    """A core is inside its package and counts once; the platform's own zone holds all of them and does not
    count."""
    zones = [
        zone(tmp_path, *told)
        for told in (
            ("0", "package-0", 5_000_000),
            ("0:0", "core", 1_000_000),
            ("0:1", "dram", 7),
            ("1", "package-1", 0),
            ("2", "psys", 9),
        )
    ]
    (tmp_path / "intel-rapl").mkdir()  # the control type itself, which has no counter
    zone(tmp_path / "other", "0", "package-0", 0)
    meter = Meter(place=tmp_path)
    for folder, energy in zip(zones, (8_500_000, 2_000_000, 250_007, 1, 10_000_009), strict=True):
        count(folder, energy)
    found = meter.energy()
    assert found.joules == pytest.approx(3.5 + 0.25 + 1e-6)
    assert found.reason == ""
    assert found.zones == pytest.approx(
        {
            "intel-rapl:0 package-0": 3.5,
            "intel-rapl:0:0 core": 1.0,
            "intel-rapl:0:1 dram": 0.25,
            "intel-rapl:1 package-1": 1e-6,
            "intel-rapl:2 psys": 10.0,
        }
    )
    assert "all that ran on it" in found.to_dict()["of"]


def test_a_counter_that_comes_round(tmp_path: Path) -> None:
    """It begins again at 0 after its range: as often as somebody looked between, that is counted."""
    package = zone(tmp_path, "0", "package-0", 900, 1000)
    meter = Meter(place=tmp_path)
    for energy in (100, 950, 50):
        count(package, energy)
        meter.look()
    assert meter.energy().joules == pytest.approx((200 + 850 + 100) / 1e6)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: (folder / "energy_uj").write_text("many\n"), "cannot be read: invalid literal"),
        (lambda folder: (folder / "energy_uj").unlink(), "cannot be read: No such file"),
        (lambda folder: (folder / "name").unlink(), "cannot be read: No such file"),
        (lambda folder: (folder / "max_energy_range_uj").write_text(""), "cannot be read: invalid literal"),
        (lambda folder: (folder / "name").write_text("psys\n"), "no zone is that of a package"),
    ],
)
def test_what_cannot_be_read_is_not_known(
    tmp_path: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    """None with the reason: no 0, and no sum of the rest."""
    zone(tmp_path, "0", "package-0", 0)
    spoil(zone(tmp_path, "1", "package-1", 0))
    if "package" in reason:
        spoil(tmp_path / "intel-rapl:0")
    found = Meter(place=tmp_path).energy()
    assert found.joules is None
    assert reason in found.reason


def test_a_zone_that_goes_meanwhile(tmp_path: Path) -> None:
    """Half a sum is none; a counter that goes back for no reason of its range tells nothing either."""
    package = zone(tmp_path, "0", "package-0", 10)
    meter = Meter(place=tmp_path)
    (package / "energy_uj").unlink()
    assert (meter.energy().joules, meter.energy().zones) == (None, {})
    count(package, 5000)
    assert meter.energy().joules is None
    other = zone(tmp_path / "b", "0", "package-0", 5000, 1000)
    meter = Meter(place=tmp_path / "b")
    count(other, 4000)
    assert "went back" in meter.energy().reason


def test_a_counter_that_stands_still(tmp_path: Path) -> None:
    """A virtual machine may show zones that nothing counts: 0 J in two seconds are not known, and no 0."""
    package = zone(tmp_path, "0", "package-0", 10)
    meter = Meter(place=tmp_path)
    meter._began -= 2
    assert meter.energy().joules is None
    assert "stands still" in meter.energy().reason
    count(package, 11)
    assert meter.energy().joules == pytest.approx(1e-6)


@pytest.mark.skipif(os.geteuid() == 0, reason="would have proved what is said where root alone may read")
def test_counters_that_root_alone_may_read(tmp_path: Path) -> None:
    """Most kernels have them so."""
    (zone(tmp_path, "0", "package-0", 10) / "energy_uj").chmod(0)
    assert Meter(place=tmp_path).energy().reason.endswith("energy_uj may not be read by this user")


def test_a_machine_without_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in most virtual machines. The variable names another folder."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    found = Meter().energy()
    assert (found.joules, found.reason) == (None, f"the kernel shows no {tmp_path}/intel-rapl:*")


def test_it_is_looked_at_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that comes round twice in a run is counted twice."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    package = zone(tmp_path, "0", "package-0", 0, 1000)
    with metered(0.001) as meter:
        for energy in (600, 200, 800, 100):
            count(package, energy)
            deadline = time.monotonic() + 20
            while meter._zones[0].last_uj != energy and time.monotonic() < deadline:
                time.sleep(0.001)
        assert meter.energy().joules == pytest.approx(2100 / 1e6)
    assert EVERY_S < 65_536 / 1000, "less than a counter of 2^16 J takes at 1 kW"


def test_the_machine_s_own_counters() -> None:
    """What work takes is more than nothing, and less than a kilowatt for each package."""
    meter = Meter(place=POWERCAP)
    if meter.energy().joules is None:
        pytest.skip(f"{meter.energy().reason}: would have proved that real counters are read")
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        sum(range(10_000))
    found = meter.energy()
    packages = sum(bool(re.search("package", name)) for name in found.zones)
    assert found.joules is not None
    assert 0 < found.joules < 1000 * packages * found.seconds
