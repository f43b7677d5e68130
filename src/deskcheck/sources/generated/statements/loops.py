"""The forms of loops, levels 3 to 7. They iterate over bounded values or count, so that they end."""

from deskcheck.sources.generated.statements.loop_bodies import loop_body
from deskcheck.sources.generated.writing.values import KEYS, LIST, TRIPS, Local, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _need_trips(writer: ProgramWriter, trips: int) -> None:
    writer.need(writer.trips() * trips <= TRIPS)


@RULES.enter("loop", 3, 16)
def _for_range(writer: ProgramWriter) -> None:
    form = writer.below(5)
    choices = [v for v in writer.of("int") if v.hi <= 9 and v.hi >= 1]
    name = writer.fresh("loop")
    if form <= 1 and choices:
        n = writer.recent(choices)
        text, low, high, trips = n.text, 0, max(n.hi - 1, 0), max(n.hi, 1)
    elif form == 2:
        iterated, k = writer.between(1, 4), writer.between(2, 5)
        text, low, high, trips = f"{iterated}, {iterated + k}", iterated, iterated + k - 1, k
    elif form == 3:
        step, k = writer.pick((2, 2, 3, -1)), writer.between(2, 5)
        if step < 0:
            text, low, high, trips = f"{k}, 0, -1", 1, k, k
        else:
            text, low, high, trips = f"0, {step * k}, {step}", 0, step * (k - 1), k
    else:
        k = writer.between(2, 6)
        text, low, high, trips = str(k), 0, k - 1, k
    _need_trips(writer, trips)
    loop_body(writer, f"for {name} in range({text}):", trips, bound=(Operand(name, "int", low, high),))


@RULES.enter("loop", 3, 4)
def _while_counter(writer: ProgramWriter) -> None:
    name = writer.fresh("loop")
    k, step = writer.between(2, 5), writer.pick((1, 1, 1, 2))
    choices = [v for v in writer.of("int") if 1 <= v.hi <= 8 and not v.looped]
    bound, high = str(k * step), k * step
    if choices and step == 1 and writer.chance(0.4):
        n = writer.recent(choices)
        writer.need(n.depth != len(writer.loops))  # otherwise the loop could assign to it
        bound, high, k = n.text, n.hi, n.hi
    _need_trips(writer, k)
    writer.write(f"{name} = 0")
    writer.declare(name, Operand(name, "int", 0, high + step)).counter = True
    last = f"{name} += {step}" if writer.chance(0.7) else f"{name} = {name} + {step}"
    loop_body(writer, f"while {name} < {bound}:", k, last=last, leave=False)


@RULES.enter("loop", 3, 5)
def _while_down(writer: ProgramWriter) -> None:
    """Write a loop that counts a variable down, by steps or by division."""
    choices = [
        variable
        for variable in writer.assignable("int")
        if not variable.looped and variable.hi >= 2 and not writer.branches
    ]
    if choices and writer.chance(0.8):
        variable = writer.recent(choices)
    else:
        k = writer.between(3, 20)
        variable = writer.assign_new("int", Operand(str(k), "int", k, k))
    writer.need(variable.hi <= 999)
    if variable.hi <= 8 and writer.chance(0.6):
        trips, last = variable.hi, f"{variable.text} -= 1"
    elif variable.hi <= 40 and writer.chance(0.5):
        step = max(2, variable.hi // 6)
        trips, last = variable.hi // step + 1, f"{variable.text} -= {step}"
    else:
        by = writer.pick((2, 2, 3)) if variable.hi <= 99 else writer.pick((3, 10, 10))
        trips, remaining = 1, variable.hi
        while remaining:
            remaining //= by
            trips += 1
        last = (
            f"{variable.text} //= {by}"
            if writer.chance(0.6)
            else f"{variable.text} = {variable.text} // {by}"
        )
    _need_trips(writer, trips)
    variable.counter = True
    low, variable.lo = variable.lo, 1  # inside of the loop
    loop_body(writer, f"while {variable.text} > 0:", trips, last=last, leave=False)
    variable.lo = min(low, -9)
    variable.counter = False


def _begin_rounds(writer: ProgramWriter, header: str, since: int, lines: list[str]) -> None:
    """Insert lines at the beginning of the body of a written loop, where no jump can skip them."""
    header_line = next(i for i in range(since, len(writer.lines)) if writer.lines[i].strip() == header)
    pad = "    " * (writer.indent + 1)
    writer.lines[header_line + 1 : header_line + 1] = [pad + line for line in lines]


@RULES.enter("loop", 3, 2)
def _while_true(writer: ProgramWriter) -> None:
    """Write a `while True` that counts up to a bound and breaks there."""
    name = writer.fresh("loop")
    k = writer.between(2, 5)
    _need_trips(writer, k)
    writer.write(f"{name} = 0")
    writer.declare(name, Operand(name, "int", 0, k)).counter = True
    since = len(writer.lines)
    loop_body(writer, "while True:", k, may_have_else=False)
    _begin_rounds(writer, "while True:", since, [f"{name} += 1", f"if {name} > {k - 1}:", "    break"])
    writer.cost += 3 * k


@RULES.enter("loop", 3, 2)
def _while_below(writer: ProgramWriter) -> None:
    """Write a loop that multiplies a number until it is large enough."""
    start, by = writer.between(1, 5), writer.pick((2, 2, 3))
    limit = writer.pick((20, 30, 50, 100))
    name = writer.fresh("int")
    trips, n = 0, start
    while n < limit:
        n *= by
        trips += 1
    _need_trips(writer, trips)
    writer.write(f"{name} = {start}")
    grown = writer.declare(name, Operand(name, "int", start, limit * by))
    grown.counter = True
    last = f"{name} *= {by}" if writer.chance(0.6) else f"{name} = {name} * {by}"
    loop_body(writer, f"while {name} < {limit}:", trips, last=last, leave=False)
    grown.counter = False


@RULES.enter("loop", 5, 8)
def _for_letter(writer: ProgramWriter) -> None:
    iterated = writer.choose([v for v in writer.of("str") if 1 <= v.hi <= 8])
    _need_trips(writer, iterated.hi)
    form = writer.below(4)
    if form == 0:
        i, c = writer.fresh("loop"), writer.fresh("char")
        header = f"for {i}, {c} in enumerate({iterated.text}):"
        bound: tuple[Operand, ...] = (Operand(i, "int", 0, iterated.hi - 1), Operand(c, "str", 1, 1))
    elif form == 1:
        i = writer.fresh("loop")
        header = f"for {i} in range(len({iterated.text})):"
        bound = (Operand(i, "int", 0, iterated.hi - 1, indexes=iterated.text),)
    else:
        c = writer.fresh("char")
        header, bound = f"for {c} in {iterated.text}:", (Operand(c, "str", 1, 1),)
    loop_body(writer, header, iterated.hi, bound=bound, locked=(iterated,))


@RULES.enter("loop", 6, 14)
def _for_item(writer: ProgramWriter) -> None:
    a = writer.choose([v for v in writer.of("list") if 1 <= v.hi <= LIST])
    _need_trips(writer, a.hi)
    x = writer.fresh("item" if a.items == "int" else "str")
    item = Operand(x, a.items, a.item_lo, a.item_hi)
    header, trips = f"for {x} in {a.text}:", a.hi
    bound: tuple[Operand, ...] = (item,)
    locked: tuple[Local, ...] = (a,)
    others = [v for v in writer.of("list", "int") if v is not a and v.hi >= 1]
    form = writer.below(8)
    if form == 0:
        i = writer.fresh("loop")
        header, bound = f"for {i}, {x} in enumerate({a.text}):", (Operand(i, "int", 0, a.hi - 1), item)
    elif form == 1 and a.items == "int":
        i = writer.fresh("loop")
        writer.names.discard(x)
        header = f"for {i} in range(len({a.text})):"
        bound = (Operand(i, "int", 0, a.hi - 1, indexes=a.text),)
    elif form == 2 and others:
        b, y = writer.recent(others), writer.fresh("item")
        header, trips = f"for {x}, {y} in zip({a.text}, {b.text}):", min(a.hi, b.hi)
        bound, locked = (item, Operand(y, "int", b.item_lo, b.item_hi)), (a, b)
    elif form == 3:
        text = writer.pick(
            (f"reversed({a.text})", f"{a.text}[1:]", f"sorted({a.text})" if a.hi <= 5 else a.text)
        )
        header = f"for {x} in {text}:"
    loop_body(writer, header, trips, bound=bound, locked=locked)


@RULES.enter("loop", 6, 2.5)
def _while_items(writer: ProgramWriter) -> None:
    """Write a loop that empties a list."""
    writer.need(not writer.branches)
    iterated = writer.choose([v for v in writer.growable("list", "int") if not v.looped and 1 <= v.hi <= 6])
    _need_trips(writer, iterated.hi)
    x = writer.fresh("item")
    trips = iterated.hi
    header = writer.pick((f"while {iterated.text}:", f"while len({iterated.text}) > 0:"))
    since = len(writer.lines)
    iterated.lo = 0
    bound = (Operand(x, "int", iterated.item_lo, iterated.item_hi),)
    loop_body(writer, header, trips, bound=bound, locked=(iterated,), may_have_else=False)
    _begin_rounds(writer, header, since, [f"{x} = {iterated.text}.pop({writer.pick(('', '', '0'))})"])
    writer.cost += trips
    iterated.lo = 0


@RULES.enter("loop", 6, 2)
def _for_row(writer: ProgramWriter) -> None:
    writer.need(writer.indent <= 3)
    _need_trips(writer, 4)
    iterated, row = writer.choose(writer.of("grid")), writer.fresh("row")
    if writer.chance(0.3):
        x, y = writer.fresh("item"), writer.fresh("item")
        writer.names.discard(row)
        cells = tuple(Operand(name, "int", iterated.item_lo, iterated.item_hi) for name in (x, y))
        loop_body(writer, f"for {x}, {y} in {iterated.text}:", 2, bound=cells)
    else:
        item = Operand(row, "list", 2, 2, 3, "int", iterated.item_lo, iterated.item_hi)
        loop_body(writer, f"for {row} in {iterated.text}:", 2, bound=(item,))


@RULES.enter("loop", 7, 9)
def _for_key(writer: ProgramWriter) -> None:
    iterated = writer.choose([v for v in writer.of("dict") if v.hi >= 1])
    trips = min(iterated.hi, KEYS)
    _need_trips(writer, trips)
    k = writer.fresh("key")
    key = Operand(k, "str", 0, 8) if iterated.keys == "str" else Operand(k, "int", 0, 99)
    form = writer.below(3)
    if form == 0:
        loop_body(writer, f"for {k} in {iterated.text}:", trips, bound=(key,), locked=(iterated,))
        return
    v = writer.fresh("item")
    value = Operand(v, "int", iterated.item_lo, iterated.item_hi)
    if form == 1:
        writer.names.discard(k)
        loop_body(writer, f"for {v} in {iterated.text}.values():", trips, bound=(value,), locked=(iterated,))
    else:
        loop_body(
            writer, f"for {k}, {v} in {iterated.text}.items():", trips, bound=(key, value), locked=(iterated,)
        )


@RULES.enter("loop", 7, 1.5)
def _for_set(writer: ProgramWriter) -> None:
    _need_trips(writer, 6)
    iterated, x = writer.choose(writer.of("set")), writer.fresh("item")
    loop_body(
        writer,
        f"for {x} in sorted({iterated.text}):",
        6,
        bound=(Operand(x, "int", 0, 7),),
        locked=(iterated,),
    )
