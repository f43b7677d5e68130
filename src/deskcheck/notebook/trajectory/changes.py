"""The steps between two versions of a notebook, inferred from the versions."""

import difflib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deskcheck.notebook.trajectory.trajectory import Cell, Deletion, Edit, Insertion, Move, Step, moved

_SIMILAR = 0.5
"""`difflib`'s ratio from which a source at the position of another counts as its next version."""


def changes(before: Sequence[Cell], after: Sequence[Cell], timestamp: float | None = None) -> Iterator[Step]:
    """Steps that turn the earlier version into the later: deletions, then moves and insertions from the top
    down, then edits. Cells are matched by id, and as few as possible move. timestamp: `at` of the steps."""
    old = {cell.id: cell for cell in before}
    new_order = [cell.id for cell in after]
    order = tuple(old)
    for id_ in old:
        if id_ not in new_order:
            order = tuple(kept_id for kept_id in order if kept_id != id_)
            yield Deletion(cell=id_, order=order, at=timestamp, inferred=True)
    steady = _rising(order, new_order)
    for number, cell in enumerate(after):
        if cell.id in steady:
            continue
        others = [id_ for id_ in order if id_ != cell.id]
        position = others.index(new_order[number - 1]) + 1 if number else 0
        step: Insertion | Move
        if cell.id in old:
            step = Move(cell=cell.id, position=position, order=())
        else:
            step = Insertion(cell=cell.id, source=cell.source, type=cell.type, position=position, order=())
        order = moved(order, step)
        yield replace(step, order=order, at=timestamp, inferred=True)
    for cell in after:
        was = old.get(cell.id)
        if was is not None and (was.source, was.type) != (cell.source, cell.type):
            yield Edit(
                cell=cell.id, source=cell.source, type=cell.type, order=order, at=timestamp, inferred=True
            )


def _rising(order: Sequence[str], new_order: Sequence[str]) -> set[str]:
    """The largest set of ids that have the same order in both."""
    places = {id_: position for position, id_ in enumerate(new_order)}
    ends: list[int] = []
    last: list[str] = []
    before: dict[str, str | None] = {}
    for id_ in order:
        index = bisect_left(ends, places[id_])
        before[id_] = last[index - 1] if index else None
        ends[index : index + 1] = [places[id_]]
        last[index : index + 1] = [id_]
    steady: set[str] = set()
    id_or_none = last[-1] if last else None
    while id_or_none is not None:
        steady.add(id_or_none)
        id_or_none = before[id_or_none]
    return steady


def matched(before: Sequence[Cell], after: Sequence[Cell], new_id: Iterator[str]) -> list[Cell]:
    """The later version with the ids of the earlier, for files whose cells have no ids.

    Equal sources in the same order are one cell. Between these, similar sources at the same position are."""
    cells: list[Cell] = []
    matcher = difflib.SequenceMatcher(
        None, [(c.type, c.source) for c in before], [(c.type, c.source) for c in after], autojunk=False
    )
    for what, low, high, start, stop in matcher.get_opcodes():
        if what == "equal":
            pairs = zip(after[start:stop], before[low:high], strict=True)
            cells += [replace(cell, id=old.id) for cell, old in pairs]
            continue
        unmatched = list(before[low:high])
        for cell in after[start:stop]:
            number = next((n for n, old in enumerate(unmatched) if _alike(old, cell)), None)
            if number is None:
                cells.append(replace(cell, id=next(new_id)))
            else:
                cells.append(replace(cell, id=unmatched[number].id))
                del unmatched[: number + 1]
    return cells


def _alike(old: Cell, new: Cell) -> bool:
    if old.type != new.type:
        return False
    matcher = difflib.SequenceMatcher(None, old.source, new.source, autojunk=False)
    # From the cheapest bound to the ratio itself.
    return all(
        ratio() >= _SIMILAR for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    )
