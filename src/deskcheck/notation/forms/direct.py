"""``direct``: only the end of the run.

It includes the value or the exception of the outermost frame, and the whole output: ``return 5``,
``raise KeyError('k')``, before it ``prints 'a\\n'``.
"""

from collections.abc import Iterable
from dataclasses import replace

from deskcheck.notation.lines import Parsed, Unreadable, unreadable
from deskcheck.notation.state import Moment
from deskcheck.notation.values import Objects, Reader, Unread, read_value, value_text
from deskcheck.recording import Kind


def ending(moments: Iterable[Moment]) -> Moment | None:
    """The part of a run that `direct` includes: the last event, without frames, and all output.

    None if the last event is not the end of the outermost frame.
    """
    output, raised, last = "", None, None
    for moment in moments:
        output += moment.output
        if moment.kind is Kind.RAISE:
            raised = moment
        last = moment
    if last is None or len(last.frames) != 1 or last.kind not in (Kind.RETURN, Kind.UNWIND):
        return None
    if last.kind is Kind.UNWIND:
        if raised is None:
            return None
        last = replace(raised)
    return Moment(last.kind, (), {}, last.objects, last.value, output)


def direct_text(moments: Iterable[Moment]) -> str:
    """The ending; nothing if the trace does not show it."""
    end = ending(moments)
    if end is None:
        return ""
    printed = f"prints {end.output!r}\n" if end.output else ""
    return f"{printed}{end.kind.value} {value_text(end.value, end.objects)}"


def parse_direct(text: str) -> Parsed:
    """The ending in a text: one moment without frames, or none."""
    output, at = "", 0
    end: Moment | None = None
    failed: list[Unreadable] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        reader = Reader(line.rstrip("\r "), Objects())
        try:
            if end is not None:
                raise reader.fail("expected nothing after the end")
            if reader.word("prints"):
                output += reader.string()
            else:
                end, at = _ending(reader, output), number
            reader.skip()
            if reader.at < len(reader.line):
                end = None
                raise reader.fail("expected the end of the line")
        except Unread as error:
            failed.append(unreadable(number, line, error))
    return Parsed((end,) if end else (), (at,) if end else (), unreadable=tuple(failed))


def _ending(reader: Reader, output: str) -> Moment:
    for kind in (Kind.RETURN, Kind.RAISE):
        if reader.take(f"{kind.value} "):
            value, objects = read_value(reader)
            return Moment(kind, (), {}, objects, value, output)
    raise reader.fail("expected return or raise and a value")
