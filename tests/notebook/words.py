"""What of a cell is chance, in the words that users read."""

from collections.abc import Iterable

from deskcheck.notebook.trajectory.chance import ChanceSource


def words(sources: Iterable[ChanceSource]) -> tuple[str, ...]:
    return tuple(map(str, sources))
