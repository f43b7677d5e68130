"""Values that a run can read although its prompt does not show them.

These are docstrings that are left out. In tests they are also global variables whose values differ from those
in the program's text, and the state of random numbers, because other tests ran before. For example,
``signatures = {}`` may have been filled by any code that ran before the call, and a prompt shows only that
line. Programs other than tests begin with the values in their text, so their variables and random numbers are
not checked.
"""

import ast
import functools
from collections.abc import Iterator
from typing import Any, TypeGuard

from deskcheck.ask.samples.places import once
from deskcheck.ask.samples.source import doctest_lines, statements
from deskcheck.notation.calls import SOURCES, parsed
from deskcheck.recording import Event, Recording, Value, render
from deskcheck.recording.program import code_lines
from deskcheck.tracer.callables.source import DOCSTRING

_EMPTY = frozenset({"dict", "list", "set", "OrderedDict", "defaultdict", "Counter", "deque"})
"""Callables that make something empty."""
_DEFINITIONS = frozenset({"function", "class", "method"})
_UNKNOWN = object()


@once
def filled_elsewhere(recording: Recording) -> dict[tuple[str, str], Value]:
    """(File, name) of the variables that functions that ran read, with their values when the first function
    of the file runs."""
    if "own" not in recording.program.extra:
        return {}
    filled: dict[tuple[str, str], Value] = {}
    ran: dict[str, set[str]] = {}
    for row in recording.trace.rows:  # not only calls: a generator may have begun before
        ran.setdefault(row.file, set()).add(row.function)
    for event in _first_events(recording, len(ran)):
        source = recording.source(event.file)
        if source is None:
            continue
        literals = _literals_of(source)
        used = _names(source, frozenset(ran[event.file])) & literals.keys() if literals else set()
        for name, value in event.globals.items():
            if name in used and value.kind not in _DEFINITIONS and not _is(value, literals[name]):
                filled[event.file, name] = value
    return filled


@functools.lru_cache(SOURCES)
def _names(source: str, functions: frozenset[str]) -> frozenset[str]:
    """Names in these functions of a source."""
    from deskcheck.sources.text.python import nodes_of  # corpus loads pyarrow

    nodes = nodes_of(source, {*functions})
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


_RANDOM = ("random", "secrets", "numpy.random")
"""Modules whose functions have a hidden state."""


@once
def reads_docstrings(recording: Recording) -> bool:
    """Whether a line that ran names ``__doc__``, if docstrings are left out of the prompt."""
    texts = recording.program.extra.get("functions", {}).values()
    cut = any(f'"""{DOCSTRING}"""' in text for text in texts)
    for source, lines in _lines_run(recording):
        if "__doc__" not in source or not (cut or doctest_lines(source)):
            continue
        text = code_lines(source)
        if any("__doc__" in text[line - 1] for line in lines if 0 < line <= len(text)):
            return True
    return False


@once
def draws_random(recording: Recording) -> bool:
    """Whether a line that ran uses a name that its file imports from a module of random numbers. The tests
    may have seeded it. Then the call repeats, but its prompt does not say which numbers come."""
    if "own" not in recording.program.extra:
        return False
    for source, lines in _lines_run(recording):
        statements_of_text = statements(source)
        if statements_of_text is not None and not _random_lines(source).isdisjoint(
            statements_of_text.first.get(line, line) for line in lines
        ):
            return True
    return False


def _lines_run(recording: Recording) -> Iterator[tuple[str, set[int]]]:
    """The text of each file, empty if unknown, with those of its lines that ran."""
    lines: dict[str, set[int]] = {}
    for row in recording.trace.rows:
        lines.setdefault(row.file, set()).add(row.line)
    for file, ran in lines.items():
        yield recording.source(file) or "", ran


@functools.lru_cache(SOURCES)
def _random_lines(source: str) -> frozenset[int]:
    """First lines of the statements that use names from a module of random numbers."""
    tree, statements_of_text = parsed(source), statements(source)
    if tree is None or statements_of_text is None:
        return frozenset()
    names = {name for node in ast.walk(tree) for name in _random_names(node)}
    for node in tree.body:  # dice = random.Random(7)
        if isinstance(node, ast.Assign) and any(_is_random(part, names) for part in ast.walk(node.value)):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    lines = (part.lineno for part in ast.walk(tree) if _is_random(part, names))
    return frozenset(statements_of_text.first.get(line, line) for line in lines)


_NUMPY = ("np.random", "numpy.random")


def _is_random(node: ast.AST, names: set[str]) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Attribute):
        return ast.unparse(node) in _NUMPY
    return isinstance(node, ast.Name) and node.id in names


def _random_names(node: ast.AST) -> Iterator[str]:
    """The names that an import binds to a module of random numbers, or to a member of one."""
    if isinstance(node, ast.ImportFrom) and node.module in _RANDOM:
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.asname or alias.name for alias in node.names if alias.name in _RANDOM)


def _first_events(recording: Recording, files: int) -> Iterator[Event]:
    """The first event of each file."""
    files_met: set[str] = set()
    for event in recording.trace:
        if event.file not in files_met:
            files_met.add(event.file)
            yield event
        if len(files_met) == files:
            return


@functools.lru_cache(SOURCES)
def _literals_of(source: str) -> dict[str, Any]:
    """Names that the text gives a literal, or something empty, once and at its top level -> that."""
    tree = parsed(source)
    body = [] if tree is None else tree.body
    literals: dict[str, Any] = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                literal = _value(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                literal = _value(value)
            case _:
                continue
        literals[name] = _UNKNOWN if name in literals else literal
    return {name: literal for name, literal in literals.items() if literal is not _UNKNOWN}


def _value(value: ast.expr) -> Any:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=[]) if name in _EMPTY:
            if not value.args or name == "defaultdict":
                return {}
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN


def _is(value: Value, literal: Any) -> bool:
    if isinstance(literal, (dict, list, set)) and not literal:
        return value.kind not in ("atom", "tuple") and not value.items and not value.length
    if isinstance(literal, set):
        return value.kind == "set" and sorted(map(render, value.items)) == sorted(map(repr, literal))
    return render(value) == repr(literal)
