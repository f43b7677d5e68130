"""What a machine asks a model: operations on whole numbers and truth values, each worked out on paper."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from deskcheck_levels.paper import working as paper
from deskcheck_levels.paper.cells import NUMBER, Window

Answerer: TypeAlias = Callable[[Window], int]
"""Window -> the word that is written there; numbers of `cells.WORDS`."""

_KEPT = 200_000
"""Results that are remembered; then it begins anew."""


@dataclass(slots=True)
class OperationCounts:
    """What was asked of a model. operations: those that a run made; worked: those that were not remembered;
    words: what was written for them, one a window."""

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
        self._known: dict[tuple[object, ...], int | bool] = {}

    def binary(self, op: str, a: int, b: int) -> int | bool:
        """a op b, of ``+ - * // %`` and the comparisons. Raises `paper.DivisionByNought` and
        `paper.UnreadableWorking`."""
        self.asked.operations += 1
        key = (op, a, b)
        result = self._known.get(key)
        if result is not None:
            return result
        return self._worked(key, paper.METHODS[op](NUMBER[op], paper.number(a), paper.number(b)))

    def negated(self, a: int) -> int:
        """-a."""
        self.asked.operations += 1
        result = self._known.get(("neg", a))
        if result is None:
            result = self._worked(("neg", a), paper.negated(NUMBER["neg"], paper.number(a)))
        return result

    def truth(self, a: int | bool | None) -> bool:
        """Whether a is true."""
        if a is None or isinstance(a, bool):
            return self.choice("truth", a)
        self.asked.operations += 1
        result = self._known.get(("truth", a))
        if result is None:
            result = self._worked(("truth", a), paper.truth(NUMBER["truth"], paper.number(a)))
        return bool(result)

    def choice(self, op: str, a: bool | None) -> bool:
        """Of ``truth`` and ``not``: the truth value; of ``if`` and ``unless``: whether to go on."""
        self.asked.operations += 1
        key = (op, "choice", a)
        result = self._known.get(key)
        if result is None:
            result = self._worked(key, paper.choice(NUMBER[op], a))
        return bool(result)

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
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = result
        return result
