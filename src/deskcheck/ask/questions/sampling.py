"""Which of many samples are asked, and in which order.

That depends on the samples and the seed alone, and not on the order of the recordings in their files:
workers write a recording when they finish it, so that this order differs from run to run.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar


class Drawable(Protocol):
    """What is drawn, as far as drawing looks at it."""

    @property
    def id(self) -> str: ...
    @property
    def program(self) -> str: ...
    @property
    def cluster(self) -> str: ...


_P = TypeVar("_P", bound=Drawable)


def drawn(
    samples: Sequence[_P],
    *,
    seed: int,
    limit: int | None = None,
    folders: Mapping[str, int] | None = None,
) -> list[_P]:
    """The samples in the order in which they are asked, the first `limit` of them.

    The folders take turns. In a folder its clusters (programs with the same code) take turns, and the
    seed decides which goes first. In a cluster the seed decides. So a limit reaches as many folders and
    clusters as it can, and a larger limit with the same seed includes what a smaller one draws.

    folders: program -> number of its folder; without it there is one folder.
    """
    from deskcheck.jobs.key_set import key_of

    def lot(text: str) -> tuple[int, str]:
        return key_of(f"{seed}:{text}"), text

    def by_lot(index: int) -> tuple[int, str]:
        return lot(samples[index].id)

    def by_turn(index: int) -> tuple[int, int, str]:
        return (in_cluster[index], *lot(f"cluster:{samples[index].cluster}"))

    def folder(index: int) -> int:
        return 0 if folders is None else folders[samples[index].program]

    in_cluster: dict[int, int] = {}
    in_folder: dict[int, int] = {}
    turns: dict[tuple[int, str], int] = {}
    for index in sorted(range(len(samples)), key=by_lot):
        key = folder(index), samples[index].cluster
        in_cluster[index] = turns[key] = turns.get(key, 0) + 1
    turns_of_folder: dict[int, int] = {}
    for index in sorted(in_cluster, key=by_turn):
        key_of_folder = folder(index)
        in_folder[index] = turns_of_folder[key_of_folder] = turns_of_folder.get(key_of_folder, 0) + 1
    order = sorted(in_folder, key=lambda index: (in_folder[index], folder(index)))
    return [samples[index] for index in order[:limit]]
