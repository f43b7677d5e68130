"""Next cells scored by running: the predicted cell and the true one, each in a fork of the replayed state.

Done after all answers are there, notebook by notebook and from the top down: the cells before a place are run
once for all answers to it (`notebook.trial`). Where nothing can be said of a place (the true cell does not
agree with itself, the state cannot be forked), the answers to it have no such score:
`ScoredSample.by_running` is None, and they are not in the n of that metric.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from deskcheck.ask.answers.parsing import answer_in
from deskcheck.files import read_json
from deskcheck.notebook.trial.compare import Agreement
from deskcheck.recording import InputError, MissingExtra
from deskcheck.sandbox.confinement import Confinement


class AnsweredRow(Protocol):
    """A row of ``samples.parquet`` as far as it is needed here."""

    @property
    def id(self) -> str: ...
    @property
    def completion(self) -> str: ...
    @property
    def data(self) -> str: ...


def check_runs() -> None:
    """Raises MissingExtra where cells cannot be run, before a model is asked."""
    if find_spec("IPython") is None:
        raise MissingExtra("IPython", "notebook", "Running predicted cells")


@dataclass(frozen=True, slots=True)
class CellRun:
    """score: 1.0 if the cell does what the true cell does, 0.0 if not, None if that cannot be told. why: the
    first difference, or why it cannot be told; empty for 1."""

    score: float | None
    why: str = ""


def by_running(
    rows: Iterable[AnsweredRow], *, confinement: Confinement = Confinement.STRICT
) -> dict[tuple[str, str], CellRun]:
    """(sample id, completion) -> what came of it. An answer that cannot be read is run as an empty cell.

    Raises:
        RecordingError: a trajectory is gone or damaged.
        SandboxError: the level of confinement cannot be had here.
    """
    places: dict[str, dict[int, dict[tuple[str, str], None]]] = {}
    for row in rows:
        data = read_json(row.data, f"{row.id}: data")
        steps = places.setdefault(data["trajectory"], {})
        steps.setdefault(data["step"], {})[row.id, row.completion] = None
    found: dict[tuple[str, str], CellRun] = {}
    for file in sorted(places):
        found |= _of_notebook(file, places[file], confinement)
    return found


def _of_notebook(
    file: str, steps: Mapping[int, Mapping[tuple[str, str], None]], confinement: Confinement
) -> dict[tuple[str, str], CellRun]:
    from deskcheck.notebook.trajectory.file import read_trajectory
    from deskcheck.notebook.trial.trial import Trials

    found: dict[tuple[str, str], CellRun] = {}
    trajectory = read_trajectory(file)
    beside = Path(trajectory.path).parent if trajectory.path is not None else None
    try:
        trials = Trials(
            trajectory,
            confinement=confinement,
            folder=beside if beside is not None and beside.is_dir() else None,
        )
    except InputError as error:  # of another language
        return {answered: CellRun(None, str(error)) for answers in steps.values() for answered in answers}
    with trials:
        for step in sorted(steps):
            place = trials.at(step)
            scores: dict[str, CellRun] = {}
            for id_, completion in steps[step]:
                source = answer_in(completion) or ""
                if source not in scores:
                    scores[source] = _ran(place.score(source))
                found[id_, completion] = scores[source]
    return found


def _ran(given: Agreement) -> CellRun:
    first = given.why[0] if given.why else None
    why = "" if first is None else f"{first.kind} {first.name}: {first.detail}".replace(" :", ":")
    return CellRun(None if given.score is None else float(given.score), why[:_WHY_CHARS])


_WHY_CHARS = 500
