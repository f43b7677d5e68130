"""Options after the name of a source that generates programs: ``family:collatz,inputs=30,seed=1``."""

import difflib
import re
from collections.abc import Mapping

from deskcheck.recording import InputError


def with_options(text: str, meanings: Mapping[str, str], source: str) -> tuple[str, dict[str, str]]:
    """The text before the first comma, and the options after it. meanings: name of an option -> its help.

    Raises:
        InputError: an option is not known, has no value, or is given twice.
    """
    head, *option_texts = text.split(",")
    options: dict[str, str] = {}
    for part in option_texts:
        name, equals, value = part.partition("=")
        if name not in meanings:
            close = difflib.get_close_matches(name, meanings, n=1)
            meant = f" Did you mean {close[0]}?" if close else ""
            lines = "".join(f"\n    {option:12} {what}" for option, what in meanings.items())
            raise InputError(f"{source}: unknown option {name!r}.{meant} The options are{lines}")
        if not equals or not value:
            raise InputError(f"{source}: {name} needs a value: {name}=... ({meanings[name]})")
        if name in options:
            raise InputError(f"{source}: {name} is given twice.")
        options[name] = value
    return head, options


def whole_number(value: str, name: str, source: str, *, minimum: int = 1, maximum: int | None = None) -> int:
    """The value of an option as a whole number.

    Raises:
        InputError: the value is not a whole number, or is outside of the bounds.
    """
    bounds = f"a whole number from {minimum}" + (f" to {maximum}" if maximum is not None else " on")
    if not re.fullmatch(r"[0-9]{1,18}", value):
        raise InputError(f"{source}: {name}={value} is not {bounds}.")
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        raise InputError(f"{source}: {name}={value} is not {bounds}.")
    return number


def whole_range(value: str, name: str, source: str, *, minimum: int = 0, maximum: int | None = None) -> range:
    """The value of an option as a range: ``3``, or ``2-5`` with both ends included.

    Raises:
        InputError: the value has neither form, or is outside of the bounds.
    """
    first, dash, last = value.partition("-")
    low = whole_number(first, name, source, minimum=minimum, maximum=maximum)
    high = whole_number(last, name, source, minimum=minimum, maximum=maximum) if dash else low
    if high < low:
        raise InputError(f"{source}: {name}={value} ends before it begins.")
    return range(low, high + 1)
