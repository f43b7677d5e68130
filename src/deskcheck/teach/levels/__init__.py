"""Levels of help for models that run programs: the registry that other packages add to."""

from deskcheck.teach.levels.registry import ALONE, LEVELS, HelpLevel

__all__ = ["ALONE", "LEVELS", "HelpLevel"]
