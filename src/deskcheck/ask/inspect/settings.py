"""Settings of completions."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from deskcheck.settings import Setting

STEP_BUDGET = 2000
"""The default maximum number of states that a model is asked for in one run."""


def price_of(text: str) -> tuple[str, tuple[float, float]]:
    """Model and prices of ``MODEL=IN,OUT``. Raises ValueError."""
    model, _, pair = text.rpartition("=")
    read, _, written = pair.partition(",")
    try:
        prices = float(read), float(written)
    except ValueError:
        prices = math.nan, math.nan
    if not model or not all(math.isfinite(price) and price >= 0 for price in prices):
        raise ValueError(
            "give MODEL=IN,OUT, as openai/gpt-4o-mini=0.15,0.60: dollars for a million tokens read, and "
            "written."
        )
    return model, prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Model -> US dollars for a million tokens, read and written."""

    prices: Annotated[
        Mapping[str, tuple[float, float]],
        Setting(
            "US dollars for a million tokens, read and written. May be given again.",
            flag="--price",
            metavar="MODEL=IN,OUT",
            parse=price_of,
        ),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Prices):
    """The settings of completions. Without prices those that Inspect knows are used."""

    max_tokens: Annotated[int | None, Setting("Maximum number of tokens of a completion.", min=1)] = None
    temperature: Annotated[
        float | None, Setting("0: the most likely token each time. By default the provider's own.", min=0)
    ] = None
    epochs: Annotated[int, Setting("Answers to each sample; their mean is its score.", min=1)] = 1
    seed: Annotated[
        int | None, Setting("Seed of the model, if its provider has one.", flag="--model-seed")
    ] = None
    token_limit: Annotated[
        int | None, Setting("Maximum number of tokens of one sample, read and written.", min=1)
    ] = None
    cost_limit: Annotated[
        float | None, Setting("Maximum US dollars for one sample, if Inspect knows the prices.", min=0)
    ] = None
    cache: Annotated[bool, Setting("Keep completions in Inspect's cache, and use those in it.")] = False
    completion: Annotated[
        bool,
        Setting(
            "Let the model continue prompts without a chat template, for base models: /v1/completions of a "
            "server, up to [/ANSWER]."
        ),
    ] = False
    stop: Annotated[
        tuple[str, ...],
        Setting(
            "Text at which the provider ends a completion. May be given again. By default none: some models "
            "refuse them, and a draft would end there.",
            metavar="TEXT",
        ),
    ] = ()
    timeout: Annotated[int, Setting("Seconds until a request is given up, with its retries.", min=1)] = 1800
    max_retries: Annotated[
        int | None,
        Setting("Retries of a failed request (no limit; the waits grow).", min=0),
    ] = None
    max_connections: Annotated[int | None, Setting("Maximum number of requests at a time.", min=1)] = None

    def decisive(self) -> dict[str, Any]:
        """The settings that decide the answers. Prices do if cost is limited."""
        transport = {"cache", "max_retries", "max_connections", "timeout"}
        transport |= {name for name in ("stop", "completion") if not getattr(self, name)}
        if self.cost_limit is None:
            transport.add("prices")
        return {name: value for name, value in asdict(self).items() if name not in transport}
