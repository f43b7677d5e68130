"""Registries of things with names, such as questions. Other packages can add to them.

A package adds to a registry by an entry point in the group ``deskcheck.KIND``:

    [project.entry-points."deskcheck.questions"]
    longest_list = "my_package:longest_list"

or, within one process, by `Registry.register`. Entry points are read when a name is looked up that deskcheck
does not have itself, and when all names are listed. If an entry point cannot be loaded, the list leaves it
out with a warning. A lookup of its name raises an error with the reason.

`COMPANIONS` are packages of this project that add to registries. They are installed separately.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from typing import Any, Generic, Protocol, TypeVar

from deskcheck.errors import InputError

_log = logging.getLogger(__name__)

COMPANIONS: Mapping[str, frozenset[str]] = {
    "deskcheck-levels": frozenset({"alone", "processor", "reader"}),
    "deskcheck-methods": frozenset(),
}
"""Package in the folder ``packages`` of this project -> names of levels and of providers that it adds.

Methods are not listed: the error for any unknown method names their package.
"""


def missing_companion(name: str, purpose: str) -> InputError | None:
    """The error for a missing companion package, with the command to install it.

    None if no companion adds the name, or if the package is installed. purpose: the purpose of the package,
    such as ``Stepping at --level reader``.
    """
    for package, names in COMPANIONS.items():
        if name in names and not is_installed(package):
            return InputError(
                f"{purpose} needs the package {package}, which is not installed. "
                f"Install it from a checkout of deskcheck: pip install ./packages/{package}"
            )
    return None


def is_installed(package: str) -> bool:
    """Whether a distribution is installed."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Registry(Mapping[str, T], Generic[T]):
    """Name -> thing: those of deskcheck, registered ones, and those of other packages.

    kind: plural noun for the things, such as ``questions``. The group of entry points is named after it.
    type_: type of the things. built_in: the things of deskcheck, whose names cannot be replaced.
    """

    def __init__(self, kind: str, type_: type[Any], built_in: Iterable[T]) -> None:
        self.kind = kind
        self.group = f"deskcheck.{kind}"
        self.built_in: Mapping[str, T] = {item.name: item for item in built_in}
        self._type = type_
        self._things: dict[str, T] = dict(self.built_in)
        self._waiting: dict[str, EntryPoint] | None = None
        self._failed: set[str] = set()

    def register(self, thing: T) -> T:
        """Add a thing under its name, and return it.

        Raises InputError if the name is already taken.
        """
        if self._things.get(thing.name, thing) is not thing:
            raise InputError(f"{self.kind}: the name {thing.name!r} is already taken: choose another name.")
        self._things[thing.name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        if name not in self._things and name in self._entries():
            self._load(name)
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things or name in self._entries()

    def __iter__(self) -> Iterator[str]:
        for name in self._entries():
            if name not in self._things and name not in self._failed:
                try:
                    self._load(name)
                except InputError as error:
                    self._failed.add(name)
                    _log.warning("%s", error)
        return iter([*self._things])

    def __len__(self) -> int:
        return len([*iter(self)])

    def _entries(self) -> dict[str, EntryPoint]:
        if self._waiting is None:
            self._waiting = {
                entry_point.name: entry_point
                for entry_point in entry_points(group=self.group)
                if entry_point.name not in self.built_in
            }
        return self._waiting

    def _load(self, name: str) -> None:
        entry = self._entries()[name]
        owner = entry.dist.name if entry.dist is not None else "a package"
        where = f"{self.group}: {name} = {entry.value!r} of {owner}"
        try:
            thing = entry.load()
        except Exception as error:  # the package's own, whatever it is
            raise InputError(f"{where}: cannot be loaded: {type(error).__name__}: {error}") from error
        if not isinstance(thing, self._type) or thing.name != name:
            raise InputError(
                f"{where}: must lead to a {self._type.__name__} whose name is {name!r}, "
                f"and leads to {thing!r:.200}"
            )
        self._things[name] = thing
