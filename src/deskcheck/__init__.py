"""deskcheck records what Python programs really do, asks language models about it, and marks the answers.

>>> import deskcheck
>>> def double(x):
...     y = x + x
...     return y
>>> recording = deskcheck.record(double, 4)
>>> recording.trace[2].locals
{'x': 4, 'y': 8}
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Recordings", "context", "record"]

if TYPE_CHECKING:
    from deskcheck.notebook.state.context import context
    from deskcheck.recording.reader import Recordings
    from deskcheck.tracer.call import record

_HOMES = {
    "record": "deskcheck.tracer.call",
    "Recordings": "deskcheck.recording.reader",
    "context": "deskcheck.notebook.state.context",
}


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
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
