"""The changes between two versions of a notebook, as steps: inferred, as nobody saw them happen."""

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deskcheck.notebook.trajectory.trajectory import Cell, Deletion, Edit, Insertion, Move, Step, moved

_SIMILAR = 0.5
"""Of `difflib`'s ratio: from so much on, a source in the place of another is taken for its next version."""


def changes(before: Sequence[Cell], after: Sequence[Cell], at: float | None = None) -> Iterator[Step]:
    """Steps that make the later version of the earlier: deletions, then moves and insertions from the top
    down, then edits. Cells of one id are one cell; as few as possible are said to have moved."""
    old = {cell.id: cell for cell in before}
    wanted = [cell.id for cell in after]
    order = tuple(old)
    for id_ in old:
        if id_ not in wanted:
            order = tuple(other for other in order if other != id_)
            yield Deletion(cell=id_, order=order, at=at, inferred=True)
    steady = _rising(order, wanted)
    for number, cell in enumerate(after):
        if cell.id in steady:
            continue
        left = [id_ for id_ in order if id_ != cell.id]
        position = left.index(wanted[number - 1]) + 1 if number else 0
        step: Insertion | Move
        if cell.id in old:
            step = Move(cell=cell.id, position=position, order=())
        else:
            step = Insertion(cell=cell.id, source=cell.source, type=cell.type, position=position, order=())
        order = moved(order, step)
        yield replace(step, order=order, at=at, inferred=True)
    for cell in after:
        was = old.get(cell.id)
        if was is not None and (was.source, was.type) != (cell.source, cell.type):
            yield Edit(cell=cell.id, source=cell.source, type=cell.type, order=order, at=at, inferred=True)


def _rising(order: Sequence[str], wanted: Sequence[str]) -> set[str]:
    """The most ids that stand in the same order in both."""
    places = {id_: place for place, id_ in enumerate(wanted)}
    ends: list[int] = []
    last: list[str] = []
    before: dict[str, str | None] = {}
    for id_ in order:
        at = bisect_left(ends, places[id_])
        before[id_] = last[at - 1] if at else None
        ends[at : at + 1] = [places[id_]]
        last[at : at + 1] = [id_]
    found: set[str] = set()
    id_or_none = last[-1] if last else None
    while id_or_none is not None:
        found.add(id_or_none)
        id_or_none = before[id_or_none]
    return found


def matched(before: Sequence[Cell], after: Sequence[Cell], new_id: Iterator[str]) -> list[Cell]:
    """The later version with the ids of the earlier, for files whose cells have none of their own: equal
    sources in the same order are one cell, and of what stands between them similar ones at the same place."""
    found: list[Cell] = []
    matcher = difflib.SequenceMatcher(
        None, [(c.type, c.source) for c in before], [(c.type, c.source) for c in after], autojunk=False
    )
    for what, low, high, start, stop in matcher.get_opcodes():
        if what == "equal":
            pairs = zip(after[start:stop], before[low:high], strict=True)
            found += [replace(cell, id=old.id) for cell, old in pairs]
            continue
        left = list(before[low:high])
        for cell in after[start:stop]:
            place = next((n for n, old in enumerate(left) if _alike(old, cell)), None)
            if place is None:
                found.append(replace(cell, id=next(new_id)))
            else:
                found.append(replace(cell, id=left[place].id))
                del left[: place + 1]
    return found


def _alike(old: Cell, new: Cell) -> bool:
    if old.type != new.type:
        return False
    matcher = difflib.SequenceMatcher(None, old.source, new.source, autojunk=False)
    # From the cheapest bound to the ratio itself.
    return all(
        ratio() >= _SIMILAR for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    )
