"""Asking: questions about recordings, put to models, scored, with intervals. What `deskcheck ask` calls.

Inspect AI does the talking to models; its logs are kept beside our table of samples. Inspect's own
files outside the run folder are kept out of the home directory as long as the run lasts.
"""

import json
import logging
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from deskcheck.ask.baselines import oracle
from deskcheck.ask.inspect.models import options_of, plain_text, prepare
from deskcheck.ask.inspect.settings import Generation
from deskcheck.ask.methods.ground_truth import GroundTruth, ground_truth_of
from deskcheck.ask.methods.solvers import METHODS, check_answers, check_methods, named, unfit
from deskcheck.ask.questions.benchmarks import BENCHMARKS, benchmark_in, benchmark_samples
from deskcheck.ask.questions.generate import check_questions, of_each
from deskcheck.ask.questions.load import Folder, by_folder, folder_of
from deskcheck.ask.questions.notebooks import (
    NOTEBOOK_QUESTIONS,
    notebook_samples,
    trajectory_files,
)
from deskcheck.ask.questions.own_words import in_own_words, own_words
from deskcheck.ask.questions.questions import QUESTIONS
from deskcheck.ask.questions.sampling import drawn
from deskcheck.ask.questions.settings import Sampling
from deskcheck.ask.questions.shots import with_shots
from deskcheck.ask.results.asked import Key
from deskcheck.ask.results.effects import by_sample
from deskcheck.ask.results.folder import (
    LOGS,
    Contents,
    card_of,
    disk_errors,
    files_digest,
    finished,
    prompts_digest,
    questions_file,
    read_card,
    run_folder,
    write_samples,
)
from deskcheck.ask.results.results import (
    AskProgress,
    Result,
    ScoredSample,
    Usage,
    result_of,
    scored_of,
    usage_of,
)
from deskcheck.ask.results.statistics import Interval, paired_difference
from deskcheck.ask.results.tables import write_results
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.samples.steps import StepOptions
from deskcheck.ask.scoring.running import by_running, check_runs
from deskcheck.ask.settings import AskSettings
from deskcheck.recording import DeskcheckError, InputError, Recording

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalError, EvalLog
    from inspect_ai.model import Model

Display = Literal["none", "plain", "rich", "full", "log"]
"""What Inspect shows on the terminal while it asks."""


_Asked = dict[tuple[str, str], tuple[list[Sample], Counter[str]]]
"""(question or benchmark, view of the state or nothing) -> samples and what was excluded."""


@dataclass(frozen=True, slots=True)
class _Telling:
    """To whom a run tells how far it is."""

    display: Display
    note: Callable[[str], None]
    progress: Callable[[AskProgress], None]


def questions_of(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    seed: int = 0,
    per_recording: int | None = None,
    steps: StepOptions | None = None,
    doubtful: bool = False,
    methods: Sequence[str] = ("direct",),
    truths: dict[str, GroundTruth] | None = None,
) -> dict[str, tuple[list[Sample], Counter[str]]]:
    """Question -> its samples and what was excluded. The recordings are gone through once.

    Recordings that one of the methods cannot predict are excluded for all, so that all are asked
    the same; the others' truths are added to `truths`.

    Raises:
        InputError: an unknown question; or two recordings have one id, so that samples would too.
    """
    check_questions(questions, QUESTIONS)
    asked: dict[str, tuple[list[Sample], Counter[str]]] = {name: ([], Counter()) for name in questions}

    def truth(recording: Recording) -> tuple[GroundTruth | str | None, str | None]:
        if truths is None:
            return None, None
        found = ground_truth_of(recording)
        return found, next((why for method in methods if (why := unfit(found, method))), None)

    for name, samples, found in of_each(
        recordings,
        questions,
        seed=seed,
        per_recording=per_recording,
        steps=steps,
        doubtful=doubtful,
        excluded={name: reasons for name, (_, reasons) in asked.items()},
        beside=truth,
    ):
        asked[name][0].extend(samples)
        if truths is not None and isinstance(found, GroundTruth):
            truths[found.recording.id] = found
    return asked


def ask(
    recordings: Folder | Iterable[Folder] | Iterable[Recording],
    questions: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    out: Folder | None = None,
    settings: AskSettings | None = None,
    display: Display = "none",
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[AskProgress], None] = lambda answered: None,
) -> list[Result]:
    """Put questions about recordings to models and score the answers: one result per question and model.

    recordings: a folder of recordings, several, or recordings. questions: names in `QUESTIONS`; or in
    `NOTEBOOK_QUESTIONS`, about the trajectories in the folders: one result for each view of the state in
    `settings.notebooks`, and the effect of the views in ``effects.json``. models: as Inspect names them
    (``openai/gpt-...``, ``hf/...``, ``deskcheck/guess``). out: the run folder; by default one named by the
    time, in ``ask`` beside the first folder's recordings, or here. display: what Inspect shows meanwhile.
    note is told what a user wants to know; progress how far it is.

    Writes what `folder` says into the run folder, and nothing elsewhere but for the cache. A run that was
    stopped, however that was, goes on where it was when the same is asked again: in the same folder `out`, or
    without one in the folder that it had. Of a finished run the answers are read.

    Raises:
        InputError: an unknown question or model, a missing key, a run folder that is in use.
        MissingExtra: Inspect AI or a model's client is not installed.
        DeskcheckError: the run failed (the model could not be reached); what was answered is kept.
        Interrupted: Ctrl-C; what was answered is kept.
    """
    settings = settings or AskSettings()
    if isinstance(recordings, (str, os.PathLike)):
        recordings = [recordings]
    sources: list[Any] = list(recordings) if isinstance(recordings, (list, tuple)) else []
    check_questions(questions, [*QUESTIONS, *NOTEBOOK_QUESTIONS])
    check_methods(settings.methods, questions)
    prepared = prepare(models, settings.model_args)
    of_folders = bool(sources) and not isinstance(sources[0], Recording)
    found = _Found()
    if of_programs := [name for name in questions if name in QUESTIONS]:
        found.ask_programs(sources or recordings, of_programs, settings)
    of_notebooks = [name for name in questions if name in NOTEBOOK_QUESTIONS]
    if of_notebooks:
        if not of_folders:
            raise InputError(f"{of_notebooks[0]}: is asked about trajectories: give their folders.")
        found.ask_notebooks(sources, of_notebooks, settings)
    sampling = settings.sampling
    told = {
        "question": list(questions),
        "method": list(settings.methods),
        "explain": settings.explain,
        "max_steps": settings.max_steps,
        "seed": sampling.seed,
        "limit": sampling.limit,
        "per_recording": sampling.per_recording,
        **({"doubtful": True} if sampling.doubtful else {}),
        "recordings": found.contents.digest(),
        "steps": asdict(settings.steps) if "step" in questions else None,
        "notebooks": _told_of_notebooks(settings) if of_notebooks else None,
    }
    found.draw(sampling)
    return _asked(
        found,
        prepared,
        told,
        out=out,
        home=Path(sources[0]) if of_folders else Path(),
        folders=[os.path.abspath(source) for source in sources] if of_folders else [],
        settings=settings if of_notebooks else replace(settings, run_cells=False),
        telling=_Telling(display, note, progress),
    )


class _Found:
    """The samples of recordings and trajectories, before it is drawn which of them are asked."""

    def __init__(self) -> None:
        self.asked: _Asked = {}
        self.truths: dict[str, GroundTruth] | None = None
        self.contents = Contents()
        self.folders: dict[str, int] = {}
        """Program or notebook -> number of the folder that it is from."""

    def ask_programs(self, recordings: Any, questions: Sequence[str], settings: AskSettings) -> None:
        predicting = any(named(text)[0].notation for text in settings.methods)
        self.truths = {} if predicting else None
        made = questions_of(
            self.contents.through(by_folder(recordings, self.folders)),
            questions,
            seed=settings.sampling.seed,
            per_recording=settings.sampling.per_recording,
            steps=settings.steps,
            doubtful=settings.sampling.doubtful,
            methods=settings.methods,
            truths=self.truths,
        )
        self.asked |= {(name, ""): found for name, found in made.items()}

    def ask_notebooks(self, folders: Sequence[Any], questions: Sequence[str], settings: AskSettings) -> None:
        if settings.run_cells:
            check_runs()
        files = trajectory_files(folders)
        for file in files:
            self.contents.add_file(file)
        made = notebook_samples(
            files,
            questions,
            settings.notebooks,
            seed=settings.sampling.seed,
            per_recording=settings.sampling.per_recording,
        )
        self.asked |= made
        for samples, _ in made.values():
            for sample in samples:
                self.folders.setdefault(sample.program, folder_of(sample.data["trajectory"], folders))

    def draw(self, sampling: Sampling) -> None:
        """Leave those that are asked."""
        self.asked = {
            key: (drawn(samples, seed=sampling.seed, limit=sampling.limit, folders=self.folders), excluded)
            for key, (samples, excluded) in self.asked.items()
        }


def _told_of_notebooks(settings: AskSettings) -> dict[str, Any]:
    options = settings.notebooks
    return {**asdict(options), "state": list(options.state), "run_cells": settings.run_cells}


def ask_benchmark(
    benchmarks: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    path: str | None = None,
    out: Folder | None = None,
    settings: AskSettings | None = None,
    display: Display = "none",
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[AskProgress], None] = lambda answered: None,
) -> list[Result]:
    """As `ask`, for benchmarks: names in `BENCHMARKS`, each as ``NAME:PATH`` or fetched, or files of programs
    of one's own. path: of the file of all that name none. By methods that need no recording.

    Raises InputError, too, where a benchmark cannot be read."""
    settings = replace(settings or AskSettings(), run_cells=False)
    seed, limit = settings.sampling.seed, settings.sampling.limit
    texts = [f"{text}:{path}" if path is not None and text in BENCHMARKS else text for text in benchmarks]
    unknown = [text for text in texts if benchmark_in(text) is None]
    if unknown or not texts:
        check_questions(unknown, BENCHMARKS)
    check_methods(settings.methods, [])
    if any(named(text)[0].notation for text in settings.methods):
        fit = ", ".join(name for name, known in METHODS.items() if known.notation is None)
        raise InputError(f"benchmarks are asked by methods that need no recording: {fit}.")
    prepared = prepare(models, settings.model_args)
    found = _Found()
    found.asked = {
        (name, ""): (drawn(samples, seed=seed, limit=limit), Counter[str]())
        for name, samples in benchmark_samples(texts, note=note).items()
    }
    told = {
        "question": [name for name, _ in found.asked],
        "method": list(settings.methods),
        "seed": seed,
        "limit": limit,
    }
    return _asked(
        found,
        prepared,
        told,
        out=out,
        home=Path(),
        settings=settings,
        telling=_Telling(display, note, progress),
    )


def compare(first: Result, second: Result) -> Interval:
    """Second minus first, paired by sample, with a 95 % interval clustered by program.

    Raises ValueError if the two were not asked the same samples.
    """
    clusters = {row.id: row.cluster for row in [*first.samples, *second.samples]}
    scores = [by_sample(result.samples, "score") for result in (first, second)]
    return paired_difference(scores[0], scores[1], clusters)


# -- the run -------------------------------------------------------------------------------------------


@contextmanager
def _inside(folder: Path, *, cache: bool) -> Iterator[None]:
    """Inspect's own files go into the run folder, unless the user has said where; after the run they go. Its
    cache of completions stays where Inspect has it, if that is wanted."""
    private = folder.resolve() / ".inspect"
    wanted = {"XDG_DATA_HOME": private / "data"}
    if not cache:
        wanted |= {"INSPECT_CACHE_DIR": private / "cache", "XDG_CACHE_HOME": private / "cache"}
    added = {name: str(path) for name, path in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        shutil.rmtree(private, ignore_errors=True)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while models were asked. The text says how many answers are kept, and where."""


def _asked(
    found: _Found,
    models: "Sequence[Model]",
    told: Mapping[str, Any],
    *,
    out: Folder | None,
    home: Path,
    settings: AskSettings,
    folders: Sequence[str] = (),
    telling: _Telling,
) -> list[Result]:
    """Ask in a run folder: a new one, or one in which the same was asked and not finished.

    told: what the run's card tells of what is asked."""
    asked = found.asked
    if (shots := settings.sampling.shots) is not None:
        asked = found.asked = {
            key: (
                with_shots(samples, shots, seed=settings.sampling.seed, excluded=excluded),
                excluded,
            )
            for key, (samples, excluded) in asked.items()
        }
    if texts := own_words(settings.sampling, [*dict.fromkeys(question for question, _ in asked)]):
        asked = found.asked = {
            (question, state): (in_own_words(samples, texts[question]), excluded)
            if question in texts
            else (samples, excluded)
            for (question, state), (samples, excluded) in asked.items()
        }
    if settings.generation.completion and set(settings.methods) != {"direct"}:
        raise InputError("--completion is for the method direct: other methods need a chat.")
    check_answers(settings.methods, {_name(*key): samples for key, (samples, _) in asked.items()})
    model_args = settings.model_args
    servers = {str(model): url for model in models if (url := model.api.base_url)}
    card = card_of(
        {
            **told,
            "model": [str(model) for model in models],
            "model_args": {name: _told(name, value) for name, value in model_args.items()},
            "model_files": _model_files(models, model_args),
            "base_url": {name: _without_secrets(url) for name, url in servers.items()},
            "generation": settings.generation.decisive(),
            "asked": {_name(*key): len(samples) for key, (samples, _) in asked.items()},
            "prompts": {_name(*key): prompts_digest(samples) for key, (samples, _) in asked.items()},
        },
        folders,
        hidden={
            **servers,
            **{name: value for name, value in model_args.items() if _told(name, value) != value},
        },
    )
    with run_folder(out, home, card, telling.note) as folder, disk_errors(folder):
        card = read_card(folder) or card
        if finished(folder):
            from deskcheck.ask.results.logs import read_logs

            telling.note(f"{folder}: this was asked before; --out NEW_FOLDER asks it again")
            return list(read_logs([folder]).results)
        for key, (samples, _) in asked.items():
            write_samples(questions_file(folder, _name(*key)), samples)
        return _put(found, models, folder, card, settings=settings, telling=telling)


def _name(question: str, state: str) -> str:
    return f"{question}_{state}" if state else question


_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password|credentials?)$", re.IGNORECASE)
"""Names of arguments whose values stay out of files."""


def _told(name: str, value: Any) -> Any:
    """An argument of a model as the card tells it."""
    if _SECRET.search(name):
        return "(not kept)"
    if isinstance(value, str) and "://" in value:
        return _without_secrets(value)
    return json.loads(json.dumps(value, default=str))


def _without_secrets(url: str) -> str:
    """An address without a user's name and password, and without its query."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


_LOCAL = frozenset({"hf", "sglang", "vllm"})
"""Providers for which a name that is a path is a folder of weights."""


def _model_files(models: "Sequence[Model]", model_args: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Files that models are read from: of a model's name, or an argument, the path and a digest. A
    checkpoint that was trained on is another model of the same name."""
    found = {name: Path(value) for name, value in model_args.items() if isinstance(value, (str, Path))}
    for model in models:
        provider, _, name = str(model).partition("/")
        taught = getattr(model.api, "folder", None)
        if taught is not None or provider in _LOCAL:
            found[str(model)] = Path(taught or name)
    return {
        name: {"path": os.path.abspath(path), "digest": files_digest(path)}
        for name, path in found.items()
        if not _SECRET.search(name) and path.parts and _is_there(path)
    }


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # an argument that can be no path
        return False


def _put(
    found: _Found,
    models: "Sequence[Model]",
    folder: Path,
    card: Mapping[str, Any],
    *,
    settings: AskSettings,
    telling: _Telling,
) -> list[Result]:
    from deskcheck.ask.inspect.completion import continue_prompts
    from deskcheck.ask.inspect.solvers import forget, remember, token_of
    from deskcheck.ask.inspect.tasks import count_offline, now_in

    for model in models:
        count_offline(model)
        if settings.generation.completion:
            continue_prompts(model)
    asked, truths = found.asked, found.truths or {}
    runs = [remember(truth, token_of(card["recordings"], id_)) for id_, truth in truths.items()]
    begun = Path(card["folder"])
    try:
        with now_in(begun, folder.resolve()):
            tasks = _tasks(asked, begun, card, settings)
            logs = _inspected(
                tasks, models, folder, _total(asked, models, settings), settings.generation, telling
            )
    finally:
        forget(runs)
        for samples, _ in asked.values():
            oracle.forget(samples)
    rows, used = _rows(logs, asked)
    failed = _failed(logs)
    if settings.run_cells:
        following = {key: those for key, those in rows.items() if key[0] == "next_cell"}
        did = by_running(row for those in following.values() for row in those)
        for key, those in following.items():
            ran = [(row, did[row.id, row.completion]) for row in those]
            rows[key] = tuple(replace(row, by_running=d.score, ran=d.why) for row, d in ran)
    results = [
        result_of(*key, rows.get(key, ()), excluded, folder, used.get(key, ()), failed.get(key))
        for (question, state), (_, excluded) in asked.items()
        for model in models
        for method in settings.methods
        for key in [(question, state, method, str(model))]
    ]
    if failed:
        whys = sum(failed.values(), Counter())
        telling.note(
            f"{whys.total()} requests failed, and are not in the scores: {'; '.join(whys)}. "
            "The same command sends them again."
        )
    else:  # the run is over
        write_results(results, folder, card)
    return results


def _total(asked: _Asked, models: "Sequence[Model]", settings: AskSettings) -> int:
    """Answers that all models give together."""
    samples = sum(len(samples) for samples, _ in asked.values())
    return samples * len(settings.methods) * settings.generation.epochs * len(models)


def _tasks(asked: _Asked, begun: Path, card: Mapping[str, Any], settings: AskSettings) -> "list[Task]":
    """begun: the run folder, by where it was when the run began."""
    from deskcheck.ask.inspect.tasks import asked as asked_task

    return [
        asked_task(
            questions=str(questions_file(begun, _name(question, state))),
            digest=card["prompts"][_name(question, state)],
            question=question,
            state=state,
            method=method,
            alone=len(settings.methods) == 1,
            explain=settings.explain,
            max_steps=settings.max_steps,
        )
        for (question, state), (samples, _) in asked.items()
        for method in settings.methods
        if samples
    ]


def _rows(
    logs: "Sequence[EvalLog]", asked: _Asked
) -> tuple[dict[Key, tuple[ScoredSample, ...]], dict[Key, tuple[Usage, ...]]]:
    """Scores, and what they took, in the order in which the samples were drawn."""
    rows: dict[Key, tuple[ScoredSample, ...]] = {}
    used: dict[Key, tuple[Usage, ...]] = {}
    for log in logs:
        key = question, state, method, _ = _key_of(log)
        place = {sample.id: at for at, sample in enumerate(asked[question, state][0])}

        def order(row: ScoredSample | Usage, place: Mapping[str, int] = place) -> tuple[int, int]:
            return place[row.id], row.epoch

        rows[key] = tuple(sorted(scored_of(log, question, state, method), key=order))
        used[key] = tuple(sorted(usage_of(log, question, state, method), key=order))
    return rows, used


def _key_of(log: "EvalLog") -> Key:
    told = log.eval.metadata or {}
    return str(told["question"]), str(told["state"]), str(told["method"]), log.eval.model


def _failed(logs: "Sequence[EvalLog]") -> dict[Key, Counter[str]]:
    """Why requests failed, and how many."""
    found: dict[Key, Counter[str]] = {}
    for log in logs:
        for sample in log.samples or ():
            if sample.error is not None:
                found.setdefault(_key_of(log), Counter())[_why(sample.error)] += 1
    return found


_RAISED = re.compile(r"^([^\W\d][\w.]*(?:Error|Exception|Timeout)): *(\S.*)$", re.MULTILINE)


def _why(error: "EvalError") -> str:
    """What made a request fail, in a sentence: the exception that began it, not those of who tried again."""
    raised = _RAISED.search(error.traceback)
    if "Timeout" in error.message or (raised and "Timeout" in raised[1]):
        return "no answer came in time (--timeout)"
    if raised and raised[1].endswith("JSONDecodeError"):
        return f"the answer is no completion: {raised[2]}"
    return plain_text(f"{raised[1].rpartition('.')[2]}: {raised[2]}" if raised else error.message)[
        :500
    ].rstrip(".")


def _inspected(
    tasks: "Sequence[Task]",
    models: "Sequence[Model]",
    folder: Path,
    total: int,
    generation: Generation,
    telling: _Telling,
) -> "list[EvalLog]":
    """The logs of all tasks by all models, which are whole. What the logs of the folder hold is not asked
    again.

    Raises DeskcheckError or Interrupted where one is not whole.
    """
    if not tasks:
        return []
    import rich
    from inspect_ai import eval_set
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.log import read_eval_log

    from deskcheck.ask.inspect.tasks import watched

    place = folder / LOGS
    kept = f"they are kept in {folder}: the same command asks only the rest."
    console = rich.get_console()
    quiet, console.quiet = console.quiet, console.quiet or telling.display == "none"
    # Inspect's own diary of a run is a handler of logging: where the disk is full, it would print a traceback
    # for each entry. Its logs of answers are none; they raise.
    loud, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        with _inside(folder, cache=generation.cache), watched(_scored(place), total, telling.progress):
            # All models at once: Inspect runs the tasks of different models side by side.
            _, found = eval_set(
                list(tasks),
                model=list(models),
                log_dir=str(place),
                log_format="eval",
                log_realtime=False,
                log_buffer=max(1, max(len(task.dataset) for task in tasks) // 300),
                log_level="warning",
                score_display=False,
                display=telling.display,
                ctl_server=False,
                retry_on_error=1,
                continue_on_fail=True,
                retry_attempts=1,
                retry_immediate=False,
                **options_of(generation),
            )
    except PrerequisiteError as error:
        why = plain_text(str(error.message))
        if "cost" in why:
            why = "the prices of a model are not known, which cost_limit needs: give --price MODEL=IN,OUT."
        raise InputError(f"{folder}: {why}") from error
    except KeyboardInterrupt:
        found = []
    finally:
        console.quiet = quiet
        logging.raiseExceptions = loud
    failed = next((log for log in found if log.status == "error"), None)
    if failed is not None and not _scored(place):
        raise DeskcheckError(
            f"asking {failed.eval.model} did not finish: {_why_failed(failed)}. "
            f"None of {total} answers was scored; {kept}"
        )
    if len(found) < len(tasks) * len(models) or any(log.status not in ("success", "error") for log in found):
        raise Interrupted(f"{len(_scored(place))} of {total} answers were scored; {kept}")
    wanted = {log.location for log in found}
    for path in place.glob("*.eval"):  # of runs that were killed; what they held is in the others
        if not any(location.endswith(path.name) for location in wanted):
            path.unlink()
    return [read_eval_log(log.location) for log in found]


def _why_failed(log: "EvalLog") -> str:
    """What ended a task, or else the first of its samples that failed."""
    from inspect_ai.log import read_eval_log

    errors = [
        sample.error for sample in read_eval_log(log.location).samples or () if sample.error is not None
    ]
    errors = errors or ([log.error] if log.error is not None else [])
    return _why(errors[0]) if errors else "its log does not tell why"


def _scored(place: Path) -> set[tuple[str, str, str, int]]:
    """(task, model, sample, epoch) of all answers that the logs of a folder hold, scored."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    found: set[tuple[str, str, str, int]] = set()
    for path in place.glob("*.eval"):
        try:
            about = read_eval_log(str(path), header_only=True).eval
            samples = read_eval_log_sample_summaries(str(path))
        except Exception as error:  # whatever a reader of foreign files raises on a damaged one
            raise InputError(
                f"{path}: cannot be read: {error}. Remove it: what it holds is asked again."
            ) from error
        for sample in samples:
            if sample.scores and sample.error is None:
                found.add((about.task, about.model, str(sample.id), sample.epoch))
    return found
