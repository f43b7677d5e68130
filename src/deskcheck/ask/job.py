"""Scoring of answers that models gave elsewhere (`lines`), as a job in shards.

A line of the files of answers is an item of the job and gives one row, whatever is in it. Scores are those of
`deskcheck ask` for the same completions. Not covered: next cells scored by running (`running`), and answers
read from predicted runs (`solvers`).
"""

import json
import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
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
from deskcheck.ask.results.results import Figures, figures_of
from deskcheck.ask.results.statistics import Interval, interval_of
from deskcheck.ask.results.tables import utf8
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import MOST_S, PROGRAM_LIMITS, AnswerNotRun, InstructionCount, Judge
from deskcheck.ask.scoring.sandbox import LIMITS, for_many, score_in
from deskcheck.ask.scoring.score import METRICS
from deskcheck.ask.settings import ScoreSettings
from deskcheck.errors import own_failures
from deskcheck.jobs import Item, Job, JobSummary, Progress, Runner, run_job
from deskcheck.jobs.job_folder import JobFolder, write_whole
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
"""Answers of a shard: a fifth of a second of work by value, ten seconds by running."""
TABLE = "scores"
MEASURED = tuple(dict.fromkeys(name for names in METRICS.values() for name in names))
_TEXTS = ("question", "state", "program", "cluster", "model")
_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("attempt", pa.int64()),
        *(pa.field(name, pa.string()) for name in _TEXTS),
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
"""Most lines that are listed because something is wrong with them."""
_PATIENCE_S = 120.0
"""The sandbox gives an answer up long before."""


class AnswerStatus(StrEnum):
    """The outcome of a line of answers. Only a scored one has a score."""

    SCORED = "scored"
    EMPTY = "empty"
    """Nothing but white space: an answer that was lost, and so its question has none."""
    NO_COMPLETION = "no_completion"
    UNKNOWN_QUESTION = "unknown_question"
    DAMAGED = "damaged"
    HARNESS_ERROR = "harness_error"
    """Our machinery failed, three times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Figures):
    """The score of one model over all questions of a kind, without those on whose only answer deskcheck
    failed. A question with several answers counts with their mean."""

    model: str | None
    """None if the lines do not name one."""
    unanswered: int
    """Questions without an answer. They count as wrong."""
    answers: int
    """Answers that were scored."""

    def to_dict(self) -> dict[str, Any]:
        """The fields, JSON-able; `state` only if it is not empty."""
        return {name: value for name, value in asdict(self).items() if name != "state" or value}


@dataclass(slots=True)
class OfflineScores:
    """The result of scoring."""

    scores: list[Score] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    """`AnswerStatus` -> lines."""
    not_used: list[str] = field(default_factory=list)
    """The first lines without an answer that can be scored, with the reason."""

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
    """Score answers to a file of questions, in shards of about `size`, with `runner`; only those that the
    folder does not have yet (`run_job`). There is a row for each line, in their order.

    The score of a model is over all questions: those that it did not answer are wrong. An answer that ends
    the process that scores it three times has the status ``harness_error``.

    Raises:
        InputError: a file cannot be read or was changed meanwhile; the questions are damaged, or two have one
            id; the files have no answers; a model answers one question twice, without `samples`; the folder
            has other scores, without `replace`.
        RecordingError: another job has the folder, or the disk refuses.
        SandboxError: a machine does not provide what running answers needs.
    """
    settings = settings or ScoreSettings()
    all_questions = Questions(Path(questions))
    files = [Path(path) for path in answers]
    decisive = {
        "confinement": settings.sandbox.value,
        "limits": asdict(LIMITS),
        "program_limits": asdict(PROGRAM_LIMITS),
    }
    key = decided_by(settings=decisive, format=FORMAT)
    scores = OfflineScores()

    def finish(job_folder: JobFolder, lines: Sequence[Line]) -> None:
        _sum_up(
            [job_folder.file(TABLE, line["shard"]) for line in lines],
            all_questions,
            scores,
            samples=settings.samples,
        )
        origin = {"path": str(all_questions.path.resolve()), "digest": all_questions.digest_of_all()}
        with job_folder.doing("write the place of the questions"):
            write_whole(job_folder.folder / QUESTIONS_FILE, json.dumps(origin))

    job = Job(
        kind="score",
        work=__name__,
        items=_items(all_questions, files, samples=settings.samples),
        key=key,
        settings=decisive,
        task={
            "settings": decisive,
            "decided_by": key,
            "questions": str(all_questions.path.resolve()),
            "answers": [[str(path), str(path.resolve())] for path in files],
        },
        tables=(TABLE,),
        commit=TABLE,
        finish=finish,
    )
    summary = run_job(job, Path(out), runner=runner, size=size, replace=replace, progress=progress)
    return scores, summary


def _items(questions: Questions, files: Sequence[Path], *, samples: bool) -> Iterator[Item]:
    """Each line of the answers: its place, the place of its question, and the digests of both, which decide
    the score. The row of a line without a known question names the line, so its place decides, too."""
    attempts = array("I", bytes(array("I").itemsize * len(questions)))
    answered = KeySet()
    blank = True
    for file, path in enumerate(files):
        for line in lines_of(path, empty=True):
            blank = blank and line.raw.isspace()
            digest = digest_of(line.raw).hex()
            answer_place = [file, line.number, line.offset, digest]
            try:
                answer = answer_in_line(line.raw)
            except ValueError:
                answer = Given("", None, None, None)
            position = questions.find(answer.id)
            if position is None:
                decisive = json.dumps([str(path), line.number, digest])
                yield Item(f"{file}:{line.number}", json.dumps([*answer_place, None, None, None]), decisive)
                continue
            again = answer.completion is not None and not answered.add(key_of(f"{position}:{answer.model}"))
            if again and not samples:
                who = "" if answer.model is None else f" by {answer.model}"
                raise InputError(
                    f"{path} line {line.number}: is a second answer{who} to {answer.id!r}. Remove one of "
                    f"them. If the model was asked several times, add --samples: then the mean of its "
                    f"answers counts."
                )
            attempts[position] += 1
            question, attempt = questions.digest(position).hex(), attempts[position]
            yield Item(
                f"{answer.id}#{attempt}",
                json.dumps([*answer_place, questions.offsets[position], question, attempt]),
                f"{question} {digest} {attempt}",
            )
    if blank:
        raise InputError(f"{', '.join(map(str, files))}: no answers.")


# -- the work ----------------------------------------------------------------------------------------


def _rows(task: dict[str, Any], items: Sequence[Any], scratch: Path) -> Rows:
    """The rows of some answers."""
    try:
        with ExitStack() as stack:
            scorer = _Scorer(task, stack)
            for item in items:
                yield scorer.row(*item)
    finally:
        unwatch()


class _PatientJudge(Judge):
    """An answer is not given up while its program runs."""

    def check(self, checked: Checked, count: InstructionCount | None = None) -> tuple[RunResult, str]:
        self._wait()
        return super().check(checked, count)

    def script(self, program: Program, count: InstructionCount | None = None) -> RunResult:
        self._wait()
        return super().script(program, count)

    def _wait(self) -> None:
        unwatch()
        watch(MOST_S + _PATIENCE_S)


class _Scorer:
    """Makes rows. Files are opened, and a sandbox is started, when first needed; the stack closes them."""

    def __init__(self, task: dict[str, Any], stack: ExitStack) -> None:
        self._questions: str = task["questions"]
        self._answers: list[tuple[str, str]] = task["answers"]
        self._blame: str | None = task["blame"]
        self._stack = stack
        sandbox = for_many(Confinement(task["settings"]["confinement"]))
        self._sandbox = stack.enter_context(closing(sandbox))
        self._files: dict[str, IO[bytes]] = {}
        self._sample = lru_cache(maxsize=64)(self._read_sample)

    def row(
        self,
        file: int,
        number: int,
        offset: int,
        digest: str,
        question_offset: int | None,
        question_digest: str | None,
        attempt: int | None,
    ) -> dict[str, Any]:
        """The row of an answer: of line `number`, with its offset and digest, and those of its question."""
        name, path = self._answers[file]
        line = f"{name} line {number}"
        raw = self._line(path, offset, digest)
        if raw.isspace():
            return _row(status=AnswerStatus.EMPTY, reason=f"{line}: is empty")
        try:
            answer = answer_in_line(raw)
        except ValueError as error:
            return _row(status=AnswerStatus.DAMAGED, reason=f"{line}: {error}")
        fields: dict[str, Any] = {"id": answer.id, "model": answer.model, "extra": answer.extra}
        if question_offset is None:
            reason = f"{line}: no question has the id {answer.id!r}"
            return _row(**fields, status=AnswerStatus.UNKNOWN_QUESTION, reason=reason)
        sample = self._sample(question_offset, question_digest)
        if sample.id != answer.id:  # their hashes are equal
            raise InputError(f"{line}: rename {answer.id!r}: it has the same hash as {sample.id!r}.")
        fields |= {
            "attempt": attempt,
            "question": sample.question,
            "state": sample.view,
            "program": sample.program,
            "cluster": sample.cluster,
        }
        if answer.completion is None:
            reason = f"{line}: has no completion"
            return _row(**fields, status=AnswerStatus.NO_COMPLETION, reason=reason)
        return _row(**fields, **self._scored(sample, answer.completion, answer.stop_reason))

    def _scored(self, sample: Sample, completion: str, stop_reason: str | None) -> dict[str, Any]:
        if self._blame is not None:
            return {"status": AnswerStatus.HARNESS_ERROR, "reason": self._blame}
        watch(_PATIENCE_S)
        failures: list[str] = []
        scored = None
        try:
            judge = _PatientJudge(self._sandbox)
            with own_failures(failures.append):
                scored = score_in(self._sandbox, sample, completion, judge=judge, stop_reason=stop_reason)
        except AnswerNotRun as error:
            failures.append(str(error))
        if scored is None:
            return {"status": AnswerStatus.HARNESS_ERROR, "reason": failures[0]}
        return {
            "status": AnswerStatus.SCORED,
            "score": scored.score,
            "answer": scored.answer,
            "reason": scored.reason,
            "reading": scored.reading.value,
            "stop_reason": stop_reason,
            **scored.metrics,
        }

    def _line(self, path: str, offset: int, digest: str) -> bytes:
        try:
            if path not in self._files:
                self._files[path] = self._stack.enter_context(open(path, "rb"))  # noqa: SIM115 (the stack does)
            raw = read_line(self._files[path], offset)
        except OSError as error:
            raise InputError(f"{os.uname().nodename}: {path}: cannot be read: {error.strerror}.") from error
        if digest_of(raw).hex() != digest:
            raise InputError(f"{path}: was changed while the job ran. Start the job again.")
        return raw

    def _read_sample(self, offset: int, digest: str) -> Sample:
        return sample_in(self._line(self._questions, offset, digest))


def _row(**fields: Any) -> dict[str, Any]:
    values = {name: utf8(value) for name, value in fields.items()}
    return dict.fromkeys(_SCHEMA.names) | {"reason": ""} | values


def _line(shard: str, path: Path) -> Line:
    """The line of the manifest about a shard."""
    outcomes: Counter[str] = Counter()
    problems: dict[str, str] = {}
    columns = ["id", "attempt", "status", "score", "reason"]
    for row in pq.read_table(path, columns=columns, use_threads=False).to_pylist():
        scored = row["status"] == AnswerStatus.SCORED
        outcomes[("right" if row["score"] else "wrong") if scored else row["status"]] += 1
        if row["status"] == AnswerStatus.HARNESS_ERROR and len(problems) < _NAMED:
            problems[f"{row['id']}#{row['attempt']}"] = row["reason"]
    return shard_line(
        shard,
        {TABLE: path},
        outcomes,
        events=outcomes["right"],
        problems=problems,
        finished=path.stat().st_mtime,
    )


TASKS = TableWork(
    table=TABLE,
    schema=_SCHEMA,
    decided_by=lambda task: decided_by(settings=task["settings"], format=FORMAT),
    decides="Python or deskcheck",
    sees=lambda task: [Path(task["questions"]), *(Path(path) for _, path in task["answers"])],
    rows=_rows,
    line=_line,
).tasks()


# -- scores ------------------------------------------------------------------------------------------

_Key = tuple[str, str, str | None]
"""Question, view of the state, model."""
_NOT_USED = {*AnswerStatus} - {AnswerStatus.SCORED, AnswerStatus.HARNESS_ERROR}


@dataclass(slots=True)
class _Question:
    """The answers of one model to one question."""

    cluster: str
    n: int = 0
    """Answers that were scored."""
    failed: bool = False
    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """``score`` or metric -> the sum over the answers."""
    attempts: list[Attempt] = field(default_factory=list)


class _Tally:
    """Sums over the answers of one model to one kind of question."""

    def __init__(self) -> None:
        self.readings: Counter[str] = Counter()
        self.answered = 0
        self.failed: Counter[int] = Counter()
        """Key of a cluster -> questions on whose only answer deskcheck failed."""
        self.totals: defaultdict[tuple[int, str], float] = defaultdict(float)
        """Key of a cluster, and ``score`` or metric -> the sum over its questions."""
        self.questions: dict[str, _Question] = {}
        """With several samples: the questions by id, until all their answers have been read."""

    def add_answer(self, row: Mapping[str, Any], names: Sequence[str], *, samples: bool) -> None:
        question = _Question(row["cluster"])
        if samples:
            question = self.questions.setdefault(row["id"], question)
        if row["status"] == AnswerStatus.HARNESS_ERROR:
            question.failed = True
        elif row["status"] == AnswerStatus.SCORED:
            self.readings[row["reading"]] += 1
            question.n += 1
            for name in names:
                question.totals[name] += row[name] or 0.0
            if samples:  # of a vote only the hash is held
                vote = vote_of(row["answer"])
                question.attempts.append(Attempt(row["score"], None if vote is None else hash(vote)))
        if not samples:
            self.add_question(question)

    def add_question(self, question: _Question) -> None:
        """Count a question once, with the mean of its answers."""
        cluster = key_of(question.cluster)
        if question.n:
            self.answered += 1
            for name, total in question.totals.items():
                self.totals[cluster, name] += total / question.n
        else:
            self.failed[cluster] += question.failed


def _sum_up(paths: Sequence[Path], questions: Questions, scores: OfflineScores, *, samples: bool) -> None:
    """Add up shards, one at a time. This holds some figures for each kind of question, model and cluster;
    with samples for each question."""
    metrics = [name for name in MEASURED if any(name in METRICS.get(form, ()) for form in questions.forms)]
    columns = [
        "id",
        "question",
        "state",
        "model",
        "cluster",
        "status",
        "score",
        "reason",
        "reading",
        *metrics,
    ]
    tallies: defaultdict[_Key, _Tally] = defaultdict(_Tally)
    for path in paths:
        for row in pq.read_table(path, columns=[*columns, *(["answer"] if samples else [])]).to_pylist():
            scores.statuses[row["status"]] += 1
            if row["status"] in _NOT_USED and len(scores.not_used) < _NAMED:
                scores.not_used.append(row["reason"])
            if row["question"] is not None:
                tally = tallies[row["question"], row["state"], row["model"]]
                tally.add_answer(row, ["score", *metrics], samples=samples)
    for tally in tallies.values():
        for question in tally.questions.values():
            tally.add_question(question)
    models = sorted({model for _, _, model in tallies}, key=lambda model: model or "")
    for kind, state in sorted(questions.names):
        sizes = questions.of_kind((kind, state))
        for model in models:
            score = _score_of((kind, state, model), sizes, tallies[kind, state, model])
            if score is not None:
                scores.scores.append(score)


def _score_of(key: _Key, sizes: Mapping[int, int], tally: _Tally) -> Score | None:
    """The score over all questions of a kind. sizes: key of a cluster -> its questions. None if deskcheck
    failed on all."""
    kind, state, model = key
    counts = {cluster: n for cluster, size in sizes.items() if (n := size - tally.failed[cluster]) > 0}
    if not counts:
        return None

    def over(name: str) -> Interval:
        totals = [tally.totals[cluster, name] for cluster in counts]
        return interval_of(list(counts.values()), totals, by_execution=bool(state))

    attempts: dict[str, Interval] = {}
    several = {id_: question.attempts for id_, question in tally.questions.items() if question.attempts}
    for name, values in measured(several).items():
        sums: defaultdict[int, float] = defaultdict(float)
        for id_, value in values.items():
            sums[key_of(tally.questions[id_].cluster)] += value
        attempts[name] = interval_of(list(counts.values()), [sums[cluster] for cluster in counts])
    score = over("score")
    return Score(
        question=kind,
        state=state,
        model=model,
        n=score.n,
        **figures_of(score, tally.readings),
        unanswered=score.n - tally.answered,
        answers=tally.readings.total(),
        metrics={name: over(name) for name in ("lenient", *METRICS.get(kind, ())[1:])},
        attempts=attempts,
    )
