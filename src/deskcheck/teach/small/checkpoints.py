"""A trained model from its folder, as a network that can be run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deskcheck.recording import InputError, MissingExtra
from deskcheck.teach.lessons.tokens import EDITS, EDITS_READ, Bytes, Edits, Tokenizer, Words
from deskcheck.teach.small.interpreter import ModelRows, Network
from deskcheck.teach.small.runtime import GRAPH, OnnxNetwork

NANO = "nano"
"""Name of the model in the package, with its card."""
WEIGHTS = "model.safetensors"
"""As in `model`, which cannot be imported without torch."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that can be run, its tokenizer, and what its folder says about it."""

    network: Network
    tokenizer: Tokenizer
    about: dict[str, Any]

    def read(self, programs: Sequence[str], longest: int = 2048) -> ModelRows:
        """As `StepModel.read`."""
        return ModelRows(self.network, self.tokenizer, programs, longest)

    def refuse_untaught(self, notation: str, jumps: Sequence[int] = ()) -> None:
        """Raise InputError for a notation, or jumps, that the model was not taught; not where its folder does
        not say what it was taught, as older ones do not."""
        taught = self.about.get("taught", {})
        notations, known_jumps = taught.get("notations", [notation]), taught.get("jumps", jumps)
        if notation not in notations:
            raise InputError(
                f"the model was taught {', '.join(notations)}, and is asked in {notation}. Ask it in what it "
                f"was taught, or train one on lessons made with --notation {notation}."
            )
        if unknown := sorted(set(jumps) - set(known_jumps)):
            raise InputError(
                f"the model was taught jumps of {', '.join(map(str, known_jumps))} events, and is asked for "
                f"{', '.join(map(str, unknown))}. Make lessons with --jump to train one that knows them."
            )


def folder_of(name: str | Path) -> Path:
    """Where the model of that name is: a folder, or that of the one that the package brings."""
    return Path(__file__).parents[1] / NANO if str(name) == NANO else Path(name)


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder has a model that `open_checkpoint` opens."""
    return any((folder / name).is_file() for name in (GRAPH, WEIGHTS))


def open_checkpoint(name: str | Path, device: str = "cpu") -> Checkpoint:
    """The model of a folder that `deskcheck teach` or `export` wrote, or that the package brings,
    by its name ``nano``. A graph is run by ONNX Runtime, and needs no torch.

    Raises:
        InputError: the folder holds no such model.
        MissingExtra: what runs it is not installed.
    """
    folder = folder_of(name)
    if (folder / GRAPH).is_file():
        graph = OnnxNetwork(folder / GRAPH)
        return Checkpoint(graph, _tokenizer(graph.about, folder), graph.about)
    if not (folder / WEIGHTS).is_file():
        raise InputError(
            f"{folder}: holds no model of deskcheck (neither {GRAPH} nor {WEIGHTS}). "
            "`deskcheck teach LESSONS --out FOLDER` makes one; the package brings 'nano'."
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
                f"{folder}: was trained with edits of version {edits!r}, and this deskcheck has {EDITS}. "
                "Train it anew."
            )
        return Edits(words, edits) if edits else words
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: its tokenizer {description!r} is not one that is known here.") from error
