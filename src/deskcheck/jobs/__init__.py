"""Many items of work in shards: on this machine or on a Ray cluster, by one plan and one function.

A job is a list of shards. A shard is named after all that decides it, so that one that is there need not be
made again; `work.run_task` makes one, whoever calls it: a process of the pool on this machine (`pool`) or a
task on a Ray cluster (`ray`). `job.run_job` gives out the work and decides what is tried again. What is done
is a `Job`: `deskcheck.recorder.job` records programs; lessons are made by `deskcheck.teach.lessons.job`,
notebooks checked by `deskcheck.notebook.check.job`.

Not: programs one by one as they come, which `deskcheck.recorder.programs` records.
"""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily

__all__ = [
    "Item",
    "Job",
    "JobStatus",
    "JobSummary",
    "LocalPool",
    "Progress",
    "Runner",
    "run_job",
]

if TYPE_CHECKING:
    from deskcheck.jobs.job import JobSummary, Progress, Runner, run_job
    from deskcheck.jobs.plan import Item, Job
    from deskcheck.jobs.pool import LocalPool
    from deskcheck.jobs.status import JobStatus

__getattr__, __dir__ = lazily(
    __name__,
    {
        "job": ("JobSummary", "Progress", "Runner", "run_job"),
        "plan": ("Item", "Job"),
        "pool": ("LocalPool",),
        "status": ("JobStatus",),
    },
)
