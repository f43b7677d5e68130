"""The forms of loops, levels 3 to 7: what they go over or count, so that they end.

What stands in them is written by `loop_bodies`.
"""

from deskcheck.sources.generated.statements.loop_bodies import loop_body
from deskcheck.sources.generated.writing.bounds import KEYS, LIST, TRIPS
from deskcheck.sources.generated.writing.values import Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Statement, Table, entered

LOOPS: Table[Statement] = []


def _allowed(w: ProgramWriter, trips: int) -> bool:
    return w.trips() * trips <= TRIPS


@entered(LOOPS, 3, 16)
def _for_range(w: ProgramWriter) -> bool:
    form = w.below(5)
    known = [v for v in w.of("int") if v.hi <= 9 and v.hi >= 1]
    name = w.fresh("loop")
    if form <= 1 and known:
        n = w.recent(known)
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
    if not _allowed(w, trips):
        return False
    return loop_body(w, f"for {name} in range({text}):", trips, made=(Operand(name, "int", low, high),))


@entered(LOOPS, 3, 4)
def _while_counter(w: ProgramWriter) -> bool:
    name = w.fresh("loop")
    k, step = w.between(2, 5), w.pick((1, 1, 1, 2))
    known = [v for v in w.of("int") if 1 <= v.hi <= 8 and not v.looped]
    bound, high = str(k * step), k * step
    if known and step == 1 and w.chance(0.4):
        n = w.recent(known)
        if n.depth == len(w.loops):
            return False  # the loop may assign to it
        bound, high, k = n.text, n.hi, n.hi
    if not _allowed(w, k):
        return False
    w.write(f"{name} = 0")
    counter = w.declare(name, Operand(name, "int", 0, high + step))
    counter.counter = True
    last = f"{name} += {step}" if w.chance(0.7) else f"{name} = {name} + {step}"
    return loop_body(w, f"while {name} < {bound}:", k, last=last, leave=False)


@entered(LOOPS, 3, 5)
def _while_down(w: ProgramWriter) -> bool:
    """Counts a variable down, by steps or by division."""
    known = [v for v in w.assignable("int") if not v.looped and v.hi >= 2]
    if w.branches:
        known = []
    if known and w.chance(0.8):
        v = w.recent(known)
    else:
        k = w.between(3, 20)
        name = w.fresh("int")
        w.write(f"{name} = {k}")
        v = w.declare(name, Operand(name, "int", k, k))
    if v.hi > 999:
        return False
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
    trips = max(trips, 1)
    if not _allowed(w, trips):
        return False
    v.counter = True
    low, v.lo = v.lo, 1  # where its rounds can see it
    made = loop_body(w, f"while {v.text} > 0:", trips, last=last, leave=False)
    v.lo = min(low, -9)
    v.counter = False
    return made


@entered(LOOPS, 3, 2)
def _while_true(w: ProgramWriter) -> bool:
    """Counts up to a bound, and leaves from the middle."""
    name = w.fresh("loop")
    k = w.between(2, 5)
    if not _allowed(w, k):
        return False
    w.write(f"{name} = 0")
    counter = w.declare(name, Operand(name, "int", 0, k))
    counter.counter = True
    targets_at = len(w.lines)
    done = loop_body(w, "while True:", k, other=False)
    # The counting stands first, so that nothing can jump over it.
    header = next(i for i in range(targets_at, len(w.lines)) if w.lines[i].strip() == "while True:")
    pad = "    " * (w.indent + 1)
    w.lines[header + 1 : header + 1] = [f"{pad}{name} += 1", f"{pad}if {name} > {k - 1}:", f"{pad}    break"]
    w.cost += 3 * k
    return done


@entered(LOOPS, 3, 2)
def _while_below(w: ProgramWriter) -> bool:
    """Grows a number until it is large enough."""
    start, by = w.between(1, 5), w.pick((2, 2, 3))
    limit = w.pick((20, 30, 50, 100))
    name = w.fresh("int")
    trips, n = 0, start
    while n < limit:
        n *= by
        trips += 1
    if not _allowed(w, trips):
        return False
    w.write(f"{name} = {start}")
    v = w.declare(name, Operand(name, "int", start, limit * by))
    v.counter = True
    last = f"{name} *= {by}" if w.chance(0.6) else f"{name} = {name} * {by}"
    done = loop_body(w, f"while {name} < {limit}:", trips, last=last, leave=False)
    v.counter = False
    return done


@entered(LOOPS, 5, 8)
def _for_letter(w: ProgramWriter) -> bool:
    known = [v for v in w.of("str") if 1 <= v.hi <= 8]
    if not known:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    form = w.below(4)
    if form == 0:
        i, c = w.fresh("loop"), w.fresh("char")
        made: tuple[Operand, ...] = (
            Operand(i, "int", 0, a.hi - 1),
            Operand(c, "str", 1, 1),
        )
        return loop_body(w, f"for {i}, {c} in enumerate({a.text}):", a.hi, made=made, locked=(a,))
    if form == 1:
        i = w.fresh("loop")
        made = (Operand(i, "int", 0, a.hi - 1, indexes=a.text),)
        return loop_body(w, f"for {i} in range(len({a.text})):", a.hi, made=made, locked=(a,))
    c = w.fresh("char")
    return loop_body(w, f"for {c} in {a.text}:", a.hi, made=(Operand(c, "str", 1, 1),), locked=(a,))


@entered(LOOPS, 6, 14)
def _for_item(w: ProgramWriter) -> bool:
    known = [v for v in w.of("list") if 1 <= v.hi <= LIST]
    if not known:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    x = w.fresh("item" if a.items == "int" else "str")
    item = Operand(x, a.items, a.item_lo, a.item_hi)
    form = w.below(8)
    if form == 0:
        i = w.fresh("loop")
        made: tuple[Operand, ...] = (Operand(i, "int", 0, a.hi - 1), item)
        return loop_body(w, f"for {i}, {x} in enumerate({a.text}):", a.hi, made=made, locked=(a,))
    if form == 1 and a.items == "int":
        i = w.fresh("loop")
        w.names.discard(x)
        made = (Operand(i, "int", 0, a.hi - 1, indexes=a.text),)
        return loop_body(w, f"for {i} in range(len({a.text})):", a.hi, made=made, locked=(a,))
    if form == 2:
        others = [v for v in w.of("list", "int") if v is not a and v.hi >= 1]
        if others:
            b, y = w.recent(others), w.fresh("item")
            made = (item, Operand(y, "int", b.item_lo, b.item_hi))
            return loop_body(
                w, f"for {x}, {y} in zip({a.text}, {b.text}):", min(a.hi, b.hi), made=made, locked=(a, b)
            )
    if form == 3:
        text = w.pick((f"reversed({a.text})", f"{a.text}[1:]", f"sorted({a.text})" if a.hi <= 5 else a.text))
        return loop_body(w, f"for {x} in {text}:", a.hi, made=(item,), locked=(a,))
    return loop_body(w, f"for {x} in {a.text}:", a.hi, made=(item,), locked=(a,))


@entered(LOOPS, 6, 2.5)
def _while_items(w: ProgramWriter) -> bool:
    """Empties a list."""
    known = [v for v in w.growable("list", "int") if not v.looped and 1 <= v.hi <= 6]
    if not known or w.branches:
        return False
    a = w.recent(known)
    if not _allowed(w, a.hi):
        return False
    x = w.fresh("item")
    trips = a.hi
    header = w.pick((f"while {a.text}:", f"while len({a.text}) > 0:"))
    at = len(w.lines)
    a.lo = 0
    done = loop_body(
        w, header, trips, made=(Operand(x, "int", a.item_lo, a.item_hi),), locked=(a,), other=False
    )
    place = next(i for i in range(at, len(w.lines)) if w.lines[i].strip() == header)
    w.lines.insert(place + 1, "    " * (w.indent + 1) + f"{x} = {a.text}.pop({w.pick(('', '', '0'))})")
    w.cost += trips
    a.lo = 0
    return done


@entered(LOOPS, 6, 2)
def _for_row(w: ProgramWriter) -> bool:
    known = w.of("grid")
    if not known or not _allowed(w, 4) or w.indent > 3:
        return False
    a, row = w.recent(known), w.fresh("row")
    made: tuple[Operand, ...] = (Operand(row, "list", 2, 2, 3, "int", a.item_lo, a.item_hi),)
    if w.chance(0.3):
        x, y = w.fresh("item"), w.fresh("item")
        w.names.discard(row)
        made = (
            Operand(x, "int", a.item_lo, a.item_hi),
            Operand(y, "int", a.item_lo, a.item_hi),
        )
        return loop_body(w, f"for {x}, {y} in {a.text}:", 2, made=made)
    return loop_body(w, f"for {row} in {a.text}:", 2, made=made)


@entered(LOOPS, 7, 9)
def _for_key(w: ProgramWriter) -> bool:
    known = [v for v in w.of("dict") if v.hi >= 1]
    if not known:
        return False
    a = w.recent(known)
    trips = min(a.hi, KEYS)
    if not _allowed(w, trips):
        return False
    k = w.fresh("key")
    key = Operand(k, "str", 0, 8) if a.keys == "str" else Operand(k, "int", 0, 99)
    form = w.below(3)
    if form == 0:
        return loop_body(w, f"for {k} in {a.text}:", trips, made=(key,), locked=(a,))
    v = w.fresh("item")
    value = Operand(v, "int", a.item_lo, a.item_hi)
    if form == 1:
        w.names.discard(k)
        return loop_body(w, f"for {v} in {a.text}.values():", trips, made=(value,), locked=(a,))
    return loop_body(w, f"for {k}, {v} in {a.text}.items():", trips, made=(key, value), locked=(a,))


@entered(LOOPS, 7, 1.5)
def _for_set(w: ProgramWriter) -> bool:
    known = w.of("set")
    if not known or not _allowed(w, 6):
        return False
    a, x = w.recent(known), w.fresh("item")
    return loop_body(w, f"for {x} in sorted({a.text}):", 6, made=(Operand(x, "int", 0, 7),), locked=(a,))
