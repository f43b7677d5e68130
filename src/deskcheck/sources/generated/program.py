"""One program: its helpers, the function that is called, argument lists for it.

One that comes out too long, or without what its level is about, is written anew.
"""

import random
from dataclasses import dataclass

from deskcheck.sources.generated.grammar import GRAMMAR
from deskcheck.sources.generated.statements.calls import call_recursive, call_statement
from deskcheck.sources.generated.statements.parameters import argument, kinds, parameter
from deskcheck.sources.generated.statements.recursion import define_recursive
from deskcheck.sources.generated.statements.returning import early_return, write_return
from deskcheck.sources.generated.writing.values import COST, Helper, Operand
from deskcheck.sources.generated.writing.writer import ProgramWriter
from deskcheck.sources.text.words import HELPERS, NOUNS, SHORT, VERBS


@dataclass(frozen=True, slots=True)
class Made:
    """A text, the function in it that is called, and argument lists for it, all different."""

    code: str
    entry: str
    arguments: tuple[str, ...]


def program_text(numbers: random.Random, level: int, inputs: int = 3) -> Made:
    """One program with something of that level in it."""
    for _ in range(50):
        writer = ProgramWriter(GRAMMAR, numbers, level)
        made = _module(writer, inputs)
        if made is not None and level in writer.used:
            return made
    raise AssertionError(f"no program of level {level} in 50 attempts")


def _module(w: ProgramWriter, inputs: int) -> Made | None:
    """The text, or None where it came out too long."""
    if w.level >= 8 and w.chance(0.9 if w.level == 8 else 0.3):
        for _ in range(2 if w.chance(0.2) else 1):
            _define_helper(w)
    if w.level >= 9 and w.chance(0.95 if w.level == 9 else 0.15):
        define_recursive(w)
    if w.level >= 9 and w.functions and w.chance(0.3) and w.functions[-1].level == 9:
        w.used.add(9)
        called = w.functions.pop()
        parameters = list(called.parameters)
        return _made(w, called.name, parameters, list(called.lines), inputs, recursive=True)
    name = _function_name(w)
    w.begin_function()
    w.global_names.add(name)
    counts = (1, 2, 2, 2, 3) if w.level < 7 else (1, 1, 2, 2)  # several containers make long states
    parameters = [parameter(w, kinds(w)) for _ in range(w.pick(counts))]
    _body(w, parameters, most={1: 6, 2: 9, 3: 11, 8: 10, 9: 9}.get(w.level, 13))
    header = f"def {name}({', '.join(p.text for p in parameters)}):"
    return _made(w, name, parameters, [header, *w.lines], inputs)


def _made(
    w: ProgramWriter,
    name: str,
    parameters: list[Operand],
    lines: list[str],
    inputs: int,
    *,
    recursive: bool = False,
) -> Made | None:
    """The text with the helpers that it calls; None where it is too long, or calls none and should."""
    called = [f for f in w.functions if any(f"{f.name}(" in line for line in lines)]
    if not any(f.level == w.level for f in called) and w.level in (8, 9) and not recursive:
        return None
    lines = [line for f in called for line in (*f.lines, "", "")] + lines
    if len(lines) > 30:
        return None
    arguments: dict[str, None] = {}
    for _ in range(3 * inputs):
        if len(arguments) < inputs:
            arguments[f"({', '.join(argument(w, p) for p in parameters)})"] = None
    return Made("\n".join(lines) + "\n", name, tuple(arguments))


def _function_name(w: ProgramWriter) -> str:
    while True:
        name = str(w.pick(SHORT) if w.chance(0.6) else f"{w.pick(VERBS)}_{w.pick(NOUNS)}")
        if name not in w.global_names:
            return name


def _body(w: ProgramWriter, parameters: list[Operand], most: int) -> None:
    for p in parameters:
        w.declare(p.text, p)
    w.room = w.between(2, most)
    calls_at = w.room - w.below(3) if w.level in (8, 9) else 0
    while w.room > 0 and w.cost < COST:
        if w.room <= calls_at:
            calls_at = 0
            w.attempt(call_statement if w.level == 8 else call_recursive)
        w.statement()
    write_return(w)


def _define_helper(w: ProgramWriter) -> None:
    while (name := str(w.pick(HELPERS) if w.chance(0.6) else w.pick(SHORT))) in w.global_names:
        pass
    w.begin_function()
    w.global_names.add(name)
    w.helper = True
    w.returns = "str" if w.level >= 5 and w.chance(0.25) else "int"
    parameters = [
        parameter(w, tuple(k for k in kinds(w) if k != "dict")) for _ in range(w.pick((1, 1, 2, 2, 3)))
    ]
    level, w.level = w.level, min(w.level, 7)
    for p in parameters:
        w.declare(p.text, p).locked = True
    for _ in range(w.below(3)):
        if w.cost < 30:
            w.room = 3
            w.statement()
    if w.level >= 2 and w.chance(0.35):
        w.attempt(early_return)
    write_return(w)
    w.level = level
    optional = 1 if parameters[-1].kind == "int" and w.chance(0.3) else 0
    texts = [p.text for p in parameters]
    if optional:
        texts[-1] += f"={w.between(max(parameters[-1].lo, 0), min(parameters[-1].hi, 9))}"
    lines = (f"def {name}({', '.join(texts)}):", *w.lines)
    assert w.returned is not None
    w.functions.append(Helper(name, tuple(parameters), w.returned, w.cost, optional, lines=lines))
