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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slowest", type=Path, metavar="FILE", help="write the seconds of the slowest tests into FILE"
    )


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--slowest")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Slowest(path), "slowest")
