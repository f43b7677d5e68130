"""Level 5, strings: expressions, numbers from strings, conditions, and changes."""

from deskcheck.sources.generated.writing.values import TEXT, Operand, largest
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


@RULES.enter("str", 5, 8)
def _join_two(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.string(depth), writer.string(0)
    if writer.chance(0.3):
        a, b = b, a
    writer.need(a.hi + b.hi <= TEXT and not (a.text[0] == '"' and b.text[0] == '"'))
    return Operand(f"{a.at(1)} + {b.at(2)}", "str", a.lo + b.lo, a.hi + b.hi, 1)


@RULES.enter("str", 5, 5)
def _slice(writer: ProgramWriter, depth: int) -> Operand:
    string, k = writer.choose(writer.of("str")), writer.between(1, 3)
    form = writer.below(5)
    if form == 0:
        return Operand(f"{string.text}[{k}:]", "str", max(string.lo - k, 0), max(string.hi - k, 0))
    if form == 1:
        return Operand(f"{string.text}[:{k}]", "str", min(string.lo, k), min(string.hi, k))
    if form == 2:
        return Operand(f"{string.text}[:-{k}]", "str", max(string.lo - k, 0), max(string.hi - k, 0))
    if form == 3:
        return Operand(f"{string.text}[{k}:{k + writer.between(1, 3)}]", "str", 0, 3)
    return Operand(f"{string.text}[-{k}:]", "str", min(string.lo, k), min(string.hi, k))


@RULES.enter("str", 5, 2)
def _stride(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose(writer.of("str"))
    writer.need(string.hi <= 10)
    if writer.chance(0.6):
        return Operand(f"{string.text}[::-1]", "str", string.lo, string.hi)
    return Operand(f"{string.text}[::2]", "str", (string.lo + 1) // 2, (string.hi + 1) // 2)


@RULES.enter("str", 5, 5)
def _letter_of(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose(writer.indexed("str"))
    return Operand(f"{string.text}[{writer.index_in(string)}]", "str", 1, 1)


@RULES.enter("str", 5, 2)
def _repeat(writer: ProgramWriter, depth: int) -> Operand:
    string, k = writer.string(0), writer.between(2, 3)
    writer.need(string.hi * k <= 12)
    return Operand(f"{string.at(2)} * {k}", "str", string.lo * k, string.hi * k, 2)


@RULES.enter("str", 5, 4)
def _case(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose(writer.of("str"))
    writer.need(string.hi <= 12)
    method = writer.pick(("upper", "lower", "upper", "capitalize", "title", "swapcase"))
    return Operand(f"{string.text}.{method}()", "str", string.lo, string.hi)


@RULES.enter("str", 5, 4)
def _replace(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose(writer.of("str"))
    writer.need(string.hi <= 12)
    form, letter = writer.below(4), writer.letter()
    if form == 0:
        return Operand(f'{string.text}.strip("{letter}")', "str", 0, string.hi)
    if form == 1:
        return Operand(f'{string.text}.replace("{letter}", "")', "str", 0, string.hi)
    return Operand(
        f'{string.text}.replace("{letter}", "{writer.letter().upper()}")', "str", string.lo, string.hi
    )


def _width(string: Operand) -> int:
    """The largest number of characters of a text, or of a number that is written out."""
    return string.hi if string.kind == "str" else len(str(largest(string))) + (string.lo < 0)


@RULES.enter("str", 5, 3)
def _written(writer: ProgramWriter, depth: int) -> Operand:
    number = writer.variable()
    return Operand(f"str({number.text})", "str", 1, _width(number))


@RULES.enter("str", 5, 3)
def _formatted(writer: ProgramWriter, depth: int) -> Operand:
    parts = writer.of("str") + writer.of("int")
    a, b = writer.choose(parts), writer.recent(parts)
    high = _width(a) + _width(b) + 1
    writer.need(high <= TEXT)
    return Operand(f'f"{{{a.text}}}{writer.pick(("-", ":", "", " "))}{{{b.text}}}"', "str", 0, high)


@RULES.enter("str", 5, 2)
def _string_either(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.string(0), writer.string(0)
    writer.need(a.text != b.text)
    return Operand(
        f"{a.text} if {writer.condition()} else {b.text}", "str", min(a.lo, b.lo), max(a.hi, b.hi), 0
    )


@RULES.enter("str", 5, 1)
def _pad(writer: ProgramWriter, depth: int) -> Operand:
    zeros, number = writer.chance(0.5), writer.variable()
    writer.need(number.lo >= 0)
    if zeros:
        return Operand(f"str({number.text}).zfill(3)", "str", 3, max(3, len(str(number.hi))))
    writer.need(number.hi <= 20)
    return Operand(f"chr(97 + {number.at(2)})", "str", 1, 1)


@RULES.enter("int", 5, 5)
def _length(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose([v for v in writer.variables if v.kind in ("str", "list", "dict", "set")])
    return Operand(f"len({string.text})", "int", max(string.lo, 0), string.hi)


@RULES.enter("int", 5, 2)
def _count(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose(writer.of("str") + (writer.of("list") if writer.level >= 6 else []))
    if string.kind == "str":
        item = f'"{writer.letter()}"'
    elif string.items == "str":
        item = f'"{writer.word()}"'
    else:
        item = str(writer.between(max(string.item_lo, 0), min(string.item_hi, 5)))
    return Operand(f"{string.text}.count({item})", "int", 0, string.hi)


@RULES.enter("int", 5, 2)
def _find(writer: ProgramWriter, depth: int) -> Operand:
    string, method = writer.choose(writer.of("str")), writer.pick(("find", "find", "rfind"))
    return Operand(f'{string.text}.{method}("{writer.letter()}")', "int", -1, max(string.hi - 1, 0))


@RULES.enter("int", 5, 0.8)
def _letter_number(writer: ProgramWriter, depth: int) -> Operand:
    string = writer.choose([v for v in writer.of("str") if v.lo >= 1])
    return Operand(f"ord({string.text}[0])", "int", 0, 130)


@RULES.enter("condition", 5, 6)
def _string_test(writer: ProgramWriter) -> str:
    string = writer.choose(writer.of("str"))
    form = writer.below(8)
    if form == 0:
        return f'"{writer.letter()}" in {string.text}'
    if form == 1:
        sign = writer.pick(("==", "!="))
        return f'{string.text} {sign} "{writer.word() if string.hi > 1 else writer.letter()}"'
    if form == 2:
        return f'{string.text}.{writer.pick(("startswith", "endswith"))}("{writer.letter()}")'
    if form == 3:
        sign = writer.pick((">", "<", "==", ">="))
        return f"len({string.text}) {sign} {writer.between(string.lo, max(string.hi - 1, string.lo))}"
    if form == 4:
        return f"{string.text}.{writer.pick(('isdigit', 'isalpha', 'isupper', 'islower'))}()"
    if form == 5:
        negation = "not " if writer.chance(0.3) else ""
        return f'{string.text} {negation}in "{writer.pick(("aeiou", "abc", "xyz", "abcde"))}"'
    if form == 6:
        return f'{string.text} < "{writer.letter()}"'
    writer.need(string.hi <= 8)
    return f"{string.text} == {string.text}[::-1]"


@RULES.enter("statement", 5, 8)
def _new_string(writer: ProgramWriter) -> None:
    writer.need_room()
    writer.assign_new("str", writer.string())


@RULES.enter("statement", 5, 6)
def _assign_string(writer: ProgramWriter) -> None:
    variable, value = writer.choose(writer.growable("str")), writer.string()
    writer.need(value.text != variable.text and writer.fits(variable, value))
    writer.write(f"{variable.text} = {value.text}")


@RULES.enter("statement", 5, 7)
def extend_string(writer: ProgramWriter) -> None:
    variable, value = writer.choose(writer.growable("str")), writer.string(writer.below(2))
    writer.need(value.hi <= 6 and writer.may_grow(variable, value.lo, value.hi, TEXT))
    form = writer.below(3)
    if form == 0 and value.prec >= 1:
        writer.write(f"{variable.text} = {value.at(1)} + {variable.text}")
    elif form == 1 and value.prec >= 1:
        writer.write(f"{variable.text} = {variable.text} + {value.at(2)}")
    else:
        writer.write(f"{variable.text} += {value.text}")
