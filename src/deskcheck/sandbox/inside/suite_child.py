"""The process of a test suite: pytest with a plugin that observes the tests.

The file is started by path, with a descriptor to read its job from. (PYTEST_DONT_REWRITE: pytest must not
load this a second time.) It becomes ``python -m pytest``: `__main__`, the arguments, the import path and the
exit status are those of pytest. The interpreter may differ from deskcheck's. It needs only the standard
library and pytest.
"""

import sys

_package_root = __file__.rsplit("/", 4)[0]
_started = __name__ == "__main__"
if _started:
    if sys.flags.safe_path:
        sys.path.insert(0, "")
    sys.path[0] = _package_root  # in the place of this folder, whose modules have common names

import fcntl
import importlib.util
import io
import json
import os
import platform
import resource
import runpy
import time
from collections.abc import Callable, Iterator
from typing import Any

from deskcheck.recording.secrets import EnvironmentMask
from deskcheck.sandbox.inside.calls import Drawing, Observer, Project
from deskcheck.sandbox.inside.channel import sender, suite_message
from deskcheck.tracer import tracer_class
from deskcheck.tracer.limits import TraceLimits

_NAME = "_deskcheck_suite"
_CHANNEL_AT_LEAST = 512
"""Lowest descriptor for the channel, above those that programs usually close."""

_WHY_CHARS = 1000
_OPTIONS = {
    "xdist": "-n0",  # one process, in which we are
    "pytest_cov": "--no-cov",  # it would be told of our tracer taking its place
    "hypothesis": "--hypothesis-seed=0",  # a second run must come by the same calls
}
"""Options for installed plugins, by module."""


class _Sender:
    """Sends messages (`channel.suite_message`) until the process forks."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        channel = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _CHANNEL_AT_LEAST)
        os.close(descriptor)
        self.write = sender(channel, key)
        self.pid = os.getpid()

    def __call__(self, kind: str, facts: dict[str, Any], blocks: list[bytes]) -> None:
        if os.getpid() != self.pid:
            return
        try:
            self.write(suite_message(kind, facts, blocks))
        except OSError:
            return


class _Plugin:
    """The plugin, whose methods pytest calls by name.

    Args:
        finished: tests that an earlier run finished.
        masked: masks environment variables in the id of a test, which may contain parameters.
    """

    def __init__(
        self,
        observer: Observer,
        send: _Sender,
        finished: frozenset[str],
        masked: Callable[[str], str],
    ) -> None:
        self.observer = observer
        self.send = send
        self.finished = finished
        self.masked = masked
        self.names: dict[str, str] = {}
        self.alike: dict[str, int] = {}
        self.left_out = 0
        self.before = frozenset(sys.modules)

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        finished = [item for item in items if self.name(item.nodeid) in self.finished]
        self.left_out = len(finished)
        if finished:
            unfinished = [item for item in items if self.name(item.nodeid) not in self.finished]
            config.hook.pytest_deselected(items=finished)
            items[:] = unfinished

    def name(self, test: str) -> str:
        """The masked name of a test. Later tests with the same name get a number, in order of collection."""
        if test not in self.names:
            name = self.masked(test)
            if name != test:
                number = self.alike[name] = self.alike.get(name, 0) + 1
                name += f"#{number}" if number > 1 else ""
            self.names[test] = name
        return self.names[test]

    def pytest_collection_finish(self, session: Any) -> None:
        interpreter = {
            "python": platform.python_version(),
            "implementation": sys.implementation.name,
            "platform": platform.platform(),
            "tracer": tracer_class().name,
        }
        facts = {
            "tests": len(session.items) + self.left_out,
            "packages": self._packages(),
            "interpreter": interpreter,
            "cpu_s": _used_s(),
        }
        self.send("collected", facts, [])

    def _packages(self) -> dict[str, str]:
        """The versions of the distributions that the tests have imported."""
        from importlib import metadata

        tops = {name.partition(".")[0] for name in set(sys.modules) - self.before}
        tops -= {*sys.stdlib_module_names, "deskcheck", "__main__"}
        distributions = metadata.packages_distributions() if tops else {}
        names = sorted({distribution for top in tops for distribution in distributions.get(top, ())})
        return {distribution: metadata.version(distribution) for distribution in names}

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            facts = {"test": self.name(report.nodeid), "outcome": "not collected"}
            self.send("test", facts | {"why": self.masked(_why(report))}, [])

    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        before = _used_s()
        self.observer.begin(self.name(item.nodeid))
        yield
        self.observer.end()
        facts = {
            "test": self.name(item.nodeid),
            "cpu_s": _used_s() - before,
            "left_out": self.observer.left_out,
            "functions": self.observer.account(),
        }
        self.send("tested", facts, [])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or not report.passed:
            outcome = report.outcome if report.when == "call" or report.skipped else "error"
            if hasattr(report, "wasxfail"):
                outcome = "xfailed" if report.skipped else "xpassed"
            facts = {"test": self.name(report.nodeid), "outcome": outcome}
            self.send("test", facts if report.passed else facts | {"why": self.masked(_why(report))}, [])


def _why(report: Any) -> str:
    """The reason why a test did not pass: the exception in its report, without the traceback."""
    representation = report.longrepr
    crash = getattr(representation, "reprcrash", None)
    if crash is not None:
        return str(crash.message)[:_WHY_CHARS]
    if isinstance(representation, tuple):  # of one that was skipped: file, line, reason
        text = representation[-1]
    else:
        text = getattr(representation, "errorstring", None) or representation
    return str(text)[-_WHY_CHARS:]


def _used_s() -> float:
    """The CPU time of this process and of the children that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


_written: list[Callable[[str], None]] = []
"""Functions that get the texts written to `sys.stdout`."""


def _watch_writing() -> None:
    """Make standard output, and its replacements by pytest, report the texts that are written."""
    import _pytest.capture

    class TextIOWrapper(io.TextIOWrapper):
        pass

    TextIOWrapper.__module__ = "_io"
    TextIOWrapper.__qualname__ = "TextIOWrapper"
    for kind in (
        TextIOWrapper,
        *(getattr(_pytest.capture, name, None) for name in ("EncodedFile", "CaptureIO")),
    ):
        if kind is not None:
            kind.write = _telling_write(kind)  # type: ignore[method-assign]
    plain: Any = sys.stdout
    watched = TextIOWrapper(
        plain.detach(), encoding=plain.encoding, errors=plain.errors, line_buffering=plain.line_buffering
    )
    watched.mode = "w"  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = watched  # type: ignore[misc]


def _telling_write(kind: Any) -> Any:
    base_write = kind.write

    def write(self: Any, text: str, /) -> Any:
        count = base_write(self, text)
        if self is sys.stdout:
            for listener in _written:
                listener(text)
        return count

    return write


_job: dict[str, Any] = {}


def pytest_configure(config: Any) -> None:
    """Start observing. pytest calls this, as the module is one of its plugins."""
    import pytest

    job = dict(_job)
    _job.clear()
    if not job:  # pytest is run again inside a test
        return
    calls = job["wanted"]
    observer = Observer(
        Project(job["root"], job["packages"], config.getini("python_files")),
        job["send"],
        Drawing(job["most"], job["budget"], job["seed"]),
        limits=TraceLimits(**job["trace_limits"]),
        to_record=None if calls is None else frozenset(map(tuple, calls)),
        pace=job["pace"],
        earlier=job["known"],
    )
    _written.append(observer.wrote)
    pytest.hookimpl(hookwrapper=True, tryfirst=True)(_Plugin.pytest_runtest_protocol)
    pytest.hookimpl(trylast=True)(_Plugin.pytest_collection_modifyitems)
    plugin = _Plugin(observer, job["send"], frozenset(job["known"]["tests"]), job["masked"])
    config.pluginmanager.register(plugin, f"{_NAME}_observer")


def main() -> None:
    with os.fdopen(int(sys.argv[1]), "rb") as stream:
        _job.update(json.loads(stream.read()))
    # Before any conftest: what the tests put into the environment themselves is shown.
    _job["masked"] = EnvironmentMask(os.environ).text if _job["mask"] else str
    send = _job["send"] = _Sender(_job["channel"], bytes.fromhex(_job["key"]))
    if sys.flags.safe_path:
        del sys.path[0]
    else:
        sys.path[0] = os.getcwd()  # as `python -m pytest` has it
    sys.path += _job["path"]
    if importlib.util.find_spec("pytest") is None:
        send("no pytest", {}, [])
        return
    arguments = ["-p", _NAME, "--continue-on-collection-errors", "-o", f"cache_dir={_job['cache']}"]
    arguments += ["-p", "no:randomly"]
    for module, option in _OPTIONS.items():
        if (
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ
            and importlib.util.find_spec(module) is not None
        ):
            arguments.append(option)
    _watch_writing()
    sys.modules[_NAME] = sys.modules["__main__"]
    sys.argv = ["pytest", *arguments, *_job["arguments"]]
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if _started:
    main()
