"""The live state of a kernel as bounded text, for an assistant: what the variables hold that some code needs.

Nothing of the user's runs for it: variables are seen as `capture` sees them, in a bounded time, and
dependencies are read from source. Of functions, classes, estimators and graphs more is said (`describe`).
Imports are one line, without deskcheck's own.
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
"""Names that are looked at beyond one for each token of the budget, as some are IPython's own."""
_EARLIER_CHARS = 500_000
"""Of the cells that ran, the last ones, that are read for what functions and classes need."""
_SHARE = 4
"""Imports take one token of so many of the budget, and so do names that are missing."""


def context(
    names: Sequence[str] | None = None,
    *,
    code: str | None = None,
    budget: int = 2000,
    form: str = "text",
    time_s: float = 0.05,
    mask: bool = True,
) -> str:
    """What the user's variables hold now, in at most `budget` tokens (`estimate_tokens`).

    names: these variables, in this order. code: those that this code depends on, through functions and
    classes of earlier cells too; it is not run, and names that it needs and nothing has are told. Neither:
    all variables, the newest first. form: ``text``, or
    ``json``: one object. time_s: after so long no further variable is looked at, and the text says how many
    were not. mask: secrets are taken out (`masking`).

    In IPython the user's namespace is shown, elsewhere the globals of the caller. For what is told of
    functions, classes, estimators, graphs and imports: docs/reference/trajectory.md.

    Raises InputError: a name that no variable has, or that IPython assigns (``_``, ``Out``); both names and
    code; a budget or form that is none.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    known = _Variables(sys._getframe(1).f_globals) if shell is None else _of_shell(shell)
    limits = StateLimits(time_s=time_s)
    return _context(known, names, limits, code=code, budget=budget, form=form, mask=mask)


def of_shell(
    shell: Any,
    names: Sequence[str] | None = None,
    *,
    time_s: float = 0.05,
    limits: StateLimits | None = None,
    **asked: Any,
) -> str:
    """As `context`, of an IPython shell. limits: of what is seen of a variable, in the place of `time_s`.
    asked: the other parameters of `context`."""
    return _context(_of_shell(shell), names, limits or StateLimits(time_s=time_s), **asked)


@dataclass(frozen=True, slots=True)
class _Variables:
    """What there is to show. hidden: IPython's own of the same names. ran: the cells that ran."""

    namespace: Mapping[str, Any]
    hidden: Mapping[str, Any] = field(default_factory=dict)
    ran: Sequence[str] = ()


def _of_shell(shell: Any) -> _Variables:
    ran = [source for source in shell.history_manager.input_hist_raw if isinstance(source, str)]
    return _Variables(shell.user_ns, shell.user_ns_hidden, ran)


def _context(
    known: _Variables,
    names: Sequence[str] | None,
    limits: StateLimits,
    *,
    code: str | None = None,
    budget: int = 2000,
    form: str = "text",
    mask: bool = True,
) -> str:
    namespace = dict(known.namespace)  # a cell may be running, and change it
    if isinstance(names, str):
        raise InputError(f"names={names!r} must be several names, as [{names!r}].")
    if names is not None and code is not None:
        raise InputError("names and code: give the one or the other.")
    missing = [name for name in names or () if name not in namespace]
    if missing:
        raise InputError(
            f"there is no variable {', '.join(map(repr, missing))}. Without names all are shown."
        )
    also: dict[str, list[str]] = {}
    if code is not None:
        last = fitting(reversed(known.ran), _EARLIER_CHARS, len)[::-1]
        types = {name: type(value).__name__ for name, value in namespace.items()}
        names = depends_on(code, dict.fromkeys(namespace), earlier=last, types=types)
        there = {*namespace, *vars(builtins)}
        unknown = [name for name in names_unbound(code) if name not in there]
        if unknown:
            also["not in the kernel"] = _fitting(unknown, budget)
    asked = code is None and names is not None
    # Those that are asked for, or the newest: more than there are tokens cannot be shown.
    every = list(namespace)
    chosen = every[: -max(budget, 0) - _NEWEST - 1 : -1] if names is None else names
    hidden = {n for n, obj in known.hidden.items() if n in namespace and namespace[n] is obj}
    users = {n: namespace[n] for n in chosen if type(n) is str and n not in hidden}
    imports = _imports(users, namespace, modules_only=asked)
    brought = {each.name for each in imports}
    looked_at = {n: namespace[n] for n in chosen if n not in brought}
    row = Capture(limits).after_cell(looked_at, known.hidden, "")
    if names is None and len(chosen) < len(every):
        row["count"] += len(every) - len(chosen)
        row["unseen"] = row.get("unseen", 0) + len(every) - len(chosen)
    if texts := listed(imports[::-1] if names is None else imports):
        also["imports"] = _fitting(texts, budget)
    state = _state(Mask().state(row) if mask else row)
    shown = [name for name in chosen if name in state.variables]
    own = [n for n in looked_at if n not in state.variables] if asked and not state.unseen else []
    if own:
        raise InputError(
            f"{', '.join(own)}: names that IPython assigns are not shown. Give the object another name."
        )
    return view(state, "used", budget=budget, names=shown, form=form, also=also).text


def _imports(
    variables: Mapping[str, Any], namespace: Mapping[str, Any], *, modules_only: bool
) -> list[Import]:
    """modules_only: who asks for a function by its name is told what it is."""
    found = imports_of(variables, {} if modules_only else namespace)
    found = [each for each in found if not each.name.startswith("__")]
    return [each for each in found if each.attribute is None] if modules_only else found


def _fitting(texts: Sequence[str], budget: int) -> list[str]:
    """As many as a part of the budget has room for, and how many others there are."""
    room = max(budget, 0) // _SHARE
    return with_rest(fitting(texts, room, lambda text: estimate_tokens(f"{text}, ")), len(texts))


def _state(row: dict[str, Any]) -> KernelState:
    step = Execution(cell="", source="", status=Status.UNKNOWN, order=(), state=row)
    return next(state for _, state in states([step]) if state is not None)
