"""Cells tried out in the states of a notebook, each in a fork of the state, which does not change.

    with Trials(trajectory, folder="notebooks") as trials:
        place = trials.at(7)                     # before step 7 of the trajectory
        place.run("df.mean()").outputs           # what a cell does there
        place.score("df.mean(axis=0)").score      # 1: it does the same as the trajectory's cell

Earlier cells run once, in a session of the sandbox. A state with threads, children or files open for writing
cannot be forked; `TrialPlace.refusal` reports it. A candidate could forge its report, as it shares its
process with the code that reports. It would gain nothing: the true cell's results are never in that process.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, MissingExtra, SandboxError, ServerLost
from deskcheck.notebook.kernel.folders import HOME
from deskcheck.notebook.kernel.replayer import inside_of, refusal_of
from deskcheck.notebook.state.capture import StateLimits
from deskcheck.notebook.state.names import Later, read_later
from deskcheck.notebook.state.settings import LibrarySetting
from deskcheck.notebook.trajectory.markers import skipped_cells
from deskcheck.notebook.trajectory.trajectory import Execution, Output, Restart, Status, Step, Trajectory
from deskcheck.notebook.trial.compare import Agreement, Difference, Trial, agreement, steady
from deskcheck.recording.outcome import Outcome
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.decoder import Forged, trial_digests, trial_report
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.process import Cancelled
from deskcheck.sandbox.sandbox import Provided, Sandbox
from deskcheck.sandbox.session import Piece, Session, SessionEnded, Snapshot
from deskcheck.tracer.limits import TraceLimits

_GRACE_S = 5.0
"""Seconds for a cell to obey the interrupt at its limit, until its process is ended."""
_ALL_S = 86_400.0
"""Seconds for all cells of one session. Each cell has a limit in addition."""
_REPORT_CHARS = 1 << 26
_MOST_FILES = 100
_NOT_COMPARED = ("__pycache__", ".ipynb_checkpoints", ".cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLimits:
    """Bounds on cells that are tried out."""

    cell_s: float = 60.0
    """Wall and CPU time of each earlier cell."""
    trial_s: float = 20.0
    """Wall and CPU time of each tried cell. It is interrupted then, and its process ended 5 s later."""
    memory_bytes: int = 4 << 30
    """Memory of all processes, with the saved state."""
    output_chars: int = 1 << 20
    """Characters of a cell's outputs."""
    state: StateLimits = field(default_factory=lambda: StateLimits(time_s=2.0, items=1000, objects=1000))
    """Bounds on the look at variables."""


class Trials:
    """Tries cells out in the states of a notebook. Use it as a context manager, from one thread.

    folder: the folder that is copied for the notebook (`replay`).
    modules: modules that are imported before the first cell, installed or from that folder, such as those
    that register settings.

    Raises InputError: the notebook is not for Python, or the folder is missing. MissingExtra: IPython is not
    installed. SandboxError: the level is not available.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        *,
        limits: TrialLimits | None = None,
        confinement: Confinement = Confinement.STRICT,
        folder: str | os.PathLike[str] | None = None,
        modules: Sequence[str] = (),
        hash_seed: int = 0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        if find_spec("IPython") is None:
            raise MissingExtra("IPython", "notebook", "trying cells out")
        refusal = refusal_of(trajectory)
        if refusal is not None:
            raise InputError(f"{trajectory.id}: {refusal}.")
        if folder is not None and not Path(folder).is_dir():
            raise InputError(f"{trajectory.id}: folder={str(folder)!r} is not a folder.")
        self.trajectory = trajectory
        self.limits = limits or TrialLimits()
        self._cancelled = cancelled
        self._settings = {
            "folder": None if folder is None else str(Path(folder).resolve()),
            "inside": inside_of(trajectory, folder),
            "state": asdict(self.limits.state),
            "modules": list(modules),
        }
        self._sandbox = Sandbox(
            confinement,
            workers=1,
            provided=Provided(
                modules=("deskcheck.notebook.trial.process",),
                readable=("/etc/fonts",),
                folders=() if folder is None else (str(Path(folder).resolve()),),
            ),
            hash_seed=hash_seed,
        )
        self._steps: Sequence[Step] = trajectory.steps
        self._skipped = skipped_cells(trajectory.cells)
        self._session: Session | None = None
        self._next = 0
        """Index of the next step: the session has the state before it."""
        self._snapshot: Snapshot | None = None
        self._is_unchanged = True
        self._strayed: str | None = None
        self._lives = 0
        """Number of lost sessions that were replaced."""

    def __enter__(self) -> "Trials":
        self._sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self._sandbox.close()

    def at(self, step: int) -> "TrialPlace":
        """The state before a step of the trajectory, which must be an execution. Going forward runs the cells
        in between. Going back starts from the first cell.

        Raises InputError: the step is not an execution. Cancelled.
        """
        if not 0 <= step < len(self._steps) or not isinstance(self._steps[step], Execution):
            raise InputError(f"{self.trajectory.id}: step {step} is not the execution of a cell.")
        if step < self._next:
            self._next, self._strayed = 0, None
            self._fresh()
        self._back()
        if self._snapshot is not None and step > self._next:
            assert self._session is not None
            self._session.drop(self._snapshot)
            self._snapshot = None
        self._go_on_to(step)
        return TrialPlace(self, step)

    # -- the session -------------------------------------------------------------------------------

    def _fresh(self) -> Session:
        """A new session, which replaces the old one."""
        if self._session is not None:
            self._session.close()
        limits = self._bounds(self.limits.cell_s)
        session = self._sandbox.session(limits=limits, cpu_s=_ALL_S, wall_s=_ALL_S, cancelled=self._cancelled)
        begun = session.run(
            f"from deskcheck.notebook.trial.process import begin, cell, digests\nbegin({self._settings!r})"
        )
        if begun.outcome is not Outcome.RETURNED:
            session.close()
            raise SandboxError(
                f"cells cannot be tried out: {begun.run_result.detail} {begun.run_result.stderr[-2000:]}"
            )
        self._session, self._snapshot, self._is_unchanged = session, None, True
        return session

    def _bounds(self, seconds: float) -> Limits:
        return Limits(
            cpu_s=seconds + _GRACE_S,
            wall_s=seconds + _GRACE_S,
            memory_bytes=self.limits.memory_bytes,
            output_bytes=8 << 20,
        )

    def _go_on_to(self, step: int) -> None:
        while self._next < step:
            self._go_on(self._steps[self._next])
            self._next += 1

    def _go_on(self, step: Step) -> None:
        """Do a step of the trajectory."""
        if isinstance(step, Restart):
            self._fresh()
        if not isinstance(step, Execution) or not step.source.strip() or step.cell in self._skipped:
            return
        trial = self._run(step.source, self.limits.cell_s)
        self._strayed = self._strayed or self._other_ending(self._next, step, trial)
        if self._session is None or self._session.ended is not None:
            self._fresh()  # as a kernel that died is replaced

    def _other_ending(self, number: int, step: Execution, trial: Trial) -> str | None:
        """A message if deskcheck recorded the trajectory and a cell ends with a different status now."""
        if self.trajectory.environment is None or trial.status is step.status:
            return None
        return f"step {number} ended as {trial.status}, but as {step.status} in the trajectory"

    def _run(self, source: str, seconds: float) -> Trial:
        session = self._session or self._fresh()
        code = f"cell({source!r}, {seconds!r}, {self.limits.output_chars})"
        piece = session.run(code, limits=self._bounds(seconds), trace_limits=_WHOLE)
        trial = _trial(source, piece)
        names = _files(piece)
        if names and session.ended is None and trial.status in (Status.OK, Status.ERROR):
            wrote = [name for name, kind in names.items() if kind != "removed"][:_MOST_FILES]
            digested = session.run(f"digests({wrote!r})", limits=self._bounds(seconds), trace_limits=_WHOLE)
            by_path = _said(digested, trial_digests) or {}
            files = {name: kind if kind == "removed" else by_path.get(name) for name, kind in names.items()}
            trial = replace(trial, files=files)
        return trial

    def _hold(self) -> str | None:
        """Save the state. Returns the reason if that is not possible."""
        if self._snapshot is None:
            try:
                self._snapshot = (self._session or self._fresh()).snapshot()
            except SandboxError as error:
                return str(error)
        return None

    def _back(self) -> None:
        """Restore the saved state."""
        if not self._is_unchanged:
            assert self._session is not None
            assert self._snapshot is not None
            try:
                self._session.restore(self._snapshot)
            except (SessionEnded, ServerLost):
                self._live_again()
            self._is_unchanged = True

    def _live_again(self) -> None:
        """Reach the same state in a new session."""
        self._lives += 1
        step, self._next, self._strayed = self._next, 0, None
        self._fresh()
        self._go_on_to(step)
        reason = self._hold()
        if reason is not None:
            raise SandboxError(reason)

    def _try(self, source: str) -> Trial:
        self._back()
        self._is_unchanged = False
        try:
            return self._run(source, self.limits.trial_s)
        except ServerLost:  # says nothing about the cell
            self._live_again()
            return self._run(source, self.limits.trial_s)


@dataclass(slots=True)
class TrialPlace:
    """The state before an execution of the trajectory, until `Trials.at` is called again."""

    trials: Trials
    step: int
    _refusal: str | None = None
    _true: Trial | None = None
    _later: Later | None = None
    _life: int = 0
    """Number of the session of `_true` and `_refusal`. Another session may draw different numbers."""

    @property
    def execution(self) -> Execution:
        """The true cell, as it ran in the trajectory."""
        step = self.trials._steps[self.step]
        assert isinstance(step, Execution)
        return step

    def run(self, source: str) -> Trial:
        """Run a cell in a fork of the state. Raises SandboxError: the state cannot be forked. Cancelled."""
        if self.trials._next != self.step:
            raise InputError(
                f"the state before step {self.step} is gone: Trials.at has moved to step {self.trials._next}."
            )
        reason = self.trials._hold()
        if reason is not None:
            raise SandboxError(reason)
        return self.trials._try(source)

    @property
    def later(self) -> Later:
        """The names that the trajectory reads after the true cell, until its next restart."""
        if self._later is None:
            before: list[str] = []
            after: list[str] = []
            for number, step in enumerate(self.trials._steps):
                if isinstance(step, Execution):
                    (before if number <= self.step else after).append(step.source)
                elif isinstance(step, Restart):
                    if number > self.step:
                        break
                    before.clear()
            self._later = read_later(after, before)
        return self._later

    @property
    def true(self) -> Trial:
        """The result of the true cell in this state."""
        if self._true is None or self._life != self.trials._lives:
            self._true = self.run(self.execution.source)
            self._life = self.trials._lives
        return self._true

    @property
    def refusal(self) -> str | None:
        """Why no cell can be scored here. None if it can. Runs the true cell twice, and an empty one.

        Reasons: the state cannot be forked; this cell or an earlier one ended with a different status than in
        deskcheck's recording; the true cell does not end, differs between runs, or has no visible effect.
        """
        if self._refusal is None or self._life != self.trials._lives:
            self._refusal = self._find_refusal()
        return self._refusal or None

    def _find_refusal(self) -> str:
        if self.trials._strayed is not None:
            return self.trials._strayed
        try:
            true = self.true
            strayed = self.trials._other_ending(self.step, self.execution, true)
            if strayed is not None:
                return strayed
            second = self.run(self.execution.source)
            true = self._true = steady(true, second)
            again = agreement(true, second, self.later)
            if again.score is None:
                return again.why[0].detail
            if again.score == 0:
                kinds = ", ".join(dict.fromkeys(difference.kind for difference in again.why))
                return f"two runs of the true cell differ: {kinds}"
            if agreement(true, self.run(""), self.later).score != 0:
                return "the true cell has no visible effect"
        except Cancelled:
            raise
        except SandboxError as error:
            return f"no fork: {error}"
        return ""

    def score(self, source: str) -> Agreement:
        """Whether a cell does the same as the true cell in this state. Raises Cancelled."""
        if self.refusal is not None:
            return Agreement(None, (Difference("unscored", detail=self.refusal),))
        trial = self.run(source)
        if self._life != self.trials._lives:
            if self.refusal is not None:
                return Agreement(None, (Difference("unscored", detail=self.refusal),))
            trial = self.run(source)
        return agreement(self.true, trial, self.later)


# -- the result of a piece -------------------------------------------------------------------------

_WHOLE = TraceLimits(text_chars=_REPORT_CHARS)
_ENDED = {
    Outcome.TIMED_OUT: Status.TIMED_OUT,
    Outcome.OUT_OF_MEMORY: Status.OUT_OF_MEMORY,
}


def _said(piece: Piece, read: Callable[[str], dict[str, Any]]) -> dict[str, Any] | None:
    """The report at the end of a piece. None if it is missing or forged."""
    if piece.outcome is not Outcome.RETURNED or piece.value is None or type(piece.value.atom) is not str:
        return None
    try:
        return read(piece.value.atom)
    except Forged:
        return None


def _trial(source: str, piece: Piece) -> Trial:
    run_result = piece.run_result
    report = _said(piece, trial_report)
    if report is not None and report["status"] in (Status.OK, Status.ERROR):
        return _reported(source, report, piece)
    return Trial(
        source=source,
        status=_ENDED.get(run_result.outcome, Status.DIED),
        detail=f"{run_result.outcome}: {run_result.detail}",
        wall_s=run_result.wall_s or 0.0,
        cpu_s=run_result.cpu_s or 0.0,
    )


def _reported(source: str, report: Mapping[str, Any], piece: Piece) -> Trial:
    outputs = [Output(**output) for output in report["outputs"]]
    for name, text in (("stdout", piece.run_result.stdout), ("stderr", piece.run_result.stderr)):
        if text:
            outputs.append(Output(type="stream", name=name, text=text))
    error = next((output for output in outputs if output.type == "error"), None)
    status = Status(report["status"])
    if report["late"]:  # whatever caught the interrupt
        status = Status.TIMED_OUT
    elif status is Status.ERROR and error is not None:
        status = Status.of_error(error.name)
    state = report["state"]
    return Trial(
        source=source,
        status=status,
        outputs=tuple(outputs),
        variables={name: {**row} for name, row in state["variables"].items() if row["hash"] and row["type"]},
        removed=tuple(state.get("removed", ())),
        unseen=state.get("unseen", 0),
        inside=report["inside"],
        aliases=tuple(tuple(names) for names in report["aliases"]),
        settings={name: LibrarySetting(*facts) for name, facts in report["settings"].items()},
        wall_s=piece.run_result.wall_s or 0.0,
        cpu_s=piece.run_result.cpu_s or 0.0,
    )


def _files(piece: Piece) -> dict[str, str]:
    """Path below the program's folder -> change of that file of the notebook's folder by a piece."""
    kinds: dict[str, str] = {}
    for kind in ("created", "changed", "removed"):
        for name in getattr(piece.files, kind):
            parts = name.split("/")
            if parts[0] == HOME and len(parts) > 1 and parts[1] and not {*parts} & {*_NOT_COMPARED}:
                kinds[name] = kind
    return kinds
