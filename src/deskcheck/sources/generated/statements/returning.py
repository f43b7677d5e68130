"""What a function returns: mostly what it has changed last, and of one type wherever it returns."""

from deskcheck.sources.generated.writing.values import Local, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter


def write_return(w: ProgramWriter) -> None:
    value = _result(w)
    w.write(f"return {value.text}")
    if w.returned is None:
        w.returned = Operand(
            "", value.kind, value.lo, value.hi, 3, value.items, value.item_lo, value.item_hi, value.keys
        )
        return
    result = w.returned
    result.lo, result.hi = min(result.lo, value.lo), max(result.hi, value.hi)
    result.item_lo, result.item_hi = min(result.item_lo, value.item_lo), max(result.item_hi, value.item_hi)


def _result(w: ProgramWriter) -> Operand:
    """The value to return: of the type `returns` in a helper, otherwise the last that was changed."""
    if w.helper or w.returned is not None:
        kind = w.returns if w.returned is None else w.returned.kind
        if kind == "int":
            return w.variable() if w.chance(0.5) else w.number()
        if kind == "str":
            choices = w.of("str")
            return w.recent(choices) if choices and w.chance(0.5) else w.string()
    if w.level >= 6 and w.chance(0.1):
        choices = w.of("int") + w.of("str") + w.of("list")
        if len(choices) >= 2:
            a, b = w.recent(choices), w.recent(choices)
            return Operand(f"{a.text}, {b.text}", "tuple")
    if w.variables and w.chance(0.7):
        changed = _changed(w)
        return w.recent(changed if changed and w.chance(0.85) else w.variables)
    if w.level >= 5 and w.chance(0.25):
        return w.string()
    return w.number()


def _changed(w: ProgramWriter) -> list[Local]:
    """Variables that the last lines assigned to or changed."""
    last = [line.lstrip() for line in w.lines[-8:]]
    return [
        v
        for v in w.variables
        if any(line.startswith((f"{v.text} ", f"{v.text}.", f"{v.text}[")) for line in last)
    ]


def early_return(w: ProgramWriter) -> None:
    w.need(w.indent <= 3 and not w.finishing)
    with w.under(f"if {w.condition()}:"):
        write_return(w)
