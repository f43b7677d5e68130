"""The two hooks that pytest loads in every run. They import nothing without ``--deskcheck`` or
``--deskcheck-notebooks``."""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("deskcheck", "trace pages of failed tests")
    group.addoption(
        "--deskcheck",
        action="store_true",
        help="Record the calls of tests into the project's code. Link a trace page of the last call of each "
        "failed test.",
    )
    group.addoption(
        "--deskcheck-folder",
        metavar="FOLDER",
        help="Folder for the pages, instead of pytest's cache folder.",
    )
    group.addoption(
        "--deskcheck-package",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="Record calls into this package, wherever it is installed, instead of code below the root "
        "folder. May be given again.",
    )
    group.addoption(
        "--deskcheck-events",
        type=int,
        default=100_000,
        metavar="N",
        help="Maximum number of recorded events of one call (100,000).",
    )
    group.addoption(
        "--deskcheck-repetitions",
        type=int,
        default=1000,
        metavar="N",
        help="Maximum number of times that a line of a frame is recorded (1000). Further repetitions are "
        "only counted.",
    )
    group.addoption(
        "--deskcheck-seconds",
        type=float,
        default=10.0,
        metavar="N",
        help="CPU seconds of a test, with recording, after which further calls are not recorded (10).",
    )
    notebooks = parser.getgroup("deskcheck-notebooks", "notebooks as tests")
    notebooks.addoption(
        "--deskcheck-notebooks",
        action="store_true",
        help="Run notebooks again. Each code cell is a test that its output equals the stored one.",
    )
    notebooks.addoption(
        "--deskcheck-notebooks-options",
        action="append",
        default=[],
        metavar="OPTIONS",
        help="Options of `deskcheck notebooks check` for running and comparing notebooks, quoted: '--runs 2 "
        "--cell-s 30'. May be given again.",
    )
    parser.addini(
        "deskcheck_notebooks_options", "The same options, before those of the command line.", "args", []
    )


def pytest_configure(config: Any) -> None:
    if config.getoption("deskcheck"):
        from deskcheck.pytest_plugin.pages import register

        register(config)
    if config.getoption("deskcheck_notebooks"):
        from deskcheck.pytest_plugin.notebooks import register as register_notebooks

        register_notebooks(config)
