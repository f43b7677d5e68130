"""Level 9, recursion: helpers that call themselves on something smaller."""

import tomllib
from typing import Any

from deskcheck.sources.generated.writing.values import Helper, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.shipped import shipped
from deskcheck.sources.text.words import HELPERS, SHORT, VERBS

_FORMS: list[dict[str, Any]] = tomllib.loads(shipped("recursion.toml"))["forms"]


def define_recursive(w: ProgramWriter) -> None:
    names = {
        "n": w.pick("nkm"),
        "m": w.pick("xyab"),
        "xs": w.pick(("xs", "items", "values")),
        "s": w.pick(("s", "text", "word")),
        "acc": w.pick(("total", "acc", "result")),
        "rest": w.pick(("rest", "below", "got", "part")),
        "i": "i",
    }
    taken = {*names.values(), "sum", *w.global_names}
    name = str(w.pick([name for name in (*HELPERS, *SHORT, *VERBS) if name not in taken]))
    w.global_names.add(name)
    k, c = w.between(1, 5), w.below(4)
    form = w.pick(_FORMS)
    parameters = tuple(_parameter(kind, names[kind], high) for kind, high in form["highest"].items())
    words = {**names, "f": name, "k": k, "k4": 4 * k, "c": c}
    for hole, choices in form.get("drawn", {}).items():
        words[hole] = w.pick(choices).format(**words)
    lines = tuple(form["code"].format(**words).split("\n"))
    returns = Operand("", *form["returns"])
    w.functions.append(Helper(name, parameters, returns, 25, level=9, lines=lines))


def _parameter(kind: str, name: str, high: int) -> Operand:
    if kind == "xs":
        return Operand(name, "list", 0, high, 3, "int", 0, 20)
    return Operand(name, "str" if kind == "s" else "int", 0, high)
