"""Digests in the repository, a file for each step; whole outputs in `.frozen/`, which git ignores."""

import difflib
import hashlib
import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.frozen.items import COUNTED
from tests.frozen.run import HERE, ROOT

DIGESTS = HERE / "digests"
EXACT = sys.version_info[:2] == (3, 11) and sys.implementation.name == "cpython"
"""Whether this is the version of which the digests are."""
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass
class Store:
    """Digests of items, and the whole items where `make` was run here."""

    digests: Path = DIGESTS
    kept: Path = ROOT / ".frozen" / "kept"
    found: Path = ROOT / ".frozen" / "found"
    exact: bool = EXACT
    """Whether items are of the version of the digests."""

    def make(self, step: str, items: dict[str, str]) -> None:
        """Write the digests of a step; on another version than theirs the names of items that differ."""
        if self.exact:
            _write(self.kept / f"{step}.json", items)
            lines = [f"{digest(text)} {name}" for name, text in items.items()]
            _lines(self.digests / f"{step}.txt", lines)
        else:
            _lines(self._differing(step), sorted(self.differences(step, items)))

    def differences(self, step: str, items: dict[str, str]) -> set[str]:
        """Names of items that have another digest, are new, or are gone."""
        known = self._known(step)
        names = {
            name for name in known.keys() | items.keys() if self.exact or not name.endswith(f"/{COUNTED}")
        }
        return {name for name in names if name not in items or known.get(name) != digest(items[name])}

    def compare(self, step: str, items: dict[str, str], diffs: int) -> int:
        """How many items of a step differ; they are named on standard output, the first with a diff."""
        _write(self.found / f"{step}.json", items)
        accepted = set() if self.exact else set(_read_lines(self._differing(step)))
        differing = sorted(self.differences(step, items) - accepted)
        kept = _read(self.kept / f"{step}.json")
        known = self._known(step)
        for number, name in enumerate(differing):
            what = "new" if name not in known else "gone" if name not in items else "differs"
            print(f"{what}: {name}")
            if what == "new" and len(items[name]) < 1000:
                print(textwrap.indent(items[name], "  + "), end="")
            if what == "differs" and number < diffs:
                _show(kept.get(name), items[name], known[name])
        return len(differing)

    def _known(self, step: str) -> dict[str, str]:
        lines = _read_lines(self.digests / f"{step}.txt")
        return {name: known for known, _, name in (line.partition(" ") for line in lines)}

    def _differing(self, step: str) -> Path:
        return self.digests / VERSION / f"{step}.txt"


def _show(old: str | None, new: str, known: str) -> None:
    if old is None or digest(old) != known:
        print("  no whole output of before is kept here: run `make` where the digests were made")
        return
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "frozen", "now", lineterm="", n=1)
    for line in [*lines][:40]:
        print(f"  {line[:400]}")


def _write(path: Path, items: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(items, indent=0) + "\n")


def _read(path: Path) -> dict[str, str]:
    items: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    return items


def _lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if lines:
        path.write_text("\n".join(lines) + "\n")
    else:
        path.unlink(missing_ok=True)


def _read_lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []
