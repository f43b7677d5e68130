"""Kernels, cells, trajectories: how notebooks came about, recorded and replayed (docs/trajectory.md).

Reading needs nothing but what deskcheck needs; running takes the extra ``[notebook]``.
"""

from typing import TYPE_CHECKING, Any

__all__ = [
    "Agreement",
    "Cell",
    "CheckSettings",
    "Difference",
    "Execution",
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
    from deskcheck.notebook.capture import StateLimits, register
    from deskcheck.notebook.check import CheckSettings, check_notebooks
    from deskcheck.notebook.compare import Agreement, Difference, Trial, agreement
    from deskcheck.notebook.file import read_trajectory, trajectories, write_trajectory
    from deskcheck.notebook.git import read_history
    from deskcheck.notebook.ipynb import read_notebook
    from deskcheck.notebook.job import check_in_shards
    from deskcheck.notebook.june import read_june
    from deskcheck.notebook.record import record_notebooks
    from deskcheck.notebook.replayer import ReplayLimits, replay
    from deskcheck.notebook.settings import register_settings
    from deskcheck.notebook.state import State, Variable, states
    from deskcheck.notebook.trajectory import Cell, Execution, Output, Status, Trajectory
    from deskcheck.notebook.trial import TrialLimits, Trials
    from deskcheck.notebook.views import View, used_names, view

_HOMES = {
    **dict.fromkeys(("StateLimits", "register"), "capture"),
    **dict.fromkeys(("CheckSettings", "check_notebooks"), "check"),
    **dict.fromkeys(("Agreement", "Difference", "Trial", "agreement"), "compare"),
    **dict.fromkeys(("read_trajectory", "trajectories", "write_trajectory"), "file"),
    "read_history": "git",
    "read_notebook": "ipynb",
    "check_in_shards": "job",
    "read_june": "june",
    "record_notebooks": "record",
    **dict.fromkeys(("ReplayLimits", "replay"), "replayer"),
    "register_settings": "settings",
    **dict.fromkeys(("State", "Variable", "states"), "state"),
    **dict.fromkeys(("Cell", "Execution", "Output", "Status", "Trajectory"), "trajectory"),
    **dict.fromkeys(("TrialLimits", "Trials"), "trial"),
    **dict.fromkeys(("View", "used_names", "view"), "views"),
}


def __getattr__(name: str) -> Any:
    # Imported on first use: the kernel's process comes by here too, and the files bring pyarrow.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"deskcheck.notebook.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
