"""Which model a name means, where programs are to be stepped with it."""

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
    """The model of that name, until it is left.

    ``nano``, a folder of ours; ``hf/NAME`` or a folder of Hugging Face's: run here; any other
    ``PROVIDER/NAME``: asked through Inspect AI. explain: put an explanation of the notation before prompts.
    arguments: of Hugging Face's, device and dtype (`Transformer`); of others, what the provider takes.

    Raises:
        InputError: there is no such model, or it takes none of these arguments.
        MissingExtra: what runs it is not installed.
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
    """A model of deskcheck's: one that answers at once, or one that a level of another package trained."""
    opened = None if is_checkpoint(folder) else opened_by_a_level(folder)
    return open_checkpoint(folder) if opened is None else opened


def _is_hugging_face(folder: Path) -> bool:
    """Whether a folder holds a model that is not deskcheck's, or adapters of one."""
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
