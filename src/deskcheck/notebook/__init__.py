"""Kernels, cells, trajectories: how notebooks came about, recorded and replayed (docs/trajectory.md)."""

from deskcheck.notebook.ipynb import read_notebook
from deskcheck.notebook.trajectory import Cell, Execution, Output, Status, Trajectory

__all__ = ["Cell", "Execution", "Output", "Status", "Trajectory", "read_notebook"]
