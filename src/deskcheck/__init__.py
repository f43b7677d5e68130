"""deskcheck records what Python programs really do, asks language models about it, and marks the answers.

>>> import deskcheck
>>> def double(x):
...     y = x + x
...     return y
>>> recording = deskcheck.trace(double, 4)
>>> recording.trace[2].locals
{'x': 4, 'y': 8}

PYTEST_DONT_REWRITE: pytest, whose plugin is a part of this package, would warn where it is imported already.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "DeskcheckError",
    "Event",
    "InputError",
    "Limits",
    "MissingExtra",
    "NotebookSettings",
    "Outcome",
    "Program",
    "RecordSettings",
    "Recording",
    "RecordingError",
    "Recordings",
    "Sandbox",
    "SandboxError",
    "SuiteSettings",
    "TraceLimits",
    "Value",
    "check_notebooks",
    "context",
    "record",
    "trace",
]

if TYPE_CHECKING:
    from deskcheck.errors import DeskcheckError, InputError, MissingExtra, RecordingError, SandboxError
    from deskcheck.notebook.check.check import check_notebooks
    from deskcheck.notebook.settings import NotebookSettings
    from deskcheck.notebook.state.context import context
    from deskcheck.recorder.record import record
    from deskcheck.recorder.settings import RecordSettings, SuiteSettings
    from deskcheck.recording.outcome import Outcome
    from deskcheck.recording.program import Program
    from deskcheck.recording.reader import Recordings
    from deskcheck.recording.recording import Recording
    from deskcheck.recording.trace import Event
    from deskcheck.recording.value import Value
    from deskcheck.sandbox.limits import Limits
    from deskcheck.sandbox.sandbox import Sandbox
    from deskcheck.tracer.call import trace
    from deskcheck.tracer.limits import TraceLimits
    from deskcheck.view.inline import inline_page as inline_page
    from deskcheck.view.showing import show as show
    from deskcheck.view.trace_page import trace_page as trace_page
    from deskcheck.view.trace_page import write_trace_page as write_trace_page

_HOMES = {
    "DeskcheckError": "deskcheck.errors",
    "Event": "deskcheck.recording.trace",
    "InputError": "deskcheck.errors",
    "Limits": "deskcheck.sandbox.limits",
    "MissingExtra": "deskcheck.errors",
    "NotebookSettings": "deskcheck.notebook.settings",
    "Outcome": "deskcheck.recording.outcome",
    "Program": "deskcheck.recording.program",
    "RecordSettings": "deskcheck.recorder.settings",
    "Recording": "deskcheck.recording.recording",
    "RecordingError": "deskcheck.errors",
    "Recordings": "deskcheck.recording.reader",
    "Sandbox": "deskcheck.sandbox.sandbox",
    "SandboxError": "deskcheck.errors",
    "SuiteSettings": "deskcheck.recorder.settings",
    "TraceLimits": "deskcheck.tracer.limits",
    "Value": "deskcheck.recording.value",
    "check_notebooks": "deskcheck.notebook.check.check",
    "context": "deskcheck.notebook.state.context",
    "record": "deskcheck.recorder.record",
    "trace": "deskcheck.tracer.call",
}

_ABOVE = {
    "inline_page": "deskcheck.view.inline",
    "show": "deskcheck.view.showing",
    "trace_page": "deskcheck.view.trace_page",
    "write_trace_page": "deskcheck.view.trace_page",
}
"""What methods of `Recording` need of folders that stand above its own. For them alone: the methods are what
users call."""


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext deskcheck``: the magic `%deskcheck`. Nothing is recorded by that."""
    from deskcheck.notebook.jupyter.magic import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """``%unload_ext deskcheck``: ends what `%deskcheck` records."""
    from deskcheck.notebook.jupyter.magic import unload

    unload(ipython)


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """``jupyter server extension enable deskcheck``. Nothing is recorded by that."""
    from deskcheck.notebook.jupyter.server import Deskcheck

    return [{"module": "deskcheck.notebook.jupyter.server", "app": Deskcheck}]


def __getattr__(name: str) -> Any:
    # Imported on first use: the process that a program runs in imports this package too.
    home = _HOMES.get(name) or _ABOVE.get(name)
    if home is not None:
        from importlib import import_module

        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
