"""Arguments that are worth trying: by type hints, by changing known ones, by Hypothesis, by a model.

All of them can be written as literals. Types that no literal writes (instances, functions, open files) get
none.
"""

import ast
import random
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from deskcheck.fences import fenced
from deskcheck.recording import InputError, MissingExtra
from deskcheck.sources.inputs.callables import Definition
from deskcheck.sources.inputs.receivers import Constructor
from deskcheck.sources.text.arguments import argument_list

T = TypeVar("T")
Candidates = Generator[tuple[str, str], bool, None]
"""Gives (way, argument list), one after the other, and is sent whether the call returned."""
Maker = Callable[[random.Random], Any]
"""A value of a type, which a literal can write."""


def candidates(
    text: str,
    entry: str,
    node: Definition | None,
    *,
    known: Sequence[str],
    ways: Sequence[str],
    numbers: random.Random,
    propose: Callable[[str], str] | None,
    receiver: Constructor | None = None,
) -> Candidates:
    """From every way in turn. receiver: of a method, whose object comes first among the arguments; these are
    made by hints alone."""
    if receiver is not None:
        if node is not None:
            yield from _on_objects(receiver, node, numbers)
        return
    if "known" in ways:
        for arguments in known:
            yield "known", arguments
    if propose is not None:
        for arguments in proposed(propose(proposal_prompt(text, entry)), entry):
            yield "model", arguments
    turns: list[Candidates] = []
    if "known" in ways and known:
        turns.append(_changed(known, numbers))
    if "hints" in ways and node is not None:
        turns.append(_by_hints(node, numbers))
    if "hypothesis" in ways and node is not None:
        turns.append(_by_hypothesis(node, int(numbers.random() * 2**32)))
    waiting = [(turn, offer) for turn in turns if (offer := next(turn, None)) is not None]
    while waiting:
        following = []
        for turn, offer in waiting:
            good = yield offer
            try:
                following.append((turn, turn.send(good)))
            except StopIteration:
                continue
        waiting = following


def parameters(node: Definition) -> list[ast.arg]:
    """What a call gives by position or by name."""
    return [*_positional(node), *node.args.kwonlyargs]


def _positional(node: Definition) -> list[ast.arg]:
    """Without the class of a class method, which is given by itself."""
    found = [*node.args.posonlyargs, *node.args.args]
    of_class = any(isinstance(each, ast.Name) and each.id == "classmethod" for each in node.decorator_list)
    return found[1:] if of_class else found


def _by_hints(node: Definition, numbers: random.Random) -> Candidates:
    """Values of the annotated types; without an annotation, of types with which calls have returned."""
    names = _with_defaults(node)
    rest = node.args.vararg
    if rest is not None:
        names.append((rest, None))
    choices = [_makers(argument, default) for argument, default in names]
    worth = [_likely(argument.arg, makers) for (argument, _), makers in zip(names, choices, strict=True)]
    for (_, default), makers, weights in zip(names, choices, worth, strict=True):
        if default is not None:
            weights.append(sum(weights) * (3 if _is_none(default) else 1))
            makers.append(_omitted)
    repeated = 0
    seen: set[str] = set()
    while repeated < 200:
        picked = [_weighted(weights, numbers) for weights in worth]
        values = [makers[k](numbers) for makers, k in zip(choices, picked, strict=True)]
        more: list[Any] = []
        if rest is not None:
            maker = choices[-1][picked[-1]]
            more = [maker(numbers) for _ in range(_pick(numbers, (0, 1, 2, 2, 3)))]
        text = _argument_text(node, values, more)
        if text in seen:
            repeated += 1
            continue
        seen.add(text)
        good = yield "hints", text
        for weights, k in zip(worth, picked, strict=True):
            weights[k] = weights[k] + 2 if good else max(weights[k] * 0.7, 0.05)


def _on_objects(receiver: Constructor, node: Definition, numbers: random.Random) -> Candidates:
    """Arguments of a method, after an object: a new one each second time, else one that did before."""
    makes = None if receiver.node is None else _by_hints(receiver.node, numbers)
    offer = next(makes, None) if makes is not None else None
    good: list[str] = []
    takes = _by_hints(node, numbers)
    arguments = next(takes, None)
    while arguments is not None:
        new = offer is not None and (len(good) < 2 or numbers.random() < 0.5)
        made = offer[1] if new and offer is not None else _pick(numbers, good) if good else "()"
        inner = arguments[1].removeprefix("(").removesuffix(")")
        returned = yield "hints", f"({receiver.name}{made}{', ' if inner else ''}{inner})"
        if returned and made not in good:
            good.append(made)
        try:
            if new and makes is not None:
                offer = makes.send(returned)
        except StopIteration:
            offer = None
        try:
            arguments = takes.send(returned)
        except StopIteration:
            if offer is None:
                return
            takes = _by_hints(node, numbers)  # the same again, of other objects
            arguments = next(takes, None)


def _weighted(weights: Sequence[float], numbers: random.Random) -> int:
    at = numbers.random() * sum(weights)
    for k, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return k
    return len(weights) - 1


def _with_defaults(node: Definition) -> list[tuple[ast.arg, ast.expr | None]]:
    plain = _positional(node)
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.args.defaults))
    defaults += node.args.defaults[-len(plain) :] if plain else []
    return [
        *zip(plain, defaults, strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]


_OMITTED = object()


def _omitted(_: random.Random) -> Any:
    """For a parameter that a call leaves to its default."""
    return _OMITTED


def _is_none(default: ast.expr) -> bool:
    return isinstance(default, ast.Constant) and default.value is None


def _argument_text(node: Definition, values: Sequence[Any], more: Sequence[Any]) -> str:
    """values: for each parameter. more: for ``*rest``, where all before it are given by position."""
    only = {argument.arg for argument in node.args.kwonlyargs}
    positional_only = {argument.arg for argument in node.args.posonlyargs}
    plain = len(_positional(node))
    by_position: list[str] = []
    by_word: list[str] = []
    by_name = False
    for (argument, _), value in zip(_with_defaults(node), values, strict=False):
        if value is _OMITTED:
            by_name = argument.arg not in positional_only
            if not by_name:
                break  # what follows cannot be given by position, nor this one by name
            continue
        named = by_name or argument.arg in only
        if named:
            by_word.append(f"{argument.arg}={value!r}")
        else:
            by_position.append(repr(value))
    if len(by_position) == plain:
        by_position += map(repr, more)
    return f"({', '.join([*by_position, *by_word])})"


def _likely(name: str, makers: Sequence[Maker]) -> list[float]:
    """How much each maker is worth at first: what a parameter without a type is called says something."""
    if len(makers) < len(_UNTYPED):
        return [1.0] * len(makers)
    words = {name.lower(), *name.lower().strip("_").split("_"), name.lower().rstrip("s")}
    return [4.0 if words & _CALLED.get(maker, frozenset()) else 1.0 for maker in makers]


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
_CALLED: Mapping[Maker, frozenset[str]] = {
    _an_int: frozenset("n m k i j x y a b int num number count size width height index start stop end step "
                       "depth length limit min max low high lo hi year month day".split()),
    _a_text: frozenset("s str string text txt word line name key prefix suffix sep delimiter char pattern "
                       "msg message label title path url html content body".split()),
    _numbers_list: frozenset("l lst list seq sequence items item iterable iter array arr data values nums "
                             "numbers xs ys heap vector points".split()),
    _texts_list: frozenset("words lines names keys strings tokens parts fields iterable seq".split()),
    _counts_dict: frozenset("d dict dic mapping map counts counter table config options".split()),
    _rows_list: frozenset("rows matrix grid board table pairs edges lists seqs sequences iterables".split()),
    _a_bool: frozenset("flag reverse strict verbose".split()),
    _a_float: frozenset("f r q p ratio rate mean sigma mu alpha weight".split()),
}  # fmt: skip
"""What parameters for such values are often called."""


# -- known inputs, changed -------------------------------------------------------------------------


def _changed(known: Sequence[str], numbers: random.Random) -> Candidates:
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


def need_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401  # only whether it is there
    except ImportError as error:
        raise MissingExtra("hypothesis", "inputs", "by=hypothesis") from error


def _by_hypothesis(node: Definition, seed: int) -> Candidates:
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
        f"{fenced(code.rstrip(), 'python')}\n\nWrite {count} calls of `{entry}`, one a line and nothing "
        "else, that together run every line of it: usual arguments, edge cases, and some that end in an "
        "exception."
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
