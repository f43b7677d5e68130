"""Kernels, cells and trajectories: the histories of notebooks, recorded and replayed (trajectory.md).

Reading needs only deskcheck's requirements, running the extra ``[notebook]``.
"""

from typing import TYPE_CHECKING

from deskcheck.lazy import lazily

__all__ = [
    "Agreement",
    "Cell",
    "CheckSettings",
    "Difference",
    "Execution",
    "KernelState",
    "NotebookSettings",
    "Output",
    "ReplayLimits",
    "Reruns",
    "SandboxKernels",
    "StateLimits",
    "Status",
    "Surroundings",
    "Trajectory",
    "Trial",
    "TrialLimits",
    "Trials",
    "Variable",
    "View",
    "agreement",
    "check_in_shards",
    "check_notebooks",
    "read_history",
    "read_june",
    "read_notebook",
    "read_trajectory",
    "record_notebooks",
    "register",
    "register_settings",
    "replay",
    "states",
    "trajectories",
    "used_names",
    "view",
    "write_trajectory",
]

if TYPE_CHECKING:
    from deskcheck.notebook.check.check import check_notebooks
    from deskcheck.notebook.check.job import check_in_shards
    from deskcheck.notebook.kernel.kernel import Surroundings
    from deskcheck.notebook.kernel.record import record_notebooks
    from deskcheck.notebook.kernel.replayer import Reruns, SandboxKernels, replay
    from deskcheck.notebook.settings import CheckSettings, NotebookSettings, ReplayLimits
    from deskcheck.notebook.state.capture import StateLimits, register
    from deskcheck.notebook.state.settings import register_settings
    from deskcheck.notebook.state.state import KernelState, Variable, states
    from deskcheck.notebook.state.views import View, used_names, view
    from deskcheck.notebook.trajectory.file import read_trajectory, trajectories, write_trajectory
    from deskcheck.notebook.trajectory.git import read_history
    from deskcheck.notebook.trajectory.ipynb import read_notebook
    from deskcheck.notebook.trajectory.june import read_june
    from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Output, Status, Trajectory
    from deskcheck.notebook.trial.compare import Agreement, Difference, Trial, agreement
    from deskcheck.notebook.trial.trial import TrialLimits, Trials

__getattr__, __dir__ = lazily(
    __name__,
    {
        "check.check": ("check_notebooks",),
        "check.job": ("check_in_shards",),
        "kernel.kernel": ("Surroundings",),
        "kernel.record": ("record_notebooks",),
        "kernel.replayer": ("Reruns", "SandboxKernels", "replay"),
        "settings": ("CheckSettings", "NotebookSettings", "ReplayLimits"),
        "state.capture": ("StateLimits", "register"),
        "state.settings": ("register_settings",),
        "state.state": ("KernelState", "Variable", "states"),
        "state.views": ("View", "used_names", "view"),
        "trajectory.file": ("read_trajectory", "trajectories", "write_trajectory"),
        "trajectory.git": ("read_history",),
        "trajectory.ipynb": ("read_notebook",),
        "trajectory.june": ("read_june",),
        "trajectory.trajectory": ("Cell", "Execution", "Output", "Status", "Trajectory"),
        "trial.compare": ("Agreement", "Difference", "Trial", "agreement"),
        "trial.trial": ("TrialLimits", "Trials"),
    },
)
