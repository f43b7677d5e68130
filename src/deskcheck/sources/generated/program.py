"""A generated program: its helpers, the function that is called, and argument lists for it.

A program that is too long, or does not use its level, is discarded and written again.
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
    """A text, the function that is called, and different argument lists for it."""

    code: str
    entry: str
    arguments: tuple[str, ...]


def program_text(rng: random.Random, level: int, inputs: int = 3) -> Made:
    """A program that uses a level."""
    for _ in range(50):
        writer = ProgramWriter(GRAMMAR, rng, level)
        program = _module(writer, inputs)
        if program is not None and level in writer.used:
            return program
    raise AssertionError(f"no program of level {level} in 50 attempts")


def _module(writer: ProgramWriter, inputs: int) -> Made | None:
    """A program; None if it is too long or does not call a helper that its level requires."""
    if writer.level >= 8 and writer.chance(0.9 if writer.level == 8 else 0.3):
        for _ in range(2 if writer.chance(0.2) else 1):
            _define_helper(writer)
    if writer.level >= 9 and writer.chance(0.95 if writer.level == 9 else 0.15):
        define_recursive(writer)
    if writer.level >= 9 and writer.functions and writer.chance(0.3) and writer.functions[-1].level == 9:
        writer.used.add(9)
        called = writer.functions.pop()
        parameters = list(called.parameters)
        return _made(writer, called.name, parameters, list(called.lines), inputs, recursive=True)
    name = _function_name(writer)
    writer.begin_function()
    writer.global_names.add(name)
    counts = (1, 2, 2, 2, 3) if writer.level < 7 else (1, 1, 2, 2)  # several containers make long states
    parameters = [parameter(writer, kinds(writer)) for _ in range(writer.pick(counts))]
    _body(writer, parameters, longest={1: 6, 2: 9, 3: 11, 8: 10, 9: 9}.get(writer.level, 13))
    header = f"def {name}({', '.join(p.text for p in parameters)}):"
    return _made(writer, name, parameters, [header, *writer.lines], inputs)


def _made(
    writer: ProgramWriter,
    name: str,
    parameters: list[Operand],
    lines: list[str],
    inputs: int,
    *,
    recursive: bool = False,
) -> Made | None:
    """The program with the helpers that it calls; None if it is too long or does not call a required
    helper."""
    called = [f for f in writer.functions if any(f"{f.name}(" in line for line in lines)]
    if not any(f.level == writer.level for f in called) and writer.level in (8, 9) and not recursive:
        return None
    lines = [line for f in called for line in (*f.lines, "", "")] + lines
    if len(lines) > 30:
        return None
    arguments: dict[str, None] = {}
    for _ in range(3 * inputs):
        if len(arguments) < inputs:
            arguments[f"({', '.join(argument(writer, p) for p in parameters)})"] = None
    return Made("\n".join(lines) + "\n", name, tuple(arguments))


def _function_name(writer: ProgramWriter) -> str:
    while True:
        name = str(writer.pick(SHORT) if writer.chance(0.6) else f"{writer.pick(VERBS)}_{writer.pick(NOUNS)}")
        if name not in writer.global_names:
            return name


def _body(writer: ProgramWriter, parameters: list[Operand], longest: int) -> None:
    for p in parameters:
        writer.declare(p.text, p)
    writer.room = writer.between(2, longest)
    calls_at = writer.room - writer.below(3) if writer.level in (8, 9) else 0
    while writer.room > 0 and writer.cost < COST:
        if writer.room <= calls_at:
            calls_at = 0
            writer.attempt(call_statement if writer.level == 8 else call_recursive)
        writer.statement()
    write_return(writer)


def _define_helper(writer: ProgramWriter) -> None:
    while (
        name := str(writer.pick(HELPERS) if writer.chance(0.6) else writer.pick(SHORT))
    ) in writer.global_names:
        pass
    writer.begin_function()
    writer.global_names.add(name)
    writer.helper = True
    writer.returns = "str" if writer.level >= 5 and writer.chance(0.25) else "int"
    parameters = [
        parameter(writer, tuple(k for k in kinds(writer) if k != "dict"))
        for _ in range(writer.pick((1, 1, 2, 2, 3)))
    ]
    level, writer.level = writer.level, min(writer.level, 7)
    for p in parameters:
        writer.declare(p.text, p).locked = True
    for _ in range(writer.below(3)):
        if writer.cost < 30:
            writer.room = 3
            writer.statement()
    if writer.level >= 2 and writer.chance(0.35):
        writer.attempt(early_return)
    write_return(writer)
    writer.level = level
    optional = 1 if parameters[-1].kind == "int" and writer.chance(0.3) else 0
    texts = [p.text for p in parameters]
    if optional:
        texts[-1] += f"={writer.between(max(parameters[-1].lo, 0), min(parameters[-1].hi, 9))}"
    lines = (f"def {name}({', '.join(texts)}):", *writer.lines)
    assert writer.returned is not None
    writer.functions.append(
        Helper(name, tuple(parameters), writer.returned, writer.cost, optional, lines=lines)
    )
