"""Many items of work in shards: on this machine or on a Ray cluster, by one plan and one function.

A job is a list of shards. A shard is named after everything that decides its content, so an existing shard is
never made again. `work.run_task` makes a shard, in a process of the pool on this machine (`pool`) or in a
task on a Ray cluster (`ray`). `job.run_job` submits the tasks and decides which are repeated. A `Job`
describes the
work: `deskcheck.recorder.job` records programs, `deskcheck.teach.lessons.job` makes lessons, and
`deskcheck.notebook.check.job` checks notebooks.

Not covered: programs one by one as they come, which `deskcheck.recorder.programs` records.
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
