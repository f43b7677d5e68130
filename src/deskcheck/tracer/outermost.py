"""Runs the program's code as the interpreter does: no frame of ours is below its first one.

So `sys._getframe`, `inspect.stack`, `traceback.print_stack` and the `stacklevel` of warnings end where they
end without us, and the recursion limit is as far away. Where the native core is not built for this
interpreter, our frames are there.
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
    """Take the frames of these files from the beginning of an exception's traceback."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename in files:
        traceback = traceback.tb_next
    error.__traceback__ = traceback


def exit_status(error: BaseException) -> int:
    """Show an exception that left the program; what the process then ends with. After KeyboardInterrupt the
    interpreter, once it is through with the process, ends it by SIGINT."""
    show(error)
    if isinstance(error, KeyboardInterrupt):
        try:
            exec("raise KeyboardInterrupt", {})  # leaves a mark in the interpreter, as the program's own did
        except KeyboardInterrupt:
            return 0
    return 1
