"""The work of a job as functions from JSON to JSON, which can be called on any machine.

A task names the module whose `TASKS` do it: ``make`` makes a shard or some of its items, ``join`` joins the
parts of a shard, ``describe`` returns the line of the manifest for an existing shard. A task can go wrong in
three ways. A refusal ends the job: the disk is full, the sandbox is not available, an item cannot be used. A
failure is an error in deskcheck; the task is repeated. After a death the process reports nothing.
"""

import errno
import faulthandler
import importlib
import json
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deskcheck.errors import InputError, MissingExtra, RecordingError, SandboxError, ServerLost
from deskcheck.files import sha256
from deskcheck.jobs.job_folder import JobFolder
from deskcheck.jobs.manifest import Line


def run_task(task: dict[str, Any]) -> dict[str, Any]:
    """Do a piece of work; return ``{"done": ...}``, ``{"failed": text}`` or ``{"refused": text, "error":
    class}``.

    task: ``work`` names the module, ``do`` one of its `TASKS`, ``folder`` the job's folder, ``shard`` the
    shard. Other keys depend on ``do``.
    """
    try:
        return {"done": importlib.import_module(task["work"]).TASKS[task["do"]](task)}
    except (ServerLost, MemoryError):
        return {"failed": _last_line()}
    except MissingExtra as error:
        return {"refused": f"{os.uname().nodename}: {error}", "error": "InputError"}
    except (InputError, SandboxError) as error:
        return {"refused": str(error), "error": type(error).__name__}
    except RecordingError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno != errno.ENOENT:
            return {"refused": str(error), "error": "RecordingError"}
        return {"failed": str(error)}
    except Exception:  # any error is reported to the driver
        return {"failed": _last_line()}


def _last_line() -> str:
    return traceback.format_exc().strip().splitlines()[-1][:500]


_watched: list[float] = []
"""The time when the watchdog was last set."""


def watch(patience_s: float) -> None:
    """End this process if an item takes longer than `patience_s`, or up to a quarter more.

    The watchdog is not reset for every item: that takes milliseconds, because it waits for a thread.
    """
    now = time.monotonic()
    if not _watched or now - _watched[0] > patience_s / 4:
        faulthandler.dump_traceback_later(1.25 * patience_s, exit=True, file=2)
        _watched[:] = [now]


def unwatch() -> None:
    faulthandler.cancel_dump_traceback_later()
    _watched.clear()


def check_machine(decided_by: str, task: Mapping[str, Any], decides: str) -> None:
    """Raise InputError if this machine would do a task differently from the one that planned the job.

    decides: words for what may differ.
    """
    if decided_by != task["decided_by"]:
        raise InputError(
            f"{os.uname().nodename}: {decides} differs from that of the machine that planned the job. "
            f"Install the same on all machines."
        )


def check_seen(job_folder: JobFolder, paths: Iterable[Path] = (), what: str = "a folder") -> None:
    """Raise InputError if this machine does not see the job's folder, or other paths that the job needs."""
    unseen = [path for path in paths if not path.exists()]
    if not job_folder.job.exists():
        unseen, what = [job_folder.folder], "a folder"
    if unseen:
        node = os.uname().nodename
        raise InputError(f"{node}: cannot see {unseen[0]}: a job needs {what} that all machines share.")


def shard_line(
    shard: str,
    paths: Mapping[str, Path],
    outcomes: Counter[str],
    *,
    events: int,
    not_repeatable: int = 0,
    problems: dict[str, str],
    finished: float,
) -> Line:
    """The line of the manifest for a shard. paths: its files by table. outcomes: number of items by
    outcome."""
    return {
        "shard": shard,
        "programs": outcomes.total(),
        "events": events,
        "outcomes": {outcome: count for outcome, count in sorted(outcomes.items()) if count},
        "not_repeatable": not_repeatable,
        "problems": problems,
        **file_facts(paths),
        "finished": round(finished, 3),
    }


def file_facts(paths: Mapping[str, Path]) -> dict[str, dict[str, Any]]:
    """Sizes and digests of a shard's files, by table, for a line of the manifest."""
    return {
        "bytes": {table: path.stat().st_size for table, path in paths.items()},
        "sha256": {table: sha256(path) for table, path in paths.items()},
    }


def main() -> None:
    """Run as a worker of the local pool.

    Each line of standard input is a task. Each answer follows the number of its task on standard output.
    """
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # only answers may go there
        for number, line in enumerate(sys.stdin, 1):
            print(json.dumps([number, run_task(json.loads(line))]), file=answers, flush=True)
