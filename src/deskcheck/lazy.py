"""Packages that import what they hand out on first use: a process that needs little loads little."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazily(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562).

    package: its ``__name__``. homes: a module below it -> the names that the package hands out of it.
    """
    places = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def getattr_(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module  # not before: the process that a program runs in comes by here

        return getattr(import_module(places[name]), name)

    return getattr_, lambda: sorted(places)
