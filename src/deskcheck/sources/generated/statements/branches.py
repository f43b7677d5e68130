"""Level 2, branches: if, conditional expressions, conditions made of others, returns before the end."""

from deskcheck.sources.generated.statements.arithmetic import compare, compare_two, divides, flag
from deskcheck.sources.generated.statements.returning import early_return
from deskcheck.sources.generated.writing.bounds import COST
from deskcheck.sources.generated.writing.values import Operand
from deskcheck.sources.generated.writing.writer import (
    Condition,
    Expression,
    ProgramWriter,
    Statement,
    Table,
    entered,
)

INTS: Table[Expression] = []
CONDITIONS: Table[Condition] = []
STATEMENTS: Table[Statement] = []


@entered(INTS, 2, 4)
def _either(w: ProgramWriter, depth: int) -> Operand | None:
    a, b = w.number(depth), w.atom()
    if a.text == b.text:
        return None
    return Operand(f"{a.at(1)} if {w.condition()} else {b.text}", "int", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@entered(CONDITIONS, 2, 3)
def _both(w: ProgramWriter) -> str | None:
    a, b = compare(w), w.pick((compare, divides, compare_two, flag))(w)
    if a is None or b is None or a == b:
        return None
    return f"{a} {w.pick(('and', 'or'))} {b}"


@entered(CONDITIONS, 2, 1)
def _not(w: ProgramWriter) -> str | None:
    a = compare_two(w)
    return None if a is None else f"not {a}"


@entered(CONDITIONS, 2, 1.5)
def _chain(w: ProgramWriter) -> str | None:
    a = w.variable()
    if a.text.lstrip("-").isdigit():
        return None
    low = w.between(max(a.lo, -9), max(a.lo, -9) + 5)
    return f"{low} {w.pick(('<', '<='))} {a.text} {w.pick(('<', '<='))} {low + w.between(2, 20)}"


@entered(CONDITIONS, 2, 1)
def _nonzero(w: ProgramWriter) -> str | None:
    known = [v for v in w.variables if v.kind in ("int", "str", "list", "dict")]
    return w.recent(known).text if known else None


@entered(STATEMENTS, 2, 12)
def _if(w: ProgramWriter) -> bool:
    if w.indent > 4 or w.cost > COST or w.room < 3:
        return False
    w.write(f"if {w.condition()}:")
    w.branch()
    while w.room > 2 and w.chance(0.2):
        w.write(f"elif {w.condition()}:")
        w.branch()
    if w.room > 1 and w.chance(0.5):
        w.write("else:")
        w.branch()
    return True


@entered(STATEMENTS, 2, 1.2)
def _assign_in_both(w: ProgramWriter) -> bool:
    """A variable that both branches make."""
    if w.indent > 3 or w.room < 4:
        return False
    condition = w.condition()
    a, b = w.number(), w.number()
    name = w.fresh("int")
    w.write(f"if {condition}:")
    w.indent += 1
    w.write(f"{name} = {a.text}")
    w.indent -= 1
    w.write("else:")
    w.indent += 1
    w.write(f"{name} = {b.text}")
    w.indent -= 1
    w.declare(name, Operand(name, "int", min(a.lo, b.lo), max(a.hi, b.hi)))
    return True


@entered(STATEMENTS, 2, 1)
def _return_early(w: ProgramWriter) -> bool:
    return early_return(w)
