"""Fixed values for the things that differ between runs of a program."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from deskcheck.settings import Setting


def _since_1970(text: str) -> float:
    """Seconds from 1970 to a moment in ISO 8601 format. A moment without a zone is in UTC."""
    from datetime import UTC, datetime  # not in the process that a program runs in

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a moment in ISO 8601 format, like 2024-05-01 or 2024-05-01T12:00") from None
    seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    if seconds < 0:
        raise ValueError("is before 1970-01-01, where clocks begin")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Determinism:
    """Fixed sources of difference between runs. None does not fix a source.

    C code that reads a clock or random numbers itself is not affected. Raises ValueError for a negative clock
    or tick.

    Attributes:
        clock: seconds since 1970 at which all clocks of `time` and `datetime` start.
        tick_s: seconds that a reading advances the clocks. 0 stops them. A sleep advances them too.
        random_seed: the seed of `random`, `os.urandom`, `secrets`, `uuid4` and numpy.
        turns: switch threads only when one blocks, or, if False, all the time.
        addresses: do not randomise addresses, if the kernel allows that.
    """

    clock: Annotated[
        float | None,
        Setting(
            "All clocks start from this moment (ISO 8601, UTC) and advance by --tick-s at each reading.",
            metavar="MOMENT",
            parse=_since_1970,
        ),
    ] = None
    tick_s: Annotated[float, Setting("Seconds that --clock advances at each reading. 0 stops it.", min=0)] = (
        0.001
    )
    random_seed: Annotated[int | None, Setting("Seed of random, os.urandom, secrets, uuid4 and numpy.")] = (
        None
    )
    turns: Annotated[bool | None, Setting("Switch threads only when one blocks.")] = None
    addresses: bool | None = None

    def __post_init__(self) -> None:
        if self.tick_s < 0 or (self.clock is not None and self.clock < 0):
            raise ValueError(f"clock={self.clock} and tick_s={self.tick_s} must not be negative")

    @property
    def said(self) -> dict[str, Any]:
        """The fixed sources, in the form of a recording."""
        clock = {"clock": self.clock, "tick_s": self.tick_s} if self.clock is not None else {}
        others = {"random_seed": self.random_seed, "turns": self.turns, "addresses": self.addresses}
        return clock | {name: value for name, value in others.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
