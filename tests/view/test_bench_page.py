"""The page of a benchmark in a real browser: light and dark, narrow and wide, with names that would do harm."""

import pytest

from deskcheck.ask.results.project_benchmark import (
    Benchmark,
    BenchmarkFunction,
    BenchmarkKind,
    Interpreter,
    Missing,
)
from deskcheck.ask.results.statistics import mean_interval
from deskcheck.bench.benchmark import KINDS
from deskcheck.view.bench_page import bench_page
from tests.view.browsing import MARKS, Page
from tests.view.conftest import HOSTILE

pytestmark = MARKS


def kind(name: str) -> BenchmarkKind:
    scores = {
        model: mean_interval([score] * 4, [*"aabb"]) for model, score in (("oracle", 1.0), ("guess", 0.25))
    }
    return BenchmarkKind(name=name, samples=4, functions=2, scores=scores, excluded={f"why {HOSTILE}": 3})


def function(name: str, why_not: str = "") -> BenchmarkFunction:
    samples = {} if why_not else dict.fromkeys(KINDS, 4)
    return BenchmarkFunction(
        module="m" * 200, name=name, file="a.py", line=3, public=True, samples=samples, why_not=why_not
    )


def benchmark() -> Benchmark:
    """Of a project whose names, reasons and failures are hostile or long."""
    return Benchmark(
        folder=f"bench {HOSTILE}",
        project="/" + "p" * 300,
        name=HOSTILE,
        version="1\u202e",
        licence={"name": HOSTILE, "where": "LICENSE"},
        interpreter=Interpreter(path="python", version="3.11.7", how=HOSTILE),
        tests={"passed": 3, "failed": 1},
        failing={f"tests/test_a.py::test_{HOSTILE}": "\x1b[31m" + "w" * 900},
        network=("tests/test_a.py::test_far",),
        missing=(Missing(what=f"fixture {HOSTILE}", package="pytest-mock", tests=2),),
        recorded=9,
        kinds=tuple(map(kind, KINDS)),
        functions=(function("f" * 200), function(HOSTILE), function("g", HOSTILE)),
        calls_left_out={"not drawn": 1234567},
        not_repeatable=1,
        packages={"pytest": "9"},
        tracer="reference",
        settings={"seed": 0},
        wall_s={"recording": 3.0},
        own_s=1.0,
        cost_s=2.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_page_is_read_on_any_screen(page: Page, scheme: str, width: int) -> None:
    """It fits, also with all its parts open; hostile text is text; each kind has its row."""
    page.resize(scheme, width)
    try:
        page.show(bench_page(benchmark()), "h1")
        assert page.fits()
        page.js("for (const d of document.querySelectorAll('details')) d.open = true")
        assert page.fits()
        told = page.js("return document.body.innerText")
        assert HOSTILE in told
        assert not {"\u202e", "\x1b"} & {*told}
        assert (
            page.js("return document.querySelectorAll('main img, main script, main iframe, main a').length")
            == 0
        )
        assert page.browser.title.startswith("A benchmark of")
        assert page.texts("td b") == [*KINDS]
        assert page.texts(".good") == ["1.000"] * len(KINDS)
        assert page.text(".figure:nth-child(3)").startswith("67 %")
        paper = page.js("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
    finally:
        page.resize_back()
