"""Next cells scored by running: the predicted cell and the true one, each in a fork of the replayed state.

This is done after all answers are there, notebook by notebook from the top down: the cells before a place run
once for all answers to it (`notebook.trial`). If nothing can be said about a place (the true cell does not
agree with itself, the state cannot be forked), `ScoredSample.by_running` is None.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from deskcheck.ask.answers.parsing import answer_in, unfenced
from deskcheck.files import read_json
from deskcheck.notebook.trial.compare import Agreement
from deskcheck.recording import InputError, MissingExtra
from deskcheck.sandbox.confinement import Confinement


class AnsweredRow(Protocol):
    """The columns of ``samples.parquet`` that are used here."""

    @property
    def id(self) -> str: ...
    @property
    def completion(self) -> str: ...
    @property
    def data(self) -> str: ...


def check_runs() -> None:
    """Raises MissingExtra if cells cannot be run, before a model is asked."""
    if find_spec("IPython") is None:
        raise MissingExtra("IPython", "notebook", "Running predicted cells")


@dataclass(frozen=True, slots=True)
class CellRun:
    """The comparison of a predicted cell with the true one."""

    score: float | None
    """1.0 if they do the same, 0.0 if not, None if that is unknown."""
    reason: str = ""
    """The first difference, or why the score is unknown."""


def by_running(
    rows: Iterable[AnsweredRow], *, confinement: Confinement = Confinement.STRICT
) -> dict[tuple[str, str], CellRun]:
    """(sample id, completion) -> its run. An answer that cannot be read is run as an empty cell.

    Raises:
        RecordingError: a trajectory is gone or damaged.
        SandboxError: the level of confinement is not available here.
    """
    places: dict[str, dict[int, dict[tuple[str, str], None]]] = {}
    for row in rows:
        data = read_json(row.data, f"{row.id}: data")
        steps = places.setdefault(data["trajectory"], {})
        steps.setdefault(data["step"], {})[row.id, row.completion] = None
    runs: dict[tuple[str, str], CellRun] = {}
    for file in sorted(places):
        runs |= _of_notebook(file, places[file], confinement)
    return runs


def _of_notebook(
    file: str, steps: Mapping[int, Mapping[tuple[str, str], None]], confinement: Confinement
) -> dict[tuple[str, str], CellRun]:
    from deskcheck.notebook.trajectory.file import read_trajectory
    from deskcheck.notebook.trial.trial import Trials

    runs: dict[tuple[str, str], CellRun] = {}
    trajectory = read_trajectory(file)
    folder = Path(trajectory.path).parent if trajectory.path is not None else None
    if folder is not None and not folder.is_dir():
        folder = None
    try:
        trials = Trials(trajectory, confinement=confinement, folder=folder)
    except InputError as error:  # of another language
        return {answered: CellRun(None, str(error)) for answers in steps.values() for answered in answers}
    with trials:
        for step in sorted(steps):
            trial = trials.at(step)
            scores: dict[str, CellRun] = {}
            for id_, completion in steps[step]:
                source = unfenced(answer_in(completion) or "")
                if source not in scores:
                    scores[source] = _ran(trial.score(source))
                runs[id_, completion] = scores[source]
    return runs


def _ran(agreement: Agreement) -> CellRun:
    first = agreement.why[0] if agreement.why else None
    reason = "" if first is None else f"{first.kind} {first.name}: {first.detail}".replace(" :", ":")
    return CellRun(None if agreement.score is None else float(agreement.score), reason[:_WHY_CHARS])


_WHY_CHARS = 500
