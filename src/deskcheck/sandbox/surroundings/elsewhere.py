"""Makes a program believe that it runs on another machine, on another day and with other addresses.

A run elsewhere has other names, folders, users, clocks, processors, addresses and switches of threads, so
results that depend on them differ. The server changes names and process numbers (`inside.server`). This
module changes the program's process. Unset variables cannot be varied: `UnsetVariables` counts them. Clocks
of C code, the interpreter's folders and version, devices and the network stay. Standard library only.
"""

import _socket
import builtins
import gc
import os
import random
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deskcheck.sandbox.surroundings.determinism import instead, of_wall_clock, set_datetime

HOST = "another-machine"
SCRATCH = "/srv/elsewhere"
PROGRAM = "a-folder-of-another-name"
"""The folder that programs may write to, and the folder below it that they begin in."""
UMASK = 0o077
UID = 60_123
"""The programs' user inside, if it has the caller's number outside."""
LAST_PID = 30_410
"""The number of a process before the first program."""
UPTIME_S = 3_000_017
"""Seconds to add to the time since the machine started."""
MORE_BYTES = 24 << 20
"""Bytes to add to the size of file systems."""
_COLLECT = (97, 3, 3)
"""Thresholds of the garbage collector."""
_ID_MASK = (1 << 47) - 1
"""Mask that inverts the order of addresses, and their low bits."""
_SCATTERED = 250
"""Number of objects to make. Half of them are freed again, so that free memory has no order."""
_OURS = ("deskcheck.tracer", "deskcheck.recording", "deskcheck.sandbox.inside")
_references: list[Any] = []

ENVIRONMENT = {
    "LANG": "POSIX",
    "LC_ALL": "POSIX",
    "PYTHONUTF8": "1",
    "TZ": "EWT-5:45EWS-6:45,M3.5.0,M10.5.0",
    "USER": "somebody-else",
    "LOGNAME": "somebody-else",
    "SHELL": "/bin/dash",
    "TERM": "vt220",
    "COLUMNS": "133",
    "LINES": "41",
    "HOSTNAME": HOST,
    "PWD": f"{SCRATCH}/{PROGRAM}",
}
"""Variables of programs elsewhere. The encoding stays UTF-8 (PEP 540), so that writing does not fail."""
ADDRESSES = {"PYTHONMALLOC": "malloc", "MALLOC_ARENA_MAX": "1"}
"""Allocator of programs elsewhere. It places objects at multiples of 16 bytes, not in pools of one size."""


def other_moment(now: float) -> float:
    """A later time that differs from `now` in as many respects as possible.

    These are the year and its parity, half of the year, month, half of the month, day, weekday and whether it
    is at a weekend, half of the day, hour, minute and second. The time zone of `ENVIRONMENT` changes neither
    the day nor its half.
    """
    day = time.gmtime(now)
    best, best_score = now, -1
    since_hour = (now + 30 * 60 + 30.5) % 3600
    in_day = (15 if day.tm_hour < 12 else 3) * 3600 + since_hour
    for days in range(370, 1100):
        then = (now // 86_400 + days) * 86_400 + in_day
        moment = time.gmtime(then)
        differing = (
            (moment.tm_year - day.tm_year) % 2 == 1,
            (moment.tm_year % 4 == 0) != (day.tm_year % 4 == 0),
            (moment.tm_mon > 6) != (day.tm_mon > 6),
            (moment.tm_mon - day.tm_mon) % 2 == 1,
            (moment.tm_mday > 15) != (day.tm_mday > 15),
            (moment.tm_mday - day.tm_mday) % 2 == 1,
            (moment.tm_yday - day.tm_yday) % 2 == 1,
            (moment.tm_wday > 4) != (day.tm_wday > 4),
            (moment.tm_wday - day.tm_wday) % 2 == 1,
        )
        score = sum(differing) + 10 * differing[7]
        if score > best_score:
            best, best_score = then, score
    return best


_BETWEEN = ("<frozen os>", "<frozen posixpath>", "<frozen _collections_abc>")
"""Modules of the standard library through which programs read variables."""


class UnsetVariables:
    """Names of unset variables that a program asked for. No run can vary them."""

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        self.names: dict[str, None] = {}
        self._is_own = is_own
        self._between = {os.__file__, *_BETWEEN}

    def look(self) -> None:
        """Count from now on. Requests that a library makes by itself do not count."""
        reads = self

        class Variables(dict):  # type: ignore[type-arg]
            def __missing__(self, key: bytes) -> Any:
                reads.note(os.fsdecode(key))
                raise KeyError(key)

        environ: Any = os.environ
        environ._data = variables = Variables(environ._data)
        binary: Any = os.environb
        binary._data = variables

    def note(self, name: str) -> None:
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename in self._between:
            frame = frame.f_back
        if frame is not None and self._is_own(frame.f_code.co_filename):
            self.names.setdefault(name)


def hold() -> None:
    """Add a reference to the objects that programs share with the interpreter, so that their counts differ.

    Call this in the server, before programs start.
    """
    _references.extend([*range(-5, 257), *map(chr, range(256)), (), "", b"", None, True, False, ...] * 3)
    _references.extend(gc.get_objects())


def move(job: dict[str, Any], modules: Mapping[str, types.ModuleType]) -> None:
    """Apply the changes in a program's process.

    Args:
        job: the result of `Elsewhere.job`.
        modules: all loaded modules, also deskcheck's own.
    """
    if job["clock_s"] is not None:
        _move_clocks(job["clock_s"])
    if job["names"]:
        _move_machine(strict=job["strict"])
    if job["addresses"]:
        _mix_addresses(random.Random(job["seed"]), modules)


# -- clocks ----------------------------------------------------------------------------------------


def _move_clocks(shift_s: float) -> None:
    """Shift the clocks of `time` and `datetime`, and the times of files."""
    shift_ns = round(shift_s * 1e9)
    since = time.time() - 3600
    """The time before the program. Older files are not the program's."""

    def later(name: str, seconds: float) -> None:
        shift = {name: seconds, f"{name}_ns": round(seconds * 10**9)}
        for function, more in shift.items():
            instead(time, function, lambda real, more=more: lambda *args: real(*args) + more)  # type: ignore[misc]

    for name in ("monotonic", "perf_counter"):
        later(name, float(UPTIME_S))
    for name in ("process_time", "thread_time"):
        later(name, 0.75)

    def of_clock(real: Callable[..., Any], wall: float, machine: float) -> Callable[..., Any]:
        walls = (time.CLOCK_REALTIME, getattr(time, "CLOCK_TAI", -1))
        return lambda clock: real(clock) + (wall if clock in walls else machine)

    instead(time, "clock_gettime", lambda real: of_clock(real, shift_s, float(UPTIME_S)))
    instead(time, "clock_gettime_ns", lambda real: of_clock(real, shift_ns, UPTIME_S * 10**9))
    real_time = time.time_ns()
    instead(time, "time", lambda real: lambda: real() + shift_s)
    instead(time, "time_ns", lambda real: lambda: real() + shift_ns)
    if time.time_ns() - real_time < shift_ns:
        raise RuntimeError("the clock does not move")

    for name, make in of_wall_clock(lambda: time.time()).items():
        instead(time, name, make)
    set_datetime(lambda: time.time())
    _move_times_of_files(shift_s, since)


def _move_times_of_files(shift_s: float, since: float) -> None:
    shift_ns = round(shift_s * 1e9)

    def moved(result: os.stat_result, path: Any) -> os.stat_result:
        # Bytecode is compared with the time of its source: a module that is older must not look newer.
        text = path if isinstance(path, str) else ""
        if result.st_mtime < since and text.endswith((".py", ".pyc")):
            return result
        values = {name: getattr(result, name) for name in _STAT_FIELDS}
        for name in ("st_atime", "st_mtime", "st_ctime"):
            values[name] += shift_s
            values[f"{name}_ns"] += shift_ns
        times = [int(values[name]) for name in ("st_atime", "st_mtime", "st_ctime")]
        return os.stat_result((*result[:7], *times), values)

    def of_path(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda path, **how: moved(real(path, **how), path)

    def of_descriptor(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda fd: moved(real(fd), None)

    instead(os, "stat", of_path)
    instead(os, "lstat", of_path)
    instead(os, "fstat", of_descriptor)

    def utime(real: Callable[..., Any]) -> Callable[..., Any]:
        def set_times(path: Any, times: Any = None, **how: Any) -> None:
            if times is not None:
                times = tuple(moment - shift_s for moment in times)
            if how.get("ns") is not None:
                how["ns"] = tuple(moment - shift_ns for moment in how["ns"])
            real(path, *(() if times is None else (times,)), **how)

        return set_times

    instead(os, "utime", utime)


_STAT_FIELDS = tuple(
    name
    for name in dir(os.stat_result)
    if name.startswith("st_") and name not in os.stat_result.__match_args__
)
"""Fields of a status that are not items of the tuple."""


# -- the machine -----------------------------------------------------------------------------------


def _move_machine(*, strict: bool) -> None:
    """Change processors, kernel, memory, load, parent, terminal, order of folders, and garbage collection.

    Args:
        strict: the level is 'strict', so the host has another name already.
    """
    gc.set_threshold(*_COLLECT)
    count = os.cpu_count() or 1
    processors = 1 if count > 1 else 8
    instead(os, "cpu_count", lambda real: lambda: processors)
    instead(os, "sched_getaffinity", lambda real: lambda pid: set(range(processors)))

    def sysconf(real: Callable[..., Any]) -> Callable[..., Any]:
        def value(name: Any) -> Any:
            number = os.sysconf_names.get(name, name)
            if number in (os.sysconf_names["SC_NPROCESSORS_ONLN"], os.sysconf_names["SC_NPROCESSORS_CONF"]):
                return processors
            pages = (os.sysconf_names["SC_PHYS_PAGES"], os.sysconf_names["SC_AVPHYS_PAGES"])
            return real(name) // 3 if number in pages else real(name)

        return value

    instead(os, "sysconf", sysconf)

    def uname(real: Callable[..., Any]) -> Callable[..., Any]:
        def names() -> os.uname_result:
            system, node, _, _, machine = real()
            return os.uname_result((system, node if strict else HOST, "4.4.0-elsewhere", "#7", machine))

        return names

    instead(os, "uname", uname)
    if not strict:
        instead(_socket, "gethostname", lambda real: lambda: HOST)
        for name in ("getuid", "geteuid", "getgid", "getegid"):
            instead(os, name, lambda real: lambda: real() + UID)

    def load(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda: tuple(load_value / 90 if load_value > 1 else load_value + 3 for load_value in real())

    instead(os, "getloadavg", load)

    def times(real: Callable[..., Any]) -> Callable[..., Any]:
        def values() -> os.times_result:
            user, system, *children, elapsed = real()
            return os.times_result((user + 0.75, system + 0.25, *children, elapsed + UPTIME_S))

        return values

    instead(os, "times", times)
    instead(os, "getgroups", lambda real: lambda: [*real(), UID])
    instead(os, "getppid", lambda real: lambda: real() + LAST_PID)
    instead(os, "getlogin", lambda real: lambda: ENVIRONMENT["USER"])
    instead(os, "get_terminal_size", lambda real: lambda *fd: os.terminal_size((133, 41)))
    instead(os, "listdir", lambda real: lambda *path, **how: _turned(real(*path, **how)))
    instead(os, "scandir", lambda real: lambda *path: ScandirIterator(real(*path)))


def _turned(names: list[Any]) -> list[Any]:
    names.reverse()
    return names


class ScandirIterator:
    """The entries of a folder in another order, with the methods of `os.scandir`."""

    __slots__ = ("_entries",)
    __module__ = "posix"

    def __init__(self, entries: Any) -> None:
        with entries:
            self._entries = iter(_turned([*entries]))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> "ScandirIterator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


# -- addresses -------------------------------------------------------------------------------------


def _mix_addresses(luck: random.Random, modules: Mapping[str, types.ModuleType]) -> None:
    """Invert addresses in `id`, and scatter free memory."""

    def turned_around(real: Callable[..., Any]) -> Callable[..., Any]:
        for name, module in modules.items():
            if name.startswith(_OURS):  # which keep tables by addresses, some of them written in C
                vars(module)["id"] = real
        return lambda value: real(value) ^ _ID_MASK

    instead(builtins, "id", turned_around)
    objects: list[Any] = []
    for _ in range(_SCATTERED):
        size = luck.random()
        objects += (bytearray(int(512 * size)), [None] * int(1 + 3 * size), {})
    luck.shuffle(objects)
    _references.append(objects[: len(objects) // 2])
    del objects[len(objects) // 2 :]
