"""What holds for all tests: where this kernel does not give what a level of the sandbox needs, a test that needs
that level is skipped, and says what it would have proved."""

import contextlib
import fcntl
import functools
import gc
import os
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from deskcheck.errors import SandboxError
from deskcheck.sandbox.confinement import Confinement

# The same examples every time, so that nobody's run fails by a draw; `make exhaustive` draws others, and more of them.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.register_profile("exhaustive", settings.get_profile("same"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture
def one_ray_at_a_time() -> Iterator[None]:
    """The other worker starts no cluster meanwhile: each is a dozen processes."""
    with open(Path(tempfile.gettempdir()) / "ray.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def skip_without_ray(said: str, proves: str) -> None:
    """Ray gives its own processes 30 seconds to start and cannot be told otherwise; a very busy machine takes longer."""
    if "Ray could not be started on this machine" in said:
        pytest.skip(f"Ray did not start on this machine, which is too busy: would have proved that {proves}")


@functools.cache
def refused() -> dict[Confinement, str]:
    """The levels that cannot be had here, and why."""
    from deskcheck.sandbox.layers import refusals

    return {level: why for level, why in refusals().items() if why}


def _skip(item: pytest.Item, level: Confinement) -> None:
    proves = (getattr(getattr(item, "function", None), "__doc__", None) or item.name).strip().split("\n\n")[0]
    why = refused()[level].partition(". ")[0]
    pytest.skip(f"{why}: would have proved: {' '.join(proves.split())}")


def _or_skipped(item: pytest.Item, phase: Generator[None, Any, Any]) -> Generator[None, Any, Any]:
    try:
        return (yield from phase)
    except SandboxError as error:
        for level in refused():
            if f"the level {level.value!r} cannot be had here" in str(error):
                _skip(item, level)
        raise


def _phase() -> Generator[None, Any, Any]:
    return (yield)


@contextlib.contextmanager
def unmeasured() -> Iterator[None]:
    """Coverage does not measure what is started meanwhile: processes that ask whether they are traced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        yield


def pytest_collection_finish() -> None:
    """The collector of garbage does not look at thousands of tests again for each of them."""
    gc.collect()
    gc.freeze()


def _measure(item: pytest.Item) -> None:
    """Where coverage measures this process: with a trace function of its own again, for what `item` reaches.

    Our tracer takes the place of coverage's. Not by `Coverage.start`: that would wrap `os._exit` each time.
    """
    coverage = sys.modules.get("coverage")
    running = coverage.Coverage.current() if coverage is not None else None
    if running is not None:
        running._collector._start_tracer()
        threading.settrace(running._collector._installation_trace)
        running.switch_context(item.nodeid.partition("[")[0])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    _measure(item)
    for mark in item.iter_markers("level"):
        if mark.args[0] in refused():
            _skip(item, Confinement(mark.args[0]))
    return (yield from _or_skipped(item, _phase()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    _measure(item)
    return (yield from _or_skipped(item, _phase()))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    _measure(item)
