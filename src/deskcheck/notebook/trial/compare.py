"""Whether two cells did the same, run in forks of one state: by what they showed and what they left behind.

The rule stands in cells.md. Not compared: times, execution counts, display ids that were drawn,
tracebacks (an exception's class and message are), metadata, and the order between streams and displays."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deskcheck.notebook.state.names import Later, reads
from deskcheck.notebook.state.settings import LibrarySetting
from deskcheck.notebook.trajectory.trajectory import Output, Status, shown_outputs

COMPARED = (Status.OK, Status.ERROR)
"""Ways to end after which there is something to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a cell did in a fork.

    outputs: as of an `Execution`; what child processes wrote to the descriptors comes last. variables: those
    that it changed, by name, each a row as trajectory.md describes under state; removed: names of
    before. unseen: variables that were not looked at for lack of time. inside: of changed variables that have
    such, a digest of what their functions and classes do. aliases: groups of names of one object after it.
    settings: of libraries, those that it changed (`settings.read_settings`). files: below the notebook's
    folder what it wrote, with a digest of the content (None: too large), and what it removed, as ``removed``.
    """

    source: str
    status: Status
    detail: str | None = None
    outputs: tuple[Output, ...] = ()
    variables: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    unseen: int = 0
    inside: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[tuple[str, ...], ...] = ()
    settings: Mapping[str, LibrarySetting] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def error(self) -> Output | None:
        return next((output for output in self.outputs if output.type == "error"), None)


@dataclass(frozen=True, slots=True)
class Difference:
    """kind: ``status``, ``error``, ``stdout``, ``stderr``, ``result``, ``display``, ``variable``,
    ``removed``, ``alias``, ``setting``, ``file``, or ``unmarked``: nothing can be said. name: of variable,
    setting or file."""

    kind: str
    name: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """score: 1 where two cells did the same, 0 where not, None where that cannot be told; why: all
    differences, none for 1."""

    score: int | None
    why: tuple[Difference, ...] = ()


def agreement(true: Trial, candidate: Trial, later: Later) -> Agreement:
    """Whether a candidate did what the true cell did. later: what the trajectory reads after that cell."""
    if true.status not in COMPARED:
        return Agreement(None, (Difference("unmarked", detail=f"the true cell: {true.status}"),))
    if candidate.status is not true.status:
        detail = f"{candidate.status}, not {true.status}"
        if candidate.error is not None:
            detail += f": {candidate.error.name}: {(candidate.error.value or '')[:200]}"
        return Agreement(0, (Difference("status", detail=detail),))
    if true.unseen or candidate.unseen:
        return Agreement(
            None, (Difference("unmarked", detail="not all variables could be looked at in time"),)
        )
    why = (
        *_outputs(true, candidate),
        *_state(true, candidate, later),
        *_settings(true, candidate),
        *_files(true, candidate),
    )
    return Agreement(int(not why), why)


# -- what was shown --------------------------------------------------------------------------------


def _outputs(true: Trial, candidate: Trial) -> Iterator[Difference]:
    one, other = shown_outputs(true.outputs), shown_outputs(candidate.outputs)
    if true.error is not None and candidate.error is not None:
        errors = [(each.name, _message(each.value or "")) for each in (true.error, candidate.error)]
        if errors[0] != errors[1]:
            yield Difference("error", detail=f"{errors[1]}, not {errors[0]}")
    for name in ("stdout", "stderr"):
        texts = [_stream(outputs, name) for outputs in (one, other)]
        if texts[0] != texts[1]:
            yield Difference(name, detail=_first_difference(texts[0][0], texts[1][0]))
    updates = [_updates(trial.outputs) for trial in (true, candidate)]
    if updates[0] != updates[1]:
        yield Difference("display", detail="other updates of displays of earlier cells")
    for type_, kind in (("execute_result", "result"), ("display_data", "display")):
        pair = [[each for each in outputs if each.type == type_] for outputs in (one, other)]
        if len(pair[0]) != len(pair[1]):
            yield Difference(kind, detail=f"{len(pair[1])}, not {len(pair[0])}")
            continue
        for wanted, found in zip(*pair, strict=True):
            yield from _display(kind, wanted, found)


def _updates(outputs: Iterable[Output]) -> list[tuple[str | None, Any]]:
    """What a cell shows in displays that it did not make."""
    own = {each.display_id for each in outputs if each.type == "display_data"}
    others = [each for each in outputs if each.type == "update_display_data" and each.display_id not in own]
    return [(each.display_id, each.data) for each in others]


def _stream(outputs: Iterable[Output], name: str) -> tuple[str, int]:
    """All that was written to a stream, and how much was cut."""
    own = [each for each in outputs if each.type == "stream" and each.name == name]
    text = "".join(each.text or "" for each in own)
    cut = sum((each.length or len(each.text or "")) - len(each.text or "") for each in own)
    if name == "stderr":
        text = _WARNING.sub(r"\1", text)
    return _ADDRESS.sub("0x…", text), cut


_WARNING = re.compile(r"^[^\n]*?:\d+: (\w*Warning: [^\n]*\n)(?:  [^\n]*\n)?", re.MULTILINE)
"""The place of a warning, in a source that is another in every cell, and the source's line."""
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_PLACE = re.compile(r" \([^()]*, line \d+\)$")


def _message(text: str) -> str:
    """Of an exception, without the place that a SyntaxError names."""
    return _ADDRESS.sub("0x…", _PLACE.sub("", text))


def _first_difference(wanted: str, found: str) -> str:
    pairs = enumerate(zip(wanted, found, strict=False))
    place = next((n for n, (a, b) in pairs if a != b), min(len(wanted), len(found)))
    return f"{found[place : place + 60]!r}, not {wanted[place : place + 60]!r}, from character {place}"


def _display(kind: str, wanted: Output, found: Output) -> Iterator[Difference]:
    if {*wanted.data} != {*found.data}:
        yield Difference(kind, detail=f"{sorted(found.data)}, not {sorted(wanted.data)}")
        return
    if _named_id(wanted) != _named_id(found):
        yield Difference(kind, detail=f"display_id {found.display_id!r}, not {wanted.display_id!r}")
    if wanted.length != found.length:
        yield Difference(kind, detail=f"{found.length} characters, not {wanted.length}")
    for mime, value in wanted.data.items():
        pair = [_ADDRESS.sub("0x…", x) if isinstance(x, str) else x for x in (value, found.data[mime])]
        if pair[0] == pair[1]:
            continue
        if mime == "image/png":
            sizes = [_png_size(value), _png_size(found.data[mime])]
            same = "of the same size" if sizes[0] == sizes[1] else f"of {sizes[1]}, not {sizes[0]}"
            yield Difference(kind, mime, f"another picture {same}")
        elif mime.startswith("image/"):
            yield Difference(kind, mime, "another picture")
        else:
            detail = _first_difference(pair[0], pair[1]) if isinstance(pair[0], str) else "another value"
            yield Difference(kind, mime, detail)


def _named_id(output: Output) -> str | None:
    """A display's id, unless IPython drew it."""
    given = output.display_id
    return None if given is None or re.fullmatch("[0-9a-f]{32}", given) else given


def _png_size(encoded: Any) -> tuple[int, int] | None:
    """Width and height in pixels, from the header (PNG specification, 11.2.2); None where it is none."""
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
                yield Difference("variable", name, _otherwise(true, candidate, name))
        elif name not in reads(true.source).named:  # else the cell itself used it, and nobody after it
            renamable.append(name)
    for name in sorted(renamable, key=lambda name: name not in free):
        wanted = _content(true, name)
        match = next(
            (each for each in (name, *free) if each in free and _content(candidate, each) == wanted), None
        )
        if match is None:
            yield Difference("variable", name, "no variable of the candidate is equal to it")
        else:
            del free[match]
    for name in free:
        if name not in true.variables and (name in later or candidate.variables[name]["change"] == "mutated"):
            yield Difference("variable", name, "changed, which the true cell leaves as it was")
    for name in sorted({*true.removed} ^ {*candidate.removed}):
        yield Difference("removed", name, "removed" if name in candidate.removed else "not removed")
    groups = [_read_together(trial.aliases, later) for trial in (true, candidate)]
    for names in sorted(map(sorted, groups[0] ^ groups[1])):
        yield Difference("alias", ", ".join(names), "one object in one of them, not in the other")


def _settings(true: Trial, candidate: Trial) -> Iterator[Difference]:
    for name in sorted({*true.settings} | {*candidate.settings}):
        wanted, found = true.settings.get(name), candidate.settings.get(name)
        if wanted is None:
            # What a library that the true cell does not import has from the start is nobody's setting.
            if found is not None and not found.incidental and not found.new:
                yield Difference("setting", name, f"{_said(found)}, which the true cell leaves as it was")
        elif found is None:
            if wanted.incidental or not wanted.new:
                yield Difference("setting", name, f"left as it was, not {_said(wanted)}")
        elif found.value != wanted.value:
            yield Difference("setting", name, f"{_said(found)}, not {_said(wanted)}")


def _said(setting: LibrarySetting) -> str:
    return "gone" if setting.value is None else setting.value


def steady(true: Trial, again: Trial) -> Trial:
    """A true cell without those incidental settings that are others when it runs again: a generator of random
    numbers that the system seeds when it is first imported stands somewhere else each time."""
    kept = {
        name: each
        for name, each in true.settings.items()
        if not each.incidental or again.settings.get(name) == each
    }
    return replace(true, settings=kept)


def _content(trial: Trial, name: str) -> tuple[Any, ...]:
    """What a variable holds. Of a module not where its generator of random numbers stands: settings say
    that."""
    row = trial.variables[name]
    return row["type"], None if row["type"] == "module" else row["hash"], trial.inside.get(name)


def _otherwise(true: Trial, candidate: Trial, name: str) -> str:
    wanted, found = _content(true, name), _content(candidate, name)
    if wanted[0] != found[0]:
        return f"{found[0]}, not {wanted[0]}"
    return "another content" if wanted[1] != found[1] else "another code"


def _read_together(aliases: Iterable[Iterable[str]], later: Later) -> set[frozenset[str]]:
    groups = (frozenset(name for name in names if name in later) for names in aliases)
    return {names for names in groups if len(names) > 1}


def _files(true: Trial, candidate: Trial) -> Iterator[Difference]:
    for name in sorted({*true.files} | {*candidate.files}):
        wanted, found = (trial.files.get(name, "untouched") for trial in (true, candidate))
        if wanted != found:
            yield Difference("file", name, "another content" if name in candidate.files else "not written")
