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
from deskcheck.ask.statistics import Interval, mean_interval, paired_difference
from deskcheck.ask.suites import SUITES
from deskcheck.recording import DeskcheckError, InputError, MissingExtra, Recording

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

MEASURED = ("exact", "rouge_l", "chrf", "by_value", "by_running")
"""Columns of ``samples.parquet`` that are metrics."""
SOLVER = "direct"
"""The one method there is: the prompt as it is, one completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One sample as it was answered and marked: a row of ``samples.parquet``.

    answer: what was read from the completion, None if nothing could be. expected: the reference answer (of an
    ``input`` question, one of the right ones). reason: why the score is 0. state: of questions about
    notebooks the view of the state, else empty. exact, rouge_l, chrf, by_value: of those questions the
    metrics (`marking.METRICS`), None where a question has not that one. by_running: of next cells, where that
    was asked for (`running`), None where it cannot be told. ran: what came of running it: the first
    difference, or why nothing can be told.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The score of one model on one question. `low` and `high` bound the 95 % interval, clustered by program.

    programs: how many different ones there are, by their code: three asserts about one function are one.
    state: of questions about notebooks the view of the state; programs are notebooks then. metrics: name ->
    mean with its interval, where a question has several.

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

    def to_dict(self) -> dict[str, Any]:
        """Everything but the samples, JSON-able."""
        names = [name for name in self.__dataclass_fields__ if name != "samples"]
        metrics = {name: asdict(found) for name, found in self.metrics.items()}
        row = {name: getattr(self, name) for name in names}
        return row | {"excluded": dict(self.excluded), "metrics": metrics}


def questions_of(
    recordings: Iterable[Recording],
    questions: Sequence[str],
    *,
    seed: int = 0,
    per_recording: int | None = None,
) -> dict[str, tuple[list[Sample], Counter[str]]]:
    """Question -> its samples and what was excluded. The recordings are gone through once.

    Raises:
        InputError: an unknown question; or two recordings have one id, so that samples would too.
    """
    _check_questions(questions, QUESTIONS)
    asked: dict[str, tuple[list[Sample], Counter[str]]] = {name: ([], Counter()) for name in questions}
    seen: set[str] = set()
    for recording in recordings:
        if recording.id in seen:
            raise InputError(
                f"two recordings have the id {recording.id!r}. Ask about their folders one at a time, or "
                "record them into one folder, which refuses an id that it has."
            )
        seen.add(recording.id)
        for name, (samples, excluded) in asked.items():
            ask_one = QUESTIONS[name]
            samples.extend(ask_one(recording, seed=seed, per_recording=per_recording, excluded=excluded))
    return asked


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
    samples a question.

    Writes ``samples.parquet``, ``results.json`` and Inspect's logs into the run folder, nothing elsewhere.

    Raises:
        InputError: an unknown question or model, a missing key, a run folder that is in use.
        MissingExtra: Inspect AI or a model's client is not installed.
        DeskcheckError: the run failed (the model could not be reached); what it had is in its log.
    """
    if isinstance(recordings, (str, os.PathLike)):
        recordings = [recordings]
    sources: list[Any] = list(recordings) if isinstance(recordings, (list, tuple)) else []
    _check_questions(questions, [*QUESTIONS, *NOTEBOOK_QUESTIONS])
    prepared = prepare(models, model_args)
    asked: _Asked = {}
    of_programs = [name for name in questions if name in QUESTIONS]
    if of_programs:
        made = questions_of(
            recordings_of(sources or recordings), of_programs, seed=seed, per_recording=per_recording
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
    _check_questions(suites, SUITES)
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


def _check_questions(names: Sequence[str], known: Iterable[str]) -> None:
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


def _put(
    asked: _Asked,
    models: "Sequence[Model]",
    folder: Path,
    *,
    run_cells: bool = False,
    max_connections: int | None,
    display: Literal["none", "plain", "rich", "full", "log"],
) -> list[Result]:
    from inspect_ai import eval as inspect_eval

    from deskcheck.ask._inspect import count_offline, task_of

    for model in models:
        count_offline(model)

    tasks = [
        task_of(f"{name}_{state}" if state else name, samples, question=name, state=state)
        for (name, state), (samples, _) in asked.items()
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
                )
        finally:
            for samples, _ in asked.values():
                oracle.forget(samples)
    rows: dict[tuple[str, str, str], tuple[Marked, ...]] = {}
    for log in logs:
        if log.status != "success":
            reason = log.error.message if log.error else log.status
            raise DeskcheckError(
                f"asking {log.eval.model} did not finish: {reason}. "
                f"{log.location} keeps what was answered; `inspect eval-retry` with it does only the rest."
            )
        question, state = (str((log.eval.metadata or {})[name]) for name in ("question", "state"))
        rows[question, state, log.eval.model] = tuple(_marked(log, question, state))
    if run_cells:
        following = {key: found for key, found in rows.items() if key[0] == "next_cell"}
        did = by_running(row for found in following.values() for row in found)
        for key, found in following.items():
            ran = [(row, did[row.id, row.completion]) for row in found]
            rows[key] = tuple(replace(row, by_running=d.score, ran=d.why) for row, d in ran)
    names = [str(model) for model in models]
    results = [
        _result(question, state, model, rows.get((question, state, model), ()), excluded, folder)
        for (question, state), (_, excluded) in asked.items()
        for model in names
    ]
    _write(results, folder)
    return results


def _marked(log: "EvalLog", question: str, state: str) -> Iterator[Marked]:
    for sample in log.samples or ():
        score = (sample.scores or {})["marked"]
        yield Marked(
            id=str(sample.id),
            program=sample.metadata["program"],
            cluster=sample.metadata["cluster"],
            question=question,
            model=log.eval.model,
            solver=SOLVER,
            completion=sample.output.completion,
            answer=score.answer,
            expected=sample.metadata["answer"],
            score=float(score.as_float()),
            reason=score.explanation or "",
            data=json.dumps(sample.metadata["data"]),
            state=state,
            **(score.metadata or {}).get("metrics", {}),
        )


def _result(
    question: str,
    state: str,
    model: str,
    rows: tuple[Marked, ...],
    excluded: Mapping[str, int],
    folder: Path,
) -> Result:
    known = mean_interval([row.score for row in rows], [row.cluster for row in rows]) if rows else None
    metrics = {}
    for name in MEASURED:
        found = [(value, row.cluster) for row in rows if (value := getattr(row, name)) is not None]
        if found:
            metrics[name] = mean_interval([value for value, _ in found], [cluster for _, cluster in found])
    return Result(
        question=question,
        model=model,
        solver=SOLVER,
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
    )


def _write(results: Sequence[Result], folder: Path) -> None:
    """``samples.parquet``, ``results.json`` and, of questions about notebooks, ``effects.json``, each whole
    or not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = ("score", *MEASURED)
    schema = pa.schema(
        [(name, pa.float64() if name in numbers else pa.string()) for name in Marked.__dataclass_fields__]
    )
    rows = [
        {name: _utf8(getattr(row, name)) for name in schema.names}
        for result in results
        for row in result.samples
    ]
    table = pa.Table.from_pylist(rows, schema=schema)
    found: list[tuple[str, Sequence[Result | Effect]]] = [("results.json", results)]
    if any(result.state for result in results):
        found.append(("effects.json", effects(results)))
    made = folder / ".samples.parquet"
    pq.write_table(table, made, compression="zstd")
    os.replace(made, folder / "samples.parquet")
    for name, items in found:
        made = folder / f".{name}"
        made.write_text(json.dumps([item.to_dict() for item in items], indent=1) + "\n")
        os.replace(made, folder / name)


def _utf8(value: Any) -> Any:
    """Text that a model or a program wrote may hold lone surrogates, which no file of text can."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
