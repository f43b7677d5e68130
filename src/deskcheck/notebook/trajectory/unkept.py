"""A writer of trajectories that keeps the steps in memory, with the methods of `file.TrajectoryWriter`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from deskcheck.notebook.trajectory.trajectory import Ended, Step, Trajectory
from deskcheck.recording.program import Environment


class UnkeptWriter:
    """Records one trajectory into memory. head: the trajectory without its steps."""

    resumed = 0

    def __init__(self, head: Trajectory) -> None:
        self._head = head
        self._steps: list[Step] = []

    def steps(self) -> Iterator[Step]:
        return iter(self._steps)

    def write(self, step: Step) -> None:
        self._steps.append(step)

    def finish(
        self, ended: Ended = Ended.WHOLE, detail: str = "", environment: Environment | None = None
    ) -> Trajectory:
        environment = environment or self._head.environment
        steps = tuple(self._steps)
        return replace(self._head, steps=steps, ended=ended, detail=detail, environment=environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""
