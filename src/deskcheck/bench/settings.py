"""What decides a benchmark of a project's tests."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What decides a benchmark of a project's tests."""

    python: Annotated[
        str | None,
        Setting("The interpreter to run the tests with. If it lacks pytest, an environment is made from it."),
    ] = None
    packages: Annotated[
        tuple[str, ...],
        Setting(
            "A package that the tests need but the project's files do not name. May be given again.",
            flag="--with-package",
            metavar="REQUIREMENT",
        ),
    ] = ()
    per_function: Annotated[int, Setting("Number of calls to keep for a function.", min=1)] = 5
    seed: Annotated[int, Setting("Seed for choosing calls and questions.")] = 0
    inputs: Annotated[
        bool,
        Setting(
            "Make inputs for public functions that have no questions from calls of the tests, and try them "
            "in the sandbox."
        ),
    ] = True
    replace: Annotated[
        bool, Setting("Make the benchmark again in this folder, for a changed project or changed options.")
    ] = False
