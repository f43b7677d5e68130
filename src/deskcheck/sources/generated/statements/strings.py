"""Level 5, strings: what makes them, takes numbers from them, asks about them and changes them."""

from deskcheck.sources.generated.writing.values import TEXT, Operand, largest
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


@RULES.enter("str", 5, 8)
def _join_two(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.string(depth), w.string(0)
    if w.chance(0.3):
        a, b = b, a
    w.need(a.hi + b.hi <= TEXT and not (a.text[0] == '"' and b.text[0] == '"'))
    return Operand(f"{a.at(1)} + {b.at(2)}", "str", a.lo + b.lo, a.hi + b.hi, 1)


@RULES.enter("str", 5, 5)
def _slice(w: ProgramWriter, depth: int) -> Operand:
    a, k = w.choose(w.of("str")), w.between(1, 3)
    form = w.below(5)
    if form == 0:
        return Operand(f"{a.text}[{k}:]", "str", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 1:
        return Operand(f"{a.text}[:{k}]", "str", min(a.lo, k), min(a.hi, k))
    if form == 2:
        return Operand(f"{a.text}[:-{k}]", "str", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 3:
        return Operand(f"{a.text}[{k}:{k + w.between(1, 3)}]", "str", 0, 3)
    return Operand(f"{a.text}[-{k}:]", "str", min(a.lo, k), min(a.hi, k))


@RULES.enter("str", 5, 2)
def _stride(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("str"))
    w.need(a.hi <= 10)
    if w.chance(0.6):
        return Operand(f"{a.text}[::-1]", "str", a.lo, a.hi)
    return Operand(f"{a.text}[::2]", "str", (a.lo + 1) // 2, (a.hi + 1) // 2)


@RULES.enter("str", 5, 5)
def _letter_of(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.indexed("str"))
    return Operand(f"{a.text}[{w.index_in(a)}]", "str", 1, 1)


@RULES.enter("str", 5, 2)
def _repeat(w: ProgramWriter, depth: int) -> Operand:
    a, k = w.string(0), w.between(2, 3)
    w.need(a.hi * k <= 12)
    return Operand(f"{a.at(2)} * {k}", "str", a.lo * k, a.hi * k, 2)


@RULES.enter("str", 5, 4)
def _case(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("str"))
    w.need(a.hi <= 12)
    method = w.pick(("upper", "lower", "upper", "capitalize", "title", "swapcase"))
    return Operand(f"{a.text}.{method}()", "str", a.lo, a.hi)


@RULES.enter("str", 5, 4)
def _replace(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("str"))
    w.need(a.hi <= 12)
    form, letter = w.below(4), w.letter()
    if form == 0:
        return Operand(f'{a.text}.strip("{letter}")', "str", 0, a.hi)
    if form == 1:
        return Operand(f'{a.text}.replace("{letter}", "")', "str", 0, a.hi)
    return Operand(f'{a.text}.replace("{letter}", "{w.letter().upper()}")', "str", a.lo, a.hi)


def _width(a: Operand) -> int:
    """Characters of a text or of a number that is written out, at most."""
    return a.hi if a.kind == "str" else len(str(largest(a))) + (a.lo < 0)


@RULES.enter("str", 5, 3)
def _written(w: ProgramWriter, depth: int) -> Operand:
    a = w.variable()
    return Operand(f"str({a.text})", "str", 1, _width(a))


@RULES.enter("str", 5, 3)
def _formatted(w: ProgramWriter, depth: int) -> Operand:
    parts = w.of("str") + w.of("int")
    a, b = w.choose(parts), w.recent(parts)
    high = _width(a) + _width(b) + 1
    w.need(high <= TEXT)
    return Operand(f'f"{{{a.text}}}{w.pick(("-", ":", "", " "))}{{{b.text}}}"', "str", 0, high)


@RULES.enter("str", 5, 2)
def _string_either(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.string(0), w.string(0)
    w.need(a.text != b.text)
    return Operand(f"{a.text} if {w.condition()} else {b.text}", "str", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@RULES.enter("str", 5, 1)
def _pad(w: ProgramWriter, depth: int) -> Operand:
    zeros, a = w.chance(0.5), w.variable()
    w.need(a.lo >= 0)
    if zeros:
        return Operand(f"str({a.text}).zfill(3)", "str", 3, max(3, len(str(a.hi))))
    w.need(a.hi <= 20)
    return Operand(f"chr(97 + {a.at(2)})", "str", 1, 1)


@RULES.enter("int", 5, 5)
def _length(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.variables if v.kind in ("str", "list", "dict", "set")])
    return Operand(f"len({a.text})", "int", max(a.lo, 0), a.hi)


@RULES.enter("int", 5, 2)
def _count(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("str") + (w.of("list") if w.level >= 6 else []))
    if a.kind == "str":
        item = f'"{w.letter()}"'
    elif a.items == "str":
        item = f'"{w.word()}"'
    else:
        item = str(w.between(max(a.item_lo, 0), min(a.item_hi, 5)))
    return Operand(f"{a.text}.count({item})", "int", 0, a.hi)


@RULES.enter("int", 5, 2)
def _find(w: ProgramWriter, depth: int) -> Operand:
    a, method = w.choose(w.of("str")), w.pick(("find", "find", "rfind"))
    return Operand(f'{a.text}.{method}("{w.letter()}")', "int", -1, max(a.hi - 1, 0))


@RULES.enter("int", 5, 0.8)
def _letter_number(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("str") if v.lo >= 1])
    return Operand(f"ord({a.text}[0])", "int", 0, 130)


@RULES.enter("condition", 5, 6)
def _string_test(w: ProgramWriter) -> str:
    a = w.choose(w.of("str"))
    form = w.below(8)
    if form == 0:
        return f'"{w.letter()}" in {a.text}'
    if form == 1:
        return f'{a.text} {w.pick(("==", "!="))} "{w.word() if a.hi > 1 else w.letter()}"'
    if form == 2:
        return f'{a.text}.{w.pick(("startswith", "endswith"))}("{w.letter()}")'
    if form == 3:
        return f"len({a.text}) {w.pick(('>', '<', '==', '>='))} {w.between(a.lo, max(a.hi - 1, a.lo))}"
    if form == 4:
        return f"{a.text}.{w.pick(('isdigit', 'isalpha', 'isupper', 'islower'))}()"
    if form == 5:
        return f'{a.text} {"not " if w.chance(0.3) else ""}in "{w.pick(("aeiou", "abc", "xyz", "abcde"))}"'
    if form == 6:
        return f'{a.text} < "{w.letter()}"'
    w.need(a.hi <= 8)
    return f"{a.text} == {a.text}[::-1]"


@RULES.enter("statement", 5, 8)
def _new_string(w: ProgramWriter) -> None:
    w.need_room()
    w.assign_new("str", w.string())


@RULES.enter("statement", 5, 6)
def _assign_string(w: ProgramWriter) -> None:
    variable, value = w.choose(w.growable("str")), w.string()
    w.need(value.text != variable.text and w.fits(variable, value))
    w.write(f"{variable.text} = {value.text}")


@RULES.enter("statement", 5, 7)
def extend_string(w: ProgramWriter) -> None:
    variable, value = w.choose(w.growable("str")), w.string(w.below(2))
    w.need(value.hi <= 6 and w.may_grow(variable, value.lo, value.hi, TEXT))
    form = w.below(3)
    if form == 0 and value.prec >= 1:
        w.write(f"{variable.text} = {value.at(1)} + {variable.text}")
    elif form == 1 and value.prec >= 1:
        w.write(f"{variable.text} = {variable.text} + {value.at(2)}")
    else:
        w.write(f"{variable.text} += {value.text}")
