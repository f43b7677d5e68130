"""Makes clock, random numbers and switches of threads the same in every run of a program.

This happens in the program's process before its first line. It does not affect clocks and random numbers of
C code (`numpy.datetime64("now")`, times of files, timeouts of locks). Standard library only.
"""

import _thread
import ctypes
import datetime
import gc
import itertools
import os
import random
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

_redirect: Any
try:
    from deskcheck.sandbox.surroundings import _redirect
except ImportError:
    _redirect = None

_MONOTONIC_NS = 1000 * 10**9
"""Start of the clocks without an epoch, which count from the start of a machine."""
_NEVER_S = 4000.0
"""Seconds between forced switches of threads: longer than any run, and within the interpreter's range."""
_ALWAYS_S = 1e-5
_LATE_S, _LATE_IN_ALL_S = 0.02, 0.2
"""Largest delays at the start of a thread if threads switch all the time: the first for every thread, and an
nth of the second for the nth thread, so that a thousand threads do not take long."""
_LINES, _SHARE = 20_000, 0.125
"""Share of the first lines of threads after which another thread runs. The interpreter's own switches come
too late for threads that run for microseconds."""


_libc_write = ctypes.PyDLL(None, use_errno=True).write
_libc_write.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
_libc_write.restype = ctypes.c_ssize_t


class Builtin:
    """Replaces a C function. It does not become a method in a class, and has the function's name."""

    __slots__ = ("__name__", "call")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.__name__ = name
        self.call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


def instead(module: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace a builtin function of a module by what `make` returns for it.

    With deskcheck's C core, the function stays the same object, so its name, its text and earlier imports
    stay valid.
    """
    builtin = getattr(module, name, None)
    if builtin is None:
        return
    if _redirect is None or type(builtin) is not type(len):
        setattr(module, name, Builtin(name, make(builtin)))
    else:
        _redirect.redirect(builtin, make(_redirect.twin(builtin)))


def fix(settings: dict[str, Any], module: Callable[[str], types.ModuleType | None] = sys.modules.get) -> None:
    """Apply settings with the fields of `determinism.Determinism`. `module` gives a loaded module by name."""
    if settings["clock"] is not None:
        seconds, part = divmod(settings["clock"], 1.0)
        _fix_clock(int(seconds) * 10**9 + round(part * 1e9), round(settings["tick_s"] * 1e9))
    if settings["random_seed"] is not None:
        _fix_random(settings["random_seed"], module("numpy.random"))
    if settings["turns"] is not None:
        if settings["turns"]:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            sys.setswitchinterval(_NEVER_S)
        else:
            _mix_threads()


class _Late:
    """Replaces the last lock that a thread holds before it runs, and releases it a moment later.

    Meanwhile the thread that started it continues.
    """

    def __init__(self, lock: Any, moments: dict[int, float]) -> None:
        self._lock, self._moments, self._sleep = lock, moments, time.sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *error: object) -> None:
        self._lock.__exit__(*error)
        moment = self._moments.pop(threading.get_ident(), None)
        if moment is not None:
            self._sleep(moment)


def _mix_threads() -> None:
    """Make threads begin after different delays and switch all the time."""
    sys.setswitchinterval(_ALWAYS_S)
    luck, moments, sleep = random.Random(os.getpid()), dict[int, float](), time.sleep
    lines, numbers = iter(range(_LINES)), itertools.count(1)

    def turn(frame: types.FrameType, event: str, arg: object) -> Any:
        if event == "line":
            if next(lines, None) is None:
                sys.settrace(None)
                return None
            if luck.random() < _SHARE:
                sleep(1e-6)
        return turn

    module: Any = threading
    module._active_limbo_lock = _Late(module._active_limbo_lock, moments)
    bootstrap = module.Thread._bootstrap

    def late(real: Callable[..., Any]) -> Callable[..., Any]:
        def start(function: Callable[..., Any], *args: Any, **how: Any) -> Any:
            moment = luck.random() * min(_LATE_S, _LATE_IN_ALL_S / next(numbers))
            waits = getattr(function, "__func__", None) is bootstrap

            def begin(*args: Any, **kwargs: Any) -> Any:
                if waits:  # who starts it waits until it has begun
                    moments[threading.get_ident()] = moment
                else:
                    sleep(moment)
                sys.settrace(turn)
                return function(*args, **kwargs)

            return real(begin, *args, **how)

        return start

    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        instead(_thread, name, late)
    if _redirect is None:  # what has imported it has its own
        for name in ("_start_new_thread", "_start_joinable_thread"):
            if hasattr(module, name):
                setattr(module, name, getattr(_thread, name[1:]))


def write_in_turn(descriptor: int, data: memoryview) -> int:
    """`os.write` that keeps the interpreter's lock, so that a tracer's writes do not switch threads."""
    count = int(_libc_write(descriptor, bytes(data), len(data)))
    if count < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return count


def hash_in_turn(data: bytes, *, key: bytes, digest_size: int) -> Any:
    """`blake2b` that keeps the lock too. The original releases it from 2048 bytes on (Modules/hashlib.h)."""
    state = blake2b(key=key, digest_size=digest_size)
    for start in range(0, len(data), 2047):
        state.update(data[start : start + 2047])
    return state


def _fix_clock(start_ns: int, tick_ns: int) -> None:
    """Make all clocks of `time` and `datetime` consistent readings of one time.

    This time advances by a tick at each reading, and by the duration of each sleep.
    """
    lock = threading.Lock()
    passed_ns = 0

    def passed() -> int:
        nonlocal passed_ns
        with lock:
            now = passed_ns
            passed_ns += tick_ns
        return now

    def seconds() -> float:
        return (start_ns + passed()) / 10**9

    real_sleep = time.sleep

    def sleep(seconds: float, /) -> None:
        nonlocal passed_ns
        real_sleep(seconds)
        with lock:
            passed_ns += round(seconds * 1e9)

    def clock_gettime_ns(clock: int, /) -> int:
        wall = clock in (time.CLOCK_REALTIME, getattr(time, "CLOCK_TAI", -1))
        return passed() + (start_ns if wall else _MONOTONIC_NS)

    functions: dict[str, Callable[..., Any]] = {
        "time": seconds,
        "time_ns": lambda: start_ns + passed(),
        "clock_gettime_ns": clock_gettime_ns,
        "clock_gettime": lambda clock, /: clock_gettime_ns(clock) / 10**9,
        "sleep": sleep,
        **{name: make(getattr(time, name)) for name, make in of_wall_clock(seconds).items()},
    }
    for name, base in (
        ("monotonic", _MONOTONIC_NS),
        ("perf_counter", _MONOTONIC_NS),
        ("process_time", 0),
        ("thread_time", 0),
    ):
        functions[name] = lambda base=base: (base + passed()) / 10**9
        functions[name + "_ns"] = lambda base=base: base + passed()
    for name, function in functions.items():
        setattr(time, name, Builtin(name, function))

    set_datetime(seconds)
    if sys.version_info >= (3, 15):  # before, `today` asks `time.time` itself

        def today(cls: Any) -> Any:
            """Equivalent to: cls.fromtimestamp(time.time())."""
            return cls.fromtimestamp(seconds())

        set_in_type(datetime.date, {"today": classmethod(today)})


def of_wall_clock(
    seconds: Callable[[], float],
) -> dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Replacements that take the present from `seconds`, by name of the function in `time`."""
    localtime = time.localtime

    def of_moment(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda when=None, /: real(seconds() if when is None else when)

    def strftime(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda form, when=None, /: real(form, localtime(seconds()) if when is None else when)

    def asctime(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda when=None, /: real(localtime(seconds()) if when is None else when)

    moments = dict.fromkeys(("localtime", "gmtime", "ctime"), of_moment)
    return {**moments, "strftime": strftime, "asctime": asctime}


def set_datetime(seconds: Callable[[], float]) -> None:
    """Make `datetime` take the present from `seconds`. The class stays the same: programs derive from it."""

    def now(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
        """Returns new datetime object representing current time local to tz."""
        return cls.fromtimestamp(seconds(), tz)

    def utcnow(cls: Any) -> Any:
        """Return a new datetime representing UTC day and time."""
        if sys.version_info >= (3, 12):
            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
        return cls.fromtimestamp(seconds(), datetime.UTC).replace(tzinfo=None)

    set_in_type(datetime.datetime, {"now": classmethod(now), "utcnow": classmethod(utcnow)})


_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
    "Use timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def set_in_type(kind: type, attributes: dict[str, Any]) -> None:
    """Set attributes of a C type, whose `__dict__` has no public way to change it."""
    (names,) = (referent for referent in gc.get_referents(kind.__dict__) if type(referent) is dict)
    names.update(attributes)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _fix_random(seed: int, numpy_random: Any) -> None:
    """Make `os.urandom` a stream that depends on the seed only. All other seeds come from this stream."""
    lock = threading.Lock()
    key = seed.to_bytes(16, "big", signed=True)
    drawn = 0

    def urandom(size: int, /) -> bytes:
        nonlocal drawn
        if size < 0:
            raise ValueError("negative argument not allowed")
        data = b""
        while len(data) < size:
            with lock:
                number, drawn = drawn, drawn + 1
            data += blake2b(number.to_bytes(8, "big"), key=key).digest()
        return data[:size]

    fixed = Builtin("urandom", urandom)
    os.urandom = fixed
    os.getrandom = Builtin("getrandom", lambda size, flags=0, /: urandom(size))
    random.__dict__["_urandom"] = fixed  # `SystemRandom`, and through it `secrets` and numpy
    real_seed = random.Random.seed

    def seed_(self: random.Random, a: Any = None, version: int = 2) -> None:
        """Initialize internal state from a seed."""
        real_seed(self, int.from_bytes(urandom(32), "big") if a is None else a, version)

    seed_.__name__, seed_.__qualname__, seed_.__module__ = "seed", "Random.seed", "random"
    random.Random.seed = seed_  # type: ignore[method-assign]
    shared: random.Random = random.__dict__["_inst"]
    random.seed = shared.seed
    shared.seed(seed)
    if numpy_random is not None:  # imported with the server, it has drawn its seed
        numpy_random.seed(seed % (1 << 32))
