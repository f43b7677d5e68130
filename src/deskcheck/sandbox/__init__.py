"""Runs programs that nobody trusts. The only place that starts foreign code."""

from typing import TYPE_CHECKING, Any

__all__ = [
    "After",
    "BareInterpreter",
    "Checked",
    "Confinement",
    "Determinism",
    "Limits",
    "Piece",
    "ProgramResult",
    "Provided",
    "Sandbox",
    "Session",
    "SessionEnded",
    "Snapshot",
    "Tracing",
    "Workspace",
    "run",
]

if TYPE_CHECKING:
    from deskcheck.sandbox.checked import Checked
    from deskcheck.sandbox.confinement import Confinement
    from deskcheck.sandbox.determinism import Determinism
    from deskcheck.sandbox.limits import Limits
    from deskcheck.sandbox.process import Tracing
    from deskcheck.sandbox.sandbox import BareInterpreter, ProgramResult, Provided, Sandbox, run
    from deskcheck.sandbox.session import After, Piece, Session, SessionEnded, Snapshot
    from deskcheck.sandbox.workspace import Workspace

_HOMES = {
    "Checked": "deskcheck.sandbox.checked",
    "Confinement": "deskcheck.sandbox.confinement",
    "Determinism": "deskcheck.sandbox.determinism",
    "Limits": "deskcheck.sandbox.limits",
    **dict.fromkeys(
        ("BareInterpreter", "ProgramResult", "Provided", "Sandbox", "run"), "deskcheck.sandbox.sandbox"
    ),
    **dict.fromkeys(("After", "Piece", "Session", "SessionEnded", "Snapshot"), "deskcheck.sandbox.session"),
    "Tracing": "deskcheck.sandbox.process",
    "Workspace": "deskcheck.sandbox.workspace",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the process that a program runs in comes by here, and need not pay for it.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
