"""The process of `deskcheck run`: runs a program like ``python FILE ARGUMENTS``, and records it.

The process is started by the path of this file, and reads its job from a descriptor. It is not confined:
working directory, environment, standard streams, arguments, import path, exit status and traceback are the
same as without deskcheck. Exceptions of the program leave this file, too. Only the standard library is
imported, because the interpreter may be any.
"""

import sys

_package_root = __file__.rsplit("/", 3)[0]
_safe = sys.flags.safe_path
if not _safe:
    del sys.path[0]  # the folder of this file, whose modules have common names
sys.path.insert(0, _package_root + "/deskcheck/sandbox/inside")

from hidden_modules import HiddenModules  # type: ignore[import-not-found]  # by itself: its package imports much

sys.path[0] = _package_root
_modules = HiddenModules()

import fcntl
import functools
import gc
import json
import os
import resource
import types
from importlib.machinery import BuiltinImporter, SourceFileLoader
from typing import Any

from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox.inside.channel import sender, sending_tracer
from deskcheck.sandbox.inside.main_module import CONTAINED, MODULE, run_main_module
from deskcheck.tracer import Granularity, TraceLimits, outermost, tracer_class
from deskcheck.tracer.result import exception_text
from deskcheck.tracer.stdout import StdoutHearing

del sys.path[0]

_ABOVE = 200
"""Lowest descriptor of deskcheck. Programs that close or count descriptors rarely reach so far."""


def _job(descriptor: int) -> dict[str, Any]:
    with open(descriptor, "rb") as stream:
        job: dict[str, Any] = json.loads(stream.read())
    return job


def _moved(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    os.close(descriptor)
    return moved


def _main_module() -> types.ModuleType:
    """A module `__main__` like that of the interpreter."""
    main = types.ModuleType("__main__")
    names = main.__dict__
    names["__builtins__"] = sys.modules["builtins"]
    if sys.version_info < (3, 14):  # PEP 649
        names["__annotations__"] = {}
    return main


def _code(job: dict[str, Any], names: dict[str, Any]) -> types.CodeType:
    """The code of a file or of standard input. Writes its origin into the namespace."""
    if job["how"] == "stdin":
        filename = "<stdin>"
        text = sys.stdin.buffer.read()
        names["__loader__"] = BuiltinImporter
    else:
        filename = os.path.abspath(job["target"])
        if job["text"] is not None:  # of a pipe, which can be read once
            text = job["text"].encode("latin-1")
        else:
            with open(filename, "rb") as stream:
                text = stream.read()
        names |= {
            "__file__": filename,
            "__loader__": SourceFileLoader("__main__", filename),
            "__cached__": None,
        }
    return compile(text, filename, "exec", dont_inherit=True)


def _describe(error: BaseException) -> dict[str, str]:
    name = type.__dict__["__qualname__"].__get__(type(error))
    return {"exception": name, "detail": exception_text(error)[:2000]}


def main() -> None:
    job = _job(int(sys.argv[1]))
    pid = os.getpid()
    channel = _moved(job["channel"])
    send = sender(channel, bytes.fromhex(job["key"]))
    make = functools.partial(
        tracer_class(job["tracer"]),
        job["scope"],
        modules=("__main__", *job["modules"]),
        limits=TraceLimits(**job["trace_limits"]),
        granularity=Granularity(job["granularity"]),
    )
    tracer = sending_tracer(make, channel, _moved(job["mirror"]), send)

    def report(outcome: Outcome, **facts: str) -> None:
        """Send the end message, unless this process is a fork of the program."""
        if os.getpid() != pid:
            return
        files = {
            vars(module).get("__file__") for module in [*sys.modules.values()] if hasattr(module, "__dict__")
        }
        used = resource.getrusage(resource.RUSAGE_SELF)
        message = {
            "outcome": outcome,
            "cut": tracer.cut,
            "failure": repr(tracer.failure) if tracer.failure else None,
            "sources": {label: file for file, label in job["scope"].items() if file in files},
            "imported": sorted(
                {name.partition(".")[0] for name in [*sys.modules] if name not in _modules.visible}
            ),
            "cpu_s": used.ru_utime + used.ru_stime,
            **facts,
        }
        try:
            send(b"end " + json.dumps(message).encode())
        except OSError:
            return

    def start(main_file: str | None = None) -> None:
        if main_file is not None:
            job["scope"].setdefault(main_file, job["label"])
        tracer.scope.update(job["scope"])
        tracer.start()

    sys.argv[:] = job["argv"]
    sys.orig_argv[:] = job["orig_argv"]
    StdoutHearing(tracer.wrote).on()
    if job["path"] is not None and (not _safe or job["how"] == CONTAINED):
        sys.path.insert(0, job["path"])
    if job["how"] in (MODULE, CONTAINED):
        _modules.visible |= _modules.with_imports("runpy")
    _modules.hide(os.path.abspath(job["target"]) if job["how"] == "file" else None)
    gc.collect()  # or what we leave were found by the program's first collection
    send(b"ready")
    try:
        sys.modules["__main__"] = module = _main_module()
        try:
            if job["how"] in (MODULE, CONTAINED):
                run_main_module(job["target"] if job["how"] == MODULE else None, start)
            else:
                code = _code(job, module.__dict__)
                start()
                outermost.evaluate(code, module.__dict__)
        finally:
            tracer.stop()
    except SystemExit as error:
        report(Outcome.EXITED, **_describe(error))
        raise
    except BaseException as error:
        ran_out = isinstance(error, MemoryError)
        report(Outcome.OUT_OF_MEMORY if ran_out else Outcome.RAISED, **_describe(error))
        outermost.without_ours(error, __file__)
        status = outermost.exit_status(error)
    else:
        report(Outcome.RETURNED)
        status = 0
    if status:
        sys.exit(status)


_keep = sys.modules["__main__"]  # or its globals, which main() uses, would be cleared
main()
