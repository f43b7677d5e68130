"""A bounded unified diff of the stored and the fresh text of a cell, with the differences within lines."""

import difflib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deskcheck.notebook.kernel.repeats import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A line of a diff. side: ``-`` stored, ``+`` fresh, blank for both, ``@`` a heading. changed: range of
    characters that differ from the line at the same place."""

    side: str
    text: str
    changed: tuple[int, int] | None = None


_ROWS, _LINES, _WIDTH, _CONTEXT = 60, 400, 240, 2


def diff(stored: Text, fresh: Text, counts: Mapping[str, tuple[int, int]]) -> Iterator[DiffRow]:
    """A bounded diff of stored and fresh text, part by part. counts: name -> number of stored and of fresh
    outputs."""
    rows_left = _ROWS
    for what, a, b in _parts(stored, fresh, counts):
        if a == b:
            continue
        rows = [DiffRow(side="@", text=what), *_rows(a.splitlines(), b.splitlines())]
        if not any(row.side in "-+" for row in rows):
            rows.append(DiffRow(side="@", text="the lines are equal, but their line endings differ"))
        yield from rows[:rows_left]
        rows_left -= len(rows)
        if rows_left <= 0:
            yield DiffRow(side="@", text="... and more")
            return


def _parts(
    stored: Text, fresh: Text, counts: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, str, str]]:
    yield "standard output", stored.stdout, fresh.stdout
    for number, (a, b) in enumerate(itertools.zip_longest(stored.plain, fresh.plain, fillvalue=""), 1):
        yield f"shown {number}", a, b
    yield "exception", ": ".join(stored.error or ()), ": ".join(fresh.error or ())
    for what, (count_stored, count_fresh) in counts.items():
        yield what, f"{count_stored} {what}", f"{count_fresh} {what}"


def _rows(stored: list[str], fresh: list[str]) -> Iterator[DiffRow]:
    start = max(0, _common(stored, fresh) - _CONTEXT)
    if start:
        yield DiffRow(side="@", text=f"... {start} equal lines")
    beyond = max(len(stored), len(fresh)) > start + _LINES
    stored, fresh = stored[start : start + _LINES], fresh[start : start + _LINES]
    for group in difflib.SequenceMatcher(None, stored, fresh, autojunk=False).get_grouped_opcodes(_CONTEXT):
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                yield from (DiffRow(side=" ", text=_bounded(line)) for line in stored[i:i_end])
            elif kind == "replace" and i_end - i == j_end - j:
                pairs = [_cut(a, b) for a, b in zip(stored[i:i_end], fresh[j:j_end], strict=True)]
                yield from (DiffRow(side="-", text=a[0], changed=a[1]) for a, _ in pairs)
                yield from (DiffRow(side="+", text=b[0], changed=b[1]) for _, b in pairs)
            else:
                yield from (DiffRow(side="-", text=_bounded(line)) for line in stored[i:i_end])
                yield from (DiffRow(side="+", text=_bounded(line)) for line in fresh[j:j_end])
    if beyond:
        yield DiffRow(side="@", text="... and more lines, which are not shown")


def _bounded(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


_Marked = tuple[str, tuple[int, int]]


def _cut(stored: str, fresh: str) -> tuple[_Marked, _Marked]:
    """Two corresponding lines around their difference, with its range."""
    start = _common(stored, fresh)
    end = _common(stored[start:][::-1], fresh[start:][::-1])
    first = max(0, start - _WIDTH // 2) if max(len(stored), len(fresh)) > _WIDTH else 0

    def around(line: str) -> _Marked:
        text, changed = line[first:], (start - first, len(line) - end - first)
        if first:
            text, changed = f"…{text}", (changed[0] + 1, changed[1] + 1)
        if len(text) > _WIDTH:
            text, changed = text[: _WIDTH - 1] + "…", (min(changed[0], _WIDTH), min(changed[1], _WIDTH))
        return text, changed

    return around(stored), around(fresh)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the common beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))
