"""Asking models questions about recordings, and scoring, with intervals. `deskcheck ask` calls this.

Inspect AI talks to the models; a run folder has its logs and deskcheck's tables.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.ask.answers.parsing import CLOSE
from deskcheck.ask.baselines import oracle
from deskcheck.ask.inspect.context import AskProgress, RunContext, new_run, run_key
from deskcheck.ask.inspect.evaluation import Interrupted, evaluate, why
from deskcheck.ask.inspect.models import facts_of, prepare
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import METHODS, check_answers, check_methods, named, unfit
from deskcheck.ask.questions.benchmarks import BENCHMARKS, benchmark_in, benchmark_samples
from deskcheck.ask.questions.gathering import Contents, Gathering, SampleSets
from deskcheck.ask.questions.generate import check_questions
from deskcheck.ask.questions.load import Folder
from deskcheck.ask.questions.own_words import in_own_words, own_words
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.shots import with_shots
from deskcheck.ask.results.folder import (
    card_of,
    disk_errors,
    finished,
    prompts_digest,
    questions_file,
    read_card,
    run_folder,
    write_samples,
)
from deskcheck.ask.results.results import Result, result_of
from deskcheck.ask.results.rows import Key, ScoredSample, Usage, by_sample
from deskcheck.ask.results.statistics import Interval, paired_difference
from deskcheck.ask.results.tables import write_results
from deskcheck.ask.scoring.running import by_running, check_runs
from deskcheck.ask.settings import AskSettings
from deskcheck.recording import InputError, Recording

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

__all__ = ["Interrupted", "ask", "ask_benchmark", "compare"]


def ask(
    recordings: Folder | Iterable[Folder] | Iterable[Recording],
    questions: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    out: Folder | None = None,
    settings: AskSettings | None = None,
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[AskProgress], None] = lambda answered: None,
) -> list[Result]:
    """Ask models questions about recordings, and score the answers: one result per question and model.

    recordings: a folder of recordings, several, or recordings. questions: names in `QUESTIONS`, or in
    `NOTEBOOK_QUESTIONS`, about the trajectories in the folders: these have a result for each view of the
    state in `settings.notebooks`. models: Inspect's names (``openai/gpt-...``, ``deskcheck/guess``). out: the
    run folder; by default a new one in ``ask`` beside the first folder's recordings, or here. note: gets
    sentences for the user.

    Writes into the run folder (`results.folder`), and elsewhere only Inspect's cache. Repeat the call to
    continue a run that was stopped, in the folder `out`, or without one in the folder that the run had. If
    the run is finished, its answers are read.

    Raises:
        InputError: an unknown question or model, a missing key, a run folder that is in use.
        MissingExtra: Inspect AI or a model's client is not installed.
        DeskcheckError: the run failed (the model could not be reached). Answers are kept.
        Interrupted: Ctrl-C. Answers are kept.
    """
    settings = settings or AskSettings()
    sampling = settings.sampling
    contents = Contents()
    gathering = Gathering(
        recordings,
        questions,
        sampling=sampling,
        steps=settings.steps,
        notebooks=settings.notebooks,
        contents=contents,
    )
    check_methods(settings.methods, questions)
    if not gathering.of_notebooks:
        settings = replace(settings, run_cells=False)
    run = _Run(prepare(models, settings.model_args), settings, note, progress)
    run.add(gathering)
    run.draw()
    facts = {
        "question": list(questions),
        "method": list(settings.methods),
        "explain": settings.explain,
        "max_steps": settings.max_steps,
        "seed": sampling.seed,
        "limit": sampling.limit,
        "per_recording": sampling.per_recording,
        **({"doubtful": True} if sampling.doubtful else {}),
        "recordings": contents.digest(),
        "steps": asdict(settings.steps) if "step" in questions else None,
        "notebooks": _notebook_facts(settings) if gathering.of_notebooks else None,
    }
    places = gathering.places
    return run.results(facts, out, Path(*places[:1]), [os.path.abspath(place) for place in places])


def _notebook_facts(settings: AskSettings) -> dict[str, Any]:
    options = settings.notebooks
    return {**asdict(options), "state": list(options.state), "run_cells": settings.run_cells}


def ask_benchmark(
    benchmarks: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    out: Folder | None = None,
    settings: AskSettings | None = None,
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[AskProgress], None] = lambda answered: None,
) -> list[Result]:
    """Like `ask`, for benchmarks: names in `BENCHMARKS`, each as ``NAME:PATH`` or fetched, or files of your
    own programs. Methods that need a recording are refused.

    Raises what `ask` raises, and InputError for a benchmark that cannot be read.
    """
    settings = replace(settings or AskSettings(), run_cells=False)
    unknown = [text for text in benchmarks if benchmark_in(text) is None]
    if unknown or not benchmarks:
        check_questions(unknown, BENCHMARKS)
    check_methods(settings.methods, [])
    if any(named(text)[0].notation for text in settings.methods):
        fit = ", ".join(name for name, method in METHODS.items() if method.notation is None)
        raise InputError(f"benchmarks are asked by methods that need no recording: {fit}.")
    run = _Run(prepare(models, settings.model_args), settings, note, progress)
    samples = benchmark_samples(benchmarks, note=note)
    run.sets = {(name, ""): (benchmark_set, Counter()) for name, benchmark_set in samples.items()}
    run.draw()
    facts = {
        "question": [name for name, _ in run.sets],
        "method": list(settings.methods),
        "seed": settings.sampling.seed,
        "limit": settings.sampling.limit,
    }
    return run.results(facts, out, Path(), [])


def compare(first: Result, second: Result) -> Interval:
    """Second minus first, paired by sample, with a 95 % interval clustered by program.

    Raises ValueError if the two were not asked the same samples.
    """
    clusters = {row.id: row.cluster for row in [*first.samples, *second.samples]}
    scores = [by_sample(result.samples, "score") for result in (first, second)]
    return paired_difference(scores[0], scores[1], clusters)


def truth_of(recording: Recording, methods: Sequence[str]) -> tuple[GroundTruth | str | None, str | None]:
    """The true states of a run, and None or the reason why one of the methods cannot predict it."""
    states = ground_truth_of(recording)
    return states, next(filter(None, (unfit(states, method) for method in methods)), None)


@dataclass(slots=True)
class _Run:
    """The samples of a run, and how they are put to models."""

    models: "Sequence[Model]"
    settings: AskSettings
    note: Callable[[str], None]
    progress: Callable[[AskProgress], None]
    sets: SampleSets = field(default_factory=dict)
    truths: dict[str, GroundTruth] = field(default_factory=dict)
    """Program -> its true states, for methods that predict runs."""
    folders: dict[str, int] = field(default_factory=dict)
    """Program or notebook -> number of its folder."""

    def add(self, gathering: Gathering) -> None:
        """Gather the samples. Recordings that one of the methods cannot predict are excluded for all."""
        if self.settings.run_cells:
            check_runs()
        self.folders = gathering.folders
        if any(named(text)[0].notation for text in self.settings.methods):
            self.sets = gathering.sets(partial(truth_of, methods=self.settings.methods), self._add_truth)
        else:
            self.sets = gathering.sets()

    def _add_truth(self, states: GroundTruth | str | None) -> None:
        if isinstance(states, GroundTruth):
            self.truths[states.recording.id] = states

    def draw(self) -> None:
        """Leave the samples that are drawn, with examples and in the user's words if the settings say so.

        Raises InputError: a method cannot answer a sample.
        """
        settings, sampling = self.settings, self.settings.sampling
        texts = own_words(sampling, [*dict.fromkeys(question for question, _ in self.sets)])
        for (question, state), (samples, excluded) in self.sets.items():
            samples = drawn(samples, seed=sampling.seed, limit=sampling.limit, folders=self.folders or None)
            if sampling.shots is not None:
                samples = with_shots(samples, sampling.shots, seed=sampling.seed, excluded=excluded)
            if question in texts:
                samples = in_own_words(samples, texts[question])
            self.sets[question, state] = samples, excluded
        if settings.generation.completion and set(settings.methods) != {"direct"}:
            raise InputError("--completion is for the method direct: other methods need a chat.")
        check_answers(settings.methods, {_name(*key): samples for key, (samples, _) in self.sets.items()})

    def results(
        self, facts: Mapping[str, Any], out: Folder | None, home: Path, folders: Sequence[str]
    ) -> list[Result]:
        """The results, from a run folder with the same questions and settings, or from the models.

        facts: entries of the run's card about the samples. home: the folder of run folders if `out` is None.
        """
        sets = {_name(*key): samples for key, (samples, _) in self.sets.items()}
        model_facts, hidden = facts_of(self.models, self.settings.model_args)
        card = card_of(
            {
                **facts,
                **model_facts,
                "generation": self.settings.generation.decisive(),
                "asked": {name: len(samples) for name, samples in sets.items()},
                "prompts": {name: prompts_digest(samples) for name, samples in sets.items()},
            },
            folders,
            hidden=hidden,
        )
        with run_folder(out, home, card, self.note) as folder, disk_errors(folder):
            card = read_card(folder) or card
            if finished(folder):
                from deskcheck.ask.results.logs import read_logs

                self.note(
                    f"{folder}: these questions were asked before; to ask again, choose a new folder with "
                    "--out"
                )
                return list(read_logs([folder]).results)
            for name, samples in sets.items():
                write_samples(questions_file(folder, name), samples)
            logs = self._logs(folder, card)
            return self._scored(logs, folder, card)

    def _logs(self, folder: Path, card: Mapping[str, Any]) -> "list[EvalLog]":
        """The logs of all models, with the answers that the folder has."""
        from deskcheck.ask.inspect.completion import close_answers, continue_prompts
        from deskcheck.ask.inspect.provider import count_offline

        generation = self.settings.generation
        for model in self.models:
            count_offline(model)
            if generation.completion:
                continue_prompts(model)
            elif CLOSE in generation.stop:
                close_answers(model)
        count = sum(len(samples) for samples, _ in self.sets.values()) * len(self.settings.methods)
        try:
            with new_run() as context:
                tasks = self._tasks(context, folder, card)
                total = count * generation.epochs * len(self.models)
                return evaluate(tasks, self.models, folder, total, generation, self.progress)
        finally:
            for samples, _ in self.sets.values():
                oracle.forget(samples)

    def _tasks(self, context: RunContext, folder: Path, card: Mapping[str, Any]) -> "list[Task]":
        from deskcheck.ask.inspect.tasks import asked

        begun = Path(card["folder"])
        context.folders[begun] = folder.resolve()
        for id_, truth in self.truths.items():
            context.add_run(truth, run_key(card["recordings"], id_))
        return [
            asked(
                questions=str(questions_file(begun, _name(question, state))),
                digest=card["prompts"][_name(question, state)],
                question=question,
                state=state,
                method=method,
                alone=len(self.settings.methods) == 1,
                explain=self.settings.explain,
                max_steps=self.settings.max_steps,
            )
            for (question, state), (samples, _) in self.sets.items()
            for method in self.settings.methods
            if samples
        ]

    def _scored(self, logs: "Sequence[EvalLog]", folder: Path, card: Mapping[str, Any]) -> list[Result]:
        """The results of logs. They are written unless requests failed: then the run is not over."""
        rows, usage = self._rows(logs)
        failed = _failed(logs)
        results = [
            result_of(*key, rows.get(key, ()), excluded, folder, usage.get(key, ()), failed.get(key))
            for (question, state), (_, excluded) in self.sets.items()
            for model in self.models
            for method in self.settings.methods
            for key in [Key(question, state, method, str(model))]
        ]
        if failed:
            reasons = sum(failed.values(), Counter())
            self.note(
                f"{reasons.total()} requests failed and are not in the scores: {'; '.join(reasons)}. Rerun "
                "the command to send them again."
            )
        else:
            write_results(results, folder, card)
        return results

    def _rows(
        self, logs: "Sequence[EvalLog]"
    ) -> tuple[dict[Key, tuple[ScoredSample, ...]], dict[Key, tuple[Usage, ...]]]:
        """Scores and usage, in the order in which the samples were drawn."""
        from deskcheck.ask.results.inspect_logs import scored_of, usage_of

        rows: dict[Key, tuple[ScoredSample, ...]] = {}
        usage: dict[Key, tuple[Usage, ...]] = {}
        for log in logs:
            key = _key_of(log)
            position = {sample.id: at for at, sample in enumerate(self.sets[key.question, key.state][0])}

            def order(row: ScoredSample | Usage, position: Mapping[str, int] = position) -> tuple[int, int]:
                return position[row.id], row.epoch

            samples = log.samples or []
            rows[key] = tuple(sorted(scored_of(samples, key), key=order))
            usage[key] = tuple(sorted(usage_of(samples, key), key=order))
        if self.settings.run_cells:
            following = {key: scored for key, scored in rows.items() if key.question == "next_cell"}
            runs = by_running(row for scored in following.values() for row in scored)
            for key, scored in following.items():
                pairs = [(row, runs[row.id, row.completion]) for row in scored]
                rows[key] = tuple(replace(row, by_running=run.score, ran=run.reason) for row, run in pairs)
        return rows, usage


def _name(question: str, state: str) -> str:
    return f"{question}_{state}" if state else question


def _key_of(log: "EvalLog") -> Key:
    metadata = log.eval.metadata or {}
    return Key(str(metadata["question"]), str(metadata["state"]), str(metadata["method"]), log.eval.model)


def _failed(logs: "Sequence[EvalLog]") -> dict[Key, Counter[str]]:
    """Reasons why requests failed, and how many did."""
    reasons: dict[Key, Counter[str]] = {}
    for log in logs:
        for sample in log.samples or ():
            if sample.error is not None:
                reasons.setdefault(_key_of(log), Counter())[why(sample.error)] += 1
    return reasons
