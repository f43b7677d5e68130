"""The choice of samples to ask, and their order.

Both depend only on the samples and the seed, not on the order of the recordings in their files. Workers write
a recording when they finish it, so that order differs between runs.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar


class Drawable(Protocol):
    """The fields of a sample that drawing needs."""

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

    def folder(sample: _P) -> int:
        return 0 if folders is None else folders[sample.program]

    def by_cluster(turn: tuple[int, _P]) -> tuple[int, tuple[int, str]]:
        return turn[0], lot(f"cluster:{turn[1].cluster}")

    by_lot = sorted(samples, key=lambda sample: lot(sample.id))
    in_folders = sorted(_turns(by_lot, lambda sample: (folder(sample), sample.cluster)), key=by_cluster)
    turns = _turns([sample for _, sample in in_folders], folder)
    order = sorted(turns, key=lambda turn: (turn[0], folder(turn[1])))
    return [sample for _, sample in order[:limit]]


def _turns(samples: Iterable[_P], group: Callable[[_P], Hashable]) -> Iterator[tuple[int, _P]]:
    """Each sample with the number of its turn in its group, from 1."""
    turns: Counter[Hashable] = Counter()
    for sample in samples:
        turns[group(sample)] += 1
        yield turns[group(sample)], sample
