"""Levels 8 and 9, calls of helpers, with arguments in the intervals of their parameters.

`program` writes helpers before; `recursion` those that call themselves.
"""

from deskcheck.sources.generated.statements.parameters import argument
from deskcheck.sources.generated.writing.values import COST, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _called(w: ProgramWriter, kind: str, level: int | None = None) -> Operand:
    """A call of a helper that returns that kind; level: of one that this level brought."""
    w.need(not w.calling)
    w.need(helpers := [f for f in w.functions if f.returns.kind == kind and level in (None, f.level)])
    function = w.pick(helpers)
    w.need(w.cost + function.cost * w.trips() <= COST)
    parameters = function.parameters
    if function.optional and w.chance(0.4):
        parameters = parameters[:-1]
    w.calling = True
    texts = [_argument_for(w, parameter) for parameter in parameters]
    w.calling = False
    w.need("" not in texts)
    if len(parameters) > 1 and w.chance(0.2):
        texts[-1] = f"{parameters[-1].text}={texts[-1]}"
    w.cost += function.cost * w.trips()
    w.used.add(function.level)
    returns = function.returns
    return Operand(f"{function.name}({', '.join(texts)})", kind, returns.lo, returns.hi)


def _argument_for(w: ProgramWriter, p: Operand) -> str:
    """An argument for a parameter; empty if there is nothing to give."""
    if p.kind == "int":
        return w.number_in(p.lo, p.hi).text
    if p.kind == "bool":
        flags = w.of("bool")
        return w.recent(flags).text if flags else w.condition()
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
    return ""


@RULES.enter("int", 8, 14)
def _call(w: ProgramWriter, depth: int) -> Operand:
    return _called(w, "int")


@RULES.enter("str", 8, 8)
def _call_string(w: ProgramWriter, depth: int) -> Operand:
    return _called(w, "str")


@RULES.enter("statement", 8, 10)
def call_statement(w: ProgramWriter) -> None:
    w.need_room()
    _assign_call(w, None)


@RULES.enter("statement", 9, 20)
def call_recursive(w: ProgramWriter) -> None:
    _assign_call(w, 9)


def _assign_call(w: ProgramWriter, level: int | None) -> None:
    kind = w.pick(("int", "int", "str"))
    w.assign_new(kind, _called(w, kind, level))
