"""Runs programs under one tracer, each in a fork of this process. Started by path; the standard library only.

The only argument is JSON: `tracer`, `limits`, `level`, `seconds` and `address_space_bytes` (or null) for each program, `folder`, and `imports`, the modules
that are there before a program begins, if they are installed. Programs come as lines of JSON on standard input. A program's blocks go to FOLDER/rows: a byte B, the size in four bytes, the block; at
the end E, a size, and JSON that says how it ended. What it prints goes to FOLDER/out. Then a line on standard
output tells its exit status (negative for a signal) and whether its time was up.

A fork for each: programs break their interpreter, and a crash is one program's. The collector is off, or it
would run when a tracer's own objects ask for it and destroy the program's at another moment.
"""

import builtins
import contextlib
import fcntl
import functools
import gc
import importlib.util
import io
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

from deskcheck.tracer import TraceLimits
from deskcheck.tracer.limits import Granularity

# A program may replace builtins; functions defined from here on keep the real ones.
globals()["__builtins__"] = dict(vars(builtins))

_HERE = os.path.dirname(os.path.abspath(__file__))
_ABOVE = 2048
"""Programs close the descriptors they know of, up to 1023 by habit."""


@functools.cache
def tracer_class(name: str) -> Any:
    if name == "witness":  # of tests/witness, which is no tracer of the package
        spec: Any = importlib.util.spec_from_file_location(
            "_watch", os.path.join(_HERE, "../witness/_watch.py")
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Witness
    if name == "native":
        from deskcheck.tracer import native  # type: ignore[attr-defined, unused-ignore]

        return native.NativeTracer
    from deskcheck.tracer import ReferenceTracer

    return ReferenceTracer


def _stream(path: str) -> Callable[[bytes, bytes], None]:
    """A function that appends to a file: (tag, content)."""
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    os.close(opened)
    write, pack, own, getpid = os.write, struct.pack, os.getpid(), os.getpid

    def send(tag: bytes, content: bytes) -> None:
        if getpid() != own:  # a process that the program has forked
            return
        left = tag + pack("<I", len(content)) + content
        while left:
            left = left[write(descriptor, left) :]

    return send


def _watched_stdout(tracer: Any) -> io.TextIOWrapper:
    """Standard output as it is, telling the tracer what goes through it."""
    plain: Any = sys.stdout
    base_write = io.TextIOWrapper.write

    class TextIOWrapper(io.TextIOWrapper):
        def write(self, text: str, /) -> int:
            count = base_write(self, text)
            tracer.wrote(text)
            return count

    TextIOWrapper.__module__ = "_io"
    TextIOWrapper.__qualname__ = "TextIOWrapper"
    return TextIOWrapper(plain.detach(), encoding="utf-8", errors="backslashreplace")


def _redirect(path: str) -> None:
    sys.stdout.flush()
    for descriptor, target in ((0, os.devnull), (1, path), (2, os.devnull)):
        opened = os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)


def _run(program: dict[str, Any], tracer: Any) -> None:
    """Run a program under a tracer. Whatever leaves it leaves this."""
    filename = program["filename"]
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=filename, __builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    sys.argv = [filename]
    sys.path.insert(0, os.getcwd())
    code = compile(program["code"], filename, "exec", dont_inherit=True)
    if program["mode"] == "module":
        tracer.start()
        try:
            exec(code, main.__dict__)
        finally:
            tracer.stop()
        return
    exec(code, main.__dict__)
    arguments = compile(f"(lambda *args, **kwargs: (args, kwargs)){program['arguments']}", "<a>", "eval")
    args, kwargs = eval(arguments, main.__dict__)
    function: Any = main
    for name in program["entry"].split("."):
        function = getattr(function, name)
    tracer.start()
    try:
        function(*args, **kwargs)
    finally:
        tracer.stop()


def _in_fork(job: dict[str, Any], program: dict[str, Any]) -> None:
    """Be the process of one program, and end."""
    folder = job["folder"]
    send = _stream(os.path.join(folder, "rows"))
    _redirect(os.path.join(folder, "out"))
    place = os.path.join(folder, "run")
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    os.chdir(place)
    cpu = int(job["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if (size := job["address_space_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    random.seed(0)
    filename = program["filename"]
    with open(filename, "w", encoding="utf-8", errors="surrogatepass") as stream:
        stream.write(program["code"])
    tracer = tracer_class(job["tracer"])(
        {filename: filename},
        lambda block: send(b"B", block),
        limits=TraceLimits(**job["limits"]),
        granularity=Granularity(job["granularity"]),
    )
    if hasattr(tracer, "forget_thread"):
        os.register_at_fork(after_in_child=tracer.forget_thread)
    sys.stdout = _watched_stdout(tracer)
    ended, dumps, leave = "returned", json.dumps, os._exit
    of = type.__dict__["__qualname__"].__get__
    try:
        _run(program, tracer)
    except BaseException as error:  # noqa: BLE001 - whatever leaves the program is its end
        ended = of(type(error))
    failure = None
    if tracer.failure is not None:
        failure = "".join(traceback.format_exception(tracer.failure))
    try:
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - the program may have put anything there
        ended += ", standard output is broken"
    send(b"E", dumps({"ended": ended, "cut": tracer.cut, "failure": failure}).encode())
    leave(0)


def _wait(pid: int, seconds: float) -> tuple[int, bool]:
    """Status of a process, and whether it had to be ended."""
    until = time.monotonic() + seconds
    timed_out = False
    while True:
        done, status = os.waitpid(pid, 0 if timed_out else os.WNOHANG)
        if done:
            break
        left = until - time.monotonic()
        if left > 0:
            signal.sigtimedwait([signal.SIGCHLD], left)
        else:
            timed_out = True
            os.kill(pid, signal.SIGKILL)
    try:
        os.killpg(pid, signal.SIGKILL)  # what it has left running
    except ProcessLookupError:
        pass
    return os.waitstatus_to_exitcode(status), timed_out


def main() -> None:
    job = json.loads(sys.argv[1])
    del sys.path[0]  # the folder of this file
    for name in ("reference", "native", job["tracer"]):  # both: what is imported can be seen
        try:
            tracer_class(name)
        except ImportError:
            if name == job["tracer"]:
                raise
    for name in job["imports"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft <= _ABOVE + 64:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 2 * _ABOVE), hard))
    gc.disable()
    gc.freeze()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for line in sys.stdin:
        program = json.loads(line)
        pid = os.fork()
        if not pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            os.setsid()
            try:
                _in_fork(job, program)
            finally:
                os._exit(99)
        print(json.dumps(_wait(pid, job["seconds"])), flush=True)


if __name__ == "__main__":
    _main = sys.modules["__main__"]  # or its globals would be cleared when a program takes its place
    main()
