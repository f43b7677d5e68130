"""Indices that are inside, whatever the length of a list or text turns out to be."""

from deskcheck.sources.generated.writing.values import Local, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter


def _indices(w: ProgramWriter, a: Operand) -> list[str]:
    """Variables that are indices in a list or text, whatever its length turns out to be."""
    return [v.text for v in w.of("int") if v.indexes == a.text or (v.lo >= 0 and v.hi < a.lo)]


def indexed(w: ProgramWriter, kind: str, items: str = "") -> list[Local]:
    """Lists or texts of which an item can be had."""
    inside = {v.indexes for v in w.of("int")}
    return [v for v in w.of(kind, items) if v.lo >= 1 or v.text in inside]


def place_in(w: ProgramWriter, a: Local) -> str:
    indices = _indices(w, a)
    if indices and (a.lo < 1 or w.chance(0.6)):
        return str(w.pick(indices))
    return str(w.pick((0, -1, w.below(a.lo))))
