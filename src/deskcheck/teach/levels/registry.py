"""Levels of help from other packages, with functions that train, open and run their models.

A level says how much a machine helps a model that runs programs (docs/explanation/levels.md). deskcheck has
one level, `ALONE`, for the models of `small` and `pretrained`. A package adds levels, or ways to train
models, by an entry point:

    [project.entry-points."deskcheck.levels"]
    processor = "deskcheck_levels.cli.levels:PROCESSOR"
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.errors import InputError
from deskcheck.extensions import Registry, missing_companion

if TYPE_CHECKING:
    from deskcheck.recording import Recording
    from deskcheck.teach.small.interpreter import StepModel

ALONE = "alone"
"""The level without help: the model receives the program and a state, and writes the next state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpLevel:
    """A level of help, as `teach --steps-of` and `models step` use it."""

    name: str
    """The value of --level."""
    settings: type[Any]
    """A dataclass of settings for the training. `deskcheck teach` sets the fields that it has options for."""
    teach: Callable[..., None]
    """Trains a model: (source, out, settings, *, any_licence). The source is text, as `record` takes it."""
    step: Callable[..., None] | None = None
    """Runs recordings and prints scores: (model, recordings, budget, *, one, as_json). None at `ALONE`."""
    open_model: Callable[[Path], "StepModel"] | None = None
    """Opens a folder with the weights ``NAME.npz``, for stepping at `ALONE`."""


LEVELS: Registry[HelpLevel] = Registry("levels", HelpLevel, ())


def level_of(name: str) -> HelpLevel:
    """The level of that name. Raises InputError if no installed package has it."""
    if name in LEVELS:
        return LEVELS[name]
    raise missing_companion(name, f"The level {name}") or InputError(
        f"--level {name}: unknown level. Installed are {', '.join(dict.fromkeys([ALONE, *LEVELS]))}."
    )


def step_at(
    name: str, model: str, recordings: "Sequence[Recording]", budget: int | None, *, one: bool, as_json: bool
) -> None:
    """Run recordings at a level other than `ALONE` and print scores. Raises InputError, like `level_of`."""
    step = level_of(name).step
    if step is None:
        raise InputError(f"--level {name}: only trains models and cannot run them: leave --level out.")
    step(model, recordings, budget, one=one, as_json=as_json)


def opened_by_a_level(folder: Path) -> "StepModel | None":
    """The model of a folder, opened by the level in the name of its weights, for example ``alone.npz``.

    None if no weights have such a name. Raises InputError if the package of the level is not installed.
    """
    for file in sorted(folder.glob("*.npz")):
        level = LEVELS.get(file.stem)
        if level is not None and level.open_model is not None:
            return level.open_model(folder)
        if missing := missing_companion(file.stem, f"The model in {folder}"):
            raise missing
    return None
