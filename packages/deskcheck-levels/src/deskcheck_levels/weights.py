"""Files of weights that numpy reads, for the models of the levels that run without torch."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskcheck.errors import InputError
from deskcheck.files import disk_errors, read_json
from deskcheck_levels.levels import Level

Weights = dict[str, NDArray[Any]]


def save(file: Path, weights: Mapping[str, NDArray[Any]], about: dict[str, Any]) -> None:
    """Write weights in 16 bits and their description, with the meaning of tokens as ``words``.

    Raises RecordingError.
    """
    part = file.with_name(file.name + ".part")
    with disk_errors(file, "save the model"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as out:
            arrays: dict[str, Any] = {name: weight.astype(np.float16) for name, weight in weights.items()}
            np.savez_compressed(out, about=np.array(json.dumps(about)), **arrays)
        part.replace(file)


def load(
    file: Path, level: Level, words: Sequence[str], names: Sequence[str] | None = None
) -> tuple[Weights, dict[str, Any]]:
    """The weights in a file by `save`, in 16 bits, and their description.

    names: the required weights; None: all in the file. Raises InputError if the file has no model of the
    level, or a model with other words.
    """
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            about = read_json(str(arrays["about"]))
            weights = {name: arrays[name] for name in names or arrays.files if name != "about"}
        its_words = about["words"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{file}: has no model of the level {level.value} ({type(error).__name__}: {error}). `deskcheck "
            f"teach --steps-of GENERATOR --level {level.value} --out FOLDER` makes one."
        ) from error
    if its_words != list(words):
        raise InputError(f"{file}: was trained with other words than this deskcheck uses. Train it again.")
    return weights, about
