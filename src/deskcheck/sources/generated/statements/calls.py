"""Levels 8 and 9, calls of helpers, with arguments in the intervals of their parameters.

`program` has written the helpers before, and `recursion` those that call themselves.
"""

from deskcheck.sources.generated.statements.parameters import argument
from deskcheck.sources.generated.writing.values import COST, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules

RULES = Rules()


def _called(writer: ProgramWriter, kind: str, level: int | None = None) -> Operand:
    """A call of a helper that returns a kind of value. level: the level of the helper; None for any."""
    writer.need(not writer.calling)
    writer.need(
        helpers := [f for f in writer.functions if f.returns.kind == kind and level in (None, f.level)]
    )
    function = writer.pick(helpers)
    writer.need(writer.cost + function.cost * writer.trips() <= COST)
    parameters = function.parameters
    if function.optional and writer.chance(0.4):
        parameters = parameters[:-1]
    writer.calling = True
    texts = [_argument_for(writer, parameter) for parameter in parameters]
    writer.calling = False
    writer.need("" not in texts)
    if len(parameters) > 1 and writer.chance(0.2):
        texts[-1] = f"{parameters[-1].text}={texts[-1]}"
    writer.cost += function.cost * writer.trips()
    writer.used.add(function.level)
    returns = function.returns
    return Operand(f"{function.name}({', '.join(texts)})", kind, returns.lo, returns.hi)


def _argument_for(writer: ProgramWriter, parameter: Operand) -> str:
    """The text of an argument for a parameter; empty if no value fits."""
    if parameter.kind == "int":
        return writer.number_in(parameter.lo, parameter.hi).text
    if parameter.kind == "bool":
        flags = writer.of("bool")
        return writer.recent(flags).text if flags else writer.condition()
    fitting = [
        v
        for v in writer.of(parameter.kind)
        if parameter.lo <= v.lo
        and v.hi <= parameter.hi
        and v.items == parameter.items
        and (not parameter.items or (parameter.item_lo <= v.item_lo and v.item_hi <= parameter.item_hi))
    ]
    if fitting:
        return writer.recent(fitting).text
    if parameter.kind == "str" or parameter.items == "int":
        return argument(writer, parameter).replace("'", '"')
    return ""


@RULES.enter("int", 8, 14)
def _call(writer: ProgramWriter, depth: int) -> Operand:
    return _called(writer, "int")


@RULES.enter("str", 8, 8)
def _call_string(writer: ProgramWriter, depth: int) -> Operand:
    return _called(writer, "str")


@RULES.enter("statement", 8, 10)
def call_statement(writer: ProgramWriter) -> None:
    writer.need_room()
    _assign_call(writer, None)


@RULES.enter("statement", 9, 20)
def call_recursive(writer: ProgramWriter) -> None:
    _assign_call(writer, 9)


def _assign_call(writer: ProgramWriter, level: int | None) -> None:
    kind = writer.pick(("int", "int", "str"))
    writer.assign_new(kind, _called(writer, kind, level))
