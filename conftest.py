"""The tests of deskcheck and of its packages are one namespace, `tests`.

It is imported here. Otherwise pytest makes a module of that name of the first of these folders, and does not
find the modules of the others.
"""

from collections import Counter
from pathlib import Path

import pytest

import tests  # noqa: F401

SLOWEST = 40
"""Test functions that `--slowest` names."""


class Slowest:
    """Writes the seconds of each test function, with set-up and all parameters, when the tests have ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("[")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        rows = [f'"{name}" = {seconds:.1f}\n' for name, seconds in self.seconds.most_common(SLOWEST)]
        self.path.write_text(
            f"# The {SLOWEST} slowest tests, in seconds: `make slowest` writes them.\n" + "".join(rows)
        )


class Passed:
    """Writes the tests that passed, when all have ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.passed: set[str] = set()
        self.others: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.others.add(report.nodeid)
        elif report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(f"{name}\n" for name in sorted(self.passed - self.others)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slowest", type=Path, metavar="FILE", help="write the seconds of the slowest tests into FILE"
    )
    parser.addoption("--passed", type=Path, metavar="FILE", help="write the tests that passed into FILE")
    parser.addoption("--not-again", type=Path, metavar="FILE", help="leave out the tests that FILE names")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    for option, writer in (("--slowest", Slowest), ("--passed", Passed)):
        if (path := config.getoption(option)) is not None:
            config.pluginmanager.register(writer(path), option)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    path = config.getoption("--not-again")
    if path is None or not path.exists():
        return
    names = set(path.read_text().splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
    items[:] = [item for item in items if item.nodeid not in names]
