"""Levels 3 and 4, loops: when one is written, what its rounds do, how they are left.

What a loop may assign to is widened before it is written, to an interval that its rounds cannot leave.
"""

from deskcheck.sources.generated.statements.arithmetic import something
from deskcheck.sources.generated.statements.dictionaries import set_key
from deskcheck.sources.generated.statements.lists import append
from deskcheck.sources.generated.statements.strings import extend_string
from deskcheck.sources.generated.writing.values import (
    COST,
    GROWTH,
    KEYS,
    LIMIT,
    LIST,
    TEXT,
    Local,
    Operand,
    largest,
    product_of,
)
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


@RULES.enter("statement", 3, 20)
def _loop(w: ProgramWriter) -> None:
    deepest = 1 if w.level < 4 else 2 if w.chance(0.97) else 3
    w.need(len(w.loops) < deepest and w.indent <= 4 and w.cost <= COST and w.room >= 3)
    nested = bool(w.loops)
    w.need(not (w.helper and nested))
    w.drawn("loop", 1)
    if nested:
        w.used.add(4)


@RULES.enter("statement", 4, 10)
def _nested_loop(w: ProgramWriter) -> None:
    w.need(len(w.loops) == 1)
    _loop(w)


@RULES.enter("statement", 3, 4)
def _leave(w: ProgramWriter) -> None:
    w.need(w.loops and not w.finishing and w.indent <= 4)
    word = w.pick(w.jumps[-1])
    w.write_under(f"if {w.condition()}:", word)


def loop_body(
    w: ProgramWriter,
    header: str,
    trips: int,
    *,
    bound: tuple[Operand, ...] = (),
    last: str = "",
    leave: bool = True,
    locked: tuple[Local, ...] = (),
    other: bool = True,
) -> None:
    """A loop. What it may assign to is widened first.

    made: variables that its header binds. last: the line that ends each round, which nothing may jump over.
    leave: whether `continue` and an else are possible. locked: what may not change meanwhile.
    """
    targets = _targets(w, locked)
    before = [(v, v.depth, v.looped, v.growth, v.since, v.base_lo, v.base_hi) for v in targets]
    for v in targets:
        _widen(v, len(w.loops), signed=w.chance(0.4))
    before_locked = [(v, v.locked) for v in locked]
    for v in locked:
        v.locked = True
    jumps = ("break", "break", "continue") if leave else ("break",)
    _rounds(w, header, trips, targets, bound, last, jumps)
    for v, was in before_locked:
        v.locked = was
    for v, was_depth, was_looped, growth, since, base_lo, base_hi in before:
        v.depth, v.since = was_depth, since
        if was_looped:
            v.base_lo, v.base_hi = base_lo, base_hi
        else:
            v.looped, v.growth = False, growth
    if other and leave and w.chance(0.04):
        w.write("else:")
        w.room = min(w.room, 2)  # no loop: it would be in this one, by the text
        w.block(1, branch=True)


def _rounds(
    w: ProgramWriter,
    header: str,
    trips: int,
    targets: list[Local],
    bound: tuple[Operand, ...],
    last: str,
    jumps: tuple[str, ...],
) -> None:
    nested = bool(w.loops)
    w.write(header)
    w.loops.append(trips)
    w.jumps.append(jumps)
    visible = len(w.variables)
    for value in bound:
        w.declare(value.text, value)
    w.indent += 1
    branches, w.branches = w.branches, 0
    length = len(w.lines)
    _work(w, targets, bound)
    if w.level == 4 and not nested and w.chance(0.75):
        w.attempt(_loop)
    for _ in range(w.pick((0, 0, 1, 1, 1, 2))):
        if w.cost < COST and w.room > -2:
            w.statement()
    if len(w.lines) == length:
        something(w)
    if last:
        w.write(last)
    w.branches = branches
    w.indent -= 1
    del w.variables[visible:]
    w.loops.pop()
    w.jumps.pop()


def _targets(w: ProgramWriter, locked: tuple[Local, ...]) -> list[Local]:
    """One to three variables that the loop may assign to; where there are none, one is made before it."""
    choices = [
        v
        for kind in ("int", "str", "list", "dict")
        for v in w.assignable(kind)
        if v not in locked and not v.locked and not (kind == "int" and largest(v) > 999)
    ]
    chosen = []
    for _ in range(w.pick((0, 1, 1, 2))):
        if choices:
            chosen.append(choices.pop(w.below(len(choices))))
    if not chosen or w.chance(0.5):
        kinds = ["int", "int", "int"]
        kinds += ["str"] * 2 * (w.level >= 5) + ["list"] * 2 * (w.level >= 6) + ["dict"] * 2 * (w.level >= 7)
        kind = w.pick(kinds)
        if w.loops and w.chance(0.5):
            kind = "int"
        name = w.fresh(kind)
        value = _beginning(w, kind)
        w.write(f"{name} = {value.text}")
        chosen.append(w.declare(name, value))
    return chosen


def _beginning(w: ProgramWriter, kind: str) -> Operand:
    """The first value of a variable that a loop works on."""
    if kind == "int":
        n = w.pick((0, 0, 0, 1, 1, w.below(20)))
        return Operand(str(n), "int", n, n)
    if kind == "str":
        return Operand('""', "str", 0, 0)
    if kind == "list":
        return Operand("[]", "list", 0, 0, 3, "int", w.pick((0, 0, -99)), w.pick((99, 99, 999)))
    return Operand("{}", "dict", 0, 0, 3, "int", 0, 999, w.pick(("str", "str", "int")))


def _widen(v: Local, depth: int, signed: bool) -> None:
    """From here on `v` may be assigned to in the loop that begins, within bounds that its rounds
    cannot leave. signed: whether a number may get below zero that was not."""
    v.indexes = ""
    if not v.looped:
        v.since = depth
        v.looped = True
        if v.kind == "int":
            v.base_lo, v.base_hi = min(v.lo, 0), max(v.hi, 99)
            v.growth = GROWTH
            v.lo, v.hi = v.base_lo - (v.growth if v.lo < 0 or signed else 0), v.base_hi + v.growth
        else:
            most = {"list": LIST, "str": TEXT, "dict": KEYS}[v.kind]
            v.base_lo, v.base_hi = 0, v.hi
            v.growth = max(most - v.hi, 0)
            v.lo, v.hi = 0, v.hi + v.growth
    v.depth = depth + 1


def _work(w: ProgramWriter, targets: list[Local], bound: tuple[Operand, ...]) -> None:
    """Something done to a target in each round, so that the loop is for something."""
    v = w.pick(targets)
    work = {"int": lambda w: _accumulate(w, v, bound), "str": extend_string, "list": append, "dict": set_key}
    for _ in range(4):
        if w.attempt(work[v.kind]):
            return


def _accumulate(w: ProgramWriter, v: Local, bound: tuple[Operand, ...]) -> None:
    draw = w.random()
    if draw < 0.15 and w.attempt(lambda w: _accumulate_digits(w, v)):
        return
    numbers = [value for value in bound if value.kind == "int"]
    value = w.pick(numbers) if numbers and w.chance(0.5) else w.number() if draw < 0.5 else w.atom()
    w.need(value.text != v.text and largest(value) <= 99 * (1 + 9 * (w.trips() <= 4)))
    w.need(value.lo >= 0 or v.lo < 0)  # the interval that was promised has no room below
    sign = "-" if draw > 0.85 and v.lo < 0 else "+"
    low, high = (-value.hi, -value.lo) if sign == "-" else (value.lo, value.hi)
    w.need(w.may_grow(v, low, high, LIMIT))
    if w.chance(0.25) and value.prec >= 1:
        w.write(f"{v.text} = {v.text} {sign} {value.at(2)}")
    else:
        w.write(f"{v.text} {sign}= {value.text}")


def _accumulate_digits(w: ProgramWriter, v: Local) -> None:
    modulus = w.pick((7, 10, 10, 50, 100))
    k = w.between(2, 5)
    product = product_of(Operand(v.text, "int", v.lo, v.hi), Operand(str(k), "int", k, k))
    w.need(modulus - 1 <= v.base_hi)
    w.write(f"{v.text} = ({product.text} + {w.atom().at(1)}) % {modulus}")
