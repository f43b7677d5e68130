"""Level 9, recursion: helpers that call themselves on something smaller, in thirteen forms.

They are called like any other (`calls`).
"""

from deskcheck.sources.generated.writing.values import Helper, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.words import HELPERS, SHORT, VERBS


def define_recursive(w: ProgramWriter) -> None:
    """A function that calls itself, a few times, on something smaller."""
    n, m, xs, s = (
        w.pick("nkm"),
        w.pick("xyab"),
        w.pick(("xs", "items", "values")),
        w.pick(("s", "text", "word")),
    )
    acc, rest = w.pick(("total", "acc", "result")), w.pick(("rest", "below", "got", "part"))
    taken = {n, m, xs, s, acc, rest, "i", "sum", *w.global_names}
    f = str(w.pick([name for name in (*HELPERS, *SHORT, *VERBS) if name not in taken]))
    w.global_names.add(f)
    k, c = w.between(1, 5), w.below(4)
    parameters: tuple[Operand, ...]
    number, few = Operand(n, "int", 0, 5), Operand(m, "int", 0, 20)
    digits = Operand(n, "int", 0, 999)
    numbers = Operand(xs, "list", 0, 4, 3, "int", 0, 20)
    word = Operand(s, "str", 0, 5)
    form = w.below(13)
    returns = Operand("", "int", -99, 6000)
    if form == 0:
        more = w.pick((n, k, f"{n} * {k}"))
        text = f"({n}):|if {n} {w.pick(('== 0', '<= 0', '< 1'))}:|    return {c}|return {f}({n} - 1) + {more}"
        parameters = (number,)
    elif form == 1:
        more = w.pick((n, k, f"{n} * 2"))
        text = f"({n}, {acc}):|if {n} == 0:|    return {acc}|return {f}({n} - 1, {acc} + {more})"
        parameters = (number, Operand(acc, "int", 0, 20))
    elif form == 2:
        empty = w.pick((f"not {xs}", f"len({xs}) == 0", f"{xs} == []"))
        text = f"({xs}):|if {empty}:|    return {c}|return {xs}[0] + {f}({xs}[1:])"
        parameters = (numbers,)
    elif form == 3:
        empty = w.pick((f"not {s}", f"len({s}) == 0"))
        turned = w.pick((f"{f}({s}[1:]) + {s}[0]", f"{s}[-1] + {f}({s}[:-1])"))
        text = f'({s}):|if {empty}:|    return ""|return {turned}'
        parameters, returns = (word,), Operand("", "str", 0, 5)
    elif form == 4:
        text = f"({n}, {m}):|if {m} == 0:|    return {n}|return {f}({m}, {n} % {m})"
        parameters = (Operand(n, "int", 0, 99), Operand(m, "int", 0, 99))
        returns = Operand("", "int", 0, 99)
    elif form == 5:
        text = f"({n}):|if {n} < 10:|    return {n}|return {n} % 10 + {f}({n} // 10)"
        parameters, returns = (digits,), Operand("", "int", 0, 27)
    elif form == 6:
        text = f"({n}):|if {n} < 2:|    return {w.pick((n, 1))}|return {f}({n} - 1) + {f}({n} - 2)"
        parameters, returns = (Operand(n, "int", 0, 4),), Operand("", "int", 0, 8)
    elif form == 7:
        more = w.pick((1, f"{n} % 2"))
        text = f"({n}):|if {n} <= 1:|    return {c}|{rest} = {f}({n} // 2)|return {rest} + {more}"
        parameters, returns = (Operand(n, "int", 0, 99),), Operand("", "int", 0, 20)
    elif form == 8:
        text = (
            f"({xs}, i):|if i == len({xs}):|    return {c}|{rest} = {f}({xs}, i + 1)|"
            f"if {xs}[i] > {k}:|    {rest} += {w.pick((1, f'{xs}[i]'))}|return {rest}"
        )
        parameters = (numbers, Operand("i", "int", 0, 0))
    elif form == 9:
        text = f"({n}):|if {n} == 0:|    return 1|{rest} = {f}({n} - 1)|return {w.pick((2, 3, n))} * {rest}"
        parameters, returns = (number,), Operand("", "int", 1, 243)
    elif form == 10:
        more = w.pick((f'"{w.letter()}"', f"{s}[:1]"))
        text = f"({s}, {n}):|if {n} == 0 or len({s}) > 6:|    return {s}|return {f}({s} + {more}, {n} - 1)"
        parameters, returns = (word, number), Operand("", "str", 0, 10)
    elif form == 11:
        text = (
            f"({n}):|if {n} <= {c}:|    return {n}|if {n} % 2 == 0:|    return {f}({n} // 2)|"
            f"return {f}({n} - {w.pick((1, 3))}) + 1"
        )
        parameters, returns = (Operand(n, "int", 0, 40),), Operand("", "int", -9, 40)
    else:
        text = (
            f"({n}, {m}):|if {n} <= 0:|    return {m}|if {m} > {k * 4}:|    return {f}({n} - 1, {m} - {k})|"
            f"return {f}({n} - 2, {m} + {w.pick((1, n))})"
        )
        parameters, returns = (number, few), Operand("", "int", -20, 60)
    head, *body = text.split("|")
    lines = (f"def {f}{head}", *(f"    {line}" for line in body))
    w.functions.append(Helper(f, parameters, returns, 25, level=9, lines=lines))
