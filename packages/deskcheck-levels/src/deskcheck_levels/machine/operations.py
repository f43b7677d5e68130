"""Operators of the language: on whole numbers the model's own, on all else functions of the prelude."""

import operator
from collections.abc import KeysView
from types import FunctionType, GeneratorType, NoneType
from typing import Any

from deskcheck_levels.machine import prelude
from deskcheck_levels.machine.attributes import kind_of
from deskcheck_levels.machine.frames import Builtin, Function, OutsideLanguage, ProgramRaised
from deskcheck_levels.machine.halves import OF_FRACTIONS, joined, ratio
from deskcheck_levels.machine.iterators import Counting
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.working import DivisionByNought

_NAMES_OF = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "//": "floordiv",
    "%": "mod",
    "/": "truediv",
    "**": "pow",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
    "@": "matmul",
}
PYTHON: dict[str, Any] = {
    **{symbol: getattr(operator, f"__{name}__") for symbol, name in _NAMES_OF.items()},
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""For what memory does (concatenation), and for the words of a TypeError; never for numbers."""
IN_PLACE: dict[str, Any] = {
    f"{symbol}=": getattr(operator, f"__i{name}__") for symbol, name in _NAMES_OF.items()
}
"""The same, for `left operator= right`."""
_BITS = {"&": 0, "|": 1, "^": 2}
_NUMBERS = {"**": "power", "<<": "shifted_left", ">>": "shifted_right"}
_MEMORY = (str, list, tuple)
MOST_ITEMS = 10_000_000
_LONGEST_BITS = 3_500
"""Of both operands: they could be worked out, but for hours."""
_COMPARED = (int, float, str, list, tuple, dict, set, frozenset, NoneType, BaseException, Builtin, type)
_WITH_IDENTITY = (FunctionType, GeneratorType, enumerate, map, filter, zip)
"""Together with `_COMPARED`, all types with a known ==. Two values of one kind are compared earlier."""
_HASHED = (set, frozenset, dict)
"""What finds its items by their hashes, which memory does."""


class Operations:
    """Operators over values, by an `Arithmetic` and by functions that `call` runs."""

    arithmetic: Arithmetic

    def call(self, function: Any, args: list[Any], keywords: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError

    def of_prelude(self, name: str, *args: Any) -> Any:
        """The result of a function of the prelude."""
        return self.call(prelude_names()[name], list(args))

    def binary(self, symbol: str, left: Any, right: Any, *, inplace: bool = False) -> Any:
        """left operator right."""
        if isinstance(left, int) and isinstance(right, int):
            return self._of_numbers(symbol, left, right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return self._of_fractions(symbol, left, right)
        if isinstance(left, complex) or isinstance(right, complex):
            raise OutsideLanguage("a complex number")
        if isinstance(left, _MEMORY) and type(left) is type(right) and symbol == "+":
            if inplace and isinstance(left, list):
                left.extend(right)
                return left
            return PYTHON["+"](left, right)
        if symbol == "+" and inplace and isinstance(left, list):
            self.in_memory(lambda: left.extend(self.iterated(right)))  # which sees what it has given
            return left
        if symbol == "*" and isinstance(left, _MEMORY) and isinstance(right, int):
            if len(left) * right > MOST_ITEMS:
                raise OutsideLanguage(f"a sequence of more than {MOST_ITEMS:,} items")
            if inplace and isinstance(left, list):
                left *= right
                return left
            return left * right
        if symbol == "*" and isinstance(right, _MEMORY) and isinstance(left, int):
            return self.binary(symbol, right, left)
        if isinstance(left, _HASHED) and isinstance(right, _HASHED) and symbol in "|&-^":
            return self.in_memory(
                lambda: IN_PLACE[f"{symbol}="](left, right) if inplace else PYTHON[symbol](left, right)
            )
        if symbol == "%" and isinstance(left, (str, bytes)):
            raise OutsideLanguage("formatting with %")
        return self._refused(f"{symbol}=" if inplace else symbol, left, right)

    def _of_numbers(self, symbol: str, left: int, right: int) -> Any:
        if symbol in _BITS:
            result = self.of_prelude("bitwise", int(left), int(right), _BITS[symbol])
            return bool(result) if isinstance(left, bool) and isinstance(right, bool) else result
        if symbol in _NUMBERS:
            return self.of_prelude(_NUMBERS[symbol], int(left), int(right))
        if symbol == "/":
            return self._of_fractions(symbol, left, right)
        if symbol == "@":
            return self._refused(symbol, left, right)
        if left.bit_length() + right.bit_length() > _LONGEST_BITS:
            raise OutsideLanguage("numbers of more than about 1,000 digits")
        try:
            return self.arithmetic.binary(symbol, int(left), int(right))
        except DivisionByNought:
            return self._by_nought(symbol, int(left), 0)

    def _by_nought(self, symbol: str, value: int | float, nought: int | float) -> Any:
        """Python's own words for a division by nought, which the model says that it is."""
        try:
            PYTHON[symbol](value, nought)
        except ZeroDivisionError as error:
            raise ProgramRaised(error.with_traceback(None)) from None

    def _of_fractions(self, symbol: str, left: int | float, right: int | float) -> Any:
        """left operator right for numbers with a point, or left / right."""
        first, second = ratio(left), ratio(right)
        if symbol in ("//", "%", "/") and not self.arithmetic.truth(second[0]):
            return self._by_nought(symbol, left, 0.0 if isinstance(right, float) else 0)
        if symbol == "-":
            symbol, second = "+", (self.arithmetic.negated(second[0]), second[1])
        if symbol in OF_FRACTIONS:
            return joined(self.of_prelude(OF_FRACTIONS[symbol], *first, *second), symbol)
        if symbol not in ("//", "%"):
            raise OutsideLanguage(f"a number with a point ({symbol})")
        quotient = self.of_prelude("fraction_quotient", *first, *second)
        integer = self.arithmetic.binary("//", *quotient)
        if symbol == "//":
            return joined((integer, 1), symbol)
        taken = self.of_prelude("fraction_product", self.arithmetic.negated(int(integer)), 1, *second)
        return joined(self.of_prelude("fraction_sum", *first, *taken), symbol)

    def _refused(self, symbol: str, left: Any, right: Any) -> Any:
        """Python's own words for operands that an operator does not take."""
        if not isinstance(left, Builtin) and not isinstance(right, Builtin):
            try:
                (PYTHON | IN_PLACE)[symbol](left, right)
            except TypeError as error:
                raise ProgramRaised(error.with_traceback(None)) from None
        raise OutsideLanguage(f"{kind_of(left).__name__} {symbol} {kind_of(right).__name__}")

    def compare(self, symbol: str, left: Any, right: Any) -> bool:
        """left operator right, of the six comparisons."""
        if isinstance(left, int) and isinstance(right, int):
            return bool(self.arithmetic.binary(symbol, int(left), int(right)))
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            first, second = ratio(left), ratio(right)
            left_product = self.arithmetic.binary("*", first[0], second[1])
            return bool(
                self.arithmetic.binary(symbol, left_product, self.arithmetic.binary("*", second[0], first[1]))
            )
        if symbol in ("==", "!="):
            same = self._same(left, right)
            return same if symbol == "==" else self.arithmetic.choice("not", same)
        comparison = symbol, left, right
        if symbol in (">", ">="):
            left, right, symbol = right, left, {">": "<", ">=": "<="}[symbol]
        if isinstance(left, str) and isinstance(right, str):
            return bool(self.of_prelude("less_text", left, right, symbol == "<="))
        if isinstance(left, (list, tuple)) and type(left) is type(right):
            return self._less_items(comparison, left, right, symbol)
        if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
            return bool(PYTHON[symbol](left, right))
        return bool(self._refused(*comparison))

    def _less_items(self, comparison: tuple[str, Any, Any], left: Any, right: Any, symbol: str) -> bool:
        """comparison: as the program has it; an error of its items names that operator."""
        try:
            return bool(self.of_prelude("less_items", left, right, symbol == "<="))
        except ProgramRaised as raised:
            if isinstance(raised.error, TypeError):
                self._refused(*comparison)
            raise

    def _same(self, left: Any, right: Any) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return bool(self.of_prelude("same_text", left, right))
        if isinstance(left, (list, tuple)) and type(left) is type(right):
            return bool(self.of_prelude("same_items", left, right))
        if isinstance(left, dict) and isinstance(right, dict):
            return bool(self.of_prelude("same_mapping", left, right))
        if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
            return left == right
        for operand in (left, right):
            if not isinstance(operand, _COMPARED) and kind_of(operand) not in _WITH_IDENTITY:
                raise OutsideLanguage(f"a value of the kind {kind_of(operand).__name__} that is compared")
        return left is right  # of two kinds, or with an identity alone

    def contains(self, item: Any, where: Any) -> bool:
        """item in where."""
        if isinstance(where, (dict, set, frozenset, KeysView)):
            return bool(self.in_memory(lambda: item in where))
        if isinstance(where, str):
            if not isinstance(item, str):
                return bool(self.in_memory(lambda: item in where))
            return bool(self.compare(">=", self.of_prelude("text_find", where, item), 0))
        if isinstance(where, range) and isinstance(item, int):
            return bool(self.of_prelude("in_range", int(item), where.start, where.stop, where.step))
        if not hasattr(kind_of(where), "__iter__"):
            return bool(self.in_memory(lambda: item in where))
        return bool(self.of_prelude("among", item, self.iterated(where)))

    def truth(self, value: Any) -> bool:
        """Whether a value is true. A text or a container is true if its length is not nought."""
        if value is None or isinstance(value, int):
            return self.arithmetic.truth(value)
        if hasattr(kind_of(value), "__len__"):
            return self.arithmetic.truth(len(value))
        if isinstance(value, float):
            return self.arithmetic.truth(ratio(value)[0])
        return self.arithmetic.truth(True)

    def negated(self, value: Any) -> Any:
        """The negative value."""
        if isinstance(value, int):
            return self.arithmetic.negated(int(value))
        if isinstance(value, float):
            numerator, denominator = ratio(value)
            return joined((self.arithmetic.negated(numerator), denominator), "neg")
        return self.in_memory(lambda: -value)

    def positive(self, value: Any) -> Any:
        """The positive value."""
        return (
            self.binary("+", value, 0) if isinstance(value, (int, float)) else self.in_memory(lambda: +value)
        )

    def inverted(self, value: Any) -> Any:
        """The inverted value, which is -value - 1."""
        if isinstance(value, int):
            return self.arithmetic.binary("-", self.arithmetic.negated(int(value)), 1)
        return self.in_memory(lambda: ~value)

    def iterated(self, value: Any) -> Any:
        """An iterator over a value. The model counts in a range; all else is in memory."""
        if isinstance(value, range):
            return Counting(self, value.start, value.stop, value.step)
        return self.in_memory(lambda: iter(value))

    def in_memory(self, act: Any) -> Any:
        """What memory does or says: an exception of Python's is the program's."""
        try:
            return act()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, RecursionError):
                raise OutsideLanguage("too deep a recursion") from None
            raise ProgramRaised(error.with_traceback(None)) from None


def prelude_names() -> dict[str, Any]:
    """Global variables of the prelude, its functions as the machine's."""
    if not _NAMES:
        for name, value in vars(prelude).items():
            if not name.startswith("__"):
                _NAMES[name] = (
                    Builtin(name)
                    if name == "outside"
                    else Function(value.__code__, _NAMES, quiet=True, defaults=value.__defaults__ or ())
                    if callable(value) and hasattr(value, "__code__")
                    else value
                )
    return _NAMES


_NAMES: dict[str, Any] = {}
