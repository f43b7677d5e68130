"""Prompts with several worked examples: other samples of the same kind, about other programs."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from deskcheck.ask.answers.parsing import written
from deskcheck.ask.samples.prompts import EXAMPLE, YOURS
from deskcheck.ask.samples.sample import Sample


def with_shots(samples: Sequence[Sample], shots: int, *, seed: int, excluded: Counter[str]) -> list[Sample]:
    """The samples with a number of examples in their prompts, each drawn from samples of other clusters.

    With 0, the example that the prompts have is removed, too. Without enough other programs the result is
    empty, and the number of the samples is added to `excluded`.
    """
    by_cluster: dict[str, list[Sample]] = {}
    for sample in samples:
        by_cluster.setdefault(sample.cluster, []).append(sample)
    if samples and len(by_cluster) <= shots:
        excluded[f"{shots} examples in a prompt need {shots + 1} programs"] += len(samples)
        return []
    return [
        _with_shots(sample, by_cluster, shots, random.Random(f"{seed}:{sample.id}")) for sample in samples
    ]


def _with_shots(
    sample: Sample, by_cluster: dict[str, list[Sample]], shots: int, rng: random.Random
) -> Sample:
    others = [cluster for cluster in by_cluster if cluster != sample.cluster]
    chosen = [rng.choice(by_cluster[cluster]) for cluster in rng.sample(others, shots)]
    examples = "\n\n".join(
        f"{EXAMPLE}\n\n{_question_text(example)}\n{written(example.data['form'], example.answer)}"
        for example in chosen
    )
    parts = {name: text.removeprefix(_HEAD) for name, text in _parts_of_sample(sample).items()}
    first = next(iter(parts))
    if examples:
        parts[first] = f"{_HEAD}{parts[first]}"
    task = {"task": sample.parts["task"]}
    return replace(sample, parts=task | ({"example": examples} if examples else {}) | parts)


_HEAD = f"{YOURS}\n\n"


def _parts_of_sample(sample: Sample) -> dict[str, str]:
    """The parts of a prompt that are only about this sample."""
    return {name: text for name, text in sample.parts.items() if name not in ("task", "example")}


def _question_text(sample: Sample) -> str:
    return "\n\n".join(_parts_of_sample(sample).values()).removeprefix(_HEAD)
