"""Parameters of functions, and literals in their intervals as arguments.

`calls` writes the arguments of calls in the programs, which may be variables.
"""

from deskcheck.sources.generated.writing.values import Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.words import WORDS


def parameter(writer: ProgramWriter, kinds: tuple[str, ...]) -> Operand:
    kind = writer.pick(kinds)
    if kind == "int":
        low, high = writer.pick(
            ((0, 9), (0, 9), (1, 9), (0, 20), (1, 20), (0, 99), (0, 99), (-9, 9), (-20, 99), (0, 999))
        )
        return Operand(writer.fresh("int"), "int", low, high)
    if kind == "bool":
        return Operand(writer.fresh("bool"), "bool")
    if kind == "str":
        return Operand(writer.fresh("str"), "str", writer.below(2), writer.between(4, 8))
    if kind == "list":
        low, high = writer.pick(((0, 9), (0, 9), (0, 20), (-9, 9), (0, 99)))
        shortest = writer.below(3)
        return Operand(writer.fresh("list"), "list", shortest, writer.between(4, 6), 3, "int", low, high)
    if kind == "strs":
        return Operand(writer.fresh("strs"), "list", writer.below(2), writer.between(2, 4), 3, "str", 1, 5)
    return Operand(writer.fresh("dict"), "dict", 0, writer.between(2, 4), 3, "int", 0, 999, "str")


def kinds(writer: ProgramWriter) -> tuple[str, ...]:
    """Kinds of parameters. Those that belong to the level are more frequent."""
    names: tuple[str, ...] = ("int", "int", "int")
    if writer.level >= 2:
        names += ("int", "bool")
    if writer.level >= 5:
        names += ("str",) * (6 if writer.level == 5 else 2)
    if writer.level >= 6:
        names += ("list", "list", "strs") * (3 if writer.level == 6 else 1)
    if writer.level >= 7:
        names += ("dict",) * (6 if writer.level == 7 else 1)
    return names


def argument(writer: ProgramWriter, operand: Operand) -> str:
    """The text of an argument in the interval of a parameter."""
    if operand.kind == "int":
        return str(_drawn(writer, operand.lo, operand.hi))
    if operand.kind == "bool":
        return str(writer.chance(0.5))
    if operand.kind == "str":
        return repr(_drawn_word(writer, operand.lo, operand.hi))
    length = writer.between(operand.lo, operand.hi)
    if operand.kind == "list" and operand.items == "int":
        return str([_drawn(writer, operand.item_lo, operand.item_hi) for _ in range(length)])
    if operand.kind == "list":
        return str([_drawn_word(writer, operand.item_lo, operand.item_hi) for _ in range(length)])
    entries = {_drawn_word(writer, 1, 3): _drawn(writer, 0, 99) for _ in range(length)}
    return str(entries)


def _drawn(writer: ProgramWriter, low: int, high: int) -> int:
    """A number in an interval. Its ends and small numbers are more frequent."""
    if writer.chance(0.1):
        return int(writer.pick((low, high)))
    if writer.chance(0.3):
        return writer.between(max(low, 0), min(high, max(low, 0) + 9))
    return writer.between(low, high)


def _drawn_word(writer: ProgramWriter, low: int, high: int) -> str:
    fitting = [word for word in WORDS if low <= len(word) <= high]
    if fitting and writer.chance(0.6):
        return str(writer.pick(fitting))
    length = writer.between(low, high)
    return "".join(writer.pick("aabbcdexyz") for _ in range(length))
