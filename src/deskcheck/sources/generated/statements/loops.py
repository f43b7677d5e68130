"""The forms of loops, levels 3 to 7: what they go over or count, so that they end."""

from deskcheck.sources.generated.statements.loop_bodies import loop_body
from deskcheck.sources.generated.writing.values import KEYS, LIST, TRIPS, Local, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _need_trips(w: ProgramWriter, trips: int) -> None:
    w.need(w.trips() * trips <= TRIPS)


@RULES.enter("loop", 3, 16)
def _for_range(w: ProgramWriter) -> None:
    form = w.below(5)
    choices = [v for v in w.of("int") if v.hi <= 9 and v.hi >= 1]
    name = w.fresh("loop")
    if form <= 1 and choices:
        n = w.recent(choices)
        text, low, high, trips = n.text, 0, max(n.hi - 1, 0), max(n.hi, 1)
    elif form == 2:
        a, k = w.between(1, 4), w.between(2, 5)
        text, low, high, trips = f"{a}, {a + k}", a, a + k - 1, k
    elif form == 3:
        step, k = w.pick((2, 2, 3, -1)), w.between(2, 5)
        if step < 0:
            text, low, high, trips = f"{k}, 0, -1", 1, k, k
        else:
            text, low, high, trips = f"0, {step * k}, {step}", 0, step * (k - 1), k
    else:
        k = w.between(2, 6)
        text, low, high, trips = str(k), 0, k - 1, k
    _need_trips(w, trips)
    loop_body(w, f"for {name} in range({text}):", trips, bound=(Operand(name, "int", low, high),))


@RULES.enter("loop", 3, 4)
def _while_counter(w: ProgramWriter) -> None:
    name = w.fresh("loop")
    k, step = w.between(2, 5), w.pick((1, 1, 1, 2))
    choices = [v for v in w.of("int") if 1 <= v.hi <= 8 and not v.looped]
    bound, high = str(k * step), k * step
    if choices and step == 1 and w.chance(0.4):
        n = w.recent(choices)
        w.need(n.depth != len(w.loops))  # the loop may assign to it
        bound, high, k = n.text, n.hi, n.hi
    _need_trips(w, k)
    w.write(f"{name} = 0")
    w.declare(name, Operand(name, "int", 0, high + step)).counter = True
    last = f"{name} += {step}" if w.chance(0.7) else f"{name} = {name} + {step}"
    loop_body(w, f"while {name} < {bound}:", k, last=last, leave=False)


@RULES.enter("loop", 3, 5)
def _while_down(w: ProgramWriter) -> None:
    """Counts a variable down, by steps or by division."""
    choices = [v for v in w.assignable("int") if not v.looped and v.hi >= 2 and not w.branches]
    if choices and w.chance(0.8):
        v = w.recent(choices)
    else:
        k = w.between(3, 20)
        v = w.assign_new("int", Operand(str(k), "int", k, k))
    w.need(v.hi <= 999)
    if v.hi <= 8 and w.chance(0.6):
        trips, last = v.hi, f"{v.text} -= 1"
    elif v.hi <= 40 and w.chance(0.5):
        step = max(2, v.hi // 6)
        trips, last = v.hi // step + 1, f"{v.text} -= {step}"
    else:
        by = w.pick((2, 2, 3)) if v.hi <= 99 else w.pick((3, 10, 10))
        trips, rest = 1, v.hi
        while rest:
            rest //= by
            trips += 1
        last = f"{v.text} //= {by}" if w.chance(0.6) else f"{v.text} = {v.text} // {by}"
    _need_trips(w, trips)
    v.counter = True
    low, v.lo = v.lo, 1  # where its rounds can see it
    loop_body(w, f"while {v.text} > 0:", trips, last=last, leave=False)
    v.lo = min(low, -9)
    v.counter = False


def _begin_rounds(w: ProgramWriter, header: str, since: int, lines: list[str]) -> None:
    """Insert lines at the beginning of a written loop's body, which nothing can jump over."""
    at = next(i for i in range(since, len(w.lines)) if w.lines[i].strip() == header)
    pad = "    " * (w.indent + 1)
    w.lines[at + 1 : at + 1] = [pad + line for line in lines]


@RULES.enter("loop", 3, 2)
def _while_true(w: ProgramWriter) -> None:
    """Counts up to a bound, and leaves from the middle."""
    name = w.fresh("loop")
    k = w.between(2, 5)
    _need_trips(w, k)
    w.write(f"{name} = 0")
    w.declare(name, Operand(name, "int", 0, k)).counter = True
    since = len(w.lines)
    loop_body(w, "while True:", k, other=False)
    _begin_rounds(w, "while True:", since, [f"{name} += 1", f"if {name} > {k - 1}:", "    break"])
    w.cost += 3 * k


@RULES.enter("loop", 3, 2)
def _while_below(w: ProgramWriter) -> None:
    """Grows a number until it is large enough."""
    start, by = w.between(1, 5), w.pick((2, 2, 3))
    limit = w.pick((20, 30, 50, 100))
    name = w.fresh("int")
    trips, n = 0, start
    while n < limit:
        n *= by
        trips += 1
    _need_trips(w, trips)
    w.write(f"{name} = {start}")
    v = w.declare(name, Operand(name, "int", start, limit * by))
    v.counter = True
    last = f"{name} *= {by}" if w.chance(0.6) else f"{name} = {name} * {by}"
    loop_body(w, f"while {name} < {limit}:", trips, last=last, leave=False)
    v.counter = False


@RULES.enter("loop", 5, 8)
def _for_letter(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.of("str") if 1 <= v.hi <= 8])
    _need_trips(w, a.hi)
    form = w.below(4)
    if form == 0:
        i, c = w.fresh("loop"), w.fresh("char")
        header = f"for {i}, {c} in enumerate({a.text}):"
        bound: tuple[Operand, ...] = (Operand(i, "int", 0, a.hi - 1), Operand(c, "str", 1, 1))
    elif form == 1:
        i = w.fresh("loop")
        header = f"for {i} in range(len({a.text})):"
        bound = (Operand(i, "int", 0, a.hi - 1, indexes=a.text),)
    else:
        c = w.fresh("char")
        header, bound = f"for {c} in {a.text}:", (Operand(c, "str", 1, 1),)
    loop_body(w, header, a.hi, bound=bound, locked=(a,))


@RULES.enter("loop", 6, 14)
def _for_item(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.of("list") if 1 <= v.hi <= LIST])
    _need_trips(w, a.hi)
    x = w.fresh("item" if a.items == "int" else "str")
    item = Operand(x, a.items, a.item_lo, a.item_hi)
    header, trips = f"for {x} in {a.text}:", a.hi
    bound: tuple[Operand, ...] = (item,)
    locked: tuple[Local, ...] = (a,)
    others = [v for v in w.of("list", "int") if v is not a and v.hi >= 1]
    form = w.below(8)
    if form == 0:
        i = w.fresh("loop")
        header, bound = f"for {i}, {x} in enumerate({a.text}):", (Operand(i, "int", 0, a.hi - 1), item)
    elif form == 1 and a.items == "int":
        i = w.fresh("loop")
        w.names.discard(x)
        header = f"for {i} in range(len({a.text})):"
        bound = (Operand(i, "int", 0, a.hi - 1, indexes=a.text),)
    elif form == 2 and others:
        b, y = w.recent(others), w.fresh("item")
        header, trips = f"for {x}, {y} in zip({a.text}, {b.text}):", min(a.hi, b.hi)
        bound, locked = (item, Operand(y, "int", b.item_lo, b.item_hi)), (a, b)
    elif form == 3:
        text = w.pick((f"reversed({a.text})", f"{a.text}[1:]", f"sorted({a.text})" if a.hi <= 5 else a.text))
        header = f"for {x} in {text}:"
    loop_body(w, header, trips, bound=bound, locked=locked)


@RULES.enter("loop", 6, 2.5)
def _while_items(w: ProgramWriter) -> None:
    """Empties a list."""
    w.need(not w.branches)
    a = w.choose([v for v in w.growable("list", "int") if not v.looped and 1 <= v.hi <= 6])
    _need_trips(w, a.hi)
    x = w.fresh("item")
    trips = a.hi
    header = w.pick((f"while {a.text}:", f"while len({a.text}) > 0:"))
    since = len(w.lines)
    a.lo = 0
    bound = (Operand(x, "int", a.item_lo, a.item_hi),)
    loop_body(w, header, trips, bound=bound, locked=(a,), other=False)
    _begin_rounds(w, header, since, [f"{x} = {a.text}.pop({w.pick(('', '', '0'))})"])
    w.cost += trips
    a.lo = 0


@RULES.enter("loop", 6, 2)
def _for_row(w: ProgramWriter) -> None:
    w.need(w.indent <= 3)
    _need_trips(w, 4)
    a, row = w.choose(w.of("grid")), w.fresh("row")
    if w.chance(0.3):
        x, y = w.fresh("item"), w.fresh("item")
        w.names.discard(row)
        cells = tuple(Operand(name, "int", a.item_lo, a.item_hi) for name in (x, y))
        loop_body(w, f"for {x}, {y} in {a.text}:", 2, bound=cells)
    else:
        item = Operand(row, "list", 2, 2, 3, "int", a.item_lo, a.item_hi)
        loop_body(w, f"for {row} in {a.text}:", 2, bound=(item,))


@RULES.enter("loop", 7, 9)
def _for_key(w: ProgramWriter) -> None:
    a = w.choose([v for v in w.of("dict") if v.hi >= 1])
    trips = min(a.hi, KEYS)
    _need_trips(w, trips)
    k = w.fresh("key")
    key = Operand(k, "str", 0, 8) if a.keys == "str" else Operand(k, "int", 0, 99)
    form = w.below(3)
    if form == 0:
        loop_body(w, f"for {k} in {a.text}:", trips, bound=(key,), locked=(a,))
        return
    v = w.fresh("item")
    value = Operand(v, "int", a.item_lo, a.item_hi)
    if form == 1:
        w.names.discard(k)
        loop_body(w, f"for {v} in {a.text}.values():", trips, bound=(value,), locked=(a,))
    else:
        loop_body(w, f"for {k}, {v} in {a.text}.items():", trips, bound=(key, value), locked=(a,))


@RULES.enter("loop", 7, 1.5)
def _for_set(w: ProgramWriter) -> None:
    _need_trips(w, 6)
    a, x = w.choose(w.of("set")), w.fresh("item")
    loop_body(w, f"for {x} in sorted({a.text}):", 6, bound=(Operand(x, "int", 0, 7),), locked=(a,))
