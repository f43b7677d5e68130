"""The questions of a machine to a model: operations on whole numbers and truth values, worked out on
paper."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from deskcheck_levels.paper import working as paper
from deskcheck_levels.paper.cells import NUMBER, Window

Answerer: TypeAlias = Callable[[Window], int]
"""Window -> the word that is written there; numbers of `cells.WORDS`."""

_KEPT = 200_000
"""Number of remembered results before the memory is cleared."""


@dataclass(slots=True)
class OperationCounts:
    """Counts of the questions to a model.

    operations: operations of the run. worked: operations that were not remembered. words: words written for
    them, one for each window.
    """

    operations: int = 0
    worked: int = 0
    words: int = 0


class Arithmetic:
    """Operations by whoever answers windows. remember: keep results, by operation and operands.

    Python's own arithmetic has no part in it: numbers become digits, and digits numbers.
    """

    def __init__(self, answer: Answerer, *, remember: bool = True) -> None:
        self.answer = answer
        self.remember = remember
        self.asked = OperationCounts()
        self._results: dict[tuple[object, ...], int | bool] = {}

    def binary(self, op: str, a: int, b: int) -> int | bool:
        """a op b, of ``+ - * // %`` and the comparisons. Raises `paper.DivisionByNought` and
        `paper.UnreadableWorking`."""
        return self._result(
            (op, a, b), lambda: paper.METHODS[op](NUMBER[op], paper.number(a), paper.number(b))
        )

    def negated(self, a: int) -> int:
        """-a."""
        return self._result(("neg", a), lambda: paper.negated(NUMBER["neg"], paper.number(a)))

    def truth(self, a: int | bool | None) -> bool:
        """Whether a is true."""
        if a is None or isinstance(a, bool):
            return self.choice("truth", a)
        return bool(self._result(("truth", a), lambda: paper.truth(NUMBER["truth"], paper.number(a))))

    def choice(self, op: str, a: bool | None) -> bool:
        """The truth value for ``truth`` and ``not``; whether to enter for ``if`` and ``unless``."""
        return bool(self._result((op, "choice", a), lambda: paper.choice(NUMBER[op], a)))

    def _result(self, key: tuple[object, ...], begin: Callable[[], paper.Asking]) -> int | bool:
        """The remembered result of an operation, or one that is worked out."""
        self.asked.operations += 1
        result = self._results.get(key)
        return self._worked(key, begin()) if result is None else result

    def _worked(self, key: tuple[object, ...], asking: paper.Asking) -> int | bool:
        answer, counts = self.answer, self.asked
        counts.worked += 1
        on_paper: paper.Number | bool
        try:
            window = next(asking)
            while True:
                counts.words += 1
                window = asking.send(answer(window))
        except StopIteration as ended:
            on_paper = ended.value
        result: int | bool = on_paper if isinstance(on_paper, bool) else paper.read(on_paper)
        if self.remember:
            if len(self._results) >= _KEPT:
                self._results.clear()
            self._results[key] = result
        return result
