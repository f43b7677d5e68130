"""Runs recorded programs from the start in a machine that asks a model, and counts its questions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deskcheck.ask.results.steps import PredictedRun, Steps, steps_of
from deskcheck.recording import Recording
from deskcheck_levels.machine.machine import Machine, OnLine
from deskcheck_levels.machine.runs import MachineRun, run_recorded
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.judging import JudgedArithmetic
from deskcheck_levels.processor import network

MOST = 10_000_000
"""Line events of a run, where no other number is given."""


class Processor:
    """A model of the level `processor` that machines share: what one has asked, no other asks again.

    judged: look at how operations are worked out, too (`paper.judging`).
    """

    def __init__(self, folder: Path, *, remember: bool = True, judged: bool = False) -> None:
        self.network = network.load(folder / network.FILE, remember=remember)
        kind = JudgedArithmetic if judged else Arithmetic
        self.arithmetic: Arithmetic = kind(self.network, remember=remember)

    def machine(self, line: OnLine | None = None, steps: int | None = None) -> Machine:
        """A machine that asks this model."""
        return Machine(self.arithmetic, line=line, steps=steps)

    def counts(self) -> dict[str, int]:
        """Counts of the questions so far.

        They are operations, operations that were worked out (each pair of operands once), words, distinct
        windows that the network computed and, if workings are judged, the counts of `Judged`.
        """
        judged = asdict(self.arithmetic.judged) if isinstance(self.arithmetic, JudgedArithmetic) else {}
        return {**asdict(self.arithmetic.asked), "windows": self.network.computed, **judged}


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """The scores of runs at a level.

    steps: scores of the runs in the declared language; None if there are none. outside: number of other runs,
    by reason. seconds: time of the machine, without the judging.
    """

    steps: Steps | None
    outside: Mapping[str, int]
    runs: tuple[MachineRun, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        runs = [asdict(run) for run in self.runs]
        return {
            "steps": self.steps and self.steps.to_dict(),
            "outside": dict(self.outside),
            "seconds": self.seconds,
            "runs": runs,
        }


def run_level(
    recordings: Iterable[Recording],
    machine: Callable[[OnLine | None, int | None], Machine],
    *,
    budget: int = MOST,
    note: Callable[[int], None] = lambda steps: None,
) -> LevelReport:
    """Runs every recorded program from its start.

    machine: makes a machine from a receiver of its lines and a limit for its steps. note: receives the number
    of steps of each run.
    """
    runs: list[MachineRun] = []
    texts: dict[str, str] = {}

    def predicted() -> Iterator[tuple[PredictedRun, str]]:
        for recording in recordings:
            run = run_recorded(recording, lambda line: machine(line, budget))
            runs.append(run)
            texts[run.id] = recording.program.code
            note(run.agreement.exact)
            if run.outside is None:
                yield (
                    PredictedRun(key=run.id, asked=run.agreement.judged, agreement=run.agreement),
                    texts[run.id],
                )

    steps = steps_of(predicted())
    outside = Counter(run.outside for run in runs if run.outside is not None)
    return LevelReport(
        steps=steps,
        outside=dict(outside.most_common()),
        runs=tuple(runs),
        seconds=sum(run.seconds for run in runs),
    )
