"""Asking: questions about recordings, put to models, marked, with intervals. What `deskcheck ask` calls.

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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit, urlunsplit

from deskcheck.ask import oracle
from deskcheck.ask._alike import Alike
from deskcheck.ask.course import Course, course_of
from deskcheck.ask.draw import drawn
from deskcheck.ask.effects import by_sample, effects
from deskcheck.ask.folder import (
    LOGS,
    RESULTS,
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
    write_whole,
)
from deskcheck.ask.load import Folder, by_folder, folder_of
from deskcheck.ask.marking import Reading
from deskcheck.ask.notebooks import (
    NOTEBOOK_QUESTIONS,
    NotebookOptions,
    notebook_samples,
    trajectory_files,
)
from deskcheck.ask.questions import QUESTIONS
from deskcheck.ask.running import by_running, check_runs
from deskcheck.ask.sample import Sample
from deskcheck.ask.solvers import METHODS, STEP_BUDGET, check_methods, unfit
from deskcheck.ask.statistics import Interval, mean_interval, paired_difference
from deskcheck.ask.steps import Ran, Steps, steps_of
from deskcheck.ask.suites import SUITES
from deskcheck.notation import Agreement, Divergence
from deskcheck.recording import DeskcheckError, InputError, MissingExtra, Recording, RecordingError

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model, ModelUsage
    from inspect_ai.solver import Solver

MEASURED = ("exact", "rouge_l", "chrf", "by_value", "by_running")
"""Columns of ``samples.parquet`` that are metrics."""
STEPS = ("steps_asked", "steps_judged", "steps_exact", "steps_places", "steps_values")
"""Columns of ``samples.parquet`` that count steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One sample as it was answered and marked: a row of ``samples.parquet``.

    answer: what was read from the completion, None if nothing could be. expected: the reference answer (of an
    ``input`` question, one of the right ones). reason: why the score is 0. state: of questions about
    notebooks the view of the state, else empty. reading: what the completion is (`marking.Reading`).
    stop_reason: why it ended, in Inspect's words; None where that is not known. epoch: which of several
    answers of the model to this sample, from 1. exact, rouge_l, chrf, by_value: of those questions the
    metrics (`marking.METRICS`), None where a question has not that one. by_running: of next cells, where that
    was asked for (`running`), None where it cannot be told. ran: what came of running it: the first
    difference, or why nothing can be told.

    solver: the method (`solvers.METHODS`). Of those that predict the run: run: equal for samples that were
    answered from the same predicted run; steps_asked and so on: its steps (`steps.Ran`); divergence: kind of
    the first, empty if there is none; ended: what could not be read, where that ended it; predicted: the
    trace as the model wrote it, cut if it is long.

    prompt: the question; of methods that predict the run the model did not see it.
    """

    id: str
    program: str
    cluster: str
    question: str
    model: str
    solver: str
    completion: str
    answer: str | None
    expected: str
    score: float
    reason: str
    data: str
    """`Sample.data` as JSON: of questions about notebooks also what went into the prompt and what was cut."""
    state: str = ""
    reading: str = ""
    stop_reason: str | None = None
    epoch: int = 1
    exact: float | None = None
    rouge_l: float | None = None
    chrf: float | None = None
    by_value: float | None = None
    by_running: float | None = None
    ran: str = ""
    run: str = ""
    steps_asked: int | None = None
    steps_judged: int | None = None
    steps_exact: int | None = None
    steps_places: int | None = None
    steps_values: int | None = None
    divergence: str = ""
    ended: str = ""
    predicted: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How far a run is. done: answers that are marked, of `total`, `before` of them when this process began.
    Tokens, US dollars (None: not known) and requests that were made again are those of this process."""

    done: int
    total: int
    before: int
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one sample took: a row of ``usage.parquet``. Of a run that answers several samples the first of
    them has it all.

    input_tokens, output_tokens: as the provider counted them; input has what was read from and written to its
    cache. cost: in US dollars, where Inspect knows the model's prices. time_s: of work, without waiting for
    others. None: not known.
    """

    id: str
    question: str
    model: str
    solver: str
    state: str
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    time_s: float | None
    epoch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The score of one model on one question. `low` and `high` bound the 95 % interval, clustered by program.

    programs: how many different ones there are, by their code: three asserts about one function are one.
    state: of questions about notebooks the view of the state; programs are notebooks then. metrics: name ->
    mean with its interval, where a question has several. steps: of methods that predict the run, what its
    steps say.

    n: samples; epochs: answers to each, whose mean is its score. score, low and high are None if there was
    nothing to ask (n is 0). cut, empty, refused, unreadable: completions without an answer, by what they are
    (`marking.Reading`); they count as wrong. excluded: reason -> number of recordings not asked about.
    """

    question: str
    model: str
    solver: str
    n: int
    programs: int
    score: float | None
    low: float | None
    high: float | None
    cut: int
    empty: int
    refused: int
    unreadable: int
    excluded: Mapping[str, int]
    samples: tuple[Marked, ...]
    folder: str
    state: str = ""
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    steps: Steps | None = None
    usage: tuple[Usage, ...] = ()
    epochs: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Everything but the samples and what they took, JSON-able."""
        names = [name for name in self.__dataclass_fields__ if name not in ("samples", "usage")]
        metrics = {name: asdict(found) for name, found in self.metrics.items()}
        row = {name: getattr(self, name) for name in names}
        steps = None if self.steps is None else self.steps.to_dict()
        return row | {"excluded": dict(self.excluded), "metrics": metrics, "steps": steps}


def questions_of(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    seed: int = 0,
    per_recording: int | None = None,
    methods: Sequence[str] = ("direct",),
    courses: dict[str, Course] | None = None,
) -> dict[str, tuple[list[Sample], Counter[str]]]:
    """Question -> its samples and what was excluded. The recordings are gone through once.

    Recordings that one of the methods cannot predict are excluded for all, so that all are asked
    the same; the others' courses are added to `courses`.

    Raises:
        InputError: an unknown question; or two recordings have one id, so that samples would too.
    """
    check_questions(questions, QUESTIONS)
    asked: dict[str, tuple[list[Sample], Counter[str]]] = {name: ([], Counter()) for name in questions}

    def course(recording: Recording) -> tuple[Course | str | None, str | None]:
        if courses is None:
            return None, None
        found = course_of(recording)
        return found, next((why for method in methods if (why := unfit(found, method))), None)

    for name, samples, found in of_each(
        recordings,
        questions,
        seed=seed,
        per_recording=per_recording,
        excluded={name: reasons for name, (_, reasons) in asked.items()},
        beside=course,
    ):
        asked[name][0].extend(samples)
        if courses is not None and isinstance(found, Course):
            courses[found.recording.id] = found
    return asked


_T = TypeVar("_T")


def of_each(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    seed: int = 0,
    per_recording: int | None = None,
    excluded: Mapping[str, Counter[str]],
    beside: Callable[[Recording], tuple[_T, str | None]],
) -> Iterator[tuple[str, list[Sample], _T]]:
    """(question, samples of a recording, what `beside` gives of it): those that are asked.

    One recording is held at a time. Samples of recordings of tests are held to the end, as far as
    `_alike` says, and come last. beside: of a recording that has samples, what is to come with
    them, and None or the reason why it is not asked about.

    Raises InputError where two recordings have one id, so that samples would too.
    """
    from deskcheck.scale.seen import Seen, key_of

    seen, alike = Seen(), Alike[_T](seed)
    for recording in recordings:
        if not seen.add(key_of(recording.id)):
            raise InputError(
                f"two recordings have the id {recording.id!r}. Ask about their folders one at a time, or "
                "record them into one folder, which refuses an id that it has."
            )
        try:
            found = {
                name: list(
                    QUESTIONS[name](
                        recording, seed=seed, per_recording=per_recording, excluded=excluded[name]
                    )
                )
                for name in questions
            }
        except RecordingError as error:
            logging.getLogger(__name__).warning("%s is left out: %s", recording.id, error)
            for name in questions:
                excluded[name]["its rows are damaged"] += 1
            continue
        found = {name: samples for name, samples in found.items() if samples}
        if not found:
            continue
        with_it, why_not = beside(recording)
        if why_not is not None:
            for name in found:
                excluded[name][why_not] += 1
        elif alike.concerns(recording):
            alike.hold(recording, found, with_it)
        else:
            for name, samples in found.items():
                yield name, samples, with_it
    yield from alike.chosen(excluded)


def ask(
    recordings: Folder | Iterable[Folder] | Iterable[Recording],
    questions: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    out: Folder | None = None,
    seed: int = 0,
    per_recording: int | None = None,
    limit: int | None = None,
    notebooks: NotebookOptions | None = None,
    methods: Sequence[str] = ("direct",),
    explain: bool = True,
    max_steps: int = STEP_BUDGET,
    max_tokens: int | None = None,
    temperature: float | None = None,
    model_seed: int | None = None,
    epochs: int = 1,
    token_limit: int | None = None,
    cost_limit: float | None = None,
    cache: bool = False,
    max_retries: int | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    display: Literal["none", "plain", "rich", "full", "log"] = "none",
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[Answered], None] = lambda answered: None,
) -> list[Result]:
    """Put questions about recordings to models and mark the answers: one result per question and model.

    recordings: a folder of recordings, several, or recordings. questions: names in `QUESTIONS`; or in
    `NOTEBOOK_QUESTIONS`, about the trajectories in the folders: one result for each view of the state in
    `notebooks`, and the effect of the views in ``effects.json``. models: as
    Inspect names them (``openai/gpt-...``, ``hf/...``, ``deskcheck/guess``). out: the run folder; by default
    one named by the time, in ``ask`` beside the first folder's recordings, or here. seed, limit: which
    samples are asked, at most so many of a question (`draw.drawn`). methods: names in `solvers.METHODS`;
    each is asked the same samples, and the differences from the first are in ``effects.json``. explain:
    prompts for runs and states explain the notation; without it they are laid out as in lessons. max_steps:
    states asked for at most in one run.

    max_tokens: of a completion. temperature, model_seed: None: the provider's own. epochs: answers to each
    sample. token_limit, cost_limit: of one sample, in tokens and US dollars. cache: completions that Inspect
    keeps in its own place on this machine are used again. max_retries: of a request that the provider does
    not answer; None: without end. prices: model -> US dollars for a million tokens, read and written; without
    them those that Inspect knows. note is told what a user wants to know meanwhile; progress how far it is.

    Writes what `folder` says into the run folder, and nothing elsewhere but for the cache. A run that was
    stopped, however that was, goes on where it was when the same is asked again: in the same folder `out`, or
    without one in the folder that it had. Of a finished run the answers are read.

    Raises:
        InputError: an unknown question or model, a missing key, a run folder that is in use.
        MissingExtra: Inspect AI or a model's client is not installed.
        DeskcheckError: the run failed (the model could not be reached); what was answered is kept.
        Interrupted: Ctrl-C; what was answered is kept.
    """
    if isinstance(recordings, (str, os.PathLike)):
        recordings = [recordings]
    sources: list[Any] = list(recordings) if isinstance(recordings, (list, tuple)) else []
    check_questions(questions, [*QUESTIONS, *NOTEBOOK_QUESTIONS])
    check_methods(methods, questions)
    prepared = prepare(models, model_args)
    of_folders = bool(sources) and not isinstance(sources[0], Recording)
    asked: _Asked = {}
    predicting = any(METHODS[name].notation for name in methods)
    courses: dict[str, Course] | None = {} if predicting else None
    contents = Contents()
    folders: dict[str, int] = {}
    of_programs = [name for name in questions if name in QUESTIONS]
    if of_programs:
        made = questions_of(
            contents.through(by_folder(sources or recordings, folders)),
            of_programs,
            seed=seed,
            per_recording=per_recording,
            methods=methods,
            courses=courses,
        )
        asked |= {(name, ""): found for name, found in made.items()}
    of_notebooks = [name for name in questions if name in NOTEBOOK_QUESTIONS]
    options = notebooks or NotebookOptions()
    if of_notebooks:
        if not of_folders:
            raise InputError(f"{of_notebooks[0]}: is asked about trajectories: give their folders.")
        if options.run_cells:
            check_runs()
        files = trajectory_files(sources)
        for file in files:
            contents.add_file(file)
        asked |= notebook_samples(files, of_notebooks, options, seed=seed, per_recording=per_recording)
        for samples, _ in (asked[key] for key in asked if key[0] in of_notebooks):
            for sample in samples:
                folders.setdefault(sample.program, folder_of(sample.data["trajectory"], sources))
    settings = {
        "question": list(questions),
        "method": list(methods),
        "explain": explain,
        "max_steps": max_steps,
        "seed": seed,
        "limit": limit,
        "per_recording": per_recording,
        "recordings": contents.digest(),
        "notebooks": {**asdict(options), "state": list(options.state)} if of_notebooks else None,
    }
    return _asked(
        {
            key: (drawn(samples, seed=seed, limit=limit, folders=folders), excluded)
            for key, (samples, excluded) in asked.items()
        },
        prepared,
        settings,
        out=out,
        home=Path(sources[0]) if of_folders else Path(),
        folders=[os.path.abspath(source) for source in sources] if of_folders else [],
        run_cells=bool(of_notebooks) and options.run_cells,
        methods=[Method(name, explain, max_steps) for name in methods],
        courses=courses,
        generation=Generation(
            max_tokens=max_tokens,
            temperature=temperature,
            seed=model_seed,
            epochs=epochs,
            token_limit=token_limit,
            cost_limit=cost_limit,
            cache=cache,
            max_retries=max_retries,
            prices=dict(prices or {}),
            max_connections=max_connections,
        ),
        model_args=model_args or {},
        display=display,
        note=note,
        progress=progress,
    )


def ask_suite(
    suites: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    path: str | None = None,
    out: Folder | None = None,
    seed: int = 0,
    limit: int | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    display: Literal["none", "plain", "rich", "full", "log"] = "none",
) -> list[Result]:
    """As `ask`, for published sets (names in `SUITES`): of a file, or fetched."""
    check_questions(suites, SUITES)
    prepared = prepare(models, model_args)
    asked: _Asked = {
        (name, ""): (drawn(list(SUITES[name].samples(path)), seed=seed, limit=limit), Counter[str]())
        for name in suites
    }
    return _asked(
        asked,
        prepared,
        {"question": list(suites), "seed": seed, "limit": limit},
        out=out,
        home=Path(),
        generation=Generation(max_connections=max_connections),
        model_args=model_args or {},
        display=display,
    )


def compare(first: Result, second: Result) -> Interval:
    """Second minus first, paired by sample, with a 95 % interval clustered by program.

    Raises ValueError if the two were not asked the same samples.
    """
    clusters = {row.id: row.cluster for row in [*first.samples, *second.samples]}
    scores = [by_sample(result.samples, "score") for result in (first, second)]
    return paired_difference(scores[0], scores[1], clusters)


_Asked = dict[tuple[str, str], tuple[list[Sample], Counter[str]]]
"""(question or suite, view of the state or nothing) -> samples and what was excluded."""


def check_questions(names: Sequence[str], known: Iterable[str]) -> None:
    if not names:
        raise InputError(f"nothing to ask: name at least one of {', '.join(known)}.")
    for name in names:
        if name not in known:
            raise InputError(f"there is no question {name!r}. Known are {', '.join(known)}.")


# -- models --------------------------------------------------------------------------------------------


def prepare(models: "Sequence[str | Model]", model_args: Mapping[str, Any] | None = None) -> "list[Model]":
    """The models as Inspect has them: a wrong name, a missing key is known before work is done."""
    if not models:
        raise InputError("no model is named. deskcheck/guess needs neither a key nor a download.")
    try:
        import inspect_ai.model
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", "Asking models") from error
    import deskcheck.ask._registry  # noqa: F401 (registers ours where deskcheck is not installed)

    found = [_model(inspect_ai.model.get_model, model, dict(model_args or {})) for model in models]
    named = Counter(str(model) for model in found)
    if twice := next((name for name, count in named.items() if count > 1), None):
        raise InputError(f"the model {twice} is named twice: name each once.")
    return found


def _model(get_model: "Callable[..., Model]", model: "str | Model", args: dict[str, Any]) -> "Model":
    if not isinstance(model, str):
        return model
    from inspect_ai._util.error import PrerequisiteError

    try:
        # Not one that this process had before: a checkpoint may have been trained on meanwhile.
        return get_model(model, **{"memoize": False, **args})
    except PrerequisiteError as error:
        message = _plain_text(str(error.message))
        missing = re.search(r"pip install ([\w.-]+)", message)
        if missing and missing[1] == "openai":
            raise MissingExtra("openai", "ask", f"The model {model}") from error
        raise InputError(f"model {model}: {message}") from error
    except ValueError as error:
        raise InputError(
            f"model {model}: {error} Models are named PROVIDER/MODEL, as openai/gpt-4o, hf/NAME or "
            "deskcheck/guess; https://inspect.aisi.org.uk/providers.html lists the providers."
        ) from error
    except ImportError as error:
        raise InputError(
            f"model {model}: the package {error.name} is not installed. "
            f"Install it with: pip install {error.name}"
        ) from error


def _plain_text(message: str) -> str:
    """An error message of Inspect's on one line, without its markup for the terminal."""
    text = re.sub(r"\[/?[a-z]+\]", "", message).removeprefix("ERROR:").strip()
    return re.sub(r"\s+", " ", text)


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


@dataclass(frozen=True, slots=True)
class Method:
    """A method as it was asked for."""

    name: str = "direct"
    explain: bool = True
    max_steps: int = STEP_BUDGET

    def solver(self) -> "Solver":
        from deskcheck.ask import _inspect_solvers as solvers

        match self.name:
            case "chain_of_thought":
                return solvers.chain_of_thought()
            case "scratchpad":
                return solvers.scratchpad(explain=self.explain)
            case "compact":
                return solvers.compact(explain=self.explain)
            case "dynamic_scratchpad":
                return solvers.dynamic_scratchpad(explain=self.explain, max_steps=self.max_steps)
        return solvers.direct()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How completions are asked for: what `ask` says of the names. seed: of the model."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    epochs: int = 1
    token_limit: int | None = None
    cost_limit: float | None = None
    cache: bool = False
    max_retries: int | None = None
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    max_connections: int | None = None

    def options(self) -> dict[str, Any]:
        """As arguments of Inspect's; it is told the prices."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if not self.cache:
            del given["cache"]
        for model, (read, written) in given.pop("prices").items():
            _set_price(model, read, written)
        return given

    def decisive(self) -> dict[str, Any]:
        """What decides the answers: not how they are fetched. Prices do where cost is limited."""
        transport = {"cache", "max_retries", "max_connections"}
        if self.cost_limit is None:
            transport.add("prices")
        return {name: value for name, value in asdict(self).items() if name not in transport}


def _set_price(model: str, read: float, written: float) -> None:
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    cost = ModelCost(input=read, output=written, input_cache_write=read, input_cache_read=read)
    known = get_model_info(model) or ModelInfo()
    set_model_info(model, known.model_copy(update={"cost": cost}))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while models were asked. The text says how many answers are kept, and where."""


def _asked(
    asked: _Asked,
    models: "Sequence[Model]",
    settings: Mapping[str, Any],
    *,
    out: Folder | None,
    home: Path,
    generation: Generation,
    model_args: Mapping[str, Any],
    folders: Sequence[str] = (),
    run_cells: bool = False,
    methods: Sequence[Method] = (Method(),),
    courses: Mapping[str, Course] | None = None,
    display: Literal["none", "plain", "rich", "full", "log"],
    note: Callable[[str], None] = lambda text: None,
    progress: Callable[[Answered], None] = lambda answered: None,
) -> list[Result]:
    """Ask in a run folder: a new one, or one in which the same was asked and not finished."""
    servers = {str(model): url for model in models if (url := model.api.base_url)}
    card = card_of(
        {
            **settings,
            "model": [str(model) for model in models],
            "model_args": {name: _told(name, value) for name, value in model_args.items()},
            "model_files": _model_files(models, model_args),
            "base_url": {name: _without_secrets(url) for name, url in servers.items()},
            "generation": generation.decisive(),
            "asked": {_name(*key): len(samples) for key, (samples, _) in asked.items()},
            "prompts": {_name(*key): prompts_digest(samples) for key, (samples, _) in asked.items()},
        },
        folders,
        hidden={
            **servers,
            **{name: value for name, value in model_args.items() if _told(name, value) != value},
        },
    )
    with run_folder(out, home, card, note) as folder, disk_errors(folder):
        card = read_card(folder) or card
        if finished(folder):
            from deskcheck.ask.logs import read_logs

            note(f"{folder}: this was asked before; --out NEW_FOLDER asks it again")
            return list(read_logs([folder]).results)
        for key, (samples, _) in asked.items():
            write_samples(questions_file(folder, _name(*key)), samples)
        return _put(
            asked,
            models,
            folder,
            card,
            run_cells=run_cells,
            methods=methods,
            courses=courses,
            generation=generation,
            display=display,
            progress=progress,
        )


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
    asked: _Asked,
    models: "Sequence[Model]",
    folder: Path,
    card: Mapping[str, Any],
    *,
    run_cells: bool,
    methods: Sequence[Method],
    courses: Mapping[str, Course] | None,
    generation: Generation,
    display: Literal["none", "plain", "rich", "full", "log"],
    progress: Callable[[Answered], None],
) -> list[Result]:
    from deskcheck.ask._inspect import asked as asked_task
    from deskcheck.ask._inspect import count_offline, now_in
    from deskcheck.ask._inspect_solvers import forget, remember, token_of

    for model in models:
        count_offline(model)
    runs = [remember(course, token_of(card["recordings"], id_)) for id_, course in (courses or {}).items()]
    total = sum(len(samples) for samples, _ in asked.values()) * len(methods) * generation.epochs
    begun = Path(card["folder"])
    try:
        with now_in(begun, folder.resolve()):
            tasks = [
                asked_task(
                    questions=str(questions_file(begun, _name(question, state))),
                    digest=card["prompts"][_name(question, state)],
                    question=question,
                    state=state,
                    method=method.name,
                    alone=len(methods) == 1,
                    explain=method.explain,
                    max_steps=method.max_steps,
                    recordings=card.get("recordings", ""),
                    folders=card["folders"],
                )
                for (question, state), (samples, _) in asked.items()
                for method in methods
                if samples
            ]
            logs = _inspected(tasks, models, folder, total * len(models), generation, display, progress)
    finally:
        forget(runs)
        for samples, _ in asked.values():
            oracle.forget(samples)
    rows: dict[tuple[str, str, str, str], tuple[Marked, ...]] = {}
    used: dict[tuple[str, str, str, str], tuple[Usage, ...]] = {}
    for log in logs:
        question, state, method = (
            str((log.eval.metadata or {})[name]) for name in ("question", "state", "method")
        )
        key = (question, state, method, log.eval.model)
        place = {sample.id: at for at, sample in enumerate(asked[question, state][0])}

        def order(row: Marked | Usage, place: Mapping[str, int] = place) -> tuple[int, int]:
            return place[row.id], row.epoch

        rows[key] = tuple(sorted(marked_of(log, question, state, method), key=order))
        used[key] = tuple(sorted(usage_of(log, question, state, method), key=order))
    if run_cells:
        following = {key: found for key, found in rows.items() if key[0] == "next_cell"}
        did = by_running(row for found in following.values() for row in found)
        for key, found in following.items():
            ran = [(row, did[row.id, row.completion]) for row in found]
            rows[key] = tuple(replace(row, by_running=d.score, ran=d.why) for row, d in ran)
    names = [str(model) for model in models]
    results = [
        result_of(
            question,
            state,
            method.name,
            model,
            rows.get((question, state, method.name, model), ()),
            excluded,
            folder,
            used.get((question, state, method.name, model), ()),
        )
        for (question, state), (_, excluded) in asked.items()
        for model in names
        for method in methods
    ]
    _write(results, folder, card)
    return results


def _inspected(
    tasks: "Sequence[Task]",
    models: "Sequence[Model]",
    folder: Path,
    total: int,
    generation: Generation,
    display: Literal["none", "plain", "rich", "full", "log"],
    progress: Callable[[Answered], None],
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

    from deskcheck.ask._inspect import watched

    place = folder / LOGS
    kept = f"they are kept in {folder}: the same command asks only the rest."
    console = rich.get_console()
    quiet, console.quiet = console.quiet, console.quiet or display == "none"
    # Inspect's own diary of a run is a handler of logging: where the disk is full, it would print a traceback
    # for each entry. Its logs of answers are none; they raise.
    loud, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        with _inside(folder, cache=generation.cache), watched(_scored(place), total, progress):
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
                display=display,
                ctl_server=False,
                retry_on_error=1,
                continue_on_fail=True,
                retry_attempts=1,
                retry_immediate=False,
                **generation.options(),
            )
    except PrerequisiteError as error:
        why = _plain_text(str(error.message))
        if "cost" in why:
            why = "the prices of a model are not known, which cost_limit needs: give --price MODEL=IN,OUT."
        raise InputError(f"{folder}: {why}") from error
    except KeyboardInterrupt:
        found = []
    finally:
        console.quiet = quiet
        logging.raiseExceptions = loud
    failed = next((log for log in found if log.status == "error"), None)
    if failed is not None:
        raise DeskcheckError(
            f"asking {failed.eval.model} did not finish: {_why_failed(failed)}. "
            f"{len(_scored(place))} of {total} answers were marked; {kept}"
        )
    if len(found) < len(tasks) * len(models) or any(log.status != "success" for log in found):
        raise Interrupted(f"{len(_scored(place))} of {total} answers were marked; {kept}")
    wanted = {log.location for log in found}
    for path in place.glob("*.eval"):  # of runs that were killed; what they held is in the others
        if not any(location.endswith(path.name) for location in wanted):
            path.unlink()
    return [read_eval_log(log.location) for log in found]


def _why_failed(log: "EvalLog") -> str:
    """What ended a task, or else the first of its samples that failed."""
    from inspect_ai.log import read_eval_log_sample_summaries

    reasons = [log.error.message] if log.error is not None else []
    if not reasons:
        reasons = [sample.error for sample in read_eval_log_sample_summaries(log.location) if sample.error]
    return _plain_text(reasons[0])[:500].rstrip(".") if reasons else "its log does not tell why"


def _scored(place: Path) -> set[tuple[str, str, str, int]]:
    """(task, model, sample, epoch) of all answers that the logs of a folder hold, marked."""
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


def marked_of(log: "EvalLog", question: str, state: str, method: str) -> Iterator[Marked]:
    """The samples of a log of one of our tasks, as they were answered and marked."""
    for sample in log.samples or ():
        score = (sample.scores or {})["marked"]
        told = dict(score.metadata or {})
        reason = score.explanation or ""
        if sample.limit is not None and told.get("reading") == Reading.EMPTY:
            told["reading"] = Reading.CUT.value
            reason = f"the sample met its limit before there was an answer: {sample.limit.type}"
        steps: dict[str, Any] = {}
        if "steps" in sample.metadata:
            ran = Ran.from_dict(sample.metadata["steps"])
            steps = {"run": ran.key, "steps_asked": ran.asked, "ended": ran.why}
            steps |= {f"steps_{name}": getattr(ran.agreement, name) for name in _JUDGED}
            steps |= {"divergence": ran.agreement.first or "", "predicted": sample.metadata["predicted"]}
        yield Marked(
            id=str(sample.id),
            program=sample.metadata["program"],
            cluster=sample.metadata["cluster"],
            question=question,
            model=log.eval.model,
            solver=method,
            completion=sample.output.completion,
            answer=score.answer,
            expected=sample.metadata["answer"],
            score=float(score.as_float()),
            reason=reason,
            data=json.dumps(sample.metadata["data"]),
            state=state,
            reading=told.get("reading", ""),
            stop_reason=told.get("stop_reason"),
            epoch=sample.epoch,
            prompt=sample.input if isinstance(sample.input, str) else "",
            **told.get("metrics", {}),
            **steps,
        )


def usage_of(log: "EvalLog", question: str, state: str, method: str) -> Iterator[Usage]:
    """What the samples of a log took."""
    for sample in log.samples or ():
        used = list(sample.model_usage.values())
        costs = [usage.total_cost for usage in used if usage.total_cost is not None]
        yield Usage(
            id=str(sample.id),
            question=question,
            model=log.eval.model,
            solver=method,
            state=state,
            input_tokens=sum(input_tokens(usage) for usage in used) if used else None,
            output_tokens=sum(usage.output_tokens for usage in used) if used else None,
            cost=sum(costs) if costs else None,
            time_s=sample.working_time,
            epoch=sample.epoch,
        )


def input_tokens(usage: "ModelUsage") -> int:
    """What was read, from the provider's cache too."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


_JUDGED = ("judged", "exact", "places", "values")


def _ran(row: Marked) -> Ran:
    """The predicted run of a row that has one."""
    first = Divergence(row.divergence) if row.divergence else None
    judged = Agreement(**{name: getattr(row, f"steps_{name}") for name in _JUDGED}, first=first)
    return Ran(key=row.run, asked=row.steps_asked or 0, agreement=judged, why=row.ended)


def result_of(
    question: str,
    state: str,
    method: str,
    model: str,
    rows: tuple[Marked, ...],
    excluded: Mapping[str, int],
    folder: Path,
    usage: tuple[Usage, ...] = (),
) -> Result:
    """What the samples of one model come to."""
    clusters = {row.id: row.cluster for row in rows}
    known = _interval(by_sample(rows, "score"), clusters)
    metrics = {}
    for name in MEASURED:
        found = _interval(by_sample(rows, name), clusters)
        if found is not None:
            metrics[name] = found
    readings = Counter(reading(row) for row in rows)
    return Result(
        question=question,
        model=model,
        solver=method,
        n=len(clusters),
        programs=known.clusters if known else 0,
        score=known.value if known else None,
        low=known.low if known else None,
        high=known.high if known else None,
        cut=readings[Reading.CUT],
        empty=readings[Reading.EMPTY],
        refused=readings[Reading.REFUSED],
        unreadable=readings[Reading.UNREADABLE],
        excluded=dict(excluded),
        samples=rows,
        folder=str(folder),
        state=state,
        metrics=metrics,
        steps=steps_of((_ran(row), row.cluster) for row in rows if row.run),
        usage=usage,
        epochs=max((row.epoch for row in rows), default=1),
    )


def _interval(values: Mapping[str, float], clusters: Mapping[str, str]) -> Interval | None:
    if not values:
        return None
    return mean_interval(list(values.values()), [clusters[id_] for id_ in values])


def reading(row: Marked) -> str:
    """What a completion is; of rows of earlier versions, which do not have it, as far as they tell."""
    return row.reading or (Reading.ANSWERED if row.answer is not None else Reading.UNREADABLE)


def _write(results: Sequence[Result], folder: Path, card: Mapping[str, Any]) -> None:
    """``samples.parquet``, ``usage.parquet``, where views or methods are compared ``effects.json``, and
    ``results.json``, each whole or not there."""
    compared = effects(results)
    _write_table(folder / "usage.parquet", Usage, [row for result in results for row in result.usage])
    _write_table(folder / "samples.parquet", Marked, [row for result in results for row in result.samples])
    if compared or any(result.state for result in results):
        write_whole(folder / "effects.json", _json([effect.to_dict() for effect in compared]))
    told = {"card": card, "results": [result.to_dict() for result in results]}
    write_whole(folder / RESULTS, _json(told))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


_NUMBERS = {"score", *MEASURED, "cost", "time_s"}
_COUNTS = {*STEPS, "input_tokens", "output_tokens", "epoch"}


def _write_table(
    path: Path, kind: type[Marked] | type[Usage], rows: Sequence[Marked] | Sequence[Usage]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(kind.__dataclass_fields__)
    schema = pa.schema(
        [
            (name, pa.float64() if name in _NUMBERS else pa.int64() if name in _COUNTS else pa.string())
            for name in names
        ]
    )
    table = pa.Table.from_pylist([{name: utf8(getattr(row, name)) for name in names} for row in rows], schema)
    made = path.with_name(f".{path.name}")
    try:
        pq.write_table(table, made, compression="zstd")
        os.replace(made, path)
    finally:
        made.unlink(missing_ok=True)


def utf8(value: Any) -> Any:
    """Text that a model or a program wrote may hold lone surrogates, which no file of text can."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
