"""A run of tasks by models through Inspect, which continues from the logs of earlier tries."""

import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deskcheck.ask.inspect.context import AnswerCounter, AnswerKey, AskProgress, run_context
from deskcheck.ask.inspect.models import options_of, plain_text
from deskcheck.ask.inspect.settings import Generation
from deskcheck.ask.results.folder import LOGS
from deskcheck.recording import DeskcheckError, InputError

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalError, EvalLog
    from inspect_ai.model import Model


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while models answered. The message says how many answers are kept, and where."""


def evaluate(
    tasks: "Sequence[Task]",
    models: "Sequence[Model]",
    folder: Path,
    total: int,
    generation: Generation,
    progress: Callable[[AskProgress], None],
) -> "list[EvalLog]":
    """The complete logs of all tasks by all models. Answers that the logs of a run folder have are not asked
    again. total: answers of all models to all tasks.

    Raises:
        DeskcheckError: a task failed before any answer was scored.
        InputError: a setting cannot be used, or a log cannot be read.
        Interrupted: Ctrl-C.
    """
    if not tasks:
        return []
    from inspect_ai.log import read_eval_log

    from deskcheck.ask.inspect.progress import register_hooks

    logs_folder = folder / LOGS
    register_hooks()
    with _private_files(folder, cache=generation.cache), _quiet():
        run_context().progress = AnswerCounter(_scored(logs_folder), total, progress)
        logs = _eval_set(tasks, models, folder, generation)
    way_on = f"they are kept in {folder}: rerun the command to resume."
    failed = next((log for log in logs if log.status == "error"), None)
    if failed is not None and not _scored(logs_folder):
        raise DeskcheckError(
            f"asking {failed.eval.model} did not finish: {_why_failed(failed)}. "
            f"None of {total} answers was scored; {way_on}"
        )
    if len(logs) < len(tasks) * len(models) or any(log.status not in ("success", "error") for log in logs):
        raise Interrupted(f"{len(_scored(logs_folder))} of {total} answers were scored; {way_on}")
    locations = [log.location for log in logs]
    for path in logs_folder.glob("*.eval"):  # of runs that were killed; their answers are in the others
        if not any(location.endswith(path.name) for location in locations):
            path.unlink()
    return [read_eval_log(location) for location in locations]


def _eval_set(
    tasks: "Sequence[Task]",
    models: "Sequence[Model]",
    folder: Path,
    generation: Generation,
) -> "list[EvalLog]":
    """The logs of Inspect; none after Ctrl-C."""
    from inspect_ai import eval_set
    from inspect_ai._util.error import PrerequisiteError

    try:
        # All models at once: Inspect runs the tasks of different models side by side.
        _, logs = eval_set(
            list(tasks),
            model=list(models),
            log_dir=str(folder / LOGS),
            log_format="eval",
            log_realtime=False,
            log_buffer=max(1, max(len(task.dataset) for task in tasks) // 300),
            log_level="warning",
            score_display=False,
            display="none",
            ctl_server=False,
            retry_on_error=1,
            continue_on_fail=True,
            retry_attempts=1,
            retry_immediate=False,
            **options_of(generation),
        )
    except PrerequisiteError as error:
        reason = plain_text(str(error.message))
        if "cost" in reason:
            reason = "--cost-limit needs the prices of each model: give --price MODEL=IN,OUT."
        raise InputError(f"{folder}: {reason}") from error
    except KeyboardInterrupt:
        return []
    return logs


@contextmanager
def _private_files(folder: Path, *, cache: bool) -> Iterator[None]:
    """Keep Inspect's own files in the run folder, unless the user has named a place, and delete them after
    the run. cache: use Inspect's cache of completions at its usual place."""
    private = folder.resolve() / ".inspect"
    places = {"XDG_DATA_HOME": private / "data"}
    if not cache:
        places |= {"INSPECT_CACHE_DIR": private / "cache", "XDG_CACHE_HOME": private / "cache"}
    added = {name: str(path) for name, path in places.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        shutil.rmtree(private, ignore_errors=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Inspect and its console silent."""
    import rich

    console = rich.get_console()
    quiet, console.quiet = console.quiet, True
    # Inspect's diary of a run is a handler of logging. On a full disk it would print a traceback for each
    # entry. Its logs of answers are not; they raise.
    loud, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        yield
    finally:
        console.quiet = quiet
        logging.raiseExceptions = loud


def _scored(folder: Path) -> set[AnswerKey]:
    """The scored answers in the logs of a folder."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    answers: set[AnswerKey] = set()
    for path in folder.glob("*.eval"):
        try:
            header = read_eval_log(str(path), header_only=True).eval
            samples = read_eval_log_sample_summaries(str(path))
        except Exception as error:  # readers of foreign files raise anything on a damaged one
            raise InputError(
                f"{path}: cannot be read: {error}. Remove it: its questions are then asked again."
            ) from error
        for sample in samples:
            if sample.scores and sample.error is None:
                answers.add((header.task, header.model, str(sample.id), sample.epoch))
    return answers


# -- errors ----------------------------------------------------------------------------------------------

_RAISED = re.compile(r"^([^\W\d][\w.]*(?:Error|Exception|Timeout))(?:: *(\S.*))?$", re.MULTILINE)
_OF_OTHER_DATA = (
    "AssertionError",
    "AttributeError",
    "IndexError",
    "JSONDecodeError",
    "KeyError",
    "TypeError",
    "ValidationError",
)
"""Exceptions of a provider that reads other data than it expects."""


def why(error: "EvalError") -> str:
    """The reason why a request failed, in a sentence: the first exception, not those of later tries."""
    raised = _RAISED.search(error.traceback)
    if "Timeout" in error.message or (raised and "Timeout" in raised[1]):
        return "no answer came in time (--timeout)"
    name = raised[1].rpartition(".")[2] if raised else ""
    message = f"{name}: {raised[2]}" if raised and raised[2] else name or error.message
    if name in _OF_OTHER_DATA:
        message = f"the answer is not a completion ({message})"
    return plain_text(message)[:500].rstrip(".")


def _why_failed(log: "EvalLog") -> str:
    """The reason of the first sample that failed, or else of the task."""
    from inspect_ai.log import read_eval_log

    samples = read_eval_log(log.location).samples or ()
    errors = [error for error in [*(sample.error for sample in samples), log.error] if error is not None]
    return why(errors[0]) if errors else "its log gives no reason"
