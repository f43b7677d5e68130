"""Rewards for reinforcement learning: a function that trainers call, with the scores of answers as rewards.

The scores are those of `deskcheck offline score`. A failure of deskcheck is never a reward of 0. Answers that
need not run are scored in the calling process; others run in a sandbox, which starts with the first of them.
Not covered: next cells scored by running (`scoring.running`), and predicted runs (`methods.solvers`).
"""

import os
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any

from deskcheck.ask.questions.lines import Questions
from deskcheck.ask.samples.sample import Sample
from deskcheck.ask.scoring.judge import AnswerNotRun
from deskcheck.ask.scoring.sandbox import for_many, score_in
from deskcheck.ask.scoring.score import METRICS
from deskcheck.errors import InputError
from deskcheck.sandbox import Confinement, Sandbox

OUTCOME = "outcome"
"""The reward that every kind of question has: the score itself."""


class OnFailure(StrEnum):
    """The reward of an answer whose run failed three times because of deskcheck or the machine."""

    RAISE = "raise"
    """The error `AnswerNotRun`, which ends the training."""
    NONE = "none"
    """None, with a warning: the trainer leaves the answer out."""


class _Samples:
    """Samples in memory, with the part of `Questions` that rewards use.

    Raises InputError: no sample, or two with one id.
    """

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = list(samples)
        self._places: dict[str, int] = {}
        for position, sample in enumerate(self._samples):
            if self._places.setdefault(sample.id, position) != position:
                raise InputError(f"two samples have the id {sample.id!r}. Give each a different id.")
        if not self._samples:
            raise InputError("no samples: give those whose answers are to be rewarded.")
        self.forms = {sample.data["form"] for sample in self._samples}

    def __len__(self) -> int:
        return len(self._samples)

    def find(self, question_id: str) -> int | None:
        return self._places.get(question_id)

    def read(self, position: int) -> Sample:
        return self._samples[position]


def reward(
    questions: str | os.PathLike[str] | Iterable[Sample],
    metric: str = OUTCOME,
    *,
    workers: int = 2,
    confinement: Confinement | str = Confinement.STRICT,
    on_failure: OnFailure | str = OnFailure.RAISE,
) -> "Reward":
    """A reward function over questions, for TRL's `GRPOTrainer` and other callers of such functions.

        with deskcheck.reward("questions.jsonl") as rewarded:
            dataset = datasets.Dataset.from_list(list(rewarded.rows()))
            GRPOTrainer(model, reward_funcs=rewarded, train_dataset=dataset).train()

    questions: a file that ``deskcheck offline questions`` wrote, which must not change; or samples. metric:
    ``outcome``, the score; or a metric of a kind (`METRICS`): answers to other kinds get None. workers:
    answers that run at once; rewards do not depend on it. confinement: of answers that run.

    Raises:
        InputError: the questions cannot be read, are damaged, or two have one id; no question has the metric.
        ValueError: `workers` is less than one, or a setting has an unknown value.
    """
    if isinstance(questions, (str, os.PathLike)):
        return Reward(Questions(Path(questions)), metric, workers, Confinement(confinement), on_failure)
    return Reward(_Samples(questions), metric, workers, Confinement(confinement), on_failure)


class Reward:
    """A reward function (`reward` makes it). Trainers log it by its ``__name__``.

    The processes of its sandbox live until `close`, the end of a ``with`` block or of the interpreter. A call
    after `close` starts new ones, and so does a fork or an unpickled copy. Threads may call it together.
    """

    def __init__(
        self,
        questions: Questions | _Samples,
        metric: str,
        workers: int,
        confinement: Confinement,
        on_failure: OnFailure | str,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers} must be at least 1")
        self._questions = questions
        self.metric = metric
        self.workers = workers
        self.confinement = confinement
        self.on_failure = OnFailure(on_failure)
        self.__name__ = f"deskcheck_{metric}"
        self._pools: dict[int, _Pool] = {}
        """Process id -> its pool."""
        metrics = {name for form in questions.forms for name in METRICS.get(form, ())}
        if metric != OUTCOME and metric not in metrics:
            names = ", ".join([OUTCOME, *sorted(metrics)])
            raise InputError(f"unknown metric {metric!r}. The metrics of these questions are {names}.")

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        id: Sequence[str | None] | None = None,
        stop_reason: Sequence[str | None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The rewards of completions, in their order.

        completions: texts, or conversations, whose last message of the assistant counts. id: the id of each
        question; the reward of a row without one is None. stop_reason: the reason why each ended
        (`score.reading_of`). Other columns are not read.

        Raises:
            InputError: ids are missing, or not as many as completions; an unknown id; the file of questions
                was changed; something that is neither a text nor a conversation.
            AnswerNotRun: an answer could not be run, unless ``on_failure="none"``.
            SandboxError: the level of confinement is not available here; the reward was closed meanwhile.
        """
        if id is None:
            raise InputError(
                "the column 'id' is missing, which says what question a completion answers. Make the dataset "
                "from `rows()` of the reward, and let the trainer keep its columns: "
                "remove_unused_columns=False."
            )
        reasons = [None] * len(completions) if stop_reason is None else stop_reason
        for name, column in (("ids", id), ("stop reasons", reasons)):
            if len(column) != len(completions):
                raise InputError(f"there are {len(column)} {name}, and {len(completions)} completions.")
        samples: dict[str, Sample] = {}  # in a group of GRPO all have one question
        answers = []
        for id_, completion, reason in zip(id, completions, reasons, strict=True):
            if id_ is not None:
                sample = samples[id_] = samples.get(id_) or self._sample(id_)
                answers.append((sample, text_of(completion), reason))
        pool = self._pool()
        rewards = pool.map(lambda answer: self._reward(pool.sandbox, *answer), answers)
        return [None if id_ is None else self._checked(id_, next(rewards)) for id_ in id]

    def rows(self, *, chat: bool = False) -> Iterator[dict[str, Any]]:
        """The rows of a trainer's dataset: prompt and id of each question that has the metric. chat: prompts
        as conversations of one message, for models with a chat template."""
        samples = map(self._questions.read, range(len(self._questions)))
        for sample in filter(self._applies, samples):
            prompt = [{"role": "user", "content": sample.prompt}] if chat else sample.prompt
            yield {"prompt": prompt, "id": sample.id}

    def close(self) -> None:
        """End the processes of the sandbox."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.end()

    def __enter__(self) -> "Reward":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pools": {}}

    def __repr__(self) -> str:
        return f"<Reward {self.metric} of {len(self._questions)} questions>"

    def _reward(
        self, sandbox: Sandbox, sample: Sample, completion: str, stop_reason: str | None
    ) -> float | AnswerNotRun | None:
        if not self._applies(sample):
            return None
        try:
            scored = score_in(sandbox, sample, completion, stop_reason=stop_reason)
        except AnswerNotRun as error:
            return error
        return scored.score if self.metric == OUTCOME else scored.metrics[self.metric]

    def _applies(self, sample: Sample) -> bool:
        return self.metric == OUTCOME or self.metric in METRICS.get(sample.data["form"], ())

    def _checked(self, question_id: str, reward: float | AnswerNotRun | None) -> float | None:
        if not isinstance(reward, AnswerNotRun):
            return reward
        if self.on_failure is OnFailure.RAISE:
            raise AnswerNotRun(f"the answer to {question_id} could not be run: {reward}") from reward
        warnings.warn(f"{question_id}: {reward}. The answer has no reward.", RuntimeWarning, stacklevel=3)
        return None

    def _pool(self) -> "_Pool":
        # One step, which needs no lock: another thread could hold a lock at the moment of a fork. A pool that
        # was made in vain has started nothing.
        pid = os.getpid()
        return self._pools.get(pid) or self._pools.setdefault(pid, _Pool(self))

    def _sample(self, question_id: Any) -> Sample:
        position = self._questions.find(question_id) if isinstance(question_id, str) else None
        sample = None if position is None else self._questions.read(position)
        if sample is None or sample.id != question_id:
            raise InputError(f"the id {question_id!r} is unknown. Give rows of other tasks the id None.")
        return sample


class _Pool:
    """The sandbox of a reward in one process, and the threads that wait for it."""

    def __init__(self, owner: Reward) -> None:
        self.sandbox = for_many(owner.confinement, owner.workers)
        threads = ThreadPoolExecutor(owner.workers, "deskcheck-reward") if owner.workers > 1 else None
        self.map = map if threads is None else threads.map
        self.end = weakref.finalize(owner, _end, os.getpid(), self.sandbox, threads)
        """Also called when the owner is garbage collected, and at the end of the interpreter."""


def _end(pid: int, sandbox: Sandbox, threads: ThreadPoolExecutor | None) -> None:
    if pid != os.getpid():  # in a fork: the processes are those of its parent
        return
    sandbox.close()  # so that runs which are under way end
    if threads is not None:
        threads.shutdown(cancel_futures=True)


def text_of(completion: Any) -> str:
    """A text, or the content of the last message of the assistant in a conversation.

    A content may be None, beside calls of tools, or a list of parts. Raises InputError for anything else.
    """
    if isinstance(completion, str):
        return completion
    is_chat = isinstance(completion, (list, tuple)) and all(
        isinstance(message, Mapping) for message in completion
    )
    messages = [message for message in completion if message.get("role") == "assistant"] if is_chat else []
    if not messages:
        raise InputError(
            "a completion is neither a text nor a conversation with a message of the assistant: "
            f"{repr(completion)[:200]}"
        )
    content = messages[-1].get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text") or "" for part in content)
