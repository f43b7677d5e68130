"""The earlier cells of a target as text: time, memory, changes. And whether an answer needs the state.

After the runtime information of Themisto (Grotov and Titov 2025, arXiv:2504.12365): execution times, memory,
and the state after each step of the history.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from deskcheck.notebook.state.state import KernelState
from deskcheck.notebook.state.views import View, estimate_tokens, view


class PastCell(Protocol):
    """An execution before the target."""

    @property
    def heading(self) -> str: ...
    @property
    def wall_s(self) -> float | None: ...
    @property
    def memory(self) -> tuple[int | None, int | None]: ...
    @property
    def state(self) -> KernelState | None: ...


def past_view(kind: str, cells: Sequence[PastCell], budget: int) -> View:
    """The runtime information of cells, oldest first: as many of the newest as fit into `budget` tokens.

    kind: one of `PAST_VIEWS`. A cell's variables have up to a quarter of the budget.
    """
    entries: list[str] = []
    tokens = 0
    for cell in reversed(cells):
        entry = _ENTRIES[kind](cell, budget // 4)
        if tokens + estimate_tokens(entry) > budget:
            break
        tokens += estimate_tokens(entry)
        entries.append(entry)
    text = "".join(reversed(entries))
    return View(kind=kind, text=text, budget=budget, tokens=tokens, left_out=len(cells) - len(entries))


def _time(cell: PastCell, budget: int) -> str:
    return f"{cell.heading}: " + ("unknown" if cell.wall_s is None else f"{cell.wall_s:.3g} s") + "\n"


def _memory(cell: PastCell, budget: int) -> str:
    before, after = cell.memory
    if after is None:
        return f"{cell.heading}: unknown\n"
    change = "" if before is None else f", {(after - before) / 1e6:+.1f} MB by the cell"
    return f"{cell.heading}: {after / 1e6:.1f} MB{change}\n"


def _changes(cell: PastCell, budget: int) -> str:
    if cell.state is None:
        return f"After {cell.heading}: unknown\n"
    changed = view(cell.state, "changed", budget=budget).text.rstrip("\n")
    return f"After {cell.heading}:\n{changed or '(nothing)'}\n"


_ENTRIES: Mapping[str, Callable[[PastCell, int], str]] = {
    "time": _time,
    "memory": _memory,
    "history": _changes,
}

SHOWN, IN_STATE, COMPUTED = "shown", "in the state", "computed"
"""The values of `need`."""
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]{3,}")
_ALL_TOKENS = 1_000_000


def need(answer: str, prompt: str, state: KernelState | None) -> str:
    """Whether an answer needs runtime information, by its numbers and words (of three letters and more).

    - ``shown``: the prompt without runtime information has all of them.
    - ``in the state``: it lacks some that the values of the recorded variables have. The source does not show
      them.
    - ``computed``: it lacks some, and the variables have none of these.
    """
    missing = set(_WORD.findall(answer)) - set(_WORD.findall(prompt))
    if not missing:
        return SHOWN
    values = "" if state is None else view(state, "full", budget=_ALL_TOKENS).text
    return IN_STATE if missing & set(_WORD.findall(values)) else COMPUTED
