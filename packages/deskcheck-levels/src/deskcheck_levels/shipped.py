"""The models that ship with this package: a processor and a reader, under the name ``nano``."""

from pathlib import Path

NANO = "nano"


def folder_of(name: str | Path) -> Path:
    """Folder of the model of that name: the one that ships for ``nano``, otherwise the name as a path."""
    return Path(__file__).parent / NANO if str(name) == NANO else Path(name)
