"""What differs between the stored and the fresh text of a cell, for people: a unified diff, bounded, that
marks what differs within a line."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deskcheck.notebook.kernel.repeats import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A line of a diff. side: ``-`` is stored, ``+`` fresh, a blank both; ``@`` says what follows. changed:
    which characters of it differ from those of the line that it stands for, where there is one."""

    side: str
    text: str
    changed: tuple[int, int] | None = None


_ROWS, _LINES, _WIDTH, _CONTEXT = 60, 400, 240, 2


def diff(one: Text, other: Text, counts: Mapping[str, tuple[int, int]]) -> Iterator[DiffRow]:
    """Stored and fresh text side under side, part by part, bounded. counts: what else is shown, and how many
    of it are stored and fresh."""
    left = _ROWS
    for what, a, b in _parts(one, other, counts):
        if a == b:
            continue
        rows = [DiffRow(side="@", text=what), *_rows(a.splitlines(), b.splitlines())]
        if not any(row.side in "-+" for row in rows):
            rows.append(DiffRow(side="@", text="the lines are equal, their ends differ"))
        yield from rows[:left]
        left -= len(rows)
        if left <= 0:
            yield DiffRow(side="@", text="... and more")
            return


def _parts(one: Text, other: Text, counts: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str, str, str]]:
    yield "standard output", one.stdout, other.stdout
    for number in range(max(len(one.plain), len(other.plain))):
        a, b = (each.plain[number] if number < len(each.plain) else "" for each in (one, other))
        yield f"shown {number + 1}", a, b
    a, b = (": ".join(each.error) if each.error else "" for each in (one, other))
    yield "exception", a, b
    for what, (stored, fresh) in counts.items():
        yield what, f"{stored} {what}", f"{fresh} {what}"


def _rows(one: list[str], other: list[str]) -> Iterator[DiffRow]:
    start = max(0, _common(one, other) - _CONTEXT)
    if start:
        yield DiffRow(side="@", text=f"... {start} equal lines")
    beyond = max(len(one), len(other)) > start + _LINES
    one, other = one[start : start + _LINES], other[start : start + _LINES]
    for group in difflib.SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(_CONTEXT):
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                yield from (DiffRow(side=" ", text=_bounded(line)) for line in one[i:i_end])
            elif kind == "replace" and i_end - i == j_end - j:
                pairs = [_cut(a, b) for a, b in zip(one[i:i_end], other[j:j_end], strict=True)]
                yield from (DiffRow(side="-", text=a[0], changed=a[1]) for a, _ in pairs)
                yield from (DiffRow(side="+", text=b[0], changed=b[1]) for _, b in pairs)
            else:
                yield from (DiffRow(side="-", text=_bounded(line)) for line in one[i:i_end])
                yield from (DiffRow(side="+", text=_bounded(line)) for line in other[j:j_end])
    if beyond:
        yield DiffRow(side="@", text="... and more lines, which are not shown")


def _bounded(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


_Marked = tuple[str, tuple[int, int]]


def _cut(one: str, other: str) -> tuple[_Marked, _Marked]:
    """Two lines that stand for each other, around what differs, with where it does."""
    start = _common(one, other)
    end = _common(one[start:][::-1], other[start:][::-1])
    first = max(0, start - _WIDTH // 2) if max(len(one), len(other)) > _WIDTH else 0

    def around(line: str) -> _Marked:
        text, changed = line[first:], (start - first, len(line) - end - first)
        if first:
            text, changed = f"…{text}", (changed[0] + 1, changed[1] + 1)
        if len(text) > _WIDTH:
            text, changed = text[: _WIDTH - 1] + "…", (min(changed[0], _WIDTH), min(changed[1], _WIDTH))
        return text, changed

    return around(one), around(other)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the common beginning."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
