"""Parameters of functions, and arguments that lie in their intervals, as texts of literals.

Arguments in the programs themselves, variables among them, stand in `calls`.
"""

from deskcheck.sources.generated.writing.values import Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.words import WORDS


def parameter(w: ProgramWriter, kinds: tuple[str, ...]) -> Operand:
    kind = w.pick(kinds)
    if kind == "int":
        low, high = w.pick(
            ((0, 9), (0, 9), (1, 9), (0, 20), (1, 20), (0, 99), (0, 99), (-9, 9), (-20, 99), (0, 999))
        )
        return Operand(w.fresh("int"), "int", low, high)
    if kind == "bool":
        return Operand(w.fresh("bool"), "bool")
    if kind == "str":
        return Operand(w.fresh("str"), "str", w.below(2), w.between(4, 8))
    if kind == "list":
        low, high = w.pick(((0, 9), (0, 9), (0, 20), (-9, 9), (0, 99)))
        shortest = w.below(3)
        return Operand(w.fresh("list"), "list", shortest, w.between(4, 6), 3, "int", low, high)
    if kind == "strs":
        return Operand(w.fresh("strs"), "list", w.below(2), w.between(2, 4), 3, "str", 1, 5)
    return Operand(w.fresh("dict"), "dict", 0, w.between(2, 4), 3, "int", 0, 999, "str")


def kinds(w: ProgramWriter) -> tuple[str, ...]:
    """Kinds of parameters, those that the level is about more often."""
    names: tuple[str, ...] = ("int", "int", "int")
    if w.level >= 2:
        names += ("int", "bool")
    if w.level >= 5:
        names += ("str",) * (6 if w.level == 5 else 2)
    if w.level >= 6:
        names += ("list", "list", "strs") * (3 if w.level == 6 else 1)
    if w.level >= 7:
        names += ("dict",) * (6 if w.level == 7 else 1)
    return names


def argument(w: ProgramWriter, of: Operand) -> str:
    """The text of an argument in the interval of a parameter."""
    if of.kind == "int":
        return str(_drawn(w, of.lo, of.hi))
    if of.kind == "bool":
        return str(w.chance(0.5))
    if of.kind == "str":
        return repr(_drawn_word(w, of.lo, of.hi))
    n = w.between(of.lo, of.hi)
    if of.kind == "list" and of.items == "int":
        return str([_drawn(w, of.item_lo, of.item_hi) for _ in range(n)])
    if of.kind == "list":
        return str([_drawn_word(w, of.item_lo, of.item_hi) for _ in range(n)])
    entries = {_drawn_word(w, 1, 3): _drawn(w, 0, 99) for _ in range(n)}
    return str(entries)


def _drawn(w: ProgramWriter, low: int, high: int) -> int:
    """Ends and small numbers more often than the rest."""
    if w.chance(0.1):
        return int(w.pick((low, high)))
    if w.chance(0.3):
        return w.between(max(low, 0), min(high, max(low, 0) + 9))
    return w.between(low, high)


def _drawn_word(w: ProgramWriter, low: int, high: int) -> str:
    fitting = [word for word in WORDS if low <= len(word) <= high]
    if fitting and w.chance(0.6):
        return str(w.pick(fitting))
    n = w.between(low, high)
    return "".join(w.pick("aabbcdexyz") for _ in range(n))
