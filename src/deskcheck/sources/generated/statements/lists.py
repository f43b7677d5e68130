"""Level 6, lists and tuples: of numbers and of strings, pairs, and rows of rows."""

from deskcheck.sources.generated.writing.values import LIST, TEXT, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules
from deskcheck.sources.text.words import NAMES

RULES = Rules()


def _like(a: Operand, text: str, low: int, high: int) -> Operand:
    return Operand(text, "list", low, high, 3, a.items, a.item_lo, a.item_hi)


def loop_name(writer: ProgramWriter, kind: str) -> str | None:
    """A name for the variable of a comprehension; None if the drawn name is in use."""
    name = str(writer.pick(NAMES[kind]))
    return None if name in writer.names or name in writer.global_names else name


@RULES.enter("list", 6, 5)
def _display(writer: ProgramWriter, depth: int) -> Operand:
    return writer.list_display()


@RULES.enter("list", 6, 4)
def _list_of_values(writer: ProgramWriter, depth: int) -> Operand:
    values = [writer.small() for _ in range(writer.between(1, 4))]
    low, high = min(v.lo for v in values), max(v.hi for v in values)
    n, text = len(values), ", ".join(v.text for v in values)
    return Operand(f"[{text}]", "list", n, n, 3, "int", min(low, 0), max(high, 99))


@RULES.enter("list", 6, 4)
def _list_slice(writer: ProgramWriter, depth: int) -> Operand:
    a, k = writer.choose(writer.of("list")), writer.between(1, 3)
    form = writer.below(5)
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
def _concatenate(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose(choices := writer.of("list", "int"))
    b = writer.recent(choices) if writer.chance(0.5) else writer.list_display(1, 2)
    writer.need(a.hi + b.hi <= LIST)
    low, high = min(a.item_lo, b.item_lo), max(a.item_hi, b.item_hi)
    return Operand(f"{a.text} + {b.text}", "list", a.lo + b.lo, a.hi + b.hi, 1, "int", low, high)


@RULES.enter("list", 6, 2)
def _repeated_list(writer: ProgramWriter, depth: int) -> Operand:
    k, n = writer.pick((0, 0, 1)), writer.between(2, 4)
    return Operand(f"[{k}] * {n}", "list", n, n, 2, "int", 0, 99)


@RULES.enter("list", 6, 3)
def _sorted_list(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose([v for v in writer.of("list") if v.hi <= 5])
    return _like(a, f"sorted({a.text}{', reverse=True' if writer.chance(0.2) else ''})", a.lo, a.hi)


@RULES.enter("list", 6, 2)
def _range_list(writer: ProgramWriter, depth: int) -> Operand:
    k = writer.between(2, 5)
    bounds = f"{k}, 0, -1" if writer.chance(0.4) else f"{k}"
    return Operand(f"list(range({bounds}))", "list", k, k, 3, "int", 0, 99)


@RULES.enter("list", 6, 6)
def _comprehension(writer: ProgramWriter, depth: int) -> Operand:
    choices = writer.of("list", "int")
    a = writer.recent(choices) if choices else Operand("", "list")
    x = loop_name(writer, "item")
    writer.need(choices and x and a.hi <= 6 and max(abs(a.item_lo), abs(a.item_hi)) <= 999)
    if writer.chance(0.4):
        tests = (
            f"{x} > {writer.below(10)}",
            f"{x} % 2 == 0",
            f"{x} < {writer.below(20)}",
            f"{x} != {writer.below(9)}",
        )
        return _like(a, f"[{x} for {x} in {a.text} if {writer.pick(tests)}]", 0, a.hi)
    k = writer.between(2, 5)
    text, low, high = writer.pick(
        (
            (f"{x} + {k}", a.item_lo + k, a.item_hi + k),
            (f"{x} - {k}", a.item_lo - k, a.item_hi - k),
            (f"{x} * {k}", min(a.item_lo * k, 0), max(a.item_hi * k, 0)),
            (f"{x} % {k}", 0, k - 1),
        )
    )
    return Operand(f"[{text} for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", low, high)


@RULES.enter("list", 6, 1.5)
def _range_comprehension(writer: ProgramWriter, depth: int) -> Operand:
    i, k, n = loop_name(writer, "loop"), writer.between(2, 5), writer.between(2, 5)
    writer.need(i)
    return Operand(f"[{i} * {k} for {i} in range({n})]", "list", n, n, 3, "int", 0, 99)


@RULES.enter("list", 6, 3)
def _letters(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose([v for v in writer.of("str") if v.hi <= 6])
    if writer.chance(0.6):
        return Operand(f"list({a.text})", "list", a.lo, a.hi, 3, "str", 1, 1)
    return Operand(f'{a.text}.split("{writer.letter()}")', "list", 1, a.hi + 1, 3, "str", 0, a.hi)


@RULES.enter("list", 6, 3)
def _words(writer: ProgramWriter, depth: int) -> Operand:
    n = writer.between(1, 3)
    words = ", ".join(f'"{writer.word()}"' for _ in range(n))
    return Operand(f"[{words}]", "list", n, n, 3, "str", 0, 5)


@RULES.enter("list", 6, 2)
def _word_comprehension(writer: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in writer.of("list", "str") if v.hi <= 4 and v.item_hi <= 6]
    writer.need((x := loop_name(writer, "char")) and choices)
    a = writer.recent(choices)
    if writer.chance(0.4):
        return Operand(f"[len({x}) for {x} in {a.text}]", "list", a.lo, a.hi, 3, "int", 0, 99)
    return _like(a, f"[{x}{writer.pick(('.upper()', '[::-1]'))} for {x} in {a.text}]", a.lo, a.hi)


@RULES.enter("int", 6, 8)
def _item(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose(writer.indexed("list", "int"))
    return Operand(f"{a.text}[{writer.index_in(a)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 4)
def _of_list(writer: ProgramWriter, depth: int) -> Operand:
    a, name = writer.choose(writer.of("list", "int")), writer.pick(("sum", "max", "min", "sum"))
    if name == "sum":
        writer.need(a.hi <= 6)
        return Operand(f"sum({a.text})", "int", min(a.item_lo * a.hi, 0), max(a.item_hi * a.hi, 0))
    if a.lo < 1:
        return Operand(f"{name}({a.text}, default=0)", "int", min(a.item_lo, 0), max(a.item_hi, 0))
    return Operand(f"{name}({a.text})", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 1)
def _of_pair(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose(writer.of("pair"))
    return Operand(f"{a.text}[{writer.below(2)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 1.5)
def _cell(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose(writer.of("grid"))
    return Operand(f"{a.text}[{writer.below(2)}][{writer.below(2)}]", "int", a.item_lo, a.item_hi)


@RULES.enter("int", 6, 0.8)
def _sum_over(writer: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in writer.of("list", "int") if v.hi <= 5 and v.item_lo >= -99 and v.item_hi <= 99]
    a, x = writer.choose(choices), writer.pick("xvn")
    writer.need(x not in writer.names)
    text = writer.pick(
        (f"sum({x} * 2 for {x} in {a.text})", f"sum(1 for {x} in {a.text} if {x} > {writer.below(9)})")
    )
    return Operand(text, "int", min(0, 10 * a.item_lo), max(5, 10 * a.item_hi))


@RULES.enter("str", 6, 4)
def _join(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose([v for v in writer.of("list", "str") if v.hi * (v.item_hi + 1) <= 2 * TEXT])
    return Operand(f'"{writer.pick(("", "-", ",", " "))}".join({a.text})', "str", 0, a.hi * (a.item_hi + 1))


@RULES.enter("str", 6, 4)
def _word_of(writer: ProgramWriter, depth: int) -> Operand:
    a = writer.choose([v for v in writer.of("list", "str") if v.lo >= 1])
    return Operand(f"{a.text}[{writer.pick((0, -1))}]", "str", a.item_lo, a.item_hi)


@RULES.enter("condition", 6, 4)
def _list_test(writer: ProgramWriter) -> str:
    a = writer.choose(writer.of("list"))
    if writer.below(3) == 0:
        return (
            f"len({a.text}) {writer.pick(('>', '<', '==', '>='))} {writer.between(a.lo, max(a.hi - 1, a.lo))}"
        )
    if a.items == "str":
        strings = writer.of("str")
        return f"{writer.recent(strings).text if strings else chr(34) + writer.word() + chr(34)} in {a.text}"
    return f"{writer.small().at(1)} {'not ' if writer.chance(0.3) else ''}in {a.text}"


@RULES.enter("condition", 6, 0.8)
def _any_all(writer: ProgramWriter) -> str:
    choices = writer.of("list", "int")
    a = writer.recent(choices) if choices else Operand("", "list")
    x = loop_name(writer, "item")
    writer.need(choices and x and a.hi <= 5)
    return f"{writer.pick(('any', 'all'))}({x} > {writer.below(9)} for {x} in {a.text})"


@RULES.enter("statement", 6, 8)
def _new_list(writer: ProgramWriter) -> None:
    writer.need_room()
    value: Operand = writer.drawn("list", 4, 1, fits=lambda value: value.hi <= LIST)
    writer.assign_new("list" if value.items == "int" else "strs", value)


@RULES.enter("statement", 6, 8)
def append(writer: ProgramWriter) -> None:
    a = writer.choose(writer.growable("list"))
    if a.items == "str":
        item = writer.string(writer.below(2))
        writer.need(a.item_lo <= item.lo and item.hi <= a.item_hi)
    else:
        item = writer.number_in(a.item_lo, a.item_hi)
    writer.need(writer.may_grow(a, 1, 1, LIST))
    forms = (f".insert(0, {item.text})", f" += [{item.text}]", f".extend([{item.text}])")
    form = writer.below(8)
    writer.write(f"{a.text}{forms[form]}" if form < 3 else f"{a.text}.append({item.text})")


@RULES.enter("statement", 6, 6)
def _set_item(writer: ProgramWriter) -> None:
    a = writer.choose([v for v in writer.indexed("list", "int") if not (writer.helper and v.locked)])
    index = writer.index_in(a)
    if not writer.loops and writer.chance(0.3) and a.item_hi < 900:
        by = writer.between(1, 9)
        a.item_hi += by
        writer.write(f"{a.text}[{index}] += {by}")
        return
    item = writer.number_in(a.item_lo, a.item_hi)
    writer.need(item.text != f"{a.text}[{index}]")
    writer.write(f"{a.text}[{index}] = {item.text}")


@RULES.enter("statement", 6, 1.5)
def _swap_items(writer: ProgramWriter) -> None:
    a = writer.choose([v for v in writer.of("list") if v.lo >= 2]).text
    writer.write(f"{a}[0], {a}[-1] = {a}[-1], {a}[0]")


@RULES.enter("statement", 6, 4)
def _change_list(writer: ProgramWriter) -> None:
    a = writer.choose(writer.growable("list"))
    if a.hi <= 5 and writer.chance(0.4):
        writer.write(f"{a.text}.{writer.pick(('reverse()', 'sort()', 'sort()'))}")
        return
    writer.need(not (a.looped and a.base_lo > 0))
    if not a.looped and a.lo >= 1:  # it cannot be empty
        writer.write(
            f"{a.text}.pop({writer.pick(('', '0'))})"
            if writer.chance(0.7)
            else f"del {a.text}[{writer.pick((0, -1))}]"
        )
        writer.may_grow(a, -1, -1, LIST)
        return
    writer.need(writer.indent <= 4)
    if writer.below(3) == 0 and a.items == "int":
        n = writer.between(max(a.item_lo, 0), min(a.item_hi, 9))
        writer.write_under(f"if {n} in {a.text}:", f"{a.text}.remove({n})")
    else:
        writer.write_under(f"if {a.text}:", f"{a.text}.pop({writer.pick(('', '0'))})")
    if not a.looped:
        a.lo = max(a.lo - 1, 0)


@RULES.enter("statement", 6, 1.5)
def _take_item(writer: ProgramWriter) -> None:
    writer.need_room()
    writer.need(not writer.loops)
    a = writer.choose([v for v in writer.growable("list", "int") if v.lo >= 1 and not v.looped])
    name = writer.fresh("int")
    writer.write(f"{name} = {a.text}.pop({writer.pick(('', '', '0'))})")
    writer.declare(name, Operand(name, "int", a.item_lo, a.item_hi))
    writer.may_grow(a, -1, -1, LIST)


@RULES.enter("statement", 6, 1.5)
def _slice_assign(writer: ProgramWriter) -> None:
    writer.need(not writer.helper)
    a = writer.choose(
        [v for v in writer.of("list", "int") if v.lo >= 2 and v.item_lo <= 0 and v.item_hi >= 9]
    )
    writer.write(f"{a.text}[:2] = [{writer.below(9)}, {writer.below(9)}]")


@RULES.enter("statement", 6, 2)
def _unpack_list(writer: ProgramWriter) -> None:
    writer.need_room()
    a = writer.choose([v for v in writer.of("list", "int") if v.lo >= 2 and not v.looped])
    first, remainder = writer.fresh("int"), writer.fresh("list")
    writer.write(f"{first}, *{remainder} = {a.text}")
    writer.declare(first, Operand(first, "int", a.item_lo, a.item_hi))
    writer.declare(remainder, _like(a, remainder, a.lo - 1, a.hi - 1))


@RULES.enter("statement", 6, 2)
def _new_pair(writer: ProgramWriter) -> None:
    writer.need_room()
    choices = writer.of("pair")
    if choices and writer.chance(0.5):
        pair = writer.recent(choices)
        a_name, b_name = writer.fresh("int"), writer.fresh("int")
        writer.write(f"{a_name}, {b_name} = {pair.text}")
        for part in (a_name, b_name):
            writer.declare(part, Operand(part, "int", pair.item_lo, pair.item_hi))
        return
    a, b = writer.number(), writer.atom()
    low, high = min(a.lo, b.lo), max(a.hi, b.hi)
    writer.assign_new("pair", Operand(f"({a.text}, {b.text})", "pair", 2, 2, 3, "int", low, high))


@RULES.enter("statement", 6, 1.5)
def _new_grid(writer: ProgramWriter) -> None:
    writer.need_room()
    name = writer.fresh("grid")
    if writer.chance(0.4):
        writer.need(i := loop_name(writer, "loop"))
        writer.write(f"{name} = [[0] * 2 for {i} in range(2)]")
    else:
        a, b, c, d = (writer.below(10) for _ in range(4))
        writer.write(f"{name} = [[{a}, {b}], [{c}, {d}]]")
    writer.declare(name, Operand(name, "grid", 2, 2, 3, "int", -99, 999))


@RULES.enter("statement", 6, 2)
def _set_cell(writer: ProgramWriter) -> None:
    a = writer.choose(writer.of("grid"))
    writer.write(
        f"{a.text}[{writer.below(2)}][{writer.below(2)}] = {writer.number_in(a.item_lo, a.item_hi).text}"
    )


@RULES.enter("statement", 6, 1)
def _second_name(writer: ProgramWriter) -> None:
    """Give a list a second name. From then on its length must not change."""
    writer.need_room()
    writer.need(not writer.branches)
    a = writer.choose([v for v in writer.of("list", "int") if not v.looped and v.depth == len(writer.loops)])
    name = writer.fresh("list")
    writer.write(f"{name} = {a.text}")
    a.locked = True
    writer.declare(name, _like(a, name, a.lo, a.hi)).locked = True
