"""How work is spread over processes of this machine or a Ray cluster, in shards or not."""

import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from deskcheck.errors import InputError
from deskcheck.settings import Setting

if TYPE_CHECKING:
    from deskcheck.jobs.job import Runner


class Where(StrEnum):
    """Where the shards of a job are made."""

    LOCAL = "local"
    RAY = "ray"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How much is done at once, and where. Any setting except `workers` makes it a job in shards.

    Raises InputError for the address of a cluster together with ``on="local"``.
    """

    workers: Annotated[int, Setting("Number of parallel workers.", min=1)] = field(
        default_factory=lambda: os.cpu_count() or 1
    )
    shards: Annotated[
        int | None,
        Setting(
            "Write shards of about N, each complete or absent (`deskcheck help jobs`).", min=1, metavar="N"
        ),
    ] = None
    on: Annotated[Where | None, Setting("Where shards are made: in --workers processes here, or by Ray.")] = (
        None
    )
    ray_address: Annotated[
        str | None,
        Setting("--on ray: the address of a cluster on other machines.", metavar="ADDRESS"),
    ] = None
    replace: Annotated[
        bool,
        Setting("Delete shards of other input or settings in the folder when the new ones are complete."),
    ] = False

    def __post_init__(self) -> None:
        if self.ray_address is not None and self.on is Where.LOCAL:
            raise InputError(f"--ray-address {self.ray_address}: needs --on ray.")

    @property
    def in_shards(self) -> bool:
        return self.shards is not None or self.on is not None or self.ray_address is not None or self.replace

    def runner(self) -> "Runner":
        """The runner for these settings. Raises MissingExtra without Ray, InputError without a cluster."""
        if self.on is Where.RAY or self.ray_address is not None:
            from deskcheck.jobs.ray import RayCluster

            return RayCluster(self.ray_address)
        from deskcheck.jobs.pool import LocalPool

        return LocalPool(self.workers)
