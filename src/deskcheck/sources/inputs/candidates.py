"""Arguments to try: from type hints, from changes of known arguments, from Hypothesis, from a model.

All of them are literals. Other types (instances, functions, open files) have no candidates.
"""

import ast
import random
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from deskcheck.fences import fenced
from deskcheck.recording import InputError, MissingExtra
from deskcheck.sources.inputs.callables import Definition
from deskcheck.sources.inputs.receivers import Constructor
from deskcheck.sources.text.arguments import argument_list

T = TypeVar("T")
Candidates = Generator[tuple[str, str], bool, None]
"""Yields (way, argument list), and is sent whether the call returned."""
Maker = Callable[[random.Random], Any]
"""Makes a random value of a type that has literals."""


def candidates(
    text: str,
    entry: str,
    node: Definition | None,
    *,
    known_inputs: Sequence[str],
    ways: Sequence[str],
    rng: random.Random,
    propose: Callable[[str], str] | None,
    receiver: Constructor | None = None,
) -> Candidates:
    """Argument lists from each way in turn.

    receiver: the constructor of a method's object, which becomes the first argument. Arguments of methods are
    made only from hints.
    """
    if receiver is not None:
        if node is not None:
            yield from _on_objects(receiver, node, rng)
        return
    if "known" in ways:
        for arguments in known_inputs:
            yield "known", arguments
    if propose is not None:
        for arguments in proposed(propose(proposal_prompt(text, entry)), entry):
            yield "model", arguments
    turns: list[Candidates] = []
    if "known" in ways and known_inputs:
        turns.append(_changed(known_inputs, rng))
    if "hints" in ways and node is not None:
        turns.append(_by_hints(node, rng))
    if "hypothesis" in ways and node is not None:
        turns.append(_by_hypothesis(node, int(rng.random() * 2**32)))
    waiting = [(turn, offer) for turn in turns if (offer := next(turn, None)) is not None]
    while waiting:
        following = []
        for turn, offer in waiting:
            good = yield offer
            following.append((turn, _send(turn, good)))
        waiting = [(turn, offer) for turn, offer in following if offer is not None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    name: str
    kind: str
    """``positional``, ``plain``, ``keyword``, or ``rest`` for ``*rest``."""
    annotation: ast.expr | None
    default: ast.expr | None = None

    @property
    def is_optional(self) -> bool:
        return isinstance(self.default, ast.Constant) and self.default.value is None


def parameters(node: Definition) -> list[Parameter]:
    """The parameters that a call fills in, without the class of a class method."""
    of_class = any(isinstance(mark, ast.Name) and mark.id == "classmethod" for mark in node.decorator_list)
    positional = [(arg, "positional") for arg in node.args.posonlyargs]
    positional += [(arg, "plain") for arg in node.args.args]
    positional = positional[of_class:]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    defaults += node.args.defaults[-len(positional) :] if positional else []
    by_name = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [
        *(
            Parameter(arg.arg, kind, arg.annotation, default)
            for (arg, kind), default in zip(positional, defaults, strict=True)
        ),
        *(Parameter(arg.arg, "keyword", arg.annotation, default) for arg, default in by_name),
    ]


def _by_hints(node: Definition, rng: random.Random) -> Candidates:
    """Values of the annotated types. Without an annotation, types with which calls returned are preferred."""
    accepted = parameters(node)
    if node.args.vararg is not None:
        accepted.append(Parameter(node.args.vararg.arg, "rest", node.args.vararg.annotation))
    choices = [_makers(parameter) for parameter in accepted]
    worth = [_likely(parameter.name, makers) for parameter, makers in zip(accepted, choices, strict=True)]
    for parameter, makers, weights in zip(accepted, choices, worth, strict=True):
        if parameter.default is not None:
            weights.append(sum(weights) * (3 if parameter.is_optional else 1))
            makers.append(_omitted)
    repeated = 0
    texts: set[str] = set()
    while repeated < 200:
        picked = [_weighted(weights, rng) for weights in worth]
        values = [makers[k](rng) for makers, k in zip(choices, picked, strict=True)]
        more: list[Any] = []
        if node.args.vararg is not None:
            maker = choices[-1][picked[-1]]
            more = [maker(rng) for _ in range(_pick(rng, (0, 1, 2, 2, 3)))]
        text = _argument_text(accepted, values, more)
        if text in texts:
            repeated += 1
            continue
        texts.add(text)
        good = yield "hints", text
        for weights, k in zip(worth, picked, strict=True):
            weights[k] = weights[k] + 2 if good else max(weights[k] * 0.7, 0.05)


def _on_objects(receiver: Constructor, node: Definition, rng: random.Random) -> Candidates:
    """Arguments of a method, after an object. About half of the objects are new; the others worked before."""
    makes = None if receiver.node is None else _by_hints(receiver.node, rng)
    offer = next(makes, None) if makes is not None else None
    good: list[str] = []
    takes = _by_hints(node, rng)
    arguments = next(takes, None)
    while arguments is not None:
        new = offer is not None and (len(good) < 2 or rng.random() < 0.5)
        constructor_arguments = offer[1] if new and offer is not None else _pick(rng, good) if good else "()"
        inner = arguments[1].removeprefix("(").removesuffix(")")
        returned = yield "hints", f"({receiver.name}{constructor_arguments}{', ' if inner else ''}{inner})"
        if returned and constructor_arguments not in good:
            good.append(constructor_arguments)
        if new and makes is not None:
            offer = _send(makes, returned)
        arguments = _send(takes, returned)
        if arguments is None:
            if offer is None:
                return
            takes = _by_hints(node, rng)  # the same arguments again, with other objects
            arguments = next(takes, None)


def _send(offers: Candidates, good: bool) -> tuple[str, str] | None:
    try:
        return offers.send(good)
    except StopIteration:
        return None


def _weighted(weights: Sequence[float], rng: random.Random) -> int:
    threshold = rng.random() * sum(weights)
    for k, weight in enumerate(weights):
        threshold -= weight
        if threshold < 0:
            return k
    return len(weights) - 1


_OMITTED = object()


def _omitted(_: random.Random) -> Any:
    """The maker for a parameter that keeps its default."""
    return _OMITTED


def _argument_text(accepted: Sequence[Parameter], values: Sequence[Any], more: Sequence[Any]) -> str:
    """The text of an argument list. values: one for each parameter. more: values for ``*rest``, which are
    used only if all parameters before it are passed by position."""
    by_position: list[str] = []
    by_word: list[str] = []
    is_named = False
    for parameter, value in zip(accepted, values, strict=True):
        if parameter.kind == "rest":
            break
        if value is _OMITTED:
            if parameter.kind == "positional":
                break  # later parameters cannot be passed by position, nor this one by name
            is_named = True
        elif is_named or parameter.kind == "keyword":
            by_word.append(f"{parameter.name}={value!r}")
        else:
            by_position.append(repr(value))
    if len(by_position) == sum(parameter.kind in ("positional", "plain") for parameter in accepted):
        by_position += map(repr, more)
    return f"({', '.join([*by_position, *by_word])})"


def _likely(name: str, makers: Sequence[Maker]) -> list[float]:
    """Initial weights of the makers: the name of a parameter without a type gives a hint."""
    if len(makers) < len(_CALLED):
        return [1.0] * len(makers)
    words = {name.lower(), *name.lower().strip("_").split("_"), name.lower().rstrip("s")}
    return [4.0 if words & _CALLED[maker] else 1.0 for maker in makers]


def _makers(parameter: Parameter) -> list[Maker]:
    if parameter.annotation is not None and (maker := maker_of(parameter.annotation)) is not None:
        return [maker]
    try:
        value = ast.literal_eval(parameter.default) if parameter.default is not None else None
    except (ValueError, TypeError, SyntaxError):
        value = None
    return list(_CALLED) if value is None else [lambda numbers: change(value, numbers)]


def maker_of(annotation: ast.expr) -> Maker | None:
    """The maker for the type of an annotation; None if the type is not known or has no literals."""
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
    optional_makers = [maker_of(part) for part in (parts[:1] if several else parts)]
    makers = [maker for maker in optional_makers if maker is not None]
    if len(makers) < len(optional_makers):
        return None
    if name in ("tuple", "Tuple") and not several:
        return lambda numbers: tuple(maker(numbers) for maker in makers)
    if name in _CONTAINERS and len(makers) == 1:
        return lambda numbers: _CONTAINERS[name]([makers[0](numbers) for _ in range(_length(numbers))])
    if name in ("dict", "Dict", "Mapping", "MutableMapping") and len(makers) == 2:
        return lambda numbers: {makers[0](numbers): makers[1](numbers) for _ in range(_length(numbers))}
    return None


_CONTAINERS: Mapping[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys(("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence"), list),
    **dict.fromkeys(("set", "Set", "AbstractSet", "MutableSet"), set),
    **dict.fromkeys(("tuple", "Tuple"), tuple),
}


def _one_of(optional_makers: Sequence[Maker | None]) -> Maker | None:
    makers = [maker for maker in optional_makers if maker is not None]
    return (lambda numbers: makers[int(numbers.random() * len(makers))](numbers)) if makers else None


def _length(rng: random.Random) -> int:
    return _pick(rng, (0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8))


def _pick(rng: random.Random, choices: Sequence[T]) -> T:
    return choices[int(rng.random() * len(choices))]


def _an_int(rng: random.Random) -> int:
    low, high = _pick(rng, ((0, 1), (0, 9), (0, 9), (-9, 9), (10, 99), (0, 99), (-999, 999), (1000, 10_000)))
    return low + int(rng.random() * (high - low + 1))


def _a_float(rng: random.Random) -> float:
    return _an_int(rng) + _pick(rng, (0.0, 0.5, 0.25, 0.1))


def _a_text(rng: random.Random) -> str:
    letters = _pick(rng, ("ab", "abc", "abcxyz", "aAbB", "01", "0123456789", "ab ", "a1 ,.-", "()[]"))
    if rng.random() < 0.2:
        return str(
            _pick(rng, ("hello world", "Python", "a,b,c", "racecar", "3.14", "-7", "key=value", "Ä ß"))
        )
    return "".join(_pick(rng, letters) for _ in range(_length(rng)))


def _a_bool(rng: random.Random) -> bool:
    return rng.random() < 0.5


def _numbers_list(rng: random.Random) -> list[int]:
    return [_an_int(rng) for _ in range(_length(rng))]


def _texts_list(rng: random.Random) -> list[str]:
    return [_a_text(rng) for _ in range(_length(rng))]


def _rows_list(rng: random.Random) -> list[list[int]]:
    width = 1 + _length(rng) // 2
    return [[_an_int(rng) for _ in range(width)] for _ in range(_length(rng))]


def _counts_dict(rng: random.Random) -> dict[str, int]:
    return {_a_text(rng): _an_int(rng) for _ in range(_length(rng))}


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
_CALLED: Mapping[Maker, frozenset[str]] = {
    maker: frozenset(names.split())
    for maker, names in {
        _an_int: "n m k i j x y a b int num number count size width height index start stop end step depth "
        "length limit min max low high lo hi year month day",
        _a_text: "s str string text txt word line name key prefix suffix sep delimiter char pattern msg "
        "message label title path url html content body",
        _numbers_list: "l lst list seq sequence items item iterable iter array arr data values nums numbers "
        "xs ys heap vector points",
        _texts_list: "words lines names keys strings tokens parts fields iterable seq",
        _counts_dict: "d dict dic mapping map counts counter table config options",
        _a_float: "f r q p ratio rate mean sigma mu alpha weight",
        _a_bool: "flag reverse strict verbose",
        _rows_list: "rows matrix grid board table pairs edges lists seqs sequences iterables",
    }.items()
}
"""Makers for parameters without a type -> names that such parameters often have."""


# -- known inputs, changed -------------------------------------------------------------------------


def _changed(known_inputs: Sequence[str], rng: random.Random) -> Candidates:
    """Known argument lists with one or two changed values."""
    calls = [call for text in known_inputs if (call := _literal_call(text)) is not None]
    texts = set(known_inputs)
    repeated = 0
    while calls and repeated < 200:
        positional, named = _pick(rng, calls)
        positional, named = list(positional), dict(named)
        for _ in range(_pick(rng, (1, 1, 2))):
            index = int(rng.random() * (len(positional) + len(named)))
            if index < len(positional):
                positional[index] = change(positional[index], rng)
            elif named:
                key = list(named)[index - len(positional)]
                named[key] = change(named[key], rng)
        parts = [repr(value) for value in positional] + [f"{name}={value!r}" for name, value in named.items()]
        text = f"({', '.join(parts)})"
        if text in texts:
            repeated += 1
            continue
        texts.add(text)
        good = yield "known", text
        if good and len(calls) < 100:
            calls.append((positional, named))  # so that changes accumulate


def _literal_call(text: str) -> tuple[list[Any], dict[str, Any]] | None:
    call = ast.parse(f"f{text}", mode="eval").body
    assert isinstance(call, ast.Call)
    try:
        named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
        values = [ast.literal_eval(value) for value in call.args]
    except (ValueError, TypeError, SyntaxError):
        return None
    return (values, named) if len(named) == len(call.keywords) and (values or named) else None


def change(value: Any, rng: random.Random) -> Any:
    """A similar value of the same type, or sometimes an edge case of the type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _pick(
            rng, (value + 1, value - 1, -value, 0, 1, 2 * value, value // 2, value + 10, _an_int(rng))
        )
    if isinstance(value, float):
        return _pick(rng, (value + 1, -value, 0.0, value / 2, value * 10, _a_float(rng)))
    if isinstance(value, (str, bytes)):
        return _changed_text(value, rng)
    if isinstance(value, (list, tuple)):
        items = _changed_items(list(value), rng)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(_changed_items(sorted(value, key=repr), rng))
    if isinstance(value, dict):
        items = list(value.items())
        if not items or rng.random() < 0.15:
            key, inner = items[-1] if items else ("a", 1)
            return {**value, change(key, rng): inner}
        if rng.random() < 0.2:
            return dict(items[1:])
        index = int(rng.random() * len(items))
        key, inner = items[index]
        items[index] = (change(key, rng), inner) if rng.random() < 0.4 else (key, change(inner, rng))
        return dict(items)
    return value


def _changed_text(value: Any, rng: random.Random) -> Any:
    index = int(rng.random() * (len(value) + 1))
    source_at = int(rng.random() * (len(value) + 1))
    extra = value[source_at : source_at + 1] or (b"a" if isinstance(value, bytes) else _pick(rng, "a1 Z"))
    if not value:
        return extra
    return _pick(
        rng,
        (
            value[:index] + extra + value[index:],
            value[:index] + value[index + 1 :],
            value[:index] + extra + value[index + 1 :],
            value[::-1],
            value[:0],
            value.upper(),
            value + value,
            value[:index],
        ),
    )


def _changed_items(items: list[Any], rng: random.Random) -> list[Any]:
    if not items:
        return [_an_int(rng)]
    index = int(rng.random() * len(items))
    way = int(rng.random() * 6)
    if way == 0:
        return items[:index] + items[index + 1 :]
    if way == 1:
        return [*items[:index], items[index], *items[index:]]
    if way == 2:
        return items[::-1]
    if way == 3:
        return items[:index]
    items[index] = change(items[index], rng)
    return items


# -- Hypothesis, a model ---------------------------------------------------------------------------


def need_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401  # checks only that it is installed
    except ImportError as error:
        raise MissingExtra("hypothesis", "inputs", "by=hypothesis") from error


def _by_hypothesis(node: Definition, seed: int) -> Candidates:
    """Values that Hypothesis draws for the annotated types, as far as these are built in."""
    import collections.abc
    import typing

    import hypothesis
    from hypothesis import strategies as st

    names = {**vars(collections.abc), **vars(typing)}
    strategies: dict[str, Any] = {}
    accepted = parameters(node)
    for parameter in accepted:
        if parameter.annotation is None or maker_of(parameter.annotation) is None:
            if parameter.default is None:
                return  # its type is not known
            continue
        # Only built-in types and `typing`: maker_of knows no other names, so no code of the program is run.
        kind = eval(compile(ast.Expression(parameter.annotation), "<annotation>", "eval"), dict(names))
        strategies[parameter.name] = st.from_type(eval(kind, dict(names)) if isinstance(kind, str) else kind)
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
    positional_only = {parameter.name for parameter in accepted if parameter.kind == "positional"}
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
    """The prompt that asks a model for inputs."""
    return (
        f"{fenced(code.rstrip(), 'python')}\n\nWrite {count} calls of `{entry}`, one a line and nothing "
        "else, that together run every line of it: usual arguments, edge cases, and some that end in an "
        "exception."
    )


def proposed(answer: str, entry: str) -> Iterable[str]:
    """The argument lists in a model's answer, from all lines with a valid call of the function."""
    for line in answer.splitlines():
        _, call, remainder = line.partition(f"{entry}(")
        for end in range(len(remainder), 0, -1) if call else ():
            if remainder[end - 1] == ")":
                try:
                    yield argument_list(f"({remainder[:end]}", "an answer")
                except InputError:
                    continue
                break
