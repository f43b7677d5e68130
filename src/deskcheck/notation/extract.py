"""The trace or state in a text of a model, without the words and code fences around it."""

import re

from deskcheck.notation.lines import LineReader
from deskcheck.notation.values import Objects, Unread

_FENCE = re.compile(r"^(`{3,})[\w+-]*[ \t]*\n(.*?)(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_AFTER_PLACE = re.compile(r"\s*(:|\||->|<-|!|'|\"|prints\b|left out\b|\Z)")


def trace_in(text: str) -> str:
    """The last code fence of a text; without one, its first to last line that looks like a line of a
    trace."""
    fences = _FENCE.findall(text)
    if fences:
        return str(fences[-1][1]).strip("\n")
    lines = text.split("\n")
    matches = [number for number, line in enumerate(lines) if _looks_like_trace(line)]
    return "\n".join(lines[matches[0] : matches[-1] + 1]) if matches else ""


def _looks_like_trace(line: str) -> bool:
    """Whether a line begins like a line of a trace; the rest may be unreadable."""
    reader = LineReader(line.rstrip(), Objects())
    try:
        if reader.word("globals"):
            return reader.line[reader.at :].lstrip().startswith((":", "'", '"'))
        if reader.take("in ") or reader.take("open "):
            reader.integer()
        else:
            if not reader.take("frame "):
                reader.kind()
            reader.place()
    except Unread:
        return False
    return _AFTER_PLACE.match(reader.line, reader.at) is not None
