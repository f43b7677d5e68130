"""Level 2, branches: if, conditional expressions, conditions made of others, returns before the end."""

from deskcheck.sources.generated.statements.arithmetic import compare, compare_two, divides, flag
from deskcheck.sources.generated.statements.returning import early_return
from deskcheck.sources.generated.writing.values import COST, CannotWrite, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


@RULES.enter("int", 2, 4)
def _either(w: ProgramWriter, depth: int) -> Operand:
    a, b = w.number(depth), w.atom()
    w.need(a.text != b.text)
    return Operand(f"{a.at(1)} if {w.condition()} else {b.text}", "int", min(a.lo, b.lo), max(a.hi, b.hi), 0)


@RULES.enter("condition", 2, 3)
def _both(w: ProgramWriter) -> str:
    try:
        a = compare(w)
    except CannotWrite:
        a = ""
    b = w.pick((compare, divides, compare_two, flag))(w)
    w.need(a and a != b)
    return f"{a} {w.pick(('and', 'or'))} {b}"


@RULES.enter("condition", 2, 1)
def _not(w: ProgramWriter) -> str:
    return f"not {compare_two(w)}"


@RULES.enter("condition", 2, 1.5)
def _chain(w: ProgramWriter) -> str:
    a = w.variable()
    w.need(not a.text.lstrip("-").isdigit())
    low = w.between(max(a.lo, -9), max(a.lo, -9) + 5)
    return f"{low} {w.pick(('<', '<='))} {a.text} {w.pick(('<', '<='))} {low + w.between(2, 20)}"


@RULES.enter("condition", 2, 1)
def _nonzero(w: ProgramWriter) -> str:
    return w.choose([v for v in w.variables if v.kind in ("int", "str", "list", "dict")]).text


@RULES.enter("statement", 2, 12)
def _if(w: ProgramWriter) -> None:
    w.need(w.indent <= 4 and w.cost <= COST and w.room >= 3)
    w.branch(f"if {w.condition()}:")
    while w.room > 2 and w.chance(0.2):
        w.branch(f"elif {w.condition()}:")
    if w.room > 1 and w.chance(0.5):
        w.branch("else:")


@RULES.enter("statement", 2, 1.2)
def _assign_in_both(w: ProgramWriter) -> None:
    """A variable that both branches make."""
    w.need(w.indent <= 3 and w.room >= 4)
    condition = w.condition()
    a, b = w.number(), w.number()
    name = w.fresh("int")
    w.write_under(f"if {condition}:", f"{name} = {a.text}")
    w.write_under("else:", f"{name} = {b.text}")
    w.declare(name, Operand(name, "int", min(a.lo, b.lo), max(a.hi, b.hi)))


RULES.enter("statement", 2, 1)(early_return)
