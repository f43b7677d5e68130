"""Inputs for functions that have none: ``inputs:FILE.py``, ``inputs,each=5:FILE.py::FUNCTION``.

Candidates come from type hints (where there are none, from defaults and from what is tried), from changing
inputs that are known (``inputs:functions.jsonl``), from Hypothesis (the extra ``[inputs]``), and from a model
that is asked (``--inputs-by``; `deskcheck.ask.proposals`). Each is run in the sandbox and watched. Kept is
what runs a line, or goes from a line to another, that nothing before did, or ends in a new way: another
outcome, exception, type or size of result.

Not covered: arguments that no literal writes (instances, functions, open files), and what a function reads
besides its arguments. A branch that only one number in a thousand reaches is not found by trying.
"""

import ast
import math
import random
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar

from deskcheck.corpus.readers.files import short_id
from deskcheck.corpus.text.arguments import argument_list
from deskcheck.corpus.text.options import whole_number, with_options
from deskcheck.corpus.text.python import absolute, check_entry, defined, modified, parse, read_python
from deskcheck.recording import Ending, InputError, Kind, MissingExtra, Mode, Outcome, Program
from deskcheck.recording.block import rows
from deskcheck.sandbox.confinement import Confinement
from deskcheck.sandbox.limits import Limits
from deskcheck.sandbox.sandbox import Sandbox
from deskcheck.tracer.limits import TraceLimits

PREFIX = "inputs"
WAYS = ("known", "hints", "hypothesis")
_OPTIONS = {
    "each": "inputs kept for each function at most, 10 by default",
    "budget": "inputs tried for each function, 60 by default",
    "by": "known, hints, hypothesis; several as known+hints, which is the default",
    "sandbox": "how closely they are confined while they are tried: strict, standard or trusted",
    "seed": "another number, other inputs",
}
T = TypeVar("T")
_LIMITS = Limits(cpu_s=1.0, wall_s=20.0)
_ENDLESS = 3
"""After so many inputs that a limit stopped, no more are tried of a function."""
_EVENTS = 3000
_WRONG_TYPE = ("TypeError", "AttributeError")


@dataclass(frozen=True, slots=True)
class Found:
    """An input that was kept. by: how it was made, one of `WAYS` or ``model``. new: what it gave that none
    before had: ``lines``, ``branches``, ``ending``, or nothing (``result``: just another value)."""

    arguments: str
    by: str
    new: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Search:
    """Inputs found for a function, how many were tried, how many of these a limit stopped, and how many of
    its lines the found ones run."""

    found: tuple[Found, ...]
    tried: int
    stopped: int
    lines_run: int
    lines: int


def inputs(
    source: str,
    programs: Callable[[str], Iterator[Program]],
    *,
    note: Callable[[str], None],
    propose: Callable[[str], str] | None = None,
) -> Iterator[Program]:
    """Calls of functions with inputs that were found. programs: reads sources that have inputs to begin with;
    propose: as of `find_inputs`.

    In `extra`, `input` says how each was made and what it was kept for. note: told how many were
    tried and kept, and of functions without known inputs, how many of their lines those run.

    Raises:
        InputError: an option or the source cannot be used.
        MissingExtra: Hypothesis is asked for and not installed.
    """
    head, colon, inner = source.partition(":")
    _, options = with_options(head, _OPTIONS, source)
    if not colon or not inner:
        raise InputError(f"{source}: names no functions. Write inputs:FILE.py or inputs:FILE.py::FUNCTION")
    each = whole_number(options.get("each", "10"), "each", source, most=1000)
    budget = whole_number(options.get("budget", "60"), "budget", source, most=100_000)
    seed = whole_number(options.get("seed", "0"), "seed", source, least=0)
    ways = tuple(options.get("by", "known+hints").split("+"))
    for way in ways:
        if way not in WAYS:
            raise InputError(f"{source}: by={options['by']}: {way!r} is none of {', '.join(WAYS)}.")
    if "hypothesis" in ways:
        _need_hypothesis()
    level = options.get("sandbox", Confinement.STRICT.value)
    if level not in list(Confinement):
        raise InputError(f"{source}: sandbox={level} is none of {', '.join(Confinement)}.")
    targets = _targets(inner, programs)
    return _programs(targets, each, budget, seed, ways, Confinement(level), note, propose)


def _programs(
    targets: Iterator[tuple[Program, list[str]]],
    each: int,
    budget: int,
    seed: int,
    ways: Sequence[str],
    level: Confinement,
    note: Callable[[str], None],
    propose: Callable[[str], str] | None,
) -> Iterator[Program]:
    functions = tried = kept = 0
    with Sandbox(level, workers=1, limits=_LIMITS) as sandbox:
        for program, known in targets:
            numbers = random.Random(f"{seed}:{program.source}:{program.entry}")
            search = find_inputs(
                program,
                known,
                sandbox=sandbox,
                each=each,
                budget=budget,
                ways=ways,
                numbers=numbers,
                propose=propose,
            )
            functions, tried, kept = functions + 1, tried + search.tried, kept + len(search.found)
            if not known:
                stopped = f"; a limit stopped {search.stopped}" if search.stopped else ""
                note(
                    f"{program.source}::{program.entry}: {search.tried} inputs tried{stopped}, "
                    f"{len(search.found)} kept; they run {search.lines_run} of {search.lines} lines"
                )
            for found in search.found:
                yield replace(
                    program,
                    id=short_id(f"{program.id}{found.arguments}"),
                    arguments=found.arguments,
                    extra={**program.extra, "input": {"by": found.by, "new": list(found.new)}},
                )
    if functions > 1:
        note(f"{functions} functions: {tried} inputs tried, {kept} kept")


# -- functions -------------------------------------------------------------------------------------


def _targets(inner: str, programs: Callable[[str], Iterator[Program]]) -> Iterator[tuple[Program, list[str]]]:
    """Functions, as programs whose arguments are not decided yet, each with the inputs that are known."""
    file, colons, entry = inner.rpartition("::") if "::" in inner else (inner, "", "")
    path = Path(file)
    if path.suffix == ".py":
        if not path.is_file():
            raise InputError(f"inputs:{inner}: {file} is no file here.")
        code = read_python(path, file)
        tree = parse(code, file)
        if colons:
            check_entry(tree, entry, file)
        names = [entry] if colons else _functions(tree)
        if not names:
            raise InputError(f"inputs:{inner}: {file} defines no functions at its top that could be called.")
        return iter([(_in_file(path, file, code, name), []) for name in names])
    return _with_known(programs(inner), inner)


def _functions(tree: ast.Module) -> list[str]:
    """Names of the functions of a module that are no one's private part."""
    return [
        name
        for name, node in defined(tree.body).items()
        if isinstance(node, ast.FunctionDef) and not name.startswith("_")
    ]


def _in_file(path: Path, file: str, code: str, entry: str) -> Program:
    return Program(
        id=f"{file}::{entry}",
        code=code,
        mode=Mode.CALL,
        filename=path.name,
        entry=entry,
        arguments="()",
        path=str(absolute(path).parent),
        source=file,
        date=modified(path),
        extra={"file": str(absolute(path))},
    )


def _with_known(found: Iterator[Program], inner: str) -> Iterator[tuple[Program, list[str]]]:
    some = False
    for (code, entry), calls in groupby(found, key=lambda program: (program.code, program.entry)):
        group = [program for program in calls if program.mode is Mode.CALL]
        if group and code and entry:
            some = True
            first = replace(group[0], expected=None)
            yield first, [program.arguments for program in group if program.arguments is not None]
    if not some:
        raise InputError(f"inputs:{inner}: has no calls of functions.")


def function_node(code: str, entry: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition that an entry names, ``Class.method`` too; None where it is made at run time."""
    body = parse(code, entry).body
    found: ast.stmt | None = None
    for name in entry.split("."):
        found = defined(body).get(name)
        body = found.body if isinstance(found, ast.ClassDef) else []
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


# -- the search ------------------------------------------------------------------------------------


def find_inputs(
    program: Program,
    known: Sequence[str] = (),
    *,
    sandbox: Sandbox,
    each: int = 10,
    budget: int = 60,
    ways: Sequence[str] = ("known", "hints"),
    numbers: random.Random | None = None,
    propose: Callable[[str], str] | None = None,
) -> Search:
    """Inputs for the function that a program calls; the program's own arguments are not looked at.

    known: argument lists to begin with, which are tried first and count. propose: asks a model, prompt ->
    answer; it is asked once. budget: runs in all. An input that ends in TypeError or AttributeError is taken
    for one of the wrong type, and dropped where the function has parameters without type hints.
    """
    assert program.entry is not None
    numbers = numbers or random.Random("0")
    node = function_node(program.code, program.entry)
    candidates = _candidates(program, node, known, ways, numbers, propose)
    typed = node is not None and all(a.annotation is not None for a in _parameters(node))
    lines_seen: set[int] = set()
    steps_seen: set[tuple[int, int]] = set()
    endings_seen: set[tuple[str, ...]] = set()
    kept: list[Found] = []
    others: dict[str, Found] = {}
    tried = stopped = 0
    seen: set[str] = set()
    feedback = next(candidates, None)
    while feedback is not None and tried < budget and stopped < _ENDLESS:
        by, arguments = feedback
        good = False
        if arguments not in seen:
            seen.add(arguments)
            tried += 1
            ending, lines, steps = _run(replace(program, arguments=arguments), sandbox)
            if ending.outcome is Outcome.HARNESS_ERROR:
                raise InputError(f"{program.entry}{arguments:.80}: could not be run: {ending.detail}")
            good = ending.outcome is Outcome.RETURNED
            stopped += ending.outcome not in (Outcome.RETURNED, Outcome.RAISED, Outcome.EXITED)
            usable = ending.outcome in (Outcome.RETURNED, Outcome.RAISED) and (
                typed or ending.exception not in _WRONG_TYPE
            )
            if usable:
                new = tuple(
                    name
                    for name, is_new in (
                        ("lines", not lines <= lines_seen),
                        ("branches", not steps <= steps_seen),
                        ("ending", _class_of(ending) not in endings_seen),
                    )
                    if is_new
                )
                found = Found(arguments, by, new, ending.outcome)
                if new:
                    lines_seen |= lines
                    steps_seen |= steps
                    endings_seen.add(_class_of(ending))
                    kept.append(found)
                elif good and ending.result is not None:
                    others.setdefault(ending.result, replace(found, new=("result",)))
        try:
            feedback = candidates.send(good)
        except StopIteration:
            break
    # What runs new code comes before what ends in a new way, and that before another result.
    kept.sort(key=lambda found: "lines" not in found.new and "branches" not in found.new)
    kept = [*kept, *others.values()][:each]
    own = _lines_of(program, node)
    return Search(tuple(kept), tried, stopped, len(lines_seen & own), len(own))


def _run(program: Program, sandbox: Sandbox) -> tuple[Ending, set[int], set[tuple[int, int]]]:
    """How a call ends, the lines of the program's file that it runs, and the pairs of lines that follow each
    other in a frame."""
    blocks: list[bytes] = []
    ending = sandbox.run_one(program, sink=blocks.append, trace_limits=TraceLimits(events=_EVENTS))
    lines: set[int] = set()
    steps: set[tuple[int, int]] = set()
    at: dict[tuple[int, int], int] = {}
    for row in (row for block in blocks for row in rows(block)):
        if row.kind == Kind.LINE and row.file == program.filename:
            lines.add(row.line)
            steps.add((at.get((row.thread, row.frame), 0), row.line))
            at[row.thread, row.frame] = row.line
    return ending, lines, steps


def _class_of(ending: Ending) -> tuple[str, ...]:
    """What endings are told apart by: outcome, exception, type of the result, and about how large it is."""
    if ending.result is None:
        return ending.outcome, ending.exception or ""
    try:
        value = ast.literal_eval(ending.result)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ending.outcome, re.match(r"\W*\w*", ending.result)[0]  # type: ignore[index]  # always matches
    size = ""
    if isinstance(value, bool) or value is None:
        size = str(value)
    elif isinstance(value, (int, float)) and math.isfinite(value):
        size = f"{(value > 0) - (value < 0)}{len(str(int(abs(value))))}"
    elif isinstance(value, (str, bytes, list, tuple, dict, set)):
        size = str(len(value).bit_length())
    return ending.outcome, type(value).__name__, size


def _lines_of(program: Program, node: ast.AST | None) -> set[int]:
    """Lines with code in a function, those of functions inside it too."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    found: set[int] = set()
    waiting: list[CodeType] = [compile(program.code, program.filename, "exec", dont_inherit=True)]
    end = node.end_lineno or node.lineno
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if code.co_name != "<module>":
            found |= {line for _, _, line in code.co_lines() if line and node.body[0].lineno <= line <= end}
    return found


# -- candidates ------------------------------------------------------------------------------------

_Candidates = Generator[tuple[str, str], bool, None]
"""Gives (way, argument list), one after the other, and is sent whether the call returned."""

Maker = Callable[[random.Random], Any]
"""A value of a type, which a literal can write."""


def _candidates(
    program: Program,
    node: ast.FunctionDef | ast.AsyncFunctionDef | None,
    known: Sequence[str],
    ways: Sequence[str],
    numbers: random.Random,
    propose: Callable[[str], str] | None,
) -> _Candidates:
    """From every way in turn."""
    assert program.entry is not None
    if "known" in ways:
        for arguments in known:
            yield "known", arguments
    if propose is not None:
        for arguments in proposed(propose(proposal_prompt(program.code, program.entry)), program.entry):
            yield "model", arguments
    turns: list[_Candidates] = []
    if "known" in ways and known:
        turns.append(_changed(known, numbers))
    if "hints" in ways and node is not None:
        turns.append(_by_hints(node, numbers))
    if "hypothesis" in ways and node is not None:
        turns.append(_by_hypothesis(node, int(numbers.random() * 2**32)))
    waiting = [(turn, entry) for turn in turns if (entry := next(turn, None)) is not None]
    while waiting:
        following = []
        for turn, entry in waiting:
            good = yield entry
            try:
                following.append((turn, turn.send(good)))
            except StopIteration:
                continue
        waiting = following


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _by_hints(node: ast.FunctionDef | ast.AsyncFunctionDef, numbers: random.Random) -> _Candidates:
    """Values of the annotated types; without an annotation, of types with which calls have returned."""
    choices = [_makers(argument, default) for argument, default in _with_defaults(node)]
    worth = [[1.0] * len(makers) for makers in choices]
    names = _with_defaults(node)
    repeated = 0
    seen: set[str] = set()
    while repeated < 200:
        picked = [_weighted(weights, numbers) for weights in worth]
        values = [makers[k](numbers) for makers, k in zip(choices, picked, strict=True)]
        text = _argument_text(node, names, values, numbers)
        if text in seen:
            repeated += 1
            continue
        seen.add(text)
        good = yield "hints", text
        for weights, k in zip(worth, picked, strict=True):
            weights[k] = weights[k] + 2 if good else max(weights[k] * 0.7, 0.05)


def _weighted(weights: Sequence[float], numbers: random.Random) -> int:
    at = numbers.random() * sum(weights)
    for k, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return k
    return len(weights) - 1


def _with_defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.args.defaults))
    defaults += node.args.defaults
    return [
        *zip(plain, defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]


def _argument_text(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    names: Sequence[tuple[ast.arg, ast.expr | None]],
    values: Sequence[Any],
    numbers: random.Random,
) -> str:
    only = {argument.arg for argument in node.args.kwonlyargs}
    positional_only = {argument.arg for argument in node.args.posonlyargs}
    parts, by_name = [], False
    for (argument, default), value in zip(names, values, strict=True):
        if default is not None and numbers.random() < 0.5:
            by_name = argument.arg not in positional_only
            if not by_name:
                break  # what follows cannot be given by position, nor this one by name
            continue
        named = by_name or argument.arg in only
        parts.append(f"{argument.arg}={value!r}" if named else repr(value))
    return f"({', '.join(parts)})"


def _makers(argument: ast.arg, default: ast.expr | None) -> list[Maker]:
    if argument.annotation is not None:
        maker = maker_of(argument.annotation)
        if maker is not None:
            return [maker]
    if default is not None:
        try:
            value = ast.literal_eval(default)
        except (ValueError, TypeError, SyntaxError):
            value = None
        if value is not None:
            return [lambda numbers: change(value, numbers)]
    return list(_UNTYPED)


def maker_of(annotation: ast.expr) -> Maker | None:
    """What makes values of an annotation's type; None where it is not known, or no literal is of it."""
    match annotation:
        case ast.Constant(value=None):
            return lambda numbers: None
        case ast.Constant(value=str(text)):
            try:
                return maker_of(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _PLAIN.get(name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _one_of([maker_of(left), maker_of(right)])
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return _of_parts(name, parts)
    return None


def _of_parts(name: str, parts: Sequence[ast.expr]) -> Maker | None:
    if name == "Literal":
        values = [part.value for part in parts if isinstance(part, ast.Constant)]
        return (lambda numbers: values[int(numbers.random() * len(values))]) if values else None
    if name == "Optional":
        return _one_of([maker_of(parts[0]), lambda numbers: None])
    if name == "Union":
        return _one_of([maker_of(part) for part in parts])
    several = len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...
    made = [maker_of(part) for part in (parts[:1] if several else parts)]
    makers = [maker for maker in made if maker is not None]
    if len(makers) < len(made):
        return None
    if name in ("tuple", "Tuple") and not several:
        return lambda numbers: tuple(maker(numbers) for maker in makers)
    kinds: Mapping[str, Callable[[list[Any]], Any]] = {
        **dict.fromkeys(("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence"), list),
        **dict.fromkeys(("set", "Set", "AbstractSet", "MutableSet"), _as_set),
        **dict.fromkeys(("tuple", "Tuple"), tuple),
    }
    if name in kinds and len(makers) == 1:
        return lambda numbers: kinds[name]([makers[0](numbers) for _ in range(_length(numbers))])
    if name in ("dict", "Dict", "Mapping", "MutableMapping") and len(makers) == 2:
        return lambda numbers: {makers[0](numbers): makers[1](numbers) for _ in range(_length(numbers))}
    return None


def _as_set(values: list[Any]) -> set[Any]:
    return set(values)


def _one_of(made: Sequence[Maker | None]) -> Maker | None:
    makers = [maker for maker in made if maker is not None]
    return (lambda numbers: makers[int(numbers.random() * len(makers))](numbers)) if makers else None


def _length(numbers: random.Random) -> int:
    return _pick(numbers, (0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8))


def _pick(numbers: random.Random, known: Sequence[T]) -> T:
    return known[int(numbers.random() * len(known))]


def _an_int(numbers: random.Random) -> int:
    low, high = _pick(
        numbers, ((0, 1), (0, 9), (0, 9), (-9, 9), (10, 99), (0, 99), (-999, 999), (1000, 10_000))
    )
    return low + int(numbers.random() * (high - low + 1))


def _a_float(numbers: random.Random) -> float:
    return _an_int(numbers) + _pick(numbers, (0.0, 0.5, 0.25, 0.1))


def _a_text(numbers: random.Random) -> str:
    letters = _pick(numbers, ("ab", "abc", "abcxyz", "aAbB", "01", "0123456789", "ab ", "a1 ,.-", "()[]"))
    if numbers.random() < 0.2:
        return str(
            _pick(numbers, ("hello world", "Python", "a,b,c", "racecar", "3.14", "-7", "key=value", "Ä ß"))
        )
    return "".join(_pick(numbers, letters) for _ in range(_length(numbers)))


def _a_bool(numbers: random.Random) -> bool:
    return numbers.random() < 0.5


def _numbers_list(numbers: random.Random) -> list[int]:
    return [_an_int(numbers) for _ in range(_length(numbers))]


def _texts_list(numbers: random.Random) -> list[str]:
    return [_a_text(numbers) for _ in range(_length(numbers))]


def _rows_list(numbers: random.Random) -> list[list[int]]:
    width = 1 + _length(numbers) // 2
    return [[_an_int(numbers) for _ in range(width)] for _ in range(_length(numbers))]


def _counts_dict(numbers: random.Random) -> dict[str, int]:
    return {_a_text(numbers): _an_int(numbers) for _ in range(_length(numbers))}


_PLAIN: Mapping[str, Maker] = {
    "int": _an_int,
    "float": _a_float,
    "complex": lambda numbers: complex(_an_int(numbers), _an_int(numbers)),
    "str": _a_text,
    "bool": _a_bool,
    "bytes": lambda numbers: _a_text(numbers).encode(),
    "object": _an_int,
    "Any": _an_int,
    **dict.fromkeys(("list", "List", "Sequence", "Iterable", "Collection"), _numbers_list),
    **dict.fromkeys(("dict", "Dict", "Mapping"), _counts_dict),
    **dict.fromkeys(("set", "Set"), lambda numbers: set(_numbers_list(numbers))),
    **dict.fromkeys(("tuple", "Tuple"), lambda numbers: tuple(_numbers_list(numbers))),
}
_UNTYPED: tuple[Maker, ...] = (
    _an_int, _a_text, _numbers_list, _texts_list, _counts_dict, _a_float, _a_bool, _rows_list,
)  # fmt: skip


# -- known inputs, changed -------------------------------------------------------------------------


def _changed(known: Sequence[str], numbers: random.Random) -> _Candidates:
    """Known argument lists with one value, or two, changed."""
    calls = [call for text in known if (call := _literal_call(text)) is not None]
    seen = set(known)
    repeated = 0
    while calls and repeated < 200:
        positional, named = _pick(numbers, calls)
        positional, named = list(positional), dict(named)
        for _ in range(_pick(numbers, (1, 1, 2))):
            at = int(numbers.random() * (len(positional) + len(named)))
            if at < len(positional):
                positional[at] = change(positional[at], numbers)
            elif named:
                key = list(named)[at - len(positional)]
                named[key] = change(named[key], numbers)
        parts = [repr(value) for value in positional] + [f"{name}={value!r}" for name, value in named.items()]
        text = f"({', '.join(parts)})"
        if text in seen:
            repeated += 1
            continue
        seen.add(text)
        good = yield "known", text
        if good and len(calls) < 100:
            calls.append((positional, named))  # a change of a change goes further


def _literal_call(text: str) -> tuple[list[Any], dict[str, Any]] | None:
    call = ast.parse(f"f{text}", mode="eval").body
    assert isinstance(call, ast.Call)
    try:
        named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
        values = [ast.literal_eval(value) for value in call.args]
    except (ValueError, TypeError, SyntaxError):
        return None
    return (values, named) if len(named) == len(call.keywords) and (values or named) else None


def change(value: Any, numbers: random.Random) -> Any:
    """A value of the same type, near it; now and then an edge of the type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _pick(
            numbers, (value + 1, value - 1, -value, 0, 1, 2 * value, value // 2, value + 10, _an_int(numbers))
        )
    if isinstance(value, float):
        return _pick(numbers, (value + 1, -value, 0.0, value / 2, value * 10, _a_float(numbers)))
    if isinstance(value, (str, bytes)):
        return _changed_text(value, numbers)
    if isinstance(value, (list, tuple)):
        items = _changed_items(list(value), numbers)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(_changed_items(sorted(value, key=repr), numbers))
    if isinstance(value, dict):
        items = list(value.items())
        if not items or numbers.random() < 0.15:
            key, held = items[-1] if items else ("a", 1)
            return {**value, change(key, numbers): held}
        if numbers.random() < 0.2:
            return dict(items[1:])
        at = int(numbers.random() * len(items))
        key, held = items[at]
        items[at] = (change(key, numbers), held) if numbers.random() < 0.4 else (key, change(held, numbers))
        return dict(items)
    return value


def _changed_text(value: Any, numbers: random.Random) -> Any:
    at = int(numbers.random() * (len(value) + 1))
    other = int(numbers.random() * (len(value) + 1))
    extra = value[other : other + 1] or (b"a" if isinstance(value, bytes) else _pick(numbers, "a1 Z"))
    if not value:
        return extra
    return _pick(
        numbers,
        (
            value[:at] + extra + value[at:],
            value[:at] + value[at + 1 :],
            value[:at] + extra + value[at + 1 :],
            value[::-1],
            value[:0],
            value.upper(),
            value + value,
            value[:at],
        ),
    )


def _changed_items(items: list[Any], numbers: random.Random) -> list[Any]:
    if not items:
        return [_an_int(numbers)]
    at = int(numbers.random() * len(items))
    way = int(numbers.random() * 6)
    if way == 0:
        return items[:at] + items[at + 1 :]
    if way == 1:
        return [*items[:at], items[at], *items[at:]]
    if way == 2:
        return items[::-1]
    if way == 3:
        return items[:at]
    items[at] = change(items[at], numbers)
    return items


# -- Hypothesis, a model ---------------------------------------------------------------------------


def _need_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise MissingExtra("hypothesis", "inputs", "by=hypothesis") from error


def _by_hypothesis(node: ast.FunctionDef | ast.AsyncFunctionDef, seed: int) -> _Candidates:
    """What Hypothesis draws for the annotated types, as far as they are built-in ones."""
    import collections.abc
    import typing

    import hypothesis
    from hypothesis import strategies as st

    known = {**vars(collections.abc), **vars(typing)}
    strategies: dict[str, Any] = {}
    for argument, default in _with_defaults(node):
        if argument.annotation is None or maker_of(argument.annotation) is None:
            if default is None:
                return  # its type is not known
            continue
        # Only built-in types and `typing`: maker_of knows no other names, so nothing of the program's is run.
        kind = eval(compile(ast.Expression(argument.annotation), "<annotation>", "eval"), dict(known))
        strategies[argument.arg] = st.from_type(eval(kind, dict(known)) if isinstance(kind, str) else kind)
    drawn: list[dict[str, Any]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=200,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.fixed_dictionaries(strategies))
    def collect(values: dict[str, Any]) -> None:
        drawn.append(values)

    collect()
    positional_only = {argument.arg for argument in node.args.posonlyargs}
    for values in drawn:
        if all(_is_literal(value) for value in values.values()):
            parts = [
                repr(value) if name in positional_only else f"{name}={value!r}"
                for name, value in values.items()
            ]
            yield "hypothesis", f"({', '.join(parts)})"


def _is_literal(value: Any) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value) and len(repr(value)) <= 500
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def proposal_prompt(code: str, entry: str, count: int = 10) -> str:
    """What a model is asked for inputs with."""
    return (
        f"```python\n{code.rstrip()}\n```\n\nWrite {count} calls of `{entry}`, one a line and nothing else, "
        "that together run every line of it: usual arguments, edge cases, and some that end in an exception."
    )


def proposed(answer: str, entry: str) -> Iterable[str]:
    """The argument lists in a model's answer: of every line with a call of the function that can be read."""
    for line in answer.splitlines():
        _, found, rest = line.partition(f"{entry}(")
        for end in range(len(rest), 0, -1) if found else ():
            if rest[end - 1] == ")":
                try:
                    yield argument_list(f"({rest[:end]}", "an answer")
                except InputError:
                    continue
                break
