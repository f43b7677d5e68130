"""Rows of the logs of Inspect AI, for deskcheck's tasks and for any other task.

In logs of other tasks, each scorer is a question, and so is each key of a score that is a mapping: ``TASK``,
``TASK/SCORER`` if there are several scorers, ``TASK/SCORER/KEY``. Arguments of the task are part of its name.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.ask.methods.solvers import METHODS
from deskcheck.ask.results.rows import Key, LoggedRun, ScoredSample, Usage, scored_elsewhere, seconds
from deskcheck.ask.results.steps import JUDGED, PredictedRun
from deskcheck.ask.scoring.score import Reading
from deskcheck.recording import InputError, MissingExtra

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ModelUsage

_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Scores that are words, as Inspect's ``value_to_float`` reads them."""


def read_log(path: Path) -> "EvalLog":
    """A log with its samples.

    Raises:
        InputError: the file is not a log or cannot be read.
        MissingExtra: Inspect AI is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", f"Reading {path.name}") from error
    try:
        return read_eval_log(str(path))
    except Exception as error:  # readers of foreign files raise anything on what is not a log
        message = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: is not a log of Inspect's that can be read: {message}") from error


def runs_in_log(path: Path, cluster: str | None, notes: list[str]) -> Iterator[LoggedRun]:
    """The runs of a log. cluster: for other tasks, the field of metadata by which samples belong together.
    notes: gets a sentence about everything that is left out.

    Raises what `read_log` raises, and InputError for a sample without that field.
    """
    log = read_log(path)
    if log.status != "success":
        notes.append(f"{path.name} did not finish ({log.status}) and is left out.")
    elif "question" in (log.eval.metadata or {}):
        yield _own_run(path, log)
    else:
        yield from _other_runs(path, log, cluster, notes)


# -- our own tasks ---------------------------------------------------------------------------------------


def scored_of(samples: Sequence["EvalSample"], key: Key) -> Iterator[ScoredSample]:
    """The rows of samples of one of deskcheck's tasks, without those that ended in an error."""
    for sample in samples:
        if sample.error is not None:
            continue
        metadata = sample.metadata
        score = (sample.scores or {})["scored"]
        figures = dict(score.metadata or {})
        reading, reason = figures.get("reading", ""), score.explanation or ""
        if sample.limit is not None and reading == Reading.EMPTY:
            reading = Reading.CUT.value
            reason = f"the sample reached a limit before it had an answer: {sample.limit.type}"
        yield ScoredSample(
            id=str(sample.id),
            program=metadata["program"],
            cluster=metadata["cluster"],
            question=key.question,
            model=key.model,
            solver=key.method,
            completion=sample.output.completion,
            answer=score.answer,
            expected=metadata["answer"],
            score=float(score.as_float()),
            reason=reason,
            data=json.dumps(metadata["data"]),
            state=key.state,
            reading=reading,
            stop_reason=figures.get("stop_reason"),
            epoch=sample.epoch,
            prompt=sample.input if isinstance(sample.input, str) else "",
            attempts=json.dumps(metadata["attempts"]) if "attempts" in metadata else "",
            **figures.get("metrics", {}),
            **_steps(metadata),
        )


def _steps(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The columns about a predicted run, if the sample was answered from one."""
    if "steps" not in metadata:
        return {}
    run = PredictedRun.from_dict(metadata["steps"])
    return {
        "run": run.key,
        "steps_asked": run.asked,
        "ended": run.why,
        **{f"steps_{name}": getattr(run.agreement, name) for name in JUDGED},
        "divergence": run.agreement.first or "",
        "predicted": metadata["predicted"],
    }


def usage_of(samples: Sequence["EvalSample"], key: Key) -> Iterator[Usage]:
    """The tokens, costs and times of samples."""
    for sample in samples:
        used = list(sample.model_usage.values())
        costs = [usage.total_cost for usage in used if usage.total_cost is not None]
        yield Usage(
            id=str(sample.id),
            question=key.question,
            model=key.model,
            solver=key.method,
            state=key.state,
            input_tokens=sum(map(input_tokens, used)) if used else None,
            output_tokens=sum(usage.output_tokens for usage in used) if used else None,
            cost=sum(costs) if costs else None,
            time_s=sample.working_time,
            epoch=sample.epoch,
        )


def input_tokens(usage: "ModelUsage") -> int:
    """Tokens read, with those of the provider's cache."""
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _own_run(path: Path, log: "EvalLog") -> LoggedRun:
    metadata = log.eval.metadata or {}
    method = str(metadata.get("method") or _last_solver(log.plan.steps))
    key = Key(str(metadata["question"]), str(metadata.get("state", "")), method, log.eval.model)
    excluded = Counter(metadata.get("excluded") or {})
    scored: list[EvalSample] = []
    for sample in log.samples or ():
        if "unfit" in sample.metadata:
            excluded[str(sample.metadata["unfit"])] += 1
        elif (sample.scores or {}).get("scored") is None:
            excluded[_why_not_scored(sample)] += 1
        else:
            scored.append(sample)
    return LoggedRun(
        key=key,
        folder=path.parent,
        started=seconds(log.eval.created, path),
        samples=list(scored_of(scored, key)),
        usage=list(usage_of(scored, key)),
        excluded=excluded,
    )


def _why_not_scored(sample: "EvalSample") -> str:
    return "it ended in an error" if sample.error else "it has no score"


def _last_solver(steps: Sequence[Any]) -> str:
    """The method in a log of deskcheck's, with its options; ``direct`` if it has none."""
    if not steps:
        return "direct"
    registered = str(steps[-1].solver)
    name = registered.removeprefix("deskcheck/")
    # If the package of a method is not installed, the prefix shows that it is one of ours.
    takes_options = METHODS[name].check_options is not None if name in METHODS else name != registered
    if not takes_options:
        return name
    texts = {option: str(value) for option, value in steps[-1].params_passed.items()}
    texts |= {option: text.lower() for option, text in texts.items() if text in ("True", "False")}
    return ":".join([name, *(f"{option}={text}" for option, text in texts.items())])


# -- other tasks -----------------------------------------------------------------------------------------


def _other_runs(path: Path, log: "EvalLog", cluster: str | None, notes: list[str]) -> Iterator[LoggedRun]:
    task = _task_name(log)
    method = "+".join(_solvers(log)) or "direct"
    samples = log.samples or []
    numbers: dict[tuple[str, str], list[tuple[EvalSample, float]]] = {}
    odd: Counter[tuple[str, str]] = Counter()
    for sample, scorer, name, value in _values(samples):
        number = _number(value)
        if number is None:
            odd[scorer, name] += 1
        else:
            numbers.setdefault((scorer, name), []).append((sample, number))
    for (scorer, name), count in odd.items():
        name_of_value = "/".join(filter(None, (task, scorer, name)))
        notes.append(
            f"{path.name}: left out: {count} values of {name_of_value} that are not numbers from 0 to 1."
        )
    several = len({scorer for scorer, _ in [*numbers, *odd]}) > 1
    for number, ((scorer, name), scored) in enumerate(numbers.items()):
        question = "/".join(filter(None, (task, scorer if several or name else "", name)))
        key = Key(question, "", method, log.eval.model)
        yield LoggedRun(
            key=key,
            folder=path.parent,
            started=seconds(log.eval.created, path),
            samples=[_scored(path, sample, score, scorer, key, cluster) for sample, score in scored],
            # The usage of an answer counts once, however often it is scored.
            usage=list(usage_of([sample for sample, _ in scored], key)) if number == 0 else [],
            excluded=Counter(_why_not_scored(sample) for sample in samples if not sample.scores),
        )


def _values(samples: Sequence["EvalSample"]) -> Iterator[tuple["EvalSample", str, str, object]]:
    """Each value of each score, with its scorer and its key in the score."""
    for sample in samples:
        for scorer, score in (sample.scores or {}).items():
            parts = score.value if isinstance(score.value, Mapping) else {"": score.value}
            yield from ((sample, scorer, name, value) for name, value in parts.items())


def _task_name(log: "EvalLog") -> str:
    arguments = log.eval.task_args_passed or {}
    texts = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return log.eval.task.rpartition("/")[2] + (f"({texts})" if texts else "")


def _solvers(log: "EvalLog") -> list[str]:
    return [step.solver.rpartition("/")[2] for step in log.plan.steps if step.solver != "generate"]


def _number(value: object) -> float | None:
    """A score as a number from 0 to 1; None if it is not one."""
    if isinstance(value, str):
        if value in _WORDS or value.lower() in _WORDS:
            return _WORDS.get(value, _WORDS.get(value.lower()))
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return float(value)
    return None


def _scored(
    path: Path, sample: "EvalSample", number: float, scorer: str, key: Key, cluster: str | None
) -> ScoredSample:
    completion = sample.output.completion
    answer = (sample.scores or {})[scorer].answer
    target = sample.target
    return scored_elsewhere(
        str(sample.id),
        sample.metadata or {},
        cluster,
        str(path),
        question=key.question,
        model=key.model,
        solver=key.method,
        completion=completion,
        answer=completion if answer is None else answer,
        expected=target if isinstance(target, str) else "\n".join(target),
        score=number,
        reading=(Reading.ANSWERED if completion.strip() or answer else Reading.EMPTY).value,
        stop_reason=sample.output.stop_reason if sample.output.choices else None,
        epoch=sample.epoch,
        prompt=sample.input if isinstance(sample.input, str) else sample.input[-1].text,
    )
