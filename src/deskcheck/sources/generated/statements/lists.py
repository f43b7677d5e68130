"""Level 6, lists and tuples: of numbers and of strings, pairs, and rows of rows."""

from deskcheck.sources.generated.writing.values import LIST, TEXT, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules
from deskcheck.sources.text.words import NAMES

RULES = Rules()


def _like(a: Operand, text: str, low: int, high: int) -> Operand:
    return Operand(text, "list", low, high, 3, a.items, a.item_lo, a.item_hi)


def loop_name(w: ProgramWriter, kind: str) -> str | None:
    """A name for the variable of a comprehension, which must not hide one of the function's."""
    name = str(w.pick(NAMES[kind]))
    return None if name in w.names or name in w.global_names else name


@RULES.enter("list", 6, 5)
def _display(w: ProgramWriter, depth: int) -> Operand:
    return w.list_display()


@RULES.enter("list", 6, 4)
def _list_of_values(w: ProgramWriter, depth: int) -> Operand:
    values = [w.small() for _ in range(w.between(1, 4))]
    low, high = min(v.lo for v in values), max(v.hi for v in values)
    n, text = len(values), ", ".join(v.text for v in values)
    return Operand(f"[{text}]", "list", n, n, 3, "int", min(low, 0), max(high, 99))


@RULES.enter("list", 6, 4)
def _list_slice(w: ProgramWriter, depth: int) -> Operand:
    a, k = w.choose(w.of("list")), w.between(1, 3)
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


@RULES.enter("list", 6, 2)
def _concatenate(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(choices := w.of("list", "int"))
    b = w.recent(choices) if w.chance(0.5) else w.list_display(1, 2)
    w.need(a.hi + b.hi <= LIST)
    low, high = min(a.item_lo, b.item_lo), max(a.item_hi, b.item_hi)
    return Operand(f"{a.text} + {b.text}", "list", a.lo + b.lo, a.hi + b.hi, 1, "int", low, high)


@RULES.enter("list", 6, 2)
def _repeated_list(w: ProgramWriter, depth: int) -> Operand:
    k, n = w.pick((0, 0, 1)), w.between(2, 4)
    return Operand(f"[{k}] * {n}", "list", n, n, 2, "int", 0, 99)


@RULES.enter("list", 6, 3)
def _sorted_list(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("list") if v.hi <= 5])
    return _like(a, f"sorted({a.text}{', reverse=True' if w.chance(0.2) else ''})", a.lo, a.hi)


@RULES.enter("list", 6, 2)
def _range_list(w: ProgramWriter, depth: int) -> Operand:
    k = w.between(2, 5)
    bounds = f"{k}, 0, -1" if w.chance(0.4) else f"{k}"
    return Operand(f"list(range({bounds}))", "list", k, k, 3, "int", 0, 99)


@RULES.enter("list", 6, 6)
def _comprehension(w: ProgramWriter, depth: int) -> Operand:
    choices = w.of("list", "int")
    a = w.recent(choices) if choices else Operand("", "list")
    x = loop_name(w, "item")
    w.need(choices and x and a.hi <= 6 and max(abs(a.item_lo), abs(a.item_hi)) <= 999)
    if w.chance(0.4):
        tests = (f"{x} > {w.below(10)}", f"{x} % 2 == 0", f"{x} < {w.below(20)}", f"{x} != {w.below(9)}")
        return _like(a, f"[{x} for {x} in {a.text} if {w.pick(tests)}]", 0, a.hi)
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


@RULES.enter("list", 6, 1.5)
def _range_comprehension(w: ProgramWriter, depth: int) -> Operand:
    i, k, n = loop_name(w, "loop"), w.between(2, 5), w.between(2, 5)
    w.need(i)
    return Operand(f"[{i} * {k} for {i} in range({n})]", "list", n, n, 3, "int", 0, 99)


@RULES.enter("list", 6, 3)
def _letters(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("str") if v.hi <= 6])
    if w.chance(0.6):
        return Operand(f"list({a.text})", "list", a.lo, a.hi, 3, "str", 1, 1)
    return Operand(f'{a.text}.split("{w.letter()}")', "list", 1, a.hi + 1, 3, "str", 0, a.hi)


@RULES.enter("list", 6, 3)
def _words(w: ProgramWriter, depth: int) -> Operand:
    n = w.between(1, 3)
    words = ", ".join(f'"{w.word()}"' for _ in range(n))
    return Operand(f"[{words}]", "list", n, n, 3, "str", 0, 5)


@RULES.enter("list", 6, 2)
def _word_comprehension(w: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in w.of("list", "str") if v.hi <= 4 and v.item_hi <= 6]
    w.need((x := loop_name(w, "char")) and choices)
    a = w.recent(choices)
    if w.chance(0.4):
        return Operand(f"[len({x}) for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", 0, 99)
    return _like(a, f"[{x}{w.pick(('.upper()', '[::-1]'))} for {x} in {a.text}]", a.lo, a.hi)


@RULES.enter("int", 6, 8)
def _item(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.indexed("list", "int"))
    return Operand(f"{a.text}[{w.index_in(a)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 4)
def _of_list(w: ProgramWriter, depth: int) -> Operand:
    a, name = w.choose(w.of("list", "int")), w.pick(("sum", "max", "min", "sum"))
    if name == "sum":
        w.need(a.hi <= 6)
        return Operand(f"sum({a.text})", "int", min(a.item_lo * a.hi, 0), max(a.item_hi * a.hi, 0))
    if a.lo < 1:
        return Operand(f"{name}({a.text}, default=0)", "int", min(a.item_lo, 0), max(a.item_hi, 0))
    return Operand(f"{name}({a.text})", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 1)
def _of_pair(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("pair"))
    return Operand(f"{a.text}[{w.below(2)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 1.5)
def _cell(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose(w.of("grid"))
    return Operand(f"{a.text}[{w.below(2)}][{w.below(2)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 0.8)
def _sum_over(w: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in w.of("list", "int") if v.hi <= 5 and v.item_lo >= -99 and v.item_hi <= 99]
    a, x = w.choose(choices), w.pick("xvn")
    w.need(x not in w.names)
    text = w.pick((f"sum({x} * 2 for {x} in {a.text})", f"sum(1 for {x} in {a.text} if {x} > {w.below(9)})"))
    return Operand(text, "int", min(0, 10 * a.item_lo), max(5, 10 * a.item_hi))


@RULES.enter("str", 6, 4)
def _join(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("list", "str") if v.hi * (v.item_hi + 1) <= 2 * TEXT])
    return Operand(f'"{w.pick(("", "-", ",", " "))}".join({a.text})', "str", 0, a.hi * (a.item_hi + 1))


@RULES.enter("str", 6, 4)
def _word_of(w: ProgramWriter, depth: int) -> Operand:
    a = w.choose([v for v in w.of("list", "str") if v.lo >= 1])
    return Operand(f"{a.text}[{w.pick((0, -1))}]", "str", a.item_lo, a.item_hi)


@RULES.enter("condition", 6, 4)
def _list_test(w: ProgramWriter) -> str:
    a = w.choose(w.of("list"))
    if w.below(3) == 0:
        return f"len({a.text}) {w.pick(('>', '<', '==', '>='))} {w.between(a.lo, max(a.hi - 1, a.lo))}"
    if a.items == "str":
        strings = w.of("str")
        return f"{w.recent(strings).text if strings else chr(34) + w.word() + chr(34)} in {a.text}"
    return f"{w.small().at(1)} {'not ' if w.chance(0.3) else ''}in {a.text}"


@RULES.enter("condition", 6, 0.8)
def _any_all(w: ProgramWriter) -> str:
    choices = w.of("list", "int")
    a = w.recent(choices) if choices else Operand("", "list")
    x = loop_name(w, "item")
    w.need(choices and x and a.hi <= 5)
    return f"{w.pick(('any', 'all'))}({x} > {w.below(9)} for {x} in {a.text})"


@RULES.enter("statement", 6, 8)
def _new_list(w: ProgramWriter) -> None:
    w.need_room()
    value: Operand = w.drawn("list", 4, 1, fits=lambda value: value.hi <= LIST)
    w.assign_new("list" if value.items == "int" else "strs", value)


@RULES.enter("statement", 6, 8)
def append(w: ProgramWriter) -> None:
    a = w.choose(w.growable("list"))
    if a.items == "str":
        item = w.string(w.below(2))
        w.need(a.item_lo <= item.lo and item.hi <= a.item_hi)
    else:
        item = w.number_in(a.item_lo, a.item_hi)
    w.need(w.may_grow(a, 1, 1, LIST))
    forms = (f".insert(0, {item.text})", f" += [{item.text}]", f".extend([{item.text}])")
    form = w.below(8)
    w.write(f"{a.text}{forms[form]}" if form < 3 else f"{a.text}.append({item.text})")


@RULES.enter("statement", 6, 6)
def _set_item(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.indexed("list", "int") if not (w.helper and v.locked)])
    at = w.index_in(a)
    if not w.loops and w.chance(0.3) and a.item_hi < 900:
        by = w.between(1, 9)
        a.item_hi += by
        w.write(f"{a.text}[{at}] += {by}")
        return
    item = w.number_in(a.item_lo, a.item_hi)
    w.need(item.text != f"{a.text}[{at}]")
    w.write(f"{a.text}[{at}] = {item.text}")


@RULES.enter("statement", 6, 1.5)
def _swap_items(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.of("list") if v.lo >= 2]).text
    w.write(f"{a}[0], {a}[-1] = {a}[-1], {a}[0]")


@RULES.enter("statement", 6, 4)
def _change_list(w: ProgramWriter) -> None:
    a = w.choose(w.growable("list"))
    if a.hi <= 5 and w.chance(0.4):
        w.write(f"{a.text}.{w.pick(('reverse()', 'sort()', 'sort()'))}")
        return
    w.need(not (a.looped and a.base_lo > 0))
    if not a.looped and a.lo >= 1:  # it cannot be empty
        w.write(f"{a.text}.pop({w.pick(('', '0'))})" if w.chance(0.7) else f"del {a.text}[{w.pick((0, -1))}]")
        w.may_grow(a, -1, -1, LIST)
        return
    w.need(w.indent <= 4)
    if w.below(3) == 0 and a.items == "int":
        n = w.between(max(a.item_lo, 0), min(a.item_hi, 9))
        w.write_under(f"if {n} in {a.text}:", f"{a.text}.remove({n})")
    else:
        w.write_under(f"if {a.text}:", f"{a.text}.pop({w.pick(('', '0'))})")
    if not a.looped:
        a.lo = max(a.lo - 1, 0)


@RULES.enter("statement", 6, 1.5)
def _take_item(w: ProgramWriter) -> None:
    w.need_room()
    w.need(not w.loops)
    a = w.choose([v for v in w.growable("list", "int") if v.lo >= 1 and not v.looped])
    name = w.fresh("int")
    w.write(f"{name} = {a.text}.pop({w.pick(('', '', '0'))})")
    w.declare(name, Operand(name, "int", a.item_lo, a.item_hi))
    w.may_grow(a, -1, -1, LIST)


@RULES.enter("statement", 6, 1.5)
def _slice_assign(w: ProgramWriter) -> None:
    w.need(not w.helper)
    a = w.choose([v for v in w.of("list", "int") if v.lo >= 2 and v.item_lo <= 0 and v.item_hi >= 9])
    w.write(f"{a.text}[:2] = [{w.below(9)}, {w.below(9)}]")


@RULES.enter("statement", 6, 2)
def _unpack_list(w: ProgramWriter) -> None:
    w.need_room()
    a = w.choose([v for v in w.of("list", "int") if v.lo >= 2 and not v.looped])
    first, rest = w.fresh("int"), w.fresh("list")
    w.write(f"{first}, *{rest} = {a.text}")
    w.declare(first, Operand(first, "int", a.item_lo, a.item_hi))
    w.declare(rest, _like(a, rest, a.lo - 1, a.hi - 1))


@RULES.enter("statement", 6, 2)
def _new_pair(w: ProgramWriter) -> None:
    w.need_room()
    choices = w.of("pair")
    if choices and w.chance(0.5):
        pair = w.recent(choices)
        a_name, b_name = w.fresh("int"), w.fresh("int")
        w.write(f"{a_name}, {b_name} = {pair.text}")
        for part in (a_name, b_name):
            w.declare(part, Operand(part, "int", pair.item_lo, pair.item_hi))
        return
    a, b = w.number(), w.atom()
    low, high = min(a.lo, b.lo), max(a.hi, b.hi)
    w.assign_new("pair", Operand(f"({a.text}, {b.text})", "pair", 2, 2, 3, "int", low, high))


@RULES.enter("statement", 6, 1.5)
def _new_grid(w: ProgramWriter) -> None:
    w.need_room()
    name = w.fresh("grid")
    if w.chance(0.4):
        w.need(i := loop_name(w, "loop"))
        w.write(f"{name} = [[0] * 2 for {i} in range(2)]")
    else:
        a, b, c, d = (w.below(10) for _ in range(4))
        w.write(f"{name} = [[{a}, {b}], [{c}, {d}]]")
    w.declare(name, Operand(name, "grid", 2, 2, 3, "int", -99, 999))


@RULES.enter("statement", 6, 2)
def _set_cell(w: ProgramWriter) -> None:
    a = w.choose(w.of("grid"))
    w.write(f"{a.text}[{w.below(2)}][{w.below(2)}] = {w.number_in(a.item_lo, a.item_hi).text}")


@RULES.enter("statement", 6, 1)
def _second_name(w: ProgramWriter) -> None:
    """Two names for one list: neither may change its length from now on."""
    w.need_room()
    w.need(not w.branches)
    a = w.choose([v for v in w.of("list", "int") if not v.looped and v.depth == len(w.loops)])
    name = w.fresh("list")
    w.write(f"{name} = {a.text}")
    a.locked = True
    w.declare(name, _like(a, name, a.lo, a.hi)).locked = True
