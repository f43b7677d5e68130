"""The live state of a kernel as bounded text for an assistant.

No code of the user runs: variables are seen by `capture`, in bounded time, and dependencies are read from
source.
"""

import builtins
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deskcheck.errors import InputError
from deskcheck.notebook.state.capture import Capture, StateLimits
from deskcheck.notebook.state.imports import Import, imports_of, listed
from deskcheck.notebook.state.names import depends_on, names_unbound
from deskcheck.notebook.state.state import KernelState, states
from deskcheck.notebook.state.truncate import fitting, with_rest
from deskcheck.notebook.state.views import estimate_tokens, view
from deskcheck.notebook.trajectory.masking import Mask
from deskcheck.notebook.trajectory.trajectory import Execution, Status

_NEWEST = 500
"""Number of names that are looked at, in addition to one for each token of the budget: some are IPython's."""
_EARLIER_CHARS = 500_000
"""Characters of the last cells that are read to find the names that functions and classes need."""
_SHARE = 4
"""Imports may take this fraction of the budget, and so may missing names."""


def context(
    names: Sequence[str] | None = None,
    *,
    code: str | None = None,
    budget: int = 2000,
    form: str = "text",
    time_s: float = 0.05,
    mask: bool = True,
) -> str:
    """The values of the user's variables, in up to `budget` tokens (`estimate_tokens`).

    names: show these variables, in this order.
    code: show the variables that this code depends on, also through functions and classes of earlier cells,
    and list missing names. The code is not run. Without names and code, all variables are shown, the newest
    first.
    form: ``text`` or ``json`` (one object).
    time_s: time after which no further variable is looked at. The text gives the number of the others.
    mask: remove secrets (`masking`).

    In IPython the user's namespace is shown, elsewhere the globals of the caller.
    docs/reference/trajectory.md says how functions, classes, estimators, graphs and imports are shown.

    Raises InputError: a name without a variable, or one that IPython assigns (``_``, ``Out``); both names and
    code; a wrong budget or form.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    variables = _Variables(sys._getframe(1).f_globals) if shell is None else _of_shell(shell)
    limits = StateLimits(time_s=time_s)
    return _context(variables, names, limits, code=code, budget=budget, form=form, mask=mask)


def of_shell(shell: Any, names: Sequence[str] | None, limits: StateLimits, **options: Any) -> str:
    """The values of an IPython shell's variables, as `context` gives them. limits: bounds on the look at a
    variable. options: other parameters of `context`."""
    return _context(_of_shell(shell), names, limits, **options)


@dataclass(frozen=True, slots=True)
class _Variables:
    """The variables to show. hidden: names and values of IPython. ran: sources of the cells that ran."""

    namespace: Mapping[str, Any]
    hidden: Mapping[str, Any] = field(default_factory=dict)
    ran: Sequence[str] = ()


def _of_shell(shell: Any) -> _Variables:
    ran = [source for source in shell.history_manager.input_hist_raw if isinstance(source, str)]
    return _Variables(shell.user_ns, shell.user_ns_hidden, ran)


def _context(
    variables: _Variables,
    names: Sequence[str] | None,
    limits: StateLimits,
    *,
    code: str | None = None,
    budget: int = 2000,
    form: str = "text",
    mask: bool = True,
) -> str:
    namespace = dict(variables.namespace)  # a cell may be running, and change it
    if isinstance(names, str):
        raise InputError(f"names={names!r} must be several names, as [{names!r}].")
    if names is not None and code is not None:
        raise InputError("give either names or code, not both.")
    missing = [name for name in names or () if name not in namespace]
    if missing:
        raise InputError(f"unknown variable {', '.join(map(repr, missing))}. Leave out names to show all.")
    also: dict[str, list[str]] = {}
    if code is not None:
        last = fitting(reversed(variables.ran), _EARLIER_CHARS, len)[::-1]
        types = {name: type(value).__name__ for name, value in namespace.items()}
        names = depends_on(code, dict.fromkeys(namespace), earlier=last, types=types)
        defined = {*namespace, *vars(builtins)}
        unknown = [name for name in names_unbound(code) if name not in defined]
        if unknown:
            also["not in the kernel"] = _fitting(unknown, budget)
    by_name = code is None and names is not None
    # Those that are asked for, or the newest: more than there are tokens cannot be shown.
    every = list(namespace)
    chosen = every[: -max(budget, 0) - _NEWEST - 1 : -1] if names is None else names
    hidden = {n for n, obj in variables.hidden.items() if n in namespace and namespace[n] is obj}
    users = {n: namespace[n] for n in chosen if type(n) is str and n not in hidden}
    imports = _imports(users, namespace, modules_only=by_name)
    brought = {entry.name for entry in imports}
    looked_at = {n: namespace[n] for n in chosen if n not in brought}
    row = Capture(limits).after_cell(looked_at, variables.hidden, "")
    if names is None and len(chosen) < len(every):
        row["count"] += len(every) - len(chosen)
        row["unseen"] = row.get("unseen", 0) + len(every) - len(chosen)
    if texts := listed(imports[::-1] if names is None else imports):
        also["imports"] = _fitting(texts, budget)
    state = _state(Mask().state(row) if mask else row)
    visible = [name for name in chosen if name in state.variables]
    not_shown = [name for name in looked_at if name not in state.variables]
    if not_shown and by_name and not state.unseen:
        raise InputError(
            f"{', '.join(not_shown)}: names that IPython assigns are not shown. Give the object another name."
        )
    return view(state, "used", budget=budget, names=visible, form=form, also=also).text


def _imports(
    variables: Mapping[str, Any], namespace: Mapping[str, Any], *, modules_only: bool
) -> list[Import]:
    """modules_only: leave out functions and classes, which are described when the caller names them."""
    imports = imports_of(variables, {} if modules_only else namespace)
    imports = [entry for entry in imports if not entry.name.startswith("__")]
    return [entry for entry in imports if entry.attribute is None] if modules_only else imports


def _fitting(texts: Sequence[str], budget: int) -> list[str]:
    """The texts that fit into a part of the budget, and the number of others."""
    room = max(budget, 0) // _SHARE
    return with_rest(fitting(texts, room, lambda text: estimate_tokens(f"{text}, ")), len(texts))


def _state(row: dict[str, Any]) -> KernelState:
    step = Execution(cell="", source="", status=Status.UNKNOWN, order=(), state=row)
    return next(state for _, state in states([step]) if state is not None)
