"""The comm target ``deskcheck.context``: a front end asks what a kernel's variables hold, and no cell runs.

A question is the data of a message, ``comm_open`` or ``comm_msg``; the answer is data, too, and so are the
errors of a question (docs/reference/assistants.md). Secrets are always masked. IPython's hooks
``pre_execute`` and ``post_execute`` run for a ``comm_msg``, and not for a ``comm_open``.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from deskcheck.errors import DeskcheckError, InputError

TARGET = "deskcheck.context"
MOST_TOKENS = 100_000
"""Of one answer."""
_MOST_TEXT = 200_000
"""Characters of code in a question."""
_TIME_S = 0.5
"""For the look at the variables: more than for a cell of the user's, who waits for it."""


def register(shell: Any) -> None:
    """Have a shell of ipykernel answer. Another shell has no comms: then nothing is done."""
    manager = _comms(shell)
    if manager is not None:
        manager.register_target(TARGET, lambda comm, message: _opened(shell, comm, message))


def unregister(shell: Any) -> None:
    manager = _comms(shell)
    if manager is not None and TARGET in manager.targets:
        manager.unregister_target(TARGET, manager.targets[TARGET])


class Serving:
    """Makes the kernel in which it is made answer, as an expression that a client has it evaluate; shows
    itself to that client as data."""

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
    """``{"status": "ok", ...}``, or ``{"status": "error", "ename": ..., "evalue": ...}`` where the question
    cannot be answered."""
    try:
        if not isinstance(question, Mapping):
            raise InputError(f"a question is an object, not {type(question).__name__}.")
        given = dict(question)
        asked = given.pop("ask", "context")
        if not isinstance(asked, str) or asked not in _ANSWERS:
            raise InputError(f"ask={asked!r}: known are {', '.join(_ANSWERS)}.")
        return {"status": "ok"} | _ANSWERS[asked](shell, _checked(asked, given))
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


def _context(shell: Any, given: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.notebook.state.context import of_shell

    given = {"time_s": _TIME_S} | given
    text = of_shell(shell, given.pop("names", None), **given)
    return {"context": json.loads(text or "{}") if given.get("form") == "json" else text}


def _variable(shell: Any, given: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.notebook.state.capture import StateLimits
    from deskcheck.notebook.state.context import of_shell

    if "name" not in given:
        raise InputError("variable: name the variable, as in name='frame'.")
    deep = StateLimits(time_s=_TIME_S, items=1000, text_chars=50_000, depth=12, objects=2000)
    return {"context": of_shell(shell, [given.pop("name")], limits=deep, **given)}


def _cells(shell: Any, given: dict[str, Any]) -> dict[str, Any]:
    from deskcheck.notebook.jupyter.history import cells_of

    return {"cells": cells_of(shell, **given)}


_ANSWERS: dict[str, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    "context": _context,
    "variable": _variable,
    "cells": _cells,
}


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.isidentifier() for name in value)


def _number(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


_PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "names": ("a list of names of variables", _names),
    "name": ("the name of a variable", lambda value: isinstance(value, str) and value.isidentifier()),
    "code": (
        f"code, at most {_MOST_TEXT:,} characters",
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


def _checked(asked: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parts of a question that are there. Raises InputError: one is unknown, or cannot be meant."""
    unknown = [str(part) for part in given if part not in _TAKES[asked]]
    if unknown:
        raise InputError(f"{asked}: there is no {', '.join(unknown)}; known are {', '.join(_TAKES[asked])}.")
    found = {part: value for part, value in given.items() if value is not None}
    for part, value in found.items():
        what, fits = _PARTS[part]
        if not fits(value):
            shown = repr(value)
            shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
            raise InputError(f"{asked}: {part}={shown} must be {what}.")
    return found
