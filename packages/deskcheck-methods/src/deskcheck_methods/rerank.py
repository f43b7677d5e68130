"""Chooses the program whose results most samples agree on.

The visible tests filter the samples. The others run on inputs without known results, and are grouped by their
results; a program of the largest group is the answer (filter and clusters: AlphaCode, Li et al. 2022,
arXiv:2203.07814; groups by executed results: From Words to Code). The inputs are those of visible tests,
variations of these, values of the type hints and, if there are no others or `propose` is set, the model's.
"""

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, NamedTuple

from deskcheck.ask.scoring.score import PROGRAM_FORMS
from deskcheck.recording import InputError
from deskcheck.settings import Setting
from deskcheck.sources.inputs.candidates import candidates, proposal_prompt, proposed
from deskcheck.sources.inputs.targets import function_node
from deskcheck_methods.bench import Bench, Completion, Options, Spent, scaffold
from deskcheck_methods.place import CallResult
from deskcheck_methods.visible import calls_in, literal_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions(Options):
    """samples, inputs: their numbers. propose: also ask the model for inputs."""

    samples: Annotated[int, Setting("Number of programs.", min=1)] = 8
    inputs: Annotated[int, Setting("Limit for the inputs of each program.", min=1)] = 10
    propose: Annotated[bool, Setting("Also ask the model for inputs.")] = False


class _Sample(NamedTuple):
    completion: Completion
    code: str


@scaffold(
    "several programs; one of those with the same results on generated inputs",
    RerankOptions,
    forms=PROGRAM_FORMS,
)
async def rerank(bench: Bench, options: RerankOptions) -> None:
    """Ask for several programs, and answer with one of the largest group with the same results."""
    samples: list[_Sample] = []
    try:
        for number in range(1, options.samples + 1):
            completion = await bench.ask(bench.puzzle.prompt, f"sample {number}")
            code = bench.code_of(completion).code
            if code is not None:
                samples.append(_Sample(completion, code))
            if bench.answer is None or len(samples) == 1:
                bench.offer(samples[0].completion if samples else completion)
    except Spent as spent:  # what was drawn can be compared all the same
        bench.ended = f"the budget of {spent} is used up"
    if not samples or bench.puzzle.entry_point is None:
        bench.ended = bench.ended or ("a script has no inputs to call it with" if samples else "no program")
        return
    passing = await _passing(bench, samples)
    inputs = await found_inputs(bench, passing[0].code, options.inputs, propose=options.propose)
    if not inputs:
        bench.ended = f"no inputs: the first of {len(passing)} programs"
        return
    bench.offer((await _of_largest(bench, passing, inputs)).completion)


async def _passing(bench: Bench, samples: Sequence[_Sample]) -> Sequence[_Sample]:
    """The samples that pass the visible tests; all samples if none does."""
    right = []
    for number, sample in enumerate(samples, 1):
        tested = await bench.test(sample.code, f"program {number}")
        if tested is not None and tested.right:
            right.append(sample)
            if len(right) == 1:
                bench.offer(sample.completion)
    if bench.puzzle.tests:
        bench.note("filter", f"{len(right)} of {len(samples)} programs pass the visible tests")
    return right or samples


async def found_inputs(bench: Bench, code: str, count: int, *, propose: bool) -> list[str]:
    """Argument lists of the entry point, as literals. Their right results are unknown."""
    entry = bench.puzzle.entry_point
    assert entry is not None
    visible_inputs = literal_arguments(call for test in bench.puzzle.tests for call in calls_in(test, entry))
    inputs = dict.fromkeys(visible_inputs)
    if propose:
        inputs |= dict.fromkeys(await _proposed(bench, entry, code, count))
    try:
        node = function_node(code, entry)
    except InputError:
        node = None
    offered = candidates(
        code,
        entry,
        node,
        known_inputs=visible_inputs,
        ways=("known", "hints"),
        rng=random.Random(bench.puzzle.id),
        propose=None,
    )
    inputs |= dict.fromkeys(literal_arguments(text for _, text in islice(offered, 3 * count)))
    if not inputs and not propose:
        inputs |= dict.fromkeys(await _proposed(bench, entry, code, count))
    return [*inputs][:count]


async def _proposed(bench: Bench, entry: str, code: str, count: int) -> list[str]:
    completion = await bench.ask(proposal_prompt(code, entry, count), "inputs")
    return literal_arguments(proposed(completion.text, entry))[:count]


async def _of_largest(bench: Bench, samples: Sequence[_Sample], inputs: Sequence[str]) -> _Sample:
    """The first sample of the largest group. Groups without a returned value come last."""
    results_by_code: dict[str, tuple[CallResult, ...]] = {}
    groups: dict[Hashable, list[_Sample]] = {}
    something: set[Hashable] = set()
    for number, sample in enumerate(samples, 1):
        if sample.code not in results_by_code:
            try:
                results_by_code[sample.code] = await bench.returned(sample.code, inputs, f"program {number}")
            except Spent as spent:
                bench.ended = f"the budget of {spent} is used up"
                continue  # its like may have run before
        key = tuple(result.vote for result in results_by_code[sample.code])
        groups.setdefault(key, []).append(sample)
        if any(result.how == "returned" for result in results_by_code[sample.code]):
            something.add(key)
    if not groups:
        return samples[0]
    best = max(groups, key=lambda key: (key in something, len(groups[key])))
    ran = sum(map(len, groups.values()))
    verdict = f"{len(groups[best])} of {ran} programs return the same, of {len(groups)} groups"
    bench.note("choice", verdict)
    bench.ended = bench.ended or verdict
    return groups[best][0]
