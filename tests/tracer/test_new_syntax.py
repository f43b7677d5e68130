"""Syntax and types that only later versions read: template strings (PEP 750), lazy imports (PEP 810), frozen dicts
(PEP 814), `except` without brackets (PEP 758)."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from deskcheck.recording import Kind
from deskcheck.tracer import ReferenceTracer, tracer_class

TEMPLATES = """
def f(name, n):
    greeting = t"hello {name!r:>9} {n + 1}"
    try:
        [][n]
    except IndexError, KeyError:
        names = [one.expression for one in greeting.interpolations]
    return names


print(f("Ada", 2))
"""
LAZY = """
import sys

lazy import json
lazy from nobody_imports_this import anything


def f(n):
    known = frozendict({"n": n, "more": [n]})
    before = "json" in sys.modules
    text = json.dumps([n])
    after = "json" in sys.modules
    joined = [*items for items in [[1], [n, 3]]]
    return before, text, after, known["n"], joined


print(f(2), "nobody_imports_this" in sys.modules)
"""


def before_return(code: str, traced: Callable[..., Any]) -> dict[str, str]:
    """The variables of `f` as it returns, as texts: the same by both tracers, at every event."""
    told = []
    for tracer in (ReferenceTracer, tracer_class()):
        run = traced(code, tracer_class=tracer)
        assert run.error is None
        told.append(
            [(e.kind, e.line, e.function, {name: str(v) for name, v in e.locals.items()}) for e in run.trace]
        )
    assert told[0] == told[1]
    return next(names for kind, _, function, names in told[0] if (kind, function) == (Kind.RETURN, "f"))


@pytest.mark.skipif(sys.version_info < (3, 14), reason="would show that template strings are recorded")
def test_template_strings(traced: Callable[..., Any]) -> None:
    names = before_return(TEMPLATES, traced)
    assert names["names"] == "['name', 'n + 1']"
    assert "strings=('hello ', ' ', '')" in names["greeting"]
    assert "value='Ada', expression='name', conversion='r', format_spec='>9'" in names["greeting"]


@pytest.mark.skipif(sys.version_info < (3, 15), reason="would show that lazy imports stay lazy")
def test_lazy_imports(traced: Callable[..., Any]) -> None:
    """To record a module that is not imported yet does not import it; a frozen dict shows what it holds."""
    names = before_return(LAZY, traced)
    assert (names["after"], names["joined"]) == ("True", "[1, 2, 3]")
    assert "{'n': 2, 'more': [2]}" in names["known"]
    assert traced(LAZY).output.endswith("False\n")
