"""The return statements of a function, which mostly return the last changed variable, always of one type."""

from deskcheck.sources.generated.writing.values import Local, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter


def write_return(writer: ProgramWriter) -> None:
    value = _result(writer)
    writer.write(f"return {value.text}")
    if writer.returned is None:
        writer.returned = Operand(
            "", value.kind, value.lo, value.hi, 3, value.items, value.item_lo, value.item_hi, value.keys
        )
        return
    result = writer.returned
    result.lo, result.hi = min(result.lo, value.lo), max(result.hi, value.hi)
    result.item_lo, result.item_hi = min(result.item_lo, value.item_lo), max(result.item_hi, value.item_hi)


def _result(writer: ProgramWriter) -> Operand:
    """The value to return: of the type `returns` in a helper, otherwise mostly a variable that changed
    last."""
    if writer.helper or writer.returned is not None:
        kind = writer.returns if writer.returned is None else writer.returned.kind
        if kind == "int":
            return writer.variable() if writer.chance(0.5) else writer.number()
        if kind == "str":
            choices = writer.of("str")
            return writer.recent(choices) if choices and writer.chance(0.5) else writer.string()
    if writer.level >= 6 and writer.chance(0.1):
        choices = writer.of("int") + writer.of("str") + writer.of("list")
        if len(choices) >= 2:
            a, b = writer.recent(choices), writer.recent(choices)
            return Operand(f"{a.text}, {b.text}", "tuple")
    if writer.variables and writer.chance(0.7):
        changed = _changed(writer)
        return writer.recent(changed if changed and writer.chance(0.85) else writer.variables)
    if writer.level >= 5 and writer.chance(0.25):
        return writer.string()
    return writer.number()


def _changed(writer: ProgramWriter) -> list[Local]:
    """Variables that the last lines assign to or change."""
    last = [line.lstrip() for line in writer.lines[-8:]]
    return [
        v
        for v in writer.variables
        if any(line.startswith((f"{v.text} ", f"{v.text}.", f"{v.text}[")) for line in last)
    ]


def early_return(writer: ProgramWriter) -> None:
    writer.need(writer.indent <= 3 and not writer.finishing)
    with writer.under(f"if {writer.condition()}:"):
        write_return(writer)
