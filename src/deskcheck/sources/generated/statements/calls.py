"""Levels 8 and 9, calls of helpers, with arguments in the intervals of their parameters.

Helpers are written before: in `program`, and those that call themselves in `recursion`.
"""

from deskcheck.sources.generated.statements.parameters import argument
from deskcheck.sources.generated.writing.bounds import COST
from deskcheck.sources.generated.writing.values import Operand
from deskcheck.sources.generated.writing.writer import Expression, ProgramWriter, Statement, Table, entered

INTS: Table[Expression] = []
STRINGS: Table[Expression] = []
STATEMENTS: Table[Statement] = []


def _called(w: ProgramWriter, kind: str, own: int | None = None) -> Operand | None:
    """A call of a helper that returns that kind; own: of one that this level brought."""
    if w.calling:
        return None
    known = [f for f in w.functions if f.returns.kind == kind and (own is None or f.level == own)]
    if not known:
        return None
    function = w.pick(known)
    if w.cost + function.cost * w.trips() > COST:
        return None
    given = function.parameters
    if function.optional and w.chance(0.4):
        given = given[:-1]
    w.calling = True
    found = [_argument_for(w, p) for p in given]
    w.calling = False
    texts = [text for text in found if text is not None]
    if len(texts) < len(found):
        return None
    if len(given) > 1 and w.chance(0.2):
        texts[-1] = f"{given[-1].text}={texts[-1]}"
    w.cost += function.cost * w.trips()
    w.used.add(function.level)
    r = function.returns
    return Operand(f"{function.name}({', '.join(texts)})", kind, r.lo, r.hi)


def _argument_for(w: ProgramWriter, p: Operand) -> str | None:
    if p.kind == "int":
        return w.number_in(p.lo, p.hi).text
    if p.kind == "bool":
        known = w.of("bool")
        return w.recent(known).text if known else w.condition()
    fitting = [
        v
        for v in w.of(p.kind)
        if p.lo <= v.lo
        and v.hi <= p.hi
        and v.items == p.items
        and (not p.items or (p.item_lo <= v.item_lo and v.item_hi <= p.item_hi))
    ]
    if fitting:
        return w.recent(fitting).text
    if p.kind == "str" or p.items == "int":
        return argument(w, p).replace("'", '"')
    return None


@entered(INTS, 8, 14)
def _call(w: ProgramWriter, depth: int) -> Operand | None:
    return _called(w, "int")


@entered(STRINGS, 8, 8)
def _call_string(w: ProgramWriter, depth: int) -> Operand | None:
    return _called(w, "str")


@entered(STATEMENTS, 8, 10)
def call_statement(w: ProgramWriter) -> bool:
    if w.crowded():
        return False
    kind = w.pick(("int", "int", "str"))
    value = _called(w, kind)
    if value is None:
        return False
    name = w.fresh(kind)
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True


@entered(STATEMENTS, 9, 20)
def call_recursive(w: ProgramWriter) -> bool:
    kind = w.pick(("int", "int", "str"))
    value = _called(w, kind, 9)
    if value is None:
        return False
    name = w.fresh(kind)
    w.write(f"{name} = {value.text}")
    w.declare(name, value)
    return True
