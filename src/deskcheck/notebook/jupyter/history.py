"""The cells that ran in a shell, as text for an assistant."""

from typing import Any

from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.truncate import fitting
from deskcheck.notebook.state.views import estimate_tokens
from deskcheck.notebook.trajectory.masking import Mask

_LEARN_S = 0.25
"""For the look at the variables, whose secrets may stand in the cells."""


def cells_of(shell: Any, *, last: int = 20, budget: int = 2000) -> dict[str, Any]:
    """The last cells that ran, ``{"text", "cells", "left_out"}``, in at most `budget` tokens.

    text: each cell below a line ``# In [N]``. cells: their execution counts. left_out: of the `last` ones,
    those that there was no room for. Silent runs and runs without history are not among them. Secrets are
    masked, those too that only the variables show.
    """
    sources = [source for source in shell.history_manager.input_hist_raw if isinstance(source, str)]
    ran = [(count, source) for count, source in enumerate(sources) if count and source.strip()][-last:]
    mask = Mask()
    limits = StateLimits(time_s=_LEARN_S)
    mask.state(Capture(limits).after_cell(dict(shell.user_ns), shell.user_ns_hidden, ""))
    texts: list[str] = []
    known = -1
    while mask.known != known:  # a later cell may name what stands in an earlier one
        known = mask.known
        texts = [f"# In [{count}]\n{mask.text(source.rstrip())}\n" for count, source in ran]
    kept = fitting(reversed(texts), budget, estimate_tokens)[::-1]
    left_out = len(ran) - len(kept)
    return {
        "text": "\n".join(kept),
        "cells": [count for count, _ in ran[left_out:]],
        "left_out": left_out,
    }
