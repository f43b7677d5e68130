"""A run on another machine and another day, as far as a program can notice (`surroundings.elsewhere`)."""

import time
from dataclasses import dataclass
from typing import Any

from deskcheck.sandbox.determinism import Determinism
from deskcheck.sandbox.surroundings.elsewhere import other_moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What a program finds differently.

    seed: of what is drawn, such as the order of free memory. names: the names of the machine, its folders and
    users, what it has, and when garbage is collected. clock: the time. addresses: the order of objects in
    memory. Threads are a matter of `Determinism.turns`.
    """

    seed: int = 0
    names: bool = True
    clock: bool = True
    addresses: bool = True

    def job(self, fixed: Determinism, *, strict: bool) -> dict[str, Any]:
        """The part of a job that says it. Fixed things stay fixed. strict: whether that is the level."""
        now = time.time()
        return {
            "seed": self.seed,
            "names": self.names,
            "strict": strict,
            "clock_s": other_moment(now) - now if self.clock and fixed.clock is None else None,
            "addresses": self.addresses and not fixed.addresses,
        }
