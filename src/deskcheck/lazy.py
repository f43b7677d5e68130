"""Packages that import their members on first use, so that a process loads only what it needs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazily(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package (PEP 562).

    package: its ``__name__``. homes: module below the package -> names that the package takes from it.
    """
    places = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def getattr_(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module  # late, because processes of programs import this module

        return getattr(import_module(places[name]), name)

    return getattr_, lambda: sorted(places)
