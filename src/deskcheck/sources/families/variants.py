"""Rewriting a program: other names, other loops, statements in another order, with the same results.

This is for programs like those of `families`: functions of numbers, texts and lists, without classes,
closures, globals and keyword arguments. Side effects of expressions are ignored, so it is not for arbitrary
code.
"""

import ast
import builtins
import keyword
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from deskcheck.sources.text.edits import Places, TextEdit, edited
from deskcheck.sources.text.words import HELPERS, NAMES, NOUNS, VERBS

T = TypeVar("T")
_FLIPPED = {ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
_NEGATED = {ast.Lt: ">=", ast.Gt: "<=", ast.LtE: ">", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_PLAIN = (ast.Name, ast.Constant, ast.Subscript, ast.Call, ast.Attribute)
_NAMES = tuple(dict.fromkeys([*NAMES["int"], *NAMES["loop"], *NAMES["item"], *NAMES["list"], *NAMES["str"]]))


def variant(code: str, rng: random.Random) -> str:
    """The program with some statements rewritten, and with new names."""
    for rewrite in _REWRITES:
        attempts = 0
        while attempts < 4:
            places = Places(code)
            choices = [edits for node in ast.walk(places.tree) for edits in rewrite(places, node)][attempts:]
            if not choices:
                break
            edits = _pick(rng, choices)
            attempts += 1
            if rng.random() < 0.5:
                code = edited(code, *edits)
    return _renamed(code, rng)


def _renamed(code: str, rng: random.Random) -> str:
    places = Places(code)
    functions = [function.name for function in places.functions()]
    names: dict[str, None] = dict.fromkeys(functions)
    for node in ast.walk(places.tree):
        if isinstance(node, ast.arg):
            names[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id != "_":
            names[node.id] = None
    taken = {node.id for node in ast.walk(places.tree) if isinstance(node, ast.Name)} - names.keys()
    new: dict[str, str] = {}
    for name in names:
        while name not in new:
            chosen = _pick(rng, _NAMES)
            if name in functions:
                chosen = f"{_pick(rng, VERBS)}_{_pick(rng, NOUNS)}"
                if rng.random() < 0.3:
                    chosen = _pick(rng, HELPERS)
            if chosen not in taken and not keyword.iskeyword(chosen) and not hasattr(builtins, chosen):
                taken.add(chosen)
                new[name] = chosen
    edits = []
    for node in ast.walk(places.tree):
        if isinstance(node, ast.Name) and node.id in new:
            edits.append(places.replace(node, new[node.id]))
        elif isinstance(node, ast.arg):
            edits.append(places.replace(node, new[node.arg]))
        elif isinstance(node, ast.FunctionDef):
            name_start = places.start(node) + len("def ")
            edits.append(TextEdit(name_start, name_start + len(node.name), new[node.name]))
    return edited(code, *edits)


def _pick(rng: random.Random, choices: Sequence[T]) -> T:
    return choices[int(rng.random() * len(choices))]


_Edits = Iterator[tuple[TextEdit, ...]]


def _block(places: Places, body: list[ast.stmt]) -> str:
    """The lines of a block, with their indentation and without the last end of line."""
    start = places.at(body[0].lineno, 0)
    return places.code[start : places.end(body[-1])]


def _negation(places: Places, test: ast.expr) -> str:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _NEGATED:
        left, right = places.text(test.left), places.text(test.comparators[0])
        return f"{left} {_NEGATED[type(test.ops[0])]} {right}"
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return places.text(test.operand)
    return f"not {places.text(test)}" if isinstance(test, _PLAIN) else f"not ({places.text(test)})"


def _names_in(node: ast.AST, kind: type[ast.expr_context] = ast.expr_context) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}


def _function_of(places: Places, node: ast.AST) -> ast.FunctionDef:
    return next(above for above in places.above(node) if isinstance(above, ast.FunctionDef))


def _augmented(places: Places, node: ast.AST) -> _Edits:
    """``x = x + e`` for ``x += e``, and back."""
    match node:
        case ast.AugAssign() if type(node.op) in _SIGNS:
            value, target = places.text(node.value), places.text(node.target)
            if not isinstance(node.value, _PLAIN):
                value = f"({value})"
            yield (places.replace(node, f"{target} = {target} {_SIGNS[type(node.op)]} {value}"),)
        case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.BinOp(left=ast.Name(id=left)) as value_):
            is_list = isinstance(value_.right, (ast.List, ast.ListComp))
            ends_open = places.code[places.end(value_) - 1] != ")"
            if left == name and type(value_.op) in _SIGNS and not is_list and ends_open:
                sign = _SIGNS[type(value_.op)]
                yield (places.replace(node, f"{name} {sign}= {places.text(value_.right)}"),)


def _flipped(places: Places, node: ast.AST) -> _Edits:
    """``b > a`` for ``a < b``."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLIPPED:
        left, right = node.left, node.comparators[0]
        sign = _FLIPPED[type(node.ops[0])]
        if not isinstance(right, ast.Constant) and isinstance(left, _PLAIN) and isinstance(right, _PLAIN):
            yield (places.replace(node, f"{places.text(right)} {sign} {places.text(left)}"),)


def _other_way_round(places: Places, node: ast.AST) -> _Edits:
    """``if not c: B else: A`` for ``if c: A else: B``."""
    if not isinstance(node, ast.If) or not node.orelse or _is_elif(places, node):
        return
    if isinstance(node.orelse[0], ast.If) and _is_elif(places, node.orelse[0]):
        return
    text = (
        f"if {_negation(places, node.test)}:\n{_block(places, node.orelse)}\n"
        f"{' ' * node.col_offset}else:\n{_block(places, node.body)}"
    )
    yield (places.replace(node, text),)


def _is_elif(places: Places, node: ast.If) -> bool:
    return places.code.startswith("elif", places.start(node))


def _leaving(places: Places, node: ast.AST) -> _Edits:
    """``while True: if not c: break`` for ``while c``."""
    if isinstance(node, ast.While) and not node.orelse and not isinstance(node.test, ast.Constant):
        inner = " " * node.body[0].col_offset
        text = (
            f"while True:\n{inner}if {_negation(places, node.test)}:\n{inner}    break\n"
            f"{_block(places, node.body)}"
        )
        yield (places.replace(node, text),)


def _counted(places: Places, node: ast.AST) -> _Edits:
    """A counting `while` for a `for` over a range, if the end cannot change and there is no `continue`."""
    match node:
        case ast.For(
            target=ast.Name(id=name), orelse=[], iter=ast.Call(func=ast.Name(id="range"), args=[*first, end])
        ) if len(first) <= 1:
            pass
        case _:
            return
    function = _function_of(places, node)
    changed = {stored for part in node.body for stored in _names_in(part, ast.Store)}
    if name in changed or _names_in(end) & (changed | {name}):
        return
    jumps = (n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Continue))
    if any(isinstance(n, ast.Call) for n in ast.walk(end)) or any(jumps):
        return
    uses = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name))
    if uses[name] > sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node)):
        return
    if name == "_":
        name = "counter"
        if name in uses:
            return
    start = places.text(first[0]) if first else "0"
    pad, inner = " " * node.col_offset, " " * node.body[0].col_offset
    text = (
        f"{name} = {start}\n{pad}while {name} < {places.text(end)}:\n{_block(places, node.body)}\n"
        f"{inner}{name} += 1"
    )
    yield (places.replace(node, text),)


def _one_at_a_time(places: Places, node: ast.AST) -> _Edits:
    """``keep = y; a = x; b = keep`` for ``a, b = x, y``."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=[a, b]), *_], value=ast.Tuple(elts=[x, y])):
            pass
        case _:
            return
    if any(isinstance(n, ast.Call) for n in ast.walk(node)):
        return
    if "keep" in _names_in(_function_of(places, node), ast.Store):
        return
    pad = " " * node.col_offset
    text = f"keep = {places.text(y)}\n{pad}{places.text(a)} = {places.text(x)}\n{pad}{places.text(b)} = keep"
    yield (places.replace(node, text),)


def _spelled_out(places: Places, node: ast.AST) -> _Edits:
    """``if c: x = a else: x = b`` for ``x = a if c else b``."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.IfExp):
        pad, target, value = " " * node.col_offset, places.text(node.targets[0]), node.value
        text = (
            f"if {places.text(value.test)}:\n{pad}    {target} = {places.text(value.body)}\n"
            f"{pad}else:\n{pad}    {target} = {places.text(value.orelse)}"
        )
        yield (places.replace(node, text),)


def _reordered(places: Places, node: ast.AST) -> _Edits:
    """Two assignments of constants or variables in the other order."""
    for _, body in ast.iter_fields(node):
        for first, second in pairwise(body) if isinstance(body, list) else ():
            if _is_simple(first) and _is_simple(second) and not _names_in(first) & _names_in(second):
                yield (
                    places.replace(first, places.text(second)),
                    places.replace(second, places.text(first)),
                )


def _is_simple(node: object) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, (ast.Constant, ast.Name, ast.List))
    )


_REWRITES: tuple[Callable[[Places, ast.AST], _Edits], ...] = (
    _spelled_out,
    _one_at_a_time,
    _counted,
    _leaving,
    _other_way_round,
    _flipped,
    _augmented,
    _reordered,
)
