"""How an operation was worked out, judged beside its result: a right result may come from a wrong working.

A word is right if it follows the rules of the paper for its window (`windows`). A result is right if it is
Python's. The model sees neither.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deskcheck_levels.paper.arithmetic import Answerer, Arithmetic
from deskcheck_levels.paper.cells import Window
from deskcheck_levels.paper.windows import all_windows
from deskcheck_levels.paper.working import Asking, DivisionByNought, UnreadableWorking

_PYTHON: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "neg": operator.neg,
    "truth": bool,
    "if": bool,
    "not": operator.not_,
    "unless": operator.not_,
}


@dataclass(slots=True)
class Judged:
    """Of the operations that were worked out, each pair of operands once. wrong_workings: those with a word
    that is not right. lucky: of these, those whose result is right all the same. unreadable: of these, those
    that came to no result. against_rules: right workings with a wrong result, which only wrong rules give.
    """

    wrong_workings: int = 0
    lucky: int = 0
    unreadable: int = 0
    against_rules: int = 0


class JudgedArithmetic(Arithmetic):
    """As `Arithmetic`, and `judged` counts how it was worked out."""

    def __init__(self, answer: Answerer, *, remember: bool = True) -> None:
        super().__init__(self._watched, remember=remember)
        self.judged = Judged()
        self._asked_of = answer
        self._right = all_windows()
        self._slips = 0

    def _watched(self, window: Window) -> int:
        word = self._asked_of(window)
        self._slips += self._right.get(window) != word
        return word

    def _worked(self, key: tuple[object, ...], asking: Asking) -> int | bool:
        self._slips = 0
        try:
            result = super()._worked(key, asking)
        except DivisionByNought:
            self._judge(key, None)
            raise
        except UnreadableWorking:
            self.judged.wrong_workings += 1
            self.judged.unreadable += 1
            raise
        self._judge(key, result)
        return result

    def _judge(self, key: tuple[object, ...], result: int | bool | None) -> None:
        """result: None where the model says that it is a division by nought."""
        right = (
            result is None
            if _by_nought(key)
            else type(result) is type(true_of(key)) and result == true_of(key)
        )
        if self._slips:
            self.judged.wrong_workings += 1
            self.judged.lucky += right
        else:
            self.judged.against_rules += not right


def _by_nought(key: tuple[object, ...]) -> bool:
    return key[0] in ("//", "%") and key[2] == 0


def true_of(key: tuple[object, ...]) -> int | bool:
    """What Python computes of an operation, given as `Arithmetic` remembers it."""
    op, *operands = key
    if operands[0] == "choice":
        operands = operands[1:]
    result: int | bool = _PYTHON[str(op)](*operands)
    return result
