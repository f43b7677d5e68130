"""Models that need no network and no weights, by name: ``deskcheck/oracle`` and the others.

`inspect.tasks` makes them a provider of Inspect's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from deskcheck.ask.baselines import guess, oracle
from deskcheck.extensions import Registry
from deskcheck.recording import InputError


@dataclass(frozen=True, slots=True)
class Baseline:
    """about: a description of its answers. make: from arguments to a function from prompt to completion;
    it removes the arguments that it uses."""

    name: str
    about: str
    make: Callable[[dict[str, Any]], Callable[[str], str]]


def _erring(arguments: dict[str, Any]) -> Callable[[str], str]:
    rate, seed = float(arguments.pop("rate", 0.05)), int(arguments.pop("seed", 0))
    if not 0 <= rate <= 1:
        raise InputError(f"deskcheck/erring: rate={rate} must be between 0 and 1.")
    return partial(oracle.erring, rate=rate, seed=seed)


BASELINES = Registry(
    "baselines",
    Baseline,
    [
        Baseline(
            "oracle",
            "the stored answer: must score 1, which checks the scoring only",
            lambda arguments: oracle.completion,
        ),
        Baseline("guess", "an honest cheap baseline", lambda arguments: guess.completion),
        Baseline("erring", "the oracle with faults: -M rate=0.05 -M seed=0", _erring),
        Baseline(
            "copy",
            "notebooks: the earlier output or source of the same cell",
            lambda arguments: oracle.copied,
        ),
        Baseline("empty", "an empty answer", lambda arguments: guess.nothing),
    ],
)
"""Name, without ``deskcheck/`` -> the model."""


def baseline(name: str, *, about: str) -> Callable[[Callable[[str], str]], Baseline]:
    """Make a model, ``deskcheck/NAME``, of a function from prompt to completion.

    @baseline("seven", about="always 7")
    def seven(prompt: str) -> str:
        return "[ANSWER]7[/ANSWER]"
    """
    return lambda complete: BASELINES.register(Baseline(name, about, lambda arguments: complete))
