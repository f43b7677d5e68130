"""Records each call of the project's own code that a test makes, and keeps the last one.

Nothing runs a second time: a second run may differ, and repeats side effects. A call is recorded from its
`call` event to its end, with the calls inside it. Not covered: other threads than the one that runs the
tests, and processes that tests start.
"""

import os
import sys
import threading
import time
from opcode import opmap
from types import CodeType, FrameType
from typing import Any

from deskcheck.sandbox.inside.calls import Project
from deskcheck.tracer import TraceLimits, tracer_class
from deskcheck.tracer.frame_hook import frame_hook
from deskcheck.tracer.stdout import StdoutHearing

_OPTIMIZED = 0x1
"""CO_OPTIMIZED: the code of a function, not that of a module or of a class's body."""
_GENERATES = 0x20 | 0x80 | 0x200
"""CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: its frame is left and entered again."""
_LEFT_AT = frozenset({opmap["YIELD_VALUE"], opmap["RESUME"]})
"""The instruction at which a suspended frame stands: YIELD_VALUE before Python 3.13, RESUME since."""
_SHOWING = tuple(os.path.join("_pytest", part) for part in ("assertion", "_io", "_code"))
"""Parts of pytest that turn values into text."""
_SEARCH_DEPTH = 50
"""How many frames up the caller is searched for."""
_MAX_WALKS = 10_000
"""Walks up the stack in one test, after which it is no longer watched (`Watch._inside`)."""
_gettrace = sys.gettrace


class Watch:
    """Watches the calling thread between `on` and `off`. One at a time in a process.

    limits: limits on one call.
    cpu_s: CPU time of one test after which no call is recorded.
    last: the last call since `begin`.
    why_not: why the last call was not recorded.
    """

    def __init__(self, project: Project, limits: TraceLimits, cpu_s: float) -> None:
        self.project = project
        self.limits = limits
        self.cpu_s = cpu_s
        self._cpu_at_begin = 0.0
        self.last: WatchedCall | None = None
        self.why_not = ""
        self._call: WatchedCall | None = None
        self._walks = 0
        self._thread = threading.get_ident()
        self._pid = os.getpid()
        self._hook = frame_hook(self._entered)
        self._scope: dict[str, str] = {}
        """File -> its name in events: the module's, or the path in the project."""
        self._known_modules = 0
        os.register_at_fork(after_in_child=self._forked)

    def begin(self) -> None:
        """A test begins: earlier calls are forgotten."""
        self.last, self.why_not, self._walks = None, "", 0
        self._cpu_at_begin = time.process_time()

    def on(self) -> None:
        if os.getpid() == self._pid:
            self._hook.on()

    def off(self) -> None:
        """Stop watching. A call that has not ended, such as a generator's, is recorded so far."""
        if os.getpid() == self._pid:
            self._hook.off()
            if self._call is not None:
                self._call.end()

    def _forked(self) -> None:
        self._hook.off()
        call, self._call = self._call, None
        if call is not None:
            call.tracer.forget_thread()

    def _entered(self, frame: FrameType) -> bool:
        """A frame begins. Returns whether to report this code again."""
        code = frame.f_code
        if not self.project.owns(code.co_filename) or not code.co_flags & _OPTIMIZED:
            return False
        try:
            if threading.get_ident() == self._thread and not self._inside(frame):
                self._start_recording(frame, code)
        except Exception as error:  # an error of deskcheck must not fail the test
            self.last, self.why_not = None, f"{type(error).__name__} in deskcheck: {error}"
        return True

    def _inside(self, frame: FrameType) -> bool:
        """Whether the frame is part of a call that is being recorded."""
        call = self._call
        if call is None:
            return False
        if call.tracer.cut is None:
            return True
        # A limit cut the recording short: the call may still be running, or has ended unnoticed.
        self._walks += 1
        if self._walks > _MAX_WALKS:
            self._hook.off()
            return True
        above = frame.f_back
        while above is not None:
            if id(above) == call.frame_id and above.f_code is call.code:
                return True
            above = above.f_back
        call.end()
        return False

    def _start_recording(self, frame: FrameType, code: CodeType) -> None:
        if _shows_value(frame, self.project.root):
            return
        if _gettrace() is not None:
            self.last = None
            self.why_not = (
                "another trace function was active, such as that of a debugger or of coverage (--no-cov)"
            )
            return
        if time.process_time() - self._cpu_at_begin > self.cpu_s:
            self.last = None
            self.why_not = f"it was called after {self.cpu_s:g} s of CPU time (--deskcheck-seconds)"
            self._hook.off()
            return
        project = self.project
        project.find_new_modules()
        if self._known_modules < len(project.modules):
            self._known_modules = len(project.modules)
            self._scope = {**self._scope, **dict(project.modules.values())}
        if code.co_filename not in self._scope:  # not in a module that can be imported by name
            self._scope[code.co_filename] = os.path.relpath(code.co_filename, project.root)
        self.last, self.why_not = None, "the call did not end"
        self._call = WatchedCall(self, frame, self._scope)
        self._call.start(frame)

    def ended(self, call: "WatchedCall") -> None:
        """`WatchedCall.end` reports here."""
        self._call = None
        self.last, self.why_not = call, ""


class WatchedCall:
    """One recorded call.

    blocks: its encoded events.
    written: text that it wrote to standard output.
    frame_id: address of its frame. The frame itself must not be kept alive.
    """

    def __init__(self, watch: Watch, frame: FrameType, scope: dict[str, str]) -> None:
        self.watch = watch
        self.code = frame.f_code
        self.frame_id = id(frame)
        self.scope = scope
        self.blocks: list[bytes] = []
        self.written: list[str] = []
        self.tracer = tracer_class()(
            scope, self.blocks.append, modules=watch.project.modules, limits=watch.limits
        )
        self._instructions = (
            self.code.co_code if self.code.co_flags & _GENERATES else b""
        )  # empty: a function
        self._raised_at = -1
        self._stdout = StdoutHearing(self.written.append, self.tracer.wrote)

    def start(self, frame: FrameType) -> None:
        self._stdout.on()
        self.tracer.start(frame, self._frame_event)

    def end(self) -> None:
        self.tracer.stop()  # which hands over the last events
        self._stdout.off()
        self.watch.ended(self)

    def _frame_event(self, event: str, arg: Any) -> None:
        """An exception is raised in the call's own frame, or the frame is left."""
        if not self._instructions:
            if event == "return":
                self.end()
            return
        offset = self._offset()
        if event == "exception":
            self._raised_at = offset
        elif offset == self._raised_at or self._instructions[offset] not in _LEFT_AT:
            self.end()

    def _offset(self) -> int:
        """Byte offset of the instruction that the call's running frame is at."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and id(frame) != self.frame_id:
            frame = frame.f_back
        return -1 if frame is None else frame.f_lasti


def _shows_value(frame: FrameType, root: str) -> bool:
    """Whether pytest made this call to show a value (`__repr__`), and not the test."""
    above = frame.f_back
    for _ in range(_SEARCH_DEPTH):
        if above is None:
            return False
        name = above.f_code.co_filename
        if "_pytest" in name:
            return any(part in name for part in _SHOWING)
        if name.startswith(root) and "site-packages" not in name:
            return False
        above = above.f_back
    return False
