"""What decides how a model that works alone is trained."""

from dataclasses import dataclass
from typing import Annotated

from deskcheck.settings import Setting
from deskcheck_levels.reader.settings import ReaderTraining


@dataclass(frozen=True, slots=True, kw_only=True)
class AloneTraining(ReaderTraining):
    """How a model of the level `alone` is trained on lessons with a working: as one of the level `reader`,
    but longer, and on fewer lessons at a time, as they are longer."""

    steps: Annotated[int, Setting("Updates; with --model, without it as many as --epochs takes.", min=1)] = (
        36_000
    )
    """Updates."""
    batch_size: Annotated[int, Setting("Lessons of an update.", min=1)] = 32
    """Lessons of an update."""
    look_every: int = 400
    """Steps between two looks at lessons that are not trained, at which the run is saved."""
