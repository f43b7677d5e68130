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

    def written(self, operator: str, lhs: int, rhs: int) -> tuple[Words, int | bool]:
        """The words for lhs operator rhs, and the result."""
        result_written = self._workings.get((operator, lhs, rhs))
        if result_written is None:
            if operator not in PAPER:
                raise OutsideLanguage(f"the operator {operator}")
            self._paper = []
            try:
                result = self.binary(operator, lhs, rhs)
            except DivisionByNought:
                raise OutsideLanguage("a division by zero") from None
            if len(self._workings) >= _KEPT:
                self._workings.clear()
            result_written = self._workings[operator, lhs, rhs] = paper_words(self._paper), result
        return result_written


class Working:
    """Writes operations. Values have the places V0, V1, ... of the expression, like on a stack."""

    def __init__(self) -> None:
        self.arithmetic = WrittenArithmetic()
        self.words: Words = []

    def operands(self, operator: str, lhs: Words, rhs: Words, at: tuple[str, str]) -> None:
        """at: the words of where the operands stand."""
        self.words += [operator, at[0], "A", *lhs, at[1], "B", *rhs, ":"]

    def paper(self, operator: str, lhs: int, rhs: int, at: tuple[str, str]) -> int | bool:
        """lhs operator rhs, with all that is written for it but the result."""
        written, result = self.arithmetic.written(operator, int(lhs), int(rhs))
        self.operands(operator, value_words(int(lhs)), value_words(int(rhs)), at)
        self.words += written
        return result

    def result(self, at: str, value: Any) -> Any:
        self.words += [at, *value_words(value)]
        return value

    def binary(self, operator: str, lhs: Any, rhs: Any, at: tuple[str, str]) -> Any:
        """lhs operator rhs, with the result in place of `lhs`."""
        for operand in (lhs, rhs):
            if not isinstance(operand, int):
                raise OutsideLanguage(f"{operator} of a {type(operand).__name__}")
        if operator in _OTHERS:
            if isinstance(lhs, bool) or isinstance(rhs, bool):
                raise OutsideLanguage(f"{operator} of a truth value")
            return self.result(at[0], _OTHERS[operator](self, lhs, rhs, at))
        return self.result(at[0], self.paper(operator, lhs, rhs, at))

    def power(self, lhs: int, rhs: int, at: tuple[str, str]) -> int:
        """A product of as many factors."""
        if not 1 <= rhs <= _MOST_FACTORS:
            raise OutsideLanguage("a power with an exponent that is large, zero or negative")
        self.operands("**", value_words(lhs), value_words(rhs), at)
        product = lhs
        for _ in range(rhs - 1):
            product = int(self.paper("*", product, lhs, at))
            self.result(at[0], product)
        return product

    def shifted(self, operator: str, lhs: int, rhs: int, at: tuple[str, str]) -> int:
        """Halved or doubled as often."""
        if not 0 <= rhs <= _MOST_SHIFT or (operator == ">>" and lhs < 0):
            raise OutsideLanguage("a shift that is large or negative, or to the right of a negative number")
        self.operands(operator, value_words(lhs), value_words(rhs), at)
        for remaining in range(rhs - 1, -1, -1):
            lhs = lhs * 2 if operator == "<<" else lhs // 2
            self.words += ["A", *value_words(lhs), "B", *value_words(remaining)]
        return lhs

    def bitwise(self, operator: str, lhs: int, rhs: int, at: tuple[str, str]) -> int:
        """Bits from the last one to the first, each number halved behind its bit; then doubled together."""
        if lhs < 0 or rhs < 0 or (lhs | rhs).bit_length() > _MOST_BITS:
            raise OutsideLanguage(f"{operator} of a negative or large number")
        self.operands(operator, value_words(lhs), value_words(rhs), at)
        bits = []
        while lhs or rhs:
            bits.append({"&": lhs & rhs & 1, "|": (lhs | rhs) & 1, "^": (lhs ^ rhs) & 1}[operator])
            lhs, rhs = lhs // 2, rhs // 2
            self.words += ["bit", str(bits[-1]), "A", *value_words(lhs), "B", *value_words(rhs)]
        total = 0
        for index, bit in enumerate(reversed(bits)):
            total = 2 * total + bit
            self.words += [f"#{min(len(bits) - 1 - index, 9)}", *value_words(total)]
        return total

    def quotient(self, lhs: int, rhs: int, at: tuple[str, str]) -> float:
        """lhs / rhs with up to one decimal place, by dividing ten times `lhs`."""
        if not rhs or (10 * lhs) % rhs or abs(lhs) >= 10**9:
            raise OutsideLanguage("a quotient with more than one decimal place")
        written, tenths = self.arithmetic.written("//", 10 * lhs, rhs)
        self.operands("/", value_words(10 * lhs), value_words(rhs), at)
        self.words += written
        negative, digits = number(int(tenths))
        digits += [0] * (2 - len(digits))
        text = "".join(map(str, reversed(digits[1:]))) + f".{digits[0]}"
        return float(f"-{text}" if negative or (not any(digits) and (lhs < 0) != (rhs < 0)) else text)

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

    def divmod(self, lhs: int, rhs: int, first: int, at: str) -> tuple[int, int]:
        """The quotient in the place of the function, the rest behind it."""
        operands, spare = (f"V{first}", f"V{first + 1}"), f"V{first + 2}"
        quotient = self.result(spare, self.paper("//", lhs, rhs, operands))
        remainder = self.result(f"V{first}", self.paper("%", lhs, rhs, operands))
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
    ">>": lambda working, lhs, rhs, at: working.shifted(">>", lhs, rhs, at),
    "<<": lambda working, lhs, rhs, at: working.shifted("<<", lhs, rhs, at),
    "&": lambda working, lhs, rhs, at: working.bitwise("&", lhs, rhs, at),
    "|": lambda working, lhs, rhs, at: working.bitwise("|", lhs, rhs, at),
    "^": lambda working, lhs, rhs, at: working.bitwise("^", lhs, rhs, at),
}
"""Operators that the paper does not have."""
