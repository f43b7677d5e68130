"""Settings of a run that seems to be on another machine and another day (`surroundings.elsewhere`)."""

import time
from dataclasses import dataclass
from typing import Any

from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.surroundings.elsewhere import other_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """The differences between a run elsewhere and a run here. `Determinism.turns` varies threads."""

    seed: int = 0
    """The seed of random choices, such as the order of free memory."""
    names: bool = True
    """Other names of the machine, its folders and users, other hardware, and other garbage collection."""
    clock: bool = True
    """Another time."""
    addresses: bool = True
    """Another order of objects in memory."""

    def job(self, fixed: Determinism, *, strict: bool) -> dict[str, Any]:
        """The part of a job for a run elsewhere. Fixed sources stay fixed. `strict` is true at that level."""
        now = time.time()
        return {
            "seed": self.seed,
            "names": self.names,
            "strict": strict,
            "clock_s": other_moment(now) - now if self.clock and fixed.clock is None else None,
            "addresses": self.addresses and not fixed.addresses,
        }
