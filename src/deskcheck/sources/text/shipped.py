"""Data files of this package: tables, and programs that are not imported."""

from importlib.resources import files


def shipped(name: str) -> str:
    """The text of a file of the folder ``shipped``."""
    return files("deskcheck.sources").joinpath("shipped", name).read_text("utf-8")
