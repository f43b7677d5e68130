"""What decides a benchmark of a project's tests."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What decides a benchmark of a project's tests."""

    python: Annotated[
        str | None,
        Setting(
            "The interpreter that has what the tests need; of one without pytest an environment is made."
        ),
    ] = None
    packages: Annotated[
        tuple[str, ...],
        Setting(
            "A package that the tests need and the project's files do not name. May be given again.",
            flag="--with-package",
            metavar="REQUIREMENT",
        ),
    ] = ()
    per_function: Annotated[int, Setting("Calls of one function that are kept.", min=1)] = 5
    seed: Annotated[int, Setting("Which calls and which questions are drawn.")] = 0
    inputs: Annotated[
        bool,
        Setting(
            "Make inputs for public functions of which no call of the tests can be asked about, and try them "
            "in the sandbox."
        ),
    ] = True
    replace: Annotated[
        bool, Setting("Make anew what the folder holds: the project or the options have changed.")
    ] = False
