"""Replacements for the things that differ between runs of a program."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from deskcheck.settings import Setting


def _since_1970(text: str) -> float:
    """Seconds since 1970 of a moment, as ISO 8601 writes it; without a zone it is UTC."""
    from datetime import UTC, datetime  # not in the process that a program runs in

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is no moment as ISO 8601 writes it, like 2024-05-01 or 2024-05-01T12:00") from None
    seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    if seconds < 0:
        raise ValueError("lies before 1970-01-01, where clocks begin")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Determinism:
    """Sources of difference that are fixed; None leaves one as it is.

    clock: seconds since 1970 from which all clocks of `time` and `datetime` start. Each reading advances them
    by tick_s (0 freezes them), and so does a sleep. random_seed: of `random`, `os.urandom`, `secrets`,
    `uuid4` and numpy. turns: switch threads only when one blocks; False: switch all the time. addresses: no
    randomisation of addresses, where the kernel allows that. C code that reads a clock or random numbers
    itself is not reached.

    Raises ValueError for a negative clock or tick.
    """

    clock: Annotated[
        float | None,
        Setting(
            "All clocks start from this moment (ISO 8601, UTC) and advance by --tick-s at each reading.",
            metavar="MOMENT",
            parse=_since_1970,
        ),
    ] = None
    tick_s: Annotated[
        float, Setting("Seconds that --clock advances at each reading. 0: it stands still.", min=0)
    ] = 0.001
    random_seed: Annotated[int | None, Setting("Seed of random, os.urandom, secrets, uuid4 and numpy.")] = (
        None
    )
    turns: Annotated[bool | None, Setting("Threads take turns only where one waits.")] = None
    addresses: bool | None = None

    def __post_init__(self) -> None:
        if self.tick_s < 0 or (self.clock is not None and self.clock < 0):
            raise ValueError(f"clock={self.clock} and tick_s={self.tick_s} must not be negative")

    @property
    def said(self) -> dict[str, Any]:
        """Those that are fixed, as a recording tells them."""
        clock = {"clock": self.clock, "tick_s": self.tick_s} if self.clock is not None else {}
        others = {"random_seed": self.random_seed, "turns": self.turns, "addresses": self.addresses}
        return clock | {name: value for name, value in others.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
