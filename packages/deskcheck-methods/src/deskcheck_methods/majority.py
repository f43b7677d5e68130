"""The most frequent answer of several samples: self-consistency (Wang et al. 2022, arXiv:2203.11171).

Answers agree if they write the same value; programs agree if they are the same except for comments and
layout. If several answers are equally frequent, the first one wins. Unreadable answers have no vote.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated

from deskcheck.ask.answers.parsing import answer_in
from deskcheck.ask.results.attempts import vote_of
from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.settings import Setting
from deskcheck.sources.text.python import unparsed
from deskcheck_methods.bench import Bench, Completion, Options, scaffold


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityOptions(Options):
    """samples: number of answers."""

    samples: Annotated[int, Setting("Answers that vote.", min=1)] = 5


@scaffold("several samples; the answer that most of them give", MajorityOptions)
async def majority(bench: Bench, options: MajorityOptions) -> None:
    """Ask the question several times, and answer with the most frequent answer."""
    votes: dict[Hashable, list[Completion]] = {}
    for number in range(1, options.samples + 1):
        completion = await bench.ask(bench.puzzle.prompt, f"sample {number}")
        if (vote := _vote(bench, completion)) is not None:
            votes.setdefault(vote, []).append(completion)
        elif bench.answer is None:
            bench.offer(completion)
        if votes:
            bench.offer(max(votes.values(), key=len)[0])
    votes_of_winner = max(map(len, votes.values()), default=0)
    bench.ended = f"{votes_of_winner} of {options.samples} samples agree, of {len(votes)} different answers"
    bench.note("majority", bench.ended)


def _vote(bench: Bench, completion: Completion) -> Hashable:
    if bench.puzzle.form in PROGRAM_FORMS:
        code = bench.code_of(completion).code
        return None if code is None else unparsed(code)
    return vote_of(answer_in(completion.text))
