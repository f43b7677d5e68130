"""What pytest loads in every run: two hooks, which import nothing while ``--deskcheck`` and
``--deskcheck-notebooks`` are not given."""

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
    notebooks = parser.getgroup("deskcheck-notebooks", "notebooks as tests")
    notebooks.addoption(
        "--deskcheck-notebooks",
        action="store_true",
        help="Run notebooks again. Each code cell is a test: it gives the output that is stored in the file.",
    )
    notebooks.addoption(
        "--deskcheck-notebooks-options",
        action="append",
        default=[],
        metavar="OPTIONS",
        help="Options of `deskcheck notebooks check` that decide how notebooks are run and compared, in "
        "quotes: '--runs 2 --cell-s 30'. May be given again.",
    )
    parser.addini("deskcheck_notebooks_options", "The same, before those of the command line.", "args", [])


def pytest_configure(config: Any) -> None:
    if config.getoption("deskcheck"):
        from deskcheck.pytest_plugin.pages import register

        register(config)
    if config.getoption("deskcheck_notebooks"):
        from deskcheck.pytest_plugin.notebooks import register as register_notebooks

        register_notebooks(config)
