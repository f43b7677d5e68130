"""The comm target ``deskcheck.context``: tells a front end the values of variables without running a cell.

A question is the data of ``comm_open`` or ``comm_msg``; so are answers and errors
(docs/reference/assistants.md). Secrets are always masked. IPython's hooks ``pre_execute`` and
``post_execute`` run for a ``comm_msg``, not for a ``comm_open``.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from deskcheck.errors import DeskcheckError, InputError

TARGET = "deskcheck.context"
MOST_TOKENS = 100_000
"""Maximum number of tokens of one answer."""
_MOST_TEXT = 200_000
"""Maximum number of characters of code in a question."""
_TIME_S = 0.5
"""Seconds for looking at the variables. After a cell there are fewer, as the user waits."""


def register(shell: Any) -> None:
    """Let a shell of ipykernel answer questions. Other shells have no comms and are not changed."""
    manager = _comms(shell)
    if manager is not None:
        manager.register_target(TARGET, lambda comm, message: _opened(shell, comm, message))


def unregister(shell: Any) -> None:
    manager = _comms(shell)
    if manager is not None and TARGET in manager.targets:
        manager.unregister_target(TARGET, manager.targets[TARGET])


class Serving:
    """An expression for clients: evaluating it in a kernel lets that kernel answer questions."""

    def __init__(self) -> None:
        from IPython import get_ipython

        shell = get_ipython()
        if _comms(shell) is None:
            raise InputError(f"{type(shell).__name__}: only kernels of ipykernel have comms.")
        register(shell)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from deskcheck._version import __version__

        return {"text/plain": __version__}


def answer(shell: Any, question: Any) -> dict[str, Any]:
    """``{"status": "ok", ...}``, or ``{"status": "error", "ename": ..., "evalue": ...}``."""
    try:
        if not isinstance(question, Mapping):
            raise InputError(f"a question is an object, not {type(question).__name__}.")
        parameters = dict(question)
        kind = parameters.pop("ask", "context")
        if not isinstance(kind, str) or kind not in _ANSWERS:
            raise InputError(f"ask={kind!r}: unknown. The questions are {', '.join(_ANSWERS)}.")
        return {"status": "ok"} | _ANSWERS[kind](shell, _checked(kind, parameters))
    except DeskcheckError as error:
        return {"status": "error", "ename": type(error).__name__, "evalue": str(error)}


def _comms(shell: Any) -> Any:
    return getattr(getattr(shell, "kernel", None), "comm_manager", None)


def _opened(shell: Any, comm: Any, message: Mapping[str, Any]) -> None:
    comm.on_msg(lambda message: comm.send(data=answer(shell, message["content"].get("data"))))
    question = message["content"].get("data")
    if not question:
        return
    once, until = False, None
    if isinstance(question, Mapping):
        question = dict(question)
        once, until = question.pop("once", False), question.pop("until", None)
    if isinstance(until, int | float) and time.time() > until:
        comm.close()  # who asked has given up; everybody who listens to the kernel would get the answer
    elif once:
        comm.close(data=answer(shell, question))
    else:
        comm.send(data=answer(shell, question))


# -- what can be asked -----------------------------------------------------------------------------


def _context(shell: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.state.context import of_shell

    limits = StateLimits(time_s=parameters.pop("time_s", _TIME_S))
    text = of_shell(shell, parameters.pop("names", None), limits, **parameters)
    return {"context": json.loads(text or "{}") if parameters.get("form") == "json" else text}


def _variable(shell: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.state.context import of_shell

    if "name" not in parameters:
        raise InputError("variable: name the variable, as in name='frame'.")
    deep = StateLimits(time_s=_TIME_S, items=1000, text_chars=50_000, depth=12, objects=2000)
    return {"context": of_shell(shell, [parameters.pop("name")], deep, **parameters)}


def _cells(shell: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"cells": cells_of(shell, **parameters)}


def cells_of(shell: Any, *, last: int = 20, budget: int = 2000) -> dict[str, Any]:
    """The last cells that ran, ``{"text", "cells", "left_out"}``, in up to `budget` tokens.

    text: each cell below a line ``# In [N]``. cells: their execution counts. left_out: number of cells
    without room. Silent runs and runs without history are not included. Secrets are masked, also those that
    only the variables show.
    """
    from deskcheck.notebook.state.capture import Capture, StateLimits
    from deskcheck.notebook.state.truncate import fitting
    from deskcheck.notebook.state.views import estimate_tokens
    from deskcheck.notebook.trajectory.masking import Mask

    sources = [source for source in shell.history_manager.input_hist_raw if isinstance(source, str)]
    ran = [(count, source) for count, source in enumerate(sources) if count and source.strip()][-last:]
    mask = Mask()
    mask.state(Capture(StateLimits(time_s=_TIME_S)).after_cell(dict(shell.user_ns), shell.user_ns_hidden, ""))
    texts: list[str] = []
    known_secrets = -1
    while mask.known != known_secrets:  # a later cell may name what an earlier one contains
        known_secrets = mask.known
        texts = [f"# In [{count}]\n{mask.text(source.rstrip())}\n" for count, source in ran]
    fitting_texts = fitting(reversed(texts), budget, estimate_tokens)[::-1]
    left_out = len(ran) - len(fitting_texts)
    counts = [count for count, _ in ran[left_out:]]
    return {"text": "\n".join(fitting_texts), "cells": counts, "left_out": left_out}


_ANSWERS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "context": _context,
    "variable": _variable,
    "cells": _cells,
}


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.isidentifier() for name in value)


def _number(minimum: int, maximum: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and minimum <= value <= maximum


_PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": ("a list of names of variables", _names),
    "name": ("the name of a variable", lambda value: isinstance(value, str) and value.isidentifier()),
    "code": (
        f"code of up to {_MOST_TEXT:,} characters",
        lambda value: isinstance(value, str) and len(value) <= _MOST_TEXT,
    ),
    "budget": (f"a number of tokens, 0 to {MOST_TOKENS:,}", _number(0, MOST_TOKENS)),
    "form": ("text or json", lambda value: value in ("text", "json")),
    "time_s": ("seconds, 0 to 10", lambda value: type(value) in (int, float) and 0 <= value <= 10),
    "last": ("a number of cells, 1 to 1,000", _number(1, 1000)),
}
_TAKES = {
    "context": ("names", "code", "budget", "form", "time_s"),
    "variable": ("name", "budget"),
    "cells": ("last", "budget"),
}


def _checked(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The values of a question without None. Raises InputError: a name is unknown, or its value wrong."""
    unknown = [str(name) for name in parameters if name not in _TAKES[kind]]
    if unknown:
        raise InputError(
            f"{kind}: unknown {', '.join(unknown)}. The parameters are {', '.join(_TAKES[kind])}."
        )
    present = {name: value for name, value in parameters.items() if value is not None}
    for name, value in present.items():
        what, fits = _PARTS[name]
        if not fits(value):
            text = repr(value)
            text = text if len(text) <= 80 else f"{text[:80]}..."
            raise InputError(f"{kind}: {name}={text} must be {what}.")
    return present
