"""Gives a program a clock, random numbers and turns of threads that are the same in every run.

Done in the program's process before its first line. Not reached are clocks and random numbers of C code
(`numpy.datetime64("now")`, times of files, timeouts of locks). Standard library only.
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
"""Where the clocks without an epoch begin, which count from the start of a machine."""
_NEVER_S = 4000.0
"""Between forced turns of threads: more than a run may take, and within what the interpreter can store."""
_ALWAYS_S = 1e-5
_LATE_S, _LATE_IN_ALL_S = 0.02, 0.2
"""Where threads take turns all the time, each begins later, by up to the first of these; the nth thread of a
program by up to an nth of the second, or a thousand threads would take long."""
_LINES, _SHARE = 20_000, 0.125
"""Among the first lines that threads run, the share at which another thread gets its turn. The interpreter's
own switches come too late for threads that run for microseconds."""


_libc_write = ctypes.PyDLL(None, use_errno=True).write
_libc_write.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
_libc_write.restype = ctypes.c_ssize_t


class Builtin:
    """Stands for a function of C: no method where it is put into a class, and named as that is."""

    __slots__ = ("__name__", "call")

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        self.__name__ = name
        self.call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


def instead(module: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Have a builtin function of a module do what `make` makes of it.

    It stays the same object where our C core is there: its name, its text, and whoever has imported it.
    """
    builtin = getattr(module, name, None)
    if builtin is None:
        return
    if _redirect is None or type(builtin) is not type(len):
        setattr(module, name, Builtin(name, make(builtin)))
    else:
        _redirect.redirect(builtin, make(_redirect.twin(builtin)))


def fix(settings: dict[str, Any], module: Callable[[str], types.ModuleType | None] = sys.modules.get) -> None:
    """Do as `determinism.Determinism` says; its fields are the keys. module: gets one that is loaded."""
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
    """Stands for the lock that a thread holds last before it runs: it lets go of it a moment later.

    Whoever started the thread goes on meanwhile.
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
    """Threads begin a moment later, each another one, and take turns all the time."""
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
    """`os.write` that keeps the interpreter's lock: what a tracer hands over gives no other thread its
    turn."""
    count = int(_libc_write(descriptor, bytes(data), len(data)))
    if count < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return count


def hash_in_turn(data: bytes, *, key: bytes, digest_size: int) -> Any:
    """`blake2b` that keeps the lock too: of 2048 bytes and more it lets go (Modules/hashlib.h)."""
    state = blake2b(key=key, digest_size=digest_size)
    for start in range(0, len(data), 2047):
        state.update(data[start : start + 2047])
    return state


def _fix_clock(start_ns: int, tick_ns: int) -> None:
    """Every clock of `time` and `datetime` reads one time that advances by a tick at each reading, and by
    what is slept: they stay consistent with one another."""
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
    """Functions of `time` that tell the present moment by default -> makes them take it from `seconds`."""
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
    """Have `datetime` take the present from `seconds`. The class stays the same: programs derive from it."""

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
    """Set attributes of a type of C, whose `__dict__` cannot be written to by the front door."""
    (names,) = (referent for referent in gc.get_referents(kind.__dict__) if type(referent) is dict)
    names.update(attributes)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _fix_random(seed: int, numpy_random: Any) -> None:
    """`os.urandom` is a stream that follows from the seed; whatever draws a seed of its own draws it from
    there."""
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
