"""``scratchpad`` and ``compact``: the whole trace, one event on each line (see `lines`).

``scratchpad`` writes all variables of the running frame at every event, like Nye et al. 2021
(arXiv:2112.00114). ``compact`` writes those that changed, like NExT (Ni et al. 2024, arXiv:2404.14662) and
Execution Tuning (arXiv:2503.05703). Both write the variables of other frames and the globals when they
change. Every state can be read back from both.
"""

from collections.abc import Iterable, Iterator

from deskcheck.notation.forms.dynamic import state_text
from deskcheck.notation.lines import (
    Parsed,
    entry_pieces,
    event_head,
    event_tail,
    globals_head,
    line_text,
    parse_lines,
    place_text,
    roots,
)
from deskcheck.notation.state import BEGINS, ENDS, MODULE, Frame, Moment
from deskcheck.notation.values import ValueWriter, name_text
from deskcheck.recording.value import Encoded

_Key = tuple[str, int | str | None, str]
"""The key of a variable, a stack, an object's content or the globals of a file."""


def scratchpad_lines(moments: Iterable[Moment]) -> Iterator[str]:
    """The lines of a trace. Each event has the full state of its frame."""
    return _History(full=True).lines(moments)


def compact_lines(moments: Iterable[Moment]) -> Iterator[str]:
    """The lines of a trace. Each event has the changes."""
    return _History(full=False).lines(moments)


def parse_scratchpad(text: str) -> Parsed:
    """The states in a scratchpad."""
    return parse_lines(text, full=True, each_alone=False)


def parse_compact(text: str) -> Parsed:
    """The states in a compact trace."""
    return parse_lines(text, full=False, each_alone=False)


def told_after(before: Moment, moment: Moment, *, full: bool) -> str:
    """The text of a moment directly after that of an earlier one, whatever happened between them.

    It can be read after the text of `before` in `dynamic`. full: like `scratchpad`.
    """
    history = _History(full)
    state_text(before, history.labels)
    for _ in history.moment(before):
        pass
    return "\n".join(history.moment(moment))


class _History:
    def __init__(self, full: bool) -> None:
        self.full = full
        self.labels: dict[int, int] = {}
        self.texts: dict[_Key, str] = {}
        """The texts that a reader has seen last."""
        self.frames: list[Frame] = []

    def lines(self, moments: Iterable[Moment]) -> Iterator[str]:
        for moment in moments:
            yield from self.moment(moment)

    def moment(self, moment: Moment) -> Iterator[str]:
        writer = ValueWriter(moment.objects, roots(moment), self.labels)
        values = dict(_values(moment))
        texts = {key: writer.text(value) for key, value in values.items()}
        for depth, frame in enumerate(moment.frames):
            texts["stack", depth, ""] = ", ".join([writer.text(value) for value in frame.stack])
        for number in writer.labelled:
            texts["#", number, ""] = writer.content(number)
        yield from self.reopened(moment)
        changed = {key for key, text in texts.items() if self.texts.get(key, "") != text}
        unbound = [key for key in self.texts if key not in texts and key[0] != "#"]
        anew = {int(key[1]) for key in changed if key[0] == "#" and key[1] is not None}
        writer.pending = set(anew)

        def entries(*wheres: tuple[str, int | str | None], everything: bool) -> list[str]:
            listed = []
            for key, value in values.items():
                if key[:2] in wheres and (everything or key in changed):
                    hidden = key[0] == "hidden"
                    listed.append(writer.fill(entry_pieces(key[2], value, hidden=hidden)))
            if not everything:
                for key in unbound:
                    if key[:2] in wheres:
                        listed.append(f"del {'for ' if key[0] == 'hidden' else ''}{name_text(key[2])}")
            return listed

        def stack_of(depth: int, everything: bool) -> str | None:
            stack = moment.frames[depth].stack
            if everything:
                return ", ".join([writer.text(value) for value in stack]) if stack else None
            if ("stack", depth, "") not in changed and ("stack", depth, "") not in unbound:
                return None
            return ", ".join([writer.text(value) for value in stack])

        top = len(moment.frames) - 1
        own_key = ("global", moment.running.file) if moment.running.function == MODULE else ("local", top)
        files = dict.fromkeys([*moment.globals, *(key[1] for key in self.texts if key[0] == "global")])
        for file in files:
            if ("global", file) != own_key and (parts := entries(("global", file), everything=False)):
                yield line_text(globals_head(file if isinstance(file, str) else None), parts)
        for depth in range(top):
            parts = entries(("local", depth), ("hidden", depth), everything=False)
            stack = stack_of(depth, False)
            if parts or stack is not None:
                yield line_text(f"in {depth}", parts, stack)
        if self.full:  # the frame's variables are all written again, except those written just now
            writer.pending |= writer.labelled - (anew - writer.pending)
        parts = entries(own_key, ("hidden", top), everything=self.full)
        stack = stack_of(top, self.full)
        tail = event_tail(moment, writer)
        writer.pending &= anew
        parts += writer.left()
        yield line_text(event_head(moment, named=len(self.frames) <= top), parts, stack, tail)
        self.texts = texts
        self.frames = list(moment.frames)
        if moment.kind in ENDS:
            self.frames.pop()
            self.texts = {k: v for k, v in texts.items() if k[0] in ("#", "global") or k[1] != top}

    def reopened(self, moment: Moment) -> Iterator[str]:
        """Lines that correct the open frames, if calls and returns do not lead to those of the moment."""
        frames = list(moment.frames)
        if moment.kind in BEGINS:
            frames.pop()
        unchanged = 0
        for have, want in zip(self.frames, frames, strict=False):
            same_line = (have.line, have.offset) == (want.line, want.offset) or want is moment.running
            if _which(have) != _which(want) or not same_line:
                break
            unchanged += 1
        if unchanged < len(self.frames):
            yield f"open {unchanged}"
            del self.frames[unchanged:]
            self.texts = {
                k: v for k, v in self.texts.items() if k[0] in ("#", "global") or int(k[1] or 0) < unchanged
            }
        if moment.kind not in BEGINS and frames and len(frames) > unchanged:
            frames.pop()  # the event's line itself says where its frame is
        for frame in frames[unchanged:]:
            yield f"frame {place_text(frame, named=True)}"
            self.frames.append(frame)


def _which(frame: Frame) -> tuple[object, ...]:
    return frame.function, frame.file, frame.at, frame.via


def _values(moment: Moment) -> Iterator[tuple[_Key, Encoded]]:
    for file, names in moment.globals.items():
        for name, value in names.items():
            yield ("global", file, name), value
    for depth, frame in enumerate(moment.frames):
        kind = "hidden" if frame.function == MODULE else "local"
        for name, value in frame.locals.items():
            yield (kind, depth, name), value
