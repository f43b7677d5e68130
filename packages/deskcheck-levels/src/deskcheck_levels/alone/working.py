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

    def written(self, op: str, a: int, b: int) -> tuple[Words, int | bool]:
        """The words for a op b, and the result."""
        result_written = self._workings.get((op, a, b))
        if result_written is None:
            if op not in PAPER:
                raise OutsideLanguage(f"the operator {op}")
            self._paper = []
            try:
                result = self.binary(op, a, b)
            except DivisionByNought:
                raise OutsideLanguage("a division by nought") from None
            if len(self._workings) >= _KEPT:
                self._workings.clear()
            result_written = self._workings[op, a, b] = paper_words(self._paper), result
        return result_written


class Working:
    """Writes operations. Values have the places V0, V1, ... of the expression, like on a stack."""

    def __init__(self) -> None:
        self.arithmetic = WrittenArithmetic()
        self.words: Words = []

    def operands(self, op: str, a: Words, b: Words, at: tuple[str, str]) -> None:
        """at: the words of where the operands stand."""
        self.words += [op, at[0], "A", *a, at[1], "B", *b, ":"]

    def paper(self, op: str, a: int, b: int, at: tuple[str, str]) -> int | bool:
        """a op b, with all that is written for it but the result."""
        written, result = self.arithmetic.written(op, int(a), int(b))
        self.operands(op, value_words(int(a)), value_words(int(b)), at)
        self.words += written
        return result

    def result(self, at: str, value: Any) -> Any:
        self.words += [at, *value_words(value)]
        return value

    def binary(self, op: str, a: Any, b: Any, at: tuple[str, str]) -> Any:
        """a op b, the result in place of a."""
        for operand in (a, b):
            if not isinstance(operand, int):
                raise OutsideLanguage(f"{op} of a {type(operand).__name__}")
        if op in _OTHERS:
            if isinstance(a, bool) or isinstance(b, bool):
                raise OutsideLanguage(f"{op} of a truth value")
            return self.result(at[0], _OTHERS[op](self, a, b, at))
        return self.result(at[0], self.paper(op, a, b, at))

    def power(self, a: int, b: int, at: tuple[str, str]) -> int:
        """A product of as many factors."""
        if not 1 <= b <= _MOST_FACTORS:
            raise OutsideLanguage("a power with an exponent that is large, nought or negative")
        self.operands("**", value_words(a), value_words(b), at)
        product = a
        for _ in range(b - 1):
            product = int(self.paper("*", product, a, at))
            self.result(at[0], product)
        return product

    def shifted(self, op: str, a: int, b: int, at: tuple[str, str]) -> int:
        """Halved or doubled as often."""
        if not 0 <= b <= _MOST_SHIFT or (op == ">>" and a < 0):
            raise OutsideLanguage("a shift that is large or negative, or to the right of a negative number")
        self.operands(op, value_words(a), value_words(b), at)
        for remaining in range(b - 1, -1, -1):
            a = a * 2 if op == "<<" else a // 2
            self.words += ["A", *value_words(a), "B", *value_words(remaining)]
        return a

    def bitwise(self, op: str, a: int, b: int, at: tuple[str, str]) -> int:
        """Bits from the last one to the first, each number halved behind its bit; then doubled together."""
        if a < 0 or b < 0 or (a | b).bit_length() > _MOST_BITS:
            raise OutsideLanguage(f"{op} of a negative or large number")
        self.operands(op, value_words(a), value_words(b), at)
        bits = []
        while a or b:
            bits.append({"&": a & b & 1, "|": (a | b) & 1, "^": (a ^ b) & 1}[op])
            a, b = a // 2, b // 2
            self.words += ["bit", str(bits[-1]), "A", *value_words(a), "B", *value_words(b)]
        total = 0
        for index, bit in enumerate(reversed(bits)):
            total = 2 * total + bit
            self.words += [f"#{min(len(bits) - 1 - index, 9)}", *value_words(total)]
        return total

    def quotient(self, a: int, b: int, at: tuple[str, str]) -> float:
        """a / b where it has one place behind the point at most: of ten times a by b."""
        if not b or (10 * a) % b or abs(a) >= 10**9:
            raise OutsideLanguage("a quotient of more than one place behind the point")
        written, tenths = self.arithmetic.written("//", 10 * a, b)
        self.operands("/", value_words(10 * a), value_words(b), at)
        self.words += written
        negative, digits = number(int(tenths))
        digits += [0] * (2 - len(digits))
        text = "".join(map(str, reversed(digits[1:]))) + f".{digits[0]}"
        return float(f"-{text}" if negative or (not any(digits) and (a < 0) != (b < 0)) else text)

    def unary(self, op: str, a: Any, at: str) -> Any:
        """neg, ~ and not."""
        if not isinstance(a, int):
            raise OutsideLanguage(f"{op} of a {type(a).__name__}")
        if op == "not":
            self.words.append("not")
            return self.result(at, not a)
        minus = -int(a)
        if op == "neg":
            self.words += ["neg", at, "A", *value_words(int(a))]
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

    def divmod(self, a: int, b: int, first: int, at: str) -> tuple[int, int]:
        """The quotient in the place of the function, the rest behind it."""
        operands, spare = (f"V{first}", f"V{first + 1}"), f"V{first + 2}"
        quotient = self.result(spare, self.paper("//", a, b, operands))
        remainder = self.result(f"V{first}", self.paper("%", a, b, operands))
        self.moved(spare, at, quotient)
        return int(quotient), int(remainder)

    def moved(self, source: str, target: str, value: Any) -> None:
        """A value from one place to another."""
        self.words.append(source)
        self.result(target, value)


def absolute(a: int) -> Words:
    return [word for word in value_words(int(a)) if word != SIGN]


_OTHERS: Mapping[str, Callable[[Working, int, int, tuple[str, str]], Any]] = {
    "**": Working.power,
    "/": Working.quotient,
    ">>": lambda working, a, b, at: working.shifted(">>", a, b, at),
    "<<": lambda working, a, b, at: working.shifted("<<", a, b, at),
    "&": lambda working, a, b, at: working.bitwise("&", a, b, at),
    "|": lambda working, a, b, at: working.bitwise("|", a, b, at),
    "^": lambda working, a, b, at: working.bitwise("^", a, b, at),
}
"""Operators that the paper does not have."""
