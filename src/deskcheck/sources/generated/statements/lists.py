"""Level 6, lists and tuples: of numbers and of strings, pairs, and rows of rows.

Loops over them stand in `loops`.
"""

from deskcheck.sources.generated.statements.indices import indexed, place_in
from deskcheck.sources.generated.writing.bounds import LIST, TEXT
from deskcheck.sources.generated.writing.values import Local, Operand, largest
from deskcheck.sources.generated.writing.writer import (
    Condition,
    Expression,
    ProgramWriter,
    Statement,
    Table,
    entered,
)
from deskcheck.sources.text.words import NAMES

LISTS: Table[Expression] = []
INTS: Table[Expression] = []
STRINGS: Table[Expression] = []
CONDITIONS: Table[Condition] = []
STATEMENTS: Table[Statement] = []


def _numbers_list(w: ProgramWriter) -> Local | None:
    known = w.of("list", "int")
    return w.recent(known) if known else None


def _like(a: Operand, text: str, low: int, high: int, prec: int = 3) -> Operand:
    return Operand(text, "list", low, high, prec, a.items, a.item_lo, a.item_hi)


def loop_name(w: ProgramWriter, kind: str) -> str | None:
    """A name for the variable of a comprehension, which must not hide one of the function's."""
    name = str(w.pick(NAMES[kind]))
    return None if name in w.names or name in w.global_names else name


@entered(LISTS, 6, 5)
def _display(w: ProgramWriter, depth: int) -> Operand | None:
    return w.list_display()


@entered(LISTS, 6, 4)
def _list_of_values(w: ProgramWriter, depth: int) -> Operand | None:
    values = [w.small() for _ in range(w.between(1, 4))]
    low, high = min(v.lo for v in values), max(v.hi for v in values)
    n = len(values)
    return Operand(
        f"[{', '.join(v.text for v in values)}]", "list", n, n, 3, "int", min(low, 0), max(high, 99)
    )


@entered(LISTS, 6, 4)
def _list_slice(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("list")
    if not known:
        return None
    a, k = w.recent(known), w.between(1, 3)
    form = w.below(5)
    if form == 0:
        return _like(a, f"{a.text}[{k}:]", max(a.lo - k, 0), max(a.hi - k, 0))
    if form == 1:
        return _like(a, f"{a.text}[:{k}]", min(a.lo, k), min(a.hi, k))
    if form == 2:
        return _like(a, f"{a.text}[::-1]", a.lo, a.hi)
    if form == 3:
        return _like(a, f"{a.text}[:]", a.lo, a.hi)
    return _like(a, f"{a.text}[::2]", (a.lo + 1) // 2, (a.hi + 1) // 2)


@entered(LISTS, 6, 2)
def _concatenate(w: ProgramWriter, depth: int) -> Operand | None:
    a = _numbers_list(w)
    if a is None:
        return None
    b = _numbers_list(w) if w.chance(0.5) else w.list_display(1, 2)
    assert b is not None
    if a.hi + b.hi > LIST:
        return None
    return Operand(
        f"{a.text} + {b.text}", "list", a.lo + b.lo, a.hi + b.hi, 1, "int",
        min(a.item_lo, b.item_lo), max(a.item_hi, b.item_hi),
    )  # fmt: skip


@entered(LISTS, 6, 2)
def _repeated_list(w: ProgramWriter, depth: int) -> Operand | None:
    k, n = w.pick((0, 0, 1)), w.between(2, 4)
    return Operand(f"[{k}] * {n}", "list", n, n, 2, "int", 0, 99)


@entered(LISTS, 6, 3)
def _sorted_list(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("list") if v.hi <= 5]
    if not known:
        return None
    a = w.recent(known)
    return _like(a, f"sorted({a.text}{', reverse=True' if w.chance(0.2) else ''})", a.lo, a.hi)


@entered(LISTS, 6, 2)
def _range_list(w: ProgramWriter, depth: int) -> Operand | None:
    k = w.between(2, 5)
    if w.chance(0.4):
        return Operand(f"list(range({k}, 0, -1))", "list", k, k, 3, "int", 0, 99)
    return Operand(f"list(range({k}))", "list", k, k, 3, "int", 0, 99)


@entered(LISTS, 6, 6)
def _comprehension(w: ProgramWriter, depth: int) -> Operand | None:
    a, x = _numbers_list(w), loop_name(w, "item")
    if a is None or x is None or a.hi > 6 or largest(Operand("", "int", a.item_lo, a.item_hi)) > 999:
        return None
    if w.chance(0.4):
        test = w.pick(
            (f"{x} > {w.below(10)}", f"{x} % 2 == 0", f"{x} < {w.below(20)}", f"{x} != {w.below(9)}")
        )
        return _like(a, f"[{x} for {x} in {a.text} if {test}]", 0, a.hi)
    k = w.between(2, 5)
    text, low, high = w.pick(
        (
            (f"{x} + {k}", a.item_lo + k, a.item_hi + k),
            (f"{x} - {k}", a.item_lo - k, a.item_hi - k),
            (f"{x} * {k}", min(a.item_lo * k, 0), max(a.item_hi * k, 0)),
            (f"{x} % {k}", 0, k - 1),
        )
    )
    return Operand(f"[{text} for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", low, high)


@entered(LISTS, 6, 1.5)
def _range_comprehension(w: ProgramWriter, depth: int) -> Operand | None:
    i, k, n = loop_name(w, "loop"), w.between(2, 5), w.between(2, 5)
    if i is None:
        return None
    return Operand(f"[{i} * {k} for {i} in range({n})]", "list", n, n, 3, "int", 0, 99)


@entered(LISTS, 6, 3)
def _letters(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("str") if v.hi <= 6]
    if not known:
        return None
    a = w.recent(known)
    if w.chance(0.6):
        return Operand(f"list({a.text})", "list", a.lo, a.hi, 3, "str", 1, 1)
    return Operand(f'{a.text}.split("{w.letter()}")', "list", 1, a.hi + 1, 3, "str", 0, a.hi)


@entered(LISTS, 6, 3)
def _words(w: ProgramWriter, depth: int) -> Operand | None:
    n = w.between(1, 3)
    words = [w.word() for _ in range(n)]
    return Operand(
        f"[{', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}]", "list", n, n, 3, "str", 0, 5
    )


@entered(LISTS, 6, 2)
def _word_comprehension(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("list", "str") if v.hi <= 4 and v.item_hi <= 6]
    x = loop_name(w, "char")
    if not known or x is None:
        return None
    a = w.recent(known)
    if w.chance(0.4):
        return Operand(f"[len({x}) for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", 0, 99)
    return _like(
        a, w.pick((f"[{x}.upper() for {x} in {a.text}]", f"[{x}[::-1] for {x} in {a.text}]")), a.lo, a.hi
    )


@entered(INTS, 6, 8)
def _item(w: ProgramWriter, depth: int) -> Operand | None:
    known = indexed(w, "list", "int")
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{a.text}[{place_in(w, a)}]", "int", a.item_lo, a.item_hi)


@entered(INTS, 6, 4)
def _of_list(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("list", "int")
    if not known:
        return None
    a, name = w.recent(known), w.pick(("sum", "max", "min", "sum"))
    if name == "sum":
        if a.hi > 6:
            return None
        return Operand(f"sum({a.text})", "int", min(a.item_lo * a.hi, 0), max(a.item_hi * a.hi, 0))
    if a.lo < 1:
        return Operand(f"{name}({a.text}, default=0)", "int", min(a.item_lo, 0), max(a.item_hi, 0))
    return Operand(f"{name}({a.text})", "int", a.item_lo, a.item_hi)


@entered(INTS, 6, 1)
def _of_pair(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("pair")
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{a.text}[{w.below(2)}]", "int", a.item_lo, a.item_hi)


@entered(INTS, 6, 1.5)
def _cell(w: ProgramWriter, depth: int) -> Operand | None:
    known = w.of("grid")
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{a.text}[{w.below(2)}][{w.below(2)}]", "int", a.item_lo, a.item_hi)


@entered(INTS, 6, 0.8)
def _sum_over(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("list", "int") if v.hi <= 5 and v.item_lo >= -99 and v.item_hi <= 99]
    if not known:
        return None
    a, x = w.recent(known), w.pick("xvn")
    if x in w.names:
        return None
    text = w.pick((f"sum({x} * 2 for {x} in {a.text})", f"sum(1 for {x} in {a.text} if {x} > {w.below(9)})"))
    return Operand(text, "int", min(0, 10 * a.item_lo), max(5, 10 * a.item_hi))


@entered(STRINGS, 6, 4)
def _join(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("list", "str") if v.hi * (v.item_hi + 1) <= 2 * TEXT]
    if not known:
        return None
    a, by = w.recent(known), w.pick(("", "-", ",", " "))
    return Operand(f'"{by}".join({a.text})', "str", 0, a.hi * (a.item_hi + 1))


@entered(STRINGS, 6, 4)
def _word_of(w: ProgramWriter, depth: int) -> Operand | None:
    known = [v for v in w.of("list", "str") if v.lo >= 1]
    if not known:
        return None
    a = w.recent(known)
    return Operand(f"{a.text}[{w.pick((0, -1))}]", "str", a.item_lo, a.item_hi)


@entered(CONDITIONS, 6, 4)
def _list_test(w: ProgramWriter) -> str | None:
    known = w.of("list")
    if not known:
        return None
    a = w.recent(known)
    form = w.below(3)
    if form == 0:
        return f"len({a.text}) {w.pick(('>', '<', '==', '>='))} {w.between(a.lo, max(a.hi - 1, a.lo))}"
    if a.items == "str":
        strings = w.of("str")
        return f"{w.recent(strings).text if strings else chr(34) + w.word() + chr(34)} in {a.text}"
    return f"{w.small().at(1)} {'not ' if w.chance(0.3) else ''}in {a.text}"


@entered(CONDITIONS, 6, 0.8)
def _any_all(w: ProgramWriter) -> str | None:
    a, x = _numbers_list(w), loop_name(w, "item")
    if a is None or x is None or a.hi > 5:
        return None
    return f"{w.pick(('any', 'all'))}({x} > {w.below(9)} for {x} in {a.text})"


@entered(STATEMENTS, 6, 8)
def _new_list(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    for _ in range(4):
        own, make = w.draw("list")
        value: Operand | None = make(w, 1)
        if value is not None and value.hi <= LIST:
            w.used.add(own)
            name = w.fresh("list" if value.items == "int" else "strs")
            w.write(f"{name} = {value.text}")
            w.declare(name, value)
            return True
    return False


@entered(STATEMENTS, 6, 8)
def append(w: ProgramWriter) -> bool:
    known = w.growable("list")
    if not known:
        return False
    a = w.recent(known)
    if a.items == "str":
        item = w.string(w.below(2))
        if item.lo < a.item_lo or item.hi > a.item_hi:
            return False
    else:
        item = w.number_in(a.item_lo, a.item_hi)
    if not w.may_grow(a, 1, 1, LIST):
        return False
    form = w.below(8)
    if form == 0:
        w.write(f"{a.text}.insert(0, {item.text})")
    elif form == 1:
        w.write(f"{a.text} += [{item.text}]")
    elif form == 2:
        w.write(f"{a.text}.extend([{item.text}])")
    else:
        w.write(f"{a.text}.append({item.text})")
    return True


@entered(STATEMENTS, 6, 6)
def _set_item(w: ProgramWriter) -> bool:
    known = [v for v in indexed(w, "list", "int") if not (w.helper and v.locked)]
    if not known:
        return False
    a = w.recent(known)
    at = place_in(w, a)
    if not w.loops and w.chance(0.3) and a.item_hi < 900:
        by = w.between(1, 9)
        a.item_hi += by
        w.write(f"{a.text}[{at}] += {by}")
        return True
    item = w.number_in(a.item_lo, a.item_hi)
    if item.text == f"{a.text}[{at}]":
        return False
    w.write(f"{a.text}[{at}] = {item.text}")
    return True


@entered(STATEMENTS, 6, 1.5)
def _swap_items(w: ProgramWriter) -> bool:
    known = [v for v in w.of("list") if v.lo >= 2]
    if not known:
        return False
    a = w.recent(known).text
    w.write(f"{a}[0], {a}[-1] = {a}[-1], {a}[0]")
    return True


@entered(STATEMENTS, 6, 4)
def _change_list(w: ProgramWriter) -> bool:
    known = w.growable("list")
    if not known:
        return False
    a = w.recent(known)
    if a.hi <= 5 and w.chance(0.4):
        w.write(f"{a.text}.{w.pick(('reverse()', 'sort()', 'sort()'))}")
        return True
    if a.looped and a.base_lo > 0:
        return False
    kept = not a.looped
    if kept and a.lo >= 1:  # it cannot be empty
        w.write(f"{a.text}.pop({w.pick(('', '0'))})" if w.chance(0.7) else f"del {a.text}[{w.pick((0, -1))}]")
        w.may_grow(a, -1, -1, LIST)
        return True
    if w.indent > 4:
        return False
    form = w.below(3)
    if form == 0 and a.items == "int":
        n = w.between(max(a.item_lo, 0), min(a.item_hi, 9))
        w.write(f"if {n} in {a.text}:")
        text = f"{a.text}.remove({n})"
    else:
        w.write(f"if {a.text}:")
        text = f"{a.text}.pop({w.pick(('', '0'))})"
    w.indent += 1
    w.write(text)
    w.indent -= 1
    if kept:
        a.lo = max(a.lo - 1, 0)
    return True


@entered(STATEMENTS, 6, 1.5)
def _take_item(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    known = [v for v in w.growable("list", "int") if v.lo >= 1 and not v.looped]
    if not known or w.loops:
        return False
    a = w.recent(known)
    name = w.fresh("int")
    w.write(f"{name} = {a.text}.pop({w.pick(('', '', '0'))})")
    w.declare(name, Operand(name, "int", a.item_lo, a.item_hi))
    w.may_grow(a, -1, -1, LIST)
    return True


@entered(STATEMENTS, 6, 1.5)
def _slice_assign(w: ProgramWriter) -> bool:
    known = [v for v in w.of("list", "int") if v.lo >= 2 and v.item_lo <= 0 and v.item_hi >= 9]
    if not known or w.helper:
        return False
    a = w.recent(known)
    w.write(f"{a.text}[:2] = [{w.below(9)}, {w.below(9)}]")
    return True


@entered(STATEMENTS, 6, 2)
def _unpack_list(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    known = [v for v in w.of("list", "int") if v.lo >= 2 and not v.looped]
    if not known:
        return False
    a = w.recent(known)
    first, rest = w.fresh("int"), w.fresh("list")
    w.write(f"{first}, *{rest} = {a.text}")
    w.declare(first, Operand(first, "int", a.item_lo, a.item_hi))
    w.declare(rest, _like(a, rest, a.lo - 1, a.hi - 1))
    return True


@entered(STATEMENTS, 6, 2)
def _new_pair(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    known = w.of("pair")
    if known and w.chance(0.5):
        pair = w.recent(known)
        a_name, b_name = w.fresh("int"), w.fresh("int")
        w.write(f"{a_name}, {b_name} = {pair.text}")
        for part in (a_name, b_name):
            w.declare(part, Operand(part, "int", pair.item_lo, pair.item_hi))
        return True
    a, b = w.number(), w.atom()
    name = w.fresh("pair")
    w.write(f"{name} = ({a.text}, {b.text})")
    w.declare(name, Operand(name, "pair", 2, 2, 3, "int", min(a.lo, b.lo), max(a.hi, b.hi)))
    return True


@entered(STATEMENTS, 6, 1.5)
def _new_grid(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    name = w.fresh("grid")
    if w.chance(0.4):
        i = loop_name(w, "loop")
        if i is None:
            return False
        w.write(f"{name} = [[0] * 2 for {i} in range(2)]")
    else:
        a, b, c, d = (w.below(10) for _ in range(4))
        w.write(f"{name} = [[{a}, {b}], [{c}, {d}]]")
    w.declare(name, Operand(name, "grid", 2, 2, 3, "int", -99, 999))
    return True


@entered(STATEMENTS, 6, 2)
def _set_cell(w: ProgramWriter) -> bool:
    known = w.of("grid")
    if not known:
        return False
    a = w.recent(known)
    w.write(f"{a.text}[{w.below(2)}][{w.below(2)}] = {w.number_in(a.item_lo, a.item_hi).text}")
    return True


@entered(STATEMENTS, 6, 1)
def _second_name(w: ProgramWriter) -> bool:
    """Two names for one list: neither may change its length from now on."""
    if w.crowded():
        return False
    known = [v for v in w.of("list", "int") if not v.looped and v.depth == len(w.loops)]
    if not known or w.branches:
        return False
    a = w.recent(known)
    name = w.fresh("list")
    w.write(f"{name} = {a.text}")
    a.locked = True
    w.declare(name, _like(a, name, a.lo, a.hi)).locked = True
    return True
