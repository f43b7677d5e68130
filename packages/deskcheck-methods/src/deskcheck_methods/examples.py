"""Puts questions of the same kind, with the model's right answers to them, before the question.

These exemplars come from a finished run of `ask` over other questions. They are drawn at random (Wan et al.
2024, arXiv:2406.15708, compare such draws with tuned instructions), or are most similar to the question
(dynamic program prompting, arXiv:2305.18170). Questions of the current run, of their clusters, and near
copies of them are excluded.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from deskcheck.files import read_json
from deskcheck.recording import InputError
from deskcheck.settings import Setting
from deskcheck.sources.near import tokens_of
from deskcheck_methods.bench import Bench, Options, Turn, scaffold
from deskcheck_methods.visible import AskedQuestions, own_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesOptions(Options):
    """answers: the folder of the run."""

    answers: Annotated[str, Setting("Folder of a finished run of `deskcheck ask` over other questions.")] = ""
    count: Annotated[int, Setting("Limit for exemplars before the question.", min=1)] = 3
    choice: Annotated[
        Literal["nearest", "random"], Setting("Choose exemplars like the question, or draw them.")
    ] = "nearest"
    seed: Annotated[int, Setting("Seed of the draw.", min=0)] = 0

    def check(self) -> None:
        """Raises InputError if the run does not exist."""
        if not (Path(self.answers) / "samples.parquet").is_file():
            raise InputError(
                f"examples: answers={self.answers}: is not a finished run folder of `deskcheck ask`. Ask "
                "other questions of the same kind first, and give examples:answers=FOLDER."
            )


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A question that was answered right."""

    id: str
    cluster: str
    prompt: str
    completion: str


@cache
def _right_answers(folder: str, model: str, question: str) -> tuple[Exemplar, ...]:
    """A model's answers to a kind of question with a score of 1, one for each sample, in the run's order.

    If the run has several methods, they are those of the first one.
    """
    import pyarrow.parquet as pq

    names = ["id", "cluster", "question", "model", "solver", "score", "prompt", "completion", "data"]
    exemplars: dict[str, Exemplar] = {}
    solver = None
    for row in pq.read_table(Path(folder) / "samples.parquet", columns=names).to_pylist():
        if row["model"] != model or question not in (row["question"], _form(row["data"])):
            continue
        solver = row["solver"] if solver is None else solver
        if row["score"] == 1 and row["solver"] == solver:
            exemplar = Exemplar(row["id"], row["cluster"], row["prompt"], row["completion"])
            exemplars.setdefault(row["id"], exemplar)
    return tuple(exemplars.values())


def _form(data: str) -> str:
    """The form in a sample's data. (Answers to a benchmark have its name; the samples have their kind's.)"""
    form: str = read_json(data, "column data")["form"]
    return form


def allowed(exemplars: Iterable[Exemplar], questions: AskedQuestions) -> list[Exemplar]:
    """The exemplars that are not questions of the run, in clusters of such questions, or near copies."""
    return [
        exemplar
        for exemplar in exemplars
        if exemplar.id not in questions.ids
        and exemplar.cluster not in questions.clusters
        and not questions.near(own_text(exemplar.prompt))
    ]


def chosen(
    exemplars: Sequence[Exemplar], prompt: str, options: ExamplesOptions, seed_text: str
) -> list[Exemplar]:
    """The exemplars for a question. The last one directly precedes it."""
    if options.choice == "random":
        rng = random.Random(f"{options.seed}:{seed_text}")
        return rng.sample(list(exemplars), min(options.count, len(exemplars)))
    mine = frozenset(tokens_of(own_text(prompt)))

    def nearness(exemplar: Exemplar) -> float:
        words = frozenset(tokens_of(own_text(exemplar.prompt)))
        return len(mine & words) / max(1, len(mine | words))

    return sorted(exemplars, key=nearness)[-options.count :]


@scaffold("the question after others that the same model answered right", ExamplesOptions)
async def examples(bench: Bench, options: ExamplesOptions) -> None:
    """Ask the question after exemplars."""
    answers = _right_answers(options.answers, bench.model_name, bench.puzzle.question)
    fit = allowed(answers, bench.run_questions)
    picked = chosen(fit, bench.puzzle.prompt, options, bench.puzzle.id)
    bench.note(
        "exemplars",
        f"{len(picked)} of {len(fit)} right answers; {len(answers) - len(fit)} are too similar to the "
        f"question: " + ", ".join(exemplar.id for exemplar in picked),
    )
    messages = [
        message
        for exemplar in picked
        for message in (Turn("user", exemplar.prompt), Turn("assistant", exemplar.completion))
    ]
    bench.offer(await bench.ask([*messages, Turn("user", bench.puzzle.prompt)], "answer"))
