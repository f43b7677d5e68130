"""Levels 3 and 4, loops: when one is written, what its rounds do, how they are left.

What a loop may assign to is widened before it is written, to an interval that its rounds cannot leave. What
loops go over stands in `loops`.
"""

from deskcheck.sources.generated.statements.arithmetic import something
from deskcheck.sources.generated.statements.dictionaries import set_key
from deskcheck.sources.generated.statements.lists import append
from deskcheck.sources.generated.statements.strings import extend_string
from deskcheck.sources.generated.writing.bounds import COST, GROWTH, KEYS, LIMIT, LIST, TEXT
from deskcheck.sources.generated.writing.values import Local, Operand, largest, product_of
from deskcheck.sources.generated.writing.writer import ProgramWriter, Statement, Table, entered

STATEMENTS: Table[Statement] = []


@entered(STATEMENTS, 3, 20)
def _loop(w: ProgramWriter) -> bool:
    deepest = 1 if w.level < 4 else 2 if w.chance(0.97) else 3
    if len(w.loops) >= deepest or w.indent > 4 or w.cost > COST or (w.helper and w.loops) or w.room < 3:
        return False
    own, write = w.draw("loop")
    nested = bool(w.loops)
    if not write(w):
        return False
    w.used.add(own)
    if nested:
        w.used.add(4)
    return True


@entered(STATEMENTS, 4, 10)
def _nested_loop(w: ProgramWriter) -> bool:
    return _loop(w) if len(w.loops) == 1 else False


@entered(STATEMENTS, 3, 4)
def _leave(w: ProgramWriter) -> bool:
    if not w.loops or w.finishing or w.indent > 4:
        return False
    word = w.pick(w.jumps[-1])
    w.write(f"if {w.condition()}:")
    w.indent += 1
    w.write(word)
    w.indent -= 1
    return True


def loop_body(
    w: ProgramWriter,
    header: str,
    trips: int,
    *,
    made: tuple[Operand, ...] = (),
    last: str = "",
    leave: bool = True,
    locked: tuple[Local, ...] = (),
    other: bool = True,
) -> bool:
    """A loop: what it may assign to is widened first. made: variables that its header binds. last: the line
    that ends each round, which nothing may jump over."""
    targets = _targets(w, locked)
    before = [(v, v.depth, v.looped, v.growth, v.since, v.base_lo, v.base_hi) for v in targets]
    depth = len(w.loops)
    nested = depth > 0
    for v in targets:
        _widen(v, depth, signed=w.chance(0.4))
    kept = [(v, v.locked) for v in locked]
    for v in locked:
        v.locked = True
    w.write(header)
    w.loops.append(trips)
    w.jumps.append(("break", "break", "continue") if leave else ("break",))
    seen = len(w.variables)
    for value in made:
        w.declare(value.text, value)
    w.indent += 1
    branches, w.branches = w.branches, 0
    length = len(w.lines)
    _work(w, targets, made)
    if w.level == 4 and not nested and w.chance(0.75):
        _loop(w)
    for _ in range(w.pick((0, 0, 1, 1, 1, 2))):
        if w.cost < COST and w.room > -2:
            w.statement()
    if len(w.lines) == length:
        something(w)
    if last:
        w.write(last)
    w.branches = branches
    w.indent -= 1
    del w.variables[seen:]
    w.loops.pop()
    w.jumps.pop()
    for v, was in kept:
        v.locked = was
    for v, was_depth, was_looped, growth, since, base_lo, base_hi in before:
        v.depth, v.since = was_depth, since
        if was_looped:
            v.base_lo, v.base_hi = base_lo, base_hi
        else:
            v.looped, v.growth = False, growth
    if other and leave and w.chance(0.04):
        w.write("else:")
        w.room = min(w.room, 2)  # no loop: it would stand in this one, as the text has it
        w.branch(1)
    return True


def _targets(w: ProgramWriter, locked: tuple[Local, ...]) -> list[Local]:
    """One to three variables that the loop may assign to; where there are none, one is made before it."""
    known = [
        v
        for kind in ("int", "str", "list", "dict")
        for v in w.assignable(kind)
        if v not in locked and not v.locked and not (kind == "int" and largest(v) > 999)
    ]
    chosen = []
    for _ in range(w.pick((0, 1, 1, 2))):
        if known:
            chosen.append(known.pop(w.below(len(known))))
    if not chosen or w.chance(0.5):
        kinds = ["int", "int", "int"]
        kinds += ["str"] * 2 * (w.level >= 5) + ["list"] * 2 * (w.level >= 6) + ["dict"] * 2 * (w.level >= 7)
        kind = w.pick(kinds)
        if w.loops and w.chance(0.5):
            kind = "int"
        name = w.fresh(kind)
        if kind == "int":
            n = w.pick((0, 0, 0, 1, 1, w.below(20)))
            w.write(f"{name} = {n}")
            value = Operand(name, "int", n, n)
        elif kind == "str":
            w.write(f'{name} = ""')
            value = Operand(name, "str", 0, 0)
        elif kind == "list":
            w.write(f"{name} = []")
            value = Operand(name, "list", 0, 0, 3, "int", w.pick((0, 0, -99)), w.pick((99, 99, 999)))
        else:
            w.write(f"{name} = {{}}")
            value = Operand(name, "dict", 0, 0, 3, "int", 0, 999, w.pick(("str", "str", "int")))
        chosen.append(w.declare(name, value))
    return chosen


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


def _work(w: ProgramWriter, targets: list[Local], made: tuple[Operand, ...]) -> None:
    """Something done to a target in each round, so that the loop is for something."""
    v = w.pick(targets)
    for _ in range(4):
        if v.kind == "int":
            done = _accumulate(w, v, made)
        elif v.kind == "str":
            done = extend_string(w)
        elif v.kind == "list":
            done = append(w)
        else:
            done = set_key(w)
        if done:
            return


def _accumulate(w: ProgramWriter, v: Local, made: tuple[Operand, ...]) -> bool:
    draw = w.random()
    own = [value for value in made if value.kind == "int"]
    if draw < 0.15:
        modulus = w.pick((7, 10, 10, 50, 100))
        k = w.between(2, 5)
        value = product_of(Operand(v.text, "int", v.lo, v.hi), Operand(str(k), "int", k, k))
        if value is not None and modulus - 1 <= v.base_hi:
            w.write(f"{v.text} = ({value.text} + {w.atom().at(1)}) % {modulus}")
            return True
    value = w.pick(own) if own and w.chance(0.5) else w.number() if draw < 0.5 else w.atom()
    if value.text == v.text or largest(value) > 99 * (1 + 9 * (w.trips() <= 4)):
        return False
    minus = draw > 0.85 and v.lo < 0
    if value.lo < 0 and v.lo >= 0:  # the interval that was promised has no room below
        return False
    low, high = (-value.hi, -value.lo) if minus else (value.lo, value.hi)
    if not w.may_grow(v, low, high, LIMIT):
        return False
    if w.chance(0.25) and value.prec >= 1:
        w.write(f"{v.text} = {v.text} {'-' if minus else '+'} {value.at(2)}")
    else:
        w.write(f"{v.text} {'-' if minus else '+'}= {value.text}")
    return True
