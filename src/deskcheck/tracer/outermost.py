"""Runs the program's code like the interpreter, without our frames below its first one.

So `sys._getframe`, `inspect.stack`, `traceback.print_stack` and the `stacklevel` of warnings work as without
deskcheck, and the recursion limit is the same. If the native core is not built for this interpreter, our
frames are visible.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

try:
    from deskcheck.tracer._native import call, evaluate, hold_collector, release_collector, show
except ImportError:

    def evaluate(code: CodeType, names: dict[str, Any], /) -> object:
        exec(code, names)
        return None

    def call(frame: FrameType | None, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def hold_collector() -> None:
        return

    def release_collector() -> None:
        return

    def show(error: BaseException, /) -> None:
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        sys.excepthook(type(error), error, error.__traceback__)


__all__ = [
    "call",
    "evaluate",
    "exit_status",
    "hold_collector",
    "release_collector",
    "show",
    "without_ours",
]


def without_ours(error: BaseException, *files: str) -> None:
    """Remove the frames of these files from the beginning of an exception's traceback."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename in files:
        traceback = traceback.tb_next
    error.__traceback__ = traceback


def exit_status(error: BaseException) -> int:
    """Show an exception that left the program; returns the exit status of the process.

    After a KeyboardInterrupt the interpreter finally ends the process with SIGINT.
    """
    show(error)
    if isinstance(error, KeyboardInterrupt):
        try:
            exec("raise KeyboardInterrupt", {})  # the interpreter remembers it, like the program's exception
        except KeyboardInterrupt:
            return 0
    return 1
