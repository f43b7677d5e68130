"""Level 9, recursion: helpers that call themselves with a smaller argument."""

import tomllib
from typing import Any

from deskcheck.sources.generated.writing.values import Helper, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.shipped import shipped
from deskcheck.sources.text.words import HELPERS, SHORT, VERBS

_FORMS: list[dict[str, Any]] = tomllib.loads(shipped("recursion.toml"))["forms"]


def define_recursive(writer: ProgramWriter) -> None:
    names = {
        "n": writer.pick("nkm"),
        "m": writer.pick("xyab"),
        "xs": writer.pick(("xs", "items", "values")),
        "s": writer.pick(("s", "text", "word")),
        "acc": writer.pick(("total", "acc", "result")),
        "rest": writer.pick(("rest", "below", "got", "part")),
        "i": "i",
    }
    taken = {*names.values(), "sum", *writer.global_names}
    name = str(writer.pick([name for name in (*HELPERS, *SHORT, *VERBS) if name not in taken]))
    writer.global_names.add(name)
    k, c = writer.between(1, 5), writer.below(4)
    form = writer.pick(_FORMS)
    parameters = tuple(_parameter(kind, names[kind], high) for kind, high in form["highest"].items())
    words = {**names, "f": name, "k": k, "k4": 4 * k, "c": c}
    for hole, choices in form.get("drawn", {}).items():
        words[hole] = writer.pick(choices).format(**words)
    lines = tuple(form["code"].format(**words).split("\n"))
    returns = Operand("", *form["returns"])
    writer.functions.append(Helper(name, parameters, returns, 25, level=9, lines=lines))


def _parameter(kind: str, name: str, high: int) -> Operand:
    if kind == "xs":
        return Operand(name, "list", 0, high, 3, "int", 0, 20)
    return Operand(name, "str" if kind == "s" else "int", 0, high)
