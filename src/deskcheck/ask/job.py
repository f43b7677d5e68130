"""Scoring as a job in shards, of answers that models gave elsewhere (`lines`): no model is asked.

A line of the files of answers is an item of the job and gives one row, whatever stands in it. Scores are
those of `deskcheck ask` for the same completions, but for one thing: where our own sandbox failed, the answer
has no score. Not: next cells scored by running (`running`), answers read from predicted runs (`solvers`).
"""

import json
import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deskcheck.ask.questions.lines import (
    Given,
    Questions,
    answer_in_line,
    digest_of,
    lines_of,
    read_line,
    sample_in,
)
from deskcheck.ask.results.attempts import Attempt, measured, vote_of
from deskcheck.ask.results.offline_scores import QUESTIONS_FILE
from deskcheck.ask.results.statistics import Interval, interval_of
from deskcheck.ask.results.tables import utf8
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring import sandbox as _sandbox
from deskcheck.ask.scoring.programs import InstructionCount
from deskcheck.ask.scoring.score import METRICS, Reading
from deskcheck.ask.settings import ScoreSettings
from deskcheck.errors import own_failures
from deskcheck.jobs import Item, Job, JobSummary, Progress, Runner, run_job
from deskcheck.jobs.job_folder import Place, write_whole
from deskcheck.jobs.key_set import KeySet, key_of
from deskcheck.jobs.manifest import Line
from deskcheck.jobs.plan import decided_by
from deskcheck.jobs.tables import Rows, TableWork
from deskcheck.jobs.work import shard_line, unwatch, watch
from deskcheck.recording import InputError, Program, RunResult
from deskcheck.sandbox import Checked, Confinement

FORMAT = 5
"""Version of the columns of a shard."""
SIZE = 2000
"""Answers of a shard: by value a fifth of a second of work, by running ten seconds."""
TABLE = "scores"
MEASURED = tuple(dict.fromkeys(name for names in METRICS.values() for name in names))
_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("attempt", pa.int64()),
        pa.field("question", pa.string()),
        pa.field("state", pa.string()),
        pa.field("program", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("model", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("score", pa.float64()),
        pa.field("answer", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("reading", pa.string()),
        pa.field("stop_reason", pa.string()),
        *(pa.field(name, pa.float64()) for name in MEASURED),
        pa.field("extra", pa.string()),
    ],
    metadata={"deskcheck.scores": str(FORMAT)},
)
_NAMED = 100
_PATIENCE_S = 120.0
"""An answer is given up by the sandbox long before."""


class AnswerStatus(StrEnum):
    """What became of a line of answers. Only what was scored has a score."""

    SCORED = "scored"
    EMPTY = "empty"
    """Nothing but white space: an answer that was lost, and so its question has none."""
    NO_COMPLETION = "no_completion"
    UNKNOWN_QUESTION = "unknown_question"
    DAMAGED = "damaged"
    HARNESS_ERROR = "harness_error"
    """Our machinery failed, three times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The answers of one model to one kind of question; model: None where the lines name none. state: of
    questions about notebooks, which view of the kernel's state they show.

    n: questions of that kind, answered or not; without those on whose only answer our machinery failed.
    score: share that is right, with its 95 % interval clustered by program, as in `Result`; a question with
    several samples counts with their mean. programs: how many different ones. effective: of these
    (`statistics.effective_clusters`). unanswered: questions
    among n without an answer; they count as wrong. answers: those that were scored. cut, empty, refused,
    unreadable: of these, completions without an answer, by what they are (`score.Reading`); they count as
    wrong."""

    question: str
    model: str | None
    n: int
    programs: int
    score: float
    low: float | None
    high: float | None
    unanswered: int
    answers: int
    cut: int
    empty: int
    refused: int
    unreadable: int
    metrics: Mapping[str, Interval] = field(default_factory=dict)
    attempts: Mapping[str, Interval] = field(default_factory=dict)
    """Of several answers to each question: ``pass@k``, ``majority``, ``consistency`` (`results.attempts`)."""
    state: str = ""
    effective: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able; `state` only where there is one."""
        return {name: value for name, value in asdict(self).items() if name != "state" or value}


@dataclass(slots=True)
class OfflineScores:
    """What scoring came to. statuses: lines by `AnswerStatus`. not_used: the first lines that hold no
    answer to be scored, with the reason."""

    scores: list[Score] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    not_used: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able."""
        return {
            "scores": [score.to_dict() for score in self.scores],
            "statuses": dict(self.statuses),
            "not_used": self.not_used,
        }


def score_in_shards(
    questions: str | os.PathLike[str],
    answers: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: ScoreSettings | None = None,
    *,
    runner: Runner,
    size: int = SIZE,
    replace: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[OfflineScores, JobSummary]:
    """Score answers to a file of questions, in shards of about `size`, wherever `runner` does it: what
    the folder does not have yet, as `run_job` does. A row for each line, in their order.

    The score of a model is over all questions: what it did not answer is wrong.

    An answer that ends the process that scores it three times has the status ``harness_error``.

    Raises:
        InputError: a file cannot be read or is changed meanwhile; the questions are damaged, or two have one
            id; there is no answer; a model answers one question twice, and not `samples`; the folder holds
            other scores, and not `replace`.
        RecordingError: another job has the folder, or the disk refuses.
        SandboxError: a machine does not give what running answers needs.
    """
    settings = settings or ScoreSettings()
    known = Questions(Path(questions))
    files = [Path(path) for path in answers]
    told = {"confinement": settings.sandbox.value, "limits": asdict(_sandbox.LIMITS)}
    told["program_limits"] = asdict(_sandbox.PROGRAM_LIMITS)
    key = decided_by(settings=told, format=FORMAT)
    found = OfflineScores()

    def finish(place: Place, lines: Sequence[Line]) -> None:
        _tell([place.file(TABLE, line["shard"]) for line in lines], known, found, samples=settings.samples)
        asked = {"path": str(known.path.resolve()), "digest": known.digest_of_all()}
        with place.doing("say where the questions are"):
            write_whole(place.folder / QUESTIONS_FILE, json.dumps(asked))

    job = Job(
        kind="score",
        work=__name__,
        items=_items(known, files, samples=settings.samples),
        key=key,
        settings=told,
        task={
            "settings": told,
            "decided_by": key,
            "questions": str(known.path.resolve()),
            "answers": [[str(path), str(path.resolve())] for path in files],
        },
        tables=(TABLE,),
        commit=TABLE,
        finish=finish,
    )
    done = run_job(job, Path(out), runner=runner, size=size, replace=replace, progress=progress)
    return found, done


def _items(questions: Questions, files: Sequence[Path], *, samples: bool) -> Iterator[Item]:
    """Each line of the answers: where it is, where its question is, and digests of both lines, which decide
    its score. A line without a known question says of itself where it stands, so that this decides, too."""
    attempts = array("I", bytes(array("I").itemsize * len(questions)))
    answered = KeySet()
    none = True
    for file, path in enumerate(files):
        for line in lines_of(path, empty=True):
            none = none and line.raw.isspace()
            given = digest_of(line.raw).hex()
            try:
                answer = answer_in_line(line.raw)
            except ValueError:
                answer = Given("", None, None, None)
                place = None
            else:
                place = questions.find(answer.id)
            id_ = answer.id
            where = [file, line.number, line.offset, given]
            if place is None:
                decides = json.dumps([str(path), line.number, given])
                yield Item(f"{file}:{line.number}", json.dumps([*where, None, None, None]), decides)
                continue
            again = answer.completion is not None and not answered.add(key_of(f"{place}:{answer.model}"))
            if again and not samples:
                who = "" if answer.model is None else f" by {answer.model}"
                raise InputError(
                    f"{path} line {line.number}: is another answer{who} to {id_!r}. Remove one of them, "
                    "or say --samples if the model was asked several times: the mean of its answers counts."
                )
            attempts[place] += 1
            asked, attempt = questions.digest(place).hex(), attempts[place]
            yield Item(
                f"{id_}#{attempt}",
                json.dumps([*where, questions.offsets[place], asked, attempt]),
                f"{asked} {given} {attempt}",
            )
    if none:
        raise InputError(f"{', '.join(map(str, files))}: there are no answers.")


# -- the work ----------------------------------------------------------------------------------------


def _rows(task: dict[str, Any], items: Sequence[Any], scratch: Path) -> Rows:
    """Score some answers."""
    try:
        with _Scorer(task) as scorer:
            for item in items:
                yield scorer.row(*item)
    finally:
        unwatch()


def _be_patient() -> None:
    """Give the run of a program all the time that it can take."""
    unwatch()
    watch(_sandbox.MOST_S + _PATIENCE_S)


class _Watched(_sandbox.SandboxJudge):
    """An answer is not given up as long as its program is run."""

    def check(self, checked: Checked, count: InstructionCount | None = None) -> tuple[RunResult, str]:
        _be_patient()
        return super().check(checked, count)

    def script(self, program: Program, count: InstructionCount | None = None) -> RunResult:
        _be_patient()
        return super().script(program, count)


class _Scorer:
    """Makes rows. Files are opened, and a sandbox is started, when first needed."""

    def __init__(self, task: dict[str, Any]) -> None:
        self._questions: str = task["questions"]
        self._answers: list[tuple[str, str]] = task["answers"]
        self._blame: str | None = task["blame"]
        self._stack = ExitStack()
        sandbox = _sandbox.for_many(Confinement(task["settings"]["confinement"]))
        self._sandbox = self._stack.enter_context(closing(sandbox))
        self._files: dict[str, IO[bytes]] = {}
        self._sample = lru_cache(maxsize=64)(self._read_sample)

    def __enter__(self) -> "_Scorer":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def row(
        self,
        file: int,
        number: int,
        offset: int,
        known: str,
        asked_offset: int | None,
        asked_known: str | None,
        attempt: int | None,
    ) -> dict[str, Any]:
        """The row of an answer: of line `number`, which begins at `offset` and has the digest `known`; and of
        its question's line."""
        name, path = self._answers[file]
        raw = self._line(path, offset, known)
        if raw.isspace():
            return _row(status=AnswerStatus.EMPTY, reason=f"{name} line {number}: is empty")
        try:
            given = answer_in_line(raw)
        except ValueError as error:
            return _row(status=AnswerStatus.DAMAGED, reason=f"{name} line {number}: {error}")
        row = _row(id=given.id, model=given.model, extra=given.extra)
        if asked_offset is None:
            reason = f"{name} line {number}: there is no question with the id {given.id!r}"
            return row | _told(status=AnswerStatus.UNKNOWN_QUESTION, reason=reason)
        sample = self._sample(asked_offset, asked_known)
        if sample.id != given.id:  # their hashes are equal
            raise InputError(f"{name} line {number}: rename {given.id!r}: it is taken for {sample.id!r}.")
        row |= _told(
            attempt=attempt,
            question=sample.question,
            state=sample.view,
            program=sample.program,
            cluster=sample.cluster,
        )
        if given.completion is None:
            reason = f"{name} line {number}: has no completion"
            return row | _told(status=AnswerStatus.NO_COMPLETION, reason=reason)
        return row | self._scored(sample, given)

    def _scored(self, sample: Sample, given: Given) -> dict[str, Any]:
        assert given.completion is not None
        if self._blame is not None:
            return _told(status=AnswerStatus.HARNESS_ERROR, reason=self._blame)
        watch(_PATIENCE_S)
        failures: list[str] = []
        found = None
        try:
            judge = _Watched(self._sandbox)
            with own_failures(failures.append):
                found = _sandbox.score_in(
                    self._sandbox, sample, given.completion, judge=judge, stop_reason=given.stop_reason
                )
        except _sandbox.AnswerNotRun as error:
            failures.append(str(error))
        if found is None:
            return _told(status=AnswerStatus.HARNESS_ERROR, reason=failures[0])
        return _told(
            status=AnswerStatus.SCORED,
            score=found.score,
            answer=found.answer,
            reason=found.reason,
            reading=found.reading.value,
            stop_reason=given.stop_reason,
            **found.metrics,
        )

    def _line(self, path: str, offset: int, known: str) -> bytes:
        try:
            if path not in self._files:
                self._files[path] = self._stack.enter_context(open(path, "rb"))  # noqa: SIM115 (the stack does)
            raw = read_line(self._files[path], offset)
        except OSError as error:
            raise InputError(f"{os.uname().nodename}: {path}: cannot be read: {error.strerror}.") from error
        if digest_of(raw).hex() != known:
            raise InputError(f"{path}: was changed while the job ran. Start it again.")
        return raw

    def _read_sample(self, offset: int, known: str) -> Sample:
        return sample_in(self._line(self._questions, offset, known))


def _row(**fields: Any) -> dict[str, Any]:
    return dict.fromkeys(_SCHEMA.names) | {"reason": ""} | _told(**fields)


def _told(**fields: Any) -> dict[str, Any]:
    return {name: utf8(value) for name, value in fields.items()}


def _line(shard: str, path: Path) -> Line:
    table = pq.read_table(path, columns=["id", "attempt", "status", "score"], use_threads=False)
    outcomes: Counter[str] = Counter()
    problems: dict[str, str] = {}
    for status, score in zip(*(table.column(name).to_pylist() for name in ("status", "score")), strict=True):
        outcomes[("right" if score else "wrong") if status == AnswerStatus.SCORED else status] += 1
    if outcomes[AnswerStatus.HARNESS_ERROR]:
        ours = pq.read_table(
            path,
            columns=["id", "attempt", "reason"],
            filters=[("status", "=", AnswerStatus.HARNESS_ERROR.value)],
        )
        problems = {f"{row['id']}#{row['attempt']}": row["reason"] for row in ours.to_pylist()[:_NAMED]}
    return shard_line(
        shard,
        {TABLE: path},
        outcomes,
        events=outcomes["right"],
        problems=problems,
        finished=path.stat().st_mtime,
    )


def _needed(task: dict[str, Any]) -> list[Path]:
    return [Path(task["questions"]), *(Path(path) for _, path in task["answers"])]


TASKS = TableWork(
    table=TABLE,
    schema=_SCHEMA,
    decided_by=lambda task: decided_by(settings=task["settings"], format=FORMAT),
    decides="Python or deskcheck",
    sees=_needed,
    rows=_rows,
    line=_line,
).tasks()


# -- what it comes to --------------------------------------------------------------------------------

_KEYS = ["question", "state", "model", "cluster"]
_READINGS = [reading.value for reading in Reading if reading is not Reading.ANSWERED]
_SUMMED = ["n", "answers", "failed", "right", *_READINGS, *(f"sum_{name}" for name in MEASURED)]
_MERGE_ROWS = 200_000
_OF_QUESTIONS = [
    AnswerStatus.SCORED.value,
    AnswerStatus.HARNESS_ERROR.value,
    AnswerStatus.NO_COMPLETION.value,
]
"""Rows that have a question and a model."""


def _tell(paths: Sequence[Path], questions: Questions, found: OfflineScores, *, samples: bool) -> None:
    """Add up shards, one at a time; what is held is a row for each question kind, model and cluster, of
    samples for each question and model."""
    keys = [*_KEYS, "id"] if samples else _KEYS
    tries: _Tries = {}
    sums: pa.Table | None = None
    waiting: list[pa.Table] = []
    for path in paths:
        table = pq.read_table(path, columns=[*keys, "status", "score", "reading", *MEASURED])
        counted = Counter(table.column("status").to_pylist())
        found.statuses.update(counted)
        if len(found.not_used) < _NAMED and counted.keys() - {
            AnswerStatus.SCORED,
            AnswerStatus.HARNESS_ERROR,
        }:
            used = [AnswerStatus.SCORED.value, AnswerStatus.HARNESS_ERROR.value]
            odd = pq.read_table(path, columns=["reason"], filters=[("status", "not in", used)])
            found.not_used += odd.column("reason").to_pylist()[: _NAMED - len(found.not_used)]
        if samples:
            _note(path, tries)
        told = table.filter(pc.is_in(table["status"], pa.array(_OF_QUESTIONS)))
        waiting.append(_summed(_ones(told, keys), keys))
        if sum(map(len, waiting)) > _MERGE_ROWS:
            sums = _summed(pa.concat_tables([*([] if sums is None else [sums]), *waiting]), keys)
            waiting = []
    if sums is not None or waiting:
        whole = _summed(pa.concat_tables([*([] if sums is None else [sums]), *waiting]), keys)
        _score(_summed(_means(whole), _KEYS) if samples else whole, questions, found, tries)


_Tries = dict[tuple[str, str, str | None], dict[str, tuple[str, list[Attempt]]]]
"""(Kind, state, model) -> question -> its cluster and its answers; of a vote only the hash is held."""


def _note(path: Path, tries: _Tries) -> None:
    """Add the answers of a shard that were scored."""
    columns = ["question", "state", "model", "id", "cluster", "score", "answer"]
    table = pq.read_table(path, columns=columns, filters=[("status", "=", AnswerStatus.SCORED.value)])
    for batch in table.to_batches():
        for kind, state, model, id_, cluster, score, answer in zip(*batch.to_pydict().values(), strict=True):
            vote = vote_of(answer)
            attempt = Attempt(score, None if vote is None else hash(vote))
            tries.setdefault((kind, state, model), {}).setdefault(id_, (cluster, []))[1].append(attempt)


def _ones(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """A row of sums for each row. answers: scored; n: the same, until samples of one question become one."""
    columns = {name: table[name] for name in keys}
    scored = pc.is_valid(table["score"])
    columns["n"] = columns["answers"] = pc.cast(scored, pa.int64())
    columns["failed"] = pc.cast(pc.equal(table["status"], AnswerStatus.HARNESS_ERROR.value), pa.int64())
    columns["right"] = pc.fill_null(table["score"], 0.0)
    for reading in _READINGS:
        columns[reading] = pc.cast(pc.fill_null(pc.equal(table["reading"], reading), False), pa.int64())
    for name in MEASURED:
        columns[f"sum_{name}"] = pc.fill_null(table[name], 0.0)
    return pa.table(columns)


def _means(table: pa.Table) -> pa.Table:
    """Of rows that each have the samples of one question: the question counts once, with their mean."""
    some = pc.greater(table["n"], 0)
    times = pc.if_else(some, table["n"], 1)
    columns = {name: table[name] for name in table.column_names}
    columns["n"] = pc.cast(some, pa.int64())
    # Where one sample was scored, those on which our machinery failed do not count.
    columns["failed"] = pc.cast(pc.and_not(pc.greater(table["failed"], 0), some), pa.int64())
    for name in ("right", *(f"sum_{name}" for name in MEASURED)):
        columns[name] = pc.divide(table[name], pc.cast(times, pa.float64()))
    return pa.table(columns)


def _summed(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    added = table.group_by(keys, use_threads=False).aggregate([(name, "sum") for name in _SUMMED])
    return pa.table(
        {**{name: added[name] for name in keys}, **{name: added[f"{name}_sum"] for name in _SUMMED}}
    )


def _score(sums: pa.Table, questions: Questions, found: OfflineScores, tries: _Tries) -> None:
    """A score for each kind of question and each model that answered any."""
    models = sorted(set(sums["model"].to_pylist()), key=lambda model: model or "")
    for kind, state in sorted(questions.names):
        asked = questions.of_kind((kind, state))
        of_kind = sums.filter(pc.and_(pc.equal(sums["question"], kind), pc.equal(sums["state"], state)))
        for model in models:
            of_model = (
                pc.equal(of_kind["model"], model) if model is not None else pc.is_null(of_kind["model"])
            )
            mine = tries.get((kind, state, model), {})
            score = _score_of(kind, state, model, asked, of_kind.filter(of_model), mine)
            if score is not None:
                found.scores.append(score)


def _score_of(
    kind: str,
    state: str,
    model: str | None,
    asked: Mapping[int, int],
    mine: pa.Table,
    tries: Mapping[str, tuple[str, list[Attempt]]],
) -> Score | None:
    """The score over the questions that were asked, by cluster; None if our machinery failed on all."""
    rows = {key_of(cluster): at for at, cluster in enumerate(mine["cluster"].to_pylist())}
    failed = mine["failed"].to_pylist()
    there = [(rows.get(key), count) for key, count in asked.items()]
    counted = [(at, n) for at, count in there if (n := count - (0 if at is None else failed[at])) > 0]
    if not counted:
        return None
    counts = [n for _, n in counted]

    def over(name: str) -> Interval:
        column = mine[name].to_pylist()
        totals = [0.0 if at is None else column[at] for at, _ in counted]
        return interval_of(counts, totals, by_execution=bool(state))

    def over_questions(values: Mapping[str, float]) -> Interval:
        sums: dict[str, float] = {}
        for id_, value in values.items():
            cluster = tries[id_][0]
            sums[cluster] = sums.get(cluster, 0.0) + value
        names = mine["cluster"].to_pylist()
        return interval_of(counts, [0.0 if at is None else sums.get(names[at], 0.0) for at, _ in counted])

    score = over("right")
    several = measured({id_: given for id_, (_, given) in tries.items()})
    return Score(
        question=kind,
        state=state,
        model=model,
        n=score.n,
        programs=score.clusters,
        effective=score.effective,
        score=score.value,
        low=score.low,
        high=score.high,
        unanswered=score.n - _total(mine, "n"),
        answers=_total(mine, "answers"),
        cut=_total(mine, Reading.CUT),
        empty=_total(mine, Reading.EMPTY),
        refused=_total(mine, Reading.REFUSED),
        unreadable=_total(mine, Reading.UNREADABLE),
        metrics={name: over(f"sum_{name}") for name in ("lenient", *METRICS.get(kind, ())[1:])},
        attempts={name: over_questions(values) for name, values in several.items()},
    )


def _total(table: pa.Table, name: str) -> int:
    return int(pc.sum(table[name]).as_py() or 0)
