"""The question after others of its kind that the same model answered right: its own answers as exemplars.

The exemplars come from a finished run of `ask` over other questions. Which of them stand in a prompt is drawn
(Wan et al. 2024, arXiv:2406.15708, compare such draws with tuned instructions), or are those that are
nearest to the question (dynamic program prompting, arXiv:2305.18170). None is a question that is asked now,
of the same cluster as one, or nearly a copy of one.
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
    count: Annotated[int, Setting("Exemplars before the question, at most.", min=1)] = 3
    choice: Annotated[
        Literal["nearest", "random"], Setting("Those most like the question, or drawn for each question.")
    ] = "nearest"
    seed: Annotated[int, Setting("What draws them.", min=0)] = 0

    def check(self) -> None:
        """Raises InputError where there is no such run."""
        if not (Path(self.answers) / "samples.parquet").is_file():
            raise InputError(
                f"examples: answers={self.answers}: is no finished run folder of `deskcheck ask`. Ask other "
                "questions of the same kind first, and give examples:answers=FOLDER."
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
    """The answers of a model to a kind of question that score 1, of the method that was asked first; one for
    each sample, in the order of the run."""
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
    """A benchmark's answers have the name of the benchmark; its samples that of their kind."""
    form: str = read_json(data, "column data")["form"]
    return form


def allowed(known: Iterable[Exemplar], asked: AskedQuestions) -> list[Exemplar]:
    """Those that are no question that is asked now, nor of the cluster of one, nor nearly a copy."""
    return [
        each
        for each in known
        if each.id not in asked.ids
        and each.cluster not in asked.clusters
        and not asked.near(own_text(each.prompt))
    ]


def chosen(
    known: Sequence[Exemplar], prompt: str, options: ExamplesOptions, seed_text: str
) -> list[Exemplar]:
    """The exemplars for a question, the one that stands next to it last."""
    if options.choice == "random":
        rng = random.Random(f"{options.seed}:{seed_text}")
        return rng.sample(list(known), min(options.count, len(known)))
    mine = frozenset(tokens_of(own_text(prompt)))

    def nearness(each: Exemplar) -> float:
        other = frozenset(tokens_of(own_text(each.prompt)))
        return len(mine & other) / max(1, len(mine | other))

    return sorted(known, key=nearness)[-options.count :]


@scaffold("the question after others that the same model answered right", ExamplesOptions)
async def examples(bench: Bench, options: ExamplesOptions) -> None:
    """Put the question after others that the model answered right."""
    answers = _right_answers(options.answers, bench.model_name, bench.puzzle.question)
    fit = allowed(answers, bench.asked)
    picked = chosen(fit, bench.puzzle.prompt, options, bench.puzzle.id)
    bench.note(
        "exemplars",
        f"{len(picked)} of {len(fit)} right answers; {len(answers) - len(fit)} are too near to what is "
        "asked: " + ", ".join(exemplar.id for exemplar in picked),
    )
    messages = [
        message
        for exemplar in picked
        for message in (Turn("user", exemplar.prompt), Turn("assistant", exemplar.completion))
    ]
    bench.offer(await bench.ask([*messages, Turn("user", bench.puzzle.prompt)], "answer"))
