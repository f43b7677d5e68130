"""What pytest loads in every run: two hooks, which import nothing while ``--deskcheck`` is not given."""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("deskcheck", "trace pages of failed tests")
    group.addoption(
        "--deskcheck",
        action="store_true",
        help="Record what tests call of the project's own code. Link a trace page of the last call of each "
        "failed test.",
    )
    group.addoption(
        "--deskcheck-folder",
        metavar="FOLDER",
        help="Where the pages go, instead of pytest's cache folder.",
    )
    group.addoption(
        "--deskcheck-package",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="The project's own code is this package, wherever it is installed, instead of what lies below "
        "the root folder. May be given again.",
    )
    group.addoption(
        "--deskcheck-events",
        type=int,
        default=100_000,
        metavar="N",
        help="Events recorded of one call (100,000).",
    )
    group.addoption(
        "--deskcheck-repetitions",
        type=int,
        default=1000,
        metavar="N",
        help="How often a line of a frame is recorded (1000). What a loop does beyond that is counted.",
    )
    group.addoption(
        "--deskcheck-seconds",
        type=float,
        default=10.0,
        metavar="N",
        help="CPU time of a test, with recording, after which its further calls are not recorded (10).",
    )


def pytest_configure(config: Any) -> None:
    if config.getoption("deskcheck"):
        from deskcheck.failures.pages import register

        register(config)
