"""Level 2, branches: if, conditional expressions, combined conditions, early returns."""

from deskcheck.sources.generated.statements.arithmetic import compare, compare_two, divides, flag
from deskcheck.sources.generated.statements.returning import early_return
from deskcheck.sources.generated.writing.values import COST, CannotWrite, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


@RULES.enter("int", 2, 4)
def _either(writer: ProgramWriter, depth: int) -> Operand:
    a, b = writer.number(depth), writer.atom()
    writer.need(a.text != b.text)
    return Operand(
        f"{a.at(1)} if {writer.condition()} else {b.text}", "int", min(a.lo, b.lo), max(a.hi, b.hi), 0
    )


@RULES.enter("condition", 2, 3)
def _both(writer: ProgramWriter) -> str:
    try:
        a = compare(writer)
    except CannotWrite:
        a = ""
    b = writer.pick((compare, divides, compare_two, flag))(writer)
    writer.need(a and a != b)
    return f"{a} {writer.pick(('and', 'or'))} {b}"


@RULES.enter("condition", 2, 1)
def _not(writer: ProgramWriter) -> str:
    return f"not {compare_two(writer)}"


@RULES.enter("condition", 2, 1.5)
def _chain(writer: ProgramWriter) -> str:
    number = writer.variable()
    writer.need(not number.text.lstrip("-").isdigit())
    low = writer.between(max(number.lo, -9), max(number.lo, -9) + 5)
    signs = [writer.pick(("<", "<=")) for _ in range(2)]
    return f"{low} {signs[0]} {number.text} {signs[1]} {low + writer.between(2, 20)}"


@RULES.enter("condition", 2, 1)
def _nonzero(writer: ProgramWriter) -> str:
    return writer.choose([v for v in writer.variables if v.kind in ("int", "str", "list", "dict")]).text


@RULES.enter("statement", 2, 12)
def _if(writer: ProgramWriter) -> None:
    writer.need(writer.indent <= 4 and writer.cost <= COST and writer.room >= 3)
    writer.branch(f"if {writer.condition()}:")
    while writer.room > 2 and writer.chance(0.2):
        writer.branch(f"elif {writer.condition()}:")
    if writer.room > 1 and writer.chance(0.5):
        writer.branch("else:")


@RULES.enter("statement", 2, 1.2)
def _assign_in_both(writer: ProgramWriter) -> None:
    """Write an if and else that both assign a new variable."""
    writer.need(writer.indent <= 3 and writer.room >= 4)
    condition = writer.condition()
    a, b = writer.number(), writer.number()
    name = writer.fresh("int")
    writer.write_under(f"if {condition}:", f"{name} = {a.text}")
    writer.write_under("else:", f"{name} = {b.text}")
    writer.declare(name, Operand(name, "int", min(a.lo, b.lo), max(a.hi, b.hi)))


RULES.enter("statement", 2, 1)(early_return)
