"""Whether two cells in forks of one state did the same: by their outputs and their effects
(docs/explanation/cells.md).

Not compared: times, execution counts, random display ids, tracebacks, metadata, and the order of streams and
displays.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deskcheck.notebook.state.names import Later, cell_names
from deskcheck.notebook.state.settings import LibrarySetting
from deskcheck.notebook.trajectory.trajectory import Output, Status, shown_outputs
from deskcheck.recording.comparison.states import first_difference

COMPARED = (Status.OK, Status.ERROR)
"""Statuses with something to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The outputs and effects of a cell in a fork."""

    source: str
    status: Status
    detail: str | None = None
    outputs: tuple[Output, ...] = ()
    """Outputs as in `Execution`. Those of child processes are last."""
    variables: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Changed variables, each a row of the state (docs/reference/trajectory.md)."""
    removed: tuple[str, ...] = ()
    unseen: int = 0
    """Number of variables without a look, for lack of time."""
    inside: Mapping[str, str] = field(default_factory=dict)
    """Changed variable -> digest of its functions and classes."""
    aliases: tuple[tuple[str, ...], ...] = ()
    """Groups of names of one object."""
    settings: Mapping[str, LibrarySetting] = field(default_factory=dict)
    """Changed settings of libraries."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """Path in the notebook's folder -> digest (None: the file is too large), or ``removed``."""
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def error(self) -> Output | None:
        return next((output for output in self.outputs if output.type == "error"), None)


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between the effects of two cells."""

    kind: str
    """``status``, ``error``, ``stdout``, ``stderr``, ``result``, ``display``, ``variable``, ``removed``,
    ``alias``, ``setting``, ``file``, or ``unmarked`` if the cells cannot be compared."""
    name: str = ""
    """The name of the variable, setting or file."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two cells did the same."""

    score: int | None
    """1 if they did the same, else 0. None if that is unknown."""
    why: tuple[Difference, ...] = ()
    """All differences."""


def agreement(true: Trial, candidate: Trial, later: Later) -> Agreement:
    """Whether a candidate did the same as the true cell. later: names that the trajectory reads after it."""
    if true.status not in COMPARED:
        return Agreement(None, (Difference("unmarked", detail=f"the true cell: {true.status}"),))
    if candidate.status is not true.status:
        detail = f"{candidate.status}, not {true.status}"
        if candidate.error is not None:
            detail += f": {candidate.error.name}: {(candidate.error.value or '')[:200]}"
        return Agreement(0, (Difference("status", detail=detail),))
    if true.unseen or candidate.unseen:
        return Agreement(
            None, (Difference("unmarked", detail="not all variables could be inspected in time"),)
        )
    differences = (*_visible(true, candidate), *_state(true, candidate, later), *_settings(true, candidate))
    return Agreement(int(not differences), differences)


# -- what is seen from outside ---------------------------------------------------------------------


def _visible(true: Trial, candidate: Trial) -> Iterator[Difference]:
    """Differences in outputs, files and removed variables."""
    expected, actual = _effects(true), _effects(candidate)
    for kind, name in {**expected, **actual}:
        values = [effects.get((kind, name), "nothing") for effects in (expected, actual)]
        if values[0] != values[1]:
            yield Difference(kind, name, _otherwise(kind, name, *values))


def _otherwise(kind: str, name: str, expected: Any, actual: Any) -> str:
    """How two values of one effect differ."""
    if kind in ("file", "removed"):
        return "in only one of them" if "nothing" in (expected, actual) else "different content"
    if name.endswith("image/png"):
        sizes = [_png_size(value) for value in (expected, actual)]
        same = "of the same size" if sizes[0] == sizes[1] else f"of {sizes[1]}, not {sizes[0]}"
        return f"a different picture {same}"
    if isinstance(expected, str) and isinstance(actual, str):
        return first_difference(expected, actual)
    return f"{actual!r:.200}, not {expected!r:.200}"


def _effects(trial: Trial) -> dict[tuple[str, str], Any]:
    """Kind and name of each visible effect of a cell -> its value. Names of outputs have their number."""
    outputs = shown_outputs(trial.outputs)
    own_ids = {output.display_id for output in outputs if output.type == "display_data"}
    effects: dict[tuple[str, str], Any] = {("stdout", ""): "", ("stderr", ""): ""}
    if trial.error is not None:
        effects["error", ""] = trial.error.name, _message(trial.error.value or "")
    for name in ("stdout", "stderr"):
        effects[name, ""], effects[name, "left out"] = _stream(outputs, name)
    for kind, type_ in (("result", "execute_result"), ("display", "display_data")):
        for number, output in enumerate(output for output in outputs if output.type == type_):
            effects[kind, f"{number}"] = _named_id(output), output.length
            for mime, value in output.data.items():
                text = _ADDRESS.sub("0x…", value) if isinstance(value, str) else value
                effects[kind, f"{number} {mime}"] = text
    updates = (output for output in trial.outputs if output.type == "update_display_data")
    others = [(update.display_id, update.data) for update in updates if update.display_id not in own_ids]
    files = {("file", name): digest for name, digest in trial.files.items()}
    removed = {("removed", name): True for name in trial.removed}
    return effects | {("display", "updates of earlier displays"): others} | files | removed


def _stream(outputs: Iterable[Output], name: str) -> tuple[str, int]:
    """All text of a stream, and the number of characters that were cut."""
    parts = [output for output in outputs if output.type == "stream" and output.name == name]
    text = "".join(output.text or "" for output in parts)
    cut = sum((output.length or len(output.text or "")) - len(output.text or "") for output in parts)
    if name == "stderr":
        text = _WARNING.sub(r"\1", text)
    return _ADDRESS.sub("0x…", text), cut


_WARNING = re.compile(r"^[^\n]*?:\d+: (\w*Warning: [^\n]*\n)(?:  [^\n]*\n)?", re.MULTILINE)
"""The file and line of a warning, which differ between cells, and its line of source."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_PLACE = re.compile(r" \([^()]*, line \d+\)$")


def _message(text: str) -> str:
    """An exception's message, without the place in a SyntaxError."""
    return _ADDRESS.sub("0x…", _PLACE.sub("", text))


def _named_id(output: Output) -> str | None:
    """A display's id, unless IPython made it at random."""
    display_id = output.display_id
    return None if display_id is None or re.fullmatch("[0-9a-f]{32}", display_id) else display_id


def _png_size(encoded: Any) -> tuple[int, int] | None:
    """Width and height in pixels, from the header (PNG specification, 11.2.2); None if it is not a PNG."""
    try:
        head = base64.b64decode(encoded[:40])
    except (ValueError, TypeError):
        return None
    if head[:8] != b"\x89PNG\r\n\x1a\n":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


# -- what was left behind --------------------------------------------------------------------------


def _state(true: Trial, candidate: Trial, later: Later) -> Iterator[Difference]:
    free = dict.fromkeys(candidate.variables)
    renamable: list[str] = []
    for name, row in true.variables.items():
        if name in later or row["change"] == "mutated":
            free.pop(name, None)
            if name not in candidate.variables:
                yield Difference("variable", name, "not changed")
            elif _content(true, name) != _content(candidate, name):
                parts = zip(_PARTS, _content(true, name), _content(candidate, name), strict=True)
                yield Difference("variable", name, next(f"another {part}" for part, a, b in parts if a != b))
        elif name not in cell_names(true.source).named:  # else only the cell itself used it
            renamable.append(name)
    for name in sorted(renamable, key=lambda name: name not in free):
        expected = _content(true, name)
        candidates = (new_name for new_name in (name, *free) if new_name in free)
        match = next((new_name for new_name in candidates if _content(candidate, new_name) == expected), None)
        if match is None:
            yield Difference("variable", name, "no variable of the candidate equals it")
        else:
            del free[match]
    for name in free:
        if name not in true.variables and (name in later or candidate.variables[name]["change"] == "mutated"):
            yield Difference("variable", name, "changed, but the true cell leaves it unchanged")
    groups = [_read_together(trial.aliases, later) for trial in (true, candidate)]
    for names in sorted(map(sorted, groups[0] ^ groups[1])):
        yield Difference("alias", ", ".join(names), "the same object in only one of them")


def _settings(true: Trial, candidate: Trial) -> Iterator[Difference]:
    for name in sorted({*true.settings} | {*candidate.settings}):
        expected, actual = true.settings.get(name), candidate.settings.get(name)
        if expected is None:
            # The first settings of a library that the true cell does not import were set by no cell.
            if actual is not None and not actual.incidental and not actual.new:
                yield Difference("setting", name, f"{_said(actual)}, but the true cell leaves it unchanged")
        elif actual is None:
            if expected.incidental or not expected.new:
                yield Difference("setting", name, f"unchanged, not {_said(expected)}")
        elif actual.value != expected.value:
            yield Difference("setting", name, f"{_said(actual)}, not {_said(expected)}")


def _said(setting: LibrarySetting) -> str:
    return "gone" if setting.value is None else setting.value


def steady(true: Trial, again: Trial) -> Trial:
    """A true cell without incidental settings that differ when it runs again, such as a random generator that
    the system seeds."""
    settings = {
        name: setting
        for name, setting in true.settings.items()
        if not setting.incidental or again.settings.get(name) == setting
    }
    return replace(true, settings=settings)


_PARTS = ("type", "content", "code")


def _content(trial: Trial, name: str) -> tuple[Any, ...]:
    """The content of a variable. Settings compare the random generator of a module, not its content."""
    row = trial.variables[name]
    return row["type"], None if row["type"] == "module" else row["hash"], trial.inside.get(name)


def _read_together(aliases: Iterable[Iterable[str]], later: Later) -> set[frozenset[str]]:
    groups = (frozenset(name for name in names if name in later) for names in aliases)
    return {names for names in groups if len(names) > 1}
