"""Levels 3 and 4, loops: the conditions for a loop, its body, and jumps.

Before a loop is written, the intervals of the variables that it may change are widened so that no round can
leave them.
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
def _loop(writer: ProgramWriter) -> None:
    deepest = 1 if writer.level < 4 else 2 if writer.chance(0.97) else 3
    writer.need(
        len(writer.loops) < deepest and writer.indent <= 4 and writer.cost <= COST and writer.room >= 3
    )
    nested = bool(writer.loops)
    writer.need(not (writer.helper and nested))
    writer.drawn("loop", 1)
    if nested:
        writer.used.add(4)


@RULES.enter("statement", 4, 10)
def _nested_loop(writer: ProgramWriter) -> None:
    writer.need(len(writer.loops) == 1)
    _loop(writer)


@RULES.enter("statement", 3, 4)
def _leave(writer: ProgramWriter) -> None:
    writer.need(writer.loops and not writer.finishing and writer.indent <= 4)
    word = writer.pick(writer.jumps[-1])
    writer.write_under(f"if {writer.condition()}:", word)


def loop_body(
    writer: ProgramWriter,
    header: str,
    trips: int,
    *,
    bound: tuple[Operand, ...] = (),
    last: str = "",
    leave: bool = True,
    locked: tuple[Local, ...] = (),
    may_have_else: bool = True,
) -> None:
    """Write a loop, after widening the intervals of the variables that it may change.

    bound: variables that its header binds. last: the line that ends each round, which no jump may skip.
    leave: whether `continue` and an else are possible. locked: variables whose length must not change in the
    loop.
    may_have_else: whether an else is possible.
    """
    targets = _targets(writer, locked)
    before = [(v, v.depth, v.looped, v.growth, v.since, v.base_lo, v.base_hi) for v in targets]
    for v in targets:
        _widen(v, len(writer.loops), signed=writer.chance(0.4))
    before_locked = [(v, v.locked) for v in locked]
    for v in locked:
        v.locked = True
    jumps = ("break", "break", "continue") if leave else ("break",)
    _rounds(writer, header, trips, targets, bound, last, jumps)
    for v, was in before_locked:
        v.locked = was
    for v, was_depth, was_looped, growth, since, base_lo, base_hi in before:
        v.depth, v.since = was_depth, since
        if was_looped:
            v.base_lo, v.base_hi = base_lo, base_hi
        else:
            v.looped, v.growth = False, growth
    if may_have_else and leave and writer.chance(0.04):
        writer.write("else:")
        writer.room = min(writer.room, 2)  # too little for a loop, which would look like a part of this one
        writer.block(1, branch=True)


def _rounds(
    writer: ProgramWriter,
    header: str,
    trips: int,
    targets: list[Local],
    bound: tuple[Operand, ...],
    last: str,
    jumps: tuple[str, ...],
) -> None:
    nested = bool(writer.loops)
    writer.write(header)
    writer.loops.append(trips)
    writer.jumps.append(jumps)
    visible = len(writer.variables)
    for value in bound:
        writer.declare(value.text, value)
    writer.indent += 1
    branches, writer.branches = writer.branches, 0
    length = len(writer.lines)
    _work(writer, targets, bound)
    if writer.level == 4 and not nested and writer.chance(0.75):
        writer.attempt(_loop)
    for _ in range(writer.pick((0, 0, 1, 1, 1, 2))):
        if writer.cost < COST and writer.room > -2:
            writer.statement()
    if len(writer.lines) == length:
        something(writer)
    if last:
        writer.write(last)
    writer.branches = branches
    writer.indent -= 1
    del writer.variables[visible:]
    writer.loops.pop()
    writer.jumps.pop()


def _targets(writer: ProgramWriter, locked: tuple[Local, ...]) -> list[Local]:
    """One to three variables that the loop may change. If none exists, one is created before the loop."""
    choices = [
        v
        for kind in ("int", "str", "list", "dict")
        for v in writer.assignable(kind)
        if v not in locked and not v.locked and not (kind == "int" and largest(v) > 999)
    ]
    chosen = []
    for _ in range(writer.pick((0, 1, 1, 2))):
        if choices:
            chosen.append(choices.pop(writer.below(len(choices))))
    if not chosen or writer.chance(0.5):
        kinds = ["int", "int", "int"]
        kinds += (
            ["str"] * 2 * (writer.level >= 5)
            + ["list"] * 2 * (writer.level >= 6)
            + ["dict"] * 2 * (writer.level >= 7)
        )
        kind = writer.pick(kinds)
        if writer.loops and writer.chance(0.5):
            kind = "int"
        name = writer.fresh(kind)
        value = _beginning(writer, kind)
        writer.write(f"{name} = {value.text}")
        chosen.append(writer.declare(name, value))
    return chosen


def _beginning(writer: ProgramWriter, kind: str) -> Operand:
    """The initial value of a variable that a loop changes."""
    if kind == "int":
        n = writer.pick((0, 0, 0, 1, 1, writer.below(20)))
        return Operand(str(n), "int", n, n)
    if kind == "str":
        return Operand('""', "str", 0, 0)
    if kind == "list":
        return Operand("[]", "list", 0, 0, 3, "int", writer.pick((0, 0, -99)), writer.pick((99, 99, 999)))
    return Operand("{}", "dict", 0, 0, 3, "int", 0, 999, writer.pick(("str", "str", "int")))


def _widen(variable: Local, depth: int, signed: bool) -> None:
    """Widen a variable's interval, so that the loop that begins may change the variable without leaving it.

    signed: whether a number that was not negative may become negative.
    """
    variable.indexes = ""
    if not variable.looped:
        variable.since = depth
        variable.looped = True
        if variable.kind == "int":
            variable.base_lo, variable.base_hi = min(variable.lo, 0), max(variable.hi, 99)
            variable.growth = GROWTH
            variable.lo, variable.hi = (
                variable.base_lo - (variable.growth if variable.lo < 0 or signed else 0),
                variable.base_hi + variable.growth,
            )
        else:
            longest = {"list": LIST, "str": TEXT, "dict": KEYS}[variable.kind]
            variable.base_lo, variable.base_hi = 0, variable.hi
            variable.growth = max(longest - variable.hi, 0)
            variable.lo, variable.hi = 0, variable.hi + variable.growth
    variable.depth = depth + 1


def _work(writer: ProgramWriter, targets: list[Local], bound: tuple[Operand, ...]) -> None:
    """Write a statement that changes a target in each round, so that the loop has a result."""
    target = writer.pick(targets)
    work = {
        "int": lambda writer: _accumulate(writer, target, bound),
        "str": extend_string,
        "list": append,
        "dict": set_key,
    }
    for _ in range(4):
        if writer.attempt(work[target.kind]):
            return


def _accumulate(writer: ProgramWriter, variable: Local, bound: tuple[Operand, ...]) -> None:
    draw = writer.random()
    if draw < 0.15 and writer.attempt(lambda writer: _accumulate_digits(writer, variable)):
        return
    numbers = [value for value in bound if value.kind == "int"]
    value = (
        writer.pick(numbers)
        if numbers and writer.chance(0.5)
        else writer.number()
        if draw < 0.5
        else writer.atom()
    )
    writer.need(value.text != variable.text and largest(value) <= 99 * (1 + 9 * (writer.trips() <= 4)))
    writer.need(value.lo >= 0 or variable.lo < 0)  # the interval of the variable does not extend below
    sign = "-" if draw > 0.85 and variable.lo < 0 else "+"
    low, high = (-value.hi, -value.lo) if sign == "-" else (value.lo, value.hi)
    writer.need(writer.may_grow(variable, low, high, LIMIT))
    if writer.chance(0.25) and value.prec >= 1:
        writer.write(f"{variable.text} = {variable.text} {sign} {value.at(2)}")
    else:
        writer.write(f"{variable.text} {sign}= {value.text}")


def _accumulate_digits(writer: ProgramWriter, variable: Local) -> None:
    modulus = writer.pick((7, 10, 10, 50, 100))
    k = writer.between(2, 5)
    product = product_of(
        Operand(variable.text, "int", variable.lo, variable.hi), Operand(str(k), "int", k, k)
    )
    writer.need(modulus - 1 <= variable.base_hi)
    writer.write(f"{variable.text} = ({product.text} + {writer.atom().at(1)}) % {modulus}")
