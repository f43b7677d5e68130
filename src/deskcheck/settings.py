"""What a user may set: a field of a dataclass that says so in its annotation.

    @dataclass(frozen=True, kw_only=True)
    class RecordSettings:
        runs: Annotated[int, Setting("Runs of each program that are compared.", min=2)] = 2

The command line makes an option of each such field, of fields that are such dataclasses too
(`deskcheck.cli.common.options`). Fields without a `Setting` are for callers in Python alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

from deskcheck.errors import InputError


@dataclass(frozen=True, slots=True)
class Setting:
    """What the command line says of a field.

    text: one or two sentences of help. min, max: the least and the greatest value. flag: the option, where it
    is not named after the field (``--cpu-s`` for ``cpu_s``). short: another name of it, as ``-M``. off: of a
    bool that is on or None, the option that turns it off, where it is not ``--no-...``. metavar: stands for
    the value in the help. parse: makes the value of what was written, for a mapping a pair of key and value;
    raises ValueError, with the reason, where it cannot. commas: of a tuple, several are written with commas
    between.
    """

    text: str
    min: float | None = None
    max: float | None = None
    flag: str | None = None
    short: str | None = None
    off: str | None = None
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    commas: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Marks a field of settings that is a dataclass of settings itself. name: a heading for its options."""

    name: str


def refuse_small(settings: Any, **minimums: int) -> None:
    """Raises InputError for a field below the least value of its `Setting`, or of `minimums`; not for None."""
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
        raise ValueError("is no size: write a number of bytes, or one with K, M, G or T, as in 12G")
    return size
