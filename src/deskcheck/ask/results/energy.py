"""The energy that a machine takes while models are asked, where Linux shows it: powercap's RAPL zones.

The kernel counts microjoules in ``/sys/class/powercap/intel-rapl:*/energy_uj``
(Documentation/power/powercap of the kernel's source), from 0 to ``max_energy_range_uj`` and again; on AMD's
processors the files have the same names. Most kernels let root alone read them. What is counted is the
whole machine's: of all that ran, not of one process, and in a container also what ran outside. Graphics
cards, disks and fans are not in it, and models that answer elsewhere take their energy there.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

POWERCAP = Path("/sys/class/powercap")
PLACE = "DESKCHECK_POWERCAP"
"""Environment variable: another folder in that form, as a container may have it."""
EVERY_S = 20.0
"""Between two looks. A counter of 2^16 J comes round once in five minutes at 200 W."""
STILL_S = 1.0
"""A package's counter moves about once a millisecond."""
OF = "the machine's while the run lasted, of all that ran on it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """joules: of all packages and of memory that is counted apart; None where that is not known, and then
    reason says why. zones: joules by zone, as far as they are known; of a zone inside a package too, so
    they do not add up. seconds: how long was measured. whole: False where the run was stopped and gone on
    with: its last part alone was measured."""

    joules: float | None
    reason: str
    zones: dict[str, float]
    seconds: float
    whole: bool = True
    of: str = OF

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON-able values."""
        return asdict(self)


@dataclass(slots=True)
class _Zone:
    folder: Path
    name: str = ""
    range_uj: int = 0
    last_uj: int = 0
    used_uj: int = 0
    failed: str = ""
    """Why it cannot be told any more."""

    @property
    def key(self) -> str:
        return f"{self.folder.name} {self.name}".strip()

    @property
    def counts(self) -> bool:
        """Whether it is part of the sum: packages, and memory, which is in no package."""
        return self.name.startswith("package") or self.name == "dram"


def _number(file: Path) -> int:
    return int(file.read_text())


@dataclass(slots=True)
class Meter:
    """Counts from when it is made. Threads may call it together."""

    place: Path = field(default_factory=lambda: Path(os.environ.get(PLACE) or POWERCAP))
    _zones: list[_Zone] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for folder in sorted(self.place.glob("intel-rapl:*")):
            zone = _Zone(folder)
            try:
                zone.name = (folder / "name").read_text().strip()
                zone.last_uj = _number(folder / "energy_uj")
                zone.range_uj = _number(folder / "max_energy_range_uj")
            except (OSError, ValueError) as error:
                zone.failed = _why(zone, error)
            self._zones.append(zone)

    def look(self) -> None:
        """Read the counters. It must be done more often than any of them comes round."""
        with self._lock:
            for zone in self._zones:
                if zone.failed:
                    continue
                try:
                    now = _number(zone.folder / "energy_uj")
                except (OSError, ValueError) as error:
                    zone.failed = _why(zone, error)
                    continue
                used = now - zone.last_uj
                if used < 0 and zone.range_uj <= zone.last_uj:
                    zone.failed = f"{zone.key}: the counter went back, and its range is {zone.range_uj} uJ"
                    continue
                zone.used_uj += used if used >= 0 else used + zone.range_uj
                zone.last_uj = now

    def energy(self, *, whole: bool = True) -> Energy:
        """What was used until now."""
        self.look()
        counted = [zone for zone in self._zones if zone.counts]
        seconds = time.monotonic() - self._began
        still = [zone.key for zone in counted if zone.name != "dram" and not zone.used_uj]
        failed = [zone.failed for zone in self._zones if zone.failed and (zone.counts or not zone.name)]
        reason = ""
        if not self._zones:
            reason = f"the kernel shows no {self.place}/intel-rapl:*"
        elif failed:
            reason = failed[0]
        elif not any(zone.name.startswith("package") for zone in counted):
            reason = f"no zone is that of a package: {', '.join(zone.key for zone in self._zones)}"
        elif still and seconds > STILL_S:
            reason = f"{still[0]}: the counter stands still, as a virtual machine may show it"
        return Energy(
            joules=None if reason else sum(zone.used_uj for zone in counted) / 1e6,
            reason=reason,
            zones={zone.key: zone.used_uj / 1e6 for zone in self._zones if not zone.failed},
            seconds=seconds,
            whole=whole,
        )


def _why(zone: _Zone, error: Exception) -> str:
    if isinstance(error, PermissionError):
        return f"{zone.folder}/energy_uj may not be read by this user"
    told = error.strerror if isinstance(error, OSError) else f"{error}"
    return f"{zone.folder} cannot be read: {told}"


@contextmanager
def metered(every_s: float = EVERY_S) -> Iterator[Meter]:
    """A meter that is looked at while the block runs."""
    meter, over = Meter(), threading.Event()

    def keep_looking() -> None:
        while not over.wait(every_s):
            meter.look()

    looking = threading.Thread(target=keep_looking, name="energy", daemon=True)
    looking.start()
    try:
        yield meter
    finally:
        over.set()
        looking.join()
