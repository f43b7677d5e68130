"""Operations with their working, as in an answer: the operands, the writing on paper, and the result.

The rules of the paper (`paper`) give the writing for `+ - * // %` and comparisons. Other operations consist
of these, or are written digit by digit: halving and doubling a number need only the neighbour of each place.
"""

from collections.abc import Callable, Mapping
from typing import Any

from deskcheck_levels.alone.words import SIGN, Words, paper_words, value_words
from deskcheck_levels.machine.frames import OutsideLanguage
from deskcheck_levels.paper.arithmetic import Arithmetic
from deskcheck_levels.paper.cells import Window
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.paper.working import METHODS as PAPER
from deskcheck_levels.paper.working import DivisionByNought, number

_MOST_BITS, _MOST_FACTORS, _MOST_SHIFT = 12, 6, 12
_KEPT = 100_000


class WrittenArithmetic(Arithmetic):
    """An `Arithmetic` by the rules. `written` gives the writing on paper of each operation."""

    def __init__(self) -> None:
        super().__init__(self._right, remember=False)
        self._rules = all_windows()
        self._paper: list[int] = []
        self._workings: dict[tuple[str, int, int], tuple[Words, int | bool]] = {}

    def _right(self, window: Window) -> int:
        word = self._rules[window]
        self._paper.append(word)
        return word

    def written(self, operator: str, left: int, right: int) -> tuple[Words, int | bool]:
        """The words for left operator right, and the result."""
        result_written = self._workings.get((operator, left, right))
        if result_written is None:
            if operator not in PAPER:
                raise OutsideLanguage(f"the operator {operator}")
            self._paper = []
            try:
                result = self.binary(operator, left, right)
            except DivisionByNought:
                raise OutsideLanguage("a division by nought") from None
            if len(self._workings) >= _KEPT:
                self._workings.clear()
            result_written = self._workings[operator, left, right] = paper_words(self._paper), result
        return result_written


class Working:
    """Writes operations. Values have the places V0, V1, ... of the expression, like on a stack."""

    def __init__(self) -> None:
        self.arithmetic = WrittenArithmetic()
        self.words: Words = []

    def operands(self, operator: str, left: Words, right: Words, at: tuple[str, str]) -> None:
        """at: the words of where the operands stand."""
        self.words += [operator, at[0], "A", *left, at[1], "B", *right, ":"]

    def paper(self, operator: str, left: int, right: int, at: tuple[str, str]) -> int | bool:
        """left operator right, with all that is written for it but the result."""
        written, result = self.arithmetic.written(operator, int(left), int(right))
        self.operands(operator, value_words(int(left)), value_words(int(right)), at)
        self.words += written
        return result

    def result(self, at: str, value: Any) -> Any:
        self.words += [at, *value_words(value)]
        return value

    def binary(self, operator: str, left: Any, right: Any, at: tuple[str, str]) -> Any:
        """left operator right, with the result in place of `left`."""
        for operand in (left, right):
            if not isinstance(operand, int):
                raise OutsideLanguage(f"{operator} of a {type(operand).__name__}")
        if operator in _OTHERS:
            if isinstance(left, bool) or isinstance(right, bool):
                raise OutsideLanguage(f"{operator} of a truth value")
            return self.result(at[0], _OTHERS[operator](self, left, right, at))
        return self.result(at[0], self.paper(operator, left, right, at))

    def power(self, left: int, right: int, at: tuple[str, str]) -> int:
        """A product of as many factors."""
        if not 1 <= right <= _MOST_FACTORS:
            raise OutsideLanguage("a power with an exponent that is large, nought or negative")
        self.operands("**", value_words(left), value_words(right), at)
        product = left
        for _ in range(right - 1):
            product = int(self.paper("*", product, left, at))
            self.result(at[0], product)
        return product

    def shifted(self, operator: str, left: int, right: int, at: tuple[str, str]) -> int:
        """Halved or doubled as often."""
        if not 0 <= right <= _MOST_SHIFT or (operator == ">>" and left < 0):
            raise OutsideLanguage("a shift that is large or negative, or to the right of a negative number")
        self.operands(operator, value_words(left), value_words(right), at)
        for remaining in range(right - 1, -1, -1):
            left = left * 2 if operator == "<<" else left // 2
            self.words += ["A", *value_words(left), "B", *value_words(remaining)]
        return left

    def bitwise(self, operator: str, left: int, right: int, at: tuple[str, str]) -> int:
        """Bits from the last one to the first, each number halved behind its bit; then doubled together."""
        if left < 0 or right < 0 or (left | right).bit_length() > _MOST_BITS:
            raise OutsideLanguage(f"{operator} of a negative or large number")
        self.operands(operator, value_words(left), value_words(right), at)
        bits = []
        while left or right:
            bits.append({"&": left & right & 1, "|": (left | right) & 1, "^": (left ^ right) & 1}[operator])
            left, right = left // 2, right // 2
            self.words += ["bit", str(bits[-1]), "A", *value_words(left), "B", *value_words(right)]
        total = 0
        for index, bit in enumerate(reversed(bits)):
            total = 2 * total + bit
            self.words += [f"#{min(len(bits) - 1 - index, 9)}", *value_words(total)]
        return total

    def quotient(self, left: int, right: int, at: tuple[str, str]) -> float:
        """left / right with up to one decimal place, by dividing ten times `left`."""
        if not right or (10 * left) % right or abs(left) >= 10**9:
            raise OutsideLanguage("a quotient of more than one place behind the point")
        written, tenths = self.arithmetic.written("//", 10 * left, right)
        self.operands("/", value_words(10 * left), value_words(right), at)
        self.words += written
        negative, digits = number(int(tenths))
        digits += [0] * (2 - len(digits))
        text = "".join(map(str, reversed(digits[1:]))) + f".{digits[0]}"
        return float(f"-{text}" if negative or (not any(digits) and (left < 0) != (right < 0)) else text)

    def unary(self, operator: str, value: Any, at: str) -> Any:
        """neg, ~ and not."""
        if not isinstance(value, int):
            raise OutsideLanguage(f"{operator} of a {type(value).__name__}")
        if operator == "not":
            self.words.append("not")
            return self.result(at, not value)
        minus = -int(value)
        if operator == "neg":
            self.words += ["neg", at, "A", *value_words(int(value))]
            return self.result(at, minus)
        written, result = self.arithmetic.written("-", minus, 1)
        self.words += ["~", at, "A", *value_words(minus), "B", "1", ":", *written]
        return self.result(at, result)

    # ---- builtins ----

    def least(self, name: str, values: list[int], first: int, at: str) -> int:
        """min and max, of two after one another. first: where the first stands."""
        best, where = values[0], f"V{first}"
        for position, value in enumerate(values[1:], first + 1):
            better = self.paper("<" if name == "min" else ">", value, best, (f"V{position}", where))
            self.words += ["test", "T" if better else "F"]
            best = self.result(at, int(value if better else best))
            where = at
        return best

    def divmod(self, left: int, right: int, first: int, at: str) -> tuple[int, int]:
        """The quotient in the place of the function, the rest behind it."""
        operands, spare = (f"V{first}", f"V{first + 1}"), f"V{first + 2}"
        quotient = self.result(spare, self.paper("//", left, right, operands))
        remainder = self.result(f"V{first}", self.paper("%", left, right, operands))
        self.moved(spare, at, quotient)
        return int(quotient), int(remainder)

    def moved(self, source: str, target: str, value: Any) -> None:
        """A value from one place to another."""
        self.words.append(source)
        self.result(target, value)


def absolute(value: int) -> Words:
    return [word for word in value_words(int(value)) if word != SIGN]


_OTHERS: Mapping[str, Callable[[Working, int, int, tuple[str, str]], Any]] = {
    "**": Working.power,
    "/": Working.quotient,
    ">>": lambda working, left, right, at: working.shifted(">>", left, right, at),
    "<<": lambda working, left, right, at: working.shifted("<<", left, right, at),
    "&": lambda working, left, right, at: working.bitwise("&", left, right, at),
    "|": lambda working, left, right, at: working.bitwise("|", left, right, at),
    "^": lambda working, left, right, at: working.bitwise("^", left, right, at),
}
"""Operators that the paper does not have."""
