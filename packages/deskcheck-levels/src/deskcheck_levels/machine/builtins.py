"""Builtin functions and methods: which the machine has as memory, and which the prelude works out."""

import builtins
import string
from itertools import islice
from typing import Any

from deskcheck_levels.machine import prelude
from deskcheck_levels.machine.attributes import attribute, attribute_of_type, kind_of
from deskcheck_levels.machine.frames import Builtin, BuiltinType, OutsideLanguage, ProgramRaised
from deskcheck_levels.machine.halves import ratio
from deskcheck_levels.machine.iterators import Counting, Enumerated, Filtered, Generator, Mapped
from deskcheck_levels.machine.operations import MOST_ITEMS, Operations, prelude_names
from deskcheck_levels.machine.prelude import MISSING

_TYPES: dict[str, type] = {
    name: getattr(builtins, name) for name in "bool dict float frozenset int list range set str tuple".split()
}
_FUNCTIONS = (
    "abs all any bool chr dict divmod enumerate filter frozenset int isinstance iter len list map max min "
    "next ord pow print range repr reversed round set sorted str sum tuple type zip"
)
_OTHER_TYPES = ("enumerate", "filter", "map", "reversed", "type", "zip")
BUILTINS: dict[str, Any] = {
    name: (BuiltinType if name in _TYPES or name in _OTHER_TYPES else Builtin)(name)
    for name in _FUNCTIONS.split()
} | {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception)
}

OF_TEXT = tuple(name.removeprefix("text_") for name in vars(prelude) if name.startswith("text_"))
"""Methods of texts that the prelude works out: its functions ``text_...``."""
_MEMORY: dict[type, frozenset[str]] = {
    list: frozenset("append clear copy extend insert pop reverse".split()),
    dict: frozenset("clear copy get items keys pop popitem setdefault update values fromkeys".split()),
    set: frozenset(
        "add clear copy difference difference_update discard intersection intersection_update isdisjoint "
        "issubset issuperset pop remove symmetric_difference symmetric_difference_update union update".split()
    ),
    frozenset: frozenset(
        "copy difference intersection isdisjoint issubset issuperset symmetric_difference union".split()
    ),
    str: frozenset({"join"}),
}
"""Methods that only move what is in memory, or find it by its hash: the machine's own."""
_ONE_ITERABLE = frozenset(
    "extend isdisjoint issubset issuperset symmetric_difference symmetric_difference_update".split()
)
_ITERABLES = frozenset("difference difference_update intersection intersection_update union update".split())
"""Methods of lists and sets that go through their one argument, or through each."""
_COMPUTED = "bcoxXeEfFgGn%,_"
"""Formats that give other digits than those in memory."""
_DEEPEST_TEXT = 100
"""Python's own limit depends on how deep the program is in calls."""
_READY = (list, tuple, str, set, frozenset, dict)
"""Types that memory holds as a whole; others, such as ranges and generators, are iterated first."""


class Builtins(Operations):
    """Calls of builtins and of methods of builtin types."""

    output: list[str]

    def builtin(self, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        """What a builtin function returns."""
        act = getattr(self, f"_{name}", None)
        if act is None:
            raise OutsideLanguage(f"the builtin {name}")
        try:
            return act(*args, **keywords)
        except TypeError as error:
            raise OutsideLanguage(f"arguments of {name}: {error}") from error

    # ---- memory ----

    def _len(self, a: Any) -> Any:
        return self.in_memory(lambda: len(a))

    def _ord(self, a: Any) -> Any:
        code = self.in_memory(lambda: ord(a))
        if code > 127:
            raise OutsideLanguage("a character that is not ASCII")
        return code

    def _chr(self, a: Any) -> Any:
        text = self.in_memory(lambda: chr(a))
        if a > 127:
            raise OutsideLanguage("a character that is not ASCII")
        return text

    def _bool(self, a: Any = False) -> Any:
        return self.truth(a)

    def _int(self, a: Any = 0, *base: Any) -> Any:
        if isinstance(a, float):
            return self.of_prelude("without_fraction", *ratio(a))
        if base:
            raise OutsideLanguage("int of a text in a base")
        return self.in_memory(lambda: int(a))

    def _str(self, a: Any = "") -> Any:
        return self.formatted(a, "str", "")

    def _repr(self, a: Any) -> Any:
        return self.formatted(a, "repr", "")

    def _list(self, a: Any = ()) -> Any:
        return self.in_memory(lambda: list(self.iterated(a)))

    def _tuple(self, a: Any = ()) -> Any:
        return a if isinstance(a, tuple) else self.in_memory(lambda: tuple(self.iterated(a)))

    def _set(self, a: Any = ()) -> Any:
        return self.in_memory(lambda: set(self._by_hash(a)))

    def _frozenset(self, a: Any = ()) -> Any:
        return self.in_memory(lambda: frozenset(self._by_hash(a)))

    def _by_hash(self, a: Any) -> Any:
        """The items for a set, whose order depends on whether they come from a set or a dictionary."""
        return a if isinstance(a, (set, frozenset, dict)) else self.iterated(a)

    def _dict(self, a: Any = (), **more: Any) -> Any:
        return self.in_memory(
            lambda: dict(a if isinstance(a, (dict, list, tuple)) else self.iterated(a), **more)
        )

    def _range(self, *args: Any) -> Any:
        return self.in_memory(lambda: range(*args))

    def _iter(self, a: Any) -> Any:
        return self.iterated(a)

    def _next(self, a: Any, *default: Any) -> Any:
        try:
            return next(a)
        except StopIteration as error:
            if default:
                return default[0]
            raise ProgramRaised(error.with_traceback(None)) from None
        except RuntimeError as error:  # what is gone through has changed
            raise ProgramRaised(error.with_traceback(None)) from None

    def _reversed(self, a: Any) -> Any:
        if isinstance(a, range):
            count = len(a)
            if not count:
                return Counting(self, 0, 0, 1)
            return Counting(self, a[-1], self.binary("-", a.start, a.step), self.negated(a.step))
        return self.in_memory(lambda: reversed(a))

    def _zip(self, *several: Any, strict: bool = False) -> Any:
        iterators = [self.iterated(items) for items in several]
        return self.in_memory(lambda: zip(*iterators, strict=strict))

    def _enumerate(self, items: Any, start: Any = 0) -> Any:
        if not isinstance(start, int):
            raise OutsideLanguage("enumerate from a start that is not whole")
        return Enumerated(self, self.iterated(items), start)

    def _map(self, function: Any, *several: Any) -> Any:
        if not several:
            raise OutsideLanguage("map without iterables")
        return Mapped(self, function, [self.iterated(items) for items in several])

    def _filter(self, function: Any, items: Any) -> Any:
        return Filtered(self, function, self.iterated(items))

    def _isinstance(self, a: Any, kinds: Any) -> Any:
        types = [_TYPES.get(kind.name) if isinstance(kind, Builtin) else kind for kind in _several(kinds)]
        if None in types:
            raise OutsideLanguage("isinstance with a class that is not builtin")
        return isinstance(a, tuple([kind for kind in types if kind is not None]))

    def _type(self, a: Any) -> Any:
        if isinstance(a, BaseException):
            return type(a)
        name = kind_of(a).__name__
        return BUILTINS.get(name) or self._unknown(f"the type {name}")

    def _unknown(self, what: str) -> Any:
        raise OutsideLanguage(what)

    def _print(self, *args: Any, sep: str = " ", end: str = "\n") -> None:
        self.output.append(sep.join([self.formatted(arg, "str", "") for arg in args]) + end)

    def _outside(self, what: str) -> Any:
        """Only for the prelude: programs do not have this name."""
        raise OutsideLanguage(what)

    # ---- worked out ----

    def _abs(self, a: Any) -> Any:
        return self._whole("absolute", a)

    def _whole(self, name: str, *numbers: Any) -> Any:
        for a in numbers:
            if not isinstance(a, (int, float)):
                self.in_memory(lambda a=a: abs(a))
        return self.of_prelude(name, *numbers)

    def _divmod(self, a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return self.binary("//", a, b), self.binary("%", a, b)
        return self._unknown("divmod of numbers that are not whole")

    def _pow(self, a: Any, b: Any, *modulus: Any) -> Any:
        if not modulus or modulus == (None,):
            return self.binary("**", a, b)
        if not all(isinstance(number, int) for number in (a, b, *modulus)):
            raise OutsideLanguage("pow with a modulus and numbers that are not whole")
        if not self.truth(modulus[0]):
            raise ProgramRaised(ValueError("pow() 3rd argument cannot be 0"))
        return self.of_prelude("power_modulo", int(a), int(b), int(modulus[0]))

    def _round(self, a: Any, *digits: Any) -> Any:
        if not isinstance(a, (int, float)) or digits:
            raise OutsideLanguage("round to digits")
        return self.of_prelude("rounded", *ratio(a))

    def _sum(self, items: Any, start: Any = 0) -> Any:
        iterator = self.iterated(items)
        if isinstance(start, str):
            raise ProgramRaised(TypeError("sum() can't sum strings [use ''.join(seq) instead]"))
        return self.of_prelude("summed", iterator, start)

    def _all(self, items: Any) -> Any:
        return self.of_prelude("all_true", self.iterated(items))

    def _any(self, items: Any) -> Any:
        return self.of_prelude("any_true", self.iterated(items))

    def _max(self, *items: Any, key: Any = None, default: Any = MISSING) -> Any:
        return self._extreme(items, key, default, True, "max")

    def _min(self, *items: Any, key: Any = None, default: Any = MISSING) -> Any:
        return self._extreme(items, key, default, False, "min")

    def _extreme(self, items: Any, key: Any, default: Any, largest: bool, name: str) -> Any:
        if not items:
            raise OutsideLanguage(f"{name} without arguments")
        iterator = self.iterated(items[0]) if len(items) == 1 else iter(items)
        return self.of_prelude("extreme", iterator, key, default, largest, name)

    def _sorted(self, items: Any, *, key: Any = None, reverse: Any = False) -> Any:
        values = self._list(items)
        keys = values if key is None else [self.call(key, [value]) for value in values]
        backward = self.truth(reverse)
        try:
            return self.of_prelude("in_order", values, keys, backward)
        except ProgramRaised as raised:
            if isinstance(raised.error, TypeError):  # Python meets another pair first, and names its kinds
                self.in_memory(lambda: list(keys).sort(reverse=backward))
            raise

    def _sort(self, owner: list[Any], **how: Any) -> None:
        """`list.sort`: a key function sees the list empty."""
        values = list(owner)
        owner.clear()
        try:
            ordered = self._sorted(values, **how)
        except ProgramRaised as raised:
            if isinstance(raised.error, TypeError):
                raise OutsideLanguage("a list whose sort in place fails") from None
            owner[:] = values
            raise
        changed = bool(owner)
        owner[:] = ordered
        if changed:
            raise ProgramRaised(ValueError("list modified during sort"))

    # ---- methods, items, text ----

    def attribute(self, owner: Any, name: str) -> Any:
        """owner.name."""
        if name == "__class__":
            return self._type(owner)
        if isinstance(owner, BuiltinType):
            return attribute_of_type(owner, _TYPES.get(owner.name), name)
        return attribute(owner, name)

    def method(self, owner: Any, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        """The result of a method of a builtin type."""
        kind = type(owner)
        if kind is str and name in OF_TEXT:
            self._arguments_of_text(name, args, keywords)
            return self.call(prelude_names()[f"text_{name}"], [owner, *args], keywords)
        if kind is str and name == "format":
            return self._format(owner, args, keywords)
        if isinstance(owner, Builtin):
            if owner.name in ("str", "list", "dict", "set") and args and name != "fromkeys":
                return self.method(args[0], name, args[1:], keywords)
            if owner.name == "dict" and name == "fromkeys":
                keys = list(self.iterated(args[0]))
                return dict.fromkeys(keys, *args[1:])
        if name in _MEMORY.get(kind, ()):
            return self._in_memory_method(owner, name, args, keywords)
        if kind in (list, tuple) and name == "count":
            return self.of_prelude("count_of", owner, *args)
        if (
            kind in (list, tuple)
            and name == "index"
            and args
            and all(isinstance(argument, int) for argument in args[1:])
        ):
            return self.of_prelude("index_of", owner, args[0], kind.__name__, *args[1:])
        if kind is Generator and name == "send":
            return self._next_of(owner, args)
        if kind is list and name == "remove":
            return self.of_prelude("removed", owner, *args)
        if kind is list and name == "sort" and not args:
            self._sort(owner, **keywords)
            return None
        if kind is range and name in ("count", "index"):
            raise OutsideLanguage(f"range.{name}")
        raise OutsideLanguage(f"the method {kind_of(owner).__name__}.{name}")

    def _format(self, text: str, args: list[Any], keywords: dict[str, Any]) -> str:
        """`str.format`: which value goes where is memory, as are their texts; what computes is outside."""
        values = [*args, *keywords.values()]
        if not all(is_plain(value) and not nested_deeper(value, _DEEPEST_TEXT) for value in values):
            raise OutsideLanguage("str.format of a value without plain text")
        for _, field, spec, _ in self.in_memory(lambda: list(string.Formatter().parse(text))):
            if field is not None and ("." in field or "{" in (spec or "")):
                raise OutsideLanguage(f"the field {field!r} of str.format")
            if spec and (spec[-1] in _COMPUTED or any(isinstance(value, float) for value in values)):
                raise OutsideLanguage(f"the format {spec}")
        return str(self.in_memory(lambda: text.format(*args, **keywords)))

    def _next_of(self, owner: Generator, args: list[Any]) -> Any:
        try:
            return owner.send(*args)
        except StopIteration as error:
            raise ProgramRaised(error.with_traceback(None)) from None

    def _arguments_of_text(self, name: str, args: list[Any], keywords: dict[str, Any]) -> None:
        """Python's own words for arguments that a text's method does not take, found with an empty text."""
        if name in ("center", "expandtabs", "ljust", "rjust", "zfill"):
            values = [*args, *keywords.values()]
            if any(isinstance(value, int) and abs(value) > MOST_ITEMS for value in values):
                raise OutsideLanguage(f"a sequence of more than {MOST_ITEMS:,} items")
        try:
            getattr("", name)(*args, **keywords)
        except (TypeError, OverflowError) as error:
            raise ProgramRaised(error.with_traceback(None)) from None
        except ValueError:
            pass  # whether a text is found, and what a separator may be, the prelude says

    def _in_memory_method(self, owner: Any, name: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        single = len(args) == 1  # else memory says what is wrong
        if name == "join" and single and not isinstance(args[0], _READY):
            if not hasattr(kind_of(args[0]), "__iter__"):
                raise ProgramRaised(TypeError("can only join an iterable"))
            args = [self._list(args[0])]
        elif not isinstance(owner, dict) and (name in _ITERABLES or (name in _ONE_ITERABLE and single)):
            args = [
                argument if isinstance(argument, _READY) else self.iterated(argument) for argument in args
            ]
        return self.in_memory(lambda: getattr(owner, name)(*args, **keywords))

    def item(self, owner: Any, key: Any) -> Any:
        """owner[key], which memory gives."""
        if isinstance(owner, (Builtin, type)):
            raise OutsideLanguage("a type with a type in brackets")
        return self.in_memory(lambda: owner[key])

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        """owner[key] = value."""
        if isinstance(key, slice) and isinstance(owner, list) and hasattr(kind_of(value), "__iter__"):
            value = self._list(value)  # else memory says what is wrong

        def store() -> None:
            owner[key] = value

        self.in_memory(store)

    def unpacked(self, value: Any, count: int) -> list[Any]:
        """So many items of a value, for as many targets."""
        items = self.items_to_unpack(value, count + 1)
        if len(items) < count:
            raise ProgramRaised(
                ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
            )
        if len(items) > count:
            raise ProgramRaised(ValueError(f"too many values to unpack (expected {count})"))
        return items

    def items_to_unpack(self, value: Any, limit: int | None = None) -> list[Any]:
        """The items of a value for targets, up to `limit`: further items have no target."""
        if not hasattr(kind_of(value), "__iter__"):
            raise ProgramRaised(TypeError(f"cannot unpack non-iterable {kind_of(value).__name__} object"))
        iterator = self.iterated(value)
        return list(self.in_memory(lambda: list(islice(iterator, limit))))

    def formatted(self, value: Any, conversion: str | None, spec: str) -> str:
        """A value as text, with the digits and signs in memory."""
        inside = value.args if isinstance(value, BaseException) else value
        if nested_deeper(inside, _DEEPEST_TEXT):
            raise OutsideLanguage(f"the text of a value nested more than {_DEEPEST_TEXT} deep")
        if not is_plain(inside):
            raise OutsideLanguage(f"a {kind_of(value).__name__} as text, or one of its items")
        if spec and (isinstance(value, float) or spec[-1] in _COMPUTED):
            raise OutsideLanguage(f"the format {spec}")
        text = {"str": str, "repr": repr, "ascii": ascii, None: lambda given: given}[conversion](value)  # type: ignore[operator]
        return str(self.in_memory(lambda: format(text, spec)))


def is_plain(value: Any, passed: set[int] | None = None) -> bool:
    """Whether a value's text says all of it. passed: containers that are being looked at, or were."""
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        passed = set() if passed is None else passed
        if id(value) in passed:
            return True
        passed.add(id(value))
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        return all(is_plain(part, passed) for part in parts)
    return value is None or value is ... or isinstance(value, (int, float, str, range))


def _several(kinds: Any) -> tuple[Any, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def nested_deeper(value: Any, limit: int) -> bool:
    """Whether containers are nested more than `most` deep. A container inside itself adds no depth."""
    level, passed = [value], set[int]()
    for _ in range(limit + 1):
        level = [
            container
            for container in level
            if isinstance(container, (list, tuple, set, frozenset, dict)) and container
        ]
        level = [container for container in level if id(container) not in passed]
        if not level:
            return False
        passed.update(map(id, level))
        level = [
            part
            for container in level
            for part in ([*container, *container.values()] if isinstance(container, dict) else container)
        ]
    return True
