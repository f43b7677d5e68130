"""The process of a program that its user runs, as ``python FILE ARGUMENTS`` runs it, recorded.

Started by path, with a descriptor to read its job from. It is not confined: working directory, environment,
standard streams, arguments, import path, exit status and traceback are those that the program has without
us. What leaves the program leaves this file. Standard library only: the interpreter may be another than ours.
"""

import sys

_package_root = __file__.rsplit("/", 3)[0]
_safe = sys.flags.safe_path
if not _safe:
    del sys.path[0]  # the folder of this file, whose modules have common names
sys.path.insert(0, _package_root)

import fcntl
import functools
import importlib.machinery
import json
import os
import resource
import types
from typing import Any

from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox.inside.channel import sender, sending_tracer
from deskcheck.tracer import Granularity, TraceLimits, tracer_class
from deskcheck.tracer.result import exception_text
from deskcheck.tracer.stdout import watch_stdout

del sys.path[0]

_OURS = (__file__, watch_stdout.__code__.co_filename)
_ABOVE = 200
"""Programs close and count the descriptors that they know of; ours lie above most."""


def _job(descriptor: int) -> dict[str, Any]:
    with open(descriptor, "rb") as stream:
        job: dict[str, Any] = json.loads(stream.read())
    return job


def _moved(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    os.close(descriptor)
    return moved


def _main_module(job: dict[str, Any]) -> tuple[types.ModuleType, types.CodeType]:
    """`__main__` as the interpreter makes it, and the code that is to run in it."""
    main = types.ModuleType("__main__")
    names = main.__dict__
    names["__builtins__"] = sys.modules["builtins"]
    if sys.version_info < (3, 14):  # PEP 649
        names["__annotations__"] = {}
    if job["how"] in ("module", "contained"):
        import runpy

        sys.modules["__main__"] = main
        try:
            found: Any = runpy
            _, spec, code = (
                found._get_module_details(job["target"])
                if job["how"] == "module"
                else found._get_main_module_details()
            )
        except ImportError as error:  # as `python -m` says it
            sys.exit(f"{sys.executable}: {error}")
        names |= {
            "__spec__": spec,
            "__file__": spec.origin,
            "__loader__": spec.loader,
            "__package__": spec.parent,
            "__cached__": spec.cached,
        }
        if job["how"] == "module":
            sys.argv[0] = spec.origin
        job["scope"].setdefault(code.co_filename, job["label"])
        return main, code
    if job["how"] == "stdin":
        filename = "<stdin>"
        text = sys.stdin.buffer.read()
        names["__loader__"] = importlib.machinery.BuiltinImporter
    else:
        filename = os.path.abspath(job["target"])
        if job["text"] is not None:  # of a pipe, which can be read once
            text = job["text"].encode("latin-1")
        else:
            with open(filename, "rb") as stream:
                text = stream.read()
        names |= {
            "__file__": filename,
            "__loader__": importlib.machinery.SourceFileLoader("__main__", filename),
            "__cached__": None,
        }
    sys.modules["__main__"] = main
    return main, compile(text, filename, "exec", dont_inherit=True)


def _without_ours(traceback: Any) -> Any:
    """The traceback without the frames of this file, and of the stream that stands for standard output."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    kept = traceback
    while kept is not None and kept.tb_next is not None:
        if kept.tb_next.tb_frame.f_code.co_filename in _OURS:
            kept.tb_next = kept.tb_next.tb_next
        else:
            kept = kept.tb_next
    return traceback


def _hide_ourselves() -> None:
    """Uncaught, an exception shows the program's frames and not this file's."""
    shown = sys.excepthook

    def excepthook(kind: Any, error: Any, traceback: Any) -> None:
        traceback = _without_ours(traceback)
        if isinstance(error, BaseException):
            error.__traceback__ = traceback
        shown(kind, error, traceback)

    sys.excepthook = excepthook


def _describe(error: BaseException) -> dict[str, str]:
    name = type.__dict__["__qualname__"].__get__(type(error))
    return {"exception": name, "detail": exception_text(error)[:2000]}


def main() -> None:
    job = _job(int(sys.argv[1]))
    pid, before = os.getpid(), frozenset(sys.modules)
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
        """Send the end message, unless this is a process that the program forked."""
        if os.getpid() != pid:
            return
        files = {vars(each).get("__file__") for each in [*sys.modules.values()] if hasattr(each, "__dict__")}
        used = resource.getrusage(resource.RUSAGE_SELF)
        message = {
            "outcome": outcome,
            "cut": tracer.cut,
            "failure": repr(tracer.failure) if tracer.failure else None,
            "sources": {label: file for file, label in job["scope"].items() if file in files},
            "imported": sorted({name.partition(".")[0] for name in [*sys.modules] if name not in before}),
            "cpu_s": used.ru_utime + used.ru_stime,
            **facts,
        }
        try:
            send(b"end " + json.dumps(message).encode())
        except OSError:
            return

    sys.argv[:] = job["argv"]
    sys.orig_argv[:] = job["orig_argv"]
    watch_stdout(tracer)
    if job["path"] is not None and (not _safe or job["how"] == "contained"):
        sys.path.insert(0, job["path"])
    send(b"ready")
    try:
        module, code = _main_module(job)
        tracer.scope.update(job["scope"])
        tracer.start()
        try:
            exec(code, module.__dict__)
        finally:
            tracer.stop()
    except SystemExit as error:
        report(Outcome.EXITED, **_describe(error))
        raise
    except MemoryError as error:
        report(Outcome.OUT_OF_MEMORY, **_describe(error))
        _hide_ourselves()
        raise
    except BaseException as error:
        report(Outcome.RAISED, **_describe(error))
        _hide_ourselves()
        raise
    report(Outcome.RETURNED)


_keep = sys.modules["__main__"]  # or its globals, which main() uses, would be cleared
main()
