"""Finds the system call that the filter refused, from the exception in Python.

The kernel gives an error number but no name. If the last frame of a traceback called a function in `_CALLS`,
that function names the call. The call must always fail with the filter's own number, whatever its arguments.
So a name is either right or missing. Calls for shared memory that Landlock refused are found too. Calls of
other C code, of `ctypes` and of other processes are not found.
"""

import ast
import builtins
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

globals()["__builtins__"] = dict(vars(builtins))

_CALLS = {
    **{f"posix.{name}": name for name in "chmod fchmod chown fchown lchown chroot unshare setns".split()},
    **{f"posix.{name}": name for name in "getxattr setxattr listxattr removexattr memfd_create".split()},
    "posix.utime": "utimensat",
    "time.clock_settime": "clock_settime",
    "time.clock_settime_ns": "clock_settime",
    "_signal.pidfd_send_signal": "pidfd_send_signal",
    "_socket.sethostname": "sethostname",
    "_socket.socket.__init__": "socket",
    "_socket.socket.connect": "connect",
    "_socket.socket.bind": "bind",
    "_socket.socket.listen": "listen",
    "_socket.socket._accept": "accept4",
    **{f"_socket.{name}": "socket" for name in "getaddrinfo gethostbyname gethostbyname_ex".split()},
    "_multiprocessing.SemLock": "sem_open",
    "_posixshmem.shm_open": "shm_open",
}
"""The first system call that may be refused, by C function."""
SHARED_MEMORY = frozenset({"sem_open", "shm_open"})
"""Functions of the C library that need /dev/shm."""
_NO_NAME_SERVER = -3
"""EAI_AGAIN: looking up a name needs a socket."""
_CHAIN = 20
"""Length of the chain of causes to search for a refused call."""
_SOURCE_BYTES = 1 << 20

Refuses = Callable[[str], int | None]
"""Gives the error number of a refused call by its name; None if some arguments are allowed."""


def refused_call(error: BaseException, refuses: Refuses, sources: Mapping[str, str]) -> str | None:
    """The refused system call behind an exception or one of its causes; None if there is none.

    No code of the program runs.

    Args:
        sources: texts of files that may not exist on disk, by name.
    """
    for cause in _chain(error):
        trace = BaseException.__dict__["__traceback__"].__get__(cause)
        if not issubclass(type(cause), OSError) or trace is None:
            continue
        while trace.tb_next is not None:
            trace = trace.tb_next
        name = _CALLS.get(_called(trace, sources) or "")
        if name is not None and (answer := refuses(name)) is not None:
            number = OSError.__dict__["errno"].__get__(cause)
            if type(number) is int and number in (answer, _NO_NAME_SERVER):
                return name
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    causes: list[BaseException] = []
    current: BaseException | None = error
    while (
        current is not None and not any(current is previous for previous in causes) and len(causes) < _CHAIN
    ):
        yield current
        causes.append(current)
        cause, context = (
            BaseException.__dict__[name].__get__(current) for name in ("__cause__", "__context__")
        )
        current = context if cause is None else cause


def _called(trace: types.TracebackType, sources: Mapping[str, str]) -> str | None:
    """The C function that a frame was in when the exception was raised, as named in `_CALLS`."""
    text = _expression(trace, sources)
    if text is None:
        return None
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _name(_value(node.func, trace.tb_frame)) if isinstance(node, ast.Call) else None


def _expression(trace: types.TracebackType, sources: Mapping[str, str]) -> str | None:
    """The text of the expression that raised the exception, from the positions in its code."""
    code = trace.tb_frame.f_code
    places = itertools.islice(code.co_positions(), trace.tb_lasti // 2, None)
    first, last, begins, ends = next(places, (None, None, None, None))
    source = _source(code.co_filename, sources)
    if source is None or first is None or last is None or begins is None or ends is None:
        return None
    lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[first - 1 : last]
    if len(lines) != last - first + 1:
        return None
    lines[-1] = lines[-1][:ends]
    lines[0] = lines[0][begins:]
    return "(" + b"\n".join(lines).decode("utf-8", "replace") + ")"


def _source(file: str, sources: Mapping[str, str]) -> bytes | None:
    text = sources.get(file)
    if text is not None:
        return text.encode("utf-8", "surrogatepass")
    try:
        with open(file, "rb") as stream:
            data = stream.read(_SOURCE_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= _SOURCE_BYTES else None


_UNKNOWN = object()


def _value(node: ast.expr, frame: types.FrameType) -> Any:
    """The value of a name or attribute, if reading it runs no code; otherwise `_UNKNOWN`."""
    if isinstance(node, ast.Name):
        code = frame.f_code
        if node.id in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            return frame.f_locals.get(node.id, _UNKNOWN)
        return dict.get(frame.f_globals, node.id, dict.get(frame.f_builtins, node.id, _UNKNOWN))
    if not isinstance(node, ast.Attribute):
        return _UNKNOWN
    owner = _value(node.value, frame)
    if type(owner) is types.ModuleType:
        return vars(owner).get(node.attr, _UNKNOWN)
    kind = owner if issubclass(type(owner), type) else type(owner)
    for ancestor in type.__dict__["__mro__"].__get__(kind):
        names = type.__dict__["__dict__"].__get__(ancestor)
        if node.attr in names:
            return names[node.attr]
    return _UNKNOWN


def _name(function: Any) -> str | None:
    """The module, class and name of a C function, joined by dots."""
    if type(function) is types.BuiltinFunctionType:
        return f"{function.__module__}.{function.__qualname__}"
    if type(function) is type:
        return ".".join(type.__dict__[name].__get__(function) for name in ("__module__", "__qualname__"))
    if type(function) in (types.MethodDescriptorType, types.WrapperDescriptorType):
        parts = [
            type.__dict__[attribute].__get__(function.__objclass__)
            for attribute in ("__module__", "__qualname__")
        ]
        return ".".join((*parts, function.__name__))
    return None
