"""One project's tests in every kind of question: the command that makes the page in the docs."""

import re
from pathlib import Path

import pytest

from benchmarks import every_kind
from deskcheck.ask import QUESTIONS

pytest.importorskip("inspect_ai", reason="no deskcheck[ask]: would show that the page can be made")

SHOP = '''
def total(prices, discount=0):
    """What a basket costs."""
    result = 0
    for price in prices:
        if price < 0:
            raise ValueError(f"a price of {price}")
        result = add(result, price)
    last = prices
    return result - discount


def add(a, b):
    return a + b


def apply(change, items):
    kept = []
    for item in items:
        kept.append(change(item))
    return kept


class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def put(self, item, times=1):
        for _ in range(times):
            self.items.append(item)
        alias = self.items
        return len(alias)
'''
TESTS = """
import pytest
from shop import Basket, apply, total

@pytest.mark.parametrize("n", range(5))
def test_total(n):
    assert total(list(range(n)), 1) == sum(range(n)) - 1

@pytest.mark.parametrize("n", range(3))
def test_wrong(n):
    with pytest.raises(ValueError):
        total([1, -n - 1])

@pytest.mark.parametrize("n", range(4))
def test_basket(n):
    basket = Basket("me")
    assert basket.put(n) == 1
    assert basket.put("pear", n) == n + 1

@pytest.mark.parametrize("n", range(3))
def test_apply(n):
    assert apply(lambda x: x + 1, [n]) == [n + 1]
"""


@pytest.mark.exhaustive
def test_the_page_of_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every kind has questions here; the oracle is right in all, and nothing is left out without a reason."""
    project = tmp_path / "shop-1.0"
    (project / "tests").mkdir(parents=True)
    (project / "shop.py").write_text(SHOP)
    (project / "tests" / "test_shop.py").write_text(TESTS)
    (project / "tests" / "conftest.py").write_text("import sys; sys.path.insert(0, 'shop-1.0')\n")
    (project / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = "."\n')
    out, page = tmp_path / "out", tmp_path / "page.md"
    given = [str(project), "--out", str(out), "--limit", "6", "--nano", "1", "--page", str(page)]
    assert every_kind.main(given) == 0, capsys.readouterr().err
    text = page.read_text()
    scores = dict(re.findall(r"^\| `(\w+)` \| \d+ \| \d+ \| (\S+)", text, re.MULTILINE))
    assert {*scores.values()} == {"1.000"}
    assert QUESTIONS.keys() - scores.keys() <= {"input"}
    reasons = re.findall(r"^\| `(\w+)` \| (.*) \|$", text.partition("## What was not asked")[2], re.MULTILINE)
    assert {kind for kind, _ in reasons} == set(QUESTIONS)
    assert capsys.readouterr().out == text + "\n"
    assert every_kind.main(given) == 0  # reads what is there
    assert capsys.readouterr().out == text + "\n"
