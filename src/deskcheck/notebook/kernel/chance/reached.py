"""The variables that what was drawn came to, from cell to cell, with what of each is the same in each run.

In the kernel's process. Nothing is called."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from deskcheck.notebook.kernel.chance.calls import Chance
from deskcheck.notebook.kernel.chance.effects import ARRAYS
from deskcheck.notebook.kernel.chance.proof.known import Known
from deskcheck.notebook.kernel.chance.proof.proof import Proof
from deskcheck.notebook.kernel.chance.reach import is_generator, package_of
from deskcheck.notebook.kernel.chance.shown import ShownChance, shows_value
from deskcheck.notebook.kernel.chance.sources import DEVICE, ChanceOrigin
from deskcheck.notebook.trajectory.chance import ChanceKind, ChanceSource


@dataclass(frozen=True, slots=True)
class Reached:
    """known: what of a variable is the same in each run. label: of the generator that drew the rest."""

    known: Known
    label: str


class ReachedNames:
    """Of the cells of one kernel, in their order. chance, shown: what knows their functions, and what they
    show."""

    def __init__(self, chance: Chance, shown: ShownChance) -> None:
        self.names: dict[str, Reached] = {}
        self._chance = chance
        self._shown = shown
        self._followed: set[str] = set()
        """Variables that `shown` follows when the cell begins."""
        self._parts: dict[str, set[object]] = {}
        """Those of which some items are another in each run, with the keys of these."""

    def begin(self) -> None:
        """The next cell is read."""
        names = self._shown.names
        self._followed = {*names}
        self._parts = {
            name: {key for key, part in origin.parts if part is not None}
            for name, origin in names.items()
            if origin.parts
        }

    def proof(
        self,
        namespace: Mapping[str, Any],
        drawn: Callable[[ast.Call], str | None],
        made: dict[str, Known],
        *,
        draws: bool,
    ) -> Proof:
        """Of the cell. made: other variables that are another in each run. The rest as of `Proof`."""

        def runs(tree: ast.Module) -> Iterator[ast.AST]:
            return self._chance.runs(tree, namespace)

        before = {name: each.known for name, each in self.names.items() if name in namespace} | made
        functions = self._chance.functions()
        return Proof(before, namespace, drawn, functions, runs, self._parts, draws=draws)

    def drew(self, proof: Proof, namespace: Mapping[str, Any], label: str) -> None:
        """The cell drew. proof: of it, read. label: of the generator."""
        self.names = {
            name: Reached(known, self.names[name].label if name in self.names else label)
            for name, known in proof.known.items()
            if known > Known.VALUE and _has_value(namespace.get(name))
        }

    def read(
        self, tree: ast.Module, namespace: Mapping[str, Any], found: list[ChanceSource], code: str
    ) -> list[ChanceSource]:
        """What the cell, which drew nothing that surely decides something, shows of what was drawn before.
        found: by its source alone, as `shown` tells."""
        news = [
            name
            for name, origin in self._shown.names.items()
            if origin.source.is_drawn and name not in self._followed
        ]
        if self.names or any(each.is_drawn for each in found):
            reads = bool(news) or any(DEVICE.label in each.label for each in found)
            found = self._read(tree, namespace, found, code, draws=reads)
        for name in news:
            if name not in self.names:
                origin = self._shown.names[name]
                self.names[name] = Reached(_known_of(origin, namespace.get(name)), origin.source.label)
        return found

    def _read(
        self,
        tree: ast.Module,
        namespace: Mapping[str, Any],
        found: list[ChanceSource],
        code: str,
        *,
        draws: bool,
    ) -> list[ChanceSource]:
        """draws: it reads a file that gives random numbers."""
        proof = self.proof(namespace, _nothing, {}, draws=draws)
        holds = proof.holds(tree, shows_last=shows_value(code))
        used = next((name for name in proof.used if name in self.names), None)
        label = self.names[used].label if used is not None else ""
        self.drew(proof, namespace, label)
        if holds:
            return [each for each in found if not each.is_drawn]
        if used is None or any(each.is_drawn for each in found):
            return found
        if not (proof.may_show or proof.gives_away):
            return found
        return [*found, ChanceSource(ChanceKind.READ, f"reads {used} ({label})")]


def _nothing(call: ast.Call) -> None:
    """Which generator a call draws from in a cell that draws nothing."""


def _has_value(value: Any) -> bool:
    """Whether it is neither a module nor a generator: what one gives depends on its seed."""
    return type(value) is not ModuleType and not is_generator(value)


def _known_of(origin: ChanceOrigin, value: Any) -> Known:
    """What is the same of a variable that has what was drawn, by its source alone."""
    formed = package_of(type(value)) in ARRAYS or type(value) in (int, float, bool)
    return Known.TEXT if origin.inside else Known.FORM if formed else Known.NOTHING
