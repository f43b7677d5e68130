"""Level 1, arithmetic: numbers, truth values and halves, what compares them, what assigns them.

Numbers from texts, lists, dictionaries and calls are in the files of those.
"""

from deskcheck.sources.generated.writing.values import LIMIT, Local, Operand, largest, product_of, sum_of
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _is_constant(a: Operand) -> bool:
    return a.text.lstrip("-").isdigit()


def _variable(w: ProgramWriter) -> Operand:
    a = w.variable()
    w.need(not _is_constant(a))
    return a


@RULES.enter("int", 1, 10)
def _add(w: ProgramWriter, depth: int) -> Operand:
    return sum_of(w.number(depth), "+", w.atom())


@RULES.enter("int", 1, 7)
def _subtract(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.number(depth), w.atom()
    w.need(a.text != b.text)
    return sum_of(a, "-", b)


@RULES.enter("int", 1, 3)
def _from_constant(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.constant(), w.variable()
    return product_of(a, b) if w.chance(0.4) else sum_of(a, w.pick("+-"), b)


@RULES.enter("int", 1, 6)
def _multiply(w: ProgramWriter, depth: int) -> Operand:
    other = w.literal(2, 9) if w.chance(0.7) else w.variable()
    return product_of(w.number(depth) if w.chance(0.3) else w.variable(), other)


def _need_dividend(w: ProgramWriter, a: Operand, by: int) -> None:
    """By 2, 5 and 10 a result's last digits need few of the number's; by 7 they need them all, which is much
    to ask of one step."""
    w.need(largest(a) <= (9999 if by in (2, 5, 10, 100) else 999))


@RULES.enter("int", 1, 5)
def _modulo(w: ProgramWriter, depth: int) -> Operand:
    a, by = w.number(depth), w.pick((2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 100))
    w.need(a.lo != a.hi)
    _need_dividend(w, a, by)
    return Operand(f"{a.at(2)} % {by}", "int", 0, by - 1, 2)


@RULES.enter("int", 1, 5)
def _divide(w: ProgramWriter, depth: int) -> Operand:
    a, by = w.number(depth), w.pick((2, 2, 2, 3, 4, 5, 10, 10))
    w.need(a.lo != a.hi)
    _need_dividend(w, a, by)
    return Operand(f"{a.at(2)} // {by}", "int", a.lo // by, a.hi // by, 2)


@RULES.enter("int", 1, 1.5)
def _divide_by_variable(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.variable(), w.variable()
    w.need(b.lo >= 1 and b.hi <= 20 and largest(a) <= 999 and a.text != b.text)
    if w.chance(0.5):
        return Operand(f"{a.at(2)} % {b.at(3)}", "int", 0, b.hi - 1, 2)
    return Operand(f"{a.at(2)} // {b.at(3)}", "int", min(a.lo, 0), max(a.hi, 0), 2)


@RULES.enter("int", 1, 1)
def _square(w: ProgramWriter, depth: int) -> Operand:
    a = _variable(w)
    w.need(largest(a) <= 20)
    low = 0 if a.lo <= 0 <= a.hi else min(a.lo * a.lo, a.hi * a.hi)
    return Operand(f"{a.at(3)} ** 2", "int", low, largest(a) ** 2, 2)


@RULES.enter("int", 1, 1.2)
def _negate(w: ProgramWriter, depth: int) -> Operand:
    a = _variable(w)
    return Operand(f"-{a.at(3)}", "int", -a.hi, -a.lo, 1)


@RULES.enter("int", 1, 2)
def _absolute(w: ProgramWriter, depth: int) -> Operand:
    a = w.number(depth)
    w.need(a.lo < 0)
    return Operand(f"abs({a.text})", "int", 0, largest(a))


@RULES.enter("int", 1, 4)
def _extreme(w: ProgramWriter, depth: int) -> Operand:
    name, a, b = w.pick(("min", "max")), w.number(depth), w.atom()
    w.need(a.text != b.text)
    best = min if name == "min" else max
    return Operand(f"{name}({a.text}, {b.text})", "int", best(a.lo, b.lo), best(a.hi, b.hi))


@RULES.enter("int", 1, 1)
def _bits(w: ProgramWriter, depth: int) -> Operand:
    a = w.variable()
    w.need(a.lo >= 0 and a.hi <= 99)
    sign = w.pick("&|^")
    b = w.pick((1, 2, 3, 4, 7))
    high = min(a.hi, b) if sign == "&" else (1 << max(a.hi, b).bit_length()) - 1
    return Operand(f"{a.at(3)} {sign} {b}", "int", 0, high, 0)


@RULES.enter("int", 1, 0.7)
def _shift(w: ProgramWriter, depth: int) -> Operand:
    a, by = w.variable(), w.between(1, 3)
    w.need(a.lo >= 0 and a.hi <= 99)
    if w.chance(0.5):
        return Operand(f"{a.at(3)} << {by}", "int", a.lo << by, a.hi << by, 0)
    return Operand(f"{a.at(3)} >> {by}", "int", a.lo >> by, a.hi >> by, 0)


@RULES.enter("int", 1, 0.6)
def _invert(w: ProgramWriter, depth: int) -> Operand:
    a = w.variable()
    w.need(a.text[0].isalpha())
    return Operand(f"~{a.at(3)}", "int", -a.hi - 1, -a.lo - 1, 1)


@RULES.enter("int", 1, 0.8)
def _whole_half(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("float"))
    return Operand(f"{w.pick(('int', 'int', 'round'))}({a.text})", "int", a.lo - 1, a.hi + 1)


@RULES.enter("condition", 1, 10)
def compare(w: ProgramWriter) -> str:
    a = _variable(w)
    sign = w.pick(("<", ">", "<=", ">=", "==", "!=", "<", ">"))
    low, high = max(a.lo, -20), min(a.hi, 99)
    if high <= low:
        low, high = a.lo, a.hi
    middle = w.between(low, min(high, low + w.pick((5, 10, 20, 120))))
    return f"{a.text} {sign} {middle}"


@RULES.enter("condition", 1, 5)
def compare_two(w: ProgramWriter) -> str:
    a, b = w.variable(), w.variable()
    w.need(a.text != b.text and not _is_constant(a))
    return f"{a.text} {w.pick(('<', '>', '<=', '>=', '==', '!='))} {b.text}"


@RULES.enter("condition", 1, 5)
def divides(w: ProgramWriter) -> str:
    a = w.variable()
    by, sign = w.pick((2, 2, 2, 3, 3, 4, 5)), w.pick(("==", "==", "==", "!=", ">"))
    w.need(not _is_constant(a))
    _need_dividend(w, a, by)
    return f"{a.text} % {by} {sign} {w.pick((0, 0, 0, 1))}"


@RULES.enter("condition", 1, 2)
def _compare_sum(w: ProgramWriter) -> str:
    a = w.number(1)
    w.need(a.prec >= 1 and a.lo != a.hi)
    sign = w.pick(("<", ">", "==", "!=", "<="))
    return f"{a.at(1)} {sign} {w.between(max(a.lo, -9), min(max(a.hi, -9), 50))}"


@RULES.enter("condition", 1, 2)
def flag(w: ProgramWriter) -> str:
    w.need(choices := w.of("bool"))
    return f"{'not ' if w.chance(0.35) else ''}{w.recent(choices).text}"


def something(w: ProgramWriter) -> None:
    """A statement that can be written anywhere."""
    if not (w.attempt(_augment) or w.attempt(_assign)):
        name = w.fresh("int")
        value = w.number()
        w.write(f"{name} = {value.text}")
        w.declare(name, value)


@RULES.enter("statement", 1, 10)
def _new_number(w: ProgramWriter) -> None:
    w.need_room()
    w.assign_new("int", w.number() if w.chance(0.9) else w.constant())


@RULES.enter("statement", 1, 6)
def _assign(w: ProgramWriter) -> None:
    variable = w.choose(w.assignable("int"))
    value = w.number()
    w.need(value.text != variable.text)
    if not w.fits(variable, value):
        w.need(variable.base_lo <= 0 and variable.base_hi >= 1)
        value = w.number_in(max(variable.base_lo, 0), variable.base_hi)
        w.need(value.text != variable.text and w.fits(variable, value))
    w.write(f"{variable.text} = {value.text}")


@RULES.enter("statement", 1, 9)
def _augment(w: ProgramWriter) -> None:
    variable = w.choose(w.assignable("int"))
    draw = w.random()
    if draw < 0.8:
        _increase(w, variable)
        return
    by = w.between(2, 5)
    if draw < 0.9:
        before = Operand(variable.text, "int", variable.lo, variable.hi)
        if w.attempt(lambda w: w.need(w.fits(variable, product_of(before, Operand("", "int", by, by))))):
            w.write(f"{variable.text} *= {by}")
            return
    _need_dividend(w, variable, by)
    if draw < 0.95:
        w.need(w.fits(variable, Operand("", "int", variable.lo // by, variable.hi // by)))
        w.write(f"{variable.text} //= {by}")
        return
    by = w.pick((3, 5, 7, 10, 10, 20))
    _need_dividend(w, variable, by)
    w.need(w.fits(variable, Operand("", "int", 0, by - 1)))
    w.write(f"{variable.text} %= {by}")


def _increase(w: ProgramWriter, variable: Local) -> None:
    value = w.number(w.below(2)) if w.chance(0.5) else w.atom()
    w.need(largest(value) <= 999)
    sign = w.pick("++-")
    low, high = (value.lo, value.hi) if sign == "+" else (-value.hi, -value.lo)
    w.need(w.may_grow(variable, low, high, LIMIT))
    if w.chance(0.3) and value.prec >= 1:
        w.write(f"{variable.text} = {variable.text} {sign} {value.at(2)}")
    else:
        w.write(f"{variable.text} {sign}= {value.text}")


@RULES.enter("statement", 1, 2)
def _swap(w: ProgramWriter) -> None:
    w.need(len(choices := w.assignable("int")) >= 2)
    a, b = w.recent(choices), w.recent(choices)
    w.need(a is not b)
    new_a = Operand(b.text, "int", b.lo, b.hi)
    new_b = Operand(a.text, "int", a.lo, a.hi) if w.chance(0.5) else sum_of(a, "+", b)
    w.need(_keeps(a, new_a) and _keeps(b, new_b))
    w.fits(a, new_a)
    w.fits(b, new_b)
    w.write(f"{a.text}, {b.text} = {new_a.text}, {new_b.text}")


def _keeps(variable: Local, value: Operand) -> bool:
    return not variable.looped or (variable.base_lo <= value.lo and value.hi <= variable.base_hi)


@RULES.enter("statement", 1, 1.5)
def _two_at_once(w: ProgramWriter) -> None:
    w.need_room()
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


@RULES.enter("statement", 1, 2)
def _new_flag(w: ProgramWriter) -> None:
    w.need_room()
    text = w.condition()
    w.assign_new("bool", Operand(f"not {text}" if text.isidentifier() else text, "bool"))


@RULES.enter("statement", 1, 1)
def _new_half(w: ProgramWriter) -> None:
    w.need_room()
    choices = w.of("float")
    if choices and w.chance(0.5):
        a = w.recent(choices)
        forms = [
            (f"{a.text} + 0.5", a.lo, a.hi + 1),
            (f"{a.text} * 2", 2 * a.lo - 2, 2 * a.hi + 2),
            (f"{a.text} - 1", a.lo - 1, a.hi),
        ]
    else:
        b = _variable(w)
        forms = [(f"{b.text} {half}", b.lo // 2, b.hi // 2 + 1) for half in ("/ 2", "* 0.5")]
    text, low, high = w.pick(forms)
    w.need(max(abs(low), abs(high)) <= 999)
    w.assign_new("float", Operand(text, "float", low, high))
