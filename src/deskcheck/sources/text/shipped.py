"""Files that belong to this package as data: programs that nothing here imports, and tables."""

from importlib.resources import files


def shipped(name: str) -> str:
    """The text of a file of the folder ``shipped``."""
    return files("deskcheck.sources").joinpath("shipped", name).read_text("utf-8")
