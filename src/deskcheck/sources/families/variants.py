"""A text written otherwise: other names, other loops, statements in another order, with the same results.

For texts in the manner of `families`: functions of numbers, texts and lists, without classes, closures,
globals and keyword arguments. Whatever else an expression does than give its value is not looked at, so
this is not for anybody's code.
"""

import ast
import builtins
import keyword
import random
from collections.abc import Callable, Iterator
from itertools import pairwise

from deskcheck.sources.text.edits import Places, TextEdit, edited
from deskcheck.sources.text.words import HELPERS, NAMES, NOUNS, VERBS

_FLIPPED = {ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
_NEGATED = {ast.Lt: ">=", ast.Gt: "<=", ast.LtE: ">", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "=="}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_PLAIN = (ast.Name, ast.Constant, ast.Subscript, ast.Call, ast.Attribute)
_NAMES = tuple(dict.fromkeys([*NAMES["int"], *NAMES["loop"], *NAMES["item"], *NAMES["list"], *NAMES["str"]]))


def variant(code: str, numbers: random.Random) -> str:
    """The text, rewritten here and there and with names of its own."""
    for rewrite in _REWRITES:
        done = 0
        while done < 4:
            places = Places(code)
            found = list(rewrite(places))[done:]
            if not found:
                break
            edits = found[int(numbers.random() * len(found))]
            done += 1
            if numbers.random() < 0.5:
                code = edited(code, *edits)
    return _renamed(code, numbers)


def _renamed(code: str, numbers: random.Random) -> str:
    places = Places(code)
    functions = [function.name for function in places.functions()]
    known: dict[str, None] = dict.fromkeys(functions)
    for node in ast.walk(places.tree):
        if isinstance(node, ast.arg):
            known[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id != "_":
            known[node.id] = None
    taken = {node.id for node in ast.walk(places.tree) if isinstance(node, ast.Name)} - known.keys()
    new: dict[str, str] = {}
    for name in known:
        while name not in new:
            chosen = _pick(numbers, _NAMES)
            if name in functions:
                chosen = f"{_pick(numbers, VERBS)}_{_pick(numbers, NOUNS)}"
                if numbers.random() < 0.3:
                    chosen = _pick(numbers, HELPERS)
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
            at = places.start(node) + len("def ")
            edits.append(TextEdit(at, at + len(node.name), new[node.name]))
    return edited(code, *edits)


def _pick(numbers: random.Random, known: list[str] | tuple[str, ...]) -> str:
    return known[int(numbers.random() * len(known))]


_Found = Iterator[tuple[TextEdit, ...]]


def _pad(places: Places, node: ast.stmt) -> str:
    return " " * node.col_offset


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


def _stored(nodes: list[ast.stmt]) -> set[str]:
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def _augmented(places: Places) -> _Found:
    """``x = x + e`` for ``x += e``, and back."""
    for node in ast.walk(places.tree):
        if isinstance(node, ast.AugAssign) and type(node.op) in _SIGNS:
            value, target = places.text(node.value), places.text(node.target)
            if not isinstance(node.value, _PLAIN):
                value = f"({value})"
            yield (places.replace(node, f"{target} = {target} {_SIGNS[type(node.op)]} {value}"),)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.BinOp)
            and type(node.value.op) in _SIGNS
            and isinstance(node.value.left, ast.Name)
            and node.value.left.id == node.targets[0].id
            and not isinstance(node.value.right, (ast.List, ast.ListComp))
            and places.code[places.end(node.value) - 1] != ")"
        ):
            sign = _SIGNS[type(node.value.op)]
            yield (places.replace(node, f"{node.targets[0].id} {sign}= {places.text(node.value.right)}"),)


def _flipped(places: Places) -> _Found:
    """``b > a`` for ``a < b``."""
    for node in ast.walk(places.tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLIPPED:
            left, right = node.left, node.comparators[0]
            sign = _FLIPPED[type(node.ops[0])]
            if not isinstance(right, ast.Constant) and isinstance(left, _PLAIN) and isinstance(right, _PLAIN):
                yield (places.replace(node, f"{places.text(right)} {sign} {places.text(left)}"),)


def _other_way_round(places: Places) -> _Found:
    """``if not c: B else: A`` for ``if c: A else: B``."""
    for node in ast.walk(places.tree):
        if not isinstance(node, ast.If) or not node.orelse:
            continue
        head = places.code[places.start(node) :]
        if head.startswith("elif") or (
            isinstance(node.orelse[0], ast.If) and _is_elif(places, node.orelse[0])
        ):
            continue
        pad = _pad(places, node)
        text = (
            f"if {_negation(places, node.test)}:\n{_block(places, node.orelse)}\n"
            f"{pad}else:\n{_block(places, node.body)}"
        )
        yield (places.replace(node, text),)


def _is_elif(places: Places, node: ast.If) -> bool:
    return places.code[places.start(node) :].startswith("elif")


def _leaving(places: Places) -> _Found:
    """``while True: if not c: break`` for ``while c``."""
    for node in ast.walk(places.tree):
        if isinstance(node, ast.While) and not node.orelse and not isinstance(node.test, ast.Constant):
            inner = " " * node.body[0].col_offset
            text = (
                f"while True:\n{inner}if {_negation(places, node.test)}:\n{inner}    break\n"
                f"{_block(places, node.body)}"
            )
            yield (places.replace(node, text),)


def _counted(places: Places) -> _Found:
    """A `while` that counts for a `for` over a range, where its end cannot change and nothing jumps to its
    head."""
    for node in ast.walk(places.tree):
        if not isinstance(node, ast.For) or node.orelse or not isinstance(node.target, ast.Name):
            continue
        call = node.iter
        if not (isinstance(call, ast.Call) and _is_range(call) and len(call.args) <= 2):
            continue
        name, end = node.target.id, call.args[-1]
        function = next(above for above in places.above(node) if isinstance(above, ast.FunctionDef))
        changed = _stored(node.body)
        used = {n.id for n in ast.walk(end) if isinstance(n, ast.Name)}
        if (
            name in changed
            or used & (changed | {name})
            or any(isinstance(n, ast.Call) for n in ast.walk(end))
        ):
            continue
        if any(isinstance(n, ast.Continue) for part in node.body for n in ast.walk(part)):
            continue
        within = {id(n) for n in ast.walk(node)}
        if any(isinstance(n, ast.Name) and n.id == name and id(n) not in within for n in ast.walk(function)):
            continue
        if name == "_":
            name = "counter"
            if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(function)):
                continue
        first = places.text(call.args[0]) if len(call.args) == 2 else "0"
        pad, inner = _pad(places, node), " " * node.body[0].col_offset
        text = (
            f"{name} = {first}\n{pad}while {name} < {places.text(end)}:\n{_block(places, node.body)}\n"
            f"{inner}{name} += 1"
        )
        yield (places.replace(node, text),)


def _is_range(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "range"


def _one_at_a_time(places: Places) -> _Found:
    """``keep = y; a = x; b = keep`` for ``a, b = x, y``."""
    for node in ast.walk(places.tree):
        if not (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(node.targets[0].elts) == len(node.value.elts) == 2
        ):
            continue
        if any(isinstance(n, ast.Call) for n in ast.walk(node)):
            continue
        function = next((above for above in places.above(node) if isinstance(above, ast.FunctionDef)), None)
        if function is None or "keep" in _stored(function.body):
            continue
        (a, b), (x, y) = node.targets[0].elts, node.value.elts
        pad = _pad(places, node)
        text = (
            f"keep = {places.text(y)}\n{pad}{places.text(a)} = {places.text(x)}\n{pad}{places.text(b)} = keep"
        )
        yield (places.replace(node, text),)


def _spelled_out(places: Places) -> _Found:
    """``if c: x = a else: x = b`` for ``x = a if c else b``."""
    for node in ast.walk(places.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.IfExp):
            pad, target, value = _pad(places, node), places.text(node.targets[0]), node.value
            text = (
                f"if {places.text(value.test)}:\n{pad}    {target} = {places.text(value.body)}\n"
                f"{pad}else:\n{pad}    {target} = {places.text(value.orelse)}"
            )
            yield (places.replace(node, text),)


def _reordered(places: Places) -> _Found:
    """Two assignments of constants or variables, the second first."""
    for node in ast.walk(places.tree):
        for _, body in ast.iter_fields(node):
            if not isinstance(body, list):
                continue
            for first, second in pairwise(body):
                if _simple(first) and _simple(second):
                    names = [
                        {n.id for n in ast.walk(part) if isinstance(n, ast.Name)} for part in (first, second)
                    ]
                    if not names[0] & names[1]:
                        yield (
                            places.replace(first, places.text(second)),
                            places.replace(second, places.text(first)),
                        )


def _simple(node: object) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, (ast.Constant, ast.Name, ast.List))
    )


_REWRITES: tuple[Callable[[Places], _Found], ...] = (
    _spelled_out,
    _one_at_a_time,
    _counted,
    _leaving,
    _other_way_round,
    _flipped,
    _augmented,
    _reordered,
)
