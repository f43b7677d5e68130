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
"""The same, for `lhs operator= rhs`."""
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

    def binary(self, symbol: str, lhs: Any, rhs: Any, *, inplace: bool = False) -> Any:
        """lhs operator rhs."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return self._of_numbers(symbol, lhs, rhs)
        if isinstance(lhs, (int, float)) and isinstance(rhs, (int, float)):
            return self._of_fractions(symbol, lhs, rhs)
        if isinstance(lhs, complex) or isinstance(rhs, complex):
            raise OutsideLanguage("a complex number")
        if isinstance(lhs, _MEMORY) and type(lhs) is type(rhs) and symbol == "+":
            if inplace and isinstance(lhs, list):
                lhs.extend(rhs)
                return lhs
            return PYTHON["+"](lhs, rhs)
        if symbol == "+" and inplace and isinstance(lhs, list):
            self.in_memory(lambda: lhs.extend(self.iterated(rhs)))  # which sees what it has given
            return lhs
        if symbol == "*" and isinstance(lhs, _MEMORY) and isinstance(rhs, int):
            if len(lhs) * rhs > MOST_ITEMS:
                raise OutsideLanguage(f"a sequence of more than {MOST_ITEMS:,} items")
            if inplace and isinstance(lhs, list):
                lhs *= rhs
                return lhs
            return lhs * rhs
        if symbol == "*" and isinstance(rhs, _MEMORY) and isinstance(lhs, int):
            return self.binary(symbol, rhs, lhs)
        if isinstance(lhs, _HASHED) and isinstance(rhs, _HASHED) and symbol in "|&-^":
            return self.in_memory(
                lambda: IN_PLACE[f"{symbol}="](lhs, rhs) if inplace else PYTHON[symbol](lhs, rhs)
            )
        if symbol == "%" and isinstance(lhs, (str, bytes)):
            raise OutsideLanguage("formatting with %")
        return self._refused(f"{symbol}=" if inplace else symbol, lhs, rhs)

    def _of_numbers(self, symbol: str, lhs: int, rhs: int) -> Any:
        if symbol in _BITS:
            result = self.of_prelude("bitwise", int(lhs), int(rhs), _BITS[symbol])
            return bool(result) if isinstance(lhs, bool) and isinstance(rhs, bool) else result
        if symbol in _NUMBERS:
            return self.of_prelude(_NUMBERS[symbol], int(lhs), int(rhs))
        if symbol == "/":
            return self._of_fractions(symbol, lhs, rhs)
        if symbol == "@":
            return self._refused(symbol, lhs, rhs)
        if lhs.bit_length() + rhs.bit_length() > _LONGEST_BITS:
            raise OutsideLanguage("numbers of more than about 1,000 digits")
        try:
            return self.arithmetic.binary(symbol, int(lhs), int(rhs))
        except DivisionByNought:
            return self._by_nought(symbol, int(lhs), 0)

    def _by_nought(self, symbol: str, value: int | float, nought: int | float) -> Any:
        """Python's own words for a division by nought, which the model says that it is."""
        try:
            PYTHON[symbol](value, nought)
        except ZeroDivisionError as error:
            raise ProgramRaised(error.with_traceback(None)) from None

    def _of_fractions(self, symbol: str, lhs: int | float, rhs: int | float) -> Any:
        """lhs operator rhs for numbers with a point, or lhs / rhs."""
        first, second = ratio(lhs), ratio(rhs)
        if symbol in ("//", "%", "/") and not self.arithmetic.truth(second[0]):
            return self._by_nought(symbol, lhs, 0.0 if isinstance(rhs, float) else 0)
        if symbol == "-":
            symbol, second = "+", (self.arithmetic.negated(second[0]), second[1])
        if symbol in OF_FRACTIONS:
            return joined(self.of_prelude(OF_FRACTIONS[symbol], *first, *second), symbol)
        if symbol not in ("//", "%"):
            raise OutsideLanguage(f"a float ({symbol})")
        quotient = self.of_prelude("fraction_quotient", *first, *second)
        integer = self.arithmetic.binary("//", *quotient)
        if symbol == "//":
            return joined((integer, 1), symbol)
        taken = self.of_prelude("fraction_product", self.arithmetic.negated(int(integer)), 1, *second)
        return joined(self.of_prelude("fraction_sum", *first, *taken), symbol)

    def _refused(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        """Python's own words for operands that an operator does not take."""
        if not isinstance(lhs, Builtin) and not isinstance(rhs, Builtin):
            try:
                (PYTHON | IN_PLACE)[symbol](lhs, rhs)
            except TypeError as error:
                raise ProgramRaised(error.with_traceback(None)) from None
        raise OutsideLanguage(f"{kind_of(lhs).__name__} {symbol} {kind_of(rhs).__name__}")

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> bool:
        """lhs operator rhs, of the six comparisons."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return bool(self.arithmetic.binary(symbol, int(lhs), int(rhs)))
        if isinstance(lhs, (int, float)) and isinstance(rhs, (int, float)):
            first, second = ratio(lhs), ratio(rhs)
            left_product = self.arithmetic.binary("*", first[0], second[1])
            return bool(
                self.arithmetic.binary(symbol, left_product, self.arithmetic.binary("*", second[0], first[1]))
            )
        if symbol in ("==", "!="):
            same = self._same(lhs, rhs)
            return same if symbol == "==" else self.arithmetic.choice("not", same)
        comparison = symbol, lhs, rhs
        if symbol in (">", ">="):
            lhs, rhs, symbol = rhs, lhs, {">": "<", ">=": "<="}[symbol]
        if isinstance(lhs, str) and isinstance(rhs, str):
            return bool(self.of_prelude("less_text", lhs, rhs, symbol == "<="))
        if isinstance(lhs, (list, tuple)) and type(lhs) is type(rhs):
            return self._less_items(comparison, lhs, rhs, symbol)
        if isinstance(lhs, (set, frozenset)) and isinstance(rhs, (set, frozenset)):
            return bool(PYTHON[symbol](lhs, rhs))
        return bool(self._refused(*comparison))

    def _less_items(self, comparison: tuple[str, Any, Any], lhs: Any, rhs: Any, symbol: str) -> bool:
        """comparison: as the program has it; an error of its items names that operator."""
        try:
            return bool(self.of_prelude("less_items", lhs, rhs, symbol == "<="))
        except ProgramRaised as raised:
            if isinstance(raised.error, TypeError):
                self._refused(*comparison)
            raise

    def _same(self, lhs: Any, rhs: Any) -> bool:
        if isinstance(lhs, str) and isinstance(rhs, str):
            return bool(self.of_prelude("same_text", lhs, rhs))
        if isinstance(lhs, (list, tuple)) and type(lhs) is type(rhs):
            return bool(self.of_prelude("same_items", lhs, rhs))
        if isinstance(lhs, dict) and isinstance(rhs, dict):
            return bool(self.of_prelude("same_mapping", lhs, rhs))
        if isinstance(lhs, (set, frozenset)) and isinstance(rhs, (set, frozenset)):
            return lhs == rhs
        for operand in (lhs, rhs):
            if not isinstance(operand, _COMPARED) and kind_of(operand) not in _WITH_IDENTITY:
                raise OutsideLanguage(f"a value of the kind {kind_of(operand).__name__} in a comparison")
        return lhs is rhs  # of two kinds, or with an identity alone

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
