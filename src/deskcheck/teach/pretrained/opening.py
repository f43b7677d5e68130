"""Opens the model of a name, to step programs with it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, MissingExtra
from deskcheck.teach.levels.registry import opened_by_a_level
from deskcheck.teach.small.checkpoints import folder_of, is_checkpoint, open_checkpoint
from deskcheck.teach.small.interpreter import StepModel
from deskcheck.teach.small.runtime import GRAPH

HUGGING_FACE = "hf/"
_ARGUMENTS = frozenset({"device", "dtype"})


@contextmanager
def step_model(name: str, *, explain: bool, arguments: Mapping[str, Any]) -> Iterator[StepModel]:
    """The model of a name, open inside the `with` block.

    ``nano``, a folder of `deskcheck teach`, ``hf/NAME`` and folders of Hugging Face models run here. Any
    other ``PROVIDER/NAME`` is asked through Inspect AI. explain: put an explanation of the notation before
    prompts. arguments: device and dtype of a Hugging Face model, or arguments of the provider.

    Raises:
        InputError: the model does not exist, or does not take these arguments.
        MissingExtra: a package that runs the model is not installed.
    """
    folder = folder_of(name)
    if name.startswith(HUGGING_FACE) or _is_hugging_face(folder):
        yield _transformer(name.removeprefix(HUGGING_FACE), explain, arguments)
    elif folder.is_dir() or "/" not in name:
        if explain or arguments:
            raise InputError(f"{name}: is a model of deskcheck: leave --explain and --model-arg out.")
        try:
            opened = _of_ours(folder)
        except ImportError as error:
            raise MissingExtra(str(error.name), "nano", "Stepping a model") from error
        yield opened
    else:
        from deskcheck.ask.inspect.models import prepare

        (model,) = prepare([name], arguments)
        from deskcheck.teach.pretrained.served import ServedModel

        with ServedModel(model, explain=explain) as served:
            yield served


def _of_ours(folder: Path) -> StepModel:
    """A model that deskcheck or a level of another package trained."""
    opened = None if is_checkpoint(folder) else opened_by_a_level(folder)
    return open_checkpoint(folder) if opened is None else opened


def _is_hugging_face(folder: Path) -> bool:
    """Whether a folder contains a model that is not deskcheck's, or adapters of one."""
    if (folder / "adapter_config.json").is_file():
        return True
    config = folder / "config.json"
    return (
        config.is_file() and not (folder / GRAPH).is_file() and '"deskcheck"' not in config.read_text("utf-8")
    )


def _transformer(name: str, explain: bool, arguments: Mapping[str, Any]) -> StepModel:
    if unknown := sorted(set(arguments) - _ARGUMENTS):
        raise InputError(
            f"--model-arg {unknown[0]}: a Hugging Face model takes {' and '.join(sorted(_ARGUMENTS))}."
        )
    try:
        import peft  # noqa: F401

        from deskcheck.teach.pretrained.transformer import Transformer
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", f"Stepping {name}") from error
    return Transformer(name, explain=explain, **{key: str(value) for key, value in arguments.items()})
