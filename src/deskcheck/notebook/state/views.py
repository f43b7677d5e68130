"""The state of a kernel as bounded text, for a model or a tool, and an account of the text.

A view chooses and orders variables. `view` fills a budget of tokens: first a line with name and type for each
variable, then round by round more of the values, so that no large value pushes out the others. The same state
gives the same text. Secrets are not removed.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from deskcheck.errors import InputError
from deskcheck.notebook.settings import VIEWS
from deskcheck.notebook.state.describe import describe
from deskcheck.notebook.state.names import depends_on
from deskcheck.notebook.state.state import KernelState, Variable

Counter = Callable[[str], int]
"""Number of tokens in a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A variable in a view. cut: None if all of its recorded value is shown, ``type`` if only name and type
    are, ``value`` if a part is."""

    name: str
    tokens: int
    cut: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A view of a state and its account.

    text: for a model; JSON on request. tokens: of `text`, up to `budget`. left_out: number of further
    variables; left_out_names: the first of them. unseen: variables of the kernel that were not looked at
    (`KernelState.unseen`).
    """

    kind: str
    text: str
    budget: int
    tokens: int
    variables: tuple[Shown, ...] = ()
    left_out: int = 0
    left_out_names: tuple[str, ...] = ()
    unseen: int = 0

    def account(self) -> dict[str, Any]:
        """All but the text, as JSON."""
        row = asdict(self)
        del row["text"]
        return row


_PIECE = re.compile(r"[A-Za-z]+|\d+|[^\W\d_A-Za-z]+|[ \t]+|\r?\n|_+|[^\w\s]+|\s")


def estimate_tokens(text: str) -> int:
    """About how many tokens a byte-pair tokeniser makes of a text, without a tokeniser.

    Letters count one for every 8 begun, digits for every 3, punctuation for every 2, other letters one each,
    a single blank nothing unless a digit follows, other runs one. Rather too high than too low:
    lab/2026-11.md compares it with two tokenisers. The estimate of a text is the sum over its lines.
    """
    total = 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        first, size = piece[0], len(piece)
        if first in " \t":
            total += size > 1 or text[match.end() : match.end() + 1].isdigit()
        elif first.isascii() and first.isalpha():
            total += -(-size // 8)
        elif first.isdigit():
            total += -(-size // 3)
        elif first.isalpha():
            total += size
        elif first == "_" or first.isspace():
            total += 1
        else:
            total += -(-size // 2)
    return total


def used_names(source: str, state: KernelState, *, earlier: Iterable[str] = ()) -> tuple[str, ...]:
    """The variables that a piece of source depends on (`names.depends_on`). earlier: the sources that ran
    before it, since the kernel's last restart."""
    types = {name: variable.type for name, variable in state.variables.items()}
    return depends_on(source, state.variables, earlier=earlier, types=types)


_STEPS = (60, 200, 600, 2000, 8000)
"""Characters of a value, from round to round."""
_NAMED = 20


def view(
    state: KernelState | None,
    kind: str,
    *,
    budget: int,
    names: Sequence[str] | None = None,
    count: Counter = estimate_tokens,
    form: str = "text",
    also: Mapping[str, Any] | None = None,
) -> View:
    """The state as text of up to `budget` tokens.

    state: None gives an empty view.
    kind: one of `VIEWS`.
    names: the variables in this order. Required for ``used`` (`used_names`), a selection for the others.
    count: counts tokens.
    form: ``text``, or ``json`` for one object with ``variables`` and notes on cut parts.
    also: heading -> further text or texts. ``imports`` come first, others last.

    Raises InputError: a wrong kind, form or budget, or ``used`` without names.
    """
    if kind not in VIEWS:
        raise InputError(f"unknown view {kind!r}. The views are {', '.join(VIEWS)}.")
    if form not in ("text", "json"):
        raise InputError(f"form={form!r} must be text or json.")
    if budget < 0:
        raise InputError(f"budget={budget} must be at least 0 tokens.")
    if kind == "used" and names is None:
        raise InputError("the view used needs names: get them from `used_names` for a piece of source.")
    if kind == "none" or state is None:
        return View(kind=kind, text="", budget=budget, tokens=0)
    written = _Text() if form == "text" else _Json()
    return _View(state, kind, _chosen(state, kind, names), written, count, budget, also or {}).made()


def _chosen(state: KernelState, kind: str, names: Sequence[str] | None) -> list[str]:
    changed = dict.fromkeys((*state.added, *state.rebound, *state.mutated))
    if kind == "used" and names is not None:
        return [name for name in dict.fromkeys(names) if name in state.variables]
    names_shown = [name for name in changed if name in state.variables]
    if kind != "changed":
        names_shown += [name for name in reversed(list(state.variables)) if name not in changed]
    if names is not None:
        asked_for = set(names)
        names_shown = [name for name in names_shown if name in asked_for]
    return names_shown


@dataclass(frozen=True, slots=True)
class _View:
    state: KernelState
    kind: str
    chosen: Sequence[str]
    form: "_Text | _Json"
    count: Counter
    budget: int
    also: Mapping[str, Any]
    first_of: dict[int, str] = field(default_factory=dict)
    """Object -> the first of its names that is shown."""

    def made(self) -> View:
        entries = self._fitting()
        while True:
            text = self.form.whole(entries, self._closing(len(entries)))
            if not entries or self.count(text) <= self.budget:
                break
            # A counter that does not add up over lines, as a tokeniser's merges over their ends.
            entries.pop()
        tokens = self.count(text)
        if tokens > self.budget:
            text, tokens = "", 0
        left_out = self.chosen[len(entries) :]
        return View(
            kind=self.kind,
            text=text,
            budget=self.budget,
            tokens=tokens,
            variables=tuple(Shown(name=e.name, tokens=e.tokens, cut=e.cut) for e in entries),
            left_out=len(left_out),
            left_out_names=tuple(left_out[:_NAMED]),
            unseen=self.state.unseen,
        )

    def _closing(self, count_shown: int) -> dict[str, Any]:
        """The last lines: numbers of other variables, removed names, unknown parts."""
        closing = {**self.also}
        removed = self.state.removed if self.kind == "changed" else ()
        if len(self.chosen) > count_shown:
            closing["not shown"] = f"{len(self.chosen) - count_shown} of {len(self.chosen)} variables"
        if removed:
            closing["removed"] = list(removed[:_NAMED])
        if len(removed) > _NAMED:
            closing["also removed"] = f"{len(removed) - _NAMED} more variables"
        if self.state.unseen:
            closing["not looked at"] = f"{self.state.unseen} of {self.state.count} variables of the kernel"
        return closing

    def _fitting(self) -> list["_Entry"]:
        # A few tokens more: what closes may take more where more is shown.
        tokens_left = self.budget - self.count(self.form.whole([], self._closing(0))) - 4
        entries: list[_Entry] = []
        for name in self.chosen:
            entry = self._entry(self.state.variables[name], 0)
            if entry.tokens > tokens_left:
                break
            tokens_left -= entry.tokens
            entries.append(entry)
        if len(entries) == len(self.chosen):
            tokens_left = self.budget - self.count(self.form.whole(entries, self._closing(len(entries))))
        if self.kind == "names":
            return [replace(entry, cut=None) for entry in entries]
        for chars in _STEPS:
            for number, entry in enumerate(entries):
                if entry.cut is not None:
                    more = self._entry(self.state.variables[entry.name], chars)
                    if more.tokens - entry.tokens <= tokens_left:
                        tokens_left -= more.tokens - entry.tokens
                        entries[number] = more
        return entries

    def _entry(self, variable: Variable, chars: int) -> "_Entry":
        if self.kind == "names":
            facts: dict[str, Any] = {"name": variable.name, "type": variable.type}
            return self._counted(facts, "type")
        group = variable.group
        first = self.first_of.setdefault(group, variable.name) if group is not None else variable.name
        if first != variable.name:
            facts = {"name": variable.name, "type": variable.type, "same_object_as": first}
            return self._counted(facts, None)
        return self._counted(*describe(variable, chars))

    def _counted(self, facts: dict[str, Any], cut: str | None) -> "_Entry":
        text = self.form.one(facts)
        return _Entry(name=facts["name"], tokens=self.count(text), cut=cut, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry(Shown):
    text: str


_WORDS = {"dtype": "", "length": "length ", "size_bytes": "bytes ", "named": "named ", "index": "index "}
_COUNTS = {"nodes": "nodes", "edges": "edges", "weights": "weights"}
_BELOW = {"methods": "methods", "members": "members", "layers": "layers", "labels": "columns"}
"""Fact that gets a separate line -> heading of the line."""


class _Text:
    """Entries as text: a line each, and one for each column of a table."""

    def one(self, facts: Mapping[str, Any]) -> str:
        return "".join(f"{line}\n" for line in self._lines(facts))

    def _lines(self, facts: Mapping[str, Any]) -> Iterator[str]:
        head = f"{facts['name']}: {facts['type']}"
        if "same_object_as" in facts:
            yield f"{head}, the same object as {facts['same_object_as']}"
            return
        head += facts.get("call", "")
        if "shape" in facts:
            head += f", shape {tuple(facts['shape'])}"
        for name, word in _WORDS.items():
            if name in facts:
                head += f", {word}{facts[name]}"
        head += "".join(f", {phrase}" for phrase in _phrases(facts))
        if "value" in facts:
            head += f" = {facts['value']}"
        if "rounded" in facts:
            head += f" (rounded to {facts['rounded']} digits)"
        if "described" in facts:
            head += f", described: {json.dumps(facts['described'], ensure_ascii=False, default=str)}"
        yield head
        for name, word in _BELOW.items():
            if name in facts:
                yield f"    {word}: {', '.join(facts[name])}"
        for column in facts.get("columns", ()):
            if "more" in column:
                yield f"    ... {column['more']} more columns"
            else:
                yield f"    {column['label']}: {column['dtype']} {column['head']}"

    def whole(self, entries: Sequence[_Entry], closing: Mapping[str, Any]) -> str:
        text = "".join(entry.text for entry in entries)
        for what, content in closing.items():
            line = ", ".join(content) if isinstance(content, list) else content
            # Readers need the imports before their use.
            text = f"{what}: {line}\n{text}" if what == "imports" else f"{text}({what}: {line})\n"
        return text


def _phrases(facts: Mapping[str, Any]) -> Iterator[str]:
    """Facts about functions, classes, estimators and graphs on the line of their name."""
    if "bases" in facts:
        yield f"extends {', '.join(facts['bases'])}"
    if "fitted" in facts:
        yield "fitted" if facts["fitted"] else "not fitted"
    for name, text in facts.get("parameters", {}).items():
        yield f"{name}={text}"
    for fact, word in _COUNTS.items():
        if fact in facts:
            yield f"{facts[fact]} {word}"
    if "directed" in facts:
        yield "directed" if facts["directed"] else "undirected"
    if "mode" in facts:
        yield f"in {facts['mode']} mode"
    if "doc" in facts:
        yield json.dumps(facts["doc"], ensure_ascii=False)


class _Json:
    """Entries as objects, one a line."""

    def one(self, facts: Mapping[str, Any]) -> str:
        return json.dumps(facts, ensure_ascii=False, default=str) + ",\n"

    def whole(self, entries: Sequence[_Entry], closing: Mapping[str, Any]) -> str:
        inside = "".join(entry.text for entry in entries).removesuffix(",\n")
        more = "".join(
            f",\n{json.dumps(what.replace(' ', '_'))}: {json.dumps(content)}"
            for what, content in closing.items()
        )
        return f'{{"variables": [\n{inside}\n]{more}}}\n'
