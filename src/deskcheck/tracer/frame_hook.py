"""Calls a function for every Python frame that begins, to decide which calls to trace."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Protocol


class FrameHook(Protocol):
    """Reports frames between `on` and `off`: in the calling thread on 3.11, in all threads from 3.12 on."""

    def on(self) -> None: ...
    def off(self) -> None: ...


class _ProfileHook:
    """Reports every Python frame that begins, on 3.11. Tests rarely use profilers."""

    def __init__(self, entered: Callable[[FrameType], bool]) -> None:
        def function(frame: FrameType, event: str, arg: Any) -> None:
            if event == "call":
                entered(frame)

        self.function = function

    def on(self) -> None:
        if sys.getprofile() is None:
            sys.setprofile(self.function)

    def off(self) -> None:
        if sys.getprofile() is self.function:
            sys.setprofile(None)


class _MonitoringHook:
    """Reports Python frames from 3.12 on, at no cost for code that is not of interest."""

    def __init__(self, entered: Callable[[FrameType], bool]) -> None:
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009  # mypy checks for 3.11, which has none
        self.monitoring = monitoring
        disable, getframe = monitoring.DISABLE, sys._getframe

        def function(code: CodeType, offset: int) -> Any:
            return None if entered(getframe(1)) else disable

        self.function = function
        # The native tracer uses 4. If 4 is taken, it traces all code.
        self.tool = next((n for n in (3, 4) if monitoring.get_tool(n) is None), None)
        if self.tool is not None:
            monitoring.use_tool_id(self.tool, "deskcheck")
            monitoring.register_callback(self.tool, monitoring.events.PY_START, function)

    def on(self) -> None:
        if self.tool is not None:
            self.monitoring.set_events(self.tool, self.monitoring.events.PY_START)

    def off(self) -> None:
        if self.tool is not None:
            self.monitoring.set_events(self.tool, 0)


def frame_hook(entered: Callable[[FrameType], bool]) -> FrameHook:
    """A hook that calls `entered` with each frame. If that returns False, the code need not be reported
    again."""
    return _MonitoringHook(entered) if sys.version_info >= (3, 12) else _ProfileHook(entered)
