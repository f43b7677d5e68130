"""Runs untrusted programs. Only this package starts foreign code."""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily

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

__getattr__, __dir__ = lazily(
    __name__,
    {
        "checked": ("Checked",),
        "confinement": ("Confinement",),
        "determinism": ("Determinism",),
        "limits": ("Limits",),
        "process": ("Tracing",),
        "sandbox": ("BareInterpreter", "ProgramResult", "Provided", "Sandbox", "run"),
        "session": ("After", "Piece", "Session", "SessionEnded", "Snapshot"),
        "workspace": ("Workspace",),
    },
)
