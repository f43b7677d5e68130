"""Steps of several events, and how the number of events of each step is chosen.

Execution Tuning (arXiv:2503.05703) lets a model that predicts states advance by 1, 2, 4, ... events at a
time. Several choices of the number are possible:

- ``likelihood``: the longest jump of whose answer the model is sure, and else the answer that is most likely.
  An answer that cannot be read is taken only if none can be read.
- ``search``: the sequence of steps to the end of the run whose answers together are most likely (Dijkstra's
  shortest path; the length of a step is its negative log likelihood).
- ``oracle``: the longest jump whose answer is right. No model can choose so: it is an upper bound for any
  choice.
"""

import heapq
import itertools
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deskcheck.ask.methods.ground_truth import is_end
from deskcheck.notation import Moment, Stop, state_text
from deskcheck.recording import InputError

CHOICES = ("likelihood", "search", "oracle")
SURE_NATS = 0.05
"""The largest negative log likelihood of an answer for which no shorter jump is tried."""


class JumpAnswer(NamedTuple):
    """A model's answer to a question for the state some events later."""

    state: Moment | str
    """The state, or the reason why the answer cannot be read."""
    nll: float
    """Negative log likelihood in nats."""


Ask = Callable[[Moment, int], Awaitable[JumpAnswer]]
"""From a state and a jump to the model's answer."""


@dataclass(frozen=True, slots=True)
class JumpOptions:
    """The jumps of a method, and the choice between them."""

    jumps: tuple[int, ...] = (1,)
    choose: str = "likelihood"

    @property
    def plain(self) -> bool:
        """Whether every step is one event, so that nothing is chosen and no event is left out."""
        return self.jumps == (1,)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "JumpOptions":
        """Options ``jump=1+2+4`` and ``choose=search``. Raises InputError for anything else."""
        if unknown := sorted(set(options) - {"jump", "choose"}):
            raise InputError(f"{unknown[0]}: unknown option. The options are jump and choose.")
        text, choose = options.get("jump", "1"), options.get("choose", CHOICES[0])
        jumps = tuple(sorted({int(part) for part in text.split("+") if part.isascii() and part.isdigit()}))
        if not jumps or jumps[0] < 1 or len(jumps) != text.count("+") + 1:
            raise InputError(f"jump={text}: write numbers of events, from 1 on, each once, as in jump=1+2+4.")
        if choose not in CHOICES:
            raise InputError(f"choose={choose}: the choices are {', '.join(CHOICES)}.")
        return cls(jumps, choose)


class JumpedRun(NamedTuple):
    """A run in steps of several events."""

    states: tuple[Moment, ...]
    """The first state, which the model was given, and its answers."""
    jumps: tuple[int, ...]
    stop: Stop
    why: str
    """The reason why the last answer could not be read."""
    asked: int
    """Number of answers that the model gave, with those that were not chosen."""


async def by_likelihood(first: Moment, jumps: Sequence[int], ask: Ask, budget: int) -> JumpedRun:
    """The run of the most likely next answer, step by step, in at most `budget` steps."""

    async def best(state: Moment, number: int) -> tuple[int, JumpAnswer, int]:
        chosen: tuple[int, JumpAnswer] | None = None
        for asked, jump in enumerate(sorted(jumps, reverse=True), 1):
            answer = await ask(state, jump)
            if isinstance(answer.state, str):
                answer = answer._replace(nll=math.inf)
            if chosen is None or answer.nll < chosen[1].nll:
                chosen = jump, answer
            if chosen[1].nll <= SURE_NATS:
                return *chosen, asked
        assert chosen is not None
        return *chosen, len(jumps)

    return await _step_by_step(first, best, budget)


async def by_oracle(
    first: Moment, jumps: Sequence[int], ask: Ask, budget: int, true: Sequence[Moment]
) -> JumpedRun:
    """The run of the longest right answers. true: the true states from the first one on.

    Without a right answer, the shortest jump is taken.
    """

    async def best(state: Moment, number: int) -> tuple[int, JumpAnswer, int]:
        longest_first = sorted(jumps, reverse=True)
        for asked, jump in enumerate(longest_first, 1):
            answer = await ask(state, jump)
            is_right = number + jump < len(true) and answer.state == true[number + jump]
            if is_right or asked == len(longest_first):
                return jump, answer, asked
        raise AssertionError("there is at least one jump")

    return await _step_by_step(first, best, budget)


async def _step_by_step(
    first: Moment,
    best: Callable[[Moment, int], Awaitable[tuple[int, JumpAnswer, int]]],
    budget: int,
) -> JumpedRun:
    """A run of chosen answers. best: from a state and the number of events before it to jump, answer and the
    number of questions."""
    states, taken, asked = [first], list[int](), 0
    while not is_end(states[-1]):
        if len(taken) == budget:
            return JumpedRun(tuple(states), tuple(taken), Stop.BUDGET, "", asked)
        jump, answer, count = await best(states[-1], sum(taken))
        asked += count
        if isinstance(answer.state, str):
            return JumpedRun(tuple(states), tuple(taken), Stop.UNREADABLE, answer.state, asked)
        states.append(answer.state)
        taken.append(jump)
    return JumpedRun(tuple(states), tuple(taken), Stop.END, "", asked)


class _Path(NamedTuple):
    """A sequence of steps. The steps before the last one are those of `before`."""

    state: Moment
    jump: int
    before: "_Path | None"

    def run(self, stop: Stop, why: str, asked: int) -> JumpedRun:
        states, jumps, path = [self.state], list[int](), self
        while path.before is not None:
            jumps.append(path.jump)
            path = path.before
            states.append(path.state)
        return JumpedRun(tuple(reversed(states)), tuple(reversed(jumps)), stop, why, asked)


async def by_search(first: Moment, jumps: Sequence[int], ask: Ask, budget: int) -> JumpedRun:
    """The most likely run to its end, by Dijkstra's algorithm.

    budget: limit for the number of states that are continued.

    Of equally likely paths the one that is further in the run is continued first. If no path leads to an end,
    the run is the longest path, in events.
    """
    number = itertools.count()
    queue = [(0.0, 0, next(number), _Path(first, 0, None))]
    continued: set[tuple[int, str]] = set()
    furthest, most, why, asked = queue[0][3], 0, "", 0
    while queue:
        nll, minus_events, _, path = heapq.heappop(queue)
        if is_end(path.state):
            return path.run(Stop.END, "", asked)
        place = -minus_events, state_text(path.state)
        if place in continued:
            continue
        if len(continued) == budget:
            return furthest.run(Stop.BUDGET, "", asked)
        continued.add(place)
        if place[0] > most:
            furthest, most = path, place[0]
        for jump in jumps:
            answer = await ask(path.state, jump)
            asked += 1
            if isinstance(answer.state, str):
                why = answer.state
            elif math.isfinite(answer.nll):
                longer = _Path(answer.state, jump, path)
                heapq.heappush(queue, (nll + answer.nll, minus_events - jump, next(number), longer))
    return furthest.run(Stop.UNREADABLE, why, asked)
