"""Level 10, exceptions: most are caught; some end the call, a few in a hundred calls."""

from collections.abc import Sequence

from deskcheck.sources.generated.statements.dictionaries import key_for
from deskcheck.sources.generated.writing.values import Operand, largest
from deskcheck.sources.generated.writing.writer import ProgramWriter, Rules
from deskcheck.sources.text.words import MESSAGES

RULES = Rules()


def _write_try(
    writer: ProgramWriter, kinds: Sequence[str], name: str, text: str, low: int, high: int
) -> None:
    """Write a try that assigns an expression from low to high, and an except that assigns another value.

    Sometimes an else or finally follows.
    """
    fallback = writer.between(-1, 9)
    writer.write_under("try:", f"{name} = {text}")
    caught = writer.pick(kinds)
    bound = writer.chance(0.2)
    with writer.under(f"except {caught} as error:" if bound else f"except {caught}:"):
        writer.write(f"{name} = {'len(error.args)' if bound and writer.chance(0.7) else fallback}")
    writer.declare(name, Operand(name, "int", min(low, fallback, 0), max(high, fallback, 1)))
    if writer.chance(0.15):
        writer.branch("else:", 1)
    if writer.chance(0.2):
        _finally(writer)


def _is_shallow(writer: ProgramWriter) -> bool:
    return writer.indent <= (3 if writer.chance(0.35) else 1)


def _finally(writer: ProgramWriter) -> None:
    finishing, writer.finishing = writer.finishing, True
    writer.branch("finally:", 1)
    writer.finishing = finishing


@RULES.enter("statement", 10, 8)
def _try_divide(writer: ProgramWriter) -> None:
    a, b = writer.small(), writer.small()
    writer.need(_is_shallow(writer) and b.lo <= 0 <= b.hi and not b.text.lstrip("-").isdigit())
    name = writer.fresh("int")
    sign = writer.pick(("//", "//", "%"))
    bound = max(largest(a), largest(b))
    kinds = ("ZeroDivisionError", "ZeroDivisionError", "ArithmeticError", "(ZeroDivisionError, ValueError)")
    _write_try(writer, kinds, name, f"{a.at(2)} {sign} {b.at(3)}", -bound, bound)


@RULES.enter("statement", 10, 8)
def _try_item(writer: ProgramWriter) -> None:
    writer.need(_is_shallow(writer))
    container = writer.choose(writer.of("list", "int"))
    name = writer.fresh("int")
    indices = [v for v in writer.of("int") if v.lo >= 0 and v.hi < 100]
    index = (
        writer.recent(indices).text
        if indices and writer.chance(0.7)
        else str(writer.between(0, max(container.hi, 1)))
    )
    kinds = ("IndexError", "IndexError", "LookupError", "Exception")
    _write_try(writer, kinds, name, f"{container.text}[{index}]", container.item_lo, container.item_hi)


@RULES.enter("statement", 10, 6)
def _try_key(writer: ProgramWriter) -> None:
    writer.need(_is_shallow(writer))
    container = writer.choose(writer.of("dict"))
    key, name = key_for(writer, container), writer.fresh("int")
    kinds = ("KeyError", "KeyError", "LookupError")
    _write_try(writer, kinds, name, f"{container.text}[{key}]", container.item_lo, container.item_hi)


@RULES.enter("statement", 10, 6)
def _try_number(writer: ProgramWriter) -> None:
    writer.need(_is_shallow(writer))
    choices = [v for v in writer.of("str") if v.hi <= 3]
    text = writer.recent(choices).text if choices else writer.pick(('"7"', '"x"', '"12"', '"4a"', '""'))
    kinds = ("ValueError", "ValueError", "(ValueError, TypeError)")
    _write_try(writer, kinds, writer.fresh("int"), f"int({text})", -99, 999)


@RULES.enter("statement", 10, 5)
def _try_raise(writer: ProgramWriter) -> None:
    writer.need(_is_shallow(writer))
    kind = writer.pick(("ValueError", "ValueError", "KeyError", "RuntimeError", "TypeError"))
    name = writer.fresh("int")
    value = writer.number()
    fallback = writer.between(-1, 9)
    with writer.under("try:"):
        with writer.under(f"if {writer.condition()}:"):
            writer.write(f'raise {kind}("{writer.pick(MESSAGES)}")')
        writer.write(f"{name} = {value.text}")
    bound = writer.chance(0.3)
    writer.write_under(
        f"except {kind}{' as error' if bound else ''}:",
        f"{name} = {'len(str(error))' if bound else fallback}",
    )
    writer.declare(name, Operand(name, "int", min(value.lo, -1), max(value.hi, 20)))


@RULES.enter("statement", 10, 3)
def _risk(writer: ProgramWriter) -> None:
    """Write an assignment that may raise, without a try."""
    writer.need_room()
    name = writer.fresh("int")
    lists, dicts = writer.of("list", "int"), writer.of("dict")
    form = writer.below(3)
    if form == 0 and lists:
        container = writer.recent(lists)
        text, low, high = (
            f"{container.text}[{writer.between(0, max(container.hi - 1, 0))}]",
            container.item_lo,
            container.item_hi,
        )
    elif form == 1 and dicts:
        container = writer.recent(dicts)
        text, low, high = (
            f"{container.text}[{key_for(writer, container)}]",
            container.item_lo,
            container.item_hi,
        )
    else:
        divisors = [v for v in writer.of("int") if v.lo <= 0 <= v.hi <= 20]
        number = writer.small()
        writer.need(divisors and not number.text[0].isdigit())
        sign, by = writer.pick(("//", "%")), writer.recent(divisors)
        writer.need(number.text != by.text)
        high = max(largest(number), largest(by))
        text, low = f"{number.at(2)} {sign} {by.at(3)}", -high
    writer.write(f"{name} = {text}")
    writer.declare(name, Operand(name, "int", low, high))


@RULES.enter("statement", 10, 3)
def _raise(writer: ProgramWriter) -> None:
    """Write a raise or assert that ends a few calls in a hundred."""
    writer.need(writer.indent <= 3)
    container = writer.choose([v for v in writer.of("int") if v.lo <= 0 and v.hi > 3])
    kind = writer.pick(("ValueError", "ValueError", "KeyError", "RuntimeError"))
    if writer.chance(0.25):
        test = f"assert {container.text} != {writer.between(0, 5)}"
        writer.write(test + (f', "{writer.pick(MESSAGES)}"' if writer.chance(0.5) else ""))
        return
    test = (
        f"{container.text} < 0"
        if container.lo < 0
        else f"{container.text} == {writer.between(0, min(container.hi, 5))}"
    )
    with writer.under(f"if {test}:"):
        writer.write(f'raise {kind}("{writer.pick(MESSAGES)}")' if writer.chance(0.85) else f"raise {kind}")


@RULES.enter("statement", 10, 3)
def _try_loop(writer: ProgramWriter) -> None:
    """Write a try around any statements, with an except or finally."""
    writer.need(_is_shallow(writer))
    writer.branch("try:")
    if writer.chance(0.5):
        writer.branch("except ValueError:", 1)
        if writer.chance(0.4):
            _finally(writer)
    else:
        _finally(writer)
