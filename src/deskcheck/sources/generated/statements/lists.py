"""Level 6, lists and tuples: of numbers and of strings, pairs, and rows of rows."""

from deskcheck.sources.generated.writing.values import LIST, TEXT, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules
from deskcheck.sources.text.words import NAMES

RULES = Rules()


def _like(values: Operand, text: str, low: int, high: int) -> Operand:
    return Operand(text, "list", low, high, 3, values.items, values.item_lo, values.item_hi)


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
    values, k = writer.choose(writer.of("list")), writer.between(1, 3)
    form = writer.below(5)
    if form == 0:
        return _like(values, f"{values.text}[{k}:]", max(values.lo - k, 0), max(values.hi - k, 0))
    if form == 1:
        return _like(values, f"{values.text}[:{k}]", min(values.lo, k), min(values.hi, k))
    if form == 2:
        return _like(values, f"{values.text}[::-1]", values.lo, values.hi)
    if form == 3:
        return _like(values, f"{values.text}[:]", values.lo, values.hi)
    return _like(values, f"{values.text}[::2]", (values.lo + 1) // 2, (values.hi + 1) // 2)


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
    values = writer.choose([v for v in writer.of("list") if v.hi <= 5])
    return _like(
        values, f"sorted({values.text}{', reverse=True' if writer.chance(0.2) else ''})", values.lo, values.hi
    )


@RULES.enter("list", 6, 2)
def _range_list(writer: ProgramWriter, depth: int) -> Operand:
    k = writer.between(2, 5)
    bounds = f"{k}, 0, -1" if writer.chance(0.4) else f"{k}"
    return Operand(f"list(range({bounds}))", "list", k, k, 3, "int", 0, 99)


@RULES.enter("list", 6, 6)
def _comprehension(writer: ProgramWriter, depth: int) -> Operand:
    choices = writer.of("list", "int")
    values = writer.recent(choices) if choices else Operand("", "list")
    x = loop_name(writer, "item")
    writer.need(choices and x and values.hi <= 6 and max(abs(values.item_lo), abs(values.item_hi)) <= 999)
    if writer.chance(0.4):
        tests = (
            f"{x} > {writer.below(10)}",
            f"{x} % 2 == 0",
            f"{x} < {writer.below(20)}",
            f"{x} != {writer.below(9)}",
        )
        return _like(values, f"[{x} for {x} in {values.text} if {writer.pick(tests)}]", 0, values.hi)
    k = writer.between(2, 5)
    text, low, high = writer.pick(
        (
            (f"{x} + {k}", values.item_lo + k, values.item_hi + k),
            (f"{x} - {k}", values.item_lo - k, values.item_hi - k),
            (f"{x} * {k}", min(values.item_lo * k, 0), max(values.item_hi * k, 0)),
            (f"{x} % {k}", 0, k - 1),
        )
    )
    return Operand(f"[{text} for {x} in {values.text}]", "list", values.lo, values.hi, 3, "int", low, high)


@RULES.enter("list", 6, 1.5)
def _range_comprehension(writer: ProgramWriter, depth: int) -> Operand:
    i, k, n = loop_name(writer, "loop"), writer.between(2, 5), writer.between(2, 5)
    writer.need(i)
    return Operand(f"[{i} * {k} for {i} in range({n})]", "list", n, n, 3, "int", 0, 99)


@RULES.enter("list", 6, 3)
def _letters(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose([v for v in writer.of("str") if v.hi <= 6])
    if writer.chance(0.6):
        return Operand(f"list({values.text})", "list", values.lo, values.hi, 3, "str", 1, 1)
    return Operand(
        f'{values.text}.split("{writer.letter()}")', "list", 1, values.hi + 1, 3, "str", 0, values.hi
    )


@RULES.enter("list", 6, 3)
def _words(writer: ProgramWriter, depth: int) -> Operand:
    n = writer.between(1, 3)
    words = ", ".join(f'"{writer.word()}"' for _ in range(n))
    return Operand(f"[{words}]", "list", n, n, 3, "str", 0, 5)


@RULES.enter("list", 6, 2)
def _word_comprehension(writer: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in writer.of("list", "str") if v.hi <= 4 and v.item_hi <= 6]
    writer.need((x := loop_name(writer, "char")) and choices)
    values = writer.recent(choices)
    if writer.chance(0.4):
        return Operand(f"[len({x}) for {x} in {values.text}]", "list", values.lo, values.hi, 3, "int", 0, 99)
    return _like(
        values, f"[{x}{writer.pick(('.upper()', '[::-1]'))} for {x} in {values.text}]", values.lo, values.hi
    )


@RULES.enter("int", 6, 8)
def _item(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose(writer.indexed("list", "int"))
    return Operand(f"{values.text}[{writer.index_in(values)}]", "int", values.item_lo, values.item_hi)


@RULES.enter("int", 6, 4)
def _of_list(writer: ProgramWriter, depth: int) -> Operand:
    values, name = writer.choose(writer.of("list", "int")), writer.pick(("sum", "max", "min", "sum"))
    if name == "sum":
        writer.need(values.hi <= 6)
        return Operand(
            f"sum({values.text})",
            "int",
            min(values.item_lo * values.hi, 0),
            max(values.item_hi * values.hi, 0),
        )
    if values.lo < 1:
        return Operand(
            f"{name}({values.text}, default=0)", "int", min(values.item_lo, 0), max(values.item_hi, 0)
        )
    return Operand(f"{name}({values.text})", "int", values.item_lo, values.item_hi)


@RULES.enter("int", 6, 1)
def _of_pair(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose(writer.of("pair"))
    return Operand(f"{values.text}[{writer.below(2)}]", "int", values.item_lo, values.item_hi)


@RULES.enter("int", 6, 1.5)
def _cell(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose(writer.of("grid"))
    return Operand(
        f"{values.text}[{writer.below(2)}][{writer.below(2)}]", "int", values.item_lo, values.item_hi
    )


@RULES.enter("int", 6, 0.8)
def _sum_over(writer: ProgramWriter, depth: int) -> Operand:
    choices = [v for v in writer.of("list", "int") if v.hi <= 5 and v.item_lo >= -99 and v.item_hi <= 99]
    values, x = writer.choose(choices), writer.pick("xvn")
    writer.need(x not in writer.names)
    text = writer.pick(
        (
            f"sum({x} * 2 for {x} in {values.text})",
            f"sum(1 for {x} in {values.text} if {x} > {writer.below(9)})",
        )
    )
    return Operand(text, "int", min(0, 10 * values.item_lo), max(5, 10 * values.item_hi))


@RULES.enter("str", 6, 4)
def _join(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose([v for v in writer.of("list", "str") if v.hi * (v.item_hi + 1) <= 2 * TEXT])
    return Operand(
        f'"{writer.pick(("", "-", ",", " "))}".join({values.text})',
        "str",
        0,
        values.hi * (values.item_hi + 1),
    )


@RULES.enter("str", 6, 4)
def _word_of(writer: ProgramWriter, depth: int) -> Operand:
    values = writer.choose([v for v in writer.of("list", "str") if v.lo >= 1])
    return Operand(f"{values.text}[{writer.pick((0, -1))}]", "str", values.item_lo, values.item_hi)


@RULES.enter("condition", 6, 4)
def _list_test(writer: ProgramWriter) -> str:
    values = writer.choose(writer.of("list"))
    if writer.below(3) == 0:
        sign = writer.pick((">", "<", "==", ">="))
        return f"len({values.text}) {sign} {writer.between(values.lo, max(values.hi - 1, values.lo))}"
    if values.items == "str":
        strings = writer.of("str")
        item = writer.recent(strings).text if strings else f'"{writer.word()}"'
        return f"{item} in {values.text}"
    return f"{writer.small().at(1)} {'not ' if writer.chance(0.3) else ''}in {values.text}"


@RULES.enter("condition", 6, 0.8)
def _any_all(writer: ProgramWriter) -> str:
    choices = writer.of("list", "int")
    values = writer.recent(choices) if choices else Operand("", "list")
    x = loop_name(writer, "item")
    writer.need(choices and x and values.hi <= 5)
    return f"{writer.pick(('any', 'all'))}({x} > {writer.below(9)} for {x} in {values.text})"


@RULES.enter("statement", 6, 8)
def _new_list(writer: ProgramWriter) -> None:
    writer.need_room()
    value: Operand = writer.drawn("list", 4, 1, fits=lambda value: value.hi <= LIST)
    writer.assign_new("list" if value.items == "int" else "strs", value)


@RULES.enter("statement", 6, 8)
def append(writer: ProgramWriter) -> None:
    values = writer.choose(writer.growable("list"))
    if values.items == "str":
        item = writer.string(writer.below(2))
        writer.need(values.item_lo <= item.lo and item.hi <= values.item_hi)
    else:
        item = writer.number_in(values.item_lo, values.item_hi)
    writer.need(writer.may_grow(values, 1, 1, LIST))
    forms = (f".insert(0, {item.text})", f" += [{item.text}]", f".extend([{item.text}])")
    form = writer.below(8)
    writer.write(f"{values.text}{forms[form]}" if form < 3 else f"{values.text}.append({item.text})")


@RULES.enter("statement", 6, 6)
def _set_item(writer: ProgramWriter) -> None:
    values = writer.choose([v for v in writer.indexed("list", "int") if not (writer.helper and v.locked)])
    index = writer.index_in(values)
    if not writer.loops and writer.chance(0.3) and values.item_hi < 900:
        by = writer.between(1, 9)
        values.item_hi += by
        writer.write(f"{values.text}[{index}] += {by}")
        return
    item = writer.number_in(values.item_lo, values.item_hi)
    writer.need(item.text != f"{values.text}[{index}]")
    writer.write(f"{values.text}[{index}] = {item.text}")


@RULES.enter("statement", 6, 1.5)
def _swap_items(writer: ProgramWriter) -> None:
    values = writer.choose([v for v in writer.of("list") if v.lo >= 2]).text
    writer.write(f"{values}[0], {values}[-1] = {values}[-1], {values}[0]")


@RULES.enter("statement", 6, 4)
def _change_list(writer: ProgramWriter) -> None:
    values = writer.choose(writer.growable("list"))
    if values.hi <= 5 and writer.chance(0.4):
        writer.write(f"{values.text}.{writer.pick(('reverse()', 'sort()', 'sort()'))}")
        return
    writer.need(not (values.looped and values.base_lo > 0))
    if not values.looped and values.lo >= 1:  # it cannot be empty
        writer.write(
            f"{values.text}.pop({writer.pick(('', '0'))})"
            if writer.chance(0.7)
            else f"del {values.text}[{writer.pick((0, -1))}]"
        )
        writer.may_grow(values, -1, -1, LIST)
        return
    writer.need(writer.indent <= 4)
    if writer.below(3) == 0 and values.items == "int":
        n = writer.between(max(values.item_lo, 0), min(values.item_hi, 9))
        writer.write_under(f"if {n} in {values.text}:", f"{values.text}.remove({n})")
    else:
        writer.write_under(f"if {values.text}:", f"{values.text}.pop({writer.pick(('', '0'))})")
    if not values.looped:
        values.lo = max(values.lo - 1, 0)


@RULES.enter("statement", 6, 1.5)
def _take_item(writer: ProgramWriter) -> None:
    writer.need_room()
    writer.need(not writer.loops)
    values = writer.choose([v for v in writer.growable("list", "int") if v.lo >= 1 and not v.looped])
    name = writer.fresh("int")
    writer.write(f"{name} = {values.text}.pop({writer.pick(('', '', '0'))})")
    writer.declare(name, Operand(name, "int", values.item_lo, values.item_hi))
    writer.may_grow(values, -1, -1, LIST)


@RULES.enter("statement", 6, 1.5)
def _slice_assign(writer: ProgramWriter) -> None:
    writer.need(not writer.helper)
    values = writer.choose(
        [v for v in writer.of("list", "int") if v.lo >= 2 and v.item_lo <= 0 and v.item_hi >= 9]
    )
    writer.write(f"{values.text}[:2] = [{writer.below(9)}, {writer.below(9)}]")


@RULES.enter("statement", 6, 2)
def _unpack_list(writer: ProgramWriter) -> None:
    writer.need_room()
    values = writer.choose([v for v in writer.of("list", "int") if v.lo >= 2 and not v.looped])
    first, remainder = writer.fresh("int"), writer.fresh("list")
    writer.write(f"{first}, *{remainder} = {values.text}")
    writer.declare(first, Operand(first, "int", values.item_lo, values.item_hi))
    writer.declare(remainder, _like(values, remainder, values.lo - 1, values.hi - 1))


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
    values = writer.choose(writer.of("grid"))
    cell = f"{values.text}[{writer.below(2)}][{writer.below(2)}]"
    writer.write(f"{cell} = {writer.number_in(values.item_lo, values.item_hi).text}")


@RULES.enter("statement", 6, 1)
def _second_name(writer: ProgramWriter) -> None:
    """Give a list a second name. From then on its length must not change."""
    writer.need_room()
    writer.need(not writer.branches)
    values = writer.choose(
        [v for v in writer.of("list", "int") if not v.looped and v.depth == len(writer.loops)]
    )
    name = writer.fresh("list")
    writer.write(f"{name} = {values.text}")
    values.locked = True
    writer.declare(name, _like(values, name, values.lo, values.hi)).locked = True
