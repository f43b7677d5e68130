"""``inline``: the effects of each line as comments on the source, with shortened loops.

The notation follows NExT (Ni et al. 2024, arXiv:2404.14662).

    1 | def total(n):  # (0) n=3
    2 |     t = 0  # (1) t=0
    3 |     for i in range(n):  # (2) i=0; (4) i=1; ...; (8)
    4 |         t += i  # (3) t=0; (5) t=1; (7) t=3
    5 |     return t  # (9) -> 3

A number in parentheses is a step (see `claims`). After it are the changes and the output of the step, and the
values that it returned (``->``), yielded (``=>``) or raised (``!``). A ``def`` line has the arguments of
calls, with the step that made the call.

Included: the first two and the last steps of every line of the program's file. Not included: the steps
between, which are ``...``, and all that `claims` leave out, such as iterators, shared values and other files.
"""

import re
from collections.abc import Iterable, Iterator

from deskcheck.notation.claims import Claim, What, claims
from deskcheck.notation.lines import Parsed, Unreadable, unreadable
from deskcheck.notation.state import Moment
from deskcheck.notation.values import Objects, Reader, Unread, name_text, read_value, value_text
from deskcheck.recording.program import code_lines

_MARKS = {What.RETURNS: "->", What.YIELDS: "=>", What.RAISES: "!", What.PRINTS: "prints"}
_WHATS = {mark: what for what, mark in _MARKS.items()}
_NUMBERED = re.compile(r"\s*([0-9]{1,9}) \|(?: |$)")
_STEP = re.compile(r"\(([0-9]{1,9})\)")
_HEAD, _TAIL = 2, 1


def inline_claims(moments: Iterable[Moment]) -> Iterator[Claim]:
    """The claims that the notation includes: those of the steps that it shows, by line."""
    for _, visits in sorted(_visits(moments).items()):
        for visit in visits if len(visits) <= _HEAD + _TAIL else [*visits[:_HEAD], *visits[-_TAIL:]]:
            yield from visit


def _visits(moments: Iterable[Moment]) -> dict[int, list[list[Claim]]]:
    """The steps of each line (on a ``def`` line: calls), each as its claims."""
    visits_by_line: dict[int, list[list[Claim]]] = {}
    at: dict[int, list[Claim]] = {}
    call: list[Claim] = []
    for claim in claims(moments):
        match claim.what:
            case What.RUNS | What.CALLS:
                visit = [claim]
                visits_by_line.setdefault(claim.line, []).append(visit)
                if claim.what is What.RUNS:
                    at[claim.step] = visit
                else:
                    call = visit
            case What.PASSES:
                call.append(claim)
            case What.LEAVES | What.GAP:
                pass
            case _:
                if claim.step in at and at[claim.step][0].line == claim.line:
                    at[claim.step].append(claim)
    return visits_by_line


def inline_text(moments: Iterable[Moment], source: str) -> str:
    """The source with the number and the comment of each line."""
    visits = _visits(moments)
    lines = code_lines(source)
    while lines and not lines[-1].strip():
        lines.pop()
    width = len(str(len(lines)))
    return "\n".join(
        f"{number:>{width}} | {line.rstrip()}{_comment(visits.get(number, []))}".rstrip()
        for number, line in enumerate(lines, 1)
    )


def _comment(visits: list[list[Claim]]) -> str:
    if not visits:
        return ""
    texts = [_visit(visit) for visit in visits]
    if len(texts) > _HEAD + _TAIL:
        texts[_HEAD:-_TAIL] = ["..."]
    return f"  # {'; '.join(texts)}"


def _visit(visit: list[Claim]) -> str:
    parts = [f"({visit[0].step}){'' if visit[0].what is What.RUNS else ' ' + (visit[0].name or '')}"]
    entries = [_entry(claim) for claim in visit[1:]]
    return " ".join([*parts, ", ".join(entries)]) if entries else parts[0]


def _entry(claim: Claim) -> str:
    if claim.what in (What.SETS, What.PASSES):
        return f"{claim.name}={claim.value}"
    if claim.what is What.UNBINDS:
        return f"del {claim.name}"
    return f"{_MARKS[claim.what]} {claim.value}"


def parse_inline(text: str) -> Parsed:
    """The claims in the comments of a text, and the places that could not be read. Never raises."""
    all_claims: list[Claim] = []
    failed: list[Unreadable] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        head = _NUMBERED.match(line)
        if not head:
            failed.append(Unreadable(number, 1, "expected the number of the line and |", line[:200]))
            continue
        error: Unread | None = None
        at = head.end()
        while (at := line.find("  # (", at)) >= 0:
            try:
                all_claims += _read(Reader(line.rstrip(), Objects()), at + 4, int(head[1]))
                break
            except Unread as why:
                error = why  # the source itself may have this in a comment or a text: go on to the next
                at += 1
        if at < 0 and error is not None and _STEP.search(line):
            failed.append(unreadable(number, line, error))
    return Parsed((), claims=tuple(all_claims), unreadable=tuple(failed))


def _read(reader: Reader, at: int, line: int) -> list[Claim]:
    read_claims: list[Claim] = []
    reader.at = at
    while True:
        if not reader.take("..."):
            read_claims += _read_visit(reader, line)
        reader.skip()
        if reader.at == len(reader.line):
            return read_claims
        reader.need(";")


def _read_visit(reader: Reader, line: int) -> list[Claim]:
    step_match = reader.match(_STEP)
    if not step_match:
        raise reader.fail("expected the number of a step")
    step = int(step_match[1])
    name = _function(reader)
    read_claims = [Claim(step, line, What.RUNS) if name is None else Claim(step, line, What.CALLS, name)]
    reader.skip()
    if reader.at == len(reader.line) or reader.line.startswith(";", reader.at):
        return read_claims
    while True:
        read_claims.append(_read_entry(reader, step, line, name is not None))
        if not reader.take(","):
            return read_claims


_QUALIFIED = re.compile(r"(?:<\w+>|\w|\.(?!\.))+(?=[ ;]|$)")


def _function(reader: Reader) -> str | None:
    """The name of the called function; None if what follows is an entry."""
    start = reader.at
    match = reader.match(_QUALIFIED)
    if match and match[0] not in ("prints", "del", "for", "global"):
        return match[0]
    reader.at = start
    return None


def _read_entry(reader: Reader, step: int, line: int, passed: bool) -> Claim:
    for mark, what in _WHATS.items():
        if reader.word(mark) if mark == "prints" else reader.take(mark):
            text = repr(reader.string()) if what is What.PRINTS else read_text(reader)
            return Claim(step, line, what, None, text)
    removed = reader.word("del")
    name = variable(reader)
    if removed:
        return Claim(step, line, What.UNBINDS, name)
    reader.need("=")
    return Claim(step, line, What.PASSES if passed else What.SETS, name, read_text(reader))


def variable(reader: Reader) -> str:
    """A variable's name, as in claims."""
    for word in ("for", "global"):
        if reader.word(word):
            return f"{word} {name_text(reader.name())}"
    return name_text(reader.name())


def read_text(reader: Reader) -> str:
    """A value in the form of `value_text`, whatever spaces the text has."""
    value, objects = read_value(reader)
    return value_text(value, objects)
