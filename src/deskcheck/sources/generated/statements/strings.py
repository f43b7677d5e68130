"""Level 5, strings: what makes them, takes numbers from them, asks about them and changes them.

Loops over them stand in `loops`.
"""

from deskcheck.sources.generated.statements.indices import indexed, place_in
from deskcheck.sources.generated.writing.bounds import TEXT
from deskcheck.sources.generated.writing.values import Local, Operand, largest
from deskcheck.sources.generated.writing.writer import (
    Condition,
    Expression,
    ProgramWriter,
    Statement,
    Table,
    entered,
)

STRINGS: Table[Expression] = []
INTS: Table[Expression] = []
CONDITIONS: Table[Condition] = []
STATEMENTS: Table[Statement] = []


def _a_string(w: ProgramWriter) -> Local | None:
    known = w.of("str")
    return w.recent(known) if known else None


@entered(STRINGS, 5, 8)
def _join_two(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.string(depth), w.string(0)
    if w.chance(0.3):
        a, b = b, a
    if a.hi + b.hi > TEXT or (a.text[0] == '"' and b.text[0] == '"'):
        return None
    return Operand(f"{a.at(1)} + {b.at(2)}", "str", a.lo + b.lo, a.hi + b.hi, 1)


@entered(STRINGS, 5, 5)
def _slice(w: ProgramWriter, depth: int) -> Operand | None:
    a = _a_string(w)
    if a is None:
        return None
    k = w.between(1, 3)
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


@entered(STRINGS, 5, 2)
def _stride(w: ProgramWriter, depth: int) -> Operand | None:
    a = _a_string(w)
    if a is None or a.hi > 10:
        return None
    if w.chance(0.6):
        return Operand(f"{a.text}[::-1]", "str", a.lo, a.hi)
    return Operand(f"{a.text}[::2]", "str", (a.lo + 1) // 2, (a.hi + 1) // 2)


@entered(STRINGS, 5, 5)
def _letter_of(w: ProgramWriter, depth: int) -> Operand | None:
    known = indexed(w, "str")
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{a.text}[{place_in(w, a)}]", "str", 1, 1)


@entered(STRINGS, 5, 2)
def _repeat(w: ProgramWriter, depth: int) -> Operand | None:
    a, k = w.string(0), w.between(2, 3)
    if a.hi * k > 12:
        return None
    return Operand(f"{a.at(2)} * {k}", "str", a.lo * k, a.hi * k, 2)


@entered(STRINGS, 5, 4)
def _case(w: ProgramWriter, depth: int) -> Operand | None:
    a = _a_string(w)
    if a is None or a.hi > 12:
        return None
    return Operand(
        f"{a.text}.{w.pick(('upper', 'lower', 'upper', 'capitalize', 'title', 'swapcase'))}()",
        "str",
        a.lo,
        a.hi,
    )


@entered(STRINGS, 5, 4)
def _replace(w: ProgramWriter, depth: int) -> Operand | None:
    a = _a_string(w)
    if a is None or a.hi > 12:
        return None
    form = w.below(4)
    if form == 0:
        return Operand(f'{a.text}.strip("{w.letter()}")', "str", 0, a.hi)
    old = w.letter()
    if form == 1:
        return Operand(f'{a.text}.replace("{old}", "")', "str", 0, a.hi)
    return Operand(f'{a.text}.replace("{old}", "{w.letter().upper()}")', "str", a.lo, a.hi)


@entered(STRINGS, 5, 3)
def _written(w: ProgramWriter, depth: int) -> Operand | None:
    a = w.variable()
    return Operand(f"str({a.text})", "str", 1, len(str(largest(a))) + (a.lo < 0))


@entered(STRINGS, 5, 3)
def _formatted(w: ProgramWriter, depth: int) -> Operand | None:
    parts = w.of("str") + w.of("int")
    if not parts:
        return None
    a, b = w.recent(parts), w.recent(parts)
    high = sum(v.hi if v.kind == "str" else len(str(largest(v))) + (v.lo < 0) for v in (a, b)) + 1
    if high > TEXT:
        return None
    return Operand(f'f"{{{a.text}}}{w.pick(("-", ":", "", " "))}{{{b.text}}}"', "str", 0, high)


@entered(STRINGS, 5, 2)
def _string_either(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.string(0), w.string(0)
    if a.text == b.text:
        return None
    return Operand(f"{a.text} if {w.condition()} else {b.text}", "str", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@entered(STRINGS, 5, 1)
def _pad(w: ProgramWriter, depth: int) -> Operand | None:
    if w.chance(0.5):
        a = w.variable()
        if a.lo < 0:
            return None
        return Operand(f"str({a.text}).zfill(3)", "str", 3, max(3, len(str(a.hi))))
    a = w.variable()
    if a.lo < 0 or a.hi > 20:
        return None
    return Operand(f"chr(97 + {a.at(2)})", "str", 1, 1)


@entered(INTS, 5, 5)
def _length(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.variables if v.kind in ("str", "list", "dict", "set")]
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"len({a.text})", "int", max(a.lo, 0), a.hi)


@entered(INTS, 5, 2)
def _count(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("str") + (w.of("list") if w.level >= 6 else [])
    if not known:
        return None
    a = w.recent(known)
    if a.kind == "str":
        return Operand(f'{a.text}.count("{w.letter()}")', "int", 0, a.hi)
    if a.items == "str":
        return Operand(f'{a.text}.count("{w.word()}")', "int", 0, a.hi)
    return Operand(f"{a.text}.count({w.between(max(a.item_lo, 0), min(a.item_hi, 5))})", "int", 0, a.hi)


@entered(INTS, 5, 2)
def _find(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("str")
    if not known:
        return None
    a = w.recent(known)
    return Operand(
        f'{a.text}.{w.pick(("find", "find", "rfind"))}("{w.letter()}")', "int", -1, max(a.hi - 1, 0)
    )


@entered(INTS, 5, 0.8)
def _letter_number(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("str") if v.lo >= 1]
    if not known:
        return None
    return Operand(f"ord({w.recent(known).text}[0])", "int", 0, 130)


@entered(CONDITIONS, 5, 6)
def _string_test(w: ProgramWriter) -> str | None:
    a = _a_string(w)
    if a is None:
        return None
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
    return f"{a.text} == {a.text}[::-1]" if a.hi <= 8 else None


@entered(STATEMENTS, 5, 8)
def _new_string(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    value = w.string()
    name = w.fresh("str")
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@entered(STATEMENTS, 5, 6)
def _assign_string(w: ProgramWriter) -> bool:
    known = w.growable("str")
    if not known:
        return False
    variable, value = w.recent(known), w.string()
    if value.text == variable.text or not w.fits(variable, value):
        return False
    w.write(f"{variable.text} = {value.text}")
    return True


@entered(STATEMENTS, 5, 7)
def extend_string(w: ProgramWriter) -> bool:
    known = w.growable("str")
    if not known:
        return False
    variable, value = w.recent(known), w.string(w.below(2))
    if value.hi > 6 or not w.may_grow(variable, value.lo, value.hi, TEXT):
        return False
    form = w.below(3)
    if form == 0 and value.prec >= 1:
        w.write(f"{variable.text} = {value.at(1)} + {variable.text}")
    elif form == 1 and value.prec >= 1:
        w.write(f"{variable.text} = {variable.text} + {value.at(2)}")
    else:
        w.write(f"{variable.text} += {value.text}")
    return True
