"""A trained model from its folder, as a network that can be run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.notation.layout import STEPWISE
from deskcheck.recording import InputError, MissingExtra
from deskcheck.teach.lessons.tokens import EDITS, EDITS_READ, Bytes, Edits, Tokenizer, Words
from deskcheck.teach.small.interpreter import ModelRows, Network
from deskcheck.teach.small.runtime import GRAPH, OnnxNetwork
from deskcheck.teach.small.traces import TRACES

NANO = "nano"
"""Name of the model in the package, with its card."""
WEIGHTS = "model.safetensors"
"""The same name as in `model`, which needs torch to be imported."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that can be run, its tokenizer, and what its folder says about it."""

    network: Network
    tokenizer: Tokenizer
    about: dict[str, Any]

    def read(self, programs: Sequence[str], longest: int = 2048) -> ModelRows:
        """See `StepModel.read`."""
        return ModelRows(self.network, self.tokenizer, programs, longest)

    @property
    def step_notation(self) -> str | None:
        """See `StepModel.step_notation`."""
        taught = self.about.get("taught", {}).get("notations", ())
        return next((notation for notation in (*STEPWISE, *TRACES) if notation in taught), None)

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """Raise InputError for a notation or jumps that the model was not taught.

        Folders of earlier versions do not say what the model was taught; then nothing is refused.
        """
        taught = self.about.get("taught", {})
        notations, known_jumps = taught.get("notations", [notation]), taught.get("jumps", jumps)
        if notation not in notations:
            raise InputError(
                f"the model was taught {', '.join(notations) or 'no notation'}, but is asked in {notation}. "
                "Choose a notation that it was taught, or train a model on lessons made with --notation "
                f"{notation}."
            )
        if unknown := sorted(set(jumps) - set(known_jumps)):
            raise InputError(
                f"the model was taught jumps of {', '.join(map(str, known_jumps))} events, but is asked for "
                f"{', '.join(map(str, unknown))}. Make lessons with --jump to train a model that knows them."
            )


def folder_of(name: str | Path) -> Path:
    """The folder of a model. ``nano`` is the model in the package."""
    return Path(__file__).parents[1] / NANO if str(name) == NANO else Path(name)


def is_checkpoint(folder: Path) -> bool:
    """Whether `open_checkpoint` can open the model of a folder."""
    return any((folder / name).is_file() for name in (GRAPH, WEIGHTS))


def open_checkpoint(name: str | Path, device: str = "cpu") -> Checkpoint:
    """The model in a folder that `deskcheck teach` or `export` wrote, or ``nano``, the model in the package.

    ONNX Runtime runs a graph, without torch.

    Raises:
        InputError: the folder has no such model.
        MissingExtra: torch or ONNX Runtime is not installed.
    """
    folder = folder_of(name)
    if (folder / GRAPH).is_file():
        graph = OnnxNetwork(folder / GRAPH)
        return Checkpoint(graph, _tokenizer(graph.about, folder), graph.about)
    if not (folder / WEIGHTS).is_file():
        raise InputError(
            f"{folder}: has no model of deskcheck (neither {GRAPH} nor {WEIGHTS}). `deskcheck teach LESSONS "
            "--out FOLDER` makes one; 'nano' is the model in the package."
        )
    try:
        from deskcheck.teach.small.model import Model
        from deskcheck.teach.small.networks import TorchNetwork
    except ImportError as error:
        raise MissingExtra(str(error.name), "teach", f"Running the model in {folder}") from error
    model, about = Model.load(folder)
    return Checkpoint(TorchNetwork(model, device), _tokenizer(about, folder), about)


def _tokenizer(about: dict[str, Any], folder: Path) -> Tokenizer:
    description = about.get("tokenizer", "bytes")
    if description == "bytes":
        return Bytes()
    try:
        words, edits = Words(description["words"]), description.get("edits")
        if edits != 0 and edits not in EDITS_READ:
            raise InputError(
                f"{folder}: was trained with edits of version {edits!r}; this deskcheck has version {EDITS}. "
                "Train it again."
            )
        return Edits(words, edits) if edits else words
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: has an unknown tokenizer, {description!r}.") from error
