"""Asking: questions about recordings, put to models, marked, with intervals. What `deskcheck ask` calls.

Inspect AI does the talking to models; its logs are kept beside our table of samples. Inspect's own
files outside the run folder are kept out of the home directory as long as the run lasts.
"""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deskcheck.ask import oracle
from deskcheck.ask.course import Course, course_of
from deskcheck.ask.effects import Effect, effects
from deskcheck.ask.load import Folder, recordings_of
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
from deskcheck.recording import DeskcheckError, InputError, MissingExtra, Recording

if TYPE_CHECKING:
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
    notebooks the view of the state, else empty. exact, rouge_l, chrf, by_value: of those questions the
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The score of one model on one question. `low` and `high` bound the 95 % interval, clustered by program.

    programs: how many different ones there are, by their code: three asserts about one function are one.
    state: of questions about notebooks the view of the state; programs are notebooks then. metrics: name ->
    mean with its interval, where a question has several. steps: of methods that predict the run, what its
    steps say.

    score, low and high are None if there was nothing to ask (n is 0). unreadable: answers among n
    that could not be read; they count as wrong. excluded: reason -> number of recordings not asked about.
    """

    question: str
    model: str
    solver: str
    n: int
    programs: int
    score: float | None
    low: float | None
    high: float | None
    unreadable: int
    excluded: Mapping[str, int]
    samples: tuple[Marked, ...]
    folder: str
    state: str = ""
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    steps: Steps | None = None
    usage: tuple[Usage, ...] = ()

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

    Recordings that one of the methods cannot predict are excluded for all, so that all are asked the same;
    the others' courses are added to `courses`.

    Raises:
        InputError: an unknown question; or two recordings have one id, so that samples would too.
    """
    check_questions(questions, QUESTIONS)
    asked: dict[str, tuple[list[Sample], Counter[str]]] = {name: ([], Counter()) for name in questions}
    excluded = {name: reasons for name, (_, reasons) in asked.items()}
    for recording, found in of_each(
        recordings, questions, seed=seed, per_recording=per_recording, excluded=excluded
    ):
        course: Course | str | None = None
        for name, samples in found.items():
            if samples and courses is not None:
                if course is None:
                    course = course_of(recording)
                if why_not := next((why for method in methods if (why := unfit(course, method))), None):
                    excluded[name][why_not] += 1
                    continue
                if isinstance(course, Course):
                    courses[recording.id] = course
            asked[name][0].extend(samples)
    return asked


def of_each(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    seed: int = 0,
    per_recording: int | None = None,
    excluded: Mapping[str, Counter[str]],
) -> Iterator[tuple[Recording, dict[str, list[Sample]]]]:
    """Each recording with its samples by question; one recording is held at a time.

    Raises InputError where two have one id, so that samples would too.
    """
    from deskcheck.scale.seen import Seen, key_of

    seen = Seen()
    for recording in recordings:
        if not seen.add(key_of(recording.id)):
            raise InputError(
                f"two recordings have the id {recording.id!r}. Ask about their folders one at a time, or "
                "record them into one folder, which refuses an id that it has."
            )
        yield (
            recording,
            {
                name: list(
                    QUESTIONS[name](
                        recording, seed=seed, per_recording=per_recording, excluded=excluded[name]
                    )
                )
                for name in questions
            },
        )


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
    model_args: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    display: Literal["none", "plain", "rich", "full", "log"] = "none",
) -> list[Result]:
    """Put questions about recordings to models and mark the answers: one result per question and model.

    recordings: a folder of recordings, several, or recordings. questions: names in `QUESTIONS`; or in
    `NOTEBOOK_QUESTIONS`, about the trajectories in the folders: one result for each view of the state in
    `notebooks`, and the effect of the views in ``effects.json``. models: as
    Inspect names them (``openai/gpt-...``, ``hf/...``, ``deskcheck/guess``). out: the run folder; by default
    one named by the time, in ``ask`` beside the first folder's recordings, or here. limit: at most so many
    samples a question. methods: names in `solvers.METHODS`; each is asked the same samples, and the
    differences from the first are in ``effects.json``. explain: prompts for runs and states explain the
    notation; without it they are laid out as in lessons. max_steps: states asked for at most in one run.
    max_tokens: of a completion. temperature: None: the provider's own.

    Writes ``samples.parquet``, ``usage.parquet``, ``results.json`` and Inspect's logs into the run folder,
    nothing elsewhere.

    Raises:
        InputError: an unknown question or model, a missing key, a run folder that is in use.
        MissingExtra: Inspect AI or a model's client is not installed.
        DeskcheckError: the run failed (the model could not be reached); what it had is in its log.
    """
    if isinstance(recordings, (str, os.PathLike)):
        recordings = [recordings]
    sources: list[Any] = list(recordings) if isinstance(recordings, (list, tuple)) else []
    check_questions(questions, [*QUESTIONS, *NOTEBOOK_QUESTIONS])
    check_methods(methods, questions)
    prepared = prepare(models, model_args)
    asked: _Asked = {}
    predicting = any(METHODS[name].notation for name in methods)
    courses: dict[str, Course] | None = {} if predicting else None
    of_programs = [name for name in questions if name in QUESTIONS]
    if of_programs:
        made = questions_of(
            recordings_of(sources or recordings),
            of_programs,
            seed=seed,
            per_recording=per_recording,
            methods=methods,
            courses=courses,
        )
        asked |= {(name, ""): found for name, found in made.items()}
    of_notebooks = [name for name in questions if name in NOTEBOOK_QUESTIONS]
    if of_notebooks:
        if not sources or isinstance(sources[0], Recording):
            raise InputError(f"{of_notebooks[0]}: is asked about trajectories: give their folders.")
        if notebooks is not None and notebooks.run_cells:
            check_runs()
        asked |= notebook_samples(
            trajectory_files(sources),
            of_notebooks,
            notebooks or NotebookOptions(),
            seed=seed,
            per_recording=per_recording,
        )
    home = Path(sources[0]) if sources and not isinstance(sources[0], Recording) else Path()
    folder = _run_folder(out, home)
    return _put(
        {key: (samples[:limit], excluded) for key, (samples, excluded) in asked.items()},
        prepared,
        folder,
        run_cells=notebooks is not None and notebooks.run_cells,
        methods=[_Method(name, explain, max_steps) for name in methods],
        courses=courses,
        max_tokens=max_tokens,
        temperature=temperature,
        max_connections=max_connections,
        display=display,
    )


def ask_suite(
    suites: Sequence[str],
    models: "Sequence[str | Model]",
    *,
    path: str | None = None,
    out: Folder | None = None,
    limit: int | None = None,
    model_args: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    display: Literal["none", "plain", "rich", "full", "log"] = "none",
) -> list[Result]:
    """As `ask`, for published sets (names in `SUITES`): of a file, or fetched."""
    check_questions(suites, SUITES)
    prepared = prepare(models, model_args)
    asked: _Asked = {
        (name, ""): (list(SUITES[name].samples(path))[:limit], Counter[str]()) for name in suites
    }
    return _put(asked, prepared, _run_folder(out, Path()), max_connections=max_connections, display=display)


def compare(first: Result, second: Result) -> Interval:
    """Second minus first, paired by sample, with a 95 % interval clustered by program.

    Raises ValueError if the two were not asked the same samples.
    """
    clusters = {row.id: row.cluster for row in [*first.samples, *second.samples]}
    scores = [{row.id: row.score for row in result.samples} for result in (first, second)]
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
    """The models as Inspect has them, so that a wrong name or a missing key is known before work is done."""
    if not models:
        raise InputError("no model is named. deskcheck/guess needs neither a key nor a download.")
    try:
        import inspect_ai.model
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", "Asking models") from error
    import deskcheck.ask._registry  # noqa: F401 (registers ours where deskcheck is not installed)

    return [_model(inspect_ai.model.get_model, model, dict(model_args or {})) for model in models]


def _model(get_model: "Callable[..., Model]", model: "str | Model", args: dict[str, Any]) -> "Model":
    if not isinstance(model, str):
        return model
    from inspect_ai._util.error import PrerequisiteError

    try:
        return get_model(model, **args)
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


def _run_folder(out: Folder | None, home: Path) -> Path:
    if out is not None:
        folder = Path(out)
        if (folder / "samples.parquet").exists():
            raise InputError(f"{folder}: holds a run already. Give another folder, or remove this one.")
    else:
        folder = home / "ask" / datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be made: {error.strerror}. Name a run folder elsewhere."
        ) from error
    return folder


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Inspect's own files go into the run folder, unless the user has said where; after the run they go."""
    private = folder.resolve() / ".inspect"
    wanted = {
        "INSPECT_CACHE_DIR": private / "cache",
        "XDG_DATA_HOME": private / "data",
        "XDG_CACHE_HOME": private / "cache",
    }
    added = {name: str(path) for name, path in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        shutil.rmtree(private, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Method:
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


def _put(
    asked: _Asked,
    models: "Sequence[Model]",
    folder: Path,
    *,
    run_cells: bool = False,
    methods: Sequence[_Method] = (_Method(),),
    courses: Mapping[str, Course] | None = None,
    max_tokens: int | None = None,
    temperature: float | None = None,
    max_connections: int | None,
    display: Literal["none", "plain", "rich", "full", "log"],
) -> list[Result]:
    from inspect_ai import eval as inspect_eval

    from deskcheck.ask._inspect import count_offline, task_of
    from deskcheck.ask._inspect_solvers import forget, remember

    for model in models:
        count_offline(model)

    runs = None if courses is None else {id_: remember(course) for id_, course in courses.items()}
    tasks = [
        task_of(
            "_".join([name, *([state] if state else []), *([method.name] if len(methods) > 1 else [])]),
            samples,
            solver=method.solver(),
            runs=runs if METHODS[method.name].notation else None,
            question=name,
            state=state,
            method=method.name,
        )
        for (name, state), (samples, _) in asked.items()
        for method in methods
        if samples
    ]
    logs: list[EvalLog] = []
    with _inside(folder):
        try:
            if tasks:
                # All models at once: Inspect runs the tasks of different models side by side.
                logs = inspect_eval(
                    tasks,
                    model=list(models),
                    log_dir=str(folder),
                    log_format="eval",
                    log_realtime=False,
                    log_level="warning",
                    score_display=False,
                    display=display,
                    ctl_server=False,
                    retry_on_error=1,
                    max_connections=max_connections,
                    max_tokens=max_tokens,
                    temperature=temperature,
                )
        finally:
            forget((runs or {}).values())
            for samples, _ in asked.values():
                oracle.forget(samples)
    rows: dict[tuple[str, str, str, str], tuple[Marked, ...]] = {}
    used: dict[tuple[str, str, str, str], tuple[Usage, ...]] = {}
    for log in logs:
        if log.status != "success":
            reason = log.error.message if log.error else log.status
            raise DeskcheckError(
                f"asking {log.eval.model} did not finish: {reason}. "
                f"{log.location} keeps what was answered; `inspect eval-retry` with it does only the rest."
            )
        question, state, method = (
            str((log.eval.metadata or {})[name]) for name in ("question", "state", "method")
        )
        key = (question, state, method, log.eval.model)
        rows[key] = tuple(marked_of(log, question, state, method))
        used[key] = tuple(usage_of(log, question, state, method))
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
    _write(results, folder)
    return results


def marked_of(log: "EvalLog", question: str, state: str, method: str) -> Iterator[Marked]:
    """The samples of a log of one of our tasks, as they were answered and marked."""
    for sample in log.samples or ():
        score = (sample.scores or {})["marked"]
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
            reason=score.explanation or "",
            data=json.dumps(sample.metadata["data"]),
            state=state,
            prompt=sample.input if isinstance(sample.input, str) else "",
            **(score.metadata or {}).get("metrics", {}),
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
            input_tokens=sum(_input_tokens(usage) for usage in used) if used else None,
            output_tokens=sum(usage.output_tokens for usage in used) if used else None,
            cost=sum(costs) if costs else None,
            time_s=sample.working_time,
        )


def _input_tokens(usage: "ModelUsage") -> int:
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
    known = mean_interval([row.score for row in rows], [row.cluster for row in rows]) if rows else None
    metrics = {}
    for name in MEASURED:
        found = [(value, row.cluster) for row in rows if (value := getattr(row, name)) is not None]
        if found:
            metrics[name] = mean_interval([value for value, _ in found], [cluster for _, cluster in found])
    return Result(
        question=question,
        model=model,
        solver=method,
        n=len(rows),
        programs=known.clusters if known else 0,
        score=known.value if known else None,
        low=known.low if known else None,
        high=known.high if known else None,
        unreadable=sum(row.answer is None for row in rows),
        excluded=dict(excluded),
        samples=rows,
        folder=str(folder),
        state=state,
        metrics=metrics,
        steps=steps_of((_ran(row), row.cluster) for row in rows if row.run),
        usage=usage,
    )


def _write(results: Sequence[Result], folder: Path) -> None:
    """``samples.parquet``, ``usage.parquet``, ``results.json`` and, where views or methods are compared,
    ``effects.json``, each whole or not there."""
    found: list[tuple[str, Sequence[Result | Effect]]] = [("results.json", results)]
    compared = effects(results)
    if compared or any(result.state for result in results):
        found.append(("effects.json", compared))
    _write_table(folder / "usage.parquet", Usage, [row for result in results for row in result.usage])
    _write_table(folder / "samples.parquet", Marked, [row for result in results for row in result.samples])
    for name, items in found:
        made = folder / f".{name}"
        made.write_text(json.dumps([item.to_dict() for item in items], indent=1) + "\n")
        os.replace(made, folder / name)


_NUMBERS = {"score", *MEASURED, "cost", "time_s"}
_COUNTS = {*STEPS, "input_tokens", "output_tokens"}


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
    pq.write_table(table, made, compression="zstd")
    os.replace(made, path)


def utf8(value: Any) -> Any:
    """Text that a model or a program wrote may hold lone surrogates, which no file of text can."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
