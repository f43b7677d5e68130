"""Snapshots of single values, outside of any trace."""

from json import loads
from typing import Any

from deskcheck.recording.value import Content, Encoded, decode, render
from deskcheck.tracer.limits import TraceLimits
from deskcheck.tracer.snapshot import Snapshotter, exception_args, has_text

WHOLE = TraceLimits(items=1_000_000, text_chars=10_000_000, depth=100, objects=1_000_000)
"""Limits for a single value, large enough not to cut the values that a benchmark compares."""


def snapshot(obj: Any, limits: TraceLimits = WHOLE) -> tuple[Encoded, dict[int, Content]]:
    """The encoded value of an object and the contents of all objects in it: the arguments of `decode`."""
    snapshotter = Snapshotter(limits, {"__main__"}, lambda frame: None)
    snapshotter.begin()
    (text,), _ = snapshotter.roots([obj])
    objects = {number: loads(content) for number, content in snapshotter.finish().items()}
    snapshotter.clear()
    return loads(text), objects


def exception_text(error: BaseException) -> str:
    """``Type: message`` of an exception, without running code of the program.

    If the type, or a value in the exception, makes its text itself, it is ``Type(parts)``, like other values.
    """
    parts = [*exception_args(error)]
    if issubclass(type(error), OSError):  # isinstance would ask for its __class__
        parts += [OSError.__dict__[name].__get__(error) for name in ("filename", "filename2")]
    if issubclass(type(error), BaseExceptionGroup):
        parts = [BaseExceptionGroup.__dict__["message"].__get__(error)]
    if has_text(type(error)) or not all(decode(*snapshot(part)).builtin for part in parts):
        return render(decode(*snapshot(error)))
    return f"{type.__dict__['__qualname__'].__get__(type(error))}: {error}"
