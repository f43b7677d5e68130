"""Settings of the user: fields of dataclasses with a `Setting` in their annotation.

    @dataclass(frozen=True, kw_only=True)
    class RecordSettings:
        runs: Annotated[int, Setting("Runs of each program that are compared.", min=2)] = 2

The command line makes an option of each such field, also in dataclasses that are fields of others
(`deskcheck.cli.common.options`). Fields without a `Setting` are only for callers in Python.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

from deskcheck.errors import InputError


@dataclass(frozen=True, slots=True)
class Setting:
    """The description of a field for the command line."""

    text: str
    """One or two sentences of help."""
    min: float | None = None
    """Minimum value."""
    max: float | None = None
    """Maximum value."""
    flag: str | None = None
    """Name of the option, if it does not follow from the field, like ``--cpu-s`` from ``cpu_s``."""
    short: str | None = None
    """Short name of the option, such as ``-M``."""
    off: str | None = None
    """Name of the option that turns a bool off, if it is not ``--no-...``."""
    metavar: str | None = None
    """Name of the value in the help."""
    parse: Callable[[str], Any] | None = None
    """Function from text to value, for a mapping to a pair of key and value. Raises ValueError."""
    commas: bool = False
    """Whether a tuple is written as one text with commas."""


@dataclass(frozen=True, slots=True)
class Group:
    """Marks a field that is itself a dataclass of settings."""

    name: str
    """Heading for its options."""


def refuse_small(settings: Any, **minimums: int) -> None:
    """Raise InputError for a field below the minimum in its `Setting` or in `minimums`. None is allowed."""
    hints = get_type_hints(type(settings), include_extras=True)
    for field in fields(settings):
        value = getattr(settings, field.name)
        settings_of = [hint for hint in get_args(hints[field.name]) if isinstance(hint, Setting)]
        bound = minimums.get(field.name, settings_of[0].min if settings_of else None)
        if bound is not None and value is not None and value < bound:
            raise InputError(f"{field.name}={value} must be at least {bound:g}.")


def parse_size(text: str) -> int:
    """Bytes of ``4G``, ``512M``, ``64K`` (of 1024 each) or a whole number. Raises ValueError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = 0 if match is None else int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))
    if size < 1:
        raise ValueError("is not a size: give a number of bytes, or a number with K, M, G or T, such as 12G")
    return size
