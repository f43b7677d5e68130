"""Runs programs that nobody trusts. The only place that starts foreign code."""

from typing import TYPE_CHECKING, Any

__all__ = [
    "After",
    "Checked",
    "Confinement",
    "Determinism",
    "Limits",
    "Piece",
    "ProgramResult",
    "Sandbox",
    "Session",
    "SessionEnded",
    "Snapshot",
    "Workspace",
    "run",
]

if TYPE_CHECKING:
    from deskcheck.sandbox.checked import Checked
    from deskcheck.sandbox.confinement import Confinement
    from deskcheck.sandbox.determinism import Determinism
    from deskcheck.sandbox.limits import Limits
    from deskcheck.sandbox.sandbox import ProgramResult, Sandbox, run
    from deskcheck.sandbox.session import After, Piece, Session, SessionEnded, Snapshot
    from deskcheck.sandbox.workspace import Workspace

_HOMES = {
    "Checked": "deskcheck.sandbox.checked",
    "Confinement": "deskcheck.sandbox.confinement",
    "Determinism": "deskcheck.sandbox.determinism",
    "Limits": "deskcheck.sandbox.limits",
    "ProgramResult": "deskcheck.sandbox.sandbox",
    "Sandbox": "deskcheck.sandbox.sandbox",
    **dict.fromkeys(("After", "Piece", "Session", "SessionEnded", "Snapshot"), "deskcheck.sandbox.session"),
    "Workspace": "deskcheck.sandbox.workspace",
    "run": "deskcheck.sandbox.sandbox",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the process that a program runs in comes by here, and need not pay for it.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
