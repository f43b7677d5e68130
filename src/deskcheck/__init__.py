"""deskcheck records what Python programs really do, asks language models about it, and scores the answers.

>>> import deskcheck
>>> def double(x):
...     y = x + x
...     return y
>>> recording = deskcheck.trace(double, 4)
>>> recording.trace[2].locals
{'x': 4, 'y': 8}

PYTEST_DONT_REWRITE: pytest, whose plugin is a part of this package, would warn if it is already imported.
"""

from typing import TYPE_CHECKING, Any

from deskcheck._version import __version__ as __version__
from deskcheck.lazy import lazily

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
    "reward",
    "trace",
]

if TYPE_CHECKING:
    from deskcheck.ask.rewards import reward
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
    from deskcheck.recording.writer import save_recording as save_recording
    from deskcheck.sandbox.limits import Limits
    from deskcheck.sandbox.sandbox import Sandbox
    from deskcheck.tracer.call import trace
    from deskcheck.tracer.limits import TraceLimits

__getattr__, _ = lazily(
    __name__,
    {
        "ask.rewards": ("reward",),
        "errors": ("DeskcheckError", "InputError", "MissingExtra", "RecordingError", "SandboxError"),
        "notebook.check.check": ("check_notebooks",),
        "notebook.settings": ("NotebookSettings",),
        "notebook.state.context": ("context",),
        "recorder.record": ("record",),
        "recorder.settings": ("RecordSettings", "SuiteSettings"),
        "recording.outcome": ("Outcome",),
        "recording.program": ("Program",),
        "recording.reader": ("Recordings",),
        "recording.recording": ("Recording",),
        "recording.trace": ("Event",),
        "recording.value": ("Value",),
        "recording.writer": ("save_recording",),
        "sandbox.limits": ("Limits",),
        "sandbox.sandbox": ("Sandbox",),
        "tracer.call": ("trace",),
        "tracer.limits": ("TraceLimits",),
    },
)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext deskcheck``: add the magic `%deskcheck`. This alone does not record."""
    from deskcheck.notebook.jupyter.magic import load

    load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """``%unload_ext deskcheck``: end recordings of `%deskcheck`."""
    from deskcheck.notebook.jupyter.magic import unload

    unload(ipython)


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """``jupyter server extension enable deskcheck``. This alone does not record."""
    from deskcheck.notebook.jupyter.server import Deskcheck

    return [{"module": "deskcheck.notebook.jupyter.server", "app": Deskcheck}]
