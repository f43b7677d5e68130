"""Level 10, exceptions: those that are caught, and those that in a few calls in a hundred nothing catches."""

from deskcheck.sources.generated.statements.dictionaries import key_for
from deskcheck.sources.generated.writing.values import Operand, largest
from deskcheck.sources.generated.writing.writer import ProgramWriter, Statement, Table, entered
from deskcheck.sources.text.words import MESSAGES

STATEMENTS: Table[Statement] = []


def _handled(
    w: ProgramWriter, body: str, kinds: tuple[str, ...], name: str, value: Operand, other: int
) -> bool:
    """try: body, which binds name; except: another value for it; sometimes with else or finally."""
    w.write("try:")
    w.indent += 1
    w.write(body)
    w.indent -= 1
    caught = w.pick(kinds)
    bound = w.chance(0.2)
    w.write(f"except {caught} as error:" if bound else f"except {caught}:")
    w.indent += 1
    w.write(f"{name} = {'len(error.args)' if bound and w.chance(0.7) else other}")
    w.indent -= 1
    w.declare(name, Operand(name, "int", min(value.lo, other, 0), max(value.hi, other, 1)))
    if w.chance(0.15):
        w.write("else:")
        w.branch(1)
    if w.chance(0.2):
        _finally(w)
    return True


def _too_deep(w: ProgramWriter) -> bool:
    return w.indent > (3 if w.chance(0.35) else 1)


def _finally(w: ProgramWriter) -> None:
    w.write("finally:")
    finishing, w.finishing = w.finishing, True
    w.branch(1)
    w.finishing = finishing


@entered(STATEMENTS, 10, 8)
def _try_divide(w: ProgramWriter) -> bool:
    a, b = w.small(), w.small()
    if _too_deep(w) or b.lo > 0 or b.hi < 0 or b.text.lstrip("-").isdigit():
        return False
    name = w.fresh("int")
    sign = w.pick(("//", "//", "%"))
    bound = max(largest(a), largest(b))
    kinds = ("ZeroDivisionError", "ZeroDivisionError", "ArithmeticError", "(ZeroDivisionError, ValueError)")
    return _handled(
        w,
        f"{name} = {a.at(2)} {sign} {b.at(3)}",
        kinds,
        name,
        Operand("", "int", -bound, bound),
        w.between(-1, 9),
    )


@entered(STATEMENTS, 10, 8)
def _try_item(w: ProgramWriter) -> bool:
    known = w.of("list", "int")
    if _too_deep(w) or not known:
        return False
    a = w.recent(known)
    name = w.fresh("int")
    indices = [v for v in w.of("int") if v.lo >= 0 and v.hi < 100]
    at = w.recent(indices).text if indices and w.chance(0.7) else str(w.between(0, max(a.hi, 1)))
    return _handled(
        w, f"{name} = {a.text}[{at}]", ("IndexError", "IndexError", "LookupError", "Exception"), name,
        Operand("", "int", a.item_lo, a.item_hi), w.between(-1, 9),
    )  # fmt: skip


@entered(STATEMENTS, 10, 6)
def _try_key(w: ProgramWriter) -> bool:
    known = w.of("dict")
    if _too_deep(w) or not known:
        return False
    a = w.recent(known)
    key, name = key_for(w, a), w.fresh("int")
    return _handled(
        w, f"{name} = {a.text}[{key}]", ("KeyError", "KeyError", "LookupError"), name,
        Operand("", "int", a.item_lo, a.item_hi), w.between(-1, 9),
    )  # fmt: skip


@entered(STATEMENTS, 10, 6)
def _try_number(w: ProgramWriter) -> bool:
    known = [v for v in w.of("str") if v.hi <= 3]
    if _too_deep(w):
        return False
    text = w.recent(known).text if known else w.pick(('"7"', '"x"', '"12"', '"4a"', '""'))
    name = w.fresh("int")
    return _handled(
        w, f"{name} = int({text})", ("ValueError", "ValueError", "(ValueError, TypeError)"), name,
        Operand("", "int", -99, 999), w.between(-1, 9),
    )  # fmt: skip


@entered(STATEMENTS, 10, 5)
def _try_raise(w: ProgramWriter) -> bool:
    if _too_deep(w):
        return False
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError", "TypeError"))
    name = w.fresh("int")
    value = w.number()
    other = w.between(-1, 9)
    w.write("try:")
    w.indent += 1
    w.write(f"if {w.condition()}:")
    w.indent += 1
    w.write(f'raise {kind}("{w.pick(MESSAGES)}")')
    w.indent -= 1
    w.write(f"{name} = {value.text}")
    w.indent -= 1
    bound = w.chance(0.3)
    w.write(f"except {kind}{' as error' if bound else ''}:")
    w.indent += 1
    w.write(f"{name} = {'len(str(error))' if bound else other}")
    w.indent -= 1
    w.declare(name, Operand(name, "int", min(value.lo, -1), max(value.hi, 20)))
    return True


@entered(STATEMENTS, 10, 3)
def _risk(w: ProgramWriter) -> bool:
    """What may raise, with nothing round it."""
    if w.crowded():
        return False
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
        if not divisors or number.text[0].isdigit():
            return False
        sign, by = w.pick(("//", "%")), w.recent(divisors)
        if number.text == by.text:
            return False
        high = max(largest(number), largest(by))
        text, low = f"{number.at(2)} {sign} {by.at(3)}", -high
    w.write(f"{name} = {text}")
    w.declare(name, Operand(name, "int", low, high))
    return True


@entered(STATEMENTS, 10, 3)
def _raise(w: ProgramWriter) -> bool:
    """Leaves the function, in a few calls in a hundred."""
    if w.indent > 3:
        return False
    known = [v for v in w.of("int") if v.lo <= 0 and v.hi > 3]
    if not known:
        return False
    a = w.recent(known)
    kind = w.pick(("ValueError", "ValueError", "KeyError", "RuntimeError"))
    if w.chance(0.25):
        w.write(
            f"assert {a.text} != {w.between(0, 5)}" + (f', "{w.pick(MESSAGES)}"' if w.chance(0.5) else "")
        )
        return True
    test = f"{a.text} < 0" if a.lo < 0 else f"{a.text} == {w.between(0, min(a.hi, 5))}"
    w.write(f"if {test}:")
    w.indent += 1
    w.write(f'raise {kind}("{w.pick(MESSAGES)}")' if w.chance(0.85) else f"raise {kind}")
    w.indent -= 1
    return True


@entered(STATEMENTS, 10, 3)
def _try_loop(w: ProgramWriter) -> bool:
    """A try round whatever comes, with the exception that comes least."""
    if _too_deep(w):
        return False
    w.write("try:")
    w.branch()
    if w.chance(0.5):
        w.write("except ValueError:")
        w.branch(1)
        if w.chance(0.4):
            _finally(w)
    else:
        _finally(w)
    return True
