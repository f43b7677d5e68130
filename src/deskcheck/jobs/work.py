"""The work of a job, as functions from JSON to JSON: whoever calls them, and on whichever machine.

A task names the module whose `TASKS` do it: ``make`` makes a shard or some of it, ``join`` makes one of its
parts, ``describe`` tells what the manifest says of one that is there. What goes wrong is of three kinds: a
refusal, which ends the job (the disk is full, the sandbox cannot be had, an item cannot be used); a failure,
which is an error of ours and is tried again; and a death, of which this process says nothing any more.
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

    task: ``work`` names the module, ``do`` what of it, ``folder`` is the job's, ``shard`` a name; the rest
    depends on what is done.
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
    except Exception:  # whatever it is, the driver is told
        return {"failed": _last_line()}


def _last_line() -> str:
    return traceback.format_exc().strip().splitlines()[-1][:500]


_watched: list[float] = []
"""When the watchdog was last set."""


def watch(patience_s: float) -> None:
    """Have this process ended if an item takes longer, or up to a quarter more. Setting the watchdog
    anew for every item would take milliseconds of each: it waits for a thread."""
    now = time.monotonic()
    if not _watched or now - _watched[0] > patience_s / 4:
        faulthandler.dump_traceback_later(1.25 * patience_s, exit=True, file=2)
        _watched[:] = [now]


def unwatch() -> None:
    faulthandler.cancel_dump_traceback_later()
    _watched.clear()


def check_machine(decided_by: str, task: Mapping[str, Any], decides: str) -> None:
    """Raises InputError where what decides a task is other here than where the job was planned.

    decides: what that may be, in words.
    """
    if decided_by != task["decided_by"]:
        raise InputError(
            f"{os.uname().nodename}: has another {decides} than the machine that planned the job. "
            "Install the same on all of them."
        )


def check_seen(place: JobFolder, paths: Iterable[Path] = (), what: str = "a folder") -> None:
    """Raises InputError where this machine does not see the job's folder, or other paths that it needs."""
    unseen = [path for path in paths if not path.exists()]
    if not place.job.exists():
        unseen, what = [place.folder], "a folder"
    if unseen:
        node = os.uname().nodename
        raise InputError(f"{node}: does not see {unseen[0]}: a job needs {what} that all machines share.")


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
    """What the manifest says of a shard. paths: of its files, by table. outcomes: how many of its items ended
    in each way."""
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
    """What a line of the manifest says of the files of a shard, by table."""
    return {
        "bytes": {table: path.stat().st_size for table, path in paths.items()},
        "sha256": {table: sha256(path) for table, path in paths.items()},
    }


def main() -> None:
    """A worker of the local pool: tasks come on standard input, a line each, and answers go out, each after
    the number of its task."""
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answers:
        os.dup2(2, 1)  # nothing else may speak there
        for number, line in enumerate(sys.stdin, 1):
            print(json.dumps([number, run_task(json.loads(line))]), file=answers, flush=True)
