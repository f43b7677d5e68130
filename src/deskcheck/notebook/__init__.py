"""Kernels, cells, trajectories: how notebooks came about, recorded and replayed (trajectory.md).

Reading needs nothing but what deskcheck needs; running takes the extra ``[notebook]``.
"""

from typing import TYPE_CHECKING, Any

__all__ = [
    "Agreement",
    "Cell",
    "CheckSettings",
    "Difference",
    "Execution",
    "NotebookSettings",
    "Output",
    "ReplayLimits",
    "State",
    "StateLimits",
    "Status",
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
    from deskcheck.notebook.kernel.record import record_notebooks
    from deskcheck.notebook.kernel.replayer import replay
    from deskcheck.notebook.settings import CheckSettings, NotebookSettings, ReplayLimits
    from deskcheck.notebook.state.capture import StateLimits, register
    from deskcheck.notebook.state.settings import register_settings
    from deskcheck.notebook.state.state import State, Variable, states
    from deskcheck.notebook.state.views import View, used_names, view
    from deskcheck.notebook.trajectory.file import read_trajectory, trajectories, write_trajectory
    from deskcheck.notebook.trajectory.git import read_history
    from deskcheck.notebook.trajectory.ipynb import read_notebook
    from deskcheck.notebook.trajectory.june import read_june
    from deskcheck.notebook.trajectory.trajectory import Cell, Execution, Output, Status, Trajectory
    from deskcheck.notebook.trial.compare import Agreement, Difference, Trial, agreement
    from deskcheck.notebook.trial.trial import TrialLimits, Trials

_HOMES = {
    **dict.fromkeys(("StateLimits", "register"), "state.capture"),
    "check_notebooks": "check.check",
    **dict.fromkeys(("Agreement", "Difference", "Trial", "agreement"), "trial.compare"),
    **dict.fromkeys(("read_trajectory", "trajectories", "write_trajectory"), "trajectory.file"),
    "read_history": "trajectory.git",
    "read_notebook": "trajectory.ipynb",
    "check_in_shards": "check.job",
    "read_june": "trajectory.june",
    "record_notebooks": "kernel.record",
    **dict.fromkeys(("CheckSettings", "NotebookSettings", "ReplayLimits"), "settings"),
    "replay": "kernel.replayer",
    "register_settings": "state.settings",
    **dict.fromkeys(("State", "Variable", "states"), "state.state"),
    **dict.fromkeys(("Cell", "Execution", "Output", "Status", "Trajectory"), "trajectory.trajectory"),
    **dict.fromkeys(("TrialLimits", "Trials"), "trial.trial"),
    **dict.fromkeys(("View", "used_names", "view"), "state.views"),
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the kernel's process comes by here too, and the files bring pyarrow.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"deskcheck.notebook.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
