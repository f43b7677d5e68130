"""Long lists of cases: some of them for `make test`, more for `make test-all`, all for `make exhaustive`."""

import os
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

_MORE = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "exhaustive" else 1


def examples(number: int) -> int:
    """How many examples of a property: so many, or twenty times as many for `make exhaustive`."""
    return number * _MORE


def some(cases: Iterable[Any], *quick: Any) -> list[Any]:
    """The cases as pytest's parameters for `make test-all`: those that are named as they are, the others for `make
    exhaustive`."""
    return [case if case in quick else _marked(case, pytest.mark.exhaustive) for case in cases]


def spread(cases: Iterable[Any], every: int, slow: int = 1) -> list[Any]:
    """The cases as pytest's parameters: one of every so many as it is, the others marked slow.

    slow: of those, only one of so many is slow, and the rest exhaustive. A case may be a `pytest.param`.
    """
    found = []
    for n, case in enumerate(cases):
        mark = pytest.mark.slow if n % slow == 0 else pytest.mark.exhaustive
        found.append(case if n % every == 0 else _marked(case, mark))
    return found


def _marked(case: Any, mark: pytest.MarkDecorator) -> Any:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=[*case.marks, mark], id=case.id)
    return pytest.param(case, marks=mark)
