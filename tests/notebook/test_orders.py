"""What depends on the order of a set is told from what does not, by computing it in several orders."""

from typing import Any

import pytest

from deskcheck.notebook.kernel.chance.draws import Draws
from deskcheck.notebook.kernel.chance.harmless import Evaluator
from deskcheck.notebook.kernel.chance.own import UnknownValue
from deskcheck.notebook.state.dependencies import parse
from tests.notebook.words import words

ORDER = "the order of a set"
FRUITS = "fruits = ['fig', 'kiwi', 'fig', 'kiwi', 'plum']"
CITIES = (
    "import pandas as pd\ndf = pd.DataFrame({'city': ['Rome', 'Oslo', 'Bern', 'Oslo'], 'n': [1, 2, 3, 2]})"
)
DATES = "from datetime import date\ndays = [date(2024, 1, 1), date(2024, 5, 1)]"

CHANCE = [
    (FRUITS, "mode = max(set(fruits), key=fruits.count)\nmode"),
    (FRUITS, "min(set(fruits), key=lambda each: -fruits.count(each))"),
    (FRUITS, "kinds = set(fruits)", "best = sorted(kinds, key=fruits.count)[-1]", "print(best)"),
    (FRUITS, "n = {each: fruits.count(each) for each in set(fruits)}", "max(n, key=n.get)"),
    (FRUITS, "kinds = set(fruits)\nfirst = next(iter(kinds))", "first"),
    (FRUITS, "kinds = set(fruits)\nx = kinds.pop()\nx"),
    (FRUITS, "dict(zip(set(fruits), range(9)))['fig']"),
    (FRUITS, "for each in set(fruits):\n    if len(each) == 4:\n        break\neach"),
    (FRUITS, "for each in set(fruits):\n    if len(each) == 4:\n        x = each\n        break", "print(x)"),
    (FRUITS, "out = []\nfor each in set(fruits):\n    out.append(each[0])", "out"),
    (FRUITS, "text = ''\nfor each in set(fruits):\n    text += each\ntext"),
    (FRUITS, "' '.join({each.upper() for each in fruits})"),
    (FRUITS, "first, *rest = set(fruits)\nfirst"),
    (FRUITS, "print(*set(fruits))"),
    (FRUITS, "print([len(each) for each in set(fruits)])"),
    (FRUITS, "list(dict.fromkeys(set(fruits) - {'plum'}))[0]"),
    (FRUITS, "kinds = list(set(fruits) | {'pear'})", "kinds.index('fig')"),
    (DATES, "list(set(days))[0].month"),
    (FRUITS, "kinds = set(fruits)\nwhile kinds:\n    last = kinds.pop()\nlast"),
    (FRUITS, "n = dict.fromkeys(set(fruits))", "list(n)[0]"),
    (FRUITS, "import itertools\nlist(itertools.islice(set(fruits), 1))"),
    (FRUITS, "import random\nrandom.seed(3)\nrandom.choice(list(set(fruits)))"),
    (FRUITS, "import re\n' '.join(set(re.findall('[a-z]+', ' '.join(fruits))))"),
]
SAME = [
    (FRUITS, "fruits.append('fig')", "mode = max(set(fruits), key=fruits.count)\nmode"),
    (FRUITS, "sorted(set(fruits), key=lambda each: (len(each), each))"),
    (FRUITS, "kinds = list(set(fruits))", "kinds.sort()", "kinds[0]"),
    (FRUITS, "kinds = list(set(fruits))", "kinds.count('fig'), len(kinds), 'fig' in kinds, sorted(kinds)"),
    (FRUITS, "n = 0\nfor each in set(fruits):\n    n += len(each)\nn"),
    (
        FRUITS,
        "there = False\nfor each in set(fruits):\n    if each == 'fig':\n        there = True\n        break\nthere",
    ),
    (FRUITS, "n = {each: len(each) for each in set(fruits)}", "n['fig']"),
    (FRUITS, "next(each for each in set(fruits) if each[0] == 'k')"),
    (FRUITS, "list(set(fruits) & {'fig', 'pear'})[0]"),
    (FRUITS, "n = [3, 1, 2]", "list(set(n))[0], set(n).pop()"),
    (DATES, "list(set(days))[0].year"),
    (FRUITS, "n = 0\nwhile True:\n    n += len({n, ''})\n    if n > 3 ** 9:\n        break\nn"),
    (FRUITS, "for each in set(fruits):\n    for n in range(open is len, 9):\n        break\nlen(each) > 1"),
]
CHANCE_OF_PANDAS = [
    (
        CITIES,
        "codes = {c: i for i, c in enumerate(set(df['city']))}\ndf['code'] = df.city.map(codes)\ndf.code.iloc[0]",
    ),
    (CITIES, "codes = {}\nfor c in set(df.city):\n    codes[c] = len(codes)", "[codes[c] for c in df.city]"),
    (CITIES, "codes = {}\nfor c in set(df.city):\n    codes[c] = len(codes)", "df.city.map(codes)"),
    (CITIES, "pd.Categorical(list(set(df.city))).codes[0]"),
    (CITIES, "next(iter(dict.fromkeys(set(df.city.unique()), 0)))"),
    (CITIES, "s = pd.Series(list(set(df.city))).sort_values()", "s"),
    (CITIES, "d = pd.DataFrame({'c': list(set(df.city))})", "d.iloc[0, 0]"),
]
SAME_OF_PANDAS = [
    (CITIES, "codes = {c: i for i, c in enumerate(sorted(set(df.city)))}\ndf['code'] = df.city.map(codes)\ndf.code.iloc[0]"),
    (CITIES, "list({n % 3 for n in df.n})"),
    (CITIES, "import numpy as np\nnp.unique(list(set(df.city)))[0], np.sort(list(set(df.city)))[0]"),
    (CITIES, "pd.Series(list({'pear', 'fig'})).sort_values().tolist()"),
    (CITIES, "s = pd.Series(list(set(df.city))).sort_values()", "s.iloc[0]"),
    (CITIES, "pd.Series(list(set(df.city))).sort_values(ignore_index=True)"),
]  # fmt: skip


def told(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Of the last of cells, run in their order."""
    draws = Draws()
    found: tuple[str, ...] = ()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for source in cells:
        draws.begin(namespace, source)
        exec(source, namespace)  # cells of our own
        found = words(draws.end(namespace, source))
    return found


@pytest.mark.parametrize(("cells", "expected"), [(CHANCE, (ORDER,)), (SAME, ())])
def test_what_the_order_decides(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> None:
    """Which of equal ones is first, and what a loop leaves; not what is the same in each order."""
    assert [each for each in cells if told(each) != expected] == []


@pytest.mark.parametrize(("cells", "expected"), [(CHANCE_OF_PANDAS, (ORDER,)), (SAME_OF_PANDAS, ())])
def test_columns(cells: list[tuple[str, ...]], expected: tuple[str, ...]) -> None:
    """Of what comes from a column, and goes into one."""
    pytest.importorskip("pandas", reason="would have proved that sets of a column are followed")
    assert [each for each in cells if told(each) != expected] == []


@pytest.mark.parametrize(
    "source",
    ["2 ** 9", "[0] * 10**9", "list(range(10**9))", "x()", "open('x')", "'%9999999d' % 3", "[][0]", "x.y"],
)
def test_what_is_not_computed(source: str) -> None:
    """What is large, raises, or would run code."""
    tree = parse(source)
    assert tree is not None
    (statement,) = tree.body
    with pytest.raises(UnknownValue):
        Evaluator(0, {"x": lambda: 3}, lambda name: True).value(statement.value)  # type: ignore[attr-defined]


GRAPH = """def walk(graph, at, seen):
    seen.append(at)
    for each in graph[at]:
        if each not in seen:
            walk(graph, each, seen)
    return '-'.join(reversed([*map(str, seen)]))
graph = {'A': {'B', 'C', 'D'}, 'B': {'E'}, 'C': {'E'}, 'D': set(), 'E': {'A'}}"""
COUNTED = """from collections import Counter
letters = Counter()
for word in {'ab', 'ba'}:
    for each in word:
        letters[each] += 1"""


@pytest.mark.parametrize(
    "cells",
    [
        (GRAPH, "walk(graph, 'A', [])[0]"),
        (COUNTED + "\nletters.most_common(1)",),
    ],
)
def test_what_may_depend_on_an_order(cells: tuple[str, ...]) -> None:
    """A statement that cannot be computed, with a collection of sets, or in a loop through one: it may be chance."""
    assert told(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ("import re\nwords = set(re.findall(r'\\w+', 'a b c a'))", "len(words), 'a' in words, sorted(words)"),
        ("import re\nlen(set(re.findall(r'\\w+', 'a b'))), 'a' in {'a', 'b'}",),
    ],
)
def test_what_depends_on_none(cells: tuple[str, ...]) -> None:
    """Where the order of a set does not count, it is not asked for either."""
    assert told(cells) == ()
