"""Reads logs of Inspect AI: those of our own tasks, and those of any other.

Of another task each scorer, and each key of a score that is a mapping, is a question of its own:
``TASK``, ``TASK/SCORER`` where there are several, ``TASK/SCORER/KEY``. Arguments that a task was given
are part of its name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deskcheck.ask.methods.solvers import METHODS
from deskcheck.ask.results.asked import Asked, scored_elsewhere, seconds
from deskcheck.ask.results.results import ScoredSample, scored_of, usage_of
from deskcheck.ask.scoring.score import Reading
from deskcheck.recording import InputError, MissingExtra

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
"""Values of a score that are words, as Inspect's ``value_to_float`` takes them."""


def asked_in_log(path: Path, cluster: str | None, notes: list[str]) -> Iterator[Asked]:
    """What a log holds. cluster: of others' tasks, the field of the samples' metadata by which they belong
    together; without it each sample stands alone. notes: what is passed over is told there.

    Raises:
        InputError: it cannot be read, or a sample has no such field.
        MissingExtra: Inspect AI is not installed.
    """
    log = read_log(path)
    if log.status != "success":
        notes.append(f"{path.name} did not finish ({log.status}) and is left out.")
    elif "question" in (log.eval.metadata or {}):
        yield _own(path, log)
    else:
        yield from _others(path, log, cluster, notes)


def read_log(path: Path) -> "EvalLog":
    """A log with its samples. Raises InputError and MissingExtra as `asked_in_log` does."""
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtra("inspect-ai", "ask", f"Reading {path.name}") from error
    try:
        return read_eval_log(str(path))
    except Exception as error:  # whatever a reader of foreign files raises on what is no log
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: is no log of Inspect's that can be read: {told}") from error


def _own(path: Path, log: "EvalLog") -> Asked:
    about = log.eval.metadata or {}
    key = (
        str(about["question"]),
        str(about.get("state", "")),
        str(about.get("method") or _last_solver(log.plan.steps)),
        log.eval.model,
    )
    samples = log.samples or []
    scored = [sample for sample in samples if (sample.scores or {}).get("scored") is not None]
    unfit = Counter(str(sample.metadata["unfit"]) for sample in samples if "unfit" in sample.metadata)
    unfit += Counter(
        _why_not_scored(sample)
        for sample in samples
        if "unfit" not in sample.metadata and (sample.scores or {}).get("scored") is None
    )
    log.samples = [sample for sample in scored if "unfit" not in sample.metadata]
    return Asked(
        key=key,
        folder=path.parent,
        started=seconds(log.eval.created, path),
        samples=list(scored_of(log, key[0], key[1], key[2])),
        usage=list(usage_of(log, key[0], key[1], key[2])),
        excluded=Counter(about.get("excluded") or {}) + unfit,
    )


def _why_not_scored(sample: "EvalSample") -> str:
    return "it ended in an error" if sample.error else "it has no score"


def _last_solver(steps: Sequence[Any]) -> str:
    """The method that a log of ours names, with the options that it was given; `direct` for none."""
    if not steps:
        return "direct"
    registered = str(steps[-1].solver)
    name = registered.removeprefix("deskcheck/")
    # Where the package of a method is not installed, the prefix says that it is one of ours.
    takes_options = METHODS[name].check_options is not None if name in METHODS else name != registered
    if not takes_options:
        return name
    given = {option: str(value) for option, value in steps[-1].params_passed.items()}
    given |= {option: text.lower() for option, text in given.items() if text in ("True", "False")}
    return ":".join([name, *(f"{option}={text}" for option, text in given.items())])


def _others(path: Path, log: "EvalLog", cluster: str | None, notes: list[str]) -> Iterator[Asked]:
    task = log.eval.task.rpartition("/")[2] + _arguments(log)
    method = "+".join(_solvers(log)) or "direct"
    rows: dict[tuple[str, ...], list[tuple[EvalSample, float]]] = {}
    excluded: Counter[str] = Counter()
    odd: Counter[tuple[str, ...]] = Counter()
    samples = log.samples or []
    for sample in samples:
        if not sample.scores:
            excluded[_why_not_scored(sample)] += 1
        for scorer, score in (sample.scores or {}).items():
            parts = score.value if isinstance(score.value, Mapping) else {"": score.value}
            for name, value in parts.items():
                number = _number(value)
                if number is None:
                    odd[scorer, name] += 1
                else:
                    rows.setdefault((scorer, name), []).append((sample, number))
    for each, count in odd.items():
        told = "/".join(filter(None, (task, *each)))
        notes.append(f"{path.name}: {count} values of {told} are no numbers from 0 to 1 and are left out.")
    scorers = {scorer for scorer, _ in [*rows, *odd]}
    for place, ((scorer, name), scored) in enumerate(rows.items()):
        question = "/".join(filter(None, (task, scorer if len(scorers) > 1 or name else "", name)))
        log.samples = [sample for sample, _ in scored]
        yield Asked(
            key=(question, "", method, log.eval.model),
            folder=path.parent,
            started=seconds(log.eval.created, path),
            samples=[
                _scored(path, sample, number, scorer, (question, method, log.eval.model), cluster)
                for sample, number in scored
            ],
            # What an answer took is told once, however often it is scored.
            usage=list(usage_of(log, question, "", method)) if place == 0 else [],
            excluded=excluded,
        )
    log.samples = samples


def _arguments(log: "EvalLog") -> str:
    given = log.eval.task_args_passed or {}
    return f"({', '.join(f'{name}={value}' for name, value in given.items())})" if given else ""


def _solvers(log: "EvalLog") -> list[str]:
    return [step.solver.rpartition("/")[2] for step in log.plan.steps if step.solver != "generate"]


def _number(value: object) -> float | None:
    """A score as a number from 0 to 1; None where it is none."""
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
    path: Path,
    sample: "EvalSample",
    number: float,
    scorer: str,
    asked: tuple[str, str, str],
    cluster: str | None,
) -> ScoredSample:
    question, method, model = asked
    said = sample.output.completion
    answer = (sample.scores or {})[scorer].answer
    target = sample.target
    return scored_elsewhere(
        str(sample.id),
        sample.metadata or {},
        cluster,
        str(path),
        question=question,
        model=model,
        solver=method,
        completion=said,
        answer=said if answer is None else answer,
        expected=target if isinstance(target, str) else "\n".join(target),
        score=number,
        reading=(Reading.ANSWERED if said.strip() or answer else Reading.EMPTY).value,
        stop_reason=sample.output.stop_reason if sample.output.choices else None,
        epoch=sample.epoch,
        prompt=sample.input if isinstance(sample.input, str) else sample.input[-1].text,
    )
