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
        known = self._known.get(key)
        if known is not None:
            return known
        return self._worked(key, paper.METHODS[op](NUMBER[op], paper.number(a), paper.number(b)))

    def negated(self, a: int) -> int:
        """-a."""
        self.asked.operations += 1
        known = self._known.get(("neg", a))
        if known is None:
            known = self._worked(("neg", a), paper.negated(NUMBER["neg"], paper.number(a)))
        return known

    def truth(self, a: int | bool | None) -> bool:
        """Whether a is true."""
        if a is None or isinstance(a, bool):
            return self.choice("truth", a)
        self.asked.operations += 1
        known = self._known.get(("truth", a))
        if known is None:
            known = self._worked(("truth", a), paper.truth(NUMBER["truth"], paper.number(a)))
        return bool(known)

    def choice(self, op: str, a: bool | None) -> bool:
        """Of ``truth`` and ``not``: the truth value; of ``if`` and ``unless``: whether to go on."""
        self.asked.operations += 1
        key = (op, "choice", a)
        known = self._known.get(key)
        if known is None:
            known = self._worked(key, paper.choice(NUMBER[op], a))
        return bool(known)

    def _worked(self, key: tuple[object, ...], asking: paper.Asking) -> int | bool:
        answer, asked = self.answer, self.asked
        asked.worked += 1
        found: paper.Number | bool
        try:
            window = next(asking)
            while True:
                asked.words += 1
                window = asking.send(answer(window))
        except StopIteration as ended:
            found = ended.value
        result: int | bool = found if isinstance(found, bool) else paper.read(found)
        if self.remember:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = result
        return result
