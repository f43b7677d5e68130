"""Level 1, arithmetic: numbers, truth values and halves, their comparisons and assignments.

Numbers from texts, lists, dictionaries and calls are in the files for those.
"""

from deskcheck.sources.generated.writing.values import LIMIT, Local, Operand, largest, product_of, sum_of
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _is_constant(number: Operand) -> bool:
    return number.text.lstrip("-").isdigit()


def _variable(writer: ProgramWriter) -> Operand:
    number = writer.variable()
    writer.need(not _is_constant(number))
    return number


@RULES.enter("int", 1, 10)
def _add(writer: ProgramWriter, depth: int) -> Operand:
    return sum_of(writer.number(depth), "+", writer.atom())


@RULES.enter("int", 1, 7)
def _subtract(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.number(depth), writer.atom()
    writer.need(a.text != b.text)
    return sum_of(a, "-", b)


@RULES.enter("int", 1, 3)
def _from_constant(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.constant(), writer.variable()
    return product_of(a, b) if writer.chance(0.4) else sum_of(a, writer.pick("+-"), b)


@RULES.enter("int", 1, 6)
def _multiply(writer: ProgramWriter, depth: int) -> Operand:
    factor = writer.literal(2, 9) if writer.chance(0.7) else writer.variable()
    return product_of(writer.number(depth) if writer.chance(0.3) else writer.variable(), factor)


def _need_dividend(writer: ProgramWriter, number: Operand, by: int) -> None:
    """Raise CannotWrite if the dividend is too large.

    Division by 2, 5 and 10 is easy for large numbers; division by 7 needs all digits, which is hard in one
    step.
    """
    writer.need(largest(number) <= (9999 if by in (2, 5, 10, 100) else 999))


@RULES.enter("int", 1, 5)
def _modulo(writer: ProgramWriter, depth: int) -> Operand:
    number, by = writer.number(depth), writer.pick((2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 10, 100))
    writer.need(number.lo != number.hi)
    _need_dividend(writer, number, by)
    return Operand(f"{number.at(2)} % {by}", "int", 0, by - 1, 2)


@RULES.enter("int", 1, 5)
def _divide(writer: ProgramWriter, depth: int) -> Operand:
    number, by = writer.number(depth), writer.pick((2, 2, 2, 3, 4, 5, 10, 10))
    writer.need(number.lo != number.hi)
    _need_dividend(writer, number, by)
    return Operand(f"{number.at(2)} // {by}", "int", number.lo // by, number.hi // by, 2)


@RULES.enter("int", 1, 1.5)
def _divide_by_variable(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.variable(), writer.variable()
    writer.need(b.lo >= 1 and b.hi <= 20 and largest(a) <= 999 and a.text != b.text)
    if writer.chance(0.5):
        return Operand(f"{a.at(2)} % {b.at(3)}", "int", 0, b.hi - 1, 2)
    return Operand(f"{a.at(2)} // {b.at(3)}", "int", min(a.lo, 0), max(a.hi, 0), 2)


@RULES.enter("int", 1, 1)
def _square(writer: ProgramWriter, depth: int) -> Operand:
    number = _variable(writer)
    writer.need(largest(number) <= 20)
    low = 0 if number.lo <= 0 <= number.hi else min(number.lo * number.lo, number.hi * number.hi)
    return Operand(f"{number.at(3)} ** 2", "int", low, largest(number) ** 2, 2)


@RULES.enter("int", 1, 1.2)
def _negate(writer: ProgramWriter, depth: int) -> Operand:
    number = _variable(writer)
    return Operand(f"-{number.at(3)}", "int", -number.hi, -number.lo, 1)


@RULES.enter("int", 1, 2)
def _absolute(writer: ProgramWriter, depth: int) -> Operand:
    number = writer.number(depth)
    writer.need(number.lo < 0)
    return Operand(f"abs({number.text})", "int", 0, largest(number))


@RULES.enter("int", 1, 4)
def _extreme(writer: ProgramWriter, depth: int) -> Operand:
    name, a, b = writer.pick(("min", "max")), writer.number(depth), writer.atom()
    writer.need(a.text != b.text)
    best = min if name == "min" else max
    return Operand(f"{name}({a.text}, {b.text})", "int", best(a.lo, b.lo), best(a.hi, b.hi))


@RULES.enter("int", 1, 1)
def _bits(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.variable()
    writer.need(a.lo >= 0 and a.hi <= 99)
    sign = writer.pick("&|^")
    b = writer.pick((1, 2, 3, 4, 7))
    high = min(a.hi, b) if sign == "&" else (1 << max(a.hi, b).bit_length()) - 1
    return Operand(f"{a.at(3)} {sign} {b}", "int", 0, high, 0)


@RULES.enter("int", 1, 0.7)
def _shift(writer: ProgramWriter, depth: int) -> Operand:
    number, by = writer.variable(), writer.between(1, 3)
    writer.need(number.lo >= 0 and number.hi <= 99)
    if writer.chance(0.5):
        return Operand(f"{number.at(3)} << {by}", "int", number.lo << by, number.hi << by, 0)
    return Operand(f"{number.at(3)} >> {by}", "int", number.lo >> by, number.hi >> by, 0)


@RULES.enter("int", 1, 0.6)
def _invert(writer: ProgramWriter, depth: int) -> Operand:
    number = writer.variable()
    writer.need(number.text[0].isalpha())
    return Operand(f"~{number.at(3)}", "int", -number.hi - 1, -number.lo - 1, 1)


@RULES.enter("int", 1, 0.8)
def _whole_half(writer: ProgramWriter, depth: int) -> Operand:
    number = writer.choose(writer.of("float"))
    return Operand(
        f"{writer.pick(('int', 'int', 'round'))}({number.text})", "int", number.lo - 1, number.hi + 1
    )


@RULES.enter("condition", 1, 10)
def compare(writer: ProgramWriter) -> str:
    number = _variable(writer)
    sign = writer.pick(("<", ">", "<=", ">=", "==", "!=", "<", ">"))
    low, high = max(number.lo, -20), min(number.hi, 99)
    if high <= low:
        low, high = number.lo, number.hi
    middle = writer.between(low, min(high, low + writer.pick((5, 10, 20, 120))))
    return f"{number.text} {sign} {middle}"


@RULES.enter("condition", 1, 5)
def compare_two(writer: ProgramWriter) -> str:
    a, b = writer.variable(), writer.variable()
    writer.need(a.text != b.text and not _is_constant(a))
    return f"{a.text} {writer.pick(('<', '>', '<=', '>=', '==', '!='))} {b.text}"


@RULES.enter("condition", 1, 5)
def divides(writer: ProgramWriter) -> str:
    number = writer.variable()
    by, sign = writer.pick((2, 2, 2, 3, 3, 4, 5)), writer.pick(("==", "==", "==", "!=", ">"))
    writer.need(not _is_constant(number))
    _need_dividend(writer, number, by)
    return f"{number.text} % {by} {sign} {writer.pick((0, 0, 0, 1))}"


@RULES.enter("condition", 1, 2)
def _compare_sum(writer: ProgramWriter) -> str:
    number = writer.number(1)
    writer.need(number.prec >= 1 and number.lo != number.hi)
    sign = writer.pick(("<", ">", "==", "!=", "<="))
    return f"{number.at(1)} {sign} {writer.between(max(number.lo, -9), min(max(number.hi, -9), 50))}"


@RULES.enter("condition", 1, 2)
def flag(writer: ProgramWriter) -> str:
    writer.need(choices := writer.of("bool"))
    return f"{'not ' if writer.chance(0.35) else ''}{writer.recent(choices).text}"


def something(writer: ProgramWriter) -> None:
    """Write a simple statement, which is possible anywhere."""
    if not (writer.attempt(_augment) or writer.attempt(_assign)):
        name = writer.fresh("int")
        value = writer.number()
        writer.write(f"{name} = {value.text}")
        writer.declare(name, value)


@RULES.enter("statement", 1, 10)
def _new_number(writer: ProgramWriter) -> None:
    writer.need_room()
    writer.assign_new("int", writer.number() if writer.chance(0.9) else writer.constant())


@RULES.enter("statement", 1, 6)
def _assign(writer: ProgramWriter) -> None:
    variable = writer.choose(writer.assignable("int"))
    value = writer.number()
    writer.need(value.text != variable.text)
    if not writer.fits(variable, value):
        writer.need(variable.base_lo <= 0 and variable.base_hi >= 1)
        value = writer.number_in(max(variable.base_lo, 0), variable.base_hi)
        writer.need(value.text != variable.text and writer.fits(variable, value))
    writer.write(f"{variable.text} = {value.text}")


@RULES.enter("statement", 1, 9)
def _augment(writer: ProgramWriter) -> None:
    variable = writer.choose(writer.assignable("int"))
    draw = writer.random()
    if draw < 0.8:
        _increase(writer, variable)
        return
    by = writer.between(2, 5)
    if draw < 0.9:
        before = Operand(variable.text, "int", variable.lo, variable.hi)
        if writer.attempt(
            lambda writer: writer.need(writer.fits(variable, product_of(before, Operand("", "int", by, by))))
        ):
            writer.write(f"{variable.text} *= {by}")
            return
    _need_dividend(writer, variable, by)
    if draw < 0.95:
        writer.need(writer.fits(variable, Operand("", "int", variable.lo // by, variable.hi // by)))
        writer.write(f"{variable.text} //= {by}")
        return
    by = writer.pick((3, 5, 7, 10, 10, 20))
    _need_dividend(writer, variable, by)
    writer.need(writer.fits(variable, Operand("", "int", 0, by - 1)))
    writer.write(f"{variable.text} %= {by}")


def _increase(writer: ProgramWriter, variable: Local) -> None:
    value = writer.number(writer.below(2)) if writer.chance(0.5) else writer.atom()
    writer.need(largest(value) <= 999)
    sign = writer.pick("++-")
    low, high = (value.lo, value.hi) if sign == "+" else (-value.hi, -value.lo)
    writer.need(writer.may_grow(variable, low, high, LIMIT))
    if writer.chance(0.3) and value.prec >= 1:
        writer.write(f"{variable.text} = {variable.text} {sign} {value.at(2)}")
    else:
        writer.write(f"{variable.text} {sign}= {value.text}")


@RULES.enter("statement", 1, 2)
def _swap(writer: ProgramWriter) -> None:
    writer.need(len(choices := writer.assignable("int")) >= 2)
    a, b = writer.recent(choices), writer.recent(choices)
    writer.need(a is not b)
    new_a = Operand(b.text, "int", b.lo, b.hi)
    new_b = Operand(a.text, "int", a.lo, a.hi) if writer.chance(0.5) else sum_of(a, "+", b)
    writer.need(_keeps(a, new_a) and _keeps(b, new_b))
    writer.fits(a, new_a)
    writer.fits(b, new_b)
    writer.write(f"{a.text}, {b.text} = {new_a.text}, {new_b.text}")


def _keeps(variable: Local, value: Operand) -> bool:
    return not variable.looped or (variable.base_lo <= value.lo and value.hi <= variable.base_hi)


@RULES.enter("statement", 1, 1.5)
def _two_at_once(writer: ProgramWriter) -> None:
    writer.need_room()
    first, second = writer.number(), writer.number(0)
    a, b = writer.fresh("int"), writer.fresh("int")
    if writer.chance(0.3):
        writer.write(f"{a} = {b} = {first.text}")
        second = first
    elif writer.chance(0.3) and first.lo >= 0 and first.hi <= 999:
        by = writer.pick((2, 3, 5, 10))
        writer.write(f"{a}, {b} = divmod({first.text}, {by})")
        first, second = Operand("", "int", 0, first.hi // by), Operand("", "int", 0, by - 1)
    else:
        writer.write(f"{a}, {b} = {first.text}, {second.text}")
    writer.declare(a, first)
    writer.declare(b, second)


@RULES.enter("statement", 1, 2)
def _new_flag(writer: ProgramWriter) -> None:
    writer.need_room()
    text = writer.condition()
    writer.assign_new("bool", Operand(f"not {text}" if text.isidentifier() else text, "bool"))


@RULES.enter("statement", 1, 1)
def _new_half(writer: ProgramWriter) -> None:
    writer.need_room()
    choices = writer.of("float")
    if choices and writer.chance(0.5):
        a = writer.recent(choices)
        forms = [
            (f"{a.text} + 0.5", a.lo, a.hi + 1),
            (f"{a.text} * 2", 2 * a.lo - 2, 2 * a.hi + 2),
            (f"{a.text} - 1", a.lo - 1, a.hi),
        ]
    else:
        b = _variable(writer)
        forms = [(f"{b.text} {half}", b.lo // 2, b.hi // 2 + 1) for half in ("/ 2", "* 0.5")]
    text, low, high = writer.pick(forms)
    writer.need(max(abs(low), abs(high)) <= 999)
    writer.assign_new("float", Operand(text, "float", low, high))
