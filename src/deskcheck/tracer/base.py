"""The base of both tracers: installs the trace function in the program's process and removes it again.

While a tracer is on, `sys.settrace` and `sys.gettrace` still refer to the program's trace function, which is
called besides ours. This module also has the global names that are never recorded, and the names of C
functions.
"""

import builtins
import sys
import threading
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

from deskcheck.tracer.contents import memory
from deskcheck.tracer.contents.introspection import HEAP, IMMUTABLE, flags_of
from deskcheck.tracer.limits import Granularity, TraceLimits
from deskcheck.tracer.snapshot import ITERATOR_TYPES, know_enum

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

KEEPS_ROOTS = 0x80 | 0x200
"""CO_COROUTINE and CO_ASYNC_GENERATOR: while suspended, they belong to an event loop that is not recorded."""
HIDDEN_GLOBALS = frozenset(
    "__name__ __doc__ __package__ __loader__ __spec__ __file__ __cached__ __builtins__ __warningregistry__"
    " __annotations__ __conditional_annotations__".split()
)

_C_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_BUILTIN_TYPES = [kind for kind in vars(builtins).values() if type(kind) is type]
_BUILTIN_TYPES += [types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType]
C_NAMES = {
    id(value): name
    for names in (vars(builtins), *map(vars, _BUILTIN_TYPES))
    for name, value in names.items()
    if type(value) in _C_CALLABLES or (type(value) is type and names is vars(builtins))
}
"""Address of a builtin callable -> its name."""

OPERAND_TYPES = ITERATOR_TYPES | {id(kind) for kind in (type, *_C_CALLABLES)}
"""Addresses of the types of operands that are recorded: C callables that call back, and their iterators."""


def c_name(callable_: Any) -> str | None:
    """Name of a callable implemented in C; None for Python functions and the program's classes."""
    kind = type(callable_)
    is_c_type = kind is type and (not flags_of(callable_) & HEAP or flags_of(callable_) & IMMUTABLE)
    if is_c_type or any(kind is c_type for c_type in _C_CALLABLES):
        return str(callable_.__name__)
    return None


Local = Callable[[FrameType, str, Any], Any]
FrameCallback = Callable[[str, Any], None]
"""Called at some events, with the event's name and argument of `sys.settrace`."""


class Guest(ABC):
    """Traces the calling thread, and threads that start while it is on.

    scope: the code to record: `co_filename` -> name of the file in events.
    emit: called with each block of events (`recording.block`).
    modules: names of the program's modules, whose classes and functions are recorded with their contents.
    granularity: lines only, or instructions too.
    hidden: global names that are not recorded, such as those that IPython puts into the user's namespace.
    """

    name: str

    def __init__(
        self,
        scope: Mapping[str, str],
        emit: Callable[[bytes], None],
        *,
        modules: Iterable[str] = ("__main__",),
        limits: TraceLimits | None = None,
        granularity: Granularity = Granularity.LINE,
        hidden: Iterable[str] = (),
    ) -> None:
        self.scope = dict(scope)
        self.emit = emit
        self.modules = set(modules)
        self.hidden = set(hidden)
        self.limits = limits or TraceLimits()
        self.granularity = granularity
        self.cut: str | None = None
        """Why later events are missing: ``events``, ``recursion``, ``untraced``, ``subinterpreters``, ...;
        None if they are not."""
        self.failure: BaseException | None = None
        """An error in the tracer. The events before it are correct."""
        self.is_on = False
        self._lock = threading.Lock()
        self._real = (sys.settrace, sys.gettrace, threading.settrace, threading.gettrace)
        self._before: Any = None
        self._user = threading.local()
        """Its `function` is the trace function that the program has set in this thread while ours was on."""
        self._user_thread_function: Any = None
        self._set_up()

    @abstractmethod
    def _set_up(self) -> None:
        """Create the attributes of the subclass."""

    def start(self, frame: FrameType | None = None, notify: FrameCallback = lambda event, arg: None) -> None:
        """Begin to trace. Frames that are already running are not recorded.

        frame: a frame of this thread that has not run any instruction yet. It is recorded from its `call` on.
        notify: called at each ``exception`` and ``return`` of this frame after it was recorded (a generator
        also returns at each yield). It may stop the tracer.
        """
        know_enum()
        self.is_on = True
        self._before = sys.gettrace()
        _, _, thread_settrace, _ = self._real
        sys.settrace = self._user_settrace
        sys.gettrace = self._user_gettrace
        threading.settrace = self._user_thread_settrace  # type: ignore[assignment]  # the program's own
        threading.gettrace = lambda: self._user_thread_function
        if memory.KNOWN:
            thread_settrace(self._thread_started)
        # 3.12 delivers opcode events only if some frame asked for them before settrace (gh-103615). This
        # frame never runs: its events would find no function while an earlier traced thread is still running.
        asks: Any = (_ for _ in ())
        asks.gi_frame.f_trace_opcodes = True
        self._attach()
        if frame is not None:
            self._follow(frame, notify)

    def stop(self) -> None:
        """Stop tracing, hand over the last events and restore the trace functions. Safe to call twice."""
        if not self.is_on:
            return
        self.is_on = False
        self._put_back()
        if self._is_on_here():
            self._give_back(self.user_function or self._before)
        else:
            self.cut = self.cut or "untraced"
        threading.settrace(self._user_thread_function)
        self._close()

    def forget_thread(self) -> None:
        """Stop recording in a forked child, without touching the parent's stream."""
        self.emit = lambda block: None
        self.is_on = False
        self._put_back()
        sys.settrace(None)

    def give_up(self, reason: str, failure: BaseException | None = None) -> None:
        """Stop recording. The program continues."""
        self.cut = self.cut or reason
        self.failure = self.failure or failure

    @abstractmethod
    def wrote(self, text: str) -> None:
        """Add text that the program wrote to standard output to the next event."""

    def _put_back(self) -> None:
        (sys.settrace, sys.gettrace, threading.settrace, threading.gettrace) = self._real

    # -- the interpreter's trace function --------------------------------------------------------------

    @abstractmethod
    def _attach(self) -> None:
        """Trace the calling thread."""

    @abstractmethod
    def _follow(self, frame: FrameType, notify: FrameCallback) -> None: ...

    @abstractmethod
    def _is_on_here(self) -> bool:
        """Whether the trace function of this thread is ours. The interpreter removes a trace function after
        an error in it, also one in the program's function."""

    def _give_back(self, function: Any) -> None:
        """Replace our trace function in the calling thread by this one."""
        self._real[0](function)

    @abstractmethod
    def _close(self) -> None:
        """Called after the trace functions were restored."""

    @abstractmethod
    def _thread_started(self, frame: FrameType, event: str, arg: Any) -> Local | None:
        """The trace function that `threading` installs in a new thread."""

    # -- the program's trace function ------------------------------------------------------------------

    @property
    def user_function(self) -> Any:
        """The trace function that the program has set in this thread while ours was on."""
        return getattr(self._user, "function", None)

    @abstractmethod
    def _user_settrace(self, function: Any) -> None: ...

    def _user_gettrace(self) -> Any:
        return self.user_function if self._is_on_here() else self._real[1]()

    def _user_thread_settrace(self, function: Any) -> None:
        self._user_thread_function = function
