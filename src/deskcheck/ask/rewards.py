"""Rewards for reinforcement learning: scores of answers to our questions, as a function that trainers call.

The scores are those of `deskcheck offline score` for the same completions: both call
`scoring.sandbox.score_in`. What failed on our side is never a reward of 0. Answers that need no running are
scored in the calling process; others are run in a sandbox, which is started when the first of them comes.

Not: next cells scored by running (`scoring.running`), runs that a model predicts whole (`methods.solvers`).
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
from deskcheck.ask.scoring.sandbox import AnswerNotRun, for_many, score_in
from deskcheck.ask.scoring.score import METRICS
from deskcheck.errors import InputError
from deskcheck.sandbox import Confinement, Sandbox

OUTCOME = "outcome"
"""The reward that every kind of question has: the score itself."""


class OnFailure(StrEnum):
    """What an answer gets whose run failed on our side, after three tries."""

    RAISE = "raise"
    """The error `AnswerNotRun`, which ends the training."""
    NONE = "none"
    """None, with a warning: no reward, and the trainer leaves the answer out."""


def reward(
    questions: str | os.PathLike[str] | Iterable[Sample],
    metric: str = OUTCOME,
    *,
    workers: int = 2,
    confinement: Confinement | str = Confinement.STRICT,
    on_failure: OnFailure | str = OnFailure.RAISE,
) -> "Reward":
    """A reward function over questions, for TRL's `GRPOTrainer` and whatever calls functions as it does.

        with deskcheck.reward("questions.jsonl") as rewarded:
            dataset = datasets.Dataset.from_list(list(rewarded.rows()))
            GRPOTrainer(model, reward_funcs=rewarded, train_dataset=dataset).train()

    questions: a file that ``deskcheck offline questions`` wrote, which is read again for each question that
    is met and must not change; or samples, which are held in memory. metric: ``outcome``, the score of the
    score, 0 or 1 (of a question kind of one's own also between); or the name of a metric of a kind
    (`METRICS`), from 0 to 1: where a question has no such metric, its answers get None. workers: answers
    that are run at once; rewards do not depend on it. confinement: of answers that are run. on_failure: see
    `OnFailure`.

    Raises:
        InputError: the questions cannot be read, are damaged, or two have one id; no question has the metric.
        ValueError: `workers` is less than one, or a setting has another value than those that there are.
    """
    if isinstance(questions, (str, os.PathLike)):
        return Reward(Questions(Path(questions)), metric, workers, Confinement(confinement), on_failure)
    held: dict[str, Sample] = {}
    for sample in questions:
        if sample.id in held:
            raise InputError(f"two samples both have the id {sample.id!r}. Give each its own.")
        held[sample.id] = sample
    if not held:
        raise InputError("there are no samples to reward answers to.")
    return Reward(held, metric, workers, Confinement(confinement), on_failure)


class Reward:
    """A reward function (`reward` makes it). Its ``__name__`` is what trainers log it by.

    The processes of its sandbox live until `close`, the end of a ``with`` block, or the end of the
    interpreter; a call after `close` starts new ones. A fork of the process, and whoever unpickles the
    object, starts its own. Threads may call it together.
    """

    def __init__(
        self,
        questions: Questions | Mapping[str, Sample],
        metric: str,
        workers: int,
        confinement: Confinement,
        on_failure: OnFailure | str,
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers} must be at least one")
        self._questions = questions
        self.metric = metric
        self.workers = workers
        self.confinement = confinement
        self.on_failure = OnFailure(on_failure)
        self.__name__ = f"deskcheck_{metric}"
        self._pools: dict[int, _Pool] = {}
        """By the process that they are of."""
        known = {name for form in self._forms() for name in METRICS.get(form, ())}
        if metric != OUTCOME and metric not in known:
            there = ", ".join([OUTCOME, *sorted(known)])
            raise InputError(f"no question here has the metric {metric!r}. They have: {there}.")

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        id: Sequence[str | None] | None = None,
        stop_reason: Sequence[str | None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """The rewards of completions, in their order.

        completions: texts, or conversations as lists of messages, of which the last of the assistant counts.
        id: of each the id of its question; None, for a row that is none of ours: the reward is None.
        stop_reason: why each ended, where that is known (`score.reading_of`); of one that ended at a limit
        of tokens, an answer counts only if it is closed. Other columns, and what else a trainer gives, are
        not read.

        Raises:
            InputError: there are no ids, or not as many as completions; an unknown id; the file of questions
                was changed; something that is neither a text nor a conversation.
            AnswerNotRun: an answer could not be run, unless ``on_failure="none"``.
            SandboxError: the level of confinement cannot be had here; the reward was closed meanwhile.
        """
        if id is None:
            raise InputError(
                "there is no column 'id', which says what question a completion answers. Make the dataset "
                "from `rows()` of the reward, and let the trainer keep its columns: "
                "remove_unused_columns=False."
            )
        ended = [None] * len(completions) if stop_reason is None else stop_reason
        for name, column in (("ids", id), ("stop reasons", ended)):
            if len(column) != len(completions):
                raise InputError(f"there are {len(column)} {name}, and {len(completions)} completions.")
        samples: dict[str, Sample] = {}  # in a group of GRPO all have one question
        asked = []
        for id_, said, why in zip(id, completions, ended, strict=True):
            if id_ is not None:
                sample = samples[id_] = samples.get(id_) or self._sample(id_)
                asked.append((sample, text_of(said), why))
        pool = self._pool()
        found = pool.map(lambda answer: self._found(pool.sandbox, *answer), asked)
        return [None if id_ is None else self._given(id_, next(found)) for id_ in id]

    def rows(self, *, chat: bool = False) -> Iterator[dict[str, Any]]:
        """What a trainer's dataset is made of: the prompt and the id of each question that has the metric.

        chat: the prompt as a conversation of one message, for models with a chat template.
        """
        for sample in filter(self._applies, self._samples()):
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

    def _found(
        self, sandbox: Sandbox, sample: Sample, completion: str, stop_reason: str | None
    ) -> float | AnswerNotRun | None:
        if not self._applies(sample):
            return None
        try:
            found = score_in(sandbox, sample, completion, stop_reason=stop_reason)
        except AnswerNotRun as error:
            return error
        return found.score if self.metric == OUTCOME else found.metrics[self.metric]

    def _applies(self, sample: Sample) -> bool:
        return self.metric == OUTCOME or self.metric in METRICS.get(sample.data["form"], ())

    def _given(self, id_: str, found: float | AnswerNotRun | None) -> float | None:
        if not isinstance(found, AnswerNotRun):
            return found
        if self.on_failure is OnFailure.RAISE:
            raise AnswerNotRun(f"the answer to {id_} could not be run: {found}") from found
        warnings.warn(f"{id_}: {found}. The answer has no reward.", RuntimeWarning, stacklevel=3)
        return None

    def _pool(self) -> "_Pool":
        # One step, which needs no lock: another thread could hold a lock at the moment of a fork. A pool that
        # was made in vain has started nothing.
        pid = os.getpid()
        return self._pools.get(pid) or self._pools.setdefault(pid, _Pool(self))

    def _forms(self) -> set[str]:
        if isinstance(self._questions, Questions):
            return self._questions.forms
        return {sample.data["form"] for sample in self._questions.values()}

    def _samples(self) -> Iterator[Sample]:
        if isinstance(self._questions, Questions):
            yield from map(self._questions.read, range(len(self._questions)))
        else:
            yield from self._questions.values()

    def _sample(self, id_: Any) -> Sample:
        sample = self._find(id_) if isinstance(id_, str) else None
        if sample is None or sample.id != id_:
            raise InputError(
                f"there is no question with the id {id_!r}. Give rows of other tasks the id None."
            )
        return sample

    def _find(self, id_: str) -> Sample | None:
        if not isinstance(self._questions, Questions):
            return self._questions.get(id_)
        place = self._questions.find(id_)
        return None if place is None else self._questions.read(place)


class _Pool:
    """The sandbox of a reward in one process, and the threads that wait for it."""

    def __init__(self, owner: Reward) -> None:
        self.sandbox = for_many(owner.confinement, owner.workers)
        threads = ThreadPoolExecutor(owner.workers, "deskcheck-reward") if owner.workers > 1 else None
        self.map = map if threads is None else threads.map
        self.end = weakref.finalize(owner, _end, os.getpid(), self.sandbox, threads)
        """Also called when the owner is gone, and at the end of the interpreter."""


def _end(pid: int, sandbox: Sandbox, threads: ThreadPoolExecutor | None) -> None:
    if pid != os.getpid():  # in a fork: the processes are those of its parent
        return
    sandbox.close()  # so that runs which are under way end
    if threads is not None:
        threads.shutdown(cancel_futures=True)


def text_of(completion: Any) -> str:
    """The text of a completion: itself; of a conversation, the last message of the assistant.

    A content may be None, as beside calls of tools, and a list of parts, whose texts are joined. Raises
    InputError for anything else.
    """
    if isinstance(completion, str):
        return completion
    said = [each for each in completion if each.get("role") == "assistant"] if _is_chat(completion) else []
    if not said:
        raise InputError(
            "a completion is neither a text nor a conversation with a message of the assistant: "
            f"{repr(completion)[:200]}"
        )
    content = said[-1].get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text") or "" for part in content)


def _is_chat(completion: Any) -> bool:
    return isinstance(completion, (list, tuple)) and all(isinstance(each, Mapping) for each in completion)
