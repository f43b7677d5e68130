"""What holds for all tests: where this kernel does not give what a level of the sandbox needs, a test that needs
that level is skipped, and says what it would have proved."""

import functools
from collections.abc import Generator
from typing import Any

import pytest

from deskcheck.recording.errors import SandboxError
from deskcheck.sandbox.confinement import Confinement


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    for mark in item.iter_markers("level"):
        if mark.args[0] in refused():
            _skip(item, Confinement(mark.args[0]))
    return (yield from _or_skipped(item, _phase()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _or_skipped(item, _phase()))
