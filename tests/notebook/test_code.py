"""Digests of code: equal for functions that do the same step by step, whatever their locals are called."""

from typing import Any

import pytest

from deskcheck.notebook.state.digests import codes

SAME = [
    ("def f(a):\n    b = a\n    return b", "def f(a):\n    'doc'\n\n    c = a  # why\n    return c"),
    ("def f(a): return [x for x in a]", "def f(a): return [y for y in a]"),
    ("def f(a: int = 1) -> int: return a", "def f(a=1): return a"),
    ("class f:\n    def m(self): pass", "class f:\n    'doc'\n    def m(self):\n        pass"),
    ("def f():\n    def g(): return 1\n    return g", "def f():\n    def h(): return 1\n    return h"),
    ("def f():\n    a = 1\n    b = 2\n    return lambda: a - b", "def f():\n    z = 1\n    b = 2\n    return lambda: z - b"),
    ("f = (lambda a, b: lambda: a - b)(1, 2)", "f = (lambda z, b: lambda: z - b)(1, 2)"),
    ("def f(a): return [[b + c for c in a] for b in a]", "def f(a): return [[c + b for b in a] for c in a]"),
]  # fmt: skip
OTHER = [
    ("def f(a): return a + 1", "def f(a): return a + 2"),
    ("def f(a): return a + 1", "def f(a): return a - 1"),
    ("def f(a): return a + 1", "def f(b): return b + 1"),
    ("def f(a): return a", "def f(*a): return a"),
    ("def f(a): return a", "def f(a, /): return a"),
    ("def f(a=1): return a", "def f(a=True): return a"),
    ("def f(a, b): return a - b", "def f(a, b): return b - a"),
    ("def f(): return x", "def f(): return y"),
    ("def f(a): return lambda b: lambda: a - b", "def f(a): return lambda b: lambda: b - a"),
    ("f = (lambda a, b: lambda: a - b)(1, 2)", "f = (lambda a, b: lambda: b - a)(1, 2)"),
    ("f = (lambda a, b: lambda: a - b)(1, 2)", "f = (lambda a, b: lambda: a - b)(2, 1)"),
    ("def f(a): return [sum(g(b, a) for c in a) for b in a]", "def f(a): return [sum(g(a, b) for c in a) for b in a]"),
    ("def f(o): return o.x", "def f(o): return o.y"),
    ("def f(a):\n    if a: return 1", "def f(a):\n    if not a: return 1"),
    ("def f(a): return {1, 2}", "def f(a): return {1, 3}"),
    ("def f(a): return a in {1, 2}", "def f(a): return a in {1, 3}"),
    ("f = [lambda: 1]", "f = [lambda: 2]"),
    ("f = {'k': lambda: 1}", "f = {'k': lambda: 2}"),
    ("f = (lambda k: lambda: k)(1)", "f = (lambda k: lambda: k)(2)"),
    ("import functools\nf = functools.partial(lambda: 1)", "import functools\nf = functools.partial(lambda: 2)"),
    ("import functools\nf = functools.cache(lambda: 1)", "import functools\nf = functools.cache(lambda: 2)"),
    ("class f:\n    @property\n    def p(self): return 1", "class f:\n    @property\n    def p(self): return 2"),
    ("class f:\n    @staticmethod\n    def p(): return 1", "class f:\n    @staticmethod\n    def p(): return 2"),
    ("class f:\n    def p(s): pass", "class f:\n    def q(s): pass"),
    ("class f: pass", "class f(int): pass"),
    ("def f():\n    try: g()\n    except KeyError: pass", "def f():\n    try: g()\n    except ValueError: pass"),
    ("def f():\n    yield 1", "def f():\n    return 1"),
]  # fmt: skip


def digest(source: str) -> str | None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(source, names)
    return codes(names["f"], names)


@pytest.mark.parametrize("pair", SAME)
def test_what_does_the_same(pair: tuple[str, str]) -> None:
    """Spelling, docstrings, annotations and names of locals do not matter."""
    assert digest(pair[0]) == digest(pair[1]) is not None


@pytest.mark.parametrize("pair", OTHER)
def test_what_does_other_things(pair: tuple[str, str]) -> None:
    """Any step, constant, name that is looked up, parameter or held value does."""
    assert digest(pair[0]) != digest(pair[1])


def test_what_has_no_code_of_the_users() -> None:
    """Values and functions of libraries have no digest; what refers to itself ends."""
    for source in ("f = 1", "f = len", "import json\nf = json.dumps", "f = [1]", "f = []; f.append(f)"):
        assert digest(source) is None
    assert digest("def f(): return f\nf.__wrapped__ = f") is not None
