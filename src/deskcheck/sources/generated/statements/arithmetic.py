"""Level 1, arithmetic: numbers, truth values and halves, what compares them, what assigns them.

Numbers that come from texts, lists, dictionaries and calls stand in the files of those.
"""

from deskcheck.sources.generated.writing.bounds import LIMIT
from deskcheck.sources.generated.writing.values import (
    Local,
    Operand,
    largest,
    product_of,
    sum_of,
)
from deskcheck.sources.generated.writing.writer import (
    Condition,
    Expression,
    ProgramWriter,
    Statement,
    Table,
    entered,
)

INTS: Table[Expression] = []
CONDITIONS: Table[Condition] = []
STATEMENTS: Table[Statement] = []


@entered(INTS, 1, 10)
def _add(w: ProgramWriter, depth: int) -> Operand | None:
    return sum_of(w.number(depth), "+", w.atom())


@entered(INTS, 1, 7)
def _subtract(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.number(depth), w.atom()
    return None if a.text == b.text else sum_of(a, "-", b)


@entered(INTS, 1, 3)
def _from_constant(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.constant(), w.variable()
    return product_of(a, b) if w.chance(0.4) else sum_of(a, w.pick("+-"), b)


@entered(INTS, 1, 6)
def _multiply(w: ProgramWriter, depth: int) -> Operand | None:
    other = w.literal(2, 9) if w.chance(0.7) else w.variable()
    return product_of(w.number(depth) if w.chance(0.3) else w.variable(), other)


def _dividend(by: int) -> int:
    """The largest number that is divided by this one. By 2, 5 and 10 a result's last digits need few of the
    number's; by 7 they need them all, which is much to ask of one step."""
    return 9999 if by in (2, 5, 10, 100) else 999


@entered(INTS, 1, 5)
def _modulo(w: ProgramWriter, depth: int) -> Operand | None:
    a, by = w.number(depth), w.pick((2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 100))
    if a.lo == a.hi or largest(a) > _dividend(by):
        return None
    return Operand(f"{a.at(2)} % {by}", "int", 0, by - 1, 2)


@entered(INTS, 1, 5)
def _divide(w: ProgramWriter, depth: int) -> Operand | None:
    a, by = w.number(depth), w.pick((2, 2, 2, 3, 4, 5, 10, 10))
    if a.lo == a.hi or largest(a) > _dividend(by):
        return None
    return Operand(f"{a.at(2)} // {by}", "int", a.lo // by, a.hi // by, 2)


@entered(INTS, 1, 1.5)
def _divide_by_variable(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.variable(), w.variable()
    if b.lo < 1 or b.hi > 20 or largest(a) > 999 or a.text == b.text:
        return None
    if w.chance(0.5):
        return Operand(f"{a.at(2)} % {b.at(3)}", "int", 0, b.hi - 1, 2)
    return Operand(f"{a.at(2)} // {b.at(3)}", "int", min(a.lo, 0), max(a.hi, 0), 2)


@entered(INTS, 1, 1)
def _square(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.variable()
    if largest(a) > 20 or a.text.lstrip("-").isdigit():
        return None
    low = 0 if a.lo <= 0 <= a.hi else min(a.lo * a.lo, a.hi * a.hi)
    return Operand(f"{a.at(3)} ** 2", "int", low, largest(a) ** 2, 2)


@entered(INTS, 1, 1.2)
def _negate(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    return Operand(f"-{a.at(3)}", "int", -a.hi, -a.lo, 1)


@entered(INTS, 1, 2)
def _absolute(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.number(depth)
    if a.lo >= 0:
        return None
    return Operand(f"abs({a.text})", "int", 0, largest(a))


@entered(INTS, 1, 4)
def _extreme(w: ProgramWriter, depth: int) -> Operand | None:
    name, a, b = w.pick(("min", "max")), w.number(depth), w.atom()
    if a.text == b.text:
        return None
    best = min if name == "min" else max
    return Operand(f"{name}({a.text}, {b.text})", "int", best(a.lo, b.lo), best(a.hi, b.hi))


@entered(INTS, 1, 1)
def _bits(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.variable()
    if a.lo < 0 or a.hi > 99:
        return None
    sign = w.pick("&|^")
    b = w.pick((1, 2, 3, 4, 7))
    high = min(a.hi, b) if sign == "&" else (1 << max(a.hi, b).bit_length()) - 1
    return Operand(f"{a.at(3)} {sign} {b}", "int", 0, high, 0)


@entered(INTS, 1, 0.7)
def _shift(w: ProgramWriter, depth: int) -> Operand | None:
    a, by = w.variable(), w.between(1, 3)
    if a.lo < 0 or a.hi > 99:
        return None
    if w.chance(0.5):
        return Operand(f"{a.at(3)} << {by}", "int", a.lo << by, a.hi << by, 0)
    return Operand(f"{a.at(3)} >> {by}", "int", a.lo >> by, a.hi >> by, 0)


@entered(INTS, 1, 0.6)
def _invert(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.variable()
    return Operand(f"~{a.at(3)}", "int", -a.hi - 1, -a.lo - 1, 1) if a.text[0].isalpha() else None


@entered(INTS, 1, 0.8)
def _whole_half(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("float")
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{w.pick(('int', 'int', 'round'))}({a.text})", "int", a.lo - 1, a.hi + 1)


@entered(CONDITIONS, 1, 10)
def compare(w: ProgramWriter) -> str | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    sign = w.pick(("<", ">", "<=", ">=", "==", "!=", "<", ">"))
    low, high = max(a.lo, -20), min(a.hi, 99)
    if high <= low:
        low, high = a.lo, a.hi
    middle = w.between(low, min(high, low + w.pick((5, 10, 20, 120))))
    return f"{a.text} {sign} {middle}"


@entered(CONDITIONS, 1, 5)
def compare_two(w: ProgramWriter) -> str | None:
    a, b = w.variable(), w.variable()
    if a.text == b.text or a.text.lstrip("-").isdigit():
        return None
    return f"{a.text} {w.pick(('<', '>', '<=', '>=', '==', '!='))} {b.text}"


@entered(CONDITIONS, 1, 5)
def divides(w: ProgramWriter) -> str | None:
    a = w.variable()
    by, sign = w.pick((2, 2, 2, 3, 3, 4, 5)), w.pick(("==", "==", "==", "!=", ">"))
    if a.text.lstrip("-").isdigit() or largest(a) > _dividend(by):
        return None
    return f"{a.text} % {by} {sign} {w.pick((0, 0, 0, 1))}"


@entered(CONDITIONS, 1, 2)
def _compare_sum(w: ProgramWriter) -> str | None:
    a = w.number(1)
    if a.prec < 1 or a.lo == a.hi:
        return None
    return (
        f"{a.at(1)} {w.pick(('<', '>', '==', '!=', '<='))} {w.between(max(a.lo, -9), min(max(a.hi, -9), 50))}"
    )


@entered(CONDITIONS, 1, 2)
def flag(w: ProgramWriter) -> str | None:
    known = w.of("bool")
    if not known:
        return None
    return f"{'not ' if w.chance(0.35) else ''}{w.recent(known).text}"


def something(w: ProgramWriter) -> None:
    """A statement that can be written anywhere."""
    if not (_augment(w) or _assign(w)):
        name = w.fresh("int")
        value = w.number()
        w.write(f"{name} = {value.text}")
        w.declare(name, value)


@entered(STATEMENTS, 1, 10)
def _new_number(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    value = w.number() if w.chance(0.9) else w.constant()
    name = w.fresh("int")
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@entered(STATEMENTS, 1, 6)
def _assign(w: ProgramWriter) -> bool:
    known = w.assignable("int")
    if not known:
        return False
    variable = w.recent(known)
    value = w.number()
    if value.text == variable.text:
        return False
    if not w.fits(variable, value):
        if variable.base_lo > 0 or variable.base_hi < 1:
            return False
        value = w.number_in(max(variable.base_lo, 0), variable.base_hi)
        if value.text == variable.text or not w.fits(variable, value):
            return False
    w.write(f"{variable.text} = {value.text}")
    return True


@entered(STATEMENTS, 1, 9)
def _augment(w: ProgramWriter) -> bool:
    known = w.assignable("int")
    if not known:
        return False
    variable = w.recent(known)
    draw = w.random()
    if draw < 0.8:
        value = w.number(w.below(2)) if w.chance(0.5) else w.atom()
        if largest(value) > 999:
            return False
        sign = w.pick("++-")
        low, high = (value.lo, value.hi) if sign == "+" else (-value.hi, -value.lo)
        if not w.may_grow(variable, low, high, LIMIT):
            return False
        if w.chance(0.3) and value.prec >= 1:
            w.write(f"{variable.text} = {variable.text} {sign} {value.at(2)}")
        else:
            w.write(f"{variable.text} {sign}= {value.text}")
        return True
    before = Operand(variable.text, "int", variable.lo, variable.hi)
    by = w.between(2, 5)
    result = product_of(before, Operand("", "int", by, by)) if draw < 0.9 else None
    if result is not None and w.fits(variable, result):
        w.write(f"{variable.text} *= {by}")
        return True
    if largest(variable) > _dividend(by):
        return False
    if draw < 0.95:
        if not w.fits(variable, Operand("", "int", before.lo // by, before.hi // by)):
            return False
        w.write(f"{variable.text} //= {by}")
        return True
    by = w.pick((3, 5, 7, 10, 10, 20))
    if largest(variable) > _dividend(by) or not w.fits(variable, Operand("", "int", 0, by - 1)):
        return False
    w.write(f"{variable.text} %= {by}")
    return True


@entered(STATEMENTS, 1, 2)
def _swap(w: ProgramWriter) -> bool:
    known = w.assignable("int")
    if len(known) < 2:
        return False
    a, b = w.recent(known), w.recent(known)
    if a is b:
        return False
    if w.chance(0.5):
        new_a, new_b = Operand(b.text, "int", b.lo, b.hi), Operand(a.text, "int", a.lo, a.hi)
    else:
        total = sum_of(a, "+", b)
        if total is None:
            return False
        new_a, new_b = Operand(b.text, "int", b.lo, b.hi), total
    if not (_keeps(a, new_a) and _keeps(b, new_b)):
        return False
    w.fits(a, new_a)
    w.fits(b, new_b)
    w.write(f"{a.text}, {b.text} = {new_a.text}, {new_b.text}")
    return True


def _keeps(variable: Local, value: Operand) -> bool:
    return not variable.looped or (variable.base_lo <= value.lo and value.hi <= variable.base_hi)


@entered(STATEMENTS, 1, 1.5)
def _two_at_once(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    first, second = w.number(), w.number(0)
    a, b = w.fresh("int"), w.fresh("int")
    if w.chance(0.3):
        w.write(f"{a} = {b} = {first.text}")
        second = first
    elif w.chance(0.3) and first.lo >= 0 and first.hi <= 999:
        by = w.pick((2, 3, 5, 10))
        w.write(f"{a}, {b} = divmod({first.text}, {by})")
        first, second = Operand("", "int", 0, first.hi // by), Operand("", "int", 0, by - 1)
    else:
        w.write(f"{a}, {b} = {first.text}, {second.text}")
    w.declare(a, first)
    w.declare(b, second)
    return True


@entered(STATEMENTS, 1, 2)
def _new_flag(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    text = w.condition()
    name = w.fresh("bool")
    w.write(f"{name} = {text}" if not text.isidentifier() else f"{name} = not {text}")
    w.declare(name, Operand(name, "bool"))
    return True


@entered(STATEMENTS, 1, 1)
def _new_half(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    known = w.of("float")
    if known and w.chance(0.5):
        a = w.recent(known)
        text, low, high = w.pick(
            (
                (f"{a.text} + 0.5", a.lo, a.hi + 1),
                (f"{a.text} * 2", 2 * a.lo - 2, 2 * a.hi + 2),
                (f"{a.text} - 1", a.lo - 1, a.hi),
            )
        )
    else:
        b = w.variable()
        if b.text.lstrip("-").isdigit():
            return False
        text, low, high = w.pick(
            ((f"{b.text} / 2", b.lo // 2, b.hi // 2 + 1), (f"{b.text} * 0.5", b.lo // 2, b.hi // 2 + 1))
        )
    if max(abs(low), abs(high)) > 999:
        return False
    name = w.fresh("float")
    w.write(f"{name} = {text}")
    w.declare(name, Operand(name, "float", low, high))
    return True
