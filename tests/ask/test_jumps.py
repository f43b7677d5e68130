"""Steps of several events: which are taken is checked on models whose answers and doubts are written down here."""

import asyncio
import math
from collections.abc import Sequence

import pytest

from deskcheck.ask.methods.jumps import Ask, JumpAnswer, JumpOptions, by_likelihood, by_oracle, by_search
from deskcheck.notation import Moment, Stop
from deskcheck.notation.forms.dynamic import parse_dynamic
from deskcheck.recording import InputError

COUNT = 9


def state(number: int, value: int | None = None) -> Moment:
    """State number N of a run of COUNT events. value: a value that the true state does not have."""
    if number == COUNT - 1:
        text = f"return f 3: n={number} -> {number}"
    else:
        text = f"f 2: n={number if value is None else value}"
    return parse_dynamic(text).moments[0]


TRUE = [state(number) for number in range(COUNT)]


def model(
    doubts: dict[int, float], wrong: Sequence[tuple[int, int]] = ()
) -> tuple[Ask, list[tuple[int, int]]]:
    """A model that knows the run, and the questions it was asked. doubts: jump -> nll. wrong: (number, jump)."""
    questions: list[tuple[int, int]] = []

    async def ask(moment: Moment, jump: int) -> JumpAnswer:
        number = next((n for n, true in enumerate(TRUE) if true == moment), -1)
        questions.append((number, jump))
        if number < 0 or number + jump >= COUNT:
            return JumpAnswer("beyond the end", 0.0)
        if (number, jump) in wrong:
            return JumpAnswer(state(number + jump, value=-1), doubts[jump])
        return JumpAnswer(state(number + jump), doubts[jump])

    return ask, questions


def test_likelihood_takes_the_longest_that_is_sure() -> None:
    """A sure answer needs no other question; beyond the end a shorter jump answers."""
    ask, questions = model({1: 0.0, 2: 0.0, 4: 0.01})
    run = asyncio.run(by_likelihood(TRUE[0], [1, 2, 4], ask, 100))
    assert (run.jumps, run.stop, run.states[-1]) == ((4, 4), Stop.END, TRUE[-1])
    assert questions == [(0, 4), (4, 4)]


def test_likelihood_takes_the_most_likely_of_unsure_answers() -> None:
    """Here the jump of 2 has the least doubt, and all jumps were asked for."""
    ask, _ = model({1: 0.3, 2: 0.1, 4: 2.0})
    run = asyncio.run(by_likelihood(TRUE[0], [4, 1, 2], ask, 100))
    assert run.jumps == (2, 2, 2, 2)
    assert run.asked == 12


@pytest.mark.parametrize("choose", [by_likelihood, by_search])
def test_budget_and_unreadable(choose: object) -> None:
    """The run ends after so many steps, or where no answer can be read."""
    ask, _ = model({1: 0.5})
    run = asyncio.run(choose(TRUE[0], [1], ask, 3))  # type: ignore[operator]
    assert (run.jumps, run.stop) == ((1, 1, 1), Stop.BUDGET) or (
        choose is by_search and run.stop is Stop.BUDGET
    )
    run = asyncio.run(choose(TRUE[0], [3], model({3: 0.5})[0], 100))  # type: ignore[operator]
    assert (run.jumps, run.stop, run.why) == ((3, 3), Stop.UNREADABLE, "beyond the end")


def test_search_finds_the_most_likely_sequence() -> None:
    """Greedy choice follows a wrong answer that is likely now; the search does not, since no end follows it."""
    doubts, wrong = {1: 0.2, 4: 0.1}, [(0, 4)]
    greedy = asyncio.run(by_likelihood(TRUE[0], [1, 4], model(doubts, wrong)[0], 100))
    assert greedy.stop is Stop.UNREADABLE
    run = asyncio.run(by_search(TRUE[0], [1, 4], model(doubts, wrong)[0], 100))
    assert (run.stop, run.states[-1]) == (Stop.END, TRUE[-1])
    assert sorted(run.jumps) == [1, 1, 1, 1, 4]


def test_search_is_the_shortest_path() -> None:
    """The least sum over all sequences of jumps, as enumerating them gives it."""
    doubts = {1: 0.11, 2: 0.25, 3: 0.31, 5: 0.52}
    least = [0.0] + [math.inf] * (COUNT - 1)
    for number in range(COUNT):
        for jump, doubt in doubts.items():
            if number + jump < COUNT:
                least[number + jump] = min(least[number + jump], least[number] + doubt)
    run = asyncio.run(by_search(TRUE[0], list(doubts), model(doubts)[0], 1000))
    assert sum(doubts[jump] for jump in run.jumps) == pytest.approx(least[-1])


def test_oracle_takes_what_is_right() -> None:
    """Of the right answers the longest; without one the shortest jump."""
    ask, _ = model({1: 9.0, 4: 0.0}, wrong=[(0, 4), (5, 1)])
    run = asyncio.run(by_oracle(TRUE[0], [1, 4], ask, 100, TRUE))
    assert run.jumps[:2] == (1, 4)
    assert run.stop is Stop.UNREADABLE  # the step from state 5 is wrong in any case


@pytest.mark.parametrize(
    "options", [{"jump": "0"}, {"jump": "1+1"}, {"jump": "x"}, {"jump": ""}, {"choose": "best"}, {"jmp": "1"}]
)
def test_wrong_options(options: dict[str, str]) -> None:
    """They are refused with the name of the option."""
    with pytest.raises(InputError, match=next(iter(options))):
        JumpOptions.of(options)
    assert JumpOptions.of({"jump": "4+1+2"}).jumps == (1, 2, 4)
