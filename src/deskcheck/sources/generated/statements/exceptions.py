"""Level 10, exceptions: those that are caught, and those that in a few calls in a hundred nothing catches."""

from collections.abc import Sequence

from deskcheck.sources.generated.statements.dictionaries import key_for
from deskcheck.sources.generated.writing.values import Operand, largest
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules
from deskcheck.sources.text.words import MESSAGES

RULES = Rules()


def _write_try(w: ProgramWriter, kinds: Sequence[str], name: str, text: str, low: int, high: int) -> None:
    """try: name = text, a number from low to high; except: another value; sometimes with else or finally."""
    other = w.between(-1, 9)
    w.write_under("try:", f"{name} = {text}")
    caught = w.pick(kinds)
    bound = w.chance(0.2)
    with w.under(f"except {caught} as error:" if bound else f"except {caught}:"):
        w.write(f"{name} = {'len(error.args)' if bound and w.chance(0.7) else other}")
    w.declare(name, Operand(name, "int", min(low, other, 0), max(high, other, 1)))
    if w.chance(0.15):
        w.branch("else:", 1)
    if w.chance(0.2):
        _finally(w)


def _is_shallow(w: ProgramWriter) -> bool:
    return w.indent <= (3 if w.chance(0.35) else 1)


def _finally(w: ProgramWriter) -> None:
    finishing, w.finishing = w.finishing, True
    w.branch("finally:", 1)
    w.finishing = finishing


@RULES.enter("statement", 10, 8)
def _try_divide(w: ProgramWriter) -> None:
    a, b = w.small(), w.small()
    w.need(_is_shallow(w) and b.lo <= 0 <= b.hi and not b.text.lstrip("-").isdigit())
    name = w.fresh("int")
    sign = w.pick(("//", "//", "%"))
    bound = max(largest(a), largest(b))
    kinds = ("ZeroDivisionError", "ZeroDivisionError", "ArithmeticError", "(ZeroDivisionError, ValueError)")
    _write_try(w, kinds, name, f"{a.at(2)} {sign} {b.at(3)}", -bound, bound)


@RULES.enter("statement", 10, 8)
def _try_item(w: ProgramWriter) -> None:
    w.need(_is_shallow(w))
    a = w.choose(w.of("list", "int"))
    name = w.fresh("int")
    indices = [v for v in w.of("int") if v.lo >= 0 and v.hi < 100]
    at = w.recent(indices).text if indices and w.chance(0.7) else str(w.between(0, max(a.hi, 1)))
    kinds = ("IndexError", "IndexError", "LookupError", "Exception")
    _write_try(w, kinds, name, f"{a.text}[{at}]", a.item_lo, a.item_hi)


@RULES.enter("statement", 10, 6)
def _try_key(w: ProgramWriter) -> None:
    w.need(_is_shallow(w))
    a = w.choose(w.of("dict"))
    key, name = key_for(w, a), w.fresh("int")
    kinds = ("KeyError", "KeyError", "LookupError")
    _write_try(w, kinds, name, f"{a.text}[{key}]", a.item_lo, a.item_hi)


@RULES.enter("statement", 10, 6)
def _try_number(w: ProgramWriter) -> None:
    w.need(_is_shallow(w))
    choices = [v for v in w.of("str") if v.hi <= 3]
    text = w.recent(choices).text if choices else w.pick(('"7"', '"x"', '"12"', '"4a"', '""'))
    kinds = ("ValueError", "ValueError", "(ValueError, TypeError)")
    _write_try(w, kinds, w.fresh("int"), f"int({text})", -99, 999)


@RULES.enter("statement", 10, 5)
def _try_raise(w: ProgramWriter) -> None:
    w.need(_is_shallow(w))
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError", "TypeError"))
    name = w.fresh("int")
    value = w.number()
    other = w.between(-1, 9)
    with w.under("try:"):
        with w.under(f"if {w.condition()}:"):
            w.write(f'raise {kind}("{w.pick(MESSAGES)}")')
        w.write(f"{name} = {value.text}")
    bound = w.chance(0.3)
    w.write_under(
        f"except {kind}{' as error' if bound else ''}:",
        f"{name} = {'len(str(error))' if bound else other}",
    )
    w.declare(name, Operand(name, "int", min(value.lo, -1), max(value.hi, 20)))


@RULES.enter("statement", 10, 3)
def _risk(w: ProgramWriter) -> None:
    """What may raise, with nothing round it."""
    w.need_room()
    name = w.fresh("int")
    lists, dicts = w.of("list", "int"), w.of("dict")
    form = w.below(3)
    if form == 0 and lists:
        a = w.recent(lists)
        text, low, high = f"{a.text}[{w.between(0, max(a.hi - 1, 0))}]", a.item_lo, a.item_hi
    elif form == 1 and dicts:
        a = w.recent(dicts)
        text, low, high = f"{a.text}[{key_for(w, a)}]", a.item_lo, a.item_hi
    else:
        divisors = [v for v in w.of("int") if v.lo <= 0 <= v.hi <= 20]
        number = w.small()
        w.need(divisors and not number.text[0].isdigit())
        sign, by = w.pick(("//", "%")), w.recent(divisors)
        w.need(number.text != by.text)
        high = max(largest(number), largest(by))
        text, low = f"{number.at(2)} {sign} {by.at(3)}", -high
    w.write(f"{name} = {text}")
    w.declare(name, Operand(name, "int", low, high))


@RULES.enter("statement", 10, 3)
def _raise(w: ProgramWriter) -> None:
    """Leaves the function, in a few calls in a hundred."""
    w.need(w.indent <= 3)
    a = w.choose([v for v in w.of("int") if v.lo <= 0 and v.hi > 3])
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError"))
    if w.chance(0.25):
        test = f"assert {a.text} != {w.between(0, 5)}"
        w.write(test + (f', "{w.pick(MESSAGES)}"' if w.chance(0.5) else ""))
        return
    test = f"{a.text} < 0" if a.lo < 0 else f"{a.text} == {w.between(0, min(a.hi, 5))}"
    with w.under(f"if {test}:"):
        w.write(f'raise {kind}("{w.pick(MESSAGES)}")' if w.chance(0.85) else f"raise {kind}")


@RULES.enter("statement", 10, 3)
def _try_loop(w: ProgramWriter) -> None:
    """A try round whatever comes, with the exception that comes least."""
    w.need(_is_shallow(w))
    w.branch("try:")
    if w.chance(0.5):
        w.branch("except ValueError:", 1)
        if w.chance(0.4):
            _finally(w)
    else:
        _finally(w)
