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
    **{op: getattr(operator, f"__{name}__") for op, name in _NAMES_OF.items()},
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""For what memory does (concatenation), and for the words of a TypeError; never for numbers."""
IN_PLACE: dict[str, Any] = {f"{op}=": getattr(operator, f"__i{name}__") for op, name in _NAMES_OF.items()}
"""The same, for `a op= b`."""
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

    def binary(self, op: str, a: Any, b: Any, *, inplace: bool = False) -> Any:
        """a op b."""
        if isinstance(a, int) and isinstance(b, int):
            return self._of_numbers(op, a, b)
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return self._of_fractions(op, a, b)
        if isinstance(a, complex) or isinstance(b, complex):
            raise OutsideLanguage("a complex number")
        if isinstance(a, _MEMORY) and type(a) is type(b) and op == "+":
            if inplace and isinstance(a, list):
                a.extend(b)
                return a
            return PYTHON["+"](a, b)
        if op == "+" and inplace and isinstance(a, list):
            self.in_memory(lambda: a.extend(self.iterated(b)))  # which sees what it has given
            return a
        if op == "*" and isinstance(a, _MEMORY) and isinstance(b, int):
            if len(a) * b > MOST_ITEMS:
                raise OutsideLanguage(f"a sequence of more than {MOST_ITEMS:,} items")
            if inplace and isinstance(a, list):
                a *= b
                return a
            return a * b
        if op == "*" and isinstance(b, _MEMORY) and isinstance(a, int):
            return self.binary(op, b, a)
        if isinstance(a, _HASHED) and isinstance(b, _HASHED) and op in "|&-^":
            return self.in_memory(lambda: IN_PLACE[f"{op}="](a, b) if inplace else PYTHON[op](a, b))
        if op == "%" and isinstance(a, (str, bytes)):
            raise OutsideLanguage("formatting with %")
        return self._refused(f"{op}=" if inplace else op, a, b)

    def _of_numbers(self, op: str, a: int, b: int) -> Any:
        if op in _BITS:
            result = self.of_prelude("bitwise", int(a), int(b), _BITS[op])
            return bool(result) if isinstance(a, bool) and isinstance(b, bool) else result
        if op in _NUMBERS:
            return self.of_prelude(_NUMBERS[op], int(a), int(b))
        if op == "/":
            return self._of_fractions(op, a, b)
        if op == "@":
            return self._refused(op, a, b)
        if a.bit_length() + b.bit_length() > _LONGEST_BITS:
            raise OutsideLanguage("numbers of more than about 1,000 digits")
        try:
            return self.arithmetic.binary(op, int(a), int(b))
        except DivisionByNought:
            return self._by_nought(op, int(a), 0)

    def _by_nought(self, op: str, a: int | float, nought: int | float) -> Any:
        """Python's own words for a division by nought, which the model says that it is."""
        try:
            PYTHON[op](a, nought)
        except ZeroDivisionError as error:
            raise ProgramRaised(error.with_traceback(None)) from None

    def _of_fractions(self, op: str, a: int | float, b: int | float) -> Any:
        """a op b where one has a point, or a / b."""
        first, second = ratio(a), ratio(b)
        if op in ("//", "%", "/") and not self.arithmetic.truth(second[0]):
            return self._by_nought(op, a, 0.0 if isinstance(b, float) else 0)
        if op == "-":
            op, second = "+", (self.arithmetic.negated(second[0]), second[1])
        if op in OF_FRACTIONS:
            return joined(self.of_prelude(OF_FRACTIONS[op], *first, *second), op)
        if op not in ("//", "%"):
            raise OutsideLanguage(f"a number with a point ({op})")
        quotient = self.of_prelude("fraction_quotient", *first, *second)
        integer = self.arithmetic.binary("//", *quotient)
        if op == "//":
            return joined((integer, 1), op)
        taken = self.of_prelude("fraction_product", self.arithmetic.negated(int(integer)), 1, *second)
        return joined(self.of_prelude("fraction_sum", *first, *taken), op)

    def _refused(self, op: str, a: Any, b: Any) -> Any:
        """Python's own words for operands that an operator does not take."""
        if not isinstance(a, Builtin) and not isinstance(b, Builtin):
            try:
                (PYTHON | IN_PLACE)[op](a, b)
            except TypeError as error:
                raise ProgramRaised(error.with_traceback(None)) from None
        raise OutsideLanguage(f"{kind_of(a).__name__} {op} {kind_of(b).__name__}")

    def compare(self, op: str, a: Any, b: Any) -> bool:
        """a op b, of the six comparisons."""
        if isinstance(a, int) and isinstance(b, int):
            return bool(self.arithmetic.binary(op, int(a), int(b)))
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            first, second = ratio(a), ratio(b)
            left_product = self.arithmetic.binary("*", first[0], second[1])
            return bool(
                self.arithmetic.binary(op, left_product, self.arithmetic.binary("*", second[0], first[1]))
            )
        if op in ("==", "!="):
            same = self._same(a, b)
            return same if op == "==" else self.arithmetic.choice("not", same)
        comparison = op, a, b
        if op in (">", ">="):
            a, b, op = b, a, {">": "<", ">=": "<="}[op]
        if isinstance(a, str) and isinstance(b, str):
            return bool(self.of_prelude("less_text", a, b, op == "<="))
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            return self._less_items(comparison, a, b, op)
        if isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
            return bool(PYTHON[op](a, b))
        return bool(self._refused(*comparison))

    def _less_items(self, comparison: tuple[str, Any, Any], a: Any, b: Any, op: str) -> bool:
        """comparison: as the program has it; an error of its items names that operator."""
        try:
            return bool(self.of_prelude("less_items", a, b, op == "<="))
        except ProgramRaised as raised:
            if isinstance(raised.error, TypeError):
                self._refused(*comparison)
            raise

    def _same(self, a: Any, b: Any) -> bool:
        if isinstance(a, str) and isinstance(b, str):
            return bool(self.of_prelude("same_text", a, b))
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            return bool(self.of_prelude("same_items", a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return bool(self.of_prelude("same_mapping", a, b))
        if isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
            return a == b
        for operand in (a, b):
            if not isinstance(operand, _COMPARED) and kind_of(operand) not in _WITH_IDENTITY:
                raise OutsideLanguage(f"a value of the kind {kind_of(operand).__name__} that is compared")
        return a is b  # of two kinds, or with an identity alone

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

    def truth(self, a: Any) -> bool:
        """Whether a is true: of a text or a container, whether its length is not nought."""
        if a is None or isinstance(a, int):
            return self.arithmetic.truth(a)
        if hasattr(kind_of(a), "__len__"):
            return self.arithmetic.truth(len(a))
        if isinstance(a, float):
            return self.arithmetic.truth(ratio(a)[0])
        return self.arithmetic.truth(True)

    def negated(self, a: Any) -> Any:
        """-a."""
        if isinstance(a, int):
            return self.arithmetic.negated(int(a))
        if isinstance(a, float):
            numerator, denominator = ratio(a)
            return joined((self.arithmetic.negated(numerator), denominator), "neg")
        return self.in_memory(lambda: -a)

    def positive(self, a: Any) -> Any:
        """+a."""
        return self.binary("+", a, 0) if isinstance(a, (int, float)) else self.in_memory(lambda: +a)

    def inverted(self, a: Any) -> Any:
        """~a, which is -a - 1."""
        if isinstance(a, int):
            return self.arithmetic.binary("-", self.arithmetic.negated(int(a)), 1)
        return self.in_memory(lambda: ~a)

    def iterated(self, a: Any) -> Any:
        """An iterator over a: of a range the model counts, all else is in memory."""
        if isinstance(a, range):
            return Counting(self, a.start, a.stop, a.step)
        return self.in_memory(lambda: iter(a))

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
