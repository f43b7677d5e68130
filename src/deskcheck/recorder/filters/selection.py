"""Which events of a run are kept (`flight` keeps them)."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from deskcheck.settings import Setting
from deskcheck.tracer.limits import TraceLimits

ENDLESS = 1 << 62
"""A limit on events that no run reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """Which events of a run are kept."""

    last: Annotated[
        int | None,
        Setting(
            "Keep only the last N events, and the state at their start: for long runs, in bounded memory and "
            "on disk.",
            min=1,
            metavar="N",
        ),
    ] = None
    begin: Annotated[
        str | None,
        Setting(
            "Keep the events from the first call of this function on, named as for --only.",
            flag="--from",
            metavar="FUNCTION",
        ),
    ] = None

    def __bool__(self) -> bool:
        return self.last is not None or self.begin is not None

    @property
    def leaving_out(self) -> dict[str, Any]:
        """The settings that leave events out, by name."""
        return {name: value for name, value in (("last", self.last), ("from", self.begin)) if value}

    def limits(self, limits: TraceLimits) -> TraceLimits:
        """The limits of the tracer, which must not stop before the kept events."""
        return replace(limits, events=ENDLESS) if self else limits

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
